"""Tests of layers over sequences: positions, attention, transformers, recurrence."""

import math

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx.utils import tree_flatten, tree_map
from nn_support import assert_close, check, numbers


def f64(a):
    return np.array(a, dtype=np.float64)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# Positions.


def rotated(x, dims, traditional=False, base=10000.0, scale=1.0, offset=0):
    """As products of complex numbers."""
    half = dims // 2
    p = (np.arange(x.shape[-2]) + offset) * scale
    turn = np.exp(1j * p[:, None] * base ** (-np.arange(half) / half))
    first, second = (x[..., 0:dims:2], x[..., 1:dims:2]) if traditional else (
        x[..., :half], x[..., half:dims])  # fmt: skip
    z = (first + 1j * second) * turn
    out = x.copy()
    if traditional:
        out[..., 0:dims:2], out[..., 1:dims:2] = z.real, z.imag
    else:
        out[..., :half], out[..., half:dims] = z.real, z.imag
    return out


@pytest.mark.parametrize("traditional", [False, True])
@pytest.mark.parametrize("dims, offset, scale", [(8, 0, 1.0), (4, 7, 1.0), (8, 3, 0.5)])
def test_rope(traditional, dims, offset, scale):
    layer = nn.RoPE(dims, traditional, base=500.0, scale=scale)
    oracle = lambda x: rotated(x, dims, traditional, 500.0, scale, offset)
    check(lambda x: layer(x, offset=offset), oracle, numbers(2, 2, 5, 8), tol=5e-6)


def test_rope_with_an_offset_for_each_sample():
    x = numbers(2, 3, 5, 8)
    got = nn.RoPE(8)(mx.array(x), offset=mx.array([4, 9]))
    want = np.stack([rotated(f64(x[i]), 8, offset=o) for i, o in enumerate((4, 9))])
    assert_close(got, want, 5e-6)
    assert nn.RoPE(8)(mx.array(x).astype(mx.float16)).dtype == mx.float16


@pytest.mark.parametrize(
    "dims, x",
    [
        (3, mx.zeros((1, 2, 4))),
        (0, mx.zeros((1, 2, 4))),
        (6, mx.zeros((1, 2, 4))),
        (4, mx.zeros((2, 4))),
        (4, mx.zeros((1, 2, 4), mx.int32)),
    ],
)
def test_rope_of_what_does_not_fit(dims, x):
    with pytest.raises(ValueError, match="rope"):
        nn.RoPE(dims)(x)


@pytest.mark.parametrize("cos_first", [False, True])
@pytest.mark.parametrize("full_turns", [False, True])
@pytest.mark.parametrize("dims", [2, 10])
def test_sinusoidal(cos_first, full_turns, dims):
    layer = nn.SinusoidalPositionalEncoding(
        dims, min_freq=0.01, max_freq=2.0, cos_first=cos_first, full_turns=full_turns
    )
    half = dims // 2
    sigmas = np.geomspace(2.0, 0.01, half) if half > 1 else np.array([2.0])
    angles = np.arange(6)[:, None] * sigmas * (2 * math.pi if full_turns else 1)
    parts = [np.sin(angles), np.cos(angles)]
    want = np.concatenate(parts[::-1] if cos_first else parts, -1) * math.sqrt(2 / dims)
    assert_close(layer(mx.arange(6)), want, 2e-5)
    assert layer.parameters() == {}


@pytest.mark.parametrize("dims", [0, 3, -2])
def test_sinusoidal_of_odd_size(dims):
    with pytest.raises(ValueError, match=str(dims)):
        nn.SinusoidalPositionalEncoding(dims)


def test_alibi():
    slopes = nn.ALiBi.create_alibi_slope(6).flatten().tolist()
    assert slopes == [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]
    assert nn.ALiBi.create_alibi_slope(8).flatten().tolist() == [2.0**-i for i in range(1, 9)]
    assert nn.ALiBi.create_alibi_slope(1).tolist() == [[[2**-8]]]
    scores, mask = numbers(2, 2, 3, 5), numbers(3, 5, seed=1)
    distance = abs((np.arange(3) + 2)[:, None] - np.arange(5))
    want = scores - distance * np.array([2**-4, 2**-8])[:, None, None]
    assert_close(nn.ALiBi()(mx.array(scores), offset=2), want)
    got = nn.ALiBi()(mx.array(scores), offset=2, mask=mx.array(mask))
    assert_close(got, want + mask)
    assert nn.ALiBi.create_alibi_matrix(4, 3, 2, offset=2, dtype=mx.float16).dtype == mx.float16


