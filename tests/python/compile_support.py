"""What the tests of compiled functions share."""

from __future__ import annotations

import mlx.core as mx
import numpy as np


class Counted:
    """A function that counts how often its Python code runs."""

    def __init__(self, fun):
        self.fun, self.calls = fun, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.fun(*args, **kwargs)


def bits(a):
    n = np.array(a) if a.dtype != mx.bfloat16 else np.array(a.view(mx.uint16))
    return n.dtype, n.shape, n.tobytes()


def assert_same(got, want):
    if isinstance(want, mx.array):
        assert got.dtype == want.dtype
        assert bits(got) == bits(want)
    elif isinstance(want, dict):
        assert list(got) == list(want)
        for k in want:
            assert_same(got[k], want[k])
    elif isinstance(want, (list, tuple)):
        assert type(got) is type(want) and len(got) == len(want)
        for g, w in zip(got, want):
            assert_same(g, w)
    else:
        assert got is want or got == want


def sample(shape, dtype=mx.float32, seed=0):
    r = np.random.default_rng(seed)
    return mx.array(r.uniform(-2, 2, shape).astype(np.float32)).astype(dtype)
