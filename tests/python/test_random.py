"""mlx.core.random against its definition (NumPy integers), against exact distributions, and its errors."""

import math
import subprocess
import sys
import threading

import mlx.core as mx
import numpy as np
import pytest
from scipy import special

M32 = 0xFFFFFFFF


def threefry(k0, k1, c0, c1):
    """Threefry-2x32 with 20 rounds on arrays of words, written down from the paper."""
    ks = [np.uint64(k0), np.uint64(k1), np.uint64(k0 ^ k1 ^ 0x1BD11BDA)]
    x0 = (c0.astype(np.uint64) + ks[0]) & M32
    x1 = (c1.astype(np.uint64) + ks[1]) & M32
    for i in range(1, 6):
        for r in ((13, 15, 26, 6), (17, 29, 16, 24))[(i - 1) % 2]:
            x0 = (x0 + x1) & M32
            x1 = ((x1 << np.uint64(r)) | (x1 >> np.uint64(32 - r))) & M32
            x1 ^= x0
        x0 = (x0 + ks[i % 3]) & M32
        x1 = (x1 + ks[(i + 1) % 3] + np.uint64(i)) & M32
    return x0.astype(np.uint32), x1.astype(np.uint32)


def words(key, count):
    k0, k1 = (int(v) for v in np.array(key))
    half, odd = count // 2, count % 2
    out = np.empty(count, np.uint32)
    i = np.arange(half, dtype=np.uint64)
    out[:half], out[half + odd :] = threefry(k0, k1, i, i + half + odd)
    if odd:
        out[half] = threefry(k0, k1, np.array([half]), np.array([0]))[0][0]
    return out


def uniforms(key, count):
    u = words(key, count).astype(np.float32) / np.float32(2**32)
    return np.minimum(u, np.float32(1 - 2**-24))


def np32(x):
    return np.array(x.astype(mx.float32))


KEYS = [0, 1, 2**32 - 1, 2**32, 2**64 - 1, 123456789]


@pytest.mark.parametrize("seed", KEYS)
def test_key_is_the_seed_in_two_words(seed):
    key = mx.random.key(seed)
    assert key.dtype == mx.uint32
    assert key.tolist() == [seed >> 32, seed & M32]


@pytest.mark.parametrize("seed", KEYS)
@pytest.mark.parametrize("num", [0, 1, 2, 3, 10, 1001])
def test_split_is_the_word_stream(seed, num):
    key = mx.random.key(seed)
    np.testing.assert_array_equal(
        np.array(mx.random.split(key, num)), words(key, 2 * num).reshape(num, 2)
    )


@pytest.mark.parametrize("shape", [(), (1,), (2,), (3,), (4, 5), (7, 0), (3, 33, 101), (100003,)])
def test_uniform_is_the_word_stream(shape):
    key = mx.random.key(42)
    u = mx.random.uniform(shape=shape, key=key)
    assert u.dtype == mx.float32 and u.shape == shape
    np.testing.assert_array_equal(np.array(u), uniforms(key, math.prod(shape)).reshape(shape))


@pytest.mark.parametrize("dtype, below_one", [(mx.float16, 1 - 2**-11), (mx.bfloat16, 1 - 2**-8)])
def test_half_uniform_stays_below_one(dtype, below_one):
    key = mx.random.key(3)
    u = mx.random.uniform(shape=(200000,), dtype=dtype, key=key)
    assert u.dtype == dtype
    got = np32(u)
    assert got.max() == below_one and got.min() >= 0
    want = np.minimum(uniforms(key, 200000), np.float32(below_one))
    assert np.abs(got - want).max() <= (1 - below_one) / 2


def test_uniform_bounds_broadcast():
    key = mx.random.key(9)
    low = mx.array([[-1.0], [10.0]])
    u = np.array(mx.random.uniform(low, low + 2.0, (2, 500), key=key))
    assert (u[0] >= -1).all() and (u[0] < 1).all() and (u[1] >= 10).all() and (u[1] < 12).all()
    want = uniforms(key, 1000).reshape(2, 500) * np.float32(2) + np.array(low)
    np.testing.assert_allclose(u, want, rtol=1e-6)


