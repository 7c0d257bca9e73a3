"""Speed of the projection on every family of values, cell by cell, against what else solves it.

    python -m benchmarks.speed.families --quick          about a minute, keeps nothing
    python -m benchmarks.speed.families --write-docs     hours; goes on where it was stopped
    python -m benchmarks.speed.families --sizes 300x300 --families logistic sums --ratios .2
    python -m benchmarks.speed.families --without all --sizes 300x400 10x1000 --seeds 1

A cell is a family, a size, a ratio of the caps to the groups and a kind of caps and total; five
seeds of it are five rows of cells.csv in --out, which are there as soon as they are known. Times
are processor time of the one thread that all use; the methods take turns, and each row has the
medians of the turns. Ours is all of `project`, with checks and certificate; OR-Tools' is its solve
alone (building is a column apart) on costs of 46 bits. scipy's `linear_sum_assignment` takes part
where all caps are 1, HiGHS at 300 x 300 with ratio .2 and the first seed. An answer that keeps more
or less than OR-Tools' ends the run; a time never does.

`--without` says what special paths of the search are worth: the time without each over the time
with all, by turns. Where both report the same numbers of pivots and passes a path takes no part,
and the ratio is 1. A way without a path is stopped after 25 times the usual time.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import signal
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

from benchmarks.study import ROOT, claim, complete, forget, one_thread, options, resume, run

one_thread()

import numpy as np  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402

from benchmarks.pages import table  # noqa: E402
from benchmarks.speed.families_page import write_page  # noqa: E402
from benchmarks.speed.matrices import (  # noqa: E402
    CROWD,
    FAMILIES,
    HUGE,
    ONES,
    SEEDS,
    TOTALS,
    Cell,
    What,
    draw_caps,
    qualities,
    scaled,
)
from benchmarks.speed.peers import clock, flow_of_matrix, program  # noqa: E402
from tvcs_core import TVCS, project  # noqa: E402
from tvcs_core.jit import compiling_seconds  # noqa: E402
from tvcs_core.projection.exact import candidates, prices, sample, search, solve_dense  # noqa: E402

SIZES = (
    (20, 20),
    (60, 60),
    (10, 1000),
    (100, 100),
    (300, 300),
    (937, 1043),
    (1000, 1000),
    (200, 10_000),
    (1000, 10_000),
)
RATIOS = (0.05, 0.2, 0.5)
UNEVEN = {(937, 1043): (0.005, 0.02, 0.183)}  # of small caps, and of what no round share is whole
WARM = 320  # lines of tables that load kernels: above 100,000 entries others are needed than below
MOST = 25.0  # times the usual time after which a way without a path is stopped
SAME = 1e-9  # by how much of it kept gains may differ: OR-Tools rounds costs to 46 bits


def none(*_):
    """Do without."""


def by_mean_gain(instance, cols):
    """The order of the mean gains alone."""
    values = instance.candidates.values.reshape(instance.shape)
    return np.argsort(np.square(values).mean(axis=0 if cols else 1), kind="stable")


# Special paths of the search, and what stands in their place without them.
PATHS = {
    "assignment": [(search, "is_assignment", none)],
    "pruning": [(search, "prune", none)],
    "closed form": [(search, "closed_form", none)],
    "sample": [(prices, "sampled_prices", lambda i, _: prices.zero_prices(*i.shape))],
    "sample of long lines": [(prices, "MIN_SAMPLED_LINES", np.inf)],
    "parts of the sample": [
        (sample, "similarity_order", by_mean_gain),
        (sample, "order_by_caps", lambda order, *_: order),
        (sample, "choose_line_count", lambda caps, lines, least: least),
        (sample, "MIN_SCALED_CAP", 0.0),
    ],
    "order of gains": [(sample, "similarity_order", lambda i, cols: np.arange(i.shape[cols]))],
    "order of caps": [(sample, "order_by_caps", lambda order, *_: order)],
    "rounding carried over": [
        (sample, "scale_caps", lambda caps, share, _: np.rint(caps * share).astype(np.int64))
    ],
    "nudged gains": [(candidates, "is_below_hash", lambda _: True)],
    "limit of the nudge": [(candidates, "is_below_hash", none)],
    "cost scaling": [(search, "pivot_budget", none)],
}


@dataclass(frozen=True)
class Task(What):
    """A row to be measured."""

    crowd: Path = CROWD
    quick: bool = False


def measure(task: Task) -> list[Cell]:
    """Time all methods on one table, in turns."""
    n, m, p = task.rows, task.cols, task.rows * task.cols
    warm_up(min(n, WARM), min(m, WARM), task.caps, task.total)
    values, tvcs = instance(task)
    # A large assignment is some milliseconds, which a busy machine doubles now and then.
    is_long = p >= 500_000 and task.caps != ONES
    turns = 1 if task.quick or is_long else 3 if p > 50_000 else 5 if p > 2500 else 21
    rows = np.array([turn(values, tvcs, task) for _ in range(turns)])
    ours, ortools, build, scipy = np.median(rows, axis=0).tolist()
    has_highs = (n, m, task.ratio, task.seed) == (300, 300, 0.2, SEEDS[0]) and not task.quick
    highs = clock(program(values**2, *caps_of(tvcs)))[0] if has_highs else None
    peers = (scipy if task.caps == ONES else None, highs)
    return [Cell(*task.key, code(), ours, ortools, build, *peers)]


def instance(task: Task):
    """The values of a row, and the constraint."""
    n, m = task.rows, task.cols
    rng = np.random.default_rng(task.seed)
    make = partial(qualities, file=task.crowd) if task.family == "qualities" else None
    values = scaled((make or FAMILIES[task.family])(rng, n, m))
    if task.caps == ONES:
        a, b, total = np.ones(n, np.int64), np.ones(m, np.int64), n * m
    else:
        share = next(share for share, name in TOTALS.items() if name == task.total)
        a, b, total = draw_caps(rng, n, m, task.ratio * m, task.ratio * n, task.caps, share)
    return values, TVCS.matrix((n, m), row_caps=a, col_caps=b, total=total)


def turn(values, tvcs, task):
    """Seconds of one turn: ours and the peers."""
    gains, caps = values * values, caps_of(tvcs)
    ours, answer = compiled(partial(project, values, tvcs))
    build, ortools, kept = flow_of_matrix(gains, *caps)
    agree(answer.objective, kept, "OR-Tools", task)
    scipy = np.nan
    if task.caps == ONES:
        scipy, (row, col) = clock(partial(linear_sum_assignment, gains, maximize=True))
        agree(answer.objective, gains[row, col].sum(), "linear_sum_assignment", task)
    return ours, ortools, build, scipy


def caps_of(tvcs):
    """Caps as the peers take them."""
    return tvcs.row_caps, tvcs.col_caps, tvcs.total


def compiled(call):
    """The time of a call that found its kernels compiled."""
    before = compiling_seconds()
    found = clock(call)
    return found if compiling_seconds() == before else clock(call)


@cache
def warm_up(rows: int, cols: int, caps: str, total: str) -> None:
    """Load the kernels that such tables need."""
    turn(*instance(warm := Task("gauss", rows, cols, caps, total, 0.2, 0)), warm)


def agree(ours: float, theirs: float, peer: str, task: Task) -> None:
    """End the run where a peer keeps more or less."""
    if abs(ours - theirs) > SAME * abs(theirs):
        raise AssertionError(f"ours keeps {ours!r}, {peer} {theirs!r}: {task}")


@cache
def code() -> str:
    """A name for the state of the code that is measured."""
    files = sorted((ROOT / "tvcs_core" / "projection").rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:8]


class Stopped(BaseException):
    """A way without a path takes too long."""


def stop(*_):
    raise Stopped


def limited(call, seconds):
    """The time of a call and its answer, or the limit and None."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return clock(call)
    except Stopped:
        return seconds, None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def without(call, path, turns=3):
    """The time without a path over that with all; None where it takes no part."""
    usual, times = call(), []
    for _ in range(turns):
        with_all = clock(call)[0]
        with ExitStack() as stack:
            for change in PATHS[path]:
                stack.enter_context(patch.object(*change))
            seconds, found = limited(call, max(0.2, MOST * with_all))
        if found is not None and not np.array_equal(found.mask, usual.mask):
            raise AssertionError(f"without {path} the support is another")
        if found is not None and found.stats == usual.stats:
            return None
        times.append((with_all, seconds))
    with_all, seconds = np.median(times, axis=0)
    return seconds / with_all


