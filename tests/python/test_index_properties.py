"""Random keys of every kind, right and wrong, against NumPy: the same result, or an exception too.

INDEX_EXAMPLES says how many keys are tried (default 200).
"""

from __future__ import annotations

import os
import warnings

import mlx.core as mx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import arrange

EXAMPLES = int(os.environ.get("INDEX_EXAMPLES", "200"))
ERRORS = (IndexError, ValueError, TypeError)
LAYOUTS = ("dense", "transposed", "reversed", "strided")
UFUNCS = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}

many = settings(max_examples=EXAMPLES, deadline=None)
shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


class Foreign:
    """An index array in one of its forms: NumPy's, ours, or nested lists."""

    def __init__(self, values, form):
        self.values, self.form = values, form

    def numpy(self):
        return self.values.tolist() if self.form == "list" else self.values

    def ours(self):
        return mx.array(self.values) if self.form == "mlx" else self.numpy()


def convert(key, side):
    if isinstance(key, tuple):
        return tuple(convert(k, side) for k in key)
    return getattr(key, side)() if isinstance(key, Foreign) else key


@st.composite
def index_arrays(draw, n, wrong):
    shape = draw(st.sampled_from([(), (1,), (2,), (3,), (2, 1), (2, 3), (0,), (1, 0)]))
    count = int(np.prod(shape))
    low, high = (-n - 1, n) if wrong else (-n, n - 1)
    if low > high:
        count, shape = 0, (0,)
    entries = st.integers(low, max(low, high))
    values = draw(st.lists(entries, min_size=count, max_size=count))
    dtype = draw(st.sampled_from(["int32", "int64", "int8"]))
    # Arrays of our own are not checked, so they have to be right.
    forms = ["numpy", "list"] if wrong else ["numpy", "list", "mlx"]
    if shape == ():
        forms = forms[:1]
    return Foreign(np.array(values, dtype).reshape(shape), draw(st.sampled_from(forms)))


