"""Price workers by knots of quality, in plain NumPy: where prices are linear between few knots.

The accuracy of a vote is convex in the quality of one voter. So a worker between two knots is worth
at most as much, less a price linear in between, as a voter at one of the knots. The best multiset
of voters at knots bounds all sets of workers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_KNOTS = 64
LINEAR_WITHIN = 1e-12  # accuracy by which a price may be off a line, being rounded

Floats = NDArray[np.float64]


def knots_of(quality: Floats, price: Floats) -> tuple[Floats, Floats] | None:
    """Return qualities of knots and prices there; between knots no worker is cheaper than the line.

    None if prices are not linear between a few knots.
    """
    order = np.lexsort((price, quality))
    q, p = quality[order], price[order]
    is_first = np.append(True, np.diff(q) > 0.0)  # the cheapest of equal workers
    q, p = q[is_first], p[is_first]
    knots, end = [0], 0
    while end < q.size - 1:
        begin = knots[-1]
        end = begin + 1
        while end < q.size - 1 and _off(q[begin : end + 2], p[begin : end + 2]) <= LINEAR_WITHIN:
            end += 1
        knots.append(end)
        if len(knots) > min(MAX_KNOTS, quality.size // 2):
            return None
    return q[knots], p[knots] - LINEAR_WITHIN


def _off(q: Floats, p: Floats) -> float:
    """Return how far prices are from the line between the first and the last."""
    return float(np.abs(np.interp(q, q[[0, -1]], p[[0, -1]]) - p).max())
