"""Independent check of projections: no kernel and no solver, only the definition.

The check is short because of weak duality (Lemma 1 and section 4.1 of the paper). For prices
u, w, l >= 0 the objective of every feasible support, the sum of its gains, is at most

    sum(u * row_caps) + sum(w * col_caps) + l * total + sum(max(0, gain - u[row] - w[col] - l)).

So a feasible support whose objective equals this bound is optimal, however it was found. If all
values and prices are integers (times one power of two) the sums are exact. Otherwise every sum is
rounded once (`math.fsum`), and if the two look equal, exact arithmetic decides. An entry that a
sparse V does not store is not allowed, has gain 0 and takes no memory.
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

from tvcs_core.arguments import check_type
from tvcs_core.constraint import TVCS
from tvcs_core.files.display import summary
from tvcs_core.files.errors import DataError
from tvcs_core.projection.blocks.projection import BlockProjection
from tvcs_core.projection.blocks.proof import prove_support
from tvcs_core.projection.blocks.readers import BlockReaders
from tvcs_core.projection.projection import Projection

# Largest relative gap of an inexact certificate: terms are off by 2^-50, sums are rounded once.
TOLERANCE = 1e-9
# Bounds on the rounding error of a surplus, three operations on a rounded product: this share of
# its terms, plus this much if a term underflows.
ROUNDING, UNDERFLOW = 2.0**-50, 2.0**-1000
# Most bits of values and prices summed as int64: a gain is below 2^40, three prices below 2^62.
VALUE_BITS, PRICE_BITS = 20, 60


@dataclass(frozen=True)
class Certificate:
    """Result of the certificate check.

    Attributes
    ----------
    violations
        One sentence for each violated cap, forbidden entry or wrong value.
    objective
        Sum of the gains of the support, computed anew.
    bound
        Upper bound on the objective of every feasible support.
    exact
        Whether the sums were computed in exact arithmetic.
    """

    violations: tuple[str, ...]
    objective: float
    bound: float
    exact: bool

    __repr__ = summary

    @property
    def gap(self) -> float:
        """`bound` - `objective`; a gap of 0 is exact."""
        return self.bound - self.objective

    @property
    def feasible(self) -> bool:
        """Whether every cap is satisfied and `matrix` equals V on the support."""
        return not self.violations

    @property
    def optimal(self) -> bool:
        """Whether feasible with gap 0 (if `exact`), or at most 1e-9 of the objective."""
        return self.feasible and self.gap <= (0.0 if self.exact else TOLERANCE * self.objective)


def certify(projection: Projection) -> Certificate:
    """Check a projection using only the definition of TVCS and weak duality.

    Parameters
    ----------
    projection
        A result of `project` or `Projection.load`. Only V, the constraint, the support, the
        matrix and the prices are used, not its `objective` or `gap`.
    """
    check_type("projection", projection, Projection)
    entries = _entries(projection)
    kept = entries.row[entries.in_support], entries.col[entries.in_support]
    violations = [*_cap_violations(projection.constraint, *kept), *_value_violations(entries)]
    prices = (projection.row_duals, projection.col_duals, np.array([projection.total_dual]))
    if any(not (p >= 0).all() for p in prices):
        violations.append("a price is negative or not a number")
    objective, bound, exact = _objective_and_bound(projection, entries)
    return Certificate(tuple(violations), objective, bound, exact)


def certify_blocks(projection: BlockProjection, blocks: Any) -> Certificate:
    """Check a projection of blocks using only the definition of TVCS and weak duality.

    Every entry of every block is read again. Bound and objective are summed in floating point, so
    the certificate is never `exact`.

    Parameters
    ----------
    projection
        A result of `project_blocks` or `BlockProjection.load`. Its `objective` and `gap` are not
        used.
    blocks
        As for `project_blocks`.

    Raises
    ------
    DataError
        If a block cannot be read, or the blocks together have another shape.
    """
    check_type("projection", projection, BlockProjection)
    constraint, readers = projection.constraint, BlockReaders(blocks, threads=1, retries=2)
    if readers.shape != constraint.shape:
        raise DataError(f"the blocks have shape {readers.shape}, the projection {constraint.shape}")
    rows, cols = projection.rows, projection.cols
    u, w, price = projection.row_duals, projection.col_duals, projection.total_dual
    violations = [*_cap_violations(constraint, rows, cols)]
    prices = np.concatenate([u, w, [price]])
    if not (np.isfinite(prices) & (prices >= 0)).all():
        violations.append("a price is negative or no finite number")
    inside = (rows >= 0) & (rows < readers.shape[0]) & (cols >= 0) & (cols < readers.shape[1])
    positions = rows * readers.shape[1] + cols
    if not inside.all() or (np.diff(positions) <= 0).any():
        violations.append("the support must list entries row by row, each once")
    if violations:
        return Certificate(tuple(violations), 0.0, math.inf, False)

    proofs = prove_support(readers, rows, cols, projection.values, (u, w, price))
    violations += [
        f"{name}: {proof.wrong} values of the projection are not those of the block"
        for name, proof in zip(readers.names, proofs, strict=True)
        if proof.wrong
    ]
    bound = [float(u @ constraint.row_caps), float(w @ constraint.col_caps)]
    bound += [price * constraint.total, *(proof.surplus for proof in proofs)]
    objective = math.fsum(proof.objective for proof in proofs)
    return Certificate(tuple(violations), objective, math.fsum(bound), False)


@dataclass(frozen=True)
class _Entries:
    """The entries that V, the support or the matrix stores, as parallel arrays.

    Attributes
    ----------
    row, col
        Groups, -1 for none.
    v, nearest, projected
        Value in V, nearest value within the bounds, and value in the projection.
    in_support, allowed
        Whether the entry is in the support, and whether it may be.
    """

    row: NDArray[np.int64]
    col: NDArray[np.int64]
    v: NDArray[np.float64]
    nearest: NDArray[np.float64]
    projected: NDArray[np.float64]
    in_support: NDArray[np.bool_]
    allowed: NDArray[np.bool_]


def _entries(projection: Projection) -> _Entries:
    constraint = projection.constraint
    values, support, matrix = projection.values, projection.support, projection.matrix
    if sparse.issparse(values):
        parts = [_stored(part, constraint.shape) for part in (values, support, matrix)]
        indices = np.unique(np.concatenate([stored for stored, _ in parts]))
        v, in_support, projected = (_values_at(indices, *part) for part in parts)
        allowed = np.isin(indices, parts[0][0])
    else:
        indices = np.arange(values.size)
        v, in_support, projected = values.ravel(), support.ravel(), matrix.ravel()
        allowed = np.ones(v.size, dtype=bool)
    at = np.unravel_index(indices, constraint.shape)
    row, col = at[0], at[-1]
    if constraint.row_of is not None and constraint.col_of is not None:
        row, col = constraint.row_of[at], constraint.col_of[at]
    if constraint.allowed is not None:
        allowed &= constraint.allowed[at]
    nearest = v
    if constraint.bounds is not None:
        lower, upper = (np.broadcast_to(b, constraint.shape)[at] for b in constraint.bounds)
        nearest = np.minimum(np.maximum(v, lower), upper)
    return _Entries(row, col, v, nearest, projected, in_support.astype(bool), allowed)


def _stored(array: Any, shape: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return flat indices and values of the entries that a sparse array stores, in order."""
    canonical = sparse.csr_array(array, copy=True)
    canonical.sum_duplicates()
    coordinates = canonical.tocoo()
    return np.ravel_multi_index(coordinates.coords, shape).astype(np.int64), coordinates.data


