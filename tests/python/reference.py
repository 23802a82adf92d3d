"""What every elementwise row computes, in NumPy double precision: the oracle of test_table.py.

A row gives the function on NumPy arrays, the values it is tried on, and how exact it has to be.
Operands arrive in the dtype the row computes in: floating dtypes widened to float64 (complex128),
integers and bool as they are, so that wrapping is NumPy's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

INF, NAN = math.inf, math.nan


@dataclass
class Row:
    """One row: `domain` is the range of random floats, `special` values are added to them."""

    function: Callable
    domain: tuple[float, float] = (-4.0, 4.0)
    domain2: tuple[float, float] | None = None
    ulp: float = 4.0  # float32 units in the last place
    special: tuple[float, ...] = (0.0, -0.0, 1.0, -1.0, INF, -INF, NAN)
    smooth: bool = True  # differentiable on the domain: gradients are checked
    complex_domain: float = 2.0
    # The magnitude that the error is relative to, where it is not the result's: sums that may cancel.
    scale: Callable | None = None


ROWS: dict[str, Row] = {}


def row(name: str, function: Callable, **options) -> None:
    ROWS[name] = Row(function, **options)


def _wrap_shift(function):
    """NumPy leaves counts beyond the width undefined; ours give 0 or the sign."""

    def shifted(a, b):
        width = a.dtype.itemsize * 8
        out = (b < 0) | (b >= width)
        safe = np.where(out, 0, b).astype(a.dtype)
        if function is np.left_shift:
            far = np.zeros_like(a)
        else:
            far = np.where(a < 0, -1, 0).astype(a.dtype)
        return np.where(out, far, function(a, safe))

    return shifted


def _floor_divide(a, b):
    if a.dtype == bool:
        return a & b
    if a.dtype.kind in "iu":
        low = np.iinfo(a.dtype).min
        trap = (b == 0) | ((a == low) & (b == -1) if a.dtype.kind == "i" else False)
        q = np.floor_divide(a, np.where(trap, 1, b).astype(a.dtype))
        return np.where(b == 0, 0, np.where(trap, low, q)).astype(a.dtype)
    return np.floor(a / b)


def _remainder(a, b):
    if a.dtype == bool:
        return a & ~b & False
    if a.dtype.kind in "iu":
        trap = (b == 0) | (
            (a == np.iinfo(a.dtype).min) & (b == -1) if a.dtype.kind == "i" else False
        )
        r = np.remainder(a, np.where(trap, 1, b).astype(a.dtype))
        return np.where(trap, 0, r).astype(a.dtype)
    return np.remainder(a, b)


def _power(a, b):
    if a.dtype == bool:
        return a | ~b
    if a.dtype.kind in "iu":
        a, b = np.broadcast_arrays(a, b)
        exact = np.array(
            [0 if int(e) < 0 else pow(int(x), int(e)) for x, e in zip(a.ravel(), b.ravel())],
            dtype=object,
        )
        bits = a.dtype.itemsize * 8
        wrapped = [v % (1 << bits) for v in exact]
        if a.dtype.kind == "i":
            wrapped = [v - (1 << bits) if v >= 1 << (bits - 1) else v for v in wrapped]
        return np.array(wrapped, dtype=a.dtype).reshape(a.shape)
    return np.power(a, b)


def _sign(a):
    if a.dtype == bool:
        return a
    if a.dtype.kind == "c":
        m = np.abs(a)
        return np.where(m == 0, 0, a / np.where(m == 0, 1, m))
    return np.sign(a)


def _lexicographic(better):
    """Maximum and minimum: NaN wins, complex values order by real, then imaginary part."""

    def choose(a, b):
        if a.dtype.kind != "c":
            return (np.maximum if better > 0 else np.minimum)(a, b)
        less = (a.real < b.real) | ((a.real == b.real) & (a.imag < b.imag))
        return np.where(
            np.isnan(a), a, np.where(np.isnan(b), b, np.where(less == (better > 0), b, a))
        )

    return choose


def _compare(function, strict, sign):
    def compared(a, b):
        if a.dtype.kind != "c":
            return function(a, b)
        first, second = (a, b) if sign < 0 else (b, a)
        less = (first.real < second.real) | (
            (first.real == second.real) & (first.imag < second.imag)
        )
        return less if strict else less | (first == second)

    return compared


def _logaddexp(a, b):
    if a.dtype.kind != "c":
        return np.logaddexp(a, b)
    high, low = np.where(a.real >= b.real, a, b), np.where(a.real >= b.real, b, a)
    return high + np.log1p(np.exp(low - high))  # continuous: not reduced to the principal branch


def _real_only(function, value):
    return lambda a: function(a) if a.dtype.kind in "fc" else np.full(a.shape, value)


def _isposinf(a):
    return a == INF if a.dtype.kind == "f" else np.zeros(a.shape, bool)


def _isneginf(a):
    return a == -INF if a.dtype.kind == "f" else np.zeros(a.shape, bool)


row("abs", np.abs, smooth=False)
row("negative", np.negative)
row("sign", _sign, smooth=False)
row("square", lambda a: a & a if a.dtype == bool else a * a)
row("floor", lambda a: np.floor(a) if a.dtype.kind == "f" else a, smooth=False, domain=(-50, 50))
row("ceil", lambda a: np.ceil(a) if a.dtype.kind == "f" else a, smooth=False, domain=(-50, 50))
row("trunc", lambda a: np.trunc(a) if a.dtype.kind == "f" else a, smooth=False, domain=(-50, 50))
row(
    "round",
    lambda a: np.round(a) if a.dtype.kind in "fc" else a,
    smooth=False,
    domain=(-50, 50),
    special=(0.5, 1.5, 2.5, -0.5, -1.5, INF, NAN),
)
row("exp", np.exp, domain=(-20, 20), ulp=2)
row("expm1", np.expm1, domain=(-20, 20), ulp=2)
row("log", np.log, domain=(1e-3, 50), ulp=2)
row("log2", np.log2, domain=(1e-3, 50), ulp=2)
row("log10", np.log10, domain=(1e-3, 50), ulp=2)
row("log1p", np.log1p, domain=(-0.9, 50), ulp=2)
row("sin", np.sin, domain=(-50, 50), ulp=2)
row("cos", np.cos, domain=(-50, 50), ulp=2)
row("tan", np.tan, domain=(-1.4, 1.4))
row("sinh", np.sinh, domain=(-10, 10))
row("cosh", np.cosh, domain=(-10, 10))
row("tanh", np.tanh, domain=(-6, 6), ulp=2)
row("arcsin", np.arcsin, domain=(-0.95, 0.95))
row("arccos", np.arccos, domain=(-0.95, 0.95))
row("arctan", np.arctan, domain=(-20, 20))
row("arcsinh", np.arcsinh, domain=(-20, 20))
row("arccosh", np.arccosh, domain=(1.1, 20))
row("arctanh", np.arctanh, domain=(-0.95, 0.95))
row("sqrt", np.sqrt, domain=(0.01, 50), ulp=2)
row("rsqrt", lambda a: 1 / np.sqrt(a), domain=(0.01, 50), special=(0.0, 1.0, INF, NAN))
row("reciprocal", lambda a: 1 / a, domain=(0.1, 5), special=(1.0, -1.0, 0.0, INF, NAN))
row("sigmoid", special.expit, domain=(-15, 15), ulp=2)
row("erf", special.erf, ulp=2)
row("erfinv", special.erfinv, domain=(-0.95, 0.95), ulp=16)  # the polynomial of the contract
row("degrees", lambda a: a * (180 / math.pi))
row("radians", lambda a: a * (math.pi / 180))
row("real", np.real)
row("imag", lambda a: a.imag if a.dtype.kind == "c" else np.zeros_like(a))
row("conjugate", np.conjugate)
row("logical_not", np.logical_not, smooth=False)
row("bitwise_invert", np.invert, smooth=False)
row("isnan", _real_only(np.isnan, False), smooth=False)
row("isinf", _real_only(np.isinf, False), smooth=False)
row("isfinite", _real_only(np.isfinite, True), smooth=False)
row("isposinf", _isposinf, smooth=False)
row("isneginf", _isneginf, smooth=False)
row("astype", lambda a: a)  # the conversions have a table of their own in test_table.py
row("add", lambda a, b: a + b)
row("subtract", lambda a, b: a ^ b if a.dtype == bool else a - b)
row("multiply", lambda a, b: a * b)
row("divide", lambda a, b: a / b, domain2=(0.5, 4))
row("floor_divide", _floor_divide, domain2=(0.5, 4), smooth=False)
row("remainder", _remainder, domain2=(0.5, 4), smooth=False)
row("power", _power, domain=(0.2, 4), domain2=(-3, 3), special=(0.0, 1.0, INF, NAN))
row("maximum", _lexicographic(1), smooth=False)
row("minimum", _lexicographic(-1), smooth=False)
row(
    "logaddexp",
    _logaddexp,
    scale=lambda a, b: np.maximum(np.abs(a), np.abs(b)),
)
row("arctan2", np.arctan2, domain2=(0.5, 4))
row("equal", lambda a, b: a == b, smooth=False)
row("not_equal", lambda a, b: a != b, smooth=False)
row("less", _compare(np.less, True, -1), smooth=False)
row("less_equal", _compare(np.less_equal, False, -1), smooth=False)
row("greater", _compare(np.greater, True, 1), smooth=False)
row("greater_equal", _compare(np.greater_equal, False, 1), smooth=False)
row("logical_and", np.logical_and, smooth=False)
row("logical_or", np.logical_or, smooth=False)
row("bitwise_and", np.bitwise_and, smooth=False)
row("bitwise_or", np.bitwise_or, smooth=False)
row("bitwise_xor", np.bitwise_xor, smooth=False)
row("left_shift", _wrap_shift(np.left_shift), smooth=False)
row("right_shift", _wrap_shift(np.right_shift), smooth=False)
row("where", np.where)
