"""Replays data/vectors.json: expressions with the results that the public contract gives.

Every vector must agree, but for those listed in DIFFERS with the reason why we differ on purpose.
Vectors that use names which do not exist yet are counted and reported, not compared.
"""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import mlx.utils as mu
import numpy as np
import pytest

SPEC = json.loads((Path(__file__).parent / "data/vectors.json").read_text())
AREAS = sorted({v["area"] for v in SPEC["vectors"]})
TOLERANCE = {
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "float32": 2e-6,
    "float64": 1e-12,
    "complex64": 2e-6,
}

# area -> {expression: why our result is another}
EVEN_INTEGERS = "every integer is equally likely; the contract's come from 24 bits of a float"
MASK_READS = "boolean masks can be read, as in NumPy"
DIFFERS: dict[str, dict[str, str]] = {
    "indexing": {
        "a[True]": MASK_READS,
        "a[mx.array([True]*10)]": MASK_READS,
        "a[[]]": "an empty list selects nothing, as in NumPy",
        "a[np.array([1,2])]": "arrays of NumPy are indices as good as our own",
    },
    "random": {
        "mx.random.randint(0,10,(5,),key=mx.random.key(0))": EVEN_INTEGERS,
        "mx.random.randint(-5,5,(5,),mx.int8,key=mx.random.key(0))": EVEN_INTEGERS,
        "mx.random.randint(-100,100,shape=(8,),key=mx.random.key(42))": EVEN_INTEGERS,
        "mx.random.randint(0,255,shape=(8,),dtype=mx.uint8,key=mx.random.key(42))": EVEN_INTEGERS,
    },
    "transforms_io_misc": {
        "mx.grad(lambda x:x**0.0)(mx.array(0.0))": "the gradient of x**0 is 0, not NaN",
        "np.array(mx.array([1.5],mx.bfloat16))": "converts where ml_dtypes is installed",
        "memoryview(mx.array([1.0],mx.bfloat16)).format": "refused, so that NumPy asks __array__",
    },
    "reductions_and_elementwise": {
        "mx.softmax(mx.array([[1,2],[3,4]]),axis=0)": "integers give float32 along every axis",
    },
}


def plain(v):
    """Numbers as the file writes them: complex as a dict, nan and inf as strings."""
    if isinstance(v, dict) and "complex" in v:
        return complex(*[plain(x) for x in v["complex"]])
    if isinstance(v, str):
        return float(v)
    if isinstance(v, list):
        return [plain(x) for x in v]
    return v


def close(got, want, dtype):
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return False
    if got.dtype.kind in "fc" or want.dtype.kind in "fc":
        t = TOLERANCE.get(dtype, 2e-6)
        return np.allclose(
            got.astype(np.complex128), want.astype(np.complex128), rtol=t, atol=t, equal_nan=True
        )
    return bool((got == want).all())


def dtype_name(text):
    return str(text).split(".")[-1].rstrip("_")


def same_array(got, want):
    return (
        isinstance(got, mx.array)
        and dtype_name(got.dtype) == want["dtype"].rstrip("_")
        and list(got.shape) == want["shape"]
        and close(got.tolist(), plain(want["data"]), want["dtype"])
    )


def same_container(got, want):
    if want["type"] == "dict":
        return set(map(str, got)) == set(want["items"]) and all(
            same(got[k] if k in got else got[int(k)], w) for k, w in want["items"].items()
        )
    return (
        isinstance(got, (list, tuple))
        and len(got) == len(want["items"])
        and all(same(g, w) for g, w in zip(got, want["items"]))
    )


def same(got, want):
    kind = want["type"]
    if kind == "array":
        return same_array(got, want)
    if kind == "numpy.ndarray":
        return (
            isinstance(got, np.ndarray)
            and str(got.dtype) == want["dtype"]
            and close(got, plain(want["data"]), want["dtype"])
        )
    if kind in ("list", "tuple", "dict"):
        return same_container(got, want)
    if kind == "bytes":
        return got.hex() == want["hex"]
    if kind in ("dtype", "DtypeCategory"):
        return dtype_name(got) == dtype_name(want["value"])
    if kind == "repr":
        return repr(got) == want["value"]
    if kind == "NoneType":
        return got is None
    if kind == "str":
        return str(got) == want["value"]
    value = plain(want["value"])
    if isinstance(value, bool):
        return bool(got) == value
    if isinstance(value, (int, float, complex)):
        return type(got).__name__ == kind and close(got, value, "float32")
    return got == value


def missing_name(error: BaseException | None) -> str | None:
    """The name that does not exist yet, if that is what `error` says."""
    if isinstance(error, NameError):  # its preamble stopped at such a name
        return error.name
    if isinstance(error, AttributeError):
        m = re.search(
            r"(?:module '?mlx[\w.]*'?|'array' object) has no attribute '(\w+)'", str(error)
        )
        return m.group(1) if m else None
    return None


def replay(vector, namespace):
    """(agrees, missing name, what happened)"""
    try:
        got, error = eval(vector["expr"], namespace), None
        if isinstance(got, mx.array):
            mx.eval(got)
    except Exception as e:
        got, error = None, e
    if name := missing_name(error):
        return False, name, repr(error)
    if vector.get("loose"):
        return True, None, ""
    if "raises" in vector:
        names = [c.__name__ for c in type(error).__mro__]
        return vector["raises"] in names, None, repr(error) if error else repr(got)
    if error is not None:
        return False, None, repr(error)
    return same(got, vector["result"]), None, repr(got)


@pytest.mark.parametrize("area", AREAS)
def test_area(area, tmp_path, monkeypatch, record_property):
    monkeypatch.chdir(tmp_path)
    namespace = dict(mx=mx, nn=nn, optim=optim, mu=mu, np=np, nan=math.nan, inf=math.inf, math=math)
    try:
        exec(SPEC["preamble"].get(area, ""), namespace)
    except AttributeError as e:
        assert missing_name(e), e
    excused = dict(DIFFERS.get(area, {}))
    if mx.cuda.is_available():
        excused["mx.default_device()"] = "the GPU is the default device where there is one"
    wrong, missing, total = [], {}, 0
    for vector in (v for v in SPEC["vectors"] if v["area"] == area):
        total += 1
        agrees, name, what = replay(vector, namespace)
        if name:
            missing[name] = missing.get(name, 0) + 1
        elif not agrees and vector["expr"] not in excused:
            want = vector.get("raises") or vector.get("result")
            wrong.append(f"{vector['expr']}\n    got  {what[:300]}\n    want {str(want)[:300]}")
    print(f"{area}: {total - len(wrong) - sum(missing.values())} of {total} agree", end="")
    print(f"; not there yet: {missing}" if missing else "")
    limit = int(os.environ.get("MLX_VECTORS_SHOW", "20"))
    assert not wrong, f"{len(wrong)} of {total} differ:\n" + "\n".join(wrong[:limit])