# Attention.


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def multi_head(layer, q, k, v, heads, mask=0.0):
    split = lambda x: x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)
    q = split(q @ f64(layer.query_proj.weight).T)
    k = split(k @ f64(layer.key_proj.weight).T)
    v = split(v @ f64(layer.value_proj.weight).T)
    y = softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]) + mask) @ v
    y = y.swapaxes(1, 2)
    return y.reshape(*y.shape[:2], -1) @ f64(layer.out_proj.weight).T


def test_multi_head_attention():
    layer = nn.MultiHeadAttention(8, 2, 3, 5, 6, value_dims=4, value_output_dims=7)
    k, v, mask = numbers(2, 4, 5, seed=1), numbers(2, 4, 6, seed=2), numbers(5, 4, seed=3)
    for added in (None, mask):
        given = [] if added is None else [mx.array(added)]
        fn = lambda q, given=given: layer(q, mx.array(k), mx.array(v), *given)
        oracle = lambda q, m=added: multi_head(layer, q, k, v, 2, 0.0 if m is None else m)
        check(fn, oracle, numbers(2, 5, 3), tol=1e-5, gradient_tol=1e-3)
    assert layer.out_proj.weight.shape == (7, 4)
    assert nn.MultiHeadAttention(8, 2, key_input_dims=5).value_proj.weight.shape == (8, 5)
    assert "bias" in nn.MultiHeadAttention(8, 2, bias=True).out_proj


def test_boolean_masks():
    layer = nn.MultiHeadAttention(8, 2)
    x = numbers(2, 5, 8)
    keep = np.tril(np.ones((5, 5), dtype=bool))
    want = multi_head(layer, f64(x), f64(x), f64(x), 2, np.where(keep, 0, -np.inf))
    a = mx.array(x)
    additive = nn.MultiHeadAttention.create_additive_causal_mask(5)
    for mask in (mx.array(keep), additive, "causal"):
        assert_close(layer(a, a, a, mask), want, 1e-5)


def test_causal_mask():
    for dtype in (mx.float32, mx.float16, mx.bfloat16):
        mask = nn.MultiHeadAttention.create_additive_causal_mask(3, dtype)
        low = mx.finfo(dtype).min
        assert mask.dtype == dtype
        assert mask.tolist() == [[0, low, low], [0, 0, low], [0, 0, 0]]


@pytest.mark.parametrize("blocked", [False, -math.inf])
def test_a_query_without_keys_gets_zeros(blocked):
    layer = nn.MultiHeadAttention(8, 2)
    open_ = True if blocked is False else 0.0
    mask = mx.array([[blocked] * 4, [open_] * 4])
    q, k = mx.array(numbers(1, 2, 8)), mx.array(numbers(1, 4, 8, seed=1))
    fn = lambda q, k: layer(q, k, k, mask)
    out = fn(q, k)
    assert out[0, 0].tolist() == [0] * 8
    only = layer(q[:, 1:], k, k)
    assert_close(out[:, 1:], f64(only))
    gq, gk = mx.grad(lambda q, k: mx.sum(fn(q, k) ** 2), argnums=(0, 1))(q, k)
    assert gq[0, 0].tolist() == [0] * 8
    want = mx.grad(lambda k: mx.sum(layer(q[:, 1:], k, k) ** 2))(k)
    assert_close(gk, f64(want), 1e-5)


@pytest.mark.parametrize("dtype, tol", [(mx.float16, 1e-2), (mx.bfloat16, 6e-2)])
def test_attention_in_half_precision(dtype, tol):
    """Scores beyond the range in which exp is finite in float16."""
    layer = nn.MultiHeadAttention(8, 2)
    layer.set_dtype(dtype)
    x = mx.array(numbers(2, 300, 8) * 3).astype(dtype)
    got = layer(x, x, x)
    assert got.dtype == dtype
    layer.set_dtype(mx.float32)
    y = f64(x.astype(mx.float32))
    assert_close(got, multi_head(layer, y, y, y, 2), tol * 3)


@pytest.mark.parametrize(
    "fn, message",
    [
        (lambda x: nn.MultiHeadAttention(5, 2), "5 features"),
        (lambda x: nn.MultiHeadAttention(4, 2, value_dims=3), "3 value features"),
        (lambda x: nn.MultiHeadAttention(4, 2)(x, x, x, "future"), "future"),
        (lambda x: nn.MultiHeadAttention(4, 2)(x, x, x, mx.zeros((3, 2))), r"\(3, 2\)"),
        (lambda x: nn.MultiHeadAttention(4, 2)(x, x, x, mx.zeros((2, 1, 1, 2, 2))), "mask"),
    ],
)
def test_attention_of_what_does_not_fit(fn, message):
    with pytest.raises(ValueError, match=message):
        fn(mx.zeros((1, 2, 4)))


