"""What becomes an array and how: scalars, lists, weak scalars beside arrays, protocols."""

from __future__ import annotations

import array as pyarray
import enum

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

INTEGERS = [mx.uint8, mx.uint16, mx.uint32, mx.uint64, mx.int8, mx.int16, mx.int32, mx.int64]
FLOATS = [mx.float16, mx.bfloat16, mx.float32, mx.float64]


def test_scalars():
    for value, dtype in (
        (True, mx.bool_),
        (1, mx.int32),
        (2**31, mx.int64),
        (-(2**31) - 1, mx.int64),
        (1.5, mx.float32),
        (1j, mx.complex64),
        (np.float64(1.5), mx.float32),
    ):
        x = mx.array(value)
        assert x.shape == () and x.dtype == dtype and x.item() == value
    for value in (2**63, -(2**63) - 1, 10**30):
        for f in (mx.array, lambda v: mx.array([v]), lambda v: mx.array(v, mx.uint64)):
            with pytest.raises(RuntimeError, match="int64"):
                f(value)


def test_scalars_with_a_dtype():
    for value, dtype, expected in (
        (300, mx.int8, 44),
        (-1, mx.uint8, 255),
        (1.7, mx.int32, 1),
        (-1.7, mx.int32, -1),
        (0.5, mx.bool_, True),
        (1.1, mx.float64, 1.1),
        (True, mx.float32, 1.0),
        (3 + 4j, mx.float32, 3.0),
        (1e20, mx.int32, 2**31 - 1),
        (float("nan"), mx.int32, 0),
    ):
        for f in (mx.array, lambda v, t: mx.array([v], t)):
            x = f(value, dtype)
            assert x.dtype == dtype and x.item() == expected
    assert mx.array(2**53 + 1, mx.float64).item() == float(2**53)


def test_lists():
    for value, dtype in (
        ([True, False], mx.bool_),
        ([True, 2], mx.int32),
        ([1, 2**40], mx.int64),
        ([1, 2.5], mx.float32),
        ([1, 2.5, 1j], mx.complex64),
        ([], mx.float32),
        ([[], []], mx.float32),
        (((1, 2), [3, 4]), mx.int32),
        ([[[1.0]]], mx.float32),
    ):
        x = mx.array(value)
        assert x.dtype == dtype
        assert x.shape == np.array(value).shape and x.tolist() == np.array(value).tolist()
    assert mx.array([1.1, 2.2], mx.float64).tolist() == [1.1, 2.2]
    assert mx.array([1.9, -1.9], mx.int8).tolist() == [1, -1]
    assert mx.array([np.float64(1.5), enum.IntEnum("E", "A").A]).tolist() == [1.5, 1]


nested = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(width=32),
        st.complex_numbers(width=64),
    ),
    lambda x: st.lists(x, max_size=4),
    max_leaves=20,
)


@given(nested)
@settings(max_examples=300, deadline=None)
def test_any_nesting_is_an_array_or_an_error(value):
    try:
        expected = np.array(value)
        regular = expected.dtype != object
    except ValueError:
        regular = False
    try:
        x = mx.array(value)
    except ValueError:
        assert not regular
        return
    if regular:
        assert x.shape == expected.shape
        np.testing.assert_allclose(np.array(x).astype(np.complex64), expected.astype(np.complex64))


def test_bad_lists():
    loop = []
    loop.append(loop)
    deep = 1
    for _ in range(100):
        deep = [deep]
    for value in (
        [[1, 2], [3]],
        [[1], 2],
        [1, [2]],
        [[], [1]],
        [[1], []],
        [None],
        ["a"],
        [1, "a"],
        [range(3)],
        [np.int32(1)],
        [np.zeros(2)],
        [{}],
        loop,
        deep,
        [mx.array([1, 2]), 1],
        [mx.array([1, 2]), [1, 2, 3]],
        [mx.array(1), "a"],
    ):
        with pytest.raises(ValueError):
            mx.array(value)
    for value in ("a", range(3), object(), {1: 2}, iter([1])):
        with pytest.raises(ValueError, match=type(value).__name__):
            mx.array(value)
    for call in (
        lambda: mx.array(None),
        lambda: mx.array(),
        lambda: mx.array(1, "float32"),
        lambda: mx.array(1, 2, 3),
        lambda: mx.array(value=1),
    ):
        with pytest.raises(TypeError):
            call()


