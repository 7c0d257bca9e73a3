"""Trees for levels, as in GENIE3: how well a regulator's level predicts its target's.

Huynh-Thu, Irrthum, Wehenkel and Geurts, PLoS ONE 5, e12776 (2010).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.random_streams import streams_by_name

Array = NDArray[np.float64]
Forest = Callable[[Array, Array, np.random.Generator], Array]


def level_trees(
    values: Array,
    genes: Sequence[str],
    allowed: NDArray[np.bool_],
    rng: np.random.Generator,
    forest: Forest,
    progress: Callable[[int, int], None] | None = None,
) -> Array:
    """Importance of every regulator for every target, ``[regulator, target]``.

    Levels are divided by their standard deviation, so an importance is a share of the target's
    variance, and those of one target add up to what its trees explain, about 1; they are not
    normalised. A gene that is constant is neither regulator nor target.

    Parameters
    ----------
    values
        Levels of all samples, time forgotten; (samples, genes).
    genes
        Names of the columns, which choose the random numbers of each target.
    allowed
        Which pairs may be edges.
    rng
        Where the streams of the targets come from.
    forest
        Importances of the columns of inputs for a response: `random_forest.importances` or
        `extra_trees.importances`.
    progress
        Told how many targets are done, and of how many.
    """
    varies = ~(values == values[:1]).all(axis=0)
    allowed = allowed & varies[:, None] & varies
    scores = np.zeros(allowed.shape)
    for i, stream in enumerate(streams_by_name(genes, rng)):
        inputs = np.flatnonzero(allowed[:, i])
        if inputs.size:
            response = values[:, i] / values[:, i].std()
            scores[inputs, i] = forest(values[:, inputs], response, stream)
        if progress is not None:
            progress(i + 1, len(genes))
    return np.maximum(scores, 0.0)
