"""What only a GPU shows: graphs over both devices, failures, threads and forks, and the ways in which
values leave the device."""

from __future__ import annotations

import io
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
import random_graphs
from random_graphs import EPSILON, OPS, Graph, is_float, name_of

GPU = mx.cuda.is_available()
needs_gpu = pytest.mark.skipif(not GPU, reason="there is no GPU")
COUNT = int(os.environ.get("MLX_GPU_GRAPHS", "100"))
FIRST = int(os.environ.get("MLX_FUZZ_SEED", "0")) * COUNT


def on(device, f, *args):
    with mx.stream(device):
        return f(*args)


def bits_of(a):
    """The value as NumPy array of bits in which all NaNs are one."""
    plain = np.array(on(mx.cpu, lambda: a.view(mx.uint16)) if a.dtype == mx.bfloat16 else a)
    if not is_float(a.dtype):
        return plain
    bits = plain.view(f"u{plain.itemsize}").copy()
    nan = (plain & 0x7FFF) > 0x7F80 if a.dtype == mx.bfloat16 else np.isnan(plain)
    bits[nan] = (1 << (8 * plain.itemsize)) - 1
    return bits


def numbers_of(a):
    wide = a.astype(mx.float32, stream=mx.cpu) if a.dtype == mx.bfloat16 else a
    return np.array(wide).astype(np.float64)


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


# ---- graphs over both devices ----

# Sums in another order, and products; what is in no particular order.
ROUNDED = {
    *("sum", "mean", "var", "logsumexp", "softmax", "cumsum", "cumprod"),
    *("matmul", "gram", "scatter_add"),
}
UNORDERED = {"median_element"}


@pytest.fixture(scope="module")
def streams():
    return [mx.new_stream(d) for d in (mx.cpu, mx.gpu) for _ in range(3)] + [
        mx.default_stream(mx.cpu),
        mx.default_stream(mx.gpu),
    ]


def placed(graph, seed, streams):
    """The values of the graph with every step on a stream drawn at random, some already started."""
    r = random.Random(seed)
    values = list(graph.inputs)
    for name, operands, parameters in graph.steps:
        with mx.stream(r.choice(streams)):
            values.append(OPS[name][2](*(values[k] for k in operands), *parameters))
        if r.random() < 0.05:
            mx.async_eval(values[-1])
    return values


def exact_ends(graph):
    """Values that no rounding in another order has touched, and no other such value is made of."""
    first = len(graph.inputs)
    touched, used = set(), set()
    for k, (name, operands, _) in enumerate(graph.steps, first):
        if name in ROUNDED | UNORDERED or touched.intersection(operands):
            touched.add(k)
        else:
            used.update(operands)
    return sorted(set(range(first, first + len(graph.steps))) - touched - used)


def difference(got, want):
    """Text for the first element whose bits differ."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    a, b = bits_of(got), bits_of(want)
    if (a == b).all():
        return None
    at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(a != b)))
    values = [np.atleast_1d(numbers_of(x))[at] for x in (got, want)]
    return f"element {at} is {values[0]!r}, expected {values[1]!r}"


def rounding_difference(name, got, want, operands, parameters):
    """The same for a step whose sums may be taken in another order."""
    if not is_float(want.dtype):
        return difference(got, want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    x = [numbers_of(v) for v in operands]
    a, b = numbers_of(got), numbers_of(want)
    if not all(np.isfinite(v).all() and (np.abs(v) < 1e15).all() for v in (*x, b)):
        return None  # which sums overflow on the way depends on their order
    scale = OPS[name][4]
    size = scale(*x, *parameters) if scale else sum(np.abs(v).sum() for v in x)
    eps = EPSILON[name_of(want.dtype)]
    bound = 32 * eps * (np.abs(b) + size) + random_graphs.SMALLEST[name_of(want.dtype)]
    bad = np.atleast_1d(~(np.abs(a - b) <= bound))
    if not bad.any():
        return None
    at = tuple(int(i[0]) for i in np.nonzero(bad))
    return f"element {at} is {np.atleast_1d(a)[at]!r}, expected {np.atleast_1d(b)[at]!r}"


def check_steps(graph, values):
    """Every step against the CPU's value for the operands that the mixed graph gave it."""
    for k, (name, operands, parameters) in enumerate(graph.steps, len(graph.inputs)):
        if name in UNORDERED:
            continue
        x = [values[i] for i in operands]
        want = on(mx.cpu, OPS[name][2], *x, *parameters)
        # Functions of float64 are those of each device's library.
        rounded = name in ROUNDED or want.dtype == mx.float64
        found = (
            rounding_difference(name, values[k], want, x, parameters)
            if rounded
            else difference(values[k], want)
        )
        assert found is None, f"{k} = {name}: {found}\n{graph.text()}"


