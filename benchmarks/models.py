"""Training steps of whole models: forward, backward, AdamW. Same parameters and data for all.

The mlx side is written with mlx.nn, as users do; PyTorch and JAX share functional models whose
parameters carry mlx.nn's names.
"""

import math
import zlib
from itertools import pairwise

import numpy as np

from .workload import Family

family = Family("models")
ADAMW = {"lr": 1e-3, "betas": (0.9, 0.95), "eps": 1e-8, "weight_decay": 0.1}

MLP = [784, 1024, 1024, 10]
MLP_BATCH = 128
CONV_BATCH = 64
GPT = {"dims": 128, "layers": 3, "heads": 4, "context": 64}  # what examples/gpt trains
GPT_BATCH = 32
LM = {"dims": 256, "layers": 4, "heads": 4, "context": 128, "vocabulary": 4096}
LM_BATCH = 8


def generator(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def uniform(rng, *shape):
    """A weight whose size suits the number of inputs, all axes but the first."""
    bound = math.prod(shape[1:]) ** -0.5
    return rng.uniform(-bound, bound, shape).astype(np.float32)


# ---- parameters and data, by mlx.nn's names ----------------------------------------------------


def mlp_data():
    rng = generator("mlp")
    parameters = {}
    for i, (n, m) in enumerate(pairwise(MLP)):
        parameters[f"layers.{i}.weight"] = uniform(rng, m, n)
        parameters[f"layers.{i}.bias"] = np.zeros(m, np.float32)
    x = rng.standard_normal((MLP_BATCH, MLP[0]), np.float32)
    return parameters, x, rng.integers(0, MLP[-1], MLP_BATCH, np.int32)


def conv_data():
    rng = generator("conv")
    shapes = {"conv1": (32, 3, 3, 1), "conv2": (64, 3, 3, 32), "fc1": (128, 3136), "fc2": (10, 128)}
    parameters = {}
    for name, shape in shapes.items():
        parameters[f"{name}.weight"] = uniform(rng, *shape)
        parameters[f"{name}.bias"] = np.zeros(shape[0], np.float32)
    x = rng.standard_normal((CONV_BATCH, 28, 28, 1), np.float32)
    return parameters, x, rng.integers(0, 10, CONV_BATCH, np.int32)


def gpt_data():
    rng = generator("gpt")
    d = GPT["dims"]
    parameters = {
        "tokens.weight": uniform(rng, 256, d),
        "positions.weight": uniform(rng, GPT["context"], d),
        "norm.weight": np.ones(d, np.float32),
        "norm.bias": np.zeros(d, np.float32),
        "head.weight": uniform(rng, 256, d),
        "head.bias": np.zeros(256, np.float32),
    }
    for i in range(GPT["layers"]):
        block = f"blocks.{i}"
        for part in ("query", "key", "value", "out"):
            parameters[f"{block}.attention.{part}_proj.weight"] = uniform(rng, d, d)
        for part in ("attention_norm", "mlp_norm"):
            parameters[f"{block}.{part}.weight"] = np.ones(d, np.float32)
            parameters[f"{block}.{part}.bias"] = np.zeros(d, np.float32)
        for part, n, m in (("mlp_in", d, 4 * d), ("mlp_out", 4 * d, d)):
            parameters[f"{block}.{part}.weight"] = uniform(rng, m, n)
            parameters[f"{block}.{part}.bias"] = np.zeros(m, np.float32)
    text = rng.integers(0, 256, (GPT_BATCH, GPT["context"] + 1), np.int32)
    return parameters, text[:, :-1].copy(), text[:, 1:].copy()


def lm_data():
    """Queries, keys and values by one product; the embedding is the head as well."""
    rng = generator("lm")
    d, layers = LM["dims"], LM["layers"]
    depth = (2 * layers) ** -0.5  # what adds to the residuals

    def normal(*shape, std):
        return (std * rng.standard_normal(shape)).astype(np.float32)

    parameters = {
        "tokens.weight": normal(LM["vocabulary"], d, std=0.02),
        "positions.weight": normal(LM["context"], d, std=0.02),
    }
    norms = ["norm"]
    for i in range(layers):
        norms += [f"blocks.{i}.norm1", f"blocks.{i}.norm2"]
        for name, n, m, size in (
            ("qkv", d, 3 * d, 1),
            ("out", d, d, depth),
            ("up", d, 4 * d, 1),
            ("down", 4 * d, d, depth),
        ):
            parameters[f"blocks.{i}.{name}.weight"] = normal(m, n, std=size * n**-0.5)
            parameters[f"blocks.{i}.{name}.bias"] = normal(m, std=0.01)
    for name in norms:
        parameters[f"{name}.weight"] = 1 + normal(d, std=0.02)
        parameters[f"{name}.bias"] = normal(d, std=0.01)
    text = rng.integers(0, LM["vocabulary"], (LM_BATCH, LM["context"] + 1), np.int32)
    return parameters, text[:, :-1].copy(), text[:, 1:].copy()


# ---- mlx ---------------------------------------------------------------------------------------


def mlp_mlx():
    import mlx.nn as nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(n, m) for n, m in pairwise(MLP)]

        def __call__(self, x):
            for layer in self.layers[:-1]:
                x = nn.relu(layer(x))
            return self.layers[-1](x)

    return Model()


