"""Tests of mlx.optimizers: every rule against NumPy in float64, states, schedules, clipping."""

import math

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
import pytest
from mlx.utils import tree_flatten, tree_map, tree_unflatten
from nn_support import assert_close, numbers

SHAPES = {"m": (4, 6), "tall": (6, 2), "v": (5,), "t": (2, 3, 4), "s": ()}
STEPS = 4
LR = 0.02


def gradients(t):
    return {k: numbers(*s, seed=10 * t + i) for i, (k, s) in enumerate(SHAPES.items())}


def run(optimizer, dtype=mx.float32):
    """The parameters after some steps with given gradients."""
    p = {
        k: mx.array(numbers(*s, seed=100 + i)).astype(dtype)
        for i, (k, s) in enumerate(SHAPES.items())
    }
    for t in range(STEPS):
        g = tree_map(lambda a: mx.array(a).astype(dtype), gradients(t))
        p = optimizer.apply_gradients(g, p)
    return p


def simulate(rule, lr=lambda t: LR):
    """The same by ``rule(g, w, state, t, lr)`` in float64; the state is a dictionary of zeros."""
    out = {}
    for i, (k, s) in enumerate(SHAPES.items()):
        w, state = numbers(*s, seed=100 + i).astype(np.float64), {}
        for t in range(STEPS):
            w = rule(gradients(t)[k].astype(np.float64), w, state, t + 1, lr(t))
        out[k] = w
    return out


def ema(state, name, beta, new):
    state[name] = beta * state.get(name, 0.0) + (1 - beta) * new
    return state[name]


def sgd(mu=0.0, wd=0.0, damp=0.0, nesterov=False):
    def rule(g, w, s, t, lr):
        g = g + wd * w
        if mu == 0:
            return w - lr * g
        s["v"] = mu * s.get("v", 0.0) + (1 - damp) * g
        return w - lr * (g + mu * s["v"] if nesterov else s["v"])

    return rule


def rmsprop(g, w, s, t, lr):
    return w - lr * g / (np.sqrt(ema(s, "v", 0.9, g**2)) + 1e-8)


def adagrad(g, w, s, t, lr):
    s["v"] = s.get("v", 0.0) + g**2
    return w - lr * g / (np.sqrt(s["v"]) + 1e-8)


def adadelta(g, w, s, t, lr):
    v = ema(s, "v", 0.9, g**2)
    d = np.sqrt(s.get("u", 0.0) + 1e-6) / np.sqrt(v + 1e-6) * g
    ema(s, "u", 0.9, d**2)
    return w - lr * d


def adam(correct=False, wd=0.0, b1=0.9, b2=0.999):
    def rule(g, w, s, t, lr):
        m, v = ema(s, "m", b1, g), ema(s, "v", b2, g**2)
        if correct:
            m, v = m / (1 - b1**t), v / (1 - b2**t)
        return w * (1 - lr * wd) - lr * m / (np.sqrt(v) + 1e-8)

    return rule


def adamax(g, w, s, t, lr):
    m = ema(s, "m", 0.9, g)
    s["v"] = np.maximum(0.999 * s.get("v", 0.0), abs(g))
    return w - lr * m / (s["v"] + 1e-8)


def lion(wd=0.0):
    def rule(g, w, s, t, lr):
        c = 0.9 * s.get("m", 0.0) + 0.1 * g
        ema(s, "m", 0.99, g)
        return w * (1 - lr * wd) - lr * np.sign(c)

    return rule


def adafactor(relative=True, warmup=False, scale=True, beta_1=None, wd=0.0, clip=1.0):
    rms = lambda x: np.sqrt(np.mean(x**2))

    def rule(g, w, s, t, lr):
        if relative:
            lr = min(1e-6 * t if warmup else 1e-2, 1 / math.sqrt(t))
        lr = lr * (max(1e-3, rms(w)) if scale else 1)
        b2 = 1 - t**-0.8
        q = g**2 + 1e-30
        if g.ndim >= 2:
            r, c = ema(s, "r", b2, q.mean(-1)), ema(s, "c", b2, q.mean(-2))
            second = r[..., None] * c[..., None, :] / r.mean(-1, keepdims=True)[..., None]
        else:
            second = ema(s, "q", b2, q)
        u = g / np.sqrt(second)
        u = lr * u / max(1, rms(u) / clip)
        if beta_1 is not None:
            u = ema(s, "u", beta_1, u)
        return w - wd * lr * w - u

    return rule


