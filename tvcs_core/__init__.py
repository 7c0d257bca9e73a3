"""Projection onto three-view cardinality constraints, and the solvers that stand on it."""

from typing import TYPE_CHECKING, Any

from tvcs_core.certificate import Certificate, certify
from tvcs_core.constraint import TVCS
from tvcs_core.errors import DataError
from tvcs_core.loss import Huber, LeastSquares, Logistic, Loss, SquaredHinge
from tvcs_core.problem import Problem
from tvcs_core.projection import Projection, project, project_many
from tvcs_core.solvers import Solution, solve

if TYPE_CHECKING:
    from tvcs_core.estimators import TVCSClassifier, TVCSRegressor

__all__ = [
    "TVCS",
    "Certificate",
    "DataError",
    "Huber",
    "LeastSquares",
    "Logistic",
    "Loss",
    "Problem",
    "Projection",
    "Solution",
    "SquaredHinge",
    "TVCSClassifier",
    "TVCSRegressor",
    "certify",
    "project",
    "project_many",
    "solve",
]


def __getattr__(name: str) -> Any:
    """Load scikit-learn's face of the solvers when it is asked for."""
    if name in ("TVCSClassifier", "TVCSRegressor"):
        from tvcs_core import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'tvcs_core' has no attribute {name!r}")