def conv_mlx():
    import mlx.nn as nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
            self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
            self.fc1 = nn.Linear(3136, 128)
            self.fc2 = nn.Linear(128, 10)
            self.pool = nn.MaxPool2d(2)

        def __call__(self, x):
            x = self.pool(nn.relu(self.conv1(x)))
            x = self.pool(nn.relu(self.conv2(x)))
            return self.fc2(nn.relu(self.fc1(x.reshape(len(x), -1))))

    return Model()


def gpt_mlx():
    from examples.gpt.model import GPT as Model

    return Model(**GPT)


def lm_mlx():
    import mlx.core as mx
    import mlx.nn as nn

    d, heads, context = LM["dims"], LM["heads"], LM["context"]

    def attention(q, k, v):
        scale = (d // heads) ** -0.5
        if hasattr(mx, "fast"):
            return mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask="causal")
        scores = (q * scale) @ k.swapaxes(-1, -2)
        return mx.softmax(mx.where(causal, scores, -math.inf), axis=-1) @ v

    causal = mx.tril(mx.ones((context, context), dtype=mx.bool_))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
            self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

        def __call__(self, x):
            qkv = self.qkv(self.norm1(x)).reshape(*x.shape[:2], 3, heads, -1)
            q, k, v = qkv.transpose(2, 0, 3, 1, 4)
            y = attention(q, k, v).transpose(0, 2, 1, 3).reshape(x.shape)
            x = x + self.out(y)
            return x + self.down(nn.gelu_approx(self.up(self.norm2(x))))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(LM["vocabulary"], d)
            self.positions = nn.Embedding(context, d)
            self.blocks = [Block() for _ in range(LM["layers"])]
            self.norm = nn.LayerNorm(d)

        def __call__(self, tokens):
            x = self.tokens(tokens) + self.positions["weight"]
            for block in self.blocks:
                x = block(x)
            return self.tokens.as_linear(self.norm(x))

    return Model()


def training_mlx(make_model, make_data):
    def function(mx):
        import mlx.nn as nn
        import mlx.optimizers as optim

        parameters, x, y = make_data()
        x, y = mx.array(x), mx.array(y)
        model = make_model()
        model.load_weights([(name, mx.array(p)) for name, p in parameters.items()])
        options = {k: v for k, v in ADAMW.items() if k != "lr"}
        optimizer = optim.AdamW(ADAMW["lr"], bias_correction=True, **options)

        def loss_fn(model, x, y):
            return nn.losses.cross_entropy(model(x), y, reduction="mean")

        loss_and_grad = nn.value_and_grad(model, loss_fn)

        def update(x, y):
            loss, grads = loss_and_grad(model, x, y)
            optimizer.update(model, grads)
            return loss

        state = [model.state, optimizer.state]

        def evaluated(update):
            def step():
                loss = update(x, y)
                mx.eval(loss, state)
                return loss

            return step

        step = evaluated(update)
        if hasattr(mx, "compile"):
            step.compiled = evaluated(mx.compile(update, inputs=state, outputs=state))
        return step

    return function


# ---- PyTorch and JAX ---------------------------------------------------------------------------


