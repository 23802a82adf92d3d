"""The update rules. Each class documents its formula, with :math:`g` the gradient, :math:`w` the
parameter and :math:`t` the number of the step, from 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mlx.core as mx

from .base import (
    LearningRate,
    MultiOptimizer,
    Optimizer,
    clip_grad_norm,
    in_float32,
    wide,
    zeros_for,
)

__all__ = [
    "SGD",
    "AdaDelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "MultiOptimizer",
    "Muon",
    "Optimizer",
    "RMSprop",
    "clip_grad_norm",
]


def _check(op: str, name: str, value: float, ok: bool, expected: str) -> None:
    if not ok:
        raise ValueError(f"[{op}] got {name} {value}, expected {expected}")


def _check_betas(op: str, betas: Sequence[float]) -> None:
    for i, beta in enumerate(betas):
        _check(op, f"beta {i + 1}", beta, 0 <= beta < 1, "a number in [0, 1)")


class SGD(Optimizer):
    r"""Stochastic gradient descent, optionally with momentum.

    .. math::
        v_t &= \mu v_{t-1} + (1 - \tau) g_t \\
        w_t &= w_{t-1} - \lambda v_t

    With the Nesterov form the step is :math:`g_t + \mu v_t` (Sutskever et al., ICML 2013).

    Args:
        learning_rate: :math:`\lambda`, a number or a schedule.
        momentum: :math:`\mu`.
        weight_decay: this multiple of the weights is added to the gradient.
        dampening: :math:`\tau`.
        nesterov: whether the Nesterov form is used.

    Raises:
        ValueError: ``nesterov`` without momentum or with dampening.

    Example:
        >>> optim.SGD(0.5).apply_gradients({"w": mx.array([1.0])}, {"w": mx.array([2.0])})
        {'w': array([1.5], dtype=float32)}
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        dampening: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                f"[SGD] got nesterov with momentum {momentum} and dampening {dampening}, expected "
                "a positive momentum and no dampening"
            )
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.dampening = dampening
        self.nesterov = nesterov

    def init_single(self, parameter: mx.array, state: dict) -> None:
        """The velocity ``v``, zeros."""
        state["v"] = zeros_for(parameter)

    @in_float32
    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        """One step; updates ``v``."""
        if self.weight_decay != 0:
            gradient = gradient + self.weight_decay * parameter
        rate = self._cast_rate(gradient)
        if self.momentum <= 0:
            return parameter - rate * gradient
        fresh = (1 - self.dampening) * gradient if self.dampening > 0 else gradient
        v = self.momentum * state["v"] + fresh
        state["v"] = v
        return parameter - rate * (gradient + self.momentum * v if self.nesterov else v)


class RMSprop(Optimizer):
    r"""RMSprop (Tieleman and Hinton, *Lecture 6.5*, COURSERA 2012).

    .. math::
        v_t &= \alpha v_{t-1} + (1 - \alpha) g_t^2 \\
        w_t &= w_{t-1} - \lambda g_t / (\sqrt{v_t} + \epsilon)

    Args:
        learning_rate: :math:`\lambda`, a number or a schedule.
        alpha: :math:`\alpha`.
        eps: :math:`\epsilon`.

    Raises:
        ValueError: a negative ``alpha`` or an ``eps`` that isn't positive.

    Example:
        >>> opt = optim.RMSprop(0.01)
    """

    def __init__(self, learning_rate: LearningRate, alpha: float = 0.99, eps: float = 1e-8) -> None:
        _check("RMSprop", "alpha", alpha, alpha >= 0, "a number >= 0")
        _check("RMSprop", "eps", eps, eps > 0, "a positive number")
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.alpha = alpha
        self.eps = eps

    def init_single(self, parameter: mx.array, state: dict) -> None:
        """The mean square ``v``, zeros."""
        state["v"] = zeros_for(parameter)

    @in_float32
    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        """One step; updates ``v``."""
        v = self.alpha * state["v"] + (1 - self.alpha) * mx.square(gradient)
        state["v"] = v
        return parameter - self._cast_rate(gradient) * gradient / (mx.sqrt(v) + self.eps)


