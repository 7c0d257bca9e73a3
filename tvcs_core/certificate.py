"""An independent checker of projections: no kernel, no solver, nothing but the definition.

Weak duality makes the check short. With prices u, w, l >= 0 no support that keeps the caps
gains more than

    sum(u * row_caps) + sum(w * col_caps) + l * total + sum(max(0, gain - u[row] - w[col] - l)).

A support that keeps the caps and gains that much is optimal, whoever found it. Where all
values and prices are integers (times one power of two) the sums are exact; elsewhere every sum is
rounded once (`math.fsum`), and where the two look equal exact arithmetic says whether they are. An
entry that a sparse V does not store is not allowed, gains nothing and takes no memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tvcs_core.arguments import require_kind
from tvcs_core.files.errors import DataError
from tvcs_core.projection.blocks.holders import Crew
from tvcs_core.projection.blocks.projection import BlockProjection
from tvcs_core.projection.blocks.proof import Proof, Prove
from tvcs_core.projection.projection import Projection

TOLERANCE = 1e-9
# More than what a surplus is rounded by: this share of what goes into it, and this if it is tiny.
ROUNDING, UNDERFLOW = 2.0**-50, 2.0**-1000
# Values of up to so many bits, and prices of up to so many, are summed as integers.
VALUE_BITS, PRICE_BITS = 20, 60


@dataclass(frozen=True)
class Certificate:
    """What the checker found.

    Attributes
    ----------
    violations
        One sentence for each cap, forbidden entry or value that is wrong.
    kept
        Gain of the support, summed anew.
    bound
        What no support that keeps the caps can exceed.
    exact
        Whether the sums were done in exact arithmetic.
    """

    violations: tuple[str, ...]
    kept: float
    bound: float
    exact: bool

    @property
    def gap(self) -> float:
        """`bound` - `kept`; 0 only where that is exact."""
        return self.bound - self.kept

    @property
    def feasible(self) -> bool:
        """Whether every cap is kept and `matrix` is V on the support."""
        return not self.violations

    @property
    def optimal(self) -> bool:
        """Feasible with no gap: none where sums are exact, else 1e-9 of `kept` at most."""
        return self.feasible and self.gap <= (0.0 if self.exact else TOLERANCE * self.kept)


def certify(projection: Projection) -> Certificate:
    """Check a projection by the definition of TVCS and weak duality alone.

    Parameters
    ----------
    projection
        As `project` returned it or `Projection.load` read it. Only V, the constraint, the
        support, the matrix and the prices are used, not its `kept` or `gap`.
    """
    require_kind("projection", projection, Projection)
    entries = _entries(projection)
    violations = [*_full_groups(projection, entries), *_wrong_entries(entries)]
    prices = (projection.row_duals, projection.col_duals, np.array([projection.total_dual]))
    if any(not (p >= 0).all() for p in prices):
        violations.append("a price is negative or not a number")
    kept, bound, exact = _sums(projection, entries)
    return Certificate(tuple(violations), kept, bound, exact)


def certify_blocks(projection: BlockProjection, blocks: Any) -> Certificate:
    """Check a projection of blocks by the definition of TVCS and weak duality alone.

    Every entry of every block is read again. Bound and kept gain are summed apart and not as
    integers, so the certificate is never `exact`.

    Parameters
    ----------
    projection
        As `project_blocks` returned it or `BlockProjection.load` read it. Its `kept` and `gap` are
        not used.
    blocks
        As for `project_blocks`.

    Raises
    ------
    DataError
        If a block cannot be read, or the blocks have another shape together.
    """
    require_kind("projection", projection, BlockProjection)
    constraint, crew = projection.constraint, Crew(blocks, threads=1, retries=2)
    if crew.shape != constraint.shape:
        raise DataError(f"the blocks have shape {crew.shape}, the projection {constraint.shape}")
    rows, cols = projection.rows, projection.cols
    u, w, price = projection.row_duals, projection.col_duals, projection.total_dual
    violations = [*_full_lines(projection)]
    prices = np.concatenate([u, w, [price]])
    if not (np.isfinite(prices) & (prices >= 0)).all():
        violations.append("a price is negative or no finite number")
    inside = (rows >= 0) & (rows < crew.shape[0]) & (cols >= 0) & (cols < crew.shape[1])
    places = rows * crew.shape[1] + cols
    if not inside.all() or (np.diff(places) <= 0).any():
        violations.append("the support must list places of the shape row by row, each once")
    if violations:
        return Certificate(tuple(violations), 0.0, math.inf, False)

    def prove(block: int) -> Prove:
        of_block = crew.rows(block)
        at = slice(*np.searchsorted(rows, [of_block.start, of_block.stop]))
        mine = rows[at] - of_block.start, cols[at], projection.values[at]
        return Prove(u[of_block], w, price, *mine)

    proofs: list[Proof] = crew.ask(prove)
    violations += [
        f"{name}: {proof.wrong} values of the projection are not those of the block"
        for name, proof in zip(crew.names, proofs, strict=True)
        if proof.wrong
    ]
    bound = [float(u @ constraint.row_caps), float(w @ constraint.col_caps)]
    bound += [price * constraint.total, *(proof.surplus for proof in proofs)]
    kept = math.fsum(proof.kept for proof in proofs)
    return Certificate(tuple(violations), kept, math.fsum(bound), False)


def _full_lines(projection: BlockProjection) -> Iterator[str]:
    """A sentence for every cap that a list of entries does not keep."""
    constraint = projection.constraint
    for name, group, caps in (
        ("row", projection.rows, constraint.row_caps),
        ("column", projection.cols, constraint.col_caps),
    ):
        used = np.bincount(group[(group >= 0) & (group < caps.size)], minlength=caps.size)
        for g in np.flatnonzero(used > caps):
            yield f"{name} {g} keeps {used[g]}, its cap is {caps[g]}"
    if projection.rows.size > constraint.total:
        yield f"{projection.rows.size} entries are kept, the total cap is {constraint.total}"


@dataclass(frozen=True)
class _Entries:
    """What is known of every entry that V, the support or the matrix holds.

    Attributes
    ----------
    row, col
        Its groups, -1 for none.
    v, nearest, found
        Its value in V, the nearest one in the box, and that in the projection.
    kept, allowed
        Whether it is in the support, and whether it may be.
    """

    row: NDArray[np.int64]
    col: NDArray[np.int64]
    v: NDArray[np.float64]
    nearest: NDArray[np.float64]
    found: NDArray[np.float64]
    kept: NDArray[np.bool_]
    allowed: NDArray[np.bool_]


def _entries(projection: Projection) -> _Entries:
    constraint = projection.constraint
    values, support, matrix = projection.values, projection.support, projection.matrix
    if sparse.issparse(values):
        parts = [_stored(part, constraint.shape) for part in (values, support, matrix)]
        where = np.unique(np.concatenate([places for places, _ in parts]))
        v, kept, found = (_looked_up(where, *part) for part in parts)
        allowed = np.isin(where, parts[0][0])
    else:
        where = np.arange(values.size)
        v, kept, found = values.ravel(), support.ravel(), matrix.ravel()
        allowed = np.ones(v.size, dtype=bool)
    at = np.unravel_index(where, constraint.shape)
    row, col = at[0], at[-1]
    if constraint.row_of is not None and constraint.col_of is not None:
        row, col = constraint.row_of[at], constraint.col_of[at]
    if constraint.allowed is not None:
        allowed &= constraint.allowed[at]
    nearest = v
    if constraint.bounds is not None:
        lower, upper = (np.broadcast_to(b, constraint.shape)[at] for b in constraint.bounds)
        nearest = np.minimum(np.maximum(v, lower), upper)
    return _Entries(row, col, v, nearest, found, kept.astype(bool), allowed)


def _stored(array: Any, shape: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Flat places of what a sparse array stores, in order and each once, and the values there."""
    canonical = sparse.csr_array(array, copy=True)
    canonical.sum_duplicates()
    coordinates = canonical.tocoo()
    return np.ravel_multi_index(coordinates.coords, shape).astype(np.int64), coordinates.data


