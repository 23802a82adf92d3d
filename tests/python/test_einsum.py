"""einsum, einsum_path and kron against NumPy."""

from __future__ import annotations

import itertools

import mlx.core as mx
import numpy as np
import pytest
from table import EPSILON, generator, numpy_dtype, to_mx, to_numpy, widened

# subscripts and the shapes of the operands
CASES = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("ba", (2, 3)),
    ("ij->", (2, 3)),
    ("ij->j", (2, 3)),
    ("ij->ij", (2, 3)),
    ("ii", (4, 4)),
    ("ii->i", (4, 4)),
    ("iij->ij", (3, 3, 2)),
    ("iji->j", (3, 2, 3)),
    ("iiii->i", (2, 2, 2, 2)),
    ("ijij->ji", (2, 3, 2, 3)),
    ("", ()),
    (",->", (), ()),
    ("i,->i", (3,), ()),
    ("i,i", (3,), (3,)),
    ("i,i->i", (3,), (3,)),
    ("i,j->ij", (3,), (4,)),
    ("i,j->ji", (3,), (4,)),
    ("i,j->", (3,), (4,)),
    ("ij,j->i", (2, 3), (3,)),
    ("j,ij->i", (3,), (2, 3)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("bij,bjk->ikb", (5, 2, 3), (5, 3, 4)),
    ("ibj,jbk->bki", (2, 5, 3), (3, 5, 4)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("bhqk,bkhd->bqhd", (2, 3, 4, 6), (2, 6, 3, 5)),
    ("ijk,jkl->il", (2, 3, 4), (3, 4, 5)),
    ("ijk,kjl->il", (2, 3, 4), (4, 3, 5)),
    ("ijk,ilm->jklm", (2, 3, 4), (2, 5, 2)),
    ("ij,kl->il", (2, 3), (4, 5)),
    ("ab,b,a->", (3, 4), (4,), (3,)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("ij,jk,kl,lm->im", (9, 3), (3, 8), (8, 2), (2, 7)),
    ("ea,fb,abcd,gc,hd->efgh", (3, 4), (3, 4), (4, 4, 4, 4), (3, 4), (3, 4)),
    ("a,ab,abc->abc", (2,), (2, 3), (2, 3, 4)),
    ("i,j,k->ijk", (2,), (3,), (4,)),
    ("ij,ij,ij->j", (3, 2), (3, 2), (3, 2)),
    ("...ij,...jk->...ik", (5, 2, 3), (5, 3, 4)),
    ("...ij,...jk", (5, 2, 3), (3, 4)),
    ("...ij,...jk->...ik", (6, 1, 2, 3), (5, 3, 4)),
    ("i...,i...->...", (2, 3, 4), (2, 4)),
    ("i...", (2, 3)),
    ("...i->...", (2, 3)),
    ("...", (2, 3)),
    ("...,...", (2, 3), (3,)),
    ("i...j->j...i", (2, 3, 4)),
    ("ii...->...i", (2, 2, 3)),
    ("...,j->j...", (2, 3), (4,)),
    ("ij,ij", (2, 3), (1, 3)),
    ("ij,ij->j", (2, 1), (1, 3)),
    ("ij,jk->ik", (2, 1), (3, 4)),
    ("ij,jk->ik", (2, 0), (0, 4)),
    ("ij,jk->ik", (0, 3), (3, 4)),
    ("Ab,bC", (2, 3), (3, 4)),
    (" i j , j k -> i k ", (2, 3), (3, 4)),
]


def draw(case, dtype):
    rng = generator("einsum", case, dtype)
    kind = numpy_dtype(dtype).kind
    arrays = []
    for shape in case[1:]:
        x = rng.integers(-3, 4, shape) if kind in "iu" else rng.normal(size=shape)
        if kind == "c":
            x = x + 1j * rng.normal(size=shape)
        arrays.append(np.asarray(x).astype(numpy_dtype(dtype)))
    return arrays


def numpy_einsum(subscripts, *arrays):
    return np.einsum(subscripts, *[widened(x) for x in arrays], optimize=False)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "complex64"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: str(c[0]) + str(c[1:]))
def test_values(case, dtype):
    arrays = draw(case, dtype)
    want = numpy_einsum(case[0], *arrays)
    scale = np.einsum(case[0], *[np.abs(widened(x)) for x in arrays])
    for layout in ("dense", "transposed"):
        operands = [to_mx(x) if layout == "dense" else to_mx(x.T.copy()).T for x in arrays]
        got = mx.einsum(case[0], *operands)
        assert str(got.dtype) == f"mlx.core.{dtype}" and tuple(got.shape) == want.shape
        steps = len(arrays)
        slack = (4 + 4 * steps) * EPSILON[dtype] * scale + 1e-30
        assert (np.abs(widened(to_numpy(got)) - want) <= slack).all()


@pytest.mark.parametrize("case", CASES, ids=lambda c: str(c[0]) + str(c[1:]))
def test_derivatives(case):
    """A sum of products is linear in each operand: tangents and cotangents say all."""
    arrays = draw(case, "float64")
    rng = generator("directions", case)
    tangents = [rng.normal(size=x.shape) for x in arrays]
    want = 0
    for k, t in enumerate(tangents):
        want = want + numpy_einsum(case[0], *arrays[:k], t, *arrays[k + 1 :])
    g = rng.normal(size=np.shape(want))

    def f(*operands):
        return mx.einsum(case[0], *operands)

    primals = [to_mx(x) for x in arrays]
    _, (jvp,) = mx.jvp(f, primals, [to_mx(t) for t in tangents])
    np.testing.assert_allclose(np.array(jvp), want, rtol=1e-10, atol=1e-10)
    _, vjps = mx.vjp(f, primals, [to_mx(np.asarray(g))])
    total = sum((np.array(v) * t).sum() for v, t in zip(vjps, tangents))
    np.testing.assert_allclose(total, (g * want).sum(), rtol=1e-9, atol=1e-9)


def test_vmap():
    a, b = (to_mx(generator("vmap", k).normal(size=(3, 3, 3))) for k in range(2))
    for subscripts in ("ij,jk->ik", "ij,ij->j", "ii,jk->kj", "ij,kl"):
        got = mx.vmap(lambda x, y, s=subscripts: mx.einsum(s, x, y), in_axes=(0, 2))(a, b)
        want = mx.stack([mx.einsum(subscripts, a[i], b[:, :, i]) for i in range(3)])
        np.testing.assert_allclose(np.array(got), np.array(want), rtol=1e-10)


def test_vmap_of_one_operand():
    a = to_mx(generator("vmap").normal(size=(4, 3, 3)))
    b = to_mx(generator("other").normal(size=(3, 5)))
    for subscripts in ("ij,jk->ik", "ij,jk->k", "ii,jk->kj"):
        got = mx.vmap(lambda x, s=subscripts: mx.einsum(s, x, b))(a)
        want = mx.stack([mx.einsum(subscripts, x, b) for x in a])
        np.testing.assert_allclose(np.array(got), np.array(want), rtol=1e-10)


@pytest.mark.parametrize("case", CASES, ids=lambda c: str(c[0]) + str(c[1:]))
def test_paths(case):
    arrays = draw(case, "float64")
    path, text = mx.einsum_path(case[0], *[to_mx(x) for x in arrays])
    assert isinstance(path, list) and all(isinstance(step, tuple) for step in path)
    left = list(range(len(arrays)))
    for step in path:
        assert list(step) == sorted(set(step))
        left = [x for i, x in enumerate(left) if i not in step] + [step]
    assert len(left) == 1
    assert "Complete contraction:" in text and "->" in text
    cost = [int(float(line.split()[-1])) for line in text.splitlines() if "FLOP" in line]
    assert cost[1] <= cost[0]


# subscripts, shapes, path, operations without and with a path
PATHS = [
    ("ij->ji", [(20, 3)], [(0,)], 60, 60),
    ("ij,jk->ik", [(20, 3), (3, 4)], [(0, 1)], 480, 480),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], [(1, 2), (0, 1)], 360, 180),
    ("ij,jk,kl->il", [(10, 100), (100, 5), (5, 50)], [(0, 1), (0, 1)], 750000, 15000),
    ("ij,jk,kl,lm->im", [(9, 3), (3, 8), (8, 2), (2, 7)], [(1, 2), (0, 2), (0, 1)], 12096, 456),
    ("a,b,c,d->", [(2,), (3,), (4,), (5,)], [(2, 3), (0, 1), (0, 1)], 480, 53),
    ("ij,kl,jm,ln->imkn", [(2, 3), (3, 2), (3, 4), (2, 5)], [(0, 2), (0, 1), (0, 1)], 2880, 228),
    (
        "ea,fb,abcd,gc,hd->efgh",
        [(10, 10), (10, 10), (10, 10, 10, 10), (10, 10), (10, 10)],
        [(0, 2), (0, 3), (0, 2), (0, 1)],
        500000000,
        800000,
    ),
]


