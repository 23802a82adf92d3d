"""Encodings of positions: rotary, sinusoidal and by linear biases."""

from __future__ import annotations

import math

import mlx.core as mx

from .._fast import rope
from .base import Module


class RoPE(Module):
    r"""Rotary positional encoding (Su et al., https://arxiv.org/abs/2104.09864).

    Pairs of features of the input ``(B, ..., T, D)`` are rotated by the angle
    :math:`p \, \mathrm{base}^{-2i/\mathrm{dims}}` for the pair :math:`i` at the position
    :math:`p = (t + \mathrm{offset}) \, \mathrm{scale}`.

    Args:
        dims: the number of features that are rotated; the others pass unchanged.
        traditional: whether pairs are neighbours (2i, 2i + 1); by default they are
            (i, i + dims / 2).
        base: the base of the frequencies.
        scale: multiplies the positions.

    Raises:
        ValueError: on a call, when ``dims`` isn't even, positive and at most D, or the input isn't
            floating with at least 3 dimensions.

    Example:
        >>> nn.RoPE(4)(mx.ones((1, 8, 4)), offset=2).shape
        (1, 8, 4)
    """

    def __init__(
        self, dims: int, traditional: bool = False, base: float = 10000, scale: float = 1.0
    ) -> None:
        super().__init__()
        self.dims = dims
        self.traditional = traditional
        self.base = base
        self.scale = scale

    def _extra_repr(self) -> str:
        return f"{self.dims}, traditional={self.traditional}"

    def __call__(self, x: mx.array, offset: int | mx.array = 0) -> mx.array:
        return rope(x, self.dims, self.traditional, self.base, self.scale, offset)


class SinusoidalPositionalEncoding(Module):
    r"""Sines and cosines of the input (Vaswani et al., https://arxiv.org/abs/1706.03762).

    An input of any shape, usually positions, becomes :math:`[\sin(x \sigma), \cos(x \sigma)]`
    along a new last axis of size ``dims``, with frequencies :math:`\sigma` spaced evenly on a
    logarithmic scale from ``max_freq`` down to ``min_freq``.

    Args:
        dims: the size of the encoding.
        min_freq: the lowest frequency.
        max_freq: the highest frequency.
        scale: multiplies the encoding; :math:`\sqrt{2 / \mathrm{dims}}` by default.
        cos_first: whether the cosines come first.
        full_turns: whether frequencies count full turns, :math:`2 \pi` each.

    Raises:
        ValueError: ``dims`` isn't positive and even.

    Example:
        >>> nn.SinusoidalPositionalEncoding(16)(mx.arange(10)).shape
        (10, 16)
    """

    def __init__(
        self,
        dims: int,
        min_freq: float = 0.0001,
        max_freq: float = 1,
        scale: float | None = None,
        cos_first: bool = False,
        full_turns: bool = False,
    ) -> None:
        super().__init__()
        if dims <= 0 or dims % 2 != 0:
            raise ValueError(
                f"[SinusoidalPositionalEncoding] got dims {dims}, expected a positive even number"
            )
        half = dims // 2
        falling = 1 - mx.arange(half, dtype=mx.float32) / max(half - 1, 1)
        low, high = math.log(min_freq), math.log(max_freq)
        sigmas = mx.exp(falling * (high - low) + low)
        # The underscore keeps them out of the parameters.
        self._sigmas = sigmas * (2 * math.pi) if full_turns else sigmas
        self.scale = math.sqrt(2 / dims) if scale is None else scale
        self.cos_first = cos_first

    def __call__(self, x: mx.array) -> mx.array:
        angles = x[..., None] * self._sigmas
        parts = [mx.sin(angles), mx.cos(angles)]
        if self.cos_first:
            parts.reverse()
        return mx.concatenate(parts, axis=-1) * self.scale


class ALiBi(Module):
    r"""Attention with linear biases (Press et al., https://arxiv.org/abs/2108.12409).

    Adds :math:`-m_h |i - j|` to the scores ``(B, H, Tq, Tk)`` of the query at position i and the
    key at position j, with a slope :math:`m_h` of each head.

    Example:
        >>> nn.ALiBi()(mx.zeros((1, 8, 4, 4))).shape
        (1, 8, 4, 4)
    """

    @staticmethod
    def create_alibi_matrix(
        q_sequence_length: int,
        k_sequence_length: int,
        num_heads: int,
        offset: int = 0,
        dtype: mx.Dtype = mx.float32,
    ) -> mx.array:
        """The biases ``(1, H, q_sequence_length - offset, k_sequence_length)``.

        Args:
            q_sequence_length: one past the position of the last query.
            k_sequence_length: the number of keys.
            num_heads: the number of heads H.
            offset: the position of the first query.
            dtype: the dtype of the result.
        """
        queries = mx.arange(offset, q_sequence_length)
        keys = mx.arange(k_sequence_length)
        distance = mx.abs(queries[:, None] - keys[None]).astype(mx.float32)
        slopes = ALiBi.create_alibi_slope(num_heads, mx.float32)
        return (-distance * slopes)[None].astype(dtype)

    @staticmethod
    def create_alibi_slope(num_heads: int, dtype: mx.Dtype = mx.float32) -> mx.array:
        """The slopes ``(num_heads, 1, 1)``: a geometric series for a power of two of heads.

        Otherwise the series for the power of two below is followed by every second slope of the
        series for the power of two above.
        """

        def series(n: int) -> list[float]:
            start = 2 ** (-(2 ** -(math.log2(n) - 3)))
            return [start ** (i + 1) for i in range(n)]

        lower = 1 << (num_heads.bit_length() - 1)
        slopes = series(lower)
        if lower < num_heads:
            slopes += series(2 * lower)[::2][: num_heads - lower]
        return mx.array(slopes, dtype=dtype).reshape(num_heads, 1, 1)

    def __call__(
        self, attention_scores: mx.array, offset: int = 0, mask: mx.array | None = None
    ) -> mx.array:
        _, heads, queries, keys = attention_scores.shape
        bias = self.create_alibi_matrix(
            queries + offset, keys, heads, offset, attention_scores.dtype
        )
        if mask is not None:
            bias = bias + mask
        return attention_scores + bias
