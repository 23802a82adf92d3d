"""Random shapes, layouts, axes and arguments: what NumPy gives, or an exception where it raises one.

MLX_PROPERTY_EXAMPLES is the number of examples of each property.
"""

from __future__ import annotations

import math
import os
import warnings

import mlx.core as mx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from table import to_mx, to_numpy

settings.register_profile(
    "mlx", max_examples=int(os.environ.get("MLX_PROPERTY_EXAMPLES", "60")), deadline=None
)
settings.load_profile("mlx")

SHAPES = st.lists(st.integers(0, 5), max_size=4).map(tuple)
AXIS = st.integers(-5, 4)
AXES = st.none() | AXIS | st.lists(AXIS, max_size=3).map(tuple)
REFUSED = (ValueError, IndexError, TypeError, OverflowError)


@st.composite
def arrays(draw, shapes=SHAPES, dtypes=("int32", "float32")):
    """An mx array in one of many layouts, and the NumPy array of its values."""
    shape = draw(shapes)
    seed = draw(st.integers(0, 99))
    x = np.random.default_rng(seed).integers(-4, 5, shape).astype(draw(st.sampled_from(dtypes)))
    a = to_mx(x)
    for step in draw(
        st.lists(st.sampled_from(["transpose", "flip", "stride", "repeat"]), max_size=2)
    ):
        if step == "transpose":
            axes = draw(st.permutations(range(x.ndim)))
            a, x = mx.transpose(a, axes), x.transpose(axes)
        elif step == "flip" and x.ndim:
            axis = draw(st.integers(0, x.ndim - 1))
            a, x = mx.flip(a, axis), np.flip(x, axis)
        elif step == "stride" and x.ndim:
            a, x = a[..., 1::2], x[..., 1::2]
        elif step == "repeat" and x.ndim < 4:
            a, x = mx.broadcast_to(a, (2, *x.shape)), np.broadcast_to(x, (2, *x.shape))
    return a, x


# NumPy takes axis 0 and -1 of arrays without axes in places; the array API and we do not.
DIMENSIONED = arrays(shapes=SHAPES.filter(len))


def agree(ours, numpys, exact=True):
    """Both give the same, or both refuse."""
    try:
        expected = numpys()
    except REFUSED as error:
        expected = error
    try:
        got = ours()
        mx.eval(got)
    except REFUSED as error:
        assert isinstance(expected, Exception), f"refused what NumPy gives: {error}"
        assert "[" in str(error) or "(): " in str(error)
        return
    assert not isinstance(expected, Exception), f"gave {got} where NumPy says: {expected}"
    if isinstance(expected, (list, tuple)):
        assert len(got) == len(expected)
    else:
        got, expected = [got], [expected]
    for g, e in zip(got, expected):
        assert g.shape == e.shape
        if exact:
            np.testing.assert_array_equal(to_numpy(g), e)
        else:
            np.testing.assert_allclose(to_numpy(g), e, rtol=2e-5, atol=2e-5)


@given(
    DIMENSIONED, AXES, st.booleans(), st.sampled_from(["sum", "prod", "max", "min", "any", "all"])
)
def test_reductions(pair, axis, keepdims, name):
    a, x = pair
    agree(
        lambda: getattr(mx, name)(a, axis, keepdims),
        lambda: getattr(np, name)(x, axis=axis, keepdims=keepdims),
    )


@given(arrays(SHAPES.filter(len), ("float32",)), AXES, st.booleans(), st.integers(0, 2))
def test_moments(pair, axis, keepdims, ddof):
    a, x = pair
    x = x.astype(np.float64)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agree(
            lambda: mx.mean(a, axis, keepdims),
            lambda: np.mean(x, axis=axis, keepdims=keepdims),
            exact=False,
        )
        for ours, numpys in ((mx.var, np.var), (mx.std, np.std)):
            agree(
                lambda f=ours: f(a, axis, keepdims, ddof),
                lambda f=numpys: f(x, axis=axis, keepdims=keepdims, ddof=ddof),
                exact=False,
            )


