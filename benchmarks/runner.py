"""Keeps one process per framework alive and has each workload timed in turn, round by round."""

import contextlib
import fcntl
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .frameworks import COMPILERS
from .report import show_seconds
from .workload import TOLERANCE

ROOT = Path(__file__).resolve().parents[1]
OVERRIDES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # would hide what the CPU can do
REFERENCES = ("numpy", "torch", "jax")  # whose results the others are held against, by preference
RAISED = ["high", "real-time"]
SETUP_SECONDS, TIMING_SECONDS = 240, 90


@dataclass
class Implementation:
    """A framework in some Python; `ours` is the mlx under test."""

    name: str
    kind: str
    python: str
    ours: bool = False


@dataclass
class Settings:
    rounds: int
    target: float  # seconds of one sample
    budget: float  # seconds that all samples of one column may take
    retries: int  # of samples during which other programs kept the cores busy
    compiled: bool
    alone: bool
    log: Path
    disturbed: float = 0.15  # share of the cores used by others from which a sample is retried


@dataclass
class Row:
    """What was measured for one workload."""

    workload: object
    samples: dict[str, list[float]] = field(default_factory=dict)  # seconds per unit, by column
    missing: dict[str, str] = field(default_factory=dict)  # column -> feature it lacks
    failed: dict[str, str] = field(default_factory=dict)  # column -> error or disagreement
    errors: dict[str, float] = field(default_factory=dict)  # against the reference
    others: list[float] = field(default_factory=list)  # share of the cores others used meanwhile


class Worker:
    def __init__(self, implementation, settings):
        self.implementation, self.settings = implementation, settings
        self.start()

    def start(self):
        env = {k: v for k, v in os.environ.items() if k not in OVERRIDES}
        if not self.implementation.ours:
            env.pop("PYTHONPATH", None)
        env.setdefault("JAX_PLATFORMS", "cpu")
        command = [self.implementation.python, "-m", "benchmarks.worker", self.implementation.kind]
        self.dead = ""
        self.pending = b""
        with open(self.settings.log, "ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=ROOT,
                env=env,
                start_new_session=True,
            )
        self.version = self.read(180).get("version")

    def ask(self, seconds, **request):
        if self.dead:
            return {"ok": False, "error": self.dead}
        try:
            self.process.stdin.write((json.dumps(request) + "\n").encode())
            self.process.stdin.flush()
        except OSError:
            return self.fail("the process has ended")
        return self.read(seconds)

    def read(self, seconds):
        """One answer; after a crash or a timeout, one that says so."""
        end = time.monotonic() + seconds
        out = self.process.stdout.fileno()
        while b"\n" not in self.pending:
            left = end - time.monotonic()
            if left <= 0:
                return self.fail(f"no answer in {seconds} s")
            if select.select([out], [], [], left)[0]:
                chunk = os.read(out, 1 << 16)
                if not chunk:
                    return self.fail(f"the process ended with status {self.process.wait()}")
                self.pending += chunk
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def fail(self, why):
        self.stop()
        self.dead = why
        return {"ok": False, "error": why}

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def measure_ceilings(settings):
    """The machine's rates, by a process of its own."""
    env = {k: v for k, v in os.environ.items() if k not in OVERRIDES}
    command = [sys.executable, "-m", "benchmarks.ceilings"]
    if settings.alone:
        command.append("--alone")
    done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


