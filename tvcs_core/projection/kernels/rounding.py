"""Where rounding decides whether a support is proved.

The surplus of an entry, its gain less its prices, is off by some rounding. Where a gap of 0 is
claimed that matters: an entry whose surplus is within rounding of 0, and was rounded, may be on the
wrong side. Such entries are *doubtful*. The places of the first of them are written down, and what
all of them may hide is summed.
"""

from typing import NamedTuple

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.records import Floats, Prices

# A surplus is three rounded operations on a rounded product: 2^-50 of what goes in is more.
ROUNDING = 2.0**-50
# More than what a square that underflows, and the prices, may be off.
UNDERFLOW = 2.0**-1070
# Squares of smaller values may underflow in part.
LEAST_SQUARED = 2.0**-450
SPLIT = 2.0**27 + 1.0


class Claim(NamedTuple):
    """Gains and prices, in one unit.

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
    prices: Prices


@kernel
def is_sum_rounded(a, b, s):
    """Whether s, which is a + b in floating point, is not a + b (Knuth's two-sum)."""
    other = s - a
    return (a - (s - other)) + (b - other) != 0.0


@kernel
def is_doubtful(value, exact, squared, first, second, third, is_first_rounded):
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
        is_sum_rounded(gain, -first, rest)
        | is_sum_rounded(rest, -second, last)
        | is_sum_rounded(last, -third, surplus)
    )
    is_rounded = is_gain_rounded | is_difference_rounded | is_first_rounded
    return is_near & (value != 0.0) & is_rounded


@kernel
def are_doubtful(line, exact, squared, row_price, col_duals, is_row_rounded):
    """How many entries of a row are doubtful."""
    found = 0
    for j in range(line.size):
        found += is_doubtful(
            line[j], exact, squared, row_price, col_duals[j], 0.0, is_row_rounded
        )
    return found


@kernel
def doubtful_dense(claim, doubtful):
    """Fill in the places of doubtful entries; return how many there are and what they may hide."""
    values, squared, exact = claim.values, claim.squared, claim.exact
    row_duals, col_duals, total_dual = claim.prices.rows, claim.prices.cols, claim.prices.total
    n_rows, n_cols = values.shape
    found, hidden = 0, 0.0
    for i in range(n_rows):
        line, price = values[i], row_duals[i] + total_dual
        is_rounded = is_sum_rounded(row_duals[i], total_dual, price)
        if are_doubtful(line, exact, squared, price, col_duals, is_rounded) == 0:
            continue
        for j in range(n_cols):
            if is_doubtful(line[j], exact, squared, price, col_duals[j], 0.0, is_rounded):
                if found < doubtful.size:
                    doubtful[found] = i * n_cols + j
                found += 1
                gain = line[j] * line[j] if squared else line[j]
                hidden += (gain + price + col_duals[j]) * ROUNDING + UNDERFLOW
    return found, hidden


@kernel
def doubtful_edges(row_of, col_of, claim, doubtful):
    """Do the same for a list of entries. Labels are -1 where an entry is in no group."""
    values, squared, exact = claim.values, claim.squared, claim.exact
    row_duals, col_duals, total_dual = claim.prices.rows, claim.prices.cols, claim.prices.total
    found, hidden, no = 0, 0.0, np.bool_(False)  # a literal would be a type of its own
    for e in range(values.size):
        i, j, value = row_of[e], col_of[e], values[e]
        row_price = row_duals[i] if i >= 0 else 0.0
        col_price = col_duals[j] if j >= 0 else 0.0
        if is_doubtful(value, exact, squared, total_dual, row_price, col_price, no):
            if found < doubtful.size:
                doubtful[found] = e
            found += 1
            gain = value * value if squared else value
            hidden += (gain + total_dual + row_price + col_price) * ROUNDING + UNDERFLOW
    return found, hidden
