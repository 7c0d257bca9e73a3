"""The projection onto a TVCS, and the prices that prove it optimal."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from tvcs_core.constraint import TVCS
from tvcs_core.errors import DataError
from tvcs_core.kernels.slackness import slackness_dense, slackness_edges
from tvcs_core.relaxations import Solved, solve_lp

# Gains are squares and are summed: beyond this size their sum may not be a float64.
LARGEST = 2.0**500
# Every integer up to here is a float64.
LARGEST_INTEGER = 2**53
FORMAT = "tvcs-projection-1"

METHODS: dict[str, Callable[..., Solved]] = {"exact": solve_lp, "lp": solve_lp}


@dataclass(frozen=True, eq=False)
class Projection:
    """The nearest point of a TVCS to V, and prices that bound what any support can keep.

    Attributes
    ----------
    matrix
        The projection of V: V on the support, clipped to the bounds, and 0 elsewhere.
        Sparse if V was.
    support
        Where `matrix` may differ from 0; boolean, the shape of V, sparse if V was.
    kept
        Sum of the gains on the support: of ``v**2``, or with bounds of
        ``v**2 - (v - clip(v))**2``. In units of V squared, like all that follows.
    row_duals, col_duals, total_dual
        Prices: what one more unit of each cap is worth, at most.
    gap
        How much more any other support could keep, at most: 0 proves that none is better.
    values
        V itself (not a copy).
    constraint
        The constraint.
    """

    matrix: Any = field(repr=False)
    support: Any = field(repr=False)
    kept: float
    row_duals: NDArray[np.float64] = field(repr=False)
    col_duals: NDArray[np.float64] = field(repr=False)
    total_dual: float
    gap: float
    values: Any = field(repr=False)
    constraint: TVCS

    @property
    def bound(self) -> float:
        """No feasible support keeps more than this (weak duality)."""
        return self.kept + self.gap

    @property
    def relative_gap(self) -> float:
        """`gap` as a fraction of `kept`."""
        if self.gap == 0:
            return 0.0
        return self.gap / self.kept if self.kept else math.inf

    def save(self, path: str | Path) -> None:
        """Write the projection, V and the constraint to an `.npz` file that `load` reads."""
        arrays: dict[str, Any] = {"format": np.array(FORMAT)}
        if sparse.issparse(self.values):
            V = self.values.tocoo()
            support = self.support.tocoo()
            arrays |= {"row": V.coords[0], "col": V.coords[1], "values": V.data}
            arrays |= {"support_row": support.coords[0], "support_col": support.coords[1]}
        else:
            arrays |= {"values": self.values, "support": self.support}
        arrays |= {
            "row_duals": self.row_duals,
            "col_duals": self.col_duals,
            "total_dual": np.array(self.total_dual),
            "shape": np.array(self.constraint.shape),
            "row_caps": self.constraint.row_caps,
            "col_caps": self.constraint.col_caps,
            "total": np.array(self.constraint.total),
        }
        for name in ("row_of", "col_of", "allowed"):
            if getattr(self.constraint, name) is not None:
                arrays[name] = getattr(self.constraint, name)
        if self.constraint.bounds is not None:
            arrays["lower"], arrays["upper"] = self.constraint.bounds
        with Path(path).open("wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Projection:
        """Read a projection that `save` wrote.

        `kept` and `gap` are computed anew from what the file holds, so a file that was
        changed by hand does not carry its old proof with it.

        Raises
        ------
        DataError
            If the file is not one that `save` wrote, or is damaged.
        """
        try:
            with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            if str(arrays["format"]) != FORMAT:
                raise ValueError(f"is of format {arrays['format']}, not {FORMAT}")
            return _assemble(arrays)
        except (OSError, EOFError) as error:
            if isinstance(error, FileNotFoundError | IsADirectoryError | PermissionError):
                raise
            raise DataError(f"is not a whole .npz file ({error})", path=path) from None
        except (ValueError, TypeError, LookupError, AttributeError, zipfile.BadZipFile) as error:
            raise DataError(f"is not a saved projection ({error})", path=path) from None


def project(
    V: Any, constraint: TVCS, method: str = "exact", warm: Projection | None = None
) -> Projection:
    """Project V onto `constraint`: the nearest point that keeps every cap.

    Of all supports that keep the caps this is one of largest gain, ``sum(V[support]**2)``
    (Lemma 1 of the paper), and the duals of the result prove it.

    Parameters
    ----------
    V
        Array of finite real numbers, of the constraint's shape, all below 3e150 in size; or a
        scipy sparse matrix, whose stored entries are then the only candidates.
    constraint
        The caps.
    method
        One of `METHODS`. ``"exact"`` and ``"lp"`` (HiGHS) give an optimal support.
    warm
        An earlier projection of a similar V onto the same constraint, to start from. It
        changes the time, never the result.

    Returns
    -------
    Projection
        With the support, its gain, the prices of the caps and the gap.

    Raises
    ------
    ValueError, TypeError
        If V has the wrong shape, holds NaN, infinities or complex numbers, or is too large to
        be squared and summed.

    Examples
    --------
    >>> from tvcs_core import TVCS, project
    >>> projection = project([[3, 2], [2, 0]], TVCS.matrix((2, 2), row_caps=1, col_caps=1))
    >>> projection.matrix.tolist(), projection.kept, projection.gap
    ([[3.0, 0.0], [0.0, 0.0]], 9.0, 0.0)
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, found {method!r}")
    values = _checked(V, constraint.shape)
    entries = _Entries.of(values, constraint)
    solved = METHODS[method](
        entries.row_of,
        entries.col_of,
        entries.gains,
        constraint.row_caps,
        constraint.col_caps,
        constraint.total,
    )
    return _proved(values, constraint, entries, solved)


