"""Partial correlation of levels at the same time, with shrinkage; without direction.

What two genes share beyond what either shares with all other genes. The estimate is that of
Schäfer and Strimmer, Statistical Applications in Genetics and Molecular Biology 4, 32 (2005), as in
the R package GeneNet; `evidence.partial_correlation` has it.
"""

from __future__ import annotations

import numpy as np

from grn_tvcs.evidence.partial_correlation import partial_correlation as partial_correlations
from grn_tvcs.evidence.samples import LOG_OFFSET, logs_of_all
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules

DESCRIBED = (
    "Every pair was scored by the size of its partial correlation given all other genes, "
    "estimated with shrinkage from log levels of all samples (Schäfer and Strimmer, 2005); "
    "time was not used."
)


def partial_correlation(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    *,
    shrinkage: float = 0.0,
    log_offset: float = LOG_OFFSET,
) -> Network:
    """Score pairs by the size of their partial correlation, the same both ways.

    Levels are taken as ``log(x / max + log_offset)``, logarithms as they are. `shrinkage` is the
    weight of no correlation at all, up to 1; 0 takes the estimate.
    """
    if not 0 <= shrinkage <= 1:
        raise ValueError(f"shrinkage must be in [0, 1], found {shrinkage}")
    if log_offset <= 0:
        raise ValueError(f"log_offset must be above 0, found {log_offset}")
    genes = expression.genes
    inputs, targets, _ = rules.inputs(genes)
    logs = logs_of_all(expression, log_offset=log_offset)
    partial = partial_correlations(logs, inputs, shrinkage or None)
    return Network(genes, Pairs.correlated(inputs, targets, partial))
