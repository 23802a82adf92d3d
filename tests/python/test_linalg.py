"""mlx.core.linalg against NumPy: factors, batches, layouts, derivatives, errors."""

from __future__ import annotations

import itertools

import mlx.core as mx
import numpy as np
import pytest
from table import EPSILON, generator, numpy_dtype, to_mx, to_numpy, widened

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


@pytest.mark.parametrize("dtype", DTYPES)
def test_svd_of_matrices_that_are_not_finite(dtype):
    x = draw(dtype, (3, 3, 2))
    x[1, 0, 1] = np.nan
    x[2, 1, 0] = np.inf
    u, s, vt = mx.linalg.svd(to_mx(x))
    for y in (u, s, vt, mx.linalg.svd(to_mx(x), False)):
        assert np.isfinite(np.array(y[0])).all() and np.isnan(np.array(y[1:])).all()
    assert np.isnan(mx.linalg.norm(to_mx(x[1]), "nuc").item())


def test_svd_errors():
    for shape in ((), (3,)):
        with pytest.raises(ValueError, match=r"\[linalg\.svd\].*2 dimensions"):
            mx.linalg.svd(mx.zeros(shape))
    for dtype in (mx.float16, mx.bfloat16, mx.int32, mx.bool_):
        with pytest.raises(ValueError, match=r"\[linalg\.svd\].*float32, float64 or complex64"):
            mx.linalg.svd(mx.zeros((2, 2), dtype))
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


# ---- norms ----------------------------------------------------------------------------------------

INF = float("inf")
VECTOR_ORDERS = [None, 0, 1, 2, 3, 0.5, -1, -2, INF, -INF]
MATRIX_ORDERS = [None, 1, -1, 2, -2, INF, -INF, "fro", "f", "nuc"]


def numpy_norm(x, ord, axis, keepdims):
    ord = "fro" if ord == "f" else ord
    with np.errstate(all="ignore"):
        return np.linalg.norm(widened(x), ord, axis, keepdims)


def assert_norm(got, want, dtype):
    assert str(got.dtype) == f"mlx.core.{dtype}" and tuple(got.shape) == np.shape(want)
    tolerance = 4 * EPSILON[dtype] if dtype in ("float16", "bfloat16") else 30 * EPSILON[dtype]
    np.testing.assert_allclose(widened(to_numpy(got)), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "bfloat16", "complex64", "int32", "bool"]
)
def test_norms(dtype, keepdims):
    rng = generator("norm", dtype)
    x = rng.normal(size=(3, 4, 5))
    if dtype == "complex64":
        x = x + 1j * rng.normal(size=x.shape)
    if dtype in ("int32", "bool"):
        x = rng.integers(-3 if dtype == "int32" else 0, 2, x.shape)
    x = x.astype(numpy_dtype(dtype))
    x[0, 1] = 0
    result = {"complex64": "float32", "int32": "float32", "bool": "float32"}.get(dtype, dtype)
    a, wide = to_mx(x), widened(x).astype(np.complex128 if dtype == "complex64" else np.float64)
    for ord, axis in itertools.product(VECTOR_ORDERS, (0, 1, -1, (2,))):
        want = numpy_norm(wide, ord, axis[0] if isinstance(axis, tuple) else axis, keepdims)
        assert_norm(mx.linalg.norm(a, ord, axis, keepdims), want, result)
    for ord, axis in itertools.product(MATRIX_ORDERS, ((0, 1), (2, 0), (-1, -2))):
        got = mx.linalg.norm(a, ord, axis, keepdims)
        assert_norm(got, numpy_norm(wide, ord, axis, keepdims), result)
    for ord in MATRIX_ORDERS:
        got = mx.linalg.norm(a[1].T, ord=ord, keepdims=keepdims)
        assert_norm(got, numpy_norm(wide[1].T, ord, None, keepdims), result)
    for ord in VECTOR_ORDERS:
        got = mx.linalg.norm(a[1, 1], ord=ord, keepdims=keepdims)
        assert_norm(got, numpy_norm(wide[1, 1], ord, None, keepdims), result)
    want = np.sqrt((np.abs(wide) ** 2).sum(keepdims=keepdims))
    assert_norm(mx.linalg.norm(a, keepdims=keepdims), want, result)