@dataclass(frozen=True, eq=False)
class _Entries:
    """The candidates one by one; gains are in units of ``2**unit``, the largest about 1."""

    row_of: NDArray[np.int64]
    col_of: NDArray[np.int64]
    values: NDArray[np.float64]
    gains: NDArray[np.float64]
    unit: int
    lower: Any = None
    upper: Any = None

    @classmethod
    def of(cls, values: Any, constraint: TVCS) -> _Entries:
        row_of, col_of = constraint.labels
        if sparse.issparse(values):
            row, col = values.coords
            where = np.ravel_multi_index((row, col), constraint.shape)
            row_of, col_of, flat = row_of[where], col_of[where], values.data
        else:
            where, flat = slice(None), values.ravel()
        lower = upper = None
        if constraint.bounds is not None:
            lower, upper = (
                np.broadcast_to(side, constraint.shape).ravel()[where]
                for side in constraint.bounds
            )
        exponent = _exponent(flat)
        gains = _gains(flat, lower, upper, exponent)
        if constraint.allowed is not None:
            gains[~constraint.allowed.ravel()[where]] = 0.0
        extra = _exponent(gains)  # a box or a mask may leave only small gains
        gains = np.ldexp(gains, -extra)
        return cls(row_of, col_of, flat, gains, 2 * exponent + extra, lower, upper)


def _proved(values: Any, constraint: TVCS, entries: _Entries, solved: Solved) -> Projection:
    """Measure what the support keeps and what its prices leave open."""
    kept, gap = _slackness(entries, solved, constraint)
    matrix = np.where(solved.keep, entries.values, 0.0)
    if entries.lower is not None:
        matrix = np.clip(matrix, entries.lower, entries.upper)
    support: Any = solved.keep
    if sparse.issparse(values):
        row, col = values.coords
        at = (row[support], col[support])
        matrix = sparse.csr_array((matrix[support], at), shape=constraint.shape)
        support = sparse.csr_array((support[support], at), shape=constraint.shape)
    else:
        matrix, support = matrix.reshape(constraint.shape), support.reshape(constraint.shape)
    unit = entries.unit
    return Projection(
        matrix=matrix,
        support=support,
        kept=math.ldexp(kept, unit),
        row_duals=np.ldexp(solved.row_duals, unit),
        col_duals=np.ldexp(solved.col_duals, unit),
        total_dual=math.ldexp(solved.total_dual, unit),
        gap=math.ldexp(gap, unit),
        values=values,
        constraint=constraint,
    )


def _slackness(entries: _Entries, solved: Solved, constraint: TVCS) -> tuple[float, float]:
    used_rows = np.zeros(constraint.row_caps.size, dtype=np.int64)
    used_cols = np.zeros(constraint.col_caps.size, dtype=np.int64)
    kept, slack = slackness_edges(
        np.ascontiguousarray(entries.row_of, dtype=np.int64),
        np.ascontiguousarray(entries.col_of, dtype=np.int64),
        entries.gains,
        solved.keep,
        solved.row_duals,
        solved.col_duals,
        solved.total_dual,
        used_rows,
        used_cols,
    )
    left_rows = constraint.row_caps - used_rows
    left_cols = constraint.col_caps - used_cols
    left_total = constraint.total - int(np.count_nonzero(solved.keep))
    slack += float(solved.row_duals @ left_rows) + float(solved.col_duals @ left_cols)
    return kept, slack + solved.total_dual * left_total