def worth(arguments: argparse.Namespace) -> int:
    """Print what each path is worth on the tables that are asked for."""
    signal.signal(signal.SIGPROF, stop)
    paths = list(PATHS) if "all" in arguments.without else arguments.without
    rows, found = [], {path: [] for path in paths}
    for task in tasks(arguments):
        values, tvcs = instance(task)
        call = partial(solve_dense, values, *caps_of(tvcs), squared=True)
        for path in paths:
            if (path == "assignment") == (task.caps == ONES):
                found[path].append((without(call, path), task))
    for path, ratios in found.items():
        part = np.log([ratio for ratio, _ in ratios if ratio is not None])
        worst, of = max(((ratio or 1.0, task) for ratio, task in ratios), key=lambda x: x[0])
        means = (f"{np.exp(part.sum() / max(1, n)):.2f}" for n in (len(ratios), part.size))
        rows.append(
            [
                path,
                ", ".join(map(str, of.key)),
                f"{part.size} of {len(ratios)}",
                *means,
                f"{worst:.1f}",
            ]
        )
    heads = ["path", "worst table", "takes part in", "all tables", "taking part", "worst"]
    print(table(heads, rows, words=2))
    return 0


def machine() -> str:
    """What the times depend on beside the code."""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def tasks(arguments: argparse.Namespace) -> list[Task]:
    """What is asked for, small tables first, the five seeds of a cell one after the other."""
    found = []
    for rows, cols in arguments.sizes or SIZES:
        is_huge = rows * cols >= HUGE
        usual = RATIOS[1:2] if is_huge else UNEVEN.get((rows, cols), RATIOS)
        ratios = arguments.ratios or usual
        kinds = arguments.caps or (["uniform"] if is_huge else ["uniform", "varied", ONES])
        for family in arguments.families or FAMILIES:
            for caps in kinds:
                has_ratio = caps != ONES
                totals = arguments.totals or TOTALS.values() if has_ratio else ["loose"]
                for ratio in ratios if has_ratio else [0.0]:
                    for total in totals:
                        for seed in arguments.seeds or SEEDS:
                            what = (family, rows, cols, caps, total, ratio, seed)
                            found.append(Task(*what, arguments.crowd, arguments.quick))
    return found


