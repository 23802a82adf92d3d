"""Random numbers. The streams differ, so only mean and deviation are compared."""

import numpy as np

from .workload import Family

family = Family("random")
SHAPE = (2048, 2048)


def moments(inputs, outputs):
    x = outputs[0].astype(np.float64)
    return [np.array([1 + x.mean(), x.std()])]


def normal_numpy(xp):
    rng = xp.random.default_rng(0)
    return lambda: rng.standard_normal(SHAPE, xp.float32)


def uniform_numpy(xp):
    rng = xp.random.default_rng(0)
    return lambda: rng.random(SHAPE, xp.float32)


def draw_jax(name):
    def function(xp):
        import jax

        f = getattr(jax.random, name)
        return lambda key: f(jax.random.wrap_key_data(key), SHAPE)

    return function


def key(inputs):
    return [np.zeros(2, np.uint32)]


add = family.add
options = {
    "bytes": 4 << 22,
    "comparable": {"": moments},
    "layout": {"jax": key},
    "tolerance": 5e-3,
}
add(
    "random_normal_4M",
    mlx=lambda xp: lambda: xp.random.normal(SHAPE),
    numpy=normal_numpy,
    torch=lambda xp: lambda: xp.randn(SHAPE),
    jax=draw_jax("normal"),
    quick=True,
    **options,
)
add(
    "random_uniform_4M",
    mlx=lambda xp: lambda: xp.random.uniform(shape=SHAPE),
    numpy=uniform_numpy,
    torch=lambda xp: lambda: xp.rand(SHAPE),
    jax=draw_jax("uniform"),
    **options,
)
