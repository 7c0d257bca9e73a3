"""Speed of the projection from change to change of its kernels, as a ratio to a peer's.

    python -m benchmarks.speed.history --quick         shows today's ratios, keeps nothing
    python -m benchmarks.speed.history --write-docs    adds a row for each, if the code is new

A commit that changes a kernel is followed by the second. Ratios are OR-Tools' solve over all of
ours, processor time of one thread, in turns in one process: they are good to about 30 %, on a busy
machine too, and comparable between machines where seconds are not.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.study import ROOT, complete, load, one_thread, options, run

one_thread()

import numpy as np  # noqa: E402

from benchmarks.pages import figure_style, fill_file, save, table  # noqa: E402
from benchmarks.speed.families import Task, code, machine, measure  # noqa: E402

FAMILIES = ("gauss", "noisy products", "logistic", "ties")  # what is common, and what is hard
SIZES = (100, 300)
SEEDS = range(3)
PAGE = "checks.md"


@dataclass(frozen=True)
class Wanted:
    """What is measured of one state of the code."""

    family: str
    size: int

    @property
    def key(self) -> tuple[str, str, int]:
        """A row of this family and size for the code that is here."""
        return code(), self.family, self.size


@dataclass(frozen=True)
class Row:
    """What was found: the median over the seeds, and the worst of them."""

    date: str
    commit: str
    code: str
    machine: str
    family: str
    size: int
    ratio: float
    worst: float

    @property
    def key(self) -> tuple[str, str, int]:
        """What is measured once."""
        return self.code, self.family, self.size


def compare(wanted: Wanted, head: tuple[str, str]) -> list[Row]:
    """Time both on the tables of all seeds: equal caps of a fifth, a total that binds."""
    what = (wanted.family, wanted.size, wanted.size, "uniform", "binding", 0.2)
    cells = [cell for seed in SEEDS for cell in measure(Task(*what, seed))]
    ratios = [cell.ortools / cell.ours for cell in cells]
    found = (wanted.family, wanted.size, float(np.median(ratios)), min(ratios))
    return [Row(*head, code(), machine(), *found)]


def last_change() -> tuple[str, str]:
    """Date and name of the commit that changed the code last; `+` where it differs from that."""
    place = ["--", str(ROOT / "tvcs_core" / "projection")]
    form = ["--date=format-local:%Y-%m-%dT%H:%M:%S", "--format=%cd %h"]
    log = ["git", "log", "--max-count=1", *form, *place]
    date, name = subprocess.check_output(
        log, cwd=ROOT, text=True, env=os.environ | {"TZ": "UTC"}
    ).split()
    changed = ["git", "diff", "--quiet", "HEAD", *place]
    return date, name + "+" * subprocess.run(changed, cwd=ROOT).returncode


def compute(arguments: argparse.Namespace) -> None:
    """Measure what is not known of this code."""
    wanted = [Wanted(family, size) for size in SIZES for family in FAMILIES]
    todo = {one: {one.key} for one in wanted}
    path = arguments.out / "speed.csv"
    fit = partial(compare, head=last_change())
    complete(path, Row, todo, fit, jobs=1, order=lambda row: (row.date, row.commit), digits=3)
    for row in load(path, Row):
        if row.code == code():
            print(f"{row.family} {row.size} x {row.size}: {row.ratio:.3g}, worst {row.worst:.3g}")


def write_page(out: Path, docs: Path) -> None:
    """Write the table and the figure of the page."""
    rows = load(out / "speed.csv", Row)
    fill_file(docs / PAGE, {"history": "\n".join(shown(rows))})
    draw(rows, docs / "figures" / "speed-history.svg")


def shown(rows: list[Row]) -> Iterator[str]:
    """The last state of the code, beside the first."""
    states = list(dict.fromkeys(row.code for row in rows))
    last = rows[-1]
    yield f"{len(states)} states of the code, the last on {last.machine};"
    yield f"median of {len(SEEDS)} tables (worst).\n"
    found = {(row.code, row.family, row.size): f"{row.ratio:.3g} ({row.worst:.3g})" for row in rows}
    named = {row.code: f"{row.commit}, {row.date[:10]}" for row in rows}
    columns = list(dict.fromkeys([states[0], states[-1]]))
    kinds = [(row.family, row.size) for row in rows if row.code == last.code]
    lines = [
        [f"{family}, {n} x {n}", *(found.get((code, family, n), "") for code in columns)]
        for family, n in kinds
    ]
    yield table(["table", *(named[code] for code in columns)], lines)


def draw(rows: list[Row], path: Path) -> None:
    """Draw the ratio of every family over the states of the code, a panel for each size."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    states = list(dict.fromkeys(row.code for row in rows))
    names = [next(row.commit for row in rows if row.code == state) for state in states]
    with figure_style():
        figure, panels = plt.subplots(1, len(SIZES), figsize=(7, 2.6), sharey=True)
        for panel, size in zip(panels, SIZES, strict=True):
            for family in FAMILIES:
                mine = [row for row in rows if (row.family, row.size) == (family, size)]
                places = [states.index(row.code) for row in mine]
                panel.plot(places, [row.ratio for row in mine], "o-", label=family)
            panel.axhline(1, color="0.6", linewidth=0.8)
            panel.set(title=f"{size} x {size}", yscale="log", xlim=(-0.5, len(states) - 0.5))
            panel.set_xticks(range(len(states)), names, rotation=45, ha="right")
        panels[0].set_ylabel("OR-Tools' time / ours")
        panels[-1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
        figure.tight_layout()
        save(figure, path)


def main() -> int:
    parser = options(__doc__, results="history", page=PAGE)
    parser.add_argument("--quick", action="store_true", help="keep nothing")
    arguments = parser.parse_args()
    if not arguments.quick:
        return run(arguments, compute, write_page)
    arguments.write_docs = arguments.only_docs = False
    with tempfile.TemporaryDirectory() as folder:
        arguments.out = Path(folder)
        return run(arguments, compute, write_page)


if __name__ == "__main__":
    sys.exit(main())
