"""Checks a built wheel: its name, its tag, what is inside, its size.

usage: python tools/check_wheel.py WHEEL MINOR      MINOR: 11 for a wheel built by Python 3.11 …
"""

import pathlib
import re
import sys
import zipfile

MAX_BYTES = 15_000_000


def problems(path, minor):
    """What is wrong with the wheel, in words."""
    tag = "cp312-abi3" if minor >= 12 else f"cp3{minor}-cp3{minor}"
    name = path.name
    if not re.match(rf"mlx-0\.33\.0-{tag}-linux_\w+\.whl$", name):
        yield f"name: expected mlx-0.33.0-{tag}-linux_*.whl, got {name}"
    if path.stat().st_size > MAX_BYTES:
        yield f"size: {path.stat().st_size} bytes, at most {MAX_BYTES}"
    files = zipfile.ZipFile(path).namelist()
    module = "mlx/core.abi3.so" if minor >= 12 else rf"mlx/core.cpython-3{minor}-\S+.so"
    for wanted in (module, r"mlx/lib/libmlx.so", r"mlx/nn/__init__.py"):
        if not any(re.fullmatch(wanted, f) for f in files):
            yield f"content: no file {wanted}"
    for f in files:
        if f == "mlx/__init__.py":
            yield "content: mlx/__init__.py makes mlx a regular package"
        if re.search(r"(\.(h|a|cmake|cpp)$|__pycache__|/tests?/)", f) and not f.startswith(
            "mlx/include"
        ):
            yield f"content: {f} does not belong into the wheel"


if __name__ == "__main__":
    found = list(problems(pathlib.Path(sys.argv[1]), int(sys.argv[2])))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
