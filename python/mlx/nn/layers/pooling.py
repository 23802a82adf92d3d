"""Pooling over windows of the spatial axes, channels last."""

from __future__ import annotations

import math
from collections.abc import Callable

import mlx.core as mx

from .base import Module


def _sliding_windows(x: mx.array, kernel: list[int], stride: list[int]) -> mx.array:
    """All windows of ``x`` (N, spatial..., C) as (N, positions..., kernel..., C)."""
    spatial = x.shape[1:-1]
    positions = [(n - k) // s + 1 for n, k, s in zip(spatial, kernel, stride)]
    if all(n == p * k and k == s for n, p, k, s in zip(spatial, positions, kernel, stride)):
        # Windows that tile the input are a reshape.
        d = len(spatial)
        split = [size for pair in zip(positions, kernel) for size in pair]
        order = [0, *range(1, 2 * d, 2), *range(2, 2 * d + 1, 2), 2 * d + 1]
        return x.reshape(x.shape[0], *split, x.shape[-1]).transpose(order)
    steps = [math.prod(x.shape[axis + 1 :]) for axis in range(x.ndim)]
    shape = [x.shape[0], *positions, *kernel, x.shape[-1]]
    strides = [
        steps[0],
        *(step * s for step, s in zip(steps[1:-1], stride)),
        *steps[1:-1],
        steps[-1],
    ]
    return mx.as_strided(x, shape, strides)


class _Pool(Module):
    """Reduces windows; the number of spatial axes, the function and the padding are given."""

    def __init__(
        self,
        spatial: int,
        reduce: Callable,
        padding_value: float,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] | None,
        padding: int | tuple[int, ...] | None,
    ) -> None:
        super().__init__()
        stride = kernel_size if stride is None else stride
        padding = 0 if padding is None else padding
        self._kernel_size = self._per_axis("kernel_size", kernel_size, spatial, 1)
        self._stride = self._per_axis("stride", stride, spatial, 1)
        self._padding = self._per_axis("padding", padding, spatial, 0)
        self._reduce = reduce
        self._padding_value = padding_value

    def _per_axis(
        self, name: str, value: int | tuple[int, ...], spatial: int, least: int
    ) -> list[int]:
        values = [value] * spatial if isinstance(value, int) else list(value)
        if len(values) != spatial or not all(isinstance(v, int) and v >= least for v in values):
            raise ValueError(
                f"[{type(self).__name__}] got {name} {value}, expected an integer or a tuple of "
                f"{spatial} integers, all at least {least}"
            )
        return values

    def _extra_repr(self) -> str:
        return (
            f"kernel_size={tuple(self._kernel_size)}, stride={tuple(self._stride)}, "
            f"padding={tuple(self._padding)}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        kernel, stride, spatial = self._kernel_size, self._stride, len(self._kernel_size)
        padded = [n + 2 * p for n, p in zip(x.shape[1:-1], self._padding)]
        if x.ndim != spatial + 2 or any(n + s < k for n, s, k in zip(padded, stride, kernel)):
            raise ValueError(
                f"[{type(self).__name__}] got an input of shape {x.shape}, expected {spatial} "
                f"axes between samples and channels that hold a window of {tuple(kernel)}"
            )
        if any(self._padding):
            widths = [(0, 0), *((p, p) for p in self._padding), (0, 0)]
            value = self._padding_value
            if value == -math.inf and mx.issubdtype(x.dtype, mx.integer):
                value = mx.iinfo(x.dtype).min
            x = mx.pad(x, widths, constant_values=mx.array(value, dtype=x.dtype))
        windows = _sliding_windows(x, kernel, stride)
        return self._reduce(windows, axis=list(range(-1 - spatial, -1)))


class MaxPool1d(_Pool):
    """The largest value of every window of an input ``(N, L, C)``.

    The padding counts as minus infinity; there are
    ``(L + 2 padding - kernel_size) // stride + 1`` windows.

    Args:
        kernel_size: the size of the windows.
        stride: the distance between them; ``kernel_size`` by default.
        padding: how much is added at both ends.

    Raises:
        ValueError: sizes and strides that aren't positive, negative padding, tuples of a wrong
            length; on a call, inputs with another number of dimensions or smaller than a window.

    Example:
        >>> nn.MaxPool1d(2)(mx.arange(4.0).reshape(1, 4, 1)).flatten()
        array([1, 3], dtype=float32)
    """

    def __init__(
        self,
        kernel_size: int | tuple[int],
        stride: int | tuple[int] | None = None,
        padding: int | tuple[int] = 0,
    ) -> None:
        super().__init__(1, mx.max, -math.inf, kernel_size, stride, padding)


class AvgPool1d(_Pool):
    """The mean of every window of an input ``(N, L, C)``; see :class:`MaxPool1d`.

    The padding counts as zeros and takes part in the mean.

    Args:
        kernel_size: the size of the windows.
        stride: the distance between them; ``kernel_size`` by default.
        padding: how much is added at both ends.

    Raises:
        ValueError: as for :class:`MaxPool1d`.

    Example:
        >>> nn.AvgPool1d(2)(mx.arange(4.0).reshape(1, 4, 1)).flatten()
        array([0.5, 2.5], dtype=float32)
    """

    def __init__(
        self,
        kernel_size: int | tuple[int],
        stride: int | tuple[int] | None = None,
        padding: int | tuple[int] = 0,
    ) -> None:
        super().__init__(1, mx.mean, 0, kernel_size, stride, padding)


class MaxPool2d(_Pool):
    """The largest value of every window of an input ``(N, H, W, C)``; see :class:`MaxPool1d`.

    Args:
        kernel_size: the size of the windows, for both axes or a pair.
        stride: the distance between them; ``kernel_size`` by default.
        padding: how much is added at both ends of both axes.

    Raises:
        ValueError: as for :class:`MaxPool1d`.

    Example:
        >>> nn.MaxPool2d(2)(mx.ones((1, 4, 4, 3))).shape
        (1, 2, 2, 3)
    """

    def __init__(
        self,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] | None = None,
        padding: int | tuple[int, int] | None = 0,
    ) -> None:
        super().__init__(2, mx.max, -math.inf, kernel_size, stride, padding)