def _looked_up(
    where: NDArray[np.int64], places: NDArray[np.int64], stored: NDArray[Any]
) -> NDArray[Any]:
    """The values at `where`, 0 at places where none is stored."""
    values = np.zeros(where.size, dtype=stored.dtype)
    values[np.searchsorted(where, places)] = stored
    return values


def _full_groups(projection: Projection, entries: _Entries) -> Iterator[str]:
    """A sentence for every cap that is not kept."""
    constraint = projection.constraint
    for name, group, caps in (
        ("row", entries.row, constraint.row_caps),
        ("column", entries.col, constraint.col_caps),
    ):
        used = np.bincount(group[entries.kept & (group >= 0)], minlength=caps.size)
        for g in np.flatnonzero(used > caps):
            yield f"{name} {g} keeps {used[g]}, its cap is {caps[g]}"
    kept = int(np.count_nonzero(entries.kept))
    if kept > constraint.total:
        yield f"{kept} entries are kept, the total cap is {constraint.total}"


def _wrong_entries(entries: _Entries) -> Iterator[str]:
    """A sentence for every entry that may not be kept, or whose value is not that of V."""
    row, col = entries.row, entries.col
    for e in np.flatnonzero(entries.kept & ~entries.allowed):
        yield f"the entry in row {row[e]}, column {col[e]} is not allowed but kept"
    right = np.where(entries.kept, entries.nearest, 0.0)
    for e in np.flatnonzero(entries.found != right):
        yield (
            f"the entry in row {row[e]}, column {col[e]} must be {float(right[e])}, "
            f"found {float(entries.found[e])}"
        )


