"""mx.compile(shapeless=True): replays for other shapes equal the function or are refused."""

from __future__ import annotations

import mlx.core as mx
import pytest
from compile_support import Counted, assert_same, sample

SHAPELESS = {
    "element-wise": lambda x: mx.exp(x) * 2 - x,
    "reductions": lambda x: (
        x.sum(),
        x.mean(0),
        x.max(1, keepdims=True),
        x.var(),
        x.std(0, ddof=1),
    ),
    "normalized": lambda x: (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1),
    "softmax": lambda x: (mx.softmax(x, -1), mx.softmax(x), mx.softmax(x, 0), mx.logsumexp(x)),
    "matmul": lambda x: (x @ x.T, mx.outer(x[:, None], x)),
    "flat": lambda x: (x.reshape(-1), x.flatten(), mx.take(x, mx.array([0, 1]))),
    "axes": lambda x: (x[None], x[..., None, :], x.T, mx.expand_dims(x, 1).squeeze(1)),
    "joined": lambda x: (mx.concatenate([x, x * 2]), mx.stack([x, x], 1)),
    "filled": lambda x: (mx.zeros_like(x), mx.ones_like(x) + x, mx.full_like(x, 3), x * 0 + 1),
    "choice": lambda x: mx.where(x > 0, x, 0.0),
    "positions": lambda x: (mx.argmax(x, 1), mx.argmin(x), mx.sort(x, 1), mx.argsort(x, 0)),
    "scans": lambda x: (mx.cumsum(x, 1), mx.cummax(x, 0), mx.logcumsumexp(x, 1)),
    "gathered": lambda x: mx.take_along_axis(x, mx.argsort(x, 1), 1),
    "broadcast": lambda x: x + x.sum(0) * x.sum(1, keepdims=True),
}
# Functions whose gradient is taken.
SHAPELESS_LOSSES = {
    "sum": lambda x: (x * x).sum(),
    "mean": lambda x: (x * x).mean(),
    "mean of means": lambda x: (x.mean(0) * x.mean(0)).mean(),
    "var": lambda x: x.var() + x.std(0).sum() + x.var(1, ddof=1).sum(),
    "extremes": lambda x: (x.max(0) * x.min(0)).sum() + x.max(),
    "norm": lambda x: (SHAPELESS["normalized"](x) ** 3).sum(),
    "softmax": lambda x: (mx.softmax(x, -1) * mx.softmax(x, 0)).sum() + mx.logsumexp(x),
    "all of softmax": lambda x: (mx.softmax(x) ** 2).sum(),
    "matmul": lambda x: (x @ x.T @ x).mean(),
    "broadcast": lambda x: (x * x.sum(0) + x[None] * x.mean(1, keepdims=True)).sum(),
    "flat": lambda x: (x.reshape(-1) ** 3).sum() + mx.square(x.flatten()).mean(),
    "filled": lambda x: (mx.ones_like(x) * x + mx.zeros_like(x)).sum(),
    "choice": lambda x: mx.where(x > 0, x * x, 0.0).sum(),
    "gathered": lambda x: (mx.take_along_axis(x, mx.argsort(x, 1), 1) * x).sum(),
    "taken": lambda x: (mx.take(x, mx.array([0, 0, 1]), axis=0) * x.mean()).sum(),
    "sorted": lambda x: (mx.sort(x, 0) * mx.cumsum(x, 0)).sum(),
    "stopped": lambda x: (mx.stop_gradient(x.mean()) * x).sum(),
}
SHAPES = [(3, 4), (3, 4), (2, 4), (5, 2), (2, 2), (7, 9)]


@pytest.mark.parametrize("name", SHAPELESS)
def test_shapeless_equals_the_function(name):
    fun = Counted(SHAPELESS[name])
    f = mx.compile(fun, shapeless=True)
    for seed, shape in enumerate(SHAPES):
        x = sample(shape, seed=seed)
        assert_same(f(x), fun.fun(x))
    assert fun.calls == 1


@pytest.mark.parametrize("first", [(3, 4), (1, 4), (3, 1), (1, 1), (2, 3)])
@pytest.mark.parametrize("name", SHAPELESS_LOSSES)
def test_shapeless_gradients(name, first):
    fun = Counted(SHAPELESS_LOSSES[name])
    plain = mx.value_and_grad(fun.fun)
    inside = mx.compile(mx.value_and_grad(fun), shapeless=True)
    outside = mx.value_and_grad(mx.compile(fun, shapeless=True))
    second = mx.compile(mx.grad(lambda x: mx.grad(fun.fun)(x).sum()), shapeless=True)
    few = name == "taken"  # takes row 1
    shapes = [(2, 3)] if few else [first, *SHAPES, (1, 5), (4, 1), (1, 1)]
    for seed, shape in enumerate(shapes + [(4, 5)] * few):
        x = sample(shape, seed=seed)
        want = plain(x)
        assert_same(inside(x), want)
        assert_same(outside(x), want)
        assert_same(second(x), mx.grad(lambda x: mx.grad(fun.fun)(x).sum())(x))
    assert fun.calls == 2


