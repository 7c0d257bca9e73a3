"""Common errors of workers, in plain NumPy with code of its own.

With probability 1 - e a task appears to be of its class, else of one drawn from the shares pi. So
the apparent class has the probabilities A = (1 - e) I + e 1 pi^T given the true class. The matrices
R of answers given the apparent class solve A R = M, with no entry below `LEAST`. Probabilities of
the true class are B times those of the apparent class, B = (1 - e) I + e pi 1^T. Let t[z] be the
joint probability of an outcome and the apparent class z. Then the vote is right with probability

    sum over outcomes of the largest entry of B t.

No such sum is above that with B's diagonal less c, and zeros beside it, plus c . sum of t, if c[z]
is the largest B[y, z] with y other than z. Prices are checked against this bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from crowd_tvcs.plan.plan import Plan

LEAST = 1e-4  # chance of an answer, whatever a task seems to be

Floats = NDArray[np.float64]
T = TypeVar("T", float, Floats)


@dataclass(frozen=True)
class Scale:
    """Value of a vote from that for the apparent class: constant + factor * value."""

    constant: float = 0.0
    factor: float = 1.0

    def of(self, value: T) -> T:
        """Worth of a value."""
        return self.constant + self.factor * value

    def back(self, value: float) -> float:
        """Value of a worth."""
        return (value - self.constant) / self.factor


def seeming_right(right: Floats, e: float) -> Floats:
    """Return the accuracies about the apparent class, for two equally likely classes."""
    if e == 0.0:
        return right
    both = np.stack([right, 1.0 - right])
    both = np.maximum((both - e / 2.0) / (1.0 - e), LEAST)
    # An uninformative worker must stay one, to the last bit.
    return np.where(right == 0.5, 0.5, both[0] / both.sum(axis=0))


def scale_of_equals(e: float) -> Scale:
    """Scale of two equally likely classes."""
    return Scale(e / 2.0, 1.0 - e)


def seeming_chances(plan: Plan) -> Floats:
    """Chance of every task that it seems to be 1, with two equally likely classes in error."""
    e = plan.common_error
    if e == 0.0:
        return plan.prior
    return np.clip((plan.prior - e / 2.0) / (1.0 - e), 0.0, 1.0)


def seeming_matrices(matrices: Floats, shares: Floats, e: float) -> Floats:
    """Solve A R = M for every matrix M, of shape (workers, classes, classes)."""
    if e == 0.0:
        return matrices
    seems = (1.0 - e) * np.eye(shares.size) + e * np.outer(np.ones(shares.size), shares)
    out = np.maximum(np.linalg.solve(np.broadcast_to(seems, matrices.shape), matrices), LEAST)
    return out / out.sum(axis=2, keepdims=True)


def seeming_prior(prior: Floats, shares: Floats, e: float) -> Floats:
    """Return the prior of the apparent class from that of the true class."""
    if e == 0.0:
        return prior
    B = payoff(shares, e)
    assert B is not None
    out = np.maximum(np.linalg.solve(B, prior), 0.0)
    return out / out.sum()


def payoff(shares: Floats, e: float) -> Floats | None:
    """Return the matrix B: probabilities of the true class given the apparent class."""
    if e == 0.0:
        return None
    out: Floats = (1.0 - e) * np.eye(shares.size) + e * np.outer(shares, np.ones(shares.size))
    return out


def weights_and_scale(seems: Floats, shares: Floats, e: float) -> tuple[Floats, Scale]:
    """Prior and scale of a vote that is worth no less than the set is accurate."""
    if e == 0.0:
        return seems, Scale()
    B = payoff(shares, e)
    assert B is not None
    c = np.where(np.eye(seems.size, dtype=bool), -1.0, B).max(axis=0)
    return np.maximum(0.0, np.diag(B) - c) * seems, Scale(float(c @ seems))
