"""Arrays of given values under every memory layout, with the NumPy array that they equal."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
from table import generator, numpy_dtype, to_mx

LAYOUTS = ("dense", "transposed", "reversed", "strided", "broadcast")


def sample(shape, dtype: str, *key) -> np.ndarray:
    rng = generator("sample", shape, dtype, *key)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype == "complex64":
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)
    low = 0 if dtype.startswith("uint") else -60
    return rng.integers(low, 120, shape).astype(numpy_dtype(dtype))


def arrange(x: np.ndarray, layout: str) -> tuple[mx.array, np.ndarray]:
    """An mx array in this layout and its values; `broadcast` repeats the first row of x."""
    x = np.asarray(x)
    if layout == "transposed":
        axes = tuple(range(x.ndim))[::-1]
        return mx.transpose(to_mx(np.ascontiguousarray(x.transpose(axes))), axes), x
    if layout == "reversed":
        return mx.flip(to_mx(np.ascontiguousarray(np.flip(x)))), x
    if layout == "strided" and x.ndim:
        wide = np.repeat(np.concatenate([x[:1], x]), 2, axis=-1)
        return to_mx(wide)[1:, ..., ::2] if x.ndim > 1 else to_mx(wide)[2::2], x
    if layout == "broadcast" and x.ndim and x.shape[0]:
        return mx.broadcast_to(to_mx(x[:1].copy()), x.shape), np.broadcast_to(x[:1], x.shape)
    return to_mx(x), x
