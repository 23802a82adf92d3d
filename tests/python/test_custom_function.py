"""custom_function, checkpoint and depends: rules under every transform, conventions, errors, memory."""

from __future__ import annotations

import gc
import threading
import weakref

import mlx.core as mx
import numpy as np
import pytest


def close(a, b, tol=1e-5):
    np.testing.assert_allclose(np.array(a), np.array(b), rtol=tol, atol=tol)


def sample(*shape, seed=0):
    return mx.array(np.random.default_rng(seed).uniform(-2, 2, shape).astype(np.float32))


def clipped_sine():
    """sin with a slope of 10: shows whether the rule was used."""

    @mx.custom_function
    def f(x):
        return mx.sin(x)

    @f.vjp
    def f_vjp(primal, cotangent, output):
        close(output, np.sin(np.array(primal)))
        return cotangent * 10

    return f


# ---- custom_function ----


def test_without_rules_it_is_the_function():
    f = mx.custom_function(lambda x, k=2: mx.sin(x) * k)
    x = sample(3)
    close(f(x), np.sin(np.array(x)) * 2)
    close(mx.grad(lambda a: f(a, k=3).sum())(x), 3 * np.cos(np.array(x)))
    close(mx.vmap(f)(x), np.sin(np.array(x)) * 2)


def test_vjp_rule():
    f = clipped_sine()
    x = sample(4)
    close(f(x), np.sin(np.array(x)))
    close(mx.grad(lambda a: f(a).sum())(x), np.full(4, 10))
    close(mx.grad(lambda a: f(f(a) * 2).sum())(x), np.full(4, 200))
    (value,), (cotangent,) = mx.vjp(f, [x], [mx.ones(4) * 3])
    close(cotangent, np.full(4, 30))
    # Forward derivatives have no rule: the function's own operations.
    (value,), (tangent,) = mx.jvp(f, [x], [mx.ones(4)])
    close(tangent, np.cos(np.array(x)))


def test_arguments_of_a_vjp_rule():
    seen = {}

    @mx.custom_function
    def f(x, tree, scale, *, extra):
        return {"p": x * tree["a"], "rest": [tree["b"] + extra, "text"]}

    @f.vjp
    def rule(primals, cotangents, outputs, **kwargs):
        seen.update(primals=primals, cotangents=cotangents, outputs=outputs, kwargs=kwargs)
        return mx.array(1.0), {"a": mx.array(2.0), "b": mx.array(3.0)}

    x, tree, extra = mx.array(5.0), {"a": mx.array(6.0), "b": mx.array(7.0)}, mx.array(8.0)
    grads = mx.grad(lambda x, t: f(x, t, 3, extra=extra)["p"], argnums=(0, 1))(x, tree)
    assert grads[0].item() == 1 and grads[1]["a"].item() == 2 and grads[1]["b"].item() == 3
    assert isinstance(seen["primals"], tuple) and seen["primals"][2] == 3
    assert seen["primals"][1]["b"].item() == 7 and seen["kwargs"]["extra"].item() == 8
    assert seen["cotangents"]["p"].item() == 1 and seen["cotangents"]["rest"][0].item() == 0
    assert seen["outputs"]["p"].item() == 30 and seen["outputs"]["rest"][1] == "text"


def test_gradients_of_keyword_arguments_are_those_of_the_function():
    @mx.custom_function
    def f(x, *, scale):
        return x * scale

    @f.vjp
    def rule(primal, cotangent, output, scale):
        return cotangent * 100

    g = mx.grad(lambda x, s: f(x, scale=s), argnums=(0, 1))(mx.array(3.0), mx.array(2.0))
    assert [a.item() for a in g] == [100, 3]


def test_captured_arrays_are_constants():
    def outer(w):
        f = mx.custom_function(lambda x: x * w)
        f.vjp(lambda primal, cotangent, output: cotangent * 2)
        return f(mx.array(3.0))

    assert outer(mx.array(2.0)).item() == 6
    assert mx.grad(outer)(mx.array(2.0)).item() == 0


def test_jvp_rule():
    seen = []

    @mx.custom_function
    def f(x, y):
        return x * y, x

    @f.jvp
    def rule(primals, tangents):
        seen.append(tangents)
        return mx.array(7.0), tangents[0] * 5

    x, y = mx.array(2.0), mx.array(3.0)
    values, tangents = mx.jvp(lambda a: f(a, y), [x], [mx.array(1.0)])
    assert [v.item() for v in values] == [6, 2] and [t.item() for t in tangents] == [7, 5]
    assert seen[0][1] is None
    assert mx.grad(lambda a: f(a, y)[0])(x).item() == 3  # no rule for it

    single = mx.custom_function(lambda x: x * 2)
    single.jvp(lambda primal, tangent: tangent * 9)
    assert mx.jvp(single, [x], [mx.array(1.0)])[1][0].item() == 9


