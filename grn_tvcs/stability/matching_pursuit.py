"""Gradient matching pursuit on lists of edges: no array of all pairs is made."""

from __future__ import annotations

import math

import numpy as np

from grn_tvcs.stability.edges import Edges, Ints
from grn_tvcs.stability.model import StepLoss
from tvcs_core import TVCS, project

TOLERANCE, PATIENCE = 1e-6, 5  # as `tvcs_core.solve` has them


def gradmp(loss: StepLoss, constraint: TVCS, iterations: int) -> Ints:
    """Places of the edges of the best iterate of GradMP with a refit.

    The iterates are those of ``tvcs_core.solve(Problem(loss, constraint), "gradmp", refit=True)``,
    which end where two agree or none was better for a while. Only what a projection can keep is
    handed to it: the few steepest entries of every target, and the edges of the last fit.

    Parameters
    ----------
    loss
        The loss, in which pairs that may not be edges have a slope of 0.
    constraint
        Caps on the rows (targets of an input), the columns and all.
    iterations
        Most of them to make.
    """
    W = best = Edges.none(loss.shape)
    least, since = loss.value_of(W), 0
    for _ in range(iterations):
        last = W
        merged = np.union1d(_steepest(loss, last, constraint.doubled), last.places)
        kept = _support(loss.fitted(merged), constraint)
        W = loss.fitted(kept)
        value = loss.value_of(W)
        since += 1
        if value < least:
            best, least, since = W, value, 0
        if _relative_change(W, last) <= TOLERANCE or since >= PATIENCE:
            break
    return best.places


def _steepest(loss: StepLoss, edges: Edges, constraint: TVCS) -> Ints:
    """Support of the projection of the gradient."""
    size = int(constraint.col_caps.max(initial=0))
    if not size:
        return np.empty(0, np.int64)
    if (constraint.row_caps < loss.shape[1]).any():  # the best of a target may be refused
        support = project(loss.gradient_at(edges), constraint).support
        return np.flatnonzero(np.ascontiguousarray(support.T))
    return _support(loss.steepest(edges, size), constraint)


def _support(edges: Edges, constraint: TVCS) -> Ints:
    """Places of the edges that the projection onto `constraint` keeps."""
    rows, columns = project(edges.matrix, constraint).support.tocoo().coords
    return np.sort(columns.astype(np.int64) * edges.shape[0] + rows)


def _relative_change(W: Edges, last: Edges) -> float:
    places = np.union1d(W.places, last.places)
    change = np.zeros(places.size)
    change[np.searchsorted(places, W.places)] = W.weights
    change[np.searchsorted(places, last.places)] -= last.weights
    size = float(np.linalg.norm(W.weights))
    moved = float(np.linalg.norm(change))
    return moved / size if size else math.inf if moved else 0.0
