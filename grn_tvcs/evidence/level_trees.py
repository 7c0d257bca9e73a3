"""Trees for levels, as in GENIE3: importance of a regulator's level for its target's level.

Huynh-Thu, Irrthum, Wehenkel and Geurts, PLoS ONE 5, e12776 (2010).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.forests import Forest, grow_forests
from grn_tvcs.network.rules import Candidates
from grn_tvcs.stability.execution import SERIAL, Execution

Array = NDArray[np.float64]


def level_trees(
    values: Array,
    genes: Sequence[str],
    candidates: Candidates,
    rng: np.random.Generator,
    forest: Forest,
    execution: Execution = SERIAL,
) -> Array:
    """Return the importance of every regulator for every target, ``[input, gene]``.

    Levels are divided by their standard deviation, so an importance is a fraction of the target's
    variance. Importances of a target add up to the explained variance, about 1, and are not
    normalised. Constant genes are neither regulators nor targets.

    Parameters
    ----------
    values
        Levels of all samples, ignoring time; (samples, genes).
    genes
        Names of the columns, which seed the generator of each target.
    candidates
        From `Rules.inputs`.
    rng
        Seeds the generators of the targets.
    forest
        `random_forest.importances` or `extra_trees.importances`.
    execution
        How trees are grown; its progress is told the number of finished targets and the total.
    """
    varies = ~(values == values[:1]).all(axis=0)
    inputs = candidates.regulators
    is_input = candidates.allowed & varies[inputs, None] & varies
    responses = np.zeros(values.shape, order="F")
    for i in np.flatnonzero(is_input.any(axis=0)):
        responses[:, i] = values[:, i] / values[:, i].std()
    scores = grow_forests(values[:, inputs], responses, is_input, genes, rng, forest, execution)
    return np.maximum(scores, 0.0)
