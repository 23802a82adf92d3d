"""grad, value_and_grad, vjp, jvp, vmap: values, trees, composition, in-place updates, errors."""

from __future__ import annotations

import collections
import gc
import weakref

import mlx.core as mx
import numpy as np
import pytest

Pair = collections.namedtuple("Pair", "x y")


def close(a, b, tol=1e-5):
    np.testing.assert_allclose(np.array(a), np.array(b), rtol=tol, atol=tol)


def finite_difference(f, x, h=1e-6):
    """Gradient of a float64 NumPy function by central differences."""
    x = np.asarray(x, np.float64)
    g = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        lo, hi = x.copy(), x.copy()
        lo[i] -= h
        hi[i] += h
        g[i] = (f(hi) - f(lo)) / (2 * h)
    return g


FUNCTIONS = {
    "polynomial": (lambda x: (x * x * x - 2 * x).sum(), lambda x: (x**3 - 2 * x).sum()),
    "exp_sin": (lambda x: mx.exp(mx.sin(x)).sum(), lambda x: np.exp(np.sin(x)).sum()),
    "quotient": (lambda x: (x / (1 + x * x)).sum(), lambda x: (x / (1 + x * x)).sum()),
    "mean_square": (lambda x: ((x - x.mean()) ** 2).mean(), lambda x: ((x - x.mean()) ** 2).mean()),
    "broadcast": (
        lambda x: (x[:, None] * x[None, :]).sum(),
        lambda x: (x[:, None] * x[None, :]).sum(),
    ),
    "reshape": (
        lambda x: (x.reshape(2, 2).T * mx.array([1.0, 3.0])).sum(),
        lambda x: (x.reshape(2, 2).T * np.array([1.0, 3.0])).sum(),
    ),
    "reused": (lambda x: (x * mx.exp(x) + x).sum(), lambda x: (x * np.exp(x) + x).sum()),
}
X = np.array([0.3, -1.2, 2.0, 0.7])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_grad_against_finite_differences(name):
    f, g = FUNCTIONS[name]
    close(mx.grad(f)(mx.array(X)), finite_difference(g, X), 1e-4)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jvp_agrees_with_vjp(name):
    f, _ = FUNCTIONS[name]
    x, t = mx.array(X), mx.array([1.0, -0.5, 0.25, 2.0])
    outputs, tangents = mx.jvp(f, [x], [t])
    _, cotangents = mx.vjp(f, [x], [mx.array(1.0)])
    assert isinstance(outputs, list) and isinstance(tangents, list)
    close(tangents[0], (cotangents[0] * t).sum(), 1e-4)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives(name):
    f, g = FUNCTIONS[name]
    h = 1e-4

    def directional(x):
        return (finite_difference(g, x, h) * np.array([1.0, 2.0, -1.0, 0.5])).sum()

    def ours(x):
        return (mx.grad(f)(x) * mx.array([1.0, 2.0, -1.0, 0.5])).sum()

    close(mx.grad(ours)(mx.array(X)), finite_difference(directional, X, h), 2e-2)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vmap_against_a_loop(name):
    f, _ = FUNCTIONS[name]
    rows = mx.array(np.stack([X, X * 2, -X]))
    close(mx.vmap(f)(rows), mx.stack([f(r) for r in rows]), 1e-4)
    close(mx.vmap(mx.grad(f))(rows), mx.stack([mx.grad(f)(r) for r in rows]), 1e-4)

    def total(r):
        return mx.vmap(f)(r).sum()

    close(mx.grad(total)(rows), mx.stack([mx.grad(f)(r) for r in rows]), 1e-4)


def test_nesting_of_derivatives():
    x = mx.array(0.7)
    f = mx.sin
    for expected in (np.cos, lambda v: -np.sin(v), lambda v: -np.cos(v), np.sin):
        f = mx.grad(f)
        close(f(x), expected(0.7))
    _, (t,) = mx.jvp(mx.grad(mx.sin), [x], [mx.array(1.0)])
    close(t, -np.sin(0.7))
    _, (c,) = mx.vjp(lambda v: mx.jvp(mx.sin, [v], [mx.array(1.0)])[1], [x], [mx.array(1.0)])
    close(c, -np.sin(0.7))


