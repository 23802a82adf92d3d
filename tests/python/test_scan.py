"""Scans: values in every dtype, layout and direction, long axes, special values, derivatives, errors."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import mlx.core as mx
import numpy as np
import pytest
from scan_reference import SCANS
from table import DTYPES, EPSILON, generator, kind_of, numpy_dtype, to_mx, to_numpy, widened

NAN, INF = float("nan"), float("inf")
WAYS = list(itertools.product((False, True), (True, False)))


def draw(rng, dtype, shape):
    """Values whose products stay in range."""
    kind, t = kind_of(dtype), numpy_dtype(dtype)
    if kind == "b":
        return np.asarray(rng.random(shape) < 0.6)
    if kind in "iu":
        limits = np.iinfo(t)
        return rng.integers(limits.min, limits.max, shape, endpoint=True, dtype=t)
    x = np.asarray(np.exp(rng.uniform(-0.2, 0.2, shape)) * rng.choice([-1, 1], shape))
    if kind == "c":
        x = x * np.exp(1j * rng.uniform(0, 6, shape))
    return x.astype(t)


def oracle(name, x, axis, reverse, inclusive):
    """In double precision, integers in their own dtype."""
    row = SCANS[name]
    if x.dtype == bool and name == "cumsum":
        x = x.astype(np.int32)
    if x.dtype.kind in "biu" and name == "logcumsumexp":
        x = x.astype(np.float64)
    t, x = x.dtype, widened(x)
    if axis is None:
        x, axis = x.reshape(-1), 0
    if x.ndim == 0:
        raise AssertionError
    y = np.flip(x, axis) if reverse else x
    with np.errstate(all="ignore"):
        y = row.function(y, axis)
    if not inclusive:
        first = np.full_like(np.take(y, [0], axis), row.identity(t if t.kind in "biu" else y.dtype))
        y = np.concatenate([first, np.delete(y, -1, axis)], axis)
    return np.flip(y, axis) if reverse else y


def result_dtype(name, dtype):
    if name == "cumsum" and dtype == "bool":
        return "int32"
    return "float32" if name == "logcumsumexp" and kind_of(dtype) in "biu" else dtype


def assert_near(got, want, dtype, ulp, scale):
    assert str(got.dtype) == f"mlx.core.{dtype}"
    assert tuple(got.shape) == want.shape
    actual = widened(to_numpy(got))
    if dtype not in EPSILON:
        np.testing.assert_array_equal(actual, want)
        return
    slack = ulp * EPSILON[dtype] * np.maximum(np.abs(want), scale)
    same = (actual == want) | (np.isnan(actual) & np.isnan(want))
    with np.errstate(invalid="ignore"):
        ok = same | (np.abs(actual - want) <= slack)
    assert ok.all(), (actual[~ok][:3], want[~ok][:3])


def layouts(dtype, *key):
    rng = generator("scan", dtype, *key)

    def both(*shape):
        x = draw(rng, dtype, shape)
        return to_mx(x), x

    yield both(3, 4, 5)
    yield both(2, 70, 40)
    yield both(37)
    a, x = both(4, 21, 6)
    yield a.transpose(2, 0, 1), x.transpose(2, 0, 1)
    yield a.transpose(0, 2, 1), x.transpose(0, 2, 1)
    a, x = both(5, 34)
    yield a[::-1, ::-1], x[::-1, ::-1]
    a, x = both(7, 40, 3)
    yield a[1:6:2, 2:39, 1:], x[1:6:2, 2:39, 1:]
    a, x = both(4, 1, 18)
    yield mx.broadcast_to(a, (4, 5, 18)), np.broadcast_to(x, (4, 5, 18))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SCANS)
def test_values(name, dtype):
    if dtype == "complex64" and name == "logcumsumexp":
        pytest.skip("the principal value of the oracle jumps: see test_complex_logcumsumexp")
    t = result_dtype(name, dtype)
    for a, x in layouts(dtype, name):
        for axis in (None, *range(x.ndim), -1):
            for reverse, inclusive in WAYS:
                got = getattr(mx, name)(a, axis, reverse=reverse, inclusive=inclusive)
                want = oracle(name, x, axis, reverse, inclusive)
                length = x.size if axis is None else x.shape[axis]
                ulp = SCANS[name].ulp
                if t in ("complex64", "float64"):
                    ulp *= length**0.5 + 4
                assert_near(got, want, t, ulp, length**0.5 if t == "float64" else 1.0)


def test_complex_logcumsumexp():
    z = draw(generator("complex"), "complex64", (3, 30))
    for axis, (reverse, inclusive) in itertools.product((0, 1), WAYS):
        got = np.array(mx.logcumsumexp(mx.array(z), axis, reverse=reverse, inclusive=inclusive))
        want = oracle("cumsum", np.exp(z), axis, reverse, inclusive)
        np.testing.assert_allclose(np.exp(got), want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64", "int32", "complex64"])
@pytest.mark.parametrize("name", SCANS)
def test_long_axes(name, dtype):
    """Chunks, along rows and along columns; sums and products are as exact as short ones."""
    if dtype == "complex64" and name == "logcumsumexp":
        return
    rng = generator("long", name, dtype)
    for shape, axis in (((200_003,), 0), ((3, 140_000), 1), ((140_000, 3), 0), ((4_000, 90), 0)):
        x = draw(rng, dtype, shape)
        if name == "cumprod" and dtype != "int32":
            x = (x / np.abs(x).astype(x.dtype)).astype(x.dtype)
        for reverse, inclusive in WAYS:
            got = getattr(mx, name)(to_mx(x), axis, reverse=reverse, inclusive=inclusive)
            want = oracle(name, x, axis, reverse, inclusive)
            ulp = 400.0 if dtype in ("float64", "complex64") else SCANS[name].ulp
            scale = shape[axis] ** 0.5
            if name == "cumprod" and dtype == "complex64":
                ulp *= scale
            assert_near(got, want, result_dtype(name, dtype), ulp, scale if ulp > 8 else 1.0)


def test_in_place_and_held_inputs_agree():
    x = draw(generator("in place"), "float32", (64, 300))
    for axis, (reverse, inclusive) in itertools.product((0, 1), WAYS):
        held = mx.array(x) * 2
        mx.eval(held)
        want = mx.cumsum(held, axis, reverse=reverse, inclusive=inclusive)
        got = mx.cumsum(mx.array(x) * 2, axis, reverse=reverse, inclusive=inclusive)
        assert bytes(got) == bytes(want)
        assert bytes(held) == bytes(mx.array(x * 2))


def test_half_types_are_rounded_once():
    for dtype in (mx.float16, mx.bfloat16):
        ones = mx.ones((5000,), dtype)
        want = mx.arange(1, 5001, dtype=mx.float32).astype(dtype)
        assert bytes(mx.cumsum(ones)) == bytes(want)
        assert bytes(mx.cumsum(ones[:, None], axis=0)) == bytes(want)
    thirds = mx.full((4000,), 1 + 1 / 1024, mx.float16)
    want = np.cumprod(np.full(4000, 1 + 1 / 1024)).astype(np.float16)
    np.testing.assert_array_equal(np.array(mx.cumprod(thirds)), want)


def test_float32_sums_stay_exact_beyond_overflowing_parts():
    x = np.array([3e38, 0, -3e38, -3e38, 3e38, 1, 1, 1], np.float32)
    np.testing.assert_array_equal(np.array(mx.cumsum(mx.array(x))), np.cumsum(x))
    assert np.signbit(np.array(mx.cumsum(mx.array([-0.0, -0.0])))).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_special_values(dtype):
    t = numpy_dtype(dtype)
    x = np.array([1, INF, 2, -INF, 3, NAN, 1], t)
    for name, (reverse, inclusive) in itertools.product(SCANS, WAYS):
        for a, y, axis in (
            (to_mx(x), x, 0),
            (mx.stack([to_mx(x)] * 20, axis=1), np.stack([x] * 20, axis=1), 0),
        ):
            got = getattr(mx, name)(a, axis, reverse=reverse, inclusive=inclusive)
            assert_near(got, oracle(name, y, axis, reverse, inclusive), dtype, SCANS[name].ulp, 1.0)
    low = to_mx(np.array([-INF, -INF, 0, -INF], t))
    for a in (low, mx.stack([low] * 20, axis=1)):
        got = widened(to_numpy(mx.logcumsumexp(a, axis=0)))
        assert (got.reshape(4, -1).T == [-INF, -INF, 0, 0]).all()
    far = to_mx(np.array([-60000, 60000, -60000], t))
    assert (
        widened(to_numpy(mx.logcumsumexp(far))).tolist()
        == widened(np.array([-60000, 60000, 60000], t)).tolist()
    )


def test_small_arrays():
    assert mx.cumsum(mx.array(3)).tolist() == [3]
    assert mx.cummax(mx.array(3.5), inclusive=False).tolist() == [-INF]
    for name in SCANS:
        f = getattr(mx, name)
        assert f(mx.zeros((0,))).shape == (0,)
        assert f(mx.zeros((3, 0)), axis=0).shape == (3, 0)
        assert f(mx.zeros((0, 3)), axis=0, inclusive=False).shape == (0, 3)
        assert f(mx.ones((2, 1, 3)), axis=1).tolist() == mx.ones((2, 1, 3)).tolist()


def test_arguments():
    x = mx.array([[1, 2], [3, 4]])
    assert mx.cumsum(x).tolist() == [1, 3, 6, 10]
    assert mx.cumsum(x, -1, reverse=True, stream=mx.cpu).tolist() == [[3, 2], [7, 4]]
    for name in SCANS:
        for reverse, inclusive in WAYS:
            want = getattr(mx, name)(x, 1, reverse=reverse, inclusive=inclusive)
            got = getattr(x, name)(1, reverse=reverse, inclusive=inclusive, stream=None)
            assert got.dtype == want.dtype and bytes(got) == bytes(want)
    assert mx.cumulative_sum(x, axis=0).tolist() == [[1, 2], [4, 6]]
    assert mx.cumulative_prod(x, axis=0).tolist() == [[1, 2], [3, 8]]
    assert mx.cumsum(mx.array([200, 100], mx.uint8)).tolist() == [200, 44]
    assert mx.cumsum(mx.array([200, 100], mx.uint8), dtype=mx.int32).tolist() == [200, 300]
    assert mx.cumprod(mx.array([1.5, 2.5]), dtype=mx.int32).tolist() == [1, 2]
    assert mx.cumprod(mx.array([2, 0, 1]), dtype=mx.bool_).tolist() == [True, False, False]
    assert mx.cumsum(mx.array([2, 0, 1]), dtype=mx.bool_).dtype == mx.int32


def test_errors():
    for name in SCANS:
        f = getattr(mx, name)
        for axis in (2, -3):
            with pytest.raises(IndexError, match=rf"\[{name}\].*{axis}"):
                f(mx.ones((2, 2)), axis=axis)
        with pytest.raises(IndexError, match=name):
            f(mx.array(1.0), axis=0)
        for bad in ([1, 2], None, "x"):
            with pytest.raises(TypeError):
                f(bad)
        with pytest.raises(TypeError):
            f(mx.ones((2,)), 0, True)
    with pytest.raises(TypeError):
        mx.array([1]).cumsum(dtype=mx.int32)
    with pytest.raises(TypeError):
        mx.cummax(mx.array([1]), dtype=mx.int32)
    assert mx.cumsum(mx.ones((3,))).tolist() == [1, 2, 3]


PROGRAM = """
import hashlib
import mlx.core as mx
import numpy as np

