"""One framework in one process: sets workloads up and times them as the runner asks.

Requests are lines of JSON on standard input, answers lines of JSON on standard output.
"""

import argparse
import contextlib
import gc
import json
import os
import sys
import time
import traceback

import numpy as np

from .ceilings import set_priority
from .frameworks import FRAMEWORKS, leaves
from .workload import thinned
from .workloads import by_name


class Case:
    """A workload made ready in this framework."""

    def __init__(self, framework, kind, workload, compiled):
        self.framework, self.workload = framework, workload
        self.inputs = workload.make_inputs()
        given = workload.layout.get(kind, lambda inputs: inputs)(self.inputs)
        self.arguments = [framework.array(x, workload.dtype) for x in given]
        with framework.running():
            function = workload.functions[kind](framework.xp)
            self.function = framework.prepare(function, workload, compiled)
        self.comparable = workload.comparable.get("", lambda inputs, outputs: outputs)

    def outputs(self):
        if not self.workload.wait:
            return []
        with self.framework.running():
            results = [self.function(*self.arguments) for _ in range(self.workload.calls)]
        outputs = [self.framework.to_numpy(x) for x in leaves(results)]
        return thinned(self.comparable(self.inputs, outputs))

    def seconds(self, calls):
        function, arguments, wait = self.function, self.arguments, self.framework.wait
        if not self.workload.wait:
            wait = lambda results: None
        with self.framework.running():
            start = time.perf_counter()
            for _ in range(calls):
                wait(function(*arguments))
            return time.perf_counter() - start


def calibrate(case, target):
    """How many calls take about `target` seconds. The first may still compile and never counts."""
    case.seconds(1)
    calls = 1
    while (t := case.seconds(calls)) < 0.6 * target and calls < 1 << 20:
        calls = min(10 * calls, max(calls + 1, int(1.05 * calls * target / max(t, 1e-7))))
    return calls, t / calls


def machine_seconds():
    """CPU time that the whole machine has used; None where it cannot be known."""
    try:
        with open("/proc/stat") as f:
            ticks = [int(x) for x in f.readline().split()[1:9]]
    except OSError:
        return None
    idle, waiting = ticks[3:5]
    return (sum(ticks) - idle - waiting) / os.sysconf("SC_CLK_TCK")


def sample(case, calls):
    """Seconds per call, and the share of the cores that other programs used meanwhile."""
    gc.disable()
    machine, own = machine_seconds(), time.process_time()
    t = case.seconds(calls)
    others = 0.0
    if machine is not None:
        used = (machine_seconds() - machine) - (time.process_time() - own)
        others = max(0.0, used / (t * os.cpu_count()))
    gc.enable()
    return t / calls, others


@contextlib.contextmanager
def priority(level):
    """Only while something is timed: a process that waits may spin."""
    if level != "normal":
        set_priority(level)
    yield
    if level != "normal":
        set_priority("normal")


def missing(error):
    """Whether the framework just does not have the feature."""
    return isinstance(error, (AttributeError, ModuleNotFoundError, NotImplementedError))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=FRAMEWORKS)
    options = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else prints goes to standard error

    def answer(**fields):
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    framework = FRAMEWORKS[options.kind]()
    answer(ok=True, version=framework.version)
    cases = {}
    for line in sys.stdin:
        request = json.loads(line)
        key = request.get("key")
        try:
            match request["do"]:
                case "set up":
                    workload = by_name()[request["name"]]
                    cases[key] = Case(framework, options.kind, workload, request["compiled"])
                    np.savez(request["file"], *cases[key].outputs())
                    answer(ok=True)
                case "calibrate":
                    with priority(request["priority"]):
                        calls, seconds = calibrate(cases[key], request["target"])
                    answer(ok=True, calls=calls, seconds=seconds)
                case "time":
                    with priority(request["priority"]):
                        seconds, others = sample(cases[key], request["calls"])
                    answer(ok=True, seconds=seconds, others=others)
                case "forget":
                    cases.clear()
                    framework.forget()
                    gc.collect()
                    answer(ok=True)
        except Exception as error:
            traceback.print_exc()
            what = f"{type(error).__name__}: {error}"[:300]
            answer(ok=False, error=what, missing=missing(error))


if __name__ == "__main__":
    main()
