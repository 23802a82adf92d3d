"""Files: npy, npz and safetensors, both ways, whole and broken, against NumPy."""

import io
import json
import pathlib
import random
import struct

import mlx.core as mx
import numpy as np
import pytest

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
SHAPES = [(), (1,), (5,), (2, 3), (2, 0, 3), (4, 1, 3)]


def sample(shape, dtype):
    r = np.random.default_rng(1)
    values = r.integers(0, 100, shape)
    if dtype == "complex64":
        return np.asarray(values + 1j * r.integers(0, 9, shape)).astype(dtype)
    return np.asarray(values).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_npy_round_trip(tmp_path, dtype, shape):
    expected = sample(shape, dtype)
    mx.save(tmp_path / "a.npy", mx.array(expected, getattr(mx, dtype.replace("bool", "bool_"))))
    with_numpy = np.load(tmp_path / "a.npy")
    assert with_numpy.dtype == expected.dtype
    np.testing.assert_array_equal(with_numpy, expected)
    back = mx.load(str(tmp_path / "a.npy"))
    assert back.shape == shape and str(back.dtype) == f"mlx.core.{dtype}"
    np.testing.assert_array_equal(np.array(back), expected)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("code", ["u2", "i4", "i8", "f2", "f4", "f8", "c8"])
def test_npy_byte_orders(tmp_path, order, code):
    expected = sample((3, 4), {"c8": "complex64"}.get(code, "float32")).astype(order + code)
    np.save(tmp_path / "a.npy", expected)
    np.testing.assert_array_equal(np.array(mx.load(tmp_path / "a.npy")), expected)


def test_npy_column_major(tmp_path):
    expected = np.asfortranarray(np.arange(12.0, dtype=np.float32).reshape(3, 4))
    np.save(tmp_path / "a.npy", expected)
    a = mx.load(tmp_path / "a.npy")
    np.testing.assert_array_equal(np.array(a), expected)
    mx.save(tmp_path / "b.npy", a.T.T)
    text = (tmp_path / "b.npy").read_bytes()
    assert b"'fortran_order': True" in text
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), expected)
    mx.save(tmp_path / "c.npy", mx.array(expected)[::2, 1:])
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), expected[::2, 1:])


def test_npy_header_is_aligned(tmp_path):
    for n in range(1, 30):
        mx.save(tmp_path / "a.npy", mx.zeros((1,) * n))
        text = (tmp_path / "a.npy").read_bytes()
        length = struct.unpack("<H", text[8:10])[0]
        assert (10 + length) % 16 == 0 and text[9 + length] == ord("\n")
        assert np.load(tmp_path / "a.npy").shape == (1,) * n


@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors"])
def test_bfloat16_round_trip(tmp_path, suffix):
    a = mx.array([1.5, -2.0, float("inf")], mx.bfloat16)
    path = tmp_path / f"a.{suffix}"
    if suffix == "npy":
        mx.save(path, a)
        back = mx.load(path)
    elif suffix == "npz":
        mx.savez(path, x=a)
        back = mx.load(path)["x"]
    else:
        mx.save_safetensors(path, {"x": a})
        back = mx.load(path)["x"]
    assert back.dtype == mx.bfloat16
    assert back.tolist() == [1.5, -2.0, float("inf")]


def test_suffixes_are_added(tmp_path):
    a = mx.array([1, 2])
    mx.save(str(tmp_path / "a"), a)
    mx.savez(tmp_path / "b", a)
    mx.savez_compressed(tmp_path / "c", a, k=a)
    mx.save_safetensors(str(tmp_path / "d"), {"x": a})
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "a.npy",
        "b.npz",
        "c.npz",
        "d.safetensors",
    ]
    assert sorted(mx.load(tmp_path / "c.npz")) == ["arr_0", "k"]


@pytest.mark.parametrize("save", [mx.savez, mx.savez_compressed])
def test_npz(tmp_path, save):
    values = {"a": np.arange(6, dtype=np.int64).reshape(2, 3), "b": np.float32(2.5)}
    save(tmp_path / "a.npz", mx.array([True]), **{k: mx.array(v) for k, v in values.items()})
    with np.load(tmp_path / "a.npz") as file:
        assert sorted(file) == ["a", "arr_0", "b"]
        np.testing.assert_array_equal(file["a"], values["a"])
    np.savez(tmp_path / "b.npz", **values)
    back = mx.load(tmp_path / "b.npz")
    assert sorted(back) == ["a", "b"]
    np.testing.assert_array_equal(np.array(back["a"]), values["a"])
    assert back["b"].item() == 2.5
    with pytest.raises(ValueError, match="arr_0"):
        save(tmp_path / "c.npz", mx.array(1), arr_0=mx.array(2))
    assert not (tmp_path / "c.npz").exists()


