"""V at the door: checked once, with what keeping each of its entries is worth."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tvcs_core.constraint import TVCS
from tvcs_core.files.matrices import refuse_masked

# Gains are squares and are summed: beyond this size their sum may not be a float64.
LARGEST = 2.0**500
# Every integer up to here is a float64.
LARGEST_INTEGER = 2**53
# Values of this exponent or less are squared as they are; others are scaled first.
SAFE_EXPONENT = 200
# Gains further apart than this power of two cannot all be counted on a grid in one unit.
WIDEST = 900
# The least exponent of a gain in its unit: smaller ones are not 0 either.
LEAST = -1073
# Values of this many bits have gains that are not rounded.
SHORT = 20
# Binary digits of a float64, and an exponent above that of any.
DIGITS, LONGEST = 53, 1100
# Below the exponent of any gain.
NONE = -5000


class Entries(NamedTuple):
    """What may be kept and what each entry of it is worth.

    Attributes
    ----------
    V
        The checked input, float64: an array, or a sparse one as coordinates without repeats.
    gains
        What keeping each entry is worth, in units of ``2**unit``; or, if `squared`, the values
        whose squares are that. A matrix where V is one whose rows and columns are the groups,
        else a list.
    squared, unit
        See `gains`.
    where
        The entries' places in the flat array of the constraint's shape; None for all of them.
    """

    V: Any
    gains: NDArray[np.float64]
    squared: bool
    unit: int
    where: NDArray[np.int64] | None

    @property
    def is_matrix(self) -> bool:
        """Whether `gains` is a matrix whose rows and columns are the groups."""
        return self.gains.ndim == 2

    def as_list(self) -> Entries:
        """The same entries with their gains, not their square roots, in a list."""
        gains = np.square(self.gains) if self.squared else self.gains
        return self._replace(gains=gains.ravel(), squared=False)

    @property
    def is_sparse(self) -> bool:
        """Whether V is a sparse matrix, whose stored entries are the only candidates."""
        return self.where is not None

    @property
    def values(self) -> NDArray[np.float64]:
        """The values themselves, one by one, in the order of the gains."""
        return self.V.data if self.is_sparse else self.V.ravel()

    def are_short(self, constraint: TVCS) -> bool:
        """Whether values and bounds have so few bits that no gain was rounded."""
        values = self.values
        clipped = self.clip(values.reshape(self._shape), constraint).ravel()
        largest = float(np.abs(values).max(initial=0.0))
        scale = SHORT - math.frexp(largest)[1]
        return all(
            bool((whole == np.rint(whole)).all())
            for whole in (np.ldexp(values, scale), np.ldexp(clipped, scale))
        )

    def exact_gains(self, places: NDArray[np.int64], constraint: TVCS) -> tuple[list[int], int]:
        """What keeping the entries at `places` is worth, exactly: whole numbers in units of 2**k.

        Returned with k.
        """
        values = self.values
        clipped = self.clip(values.reshape(self._shape), constraint).ravel()
        values, clipped = values[places], clipped[places]
        k = lowest_bit(np.concatenate([values, clipped]))
        both = zip(whole(values, k), whole(clipped, k), strict=True)
        return [nearest * (2 * value - nearest) for value, nearest in both], 2 * k

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.V.data if self.is_sparse else self.V).shape

    def labels(self, constraint: TVCS) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row group and column group of every entry."""
        return constraint.labels if self.where is None else constraint.labels_at(self.where)

    def places(self, constraint: TVCS) -> NDArray[np.int64]:
        """How many entries of the same pair of groups come before each entry."""
        if self.where is None:
            return constraint.places
        if constraint.row_of is None:
            return np.zeros(self.where.size, dtype=np.int64)
        return constraint.places[self.where]

    def clip(self, values: NDArray[np.float64], constraint: TVCS) -> NDArray[np.float64]:
        """The nearest point of the box to each of `values`, a list or an array of the shape."""
        if constraint.bounds is None:
            return values
        return np.clip(values, *_bounds(constraint, self.where, values.shape))


def lowest_bit(numbers: NDArray[np.float64]) -> int:
    """The exponent k of a power of two of which all the numbers are multiples."""
    exponents = np.frexp(numbers)[1]
    return int(exponents.min(initial=LONGEST, where=numbers != 0.0)) - DIGITS


def whole(numbers: NDArray[np.float64], k: int) -> list[int]:
    """The numbers in units of 2**k, which they are multiples of."""
    mantissas, exponents = np.frexp(numbers)
    digits = np.ldexp(mantissas, DIGITS).astype(np.int64).tolist()
    shifts = np.maximum(exponents - DIGITS - k, 0).tolist()
    return [number << shift for number, shift in zip(digits, shifts, strict=True)]


