"""How often solvers find the best subset, by branch and bound: docs/studies/best-subsets.md.

    python -m benchmarks.synthetic.best_subsets [--seeds N] [--write-docs | --only-docs]

Small instances with three caps have their optimum proved, so that the solvers can be judged by it.
One process, one thread; times are processor time.
"""

from __future__ import annotations

from benchmarks.study import complete, load, one_thread, options, run

one_thread()  # before NumPy is loaded

import math  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from itertools import product  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from benchmarks.pages import fill_file, table  # noqa: E402
from tvcs_core import (  # noqa: E402
    TVCS,
    LeastSquares,
    Problem,
    best_subset,
    project,
    solve,
)

SHAPES, RHOS, SNRS = ((5, 6), (6, 7)), (0.0, 0.5, 0.9), (1.0, 5.0)
SECONDS = 60.0  # for a proof
LARGE, LARGE_SEEDS, MOST_NODES = (10, 10), 5, 10_000  # proofs alone
REACHED = 2e-6  # relative excess of an optimum, above the tolerance of the proof
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "htp": ("htp", {}),
    "htp, polish": ("htp", {"polish": True}),
    "htp, polish, 20 shakes": ("htp", {"polish": True, "shakes": 20}),
    "htp, polish, 50 shakes": ("htp", {"polish": True, "shakes": 50}),
    "cosamp": ("cosamp", {}),
    "cosamp, polish": ("cosamp", {"polish": True}),
    "iht": ("iht", {}),
    "iht, polish": ("iht", {"polish": True}),
    "stoiht": ("stoiht", {}),
    "stoiht, polish": ("stoiht", {"polish": True}),
}


class Instance(NamedTuple):
    """What an instance is drawn from."""

    rows: int
    cols: int
    rho: float
    snr: float
    seed: int


@dataclass(frozen=True)
class Fit:
    """One solver on one small instance."""

    rows: int
    cols: int
    rho: float
    snr: float
    seed: int
    method: str
    excess: float  # of the loss, relative to the optimum
    ms: float

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is of."""
        return (self.rows, self.cols, self.rho, self.snr, self.seed, self.method)


@dataclass(frozen=True)
class Proof:
    """The proof of one large instance, or how far it came."""

    rows: int
    cols: int
    rho: float
    snr: float
    seed: int
    reason: str
    gap: float  # relative to the loss
    nodes: int
    seconds: float

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is of."""
        return (self.rows, self.cols, self.rho, self.snr, self.seed)


def draw(given: Instance) -> Problem:
    """Draw a regression on the entries of a matrix, with caps of 1 to 3 and a binding total."""
    a, b = given.rows, given.cols
    rng = np.random.default_rng([given.seed, a, b, round(10 * given.rho), round(10 * given.snr)])
    rows, cols = rng.integers(1, 4, a), rng.integers(1, 4, b)
    total = max(2, int(0.8 * min(rows.sum(), cols.sum())))
    constraint = TVCS.matrix((a, b), row_caps=rows, col_caps=cols, total=total)
    X = correlated(rng, 2 * a * b, a * b, given.rho)
    support = project(rng.standard_normal((a, b)), constraint).support.ravel()
    signal = X @ np.where(support, rng.standard_normal(a * b), 0.0)
    noise = np.sqrt(signal.var() / given.snr)
    y = signal + noise * rng.standard_normal(len(signal))
    return Problem(LeastSquares(X.reshape(-1, a, b), y), constraint)


def correlated(rng: np.random.Generator, n: int, p: int, rho: float) -> NDArray[np.float64]:
    """Draw n normal samples of p features, neighbours correlated by rho."""
    covariance = rho ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    return rng.standard_normal((n, p)) @ np.linalg.cholesky(covariance).T


