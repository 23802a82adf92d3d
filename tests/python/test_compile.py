"""mx.compile: equal to the uncompiled function bit for bit, when it traces again, state, errors, memory."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from collections import namedtuple

import mlx.core as mx
import numpy as np
import pytest
import table
from compile_support import Counted, assert_same, sample

Pair = namedtuple("Pair", "first second")


def gelu(x):
    return x * 0.5 * (1 + mx.erf(x / 1.4142135))


def mlp(params, x):
    for w, b in params:
        x = mx.tanh(x @ w + b)
    return x


def updated(x):
    y = x + 1
    y[1] += x[0]
    y[:, ::2] = 3.0
    return y


def params(seed=0):
    return [(sample((4, 4), seed=seed + i), sample((4,), seed=seed + 10 + i)) for i in range(3)]


FUNCTIONS = {
    "identity": lambda x: x,
    "constant": lambda x: mx.array([1.0, 2.0]),
    "unary chain": lambda x: mx.exp(mx.sin(x) * 2 - 1),
    "gelu": gelu,
    "repeated": lambda x: mx.exp(x) + mx.exp(x) * mx.exp(x),
    "several results": lambda x: (x + 1, [x * 2, {"a": x - 3}], x),
    "casts": lambda x: (x * 100).astype(mx.int8).astype(mx.float32) + x.astype(mx.float16),
    "softmax": lambda x: mx.softmax(x @ x.T, axis=-1) * mx.max(x),
    "views": lambda x: x.T.reshape(9, -1)[1:7:3] + x[0, :1],
    "updates": lambda x: updated(x) * mx.take(x, mx.array([0, 2, 1]), axis=0),
    "random": lambda x: mx.random.normal(x.shape, key=mx.random.key(3)) + x,
    "norm": lambda x: (x - x.mean(-1, keepdims=True)) / mx.sqrt(x.var(-1, keepdims=True) + 1e-5),
    "non-finite constants": lambda x: mx.minimum(mx.where(x > 0, float("inf"), float("nan")), x),
    "zeros": lambda x: mx.zeros_like(x) - x * 0.0,
    "ranges": lambda x: x + mx.arange(x.shape[1]),
    "bool": lambda x: (x > 0) & (x < 1) | ~(x == x),
    "dead code": lambda x: (mx.exp(x), x + 2)[1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_the_function(name):
    fun = FUNCTIONS[name]
    x = sample((3, 3))
    compiled = mx.compile(fun)
    for seed in range(3):
        x = sample((3, 3), seed=seed)
        assert_same(compiled(x), fun(x))


@pytest.mark.parametrize(
    "dtype", [mx.uint8, mx.int8, mx.int32, mx.uint64, mx.float16, mx.bfloat16, mx.complex64]
)
def test_dtypes_keep_their_rounding(dtype):
    def fun(x, y):
        return mx.abs(x * y + x) - y * 3 + mx.square(x)

    x, y = sample((5, 7), dtype), sample((5, 7), dtype, 1)
    assert_same(mx.compile(fun)(x, y), fun(x, y))


def test_values_that_careless_rewriting_would_lose():
    u = mx.array([0, 200, 255], mx.uint8)
    assert mx.compile(lambda a: mx.abs(a - 1))(u).tolist() == [255, 199, 254]
    nans = mx.array([1.0, float("nan"), float("inf")])
    equal = mx.compile(lambda a, b: mx.array_equal(a, b, equal_nan=True))
    assert equal(nans, nans + 0).item() is True
    assert mx.compile(lambda a: a - a)(nans).tolist()[0] == 0.0
    assert mx.isnan(mx.compile(lambda a: a * 0.0)(nans)).tolist() == [False, True, True]
    negative_zero = mx.compile(lambda a: a + 0.0)(mx.array([-0.0]))
    assert not np.signbit(np.array(negative_zero))[0]
    for log, base in ((mx.log2, 2.0), (mx.log10, 10.0), (mx.log, np.e)):
        got = mx.compile(lambda a, log=log: log(a) + 0.0)(mx.array([base, base**3], mx.float32))
        assert np.allclose(np.array(got), [1, 3], rtol=1e-6)
    infinite = mx.compile(lambda a: mx.where(a > 0, a, -float("inf")))(mx.array([-1.0, 2.0]))
    assert infinite.tolist() == [-float("inf"), 2.0]


def test_random_graphs_of_many_steps():
    def fun(x, y):
        for i in range(200):
            x = mx.sin(x + y * (i % 7)) if i % 3 else mx.maximum(x, y.T) - x
            if i % 50 == 49:
                y = y + x.sum(0)
        return x, y

    x, y = sample((9, 9)), sample((9, 9), seed=1)
    assert_same(mx.compile(fun)(x, y), fun(x, y))


@pytest.mark.parametrize("op", table.OPS, ids=lambda op: op.name)
def test_every_row_in_a_chain(op):
    """Every element-wise op between others, in every dtype and layout."""

    def fun(*x):
        return mx.where(x[0] == x[0], op(*(mx.maximum(a, a) for a in x)), x[0])

    compiled = mx.compile(fun)
    for dtype in filter(op.takes, table.DTYPES):
        for layout in table.LAYOUTS:
            x = [a for a, _ in table.operands(op, dtype, layout)]
            want = fun(*x)
            assert_same(compiled(*x), want)
            assert_same(compiled(*x), want)


# ---- when the function is traced ----


def test_traces_once_for_one_kind_of_call():
    fun = Counted(lambda x, scale: x * scale)
    f = mx.compile(fun)
    x = sample((3,))
    for _ in range(3):
        f(x, 2.0)
    assert fun.calls == 1
    for n, (args, calls) in enumerate(
        [
            ((sample((4,)), 2.0), 2),  # shape
            ((sample((3,), mx.float16), 2.0), 3),  # dtype
            ((sample((3, 1)), 2.0), 4),  # rank
            ((x, 3.0), 5),  # constant
            ((x, 2), 6),  # an int is no float
            ((x, mx.array(2.0)), 7),  # nor an array
            ((x, 2.0), 7),
            ((sample((4,), seed=5), 2.0), 7),
        ]
    ):
        assert_same(f(*args), fun.fun(*args))
        assert fun.calls == calls, n


def test_structure_and_constants_are_part_of_the_key():
    fun = Counted(lambda *args, **kwargs: 0)
    f = mx.compile(fun)
    x = mx.array(1.0)
    calls = [
        ([x, x],),
        ((x, x),),
        ([x, [x]],),
        (Pair(x, x),),
        ({"a": x},),
        ({"b": x},),
        ({1: x},),
        (x, "text"),
        (x, "other text that is longer than a word"),
        (x, None),
        (x, True),
        (x, False),
        (x, 2**70),
        (x, 2**70 + 1),
        (x, float("nan")),
        (x, 0.0),
        (x, -0.0),
    ]
    for _ in range(2):
        for args in calls:
            f(*args)
        f(x, y=x)
        f(x, z=x)
    assert fun.calls == len(calls) + 2
    f(x, 1)  # True and 1 are one constant
    assert fun.calls == len(calls) + 2


def test_default_stream_and_device_are_part_of_the_key():
    fun = Counted(lambda x: x + 1)
    f = mx.compile(fun)
    x = mx.array(1.0)
    f(x)
    other = mx.new_stream(mx.cpu)
    with mx.stream(other):
        assert f(x).item() == 2
        assert f(x).item() == 2
    f(x)
    assert fun.calls == 2


def test_side_effects_happen_when_tracing():
    seen = []
    f = mx.compile(lambda x: (seen.append(1), x)[1])
    for _ in range(3):
        f(mx.array(1.0))
    assert seen == [1]


def test_results_that_are_no_arrays_are_as_recorded():
    marker = object()
    f = mx.compile(lambda x: {"x": x, "rest": [marker, "text", None, Pair(x, 3)]})
    for v in (1.0, 2.0):
        r = f(mx.array(v))
        assert r["x"].item() == v and r["rest"][0] is marker and r["rest"][1:3] == ["text", None]
        assert isinstance(r["rest"][3], Pair) and r["rest"][3].first.item() == v
    first, second = f(mx.array(1.0)), f(mx.array(1.0))
    assert first is not second and first["rest"] is not second["rest"]


def test_arguments_are_not_changed():
    def fun(x, d):
        x += 1
        d["a"] = d["a"] * 2
        d["new"] = x
        return x + d["a"]

    f = mx.compile(fun)
    x, d = mx.array(1.0), {"a": mx.array(3.0)}
    assert f(x, d).item() == 8 and f(x, d).item() == 8
    assert x.item() == 1 and list(d) == ["a"] and d["a"].item() == 3


def test_captured_arrays_are_frozen():
    scale = mx.array(2.0)
    f = mx.compile(lambda x: x * scale)
    assert f(mx.array(3.0)).item() == 6
    scale = mx.array(5.0)
    assert f(mx.array(3.0)).item() == 6


def test_refuses_other_arguments():
    f = mx.compile(lambda *a, **k: 0)
    for bad in (object(), 1j, b"x", {1, 2}, np.ones(2), mx.float32, lambda: 0):
        with pytest.raises(ValueError, match=r"\[compile\] arguments are arrays, int, float"):
            f(bad)
        with pytest.raises(ValueError, match=r"\[compile\]"):
            f([{"a": (1, bad)}])
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        f(endless)
    assert f(1) == 0


def test_refuses_evaluation_inside():
    x = mx.array([1.0, 2.0])
    for use in (
        lambda a: mx.eval(a),
        lambda a: a[0].item(),
        lambda a: bool((a > 0).all()),
        lambda a: np.array(a),
        lambda a: a.tolist(),
        lambda a: float(a.sum()),
        lambda a: a if a.sum() > 0 else -a,
    ):
        f = mx.compile(use)
        with pytest.raises(ValueError, match="evaluated"):
            f(x)
        with pytest.raises(ValueError, match="evaluated"):
            f(x)
    with pytest.raises(ValueError, match="async_eval"):
        mx.compile(lambda a: mx.async_eval(a))(x)
    assert mx.compile(lambda a: a * 2)(x).tolist() == [2, 4]
    assert (x * 2).tolist() == [2, 4]


def test_a_leaked_stand_in_says_what_it_is():
    leaked = []
    mx.compile(lambda x: (leaked.append(x + 1), x)[1])(mx.array(1.0))
    with pytest.raises(ValueError, match="stands for an argument"):
        leaked[0].item()


# ---- state ----


def test_state_is_read_and_written():
    state = {"count": mx.array(0), "nested": [mx.array(1.0), "ignored"]}

    def step(x):
        state["count"] = state["count"] + 1
        state["nested"][0] = state["nested"][0] * x
        return state["nested"][0] + state["count"]

    fun = Counted(step)
    f = mx.compile(fun, inputs=state, outputs=state)
    assert [f(mx.array(2.0)).item() for _ in range(3)] == [3, 6, 11]
    assert fun.calls == 1
    assert state["count"].item() == 3 and state["nested"][0].item() == 8
    state["count"] = mx.array(10)
    assert f(mx.array(1.0)).item() == 19


def test_state_that_was_held_elsewhere_keeps_its_value():
    state = [mx.array(1.0)]
    held = state[0]

    def step():
        state[0] = state[0] + 1

    f = mx.compile(step, inputs=state, outputs=state)
    assert f() is None and f() is None
    assert held.item() == 1 and state[0].item() == 3


def test_in_place_updates_of_state_are_updates_in_place():
    state = [mx.array([1.0, 2.0]), mx.array(0.0)]
    held = state[0]

    def step():
        state[0] += 1
        state[0][0] = 7

    f = mx.compile(step, inputs=state, outputs=state)
    f()
    f()
    assert state[0] is held and held.tolist() == [7, 4]


def test_inputs_alone_are_not_written():
    state = [mx.array(1.0)]

    def step(x):
        state[0] = state[0] + x
        return state[0]

    f = mx.compile(step, inputs=state)
    assert [f(mx.array(1.0)).item() for _ in range(3)] == [2, 2, 2]
    assert state[0].item() == 1


def test_outputs_alone():
    results = []

    def step(x):
        results.append(mx.exp(x))
        return x

    f = mx.compile(step, outputs=results)
    for v in (0.0, 1.0):
        f(mx.array(v))
        assert len(results) == 1 and np.isclose(results[0].item(), np.exp(v))
    named = {}

    def fill(x):
        named["a"] = {"b": (x, [x + 1])}
        named["text"] = "done"

    g = mx.compile(fill, outputs=named)
    g(mx.array(1.0))
    named.clear()
    g(mx.array(2.0))
    assert named["a"]["b"][1][0].item() == 3 and named["text"] == "done"


def test_swapped_state():
    state = [mx.array(1.0), mx.array(2.0)]

    def swap():
        state[0], state[1] = state[1], state[0]

    f = mx.compile(swap, inputs=state, outputs=state)
    f()
    assert [a.item() for a in state] == [2, 1]
    f()
    assert [a.item() for a in state] == [1, 2]


def test_structure_of_the_state_is_part_of_the_key():
    state = {"a": mx.array(1.0)}
    fun = Counted(lambda: sum(state.values(), start=mx.array(0.0)))
    f = mx.compile(fun, inputs=state)
    assert f().item() == 1
    state["b"] = mx.array(2.0)
    assert f().item() == 3 and fun.calls == 2


def test_random_state():
    def draw():
        return mx.random.uniform(shape=(3,))

    f = mx.compile(draw, inputs=mx.random.state, outputs=mx.random.state)
    mx.random.seed(7)
    want = [draw().tolist() for _ in range(3)]
    mx.random.seed(7)
    assert [f().tolist() for _ in range(3)] == want
    mx.random.seed(7)
    mixed = [f().tolist(), draw().tolist(), f().tolist()]
    assert mixed == want

    state = [mx.random.state, {"w": mx.array(1.0)}]
    g = mx.compile(lambda: draw() * state[1]["w"], inputs=state, outputs=state)
    mx.random.seed(7)
    assert [g().tolist() for _ in range(2)] == want[:2]

    frozen = mx.compile(draw)
    assert frozen().tolist() == frozen().tolist()


def test_an_exception_leaves_everything_as_it_was():
    state = {"a": mx.array(1.0), "list": [mx.array(2.0)]}
    a = state["a"]

    def step(x):
        state["a"] = state["a"] + x
        a.__iadd__(1)
        state["list"].append(x)
        state["new"] = x
        mx.random.normal()
        raise KeyError("mine")

    mx.random.seed(3)
    key = mx.random.state[0].tolist()
    captured = [state, mx.random.state]
    f = mx.compile(step, inputs=captured, outputs=captured)
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            f(mx.array(1.0))
        assert list(state) == ["a", "list"] and state["a"] is a and a.item() == 1
        assert len(state["list"]) == 1 and state["list"][0].item() == 2
        assert mx.random.state[0].tolist() == key


# ---- with other transforms ----


def test_gradients():
    def loss(p, x):
        return (mlp(p, x) ** 2).mean()

    p, x = params(), sample((5, 4))
    plain = mx.value_and_grad(loss)(p, x)
    assert_same(mx.compile(mx.value_and_grad(loss))(p, x), plain)
    compiled = mx.compile(loss)
    for _ in range(2):
        assert_same(mx.value_and_grad(compiled)(p, x), plain)
    assert_same(mx.compile(mx.grad(compiled))(p, x), plain[1])


def test_second_order_and_forward():
    def f(x):
        return (mx.sin(x) * x**3).sum()

    x = sample((4,))
    want = mx.grad(lambda a: mx.grad(f)(a).sum())(x)
    c = mx.compile(f)
    assert_same(mx.grad(lambda a: mx.grad(c)(a).sum())(x), want)
    assert_same(mx.compile(mx.grad(lambda a: mx.grad(c)(a).sum()))(x), want)
    (got,), (tangent,) = mx.jvp(c, [x], [mx.ones(4)])
    (value,), (slope,) = mx.jvp(f, [x], [mx.ones(4)])
    assert_same([got, tangent], [value, slope])


def test_vmap():
    def f(x, y):
        return mx.softmax(x * y), (x @ y).sum()

    x, y = sample((6, 4)), sample((4,), seed=1)
    want = mx.vmap(f, in_axes=(0, None))(x, y)
    fun = Counted(f)
    c = mx.compile(fun)
    assert_same(mx.vmap(c, in_axes=(0, None))(x, y), want)
    assert_same(mx.vmap(c, in_axes=(0, None))(x, y), want)
    assert fun.calls == 1
    assert_same(mx.compile(mx.vmap(f, in_axes=(0, None)))(x, y), want)


def test_gradient_by_captured_values_of_an_outer_trace():
    def outer(x):
        return mx.compile(lambda y: (x * y).sum())(x * 2)

    x = sample((3,))
    assert np.allclose(np.array(mx.grad(outer)(x)), 4 * np.array(x), rtol=1e-6)


def test_nested():
    inner = Counted(lambda x: mx.tanh(x) * 2)
    middle = mx.compile(inner)
    outer = Counted(lambda x: middle(middle(x)) + middle(x))
    f = mx.compile(outer)
    x = sample((5,))
    assert_same(f(x), inner.fun(inner.fun(x)) + inner.fun(x))
    f(x)
    assert inner.calls == 1 and outer.calls == 1


def test_a_function_may_call_itself():
    def power(x, n):
        return x if n == 0 else f(x, n - 1) * x

    f = mx.compile(power)
    assert f(mx.array(3.0), 4).item() == 243

    def endless(x):
        return g(x)

    g = mx.compile(endless)
    with pytest.raises(RecursionError):
        g(mx.array(1.0))
    assert f(mx.array(2.0), 4).item() == 32


def test_training_step_of_state():
    import mlx.nn as nn
    import mlx.optimizers as optim

    def run(compiled):
        mx.random.seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Dropout(0.2), nn.Linear(8, 2))
        optimizer = optim.AdamW(1e-2)
        x, y = sample((16, 4)), sample((16, 2), seed=2)
        mx.eval(model.parameters())
        value_and_grad = nn.value_and_grad(model, lambda x, y: ((model(x) - y) ** 2).mean())

        def step(x, y):
            loss, grads = value_and_grad(x, y)
            optimizer.update(model, grads)
            return loss

        if compiled:
            state = [model.state, optimizer.state, mx.random.state]
            step = mx.compile(step, inputs=state, outputs=state)
        losses = [step(x, y) for _ in range(5)]
        return losses, model.parameters(), optimizer.state

    assert_same(run(True), run(False))


# ---- the callable ----


def test_attributes_come_from_the_function():
    def documented(x):
        """What it does."""
        return x

    documented.mark = 3
    f = mx.compile(documented)
    assert f.__name__ == "documented" and f.__doc__ == "What it does." and f.mark == 3
    with pytest.raises(AttributeError):
        f.nothing  # noqa: B018
    with pytest.raises(TypeError):
        mx.compile(3)

    class Layer:
        @mx.compile
        def double(self: int, x):
            return x

    assert isinstance(Layer.double, type(f))


def test_disabling():
    fun = Counted(lambda x: x + 1)
    f = mx.compile(fun)
    x = mx.array(1.0)
    try:
        mx.disable_compile()
        for _ in range(3):
            f(x)
        assert fun.calls == 3
    finally:
        mx.enable_compile()
    f(x)
    f(x)
    assert fun.calls == 4
    code = (
        "import mlx.core as mx; n = []; f = mx.compile(lambda x: n.append(0) or x);"
        "[f(mx.array(1)) for _ in range(3)]; print(len(n))"
    )
    for value, calls in ((None, "1"), ("", "3"), ("0", "3")):
        env = {k: v for k, v in os.environ.items() if k != "MLX_DISABLE_COMPILE"}
        if value is not None:
            env["MLX_DISABLE_COMPILE"] = value
        out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        assert out.stdout.strip() == calls, out.stderr


class Owner:
    """Something whose end can be watched."""


def test_functions_and_constants_are_released():
    def watched():
        owner, big, state = Owner(), mx.zeros((1000,)), [mx.array(1.0)]

        def fun(x, owner=owner):
            return x + big + state[0]

        mx.compile(fun, inputs=state, outputs=state)(mx.array(1.0))
        return weakref.ref(owner), weakref.ref(fun)

    alive = watched()
    gc.collect()
    assert [a() for a in alive] == [None, None]


def test_cycles_through_state_and_recorded_results_are_collected():
    def watched():
        owner, state = Owner(), {"w": mx.array(1.0)}
        state["self"] = owner.fun = mx.compile(
            lambda x: (state["self"], owner, x), inputs=state, outputs=state
        )
        owner.fun(mx.array(1.0))
        return weakref.ref(owner)

    alive = watched()
    gc.collect()
    assert alive() is None


def test_memory_of_a_trace_is_released():
    x = mx.zeros((256, 1024))
    mx.eval(x)
    f = mx.compile(lambda a: mx.sin(a).sum())
    f(x).item()
    gc.collect()
    before = mx.get_active_memory()
    for _ in range(5):
        f(x).item()
    assert mx.get_active_memory() <= before
    del f


def test_threads():
    fun = Counted(lambda x, y: mx.tanh(x @ y).sum(0) * 2)
    f = mx.compile(fun)
    x = sample((8, 8))
    want = fun.fun(x, x).tolist()
    wrong = []

    def work(i):
        for k in range(50):
            n = 8 if k % 2 else 4 + i % 3
            if n == 8:
                if f(x, x).tolist() != want:
                    wrong.append((i, k))
            else:
                a = sample((n, n), seed=i)
                if f(a, a).tolist() != fun.fun(a, a).tolist():
                    wrong.append((i, k))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_state_of_each_thread_draws_its_own_numbers():
    f = mx.compile(
        lambda: mx.random.uniform(shape=(2,)), inputs=mx.random.state, outputs=mx.random.state
    )
    got = {}

    def work(seed):
        mx.random.seed(seed)
        got[seed] = [f().tolist() for _ in range(3)]

    threads = [threading.Thread(target=work, args=(i % 2,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    mx.random.seed(0)
    assert got[0] == [mx.random.uniform(shape=(2,)).tolist() for _ in range(3)]
    assert got[0] != got[1]
