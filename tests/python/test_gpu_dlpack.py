"""DLPack with memory of a GPU, in both directions; PyTorch on the other side where there is one."""

from __future__ import annotations

import gc

import mlx.core as mx
import numpy as np
import pytest

GPU = mx.cuda.is_available()
needs_gpu = pytest.mark.skipif(not GPU, reason="there is no GPU")
CPU, CUDA = 1, 2


def gpu_value(x):
    y = mx.add(mx.array(x), 0, stream=mx.gpu)
    mx.eval(y)
    return y


def torch():
    found = pytest.importorskip("torch")
    if not found.cuda.is_available():
        pytest.skip("PyTorch has no GPU")
    return found


@needs_gpu
def test_device_of_the_memory():
    x = mx.array(np.arange(6, dtype=np.float32))
    assert x.__dlpack_device__() == (CPU, 0)
    y = mx.add(x, 1, stream=mx.gpu)  # not computed yet
    assert y.__dlpack_device__() == (CUDA, 0)
    assert mx.array(1.0).__dlpack_device__() == (CPU, 0)
    assert mx.add(y, 1, stream=mx.cpu).__dlpack_device__() == (CPU, 0)
    np.asarray(y)  # in the reach of the host from now on
    assert y.__dlpack_device__() == (CPU, 0)


@needs_gpu
def test_numpy_takes_only_memory_of_the_host():
    y = gpu_value(np.arange(6, dtype=np.float32))
    with pytest.raises((BufferError, RuntimeError, ValueError)):
        np.from_dlpack(y)
    assert np.asarray(y).tolist() == [0, 1, 2, 3, 4, 5]
    z = gpu_value(np.arange(6, dtype=np.float32))
    assert mx.from_dlpack(z).tolist() == [0, 1, 2, 3, 4, 5]
    back = np.from_dlpack(mx.from_dlpack(z.__dlpack__(dl_device=(CPU, 0), max_version=(1, 0))))
    assert back.tolist() == [0, 1, 2, 3, 4, 5] and z.__dlpack_device__() == (CUDA, 0)


@needs_gpu
def test_capsules_of_our_own():
    y = gpu_value(np.arange(12, dtype=np.int32).reshape(3, 4))
    for x in (y, mx.transpose(y, stream=mx.gpu), y[1:, ::2]):
        for version in (None, (1, 0)):
            for copy in (None, False, True):
                z = mx.from_dlpack(x.__dlpack__(max_version=version, copy=copy))
                assert z.__dlpack_device__() == (CUDA, 0)
                assert z.tolist() == x.tolist()
                more = (np.array(x.tolist()) + 1).tolist()  # np.array(x) would move x to the host
                assert mx.add(z, 1, stream=mx.gpu).tolist() == more
                assert mx.add(z, 1, stream=mx.cpu).tolist() == more
    before = mx.get_active_memory()
    z = mx.from_dlpack(y.__dlpack__())
    del y, x
    gc.collect()
    assert z[2, 3].item() == 11 and mx.multiply(z, 2, stream=mx.gpu)[2, 3].item() == 22
    del z
    gc.collect()
    assert mx.get_active_memory() <= before


@needs_gpu
def test_streams_and_devices():
    y = gpu_value(np.arange(4, dtype=np.float32))
    for stream in (None, -1, 1, 2, 1 << 40):
        assert mx.from_dlpack(y.__dlpack__(stream=stream)).tolist() == [0, 1, 2, 3]
    for stream in (0, -2):
        with pytest.raises(ValueError, match="stream must be"):
            y.__dlpack__(stream=stream)
    for stream in ("1", 1.0):
        with pytest.raises(TypeError, match="stream must be"):
            y.__dlpack__(stream=stream)
    for device in ((CUDA, 9), (8, 0)):
        with pytest.raises(BufferError):
            y.__dlpack__(dl_device=device)
    with pytest.raises(BufferError, match="copied"):
        y.__dlpack__(dl_device=(CPU, 0), copy=False)
    x = mx.array(np.arange(4, dtype=np.float32))
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(CUDA, 0))
    with pytest.raises(BufferError):
        x.__dlpack__(stream=1)


@needs_gpu
def test_broadcast_and_empty_values():
    y = mx.broadcast_to(gpu_value(np.ones((1, 3), np.float32)), (2, 3), stream=mx.gpu)
    z = mx.from_dlpack(y.__dlpack__())
    assert z.__dlpack_device__() == (CUDA, 0) and z.tolist() == [[1, 1, 1]] * 2
    empty = mx.add(mx.zeros((0, 3), stream=mx.gpu), 1, stream=mx.gpu)
    assert mx.from_dlpack(empty.__dlpack__()).shape == (0, 3)


