"""The rows of elementwise.def as Python sees them, and arrays of every dtype and layout to try them on."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import mlx.core as mx
import numpy as np
from reference import ROWS, Row

ROOT = Path(__file__).resolve().parents[2]
DEF = ROOT / "mlx/ops/elementwise/elementwise.def"

DTYPES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 "
    "float16 float32 float64 bfloat16 complex64"
).split()
EPSILON = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}
EPSILON["complex64"] = EPSILON["float32"]
# Below this, results are subnormal and an absolute error counts.
TINY = {"float16": 2**-24, "bfloat16": 2**-133, "float32": 2**-149, "float64": 2**-1074}
TINY["complex64"] = TINY["float32"]


@dataclass(frozen=True)
class Op:
    name: str
    arity: int
    result: str
    accepts: str

    @property
    def row(self) -> Row:
        return ROWS[self.name]

    def __call__(self, *arrays):
        if self.name == "astype":
            return arrays[0].astype(mx.float32)
        return getattr(mx, self.name)(*arrays)

    def takes(self, dtype: str) -> bool:
        kind = kind_of(dtype)
        return {
            "any": True,
            "real": kind != "c",
            "integral": kind in "biu",
            "number": kind != "b",
        }[self.accepts]

    def computes_in(self, dtype: str) -> str:
        """The dtype the operands are converted to."""
        if self.result == "floating" and kind_of(dtype) not in "fc":
            return "float32"
        if self.result == "shift" and dtype == "bool":
            return "uint8"
        return dtype

    def result_dtype(self, dtype: str) -> str:
        if self.name == "astype":
            return "float32"
        computed = self.computes_in(dtype)
        if self.result == "boolean":
            return "bool"
        if self.result == "magnitude" and computed == "complex64":
            return "float32"
        return computed


def read_ops() -> list[Op]:
    rows = re.findall(
        r"^OP\((\w+), (\w+), (\d), (\w+), (\w+), (\w+),", DEF.read_text(), flags=re.MULTILINE
    )
    return [Op(name, int(arity), result, accepts) for _, name, arity, result, accepts, _ in rows]


OPS = read_ops()


def kind_of(dtype: str) -> str:
    return {"b": "b", "u": "u", "i": "i", "f": "f", "c": "c"}[
        "f" if dtype == "bfloat16" else dtype[0]
    ]


def numpy_dtype(dtype: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)


def widened(x: np.ndarray) -> np.ndarray:
    """Floating values in double precision, everything else as it is."""
    if x.dtype == ml_dtypes.bfloat16 or x.dtype.kind == "f":
        return x.astype(np.float64)
    return x.astype(np.complex128) if x.dtype.kind == "c" else x


def to_mx(x: np.ndarray) -> mx.array:
    if x.dtype == ml_dtypes.bfloat16:
        return mx.array(np.array(x, order="C").view(np.uint16)).view(mx.bfloat16)
    if x.dtype == np.float64:
        return mx.array(x, dtype=mx.float64)
    return mx.array(x)


def to_numpy(a: mx.array) -> np.ndarray:
    if a.dtype == mx.bfloat16:
        return np.array(a.view(mx.uint16)).view(ml_dtypes.bfloat16)
    return np.array(a)


def generator(*key: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def values(rng, op: Op, position: int, dtype: str, n: int) -> np.ndarray:
    """n operand values for argument `position`: random in the row's domain, special ones at the end."""
    row = op.row
    if op.name == "where" and position == 0:
        return rng.integers(0, 2, n).astype(bool)
    kind, t = kind_of(dtype), numpy_dtype(dtype)
    low, high = row.domain2 if position == 1 and row.domain2 else row.domain
    if kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if kind in "iu":
        return integer_values(rng, op, position, t, n)
    if kind == "c":
        radius = row.complex_domain
        z = rng.uniform(-radius, radius, n) + 1j * rng.uniform(-radius, radius, n)
        return z.astype(t)
    x = rng.uniform(low, high, n)
    special = np.array(row.special)
    if n > 2 * len(special):
        x[n - len(special) :] = rng.permutation(special)
    return x.astype(t)


