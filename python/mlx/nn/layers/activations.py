"""Activation functions, and layers that apply them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mlx.core as mx

from .base import Module

__all__: list[str] = []


def _activation(fn: Callable) -> Callable:
    """Publishes an elementwise activation: every one of them passes through here."""
    __all__.append(fn.__name__)
    return fn


def _layer(cls: type) -> type:
    __all__.append(cls.__name__)
    return cls


# In the formulas below the order of the arguments of maximum and minimum matters: at a tie the
# gradient goes to the second one.


@_activation
def sigmoid(x: mx.array) -> mx.array:
    r"""The logistic function :math:`1 / (1 + e^{-x})`, elementwise.

    Example:
        >>> sigmoid(mx.array([0.0]))
        array([0.5], dtype=float32)
    """
    return mx.sigmoid(x)


@_activation
def relu(x: mx.array) -> mx.array:
    r"""Rectified linear unit :math:`\max(x, 0)`; the gradient at 0 is 0.

    Example:
        >>> relu(mx.array([-1.0, 2.0]))
        array([0, 2], dtype=float32)
    """
    return mx.maximum(x, 0)


@_activation
def relu2(x: mx.array) -> mx.array:
    r"""Squared ReLU :math:`\max(x, 0)^2` (So et al., *Primer*, https://arxiv.org/abs/2109.08668).

    Example:
        >>> relu2(mx.array([-1.0, 2.0]))
        array([0, 4], dtype=float32)
    """
    return mx.square(mx.maximum(x, 0))


@_activation
def relu6(x: mx.array) -> mx.array:
    r"""ReLU cut at six :math:`\min(\max(x, 0), 6)` (https://arxiv.org/abs/1704.04861).

    Example:
        >>> relu6(mx.array([-1.0, 2.0, 7.0]))
        array([0, 2, 6], dtype=float32)
    """
    return mx.minimum(mx.maximum(x, 0), 6)


@_activation
def leaky_relu(x: mx.array, negative_slope: float = 0.01) -> mx.array:
    r"""Leaky ReLU :math:`\max(s x, x)` with the slope :math:`s` for negative inputs.

    Example:
        >>> leaky_relu(mx.array([-1.0, 2.0]), 0.5)
        array([-0.5, 2], dtype=float32)
    """
    return mx.maximum(negative_slope * x, x)


@_activation
def elu(x: mx.array, alpha: float = 1.0) -> mx.array:
    r"""Exponential linear unit: :math:`x` if :math:`x > 0`, else :math:`\alpha (e^x - 1)`.

    Gradients are finite everywhere. Clevert et al., https://arxiv.org/abs/1511.07289.

    Example:
        >>> elu(mx.array([0.0, 2.0]))
        array([0, 2], dtype=float32)
    """
    # The exponential never sees a positive number, whose inf would become a NaN gradient.
    return mx.where(x > 0, x, alpha * mx.expm1(mx.minimum(0, x)))


@_activation
def celu(x: mx.array, alpha: float = 1.0) -> mx.array:
    r"""Continuously differentiable ELU :math:`\max(x, 0) + \min(0, \alpha (e^{x/\alpha} - 1))`.

    Barron, https://arxiv.org/abs/1704.07483.

    Example:
        >>> celu(mx.array([0.0, 2.0]), alpha=2.0)
        array([0, 2], dtype=float32)
    """
    return mx.maximum(x, 0) + alpha * mx.expm1(mx.minimum(0, x) / alpha)


@_activation
def selu(x: mx.array) -> mx.array:
    r"""Self-normalising ELU :math:`1.0507 \, \mathrm{elu}(x, 1.67326)`.

    Klambauer et al., https://arxiv.org/abs/1706.02515.

    Example:
        >>> selu(mx.array([0.0, 1.0]))
        array([0, 1.0507], dtype=float32)
    """
    return elu(x, 1.67326) * 1.0507


@_activation
def silu(x: mx.array) -> mx.array:
    r"""Sigmoid linear unit, or swish, :math:`x \, \sigma(x)` (https://arxiv.org/abs/1702.03118).

    Example:
        >>> silu(mx.array([0.0]))
        array([0], dtype=float32)
    """
    return x * mx.sigmoid(x)


@_activation
def softplus(x: mx.array) -> mx.array:
    r"""Softplus :math:`\log(1 + e^x)`, without overflow.

    Example:
        >>> softplus(mx.array([0.0, 1000.0]))
        array([0.693147, 1000], dtype=float32)
    """
    return mx.logaddexp(x, 0)


@_activation
def softsign(x: mx.array) -> mx.array:
    r"""Softsign :math:`x / (1 + |x|)`.

    Example:
        >>> softsign(mx.array([-1.0, 3.0]))
        array([-0.5, 0.75], dtype=float32)
    """
    return x / (1 + mx.abs(x))


@_activation
def softshrink(x: mx.array, lambd: float = 0.5) -> mx.array:
    r"""Soft shrinkage: :math:`x - \mathrm{sign}(x) \lambda` if :math:`|x| > \lambda`, else 0.

    Example:
        >>> softshrink(mx.array([-2.0, 0.25]))
        array([-1.5, 0], dtype=float32)
    """
    return mx.where(mx.abs(x) > lambd, x - mx.sign(x) * lambd, 0)


@_activation
def hard_shrink(x: mx.array, lambd: float = 0.5) -> mx.array:
    r"""Hard shrinkage: :math:`x` if :math:`|x| > \lambda`, else 0.

    Example:
        >>> hard_shrink(mx.array([-2.0, 0.25]))
        array([-2, 0], dtype=float32)
    """
    return mx.where(mx.abs(x) > lambd, x, 0)


@_activation
def hardswish(x: mx.array) -> mx.array:
    r"""Hard swish :math:`x \min(\max(x + 3, 0), 6) / 6` (https://arxiv.org/abs/1905.02244).

    Example:
        >>> hardswish(mx.array([-3.0, 4.0]))
        array([-0, 4], dtype=float32)
    """
    return x * mx.minimum(mx.maximum(x + 3, 0), 6) / 6


@_activation
def hard_tanh(x: mx.array, min_val: float = -1.0, max_val: float = 1.0) -> mx.array:
    r"""The input cut to the range from ``min_val`` to ``max_val``.

    Example:
        >>> hard_tanh(mx.array([-3.0, 0.5]))
        array([-1, 0.5], dtype=float32)
    """
    return mx.minimum(mx.maximum(x, min_val), max_val)


@_activation
def tanh(x: mx.array) -> mx.array:
    r"""The hyperbolic tangent.

    Example:
        >>> tanh(mx.array([0.0]))
        array([0], dtype=float32)
    """
    return mx.tanh(x)


@_activation
def mish(x: mx.array) -> mx.array:
    r"""Mish :math:`x \tanh(\mathrm{softplus}(x))` (Misra, https://arxiv.org/abs/1908.08681).

    Example:
        >>> mish(mx.array([0.0]))
        array([0], dtype=float32)
    """
    return x * mx.tanh(softplus(x))


@_activation
def log_sigmoid(x: mx.array) -> mx.array:
    r"""The logarithm of the logistic function :math:`-\mathrm{softplus}(-x)`.

    Example:
        >>> log_sigmoid(mx.array([0.0]))
        array([-0.693147], dtype=float32)
    """
    return -softplus(-x)


@_activation
def gelu(x: mx.array) -> mx.array:
    r"""Gaussian error linear unit :math:`x (1 + \mathrm{erf}(x / \sqrt{2})) / 2`.

    Hendrycks and Gimpel, https://arxiv.org/abs/1606.08415. See :func:`gelu_approx` and
    :func:`gelu_fast_approx` for cheaper forms.

    Example:
        >>> gelu(mx.array([0.0, 1.0]))
        array([0, 0.841345], dtype=float32)
    """
    return x * (1 + mx.erf(x / math.sqrt(2))) / 2


@_activation
def gelu_approx(x: mx.array) -> mx.array:
    r"""GELU by :math:`0.5 x (1 + \tanh(\sqrt{2/\pi} (x + 0.044715 x^3)))`.

    Example:
        >>> gelu_approx(mx.array([0.0, 1.0]))
        array([0, 0.841192], dtype=float32)
    """
    # Beyond ±10 the tanh is ±1 in every dtype; there the cube might only overflow.
    inner = mx.minimum(mx.maximum(x, -10.0), 10.0)
    cubic = inner + 0.044715 * inner * inner * inner
    return 0.5 * x * (1 + mx.tanh(math.sqrt(2 / math.pi) * cubic))


@_activation
def gelu_fast_approx(x: mx.array) -> mx.array:
    r"""GELU by :math:`x \, \sigma(1.702 x)`.

    Example:
        >>> gelu_fast_approx(mx.array([0.0, 1.0]))
        array([0, 0.845796], dtype=float32)
    """
    return x * mx.sigmoid(1.702 * x)


@_activation
def softmax(x: mx.array, axis: int = -1) -> mx.array:
    r"""Softmax :math:`e^{x_i} / \sum_j e^{x_j}` along ``axis``.

    Example:
        >>> softmax(mx.array([1.0, 1.0]))
        array([0.5, 0.5], dtype=float32)
    """
    return mx.softmax(x, axis=axis)


@_activation
def softmin(x: mx.array, axis: int = -1) -> mx.array:
    r"""Softmin :math:`e^{-x_i} / \sum_j e^{-x_j}` along ``axis``.

    Example:
        >>> softmin(mx.array([1.0, 1.0]))
        array([0.5, 0.5], dtype=float32)
    """
    return mx.softmax(-x, axis=axis)


@_activation
def log_softmax(x: mx.array, axis: int = -1) -> mx.array:
    r"""The logarithm of the softmax :math:`x_i - \log \sum_j e^{x_j}` along ``axis``.

    Example:
        >>> log_softmax(mx.array([1.0, 1.0]))
        array([-0.693147, -0.693147], dtype=float32)
    """
    shifted = x - mx.stop_gradient(mx.max(x, axis=axis, keepdims=True))
    return shifted - mx.logsumexp(shifted, axis=axis, keepdims=True)


@_activation
def step(x: mx.array, threshold: float = 0.0) -> mx.array:
    r"""Step function: 1 where :math:`x \ge` ``threshold``, else 0, as int32.

    Example:
        >>> step(mx.array([-1.0, 0.0]))
        array([0, 1], dtype=int32)
    """
    return (x >= threshold).astype(mx.int32)


@_activation
def prelu(x: mx.array, alpha: mx.array) -> mx.array:
    r"""Parametric ReLU :math:`\max(0, x) + \alpha \min(0, x)`.

    He et al., https://arxiv.org/abs/1502.01852.

    Args:
        x: the input.
        alpha: the slopes for negative inputs, broadcast to ``x``.

    Example:
        >>> prelu(mx.array([-1.0, 2.0]), mx.array([0.25]))
        array([-0.25, 2], dtype=float32)
    """
    return mx.maximum(x, 0) + alpha * mx.minimum(0, x)


@_activation
def glu(x: mx.array, axis: int = -1) -> mx.array:
    r"""Gated linear unit :math:`a \, \sigma(b)` of the two halves of ``x`` along ``axis``.

    Dauphin et al., https://arxiv.org/abs/1612.08083.

    Raises:
        ValueError: the size of the axis is odd.

    Example:
        >>> glu(mx.array([2.0, 0.0]))
        array([1], dtype=float32)
    """
    a, b = mx.split(x, 2, axis=axis)
    return a * mx.sigmoid(b)


@_layer
class Sigmoid(Module):
    """Applies :func:`sigmoid`.

    Example:
        >>> nn.Sigmoid()(mx.array([0.0]))
        array([0.5], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return sigmoid(x)


@_layer
class Mish(Module):
    """Applies :func:`mish`.

    Example:
        >>> nn.Mish()(mx.array([0.0]))
        array([0], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return mish(x)


@_layer
class ReLU(Module):
    """Applies :func:`relu`.

    Example:
        >>> nn.ReLU()(mx.array([-2.0, 0.5, 3.0]))
        array([0, 0.5, 3], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return relu(x)


@_layer
class ReLU2(Module):
    """Applies :func:`relu2`.

    Example:
        >>> nn.ReLU2()(mx.array([-2.0, 0.5, 3.0]))
        array([0, 0.25, 9], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return relu2(x)


@_layer
class ReLU6(Module):
    """Applies :func:`relu6`.

    Example:
        >>> nn.ReLU6()(mx.array([-2.0, 0.5, 3.0]))
        array([0, 0.5, 3], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return relu6(x)


@_layer
class LeakyReLU(Module):
    """Applies :func:`leaky_relu`.

    Args:
        negative_slope: the slope for negative inputs.

    Example:
        >>> nn.LeakyReLU(0.5)(mx.array([-2.0, 0.5, 3.0]))
        array([-1, 0.5, 3], dtype=float32)
    """

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self._negative_slope = negative_slope

    def __call__(self, x: mx.array) -> mx.array:
        return leaky_relu(x, self._negative_slope)


@_layer
class ELU(Module):
    """Applies :func:`elu`.

    Args:
        alpha: the (negative of the) limit for very negative inputs.

    Example:
        >>> nn.ELU(2.0)(mx.array([0.0, 2.0]))
        array([0, 2], dtype=float32)
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = alpha

    def __call__(self, x: mx.array) -> mx.array:
        return elu(x, self._alpha)


@_layer
class CELU(Module):
    """Applies :func:`celu`.

    Args:
        alpha: the (negative of the) limit for very negative inputs.

    Example:
        >>> nn.CELU(2.0)(mx.array([0.0, 2.0]))
        array([0, 2], dtype=float32)
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = alpha

    def __call__(self, x: mx.array) -> mx.array:
        return celu(x, self._alpha)


@_layer
class SELU(Module):
    """Applies :func:`selu`.

    Example:
        >>> nn.SELU()(mx.array([0.0, 1.0]))
        array([0, 1.0507], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return selu(x)


@_layer
class Softmax(Module):
    """Applies :func:`softmax` to the last axis.

    Example:
        >>> nn.Softmax()(mx.array([1.0, 1.0]))
        array([0.5, 0.5], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return softmax(x)


@_layer
class Softmin(Module):
    """Applies :func:`softmin` to the last axis.

    Example:
        >>> nn.Softmin()(mx.array([1.0, 1.0]))
        array([0.5, 0.5], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return softmin(x)


@_layer
class LogSoftmax(Module):
    """Applies :func:`log_softmax` to the last axis.

    Example:
        >>> nn.LogSoftmax()(mx.array([1.0, 1.0]))
        array([-0.693147, -0.693147], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return log_softmax(x)


@_layer
class LogSigmoid(Module):
    """Applies :func:`log_sigmoid`.

    Example:
        >>> nn.LogSigmoid()(mx.array([0.0]))
        array([-0.693147], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return log_sigmoid(x)


@_layer
class Softplus(Module):
    """Applies :func:`softplus`.

    Example:
        >>> nn.Softplus()(mx.array([0.0]))
        array([0.693147], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return softplus(x)


@_layer
class Softsign(Module):
    """Applies :func:`softsign`.

    Example:
        >>> nn.Softsign()(mx.array([-2.0, 0.5, 3.0]))
        array([-0.666667, 0.333333, 0.75], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return softsign(x)


@_layer
class Softshrink(Module):
    """Applies :func:`softshrink`.

    Args:
        lambd: the width of the range that becomes 0.

    Example:
        >>> nn.Softshrink(1.0)(mx.array([-2.0, 0.5, 3.0]))
        array([-1, 0, 2], dtype=float32)
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def __call__(self, x: mx.array) -> mx.array:
        return softshrink(x, self.lambd)


@_layer
class HardShrink(Module):
    """Applies :func:`hard_shrink`.

    Args:
        lambd: the width of the range that becomes 0.

    Example:
        >>> nn.HardShrink(1.0)(mx.array([-2.0, 0.5, 3.0]))
        array([-2, 0, 3], dtype=float32)
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def __call__(self, x: mx.array) -> mx.array:
        return hard_shrink(x, self.lambd)


@_layer
class HardTanh(Module):
    """Applies :func:`hard_tanh`.

    Example:
        >>> nn.HardTanh()(mx.array([-2.0, 0.5, 3.0]))
        array([-1, 0.5, 1], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return hard_tanh(x)


@_layer
class Hardswish(Module):
    """Applies :func:`hardswish`.

    Example:
        >>> nn.Hardswish()(mx.array([-2.0, 0.5, 3.0]))
        array([-0.333333, 0.291667, 3], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return hardswish(x)


@_layer
class SiLU(Module):
    """Applies :func:`silu`.

    Example:
        >>> nn.SiLU()(mx.array([0.0]))
        array([0], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return silu(x)


@_layer
class Tanh(Module):
    """Applies :func:`tanh`.

    Example:
        >>> nn.Tanh()(mx.array([0.0]))
        array([0], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return tanh(x)


@_layer
class Step(Module):
    """Applies :func:`step`.

    Args:
        threshold: the smallest input that gives 1.

    Example:
        >>> nn.Step(1.0)(mx.array([-2.0, 0.5, 3.0]))
        array([0, 0, 1], dtype=int32)
    """

    def __init__(self, threshold: float = 0.0) -> None:
        super().__init__()
        self.threshold = threshold

    def __call__(self, x: mx.array) -> mx.array:
        return step(x, self.threshold)


@_layer
class GLU(Module):
    """Applies :func:`glu`.

    Args:
        axis: the axis that is split in two.

    Example:
        >>> nn.GLU()(mx.array([2.0, 0.0]))
        array([1], dtype=float32)
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def __call__(self, x: mx.array) -> Any:
        return glu(x, axis=self.axis)


@_layer
class PReLU(Module):
    """Applies :func:`prelu` with trainable slopes.

    The parameter ``weight`` has the shape ``(num_parameters,)`` and is broadcast to the input, so
    there is one slope in all or one per feature.

    Args:
        num_parameters: the number of slopes.
        init: their first value.

    Example:
        >>> nn.PReLU()(mx.array([-1.0, 2.0]))
        array([-0.25, 2], dtype=float32)
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        super().__init__()
        self.weight = mx.full((num_parameters,), init)

    def __call__(self, x: mx.array) -> mx.array:
        return prelu(x, self.weight)


_GELU_FORMS = {"none": gelu, "precise": gelu_approx, "tanh": gelu_approx, "fast": gelu_fast_approx}


@_layer
class GELU(Module):
    """Applies the Gaussian error linear unit.

    Args:
        approx: ``"none"`` for :func:`gelu`, ``"precise"`` or ``"tanh"`` for :func:`gelu_approx`,
            ``"fast"`` for :func:`gelu_fast_approx`.

    Raises:
        ValueError: another value for ``approx``.

    Example:
        >>> nn.GELU("tanh")(mx.array([0.0, 1.0]))
        array([0, 0.841192], dtype=float32)
    """

    def __init__(self, approx: str = "none") -> None:
        super().__init__()
        if approx not in _GELU_FORMS:
            raise ValueError(f"[GELU] got approx={approx!r}, expected one of {list(_GELU_FORMS)}")
        self._approx = approx

    def __call__(self, x: mx.array) -> mx.array:
        return _GELU_FORMS[self._approx](x)