def test_attention_mask_of_a_wider_dtype():
    layer = nn.MultiHeadAttention(4, 2)
    layer.set_dtype(mx.float16)
    x = mx.zeros((1, 2, 4), mx.float16)
    with pytest.raises(ValueError, match="float32"):
        layer(x, x, x, mx.zeros((2, 2)))


# Transformers.


def norm(layer, x):
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return y * f64(layer.weight) + f64(layer.bias)


def mlp(layer, x):
    hidden = np.maximum(x @ f64(layer.linear1.weight).T + f64(layer.linear1.bias), 0)
    return hidden @ f64(layer.linear2.weight).T + f64(layer.linear2.bias)


def encoder_layer(layer, x, mask, first):
    att = lambda y: multi_head(layer.attention, y, y, y, 2, mask)
    if first:
        x = x + att(norm(layer.ln1, x))
        return x + mlp(layer, norm(layer.ln2, x))
    x = norm(layer.ln1, x + att(x))
    return norm(layer.ln2, x + mlp(layer, x))


def decoder_layer(layer, x, memory, mask, first):
    own = lambda y: multi_head(layer.self_attention, y, y, y, 2, mask)
    cross = lambda y: multi_head(layer.cross_attention, y, memory, memory, 2)
    if first:
        x = x + own(norm(layer.ln1, x))
        x = x + cross(norm(layer.ln2, x))
        return x + mlp(layer, norm(layer.ln3, x))
    x = norm(layer.ln1, x + own(x))
    x = norm(layer.ln2, x + cross(x))
    return norm(layer.ln3, x + mlp(layer, x))


@pytest.mark.parametrize("first", [True, False])
def test_transformer(first):
    model = nn.Transformer(8, 2, 2, 2, mlp_dims=12, norm_first=first)
    model.apply(lambda p: p + 0.1 * mx.array(numbers(*p.shape)))
    src, tgt = numbers(2, 5, 8), numbers(2, 4, 8, seed=1)
    mask = np.where(np.tril(np.ones((4, 4))) > 0, 0, -np.inf)
    memory = f64(src)
    for layer in model.encoder.layers:
        memory = encoder_layer(layer, memory, 0.0, first)
    memory = norm(model.encoder.ln, memory)
    want = f64(tgt)
    for layer in model.decoder.layers:
        want = decoder_layer(layer, want, memory, mask, first)
    want = norm(model.decoder.ln, want)
    causal = nn.MultiHeadAttention.create_additive_causal_mask(4)
    assert_close(model(mx.array(src), mx.array(tgt), None, causal, None), want, 1e-4)


def test_transformer_parts():
    names = lambda m: [name for name, _ in tree_flatten(m.children(), is_leaf=nn.Module.is_module)]
    assert names(nn.TransformerEncoderLayer(4, 2)) == [
        "attention", "ln1", "ln2", "linear1", "linear2", "dropout1", "dropout2"
    ]  # fmt: skip
    assert names(nn.TransformerDecoderLayer(4, 2)) == [
        "self_attention", "cross_attention", "ln1", "ln2", "ln3", "linear1", "linear2",
        "dropout1", "dropout2", "dropout3",
    ]  # fmt: skip
    assert nn.TransformerEncoderLayer(4, 2).linear1.weight.shape == (16, 4)
    assert len(nn.TransformerEncoder(3, 4, 2).layers) == 3
    custom = nn.Transformer(
        4, 2, custom_encoder=lambda x, m: x, custom_decoder=lambda x, memory, xm, mm: x + memory
    )
    assert custom(mx.ones((1,)), mx.ones((1,)), None, None, None).tolist() == [2]


def test_transformer_drops_out():
    model = nn.TransformerEncoder(1, 8, 2, dropout=0.5)
    x = mx.array(numbers(1, 4, 8))
    assert not mx.array_equal(model(x, None), model(x, None))
    model.eval()
    assert mx.array_equal(model(x, None), model(x, None))


def test_transformer_with_checkpoints():
    plain = nn.Transformer(8, 2, 1, 1)
    saving = nn.Transformer(8, 2, 1, 1, checkpoint=True)
    saving.update(plain.parameters())
    x, y = mx.array(numbers(2, 5, 8)), mx.array(numbers(2, 4, 8, seed=1))
    results = []
    for model in (plain, saving):
        fn = nn.value_and_grad(model, lambda m=model: mx.sum(m(x, y, None, None, None) ** 3))
        results.append(fn())
    assert_close(results[1][0], f64(results[0][0]), 1e-5)
    tree_map(lambda a, b: assert_close(a, f64(b), 1e-3), results[1][1], results[0][1])


