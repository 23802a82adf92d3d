"""The shape family against NumPy, over dtypes, layouts and random shapes; its derivatives and errors."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import LAYOUTS, arrange, sample
from table import DTYPES, to_mx, to_numpy

BASE = (4, 3, 6)


def np_unflatten(x, axis, shape):
    return x.reshape(x.shape[:axis] + shape + x.shape[axis + 1 :])


# name -> (ours, NumPy's, differentiable); each takes an array of shape BASE.
CASES = {
    "reshape": (lambda x: mx.reshape(x, (6, -1, 2)), lambda x: x.reshape(6, -1, 2)),
    "reshape_method": (lambda x: x.reshape(3, 24), lambda x: x.reshape(3, 24)),
    "reshape_view": (lambda x: x.reshape(2, 2, 3, 6), lambda x: x.reshape(2, 2, 3, 6)),
    "flatten": (lambda x: mx.flatten(x, 1), lambda x: x.reshape(4, 18)),
    "unflatten": (lambda x: mx.unflatten(x, 2, (2, -1)), lambda x: np_unflatten(x, 2, (2, 3))),
    "squeeze": (lambda x: mx.squeeze(x[:, :1], 1), lambda x: x[:, 0]),
    "expand_dims": (lambda x: mx.expand_dims(x, (0, -1)), lambda x: x[None, ..., None]),
    "transpose": (lambda x: mx.transpose(x), lambda x: x.T),
    "permute_dims": (lambda x: mx.permute_dims(x, (1, 2, 0)), lambda x: x.transpose(1, 2, 0)),
    "matrix_transpose": (lambda x: mx.matrix_transpose(x), lambda x: x.swapaxes(-1, -2)),
    "swapaxes": (lambda x: mx.swapaxes(x, 0, -1), lambda x: x.swapaxes(0, -1)),
    "moveaxis": (lambda x: mx.moveaxis(x, 0, 1), lambda x: np.moveaxis(x, 0, 1)),
    "broadcast_to": (
        lambda x: mx.broadcast_to(x, (2, *BASE)),
        lambda x: np.broadcast_to(x, (2, *BASE)),
    ),
    "slice": (lambda x: x[1:, ::-1, 4:0:-2], lambda x: x[1:, ::-1, 4:0:-2]),
    "concatenate": (
        lambda x: mx.concatenate([x, x[:, :2], x], axis=1),
        lambda x: np.concatenate([x, x[:, :2], x], axis=1),
    ),
    "stack": (lambda x: mx.stack([x, x[::-1]], -1), lambda x: np.stack([x, x[::-1]], -1)),
    "split": (lambda x: mx.split(x, 3, 2)[1], lambda x: np.split(x, 3, 2)[1]),
    "split_at": (lambda x: x.split([1, -2], 2)[1], lambda x: np.split(x, [1, -2], 2)[1]),
    "unstack": (lambda x: mx.unstack(x, axis=1)[2], lambda x: x[:, 2]),
    "pad": (
        lambda x: mx.pad(x, [(1, 0), (0, 2), (3, 1)], constant_values=7),
        lambda x: np.pad(x, [(1, 0), (0, 2), (3, 1)], constant_values=7),
    ),
    "pad_edge": (lambda x: mx.pad(x, 2, mode="edge"), lambda x: np.pad(x, 2, mode="edge")),
    "pad_reflect": (
        lambda x: mx.pad(x, (5, 4), mode="reflect"),
        lambda x: np.pad(x, (5, 4), mode="reflect"),
    ),
    "pad_symmetric": (
        lambda x: mx.pad(x, (1, 7), mode="symmetric"),
        lambda x: np.pad(x, (1, 7), mode="symmetric"),
    ),
    "flip": (lambda x: mx.flip(x, (0, 2)), lambda x: np.flip(x, (0, 2))),
    "tile": (lambda x: mx.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3))),
    "tile_more": (lambda x: mx.tile(x, (2, 1, 1, 2)), lambda x: np.tile(x, (2, 1, 1, 2))),
    "repeat": (lambda x: mx.repeat(x, 3, 1), lambda x: np.repeat(x, 3, 1)),
    "repeat_flat": (lambda x: mx.repeat(x, 2), lambda x: np.repeat(x, 2)),
    "roll": (lambda x: mx.roll(x, (1, -8), (0, 2)), lambda x: np.roll(x, (1, -8), (0, 2))),
    "roll_flat": (lambda x: mx.roll(x, 5), lambda x: np.roll(x, 5)),
    "contiguous": (lambda x: mx.contiguous(x.T), lambda x: x.T),
    "atleast_3d": (lambda x: mx.atleast_3d(x[0]), lambda x: np.atleast_3d(x[0])),
    "as_strided": (
        lambda x: mx.as_strided(x, (3, 4), (2, -1), 8),
        lambda x: np.lib.stride_tricks.as_strided(
            np.ascontiguousarray(x).reshape(-1)[8:], (3, 4), (2 * x.itemsize, -x.itemsize)
        ),
    ),
    "diagonal": (lambda x: mx.diagonal(x, -1, 2, 0), lambda x: np.diagonal(x, -1, 2, 0)),
    "tril": (lambda x: mx.tril(x, 1), lambda x: np.tril(x, 1)),
    "triu": (lambda x: mx.triu(x, -1), lambda x: np.triu(x, -1)),
    "diag": (lambda x: mx.diag(x[0, 0], 2), lambda x: np.diag(x[0, 0], 2)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CASES)
def test_values(name, layout):
    ours, theirs = CASES[name]
    for dtype in DTYPES:
        x, expected = arrange(sample(BASE, dtype, name), layout)
        got = ours(x)
        assert got.dtype == x.dtype, dtype
        np.testing.assert_array_equal(to_numpy(got), theirs(expected), err_msg=dtype)


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    """Shape ops are linear maps: both derivatives are their matrix, which NumPy's version gives."""
    ours, theirs = CASES[name]
    f = (lambda x: ours(x) - 7 * (ours(x) == 7)) if name == "pad" else ours
    n = int(np.prod(BASE))
    zero = theirs(np.zeros(BASE))
    jacobian = np.stack([(theirs(e.reshape(BASE)) - zero).ravel() for e in np.eye(n)], axis=1)
    x, t = to_mx(sample(BASE, "float32", name)), sample(BASE, "float32", name, "tangent")
    g = sample(zero.shape, "float32", name, "cotangent")
    _, (forward,) = mx.jvp(f, [x], [to_mx(t)])
    np.testing.assert_allclose(to_numpy(forward).ravel(), jacobian @ t.ravel(), rtol=1e-6)
    _, (backward,) = mx.vjp(f, [x], [to_mx(g)])
    np.testing.assert_allclose(to_numpy(backward).ravel(), jacobian.T @ g.ravel(), rtol=1e-5)

    # Second order: the derivative of a cubic built on the op.
    def slope(y):
        return mx.vjp(lambda z: ours(z) ** 3, [y], [to_mx(g)])[1][0]

    _, (second,) = mx.jvp(slope, [x], [to_mx(t)])
    y = theirs(to_numpy(x).astype(np.float64)).ravel()
    expected = jacobian.T @ (6 * y * g.ravel() * (jacobian @ t.ravel()))
    np.testing.assert_allclose(to_numpy(second).ravel(), expected, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("name", CASES)
def test_vmap_is_a_loop(name, axis):
    ours, _ = CASES[name]
    shape = list(BASE)
    shape.insert(axis, 5)
    x = to_mx(sample(tuple(shape), "float32", name, axis))
    got = mx.vmap(ours, in_axes=axis)(x)
    expected = mx.stack([ours(lane) for lane in mx.unstack(x, axis=axis)])
    np.testing.assert_array_equal(to_numpy(got), to_numpy(expected))


def test_vmap_of_joins_with_lanes_on_different_axes():
    a, b = mx.arange(12.0).reshape(3, 4), mx.arange(8.0).reshape(4, 2)
    c = mx.array([5.0])
    got = mx.vmap(lambda x, y, z: mx.concatenate([x, y, z]), in_axes=(1, 0, None))(a, b, c)
    expected = np.stack(
        [np.concatenate([np.array(a)[:, i], np.array(b)[i], [5]]) for i in range(4)]
    )
    np.testing.assert_array_equal(np.array(got), expected)
    update = mx.vmap(lambda x, y: mx.pad(x, (1, 1), constant_values=y), in_axes=(1, 0))(a, b[:, 0])
    assert update.shape == (4, 5)


def test_views_take_no_memory():
    x = mx.arange(1 << 18).astype(mx.float32)
    mx.eval(x)
    before = mx.get_active_memory()
    views = [
        x.reshape(512, 512),
        x.reshape(512, 512).T,
        mx.broadcast_to(x, (100, x.size)),
        x[::-2],
        mx.expand_dims(x, 0),
        x.view(mx.int16),
        mx.as_strided(x, (1000, 1000), (1, 1)),
        mx.zeros((1 << 14, 1 << 14)),
        *mx.split(x, 4),
    ]
    mx.eval(views)
    assert mx.get_active_memory() - before < 4096


def test_a_broadcast_value_is_written_to_like_any_other():
    a = mx.zeros((2, 3))
    b = np.asarray(a)
    b[0, 0] = 5
    assert a.tolist() == [[5, 0, 0], [0, 0, 0]] and mx.zeros((2, 3)).tolist() == [[0] * 3] * 2
    c = mx.broadcast_to(mx.array([1, 2]), (2, 2))
    memoryview(c)[1, 1] = 7
    assert c.tolist() == [[1, 2], [1, 7]]
    assert bytes(mx.ones(2, mx.uint8)) == b"\1\1"


SHAPES = st.lists(st.integers(0, 5), min_size=0, max_size=4).map(tuple)


@settings(max_examples=200, deadline=None)
@given(shape=SHAPES, data=st.data())
def test_chains_of_views_equal_numpy(shape, data):
    x = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    a = to_mx(x)
    for _ in range(data.draw(st.integers(1, 5))):
        choice = data.draw(
            st.sampled_from("transpose slice expand squeeze reshape flip repeat".split())
        )
        if choice == "transpose":
            axes = data.draw(st.permutations(range(x.ndim)))
            a, x = mx.transpose(a, axes), x.transpose(axes)
        elif choice == "slice" and x.ndim:
            bound = st.none() | st.integers(-7, 7)
            step = st.none() | st.integers(-3, 3).filter(bool)
            key = tuple(
                slice(data.draw(bound), data.draw(bound), data.draw(step)) for _ in range(x.ndim)
            )
            a, x = a[key], x[key]
        elif choice == "expand":
            axis = data.draw(st.integers(-x.ndim - 1, x.ndim))
            a, x = mx.expand_dims(a, axis), np.expand_dims(x, axis)
        elif choice == "squeeze":
            a, x = mx.squeeze(a), np.squeeze(x)
        elif choice == "reshape":
            shape = data.draw(st.permutations(x.shape))
            a, x = mx.reshape(a, shape), x.reshape(shape)
        elif choice == "flip":
            a, x = mx.flip(a), np.flip(x)
        elif choice == "repeat":
            a, x = mx.broadcast_to(a, (2, *x.shape)), np.broadcast_to(x, (2, *x.shape))
        assert a.shape == x.shape
    np.testing.assert_array_equal(to_numpy(a), x)
    np.testing.assert_array_equal(to_numpy(mx.contiguous(a)), x)


@settings(max_examples=60, deadline=None)
@given(
    side=st.tuples(st.integers(1, 200), st.integers(1, 200)),
    dtype=st.sampled_from(["uint8", "uint16", "uint32", "uint64"]),
    cut=st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
def test_transposed_copies(side, dtype, cut):
    x = np.arange(side[0] * side[1]).reshape(side).astype(dtype)
    a = mx.contiguous(to_mx(x)[cut[0] :, cut[1] :].T)
    np.testing.assert_array_equal(to_numpy(a), x[cut[0] :, cut[1] :].T)


def test_zero_dimensional_and_empty():
    s, e = mx.array(3), mx.zeros((0, 3))
    assert mx.flatten(s).shape == (1,)
    assert s.reshape(()).shape == () and s.reshape(1, 1).tolist() == [[3]]
    assert mx.transpose(s).shape == () and mx.squeeze(s).shape == ()
    assert mx.expand_dims(s, (0, 1)).shape == (1, 1)
    assert mx.repeat(s, 2).tolist() == [3, 3] and mx.tile(s, (2, 2)).tolist() == [[3, 3], [3, 3]]
    assert mx.broadcast_to(s, (0, 2)).tolist() == []
    assert mx.concatenate([e, mx.ones((2, 3)), e]).shape == (2, 3)
    assert mx.stack([e, e], axis=2).shape == (0, 3, 2)
    assert mx.pad(e, (1, 1)).tolist() == [[0] * 5] * 2
    assert e.T.reshape(3, 0).shape == (3, 0) and e.reshape(-1).shape == (0,)
    assert mx.split(e, 3, axis=1)[2].shape == (0, 1) and mx.split(e, 2)[0].shape == (0, 3)
    assert mx.tile(mx.ones(2), 0).shape == (0,) and mx.repeat(mx.ones(2), 0).shape == (0,)
    assert mx.roll(e, 1).shape == (0, 3) and mx.flip(e).shape == (0, 3)
    assert mx.contiguous(e.T).shape == (3, 0)


def test_view_as_bool_is_true_for_any_byte_but_zero():
    x = mx.array([0, 1, 2, 255], mx.uint8).view(mx.bool_)
    assert x.tolist() == [False, True, True, True]
    assert x.astype(mx.int32).tolist() == [0, 1, 1, 1]
    assert mx.array([0.5]).view(mx.bool_).tolist() == [False, False, False, True]


def test_view_between_element_sizes():
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    for dtype, other in ((mx.uint8, np.uint8), (mx.int16, np.int16), (mx.float64, np.float64)):
        np.testing.assert_array_equal(np.array(to_mx(x).view(dtype)), x.view(other))
        swapped = np.ascontiguousarray(x.swapaxes(0, 1))
        np.testing.assert_array_equal(
            np.array(mx.swapaxes(to_mx(x), 0, 1).view(dtype)), swapped.view(other)
        )
    np.testing.assert_array_equal(
        np.array(to_mx(x)[:, :, 1:3].view(mx.float64)),
        np.ascontiguousarray(x[:, :, 1:3]).view(np.float64),
    )
    assert mx.view(1.0, mx.int32).item() == 0x3F800000
    assert mx.vmap(lambda r: r.view(mx.int16))(to_mx(x)).shape == (2, 3, 8)


def test_broadcast_helpers():
    assert mx.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    assert mx.broadcast_shapes((0, 1), (1, 4)) == (0, 4)
    a, b = mx.broadcast_arrays(mx.ones((2, 1)), mx.zeros(3))
    assert a.shape == b.shape == (2, 3)
    grids = mx.meshgrid(mx.arange(2), mx.arange(3), mx.arange(4))
    for ours, theirs in zip(grids, np.meshgrid(np.arange(2), np.arange(3), np.arange(4))):
        np.testing.assert_array_equal(np.array(ours), theirs)
    sparse = mx.meshgrid(mx.arange(2), mx.arange(3), sparse=True, indexing="ij")
    assert [g.shape for g in sparse] == [(2, 1), (1, 3)]


def test_joins_promote():
    a = mx.concatenate([mx.ones(2, mx.int8), mx.ones(1, mx.float16)])
    assert a.dtype == mx.float16 and a.tolist() == [1, 1, 1]
    assert mx.stack([mx.array(True), mx.array(2)]).tolist() == [1, 2]
    assert mx.concatenate([mx.ones((2, 2)), mx.zeros(1)], axis=None).tolist() == [1, 1, 1, 1, 0]


def test_stop_gradient():
    def f(x):
        return x * mx.stop_gradient(x)

    x, one = mx.array([2.0, 3.0]), mx.array([1.0, 1.0])
    assert mx.vjp(f, [x], [one])[1][0].tolist() == [2, 3]
    assert mx.jvp(f, [x], [one])[1][0].tolist() == [2, 3]


ERRORS = [
    (lambda x: mx.reshape(x, (-1, -1)), ValueError, r"\[reshape\]"),
    (lambda x: mx.reshape(x, (5, -1)), ValueError, r"\[reshape\].*\(2, 3\).*\(5, -1\)"),
    (lambda x: mx.reshape(x, (2, 2)), ValueError, r"\[reshape\]"),
    (lambda x: mx.reshape(mx.zeros((0, 2)), (0, -1)), ValueError, r"\[reshape\]"),
    (lambda x: mx.reshape(x, (2, 2.0)), TypeError, "reshape"),
    (lambda x: mx.reshape(x, 6), TypeError, "reshape"),
    (lambda x: x.reshape("a"), TypeError, "reshape"),
    (lambda x: mx.flatten(x, 1, 0), ValueError, r"\[flatten\]"),
    (lambda x: mx.unflatten(x, 0, ()), ValueError, r"\[unflatten\]"),
    (lambda x: mx.unflatten(x, 1, (2, -1)), ValueError, r"\[unflatten\]"),
    (lambda x: mx.unflatten(x, 4, (2, -1)), IndexError, r"\[unflatten\] axis 4"),
    (lambda x: mx.squeeze(x, 0), ValueError, r"\[squeeze\].*\(2, 3\)"),
    (lambda x: mx.squeeze(x[:1], (0, -2)), ValueError, r"\[squeeze\]"),
    (lambda x: mx.expand_dims(x, 3), IndexError, r"\[expand_dims\]"),
    (lambda x: mx.expand_dims(x, (0, 0)), ValueError, r"\[expand_dims\]"),
    (lambda x: mx.transpose(x, (0,)), ValueError, r"\[transpose\]"),
    (lambda x: mx.transpose(x, (0, 0)), ValueError, r"\[transpose\]"),
    (lambda x: mx.transpose(x, (0, 2)), IndexError, r"\[transpose\]"),
    (lambda x: mx.matrix_transpose(x[0]), ValueError, r"\[matrix_transpose\]"),
    (lambda x: mx.swapaxes(x, 0, 2), mx.AxisError, r"\[swapaxes\] axis 2"),
    (lambda x: mx.moveaxis(x, -3, 0), mx.AxisError, r"\[moveaxis\] axis -3"),
    (lambda x: mx.broadcast_to(x, (3,)), ValueError, r"\[broadcast_to\].*\(2, 3\).*\(3,\)"),
    (lambda x: mx.broadcast_to(x, (-1, 2, 3)), ValueError, r"\[broadcast_to\]"),
    (lambda x: mx.broadcast_shapes(), ValueError, r"\[broadcast_shapes\]"),
    (lambda x: mx.broadcast_shapes((2,), (3,)), ValueError, r"\[broadcast_shapes\]"),
    (lambda x: mx.concatenate([]), ValueError, r"\[concatenate\]"),
    (lambda x: mx.concatenate([x, x[0]]), ValueError, r"\[concatenate\]"),
    (lambda x: mx.concatenate([x, x], axis=2), IndexError, r"\[concatenate\]"),
    (lambda x: mx.concatenate([mx.array(1), mx.array(2)]), IndexError, r"\[concatenate\]"),
    (lambda x: mx.stack([x, x.T]), ValueError, r"\[stack\]"),
    (lambda x: mx.split(x, 4, 1), ValueError, r"\[split\]"),
    (lambda x: mx.split(x, 0), ValueError, r"\[split\]"),
    (lambda x: mx.repeat(x, -1), ValueError, r"\[repeat\]"),
    (lambda x: mx.repeat(x, 2**62), OverflowError, r"\[repeat\]"),
    (lambda x: mx.tile(x, (-1,)), ValueError, r"\[tile\]"),
    (lambda x: mx.roll(x, (1, 2, 3), (0, 1)), ValueError, r"\[roll\]"),
    (lambda x: mx.pad(x, -1), ValueError, r"\[pad\]"),
    (lambda x: mx.pad(x, [(1, 1)] * 3), ValueError, r"\[pad\]"),
    (lambda x: mx.pad(x, 1, mode="wrap"), ValueError, r"\[pad\].*wrap"),
    (lambda x: mx.pad(mx.zeros((0, 2)), 1, mode="reflect"), ValueError, r"\[pad\]"),
    (lambda x: mx.as_strided(x, (7,)), ValueError, r"\[as_strided\]"),
    (lambda x: mx.as_strided(x, (2,), (-1,)), ValueError, r"\[as_strided\]"),
    (lambda x: mx.as_strided(x, (2, 2), (1,)), ValueError, r"\[as_strided\]"),
    (lambda x: mx.view(x, mx.float64), ValueError, r"\[view\]"),
    (lambda x: mx.view(mx.array(1.0), mx.int8), ValueError, r"\[view\]"),
    (lambda x: mx.meshgrid(x[0], indexing="no"), ValueError, r"\[meshgrid\]"),
    (lambda x: mx.flip(x, 2), mx.AxisError, r"\[flip\]"),
]


@pytest.mark.parametrize("call, error, text", ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(mx.ones((2, 3)))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (1, 1), ()])
@pytest.mark.parametrize("shift", [0, 1, -2, 7, -100, (1, 2), (3, -1)])
def test_roll_arguments(shift, axis):
    x = np.arange(12.0).reshape(3, 4)
    if axis == () or (axis is None and isinstance(shift, tuple)):
        axis = None
    want = np.roll(x, sum(shift) if axis is None and isinstance(shift, tuple) else shift, axis)
    np.testing.assert_array_equal(np.array(mx.roll(mx.array(x), shift, axis)), want)


def test_meshgrid_arguments():
    x, y, z = np.arange(3), np.linspace(0, 1, 4), np.array(5)
    for arrays in ((x,), (x, y), (y, x, x), (x, z)):
        for indexing in ("xy", "ij"):
            for sparse in (False, True):
                got = mx.meshgrid(*map(mx.array, arrays), sparse=sparse, indexing=indexing)
                want = np.meshgrid(*arrays, sparse=sparse, indexing=indexing)
                assert isinstance(got, tuple) and len(got) == len(arrays)
                for a, b, source in zip(got, want, arrays):
                    assert a.shape == b.shape and a.dtype == mx.array(source).dtype
                    np.testing.assert_allclose(np.array(a), b, rtol=1e-6)
    assert mx.meshgrid() == ()
    with pytest.raises(ValueError, match=r"\[meshgrid\]"):
        mx.meshgrid(mx.array(x), indexing="yx")


def test_as_strided_reads_the_flattened_copy():
    x = np.arange(24).reshape(2, 3, 4)
    a = mx.array(x)
    assert mx.as_strided(a).tolist() == x.tolist()
    assert mx.as_strided(a, (2, 3)).tolist() == np.arange(6).reshape(2, 3).tolist()
    assert mx.as_strided(a.T, (4,), (1,)).tolist() == x.T.ravel()[:4].tolist()
    assert mx.as_strided(a, (3,), (-2,), 9).tolist() == [9, 7, 5]
    assert mx.as_strided(a, (2, 2), (0, 1), offset=3).tolist() == [[3, 4], [3, 4]]
    g = mx.grad(lambda v: mx.as_strided(v, (3, 2), (1, 1)).sum())(mx.zeros((5,)))
    assert g.tolist() == [1, 2, 2, 1, 0]
    for shape, strides, offset in (
        ((25,), (1,), 0),
        ((2,), (1,), 23),
        ((2,), (-1,), 0),
        ((1,), (1,), -1),
    ):
        with pytest.raises(ValueError, match=r"\[as_strided\]"):
            mx.as_strided(a, shape, strides, offset)


def test_flatten_and_unflatten_arguments():
    x = mx.zeros((2, 3, 4))
    for args, shape in (
        ((), (24,)),
        ((1,), (2, 12)),
        ((0, 1), (6, 4)),
        ((-2, -1), (2, 12)),
        ((0, 9), (24,)),
        ((-9,), (24,)),
        ((1, 1), (2, 3, 4)),
    ):
        assert mx.flatten(x, *args).shape == shape
    for args in ((), (0, 0), (1,), (-3, 5)):
        assert mx.flatten(mx.array(5), *args).tolist() == [5]
    for args in ((2, 1), (5,)):
        with pytest.raises(ValueError, match=r"\[flatten\]"):
            mx.flatten(x, *args)
    assert mx.unflatten(x, -1, (2, -1)).shape == (2, 3, 2, 2)
    assert mx.unflatten(x, 0, [1, 2, 1]).shape == (1, 2, 1, 3, 4)
    assert mx.unflatten(mx.zeros((0, 2)), 0, (-1, 5)).shape == (0, 5, 2)
    for axis, shape, error in (
        (1, (2, 2), ValueError),
        (1, (-1, -1), ValueError),
        (3, (2,), IndexError),
    ):
        with pytest.raises(error, match=r"\[unflatten\]"):
            mx.unflatten(x, axis, shape)