def test_vmap_rule():
    seen = []

    @mx.custom_function
    def f(x, y):
        return x * y

    @f.vmap
    def rule(inputs, axes):
        seen.append(axes)
        return inputs[0] * 5, axes[0]

    x = sample(3, 2)
    close(mx.vmap(f, in_axes=(1, None))(x, mx.array(2.0)), 5 * np.array(x).T)
    assert seen == [(1, None)]
    close(f(x, mx.array(2.0)), 2 * np.array(x))

    tree = mx.custom_function(lambda d: [d["a"], d["b"]])
    tree.vmap(lambda d, axes: ([d["a"], d["b"].sum()], [axes["a"], None]))
    got = mx.vmap(tree)({"a": x, "b": x})
    close(got[0], x)
    close(got[1], np.full(3, np.array(x).sum()))


@pytest.mark.parametrize("order", ["grad of vmap", "vmap of grad"])
@pytest.mark.parametrize("axes", [(0, 0), (1, None), (None, 1)])
def test_a_vjp_rule_survives_mapping(order, axes):
    @mx.custom_function
    def f(x, w):
        return mx.sin(x) * w

    @f.vjp
    def rule(primals, cotangent, output):
        x, w = primals
        return cotangent * x * 3, cotangent * w * output

    x = sample(4, 4) if axes[0] is not None else sample(4)
    w = sample(4, 4, seed=1) if axes[1] is not None else sample(4, seed=1)

    def plain(x, w):
        g = mx.cos(w)  # cotangent of the loss below
        return (g * x * 3), (g * w * mx.sin(x) * w)

    if order == "grad of vmap":
        g = mx.grad(
            lambda x, w: (mx.vmap(f, in_axes=axes)(x, w) * mx.vmap(mx.cos)(mapped(w))).sum(),
            argnums=(0, 1),
        )

        def mapped(w):
            w = mx.stop_gradient(w)
            return mx.broadcast_to(w, (4, 4)) if axes[1] is None else mx.moveaxis(w, axes[1], 0)

        got = g(x, w)
        want = mx.vmap(plain, in_axes=axes, out_axes=0)(x, w)
        for k in range(2):
            target = want[k].sum(0) if axes[k] is None else mx.moveaxis(want[k], 0, axes[k])
            close(got[k], target, 1e-4)
    else:
        grad = mx.grad(lambda x, w: (f(x, w) * mx.cos(mx.stop_gradient(w))).sum(), argnums=(0, 1))
        got = mx.vmap(grad, in_axes=axes)(x, w)
        want = mx.vmap(plain, in_axes=axes)(x, w)
        close(got[0], want[0], 1e-4)
        close(got[1], want[1], 1e-4)


def test_a_jvp_rule_survives_mapping():
    f = mx.custom_function(lambda x, y: x * y)
    f.jvp(lambda primals, tangents: tangents[0] * primals[1] * 100)
    x, y = sample(3, 2), sample(2)
    mapped = mx.vmap(f, in_axes=(0, None))
    (tangent,) = mx.jvp(lambda a: mapped(a, y), [x], [mx.ones((3, 2))])[1]
    close(tangent, np.broadcast_to(100 * np.array(y), (3, 2)))


def test_second_order_goes_through_the_rule():
    f = mx.custom_function(lambda x: x)
    f.vjp(lambda x, cotangent, output: cotangent * mx.sin(x))
    x = mx.array(0.5)
    close(mx.grad(mx.grad(f))(x), np.cos(0.5))
    f.vjp(lambda x, cotangent, output: cotangent * mx.sin(output))
    close(mx.grad(mx.grad(lambda a: f(a * 2)))(x), 4 * np.cos(1.0) * np.sin(1.0))


def test_rules_inside_compile():
    f = clipped_sine_lazy()
    x = sample(4)
    close(mx.compile(f)(x), np.sin(np.array(x)))
    close(mx.compile(mx.grad(lambda a: f(a).sum()))(x), np.full(4, 10))
    compiled = mx.compile(lambda a: f(a).sum())
    for _ in range(2):
        close(mx.grad(compiled)(x), np.full(4, 10))
    close(mx.vmap(mx.compile(f))(x), np.sin(np.array(x)))


def clipped_sine_lazy():
    f = mx.custom_function(lambda x: mx.sin(x))
    f.vjp(lambda primal, cotangent, output: cotangent * 10)
    return f


def test_results_without_arrays_and_in_place_updates():
    f = mx.custom_function(lambda x: "text")
    f.vjp(lambda p, c, o: c)
    assert f(mx.array(1.0)) == "text"

    @mx.custom_function
    def update(x):
        x = x + 0
        x[0] = 5.0
        return x

    update.vjp(lambda p, c, o: c)
    assert update(mx.array([1.0, 2.0])).tolist() == [5, 2]


