"""Normalisation layers. Statistics of half-precision inputs are computed in float32."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from .._fast import layer_norm, rms_norm, standardize, wide
from .base import Module


def _check_eps(layer: Module, eps: float) -> float:
    if not eps > 0:
        raise ValueError(f"[{type(layer).__name__}] got eps {eps}, expected a positive number")
    return eps


class LayerNorm(Module):
    r"""Layer normalisation of the last axis (Ba et al., https://arxiv.org/abs/1607.06450).

    .. math::
        y = \frac{x - \mathrm{E}[x]}{\sqrt{\mathrm{Var}[x] + \epsilon}} \, \gamma + \beta

    The parameters ``weight`` (ones) and ``bias`` (zeros) have the shape ``(dims,)``.

    Args:
        dims: the size of the last axis.
        eps: added to the variance.
        affine: whether there are parameters.
        bias: whether there is a bias among them.

    Raises:
        ValueError: ``eps`` isn't positive; an input isn't floating or its last axis has another
            size than the parameters.

    Example:
        >>> nn.LayerNorm(2)(mx.array([1.0, 3.0]))
        array([-0.999995, 0.999995], dtype=float32)
    """

    def __init__(
        self, dims: int, eps: float = 1e-5, affine: bool = True, bias: bool = True
    ) -> None:
        super().__init__()
        if affine:
            self.weight = mx.ones((dims,))
            if bias:
                self.bias = mx.zeros((dims,))
        self.eps = _check_eps(self, eps)
        self.dims = dims

    def _extra_repr(self) -> str:
        return f"{self.dims}, eps={self.eps}, affine={'weight' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        return layer_norm(x, self.get("weight"), self.get("bias"), self.eps)


class RMSNorm(Module):
    r"""Root-mean-square normalisation (Zhang and Sennrich, https://arxiv.org/abs/1910.07467).

    .. math::
        y = \frac{x}{\sqrt{\mathrm{E}[x^2] + \epsilon}} \, \gamma

    The parameter ``weight`` (ones) has the shape ``(dims,)``.

    Args:
        dims: the size of the last axis.
        eps: added to the mean of the squares.

    Raises:
        ValueError: ``eps`` isn't positive; an input isn't floating or its last axis has another
            size than the weight.

    Example:
        >>> nn.RMSNorm(2)(mx.array([3.0, 3.0]))
        array([0.999999, 0.999999], dtype=float32)
    """

    def __init__(self, dims: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = mx.ones((dims,))
        self.eps = _check_eps(self, eps)

    def _extra_repr(self) -> str:
        return f"{self.weight.shape[0]}, eps={self.eps}"

    def __call__(self, x: mx.array) -> mx.array:
        return rms_norm(x, self["weight"], self.eps)


class InstanceNorm(Module):
    """Normalises every channel of every sample over its spatial axes.

    Ulyanov et al., https://arxiv.org/abs/1607.08022. With ``affine`` the parameters ``weight``
    (ones) and ``bias`` (zeros) have the shape ``(dims,)``.

    Args:
        dims: the number of channels.
        eps: added to the variance.
        affine: whether there are parameters.

    Raises:
        ValueError: ``eps`` isn't positive, or an input has fewer than 3 dimensions (N, ..., C).

    Example:
        >>> nn.InstanceNorm(3)(mx.random.normal((2, 8, 8, 3))).shape
        (2, 8, 8, 3)
    """

    def __init__(self, dims: int, eps: float = 1e-5, affine: bool = False) -> None:
        super().__init__()
        if affine:
            self.weight = mx.ones((dims,))
            self.bias = mx.zeros((dims,))
        self.dims = dims
        self.eps = _check_eps(self, eps)

    def _extra_repr(self) -> str:
        return f"{self.dims}, eps={self.eps}, affine={'weight' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        if x.ndim < 3:
            raise ValueError(
                f"[InstanceNorm] got an input of shape {x.shape}, expected at least 3 dimensions "
                "(N, ..., C)"
            )
        y = standardize(wide(x), list(range(1, x.ndim - 1)), self.eps).astype(x.dtype)
        return self["weight"] * y + self["bias"] if "weight" in self else y


class GroupNorm(Module):
    """Normalises groups of channels of every sample (Wu and He, https://arxiv.org/abs/1803.08494).

    The parameters ``weight`` (ones) and ``bias`` (zeros) have the shape ``(dims,)``.

    Args:
        num_groups: the number of groups.
        dims: the number of channels, the last axis of the input (N, ..., C).
        eps: added to the variance.
        affine: whether there are parameters.
        pytorch_compatible: whether a group is a block of neighbouring channels. By default group
            g holds the channels g, g + num_groups, g + 2 num_groups and so on.

    Raises:
        ValueError: ``eps``, ``dims`` or ``num_groups`` aren't positive, ``num_groups`` doesn't
            divide ``dims``, or an input hasn't ``dims`` channels.

    Example:
        >>> nn.GroupNorm(2, 4)(mx.random.normal((2, 8, 4))).shape
        (2, 8, 4)
    """

    def __init__(
        self,
        num_groups: int,
        dims: int,
        eps: float = 1e-5,
        affine: bool = True,
        pytorch_compatible: bool = False,
    ) -> None:
        super().__init__()
        if dims <= 0 or num_groups <= 0 or dims % num_groups != 0:
            raise ValueError(
                f"[GroupNorm] got {dims} channels in {num_groups} groups, expected positive "
                "numbers, the first divisible by the second"
            )
        if affine:
            self.bias = mx.zeros((dims,))
            self.weight = mx.ones((dims,))
        self.num_groups = num_groups
        self.dims = dims
        self.eps = _check_eps(self, eps)
        self.pytorch_compatible = pytorch_compatible

    def _extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.dims}, eps={self.eps}, affine={'weight' in self}, "
            f"pytorch_compatible={self.pytorch_compatible}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        if x.ndim < 2 or x.shape[-1] != self.dims:
            raise ValueError(
                f"[GroupNorm] got an input of shape {x.shape}, expected (N, ..., {self.dims})"
            )
        groups = self.num_groups
        # In both cases: (N, values, groups, channels of the group), one of the last two split off.
        if self.pytorch_compatible:
            split, axes = (x.shape[0], -1, groups, self.dims // groups), [1, 3]
        else:
            split, axes = (x.shape[0], -1, self.dims // groups, groups), [1, 2]
        y = standardize(wide(x).reshape(split), axes, self.eps).reshape(x.shape).astype(x.dtype)
        return self["weight"] * y + self["bias"] if "weight" in self else y


class BatchNorm(Module):
    r"""Normalises every channel over the batch (Ioffe and Szegedy, arXiv 1502.03167).

    .. math::
        y = \frac{x - \mathrm{E}[x]}{\sqrt{\mathrm{Var}[x] + \epsilon}} \, \gamma + \beta

    In training mode the statistics are those of the batch, over all axes but the last, and the
    running ones follow them (the variance without bias); in evaluation mode the running ones are
    used. The parameters ``weight`` (ones) and ``bias`` (zeros) and the statistics
    ``running_mean`` and ``running_var``, which are always frozen, have the shape
    ``(num_features,)``.

    Args:
        num_features: the number of channels.
        eps: added to the variance.
        momentum: the weight of the batch in the running statistics.
        affine: whether there are parameters.
        track_running_stats: whether there are running statistics; without them those of the batch
            are used in both modes.

    Raises:
        ValueError: ``eps`` isn't positive; an input isn't of shape (N, C), (N, L, C) or
            (N, H, W, C), or in training has only one value per channel.

    Example:
        >>> nn.BatchNorm(4)(mx.random.normal((8, 4))).shape
        (8, 4)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = _check_eps(self, eps)
        self.momentum = momentum
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = mx.ones((num_features,))
            self.bias = mx.zeros((num_features,))
        if track_running_stats:
            self.running_mean = mx.zeros((num_features,))
            self.running_var = mx.ones((num_features,))
            self._freeze_statistics()

    def _freeze_statistics(self) -> None:
        if self.track_running_stats:
            self.freeze(keys=["running_mean", "running_var"], recurse=False)

    def unfreeze(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        """Make the parameters trainable again; the running statistics stay frozen."""
        super().unfreeze(*args, **kwargs)
        self._freeze_statistics()

    def _extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={'weight' in self}, track_running_stats={self.track_running_stats}"
        )

    def _track(self, mean: mx.array, var: mx.array, count: int) -> None:
        """Moves the running statistics towards those of a batch of ``count`` values a channel."""
        news = {"running_mean": mean, "running_var": var * (count / (count - 1))}
        for name, new in news.items():
            old = self[name]
            moved = (1 - self.momentum) * wide(old) + self.momentum * mx.stop_gradient(new)
            self[name] = moved.astype(old.dtype)

    def __call__(self, x: mx.array) -> mx.array:
        if not 2 <= x.ndim <= 4 or x.shape[-1] != self.num_features:
            raise ValueError(
                f"[BatchNorm] got an input of shape {x.shape}, expected 2, 3 or 4 dimensions, the "
                f"last of size {self.num_features}"
            )
        x32 = wide(x)
        dtype = x.dtype
        if self.training or not self.track_running_stats:
            count = x.size // self.num_features
            if self.training and count <= 1:
                raise ValueError(
                    f"[BatchNorm] got an input of shape {x.shape}, expected more than one value "
                    "per channel in training"
                )
            axes = list(range(x.ndim - 1))
            mean = mx.mean(x32, axis=axes)
            var = mx.mean(mx.square(x32 - mean), axis=axes)
            if self.training and self.track_running_stats:
                self._track(mean, var, count)
        else:
            mean, var = wide(self["running_mean"]), wide(self["running_var"])
            dtype = mx.result_type(x, self["running_mean"])
        y = ((x32 - mean) * mx.rsqrt(var + self.eps)).astype(dtype)
        return self["weight"] * y + self["bias"] if "weight" in self else y
