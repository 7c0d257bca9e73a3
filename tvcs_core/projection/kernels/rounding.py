"""Where rounding decides whether a support is proved.

The surplus of an entry, its gain less its prices, is off by some rounding. Where a gap of 0 is
claimed that matters: an entry whose surplus is within rounding of 0, and was rounded, may be on the
wrong side. Such entries are *doubtful*. The places of the first of them are written down, and what
all of them may hide is summed.
"""

from typing import NamedTuple

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
def is_rounded(value, exact, squared, first, second, third):
    """Whether the gain of an entry, less one price after the other, is rounded anywhere."""
    gain = value
    if squared:
        # The square of 26 bits has at most 52; a half of Veltkamp's split says how many there are.
        wide = SPLIT * value
        if wide - (wide - value) != value or 0.0 < abs(value) < LEAST_SQUARED:
            return True
        gain = value * value
    elif not exact:
        return True
    rest = gain - first
    if is_sum_rounded(gain, -first, rest):
        return True
    last = rest - second
    return is_sum_rounded(rest, -second, last) or is_sum_rounded(last, -third, last - third)


@kernel
def doubtful_dense(claim, doubtful):
    """Fill in the places of doubtful entries; return how many there are and what they may hide."""
    values, squared, exact = claim.values, claim.squared, claim.exact
    row_duals, col_duals, total_dual = claim.prices.rows, claim.prices.cols, claim.prices.total
    n_rows, n_cols = values.shape
    found, hidden = 0, 0.0
    for i in range(n_rows):
        row_price = row_duals[i] + total_dual
        is_price_rounded = is_sum_rounded(row_duals[i], total_dual, row_price)
        for j in range(n_cols):
            value, col_price = values[i, j], col_duals[j]
            gain = value * value if squared else value
            within = (gain + row_price + col_price) * ROUNDING + UNDERFLOW
            if abs(gain - row_price - col_price) > within or value == 0.0:
                continue
            if is_price_rounded or is_rounded(value, exact, squared, row_price, col_price, 0.0):
                if found < doubtful.size:
                    doubtful[found] = i * n_cols + j
                found += 1
                hidden += within
    return found, hidden


@kernel
def doubtful_edges(row_of, col_of, claim, doubtful):
    """Do the same for a list of entries. Labels are -1 where an entry is in no group."""
    values, squared, exact = claim.values, claim.squared, claim.exact
    row_duals, col_duals, total_dual = claim.prices.rows, claim.prices.cols, claim.prices.total
    found, hidden = 0, 0.0
    for e in range(values.size):
        i, j, value = row_of[e], col_of[e], values[e]
        row_price = row_duals[i] if i >= 0 else 0.0
        col_price = col_duals[j] if j >= 0 else 0.0
        gain = value * value if squared else value
        within = (gain + total_dual + row_price + col_price) * ROUNDING + UNDERFLOW
        if abs(gain - total_dual - row_price - col_price) > within or value == 0.0:
            continue
        if is_rounded(value, exact, squared, total_dual, row_price, col_price):
            if found < doubtful.size:
                doubtful[found] = e
            found += 1
            hidden += within
    return found, hidden
