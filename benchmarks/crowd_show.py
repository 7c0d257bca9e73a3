"""Figures and tables of the crowd study, from its cases."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import matplotlib as mpl
import numpy as np
from crowd_study import METHODS, TIME_LIMIT, Case
from matplotlib import pyplot as plt

LINES = {  # label and colour
    "random": ("random", "#888888"),
    "qlp": ("Q-LP", "#e69f00"),
    "greedy": ("greedy", "#cc79a7"),
    "tvcs": ("tvcs (the paper's)", "#0072b2"),
    "fast": ("fast", "#009e73"),
    "best": ("best", "#000000"),
}
FAMILY_NAMES = {
    "iid": "iid: the paper's, every pair on its own",
    "worker": "worker: one quality per worker",
    "skilldiff": "skilldiff: skill times ease",
    "topic": "topic: five topics",
}
Means = dict[tuple[str, str], dict[float, dict[str, Case]]]
INTRODUCTION = """# Crowd assignment: the study

Figure 4 of the paper, and the same with crowds of more structure. Made by
`python benchmarks/crowd_study.py --write-docs`, from seeds on which nothing was tuned. At ratio r a
task gets at most r n workers, a worker r m tasks, and all together .8 r n m answers. Error = 1 -
exact expected accuracy of the Bayes-weighted vote; the qualities are known. *least possible*: no
assignment has less, proved by `best` ([how](crowd-plans.md)). An empty cell was not run, or not
proved; a least error below 0 is shown as 0. Times are wall clock on 2 cores shared with other work,
warm, and say no more than an order of magnitude; the time limit is {limit:.0f} s. All methods have
the same crowds. `notebooks/paper.ipynb` draws the same cases.

