"""What small work costs besides the arithmetic. Times are per op where a chain is built."""

from .workload import Family, normal

family = Family("overhead")
TINY = normal(8), normal(8, scale=1e-3)


def chain(xp):
    def f(x, y):
        for _ in range(1000):
            x = x + y
        return x

    return f


def drop(xp):
    """Builds the chain and lets go of it."""

    def f(x, y):
        for _ in range(1000):
            x = x + y

    return f


def eight_ops(xp):
    def f(x, y):
        z = xp.tanh(x) * y + x
        z = xp.abs(z - y) * 0.5
        return xp.maximum(z, x) + y

    return f


def network(xp):
    return lambda w1, w2, x: xp.sum(xp.tanh(xp.tanh(x @ w1) @ w2))


def gradient_mlx(xp):
    f = xp.value_and_grad(network(xp), argnums=(0, 1))
    return lambda *args: leaves_of(f(*args))


def gradient_torch(xp):
    loss = network(xp)

    def f(w1, w2, x):
        with xp.enable_grad():
            w1, w2 = (w.detach().requires_grad_() for w in (w1, w2))
            value = loss(w1, w2, x)
            return value, *xp.autograd.grad(value, (w1, w2))

    return f


def gradient_jax(xp):
    import jax

    f = jax.value_and_grad(network(xp), argnums=(0, 1))
    return lambda *args: leaves_of(f(*args))


def leaves_of(value_and_grads):
    value, grads = value_and_grads
    return value, *grads


def row(xp):
    return lambda x, y: xp.sum(xp.tanh(x * y) + x)


def vmap_jax(xp):
    import jax

    return jax.vmap(row(xp))


def mlp(xp):
    relu = getattr(xp, "relu", None) or (lambda x: xp.maximum(x, 0))

    def f(x, *weights):
        for w in weights[:-1]:
            x = relu(x @ w)
        return x @ weights[-1]

    return f


add = family.add
add("chain1000_tiny_add", *TINY, same=chain, units=1000, unit="op", jit=False, quick=True)
add("build1000_no_eval", *TINY, mlx=drop, units=1000, unit="op", wait=False, quick=True)
add("one_op_then_eval", *TINY, same=lambda xp: lambda x, y: x + y, jit=False, quick=True)
add("eight_tiny_ops", normal(16), normal(16), same=eight_ops, compiled=True, quick=True)
add(
    "value_and_grad_tiny",
    normal(16, 16, scale=0.2),
    normal(16, 16, scale=0.2),
    normal(4, 16),
    mlx=gradient_mlx,
    torch=gradient_torch,
    jax=gradient_jax,
    compiled=True,
    quick=True,
)
add(
    "vmap_tiny",
    normal(32, 16),
    normal(32, 16),
    mlx=lambda xp: xp.vmap(row(xp)),
    torch=lambda xp: xp.func.vmap(row(xp)),
    jax=vmap_jax,
    compiled=True,
)
add(
    "mlp_infer_B1_256",
    normal(1, 256),
    normal(256, 256, scale=1 / 16),
    normal(256, 256, scale=1 / 16),
    normal(256, 16, scale=1 / 16),
    same=mlp,
    compiled=True,
)
