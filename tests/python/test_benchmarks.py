"""The benchmark runner: its arithmetic, its report, and one short run of NumPy."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
CEILINGS = {"memory": 100e9, "read": 100e9, "copy": 50e9, "product": 1e12}


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def make_row(samples, failed=(), **options):
    from benchmarks.runner import Row
    from benchmarks.workload import Workload

    row = Row(Workload("reduce", "a_row", {}, **options))
    row.samples = samples
    row.failed = dict.fromkeys(failed, "disagrees")
    return row


def test_ratio_is_the_median_of_the_rounds():
    from benchmarks.report import ratio

    row = make_row({"mlx": [1.0, 9.0, 4.0], "numpy": [2.0, 3.0, 4.0]})
    assert ratio(row, "mlx", "numpy") == 1.0


def test_disagreeing_results_are_in_no_ratio():
    from benchmarks.report import fastest, tables

    row = make_row({"mlx": [1.0], "mlx+c": [0.1], "numpy": [2.0]}, failed=["mlx+c"])
    assert fastest(row, {"mlx"}) == "mlx"
    line = tables([row], ["mlx", "numpy"], CEILINGS)[-1]
    assert "100 ms ✗" in line
    assert "**0.50** | 0.50 | numpy" in line


def test_rates_and_part_of_ceiling():
    from benchmarks.report import tables

    row = make_row({"mlx": [1e-3]}, bytes=50_000_000)
    assert "1 ms" in tables([row], ["mlx"], CEILINGS)[-1]
    assert "50 GB/s | 50% |" in tables([row], ["mlx"], CEILINGS)[-1]
    row = make_row({"mlx": [1e-3]}, flops=250_000_000)
    assert "250 GFLOP/s | 25% |" in tables([row], ["mlx"], CEILINGS)[-1]


def test_comparison_sees_shapes_and_nan():
    from benchmarks.workload import Workload, thinned

    compare = Workload("reduce", "a_row", {}).compare
    a = thinned([np.arange(12.0)])
    assert compare(a, a) == 0
    assert compare(thinned([np.arange(12.0) + 1e-3]), a) == pytest.approx(1e-3, rel=1)
    assert compare(thinned([np.arange(11.0)]), a) == float("inf")
    assert compare(thinned([np.full(12, np.nan)]), a) == float("inf")


def test_sections_of_results_are_replaced(tmp_path):
    from benchmarks.report import put_section

    path = tmp_path / "RESULTS.md"
    for title, text in (("one", "old"), ("two", "kept"), ("one", "new")):
        put_section(path, f"## {title}\n\n### family\n\n{text}\n")
    written = path.read_text()
    assert written.startswith("# Results\n\n## one\n")
    assert written.count("## one") == 1
    assert "old" not in written
    assert "kept" in written


def test_workloads_are_sound():
    from benchmarks.workloads import FAMILIES, by_name

    assert sum(map(len, FAMILIES.values())) == len(by_name())
    for workload in by_name().values():
        assert "mlx" in workload.functions, workload.name
        assert workload.dtype == "float32" or "numpy" not in workload.functions


def test_quantized_weights_are_close():
    from benchmarks.quantize import BITS, GROUP, dequantized, packed

    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((1, 4096), np.float32), rng.standard_normal((4096, 4096), np.float32)
    dense = dequantized([x, w])[1]
    _, words, scales, biases = packed([x, w])
    shifts = np.arange(0, 32, BITS, dtype=np.uint32)
    codes = (words[:4, :, None] >> shifts & 15).reshape(4, -1, GROUP)
    again = codes * scales[:4, :, None] + biases[:4, :, None]
    np.testing.assert_allclose(again.reshape(4, -1), dense[:4], atol=1e-6)
    assert np.abs(dense - w).max() < 0.6 * scales.max()


def run(*options):
    command = [sys.executable, "-m", "benchmarks", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=240)


def test_a_short_run(tmp_path):
    file = tmp_path / "samples.json"
    done = run("--only", "add_64k", "--rounds", 2, "--peers", tmp_path, "--json", file)
    assert "SKIPPED: torch" in done.stdout
    document = json.loads(file.read_text())
    (row,) = document["results"]
    assert len(row["samples"]["numpy"]) == 2
    assert min(row["samples"]["numpy"]) > 0
    if "mlx" in document["versions"]:
        assert done.returncode == 0, done.stderr
        assert row["errors"]["mlx"] < 1e-6
    else:
        assert "mlx itself was not measured" in done.stderr


def test_an_unknown_family_is_an_error():
    done = run("nosuch")
    assert done.returncode == 2
    assert "no family nosuch" in done.stderr
