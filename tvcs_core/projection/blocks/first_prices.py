"""First prices of a V in blocks: from a sample of rows, then by blocks of rows and of columns.

Rows are whole in their block, so their thresholds are exact. Those of columns are found by
counting: every block says how many values lie between some levels, and sends a few of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tvcs_core.projection.blocks import kernels
from tvcs_core.projection.blocks.questions import CountColumns, Counted, PriceRows, RowBlock
from tvcs_core.projection.blocks.whole import Whole
from tvcs_core.projection.exact import Near, solve_dense
from tvcs_core.projection.exact.prices import band_about, width
from tvcs_core.projection.exact.sample import fewer
from tvcs_core.projection.kernels import prices
from tvcs_core.projection.kernels.records import Band, Floats, Ints, Prices, Thresholds, TotalPrice

DRAWS = 6  # values that each block sends of a column beside its counts
POOL = 8_192  # wanted values by which the price of the total is found
PASSES = 6  # at most, for the thresholds of columns
ROUNDS = 2  # of blocks of columns and of rows
FIRST = (2.5, 1.25, 0.8, 0.4)  # multiples of the cap between which a threshold is sought first


class Rows(NamedTuple):
    """What a block of rows finds: thresholds of rows, and the price of the total."""

    found: Thresholds
    total: TotalPrice


def first_prices(whole: Whole) -> Near:
    """Prices of all groups, and how far from its threshold an entry is near it."""
    col_price = sampled_prices(whole)
    rows, cols = price_rows(whole, col_price), None
    for _ in range(ROUNDS):
        at = rows.total
        row_price = np.maximum(rows.found.at - at.price, 0.0)
        if cols is None:
            guess = col_price + at.price
            about = levels_by_sample(whole, row_price, guess)
        else:
            guess, about = cols.at, levels_about(cols)
        cols = price_columns(whole, row_price, guess, about)
        col_price = np.maximum(cols.at - at.price, 0.0)
        rows = price_rows(whole, col_price)
    assert cols is not None
    total, low, high = rows.total
    row_price = np.maximum(rows.found.at - total, 0.0)
    near_rows = band_about(row_price, total, low, high, rows.found.low, rows.found.high)
    near_cols = band_about(col_price, *at, cols.low, cols.high)
    above_total = high - total if total > 0.0 else 0.0
    band = Band(*near_rows, *near_cols, total - low, above_total)
    return Near(Prices(row_price, col_price, total), band)


def sampled_prices(whole: Whole) -> Floats:
    """Prices of the columns from an exact solution for the sample."""
    i, share = whole.instance, whole.rows.size / whole.shape[0]
    with np.errstate(all="ignore"):  # numbers beyond all floats, of columns that may keep nothing
        alike = np.argsort(np.einsum("ij,ij->j", whole.sample, whole.sample), kind="stable")
    row_caps, col_caps = i.caps.rows[whole.rows], fewer(i.caps.cols, share, alike)
    total = max(1, round(i.fits * share))
    found = solve_dense(whole.sample, row_caps, col_caps, total, squared=True)
    return found.col_duals


def price_rows(whole: Whole, col_price: Floats) -> Rows:
    """Thresholds of all rows under the column prices, and the price of the total."""
    i = whole.instance
    off = np.where(i.closed_col, np.inf, col_price)
    step = max(1, i.fits // POOL)
    wide = width(whole.shape[1])
    answers: list[RowBlock] = whole.ask(lambda ground, _: PriceRows(ground, off, wide, step))
    found = Thresholds(*(np.concatenate(x) for x in list(zip(*answers, strict=True))[:3]))
    pool = np.concatenate([x.wanted for x in answers])
    ranks = 2 + 3 * int(np.sqrt(i.fits // step))
    return Rows(found, TotalPrice(*prices.bracket(pool, pool.size, i.fits // step, ranks)))


class Levels:
    """Between which levels the threshold of every column lies, and where to look next.

    Attributes
    ----------
    low, high, above_low, above_high
        The levels (m,), and how many values are above each, at most and at least.
    at
        Guesses of the thresholds.
    open
        The columns between whose levels lies much more than is wanted.
    """

    def __init__(self, caps: Ints, most: int, at: Floats) -> None:
        self.caps, self.at = caps.astype(np.float64), at
        margin, m = float(width(most)), caps.size
        self.most, self.least = self.caps + margin, np.maximum(self.caps - margin, 0.0)
        self.low, self.high = np.zeros(m), np.full(m, 2.0)
        self.above_low, self.above_high = np.full(m, float(most)), np.zeros(m)
        self.open = np.flatnonzero(caps > 0)

    def take(self, levels: Floats, answers: list[Counted]) -> Floats:
        """Narrow the range of the columns that were asked; return the next levels of those left."""
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
        asked = np.column_stack([self.low[which], np.sort(found[:, [0, 1, 3, 4]], axis=1)])
        return asked[is_open]


def price_columns(whole: Whole, row_price: Floats, guess: Floats, about: Floats) -> Thresholds:
    """Thresholds of all columns under the row prices, found from guesses.

    `about` (m, 4) are levels about the guesses.
    """
    levels = Levels(whole.caps.cols, whole.shape[0], guess)
    asked = np.column_stack([np.zeros(guess.size), np.sort(np.maximum(about, 0.0), axis=1)])
    asked = asked[levels.open]
    for _ in range(PASSES):
        if levels.open.size == 0:
            break
        answers = _count(whole, row_price, levels.open, asked)
        asked = levels.take(asked, answers)
    return Thresholds(levels.at, levels.low, levels.high)


def _count(whole: Whole, row_price: Floats, columns: Ints, levels: Floats) -> list[Counted]:
    return whole.ask(lambda g, rows: CountColumns(g, row_price[rows], columns, levels, DRAWS))


def levels_by_sample(whole: Whole, row_price: Floats, guess: Floats) -> Floats:
    """Levels about guesses of the thresholds of columns, as far off as the sample's values say."""
    i = whole.instance
    gains = np.square(whole.sample)
    beyond = (gains - row_price[whole.rows][:, None] - guess)[:, ~i.closed_col].ravel()
    beyond[::-1].sort()
    ranks = float(i.caps.cols.sum()) * whole.rows.size / whole.shape[0] * np.array(FIRST)
    at = np.minimum(ranks.astype(np.int64), beyond.size - 1)
    return guess[:, None] + np.where(ranks < beyond.size, beyond[at], -np.inf)


def levels_about(found: Thresholds) -> Floats:
    """Levels about thresholds that were found under other prices of the rows."""
    down = found.at - found.low
    up = np.where(found.high < 2.0, found.high - found.at, down)
    return np.column_stack([found.at + x for x in (-2 * down, -0.7 * down, 0.7 * up, 2 * up)])


def _drawn(answers: list[Counted]) -> tuple[Floats, Ints]:
    """The values drawn from all blocks, from each by how many it has; (m, draws), inf for none."""
    most = np.maximum(np.max([x.seen for x in answers], axis=0), 1)
    slots, parts = np.arange(DRAWS), []
    for x in answers:
        share = np.ceil(np.minimum(x.seen, DRAWS) * (x.seen / most))
        parts.append(np.where(slots < share[:, None], x.drawn, np.inf).astype(np.float64))
    drawn = np.concatenate(parts, axis=1)
    return drawn, np.count_nonzero(np.isfinite(drawn), axis=1)
