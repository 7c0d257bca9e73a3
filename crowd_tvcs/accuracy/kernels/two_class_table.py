"""Kernels of the outcomes of a vote: tables that grow voter by voter, and gains of one more.

A vote is stored as a table of its outcomes up to an exchange of labels: `t[e]` is the joint
probability of outcome e and the label it supports, `f[e]` that with the other one. So `t >= f`, the
expected accuracy is the sum of t, and the confidence is t / (t + f). A prior p acts as one more
voter of quality p, so every table begins with it. Qualities are folded, in [1/2, 1].
"""

import numpy as np

from tvcs_core.jit import kernel

EXACT = 12  # voters on a task whose table is exact
TABLE = 2**EXACT  # outcomes; in a longer table those of similar confidence are joined
HALF = TABLE // 2


@kernel
def add_voter(t, f, size, q, out_t, out_f):
    """Fill `out` with the table after one more voter; return its size."""
    s = 1.0 - q
    # After an even prior the first voter's two outcomes are equal up to an exchange of labels.
    if size == 1 and t[0] == f[0]:
        out_t[0] = 2.0 * t[0] * q
        out_f[0] = 2.0 * f[0] * s
        return size
    if q == 0.5:
        for e in range(size):
            out_t[e] = t[e]
            out_f[e] = f[e]
        return size
    # The voter agrees with outcome e, or disagrees, and then the likelier label may change.
    for e in range(size):
        a = t[e] * s
        b = f[e] * q
        out_f[e] = f[e] * s
        out_t[e] = t[e] * q
        out_t[size + e] = a if a > b else b
        out_f[size + e] = b if a > b else a
    return 2 * size


@kernel
def join(t, f, size, cells, out_t, out_f):
    """Fill `out` with a table of at most `cells` outcomes: never more accurate.

    Outcomes are merged if their confidences fall into the same of `cells` equal intervals.
    """
    for e in range(cells):
        out_t[e] = 0.0
        out_f[e] = 0.0
    for e in range(size):
        mass = t[e] + f[e]
        if mass > 0.0:
            cell = min(cells - 1, int((t[e] - f[e]) / mass * cells))
            out_t[cell] += t[e]
            out_f[cell] += f[e]
    kept = 0
    for e in range(cells):
        if out_t[e] > 0.0:
            out_t[kept] = out_t[e]
            out_f[kept] = out_f[e]
            kept += 1
    return kept


@kernel
def lay_fixed(fixed, t, f):
    """Build the table of the fixed voters in row 0 of `t` and `f`; return its size.

    The first fixed voter is the prior. `t` and `f` have two rows of 2 * TABLE entries.
    """
    t[0, 0] = fixed[0]
    f[0, 0] = 1.0 - fixed[0]
    size = np.int64(1)
    for s in range(1, fixed.size):
        size = add_voter(t[0], f[0], size, fixed[s], t[1], f[1])
        if size > TABLE:
            size = join(t[1], f[1], size, np.int64(HALF), t[0], f[0])
        else:
            for e in range(size):
                t[0, e] = t[1, e]
                f[0, e] = f[1, e]
    return size


@kernel
def tabulate(fixed, q, chosen, skip, t, f):
    """Build the table of the fixed voters and q[chosen], without index `skip`.

    If `skip` is the size of `chosen` no voter is left out. The table is written to row 0 of `t` and
    `f`, which have two rows of 2 * TABLE entries; exact up to EXACT voters. Return the size.
    """
    size = lay_fixed(fixed, t, f)
    at = 0
    for s in range(chosen.size):
        if s == skip:
            continue
        size = add_voter(t[at], f[at], size, q[chosen[s]], t[1 - at], f[1 - at])
        at = 1 - at
        if size > TABLE:
            size = join(t[at], f[at], size, np.int64(HALF), t[1 - at], f[1 - at])
            at = 1 - at
    if at == 1:
        for e in range(size):
            t[0, e] = t[1, e]
            f[0, e] = f[1, e]
    return size


@kernel
def fill_gains(t, f, size, q, first, last, out):
    """Fill `out` with the gain of each of the voters first..last - 1: sum of (q (t + f) - t)+.

    The gain identity: a voter of quality q adds E[(q - C)+], C = t / (t + f) being the confidence
    of the vote without them (docs/crowd-plans.md, step 4).
    """
    for i in range(first, last):
        out[i] = 0.0
    for e in range(size):
        right = t[e]
        mass = t[e] + f[e]
        for i in range(first, last):
            more = q[i] * mass - right
            out[i] += more if more > 0.0 else 0.0


@kernel
def total(t, size):
    """Return the sum of the first entries."""
    out = 0.0
    for e in range(size):
        out += t[e]
    return out