def test_safetensors(tmp_path):
    arrays = {
        d: mx.array(sample((2, 3), d), getattr(mx, d.replace("bool", "bool_")))
        for d in DTYPES
        if d != "float64"
    }
    arrays["empty"] = mx.zeros((0, 4))
    arrays["scalar"] = mx.array(3)
    arrays['odd "name"\n\u00fc'] = mx.array([1.0])
    mx.save_safetensors(tmp_path / "a.safetensors", arrays, {"k": 'v "\u20ac"', "a": ""})
    back, metadata = mx.load(tmp_path / "a.safetensors", return_metadata=True)
    assert metadata == {"k": 'v "\u20ac"', "a": ""}
    assert back.keys() == arrays.keys()
    for name, a in arrays.items():
        assert back[name].dtype == a.dtype and back[name].shape == a.shape
        np.testing.assert_array_equal(np.array(back[name]), np.array(a))
    text = (tmp_path / "a.safetensors").read_bytes()
    length = struct.unpack("<Q", text[:8])[0]
    header = json.loads(text[8 : 8 + length])
    assert list(header) == sorted(header, key=lambda k: k.encode())
    assert header["float32"]["dtype"] == "F32" and header["float32"]["shape"] == [2, 3]


def test_safetensors_without_metadata(tmp_path):
    mx.save_safetensors(tmp_path / "a", {"x": mx.array([1])})
    arrays, metadata = mx.load(tmp_path / "a.safetensors", return_metadata=True)
    assert metadata == {} and arrays["x"].tolist() == [1]


def safetensors_bytes(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_safetensors_fp8_loads_as_uint8():
    for code in ("F8_E4M3", "F8_E8M0"):
        header = {"x": {"dtype": code, "shape": [2], "data_offsets": [0, 2]}}
        file = io.BytesIO(safetensors_bytes(header, b"\x01\x80"))
        x = mx.load(file, format="safetensors")["x"]
        assert x.dtype == mx.uint8 and x.tolist() == [1, 128]


BAD_HEADERS = [
    b"",
    b"[]",
    b"{",
    b'{"a":}',
    b'{"a":{}}',
    b'{"a":1} x',
    b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}',
    b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}',
    b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,1e9]}}',
    b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}',
    b'{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}',
    b'{"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}}',
    b'{"a":{"dtype":"F99","shape":[2],"data_offsets":[0,8]}}',
    b'{"a":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0]}}',
    b'{"a":{"dtype":"F32","shape":[9223372036854775807],"data_offsets":[0,8]}}',
    b'{"a":{"dtype":"F32","shape":[18446744073709551618],"data_offsets":[0,8]}}',
    b'{"a":{"dtype":"U8","shape":[],"data_offsets":[18446744073709551615,0]}}',
    b'{"__metadata__":[1]}',
    b'{"__metadata__":{"a":1}}',
    b'{"__metadata__":{"a":"\\ud800"}}',
    b'{"__metadata__":{"a":"\xff"}}',
    b'{"__metadata__":{"a":"\\x"}}',
    b"[" * 100000,
    b'{"a":' * 100000,
]


@pytest.mark.parametrize("header", BAD_HEADERS, ids=range(len(BAD_HEADERS)))
def test_bad_safetensors_headers(header):
    with pytest.raises(RuntimeError, match="load"):
        mx.load(io.BytesIO(safetensors_bytes(header, b"\0" * 8)), format="safetensors")


@pytest.mark.parametrize("length", [0, 7, 1 << 40, (1 << 64) - 1])
def test_bad_safetensors_length(length):
    with pytest.raises(RuntimeError):
        mx.load(io.BytesIO(struct.pack("<Q", length) + b"{}"), format="safetensors")


def npy_bytes(header, data=b"", version=b"\x01\x00"):
    text = header.encode() + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + data


BAD_NPY = [
    "",
    "{}",
    "{'descr': '<f4'}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
    "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
    "{'descr': '<f9', 'fortran_order': False, 'shape': (2,)}",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
    "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 4)}",
    "{'descr': '<f4', 'fortran_order': True, 'shape': (4294967296, 4294967296, 0, 4294967296)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1," * 100 + ")}",
]


@pytest.mark.parametrize("header", BAD_NPY, ids=range(len(BAD_NPY)))
def test_bad_npy_headers(header):
    with pytest.raises(RuntimeError, match="load"):
        mx.load(io.BytesIO(npy_bytes(header, b"\0" * 8)), format="npy")