@contextlib.contextmanager
def only_run():
    """Waits until no other run of the benchmarks is going on here."""
    with open(Path(tempfile.gettempdir()) / "mlx-benchmarks.lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another run of the benchmarks to end", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def start_workers(implementations, settings):
    """The workers that come up; says which don't, and why."""
    workers = {}
    for implementation in implementations:
        worker = Worker(implementation, settings)
        if worker.dead:
            print(f"SKIPPED: {implementation.name}: {worker.dead}; see {settings.log}")
        else:
            workers[implementation.name] = worker
    return workers


def run(workloads, implementations, settings):
    """Rows of measurements, printed as they come, and the frameworks' versions."""
    workers = start_workers(implementations, settings)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for i, workload in enumerate(workloads):
            row = measure(workload, workers, settings, Path(folder))
            rows.append(row)
            print(f"{i + 1}/{len(workloads)} {summary(row)}", flush=True)
    for worker in workers.values():
        if not worker.dead:
            worker.stop()
    return rows, {name: worker.version for name, worker in workers.items()}


def measure(workload, workers, settings, folder):
    row = Row(workload)
    columns = set_up(workload, workers, settings, row, folder)
    check(row, columns, workers, folder)
    plan = {}
    for column, worker in columns.items():
        answer = worker.ask(
            TIMING_SECONDS,
            do="calibrate",
            key=column,
            target=settings.target,
            priority=RAISED[-1] if settings.alone else "normal",
        )
        if answer["ok"]:
            total = answer["calls"] * answer["seconds"]
            rounds = max(2, min(settings.rounds, int(settings.budget / total)))
            plan[column] = (answer["calls"], rounds)
        else:
            row.failed[column] = answer["error"]
    for i in range(settings.rounds):
        for column, (calls, rounds) in plan.items():
            if i < rounds and column not in row.failed:
                take_sample(row, column, columns[column], calls, settings)
    for worker in workers.values():
        worker.ask(TIMING_SECONDS, do="forget")
        if worker.dead:
            worker.start()
    return row


def set_up(workload, workers, settings, row, folder):
    """Makes the workload ready in every framework that has it: column -> worker."""
    columns = {}
    for name, worker in workers.items():
        kind = worker.implementation.kind
        if kind not in workload.functions:
            continue
        variants = [(name, False)]
        compilers = COMPILERS if workload.compiled is True else workload.compiled or ()
        if settings.compiled and kind in compilers:
            variants.append((f"{name}+c", True))
        for column, compiled in variants:
            answer = worker.ask(
                SETUP_SECONDS,
                do="set up",
                key=column,
                name=workload.name,
                compiled=compiled,
                file=str(folder / f"{column}.npz"),
            )
            if answer["ok"]:
                columns[column] = worker
            else:
                into = row.missing if answer.get("missing") else row.failed
                into[column] = answer["error"]
    return columns


def check(row, columns, workers, folder):
    """Compares the results; one that disagrees is timed all the same, but marked."""
    outputs = {}
    for column in columns:
        with np.load(folder / f"{column}.npz") as file:
            outputs[column] = [file[k] for k in file.files]
    reference = next((c for c in REFERENCES if c in outputs), None)
    if reference is None:
        return
    tolerance = row.workload.tolerance or TOLERANCE[row.workload.dtype]
    for column, values in outputs.items():
        error = row.workload.compare(values, outputs[reference])
        row.errors[column] = error
        if not error <= tolerance:
            row.failed[column] = f"disagrees with {reference}: {error:.1e} > {tolerance:.0e}"


def take_sample(row, column, worker, calls, settings):
    """The fastest of a few tries.

    On a machine of our own the first that was not disturbed is enough. On a shared one there is a
    try at either raised priority, since each suits other thread pools.
    """
    levels = RAISED if settings.alone else ["normal"] * (1 + settings.retries)
    best = None
    for level in levels:
        answer = worker.ask(TIMING_SECONDS, do="time", key=column, calls=calls, priority=level)
        if not answer["ok"]:
            row.failed[column] = answer["error"]
            return
        if best is None or answer["seconds"] < best["seconds"]:
            best = answer
        if not settings.alone and answer["others"] <= settings.disturbed:
            break
    row.samples.setdefault(column, []).append(best["seconds"] / row.workload.units)
    row.others.append(best["others"])


def summary(row):
    """One line about a row."""
    cells = []
    for column, samples in row.samples.items():
        mark = " ✗" if column in row.failed else ""
        cells.append(f"{column} {show_seconds(float(np.median(samples)))}{mark}")
    cells += [f"{c} skipped ({why})" for c, why in row.missing.items()]
    cells += [f"{c} FAILED ({why})" for c, why in row.failed.items()]
    return f"{row.workload.name}: {' | '.join(cells)}"
