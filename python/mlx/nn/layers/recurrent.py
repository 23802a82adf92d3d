"""Recurrent layers over sequences of shape (..., T, D)."""

from __future__ import annotations

import math
from collections.abc import Callable

import mlx.core as mx

from .activations import tanh
from .base import Module


def _projected(op: str, x: mx.array, weight: mx.array, bias: mx.array | None) -> list[mx.array]:
    """The inputs of all steps times ``weight``, plus ``bias``, as a list of steps."""
    if x.ndim < 2 or x.shape[-2] == 0 or x.shape[-1] != weight.shape[-1]:
        raise ValueError(
            f"[{op}] got an input of shape {x.shape}, expected (..., T, {weight.shape[-1]}) with "
            "at least one step"
        )
    y = x @ weight.T if bias is None else mx.addmm(bias, x, weight.T)
    return [y[..., t, :] for t in range(y.shape[-2])]


class RNN(Module):
    r"""Elman recurrent layer :math:`h_t = f(W_{xh} x_t + W_{hh} h_{t-1} + b)`.

    The parameters ``Wxh`` of shape ``(hidden_size, input_size)``, ``Whh`` of shape
    ``(hidden_size, hidden_size)`` and ``bias`` of shape ``(hidden_size,)`` start uniform between
    :math:`\pm 1 / \sqrt{\mathrm{hidden\_size}}`.

    A call takes the input ``(..., T, input_size)`` and optionally the hidden state
    ``(..., hidden_size)`` before the first step, and returns the hidden states
    ``(..., T, hidden_size)``.

    Args:
        input_size: the size of the inputs.
        hidden_size: the size of the hidden state.
        bias: whether there is a bias.
        nonlinearity: the function :math:`f`; tanh by default.

    Raises:
        ValueError: ``nonlinearity`` isn't callable; an input has another size or no steps.

    Example:
        >>> nn.RNN(2, 8)(mx.ones((4, 10, 2))).shape
        (4, 10, 8)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: Callable[[mx.array], mx.array] | None = None,
    ) -> None:
        super().__init__()
        nonlinearity = tanh if nonlinearity is None else nonlinearity
        if not callable(nonlinearity):
            raise ValueError(f"[RNN] got the nonlinearity {nonlinearity!r}, expected a function")
        self.nonlinearity = nonlinearity
        limit = 1 / math.sqrt(hidden_size)
        self.hidden_size = hidden_size
        self.Wxh = mx.random.uniform(-limit, limit, (hidden_size, input_size))
        self.Whh = mx.random.uniform(-limit, limit, (hidden_size, hidden_size))
        self.bias = mx.random.uniform(-limit, limit, (hidden_size,)) if bias else None

    def _extra_repr(self) -> str:
        return (
            f"input_dims={self.Wxh.shape[1]}, hidden_size={self.hidden_size}, "
            f"nonlinearity={self.nonlinearity}, bias={self.bias is not None}"
        )

    def __call__(self, x: mx.array, hidden: mx.array | None = None) -> mx.array:
        recurrent = self.Whh.T
        states = []
        for step in _projected("RNN", x, self.Wxh, self.bias):
            if hidden is not None:
                step = mx.addmm(step, hidden, recurrent)
            hidden = self.nonlinearity(step)
            states.append(hidden)
        return mx.stack(states, axis=-2)


class GRU(Module):
    r"""Gated recurrent unit (Cho et al., https://arxiv.org/abs/1406.1078).

    .. math::
        r_t &= \sigma(W_{xr} x_t + W_{hr} h_{t-1} + b_r) \\
        z_t &= \sigma(W_{xz} x_t + W_{hz} h_{t-1} + b_z) \\
        n_t &= \tanh(W_{xn} x_t + b_n + r_t \odot (W_{hn} h_{t-1} + b_{hn})) \\
        h_t &= (1 - z_t) \odot n_t + z_t \odot h_{t-1}

    The parameters ``Wx`` of shape ``(3 hidden_size, input_size)``, ``Wh`` of shape
    ``(3 hidden_size, hidden_size)``, ``b`` of shape ``(3 hidden_size,)``, with the gates in the
    order r, z, n, and ``bhn`` of shape ``(hidden_size,)`` start uniform between
    :math:`\pm 1 / \sqrt{\mathrm{hidden\_size}}`.

    A call takes the input ``(..., T, input_size)`` and optionally the hidden state
    ``(..., hidden_size)`` before the first step, and returns the hidden states
    ``(..., T, hidden_size)``.

    Args:
        input_size: the size of the inputs.
        hidden_size: the size of the hidden state.
        bias: whether there are biases.

    Raises:
        ValueError: an input has another size or no steps.

    Example:
        >>> nn.GRU(2, 8)(mx.ones((4, 10, 2))).shape
        (4, 10, 8)
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        super().__init__()
        limit = 1 / math.sqrt(hidden_size)
        self.hidden_size = hidden_size
        self.Wx = mx.random.uniform(-limit, limit, (3 * hidden_size, input_size))
        self.Wh = mx.random.uniform(-limit, limit, (3 * hidden_size, hidden_size))
        self.b = mx.random.uniform(-limit, limit, (3 * hidden_size,)) if bias else None
        self.bhn = mx.random.uniform(-limit, limit, (hidden_size,)) if bias else None

    def _extra_repr(self) -> str:
        return (
            f"input_dims={self.Wx.shape[1]}, hidden_size={self.hidden_size}, "
            f"bias={self.b is not None}"
        )

    def __call__(self, x: mx.array, hidden: mx.array | None = None) -> mx.array:
        size = self.hidden_size
        recurrent = self.Wh.T
        states = []
        for step in _projected("GRU", x, self.Wx, self.b):
            gates, new = step[..., : 2 * size], step[..., 2 * size :]
            candidate = self.bhn
            if hidden is not None:
                h = hidden @ recurrent
                gates = gates + h[..., : 2 * size]
                h = h[..., 2 * size :]
                candidate = h if candidate is None else h + candidate
            r, z = mx.split(mx.sigmoid(gates), 2, axis=-1)
            n = mx.tanh(new if candidate is None else new + r * candidate)
            hidden = (1 - z) * n if hidden is None else (1 - z) * n + z * hidden
            states.append(hidden)
        return mx.stack(states, axis=-2)


class LSTM(Module):
    r"""Long short-term memory (Hochreiter and Schmidhuber, Neural Computation 9(8), 1997).

    .. math::
        i_t, f_t, o_t &= \sigma(W_x x_t + W_h h_{t-1} + b) \\
        g_t &= \tanh(W_{xg} x_t + W_{hg} h_{t-1} + b_g) \\
        c_t &= f_t \odot c_{t-1} + i_t \odot g_t \\
        h_t &= o_t \odot \tanh(c_t)

    The parameters ``Wx`` of shape ``(4 hidden_size, input_size)``, ``Wh`` of shape
    ``(4 hidden_size, hidden_size)`` and ``bias`` of shape ``(4 hidden_size,)``, with the gates in
    the order i, f, g, o, start uniform between :math:`\pm 1 / \sqrt{\mathrm{hidden\_size}}`.

    A call takes the input ``(..., T, input_size)`` and optionally the hidden and the cell state
    ``(..., hidden_size)`` before the first step, and returns the hidden states and the cell
    states, both ``(..., T, hidden_size)``.

    Args:
        input_size: the size of the inputs.
        hidden_size: the size of the hidden state and of the cell.
        bias: whether there is a bias.

    Raises:
        ValueError: an input has another size or no steps.

    Example:
        >>> hidden, cell = nn.LSTM(2, 8)(mx.ones((4, 10, 2)))
        >>> hidden.shape
        (4, 10, 8)
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        super().__init__()
        limit = 1 / math.sqrt(hidden_size)
        self.hidden_size = hidden_size
        self.Wx = mx.random.uniform(-limit, limit, (4 * hidden_size, input_size))
        self.Wh = mx.random.uniform(-limit, limit, (4 * hidden_size, hidden_size))
        self.bias = mx.random.uniform(-limit, limit, (4 * hidden_size,)) if bias else None

    def _extra_repr(self) -> str:
        return (
            f"input_dims={self.Wx.shape[1]}, hidden_size={self.hidden_size}, "
            f"bias={self.bias is not None}"
        )

    def __call__(
        self, x: mx.array, hidden: mx.array | None = None, cell: mx.array | None = None
    ) -> tuple[mx.array, mx.array]:
        recurrent = self.Wh.T
        states, cells = [], []
        for step in _projected("LSTM", x, self.Wx, self.bias):
            if hidden is not None:
                step = mx.addmm(step, hidden, recurrent)
            i, f, g, o = mx.split(step, 4, axis=-1)
            new = mx.sigmoid(i) * mx.tanh(g)
            cell = new if cell is None else mx.sigmoid(f) * cell + new
            hidden = mx.sigmoid(o) * mx.tanh(cell)
            states.append(hidden)
            cells.append(cell)
        return mx.stack(states, axis=-2), mx.stack(cells, axis=-2)
