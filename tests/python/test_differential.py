"""Random graphs give the same bits however they are run: fused or not, compiled or not, on one thread
or on several; and every step what NumPy gives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = 200
WORKER = Path(__file__).parent / "random_graphs.py"
WAYS = {
    "unfused": ({"MLX_DISABLE_FUSION": "1"}, []),
    "compiled": ({}, ["--compiled"]),
    "compiled, unfused": ({"MLX_DISABLE_FUSION": "1"}, ["--compiled"]),
    "compiled in pieces": ({}, ["--pieces"]),
    "one thread": ({"MLX_NUM_THREADS": "1"}, []),
    "many threads": ({"MLX_NUM_THREADS": "7"}, []),
}


def lines(environment, arguments):
    first = int(os.environ.get("MLX_FUZZ_SEED", "0")) * COUNT
    done = subprocess.run(
        [sys.executable, WORKER, "--first", str(first), "--count", str(COUNT), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = done.stdout.splitlines()
    assert len(found) == COUNT
    return found


@pytest.mark.parametrize("what", [[], ["--gradient"]], ids=["values", "gradients"])
def test_all_ways_give_the_same_bits(what):
    usual = lines({}, what)
    for way, (environment, arguments) in WAYS.items():
        other = lines(environment, what + arguments)
        differing = [line.split()[0] for line, o in zip(usual, other) if line != o]
        assert not differing, f"{way}: graphs {differing}"


@pytest.mark.parametrize("what", [[], ["--gradient"]], ids=["values", "gradients"])
def test_shapeless_replays(what):
    findings = [line for line in lines({}, ["--shapeless", *what]) if len(line.split()) > 2]
    assert not findings, "\n".join(findings)


def test_every_step_agrees_with_numpy():
    findings = [line for line in lines({}, ["--oracle"]) if len(line.split()) > 2]
    assert not findings, "\n".join(findings)
