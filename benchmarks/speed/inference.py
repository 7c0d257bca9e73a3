"""Time and memory of `infer(..., "tvcs")`, and dynGENIE3 beside it.

    python -m benchmarks.speed.inference --quick       a minute, smaller sizes and forests
    python -m benchmarks.speed.inference --write-docs  all of it, into docs/studies/network-speed.md
    python -m benchmarks.speed.inference --first 2000  the default method with a new design, that
                                                       is to say with the networks it simulates

Every measurement has a process of its own, warmed up on a small network before the clock starts;
memory is the peak of that process, Python and libraries included. Wall time is what a user waits
on the machine as it was; processor time, summed over threads, is what a busy machine distorts
least. Data of 100 genes are simulated; larger ones are random walks, because time depends on the
sizes and hardly on the values.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks.study import DOCS, one_thread

one_thread()

import numpy as np  # noqa: E402

from benchmarks.pages import table  # noqa: E402
from grn_tvcs import Expression, infer, simulate  # noqa: E402
from grn_tvcs.cli.resources import Cost, Work, estimate  # noqa: E402

PAGE = DOCS / "studies" / "network-speed.md"
SERIES, POINTS = 10, 21
HALVES = 100  # the default
SIZES = {None: (50, 100, 200, 400), 50: (100, 400, 1600)}  # regulators: genes
TURNS = 3


def walks(n_genes: int, n_points: int = POINTS) -> Expression:
    """Series of random walks, one per gene."""
    rng = np.random.default_rng(n_genes)
    steps = rng.normal(0.0, 0.1, (SERIES, n_points, n_genes))
    values = np.abs(1.0 + steps.cumsum(axis=1)).reshape(-1, n_genes)
    series = tuple(str(s) for s in range(SERIES) for _ in range(n_points))
    times = np.tile(np.arange(n_points) * 50.0, SERIES)
    return Expression(values, times, series, tuple(f"G{i:05d}" for i in range(n_genes)))


def first_runs(n_genes: int) -> str:
    """The default method on 100 samples of a design that no cache holds: few regulators, all."""
    make = partial(simulated_series, n_genes)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n_regulators in (n_genes // 20, n_genes):
            os.environ["TVCS_CACHE_DIR"] = str(Path(folder) / str(n_regulators))
            found = alone(make, n_regulators=n_regulators, method="combined")
            rows.append([f"{n_genes:,}", str(n_regulators), *map(seconds, found[:2]),
                         f"{found[2]:.2f}"])  # fmt: skip
    return table(["genes", "regulators", "wall s", "processor s", "GB"], rows)


def simulated_series(n_genes: int) -> Expression:
    """Ten series of ten points."""
    return simulate(n_genes, SERIES, 10, noise="microarray", series_only=True, rng=0).expression


def simulated(n_genes: int) -> Expression:
    """Series of the DREAM protocol."""
    return simulate(n_genes, SERIES, POINTS, noise="microarray", rng=0).expression


def run(
    make: Callable[[], Expression], turns: int, n_regulators: int | None, options: dict
) -> tuple[float, float, float]:
    """Least wall seconds, processor seconds and peak memory in GB of some turns."""
    expression = make()
    method = options.pop("method", "tvcs")
    regulators = None if n_regulators is None else expression.genes[:n_regulators]
    small = {"trees": 2} if "trees" in options else {"resamples": 2}
    infer(walks(30), method, rng=0, **small)
    found = []
    for _ in range(turns):
        wall, processor = time.perf_counter(), time.process_time()
        infer(expression, method, regulators=regulators, rng=0, **options)
        found.append((time.perf_counter() - wall, time.process_time() - processor))
    return *min(found), peak()


def peak() -> float:
    """Peak memory of this process in GB; NaN where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e9


