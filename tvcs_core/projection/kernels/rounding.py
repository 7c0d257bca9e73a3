"""Audit of rounding errors behind a claimed gap of 0.

The surplus of an entry, its gain less its prices, has a rounding error. An entry whose surplus is
within that error of 0, and was rounded, may be on the wrong side: such entries are *doubtful*. The
error of each operation is itself a float (two-sum, Dekker's product), and their sum decides most
doubtful entries. The others are *unclear*; the positions of the first of these are recorded.
"""

from typing import NamedTuple

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.records import Bools, Counts, Floats, Prices
from tvcs_core.projection.kernels.slackness import slackness_dense

# A gap below this fraction of the objective is smaller than rounding and is audited.
CLEAR_GAP = 2.0**-75
# Twice the largest error of a square that underflows.
SMALLEST_SUBNORMAL = 2.0**-1074
# Bound on the relative error of a surplus: four roundings of 2^-53 each.
ROUNDING = 2.0**-50
# Bound on the error of a square that underflows, and of the prices.
UNDERFLOW = 2.0**-1070
# Squares of smaller values may lose bits to underflow: 106 bits from 2^-900 on end at 2^-1006.
MIN_EXACT_SQUARE = 2.0**-450
VELTKAMP_SPLIT = 2.0**27 + 1.0  # Veltkamp's constant for 53 bits


class OptimalityClaim(NamedTuple):
    """A support and prices that are claimed to be optimal, with the gains, in one unit.

    Attributes
    ----------
    values, squared
        The gains, or their square roots.
    exact
        Whether gains that are not squares are known to be exact.
    """

    values: Floats
    squared: bool
    exact: bool
    mask: Bools
    prices: Prices
    caps: Counts


class RoundingAudit(NamedTuple):
    """Result of the audit.

    Attributes
    ----------
    unclear, at_most
        Number of doubtful entries that two floats cannot decide, and a bound on their error.
    wrong
        Sum of the violations of the other doubtful entries.
    """

    unclear: int
    at_most: float
    wrong: float


@kernel
def two_sum_error(a, b, s):
    """Return (a + b) - s for s = a + b in floating point, exactly (Knuth's two-sum)."""
    other = s - a
    return (a - (s - other)) + (b - other)


@kernel
def is_doubtful(value, exact, squared, first, second, third, first_lost):
    """Return whether a gain less three prices is within rounding of 0, and was rounded.

    There are no branches, so that the compiler vectorises loops over it.
    """
    gain = value * value if squared else value
    rest = gain - first
    last = rest - second
    surplus = last - third
    is_near = abs(surplus) <= (gain + first + second + third) * ROUNDING + UNDERFLOW
    # The square of 26 bits has at most 52; Veltkamp's split shows whether there are more bits.
    wide = VELTKAMP_SPLIT * value
    is_long = (wide - (wide - value) != value) | (abs(value) < MIN_EXACT_SQUARE)
    is_gain_rounded = is_long if squared else not exact
    is_difference_rounded = (
        (two_sum_error(gain, -first, rest) != 0.0)
        | (two_sum_error(rest, -second, last) != 0.0)
        | (two_sum_error(last, -third, surplus) != 0.0)
    )
    is_rounded = is_gain_rounded | is_difference_rounded | (first_lost != 0.0)
    return is_near & (value != 0.0) & is_rounded


@kernel
def count_doubtful(line, exact, squared, row_price, col_duals, row_lost):
    """Return the number of doubtful entries of a row."""
    found = 0
    for j in range(line.size):
        found += is_doubtful(line[j], exact, squared, row_price, col_duals[j], 0.0, row_lost)
    return found


@kernel
def compensated_violation(value, mask, first, second, third, first_lost):
    """Return by how much a squared value is on the wrong side of its prices; NaN if unclear.

    Dekker's product and two-sums give the error of every operation. Their sum has an error below
    2^-50 of the sum of their sizes.
    """
    wide = VELTKAMP_SPLIT * value
    high = wide - (wide - value)
    low, gain = value - high, value * value
    rest = gain - first
    last = rest - second
    surplus = last - third
    of_square = ((high * high - gain) + 2.0 * high * low) + low * low
    of_first, of_second = two_sum_error(gain, -first, rest), two_sum_error(rest, -second, last)
    of_third = two_sum_error(last, -third, surplus)
    size = abs(of_square) + abs(first_lost) + abs(of_first) + abs(of_second) + abs(of_third)
    surplus += of_square - first_lost + of_first + of_second + of_third
    if abs(value) < MIN_EXACT_SQUARE or abs(surplus) <= size * ROUNDING:
        return np.nan
    return max(0.0, -surplus if mask else surplus) * (1.0 + ROUNDING)


@kernel
def audit_dense(claim, positions):
    """Audit all entries of a table; record the positions of the first unclear ones."""
    values, squared, exact, mask = claim.values, claim.squared, claim.exact, claim.mask
    row_duals, col_duals, total_dual = claim.prices.rows, claim.prices.cols, claim.prices.total
    n_rows, n_cols = values.shape
    unclear, at_most, wrong = 0, 0.0, 0.0
    for i in range(n_rows):
        line, price = values[i], row_duals[i] + total_dual
        row_lost = two_sum_error(row_duals[i], total_dual, price)
        if count_doubtful(line, exact, squared, price, col_duals, row_lost) == 0:
            continue
        for j in range(n_cols):
            if not is_doubtful(line[j], exact, squared, price, col_duals[j], 0.0, row_lost):
                continue
            if claim.caps.rows[i] == 0 or claim.caps.cols[j] == 0 or claim.caps.total == 0:
                continue  # never kept, at any price
            by = np.nan
            if squared:
                by = compensated_violation(line[j], mask[i, j], price, col_duals[j], 0.0, row_lost)
            if by >= 0.0:
                wrong += by
                continue
            if unclear < positions.size:
                positions[unclear] = i * n_cols + j
            unclear += 1
            gain = line[j] * line[j] if squared else line[j]
            at_most += (gain + price + col_duals[j]) * ROUNDING + UNDERFLOW
    return RoundingAudit(unclear, at_most, wrong)


@kernel
def gap_of(values, mask, prices, caps):
    """Return objective, sum of all slacks, and hidden violations, as measured in gap.py.

    The second is negative if exact arithmetic is needed.
    """
    none, yes = np.empty(0, np.int64), np.bool_(True)
    objective, gap, has_room = slackness_dense(values, yes, mask, prices, caps)
    if has_room:
        return objective, -1.0, 0.0
    hidden = 0.0
    if gap <= CLEAR_GAP * objective:
        audit = audit_dense(OptimalityClaim(values, yes, not yes, mask, prices, caps), none)
        if audit.unclear > 0:
            return objective, -1.0, 0.0
        hidden = audit.wrong
    return objective, gap + SMALLEST_SUBNORMAL * values.size if gap > 0.0 else gap, hidden


@kernel
def audit_edges(row_of, col_of, claim, positions):
    """Audit a list of entries likewise. Labels are -1 for entries in no group."""
    values, squared, exact, mask = claim.values, claim.squared, claim.exact, claim.mask
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
            by = compensated_violation(value, mask[e], total_dual, row_price, col_price, 0.0)
        if by >= 0.0:
            wrong += by
            continue
        if unclear < positions.size:
            positions[unclear] = e
        unclear += 1
        gain = value * value if squared else value
        at_most += (gain + total_dual + row_price + col_price) * ROUNDING + UNDERFLOW
    return RoundingAudit(unclear, at_most, wrong)
