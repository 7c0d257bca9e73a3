"""Certified best subsets: branch and bound for least squares under the caps.

The lower bound of a node comes from the projection. With a diagonal D such that G - D is positive
semidefinite, the convex part of the loss lies above its tangent at any v, so every feasible W has

    loss(W) >= loss(0) - 1/2 v'(G - D)v - 1/2 max over supports S of sum over S of r_i^2 / d_i

with ``r = b - (G - D) v``, and the maximum is a projection. The point v moves towards the minimiser
that the projection selects (Frank and Wolfe 1956), which raises the bound. At ``v = G^-1 b`` it is
at least the loss without caps, the bound of leaps and bounds (Furnival and Wilson 1974).
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.arguments import check_number, check_type
from tvcs_core.constraint import TVCS
from tvcs_core.files.display import summary
from tvcs_core.loss import LeastSquares
from tvcs_core.problem import Problem
from tvcs_core.projection.projection import project
from tvcs_core.solvers import solve

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]

MAX_ENTRIES = 2000  # the Gram matrix of all entries is stored (32 MB)
STEPS = 30  # moves of the tangent point per node: a limit on their time
WORTH = 1e-3  # a move must raise the bound by this part of the distance to the incumbent
PATIENCE = 5  # moves that may fail to raise the bound, since the support changes along the way
FEW = 0.05  # a node is bounded anew if more than this part of its free entries became fixed
ROUNDING = 1e-12  # error of a bound, relative to the loss at zero
SHRINK = 1 - 1e-9  # D is so much smaller than the largest one, against rounding
SMALLEST = 1e-10  # least eigenvalue, of G with a unit diagonal, that counts as positive
START_SHAKES = 50  # shakes for the first incumbent: few milliseconds beside the proof


@dataclass(frozen=True, eq=False)
class BestSubset:
    """The best support that was found, and how much better another one can be.

    Attributes
    ----------
    matrix
        The minimiser of the loss on the support.
    support
        Mask of its nonzero entries.
    objective
        Its loss.
    bound
        Lower bound on the loss of every feasible array.
    nodes
        Number of nodes that were bounded.
    reason
        Reason to stop: ``"proved"``, ``"max_seconds"`` or ``"max_nodes"``.
    """

    matrix: Array = field(repr=False)
    support: Mask = field(repr=False)
    objective: float
    bound: float
    nodes: int
    reason: str

    __repr__ = summary

    @property
    def gap(self) -> float:
        """Upper bound on how much lower the loss of another support can be."""
        return max(0.0, self.objective - self.bound)


def best_subset(
    problem: Problem,
    *,
    tol: float = 1e-6,
    max_seconds: float = 60.0,
    max_nodes: int | None = None,
    start: Array | None = None,
) -> BestSubset:
    """Minimise least squares under the caps, and prove it.

    Branch and bound over the entries, with lower bounds from the projection. Without a ridge the
    bounds are weak where X has fewer samples than variables, or nearly dependent columns.

    Parameters
    ----------
    problem
        A `LeastSquares` loss, and the constraint.
    tol
        Stop when no support can lower the loss by more than this part of it.
    max_seconds
        Stop after about so many seconds; the result depends on the machine then.
    max_nodes
        Stop after so many nodes; None for no limit.
    start
        Starting point of the search for a good support; zero by default.

    Raises
    ------
    ValueError, TypeError
        If the loss is not `LeastSquares`, the problem has more than 2000 entries, or an argument is
        out of range.

    Examples
    --------
    >>> from tvcs_core import TVCS, LeastSquares, Problem, best_subset
    >>> loss = LeastSquares([[2, 0], [0, 1], [1, 1]], [4, 3, 2])
    >>> found = best_subset(Problem(loss, TVCS.groups([0, 0], None, total=1)))
    >>> found.support.tolist(), found.reason
    ([True, False], 'proved')
    """
    began = time.perf_counter()
    check_type("problem", problem, Problem)
    if not isinstance(problem.loss, LeastSquares):
        raise TypeError(
            f"best_subset needs the loss LeastSquares, found {type(problem.loss).__name__}; "
            "solve(..., polish=True) takes other losses, without a proof"
        )
    size = math.prod(problem.constraint.shape)
    if size > MAX_ENTRIES:
        raise ValueError(
            f"best_subset takes at most {MAX_ENTRIES} entries, found {size}; "
            "select some beforehand, or use solve(..., polish=True), without a proof"
        )
    for name, value in {"tol": tol, "max_seconds": max_seconds}.items():
        check_number(name, value, least=0)
    if max_nodes is not None:
        check_number("max_nodes", max_nodes, whole=True, least=0)
    search = _Search(problem, started(problem, start), tol)
    reason = "proved"
    while search.is_open:
        if time.perf_counter() - began > max_seconds:
            reason = "max_seconds"
        elif max_nodes is not None and search.count >= max_nodes:
            reason = "max_nodes"
        else:
            search.branch()
            continue
        break
    W = search.best
    return BestSubset(W, W != 0, search.objective, search.bound, search.count, reason)


def started(problem: Problem, start: Array | None) -> Array:
    """Return a good feasible point."""
    options: dict[str, Any] = {"rng": 0, "polish": True, "shakes": START_SHAKES}
    return solve(problem, "htp", start=start, **options).matrix


class _Node(NamedTuple):
    """Entries that must be in the support, those that may be, and the point of their bound."""

    taken: Mask
    free: Mask
    tangent: Array  # v, 0 outside these entries
    chosen: int  # the free entry to decide next


class _Bound(NamedTuple):
    """A lower bound on the loss of the supports of a node, and the projection that gave it."""

    value: float
    tangent: Array
    kept: Mask
    surplus: Array  # half the gain of every free entry above the prices of its caps


class _Search:
    """The open nodes, the lowest bound first, and the best point so far."""

    def __init__(self, problem: Problem, start: Array, tol: float) -> None:
        loss, constraint = problem.loss, problem.constraint
        assert isinstance(loss, LeastSquares)
        self._problem, self._tol = problem, tol
        W, q = np.zeros(loss.shape), loss.n_targets
        grams, sides = loss.quadratic_model(W, W, np.arange(W.size // q))
        self._gram = np.kron(grams[0], np.eye(q))
        self._side = sides.T.ravel()
        self._at_zero = loss.value(W)
        self.best, self.objective = start, loss.value(start)
        self.count, self._closed = 0, math.inf
        self._order = itertools.count()
        self._open: list[tuple[float, int, _Node]] = []
        rows, cols = constraint.labels
        self._lines = (rows, constraint.row_caps), (cols, constraint.col_caps)
        nothing = np.zeros(self._side.size, dtype=np.bool_)
        allowed = ~nothing if constraint.allowed is None else constraint.allowed.ravel()
        self._add(nothing, allowed, -math.inf, np.zeros_like(self._side))

    @property
    def is_open(self) -> bool:
        """Whether a node may hold a better support."""
        return bool(self._open) and self._open[0][0] < self._cutoff

    @property
    def bound(self) -> float:
        """Lower bound on the loss of every feasible array."""
        least = self._open[0][0] if self._open else math.inf
        return min(self.objective, self._closed, least)

    def branch(self) -> None:
        """Decide an entry of the node with the lowest bound: out of the support, or in it."""
        bound, _, node = heapq.heappop(self._open)
        rest = node.free.copy()
        rest[node.chosen] = False
        self._add(node.taken, rest, bound, node.tangent)
        self._add(node.taken | (node.free & ~rest), rest, bound, node.tangent)

    @property
    def _cutoff(self) -> float:
        return self.objective * (1 - self._tol) - 2 * ROUNDING * self._at_zero

    def _add(self, taken: Mask, free: Mask, bound: float, tangent: Array) -> None:
        """Bound a node and open it, unless it cannot hold a better support."""
        self.count += 1
        while True:
            left, free = self._left(taken, free)
            inside = taken | free
            if self._problem.constraint.is_feasible(inside.reshape(left.shape)):
                self._close(max(bound, self._try(inside)))  # nothing is left to decide
                return
            at = np.flatnonzero(inside)
            relaxed = _Relaxation(self._gram[np.ix_(at, at)], self._side[at])
            found = self._raised(relaxed, at, free, left, tangent)
            bound = max(bound, found.value)
            self._try(taken | found.kept)
            if bound >= self._cutoff:
                self._close(bound)
                return
            tangent = found.tangent
            # No better support has an entry whose surplus is so far below 0, or lacks one so far
            # above it (reduced costs).
            lacking = self._cutoff - found.value
            out = free & ~found.kept & (-found.surplus >= lacking)
            into = free & found.kept & (found.surplus >= lacking)
            fixed = out | into
            if np.count_nonzero(fixed) <= FEW * np.count_nonzero(free):
                break
            taken, free = taken | into, free & ~fixed
        prices = np.full(free.size, -1.0)
        prices[at] = np.where(free[at], relaxed.prices, -1.0)
        node = _Node(taken, free, tangent, int(np.argmax(prices)))
        heapq.heappush(self._open, (bound, next(self._order), node))

    def _close(self, bound: float) -> None:
        self._closed = min(self._closed, bound)

    def _left(self, taken: Mask, free: Mask) -> tuple[TVCS, Mask]:
        """Return the caps that the taken entries leave, and the free entries that have room."""
        constraint, rooms = self._problem.constraint, []
        room = constraint.total - int(np.count_nonzero(taken))
        for line_of, caps in self._lines:
            used = np.bincount(line_of[taken & (line_of >= 0)], minlength=caps.size)
            rooms.append(caps - used)
            free = free & (room > 0) & (np.append(rooms[-1], 1)[line_of] > 0)
        left: dict[str, Any] = {"row_caps": rooms[0], "col_caps": rooms[1], "total": room}
        return replace(constraint, **left, allowed=None, bounds=None), free

    def _raised(
        self, relaxed: _Relaxation, at: Ints, free: Mask, left: TVCS, tangent: Array
    ) -> _Bound:
        """Return the highest bound of the points on the way from the best start."""
        if not relaxed.is_definite:
            nothing = np.zeros_like(free)
            value = self._at_zero * (1 - ROUNDING) + relaxed.value
            return _Bound(value, np.zeros_like(self._side), nothing, np.zeros_like(self._side))
        starts = [
            self._bounded(relaxed, at, free, left, v) for v in (relaxed.minimiser, tangent[at])
        ]
        best = last = max(starts, key=lambda bound: bound.value)
        for step in range(STEPS):
            if best.value >= self._cutoff:
                break
            last = self._bounded(
                relaxed, at, free, left, relaxed.moved(last.tangent[at], last.kept[at])
            )
            if last.value > best.value:
                worth = WORTH * (self.objective - best.value)
                is_slow, best = last.value - best.value < worth, last
                if is_slow:
                    break
            elif step > PATIENCE:
                break
        return best

    def _bounded(self, relaxed: _Relaxation, at: Ints, free: Mask, left: TVCS, v: Array) -> _Bound:
        """Return the bound of the tangent at v."""
        V, tangent = np.zeros_like(self._side), np.zeros_like(self._side)
        r, tangent[at] = relaxed.residual(v), v
        V[at] = r * relaxed.roots
        taken = float(np.square(V[at][~free[at]]).sum())
        V[~free] = 0.0
        projection = project(V.reshape(left.shape), left)
        most = taken + projection.objective + projection.gap
        value = self._at_zero * (1 - ROUNDING) + relaxed.at(v, r) - 0.5 * most
        surplus = V * V - projection.total_dual
        for (line_of, _), duals in zip(
            self._lines, (projection.row_duals, projection.col_duals), strict=True
        ):
            surplus -= np.append(duals, 0.0)[line_of]
        kept = projection.support.ravel() & free
        kept[at] |= ~free[at]
        return _Bound(value, tangent, kept, 0.5 * surplus)

    def _try(self, support: Mask) -> float:
        """Return the loss on a feasible support, and keep it if it is the best one."""
        W = self._problem.minimize_on(support.reshape(self._problem.constraint.shape))
        value = self._problem.loss.value(W)
        if value < self.objective:
            self.best, self.objective = W, value
        return value


class _Relaxation:
    """The quadratic ``1/2 w'Gw - b'w`` of some entries, without caps."""

    def __init__(self, gram: Array, side: Array) -> None:
        self._side, diagonal = side, np.einsum("ii->i", gram)
        scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        least = float(np.linalg.eigvalsh(gram * scale[:, None] * scale)[0]) if side.size else 0.0
        self.is_definite = least > SMALLEST
        if self.is_definite:
            d = SHRINK * least * diagonal
            self._convex = gram - np.diag(d)
            self.roots = 1 / np.sqrt(d)
            inverse = np.linalg.inv(gram)
            self.minimiser = inverse @ side
            self.prices = self.minimiser**2 / np.einsum("ii->i", inverse)
        else:
            self.minimiser = np.linalg.lstsq(gram, side)[0].astype(np.float64)
            self.prices = self.minimiser**2
        self.value = -0.5 * float(side @ self.minimiser)

    def residual(self, v: Array) -> Array:
        """Return ``b - (G - D) v``."""
        return self._side - self._convex @ v

    def at(self, v: Array, r: Array) -> float:
        """Return ``-1/2 v'(G - D)v``, given the residual r."""
        return -0.5 * float(v @ (self._side - r))

    def moved(self, v: Array, kept: Mask) -> Array:
        """Return the best point between v and the minimiser on the support, were it to stay."""
        r = self.residual(v)
        direction = np.where(kept, r * self.roots**2, 0.0) - v
        along = self._convex @ direction
        curvature = float(direction @ along)
        bend = float(np.square(along * self.roots)[kept].sum())
        return v + curvature / (curvature + bend) * direction if curvature > 0 else v