def _sums(projection: Projection, entries: _Entries) -> tuple[float, float, bool]:
    """Kept gain and bound, exactly if every number is an integer times one power of two."""
    constraint, allowed = projection.constraint, entries.allowed
    v: NDArray[Any] = entries.v[allowed]
    nearest: NDArray[Any] = entries.nearest[allowed]
    u: NDArray[Any] = projection.row_duals
    w: NDArray[Any] = projection.col_duals
    price = projection.total_dual
    unit = _unit(v, nearest, np.concatenate([u, w, [price]]))
    if unit is not None:
        v, nearest = (np.ldexp(x, -unit).astype(np.int64) for x in (v, nearest))
        u, w = (np.ldexp(x, -2 * unit).astype(np.int64) for x in (u, w))
        price = int(math.ldexp(price, -2 * unit))
    gains = nearest * (2 * v - nearest)
    zero = np.zeros(1, dtype=u.dtype)  # the price of no group: that is group -1, the last
    row_price, col_price = np.append(u, zero), np.append(w, zero)
    with np.errstate(all="ignore"):  # of prices that are not numbers
        charged = row_price[entries.row[allowed]] + col_price[entries.col[allowed]] + price
        surplus = gains - charged

    def terms_of_bound() -> Iterator[Any]:
        yield from surplus[surplus > 0].tolist()
        for prices, caps in ((u, constraint.row_caps), (w, constraint.col_caps)):
            priced = np.flatnonzero(prices)
            pairs = zip(prices[priced].tolist(), caps[priced].tolist(), strict=True)
            yield from (p * cap for p, cap in pairs)
        yield price * constraint.total

    is_kept = entries.kept[allowed]
    terms_of_kept = gains[is_kept].tolist()
    if unit is None:
        kept, bound = math.fsum(terms_of_kept), math.fsum(terms_of_bound())
        if bound > kept and bound > UNDERFLOW:
            return kept, bound, False
        with np.errstate(all="ignore"):
            doubt = ROUNDING * (gains + np.abs(charged)) + UNDERFLOW
            unclear = np.where(is_kept, surplus <= doubt, surplus >= -doubt)
        gap = _exact_gap(projection, entries, np.flatnonzero(allowed)[unclear])
        return kept, _kept_and(kept, gap) if gap is not None else bound, False
    kept, bound = (sum(terms) for terms in (terms_of_kept, terms_of_bound()))
    rounded = math.ldexp(kept, 2 * unit), math.ldexp(bound, 2 * unit)
    if bound > kept:  # however large the sums are, they do not look equal if they are not
        rounded = rounded[0], max(rounded[1], math.nextafter(rounded[0], math.inf))
    return *rounded, True


