"""x.at[…], and slices at starts that are arrays, against NumPy; with derivatives and vmap."""

from __future__ import annotations

import os

import mlx.core as mx
import numpy as np
import pytest
from layouts import LAYOUTS, arrange, sample
from table import DTYPES, generator, to_mx, to_numpy

UFUNCS = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
ROWS = np.array([3, 0, -1, 3, 3])
KEYS = [
    0,
    slice(1, 3),
    slice(None, None, -2),
    (slice(None), 1),
    Ellipsis,
    None,
    (1, 2),
    ROWS,
    (slice(None), ROWS[:3] % 3),
    (ROWS, ROWS % 3),
    (ROWS, slice(1, 3)),
    (None, ROWS, 1),
    np.arange(12).reshape(4, 3) % 5 == 0,
    np.array([True, False, True, True]),
    (np.array([True, False, True, True]), 1),
    (slice(None), np.array([True, False, True])),
    False,
    [],
    [[1, 1], [0, 1]],
]


def ours(key):
    if isinstance(key, tuple):
        return tuple(ours(k) for k in key)
    return mx.array(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_at(name, key):
    for layout in LAYOUTS:
        a, x = arrange(sample((4, 3), "float32"), layout)
        x = x.copy()
        before = x.copy()
        value = sample(x[key].shape, "float32", "value")
        got = getattr(a.at[ours(key)], name)(mx.array(value))
        UFUNCS[name].at(x, key, value)
        assert got.dtype == a.dtype and got.shape == a.shape
        np.testing.assert_allclose(np.array(got), x, rtol=1e-6)
        np.testing.assert_array_equal(np.array(a), before)
    assert getattr(a.at[ours(key)], name)(2).shape == a.shape


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UFUNCS)
def test_at_dtypes(name, dtype):
    x, value = sample((4, 3), dtype), sample((5, 3), dtype, "value")
    got = getattr(to_mx(x).at[mx.array(ROWS)], name)(to_mx(value))
    # Half types are combined in float32 and rounded once.
    wide = x.astype(np.float32) if dtype in ("float16", "bfloat16") else x.copy()
    if dtype == "complex64" and name in ("maximum", "minimum"):
        for i, v in zip(ROWS, value):
            pick = UFUNCS[name](wide[i], v)
            wide[i] = pick
    else:
        UFUNCS[name].at(wide, ROWS, value.astype(wide.dtype))
    assert to_numpy(got).dtype == x.dtype
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(to_numpy(got), wide.astype(x.dtype))


def test_at_other_methods():
    a = mx.array([8.0, 8.0])
    i = mx.array([0, 0])
    assert a.at[i].subtract(1).tolist() == [6, 8] and a.at[i].divide(2).tolist() == [2, 8]
    assert mx.array([8, 8]).at[i].divide(2).tolist() == [0, 8]
    assert mx.array([8, 8]).at[0].add(1.9).tolist() == [9, 8]
    assert a.at[0].add(mx.array([[1.0]])).tolist() == [9, 8]
    assert np.isnan(a.at[0].maximum(mx.nan)[0].item())


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda a: a.at.add(1), ValueError),
        (lambda a: a.at[5].add(1), IndexError),
        (lambda a: a.at[0].add(mx.zeros((2, 2))), ValueError),
        (lambda a: a.at[1.5].add(1), ValueError),
        (lambda a: a.at[0].add("a"), ValueError),
        (lambda a: a.at[0].add(None), TypeError),
        (lambda a: a.at[0].add(), TypeError),
        (lambda a: a.at[0, 0, 0].add(1), ValueError),
    ],
)
def test_at_errors(call, error):
    with pytest.raises(error):
        call(mx.zeros((3, 2)))


def small(shape, *key):
    return generator("small", *key).uniform(-1, 1, shape).astype(np.float32)


