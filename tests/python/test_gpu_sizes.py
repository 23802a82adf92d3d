"""Sizes beyond 2^31 elements and 65,535 blocks on a GPU: every family and way of indexing."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

GPU = mx.cuda.is_available()
needs_gpu = pytest.mark.skipif(not GPU, reason="there is no GPU")


def on(device, f, *args):
    with mx.stream(device):
        return f(*args)


ROWS, COLUMNS = (1 << 23) + 77, 256  # 2^31 + 19,712 elements
EDGES = [0, 1, 4095, (1 << 22) - 1, (1 << 22), (1 << 23) - 1, 1 << 23, ROWS - 2, ROWS - 1]

needs_big_gpu = pytest.mark.skipif(
    not GPU or mx.device_info(mx.gpu)["memory_size"] < 24 << 30,
    reason="there is no GPU with 24 GiB of memory",
)


@pytest.fixture
def on_gpu():
    with mx.stream(mx.gpu):
        yield
    mx.clear_cache()


def pattern():
    """uint8 of (ROWS, COLUMNS): 7 i + 3 j modulo 256, made by a broadcast sum."""
    i = (mx.arange(ROWS, dtype=mx.uint32) * 7).astype(mx.uint8)
    j = (mx.arange(COLUMNS, dtype=mx.uint32) * 3).astype(mx.uint8)
    return i[:, None] + j[None, :]


def expected(i, j):
    return ((7 * np.asarray(i, np.int64) + 3 * np.asarray(j, np.int64)) % 256).astype(np.uint8)


def read(x):
    """The values of a small view of a big array, which itself is not read."""
    zero = False if x.dtype == mx.bool_ else mx.array(0, x.dtype)
    return np.array(x | zero if not mx.issubdtype(x.dtype, mx.floating) else x + zero)


def check_rows(x, f, rows=ROWS, columns=COLUMNS):
    """Rows at the edges of 2^30, 2^31 and the end, and some of all."""
    assert x.shape == (rows, columns)
    j = np.arange(columns)
    for i in [i for i in EDGES if i < rows] + [rows - 1]:
        np.testing.assert_array_equal(read(x[i]), f(i, j))
    step = 65521
    i = np.arange(1, rows, step)
    np.testing.assert_array_equal(read(x[1::step]), f(i[:, None], j[None, :]))


@needs_big_gpu
@pytest.mark.usefixtures("on_gpu")
class TestBig:
    def test_broadcast(self):
        check_rows(pattern(), expected)

    def test_dense(self):
        p = pattern()
        mx.eval(p)
        check_rows(p ^ mx.array(0x5A, mx.uint8), lambda i, j: expected(i, j) ^ 0x5A)
        check_rows(p + p, lambda i, j: expected(i, j) * np.uint8(2))

    def test_reversed(self):
        p = pattern()
        q = p[::-1, ::-1] + mx.array(1, mx.uint8)
        check_rows(q, lambda i, j: expected(ROWS - 1 - i, COLUMNS - 1 - j) + np.uint8(1))

    def test_strided(self):
        q = mx.contiguous(pattern()[1::2, 1:])
        check_rows(q, lambda i, j: expected(2 * i + 1, j + 1), ROWS // 2, COLUMNS - 1)

    def test_transposed(self):
        t = mx.contiguous(pattern().T)
        assert t.shape == (COLUMNS, ROWS)
        for i in EDGES:
            np.testing.assert_array_equal(read(t[:, i]), expected(i, np.arange(COLUMNS)))
        back = mx.contiguous(t.T)
        del t
        check_rows(back, expected)

    @pytest.mark.parametrize("axis", [0, 1])
    def test_concatenate(self, axis):
        p = pattern()
        half = (ROWS, COLUMNS)[axis] // 2 - 3
        cut = [p[:half], p[half:]] if axis == 0 else [p[:, :half], p[:, half:]]
        check_rows(mx.concatenate(cut, axis), expected)

    def test_slices(self):
        flat = pattern().reshape(-1)
        for start in (0, (1 << 31) - 100, 1 << 31, ROWS * COLUMNS - 200):
            at = np.arange(start, start + 200)
            got = read(flat[start : start + 200])
            np.testing.assert_array_equal(got, expected(at // COLUMNS, at % COLUMNS)[: len(got)])
        assert int(flat[-1].item()) == expected(ROWS - 1, COLUMNS - 1)

    def test_slice_update(self):
        p = pattern()
        p[-3:] = 9
        p[:, 7] = 5

        def want(i, j):
            return np.where(j == 7, 5, np.where(i >= ROWS - 3, 9, expected(i, j)))

        check_rows(p, want)

    def test_arange(self):
        n = (1 << 31) - 1  # longer ranges are refused
        x = mx.arange(n, dtype=mx.uint32)
        for start in (0, (1 << 30) - 50, n - 100):
            np.testing.assert_array_equal(
                read(x[start : start + 100]), np.arange(start, start + 100)
            )
        np.testing.assert_array_equal(read(x[5::65521]), np.arange(5, n, 65521))

    def test_cast(self):
        p = pattern()
        check_rows(p.astype(mx.bool_), lambda i, j: expected(i, j) != 0)
        check_rows(p.astype(mx.float16), lambda i, j: expected(i, j).astype(np.float16))

    def test_select(self):
        p = pattern()
        chosen = mx.where(p > mx.array(100, mx.uint8), p, mx.array(1, mx.uint8))
        check_rows(chosen, lambda i, j: np.where(expected(i, j) > 100, expected(i, j), 1))

    @pytest.mark.parametrize("dtype", ["int8", "bool_"])
    def test_full(self, dtype):
        n = ROWS * COLUMNS
        x = mx.full((n,), 1, dtype=getattr(mx, dtype)) + mx.zeros((n,), dtype=getattr(mx, dtype))
        assert (read(x[1::65521]) == 1).all() and (read(x[-300:]) == 1).all()

    def test_random_bits(self):
        n = (1 << 31) + 4096
        x = mx.random.randint(0, 1 << 30, (n,), dtype=mx.int32, key=mx.random.key(3))
        head, tail = read(x[:4096]), read(x[-4096:])
        middle = read(x[n // 2 : n // 2 + 4096])
        for part in (head, tail, middle):
            assert 0.45 < (part / (1 << 30)).mean() < 0.55
            assert len(np.unique(part)) > 4000
        assert (head != tail).mean() > 0.99 and (head != middle).mean() > 0.99

    def test_reductions(self):
        p = pattern()
        hits = p == mx.array(7, mx.uint8)
        j = np.arange(COLUMNS)
        kinds = np.arange(256)  # of rows
        hits_of_kind = np.array([(expected(i, j) == 7).sum() for i in kinds])
        rows_of_kind = np.bincount(np.arange(ROWS) % 256)
        assert hits.sum().item() == hits_of_kind @ rows_of_kind
        per_row = hits_of_kind[np.arange(ROWS) % 256]
        np.testing.assert_array_equal(np.array(hits.sum(axis=1)), per_row)
        per_column = [(expected(kinds, c) == 7) @ rows_of_kind for c in j]
        np.testing.assert_array_equal(np.array(hits.sum(axis=0)), per_column)
        assert p.max().item() == 255 and p.min().item() == 0
        assert not hits.all().item() and hits.any().item()

    def test_argument_of_the_last_element(self):
        n = (1 << 31) + 5000
        x = mx.zeros((n,), dtype=mx.uint8)
        x[n - 2] = 1
        assert mx.argmax(x).item() == n - 2

    def test_gather_and_scatter(self):
        flat = pattern().reshape(-1)
        at = np.array([0, (1 << 31) - 1, 1 << 31, (1 << 31) + 5, ROWS * COLUMNS - 1])
        index = mx.array(at.astype(np.uint32))
        want = expected(at // COLUMNS, at % COLUMNS)
        np.testing.assert_array_equal(np.array(mx.take(flat, index)), want)
        flat[index] = mx.array(np.arange(1, 6, dtype=np.uint8))
        np.testing.assert_array_equal(np.array(mx.take(flat, index)), np.arange(1, 6))
        assert int(flat[1].item()) == 3


# Grids of more than 65,535 blocks along an axis that can have no more.
MANY = 70_001
MANY_ROWS = {
    "softmax": (lambda x: mx.softmax(x, axis=-1), 1e-6),
    "softmax over the rows": (lambda x: mx.softmax(x, axis=0), 1e-6),
    "logsumexp": (lambda x: mx.logsumexp(x, axis=-1), 1e-6),
    "sum": (lambda x: mx.sum(x, axis=-1), 1e-6),
    "sum over the rows": (lambda x: mx.sum(x, axis=0), 1e-4),
    "max": (lambda x: mx.max(x, axis=-1), 0),
    "argmax": (lambda x: mx.argmax(x, axis=-1), 0),
    "argmax over the rows": (lambda x: mx.argmax(x, axis=0), 0),
    "sort": (lambda x: mx.sort(x, axis=-1), 0),
    "sort the rows": (lambda x: mx.sort(x, axis=0), 0),
    "argsort": (lambda x: mx.argsort(x, axis=-1), 0),
    "cumsum": (lambda x: mx.cumsum(x, axis=-1), 1e-6),
    "cumsum over the rows": (lambda x: mx.cumsum(x, axis=0), 1e-4),
    "matmul": (lambda x: x.reshape(-1, 4, 4) @ x.reshape(-1, 4, 4), 1e-6),
    "gemv": (lambda x: x @ mx.arange(16, dtype=mx.float32), 1e-5),
    "transpose": (lambda x: mx.contiguous(mx.swapaxes(x.reshape(-1, 8, 2), 1, 2)), 0),
    "transpose all": (lambda x: mx.contiguous(x.T), 0),
    "take": (lambda x: mx.take(x, mx.arange(MANY - 1, -1, -1), axis=0), 0),
    "take_along_axis": (lambda x: mx.take_along_axis(x, mx.argsort(x, -1), axis=-1), 0),
    "scatter": (lambda x: x.at[mx.arange(0, MANY, 2)].add(1.0), 0),
    "concatenate": (lambda x: mx.concatenate([x[:, :7], x, x[:, 3:]], axis=1), 0),
    "repeat": (lambda x: mx.repeat(x, 3, axis=1), 0),
    "pad": (lambda x: mx.pad(x, [(1, 2), (3, 1)]), 0),
    "where": (lambda x: mx.where(x[:, :1] > 0, x, x[:1]), 0),
    "bernoulli": (lambda x: mx.random.bernoulli(0.5, x.shape, key=mx.random.key(1)), 0),
    "uniform": (lambda x: mx.random.uniform(shape=x.shape, key=mx.random.key(1)), 0),
}


@needs_gpu
@pytest.mark.parametrize("name", MANY_ROWS)
def test_many_rows(name):
    f, tolerance = MANY_ROWS[name]
    x = np.random.default_rng(0).standard_normal((MANY, 16)).astype(np.float32)
    got, want = (np.array(on(d, f, mx.array(x))) for d in (mx.gpu, mx.cpu))
    assert got.dtype == want.dtype and got.shape == want.shape
    if tolerance:
        scale = np.abs(want).max()
        np.testing.assert_allclose(got, want, rtol=10 * tolerance, atol=tolerance * scale)
    else:
        np.testing.assert_array_equal(got, want)
