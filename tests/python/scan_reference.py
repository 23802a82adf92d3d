"""What every row of scan.def computes, in NumPy: the oracle of test_scan.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass
class ScanRow:
    """A row of scan.def: function(x, axis), what no elements give, and units of rounding it may err by."""

    function: Callable
    identity: Callable
    ulp: float = 1.0
    smooth: bool = True


SCANS: dict[str, ScanRow] = {}


def row(name: str, function: Callable, identity: Callable, **options) -> None:
    SCANS[name] = ScanRow(function, identity, **options)


def _same(ufunc):
    return lambda x, axis: ufunc.accumulate(x, axis=axis, dtype=x.dtype)


def _log_sum(x, axis):
    """Along the axis the logarithm of the sum so far, relative to the maximum so far."""
    x = np.moveaxis(x, axis, 0)
    out = np.empty_like(x)
    total = np.full(x.shape[1:], -np.inf, x.dtype)
    for i, row in enumerate(x):
        if x.dtype.kind == "c":
            total = np.log(np.exp(total) + np.exp(row))
        else:
            total = np.logaddexp(total, row)
        out[i] = total
    return np.moveaxis(out, 0, axis)


def _least(t):
    return np.iinfo(t).min if t.kind in "iu" else False if t.kind == "b" else -np.inf


def _greatest(t):
    return np.iinfo(t).max if t.kind in "iu" else True if t.kind == "b" else np.inf


row("cumsum", _same(np.add), lambda t: 0)
row("cumprod", _same(np.multiply), lambda t: 1, ulp=2.0)
row(
    "cummax", _same(np.maximum), lambda t: complex(-np.inf, -np.inf) if t.kind == "c" else _least(t)
)
row(
    "cummin",
    _same(np.minimum),
    lambda t: complex(np.inf, np.inf) if t.kind == "c" else _greatest(t),
)
row("logcumsumexp", _log_sum, lambda t: -np.inf, ulp=8.0)
