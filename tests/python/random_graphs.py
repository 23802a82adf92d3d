"""Random graphs over all families of ops, the same in every process for a seed.

As a program it is the worker of test_differential.py: it prints a line for each graph with its seed
and the digest of the bits of its outputs.

    python random_graphs.py --first 0 --count 1000 [--gradient] [--compiled | --pieces | --shapeless | --oracle]

With --pieces a graph is made of compiled functions of a few steps. With --shapeless replays for other
shapes are compared with the graph itself. With --gradient the outputs are a sum over those of the graph and its gradients. With --oracle every step of a graph is compared with NumPy on the values that its inputs have.
"""

from __future__ import annotations

import argparse
import hashlib
import random

import mlx.core as mx
import numpy as np

FLOATS = ["float32", "float32", "float32", "float16", "bfloat16", "float64"]
INTEGERS = ["int32", "int32", "uint8", "int8", "int16", "uint32", "int64", "bool_"]
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
SMALLEST = {"float16": 2.0**-24, "bfloat16": 1e-38, "float32": 1e-38, "float64": 1e-300}
SIZES = [1, 2, 3, 4, 5]


def name_of(dtype):
    return str(dtype).split(".")[-1].replace("bool", "bool_").replace("bool__", "bool_")


def is_float(dtype):
    return name_of(dtype) in EPSILON


def host(a):
    """The values in NumPy's nearest dtype that holds them all."""
    return np.array(a.astype(mx.float32)) if a.dtype == mx.bfloat16 else np.array(a)


def wide(x):
    return x.astype(np.float64) if x.dtype.kind == "f" else x


# ---- ops: (how to draw parameters, how to apply, the oracle and the scale of its rounding) ----

OPS = {}


def op(name, arity=1, draw=lambda r, *x: (), oracle=None, scale=None):
    """Register fn(arrays, *parameters). draw() gives parameters, or None where the op cannot go."""

    def register(fn):
        OPS[name] = (arity, draw, fn, oracle, scale)
        return fn

    return register


def sum_of_magnitudes(*x):
    return sum(np.abs(wide(v)).astype(np.float64) for v in x)


def unary(name, fn, oracle, scale=None):
    op(name, oracle=oracle, scale=scale)(fn)


def positive(x):
    return 1 + np.abs(wide(x))


FLOAT_UNARY = {
    "sin": (mx.sin, np.sin, lambda x: 1),
    "cos": (mx.cos, np.cos, lambda x: 1),
    "tanh": (mx.tanh, np.tanh, None),
    "arctan": (mx.arctan, np.arctan, None),
    "sigmoid": (mx.sigmoid, lambda x: 1 / (1 + np.exp(-x)), None),
    "exp_of_sin": (lambda x: mx.exp(mx.sin(x)), None, None),
    "log_of_positive": (lambda x: mx.log(mx.abs(x) + 1), None, None),
    "sqrt_of_abs": (lambda x: mx.sqrt(mx.abs(x)), None, None),
    "rsqrt_of_positive": (lambda x: mx.rsqrt(mx.abs(x) + 1), None, None),
    "reciprocal_of_positive": (lambda x: mx.reciprocal(mx.abs(x) + 1), None, None),
    "erf": (mx.erf, None, None),
    "expm1_of_tanh": (lambda x: mx.expm1(mx.tanh(x)), None, None),
}
for key, (fn, np_fn, size) in FLOAT_UNARY.items():
    OPS[key] = (
        1,
        lambda r, x: () if is_float(x.dtype) else None,
        fn,
        np_fn and (lambda x, f=np_fn: f(wide(x))),
        size,
    )
