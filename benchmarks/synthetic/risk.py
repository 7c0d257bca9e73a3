"""How well `TVCSRegressorCV` predicts, beside its peers: tables of docs/studies/best-subsets.md.

    python -m benchmarks.synthetic.risk [--seeds N] [--jobs N] [--write-docs | --only-docs]

Linear regressions with a few true coefficients and a cap on the total alone, which all peers can
take. One thread per process; times are processor time. abess takes part where it is installed.
"""

from __future__ import annotations

from benchmarks.study import complete, load, one_thread, options, run

one_thread()  # before NumPy is loaded

import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from importlib.util import find_spec  # noqa: E402
from itertools import product  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from sklearn.linear_model import LassoCV, OrthogonalMatchingPursuitCV  # noqa: E402

from benchmarks.pages import fill_file, table  # noqa: E402
from benchmarks.synthetic.best_subsets import correlated  # noqa: E402
from tvcs_core import TVCSRegressor, TVCSRegressorCV  # noqa: E402

SIZES = ((100, 100, 10), (120, 60, 5), (50, 120, 5))  # samples, features, true coefficients
SNRS, RHOS = (0.25, 1.0, 6.0), (0.0, 0.5, 0.9)
FIRST_SEED = 200  # the temperature of the average was chosen on seeds below
METHODS = ("TVCSRegressorCV", "its single fit", "LassoCV", "abess", "OMP")


class Instance(NamedTuple):
    """What an instance is drawn from."""

    n: int
    p: int
    true: int
    snr: float
    rho: float
    coefficients: str  # "equal": all 1 and spread; "normal": drawn, anywhere
    seed: int


@dataclass(frozen=True)
class Fit:
    """One method on one instance."""

    n: int
    p: int
    true: int
    snr: float
    rho: float
    coefficients: str
    seed: int
    method: str
    risk: float  # of the predictions, relative to that of zero coefficients
    size: int
    ms: float

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is of."""
        given = (self.n, self.p, self.true, self.snr, self.rho, self.coefficients, self.seed)
        return (*given, self.method)


def draw(given: Instance) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Draw X, y and the true coefficients."""
    rng = np.random.default_rng([given.seed, *given[:3], *(round(100 * x) for x in given[3:5])])
    X = correlated(rng, given.n, given.p, given.rho)
    beta = np.zeros(given.p)
    if given.coefficients == "equal":
        beta[np.linspace(0, given.p - 1, given.true).astype(int)] = 1.0
    else:
        beta[rng.permutation(given.p)[: given.true]] = rng.standard_normal(given.true)
    noise = np.sqrt(variance(beta, given.rho) / given.snr)
    return X, X @ beta + noise * rng.standard_normal(given.n), beta


def variance(beta: NDArray[np.float64], rho: float) -> float:
    """Return the variance of ``X @ beta``."""
    places = np.arange(beta.size)
    return float(beta @ rho ** np.abs(np.subtract.outer(places, places)) @ beta)


def fits(given: Instance) -> list[Fit]:
    """Run every method on one instance."""
    X, y, beta = draw(given)
    models: dict[str, Any] = {
        "TVCSRegressorCV": TVCSRegressorCV(),
        "its single fit": None,
        "LassoCV": LassoCV(cv=5),
        "OMP": OrthogonalMatchingPursuitCV(cv=5),
    }
    if find_spec("abess") is not None:
        from abess import LinearRegression

        models["abess"] = LinearRegression(cv=5, thread=1)
    found: list[Fit] = []
    warnings.simplefilter("ignore")  # of peers that do not converge
    for name, model in models.items():
        if model is None:
            path = models["TVCSRegressorCV"]
            best = np.unravel_index(path.mse_path_.mean(axis=2).argmin(), path.weights_.shape)
            model = TVCSRegressor(
                total=int(path.totals_[best[0]]), ridge=float(path.ridges_[best[1]]), polish=True
            )
        began = time.process_time()
        coefficients = model.fit(X, y).coef_
        ms = 1e3 * (time.process_time() - began)
        risk = variance(coefficients - beta, given.rho) / variance(beta, given.rho)
        found.append(Fit(*given, name, risk, int(np.count_nonzero(coefficients)), ms))
    return found


def compute(arguments: Any) -> None:
    """Compute the cases that are not known yet."""
    seeds = range(arguments.seed, arguments.seed + arguments.seeds)
    cases = product(SIZES, SNRS, RHOS, ("normal", "equal"), seeds)
    given = [Instance(*size, *rest) for size, *rest in cases]
    names = [name for name in METHODS if name != "abess" or find_spec("abess") is not None]
    complete(
        arguments.out / "risk.csv",
        Fit,
        {one: {(*one, name) for name in names} for one in given},
        fits,
        jobs=arguments.jobs,
        digits=4,
    )


def write_page(out: Path, docs: Path) -> None:
    """Fill the table of the page."""
    found = risk_table(load(out / "risk.csv", Fit))
    fill_file(docs / "studies" / "best-subsets.md", {"risk": found})


def risk_table(found: Sequence[Fit]) -> str:
    """One row per signal-to-noise ratio and correlation: mean risk, and at the end size and ms."""
    names = [name for name in METHODS if any(fit.method == name for fit in found)]
    rows = []

    def add(head: list[str], fits: list[Fit], read: Callable[[list[Fit]], str]) -> None:
        each = ([fit for fit in fits if fit.method == name] for name in names)
        rows.append([*head, *map(read, each)])

    for snr in SNRS:
        cell = [fit for fit in found if fit.snr == snr]
        for rho in RHOS:
            part = [fit for fit in cell if fit.rho == rho]
            add(
                [f"{snr:g}", f"{rho:g}"],
                part,
                lambda fits: f"{np.mean([f.risk for f in fits]):.3f}",
            )
        add([f"{snr:g}", "all"], cell, lambda fits: f"{np.mean([f.risk for f in fits]):.3f}")
    for snr in SNRS:
        cell = [fit for fit in found if fit.snr == snr]
        add(["size", f"SNR {snr:g}"], cell, lambda fits: f"{np.mean([f.size for f in fits]):.1f}")
    add(["ms", "median"], list(found), lambda fits: f"{np.median([f.ms for f in fits]):.0f}")
    return table(["SNR", "rho", *names], rows, words=2)


def main() -> int:
    """Run the study."""
    parser = options(
        __doc__, results="risk", page="studies/best-subsets.md", jobs=1, seed=FIRST_SEED
    )
    parser.add_argument("--seeds", type=int, default=3, help="instances of each family")
    return run(parser.parse_args(), compute, write_page)


if __name__ == "__main__":
    sys.exit(main())
