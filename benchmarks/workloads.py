"""All workloads, family by family."""

import functools

from . import (
    conv,
    elementwise,
    fast,
    fft,
    index,
    linalg,
    matmul,
    models,
    overhead,
    quantize,
    random,
    reduce,
    shape,
    sort,
)

FAMILIES = {
    module.family.name: module.family.workloads
    for module in (
        overhead,
        elementwise,
        shape,
        reduce,
        sort,
        index,
        matmul,
        quantize,
        conv,
        fast,
        random,
        fft,
        linalg,
        models,
    )
}


@functools.cache
def by_name():
    return {w.name: w for workloads in FAMILIES.values() for w in workloads}