def _values_at(
    indices: NDArray[np.int64], stored: NDArray[np.int64], stored_values: NDArray[Any]
) -> NDArray[Any]:
    """Return the stored values at `indices`, 0 for entries that are not stored."""
    values = np.zeros(indices.size, dtype=stored_values.dtype)
    values[np.searchsorted(indices, stored)] = stored_values
    return values


def _cap_violations(
    constraint: TVCS, rows: NDArray[np.int64], cols: NDArray[np.int64]
) -> Iterator[str]:
    """Yield a sentence for every cap that a support violates, given the groups of its entries."""
    for name, group, caps in (
        ("row", rows, constraint.row_caps),
        ("column", cols, constraint.col_caps),
    ):
        used = np.bincount(group[(group >= 0) & (group < caps.size)], minlength=caps.size)
        for g in np.flatnonzero(used > caps):
            yield f"{name} {g} keeps {used[g]}, its cap is {caps[g]}"
    if rows.size > constraint.total:
        yield f"{rows.size} entries are kept, the total cap is {constraint.total}"


def _value_violations(entries: _Entries) -> Iterator[str]:
    """Yield a sentence for every forbidden entry in the support and every wrong value."""
    row, col = entries.row, entries.col
    for e in np.flatnonzero(entries.in_support & ~entries.allowed):
        yield f"the entry in row {row[e]}, column {col[e]} is not allowed but kept"
    expected = np.where(entries.in_support, entries.nearest, 0.0)
    for e in np.flatnonzero(entries.projected != expected):
        yield (
            f"the entry in row {row[e]}, column {col[e]} must be {float(expected[e])}, "
            f"found {float(entries.projected[e])}"
        )


