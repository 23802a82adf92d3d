"""Functions made of element-wise rows: closeness, clip, round, nan_to_num, divmod, minmax and counting."""

from __future__ import annotations

import itertools

import mlx.core as mx
import numpy as np
import pytest
from layouts import LAYOUTS, arrange, sample
from table import DTYPES, EPSILON, generator, kind_of, numpy_dtype, to_mx, to_numpy, widened

NAN, INF = float("nan"), float("inf")
HALVES = ("float16", "bfloat16")
SPECIAL = [0.0, -0.0, 1.0, -1.5, INF, -INF, NAN, 3e-5, 1e4, -1e4]


def special(dtype):
    return np.array(SPECIAL).astype(numpy_dtype(dtype))


# ---- closeness ------------------------------------------------------------------------------------


def numpy_isclose(x, y, rtol, atol, equal_nan):
    return np.isclose(widened(x), widened(y), rtol=rtol, atol=atol, equal_nan=equal_nan)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_isclose_of_every_dtype(dtype, layout):
    # Steps of 1/8: no value lies on the border of a tolerance.
    x, y = sample((5, 6), dtype, "x"), sample((5, 6), dtype, "y")
    y[::2] = x[::2]
    if kind_of(dtype) in "fc":
        y[1::2] = x[1::2] + np.array(0.125, x.dtype)
    (a, x), (b, y) = arrange(x, layout), arrange(y, layout)
    for rtol, atol in ((1e-5, 1e-8), (0.0, 1.1), (0.07, 0.0), (0.0, 0.0)):
        got = mx.isclose(a, b, rtol, atol)
        want = numpy_isclose(x, y, rtol, atol, False)
        assert got.dtype == mx.bool_
        np.testing.assert_array_equal(np.array(got), want)
        assert mx.allclose(a, b, rtol=rtol, atol=atol).item() == want.all()


@pytest.mark.parametrize("dtype", [*HALVES, "float32", "float64"])
def test_isclose_of_special_values(dtype):
    x = special(dtype)
    a, b = to_mx(x)[:, None], to_mx(x)[None]
    for equal_nan in (False, True):
        want = numpy_isclose(x[:, None], x[None], 1e-5, 1e-8, equal_nan)
        np.testing.assert_array_equal(np.array(mx.isclose(a, b, equal_nan=equal_nan)), want)
        assert mx.allclose(to_mx(x), to_mx(x), equal_nan=equal_nan).item() == equal_nan
        assert mx.array_equal(to_mx(x), to_mx(x), equal_nan=equal_nan).item() == equal_nan


def test_isclose_broadcasts_and_promotes():
    a = mx.array([1.0, 1.1, 2.0])
    one = mx.array(1.0)
    assert mx.isclose(a, one, rtol=0.15).tolist() == [True, True, False]
    assert mx.isclose(one, a, 0.0, 0.15).tolist() == [True, True, False]
    assert mx.isclose(a[:, None], a).shape == (3, 3)
    assert mx.isclose(mx.array([0], mx.uint8), mx.array([1], mx.uint8), atol=0.5).item() is False
    assert mx.isclose(mx.array([-128], mx.int8), mx.array([127], mx.int8)).item() is False
    assert mx.isclose(mx.array([1, 2]), mx.array([1.0, 2.0], mx.float16)).tolist() == [True, True]
    assert mx.allclose(mx.zeros((0, 3)), mx.zeros((0, 3))).item() is True
    lanes = mx.vmap(mx.isclose)(a, mx.array([1.0, 1.0, 2.0]))
    assert lanes.tolist() == [True, False, True]
    assert mx.vmap(lambda v: mx.allclose(v, a), in_axes=0)(mx.stack([a, a + 1])).tolist() == [
        True,
        False,
    ]
    for f in (mx.isclose, mx.allclose):
        with pytest.raises(ValueError, match=rf"\[{f.__name__}\].*\(2,\).*\(3,\)"):
            f(mx.ones((2,)), mx.ones((3,)))
        for bad in (1.0, [1.0], "x", None):
            with pytest.raises(TypeError, match=f.__name__):
                f(a, bad)


@pytest.mark.parametrize("dtype", DTYPES)
def test_array_equal(dtype):
    x = sample((4, 5), dtype, "equal")
    y = x.copy()
    y[-1, -1] = 0 if x[-1, -1] else 1
    assert mx.array_equal(to_mx(x), to_mx(x)).item() is True
    assert mx.array_equal(to_mx(x), to_mx(y)).item() is False
    assert mx.array_equal(to_mx(x), to_mx(x[:3])).item() is False
    assert mx.array_equal(to_mx(x.T.copy()).T, to_mx(x)).item() is True
    assert mx.array_equal(to_mx(x), to_mx(x), equal_nan=True).item() is True


