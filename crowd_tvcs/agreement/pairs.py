"""Cohen's kappa of every pair of workers, on the tasks that both answered.

Contingency tables of two workers are stored as their nonzero cells, sorted by pair. One sparse
product gives them all, and another one those of a bootstrap draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from crowd_tvcs.agreement.bootstrap import Estimate, draw_tasks, percentiles
from crowd_tvcs.answers.answers import Answers
from crowd_tvcs.arrays import Floats, Integers
from tvcs_core.streams import stream

CHUNK_KAPPAS = 10_000_000  # kappas of draws in memory: 80 MB
CHUNK_NUMBERS = 4_000_000  # numbers of the tables of draws in memory: 32 MB


@dataclass(frozen=True, eq=False)
class WorkerPairs:
    """Pairs of workers and their agreement.

    Attributes
    ----------
    first, second
        Indices of the workers in the answers; sorted, `first` before `second`.
    common
        Number of tasks that both answered.
    agreement
        Share of these with equal labels.
    kappa, low, high
        Cohen's kappa and its interval; nan if undefined, because both always gave the same one
        label, or if no interval was requested.
    mean
        Mean of the defined kappas, weighted by the common tasks.
    left_out
        Number of pairs with fewer common tasks than requested.
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
    """Contingency tables of pairs of workers, cell by cell.

    `incidence` marks the label of each answer, of shape (workers x labels, tasks). A cell has the
    label of the first worker as row, and that of the second as column.
    """

    incidence: sparse.csr_array
    n_classes: int
    first: Integers  # workers of every pair
    second: Integers
    pair: Integers  # of every cell
    row: Integers
    column: Integers
    count: Floats

    @classmethod
    def of(cls, answers: Answers) -> _Tables:
        """Count the tables of all pairs of workers with a common task."""
        n, k = len(answers.workers), len(answers.classes)
        code = answers.worker_of * k + answers.label_of
        shape = (n * k, len(answers.tasks))
        incidence = sparse.csr_array((np.ones(code.size), (code, answers.task_of)), shape=shape)
        both = (incidence @ incidence.T).tocoo()
        row, column = both.row.astype(np.int64), both.col.astype(np.int64)
        upper = np.flatnonzero(row // k < column // k)
        order = upper[np.lexsort((column[upper], row[upper], column[upper] // k, row[upper] // k))]
        row, column, count = row[order], column[order], both.data[order]
        keys, pair = np.unique((row // k) * n + column // k, return_inverse=True)
        return cls(incidence, k, keys // n, keys % n, pair, row, column, count)

    def between(self, start: int, stop: int) -> _Tables:
        """Return the tables of some pairs, counted from `start`."""
        a, b = np.searchsorted(self.pair, [start, stop])
        return self.chosen(np.arange(a, b), slice(start, stop), self.pair[a:b] - start)

    def chosen(self, cells: Integers, pairs: slice | Integers, pair: Integers) -> _Tables:
        """Keep some cells and pairs; `pair` is the new number of the pair of each cell."""
        return _Tables(
            self.incidence, self.n_classes, self.first[pairs], self.second[pairs], pair,
            self.row[cells], self.column[cells], self.count[cells],
        )  # fmt: skip

    @property
    def tasks(self) -> sparse.csr_array:
        """Indicator of the tasks of each cell, of shape (cells, tasks)."""
        return sparse.csr_array(self.incidence[self.row].multiply(self.incidence[self.column]))

    def kappas(self, counts: Floats) -> tuple[Floats, Floats, Floats]:
        """Return common tasks, those with equal labels, and kappa: each (pairs, draws).

        ``kappa = (p_o - p_e) / (1 - p_e)``, of `counts` of shape (cells, draws).
        """
        k, n = self.n_classes, self.first.size
        is_same = self.row % k == self.column % k
        total = _summation(self.pair, n) @ counts
        same = _summation(self.pair[is_same], n) @ counts[is_same]
        rows, columns = (_summation(self.pair * k + s % k, n * k) for s in (self.row, self.column))
        by_chance = (
            ((rows @ counts) * (columns @ counts)).reshape(n, k, counts.shape[1]).sum(axis=1)
        )
        expected = total**2 - by_chance
        out = np.full(expected.shape, np.nan)
        kappa = np.divide(same * total - by_chance, expected, out=out, where=expected > 0.0)
        return total, same, kappa


def _summation(position: Integers, n: int) -> sparse.csr_array:
    """Return the matrix that sums rows by their `position` among n."""
    at = np.arange(position.size)
    return sparse.csr_array((np.ones(position.size), (position, at)), shape=(n, position.size))


def agreement_of_pairs(
    answers: Answers, *, least: int, draws: int, interval: float, seed: int
) -> WorkerPairs:
    """Compute agreement and Cohen's kappa of the pairs with at least `least` common tasks.

    Parameters
    ----------
    answers
        Answers of workers to tasks.
    least
        Fewest common tasks, >= 1.
    draws, interval
        Number of bootstrap draws, 0 for none, and the confidence level.
    seed
        Seed of the draws, the same for all pairs.
    """
    every = _Tables.of(answers)
    enough = np.bincount(every.pair, every.count, minlength=every.first.size) >= least
    cells = np.flatnonzero(enough[every.pair])
    position = np.cumsum(enough) - 1
    tables = every.chosen(cells, np.flatnonzero(enough), position[every.pair[cells]])
    total, same, kappa = (x[:, 0] for x in tables.kappas(tables.count[:, None]))
    low, high, means = _intervals(tables, draws, interval, seed)
    is_known = ~np.isnan(kappa)
    mean = Estimate(None, why="no pair of workers has a kappa")
    if is_known.any():
        value = float(np.average(kappa[is_known], weights=total[is_known]))
        mean = Estimate.of(value, means, interval)
    left_out = int((~enough).sum())
    common = total.astype(np.int64)
    return WorkerPairs(
        tables.first, tables.second, common, same / total, kappa, low, high, mean, left_out
    )


def _intervals(
    tables: _Tables, draws: int, interval: float, seed: int
) -> tuple[Floats, Floats, Floats]:
    """Return the ends of the interval of every kappa, and the weighted mean kappa of every draw.

    Pairs and draws are processed in chunks; all pairs see the same draws.
    """
    n, k, m = tables.first.size, tables.n_classes, tables.incidence.shape[1]
    low, high = np.full((2, n), np.nan)
    sums, weights = np.zeros((2, draws))
    step = max(1, min(CHUNK_KAPPAS // max(draws, 1), CHUNK_NUMBERS // (k * 20)))
    for start in range(0, n if draws else 0, step):
        some = tables.between(start, start + step)
        kappas = np.empty((some.first.size, draws))
        rng, tasks = stream(seed, "kappas"), some.tasks
        width = max(1, CHUNK_NUMBERS // max(m, some.row.size, some.first.size * k))
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
