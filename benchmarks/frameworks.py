"""How each framework takes arrays, gives them back, compiles, and is waited for."""

import contextlib

import numpy as np


class Numpy:
    def __init__(self):
        self.xp = np
        self.version = np.__version__

    def array(self, x, dtype):
        return x

    def to_numpy(self, x):
        return np.asarray(x)

    def prepare(self, function, workload, compiled):
        return function

    def wait(self, results):
        pass

    def running(self):
        return contextlib.nullcontext()

    def forget(self):
        pass


class Mlx(Numpy):
    def __init__(self):
        import mlx.core as mx

        mx.set_default_device(mx.cpu)
        self.xp = mx
        self.version = getattr(mx, "__version__", "?")
        self.wait = mx.eval

    def array(self, x, dtype):
        y = self.xp.array(x)
        if x.dtype.kind == "f":
            y = y.astype(getattr(self.xp, dtype))
        self.xp.eval(y)
        return y

    def to_numpy(self, x):
        if x.dtype in (self.xp.bfloat16, self.xp.float16):
            x = x.astype(self.xp.float32)
        return np.array(x)

    def prepare(self, function, workload, compiled):
        if not compiled:
            return function
        # What evaluates its results itself brings its compiled variant along.
        return getattr(function, "compiled", None) or self.xp.compile(function)

    def forget(self):
        if hasattr(self.xp, "clear_cache"):
            self.xp.clear_cache()


class Torch(Numpy):
    def __init__(self):
        import torch

        self.xp = torch
        self.version = torch.__version__

    def array(self, x, dtype):
        if x.dtype == np.uint32:
            x = x.view(np.int32)
        y = self.xp.from_numpy(np.array(x))
        if x.dtype.kind == "f":
            return y.to(getattr(self.xp, dtype))
        return y.long() if x.dtype.kind == "i" else y

    def to_numpy(self, x):
        x = x.detach()
        if x.dtype in (self.xp.bfloat16, self.xp.float16):
            x = x.float()
        return x.numpy()

    def prepare(self, function, workload, compiled):
        return self.xp.compile(function, dynamic=False) if compiled else function

    def running(self):
        return self.xp.no_grad()

    def forget(self):
        self.xp.compiler.reset()


class Jax(Numpy):
    def __init__(self):
        import jax

        self.jax = jax
        self.xp = jax.numpy
        self.version = jax.__version__
        self.wait = jax.block_until_ready

    def array(self, x, dtype):
        y = self.xp.array(x)
        if x.dtype.kind == "f":
            y = y.astype(getattr(self.xp, dtype))
        return self.jax.block_until_ready(y)

    def to_numpy(self, x):
        if x.dtype in (self.xp.bfloat16, self.xp.float16):
            x = x.astype(self.xp.float32)
        return np.asarray(x)

    def prepare(self, function, workload, compiled):
        return self.jax.jit(function) if workload.jit else function

    def forget(self):
        self.jax.clear_caches()


FRAMEWORKS = {"mlx": Mlx, "numpy": Numpy, "torch": Torch, "jax": Jax}
COMPILERS = ("mlx", "torch")  # have a compiled variant besides the plain one


def leaves(results):
    """The arrays in nested tuples and lists."""
    if isinstance(results, (tuple, list)):
        return [leaf for item in results for leaf in leaves(item)]
    return [results]
