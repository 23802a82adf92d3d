"""Every elementwise row × dtype: values in all layouts, fused and not, vjp, jvp and vmap.

One test a row and dtype; the layouts loop inside. A sample of the layouts runs by default, all of
them with MLX_TEST_ALL=1 (`make test-all`).
"""

from __future__ import annotations

import os

import mlx.core as mx
import numpy as np
import pytest
from reference import ROWS
from table import (
    DTYPES,
    LAYOUTS,
    OPS,
    assert_close,
    expected,
    generator,
    kind_of,
    numpy_dtype,
    operands,
    to_mx,
    to_numpy,
    values,
    widened,
)

ALL = os.environ.get("MLX_TEST_ALL") == "1"
CASES = [(op, dtype) for op in OPS for dtype in DTYPES if op.takes(dtype) and op.name != "astype"]
SMOOTH = [op for op in OPS if op.row.smooth and op.name not in ("astype", "where")]


def layouts_of(op, dtype):
    if ALL:
        return LAYOUTS
    rng = generator("layouts", op.name, dtype)
    return (
        "dense",
        "long",
        *rng.choice([x for x in LAYOUTS if x not in ("dense", "long")], 2, False),
    )


def case_id(case):
    return f"{case[0].name}-{case[1]}"


def test_every_row_has_a_reference():
    assert {op.name for op in OPS} == set(ROWS)


def tolerance(op, dtype):
    """Units in the last place; half types are computed in float32 and rounded once."""
    if dtype in ("float16", "bfloat16"):
        return 1.0
    if kind_of(dtype) == "c":
        return 16.0
    if dtype == "float64":
        return 64.0 if op.name == "erfinv" else 8.0
    return op.row.ulp


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_values(case):
    op, dtype = case
    for layout in layouts_of(op, dtype):
        pairs = operands(op, dtype, layout)
        got = op(*[a for a, _ in pairs])
        want, scale = expected(op, dtype, [x for _, x in pairs])
        if kind_of(dtype) == "c" and kind_of(op.result_dtype(dtype)) == "c":
            assert_close_complex(got, want, scale)
        else:
            assert_close(got, want, op.result_dtype(dtype), tolerance(op, dtype), scale)


def assert_close_complex(got, want, scale):
    """Relative to the modulus: a part much smaller than the other may lose its own digits."""
    assert got.dtype == mx.complex64
    actual = to_numpy(got).astype(np.complex128)
    assert actual.shape == want.shape
    error = np.abs(actual - want)
    assert (error <= 16 * 2.0**-23 * np.maximum(scale, 1e-3)).all(), (actual, want)


def identity_before(x):
    return mx.where(mx.array(True), x, x)


def follow(y):
    """An op after the row, so that there is something to fuse with."""
    return mx.logical_not(y) if y.dtype == mx.bool_ else mx.maximum(y, y)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_fused_equals_unfused(case):
    op, dtype = case
    for layout in layouts_of(op, dtype):
        arrays = [a for a, _ in operands(op, dtype, layout)]
        fused = follow(op(*[identity_before(a) for a in arrays]))
        mx.eval(fused)
        singles = [identity_before(a) for a in arrays]
        mx.eval(singles)
        y = op(*singles)
        mx.eval(y)
        z = follow(y)
        mx.eval(z)
        assert bytes(fused) == bytes(z), layout


def smooth_inputs(op, dtype, n):
    """Operands inside the open domain, without special values or places that are not smooth."""
    rng = generator("smooth", op.name, dtype)
    out = []
    for k in range(op.arity):
        low, high = op.row.domain2 if k == 1 and op.row.domain2 else op.row.domain
        low, high = max(low, -3.0), min(high, 3.0)
        margin = 0.05 * (high - low)
        x = rng.uniform(low + margin, high - margin, n)
        out.append(x.astype(numpy_dtype(dtype)))
    return out


