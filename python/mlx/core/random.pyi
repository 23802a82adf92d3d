"""Random numbers from explicit or thread keys."""

from collections.abc import Iterator, Sequence
from typing import overload

import mlx.core


state: _RandomState = ...

def key(seed: int) -> mlx.core.array:
    """
    The key of a seed.

    Args:
        seed (int): from 0 to 2**64 - 1.

    Returns:
        array: shape ``(2,)``, dtype uint32.

    Example:
        >>> mx.random.key(0)
        array([0, 0], dtype=uint32)
    """

def seed(seed: int) -> None:
    """Set the random state of the calling thread to the key of ``seed``."""

def split(key: mlx.core.array, num: int = 2, stream: mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None = None) -> mlx.core.array:
    """
    Independent keys made from one.

    Args:
        key (array): the key to split.
        num (int): how many to make.

    Returns:
        array: shape ``(num, 2)``, dtype uint32.

    Raises:
        ValueError: something that is not a key, or a negative number.

    Example:
        >>> a, b = mx.random.split(mx.random.key(0))
    """

def uniform(low: bool | int | float | complex | mlx.core.array | mlx.core.ArrayLike = 0, high: bool | int | float | complex | mlx.core.array | mlx.core.ArrayLike = 1, shape: Sequence[int] = (), dtype: mlx.core.Dtype | None = ..., key: mlx.core.array | None = None, stream: mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None = None) -> mlx.core.array:
    """
    Uniform numbers in ``[low, high)``.

    Args:
        low (scalar or array): lower bound; broadcasts to ``shape``.
        high (scalar or array): upper bound; broadcasts to ``shape``.
        shape (Sequence[int]): shape of the result.
        dtype (Dtype): float32, float16 or bfloat16.
        key (array): a key; without one the thread's state gives it.

    Raises:
        ValueError: bounds that do not broadcast to the shape, a bad key, or a
          dtype that is not floating.
        RuntimeError: float64.

    Example:
        >>> mx.random.uniform(-1, 1, (2, 3)).shape
        (2, 3)
    """

def normal(shape: Sequence[int] = (), dtype: mlx.core.Dtype | None = ..., loc: bool | int | float | complex | mlx.core.array | mlx.core.ArrayLike | None = None, scale: bool | int | float | complex | mlx.core.array | mlx.core.ArrayLike | None = None, key: mlx.core.array | None = None, stream: mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None = None) -> mlx.core.array:
    """
    Normally distributed numbers.

    Args:
        shape (Sequence[int]): shape of the draws; loc and scale broadcast with it.
        dtype (Dtype): a floating dtype, or complex64: parts of variance 1/2 each.
        loc (scalar or array): mean, 0 by default.
        scale (scalar or array): standard deviation, 1 by default.
        key (array): a key; without one the thread's state gives it.

    Raises:
        ValueError: a dtype that is neither floating nor complex, or a bad key.

    Example:
        >>> mx.random.normal((2, 3), loc=1.0, scale=0.1).shape
        (2, 3)
    """

def truncated_normal(lower: bool | int | float | complex | mlx.core.array | mlx.core.ArrayLike, upper: bool | int | float | complex | mlx.core.array | mlx.core.ArrayLike, shape: Sequence[int] | None = None, dtype: mlx.core.Dtype | None = ..., key: mlx.core.array | None = None, stream: mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None = None) -> mlx.core.array:
    """
    Numbers of the standard normal distribution cut to ``[lower, upper]``.

    Args:
        lower (scalar or array): lower bound.
        upper (scalar or array): upper bound.
        shape (Sequence[int]): shape of the result; the bounds' by default.
        dtype (Dtype): float32, float16 or bfloat16.
        key (array): a key; without one the thread's state gives it.

    Raises:
        ValueError: bounds that do not broadcast to the shape, or a dtype that is
          not floating.

    Example:
        >>> mx.random.truncated_normal(-2, 2, (5,)).shape
        (5,)
    """

def bernoulli(p: bool | int | float | complex | mlx.core.array | mlx.core.ArrayLike = 0.5, shape: Sequence[int] | None = None, key: mlx.core.array | None = None, stream: mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None = None) -> mlx.core.array:
    """
    Booleans that are true with probability p.

    Args:
        p (float or array): probability; broadcasts to ``shape``.
        shape (Sequence[int]): shape of the result; that of p by default.
        key (array): a key; without one the thread's state gives it.

    Raises:
        ValueError: a p that is not floating or does not broadcast to the shape.

    Example:
        >>> mx.random.bernoulli(0.3, (4,)).dtype
        mlx.core.bool
    """