def muon(wd=0.01, nesterov=True, mu=0.95, steps=5):
    def orthogonal(x):
        if x.shape[0] > x.shape[1]:
            return orthogonal(x.T).T
        x = x / (np.linalg.norm(x) + 1e-7)
        for _ in range(steps):
            a = x @ x.T
            x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
        return x

    def rule(g, w, s, t, lr):
        g = g + wd * w
        v = ema(s, "v", mu, g)
        u = (1 - mu) * g + mu * v if nesterov else v
        if g.ndim >= 2:
            u = orthogonal(u.reshape(len(u), -1)).reshape(u.shape)
            lr = lr * math.sqrt(max(1, g.shape[-2] / g.shape[-1]))
        return w - lr * u

    return rule


RULES = {
    "SGD": (lambda: optim.SGD(LR), sgd()),
    "SGD decay": (lambda: optim.SGD(LR, weight_decay=0.1), sgd(wd=0.1)),
    "SGD momentum": (lambda: optim.SGD(LR, 0.9), sgd(0.9)),
    "SGD dampened": (lambda: optim.SGD(LR, 0.9, 0.1, 0.3), sgd(0.9, 0.1, 0.3)),
    "SGD nesterov": (lambda: optim.SGD(LR, 0.9, nesterov=True), sgd(0.9, nesterov=True)),
    "RMSprop": (lambda: optim.RMSprop(LR, alpha=0.9), rmsprop),
    "Adagrad": (lambda: optim.Adagrad(LR), adagrad),
    "AdaDelta": (lambda: optim.AdaDelta(LR), adadelta),
    "Adam": (lambda: optim.Adam(LR), adam()),
    "Adam corrected": (lambda: optim.Adam(LR, bias_correction=True), adam(True)),
    "Adam betas": (
        lambda: optim.Adam(LR, betas=[0.0, 0.5], bias_correction=True), adam(True, b1=0.0, b2=0.5)),
    "AdamW": (lambda: optim.AdamW(LR, weight_decay=0.1), adam(wd=0.1)),
    "AdamW corrected": (lambda: optim.AdamW(LR, bias_correction=True), adam(True, wd=0.01)),
    "Adamax": (lambda: optim.Adamax(LR), adamax),
    "Lion": (lambda: optim.Lion(LR), lion()),
    "Lion decay": (lambda: optim.Lion(LR, weight_decay=0.1), lion(0.1)),
    "Adafactor": (lambda: optim.Adafactor(), adafactor()),
    "Adafactor warmup": (lambda: optim.Adafactor(warmup_init=True), adafactor(warmup=True)),
    "Adafactor unscaled": (
        lambda: optim.Adafactor(scale_parameter=False, clip_threshold=0.5),
        adafactor(scale=False, clip=0.5)),
    "Adafactor full": (
        lambda: optim.Adafactor(LR, relative_step=False, beta_1=0.9, weight_decay=0.1),
        adafactor(False, beta_1=0.9, wd=0.1)),
    "Muon": (lambda: optim.Muon(LR), muon()),
    "Muon plain": (
        lambda: optim.Muon(LR, weight_decay=0.0, nesterov=False, ns_steps=3),
        muon(0.0, False, steps=3)),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_rules(name):
    make, rule = RULES[name]
    want = simulate(rule)
    for k, p in run(make()).items():
        assert p.dtype == mx.float32
        assert_close(p, want[k], 1e-5)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dtype, tol", [(mx.float16, 1e-2), (mx.bfloat16, 6e-2)])
def test_half_precision(name, dtype, tol):
    """The state is float32; an eps that the dtype rounds to zero makes no NaN."""
    make, rule = RULES[name]
    optimizer = make()
    want = simulate(rule)
    for k, p in run(optimizer, dtype).items():
        assert p.dtype == dtype
        assert_close(p, want[k], tol)
    state = [v for path, v in tree_flatten(optimizer.state) if "." in path]
    assert all(v.dtype == mx.float32 for v in state)
    zero = {"w": mx.zeros((3, 3), dtype)}
    new = make().apply_gradients(zero, {"w": mx.ones((3, 3), dtype)})["w"]
    assert mx.all(mx.isfinite(new)).item()


def test_mixed_precision_keeps_the_dtype_of_the_parameter():
    optimizer = optim.AdamW(LR)
    g, p = {"w": mx.ones((2,), mx.float16)}, {"w": mx.ones((2,))}
    assert optimizer.apply_gradients(g, p)["w"].dtype == mx.float32
    optimizer = optim.AdamW(LR)
    g, p = {"w": mx.ones((2,))}, {"w": mx.ones((2,), mx.bfloat16)}
    assert optimizer.apply_gradients(g, p)["w"].dtype == mx.bfloat16


def test_state():
    optimizer = optim.Adam(0.1)
    assert optimizer.step.dtype == mx.uint64 and optimizer.step.item() == 0
    optimizer.init({"a": [mx.zeros((2,)), {"b": mx.zeros((3,))}], "e": {}})
    assert [k for k, _ in tree_flatten(optimizer.state)] == [
        "step", "learning_rate", "a.0.m", "a.0.v", "a.1.b.m", "a.1.b.v"
    ]  # fmt: skip
    kept = optimizer.state["a"][0]["m"] = mx.ones((2,))
    optimizer.init(
        {"a": [mx.zeros((2,)), {"b": mx.zeros((3,))}, mx.zeros((1,))], "f": mx.zeros((1,))}
    )
    assert optimizer.state["a"][0]["m"] is kept
    assert set(optimizer.state["a"][2]) == {"m", "v"} == set(optimizer.state["f"])


def test_state_comes_back_from_a_file():
    want = run(optim.Adam(LR))
    first, second = optim.Adam(LR), optim.Adam(1.0)
    p = {k: mx.array(numbers(*s, seed=100 + i)) for i, (k, s) in enumerate(SHAPES.items())}
    for t in range(STEPS):
        optimizer = first if t < 2 else second
        p = optimizer.apply_gradients(tree_map(mx.array, gradients(t)), p)
        if t == 1:
            second.state = tree_unflatten(tree_flatten(first.state))
    assert second.step.item() == STEPS and abs(second.learning_rate.item() - LR) < 1e-8
    for k in want:
        assert mx.array_equal(p[k], want[k])


def test_state_is_completed_on_use():
    optimizer = optim.Adam(0.1)
    optimizer.state = {"step": mx.array(3, mx.uint64), "learning_rate": mx.array(0.5)}
    got = optimizer.apply_gradients(
        {"w": mx.ones((1,))}, {"w": mx.ones((1,)), "more": mx.ones((1,))}
    )
    assert set(got) == {"w"}
    assert optimizer.step.item() == 4 and set(optimizer.state["w"]) == {"m", "v"}


def test_a_parameter_with_the_name_of_an_entry():
    for name in ("step", "learning_rate"):
        with pytest.raises(ValueError, match=name):
            optim.SGD(0.1).init({name: mx.zeros((1,))})


def test_update_of_a_model():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    before = tree_map(lambda a: a, model.parameters())
    grads = tree_map(mx.ones_like, model.trainable_parameters())
    optim.SGD(0.5).update(model, grads)
    for (_, a), (_, b) in zip(tree_flatten(model.parameters()), tree_flatten(before)):
        assert_close(a, np.array(b) - 0.5, 1e-6)
    bias = np.array(model.layers[0].bias)
    optim.SGD(0.5).update(model, {"layers": [{}, {"bias": mx.ones((1,))}]})
    np.testing.assert_array_equal(np.array(model.layers[0].bias), bias)


def test_learning_rate():
    optimizer = optim.SGD(0.1)
    optimizer.learning_rate = 0.5
    assert optimizer.learning_rate.item() == 0.5
    assert optimizer.apply_gradients({"w": mx.ones(())}, {"w": mx.ones(())})["w"].item() == 0.5
    with pytest.raises(KeyError):
        _ = optim.Adafactor().learning_rate


def test_schedule_as_learning_rate():
    seen = []

    def schedule(step):
        seen.append(step.item())
        return 0.1 * (step + 1)

    optimizer = optim.SGD(schedule)
    assert abs(optimizer.learning_rate.item() - 0.1) < 1e-7
    p = {"w": mx.array(0.0)}
    for _ in range(3):
        p = optimizer.apply_gradients({"w": mx.array(1.0)}, p)
    assert seen == [0, 0, 1, 2]
    assert_close(p["w"], -0.6, 1e-6)
    constant = optim.SGD(lambda step: 0.25)
    assert constant.learning_rate.item() == 0.25
    assert constant.apply_gradients({"w": mx.array(1.0)}, p)["w"].item() == p["w"].item() - 0.25


def test_own_schedulers_and_rules():
    class Noise(optim.Optimizer):
        def __init__(self):
            super().__init__(schedulers={"level": lambda step: step * 2})

        def init_single(self, parameter, state):
            state["seen"] = parameter.dtype

        def apply_single(self, gradient, parameter, state):
            return parameter + self.state["level"]

    optimizer = Noise()
    p = {"w": mx.array(1.0, mx.float16)}
    p = optimizer.apply_gradients(p, p)
    assert optimizer.state["w"]["seen"] == mx.float16
    assert optimizer.apply_gradients(p, p)["w"].item() == 3
    base = optim.Optimizer()
    with pytest.raises(NotImplementedError, match="init_single"):
        base.init({"w": mx.zeros(())})
    with pytest.raises(NotImplementedError, match="apply_single"):
        base.apply_single(mx.zeros(()), mx.zeros(()), {})


def test_multi_optimizer():
    make = lambda: optim.MultiOptimizer(
        [optim.Muon(LR), optim.SGD(LR), optim.Adam(LR)],
        [lambda path, g: g.ndim >= 2, lambda path, g: path == "v"],
    )
    optimizer = make()
    got = run(optimizer)
    rules = {"v": sgd(), "s": adam()}
    for k, p in got.items():
        assert_close(p, simulate(rules.get(k, muon()))[k], 1e-5)
    states = optimizer.state["states"]
    assert [set(s) - {"step", "learning_rate"} for s in states] == [
        {"m", "tall", "t"},
        {"v"},
        {"s"},
    ]
    assert optimizer.step.item() == STEPS
    optimizer.learning_rate = 0.5
    assert [o.learning_rate.item() for o in optimizer.optimizers] == [0.5] * 3
    assert optimizer.learning_rate.item() == 0.5
    other = make()
    other.state = tree_unflatten(tree_flatten(optimizer.state))
    g, p = tree_map(mx.array, gradients(9)), got
    for k, v in other.apply_gradients(g, p).items():
        assert mx.array_equal(v, optimizer.apply_gradients({k: g[k]}, p)[k])


def test_multi_optimizer_keeps_lists():
    optimizer = optim.MultiOptimizer([optim.SGD(0.5), optim.SGD(0.25)], [lambda k, g: "w" in k])
    p = {"l": [mx.zeros(()), {"w": mx.zeros(())}, (mx.zeros(()),)], "0": mx.zeros(())}
    optimizer.init(p)
    got = optimizer.apply_gradients(tree_map(mx.ones_like, p), p)
    assert [(k, v.item()) for k, v in tree_flatten(got)] == [
        ("l.0", -0.25), ("l.1.w", -0.5), ("l.2.0", -0.25), ("0", -0.25)
    ]  # fmt: skip
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    optimizer = optim.MultiOptimizer([optim.SGD(0.5), optim.Adam(0.25)], [lambda k, g: "bias" in k])
    optimizer.update(model, tree_map(mx.ones_like, model.trainable_parameters()))


def test_multi_optimizer_of_what_does_not_fit():
    for optimizers, filters in (([optim.SGD(0.1)], [bool]), ([], []), ([optim.SGD(0.1)] * 2, [])):
        with pytest.raises(ValueError, match="MultiOptimizer"):
            optim.MultiOptimizer(optimizers, filters)
    optimizer = optim.MultiOptimizer([optim.SGD(0.1)])
    for state in ({}, {"states": [{}, {}]}, {"states": 3}):
        with pytest.raises(ValueError, match="states"):
            optimizer.state = state


@pytest.mark.parametrize(
    "fn, message",
    [
        (lambda: optim.SGD(0.1, nesterov=True), "momentum 0"),
        (lambda: optim.SGD(0.1, 0.9, dampening=0.1, nesterov=True), "dampening 0.1"),
        (lambda: optim.RMSprop(0.1, alpha=-1), "alpha -1"),
        (lambda: optim.RMSprop(0.1, eps=0), "eps 0"),
        (lambda: optim.Adagrad(0.1, eps=0), "eps 0"),
        (lambda: optim.AdaDelta(0.1, rho=-1), "rho -1"),
        (lambda: optim.AdaDelta(0.1, eps=0), "eps 0"),
        (lambda: optim.Adam(0.1, betas=[1.0, 0.9]), "beta 1 1.0"),
        (lambda: optim.AdamW(0.1, betas=[0.9, -0.1]), "beta 2 -0.1"),
        (lambda: optim.Adam(0.1, eps=-1), "eps -1"),
        (lambda: optim.Adamax(0.1, eps=-1), "eps -1"),
        (lambda: optim.Lion(0.1, betas=[0.9, 1.0]), "beta 2 1.0"),
        (lambda: optim.Adafactor(relative_step=False), "learning_rate"),
        (lambda: optim.step_decay(0.1, 0.5, 0), "step_size 0"),
        (lambda: optim.cosine_decay(0.1, 0), "decay_steps 0"),
        (lambda: optim.linear_schedule(0.0, 0.1, 0), "steps 0"),
        (lambda: optim.join_schedules([], []), "no schedules"),
        (lambda: optim.join_schedules([optim.cosine_decay(0.1, 5)], [1]), "1 boundaries"),
        (lambda: optim.clip_grad_norm({"w": mx.ones((2,))}, -1.0), "max_norm -1.0"),
    ],
)
def test_bad_settings(fn, message):
    with pytest.raises(ValueError, match=message):
        fn()


@pytest.mark.parametrize(
    "schedule, oracle",
    [
        (optim.exponential_decay(0.1, 0.9), lambda t: 0.1 * 0.9**t),
        (optim.step_decay(0.1, 0.5, 3), lambda t: 0.1 * 0.5 ** (t // 3)),
        (
            optim.cosine_decay(0.1, 10, 0.01),
            lambda t: 0.01 + 0.5 * (1 + math.cos(math.pi * min(t, 10) / 10)) * 0.09,
        ),
        (optim.linear_schedule(0.3, 0.1, 10), lambda t: 0.3 - 0.02 * min(t, 10)),
        (
            optim.join_schedules(
                [
                    optim.linear_schedule(0.0, 0.1, 4),
                    optim.exponential_decay(0.1, 0.5),
                    optim.step_decay(0.2, 0.5, 2),
                ],
                [4, 8],
            ),
            lambda t: (
                0.025 * t
                if t < 4
                else 0.1 * 0.5 ** (t - 4)
                if t < 8
                else 0.2 * 0.5 ** ((t - 8) // 2)
            ),
        ),
    ],
)
def test_schedules(schedule, oracle):
    for t in (0, 1, 3, 4, 5, 7, 8, 9, 10, 11, 100):
        for step in (t, mx.array(t), mx.array(t, mx.uint64)):
            value = schedule(step)
            assert_close(mx.array(value), oracle(t), 1e-6)
            assert isinstance(value, (float, mx.array))


def test_a_single_schedule_joined():
    assert optim.join_schedules([optim.exponential_decay(0.1, 0.5)], [])(2) == 0.025


@pytest.mark.parametrize(
    "dtype, tol", [(mx.float32, 1e-6), (mx.float16, 2e-3), (mx.bfloat16, 2e-2)]
)
def test_clip_grad_norm(dtype, tol):
    g = {"a": numbers(3, 4) * 100, "b": [numbers(5, seed=1)]}
    total = math.sqrt(sum(float((v.astype(np.float64) ** 2).sum()) for _, v in tree_flatten(g)))
    for limit in (1.0, 2 * total):
        clipped, norm = optim.clip_grad_norm(
            tree_map(lambda a: mx.array(a).astype(dtype), g), limit
        )
        assert_close(norm, total, tol)
        factor = min(limit / total, 1)
        assert clipped["a"].dtype == dtype
        assert_close(clipped["a"], g["a"] * factor, tol)
        assert_close(clipped["b"][0], g["b"][0] * factor, tol)


def test_clip_grad_norm_of_special_trees():
    clipped, norm = optim.clip_grad_norm({}, 1.0)
    assert clipped == {} and norm.item() == 0
    clipped, norm = optim.clip_grad_norm({"a": mx.zeros((2,))}, 1.0)
    assert clipped["a"].tolist() == [0, 0] and norm.item() == 0
    half = mx.full((100,), 1000.0, dtype=mx.float16)
    assert_close(optim.clip_grad_norm({"a": half}, 1.0)[1], 1e4, 1e-6)
    assert optim.clip_grad_norm({"a": mx.array([3, 4])}, 1.0)[0]["a"].dtype == mx.float32
