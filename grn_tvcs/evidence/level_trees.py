"""Trees for levels, as in GENIE3: how well a regulator's level predicts its target's.

Huynh-Thu, Irrthum, Wehenkel and Geurts, PLoS ONE 5, e12776 (2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.forests import Forest, Progress, grow_forests
from grn_tvcs.network.rules import Candidates
from tvcs_core.engines import Engine

Array = NDArray[np.float64]


def level_trees(
    values: Array,
    genes: Sequence[str],
    candidates: Candidates,
    rng: np.random.Generator,
    forest: Forest,
    progress: Progress | None = None,
    *,
    engine: Engine | None = None,
    keep: Path | None = None,
) -> Array:
    """Importance of every regulator for every target, ``[input, gene]``.

    Levels are divided by their standard deviation, so an importance is a share of the target's
    variance, and those of one target add up to what its trees explain, about 1; they are not
    normalised. A gene that is constant is neither regulator nor target.

    Parameters
    ----------
    values
        Levels of all samples, time forgotten; (samples, genes).
    genes
        Names of the columns, which choose the random numbers of each target.
    candidates
        As `Rules.inputs` has them.
    rng
        Where the streams of the targets come from.
    forest
        Importances of the columns of inputs for a response: `random_forest.importances` or
        `extra_trees.importances`.
    progress
        Told how many targets are done, and of how many.
    engine
        Who grows the trees; by default one target after the other.
    keep
        Folder for finished trees, which are taken from there.
    """
    varies = ~(values == values[:1]).all(axis=0)
    inputs = candidates.regulators
    is_input = candidates.allowed & varies[inputs, None] & varies
    responses = np.zeros(values.shape, order="F")
    for i in np.flatnonzero(is_input.any(axis=0)):
        responses[:, i] = values[:, i] / values[:, i].std()
    scores = grow_forests(
        values[:, inputs], responses, is_input, genes, rng, forest, engine=engine,
        progress=progress, keep=keep,
    )  # fmt: skip
    return np.maximum(scores, 0.0)
