"""Spearman's rank correlation of levels at the same time, without direction.

Spearman, American Journal of Psychology 15, 72 (1904). The mutual information of ARACNE, CLR and
MRNET ranks pairs in the same order.
"""

from __future__ import annotations

import numpy as np

from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules

DESCRIPTION = (
    "Every pair was scored by the size of the rank correlation of its levels over all samples "
    "(Spearman, 1904); time was not used."
)


def spearman(expression: Expression, rules: Rules, rng: np.random.Generator) -> Network:
    """Score pairs by their absolute rank correlation over all samples; symmetric."""
    regulators, targets, _ = rules.candidates(expression.genes)
    rho = RankCorrelations(expression.unbinned_levels).of(regulators, targets)
    return Network(expression.genes, Pairs.correlated(regulators, targets, rho))
