"""Arrays made from nothing, against NumPy."""

from __future__ import annotations

import math

import mlx.core as mx
import numpy as np
import pytest
from table import DTYPES, numpy_dtype, to_numpy


@pytest.mark.parametrize("dtype", DTYPES)
def test_constants(dtype):
    t = getattr(mx, dtype + "_" if dtype == "bool" else dtype)
    for make, value in ((mx.zeros, 0), (mx.ones, 1), (mx.empty, 0)):
        for shape in ((2, 3), [4], 5, (), (0, 2)):
            a = make(shape, t)
            assert a.dtype == t
            expected = np.full(shape, value, numpy_dtype(dtype))
            np.testing.assert_array_equal(to_numpy(a), expected)
    like = mx.zeros((2, 2), t)
    assert mx.ones_like(like).dtype == t and mx.zeros_like(like, mx.int8).dtype == mx.int8
    assert (mx.full((3,), 1, t) == mx.ones(3, t)).tolist() == [True] * 3
    assert mx.eye(3, 4, 1, t).dtype == t and mx.tri(2, dtype=t).dtype == t


def test_defaults():
    assert mx.zeros(2, None).dtype == mx.float32
    assert mx.full((2,), 3).dtype == mx.int32 and mx.full((2,), True).dtype == mx.bool_
    assert mx.full((2,), 2**40).dtype == mx.int64
    assert mx.full((2,), 3.7, mx.int32).dtype == mx.float32
    assert mx.full((2, 2), mx.array([1, 2]), mx.float32).dtype == mx.int32
    assert mx.full((2, 2), mx.array([1, 2])).tolist() == [[1, 2], [1, 2]]
    a = mx.full_like(mx.zeros(2, mx.int8), 3.7)
    assert a.dtype == mx.int8 and a.tolist() == [3, 3]
    assert mx.full_like(mx.zeros(2), mx.ones((3, 1), mx.int8)).shape == (3, 2)


@pytest.mark.parametrize(
    "args",
    [
        (5,),
        (2, 9),
        (2, 9, 3),
        (9, 2, -3),
        (0,),
        (3, 3),
        (5, 2),
        (0.5, 3.2, 0.25),
        (1, 2, 0.3),
        (0, -1.5, -0.5),
    ],
)
def test_arange(args):
    a, x = mx.arange(*args), np.arange(*args)
    assert a.dtype == (mx.int32 if x.dtype == np.int64 else mx.float32)
    np.testing.assert_allclose(np.array(a), x, rtol=1e-6)


def test_arange_dtypes():
    assert mx.arange(3, dtype=mx.float16).dtype == mx.float16
    assert mx.arange(2**31, 2**31 + 2).tolist() == [2**31, 2**31 + 1]
    assert mx.arange(2**60, 2**60 + 3).tolist() == [2**60, 2**60 + 1, 2**60 + 2]
    assert mx.arange(0.5, 3, dtype=mx.int32).tolist() == [0, 1, 2]
    assert mx.arange(0, 300, 100, dtype=mx.uint8).tolist() == [0, 100, 200]
    assert mx.arange(3, None).tolist() == [0, 1, 2] and mx.arange(stop=2).tolist() == [0, 1]
    assert mx.arange(0, 5, math.inf).tolist() == [0] and mx.arange(0, 5, -math.inf).tolist() == []
    big = mx.arange(1 << 20, dtype=mx.float32)
    np.testing.assert_array_equal(np.array(big), np.arange(1 << 20, dtype=np.float32))


@pytest.mark.parametrize("num", [0, 1, 2, 7, 1000])
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace(num, endpoint):
    a = mx.linspace(-1.5, 4, num, endpoint)
    np.testing.assert_allclose(
        np.array(a), np.linspace(-1.5, 4, num, endpoint=endpoint), rtol=1e-6, atol=1e-6
    )
    assert mx.linspace(0, 10, 5, dtype=mx.int32).tolist() == [0, 2, 5, 7, 10]
    assert mx.linspace(0, 1, 3, dtype=mx.float64).dtype == mx.float64


