"""The projection onto a TVCS, with the prices that prove it optimal."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tvcs_core.arguments import check_choice, check_number, check_type
from tvcs_core.constraint import TVCS
from tvcs_core.engines import Job, Threads, results
from tvcs_core.files.display import summary
from tvcs_core.projection import file, first, relaxations
from tvcs_core.projection.bound import Bounded
from tvcs_core.projection.entries import Entries, clip, enter
from tvcs_core.projection.exact import PricedSupport
from tvcs_core.projection.gap import measure, upwards
from tvcs_core.projection.scales import solve_by_scales
from tvcs_core.projection.small import project_small

METHODS = ("exact", *relaxations.METHODS)


@dataclass(frozen=True, eq=False)
class Projection(Bounded):
    """The nearest point of a TVCS to V, with prices that bound every feasible support.

    Attributes
    ----------
    matrix
        The projection of V: V on the support, clipped to the bounds, and 0 elsewhere.
        Sparse if V was.
    support
        Mask of the entries that may differ from 0, of the shape of V; sparse if V was.
    objective
        Sum of the gains on the support: of ``v**2``, or with bounds of
        ``v**2 - (v - clip(v))**2``. In units of V squared, like all that follows.
    row_duals, col_duals, total_dual
        Prices: upper bounds on the value of one more unit of each cap.
    gap
        Upper bound on how much larger the objective of another support can be; 0 proves optimality.
    values
        V itself (not a copy).
    constraint
        The constraint.
    """

    matrix: Any = field(repr=False)
    support: Any = field(repr=False)
    objective: float
    row_duals: NDArray[np.float64] = field(repr=False)
    col_duals: NDArray[np.float64] = field(repr=False)
    total_dual: float
    gap: float
    values: Any = field(repr=False)
    constraint: TVCS

    __repr__ = summary

    def save(self, path: str | Path) -> None:
        """Write the projection, V and the constraint to an `.npz` file that `load` reads."""
        duals = self.row_duals, self.col_duals, self.total_dual
        file.save(path, self.constraint, self.values, self.support, duals)

    @classmethod
    def load(cls, path: str | Path) -> Projection:
        """Read a projection that `save` wrote.

        `objective` and `gap` are computed anew, so a file that was edited does not keep its old
        proof.

        Raises
        ------
        DataError
            If the file is not one that `save` wrote, or is damaged.
        """
        return file.load(path, proved)


def project(V: Any, constraint: TVCS, method: str = "exact") -> Projection:
    """Project V onto `constraint`: the nearest point that keeps every cap.

    Its support has the largest gain ``sum(V[support]**2)`` of all supports that satisfy the caps
    (Lemma 1 of the paper), which the duals of the result prove. Ties are broken by a fixed hash of
    row and column, so equal inputs give equal supports.

    Parameters
    ----------
    V
        Array of finite real numbers, of the constraint's shape, all below 3e150 in size; or a
        scipy sparse matrix, whose stored entries are then the only candidates. If all are below
        1e-146, prices may underflow, and `certify` has no proof: multiply V by a power of two.
    constraint
        The caps.
    method
        ``"exact"``; or, for comparison, ``"lp"`` (HiGHS, within its tolerance of 1e-7), ``"pgd"``
        (the paper's projected gradient) or ``"pdhg"`` (restarted primal-dual hybrid gradient).
        These three may end with a gap, which is measured in the same way.

    Returns
    -------
    Projection
        Support, objective, prices of the caps, and gap.

    Raises
    ------
    ValueError, TypeError
        If V has the wrong shape, holds NaN, infinities or complex numbers, or is too large to be
        squared and summed; if `method` is invalid.

    Examples
    --------
    >>> from tvcs_core import TVCS, project
    >>> projection = project([[3, 2], [2, 0]], TVCS.matrix((2, 2), row_caps=1, col_caps=1))
    >>> projection.matrix.tolist(), projection.objective, projection.gap
    ([[3.0, 0.0], [0.0, 0.0]], 9.0, 0.0)
    """
    # Valid arguments pass with few checks: a small projection takes only microseconds.
    if type(constraint) is not TVCS:
        check_type("constraint", constraint, TVCS)
    if type(method) is not str or method not in METHODS:
        check_choice("method", method, METHODS)
    if first.is_due() and first.is_by_python(constraint):
        with first.interpreted():
            return _project(V, constraint, method)
    return _project(V, constraint, method)


def _project(V: Any, constraint: TVCS, method: str) -> Projection:
    if method != "exact":
        entries = enter(V, constraint).as_list()
        row_of, col_of = entries.labels(constraint)
        solved = relaxations.solve(method, row_of, col_of, entries.gains, *constraint.caps)
        return proved(entries, constraint, solved)
    quick = project_small(V, constraint)
    if quick is None:
        entries = enter(V, constraint)
        if entries.V is not V:  # converted: a list, integers or Fortran order
            quick = project_small(entries.V, constraint)
    if quick is not None:
        return Projection(*quick, constraint)
    return proved(entries, constraint, solve_by_scales(entries, constraint))


def project_many(
    stack: Iterable[Any], constraint: TVCS, *, threads: int | None = None
) -> list[Projection]:
    """Project many arrays onto one constraint, several at a time.

    Parameters
    ----------
    stack
        Arrays or sparse matrices as `project` takes them; an array of shape ``(k, *shape)``
        is a stack of k.
    constraint
        The caps.
    threads
        Number of arrays projected at a time; by default one per processor. The result does not
        depend on it.

    Raises
    ------
    ValueError, TypeError
        As `project` does, for the first invalid array.
    """
    check_type("constraint", constraint, TVCS)
    if threads is not None:
        check_number("threads", threads, whole=True)
    if not np.iterable(stack):
        raise TypeError(f"stack must hold arrays, found {type(stack).__name__}")
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be >= 1, found {threads}")
    arrays = list(stack)
    job = Job("projections", _projected, (arrays, constraint), len(arrays))
    found: list[Any] = [None] * len(arrays)
    refused = len(arrays)
    with closing(results([job], Threads(threads or os.cpu_count() or 1))) as projections:
        for _, k, projection in projections:
            found[k] = projection
            if isinstance(projection, Exception):
                refused = min(refused, k)
            # Raise the error of the first invalid array, not the error that came first.
            if refused < len(arrays) and all(one is not None for one in found[:refused]):
                raise found[refused]
    return found


def _projected(state: tuple[list[Any], TVCS], k: int) -> Projection | Exception:
    arrays, constraint = state
    try:
        return project(arrays[k], constraint)
    except (TypeError, ValueError) as error:
        return error


def proved(entries: Entries, constraint: TVCS, solved: PricedSupport) -> Projection:
    """Return the projection with the support and prices of `solved`, its objective and gap."""
    objective, gap = measure(entries, constraint, solved)
    V, mask = entries.V, solved.mask
    if entries.is_sparse:
        at = (V.coords[0][mask], V.coords[1][mask])
        nearest = clip(V.data, constraint, entries.indices)[mask]
        matrix = sparse.csr_array((nearest, at), shape=constraint.shape)
        support = sparse.csr_array((mask[mask], at), shape=constraint.shape)
    else:
        support = mask.reshape(constraint.shape)
        matrix = clip(np.where(support, V, 0.0), constraint, None)
    row_duals, col_duals, total_dual = solved.row_duals, solved.col_duals, solved.total_dual
    if entries.unit:
        objective, gap = math.ldexp(objective, entries.unit), upwards(gap, entries.unit)
        row_duals, col_duals = (np.ldexp(d, entries.unit) for d in (row_duals, col_duals))
        total_dual = math.ldexp(total_dual, entries.unit)
    return Projection(
        matrix=matrix,
        support=support,
        objective=objective,
        row_duals=row_duals,
        col_duals=col_duals,
        total_dual=total_dual,
        gap=gap,
        values=V,
        constraint=constraint,
    )
