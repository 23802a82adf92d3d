"""Dropout of single values and of whole channels (Srivastava et al., JMLR 15, 2014)."""

from __future__ import annotations

import mlx.core as mx

from .base import Module


class Dropout(Module):
    """Sets values to zero with the probability ``p`` and scales the others by 1 / (1 - p).

    In evaluation mode, and for ``p = 0``, the input is returned.

    Args:
        p: the probability of a zero.

    Raises:
        ValueError: ``p`` isn't in [0, 1).

    Example:
        >>> nn.Dropout(0.5).eval()(mx.array([1.0]))
        array([1], dtype=float32)
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"[{type(self).__name__}] got the probability {p}, expected [0, 1)")
        self._p = p

    def _extra_repr(self) -> str:
        return f"p={self._p}"

    def _mask_shape(self, x: mx.array) -> list[int]:
        """The shape of the random mask, 1 along the axes that share a decision."""
        return list(x.shape)

    def __call__(self, x: mx.array) -> mx.array:
        shape = self._mask_shape(x)
        if self._p == 0 or not self.training:
            return x
        keep = mx.random.bernoulli(1 - self._p, shape)
        return mx.where(keep, x * (1 / (1 - self._p)), 0)


def _channel_mask_shape(op: str, x: mx.array, spatial: int) -> list[int]:
    """The shape of ``x`` with its ``spatial`` axes before the channels set to 1."""
    if x.ndim not in (spatial + 1, spatial + 2):
        raise ValueError(
            f"[{op}] got an input of shape {x.shape}, expected {spatial + 1} or {spatial + 2} "
            "dimensions"
        )
    return [*x.shape[: -1 - spatial], *([1] * spatial), x.shape[-1]]


class Dropout2d(Dropout):
    """Dropout of whole channels of images (Tompson et al., https://arxiv.org/abs/1411.4280).

    Args:
        p: the probability that a channel becomes zero.

    Raises:
        ValueError: ``p`` isn't in [0, 1), or an input isn't of shape (N, H, W, C) or (H, W, C).

    Example:
        >>> nn.Dropout2d(0.5)(mx.ones((2, 8, 8, 3))).shape
        (2, 8, 8, 3)
    """

    def _mask_shape(self, x: mx.array) -> list[int]:
        return _channel_mask_shape("Dropout2d", x, 2)


class Dropout3d(Dropout):
    """Dropout of whole channels of volumes.

    Args:
        p: the probability that a channel becomes zero.

    Raises:
        ValueError: ``p`` isn't in [0, 1), or an input isn't of shape (N, D, H, W, C) or
            (D, H, W, C).

    Example:
        >>> nn.Dropout3d(0.5)(mx.ones((2, 4, 4, 4, 3))).shape
        (2, 4, 4, 4, 3)
    """

    def _mask_shape(self, x: mx.array) -> list[int]:
        return _channel_mask_shape("Dropout3d", x, 3)
