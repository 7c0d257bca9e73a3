"""What the paper compares with: the exclusive lasso, and constraints with fewer views.

The exclusive lasso (Kong, Fujimaki, Liu, Nie and Ding 2014) puts a price on crowding where a
TVCS puts a cap: loss + strength * sum over groups of ``|w_g|_1 ** 2``. It is convex, also with
groups that overlap as rows and columns do, so a duality gap says how good an answer is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.synthetic.kernels import shrink_exclusive
from tvcs_core.constraint import TVCS
from tvcs_core.loss import Loss

LOOK_EVERY = 10  # iterations between two looks at the gap
SWEEPS = 200  # of coordinate descent in one proximal step, at most


@dataclass(frozen=True, eq=False)
class ExclusiveLasso:
    """An answer of the exclusive lasso, and how far from the best it can be.

    Attributes
    ----------
    matrix
        The coefficients.
    objective
        Loss plus penalty there.
    gap
        No coefficients have an objective below ``objective - gap``.
    iterations
        Proximal steps made.
    reason
        Why the run stopped: ``"converged"`` or ``"max_iter"``.
    """

    matrix: NDArray[np.float64] = field(repr=False)
    objective: float
    gap: float
    iterations: int
    reason: str

    @property
    def support(self) -> NDArray[np.bool_]:
        """Where `matrix` is not zero."""
        return self.matrix != 0

    @property
    def relative_gap(self) -> float:
        """`gap` as a fraction of `objective`."""
        if self.gap == 0:
            return 0.0
        return self.gap / self.objective if self.objective else math.inf

    @property
    def converged(self) -> bool:
        """Whether the relative gap came down to what was asked."""
        return self.reason == "converged"


def exclusive_lasso(
    loss: Loss,
    constraint: TVCS,
    strength: float,
    *,
    start: ArrayLike | None = None,
    max_iter: int = 10_000,
    tol: float = 1e-5,
) -> ExclusiveLasso:
    """Minimise ``loss + strength * sum over row and column groups of |w_g|_1 ** 2``.

    Accelerated proximal gradient with restarts (Beck and Teboulle 2009; O'Donoghue and Candes
    2015); the proximal step of the overlapping groups is solved by coordinate descent.

    Parameters
    ----------
    loss
        A convex loss whose `lipschitz` is a true bound, such as `LeastSquares`.
    constraint
        Says the groups and which entries are allowed. Its caps play no part: project the
        answer to keep them.
    strength
        Price of crowding, > 0. Every group keeps some nonzeros however large it is.
    start
        Where to start, for example the answer for a nearby strength. Zero by default.
    max_iter
        Most proximal steps to make.
    tol
        Stop when the duality gap is at most this fraction of the objective.

    Returns
    -------
    ExclusiveLasso
        The coefficients, and the gap that says how far they can be from the best.

    Raises
    ------
    ValueError, TypeError
        If shapes differ, `strength` or `tol` is out of range, the constraint has bounds, or
        an entry is in no group.

    Examples
    --------
    One row of two: the larger coefficient crowds out the smaller one.

    >>> from tvcs_core import TVCS, LeastSquares
    >>> from benchmarks.synthetic.convex import exclusive_lasso
    >>> loss = LeastSquares([[1, 0], [0, 1]], [3, 1])
    >>> found = exclusive_lasso(loss, TVCS.groups([0, 0], None), strength=1)
    >>> found.matrix.round(4).tolist(), found.gap < 1e-4
    ([1.0, 0.0], True)
    """
    penalty = _checked(loss, constraint, strength)
    if max_iter < 1 or not tol >= 0:
        raise ValueError(f"max_iter must be >= 1 and tol >= 0, found {max_iter} and {tol}")
    w = penalty.start(start)
    lipschitz = loss.lipschitz() or 1.0
    ahead, momentum = w, 1.0
    for iteration in range(1, max_iter + 1):
        gradient = penalty.enter(loss.gradient(penalty.leave(ahead)))
        last, w = w, penalty.shrink(ahead - gradient / lipschitz, lipschitz, w)
        if (ahead - w) @ (w - last) > 0:  # the momentum points uphill: start it anew
            momentum = 1.0
        larger = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead, momentum = w + (momentum - 1) / larger * (w - last), larger
        if iteration % LOOK_EVERY == 0 or iteration == max_iter:
            W = penalty.leave(w)
            objective = loss.value(W) + penalty.value(w)
            gap = penalty.gap(w, penalty.enter(loss.gradient(W)))
            if gap <= tol * objective:
                return ExclusiveLasso(W, objective, gap, iteration, "converged")
    return ExclusiveLasso(W, objective, gap, max_iter, "max_iter")


def exclusive_penalty(W: ArrayLike, constraint: TVCS) -> float:
    """Sum over row and column groups of the squared l1 norm of `W` on the group."""
    penalty = _Penalty(constraint, 1.0)
    return penalty.value(penalty.enter(np.asarray(W, dtype=np.float64)))


def overall(constraint: TVCS) -> TVCS:
    """Keep the total cap only: overall sparsity (Needell and Tropp 2009)."""
    rows, cols = constraint.group_sizes
    return replace(constraint, row_caps=rows, col_caps=cols)


def row_wise(constraint: TVCS) -> TVCS:
    """Keep the total and the row caps: bilevel exclusive sparsity (Yang et al. 2016)."""
    return replace(constraint, col_caps=constraint.group_sizes[1])


def column_wise(constraint: TVCS) -> TVCS:
    """Keep the total and the column caps: bilevel exclusive sparsity (Yang et al. 2016)."""
    return replace(constraint, row_caps=constraint.group_sizes[0])


class _Penalty:
    """``strength * sum_g |w_g|_1 ** 2`` on the flat vector of the allowed entries."""

    def __init__(self, constraint: TVCS, strength: float) -> None:
        row_of, col_of = constraint.labels
        allowed = constraint.allowed
        self._free = np.arange(row_of.size) if allowed is None else np.flatnonzero(allowed)
        self._row_of = np.ascontiguousarray(row_of[self._free])
        self._col_of = np.ascontiguousarray(col_of[self._free])
        self._n_rows, self._n_cols = constraint.row_caps.size, constraint.col_caps.size
        self._strength = strength
        self._shape = constraint.shape

    @property
    def loose(self) -> NDArray[np.int64]:
        """Flat places of the allowed entries that are in no group."""
        return self._free[(self._row_of < 0) & (self._col_of < 0)]

    def enter(self, W: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ascontiguousarray(W.ravel()[self._free])

    def leave(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        W = np.zeros(self._shape)
        W.flat[self._free] = w
        return W

    def start(self, W: ArrayLike | None) -> NDArray[np.float64]:
        if W is None:
            return np.zeros(self._free.size)
        array = np.asarray(W, dtype=np.float64)
        if array.shape != self._shape or not np.isfinite(array).all():
            raise ValueError(f"start must be finite and of shape {self._shape}")
        return self.enter(array)

    def sums(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The l1 norm of `w` on every row group and on every column group."""
        size = np.abs(w)
        in_row, in_col = self._row_of >= 0, self._col_of >= 0
        rows, cols = np.zeros(self._n_rows), np.zeros(self._n_cols)
        np.add.at(rows, self._row_of[in_row], size[in_row])
        np.add.at(cols, self._col_of[in_col], size[in_col])
        return rows, cols

    def value(self, w: NDArray[np.float64]) -> float:
        rows, cols = self.sums(w)
        return self._strength * float(rows @ rows + cols @ cols)

    def shrink(
        self, v: NDArray[np.float64], lipschitz: float, near: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The proximal step at `v` with step 1 / `lipschitz`, begun from `near`."""
        size, found = np.abs(v), np.abs(near)
        weight, tol = self._strength / lipschitz, 1e-10 * float(size.max(initial=0.0))
        shrink_exclusive(
            size, weight, self._row_of, self._col_of, found, *self.sums(found), tol, SWEEPS
        )
        return np.copysign(found, v)

    def gap(self, w: NDArray[np.float64], gradient: NDArray[np.float64]) -> float:
        """How far loss + penalty at `w` can be above the minimum, from the gradient alone.

        By Fenchel and Young the gap is ``<gradient, w> + penalty(w) + penalty*(-gradient)``.
        The conjugate of one squared l1 norm is the squared maximum over 4 strength; that of
        their sum is bounded by any split of the gradient over the groups of an entry. The
        split by ``2 * strength * |w_g|_1``, raised where it falls short, is the best one at
        the minimum.
        """
        row_price, col_price = (2 * self._strength * sums for sums in self.sums(w))
        in_row, in_col = self._row_of >= 0, self._col_of >= 0
        short = np.abs(gradient)
        short[in_row] -= row_price[self._row_of[in_row]]
        short[in_col] -= col_price[self._col_of[in_col]]
        short = np.maximum(short, 0.0)
        raise_row, raise_col = np.zeros_like(row_price), np.zeros_like(col_price)
        np.maximum.at(raise_row, self._row_of[in_row], short[in_row])
        np.maximum.at(raise_col, self._col_of[~in_row], short[~in_row])
        row_price += raise_row
        col_price += raise_col
        conjugate = float(row_price @ row_price + col_price @ col_price) / (4 * self._strength)
        return max(0.0, float(gradient @ w) + self.value(w) + conjugate)


def _checked(loss: Loss, constraint: TVCS, strength: float) -> _Penalty:
    if not isinstance(loss, Loss) or not isinstance(constraint, TVCS):
        raise TypeError(
            "loss must be a Loss and constraint a TVCS, "
            f"found {type(loss).__name__} and {type(constraint).__name__}"
        )
    if tuple(loss.shape) != constraint.shape:
        raise ValueError(
            "loss and constraint must have one shape, "
            f"found {tuple(loss.shape)} and {constraint.shape}"
        )
    if not 0 < strength < math.inf:
        raise ValueError(f"strength must be a number > 0, found {strength}")
    if constraint.bounds is not None:
        raise ValueError("the exclusive lasso knows no bounds, but the constraint has them")
    penalty = _Penalty(constraint, float(strength))
    if penalty.loose.size:
        raise ValueError(
            "every allowed entry must be in a row or a column group, "
            f"but entry {penalty.loose[0]} (flat) is in none"
        )
    return penalty