def randint(low: bool | int | float | complex | mlx.core.array | mlx.core.ArrayLike, high: bool | int | float | complex | mlx.core.array | mlx.core.ArrayLike, shape: Sequence[int] = (), dtype: mlx.core.Dtype | None = ..., key: mlx.core.array | None = None, stream: mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None = None) -> mlx.core.array:
    """
    Integers of ``[low, high)``, each equally likely; low where the interval is empty.

    Args:
        low (scalar or array): lower bound; broadcasts to ``shape``.
        high (scalar or array): upper bound, not drawn; broadcasts to ``shape``.
        shape (Sequence[int]): shape of the result.
        dtype (Dtype): an integer dtype or bool.
        key (array): a key; without one the thread's state gives it.

    Raises:
        ValueError: bounds that do not broadcast to the shape, or a floating or
          complex dtype.

    Example:
        >>> mx.random.randint(0, 10, (3,)).shape
        (3,)
    """

def gumbel(shape: Sequence[int] = (), dtype: mlx.core.Dtype | None = ..., key: mlx.core.array | None = None, stream: mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None = None) -> mlx.core.array:
    """
    Numbers of the standard Gumbel distribution.

    Args:
        shape (Sequence[int]): shape of the result.
        dtype (Dtype): float32, float16 or bfloat16.
        key (array): a key; without one the thread's state gives it.

    Example:
        >>> mx.random.gumbel((2,)).shape
        (2,)
    """

def laplace(shape: Sequence[int] = (), dtype: mlx.core.Dtype | None = ..., loc: float = 0.0, scale: float = 1.0, key: mlx.core.array | None = None, stream: mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None = None) -> mlx.core.array:
    """
    Numbers of the Laplace distribution.

    Args:
        shape (Sequence[int]): shape of the result.
        dtype (Dtype): a floating dtype.
        loc (float): mean.
        scale (float): mean distance from it.
        key (array): a key; without one the thread's state gives it.

    Raises:
        ValueError: a dtype that is not floating.

    Example:
        >>> mx.random.laplace((2,), scale=2.0).shape
        (2,)
    """

def categorical(logits: mlx.core.array, axis: int = -1, shape: Sequence[int] | None = None, num_samples: int | None = None, key: mlx.core.array | None = None, stream: mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None = None) -> mlx.core.array:
    """
    Indices drawn with probabilities proportional to ``exp(logits)``.

    Args:
        logits (array): unnormalised log-probabilities.
        axis (int): the axis of the categories.
        shape (Sequence[int]): shape of the result: that of logits without the
          axis, which is also the default, must broadcast to it.
        num_samples (int): draws of each distribution, as a last axis.
        key (array): a key; without one the thread's state gives it.

    Returns:
        array: uint32 indices along the axis.

    Raises:
        ValueError: shape and num_samples together, a shape that does not hold
          one draw of each distribution, or no categories.

    Example:
        >>> mx.random.categorical(mx.zeros((5, 3)), num_samples=2).shape
        (5, 2)
    """

@overload
def permutation(x: mlx.core.array, axis: int = 0, key: mlx.core.array | None = None, stream: mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None = None) -> mlx.core.array:
    """
    The slices of an array along an axis in random order.

    Args:
        x (int or array): an int stands for the integers from 0 to ``x - 1``.
        axis (int): the axis that is shuffled; only for an array.
        key (array): a key; without one the thread's state gives it.

    Returns:
        array: of the shape and dtype of x; uint32 of shape ``(x,)`` for an int.

    Raises:
        AxisError: the axis is out of range.
        ValueError: a negative int, or a bad key.

    Example:
        >>> mx.random.permutation(4, key=mx.random.key(0)).shape
        (4,)
    """

@overload
def permutation(x: int, axis: int = 0, key: mlx.core.array | None = None, stream: mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None = None) -> mlx.core.array: ...

def multivariate_normal(mean: mlx.core.array, cov: mlx.core.array, shape: Sequence[int] = (), dtype: mlx.core.Dtype | None = ..., key: mlx.core.array | None = None, stream: mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | mlx.core.DeviceType | None = None) -> mlx.core.array:
    """
    Vectors of jointly normal numbers.

    The square root of the covariance comes from its singular value decomposition.

    Args:
        mean (array): shape ``(..., n)``.
        cov (array): shape ``(..., n, n)``, symmetric and positive semidefinite.
        shape (Sequence[int]): axes before the last of the result; broadcasts with
          those of mean and cov.
        dtype (Dtype): float32.
        key (array): a key; without one the thread's state gives it.

    Raises:
        ValueError: shapes that do not fit, or another dtype.

    Example:
        >>> mx.random.multivariate_normal(mx.zeros((2,)), mx.eye(2), (5,)).shape
        (5, 2)
    """

class _RandomState:
    """The random state of the calling thread, as a list of one key."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> array: ...
    def __setitem__(self, index: int, key: array, /) -> None: ...
    def __iter__(self) -> Iterator[array]: ...
