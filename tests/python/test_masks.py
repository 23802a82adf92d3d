"""Boolean masks in keys, nonzero and argwhere against NumPy."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest
from layouts import LAYOUTS, arrange, sample
from table import DTYPES, generator, to_mx, to_numpy

SHAPE = (3, 4, 5)


def mask_of(shape, seed=0, share=0.5):
    return generator("mask", shape, seed).random(shape) < share


ROWS, PLANE, ALL = mask_of(3, 1), mask_of((3, 4)), mask_of(SHAPE)
KEYS = [
    ALL,
    PLANE,
    ROWS,
    np.zeros(SHAPE, bool),
    np.ones(3, bool),
    (ROWS,),
    (ROWS, ...),
    (ROWS, slice(None)),
    (ROWS, slice(1, 3)),
    (PLANE, 2),
    (PLANE, slice(None, None, -2)),
    (..., mask_of(5)),
    (slice(None), mask_of((4, 5))),
    (slice(None), mask_of(4, 3), None, slice(2)),
    (0, slice(None), mask_of(5)),
    (mask_of(3, 2, 0.99), [0]),
    (np.array([True, False, True]), slice(None), np.array([1, -1])),
    (np.array([True, False, True]), np.array([False, True, True, False])),
    True,
    False,
    np.True_,
    np.array(False),
    (True, 0),
    (0, True, 1),
    (..., True),
    (slice(None), True, [0, 1]),
    (True, slice(None), [0, 1, 1]),
    (False, slice(None), [1]),
    (None, False),
    [True, False, True],
    [[True, False, True, False]] * 3,
    [],
    [[]],
    ([0], []),
    [[0, 1], [2, -1]],
    ((0, 1), 2),
    ((0, 2),),
]


def ours(key):
    """Masks and indices as our own arrays; bools and lists as they are."""
    if isinstance(key, tuple):
        return tuple(ours(k) for k in key)
    return mx.array(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_reading(key, layout):
    for dtype in ("float32", "bool", "bfloat16", "complex64", "int64"):
        a, x = arrange(sample(SHAPE, dtype), layout)
        for k in (key, ours(key)):
            got = a[k]
            assert got.dtype == a.dtype and got.shape == x[key].shape
            np.testing.assert_array_equal(to_numpy(got), x[key])


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_writing(key, layout):
    a, x = arrange(sample(SHAPE, "float32"), layout)
    x = x.copy()
    values = [np.float32(3)]
    if x[key].size:
        values.append(sample(x[key].shape, "float32", "v"))
    for value in values:
        for k in (key, ours(key)):
            a[k] = mx.array(value)
            x[key] = value
            np.testing.assert_array_equal(np.array(a), x)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_masks(layout):
    m, n = arrange(mask_of((30, 40)), layout)
    x = np.arange(n.size, dtype=np.float32).reshape(n.shape)
    np.testing.assert_array_equal(np.array(mx.array(x)[m]), x[n])
    for got, want in zip(mx.nonzero(m), np.nonzero(n)):
        assert got.dtype == mx.int32
        np.testing.assert_array_equal(np.array(got), want)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("width", [(), (3,), (70,)])
def test_large(share, width):
    m = mask_of((400, 500), share=share)
    for dtype in ("int8", "float16", "float32", "int64"):
        x = sample((400, 500, *width)[: 2 + len(width)], dtype)
        np.testing.assert_array_equal(to_numpy(to_mx(x)[mx.array(m)]), x[m])
        np.testing.assert_array_equal(to_numpy(to_mx(x)[mx.array(m[:, 0])]), x[m[:, 0]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_nonzero(dtype):
    x = sample(SHAPE, dtype)
    x[mask_of(SHAPE, 7)] = 0
    got, want = mx.nonzero(to_mx(x)), np.nonzero(x)
    assert isinstance(got, tuple) and len(got) == 3
    for g, w in zip(got, want):
        assert g.dtype == mx.int32
        np.testing.assert_array_equal(np.array(g), w)
    where = mx.argwhere(to_mx(x))
    np.testing.assert_array_equal(np.array(where), np.argwhere(x))


def test_nonzero_of_special_values():
    assert mx.nonzero(mx.array([0.0, -0.0, mx.nan, mx.inf, 1e-45]))[0].tolist() == [2, 3, 4]
    assert mx.nonzero(mx.zeros((0, 3)))[1].shape == (0,)
    assert mx.argwhere(mx.array(5)).shape == (1, 0) and mx.argwhere(mx.array(0)).shape == (0, 0)
    assert mx.argwhere(mx.zeros((2, 0))).shape == (0, 2)
    with pytest.raises(ValueError, match=r"\[nonzero\] expected .* at least 1"):
        mx.nonzero(mx.array(1))


def test_traces_refuse_sizes_that_depend_on_values():
    x = mx.arange(6.0).reshape(2, 3)
    functions = [
        lambda x: x[x > 2],
        lambda x: x[x[:, 0] > 2, 0],
        lambda x: mx.nonzero(x)[0],
        lambda x: mx.argwhere(x),
        lambda x: x.at[x > 2, None].add(1),
    ]
    for f in functions:
        for transform in (mx.compile, mx.vmap):
            with pytest.raises(ValueError, match=r"use where\(mask, x, y\)"):
                transform(f)(x[None] if transform is mx.vmap else x)
    # A mask that is there does not depend on what is traced.
    m = np.array([[True, False, True], [False, True, True]])
    np.testing.assert_array_equal(mx.compile(lambda x: x[m] * 2)(x), np.array(x)[m] * 2)
    np.testing.assert_array_equal(
        mx.vmap(lambda x: x[mx.array(m[0])] * 2)(x), np.array(x)[:, m[0]] * 2
    )
    np.testing.assert_array_equal(mx.compile(lambda x: x[m[:, 0], 1:])(x), np.array(x)[m[:, 0], 1:])


def test_derivatives_of_reading():
    x = mx.array(sample(SHAPE, "float32"))
    m = mx.array(PLANE)

    def f(x):
        return (x[m] ** 3).sum()

    expected = np.where(PLANE[..., None], np.array(x), 0)
    np.testing.assert_allclose(mx.grad(f)(x), 3 * expected**2, rtol=1e-5)
    second = mx.grad(lambda x: mx.grad(f)(x).sum())(x)
    np.testing.assert_allclose(second, 6 * expected, rtol=1e-5)
    t = mx.array(sample(SHAPE, "float32", "t"))
    _, (tangent,) = mx.jvp(lambda x: x[m] * 2, [x], [t])
    np.testing.assert_array_equal(np.array(tangent), 2 * np.array(t)[PLANE])
    # The mask may depend on what is differentiated: it is a constant.
    g = mx.grad(lambda x: x[x > 0].sum())(x)
    np.testing.assert_array_equal(np.array(g), np.array(x) > 0)
    assert mx.grad(lambda x: x[x > 1e9].sum())(x).abs().sum().item() == 0


def test_vmap_of_reading():
    x = sample((3, 4, 6), "float32")
    m = mask_of((3, 4))
    got = mx.vmap(lambda x: x[mx.array(m)], in_axes=2, out_axes=1)(mx.array(x))
    np.testing.assert_array_equal(np.array(got), x[m])


def test_rows_of_values():
    a = mx.zeros((2, 3))
    a[mx.array([True, True])] = mx.array([[1.0], [2.0]])
    assert a.tolist() == [[1, 1, 1], [2, 2, 2]]


def test_namespace_info():
    d = mx.__array_namespace_info__().capabilities()
    assert d["boolean indexing"] and d["data-dependent shapes"]


def test_a_mask_that_changes_after_it_was_counted():
    memory = np.zeros(1 << 20, bool)
    mask = mx.asarray(memory) if hasattr(mx, "asarray") else mx.array(memory)
    picked = mx.arange(memory.size)[mask]
    memory[:] = True
    try:
        assert picked.tolist() == []
    except RuntimeError as e:
        assert "now has" in str(e)