def check_gradients(f, arguments, tolerance=5e-3):
    """vjp and jvp against each other and against differences, and the same for the vjp itself."""

    def numeric(g, xs, ts, h=1e-2):
        plus = g(*[x + h * t for x, t in zip(xs, ts)])
        minus = g(*[x - h * t for x, t in zip(xs, ts)])
        return [np.array(p - m, np.float64) / (2 * h) for p, m in zip(plus, minus)]

    def many(g):
        return lambda *xs: (lambda r: r if isinstance(r, (list, tuple)) else [r])(g(*xs))

    def compare(g, xs, key):
        ts = [mx.array(small(x.shape, key, i)) for i, x in enumerate(xs)]
        _, tangents = mx.jvp(many(g), xs, ts)
        for got, want in zip(tangents, numeric(many(g), xs, ts)):
            np.testing.assert_allclose(np.array(got), want, rtol=tolerance, atol=tolerance)
        cs = [mx.array(small(t.shape, key, "c", i)) for i, t in enumerate(tangents)]
        _, gs = mx.vjp(many(g), xs, cs)
        left = sum(float((c * t).sum()) for c, t in zip(cs, tangents))
        right = sum(float((g * t).sum()) for g, t in zip(gs, ts))
        np.testing.assert_allclose(left, right, rtol=1e-3, atol=1e-3)
        return cs

    cs = compare(f, arguments, "first")
    compare(lambda *xs: mx.vjp(many(f), list(xs), cs)[1], arguments, "second")


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_gradients_of_at(name, key):
    shape = np.zeros((4, 3))[key].shape
    # Extremes have derivatives where nothing is nearly equal.
    order = generator("order", name).permutation(12 + int(np.prod(shape)))
    values = (order / 20 - 0.31).astype(np.float32)
    arguments = [values[:12].reshape(4, 3), values[12:].reshape(shape)]
    if not arguments[1].size:
        return
    check_gradients(
        lambda x, v: getattr(x.at[ours(key)], name)(v), [mx.array(a) for a in arguments]
    )


@pytest.mark.parametrize("zeros", [[0], [0, 1], [0, 3], [0, 1, 3], [2], [4, 5]])
def test_products_with_zeros(zeros):
    """Derivatives of a product are polynomials: NumPy has them exactly."""
    rows = np.array([1, 1, 0, 1, 2, 2])
    u = np.array([2.0, 3, 5, 7, 0.5, 4], np.float32)
    u[zeros] = 0
    x = np.array([1.5, 2.5, 3.5, 4.5], np.float32)
    first = np.zeros(6)
    second = np.zeros((6, 6))
    for i in range(6):
        others = [u[j] for j in range(6) if rows[j] == rows[i] and j != i]
        first[i] = x[rows[i]] * np.prod(others)
        for k in range(6):
            if k != i and rows[k] == rows[i]:
                rest = [u[j] for j in range(6) if rows[j] == rows[i] and j not in (i, k)]
                second[i, k] = x[rows[i]] * np.prod(rest)

    def f(u):
        return mx.array(x).at[mx.array(rows)].multiply(u).sum()

    np.testing.assert_allclose(mx.grad(f)(mx.array(u)), first, rtol=1e-6)
    hessian = [mx.grad(lambda u, i=i: mx.grad(f)(u)[i])(mx.array(u)) for i in range(6)]
    np.testing.assert_allclose(
        np.stack([np.array(h) for h in hessian]), second, rtol=1e-6, atol=4e-6
    )
    by_base = mx.grad(lambda x: x.at[mx.array(rows)].multiply(mx.array(u)).sum())(mx.array(x))
    expected = np.ones(4)
    np.multiply.at(expected, rows, u)
    np.testing.assert_allclose(by_base, expected, rtol=1e-6)


@pytest.mark.skipif(bool(os.environ.get("MLX_CHECK")), reason="checked runs refuse these indices")
@pytest.mark.parametrize("name", UFUNCS)
def test_updates_outside_are_dropped(name):
    rows = mx.array([0, 7, -9, 1])
    x, u = mx.array([1.0, 2.0]), mx.array([5.0, mx.inf, mx.nan, 0.5])

    def f(x, u):
        return getattr(x.at[rows], name)(u)

    want = UFUNCS[name](np.array([1, 2.0]), np.array([5, 0.5]))
    assert f(x, u).tolist() == want.tolist()
    _, (gx, gu) = mx.vjp(f, [x, u], [mx.ones(2)])
    assert np.isfinite(np.array(gx)).all() and gu.tolist()[1:3] == [0, 0]


def test_equal_extremes_share_the_gradient():
    x, u = mx.array([2.0, 1.0]), mx.array([2.0, 2.0, 5.0])
    rows = mx.array([0, 0, 1])
    _, (gx, gu) = mx.vjp(lambda x, u: x.at[rows].maximum(u), [x, u], [mx.array([3.0, 7.0])])
    assert gx.tolist() == [1, 0] and gu.tolist() == [1, 1, 7]


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("axes", [(0, None, None), (None, 0, None), (0, 0, 0), (1, None, 1)])
def test_vmap_of_at(name, axes):
    shapes = [(4, 3), (5, 3), (5,)]

    def lanes(shape, axis):
        shape = list(shape)
        if axis is not None:
            shape.insert(axis, 3)
        return shape

    x, v = (mx.array(sample(lanes(s, k), "float32", "v")) for s, k in zip(shapes[:2], axes))
    i = mx.array(generator(axes).integers(-4, 4, lanes(shapes[2], axes[2])))

    def f(x, v, i):
        return getattr(x.at[i], name)(v)

    got = mx.vmap(f, in_axes=axes)(x, v, i)
    for lane in range(3):
        parts = [a if k is None else mx.take(a, lane, k) for a, k in zip((x, v, i), axes)]
        np.testing.assert_allclose(np.array(got[lane]), np.array(f(*parts)), rtol=1e-6)