class Adagrad(Optimizer):
    r"""Adagrad (Duchi et al., JMLR 12, 2011).

    .. math::
        v_t &= v_{t-1} + g_t^2 \\
        w_t &= w_{t-1} - \lambda g_t / (\sqrt{v_t} + \epsilon)

    Args:
        learning_rate: :math:`\lambda`, a number or a schedule.
        eps: :math:`\epsilon`.

    Raises:
        ValueError: an ``eps`` that isn't positive.

    Example:
        >>> opt = optim.Adagrad(0.01)
    """

    def __init__(self, learning_rate: LearningRate, eps: float = 1e-8) -> None:
        _check("Adagrad", "eps", eps, eps > 0, "a positive number")
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.eps = eps

    def init_single(self, parameter: mx.array, state: dict) -> None:
        """The sum of squares ``v``, zeros."""
        state["v"] = zeros_for(parameter)

    @in_float32
    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        """One step; updates ``v``."""
        v = state["v"] + mx.square(gradient)
        state["v"] = v
        return parameter - self._cast_rate(gradient) * gradient / (mx.sqrt(v) + self.eps)


class AdaDelta(Optimizer):
    r"""AdaDelta (Zeiler, https://arxiv.org/abs/1212.5701).

    .. math::
        v_t &= \rho v_{t-1} + (1 - \rho) g_t^2 \\
        d_t &= g_t \sqrt{u_{t-1} + \epsilon} / \sqrt{v_t + \epsilon} \\
        u_t &= \rho u_{t-1} + (1 - \rho) d_t^2 \\
        w_t &= w_{t-1} - \lambda d_t

    Args:
        learning_rate: :math:`\lambda`, a number or a schedule.
        rho: :math:`\rho`.
        eps: :math:`\epsilon`.

    Raises:
        ValueError: a negative ``rho`` or an ``eps`` that isn't positive.

    Example:
        >>> opt = optim.AdaDelta(1.0)
    """

    def __init__(self, learning_rate: LearningRate, rho: float = 0.9, eps: float = 1e-6) -> None:
        _check("AdaDelta", "rho", rho, rho >= 0, "a number >= 0")
        _check("AdaDelta", "eps", eps, eps > 0, "a positive number")
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.rho = rho
        self.eps = eps

    def init_single(self, parameter: mx.array, state: dict) -> None:
        """The mean squares ``v`` of the gradients and ``u`` of the steps, zeros."""
        state["v"] = zeros_for(parameter)
        state["u"] = zeros_for(parameter)

    @in_float32
    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        """One step; updates ``v`` and ``u``."""
        v = self.rho * state["v"] + (1 - self.rho) * mx.square(gradient)
        d = mx.sqrt(state["u"] + self.eps) / mx.sqrt(v + self.eps) * gradient
        state["v"] = v
        state["u"] = self.rho * state["u"] + (1 - self.rho) * mx.square(d)
        return parameter - self._cast_rate(gradient) * d


