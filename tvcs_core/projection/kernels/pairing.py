"""All caps 1 and no binding total, from the table to the support, in few calls of bounded length.

Each of the two kernels does its stages one after the other, at most so many rows of each in a call.
"""

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.assignment import assign, bid, lay_gains
from tvcs_core.projection.kernels.tied import (
    HASHES,
    alone,
    assign_tied,
    bid_tied,
    count_tied,
    is_proven,
    list_tied,
    read_pairs,
    shorten,
)

__all__ = ["HASHES", "find_prices", "settle_ties"]

BIDS = 2  # of each row, before paths are looked for
TIED_BIDS = 4  # the same among tied entries
# Places in `clock`: the next row and the stage.
ROW, STAGE = 0, 1
# Stages, one after the other: up to `PRICED` of `find_prices`, then of `settle_ties`.
LAY, BID, ASSIGN, COUNT, PRICED = 0, 1, 2, 3, 4
LIST, BID_TIED, ASSIGN_TIED, SETTLED = PRICED, 5, 6, 7


@kernel
def find_prices(ones, found, clock, scale, most):
    """Prices that prove an assignment on the coarse grid, and how many entries are tied.

    True if done: if not, call it again. `scale` becomes what values are multiplied by, 0 if all
    are 0.
    """
    gains, u, w, col_of, row_of = found.gains, found.u, found.w, found.col_of, found.row_of
    n, m = u.size, w.size
    if clock[STAGE] == LAY:
        scale[0] = lay_gains(ones, gains)
        clock[STAGE] = BID
        if scale[0] == 0.0:
            return True
    while clock[STAGE] < PRICED:
        first, last = clock[ROW], min(clock[ROW] + most, n)
        if clock[STAGE] == BID:
            bid(gains, m, first, last, BIDS * (last - first), u, w, col_of, row_of)
        elif clock[STAGE] == ASSIGN:
            assign(gains, n, m, first, last, u, w, col_of, row_of)
        else:
            count_tied(ones, found, first, last)
        clock[ROW] = last
        if last == n:
            clock[ROW] = 0
            clock[STAGE] += 1
        if most < n:
            break
    return clock[STAGE] == PRICED


@kernel
def begin_tied(ones, found, tied):
    """Nobody has anybody, and everybody pays for it."""
    for r in range(found.p.size):
        found.p[r] = alone(ones, found.u[r])
        tied.alone[r] = found.p[r]
    for c in range(found.q.size):
        found.q[c] = alone(ones, found.w[c])
    found.col_of[:], found.row_of[:] = -1, -1


@kernel
def settle_ties(ones, factor, found, tied, clock, most, keep):
    """Assign rows anew, among tied entries, and fill in the support.

    Returns 1 if done, 0 if it is to be called again, and -1 if 63 bits are too few for it.
    """
    p, q, col_of, row_of = found.p, found.q, found.col_of, found.row_of
    n = p.size
    while clock[STAGE] < SETTLED:
        first, last = clock[ROW], min(clock[ROW] + most, n)
        if clock[STAGE] == LIST:
            list_tied(ones, factor, found, first, last, tied)
            if last == n:
                shorten(tied, q.size)
                begin_tied(ones, found, tied)
        elif clock[STAGE] == BID_TIED:
            bid_tied(tied, first, last, TIED_BIDS * (last - first), p, q, col_of, row_of)
        else:
            assign_tied(tied, first, last, p, q, col_of, row_of)
        clock[ROW] = last
        if last == n:
            clock[ROW] = 0
            clock[STAGE] += 1
            if clock[STAGE] == SETTLED and not is_proven(tied, p, q):
                tied.stop[:] = tied.start[1:]
                begin_tied(ones, found, tied)
                clock[STAGE] = BID_TIED
        if most < n:
            break
    if clock[STAGE] < SETTLED:
        return 0
    return 1 if read_pairs(ones, factor, found, keep) else -1