@given(DIMENSIONED, st.none() | AXIS, st.sampled_from(["argmax", "argmin"]))
def test_arg_reductions(pair, axis, name):
    a, x = pair
    if x.size:  # empty arrays are refused whatever the axis
        agree(lambda: getattr(mx, name)(a, axis), lambda: getattr(np, name)(x, axis=axis))


@given(DIMENSIONED, st.none() | AXIS, st.sampled_from(["cumsum", "cumprod"]))
def test_scans(pair, axis, name):
    a, x = pair
    agree(
        lambda: getattr(mx, name)(a, axis),
        lambda: getattr(np, name)(x, axis=axis, dtype=x.dtype),
    )


@given(DIMENSIONED, AXIS, st.booleans(), st.booleans(), st.sampled_from(["maximum", "minimum"]))
def test_running_extremes(pair, axis, reverse, inclusive, name):
    a, x = pair
    ours = mx.cummax if name == "maximum" else mx.cummin

    def numpys():
        axis_ = np.lib.array_utils.normalize_axis_index(axis, x.ndim)
        y = np.flip(x, axis_) if reverse else x
        y = getattr(np, name).accumulate(y, axis_)
        if not inclusive:
            least = np.iinfo(x.dtype) if x.dtype.kind == "i" else None
            if name == "maximum":
                first = least.min if least else -np.inf
            else:
                first = least.max if least else np.inf
            head = np.full_like(y.take([0] if y.shape[axis_] else [], axis_), first)
            y = np.concatenate([head, y], axis_).take(range(y.shape[axis_]), axis_)
        return np.flip(y, axis_) if reverse else y

    agree(lambda: ours(a, axis, reverse=reverse, inclusive=inclusive), numpys)


@given(
    arrays(), arrays(), st.sampled_from(["add", "multiply", "maximum", "subtract", "less_equal"])
)
def test_broadcasting(first, second, name):
    (a, x), (b, y) = first, second
    if x.dtype != y.dtype:
        y = y.astype(x.dtype)
        b = b.astype(a.dtype)
    agree(lambda: getattr(mx, name)(a, b), lambda: getattr(np, name)(x, y))


@given(arrays(), arrays(), arrays(dtypes=("bool",)))
def test_where(first, second, mask):
    (a, x), (b, y), (m, z) = first, second, mask
    y, b = y.astype(x.dtype), b.astype(a.dtype)
    agree(lambda: mx.where(m, a, b), lambda: np.where(z, x, y))


@given(arrays(), SHAPES | st.lists(st.integers(-1, 6), max_size=4).map(tuple), st.booleans())
def test_reshape(pair, shape, shuffled):
    a, x = pair
    if shuffled:
        shape = tuple(reversed(x.shape))
    agree(lambda: mx.reshape(a, shape), lambda: np.reshape(x, shape))


@given(arrays(), AXIS, AXIS, st.sampled_from(["swapaxes", "moveaxis"]))
def test_axes_moved(pair, first, second, name):
    a, x = pair
    agree(lambda: getattr(mx, name)(a, first, second), lambda: getattr(np, name)(x, first, second))


@given(arrays(), st.lists(AXIS, max_size=4).map(tuple))
def test_transpose(pair, axes):
    a, x = pair
    agree(lambda: mx.transpose(a, axes), lambda: np.transpose(x, axes))


@given(DIMENSIONED, AXIS | st.lists(AXIS, max_size=3).map(tuple))
def test_axes_added_and_dropped(pair, axes):
    a, x = pair
    agree(lambda: mx.expand_dims(a, axes), lambda: np.expand_dims(x, axes))
    agree(lambda: mx.squeeze(a, axes), lambda: np.squeeze(x, axes))


