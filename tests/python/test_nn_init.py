"""Tests of the initialisers: shapes, dtypes, spread, structure, bad inputs."""

import math

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from nn_support import assert_close

I = nn.init
A = mx.zeros((60, 3, 40))
FAN_IN, FAN_OUT = 3 * 40, 3 * 60


def test_constant():
    got = I.constant(3.5, mx.float16)(mx.zeros((2, 3), mx.int32))
    assert got.dtype == mx.float16 and got.tolist() == [[3.5] * 3] * 2


def test_identity():
    assert I.identity()(mx.ones((3, 3))).tolist() == np.eye(3).tolist()
    for shape in ((2, 3), (2,), (2, 2, 2)):
        with pytest.raises(ValueError, match="square"):
            I.identity()(mx.zeros(shape))


@pytest.mark.parametrize(
    "fn, mean, std",
    [
        (lambda: I.normal()(A), 0, 1),
        (lambda: I.normal(2.0, 0.5)(A), 2, 0.5),
        (lambda: I.glorot_normal()(A), 0, math.sqrt(2 / (FAN_IN + FAN_OUT))),
        (lambda: I.glorot_normal()(A, gain=3.0), 0, 3 * math.sqrt(2 / (FAN_IN + FAN_OUT))),
        (lambda: I.he_normal()(A), 0, 1 / math.sqrt(FAN_IN)),
        (lambda: I.he_normal()(A, "fan_out", 2.0), 0, 2 / math.sqrt(FAN_OUT)),
    ],
)
def test_normal(fn, mean, std):
    mx.random.seed(0)
    x = np.array(fn(), dtype=np.float64)
    assert x.shape == A.shape
    assert abs(x.mean() - mean) < 0.05 * std
    assert abs(x.std() / std - 1) < 0.05


@pytest.mark.parametrize(
    "fn, low, high",
    [
        (lambda: I.uniform()(A), 0, 1),
        (lambda: I.uniform(-2, 3)(A), -2, 3),
        (lambda: I.glorot_uniform()(A), *(s * math.sqrt(6 / (FAN_IN + FAN_OUT)) for s in (-1, 1))),
        (lambda: I.he_uniform()(A), *(s * math.sqrt(3 / FAN_IN) for s in (-1, 1))),
        (lambda: I.he_uniform()(A, "fan_out", 2.0), *(s * math.sqrt(3 / FAN_OUT) for s in (-2, 2))),
    ],
)
def test_uniform(fn, low, high):
    mx.random.seed(0)
    x = np.array(fn(), dtype=np.float64)
    margin = 0.01 * (high - low)
    assert low <= x.min() < low + margin and high - margin < x.max() <= high


def test_sparse():
    mx.random.seed(0)
    x = np.array(I.sparse(0.35, mean=5.0, std=0.1)(mx.zeros((50, 10))))
    assert ((x == 0).sum(1) == 4).all()
    assert abs(x[x != 0].mean() - 5) < 0.02
    assert len({tuple(row) for row in x == 0}) > 10


@pytest.mark.skipif(not hasattr(getattr(mx, "linalg", None), "qr"), reason="needs mx.linalg.qr")
@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
def test_orthogonal(shape):
    q = np.array(I.orthogonal(2.0)(mx.zeros(shape)), dtype=np.float64) / 2
    gram = q @ q.T if shape[0] <= shape[1] else q.T @ q
    assert_close(gram, np.eye(min(shape)), 1e-5)


def test_dtypes():
    for make in (I.normal, I.uniform, I.glorot_normal, I.he_uniform):
        assert make(dtype=mx.bfloat16)(A).dtype == mx.bfloat16


@pytest.mark.parametrize(
    "fn",
    [
        lambda: I.glorot_normal()(mx.zeros((2,))),
        lambda: I.glorot_uniform()(mx.zeros((2,))),
        lambda: I.he_normal()(mx.zeros((2,))),
        lambda: I.he_uniform()(mx.zeros((2, 2)), "fan"),
        lambda: I.sparse(0.5)(mx.zeros((2,))),
        lambda: I.orthogonal()(mx.zeros((2, 2, 2))),
    ],
)
def test_what_does_not_fit(fn):
    with pytest.raises(ValueError, match="got"):
        fn()
