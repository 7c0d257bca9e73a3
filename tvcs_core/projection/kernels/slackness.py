"""How far a support and prices are from proving each other optimal.

bound - kept is the sum of terms that are each >= 0 (complementary slackness): the price of
every cap times what is left of it, the excess of every entry that is worth more than its
prices and was left out, and the shortfall of every entry that is worth less and was kept.
Summed this way the gap is exactly 0 when every term is, and loses no digits when it is not.

Each term is off by some rounding. That matters where a gap of 0 is claimed: an entry whose surplus
is within rounding of 0, and was rounded, may be on the wrong side. Such entries are *doubtful*. The
places of the first of them are written down, and what all may hide is summed.
"""

from typing import NamedTuple

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.records import Bools, Floats, Ints, Prices

# A surplus is three rounded operations on a rounded square: 2^-50 of what goes in is more.
ROUNDING = 2.0**-50
# More than what a square that underflows, and the prices, may be off.
UNDERFLOW = 2.0**-1070
# Squares of smaller values may underflow in part.
LEAST_SQUARED = 2.0**-450
SPLIT = 2.0**27 + 1.0


class Claim(NamedTuple):
    """Gains, a support, and prices that are to prove it.

    Attributes
    ----------
    values, squared
        The gains, or their square roots.
    exact
        Whether gains that are no squares are known not to be rounded.
    keep, prices
        In the units of the gains.
    used_rows, used_cols
        Come in as zeros and go out as the loads of the groups.
    doubtful
        Goes out with the places of doubtful entries, as many as it holds.
    """

    values: Floats
    squared: bool
    exact: bool
    keep: Bools
    prices: Prices
    used_rows: Ints
    used_cols: Ints
    doubtful: Ints


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
def slackness_dense(claim):
    """Count what rows and columns use, write down doubtful entries.

    Returns (kept, slack of the entries, number of doubtful ones, what they may hide at most).
    """
    values, squared, exact, keep = claim.values, claim.squared, claim.exact, claim.keep
    used_rows, used_cols, doubtful = claim.used_rows, claim.used_cols, claim.doubtful
    row_duals, col_duals, total_dual = claim.prices.rows, claim.prices.cols, claim.prices.total
    n_rows, n_cols = values.shape
    # Gains are summed with Neumaier's carry: the sum is as good as rounded once.
    kept = carry = slack = hidden = 0.0
    found = 0
    for i in range(n_rows):
        row_price = row_duals[i] + total_dual
        for j in range(n_cols):
            value = values[i, j]
            gain = value * value if squared else value
            surplus = gain - row_price - col_duals[j]
            within = (gain + row_price + col_duals[j]) * ROUNDING + UNDERFLOW
            if (
                abs(surplus) <= within
                and value != 0.0
                and (
                    is_sum_rounded(row_duals[i], total_dual, row_price)
                    or is_rounded(value, exact, squared, row_price, col_duals[j], 0.0)
                )
            ):
                if found < doubtful.size:
                    doubtful[found] = i * n_cols + j
                found += 1
                hidden += within
            if keep[i, j]:
                used_rows[i] += 1
                used_cols[j] += 1
                total = kept + gain
                carry += (kept - total) + gain if kept >= gain else (gain - total) + kept
                kept = total
                if surplus < 0.0:
                    slack -= surplus
            elif surplus > 0.0:
                slack += surplus
    return kept + carry, slack, found, hidden


@kernel
def slackness_edges(row_of, col_of, claim):
    """Do the same for a list of entries. Labels are -1 where an entry is in no group."""
    values, squared, exact, keep = claim.values, claim.squared, claim.exact, claim.keep
    used_rows, used_cols, doubtful = claim.used_rows, claim.used_cols, claim.doubtful
    row_duals, col_duals, total_dual = claim.prices.rows, claim.prices.cols, claim.prices.total
    kept = carry = slack = hidden = 0.0
    found = 0
    for e in range(values.size):
        i, j = row_of[e], col_of[e]
        row_dual = row_duals[i] if i >= 0 else 0.0
        col_dual = col_duals[j] if j >= 0 else 0.0
        gain = values[e] * values[e] if squared else values[e]
        surplus = gain - total_dual - row_dual - col_dual
        within = (gain + total_dual + row_dual + col_dual) * ROUNDING + UNDERFLOW
        if (
            abs(surplus) <= within
            and values[e] != 0.0
            and is_rounded(values[e], exact, squared, total_dual, row_dual, col_dual)
        ):
            if found < doubtful.size:
                doubtful[found] = e
            found += 1
            hidden += within
        if keep[e]:
            if i >= 0:
                used_rows[i] += 1
            if j >= 0:
                used_cols[j] += 1
            total = kept + gain
            carry += (kept - total) + gain if kept >= gain else (gain - total) + kept
            kept = total
            if surplus < 0.0:
                slack -= surplus
        elif surplus > 0.0:
            slack += surplus
    return kept + carry, slack, found, hidden
