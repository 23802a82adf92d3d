"""The Walsh-Hadamard transform against explicit matrices."""

from __future__ import annotations

import functools

import mlx.core as mx
import numpy as np
import pytest
from table import EPSILON, generator, numpy_dtype, to_mx, to_numpy, widened


@functools.cache
def matrix(n):
    """The transform of the unit vectors: a Hadamard matrix."""
    return np.array(mx.hadamard_transform(mx.eye(n), scale=1.0)).T


@pytest.mark.parametrize("m", [1, 12, 20, 28])
def test_matrices(m):
    base = matrix(m)
    assert set(np.unique(base)) <= {-1.0, 1.0}
    np.testing.assert_array_equal(base @ base.T, m * np.eye(m))
    sylvester = np.ones((1, 1))
    for k in range(1, 9 if m == 1 else 5):
        sylvester = np.block([[sylvester, sylvester], [sylvester, -sylvester]])
        np.testing.assert_array_equal(matrix(m << k), np.kron(base, sylvester))


def test_order_12_is_paleys():
    squares = {1, 4}
    conference = np.array(
        [
            [0 if i == j else 1 if 0 in (i, j) or (j - i) % 5 in squares else -1 for j in range(6)]
            for i in range(6)
        ]
    )
    want = np.kron(conference, [[1, 1], [1, -1]]) + np.kron(np.eye(6), [[1, -1], [-1, -1]])
    np.testing.assert_array_equal(matrix(12), want)


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "bfloat16", "complex64", "int32", "bool"]
)
@pytest.mark.parametrize("n", [1, 2, 4, 64, 128, 512, 1024, 12, 48, 40, 28 * 16])
def test_values(n, dtype):
    rng = generator("hadamard", n, dtype)
    x = (
        rng.normal(size=(2, 3, n))
        if dtype not in ("int32", "bool")
        else rng.integers(0, 2, (2, 3, n))
    )
    if dtype == "complex64":
        x = x + 1j * rng.normal(size=x.shape)
    x = x.astype(numpy_dtype(dtype))
    result = "float32" if dtype in ("int32", "bool") else dtype
    h = matrix(n).astype(np.float64)
    for a, y in ((to_mx(x), x), (to_mx(x.T.copy()).T, x), (to_mx(x)[:, ::-2], x[:, ::-2])):
        for scale, factor in ((None, n**-0.5), (1.0, 1.0), (0.25, 0.25)):
            got = mx.hadamard_transform(a, scale=scale)
            want = widened(y) @ h.T * factor
            assert str(got.dtype) == f"mlx.core.{result}" and tuple(got.shape) == want.shape
            size = factor * (np.abs(widened(y)) ** 2).sum(-1, keepdims=True) ** 0.5
            error = np.abs(widened(to_numpy(got)) - want)
            ulp = 64 if result == "float64" else 8  # the oracle has the same precision
            assert (error <= ulp * EPSILON[result] * (size + np.abs(want))).all()


def test_it_is_its_own_inverse_for_powers_of_two():
    x = mx.array(generator("inverse").normal(size=(3, 256)).astype(np.float32))
    twice = mx.hadamard_transform(mx.hadamard_transform(x))
    np.testing.assert_allclose(np.array(twice), np.array(x), atol=1e-5)


@pytest.mark.parametrize("n", [8, 24])
def test_derivatives_and_vmap(n):
    x, w = (to_mx(generator("hadamard", k).normal(size=(2, n))) for k in "xw")
    h = matrix(n) / np.sqrt(n)
    g = mx.grad(lambda v: (mx.hadamard_transform(v) * w).sum())(x)
    np.testing.assert_allclose(np.array(g), np.array(w) @ h, rtol=1e-6, atol=1e-7)
    _, (t,) = mx.jvp(mx.hadamard_transform, [x], [w])
    np.testing.assert_allclose(np.array(t), np.array(w) @ h.T, rtol=1e-6, atol=1e-7)
    got = mx.vmap(mx.hadamard_transform, in_axes=1)(x.T)
    np.testing.assert_allclose(np.array(got), np.array(mx.hadamard_transform(x)), rtol=1e-6)


def test_edges_and_errors():
    assert mx.hadamard_transform(mx.array(3.0), scale=2.0).item() == 6.0
    assert mx.hadamard_transform(mx.array([3.0])).tolist() == [3.0]
    for n in (3, 5, 14, 36, 60):
        with pytest.raises(ValueError, match=rf"\[hadamard_transform\].*got {n}"):
            mx.eval(mx.hadamard_transform(mx.ones((2, n))))
    for shape in ((0,), (0, 4)):
        with pytest.raises(ValueError, match=r"\[hadamard_transform\].*0"):
            mx.hadamard_transform(mx.zeros(shape))
    for bad in ([1.0, 2.0], 3.0, None):
        with pytest.raises(TypeError):
            mx.hadamard_transform(bad)