def test_lists_of_arrays():
    a = mx.array([1, 2])
    assert mx.array([a, a + 1]).tolist() == [[1, 2], [2, 3]]
    assert mx.array([a, [5, 6]]).tolist() == [[1, 2], [5, 6]]
    x = mx.array([mx.array(1), 2.5, True])
    assert x.dtype == mx.float32 and x.tolist() == [1, 2.5, 1]
    assert mx.array([[mx.array(1)], [2]], mx.int8).dtype == mx.int8
    assert mx.array((a, a.astype(mx.float16))).dtype == mx.float16
    y = mx.grad(lambda v: mx.array([v, v * v]).sum())(mx.array(3.0))
    assert y.item() == 7


def test_lists_that_change_while_they_are_read():
    class Clears:
        def __init__(self, target):
            self.target = target

        def __mlx_array__(self):
            self.target.clear()
            return mx.array(1)

    items = [mx.array(1)]
    items += [Clears(items), 2, 3, 4]
    assert mx.array(items).shape == (2,)


def test_arrays():
    a = mx.array([1.5, 2.5])
    b = mx.array(a, mx.int32)
    assert b.dtype == mx.int32 and b.tolist() == [1, 2]
    assert mx.array(a).dtype == mx.float32


def test_buffers():
    for value, dtype, expected in (
        (b"ab", mx.uint8, [97, 98]),
        (bytearray(b"ab"), mx.uint8, [97, 98]),
        (memoryview(b"ab"), mx.uint8, [97, 98]),
        (pyarray.array("d", [1.5]), mx.float32, [1.5]),
        (pyarray.array("i", [1, 2]), mx.int32, [1, 2]),
        (pyarray.array("l", [1, 2]), mx.int64, [1, 2]),
        (pyarray.array("B", [1]), mx.uint8, [1]),
        (memoryview(bytes(range(6))).cast("B", (2, 3)), mx.uint8, [[0, 1, 2], [3, 4, 5]]),
    ):
        x = mx.array(value)
        assert x.dtype == dtype and x.tolist() == expected
    assert mx.array(pyarray.array("d", [1.1]), mx.float64).tolist() == [1.1]
    with pytest.raises(ValueError):
        mx.array(pyarray.array("u", "ab"))


class Holder:
    def __init__(self, value):
        self.value = value

    def __mlx_array__(self):
        return self.value


def test_mlx_array_protocol():
    x, h = mx.array([1, 2]), Holder(mx.array([0.5, 1.5]))
    assert mx.array(h).tolist() == [0.5, 1.5] and mx.array(h, mx.int32).tolist() == [0, 1]
    assert (x + h).tolist() == [1.5, 3.5] and (h + x).tolist() == [1.5, 3.5]
    assert (x < h).tolist() == [False, False] and mx.exp(h).shape == (2,)
    x += h
    assert x.tolist() == [1.5, 3.5]
    for bad in (Holder(1), Holder(None), Holder([1])):
        with pytest.raises(ValueError):
            mx.array(bad)
    with pytest.raises(ValueError):
        mx.array(Holder)

    class Failing:
        def __mlx_array__(self):
            raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        mx.array(Failing())
    assert mx.array(mx.ArrayLike(3)).item() == 3


def test_weak_bools_and_ints():
    for t in [*INTEGERS, *FLOATS]:
        x = mx.array([1, 2], t)
        for y in (x + True, x + 1, 1 + x):
            assert y.dtype == t
    b = mx.array([True, False])
    assert (
        (b + True).dtype == mx.bool_ and (b + 1).dtype == mx.int32 and (b | True).dtype == mx.bool_
    )
    c = mx.array([1j])
    assert (c + 1).dtype == mx.complex64


