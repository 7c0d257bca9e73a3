"""The restricted master problem of groups by an interior point method: central prices.

An optimal vertex of the linear program over the sets found so far has prices that jump from one
round to the next while there are few sets. Prices near the central path do not, and with 1,000
workers take a tenth of the rounds (the primal-dual column generation method: Gondzio,
Gonzalez-Brevis and Munari 2013). The groups make the normal equations small: without them,
one row per worker is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.search.column_generation import Columns, MasterSolution
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.kernels.records import TaskSets
from crowd_tvcs.search.relaxation import DualBound

MAX_STEPS = 60  # steps of the interior point method, to bound the time
BACK = 0.995  # part of the way to the border of what is positive; a usual value
START = 0.9  # part of every group that its sets share at the start
ROUNDING = 1e-6  # tasks: a set that has fewer is not tried at a vertex
MIN_PRICE = 1e-9  # accuracy: keeps prices at the start above 0 if all gains are
USED = 1e-3  # part of a group: a set that has more takes part in the next program in any case
MET = 1e-5  # part of a limit by which it may be missed


@dataclass(frozen=True, eq=False)
class Program:
    """Maximize gain @ x with matrix @ x <= most (or = in rows that `must`) and x >= 0.

    Attributes
    ----------
    gain
        Gain of every column.
    matrix
        Sparse matrix. Its first rows are the groups, in one of which every column has a 1.
    most
        Limit of every row, above 0.
    must
        Whether the limit of a row must be met; only those of groups.
    group
        Group of every column.
    n_groups
        Number of rows that are groups.
    """

    gain: Floats
    matrix: Any
    most: Floats
    must: Bools
    group: Integers
    n_groups: int


@dataclass(eq=False)
class _Point:
    """Shares, slacks, prices of rows and reduced costs; above 0, but prices of `must` rows."""

    x: Floats
    slack: Floats
    price: Floats
    cost: Floats


def central(
    program: Program, prices: Floats, within: float, deadline: Deadline
) -> tuple[Floats, Floats] | None:
    """Return shares and prices of a point of the program whose gap is at most `within`.

    Starts from prices of the rows that are not groups. None if the method does not get there, for
    instance because the program has no solution, or the deadline struck.
    """
    at = _start(program, prices)
    for _ in range(MAX_STEPS):
        if deadline.has_passed:
            return None
        missing = program.most - program.matrix @ at.x - at.slack
        gap = float(program.most @ at.price - program.gain @ at.x)
        is_met = bool((np.abs(missing) <= MET * program.most).all())
        if is_met and gap <= within:
            return at.x, at.price
        if not np.isfinite(gap):
            return None
        try:
            _move(program, at, missing)
        except np.linalg.LinAlgError:  # far from any solution, there being none
            return None
    return None


def _start(program: Program, prices: Floats) -> _Point:
    """Return a point whose prices leave no column a gain, and whose groups are shared evenly."""
    k, of = program.n_groups, program.group
    rest = program.matrix[k:].T @ prices
    left = program.gain - rest
    value = np.zeros(k)
    np.maximum.at(value, of, left)
    price = np.concatenate([value * 1.001, prices])
    price += 0.01 * (program.gain.mean() + MIN_PRICE)
    cost = program.matrix.T @ price - program.gain
    share = 1.0 / cost
    total = np.bincount(of, share, k)
    x = START * program.most[of] * share / total[of]
    slack = np.maximum(program.most - program.matrix @ x, 0.05 * program.most)
    return _Point(x, np.where(program.must, 0.0, slack), price, cost)


def _move(program: Program, at: _Point, missing: Floats) -> None:
    """Make one step of Mehrotra's predictor and corrector (1992), in place."""
    free, a = ~program.must, program.matrix
    solve = _normal_equations(program, at)
    owed = a.T @ at.price - program.gain - at.cost
    slack_price = np.where(free, at.price, 1.0)

    def step(of_x: Floats, of_slack: Floats) -> tuple[Floats, ...]:
        right = a @ ((of_x - at.x * owed) / at.cost) - missing
        price = solve(right + np.where(free, of_slack / slack_price, 0.0))
        cost = a.T @ price + owed
        x = (of_x - at.x * cost) / at.cost
        return x, np.where(free, (of_slack - at.slack * price) / slack_price, 0.0), price, cost

    x, slack, price, cost = step(-at.x * at.cost, -at.slack * at.price)
    size = at.x.size + int(free.sum())
    mean = float(at.x @ at.cost + at.slack[free] @ at.price[free]) / size
    p, d = _length(at, x, slack, free), _dual_length(at, price, cost, free)
    after = float((at.x + p * x) @ (at.cost + d * cost)) + float(
        (at.slack + p * slack)[free] @ (at.price + d * price)[free]
    )
    aim = mean * (max(0.0, after / size) / mean) ** 3
    x, slack, price, cost = step(
        aim - at.x * at.cost - x * cost, aim - at.slack * at.price - slack * price
    )
    p = BACK * _length(at, x, slack, free)
    d = BACK * _dual_length(at, price, cost, free)
    at.x, at.slack = at.x + p * x, at.slack + p * slack
    at.price, at.cost = at.price + d * price, at.cost + d * cost


