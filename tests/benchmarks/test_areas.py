"""Areas of rankings are those of scikit-learn, with ties and scores below 0."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.peers.areas import area_under_roc, average_precision


def test_areas_are_those_of_scikit_learn(rng):
    for _ in range(20):
        truth, ranking = rng.random(30) < 0.3, rng.integers(-3, 4, 30) / 2
        truth[:2] = True, False
        assert area_under_roc(truth, ranking) == pytest.approx(roc_auc_score(truth, ranking))
        assert average_precision(truth, ranking) == pytest.approx(
            average_precision_score(truth, ranking)
        )
    nothing = np.zeros(4, bool)
    assert np.isnan(average_precision(nothing, np.arange(4.0)))
    assert np.isnan(area_under_roc(nothing, np.arange(4.0)))
