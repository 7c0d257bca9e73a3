"""What `grn-tvcs infer` takes beside what it says that it will take, and the laws that it goes by.

    python -m benchmarks.speed.cost --quick    300 and 1,000 genes
    python -m benchmarks.speed.cost            3,000 and 10,000 too
    python -m benchmarks.speed.cost --genome   20,000 genes x 1,500 regulators x 100 samples alone
    python -m benchmarks.speed.cost --default  the default method, of 30 to 2,000 genes
    python -m benchmarks.speed.cost --rankings memory of methods that do not halve the series

Every measurement is the whole command on a table of random walks, in a process of its own after one
that warms the kernels up: processor seconds, summed over threads, and the peak of its memory. A run
of few halves, in units as large as those of 100, gives what a half takes, with keeping it for
--resume, and what the rest does; the default of 100 halves follows.
The command ends with 1 where time or memory is off the estimate by more than a factor of 1.3.
Seconds are those of this machine, to which `grn_tvcs.cli.resources` was fitted.

The default method is run as it is, but for networks of the design. Walks are like no table that the
simulator makes, so its edges are ranked by the blend. Seconds go to
benchmarks/results/cost.csv, to which the estimate of its parts is fitted by hand; a test
holds it to a factor of two of each.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.study import one_thread

one_thread()

import numpy as np  # noqa: E402

from benchmarks.pages import table  # noqa: E402
from grn_tvcs.cli.resources import (  # noqa: E402
    Work,
    estimate,
    estimate_of_parts,
    memory_of_ranking,
)
from grn_tvcs.combine.evidence_scores import n_halves, n_trees  # noqa: E402
from grn_tvcs.stability.units import size_of_units  # noqa: E402

SERIES = 10
HALVES = 100  # the default
WITHIN = 1.3

RUN = """
import json, pathlib, sys, time
from grn_tvcs.cli import work
from grn_tvcs.cli.main import app
from grn_tvcs.stability import units

class Watched:
    def __init__(self, what):
        self.what = what
    def __enter__(self):
        return self
    def __exit__(self, *raised):
        pass
    def __call__(self, done, total):
        seen.append((done, time.process_time()))

seen = []
work.Progress = Watched
if sys.argv[1] != "0":
    units.size_of_units = lambda *_: int(sys.argv[1])
try:
    app(sys.argv[2:])
except SystemExit as end:
    code = end.code or 0
