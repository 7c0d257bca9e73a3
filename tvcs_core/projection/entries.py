"""Checked input of a projection: V, and the gain of every entry."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tvcs_core.arguments import array_of
from tvcs_core.constraint import TVCS

# Largest size of a value: 2^23 squares of this size still sum to a float64.
MAX_SIZE = 2.0**500
# Largest integer up to which every integer is a float64.
MAX_INTEGER = 2**53
# V is squared without scaling if the exponent of its largest value is at most this in size.
SAFE_EXPONENT = 200
# Largest ratio of gains, as an exponent, that one unit can represent in float64.
MAX_EXPONENT_RANGE = 900
# Least exponent of a gain in its unit; smaller gains are raised to it, so that they stay above 0.
MIN_EXPONENT = -1073
# Values of at most this many bits have exact gains: products of at most 41 bits.
MAX_SHORT_BITS = 20
# Bits of a float64's mantissa, and an exponent above that of any float64.
MANTISSA_BITS, ABOVE_ALL_EXPONENTS = 53, 1100
# Exponent that stands for a gain of 0, below that of any other gain.
ZERO_EXPONENT = -5000


class Entries(NamedTuple):
    """The candidates of a projection and their gains.

    Attributes
    ----------
    V
        The checked input, float64: an array, or sparse coordinates without duplicates.
    gains
        Gain of each entry in units of ``2**unit``; if `squared`, values whose squares are the
        gains. A matrix if V is one whose rows and columns are the groups, else a list.
    squared, unit
        See `gains`.
    indices
        Flat indices of the entries in the constraint's shape; None for all of them.
    """

    V: Any
    gains: NDArray[np.float64]
    squared: bool
    unit: int
    indices: NDArray[np.int64] | None

    @property
    def is_matrix(self) -> bool:
        """Whether `gains` is a matrix whose rows and columns are the groups."""
        return self.gains.ndim == 2

    def as_list(self) -> Entries:
        """Return the same entries as a list, with their gains instead of square roots."""
        gains = np.square(self.gains) if self.squared else self.gains
        return self._replace(gains=gains.ravel(), squared=False)

    @property
    def is_sparse(self) -> bool:
        """Whether V is sparse, so that only its stored entries are candidates."""
        return self.indices is not None

    @property
    def values(self) -> NDArray[np.float64]:
        """Values of the entries, in the order of the gains."""
        return self.V.data if self.is_sparse else self.V.ravel()

    def are_short(self, constraint: TVCS) -> bool:
        """Return whether values and bounds have so few bits that every gain is exact."""
        values, clipped = self.values, self._clipped(constraint)
        largest = float(np.abs(values).max(initial=0.0))
        scale = MAX_SHORT_BITS - math.frexp(largest)[1]
        return all(
            bool((scaled == np.rint(scaled)).all())
            for scaled in (np.ldexp(values, scale), np.ldexp(clipped, scale))
        )

    def exact_gains(self, positions: NDArray[np.int64], constraint: TVCS) -> tuple[list[int], int]:
        """Return the exact gains of the entries at `positions`, as integers, and their unit.

        The second result is an exponent k: gains are in units of 2**k.
        """
        values, clipped = self.values[positions], self._clipped(constraint)[positions]
        k = lowest_bit(np.concatenate([values, clipped]))
        both = zip(to_integers(values, k), to_integers(clipped, k), strict=True)
        return [nearest * (2 * value - nearest) for value, nearest in both], 2 * k

    def _clipped(self, constraint: TVCS) -> NDArray[np.float64]:
        values = self.V.data if self.is_sparse else self.V
        return clip(values, constraint, self.indices).ravel()

    def labels(self, constraint: TVCS) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return row group and column group of every entry."""
        return constraint.labels if self.indices is None else constraint.labels_at(self.indices)

    def pair_ranks(self, constraint: TVCS) -> NDArray[np.int64]:
        """Return the rank of every entry within its pair of groups; see `TVCS.pair_ranks`."""
        if self.indices is None:
            return constraint.pair_ranks
        if constraint.row_of is None:
            return np.zeros(self.indices.size, dtype=np.int64)
        return constraint.pair_ranks[self.indices]


def lowest_bit(numbers: NDArray[np.float64]) -> int:
    """Return the largest k such that all numbers are multiples of 2**k."""
    exponents = np.frexp(numbers)[1]
    return int(exponents.min(initial=ABOVE_ALL_EXPONENTS, where=numbers != 0.0)) - MANTISSA_BITS


def to_integers(numbers: NDArray[np.float64], k: int) -> list[int]:
    """Return the numbers as integers in units of 2**k, of which they must be multiples."""
    mantissas, exponents = np.frexp(numbers)
    digits = np.ldexp(mantissas, MANTISSA_BITS).astype(np.int64).tolist()
    shifts = np.maximum(exponents - MANTISSA_BITS - k, 0).tolist()
    return [number << shift for number, shift in zip(digits, shifts, strict=True)]


def enter(V: Any, constraint: TVCS) -> Entries:
    """Check V against `constraint` and compute the gain of every entry.

    Raises
    ------
    ValueError, TypeError
        If V has another shape, does not hold finite real numbers only, or is too large.
    """
    indices = None
    if sparse.issparse(V):
        V = _coordinates(V, constraint.shape)
        indices = np.ravel_multi_index(V.coords, constraint.shape)
        values = V.data
    else:
        array = array_of("V", V, copy=False)
        if array.ndim == 0:
            found = type(V).__name__
            raise TypeError(f"V must be an array of shape {constraint.shape}, found {found}")
        _check_shape(array.shape, constraint.shape)
        _check_type(array.dtype)
        V = values = np.ascontiguousarray(array, dtype=np.float64)
        if array.dtype.kind in "iu":
            _check_integers(array)
        if constraint.row_of is not None:
            values = values.ravel()
    largest = _check_range(values, V.shape if indices is None else constraint.shape, indices)
    is_plain = constraint.bounds is None and constraint.allowed is None
    if is_plain and abs(math.frexp(largest)[1]) <= SAFE_EXPONENT:
        return Entries(V, values, True, 0, indices)
    gains, unit = _gains(values, constraint, indices)
    return Entries(V, gains, False, unit, indices)


