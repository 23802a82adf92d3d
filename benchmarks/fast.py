"""The functions of mx.fast: normalisation and attention, forward and with gradients."""

from .workload import ITEMSIZE, Family, normal

family = Family("fast")
EPS = 1e-5


def with_gradient_mlx(build, count):
    """The function's result with the gradients of its first `count` arguments."""

    def function(xp):
        f = build(xp)

        def g(*args):
            outputs, gradients = xp.vjp(f, list(args[:count]), [args[count]])
            return [*outputs, *gradients]

        return g

    return function


def with_gradient_torch(build, count):
    def function(xp):
        f = build(xp)

        def g(*args):
            with xp.enable_grad():
                inputs = [x.detach().requires_grad_() for x in args[:count]]
                y = f(*inputs)
                return [y, *xp.autograd.grad(y, inputs, args[count])]

        return g

    return function


def with_gradient_jax(build, count):
    def function(xp):
        import jax

        f = build(xp)

        def g(*args):
            y, vjp = jax.vjp(f, *args[:count])
            return [y, *vjp(args[count])]

        return g

    return function


def with_gradient(functions, count):
    return {
        "mlx": with_gradient_mlx(functions["mlx"], count),
        "torch": with_gradient_torch(functions["torch"], count),
        "jax": with_gradient_jax(functions["jax"], count),
    }


def layer_norm_jax(xp):
    from jax import lax

    def f(x, w, b):
        wide = x.astype(xp.float32)
        centred = wide - xp.mean(wide, -1, keepdims=True)
        y = centred * lax.rsqrt(xp.mean(xp.square(centred), -1, keepdims=True) + EPS)
        return (y * w.astype(xp.float32) + b.astype(xp.float32)).astype(x.dtype)

    return f


def rms_norm_jax(xp):
    from jax import lax

    def f(x, w):
        wide = x.astype(xp.float32)
        y = wide * lax.rsqrt(xp.mean(xp.square(wide), -1, keepdims=True) + EPS)
        return (y * w.astype(xp.float32)).astype(x.dtype)

    return f


def layer_norm_mlx(xp):
    """The function itself, or where there is none the operations it is made of."""
    if hasattr(xp, "fast"):
        return lambda x, w, b: xp.fast.layer_norm(x, w, b, EPS)
    from mlx.nn import _fast

    return lambda x, w, b: _fast.layer_norm(x, w, b, EPS)


def rms_norm_mlx(xp):
    if hasattr(xp, "fast"):
        return lambda x, w: xp.fast.rms_norm(x, w, EPS)
    from mlx.nn import _fast

    return lambda x, w: _fast.rms_norm(x, w, EPS)


LAYER_NORM = {
    "mlx": layer_norm_mlx,
    "torch": lambda xp: lambda x, w, b: xp.nn.functional.layer_norm(x, w.shape, w, b, EPS),
    "jax": layer_norm_jax,
}
RMS_NORM = {
    "mlx": rms_norm_mlx,
    "torch": lambda xp: lambda x, w: xp.nn.functional.rms_norm(x, w.shape, w, EPS),
    "jax": rms_norm_jax,
}


def attention(dims, causal):
    def jax(xp):
        from jax import nn

        def f(q, k, v):  # JAX has (batch, length, heads, dims)
            q, k, v = (xp.swapaxes(t, 1, 2) for t in (q, k, v))
            return xp.swapaxes(nn.dot_product_attention(q, k, v, is_causal=causal), 1, 2)

        return f

    def mlx(xp):
        options = {"scale": dims**-0.5, "mask": "causal" if causal else None}
        return lambda q, k, v: xp.fast.scaled_dot_product_attention(q, k, v, **options)

    def torch(xp):
        f = xp.nn.functional.scaled_dot_product_attention
        return lambda q, k, v: f(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])

    return {"mlx": mlx, "torch": torch, "jax": jax}


add = family.add
SHAPE = (4096, 1024)
for dtype, short in (("float32", "f32"), ("bfloat16", "bf16")):
    options = {
        "dtype": dtype,
        "bytes": 2 * ITEMSIZE[dtype] << 22,
        "compiled": short == "f32",
        "quick": short == "f32",
    }
    weights = normal(1024), normal(1024, scale=0.1)
    add(f"layer_norm_4kx1k_{short}", normal(*SHAPE), *weights, **LAYER_NORM, **options)
    add(f"rms_norm_4kx1k_{short}", normal(*SHAPE), weights[0], **RMS_NORM, **options)
add(
    "layer_norm_fwdbwd_4kx1k",
    normal(*SHAPE),
    normal(1024),
    normal(1024, scale=0.1),
    normal(*SHAPE),
    **with_gradient(LAYER_NORM, 3),
    bytes=20 << 22,
    tolerance=1e-3,
)

HEADS = 1, 8, 512, 64
FLOPS = 4 * 8 * 512 * 512 * 64
QKV = [normal(*HEADS)] * 3
add("sdpa_512_f32", *QKV, **attention(64, False), flops=FLOPS, quick=True)
for dtype, short in (("float32", "f32"), ("bfloat16", "bf16")):
    add(
        f"sdpa_512_causal_{short}",
        *QKV,
        **attention(64, True),
        dtype=dtype,
        flops=FLOPS // 2,
        quick=short == "f32",
    )
add(
    "sdpa_512_causal_fwdbwd_f32",
    *QKV,
    normal(*HEADS),
    **with_gradient(attention(64, True), 3),
    flops=7 * FLOPS // 4,
    tolerance=1e-3,
)
add(
    "sdpa_decode_gqa_2k_f32",
    normal(1, 32, 1, 64),
    normal(1, 8, 2048, 64),
    normal(1, 8, 2048, 64),
    **attention(64, False),
    bytes=8 * 8 * 2048 * 64,
)
