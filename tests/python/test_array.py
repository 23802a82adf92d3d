"""mx.array as a Python object: operators, attributes, values, printing, copies, pickles."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import weakref

import mlx.core as mx
import numpy as np
import pytest

BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
}
BITWISE = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}
COMPARE = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]


@pytest.mark.parametrize("name", BINARY)
def test_arithmetic_operators(name):
    f = BINARY[name]
    a, b = np.float32([1.5, 2, 7]), np.float32([2, 0.5, 3])
    x, y = mx.array(a), mx.array(b)
    np.testing.assert_allclose(np.array(f(x, y)), f(a, b), rtol=1e-6)
    np.testing.assert_allclose(np.array(f(x, 2.5)), f(a, np.float32(2.5)), rtol=1e-6)
    np.testing.assert_allclose(np.array(f(2.5, x)), f(np.float32(2.5), a), rtol=1e-6)
    np.testing.assert_allclose(np.array(f(x, 3)), f(a, np.float32(3)), rtol=1e-6)


@pytest.mark.parametrize("name", BITWISE)
def test_bitwise_operators(name):
    f = BITWISE[name]
    a, b = np.int32([1, 6, 12]), np.int32([3, 1, 2])
    assert f(mx.array(a), mx.array(b)).tolist() == f(a, b).tolist()
    assert f(mx.array(a), 2).tolist() == f(a, 2).tolist()
    assert f(2, mx.array(a)).tolist() == f(2, a).tolist()
    with pytest.raises(ValueError):
        f(mx.array(a), mx.array([1.0, 2, 3]))
    with pytest.raises(ValueError):
        f(mx.array([1.0]), 1)


@pytest.mark.parametrize("f", COMPARE)
def test_comparisons(f):
    a, b = np.float32([1, 2, np.nan]), np.float32([1, 3, np.nan])
    assert f(mx.array(a), mx.array(b)).tolist() == f(a, b).tolist()
    assert f(mx.array(a), 2).tolist() == f(a, 2).tolist()
    assert f(2, mx.array(a)).tolist() == f(2, a).tolist()


def test_unary_operators():
    x = mx.array([1, -2])
    assert (-x).tolist() == [-1, 2] and abs(x).tolist() == [1, 2] and (~x).tolist() == [-2, 1]
    assert (~mx.array([True, False])).tolist() == [False, True]
    assert (+x).tolist() == [1, -2] and +x is not x
    with pytest.raises(ValueError):
        -mx.array(True)
    with pytest.raises(ValueError):
        ~mx.array([1.0])
    assert x.__div__(2).tolist() == [0.5, -1] and x.__rdiv__(2).tolist() == [2, -1]
    with pytest.raises(TypeError):
        pow(x, 2, 3)


def test_other_operands():
    x = mx.array([1, 2, 3])
    for other in ([1], (1,), "a", object(), {}, {1}):
        for f in (*BINARY.values(), *BITWISE.values(), operator.lt, operator.ge):
            with pytest.raises(ValueError, match=type(other).__name__):
                f(x, other)
        assert (x == other) is False and (x != other) is True
    for f in (*BINARY.values(), *BITWISE.values(), *COMPARE):
        with pytest.raises(TypeError, match="None"):
            f(x, None)


IN_PLACE = {
    "iadd": lambda x, y: x + y,
    "isub": lambda x, y: x - y,
    "imul": lambda x, y: x * y,
    "ifloordiv": lambda x, y: x // y,
    "imod": lambda x, y: x % y,
    "ipow": lambda x, y: x**y,
    "iand": lambda x, y: x & y,
    "ior": lambda x, y: x | y,
    "ixor": lambda x, y: x ^ y,
    "ilshift": lambda x, y: x << y,
    "irshift": lambda x, y: x >> y,
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_operators_rebind_the_object(name):
    f = getattr(operator, name)
    x = mx.array([5, 6, 7])
    alias, kept, view = x, +x, x[1:]
    result = f(x, mx.array([2, 2, 3]))
    assert result is x and alias is x
    assert x.tolist() == IN_PLACE[name](np.int32([5, 6, 7]), np.int32([2, 2, 3])).tolist()
    assert kept.tolist() == [5, 6, 7] and view.tolist() == [6, 7]


def test_in_place_may_change_the_dtype():
    x = mx.array([1, 2])
    x += 1.5
    assert x.dtype == mx.float32 and x.tolist() == [2.5, 3.5]
    x /= 2
    assert x.tolist() == [1.25, 1.75]
    y = mx.array([1, 2])
    with pytest.raises(ValueError):
        y /= 2
    assert y.tolist() == [1, 2]
    x += x
    assert x.tolist() == [2.5, 3.5]


def test_attributes():
    x = mx.array(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert (x.shape, x.ndim, x.size, x.itemsize, x.nbytes) == ((2, 3), 2, 6, 4, 24)
    assert isinstance(x.shape, tuple) and x.dtype == mx.float32
    assert x.T.tolist() == [[0, 3], [1, 4], [2, 5]] and x.mT.shape == (3, 2)
    assert mx.zeros((2, 3, 4)).T.shape == (4, 3, 2) and mx.zeros((2, 3, 4)).mT.shape == (2, 4, 3)
    with pytest.raises(ValueError):
        mx.array([1]).mT  # noqa: B018
    z = mx.array([1 + 2j])
    assert z.real.tolist() == [1] and z.imag.tolist() == [2]
    assert x.imag.tolist() == [[0, 0, 0]] * 2 and x.imag.dtype == mx.float32
    for name, value in (("foo", 1), ("shape", (6,)), ("dtype", mx.int8)):
        with pytest.raises(AttributeError):
            setattr(x, name, value)
    assert weakref.ref(x)() is x


def test_objects_die():
    x = mx.array([1.0])
    r = weakref.ref(x)
    y = x + 1
    del x
    gc.collect()
    assert r() is None and y.item() == 2


@pytest.mark.filterwarnings("ignore:nanobind:RuntimeWarning")
def test_objects_without_a_value():
    x, y = mx.array.__new__(mx.array), mx.array([1])
    for f in (
        repr,
        bool,
        int,
        len,
        list,
        hash,
        operator.neg,
        memoryview,
        mx.exp,
        mx.eval,
        operator.itemgetter(0),
        lambda a: a + a,
        lambda a: a + y,
        lambda a: y + a,
        lambda a: operator.iadd(a, 1),
        lambda a: operator.setitem(a, 0, 1),
        lambda a: a.shape,
        lambda a: mx.array([a]),
        pickle.dumps,
    ):
        try:
            f(x)
        except (TypeError, ValueError, BufferError, RuntimeError):
            pass
    assert y.tolist() == [1]


def test_subclasses():
    class Named(mx.array):
        name = "n"

    x = Named([1.0, 2.0])
    assert x.name == "n" and (x + 1).tolist() == [2, 3] and type(x + 1) is mx.array
    x += 1
    assert type(x) is Named and mx.grad(lambda a: a.sum())(x).tolist() == [1, 1]


def test_hash_is_identity():
    x, y = mx.array([1]), mx.array([1])
    assert {x: 1, y: 2}[x] == 1 and hash(x) == hash(x)
    assert len({x, y, x}) == 2


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_scalars(shape):
    def one(v):
        return mx.full(shape, v)

    assert type(mx.array(True).item()) is bool
    assert type(one(3).item()) is int and one(3).item() == 3
    assert type(one(2.5).item()) is float and one(1j).item() == 1j
    assert int(one(2.7)) == 2 and float(one(2)) == 2.0 and complex(one(2)) == 2 + 0j
    assert bool(one(1)) and not bool(one(0.0)) and bool(one(float("nan")))
    with pytest.raises(TypeError):
        float(one(1j))


def test_what_is_not_a_scalar():
    for x in (mx.array([1, 2]), mx.array([]), mx.zeros((0, 3))):
        for f in (int, float, complex, bool, lambda a: a.item()):
            with pytest.raises(ValueError):
                f(x)


def test_index():
    assert [10, 20, 30][mx.array(1)] == 20
    assert list(range(5))[mx.array(1, mx.uint8) : mx.array(3)] == [1, 2]
    for x in (mx.array([1]), mx.array(1.0), mx.array(True)):
        with pytest.raises(TypeError):
            operator.index(x)


def test_integers_keep_all_bits():
    for t, v in ((mx.int64, -(2**63)), (mx.int64, 2**63 - 1), (mx.int64, 2**53 + 1)):
        assert mx.array(v, t).item() == v
    assert mx.array(-1, mx.int64).astype(mx.uint64).item() == 2**64 - 1


def test_lists_lengths_iteration():
    x = mx.array([[1, 2, 3], [4, 5, 6]])
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]] and x.T.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert mx.array(5).tolist() == 5 and mx.zeros((2, 0)).tolist() == [[], []]
    assert mx.array([True]).tolist() == [True]
    assert len(x) == 2 and [r.tolist() for r in x] == [[1, 2, 3], [4, 5, 6]]
    assert [int(v) for v in mx.array([1, 2])] == [1, 2]
    for f in (len, list, iter):
        with pytest.raises(TypeError):
            f(mx.array(1))
    seen = []
    for r in x:  # the iterator keeps the value it began with
        x += 10
        seen.append(r.tolist())
    assert seen == [[1, 2, 3], [4, 5, 6]] and x.tolist()[0][0] == 21
    assert mx.array(2) in [mx.array(1), mx.array(2)]


def test_format_and_bytes():
    assert f"{mx.array(1.5):.3f}" == "1.500" and f"{mx.array(7):>4d}" == "   7"
    x = mx.array([[1, 2], [3, 4]])
    assert f"{x}" == repr(x) == str(x)
    with pytest.raises(TypeError):
        format(x, "d")
    assert bytes(x.T) == np.int32([[1, 3], [2, 4]]).tobytes()


def test_repr_of_shapes():
    assert repr(mx.array(1)) == "array(1, dtype=int32)"
    assert repr(mx.array([])) == "array([], dtype=float32)"
    assert repr(mx.zeros((2, 0, 3))) == "array([[],\n       []], dtype=float32)"
    assert repr(mx.array([[1, 2], [3, 4]])) == "array([[1, 2],\n       [3, 4]], dtype=int32)"
    assert repr(mx.arange(6)) == "array([0, 1, 2, 3, 4, 5], dtype=int32)"
    assert repr(mx.arange(7)) == "array([0, 1, 2, ..., 4, 5, 6], dtype=int32)"
    cube = repr(mx.arange(8).reshape(2, 2, 2))
    assert cube == (
        "array([[[0, 1],\n        [2, 3]],\n       [[4, 5],\n        [6, 7]]], dtype=int32)"
    )
    tall = repr(mx.arange(18).reshape(9, 2))
    assert tall == (
        "array([[0, 1],\n       [2, 3],\n       [4, 5],\n       ...,\n"
        "       [12, 13],\n       [14, 15],\n       [16, 17]], dtype=int32)"
    )
    assert repr(mx.arange(4).reshape(2, 2).T) == "array([[0, 2],\n       [1, 3]], dtype=int32)"


def test_repr_of_values():
    values = [1.0, 1.5, 1e10, 1e-5, 1 / 3, float("inf"), -float("inf"), float("nan"), -0.0]
    assert repr(mx.array(values[:6])) == (
        "array([1, 1.5, 1e+10, 1e-05, 0.333333, inf], dtype=float32)"
    )
    assert repr(mx.array(values[6:])) == "array([-inf, nan, -0], dtype=float32)"
    assert repr(mx.array([True, False])) == "array([True, False], dtype=bool)"
    assert repr(mx.array([1 - 2j, 0.5j])) == "array([1-2j, 0+0.5j], dtype=complex64)"
    assert repr(mx.array([1.1], mx.float16)) == "array([1.09961], dtype=float16)"
    assert repr(mx.array([2**40])) == "array([1099511627776], dtype=int64)"
    assert repr(mx.array([-1], mx.int8)) == "array([-1], dtype=int8)"


def test_print_options():
    x = mx.array([1.23456, 100.0])
    assert mx.get_printoptions().precision == -1
    with mx.printoptions(precision=2):
        assert repr(x) == "array([1.23, 100.00], dtype=float32)"
        assert mx.get_printoptions().precision == 2
        with mx.printoptions(0):
            assert repr(x) == "array([1, 100], dtype=float32)"
        assert repr(mx.array(1 + 2j)) == "array(1.00+2.00j, dtype=complex64)"
    with pytest.raises(KeyError), mx.printoptions(3):
        raise KeyError
    assert repr(x) == "array([1.23456, 100], dtype=float32)"
    mx.set_printoptions(1)
    try:
        assert repr(x) == "array([1.2, 100.0], dtype=float32)"
    finally:
        mx.set_printoptions()
    with mx.printoptions(10**6):
        repr(mx.array(1e308, mx.float64))
    assert mx.PrintOptions(4).precision == 4


def test_copies():
    x = mx.array([1.0, 2.0])
    for y in (copy.copy(x), copy.deepcopy(x), mx.array(x)):
        assert y is not x and y.tolist() == [1, 2]
        y += 1
        assert x.tolist() == [1, 2]
    nested = copy.deepcopy({"a": [x]})
    nested["a"][0] += 1
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(protocol):
    for t in ("bool_", "uint8", "int64", "float16", "bfloat16", "float32", "float64", "complex64"):
        x = mx.array([[1, 0], [3, 4]]).astype(getattr(mx, t))
        y = pickle.loads(pickle.dumps(x, protocol))
        assert y.dtype == x.dtype and y.tolist() == x.tolist()
    state = mx.array([1.5], mx.bfloat16).__getstate__()
    assert isinstance(state[0], np.ndarray) and state[0].dtype == np.uint16 and state[1] == 12
    x = mx.array(5)
    assert pickle.loads(pickle.dumps([x, x.dtype, mx.cpu])) == [x, x.dtype, mx.cpu]
    with pytest.raises(ValueError):
        mx.array.__new__(mx.array).__setstate__((np.zeros(1), 99))


def test_array_api_namespace():
    x = mx.array([1])
    assert x.__array_namespace__() is mx
    with pytest.raises(ValueError):
        x.__array_namespace__(api_version="2022.12")
    info = mx.__array_namespace_info__()
    assert info.default_device() == mx.default_device()
    assert mx.default_device() in info.devices()
    assert info.default_dtypes()["real floating"] == mx.float32
    assert info.default_dtypes(device=mx.Device(mx.cpu))["indexing"] == mx.int32
    assert info.dtypes(kind="bool") == {"bool": mx.bool_}
    assert set(info.dtypes(kind=("real floating", "complex floating"))) == {
        "float32",
        "float64",
        "complex64",
    }
    assert {"boolean indexing", "data-dependent shapes", "max dimensions"} <= set(
        info.capabilities()
    )
    with pytest.raises(ValueError):
        info.dtypes(kind="none")


def test_constants():
    import math

    assert (mx.pi, mx.e, mx.inf) == (math.pi, math.e, math.inf) and math.isnan(mx.nan)
    assert abs(mx.euler_gamma - 0.5772156649015329) < 1e-16 and mx.newaxis is None
    assert isinstance(mx.__version__, str)


def test_elementwise_functions_by_hand():
    x = mx.array([1.0, -2.0, float("nan")])
    assert mx.where(mx.array([True, False, True]), 1, 2.5).tolist() == [1, 2.5, 1]
    assert mx.where(x, 1, 0).tolist() == [1, 1, 1]
    assert mx.clip(mx.array([1, 5, 9]), 2, 8).tolist() == [2, 5, 8]
    assert mx.clip(mx.array([1, 5]), 1.5, None).dtype == mx.float32
    assert mx.clip(mx.array([1, 5]), None, mx.array([0, 9])).tolist() == [0, 5]
    with pytest.raises(ValueError):
        mx.clip(x, None, None)
    assert mx.round(mx.array([15, 25]), -1).tolist() == [20, 20]
    assert mx.array([1.25, 0.5]).round(1).tolist() == pytest.approx([1.2, 0.5])
    q, r = mx.divmod(mx.array([7, -7]), 2)
    assert q.tolist() == [3, -4] and r.tolist() == [1, 1]
    with pytest.raises(ValueError):
        mx.divmod(mx.array(1j), 2)
    n = mx.nan_to_num(mx.array([float("nan"), float("inf"), -float("inf")], mx.float16))
    assert n.tolist() == [0, 65504, -65504]
    assert mx.nan_to_num(x, 7.0).tolist() == [1, -2, 7]
    assert mx.nan_to_num(mx.array([1])).dtype == mx.int32
    for t in (mx.float64, mx.complex64):
        with pytest.raises(ValueError):
            mx.nan_to_num(mx.array([1], t))
    assert mx.logical_xor(mx.array([True, False]), 1).tolist() == [False, True]
    assert mx.positive(x) is not x


def test_closeness():
    inf, nan = float("inf"), float("nan")
    a = np.float32([1, 1, inf, inf, -inf, nan, 0])
    b = np.float32([1 + 1e-6, 1.1, inf, 1, inf, nan, 1e-9])
    for equal_nan in (False, True):
        expected = np.isclose(a, b, equal_nan=equal_nan)
        got = mx.isclose(mx.array(a), mx.array(b), equal_nan=equal_nan)
        assert got.tolist() == expected.tolist()
    assert mx.isclose(mx.array([1], mx.uint8), mx.array([2], mx.uint8), atol=1).item()
    assert mx.allclose(mx.array([1.0]), mx.array([1.0 + 1e-7])).item() is True
    assert mx.allclose(mx.array([1.0, 2]), mx.array([1.0])).item() is False
    assert mx.array_equal(mx.array([1, 2]), mx.array([1.0, 2.0])).item() is True
    assert mx.array_equal(mx.array([1, 2]), mx.array([1])).item() is False
    assert mx.array_equal(mx.array([nan]), mx.array([nan])).item() is False
    assert mx.array_equal(mx.array([nan]), mx.array([nan]), equal_nan=True).item() is True


def test_signatures():
    x = mx.array([1.0])
    for call in (
        lambda: mx.exp(),
        lambda: mx.exp(a=x),
        lambda: mx.exp(None),
        lambda: mx.exp(x, mx.cpu),
        lambda: mx.exp(x, stream=1),
        lambda: mx.exp(x, other=1),
        lambda: mx.add(x),
        lambda: mx.add(x, None),
        lambda: mx.add(x, x, x),
        lambda: mx.isclose(x, [1.0]),
    ):
        with pytest.raises(TypeError):
            call()
    assert mx.acos is mx.arccos and mx.pow is mx.power and mx.conj is mx.conjugate
    for other in ([1.0], "a", object()):
        with pytest.raises(ValueError):
            mx.exp(other)
        with pytest.raises(ValueError):
            mx.add(x, other)


def test_graphs_as_dot(tmp_path):
    import io

    a, b = mx.array(1.0), mx.array(2.0)
    text = io.StringIO()
    mx.export_to_dot(text, {"out": (a + b) * a}, a=a)
    text = text.getvalue()
    assert text.startswith("digraph {") and text.endswith("}")
    assert '"a"' in text and "Add" in text and "Multiply" in text
    assert text.count("shape=rectangle") == 2
    q, r = mx.divmod(a, b)
    mx.export_to_dot(tmp_path / "g.dot", q, r)
    assert "FloorDivide" in (tmp_path / "g.dot").read_text()
    for _ in range(100_000):
        a = a + 1
    mx.export_to_dot(str(tmp_path / "long.dot"), a)
    with pytest.raises(ValueError):
        mx.export_to_dot(io.StringIO(), a, x=1)