def alone(make: Callable[[], Expression], *, turns: int = 1, n_regulators: int | None = None,
          **options: object) -> tuple[float, float, float]:  # fmt: skip
    """`run` in a process of its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(run, (make, turns, n_regulators, options))


def seconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def against_the_peer(n_genes: int, trees: int) -> str:
    """The default beside dynGENIE3 on the same network and the same two cores."""
    make = partial(simulated, n_genes)
    ours = alone(make, turns=TURNS, threads=2)
    peer = alone(make, method="dyngenie3", trees=trees, threads=2)
    rows = [
        ["tvcs, default", *map(seconds, ours[:2]), f"{ours[2]:.2f}"],
        [f"dynGENIE3, {trees} trees", *map(seconds, peer[:2]), f"{peer[2]:.2f}"],
        ["ratio", f"{peer[0] / ours[0]:.0f} x", f"{peer[1] / ours[1]:.0f} x", ""],
    ]
    return table(["method", "wall s", "processor s", "GB"], rows)


def growth(sizes: tuple[int, ...], n_regulators: int | None) -> tuple[str, str]:
    """Processor seconds by the number of genes, and the exponent between the ends."""
    rows, taken = [], []
    for n in sizes:
        wall, processor, memory = alone(partial(walks, n), n_regulators=n_regulators)
        taken.append(processor)
        step = ""
        if len(taken) > 1:
            before = sizes[len(taken) - 2]
            step = f"{np.log(taken[-1] / taken[-2]) / np.log(n / before):.2f}"
        rows.append([f"{n:,}", seconds(wall), seconds(processor), f"{memory:.2f}", step])
    heads = ["genes", "wall s", "processor s", "GB", "exponent from the row above"]
    fit = np.polyfit(np.log(sizes), np.log(taken), 1)[0]
    return table(heads, rows), f"{fit:.2f}"


def large(n_genes: int, n_regulators: int) -> str:
    """One whole run, of 200 samples, beside the estimate that `grn-tvcs infer` prints."""
    wall, processor, memory = alone(partial(walks, n_genes, 20), n_regulators=n_regulators)
    cost = expected(n_genes, n_regulators)
    row = [f"{n_genes:,}", str(n_regulators), str(HALVES), seconds(wall), seconds(processor),
           f"{memory:.2f}", f"{seconds(cost.seconds)} s, {cost.memory / 1e9:.1f} GB"]  # fmt: skip
    return table(LARGE, [row])


def expected(n_genes: int, n_regulators: int) -> Cost:
    """What `grn-tvcs infer` says of 200 samples and the default halves."""
    return estimate(Work(n_genes, n_regulators, n_genes, 20 * SERIES, HALVES, lines=0))


def larger(n_genes: int, n_regulators: int, few: int, more: int) -> str:
    """Two runs of few halves, and what 100 would take at the same time for each."""
    make = partial(walks, n_genes, 20)
    found = [alone(make, n_regulators=n_regulators, resamples=r) for r in (few, more)]
    cost = expected(n_genes, n_regulators)
    rows = [
        [f"{n_genes:,}", str(n_regulators), str(r), *map(seconds, f[:2]), f"{f[2]:.2f}", ""]
        for r, f in zip((few, more), found, strict=True)
    ]
    whole = [a + (HALVES - few) * (b - a) / (more - few) for a, b in zip(*found, strict=True)]
    rows.append(
        [f"{n_genes:,}", str(n_regulators), f"{HALVES}, by the two", *map(seconds, whole[:2]), "",
         f"{seconds(cost.seconds)} s, {cost.memory / 1e9:.1f} GB"]
    )  # fmt: skip
    return table(LARGE, rows)


LARGE = ["genes", "regulators", "halves", "wall s", "processor s", "GB", "`infer` expects"]


def parts(quick: bool) -> Iterator[str]:
    """The page, part by part."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    yield f"Python {platform.python_version()}, numpy {np.__version__}; {machine}."
    n, trees = (50, 100) if quick else (100, 1000)
    yield f"## {n} genes, {SERIES} series of {POINTS} points, 2 threads"
    yield against_the_peer(n, trees)
    n, m = (300, 50) if quick else (1000, 100)
    yield f"## {n:,} genes, 200 samples, {m} regulators, 1 thread"
    yield large(n, m)
    yield f"## Growth with the genes, {SERIES} series of {POINTS} points, 1 thread"
    for regulators, sizes in SIZES.items():
        found, exponent = growth(sizes[:2] if quick else sizes, regulators)
        who = "Every gene may regulate" if regulators is None else f"{regulators} regulators"
        yield f"{who}; the exponent of a line through all is {exponent}:"
        yield found
    n, m = (1000, 100) if quick else (10_000, 500)
    yield f"## {n:,} genes, 200 samples, {m} regulators, 1 thread"
    yield larger(n, m, 2, 6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller sizes and forests")
    parser.add_argument("--write-docs", action="store_true", help=f"write docs/{PAGE.name}")
    parser.add_argument("--first", type=int, default=0, metavar="GENES", help="a new design alone")
    given = parser.parse_args()
    if given.first:
        print(first_runs(given.first))
        return
    found = []
    for part in parts(given.quick):
        print(part, end="\n\n", flush=True)
        found.append(part)
    if given.write_docs:
        command = "python -m benchmarks.speed.inference --write-docs"
        title = f"# Speed of network inference\n\nWritten by `{command}`"
        page = "\n\n".join(found)
        says = __doc__.partition("\n\n")[2].partition("\n\n")[2].strip()
        PAGE.write_text(f"{title}.\n\n{says}\n\n{page}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