def window(shape, start, axes, size):
    place = [0] * len(shape)
    for s, axis in zip(start, axes):
        n = shape[axis]
        place[axis] = min(max(s + n if s < 0 else s, 0), n - size[axis])
    return tuple(slice(p, p + w) for p, w in zip(place, size))


WINDOWS = [
    ([1], [0], (2, 4, 6)),
    ([3, 2], [2, 1], (1, 2, 3)),
    ([-2, 9, 1], [0, 1, -1], (1, 3, 2)),
    ([], [], (2, 1, 3)),
    ([0], [1], (5, 0, 6)),
]


@pytest.mark.skipif(bool(os.environ.get("MLX_CHECK")), reason="checked runs refuse these starts")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("start, axes, size", WINDOWS, ids=str)
def test_windows(start, axes, size, layout):
    for dtype in ("float32", "int8", "complex64"):
        a, x = arrange(sample((5, 4, 6), dtype), layout)
        x = x.copy()
        at = window(x.shape, start, axes, size)
        s = mx.array(start, mx.int32)
        got = mx.slice(a, s, axes, size)
        assert got.shape == size and got.dtype == a.dtype
        np.testing.assert_array_equal(to_numpy(got), x[at])
        update = sample(size, dtype, "update")
        got = mx.slice_update(a, to_mx(update), s, axes)
        x[at] = update
        np.testing.assert_array_equal(to_numpy(got), x)


def test_window_forms():
    a = mx.arange(12).reshape(3, 4)
    assert mx.slice(a, mx.array(1), [1], [2, 2]).tolist() == [[1, 2], [5, 6]]
    assert mx.slice(a, mx.array([1], mx.uint8), (0,), (1, 2)).tolist() == [[4, 5]]
    z = mx.zeros((3, 4), mx.int32)
    row = mx.array([7, 8])
    assert mx.slice_update(z, row, mx.array([1]), [1])[:, 1].tolist() == [7, 7, 7]
    one = mx.slice_update(z, row, mx.array([1, 1]), [0, 1])
    assert one.tolist() == [[0] * 4, [0, 7, 8, 0], [0] * 4]
    assert mx.slice_update(z, mx.array(2.9), mx.array([0, 0]), [0, 1])[0, 0].item() == 2


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda a: mx.slice(a, mx.array([0]), [0], [4, 1]), ValueError),
        (lambda a: mx.slice(a, mx.array([0]), [0], [1]), ValueError),
        (lambda a: mx.slice(a, mx.array([0]), [0], [1, -1]), ValueError),
        (lambda a: mx.slice(a, mx.array([0.0]), [0], [1, 1]), ValueError),
        (lambda a: mx.slice(a, mx.array([0, 1]), [0], [1, 1]), ValueError),
        (lambda a: mx.slice(a, mx.array([[0]]), [0], [1, 1]), ValueError),
        (lambda a: mx.slice(a, mx.array([0, 0]), [0, 0], [1, 1]), ValueError),
        (lambda a: mx.slice(a, mx.array([0]), [2], [1, 1]), mx.AxisError),
        (lambda a: mx.slice_update(a, mx.zeros((4, 1)), mx.array([0]), [0]), ValueError),
        (lambda a: mx.slice_update(a, mx.zeros((1, 1, 1)), mx.array([0]), [0]), ValueError),
        (lambda a: mx.slice_update(a, a, mx.array([0.0]), [0]), ValueError),
    ],
)
def test_window_errors(call, error):
    with pytest.raises(error, match=r"\[slice"):
        call(mx.zeros((3, 2)))


@pytest.mark.parametrize("start, axes, size", WINDOWS[:4], ids=str)
def test_gradients_of_windows(start, axes, size):
    s = mx.array([min(max(i, 0), 1) for i in start], mx.int32)
    x, v = mx.array(small((5, 4, 6))), mx.array(small(size, "v"))
    check_gradients(lambda x: mx.slice(x, s, axes, size) ** 2, [x])
    check_gradients(lambda x, v: mx.slice_update(x, v, s, axes) ** 2, [x, v])
    with pytest.raises(ValueError, match="indices"):
        mx.vjp(lambda s: mx.slice(x, s, axes, size), [s], [v])
    stopped = mx.vjp(lambda s: mx.slice(x, mx.stop_gradient(s), axes, size), [s], [v])
    assert stopped[1][0].tolist() == [0] * len(start)