status = pathlib.Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
(first, began), (last, ended) = (seen or [(0, 0.0)])[0], (seen or [(0, 0.0)])[-1]
print(json.dumps([code, (ended - began) / max(last - first, 1), time.process_time(), peak]))
"""


@dataclass(frozen=True)
class Size:
    """One table, the lines of edges that are written, and the halves that are run."""

    genes: int
    regulators: int
    points: int = 21
    top: int | None = None
    halves: int = 6

    def work(self, halves: int) -> Work:
        """The same as `resources` sees it."""
        lines = self.genes * self.regulators if self.top is None else self.top
        return Work(self.genes, self.regulators, self.genes, SERIES * self.points, halves, lines)


TOP = 100_000
QUICK = (Size(300, 300, halves=20), Size(1000, 100, halves=20), Size(1000, 1000, halves=10))
WHOLE = (*QUICK, Size(3000, 3000, top=TOP, halves=12), Size(10_000, 500, top=TOP))
RANKINGS = {
    "pcc": Size(4000, 2500, points=4, top=TOP), "clr": Size(4000, 2500, points=4, top=TOP),
    "aracne": Size(4000, 400, points=4, top=TOP), "mrnet": Size(1500, 1500, points=4, top=TOP),
}  # fmt: skip
DEFAULT = (
    Size(30, 30), Size(100, 100), Size(300, 300), Size(1000, 100), Size(2000, 100, points=10),
    Size(1000, 1000, points=10),
)  # fmt: skip
KEPT = Path(__file__).parents[1] / "results" / "cost.csv"
GENOME = Size(20_000, 1500, points=10, top=TOP, halves=16)


def write_walks(path: Path, size: Size) -> None:
    """Write series of random walks with noise, one walk per gene."""
    rng = np.random.default_rng(size.genes)
    steps = rng.normal(0.0, 0.1, (SERIES, size.points, size.genes))
    levels = np.abs(1.0 + steps.cumsum(axis=1) + rng.normal(0.0, 0.02, steps.shape))
    with path.open("w", encoding="utf-8") as file:
        print("Time", *(f"G{j:05d}" for j in range(size.genes)), sep="\t", file=file)
        for series in levels:
            print(file=file)
            for k, row in enumerate(series):
                print(50 * k, *(f"{level:.5f}" for level in row.tolist()), sep="\t", file=file)


def taken(words: Sequence[object], unit: int = 0) -> tuple[float, float, float]:
    """Processor seconds of a half and of all, and peak memory in bytes, of one `grn-tvcs`.

    `unit` is how many pairs of halves are in a unit; 0 leaves it to the command.
    """
    command = [sys.executable, "-c", RUN, str(unit), *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    code, half, seconds, peak = json.loads(done.stdout.splitlines()[-1])
    if code:
        sys.exit(f"grn-tvcs {' '.join(map(str, words))} ended with {code}")
    return half, seconds, peak


def measured(size: Size, folder: Path) -> tuple[float, float, float]:
    """Seconds of everything but the halves, seconds of a half, and peak memory."""
    words = [*command_of(size, folder), "--method", "tvcs"]
    unit = size_of_units(HALVES // 2, size.genes * size.regulators)
    half, seconds, peak = taken([*words, "--option", f"resamples={size.halves}"], unit)
    return seconds - size.halves * half, half, peak


def command_of(size: Size, folder: Path) -> list[object]:
    """Write the table and the regulators; the words of the command."""
    write_walks(folder / "walks.tsv", size)
    (folder / "regulators.txt").write_text(
        "".join(f"G{j:05d}\n" for j in range(size.regulators)), encoding="utf-8"
    )
    words: list[object] = ["infer", folder / "walks.tsv", "--out", folder / "out"]
    words += ["--force", "--scale", "levels", "--regulators", folder / "regulators.txt"]
    words += ["--max-edges", 2 * size.genes]
    return words + ([] if size.top is None else ["--top", size.top, "--compress"])


def of_default() -> int:
    """Measure the default method, keep the table, and print the estimates beside it."""
    with tempfile.TemporaryDirectory() as name:
        rows = []
        for size in DEFAULT:
            _, seconds, peak = taken([*command_of(size, Path(name)), "--calibrate", "off"])
            work = size.work(n_halves(HALVES, size.genes * size.regulators))
            rows.append([*work[:-1], f"{seconds:.3g}", f"{peak:.3g}"])
            estimated = estimate_of_parts(work, n_trees(size.genes))
            print(
                f"{size.genes:,} x {size.regulators:,}, {SERIES * size.points} samples: "
                f"{seconds:.1f} s, estimate {estimated.seconds:.1f}; {peak / 1e9:.2f} GB, "
                f"estimate {estimated.memory / 1e9:.2f}", flush=True,
            )  # fmt: skip
    with KEPT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([[*Work._fields[:-1], "seconds", "memory"], *rows])
    return 0


def of_rankings() -> int:
    """Print the peak of memory of methods that do not halve the series beside the estimate."""
    good = []
    with tempfile.TemporaryDirectory() as name:
        for method, size in RANKINGS.items():
            words = [*command_of(size, Path(name)), "--method", method]
            _, seconds, peak = taken(words)
            estimated = memory_of_ranking(size.regulators, size.genes).memory
            good.append(1 / WITHIN <= estimated / peak <= WITHIN)
            print(
                f"{method}, {size.genes:,} x {size.regulators:,}, {SERIES * size.points} samples: "
                f"{seconds:.0f} s; {peak / 1e9:.2f} GB, estimate {estimated / 1e9:.2f}", flush=True,
            )  # fmt: skip
    return 0 if all(good) else 1


def rows(sizes: Sequence[Size]) -> Iterator[tuple[list[str], bool]]:
    """Cells of each size, and whether the estimate is good."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measured(Size(30, 30), folder)
        for size in sizes:
            rest, half, peak = measured(size, folder)
            estimated, seconds = estimate(size.work(HALVES)), rest + HALVES * half
            off = estimated.seconds / seconds, estimated.memory / peak
            yield (
                [
                    f"{size.genes:,} x {size.regulators:,}", str(SERIES * size.points),
                    f"{half:.3f}", f"{1e6 * half / (size.genes * size.regulators):.2f}",
                    f"{rest:.1f}", f"{seconds:.0f}", f"{estimated.seconds:.0f}", f"{off[0]:.2f}",
                    f"{peak / 1e9:.2f}", f"{estimated.memory / 1e9:.2f}", f"{off[1]:.2f}",
                ],
                all(1 / WITHIN <= ratio <= WITHIN for ratio in off),
            )  # fmt: skip


HEADS = [
    "genes x regulators", "samples", "s a half", "us a pair", "s beside", "s of 100 halves",
    "estimate", "ratio", "GB", "estimate", "ratio",
]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--quick", action="store_true", help="300 and 1,000 genes alone")
    which.add_argument("--genome", action="store_true", help="20,000 genes alone")
    which.add_argument("--default", action="store_true", help="the default method alone")
    which.add_argument("--rankings", action="store_true", help="methods without halves alone")
    given = parser.parse_args()
    if given.default or given.rankings:
        return of_default() if given.default else of_rankings()
    sizes = QUICK if given.quick else (GENOME,) if given.genome else WHOLE
    found = []
    for cells, is_good in rows(sizes):
        print(" | ".join(cells), flush=True)
        found.append((cells, is_good))
    print(table(HEADS, [cells for cells, _ in found]))
    return 0 if all(is_good for _, is_good in found) else 1


if __name__ == "__main__":
    sys.exit(main())
