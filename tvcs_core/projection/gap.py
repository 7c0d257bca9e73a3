"""Objective of a support, and gap of its prices; exact where rounding decides."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.constraint import TVCS
from tvcs_core.projection.entries import Entries, lowest_bit, to_integers
from tvcs_core.projection.exact import PricedSupport, writeable
from tvcs_core.projection.kernels.records import Counts, Prices
from tvcs_core.projection.kernels.rounding import (
    CLEAR_GAP,
    SMALLEST_SUBNORMAL,
    OptimalityClaim,
    RoundingAudit,
    audit_dense,
    audit_edges,
)
from tvcs_core.projection.kernels.slackness import slackness_dense, slackness_edges

# Most unclear entries that are measured in exact arithmetic; the errors of more are bounded.
MAX_EXACT_ENTRIES = 1_000
# Units between 2^-450 and 2^450 keep squares and prices away from overflow and underflow.
SAFE_UNIT_EXPONENT = 450


def measure(entries: Entries, constraint: TVCS, solved: PricedSupport) -> tuple[float, float]:
    """Return objective and gap, in the entries' unit; a gap of 0 is an exact proof.

    The gap bounds how much the objective of any other feasible support can exceed this one.
    """
    objective, gap = _slackness(entries, constraint, solved)
    underflow = SMALLEST_SUBNORMAL * entries.gains.size if gap > 0.0 else 0.0
    if gap > CLEAR_GAP * objective:
        return objective, gap + underflow
    # Add the largest slack that rounding may hide.
    positions = np.empty(MAX_EXACT_ENTRIES, np.int64)
    audit, unit = _audit(entries, constraint, solved, positions)
    is_measured = audit.unclear <= MAX_EXACT_ENTRIES
    hidden = upwards(audit.wrong if is_measured else audit.wrong + audit.at_most, -unit)
    if is_measured and audit.unclear:
        hidden += _exact_violation(entries, constraint, solved, positions[: audit.unclear])
    gap += underflow
    return objective, math.nextafter(gap + hidden, math.inf) if hidden else gap


def upwards(number: float, unit: int) -> float:
    """Return ``number * 2**unit``, rounded up if it underflows."""
    scaled = math.ldexp(number, unit)
    return scaled if math.ldexp(scaled, -unit) >= number else math.nextafter(scaled, math.inf)


def _slackness(entries: Entries, constraint: TVCS, solved: PricedSupport) -> tuple[float, float]:
    """Return the objective, and the sum of all slacks."""
    prices = Prices(solved.row_duals, solved.col_duals, solved.total_dual)
    slackness = _kernel_of(entries, constraint, slackness_dense, slackness_edges)
    worth = (writeable(entries.gains), entries.squared, solved.mask, prices)
    objective, slack, has_room = slackness(*worth, Counts(*constraint.caps))
    gap = _with_room(entries, constraint, solved, slack) if has_room else slack
    return float(objective), float(gap)  # NumPy's where kernels run as Python


def _with_room(entries: Entries, constraint: TVCS, solved: PricedSupport, slack: float) -> float:
    """Add the price of every cap times its unused capacity to the slack."""
    row_of, col_of = entries.labels(constraint)
    row_caps, col_caps, total = constraint.caps
    mask = solved.mask.reshape(-1)
    for group, prices, caps in (
        (row_of[mask], solved.row_duals, row_caps),
        (col_of[mask], solved.col_duals, col_caps),
    ):
        used = np.bincount(group[group >= 0], minlength=caps.size)
        slack += float(prices @ (caps - used))
    return slack + solved.total_dual * (total - int(np.count_nonzero(mask)))


def _audit(
    entries: Entries, constraint: TVCS, solved: PricedSupport, positions: NDArray[np.int64]
) -> tuple[RoundingAudit, int]:
    """Audit the rounding errors; also return k: the audit is in the entries' unit over 2**k.

    Fills `positions` with the first unclear entries.
    Without bounds the gains are the squares of V, even if they were already squared and scaled.
    """
    gains, squared, unit, exact = entries.gains, entries.squared, 0, False
    if not squared and constraint.bounds is None and abs(entries.unit) < SAFE_UNIT_EXPONENT:
        gains, squared, unit = entries.values, True, entries.unit
        if constraint.allowed is not None:
            gains = np.where(entries.gains.reshape(gains.shape) != 0.0, gains, 0.0)
        gains = gains.reshape(entries.gains.shape)
    elif not squared:
        exact = entries.are_short(constraint)
    prices = Prices(solved.row_duals, solved.col_duals, solved.total_dual)
    if unit:
        u, w, total = prices
        prices = Prices(np.ldexp(u, unit), np.ldexp(w, unit), math.ldexp(total, unit))
    caps = Counts(*constraint.caps)
    claim = OptimalityClaim(writeable(gains), squared, exact, solved.mask, prices, caps)
    audit = _kernel_of(entries, constraint, audit_dense, audit_edges)
    return RoundingAudit(*audit(claim, positions)), unit


def _kernel_of(
    entries: Entries, constraint: TVCS, dense: Callable[..., Any], edges: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the kernel for a table, or that for a list with the groups of its entries."""
    if entries.is_matrix:
        return dense
    row_of, col_of = entries.labels(constraint)
    return partial(edges, writeable(row_of), writeable(col_of))


def _exact_violation(
    entries: Entries, constraint: TVCS, solved: PricedSupport, positions: NDArray[np.int64]
) -> float:
    """Return by how much entries are on the wrong side of their prices, summed exactly.

    Entries in groups with cap 0 do not count, whatever the price.
    """
    at = positions if entries.indices is None else entries.indices[positions]
    row_of, col_of = constraint.labels_at(at)
    mask = solved.mask.reshape(-1)[positions]
    # An entry in no group has label -1, which selects the appended element.
    u, w = np.append(solved.row_duals, 0.0)[row_of], np.append(solved.col_duals, 0.0)[col_of]
    may_be_kept = np.full(positions.size, constraint.total > 0)
    for caps, group in ((constraint.row_caps, row_of), (constraint.col_caps, col_of)):
        may_be_kept &= np.append(caps, 1)[group] > 0
    # Everything as integers in one power of two.
    gains, k = entries.exact_gains(positions, constraint)
    total, k = np.array([solved.total_dual]), k - entries.unit
    unit = min(k, lowest_bit(np.concatenate([u, w, total])))
    prices = zip(to_integers(u, unit), to_integers(w, unit), strict=True)
    [price], hidden = to_integers(total, unit), 0
    for gain, (u_of, w_of), is_kept, may_be in zip(
        gains, prices, mask.tolist(), may_be_kept.tolist(), strict=True
    ):
        surplus = (gain << (k - unit)) - price - u_of - w_of
        if may_be and (surplus < 0 if is_kept else surplus > 0):
            hidden += abs(surplus)
    exact = hidden * Fraction(2) ** unit
    rounded = float(exact)
    return rounded if rounded >= exact else math.nextafter(rounded, math.inf)
