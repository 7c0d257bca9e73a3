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

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from grn_tvcs.evidence.random_forest import TREES, importances
from grn_tvcs.evidence.rate_trees import rate_trees
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules
from tvcs_core.engines import Engine, Threads

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
    threads: int = 1,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
    checkpoint_dir: Path | None = None,
) -> Network:
    """Score edges by the importance of the regulator for the target's rate of change and decay.

    The scores of one target add up to 1. Inputs are the regulators that are not constant. `threads`
    or `engine` grow the trees; `checkpoint_dir` stores finished work.
    """
    genes = expression.genes
    forest = partial(importances, trees=trees)
    candidates = rules.inputs(genes)
    scores, _ = rate_trees(
        expression, candidates, rng, forest, progress,
        engine=engine or Threads(threads), checkpoint_dir=checkpoint_dir,
    )  # fmt: skip
    of_genes = np.zeros(len(genes))
    for target in scores.T:
        of_genes[candidates.regulators] = target
        total = of_genes.sum()  # over all genes: the order of a float sum depends on the length
        target /= total if total > 0 else 1.0
    return Network(genes, Pairs.scored(candidates.regulators, scores))