@st.composite
def masks(draw, shape):
    bits = draw(st.lists(st.booleans(), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    values = np.array(bits, bool).reshape(shape)
    # Lists of nothing are lists of floats to NumPy.
    forms = ["numpy", "list", "mlx"] if values.size and values.ndim else ["numpy", "mlx"]
    return Foreign(values, draw(st.sampled_from(forms)))


bounds = st.none() | st.integers(-6, 6)
steps = st.none() | st.integers(-3, 3).filter(bool)
slices = st.builds(slice, bounds, bounds, steps)
junk = st.sampled_from([1.5, "a", 1j, b"x", slice(0.5), slice(None, None, 0), {}, np.array([0.5])])


@st.composite
def keys(draw, shape):
    """A key for an array of this shape; some are wrong."""
    wrong = draw(st.integers(0, 5)) == 0
    key, axis = [], 0
    while axis < len(shape) and draw(st.integers(0, 4)):
        n = shape[axis]
        kind = draw(st.sampled_from("integer slice slice array array mask none bool".split()))
        if kind == "none":
            key.append(None)
            continue
        if kind == "bool":
            key.append(draw(st.booleans() | st.sampled_from([np.True_, np.False_])))
            continue
        if kind == "integer":
            low, high = (-n - 1, n) if wrong or n == 0 else (-n, n - 1)
            value = draw(st.integers(low, high))
            key.append(draw(st.sampled_from([value, np.int64(value), np.array(value)])))
        elif kind == "slice":
            key.append(draw(slices))
        elif kind == "array":
            key.append(draw(index_arrays(n, wrong)))
        else:
            rank = draw(st.integers(1, len(shape) - axis))
            covered = list(shape[axis : axis + rank])
            if wrong and draw(st.booleans()):
                covered[draw(st.integers(0, rank - 1))] += 1
            key.append(draw(masks(tuple(covered))))
            axis += rank - 1
        axis += 1
    if draw(st.integers(0, 2)) == 0:
        key.insert(len(key) if axis < len(shape) else draw(st.integers(0, len(key))), Ellipsis)
    if wrong:
        extra = draw(st.sampled_from(["", "ellipsis", "junk", "many"]))
        if extra == "ellipsis":
            key += [Ellipsis, Ellipsis]
        elif extra == "junk":
            key.append(draw(junk))
        elif extra == "many":
            key += [0] * (len(shape) + 1)
    return key[0] if len(key) == 1 and draw(st.booleans()) else tuple(key)


def attempt(f):
    """(result, None) or (None, exception)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            return f(), None
    except (*ERRORS, DeprecationWarning) as e:
        return None, e


def same_outcome(ours, numpy):
    """Both raise, or both have results, which are returned."""
    (got, error), (want, expected) = ours, numpy
    if error is None and expected is None:
        return got, want
    assert isinstance(error, ERRORS) and "[" in str(error), (got, error, expected)
    if expected is None:
        # NumPy does not look at indices of which nothing is read.
        assert isinstance(error, ERRORS) and np.size(want) == 0, (error, want)
    return None


def make(shape, layout, seed=0):
    x = np.random.default_rng(seed).integers(-50, 50, shape).astype(np.int32)
    a, x = arrange(x, layout if shape else "dense")
    return a, np.array(x)


@many
@given(shape=shapes, layout=st.sampled_from(LAYOUTS), data=st.data())
def test_reads(shape, layout, data):
    key = data.draw(keys(shape))
    a, x = make(shape, layout)
    both = same_outcome(
        attempt(lambda: np.array(a[convert(key, "ours")])),
        attempt(lambda: np.asarray(x[convert(key, "numpy")])),
    )
    if both:
        assert both[0].shape == both[1].shape and both[0].dtype == both[1].dtype
        np.testing.assert_array_equal(*both)


def value_for(data, selected, is_mask):
    """A value that broadcasts to what a key selects, now and then one that does not."""
    shape = list(selected.shape)
    choice = data.draw(st.sampled_from(["full", "scalar", "ones", "tail", "wrong"]))
    if choice == "scalar":
        return np.int32(7)
    if choice == "tail":
        shape = shape[1:]
    elif choice == "ones" and not is_mask:
        shape = [1 if data.draw(st.booleans()) else n for n in shape]
    elif choice == "wrong" and not is_mask:
        shape = [*shape, 5]
    return np.random.default_rng(1).integers(-9, 9, shape).astype(np.int32)


def is_sole_mask(key):
    first, *rest = key if isinstance(key, tuple) and key else (key,)
    values = first.values if isinstance(first, Foreign) else first
    whole = all(r is Ellipsis or r == slice(None) for r in rest if not isinstance(r, Foreign))
    whole = whole and not any(isinstance(r, Foreign) for r in rest)
    return whole and not isinstance(values, (slice, str)) and np.asarray(values).dtype == bool


@many
@given(
    shape=shapes,
    layout=st.sampled_from(LAYOUTS),
    how=st.sampled_from(["=", "=", *UFUNCS]),
    data=st.data(),
)
def test_writes(shape, layout, how, data):
    key = data.draw(keys(shape))
    a, x = make(shape, layout)
    before, selected = x.copy(), attempt(lambda: np.asarray(x[convert(key, "numpy")]))[0]
    value = np.int32(3) if selected is None else value_for(data, selected, is_sole_mask(key))
    if selected is not None and selected.ndim == 0 and value.ndim > 0:
        return  # a single element takes scalars only

    def ours():
        out = a * 1
        if how == "=":
            out[convert(key, "ours")] = mx.array(value)
        else:
            out = getattr(a.at[convert(key, "ours")], how)(mx.array(value))
        return np.array(out)

    def numpy():
        if how == "=":
            x[convert(key, "numpy")] = value
        else:
            UFUNCS[how].at(x, convert(key, "numpy"), value)
        return x

    result, expected = attempt(ours), attempt(numpy)
    if expected[1] is None and selected is not None and selected.size == 0:
        expected = (before, None)
        if result[1] is not None:
            return  # NumPy does not look at indices under which nothing is written
    both = same_outcome(result, expected)
    if both:
        np.testing.assert_array_equal(*both)
    np.testing.assert_array_equal(np.array(a), before)


@many
@given(shape=shapes, data=st.data())
def test_derivatives_of_reads_are_those_of_a_selection(shape, data):
    """The gradient of a weighted sum of x[key] has each weight where its element came from."""
    key = data.draw(keys(shape))
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    places = attempt(lambda: np.asarray(numbers[convert(key, "numpy")]))[0]
    if places is None or places.size == 0:
        return
    weights = np.arange(1, places.size + 1, dtype=np.float32).reshape(places.shape)
    x = mx.array(numbers.astype(np.float32))
    g = mx.grad(lambda x: (x[convert(key, "ours")] * mx.array(weights)).sum())(x)
    expected = np.bincount(places.ravel(), weights.ravel(), numbers.size).reshape(shape)
    np.testing.assert_array_equal(np.array(g), expected)