def _length(at: _Point, x: Floats, slack: Floats, free: Bools) -> float:
    return min(_until(at.x, x), _until(at.slack[free], slack[free]))


def _dual_length(at: _Point, price: Floats, cost: Floats, free: Bools) -> float:
    return min(_until(at.cost, cost), _until(at.price[free], price[free]))


def _until(value: Floats, change: Floats) -> float:
    """Return the largest step, at most 1, along a change that keeps positive values positive."""
    falls = change < 0.0
    return min(1.0, float((value[falls] / -change[falls]).min(initial=np.inf)))


def _normal_equations(program: Program, at: _Point) -> Any:
    """Return the function that solves (A D A' + S) y = r for y.

    D = x / cost and S = slack / price. Every column is in one group, so the block of groups is
    diagonal: it is eliminated, and a dense Cholesky factor of one row per worker is left.
    """
    from scipy.linalg import cho_factor, cho_solve
    from scipy.sparse import csr_array

    k, of, n = program.n_groups, program.group, at.x.size
    weight = at.x / at.cost
    own = np.where(program.must, 0.0, at.slack / np.where(program.must, 1.0, at.price))
    of_groups = np.bincount(of, weight, k) + own[:k]
    rest = program.matrix[k:]
    weighed = rest * weight[None, :]
    each = csr_array((np.ones(n), (np.arange(n), of)), shape=(n, k))
    between = (weighed @ each).tocsr()
    left = (weighed @ rest.T).toarray() - ((between * (1.0 / of_groups)) @ between.T).toarray()
    left[np.diag_indices_from(left)] += own[k:] + 1e-14 * np.abs(np.diag(left)).max()
    factor = cho_factor(left, lower=True, overwrite_a=True, check_finite=False)

    def solve(right: Floats) -> Floats:
        first = right[:k] / of_groups
        second = cho_solve(factor, right[k:] - between @ first, check_finite=False)
        return np.concatenate([first - (between.T @ second) / of_groups, second])

    return solve


class GroupColumns(Columns):
    """Sets of workers seen so far: the central solution of their program, and the best of them."""

    def best_at(self, prices: Floats) -> TaskSets:
        """Return of every group the set seen that is worth most at some prices, or nobody."""
        sets = self.relaxation.nobody()
        if not len(self):
            return sets
        kind, sizes = np.array(self._kind), np.array([w.size for w in self._workers])
        ends, everybody = np.cumsum(sizes), np.concatenate(self._workers)
        label = prices[: self.relaxation.n_workers] + prices[self.relaxation.n_workers]
        accuracy = np.array(self._accuracy)
        worth = accuracy - np.add.reduceat(label[everybody], ends - sizes)
        order = np.lexsort((-worth, kind))
        best = order[np.append(True, np.diff(kind[order]) != 0)]
        groups = kind[best]
        sets.sizes[groups], sets.accuracy[groups] = sizes[best], accuracy[best]
        place = np.arange(sizes[best].max()) < sizes[best, None]
        at = (ends - sizes)[best, None] + np.arange(place.shape[1])
        rows, columns = np.nonzero(place)
        sets.workers[groups[rows], columns] = everybody[at[place]]
        return sets

    def vertex_master(self, central: MasterSolution, deadline: Deadline) -> MasterSolution | None:
        """Return a vertex of the program over the sets that a central solution takes."""
        return self.solve_master(None, deadline, central.part[central.share > ROUNDING])

    def central_master(
        self, dual: DualBound, within: float, deadline: Deadline
    ) -> MasterSolution | None:
        """Return shares and central prices with a gap of at most `within`; None if that fails."""
        from scipy.sparse import csr_array

        relaxation = self.relaxation
        part = self._worth_trying(dual)
        gain, matrix, most, must = self._program(part)
        k = relaxation.first.size
        weight, rows = most[:k], np.flatnonzero(np.append(np.ones(k, bool), most[k:] > 0.0))
        group = np.array(self._kind)[part]
        if most[-1] <= 0.0 or (np.bincount(group, minlength=k)[must[:k]] == 0).any():
            return None
        # In shares of the groups and of the caps all numbers are near 1.
        scale = csr_array((1.0 / most[rows], (np.arange(rows.size), np.arange(rows.size))))
        scaled = (scale @ matrix[rows]) * weight[group][None, :]
        unit = float(weight.sum() / k)
        program = Program(
            gain * weight[group] / unit, scaled.tocsr(), np.ones(rows.size), must[rows], group, k
        )
        start = np.maximum(dual.prices * most[k:], 1e-6 * unit)[rows[k:] - k] / unit
        found = central(program, start, within / unit, deadline)
        if found is None:
            return None
        share, prices = found[0] * weight[group], np.zeros(most.size - k)
        prices[rows[k:] - k] = found[1][k:] * unit / most[rows[k:]]
        self._used = part[found[0] > USED]
        nobody = relaxation.total(relaxation.candidates.base)
        return MasterSolution(part, share, prices, nobody + float(gain @ share))
