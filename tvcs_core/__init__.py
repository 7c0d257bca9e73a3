"""Projection onto three-view cardinality constraints, and the solvers that stand on it."""

from tvcs_core.certificate import Certificate, certify
from tvcs_core.constraint import TVCS
from tvcs_core.errors import DataError
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
    "certify",
    "project",
    "project_many",
    "solve",
]
