"""Runs every linter, shows what the failing ones say, and fails if one did (`make lint`).

Needs the tools of the lint group on PATH, and the built module on PYTHONPATH for the stubs.
"""

import subprocess
import sys
import time

SHOWN = 60  # lines of one tool; a formatter that was never run says thousands


def tracked(*patterns):
    out = subprocess.run(
        ["git", "ls-files", "--", *patterns], capture_output=True, text=True, check=True
    )
    return out.stdout.split()


def commands():
    """(name, command line, how to mend it)."""
    cpp = tracked("*.h", "*.cpp", "*.cu", "*.cuh", "*.metal")
    cmake = tracked("CMakeLists.txt", "*/CMakeLists.txt", "*.cmake")
    python = sys.executable
    yield "ruff check", ["ruff", "check", "-q", "--output-format", "concise", "."], "make format"
    yield "ruff format", ["ruff", "format", "-q", "--check", "."], "make format"
    yield "clang-format", ["clang-format", "--dry-run", "-Werror", *cpp], "make format"
    yield "gersemi", ["gersemi", "-q", "--check", *cmake], "make format"
    yield "mypy", ["mypy", "-p", "mlx"], ""
    yield "codespell", ["codespell"], "the words it may not know are listed in pyproject.toml"
    yield "structure", [python, "tests/structure.py"], ""
    yield "stubs", [python, "tools/stubs.py", "--check"], "make stubs"


def short(name, text):
    """What a reader needs: of the formatters only which files and where."""
    lines = text.splitlines()
    if name == "ruff format":
        lines = [s for s in lines if s.lstrip().startswith("-->")]
    if name == "clang-format":
        lines = [s for s in lines if "error:" in s]
    rest = len(lines) - SHOWN
    return lines[:SHOWN] + ([f"… and {rest} lines more"] if rest > 0 else [])


def main():
    failed = []
    for name, command, remedy in commands():
        start = time.monotonic()
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        seconds = time.monotonic() - start
        print(f"{name}: {'failed' if run.returncode else 'ok'} ({seconds:.1f} s)", flush=True)
        if run.returncode:
            failed.append(name)
            print(*(f"  {s}" for s in short(name, run.stdout)), sep="\n")
            if remedy:
                print(f"  → {remedy}")
    sys.exit(f"lint: {', '.join(failed)} failed" if failed else 0)


if __name__ == "__main__":
    main()
