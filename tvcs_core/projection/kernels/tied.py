"""Unit caps: of all optimal assignments, the one with the largest sum of tie hashes.

Once prices prove an assignment, every other optimal one consists of *tied* entries, whose gain
equals their prices. It covers every row and column with a price (complementary slackness). Among
tied entries it is an assignment problem again: an entry is worth its hash, plus more than all
hashes for each of its lines with a price, which must be covered. Entries that are not tied are
worth 0, the same as none.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import MAX_HASH, tie


@kernel
def count_tied(unit_table, state, first_row, last_row):
    """Return the number of tied entries of rows first_row:last_row, or a number above u.size."""
    values, gains, u, w, n = unit_table.values, state.gains, state.u, state.w, 0
    for r in range(first_row, last_row):
        line, row, price = values[r], gains[r], u[r]
        for c in range(w.size):
            n += (price + w[c] == row[c]) & (line[c] != 0.0)
        if n > u.size:
            break  # more than one entry per row is tied, so there is a choice
    return n


@kernel
def lay_worths(unit_table, state, r):
    """Overwrite the gains of row r by the worths of its entries."""
    line, row, w, none = unit_table.values[r], state.gains[r], state.w, np.int64(0)
    price, must = state.u[r], state.u.size * MAX_HASH
    more = must if price > 0 else none
    for c in range(w.size):
        worth = tie(c, r, none) if unit_table.turned else tie(r, c, none)
        worth += more + (must if w[c] > 0 else none)
        is_tied = (price + w[c] == row[c]) & (line[c] != 0.0)
        row[c] = 2 * worth if is_tied else none