def test_array_equal_of_unlike_arrays():
    assert mx.array_equal(mx.array([1, 2]), mx.array([1.0, 2.0])).item() is True
    assert mx.array_equal(mx.ones((2, 1)), mx.ones((1, 2))).item() is False
    assert mx.array_equal(mx.ones((2,)), 1.0).item() is False
    assert mx.array_equal(mx.array(1), 1).item() is True
    assert mx.array_equal(mx.zeros((0,)), mx.zeros((0,))).item() is True
    assert mx.array_equal(mx.zeros((0, 2)), mx.zeros((0, 3))).item() is False
    assert mx.array_equal(mx.array([NAN]), mx.array([1.0]), equal_nan=True).item() is False


# ---- nan_to_num -----------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [*HALVES, "float32"])
def test_nan_to_num(dtype, layout):
    x = np.resize(special(dtype), (6, 5))
    a, x = arrange(x, layout)
    info = mx.finfo(getattr(mx, dtype))
    for nan, posinf, neginf in ((0.0, None, None), (2.0, 3.0, None), (0.0, None, -4.0)):
        want = widened(x).copy()
        want[np.isnan(want)] = nan
        want[want == INF] = info.max if posinf is None else posinf
        want[want == -INF] = info.min if neginf is None else neginf
        got = mx.nan_to_num(a, nan=nan, posinf=posinf, neginf=neginf)
        assert str(got.dtype) == f"mlx.core.{dtype}"
        np.testing.assert_array_equal(widened(to_numpy(got)), want)
    assert mx.nan_to_num(mx.zeros((0, 2), getattr(mx, dtype))).shape == (0, 2)


def test_nan_to_num_of_other_dtypes():
    for dtype in ("bool", "int8", "uint64", "int32"):
        x = sample((3, 4), dtype, "numbers")
        got = mx.nan_to_num(to_mx(x), nan=7)
        np.testing.assert_array_equal(to_numpy(got), x)
        assert str(got.dtype) == f"mlx.core.{dtype}"
    for dtype in (mx.float64, mx.complex64):
        with pytest.raises(ValueError, match=r"\[nan_to_num\]"):
            mx.nan_to_num(mx.array([1], dtype))
    g = mx.grad(lambda v: (mx.nan_to_num(v) * 3).sum())(mx.array([1.0, NAN, INF, -INF]))
    assert g.tolist() == [3.0, 0.0, 0.0, 0.0]
    assert mx.vmap(mx.nan_to_num)(mx.array([[NAN, 1.0]])).tolist() == [[0.0, 1.0]]


# ---- clip and round -------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "complex64"])
def test_clip(dtype, layout):
    a, x = arrange(sample((5, 6), dtype, "clip"), layout)
    low, high = (False, True) if dtype == "bool" else (3, 40)
    for lo, hi in itertools.product((None, low), (None, high)):
        if lo is None and hi is None:
            continue
        got = mx.clip(a, lo, hi)
        assert str(got.dtype) == f"mlx.core.{dtype}"
        want = widened(x)
        want = want if lo is None else np.maximum(want, lo)
        want = want if hi is None else np.minimum(want, hi)
        np.testing.assert_array_equal(widened(to_numpy(got)), want)


def test_clip_bounds():
    x = mx.array([[1.0, NAN, 5.0], [-3.0, INF, -INF]])
    got = np.array(mx.clip(x, mx.array([0.0, 1.0, 2.0]), mx.array([[4.0], [2.0]])))
    want = np.clip(np.array(x), [0.0, 1.0, 2.0], [[4.0], [2.0]])
    np.testing.assert_array_equal(got, want)
    assert mx.clip(mx.array([1, 9]), 2.5, 8).dtype == mx.float32
    assert mx.clip(mx.array([5.0]), 3, 1).tolist() == [1.0]  # the upper bound comes last
    assert np.isnan(mx.clip(mx.array([1.0]), NAN, 3).item())
    with pytest.raises(ValueError, match=r"\[clip\].*None"):
        mx.clip(x, None, None)
    with pytest.raises(ValueError, match=r"\[clip\].*\(4,\)"):
        mx.clip(x, mx.ones((4,)), None)
    # Inside the bounds the slope is 1, outside and on them 0; the bounds get the rest.
    g = mx.grad(lambda v, lo, hi: mx.clip(v, lo, hi).sum(), argnums=(0, 1, 2))(
        mx.array([0.0, 1.0, 2.0, 3.0, 4.0]), mx.array(1.0), mx.array(3.0)
    )
    assert g[0].tolist() == [0.0, 0.0, 1.0, 0.0, 0.0]
    assert g[1].item() == 2.0 and g[2].item() == 2.0


