"""Sorting and selecting."""

import numpy as np

from .workload import Family, normal

family = Family("sort")


def by_index(inputs, outputs):
    """The elements instead of their indices: equal elements may come in either order."""
    return [np.take_along_axis(inputs[0], outputs[0].astype(np.int64), -1)]


def ordered(inputs, outputs):
    return [np.sort(outputs[0], -1)]


def first_32(inputs, outputs):
    return [np.sort(by_index(inputs, [outputs[0][..., :32]])[0], -1)]


def sort_jax(xp):
    return lambda x: xp.sort(x, axis=-1, stable=False)


def topk_jax(xp):
    import jax

    return lambda x: jax.lax.top_k(x, 32)[0]


def smallest_torch(xp):
    return lambda x: xp.topk(x, 32, dim=-1, largest=False, sorted=False)[1]


add = family.add
for name, shape in (("sort_1M", (1 << 20,)), ("sort_rows_1kx1k", (1024, 1024))):
    add(
        name,
        normal(*shape),
        same=lambda xp: lambda x: xp.sort(x, axis=-1),
        torch=lambda xp: lambda x: xp.sort(x, dim=-1)[0],
        jax=sort_jax,
        quick=name == "sort_1M",
    )
add(
    "argsort_1M",
    normal(1 << 20),
    same=lambda xp: lambda x: xp.argsort(x, axis=-1),
    torch=lambda xp: lambda x: xp.argsort(x, dim=-1),
    jax=lambda xp: lambda x: xp.argsort(x, axis=-1, stable=False),
    comparable={"": by_index},
)
add(
    "topk32_1kx4k",
    normal(1024, 4096),
    mlx=lambda xp: lambda x: xp.topk(x, 32, axis=-1),
    numpy=lambda xp: lambda x: xp.partition(x, x.shape[-1] - 32, axis=-1)[..., -32:],
    torch=lambda xp: lambda x: xp.topk(x, 32, dim=-1)[0],
    jax=topk_jax,
    comparable={"": ordered},
    quick=True,
)
add(
    "argpartition32_1kx4k",
    normal(1024, 4096),
    same=lambda xp: lambda x: xp.argpartition(x, 32, axis=-1),
    torch=smallest_torch,
    comparable={"": first_32},
)
