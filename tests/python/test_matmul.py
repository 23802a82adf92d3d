"""Matrix products against NumPy in float64: dtypes, layouts, batches, derivatives, lanes, errors."""

import os
import subprocess
import sys

import mlx.core as mx
import numpy as np
import pytest

# Rounding of the result, and of a sum of k terms in the accumulator.
TOLERANCE = {
    mx.float32: 1e-6,
    mx.float64: 1e-14,
    mx.float16: 1e-3,
    mx.bfloat16: 8e-3,
    mx.complex64: 1e-6,
}
DTYPES = list(TOLERANCE)


def values(shape, dtype, seed=0):
    """Random numbers that the dtype holds exactly, as mlx array and as NumPy float64/complex128."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if dtype == mx.complex64:
        x = (x + 1j * rng.standard_normal(shape)).astype(np.complex64)
        return mx.array(x), x.astype(np.complex128)
    if dtype == mx.float64:
        return mx.array(x, dtype=mx.float64), x
    a = mx.array(x.astype(np.float32)).astype(dtype)
    return a, np.array(a.astype(mx.float32)).astype(np.float64)


def exact(a):
    if a.dtype in (mx.float16, mx.bfloat16):
        a = a.astype(mx.float32)
    x = np.array(a)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def check(got, want, scale, dtype):
    assert got.dtype == dtype
    assert got.shape == want.shape
    error = np.abs(exact(got) - want)
    assert (error <= TOLERANCE[dtype] * scale + 1e-30).all(), (error / (scale + 1e-30)).max()


def check_product(a, b, na, nb, dtype):
    check(mx.matmul(a, b), na @ nb, np.abs(na) @ np.abs(nb), dtype)


def transposed(x):
    return mx.swapaxes(x, -1, -2) if isinstance(x, mx.array) else np.swapaxes(x, -1, -2)


# Each takes (…, m, k) values of a larger array to a view of it.
LAYOUTS = {
    "dense": lambda x: x,
    "transposed": lambda x: transposed(transposed(x) * 1),
    "reversed rows": lambda x: x[..., ::-1, :],
    "reversed columns": lambda x: x[..., ::-1],
    "every second row": lambda x: x[..., ::2, :],
    "every second column": lambda x: x[..., ::2],
    "offset": lambda x: x[..., 1:, 1:],
    "one row for all": lambda x: (mx if isinstance(x, mx.array) else np).broadcast_to(
        x[..., :1, :], x.shape
    ),
    "one column for all": lambda x: (mx if isinstance(x, mx.array) else np).broadcast_to(
        x[..., :1], x.shape
    ),
    "transposed, every second": lambda x: transposed(x)[..., ::2],
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout_a", LAYOUTS)
@pytest.mark.parametrize("layout_b", LAYOUTS)
def test_layouts(dtype, layout_a, layout_b):
    a, na = values((17, 17), dtype, 1)
    a, na = LAYOUTS[layout_a](a), LAYOUTS[layout_a](na)
    b, nb = values((20, 20), dtype, 2)
    b, nb = LAYOUTS[layout_b](b), LAYOUTS[layout_b](nb)
    k = min(a.shape[1], b.shape[0])
    check_product(a[:, :k], b[:k], na[:, :k], nb[:k], dtype)


SIZES = [
    (1, 1, 1),
    (1, 7, 5),
    (5, 7, 1),
    (1, 600, 1),
    (33, 1, 65),
    (2, 3, 4),
    (129, 600, 140),
    (513, 20, 30),
    (16, 16, 1000),
    (1, 1200, 700),
    (700, 1200, 1),
    (3, 5000, 2),
    (20, 30011, 9),
    (1, 600000, 1),
    (2, 300007, 1),
]


# Around the edges of tiles (6 or 8 rows, up to 48 columns), of groups of rows (16, 24, 64, 96) and
# of blocks of the inner axis (256, 512, 1024).
EDGES = [
    (2, 2, 2),
    (6, 1, 16),
    (7, 2, 17),
    (8, 3, 31),
    (9, 15, 32),
    (15, 16, 47),
    (16, 17, 48),
    (17, 31, 49),
    (23, 32, 63),
    (25, 33, 64),
    (63, 65, 95),
    (65, 127, 96),
    (97, 64, 97),
    (3, 511, 50),
    (4, 512, 16),
    (5, 513, 33),
    (19, 1023, 70),
    (130, 1025, 200),
    (300, 130, 20),
    (20, 130, 300),
    (70, 2100, 600),
    (3, 700, 333),
    (16, 100, 1000),
    (1000, 100, 16),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", SIZES + EDGES, ids=str)
@pytest.mark.parametrize("order", ["nn", "nt", "tn", "tt"])
def test_sizes(dtype, size, order):
    m, k, n = size
    a, na = values((m, k) if order[0] == "n" else (k, m), dtype, 3)
    b, nb = values((k, n) if order[1] == "n" else (n, k), dtype, 4)
    if order[0] == "t":
        a, na = transposed(a), transposed(na)
    if order[1] == "t":
        b, nb = transposed(b), transposed(nb)
    check_product(a, b, na, nb, dtype)


BATCHES = [
    ((3, 4, 5), (5, 6)),
    ((4, 5), (3, 5, 6)),
    ((3, 4, 5), (3, 5, 6)),
    ((1, 4, 5), (3, 5, 6)),
    ((2, 1, 4, 5), (3, 5, 6)),
    ((2, 3, 4, 5), (2, 1, 5, 6)),
    ((2, 3, 1, 5), (5, 6)),
    ((2, 3, 4, 5), (1, 1, 5, 1)),
    ((0, 4, 5), (5, 6)),
    ((2, 0, 5), (2, 5, 6)),
    ((2, 4, 0), (2, 0, 6)),
    ((2, 4, 5), (2, 5, 0)),
    ((5,), (5, 6)),
    ((4, 5), (5,)),
    ((5,), (5,)),
    ((0,), (0,)),
    ((5,), (2, 3, 5, 6)),
    ((2, 3, 4, 5), (5,)),
    ((3, 1, 700), (3, 700, 90)),
    ((3, 90, 700), (3, 700, 1)),
    ((4, 2, 1, 64), (4, 1, 64, 33)),
    ((5, 1, 8, 40), (1, 6, 40, 16)),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shapes", BATCHES, ids=str)
def test_batches(dtype, shapes):
    a, na = values(shapes[0], dtype, 5)
    b, nb = values(shapes[1], dtype, 6)
    check_product(a, b, na, nb, dtype)


@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16], ids=str)
def test_batches_with_strides(dtype):
    a, na = values((5, 3, 4, 6), dtype, 7)
    b, nb = values((3, 6, 5, 7), dtype, 8)
    # Heads between positions and features, as attention has them.
    check_product(
        mx.transpose(a, (1, 0, 2, 3)),
        mx.transpose(b, (0, 2, 1, 3)),
        na.transpose(1, 0, 2, 3),
        nb.transpose(0, 2, 1, 3),
        dtype,
    )
    check_product(a[::-1, :, ::2], b[:, :, 0], na[::-1, :, ::2], nb[:, :, 0], dtype)
    check_product(a[:, 0], b[0, :, 0], na[:, 0], nb[0, :, 0], dtype)
    # One matrix or one row for a whole batch.
    row, rows = mx.broadcast_to(a[:1, 0, :1], (5, 1, 6)), np.broadcast_to(na[:1, 0, :1], (5, 1, 6))
    check_product(row, b[0, :, 0], rows, nb[0, :, 0], dtype)
    one, ones = mx.broadcast_to(b[:1, :, 0], (3, 6, 7)), np.broadcast_to(nb[:1, :, 0], (3, 6, 7))
    check_product(a, one, na, ones, dtype)
    check_product(a[0, :, ::-1], one, na[0, :, ::-1], ones, dtype)
    check_product(a, mx.broadcast_to(one, (5, 3, 6, 7)), na, ones, dtype)


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16], ids=str)
def test_half_products_round_the_float32_sum_once(dtype):
    half_unit = {mx.float16: 2.0**-11, mx.bfloat16: 2.0**-8}[dtype]
    for m, k, n in [(33, 700, 50), (64, 1500, 130), (5, 64, 90)]:
        a, na = values((m, k), dtype, 1)
        b, nb = values((n, k), dtype, 2)
        want, scale = na @ nb.T, np.abs(na) @ np.abs(nb.T)
        error = np.abs(exact(a @ b.T) - want)
        assert (error <= half_unit * np.abs(want) + (k + 2) * 2.0**-24 * scale).all()


def test_subnormal_bfloat16_counts_as_itself_or_as_zero():
    # The CPU's instruction for products of bfloat16 takes it for zero (docs/accuracy.md).
    a = mx.full((20, 40), 2.0**-128, dtype=mx.bfloat16)
    got = exact(a @ mx.full((40, 20), 2.0**100, dtype=mx.bfloat16))
    assert ((got == 0) | (got == 40 * 2.0**-28)).all()


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16], ids=str)
@pytest.mark.parametrize("order", ["nn", "nt", "tn", "tt"])
def test_nothing_beside_the_operands_enters_the_product(dtype, order):
    # Views of arrays full of NaN: rows, columns and terms beyond the edge are not read.
    m, k, n = 19, 37, 53

    def inside(shape, seed, flip):
        x, nx = values(shape, dtype, seed)
        rows, columns = shape[::-1] if flip else shape
        frame = mx.full((rows + 80, columns + 80), float("nan"), dtype=dtype)
        frame[40 : 40 + rows, 40 : 40 + columns] = x.T if flip else x
        view = frame[40 : 40 + rows, 40 : 40 + columns]
        return view.T if flip else view, nx

    a, na = inside((m, k), 1, order[0] == "t")
    b, nb = inside((k, n), 2, order[1] == "t")
    check_product(a, b, na, nb, dtype)


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16], ids=str)
def test_infinities_stay_in_their_row_and_column_of_a_large_product(dtype):
    a, na = values((40, 100), dtype, 1)
    b, nb = values((100, 70), dtype, 2)
    a[39, 99] = float("inf")
    b[3, 69] = float("nan")
    got = exact(a @ b)
    assert np.isinf(got[39, :69]).all() and np.isnan(got[:, 69]).all()
    check((a @ b)[:39, :69], na[:39] @ nb[:, :69], np.abs(na[:39]) @ np.abs(nb[:, :69]), dtype)


def test_many_small_products():
    a, na = values((700, 3, 4), mx.float32, 9)
    b, nb = values((700, 4, 2), mx.float32, 10)
    check_product(a, b, na, nb, mx.float32)


def test_promotion():
    half, brain, single = (mx.ones((2, 2), dtype=t) for t in (mx.float16, mx.bfloat16, mx.float32))
    integer = mx.ones((2, 2), dtype=mx.int32)
    assert (half @ brain).dtype == mx.float32
    assert (half @ integer).dtype == mx.float16
    assert (single @ mx.ones((2, 2), dtype=mx.complex64)).dtype == mx.complex64


def test_half_products_accumulate_in_float32():
    # 4096 ones sum exactly; in 16 bits the sum would stop growing at 2048 or 256.
    for dtype in (mx.float16, mx.bfloat16):
        ones = mx.ones((1, 4096), dtype=dtype)
        assert (ones @ ones.T).item() == 4096
        assert mx.matmul(ones, ones[0]).item() == 4096
    # Terms beyond float16's range may cancel.
    a = mx.array([[300.0, 300.0, 1.0]], dtype=mx.float16)
    b = mx.array([[300.0], [-300.0], [1.0]], dtype=mx.float16)
    assert (a @ b).item() == 1


def test_infinities_and_nan_stay_in_their_row():
    a = mx.array([[1.0, float("inf")], [1.0, 2.0], [float("nan"), 0.0]])
    b = mx.array([[1.0, 1.0], [1.0, 3.0]])
    got = np.array(a @ b)
    assert np.isinf(got[0]).all() and np.isnan(got[2]).all()
    np.testing.assert_array_equal(got[1], [3, 7])


ADDENDS = [
    ((4, 5), (5, 6), (4, 6)),
    ((4, 5), (5, 6), (6,)),
    ((4, 5), (5, 6), (4, 1)),
    ((4, 5), (5, 6), ()),
    ((4, 5), (5, 6), (1, 1)),
    ((3, 4, 5), (5, 6), (6,)),
    ((3, 4, 5), (5, 6), (3, 1, 6)),
    ((3, 4, 5), (3, 5, 6), (4, 6)),
    ((5,), (5, 6), (6,)),
    ((5,), (5, 6), ()),
    ((4, 5), (5,), (4,)),
    ((3, 4, 5), (5,), (4,)),
    ((3, 4, 5), (5,), (3, 1)),
    ((5,), (3, 5, 6), (3, 1)),
    ((5,), (5,), ()),
    ((4, 0), (0, 6), (6,)),
    ((300, 70), (70, 400), (300, 400)),
    ((8, 20001), (20001, 7), (7,)),
    ((70, 1100), (1100, 130), (70, 130)),
    ((5, 1100), (1100, 130), (130,)),
    ((130, 1100), (1100, 5), (130, 1)),
    ((1, 9000), (9000, 130), (130,)),
    ((130, 9000), (9000, 1), (130, 1)),
    ((2, 1, 600), (2, 600, 24), (2, 1, 24)),
    ((64, 32), (32, 48), (48,)),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shapes", ADDENDS, ids=str)
@pytest.mark.parametrize("factors", [(1.0, 1.0), (0.5, -2.0), (1.0, 0.0), (0.0, 1.0)], ids=str)
def test_addmm(dtype, shapes, factors):
    alpha, beta = factors
    a, na = values(shapes[0], dtype, 11)
    b, nb = values(shapes[1], dtype, 12)
    c, nc = values(shapes[2], dtype, 13)
    want = alpha * (na @ nb) + beta * nc
    scale = abs(alpha) * (np.abs(na) @ np.abs(nb)) + abs(beta) * np.abs(nc)
    check(mx.addmm(c, a, b, alpha, beta), np.asarray(want), scale, dtype)


def test_addmm_with_strided_addend_and_reused_memory():
    a, na = values((6, 5), mx.float32, 14)
    b, nb = values((5, 8), mx.float32, 15)
    c, nc = values((8, 6), mx.float32, 16)
    check(mx.addmm(c.T, a, b), nc.T + na @ nb, 100, mx.float32)
    check(mx.addmm(c[::-1].T, a, b), nc[::-1].T + na @ nb, 100, mx.float32)
    # The addend is nobody else's: the sum may take its place.
    for _ in range(3):
        check(mx.addmm(c.T + 1.0, a, b, beta=2.0), 2 * (nc.T + 1) + na @ nb, 100, mx.float32)
    square, ns = values((7, 7), mx.float32, 17)
    check(mx.addmm(square, square, square), ns + ns @ ns, 100, mx.float32)


def test_addmm_leaves_out_terms_of_factor_zero():
    nan = mx.full((2, 2), float("nan"))
    ones = mx.ones((2, 2))
    assert mx.addmm(nan, ones, ones, beta=0.0).tolist() == [[2, 2], [2, 2]]
    assert mx.addmm(ones, nan, ones, alpha=0.0).tolist() == [[1, 1], [1, 1]]


def test_operators():
    a, na = values((3, 4), mx.float32, 18)
    b, nb = values((4, 4), mx.float32, 19)
    check(a @ b, na @ nb, 100, mx.float32)
    alias, before = a, a
    a @= b
    assert a is alias and before is a
    check(a, na @ nb, 100, mx.float32)
    with pytest.raises(TypeError):
        a @ 2.0


def test_contractions():
    a, na = values((3, 4, 5), mx.float32, 20)
    b, nb = values((4, 5, 6), mx.float32, 21)
    check(mx.tensordot(a, b), np.tensordot(na, nb), 1000, mx.float32)
    check(mx.tensordot(a, b[0], 1), np.tensordot(na, nb[0], 1), 1000, mx.float32)
    check(mx.tensordot(a, b[0], 0), np.tensordot(na, nb[0], 0), 1000, mx.float32)
    for axes in ([[1, 2], [0, 1]], [[2, 1], [1, 0]], [[-1], [1]], [[1], [0]]):
        check(mx.tensordot(a, b, axes), np.tensordot(na, nb, axes), 1000, mx.float32)
    check(mx.inner(a, b[0].T), np.inner(na, nb[0].T), 1000, mx.float32)
    check(mx.outer(a, b[0]), np.outer(na, nb[0]), 1000, mx.float32)
    check(mx.vecdot(a, a[:1]), np.vecdot(na, na[:1]), 1000, mx.float32)
    check(mx.vecdot(a, a, axis=1), np.vecdot(na, na, axis=1), 1000, mx.float32)
    z, nz = values((4, 3), mx.complex64, 22)
    w, nw = values((4, 3), mx.complex64, 23)
    check(mx.vecdot(z, w, axis=0), (nz.conj() * nw).sum(0), 1000, mx.complex64)
    assert mx.inner(mx.array(2.0), mx.array([1.0, 3.0])).tolist() == [2, 6]
    assert mx.outer(mx.array([1, 2]), mx.array([3, 4])).tolist() == [[3, 4], [6, 8]]
    assert mx.vecdot(mx.array([1, 2]), mx.array([3, 4])).dtype == mx.int32


ERRORS = [
    (lambda: mx.matmul(mx.array(1.0), mx.ones((2,))), "matmul"),
    (lambda: mx.matmul(mx.ones((2, 3)), mx.ones((2, 3))), r"matmul.*\(2, 3\)"),
    (lambda: mx.matmul(mx.ones((2, 3)), mx.ones((2,))), "matmul"),
    (lambda: mx.matmul(mx.ones((2, 2, 3)), mx.ones((3, 3, 2))), "matmul"),
    (lambda: mx.matmul(mx.ones((2, 2), dtype=mx.int32), mx.ones((2, 2), dtype=mx.int8)), "int32"),
    (lambda: mx.matmul(mx.ones((2, 2), dtype=mx.bool_), mx.ones((2, 2), dtype=mx.bool_)), "bool"),
    (lambda: mx.addmm(mx.ones((3,)), mx.ones((2, 2)), mx.ones((2, 2))), "addmm"),
    (lambda: mx.addmm(mx.ones((5, 2, 2)), mx.ones((2, 2)), mx.ones((2, 2))), "addmm"),
    (lambda: mx.addmm(mx.ones((3, 1)), mx.ones((2,)), mx.ones((2, 3))), "addmm"),
    (lambda: mx.addmm(*[mx.ones((2, 2), dtype=mx.int32)] * 3), "addmm"),
    (lambda: mx.tensordot(mx.ones((2, 3)), mx.ones((2, 3)), 1), "tensordot"),
    (lambda: mx.tensordot(mx.ones((2, 3)), mx.ones((3, 4)), 3), "tensordot"),
    (lambda: mx.tensordot(mx.ones((2, 3)), mx.ones((3, 4)), -1), "tensordot"),
    (lambda: mx.tensordot(mx.ones((2, 3)), mx.ones((3, 4)), [[1], [0, 1]]), "tensordot"),
    (lambda: mx.tensordot(mx.ones((2, 3)), mx.ones((3, 4)), [[1]]), "tensordot"),
    (lambda: mx.tensordot(mx.ones((2, 2)), mx.ones((2, 2)), [[0, 0], [0, 1]]), "tensordot"),
    (lambda: mx.tensordot(mx.ones((2, 3)), mx.ones((3, 4)), [[5], [0]]), "tensordot"),
    (lambda: mx.inner(mx.ones((2, 3)), mx.ones((4, 2))), "inner"),
    (lambda: mx.vecdot(mx.array(1.0), mx.ones((2,))), "vecdot"),
    (lambda: mx.vecdot(mx.ones((2, 3)), mx.ones((3, 3)), axis=0), "vecdot"),
]


@pytest.mark.parametrize("call, text", ERRORS)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()


# Derivatives. Functions of all-float64 inputs, compared with central differences of NumPy.
DIFFERENTIATED = [
    ((3, 4), (4, 5)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (3, 4, 2)),
    ((1, 3, 4), (2, 4, 5)),
    ((4,), (4, 5)),
    ((2, 3, 4), (4,)),
    ((4,), (4,)),
]


def directional(f, xs, ds, h=1e-6):
    up = f(*[x + h * d for x, d in zip(xs, ds)])
    down = f(*[x - h * d for x, d in zip(xs, ds)])
    return (up - down) / (2 * h)


def check_derivatives(f, numpy_f, inputs):
    """jvp against differences, vjp against jvp: <ct, J d> = Re <Jᴴ ct, d>."""
    rng = np.random.default_rng(0)

    def direction(x):
        d = rng.standard_normal(x.shape)
        if x.dtype.kind == "c":
            return (d + 1j * rng.standard_normal(x.shape)).astype(np.complex64)
        return d

    kind = mx.complex64 if inputs[0].dtype.kind == "c" else mx.float64
    tol = 2e-5 if kind == mx.complex64 else 1e-7
    xs = [mx.array(x, dtype=kind) for x in inputs]
    ds = [direction(x) for x in inputs]
    (out,), (jd,) = mx.jvp(lambda *a: f(*a), xs, [mx.array(d, dtype=kind) for d in ds])
    wide = [x.astype(np.complex128 if kind == mx.complex64 else np.float64) for x in inputs]
    want = directional(numpy_f, wide, ds)
    np.testing.assert_allclose(exact(jd), want, rtol=tol, atol=tol * 10)
    ct = direction(np.asarray(exact(out)).astype(inputs[0].dtype))
    _, grads = mx.vjp(lambda *a: f(*a), xs, [mx.array(ct, dtype=kind)])
    left = (np.conj(ct) * want).sum().real
    right = sum((np.conj(exact(g)) * d).sum().real for g, d in zip(grads, ds))
    np.testing.assert_allclose(right, left, rtol=tol, atol=tol * 10)
    for g, x in zip(grads, xs):
        assert g.shape == x.shape and g.dtype == x.dtype


@pytest.mark.parametrize("complex_values", [False, True])
@pytest.mark.parametrize("shapes", DIFFERENTIATED, ids=str)
def test_derivatives(shapes, complex_values):
    kind = mx.complex64 if complex_values else mx.float64
    xs = [np.array(values(s, kind, i)[0]) for i, s in enumerate(shapes)]
    check_derivatives(mx.matmul, np.matmul, xs)


@pytest.mark.parametrize("complex_values", [False, True])
@pytest.mark.parametrize("shapes", [s for s in DIFFERENTIATED if min(map(len, s)) > 1], ids=str)
@pytest.mark.parametrize("sides", ["a", "b", "ab", "moved"])
def test_derivatives_of_transposed_factors(shapes, sides, complex_values):
    kind = mx.complex64 if complex_values else mx.float64
    xs = [np.array(values(s, kind, i)[0]) for i, s in enumerate(shapes)]
    if sides == "moved":  # (…, k, n) stored as (k, …, n), rows innermost
        xs = [np.moveaxis(x, -2, 0) for x in xs]
        check_derivatives(
            lambda a, b: mx.matmul(mx.moveaxis(a, 0, -2), mx.moveaxis(b, 0, -2)),
            lambda a, b: np.matmul(np.moveaxis(a, 0, -2), np.moveaxis(b, 0, -2)),
            xs,
        )
        return
    a, b = (transposed(x) if name in sides else x for name, x in zip("ab", xs))

    def product(multiply):
        return lambda a, b: multiply(
            transposed(a) if "a" in sides else a, transposed(b) if "b" in sides else b
        )

    check_derivatives(product(mx.matmul), product(np.matmul), [a, b])


def test_gradient_of_a_transposed_weight_is_dense():
    x, w = mx.ones((5, 3)), mx.ones((4, 3))
    for f in (lambda w: (x @ w.T).sum(), lambda w: mx.addmm(mx.ones((4,)), x, w.T).sum()):
        g = mx.grad(f)(w)
        assert np.array(g, copy=False).flags.c_contiguous
        assert g.tolist() == [[5.0] * 3] * 4


@pytest.mark.parametrize("complex_values", [False, True])
@pytest.mark.parametrize(
    "shapes", [s for s in ADDENDS if max(s[0]) < 100 and 0 not in s[0]], ids=str
)
def test_addmm_derivatives(shapes, complex_values):
    kind = mx.complex64 if complex_values else mx.float64
    xs = [np.array(values(shapes[i], kind, i)[0]) for i in (2, 0, 1)]
    check_derivatives(
        lambda c, a, b: mx.addmm(c, a, b, 0.5, -2.0), lambda c, a, b: 0.5 * (a @ b) - 2.0 * c, xs
    )


def test_second_derivatives():
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((2, 3, 4)), rng.standard_normal((4, 3))

    def f(x, y):
        return (mx.matmul(x, y) ** 3).sum()

    def slope(x, y):
        return (mx.grad(f, argnums=1)(x, y) ** 2).sum()

    def numpy_slope(x, y):
        g = 3 * (x @ y) ** 2
        return ((np.swapaxes(x, -1, -2) @ g).sum(0) ** 2).sum()

    ga, gb = mx.grad(slope, argnums=[0, 1])(
        mx.array(a, dtype=mx.float64), mx.array(b, dtype=mx.float64)
    )
    da, db = rng.standard_normal(a.shape), rng.standard_normal(b.shape)
    want = directional(numpy_slope, [a, b], [da, db])
    got = (exact(ga) * da).sum() + (exact(gb) * db).sum()
    np.testing.assert_allclose(got, want, rtol=1e-5)


LANES = [
    ((3, 4, 5), 0, (3, 5, 6), 0),
    ((3, 4, 5), 0, (5, 6), None),
    ((4, 5), None, (3, 5, 6), 0),
    ((4, 5, 3), 2, (5, 3, 6), 1),
    ((3, 2, 4, 5), 0, (3, 5, 6), 0),
    ((3, 4, 5), 0, (3, 2, 5, 6), 0),
    ((2, 4, 3, 5), 2, (5, 6), None),
    ((4, 5), None, (2, 5, 6, 3), -1),
    ((3, 5), 0, (3, 5), 0),
    ((3, 5), 0, (5, 6), None),
]


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_vmap(lanes):
    shape_a, axis_a, shape_b, axis_b = lanes
    a, na = values(shape_a, mx.float32, 1)
    b, nb = values(shape_b, mx.float32, 2)
    got = mx.vmap(mx.matmul, in_axes=(axis_a, axis_b))(a, b)

    def lane(x, axis, i):
        return x if axis is None else np.take(x, i, axis)

    want = np.stack([lane(na, axis_a, i) @ lane(nb, axis_b, i) for i in range(3)])
    check(got, want, 100, mx.float32)


@pytest.mark.parametrize(
    "axes", [(0, None, None), (None, 0, None), (0, 0, 0), (None, 0, 0)], ids=str
)
def test_addmm_vmap(axes):
    shapes = [(6,), (2, 4, 5), (5, 6)]
    inputs = [
        values(s if axis is None else (3, *s), mx.float32, i)
        for i, (s, axis) in enumerate(zip(shapes, axes))
    ]
    got = mx.vmap(lambda c, a, b: mx.addmm(c, a, b, 2.0, 3.0), in_axes=axes)(
        *[x for x, _ in inputs]
    )
    want = []
    for i in range(3):
        c, a, b = (x if axis is None else x[i] for (_, x), axis in zip(inputs, axes))
        want.append(3.0 * c + 2.0 * (a @ b))
    check(got, np.stack(want), 100, mx.float32)


THREADS_PROGRAM = """
import sys, numpy as np, mlx.core as mx
r = np.random.default_rng(0)
f = lambda *s: mx.array(r.standard_normal(s).astype(np.float32))
out = [f(300, 700) @ f(700, 400), f(5, 40, 60) @ f(60, 30), f(2000, 900) @ f(900),
       f(900) @ f(900, 3000), f(64, 20000) @ f(20000, 64), f(90, 8, 8) @ f(90, 8, 8),
       f(5, 900) @ f(900, 1003), f(900, 1003).T @ f(900, 5), f(900, 9).T @ f(900, 12),
       f(700, 300).T @ f(700, 400), f(5, 2000) @ f(900, 2000).T, f(300, 700) @ f(400, 700).T,
       mx.addmm(f(500), f(200, 1100), f(500, 1100).T, 0.5, 2.0)]
