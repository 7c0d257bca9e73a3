"""Draw designs of all kinds, for training and for judging what was trained."""

from __future__ import annotations

import numpy as np

from grn_tvcs.simulation.designs import RANDOM, SERIES, WILD, Array, Design, Rng
from grn_tvcs.simulation.kinds import KINDS, NULLS
from tvcs_core.streams import stream

# Random designs (decision 51): genes, with a quarter of the designs each; series x points ...
QUARTERS = ((5, 10), (11, 30), (31, 60), (61, 100))
LAYOUTS = (
    (1, 12), (1, 21), (1, 50), (2, 12), (2, 30), (3, 8), (4, 10), (5, 8), (5, 21), (8, 12),
    (10, 10), (10, 21), (20, 6),
)  # fmt: skip
STEADY_RANGE = (20, 200)  # range of steady-state samples, uniform on a log scale
# ... fractions of experiments ...
EXPERIMENT_FRACTIONS = {
    "series": 0.5, "rest": 0.12, "series and rest": 0.08,
    "relaxation": 0.12, "cells": 0.12, "compendium": 0.06,
}  # fmt: skip
CUMULATIVE_FRACTIONS = dict(
    zip(EXPERIMENT_FRACTIONS, np.cumsum(list(EXPERIMENT_FRACTIONS.values())).round(9), strict=True)
)
MAY_HAVE_COLUMN = EXPERIMENT_FRACTIONS["series"] + EXPERIMENT_FRACTIONS["series and rest"]
# ... and of a known perturbation, knock-outs, hidden genes, few candidates and null tables.
P_COLUMN, P_KNOCKOUT, P_HIDDEN, P_FEW_CANDIDATES, P_NULL = 0.35, 0.4, 0.18, 0.25, 0.08
HIDDEN_RANGE, CANDIDATE_RANGE = (0.1, 0.4), (0.1, 0.6)  # fractions of the genes
# Fraction of knock-out designs with all candidate regulators changed; fractions in the others.
P_ALL_KNOCKED, KNOCKED_RANGE = 0.6, (0.1, 0.9)


def universal_designs(n: int, rng: Rng = None) -> list[tuple[Design, str]]:
    """Draw `n` designs of all kinds, each with a kind of network or one of `NULLS`.

    Fractions are exact up to rounding: of 100 designs, 12 have steady-state samples only.
    """
    rng = stream(rng, "designs")
    strata = np.array([_strata(n, rng) for _ in range(7)]).T
    return [_any_design(row, rng) for row in strata]


def _strata(n: int, rng: np.random.Generator) -> Array:
    """Return stratified uniform numbers: one in every n-th of [0, 1), in random order."""
    return (rng.permutation(n) + rng.random(n)) / n


def _any_design(strata: Array, rng: np.random.Generator) -> tuple[Design, str]:
    """Make a design and a kind from numbers that each determine one property."""
    size, what, column, out, hide, few, null = strata
    low, high = QUARTERS[int(len(QUARTERS) * size)]
    n_genes = int(rng.integers(low, high + 1))
    experiment = next(name for name, upto in CUMULATIVE_FRACTIONS.items() if what < upto)
    n_series, n_points, interval = _series(experiment, rng)
    is_cells = experiment == "cells"
    may_know = experiment in ("series", "series and rest")
    knocked = (
        0.0 if is_cells else _knocked(out * (1 - EXPERIMENT_FRACTIONS["cells"]) / P_KNOCKOUT, rng)
    )
    n_steady = round(float(np.exp(rng.uniform(*np.log(STEADY_RANGE)))))
    design = Design(
        n_genes=n_genes,
        n_regulators=max(1, round(rng.uniform(*CANDIDATE_RANGE) * n_genes))
        if few < P_FEW_CANDIDATES
        else n_genes,
        n_series=n_series,
        n_points=n_points,
        interval=interval,
        is_perturbation_known=bool(may_know and column < P_COLUMN / MAY_HAVE_COLUMN),
        knocked_out=knocked,
        knocked_down=knocked if rng.random() < 0.5 else 0.0,
        n_steady=n_steady if experiment in ("rest", "series and rest", "compendium") else 0,
        cells=int(rng.integers(4, 26)) if is_cells else 0,
        start=RANDOM if experiment == "relaxation" else WILD,
        hidden=round(float(rng.uniform(*HIDDEN_RANGE)), 2) if hide < P_HIDDEN else 0.0,
    )
    kinds = NULLS if null < P_NULL else tuple(KINDS)
    return design, kinds[int(rng.integers(len(kinds)))]


def _knocked(out: float, rng: np.random.Generator) -> float:
    """Return the fraction of changed candidate regulators; 0 unless `out` is below 1."""
    part = round(float(rng.uniform(*KNOCKED_RANGE)), 2)
    return 0.0 if out >= 1 else 1.0 if out < P_ALL_KNOCKED else part


def _series(experiment: str, rng: np.random.Generator) -> tuple[int, int, float]:
    """Return the number of series, their points and the time between points."""
    n_series, n_points = LAYOUTS[int(rng.integers(len(LAYOUTS)))]
    least, most = {"cells": (5, 20), "compendium": (100, 300)}.get(experiment, (10, 100))
    interval = round(float(rng.uniform(least, most)), 1)
    if experiment == "compendium":
        n_series, n_points = int(rng.integers(8, SERIES[-1] + 1)), int(rng.integers(3, 9))
    return 0 if experiment == "rest" else n_series, n_points, interval
