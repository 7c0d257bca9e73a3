"""A problem: a loss to make small under a constraint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tvcs_core.constraint import TVCS
from tvcs_core.loss import Loss
from tvcs_core.projection import Projection, project


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise `loss` over the arrays that `constraint` allows (paper, equation 1).

    Raises
    ------
    TypeError
        If `loss` or `constraint` is something else.
    ValueError
        If they have different shapes.
    """

    loss: Loss
    constraint: TVCS
    _last: dict[str, Projection] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss):
            raise TypeError(f"loss must be a Loss, found {type(self.loss).__name__}")
        if not isinstance(self.constraint, TVCS):
            raise TypeError(f"constraint must be a TVCS, found {type(self.constraint).__name__}")
        if tuple(self.loss.shape) != self.constraint.shape:
            raise ValueError(
                "loss and constraint must have one shape, "
                f"found {tuple(self.loss.shape)} and {self.constraint.shape}"
            )

    def project(self, V: Any) -> Projection:
        """Project V onto the constraint, starting from the prices of the last call."""
        return self._project("caps", V, self.constraint)

    def project_doubled(self, V: Any) -> Projection:
        """Project V onto the constraint with every cap doubled, as GradMP does the gradient."""
        return self._project("doubled", V, self.constraint.doubled)

    def _project(self, name: str, V: Any, constraint: TVCS) -> Projection:
        self._last[name] = project(V, constraint, warm=self._last.get(name))
        return self._last[name]