def test_weak_ints_must_fit():
    for t in INTEGERS:
        x = mx.array([1], t)
        info = mx.iinfo(t)
        if t.size == 8:
            (x + (2**63 - 1), x + -1)
            with pytest.raises(RuntimeError):
                x + 2**64
            continue
        assert (x * 0 + info.max).item() == info.max and (x * 0 + info.min).item() == info.min
        for v in (info.max + 1, info.min - 1):
            for f in (lambda a, b: a + b, lambda a, b: a == b, lambda a, b: b < a, mx.maximum):
                with pytest.raises(ValueError, match=str(v)):
                    f(x, v)


def test_weak_floats_and_complex():
    for t in FLOATS:
        assert (mx.array([1], t) * 2.5).dtype == t
    assert (mx.array([1.0], mx.float16) * 1e10).item() == float("inf")
    for t in [mx.bool_, *INTEGERS]:
        assert (mx.array([1], t) * 2.5).dtype == mx.float32
    assert (mx.array([1j]) * 2.5).dtype == mx.complex64
    for t in [mx.bool_, mx.int32, mx.float16, mx.float32, mx.float64, mx.complex64]:
        assert (mx.array([1], t) + 1j).dtype == mx.complex64


def test_two_scalars():
    for a, b, t in (
        (1, 2, mx.int32),
        (1, 2.0, mx.float32),
        (1, 2**40, mx.int64),
        (True, True, mx.bool_),
        (True, 1, mx.int32),
        (1.0, 1j, mx.complex64),
    ):
        x = mx.add(a, b)
        assert x.dtype == t and x.item() == (a | b if t == mx.bool_ else a + b)


def test_foreign_operands_take_the_arrays_dtype():
    x = mx.array([1.5, 2.5], mx.float16)
    for other in (
        np.int64([1, 2]),
        np.float64([1, 2]),
        np.int64(1),
        np.float32(1),
        pyarray.array("d", [1, 2]),
        np.array([True, False]),
    ):
        for y in (x + other, mx.add(x, other), mx.add(other, x), x < other):
            assert y.dtype in (mx.float16, mx.bool_)
    assert (mx.array([1, 2]) + np.float64([1.5, 2.5])).tolist() == [2, 4]
    assert isinstance(np.arange(2) + mx.array([1, 2]), np.ndarray)
    assert isinstance(np.float64(2) * mx.array([1.0]), (np.ndarray, mx.array))
    with pytest.raises(ValueError):
        x + np.array(["a", "b"])
    with pytest.raises(ValueError):
        x + np.zeros(3)


def test_axis_and_shape_arguments():
    x = mx.zeros((2, 3, 4))
    for axis in (1, np.int32(1), mx.array(1), (1,), [1], np.array([1]), (np.int64(1),)):
        assert mx.sum(x, axis).shape == (2, 4)
    for axis in ("1", 1.0, (1.0,), {1: 1}, b"1", True):
        with pytest.raises(TypeError):
            mx.sum(x, axis)
    for axis in (3, -4, 2**40, -(2**70)):
        with pytest.raises(IndexError):
            mx.sum(x, axis)
        with pytest.raises(ValueError):
            mx.sum(x, axis)
        with pytest.raises(mx.AxisError):
            mx.sum(x, axis)
    for shape in (2, (2,), [2], np.array([2]), (np.int64(2),), mx.array([2])):
        assert mx.zeros(shape).shape == (2,)
    for shape in ("2", 2.0, (2.0,), None, {2: 2}):
        with pytest.raises(TypeError):
            mx.zeros(shape)
    for shape in (2**70, (2**70,), (2**40, 2**40)):
        with pytest.raises(OverflowError):
            mx.zeros(shape)
    with pytest.raises(ValueError):
        mx.zeros((-1,))


@pytest.mark.parametrize("source", ["view", "numpy", "npy"])
def test_bools_are_zero_or_one_whatever_the_bytes_say(source, tmp_path):
    raw = np.array([0, 1, 2, 63, 255], np.uint8)
    if source == "view":
        a = mx.array(raw).view(mx.bool_)
    elif source == "numpy":
        a = mx.array(raw.view(bool))
    else:
        np.save(tmp_path / "a.npy", raw.view(bool))
        a = mx.load(tmp_path / "a.npy")
    assert a.dtype == mx.bool_
    assert a.tolist() == [False, True, True, True, True]
    assert bytes(a) == bytes([0, 1, 1, 1, 1])
    assert mx.sum(a).item() == 4
