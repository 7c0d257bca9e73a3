"""Estimators for scikit-learn.

Losses and solvers do not belong here. This is the only room of the core that imports scikit-learn;
`tvcs_core.TVCSRegressor` loads it at its first use.
"""

from tvcs_core.estimators.classifier import TVCSClassifier
from tvcs_core.estimators.path import TVCSRegressorCV
from tvcs_core.estimators.regressor import TVCSRegressor

__all__ = ["TVCSClassifier", "TVCSRegressor", "TVCSRegressorCV"]