@pytest.mark.parametrize("dtype", [*HALVES, "float32", "float64"])
def test_round(dtype):
    x = (generator("round").normal(size=(40,)) * 30).astype(numpy_dtype(dtype))
    x[:6] = [0.5, 1.5, -0.5, -2.5, 2.5, 0.0]
    np.testing.assert_array_equal(widened(to_numpy(mx.round(to_mx(x)))), np.round(widened(x)))
    for decimals in (-1, 1, 2):
        got = mx.round(to_mx(x), decimals)
        assert str(got.dtype) == f"mlx.core.{dtype}"
        want = np.round(widened(x), decimals)
        # The border of a step may fall to either side.
        step, slack = 10.0**-decimals, 4 * EPSILON[dtype] * np.abs(x).max().astype(float)
        error = np.abs(widened(to_numpy(got)) - want)
        near = np.abs(np.abs(widened(x) / step % 1) - 0.5) < slack / step + 1e-6
        assert ((error <= slack) | near).all()


def test_round_of_integers_and_complex():
    assert mx.round(mx.array([15, 25, -15, 34]), -1).tolist() == [20, 20, -20, 30]
    for dtype in ("bool", "int8", "uint32", "int64"):
        x = sample((6,), dtype, "round")
        np.testing.assert_array_equal(to_numpy(mx.round(to_mx(x))), x)
    assert mx.round(mx.array([1.5 + 2.5j, -0.4 - 0.6j])).tolist() == [2 + 2j, 0 - 1j]
    assert mx.grad(lambda v: mx.round(v).sum())(mx.array([0.4, 1.6])).tolist() == [0.0, 0.0]


# ---- divmod, minmax, count_nonzero ----------------------------------------------------------------


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ("bool", "complex64")])
def test_divmod(dtype):
    x, y = sample((5, 6), dtype, "x"), sample((5, 6), dtype, "y")
    y[y == 0] = 3
    q, r = mx.divmod(to_mx(x), to_mx(y))
    want = np.divmod(x, y)
    for got, w in ((q, want[0]), (r, want[1])):
        assert str(got.dtype) == f"mlx.core.{dtype}"
        np.testing.assert_allclose(widened(to_numpy(got)), widened(w), rtol=EPSILON.get(dtype, 0))
    pair = mx.divmod(mx.array([7, -7]), 2)
    assert isinstance(pair, list) and [v.tolist() for v in pair] == [[3, -4], [1, 1]]
    assert [v.tolist() for v in mx.divmod(7.5, mx.array([2.0]))] == [[3.0], [1.5]]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_minmax_and_count_nonzero(dtype, layout):
    x = sample((5, 6), dtype, "minmax")
    x[1] = 0
    a, x = arrange(x, layout)
    wide = widened(x)
    for axis, keepdims in itertools.product((None, 0, 1, (0, 1), -1), (False, True)):
        low, high = mx.minmax(a, axis, keepdims)
        count = mx.count_nonzero(a, axis, keepdims=keepdims)
        assert count.dtype == mx.int32
        np.testing.assert_array_equal(
            to_numpy(count), np.count_nonzero(wide, axis=axis, keepdims=keepdims)
        )
        for got, f in ((low, np.min), (high, np.max)):
            assert str(got.dtype) == f"mlx.core.{dtype}"
            np.testing.assert_array_equal(
                widened(to_numpy(got)), f(wide, axis=axis, keepdims=keepdims)
            )


def test_minmax_of_special_values():
    low, high = mx.minmax(mx.array([[1.0, NAN], [INF, -INF]]), axis=1)
    assert np.isnan(low[0].item()) and np.isnan(high[0].item())
    assert low[1].item() == -INF and high[1].item() == INF
    assert isinstance(mx.minmax(mx.array([1])), tuple)
    with pytest.raises(ValueError, match=r"\[minmax\].*\(0,\)"):
        mx.minmax(mx.zeros((0,)))
    assert mx.count_nonzero(mx.array([NAN, 0.0, -0.0, INF])).item() == 2
    assert mx.count_nonzero(mx.array([0j, 1j, 1 + 0j])).item() == 2
    g = mx.grad(lambda v: sum(mx.minmax(v)))(mx.array([3.0, 1.0, 2.0]))
    assert g.tolist() == [1.0, 1.0, 0.0]