for t in (mx.float16, mx.bfloat16):
    g = lambda *s: f(*s).astype(t)
    out += [g(300, 700) @ g(700, 300), g(9, 2500) @ g(500, 2500).T, g(700, 300).T @ g(700, 130),
            mx.addmm(g(400), g(200, 1100), g(400, 1100).T, 0.5, 2.0)]
np.savez(sys.argv[1], *[np.array(o.astype(mx.float32)) for o in out])
"""


def test_results_do_not_depend_on_the_number_of_threads(tmp_path):
    results = []
    for threads in ("1", "2", "5"):
        path = tmp_path / f"{threads}.npz"
        subprocess.run(
            [sys.executable, "-c", THREADS_PROGRAM, str(path)],
            check=True,
            env={**os.environ, "MLX_NUM_THREADS": threads},
        )
        results.append(np.load(path))
    for other in results[1:]:
        for name in results[0].files:
            np.testing.assert_array_equal(results[0][name], other[name])


@pytest.mark.skipif(mx.default_device() != mx.cpu, reason="about instructions of the CPU")
def test_every_instruction_set_multiplies():
    # The level that is chosen by itself may have an instruction more than any that can be named.
    message = subprocess.run(
        [sys.executable, "-c", "import mlx.core as mx; mx.eval(mx.array(1.0) + 1)"],
        env={**os.environ, "MLX_CPU_ISA": "none"},
        capture_output=True,
        text=True,
        check=False,
    ).stderr
    levels = message.split("expected one of: ")[1].split(" (")[0].strip().split(", ")
    tests = "test_half_products or test_nothing_beside or test_infinities or 1100"
    for level in levels:
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
            + [__file__, "-k", tests],
            env={**os.environ, "MLX_CPU_ISA": level},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, (level, result.stdout[-2000:])