def size(word: str) -> tuple[int, int]:
    """Read a size such as 300 or 200x10000."""
    rows, _, cols = word.partition("x")
    return int(rows), int(cols or rows)


def compute(arguments: argparse.Namespace) -> None:
    """Measure the rows that are asked for and not known."""
    wanted = tasks(arguments)
    path = arguments.out / "cells.csv"
    claim(arguments.out / "machine.txt", machine())
    if arguments.stale:
        keys = {task.key for task in wanted}
        old = {c.key for c in resume(path, Cell) if c.key in keys and c.code != code()}
        forget(path, Cell, old)
    todo = {task: {task.key} for task in wanted}
    complete(path, Cell, todo, measure, jobs=1, order=lambda cell: order(cell.key))
    for line in in_short(resume(path, Cell)):
        print(line)


def order(key):
    """Small tables first, and the rest as it stands above."""
    family, rows, cols, caps, total, ratio, seed = key
    return (rows * cols, rows, list(FAMILIES).index(family), caps, ratio, total, seed)


def in_short(cells: list[Cell]) -> list[str]:
    """How many rows of every size lose."""
    known = Counter((c.rows, c.cols) for c in cells)
    slower = Counter((c.rows, c.cols) for c in cells if c.ortools < c.ours)
    return [
        f"{rows} x {cols}: OR-Tools is faster in {slower[rows, cols]} of {count} rows"
        for (rows, cols), count in known.items()
    ]


def main() -> int:
    parser = options(__doc__, results="projection", page="studies/projection-families.md")
    parser.add_argument("--sizes", type=size, nargs="+", help="such as 300 or 200x10000")
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES))
    parser.add_argument("--caps", nargs="+", choices=["uniform", "varied", ONES])
    parser.add_argument("--totals", nargs="+", choices=list(TOTALS.values()))
    parser.add_argument("--ratios", type=float, nargs="+")
    parser.add_argument("--seeds", type=int, nargs="+")
    parser.add_argument("--crowd", type=Path, default=CROWD, help="qualities of a real crowd")
    parser.add_argument("--stale", action="store_true", help="measure anew what other code did")
    parser.add_argument("--quick", action="store_true", help="small, two seeds, nothing kept")
    parser.add_argument("--without", nargs="+", choices=["all", *PATHS], help="worth of paths")
    arguments = parser.parse_args()
    if arguments.without:
        return worth(arguments)
    if not arguments.quick:
        return run(arguments, compute, write_page)
    arguments.sizes = arguments.sizes or SIZES[:4]
    arguments.ratios = arguments.ratios or RATIOS[1:2]
    arguments.seeds = arguments.seeds or SEEDS[:2]
    arguments.caps, arguments.write_docs = arguments.caps or ["uniform"], False
    with tempfile.TemporaryDirectory() as folder:
        arguments.out = Path(folder)
        return run(arguments, compute, write_page)


if __name__ == "__main__":
    sys.exit(main())
