# Calls every public name of mlx.core with random good and bad arguments, each call written as
# Python source so that a finding is its own reproduction. Run as a program it is the worker:
#   python fuzz_calls.py --seed 3 --count 5000 [--first N] [--only NAME]
# It prints each call to the journal before making it; whoever watches sees the call that crashed.
import argparse
import gc
import random
import re
import resource
import sys
import warnings

import mlx.core as mx
import numpy as np

DTYPES = [
    "bool_",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "complex64",
]
SHAPES = [
    (),
    (),
    (0,),
    (1,),
    (2,),
    (3,),
    (3,),
    (5,),
    (2, 3),
    (2, 3),
    (3, 3),
    (3, 3),
    (3, 2),
    (1, 3),
    (3, 1),
    (0, 3),
    (3, 0),
    (2, 3, 4),
    (1, 3, 1),
    (2, 0, 2),
    (2, 3, 3),
    (1, 2, 1, 3),
    (17, 9),
    (70,),
    (1,) * 11,
]
INTS = [
    "0",
    "0",
    "1",
    "1",
    "2",
    "2",
    "-1",
    "-1",
    "3",
    "-3",
    "7",
    "2**31-1",
    "2**31",
    "-2**31",
    "2**40",
    "-2**40",
    "2**63-1",
    "2**63",
    "-2**63",
    "2**64",
    "2**200",
]
ODD = [
    "None",
    "None",
    "'axis'",
    "''",
    "[]",
    "()",
    "{}",
    "[1, 'a']",
    "float('nan')",
    "float('inf')",
    "-0.5",
    "1.5",
    "True",
    "1j",
    "b'ab'",
    "object()",
    "mx",
    "mx.float32",
    "mx.cpu",
    "mx.array",
    "np.int64(1)",
    "np.float32(1.5)",
    "np.bool_(True)",
    "np.arange(3)",
    "np.array('s')",
    "np.array([None])",
    "np.zeros((2, 3), '>f4')",
    "np.arange(6)[::-2]",
    "range(3)",
    "lambda: 1",
    "slice(None)",
    "...",
    "[[1, 2], [3]]",
    "{'a': mx.ones(2)}",
    "[mx.ones(2), mx.ones(3)]",
    "'\\udc80'",
    "'\\0'",
    "set()",
    "iter([1, 2])",
    "np.ones((2, 2), 'M8[s]')",
    "mx.gpu",
    "np.float64(2.5)",
    "2**63",
    "-2**63 - 1",
    "1e400",
    "10**400",
    "type",
]
# What takes no part: what stops or reconfigures the process, and what would write files anywhere.
LEFT_OUT = {
    "clear_streams",
    "save",
    "savez",
    "savez_compressed",
    "save_safetensors",
    "export_to_dot",
    "set_memory_limit",
    "set_cache_limit",
    "set_default_device",
    "set_default_stream",
    "random",
    "set_wired_limit",
    "set_printoptions",
    "new_stream",
    "new_thread_unsafe_stream",
    "new_thread_local_stream",
}
AXIS_NAMES = [
    "axis",
    "axes",
    "axis1",
    "axis2",
    "k",
    "offset",
    "n",
    "m",
    "start_axis",
    "end_axis",
    "ddof",
    "source",
    "destination",
    "shift",
    "repeats",
    "num",
    "decimals",
    "dims",
]
CLASSES = (
    TypeError,
    ValueError,
    IndexError,
    OverflowError,
    RuntimeError,
    MemoryError,
    AttributeError,
    KeyError,
    BufferError,
    OSError,
    ZeroDivisionError,
)
LIBRARY_TEXT = re.compile(
    r"std::|basic_string|vector::|_M_|terminate|bad_alloc|bad_cast|nanobind::|mlx::core|"
    r"\bstoi\b|bad_function|_Z[NKT]\w|Unknown exception|map::at|SystemError"
)


# Errors name the function that was called, an alias the one it stands for. Left out are those that
# pass on what the caller's own function raised.
ALIASES = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "concat": "concatenate",
    "empty": "zeros",
    "empty_like": "zeros_like",
    "conj": "conjugate",
    "cumulative_prod": "cumprod",
    "cumulative_sum": "cumsum",
    "matrix_norm": "norm",
    "permute_dims": "transpose",
    "pow": "power",
}
CALLS_BACK = {
    "checkpoint",
    "compile",
    "custom_function",
    "grad",
    "jvp",
    "value_and_grad",
    "vjp",
    "vmap",
}
# Of making the arguments, and of dimensions that are no 64-bit integers.
OF_ARGUMENTS = ("[as_strided]", "[broadcast_to]", "[shape]", "DLPack")


