"""What every row of reduce.def computes, in NumPy: the oracle of test_reduce.py.

Values arrive widened to double precision, integers in the dtype of the result where sums widen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

NAN = float("nan")


@dataclass
class Reduction:
    """A row of reduce.def: function(x, axis, keepdims), and what no elements give (None: ValueError)."""

    function: Callable
    result: str  # widened, same, boolean or floating
    empty: float | None
    exact: bool = False  # no rounding: compared for equality
    smooth: bool = True


REDUCTIONS: dict[str, Reduction] = {}


def row(name: str, function: Callable, **options) -> None:
    REDUCTIONS[name] = Reduction(function, **options)


def _accumulating(function):
    """Integers wrap in their own dtype, as those wider than int32 do for us."""

    def reduced(x, axis, keepdims):
        dtype = x.dtype if x.dtype.kind in "iu" else None
        return function(x, axis=axis, keepdims=keepdims, dtype=dtype)

    return reduced


def _nonzero(function):
    return lambda x, axis, keepdims: function(x != 0, axis=axis, keepdims=keepdims)


def _floating(function):
    def reduced(x, axis, keepdims):
        return function(
            x if x.dtype.kind in "fc" else x.astype(np.float64), axis=axis, keepdims=keepdims
        )

    return reduced


def _extreme(function):
    return lambda x, axis, keepdims: function(x, axis=axis, keepdims=keepdims)


row("sum", _accumulating(np.sum), result="widened", empty=0)
row("prod", _accumulating(np.prod), result="widened", empty=1)
row("max", _extreme(np.max), result="same", empty=None, exact=True)
row("min", _extreme(np.min), result="same", empty=None, exact=True)
row("all", _nonzero(np.all), result="boolean", empty=1, exact=True, smooth=False)
row("any", _nonzero(np.any), result="boolean", empty=0, exact=True, smooth=False)
row("mean", _floating(np.mean), result="floating", empty=NAN)
row("var", _floating(np.var), result="floating", empty=NAN)
row("std", _floating(np.std), result="floating", empty=NAN)
