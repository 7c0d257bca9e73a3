"""Losses: what a problem wants small.

How it is made small under the caps is not here: that is for `solvers`.
"""

from tvcs_core.loss.base import Loss, minimize_in_box
from tvcs_core.loss.least_squares import LeastSquares
from tvcs_core.loss.pointwise import Huber, Logistic, SquaredHinge

LOSSES = (LeastSquares, SquaredHinge, Logistic, Huber)  # what the contract tests run over

__all__ = ["LOSSES", "Huber", "LeastSquares", "Logistic", "Loss", "SquaredHinge", "minimize_in_box"]