def test_shapeless_broadcasting_against_another_argument():
    def f(x, y):
        return mx.value_and_grad(lambda x, y: (x * y + mx.where(x > y, x, y)).sum(), (0, 1))(x, y)

    g = mx.compile(f, shapeless=True)
    x = {n: sample((n, 3), seed=n) for n in (1, 2, 5)}
    y = {n: sample((1, n, 3), seed=n) for n in (1, 2, 5)}
    for i, j in [(1, 1), (1, 5), (5, 1), (5, 5), (1, 2), (2, 2)]:
        assert_same(g(x[i], y[j]), f(x[i], y[j]))
    with pytest.raises(ValueError, match="cannot be broadcast"):
        g(x[2], y[5])
    assert_same(g(x[5], y[5]), f(x[5], y[5]))


def test_shapeless_traces_again_for_another_rank_or_dtype():
    fun = Counted(lambda x: x.sum(-1))
    f = mx.compile(fun, shapeless=True)
    for n, (shape, dtype) in enumerate(
        [((3,), mx.float32), ((3, 4), mx.float32), ((3,), mx.int32), ((0,), mx.float32)]
    ):
        for shift in (0, 2) if shape != (0,) else (0,):
            x = sample(tuple(s + shift for s in shape), dtype)
            assert_same(f(x), fun.fun(x))
        assert fun.calls == n + 1


def test_shapeless_refuses_fixed_shapes():
    x = sample((4, 4))
    for fun in (
        lambda x: x[1:3],
        lambda x: x[0],
        lambda x: x[:, -1],
        lambda x: x[0:4],
        lambda x: mx.split(x, 2)[0],
        lambda x: mx.pad(x, 1),
        lambda x: mx.roll(x, 1),
        lambda x: x[::-1],
        lambda x: mx.as_strided(x, (2, 2), (1, 1)),
        lambda x: mx.random.uniform(shape=(3,), key=(x.sum() + mx.array([1, 2])).astype(mx.uint32)),
    ):
        f = mx.compile(fun, shapeless=True)
        with pytest.raises(ValueError, match=r"\[compile\] \w+ cannot be used in a shapeless"):
            f(x)


def test_shapeless_refuses_shapes_that_do_not_fit():
    x, y = sample((4, 4)), sample((2, 3), seed=1)
    for fun, text in (
        (lambda x: x.reshape(2, 8), "reshape"),
        (lambda x: x.reshape(4, 4), "reshape"),
        (lambda x: mx.broadcast_to(x, (4, 4)), "broadcast_to"),
        (lambda x: x + mx.ones((4, 4)), "add"),
        (lambda x: x @ mx.ones((4, 2)), "matmul"),
        (lambda x: mx.unflatten(x, 0, (2, 2)), "unflatten|reshape"),
        (lambda x: mx.vmap(lambda row: row * 2)(x), "an axis has 2 elements in this call"),
        (lambda x: mx.repeat(x, 2, 0), "an axis has 2 elements"),
        (lambda x: mx.tile(x, (2, 1)), "an axis has 2 elements"),
        (lambda x: mx.kron(x, x), "an axis has 2 elements"),
        (lambda x: mx.tensordot(x, x.T, 1), "an axis has 2 elements"),
        (lambda x: mx.einsum("ij,kj->ik", x, x), "an axis has 2 elements"),
        (lambda x: x.reshape(2, -1), None),
        (lambda x: mx.concatenate([x, mx.ones((1, 4))]), "concatenate"),
        (lambda x: mx.addmm(mx.ones((4, 4)), x, x.T), "addmm"),
        (
            lambda x: mx.put_along_axis(x, mx.zeros((4, 4), mx.int32), mx.array(1.0), 0),
            "put_along_axis",
        ),
        (lambda x: mx.partition(x, 3, axis=0), "partition"),
    ):
        f = mx.compile(fun, shapeless=True)
        assert_same(f(x), fun(x))
        if text is None:
            assert_same(f(y), fun(y))
        else:
            with pytest.raises(ValueError, match=text):
                f(y)
        assert_same(f(x), fun(x))


def test_shapeless_with_state_vmap_checkpoint_and_nested():
    inner = mx.compile(lambda x: (mx.zeros_like(x) + x).mean())

    def fun(x):
        loss = lambda x: inner(x * x) + mx.checkpoint(lambda a: mx.sin(a).mean())(x)
        return mx.value_and_grad(loss)(x), mx.vmap(lambda a: a * 2 + a.mean(), in_axes=1)(x)

    inner(sample((3, 4)))
    f = mx.compile(fun, shapeless=True)
    for shape in ((3, 4), (6, 4), (1, 4)):
        x = sample(shape)
        assert_same(f(x), fun(x))
    state = [sample((3,))]

    def step(x):
        state[0] = state[0] + x
        return state[0].mean()

    g = mx.compile(step, inputs=state, outputs=state, shapeless=True)
    for n in (3, 5):
        state[0] = mx.ones(n)
        assert g(mx.ones(n)).item() == 2 and state[0].tolist() == [2] * n


def test_shapeless_gradients_of_products_are_right_or_refused():
    f = mx.compile(mx.grad(lambda x: x.prod(0).sum()), shapeless=True)
    assert_same(f(sample((1, 4))), mx.ones((1, 4)))
    with pytest.raises(ValueError, match="an axis has 3 elements"):
        f(sample((3, 4)))
    with pytest.raises(ValueError, match="cannot be used in a shapeless"):
        mx.compile(mx.grad(lambda x: x.prod()), shapeless=True)(sample((3,)))
