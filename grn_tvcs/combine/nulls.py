"""Whether there is anything to find: tables of networks, and tables without any edge.

A combiner gives the best pair of every table some chance, for it knows that networks have edges. So
chances hold for tables that a network made. Traits of a table tell those from others: samples
that know nothing of each other, genes that walk at random or are drawn back to their rest, series
whose samples were shuffled gene by gene. Boosted trees, learned on as many of both, say

    log P(table | no edge) / P(table | network).

One table in three being without edges before it is seen, a chance p becomes
p (1 - P(no edge | table)). The order of edges stays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.likeness import as_row, covariates
from grn_tvcs.combine.trees import Trees, evaluate
from grn_tvcs.simulation.designs import Design

PRIOR = float(np.log(1 / 2))  # log-odds of no edge, before a table is seen

Array = NDArray[np.float64]


def null_features(found: dict[str, float], design: Design) -> NDArray[np.float32]:
    """Traits of a table, and what of its design moves them; (features,)."""
    return np.concatenate([as_row(found), covariates(design)[1:]]).astype(np.float32)


def null_log_odds(trees: Trees, found: dict[str, float], design: Design) -> float:
    """Log-odds that a table with these traits has no edge."""
    return PRIOR + float(evaluate(trees, null_features(found, design)[None])[0])


def unless_null(logits: Array, log_odds: float) -> Array:
    """Log-odds of edges where a table has none with the given log-odds.

    With q the chance that it has some, q p as log-odds: z + log q - log(1 + (1 - q) exp(z)).
    """
    some, none = -np.logaddexp(0.0, log_odds), -np.logaddexp(0.0, -log_odds)
    return np.asarray(logits + some - np.logaddexp(0.0, logits + none))
