"""Shared direction of series: whether one common stimulus may explain all of them.

If every series moves the genes in the same proportions, as after a common stimulus, an early
regulator looks like the cause of every gene. Series of one network under different perturbations
move along different directions. The principal direction of each series is compared between pairs
of series by the absolute cosine. The median over pairs is used, so that replicates of a few
conditions do not decide. Genes are divided by their standard deviation within series, so signs and
units do not matter.

Tables above the `upper_limit` of networks simulated with the same design get no probabilities,
because the data cannot show which gene causes the common course.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.samples import LOG_OFFSET
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import log_levels, scale_of
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import KINDS
from tvcs_core.streams import stream

# Decision 173 has the errors of both limits.
N_NETWORKS = 100  # simulated per design, without evidence
LIMIT_QUANTILE = 0.99  # fraction of networks below the limit
LIMIT_SD = 2.5  # standard deviations above the mean log-odds, about the same normal quantile
MIN_SERIES, MIN_POINTS = 2, 3  # a comparison needs two series, and a direction three points
SEED = 0  # of the networks, independent of the user's seed: a design has one limit

Array = NDArray[np.float64]


def shared_direction(expression: Expression) -> float:
    """Return the median absolute cosine between the directions of two series, in [0, 1].

    NaN if fewer than `MIN_SERIES` series have `MIN_POINTS` samples. Constant series have no
    direction and are left out.
    """
    pieces = [rows for rows in expression.pieces.values() if rows.stop - rows.start >= MIN_POINTS]
    if len(pieces) < MIN_SERIES:
        return np.nan
    levels = log_levels(expression.values, LOG_OFFSET, scale_of(expression))
    moved = [levels[rows] - levels[rows].mean(axis=0) for rows in pieces]
    sd = np.sqrt(np.mean([part.var(axis=0) for part in moved], axis=0))
    moved = [part / np.where(sd > 0, sd, 1.0) for part in moved if np.any(part)]
    if len(moved) < MIN_SERIES:
        return np.nan
    directions = np.array([np.linalg.svd(part, full_matrices=False)[2][0] for part in moved])
    pairs = np.triu_indices(len(directions), 1)
    return float(np.median(np.abs(directions @ directions.T)[pairs]))


def has_directions(design: Design) -> bool:
    """Return whether tables of a design have directions to compare."""
    return design.n_series >= MIN_SERIES and design.n_points >= MIN_POINTS


def simulated_shared_direction(design: Design, k: int) -> float:
    """Return the shared direction of the k-th simulated network of a design.

    Perturbation columns, knock-outs and steady states are not simulated: they change nothing here.
    """
    kinds = tuple(KINDS)
    design = replace(
        design, is_perturbation_known=False, knocked_out=0.0, knocked_down=0.0, n_steady=0
    )
    rng = stream(SEED, "directions of a design", design.key, str(k))
    return shared_direction(draw_example(design, kinds[k % len(kinds)], rng).expression)


def upper_limit(shared: Array) -> float:
    """Return the upper limit of the shared direction of networks; infinite without known values.

    It is the smaller of the `LIMIT_QUANTILE` and of `LIMIT_SD` standard deviations of log-odds
    above their mean. A single outlier moves the quantile, and skewness moves the standard
    deviations.
    """
    known = np.clip(shared[~np.isnan(shared)], 1e-6, 1 - 1e-6)
    if not known.size:
        return np.inf
    odds = np.log(known / (1 - known))
    far = 1 / (1 + np.exp(-(odds.mean() + LIMIT_SD * odds.std())))
    return float(min(np.quantile(known, LIMIT_QUANTILE), far))