def test_normal_is_the_inverse_error_function_of_uniforms():
    key = mx.random.key(8)
    u = uniforms(key, 50001) * np.float32(2) + np.float32(-(1 - 2**-24))
    want = math.sqrt(2) * special.erfinv(u.astype(np.float64))
    z = np.array(mx.random.normal((50001,), key=key))
    np.testing.assert_allclose(z, want, rtol=2e-6, atol=1e-7)
    shifted = mx.random.normal((50001,), loc=3.0, scale=mx.array(2.0), key=key)
    np.testing.assert_allclose(np.array(shifted), 3 + 2 * want, rtol=2e-6, atol=1e-6)
    for dtype, rtol in ((mx.float16, 2e-3), (mx.bfloat16, 1.6e-2), (mx.float64, 2e-6)):
        half = mx.random.normal((50001,), dtype=dtype, key=key)
        assert half.dtype == dtype
        np.testing.assert_allclose(np.array(half.astype(mx.float32)), want, rtol=rtol, atol=1e-6)


def test_complex_normal_has_unit_variance():
    z = np.array(mx.random.normal((200000,), dtype=mx.complex64, key=mx.random.key(1)))
    assert z.dtype == np.complex64
    assert abs((np.abs(z) ** 2).mean() - 1) < 0.01
    assert abs(z.real.var() - 0.5) < 0.01 and abs((z.real * z.imag).mean()) < 0.01
    assert abs(z.mean()) < 0.01


def kolmogorov(samples, cdf):
    """Scaled distance of the empirical from the true distribution; beyond 2.2 once in 10^4."""
    x = np.sort(np.asarray(samples, np.float64).ravel())
    n = len(x)
    f = cdf(x)
    d = max((np.arange(1, n + 1) / n - f).max(), (f - np.arange(n) / n).max())
    return d * math.sqrt(n)


def normal_cdf(x):
    return 0.5 * (1 + np.vectorize(math.erf)(np.asarray(x) / math.sqrt(2)))


def truncated_cdf(x):
    a, b = normal_cdf(-1.0), normal_cdf(2.0)
    return (normal_cdf(x) - a) / (b - a)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "draw, cdf",
    [
        (lambda k: mx.random.uniform(-2, 3, (40000,), key=k), lambda x: (x + 2) / 5),
        (lambda k: mx.random.normal((40000,), key=k), normal_cdf),
        (lambda k: mx.random.gumbel((40000,), key=k), lambda x: np.exp(-np.exp(-x))),
        (
            lambda k: mx.random.laplace((40000,), loc=1.0, scale=2.0, key=k),
            lambda x: np.where(
                x < 1, 0.5 * np.exp(np.minimum(x - 1, 0) / 2), 1 - 0.5 * np.exp(-abs(x - 1) / 2)
            ),
        ),
        (lambda k: mx.random.truncated_normal(-1.0, 2.0, (40000,), key=k), truncated_cdf),
    ],
    ids=["uniform", "normal", "gumbel", "laplace", "truncated_normal"],
)
def test_continuous_distributions(draw, cdf, seed):
    x = np.array(draw(mx.random.key(seed)))
    assert kolmogorov(x, cdf) < 2.2
    # Neighbours are independent.
    c = np.corrcoef(cdf(x)[:-1], cdf(x)[1:])[0, 1]
    assert abs(c) * math.sqrt(len(x)) < 4


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_half_laplace_and_gumbel_are_finite(dtype):
    key = mx.random.key(2)
    assert np.isfinite(np32(mx.random.laplace((300000,), dtype=dtype, key=key))).all()
    want = mx.random.laplace((1000,), key=key).astype(dtype)
    got = mx.random.laplace((1000,), dtype=dtype, key=key)
    np.testing.assert_array_equal(np32(got), np32(want))


