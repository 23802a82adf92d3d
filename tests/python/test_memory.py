"""Memory statistics and limits."""

from __future__ import annotations

import subprocess
import sys

import mlx.core as mx
import numpy as np
import pytest

MIB = 1 << 20


def fresh(mib):
    x = mx.array(np.zeros(mib * MIB, np.uint8)) + 1
    mx.eval(x)
    return x


def test_active_and_peak():
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    x = fresh(8)
    assert mx.get_active_memory() >= before + 8 * MIB
    assert mx.get_peak_memory() >= before + 8 * MIB
    del x
    assert mx.get_active_memory() <= before + MIB
    assert mx.get_peak_memory() >= before + 8 * MIB
    mx.reset_peak_memory()
    assert mx.get_peak_memory() < before + 8 * MIB


def test_cache():
    mx.clear_cache()
    assert mx.get_cache_memory() == 0
    x = fresh(8)
    del x
    assert mx.get_cache_memory() >= 8 * MIB
    mx.clear_cache()
    assert mx.get_cache_memory() == 0
    limit = mx.set_cache_limit(0)
    try:
        x = fresh(8)
        del x
        assert mx.get_cache_memory() == 0
    finally:
        assert mx.set_cache_limit(limit) == 0


def test_memory_limit():
    limit = mx.get_memory_limit()
    assert limit > 0
    mx.clear_cache()
    assert mx.set_memory_limit(mx.get_active_memory() + 16 * MIB) == limit
    try:
        with pytest.raises(MemoryError):
            fresh(64)
        assert fresh(1)[0].item() == 1
    finally:
        mx.set_memory_limit(limit)
    assert fresh(64)[0].item() == 1


def test_arguments():
    assert mx.set_wired_limit(0) == 0
    for f in (mx.set_cache_limit, mx.set_memory_limit, mx.set_wired_limit):
        for bad in (-1, 1.5, "1", None):
            with pytest.raises(TypeError):
                f(bad)


def test_buffer_sizes():
    x = mx.array(np.zeros(1000, np.float32))
    y = x[10:20]
    with pytest.raises(ValueError):
        mx.get_array_buffer_size(y + 1)
    mx.eval(y)
    assert mx.get_array_buffer_size(x) == mx.get_array_buffer_size(y) == 4000
    assert mx.get_array_buffer_size(x, [y, {"a": x}]) == 4000
    z = mx.array(np.zeros(3, np.int64))
    assert mx.get_array_buffer_size(x, (z,)) == 4024
    assert mx.get_array_buffer_size(mx.array(1.0)) == 4
    assert mx.get_array_buffer_size() == mx.get_array_buffer_size(1, "a") == 0


def test_submodules(capfd):
    assert mx.metal.is_available() is False and isinstance(mx.cuda.is_available(), bool)
    mx.metal.start_capture("x")
    mx.metal.stop_capture()
    assert mx.metal.get_active_memory() >= 0
    assert mx.metal.set_wired_limit(0) == 0
    assert mx.metal.device_info() == {}
    mx.metal.clear_cache()
    assert capfd.readouterr().err.count("deprecated") == 4


def test_graphs_do_not_hold_memory_while_they_run():
    n = 4 * MIB
    x = mx.array(np.ones(n, np.uint8))
    mx.eval(x)
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    for _ in range(40):
        x = (x + 1)[::-1]
    mx.eval(x)
    assert mx.get_peak_memory() <= before + 8 * n


def test_nothing_is_held_at_the_end():
    """A process that builds and drops graphs of every kind ends with no live memory."""
    code = """
import mlx.core as mx, numpy as np
x = mx.array(np.ones(1000, np.float32))
y = mx.grad(lambda a: (mx.sin(a) * a).sum())(x)
z = mx.vmap(lambda a: a * 2)(x)
mx.eval(y, z)
n = np.asarray(z)
del x, y, z, n
print(mx.get_active_memory())
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(out.stdout) <= 256