def unnamed(source, text):
    """The function whose name is missing in the text of the error that its call raised, or None."""
    called = re.match(r"out = mx\.(?:random\.|linalg\.)?([a-z]\w*)\(", source)
    if not called or called[1] in CALLS_BACK:
        return None
    name = ALIASES.get(called[1], called[1])
    named = name in text or any(text.startswith(word) for word in OF_ARGUMENTS)
    return None if named else name


def data(rng, shape, dtype):
    """Source of a NumPy array of this shape with ordinary or extreme values."""
    size = int(np.prod(shape))
    kind = "c" if dtype == "complex64" else "f" if "float" in dtype else dtype[0]
    if kind == "b" and dtype == "bool_":
        return f"(np.arange({size}) % {rng.randint(1, 3)} == 0).reshape({shape})"
    extreme = rng.random() < 0.15
    if kind in "iu":
        info = np.iinfo(dtype)
        values = [0, 1, 2, 3, 5] + ([-1, -4] if kind == "i" else [])
        if extreme:
            values = [info.min, info.max, 0, info.max - 1, -1 if kind == "i" else 1]
        name = dtype
    else:
        values = [0.5, 1.0, -1.5, 2.0, 0.25, -3.0, 0.0]
        if extreme:
            values = ["np.nan", "np.inf", "-np.inf", "-0.0", 3e38, 1e-40, -7.0]
        name = {"bfloat16": "float32", "complex64": "complex64"}.get(dtype, dtype)
    if size > 12 or (size == 0 and not extreme):
        return f"(np.arange({size}) % 7).astype('{name}').reshape({shape})"
    listed = ", ".join(str(rng.choice(values)) for _ in range(size))
    return f"np.array([{listed}], '{name}').reshape({shape})"


def array(rng, shape=None, dtype=None):
    """Source of an array, often one that is a view."""
    shape = rng.choice(SHAPES) if shape is None else shape
    if dtype is None:
        dtype = rng.choice(DTYPES if rng.random() < 0.6 else ["float32", "int32"])
    source = f"mx.array({data(rng, shape, dtype)}, mx.{dtype})"
    roll = rng.random()
    if roll < 0.08:
        source += ".T"
    elif roll < 0.14 and len(shape):
        source += "[::-1]"
    elif roll < 0.18 and len(shape):
        source += "[..., ::2]"
    elif roll < 0.22:
        source = f"mx.broadcast_to({source}, (2,) + {shape})"
    elif roll < 0.24:
        source = f"mx.as_strided({source}, (2, 2), (0, 0))"
    return source


def integer(rng):
    return rng.choice(INTS[:11] if rng.random() < 0.7 else INTS)


def sequence(rng):
    return "(" + "".join(integer(rng) + ", " for _ in range(rng.randint(0, 4))) + ")"


def index(rng, depth=0):
    roll = rng.random()
    if roll < 0.25:
        return integer(rng)
    if roll < 0.5:
        part = lambda: "None" if rng.random() < 0.4 else integer(rng)
        return f"slice({part()}, {part()}, {part()})"
    if roll < 0.6:
        return rng.choice(["None", "..."])
    if roll < 0.75:
        return array(rng, dtype=rng.choice(["int32", "uint8", "int64", "bool_", "float32"]))
    if roll < 0.8:
        return rng.choice(["[0, -1]", "[[0], [1]]", "[True, False]", "[]", "True"])
    if roll < 0.95 and not depth:
        return "(" + "".join(index(rng, 1) + ", " for _ in range(rng.randint(0, 4))) + ")"
    return rng.choice(ODD)


def anything(rng):
    roll = rng.random()
    if roll < 0.45:
        return array(rng)
    if roll < 0.6:
        return integer(rng)
    if roll < 0.7:
        return sequence(rng)
    if roll < 0.74:
        return rng.choice(["0.5", "True", "2", "-1.5"])
    if roll < 0.8:
        return f"mx.{rng.choice(DTYPES)}"
    if roll < 0.84:
        return "[" + ", ".join(array(rng) for _ in range(rng.randint(0, 3))) + "]"
    if roll < 0.87:
        return data(rng, rng.choice(SHAPES), rng.choice(DTYPES[:-2]))
    return rng.choice(ODD)