# Recurrence.


def rnn(layer, x, h):
    out = []
    w, u = f64(layer.Wxh), f64(layer.Whh)
    b = 0 if layer.bias is None else f64(layer.bias)
    for t in range(x.shape[-2]):
        h = np.tanh(x[..., t, :] @ w.T + b + h @ u.T)
        out.append(h)
    return np.stack(out, -2)


def gru(layer, x, h):
    out = []
    n = layer.hidden_size
    w, u = f64(layer.Wx), f64(layer.Wh)
    b = np.zeros(3 * n) if layer.b is None else f64(layer.b)
    bhn = np.zeros(n) if layer.bhn is None else f64(layer.bhn)
    for t in range(x.shape[-2]):
        a, c = x[..., t, :] @ w.T + b, h @ u.T
        r, z = sigmoid(a[..., :n] + c[..., :n]), sigmoid(a[..., n:-n] + c[..., n:-n])
        h = (1 - z) * np.tanh(a[..., -n:] + r * (c[..., -n:] + bhn)) + z * h
        out.append(h)
    return np.stack(out, -2)


def lstm(layer, x, h, c):
    hs, cs = [], []
    w, u = f64(layer.Wx), f64(layer.Wh)
    b = 0 if layer.bias is None else f64(layer.bias)
    for t in range(x.shape[-2]):
        i, f, g, o = np.split(x[..., t, :] @ w.T + b + h @ u.T, 4, axis=-1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        hs.append(h)
        cs.append(c)
    return np.stack(hs, -2), np.stack(cs, -2)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("start", [True, False])
@pytest.mark.parametrize("shape", [(5, 3), (2, 5, 3), (2, 2, 5, 3)])
def test_recurrence(bias, start, shape):
    state = numbers(*shape[:-2], 4, seed=1) if start else np.zeros((*shape[:-2], 4))
    cell = numbers(*shape[:-2], 4, seed=2) if start else np.zeros((*shape[:-2], 4))
    given = [mx.array(state), mx.array(cell)] if start else []
    x = numbers(*shape)
    options = {"tol": 5e-6, "gradient_tol": 1e-4}
    layer = nn.RNN(3, 4, bias=bias)
    check(lambda x: layer(x, *given[:1]), lambda x: rnn(layer, x, state), x, **options)
    layer = nn.GRU(3, 4, bias=bias)
    check(lambda x: layer(x, *given[:1]), lambda x: gru(layer, x, state), x, **options)
    layer = nn.LSTM(3, 4, bias=bias)
    for k in (0, 1):
        fn = lambda x, k=k: layer(x, *given)[k]
        check(fn, lambda x, k=k: lstm(layer, x, state, cell)[k], x, **options)


def test_recurrent_layers_without_bias():
    assert nn.RNN(2, 3, bias=False).bias is None
    assert nn.GRU(2, 3, bias=False).b is None and nn.GRU(2, 3, bias=False).bhn is None
    assert set(nn.LSTM(2, 3, bias=False).parameters()) == {"Wx", "Wh"}
    assert nn.GRU(2, 3).Wx.shape == (9, 2) and nn.LSTM(2, 3).Wh.shape == (12, 3)


def test_recurrent_layers_repr():
    assert repr(nn.GRU(2, 3)) == "GRU(input_dims=2, hidden_size=3, bias=True)"
    assert "nonlinearity=<function relu" in repr(nn.RNN(2, 3, nonlinearity=nn.relu))


def test_recurrence_with_another_function():
    layer = nn.RNN(3, 4, nonlinearity=nn.ReLU())
    x = mx.array(numbers(2, 1, 3))
    want = np.maximum(f64(x) @ f64(layer.Wxh).T + f64(layer.bias), 0)
    assert_close(layer(x), want)


@pytest.mark.parametrize(
    "fn",
    [
        lambda: nn.RNN(2, 3, nonlinearity=3),
        lambda: nn.RNN(2, 3)(mx.ones((2,))),
        lambda: nn.GRU(2, 3)(mx.ones((4, 0, 2))),
        lambda: nn.LSTM(2, 3)(mx.ones((4, 5, 3))),
    ],
)
def test_recurrence_of_what_does_not_fit(fn):
    with pytest.raises(ValueError, match=r"RNN|GRU|LSTM"):
        fn()
