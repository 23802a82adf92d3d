"""Tests of the layers without sequences: affine maps, embedding, dropout, normalisation, pooling
and resampling, against NumPy in float64."""

import itertools
import math

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from nn_support import assert_close, check, numbers


def f64(a):
    return np.array(a, dtype=np.float64)


# Affine maps and embedding.


def test_linear():
    layer = nn.Linear(3, 4)
    w, b = f64(layer.weight), f64(layer.bias)
    for shape in ((3,), (2, 3), (2, 5, 3)):
        check(layer, lambda x: x @ w.T + b, numbers(*shape))
    bare = nn.Linear(3, 4, bias=False)
    check(bare, lambda x: x @ f64(bare.weight).T, numbers(2, 3))
    assert layer.weight.shape == (4, 3) and layer.bias.shape == (4,)
    assert repr(bare) == "Linear(input_dims=3, output_dims=4, bias=False)"
    with pytest.raises(ValueError):
        layer(mx.zeros((2, 4)))


def test_linear_starts_within_its_limit():
    layer = nn.Linear(100, 50)
    for p in (layer.weight, layer.bias):
        assert np.abs(f64(p)).max() <= 0.1 and np.abs(f64(p)).max() > 0.09


def test_bilinear():
    layer = nn.Bilinear(3, 4, 5)
    w, b = f64(layer.weight), f64(layer.bias)
    y = numbers(2, 6, 4, seed=1)
    oracle = lambda x: np.einsum("...i,oji,...j->...o", x, w, y) + b
    check(lambda x: layer(x, mx.array(y)), oracle, numbers(2, 6, 3), gradient_tol=1e-3)
    got = nn.Bilinear(3, 4, 5, bias=False)(mx.ones((3,)), mx.ones((2, 4)))
    assert got.shape == (2, 5)


def test_embedding():
    layer = nn.Embedding(10, 4)
    ids = np.array([[1, 9], [0, 1]])
    assert_close(layer(mx.array(ids)), f64(layer.weight)[ids], 0)
    check(layer.as_linear, lambda x: x @ f64(layer.weight).T, numbers(2, 4))
    assert repr(layer) == "Embedding(10, 4)"
    with pytest.raises(ValueError):
        layer(mx.array([0.5]))
    gradient = mx.grad(lambda w: mx.sum(w[mx.array(ids)]))(layer.weight)
    assert gradient[:, 0].tolist() == [1, 2, 0, 0, 0, 0, 0, 0, 0, 1]


def test_identity_and_sequential():
    x = mx.array(numbers(2, 3))
    assert mx.array_equal(nn.Identity(1, a=2)(x), x)
    model = nn.Sequential(nn.Linear(3, 4), nn.relu, nn.Linear(4, 1))
    want = model.layers[2](nn.relu(model.layers[0](x)))
    assert mx.array_equal(model(x), want)
    assert mx.array_equal(nn.Sequential()(x), x)


# Dropout.


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5, math.nan])
@pytest.mark.parametrize("layer", [nn.Dropout, nn.Dropout2d, nn.Dropout3d])
def test_dropout_of_bad_probability(layer, p):
    with pytest.raises(ValueError, match=layer.__name__):
        layer(p)


def test_dropout():
    layer = nn.Dropout(0.25)
    mx.random.seed(0)
    y = f64(layer(mx.ones((200, 200))))
    assert set(np.unique(y).round(5)) == {0, round(4 / 3, 5)}
    assert abs((y == 0).mean() - 0.25) < 0.01
    x = mx.array([1.0, math.inf])
    assert mx.array_equal(layer.eval()(x), x)
    assert mx.array_equal(nn.Dropout(0.0)(x), x)
    assert not mx.any(mx.isnan(nn.Dropout(0.5)(mx.full((64,), math.inf))))
    assert nn.Dropout(0.5)(mx.ones((4,), mx.float16)).dtype == mx.float16