def parameters(function):
    """(name, annotation, has a default, keyword only) by the first line of the docstring."""
    line = (getattr(function, "__doc__", None) or "").split("\n")[0]
    match = re.match(r"\w+\((.*)\)", line)
    if not match:
        return []
    depth, part, parts = 0, "", []
    for letter in match.group(1) + ",":
        depth += (letter in "[(") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    found, keyword = [], False
    for item in parts:
        if item == "*":
            keyword = True
        elif item and item not in ("/", "self") and not item.startswith("self:"):
            name, _, rest = item.partition(":")
            star = name.startswith("*")
            found.append(
                (
                    name.strip().lstrip("*").split("=")[0],
                    rest.split("=")[0],
                    "=" in item or star,
                    keyword and not star,
                )
            )
    return found


def fitting(rng, name, kind):
    """Source of an argument that has the annotated type, most of the time."""
    if rng.random() < 0.12:
        return anything(rng)
    if name == "stream":
        return rng.choice(["None", "mx.cpu", "mx.default_stream(mx.cpu)", "mx.gpu", "3"])
    if name == "fun":
        return rng.choice(
            [
                "mx.sin",
                "lambda x: x",
                "lambda x: mx.sum(x * x)",
                "lambda *a: None",
                "lambda x, y: x @ y",
                "lambda x: 1 / 0",
                "lambda x: x.item()",
            ]
        )
    if name in ("dtype", "to", "from_"):
        return f"mx.{rng.choice(DTYPES)}"
    if name == "shape" and rng.random() < 0.7:
        return str(rng.choice(SHAPES))
    if name == "key":
        return rng.choice(["None", "mx.random.key(1)", array(rng)])
    if name in ("arrays", "primals", "tangents", "cotangents"):
        shape = rng.choice(SHAPES)
        return "[" + ", ".join(array(rng, shape) for _ in range(rng.randint(0, 3))) + "]"
    if "int" in kind and "Sequence" in kind and rng.random() < 0.4:
        return sequence(rng)
    if "array" in kind and not ("int" in kind and rng.random() < 0.5):
        return array(rng)
    if name in AXIS_NAMES or "int" in kind:
        return integer(rng)
    if "bool" in kind:
        return rng.choice(["True", "False"])
    if "float" in kind:
        return rng.choice(["0.5", "0", "-1e30", "float('nan')"])
    if "str" in kind:
        return rng.choice(["'xy'", "'ij'", "'constant'", "'edge'", "'reflect'", "''"])
    return anything(rng)


def arguments(rng, params):
    if not params or rng.random() < 0.08:
        return [anything(rng) for _ in range(rng.randint(0, 3))]
    given, by_name = [], rng.random() < 0.3
    for name, kind, optional, keyword in params:
        if optional and rng.random() < 0.55:
            by_name = True
            continue
        value = fitting(rng, name, kind)
        given.append(f"{name}={value}" if keyword or (by_name and optional) else value)
        if keyword:
            by_name = True
    if rng.random() < 0.03:
        given.append("no_such_argument=1")
    # A positional after a keyword is no call at all.
    return [g for g in given if "=" not in g[:14].split("(")[0]] + [
        g for g in given if "=" in g[:14].split("(")[0]
    ]


def public():
    """(source of the callable, the callable) of every name, method and operator."""
    found = []
    for name in dir(mx):
        value = getattr(mx, name)
        if callable(value) and not name.startswith("_") and name not in LEFT_OUT:
            found.append((f"mx.{name}", value))
    found += [
        (f"mx.{part}.{name}", getattr(getattr(mx, part), name))
        for part in ("random", "linalg")
        for name in dir(getattr(mx, part))
        if not name.startswith("_") and callable(getattr(getattr(mx, part), name))
    ]
    left_out = {
        "__class__",
        "__init_subclass__",
        "__subclasshook__",
        "__new__",
        "__reduce_ex__",
        "__getattribute__",
        "__setattr__",
        "__delattr__",
        "__init__",
    }
    found += [
        (f"mx.array.{name}", getattr(mx.array, name))
        for name in dir(mx.array)
        if callable(getattr(mx.array, name)) and name not in left_out
    ]
    return found