class TorchOps:
    def __init__(self, torch):
        self.torch = torch
        f = self.f = torch.nn.functional
        self.linear, self.relu = f.linear, torch.relu
        self.gelu = lambda x: f.gelu(x, approximate="tanh")
        self.cross_entropy = lambda logits, y: f.cross_entropy(logits.flatten(0, -2), y.flatten())

    def layer_norm(self, x, w, b):
        return self.f.layer_norm(x, w.shape, w, b)

    def attention(self, q, k, v):
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        y = self.f.scaled_dot_product_attention(q, k, v, is_causal=True)
        return y.transpose(1, 2)

    def conv(self, x, w, b):
        y = self.f.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), b, padding=1)
        return y.permute(0, 2, 3, 1)

    def pool(self, x):
        return self.f.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1)


class JaxOps:
    def __init__(self):
        import jax

        self.jax, self.jnp = jax, jax.numpy
        self.relu, self.gelu = jax.nn.relu, jax.nn.gelu

    def linear(self, x, w, b=None):
        y = x @ w.T
        return y if b is None else y + b

    def cross_entropy(self, logits, y):
        picked = self.jnp.take_along_axis(logits, y[..., None], axis=-1)[..., 0]
        return self.jnp.mean(self.jax.nn.logsumexp(logits, axis=-1) - picked)

    def layer_norm(self, x, w, b):
        x = x - self.jnp.mean(x, -1, keepdims=True)
        variance = self.jnp.mean(x * x, -1, keepdims=True)
        return x * self.jax.lax.rsqrt(variance + 1e-5) * w + b

    def attention(self, q, k, v):
        return self.jax.nn.dot_product_attention(q, k, v, is_causal=True)

    def conv(self, x, w, b):
        same = [(1, 1), (1, 1)]
        dims = ("NHWC", "OHWI", "NHWC")
        return self.jax.lax.conv_general_dilated(x, w, (1, 1), same, dimension_numbers=dims) + b

    def pool(self, x):
        n, h, w, c = x.shape
        return self.jnp.max(x.reshape(n, h // 2, 2, w // 2, 2, c), axis=(2, 4))


def mlp(ops, p, x):
    last = len(MLP) - 2
    for i in range(last):
        x = ops.relu(ops.linear(x, p[f"layers.{i}.weight"], p[f"layers.{i}.bias"]))
    return ops.linear(x, p[f"layers.{last}.weight"], p[f"layers.{last}.bias"])


def conv(ops, p, x):
    for name in ("conv1", "conv2"):
        x = ops.pool(ops.relu(ops.conv(x, p[f"{name}.weight"], p[f"{name}.bias"])))
    x = x.reshape(len(x), -1)
    x = ops.relu(ops.linear(x, p["fc1.weight"], p["fc1.bias"]))
    return ops.linear(x, p["fc2.weight"], p["fc2.bias"])


def gpt(ops, p, tokens):
    heads = (*tokens.shape, GPT["heads"], -1)
    x = p["tokens.weight"][tokens] + p["positions.weight"]
    for i in range(GPT["layers"]):
        w = {k[len(f"blocks.{i}.") :]: v for k, v in p.items() if k.startswith(f"blocks.{i}.")}
        y = ops.layer_norm(x, w["attention_norm.weight"], w["attention_norm.bias"])
        qkv = (
            ops.linear(y, w[f"attention.{part}_proj.weight"]).reshape(heads)
            for part in ("query", "key", "value")
        )
        y = ops.attention(*qkv).reshape(x.shape)
        x = x + ops.linear(y, w["attention.out_proj.weight"])
        y = ops.layer_norm(x, w["mlp_norm.weight"], w["mlp_norm.bias"])
        y = ops.gelu(ops.linear(y, w["mlp_in.weight"], w["mlp_in.bias"]))
        x = x + ops.linear(y, w["mlp_out.weight"], w["mlp_out.bias"])
    x = ops.layer_norm(x, p["norm.weight"], p["norm.bias"])
    return ops.linear(x, p["head.weight"], p["head.bias"])


def lm(ops, p, tokens):
    x = p["tokens.weight"][tokens] + p["positions.weight"]
    for i in range(LM["layers"]):
        w = {k[len(f"blocks.{i}.") :]: v for k, v in p.items() if k.startswith(f"blocks.{i}.")}
        y = ops.layer_norm(x, w["norm1.weight"], w["norm1.bias"])
        y = ops.linear(y, w["qkv.weight"], w["qkv.bias"])
        y = y.reshape(*tokens.shape, 3, LM["heads"], -1)
        y = ops.attention(y[:, :, 0], y[:, :, 1], y[:, :, 2]).reshape(x.shape)
        x = x + ops.linear(y, w["out.weight"], w["out.bias"])
        y = ops.layer_norm(x, w["norm2.weight"], w["norm2.bias"])
        y = ops.gelu(ops.linear(y, w["up.weight"], w["up.bias"]))
        x = x + ops.linear(y, w["down.weight"], w["down.bias"])
    x = ops.layer_norm(x, p["norm.weight"], p["norm.bias"])
    return ops.linear(x, p["tokens.weight"])


def training_torch(model, make_data):
    def function(torch):
        ops = TorchOps(torch)
        parameters, x, y = make_data()
        parameters = {k: torch.from_numpy(p).requires_grad_() for k, p in parameters.items()}
        x, y = torch.from_numpy(x), torch.from_numpy(y).long()
        x = x.long() if x.dtype == torch.int32 else x
        optimizer = torch.optim.AdamW(parameters.values(), fused=True, **ADAMW)

        def step():
            with torch.enable_grad():
                loss = ops.cross_entropy(model(ops, parameters, x), y)
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss

        return step

    return function


def training_jax(model, make_data):
    def function(jnp):
        import jax

        ops = JaxOps()
        parameters, x, y = jax.tree.map(jnp.array, make_data())
        rate, (b1, b2), eps, decay = ADAMW.values()

        def loss_fn(parameters):
            return ops.cross_entropy(model(ops, parameters, x), y)

        def update(state, t):
            parameters, first, second = state
            loss, grads = jax.value_and_grad(loss_fn)(parameters)
            first = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, first, grads)
            second = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, second, grads)
            c1, c2 = 1 - b1**t, 1 - b2**t
            parameters = jax.tree.map(
                lambda p, m, v: p * (1 - rate * decay) - rate * (m / c1) / (jnp.sqrt(v / c2) + eps),
                parameters,
                first,
                second,
            )
            return loss, (parameters, first, second)

        update = jax.jit(update, donate_argnums=0)
        zeros = [jax.tree.map(jnp.zeros_like, parameters) for _ in range(2)]
        state, t = (parameters, *zeros), 0

        def step():
            nonlocal state, t
            t += 1
            loss, state = update(state, float(t))
            jax.block_until_ready(state)
            return loss

        return step

    return function


