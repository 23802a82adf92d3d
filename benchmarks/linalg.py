"""Factorizations and the inverse of matrices of size 256."""

import numpy as np

from .workload import Family, normal

family = Family("linalg")
N = 256


def positive_definite(rng):
    a = normal(N, N)(rng)
    return a @ a.T / N + 2 * np.eye(N, dtype=np.float32)


def well_conditioned(rng):
    return normal(N, N, scale=N**-0.5)(rng) + 2 * np.eye(N, dtype=np.float32)


def magnitude_of(part):
    """The signs of a factor are free."""
    return lambda inputs, outputs: [np.abs(outputs[part])]


def values_of(part):
    """Vectors are free up to sign, and ambiguous where values are close."""
    return lambda inputs, outputs: [outputs[part]]


def function(name):
    def same(xp):
        f = getattr(xp.linalg, name)
        return lambda x: tuple_of(f(x))

    def mlx(xp):
        f = getattr(xp.linalg, name)
        return lambda x: f(x, stream=xp.cpu)

    return {"same": same, "mlx": mlx}


def tuple_of(result):
    """A plain tuple of a named one."""
    return tuple(result) if isinstance(result, tuple) else result


for name, matrix, compared in (
    ("cholesky", positive_definite, magnitude_of(0)),
    ("qr", normal(N, N), magnitude_of(-1)),
    ("svd", normal(N, N), values_of(1)),
    ("eigh", positive_definite, values_of(0)),
    ("inv", well_conditioned, values_of(0)),
):
    family.add(
        f"{name}_{N}",
        matrix,
        **function(name),
        comparable={"": compared},
        tolerance=2e-3,
        quick=name in ("cholesky", "svd"),
    )