for key, fn, np_fn in (
    ("abs", mx.abs, np.abs),
    ("negative", lambda x: -x if x.dtype != mx.bool_ else ~x, None),
    ("square", mx.square, lambda x: x * x),
    ("floor", mx.floor, None),
    ("round", mx.round, None),
    ("sign", mx.sign, None),
    ("isnan", mx.isnan, np.isnan),
    ("logical_not", mx.logical_not, np.logical_not),
    ("isfinite", mx.isfinite, np.isfinite),
    ("stop_gradient", mx.stop_gradient, lambda x: x),
):
    unary(key, fn, np_fn and (lambda x, f=np_fn: f(wide(x))))

for key, fn, np_fn in (
    ("add", mx.add, np.add),
    ("subtract", mx.subtract, np.subtract),
    ("multiply", mx.multiply, np.multiply),
    ("maximum", mx.maximum, np.maximum),
    ("minimum", mx.minimum, np.minimum),
    ("arctan2", lambda x, y: mx.arctan2(x.astype(mx.float32), y.astype(mx.float32)), None),
    ("divide_by_positive", lambda x, y: x / (mx.abs(y) + 1), None),
    ("floor_divide", lambda x, y: x // (mx.abs(y) + 1), None),
    ("remainder", lambda x, y: x % (mx.abs(y) + 1), None),
    ("logaddexp", lambda x, y: mx.logaddexp(x.astype(mx.float32), y.astype(mx.float32)), None),
    ("less", mx.less, None),
    ("greater_equal", mx.greater_equal, None),
    ("equal", mx.equal, None),
    ("logical_and", mx.logical_and, np.logical_and),
):

    def binary_oracle(x, y, f=np_fn):
        # Of integers only those of one dtype: they wrap in it, as NumPy's do.
        if x.dtype.kind != "f" and y.dtype.kind != "f" and (x.dtype != y.dtype or x.dtype == bool):
            return None
        return f(wide(x), wide(y))

    OPS[key] = (2, lambda r, *x: (), fn, np_fn and binary_oracle, sum_of_magnitudes)


@op("where", 3, oracle=lambda c, x, y: np.where(c != 0, wide(x), wide(y)))
def choose(c, x, y):
    return mx.where(c, x, y)


@op("with_scalar", draw=lambda r, x: (r.choice("+-*"), r.choice([0, 1, 2, -1, 3])))
def with_scalar(x, symbol, value):
    if x.dtype == mx.bool_:
        x = x.astype(mx.int32)
    return {"+": x + value, "-": value - x, "*": x * value}[symbol]


@op("special", draw=lambda r, x: (r.choice([float("inf"), -float("inf"), float("nan"), -0.0]),))
def special(x, value):
    return mx.where(x > 1, value, x.astype(mx.float32))


@op("astype", draw=lambda r, x: (r.choice(FLOATS + INTEGERS),))
def astype(x, dtype):
    return x.astype(getattr(mx, dtype))


ELEMENTWISE = len(OPS)

# Reductions.


def some_axes(r, x):
    count = r.choice([None, *range(1, x.ndim + 1)])
    return count and tuple(sorted(r.sample(range(x.ndim), count)))


def reduction(name, np_fn, scale=None, floats_only=False):
    def draw(r, x):
        if x.size == 0 or (floats_only and not is_float(x.dtype)):
            return None
        return some_axes(r, x), r.random() < 0.4

    def oracle(x, axes, keep):
        return np_fn(wide(x), axis=axes, keepdims=keep)

    OPS[name] = (
        1,
        draw,
        lambda x, axes, keep: getattr(mx, name)(x, axis=axes, keepdims=keep),
        oracle,
        scale and (lambda x, axes, keep: scale(wide(x), axis=axes, keepdims=keep)),
    )


def magnitude_sum(x, axis, keepdims):
    return np.sum(np.abs(x), axis=axis, keepdims=keepdims) + 1


def square_sum(x, axis, keepdims):
    return np.mean(np.square(x), axis=axis, keepdims=keepdims) * 4


reduction("sum", np.sum, magnitude_sum)
reduction("mean", np.mean, magnitude_sum, floats_only=True)
reduction("max", np.max)
reduction("min", np.min)
reduction("var", np.var, square_sum, floats_only=True)
reduction("all", np.all)
reduction("any", np.any)
OPS["logsumexp"] = (
    1,
    lambda r, x: (some_axes(r, x), False) if is_float(x.dtype) and x.size else None,
    lambda x, axes, keep: mx.logsumexp(x, axis=axes, keepdims=keep),
    None,
    None,
)


def one_axis(r, x):
    return (r.randrange(-x.ndim, x.ndim),) if x.ndim and x.size else None


def float_axis(r, x):
    return one_axis(r, x) if is_float(x.dtype) else None


def softmax_oracle(x, axis):
    e = np.exp(wide(x) - wide(x).max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


for key, fn, draw, np_fn, size in (
    ("softmax", mx.softmax, float_axis, softmax_oracle, lambda x, axis: 1),
    ("argmax", mx.argmax, one_axis, lambda x, axis: np.argmax(wide(x), axis), None),
    ("argmin", mx.argmin, one_axis, lambda x, axis: np.argmin(wide(x), axis), None),
    ("sort", mx.sort, one_axis, lambda x, axis: np.sort(x, axis), None),
    ("argsort", mx.argsort, one_axis, None, None),
    ("cumsum", mx.cumsum, one_axis, None, None),
    ("cummax", mx.cummax, one_axis, lambda x, axis: np.maximum.accumulate(wide(x), axis), None),
    ("cumprod", lambda x, axis: mx.cumprod(mx.sin(x), axis), float_axis, None, None),
    ("flip", lambda x, axis: mx.flip(x, axis), one_axis, lambda x, axis: np.flip(x, axis), None),
    (
        "squeeze",
        lambda x, axis: mx.expand_dims(x, axis),
        one_axis,
        lambda x, axis: np.expand_dims(x, axis),
        None,
    ),
    (
        "median_element",
        lambda x, axis: mx.partition(x, x.shape[axis] // 2, axis),
        one_axis,
        None,
        None,
    ),
):
    if hasattr(mx, "flip") or key != "flip":
        OPS[key] = (1, draw, fn, np_fn, size)


# Shapes.


@op(
    "transpose",
    draw=lambda r, x: (tuple(r.sample(range(x.ndim), x.ndim)),),
    oracle=lambda x, axes: np.transpose(x, axes),
)
def transpose(x, axes):
    return mx.transpose(x, axes)


def draw_shape(r, x):
    shape = list(x.shape)
    if len(shape) > 1 and r.random() < 0.5:
        k = r.randrange(len(shape) - 1)
        return (tuple(shape[:k] + [shape[k] * shape[k + 1]] + shape[k + 2 :]),)
    return (tuple(r.choice([[-1], [1, *shape], [*shape, 1]])),)


@op("reshape", draw=draw_shape, oracle=np.reshape)
def reshape(x, shape):
    return mx.reshape(x, shape)


def draw_slices(r, x):
    key = []
    for n in x.shape:
        start, stop = sorted((r.randrange(n), r.randrange(n)))
        key.append(
            r.choice(
                [
                    slice(None),
                    slice(start, stop + 1),
                    slice(None, None, -1),
                    slice(None, None, 2),
                    0,
                ]
            )
        )
    return (tuple(key),) if key else None


@op("slice", draw=draw_slices, oracle=lambda x, key: x[key])
def take_slice(x, key):
    return x[key]


@op("concatenate", 2, draw=lambda r, x, y: one_axis(r, x))
def concatenate(x, y, axis):
    return mx.concatenate([x, y], axis)


@op("stack", 2, draw=lambda r, x, y: (r.randrange(x.ndim + 1),))
def stack(x, y, axis):
    return mx.stack([x, y], axis)


@op("broadcast_to", draw=lambda r, x: ((r.choice([1, 2, 3]), *x.shape),), oracle=np.broadcast_to)
def broadcast_to(x, shape):
    return mx.broadcast_to(x, shape)


@op("repeat", draw=lambda r, x: (r.randrange(1, 3), r.randrange(x.ndim)) if x.ndim else None)
def repeat(x, count, axis):
    return mx.repeat(x, count, axis)


@op(
    "pad",
    draw=lambda r, x: ([(r.randrange(2), r.randrange(3)) for _ in x.shape],) if x.ndim else None,
)
def pad(x, widths):
    return mx.pad(x, widths)


@op("roll", draw=lambda r, x: (r.randrange(-3, 4), r.randrange(x.ndim)) if x.ndim else None)
def roll(x, shift, axis):
    return mx.roll(x, shift, axis)


# Indexing.


def positions(i, n):
    return mx.stop_gradient(mx.abs(i.astype(mx.int32)).reshape(-1) % n)


@op("take", 2, draw=lambda r, x, i: one_axis(r, x))
def take(x, i, axis):
    index = positions(i, x.shape[axis])
    return mx.take(x, index, axis)


@op("take_along_axis", draw=one_axis)
def take_along_axis(x, axis):
    return mx.take_along_axis(x, mx.argsort(x, axis), axis)


@op("put_along_axis", draw=one_axis)
def put_along_axis(x, axis):
    index = mx.stop_gradient(mx.argmax(x, axis, keepdims=True))
    return mx.put_along_axis(x, index, mx.array(1).astype(x.dtype), axis)


@op(
    "assign",
    draw=lambda r, x: (r.randrange(x.shape[0]), r.randrange(5)) if x.ndim and x.size else None,
)
def assign(x, row, value):
    y = x + 0
    y[row] = value
    return y


@op("scatter_add", 2, draw=lambda r, x, i: () if x.ndim and x.size else None)
def scatter_add(x, i):
    index = positions(i, x.shape[0])
    return x.at[index].add(mx.array(1).astype(x.dtype))


# Products, random numbers.


def draw_product(r, x, y):
    fits = x.ndim and y.ndim and is_float(x.dtype) and is_float(y.dtype)
    return () if fits and x.shape[-1] == y.shape[-2 if y.ndim > 1 else -1] else None


def product_scale(x, y):
    return np.matmul(np.abs(wide(x)), np.abs(wide(y)))


@op("matmul", 2, draw_product, lambda x, y: np.matmul(wide(x), wide(y)), product_scale)
def matmul(x, y):
    return x @ y


@op("gram", draw=lambda r, x: () if x.ndim >= 2 and is_float(x.dtype) and x.size < 4000 else None)
def gram(x):
    return x @ mx.swapaxes(x, -1, -2)


@op("random", draw=lambda r, x: (r.randrange(100),))
def draw_random(x, seed):
    return x + mx.random.uniform(shape=x.shape, key=mx.random.key(seed))


@op("bernoulli", draw=lambda r, x: (r.randrange(100),))
def draw_bernoulli(x, seed):
    return mx.where(mx.random.bernoulli(0.5, x.shape, key=mx.random.key(seed)), x, 0)


# ---- graphs ----


class Graph:
    """inputs, steps (name, operand numbers, parameters) and the numbers of the outputs."""

    def __init__(self, seed):
        r = random.Random(seed)
        data = np.random.default_rng(seed)
        large = r.random() < 0.12
        base = (r.choice([130, 257]), r.choice([129, 300])) if large else None
        self.inputs = [self.draw_input(r, data, base) for _ in range(r.randrange(2, 5))]
        self.steps = []
        values = list(self.inputs)
        wanted = r.randrange(5, 12 if large else 41)
        for _ in range(6 * wanted):
            if len(self.steps) == wanted:
                break
            # Element-wise ops, which come first, most of all: they are what is fused.
            name = r.choice(list(OPS)[:ELEMENTWISE] if r.random() < 0.5 else list(OPS))
            arity, draw, fn, _, _ = OPS[name]
            # Late values more often than early ones, so that the graph is deep.
            operands = [
                min(len(values) - 1, int(len(values) * r.random() ** 0.5)) for _ in range(arity)
            ]
            parameters = draw(r, *(values[k] for k in operands))
            if parameters is None:
                continue
            try:
                value = fn(*(values[k] for k in operands), *parameters)
            except (ValueError, RuntimeError):
                continue  # shapes or dtypes that do not go together
            if value.size > (1 << 18 if large else 4000) or value.ndim > 6:
                continue
            values.append(value)
            self.steps.append((name, operands, parameters))
        last = len(values) - 1
        first = len(self.inputs)
        self.outputs = sorted(
            {last, *(r.randrange(first, last + 1) for _ in range(r.randrange(4)))}
        )

    @staticmethod
    def draw_input(r, data, base):
        rank = r.randrange(0, 4)
        shape = base if base and r.random() < 0.7 else tuple(r.choice(SIZES) for _ in range(rank))
        dtype = r.choice(FLOATS + INTEGERS[:4])
        x = Graph.fill(data, shape, dtype)
        return mx.swapaxes(x, 0, -1) if len(shape) > 1 and r.random() < 0.3 else x

    @staticmethod
    def fill(data, shape, dtype):
        values = data.uniform(-3, 3, shape) if dtype in EPSILON else data.integers(0, 5, shape)
        return mx.array(np.asarray(values, np.float32)).astype(getattr(mx, dtype))

    def values(self, inputs):
        values = list(inputs)
        for name, operands, parameters in self.steps:
            values.append(OPS[name][2](*(values[k] for k in operands), *parameters))
        return values

    def __call__(self, *inputs):
        values = self.values(inputs)
        return [values[k] for k in self.outputs]

    def in_pieces(self, *inputs, length=4):
        """The outputs, of compiled functions of a few steps each."""
        values = dict(enumerate(inputs))
        first = len(inputs)
        for begin in range(0, len(self.steps), length):
            steps = self.steps[begin : begin + length]
            later = self.steps[begin + length :]
            wanted = {k for _, operands, _ in later for k in operands} | set(self.outputs)
            made = range(first + begin, first + begin + len(steps))
            results = [k for k in made if k in wanted]
            read = sorted({k for _, operands, _ in steps for k in operands} - set(made))

            def piece(*known, steps=steps, made=made, results=results, read=read):
                inner = dict(zip(read, known))
                for k, (name, operands, parameters) in zip(made, steps):
                    inner[k] = OPS[name][2](*(inner[i] for i in operands), *parameters)
                return [inner[k] for k in results]

            values.update(zip(results, mx.compile(piece)(*(values[k] for k in read))))
        return [values[k] for k in self.outputs]

    def in_other_shapes(self, seed):
        """Inputs in which every size is replaced by another, the same one everywhere."""
        r = random.Random(seed)
        data = np.random.default_rng(seed)
        sizes = {n: r.choice([n, n + 1, n + 2, 1, 3]) for x in self.inputs for n in x.shape}
        return [
            self.fill(data, tuple(sizes[n] for n in x.shape), name_of(x.dtype)) for x in self.inputs
        ]

    def gradient(self, function=None):
        """A function of the inputs that gives the gradients of all its outputs together."""
        function = function or self

        def loss(*inputs):
            return sum(mx.sin(y.astype(mx.float32)).sum() for y in function(*inputs))

        return mx.value_and_grad(loss, argnums=list(range(len(self.inputs))))

    def text(self):
        lines = [f"{k} = {name_of(x.dtype)}{x.shape}" for k, x in enumerate(self.inputs)]
        for k, (name, operands, parameters) in enumerate(self.steps, len(self.inputs)):
            lines.append(f"{k} = {name}({', '.join(map(str, [*operands, *parameters]))})")
        return "\n".join([*lines, f"return {self.outputs}"])


def digest(arrays):
    h = hashlib.sha1()
    for a in arrays:
        h.update(f"{name_of(a.dtype)}{a.shape}".encode())
        h.update(np.ascontiguousarray(np.array(a.view(mx.uint16) if a.dtype == mx.bfloat16 else a)))
    return h.hexdigest()


def disagreement(graph):
    """The first step whose value is not what NumPy gives for the same operands, as text."""
    values = graph.values(graph.inputs)
    for k, (name, operands, parameters) in enumerate(graph.steps, len(graph.inputs)):
        _, _, _, oracle, scale = OPS[name]
        got = values[k]
        x = [host(values[i]) for i in operands]
        if oracle is None or not all(np.isfinite(v).all() for v in x):
            continue
        with np.errstate(all="ignore"):
            want = oracle(*x, *parameters)
            if want is None:
                continue
            want = np.asarray(want)
            size = np.asarray(scale(*x, *parameters) if scale else 0.0, np.float64)
        if want.shape != got.shape:
            return f"{k} = {name}: shape {got.shape}, NumPy gives {want.shape}"
        dtype = name_of(got.dtype)
        if dtype in EPSILON:
            largest = {"float16": 65504.0}.get(dtype, 1e38)
            inside = np.abs(want) < largest
            error = np.abs(host(got).astype(np.float64) - want)[inside]
            bound = 8 * EPSILON[dtype] * (np.abs(want) + size) + SMALLEST[dtype]
            if (error > np.broadcast_to(bound, want.shape)[inside]).any():
                return f"{k} = {name}: off by {error.max()}"
        elif (host(got) != want.astype(host(got).dtype)).any():
            return f"{k} = {name}: {host(got).ravel()[:8]}, NumPy gives {want.ravel()[:8]}"
    return None


# Ops whose code looks at shapes, which a replay for other shapes does not.
LOOKS_AT_SHAPES = {"median_element", "random", "bernoulli", "take", "scatter_add", "repeat"}


def shapeless_disagreement(graph, gradient, seed):
    """What differs between a shapeless replay and the function, as text."""
    if any(name in LOOKS_AT_SHAPES for name, _, _ in graph.steps):
        return None
    f = graph.gradient() if gradient else graph
    arrays = (lambda o: [o[0], *o[1]]) if gradient else list
    compiled = mx.compile(f, shapeless=True)
    try:
        compiled(*graph.inputs)
    except ValueError:
        return None  # fixed shapes, or no gradient
    for k in range(4):
        inputs = graph.in_other_shapes(4 * seed + k)
        try:
            want = arrays(f(*inputs))
        except (ValueError, IndexError):
            want = None  # fixed shapes that do not fit: not always seen without running the code
        try:
            got = arrays(compiled(*inputs))
            bits = digest(got)
        except ValueError as error:
            if want is not None and "reshape" not in str(error):
                return f"replay {k} raises {error}"
            continue
        if want is not None and bits != digest(want):
            return f"replay {k} differs"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--pieces", action="store_true")
    parser.add_argument("--shapeless", action="store_true")
    parser.add_argument("--oracle", action="store_true")
    parser.add_argument("--gradient", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the graphs")
    args = parser.parse_args()
    for seed in range(args.first, args.first + args.count):
        graph = Graph(seed)
        if args.show:
            print(graph.text())
        if args.shapeless:
            print(seed, "-", shapeless_disagreement(graph, args.gradient, seed) or "", flush=True)
            continue
        f = graph.in_pieces if args.pieces else graph
        f = graph.gradient(f) if args.gradient else f
        try:
            if args.compiled:
                f = mx.compile(f)
                f(*graph.inputs)  # not computed: the second call is a replay
            outputs = f(*graph.inputs)
        except ValueError as error:  # an op that has no gradient
            print(seed, "".join(c for c in str(error) if c.isalnum()))
            continue
        arrays = [outputs[0], *outputs[1]] if args.gradient else outputs
        print(seed, digest(arrays), (args.oracle and disagreement(graph)) or "", flush=True)


if __name__ == "__main__":
    main()
