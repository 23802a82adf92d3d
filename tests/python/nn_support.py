"""What the tests of mlx.nn and mlx.optimizers share: float64 oracles and numeric gradients."""

import mlx.core as mx
import numpy as np


def numbers(*shape, seed=0, scale=1.0):
    """Normally distributed float32 numbers."""
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def numeric_gradient(fn, x, h=1e-5):
    """The gradient of a scalar function of a float64 array by central differences."""
    x = np.array(x, dtype=np.float64)
    gradient = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        gradient[i] = (fn(x + step) - fn(x - step)) / (2 * h)
    return gradient


def assert_close(got, want, tol=2e-6):
    got = np.array(got.astype(mx.float32)) if isinstance(got, mx.array) else np.asarray(got)
    want = np.asarray(want, dtype=np.float64)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


def check(fn, oracle, x, tol=2e-6, gradient_tol=1e-4):
    """``fn`` of arrays agrees with the NumPy function ``oracle``, and so does its gradient."""
    got = fn(mx.array(x))
    want = oracle(np.asarray(x, dtype=np.float64))
    assert_close(got, want, tol)
    weights = np.cos(np.arange(want.size)).reshape(want.shape)
    factor = mx.array(weights.astype(np.float32))
    gradient = mx.grad(lambda a: mx.sum(fn(a) * factor))(mx.array(x))
    numeric = numeric_gradient(lambda a: np.sum(oracle(a) * weights), x)
    assert_close(gradient, numeric, gradient_tol)