@pytest.mark.parametrize("k", [-5, -2, -1, 0, 1, 3, 6])
def test_diagonals_and_triangles(k):
    np.testing.assert_array_equal(np.array(mx.eye(3, 5, k)), np.eye(3, 5, k))
    np.testing.assert_array_equal(np.array(mx.tri(4, 3, k)), np.tri(4, 3, k))
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    a = mx.array(x)
    np.testing.assert_array_equal(np.array(mx.tril(a, k)), np.tril(x, k))
    np.testing.assert_array_equal(np.array(mx.triu(a, k)), np.triu(x, k))
    np.testing.assert_array_equal(np.array(mx.diag(a[0, 0], k)), np.diag(x[0, 0], k))
    np.testing.assert_array_equal(np.array(mx.diag(a[0], k)), np.diag(x[0], k))
    np.testing.assert_array_equal(np.array(a.diagonal(k, 2, 1)), np.diagonal(x, k, 2, 1))
    np.testing.assert_array_equal(np.array(mx.trace(a, k, 0, 2)), np.trace(x, k, 0, 2))


def test_trace_dtypes():
    a = mx.array([[100, 1], [1, 100]], mx.int8)
    assert mx.trace(a).dtype == mx.int32 and mx.trace(a).item() == 200
    assert mx.trace(mx.array([[1.5, 0], [0, 1.5]]), dtype=mx.int32).item() == 2


def test_triangles_keep_what_is_not_finite():
    a = mx.array([[1.0, math.nan], [math.inf, 2.0]])
    assert mx.tril(a).tolist() == [[1, 0], [math.inf, 2]]


def test_creation_inside_transforms():
    def f(x):
        return mx.diag(x) * mx.eye(3) + mx.ones((3, 3)) * x

    assert mx.vjp(f, [mx.arange(3.0)], [mx.ones((3, 3))])[1][0].tolist() == [4, 4, 4]
    assert mx.vmap(lambda x: mx.zeros_like(x) + x)(mx.ones((2, 3))).shape == (2, 3)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: mx.zeros((-1,)), ValueError),
        (lambda: mx.zeros(2.5), TypeError),
        (lambda: mx.ones((2**32, 2**32)), OverflowError),
        (lambda: mx.full((2,), None), TypeError),
        (lambda: mx.full((2,), [1, 2]), ValueError),
        (lambda: mx.full((2,), mx.ones(3)), ValueError),
        (lambda: mx.full_like(mx.zeros(2, mx.int8), 1000), ValueError),
        (lambda: mx.arange(0, 1, 0), ValueError),
        (lambda: mx.arange(0, math.inf), ValueError),
        (lambda: mx.arange(math.nan), ValueError),
        (lambda: mx.arange(3, dtype=mx.bool_), ValueError),
        (lambda: mx.arange(True), ValueError),
        (lambda: mx.arange(2**40), ValueError),
        (lambda: mx.arange("3"), TypeError),
        (lambda: mx.linspace(0, 1, -1), ValueError),
        (lambda: mx.eye(-1), ValueError),
        (lambda: mx.tril(mx.ones(3)), ValueError),
        (lambda: mx.diag(mx.ones((2, 2, 2))), ValueError),
        (lambda: mx.diag(mx.array(1.0)), ValueError),
        (lambda: mx.diagonal(mx.ones(3)), ValueError),
        (lambda: mx.diagonal(mx.ones((2, 2)), axis1=1, axis2=1), ValueError),
        (lambda: mx.diagonal(mx.ones((2, 2)), axis2=2), IndexError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows(name):
    f = getattr(mx, name)
    for m in (-3, 0, 1, 2, 3, 8, 33, 1000):
        got = f(m)
        assert got.dtype == mx.float32
        np.testing.assert_allclose(np.array(got), getattr(np, name)(m), rtol=0, atol=3e-7)
    assert f(M=4, stream=mx.cpu).shape == (4,)
    for bad in (2.5, "3", None, [3]):
        with pytest.raises(TypeError, match=name):
            f(bad)