rng = np.random.default_rng(0)
digest = hashlib.sha256()
for dtype in (mx.float32, mx.float16, mx.bfloat16, mx.float64, mx.complex64, mx.int32):
    for shape, axis in (((7, 45), 1), ((45, 37), 0), ((3, 150001), 1), ((150001, 3), 0), ((300000,), 0)):
        x = mx.array(rng.uniform(-1, 1, shape), mx.float64).astype(dtype)
        for name in ("cumsum", "cumprod", "cummax", "logcumsumexp"):
            for reverse in (False, True):
                y = getattr(mx, name)(x, axis, reverse=reverse, inclusive=not reverse)
                digest.update(bytes(y.view(mx.uint8)))
        if dtype != mx.int32:
            g = mx.vjp(lambda x: mx.cumprod(x, axis), [x], [x])[1][0]
            digest.update(bytes(g.view(mx.uint8)))
print(digest.hexdigest())
"""


def test_results_depend_neither_on_threads_nor_on_the_instruction_set():
    def run(**environment):
        result = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return result.stdout, result.stderr

    message = run(MLX_CPU_ISA="none")[1]
    levels = message.split("expected one of: ")[1].split(" (")[0].strip().split(", ")
    runs = [run(MLX_NUM_THREADS=n) for n in ("1", "2", "5")]
    runs += [run(MLX_CPU_ISA=level) for level in levels]
    assert all(out for out, _ in runs), runs
    assert len({out for out, _ in runs}) == 1


# ---- differences ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_diff(dtype):
    for a, x in layouts(dtype, "diff"):
        for axis, n in itertools.product(range(-1, x.ndim), (0, 1, 2, 3)):
            want = x
            for _ in range(n):
                high, low = np.moveaxis(want, axis, 0)[1:], np.moveaxis(want, axis, 0)[:-1]
                want = np.moveaxis(high != low if dtype == "bool" else high - low, 0, axis)
            got = mx.diff(a, n, axis)
            assert str(got.dtype) == f"mlx.core.{dtype}" and tuple(got.shape) == want.shape
            np.testing.assert_array_equal(widened(to_numpy(got)), widened(want))


def test_diff_ends_and_errors():
    x = mx.array([1, 4, 9])
    assert mx.diff(x, n=3).shape == (0,) and mx.diff(x, n=10**9).shape == (0,)
    assert mx.diff(mx.zeros((0, 2)), axis=0).shape == (0, 2)
    assert mx.diff(mx.cumsum(x)).tolist() == [4, 9]
    with pytest.raises(ValueError, match=r"\[diff\].*-1"):
        mx.diff(x, n=-1)
    for bad in (mx.array(1), x):
        with pytest.raises(IndexError, match=r"\[diff\].*1"):
            mx.diff(bad, axis=1)
    g = mx.grad(lambda v: (mx.diff(v, 2) * mx.array([1.0, 2.0])).sum())(mx.ones((4,)))
    assert g.tolist() == [1.0, 0.0, -3.0, 2.0]
    got = mx.vmap(mx.diff, in_axes=1)(mx.array([[1, 2], [3, 7]]))
    assert got.tolist() == [[2], [5]]


# ---- derivatives ----------------------------------------------------------------------------------


def values(name, shape=(3, 5)):
    x = draw(generator("gradients", name), "float64", shape)
    if name == "cumprod":
        x.flat[1] = 0.0
        x[-1, 1:3] = 0.0
    return x


def numeric_jvp(f, x, t, h=1e-6):
    return (f(x + h * t) - f(x - h * t)) / (2 * h)


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("reverse,inclusive", WAYS)
@pytest.mark.parametrize("name", SCANS)
def test_derivatives(name, reverse, inclusive, axis):
    x = values(name)
    rng = generator("directions", name)

    def ours(a):
        return getattr(mx, name)(a, axis, reverse=reverse, inclusive=inclusive)

    def theirs(a):
        y = oracle(name, a, axis, reverse, inclusive)
        return np.where(np.isfinite(y), y, 0.0)

    t = rng.normal(size=x.shape)
    g = rng.normal(size=theirs(x).shape)
    want = numeric_jvp(theirs, x, t)
    a, tangent, cotangent = to_mx(x), to_mx(t), to_mx(g)
    _, (jvp,) = mx.jvp(ours, [a], [tangent])
    _, (vjp,) = mx.vjp(ours, [a], [cotangent])
    np.testing.assert_allclose(np.array(jvp), want, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose((np.array(vjp) * t).sum(), (g * want).sum(), rtol=1e-5, atol=1e-7)

    # second order, forward over reverse and reverse over both
    def gradient(a):
        return mx.vjp(ours, [a], [cotangent])[1][0]

    def tangents(a):
        return mx.jvp(ours, [a], [tangent])[1][0]

    def numeric(f):
        return numeric_jvp(lambda v: np.array(f(to_mx(v))), x, t, 1e-6)

    _, (second,) = mx.jvp(gradient, [a], [tangent])
    np.testing.assert_allclose(np.array(second), numeric(gradient), rtol=1e-4, atol=1e-6)
    w = rng.normal(size=x.shape)
    _, (second,) = mx.vjp(gradient, [a], [to_mx(w)])
    np.testing.assert_allclose(
        (np.array(second) * t).sum(), (w * numeric(gradient)).sum(), rtol=1e-4, atol=1e-6
    )
    _, (second,) = mx.vjp(tangents, [a], [cotangent])
    np.testing.assert_allclose(
        (np.array(second) * t).sum(), (g * numeric(tangents)).sum(), rtol=1e-4, atol=1e-6
    )
    # in the cotangent the gradient is linear
    _, (back,) = mx.vjp(lambda c: mx.vjp(ours, [a], [c])[1][0], [cotangent], [tangent])
    np.testing.assert_allclose(np.array(back), want, rtol=1e-5, atol=1e-7)


def test_zeros_in_products():
    x = mx.array([2.0, 0.0, 3.0, 0.0, 4.0])
    g = mx.grad(lambda v: mx.cumprod(v).sum())(x)
    assert g.tolist() == [1.0, 8.0, 0.0, 0.0, 0.0]
    huge = mx.array([1e30, 1e30, 0.0, 1.0])
    assert mx.grad(lambda v: mx.cumprod(v)[3])(huge).tolist()[:2] == [0.0, 0.0]


def test_ties_go_to_the_first_and_nan_takes_over():
    for a, cot, want in (
        ([1.0, 2.0, 2.0, 1.0], [1.0, 10.0, 100.0, 1000.0], [1.0, 1110.0, 0.0, 0.0]),
        ([-INF, -INF, 1.0], [1.0, 10.0, 100.0], [11.0, 0.0, 100.0]),
        ([1.0, NAN, 5.0, NAN], [1.0, 10.0, 100.0, 1000.0], [1.0, 1110.0, 0.0, 0.0]),
    ):
        for name, sign in (("cummax", 1), ("cummin", -1)):
            _, (g,) = mx.vjp(getattr(mx, name), [sign * mx.array(a)], [mx.array(cot)])
            assert g.tolist() == want
            _, (t,) = mx.jvp(getattr(mx, name), [sign * mx.array(a)], [mx.array(cot)])
            assert np.dot(t.tolist(), cot) == np.dot(want, cot)
    _, (g,) = mx.vjp(mx.cummax, [mx.array([1.0, 2.0, 0.0])], [mx.array([INF, 1.0, 1.0])])
    assert g.tolist() == [INF, 2.0, 0.0]


def test_gradients_of_lowest_exponents():
    x = mx.array([-INF, 0.0, 1.0, -INF])
    g = np.array(mx.grad(lambda v: mx.logcumsumexp(v)[1:].sum())(x))
    s = 1 / (1 + np.exp(-1.0))
    np.testing.assert_allclose(g, [0, 1 + 2 * (1 - s), 2 * s, 0], rtol=1e-6)
    far = mx.grad(lambda v: mx.logcumsumexp(v).sum())(mx.array([-1e30, 0.0, 1e30]))
    assert far.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp"])
def test_complex_derivatives(name):
    z = draw(generator("complex", name), "complex64", (2, 4))
    t = draw(generator("tangent", name), "complex64", (2, 4))
    g = draw(generator("cotangent", name), "complex64", (2, 4))

    def f(a):
        return getattr(mx, name)(a, 1)

    y, (jvp,) = mx.jvp(f, [mx.array(z)], [mx.array(t)])
    h = 1e-3
    plus, minus = f(mx.array(z + h * t)), f(mx.array(z - h * t))
    np.testing.assert_allclose(
        np.array(jvp), np.array(plus - minus) / (2 * h), rtol=2e-2, atol=2e-2
    )
    _, (vjp,) = mx.vjp(f, [mx.array(z)], [mx.array(g)])
    # <g, J t> = <J^H g, t>
    np.testing.assert_allclose(
        np.vdot(g, np.array(jvp)).real, np.vdot(np.array(vjp), t).real, rtol=1e-4
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32", "bool"])
def test_gradients_keep_the_dtype(dtype):
    x = mx.array([1, 0, 1, 1]).astype(getattr(mx, dtype if dtype != "bool" else "bool_"))
    for name in SCANS:
        f = getattr(mx, name)
        y = f(x)
        _, (g,) = mx.vjp(f, [x], [mx.ones(y.shape, y.dtype)])
        assert g.dtype in (x.dtype, mx.int32)
        _, (t,) = mx.jvp(f, [x], [mx.ones(x.shape, x.dtype)])
        assert t.shape == y.shape
        mx.eval(g, t)


@pytest.mark.parametrize("name", SCANS)
def test_vmap(name):
    x = draw(generator("vmap", name), "float32", (3, 4, 5))
    a = to_mx(x)
    for mapped, axis in itertools.product(range(3), (0, 1, -1, None)):
        for reverse, inclusive in WAYS:

            def f(v, axis=axis, reverse=reverse, inclusive=inclusive):
                return getattr(mx, name)(v, axis, reverse=reverse, inclusive=inclusive)

            got = mx.vmap(f, in_axes=mapped)(a)
            lanes = [f(mx.take(a, i, axis=mapped)) for i in range(x.shape[mapped])]
            np.testing.assert_allclose(np.array(got), np.array(mx.stack(lanes)), rtol=1e-6)
            if not inclusive:
                continue

            def loss(v, f=f):
                return (f(v) ** 2).sum()

            got = mx.vmap(mx.grad(loss), in_axes=mapped)(a)
            lanes = [mx.grad(loss)(mx.take(a, i, axis=mapped)) for i in range(x.shape[mapped])]
            np.testing.assert_allclose(
                np.array(got), np.array(mx.stack(lanes)), rtol=1e-4, atol=1e-5
            )


def test_vmap_of_the_recurrence_with_one_mapped_operand():
    # The tangent alone is mapped: the links of the recurrence are not.
    x = to_mx(draw(generator("recurrence"), "float32", (4, 5)))
    t = to_mx(draw(generator("tangents"), "float32", (3, 4, 5)))
    for name, axis in itertools.product(SCANS, (0, 1)):

        def tangent(v, name=name, axis=axis):
            return mx.jvp(lambda a: getattr(mx, name)(a, axis), [x], [v])[1][0]

        want = mx.stack([tangent(v) for v in t])
        np.testing.assert_allclose(np.array(mx.vmap(tangent)(t)), np.array(want), rtol=1e-6)


@pytest.mark.parametrize("name", SCANS)
def test_shapeless_replays(name):
    """No count is part of the graph, nor of those of the derivatives."""
    rng = generator("shapeless", name)

    def f(v):
        return getattr(mx, name)(v, 0, reverse=True)

    def second(v):
        return mx.grad(lambda a: (mx.grad(lambda b: (f(b) ** 2).sum())(a) ** 2).sum())(v)

    for function in (f, mx.grad(lambda v: (f(v) ** 2).sum()), second):
        compiled = mx.compile(function, shapeless=True)
        for shape in ((4, 3), (7, 2), (1, 5)):
            x = mx.array(rng.uniform(0.5, 1.5, shape).astype(np.float32))
            np.testing.assert_allclose(np.array(compiled(x)), np.array(function(x)), rtol=1e-5)
