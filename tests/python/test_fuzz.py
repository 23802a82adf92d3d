# Random calls in a watched process, and what earlier hunts found: nothing may end or hang a process,
# and every error is a Python exception in words of our own.
import os
import subprocess
import sys

import fuzz_calls
import mlx.core as mx
import numpy as np
import pytest


def test_random_calls_raise_or_return():
    seed = int(os.environ.get("MLX_FUZZ_SEED", "0"))
    findings, made = fuzz_calls.watch(seed, first=0, count=20000, seconds=200)
    assert not findings, "\n".join(findings)
    assert made > 1000


def run(program):
    """The last line that a program prints; it has a minute."""
    source = "import mlx.core as mx, numpy as np\n" + program
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split("\n")[-1]


@pytest.mark.parametrize(
    "name",
    ["meshgrid", "broadcast_arrays", "broadcast_shapes", "atleast_1d", "atleast_2d", "atleast_3d"],
)
@pytest.mark.parametrize("wrong", [None, "a", [mx.ones(2)], mx.cpu, 1.5, object()])
def test_functions_of_many_arrays_name_what_they_got(name, wrong):
    with pytest.raises(TypeError, match=rf"\[{name}\]"):
        getattr(mx, name)((2, 3) if name == "broadcast_shapes" else mx.ones(3), wrong)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: mx.sin((1,)), ValueError, r"\[sin\] expected an array or a number.*tuple"),
        (lambda: mx.round(2**63), RuntimeError, r"\[round\] .*9223372036854775808"),
        (lambda: mx.trace(mx.ones((3, 1)), axis2=0), ValueError, r"\[trace\] diagonal: .*axis 0"),
        (lambda: mx.linspace((1,), 2), TypeError, r"\[linspace\] start .*\(1,\)"),
        (lambda: mx.linspace(0, mx.ones(2)), TypeError, r"\[linspace\] stop .*array"),
    ],
)
def test_errors_name_the_function_that_was_called(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_memory_errors_name_the_value_there_was_no_room_for():
    assert (
        run(
            "mx.set_memory_limit(1 << 20)\n"
            "try:\n    mx.eval(mx.exp(mx.broadcast_to(mx.ones(1), (1 << 20,))))\n"
            "except MemoryError as error:\n"
            "    print('Elementwise' in str(error) or 'Exp' in str(error), '(1048576,)' in str(error))"
        )
        == "True True"
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda n: mx.zeros((n,)),
        lambda n: mx.zeros(n),
        lambda n: mx.as_strided(mx.ones(3), (n,)),
        lambda n: mx.as_strided(mx.ones(3), strides=(n,)),
        lambda n: mx.random.truncated_normal(0, 1, (n,)),
        lambda n: mx.random.bernoulli(0.5, (n,)),
        lambda n: mx.random.categorical(mx.ones(3), shape=(n,)),
        lambda n: mx.random.normal((n,)),
        lambda n: mx.reshape(mx.ones(3), (n,)),
        lambda n: mx.ones(3).reshape(n),
        lambda n: mx.broadcast_to(mx.ones(3), (n,)),
        lambda n: mx.broadcast_shapes((n,), (1,)),
    ],
)
@pytest.mark.parametrize("n", [2**63, -(2**63) - 1, 2**200])
def test_sizes_beyond_64_bits_raise(call, n):
    with pytest.raises(OverflowError, match="64 bits"):
        call(n)


@pytest.mark.parametrize("axis", [2**31, -(2**31), 2**63, 10**400])
def test_vmap_axes_beyond_32_bits_raise(axis):
    with pytest.raises(mx.AxisError, match=r"\[vmap\]"):
        mx.vmap(mx.sin, in_axes=axis)(mx.ones(3))
    with pytest.raises(mx.AxisError, match=r"\[vmap\]"):
        mx.vmap(mx.sin, out_axes=axis)(mx.ones(3))


