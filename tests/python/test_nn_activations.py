"""Tests of the activations: values and gradients against NumPy in float64, and the hard places."""

import math

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from nn_support import assert_close, check, numbers

erf = np.vectorize(math.erf)
sigmoid = lambda x: 1 / (1 + np.exp(-x))
softplus = lambda x: np.logaddexp(x, 0)
relu = lambda x: np.maximum(x, 0)
elu = lambda x, a=1.0: np.where(x > 0, x, a * (np.exp(np.minimum(x, 0)) - 1))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


FUNCTIONS = [
    (nn.sigmoid, sigmoid),
    (nn.relu, relu),
    (nn.relu2, lambda x: relu(x) ** 2),
    (nn.relu6, lambda x: np.minimum(relu(x), 6)),
    (nn.leaky_relu, lambda x: np.where(x > 0, x, 0.01 * x)),
    (lambda x: nn.leaky_relu(x, 0.3), lambda x: np.where(x > 0, x, 0.3 * x)),
    (nn.elu, elu),
    (lambda x: nn.elu(x, 0.7), lambda x: elu(x, 0.7)),
    (nn.celu, elu),
    (lambda x: nn.celu(x, 2.0), lambda x: np.where(x > 0, x, 2 * (np.exp(x / 2) - 1))),
    (nn.selu, lambda x: 1.0507 * elu(x, 1.67326)),
    (nn.silu, lambda x: x * sigmoid(x)),
    (nn.softplus, softplus),
    (nn.softsign, lambda x: x / (1 + abs(x))),
    (nn.softshrink, lambda x: np.where(abs(x) > 0.5, x - 0.5 * np.sign(x), 0)),
    (nn.hard_shrink, lambda x: np.where(abs(x) > 0.5, x, 0)),
    (nn.hardswish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    (nn.hard_tanh, lambda x: np.clip(x, -1, 1)),
    (lambda x: nn.hard_tanh(x, -2, 0.5), lambda x: np.clip(x, -2, 0.5)),
    (nn.tanh, np.tanh),
    (nn.mish, lambda x: x * np.tanh(softplus(x))),
    (nn.log_sigmoid, lambda x: -softplus(-x)),
    (nn.gelu, lambda x: x * (1 + erf(x / math.sqrt(2))) / 2),
    (
        nn.gelu_approx,
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    (nn.gelu_fast_approx, lambda x: x * sigmoid(1.702 * x)),
    (nn.softmax, softmax),
    (lambda x: nn.softmax(x, axis=0), lambda x: softmax(x, 0)),
    (nn.softmin, lambda x: softmax(-x)),
    (nn.log_softmax, lambda x: np.log(softmax(x))),
    (lambda x: nn.log_softmax(x, axis=0), lambda x: np.log(softmax(x, 0))),
    (lambda x: nn.prelu(x, mx.array([0.1, 0.2, 0.3, 0.4])),
     lambda x: np.where(x > 0, x, x * [0.1, 0.2, 0.3, 0.4])),
    (nn.glu, lambda x: x[..., :2] * sigmoid(x[..., 2:])),
    (lambda x: nn.glu(x, axis=0), lambda x: x[:3] * sigmoid(x[3:])),
]  # fmt: skip


@pytest.mark.parametrize("fn, oracle", FUNCTIONS)
def test_values_and_gradients(fn, oracle):
    check(fn, oracle, numbers(6, 4, scale=2.0))


MODULES = [
    (nn.Sigmoid(), nn.sigmoid),
    (nn.Mish(), nn.mish),
    (nn.ReLU(), nn.relu),
    (nn.ReLU2(), nn.relu2),
    (nn.ReLU6(), nn.relu6),
    (nn.LeakyReLU(0.2), lambda x: nn.leaky_relu(x, 0.2)),
    (nn.ELU(0.5), lambda x: nn.elu(x, 0.5)),
    (nn.CELU(0.5), lambda x: nn.celu(x, 0.5)),
    (nn.SELU(), nn.selu),
    (nn.Softmax(), nn.softmax),
    (nn.Softmin(), nn.softmin),
    (nn.LogSoftmax(), nn.log_softmax),
    (nn.LogSigmoid(), nn.log_sigmoid),
    (nn.Softplus(), nn.softplus),
    (nn.Softsign(), nn.softsign),
    (nn.Softshrink(0.3), lambda x: nn.softshrink(x, 0.3)),
    (nn.HardShrink(0.3), lambda x: nn.hard_shrink(x, 0.3)),
    (nn.HardTanh(), nn.hard_tanh),
    (nn.Hardswish(), nn.hardswish),
    (nn.SiLU(), nn.silu),
    (nn.Tanh(), nn.tanh),
    (nn.Step(0.5), lambda x: nn.step(x, 0.5)),
    (nn.GLU(0), lambda x: nn.glu(x, 0)),
    (nn.PReLU(), lambda x: nn.prelu(x, mx.array([0.25]))),
    (nn.PReLU(4, 0.5), lambda x: nn.prelu(x, mx.full((4,), 0.5))),
    (nn.GELU(), nn.gelu),
    (nn.GELU("precise"), nn.gelu_approx),
    (nn.GELU("tanh"), nn.gelu_approx),
    (nn.GELU("fast"), nn.gelu_fast_approx),
]


@pytest.mark.parametrize("module, fn", MODULES)
def test_modules(module, fn):
    x = mx.array(numbers(6, 4))
    assert mx.array_equal(module(x), fn(x))
    assert repr(module) == f"{type(module).__name__}()"


def test_step():
    got = nn.step(mx.array([-1.0, 0.0, 0.5]))
    assert got.dtype == mx.int32 and got.tolist() == [0, 1, 1]


def test_gelu_of_an_unknown_form():
    with pytest.raises(ValueError, match="bad"):
        nn.GELU("bad")


def test_odd_gated_linear_unit():
    with pytest.raises(ValueError):
        nn.glu(mx.zeros((3,)))


def gradient(fn, *values, dtype=mx.float32):
    return mx.grad(lambda a: mx.sum(fn(a)))(mx.array(values, dtype=dtype)).tolist()


@pytest.mark.parametrize("fn", [nn.elu, nn.celu, nn.softplus, nn.gelu_approx, nn.gelu, nn.silu])
@pytest.mark.parametrize("dtype, large", [(mx.float32, 1e30), (mx.float16, 6e4)])
def test_gradients_at_large_inputs(fn, dtype, large):
    assert gradient(fn, large, dtype=dtype) == [1]
    low = gradient(fn, -large, dtype=dtype)[0]
    assert math.isfinite(low) and abs(low) < 1e-6


def test_gradients_at_zero():
    assert gradient(nn.relu, 0.0) == [0]
    assert gradient(nn.elu, 0.0) == [1]
    assert gradient(nn.celu, 0.0) == [1]
    assert gradient(lambda x: nn.elu(x, 0.5), 0.0) == [0.5]
    assert gradient(lambda x: nn.prelu(x, mx.array(0.25)), 0.0) == [0.25]


def test_large_inputs():
    x = mx.array([-1000.0, 1000.0])
    assert nn.softplus(x).tolist() == [0, 1000]
    assert nn.log_sigmoid(x).tolist() == [-1000, 0]
    assert nn.log_softmax(x).tolist() == [-2000, 0]
    assert nn.softmax(x).tolist() == [0, 1]
    assert nn.elu(x).tolist() == [-1, 1000]


@pytest.mark.parametrize("fn", [f for f, _ in FUNCTIONS if f.__name__ != "<lambda>"])
@pytest.mark.parametrize("dtype, tol", [(mx.float16, 4e-3), (mx.bfloat16, 4e-2)])
def test_half_precision_stays(fn, dtype, tol):
    x = mx.array(numbers(3, 4)).astype(dtype)
    got = fn(x)
    assert got.dtype == dtype
    assert_close(got, np.array(fn(x.astype(mx.float32))), tol)


def test_integers():
    assert nn.relu(mx.array([-1, 2])).tolist() == [0, 2]
    assert nn.softplus(mx.array([0])).dtype == mx.float32
