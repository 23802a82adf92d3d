"""Tests of the losses: values and gradients against NumPy in float64, reductions, bad inputs."""

import math

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from nn_support import assert_close, check, numbers, numeric_gradient

L = nn.losses
N, C = 4, 5
X, Y, Z = numbers(N, C, seed=1), numbers(N, C, seed=2), numbers(N, C, seed=3)
CLASSES = np.array([1, 4, 0, 2])
PROBABILITIES = np.exp(Y) / np.exp(Y).sum(-1, keepdims=True)
WEIGHTS = np.array([0.5, 2.0, 1.0, 0.0], dtype=np.float32)


def lse(x, axis=-1):
    return np.log(np.exp(x).sum(axis))


def cross_entropy(x, targets, smoothing=0.0):
    return lse(x) - (1 - smoothing) * (x * targets).sum(-1) - smoothing * x.mean(-1)


ONE_HOT = np.eye(C)[CLASSES]
y, z = mx.array(Y), mx.array(Z)
variances = np.abs(Z) + 0.1


def triplet(a, p, margin):
    d = lambda b: ((abs(a - b) ** p).sum(-1) + 1e-6) ** (1 / p)
    return np.maximum(d(Y) - d(Z) + margin, 0)


def cosine(a, axis):
    norms = np.linalg.norm(a, axis=axis) * np.linalg.norm(Y.astype(np.float64), axis=axis)
    return (a * Y).sum(axis) / norms


