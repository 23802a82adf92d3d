"""Devices and streams: values, defaults, contexts, errors."""

from __future__ import annotations

import mlx.core as mx
import pytest

NO_GPU = pytest.mark.skipif(mx.is_available(mx.gpu), reason="there is a GPU")


def test_devices():
    d = mx.Device(mx.cpu)
    assert repr(d) == "Device(cpu, 0)" and repr(mx.Device(mx.gpu, 1)) == "Device(gpu, 1)"
    assert d.type == mx.cpu == mx.DeviceType.cpu and repr(mx.cpu) == "DeviceType.cpu"
    assert d == mx.cpu and mx.cpu == d and d == mx.Device(mx.cpu, 0)
    assert d != mx.gpu and d != mx.Device(mx.cpu, 1) and mx.Device(mx.cpu, 1) != mx.cpu
    assert d != "cpu" and len({d, mx.Device(mx.cpu)}) == 1
    for bad in (("cpu",), (), (mx.float32,), (mx.cpu, "a")):
        with pytest.raises(TypeError):
            mx.Device(*bad)


def test_information():
    assert mx.is_available(mx.cpu) and mx.is_available(mx.Device(mx.cpu))
    assert not mx.is_available(mx.Device(mx.cpu, 1))
    assert mx.device_count(mx.cpu) == 1 and mx.device_count(mx.gpu) >= 0
    info = mx.device_info(mx.cpu)
    assert {"device_name", "architecture"} <= set(info)
    assert mx.device_info() == mx.device_info(mx.default_device())


@NO_GPU
def test_a_missing_device_is_an_error():
    assert mx.default_device() == mx.cpu and mx.device_info(mx.gpu) == {}
    x = mx.array([1.0])
    for f in (
        lambda: mx.set_default_device(mx.gpu),
        lambda: mx.default_stream(mx.gpu),
        lambda: mx.new_stream(mx.gpu),
        lambda: mx.new_thread_local_stream(mx.gpu),
        lambda: mx.exp(x, stream=mx.gpu),
        lambda: mx.add(x, x, stream=mx.Device(mx.gpu)),
        lambda: mx.stream(mx.gpu).__enter__(),
        lambda: mx.set_default_device(mx.Device(mx.cpu, 7)),
    ):
        with pytest.raises(ValueError):
            f()
    assert mx.default_device() == mx.cpu


def test_streams():
    s = mx.default_stream(mx.cpu)
    assert s == mx.default_stream(mx.Device(mx.cpu)) and s.device == mx.cpu
    t = mx.new_stream(mx.cpu)
    assert t != s and t == t and t != 1 and len({s, t}) == 2
    assert repr(t).startswith("Stream(Device(cpu, 0), ")
    u = mx.new_thread_unsafe_stream(mx.cpu)
    assert u not in (s, t)
    v = mx.new_thread_local_stream(mx.cpu)
    assert repr(v).startswith("ThreadLocalStream(Device(cpu, 0), ") and v.device == mx.cpu
    x = mx.array([1.0, 2.0])
    for where in (s, t, u, v, mx.cpu, mx.Device(mx.cpu), None):
        assert mx.add(x, x, stream=where).tolist() == [2, 4]
        assert x.square(stream=where).tolist() == [1, 4]
    for bad in (1, "cpu", mx.float32):
        with pytest.raises(TypeError):
            mx.exp(x, stream=bad)


def test_values_cross_streams():
    a, b = mx.new_stream(mx.cpu), mx.new_stream(mx.cpu)
    x = mx.array([1.0] * 1000)
    for i in range(50):
        x = mx.add(x, 1.0, stream=a if i % 2 else b)
    y = mx.multiply(x, x, stream=a)
    mx.async_eval(y)
    z = mx.subtract(y, x, stream=b)
    assert z[0].item() == 51 * 51 - 51
    mx.synchronize(a)
    mx.synchronize(b)
    mx.synchronize()


def test_contexts_restore_the_defaults():
    before = mx.default_stream(mx.cpu)
    s = mx.new_stream(mx.cpu)
    with mx.stream(s):
        assert mx.default_stream(mx.cpu) == s
        with mx.stream(mx.cpu):
            assert mx.default_device() == mx.cpu
        assert mx.default_stream(mx.cpu) == s
        assert (mx.array(1) + 1).item() == 2
    assert mx.default_stream(mx.cpu) == before
    with pytest.raises(KeyError), mx.stream(s):
        raise KeyError
    assert mx.default_stream(mx.cpu) == before
    with mx.StreamContext(s):
        assert mx.default_stream(mx.cpu) == s
    for bad in (None, 1, "cpu"):
        with pytest.raises(TypeError):
            mx.stream(bad)
    with pytest.raises(TypeError):
        mx.StreamContext(None)


def test_default_streams_can_be_set():
    before = mx.default_stream(mx.cpu)
    s = mx.new_stream(mx.cpu)
    mx.set_default_stream(s)
    try:
        assert mx.default_stream(mx.cpu) == s
    finally:
        mx.set_default_stream(before)
    mx.set_default_device(mx.default_device())
    with pytest.raises(TypeError):
        mx.set_default_stream(mx.cpu)
    with pytest.raises(TypeError):
        mx.set_default_device("cpu")


def test_clear_streams():
    x = mx.array([1.0]) + 1
    mx.async_eval(x)
    mx.clear_streams()
    assert (x + 1).item() == 3
