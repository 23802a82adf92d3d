"""Attention and the transformer (Vaswani et al., https://arxiv.org/abs/1706.03762)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mlx.core as mx

from .. import utils
from .._fast import attention
from .activations import relu
from .base import Module
from .dropout import Dropout
from .linear import Linear
from .normalization import LayerNorm


class MultiHeadAttention(Module):
    """Scaled dot-product attention in several heads.

    Queries, keys and values are projected, split into heads, attended with the scale
    ``1 / sqrt(head size)``, joined and projected again; the child modules are ``query_proj``,
    ``key_proj``, ``value_proj`` and ``out_proj``.

    A call takes ``queries`` ``(B, Tq, query_input_dims)``, ``keys`` ``(B, Tk, key_input_dims)``,
    ``values`` ``(B, Tk, value_input_dims)`` and optionally a mask that broadcasts to
    ``(B, num_heads, Tq, Tk)``: booleans keep where they are true, floats are added to the scores.
    A query for which nothing is kept gets zeros. The result has the shape
    ``(B, Tq, value_output_dims)``.

    Args:
        dims: the size of the projected queries and keys, all heads together.
        num_heads: the number of heads.
        query_input_dims: the size of the queries; ``dims`` by default.
        key_input_dims: the size of the keys; ``dims`` by default.
        value_input_dims: the size of the values; ``key_input_dims`` by default.
        value_dims: the size of the projected values; ``dims`` by default.
        value_output_dims: the size of the result; ``dims`` by default.
        bias: whether the projections have biases.

    Raises:
        ValueError: ``num_heads`` doesn't divide ``dims`` or ``value_dims``.

    Example:
        >>> x = mx.ones((2, 5, 16))
        >>> nn.MultiHeadAttention(16, 4)(x, x, x).shape
        (2, 5, 16)
    """

    def __init__(
        self,
        dims: int,
        num_heads: int,
        query_input_dims: int | None = None,
        key_input_dims: int | None = None,
        value_input_dims: int | None = None,
        value_dims: int | None = None,
        value_output_dims: int | None = None,
        bias: bool = False,
    ) -> None:
        super().__init__()
        query_input_dims = query_input_dims or dims
        key_input_dims = key_input_dims or dims
        value_input_dims = value_input_dims or key_input_dims
        value_dims = value_dims or dims
        value_output_dims = value_output_dims or dims
        if dims % num_heads != 0 or value_dims % num_heads != 0:
            raise ValueError(
                f"[MultiHeadAttention] got {dims} features and {value_dims} value features in "
                f"{num_heads} heads, expected multiples of the number of heads"
            )
        self.num_heads = num_heads
        self.query_proj = Linear(query_input_dims, dims, bias=bias)
        self.key_proj = Linear(key_input_dims, dims, bias=bias)
        self.value_proj = Linear(value_input_dims, value_dims, bias=bias)
        self.out_proj = Linear(value_dims, value_output_dims, bias=bias)

    def _heads(self, x: mx.array) -> mx.array:
        """(B, T, H * D) to (B, H, T, D)."""
        return mx.unflatten(x, -1, (self.num_heads, -1)).transpose(0, 2, 1, 3)

    def __call__(
        self,
        queries: mx.array,
        keys: mx.array,
        values: mx.array,
        mask: mx.array | str | None = None,
    ) -> mx.array:
        q = self._heads(self.query_proj(queries))
        k = self._heads(self.key_proj(keys))
        v = self._heads(self.value_proj(values))
        y = attention(q, k, v, math.sqrt(1 / q.shape[-1]), mask)
        return self.out_proj(y.transpose(0, 2, 1, 3).flatten(-2, -1))

    @staticmethod
    def create_additive_causal_mask(N: int, dtype: mx.Dtype = mx.float32) -> mx.array:
        """A mask ``(N, N)`` with 0 up to the diagonal and the lowest finite number above it.

        Args:
            N: the length of the sequence.
            dtype: the floating dtype of the mask.
        """
        positions = mx.arange(N)
        later = positions[:, None] < positions[None]
        return mx.where(later, mx.array(mx.finfo(dtype).min, dtype), mx.array(0, dtype))


class TransformerEncoderLayer(Module):
    """One layer of the encoder: self-attention and a small network, both with residuals.

    A call takes ``x`` ``(B, T, dims)`` and a mask for the scores, or ``None``, and returns an
    array of the shape of ``x``.

    Args:
        dims: the size of the features.
        num_heads: the number of heads.
        mlp_dims: the inner size of the network; ``4 * dims`` by default.
        dropout: the probability of the dropouts.
        activation: the activation of the network.
        norm_first: whether normalisation comes before the attention and the network, or else
            after the residuals.

    Example:
        >>> nn.TransformerEncoderLayer(16, 4)(mx.ones((2, 5, 16)), None).shape
        (2, 5, 16)
    """

    def __init__(
        self,
        dims: int,
        num_heads: int,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Callable[[Any], Any] = relu,
        norm_first: bool = True,
    ) -> None:
        super().__init__()
        mlp_dims = mlp_dims or 4 * dims
        self.attention = MultiHeadAttention(dims, num_heads)
        self.ln1 = LayerNorm(dims)
        self.ln2 = LayerNorm(dims)
        self.linear1 = Linear(dims, mlp_dims)
        self.linear2 = Linear(mlp_dims, dims)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = activation
        self.norm_first = norm_first

    def _mlp(self, x: mx.array) -> mx.array:
        return self.linear2(self.dropout2(self.activation(self.linear1(x))))

    def __call__(self, x: mx.array, mask: mx.array | None) -> mx.array:
        if self.norm_first:
            y = self.ln1(x)
            x = x + self.dropout1(self.attention(y, y, y, mask))
            return x + self._mlp(self.ln2(x))
        x = self.ln1(x + self.dropout1(self.attention(x, x, x, mask)))
        return self.ln2(x + self._mlp(x))


class TransformerEncoder(Module):
    """A stack of :class:`TransformerEncoderLayer` and a last normalisation.

    A call takes ``x`` ``(B, T, dims)`` and a mask for the scores, or ``None``, and returns an
    array of the shape of ``x``.

    Args:
        num_layers: the number of layers.
        dims, num_heads, mlp_dims, dropout, activation, norm_first: as in the layer.
        checkpoint: whether layers are computed a second time for the gradient, which saves
            memory.

    Example:
        >>> nn.TransformerEncoder(2, 16, 4)(mx.ones((2, 5, 16)), None).shape
        (2, 5, 16)
    """

    def __init__(
        self,
        num_layers: int,
        dims: int,
        num_heads: int,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Callable[[Any], Any] = relu,
        norm_first: bool = True,
        checkpoint: bool = False,
    ) -> None:
        super().__init__()
        self.layers = [
            TransformerEncoderLayer(dims, num_heads, mlp_dims, dropout, activation, norm_first)
            for _ in range(num_layers)
        ]
        self.ln = LayerNorm(dims)
        self.checkpoint = checkpoint

    def __call__(self, x: mx.array, mask: mx.array | None) -> mx.array:
        for layer in self.layers:
            call = utils.checkpoint(layer) if self.checkpoint else layer
            x = call(x, mask)
        return self.ln(x)


class TransformerDecoderLayer(Module):
    """One layer of the decoder: self-attention, attention to the memory and a small network.

    A call takes ``x`` ``(B, T, dims)``, the memory ``(B, Tm, dims)`` and for each a mask for the
    scores, or ``None``; it returns an array of the shape of ``x``.

    Args:
        dims: the size of the features.
        num_heads: the number of heads.
        mlp_dims: the inner size of the network; ``4 * dims`` by default.
        dropout: the probability of the dropouts.
        activation: the activation of the network.
        norm_first: whether normalisation comes before the attentions and the network, or else
            after the residuals.

    Example:
        >>> memory = mx.ones((2, 7, 16))
        >>> nn.TransformerDecoderLayer(16, 4)(mx.ones((2, 5, 16)), memory, None, None).shape
        (2, 5, 16)
    """

    def __init__(
        self,
        dims: int,
        num_heads: int,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Callable[[Any], Any] = relu,
        norm_first: bool = True,
    ) -> None:
        super().__init__()
        mlp_dims = mlp_dims or 4 * dims
        self.self_attention = MultiHeadAttention(dims, num_heads)
        self.cross_attention = MultiHeadAttention(dims, num_heads)
        self.ln1 = LayerNorm(dims)
        self.ln2 = LayerNorm(dims)
        self.ln3 = LayerNorm(dims)
        self.linear1 = Linear(dims, mlp_dims)
        self.linear2 = Linear(mlp_dims, dims)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation
        self.norm_first = norm_first

    def _mlp(self, x: mx.array) -> mx.array:
        return self.linear2(self.dropout3(self.activation(self.linear1(x))))

    def __call__(
        self,
        x: mx.array,
        memory: mx.array,
        x_mask: mx.array | None,
        memory_mask: mx.array | None,
    ) -> mx.array:
        if self.norm_first:
            y = self.ln1(x)
            x = x + self.dropout1(self.self_attention(y, y, y, x_mask))
            y = self.ln2(x)
            x = x + self.dropout2(self.cross_attention(y, memory, memory, memory_mask))
            return x + self._mlp(self.ln3(x))
        x = self.ln1(x + self.dropout1(self.self_attention(x, x, x, x_mask)))
        y = self.cross_attention(x, memory, memory, memory_mask)
        x = self.ln2(x + self.dropout2(y))
        return self.ln3(x + self._mlp(x))


class TransformerDecoder(Module):
    """A stack of :class:`TransformerDecoderLayer` and a last normalisation.

    A call takes ``x`` ``(B, T, dims)``, the memory ``(B, Tm, dims)`` and for each a mask for the
    scores, or ``None``; it returns an array of the shape of ``x``.

    Args:
        num_layers: the number of layers.
        dims, num_heads, mlp_dims, dropout, activation, norm_first: as in the layer.
        checkpoint: whether layers are computed a second time for the gradient, which saves
            memory.

    Example:
        >>> memory = mx.ones((2, 7, 16))
        >>> nn.TransformerDecoder(2, 16, 4)(mx.ones((2, 5, 16)), memory, None, None).shape
        (2, 5, 16)
    """

    def __init__(
        self,
        num_layers: int,
        dims: int,
        num_heads: int,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Callable[[Any], Any] = relu,
        norm_first: bool = True,
        checkpoint: bool = False,
    ) -> None:
        super().__init__()
        self.layers = [
            TransformerDecoderLayer(dims, num_heads, mlp_dims, dropout, activation, norm_first)
            for _ in range(num_layers)
        ]
        self.ln = LayerNorm(dims)
        self.checkpoint = checkpoint

    def __call__(
        self,
        x: mx.array,
        memory: mx.array,
        x_mask: mx.array | None,
        memory_mask: mx.array | None,
    ) -> mx.array:
        for layer in self.layers:
            call = utils.checkpoint(layer) if self.checkpoint else layer
            x = call(x, memory, x_mask, memory_mask)
        return self.ln(x)


class Transformer(Module):
    """The encoder and the decoder together.

    A call takes the source ``(B, Ts, dims)``, the target ``(B, Tt, dims)``, and masks for the
    scores in the encoder, in the decoder and from the decoder to the memory, each an array or
    ``None``. The result has the shape of the target.

    Args:
        dims: the size of the features.
        num_heads: the number of heads.
        num_encoder_layers: the number of layers of the encoder.
        num_decoder_layers: the number of layers of the decoder.
        mlp_dims: the inner size of the networks; ``4 * dims`` by default.
        dropout: the probability of the dropouts.
        activation: the activation of the networks.
        custom_encoder: a module called as ``(x, mask)`` in place of the encoder.
        custom_decoder: a module called as ``(x, memory, x_mask, memory_mask)`` in place of the
            decoder.
        norm_first: whether normalisation comes before the attentions and the networks.
        checkpoint: whether layers are computed a second time for the gradient, which saves
            memory.

    Example:
        >>> model = nn.Transformer(16, 4, 1, 1)
        >>> model(mx.ones((2, 7, 16)), mx.ones((2, 5, 16)), None, None, None).shape
        (2, 5, 16)
    """

    def __init__(
        self,
        dims: int = 512,
        num_heads: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Callable[[Any], Any] = relu,
        custom_encoder: Any | None = None,
        custom_decoder: Any | None = None,
        norm_first: bool = True,
        checkpoint: bool = False,
    ) -> None:
        super().__init__()
        shared = (dims, num_heads, mlp_dims, dropout, activation, norm_first, checkpoint)
        if custom_encoder is None:
            custom_encoder = TransformerEncoder(num_encoder_layers, *shared)
        if custom_decoder is None:
            custom_decoder = TransformerDecoder(num_decoder_layers, *shared)
        self.encoder = custom_encoder
        self.decoder = custom_decoder

    def __call__(
        self,
        src: mx.array,
        tgt: mx.array,
        src_mask: mx.array | None,
        tgt_mask: mx.array | None,
        memory_mask: mx.array | None,
    ) -> mx.array:
        memory = self.encoder(src, src_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask)