class Adam(Optimizer):
    r"""Adam (Kingma and Ba, https://arxiv.org/abs/1412.6980), by default without bias correction.

    .. math::
        m_t &= \beta_1 m_{t-1} + (1 - \beta_1) g_t \\
        v_t &= \beta_2 v_{t-1} + (1 - \beta_2) g_t^2 \\
        w_t &= w_{t-1} - \lambda m_t / (\sqrt{v_t} + \epsilon)

    Args:
        learning_rate: :math:`\lambda`, a number or a schedule.
        betas: :math:`\beta_1` and :math:`\beta_2`.
        eps: :math:`\epsilon`.
        bias_correction: whether :math:`m_t` and :math:`v_t` are divided by
            :math:`1 - \beta_1^t` and :math:`1 - \beta_2^t`.

    Raises:
        ValueError: betas outside [0, 1) or a negative ``eps``.

    Example:
        >>> opt = optim.Adam(1e-3, bias_correction=True)
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
        bias_correction: bool = False,
    ) -> None:
        _check_betas(type(self).__name__, betas)
        _check(type(self).__name__, "eps", eps, eps >= 0, "a number >= 0")
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.betas = list(betas)
        self.eps = eps
        self.bias_correction = bias_correction

    def init_single(self, parameter: mx.array, state: dict) -> None:
        """The means ``m`` of the gradients and ``v`` of their squares, zeros."""
        state["m"] = zeros_for(parameter)
        state["v"] = zeros_for(parameter)

    def _remaining(self, beta: float, dtype: mx.Dtype) -> mx.array:
        """1 - beta^t, without the cancellation of the direct form."""
        log_beta = math.log(beta) if beta > 0 else -math.inf
        return -mx.expm1(self.step.astype(dtype) * log_beta)

    @in_float32
    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        """One step; updates ``m`` and ``v``."""
        b1, b2 = self.betas
        rate = self._cast_rate(gradient)
        m = b1 * state["m"] + (1 - b1) * gradient
        v = b2 * state["v"] + (1 - b2) * mx.square(gradient)
        state["m"], state["v"] = m, v
        root = mx.sqrt(v)
        if self.bias_correction:
            rate = rate / self._remaining(b1, gradient.dtype)
            root = root * mx.rsqrt(self._remaining(b2, gradient.dtype))
        return parameter - rate * m / (root + self.eps)


class AdamW(Adam):
    r"""Adam with decoupled weight decay (Loshchilov and Hutter, https://arxiv.org/abs/1711.05101).

    The weights are multiplied by :math:`1 - \lambda \, \mathrm{weight\_decay}` before the step of
    :class:`Adam`.

    Args:
        learning_rate: :math:`\lambda`, a number or a schedule.
        betas: :math:`\beta_1` and :math:`\beta_2`.
        eps: :math:`\epsilon`.
        weight_decay: the weight decay.
        bias_correction: as in :class:`Adam`.

    Raises:
        ValueError: betas outside [0, 1) or a negative ``eps``.

    Example:
        >>> opt = optim.AdamW(1e-3, weight_decay=0.1)
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        bias_correction: bool = False,
    ) -> None:
        super().__init__(learning_rate, betas, eps, bias_correction)
        self.weight_decay = weight_decay

    @in_float32
    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        """One step; updates ``m`` and ``v``."""
        decayed = parameter * (1 - self._cast_rate(gradient) * self.weight_decay)
        return super().apply_single(gradient, decayed, state)


class Adamax(Adam):
    r"""Adamax, Adam with the infinity norm (Kingma and Ba, https://arxiv.org/abs/1412.6980).

    .. math::
        m_t &= \beta_1 m_{t-1} + (1 - \beta_1) g_t \\
        v_t &= \max(\beta_2 v_{t-1}, |g_t|) \\
        w_t &= w_{t-1} - \lambda m_t / (v_t + \epsilon)

    Args:
        learning_rate: :math:`\lambda`, a number or a schedule.
        betas: :math:`\beta_1` and :math:`\beta_2`.
        eps: :math:`\epsilon`.

    Raises:
        ValueError: betas outside [0, 1) or a negative ``eps``.

    Example:
        >>> opt = optim.Adamax(1e-3)
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(learning_rate, betas, eps)

    def init_single(self, parameter: mx.array, state: dict) -> None:
        """The mean ``m`` of the gradients and their decaying maximum ``v``, zeros."""
        super().init_single(parameter, state)

    @in_float32
    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        """One step; updates ``m`` and ``v``."""
        b1, b2 = self.betas
        m = b1 * state["m"] + (1 - b1) * gradient
        v = mx.maximum(b2 * state["v"], mx.abs(gradient))
        state["m"], state["v"] = m, v
        return parameter - self._cast_rate(gradient) * m / (v + self.eps)


class Lion(Optimizer):
    r"""Lion (Chen et al., https://arxiv.org/abs/2302.06675).

    .. math::
        c_t &= \beta_1 m_{t-1} + (1 - \beta_1) g_t \\
        m_t &= \beta_2 m_{t-1} + (1 - \beta_2) g_t \\
        w_t &= w_{t-1} (1 - \lambda \, \mathrm{weight\_decay}) - \lambda \, \mathrm{sign}(c_t)

    The steps are larger than those of Adam; a learning rate a few times smaller, and a weight
    decay larger by as much, are usual.

    Args:
        learning_rate: :math:`\lambda`, a number or a schedule.
        betas: :math:`\beta_1` and :math:`\beta_2`.
        weight_decay: the weight decay.

    Raises:
        ValueError: betas outside [0, 1).

    Example:
        >>> opt = optim.Lion(1e-4)
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        betas: Sequence[float] = (0.9, 0.99),
        weight_decay: float = 0.0,
    ) -> None:
        _check_betas("Lion", betas)
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.betas = list(betas)
        self.weight_decay = weight_decay

    def init_single(self, parameter: mx.array, state: dict) -> None:
        """The mean ``m`` of the gradients, zeros."""
        state["m"] = zeros_for(parameter)

    @in_float32
    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        """One step; updates ``m``."""
        b1, b2 = self.betas
        rate = self._cast_rate(gradient)
        m = state["m"]
        c = b1 * m + (1 - b1) * gradient
        state["m"] = b2 * m + (1 - b2) * gradient
        if self.weight_decay > 0:
            parameter = parameter * (1 - rate * self.weight_decay)
        return parameter - rate * mx.sign(c)