def test_truncated_normal_bounds():
    lower = mx.array([0.0, -3.0, 1.5])
    x = np.array(mx.random.truncated_normal(lower, lower + 1.0, (1000, 3), key=mx.random.key(0)))
    assert (x >= np.array(lower)).all() and (x <= np.array(lower) + 1).all()
    assert mx.random.truncated_normal(lower, 5.0, key=mx.random.key(0)).shape == (3,)


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.97, 1.0])
def test_bernoulli(p):
    n = 100000
    x = mx.random.bernoulli(p, (n,), key=mx.random.key(5))
    assert x.dtype == mx.bool_
    hits = int(np.array(x).sum())
    if p in (0.0, 1.0):
        assert hits == n * p
    else:
        assert abs(hits - n * p) < 4.5 * math.sqrt(n * p * (1 - p))


def test_bernoulli_shapes():
    p = mx.array([0.0, 1.0])
    assert mx.random.bernoulli(p).tolist() == [False, True]
    assert mx.random.bernoulli(p, (3, 2)).tolist() == [[False, True]] * 3
    assert mx.random.bernoulli().shape == ()


INTEGERS = [mx.int8, mx.uint8, mx.int16, mx.uint16, mx.int32, mx.uint32, mx.int64, mx.uint64]


def chi_square(counts):
    expected = counts.sum() / len(counts)
    return ((counts - expected) ** 2 / expected).sum()


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_randint_is_even(dtype):
    low, high, n = 3, 10, 70000
    x = mx.random.randint(low, high, (n,), dtype, key=mx.random.key(4))
    assert x.dtype == dtype
    counts = np.bincount(np.array(x).astype(np.int64), minlength=high)
    assert counts[:low].sum() == 0 and len(counts) == high
    assert chi_square(counts[low:]) < 27.9  # six degrees of freedom, 1 in 10^4


