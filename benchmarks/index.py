"""Reading and adding at positions given by arrays."""

from .workload import Family, integers, normal

family = Family("index")


def scatter_add(xp):
    return lambda table, rows, values: table.at[rows].add(values)


add = family.add
add(
    "gather_8k_of_32kx512",
    normal(32768, 512),
    integers(32768, 8192),
    same=lambda xp: lambda table, rows: table[rows],
    torch=lambda xp: lambda table, rows: xp.nn.functional.embedding(rows, table),
    bytes=8 << 22,
    quick=True,
)
add(
    "scatter_add_16k_8kx512",
    normal(8192, 512),
    integers(8192, 16384),
    normal(16384, 512),
    mlx=scatter_add,
    torch=lambda xp: lambda table, rows, values: table.index_add(0, rows, values),
    jax=scatter_add,
    tolerance=1e-4,
    quick=True,
)
add(
    "take_along_4kx1k",
    normal(4096, 1024),
    integers(1024, 4096, 1024),
    same=lambda xp: lambda x, i: xp.take_along_axis(x, i, axis=-1),
    torch=lambda xp: lambda x, i: xp.gather(x, -1, i),
    bytes=12 << 22,
)