SIMPLE = [
    "mx.sin",
    "mx.exp",
    "mx.sum",
    "mx.prod",
    "mx.cumsum",
    "mx.sort",
    "mx.sqrt",
    "mx.max",
    "mx.softmax",
    "mx.logsumexp",
    "mx.var",
    "mx.transpose",
    "mx.flip",
    "mx.tril",
    "mx.mean",
    "mx.abs",
    "mx.square",
    "mx.argmax",
    "mx.flatten",
    "mx.squeeze",
    "mx.std",
    "mx.diag",
    "lambda x: x @ x.T",
    "lambda x: x[0]",
    "lambda x: x[::-1]",
    "lambda x: mx.roll(x, 1, 0)",
    "lambda x: mx.take(x, mx.array([0, 1]), axis=0)",
    "lambda x: mx.concatenate([x, x])",
    "lambda x: mx.where(x > 0, x, 2 * x)",
    "lambda x: mx.pad(x, 1)",
    "lambda x: x ** 2",
    "lambda x: x.reshape(-1)",
    "lambda x: mx.repeat(x, 2, 0)",
    "lambda x: x.astype(mx.int8)",
    "lambda x: mx.outer(x, x)",
    "lambda x: mx.tensordot(x, x, 1)",
    "lambda x: x // 2",
    "lambda x: mx.stack([x, x], -1)",
    "lambda x: mx.maximum(x, x.T)",
    "lambda x: x.view(mx.int32)",
    "lambda x: mx.put_along_axis(x, mx.array([0]), x, 0)",
    "lambda x: mx.as_strided(x, (2,), (1,))",
]


def transformed(rng):
    function = rng.choice([s for s in SIMPLE if s[0] == "l" or hasattr(mx, s[3:])])
    for _ in range(rng.randint(1, 3)):
        roll = rng.random()
        if roll < 0.35:
            function = f"mx.vmap({function}, {rng.choice(['0', '0', '-1', '1', '(0,)', '5'])})"
        elif roll < 0.7:
            function = f"mx.grad(lambda *a, f={function}: mx.sum(f(*a)))"
        elif roll < 0.8:
            function = f"(lambda x, f={function}: mx.jvp(f, [x], [x])[1])"
        elif roll < 0.9:
            function = f"(lambda x, f={function}: mx.vjp(f, [x], [f(x)])[1])"
        elif hasattr(mx, "compile"):
            function = f"mx.compile({function})"
    return f"({function})({array(rng)})"


def statement(rng):
    target = array(rng)
    roll = rng.random()
    if roll < 0.3:
        return f"x = {target}; x[{index(rng)}] = {anything(rng)}; out = x"
    if roll < 0.6:
        return f"out = ({target})[{index(rng)}]"
    sign = rng.choice(["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>"])
    if roll < 0.75:
        return f"x = {target}; y = x; x {sign}= {anything(rng)}; out = (x, y)"
    if roll < 0.9:
        left, right = (target, anything(rng)) if rng.random() < 0.5 else (anything(rng), target)
        return f"out = ({left}) {sign} ({right})"
    if roll < 0.96:
        name = rng.choice(
            [
                "int",
                "float",
                "bool",
                "complex",
                "len",
                "list",
                "str",
                "repr",
                "hash",
                "bytes",
                "memoryview",
                "np.array",
                "iter",
                "abs",
                "round",
                "copy.copy",
                "copy.deepcopy",
                "pickle.dumps",
                "range",
                "sum",
                "reversed",
                "dir",
            ]
        )
        return f"out = {name}({target})"
    return (
        f"out = format({target}, {rng.choice(['repr', 'str'])}({rng.choice(['1', '.2', 'd'])!r}))"
    )


def call(seed, number, only=None):
    """Source of one call; the same for the same seed and number."""
    rng = random.Random(f"{seed}:{number}")
    if only is None and rng.random() < 0.15:
        return "out = " + transformed(rng)
    if only is None and rng.random() < 0.3:
        return statement(rng)
    name, function = rng.choice([c for c in public() if only is None or c[0].endswith(only)])
    given = arguments(rng, parameters(function))
    if name.startswith("mx.array."):
        given = [array(rng)] + given
    source = f"{name}({', '.join(given)})"
    if name in ("mx.grad", "mx.value_and_grad", "mx.vmap", "mx.compile"):
        source += f"({array(rng)})"
    return "out = " + source


