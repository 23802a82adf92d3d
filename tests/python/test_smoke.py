"""A little of everything in a few seconds: run by the commit hook and under the sanitizers."""

import gc
import threading

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
import pytest
from mlx.utils import tree_flatten

rng = np.random.default_rng(7)


def numbers(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def test_elementwise_chain_over_layouts():
    a, b = numbers(37, 5), numbers(5, 37)
    x, y = mx.array(a), mx.array(b)
    got = mx.exp(-mx.square(x.T)) * y + mx.sin(x[::-1].T) / (1 + mx.abs(y[:, ::1]))
    want = np.exp(-np.square(a.T)) * b + np.sin(a[::-1].T) / (1 + np.abs(b))
    np.testing.assert_allclose(np.array(got), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "dtype", [mx.bool_, mx.int8, mx.uint64, mx.float16, mx.bfloat16, mx.complex64]
)
def test_dtypes(dtype):
    x = mx.array([0, 1, 2, 3, 100]).astype(dtype)
    assert (x + x).dtype == dtype
    assert x.astype(mx.float32).tolist()[1] == 1.0
    assert mx.array_equal(x[::-1][::-1], x)


def test_reductions():
    a = numbers(6, 70, 5)
    x = mx.array(a)
    for axis in (None, 0, 1, 2, (0, 2)):
        np.testing.assert_allclose(
            np.array(mx.sum(x, axis=axis)), a.sum(axis), rtol=1e-4, atol=1e-4
        )
        np.testing.assert_array_equal(np.array(mx.max(x, axis=axis)), a.max(axis))
        np.testing.assert_allclose(
            np.array(mx.var(x, axis=axis)), a.var(axis), rtol=1e-4, atol=1e-5
        )
    np.testing.assert_array_equal(np.array(mx.argmax(x, axis=1)), a.argmax(1))
    np.testing.assert_allclose(
        np.array(mx.softmax(x, axis=-1)).sum(-1), np.ones((6, 70)), rtol=1e-5
    )


def test_empty_and_scalar_arrays():
    assert mx.sum(mx.zeros((0, 3)), axis=0).tolist() == [0, 0, 0]
    assert (mx.zeros((3, 0)) @ mx.zeros((0, 2))).tolist() == [[0, 0]] * 3
    assert mx.exp(mx.array(0.0)).item() == 1.0
    assert mx.concatenate([mx.zeros((0,)), mx.ones((2,))]).tolist() == [1, 1]


def test_matmul():
    a, b = numbers(3, 33, 17), numbers(17, 9)
    np.testing.assert_allclose(np.array(mx.array(a) @ mx.array(b)), a @ b, rtol=1e-4, atol=1e-5)
    half = mx.array(a).astype(mx.bfloat16) @ mx.array(b).astype(mx.bfloat16)
    np.testing.assert_allclose(np.array(half.astype(mx.float32)), a @ b, rtol=0.1, atol=0.3)


def test_indexing_and_updates():
    a = numbers(9, 8)
    x = mx.array(a)
    np.testing.assert_array_equal(np.array(x[1:-1:2, None, ::-3]), a[1:-1:2, None, ::-3])
    np.testing.assert_array_equal(np.array(x[mx.array([0, -1, 3])]), a[[0, -1, 3]])
    x[2:4, 1] = 5.0
    a[2:4, 1] = 5.0
    np.testing.assert_array_equal(np.array(x), a)
    x[mx.array([0, 5])] = mx.zeros((8,))
    assert x[5].tolist() == [0] * 8
    with pytest.raises(IndexError):
        x[9]


def test_transforms_compose():
    def f(w, x):
        return mx.tanh(x @ w).sum()

    w, x = mx.array(numbers(4)), mx.array(numbers(6, 4))
    grads = mx.vmap(mx.grad(f), in_axes=(None, 0))(w, x)
    y = np.tanh(np.array(x) @ np.array(w))
    want = (1 - y**2)[:, None] * np.array(x)
    np.testing.assert_allclose(np.array(grads), want, rtol=1e-4, atol=1e-5)
    second = mx.grad(lambda t: mx.grad(lambda s: mx.sum(s * s * s))(t).sum())
    np.testing.assert_allclose(np.array(second(w)), 6 * np.array(w), rtol=1e-5)


def test_random_is_reproducible():
    key = mx.random.key(3)
    a, b = mx.random.normal((100,), key=key), mx.random.normal((100,), key=key)
    assert mx.array_equal(a, b)
    assert abs(mx.random.uniform(shape=(10_000,)).mean().item() - 0.5) < 0.02


def test_exchange_with_numpy_and_files(tmp_path):
    a = numbers(4, 5)
    x = mx.array(a.T)
    np.testing.assert_array_equal(np.from_dlpack(x), a.T)
    np.testing.assert_array_equal(np.asarray(memoryview(x)), a.T)
    for name in ("x.npy", "x.safetensors"):
        path = str(tmp_path / name)
        if name.endswith("npy"):
            mx.save(path, x)
            y = mx.load(path)
        else:
            mx.save_safetensors(path, {"x": x})
            y = mx.load(path)["x"]
        assert mx.array_equal(x, y)
    with pytest.raises((OSError, RuntimeError, ValueError)):
        mx.load(str(tmp_path / "missing.npy"))


def test_a_model_learns():
    mx.random.seed(0)
    model = nn.Sequential(nn.Linear(3, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 1))
    optimizer = optim.AdamW(1e-2)
    x = mx.array(numbers(64, 3))
    y = mx.sum(x, axis=1, keepdims=True)
    step = nn.value_and_grad(model, lambda: nn.losses.mse_loss(model(x), y))
    first = None
    for _ in range(40):
        loss, grads = step()
        optimizer.update(model, grads)
        mx.eval(model.parameters(), optimizer.state)
        first = first or loss.item()
    assert loss.item() < 0.3 * first
    assert all(mx.isfinite(p).all().item() for _, p in tree_flatten(model.parameters()))


def test_errors_name_the_op_and_leave_the_process_usable():
    with pytest.raises(ValueError, match=r"\[matmul\]"):
        mx.zeros((2, 3)) @ mx.zeros((2, 3))
    with pytest.raises(ValueError):
        mx.zeros((2,)) + mx.zeros((3,))
    with pytest.raises(IndexError):
        mx.sum(mx.zeros((2,)), axis=4)
    assert (mx.zeros((2,)) + 1).tolist() == [1, 1]


def test_threads_share_arrays():
    shared = mx.exp(mx.array(numbers(1000)))
    results = [None] * 4

    def work(k):
        results[k] = mx.sum(shared * k).item()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    np.testing.assert_allclose(results, np.array(shared).sum() * np.arange(4), rtol=1e-4)


def test_a_long_graph_is_no_recursion():
    x = mx.zeros((2,))
    for _ in range(20_000):
        x = x + 1
    del _
    assert x.tolist() == [20_000, 20_000]
    del x
    gc.collect()
