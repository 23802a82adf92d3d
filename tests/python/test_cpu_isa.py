"""MLX_CPU_ISA chooses the instruction set; all of them give the same bits, and an unknown one is refused."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import hashlib, sys
import mlx.core as mx
import numpy as np

rng = np.random.default_rng(0)
digest = hashlib.sha256()
for dtype in (mx.float32, mx.float16, mx.bfloat16, mx.complex64, mx.int32, mx.uint8):
    x = mx.array(rng.uniform(0.1, 0.9, (37, 53)).astype(np.float32) * (1 if mx.issubdtype(dtype, mx.inexact) else 99))
    x = x.astype(dtype)
    for name in ("exp", "log", "sin", "tanh", "arcsin", "arccosh", "log1p", "sqrt", "square", "abs", "sign"):
        y = getattr(mx, name)(x + mx.array(1, dtype)) if name == "arccosh" else getattr(mx, name)(x)
        digest.update(bytes(y.view(mx.uint8)))
    for name in ("add", "multiply", "divide", "power", "maximum", "logaddexp", "less"):
        digest.update(bytes(getattr(mx, name)(x, x[::-1] + x).view(mx.uint8)))
    z = mx.concatenate([x, -x, x * 0], axis=1)
    for y in (mx.sort(z), mx.argsort(z, axis=0), mx.argpartition(z, 140), mx.topk(z, 20), mx.median(z, axis=1)):
        digest.update(bytes(y.view(mx.uint8)))
    for y in (x[x > x[::-1]], mx.take_along_axis(z, mx.argsort(x, axis=1), axis=1), z.reshape(-1)[mx.argsort(z, axis=0)]):
        digest.update(bytes(y.view(mx.uint8)))
print(digest.hexdigest())
"""


def run(isa):
    environment = dict(os.environ, MLX_CPU_ISA=isa)
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_unknown_instruction_set_is_refused_by_name():
    result = run("v9")
    assert result.returncode != 0
    assert (
        "ValueError" in result.stderr and "MLX_CPU_ISA" in result.stderr and "'v9'" in result.stderr
    )


def test_all_instruction_sets_give_the_same_bits():
    message = run("none").stderr
    if "expected one of: " not in message:
        pytest.fail(message)
    choices = message.split("expected one of: ")[1].split(" (")[0].strip().split(", ")
    results = {isa: run(isa) for isa in choices}
    assert all(r.returncode == 0 for r in results.values()), [r.stderr for r in results.values()]
    assert len({r.stdout for r in results.values()}) == 1, {k: r.stdout for k, r in results.items()}
