"""An independent checker of projections: no kernel, no solver, nothing but the definition.

Weak duality makes the check short. With prices u, w, l >= 0 no support that keeps the caps
gains more than

    sum(u * row_caps) + sum(w * col_caps) + l * total + sum(max(0, gain - u[row] - w[col] - l)).

A support that keeps the caps and gains that much is optimal, whoever found it. Where all
gains and prices are integers (times one power of two) the sums are exact; elsewhere every sum is
rounded once (`math.fsum`).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from tvcs_core.projection import Projection

TOLERANCE = 1e-9


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
        """`bound` - `kept`."""
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
    constraint = projection.constraint
    entries = _entries(projection)
    rows = Counter(row for row, _, _, _, keep, _, _ in entries if keep and row >= 0)
    cols = Counter(col for _, col, _, _, keep, _, _ in entries if keep and col >= 0)
    kept_count = sum(keep for *_, keep, _, _ in entries)
    violations = [
        f"{name} {g} keeps {used[g]}, its cap is {int(caps[g])}"
        for name, used, caps in (
            ("row", rows, constraint.row_caps),
            ("column", cols, constraint.col_caps),
        )
        for g in sorted(used)
        if used[g] > caps[g]
    ]
    if kept_count > constraint.total:
        violations.append(f"{kept_count} entries are kept, the total cap is {constraint.total}")
    violations += [
        f"the entry in row {row}, column {col} is not allowed but kept"
        for row, col, _, _, keep, allowed, _ in entries
        if keep and not allowed
    ]
    violations += [
        f"the entry in row {row}, column {col} must be {nearest if keep else 0.0}, found {value}"
        for row, col, _, nearest, keep, _, value in entries
        if value != (nearest if keep else 0.0)
    ]
    prices = (projection.row_duals, projection.col_duals, np.array([projection.total_dual]))
    if any(not (p >= 0).all() for p in prices):
        violations.append("a price is negative or not a number")
    kept, bound, exact = _sums(projection, entries)
    return Certificate(tuple(violations), kept, bound, exact)


def _entries(projection: Projection) -> list[tuple[Any, ...]]:
    """(row, column, v, nearest value in the box, kept, allowed, projected value) of every entry."""
    constraint = projection.constraint
    values, support, matrix = projection.values, projection.support, projection.matrix
    if sparse.issparse(values):
        where = np.ravel_multi_index(values.coords, constraint.shape)
        v = values.data
        keep = np.asarray(support.todense())[values.coords]
        found = np.asarray(matrix.todense())[values.coords]
    else:
        where = np.arange(values.size)
        v, keep, found = values.ravel(), support.ravel(), matrix.ravel()
    if constraint.row_of is None or constraint.col_of is None:
        row_of, col_of = np.unravel_index(where, constraint.shape)
    else:
        row_of, col_of = constraint.row_of.ravel()[where], constraint.col_of.ravel()[where]
    nearest = v
    if constraint.bounds is not None:
        lower, upper = (
            np.broadcast_to(b, constraint.shape).ravel()[where] for b in constraint.bounds
        )
        nearest = np.minimum(np.maximum(v, lower), upper)
    allowed = np.ones(v.size, dtype=bool)
    if constraint.allowed is not None:
        allowed = constraint.allowed.ravel()[where]
    columns = (row_of, col_of, v, nearest, keep, allowed, found)
    return list(zip(*(c.tolist() for c in columns), strict=True))


def _sums(projection: Projection, entries: list[tuple[Any, ...]]) -> tuple[float, float, bool]:
    """Kept gain and bound, exactly if every number is an integer times one power of two."""
    constraint = projection.constraint
    numbers = [e[2] for e in entries] + [e[3] for e in entries]
    prices = [*projection.row_duals.tolist(), *projection.col_duals.tolist()]
    prices.append(projection.total_dual)
    exact = _are_integers(numbers, prices)
    number: Any = Fraction if exact else float
    u = [number(p) for p in projection.row_duals.tolist()]
    w = [number(p) for p in projection.col_duals.tolist()]
    total_dual = number(projection.total_dual)
    kept_terms, bound_terms = [], []
    for row, col, v, nearest, keep, allowed, _ in entries:
        if not allowed:
            continue
        gain = number(nearest) * (2 * number(v) - number(nearest))
        price = (u[row] if row >= 0 else 0) + (w[col] if col >= 0 else 0) + total_dual
        if keep:
            kept_terms.append(gain)
        if gain > price:
            bound_terms.append(gain - price)
    bound_terms += [p * int(cap) for p, cap in zip(u, constraint.row_caps, strict=True)]
    bound_terms += [p * int(cap) for p, cap in zip(w, constraint.col_caps, strict=True)]
    bound_terms.append(total_dual * constraint.total)
    if exact:
        return float(sum(kept_terms)), float(sum(bound_terms)), True
    return math.fsum(kept_terms), math.fsum(bound_terms), False


def _are_integers(numbers: list[float], prices: list[float]) -> bool:
    """Whether the values are integers below 2**20 and the prices integers, up to a power of two."""
    finest = min((_finest_bit(x) for x in numbers if x), default=0)
    widest = max((math.frexp(x)[1] for x in numbers if x), default=0)
    if widest - finest > 20:
        return False
    return all(_finest_bit(p) >= 2 * finest for p in prices if p)


def _finest_bit(x: float) -> int:
    """The exponent of the lowest bit set in x."""
    if not math.isfinite(x):
        return -(2**31)
    numerator, denominator = abs(x).as_integer_ratio()
    return (numerator & -numerator).bit_length() - denominator.bit_length()
