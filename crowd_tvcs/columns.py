"""Column generation: the best mixture of sets found so far, its prices and what it rounds to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.pricing import Choice, Market


class Columns:
    """Sets of workers seen so far, each once, with the task and its expected accuracy."""

    def __init__(self, market: Market) -> None:
        self.market = market
        self._seen: dict[tuple[int, bytes], int] = {}
        self._task: list[int] = []
        self._workers: list[NDArray[np.int64]] = []
        self._accuracy: list[float] = []

    def __len__(self) -> int:
        return len(self._task)

    def add(self, choice: Choice) -> int:
        """Remember the sets of a choice; returns how many were new."""
        before = len(self)
        for j, (row, size) in enumerate(zip(choice.sets, choice.sizes.tolist(), strict=True)):
            if size == 0:
                continue
            workers = np.sort(row[:size])
            key = (j, workers.tobytes())
            if key not in self._seen:
                self._seen[key] = len(self._task)
                self._task.append(j)
                self._workers.append(workers)
                self._accuracy.append(float(choice.accuracy[j]))
        return len(self) - before

    def mix(self) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Solve the LP over all sets: shares of the sets, prices of the caps and the optimum.

        A task may share itself among sets (and nobody); caps hold in sum. Prices are one per
        worker and then the budget's. With all sets there are, the optimum would be the best bound
        that prices can prove.
        """
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        market = self.market
        n, m = market.n_workers, market.n_tasks
        base = market.offers[4]
        sizes = np.array([w.size for w in self._workers])
        task = np.array(self._task)
        columns = np.arange(len(self))
        rows = np.concatenate([task, m + np.concatenate(self._workers), np.full(len(self), m + n)])
        at = np.concatenate([columns, np.repeat(columns, sizes), columns])
        entries = np.concatenate([np.ones(len(self) + int(sizes.sum())), sizes])
        matrix = csr_array((entries, (rows, at)), shape=(m + n + 1, len(self)))
        gain = np.array(self._accuracy) - base[task]
        limits = np.concatenate([np.ones(m), market.caps])
        solved = linprog(-gain, A_ub=matrix, b_ub=limits, bounds=(0, None), method="highs")
        if solved.x is None:
            raise RuntimeError(f"the LP over {len(self)} sets was not solved: {solved.message}")
        prices = np.maximum(0.0, -solved.ineqlin.marginals[m:])
        return solved.x, prices, float(base.sum() - solved.fun)

    def round(self, share: NDArray[np.float64]) -> Choice:
        """Give the tasks their sets of a share over one half while there is room, largest first."""
        choice = Choice.nobody(self.market)
        room = self.market.caps.copy()
        likely = np.flatnonzero(share > 0.5)
        for c in likely[np.argsort(-share[likely], kind="stable")]:
            j, workers = self._task[c], self._workers[c]
            if room[-1] >= workers.size and (room[workers] > 0).all():
                choice.sets[j, : workers.size] = workers
                choice.sizes[j] = workers.size
                choice.accuracy[j] = self._accuracy[c]
                room[workers] -= 1
                room[-1] -= workers.size
        return choice
