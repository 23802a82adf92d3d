"""Writes the table of docs/gpu.md: which primitives the CUDA backend computes itself.

usage: python tools/gpu_table.py [--check]    --check: exits with 1 if the page is not up to date
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/gpu.md"
BEGIN, END = "<!-- table: tools/gpu_table.py -->", "<!-- end of table -->"


def families():
    """{family: [primitive, ...]} in the order of primitives.def."""
    found, family = {}, "element-wise"
    for line in (ROOT / "mlx/ops/primitives.def").read_text().splitlines():
        if m := re.match(r"PRIMITIVE\((\w+)", line):
            found.setdefault(family, []).append(m[1])
        elif (m := re.match(r"// (\w+)$", line)) and m[1] != "PRIMITIVE":
            family = m[1]
    return found


def table():
    text = (ROOT / "backend/cuda/missing.def").read_text()
    missing = set(re.findall(r"^MISSING\((\w+)\)", text, flags=re.MULTILINE))
    rows = ["| family | on the GPU | on the CPU |", "| --- | --- | --- |"]
    for family, names in families().items():
        here = ", ".join(n for n in names if n not in missing)
        there = ", ".join(n for n in names if n in missing)
        rows.append(f"| {family} | {here} | {there} |")
    return "\n".join(rows)


def main():
    old = PAGE.read_text()
    head, _, rest = old.partition(BEGIN)
    _, _, tail = rest.partition(END)
    new = f"{head}{BEGIN}\n\n{table()}\n\n{END}{tail}"
    if "--check" in sys.argv:
        sys.exit(new != old and f"{PAGE.relative_to(ROOT)} is old: run tools/gpu_table.py")
    PAGE.write_text(new)


if __name__ == "__main__":
    main()