def test_dtype_of_a_rules_gradient():
    f = mx.custom_function(lambda x: x * 2)
    f.vjp(lambda p, c, o: (c * 3).astype(mx.float32))
    g = mx.grad(lambda a: f(a).sum())(mx.ones(3, mx.float16))
    assert g.dtype == mx.float16 and g.tolist() == [3, 3, 3]


def test_errors_name_the_rule():
    x = mx.ones(3)

    def failing(kind, rule, use):
        f = mx.custom_function(lambda x: x * 2)
        getattr(f, kind)(rule)
        return lambda: use(f)

    grad = lambda f: mx.grad(lambda a: f(a).sum())(x)
    for call, text in (
        (failing("vjp", lambda p, c, o: None, grad), r"vjp rule returned 0 arrays.*1 arrays"),
        (failing("vjp", lambda p, c, o: (c, c), grad), r"vjp rule returned 2 arrays"),
        (failing("vjp", lambda p, c, o: c[:2], grad), r"returned shape \(2,\).*expected \(3,\)"),
        (
            failing("jvp", lambda p, t: (t, t), lambda f: mx.jvp(f, [x], [x])),
            r"jvp rule returned 2 arrays, expected 1",
        ),
        (failing("vmap", lambda i, a: i, lambda f: mx.vmap(f)(x)), r"tuple of outputs and their"),
        (failing("vmap", lambda i, a: (i, (a, a)), lambda f: mx.vmap(f)(x)), r"axes of type tuple"),
        (failing("vmap", lambda i, a: ((i, i), a), lambda f: mx.vmap(f)(x)), r"returned 2 arrays"),
    ):
        with pytest.raises(ValueError, match=text):
            call()

    for kind, transform in (
        ("jvp", lambda f: mx.jvp(f, [x], [x])),
        ("vmap", lambda f: mx.vmap(f)(x)),
    ):
        f = mx.custom_function(lambda x, k: x * k)
        getattr(f, kind)(lambda a, b: (a, b))
        with pytest.raises(ValueError, match=rf"{kind} rule takes no keyword"):
            transform(lambda a, f=f: f(a, k=2.0))

    def raising(p, c, o):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        failing("vjp", raising, grad)()
    close(grad(clipped_sine_lazy()), np.full(3, 10))
    for bad in (3, None, "text"):
        with pytest.raises(TypeError):
            mx.custom_function(bad)


def test_decorators_return_the_custom_function():
    f = mx.custom_function(lambda x: x)
    assert f.vjp(lambda p, c, o: c) is f
    assert f.jvp(lambda p, t: t) is f
    assert f.vmap(lambda i, a: (i, a)) is f

    def named(x):
        return x

    assert mx.custom_function(named).__name__ == "named"


def test_functions_and_rules_are_released():
    def watched():
        def fun(x):
            return mx.sin(x)

        def rule(p, c, o):
            return c

        f = mx.custom_function(fun)
        f.vjp(rule)
        fun.cycle = f
        lazy = mx.grad(lambda a: f(a).sum())(sample(3))
        mx.eval(lazy)
        mx.vmap(f)(sample(3))
        return weakref.ref(fun), weakref.ref(rule)

    alive = watched()
    gc.collect()
    assert [a() for a in alive] == [None, None]