@pytest.mark.parametrize("subscripts,shapes,want,naive,cost", PATHS)
def test_greedy_paths_and_their_cost(subscripts, shapes, want, naive, cost):
    path, text = mx.einsum_path(subscripts, *[mx.ones(s) for s in shapes])
    assert path == want
    counts = [int(line.split()[-1]) for line in text.splitlines() if "FLOP" in line]
    assert counts == [naive, cost]
    assert subscripts in text


def test_integers():
    a = mx.array([[1, 2], [3, 4]])
    assert mx.einsum("ij->j", a).tolist() == [4, 6]
    assert mx.einsum("ij->", a.astype(mx.int8)).dtype == mx.int32
    assert mx.einsum("ij,kl->ik", a, a).tolist() == [[9, 21], [21, 49]]
    assert mx.einsum("ij,ij->ij", a, a.astype(mx.uint8)).tolist() == [[1, 4], [9, 16]]
    assert mx.einsum("ii->i", a > 1).tolist() == [False, True]
    for subscripts in ("ij,jk->ik", "ij,ij->j", "ij,ji->"):
        with pytest.raises(ValueError, match=r"\[einsum\].*int32"):
            mx.einsum(subscripts, a, a)
    assert mx.einsum("ij,jk->ik", a, a.astype(mx.float16)).dtype == mx.float16


