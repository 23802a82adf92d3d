"""mlx.core.linalg against NumPy: factors, batches, layouts, derivatives, errors."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest
from table import EPSILON, generator, to_mx, to_numpy, widened

DTYPES = ("float32", "float64", "complex64")
SHAPES = [
    (1, 1),
    (3, 3),
    (5, 3),
    (3, 5),
    (1, 4),
    (4, 1),
    (2, 6, 4),
    (2, 3, 4, 4),
    (0, 3, 2),
    (40, 30),
]


def draw(dtype, shape, *key):
    rng = generator("linalg", dtype, shape, *key)
    x = rng.normal(size=shape)
    if dtype == "complex64":
        x = x + 1j * rng.normal(size=shape)
    return np.asarray(x, dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def check_svd(usv, x, dtype):
    u, s, vt = (widened(to_numpy(v)) for v in usv)
    m, n = x.shape[-2:]
    k = min(m, n)
    assert u.shape == (*x.shape[:-2], m, m) and vt.shape == (*x.shape[:-2], n, n)
    assert s.shape == (*x.shape[:-2], k)
    assert str(usv[0].dtype) == str(usv[2].dtype) == f"mlx.core.{dtype}"
    assert usv[1].dtype == (mx.float32 if dtype == "complex64" else usv[0].dtype)
    slack = 20 * max(m, n) * EPSILON[dtype]
    for q in (u, vt):
        identity = np.broadcast_to(np.eye(q.shape[-1]), q.shape)
        np.testing.assert_allclose(q @ adjoint(q), identity, atol=slack)
    np.testing.assert_allclose(s, np.linalg.svd(widened(x), compute_uv=False), atol=slack * 10)
    assert (np.diff(s, axis=-1) <= 0).all() and (s >= 0).all()
    product = (u[..., :k] * s[..., None, :]) @ vt[..., :k, :]
    np.testing.assert_allclose(product, widened(x), atol=slack * 10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_svd(shape, dtype):
    x = draw(dtype, shape)
    check_svd(mx.linalg.svd(to_mx(x)), x, dtype)
    values = mx.linalg.svd(to_mx(x), compute_uv=False)
    assert isinstance(values, mx.array)
    np.testing.assert_allclose(
        np.array(values), np.array(mx.linalg.svd(to_mx(x))[1]), atol=100 * EPSILON[dtype]
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_svd_layouts(dtype):
    x = draw(dtype, (4, 6, 5))
    a = to_mx(x)
    for got, want in (
        (a.transpose(2, 0, 1), x.transpose(2, 0, 1)),
        (a[::-1, ::-2, 1:], x[::-1, ::-2, 1:]),
        (mx.broadcast_to(a[:1], (3, 6, 5)), np.broadcast_to(x[:1], (3, 6, 5))),
        (a[2], x[2]),
    ):
        check_svd(mx.linalg.svd(got), want, dtype)


def test_svd_of_nothing():
    for shape in ((0, 3), (3, 0), (0, 0), (2, 0, 3)):
        u, s, vt = mx.linalg.svd(mx.zeros(shape))
        m, n = shape[-2:]
        assert u.shape == (*shape[:-2], m, m) and s.shape == (*shape[:-2], 0)
        assert vt.shape == (*shape[:-2], n, n)
        np.testing.assert_array_equal(np.array(vt), np.broadcast_to(np.eye(n), vt.shape))
        assert mx.linalg.svd(mx.zeros(shape), False).shape == (*shape[:-2], 0)


def test_svd_of_special_matrices():
    for x in (np.zeros((3, 4)), np.ones((4, 3)), np.eye(5), np.diag([1e-30, 1e30, 1.0])):
        check_svd(
            mx.linalg.svd(mx.array(x / max(1, x.max()), mx.float64)), x / max(1, x.max()), "float64"
        )
    big = mx.linalg.svd(mx.array(np.diag([1e30, 1e-30])), False)
    np.testing.assert_allclose(np.array(big), [1e30, 1e-30], rtol=1e-6, atol=1e20)


def test_svd_errors():
    for shape in ((), (3,)):
        with pytest.raises(ValueError, match=r"\[linalg\.svd\].*2 dimensions"):
            mx.linalg.svd(mx.zeros(shape))
    for dtype in (mx.float16, mx.bfloat16, mx.int32, mx.bool_):
        with pytest.raises(ValueError, match=r"\[linalg\.svd\].*float32, float64 or complex64"):
            mx.linalg.svd(mx.zeros((2, 2), dtype))
    for bad in (np.nan, np.inf):
        y = mx.linalg.svd(mx.array([[1.0, bad], [0.0, 1.0]]))
        with pytest.raises(RuntimeError, match=r"linalg\.svd.*finite"):
            mx.eval(y)
    with pytest.raises(TypeError):
        mx.linalg.svd([[1.0]])
    assert mx.linalg.svd(mx.eye(2))[1].tolist() == [1, 1]


@pytest.mark.parametrize("vectors", [True, False])
def test_svd_vmap(vectors):
    x = draw("float32", (3, 4, 5, 2))
    for axis in range(3):
        got = mx.vmap(lambda a: mx.linalg.svd(a, vectors), in_axes=axis)(to_mx(x))
        rows = [
            mx.linalg.svd(mx.take(to_mx(x), i, axis=axis), vectors) for i in range(x.shape[axis])
        ]
        if not vectors:
            got, rows = (got,), [(r,) for r in rows]
        for k, y in enumerate(got):
            np.testing.assert_array_equal(np.array(y), np.array(mx.stack([r[k] for r in rows])))


# ---- derivatives ----------------------------------------------------------------------------------


def losses(m, n):
    """Quantities that do not change with the choice of the vectors."""
    rng = generator("losses", m, n)
    k = min(m, n)
    w, ws = rng.normal(size=(m, n)), rng.normal(size=k)
    wu, wv = rng.normal(size=(m, k)), rng.normal(size=(k, n))

    def values(xp, usv):
        return (usv[1] * xp.array(ws)).sum()

    def function_of_matrix(xp, usv):
        u, s, vt = usv
        return ((u[:, :k] * (s * s + s)) @ vt[:k] * xp.array(w)).sum()

    def squares_of_vectors(xp, usv):
        u, s, vt = usv
        return (xp.abs(u[:, :k]) ** 2 * xp.array(wu)).sum() + (
            xp.abs(vt[:k]) ** 2 * xp.array(wv)
        ).sum()

    def projector_on_the_rest(xp, usv):
        u, s, vt = usv
        p, q = u[:, k:], vt[k:]
        return ((p @ p.T) * xp.array(wu @ wu.T)).sum() + ((q.T @ q) * xp.array(wv.T @ wv)).sum()

    return values, function_of_matrix, squares_of_vectors, projector_on_the_rest


def to64(x):
    return mx.array(x, mx.float64)


class Double:
    """mx with arrays in double precision."""

    array = staticmethod(to64)
    abs = staticmethod(mx.abs)


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5), (1, 3), (4, 1)])
@pytest.mark.parametrize("which", range(4))
def test_svd_derivatives(shape, which):
    loss = losses(*shape)[which]
    x = draw("float64", shape, "derivative")
    rng = generator("directions", shape, which)
    t, t2 = rng.normal(size=shape), rng.normal(size=shape)

    def ours(a):
        return loss(Double, mx.linalg.svd(a))

    def theirs(v):
        return loss(np, np.linalg.svd(v))

    h = 1e-5
    want = (theirs(x + h * t) - theirs(x - h * t)) / (2 * h)
    _, (jvp,) = mx.jvp(ours, [to64(x)], [to64(t)])
    np.testing.assert_allclose(jvp.item(), want, rtol=1e-6, atol=1e-7)
    gradient = mx.grad(ours)
    np.testing.assert_allclose((np.array(gradient(to64(x))) * t).sum(), want, rtol=1e-6, atol=1e-7)
    # second order
    numeric = (np.array(gradient(to64(x + h * t2))) - np.array(gradient(to64(x - h * t2)))) / (
        2 * h
    )
    _, (hvp,) = mx.jvp(gradient, [to64(x)], [to64(t2)])
    np.testing.assert_allclose(np.array(hvp), numeric, rtol=1e-5, atol=1e-6)
    _, (vhp,) = mx.vjp(gradient, [to64(x)], [to64(t)])
    np.testing.assert_allclose(
        (np.array(vhp) * t2).sum(), (numeric * t).sum(), rtol=1e-5, atol=1e-6
    )


def test_derivatives_of_the_values_alone():
    x, w = draw("float64", (4, 3)), to64([3.0, -1.0, 2.0])

    def f(a):
        return (mx.linalg.svd(a, False) * w).sum()

    g = np.array(mx.grad(f)(to64(x)))
    u, _, vt = np.linalg.svd(x, full_matrices=False)
    np.testing.assert_allclose(g, (u * np.array(w)) @ vt, rtol=1e-10)
    t = draw("float64", (4, 3), "t")
    _, (jvp,) = mx.jvp(f, [to64(x)], [to64(t)])
    np.testing.assert_allclose(jvp.item(), (g * t).sum(), rtol=1e-10)
    with_vectors = mx.grad(lambda a: (mx.linalg.svd(a)[1] * w).sum())(to64(x))
    np.testing.assert_allclose(np.array(with_vectors), g, rtol=1e-10)


def test_complex_derivatives():
    x, t = draw("complex64", (4, 3)), draw("complex64", (4, 3), "t")
    w = mx.array(draw("complex64", (4, 3), "w"))

    def f(a):
        u, s, vt = mx.linalg.svd(a)
        product = (u[:, :3] * (s * s)) @ vt[:3]
        return mx.real((product * w).sum()) + (mx.abs(u) ** 2)[0, 1] * 3

    h = 3e-3
    want = (f(mx.array(x + h * t)).item() - f(mx.array(x - h * t)).item()) / (2 * h)
    _, (jvp,) = mx.jvp(f, [mx.array(x)], [mx.array(t)])
    np.testing.assert_allclose(jvp.item(), want, rtol=1e-2)
    g = np.array(mx.grad(f)(mx.array(x)))
    np.testing.assert_allclose(np.vdot(g, t).real, jvp.item(), rtol=1e-4)


def test_batched_gradients_are_those_of_each_matrix():
    x = draw("float64", (3, 4, 2))

    def f(a):
        u, s, vt = mx.linalg.svd(a)
        return ((u[..., :2] * mx.exp(s)[..., None, :]) @ vt).sum()

    g = np.array(mx.grad(f)(to64(x)))
    for i in range(3):
        np.testing.assert_allclose(g[i], np.array(mx.grad(f)(to64(x[i]))), rtol=1e-10)


def test_equal_singular_values_give_finite_gradients():
    g = mx.grad(lambda a: mx.linalg.svd(a)[0].sum() + mx.linalg.svd(a)[1].sum())(mx.eye(3))
    assert np.isfinite(np.array(g)).all()
    assert (
        mx.grad(lambda a: mx.linalg.svd(a, False).sum())(mx.eye(3)).tolist() == np.eye(3).tolist()
    )