def test_graphs_may_drop_rules_on_any_thread():
    f = clipped_sine_lazy()

    def work(results):
        for i in range(30):
            x = sample(5, seed=i)
            y = mx.vmap(f)(x)
            stream = mx.new_stream(mx.cpu)
            with mx.stream(stream):
                z = f(y) + 1
            mx.async_eval(z)
            results.append(z)

    results = []
    threads = [threading.Thread(target=work, args=(results,)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    mx.eval(results)
    assert len(results) == 120


# ---- checkpoint ----


def layer(p, x):
    return mx.tanh(x @ p["w"] + p["b"])


def test_checkpoint_computes_the_same():
    p = {"w": sample(4, 4), "b": sample(4, seed=1)}
    x = sample(3, 4, seed=2)

    def loss(p, x, layer):
        for _ in range(3):
            x = layer(p, x)
        return (x * x).sum()

    saving = mx.checkpoint(layer)
    plain = mx.value_and_grad(loss, argnums=(0, 1))
    value, (gp, gx) = plain(p, x, layer)
    again, (hp, hx) = plain(p, x, saving)
    assert value.item() == again.item()
    close(hx, gx)
    close(hp["w"], gp["w"])
    close(hp["b"], gp["b"])
    compiled = mx.compile(mx.value_and_grad(lambda p, x: loss(p, x, saving), argnums=(0, 1)))
    value, (cp, cx) = compiled(p, x)
    close(cx, gx)
    close(cp["w"], gp["w"])


def test_checkpoint_recomputes():
    calls = []

    def f(x, scale=1.0, *, extra=None):
        calls.append(1)
        return {"y": mx.sin(x) * scale + (0 if extra is None else extra)}

    c = mx.checkpoint(f)
    x = sample(3)
    c(x)
    assert len(calls) == 1
    g = mx.grad(lambda a, e: c(a, 2.0, extra=e)["y"].sum(), argnums=(0, 1))(x, mx.ones(3))
    assert len(calls) == 3
    close(g[0], 2 * np.cos(np.array(x)))
    close(g[1], np.ones(3))


def test_gradients_of_checkpoint_reach_explicit_inputs_only():
    w = mx.array(3.0)
    assert mx.grad(lambda w: mx.checkpoint(lambda x: x * w)(mx.array(2.0)))(w).item() == 0
    assert mx.grad(lambda w: mx.checkpoint(lambda x, w: x * w)(mx.array(2.0), w))(w).item() == 2


def test_checkpoint_under_other_transforms():
    c = mx.checkpoint(mx.sin)
    x = sample(4)
    close(mx.vmap(c)(x), np.sin(np.array(x)))
    close(mx.grad(lambda a: mx.vmap(c)(a).sum())(x), np.cos(np.array(x)))
    close(mx.vmap(mx.grad(c))(x), np.cos(np.array(x)))
    close(mx.jvp(c, [x], [mx.ones(4)])[1][0], np.cos(np.array(x)))
    close(mx.grad(lambda a: mx.grad(lambda b: c(b).sum())(a).sum())(x), -np.sin(np.array(x)))
    nested = mx.checkpoint(lambda a: mx.checkpoint(lambda b: mx.sin(c(b)))(a) * 2)
    s = np.sin(np.array(x))
    close(mx.grad(lambda a: nested(a).sum())(x), 2 * np.cos(s) * np.cos(np.array(x)))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_checkpoint_saves_memory(compiled, argnums):
    def block(x, w):
        for _ in range(4):
            x = mx.sin(x @ w)
        return x

    def loss(x, weights, block):
        for w in weights:
            x = block(x, w)
        return x.sum()

    x, weights = sample(1024, 32), [sample(32, 32, seed=i) * 0.1 for i in range(6)]
    mx.eval(x, weights)

    def peak(block):
        f = mx.value_and_grad(lambda x, w: loss(x, w, block), argnums=argnums)
        if compiled:
            f = mx.compile(f)
        value, grads = f(x, weights)
        mx.reset_peak_memory()
        before = mx.get_active_memory()
        mx.eval(value, grads)
        return mx.get_peak_memory() - before

    plain, saving = peak(block), peak(mx.checkpoint(block))
    assert saving < 0.5 * plain


# ---- depends ----


def test_depends():
    x, y = mx.array([1.0, 2.0]), mx.array(3.0)
    got = mx.depends(x, y)
    assert isinstance(got, mx.array) and got.tolist() == [1, 2]
    several = mx.depends([x, y], (x * 2, y))
    assert isinstance(several, list) and [a.tolist() for a in several] == [[1, 2], 3]
    assert mx.depends((x,), [])[0].tolist() == [1, 2]
    transposed = mx.depends(sample(3, 2).T[:, 1:], y)
    close(transposed, np.array(sample(3, 2)).T[:, 1:])
    close(mx.grad(lambda a: (mx.depends(a, a * 2) * 3).sum())(x), [3, 3])
    close(mx.jvp(lambda a: mx.depends([a, y], a)[0], [x], [x])[1][0], [1, 2])
    close(mx.vmap(lambda a, b: mx.depends(a, b))(x, x + 1), [1, 2])
    close(mx.compile(lambda a: mx.depends([a, a + 1], mx.exp(a))[1])(x), [2, 3])
    empty = mx.depends([mx.zeros((0,)), x], y)
    assert empty[0].shape == (0,) and empty[1].tolist() == [1, 2]
    for bad in (3, [x, 3], None, {"a": x}):
        with pytest.raises(TypeError, match="depends"):
            mx.depends(bad, x)
        with pytest.raises(TypeError, match="depends"):
            mx.depends(x, bad)


def test_depends_across_streams():
    other = mx.new_stream(mx.cpu)
    x = sample(64, 64)
    with mx.stream(other):
        slow = x
        for _ in range(20):
            slow = mx.sin(slow @ x * 0.01)
    values = mx.depends([slow, x], [slow])
    mx.async_eval(values)
    close(values[1] + 0, x)
    expected = np.array(x, np.float64)
    y = expected
    for _ in range(20):
        y = np.sin(y @ expected * 0.01)
    close(values[0], y, 1e-4)
