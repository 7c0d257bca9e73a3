"""GENIE3: a random forest per target gene on the levels of the others, ignoring time.

For every gene i the levels x_i, divided by their standard deviation, are predicted from those of
the regulators by a random forest. The score of j -> i is the importance of x_j
(`evidence.level_trees`), so the scores of one target add up to about 1. As in the authors' program,
there are 1000 trees and the square root of the number of regulators per node. Huynh-Thu, Irrthum,
Wehenkel and Geurts, PLoS ONE 5, e12776 (2010).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from grn_tvcs.evidence.level_trees import level_trees
from grn_tvcs.evidence.random_forest import TREES, importances
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.execution import SERIAL, Execution

DESCRIPTION = (
    "Ordered pairs were scored by GENIE3 (Huynh-Thu et al., 2010): the importance of the "
    "regulator in a random forest that predicts the level of the target in the same sample; "
    "time was not used."
)


def genie3(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    *,
    trees: int = TREES,
    execution: Execution = SERIAL,
) -> Network:
    """Score edges by the importance of the regulator for the target's level at the same time.

    Inputs are the regulators that are not constant. `execution` grows the trees.
    """
    genes = expression.genes
    forest = partial(importances, trees=trees)
    candidates = rules.inputs(genes)
    scores = level_trees(expression.unbinned_levels, genes, candidates, rng, forest, execution)
    return Network(genes, Pairs.scored(candidates.regulators, scores))