def integer_values(rng, op: Op, position: int, t: np.dtype, n: int) -> np.ndarray:
    limits = np.iinfo(t)
    if op.name in ("left_shift", "right_shift") and position == 1:
        return rng.integers(-2 if t.kind == "i" else 0, t.itemsize * 8 + 3, n).astype(t)
    if op.name == "power":
        low = -3 if t.kind == "i" else 0
        return rng.integers(low, 7, n).astype(t)
    if op.result == "floating":
        low, high = op.row.domain
        low = max(low, limits.min)
        return rng.integers(int(np.ceil(low)), int(min(high, limits.max)) + 1, n).astype(t)
    x = rng.integers(max(limits.min, -100), min(limits.max, 100), n).astype(t)
    if n > 8:
        x[-4:] = np.array([limits.min, limits.max, 0, 1], dtype=t)
        if t.kind == "i":
            x[-5] = -1
    return x


LAYOUTS = ("dense", "transposed", "reversed", "offset", "broadcast", "scalar", "empty", "long")


def operands(op: Op, dtype: str, layout: str) -> list[tuple[mx.array, np.ndarray]]:
    """Pairs (mx array in the layout, the same values in NumPy)."""
    rng = generator(op.name, dtype, layout)

    def one(position: int):
        def draw(*shape):
            n = int(np.prod(shape))
            return values(rng, op, position, dtype, n).reshape(shape)

        if layout == "dense":
            x = draw(5, 7)
            return to_mx(x), x
        if layout == "long":  # several tiles and a tail
            x = draw(2500)
            return to_mx(x), x
        if layout == "transposed":
            x = draw(3, 5, 4)
            return to_mx(x).transpose(2, 0, 1), x.transpose(2, 0, 1)
        if layout == "reversed":
            x = draw(6, 9)
            return to_mx(x)[::-1, ::-2], x[::-1, ::-2]
        if layout == "offset":
            x = draw(9, 8)
            return to_mx(x)[2:7, 1:7:2], x[2:7, 1:7:2]
        if layout == "broadcast":  # against each other, and over an axis
            x = draw(4, 1, 6) if position % 2 == 0 else draw(5, 1)
            return to_mx(x), x
        if layout == "scalar":
            x = draw(1).reshape(())
            return to_mx(x), x
        x = draw(0, 3)
        return to_mx(x), x

    return [one(k) for k in range(op.arity)]


def expected(op: Op, dtype: str, arrays: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The oracle's result for operands of `dtype`, in double precision or exact integers, and the
    magnitude its error is relative to."""
    computed = numpy_dtype(op.computes_in(dtype))
    wide = [
        x if op.name == "where" and k == 0 else widened(x.astype(computed))
        for k, x in enumerate(arrays)
    ]
    with np.errstate(all="ignore"):
        y = np.asarray(op.row.function(*wide))
        scale = np.abs(y) if kind_of(op.result_dtype(dtype)) in "fc" else np.zeros(y.shape)
        if op.row.scale:
            scale = np.maximum(scale, op.row.scale(*wide))
    return y, scale


def assert_close(
    got: mx.array, want: np.ndarray, dtype: str, ulp: float, scale: np.ndarray
) -> None:
    """`got` has the dtype and lies within `ulp` units in the last place of the exact value."""
    assert str(got.dtype) == f"mlx.core.{dtype}", (got.dtype, dtype)
    assert tuple(got.shape) == want.shape
    actual = widened(to_numpy(got))
    if kind_of(dtype) not in "fc":
        np.testing.assert_array_equal(actual, want)
        return
    with np.errstate(all="ignore"):
        # One rounding to the dtype says which values overflow.
        rounded = widened(want.astype(numpy_dtype(dtype)))
    finite = np.isfinite(rounded) & np.isfinite(actual)
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(rounded))
    same = (actual == rounded) | np.isnan(rounded)
    edge = np.abs(want) > 0.999 * float(ml_dtypes.finfo(numpy_dtype(dtype)).max)
    assert (same | finite | edge).all(), "infinities differ"
    slack = np.maximum(scale * EPSILON[dtype], TINY[dtype]) * ulp
    with np.errstate(all="ignore"):
        error = np.abs(actual - rounded)
    bad = finite & ~(error <= slack)
    if bad.any():
        i = np.argwhere(bad)[0]
        raise AssertionError(
            f"at {tuple(i)}: got {actual[tuple(i)]!r}, expected {rounded[tuple(i)]!r}"
        )
