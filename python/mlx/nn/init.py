"""Initialisers: functions from an array to a new array of the same shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import mlx.core as mx

__all__ = [
    "constant",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "normal",
    "orthogonal",
    "sparse",
    "uniform",
]

Initializer = Callable[..., mx.array]


def constant(value: float, dtype: mx.Dtype = mx.float32) -> Initializer:
    """All elements equal ``value``.

    Args:
        value: the value.
        dtype: the dtype of the result.

    Example:
        >>> nn.init.constant(0.5)(mx.zeros((2,)))
        array([0.5, 0.5], dtype=float32)
    """

    def initializer(a: mx.array) -> mx.array:
        return mx.full(a.shape, value, dtype=dtype)

    return initializer


def normal(mean: float = 0.0, std: float = 1.0, dtype: mx.Dtype = mx.float32) -> Initializer:
    """Normally distributed elements.

    Args:
        mean: the mean.
        std: the standard deviation.
        dtype: the dtype of the result.

    Example:
        >>> nn.init.normal(std=0.02)(mx.zeros((2, 3))).shape
        (2, 3)
    """

    def initializer(a: mx.array) -> mx.array:
        return mx.random.normal(shape=a.shape, scale=std, loc=mean, dtype=dtype)

    return initializer


def uniform(low: float = 0.0, high: float = 1.0, dtype: mx.Dtype = mx.float32) -> Initializer:
    """Elements uniform in [``low``, ``high``).

    Args:
        low: the lower end.
        high: the upper end.
        dtype: the dtype of the result.

    Example:
        >>> nn.init.uniform(-1, 1)(mx.zeros((2, 3))).shape
        (2, 3)
    """

    def initializer(a: mx.array) -> mx.array:
        return mx.random.uniform(low, high, a.shape, dtype=dtype)

    return initializer


def identity(dtype: mx.Dtype = mx.float32) -> Initializer:
    """The identity matrix.

    Args:
        dtype: the dtype of the result.

    Raises:
        ValueError: the array isn't a square matrix.

    Example:
        >>> nn.init.identity()(mx.zeros((1, 1)))
        array([[1]], dtype=float32)
    """

    def initializer(a: mx.array) -> mx.array:
        if a.ndim != 2 or a.shape[0] != a.shape[1]:
            raise ValueError(
                f"[identity] got an array of shape {a.shape}, expected a square matrix"
            )
        return mx.eye(a.shape[0], dtype=dtype)

    return initializer


def _fans(op: str, a: mx.array) -> tuple[int, int]:
    """How many inputs an output has, and how many outputs an input has, as in a convolution."""
    if a.ndim < 2:
        raise ValueError(f"[{op}] got an array of shape {a.shape}, expected at least 2 dimensions")
    window = math.prod(a.shape[1:-1])
    return a.shape[-1] * window, a.shape[0] * window


def glorot_normal(dtype: mx.Dtype = mx.float32) -> Initializer:
    r"""Normal with the standard deviation :math:`\mathrm{gain} \sqrt{2 / (f_i + f_o)}`.

    Here :math:`f_i` is the last size and :math:`f_o` the first, both times the sizes between.
    Glorot and Bengio, *Understanding the difficulty of training deep feedforward neural networks*,
    AISTATS 2010.

    Args:
        dtype: the dtype of the result.

    Returns:
        A function of the array and ``gain`` (1 by default).

    Raises:
        ValueError: the array has fewer than 2 dimensions.

    Example:
        >>> nn.init.glorot_normal()(mx.zeros((2, 3)), gain=2.0).shape
        (2, 3)
    """

    def initializer(a: mx.array, gain: float = 1.0) -> mx.array:
        std = gain * math.sqrt(2 / sum(_fans("glorot_normal", a)))
        return mx.random.normal(shape=a.shape, scale=std, dtype=dtype)

    return initializer


def glorot_uniform(dtype: mx.Dtype = mx.float32) -> Initializer:
    r"""Uniform between :math:`\pm \mathrm{gain} \sqrt{6 / (f_i + f_o)}`; see :func:`glorot_normal`.

    Args:
        dtype: the dtype of the result.

    Returns:
        A function of the array and ``gain`` (1 by default).

    Raises:
        ValueError: the array has fewer than 2 dimensions.

    Example:
        >>> nn.init.glorot_uniform()(mx.zeros((2, 3))).shape
        (2, 3)
    """

    def initializer(a: mx.array, gain: float = 1.0) -> mx.array:
        limit = gain * math.sqrt(6 / sum(_fans("glorot_uniform", a)))
        return mx.random.uniform(-limit, limit, a.shape, dtype=dtype)

    return initializer


def _fan(op: str, a: mx.array, mode: str) -> int:
    fans = dict(zip(("fan_in", "fan_out"), _fans(op, a)))
    if mode not in fans:
        raise ValueError(f"[{op}] got the mode {mode!r}, expected 'fan_in' or 'fan_out'")
    return fans[mode]


def he_normal(dtype: mx.Dtype = mx.float32) -> Initializer:
    r"""Normal with the standard deviation :math:`\mathrm{gain} / \sqrt{f}`.

    Here :math:`f` is the last size (``mode="fan_in"``) or the first (``"fan_out"``), times the
    sizes between. He et al., https://arxiv.org/abs/1502.01852.

    Args:
        dtype: the dtype of the result.

    Returns:
        A function of the array, ``mode`` (``"fan_in"`` by default) and ``gain`` (1 by default).

    Raises:
        ValueError: the array has fewer than 2 dimensions, or another ``mode``.

    Example:
        >>> nn.init.he_normal()(mx.zeros((2, 3)), mode="fan_out").shape
        (2, 3)
    """

    def initializer(
        a: mx.array, mode: Literal["fan_in", "fan_out"] = "fan_in", gain: float = 1.0
    ) -> mx.array:
        std = gain / math.sqrt(_fan("he_normal", a, mode))
        return mx.random.normal(shape=a.shape, scale=std, dtype=dtype)

    return initializer


def he_uniform(dtype: mx.Dtype = mx.float32) -> Initializer:
    r"""Uniform between :math:`\pm \mathrm{gain} \sqrt{3 / f}`; see :func:`he_normal`.

    Args:
        dtype: the dtype of the result.

    Returns:
        A function of the array, ``mode`` (``"fan_in"`` by default) and ``gain`` (1 by default).

    Raises:
        ValueError: the array has fewer than 2 dimensions, or another ``mode``.

    Example:
        >>> nn.init.he_uniform()(mx.zeros((2, 3))).shape
        (2, 3)
    """

    def initializer(
        a: mx.array, mode: Literal["fan_in", "fan_out"] = "fan_in", gain: float = 1.0
    ) -> mx.array:
        limit = gain * math.sqrt(3 / _fan("he_uniform", a, mode))
        return mx.random.uniform(-limit, limit, a.shape, dtype=dtype)

    return initializer


def sparse(
    sparsity: float, mean: float = 0.0, std: float = 1.0, dtype: mx.Dtype = mx.float32
) -> Initializer:
    """Normally distributed elements, of which a share is zero in every row.

    Martens, *Deep learning via Hessian-free optimization*, ICML 2010.

    Args:
        sparsity: the share of zeros, rounded up to whole elements.
        mean: the mean of the others.
        std: their standard deviation.
        dtype: the dtype of the result.

    Raises:
        ValueError: the array isn't a matrix.

    Example:
        >>> mx.sum(nn.init.sparse(0.5)(mx.zeros((2, 4))) == 0)
        array(4, dtype=int32)
    """

    def initializer(a: mx.array) -> mx.array:
        if a.ndim != 2:
            raise ValueError(f"[sparse] got an array of shape {a.shape}, expected 2 dimensions")
        columns = a.shape[1]
        zeros = math.ceil(sparsity * columns)
        order = mx.argsort(mx.random.uniform(shape=a.shape), axis=1)
        values = mx.random.normal(shape=a.shape, scale=std, loc=mean, dtype=dtype)
        # The rank of an element in its row is the inverse of the order.
        rank = mx.argsort(order, axis=1)
        return mx.where(rank < zeros, mx.array(0, dtype), values)

    return initializer


def orthogonal(gain: float = 1.0, dtype: mx.Dtype = mx.float32) -> Initializer:
    """A matrix with orthonormal rows or columns, whichever are fewer, times ``gain``.

    Saxe et al., https://arxiv.org/abs/1312.6120.

    Args:
        gain: the factor.
        dtype: the dtype of the result.

    Raises:
        ValueError: the array isn't a matrix.

    Example:
        >>> q = nn.init.orthogonal()(mx.zeros((2, 3)))
        >>> mx.allclose(q @ q.T, mx.eye(2), atol=1e-5)
        array(True, dtype=bool)
    """

    def initializer(a: mx.array) -> mx.array:
        if a.ndim != 2:
            raise ValueError(f"[orthogonal] got an array of shape {a.shape}, expected 2 dimensions")
        rows, columns = a.shape
        n = max(rows, columns)
        q, r = mx.linalg.qr(mx.random.normal((n, n)), stream=mx.cpu)  # type: ignore[attr-defined]
        # The signs make the decomposition unique, so that q is uniform among the rotations.
        q = q * mx.sign(mx.diag(r))
        return (gain * q[:rows, :columns]).astype(dtype)

    return initializer