def test_inner_transform_does_not_confuse_levels():
    # d/dx [x * d/dy (x + y)] = d/dx [x] = 1
    f = mx.grad(lambda x: x * mx.grad(lambda y: x + y)(mx.array(1.0)))
    close(f(mx.array(2.0)), 1.0)
    g = mx.grad(lambda x: mx.grad(lambda y: x * y * y)(x))  # 2xy at y = x
    close(g(mx.array(3.0)), 12.0)


def test_nested_vmap():
    a, b = mx.array([1.0, 2.0, 3.0]), mx.array([10.0, 20.0])
    outer = mx.vmap(lambda x: mx.vmap(lambda y: x * y)(b))(a)
    close(outer, np.outer(a, b))
    m = mx.array(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    close(mx.vmap(mx.vmap(lambda r: r.sum()))(m), np.array(m).sum(-1))
    close(mx.vmap(mx.vmap(lambda r: r.sum(), in_axes=1), in_axes=2)(m), np.array(m).sum(0).T)


def test_argnums_and_argnames():
    def f(a, b, *, c):
        return (a * b * b * c).sum()

    a, b, c = mx.array([1.0, 2.0]), mx.array([3.0, 4.0]), mx.array([5.0, 6.0])
    ga, gb, gc_ = b * b * c, 2 * a * b * c, a * b * b
    close(mx.grad(f)(a, b, c=c), ga)
    close(mx.grad(f, argnums=1)(a, b, c=c), gb)
    close(mx.grad(f, argnums=[1])(a, b, c=c), gb)
    first, second = mx.grad(f, argnums=(1, 0))(a, b, c=c)
    close(first, ga)
    close(second, gb)
    none, named = mx.grad(f, argnames="c")(a, b, c=c)
    assert none is None and list(named) == ["c"]
    close(named["c"], gc_)
    positional, named = mx.grad(f, argnums=1, argnames=["c"])(a, b, c=c)
    close(positional, gb)
    close(named["c"], gc_)
    value, ((x, y), named) = mx.value_and_grad(f, argnums=[0, 1], argnames=["c"])(a, b, c=c)
    close(value, f(a, b, c=c))
    close(x, ga)
    close(y, gb)
    close(named["c"], gc_)


def test_trees():
    p = {
        "w": mx.array([1.0, 2.0]),
        "l": [mx.array(3.0), (mx.array(4.0), {})],
        "n": Pair(mx.array(5.0), mx.array(6.0)),
    }

    def f(p):
        return (p["w"] * p["l"][0]).sum() + p["l"][1][0] * p["n"].x

    g = mx.grad(f)(p)
    assert list(g) == ["w", "l", "n"] and type(g["l"]) is list and type(g["n"]) is Pair
    assert g["w"].tolist() == [3, 3] and g["l"][0].item() == 3
    assert g["l"][1][0].item() == 5 and g["l"][1][1] == {}
    assert (g["n"].x.item(), g["n"].y.item()) == (4, 0)


def test_extra_results_are_passed_through():
    marker = object()
    (value, extra, arr), g = mx.value_and_grad(lambda x: (x * x, marker, x + 1))(mx.array(3.0))
    assert value.item() == 9 and extra is marker and arr.item() == 4 and g.item() == 6


def test_gradients_have_the_input_dtype():
    for t in (mx.float16, mx.bfloat16, mx.float32, mx.float64, mx.int32, mx.uint8):
        g = mx.grad(lambda x: (x.astype(mx.float32) * 2.0).sum())(mx.array([1, 2], t))
        assert g.dtype == t and g.tolist() == [2, 2]
    assert mx.grad(lambda x: x.sum().astype(mx.float32))(mx.array([True, False])).dtype == mx.int32
    through = mx.grad(lambda x: x.astype(mx.int32).astype(mx.float32).sum())(mx.array([1.5]))
    assert through.tolist() == [1]


def test_complex_gradients():
    z = mx.array([1 + 2j])
    assert mx.grad(lambda z: mx.real(z * z).sum())(z).tolist() == [2 - 4j]
    w = mx.array([3 + 4j])
    close(mx.grad(lambda z: mx.abs(z).sum())(w), [0.6 + 0.8j])


def test_independent_outputs_have_zero_gradients():
    assert mx.grad(lambda x: mx.array(2.0))(mx.array([1.0, 2.0])).tolist() == [0, 0]
    outputs, tangents = mx.jvp(lambda x: [x, mx.array([5.0])], [mx.array(1.0)], [mx.array(2.0)])
    assert tangents[0].item() == 2 and tangents[1].tolist() == [0]
    assert mx.grad(lambda x: x)(mx.array(3.0)).item() == 1


def test_stop_gradient():
    x = mx.array(3.0)
    assert mx.grad(lambda x: x * mx.stop_gradient(x))(x).item() == 3
    assert mx.grad(lambda x: mx.stop_gradient(x))(x).item() == 0
    _, (t,) = mx.jvp(lambda x: x * mx.stop_gradient(x), [x], [mx.array(1.0)])
    assert t.item() == 3
    assert mx.vmap(lambda x: x * mx.stop_gradient(x))(mx.array([1.0, 2.0])).tolist() == [1, 4]
    # a gather by traced indices has no gradient, by stopped ones it has
    v = mx.array([1.0, 2.0])

    def gather(x):
        i = mx.stop_gradient(x.astype(mx.int32))
        return (v[i] * x).sum()

    assert mx.grad(gather)(mx.array([0.0, 1.0])).tolist() == [1, 2]


def test_in_place_updates_stay_inside():
    x = mx.array([1.0, 2.0])

    def f(x):
        y = x
        y *= x  # rebinds x too: both names are one object
        x[0] = 0.0
        return y.sum()

    assert mx.grad(f)(x).tolist() == [0, 4]
    assert x.tolist() == [1, 2]
    mx.vjp(f, [x], [mx.array(1.0)])
    mx.jvp(f, [x], [x])
    mx.vmap(lambda r: f(r[None]))(x)
    mx.vmap(f, in_axes=1)(mx.array([[1.0, 2.0]]))
    assert x.tolist() == [1, 2]


def test_containers_are_shared():
    a, b, c = mx.array([1.0]), mx.array([2.0]), mx.array([3.0])
    d = {"a": a, "b": b, "l": [c, c]}

    def f(d):
        d["a"] = d["a"] * 2
        d["b"] += 1
        d["new"] = d["a"]
        return (d["a"] + d["b"] + d["l"][0]).sum()

    g = mx.grad(f)(d)
    assert [g[k].tolist() for k in "ab"] == [[2], [1]] and g["l"][0].tolist() == [1]
    assert d["a"].tolist() == [2] and d["b"].tolist() == [3] and d["new"].tolist() == [2]
    assert d["l"][0] is c and d["l"][1] is c
    assert (a.tolist(), b.tolist()) == ([1], [2])


def test_arguments_are_restored_after_an_exception():
    a = mx.array([1.0])
    d = {"a": a}

    def f(d):
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        mx.grad(f)(d)
    assert d["a"] is a


def test_kept_tracers_are_ordinary_arrays():
    kept = []

    def f(x):
        kept.append(x)
        kept.append(x * 2)
        return (x * x).sum()

    x = mx.array([1.0, 2.0])
    mx.eval(mx.grad(f)(x))
    assert kept[0].tolist() == [1, 2] and kept[1].tolist() == [2, 4]
    mx.eval(mx.grad(lambda y: (y * kept[1]).sum())(x))


def test_evaluation_inside():
    x = mx.array([1.0, 2.0])

    def f(x):
        y = x * x
        mx.eval(y)
        assert y.tolist() == [1, 4]
        if y[1].item() > 3:
            y = y * 3
        z = y.sum()
        mx.eval(z, x)
        return z

    assert mx.grad(f)(x).tolist() == [6, 12]
    assert mx.vjp(f, [x], [mx.array(1.0)])[1][0].tolist() == [6, 12]
    assert mx.jvp(f, [x], [x])[1][0].item() == 30
    assert mx.grad(lambda x: mx.grad(f)(x).sum())(x).tolist() == [6, 6]


def test_evaluation_is_refused_where_it_cannot_be():
    x = mx.array([1.0, 2.0])
    for f in (
        lambda a: (mx.eval(a), a)[1],
        lambda a: a * a.item(),
        lambda a: a if a > 0 else -a,
        lambda a: mx.array(np.array(a)),
        lambda a: (repr(a), a)[1],
    ):
        with pytest.raises(ValueError, match="vmap"):
            mx.vmap(f)(x)
    with pytest.raises(ValueError):
        mx.vmap(mx.grad(lambda a: (mx.eval(a), a)[1]))(x)
    for transform in (mx.grad, mx.vmap):
        with pytest.raises(ValueError, match="async_eval"):
            transform(lambda a: (mx.async_eval(a), a.sum())[1])(x)
    mx.eval(x + 1)


def test_vmap_axes():
    a = mx.array(np.arange(6, dtype=np.float32).reshape(2, 3))
    n = np.array(a)
    close(mx.vmap(lambda r: r * 2, in_axes=1)(a), n.T * 2)
    close(mx.vmap(lambda r: r * 2, in_axes=-1, out_axes=-1)(a), n * 2)
    close(mx.vmap(lambda r, s: r + s, in_axes=(0, None))(a, mx.array([1.0, 2, 3])), n + [1, 2, 3])
    close(
        mx.vmap(lambda r, s: r + s, in_axes=(None, 0))(a, mx.array([1.0, 2])),
        n[None] + [[[1]], [[2]]],
    )
    close(mx.vmap(lambda r, s: r * s, in_axes=(1, 0))(a, a.T), n.T * n.T)
    d = mx.vmap(lambda d: {"s": d["a"] + d["b"][0]}, in_axes={"a": 0, "b": [None]})(
        {"a": mx.array([1.0, 2.0]), "b": [mx.array(3.0)]}
    )
    assert d["s"].tolist() == [4, 5]
    p, (q,) = mx.vmap(lambda r: (r, [r.sum()]), out_axes=(1, [0]))(a)
    close(p, n.T)
    close(q, n.sum(1))
    assert mx.vmap(lambda r: mx.array(7.0))(a).tolist() == [7, 7]
    assert mx.vmap(lambda r: mx.zeros((2,)), out_axes=1)(a).shape == (2, 2)
    assert mx.vmap(lambda r: r)(mx.zeros((0, 3))).shape == (0, 3)


def test_vmap_errors():
    x, y = mx.array([1.0, 2.0, 3.0]), mx.array([1.0, 2.0])
    identity = mx.vmap(lambda a: a)
    cases = [
        (ValueError, lambda: mx.vmap(lambda a, b: a + b)(x, y)),
        (ValueError, lambda: mx.vmap(lambda a: a, in_axes=(None,))(x)),
        (ValueError, lambda: mx.vmap(lambda a, b: a, in_axes=(0,))(x, x)),
        (ValueError, lambda: mx.vmap(lambda a: a["a"], in_axes={"b": 0})({"a": x})),
        (ValueError, lambda: mx.vmap(lambda a: a, in_axes="a")(x)),
        (ValueError, lambda: mx.vmap(lambda a: a, in_axes=(0.5,))(x)),
        (ValueError, lambda: mx.vmap(lambda a: a, in_axes=True)(x)),
        (ValueError, lambda: identity(1.0)),
        (ValueError, lambda: mx.vmap(lambda a: 1)(x)),
        (ValueError, lambda: mx.vmap(lambda a: (a, a), out_axes=(0,))(x)),
        (ValueError, lambda: mx.vmap(lambda a: a, out_axes=(None,))(x)),
        (TypeError, lambda: mx.vmap(lambda a: a, in_axes=None)),
        (TypeError, lambda: mx.vmap(lambda a: a, out_axes=None)),
        (TypeError, lambda: identity(a=x)),
        (TypeError, lambda: mx.vmap(3)),
        (IndexError, lambda: mx.vmap(lambda a: a, in_axes=1)(x)),
        (IndexError, lambda: mx.vmap(lambda a: a, in_axes=-2)(x)),
        (IndexError, lambda: mx.vmap(lambda a: a, out_axes=5)(x)),
        (IndexError, lambda: identity(mx.array(1.0))),
    ]
    for error, f in cases:
        with pytest.raises(error):
            f()


def test_grad_errors():
    x = mx.array([1.0, 2.0])

    def f(x):
        return x.sum()

    cases = [
        (ValueError, lambda: mx.grad(f, argnums=-1)),
        (ValueError, lambda: mx.grad(f, argnums=[0, 0])),
        (ValueError, lambda: mx.grad(f, argnums=[])),
        (ValueError, lambda: mx.grad(f, argnames=["a", "a"])),
        (TypeError, lambda: mx.grad(f, argnums="a")),
        (TypeError, lambda: mx.grad(f, argnums=0.5)),
        (TypeError, lambda: mx.grad(5)),
        (ValueError, lambda: mx.grad(f, argnums=1)(x)),
        (ValueError, lambda: mx.grad(f)()),
        (ValueError, lambda: mx.grad(f, argnames="x")(x)),
        (ValueError, lambda: mx.grad(f)(1.0)),
        (ValueError, lambda: mx.grad(f)("a")),
        (ValueError, lambda: mx.grad(lambda d: d["a"].sum())({"a": x, "b": None})),
        (ValueError, lambda: mx.grad(lambda x: x)(x)),
        (ValueError, lambda: mx.grad(lambda x: 1.0)(x)),
        (ValueError, lambda: mx.grad(lambda x: (x.sum(), 1))(x)),
        (ValueError, lambda: mx.grad(lambda x: [x.sum()])(x)),
        (ValueError, lambda: mx.value_and_grad(lambda x: [x.sum()])(x)),
        (ValueError, lambda: mx.value_and_grad(lambda x: ())(x)),
        (ValueError, lambda: mx.value_and_grad(lambda x: (1, x.sum()))(x)),
        (ValueError, lambda: mx.vjp(f, [x], [])),
        (ValueError, lambda: mx.vjp(f, [x], [x])),
        (ValueError, lambda: mx.vjp(lambda x: 1, [x], [x])),
        (ValueError, lambda: mx.vjp(lambda x: (x, 1), [x], [x, x])),
        (ValueError, lambda: mx.jvp(f, [x], [])),
        (ValueError, lambda: mx.jvp(f, [x], [mx.array(1.0)])),
        (TypeError, lambda: mx.vjp(f, [1.0], [x])),
    ]
    for error, call in cases:
        with pytest.raises(error):
            call()


def test_wrappers_pass_attributes_on():
    def f(x):
        """What f does."""
        return x.sum()

    f.note = 3
    for transform in (mx.grad, mx.value_and_grad, mx.vmap):
        g = transform(f)
        assert (g.__name__, g.__doc__, g.note) == ("f", "What f does.", 3)
        with pytest.raises(AttributeError):
            g.missing  # noqa: B018


def test_wrappers_are_methods_in_classes():
    class Model:
        def __init__(self):
            self.scale = 3.0

        loss = mx.grad(lambda self, x: self.scale * x, argnums=1)

    assert Model().loss(mx.array(1.0)).item() == 3


def test_wrappers_are_collected():
    class Owner:
        pass

    def cycle():
        owner = Owner()
        owner.f = mx.grad(lambda x: owner.scale * x)
        owner.g = mx.vmap(owner.f)
        return weakref.ref(owner)

    gone = cycle()
    gc.collect()
    assert gone() is None


def test_long_graphs():
    """A million operations: no recursion, in time linear in their number."""

    def f(x):
        y = x
        for _ in range(1_000_000):
            y = y * 1.0000001
        return y

    x = mx.array(2.0)
    close(mx.grad(f)(x), np.exp(0.1), 1e-2)
    _, (t,) = mx.jvp(f, [x], [mx.array(1.0)])
    close(t, np.exp(0.1), 1e-2)


def test_wide_and_shared_graphs():
    """Nodes shared by many paths are visited once: 2**60 paths, 60 nodes."""

    def f(x):
        for _ in range(60):
            x = x * 0.5 + x * 0.5
        return x

    assert mx.grad(f)(mx.array(1.0)).item() == 1
    assert mx.jvp(f, [mx.array(1.0)], [mx.array(1.0)])[1][0].item() == 1
    assert mx.vmap(f)(mx.array([1.0, 2.0])).tolist() == [1, 2]


def test_training_keeps_memory_flat():
    w = mx.array(np.zeros(1000, np.float32))
    target = mx.array(np.linspace(0, 1, 1000, dtype=np.float32))
    step = mx.value_and_grad(lambda w: ((w - target) ** 2).sum())
    sizes = []
    for i in range(60):
        loss, g = step(w)
        w = w - 0.1 * g
        mx.eval(w, loss)
        if i in (10, 59):
            sizes.append(mx.get_active_memory())
    assert sizes[1] <= sizes[0] + 4096
    assert loss.item() < 1e-2