@pytest.mark.parametrize(
    "subscripts,shapes,text",
    [
        ("ij,jk->ik", [(2, 3)], "2 operands, got 1"),
        ("ij", [], "got 0"),
        ("ij", [(2, 3), (3,)], "1 operands, got 2"),
        ("ij", [(2,)], r"shape \(2,\)"),
        ("ij", [(2, 3, 4)], r"shape \(2, 3, 4\)"),
        ("ijk...->...", [(2, 3)], "ijk"),
        ("ij->ijk", [(2, 2)], "'k'"),
        ("ij->jj", [(2, 2)], "twice"),
        ("ij,kl->i!", [(2, 2), (2, 2)], "i!"),
        ("i1", [(2, 2)], "i1"),
        ("i..j", [(2, 3)], r"i\.\.j"),
        ("......", [(2, 3)], "at most one"),
        ("ij->ij->", [(2, 3)], "->"),
        ("ij-ij", [(2, 3)], "ij-ij"),
        ("ij,jk->ik", [(2, 3), (4, 2)], "size 4.*3"),
        ("ii->i", [(2, 3)], "equal sizes"),
        ("ii->i", [(1, 3)], "equal sizes"),
        ("...i,...j", [(2, 3), (4, 3)], "size 4"),
    ],
)
def test_errors(subscripts, shapes, text):
    operands = [mx.ones(s) for s in shapes]
    for f in (mx.einsum, mx.einsum_path):
        with pytest.raises(ValueError, match=rf"\[{f.__name__}\].*{text}"):
            f(subscripts, *operands)
    for bad in ((3, mx.ones((2,))), ("i", 2.0), ("i", [1.0]), ("i", None)):
        with pytest.raises(TypeError):
            mx.einsum(*bad)


def test_letters_of_both_cases():
    letters = "aAbBcC"
    x = np.arange(2.0**6).reshape((2,) * 6)
    for order in itertools.islice(itertools.permutations(letters), 0, 720, 97):
        subscripts = f"{letters}->{''.join(order)}"
        np.testing.assert_array_equal(
            np.array(mx.einsum(subscripts, mx.array(x))), np.einsum(subscripts, x)
        )
    np.testing.assert_array_equal(
        np.array(mx.einsum("bAaB", mx.ones((2, 3, 4, 5)))).shape, (3, 5, 4, 2)
    )


# ---- kron -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex64"])
def test_kron(dtype):
    rng = generator("kron", dtype)
    shapes = [(), (3,), (2, 3), (1, 2, 2), (2, 1, 3)]
    for a, b in itertools.product(shapes, shapes):
        x, y = (rng.integers(0, 4, s).astype(numpy_dtype(dtype)) for s in (a, b))
        want = np.kron(x, y)
        for p, q in ((to_mx(x), to_mx(y)), (to_mx(x.T.copy()).T, to_mx(y.T.copy()).T)):
            got = mx.kron(p, q)
            assert str(got.dtype) == f"mlx.core.{dtype}" and tuple(got.shape) == want.shape
            np.testing.assert_array_equal(to_numpy(got), want)


def test_kron_derivatives_and_errors():
    a, b = mx.array([[1.0, 2.0]]), mx.array([3.0, 4.0])
    w = mx.arange(4, dtype=mx.float32)
    g = mx.grad(lambda a, b: (mx.kron(a, b) * w).sum(), argnums=(0, 1))(a, b)
    assert g[0].tolist() == [[4.0, 18.0]] and g[1].tolist() == [4.0, 7.0]
    got = mx.vmap(lambda x: mx.kron(x, b))(mx.ones((3, 2)))
    assert got.shape == (3, 4)
    for x, y in ((mx.zeros((0,)), b), (b, mx.zeros((2, 0)))):
        with pytest.raises(ValueError, match=r"\[kron\].*0"):
            mx.kron(x, y)
    with pytest.raises(TypeError):
        mx.kron(2, b)
