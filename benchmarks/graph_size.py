"""Time and memory of a graph of a million nodes: built, evaluated, differentiated, freed.

Run with `python -m benchmarks.graph_size`; needs /proc.
"""

from __future__ import annotations

import time
from pathlib import Path

import mlx.core as mx

NODES = 10**6
PAGE = 4096


def resident() -> int:
    """Bytes of the process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def chain(x: mx.array) -> mx.array:
    for _ in range(NODES):
        x = mx.sin(x)
    return x


def report(what: str, start: float, before: int) -> None:
    seconds, grown = time.perf_counter() - start, resident() - before
    print(f"{what:<28} {seconds:6.2f} s   {grown / NODES:6.0f} bytes a node")


def main() -> None:
    x = mx.array([0.1, 0.2, 0.3, 0.4])
    mx.eval(mx.sin(x))
    before, start = resident(), time.perf_counter()
    y = chain(x)
    report("build", start, before)
    start = time.perf_counter()
    mx.eval(y)
    report("evaluate", start, before)
    del y
    for lap in range(3):  # the second and third lap show that nothing stays behind
        start = time.perf_counter()
        gradient = mx.grad(lambda x: mx.sum(chain(x)))(x)
        report(f"differentiate, lap {lap + 1}", start, before)
        start = time.perf_counter()
        mx.eval(gradient)
        del gradient
        report("evaluate the gradient", start, before)
    mx.clear_cache()
    report("after mx.clear_cache()", time.perf_counter(), before)


if __name__ == "__main__":
    main()
