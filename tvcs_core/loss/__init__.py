"""Loss functions.

Their minimisation under the caps does not belong here; see `solvers`.
"""

from tvcs_core.loss.base import Loss, checked_array, checked_gradient, minimize_in_box
from tvcs_core.loss.least_squares import LeastSquares
from tvcs_core.loss.pointwise import Huber, Logistic, SquaredHinge

LOSSES = (LeastSquares, SquaredHinge, Logistic, Huber)  # the contract tests cover these

__all__ = [
    "LOSSES", "Huber", "LeastSquares", "Logistic", "Loss", "SquaredHinge", "checked_array",
    "checked_gradient", "minimize_in_box",
]  # fmt: skip
