"""Arrays, streams and transforms from several threads; interrupts, forks and exit with work pending."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import mlx.core as mx
import numpy as np
import pytest


def run_threads(*functions):
    """Runs each function in a thread and raises what they raise."""
    errors = []

    def guarded(f):
        try:
            f()
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=guarded, args=(f,)) for f in functions]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


def chain(x, n):
    for _ in range(n):
        x = mx.sin(x) * 1.01
    return x


def test_built_here_evaluated_there():
    x = mx.array(np.linspace(-1, 1, 1000, dtype=np.float32))
    expected = np.array(chain(x, 60))
    for _ in range(10):
        y = chain(x, 60)
        out = []
        run_threads(*[lambda y=y, out=out: out.append(np.array(y))] * 6)
        assert len(out) == 6
        for o in out:
            np.testing.assert_array_equal(o, expected)


def test_built_there_evaluated_here():
    made = []
    run_threads(lambda: made.append(chain(mx.array([0.5, 1.0]), 10)))
    gone = made[0] + 1  # the thread and its default stream have ended
    np.testing.assert_allclose(np.array(gone), np.array(chain(mx.array([0.5, 1.0]), 10)) + 1)


@pytest.mark.parametrize("shared", [True, False])
def test_many_threads(shared):
    stream = mx.default_stream(mx.cpu) if shared else None
    out = {}

    def work(k):
        x = mx.array(np.full(500, k, np.float32))
        for i in range(200):
            x = mx.add(x, 1.0, stream=stream)
            if i % 10 == 0:
                mx.async_eval(x) if i % 20 else mx.eval(x)
        out[k] = np.array(x)

    run_threads(*[lambda k=k: work(k) for k in range(8)])
    for k in range(8):
        assert (out[k] == k + 200).all()


def test_overlapping_graphs():
    """Threads that evaluate different parts of one graph at the same time."""
    x = mx.array(np.ones(2000, np.float32))
    for _ in range(20):
        nodes = [x]
        for _ in range(40):
            nodes.append(nodes[-1] * 1.0 + nodes[max(0, len(nodes) - 3)] * 0.0 + 1.0)
        run_threads(*[lambda n=n: mx.eval(n) for n in nodes[1::5]], lambda n=nodes[-1]: mx.eval(n))
        assert nodes[-1][0].item() == 41


def test_new_arrays_take_no_memory_that_queued_work_still_writes():
    for i in range(2000):
        x = mx.array(np.full(64, i, np.float32))
        mx.async_eval([mx.exp(x) + k for k in range(5)])  # dropped at once
        y = mx.array(np.arange(64, dtype=np.float32))
        z = mx.array([1.5] * 64)
        assert y[63].item() == 63 and z[0].item() == 1.5
        del x, y, z


def test_transforms_in_threads():
    def work():
        for k in range(30):
            g = mx.grad(lambda x: (x * x * x).sum())(mx.array([1.0, k]))
            assert g.tolist() == [3, 3 * k * k]
            assert mx.vmap(lambda x, k=k: x + k)(mx.array([1.0, 2.0])).tolist() == [1 + k, 2 + k]
            h = mx.grad(lambda x: mx.grad(lambda y: y * y * y)(x))(mx.array(2.0))
            assert h.item() == 12

    run_threads(*[work] * 6)


def test_evaluation_elsewhere_while_a_thread_traces():
    inside, done = threading.Event(), threading.Event()

    def traced(x):
        inside.set()
        done.wait(10)
        return x * 2

    result = []
    t = threading.Thread(target=lambda: result.append(mx.vmap(traced)(mx.array([1.0, 2.0]))))
    t.start()
    inside.wait(10)
    assert (mx.array([1.0]) + 1).tolist() == [2]
    mx.async_eval(mx.array([1.0]) + 1)
    done.set()
    t.join()
    assert result[0].tolist() == [2, 4]


def test_in_place_updates_race_safely():
    x = mx.array(np.zeros(100, np.float32))
    stop = threading.Event()

    def update():
        nonlocal x
        y = x
        for _ in range(300):
            y += 1
        stop.set()

    def read():
        while not stop.is_set():
            v = np.array(x)
            assert (v == v[0]).all()

    run_threads(update, read, read)
    assert x[0].item() == 300


def test_threads_have_their_own_defaults():
    main = mx.default_stream(mx.cpu)
    seen = []

    def work():
        s = mx.new_stream(mx.cpu)
        mx.set_default_stream(s)
        seen.append(mx.default_stream(mx.cpu) == s)

    run_threads(work, work)
    assert seen == [True, True] and mx.default_stream(mx.cpu) == main
    local = mx.new_thread_local_stream(mx.cpu)
    run_threads(*[lambda: mx.eval(mx.add(mx.array(1), 1, stream=local))] * 4)


def test_errors_stay_with_what_depends_on_them(tmp_path):
    path = tmp_path / "a.npy"
    mx.save(path, mx.array(np.zeros(1000, np.float32)))
    broken = mx.load(path)
    with open(path, "r+b") as f:
        f.truncate(300)
    good = mx.array([1.0]) + 1
    bad = broken + 1
    mx.async_eval(bad, good)
    assert good.item() == 2

    def fails():
        for x in (bad, broken, bad * 2):
            with pytest.raises(RuntimeError):
                mx.eval(x)

    fails()
    run_threads(fails, fails)
    assert (good + 1).item() == 3


@pytest.fixture
def interruptible():
    """Python's own handler: a shell starts background jobs with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def slow_graph():
    x = mx.array(np.ones(1 << 20, np.float32))
    y = x
    with mx.stream(mx.cpu):  # a GPU would be through before anybody could interrupt it
        for _ in range(4000):
            y = (mx.sin(y) + x)[::-1]
    return x, y


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("evaluate", [mx.eval, mx.async_eval])
def test_ctrl_c_stops_an_evaluation(evaluate, interruptible):
    x, y = slow_graph()
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        evaluate(y)
        pytest.fail(f"not interrupted within {time.monotonic() - begin} s")
    timer.join()
    assert (x + 1)[0].item() == 2
    assert mx.grad(lambda a: a * a)(mx.array(3.0)).item() == 6


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_stops_waiting_for_a_stream(interruptible):
    _, y = slow_graph()
    mx.async_eval(y)  # what may be queued takes longer than the timer
    timer = threading.Timer(0.03, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        y[0].item()
    timer.join()
    z = y[0] * 0.0  # the work itself goes on
    assert z.item() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_exception_of_a_signal_handler_comes_through():
    class Alarm(Exception):
        pass

    def handler(*_):
        raise Alarm("now")

    _, y = slow_graph()
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Alarm, match="now"):
            mx.eval(y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_work_goes_on_in_a_forked_child():
    x = mx.array(np.ones(1 << 16, np.float32))
    mx.async_eval(chain(x, 20))
    pid = os.fork()
    if pid == 0:
        ok = False
        try:
            mx.set_default_device(mx.cpu)  # a child has no other
            y = chain(x, 5)
            mx.async_eval(y)
            ok = np.allclose(np.array(y), np.array(chain(x, 5)))
        finally:
            os._exit(0 if ok else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert chain(x, 1)[0].item() > 0


EXITS = {
    "pending": "mx.async_eval(y)",
    "unevaluated": "pass",
    "pending in a thread": "threading.Thread(target=lambda: mx.async_eval(y)).start()",
    "in globals of a daemon thread": "threading.Thread(target=lambda: (mx.async_eval(y), time.sleep(9)), daemon=True).start()",
    "kept export": "m = memoryview(y[:3])",
    "inside a transform": "mx.vmap(lambda a: sys.exit(0))(x)",
    "cyclic garbage": "a = [y]; a.append(a)",
    "exception": "sys.excepthook = lambda *a: None; mx.async_eval(y); raise SystemExit(0)",
}


@pytest.mark.parametrize("name", EXITS)
def test_exit_is_clean(name):
    code = f"""
import sys, threading, time
import mlx.core as mx, numpy as np
x = mx.array(np.ones(1 << 16, np.float32))
y = x
for _ in range(50):
    y = (mx.sin(y) + x)[::-1]
{EXITS[name]}
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert out.returncode == 0 and out.stderr == "" and out.stdout == ""
