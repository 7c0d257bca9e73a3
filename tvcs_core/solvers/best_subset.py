"""Certified best subsets: branch and bound for least squares under the caps.

The lower bound of a node comes from the perspective relaxation (`relaxation`), and the projection
makes it valid: it finds the support of the largest gain. Entries that every better support has, or
that none has, are fixed by their reduced costs.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.arguments import check_number, check_type
from tvcs_core.constraint import TVCS
from tvcs_core.engines import one_blas_thread
from tvcs_core.files.display import summary
from tvcs_core.loss import LeastSquares
from tvcs_core.problem import Problem
from tvcs_core.projection.projection import project
from tvcs_core.solvers import solve
from tvcs_core.solvers.relaxation import Relaxation, uniform_split

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]

MAX_ENTRIES = 2000  # the Gram matrix of all entries is stored (32 MB)
# Newton steps: few of many that do; more of them cost what the bounds gain.
BARRIER = 2e-3  # last weight of the barrier of the shares, of the distance to the incumbent
FIRST, FALL = 100.0, 0.4  # its weight at first, times the last one, and its fall at each step
SHARE_STEPS, SPLIT_STEPS = 4, 6  # steps at a node
ROOT_ROUNDS, ROOT_SHARE_STEPS, ROOT_SPLIT_STEPS = 4, 15, 30  # at the first one
FEW = 0.05  # a node is bounded anew if more than this part of its free entries became fixed
ROUNDING = 1e-12  # error of a bound, relative to the loss at zero
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


@one_blas_thread()  # threads would only wait for each other: a node's systems are small
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
    search = _Search(problem, started(problem, start), tol, began + max_seconds)
    reason = "proved"
    while search.is_open:
        if time.perf_counter() > began + max_seconds:
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
    """Entries that must be in the support, those that may be, and the start of their bound."""

    taken: Mask
    free: Mask
    split: Array  # D of the relaxation, 0 where it is unknown
    shares: Array
    chosen: int  # the free entry to decide next


class _Bound(NamedTuple):
    """A lower bound on the loss of the supports of a node, and what gave it."""

    value: float
    kept: Mask
    surplus: Array  # half the gain of every free entry above the prices of its caps
    split: Array
    shares: Array
    worth: Array  # of every free entry in the relaxation


class _Search:
    """The open nodes, the lowest bound first, and the best point so far."""

    def __init__(self, problem: Problem, start: Array, tol: float, until: float) -> None:
        loss, constraint = problem.loss, problem.constraint
        assert isinstance(loss, LeastSquares)
        self._problem, self._tol, self._until = problem, tol, until
        W, q = np.zeros(loss.shape), loss.n_targets
        grams, sides = loss.quadratic_model(W, W, np.arange(W.size // q))
        # In units in which the largest square of a variable is about 1: squares of G are in range.
        unit = np.ldexp(1.0, np.frexp(np.einsum("jj->j", grams[0]).max())[1] // -2)
        self._gram = np.kron(grams[0] * unit * unit, np.eye(q))
        self._side = (sides * unit).T.ravel()
        self._at_zero = loss.value(W)
        self.best, self.objective = start, loss.value(start)
        self.count, self._closed = 0, math.inf
        self._order = itertools.count()
        self._open: list[tuple[float, int, _Node]] = []
        rows, cols = constraint.labels
        self._lines = (rows, constraint.row_caps), (cols, constraint.col_caps)
        nothing = np.zeros(self._side.size, dtype=np.bool_)
        allowed = ~nothing if constraint.allowed is None else constraint.allowed.ravel()
        # A variable that is 0 in all samples is of no use.
        allowed = allowed & (np.einsum("ii->i", self._gram) > 0)
        unknown = np.zeros_like(self._side)
        self._add(nothing, allowed, -math.inf, unknown, unknown)

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
        for taken in (node.taken, node.taken | (node.free & ~rest)):
            self._add(taken, rest, bound, node.split, node.shares)

    @property
    def _cutoff(self) -> float:
        return self.objective * (1 - self._tol) - 2 * ROUNDING * self._at_zero

    def _add(self, taken: Mask, free: Mask, bound: float, split: Array, shares: Array) -> None:
        """Bound a node and open it, unless it cannot hold a better support."""
        self.count += 1
        while True:
            left, free = self._left(taken, free)
            inside = taken | free
            if self._problem.constraint.is_feasible(inside.reshape(left.shape)):
                self._close(max(bound, self._try(inside)))  # nothing is left to decide
                return
            found = self._bounded(taken, free, left, bound, split, shares)
            bound, split, shares = max(bound, found.value), found.split, found.shares
            self._try(taken | found.kept)
            if bound >= self._cutoff:
                self._close(bound)
                return
            # No better support has an entry whose surplus is so far below 0, or lacks one so far
            # above it (reduced costs).
            lacking = self._cutoff - found.value
            out = free & ~found.kept & (-found.surplus >= lacking)
            into = free & found.kept & (found.surplus >= lacking)
            n_fixed, few = np.count_nonzero(out | into), FEW * np.count_nonzero(free)
            if not into.any() and n_fixed <= few:
                break
            taken, free = taken | into, free & ~(out | into)
        free = free & ~out
        # Without the entry of the largest worth the bound rises most.
        chosen = int(np.argmax(np.where(free, found.worth, -1.0)))
        node = _Node(taken, free, split, shares, chosen)
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

    def _bounded(
        self, taken: Mask, free: Mask, left: TVCS, known: float, split: Array, shares: Array
    ) -> _Bound:
        """Return the bound of a node, from D and the shares of its parent."""
        at = np.flatnonzero(free)
        gram, side, value = self._projected_out(np.flatnonzero(taken), at)
        is_first = not split[at].all()
        begin = 0.5 * uniform_split(gram) if is_first else split[at]
        V, new_split, new_shares, worth = (np.zeros_like(self._side) for _ in range(4))
        if not begin.all():  # G is singular: the minimum without caps
            minimiser = np.linalg.lstsq(gram, side)[0]
            worth[at], value = minimiser**2, value - 0.5 * float(side @ minimiser)
            return _Bound(value, np.zeros_like(free), V, new_split, new_shares, worth)
        lines, room = self._binding(left, at)
        start = np.full(at.size, 0.5) if is_first else shares[at]
        relaxed = Relaxation(gram, side, lines, room, begin, start)
        barrier = BARRIER * (self.objective - max(known, 0.0))
        for improve in _steps(relaxed, barrier, is_first):
            improve()
            if time.perf_counter() > self._until:
                break
        V[at], constant = relaxed.tangent()
        new_split[at], new_shares[at] = relaxed.split, relaxed.shares
        worth[at] = relaxed.split * relaxed.minimiser() ** 2
        projection = project(V.reshape(left.shape), left)
        value += constant - 0.5 * (projection.objective + projection.gap)
        surplus = V * V - projection.total_dual
        for (line_of, _), duals in zip(
            self._lines, (projection.row_duals, projection.col_duals), strict=True
        ):
            surplus -= np.append(duals, 0.0)[line_of]
        kept = projection.support.ravel() & free
        return _Bound(value, kept, 0.5 * surplus, new_split, new_shares, worth)

    def _projected_out(self, taken: Ints, free: Ints) -> tuple[Array, Array, float]:
        """Return G and b of the free entries and the loss, all without what the taken explain."""
        gram, side = self._gram[np.ix_(free, free)], self._side[free]
        value = self._at_zero * (1 - ROUNDING)
        if taken.size:
            across = self._gram[np.ix_(taken, free)]
            both = np.column_stack([across, self._side[taken]])
            explained = np.linalg.lstsq(self._gram[np.ix_(taken, taken)], both)[0]
            gram = gram - across.T @ explained[:, :-1]
            side = side - across.T @ explained[:, -1]
            value -= 0.5 * float(self._side[taken] @ explained[:, -1])
        return gram, side, value

    def _binding(self, left: TVCS, at: Ints) -> tuple[Array, Array]:
        """Return masks and caps of the lines that have more of the entries than room."""
        masks, rooms = [np.ones((1, at.size))], [np.array([left.total])]
        for (line_of, _), caps in zip(self._lines, (left.row_caps, left.col_caps), strict=True):
            numbers = np.bincount(line_of[at][line_of[at] >= 0], minlength=caps.size)
            binds = np.flatnonzero(numbers > caps)
            masks.append((line_of[at] == binds[:, None]).astype(np.float64))
            rooms.append(caps[binds])
        lines, room = np.concatenate(masks), np.concatenate(rooms).astype(np.float64)
        return (lines[1:], room[1:]) if left.total >= at.size else (lines, room)

    def _try(self, support: Mask) -> float:
        """Return the loss on a feasible support, and keep it if it is the best one."""
        W = self._problem.minimize_on(support.reshape(self._problem.constraint.shape))
        value = self._problem.loss.value(W)
        if value < self.objective:
            self.best, self.objective = W, value
        return value


def _steps(relaxed: Relaxation, barrier: float, is_first: bool) -> Iterator[Callable[[], None]]:
    """Yield the steps that improve the shares and D of a relaxation by turns."""
    improve_split, improve_shares = relaxed.improve_split, relaxed.improve_shares
    if is_first:
        mu = float(relaxed.split.mean())
        for _ in range(ROOT_SPLIT_STEPS):
            yield partial(improve_split, mu)
            mu = max(0.5 * mu, relaxed.split_barrier)
    for step in range(ROOT_SHARE_STEPS if is_first else SHARE_STEPS):
        yield partial(improve_shares, barrier * max(1.0, FIRST * FALL**step))
    for _ in range(ROOT_ROUNDS if is_first else SPLIT_STEPS):
        yield relaxed.weigh_entries
        for _ in range(ROOT_ROUNDS if is_first else 1):
            yield partial(improve_split, relaxed.split_barrier)
        for _ in range(ROOT_ROUNDS if is_first else 1):
            yield partial(improve_shares, barrier)