@given(st.data(), SHAPES, AXIS, st.integers(1, 3))
def test_joins(data, shape, axis, count):
    """Equal but along the joined axis; now and then not."""
    pairs = []
    for _ in range(count):
        sides = list(shape)
        if sides and data.draw(st.booleans()):
            sides[data.draw(st.integers(0, len(sides) - 1))] = data.draw(st.integers(0, 3))
        pairs.append(data.draw(arrays(shapes=st.just(tuple(sides)), dtypes=("int32",))))
    ours, numpys = [p[0] for p in pairs], [p[1] for p in pairs]
    if count > 1:  # one array is given back as it is
        agree(lambda: mx.concatenate(ours, axis), lambda: np.concatenate(numpys, axis))
    agree(lambda: mx.stack(ours, axis), lambda: np.stack(numpys, axis))


@given(arrays(), st.integers(1, 4) | st.lists(st.integers(-6, 6), max_size=3), AXIS)
def test_split(pair, parts, axis):
    a, x = pair
    agree(lambda: mx.split(a, parts, axis), lambda: np.split(x, parts, axis))


@given(arrays(), st.lists(st.integers(0, 3), max_size=4).map(tuple) | st.integers(0, 3))
def test_tile(pair, reps):
    a, x = pair
    agree(lambda: mx.tile(a, reps), lambda: np.tile(x, reps))


@given(DIMENSIONED, st.integers(0, 3), st.none() | AXIS)
def test_repeat(pair, times, axis):
    a, x = pair
    agree(lambda: mx.repeat(a, times, axis), lambda: np.repeat(x, times, axis))


@given(
    DIMENSIONED,
    st.integers(-7, 7),
    st.none() | AXIS | st.lists(AXIS, min_size=1, max_size=3).map(tuple),
)
def test_roll(pair, shift, axis):
    a, x = pair
    agree(lambda: mx.roll(a, shift, axis), lambda: np.roll(x, shift, axis))


@given(
    st.data(),
    arrays(),
    st.sampled_from(["constant", "edge", "reflect", "symmetric"]),
    st.booleans(),
)
def test_pad(data, pair, mode, everywhere):
    a, x = pair
    width = st.tuples(st.integers(0, 6), st.integers(0, 6))
    widths = data.draw(width) if everywhere else [data.draw(width) for _ in range(x.ndim)]
    if x.ndim == 0 or (mode == "edge" and 0 in x.shape):
        return
    agree(lambda: mx.pad(a, widths, mode), lambda: np.pad(x, widths, mode))


@given(arrays(), AXIS, AXIS, st.integers(-6, 6))
def test_diagonals(pair, axis1, axis2, offset):
    a, x = pair
    agree(
        lambda: mx.diagonal(a, offset, axis1, axis2), lambda: np.diagonal(x, offset, axis1, axis2)
    )
    agree(
        lambda: mx.trace(a, offset, axis1, axis2, dtype=a.dtype),
        lambda: np.trace(x, offset, axis1, axis2, dtype=x.dtype),
    )


@given(arrays(), st.integers(-6, 6))
def test_triangles(pair, k):
    a, x = pair
    if x.ndim >= 2:
        agree(lambda: mx.tril(a, k), lambda: np.tril(x, k))
        agree(lambda: mx.triu(a, k), lambda: np.triu(x, k))


@given(arrays(dtypes=("float32",)), arrays(dtypes=("float32",)), st.booleans())
def test_matmul(first, second, fit):
    (a, x), (b, y) = first, second
    if fit and x.ndim and y.ndim and x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
        y = np.broadcast_to(np.float32(2), (x.shape[-1], 3))
        b = to_mx(y.copy())
    agree(lambda: mx.matmul(a, b), lambda: np.matmul(x, y))


@given(arrays(), arrays(), st.integers(0, 3))
def test_tensordot(first, second, axes):
    (a, x), (b, y) = first, second
    a, b = a.astype(mx.float32), b.astype(mx.float32)
    x, y = x.astype(np.float32), y.astype(np.float32)
    if axes <= min(x.ndim, y.ndim) and math.prod(x.shape) and math.prod(y.shape):
        agree(lambda: mx.tensordot(a, b, axes), lambda: np.tensordot(x, y, axes))
