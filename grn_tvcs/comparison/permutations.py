"""Permutations of whole series between two conditions: all of them if there are few."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Level of the global test. In a study of 200 pairs without a difference, at most 1 in 20 should be
# significant; at a level of .05, half of such studies would find more
# (docs/studies/network-compare.md). A smaller level could not be reached with four series a side,
# where the smallest p is 1 / 35.
ALPHA = 0.03
MIN_PERMUTATIONS = math.ceil(1 / ALPHA)  # smallest number with which p can reach `ALPHA`
DEFAULT_PERMUTATIONS = 200  # largest number computed by default, with the observed one
MIN_SERIES = 2  # per condition; a single series gives no permutation distribution

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Permutations:
    """Permutations of series between the conditions, the observed assignment first.

    Attributes
    ----------
    in_first
        Whether a series is in the first condition; (permutations, series).
    possible
        Number of different permutations, with the observed one.
    """

    in_first: Flags
    possible: int

    def p_values(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the fraction of permutations that reach the observed statistic.

        The first axis of `statistics` is that of the permutations.
        """
        slack = 1e-9 * np.abs(statistics[:1])
        return np.asarray((statistics >= statistics[:1] - slack).mean(axis=0))


def count_permutations(n_first: int, n_second: int) -> int:
    """Return the number of ways to divide the series.

    Conditions with equal numbers of series are interchangeable.
    """
    ways = math.comb(n_first + n_second, n_first)
    return ways // 2 if n_first == n_second else ways


def series_needed(n_first: int, n_second: int, alpha: float = ALPHA) -> int:
    """Return the smallest number of series per condition that can reach `alpha`.

    It is at least the larger number of series.
    """
    n = max(n_first, n_second)
    while 1.0 / count_permutations(n, n) > alpha:
        n += 1
    return n


def describe_design(
    names: Sequence[str],
    n_series: Sequence[int],
    permutations: int,
    *,
    fdr: float,
    n_tests: int = 1,
) -> str:
    """Describe the power of so many series and permutations.

    Parameters
    ----------
    names, n_series
        Of both conditions.
    permutations
        Number that are computed, with the observed one.
    fdr
        The false discovery rate that is accepted.
    n_tests
        Number of pairs of conditions that are compared.
    """
    (a, b), (n_a, n_b) = names, n_series
    have = f"{n_a} series of {a} and {n_b} of {b} have {permutations} permutations"
    smallest = f"so the smallest possible p value is {1 / permutations:.2g}"
    if n_tests > 1:
        smallest += f", {min(1.0, n_tests / permutations):.2g} corrected for {n_tests} pairs"
    if n_tests / permutations <= ALPHA:
        return f"{have}, {smallest}."
    needed = series_needed(n_a, n_b, ALPHA / n_tests)
    best = n_tests / permutations
    genes = (
        f"What can be found is genes whose regulation differs, at a false discovery of {best:.2g} "
        "at best."
        if best <= fdr
        else f"Nor can a gene have a false discovery of {fdr:g} or less."
    )
    return (
        f"Too few series for edges: {have}, {smallest}; {needed} series per condition are needed. "
        f"{genes}"
    )


def draw_permutations(
    n_first: int, n_second: int, most: int, rng: np.random.Generator
) -> Permutations:
    """Return all permutations if they are at most `most`, otherwise a random sample of that size.

    The sample is drawn with replacement, as in any Monte Carlo test.
    """
    observed = np.arange(n_first + n_second) < n_first
    possible = count_permutations(n_first, n_second)
    if possible > most:
        drawn = [rng.permutation(observed) for _ in range(most - 1)]
        return Permutations(np.array([observed, *drawn]), possible)
    rows = []
    for chosen in itertools.combinations(range(n_first + n_second), n_first):
        if n_first != n_second or 0 in chosen:
            rows.append(np.isin(np.arange(n_first + n_second), chosen))
    return Permutations(np.array(rows), possible)  # the first combination is the observed one
