"""Partial correlation of levels at the same time, with shrinkage; without direction.

It is the correlation of two genes given all other genes. The estimate is that of Schäfer and
Strimmer, Statistical Applications in Genetics and Molecular Biology 4, 32 (2005), as in the R
package GeneNet; see `evidence.partial_correlation`.
"""

from __future__ import annotations

import numpy as np

from grn_tvcs.evidence.partial_correlation import partial_correlation as partial_correlations
from grn_tvcs.evidence.samples import LOG_OFFSET, all_log_levels
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules

DESCRIPTION = (
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
    """Score pairs by their absolute partial correlation; symmetric.

    Levels become ``log(x / max + log_offset)``; log values stay. `shrinkage` is the weight of the
    identity matrix, up to 1; 0 uses the estimate.
    """
    if not 0 <= shrinkage <= 1:
        raise ValueError(f"shrinkage must be in [0, 1], found {shrinkage}")
    if log_offset <= 0:
        raise ValueError(f"log_offset must be above 0, found {log_offset}")
    genes = expression.genes
    inputs, targets, _ = rules.inputs(genes)
    logs = all_log_levels(expression, log_offset=log_offset, unbinned=True)
    partial = partial_correlations(logs, inputs, shrinkage or None)
    return Network(genes, Pairs.correlated(inputs, targets, partial))
