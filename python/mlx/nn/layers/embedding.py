"""Embedding: rows of a table."""

from __future__ import annotations

import math

import mlx.core as mx

from .base import Module


class Embedding(Module):
    r"""Looks up vectors by integer.

    The parameter ``weight`` of shape ``(num_embeddings, dims)`` starts normal with the standard
    deviation :math:`\sqrt{1 / \mathrm{dims}}`.

    Args:
        num_embeddings: the number of vectors.
        dims: their size.

    Raises:
        ValueError: the indices of a call aren't integers.

    Example:
        >>> nn.Embedding(10, 4)(mx.array([[1, 2, 1]])).shape
        (1, 3, 4)
    """

    def __init__(self, num_embeddings: int, dims: int) -> None:
        super().__init__()
        self.weight = mx.random.normal((num_embeddings, dims), scale=math.sqrt(1 / dims))

    def _extra_repr(self) -> str:
        num_embeddings, dims = self.weight.shape
        return f"{num_embeddings}, {dims}"

    def __call__(self, x: mx.array) -> mx.array:
        return self["weight"][x]

    def as_linear(self, x: mx.array) -> mx.array:
        """Use the table as a linear layer without bias: ``x @ weight.T``.

        Models that tie the input embedding and the output layer call this for the latter.
        """
        return x @ self["weight"].T