@pytest.mark.parametrize("op", SMOOTH, ids=lambda op: op.name)
def test_derivatives_against_finite_differences(op):
    xs = smooth_inputs(op, "float64", 12)
    arrays = [to_mx(x) for x in xs]
    rng = generator("cotangent", op.name)
    ct = rng.uniform(-1, 1, 12)
    tangents = [rng.uniform(-1, 1, 12) for _ in xs]
    outs, grads = mx.vjp(lambda *a: op(*a), arrays, [to_mx(ct)])
    _, jvps = mx.jvp(lambda *a: op(*a), arrays, [to_mx(t) for t in tangents])
    h = 1e-6
    total = np.zeros(12)
    for k in range(len(xs)):
        up, down = [x.copy() for x in xs], [x.copy() for x in xs]
        up[k] += h
        down[k] -= h
        slope = (op.row.function(*up) - op.row.function(*down)) / (2 * h)
        np.testing.assert_allclose(to_numpy(grads[k]), slope * ct, rtol=2e-6, atol=2e-7)
        total += slope * tangents[k]
    np.testing.assert_allclose(to_numpy(jvps[0]), total, rtol=2e-6, atol=2e-7)
    # The two agree with each other far more closely than with differences.
    left = float(np.sum(to_numpy(jvps[0]) * ct))
    right = sum(float(np.sum(to_numpy(g) * t)) for g, t in zip(grads, tangents))
    assert left == pytest.approx(right, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("op", SMOOTH, ids=lambda op: op.name)
def test_second_derivatives(op):
    xs = smooth_inputs(op, "float64", 6)
    arrays = [to_mx(x) for x in xs]

    def gradients(*a):
        """One gradient per operand, also where there is only one."""
        got = mx.grad(lambda *b: mx.sum(op(*b)), list(range(op.arity)))(*a)
        return [got] if op.arity == 1 else list(got)

    def total(*a):
        return sum(mx.sum(g) for g in gradients(*a))

    second = mx.grad(total, list(range(op.arity)))(*arrays)
    second = [second] if op.arity == 1 else second
    h = 1e-5
    for k in range(len(xs)):
        up, down = [x.copy() for x in xs], [x.copy() for x in xs]
        up[k] += h
        down[k] -= h
        slope = sum(to_numpy(g) for g in gradients(*map(to_mx, up)))
        slope = (slope - sum(to_numpy(g) for g in gradients(*map(to_mx, down)))) / (2 * h)
        np.testing.assert_allclose(to_numpy(second[k]), slope, rtol=1e-4, atol=1e-5)


INEXACT_CASES = [(op, t) for op, t in CASES if op in SMOOTH and kind_of(t) in "fc"]


@pytest.mark.parametrize("case", INEXACT_CASES, ids=case_id)
def test_derivatives_in_every_layout(case):
    """Layout changes no bit of a derivative; broadcast operands get the sum over their copies."""
    op, dtype = case
    for layout in layouts_of(op, dtype):
        arrays = [a for a, _ in operands(op, dtype, layout)]
        dense = [mx.contiguous(a) for a in arrays]
        y = op(*dense)
        ct = mx.ones_like(y)
        _, grads = mx.vjp(lambda *a: op(*a), arrays, [ct])
        _, tangents = mx.jvp(lambda *a: op(*a), arrays, [mx.ones_like(a) for a in arrays])
        full = [mx.contiguous(mx.broadcast_to(a, y.shape)) for a in dense]
        _, spread = mx.vjp(lambda *a: op(*a), full, [ct])
        _, wanted = mx.jvp(lambda *a: op(*a), full, [mx.ones_like(a) for a in full])
        assert bytes(tangents[0]) == bytes(wanted[0]), layout
        for g, a, s in zip(grads, arrays, spread):
            assert g.dtype == a.dtype and g.shape == a.shape
            if a.shape == y.shape:
                assert bytes(g) == bytes(s), layout
                continue
            shape = (1,) * (s.ndim - a.ndim) + tuple(a.shape)
            axes = tuple(i for i in range(s.ndim) if shape[i] == 1 and s.shape[i] != 1)
            with np.errstate(all="ignore"):
                exact = widened(to_numpy(s)).sum(axis=axes, keepdims=True).reshape(a.shape)
                size = np.abs(widened(to_numpy(s))).sum(axis=axes, keepdims=True).reshape(a.shape)
            got = widened(to_numpy(g))
            fine = np.isfinite(size) & np.isfinite(got)
            got, exact, size = got[fine], exact[fine], size[fine]
            limit = {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-14}.get(dtype, 1e-6)
            assert (np.abs(got - exact) <= limit * (size + 1e-6)).all(), layout


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("op", SMOOTH, ids=lambda op: op.name)
def test_gradients_keep_the_dtype(op, dtype):
    xs = smooth_inputs(op, dtype, 16)
    outs, grads = mx.vjp(
        lambda *a: op(*a), [to_mx(x) for x in xs], [mx.ones((16,), getattr(mx, dtype))]
    )
    _, exact = mx.vjp(
        lambda *a: op(*a), [to_mx(widened(x)) for x in xs], [mx.ones((16,), mx.float64)]
    )
    rtol = {"float32": 2e-4, "float16": 4e-2, "bfloat16": 2e-1}[dtype]
    for g, e in zip(grads, exact):
        assert str(g.dtype) == f"mlx.core.{dtype}"
        scale = np.abs(to_numpy(e)).max() + 1e-3
        np.testing.assert_allclose(widened(to_numpy(g)), to_numpy(e), rtol=rtol, atol=rtol * scale)


@pytest.mark.parametrize(
    "op",
    [
        op
        for op in OPS
        if op.takes("complex64") and op.row.smooth and op.name not in ("astype", "where")
    ],
    ids=lambda op: op.name,
)
def test_complex_derivatives(op):
    """Against differences along both axes: vjp gives dL/dx + i·dL/dy of L = Re(conj(ct)·y)."""
    rng = generator("complex", op.name)
    n = 8
    zs = [
        (rng.uniform(0.4, 1.2, n) + 1j * rng.uniform(0.2, 0.8, n)).astype(np.complex64)
        for _ in range(op.arity)
    ]
    y = op(*map(to_mx, zs))
    ct = (rng.uniform(-1, 1, n) + 1j * rng.uniform(-1, 1, n)).astype(np.complex64)
    if y.dtype != mx.complex64:
        ct = ct.real
    _, grads = mx.vjp(lambda *a: op(*a), list(map(to_mx, zs)), [to_mx(ct)])

    def loss(points):
        with np.errstate(all="ignore"):
            out = op.row.function(*points)
        return np.real(np.conj(ct) * out)

    h = 1e-6
    for k in range(op.arity):
        parts = []
        for step in (h, 1j * h):
            up = [z.astype(np.complex128) for z in zs]
            down = [z.astype(np.complex128) for z in zs]
            up[k] = up[k] + step
            down[k] = down[k] - step
            parts.append((loss(up) - loss(down)) / (2 * h))
        np.testing.assert_allclose(
            to_numpy(grads[k]), parts[0] + 1j * parts[1], rtol=2e-3, atol=2e-3
        )


VMAP_DTYPES = ("bool", "int32", "float32", "bfloat16", "complex64")


@pytest.mark.parametrize("op", [op for op in OPS if op.name != "astype"], ids=lambda op: op.name)
def test_vmap_equals_a_loop(op):
    for dtype in VMAP_DTYPES:
        if not op.takes(dtype):
            continue
        rng = generator("vmap", op.name, dtype)
        shapes = [(3, 4, 5), (4, 3, 5), (3, 5)]
        axes = [0, 1, 0]
        arrays = [
            to_mx(values(rng, op, k, dtype, int(np.prod(s))).reshape(s))
            for k, s in enumerate(shapes[: op.arity])
        ]
        axes = axes[: op.arity]
        got = mx.vmap(lambda *a: op(*a), in_axes=tuple(axes))(*arrays)
        lanes = [
            op(*[mx.take(a, mx.array(i), axis=axis) for a, axis in zip(arrays, axes)])
            for i in range(3)
        ]
        want = mx.stack(lanes)
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        assert bytes(got) == bytes(want), dtype
        if op.arity > 1:  # one operand not mapped
            fixed = to_mx(values(rng, op, op.arity - 1, dtype, 5))
            inner = mx.vmap(lambda *a, last=fixed: op(*a, last), in_axes=tuple(axes[:-1]))(
                *arrays[:-1]
            )
            lanes = [
                op(
                    *[mx.take(a, mx.array(i), axis=axis) for a, axis in zip(arrays, axes[:-1])],
                    fixed,
                )
                for i in range(3)
            ]
            assert bytes(inner) == bytes(mx.stack(lanes)), dtype


def cast_reference(x: np.ndarray, to: str) -> np.ndarray:
    """Conversion by the contract: saturate, NaN to 0, wrap between integers, drop imaginary parts."""
    target = numpy_dtype(to)
    wide = widened(x)
    if to == "bool":
        return wide != 0
    if wide.dtype.kind == "c" and kind_of(to) != "c":
        wide = wide.real
    if kind_of(to) in "iu" and wide.dtype.kind == "f":
        limits = np.iinfo(target)
        with np.errstate(all="ignore"):
            inside = np.where(np.isfinite(wide) & (np.abs(wide) < 2.0**62), np.trunc(wide), 0)
            exact = np.clip(inside.astype(object).astype(object), limits.min, limits.max)
        exact = np.array([int(v) for v in np.ravel(exact)], dtype=object).reshape(wide.shape)
        exact = np.where(
            wide >= 2.0**62, min(limits.max, 2**63 - 1) if limits.max < 2**62 else limits.max, exact
        )
        exact = np.where(wide <= -(2.0**62), limits.min, exact)
        return (
            np.array([int(v) for v in exact.ravel()], dtype=object)
            .reshape(wide.shape)
            .astype(target)
        )
    with np.errstate(all="ignore"):
        return wide.astype(target)


CAST_VALUES = np.array(
    [
        0.0,
        -0.0,
        0.4,
        -0.6,
        1.7,
        -1.7,
        100.5,
        -100.5,
        3e4,
        -3e4,
        7e9,
        -7e9,
        1e30,
        -1e30,
        np.inf,
        -np.inf,
        np.nan,
    ]
)


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_casts(source, to):
    with np.errstate(all="ignore"):
        if kind_of(source) in "iu":
            limits = np.iinfo(numpy_dtype(source))
            x = np.array(
                [0, 1, 2, 100, limits.max, limits.min, limits.max - 1], dtype=numpy_dtype(source)
            )
        elif source == "bool":
            x = np.array([False, True, True])
        elif source == "complex64":
            x = (CAST_VALUES + 1j).astype(np.complex64)
        else:
            x = CAST_VALUES.astype(numpy_dtype(source))
    x = np.tile(x, 5)
    got = to_mx(x).astype(getattr(mx, f"{to}_" if to == "bool" else to))
    want = cast_reference(x, to)
    if kind_of(to) in "fc":
        a, b = to_numpy(got), want
        assert str(got.dtype) == f"mlx.core.{to}"
        np.testing.assert_array_equal(widened(a), widened(b))
    else:
        np.testing.assert_array_equal(to_numpy(got), want)


def test_refused_dtypes():
    z = mx.array([1 + 2j])
    for op in OPS:
        for dtype, x in (
            ("complex64", z),
            ("float32", mx.array([1.0])),
            ("bool", mx.array([True])),
        ):
            if op.takes(dtype) or op.name == "astype":
                continue
            with pytest.raises((ValueError, RuntimeError), match=rf"\[{op.name}\].*{dtype}"):
                op(*[x] * op.arity)


def test_shapes_that_do_not_broadcast():
    for op in OPS:
        if op.arity < 2:
            continue
        dtype = mx.int32 if op.accepts == "integral" else mx.float32
        a, b = mx.ones((2, 3), dtype), mx.ones((4,), dtype)
        with pytest.raises(ValueError, match=rf"\[{op.name}\].*\(2, 3\).*\(4,\)"):
            op(*([mx.array(True)] if op.arity == 3 else []), a, b)
