"""Tapes with reductions of rows: the bits of the steps one by one, whatever is held, for all layouts;
and one pass, seen in the memory it takes."""

import gc
import itertools
import os

import mlx.core as mx
import numpy as np
import pytest

DTYPES = [mx.float32, mx.float16, mx.bfloat16, mx.float64]


def bits(a):
    return np.array(a.astype(mx.float32) if a.dtype == mx.bfloat16 else a).tobytes()


def stepwise(a):
    mx.eval(a)
    return a


def together(a):
    return a


# Functions of a wide x, one value a column (w), one a row (r); `do` sees every intermediate result.
def layer_norm(x, w, r, do):
    c = do(x - do(mx.mean(x, axis=-1, keepdims=True)))
    s = do(mx.rsqrt(do(do(mx.mean(do(mx.square(c)), axis=-1, keepdims=True)) + 1e-5)))
    return [do(do(do(c * s) * w) + w)]


def standardized(x, w, r, do):
    spread = do(mx.std(x, axis=-1, keepdims=True, ddof=1))
    return [do(do(x - do(mx.mean(x, axis=-1, keepdims=True))) / do(spread + r))]


def rms_norm_in_float32(x, w, r, do):
    wide = do(x.astype(mx.float32)) if x.dtype != mx.float64 else x
    s = do(mx.rsqrt(do(do(mx.mean(do(mx.square(wide)), axis=-1, keepdims=True)) + 1e-5)))
    return [do(do(do(wide * s) * w).astype(x.dtype))]


def softmax_of_parts(x, w, r, do):
    e = do(mx.exp(do(x - do(mx.max(x, axis=-1, keepdims=True)))))
    return [do(e / do(mx.sum(e, axis=-1, keepdims=True)))]


def log_sum_exp_of_parts(x, w, r, do):
    high = do(mx.max(x, axis=-1, keepdims=True))
    total = do(mx.sum(do(mx.exp(do(x - high))), axis=-1, keepdims=True))
    return [do(do(mx.log(total)) + high)]


def scaled_softmax(x, w, r, do):
    return [do(do(mx.softmax(do(x * 0.125), axis=-1)) * r)]


def row_sums(x, w, r, do):
    return [do(mx.sum(do(do(x * w) + r), axis=-1))]


def row_log_sum_exp(x, w, r, do):
    return [do(mx.logsumexp(do(x + w), axis=-1))]


def held_results(x, w, r, do):
    c = do(x * w)
    low = do(mx.min(c, axis=-1, keepdims=True))
    spread = do(do(mx.max(c, axis=-1, keepdims=True)) - low)
    return [do(do(c - low) / do(spread + r)), c, low, spread]


def products_and_variances(x, w, r, do):
    p = do(mx.prod(do(do(x * 0.01) + 1), axis=-1, keepdims=True))
    return [do(do(p * r) + do(mx.var(x, axis=-1, keepdims=True))), p]


FUNCTIONS = [
    layer_norm,
    standardized,
    rms_norm_in_float32,
    softmax_of_parts,
    log_sum_exp_of_parts,
    scaled_softmax,
    row_sums,
    row_log_sum_exp,
    held_results,
    products_and_variances,
]
SHAPES = [
    (64, 32),
    (130, 33),
    (7, 100),
    (2, 70, 257),
    (66, 1000),
    (65, 4099),
    (3, 1, 80),
    (5, 16384),
]


