"""Dtypes: identity, categories, promotion by the array API's functions, limits."""

from __future__ import annotations

import copy
import itertools
import pickle

import mlx.core as mx
import numpy as np
import pytest

NAMES = [
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "complex64",
]
ALL = {n: getattr(mx, "bool_" if n == "bool" else n) for n in NAMES}


def test_identity():
    for i, (name, t) in enumerate(ALL.items()):
        assert repr(t) == f"mlx.core.{name}" and hash(t) == i
        assert t == t and t == copy.deepcopy(t) == pickle.loads(pickle.dumps(t))
        assert t.size == (2 if name == "bfloat16" else np.dtype(name).itemsize)
        assert t != name and t != 1 and (t == name) is False
        assert mx.array(0, t).dtype == t
    assert len(set(ALL.values())) == 14


CHAINS = {
    "bool": ["generic"],
    "uint": ["unsignedinteger", "integer", "number", "generic"],
    "int": ["signedinteger", "integer", "number", "generic"],
    "float": ["floating", "inexact", "number", "generic"],
    "bfloat": ["floating", "inexact", "number", "generic"],
    "complex": ["complexfloating", "inexact", "number", "generic"],
}
CATEGORIES = {c for chain in CHAINS.values() for c in chain}


def test_issubdtype():
    for name, t in ALL.items():
        chain = CHAINS[name.rstrip("0123456789")]
        for c in CATEGORIES:
            assert mx.issubdtype(t, getattr(mx, c)) == (c in chain)
        for other in ALL.values():
            assert mx.issubdtype(t, other) == (t == other)
    for chain in CHAINS.values():
        for i, c in enumerate(chain):
            for d in CATEGORIES:
                assert mx.issubdtype(getattr(mx, c), getattr(mx, d)) == (d in chain[i:])
            assert not mx.issubdtype(getattr(mx, c), mx.float32)
    assert mx.DtypeCategory.floating == mx.floating
    for bad in ((1, mx.float32), (mx.float32, float), (np.float32, mx.floating), ("a", "b")):
        with pytest.raises(ValueError):
            mx.issubdtype(*bad)


def test_isdtype():
    kinds = {
        "bool": ["bool"],
        "signed integer": ["int8", "int16", "int32", "int64"],
        "unsigned integer": ["uint8", "uint16", "uint32", "uint64"],
        "integral": [n for n in NAMES if "int" in n],
        "real floating": [n for n in NAMES if "float" in n],
        "complex floating": ["complex64"],
        "numeric": NAMES[1:],
    }
    for kind, names in kinds.items():
        for n, t in ALL.items():
            assert mx.isdtype(t, kind) == (n in names)
    assert mx.isdtype(mx.int8, mx.int8) and not mx.isdtype(mx.int8, mx.uint8)
    assert mx.isdtype(mx.int8, ("bool", mx.int8)) and not mx.isdtype(mx.int8, ())
    for bad in ("int", "", 1, None, ["bool"], ("bool", "x"), (1,), (("bool",),)):
        with pytest.raises((ValueError, TypeError)):
            mx.isdtype(mx.int8, bad)


def test_result_type():
    for a, b in itertools.product(ALL.values(), repeat=2):
        t = mx.result_type(a, b)
        assert t == mx.result_type(b, a) == mx.result_type(mx.array(0, a), b)
        assert t == (mx.array(0, a) + mx.array(0, b)).dtype
        assert mx.can_cast(a, b) == (t == b) == mx.can_cast(mx.array(0, a), b)
    assert mx.result_type(mx.int8, mx.uint8, mx.float16) == mx.float16
    assert mx.result_type(mx.int8) == mx.int8
    for bad in ((), (1,), (mx.int8, 1.0), ("int8",)):
        with pytest.raises(ValueError):
            mx.result_type(*bad)


def test_promotion_agrees_with_numpy_where_it_is_the_same():
    for a, b in itertools.product(NAMES, repeat=2):
        if "bfloat16" in (a, b):
            continue
        t = repr(mx.result_type(ALL[a], ALL[b])).removeprefix("mlx.core.")
        both = {a, b}
        if "complex64" in both or ("uint64" in both and any(n.startswith("int") for n in both)):
            continue
        mixed = any("int" in n for n in both) and any("float" in n for n in both)
        if mixed:
            assert t == (a if "float" in a else b)
        else:
            assert t == np.promote_types(a, b).name


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo(name):
    ours, theirs = mx.finfo(ALL[name]), np.finfo(name)
    assert ours.dtype == ALL[name] and ours.bits == theirs.bits
    for field in ("min", "max", "eps", "smallest_normal"):
        assert getattr(ours, field) == float(getattr(theirs, field))
        assert type(getattr(ours, field)) is float


def test_finfo_of_the_others():
    b = mx.finfo(mx.bfloat16)
    assert (b.bits, b.eps, b.smallest_normal) == (16, 2.0**-7, 2.0**-126)
    assert b.max == -b.min == (2 - 2.0**-7) * 2.0**127
    c = mx.finfo(mx.complex64)
    assert c.dtype == mx.float32 and c.max == mx.finfo(mx.float32).max
    assert repr(mx.finfo(mx.float32)) == "finfo(min=-3.40282e+38, max=3.40282e+38, dtype=float32)"
    for t in (mx.int32, mx.bool_):
        with pytest.raises(ValueError):
            mx.finfo(t)
    with pytest.raises(TypeError):
        mx.finfo("float32")


def test_iinfo():
    for n in NAMES:
        if "int" not in n:
            with pytest.raises(ValueError):
                mx.iinfo(ALL[n])
            continue
        ours, theirs = mx.iinfo(ALL[n]), np.iinfo(n)
        assert (ours.min, ours.max, ours.dtype) == (theirs.min, theirs.max, ALL[n])
    assert repr(mx.iinfo(mx.int8)) == "iinfo(min=-128, max=127, dtype=int8)"


def test_astype():
    x = mx.array([1.7, -1.7, float("nan"), 1e20])
    assert x.astype(mx.int32).tolist() == [1, -1, 0, 2**31 - 1]
    assert mx.astype(x, mx.uint8).tolist() == [1, 0, 0, 255]
    assert x.astype(mx.bool_).tolist() == [True, True, True, True]
    assert mx.array([2 + 3j]).astype(mx.float32).tolist() == [2]
    assert mx.array([300]).astype(mx.int8).tolist() == [44]
    with pytest.raises(TypeError):
        x.astype("int32")
    with pytest.raises(TypeError):
        mx.astype([1], mx.int32)
