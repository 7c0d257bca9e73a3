"""dynGENIE3: a random forest per target gene on its rate of change and decay.

The model is dx_i/dt = -alpha_i x_i + f_i(x). For every gene i a random forest predicts

    (x_i(t+1) - x_i(t)) / dt + alpha_i x_i(t)   from   x(t), the gene's own level included,

over neighbouring samples of every series, dt apart. The score of j -> i is the importance of x_j
(`evidence.rate_trees`, which also estimates alpha_i), without the target's own, divided by their
sum. As in the authors' program, there are 1000 trees and the square root of the number of inputs
per node. A steady-state sample has no change, so its response is alpha_i x_i. A perturbation column
is not used. Huynh-Thu and Geurts, Scientific Reports 8, 3384 (2018).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from grn_tvcs.evidence.random_forest import TREES, importances
from grn_tvcs.evidence.rate_trees import rate_trees
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.execution import SERIAL, Execution

DESCRIPTION = (
    "Ordered pairs were scored by dynGENIE3 (Huynh-Thu and Geurts, 2018): the importance of "
    "the regulator in a random forest that predicts the rate of change and decay of the "
    "target."
)


def dyngenie3(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    *,
    trees: int = TREES,
    execution: Execution = SERIAL,
) -> Network:
    """Score edges by the importance of the regulator for the target's rate of change and decay.

    The scores of one target add up to 1. Inputs are the regulators that are not constant.
    `execution` grows the trees.
    """
    genes = expression.genes
    forest = partial(importances, trees=trees)
    candidates = rules.inputs(genes)
    scores, _ = rate_trees(expression, candidates, rng, forest, execution)
    of_genes = np.zeros(len(genes))
    for target in scores.T:
        of_genes[candidates.regulators] = target
        total = of_genes.sum()  # over all genes: the order of a float sum depends on the length
        target /= total if total > 0 else 1.0
    return Network(genes, Pairs.scored(candidates.regulators, scores))