def test_randint_has_no_bias_where_a_float_runs_out_of_digits():
    # Three equal thirds of a range of 3·2^61: a remainder of 64 bits would favour the first two.
    high = 3 * 2**61
    x = np.array(mx.random.randint(0, high, (60000,), mx.int64, key=mx.random.key(6)))
    counts = np.bincount((x // 2**61).astype(np.int64), minlength=3)
    assert chi_square(counts) < 18.5
    # All low bits are drawn.
    assert abs((x & 1).mean() - 0.5) < 0.01 and abs(((x >> 20) & 1).mean() - 0.5) < 0.01


def test_randint_full_range():
    key = mx.random.key(11)
    x = np.array(mx.random.randint(-(2**63), 2**63 - 1, (20000,), mx.int64, key=key))
    assert x.min() < -(2**62) and x.max() > 2**62 and abs((x < 0).mean() - 0.5) < 0.02
    y = np.array(mx.random.randint(2**63, 2**64 - 1, (1000,), mx.uint64, key=key))
    assert y.dtype == np.uint64 and y.min() >= 2**63
    z = np.array(mx.random.randint(-(2**31), 2**31 - 1, (20000,), key=key)).astype(np.int64)
    assert z.min() < -(2**30) and z.max() > 2**30


def test_randint_bounds_broadcast_and_empty_intervals():
    low = mx.array([[0], [100], [-5]])
    x = np.array(mx.random.randint(low, low + mx.array([1, 7]), (3, 2), key=mx.random.key(0)))
    assert (x[:, 0] == np.array(low)[:, 0]).all()
    assert ((x[:, 1] >= np.array(low)[:, 0]) & (x[:, 1] < np.array(low)[:, 0] + 7)).all()
    assert mx.random.randint(5, 5, (3,)).tolist() == [5, 5, 5]
    assert mx.random.randint(5, 2, (3,)).tolist() == [5, 5, 5]
    assert set(mx.random.randint(0, 2, (100,), mx.bool_).tolist()) == {False, True}


@pytest.mark.parametrize("many", [False, True])
def test_categorical_frequencies(many):
    logits = np.array([0.0, 1.0, -1.0, 2.0, -np.inf, 0.5, -np.inf], np.float32)
    p = np.exp(logits.astype(np.float64))
    p /= p.sum()
    n = 60000
    given = mx.array(np.stack([logits, logits[::-1]]) if many else logits)
    x = np.array(mx.random.categorical(given, num_samples=n, key=mx.random.key(12)))
    assert x.dtype == np.uint32
    for row, want in zip(x.reshape(-1, n), (p, p[::-1])):
        counts = np.bincount(row, minlength=len(p))
        assert counts[want == 0].sum() == 0
        z = (counts - n * want)[want > 0] / np.sqrt(n * want * (1 - want))[want > 0]
        assert np.abs(z).max() < 4.5


def test_categorical_shapes():
    key = mx.random.key(0)
    logits = mx.array(np.zeros((4, 3, 5), np.float32))
    assert mx.random.categorical(logits, key=key).shape == (4, 3)
    assert mx.random.categorical(logits, axis=0, key=key).shape == (3, 5)
    assert mx.random.categorical(logits, axis=1, num_samples=7, key=key).shape == (4, 5, 7)
    assert mx.random.categorical(logits, axis=1, shape=(2, 4, 5), key=key).shape == (2, 4, 5)
    assert mx.random.categorical(logits[0, 0], key=key).shape == ()
    assert mx.random.categorical(logits[0, 0], shape=(6, 2), key=key).shape == (6, 2)
    peaked = mx.array(np.eye(5, dtype=np.float32)[:, :, None] * 1000)
    assert mx.random.categorical(peaked, axis=1, key=key).tolist() == [[i] for i in range(5)]


def test_categorical_of_a_large_vocabulary():
    logits = np.zeros(200000, np.float32)
    x = np.array(mx.random.categorical(mx.array(logits), num_samples=20000, key=mx.random.key(3)))
    assert kolmogorov((x + 0.5) / 200000, lambda v: v) < 2.2


def test_permutation_of_a_count():
    for n in (0, 1, 2, 1000):
        key = mx.random.key(n)
        x = mx.random.permutation(n, key=key)
        assert x.dtype == mx.uint32 and x.shape == (n,)
        np.testing.assert_array_equal(np.array(x), np.argsort(words(key, n), kind="stable"))
        np.testing.assert_array_equal(np.sort(np.array(x)), np.arange(n))


def test_permutations_are_equally_likely():
    keys = mx.random.split(mx.random.key(8), 24000)
    x = np.array(mx.vmap(lambda k: mx.random.permutation(4, key=k))(keys)).astype(np.int64)
    _, counts = np.unique(x @ np.array([64, 16, 4, 1]), return_counts=True)
    assert len(counts) == 24
    assert chi_square(counts) < 56  # 23 degrees of freedom, 1 in 10^4


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_permutation_of_an_array(axis):
    key = mx.random.key(5)
    a = np.arange(60.0, dtype=np.float32).reshape(5, 4, 3)
    x = mx.random.permutation(mx.array(a), axis, key)
    order = np.array(mx.random.permutation(a.shape[axis], key=key))
    np.testing.assert_array_equal(np.array(x), np.take(a, order, axis))
    t = mx.random.permutation(mx.array(a).T, axis=axis, key=key)
    order = np.array(mx.random.permutation(a.T.shape[axis], key=key))
    np.testing.assert_array_equal(np.array(t), np.take(a.T, order, axis))
    g = mx.grad(lambda v: (mx.random.permutation(v, axis, key) * mx.array(a)).sum())(mx.array(a))
    back = np.empty_like(a)
    order = np.array(mx.random.permutation(a.shape[axis], key=key))
    np.moveaxis(back, axis, 0)[order] = np.moveaxis(a, axis, 0)
    np.testing.assert_array_equal(np.array(g), back)
    assert mx.random.permutation(mx.zeros((3, 0)), axis=1).shape == (3, 0)
    assert mx.random.permutation(mx.array([1, 2], mx.int8)).dtype == mx.int8


COVARIANCES = {
    "identity": np.eye(3),
    "correlated": np.array([[2.0, 0.6, 0.1], [0.6, 1.0, -0.4], [0.1, -0.4, 0.5]]),
    "singular": np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 4.0]]),
}


