"""Memory shared with other libraries: buffer protocol, NumPy, DLPack, and who may write to it."""

from __future__ import annotations

import gc

import mlx.core as mx
import numpy as np
import pytest

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None


@pytest.fixture(autouse=True)
def on_the_cpu():
    """Memory of GPUs is shared by test_gpu_dlpack.py."""
    with mx.stream(mx.cpu):
        yield


DTYPES = [
    "bool",
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
    "complex64",
]


def sample(dtype, shape=(2, 3)):
    values = (
        np.arange(np.prod(shape)).reshape(shape) % 2
        if dtype == "bool"
        else np.arange(6).reshape(shape)
    )
    return values.astype(dtype)


def exact(x):
    """The array with NumPy's dtype kept, float64 too."""
    return mx.array(x, mx.float64) if x.dtype == np.float64 else mx.array(x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_both_ways(dtype):
    expected = sample(dtype)
    x = exact(expected)
    assert repr(x.dtype) == f"mlx.core.{dtype}"
    for back in (np.array(x), np.asarray(x), x.__array__(), np.from_dlpack(x)):
        assert back.dtype == expected.dtype
        np.testing.assert_array_equal(back, expected)
    for y in (mx.from_dlpack(expected), mx.asarray(expected)):
        assert y.shape == (2, 3)
        np.testing.assert_array_equal(np.array(y), expected)


def test_wide_types_are_narrowed():
    assert mx.array(np.float64([1.5])).dtype == mx.float32
    assert mx.array(np.complex128([1.5 + 2j])).tolist() == [1.5 + 2j]
    assert mx.array(np.complex128([1.5 + 2j])).dtype == mx.complex64
    assert mx.array(np.float64([1.1]), mx.float64).item() == 1.1
    assert mx.array(np.float64([2.7]), mx.int32).item() == 2
    assert mx.array(np.int64([1]), mx.float16).dtype == mx.float16


@pytest.mark.parametrize("dtype", DTYPES)
def test_strided_input(dtype):
    base = np.arange(60).reshape(3, 4, 5)
    base = (base % 2 if dtype == "bool" else base).astype(dtype)
    for view in (
        base.T,
        base[:, ::2, 1:],
        base.transpose(1, 0, 2),
        base[:, 1],
        base[..., 0],
        np.broadcast_to(base[0], (3, 4, 5)),
        base[:0],
        base[0, 0, 0],
        np.asfortranarray(base),
    ):
        for y in (mx.array(view), mx.asarray(view)):
            assert y.shape == view.shape
            np.testing.assert_array_equal(np.array(y), view)


def test_unaligned_and_packed_input():
    record = np.zeros(4, np.dtype([("a", "u1"), ("b", "<f4"), ("c", "<f8")]))
    record["b"], record["c"] = [1, 2, 3, 4], [5, 6, 7, 8]
    record.flags.writeable = False
    for y in (mx.array(record["b"]), mx.asarray(record["b"])):
        assert y.tolist() == [1, 2, 3, 4]
    assert mx.array(record["c"]).tolist() == [5, 6, 7, 8]


def test_refused_input():
    with pytest.raises(ValueError):
        mx.array(np.arange(3)[::-1])
    for bad in (
        np.array(["a"]),
        np.array([1.0], ">f4"),
        np.array([object()]),
        np.array([1], "M8[s]"),
        np.zeros(1, [("a", "f4")]),
        np.longdouble([1]),
    ):
        with pytest.raises((ValueError, RuntimeError)):
            mx.array(bad)


@pytest.mark.skipif(ml_dtypes is None, reason="needs ml_dtypes")
def test_bfloat16():
    n = np.array([1.5, -2, np.inf], ml_dtypes.bfloat16)
    x = mx.array(n)
    assert x.dtype == mx.bfloat16 and x.tolist() == [1.5, -2, np.inf]
    for back in (np.array(x), np.asarray(x), x.__array__()):
        assert back.dtype == ml_dtypes.bfloat16 and back.tolist() == n.tolist()
    assert np.asarray(x, np.float32).tolist() == [1.5, -2, np.inf]
    assert mx.array(n[0]).item() == 1.5 and (mx.array([1.0]) + n).tolist() == [2.5, -1, np.inf]


def test_bfloat16_through_dlpack():
    x = mx.array([1.5, -2.0], mx.bfloat16)
    y = mx.from_dlpack(x.__dlpack__())
    assert y.dtype == mx.bfloat16 and y.tolist() == [1.5, -2]


@pytest.mark.parametrize("dtype", DTYPES)
def test_memoryview(dtype):
    x = exact(sample(dtype))
    m = memoryview(x)
    assert (m.shape, m.itemsize, m.nbytes, m.readonly) == ((2, 3), x.itemsize, x.nbytes, False)
    formats = dict(zip(DTYPES, ["?", "B", "H", "I", "Q", "b", "h", "i", "q", "e", "f", "d", "Zf"]))
    assert m.format == formats[dtype]
    t = memoryview(x.T)
    assert t.shape == (3, 2) and t.strides == (x.itemsize, 3 * x.itemsize)
    assert memoryview(mx.array(1.5)).ndim == 0 and memoryview(mx.zeros((0, 3))).shape == (0, 3)
    assert m.tobytes() == bytes(x)


def test_numpy_shares_and_may_write():
    x = mx.array([1.0, 2.0, 3.0])
    n = np.asarray(x)
    n[0] = 7
    assert x.tolist() == [7, 2, 3]
    assert np.array(x, copy=True).base is None
    y = x[1:]
    n[1] = 8
    assert y.tolist() == [8, 3]


def test_operations_leave_exported_memory_alone():
    x = mx.array(np.ones(1000, np.float32))
    n = np.asarray(x)
    x += 1
    x *= 3
    mx.eval(x)
    assert (n == 1).all() and x[0].item() == 6
    del x
    gc.collect()
    mx.eval([mx.zeros((1000,)) + i for i in range(20)])
    assert (n == 1).all()


def test_exports_outlive_the_array():
    for export in (memoryview, np.asarray, np.from_dlpack):
        x = mx.array(np.arange(100, dtype=np.float32)) * 2
        e = export(x)
        del x
        gc.collect()
        mx.eval([mx.zeros((100,)) + i for i in range(20)])
        assert np.asarray(e).tolist() == list(range(0, 200, 2))


def test_broadcast_exports_have_memory_for_every_element():
    x = mx.broadcast_to(mx.array([1.0]), (3,))
    n = np.asarray(x)
    n[0] = 5
    assert n.tolist() == [5, 1, 1] and np.from_dlpack(x).tolist() == [5, 1, 1]
    assert not memoryview(x).readonly


def test_export_evaluates_and_reports_errors():
    assert np.asarray(mx.array([1.0]) + 1).tolist() == [2]
    with pytest.raises(ValueError, match="vmap"):
        mx.vmap(lambda a: mx.array(np.asarray(a)))(mx.array([1.0]))


def test_array_method():
    x = mx.array([1, 2])
    assert x.__array__(np.float64).dtype == np.float64
    assert x.__array__(copy=True).base is None
    with pytest.raises(ValueError):
        x.__array__(np.float64, copy=False)
    assert np.array(x, dtype=np.float32).dtype == np.float32
    assert np.add(x, 1).tolist() == [2, 3] and np.add.reduce(x) == 3


def test_asarray():
    writable = np.arange(3, dtype=np.float32)
    frozen = writable.copy()
    frozen.flags.writeable = False
    address = frozen.__array_interface__["data"][0]
    shared = mx.asarray(frozen)
    assert np.asarray(shared).__array_interface__["data"][0] == address
    assert np.asarray(mx.asarray(frozen, copy=True)).__array_interface__["data"][0] != address
    assert np.asarray(mx.asarray(frozen[1:], copy=False)).tolist() == [1, 2]
    copied = mx.asarray(writable)
    writable[0] = 9
    assert copied.tolist() == [0, 1, 2]
    x = mx.array([1.5])
    assert mx.asarray(x).tolist() == [1.5] and mx.asarray(x, mx.int32).tolist() == [1]
    assert mx.asarray([1, 2], dtype=mx.float32).dtype == mx.float32
    assert mx.asarray(3).item() == 3 and mx.asarray(np.float64([1.5])).dtype == mx.float32
    for bad in ([1], 1, x, np.zeros(1, np.float32), np.zeros(1)):
        with pytest.raises(ValueError):
            mx.asarray(bad, copy=False)
    with pytest.raises(ValueError):
        mx.asarray(frozen, mx.float16, copy=False)
    for bad in ("a", object(), range(3)):
        with pytest.raises(ValueError):
            mx.asarray(bad)
    with pytest.raises(TypeError):
        mx.asarray(None)


def test_constants_are_exported_writable():
    for x in (mx.array(1.0), mx.array(1.0).reshape(1), mx.zeros((3,)), mx.ones((2, 2)).T):
        assert not memoryview(x).readonly


def test_shared_memory_is_exported_read_only():
    shared = mx.asarray(b"abc")
    assert memoryview(shared).readonly and not np.asarray(shared).flags.writeable
    assert not np.from_dlpack(shared).flags.writeable
    copied = mx.from_dlpack(shared.__dlpack__())
    np.asarray(copied)
    for x in (shared, shared[1:]):
        with pytest.raises((ValueError, BufferError)):
            np.asarray(x)[0] = 1
    changed = shared + 1
    np.asarray(changed)[0] = 0
    assert shared.tolist() == [97, 98, 99]


def test_shared_memory_is_kept_and_never_written():
    frozen = np.ones(1000, np.float32)
    frozen.flags.writeable = False
    x = mx.asarray(frozen)
    x += 1
    mx.eval(x)
    assert (frozen == 1).all() and x[0].item() == 2
    y = mx.asarray(frozen)
    del frozen
    gc.collect()
    assert y.sum().item() == 1000


def test_dlpack_capsules():
    x = mx.array([1.0, 2.0])
    assert x.__dlpack_device__() == (1, 0)
    assert '"dltensor"' in repr(x.__dlpack__())
    assert '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 0)))
    for capsule in (x.__dlpack__(), x.__dlpack__(max_version=(1, 1), copy=True)):
        assert mx.from_dlpack(capsule).tolist() == [1, 2]
        with pytest.raises(ValueError):
            mx.from_dlpack(capsule)
    n = np.asarray(mx.from_dlpack(x.__dlpack__(copy=True)))
    n[0] = 5
    assert x.tolist() == [1, 2]
    unused = [x.__dlpack__(), x.__dlpack__(max_version=(1, 0))]
    del unused
    for bad in ({"stream": 1}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            x.__dlpack__(**bad)
    with pytest.raises(TypeError):
        x.__dlpack__(None)


def test_from_dlpack():
    x = mx.array([1.0])
    assert mx.from_dlpack(x).tolist() == [1] and mx.from_dlpack(x, copy=True).tolist() == [1]
    frozen = np.arange(3)
    frozen.flags.writeable = False
    address = frozen.__array_interface__["data"][0]
    y = mx.from_dlpack(frozen)
    assert np.asarray(y).__array_interface__["data"][0] == address
    with pytest.raises(ValueError):
        mx.from_dlpack(np.arange(3), copy=False)
    for bad in ([1], 1, "a", None):
        with pytest.raises(TypeError):
            mx.from_dlpack(bad)


def test_foreign_devices_are_refused():
    class Remote:
        def __dlpack_device__(self):
            return (8, 0)

        def __dlpack__(self, **kwargs):
            raise AssertionError

    for f in (mx.array, mx.from_dlpack, mx.asarray):
        with pytest.raises(ValueError, match="device"):
            f(Remote())


def test_old_producers():
    class Old:
        def __dlpack__(self, stream=None):
            return np.arange(3, dtype=np.int32).__dlpack__()

    assert mx.from_dlpack(Old()).tolist() == [0, 1, 2]
    assert mx.array(Old()).dtype == mx.int32

    class Failing:
        def __dlpack__(self, **kwargs):
            raise KeyError("inside")

    with pytest.raises(KeyError):
        mx.array(Failing())


def test_torch():
    torch = pytest.importorskip("torch")
    t = torch.arange(6).reshape(2, 3)
    assert mx.array(t).dtype == mx.int64 and mx.array(t.T).tolist() == t.T.tolist()
    assert mx.array(t.to(torch.bfloat16)).dtype == mx.bfloat16
    assert torch.from_dlpack(mx.array([1.5, 2.5])).tolist() == [1.5, 2.5]
