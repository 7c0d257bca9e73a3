"""CLR, context likelihood of relatedness: mutual information against the background of both genes.

Mutual information and z-scores are those of `evidence.mutual_information`. Faith, Hayete, Thaden et
al., PLoS Biology 5, e8 (2007).
"""

from __future__ import annotations

import numpy as np

from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.mutual_information import clr_scores
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules

DESCRIPTION = (
    "Pairs were scored by CLR (Faith et al., 2007): the z-scores of their mutual information "
    "against the background of both genes, the mutual information being that of Gaussian "
    "variables with the measured rank correlation (Meyer et al., 2008); time was not used."
)


def clr(expression: Expression, rules: Rules, rng: np.random.Generator) -> Network:
    """Score pairs by the z-scores of their mutual information for both genes; symmetric.

    If a gene has equal information with all others, its z is 0.
    """
    regulators, targets, _ = rules.candidates(expression.genes)
    rho = RankCorrelations(expression.unbinned_levels)
    scores = clr_scores(rho, regulators, targets)
    pairs = Pairs.correlated(regulators, targets, rho.of(regulators, targets), scores)
    return Network(expression.genes, pairs)