@pytest.mark.parametrize("name", COVARIANCES)
def test_multivariate_normal_moments(name):
    cov, n = COVARIANCES[name], 60000
    mean = np.array([1.0, -2.0, 0.5])
    x = mx.random.multivariate_normal(
        mx.array(mean), mx.array(cov), (n,), key=mx.random.key(len(name))
    )
    assert x.dtype == mx.float32 and x.shape == (n, 3)
    d = np.array(x).astype(np.float64) - mean
    assert (np.abs(d.mean(0)) < 4.5 * np.sqrt(np.diag(cov) / n)).all()
    spread = np.sqrt((cov**2 + np.outer(np.diag(cov), np.diag(cov))) / n)
    assert (np.abs(d.T @ d / n - cov) < 4.5 * spread).all()
    # Every projection is normal.
    for w in ([1.0, 0.0, 0.0], [0.3, -1.0, 2.0], [1.0, 1.0, 1.0]):
        scale = np.sqrt(w @ cov @ w)
        assert kolmogorov(d @ w / scale, normal_cdf) < 2.2
    if name == "singular":
        # The root of a variance that rounding left in place of 0.
        np.testing.assert_allclose(d[:, 0], d[:, 1], atol=3e-3)


def test_multivariate_normal_is_normal_times_the_root():
    key, cov = mx.random.key(3), COVARIANCES["correlated"]
    z = np.array(mx.random.normal((7, 3), key=key)).astype(np.float64)
    w, v = np.linalg.eigh(cov)
    want = z @ (v * np.sqrt(w)) @ v.T + 2
    x = mx.random.multivariate_normal(mx.full((3,), 2.0), mx.array(cov), (7,), key=key)
    np.testing.assert_allclose(np.array(x), want, atol=5e-6)


def test_multivariate_normal_shapes():
    key, f = mx.random.key(0), mx.random.multivariate_normal
    mean, cov = mx.zeros((2,)), mx.eye(2)
    assert f(mean, cov).shape == (2,)
    assert f(mean, cov, (3, 4), key=key).shape == (3, 4, 2)
    assert f(mx.zeros((5, 2)), cov).shape == (5, 2)
    assert f(mx.zeros((5, 2)), cov, [3, 5]).shape == (3, 5, 2)
    assert f(mean, mx.stack([cov] * 4), (6, 1)).shape == (6, 4, 2)
    assert f(mx.zeros((3, 1, 2)), mx.stack([cov] * 4)).shape == (3, 4, 2)
    assert f(mx.zeros((0,)), mx.zeros((0, 0)), (3,)).shape == (3, 0)
    assert f(mean, cov, (0,)).shape == (0, 2)
    assert f(mx.array([1, 2]), cov.astype(mx.float16)).dtype == mx.float32
    # Each matrix of a batch shapes its own draws.
    covs = mx.stack([cov * 4, cov * 9])
    x, y = (np.array(f(mean, c, (5, 2), key=key)) for c in (covs, cov))
    np.testing.assert_allclose(x, y * np.array([2.0, 3.0])[:, None], rtol=1e-5)


@pytest.mark.parametrize("name", ["identity", "correlated"])
def test_multivariate_normal_derivatives(name):
    key, cov = mx.random.key(4), COVARIANCES[name].astype(np.float32)
    mean = np.array([1.0, -2.0, 0.5], np.float32)
    w = mx.array(np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32))

    def f(m, c):
        return (mx.sin(mx.random.multivariate_normal(m, c, (10,), key=key)) * w).sum()

    t = np.array([[0.3, -0.2, 0.1], [-0.2, 0.5, 0.4], [0.1, 0.4, -0.3]], np.float32)
    h = 3e-3
    want = (f(mx.array(mean), mx.array(cov + h * t)) - f(mx.array(mean), mx.array(cov - h * t))) / (
        2 * h
    )
    gm, gc = mx.grad(f, argnums=(0, 1))(mx.array(mean), mx.array(cov))
    np.testing.assert_allclose((np.array(gc) * t).sum(), want.item(), rtol=1e-2, atol=1e-3)
    _, (jvp,) = mx.jvp(lambda c: f(mx.array(mean), c), [mx.array(cov)], [mx.array(t)])
    np.testing.assert_allclose((np.array(gc) * t).sum(), jvp.item(), rtol=1e-4)
    x = mx.random.multivariate_normal(mx.array(mean), mx.array(cov), (10,), key=key)
    np.testing.assert_allclose(np.array(gm), np.array((mx.cos(x) * w).sum(0)), rtol=1e-4)

    # second order, where eigenvalues coincide as well
    def gradient(c):
        return mx.grad(f, argnums=1)(mx.array(mean), c)

    numeric = (
        np.array(gradient(mx.array(cov + h * t))) - np.array(gradient(mx.array(cov - h * t)))
    ) / (2 * h)
    _, (forward,) = mx.jvp(gradient, [mx.array(cov)], [mx.array(t)])
    np.testing.assert_allclose(np.array(forward), numeric, rtol=2e-2, atol=5e-3)
    _, (reverse,) = mx.vjp(gradient, [mx.array(cov)], [mx.array(t)])
    np.testing.assert_allclose(np.array(reverse), np.array(forward), rtol=1e-3, atol=1e-4)