def test_norm_edges():
    assert mx.matrix_norm is mx.linalg.norm
    assert mx.linalg.norm(mx.array(-3)).item() == 3
    assert mx.linalg.norm(mx.zeros((0,))).item() == 0
    assert mx.linalg.norm(mx.array([[-2.0, 3.0]]), axis=()).tolist() == [[2.0, 3.0]]
    # float16 neither overflows nor is rounded on the way.
    assert mx.linalg.norm(mx.array([300.0, 400.0], mx.float16)).item() == 500
    assert mx.linalg.norm(mx.ones((5000,), mx.float16), 1).item() == 5000
    got = mx.vmap(lambda v: mx.linalg.norm(v, "nuc"))(mx.stack([mx.eye(2), 2 * mx.eye(2)]))
    np.testing.assert_allclose(np.array(got), [2.0, 4.0], rtol=1e-6)


@pytest.mark.parametrize(
    "shape,args,error",
    [
        ((2, 3), dict(ord=3), ValueError),
        ((2, 3), dict(ord=0), ValueError),
        ((2, 3), dict(ord="x"), ValueError),
        ((2,), dict(ord="fro"), ValueError),
        ((2, 3), dict(ord="nuc", axis=0), ValueError),
        ((2, 3, 4), dict(ord=1), ValueError),
        ((2, 3, 4), dict(axis=(0, 1, 2)), ValueError),
        ((2, 3, 4), dict(axis=(0, 0)), ValueError),
        ((2, 3), dict(axis=2), IndexError),
        ((2, 3), dict(ord=1, axis=(0, -3)), IndexError),
        ((), dict(ord=1), ValueError),
        ((0,), dict(ord=INF), ValueError),
    ],
)
def test_norm_errors(shape, args, error):
    with pytest.raises(error, match="norm"):
        mx.linalg.norm(mx.ones(shape), **args)
    for bad in (dict(ord=[1]), dict(axis="x"), dict(ord=1j)):
        with pytest.raises(TypeError):
            mx.linalg.norm(mx.ones((2, 2)), **bad)


