"""Which way to take: the simplex on a core, or the scan (docs/method.md has the reasons)."""

import numpy as np

from tvcs_core.files.memory import available_memory
from tvcs_core.projection.exact.candidates import SCANNED, Instance
from tvcs_core.projection.exact.network import CoreNetwork
from tvcs_core.projection.exact.prices import Near, full_blocks, imbalance, no_prices, width

# Widths of the bands that loads may be off by earlier prices (see `misfit`).
USABLE = 0.45  # for a core about them
CLOSE = 1.2  # for blocks to begin with them and not with those of a sample
AT_ALL = 3.5  # for blocks to begin with them
SHORT = 50  # of what was kept, as 1 in so many: what a core about them may leave out at first
FEW_LEFT = 3  # phases after blocks that began with nothing, up to which these are as good
LARGEST = 20_000_000  # entries up to which it may come at all
LARGE = 4_000_000  # entries from which on a pivot takes as long as several do of smaller tables
EQUAL = 1_000_000  # entries from which on the scan comes to long lines too that are each of a value
LONGEST = 100  # times the shorter side, beyond which lines are too long for the scan
PIVOTS = 6.0  # of each node and entry of the core, from which on the scan takes over
FEWER = 3.0  # of these where lines are long: where first prices are bad they are many times as many
FEWEST = 1.0  # of these in large tables
AMONG_TIES = 4  # entries of smaller ones with ties for each pivot: the scan takes about as long
FAR = 200  # of what fits, as 1 in so many, is missing in equal lines: the scan begins at once
BYTES = 16  # of both tables of the scan, by entry


def may_scan(i: Instance) -> bool:
    """Whether the scan can take this instance: dense, few ties in long lines, memory for it."""
    size = i.candidates.values.size
    if not i.is_filled or size > LARGEST or max(i.shape) > LONGEST * min(i.shape):
        return False
    if i.has_ties and i.has_long_lines and not (i.has_equal_lines and size >= EQUAL):
        return False
    have = available_memory() if size > SCANNED else None
    return have is None or BYTES * size < have


def begins_with_scan(i: Instance) -> bool:
    """Whether the scan is likely to be faster than the simplex from the start."""
    suits_simplex = i.has_equal_lines and i.fits == i.caps.total
    return i.is_scanned and not suits_simplex and may_scan(i)


def misfit(i: Instance, near: Near) -> float:
    """By how many widths of the bands the loads are off that prices of an earlier result give."""
    return imbalance(i, near.prices) / width(max(i.shape))


def block_prices(i: Instance, earlier: Near | None = None) -> Near:
    """First prices for the scan: one block of each side, beginning with those of an earlier one."""
    (n, m), size = i.shape, i.candidates.values.size
    guess = no_prices(n, m) if earlier is None else earlier.prices
    return full_blocks(i, guess, rows_first=n > m, count=2, sampled=size)


def pivot_budget(i: Instance, network: CoreNetwork, missing: int = 0) -> int:
    """Pivots after which the scan from the first prices is expected to have been done.

    `missing` entries are not in the network's support that all caps have room for.
    """
    size = i.candidates.values.size
    if i.has_ties and size <= LARGE:
        is_far = i.has_equal_lines and missing > i.fits // FAR
        return 0 if is_far else size // AMONG_TIES
    most = FEWEST if size > LARGE else FEWER if i.has_long_lines else PIVOTS
    share = max(1.0, (size / 250_000) ** 0.6)
    return int(min(most, 2.5 * share) * (network.size + np.sum(i.shape)))