def add(name, make_mlx, model, make_data, **options):
    family.add(
        name,
        mlx=training_mlx(make_mlx, make_data),
        torch=training_torch(model, make_data),
        jax=training_jax(model, make_data),
        jit=False,
        calls=3,
        tolerance=1e-3,
        quick=True,
        compiled=("mlx",),
        **options,
    )


add(
    "train_mlp_784_1k_1k_B128",
    mlp_mlx,
    mlp,
    mlp_data,
    flops=6 * MLP_BATCH * sum(n * m for n, m in pairwise(MLP)),
)
add(
    "train_convnet_mnist_B64",
    conv_mlx,
    conv,
    conv_data,
    flops=6 * CONV_BATCH * (784 * 9 * 32 + 196 * 9 * 32 * 64 + 3136 * 128 + 1280),
)
WEIGHTS = 12 * GPT["layers"] * GPT["dims"] ** 2 + 256 * GPT["dims"]
add(
    "train_gpt_3x128_L64_B32",
    gpt_mlx,
    gpt,
    gpt_data,
    units=GPT_BATCH * GPT["context"],
    unit="token",
    flops=6 * GPT_BATCH * GPT["context"] * (WEIGHTS + GPT["layers"] * GPT["context"] * GPT["dims"]),
)
WEIGHTS = 12 * LM["layers"] * LM["dims"] ** 2 + LM["vocabulary"] * LM["dims"]
add(
    "train_lm_4x256_L128_B8",
    lm_mlx,
    lm,
    lm_data,
    units=LM_BATCH * LM["context"],
    unit="token",
    flops=6 * LM_BATCH * LM["context"] * (WEIGHTS + LM["layers"] * LM["context"] * LM["dims"]),
)
