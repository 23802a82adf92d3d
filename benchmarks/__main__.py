"""Times mlx beside NumPy, PyTorch, JAX and a released mlx, as far as they are installed.

NumPy runs in this Python. The others are looked for in the virtual environments torch, jax and
released in the folder of --peers; README.md says how to make them.
"""

import argparse
import json
import re
import shlex
import sys
import time
from pathlib import Path

from . import ceilings, report, runner
from .workloads import FAMILIES

PEERS = {"torch": "torch", "jax": "jax", "released": "mlx"}


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("families", nargs="*", metavar="FAMILY", help=f"{', '.join(FAMILIES)}; default: all")
    add("--only", default="", metavar="REGEX", help="workloads whose name matches")
    add("--skip", default=None, metavar="REGEX", help="leaves out workloads whose name matches")
    add("--quick", action="store_true", help="about half of the workloads, fewer rounds")
    add("--compiled", action="store_true", help="also through mx.compile and torch.compile (slow)")
    add("--rounds", type=int, help="samples of each column; default 5, with --quick 3")
    add("--peers", type=Path, default=Path("build/peers"), help="folder of environments")
    add("--without", action="append", default=[], metavar="NAME", help="leaves out a framework")
    add(
        "--alone",
        action="store_true",
        help="raised priority while measuring, for a shared machine (root)",
    )
    add("--retries", type=int, default=2, help="new tries for a sample that others disturbed")
    add("--write", action="store_true", help="put the tables into benchmarks/RESULTS.md")
    add("--machine", default=report.machine_words(), help="words for the title in RESULTS.md")
    add("--json", type=Path, default=Path("build/bench/latest.json"), help="all samples")
    add("--list", action="store_true", help="only name the workloads")
    options = parser.parse_args()
    unknown = set(options.families) - set(FAMILIES)
    if unknown:
        parser.error(f"no family {', '.join(sorted(unknown))}; there are {', '.join(FAMILIES)}")
    return options


def chosen(options):
    workloads = [w for name in options.families or FAMILIES for w in FAMILIES[name]]
    return [
        w
        for w in workloads
        if re.search(options.only, w.name)
        and not (options.skip and re.search(options.skip, w.name))
        and (w.quick or not options.quick)
    ]


def find_implementations(options):
    """Ours and the peers that are there; says what isn't."""
    found = [
        runner.Implementation("mlx", "mlx", sys.executable, ours=True),
        runner.Implementation("numpy", "numpy", sys.executable),
    ]
    for name, kind in PEERS.items():
        python = options.peers.absolute() / name / "bin" / "python"
        if python.exists():
            found.append(runner.Implementation(name, kind, str(python)))
        elif name not in options.without:
            print(f"SKIPPED: {name}: no environment at {options.peers / name}")
    return [i for i in found if i.name not in options.without]


def save(path, rows, versions, rates):
    results = []
    for row in rows:
        fields = ("samples", "missing", "failed", "errors", "others")
        results.append({"name": row.workload.name} | {f: getattr(row, f) for f in fields})
    document = {"versions": versions, "ceilings": rates, "results": results}
    path.write_text(json.dumps(document, indent=1))


def main():
    options = parse_arguments()
    workloads = chosen(options)
    if options.list:
        for w in workloads:
            print(f"{w.family:12} {w.name:30} {', '.join(w.functions)}")
        return
    if not workloads:
        sys.exit("No workload is left by these options.")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    settings = runner.Settings(
        rounds=options.rounds or (3 if options.quick else 5),
        target=0.015 if options.quick else 0.03,
        budget=1.5 if options.quick else 4.0,
        retries=options.retries,
        compiled=options.compiled,
        alone=options.alone,
        log=options.json.with_suffix(".log"),
    )
    with runner.only_run():
        rates = runner.measure_ceilings(settings)
        rows, versions = runner.run(workloads, find_implementations(options), settings)
        rates = ceilings.merge(rates, runner.measure_ceilings(settings))
    save(options.json, rows, versions, rates)
    title = f"{time.strftime('%Y-%m-%d')}, {options.machine}"
    command = f'make bench ARGS="{shlex.join(sys.argv[1:])}"'
    text = report.section(rows, versions, settings, rates, title, command)
    print(f"\n{text}")
    if options.write:
        report.put_section(Path(__file__).parent / "RESULTS.md", text)
    if report.OURS not in versions and report.OURS not in options.without:
        sys.exit("mlx itself was not measured: it cannot be imported (PYTHONPATH?).")
    wrong = [row for row in rows if any(report.base(c) == report.OURS for c in row.failed)]
    if wrong:
        names = ", ".join(row.workload.name for row in wrong)
        sys.exit(f"mlx fails or disagrees with the others in: {names}")


main()