def tiny_arrays(tree, depth=0):
    if isinstance(tree, mx.array):
        yield tree
    elif isinstance(tree, (list, tuple)) and depth < 4:
        for item in tree:
            yield from tiny_arrays(item, depth + 1)
    elif isinstance(tree, dict) and depth < 4:
        for item in tree.values():
            yield from tiny_arrays(item, depth + 1)


def attempt(source):
    """What is wrong with this call, or None."""
    import copy
    import pickle

    scope = {"mx": mx, "np": np, "copy": copy, "pickle": pickle}
    called = False
    try:
        exec(source, scope)
        called = True
        for item in tiny_arrays(scope.get("out")):
            mx.eval(item)
            if np.prod([max(n, 1) for n in item.shape], dtype=float) < 10000:
                str(item)
                if item.size != len(np.array(item.tolist(), dtype=object).ravel()) and item.size:
                    return f"{item.size} elements, but tolist() has others"
    except CLASSES as error:
        text = str(error)
        if LIBRARY_TEXT.search(text):
            return f"library text in {type(error).__name__}: {text}"
        if not text and not isinstance(error, MemoryError):
            return f"{type(error).__name__} without a message"
        if called and isinstance(error, MemoryError):
            return None if re.search(r"\((for|while evaluating) \w+", text) else f"no op in: {text}"
        if unnamed(source, text):
            return f"{type(error).__name__} that does not name {unnamed(source, text)}: {text}"
    except Exception as error:
        return f"unexpected class {type(error).__name__}: {error}"
    return None


def watch(seed, first, count, seconds, stall=10, only=None):
    """Makes the calls in a subprocess, anew after a crash; (findings, number of calls made)."""
    import os
    import select
    import subprocess
    import time

    findings, number, end = [], first, time.monotonic() + seconds
    while number < first + count and time.monotonic() < end:
        command = [
            sys.executable,
            __file__,
            "--seed",
            str(seed),
            "--first",
            str(number),
            "--count",
            str(first + count - number),
        ] + (["--only", only] if only else [])
        # A file for what the process says as it dies; a pipe for the journal.
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as worker:
            last, text, heard, done, hung = "no call", b"", time.monotonic(), False, False
            while True:
                ready, _, _ = select.select([worker.stdout], [], [], 0.5)
                if ready:
                    chunk = os.read(worker.stdout.fileno(), 1 << 16)
                    if not chunk:
                        break
                    text += chunk
                    heard = time.monotonic()
                elif time.monotonic() - heard > stall:
                    hung = True
                    worker.kill()
                    break
                if time.monotonic() > end:
                    done = True
                    worker.kill()
                    break
            worker.wait()
        said, extra = text.decode(errors="replace").split("\n"), []
        for line in said:
            if line.startswith("CALL "):
                number, last, extra = int(line.split()[1]) + 1, line, []
            elif line.startswith("WRONG "):
                extra = None
                findings.append(line)
            elif extra is None:
                findings[-1] += "\n" + line
            elif line == "DONE":
                done = True
            else:
                extra.append(line)
        if not done:
            how = "hung in" if hung else f"ended with status {worker.returncode} in"
            findings.append(f"{how} {last}\n    " + "\n    ".join(extra or [])[-1500:])
    return findings, number - first


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--only")
    parser.add_argument("--errors", action="store_true", help="print every error's text")
    parser.add_argument("--watch", type=float, help="seconds to make calls in a subprocess")
    options = parser.parse_args()
    if options.watch:
        findings, made = watch(
            options.seed, options.first, options.count, options.watch, only=options.only
        )
        print("\n".join(findings), f"\n{made} calls, {len(findings)} findings")
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    mx.set_memory_limit(1 << 28)
    mx.set_cache_limit(1 << 24)
    for number in range(options.first, options.first + options.count):
        source = call(options.seed, number, options.only)
        line = source.encode("unicode_escape").decode()
        print(f"CALL {number} {line}", flush=True)
        wrong = attempt(source)
        if wrong:
            print(f"WRONG {number} {line}\n    {wrong}", flush=True)
    del source
    gc.collect()
    left = mx.get_active_memory()
    if left > 4096:  # the random key and little else
        print(f"WRONG {options.count} leak\n    {left} bytes are still in use", flush=True)
    print("DONE", flush=True)


if __name__ == "__main__":
    main()
