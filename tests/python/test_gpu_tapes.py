"""Fused tapes on the GPU: the same bits as the steps one by one, kernels kept on disk, nothing that
waits for a compiler unless it is asked to."""

import os
import subprocess
import sys

import mlx.core as mx
import pytest

needs_gpu = pytest.mark.skipif(not mx.is_available(mx.gpu), reason="no GPU")

PROGRAM = """
import hashlib, sys
import numpy as np
import mlx.core as mx

mx.set_default_device(mx.Device(getattr(mx, sys.argv[1])))
rng = np.random.default_rng(0)

def values(shape, dtype):
    x = rng.uniform(-4, 4, shape).astype(np.float32)
    return mx.array(x * (1 if mx.issubdtype(dtype, mx.inexact) else 9)).astype(dtype)

def layouts(shape, dtype):
    yield values(shape, dtype)
    yield values(shape[::-1], dtype).transpose()
    yield values((1,) + shape[1:], dtype)
    yield values(tuple(2 * n for n in shape), dtype)[tuple(slice(None, None, -2) for _ in shape)]
    yield mx.array(3, dtype)

def chain(x, y, z):
    t = (x + y) * z
    u = mx.where(t > x, mx.sin(t), mx.abs(y - z) + mx.array(1, x.dtype))
    v = mx.maximum(u, t).astype(mx.float32) * 0.3 + mx.exp(-mx.abs(z))
    return t, u, v

def gelu(x, y, z):
    return (x * mx.array(0.5, x.dtype) * (1 + mx.erf(x * mx.array(0.70710678, x.dtype))), mx.sigmoid(y) * y / (1 + z * z))

digests = []
for dtype in (mx.float32, mx.float16, mx.bfloat16, mx.float64, mx.int32, mx.uint8, mx.bool_, mx.complex64):
    for shape in ((64, 128), (37, 53), (3, 5, 7, 2), (7,), (1,)):
        arrays = list(layouts(shape, dtype))
        for k in range(len(arrays)):
            x, y, z = arrays[0], arrays[k], arrays[(2 * k + 1) % len(arrays)]
            for f in (chain, gelu):
                if f is chain and dtype in (mx.complex64, mx.bool_) or f is gelu and dtype not in (mx.float32, mx.float16, mx.bfloat16):
                    f = lambda x, y, z: (mx.equal(x * y, z), (x + y) * z, mx.not_equal(x, y + z))
                outputs = f(x, y, z)
                mx.eval(*outputs)
                for o in outputs:
                    o = mx.where(mx.not_equal(o, o), mx.array(0, o.dtype), o)  # payloads of NaN may differ
                    digests.append(hashlib.sha256(bytes(mx.contiguous(o).reshape(-1).view(mx.uint8))).hexdigest()[:16])
print("\\n".join(digests))
"""


def run(program, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def kernels(folder):
    return sorted(p.name for p in folder.rglob("*.bin"))


@needs_gpu
def test_fused_gives_the_bits_of_the_steps(tmp_path):
    steps = run(PROGRAM, "gpu", MLX_DISABLE_FUSION="1")
    cache = str(tmp_path / "cache")
    fused = run(PROGRAM, "gpu", MLX_EAGER_FUSION="1", MLX_CUDA_CACHE_DIR=cache)
    assert fused == steps
    compiled = kernels(tmp_path)
    assert compiled
    again = run(PROGRAM, "gpu", MLX_EAGER_FUSION="1", MLX_CUDA_CACHE_DIR=cache)
    assert again == steps
    assert kernels(tmp_path) == compiled


def test_the_program_on_the_cpu():
    assert run(PROGRAM, "cpu", MLX_DISABLE_FUSION="1") == run(PROGRAM, "cpu")


AGAIN = """
import sys, time
import mlx.core as mx
import numpy as np

mx.set_default_device(mx.gpu)
x = mx.array(np.linspace(-2, 2, 1000, dtype=np.float32))
for i in range(int(sys.argv[1])):
    y = mx.tanh(x * float(i)) + x
    mx.eval(y)
    want = np.tanh(np.linspace(-2, 2, 1000, dtype=np.float32) * i) + np.linspace(-2, 2, 1000, dtype=np.float32)
    assert np.allclose(np.array(y), want, atol=1e-5)
    time.sleep(float(sys.argv[2]))
"""


@needs_gpu
def test_a_tape_is_compiled_aside_when_it_is_met_again(tmp_path):
    run(AGAIN, "1", "0.5", MLX_CUDA_CACHE_DIR=str(tmp_path))
    assert kernels(tmp_path) == []
    run(AGAIN, "20", "0.1", MLX_CUDA_CACHE_DIR=str(tmp_path))
    assert len(kernels(tmp_path)) == 1  # scalars are no part of a kernel


@needs_gpu
def test_the_process_may_end_while_a_kernel_is_compiled(tmp_path):
    for _ in range(3):
        run(AGAIN, "2", "0", MLX_CUDA_CACHE_DIR=str(tmp_path / "none"))


@needs_gpu
def test_a_broken_cache_is_no_error(tmp_path):
    run(AGAIN, "20", "0.1", MLX_CUDA_CACHE_DIR=str(tmp_path))
    for p in tmp_path.rglob("*.bin"):
        p.write_bytes(p.read_bytes()[:-100])
    run(AGAIN, "20", "0.1", MLX_CUDA_CACHE_DIR=str(tmp_path))
    run(AGAIN, "3", "0.1", MLX_CUDA_CACHE_DIR="/dev/null/nothing")