CASES = {
    "cross_entropy": (lambda x: L.cross_entropy(x, mx.array(CLASSES)),
                      lambda x: cross_entropy(x, ONE_HOT)),
    "cross_entropy smoothed": (
        lambda x: L.cross_entropy(x, mx.array(CLASSES), label_smoothing=0.2),
        lambda x: cross_entropy(x, ONE_HOT, 0.2)),
    "cross_entropy weighted": (
        lambda x: L.cross_entropy(x, mx.array(CLASSES), weights=mx.array(WEIGHTS)),
        lambda x: cross_entropy(x, ONE_HOT) * WEIGHTS),
    "cross_entropy of probabilities": (
        lambda x: L.cross_entropy(x, mx.array(PROBABILITIES), label_smoothing=0.1),
        lambda x: cross_entropy(x, PROBABILITIES, 0.1)),
    "cross_entropy on another axis": (
        lambda x: L.cross_entropy(x, mx.array([0, 1, 2, 3, 0]), axis=0),
        lambda x: lse(x, 0) - x[[0, 1, 2, 3, 0], range(C)]),
    "binary_cross_entropy": (
        lambda x: L.binary_cross_entropy(x, mx.array(PROBABILITIES), reduction="none"),
        lambda x: np.logaddexp(0, x) - x * PROBABILITIES),
    "l1_loss": (lambda x: L.l1_loss(x, y, reduction="none"), lambda x: abs(x - Y)),
    "mse_loss": (lambda x: L.mse_loss(x, y, reduction="none"), lambda x: (x - Y) ** 2),
    "nll_loss": (lambda x: L.nll_loss(x, mx.array(CLASSES)), lambda x: -(x * ONE_HOT).sum(-1)),
    "gaussian_nll_loss": (
        lambda x: L.gaussian_nll_loss(x, y, mx.array(variances), reduction="none"),
        lambda x: 0.5 * (np.log(variances) + (Y - x) ** 2 / variances)),
    "gaussian_nll_loss full": (
        lambda x: L.gaussian_nll_loss(x, y, mx.array(variances), full=True, reduction="none"),
        lambda x: 0.5 * (np.log(variances * 2 * math.pi) + (Y - x) ** 2 / variances)),
    "kl_div_loss": (lambda x: L.kl_div_loss(x, y), lambda x: (np.exp(Y) * (Y - x)).sum(-1)),
    "smooth_l1_loss": (
        lambda x: L.smooth_l1_loss(x, y, beta=0.7, reduction="none"),
        lambda x: np.where(abs(x - Y) < 0.7, (x - Y) ** 2 / 1.4, abs(x - Y) - 0.35)),
    "triplet_loss": (lambda x: L.triplet_loss(x, y, z), lambda x: triplet(x, 2, 1.0)),
    "triplet_loss p=3": (
        lambda x: L.triplet_loss(x, y, z, p=3, margin=0.5), lambda x: triplet(x, 3, 0.5)),
    "hinge_loss": (
        lambda x: L.hinge_loss(x, mx.sign(y)), lambda x: np.maximum(1 - x * np.sign(Y), 0)),
    "huber_loss": (
        lambda x: L.huber_loss(x, y, delta=0.6),
        lambda x: np.where(abs(x - Y) < 0.6, (x - Y) ** 2 / 2, 0.6 * (abs(x - Y) - 0.3))),
    "log_cosh_loss": (lambda x: L.log_cosh_loss(x, y), lambda x: np.log(np.cosh(x - Y))),
    "cosine_similarity_loss": (
        lambda x: L.cosine_similarity_loss(x, y), lambda x: cosine(x, 1)),
    "cosine_similarity_loss on another axis": (
        lambda x: L.cosine_similarity_loss(x, y, axis=0), lambda x: cosine(x, 0)),
    "margin_ranking_loss": (
        lambda x: L.margin_ranking_loss(x, y, mx.sign(z), margin=0.3),
        lambda x: np.maximum(0, -np.sign(Z) * (x - Y) + 0.3)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name):
    check(*CASES[name], X, tol=5e-6, gradient_tol=5e-4)


def test_binary_cross_entropy_of_probabilities():
    p = (PROBABILITIES * 0.9 + 0.05).astype(np.float32)
    t = np.array(mx.sigmoid(z))
    oracle = lambda p: -(t * np.log(p) + (1 - t) * np.log(1 - p))
    fn = lambda p: L.binary_cross_entropy(p, mx.array(t), with_logits=False, reduction="none")
    check(fn, oracle, p, tol=5e-6, gradient_tol=1e-3)


def test_binary_cross_entropy_of_sure_probabilities():
    fn = lambda p: L.binary_cross_entropy(
        p, mx.array([1.0, 1.0, 0.0, 0.0]), with_logits=False, reduction="none"
    )
    p = mx.array([0.0, 1.0, 1.0, 0.0])
    assert fn(p).tolist() == [100, 0, 100, 0]
    gradient = np.array(mx.grad(lambda p: mx.sum(fn(p)))(p))
    assert np.isfinite(gradient).all()
    assert np.isnan(fn(mx.array([math.nan] * 4)).tolist()).all()


@pytest.mark.parametrize(
    "fn, default",
    [
        (lambda **k: L.cross_entropy(mx.array(X), mx.array(CLASSES), **k), "none"),
        (lambda **k: L.binary_cross_entropy(mx.array(X), mx.array(PROBABILITIES), **k), "mean"),
        (lambda **k: L.l1_loss(mx.array(X), y, **k), "mean"),
        (lambda **k: L.mse_loss(mx.array(X), y, **k), "mean"),
        (lambda **k: L.nll_loss(mx.array(X), mx.array(CLASSES), **k), "none"),
        (lambda **k: L.gaussian_nll_loss(mx.array(X), y, mx.abs(z), **k), "mean"),
        (lambda **k: L.kl_div_loss(mx.array(X), y, **k), "none"),
        (lambda **k: L.smooth_l1_loss(mx.array(X), y, **k), "mean"),
        (lambda **k: L.triplet_loss(mx.array(X), y, z, **k), "none"),
        (lambda **k: L.hinge_loss(mx.array(X), y, **k), "none"),
        (lambda **k: L.huber_loss(mx.array(X), y, **k), "none"),
        (lambda **k: L.log_cosh_loss(mx.array(X), y, **k), "none"),
        (lambda **k: L.cosine_similarity_loss(mx.array(X), y, **k), "none"),
        (lambda **k: L.margin_ranking_loss(mx.array(X), y, z, **k), "none"),
    ],
)
def test_reductions(fn, default):
    none = np.array(fn(reduction="none"), dtype=np.float64)
    reduced = {"none": none, "mean": none.mean(), "sum": none.sum()}
    for reduction, want in reduced.items():
        assert_close(fn(reduction=reduction), want, 1e-5)
    assert_close(fn(), reduced[default], 1e-5)
    with pytest.raises(ValueError, match="reduction 'x'"):
        fn(reduction="x")


@pytest.mark.parametrize(
    "fn, message",
    [
        (lambda: L.cross_entropy(mx.zeros((2, 4)), mx.array([0, 3, 1])), r"\(3,\)"),
        (lambda: L.cross_entropy(mx.zeros((2, 4)), mx.zeros((2, 3))), r"\(2, 3\)"),
        (lambda: L.cross_entropy(mx.zeros((2, 4)), mx.zeros((2,))), "float32"),
        (lambda: L.cross_entropy(mx.zeros((2, 4)), mx.array([0, 1]), label_smoothing=1.0), "1.0"),
        (lambda: L.cross_entropy(mx.zeros((2, 4)), mx.array([0, 1]), mx.ones((1,))), "weights"),
        (lambda: L.binary_cross_entropy(mx.zeros((2, 4)), mx.zeros((4,))), "targets"),
        (lambda: L.binary_cross_entropy(mx.zeros((2,)), mx.zeros((2,)), mx.ones((1,))), "weights"),
        (lambda: L.l1_loss(mx.zeros((2,)), mx.zeros((1,))), "predictions"),
        (lambda: L.mse_loss(mx.zeros((2,)), mx.zeros((2, 1))), "predictions"),
        (lambda: L.smooth_l1_loss(mx.zeros((2,)), mx.zeros((2, 1))), "predictions"),
        (lambda: L.smooth_l1_loss(mx.zeros((2,)), mx.zeros((2,)), beta=-1.0), "beta"),
        (lambda: L.nll_loss(mx.zeros((2, 4)), mx.array([0, 1, 2])), r"\(3,\)"),
        (lambda: L.gaussian_nll_loss(mx.zeros((2,)), mx.zeros((2,)), mx.ones((1,))), "vars"),
        (lambda: L.margin_ranking_loss(mx.zeros((2,)), mx.zeros((2,)), mx.ones((1,))), "targets"),
    ],
)
def test_what_does_not_fit(fn, message):
    with pytest.raises(ValueError, match=message):
        fn()


def test_cross_entropy_of_large_logits():
    logits = mx.array([[1e4, -1e4, 0.0]])
    assert L.cross_entropy(logits, mx.array([0])).tolist() == [0]
    assert L.cross_entropy(logits, mx.array([1])).tolist() == [2e4]
    masked = mx.array([[0.0, -math.inf]])
    assert L.cross_entropy(masked, mx.array([0])).tolist() == [0]


def test_cosine_similarity_of_zero_vectors():
    fn = lambda a: mx.sum(L.cosine_similarity_loss(a, mx.ones((1, 3), a.dtype)))
    for dtype in (mx.float32, mx.float16):
        value, gradient = mx.value_and_grad(fn)(mx.zeros((1, 3), dtype))
        assert value.dtype == dtype and value.item() == 0
        assert not np.isnan(np.array(gradient)).any()


def test_smooth_l1_without_a_square_is_l1():
    a, b = mx.array(X), mx.array(Y)
    assert mx.array_equal(L.smooth_l1_loss(a, b, beta=0.0), L.l1_loss(a, b))


def test_triplet_gradient_at_distance_zero():
    fn = lambda a: mx.sum(L.triplet_loss(a, a, mx.ones((1, 3)), margin=2.0))
    gradient = np.array(mx.grad(fn)(mx.zeros((1, 3))))
    want = numeric_gradient(
        lambda a: 1e-3 - np.sqrt(((a - 1) ** 2).sum() + 1e-6) + 2, np.zeros((1, 3))
    )
    assert_close(gradient, want, 1e-5)


@pytest.mark.parametrize("dtype, tol", [(mx.float16, 4e-3), (mx.bfloat16, 4e-2)])
def test_half_precision(dtype, tol):
    x = mx.array(X).astype(dtype)
    got = L.cross_entropy(x, mx.array(CLASSES))
    assert got.dtype == dtype
    assert_close(got, cross_entropy(np.array(x.astype(mx.float32)), ONE_HOT), tol)