LANE_DRAWS = {
    "permutation": lambda k: mx.random.permutation(9, key=k),
    "multivariate": lambda k: mx.random.multivariate_normal(mx.zeros((2,)), mx.eye(2), key=k),
    "uniform": lambda k: mx.random.uniform(shape=(5, 3), key=k),
    "odd": lambda k: mx.random.uniform(shape=(7,), dtype=mx.float16, key=k),
    "normal": lambda k: mx.random.normal((6,), key=k),
    "bernoulli": lambda k: mx.random.bernoulli(0.3, (9,), key=k),
    "randint": lambda k: mx.random.randint(0, 1000, (4,), key=k),
    "categorical": lambda k: mx.random.categorical(mx.array([0.1, 0.5, 0.2]), shape=(6,), key=k),
    "gumbel categorical": lambda k: mx.random.categorical(mx.array([[0.1, 0.5]] * 3), key=k),
    "split": lambda k: mx.random.split(k, 3),
    "split and draw": lambda k: mx.random.uniform(shape=(2,), key=mx.random.split(k)[1]),
}


@pytest.mark.parametrize("name", LANE_DRAWS)
def test_each_lane_draws_what_its_key_gives_alone(name):
    draw = LANE_DRAWS[name]
    keys = mx.random.split(mx.random.key(5), 6)
    want = np.stack([np.array(draw(keys[i])) for i in range(6)])
    np.testing.assert_array_equal(np.array(mx.vmap(draw)(keys)), want)
    np.testing.assert_array_equal(np.array(mx.vmap(draw, in_axes=1)(keys.T)), want)
    nested = mx.vmap(mx.vmap(draw))(keys.reshape(2, 3, 2))
    np.testing.assert_array_equal(np.array(nested), want.reshape(2, 3, *want.shape[1:]))


@pytest.mark.skipif(not mx.is_available(mx.gpu), reason="there is no GPU")
@pytest.mark.parametrize("shape", [(), (3,), (7, 5), (100001,), (300, 1000)], ids=str)
def test_every_device_draws_the_same(shape):
    low = mx.arange(shape[-1] if shape else 1).reshape(shape[-1:])
    logits = mx.array(np.where(np.arange(1000) % 7 == 3, -np.inf, 0.0).astype(np.float32))
    for draw in (
        lambda k, s: mx.random.uniform(shape=shape, key=k, stream=s),
        lambda k, s: mx.random.bernoulli(0.3, shape, key=k, stream=s),
        lambda k, s: mx.random.randint(-5, 3 * 2**61, shape, mx.int64, key=k, stream=s),
        lambda k, s: mx.random.randint(low, 10**6, shape, key=k, stream=s),
        lambda k, s: mx.random.categorical(logits, shape=(*shape, 2), key=k, stream=s),
        lambda k, s: mx.random.split(k, 33, stream=s),
    ):
        for key in (mx.random.key(17), mx.random.key(2**63)):
            on_cpu, on_gpu = (np.array(draw(key, s)) for s in (mx.cpu, mx.gpu))
            np.testing.assert_array_equal(on_gpu, on_cpu)