@pytest.mark.parametrize("mapped", [(0, None, None), (None, None, 0), (1, 0, 1), (None, 2, 0)])
def test_vmap_of_windows(mapped):
    shapes = [(5, 4, 6), (2, 4, 3), (2,)]
    axes, size = [2, 0], (2, 4, 3)

    def lanes(shape, axis):
        shape = list(shape)
        if axis is not None:
            shape.insert(axis, 3)
        return shape

    x, v = (mx.array(sample(lanes(s, k), "float32", "v")) for s, k in zip(shapes[:2], mapped))
    start = mx.array(generator(mapped).integers(0, 3, lanes((2,), mapped[2])))
    functions = [
        lambda x, v, s: mx.slice(x, s, axes, size),
        lambda x, v, s: mx.slice(x, s, axes, (1, 3, 2)),
        lambda x, v, s: mx.slice_update(x, v, s, axes),
        lambda x, v, s: mx.slice_update(x, v[:, :2], s, axes),
    ]
    for f in functions:
        got = mx.vmap(f, in_axes=mapped)(x, v, start)
        for lane in range(3):
            parts = [a if k is None else mx.take(a, lane, k) for a, k in zip((x, v, start), mapped)]
            want = f(*parts)
            np.testing.assert_array_equal(
                np.array(got[lane] if got.ndim > want.ndim else got), np.array(want)
            )


def test_windows_move_without_tracing_again():
    calls = []

    @mx.compile
    def f(x, s):
        calls.append(0)
        return mx.slice(x, s, [0], [2]) * 2

    x = mx.arange(6)
    assert [f(x, mx.array([i])).tolist() for i in (0, 3)] == [[0, 2], [6, 8]] and len(calls) == 1


@pytest.mark.parametrize("name", [*UFUNCS, "="])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int16", "complex64"])
@pytest.mark.parametrize("spread", [1, 300])
def test_large_updates(name, dtype, spread):
    """Rows long enough for other ways through: many destinations, few, and the middle axis."""
    rng = generator(name, dtype, spread)
    rows = rng.integers(-spread, spread, 900)
    for shape, axis in (((300, 70), 0), ((3, 300, 40), 1), ((300, 2, 33), 0)):
        x = rng.integers(-3, 4, shape)
        v = rng.integers(1, 3, (*shape[:axis], 900, *shape[axis + 1 :]))
        key = (*[slice(None)] * axis, rows)
        wide = x.astype(np.float64)
        if name == "=":
            wide[key] = v
        elif name == "multiply":  # small enough to be exact
            v = np.where(rng.random(v.shape) < 0.99, 1, -1)
            np.multiply.at(wide, key, v)
        else:
            UFUNCS[name].at(wide, key, v)
        for layout in ("dense", "transposed"):
            a, _ = arrange(x.astype(np.float32), layout)
            a = a.astype(getattr(mx, dtype))
            value, k = mx.array(v).astype(a.dtype), ours(key)
            if name == "=":
                a[k] = value
            else:
                a = getattr(a.at[k], name)(value)
            got = np.array(a.astype(mx.float32))
            np.testing.assert_array_equal(got, to_half(wide, dtype))


def to_half(x, dtype):
    return np.array(mx.array(x.astype(np.float32)).astype(getattr(mx, dtype)).astype(mx.float32))


def test_shapeless_functions_follow_the_sizes():
    def f(x, v, i):
        y = x * 1
        y[i] = v
        return x[i], x[:, i % 2], x.at[i].add(1.0), y, mx.grad(lambda x: (x[i] ** 2).sum())(x)

    g = mx.compile(f, shapeless=True)
    for n, count in ((3, 2), (5, 4), (2, 1)):
        x, v = mx.array(sample((n, 2), "float32")), mx.array(sample((count, 2), "float32", "v"))
        i = mx.arange(count) % n
        for got, want in zip(g(x, v, i), f(x, v, i)):
            np.testing.assert_array_equal(np.array(got), np.array(want))
    # What has no elements cannot be indexed, in a replay neither.
    for h in (lambda x, i: x[i], lambda x, i: mx.take_along_axis(x, i[:, None], 0)):
        k = mx.compile(h, shapeless=True)
        k(mx.ones((3, 1)), mx.array([0, 1]))
        with pytest.raises(ValueError, match="empty axis"):
            k(mx.ones((0, 1)), mx.array([0, 1]))
