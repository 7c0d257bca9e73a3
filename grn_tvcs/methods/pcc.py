"""Pearson correlation of levels at the same time: the simplest baseline, without direction."""

from __future__ import annotations

import numpy as np

from grn_tvcs.evidence.correlation import correlation
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules

DESCRIPTION = (
    "Every pair was scored by the size of the Pearson correlation of its levels over all "
    "samples (Pearson, 1895); time was not used."
)


def pcc(expression: Expression, rules: Rules, rng: np.random.Generator) -> Network:
    """Score pairs by their absolute Pearson correlation over all samples; symmetric."""
    regulators, targets, _ = rules.candidates(expression.genes)
    r = correlation(expression.unbinned_levels, regulators, targets)
    return Network(expression.genes, Pairs.correlated(regulators, targets, r))