def enter(V: Any, constraint: TVCS) -> Entries:
    """Check V against `constraint` and measure what each entry is worth.

    Raises
    ------
    ValueError, TypeError
        If V has another shape, holds anything but finite real numbers, or is too large.
    """
    where = None
    if sparse.issparse(V):
        V = _coordinates(V, constraint.shape)
        where = np.ravel_multi_index(V.coords, constraint.shape)
        values = V.data
    else:
        refuse_masked("V", V)
        array = np.asarray(V)
        _check_shape(array.shape, constraint.shape)
        _check_type(array.dtype)
        V = values = np.ascontiguousarray(array, dtype=np.float64)
        if array.dtype.kind in "iu":
            _check_integers(array)
        if constraint.row_of is not None:
            values = values.ravel()
    largest = _check_range(values)
    is_plain = constraint.bounds is None and constraint.allowed is None
    if is_plain and abs(math.frexp(largest)[1]) <= SAFE_EXPONENT:
        return Entries(V, values, True, 0, where)
    gains, unit = _gains(values, constraint, where)
    return Entries(V, gains, False, unit, where)


def _gains(
    values: NDArray[np.float64], constraint: TVCS, where: NDArray[np.int64] | None
) -> tuple[NDArray[np.float64], int]:
    """Gains and their exponent: ``v**2 - (v - clip(v))**2 = clip(v) (2 v - clip(v))``.

    Mantissas and exponents are multiplied apart and brought to the scale of the largest gain that
    is allowed, so that nothing is lost to a huge value that a mask or a box leaves little of.
    """
    clipped = values
    if constraint.bounds is not None:
        clipped = np.clip(values, *_bounds(constraint, where, values.shape))
    (gains, power), (other, more) = np.frexp(clipped), np.frexp(2.0 * values - clipped)
    gains *= other
    power += more
    if constraint.allowed is not None:
        allowed = constraint.allowed.reshape(values.shape) if where is None else None
        gains[~(constraint.allowed.ravel()[where] if allowed is None else allowed)] = 0.0
    kept, rest = np.frexp(gains)
    power += rest
    unit = int(power.max(initial=NONE, where=kept > 0.0))
    if unit == NONE:
        return gains, 0
    if int(power.min(initial=unit, where=kept > 0.0)) < unit - WIDEST:
        _refuse_drowned(np.where(kept > 0.0, power, NONE).ravel(), unit, constraint, where)
    return np.ldexp(kept, np.maximum(power - unit, LEAST)), unit


def _refuse_drowned(
    power: NDArray[Any], unit: int, constraint: TVCS, where: NDArray[np.int64] | None
) -> None:
    """Refuse gains that a group with cap 0 outweighs so much that float64 holds not both."""
    row_of, col_of = constraint.labels if where is None else constraint.labels_at(where)
    closed_rows, closed_cols = (
        np.append(caps == 0, False) for caps in (constraint.row_caps, constraint.col_caps)
    )
    largest = int(power.max(initial=NONE, where=~(closed_rows[row_of] | closed_cols[col_of])))
    if NONE < largest < unit - WIDEST:
        raise ValueError(
            "V: what may be kept must be at least 1e-135 of what is in groups with cap 0, "
            f"found {2.0 ** ((largest - unit) / 2):.1g} of it; set the entries of those groups to 0"
        )


def _bounds(
    constraint: TVCS, where: NDArray[np.int64] | None, shape: tuple[int, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    assert constraint.bounds is not None
    lower, upper = (np.broadcast_to(side, constraint.shape) for side in constraint.bounds)
    if where is not None:
        at = np.unravel_index(where, constraint.shape)
        return lower[at], upper[at]
    return lower.reshape(shape), upper.reshape(shape)


def _coordinates(V: Any, shape: tuple[int, ...]) -> Any:
    """A sparse V as float64 coordinates in row order, repeated entries added."""
    _check_shape(V.shape, shape)
    if len(shape) != 2:
        raise ValueError(f"V must be a matrix or an array, found a sparse one of shape {shape}")
    _check_type(V.dtype)
    if V.dtype.kind in "iu":
        _check_integers(V.data if hasattr(V, "data") else V.tocoo().data)
    canonical = sparse.csr_array(V, copy=True)
    canonical.sum_duplicates()
    return canonical.astype(np.float64).tocoo()


def _check_shape(found: tuple[int, ...], shape: tuple[int, ...]) -> None:
    if found != shape:
        raise ValueError(f"V must have the constraint's shape {shape}, found {found}")


def _check_type(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "buif":
        raise TypeError(f"V must be real numbers, found {dtype}")


def _check_integers(array: NDArray[Any]) -> None:
    largest = max(-int(array.min()), int(array.max())) if array.size else 0
    if largest > LARGEST_INTEGER:
        raise ValueError(
            "V: integers must be at most 2**53 in size, so that they are float64 numbers, "
            f"found {largest}"
        )


def _check_range(values: NDArray[np.float64]) -> float:
    """The largest size of a value, refused if it is too large or some value is not finite."""
    if not values.size:
        return 0.0
    flat = values.reshape(-1)
    low, high = float(np.minimum.reduce(flat)), float(np.maximum.reduce(flat))
    if math.isnan(low):
        raise ValueError("V must be finite, found NaN")
    largest = max(-low, high)
    if largest > LARGEST:
        if math.isinf(largest):
            raise ValueError("V must be finite, found an infinity")
        raise ValueError(
            f"V must be at most {LARGEST:.2g} in size, because squares of it are summed, "
            f"found {largest:.2g}"
        )
    return largest