@needs_gpu
def test_the_host_does_not_take_away_what_others_see():
    y = gpu_value(np.arange(4, dtype=np.float32))
    capsule = y.__dlpack__()
    a = np.asarray(y)
    assert a.tolist() == [0, 1, 2, 3] and not a.flags.writeable
    assert y.__dlpack_device__() == (CUDA, 0)
    del capsule, a
    gc.collect()
    b = np.asarray(y)
    b[0] = 7
    assert mx.add(y, 1, stream=mx.gpu)[0].item() == 8


@needs_gpu
@pytest.mark.parametrize("name", ["float16", "float32", "bfloat16", "int64", "uint8", "bool"])
def test_to_torch_and_back(name):
    t = torch()
    y = gpu_value(np.arange(24).reshape(2, 3, 4)).astype(getattr(mx, name.replace("bool", "bool_")))
    y = mx.contiguous(mx.add(y, 0, stream=mx.gpu).astype(y.dtype, stream=mx.gpu), stream=mx.gpu)
    x = t.from_dlpack(y)
    assert x.is_cuda and x.dtype == getattr(t, name) and x.shape == (2, 3, 4)
    assert x.cpu().tolist() == y.tolist()
    assert t.from_dlpack(mx.transpose(y)).cpu().tolist() == mx.transpose(y).tolist()
    z = mx.from_dlpack(x)
    assert z.dtype == y.dtype and z.tolist() == y.tolist()
    assert z.__dlpack_device__() == (CUDA, 0)


@needs_gpu
def test_torch_writes_into_our_memory():
    t = torch()
    y = gpu_value(np.zeros(1000, np.float32))
    assert y[3].item() == 0  # there is a copy on the host
    x = t.from_dlpack(y)
    x[3] = 5
    t.cuda.synchronize()
    assert y[3].item() == 5 and mx.add(y, 1, stream=mx.gpu)[3].item() == 6
    assert mx.add(y, 1, stream=mx.cpu)[3].item() == 6
    x[3] = 7
    t.cuda.synchronize()
    del x
    gc.collect()
    assert y[3].item() == 7 and mx.add(y, 1, stream=mx.cpu)[3].item() == 8


@needs_gpu
def test_torch_memory_is_shared_and_kept():
    t = torch()
    before = t.cuda.memory_allocated()
    x = t.arange(1 << 20, dtype=t.float32, device="cuda")
    y = mx.from_dlpack(x * 2)  # computed on PyTorch's stream a moment ago
    z = mx.add(y, 1, stream=mx.gpu)
    assert z[77].item() == 155
    del x, z
    t.cuda.synchronize()
    gc.collect()
    other = t.full((1 << 20,), -1.0, device="cuda")
    assert y[99].item() == 198 and mx.sum(y[:100], stream=mx.gpu).item() == 9900
    t.cuda.synchronize()
    mx.async_eval(mx.sin(mx.sin(y, stream=mx.gpu), stream=mx.gpu))
    del y, other
    gc.collect()
    assert t.cuda.memory_allocated() == before


@needs_gpu
def test_torch_memory_is_not_overwritten():
    t = torch()
    x = t.ones(1000, device="cuda")
    y = mx.from_dlpack(x)
    for _ in range(3):
        y = mx.add(y, 1, stream=mx.gpu)
        mx.eval(y)
    assert y[0].item() == 4 and x[0].item() == 1
    z = np.asarray(mx.from_dlpack(x))
    z[0] = 9
    assert x[0].item() == 1


@needs_gpu
def test_torch_copies():
    t = torch()
    x = t.ones(10, device="cuda")
    y = mx.from_dlpack(x, copy=True)
    z = mx.array(x)
    x[0] = 5
    t.cuda.synchronize()
    assert y[0].item() == 1 and z[0].item() == 1
    assert mx.from_dlpack(x, copy=False)[0].item() == 5
    wide = t.ones(10, device="cuda", dtype=t.float64)
    assert mx.from_dlpack(wide).dtype == mx.float32
    with pytest.raises(ValueError, match="copy"):
        mx.from_dlpack(wide, copy=False)
    part = t.arange(20, device="cuda").reshape(4, 5)[1:, ::2]
    assert mx.from_dlpack(part).tolist() == part.tolist()
    with pytest.raises(ValueError, match="complex128"):
        mx.from_dlpack(t.ones(3, device="cuda", dtype=t.complex128))


def test_without_a_gpu_its_memory_is_refused():
    if GPU:
        pytest.skip("there is a GPU")

    class Producer:
        def __dlpack_device__(self):
            return (CUDA, 0)

        def __dlpack__(self, **_):
            raise AssertionError("asked")

    with pytest.raises(ValueError, match="no such GPU"):
        mx.from_dlpack(Producer())
