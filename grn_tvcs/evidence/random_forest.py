"""Random forests of regression trees over genes, as in GENIE3 and dynGENIE3.

The importance of an input in a tree is the sum of n(v) Var(v) - n(l) Var(l) - n(r) Var(r) over the
nodes v that split on it, with children l and r, divided by the number of samples. In a forest it is
the mean over its trees (mean decrease of impurity, not normalised).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TREES = 1000  # as in the authors' programs


def importances(
    inputs: NDArray[np.float64],
    response: NDArray[np.float64],
    rng: np.random.Generator,
    trees: int,
) -> NDArray[np.float64]:
    """Return the importance of every column of `inputs` for `response` in a random forest.

    Every tree uses a bootstrap sample of the rows; every node tries sqrt(n) columns and splits down
    to single rows. The importances add up to about the variance that the trees explain.
    """
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(
        n_estimators=trees,
        max_features="sqrt",
        random_state=int(rng.integers(2**32)),
    )
    forest.fit(inputs, response)
    total = np.zeros(inputs.shape[1])
    for tree in forest.estimators_:
        total += tree.tree_.compute_feature_importances(normalize=False)
    return total / trees
