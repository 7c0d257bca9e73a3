"""Null tables: detect tables without any edge, and limit probabilities that they would reach.

The combiner gives the best pair of every table some probability, because it was trained on tables
with edges. Probabilities therefore hold only for tables that a network generated. Boosted trees on
traits of the table return

    log P(table | no edge) / P(table | network).

They are trained on equal numbers of tables with and without a network. Null tables are independent
samples, random walks, mean-reverting walks, series shuffled gene by gene, and genes that each
respond to a common stimulus (`direction` helps with the last). With knock-outs, the trees also use
the size of the largest shifts.

Tables with and without edges have equal prior probability. A probability p becomes
p (1 - P(no edge | table)), which keeps the order of edges.

Short tables cannot be classified in this way: noise of 10 genes at 12 times often resembles a
network. So null tables are also simulated with the user's design. Only pairs above all pairs of all
these tables get more than `MAX_NULL_PROBABILITY` (`compress_logits`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.domain_check import as_row, covariates
from grn_tvcs.combine.trees import Trees, evaluate
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.simulation.designs import Design

# Probabilities that are never compressed, and the largest of a table without edges (decision 84);
# `python -m benchmarks.confidence` checks the second.
UNCHANGED_BELOW, MAX_NULL_PROBABILITY = 0.25, 0.3

Array = NDArray[np.float64]


def null_features(
    found: dict[str, float], design: Design, effect: float = np.nan, shared: float = np.nan
) -> NDArray[np.float32]:
    """Return traits, covariates of the design, `effect` and `shared` as one row; (features,)."""
    of_design = covariates(design)[1:]
    return np.concatenate([as_row(found), of_design, [effect, shared]]).astype(np.float32)


def effect_of_changes(steady: SteadyStates | None, expression: Expression) -> float:
    """Return the size of the shifts after knock-outs and knock-downs.

    It is log(1 + m), with m the mean of the largest shifts in standard deviations, one per changed
    gene. NaN if no gene was changed.
    """
    if steady is None:
        return np.nan
    sizes = []
    for is_out in (True, False):
        changed = np.flatnonzero(steady.is_changed(is_out=is_out))
        if changed.size:
            shifts = np.abs(steady.shifts(expression, is_out=is_out, rows=changed)).ravel()
            sizes.append(np.sort(shifts)[-changed.size :])
    return float(np.log1p(np.concatenate(sizes).mean())) if sizes else np.nan


def null_log_odds(
    trees: Trees,
    found: dict[str, float],
    design: Design,
    effect: float = np.nan,
    shared: float = np.nan,
) -> float:
    """Return the log-odds that a table has no edge.

    Parameters
    ----------
    trees
        Trained by `benchmarks.learning.training`.
    found
        Traits of the table.
    design
        Design of the table.
    effect
        Size of the shifts after knock-outs, from `effect_of_changes`.
    shared
        Shared direction of the series, from `direction.shared_direction`.
    """
    features = null_features(found, design, effect, shared)
    return float(evaluate(trees, features[None])[0])


def weight_by_non_null(logits: Array, log_odds: float) -> Array:
    """Return the log-odds of edges of a table that has no edge with the given log-odds.

    With q the probability that the table has edges, the result is the log-odds of q p:
    z + log q - log(1 + (1 - q) exp(z)).
    """
    some, none = -np.logaddexp(0.0, log_odds), -np.logaddexp(0.0, -log_odds)
    return np.asarray(logits + some - np.logaddexp(0.0, logits + none))


def compress_logits(logits: Array, limit: float) -> Array:
    """Compress log-odds up to `limit` below those of `MAX_NULL_PROBABILITY`; their order stays.

    Log-odds below those of `UNCHANGED_BELOW` stay. Those from there to `limit` are scaled linearly,
    and those above `limit` keep their distance from it.
    """
    low, high = (float(np.log(p / (1 - p))) for p in (UNCHANGED_BELOW, MAX_NULL_PROBABILITY))
    if limit <= high:
        return logits
    pressed = low + (logits - low) * ((high - low) / (limit - low))
    return np.where(
        logits <= low, logits, np.where(logits <= limit, pressed, logits - limit + high)
    )