class AvgPool2d(_Pool):
    """The mean of every window of an input ``(N, H, W, C)``; see :class:`AvgPool1d`.

    Args:
        kernel_size: the size of the windows, for both axes or a pair.
        stride: the distance between them; ``kernel_size`` by default.
        padding: how much is added at both ends of both axes.

    Raises:
        ValueError: as for :class:`MaxPool1d`.

    Example:
        >>> nn.AvgPool2d(2)(mx.ones((1, 4, 4, 3))).shape
        (1, 2, 2, 3)
    """

    def __init__(
        self,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] | None = None,
        padding: int | tuple[int, int] | None = 0,
    ) -> None:
        super().__init__(2, mx.mean, 0, kernel_size, stride, padding)


class MaxPool3d(_Pool):
    """The largest value of every window of an input ``(N, D, H, W, C)``; see :class:`MaxPool1d`.

    Args:
        kernel_size: the size of the windows, for all three axes or a triple.
        stride: the distance between them; ``kernel_size`` by default.
        padding: how much is added at both ends of the three axes.

    Raises:
        ValueError: as for :class:`MaxPool1d`.

    Example:
        >>> nn.MaxPool3d(2)(mx.ones((1, 4, 4, 4, 3))).shape
        (1, 2, 2, 2, 3)
    """

    def __init__(
        self,
        kernel_size: int | tuple[int, int, int],
        stride: int | tuple[int, int, int] | None = None,
        padding: int | tuple[int, int, int] | None = 0,
    ) -> None:
        super().__init__(3, mx.max, -math.inf, kernel_size, stride, padding)


class AvgPool3d(_Pool):
    """The mean of every window of an input ``(N, D, H, W, C)``; see :class:`AvgPool1d`.

    Args:
        kernel_size: the size of the windows, for all three axes or a triple.
        stride: the distance between them; ``kernel_size`` by default.
        padding: how much is added at both ends of the three axes.

    Raises:
        ValueError: as for :class:`MaxPool1d`.

    Example:
        >>> nn.AvgPool3d(2)(mx.ones((1, 4, 4, 4, 3))).shape
        (1, 2, 2, 2, 3)
    """

    def __init__(
        self,
        kernel_size: int | tuple[int, int, int],
        stride: int | tuple[int, int, int] | None = None,
        padding: int | tuple[int, int, int] | None = 0,
    ) -> None:
        super().__init__(3, mx.mean, 0, kernel_size, stride, padding)
