"""TVCS: three views of a set of variables, with a cap on every group."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvcs_core.arguments import array_of, by_label, describe_value, refuse_where

Caps = int | ArrayLike | None

NO_CAP = "a cap as large as the group is no cap"
# More empty groups than this (80 MB of caps) mean labels that were not counted from 0.
MAX_EMPTY_GROUPS = 10_000_000


@dataclass(frozen=True, eq=False, repr=False)
class TVCS:
    """A three-view cardinality constraint (Definition 1 of the paper).

    At most `total` variables may be nonzero, at most ``row_caps[r]`` of those in row group r
    and at most ``col_caps[c]`` of those in column group c. Make one with `TVCS.matrix` or
    `TVCS.groups`; the attributes are read-only.

    Attributes
    ----------
    shape
        Shape of the variables.
    row_of, col_of
        Group of every variable, of shape `shape`, -1 for none; None if the rows and columns of a
        matrix are the groups.
    row_caps, col_caps
        One cap per group, int64, at most the size of the group.
    total
        Cap on all variables, at most their number.
    allowed
        Mask of the variables that may be nonzero; None for all.
    bounds
        Lower and upper bound of every variable, ``lower <= 0 <= upper``; None for no bounds.
    """

    shape: tuple[int, ...]
    row_of: NDArray[np.int64] | None
    col_of: NDArray[np.int64] | None
    row_caps: NDArray[np.int64]
    col_caps: NDArray[np.int64]
    total: int
    allowed: NDArray[np.bool_] | None = None
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    @classmethod
    def matrix(
        cls,
        shape: tuple[int, int],
        *,
        row_caps: Caps = None,
        col_caps: Caps = None,
        total: int | None = None,
        allowed: ArrayLike | None = None,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> TVCS:
        """Constrain a matrix whose rows and columns are the groups.

        Parameters
        ----------
        shape
            Numbers of rows and columns.
        row_caps, col_caps
            One integer >= 0 for all groups or a vector with one per group; None for no cap.
            A cap larger than the group is no cap.
        total
            Cap on the number of nonzeros in all, or None.
        allowed
            Boolean matrix of `shape`; entries with False must be zero.
        bounds
            Lower and upper bound, scalars or arrays that broadcast to `shape`, with
            ``lower <= 0 <= upper``; infinities mean no bound.

        Raises
        ------
        ValueError, TypeError
            If an argument is invalid; the message names it.

        Examples
        --------
        The second example of Figure 1 of the paper: 5 x 5, each row and column a group.

        >>> from tvcs_core import TVCS, project
        >>> V = [[5, 4, 0, 0, 1],
        ...      [4, 2, 0, 2, 0],
        ...      [0, 0, 2, 0, 0],
        ...      [3, 0, 0, 1, 0],
        ...      [0, 1, 0, 0, 1]]
        >>> constraint = TVCS.matrix((5, 5), row_caps=1, col_caps=1, total=4)
        >>> projection = project(V, constraint)
        >>> projection.objective  # 4*4 + 4*4 + 2*2 + 1*1
        37.0
        >>> [(int(r), int(c)) for r, c in zip(*projection.support.nonzero())]
        [(0, 1), (1, 0), (2, 2), (3, 3)]
        """
        n_rows, n_cols = _matrix_shape(shape)
        return cls(
            shape=(n_rows, n_cols),
            row_of=None,
            col_of=None,
            row_caps=_caps("row_caps", row_caps, np.full(n_rows, n_cols)),
            col_caps=_caps("col_caps", col_caps, np.full(n_cols, n_rows)),
            total=_total(total, n_rows * n_cols),
            allowed=_allowed(allowed, (n_rows, n_cols)),
            bounds=_bounds(bounds, (n_rows, n_cols)),
        )

    @classmethod
    def groups(
        cls,
        row_of: ArrayLike | None,
        col_of: ArrayLike | None,
        *,
        row_caps: Caps = None,
        col_caps: Caps = None,
        total: int | None = None,
        allowed: ArrayLike | None = None,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> TVCS:
        """Constrain variables that belong to one group in each of two views.

        Parameters
        ----------
        row_of, col_of
            Group of every variable in either view, counted from 0; -1 for no group. The shape is
            that of the variables. None for a view without groups.
        row_caps, col_caps
            As in `matrix`; a vector has one cap per group and fixes the number of groups.
        total, allowed, bounds
            As in `matrix`.

        Raises
        ------
        ValueError, TypeError
            If an argument is invalid; the message names it.

        Examples
        --------
        The first example of Figure 1 of the paper: 10 variables, five pairs and two halves.

        >>> from tvcs_core import TVCS, project
        >>> constraint = TVCS.groups(
        ...     row_of=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4],
        ...     col_of=[0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
        ...     row_caps=1, col_caps=2, total=3)
        >>> projection = project([9, 8, 7, 6, 5, 4, 3, 2, 1, 0], constraint)
        >>> projection.matrix.tolist()
        [9.0, 0.0, 7.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0]
        """
        if row_of is None and col_of is None:
            raise ValueError("row_of and col_of: at least one must be given, found None for both")
        for side, labels, caps in (("row", row_of, row_caps), ("col", col_of, col_caps)):
            if labels is None and caps is not None:
                raise ValueError(f"{side}_caps were given, but no {side}_of, the groups they cap")
        rows = None if row_of is None else _labels("row_of", row_of)
        cols = np.full_like(rows, -1) if col_of is None else _labels("col_of", col_of)
        rows = np.full_like(cols, -1) if rows is None else rows
        if rows.shape != cols.shape:
            raise ValueError(
                f"row_of and col_of must have one shape, found {rows.shape} and {cols.shape}"
            )
        return cls(
            shape=rows.shape,
            row_of=_frozen(rows),
            col_of=_frozen(cols),
            row_caps=_caps("row_caps", row_caps, _group_sizes("row", rows, row_caps)),
            col_caps=_caps("col_caps", col_caps, _group_sizes("col", cols, col_caps)),
            total=_total(total, rows.size),
            allowed=_allowed(allowed, rows.shape),
            bounds=_bounds(bounds, rows.shape),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy, with its arrays read-only like those of the original."""
        for value in state.values():
            for array in value if isinstance(value, tuple) else (value,):
                if isinstance(array, np.ndarray):
                    _frozen(array)
        self.__dict__.update(state)

    def __repr__(self) -> str:
        kind = "matrix" if self.row_of is None else "groups"
        return (
            f"TVCS.{kind}(shape={self.shape}, rows={self.row_caps.size}, "
            f"columns={self.col_caps.size}, total={self.total})"
        )

    @cached_property
    def doubled(self) -> TVCS:
        """The constraint with all caps doubled, including the total, and without bounds.

        GradMP projects the gradient onto it (Algorithm 2). Only the support of the gradient counts,
        so bounds on the values do not matter.
        """
        return TVCS(
            shape=self.shape,
            row_of=self.row_of,
            col_of=self.col_of,
            row_caps=_frozen(np.minimum(2 * self.row_caps, self.group_sizes[0])),
            col_caps=_frozen(np.minimum(2 * self.col_caps, self.group_sizes[1])),
            total=min(2 * self.total, int(np.prod(self.shape))),
            allowed=self.allowed,
        )

    @cached_property
    def group_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number of variables in every row group and in every column group."""
        if self.row_of is None or self.col_of is None:
            n_rows, n_cols = self.shape
            return np.full(n_rows, n_cols), np.full(n_cols, n_rows)
        return _count(self.row_of, self.row_caps.size), _count(self.col_of, self.col_caps.size)

    def labels_at(
        self, positions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return row group and column group of the variables at flat `positions`, in C order.

        The memory needed depends on the number of places only, not on the shape.
        """
        if self.row_of is None or self.col_of is None:
            row, col = np.divmod(positions, self.shape[1])
            return row, col
        return self.row_of.ravel()[positions], self.col_of.ravel()[positions]

    @cached_property
    def labels(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row group and column group of every variable, flat, in C order."""
        if self.row_of is None or self.col_of is None:
            n_rows, n_cols = self.shape
            return np.repeat(np.arange(n_rows), n_cols), np.tile(np.arange(n_cols), n_rows)
        return self.row_of.ravel(), self.col_of.ravel()

    @cached_property
    def pair_ranks(self) -> NDArray[np.int64]:
        """Rank of every variable within its pair of groups: how many precede it; flat, int64."""
        row_of, col_of = self.labels
        if self.row_of is None:
            return np.zeros(row_of.size, dtype=np.int64)
        order = np.lexsort((col_of, row_of))  # stable, so that ranks follow the given order
        pairs = np.stack([row_of[order], col_of[order]])
        is_first = np.ones(order.size, dtype=np.bool_)
        is_first[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
        first = np.maximum.accumulate(np.where(is_first, np.arange(order.size), 0))
        ranks = np.empty(order.size, dtype=np.int64)
        ranks[order] = np.arange(order.size) - first
        return ranks

    @cached_property
    def caps(self) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Row caps, column caps and total, as the kernels take them."""
        return self.row_caps.copy(), self.col_caps.copy(), self.total

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is a matrix without mask, bounds or caps of 0."""
        return (
            self.row_of is None
            and self.allowed is None
            and self.bounds is None
            and self.total > 0
            and bool(self.row_caps.all() and self.col_caps.all())
        )

    def is_feasible(self, support: NDArray[np.bool_]) -> bool:
        """Return whether a boolean array of `shape` satisfies every cap and the mask."""
        support = array_of("support", support, copy=False)
        if support.shape != self.shape or support.dtype != np.bool_:
            found = describe_value(support)
            raise ValueError(f"support must be booleans of shape {self.shape}, found {found}")
        kept = np.flatnonzero(support)
        row_of, col_of = self.labels_at(kept)
        return bool(
            (_count(row_of, self.row_caps.size) <= self.row_caps).all()
            and (_count(col_of, self.col_caps.size) <= self.col_caps).all()
            and kept.size <= self.total
            and (self.allowed is None or not (support & ~self.allowed).any())
        )


def _matrix_shape(shape: tuple[int, int]) -> tuple[int, int]:
    try:
        n_rows, n_cols = (operator.index(side) for side in shape)
    except (TypeError, ValueError):
        n_rows = n_cols = 0
    if n_rows < 1 or n_cols < 1:
        of_array = getattr(shape, "shape", ())
        found = f"an array; give its shape, {of_array}" if len(of_array) > 1 else repr(shape)
        raise ValueError(f"shape must be two integers >= 1, found {found}")
    if n_rows * n_cols >= 2**63:  # positions are int64
        raise ValueError(f"shape must have fewer than 2**63 entries, found {n_rows} x {n_cols}")
    return n_rows, n_cols


def _labels(name: str, labels: ArrayLike) -> NDArray[np.int64]:
    array = array_of(name, labels, copy=False)
    if array.size == 0:
        raise ValueError(f"{name} must hold at least one label, found none")
    if array.dtype.kind not in "iu":
        remedy = "np.unique(labels, return_inverse=True)[1] numbers labels"
        raise TypeError(f"{name} must be integers >= -1, found {array.dtype}; {remedy}")
    refuse_where(name, array, array < -1, ">= -1")
    refuse_where(name, array, array > np.iinfo(np.int64).max, "below 2**63")
    return array.astype(np.int64)


def _group_sizes(view: str, labels: NDArray[np.int64], caps: Caps) -> NDArray[np.int64]:
    """Return the size of every group; the length of a vector of caps fixes the number of groups."""
    n_groups = int(labels.max()) + 1
    of_each = np.empty(()) if caps is None else array_of(f"{view}_caps", caps, copy=False)
    if n_caps := of_each.ndim == 1 and of_each.size:
        below = f"below the number of {view}_caps ({n_caps})"
        refuse_where(f"{view}_of", labels, labels >= n_caps, below)
        n_groups = int(n_caps)
    elif n_groups > labels.size + MAX_EMPTY_GROUPS:
        from_0 = f"counted from 0, with at most {MAX_EMPTY_GROUPS:,} groups that hold no variable"
        refuse_where(f"{view}_of", labels, labels == n_groups - 1, from_0)
    return _count(labels, n_groups)


def _count(labels: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
    return np.bincount(labels[labels >= 0], minlength=n_groups).astype(np.int64)


def _caps(name: str, caps: Caps, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one int64 cap per group, at most the size of the group."""
    if caps is None:
        return _frozen(sizes.astype(np.int64))
    if (of_label := by_label(name, caps)) is not None:
        raise TypeError(
            f"{name} must be an integer or an array in the order of the groups, found labels such "
            f"as {next(iter(of_label), None)!r}; a TVCS knows no labels: bring the values into "
            "that order and give them without labels, as a list"
        )
    if isinstance(caps, int) and abs(caps) > 2**62:
        caps = int(math.copysign(2**62, caps))  # outside int64: no cap, or negative
    array = array_of(name, caps, copy=False)
    if array.dtype.kind == "f" and array.size:
        whole = np.isfinite(array) & (array == np.floor(array))
        if np.isposinf(array).any():
            raise ValueError(f"{name} must be finite, found inf; {NO_CAP}")
        refuse_where(name, array, ~whole, "an integer")
    elif array.dtype.kind not in "iu" and array.size:
        found = f"None among them; {NO_CAP}" if None in array.ravel().tolist() else array.dtype
        raise TypeError(f"{name} must be integers >= 0, found {found}")
    if array.ndim > 1 or (array.ndim == 1 and array.size != sizes.size):
        raise ValueError(
            f"{name} must be one integer or {sizes.size} of them, one per group, "
            f"found shape {array.shape}"
        )
    refuse_where(name, array, array < 0, ">= 0")
    return _frozen(np.minimum(array, sizes).astype(np.int64))


def _total(total: int | None, size: int) -> int:
    if total is None:
        return size
    if array_of("total", total, copy=False).ndim:
        raise TypeError(f"total must be one integer, found {describe_value(total)}")
    return int(_caps("total", total, np.array([size]))[0])


def _allowed(allowed: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.bool_] | None:
    if allowed is None:
        return None
    array = array_of("allowed", allowed, copy=False)
    if array.dtype != np.bool_:
        raise TypeError(f"allowed must be booleans, found {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"allowed must have shape {shape}, found {array.shape}")
    return _frozen(array.copy())


def _bounds(
    bounds: tuple[ArrayLike, ArrayLike] | None, shape: tuple[int, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    if bounds is None:
        return None
    try:
        lower, upper = bounds
    except (TypeError, ValueError):
        raise ValueError("bounds must be a pair (lower, upper) of real numbers") from None
    lower, upper = (array_of("bounds", side, np.float64) for side in (lower, upper))
    for name, side in (("lower", lower), ("upper", upper)):
        try:
            np.broadcast_to(side, shape)
        except ValueError:
            raise ValueError(
                f"bounds: {name} must broadcast to shape {shape}, found {side.shape}"
            ) from None
        is_wrong, sign = (~(side <= 0), "<=") if name == "lower" else (~(side >= 0), ">=")
        inside = f"{sign} 0 so that 0 lies inside (inf and -inf are no bound)"
        refuse_where(f"{name} bounds", side, is_wrong, inside)
    return _frozen(lower), _frozen(upper)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array
