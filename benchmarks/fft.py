"""Fourier transforms."""

import numpy as np

from .workload import Family, normal

family = Family("fft")


def complex_normal(*shape):
    parts = normal(*shape, 2)
    return lambda rng: parts(rng).view(np.complex64)[..., 0]


def transform(name):
    return lambda xp: getattr(xp.fft, name)


family.add("fft_64k_c64", complex_normal(1 << 16), same=transform("fft"))
family.add("fft_1kx1k_c64", complex_normal(1024, 1024), same=transform("fft"), quick=True)
family.add("rfft_1kx1k_f32", normal(1024, 1024), same=transform("rfft"))