@pytest.mark.parametrize("kind", ["npy", "npz", "safetensors"])
def test_truncated_files(tmp_path, kind):
    a = mx.array(np.arange(40, dtype=np.float32))
    path = tmp_path / f"a.{kind}"
    if kind == "npy":
        mx.save(path, a)
    elif kind == "npz":
        mx.savez(path, a=a)
    else:
        mx.save_safetensors(path, {"a": a})
    whole = path.read_bytes()
    for n in [*range(0, len(whole), 7), len(whole) - 1]:
        (tmp_path / f"b.{kind}").write_bytes(whole[:n])
        with pytest.raises(RuntimeError):
            mx.load(tmp_path / f"b.{kind}")


@pytest.mark.parametrize("kind", ["npy", "npz", "safetensors"])
def test_corrupt_files_raise_or_load(kind):
    """Any change of bytes gives RuntimeError or arrays, never anything else."""
    a = {"x": mx.array(np.arange(12, dtype=np.float32).reshape(3, 4)), "yy": mx.array([1, 2])}
    out = io.BytesIO()
    if kind == "npy":
        mx.save(out, a["x"])
    elif kind == "npz":
        mx.savez(out, **a)
    else:
        mx.save_safetensors(out, a, {"m": "n"})
    whole = out.getvalue()
    r = random.Random(0)
    loaded = 0
    for _ in range(2000):
        data = bytearray(whole)
        for _ in range(r.randint(1, 4)):
            data[r.randrange(len(data))] = r.choice(
                [0, 1, 0x20, 0x30, 0x39, 0x7F, 0xFF, r.randrange(256)]
            )
        try:
            result = mx.load(io.BytesIO(bytes(data)), format=kind)
        except RuntimeError:
            continue
        loaded += 1
        mx.eval(result)
    assert loaded > 0


def test_file_objects(tmp_path):
    a = mx.array([[1.0, 2.0]])
    buffer = io.BytesIO()
    mx.save(buffer, a)
    mx.save(buffer, a + 1)
    buffer.seek(0)
    assert mx.load(buffer, format="npy").tolist() == [[1, 2]]
    assert mx.load(buffer, format="npy").tolist() == [[2, 3]]
    with open(tmp_path / "f.safetensors", "wb") as f:
        mx.save_safetensors(f, {"a": a})
    with open(tmp_path / "f.safetensors", "rb") as f:
        assert mx.load(f)["a"].tolist() == [[1, 2]]
    with open(tmp_path / "raw.npy", "wb", buffering=0) as f:
        mx.save(f, a)
    assert mx.load(tmp_path / "raw.npy").tolist() == [[1, 2]]
    with pytest.raises(AttributeError):
        mx.load(io.BytesIO(b""))
    buffer.close()
    with pytest.raises((RuntimeError, ValueError)):
        mx.load(buffer, format="npy")


def test_paths_load_lazily_and_survive_overwriting(tmp_path):
    path = tmp_path / "a.npy"
    mx.save(path, mx.array([1.0, 2.0, 3.0]))
    old = mx.load(path)
    mx.save(path, mx.array([7.0, 8.0, 9.0]))
    assert old.tolist() == [1, 2, 3]
    assert mx.load(path).tolist() == [7, 8, 9]
    x = mx.load(path)
    mx.save(path, x * 2)
    assert mx.load(path).tolist() == [14, 16, 18]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npy"]


def test_a_file_that_shrinks_before_evaluation_is_an_error(tmp_path):
    path = tmp_path / "a.npy"
    mx.save(path, mx.zeros((1000,)) + 1)
    x = mx.load(path)
    with open(path, "r+b") as f:
        f.truncate(200)
    with pytest.raises(RuntimeError, match="shorter"):
        mx.eval(x)


def test_argument_errors(tmp_path):
    with pytest.raises(ValueError):
        mx.load(tmp_path / "noextension")
    with pytest.raises(ValueError):
        mx.load("a.txt")
    with pytest.raises(ValueError):
        mx.load(5)
    with pytest.raises(ValueError):
        mx.save(5, mx.array(1))
    for kind in ("npy", "npz", "safetensors"):
        with pytest.raises(RuntimeError):
            mx.load(tmp_path / f"missing.{kind}")
    with pytest.raises(RuntimeError):
        mx.save(tmp_path / "no" / "folder.npy", mx.array(1))
    mx.save(tmp_path / "a.npy", mx.array(1))
    with pytest.raises(ValueError):
        mx.load(tmp_path / "a.npy", return_metadata=True)
    with pytest.raises(ValueError):
        mx.save_safetensors(tmp_path / "b", {"x": mx.array(1)}, {"a": 1})
    with pytest.raises(ValueError):
        mx.save_safetensors(tmp_path / "b", {"x": 1})
    with pytest.raises(RuntimeError):
        mx.save_safetensors(tmp_path / "b", {"x": mx.array(1.0, mx.float64)})
    assert not (tmp_path / "b.safetensors").exists()
    assert isinstance(mx.load(pathlib.Path(tmp_path / "a.npy")), mx.array)
