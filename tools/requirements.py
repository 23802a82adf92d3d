"""Prints requirements from pyproject.toml, one a line, so that each is written down once.

usage: python tools/requirements.py NAME...   NAME: build-system, or a group of [dependency-groups]
"""

import pathlib
import sys

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10: pip carries the same parser
    from pip._vendor import tomli as tomllib


def expand(groups, name):
    """The requirements of a group with its included groups, in order."""
    for item in groups[name]:
        if isinstance(item, dict):
            yield from expand(groups, item["include-group"])
        else:
            yield item


def main(names):
    project = tomllib.loads(
        (pathlib.Path(__file__).resolve().parents[1] / "pyproject.toml").read_text()
    )
    groups = {**project["dependency-groups"], "build-system": project["build-system"]["requires"]}
    unknown = [n for n in names if n not in groups]
    if unknown or not names:
        sys.exit(f"requirements.py: expected names among {sorted(groups)}, got {names}")
    print(*dict.fromkeys(line for n in names for line in expand(groups, n)), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