def fits(given: Instance) -> list[Fit]:
    """Prove the optimum of a small instance, and run every solver."""
    problem = draw(given)
    best = best_subset(problem, max_seconds=SECONDS)
    if best.reason != "proved":
        sys.exit(f"{given} was not proved in {SECONDS:.0f} s")
    found = []
    for name, (method, settings) in METHODS.items():
        began = time.process_time()
        solution = solve(problem, method, rng=given.seed, **settings)
        ms = 1e3 * (time.process_time() - began)
        excess = solution.objective / best.objective - 1
        found.append(Fit(*given, name, max(0.0, excess), ms))
    return found


def proofs(given: Instance) -> list[Proof]:
    """Prove a large instance, within a number of nodes."""
    problem = draw(given)
    began = time.process_time()
    best = best_subset(problem, max_seconds=math.inf, max_nodes=MOST_NODES)
    seconds = time.process_time() - began
    return [Proof(*given, best.reason, best.gap / best.objective, best.nodes, seconds)]


def compute(arguments: Any) -> None:
    """Compute the cases that are not known yet."""
    seeds = range(arguments.seeds)
    small = [Instance(*s, r, q, k) for s, r, q, k in product(SHAPES, RHOS, SNRS, seeds)]
    complete(
        arguments.out / "small.csv",
        Fit,
        {given: {(*given, name) for name in METHODS} for given in small},
        fits,
        jobs=1,
        digits=6,
    )
    large = [Instance(*LARGE, r, q, k) for r, q, k in product(RHOS, SNRS, range(LARGE_SEEDS))]
    complete(
        arguments.out / "large.csv",
        Proof,
        {given: {tuple(given)} for given in large},
        proofs,
        jobs=1,
    )


def write_page(out: Path, docs: Path) -> None:
    """Fill the table of the page."""
    small = small_table(load(out / "small.csv", Fit))
    large = large_table(load(out / "large.csv", Proof))
    fill_file(docs / "studies" / "best-subsets.md", {"small": small, "large": large})


def small_table(found: Sequence[Fit]) -> str:
    """One row per solver: how often it found the optimum, how far off it was, and its time."""
    rows = []
    for name in METHODS:
        mine = [case for case in found if case.method == name]
        reached = np.mean([case.excess <= REACHED for case in mine])
        by_rho = [
            np.mean([case.excess <= REACHED for case in mine if case.rho == rho]) for rho in RHOS
        ]
        excess, ms = np.mean([c.excess for c in mine]), np.median([c.ms for c in mine])
        shares = [f"{share:.0%}" for share in (reached, *by_rho)]
        rows.append([name, str(len(mine)), *shares, f"{excess:.2%}", f"{ms:.2f}"])
    heads = ["solver", "instances", "optimum found", *(f"rho {rho:g}" for rho in RHOS)]
    return table([*heads, "excess loss, mean", "ms, median"], rows)


def large_table(found: Sequence[Proof]) -> str:
    """One row per correlation and noise: how many were proved, and what the proofs took."""
    rows = []
    for rho, snr in product(RHOS, SNRS):
        mine = [case for case in found if (case.rho, case.snr) == (rho, snr)]
        if not mine:
            continue
        proved = sum(case.reason == "proved" for case in mine)
        nodes, seconds = [c.nodes for c in mine], [c.seconds for c in mine]
        cells = [f"{rho:g}", f"{snr:g}", f"{proved} of {len(mine)}"]
        cells += [f"{np.median(nodes):,.0f}", f"{max(nodes):,}"]
        cells += [f"{np.median(seconds):.1f}", f"{max(seconds):.1f}"]
        rows.append([*cells, f"{max(case.gap for case in mine):.1%}"])
    heads = [
        "rho",
        "SNR",
        "proved",
        "nodes, median",
        "most",
        "seconds, median",
        "most",
        "gap, worst",
    ]
    return table(heads, rows)


def main() -> int:
    """Run the study."""
    parser = options(__doc__, results="subsets", page="studies/best-subsets.md")
    parser.add_argument("--seeds", type=int, default=3, help="small instances of each family")
    return run(parser.parse_args(), compute, write_page)


if __name__ == "__main__":
    sys.exit(main())