@pytest.mark.parametrize(
    "layer, shape, shared",
    [
        (nn.Dropout2d, (3, 4, 5, 6), (1, 2)),
        (nn.Dropout2d, (4, 5, 6), (0, 1)),
        (nn.Dropout3d, (2, 3, 4, 5, 6), (1, 2, 3)),
        (nn.Dropout3d, (3, 4, 5, 6), (0, 1, 2)),
    ],
)
def test_dropout_of_channels(layer, shape, shared):
    mx.random.seed(1)
    y = f64(layer(0.5)(mx.ones(shape)))
    assert set(np.unique(y)) == {0, 2}
    assert (y == y.max(axis=shared, keepdims=True)).all()


def test_dropout_of_channels_without_spatial_axes():
    for layer, shape in ((nn.Dropout2d(), (2, 3)), (nn.Dropout3d(), (2, 3, 4))):
        for mode in (True, False):
            with pytest.raises(ValueError, match="Dropout"):
                layer.train(mode)(mx.zeros(shape))


# Normalisation.


def standardized(x, axis, eps=1e-5):
    mean, var = x.mean(axis, keepdims=True), x.var(axis, keepdims=True)
    return (x - mean) / np.sqrt(var + eps)


W, B = numbers(6, seed=5) + 1, numbers(6, seed=6)


def with_parameters(layer):
    for name, value in (("weight", W), ("bias", B)):
        if name in layer:
            layer[name] = mx.array(value)
    return layer


def grouped(x, blocks):
    """Groups of 3 channels of an input (N, T, 6): neighbours or every second."""
    n, t, _ = x.shape
    if blocks:
        return standardized(x.reshape(n, t, 2, 3), (1, 3)).reshape(x.shape)
    return standardized(x.reshape(n, t, 3, 2), (1, 2)).reshape(x.shape)


NORMS = {
    "layer": (nn.LayerNorm(6), lambda x: standardized(x, -1) * W + B),
    "layer without bias": (nn.LayerNorm(6, bias=False), lambda x: standardized(x, -1) * W),
    "layer bare": (nn.LayerNorm(6, affine=False), lambda x: standardized(x, -1)),
    "layer eps": (nn.LayerNorm(6, eps=0.5), lambda x: standardized(x, -1, 0.5) * W + B),
    "rms": (nn.RMSNorm(6),
            lambda x: x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * W),
    "instance": (nn.InstanceNorm(6), lambda x: standardized(x, 1)),
    "instance affine": (nn.InstanceNorm(6, affine=True), lambda x: standardized(x, 1) * W + B),
    "group": (nn.GroupNorm(2, 6), lambda x: grouped(x, False) * W + B),
    "group blocks": (nn.GroupNorm(2, 6, pytorch_compatible=True),
                     lambda x: grouped(x, True) * W + B),
    "group bare": (nn.GroupNorm(2, 6, affine=False), lambda x: grouped(x, False)),
    "batch": (nn.BatchNorm(6), lambda x: standardized(x, (0, 1)) * W + B),
    "batch bare": (nn.BatchNorm(6, affine=False), lambda x: standardized(x, (0, 1))),
    "batch untracked": (nn.BatchNorm(6, track_running_stats=False).eval(),
                        lambda x: standardized(x, (0, 1)) * W + B),
    "batch evaluated": (nn.BatchNorm(6).eval(), lambda x: x / np.sqrt(1 + 1e-5) * W + B),
}  # fmt: skip


@pytest.mark.parametrize("name", NORMS)
def test_norms(name):
    layer, oracle = NORMS[name]
    layer = with_parameters(layer)
    check(layer, oracle, numbers(3, 4, 6, scale=2.0) + 1, tol=1e-5, gradient_tol=1e-3)


@pytest.mark.parametrize("name", [n for n in NORMS if n != "batch evaluated"])
@pytest.mark.parametrize("dtype, tol", [(mx.float16, 4e-3), (mx.bfloat16, 4e-2)])
def test_norms_of_half_precision(name, dtype, tol):
    """Sums and squares that would overflow float16 are taken in float32."""
    layer, oracle = NORMS[name]
    layer = with_parameters(layer)
    layer.set_dtype(dtype)
    x = mx.array(numbers(3, 64, 6) * 500).astype(dtype)
    got = layer(x)
    layer.set_dtype(mx.float32)
    assert got.dtype == dtype
    assert_close(got, oracle(f64(x.astype(mx.float32))), tol * 2)


