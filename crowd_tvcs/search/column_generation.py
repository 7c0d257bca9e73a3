"""Column generation: the restricted master problem over sets found so far, and its rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.kernels.records import TaskSets
from crowd_tvcs.search.relaxation import DualBound, Relaxation

KEPT = 6  # sets per task in the LP
MANY = 3_000  # sets in the LP at least, if there are as many
NODES = 500  # of the search for whole numbers


@dataclass(frozen=True, eq=False)
class MasterSolution:
    """A solution of the restricted master problem: the LP over the sets seen so far.

    Attributes
    ----------
    part
        Which of the sets took part.
    share
        How many tasks take each of them; not always whole.
    prices
        Price of every worker's cap, then of the budget, then of the money if there is any.
    optimum
        Sum of the tasks' accuracies.
    """

    part: Integers
    share: Floats
    prices: Floats
    optimum: float


class Columns:
    """Sets of workers seen so far, each once per kind of task, with their expected accuracy."""

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation = relaxation
        self._seen: dict[tuple[int, bytes], int] = {}
        self._kind: list[int] = []
        self._workers: list[Integers] = []
        self._accuracy: list[float] = []
        self._used: Integers = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._kind)

    def add(self, sets: TaskSets) -> int:
        """Remember the sets of the tasks; return how many were new."""
        before = len(self)
        most = sets.workers.shape[1]
        nobody = self.relaxation.n_workers
        is_place = np.arange(most) < sets.sizes[:, None]
        rows = np.sort(np.where(is_place, sets.workers, nobody), axis=1)
        for j, size in enumerate(sets.sizes.tolist()):
            workers = rows[j, :size]
            kind = int(self.relaxation.kind[j])
            key = (kind, workers.tobytes())
            if size and key not in self._seen:
                self._seen[key] = len(self)
                self._kind.append(kind)
                self._workers.append(workers)
                self._accuracy.append(float(sets.accuracy[j]))
        return len(self) - before

    def set_of(self, column: int) -> tuple[int, Integers]:
        """Return the kind of tasks that a set was seen on, and its workers."""
        return self._kind[column], self._workers[column]

    def solve_master(
        self,
        dual: DualBound | None,
        deadline: Deadline,
        only: Integers | None = None,
    ) -> MasterSolution | None:
        """Solve the LP over the sets: how many tasks of a kind take each, prices and optimum.

        Tasks may share themselves among sets (and nobody); caps hold in sum. With all sets there
        are, the optimum would be the best bound that prices can prove. With `dual` only the
        `KEPT` best sets per task at its prices take part, and those of the last solution. Of `only`
        some sets, by their numbers, it is a solution beside, which the next does not start from.
        None if the deadline struck, or if these sets cannot meet all minimums.
        """
        from scipy.optimize import linprog

        relaxation = self.relaxation
        nobody = relaxation.total(relaxation.candidates.base)
        part = self._worth_trying(dual) if only is None else only
        gain, matrix, most, must = self._program(part)
        solved = linprog(
            -gain,
            A_ub=matrix[~must],
            b_ub=most[~must],
            A_eq=matrix[must] if must.any() else None,
            b_eq=most[must] if must.any() else None,
            bounds=(0, None),
            method="highs",
            options={"time_limit": max(0.01, min(deadline.left, 1e6))},
        )
        if solved.status != 0:
            return None
        n_limits = relaxation.rations.limits(relaxation.caps).size
        prices = np.maximum(0.0, -solved.ineqlin.marginals[-n_limits:])
        if only is None:
            self._used = part[solved.x > 0.0]
        return MasterSolution(part, solved.x, prices, float(nobody - solved.fun))

    def solve_whole(self, deadline: Deadline) -> MasterSolution | None:
        """Solve the program over all sets seen in whole numbers, for at most `NODES` nodes.

        None if nothing whole was found.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        part = np.arange(len(self))
        gain, matrix, most, must = self._program(part)
        solved = milp(
            -gain,
            integrality=np.ones(part.size),
            bounds=Bounds(0.0, np.inf),
            constraints=LinearConstraint(matrix, np.where(must, most, -np.inf), most),
            options={"node_limit": NODES, "time_limit": max(0.01, min(deadline.left, 1e6))},
        )
        if solved.x is None:
            return None
        optimum = float(self.relaxation.candidates.base.sum() - solved.fun)
        return MasterSolution(part, np.round(solved.x), np.empty(0), optimum)

    def _program(self, part: Integers) -> tuple[Any, ...]:
        """Return gains, rows and limits of the program over some sets, and which limits are met.

        Rows are the kinds of tasks, the workers, the budget, and the money if there is any.
        """
        from scipy.sparse import csr_array

        relaxation = self.relaxation
        n, n_kinds = relaxation.n_workers, relaxation.first.size
        limits = relaxation.rations.limits(relaxation.caps)
        base = relaxation.candidates.base
        chosen = [self._workers[c] for c in part]
        sizes = np.array([w.size for w in chosen])
        kind = np.array(self._kind)[part]
        at = np.arange(part.size)
        rows = np.concatenate(
            [kind, n_kinds + np.concatenate(chosen), np.full(at.size, n_kinds + n)]
        )
        columns = np.concatenate([at, np.repeat(at, sizes), at])
        entries = np.concatenate([np.ones(at.size + int(sizes.sum())), sizes])
        if relaxation.rations.has_money:
            rows = np.append(rows, np.full(at.size, n_kinds + n + 1))
            columns = np.append(columns, at)
            entries = np.append(entries, self._costs(part))
        matrix = csr_array((entries, (rows, columns)), shape=(n_kinds + limits.size, at.size))
        gain = np.array(self._accuracy)[part] - base[relaxation.first[kind]]
        must = np.append(relaxation.need[relaxation.first] > 0, np.zeros(limits.size, dtype=bool))
        most = np.concatenate([relaxation.tasks_of_kind, limits])
        return gain, matrix, most, must

    def _costs(self, part: Integers) -> Floats:
        """Return the cost of these sets."""
        cost = self.relaxation.rations.cost
        return np.array([cost[self._workers[c]].sum() for c in part.tolist()])

    def _worth_trying(self, dual: DualBound | None) -> Integers:
        everything = np.arange(len(self))
        if dual is None or len(self) <= KEPT * self.relaxation.first.size:
            return everything
        n = self.relaxation.n_workers
        both_prices = dual.prices[:n] + dual.prices[n]
        if self.relaxation.rations.has_money:
            both_prices = both_prices + dual.prices[n + 1] * self.relaxation.rations.cost
        kind = np.array(self._kind)
        sizes = np.array([w.size for w in self._workers])
        cost = np.add.reduceat(both_prices[np.concatenate(self._workers)], np.cumsum(sizes) - sizes)
        order = np.lexsort((cost - np.array(self._accuracy), kind))
        sorted_kind = kind[order]
        rank = everything - np.searchsorted(sorted_kind, sorted_kind)
        best = order[rank < max(KEPT, MANY // self.relaxation.first.size)]
        return np.unique(np.concatenate([best, self._used]))

    def round(self, solution: MasterSolution) -> TaskSets:
        """Assign the tasks their sets of the largest shares while there are room and money."""
        relaxation = self.relaxation
        sets = relaxation.nobody()
        rations, room = relaxation.rations, relaxation.caps.copy()
        money = rations.left(sets.loads(relaxation.n_workers))
        order = np.argsort(relaxation.kind, kind="stable")
        left = np.bincount(relaxation.kind)
        begin = np.cumsum(left) - left
        for c in np.argsort(-solution.share, kind="stable"):
            times = int(solution.share[c] + 0.5)
            if times == 0:
                break
            column = solution.part[c]
            kind, workers = self._kind[column], self._workers[column]
            times = min(times, left[kind], room[-1] // workers.size, room[workers].min())
            if rations.has_money:
                cost = float(rations.cost[workers].sum())
                times = min(times, int(max(0.0, money) // cost)) if cost > 0.0 else times
                money -= times * cost
            tasks = order[begin[kind] : begin[kind] + times]
            sets.workers[tasks, : workers.size] = workers
            sets.sizes[tasks] = workers.size
            sets.accuracy[tasks] = self._accuracy[column]
            begin[kind] += times
            left[kind] -= times
            room[workers] -= times
            room[-1] -= times * workers.size
        return sets
