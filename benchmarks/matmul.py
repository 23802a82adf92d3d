"""Matrix products."""

import numpy as np

from .workload import Family, normal

family = Family("matmul")


def product_jax(xp):
    return lambda x, w: xp.matmul(x, w, precision="highest")


def in_by_out(inputs):
    """JAX keeps weights as (in, out); changing the layout is not timed."""
    return [inputs[0], np.ascontiguousarray(np.swapaxes(inputs[1], -1, -2))]


PRODUCT = {"same": lambda xp: xp.matmul, "jax": product_jax}
TIMES_TRANSPOSED = {
    "same": lambda xp: lambda x, w: x @ xp.swapaxes(w, -1, -2),
    "jax": product_jax,
    "layout": {"jax": in_by_out},
}

add = family.add
for m in (256, 1024, 2048):
    add(
        f"matmul_{m}_f32",
        normal(m, m),
        normal(m, m, scale=m**-0.5),
        **PRODUCT,
        flops=2 * m**3,
        quick=m != 2048,
    )
add(
    "linear_512x1024_xWt_f32",
    normal(512, 1024),
    normal(1024, 1024, scale=1 / 32),
    **TIMES_TRANSPOSED,
    flops=2 << 29,
)
for dtype, short, size in (("float32", "f32", 4), ("bfloat16", "bf16", 2)):
    add(
        f"gemv_4k_{short}",
        normal(1, 4096),
        normal(4096, 4096, scale=1 / 64),
        **TIMES_TRANSPOSED,
        dtype=dtype,
        bytes=size << 24,
        quick=short == "f32",
    )
add(
    "bmm_64x128_f32",
    normal(64, 128, 128),
    normal(64, 128, 128, scale=128**-0.5),
    **PRODUCT,
    flops=2 * 64 * 128**3,
)
for dtype, short, m in (("bfloat16", "bf16", 1024), ("float16", "f16", 512)):
    add(
        f"matmul_{m}_{short}",
        normal(m, m),
        normal(m, m, scale=m**-0.5),
        same=lambda xp: xp.matmul,
        dtype=dtype,
        flops=2 * m**3,
        quick=short == "bf16",
    )
