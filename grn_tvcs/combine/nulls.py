"""Whether there is anything to find: tables of networks, and tables without any edge.

A combiner gives the best pair of every table some chance, for it knows that networks have edges. So
chances hold for tables that a network made. Traits of a table tell those from others: samples
that know nothing of each other, genes that walk at random or are drawn back to their rest, series
whose samples were shuffled gene by gene, genes that answer a common stimulus by themselves. How far
series go along one direction helps with the last. Boosted trees, learned on as many of both, say

    log P(table | no edge) / P(table | network).

A table being as likely without edges as with some before it is seen, a chance p becomes
p (1 - P(no edge | table)). The order of edges stays. With knock-outs the trees also know how far
genes moved: of a network some of those that are knocked out move others far, of noise none does.

Short tables cannot be told so: of 10 genes at 12 times, noise often looks like a network. So with
the networks of a design tables without any edge are drawn, too, and more than `LIKELY` is said
only of pairs that stand out from all pairs of all of these (`held_down`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.likeness import as_row, covariates
from grn_tvcs.combine.trees import Trees, evaluate
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.simulation.designs import Design

PRIOR = 0.0  # log-odds of no edge, before a table is seen
UNCHANGED, LIKELY = 0.25, 0.3  # chances that stay as they are, and the largest without any edge

Array = NDArray[np.float64]


def null_features(
    found: dict[str, float], design: Design, effect: float = np.nan, shared: float = np.nan
) -> NDArray[np.float32]:
    """Traits of a table, what of its design moves them, `effect` and `shared`; (features,)."""
    of_design = covariates(design)[1:]
    return np.concatenate([as_row(found), of_design, [effect, shared]]).astype(np.float32)


def effect_of_changes(steady: SteadyStates | None, expression: Expression) -> float:
    """How far genes moved when others were knocked out or down.

    The logarithm of 1 + the mean of the largest shifts in standard deviations, one for each gene
    that was changed; NaN where none was.
    """
    sizes = []
    for is_out in (True, False):
        changed = np.zeros(0) if steady is None else steady.is_changed(is_out=is_out)
        if steady is not None and changed.any():
            shifts = np.abs(steady.shifts(expression, is_out=is_out)[changed]).ravel()
            sizes.append(np.sort(shifts)[-int(changed.sum()) :])
    return float(np.log1p(np.concatenate(sizes).mean())) if sizes else np.nan


def null_log_odds(
    trees: Trees,
    found: dict[str, float],
    design: Design,
    effect: float = np.nan,
    shared: float = np.nan,
) -> float:
    """Log-odds that a table has no edge.

    Parameters
    ----------
    trees
        What was learned.
    found
        Traits of the table.
    design
        What it was measured with.
    effect
        How far knock-outs move genes, by `effect_of_changes`.
    shared
        How far its series go along one direction, by `direction.shared_direction`.
    """
    features = null_features(found, design, effect, shared)
    return PRIOR + float(evaluate(trees, features[None])[0])


def unless_null(logits: Array, log_odds: float) -> Array:
    """Log-odds of edges where a table has none with the given log-odds.

    With q the chance that it has some, q p as log-odds: z + log q - log(1 + (1 - q) exp(z)).
    """
    some, none = -np.logaddexp(0.0, log_odds), -np.logaddexp(0.0, -log_odds)
    return np.asarray(logits + some - np.logaddexp(0.0, logits + none))


def held_down(logits: Array, limit: float) -> Array:
    """Log-odds of which those up to `limit` are at most those of `LIKELY`; their order stays.

    Those below the ones of `UNCHANGED` stay as they are, those from there to `limit` are pressed
    together, and those above `limit` stay as far above the largest of them.
    """
    low, high = (float(np.log(p / (1 - p))) for p in (UNCHANGED, LIKELY))
    if limit <= high:
        return logits
    pressed = low + (logits - low) * ((high - low) / (limit - low))
    return np.where(
        logits <= low, logits, np.where(logits <= limit, pressed, logits - limit + high)
    )
