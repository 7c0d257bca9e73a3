"""Where rounding decides whether a support is proved.

The surplus of an entry, its gain less its prices, is off by some rounding. Where a gap of 0 is
claimed that matters: an entry whose surplus is within rounding of 0, and was rounded, may be on the
wrong side. Such entries are *doubtful*. What rounding has lost is itself a float, which tells most
of them; of the others, the *unclear* ones, the places of the first are written down.
"""

from typing import NamedTuple

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.records import Bools, Counts, Floats, Prices
from tvcs_core.projection.kernels.slackness import slackness_dense

# A gap below this fraction of what is kept is less than rounding: then it is looked at exactly.
CLEAR = 2.0**-75
# The square of a value may be off by half of this where it underflows.
LEAST = 2.0**-1074
# A surplus is three rounded operations on a rounded product: 2^-50 of what goes in is more.
ROUNDING = 2.0**-50
# More than what a square that underflows, and the prices, may be off.
UNDERFLOW = 2.0**-1070
# Squares of smaller values may underflow in part.
LEAST_SQUARED = 2.0**-450
SPLIT = 2.0**27 + 1.0


class Claim(NamedTuple):
    """Gains, the support, and the prices that are to prove it, in one unit.

    Attributes
    ----------
    values, squared
        The gains, or their square roots.
    exact
        Whether gains that are no squares are known not to be rounded.
    """

    values: Floats
    squared: bool
    exact: bool
    keep: Bools
    prices: Prices
    caps: Counts


class Doubt(NamedTuple):
    """What is found.

    Attributes
    ----------
    unclear, at_most
        How many doubtful entries two floats in place of one cannot tell either, and what these may
        hide at most.
    wrong
        By how much the other doubtful entries are on the wrong side, in all.
    """

    unclear: int
    at_most: float
    wrong: float


@kernel
def lost(a, b, s):
    """What s, which is a + b in floating point, has lost of a + b (Knuth's two-sum): exact."""
    other = s - a
    return (a - (s - other)) + (b - other)


@kernel
def is_doubtful(value, exact, squared, first, second, third, first_lost):
    """Whether a gain less one price after the other is within rounding of 0, and was rounded.

    Without branches, so that a loop over it is vector code.
    """
    gain = value * value if squared else value
    rest = gain - first
    last = rest - second
    surplus = last - third
    is_near = abs(surplus) <= (gain + first + second + third) * ROUNDING + UNDERFLOW
    # The square of 26 bits has at most 52; a half of Veltkamp's split says how many there are.
    wide = SPLIT * value
    is_long = (wide - (wide - value) != value) | (abs(value) < LEAST_SQUARED)
    is_gain_rounded = is_long if squared else not exact
    is_difference_rounded = (
        (lost(gain, -first, rest) != 0.0)
        | (lost(rest, -second, last) != 0.0)
        | (lost(last, -third, surplus) != 0.0)
    )
    is_rounded = is_gain_rounded | is_difference_rounded | (first_lost != 0.0)
    return is_near & (value != 0.0) & is_rounded


@kernel
def are_doubtful(line, exact, squared, row_price, col_duals, row_lost):
    """How many entries of a row are doubtful."""
    found = 0
    for j in range(line.size):
        found += is_doubtful(line[j], exact, squared, row_price, col_duals[j], 0.0, row_lost)
    return found


@kernel
def wrong_by(value, keep, first, second, third, first_lost):
    """By how much the square of a value is on the wrong side of prices; NaN if that is not clear.

    Dekker's product and two-sums say what every operation has lost. Their sum is off by less than
    2^-50 of what is summed.
    """
    wide = SPLIT * value
    high = wide - (wide - value)
    low, gain = value - high, value * value
    rest = gain - first
    last = rest - second
    surplus = last - third
    of_square = ((high * high - gain) + 2.0 * high * low) + low * low
    of_first, of_second = lost(gain, -first, rest), lost(rest, -second, last)
    of_third = lost(last, -third, surplus)
    size = abs(of_square) + abs(first_lost) + abs(of_first) + abs(of_second) + abs(of_third)
    surplus += of_square - first_lost + of_first + of_second + of_third
    if abs(value) < LEAST_SQUARED or abs(surplus) <= size * ROUNDING:
        return np.nan
    return max(0.0, -surplus if keep else surplus) * (1.0 + ROUNDING)