def _checked(V: Any, shape: tuple[int, ...]) -> Any:
    """V as float64 (a sparse one as coordinates without repeats), refused if it cannot be."""
    is_sparse = sparse.issparse(V)
    array = V if is_sparse else np.asarray(V)
    if array.shape != shape:
        raise ValueError(f"V must have the constraint's shape {shape}, found {array.shape}")
    if array.dtype.kind not in "buif":
        raise TypeError(f"V must be real numbers, found {array.dtype}")
    if is_sparse:
        V = sparse.csr_array(V, copy=True)
        V.sum_duplicates()
        array = V.data
    if array.size:
        low, high = array.min(), array.max()
        if not (np.isfinite(low) and np.isfinite(high)):
            found = "NaN" if np.isnan(low) or np.isnan(high) else "an infinity"
            raise ValueError(f"V must be finite, found {found}")
        if array.dtype.kind in "ui" and max(-int(low), int(high)) > LARGEST_INTEGER:
            raise ValueError(
                "V: integers must be at most 2**53 in size, so that they are float64 numbers, "
                f"found {max(-int(low), int(high))}"
            )
        if max(-float(low), float(high)) > LARGEST:
            raise ValueError(
                f"V must be at most {LARGEST:.2g} in size, because squares of it are summed, "
                f"found {max(-float(low), float(high)):.2g}"
            )
    if is_sparse:
        return V.astype(np.float64).tocoo()
    return np.ascontiguousarray(array, dtype=np.float64)


def _exponent(values: NDArray[np.float64]) -> int:
    """The power of two that brings the largest value into [1/2, 1)."""
    if not values.size:
        return 0
    return int(np.frexp(max(-values.min(), values.max()))[1])


def _gains(
    values: NDArray[np.float64], lower: Any, upper: Any, exponent: int
) -> NDArray[np.float64]:
    """What keeping each value is worth: ``v**2 - (v - clip(v))**2 = clip(v) (2 v - clip(v))``."""
    scaled = np.ldexp(values, -exponent)
    if lower is None:
        return np.square(scaled, out=scaled)
    clipped = np.clip(scaled, np.ldexp(lower, -exponent), np.ldexp(upper, -exponent))
    return clipped * (2.0 * scaled - clipped)


def _assemble(arrays: dict[str, Any]) -> Projection:
    """Rebuild a projection from the arrays of `Projection.save`."""
    shape = tuple(int(n) for n in arrays["shape"])
    bounds = (arrays["lower"], arrays["upper"]) if "lower" in arrays else None
    rest = {
        "row_caps": arrays["row_caps"],
        "col_caps": arrays["col_caps"],
        "total": int(arrays["total"]),
        "allowed": arrays.get("allowed"),
        "bounds": bounds,
    }
    if "row_of" in arrays:
        constraint = TVCS.groups(arrays["row_of"], arrays["col_of"], **rest)
    else:
        constraint = TVCS.matrix((shape[0], shape[1]), **rest)
    values, keep = arrays["values"], arrays.get("support")
    if "row" in arrays:
        at = (arrays["row"], arrays["col"])
        values = _checked(sparse.coo_array((values, at), shape=shape), shape)
        kept_at = np.ravel_multi_index((arrays["support_row"], arrays["support_col"]), shape)
        keep = np.isin(np.ravel_multi_index(values.coords, shape), kept_at)
    else:
        values = _checked(values, shape)
    if keep is None or keep.dtype != np.bool_ or keep.size != np.size(getattr(values, "data", 0)):
        raise ValueError("its support does not fit its values")
    entries = _Entries.of(values, constraint)
    unit = -entries.unit
    solved = Solved(
        keep.ravel(),
        np.ldexp(_duals(arrays, "row_duals", constraint.row_caps.size), unit),
        np.ldexp(_duals(arrays, "col_duals", constraint.col_caps.size), unit),
        math.ldexp(float(arrays["total_dual"]), unit),
    )
    return _proved(values, constraint, entries, solved)


def _duals(arrays: dict[str, Any], name: str, size: int) -> NDArray[np.float64]:
    duals = np.asarray(arrays[name], dtype=np.float64)
    if duals.shape != (size,) or not (duals >= 0).all():
        raise ValueError(f"its {name} must be {size} numbers >= 0")
    return duals
