"""Prints how long a full build took, added up over its jobs, and which files took longest.

usage: python tools/compile_times.py BUILD_FOLDER [COUNT]     reads the log of the last ninja runs there
"""

import pathlib
import sys


def jobs(build):
    """{output: seconds} of the last run of each compile job."""
    times = {}
    for line in (pathlib.Path(build) / ".ninja_log").read_text().splitlines()[1:]:
        start, end, _, output, _ = line.split("\t")
        if output.endswith(".o"):
            times[output] = (int(end) - int(start)) / 1000
    return times


def main():
    times = jobs(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"{len(times)} objects, {sum(times.values()):.0f} s in all; the slowest:")
    for name, seconds in sorted(times.items(), key=lambda t: -t[1])[:count]:
        print(f"  {seconds:5.1f} s  {name}")


if __name__ == "__main__":
    main()