def test_norm_dtypes_promote():
    x = mx.ones((2, 3, 6), mx.float16)
    assert nn.LayerNorm(6)(x).dtype == mx.float32
    assert nn.BatchNorm(6)(x).dtype == mx.float32
    assert nn.BatchNorm(6, affine=False)(x).dtype == mx.float16
    assert nn.GroupNorm(2, 6)(x).dtype == mx.float32


@pytest.mark.parametrize("eps", [0, -1e-5, math.nan])
def test_norms_of_bad_eps(eps):
    for make in (nn.LayerNorm, nn.RMSNorm, nn.InstanceNorm, nn.BatchNorm):
        with pytest.raises(ValueError, match="eps"):
            make(4, eps=eps)
    with pytest.raises(ValueError, match="eps"):
        nn.GroupNorm(2, 4, eps=eps)


@pytest.mark.parametrize(
    "fn, message",
    [
        (lambda: nn.GroupNorm(3, 4), "4 channels in 3 groups"),
        (lambda: nn.GroupNorm(0, 4), "0 groups"),
        (lambda: nn.GroupNorm(2, 0), "0 channels"),
        (lambda: nn.GroupNorm(2, 4)(mx.zeros((2, 3))), r"\(2, 3\)"),
        (lambda: nn.LayerNorm(4)(mx.zeros((2, 3))), r"\(4,\)"),
        (lambda: nn.LayerNorm(4)(mx.zeros((2, 4), mx.int32)), "int32"),
        (lambda: nn.RMSNorm(1)(mx.array(1.0)), "scalar"),
        (lambda: nn.InstanceNorm(4)(mx.zeros((2, 4))), r"\(2, 4\)"),
        (lambda: nn.BatchNorm(4)(mx.zeros((4,))), r"\(4,\)"),
        (lambda: nn.BatchNorm(4)(mx.zeros((2, 2, 2, 2, 4))), "2, 3 or 4"),
        (lambda: nn.BatchNorm(4)(mx.zeros((2, 3))), r"\(2, 3\)"),
        (lambda: nn.BatchNorm(4)(mx.zeros((1, 4))), "more than one value"),
    ],
)
def test_norms_of_bad_inputs(fn, message):
    with pytest.raises(ValueError, match=message):
        fn()


def test_batch_norm_follows_the_batches():
    layer = nn.BatchNorm(3, momentum=0.2)
    mean, var = np.zeros(3), np.ones(3)
    for seed in range(3):
        x = numbers(5, 4, 3, seed=seed) * 2 + 1
        layer(mx.array(x))
        mean = 0.8 * mean + 0.2 * f64(x).mean((0, 1))
        var = 0.8 * var + 0.2 * f64(x).var((0, 1), ddof=1)
    assert_close(layer.running_mean, mean, 1e-5)
    assert_close(layer.running_var, var, 1e-5)
    x = numbers(1, 3)
    want = (x - mean) / np.sqrt(var + 1e-5)
    assert_close(layer.eval()(mx.array(x)), want, 1e-5)
    assert_close(layer.running_mean, mean, 1e-5)


def test_batch_norm_statistics_stay_frozen():
    model = nn.Sequential(nn.BatchNorm(3), nn.Linear(3, 3))
    for thaw in (model.unfreeze, model.layers[0].unfreeze):
        model.freeze()
        thaw()
        assert set(model.layers[0].trainable_parameters()) == {"weight", "bias"}
        assert "running_mean" in model.layers[0].parameters()
    assert set(model.unfreeze().layers[1].trainable_parameters()) == {"weight", "bias"}


def test_batch_norm_statistics_keep_no_graph():
    layer = nn.BatchNorm(3)
    loss = nn.value_and_grad(layer, lambda x: mx.sum(layer(x) ** 3))
    for seed in range(3):
        _, grads = loss(mx.array(numbers(5, 3, seed=seed)))
        mx.eval(grads, layer.state)
    assert set(grads) == {"weight", "bias"}
    assert np.isfinite(f64(layer.running_var)).all()


