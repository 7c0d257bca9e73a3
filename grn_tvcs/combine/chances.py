"""From log-odds to chances, by networks whose edges are known.

    p = sigmoid(a + b z),     z the log-odds that the combiner says,

with a and b from networks of the same design: maximum likelihood (Platt, Advances in Large Margin
Classifiers, 1999), drawn to a = 0 and b = 1 as by `PRIOR` networks more. All pairs weigh the same:
a chance is how often pairs like this one are edges, over all networks that may be the user's, and
to weigh networks of few edges up would make edges rarer than they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PRIOR = 1.0
STEPS = 50
LEAST_GAIN, TINY = 1e-4, 1e-6  # of a step, beside what its slope promises; and of its part

Array = NDArray[np.float64]


def calibration(
    logits: Sequence[Array], truths: Sequence[NDArray[np.bool_]]
) -> tuple[float, float]:
    """Find a and b from the log-odds of the pairs of several networks, and which are edges.

    All edges together weigh as much as there are networks. Newton's method; a step that gains too
    little is halved, for from far away whole ones may swing to and fro for ever.
    """
    z = np.concatenate([np.ravel(part) for part in logits])
    true = np.concatenate([np.ravel(part) for part in truths]).astype(float)
    weight = np.full(z.size, len(truths) / max(float(true.sum()), 1.0))
    x = np.column_stack([np.ones_like(z), z])
    middle = np.array([0.0, 1.0])

    def loss(at: Array) -> float:
        off = np.logaddexp(0.0, np.where(true > 0, -1.0, 1.0) * (x @ at))
        return float(weight @ off + PRIOR / 2 * ((at - middle) ** 2).sum())

    at = middle
    for _ in range(STEPS):
        p = chance(x @ at)
        slope = x.T @ (weight * (p - true)) + PRIOR * (at - middle)
        bend = (x * (weight * p * (1 - p))[:, None]).T @ x + PRIOR * np.eye(2)
        step = np.linalg.solve(bend, slope)
        if np.abs(step).max() < 1e-9:
            break
        size, enough = 1.0, LEAST_GAIN * float(slope @ step)
        while size > TINY and loss(at - size * step) > loss(at) - size * enough:
            size /= 2
        at = at - size * step
    return float(at[0]), float(at[1])


def chance(logits: Array) -> Array:
    """The logistic function."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -500, 500))))
