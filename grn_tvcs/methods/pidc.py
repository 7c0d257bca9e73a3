"""PIDC: unique information of a pair beside every third gene, against the background of both genes.

Levels are cut into bins; information and scores are those of
`evidence.decomposition.partial_information`. Chan, Stumpf and Babtie, Cell Systems 5, 251 (2017).
"""

from __future__ import annotations

import numpy as np

from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.decomposition.partial_information import pidc_scores
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules

DESCRIPTION = (
    "Pairs were scored by PIDC (Chan et al., 2017): the part of their mutual information that no "
    "third gene shares, added over all third genes and compared with the other pairs of both "
    "genes. Levels were cut into bins of equal numbers of samples; time was not used."
)


def pidc(expression: Expression, rules: Rules, rng: np.random.Generator) -> Network:
    """Score pairs by the distribution of their unique contributions; symmetric.

    Two genes alone have no third, and score 0. Signs are those of the rank correlation.
    """
    regulators, targets, _ = rules.candidates(expression.genes)
    scores = pidc_scores(expression.unbinned_levels, regulators, targets)
    r = RankCorrelations(expression.unbinned_levels).of(regulators, targets)
    return Network(expression.genes, Pairs.correlated(regulators, targets, r, scores))