@needs_gpu
@pytest.mark.parametrize("part", range(10))
def test_graphs_over_both_devices(streams, part):
    for seed in range(FIRST + part * COUNT // 10, FIRST + (part + 1) * COUNT // 10):
        graph = on(mx.cpu, Graph, seed)
        ends = exact_ends(graph)
        # At first only what nothing else holds: values in between are fused and overwritten.
        values = placed(graph, seed, streams)
        got = [values[k] for k in ends]
        del values
        mx.eval(got)
        values = on(mx.cpu, graph.values, graph.inputs)
        exact = all(v.dtype != mx.float64 for v in values)  # see check_steps
        for k, a in zip(ends, got):
            found = exact and difference(a, values[k])
            assert not found, f"seed {seed}, value {k}: {found}\n{graph.text()}"
        values = placed(graph, seed + 1, streams)
        mx.eval(values)
        check_steps(graph, values)


@needs_gpu
def test_gradients_over_both_devices(streams):
    """One function, whose steps lie on both devices, differentiated and compiled."""
    r = random.Random(1)
    choice = [r.choice(streams) for _ in range(8)]

    def f(x, y):
        for k, s in enumerate(choice):
            x = mx.add(mx.sin(x, stream=s), mx.multiply(y, 0.5, stream=choice[-k]), stream=s)
        return mx.sum(x)

    x = mx.array(np.linspace(-1, 1, 1000, dtype=np.float32))
    y = mx.array(np.linspace(0, 2, 1000, dtype=np.float32))
    gradient = mx.value_and_grad(f, argnums=(0, 1))
    got = [gradient(x, y), mx.compile(gradient)(x, y), mx.compile(gradient)(x, y)]
    choice = [mx.default_stream(mx.cpu)] * 8
    want = on(mx.cpu, gradient, x, y)
    for value, slopes in got:
        np.testing.assert_allclose(value.item(), want[0].item(), rtol=1e-5)
        for a, b in zip(slopes, want[1]):
            np.testing.assert_allclose(np.array(a), np.array(b), rtol=1e-6, atol=1e-7)


@needs_gpu
def test_values_that_go_to_and_fro(streams):
    """A chain that changes the device at every step, many of them under way at once."""
    x = np.arange(5000, dtype=np.int32)
    chains = []
    for k in range(20):
        y = mx.array(x + k)
        for i in range(60):
            y = mx.add(y, i, stream=streams[(i * 3 + k) % len(streams)])
        mx.async_eval(y)
        chains.append(y)
    for k, y in enumerate(chains):
        np.testing.assert_array_equal(np.array(y), x + k + 1770)


@needs_gpu
def test_a_large_upload_beside_work_of_the_host(streams):
    """Encoding a task copies a large value to the device while the host still makes another."""
    big = mx.array(np.ones((1 << 24,), np.float32))
    for _ in range(3):
        x = mx.add(mx.full((1 << 20,), 1.0, stream=mx.gpu), 1, stream=mx.gpu)
        y = mx.sum(mx.sin(x, stream=streams[0]), stream=streams[0])
        z = mx.add(big, y, stream=mx.gpu)
        mx.eval(z)
        np.testing.assert_allclose(z[-1].item(), 1 + (1 << 20) * np.sin(2), rtol=1e-4)
        big = mx.array(np.ones((1 << 24,), np.float32))


# ---- failures ----

MIB = 1 << 20


@needs_gpu
def test_memory_limit():
    before = mx.full((1000,), 3.0, stream=mx.gpu)
    mx.eval(before)
    mx.clear_cache()
    limit = mx.set_memory_limit(mx.get_active_memory() + 64 * MIB)
    try:
        x = mx.add(mx.full((256 * MIB,), 1, dtype=mx.int8, stream=mx.gpu), 1, stream=mx.gpu)
        for _ in range(2):  # at every read
            with pytest.raises(MemoryError, match=r"wanted 268435456 bytes.*\(for \w+ to int8"):
                mx.eval(x)
        small = mx.add(before, 1.0, stream=mx.gpu)
        assert small[0].item() == 4 and mx.sum(before).item() == 3000
    finally:
        mx.set_memory_limit(limit)
    y = mx.add(mx.full((256 * MIB,), 1, dtype=mx.int8, stream=mx.gpu), 1, stream=mx.gpu)
    assert mx.contiguous(y[-3:]).tolist() == [2, 2, 2]


@needs_gpu
@pytest.mark.parametrize("n", [1 << 42, 1 << 50])
def test_a_huge_request(n):
    x = mx.full((n,), 1, dtype=mx.uint8, stream=mx.gpu)
    other = mx.full((8,), 2.0, stream=mx.gpu)
    with pytest.raises(MemoryError, match=f"wanted {n} bytes"):
        mx.eval(mx.add(x, x, stream=mx.gpu), other)
    assert other.tolist() == [2.0] * 8
    assert mx.exp(mx.zeros(3, stream=mx.gpu), stream=mx.gpu).tolist() == [1, 1, 1]


@needs_gpu
def test_memory_of_the_card_runs_out():
    total = mx.device_info(mx.gpu)["memory_size"]
    kept = []
    with pytest.raises(MemoryError, match="wanted"):
        for _ in range(20):
            one = mx.full((total // 10,), 1, dtype=mx.uint8, stream=mx.gpu)
            kept.append(mx.contiguous(one, stream=mx.gpu))
            mx.eval(kept[-1])
    assert len(kept) > 1
    del kept
    x = mx.contiguous(one, stream=mx.gpu)
    assert mx.contiguous(x[-2:], stream=mx.gpu).tolist() == [1, 1]
    del x
    mx.clear_cache()


@pytest.fixture
def broken(tmp_path):
    """A value whose file is cut off after it was opened: it cannot be computed."""
    path = tmp_path / "x.npy"

    def make():
        np.save(path, np.arange(100_000, dtype=np.float32))
        x = on(mx.cpu, mx.load, str(path))
        with open(path, "r+b") as f:
            f.truncate(200)
        return x

    return make


@needs_gpu
def test_a_failure_on_the_cpu_reaches_the_gpu(broken):
    good = mx.full((100_000,), 2.0, stream=mx.gpu)
    for again in range(5):
        x = broken()
        y = mx.exp(mx.add(x, good, stream=mx.gpu), stream=mx.gpu)
        z = mx.multiply(y, 2.0, stream=mx.cpu)
        w = mx.add(z, 1.0, stream=mx.new_stream(mx.gpu) if again == 0 else mx.gpu)
        fine = mx.add(good, 1.0, stream=mx.gpu)
        mx.async_eval(w, fine)
        for value in (w, z, y):
            for _ in range(2):
                with pytest.raises(RuntimeError, match=r"(?i)load"):
                    np.array(value)
        assert fine[-1].item() == 3 and mx.add(fine, 1, stream=mx.gpu)[0].item() == 4


@needs_gpu
def test_a_failure_names_its_op():
    code = """
import mlx.core as mx
x = mx.arange(5, stream=mx.gpu)
i = mx.array([1, 77])
y = mx.add(mx.take(x, i, stream=mx.cpu), 1, stream=mx.gpu)
try:
    mx.eval(y)
except (IndexError, ValueError) as e:
    print(type(e).__name__, e)
print(mx.add(x, 1, stream=mx.gpu).tolist())
"""
    done = run_python(code, MLX_CHECK="1")
    first, second = done.stdout.splitlines()
    assert first.startswith("IndexError") and "evaluating Gather of int32(5,)" in first
    assert second == "[1, 2, 3, 4, 5]" and done.returncode == 0, done.stderr


@needs_gpu
def test_tasks_are_checked_against_the_cpu():
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import mlx.core as mx
from random_graphs import Graph
mx.set_default_device(mx.gpu)
for seed in range(20):
    graph = Graph(seed)
    values = graph(*graph.inputs)
    mx.eval(values)
    mx.eval(graph.values(graph.inputs))
print("same")
"""
    done = run_python(code, MLX_CHECK="1")
    assert done.stdout == "same\n" and done.returncode == 0, done.stderr


WITHOUT = """
import mlx.core as mx
print(mx.cuda.is_available(), mx.default_device(), mx.device_count(mx.gpu))
print(mx.exp(mx.array([0.0])).tolist())
try:
    mx.exp(mx.array([0.0]), stream=mx.gpu)
except ValueError as e:
    print(e)
"""


def without_gpu(done):
    """The one line that says why there is none; the CPU works."""
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert lines[:2] == ["False Device(cpu, 0) 0", "[1.0]"] and len(lines) == 3, lines
    assert lines[2].startswith("[exp]") or "is not available in this process" in lines[2]
    return lines[2]


@needs_gpu
def test_no_device_is_visible():
    assert "shows no device" in without_gpu(run_python(WITHOUT, CUDA_VISIBLE_DEVICES=""))


@pytest.fixture
def copied_package(tmp_path):
    package = Path(mx.__file__).parent
    shutil.copytree(package, tmp_path / "mlx", ignore=shutil.ignore_patterns("include", "*.pyc"))
    if not list(tmp_path.glob("mlx/**/libmlx_cuda*.so")):
        pytest.skip("this build has no GPU backend")
    return tmp_path


@needs_gpu
def test_the_plugin_is_missing(copied_package):
    for plugin in copied_package.glob("mlx/**/libmlx_cuda*.so"):
        plugin.unlink()
    why = without_gpu(run_python(WITHOUT, PYTHONPATH=str(copied_package)))
    assert "no GPU plugin" in why


@needs_gpu
def test_the_plugin_is_another_library(copied_package):
    for plugin in copied_package.glob("mlx/**/libmlx_cuda*.so"):
        plugin.unlink()  # it may be a link to the one of the build
        plugin.write_bytes(b"no library")
    why = without_gpu(run_python(WITHOUT, PYTHONPATH=str(copied_package)))
    assert "libmlx_cuda" in why and "install mlx[cuda13]" in why


def test_there_is_no_driver():
    if GPU or not list(Path(mx.__file__).parent.glob("**/libmlx_cuda*.so")):
        pytest.skip("there is a GPU, or this build has no GPU backend")
    assert re.search("driver|device", without_gpu(run_python(WITHOUT)))


# ---- threads, the end of the process, forks ----


@needs_gpu
def test_threads_on_both_devices(streams):
    shared = mx.full((4000,), 1.0, stream=mx.gpu)
    errors = []

    def work(k):
        try:
            x = shared
            for i in range(150):
                device = (mx.gpu, mx.cpu, streams[k % len(streams)])[(i + k) % 3]
                x = mx.add(x, shared, stream=device)
                if i % 10 == 0:
                    mx.async_eval(x) if i % 20 else mx.eval(x)
                if i % 50 == 0:
                    assert x[-1].item() == i + 2
            assert (np.array(x) == 151).all()
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(10)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors, errors[0]


@needs_gpu
def test_one_graph_read_by_many_threads(streams):
    x = mx.array(np.ones(3000, np.float32))
    for _ in range(10):
        nodes = [x]
        for k in range(60):
            nodes.append(mx.add(nodes[-1], x, stream=streams[k % len(streams)]))
        found = []
        threads = [
            threading.Thread(target=lambda n=n, to=found: to.append(n[5].item()))
            for n in nodes[1::4]
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert sorted(found) == [k + 1 for k in range(1, 61, 4)]


EXITS = {
    "pending": "mx.async_eval(y)",
    "unevaluated": "pass",
    "pending on the cpu": "mx.async_eval(mx.sin(y, stream=mx.cpu))",
    "pending in a thread": "threading.Thread(target=lambda: mx.async_eval(y)).start()",
    "daemon thread": "threading.Thread(target=lambda: (mx.async_eval(y), time.sleep(9)),"
    " daemon=True).start()",
    "kept export": "m = memoryview(y[:3])",
    "exception": "sys.excepthook = lambda *a: None; mx.async_eval(y); raise SystemExit(0)",
}


@needs_gpu
@pytest.mark.parametrize("name", EXITS)
def test_exit_is_clean(name):
    code = f"""
import sys, threading, time
import mlx.core as mx, numpy as np
mx.set_default_device(mx.gpu)
x = mx.array(np.ones(1 << 20, np.float32))
y = x
for _ in range(200):
    y = (mx.sin(y) + x)[::-1]
{EXITS[name]}
"""
    done = run_python(code)
    assert done.returncode == 0 and done.stderr == "" and done.stdout == ""


FORK = """
import os, sys
import mlx.core as mx, numpy as np
import warnings
warnings.simplefilter("ignore")
host = mx.array(np.arange(1000, dtype=np.float32))
seen = mx.add(host, 1.0, stream=mx.gpu)
assert seen[3].item() == 4
unseen = mx.add(host, 2.0, stream=mx.gpu)
mx.eval(unseen)
pending = host
for _ in range(100):
    pending = mx.sin(pending, stream=mx.gpu)
mx.async_eval(pending)

def refused(f):
    try:
        f()
    except RuntimeError as e:
        assert "spawn" in str(e), e
        return
    raise AssertionError("no error")

pid = os.fork()
if pid == 0:
    code = 1
    try:
        mx.set_default_device(mx.cpu)
        assert mx.add(host, 1.0, stream=mx.cpu)[5].item() == 6
        assert np.array(host)[7] == 7 and seen.tolist()[9] == 10
        for f in (
            lambda: np.array(unseen), lambda: pending.tolist(),
            lambda: mx.eval(mx.add(host, 1.0, stream=mx.gpu)),
            lambda: mx.eval(mx.add(unseen, 1.0, stream=mx.gpu)),
            lambda: mx.eval(mx.add(unseen, 1.0, stream=mx.cpu)),
            lambda: mx.new_stream(mx.gpu),
        ):
            refused(f)
            refused(f)
        y = mx.add(host, 1.0, stream=mx.cpu)
        mx.async_eval(y)
        assert mx.sum(y, stream=mx.cpu).item() == 500500
        mx.clear_cache()
        mx.get_active_memory()
        del unseen, pending
        code = 0
    except BaseException as e:
        print("child:", repr(e), flush=True)
    if "--soft" in sys.argv:
        sys.exit(code)
    os._exit(code)
status = os.waitpid(pid, 0)[1]
assert status == 0, status
assert mx.add(unseen, 1.0, stream=mx.gpu)[0].item() == 3
assert np.isfinite(np.array(pending)).all()
"""


@needs_gpu
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("end", ["", "sys.argv.append('--soft')\n"], ids=["_exit", "exit"])
def test_a_forked_child_has_no_gpu(end):
    done = run_python("import sys\n" + end + FORK)
    assert done.returncode == 0 and done.stdout == done.stderr == "", done.stdout + done.stderr


@needs_gpu
def test_spawned_children_have_a_gpu(tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text(
        "import multiprocessing as mp\nimport mlx.core as mx\n"
        "def f(n):\n    return mx.sum(mx.full((n,), 2, stream=mx.gpu), stream=mx.gpu).item()\n"
        "if __name__ == '__main__':\n"
        "    mx.eval(mx.full((3,), 1, stream=mx.gpu))\n"
        "    with mp.get_context('spawn').Pool(2) as pool:\n"
        "        print(pool.map(f, [1, 2, 3]))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert done.stdout == "[2, 4, 6]\n", done.stderr


# ---- values that leave the device ----


def gpu_value(x):
    """The value as a result of the GPU."""
    y = mx.add(mx.array(x), 0, stream=mx.gpu)
    mx.eval(y)
    return y


DTYPES = [
    *("float16", "float32", "float64", "complex64", "bool_"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
]


@needs_gpu
@pytest.mark.parametrize("dtype", DTYPES)
def test_reading(dtype, tmp_path):
    x = np.arange(24).reshape(2, 3, 4).astype(dtype.rstrip("_"))
    y = mx.array(x, dtype=getattr(mx, dtype))
    y = mx.add(y, 0, stream=mx.gpu).astype(y.dtype, stream=mx.gpu)
    assert y.tolist() == x.tolist() and y[1, 2, 3].item() == x[1, 2, 3]
    np.testing.assert_array_equal(np.array(y), x)
    assert np.array(y).dtype == x.dtype
    np.testing.assert_array_equal(np.array(y[1, ::-1]), x[1, ::-1])
    np.testing.assert_array_equal(np.array(mx.transpose(y, stream=mx.gpu)), x.T)
    assert repr(y) == repr(mx.array(x, dtype=y.dtype)) and bytes(y) == x.tobytes()
    np.testing.assert_array_equal(np.array(pickle.loads(pickle.dumps(y))), x)
    mx.save(str(tmp_path / "y.npy"), y)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), x)
    file = io.BytesIO()
    mx.savez(file, a=y, b=y[0])
    file.seek(0)
    loaded = mx.load(file, format="npz")
    np.testing.assert_array_equal(np.array(loaded["b"]), x[0])


@needs_gpu
def test_scalars_and_empty_values():
    zero = mx.exp(gpu_value(np.float32(0)), stream=mx.gpu)
    assert zero.shape == () and zero.item() == 1 and float(zero) == 1 and zero.tolist() == 1
    assert np.array(zero) == 1 and bool(zero) and f"{zero.item():.1f}" == "1.0"
    empty = mx.add(gpu_value(np.zeros((0, 3), np.float32)), 1, stream=mx.gpu)
    assert empty.tolist() == [] and np.array(empty).shape == (0, 3)
    assert mx.concatenate([empty, gpu_value(np.ones((2, 3)))], stream=mx.gpu).shape == (2, 3)
    assert mx.sum(empty, stream=mx.gpu).item() == 0
    wide = mx.broadcast_to(zero, (3, 2), stream=mx.gpu)
    assert np.asarray(wide).tolist() == [[1, 1]] * 3


@needs_gpu
def test_writing_through_numpy():
    y = gpu_value(np.arange(1000, dtype=np.float32))
    other = mx.add(y, 1, stream=mx.gpu)
    mx.eval(other)  # has read the memory on the device
    a = np.asarray(y)
    a[3] = 100
    assert y[3].item() == 100 and mx.add(y, 1, stream=mx.gpu)[3].item() == 101
    a[4] = 200
    assert mx.add(y, 1, stream=mx.gpu)[4].item() == 201
    assert mx.add(y, 1, stream=mx.cpu)[4].item() == 201
    assert mx.multiply(mx.add(y, 1, stream=mx.gpu), 2, stream=mx.gpu)[4].item() == 402
    assert other[4].item() == 5
    part = np.asarray(y[10:20])
    part[0] = -1
    assert y[10].item() == -1 and mx.negative(y, stream=mx.gpu)[10].item() == 1
    del a, part
    assert mx.add(y, 1, stream=mx.gpu)[3].item() == 101


@needs_gpu
def test_updates_keep_older_values():
    x = gpu_value(np.zeros(100, np.float32))
    before = x[:]
    with mx.stream(mx.gpu):
        x[5:10] = 1
        x += 2
    assert before.tolist() == [0] * 100
    assert x.tolist() == [2] * 5 + [3] * 5 + [2] * 90
    view = x[5:10]
    del x
    assert mx.add(view, 1, stream=mx.gpu).tolist() == [4] * 5
