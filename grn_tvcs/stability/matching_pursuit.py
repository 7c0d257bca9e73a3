"""Gradient matching pursuit on sparse edges, without arrays of all pairs."""

from __future__ import annotations

import math

import numpy as np

from grn_tvcs.stability.edges import Edges, Ints
from grn_tvcs.stability.kernels.covariances import best_of_targets
from grn_tvcs.stability.model import StepLoss
from tvcs_core import TVCS, project

TOLERANCE, MAX_STALLED_STEPS = 1e-6, 5  # relative change and iterations, as in `tvcs_core.solve`


def gradmp(loss: StepLoss, constraint: TVCS, iterations: int) -> Ints:
    """Return the edges of the best iterate of GradMP with a refit.

    The iterates are those of ``tvcs_core.solve(Problem(loss, constraint), "gradmp", refit=True)``,
    which stop at a fixed point or after `MAX_STALLED_STEPS` without progress. Projections only get
    entries that they can keep: the steepest entries of every target, and the edges of the last fit.

    Parameters
    ----------
    loss
        The loss; pairs that may not be edges have gradient 0.
    constraint
        Caps on the rows (targets of an input), one cap on all columns, and one on all edges.
    iterations
        Largest number of iterations.
    """
    W = best = Edges.none(loss.shape)
    least, since = loss.value_of(W), 0
    for _ in range(iterations):
        last = W
        merged = _union(_steepest(loss, last, constraint.doubled), last.places)
        kept = _support(loss.fitted(merged), constraint)
        W = loss.fitted(kept)
        value = loss.value_of(W)
        since += 1
        if value < least:
            best, least, since = W, value, 0
        if _relative_change(W, last) <= TOLERANCE or since >= MAX_STALLED_STEPS:
            break
    return best.places


def _steepest(loss: StepLoss, edges: Edges, constraint: TVCS) -> Ints:
    """Return the support of the projection of the gradient."""
    size = int(constraint.col_caps.max(initial=0))
    if not size:
        return np.empty(0, np.int64)
    steepest = loss.steepest(edges, size)
    kept = _best(steepest, constraint)
    if kept is not None:
        return kept
    if (constraint.row_caps >= loss.shape[1]).all():
        return _projected(steepest, constraint)
    # A row cap may push a target to an input beyond its `size` steepest, so project all pairs.
    support = project(loss.gradient_at(edges), constraint).support
    return np.flatnonzero(np.ascontiguousarray(support.T))


def _support(edges: Edges, constraint: TVCS) -> Ints:
    """Return the edges that the projection onto `constraint` keeps."""
    kept = _best(edges, constraint)
    return _projected(edges, constraint) if kept is None else kept


def _projected(edges: Edges, constraint: TVCS) -> Ints:
    rows, columns = project(edges.matrix, constraint).support.tocoo().coords
    return np.sort(columns.astype(np.int64) * edges.shape[0] + rows)


def _best(edges: Edges, constraint: TVCS) -> Ints | None:
    """Project in closed form: keep the best edges of every target, and of these the best in all.

    None if that violates a row cap, or if ties at a cap must be broken.
    """
    size = int(constraint.col_caps.max(initial=0))  # one for all targets
    if not (size and constraint.total):
        return np.empty(0, np.int64)
    keep = np.empty(edges.places.size, np.bool_)
    if best_of_targets(edges.lists, size, keep):
        return None
    kept, weights = edges.places[keep], np.abs(edges.weights[keep])
    beyond = kept.size - constraint.total
    if beyond > 0:
        falling = np.partition(weights, (beyond - 1, beyond))
        if falling[beyond - 1] == falling[beyond]:
            return None
        kept = kept[weights >= falling[beyond]]
    loads = np.bincount(kept % edges.shape[0], minlength=edges.shape[0])
    return kept if (loads <= constraint.row_caps).all() else None


def _union(one: Ints, two: Ints) -> Ints:
    """Return the sorted union of two increasing arrays."""
    both = np.sort(np.concatenate([one, two]), kind="stable")
    return both[np.diff(both, prepend=-1) > 0]


def _relative_change(W: Edges, last: Edges) -> float:
    places = _union(W.places, last.places)
    change = np.zeros(places.size)
    change[np.searchsorted(places, W.places)] = W.weights
    change[np.searchsorted(places, last.places)] -= last.weights
    size = float(np.linalg.norm(W.weights))
    moved = float(np.linalg.norm(change))
    return moved / size if size else math.inf if moved else 0.0