def test_format_specs():
    for value in (3, 2.5, True, 1j):
        x = mx.array(value)
        for spec in ("", "10", "d", ".3f", "'", "??", ".2"):
            try:
                expected = format(x.item(), spec)
            except ValueError as error:
                with pytest.raises(ValueError, match=str(error).split("'")[0].strip()):
                    format(x, spec)
            else:
                assert format(x, spec) == expected
    with pytest.raises(TypeError, match=r"\[format\]"):
        format(mx.ones(2), ".2f")
    for wrong in (3, None, mx.ones(2), [mx.ones(1)]):
        with pytest.raises(TypeError):
            mx.array(1.0).__format__(wrong)


@pytest.mark.parametrize(
    "shift, axis",
    [
        ((), None),
        ((), 0),
        ((), ()),
        (1, ()),
        ((1, 2), 0),
        (1, (0, 1)),
        ((1, 2), (0, 1)),
        ((), 1),
    ],
)
def test_roll_with_any_number_of_shifts(shift, axis):
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(
        np.array(mx.roll(mx.array(x), shift, axis)), np.roll(x, shift, axis)
    )


@pytest.mark.parametrize("argument", ["max_version", "dl_device"])
@pytest.mark.parametrize("wrong", [3, "ab", (1,), (None, 0), (2**40, 0), [[1], 2], np.ones(2)])
def test_dlpack_arguments_are_pairs(argument, wrong):
    with pytest.raises(TypeError, match="__dlpack__"):
        mx.ones(3).__dlpack__(**{argument: wrong})


@pytest.mark.filterwarnings("ignore:nanobind:RuntimeWarning")
def test_methods_refuse_what_is_no_array():
    for name in dir(mx.array):
        method = getattr(mx.array, name)
        if callable(method) and name != "__class__":
            for arguments in (
                (3,),
                (3, 3),
                (None, ""),
                ("", mx.ones(2)),
                (mx.array.__new__(mx.array),),
            ):
                try:
                    method(*arguments)
                except Exception as error:
                    assert not fuzz_calls.LIBRARY_TEXT.search(str(error))


def test_streams_wait_for_each_others_views():
    assert (
        run("s = mx.new_stream(mx.cpu); x = mx.add(mx.ones(1), 1, stream=s)\nprint(x.item())")
        == "2.0"
    )
    # The value is made in one thread and used in another, whose default stream differs.
    assert (
        run(
            "import threading\n"
            "x = mx.ones((1000,))\n"
            "def work():\n"
            "    for i in range(200):\n"
            "        x[i] = i; x.__iadd__(1); float(x[::2][0])\n"
            "threads = [threading.Thread(target=work) for _ in range(4)]\n"
            "[t.start() for t in threads]; [t.join() for t in threads]\n"
            "print(x.shape)"
        )
        == "(1000,)"
    )


def test_streams_with_imported_memory():
    assert run(
        "s = mx.new_stream(mx.cpu)\n"
        "for i in range(50):\n"
        "    x = mx.asarray(np.arange(64, dtype=np.float32))\n"
        "    y = mx.add(mx.reshape(x, (8, 8)).T, 1, stream=s); del x\n"
        "    z = mx.sum(y) + 1; del y\n"
        "    mx.async_eval(z)\n"
        "print(z.item())"
    ) == str(float(np.arange(64).sum() + 65))


def test_memory_runs_out_between_streams():
    assert (
        run(
            "mx.set_memory_limit(5000); s = mx.new_stream(mx.cpu)\n"
            "b = mx.add(mx.ones((100,)), 1, stream=s)\n"
            "c = mx.exp(mx.broadcast_to(b[:, None], (100, 1000)), stream=s)\n"
            "try:\n    mx.eval(mx.sum(c))\n"
            "except MemoryError as error:\n    print('allocate' in str(error))"
        )
        == "True"
    )


def test_long_chains_of_views_between_streams():
    assert (
        run(
            "s = mx.new_stream(mx.cpu); x = mx.ones((4, 4))\n"
            "for i in range(500):\n"
            "    x = mx.transpose(x, stream=s if i % 2 else mx.cpu)\n"
            "    x = mx.add(x, 1, stream=mx.cpu if i % 3 else s)\n"
            "print(x[0, 0].item())"
        )
        == "501.0"
    )