def _rms(x: mx.array) -> mx.array:
    return mx.sqrt(mx.mean(mx.square(x)))


class Adafactor(Optimizer):
    r"""Adafactor (Shazeer and Stern, https://arxiv.org/abs/1804.04235).

    For parameters with two or more dimensions the second moments are kept as means over the rows
    and the columns of the last two axes only.

    Args:
        learning_rate: a number or a schedule; needed without ``relative_step``.
        eps: a constant added to the squared gradients, and the least scale of a parameter.
        clip_threshold: steps with a larger root mean square are scaled down to it.
        decay_rate: the second moments decay by :math:`1 - t^{\mathrm{decay\_rate}}`.
        beta_1: the decay of the mean of the steps; ``None`` for no such mean.
        weight_decay: the weight decay.
        scale_parameter: whether the learning rate is multiplied by the root mean square of the
            parameter.
        relative_step: whether the learning rate is :math:`\min(10^{-2}, 1 / \sqrt{t})`.
        warmup_init: whether it is :math:`\min(10^{-6} t, 1 / \sqrt{t})` instead.

    Raises:
        ValueError: there is neither a learning rate nor ``relative_step``.

    Example:
        >>> opt = optim.Adafactor()
    """

    def __init__(
        self,
        learning_rate: LearningRate | None = None,
        eps: tuple[float, float] = (1e-30, 1e-3),
        clip_threshold: float = 1.0,
        decay_rate: float = -0.8,
        beta_1: float | None = None,
        weight_decay: float = 0.0,
        scale_parameter: bool = True,
        relative_step: bool = True,
        warmup_init: bool = False,
    ) -> None:
        if learning_rate is None and not relative_step:
            raise ValueError(
                "[Adafactor] got no learning_rate and relative_step=False, expected one of them"
            )
        super().__init__()
        if learning_rate is not None:
            self._maybe_schedule("learning_rate", learning_rate)
        self.eps = eps
        self.clip_threshold = clip_threshold
        self.decay_rate = decay_rate
        self.beta_1 = beta_1
        self.weight_decay = weight_decay
        self.scale_parameter = scale_parameter
        self.relative_step = relative_step
        self.warmup_init = warmup_init

    def init_single(self, parameter: mx.array, state: dict) -> None:
        """The second moments ``exp_avg_sq_row`` and ``_col``, or ``exp_avg_sq``; ``exp_avg``."""
        dtype = wide(parameter).dtype
        shape = parameter.shape
        if parameter.ndim >= 2:
            state["exp_avg_sq_row"] = mx.zeros(shape[:-1], dtype=dtype)
            state["exp_avg_sq_col"] = mx.zeros((*shape[:-2], shape[-1]), dtype=dtype)
        else:
            state["exp_avg_sq"] = mx.zeros(shape, dtype=dtype)
        if self.beta_1 is not None:
            state["exp_avg"] = mx.zeros(shape, dtype=dtype)

    def _rate(self, parameter: mx.array) -> mx.array:
        if self.relative_step:
            step = self.step.astype(mx.float32)
            rate = mx.minimum(1e-6 * step if self.warmup_init else 1e-2, mx.rsqrt(step))
        else:
            rate = self.learning_rate
        if self.scale_parameter:
            rate = rate * mx.maximum(self.eps[1], _rms(parameter))
        return rate.astype(parameter.dtype)

    def _normalized(self, gradient: mx.array, state: dict) -> mx.array:
        """The gradient over the root of its second moments, which are updated."""
        beta_2 = 1 - mx.power(self.step.astype(gradient.dtype), self.decay_rate)
        squares = mx.square(gradient) + self.eps[0]

        def moved(name: str, new: mx.array) -> mx.array:
            state[name] = beta_2 * state[name] + (1 - beta_2) * new
            return state[name]

        if gradient.ndim < 2:
            return gradient * mx.rsqrt(moved("exp_avg_sq", squares))
        row = moved("exp_avg_sq_row", mx.mean(squares, axis=-1))
        col = moved("exp_avg_sq_col", mx.mean(squares, axis=-2))
        row = mx.rsqrt(row / mx.mean(row, axis=-1, keepdims=True))
        return gradient * row[..., None] * mx.rsqrt(col)[..., None, :]

    @in_float32
    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        """One step; updates the moments."""
        rate = self._rate(parameter)
        update = self._normalized(gradient, state)
        update = rate * update / mx.maximum(1.0, _rms(update) / self.clip_threshold)
        if self.beta_1 is not None:
            update = self.beta_1 * state["exp_avg"] + (1 - self.beta_1) * update
            state["exp_avg"] = update
        if self.weight_decay != 0:
            parameter = parameter - self.weight_decay * rate * parameter
        return parameter - update