def _objective_and_bound(projection: Projection, entries: _Entries) -> tuple[float, float, bool]:
    """Return objective, bound, and whether both are exact (all numbers are short integers)."""
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
    zero = np.zeros(1, dtype=u.dtype)  # price of group -1, which index -1 finds at the end
    row_price, col_price = np.append(u, zero), np.append(w, zero)
    with np.errstate(all="ignore"):  # prices may be NaN or infinite
        charged = row_price[entries.row[allowed]] + col_price[entries.col[allowed]] + price
        surplus = gains - charged

    def terms_of_bound() -> Iterator[Any]:
        yield from surplus[surplus > 0].tolist()
        for prices, caps in ((u, constraint.row_caps), (w, constraint.col_caps)):
            priced = np.flatnonzero(prices)
            pairs = zip(prices[priced].tolist(), caps[priced].tolist(), strict=True)
            yield from (p * cap for p, cap in pairs)
        yield price * constraint.total

    is_in_support = entries.in_support[allowed]
    terms_of_objective = gains[is_in_support].tolist()
    if unit is None:
        objective, bound = math.fsum(terms_of_objective), math.fsum(terms_of_bound())
        if bound > objective and bound > UNDERFLOW:
            return objective, bound, False
        with np.errstate(all="ignore"):
            error = ROUNDING * (gains + np.abs(charged)) + UNDERFLOW
            unclear = np.where(is_in_support, surplus <= error, surplus >= -error)
        gap = _exact_gap(projection, entries, np.flatnonzero(allowed)[unclear])
        return objective, _objective_plus(objective, gap) if gap is not None else bound, False
    objective, bound = (sum(terms) for terms in (terms_of_objective, terms_of_bound()))
    rounded = math.ldexp(objective, 2 * unit), math.ldexp(bound, 2 * unit)
    if bound > objective:  # rounding must not make unequal sums equal
        rounded = rounded[0], max(rounded[1], math.nextafter(rounded[0], math.inf))
    return *rounded, True


def _exact_gap(
    projection: Projection, entries: _Entries, unclear: NDArray[np.int64]
) -> Fraction | None:
    """Return bound - objective as an exact fraction; None if a number is not finite.

    By complementary slackness the gap is a sum of terms >= 0: every cap adds its price times its
    unused capacity; every entry outside the support adds its positive surplus, every entry in it
    its negative one. Only `unclear` entries can add something. An entry closed by a cap of 0 adds
    nothing, since its group's price could be as large as needed.
    """
    constraint, in_support = projection.constraint, entries.in_support & entries.allowed
    u, w, price = projection.row_duals, projection.col_duals, float(projection.total_dual)
    numbers = (entries.v[unclear], entries.nearest[unclear], u, w, [price])
    if not all(np.isfinite(x).all() for x in numbers):
        return None
    gap = Fraction(price) * (constraint.total - int(np.count_nonzero(in_support)))
    for group, prices, caps in (
        (entries.row, u, constraint.row_caps),
        (entries.col, w, constraint.col_caps),
    ):
        left = caps - np.bincount(group[in_support & (group >= 0)], minlength=caps.size)
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
        if in_support[e] or not is_closed:
            gap += max(surplus, Fraction(0)) - (surplus if in_support[e] else 0)
    return gap


def _objective_plus(objective: float, gap: Fraction) -> float:
    """Return objective + gap as a float that exceeds the objective exactly if the gap is > 0."""
    if gap <= 0:
        return objective + float(gap)
    return max(objective + float(gap), math.nextafter(objective, math.inf))


def _unit(
    v: NDArray[np.float64], nearest: NDArray[np.float64], prices: NDArray[np.float64]
) -> int | None:
    """Return k such that values are short integers times 2^k and prices times 4^k, or None."""
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
    """Return the exponent of the lowest bit set in any of the numbers, none of which is 0."""
    mantissa, exponent = np.frexp(numbers)
    whole = np.ldexp(np.abs(mantissa), 53).astype(np.int64)
    return int((np.frexp((whole & -whole).astype(np.float64))[1] + exponent).min()) - 54