def test_lanes_of_parameters():
    key = mx.random.key(1)
    low = mx.array([0, 100, 1000])
    x = mx.vmap(lambda v: mx.random.randint(v, v + 50, (20,), key=key))(low)
    want = [mx.random.randint(v, v + 50, (20,), key=key).tolist() for v in (0, 100, 1000)]
    assert x.tolist() == want
    logits = mx.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    y = mx.vmap(lambda v: mx.random.categorical(v, shape=(30,), key=key))(logits)
    assert y.tolist() == [
        mx.random.categorical(v, shape=(30,), key=key).tolist() for v in (logits[0], logits[1])
    ]
    # Without a mapped key all lanes draw the same.
    z = np.array(mx.vmap(lambda v: v + mx.random.uniform(shape=(4,), key=key))(mx.zeros((3,))))
    assert (z == z[0]).all()


def test_gradients_reach_the_parameters():
    key = mx.random.key(2)

    def total(loc, scale):
        return mx.random.normal((50,), loc=loc, scale=scale, key=key).sum()

    loc, scale = mx.grad(total, argnums=[0, 1])(mx.array(0.5), mx.array(2.0))
    assert loc.item() == 50
    np.testing.assert_allclose(
        scale.item(), mx.random.normal((50,), key=key).sum().item(), rtol=1e-5
    )
    k = mx.random.split(key)[0]
    (_, (dk,)) = mx.vjp(lambda q: mx.random.uniform(shape=(3,), key=q), [k], [mx.ones((3,))])
    assert dk.tolist() == [0, 0]


def test_state_advances_by_splitting():
    mx.random.seed(7)
    key = mx.random.key(7)
    for _ in range(3):
        keys = np.array(mx.random.split(key))
        draw = mx.random.uniform(shape=(5,))
        key, used = mx.array(keys[0]), mx.array(keys[1])
        np.testing.assert_array_equal(np.array(draw), uniforms(used, 5))
    assert mx.random.state[0].tolist() == key.tolist()


def test_state_is_a_list_of_one_key():
    mx.random.seed(3)
    assert len(mx.random.state) == 1
    assert mx.random.state[0].tolist() == mx.random.state[-1].tolist() == [0, 3]
    assert [k.tolist() for k in mx.random.state] == [[0, 3]]
    with pytest.raises(IndexError):
        mx.random.state[1]
    mx.random.state[0] = mx.random.key(9)
    assert mx.random.state[0].tolist() == [0, 9]


def test_state_belongs_to_the_thread():
    mx.random.seed(1)
    seen = []

    def other():
        mx.random.seed(2)
        seen.append(mx.random.uniform(shape=(2,)).tolist())

    t = threading.Thread(target=other)
    t.start()
    t.join()
    assert mx.random.state[0].tolist() == [0, 1]
    mx.random.seed(2)
    assert mx.random.uniform(shape=(2,)).tolist() == seen[0]


def test_clear_streams_forgets_the_state_of_the_thread():
    seen = []

    def other():
        before = mx.random.state[0].tolist()
        mx.random.seed(4)
        mx.random.uniform()
        mx.clear_streams()
        seen.append((before, mx.random.state[0].tolist()))

    mx.random.seed(7)
    t = threading.Thread(target=other)
    t.start()
    t.join()
    assert seen[0][0] == seen[0][1]
    assert mx.random.state[0].tolist() == [0, 7]


