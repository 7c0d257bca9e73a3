"""How often solvers find the best subset, by branch and bound: docs/studies/best-subsets.md.

    python -m benchmarks.synthetic.best_subsets [--seeds N] [--write-docs | --only-docs]

Small instances with three caps have their optimum proved, so that the solvers can be judged by it.
Larger ones show how far a proof comes in a minute, and a path over caps and ridges is compared with
the Lasso. One process, one thread; times are processor time.
"""

from __future__ import annotations

from benchmarks.study import complete, load, one_thread, options, run

one_thread()  # before NumPy is loaded

import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from itertools import product  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from benchmarks.pages import fill, table  # noqa: E402
from tvcs_core import (  # noqa: E402
    TVCS,
    LeastSquares,
    Problem,
    TVCSRegressorCV,
    best_subset,
    project,
    solve,
)

SHAPES, RHOS, SNRS = ((5, 6), (6, 7)), (0.0, 0.5, 0.9), (1.0, 5.0)
LARGE, SECONDS = (10, 10), 60.0
REACHED = 2e-6  # relative excess of an optimum, above the tolerance of the proof
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "htp": ("htp", {}),
    "htp, polish": ("htp", {"polish": True}),
    "htp, polish, 5 shakes": ("htp", {"polish": True, "shakes": 5}),
    "htp, polish, 50 shakes": ("htp", {"polish": True, "shakes": 50}),
    "cosamp": ("cosamp", {}),
    "cosamp, polish": ("cosamp", {"polish": True}),
    "iht": ("iht", {}),
    "iht, polish": ("iht", {"polish": True}),
    "stoiht": ("stoiht", {}),
    "stoiht, polish": ("stoiht", {"polish": True}),
}
PATHS = ("path", "path without ridge", "lasso")


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
    nodes: int  # of the proof

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is of."""
        return (self.rows, self.cols, self.rho, self.snr, self.seed, self.method)


@dataclass(frozen=True)
class Proof:
    """One proof of a larger instance."""

    rho: float
    snr: float
    seed: int
    seconds: float
    nodes: int
    gap: float  # relative

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is of."""
        return (self.rho, self.snr, self.seed)


@dataclass(frozen=True)
class Risk:
    """One estimate of a path or of the Lasso, under a total alone."""

    rho: float
    snr: float
    seed: int
    method: str
    risk: float  # mean squared error of the predicted signal, relative to the signal
    size: int
    seconds: float

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is of."""
        return (self.rho, self.snr, self.seed, self.method)


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
        found.append(Fit(*given, name, max(0.0, excess), ms, best.nodes))
    return found


def proofs(given: Instance) -> list[Proof]:
    """Prove a larger instance as far as a minute goes."""
    began = time.process_time()
    best = best_subset(draw(given), max_seconds=SECONDS)
    seconds = time.process_time() - began
    return [Proof(*given[2:], seconds, best.nodes, best.gap / best.objective)]


def risks(given: Instance) -> list[Risk]:
    """Compare estimates of ten coefficients among features of which only the total is capped."""
    n, p, k = given.rows, given.cols, 10
    rng = np.random.default_rng([given.seed, n, p, round(10 * given.rho), round(10 * given.snr)])
    X = correlated(rng, n, p, given.rho)
    W = np.zeros(p)
    W[rng.choice(p, k, replace=False)] = rng.choice([-1.0, 1.0], k) * rng.uniform(0.5, 1.5, k)
    signal = X @ W
    y = signal + np.sqrt(signal.var() / given.snr) * rng.standard_normal(n)
    fresh = correlated(rng, 5000, p, given.rho)
    found = []
    for name in PATHS:
        began = time.process_time()
        model = estimator(name).fit(X, y)
        seconds = time.process_time() - began
        error = np.square(fresh @ (model.coef_ - W)).mean() / np.square(fresh @ W).mean()
        size = int(np.count_nonzero(model.coef_))
        found.append(Risk(*given[2:], name, float(error), size, seconds))
    return found


def estimator(name: str) -> Any:
    """Return the estimator of a name."""
    from sklearn.linear_model import LassoCV

    if name == "lasso":
        return LassoCV(cv=5)
    return TVCSRegressorCV(ridges=[0.0] if "without" in name else None)


def compute(arguments: Any) -> None:
    """Compute the cases of all three tables."""
    seeds = range(arguments.seeds)
    small = [Instance(*s, r, q, k) for s, r, q, k in product(SHAPES, RHOS, SNRS, seeds)]
    keyed: Callable[[Any], Any] = lambda case: case.key  # noqa: E731
    complete(
        arguments.out / "small.csv",
        Fit,
        {given: {(*given, name) for name in METHODS} for given in small},
        fits,
        jobs=1,
        order=keyed,
        digits=6,
    )
    few = range(min(arguments.seeds, 6))
    paths = [Instance(100, 60, r, q, k) for r, q, k in product(RHOS, (1.0, 10.0), few)]
    wanted = {given: {(*given[2:], name) for name in PATHS} for given in paths}
    complete(arguments.out / "paths.csv", Risk, wanted, risks, jobs=1, order=keyed)
    few = range(min(arguments.seeds, 2))
    large = [Instance(*LARGE, r, q, k) for r, q, k in product(RHOS, SNRS, few)]
    tasks = {given: {given[2:]} for given in large}
    complete(arguments.out / "large.csv", Proof, tasks, proofs, jobs=1, order=keyed)


def write_page(out: Path, docs: Path) -> None:
    """Fill the tables of the page."""
    path = docs / "studies" / "best-subsets.md"
    page = path.read_text(encoding="utf-8")
    page = fill(page, "small", small_table(load(out / "small.csv", Fit)))
    page = fill(page, "large", large_table(load(out / "large.csv", Proof)))
    page = fill(page, "paths", path_table(load(out / "paths.csv", Risk)))
    path.write_text(page, encoding="utf-8")


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
    """One row per family of larger instances."""
    rows = []
    for rho, snr in product(RHOS, SNRS):
        mine = [case for case in found if (case.rho, case.snr) == (rho, snr)]
        proved = sum(case.gap <= REACHED for case in mine)
        seconds, nodes = (
            np.median([getattr(c, name) for c in mine]) for name in ("seconds", "nodes")
        )
        gap = max(case.gap for case in mine)
        words = [f"{rho:g}", f"{snr:g}", f"{proved} of {len(mine)}"]
        rows.append([*words, f"{seconds:.1f}", f"{nodes:.0f}", f"{gap:.2%}"])
    return table(["rho", "SNR", "proved", "s, median", "nodes, median", "gap, largest"], rows)


def path_table(found: Sequence[Risk]) -> str:
    """One row per estimator: risks by SNR, and sizes."""
    rows = []
    for name in PATHS:
        cells = []
        for snr in (1.0, 10.0):
            mine = [case for case in found if (case.method, case.snr) == (name, snr)]
            cells += [
                f"{np.mean([c.risk for c in mine]):.3f}",
                f"{np.mean([c.size for c in mine]):.0f}",
            ]
        seconds = np.median([case.seconds for case in found if case.method == name])
        rows.append([name, *cells, f"{seconds:.1f}"])
    return table(
        ["estimator", "risk, SNR 1", "features", "risk, SNR 10", "features", "s, median"], rows
    )


def main() -> int:
    """Run the study."""
    parser = options(__doc__, results="subsets", page="studies/best-subsets.md")
    parser.add_argument("--seeds", type=int, default=20, help="small instances of each family")
    return run(parser.parse_args(), compute, write_page)


if __name__ == "__main__":
    sys.exit(main())
