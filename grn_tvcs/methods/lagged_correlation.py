"""Lagged correlation: a regulator's level with its target's level, or change, one step later.

Schmitt, Raab and Stephanopoulos, Genome Research 14, 1654 (2004), with a lag of one sample; see
`evidence.lagged_correlation`.
"""

from __future__ import annotations

import numpy as np

from grn_tvcs.evidence.correlation import MAX_FULL_MATRIX
from grn_tvcs.evidence.lagged_correlation import lagged_correlation as lagged_correlations
from grn_tvcs.evidence.samples import LOG_OFFSET
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules

DESCRIPTION = (
    "Every ordered pair was scored by the size of the correlation of the regulator's log "
    "level with that of the target, or with its change, one sample later (Schmitt et al., "
    "2004)."
)


def lagged_correlation(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    *,
    response: str = "level",
    log_offset: float = LOG_OFFSET,
) -> Network:
    """Score edges by the absolute correlation over all steps of all series.

    `response` is the target's ``level`` after the step or its ``change`` in it. Levels become
    ``log(x / max + log_offset)``; log values stay.
    """
    if log_offset <= 0:
        raise ValueError(f"log_offset must be above 0, found {log_offset}")
    regulators, targets, _ = rules.inputs(expression.genes)
    if len(targets) ** 2 > MAX_FULL_MATRIX:
        r = lagged_correlations(expression, response, log_offset, regulators)
    else:
        r = lagged_correlations(expression, response, log_offset)[regulators]
    return Network(expression.genes, Pairs.correlated(regulators, targets, r))
