"""Prints the instruction-set levels this CPU has among those the library is built for, one a line.

Used to run tests once per level (MLX_CPU_ISA).
"""

import platform

# One flag of each level that came with it; the library itself asks for all of a level's flags.
LEVELS = {
    "v2": {"sse4_2", "popcnt"},
    "v3": {"avx2", "fma", "f16c", "bmi2"},
    "v4": {"avx512f", "avx512vl", "avx512bw", "avx512dq"},
}


def levels():
    if platform.machine() not in ("x86_64", "AMD64"):
        return []
    with open("/proc/cpuinfo") as f:
        flags = next((set(line.split()) for line in f if line.startswith("flags")), set())
    return [name for name, wanted in LEVELS.items() if wanted <= flags]


if __name__ == "__main__":
    print(*levels(), sep="\n")
