"""Sorts and searches against NumPy's stable sort of ranks, in which NaN is last and zeros are equal."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import LAYOUTS, arrange, sample
from table import DTYPES, generator, kind_of, numpy_dtype, to_mx, to_numpy

NAN, INF = float("nan"), float("inf")
FLOATS = ("float16", "bfloat16", "float32", "float64")
# Around the sizes at which implementations change their method.
SIZES = (1, 2, 3, 15, 16, 17, 31, 33, 64, 100, 127, 128, 129, 255, 256, 257, 300, 513, 1000, 5000)


def ranks(x: np.ndarray) -> np.ndarray:
    """Keys with the order of our sorts: equal for NaNs, which are last, and for both zeros."""
    if x.dtype.kind == "c":
        re, im = ranks(x.real), ranks(x.imag)
        nan = np.isnan(x)
        keys = np.where(nan, INF, re * (2.0 * x.size + 2) + im)
        return np.unique(keys, return_inverse=True)[1].reshape(x.shape).astype(np.float64)
    if x.dtype.kind not in "biu":
        x = x.astype(np.float64) + 0.0  # -0 + 0 = 0
        x = np.where(np.isnan(x), NAN, x)
    order = np.unique(x, return_inverse=True)[1].reshape(x.shape)
    return order.astype(np.float64)


def argsort(x, axis=-1):
    return np.argsort(ranks(x), axis=axis, kind="stable")


def assert_same(got: mx.array, want: np.ndarray):
    got = to_numpy(got)
    assert got.dtype == want.dtype and got.shape == want.shape
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


def special(dtype: str, n: int, *key) -> np.ndarray:
    """Values with many equal ones, zeros of both signs, infinities, NaNs, extremes."""
    rng, t = generator("special", dtype, n, *key), numpy_dtype(dtype)
    kind = kind_of(dtype)
    if kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if kind in "iu":
        info = np.iinfo(t)
        pool = np.array([info.min, info.max, 0, 1, info.max // 2, info.max - 1], dtype=t)
        wide = rng.integers(info.min, info.max, n, dtype=t, endpoint=True)
        return np.where(rng.random(n) < 0.5, pool[rng.integers(0, len(pool), n)], wide)
    pool = np.array([0.0, -0.0, INF, -INF, NAN, 1, -1, 1.5, 3e-7]).astype(t)
    if kind == "c":
        parts = np.stack([pool.real[rng.integers(0, len(pool), n)] for _ in range(2)], -1)
        return np.ascontiguousarray(parts).view(np.complex64).reshape(n)
    pool = np.concatenate([pool, -pool[4:5]])  # a NaN of the other sign
    return np.where(
        rng.random(n) < 0.5, pool[rng.integers(0, len(pool), n)], rng.normal(size=n).astype(t)
    )


def check_all(a: mx.array, x: np.ndarray, axis: int):
    """Every sort of one array along an axis."""
    n = x.shape[axis]
    order = argsort(x, axis)
    want = np.take_along_axis(x, order, axis)
    assert_same(mx.argsort(a, axis), order.astype(np.uint32))
    assert_same(mx.sort(a, axis), want)
    for k in {0, n // 3, n - 1}:
        check_partition(a, x, order, k, axis)
    for k in {1, n // 4, n - 1}:
        if 0 < k < n:
            assert_same(mx.topk(a, k, axis), np.take(want, range(n - k, n), axis))


def check_partition(a, x, order, k, axis):
    got = to_numpy(mx.argpartition(a, k, axis)).astype(np.int64)
    n = x.shape[axis]
    at = lambda x, i: np.take(x, i, axis)
    assert (at(got, k) == at(order, k)).all()
    for part in (range(k), range(k + 1, n)):
        assert (np.sort(at(got, part), axis) == np.sort(at(order, part), axis)).all()
    assert_same(mx.partition(a, k, axis), np.take_along_axis(x, got, axis))
    assert_same(mx.argpartition(a, k - n, axis), got.astype(np.uint32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sizes(dtype):
    for n in SIZES:
        x = special(dtype, n)
        check_all(to_mx(x), x, -1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(dtype, layout):
    a, x = arrange(sample((5, 37, 18), dtype), layout)
    for axis in range(-3, 3):
        check_all(a, x, axis)
    a, x = arrange(sample((300, 21), dtype), layout)
    check_all(a, x, 0)
    assert_same(mx.sort(a, None), np.take(x.ravel(), argsort(x.ravel())))
    assert_same(mx.argsort(a, axis=None), argsort(x.ravel()).astype(np.uint32))


PATTERNS = {
    "sorted": lambda rng, n: np.arange(n) - n // 2,
    "reversed": lambda rng, n: np.arange(n)[::-1],
    "equal": lambda rng, n: np.full(n, 7),
    "two": lambda rng, n: rng.integers(0, 2, n),
    "few": lambda rng, n: rng.integers(-3, 4, n),
    "organ": lambda rng, n: np.minimum(np.arange(n), np.arange(n)[::-1]),
    "sawtooth": lambda rng, n: np.arange(n) % 1000,
    "one out of place": lambda rng, n: np.roll(np.arange(n), 1),
    "random": lambda rng, n: rng.integers(-(2**31), 2**31, n),
}


@pytest.mark.parametrize("dtype", ["int32", "float32", "int64", "float64", "float16", "uint8"])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("n", [4000, 150_000])
def test_patterns(dtype, pattern, n):
    x = PATTERNS[pattern](generator(pattern), n)
    with np.errstate(over="ignore"):
        x = x.astype(numpy_dtype(dtype))
    a = to_mx(x)
    order = np.argsort(x, kind="stable")
    assert_same(mx.sort(a), x[order])
    assert_same(mx.argsort(a), order.astype(np.uint32))
    check_partition(a, x, order, n // 2, 0)
    assert_same(mx.topk(a, 1000), x[order][-1000:])


def test_low_halves_decide():
    """64-bit values that agree in their high halves."""
    rng = generator("low")
    x = rng.integers(0, 3, 3000) * 2**40 + rng.integers(-(2**31), 2**31, 3000)
    check_all(mx.array(x), x, 0)
    x = 1 + rng.integers(0, 2**30, 3000) * 2.0**-52
    check_all(mx.array(x.astype(np.float64), mx.float64), x, 0)


def test_nans_and_zeros():
    x = np.array([NAN, 0.0, -0.0, -NAN, INF, 0.0, -0.0, -INF, NAN], dtype=np.float32)
    x.view(np.uint32)[0] = 0x7FC12345
    check_all(mx.array(x), x, 0)
    z = np.array([1j, complex(NAN, 0), complex(0, NAN), -1j, 1 - 1j, complex(-0.0, 2), 0, -1])
    z = z.astype(np.complex64)
    check_all(mx.array(z), z, 0)
    assert mx.topk(mx.array([1.0, NAN, INF]), 1).tolist()[0] != INF


def test_empty_and_scalar():
    for f in (mx.sort, mx.argsort):
        assert f(mx.zeros((0,))).shape == (0,)
        assert f(mx.zeros((3, 0))).shape == (3, 0)
        assert f(mx.zeros((0, 3))).shape == (0, 3)
        assert f(mx.array(3), axis=None).shape == (1,)
        with pytest.raises(mx.AxisError, match="sort"):
            f(mx.array(3))
    assert mx.partition(mx.zeros((0, 3)), 1).shape == (0, 3)
    assert mx.topk(mx.zeros((2, 3)), 0).shape == (2, 0)
    assert mx.topk(mx.zeros((2, 3)), 0, axis=0).shape == (0, 3)
    assert mx.topk(mx.array(4), 1, axis=None).tolist() == [4]
    assert mx.topk(mx.array([5, 1, 4]), 3).tolist() == [5, 1, 4]


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda a: mx.sort(a, 2), IndexError, r"\[sort\] axis 2"),
        (lambda a: mx.argsort(a, -3), mx.AxisError, r"\[argsort\] axis -3"),
        (lambda a: mx.partition(a, 3), ValueError, r"\[partition\] kth is 3"),
        (lambda a: mx.partition(a, -4), ValueError, r"\[partition\] kth is -4"),
        (lambda a: mx.argpartition(a, 2, axis=0), ValueError, r"\[argpartition\] kth is 2"),
        (lambda a: mx.argpartition(a, 0, axis=9), ValueError, r"\[argpartition\] axis 9"),
        (lambda a: mx.partition(mx.zeros((0,)), 0), ValueError, r"\[partition\].*shape \(0,\)"),
        (lambda a: mx.topk(a, 4), ValueError, r"\[topk\] k is 4"),
        (lambda a: mx.topk(a, -1), ValueError, r"\[topk\] k is -1"),
        (lambda a: mx.topk(mx.array(1), 1), mx.AxisError, r"\[topk\]"),
        (lambda a: mx.median(a, 2), IndexError, r"\[median\] axis 2"),
        (lambda a: mx.median(a, (0, 0)), ValueError, r"\[median\]"),
        (lambda a: mx.median(mx.zeros((0, 3)), 0), ValueError, r"\[median\].*\(0, 3\)"),
        (lambda a: mx.median(mx.zeros((0,))), ValueError, r"\[median\]"),
        (lambda a: mx.searchsorted(a, a), ValueError, r"\[searchsorted\].*\(2, 3\)"),
        (lambda a: mx.searchsorted(a[0], a, "top"), ValueError, r"\[searchsorted\] side is 'top'"),
        (lambda a: mx.unique(a, -1), ValueError, r"\[unique\] size is -1"),
        (lambda a: mx.unique(a, 9, fill_value=a), ValueError, r"\[unique\].*\(2, 3\)"),
        (lambda a: mx.unique(mx.zeros((0,)), 1), ValueError, r"\[unique\].*\(0,\)"),
        (lambda a: mx.argsort(mx.broadcast_to(a[0, :1], (2**32 + 1,))), OverflowError, "argsort"),
        (lambda a: mx.unique(mx.broadcast_to(a[0, :1], (2**31,)), 1), OverflowError, "unique"),
        (lambda a: mx.sort([1]), TypeError, "sort"),
        (lambda a: mx.sort(a, 0.5), TypeError, "sort"),
        (lambda a: mx.topk(a), TypeError, "topk"),
        (lambda a: mx.searchsorted(a[0], 2), TypeError, "searchsorted"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(mx.zeros((2, 3)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_median(dtype, layout):
    a, x = arrange(sample((4, 7, 6), dtype), layout)
    wide = x if kind_of(dtype) == "c" else x.astype(np.float64)
    for axis in (None, 0, 1, 2, -1, (0, 2), (2, 1), (0, 1, 2)):
        for keepdims in (False, True):
            got = mx.median(a, axis=axis, keepdims=keepdims)
            want = np.median(wide, axis=axis, keepdims=keepdims)
            assert got.shape == want.shape
            assert got.dtype == (a.dtype if kind_of(dtype) in "fc" else mx.float32)
            np.testing.assert_allclose(
                to_numpy(got).astype(wide.dtype), want, rtol=4e-3 if got.itemsize < 4 else 1e-6
            )


def test_median_forms():
    assert np.isnan(mx.median(mx.array([1, NAN, 3])).item())
    got = mx.median(mx.array([[1, NAN, 3], [INF, INF, 2], [-INF, 5, 5]]), axis=1).tolist()
    assert np.isnan(got[0]) and got[1:] == [INF, 5]
    assert mx.median(mx.array(3)).item() == 3
    assert mx.median(mx.array([3, 1]), axis=()).tolist() == [3, 1]
    assert mx.median(mx.array([60000, 60000], mx.float16)).item() == 60000
    assert mx.median(mx.zeros((0, 3)), axis=1).shape == (0,)
    x = generator("median").normal(size=(50, 1001)).astype(np.float32)
    np.testing.assert_allclose(np.array(mx.median(mx.array(x), axis=1)), np.median(x, 1))
    np.testing.assert_allclose(np.array(mx.median(mx.array(x), axis=0)), np.median(x, 0), rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(dtype, side):
    x, v = special(dtype, 200, "sequence"), special(dtype, 300, "values")
    both = ranks(np.concatenate([x, v]))
    of_x, of_v = np.sort(both[:200]), both[200:]
    x = x[np.argsort(both[:200], kind="stable")]
    want = np.searchsorted(of_x, of_v, side).astype(np.uint32)
    assert_same(mx.searchsorted(to_mx(x), to_mx(v), side), want)
    doubled = to_mx(np.repeat(x, 2))[::2]
    assert_same(mx.searchsorted(doubled, to_mx(v[::-1].copy())[::-1], side=side), want)
    grid = to_mx(v.reshape(15, 20).T.copy()).T
    assert_same(mx.searchsorted(to_mx(x), grid, side), want.reshape(15, 20))
    for n in range(6):
        want = np.searchsorted(of_x[:n], of_v, side).astype(np.uint32)
        assert_same(mx.searchsorted(to_mx(x[:n]), to_mx(v), side), want)


def test_shapes_are_checked_anew_in_every_replay():
    checked = {
        "median": (lambda x: mx.median(x), 0),
        "partition": (lambda x: mx.partition(x, 3), 3),
        "topk": (lambda x: mx.topk(x, 4), 3),
    }
    for name, (f, n) in checked.items():
        replayed = mx.compile(f, shapeless=True)
        for size in (9, 5, 200):
            x = mx.array(generator(name, size).normal(size=size).astype(np.float32))
            assert replayed(x).tolist() == f(x).tolist()
        with pytest.raises(ValueError, match=rf"\[{name}\]"):
            mx.eval(replayed(mx.zeros(n)))


def test_searchsorted_promotes():
    a = mx.array([1, 2, 3])
    assert mx.searchsorted(a, mx.array([0.5, 1.5, 2.0, NAN])).tolist() == [0, 1, 1, 3]
    assert mx.searchsorted(mx.array([]), mx.array(2.5)).item() == 0
    assert mx.searchsorted(a, mx.zeros((2, 0))).shape == (2, 0)
    values = mx.array([[0, 2], [5, 3], [1, 1]])
    lanes = mx.vmap(lambda v: mx.searchsorted(a, v), in_axes=1, out_axes=1)(values)
    assert lanes.tolist() == [[0, 1], [3, 2], [0, 0]]
    rows = mx.array([[1, 2, 3], [4, 5, 6], [0, 0, 9]])
    got = mx.vmap(mx.searchsorted)(rows, values)
    assert got.tolist() == [[0, 1], [1, 0], [2, 2]]
    got = mx.vmap(mx.searchsorted, in_axes=(1, None))(rows.T, values)
    assert got.shape == (3, 3, 2) and got[1].tolist() == [[0, 0], [1, 0], [0, 0]]
    got = mx.vmap(mx.vmap(mx.searchsorted, in_axes=(None, 0)), in_axes=(0, None))(rows, values)
    assert got.shape == (3, 3, 2) and got[1].tolist() == [[0, 0], [1, 0], [0, 0]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 7, 100, 3000])
def test_unique(dtype, n):
    x = special(dtype, n)
    keys = ranks(x)
    nan = np.isnan(x) if kind_of(dtype) in "fc" else np.zeros(n, bool)
    keys = np.where(nan, len(x) + np.arange(n), keys)  # every NaN is distinct
    _, index, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    found = len(index)
    for size in (0, 1, found, found + 3, max(found - 2, 0)):
        m = min(size, found)
        first = np.concatenate([index[:m], np.full(size - m, index[0])]).astype(np.uint32)
        got = mx.unique(to_mx(x), size, True, True, True)
        assert_same(got[0], x[first])
        assert_same(got[1], first)
        assert_same(got[2], np.minimum(inverse.reshape(n), max(size - 1, 0)).astype(np.uint32))
        want = np.concatenate([counts[:m], np.zeros(size - m)]).astype(np.int32)
        assert_same(got[3], want)
        filled = mx.unique(to_mx(x), size, fill_value=1)
        assert_same(filled, np.concatenate([x[index[:m]], np.ones(size - m, x.dtype)]))


def test_unique_forms():
    a = mx.array([[3, 1], [3, 2]])
    values, inverse = mx.unique(a, size=3, return_inverse=True)
    assert values.tolist() == [1, 2, 3] and inverse.tolist() == [[2, 0], [2, 1]]
    assert mx.unique(a.T, size=5, fill_value=-1).tolist() == [1, 2, 3, -1, -1]
    assert mx.unique(a, size=4, fill_value=mx.array([2.7])).tolist() == [1, 2, 3, 2]
    assert mx.unique(mx.array(3), size=2).tolist() == [3, 3]
    assert mx.unique(mx.zeros((0, 2)), 0).tolist() == []
    got = mx.unique(mx.zeros((2, 0)), 2, True, True, True, fill_value=7)
    assert [g.tolist() for g in got] == [[7, 7], [0, 0], [[], []], [0, 0]]
    lanes = mx.vmap(lambda x: mx.unique(x, size=2), in_axes=1)(mx.array([[1, 3], [2, 3], [1, 0]]))
    assert lanes.tolist() == [[1, 2], [0, 3]]


FUNCTIONS = {
    "sort": lambda x, axis: mx.sort(x, axis),
    "partition": lambda x, axis: mx.partition(x, 2, axis),
    "topk": lambda x, axis: mx.topk(x, 3, axis),
    "topk all": lambda x, axis: mx.topk(x, x.shape[axis], axis),
    "median": lambda x, axis: mx.median(x, axis),
    "median keepdims": lambda x, axis: mx.median(x, axis, keepdims=True),
    "unique": lambda x, axis: mx.unique(x, 7) if axis else mx.unique(x.T, 9),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(5, 6), (4, 150), (150, 4)])
def test_gradients(name, axis, shape):
    """Functions that pick elements are linear where no two are equal."""
    rng = generator(name, axis, *shape)
    x = rng.permutation(np.arange(np.prod(shape))).reshape(shape).astype(np.float32) / 16 - 5

    def f(x):
        return FUNCTIONS[name](x, axis)

    y = np.array(f(mx.array(x)), dtype=np.float64)
    t = rng.normal(size=shape).astype(np.float32)
    g = rng.normal(size=y.shape).astype(np.float32)
    _, (forward,) = mx.jvp(f, [mx.array(x)], [mx.array(t)])
    step = 1e-3  # below the distance of the elements
    near = [
        np.array(f(mx.array((x + d * t).astype(np.float32))), np.float64) for d in (step, -step)
    ]
    slope = (near[0] - near[1]) / (2 * step)
    np.testing.assert_allclose(np.array(forward), slope, rtol=2e-2, atol=2e-2)
    _, (backward,) = mx.vjp(f, [mx.array(x)], [mx.array(g)])
    np.testing.assert_allclose(
        np.sum(np.array(backward) * t), np.sum(g * np.array(forward)), rtol=1e-4, atol=1e-4
    )

    def second(x):
        return mx.vjp(lambda z: f(z) ** 3, [x], [mx.array(g)])[1][0]

    # f is linear here: the Hessian of sum(g f^3) applied to t is the pullback of 6 g f df.
    _, (got,) = mx.jvp(second, [mx.array(x)], [mx.array(t)])
    want = mx.vjp(f, [mx.array(x)], [mx.array((6 * g * y * np.array(forward)).astype(np.float32))])
    np.testing.assert_allclose(np.array(got), np.array(want[1][0]), rtol=1e-4, atol=1e-3)
    back = mx.grad(lambda x: (mx.grad(lambda z: (f(z) ** 3).sum())(x) * mx.array(t)).sum())
    want = mx.vjp(f, [mx.array(x)], [mx.array((6 * y * np.array(forward)).astype(np.float32))])
    np.testing.assert_allclose(
        np.array(back(mx.array(x))), np.array(want[1][0]), rtol=1e-4, atol=1e-3
    )


def test_gradients_of_positions():
    x = mx.array([3.0, 1.0, 2.0])
    for f in (mx.argsort, lambda x: mx.argpartition(x, 1), lambda x: mx.searchsorted(x, x)):
        assert mx.grad(lambda x: (f(x) * x).sum())(x).tolist() == f(x).tolist()  # noqa: B023
    taken = mx.grad(lambda x: (x[mx.argsort(x)] * mx.array([1.0, 2.0, 3.0])).sum())(x)
    assert taken.tolist() == [3, 1, 2]
    counts = mx.grad(lambda x: (mx.unique(x, 3, return_counts=True)[1] * x).sum())(x)
    assert counts.tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "unique"])
def test_vmap(name):
    x = generator(name).normal(size=(4, 5, 6)).astype(np.float32)
    for lane in range(3):
        for axis in (0, 1):
            got = mx.vmap(lambda v: FUNCTIONS[name](v, axis), in_axes=lane)(mx.array(x))  # noqa: B023
            want = [FUNCTIONS[name](mx.array(v), axis) for v in np.moveaxis(x, lane, 0)]
            np.testing.assert_array_equal(np.array(got), np.stack([np.array(w) for w in want]))


@st.composite
def arrays(draw):
    """An array of few or many equal values in any layout, and an axis."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=0, max_size=2)))
    n = draw(st.sampled_from([1, 2, 5, 30, 129, 140, 300, 700]))
    axis = draw(st.integers(0, len(shape)))
    shape = shape[:axis] + (n,) + shape[axis:]
    x = special(dtype, int(np.prod(shape)), draw(st.integers(0, 99))).reshape(shape)
    if draw(st.booleans()):
        x = np.ascontiguousarray(np.where(ranks(x) % 5 == 0, x, x.flat[0]))
    a, x = arrange(x, draw(st.sampled_from(LAYOUTS)))
    return a, x, draw(st.sampled_from([axis, axis - x.ndim]))


@settings(max_examples=150, deadline=None)
@given(arrays())
def test_any_array(case):
    check_all(*case)


@settings(max_examples=100, deadline=None)
@given(arrays(), st.sampled_from(["left", "right"]))
def test_any_search(case, side):
    a, x, _ = case
    line = x.ravel()[: 1 + x.size // 2]
    line = line[np.argsort(ranks(line), kind="stable")]
    both = ranks(np.concatenate([line, x.ravel()]))
    want = np.searchsorted(both[: line.size], both[line.size :], side).astype(np.uint32)
    assert_same(mx.searchsorted(to_mx(line), a, side), want.reshape(x.shape))
