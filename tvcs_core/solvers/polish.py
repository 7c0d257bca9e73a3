"""Polishing: swaps within the caps from where a solver ended, to a better support.

The loss is replaced by its model of second order at the best point, which is the loss itself for
least squares. Every addition and exchange on the model has a closed form (`kernels.fit`), the best
is made until none lowers it (`kernels.swaps`), and the result counts only if the loss, minimised on
the new support, is lower.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tvcs_core.constraint import TVCS
from tvcs_core.loss.linear import LinearLoss
from tvcs_core.problem import Problem
from tvcs_core.solvers.kernels.fit import Fit, explained
from tvcs_core.solvers.kernels.swaps import (
    Lines,
    best_change,
    fill,
    improve,
    put,
    restore,
    shake,
    take,
)

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_FEATURES = 1024  # swaps are looked for among so many features, those with the steepest slopes
MAX_CELLS = 2**24  # 128 MB: the largest array of a polish, but for the features of the support
TRIPLES = 32  # chains tried when no exchange helps: a limit on their time
RELATIVE = 1e-10  # a change counts if it lowers the loss by more than this part of it,
ROUNDING = 1e-13  # and by more than this part of what is explained: the rounding of its price
DROPPED = 0.4  # part of the support that a shake drops; with .2 fewer optima are found
REFITS = 8  # single changes of a model that are tried on a loss that is not its model


def check_polish(problem: Problem) -> None:
    """Refuse a loss that has no model to swap on, with a TypeError."""
    if not isinstance(problem.loss, LinearLoss):
        raise TypeError(
            "polish needs a loss of a linear model, such as LeastSquares or Logistic, "
            f"found {type(problem.loss).__name__}; give polish=False"
        )


def polished(problem: Problem, W: Array, shakes: int, rng: np.random.Generator) -> Array:
    """Return a feasible array, by swaps within the caps, whose loss is at most that of W.

    Parameters
    ----------
    problem
        A loss of a linear model, and the constraint.
    W
        A feasible start.
    shakes
        Times to drop two fifths of the support at random, and to swap again.
    rng
        Generator of the shakes.
    """
    loss = problem.loss
    assert isinstance(loss, LinearLoss)
    best = _better(problem, W, problem.minimize_on(W != 0))
    is_model = loss.is_quadratic and problem.constraint.bounds is None
    if is_model and (swaps := _Swaps(problem, best)).has_all_features:
        swaps.improve()
        swaps.shake(shakes, rng)
        return _better(problem, best, swaps.minimiser())
    best = _settled(problem, best)
    for _ in range(shakes):
        swaps = _Swaps(problem, best)
        swaps.shake(1, rng)
        best = _better(problem, best, swaps.minimiser())
    return _settled(problem, best) if shakes else best


def _better(problem: Problem, W: Array, other: Array) -> Array:
    """Return `other` if its loss is clearly lower than that of W, else W."""
    lower = problem.loss.value(other) < problem.loss.value(W) * (1 - RELATIVE)
    return other if lower else W


def _settled(problem: Problem, W: Array) -> Array:
    """Swap on the model at W until the loss itself does not fall any more."""
    while True:
        swaps = _Swaps(problem, W)
        swaps.improve()
        better = _better(problem, W, swaps.minimiser())
        if better is W and not swaps.is_model:
            better = swaps.first_better(W)
        if better is W:
            return W
        W = better


class _Swaps:
    """The model at a point and the support, which the kernels change in place."""

    def __init__(self, problem: Problem, W: Array) -> None:
        loss, constraint = problem.loss, problem.constraint
        assert isinstance(loss, LinearLoss)
        self.problem, q = problem, loss.n_targets
        self.is_model = loss.is_quadratic and constraint.bounds is None
        capacity = capacity_of(constraint)
        places = _places(constraint, q, capacity)
        gradient = loss.gradient(W)
        features = _features(loss, W, gradient, capacity)
        self.has_all_features = features.size * q == W.size
        self.entries = (features[:, None] * q + np.arange(q)).ravel()
        self.support = np.flatnonzero(W.ravel()[self.entries])
        self.fit = _fit(*loss.quadratic_model(W, gradient, features), capacity, places)
        self.lines = _lines(constraint, self.entries, capacity)
        self.most = 10 * capacity + 100  # a safeguard against endless loops in rounding
        fill(self.fit, self.lines, self.support)
        self.least = RELATIVE * loss.value(W) + ROUNDING * explained(self.fit)

    def improve(self) -> None:
        """Swap until no swap lowers the model."""
        improve(self.fit, self.lines, self.least, self.most)

    def shake(self, times: int, rng: np.random.Generator) -> None:
        """Drop a part of the support at random and swap again; keep the best of all."""
        best, most = self._kept(), explained(self.fit)
        for _ in range(times if best.size else 0):
            n_dropped = max(2, math.ceil(DROPPED * best.size))
            dropped = rng.permutation(best)[:n_dropped]
            reached = shake(self.fit, self.lines, dropped, self.least, self.most)
            if reached > most + self.least:
                best, most = self._kept(), reached
            else:
                restore(self.fit, self.lines, best)

    def first_better(self, W: Array) -> Array:
        """Return the minimiser after the first single change that lowers the loss itself, or W.

        Changes are tried in the order of the gains that the model promises.
        """
        for _ in range(REFITS):
            restore(self.fit, self.lines, self.support)
            gain, entry, slot = best_change(self.fit, self.lines)
            if gain <= self.least:
                break
            if slot >= 0:
                take(self.fit, self.lines, slot)
            put(self.fit, self.lines, entry)
            if (better := _better(self.problem, W, self.minimiser())) is not W:
                return better
            self.lines.may_enter[entry] = False
        return W

    def minimiser(self) -> Array:
        """Return the minimiser of the loss on the support."""
        support = np.zeros(self.problem.constraint.shape, dtype=np.bool_)
        support.ravel()[self.entries[self._kept()]] = True
        return self.problem.minimize_on(support)

    def _kept(self) -> Ints:
        return np.sort(self.fit.entry[self.fit.entry >= 0])


def capacity_of(constraint: TVCS) -> int:
    """Return an upper bound on the number of entries of a support."""
    sizes = [constraint.total]
    labels = constraint.row_of, constraint.col_of
    for of, caps in zip(labels, (constraint.row_caps, constraint.col_caps), strict=True):
        ungrouped = 0 if of is None else int(np.count_nonzero(of < 0))
        sizes.append(int(caps.sum()) + ungrouped)
    return min(sizes)


def _places(constraint: TVCS, q: int, capacity: int) -> int:
    """Return an upper bound on the entries of a support that are of one target."""
    if q > 1 and constraint.row_of is None:
        return min(capacity, int(constraint.col_caps.max()))
    return min(capacity, math.prod(constraint.shape) // q)


def _features(loss: LinearLoss, W: Array, gradient: Array, capacity: int) -> Ints:
    """Return all features, or those of the support and the most promising others."""
    q = loss.n_targets
    most = min(MAX_FEATURES, MAX_CELLS // max(capacity, 1))
    if not loss.is_quadratic:
        most = min(most, math.isqrt(MAX_CELLS // q))  # every target has a Hessian of its own
    n_features = W.size // q
    if n_features <= most:
        return np.arange(n_features)
    slopes = np.abs(gradient.reshape(n_features, q)).max(axis=1)
    lengths = loss.squared_lengths
    promise = slopes / np.sqrt(np.where(lengths > 0, lengths, np.inf))
    promise[(W.reshape(n_features, q) != 0).any(axis=1)] = np.inf
    most = max(most, int(np.isinf(promise).sum()))
    return np.sort(np.argsort(-promise, kind="stable")[:most])


def _fit(grams: Array, sides: Array, capacity: int, places: int) -> Fit:
    """Return the fit of the empty support.

    In units of each variable in which its own square is about 1: squares of the inverse neither
    overflow nor underflow, and the loss stays what it is.
    """
    q, p = sides.shape
    unit = np.ldexp(1.0, np.frexp(np.einsum("gjj->gj", grams))[1] // -2)
    grams, sides = grams * unit[:, :, None] * unit[:, None, :], sides * unit
    return Fit(
        gram=grams,
        sides=sides,
        entry=np.full(capacity, -1),
        slot_of=np.full(p * q, -1),
        members=np.zeros((q, places), dtype=np.int64),
        counts=np.zeros(q, dtype=np.int64),
        place=np.zeros(capacity, dtype=np.int64),
        inverse=np.zeros((capacity, places)),
        weights=np.zeros((capacity, p)),
        coef=np.zeros(capacity),
        corr=sides.copy(),
        schur=np.array(np.broadcast_to(np.einsum("gjj->gj", grams), (q, p)), order="C"),
        row=np.zeros(p),
        column=np.zeros(places),
    )


def _lines(constraint: TVCS, entries: Ints, capacity: int) -> Lines:
    """Return the lines of the entries, with the whole room of an empty support."""
    row_of, col_of = (
        np.where(of >= 0, of, caps.size)
        for of, caps in zip(constraint.labels_at(entries), constraint.caps[:2], strict=True)
    )
    row_room, col_room = (np.append(caps, entries.size + 1) for caps in constraint.caps[:2])
    allowed = constraint.allowed
    return Lines(
        row_of=row_of,
        col_of=col_of,
        row_room=row_room,
        col_room=col_room,
        total_room=np.array([constraint.total]),
        may_enter=np.full(entries.size, True) if allowed is None else allowed.ravel()[entries],
        of_row=np.zeros(row_room.size + 1 + capacity, dtype=np.int64),
        of_col=np.zeros(col_room.size + 1 + capacity, dtype=np.int64),
        triples=np.zeros((TRIPLES, 3), dtype=np.int64),
        promise=np.zeros(TRIPLES),
    )
