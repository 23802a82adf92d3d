"""Moving elements: transposes made contiguous, joining."""

from .workload import ITEMSIZE, Family, normal

family = Family("shape")


def transposed(axes):
    """Functions that transpose and leave a contiguous array."""
    return {
        "mlx": lambda xp: lambda x: xp.contiguous(xp.transpose(x, axes)),
        "numpy": lambda xp: lambda x: xp.ascontiguousarray(xp.transpose(x, axes)),
        "torch": lambda xp: lambda x: x.permute(axes).contiguous(),
        "jax": lambda xp: lambda x: xp.transpose(x, axes),
    }


add = family.add
for dtype, short in (("float32", "f32"), ("bfloat16", "bf16")):
    add(
        f"transpose_4k_{short}",
        normal(4096, 4096),
        **transposed((1, 0)),
        dtype=dtype,
        bytes=2 * ITEMSIZE[dtype] << 24,
        quick=short == "f32",
    )
add("heads_8x512x8x64_f32", normal(8, 512, 8, 64), **transposed((0, 2, 1, 3)), bytes=8 << 21)
add(
    "concat_ax1_4kx1k",
    normal(4096, 1024),
    normal(4096, 1024),
    same=lambda xp: lambda x, y: xp.concatenate([x, y], axis=1),
    torch=lambda xp: lambda x, y: xp.cat([x, y], dim=1),
    bytes=16 << 22,
)
