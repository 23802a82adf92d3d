"""Reading and adding at positions given by arrays."""

from .workload import Family, integers, normal

family = Family("index")


def mask(*shape):
    return lambda rng: rng.integers(0, 2, shape).astype(bool)


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
add(
    "mask_read_16m",
    normal(1 << 24),
    mask(1 << 24),
    same=lambda xp: lambda x, m: x[m],
    jit=False,  # the size of the result depends on values
    bytes=7 << 24,
)
add(
    "nonzero_16m",
    mask(1 << 24),
    mlx=lambda mx: lambda m: mx.nonzero(m)[0],
    numpy=lambda np: lambda m: np.nonzero(m)[0],
    torch=lambda torch: lambda m: torch.nonzero(m, as_tuple=True)[0],
    jax=lambda jnp: lambda m: jnp.nonzero(m)[0],
    jit=False,
    bytes=3 << 24,
)
