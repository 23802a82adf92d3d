"""Layers made of one matrix product: Identity, Linear, Bilinear."""

from __future__ import annotations

import math
from typing import Any

import mlx.core as mx

from .base import Module


class Identity(Module):
    """Returns its input. Arguments are accepted and ignored, so it can stand for any layer.

    Example:
        >>> nn.Identity(3, bias=True)(mx.array([1.0]))
        array([1], dtype=float32)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def __call__(self, x: mx.array) -> mx.array:
        return x


class Linear(Module):
    r"""The affine map :math:`y = x W^\top + b` of the last axis.

    The parameters ``weight`` of shape ``(output_dims, input_dims)`` and ``bias`` of shape
    ``(output_dims,)`` start uniform between :math:`\pm\sqrt{1 / \mathrm{input\_dims}}`.

    Args:
        input_dims: the size of the last axis of the input.
        output_dims: the size of the last axis of the output.
        bias: whether there is a bias.

    Raises:
        ValueError: the last axis of an input hasn't the size ``input_dims``.

    Example:
        >>> nn.Linear(3, 2)(mx.ones((4, 3))).shape
        (4, 2)
    """

    def __init__(self, input_dims: int, output_dims: int, bias: bool = True) -> None:
        super().__init__()
        limit = math.sqrt(1 / input_dims)
        self.weight = mx.random.uniform(-limit, limit, (output_dims, input_dims))
        if bias:
            self.bias = mx.random.uniform(-limit, limit, (output_dims,))

    def _extra_repr(self) -> str:
        output_dims, input_dims = self.weight.shape
        return f"input_dims={input_dims}, output_dims={output_dims}, bias={'bias' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        if "bias" in self:
            return mx.addmm(self["bias"], x, self["weight"].T)
        return x @ self["weight"].T


class Bilinear(Module):
    r"""The bilinear map :math:`y_o = \sum_{ji} x^{(2)}_j W_{oji} x^{(1)}_i + b_o` of last axes.

    The parameters ``weight`` of shape ``(output_dims, input2_dims, input1_dims)`` and ``bias`` of
    shape ``(output_dims,)`` start uniform between :math:`\pm\sqrt{1 / \mathrm{input1\_dims}}`. The
    leading axes of the inputs are broadcast.

    Args:
        input1_dims: the size of the last axis of the first input.
        input2_dims: the size of the last axis of the second input.
        output_dims: the size of the last axis of the output.
        bias: whether there is a bias.

    Example:
        >>> nn.Bilinear(2, 3, 4)(mx.ones((5, 2)), mx.ones((5, 3))).shape
        (5, 4)
    """

    def __init__(
        self, input1_dims: int, input2_dims: int, output_dims: int, bias: bool = True
    ) -> None:
        super().__init__()
        limit = math.sqrt(1 / input1_dims)
        shape = (output_dims, input2_dims, input1_dims)
        self.weight = mx.random.uniform(-limit, limit, shape)
        if bias:
            self.bias = mx.random.uniform(-limit, limit, (output_dims,))

    def _extra_repr(self) -> str:
        output_dims, input2_dims, input1_dims = self.weight.shape
        return (
            f"input1_dims={input1_dims}, input2_dims={input2_dims}, output_dims={output_dims}, "
            f"bias={'bias' in self}"
        )

    def __call__(self, x1: mx.array, x2: mx.array) -> mx.array:
        weight = self["weight"]
        output_dims, input2_dims, input1_dims = weight.shape
        # (..., out * in2) for x1, then one vector of length in2 for each output.
        y = x1 @ weight.reshape(output_dims * input2_dims, input1_dims).T
        y = y.reshape(*y.shape[:-1], output_dims, input2_dims) @ x2[..., None]
        y = y.squeeze(-1)
        return y + self["bias"] if "bias" in self else y
