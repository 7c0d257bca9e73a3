"""Exchanges of whole series between two conditions: all of them where they are few."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Chance that series of no difference are said to differ. 19 of 20 pairs without one are to stay
# without one also in a study of 200 pairs, which at .05 itself every other would not show. Less
# would take the test from four series a side, whose smallest p is 1 / 35.
ALPHA = 0.03
LEAST = math.ceil(1 / ALPHA)  # exchanges with which any p can be so small
MOST = 200  # exchanges that are done, what was measured among them, unless told otherwise
FEWEST_SERIES = 2  # a side; with one nothing can be told from chance

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Exchanges:
    """Which series are in the first condition, what was measured first; (exchanges, series).

    Attributes
    ----------
    in_first
        A row for each exchange.
    possible
        How many different ones there are, what was measured among them.
    """

    in_first: Flags
    possible: int

    @property
    def least_p(self) -> float:
        """The smallest p value that these can give."""
        return 1.0 / len(self.in_first)

    def p_values(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Share of the exchanges that reach what was measured; the first axis is that of these."""
        slack = 1e-9 * np.abs(statistics[:1])
        return np.asarray((statistics >= statistics[:1] - slack).mean(axis=0))


def n_possible(n_first: int, n_second: int) -> int:
    """How many ways there are to part the series; names of the conditions do not matter."""
    ways = math.comb(n_first + n_second, n_first)
    return ways // 2 if n_first == n_second else ways


def series_needed(n_first: int, n_second: int, alpha: float = ALPHA) -> int:
    """The least number of series, the same on both sides, with which `alpha` can be reached.

    No side gets fewer than it has.
    """
    n = max(n_first, n_second)
    while 1.0 / n_possible(n, n) > alpha:
        n += 1
    return n


def draw_exchanges(n_first: int, n_second: int, most: int, rng: np.random.Generator) -> Exchanges:
    """Return all exchanges if they are at most `most`, else so many that are drawn.

    Those that are drawn may come twice, as in any Monte Carlo test.
    """
    measured = np.arange(n_first + n_second) < n_first
    possible = n_possible(n_first, n_second)
    if possible > most:
        drawn = [rng.permutation(measured) for _ in range(most - 1)]
        return Exchanges(np.array([measured, *drawn]), possible)
    rows = []
    for chosen in itertools.combinations(range(n_first + n_second), n_first):
        if n_first != n_second or 0 in chosen:
            rows.append(np.isin(np.arange(n_first + n_second), chosen))
    return Exchanges(np.array(rows), possible)  # combinations begin with the first series
