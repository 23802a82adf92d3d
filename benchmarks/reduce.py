"""Reductions, scans, softmax."""

from .workload import ITEMSIZE, Family, normal

family = Family("reduce")
AXES = {"last": -1, "first": 0, "all": None}


def reduction(op, axis):
    def same(xp):
        f = getattr(xp, op)
        return lambda x: f(x, axis=axis)

    def torch(xp):
        f = xp.amax if op == "max" else getattr(xp, op)
        options = {"unbiased": False} if op == "var" else {}
        return (lambda x: f(x)) if axis is None else (lambda x: f(x, dim=axis, **options))

    return {"same": same, "torch": torch}


def softmax_numpy(xp):
    def f(x):
        e = xp.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    return f


def softmax_jax(xp):
    import jax

    return lambda x: jax.nn.softmax(x, axis=-1)


add = family.add
for op in ("sum", "max"):
    for where, axis in AXES.items():
        add(
            f"{op}_{where}_4kx4k",
            normal(4096, 4096),
            **reduction(op, axis),
            bytes=4 << 24,
            tolerance=1e-3,
            quick=op == "sum",
        )
add(
    "sum_last_4kx4k_bf16",
    normal(4096, 4096),
    **reduction("sum", -1),
    dtype="bfloat16",
    bytes=2 << 24,
)
add(
    "argmax_last_4kx4k",
    normal(4096, 4096),
    **reduction("argmax", -1),
    bytes=4 << 24,
    tolerance=1e-9,
)
add("var_last_4kx4k", normal(4096, 4096), **reduction("var", -1), bytes=4 << 24)
for name, shape, axis in (
    ("cumsum_last_1kx4k", (1024, 4096), -1),
    ("cumsum_first_4kx1k", (4096, 1024), 0),
):
    add(
        name,
        normal(*shape),
        **reduction("cumsum", axis),
        bytes=8 << 22,
        tolerance=1e-4,
        quick=axis == -1,
    )
for dtype, short in (("float32", "f32"), ("bfloat16", "bf16")):
    add(
        f"softmax_4kx1k_{short}",
        normal(4096, 1024),
        mlx=lambda xp: lambda x: xp.softmax(x, axis=-1),
        numpy=softmax_numpy,
        torch=lambda xp: lambda x: xp.softmax(x, dim=-1),
        jax=softmax_jax,
        dtype=dtype,
        bytes=2 * ITEMSIZE[dtype] << 22,
        compiled=short == "f32",
        quick=True,
    )