def gradient_check(f, theirs, x, rtol=1e-5):
    """First and second derivatives along two directions by central differences."""
    rng = generator("norm gradients", x.shape)
    t, t2 = rng.normal(size=x.shape), rng.normal(size=x.shape)
    h = 1e-5
    want = (theirs(x + h * t) - theirs(x - h * t)) / (2 * h)
    gradient = mx.grad(f)
    g = np.array(gradient(to64(x)))
    np.testing.assert_allclose((g * t).sum(), want, rtol=rtol, atol=1e-7)
    _, (jvp,) = mx.jvp(f, [to64(x)], [to64(t)])
    np.testing.assert_allclose(jvp.item(), want, rtol=rtol, atol=1e-7)
    numeric = (np.array(gradient(to64(x + h * t2))) - np.array(gradient(to64(x - h * t2)))) / (
        2 * h
    )
    _, (second,) = mx.jvp(gradient, [to64(x)], [to64(t2)])
    np.testing.assert_allclose(np.array(second), numeric, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("ord", [None, 1, 2, 3, 2.5, -1, INF, -INF])
def test_vector_norm_derivatives(ord):
    x = np.array([0.5, -1.5, 2.0, 0.7])
    gradient_check(lambda v: mx.linalg.norm(v, ord), lambda v: np.linalg.norm(v, ord), x)


@pytest.mark.parametrize("ord", MATRIX_ORDERS)
def test_matrix_norm_derivatives(ord):
    x = draw("float64", (3, 4), "norm")
    gradient_check(lambda v: mx.linalg.norm(v, ord), lambda v: numpy_norm(v, ord, None, False), x)


def test_norm_derivatives_at_zeros():
    for ord in (None, 1, 2, 3, INF, "fro"):
        shape = (2, 2) if ord == "fro" else (3,)
        assert np.isfinite(
            np.array(mx.grad(lambda v, o=ord: mx.linalg.norm(v, o))(mx.zeros(shape)))
        ).all()
    x = to64([0.0, 3.0, 4.0])
    np.testing.assert_allclose(np.array(mx.grad(mx.linalg.norm)(x)), [0.0, 0.6, 0.8], rtol=1e-12)
    # The curvature in the direction of a coordinate that is 0.
    _, (h,) = mx.jvp(mx.grad(mx.linalg.norm), [x], [to64([1.0, 0.0, 0.0])])
    np.testing.assert_allclose(np.array(h), [0.2, 0.0, 0.0], atol=1e-12)


# ---- cross ----------------------------------------------------------------------------------------

PAIRS = ((1, 2), (2, 0), (0, 1))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "complex64"])
def test_cross(dtype):
    rng = generator("cross", dtype)
    for a, b, axis in (
        ((3,), (3,), -1),
        ((2,), (3,), -1),
        ((3,), (2,), 0),
        ((2,), (2,), -1),
        ((4, 3), (4, 3), 1),
        ((4, 3), (3,), -1),
        ((3, 4), (3, 4), 0),
        ((2, 4), (3, 4), -2),
        ((5, 1, 3), (4, 3), -1),
    ):
        x, y = (rng.integers(0, 9, s).astype(numpy_dtype(dtype)) for s in (a, b))

        def three(v, axis=axis):
            v = np.moveaxis(v, axis, -1)
            return v if v.shape[-1] == 3 else np.concatenate([v, np.zeros_like(v[..., :1])], -1)

        u, v = three(x), three(y)
        with np.errstate(over="ignore"):
            parts = [u[..., i] * v[..., j] - u[..., j] * v[..., i] for i, j in PAIRS]
        want = np.stack(parts, -1)
        got = mx.linalg.cross(to_mx(x), to_mx(y), axis)
        assert str(got.dtype) == f"mlx.core.{dtype}"
        np.testing.assert_array_equal(to_numpy(got), np.moveaxis(want, -1, axis))


def test_cross_derivatives_and_errors():
    a, b = mx.array([1.0, 2.0, 3.0]), mx.array([4.0, 5.0])
    w = mx.array([1.0, -1.0, 2.0])
    ga, gb = mx.grad(lambda a, b: (mx.linalg.cross(a, b) * w).sum(), argnums=(0, 1))(a, b)
    b3 = np.array([4.0, 5.0, 0.0])
    np.testing.assert_allclose(np.array(ga), np.cross(b3, np.array(w)), rtol=1e-6)
    np.testing.assert_allclose(np.array(gb), np.cross(np.array(w), np.array(a))[:2], rtol=1e-6)
    got = mx.vmap(mx.linalg.cross)(mx.stack([a, a]), mx.stack([b, 2 * b]))
    np.testing.assert_allclose(
        np.array(got), [np.cross(np.array(a), b3), np.cross(np.array(a), 2 * b3)]
    )
    for x, y, axis, error in (
        (mx.ones((4,)), mx.ones((4,)), -1, ValueError),
        (mx.ones((3,)), mx.ones((1,)), -1, ValueError),
        (mx.ones((2, 3)), mx.ones((4, 3)), -1, ValueError),
        (mx.array(1.0), mx.array(1.0), -1, IndexError),
        (mx.ones((3,)), mx.ones((3,)), 1, IndexError),
    ):
        with pytest.raises(error, match="cross"):
            mx.linalg.cross(x, y, axis)
