"""Element by element: unary and binary functions, a chain that can be fused, broadcasts, casts."""

from .workload import ITEMSIZE, Family, normal

family = Family("elementwise")
MILLIONS = 1 << 23


def erf_jax(xp):
    import jax

    return jax.scipy.special.erf


def gelu(xp):
    return lambda x: 0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


add = family.add
for op in ("exp", "tanh", "sin"):
    add(
        f"{op}_8M_f32",
        normal(MILLIONS),
        same=lambda xp, op=op: getattr(xp, op),
        bytes=8 * MILLIONS,
        quick=op == "exp",
    )
add(
    "erf_8M_f32",
    normal(MILLIONS),
    mlx=lambda xp: xp.erf,
    torch=lambda xp: xp.erf,
    jax=erf_jax,
    bytes=8 * MILLIONS,
)
for dtype, short in (("bfloat16", "bf16"), ("float16", "f16")):
    add(
        f"exp_8M_{short}",
        normal(MILLIONS),
        same=lambda xp: xp.exp,
        dtype=dtype,
        bytes=4 * MILLIONS,
        quick=short == "bf16",
    )
for dtype, short in (("float32", "f32"), ("bfloat16", "bf16"), ("float16", "f16")):
    add(
        f"add_8M_{short}",
        normal(MILLIONS),
        normal(MILLIONS),
        same=lambda xp: xp.add,
        dtype=dtype,
        bytes=3 * MILLIONS * ITEMSIZE[dtype],
        quick=short == "f32",
    )
add(
    "add_64k_f32",
    normal(1 << 16),
    normal(1 << 16),
    same=lambda xp: xp.add,
    bytes=12 << 16,
    quick=True,
)
for dtype, short in (("float32", "f32"), ("bfloat16", "bf16")):
    add(
        f"gelu_chain_4M_{short}",
        normal(1 << 22),
        same=gelu,
        dtype=dtype,
        bytes=2 * ITEMSIZE[dtype] << 22,
        compiled=True,
        quick=short == "f32",
    )
add(
    "bcast_add_col_row_4k",
    normal(4096, 1),
    normal(1, 4096),
    same=lambda xp: xp.add,
    bytes=4 << 24,
    quick=True,
)
add(
    "bcast_add_bias_4k",
    normal(4096, 4096),
    normal(4096),
    same=lambda xp: xp.add,
    bytes=8 << 24,
)
add(
    "cast_8M_f32_bf16",
    normal(MILLIONS),
    mlx=lambda xp: lambda x: x.astype(xp.bfloat16),
    torch=lambda xp: lambda x: x.to(xp.bfloat16),
    jax=lambda xp: lambda x: x.astype(xp.bfloat16),
    bytes=6 * MILLIONS,
    tolerance=1e-6,
)