`random` and `qlp` (Q-LP) are what the paper compares with, `tvcs` is the paper's method (StoIHT);
`greedy`, `fast` and `best` are ours.
"""
# Goals of the project for the paper's crowd, 100 x 1000: what, at which ratio, at most what.
GOALS = (
    ("`best` / `qlp`", 0.05, 0.66, lambda row: row["best"].error / row["qlp"].error),
    ("`best` / `qlp`", 0.1, 0.47, lambda row: row["best"].error / row["qlp"].error),
    ("`best`", 0.05, 0.0222, lambda row: row["best"].error),
    ("`best`", 0.1, 0.0034, lambda row: row["best"].error),
    ("`tvcs`", 0.05, 0.030, lambda row: row["tvcs"].error),
    ("`tvcs`", 0.1, 0.0060, lambda row: row["tvcs"].error),
)


def write_docs(cases: list[Case], docs: Path) -> None:
    """Write crowd-study.md, and one figure per size."""
    means = averaged(cases)
    parts = [INTRODUCTION.format(limit=TIME_LIMIT)]
    for size in dict.fromkeys(size for size, _ in means):
        draw(means, size, docs / "figures" / f"crowd-study-{size}.svg")
        title = f"{size.replace('x', ' workers x ')} tasks"
        crowds = {case.repeat for case in means_of(means) if case.size == size}
        many = " to ".join(map(str, sorted({min(crowds), max(crowds)})))
        parts.append(f"## {title}\n\n![{title}](figures/crowd-study-{size}.svg)\n")
        parts.append(f"Means over {many} crowd{'' if many == '1' else 's'}.\n")
        parts += [
            f"{FAMILY_NAMES[family]}\n\n{table(rows)}"
            for (of, family), rows in means.items()
            if of == size
        ]
    parts.append("## What was to be reached\n\n" + goals(means))
    parts.append("## Where we lose\n\n" + losses(means))
    sampled = max((abs(case.sampled - case.error) for case in cases), default=0.0)
    parts.append(
        "## The paper's estimate\n\nThe sampled expected accuracy (200 draws per label and task; "
        f"crosses in the figures) differs from the exact one by at most {sampled:.4f} in all "
        "cases: the figures look the same, but differences between good assignments are smaller "
        "than that.\n"
    )
    (docs / "crowd-study.md").write_text("\n".join(parts), encoding="utf-8")


def averaged(cases: list[Case]) -> Means:
    """Means over the repeats that all methods of a cell have; `repeat` is their number."""
    repeats: dict[tuple[str, str, float], dict[str, set[int]]] = defaultdict(dict)
    for case in cases:
        cell = repeats[case.size, case.family, case.ratio]
        cell.setdefault(case.method, set()).add(case.repeat)
    found: dict[tuple[str, str, float, str], list[Case]] = defaultdict(list)
    for case in cases:
        cell = repeats[case.size, case.family, case.ratio]
        if case.repeat in set.intersection(*cell.values()):
            found[case.size, case.family, case.ratio, case.method].append(case)
    out: Means = {}
    for (size, family, ratio, method), group in sorted(found.items()):
        numbers = np.array([(c.answers, c.error, c.sampled, c.bound, c.seconds) for c in group])
        answers, *rest = numbers.mean(axis=0).tolist()
        mean = Case(size, family, ratio, len(group), method, round(answers), *rest)
        out.setdefault((size, family), {}).setdefault(ratio, {})[method] = mean
    order = list(FAMILY_NAMES)
    return dict(sorted(out.items(), key=lambda item: (item[0][0], order.index(item[0][1]))))


def means_of(means: Means) -> list[Case]:
    return [case for rows in means.values() for row in rows.values() for case in row.values()]


def table(rows: dict[float, dict[str, Case]]) -> str:
    """Errors, the least possible, and the times of the slower methods."""
    timed = ("fast", "tvcs", "best")
    head = ["ratio", *METHODS, "least possible", *(f"{m}, s" for m in timed)]
    lines = [head, ["---"] * len(head)]
    for ratio, row in sorted(rows.items()):
        bound = row["best"].bound if "best" in row else np.nan
        cells = [number(row[m].error) if m in row else "" for m in METHODS]
        times = [f"{row[m].seconds:.1f}" if m in row else "" for m in timed]
        lines.append([f"{ratio:g}", *cells, number(max(bound, 0.0)), *times])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(error: float) -> str:
    """Five decimals, seven for the smallest errors; nothing for nan."""
    if np.isnan(error):
        return ""
    return f"{error:.7f}" if 0 < error < 1e-3 else f"{error:.5f}"


def goals(means: Means) -> str:
    """Table of the goals, what was found, and whether that reaches them."""
    rows = means.get(("100x1000", "iid"), {})
    lines = ["| error of | ratio | at most | found | reached |", "| --- | --- | --- | --- | --- |"]
    for what, ratio, most, value in GOALS:
        cells = ("not run", "")
        if {"best", "tvcs", "qlp"} <= set(rows.get(ratio, {})):
            found = value(rows[ratio])
            cells = (f"{found:.4f}", "yes" if found <= most else "**no**")
        lines.append(f"| {what} | {ratio:g} | {most:g} | {' | '.join(cells)} |")
    return "100 x 1000, iid:\n\n" + "\n".join(lines) + "\n"


def losses(means: Means) -> str:
    """Where a method of ours is worse than another, in words."""
    lines = []
    for ours in ("best", "fast", "greedy", "tvcs"):
        if not any(ours in row for rows in means.values() for row in rows.values()):
            continue
        worse = [
            f"{size} {family} at {ratio:g}: {row[ours].error:.5f}, {other} has {case.error:.5f}"
            for (size, family), rows in means.items()
            for ratio, row in sorted(rows.items())
            if ours in row
            for other, case in row.items()
            if other in against(ours) and case.error < row[ours].error - 1e-7
        ]
        listed = "".join(f"\n  - {line}" for line in worse)
        none = f"nowhere worse than {', '.join(against(ours))}."
        lines.append(f"- `{ours}`: " + (f"worse than another here:{listed}" if worse else none))
    open_ = [c for c in means_of(means) if c.method == "best" and np.isnan(c.bound)]
    wide = [
        f"{c.size} {c.family} at {c.ratio:g} ({(c.error - c.bound) / c.error:.2%} of the error)"
        for c in means_of(means)
        if c.method == "best" and c.error - c.bound > 1e-3 * c.error
    ]
    if open_:
        named = ", ".join(f"{c.size} {c.family} at {c.ratio:g}" for c in open_)
        lines.append(f"- `best` proves no bound within the time limit: {named}.")
    if wide:
        lines.append(f"- `best` leaves a gap of more than .1 % of the error: {', '.join(wide)}.")
    return "\n".join(lines) + "\n"


def against(ours: str) -> list[str]:
    """The methods that one of ours is held against: all for `best`, else the comparators."""
    return [m for m in METHODS if m != ours] if ours == "best" else ["random", "qlp"]


def draw(means: Means, size: str, path: Path) -> None:
    """One panel per family: error against ratio, on a logarithmic scale."""
    families = {family: rows for (of, family), rows in means.items() if of == size}
    settings = {"font.size": 9, "svg.hashsalt": "tvcs", "axes.spines.top": False}
    with mpl.rc_context(settings | {"axes.spines.right": False}):
        width = 2.6 * max(len(families), 2)
        figure, axes = plt.subplots(1, len(families), figsize=(width, 3), squeeze=False)
        for ax, (family, rows) in zip(axes[0], families.items(), strict=True):
            for method, (label, colour) in LINES.items():
                ratios = [ratio for ratio in sorted(rows) if method in rows[ratio]]
                errors = [rows[ratio][method].error for ratio in ratios]
                ax.plot(ratios, errors, "o-", ms=3, lw=1.2, color=colour, label=label)
                sampled = [rows[ratio][method].sampled for ratio in ratios]
                ax.plot(ratios, sampled, "x", ms=5, color=colour)
            ax.set(title=family, xlabel="ratio", yscale="log")
        axes[0][0].set_ylabel("1 - expected accuracy")
        axes[0][0].legend(frameon=False, fontsize=8)
        figure.tight_layout()
        path.parent.mkdir(exist_ok=True)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    text = path.read_text(encoding="utf-8")
    path.write_text("".join(f"{line.rstrip()}\n" for line in text.splitlines()), encoding="utf-8")
