"""A problem: a loss to minimise under a constraint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.arguments import refuse_where
from tvcs_core.constraint import TVCS
from tvcs_core.files.display import summary
from tvcs_core.loss import Loss, checked_array, checked_gradient, minimize_in_box
from tvcs_core.projection.projection import Projection, project


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise `loss` over the arrays that satisfy `constraint` (paper, equation 1).

    Raises
    ------
    TypeError
        If `loss` or `constraint` has the wrong type.
    ValueError
        If their shapes differ.
    """

    loss: Loss
    constraint: TVCS

    __repr__ = summary

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss):
            raise TypeError(f"loss must be a Loss, found {type(self.loss).__name__}")
        if not isinstance(self.constraint, TVCS):
            raise TypeError(
                f"constraint must be a TVCS, found {type(self.constraint).__name__}; make one by "
                "TVCS.matrix(shape, row_caps=, col_caps=, total=)"
            )
        if tuple(self.loss.shape) != self.constraint.shape:
            raise ValueError(
                "loss and constraint must have one shape, "
                f"found {tuple(self.loss.shape)} and {self.constraint.shape}"
            )

    def gradient(
        self, W: NDArray[np.float64], terms: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return the gradient of the loss at W, or of some of its terms, checked."""
        return checked_gradient(self.loss, W, terms)

    def project(self, V: Any) -> Projection:
        """Project V onto the constraint."""
        return project(V, self.constraint)

    def project_doubled(self, V: Any) -> Projection:
        """Project V onto the constraint with all caps doubled, as GradMP does with the gradient."""
        return project(V, self.constraint.doubled)

    def minimize_on(self, support: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Minimise the loss over the arrays that are zero outside `support` and within the bounds.

        If the minimiser of the loss's own `minimize_on` violates the bounds, L-BFGS-B is used.
        """
        W = checked_array(self.loss, "minimiser", self.loss.minimize_on(support))
        outside = f"0 outside the support that {type(self.loss).__name__}.minimize_on is given"
        refuse_where("the minimiser", W, (W != 0) & ~support, outside)
        if self._box is None:
            return W
        nearest = np.clip(W, *self._box)
        if (nearest == W).all():
            return W
        return minimize_in_box(self.loss, support, self._box, nearest)

    def inward(self, W: NDArray[np.float64], g: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradient g at W, set to 0 for entries whose step would leave the bounds."""
        if self._box is None:
            return g
        lower, upper = self._box
        is_low, is_high = W <= lower, W >= upper
        return np.where(is_low & (g > 0) | is_high & (g < 0), 0.0, g)

    @property
    def _box(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        if self.constraint.bounds is None:
            return None
        lower, upper = (np.broadcast_to(b, self.constraint.shape) for b in self.constraint.bounds)
        return lower, upper