# Pooling.


def pooled(x, reduce, kernel, stride, padding, fill):
    d = len(kernel)
    x = np.pad(x, [(0, 0), *((p, p) for p in padding), (0, 0)], constant_values=fill)
    sizes = [(n - k) // s + 1 for n, k, s in zip(x.shape[1:-1], kernel, stride)]
    out = np.zeros((x.shape[0], *sizes, x.shape[-1]))
    for i in np.ndindex(*sizes):
        window = tuple(slice(a * s, a * s + k) for a, s, k in zip(i, stride, kernel))
        out[(slice(None), *i)] = reduce(x[(slice(None), *window)], axis=tuple(range(1, d + 1)))
    return out


@pytest.mark.parametrize(
    "kernel, stride, padding",
    [c for c in itertools.product((1, 2, 3), (1, 2, 3), (0, 1)) if c[2] < c[0]],
)
@pytest.mark.parametrize("average", [False, True])
def test_pooling_of_sequences(kernel, stride, padding, average):
    layer = (nn.AvgPool1d if average else nn.MaxPool1d)(kernel, stride, padding)
    reduce, fill = (np.mean, 0) if average else (np.max, -np.inf)
    oracle = lambda x: pooled(x, reduce, [kernel], [stride], [padding], fill)
    check(layer, oracle, numbers(2, 6, 3), tol=1e-6, gradient_tol=1e-4)


@pytest.mark.parametrize("layer, reduce, kernel, stride, padding", [
    (nn.MaxPool2d(2), np.max, (2, 2), (2, 2), (0, 0)),
    (nn.MaxPool2d((2, 3), (1, 2), (1, 0)), np.max, (2, 3), (1, 2), (1, 0)),
    (nn.AvgPool2d(3, 2, 1), np.mean, (3, 3), (2, 2), (1, 1)),
    (nn.AvgPool2d((3, 2)), np.mean, (3, 2), (3, 2), (0, 0)),
    (nn.MaxPool3d(2, 1), np.max, (2, 2, 2), (1, 1, 1), (0, 0, 0)),
    (nn.AvgPool3d((1, 2, 3), padding=(0, 1, 1)), np.mean, (1, 2, 3), (1, 2, 3), (0, 1, 1)),
])  # fmt: skip
def test_pooling_of_images(layer, reduce, kernel, stride, padding):
    shape = (2, 6, 4, 3) if len(kernel) == 2 else (2, 3, 4, 6, 2)
    x = numbers(*shape)
    fill = 0 if reduce is np.mean else -np.inf
    assert_close(layer(mx.array(x)), pooled(f64(x), reduce, kernel, stride, padding, fill))


def test_pooling_of_integers_and_half_precision():
    x = mx.array([[[-3], [-5], [-1]]])
    assert nn.MaxPool1d(2, 1, 1)(x).tolist() == [[[-3], [-3], [-1], [-1]]]
    assert nn.AvgPool1d(2)(mx.ones((1, 4, 1), mx.int32)).dtype == mx.float32
    half = mx.full((1, 64, 1), 2000.0, dtype=mx.float16)
    assert nn.AvgPool1d(64)(half).tolist() == [[[2000]]]
    assert nn.AvgPool1d(64)(half).dtype == mx.float16


def test_pooling_repr():
    assert (
        repr(nn.MaxPool2d((2, 3))) == "MaxPool2d(kernel_size=(2, 3), stride=(2, 3), padding=(0, 0))"
    )


@pytest.mark.parametrize(
    "fn",
    [
        lambda: nn.MaxPool1d(0),
        lambda: nn.MaxPool1d(2, 0),
        lambda: nn.MaxPool1d(2, 1, -1),
        lambda: nn.MaxPool2d((1, 2, 3)),
        lambda: nn.AvgPool3d(2, (1, 1)),
        lambda: nn.MaxPool1d(2)(mx.zeros((2, 4))),
        lambda: nn.MaxPool2d(2)(mx.zeros((2, 4, 4))),
        lambda: nn.MaxPool1d(5, 1)(mx.zeros((1, 2, 1))),
    ],
)
def test_pooling_of_what_does_not_fit(fn):
    with pytest.raises(ValueError, match="Pool"):
        fn()


# Resampling.


def resampled(x, scale, mode, align_corners=False, antialias=False):
    """Along axis 1 of (N, T, C), position by position."""
    n = x.shape[1]
    m = int(scale * n)
    out = np.zeros((x.shape[0], m, x.shape[2]))
    cubic = lambda d, a: (
        ((a + 2) * d - (a + 3)) * d * d + 1
        if d <= 1
        else a * (((d - 5) * d + 8) * d - 4)
        if d < 2
        else 0
    )
    for i in range(m):
        p = (
            i * (n - 1) / max(m - 1, 1)
            if align_corners
            else i / scale - ((m - 1) / scale - n + 1) / 2
        )
        narrow = min(scale, 1) if antialias else 1
        if antialias:
            kernel = (lambda d: max(1 - d, 0)) if mode == "linear" else lambda d: cubic(d, -0.5)
            w = np.array([kernel(abs(j - p) * narrow) for j in range(n)])
            out[:, i] = np.tensordot(w / w.sum(), x, ([0], [1]))
        elif mode == "linear":
            p = min(max(p, 0), n - 1)
            low, high = math.floor(p), min(math.floor(p) + 1, n - 1)
            out[:, i] = x[:, low] * (1 - p + low) + x[:, high] * (p - low)
        else:
            for j in range(math.floor(p) - 1, math.floor(p) + 3):
                out[:, i] += cubic(abs(j - p), -0.75) * x[:, min(max(j, 0), n - 1)]
    return out


@pytest.mark.parametrize("scale", [0.5, 0.62, 0.9, 1.0, 1.5, 2.0, 2.5])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("options", [{}, {"align_corners": True}, {"antialias": True}])
def test_upsample(scale, mode, options):
    layer = nn.Upsample(scale, mode=mode, **options)
    oracle = lambda x: resampled(x, scale, mode, **options)
    check(layer, oracle, numbers(2, 6, 3), tol=1e-5, gradient_tol=1e-4)


def test_upsample_nearest():
    x = mx.arange(4.0).reshape(1, 4, 1)
    assert nn.Upsample(2)(x).flatten().tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert nn.Upsample(1.5)(x).flatten().tolist() == [0, 0, 1, 2, 2, 3]
    assert nn.Upsample(0.5)(x).flatten().tolist() == [0, 2]
    assert nn.Upsample(0.1)(x).shape == (1, 0, 1)
    image = mx.array(numbers(2, 3, 4, 5))
    got = nn.Upsample((2, 3))(image)
    assert_close(got, f64(image).repeat(2, 1).repeat(3, 2), 0)


def test_upsample_is_separable():
    x = numbers(2, 3, 4, 5)
    got = nn.Upsample((2.0, 1.5), mode="cubic")(mx.array(x))
    rows = resampled(f64(x).reshape(2, 3, 20), 2.0, "cubic").reshape(2, 6, 4, 5)
    want = resampled(rows.swapaxes(1, 2).reshape(2, 4, 30), 1.5, "cubic")
    assert_close(got, want.reshape(2, 6, 6, 5).swapaxes(1, 2), 1e-5)
    assert nn.Upsample(2, mode="linear")(mx.ones((1, 4, 1), mx.float16)).dtype == mx.float16


@pytest.mark.parametrize(
    "fn",
    [
        lambda: nn.Upsample(2, mode="x"),
        lambda: nn.Upsample(0),
        lambda: nn.Upsample((2, -1.0)),
        lambda: nn.Upsample(math.inf),
        lambda: nn.Upsample(2, antialias=True),
        lambda: nn.Upsample(2, mode="linear", align_corners=True, antialias=True),
        lambda: nn.Upsample(2)(mx.zeros((2, 4))),
        lambda: nn.Upsample((2, 2))(mx.zeros((2, 4, 1))),
    ],
)
def test_upsample_of_what_does_not_fit(fn):
    with pytest.raises(ValueError, match="Upsample"):
        fn()
