"""Reductions, arg-reductions, softmax and logsumexp against NumPy in double precision."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import mlx.core as mx
import numpy as np
import pytest
from reduce_reference import REDUCTIONS
from table import (
    DTYPES,
    EPSILON,
    generator,
    kind_of,
    numpy_dtype,
    to_mx,
    to_numpy,
    widened,
)

NAN, INF = float("nan"), float("inf")
FLOATS = ("float16", "bfloat16", "float32", "float64")


def draw(rng, dtype, shape):
    """Values whose products stay in range."""
    kind, t = kind_of(dtype), numpy_dtype(dtype)
    if kind == "b":
        return np.asarray(rng.random(shape) < 0.6)
    if kind == "u":
        return np.asarray(rng.integers(0, 4, shape)).astype(t)
    if kind == "i":
        return np.asarray(rng.integers(-3, 4, shape)).astype(t)
    x = np.asarray(np.exp(rng.uniform(-0.2, 0.2, shape)) * rng.choice([-1, 1], shape))
    if kind == "c":
        x = x * np.exp(1j * rng.uniform(0, 6, shape))
    return x.astype(t)


def pick(x, y, key):
    return x[key], y[key]


def layouts(dtype, *key):
    """(name, mx array, the same in NumPy)."""
    rng = generator("layouts", dtype, *key)

    def both(*shape):
        x = draw(rng, dtype, shape)
        return to_mx(x), x

    yield "dense", *both(3, 4, 5)
    yield "wide", *both(2, 70, 40)
    yield "long", *both(2100)
    yield "narrow", *both(400, 3)
    yield "short rows", *both(130, 2, 7)
    a, x = both(4, 5, 6)
    yield "transposed", a.transpose(2, 0, 1), x.transpose(2, 0, 1)
    yield "reversed", *pick(*both(5, 34), np.s_[::-1, ::-1])
    yield "offset", *pick(*both(7, 40, 3), np.s_[1:6:2, 2:39, 1:])
    a, x = both(4, 1, 6)
    yield "broadcast", mx.broadcast_to(a, (4, 5, 6)), np.broadcast_to(x, (4, 5, 6))
    yield "0-d", *both()


def axis_sets(ndim):
    yield None
    for r in range(1, ndim + 1):
        yield from itertools.combinations(range(ndim), r)


def result_dtype(rule, dtype):
    kind, size = kind_of(dtype), numpy_dtype(dtype).itemsize
    if rule == "widened" and (kind == "b" or (kind in "iu" and size < 4)):
        return "uint32" if kind == "u" else "int32"
    if rule == "boolean":
        return "bool"
    return "float32" if rule == "floating" and kind in "biu" else dtype


def assert_near(got, want, dtype, scale, ulp=4.0):
    """Within `ulp` units of `scale`, the size of what went in; exactly for integers."""
    assert str(got.dtype) == f"mlx.core.{dtype}"
    assert tuple(got.shape) == np.shape(want)
    actual = widened(to_numpy(got))
    if dtype not in EPSILON:
        np.testing.assert_array_equal(actual, want)
        return
    slack = ulp * EPSILON[dtype] * np.maximum(np.abs(want), scale)
    same = (actual == want) | (np.isnan(actual) & np.isnan(want))
    with np.errstate(invalid="ignore"):
        ok = same | (np.abs(actual - want) <= slack)
    assert ok.all(), (actual[~ok][:3], np.asarray(want)[~ok][:3])


def oracle(name, x, axis, keepdims):
    row = REDUCTIONS[name]
    t = numpy_dtype(result_dtype(row.result, str(x.dtype)))
    wide = widened(x) if x.dtype.kind not in "biu" or row.result != "widened" else x.astype(t)
    with np.errstate(all="ignore"):
        return np.asarray(row.function(wide, axis, keepdims))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_values(name, dtype):
    row = REDUCTIONS[name]
    result = result_dtype(row.result, dtype)
    if name in ("var", "std") and dtype == "complex64":
        result = "float32"
    for _, a, x in layouts(dtype, name):
        for axis in axis_sets(x.ndim):
            for keepdims in (False, True):
                got = getattr(mx, name)(a, axis=axis, keepdims=keepdims)
                want = oracle(name, x, axis, keepdims)
                if x.ndim == 0 and row.result == "widened":
                    assert str(got.dtype) == f"mlx.core.{dtype}"  # nothing is summed
                    np.testing.assert_array_equal(widened(to_numpy(got)), want)
                    continue
                count = x.size // max(1, want.size)
                scale = count if name == "sum" else 1.0
                ulp = (
                    max(4.0, count**0.5) if name == "prod" else 16.0 if dtype == "float64" else 4.0
                )
                assert_near(got, want, result, 0.0 if name == "prod" else scale, ulp)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_chunked_reductions(name, dtype):
    """Shapes that are cut into chunks, along rows, columns and gathered axes."""
    rng = generator("chunks", name, dtype)
    for shape in ((300_000,), (3, 150_000), (150_000, 3), (40_000, 20), (2, 9_000, 17)):
        x = draw(rng, dtype, shape)
        if name == "prod" and dtype != "int32":
            x = (x / np.abs(x)).astype(x.dtype)
        a = to_mx(x)
        for axis in axis_sets(x.ndim):
            got, want = getattr(mx, name)(a, axis=axis), oracle(name, x, axis, False)
            count = x.size // max(1, want.size)
            scale = count**0.5 if name == "sum" else 1.0
            assert_near(got, want, result_dtype(REDUCTIONS[name].result, dtype), scale)
        step = a[::2] if x.ndim == 1 else a[:, ::-2]
        want = oracle(name, x[::2] if x.ndim == 1 else x[:, ::-2], None, False)
        scale = x.size**0.5 if name == "sum" else 1.0
        assert_near(
            getattr(mx, name)(step), want, result_dtype(REDUCTIONS[name].result, dtype), scale
        )


@pytest.mark.parametrize("name", REDUCTIONS)
def test_methods_and_keywords(name):
    x = draw(generator("methods"), "float32", (3, 4))
    a = to_mx(x)
    want = bytes(getattr(mx, name)(a, axis=1, keepdims=True))
    assert bytes(getattr(a, name)(1, True)) == want
    assert bytes(getattr(a, name)(axis=[-1], keepdims=True, stream=mx.cpu)) == want
    assert bytes(getattr(mx, name)(a, (1,), True, stream=None)) == want


@pytest.mark.parametrize("name", ["var", "std"])
def test_degrees_of_freedom(name):
    x = draw(generator("ddof"), "float64", (3, 5))
    a, numpy = to_mx(x), getattr(np, name)
    np.testing.assert_allclose(getattr(mx, name)(a, 1, False, 2), numpy(x, axis=1, ddof=2))
    np.testing.assert_allclose(getattr(a, name)(1, ddof=2), numpy(x, axis=1, ddof=2))
    np.testing.assert_allclose(getattr(a, name)(1, ddof=2, correction=1), numpy(x, axis=1, ddof=1))
    np.testing.assert_allclose(
        getattr(mx, name)(a, ddof=-1), (x.var() * 15 / 16) ** (0.5 if name == "std" else 1)
    )
    assert getattr(mx, name)(mx.array([1.0, 2.0]), ddof=2).item() == INF
    assert np.isnan(getattr(mx, name)(mx.array([1.0]), ddof=3).item())


def test_complex_variance():
    x = draw(generator("complex variance"), "complex64", (6, 50))
    for a, y in ((to_mx(x), x), (to_mx(x).T, x.T)):
        np.testing.assert_allclose(mx.var(a, axis=1), y.astype(complex).var(axis=1), rtol=1e-5)
        np.testing.assert_allclose(mx.std(a, ddof=1), y.astype(complex).std(ddof=1), rtol=1e-5)
    assert mx.var(to_mx(x)).dtype == mx.float32


# ---- no axes, no elements -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_no_axes_reduce_nothing(name, dtype):
    x = draw(generator("no axes", dtype), dtype, (3, 2))
    for axis in ((), []):
        got = getattr(mx, name)(to_mx(x), axis=axis)
        rule = REDUCTIONS[name].result
        if name in ("var", "std"):
            want = np.zeros((3, 2))
        else:
            want = x != 0 if rule == "boolean" else widened(x)
        same = dtype if rule == "widened" else result_dtype(rule, dtype)
        if name in ("var", "std") and dtype == "complex64":
            same = "float32"
        assert_near(got, want, same, 0.0)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_empty(name):
    row, f = REDUCTIONS[name], getattr(mx, name)
    assert f(mx.zeros((0, 3)), axis=1).shape == (0,)
    for shape, axis in (((0, 3), 0), ((2, 0, 3), 1), ((0,), None), ((3, 0), (0, 1))):
        if row.empty is None:
            with pytest.raises(ValueError, match=rf"\[{name}\].*axis"):
                f(mx.zeros(shape), axis=axis)
            continue
        want = np.full(np.sum(np.zeros(shape), axis=axis, keepdims=True).shape, row.empty)
        np.testing.assert_array_equal(to_numpy(f(mx.zeros(shape), axis=axis, keepdims=True)), want)


# ---- accuracy and edge values ---------------------------------------------------------------------


def test_long_float32_sums():
    x = generator("long").uniform(-0.25, 0.75, 10_000_000).astype(np.float32)
    exact, size = x.astype(np.float64).sum(), np.abs(x).astype(np.float64).sum()
    a = to_mx(x)
    bound = 2.0**-24 * (abs(exact) + size / 100)
    assert abs(mx.sum(a).item() - exact) <= bound
    assert abs(mx.sum(a.reshape(1000, 10_000).T).item() - exact) <= bound
    assert abs(mx.mean(a).item() - exact / x.size) <= 2.0**-23 * exact / x.size
    columns = mx.sum(a.reshape(-1, 2), axis=0)
    want = x.reshape(-1, 2).astype(np.float64).sum(0)
    np.testing.assert_allclose(to_numpy(columns), want, rtol=2.0**-23)
    assert mx.sum(mx.full((20_000_000,), 1.0)).item() == 2e7


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_accumulate_in_float32(dtype):
    t = getattr(mx, dtype)
    ones = mx.full((5000,), 1.0, dtype=mx.float32).astype(t)
    rounded = mx.array(5000.0).astype(t).item()
    assert mx.sum(ones).item() == rounded
    assert (
        mx.sum(ones.reshape(2500, 2), axis=0).tolist()
        == [2500.0 if dtype == "float16" else 2496.0] * 2
    )
    thousands = mx.full((100,), 1000.0, dtype=mx.float32).astype(t)
    assert mx.mean(thousands).item() == 1000.0
    assert mx.mean(thousands.reshape(100, 1), axis=0).item() == 1000.0
    # The variance overflows float16, its root does not.
    spread = mx.array([-1000.0, 1000.0]).astype(t)
    assert mx.std(spread).item() == 1000.0
    assert mx.softmax(mx.zeros((5000,), dtype=t)).tolist()[0] == pytest.approx(1 / 5000, rel=2**-7)
    assert mx.logsumexp(mx.zeros((5000,), dtype=t)).item() == pytest.approx(np.log(5000), rel=2**-8)
    columns = mx.logsumexp(mx.zeros((5000, 2), dtype=t), axis=0)
    assert columns.tolist()[0] == pytest.approx(np.log(5000), rel=2**-8)


def test_variance_far_from_zero():
    rng = generator("far")
    x = (1e4 + rng.normal(size=(300, 400))).astype(np.float32)
    exact = x.astype(np.float64)
    for axis in (None, 0, 1):
        np.testing.assert_allclose(
            to_numpy(mx.var(to_mx(x), axis=axis)), exact.var(axis=axis), rtol=2e-5
        )
    steps = np.arange(200_000, dtype=np.float32)
    np.testing.assert_allclose(
        mx.var(to_mx(steps)).item(), steps.astype(np.float64).var(), rtol=1e-6
    )
    np.testing.assert_allclose(
        mx.var(to_mx(steps).reshape(-1, 1), axis=0), [steps.astype(np.float64).var()], rtol=1e-6
    )
    assert mx.var(mx.full((3000,), 0.1)).item() <= 1e-15


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_integer_means_do_not_wrap(dtype):
    top = int(np.iinfo(dtype).max)
    x = np.full((3, 4), top, dtype=dtype)
    for axis in (None, 0, 1):
        np.testing.assert_allclose(
            to_numpy(mx.mean(mx.array(x), axis=axis)), x.astype(float).mean(axis=axis)
        )
    low = np.array([np.iinfo(dtype).min, top], dtype=dtype)
    want = low.astype(np.float64).var()
    assert mx.var(mx.array(low)).item() == pytest.approx(want, rel=1e-6)


def test_integer_sums_wrap():
    assert mx.sum(mx.array([2**31 - 1, 1], dtype=mx.int32)).item() == -(2**31)
    assert mx.sum(mx.array([2**32 - 1, 2], dtype=mx.uint32)).item() == 1
    assert mx.prod(mx.array([2**40, 2**30], dtype=mx.int64)).item() == 0
    assert mx.sum(mx.full((300,), 127, dtype=mx.int8).astype(mx.int8)).item() == 300 * 127
    x = mx.array(np.full((2, 40), 2**31 - 1, dtype=np.int32))
    assert mx.sum(x, axis=0).tolist() == [-2] * 40


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64"])
@pytest.mark.parametrize("n", [1, 5, 40, 3000])
def test_nan_wins(dtype, n):
    t = getattr(mx, dtype)
    for place in {0, n // 2, n - 1}:
        x = np.zeros((n,))
        x[:] = np.arange(n) % 7
        x[place] = NAN
        row = mx.array(x).astype(t)
        for shaped, axis in (
            (row, None),
            (mx.stack([row] * 10), 1),
            (mx.stack([row] * 40, axis=1), 0),
        ):
            for f in (mx.max, mx.min, mx.sum, mx.mean):
                assert np.isnan(widened(to_numpy(f(shaped, axis=axis)))).all()
            for f in (mx.argmax, mx.argmin):
                assert (to_numpy(f(shaped, axis=axis)) == place).all()
        assert mx.any(row).item() and mx.all(row[place : place + 1]).item()
    two = mx.array([1.0, NAN, NAN, 9.0]).astype(t)
    assert mx.argmax(two).item() == 1 and mx.argmin(two).item() == 1


def test_infinities_and_extremes_of_every_dtype():
    assert mx.max(mx.array([-INF, -INF])).item() == -INF
    assert mx.min(mx.array([INF, INF])).item() == INF
    assert mx.sum(mx.array([INF, 1.0])).item() == INF
    assert np.isnan(mx.sum(mx.array([INF, -INF])).item())
    assert mx.sum(mx.array([3e38, 3e38])).item() == INF
    for dtype in DTYPES:
        if kind_of(dtype) in "iu":
            limits = np.iinfo(dtype)
            x = np.full((33,), limits.min, dtype=dtype)
            assert mx.max(mx.array(x)).item() == limits.min
            x[:] = limits.max
            assert mx.min(mx.array(x)).item() == limits.max
    assert mx.any(mx.array([-0.0, 0.0])).item() is False
    assert mx.all(mx.array([1e-45, NAN])).item() is True
    assert mx.any(mx.array([-0.0 + 0j, 0 - 0.0j])).item() is False
    assert mx.all(mx.array([0 + 1j, 1 + 0j])).item() is True


# ---- arg-reductions -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_arg_reductions(name, dtype):
    f, numpy = getattr(mx, name), getattr(np, name)
    for _, a, x in layouts(dtype, name):
        wide = widened(x)
        for axis in (None, *range(-x.ndim, x.ndim)):
            for keepdims in (False, True):
                got = f(a, axis=axis, keepdims=keepdims)
                assert got.dtype == mx.uint32
                np.testing.assert_array_equal(
                    to_numpy(got), numpy(wide, axis=axis, keepdims=keepdims)
                )
        assert getattr(a, name)().item() == numpy(wide)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_long_arg_reductions_find_the_first(name):
    rng = generator("first", name)
    x = rng.integers(0, 50, (300_000,)).astype(np.float32)
    f, numpy = getattr(mx, name), getattr(np, name)
    assert f(to_mx(x)).item() == numpy(x)
    for shape in ((100_000, 3), (10_000, 30), (2, 150_000)):
        y = x.reshape(shape)
        for axis in (0, 1):
            np.testing.assert_array_equal(to_numpy(f(to_mx(y), axis=axis)), numpy(y, axis=axis))
    x[:] = 1
    assert f(to_mx(x)).item() == 0


# ---- softmax and logsumexp ------------------------------------------------------------------------


def softmax_oracle(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def logsumexp_oracle(x, axis, keepdims):
    high = x.max(axis=axis, keepdims=True)
    y = np.log(np.exp(x - high).sum(axis=axis, keepdims=True)) + high
    return y if keepdims else np.squeeze(y, axis=axis)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "complex64"])
def test_softmax_and_logsumexp(dtype):
    result = dtype if dtype in FLOATS else "float32"
    for _, a, x in layouts(dtype, "softmax"):
        wide = widened(x).astype(np.float64) * 1.0
        for axis in axis_sets(x.ndim):
            axes = tuple(range(x.ndim)) if axis is None else axis
            want = softmax_oracle(wide, axes)
            assert_near(mx.softmax(a, axis=axis), want, result, 0.0, 8.0)
            assert bytes(mx.softmax(a, axis=axis, precise=True)) == bytes(mx.softmax(a, axis=axis))
            for keepdims in (False, True):
                got = mx.logsumexp(a, axis=axis, keepdims=keepdims)
                assert_near(got, logsumexp_oracle(wide, axes, keepdims), result, 1.0, 4.0)


def test_softmax_of_large_values_and_long_rows():
    rng = generator("large softmax")
    x = (rng.normal(size=(3, 20_000)) * 30 + 1000).astype(np.float32)
    wide = x.astype(np.float64)
    for a, y, axis in (
        (to_mx(x), wide, 1),
        (to_mx(x).T, wide.T, 0),
        (to_mx(x.T), wide.T, 0),
        (to_mx(x)[:, ::2], wide[:, ::2], 1),
    ):
        np.testing.assert_allclose(
            to_numpy(mx.softmax(a, axis=axis)), softmax_oracle(y, axis), rtol=2e-6, atol=1e-40
        )
        np.testing.assert_allclose(
            to_numpy(mx.logsumexp(a, axis=axis)), logsumexp_oracle(y, axis, False), rtol=2e-7
        )


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_edges(dtype):
    t = getattr(mx, dtype)
    for axis, shape in ((-1, (1, 3)), (0, (3, 1))):

        def run(f, *v, axis=axis, shape=shape):
            return widened(to_numpy(f(mx.array(v).astype(t).reshape(shape), axis=axis))).ravel()

        assert np.isnan(run(mx.softmax, -INF, -INF, -INF)).all()
        assert np.isnan(run(mx.softmax, INF, 0.0, 1.0)).any()
        assert np.isnan(run(mx.softmax, NAN, 0.0, 1.0)).all()
        np.testing.assert_array_equal(run(mx.softmax, -INF, 0.0, -INF), [0, 1, 0])
        np.testing.assert_array_equal(run(mx.logsumexp, -INF, -INF, -INF), [-INF])
        np.testing.assert_array_equal(run(mx.logsumexp, INF, 0.0, -INF), [INF])
        assert np.isnan(run(mx.logsumexp, NAN, 0.0, INF)).all()
    assert mx.softmax(mx.array(3.0).astype(t)).item() == 1.0
    assert mx.logsumexp(mx.array(3.0).astype(t)).item() == 3.0
    assert mx.softmax(mx.array([3.0, 4.0]).astype(t), axis=()).tolist() == [1.0, 1.0]
    assert mx.softmax(mx.zeros((0, 3), dtype=t), axis=1).shape == (0, 3)
    assert mx.softmax(mx.zeros((2, 0), dtype=mx.int32)).dtype == mx.int32


def test_complex_softmax_and_logsumexp():
    x = draw(generator("complex softmax"), "complex64", (4, 5))
    e = np.exp(x.astype(complex))
    for axis in (0, 1):
        np.testing.assert_allclose(
            to_numpy(mx.softmax(to_mx(x), axis=axis)),
            e / e.sum(axis=axis, keepdims=True),
            rtol=1e-4,
            atol=1e-5,
        )
        got = to_numpy(mx.logsumexp(to_mx(x), axis=axis))
        np.testing.assert_allclose(np.exp(got), e.sum(axis=axis), rtol=1e-4, atol=1e-5)


# ---- derivatives ----------------------------------------------------------------------------------

SMOOTH = {
    name: lambda a, axis, f=name: getattr(mx, f)(a, axis=axis)
    for name, row in REDUCTIONS.items()
    if row.smooth
}
SMOOTH |= {
    "var ddof": lambda a, axis: mx.var(a, axis=axis, ddof=1),
    "std keepdims": lambda a, axis: mx.std(a, axis=axis, keepdims=True),
    "max keepdims": lambda a, axis: mx.max(a, axis=axis, keepdims=True),
    "softmax": lambda a, axis: mx.softmax(a, axis=axis),
    "logsumexp": lambda a, axis: mx.logsumexp(a, axis=axis),
}
DERIVATIVE_AXES = (None, 0, 1, -1, (0, 2), (1, 2))


def apart(rng, shape):
    """Values at least 0.05 apart, so that extremes do not change within a difference."""
    n = int(np.prod(shape))
    return (rng.permutation(n) * 0.06 - 0.6 + rng.uniform(0, 0.01, n)).reshape(shape)


@pytest.mark.parametrize("axis", DERIVATIVE_AXES, ids=str)
@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name, axis):
    rng = generator("derivatives", name, axis)
    x = apart(rng, (2, 3, 4))
    a = to_mx(x)

    def f(v):
        return SMOOTH[name](v, axis)

    y = f(a)
    ct, tangent = rng.uniform(-1, 1, y.shape), rng.uniform(-1, 1, x.shape)
    _, (gradient,) = mx.vjp(f, [a], [to_mx(np.asarray(ct))])
    _, (pushed,) = mx.jvp(f, [a], [to_mx(tangent)])
    slopes = np.zeros_like(x)
    h = 1e-6
    for i in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[i] = h
        slopes[i] = np.sum((to_numpy(f(to_mx(x + d))) - to_numpy(f(to_mx(x - d)))) / (2 * h) * ct)
    np.testing.assert_allclose(to_numpy(gradient), slopes, rtol=1e-6, atol=1e-8)
    left = np.sum(to_numpy(pushed) * ct)
    assert left == pytest.approx(np.sum(to_numpy(gradient) * tangent), rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("axis", (None, 0, (0, 2)), ids=str)
@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivatives(name, axis):
    rng = generator("second", name, axis)
    x = apart(rng, (2, 2, 3))
    weights = to_mx(rng.uniform(-1, 1, x.shape))
    shape = SMOOTH[name](to_mx(x), axis).shape
    ct = to_mx(np.asarray(rng.uniform(0.5, 1, shape)))

    def gradient(v):
        return mx.grad(lambda u: mx.sum(SMOOTH[name](u, axis) * ct))(v)

    hessian = to_numpy(mx.grad(lambda v: mx.sum(gradient(v) * weights))(to_mx(x)))
    forward = to_numpy(mx.jvp(gradient, [to_mx(x)], [weights])[1][0])
    h = 1e-5
    want = (
        to_numpy(gradient(to_mx(x) + h * weights)) - to_numpy(gradient(to_mx(x) - h * weights))
    ) / (2 * h)
    np.testing.assert_allclose(hessian, want, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(forward, want, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("zeros", [(), (1,), (0, 3), (0, 1, 2, 3, 4, 5, 6)], ids=str)
def test_products_with_zeros(zeros):
    x = np.array([2.0, -1.5, 0.5, 3.0, 1.25, -0.75, 2.5])
    x[list(zeros)] = 0
    n = len(x)
    want = np.array([np.prod(np.delete(x, i)) for i in range(n)])
    a = to_mx(x)
    np.testing.assert_allclose(to_numpy(mx.grad(mx.prod)(a)), want, rtol=1e-12)
    hessian = [to_numpy(mx.grad(lambda v, i=i: mx.grad(mx.prod)(v)[i])(a)) for i in range(n)]
    for i in range(n):
        for j in range(n):
            pair = np.prod(np.delete(x, [i, j])) if i != j else 0.0
            assert hessian[i][j] == pytest.approx(pair, rel=1e-12)
    np.testing.assert_allclose(
        to_numpy(mx.grad(lambda v: mx.prod(v, axis=0).sum())(a.reshape(7, 1))).ravel(), want
    )


def test_ties_share_the_gradient():
    x = mx.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    got = mx.grad(lambda v: mx.max(v, axis=1).sum())(x)
    np.testing.assert_allclose(got, [[0, 0.5, 0.5], [1 / 3] * 3], rtol=1e-6)
    got = mx.grad(lambda v: mx.min(v, axis=1).sum())(x)
    np.testing.assert_allclose(got, [[1, 0, 0], [1 / 3] * 3], rtol=1e-6)
    _, (t,) = mx.jvp(
        lambda v: mx.max(v, axis=1), [x], [mx.array([[5.0, 1.0, 2.0], [3.0, 6.0, 9.0]])]
    )
    np.testing.assert_allclose(t, [1.5, 6.0], rtol=1e-6)
    # What lost is untouched by an infinite cotangent.
    _, (g,) = mx.vjp(lambda v: mx.max(v), [mx.array([1.0, 2.0])], [mx.array(INF)])
    assert g.tolist() == [0.0, INF]


def test_flat_deviation_has_no_slope():
    assert mx.grad(mx.std)(mx.array([2.0, 2.0, 2.0])).tolist() == [0, 0, 0]
    assert mx.grad(mx.var)(mx.array([2.0, 2.0, 2.0])).tolist() == [0, 0, 0]


def test_steps_have_zero_derivatives():
    x = mx.array([1.0, 0.0, 2.0])
    for f in (mx.all, mx.any, mx.argmax, mx.argmin, mx.count_nonzero):
        assert mx.grad(lambda v, f=f: f(v).astype(mx.float32))(x).tolist() == [0, 0, 0]
        _, (t,) = mx.jvp(lambda v, f=f: f(v).astype(mx.float32), [x], [mx.ones((3,))])
        assert t.item() == 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_keep_the_dtype(name, dtype):
    x = apart(generator("dtype", name), (4, 6)).astype(numpy_dtype(dtype))

    def f(v):
        return mx.sum(SMOOTH[name](v, 1) * 2)

    got, want = mx.grad(f)(to_mx(x)), to_numpy(mx.grad(f)(to_mx(widened(x))))
    assert str(got.dtype) == f"mlx.core.{dtype}"
    scale = np.abs(want).max() + 0.1
    np.testing.assert_allclose(
        widened(to_numpy(got)), want, atol=8 * EPSILON[dtype] * scale, rtol=8 * EPSILON[dtype]
    )


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "std", "logsumexp", "softmax"])
def test_complex_derivatives(name):
    """Against differences along both axes: vjp gives dL/dx + i·dL/dy of L = Re(conj(ct)·y)."""
    rng = generator("complex derivatives", name)
    z = draw(rng, "complex64", (5,))
    f = getattr(mx, name)
    y = to_numpy(f(to_mx(z)))
    ct = (rng.uniform(-1, 1, y.shape) + 1j * rng.uniform(-1, 1, y.shape)).astype(np.complex64)
    if y.dtype.kind != "c":
        ct = ct.real
    _, (gradient,) = mx.vjp(f, [to_mx(z)], [to_mx(np.asarray(ct))])

    def loss(v):
        return np.sum(
            (np.conj(ct) * to_numpy(f(to_mx(v.astype(np.complex64))))).real.astype(np.float64)
        )

    h = 1e-2
    for i in range(5):
        d = np.zeros(5, dtype=complex)
        d[i] = h
        slope = (loss(z + d) - loss(z - d)) / (2 * h) + 1j * (
            loss(z + 1j * d) - loss(z - 1j * d)
        ) / (2 * h)
        assert to_numpy(gradient)[i] == pytest.approx(slope, rel=5e-3, abs=2e-3)
    t = draw(rng, "complex64", (5,))
    _, (pushed,) = mx.jvp(f, [to_mx(z)], [to_mx(t)])
    left = np.sum((np.conj(ct) * to_numpy(pushed)).real)
    assert left == pytest.approx(np.sum((np.conj(to_numpy(gradient)) * t).real), rel=1e-4, abs=1e-4)


def test_gradient_of_broadcasting_sums_back():
    a, b = mx.array(np.ones((4, 1, 3), np.float32)), mx.array(np.full((5, 1), 2.0, np.float32))
    ga, gb = mx.grad(lambda u, v: mx.sum(u * v), (0, 1))(a, b)
    assert ga.shape == (4, 1, 3) and gb.shape == (5, 1)
    np.testing.assert_array_equal(to_numpy(ga), np.full((4, 1, 3), 10.0))
    np.testing.assert_array_equal(to_numpy(gb), np.full((5, 1), 12.0))


# ---- vmap -----------------------------------------------------------------------------------------

MAPPED = {name: lambda a, axis, f=name: getattr(mx, f)(a, axis=axis) for name in REDUCTIONS}
MAPPED |= {
    f"{name} keepdims": lambda a, axis, f=name: getattr(mx, f)(a, axis=axis, keepdims=True)
    for name in ("sum", "max", "std")
}
MAPPED |= {
    name: lambda a, axis, f=name: getattr(mx, f)(a, axis=axis) for name in ("softmax", "logsumexp")
}


@pytest.mark.parametrize("in_axis", [0, 1, 2, -1])
@pytest.mark.parametrize("name", MAPPED)
def test_vmap(name, in_axis):
    x = apart(generator("vmap", name), (2, 3, 4))
    slices, f = np.moveaxis(x, in_axis, 0), MAPPED[name]
    for axis in (None, 0, 1, (0, 1)):
        want = np.stack([to_numpy(f(to_mx(s), axis)) for s in slices])
        got = to_numpy(mx.vmap(lambda v, axis=axis: f(v, axis), in_axes=in_axis)(to_mx(x)))
        np.testing.assert_allclose(got, want, rtol=1e-14)
        back = to_numpy(
            mx.vmap(lambda v, axis=axis: f(v, axis), in_axes=in_axis, out_axes=-1)(to_mx(x))
        )
        np.testing.assert_allclose(np.moveaxis(back, -1, 0), want, rtol=1e-14)


@pytest.mark.parametrize("in_axis", [0, 1, 2])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_vmap_of_arg_reductions(name, in_axis):
    x = apart(generator("vmap arg", name), (2, 3, 4))
    f, numpy = getattr(mx, name), getattr(np, name)
    for axis in (None, 0, 1):
        for keepdims in (False, True):
            want = np.stack(
                [numpy(s, axis=axis, keepdims=keepdims) for s in np.moveaxis(x, in_axis, 0)]
            )
            got = mx.vmap(lambda v, a=axis, k=keepdims: f(v, a, k), in_axes=in_axis)(to_mx(x))
            np.testing.assert_array_equal(to_numpy(got), want)


def test_gradient_inside_vmap():
    x = apart(generator("vmap grad"), (3, 5))
    for f in (mx.prod, mx.max, mx.std, mx.logsumexp):
        got = to_numpy(mx.vmap(mx.grad(f))(to_mx(x)))
        want = np.stack([to_numpy(mx.grad(f)(to_mx(r))) for r in x])
        np.testing.assert_allclose(got, want, rtol=1e-12)


# ---- composed functions, errors, reproducibility --------------------------------------------------


def test_minmax_and_count_nonzero():
    x = draw(generator("minmax"), "int32", (4, 6))
    low, high = mx.minmax(to_mx(x), axis=1, keepdims=True)
    np.testing.assert_array_equal(to_numpy(low), x.min(1, keepdims=True))
    np.testing.assert_array_equal(to_numpy(high), x.max(1, keepdims=True))
    for axis in (None, 0, 1, (0, 1)):
        got = mx.count_nonzero(to_mx(x), axis)
        assert got.dtype == mx.int32
        np.testing.assert_array_equal(to_numpy(got), np.count_nonzero(x, axis=axis))
    assert mx.count_nonzero(mx.array([NAN, 0.0, -0.0])).item() == 1
    assert mx.count_nonzero(mx.array(True)).dtype == mx.int32
    assert mx.count_nonzero(mx.zeros((0, 3)), axis=0).tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", [*REDUCTIONS, "logsumexp", "softmax", "minmax"])
def test_errors(name):
    f, a = getattr(mx, name), mx.ones((2, 3))
    for axis in (2, -3, (0, 5)):
        with pytest.raises(mx.AxisError, match="axis") as e:
            f(a, axis=axis)
        assert isinstance(e.value, ValueError) and isinstance(e.value, IndexError)
    for axis in ((0, 0), (1, -1)):
        with pytest.raises(ValueError, match="twice"):
            f(a, axis=axis)
    with pytest.raises(mx.AxisError):
        f(mx.array(1.0), axis=0)
    for bad in ([1.0, 2.0], 3, None, np.ones(3), "x"):
        with pytest.raises(TypeError):
            f(bad)
    for bad in (1.5, "0", [0.5]):
        with pytest.raises(TypeError):
            f(a, axis=bad)
    with pytest.raises(TypeError):
        f(a, 0, 1, 2, 3, 4)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_arg_reduction_errors(name):
    f = getattr(mx, name)
    with pytest.raises(mx.AxisError):
        f(mx.ones((2, 3)), axis=2)
    with pytest.raises(mx.AxisError):
        f(mx.array(1.0), axis=0)
    with pytest.raises(ValueError, match=rf"\[{name}\]"):
        f(mx.zeros((0, 3)), axis=1)
    with pytest.raises(TypeError):
        f(mx.ones((2, 3)), axis=(0, 1))
    with pytest.raises(TypeError):
        f([1, 2])


def test_empty_logsumexp_is_refused():
    for axis in (None, 0, 1):
        with pytest.raises(ValueError, match=r"\[logsumexp\]"):
            mx.logsumexp(mx.zeros((0, 3)), axis=axis)


THREADS = """
import hashlib
import numpy as np
import mlx.core as mx
x = np.random.default_rng(5).normal(size=(700, 1000)).astype(np.float32)
h = hashlib.sha256()
for a in (mx.array(x), mx.array(x).T, mx.array(x.reshape(-1, 4)), mx.array(x.reshape(4, -1))[:, ::3]):
    for f in (mx.sum, mx.mean, mx.prod, mx.var, mx.softmax, mx.logsumexp, mx.argmax):
        for axis in (None, 0, 1):
            h.update(bytes(f(a, axis=axis)))
print(h.hexdigest())
"""


def test_results_do_not_depend_on_threads():
    digests = set()
    for threads in ("1", "2", "5"):
        run = subprocess.run(
            [sys.executable, "-c", THREADS],
            env={**os.environ, "MLX_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(run.stdout.strip())
    assert len(digests) == 1
