"""Checks that the CUDA plugin's sources compile against CUDA 12: clang 19 reads the .cu files, g++ the rest.

usage: python tools/cuda12_check.py

There is no nvcc of CUDA 12 in the package registry. The headers come from the packages of
pyproject.toml's group cuda12-headers; nothing is linked.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOLKIT = ROOT / "build/cuda12"
PACKAGES = ("cublas", "cuda_cccl", "cuda_nvcc", "cuda_nvrtc", "cuda_runtime", "curand")
DEFINES = ['-DMLX_VERSION="0"']


def link(source, target):
    """A tree of links, as a toolkit of its own."""
    for path in source.rglob("*"):
        place = target / path.relative_to(source)
        if path.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        elif not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(path)


def make_toolkit():
    folder = pathlib.Path(next(iter(importlib.util.find_spec("nvidia").submodule_search_locations)))
    for name in PACKAGES:
        link(folder / name / "include", TOOLKIT / "include")
    link(folder / "cuda_nvcc/nvvm/libdevice", TOOLKIT / "nvvm/libdevice")
    link(folder / "cuda_nvcc/bin", TOOLKIT / "bin")


def check(path):
    include = ["-I", str(ROOT), "-isystem", str(TOOLKIT / "include")]
    if path.suffix == ".cu":
        command = [
            "clang++-19", "-x", "cuda", "--cuda-gpu-arch=sm_90", f"--cuda-path={TOOLKIT}",
            "-Wno-unknown-cuda-version", "-ffp-contract=off",
        ]  # fmt: skip
    else:
        command = ["g++", "-Wall", "-Wextra"]
    command += ["-std=c++20", "-fsyntax-only", *DEFINES, *include, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    return path, done.returncode, done.stderr


def main():
    make_toolkit()
    folder = ROOT / "backend/cuda"
    paths = sorted(p for p in folder.rglob("*") if p.suffix in (".cu", ".cpp"))
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, status, text in pool.map(check, paths):
            if status:
                failed += 1
                print(f"{path.relative_to(ROOT)}:\n{text}")
    print(f"CUDA 12: {len(paths)} files checked, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
