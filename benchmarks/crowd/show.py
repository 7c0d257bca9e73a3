"""Figures and tables of the crowd study, from its cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from benchmarks import pages
from benchmarks.crowd.cases import METHODS, RATIOS, TIME_LIMIT, Case

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
`python -m benchmarks.crowd.study --write-docs`, from seeds on which nothing was tuned. At ratio r a
task gets at most r n workers, a worker r m tasks, and all together .8 r n m answers. Error = 1 -
exact expected accuracy of the Bayes-weighted vote. The qualities are known. *least possible*: no
assignment has less, proved by `best` ([how](../crowd-plans.md)). An empty cell was not run, or not
proved. A least error below 0 is shown as 0. Times are wall clock on 2 cores shared with other work,
warm, and give no more than an order of magnitude. The time limit is {limit:.0f} s. Where it struck
`best` was run again with `--time-limit 110` (but for 200 x 10000 at .03 and .1): the other work
left it less than half a core. All methods have the same crowds. `notebooks/paper.ipynb` draws them.

`random` and `qlp` (Q-LP) are what the paper compares with, `tvcs` is the paper's method (StoIHT).
`greedy`, `fast` and `best` are ours.
"""


@dataclass(frozen=True)
class Goal:
    """Something that was to be at most `most` at all `ratios` of a family."""

    what: str
    family: str
    ratios: tuple[float, ...]
    most: float
    value: Callable[[dict[str, Case]], float]
    size: str = "100x1000"


def gap(row: dict[str, Case]) -> float:
    """Error of `best` above the least that is possible, as a part of the error."""
    best = row["best"]
    return (best.error - best.bound) / best.error


def fast_by_best(row: dict[str, Case]) -> float:
    return row["fast"].error / row["best"].error


GOALS = (
    Goal(
        "error of `best` / of `qlp`",
        "iid",
        (0.05,),
        0.66,
        lambda r: r["best"].error / r["qlp"].error,
    ),
    Goal(
        "error of `best` / of `qlp`",
        "iid",
        (0.1,),
        0.47,
        lambda r: r["best"].error / r["qlp"].error,
    ),
    Goal("error of `best`", "iid", (0.05,), 0.0222, lambda r: r["best"].error),
    Goal("error of `best`", "iid", (0.1,), 0.0034, lambda r: r["best"].error),
    Goal("error of `tvcs`", "iid", (0.05,), 0.030, lambda r: r["tvcs"].error),
    Goal("error of `tvcs`", "iid", (0.1,), 0.0060, lambda r: r["tvcs"].error),
    Goal("gap of `best` / error", "iid", RATIOS[:4], 0.001, gap),
    *(
        Goal("gap of `best` / error", f, (0.03,), 0.001, gap)
        for f in ("worker", "skilldiff", "topic")
    ),
    *(
        Goal("gap of `best` / error", f, (0.05,), 0.005, gap)
        for f in ("worker", "skilldiff", "topic")
    ),
    Goal("gap of `best` / error", "iid", (0.02,), 0.003, gap, "200x10000"),
    *(Goal("error of `fast` / of `best`", f, RATIOS, 1.2, fast_by_best) for f in FAMILY_NAMES),
)


def write_docs(cases: list[Case], docs: Path) -> None:
    """Write crowd-study.md, and one figure per size."""
    means = averaged(cases)
    parts = [INTRODUCTION.format(limit=TIME_LIMIT), "## Where we lose\n\n" + losses(means)]
    for size in dict.fromkeys(size for size, _ in means):
        draw(means, size, docs / "figures" / f"crowd-study-{size}.svg")
        title = f"{size.replace('x', ' workers x ')} tasks"
        crowds = {case.repeat for case in means_of(means) if case.size == size}
        many = " to ".join(map(str, sorted({min(crowds), max(crowds)})))
        parts.append(f"## {title}\n\n![{title}](../figures/crowd-study-{size}.svg)\n")
        parts.append(f"Means over {many} crowd{'' if many == '1' else 's'}.\n")
        parts += [
            f"{FAMILY_NAMES[family]}\n\n{table(rows)}"
            for (of, family), rows in means.items()
            if of == size
        ]
    parts.append("## What was to be reached\n\n" + goals(means))
    sampled = max((abs(case.sampled - case.error) for case in cases), default=0.0)
    parts.append(
        "## The paper's estimate\n\nThe sampled expected accuracy (200 draws per label and task; "
        f"crosses in the figures) differs from the exact one by at most {sampled:.4f} in all "
        "cases: the figures look the same, but differences between good assignments are smaller "
        "than that.\n"
    )
    (docs / "studies" / "crowd-study.md").write_text("\n".join(parts), encoding="utf-8")


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
    lines = []
    for ratio, row in sorted(rows.items()):
        bound = row["best"].bound if "best" in row else np.nan
        cells = [number(row[m].error) if m in row else "" for m in METHODS]
        times = [f"{row[m].seconds:.1f}" if m in row else "" for m in timed]
        lines.append([f"{ratio:g}", *cells, number(max(bound, 0.0)), *times])
    return pages.table(head, lines, words=len(head)) + "\n"


def number(error: float) -> str:
    """Five decimals, seven for the smallest errors; nothing for nan."""
    if np.isnan(error):
        return ""
    return f"{error:.7f}" if 0 < error < 1e-3 else f"{error:.5f}"


def goals(means: Means) -> str:
    """Table of the goals, what was found (the largest over the ratios), and whether that is it."""
    head = ("what", "crowd", "ratio", "at most", "found", "reached")
    lines = []
    for goal in GOALS:
        rows = means.get((goal.size, goal.family), {})
        if not all({"best", "fast", "tvcs", "qlp"} <= set(rows.get(r, {})) for r in goal.ratios):
            cells = ("not run", "")
        else:
            found = np.max([goal.value(rows[ratio]) for ratio in goal.ratios])
            is_reached = found <= goal.most  # nan, which is no bound, is not
            cells = (
                "no bound" if np.isnan(found) else f"{found:.3g}",
                "yes" if is_reached else "**no**",
            )
        ratios = " to ".join(
            f"{r:g}" for r in (goal.ratios[0], goal.ratios[-1])[: len(goal.ratios)]
        )
        lines.append((goal.what, f"{goal.size} {goal.family}", ratios, f"{goal.most:g}", *cells))
    return pages.table(head, lines, words=len(head)) + "\n"


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
    with pages.figure_style():
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
        pages.save(figure, path)
    text = path.read_text(encoding="utf-8")
    path.write_text("".join(f"{line.rstrip()}\n" for line in text.splitlines()), encoding="utf-8")
