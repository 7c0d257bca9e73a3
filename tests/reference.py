"""Slow twins: the definitions, written so that anyone can see that they are right."""

from itertools import combinations

import numpy as np

from grn_tvcs.evidence.correlation import RankCorrelations
from tvcs_core import TVCS


def gains(V, constraint: TVCS) -> np.ndarray:
    """What keeping each entry is worth: how much nearer to V the best value is than 0."""
    V = np.asarray(V, dtype=float)
    nearest = V if constraint.bounds is None else np.clip(V, *constraint.bounds)
    worth = nearest * (2 * V - nearest)  # V**2 - (V - nearest)**2 without its cancellation
    return worth if constraint.allowed is None else np.where(constraint.allowed, worth, 0.0)


def is_feasible(support, constraint: TVCS) -> bool:
    """Count every group one entry at a time."""
    row_of, col_of = constraint.labels
    rows, cols, total = {}, {}, 0
    for e, keep in enumerate(np.ravel(support)):
        if not keep:
            continue
        if constraint.allowed is not None and not np.ravel(constraint.allowed)[e]:
            return False
        rows[row_of[e]] = rows.get(row_of[e], 0) + 1
        cols[col_of[e]] = cols.get(col_of[e], 0) + 1
        total += 1
    return (
        all(count <= constraint.row_caps[r] for r, count in rows.items() if r >= 0)
        and all(count <= constraint.col_caps[c] for c, count in cols.items() if c >= 0)
        and total <= constraint.total
    )


def best_by_enumeration(V, constraint: TVCS) -> float:
    """Largest gain of any support that keeps the caps; at most 12 variables."""
    worth = gains(V, constraint).ravel()
    assert worth.size <= 12
    best = 0.0
    for size in range(worth.size + 1):
        for chosen in combinations(range(worth.size), size):
            support = np.zeros(worth.size, dtype=bool)
            support[list(chosen)] = True
            if is_feasible(support, constraint):
                best = max(best, float(sum(worth[list(chosen)])))
    return best


def rank_correlation(values) -> np.ndarray:
    """Spearman's correlation of all columns at once; [column, column]."""
    return RankCorrelations(values).of(np.arange(values.shape[1]))