def operands(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = mx.array(rng.standard_normal(shape)).astype(dtype)
    w = mx.array(rng.standard_normal(shape[-1])).astype(dtype)
    r = mx.array(rng.uniform(1, 2, (*shape[:-1], 1))).astype(dtype)
    mx.eval(x, w, r)
    return x, w, r


def check(function, x, w, r):
    expected = function(x, w, r, stepwise)
    got = function(x, w, r, together)
    mx.eval(got)
    for a, b in zip(expected, got, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        assert bits(a) == bits(b)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: str(d).split(".")[-1])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_bits_of_the_steps(function, dtype):
    with mx.stream(mx.cpu):
        for shape in SHAPES:
            check(function, *operands(shape, dtype))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_layouts(function):
    x, w, r = operands((80, 96), mx.float32)
    big = operands((162, 200), mx.float32)[0]
    layouts = [
        operands((96, 80), mx.float32)[0].T,
        big[1::2, ::2][:80, :96],
        big[80:160, 4:100],
        x[::-1, ::-1],
        mx.broadcast_to(w, (80, 96)),
        mx.broadcast_to(r, (80, 96)),
    ]
    for y, v, s in itertools.product(layouts, [w, w[::-1], x], [r, r[::-1], r[:1]]):
        check(function, y, v, s)
        expected = function(stepwise(y + 0), v, s, stepwise)
        got = function(y + 0, v, s, together)
        mx.eval(got)
        for a, b in zip(expected, got, strict=True):
            assert bits(a) == bits(b)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_view_computed_in_the_same_evaluation(function):
    x, w, r = operands((80, 96), mx.float32)
    transposed = operands((96, 80), mx.float32)[0]
    expected = function(stepwise(mx.transpose(stepwise(transposed * 2))), w, r, stepwise)
    got = function(mx.transpose(transposed * 2), w, r, together)
    for a, b in zip(expected, got, strict=True):
        assert bits(a) == bits(b)


def test_special_values():
    x, w, r = operands((70, 100), mx.float32)
    x = np.array(x)
    x[3, 5], x[10], x[20, :50], x[21] = np.nan, np.inf, -np.inf, 0
    for function in FUNCTIONS:
        check(function, mx.array(x), w, r)


def test_one_operand_in_two_roles():
    x, w, r = operands((64, 64), mx.float32)
    for do in (stepwise, together):
        # w has as many elements as there are rows, and is read by all of them.
        total = do(mx.sum(do(x * w), axis=-1, keepdims=True))
        y = do(do(x - total) + do(total * r))
        if do is stepwise:
            expected = y
    assert bits(expected) == bits(y)


def test_temporaries_are_overwritten_only_after_their_last_reader():
    x, w, r = operands((256, 128), mx.float32)
    expected = layer_norm(stepwise(x * 3), w, r, stepwise)[0]
    for _ in range(3):
        got = layer_norm(x * 3, w * 1, r, together)[0]
        assert bits(expected) == bits(got)
        expected2, centred = (
            stepwise(mx.exp(stepwise(x - stepwise(mx.max(x, axis=-1, keepdims=True))))),
            stepwise(x - stepwise(mx.mean(x, axis=-1, keepdims=True))),
        )
        y = x * 1
        e = mx.exp(y - mx.max(y, axis=-1, keepdims=True))
        c = y - mx.mean(y, axis=-1, keepdims=True)
        del y
        mx.eval(e, c)
        assert bits(expected2) == bits(e) and bits(centred) == bits(c)


def test_gradients_agree_with_the_steps():
    x, w, r = operands((70, 64), mx.float32)

    def loss(x, w, do):
        return mx.sum(layer_norm(x, w, r, do)[0] * x)

    gradient = mx.grad(lambda x, w: loss(x, w, together), argnums=(0, 1))(x, w)
    a = np.array(x, np.float64)
    v = np.array(w, np.float64)
    step = 1e-5

    def value(a, v):
        c = a - a.mean(-1, keepdims=True)
        n = c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5)
        return ((n * v + v) * a).sum()

    for i, j in ((0, 0), (13, 5), (69, 63)):
        d = np.zeros_like(a)
        d[i, j] = step
        slope = (value(a + d, v) - value(a - d, v)) / (2 * step)
        assert abs(slope - gradient[0][i, j].item()) < 1e-3 * max(1, abs(slope))


@pytest.mark.skipif(mx.default_device() != mx.cpu, reason="the memory of the CPU")
@pytest.mark.skipif(os.environ.get("MLX_DISABLE_FUSION") == "1", reason="not fused")
def test_one_pass_needs_no_memory_for_what_lies_between():
    x, w, r = operands((4096, 512), mx.float32)
    gc.collect()
    mx.eval(layer_norm(x, w, r, together))
    mx.reset_peak_memory()
    before = mx.get_active_memory()
    y = layer_norm(x, w, r, together)
    mx.eval(y)
    assert mx.get_peak_memory() - before < 1.5 * x.nbytes