def _exact_gap(
    projection: Projection, entries: _Entries, unclear: NDArray[np.int64]
) -> Fraction | None:
    """Bound less kept, term by term; None if some number is infinite or none.

    Every entry adds what it is worth more than its prices and is not kept, or less and is; every
    cap its price for what is left of it. Entries add nothing unless they are `unclear`, nor do
    those that a cap of 0 leaves out at any price.
    """
    constraint, kept = projection.constraint, entries.kept & entries.allowed
    u, w, price = projection.row_duals, projection.col_duals, float(projection.total_dual)
    numbers = (entries.v[unclear], entries.nearest[unclear], u, w, [price])
    if not all(np.isfinite(x).all() for x in numbers):
        return None
    gap = Fraction(price) * (constraint.total - int(np.count_nonzero(kept)))
    for group, prices, caps in (
        (entries.row, u, constraint.row_caps),
        (entries.col, w, constraint.col_caps),
    ):
        left = caps - np.bincount(group[kept & (group >= 0)], minlength=caps.size)
        for g in np.flatnonzero(prices * left):
            gap += Fraction(float(prices[g])) * int(left[g])
    for e in unclear:
        v, nearest = Fraction(float(entries.v[e])), Fraction(float(entries.nearest[e]))
        surplus, is_closed = nearest * (2 * v - nearest) - Fraction(price), constraint.total == 0
        for of, prices, caps in (
            (entries.row[e], u, constraint.row_caps),
            (entries.col[e], w, constraint.col_caps),
        ):
            if of >= 0:
                surplus -= Fraction(float(prices[of]))
                is_closed |= caps[of] == 0
        if kept[e] or not is_closed:
            gap += max(surplus, Fraction(0)) - (surplus if kept[e] else 0)
    return gap


def _kept_and(kept: float, gap: Fraction) -> float:
    """Kept and gap in one number, which is above what is kept just where the gap is above 0."""
    if gap <= 0:
        return kept + float(gap)
    return max(kept + float(gap), math.nextafter(kept, math.inf))


def _unit(
    v: NDArray[np.float64], nearest: NDArray[np.float64], prices: NDArray[np.float64]
) -> int | None:
    """The power of two that values count in as integers, and its square the prices; or None."""
    values, priced = np.concatenate([v, nearest]), prices[prices != 0]
    values = values[values != 0]
    if not (np.isfinite(values).all() and np.isfinite(priced).all()):
        return None
    unit = _lowest_bit(values) if values.size else 0
    if values.size and int(np.frexp(values)[1].max()) - unit > VALUE_BITS:
        return None
    if priced.size:
        highest = int(np.frexp(priced)[1].max())
        if _lowest_bit(priced) < 2 * unit or highest - 2 * unit > PRICE_BITS:
            return None
    return unit


def _lowest_bit(numbers: NDArray[np.float64]) -> int:
    """The exponent of the lowest bit that is set in any of the numbers; none of them is 0."""
    mantissa, exponent = np.frexp(numbers)
    whole = np.ldexp(np.abs(mantissa), 53).astype(np.int64)
    return int((np.frexp((whole & -whole).astype(np.float64))[1] + exponent).min()) - 54
