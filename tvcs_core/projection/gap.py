"""What a support keeps and how far its prices are from a proof; where rounding decides, exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.constraint import TVCS
from tvcs_core.projection.entries import Entries, lowest_bit, whole
from tvcs_core.projection.exact import writeable
from tvcs_core.projection.kernels.records import Counts, Prices
from tvcs_core.projection.kernels.rounding import (
    CLEAR,
    LEAST,
    Claim,
    Doubt,
    doubt_dense,
    doubt_edges,
)
from tvcs_core.projection.kernels.slackness import slackness_dense, slackness_edges

# Doubtful entries that are looked at one by one; with more of them their sum is bounded.
ROOM = 1_000
# Units between these powers of two leave squares and prices far from the ends of the range.
FAR = 450


def measure(entries: Entries, constraint: TVCS, solved: Any) -> tuple[float, float]:
    """What is kept, and how much more another support could keep at most, in the entries' unit.

    A gap of 0 is a proof in exact arithmetic.
    """
    kept, gap = _slackness(entries, constraint, solved)
    if gap > CLEAR * kept:
        return kept, gap + LEAST * entries.gains.size
    places = np.empty(ROOM, np.int64)
    doubt, unit = _doubt(entries, constraint, solved, places)
    return kept, _with_hidden(entries, constraint, solved, gap, doubt, unit, places)


def upwards(number: float, unit: int) -> float:
    """``number * 2**unit``, rounded up where it underflows."""
    scaled = math.ldexp(number, unit)
    return scaled if math.ldexp(scaled, -unit) >= number else math.nextafter(scaled, math.inf)


def _slackness(entries: Entries, constraint: TVCS, solved: Any) -> tuple[float, float]:
    """What is kept, and the sum of all slacks."""
    prices = Prices(solved.row_duals, solved.col_duals, solved.total_dual)
    worth = (writeable(entries.gains), entries.squared, solved.keep, prices)
    caps = Counts(*constraint.caps)
    if entries.is_matrix:
        kept, slack, has_room = slackness_dense(*worth, caps)
    else:
        row_of, col_of = entries.labels(constraint)
        kept, slack, has_room = slackness_edges(writeable(row_of), writeable(col_of), *worth, caps)
    return kept, _with_room(entries, constraint, solved, slack) if has_room else slack


def _with_room(entries: Entries, constraint: TVCS, solved: Any, slack: float) -> float:
    """Add the prices of all caps times what is left of them."""
    row_of, col_of = entries.labels(constraint)
    row_caps, col_caps, total = constraint.caps
    keep = solved.keep.reshape(-1)
    for group, prices, caps in (
        (row_of[keep], solved.row_duals, row_caps),
        (col_of[keep], solved.col_duals, col_caps),
    ):
        used = np.bincount(group[group >= 0], minlength=caps.size)
        slack += float(prices @ (caps - used))
    return slack + solved.total_dual * (total - int(np.count_nonzero(keep)))


def _with_hidden(
    entries: Entries,
    constraint: TVCS,
    solved: Any,
    gap: float,
    found: Doubt,
    unit: int,
    places: NDArray[np.int64],
) -> float:
    """Add to the sum of all slacks what rounding may hide of it, at most.

    What is doubtful is in the entries' unit times ``2**unit``; the unclear are at `places`.
    """
    if gap > 0.0:
        gap += LEAST * entries.gains.size
    hidden = found.wrong
    if found.unclear > ROOM:
        hidden += found.at_most
    hidden = upwards(hidden, -unit)
    if 0 < found.unclear <= ROOM:
        hidden += _wrong(entries, constraint, solved, places[: found.unclear])
    return math.nextafter(gap + hidden, math.inf) if hidden else gap


def _doubt(
    entries: Entries, constraint: TVCS, solved: Any, places: NDArray[np.int64]
) -> tuple[Doubt, int]:
    """What is doubtful, in the entries' unit divided by a power of two.

    Without a box gains are squares of V, also where they have been squared and scaled already.
    """
    gains, squared, unit, exact = entries.gains, entries.squared, 0, False
    if not squared and constraint.bounds is None and abs(entries.unit) < FAR:
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
    claim = Claim(writeable(gains), squared, exact, solved.keep, prices, caps)
    if entries.is_matrix:
        return Doubt(*doubt_dense(claim, places)), unit
    row_of, col_of = entries.labels(constraint)
    return Doubt(*doubt_edges(writeable(row_of), writeable(col_of), claim, places)), unit


def _wrong(entries: Entries, constraint: TVCS, solved: Any, places: NDArray[np.int64]) -> float:
    """By how much entries are on the wrong side of their prices in exact arithmetic, in all.

    What is in a group that may keep nothing is not, whatever the price.
    """
    at = places if entries.where is None else entries.where[places]
    row_of, col_of = constraint.labels_at(at)
    keep = solved.keep.reshape(-1)[places]
    # What is in no group of a side has label -1, which takes what is appended.
    u, w = np.append(solved.row_duals, 0.0)[row_of], np.append(solved.col_duals, 0.0)[col_of]
    may_be_kept = np.full(places.size, constraint.total > 0)
    for caps, group in ((constraint.row_caps, row_of), (constraint.col_caps, col_of)):
        may_be_kept &= np.append(caps, 1)[group] > 0
    # All in whole multiples of one power of two.
    gains, k = entries.exact_gains(places, constraint)
    total, k = np.array([solved.total_dual]), k - entries.unit
    unit = min(k, lowest_bit(np.concatenate([u, w, total])))
    prices = zip(whole(u, unit), whole(w, unit), strict=True)
    [price], hidden = whole(total, unit), 0
    for gain, (u_of, w_of), is_kept, may_be in zip(
        gains, prices, keep.tolist(), may_be_kept.tolist(), strict=True
    ):
        surplus = (gain << (k - unit)) - price - u_of - w_of
        if may_be and (surplus < 0 if is_kept else surplus > 0):
            hidden += abs(surplus)
    exact = hidden * Fraction(2) ** unit
    found = float(exact)
    return found if found >= exact else math.nextafter(found, math.inf)
