"""Cohen's kappa of every pair of workers, on the tasks that both have answered.

The tables of two workers are kept as their cells that are not 0, sorted by pair; they all come
from one sparse product. Those of a bootstrap draw of tasks are another one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowd_tvcs.agreement.bootstrap import Estimate, draw_tasks, percentiles
from crowd_tvcs.answers.answers import Answers
from tvcs_core.streams import stream

KAPPAS_AT_ONCE = 10_000_000
NUMBERS_AT_ONCE = 4_000_000  # of the tables of some draws

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of workers and how far they agree.

    Attributes
    ----------
    first, second
        Workers, counting those of the answers from 0; sorted, `first` before `second`.
    common
        How many tasks both have answered.
    agreement
        Share of these that both gave the same label.
    kappa, low, high
        Cohen's kappa and its interval; nan where it is not defined, as both always gave one and
        the same label, or where no interval was asked for.
    mean
        Mean of the kappas that are defined, weighted by the tasks in common.
    left_out
        How many more pairs have a task in common, but fewer than asked for.
    """

    first: Integers
    second: Integers
    common: Integers
    agreement: Floats
    kappa: Floats
    low: Floats
    high: Floats
    mean: Estimate
    left_out: int


@dataclass(frozen=True, eq=False)
class _Tables:
    """Tables of pairs of workers, cell by cell.

    `given` says who gave which label to which task, of shape (workers x labels, tasks); a cell is
    what the first worker said, a row of it, and what the second said.
    """

    given: sparse.csr_array
    n_classes: int
    first: Integers  # workers of every pair
    second: Integers
    pair: Integers  # of every cell
    row: Integers
    column: Integers
    count: Floats

    @classmethod
    def of(cls, answers: Answers) -> _Tables:
        """Count the tables of all workers with a task in common."""
        n, k = len(answers.workers), len(answers.classes)
        said = answers.worker_of * k + answers.label_of
        shape = (n * k, len(answers.tasks))
        given = sparse.csr_array((np.ones(said.size), (said, answers.task_of)), shape=shape)
        both = (given @ given.T).tocoo()
        row, column = both.row.astype(np.int64), both.col.astype(np.int64)
        upper = np.flatnonzero(row // k < column // k)
        order = upper[np.lexsort((column[upper], row[upper], column[upper] // k, row[upper] // k))]
        row, column, count = row[order], column[order], both.data[order]
        keys, pair = np.unique((row // k) * n + column // k, return_inverse=True)
        return cls(given, k, keys // n, keys % n, pair, row, column, count)

    def between(self, start: int, stop: int) -> _Tables:
        """The tables of some pairs, counted from `start`."""
        a, b = np.searchsorted(self.pair, [start, stop])
        return self.chosen(np.arange(a, b), slice(start, stop), self.pair[a:b] - start)

    def chosen(self, cells: Integers, pairs: slice | Integers, pair: Integers) -> _Tables:
        """Keep some cells and pairs; `pair` is the new number of the pair of each cell."""
        return _Tables(
            self.given, self.n_classes, self.first[pairs], self.second[pairs], pair,
            self.row[cells], self.column[cells], self.count[cells],
        )  # fmt: skip

    @property
    def tasks(self) -> sparse.csr_array:
        """Which tasks make each cell, of shape (cells, tasks)."""
        return sparse.csr_array(self.given[self.row].multiply(self.given[self.column]))

    def kappas(self, counts: Floats) -> tuple[Floats, Floats, Floats]:
        """Tasks in common, those of them with equal labels, and kappa: each (pairs, draws).

        ``kappa = (p_o - p_e) / (1 - p_e)``, of `counts` of shape (cells, draws).
        """
        k, n = self.n_classes, self.first.size
        is_same = self.row % k == self.column % k
        total = _added(self.pair, n) @ counts
        same = _added(self.pair[is_same], n) @ counts[is_same]
        rows, columns = (_added(self.pair * k + s % k, n * k) for s in (self.row, self.column))
        by_chance = (
            ((rows @ counts) * (columns @ counts)).reshape(n, k, counts.shape[1]).sum(axis=1)
        )
        expected = total**2 - by_chance
        out = np.full(expected.shape, np.nan)
        kappa = np.divide(same * total - by_chance, expected, out=out, where=expected > 0.0)
        return total, same, kappa


def _added(place: Integers, n: int) -> sparse.csr_array:
    """The matrix that adds rows up by their `place` among n."""
    at = np.arange(place.size)
    return sparse.csr_array((np.ones(place.size), (place, at)), shape=(n, place.size))


def agreement_of_pairs(
    answers: Answers, *, least: int, draws: int, interval: float, seed: int
) -> Pairs:
    """Compute agreement and Cohen's kappa of the pairs with at least `least` tasks in common.

    Parameters
    ----------
    answers
        Who answered what.
    least
        Fewest tasks in common, >= 1.
    draws, interval
        Number of draws of tasks, 0 for none, and the share of them that low to high hold.
    seed
        Of the draws, the same for all pairs.
    """
    every = _Tables.of(answers)
    enough = np.bincount(every.pair, every.count, minlength=every.first.size) >= least
    cells = np.flatnonzero(enough[every.pair])
    place = np.cumsum(enough) - 1
    tables = every.chosen(cells, np.flatnonzero(enough), place[every.pair[cells]])
    total, same, kappa = (x[:, 0] for x in tables.kappas(tables.count[:, None]))
    low, high, means = _intervals(tables, draws, interval, seed)
    is_known = ~np.isnan(kappa)
    mean = Estimate(None, why="no pair of workers has a kappa")
    if is_known.any():
        value = float(np.average(kappa[is_known], weights=total[is_known]))
        mean = Estimate.of(value, means, interval)
    left_out = int((~enough).sum())
    common = total.astype(np.int64)
    return Pairs(
        tables.first, tables.second, common, same / total, kappa, low, high, mean, left_out
    )


def _intervals(
    tables: _Tables, draws: int, interval: float, seed: int
) -> tuple[Floats, Floats, Floats]:
    """Ends of the interval of every kappa, and their weighted mean in every draw.

    Some pairs at a time, and of these some draws at a time; all pairs see the same draws.
    """
    n, k, m = tables.first.size, tables.n_classes, tables.given.shape[1]
    low, high = np.full((2, n), np.nan)
    sums, weights = np.zeros((2, draws))
    step = max(1, min(KAPPAS_AT_ONCE // max(draws, 1), NUMBERS_AT_ONCE // (k * 20)))
    for start in range(0, n if draws else 0, step):
        some = tables.between(start, start + step)
        kappas = np.empty((some.first.size, draws))
        rng, tasks = stream(seed, "kappas"), some.tasks
        width = max(1, NUMBERS_AT_ONCE // max(m, some.row.size, some.first.size * k))
        for at in range(0, draws, width):
            part = slice(at, min(at + width, draws))
            times = draw_tasks(part.stop - at, m, rng)
            total, _, kappas[:, part] = some.kappas(tasks @ times.T)
            weight = np.where(np.isnan(kappas[:, part]), 0.0, total)
            sums[part] += (weight * np.nan_to_num(kappas[:, part])).sum(axis=0)
            weights[part] += weight.sum(axis=0)
        low[start : start + step], high[start : start + step] = percentiles(kappas, interval)
    means = np.full(draws, np.nan)
    return low, high, np.divide(sums, weights, out=means, where=weights > 0.0)
