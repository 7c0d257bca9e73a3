"""Domain check: how typical a table is of simulated tables, by traits that do not depend on edges.

The traits describe how levels behave. Tables far from all simulated ones are outside the domain of
the learned combination.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.correlation import RankCorrelations, unit_columns
from grn_tvcs.evidence.samples import all_levels, all_log_levels
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.simulation.designs import Design
from grn_tvcs.stability.model import transitions

Array = NDArray[np.float64]
# Decision 54; `python -m benchmarks.universal` fits the distribution of traits.
LOG_OFFSET = 0.2  # fraction of a gene's largest level added before the logarithm
OF_LEVELS = (
    "median r", "high r", "highest r", "first component", "components", "skewness",
    "skewness spread", "kurtosis", "sd spread",
)  # fmt: skip
OF_SERIES = (
    "memory", "memory spread", "smoothness", "between", "starts", "trend", "turn", "level change",
)  # fmt: skip
TRAITS = OF_LEVELS + OF_SERIES


def traits(expression: Expression, steady: SteadyStates | None = None) -> dict[str, float]:
    """Return the traits of a table by name; those of series are NaN without series."""
    logs = all_log_levels(expression, steady)
    rho = RankCorrelations(all_levels(expression, steady))
    median, high = rho.median_and_quantile(0.95)
    z = unit_columns(logs)
    spectrum = np.linalg.svd(z, compute_uv=False) ** 2
    shares = spectrum / max(float(spectrum.sum()), 1e-300)
    centred = logs - logs.mean(axis=0)
    sd = centred.std(axis=0)
    scaled = centred / np.where(sd > 0, sd, 1.0)
    found = {
        "median r": median,
        "high r": high,
        "highest r": float(np.median(rho.strongest())),
        "first component": float(shares[0]),
        "components": float(np.exp(-(shares * np.log(shares + 1e-12)).sum()) / len(shares)),
        "skewness": float(np.median((scaled**3).mean(axis=0))),
        "skewness spread": float(np.std((scaled**3).mean(axis=0))),
        "kurtosis": float(np.log(np.median((scaled**4).mean(axis=0)) + 1e-3)),
        "sd spread": float(np.log((np.quantile(sd, 0.9) + 1e-6) / (np.quantile(sd, 0.1) + 1e-6))),
    }
    return found | _of_series(expression)


def _of_series(expression: Expression) -> dict[str, float]:
    if not expression.series:
        return dict.fromkeys(OF_SERIES, np.nan)
    steps = transitions(expression, LOG_OFFSET)
    x = steps.levels
    pieces = list(expression.pieces.values())
    sd = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    own, following = x[steps.before], x[steps.before + 1]
    change = following - own
    memory = (unit_columns(own) * unit_columns(following)).sum(axis=0)
    within = np.concatenate([x[p] - x[p].mean(axis=0) for p in pieces])
    starts = np.array([x[p.start] for p in pieces])
    turns = [np.diff(x[p], axis=0) for p in pieces if p.stop - p.start > 2]
    turn = np.concatenate([np.sign(d[1:] * d[:-1]) for d in turns]) if turns else np.zeros((1, 1))
    trend = [_trend(x[p]) for p in pieces if p.stop - p.start > 2]
    kurtosis = (change**4).mean(axis=0) / np.maximum((change**2).mean(axis=0) ** 2, 1e-12)
    return {
        "memory": float(np.median(memory)),
        "memory spread": float(memory.std()),
        "smoothness": float(np.log(np.median((change**2).mean(axis=0)) + 1e-3)),
        "between": float(np.median(1.0 - within.var(axis=0))),
        "starts": float(np.median(starts.var(axis=0))) if len(pieces) > 1 else np.nan,
        "trend": float(np.mean(np.concatenate(trend))) if trend else np.nan,
        "turn": float(turn.mean()),
        "level change": float(np.log(np.median(kurtosis) + 1e-3)),
    }


def _trend(levels: Array) -> Array:
    """Return the size of the correlation of each gene with the sample number; (genes,)."""
    order = unit_columns(np.arange(float(len(levels)))[:, None])
    return np.abs(order.T @ unit_columns(levels))[0]


def covariates(design: Design) -> Array:
    """Return the numbers by which a design predicts traits; (covariates,)."""
    n_series = design.n_series
    return np.array(
        [
            1.0,
            np.log(design.n_genes),
            np.log(design.n_genes) ** 2,
            np.log1p(n_series),
            np.log(design.n_points) if n_series else 0.0,
            float(n_series == 0),
            np.log1p(design.n_steady),
            float(design.is_perturbation_known),
            design.knocked_out,
            design.knocked_down,
            np.log1p(design.cells),
        ]
    )


@dataclass(frozen=True)
class TraitDistribution:
    """Regression of traits on the design of simulated tables, with the residual covariance.

    Attributes
    ----------
    means
        Least squares coefficients of each trait on `covariates`; (covariates, TRAITS).
    scatter
        Covariance of the residuals; (TRAITS, TRAITS).
    limits
        Distance within which .975 of the simulated tables are, by available traits as in `group`;
        infinite without such tables; (3,).
    """

    means: Array
    scatter: Array
    limits: Array

    def is_out_of_domain(self, found: dict[str, float], design: Design) -> bool:
        """Return whether a table with these traits is unlike simulated tables of the design."""
        return self.relative_distance(found, design) > 1.0

    def relative_distance(self, found: dict[str, float], design: Design) -> float:
        """Return the distance from simulated tables, relative to the limit."""
        x = as_row(found)
        return distance(x - covariates(design) @ self.means, self.scatter) / float(
            self.limits[group(x)]
        )

    def farthest_trait(self, found: dict[str, float], design: Design) -> tuple[str, bool]:
        """Return the trait with the most standard deviations from simulated tables, and its side.

        The side is True if the trait is larger than in simulated tables.
        """
        z = (as_row(found) - covariates(design) @ self.means) / np.sqrt(self.scatter.diagonal())
        place = int(np.nanargmax(np.abs(z)))
        return TRAITS[place], bool(z[place] > 0)


def distance(left: Array, scatter: Array) -> float:
    """Return the Mahalanobis distance over the known traits, divided by their number."""
    known = ~np.isnan(left)
    x = left[known]
    return float(x @ np.linalg.solve(scatter[np.ix_(known, known)], x) / max(x.size, 1))


def as_row(found: dict[str, float]) -> Array:
    """Return the traits in the order of `TRAITS`."""
    return np.array([found[name] for name in TRAITS])


def group(x: Array) -> int:
    """Return the available traits: 0 all, 1 without the variance of starts, 2 without series."""
    known = ~np.isnan(x)
    return 2 if not known[TRAITS.index("memory")] else int(not known[TRAITS.index("starts")])
