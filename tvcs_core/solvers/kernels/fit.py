"""Least squares on a support that changes by single entries, with the exact price of a change.

The model is ``1/2 w'Gw - b'w`` for every target. With the support S, H = inverse(G_SS) and
U = H G_S,all it holds, for every variable, the coefficients w = H b_S, the correlations
c = b - G w with the residual and the Schur complements s = G_jj - G_jS U_Sj. One change of the
support updates all of them by one step of rank one, in the time of U.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.jit import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Smallest Schur complement relative to the variable's own square; below it the variable depends
# linearly on the support, and cannot enter.
SMALLEST_PIVOT = 1e-10
# Not -1: numba would compile a kernel once for the number and once more for a variable.
NONE = np.int64(-1)  # no slot


class Fit(NamedTuple):
    """Fits of q targets on p variables; entry ``e`` is variable ``e // q`` of target ``e % q``.

    Every entry of the support has a slot, and a place among the slots of its target.
    """

    gram: Floats  # (1 or q, p, p)
    sides: Floats  # (q, p): b
    entry: Ints  # entry of each slot, -1 for an empty slot
    slot_of: Ints  # slot of each entry, -1 outside the support
    members: Ints  # (q, places): slots of each target
    counts: Ints  # (q,) their numbers
    place: Ints  # place of each slot
    inverse: Floats  # (slots, places): H
    weights: Floats  # (slots, p): U
    coef: Floats  # (slots,): w
    corr: Floats  # (q, p): c
    schur: Floats  # (q, p): s
    row: Floats  # (p,) scratch
    column: Floats  # (places,) scratch


@kernel
def can_enter(fit, entry):
    """Return whether an entry outside the support is linearly independent of it."""
    q = fit.counts.size
    j, t = entry // q, entry % q
    g = t if fit.gram.shape[0] > 1 else 0
    return fit.schur[t, j] > SMALLEST_PIVOT * fit.gram[g, j, j]


@kernel
def enter(fit, entry):
    """Add an entry to the support."""
    q, p = fit.counts.size, fit.row.size
    j, t = entry // q, entry % q
    g = t if fit.gram.shape[0] > 1 else 0
    k, row, column = fit.counts[t], fit.row, fit.column
    row[:] = fit.gram[g, j]
    for m in range(k):
        slot = fit.members[t, m]
        column[m] = fit.weights[slot, j]
        other = fit.gram[g, fit.entry[slot] // q]
        for v in range(p):
            row[v] -= column[m] * other[v]
    pivot = 1.0 / row[j]
    step = fit.corr[t, j] * pivot
    new = 0
    while fit.entry[new] >= 0:
        new += 1
    fit.entry[new], fit.slot_of[entry], fit.place[new] = entry, new, k
    fit.members[t, k] = new
    fit.counts[t] = k + 1
    fit.coef[new] = step
    for v in range(p):
        fit.weights[new, v] = row[v] * pivot
        fit.corr[t, v] -= step * row[v]
        fit.schur[t, v] -= row[v] * row[v] * pivot
    fit.inverse[new, k] = pivot
    for m in range(k):
        slot, u = fit.members[t, m], column[m]
        fit.coef[slot] -= u * step
        for v in range(p):
            fit.weights[slot, v] -= u * fit.weights[new, v]
        for other in range(k):
            fit.inverse[slot, other] += u * column[other] * pivot
        fit.inverse[slot, k] = fit.inverse[new, m] = -u * pivot


@kernel
def leave(fit, slot):
    """Remove the entry of a slot from the support."""
    q, p = fit.counts.size, fit.row.size
    t, at = fit.entry[slot] % q, fit.place[slot]
    k = fit.counts[t]
    pivot = 1.0 / fit.inverse[slot, at]
    step = fit.coef[slot] * pivot
    for v in range(p):
        u = fit.weights[slot, v]
        fit.corr[t, v] += step * u
        fit.schur[t, v] += u * u * pivot
    for m in range(k):
        fit.column[m] = fit.inverse[slot, m]
    for m in range(k):
        other = fit.members[t, m]
        if other != slot:
            h = fit.column[m] * pivot
            fit.coef[other] -= fit.column[m] * step
            for v in range(p):
                fit.weights[other, v] -= h * fit.weights[slot, v]
            for n in range(k):
                fit.inverse[other, n] -= h * fit.column[n]
    # The last slot of the target takes the place that is free now.
    last = fit.members[t, k - 1]
    fit.members[t, at], fit.place[last], fit.counts[t] = last, at, k - 1
    for m in range(k - 1):
        moved = fit.members[t, m]
        fit.inverse[moved, at] = fit.inverse[moved, k - 1]
    fit.slot_of[fit.entry[slot]] = -1
    fit.entry[slot] = -1


@kernel
def cost_of_leaving(fit, a, b):
    """Return how much the loss rises when the slots a and b (-1: none) leave together."""
    q = fit.counts.size
    wa, haa = fit.coef[a], fit.inverse[a, fit.place[a]]
    if b < 0:
        return 0.5 * wa * wa / haa
    wb, hbb = fit.coef[b], fit.inverse[b, fit.place[b]]
    if fit.entry[a] % q != fit.entry[b] % q:
        return 0.5 * wa * wa / haa + 0.5 * wb * wb / hbb
    hab = fit.inverse[a, fit.place[b]]
    det = haa * hbb - hab * hab
    return 0.5 * (hbb * wa * wa - 2.0 * hab * wa * wb + haa * wb * wb) / det


@kernel
def gain_of_entering(fit, entry, a, b):
    """Return how much the loss falls when an entry is added after slots a and b (-1: none) left."""
    q = fit.counts.size
    j, t = entry // q, entry % q
    if a >= 0 and fit.entry[a] % q != t:
        a = -1
    if b >= 0 and fit.entry[b] % q != t:
        b = -1
    if a < 0:
        a, b = b, -1
    c, s = fit.corr[t, j], fit.schur[t, j]
    if a >= 0:
        wa, ua, haa = fit.coef[a], fit.weights[a, j], fit.inverse[a, fit.place[a]]
        if b < 0:
            c += ua * wa / haa
            s += ua * ua / haa
        else:
            wb, ub, hbb = fit.coef[b], fit.weights[b, j], fit.inverse[b, fit.place[b]]
            hab = fit.inverse[a, fit.place[b]]
            det = haa * hbb - hab * hab
            c += (ua * (hbb * wa - hab * wb) + ub * (haa * wb - hab * wa)) / det
            s += (hbb * ua * ua - 2.0 * hab * ua * ub + haa * ub * ub) / det
    g = t if fit.gram.shape[0] > 1 else 0
    if s <= SMALLEST_PIVOT * fit.gram[g, j, j]:
        return 0.0
    return 0.5 * c * c / s


@kernel
def explained(fit):
    """Return how far the loss at the fit is below that at zero."""
    q, total = fit.counts.size, 0.0
    for slot in range(fit.entry.size):
        if fit.entry[slot] >= 0:
            total += fit.coef[slot] * fit.sides[fit.entry[slot] % q, fit.entry[slot] // q]
    return 0.5 * total