def test_threads_draw_from_their_own_state():
    """The same seed gives the same numbers in every thread, whatever the others draw meanwhile."""

    def draws(n):
        mx.random.seed(n % 2)
        return [mx.random.uniform(shape=(3,)).tolist() for _ in range(50)]

    seen = {}
    threads = [threading.Thread(target=lambda n=n: seen.__setitem__(n, draws(n))) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(seen[n] == seen[n % 2] for n in range(8)) and seen[0] != seen[1]
    assert seen[0] == draws(0)


def test_state_in_compiled_functions():
    def f():
        return mx.random.uniform(shape=(3,))

    g = mx.compile(f, inputs=mx.random.state, outputs=mx.random.state)
    for other in (0, 5):  # traced once, the state is read and written at every call
        mx.random.seed(other)
        want = [f().tolist() for _ in range(3)]
        mx.random.seed(other)
        assert [g().tolist() for _ in range(3)] == want
    frozen = mx.compile(f)
    assert frozen().tolist() == frozen().tolist()


def test_unseeded_processes_differ():
    code = "import mlx.core as mx; print(mx.random.state[0].tolist())"
    runs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 2 and "" not in runs


ERRORS = [
    (lambda: mx.random.key(-1), TypeError),
    (lambda: mx.random.key(0.5), TypeError),
    (lambda: mx.random.seed(2**64), TypeError),
    (lambda: mx.random.uniform(shape=(2,), key=mx.array([1, 2])), ValueError),
    (lambda: mx.random.uniform(shape=(2,), key=mx.array([1, 2, 3], dtype=mx.uint32)), ValueError),
    (lambda: mx.random.uniform(shape=(-1,)), ValueError),
    (lambda: mx.random.uniform(mx.array([0.0, 1.0]), 1, (3,)), ValueError),
    (lambda: mx.random.uniform(shape=(2,), dtype=mx.int32), ValueError),
    (lambda: mx.random.uniform(shape=(2,), dtype=mx.complex64), ValueError),
    (lambda: mx.random.uniform(shape=(2,), dtype=mx.float64), RuntimeError),
    (lambda: mx.random.normal((2,), dtype=mx.int32), ValueError),
    (lambda: mx.random.bernoulli(1), ValueError),
    (lambda: mx.random.bernoulli(mx.array([0.5, 0.5]), ()), ValueError),
    (lambda: mx.random.randint(0, 2, (2,), mx.float32), ValueError),
    (lambda: mx.random.randint(mx.array([0, 1]), 5, (3,)), ValueError),
    (lambda: mx.random.truncated_normal(-1, 1, (2,), mx.int32), ValueError),
    (lambda: mx.random.gumbel((2,), mx.int32), ValueError),
    (lambda: mx.random.laplace((2,), mx.int32), ValueError),
    (lambda: mx.random.split(mx.random.key(0), -1), ValueError),
    (lambda: mx.random.split(mx.array([1, 2])), ValueError),
    (lambda: mx.random.permutation(-1), ValueError),
    (lambda: mx.random.permutation(2.5), TypeError),
    (lambda: mx.random.permutation(mx.array(3)), IndexError),
    (lambda: mx.random.permutation(mx.zeros((2, 3)), axis=2), IndexError),
    (lambda: mx.random.permutation(3, key=mx.array([1, 2])), ValueError),
    (lambda: mx.random.multivariate_normal(mx.zeros((2,)), mx.eye(3)), ValueError),
    (lambda: mx.random.multivariate_normal(mx.zeros((2,)), mx.zeros((2, 3))), ValueError),
    (lambda: mx.random.multivariate_normal(mx.array(0.0), mx.eye(1)), ValueError),
    (lambda: mx.random.multivariate_normal(mx.zeros((1,)), mx.zeros((1,))), ValueError),
    (lambda: mx.random.multivariate_normal(mx.zeros((3, 2)), mx.eye(2), (4,)), ValueError),
    (lambda: mx.random.multivariate_normal(mx.zeros((2,)), mx.eye(2), (-1,)), ValueError),
    (
        lambda: mx.random.multivariate_normal(mx.zeros((2,)), mx.eye(2), dtype=mx.float16),
        ValueError,
    ),
    (lambda: mx.random.categorical(mx.array(1.0)), IndexError),
    (lambda: mx.random.categorical(mx.array([1.0]), axis=1), IndexError),
    (
        lambda: mx.random.categorical(mx.array([[1.0]]), shape=(1,), num_samples=1),
        ValueError,
    ),
    (lambda: mx.random.categorical(mx.array([[1.0], [2.0]]), shape=(3,)), ValueError),
    (lambda: mx.random.categorical(mx.array(np.zeros((2, 0), np.float32))), ValueError),
]


@pytest.mark.parametrize("call, kind", ERRORS)
def test_errors(call, kind):
    with pytest.raises(kind):
        call()
