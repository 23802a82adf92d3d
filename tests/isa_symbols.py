"""Checks that objects compiled per instruction set export no weak symbol.

A template instance or inline function that two objects share is kept once by the linker, perhaps in the version of the
newest instruction set, and then crashes older CPUs.

usage: python tests/isa_symbols.py BUILD_FOLDER     finds the objects by the name of their CMake target (*_v2, *_v3, *_v4)
"""

import pathlib
import re
import subprocess
import sys

TARGET = re.compile(r"_(v[234]|neon|baseline)\.dir$")
WEAK = "WVu"  # defined weak functions and objects, unique globals


def objects(build):
    return sorted(
        p for p in pathlib.Path(build).rglob("*.o") if any(TARGET.search(part) for part in p.parts)
    )


def weak_symbols(path):
    out = subprocess.run(
        ["nm", "--demangle", "--defined-only", str(path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for line in out.splitlines():
        m = re.match(r"[0-9a-f]*\s+(\S)\s+(.*)", line)
        if m and m.group(1) in WEAK:
            yield m.group(2)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: isa_symbols.py BUILD_FOLDER")
    found = objects(sys.argv[1])
    if not found:
        sys.exit(f"isa_symbols.py: no objects of per-instruction-set targets below {sys.argv[1]}")
    bad = [f"{path}: weak symbol {name}" for path in found for name in weak_symbols(path)]
    print(*bad, sep="\n", end="\n" if bad else "")
    print(f"isa_symbols: {len(found)} objects, {len(bad)} weak symbols")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