class Muon(Optimizer):
    r"""Muon: momentum whose matrices are made orthogonal (Jordan et al., 2024).

    The step of a parameter with two or more dimensions, as a matrix with its first size as rows,
    is replaced by the nearest orthogonal matrix, approximated by Newton-Schulz iterations, and
    multiplied by the root of rows over columns where that is more than one. See
    https://kellerjordan.github.io/posts/muon. Embeddings, output layers and biases are usually
    left to another optimizer, see :class:`MultiOptimizer`.

    Args:
        learning_rate: a number or a schedule.
        momentum: the decay :math:`\mu` of the velocity :math:`v = \mu v + (1 - \mu) g`.
        weight_decay: this multiple of the weights is added to the gradient.
        nesterov: whether the step is :math:`(1 - \mu) g + \mu v` in place of :math:`v`.
        ns_steps: the number of iterations.

    Example:
        >>> opt = optim.Muon(0.02)
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        momentum: float = 0.95,
        weight_decay: float = 0.01,
        nesterov: bool = True,
        ns_steps: int = 5,
    ) -> None:
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.nesterov = nesterov
        self.ns_steps = ns_steps

    def init_single(self, parameter: mx.array, state: dict) -> None:
        """The velocity ``v``, zeros."""
        state["v"] = zeros_for(parameter)

    def _orthogonal(self, x: mx.array) -> mx.array:
        """A matrix with the singular vectors of ``x`` and singular values near 1."""
        a, b, c = 3.4445, -4.7750, 2.0315
        flat = x.shape[-2] <= x.shape[-1]
        x = x if flat else x.T
        x = x / (mx.sqrt(mx.sum(mx.square(x))) + 1e-7)
        for _ in range(self.ns_steps):
            gram = x @ x.T
            x = a * x + (b * gram + c * (gram @ gram)) @ x
        return x if flat else x.T

    @in_float32
    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        """One step; updates ``v``."""
        if self.weight_decay != 0:
            gradient = gradient + self.weight_decay * parameter
        mu = self.momentum
        v = mu * state["v"] + (1 - mu) * gradient
        state["v"] = v
        update = gradient * (1 - mu) + v * mu if self.nesterov else v
        rate = self._cast_rate(gradient)
        if update.ndim >= 2:
            shape = update.shape
            update = self._orthogonal(update.reshape(shape[0], -1)).reshape(shape)
            rate = rate * math.sqrt(max(1, shape[-2] / shape[-1]))
        return parameter - rate * update
