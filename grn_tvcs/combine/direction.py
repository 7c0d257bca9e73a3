"""How far series go along one direction: whether one common stimulus may explain all of them.

Where every series moves the genes in the same proportions, as after one stimulus that is common to
all, a regulator that runs early looks like the cause of every gene. Series of one network that are
perturbed in different ways move along different directions. The principal direction of the genes
within each series is compared between pairs of series by the size of its cosine; the median over
the pairs counts, so replicates of a few conditions do not decide. Genes are divided by their
standard deviation within series, so neither signs nor units matter.

A table whose direction is shared more than in nearly all networks that are simulated with its
design gets no chances: nothing in it tells who causes the common course.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.samples import LOG_OFFSET
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import guess_scale, log_levels
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import KINDS
from tvcs_core.streams import stream

NETWORKS = 100  # that are simulated with a design, without evidence
USUAL = 0.99  # part of them that shares a direction no more than the limit
FAR = 2.5  # standard deviations of the log-odds above their mean that are taken for as much
FEWEST_SERIES, FEWEST_POINTS = 2, 3  # with fewer there is nothing to compare
SEED = 0  # of the networks, whatever the user's: a design has one limit

Array = NDArray[np.float64]


def shared_direction(expression: Expression) -> float:
    """Return the median size of the cosine between the directions of two series, in [0, 1].

    NaN where fewer than `FEWEST_SERIES` series have `FEWEST_POINTS` samples. A series in which
    nothing moves has no direction and is left out.
    """
    pieces = [
        rows for rows in expression.pieces().values() if rows.stop - rows.start >= FEWEST_POINTS
    ]
    if len(pieces) < FEWEST_SERIES:
        return np.nan
    scale = expression.scale or guess_scale(expression.values).scale
    levels = log_levels(expression.values, LOG_OFFSET, scale)
    moved = [levels[rows] - levels[rows].mean(axis=0) for rows in pieces]
    sd = np.sqrt(np.mean([part.var(axis=0) for part in moved], axis=0))
    moved = [part / np.where(sd > 0, sd, 1.0) for part in moved if np.any(part)]
    if len(moved) < FEWEST_SERIES:
        return np.nan
    directions = np.array([np.linalg.svd(part, full_matrices=False)[2][0] for part in moved])
    pairs = np.triu_indices(len(directions), 1)
    return float(np.median(np.abs(directions @ directions.T)[pairs]))


def is_asked(design: Design) -> bool:
    """Whether tables of a design have directions to compare."""
    return design.n_series >= FEWEST_SERIES and design.n_points >= FEWEST_POINTS


def shared_in_a_network(design: Design, k: int) -> float:
    """Return how far the series of the k-th network of a design share a direction.

    What is measured beside series is left out: it changes nothing and takes time.
    """
    kinds = tuple(KINDS)
    design = replace(
        design, is_perturbation_known=False, knocked_out=0.0, knocked_down=0.0, n_at_rest=0
    )
    rng = stream(SEED, "directions of a design", design.key, str(k))
    return shared_direction(draw_example(design, kinds[k % len(kinds)], rng).expression)


def usual_limit(shared: Array) -> float:
    """Return what the part `USUAL` of networks is within; infinity where nothing is known.

    The lesser of the quantile and of `FAR` standard deviations of log-odds: one network that is far
    out moves the first, and the skew of the others the second.
    """
    known = np.clip(shared[~np.isnan(shared)], 1e-6, 1 - 1e-6)
    if not known.size:
        return np.inf
    odds = np.log(known / (1 - known))
    far = 1 / (1 + np.exp(-(odds.mean() + FAR * odds.std())))
    return float(min(np.quantile(known, USUAL), far))
