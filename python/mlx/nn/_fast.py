"""Normalisation, rotary embedding and attention, composed of basic operations.

These are the operations that a device may have fused kernels for; the layers reach them only
through this file. Half-precision inputs are computed in float32 and rounded once at the end.
"""

from __future__ import annotations

import math

import mlx.core as mx

HALF_TYPES = (mx.float16, mx.bfloat16)


def wide(x: mx.array) -> mx.array:
    """The array in the dtype to accumulate in: float32 for float16 and bfloat16."""
    return x.astype(mx.float32) if x.dtype in HALF_TYPES else x


def _check_norm(op: str, x: mx.array, weight: mx.array | None, bias: mx.array | None) -> None:
    if x.ndim == 0:
        raise ValueError(f"[{op}] got a scalar, expected an input with at least 1 dimension")
    if not mx.issubdtype(x.dtype, mx.floating):
        raise ValueError(f"[{op}] got the dtype {x.dtype}, expected a floating one")
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and p.shape != (x.shape[-1],):
            raise ValueError(
                f"[{op}] got {name} of shape {p.shape} for an input of shape {x.shape}, expected "
                f"({x.shape[-1]},)"
            )


def rms_norm(x: mx.array, weight: mx.array | None, eps: float) -> mx.array:
    """x / sqrt(mean(x^2) + eps) over the last axis, times ``weight``."""
    _check_norm("rms_norm", x, weight, None)
    x32 = wide(x)
    y = x32 * mx.rsqrt(mx.mean(mx.square(x32), axis=-1, keepdims=True) + eps)
    if weight is None:
        return y.astype(x.dtype)
    return (y * wide(weight)).astype(mx.result_type(x, weight))


def standardize(x: mx.array, axis: int | list[int], eps: float) -> mx.array:
    """(x - mean) / sqrt(var + eps) over ``axis``; ``x`` in its accumulation dtype."""
    centred = x - mx.mean(x, axis=axis, keepdims=True)
    return centred * mx.rsqrt(mx.mean(mx.square(centred), axis=axis, keepdims=True) + eps)


def layer_norm(x: mx.array, weight: mx.array | None, bias: mx.array | None, eps: float) -> mx.array:
    """The last axis standardised, times ``weight``, plus ``bias``."""
    _check_norm("layer_norm", x, weight, bias)
    y = standardize(wide(x), -1, eps)
    dtype = x.dtype
    if weight is not None:
        y = y * wide(weight)
        dtype = mx.result_type(x, weight) if bias is None else mx.result_type(x, weight, bias)
    if bias is not None:
        y = y + wide(bias)
    return y.astype(dtype)


def rope(
    x: mx.array, dims: int, traditional: bool, base: float, scale: float, offset: int | mx.array
) -> mx.array:
    """Rotates the first ``dims`` features of ``x`` (B, ..., T, D) by angles that grow with T."""
    if x.ndim < 3:
        raise ValueError(f"[rope] got an input of shape {x.shape}, expected at least 3 dimensions")
    if not mx.issubdtype(x.dtype, mx.floating):
        raise ValueError(f"[rope] got the dtype {x.dtype}, expected a floating one")
    if dims <= 0 or dims % 2 != 0 or dims > x.shape[-1]:
        raise ValueError(
            f"[rope] got dims {dims} for {x.shape[-1]} features, expected an even number that is "
            "positive and not larger"
        )
    half = dims // 2
    steps = mx.arange(x.shape[-2], dtype=mx.float32)
    if isinstance(offset, mx.array) and offset.ndim == 1:
        offset = offset.reshape(-1, *([1] * (x.ndim - 1)))
        steps = steps.reshape(-1, 1)
    elif isinstance(offset, mx.array) and offset.ndim > 1:
        raise ValueError(f"[rope] got an offset of shape {offset.shape}, expected () or (B,)")
    else:
        steps = steps[:, None]
    frequencies = mx.array([base ** (-i / half) for i in range(half)], dtype=mx.float32)
    angles = (steps + offset) * scale * frequencies
    cos, sin = mx.cos(angles).astype(x.dtype), mx.sin(angles).astype(x.dtype)

    rotated, rest = x[..., :dims], x[..., dims:]
    if traditional:
        pairs = rotated.reshape(*rotated.shape[:-1], half, 2)
        x1, x2 = pairs[..., 0], pairs[..., 1]
        turned = mx.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], axis=-1)
        turned = turned.reshape(rotated.shape)
    else:
        x1, x2 = rotated[..., :half], rotated[..., half:]
        turned = mx.concatenate([x1 * cos - x2 * sin, x1 * sin + x2 * cos], axis=-1)
    return turned if dims == x.shape[-1] else mx.concatenate([turned, rest], axis=-1)


def masked_softmax(scores: mx.array) -> mx.array:
    """Softmax over the last axis in which a row of -inf gives zeros, in the gradients as well."""
    top = mx.stop_gradient(mx.max(scores, axis=-1, keepdims=True))
    weights = mx.exp(scores - mx.where(top == -math.inf, 0.0, top))
    total = mx.sum(weights, axis=-1, keepdims=True)
    return weights / mx.where(total == 0, 1.0, total)


def _masked(scores: mx.array, mask: mx.array | str, dtype: mx.Dtype) -> mx.array:
    """``scores`` (B, H, Tq, Tk) with -inf, or less, where the mask of an attention says so."""
    if isinstance(mask, str):
        if mask != "causal":
            raise ValueError(f"[attention] got the mask {mask!r}, expected 'causal' or an array")
        queries, keys = scores.shape[-2:]
        kept = mx.arange(keys - queries, keys)[:, None] >= mx.arange(keys)
        return mx.where(kept, scores, -math.inf)
    sizes = zip(reversed(mask.shape), reversed(scores.shape))
    if mask.ndim > scores.ndim or any(m not in (1, n) for m, n in sizes):
        raise ValueError(
            f"[attention] got a mask of shape {mask.shape}, expected one that broadcasts to "
            f"{scores.shape}"
        )
    if mask.dtype == mx.bool_:
        return mx.where(mask, scores, -math.inf)
    if mx.result_type(mask, dtype) != dtype:
        raise ValueError(
            f"[attention] got a mask of dtype {mask.dtype} for an output of dtype {dtype}, "
            "expected one that promotes to it"
        )
    return scores + mask


def attention(
    queries: mx.array,
    keys: mx.array,
    values: mx.array,
    scale: float,
    mask: mx.array | str | None = None,
) -> mx.array:
    """softmax(scale q k^T + mask) v for arrays (B, H, T, D); the softmax in float32.

    A boolean mask keeps where it is true; a row in which nothing is kept gives zeros. ``"causal"``
    aligns the last query with the last key.
    """
    dtype = mx.result_type(queries, keys, values)
    if not mx.issubdtype(dtype, mx.floating):
        raise ValueError(f"[attention] got arrays of dtype {dtype}, expected a floating one")
    scores = wide((queries * scale) @ keys.swapaxes(-1, -2))
    if mask is not None:
        scores = _masked(scores, mask, dtype)
    return masked_softmax(scores).astype(dtype) @ values.astype(dtype)
