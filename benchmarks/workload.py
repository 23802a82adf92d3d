"""What a benchmark is: named inputs and, for each framework, a function of them to be timed."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

TOLERANCE = {"float32": 2e-4, "bfloat16": 3e-2, "float16": 6e-3}
ITEMSIZE = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass
class Workload:
    """One row of the table. Every process makes the same inputs, seeded by the name."""

    family: str
    name: str
    # framework -> function(xp), which gives the function to time; xp is the framework's module
    functions: dict[str, Callable]
    inputs: list[Callable] = field(default_factory=list)  # each makes an array from a generator
    dtype: str = "float32"  # what float inputs are cast to
    bytes: int = 0  # read and written at least, for GB/s
    flops: int = 0  # for GFLOP/s
    units: int = 1  # one call is so many units; times are per unit
    unit: str = ""
    quick: bool = False  # belongs to the short run as well
    # Has a variant through mx.compile and torch.compile, or through those of these frameworks.
    compiled: bool | tuple[str, ...] = False
    jit: bool = True  # JAX compiles it
    wait: bool = True  # the result is waited for
    calls: int = 1  # how many results are compared, of calls one after the other
    tolerance: float = 0.0  # of the relative L2 error against the reference; 0: by dtype
    layout: dict[str, Callable] = field(default_factory=dict)  # framework -> its form of inputs
    comparable: dict[str, Callable] = field(default_factory=dict)  # or "": outputs(inputs, outputs)

    def make_inputs(self):
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        return [make(rng) for make in self.inputs]

    def compare(self, outputs, reference):
        """The worst relative L2 error of the outputs."""
        if [o.shape for o in outputs] != [r.shape for r in reference]:
            return float("inf")
        errors = [
            np.linalg.norm(o - r) / (np.linalg.norm(r) or 1) for o, r in zip(outputs, reference)
        ]
        return max((float(e) if np.isfinite(e) else float("inf") for e in errors), default=0.0)


class Family:
    """Collects the workloads of one file."""

    def __init__(self, name):
        self.name = name
        self.workloads = []

    def add(self, name, *inputs, same=None, mlx=None, numpy=None, torch=None, jax=None, **options):
        """`same` serves every framework that has no function of its own given."""
        given = {"mlx": mlx, "numpy": numpy, "torch": torch, "jax": jax}
        functions = {k: f or same for k, f in given.items() if f or same}
        workload = Workload(self.name, name, functions, list(inputs), **options)
        if workload.dtype != "float32":
            functions.pop("numpy", None)  # has no bfloat16, and float16 only by emulation
        self.workloads.append(workload)


def normal(*shape, scale=1.0):
    return lambda rng: rng.standard_normal(shape, np.float32) * np.float32(scale)


def integers(high, *shape):
    return lambda rng: rng.integers(0, high, shape, np.int32)


def thinned(outputs, limit=1 << 16):
    """A sample of each output with its root mean square, enough to compare results."""
    thin = []
    for x in outputs:
        x = np.asarray(x).ravel()
        x = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
        step = max(1, x.size // limit) | 1  # odd, so that it does not walk along a column
        rms = np.sqrt(np.mean(np.abs(x) ** 2)) if x.size else 0.0
        thin.append(np.append(x[::step], rms))
    return thin
