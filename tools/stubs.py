"""Writes the type stubs of mlx.core into python/mlx/core, or compares them: --check.

Run with the built module on PYTHONPATH (`make stubs`, `make lint`).
"""

import difflib
import pathlib
import sys
import tempfile

from nanobind.stubgen import main as stubgen

STUBS = pathlib.Path(__file__).resolve().parents[1] / "python" / "mlx"
PATTERNS = pathlib.Path(__file__).with_suffix(".pat")


def generate(folder):
    """Stubs of mlx.core and its submodules below folder, as {relative path: text}."""
    stubgen(["-q", "-r", "-m", "mlx.core", "-p", str(PATTERNS), "-O", str(folder)])
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*.pyi"))}


def committed():
    return {str(p.relative_to(STUBS)): p.read_text() for p in sorted(STUBS.rglob("*.pyi"))}


def check(new, old):
    """Prints a diff of what is committed and what the module says; true when they agree."""
    for name in sorted(new.keys() | old.keys()):
        a, b = old.get(name, ""), new.get(name, "")
        diff = difflib.unified_diff(
            a.splitlines(True), b.splitlines(True), f"committed/{name}", f"generated/{name}", n=1
        )
        sys.stdout.writelines(list(diff)[:60])
    return new == old


def main():
    with tempfile.TemporaryDirectory() as t:
        new = generate(pathlib.Path(t))
    if "--check" in sys.argv[1:]:
        if not check(new, committed()):
            sys.exit("stubs.py: the stubs differ from the module; run `make stubs` and commit them")
        return
    for name, text in new.items():
        path = STUBS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in committed().keys() - new.keys():
        (STUBS / name).unlink()


if __name__ == "__main__":
    main()
