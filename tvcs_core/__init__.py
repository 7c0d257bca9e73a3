"""Projection onto three-view cardinality constraints, and the solvers that stand on it.

Names are loaded when they are first asked for, so that a command line can show its help, and
scikit-learn's face of the solvers can wait, without loading what they do not need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvcs_core.certificate import Certificate, certify
    from tvcs_core.constraint import TVCS
    from tvcs_core.errors import DataError
    from tvcs_core.estimators import TVCSClassifier, TVCSRegressor
    from tvcs_core.loss import Huber, LeastSquares, Logistic, Loss, SquaredHinge
    from tvcs_core.problem import Problem
    from tvcs_core.projection import Projection, project, project_many
    from tvcs_core.solvers import Solution, solve

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

_HOMES = {
    "certificate": ("Certificate", "certify"),
    "constraint": ("TVCS",),
    "errors": ("DataError",),
    "estimators": ("TVCSClassifier", "TVCSRegressor"),
    "loss": ("Huber", "LeastSquares", "Logistic", "Loss", "SquaredHinge"),
    "problem": ("Problem",),
    "projection": ("Projection", "project", "project_many"),
    "solvers": ("Solution", "solve"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tvcs_core' has no attribute {name!r}")
    value = getattr(import_module(f"tvcs_core.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