def _gains(
    values: NDArray[np.float64], constraint: TVCS, indices: NDArray[np.int64] | None
) -> tuple[NDArray[np.float64], int]:
    """Return gains and their exponent: ``v**2 - (v - clip(v))**2 = clip(v) (2 v - clip(v))``.

    Mantissas and exponents are multiplied separately and scaled by the largest allowed gain. So a
    huge value that mask or bounds cut down does not make the other gains underflow.
    """
    clipped = clip(values, constraint, indices)
    (gains, power), (other, more) = np.frexp(clipped), np.frexp(2.0 * values - clipped)
    gains *= other
    power += more
    if constraint.allowed is not None:
        allowed = constraint.allowed.ravel()
        allowed = allowed.reshape(values.shape) if indices is None else allowed[indices]
        gains[~allowed] = 0.0
    kept, rest = np.frexp(gains)
    power += rest
    unit = int(power.max(initial=ZERO_EXPONENT, where=kept > 0.0))
    if unit == ZERO_EXPONENT:
        return gains, 0
    if int(power.min(initial=unit, where=kept > 0.0)) < unit - MAX_EXPONENT_RANGE:
        _refuse_drowned(
            np.where(kept > 0.0, power, ZERO_EXPONENT).ravel(), unit, constraint, indices
        )
    return np.ldexp(kept, np.maximum(power - unit, MIN_EXPONENT)), unit


def _refuse_drowned(
    power: NDArray[Any], unit: int, constraint: TVCS, indices: NDArray[np.int64] | None
) -> None:
    """Raise if gains in a group with cap 0 exceed the others by more than float64 can hold."""
    row_of, col_of = constraint.labels if indices is None else constraint.labels_at(indices)
    closed_rows, closed_cols = (
        np.append(caps == 0, False) for caps in (constraint.row_caps, constraint.col_caps)
    )
    largest = int(
        power.max(initial=ZERO_EXPONENT, where=~(closed_rows[row_of] | closed_cols[col_of]))
    )
    if ZERO_EXPONENT < largest < unit - MAX_EXPONENT_RANGE:
        raise ValueError(
            "V: allowed entries must be at least 1e-135 of those in groups with cap 0, "
            f"found {2.0 ** ((largest - unit) / 2):.1g} of it; set the entries of those groups to 0"
        )


def clip(
    values: NDArray[np.float64], constraint: TVCS, indices: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Clip values to the bounds; they are those at `indices`, or of the whole shape."""
    if constraint.bounds is None:
        return values
    lower, upper = (np.broadcast_to(side, constraint.shape) for side in constraint.bounds)
    if indices is None:
        return np.clip(values, lower.reshape(values.shape), upper.reshape(values.shape))
    at = np.unravel_index(indices, constraint.shape)
    return np.clip(values, lower[at], upper[at])


def _coordinates(V: Any, shape: tuple[int, ...]) -> Any:
    """Return a sparse V as float64 coordinates in row order, with duplicates summed."""
    _check_shape(V.shape, shape)
    if len(shape) != 2:
        raise ValueError(f"V must be a matrix or an array, found a sparse one of shape {shape}")
    _check_type(V.dtype)
    if V.dtype.kind in "iu":
        stored: Any = getattr(V, "data", None)  # the rows of a LIL matrix are lists
        is_plain = isinstance(stored, np.ndarray) and stored.dtype == V.dtype
        _check_integers(stored if is_plain else V.tocoo().data)
    canonical = sparse.csr_array(V, copy=True)
    canonical.sum_duplicates()
    return canonical.astype(np.float64, copy=False).tocoo(copy=False)


def _check_shape(found: tuple[int, ...], shape: tuple[int, ...]) -> None:
    if found != shape:
        raise ValueError(f"V must have the constraint's shape {shape}, found {found}")


def _check_type(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "buif":
        remedy = "; convert them, as by V.astype(float)" if dtype.kind == "O" else ""
        raise TypeError(f"V must be real numbers, found {dtype}{remedy}")


def _check_integers(array: NDArray[Any]) -> None:
    largest = max(-int(array.min()), int(array.max())) if array.size else 0
    if largest > MAX_INTEGER:
        raise ValueError(
            "V: integers must be at most 2**53 in size, so that they are float64 numbers, "
            f"found {largest}"
        )


def _check_range(
    values: NDArray[np.float64], shape: tuple[int, ...], indices: NDArray[np.int64] | None
) -> float:
    """Return the largest size of a value; raise if it is too large or a value is not finite.

    `shape` is that of V, in which `indices` number the values of a sparse one.
    """
    if not values.size:
        return 0.0
    flat = values.reshape(-1)
    low, high = float(np.minimum.reduce(flat)), float(np.maximum.reduce(flat))
    if not (math.isfinite(low) and math.isfinite(high)):
        first = int(np.argmin(np.isfinite(flat)))
        place = np.unravel_index(first if indices is None else indices[first], shape)
        found = str(flat[first]).replace("nan", "NaN")
        raise ValueError(f"V must be finite, found {found} at [{', '.join(map(str, place))}]")
    largest = max(-low, high)
    if largest > MAX_SIZE:
        raise ValueError(
            f"V must be at most {MAX_SIZE:.2g} in size, because squares of it are summed, "
            f"found {largest:.2g}"
        )
    return largest
