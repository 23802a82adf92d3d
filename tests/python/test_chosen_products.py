"""gather_mm, segmented_mm and block_masked_mm against loops of NumPy in float64."""

import mlx.core as mx
import numpy as np
import pytest
from mlx.utils import tree_flatten
from test_matmul import check, directional, exact, values

FLOATS = [mx.float32, mx.float64, mx.float16, mx.bfloat16]


def gathered(a, b, left, right):
    """What gather_mm is to give, and the size of its terms."""
    a3, b3 = (x.reshape(int(np.prod(x.shape[:-2])), *x.shape[-2:]) for x in (a, b))
    if left is None:
        left = np.arange(len(a3)).reshape(a.shape[:-2])
    if right is None:
        right = np.arange(len(b3)).reshape(b.shape[:-2])
    left, right = np.broadcast_arrays(left, right)
    shape = (*left.shape, a.shape[-2], b.shape[-1])
    pairs = list(zip(left.ravel(), right.ravel()))
    want = [a3[i] @ b3[j] for i, j in pairs]
    scale = [np.abs(a3[i]) @ np.abs(b3[j]) for i, j in pairs]
    return np.reshape(want, shape), np.reshape(scale, shape)


def index(x):
    return None if x is None else mx.array(x)


GATHERS = [
    ((4, 1, 5), (3, 5, 6), None, [0, 2, 1, 2]),  # rows for experts
    ((1, 5), (3, 5, 6), None, [0, 2]),
    ((4, 1, 5), (3, 5, 6), [0, 1, 2, 3, 0], [2, 2, 2, 1, 1]),  # runs of equal matrices
    ((9, 1, 5), (3, 5, 6), None, [0, 0, 0, 0, 1, 1, 2, 2, 2]),  # sorted, rows in order
    ((9, 1, 5), (3, 5, 6), [8, 6, 4, 2, 0], [1, 1, 1, 1, 1]),
    ((4, 3, 5), (3, 5, 6), [0, 1, 3, 2], [1, 1, 1, 0]),
    ((4, 70, 5), (3, 5, 6), [0, 1, 3, 2], [1, 1, 1, 0]),
    ((2, 2, 3, 5), (3, 2, 5, 6), [[0], [3]], [[5, 0, 1]]),
    ((2, 2, 3, 5), (5, 6), None, None),
    ((2, 3, 5), (2, 5, 6), None, [1, 0]),
    ((2, 3, 5), (5, 6), [1, 0], None),
    ((4, 1, 5), (3, 5, 6), [-1, -4], [-3, 2]),
    ((4, 1, 5), (3, 5, 6), [], []),
    ((4, 1, 5), (3, 5, 6), 2, 1),
    ((4, 1, 0), (3, 0, 6), [1, 2], [0, 0]),
    ((4, 0, 5), (3, 5, 6), [1, 2], [0, 0]),
    ((40, 1, 33), (5, 33, 70), None, [i % 5 for i in range(40)]),
    ((40, 2, 33), (5, 33, 70), None, [i * i % 5 for i in range(40)]),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("case", GATHERS, ids=str)
def test_gather_mm(case, dtype):
    shape_a, shape_b, left, right = case
    a, na = values(shape_a, dtype, 1)
    b, nb = values(shape_b, dtype, 2)
    left, right = (None if x is None else np.array(x, np.int32) for x in (left, right))
    if left is None and right is None:
        check(mx.gather_mm(a, b), na @ nb, np.abs(na) @ np.abs(nb), dtype)
        return
    want, scale = gathered(na, nb, left, right)
    check(mx.gather_mm(a, b, index(left), index(right)), want, scale, dtype)
    check(
        mx.gather_mm(a, b, lhs_indices=index(left), rhs_indices=index(right), sorted_indices=True),
        want,
        scale,
        dtype,
    )
    # The same numbers in another layout.
    wide_a = mx.swapaxes(mx.contiguous(mx.swapaxes(a, -1, -2)), -1, -2)
    wide_b = mx.swapaxes(mx.contiguous(mx.swapaxes(b, -1, -2)), -1, -2)
    check(mx.gather_mm(wide_a, wide_b, index(left), index(right)), want, scale, dtype)
    if a.ndim == 3 and b.ndim == 3 and left is not None:
        got = mx.gather_mm(a[::-1], b[::-1], index(-1 - left), index(-1 - right))
        check(got, want, scale, dtype)


@pytest.mark.parametrize("kind", [mx.uint8, mx.int8, mx.uint32, mx.int64, mx.uint64], ids=str)
def test_gather_mm_takes_all_integer_indices(kind):
    a, na = values((4, 1, 5), mx.float32, 1)
    b, nb = values((3, 5, 6), mx.float32, 2)
    left, right = np.array([[3, 0], [1, 2]]), np.array([0, 2])
    got = mx.gather_mm(a, b, mx.array(left).astype(kind), mx.array(right).astype(kind))
    check(got, *gathered(na, nb, left, right), mx.float32)
    # Indices beyond the end read the last matrix.
    got = mx.gather_mm(a, b, mx.array([100]).astype(kind), mx.array([100]).astype(kind))
    check(got, *gathered(na, nb, np.array([3]), np.array([2])), mx.float32)


def test_gather_mm_promotes():
    half = mx.ones((2, 3, 4), dtype=mx.float16)
    for other in (mx.bfloat16, mx.float32):
        got = mx.gather_mm(half, mx.ones((2, 4, 5), dtype=other), rhs_indices=mx.array([1, 0]))
        assert got.dtype == mx.float32


SEGMENTS = [
    [[0, 3], [3, 10], [4, 4]],
    [[0, 10]],
    [[[0, 1], [1, 9]], [[5, 2], [9, 10]]],
    [2, 7],
    [[-5, 4], [8, 99]],
    np.zeros((0, 2), np.int32),
    [[i, i + 1] for i in range(10)],
]


@pytest.mark.parametrize("dtype", [*FLOATS, mx.complex64], ids=str)
@pytest.mark.parametrize("segments", SEGMENTS, ids=str)
def test_segmented_mm(segments, dtype):
    segments = np.array(segments, np.int32)
    a, na = values((4, 10), dtype, 1)
    b, nb = values((10, 3), dtype, 2)
    ends = np.clip(segments.reshape(-1, 2), 0, 10)
    shape = (*segments.shape[:-1], 4, 3)
    want = np.reshape([na[:, s:e] @ nb[s:e] for s, e in ends], shape)
    scale = np.reshape([np.abs(na[:, s:e]) @ np.abs(nb[s:e]) for s, e in ends], shape)
    check(mx.segmented_mm(a, b, mx.array(segments)), want, scale, dtype)
    wide_a, wide_b = mx.contiguous(a.T).T, mx.contiguous(b.T).T
    check(mx.segmented_mm(wide_a, wide_b, mx.array(segments)), want, scale, dtype)
    if (segments >= 0).all():
        check(mx.segmented_mm(a, b, mx.array(segments).astype(mx.uint8)), want, scale, dtype)


def blocks(mask, block, rows, columns):
    full = np.repeat(np.repeat(mask, block, -2), block, -1)
    return full[..., :rows, :columns]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("block", [32, 64])
@pytest.mark.parametrize("kinds", ["b--", "-b-", "--b", "bbb", "fff", "fbf", "bfb", "-ff", "f--"])
@pytest.mark.parametrize("batch", [(), (2,)], ids=str)
def test_block_masked_mm(batch, kinds, block, dtype):
    m, k, n = 70, 100, 130
    a, na = values((*batch, m, k), dtype, 1)
    b, nb = values((k, n), dtype, 2)
    rng = np.random.default_rng(3)
    masks, wide = [], []
    for kind, (rows, columns), lead in zip(
        kinds, ((m, n), (m, k), (k, n)), (batch, batch, ()), strict=True
    ):
        shape = (*lead, -(-rows // block), -(-columns // block))
        mask = rng.integers(0, 2, shape).astype(bool)
        if kind == "f":
            mask = rng.integers(-2, 3, shape).astype(np.float32)
        masks.append(None if kind == "-" else mx.array(mask))
        wide.append(1.0 if kind == "-" else blocks(mask.astype(np.float64), block, rows, columns))
    want = (na * wide[1]) @ (nb * wide[2]) * wide[0]
    scale = np.abs(na * wide[1]) @ np.abs(nb * wide[2]) * np.abs(wide[0]) * 3
    check(mx.block_masked_mm(a, b, block, *masks), want, scale, dtype)


def test_block_masks_of_bools_select():
    a = mx.ones((64, 64))
    a[:32] = float("nan")
    keep = mx.array([[False, False], [True, True]])
    ones = mx.ones((64, 64))
    got = np.array(mx.block_masked_mm(a, ones, 32, mask_lhs=keep))
    assert (got[:32] == 0).all() and (got[32:] == 64).all()
    got = np.array(mx.block_masked_mm(a, ones, 32, mask_out=keep))
    assert (got[:32] == 0).all() and (got[32:] == 64).all()
    # Beside a mask of numbers it is one of numbers.
    got = np.array(mx.block_masked_mm(a, ones, 32, mask_lhs=keep, mask_rhs=mx.ones((2, 2))))
    assert np.isnan(got[:32]).all() and (got[32:] == 64).all()


ONES = mx.ones((4, 1, 3)), mx.ones((5, 3, 2))
ERRORS = [
    (lambda: mx.gather_mm(*ONES), ValueError, r"matmul.*\(4, 1, 3\)|broadcast"),
    (lambda: mx.gather_mm(*ONES, mx.array([0.5])), ValueError, "gather_mm.*integer"),
    (lambda: mx.gather_mm(*ONES, rhs_indices=mx.array([0, 1])), ValueError, "gather_mm"),
    (lambda: mx.gather_mm(mx.ones((3,)), ONES[1], mx.array([0])), ValueError, "gather_mm"),
    (lambda: mx.gather_mm(ONES[0], mx.ones((5, 4, 2)), mx.array([0])), ValueError, "inner"),
    (lambda: mx.gather_mm(*ONES, mx.array([0, 1]), mx.array([0, 1, 2])), ValueError, "gather_mm"),
    (
        lambda: mx.gather_mm(mx.ones((0, 1, 3)), ONES[1], mx.array([0]), mx.array([0])),
        ValueError,
        "no matrices",
    ),
    (
        lambda: mx.gather_mm(ONES[0].astype(mx.complex64), ONES[1], mx.array([0]), mx.array([0])),
        ValueError,
        "gather_mm.*complex64",
    ),
    (
        lambda: mx.gather_mm(*[x.astype(mx.int32) for x in ONES], mx.array([0]), mx.array([0])),
        ValueError,
        "gather_mm.*int32",
    ),
    (lambda: mx.gather_mm(*ONES, None, None, True), TypeError, "gather_mm"),
    (
        lambda: mx.segmented_mm(mx.ones((2, 10)), mx.ones((10, 3)), mx.array([0, 3, 10])),
        ValueError,
        r"segmented_mm.*\(3,\)",
    ),
    (
        lambda: mx.segmented_mm(mx.ones((2, 2, 10)), mx.ones((10, 3)), mx.array([[0, 3]])),
        ValueError,
        "segmented_mm",
    ),
    (
        lambda: mx.segmented_mm(mx.ones((2, 9)), mx.ones((10, 3)), mx.array([[0, 3]])),
        ValueError,
        "segmented_mm.*9",
    ),
    (
        lambda: mx.segmented_mm(mx.ones((2, 10)), mx.ones((10, 3)), mx.array([[0.0, 3.0]])),
        ValueError,
        "segmented_mm.*integer",
    ),
    (
        lambda: mx.segmented_mm(mx.ones((2, 10)), mx.ones((10, 3)), mx.array(3)),
        ValueError,
        "segmented_mm",
    ),
    (
        lambda: mx.block_masked_mm(
            mx.ones((64, 64)), mx.ones((64, 64)), 16, mask_out=mx.array([[True]])
        ),
        ValueError,
        "block_size.*16",
    ),
    (
        lambda: mx.block_masked_mm(
            mx.ones((64, 64)), mx.ones((64, 64)), 32, mask_lhs=mx.array([[True]])
        ),
        ValueError,
        r"mask_lhs of shape \(…, 2, 2\)",
    ),
    (
        lambda: mx.block_masked_mm(
            mx.ones((64, 64)), mx.ones((64, 64)), 64, mask_rhs=mx.array([[1]])
        ),
        ValueError,
        "int32",
    ),
    (
        lambda: mx.block_masked_mm(mx.ones((64,)), mx.ones((64, 64)), mask_rhs=mx.array([[True]])),
        ValueError,
        "two axes",
    ),
]


@pytest.mark.parametrize("call, kind, text", ERRORS)
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


# Derivatives: (function of two operands, the same in NumPy, shapes).
def segmented(a, b, segments):
    return np.stack([a[:, s:e] @ b[s:e] for s, e in np.clip(segments, 0, a.shape[1])])


RIGHT = np.array([[0, 2, 1], [2, 2, -3]])
LEFT = np.array([1, 0, 1])
STRETCHES = np.array([[0, 3], [2, 7], [5, 5], [6, 20]])
DIFFERENTIABLE = {
    "gather_mm": (
        lambda a, b: mx.gather_mm(a, b, index(LEFT), index(RIGHT)),
        lambda a, b: gathered(a, b, LEFT, RIGHT)[0],
        (2, 3, 4),
        (3, 4, 5),
    ),
    "gather_mm of transposed weights": (
        lambda a, b: mx.gather_mm(a, mx.swapaxes(b, -1, -2), index(LEFT), index(RIGHT)),
        lambda a, b: gathered(a, np.swapaxes(b, -1, -2), LEFT, RIGHT)[0],
        (2, 3, 4),
        (3, 5, 4),
    ),
    "gather_mm of rows": (
        lambda a, b: mx.gather_mm(a, b, None, index(RIGHT)),
        lambda a, b: gathered(a, b, None, RIGHT)[0],
        (2, 3, 1, 4),
        (3, 4, 5),
    ),
    "segmented_mm": (
        lambda a, b: mx.segmented_mm(a, b, index(STRETCHES)),
        lambda a, b: segmented(a, b, STRETCHES),
        (3, 8),
        (8, 2),
    ),
    "block_masked_mm": (
        lambda a, b: mx.block_masked_mm(
            a, b, 32, None, mx.array([[True, False]]), mx.array([[2.0], [1.0]])
        ),
        lambda a, b: (a * (np.arange(40) < 32)) @ (b * np.where(np.arange(40) < 32, 2, 1)[:, None]),
        (2, 40),
        (40, 3),
    ),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives(name):
    f, numpy_f, *shapes = DIFFERENTIABLE[name]
    rng = np.random.default_rng(0)
    xs, ds = ([rng.standard_normal(s) for s in shapes] for _ in range(2))
    mxs, mds = ([mx.array(x, dtype=mx.float64) for x in group] for group in (xs, ds))
    (out,), (jd,) = mx.jvp(f, mxs, mds)
    np.testing.assert_allclose(exact(out), numpy_f(*xs), atol=1e-12)
    want = directional(numpy_f, xs, ds)
    np.testing.assert_allclose(exact(jd), want, atol=1e-7)
    ct = rng.standard_normal(want.shape)
    _, grads = mx.vjp(f, mxs, [mx.array(ct, dtype=mx.float64)])
    right = sum((exact(g) * d).sum() for g, d in zip(grads, ds))
    np.testing.assert_allclose(right, (ct * want).sum(), rtol=1e-7)

    # Second order: the slope of the size of the gradient.
    def steepness(a, b):
        ga, gb = mx.grad(lambda a, b: (f(a, b) ** 2).sum(), argnums=[0, 1])(a, b)
        return (ga**2).sum() + (gb**2).sum()

    slopes = mx.grad(steepness, argnums=[0, 1])(*mxs)
    h = 1e-5
    up, down = (
        steepness(*[mx.array(x + s * d, dtype=mx.float64) for x, d in zip(xs, ds)]).item()
        for s in (h, -h)
    )
    got = sum((exact(g) * d).sum() for g, d in zip(slopes, ds))
    np.testing.assert_allclose(got, (up - down) / (2 * h), rtol=1e-5)


def test_derivatives_of_indices_are_refused():
    a, b = mx.ones((2, 1, 3)), mx.ones((2, 3, 2))

    def f(x):
        return mx.gather_mm(a, b, x.astype(mx.int32), mx.array([0])).sum()

    with pytest.raises(ValueError, match=r"gather_mm.*stop_gradient"):
        mx.grad(f)(mx.array([0.0, 1.0]))


LANES = [(0, None, None, None), (None, 0, None, None), (None, None, 0, None)]
LANES += [(None, None, None, 0), (0, 0, 0, 0), (1, None, None, 0), (None, 1, 1, None)]


@pytest.mark.parametrize("axes", LANES, ids=str)
def test_gather_mm_vmap(axes):
    rng = np.random.default_rng(1)
    full = [(4, 2, 5), (3, 5, 6), (2, 3), (2, 3)]
    inputs = []
    for k, (shape, axis) in enumerate(zip(full, axes)):
        if axis is not None:
            shape = (*shape[:axis], 7, *shape[axis:])
        inputs.append(
            rng.standard_normal(shape) if k < 2 else rng.integers(-3, 3, shape).astype(np.int32)
        )
    got = mx.vmap(mx.gather_mm, in_axes=axes)(
        *[mx.array(x, dtype=mx.float64 if k < 2 else mx.int32) for k, x in enumerate(inputs)]
    )
    want = []
    for lane in range(7):
        parts = [x if axis is None else np.take(x, lane, axis) for x, axis in zip(inputs, axes)]
        want.append(gathered(*parts)[0])
    np.testing.assert_allclose(np.array(got), want, atol=1e-12)


def test_other_vmaps_are_loops():
    a, na = values((3, 4, 10), mx.float64, 1)
    b, nb = values((10, 2), mx.float64, 2)
    segments = mx.array([[0, 3], [2, 9]])
    got = mx.vmap(mx.segmented_mm, in_axes=(0, None, None))(a, b, segments)
    want = [segmented(x, nb, np.array(segments)) for x in na]
    np.testing.assert_allclose(np.array(got), want, atol=1e-12)
    mask = mx.array([[[True]], [[False]], [[True]]])
    got = mx.vmap(lambda a, m: mx.block_masked_mm(a, b, mask_lhs=m))(a, mask)
    np.testing.assert_allclose(np.array(got), (na * np.array(mask)) @ nb, atol=1e-12)


def test_shapeless_functions_follow_sizes():
    def experts(x, w, chosen):
        rows = mx.expand_dims(x, (-2, -3))
        return mx.gather_mm(rows, w.swapaxes(1, 2), rhs_indices=chosen).sum(axis=-3).squeeze(-2)

    def loss(x, w, chosen):
        return (experts(x, w, chosen) ** 2).sum()

    def stretches(a, b, segments):
        return (mx.segmented_mm(a, b, segments) ** 2).sum()

    rng = np.random.default_rng(0)
    slopes = mx.value_and_grad(loss, argnums=[0, 1]), mx.value_and_grad(stretches, argnums=[0, 1])
    compiled = [mx.compile(f, shapeless=True) for f in (experts, *slopes)]
    for tokens, count in ((6, 3), (9, 3), (4, 5)):
        x = mx.array(rng.standard_normal((tokens, 4)), dtype=mx.float64)
        w = mx.array(rng.standard_normal((count, 5, 4)), dtype=mx.float64)
        chosen = mx.array(rng.integers(0, count, (tokens, 2)).astype(np.uint32))
        segments = mx.array(np.array([[0, tokens // 2], [1, tokens]]))
        b = mx.array(rng.standard_normal((tokens, 2)), dtype=mx.float64)
        for got, want in (
            (compiled[0](x, w, chosen), experts(x, w, chosen)),
            (compiled[1](x, w, chosen), slopes[0](x, w, chosen)),
            (compiled[2](x.T, b, segments), slopes[1](x.T, b, segments)),
        ):
            for (_, g), (_, e) in zip(tree_flatten(got), tree_flatten(want)):
                np.testing.assert_allclose(np.array(g), np.array(e), rtol=1e-12, atol=1e-12)


def test_many_rows_for_experts():
    tokens, na = values((500, 1, 64), mx.float32, 1)
    weights, nw = values((8, 96, 64), mx.float32, 2)
    chosen = np.random.default_rng(0).integers(0, 8, (500, 2)).astype(np.uint32)
    rows = np.arange(500)[:, None]
    want, scale = gathered(na, np.swapaxes(nw, 1, 2), rows, chosen)
    got = mx.gather_mm(tokens, weights.swapaxes(1, 2), mx.array(rows), mx.array(chosen))
    check(got, want, scale, mx.float32)

    def loss(w):
        return mx.gather_mm(tokens, w.swapaxes(1, 2), mx.array(rows), mx.array(chosen)).sum()

    want = np.zeros_like(nw)
    for i, expert in np.ndenumerate(chosen):
        want[expert] += na[i[0]]
    np.testing.assert_allclose(np.array(mx.grad(loss)(weights)), want, rtol=1e-4, atol=1e-4)
