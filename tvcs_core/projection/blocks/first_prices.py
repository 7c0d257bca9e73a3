"""First prices of a V in blocks: from a sample of rows, then by sweeps over rows and columns.

A row lies within one block, so row thresholds are exact. Column thresholds are found by counting:
every block counts its values between given levels and sends a few of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tvcs_core.projection.blocks import kernels
from tvcs_core.projection.blocks.blocked_problem import BlockedProblem
from tvcs_core.projection.blocks.questions import (
    ColumnCounts,
    CountColumns,
    PriceRows,
    RowThresholds,
)
from tvcs_core.projection.exact import CoreBand, solve_dense
from tvcs_core.projection.exact.prices import band_around, width
from tvcs_core.projection.exact.sample import scale_caps
from tvcs_core.projection.kernels import prices
from tvcs_core.projection.kernels.records import Band, Floats, Ints, Prices, Thresholds, TotalPrice

DRAWS_PER_COLUMN = 6  # values that each block sends per column with its counts
POOL_SIZE = 8_192  # sampled values from which the price of the total is computed
MAX_PASSES = 6  # most passes for the thresholds of columns
N_ROUNDS = 2  # sweeps over columns and rows
FIRST_MULTIPLES = (2.5, 1.25, 0.8, 0.4)  # of the cap: ranks of the first levels of a column


class PricedRows(NamedTuple):
    """Result of a sweep over rows: their thresholds, and the price of the total."""

    found: Thresholds
    total: TotalPrice


def first_prices(problem: BlockedProblem) -> CoreBand:
    """Return prices of all groups and the band around them."""
    col_price = sampled_prices(problem)
    rows, cols = price_rows(problem, col_price), None
    for _ in range(N_ROUNDS):
        at = rows.total
        row_price = np.maximum(rows.found.at - at.price, 0.0)
        if cols is None:
            guess = col_price + at.price
            about = levels_from_sample(problem, row_price, guess)
        else:
            guess, about = cols.at, levels_about(cols)
        cols = price_columns(problem, row_price, guess, about)
        col_price = np.maximum(cols.at - at.price, 0.0)
        rows = price_rows(problem, col_price)
    assert cols is not None
    total, low, high = rows.total
    row_price = np.maximum(rows.found.at - total, 0.0)
    row_band = band_around(row_price, total, low, high, rows.found.low, rows.found.high)
    col_band = band_around(col_price, *at, cols.low, cols.high)
    above_total = high - total if total > 0.0 else 0.0
    band = Band(*row_band, *col_band, total - low, above_total)
    return CoreBand(Prices(row_price, col_price, total), band)


def sampled_prices(problem: BlockedProblem) -> Floats:
    """Return prices of the columns from an exact solution of the sample."""
    instance, share = problem.instance, problem.rows.size / problem.shape[0]
    alike = np.argsort(np.einsum("ij,ij->j", problem.sample, problem.sample), kind="stable")
    row_caps, col_caps, _ = instance.caps
    row_caps, col_caps = row_caps[problem.rows], scale_caps(col_caps, share, alike)
    total = max(1, round(instance.capacity * share))
    found = solve_dense(problem.sample, row_caps, col_caps, total, squared=True)
    return found.col_duals


def price_rows(problem: BlockedProblem, col_price: Floats) -> PricedRows:
    """Return thresholds of all rows under the column prices, and the price of the total."""
    capacity = problem.instance.capacity
    step, ranks = max(1, capacity // POOL_SIZE), width(problem.shape[1])
    answers: list[RowThresholds] = problem.ask(lambda c, _: PriceRows(c, col_price, ranks, step))
    found = Thresholds(*(np.concatenate(x) for x in list(zip(*answers, strict=True))[:3]))
    pool = np.concatenate([x.wanted for x in answers])
    ranks = 2 + 3 * int(np.sqrt(capacity // step))
    total = prices.bracket(pool, pool.size, capacity // step, ranks)
    return PricedRows(found, TotalPrice(*total))


class ThresholdBrackets:
    """Brackets of the column thresholds, and the levels to count next.

    Attributes
    ----------
    low, high, above_low, above_high
        Bracketing levels (m,), and the numbers of values above each of them.
    at
        Estimates of the thresholds.
    open
        Columns whose bracket still contains many more values than wanted.
    """

    def __init__(self, caps: Ints, most: int, at: Floats) -> None:
        self.caps, self.at = caps.astype(np.float64), at
        margin, m = float(width(most)), caps.size
        self.most, self.least = self.caps + margin, np.maximum(self.caps - margin, 0.0)
        self.low, self.high = np.zeros(m), np.full(m, 2.0)
        self.above_low, self.above_high = np.full(m, float(most)), np.zeros(m)
        self.open = np.flatnonzero(caps > 0)

    def narrow(self, levels: Floats, answers: list[ColumnCounts]) -> Floats:
        """Narrow the brackets of the counted columns; return the next levels of the open ones."""
        which = self.open
        counts: Ints = np.sum([x.counts for x in answers], axis=0, dtype=np.int64)
        above = counts[:, ::-1].cumsum(axis=1)[:, ::-1].astype(np.float64)
        levels = np.column_stack([levels, self.high[which]])
        above = np.column_stack([above, self.above_high[which]])
        for level, n in zip(levels.T, above.T, strict=True):
            is_low = ((n >= self.most[which]) & (level >= self.low[which])) | (level == 0.0)
            self.low[which[is_low]], self.above_low[which[is_low]] = level[is_low], n[is_low]
            is_high = (n <= self.least[which]) & (level < self.high[which])
            self.high[which[is_high]], self.above_high[which[is_high]] = level[is_high], n[is_high]
        inside = (self.above_low - self.above_high)[which]
        drawn, n_drawn = _drawn(answers)
        error = 0.5 * inside / np.sqrt(1.0 + n_drawn)
        most, least = self.most[which], self.least[which]
        ranks = [most + 2 * error, most + 0.5 * error, self.caps[which] - 0.5]
        ranks += [least - 0.5 * error, least - 2 * error]
        found = np.empty((which.size, 5))
        kernels.values_of_ranks(levels, above, drawn, n_drawn, np.column_stack(ranks), found)
        found = np.clip(found, self.low[which, None], self.high[which, None])
        self.at[which] = found[:, 2]
        is_open = inside > 1.5 * (most - least)
        self.open = which[is_open]
        levels = np.column_stack([self.low[which], np.sort(found[:, [0, 1, 3, 4]], axis=1)])
        return levels[is_open]


def price_columns(
    problem: BlockedProblem, row_price: Floats, guess: Floats, about: Floats
) -> Thresholds:
    """Return thresholds of all columns under the row prices, starting from guesses.

    `about` (m, 4) holds levels about the guesses.
    """
    brackets = ThresholdBrackets(problem.caps.cols, problem.shape[0], guess)
    levels = np.column_stack([np.zeros(guess.size), np.sort(np.maximum(about, 0.0), axis=1)])
    levels = levels[brackets.open]
    for _ in range(MAX_PASSES):
        if brackets.open.size == 0:
            break
        counts = _count(problem, row_price, brackets.open, levels)
        levels = brackets.narrow(levels, counts)
    return Thresholds(brackets.at, brackets.low, brackets.high)


def _count(
    problem: BlockedProblem, row_price: Floats, columns: Ints, levels: Floats
) -> list[ColumnCounts]:
    draws = DRAWS_PER_COLUMN
    return problem.ask(lambda c, rows: CountColumns(c, row_price[rows], columns, levels, draws))


def levels_from_sample(problem: BlockedProblem, row_price: Floats, guess: Floats) -> Floats:
    """Return levels about guessed column thresholds, at distances given by the sample."""
    instance = problem.instance
    gains = np.square(problem.sample)
    beyond = (gains - row_price[problem.rows][:, None] - guess).ravel()
    beyond[::-1].sort()
    share = problem.rows.size / problem.shape[0]
    ranks = float(instance.caps.cols.sum()) * share * np.array(FIRST_MULTIPLES)
    at = np.minimum(ranks.astype(np.int64), beyond.size - 1)
    return guess[:, None] + np.where(ranks < beyond.size, beyond[at], -np.inf)


def levels_about(found: Thresholds) -> Floats:
    """Return levels about thresholds that were found under other row prices."""
    down = found.at - found.low
    up = np.where(found.high < 2.0, found.high - found.at, down)
    return np.column_stack([found.at + x for x in (-2 * down, -0.7 * down, 0.7 * up, 2 * up)])


def _drawn(answers: list[ColumnCounts]) -> tuple[Floats, Ints]:
    """Return the draws of all blocks in proportion to their counts; (m, draws), inf for none."""
    most = np.maximum(np.max([x.seen for x in answers], axis=0), 1)
    slots, parts = np.arange(DRAWS_PER_COLUMN), []
    for x in answers:
        share = np.ceil(np.minimum(x.seen, DRAWS_PER_COLUMN) * (x.seen / most))
        parts.append(np.where(slots < share[:, None], x.drawn, np.inf).astype(np.float64))
    drawn = np.concatenate(parts, axis=1)
    return drawn, np.count_nonzero(np.isfinite(drawn), axis=1)
