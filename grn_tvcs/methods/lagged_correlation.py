"""Lagged correlation: a regulator's level with its target's level, or change, one step later.

Schmitt, Raab and Stephanopoulos, Genome Research 14, 1654 (2004), with a lag of one sample;
`evidence.lagged_correlation` has it.
"""

from __future__ import annotations

import numpy as np

from grn_tvcs.evidence.correlation import WHOLE
from grn_tvcs.evidence.lagged_correlation import lagged_correlation as lagged_correlations
from grn_tvcs.evidence.samples import LOG_OFFSET
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules

DESCRIBED = (
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
    """Score edges by the size of their correlation over all steps of all series.

    `response` is what the target shows, its ``level`` after the step or its ``change`` in it.
    Levels are taken as ``log(x / max + log_offset)``, logarithms as they are.
    """
    if log_offset <= 0:
        raise ValueError(f"log_offset must be above 0, found {log_offset}")
    regulators, targets, _ = rules.inputs(expression.genes)
    if len(targets) ** 2 > WHOLE:
        r = lagged_correlations(expression, response, log_offset, regulators)
    else:
        r = lagged_correlations(expression, response, log_offset)[regulators]
    return Network(expression.genes, Pairs.correlated(regulators, targets, r))
