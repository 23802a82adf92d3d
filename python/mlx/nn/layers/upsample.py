"""Upsample: changes the resolution of the spatial axes, channels last."""

from __future__ import annotations

import math
from typing import Literal

import mlx.core as mx

from .._fast import wide
from .base import Module

# The taps of an output position: the input positions it mixes, and their weights.
Taps = list[tuple[int, float]]


def _round_half_even(numerator: int, denominator: int) -> int:
    whole, rest = divmod(numerator, denominator)
    if 2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1):
        return whole + 1
    return whole


def _nearest_positions(size: int, new_size: int, scale: float) -> list[int]:
    """Exact, in integers: a rounding error would pick another pixel."""
    if scale < 1:
        return [i * size // new_size for i in range(new_size)]
    rounded = (
        _round_half_even((2 * i + 1) * size - new_size, 2 * new_size) for i in range(new_size)
    )
    return [min(max(i, 0), size - 1) for i in rounded]


def _source_positions(size: int, new_size: int, scale: float, align_corners: bool) -> list[float]:
    """Where the output positions lie on the axis of the input."""
    if align_corners:
        step = (size - 1) / max(new_size - 1, 1)
        return [i * step for i in range(new_size)]
    shift = ((new_size - 1) / scale - size + 1) / 2
    return [i / scale - shift for i in range(new_size)]


def _triangle(distance: float) -> float:
    return max(1 - abs(distance), 0.0)


def _cubic(distance: float, a: float) -> float:
    """The cubic convolution kernel (Keys, IEEE Trans. ASSP 29(6), 1981)."""
    d = abs(distance)
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    if d < 2:
        return (((d - 5) * d + 8) * d - 4) * a
    return 0.0


def _linear_taps(position: float, size: int) -> Taps:
    position = min(max(position, 0.0), size - 1.0)
    low = math.floor(position)
    return [(low, low + 1 - position), (min(low + 1, size - 1), position - low)]


def _cubic_taps(position: float, size: int) -> Taps:
    low = math.floor(position)
    return [
        (min(max(i, 0), size - 1), _cubic(i - position, -0.75)) for i in range(low - 1, low + 3)
    ]


def _smooth_taps(position: float, size: int, scale: float, mode: str) -> Taps:
    """Taps of a kernel as wide as an output pixel, so that nothing between them is skipped."""
    narrowing = min(scale, 1.0)
    radius = (1 if mode == "linear" else 2) / narrowing
    first = max(math.ceil(position - radius), 0)
    last = min(math.floor(position + radius), size - 1)
    weights = [
        _triangle(d) if mode == "linear" else _cubic(d, -0.5)
        for d in ((i - position) * narrowing for i in range(first, last + 1))
    ]
    total = sum(weights)
    return [(first + i, w / total) for i, w in enumerate(weights)]


def _mix(x: mx.array, axis: int, taps: list[Taps]) -> mx.array:
    """Position i along ``axis`` of the result is the weighted sum of ``x`` at ``taps[i]``."""
    shape = [1] * x.ndim
    shape[axis] = len(taps)
    terms = []
    for k in range(max(map(len, taps))):
        column = [t[k] if k < len(t) else (0, 0.0) for t in taps]
        weight = mx.array([w for _, w in column], dtype=mx.float32).reshape(shape)
        terms.append(mx.take(x, mx.array([i for i, _ in column]), axis=axis) * weight)
    return sum(terms[1:], terms[0])


class Upsample(Module):
    """Scales the spatial axes of an input ``(N, spatial..., C)`` up, or down.

    An axis of n positions becomes one of ``int(scale * n)``. Values between positions are
    interpolated separably, axis after axis.

    Args:
        scale_factor: one factor for all spatial axes or a tuple with one for each.
        mode: ``"nearest"``, ``"linear"`` or ``"cubic"``.
        align_corners: whether the centres of the first and the last position keep their places,
            or else the outer edges do.
        antialias: whether the kernel is widened when scaling down, so that all values count.

    Raises:
        ValueError: an unknown ``mode``, a factor that isn't positive, ``antialias`` together with
            ``mode="nearest"`` or with ``align_corners``; on a call, inputs without spatial axes or
            a wrong number of factors.

    Example:
        >>> nn.Upsample(2)(mx.array([1.0, 2.0]).reshape(1, 2, 1)).flatten()
        array([1, 1, 2, 2], dtype=float32)
    """

    def __init__(
        self,
        scale_factor: float | tuple[float, ...],
        mode: Literal["nearest", "linear", "cubic"] = "nearest",
        align_corners: bool = False,
        antialias: bool = False,
    ) -> None:
        super().__init__()
        if mode not in ("nearest", "linear", "cubic"):
            raise ValueError(
                f"[Upsample] got the mode {mode!r}, expected 'nearest', 'linear' or 'cubic'"
            )
        if antialias and (mode == "nearest" or align_corners):
            raise ValueError(
                f"[Upsample] got antialias=True with mode={mode!r} and "
                f"align_corners={align_corners}, expected 'linear' or 'cubic' and False"
            )
        if isinstance(scale_factor, (list, tuple)):
            factors = tuple(float(f) for f in scale_factor)
        else:
            factors = (float(scale_factor),)
        if not all(0 < f < math.inf for f in factors):
            raise ValueError(f"[Upsample] got the factor {scale_factor}, expected positive numbers")
        per_axis = isinstance(scale_factor, (list, tuple))
        self.scale_factor: float | tuple[float, ...] = factors if per_axis else factors[0]
        self.mode = mode
        self.align_corners = align_corners
        self.antialias = antialias

    def _extra_repr(self) -> str:
        text = (
            f"scale_factor={self.scale_factor}, mode={self.mode!r}, "
            f"align_corners={self.align_corners}"
        )
        return text + (", antialias=True" if self.antialias else "")

    def _scale_axis(self, x: mx.array, axis: int, scale: float) -> mx.array:
        size = x.shape[axis]
        new_size = int(scale * size)
        if new_size == 0:
            return mx.zeros((*x.shape[:axis], 0, *x.shape[axis + 1 :]), dtype=x.dtype)
        if self.mode == "nearest":
            if scale == int(scale):
                return mx.repeat(x, int(scale), axis=axis)
            return mx.take(x, mx.array(_nearest_positions(size, new_size, scale)), axis=axis)
        positions = _source_positions(size, new_size, scale, self.align_corners)
        if self.antialias:
            taps = [_smooth_taps(p, size, scale, self.mode) for p in positions]
        elif self.mode == "linear":
            taps = [_linear_taps(p, size) for p in positions]
        else:
            taps = [_cubic_taps(p, size) for p in positions]
        return _mix(x, axis, taps)

    def __call__(self, x: mx.array) -> mx.array:
        spatial = x.ndim - 2
        if spatial < 1:
            raise ValueError(
                f"[Upsample] got an input of shape {x.shape}, expected at least 3 dimensions "
                "(N, spatial..., C)"
            )
        scales = self.scale_factor
        if not isinstance(scales, tuple):
            scales = (scales,) * spatial
        elif len(scales) != spatial:
            raise ValueError(
                f"[Upsample] got {len(scales)} factors for an input of shape {x.shape}, expected "
                f"{spatial}"
            )
        # Interpolation in half precision sums in float32 and rounds once.
        y = x if self.mode == "nearest" else wide(x)
        for axis, scale in enumerate(scales, start=1):
            y = self._scale_axis(y, axis, scale)
        return y.astype(x.dtype) if mx.issubdtype(x.dtype, mx.floating) else y
