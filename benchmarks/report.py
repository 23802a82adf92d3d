"""Tables of measurements in Markdown."""

import platform
import statistics
from pathlib import Path

from .ceilings import cores, describe, part_of_ceiling

OURS = "mlx"


def show_seconds(t):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if t >= size:
            return f"{t / size:.3g} {unit}" if t < 1000 * size else f"{t / size:.0f} {unit}"
    return f"{t * 1e9:.3g} ns"


def median(samples):
    return statistics.median(samples)


def spread(samples):
    """Half the range that holds the middle half of the samples, over their median."""
    if len(samples) < 3:
        return 0.0
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return (high - low) / 2 / median(samples)


def base(column):
    return column.removesuffix("+c")


def fastest(row, names):
    """The best of these frameworks' columns (compiled or not) that agree with the reference."""
    columns = [c for c in row.samples if base(c) in names and c not in row.failed]
    return min(columns, key=lambda c: median(row.samples[c]), default=None)


def ratio(row, mine, other):
    """Our time over the other's: the median over the rounds of the ratio within a round."""
    return median([a / b for a, b in zip(row.samples[mine], row.samples[other])])


def rate(row, column):
    w, seconds = row.workload, median(row.samples[column])
    if w.unit:
        return f"{1 / seconds:,.0f} {w.unit}/s"
    if w.flops:
        return f"{w.flops / seconds / 1e9:.3g} GFLOP/s"
    if w.bytes:
        return f"{w.bytes / seconds / 1e9:.3g} GB/s"
    return ""


def cell(row, column):
    if column in row.samples:
        mark = " ✗" if column in row.failed else ""
        return show_seconds(median(row.samples[column])) + mark
    if column in row.failed:
        return "fails"
    return "–" if column in row.missing else ""


def tables(rows, names, ceilings):
    """One table for each family; `names` are the columns in order, ours first if it ran."""
    used = {c for row in rows for c in (*row.samples, *row.failed, *row.missing)}
    columns = [c for name in names for c in (name, f"{name}+c") if c in used]
    head = [
        *columns,
        f"{OURS} ÷ best other",
        "min ÷ min",
        "best other",
        f"rate of {OURS}",
        "of ceiling",
        "±",
    ]
    out = []
    family = None
    for row in rows:
        if row.workload.family != family:
            family = row.workload.family
            out += ["", f"### {family}", "", "| workload | " + " | ".join(head) + " |"]
            out.append("|---" * (len(head) + 1) + "|")
        cells = [cell(row, c) for c in columns]
        mine, other = fastest(row, {OURS}), fastest(row, set(names) - {OURS})
        both = mine and other
        cells.append(f"**{ratio(row, mine, other):.2f}**" if both else "")
        cells.append(f"{min(row.samples[mine]) / min(row.samples[other]):.2f}" if both else "")
        cells.append(other or "")
        cells.append(rate(row, mine) if mine else "")
        part = mine and part_of_ceiling(
            row.workload, median(row.samples[mine]) * row.workload.units, ceilings
        )
        cells.append(f"{part:.0%}" if part else "")
        cells.append(f"{max(map(spread, row.samples.values()), default=0):.0%}")
        out.append(f"| {row.workload.name} | " + " | ".join(cells) + " |")
    return out


def notes(rows):
    """What was left out and what disagrees, with the workloads that share a reason together."""
    out = []
    for title, what in (("Lacking", "missing"), ("Failing or disagreeing", "failed")):
        reasons = {}
        for row in rows:
            for column, why in getattr(row, what).items():
                reasons.setdefault(f"{column}: {why}", []).append(row.workload.name)
        if reasons:
            out += ["", f"{title}:", ""]
            out += [f"- {reason} ({', '.join(names)})" for reason, names in reasons.items()]
    return out


def standing(rows, names):
    """For each peer: of how many rows, in how many we are faster, and the middle ratio."""
    lines = []
    for peer in [n for n in names if n != OURS]:
        ratios = []
        for row in rows:
            mine, other = fastest(row, {OURS}), fastest(row, {peer})
            if mine and other:
                ratios.append(ratio(row, mine, other))
        if ratios:
            ahead = sum(r < 1 for r in ratios)
            lines.append(
                f"- {peer}: faster in {ahead} of {len(ratios)} rows; "
                f"the middle ratio of times is {median(ratios):.2f}"
            )
    return lines


def machine_words():
    """The machine in words, as far as it tells."""
    name = platform.processor() or platform.machine()
    try:
        text = Path("/proc/cpuinfo").read_text()
        model = next((line for line in text.splitlines() if line.startswith("model name")), "")
        name = model.partition(":")[2].strip() or name
        for extension in ("avx512f", "avx2"):
            if extension in text:
                name += f", {extension.upper().rstrip('F')}"
                break
    except OSError:
        pass
    return f"{name}, {cores()} cores, {platform.system()}"


def section(rows, versions, settings, ceilings, title, command):
    """A section of RESULTS.md."""
    others = [x for row in rows for x in row.others] or [0.0]
    names = list(versions)
    head = [
        f"## {title}",
        "",
        f"Command: `{command}`",
        "",
        "Versions: " + ", ".join(f"{n} {v}" for n, v in versions.items()) + ".",
        f"Ceilings measured before and after: {describe(ceilings)}.",
        f"{settings.rounds} rounds. While a sample ran, other programs used {median(others):.0%} of "
        f"the cores in the middle case and {max(others):.0%} in the worst.",
        "",
        *standing(rows, names),
    ]
    return "\n".join(head + tables(rows, names, ceilings) + notes(rows)) + "\n"


def put_section(path, text):
    """Writes the section into the file, in place of one with the same title."""
    title = text.splitlines()[0]
    old = path.read_text(encoding="utf-8") if path.exists() else "# Results\n"
    parts = old.split("\n## ")
    kept = [p.rstrip() for p in parts[1:] if "## " + p.splitlines()[0] != title]
    new = [parts[0].rstrip(), text.removeprefix("## ").rstrip(), *kept]
    path.write_text("\n\n## ".join(new) + "\n", encoding="utf-8")