@kernel
def doubt_dense(claim, places):
    """Find the doubtful entries; fill in the places of the first unclear ones."""
    values, squared, exact, keep = claim.values, claim.squared, claim.exact, claim.keep
    row_duals, col_duals, total_dual = claim.prices.rows, claim.prices.cols, claim.prices.total
    n_rows, n_cols = values.shape
    unclear, at_most, wrong = 0, 0.0, 0.0
    for i in range(n_rows):
        line, price = values[i], row_duals[i] + total_dual
        row_lost = lost(row_duals[i], total_dual, price)
        if are_doubtful(line, exact, squared, price, col_duals, row_lost) == 0:
            continue
        for j in range(n_cols):
            if not is_doubtful(line[j], exact, squared, price, col_duals[j], 0.0, row_lost):
                continue
            if claim.caps.rows[i] == 0 or claim.caps.cols[j] == 0 or claim.caps.total == 0:
                continue  # never kept, whatever the price
            by = np.nan
            if squared:
                by = wrong_by(line[j], keep[i, j], price, col_duals[j], 0.0, row_lost)
            if by >= 0.0:
                wrong += by
                continue
            if unclear < places.size:
                places[unclear] = i * n_cols + j
            unclear += 1
            gain = line[j] * line[j] if squared else line[j]
            at_most += (gain + price + col_duals[j]) * ROUNDING + UNDERFLOW
    return Doubt(unclear, at_most, wrong)


@kernel
def gap_of(values, keep, prices, caps):
    """What is kept, the sum of all slacks and what rounding hides of it, as gap.py measures them.

    The second is below 0 if that has to be looked at in exact numbers.
    """
    none, yes = np.empty(0, np.int64), np.bool_(True)
    kept, gap, has_room = slackness_dense(values, yes, keep, prices, caps)
    if has_room:
        return kept, -1.0, 0.0
    hidden = 0.0
    if gap <= CLEAR * kept:
        doubt = doubt_dense(Claim(values, yes, not yes, keep, prices, caps), none)
        if doubt.unclear > 0:
            return kept, -1.0, 0.0
        hidden = doubt.wrong
    return kept, gap + LEAST * values.size if gap > 0.0 else gap, hidden


@kernel
def doubt_edges(row_of, col_of, claim, places):
    """Do the same for a list of entries. Labels are -1 where an entry is in no group."""
    values, squared, exact, keep = claim.values, claim.squared, claim.exact, claim.keep
    row_duals, col_duals, total_dual = claim.prices.rows, claim.prices.cols, claim.prices.total
    unclear, at_most, wrong = 0, 0.0, 0.0
    for e in range(values.size):
        i, j, value = row_of[e], col_of[e], values[e]
        row_price = row_duals[i] if i >= 0 else 0.0
        col_price = col_duals[j] if j >= 0 else 0.0
        if not is_doubtful(value, exact, squared, total_dual, row_price, col_price, 0.0):
            continue
        is_closed = (i >= 0 and claim.caps.rows[i] == 0) or (j >= 0 and claim.caps.cols[j] == 0)
        if is_closed or claim.caps.total == 0:
            continue
        by = np.nan
        if squared:
            by = wrong_by(value, keep[e], total_dual, row_price, col_price, 0.0)
        if by >= 0.0:
            wrong += by
            continue
        if unclear < places.size:
            places[unclear] = e
        unclear += 1
        gain = value * value if squared else value
        at_most += (gain + total_dual + row_price + col_price) * ROUNDING + UNDERFLOW
    return Doubt(unclear, at_most, wrong)
