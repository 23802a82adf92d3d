"""Tests of nn.value_and_grad and nn.utils.checkpoint, and of training a small model."""

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
import pytest
from mlx.utils import tree_flatten
from nn_support import assert_close, numbers

X, Y = mx.array(numbers(8, 3)), mx.array(numbers(8, 2, seed=1))


def mlp():
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))


def test_value_and_gradients():
    model = nn.Linear(3, 2)
    before = dict(model)
    fn = nn.value_and_grad(model, lambda x, y, scale=1.0: scale * nn.losses.mse_loss(model(x), y))
    value, grads = fn(X, Y, scale=2.0)
    x, y, w, b = (np.array(a, dtype=np.float64) for a in (X, Y, model.weight, model.bias))
    error = x @ w.T + b - y
    assert_close(value, 2 * (error**2).mean(), 1e-5)
    assert_close(grads["weight"], 4 * error.T @ x / error.size, 1e-5)
    assert_close(grads["bias"], 4 * error.sum(0) / error.size, 1e-5)
    assert all(model[k] is before[k] or mx.array_equal(model[k], before[k]) for k in before)


def test_only_what_is_trainable():
    model = mlp()
    model.layers[0].freeze()
    model.layers[2].freeze(keys="bias")
    _, grads = nn.value_and_grad(model, lambda: mx.sum(model(X)))()
    assert [name for name, _ in tree_flatten(grads)] == ["layers.2.weight"]
    optimizer = optim.SGD(0.1)
    frozen = np.array(model.layers[0].weight)
    optimizer.update(model, grads)
    np.testing.assert_array_equal(np.array(model.layers[0].weight), frozen)


def test_auxiliary_results():
    model = mlp()

    def fn(x):
        """Documented."""
        y = model(x)
        return mx.sum(y), y, "text"

    wrapped = nn.value_and_grad(model, fn)
    assert wrapped.__doc__ == "Documented."
    (value, y, text), grads = wrapped(X)
    assert y.shape == (8, 2) and text == "text"
    assert_close(value, np.array(y).sum(), 1e-5)
    assert len(tree_flatten(grads)) == 4


def test_a_failing_loss_leaves_the_model_alone():
    model = nn.Linear(3, 2)
    before = np.array(model.weight)

    def fn():
        model(X)
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        nn.value_and_grad(model, fn)()
    np.testing.assert_array_equal(np.array(model.weight), before)
    mx.eval(model(X))


def test_checkpoint():
    model = mlp()
    layer = model.layers[0]
    saving = nn.utils.checkpoint(layer)
    scaled = nn.utils.checkpoint(layer, lambda x, k=1.0: layer(x) * k)
    fns = [
        lambda x: mx.sum(model.layers[2](nn.tanh(layer(x))) ** 2),
        lambda x: mx.sum(model.layers[2](nn.tanh(saving(x))) ** 2),
        lambda x: mx.sum(model.layers[2](nn.tanh(scaled(x, k=1.0))) ** 2),
    ]
    values = [nn.value_and_grad(model, fn)(X) for fn in fns]
    for value, grads in values[1:]:
        assert_close(value, np.array(values[0][0]), 1e-5)
        for (name, a), (_, b) in zip(tree_flatten(grads), tree_flatten(values[0][1])):
            assert_close(a, np.array(b), 1e-4), name
    for fn in fns[1:]:
        assert_close(mx.grad(fn)(X), np.array(mx.grad(fns[0])(X)), 1e-4)
    mx.eval(model.parameters())


@pytest.mark.parametrize(
    "make",
    [
        lambda: optim.SGD(0.1, momentum=0.9),
        lambda: optim.AdamW(optim.cosine_decay(0.03, 200), weight_decay=0.0),
        lambda: optim.Adafactor(),
        lambda: optim.MultiOptimizer(
            [optim.Muon(0.02, weight_decay=0.0), optim.Adam(0.02)], [lambda path, g: g.ndim == 2]
        ),
    ],
)
def test_training(make):
    mx.random.seed(0)
    model, optimizer = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2)), make()
    step = nn.value_and_grad(model, lambda x, y: nn.losses.mse_loss(model(x), y))
    first = None
    for _ in range(200):
        loss, grads = step(X, Y)
        first = loss.item() if first is None else first
        optimizer.update(model, grads)
        mx.eval(model.parameters(), optimizer.state)
    assert optimizer.step.item() == 200
    assert loss.item() < 0.1 * first
