"""GRNBoost2 by scikit-learn, with the settings of arboreto.

For every gene, shallow regression trees are boosted on the levels of the regulators: learning rate
.01, a tenth of the regulators per tree, 9 in 10 samples, at most 5,000 trees; boosting stops once
the last 25 trees did not improve the left-out samples on average. The importance of a regulator is
multiplied by the number of trees, as in arboreto. Moerman et al., Bioinformatics 35, 2159 (2019).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingRegressor

from grn_tvcs.network.rules import Candidates
from tvcs_core.streams import seed_of, stream

WINDOW = 25  # trees over which the left-out samples must improve
SETTINGS = {"learning_rate": 0.01, "n_estimators": 5000, "max_features": 0.1, "subsample": 0.9}


def grnboost2(
    levels: NDArray[np.float64], candidates: Candidates, seed: int = 0
) -> NDArray[np.float64]:
    """Return the importance of every candidate regulator for every gene; [input, gene]."""
    inputs, _, allowed = candidates
    scores = np.zeros(allowed.shape)
    for target in np.flatnonzero(allowed.any(axis=0)):
        rows = np.flatnonzero(allowed[:, target])
        model = GradientBoostingRegressor(
            **SETTINGS, random_state=seed_of(stream(seed, "grnboost2", str(target))) % 2**32
        )
        model.fit(levels[:, inputs[rows]], levels[:, target], monitor=no_longer_improves)
        scores[rows, target] = model.feature_importances_ * len(model.estimators_)
    return scores


def no_longer_improves(k: int, model: GradientBoostingRegressor, _: object) -> bool:
    """Return whether the last trees made the left-out samples worse on average."""
    improvement = model.oob_improvement_[max(0, k - WINDOW + 1) : k + 1]
    return k >= WINDOW - 1 and float(np.mean(improvement)) < 0
