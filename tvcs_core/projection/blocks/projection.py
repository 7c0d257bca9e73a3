"""The projection of a V in blocks of rows: the support as a list, and its proof."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tvcs_core.arguments import check_number, check_type
from tvcs_core.constraint import TVCS
from tvcs_core.files.display import summary
from tvcs_core.files.errors import DataError
from tvcs_core.projection.blocks import file
from tvcs_core.projection.blocks.blocked_problem import BlockedProblem, survey
from tvcs_core.projection.blocks.core import BlockNetwork, feasible_network
from tvcs_core.projection.blocks.first_prices import first_prices
from tvcs_core.projection.blocks.proof import prove_support
from tvcs_core.projection.blocks.questions import ClosedPrices, PriceClosed
from tvcs_core.projection.blocks.readers import BlockReaders
from tvcs_core.projection.blocks.support import SendSupport, SupportPart
from tvcs_core.projection.bound import Bounded
from tvcs_core.projection.exact.prices import zero_prices
from tvcs_core.projection.kernels.records import Prices


@dataclass(frozen=True, eq=False)
class BlockProjection(Bounded):
    """The support of a projection as a list of entries, with prices that prove it.

    Attributes
    ----------
    rows, cols, values
        The support, row by row, with the values of V; int64, int64, float64.
    objective, gap
        As in `Projection`, measured block by block by NumPy alone (`proof.py`).
    row_duals, col_duals, total_dual
        Prices of the caps, in units of V squared.
    constraint
        The constraint.
    facts
        Statistics: number of ``blocks``; ``size``, bytes of V; ``sent``, bytes of all answers;
        ``questions`` per block; ``replaced``, lost readers; ``core``, entries in the simplex;
        ``path``, the method that found the support.
    """

    rows: NDArray[np.int64] = field(repr=False)
    cols: NDArray[np.int64] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    objective: float
    row_duals: NDArray[np.float64] = field(repr=False)
    col_duals: NDArray[np.float64] = field(repr=False)
    total_dual: float
    gap: float
    constraint: TVCS
    facts: dict[str, Any] = field(default_factory=dict)

    __repr__ = summary

    @property
    def matrix(self) -> Any:
        """The projection of V as a scipy sparse matrix in rows."""
        return sparse.csr_array((self.values, (self.rows, self.cols)), shape=self.constraint.shape)

    def save(self, path: str | Path) -> None:
        """Write the support, the caps and the prices to an `.npz` file that `load` reads."""
        file.save(path, self.constraint, vars(self))

    @classmethod
    def load(cls, path: str | Path) -> BlockProjection:
        """Read a projection that `save` wrote; its `facts` are empty.

        `objective` and `gap` are read from the file, which lacks V; `certify_blocks` checks them.

        Raises
        ------
        DataError
            If the file is not one that `save` wrote, or is damaged.
        """
        return file.load(path, cls)


def project_blocks(
    blocks: Any, constraint: TVCS, *, threads: int = 1, retries: int = 2
) -> BlockProjection:
    """Project a V in blocks of rows that are on disk, in processes or on several machines.

    The support is that of `project`, including ties, except for values below 2^-16 of the largest,
    which `project` selects in their own unit. V is never assembled: blocks answer questions, some
    ten passes over each, and send the entries near a threshold and the support. If V fits into
    memory, `project` is faster.

    Parameters
    ----------
    blocks
        A folder, whose `.npy` files are the blocks in the order of their names (10 follows 9); or
        a list of paths of `.npy` files, arrays, or functions without arguments that open a reader:
        an object whose ``ask(question)`` returns the answer of `answer_block`, from a process that
        can read the block. Blocks have shape ``(rows, columns)`` and real numbers, which count as
        float64.
    constraint
        Made by `TVCS.matrix` for the shape of all rows, without `allowed` or `bounds`.
    threads
        Number of blocks asked at a time. The result does not depend on it.
    retries
        How often a question is repeated, with a new reader, after a reader is lost: its `ask`
        raises anything but ValueError, TypeError or MemoryError.

    Returns
    -------
    BlockProjection
        Support as a list, prices, and gap.

    Raises
    ------
    DataError
        If a block is missing, damaged, of another shape or dtype, holds NaN or infinities, or
        changes during the run; the message names it.
    ValueError, TypeError
        If the constraint has another kind or shape, or V needs scaling.
    MemoryError
        If the entries near the thresholds do not fit into memory.
    RuntimeError
        If more readers of a block are lost than `retries` allows.

    Examples
    --------
    >>> import numpy as np
    >>> from tvcs_core import TVCS, project_blocks
    >>> constraint = TVCS.matrix((3, 2), row_caps=1, col_caps=1)
    >>> projection = project_blocks([np.array([[3, 2]]), np.array([[2, 0], [1, 1]])], constraint)
    >>> projection.rows.tolist(), projection.cols.tolist(), projection.objective, projection.gap
    ([0, 2], [0, 1], 10.0, 0.0)
    """
    check_type("constraint", constraint, TVCS)
    for name, number, least in (("threads", threads, 1), ("retries", retries, 0)):
        check_number(name, number, whole=True)
        if number < least:
            raise ValueError(f"{name} must be >= {least}, found {number}")
    _refuse_other_kinds(constraint)
    readers = BlockReaders(blocks, threads, retries)
    if readers.shape != constraint.shape:
        raise ValueError(
            f"blocks must have the constraint's shape {constraint.shape} together, "
            f"found {readers.shape}"
        )
    problem, largest = survey(readers, constraint)
    if problem is None:
        return _nothing(readers, constraint, largest)
    if problem.fits_all:
        parts = problem.ask(lambda context, _: SendSupport(context, None))
        prices = zero_prices(*constraint.shape)
        return _proved(readers, constraint, parts, prices, {"path": "everything"})
    network = feasible_network(problem, first_prices(problem))
    network.prove()
    return _read(problem, constraint, network)


def _refuse_other_kinds(constraint: TVCS) -> None:
    for name, given in (
        ("groups", constraint.row_of),
        ("allowed", constraint.allowed),
        ("bounds", constraint.bounds),
    ):
        if given is not None:
            raise ValueError(
                f"constraint must be TVCS.matrix with caps alone, found one with {name}; "
                "project takes it"
            )


def _nothing(readers: BlockReaders, constraint: TVCS, largest: float) -> BlockProjection:
    """Return the empty projection: no entry may be kept, or none has a gain."""
    none = SupportPart(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
    prices = zero_prices(*constraint.shape)
    if constraint.total == 0:
        prices = prices._replace(total=largest * largest)
    parts = [none._replace(per_row=np.zeros(f.shape[0], np.int32)) for f in readers.facts if f]
    return _proved(readers, constraint, parts, prices, {"path": "nothing"})


def _read(problem: BlockedProblem, constraint: TVCS, network: BlockNetwork) -> BlockProjection:
    """Return the support and the prices of a proved network."""
    instance, found = problem.instance, network.duals()
    u, w, price = found
    prices = Prices(u / instance.scale, w / instance.scale, price / instance.scale)
    parts = problem.readers.ask(lambda b: SendSupport(problem.context(b), network.support_of(b)))
    return _proved(problem.readers, constraint, parts, prices, network.stats)


def _proved(
    readers: BlockReaders,
    constraint: TVCS,
    parts: list[SupportPart],
    prices: Prices,
    stats: dict[str, Any],
) -> BlockProjection:
    """Return the projection, with objective and gap measured block by block."""
    prices = _with_closed(readers, constraint, prices)
    u, w, price = prices
    per_row = np.concatenate([x.per_row for x in parts])
    rows = np.repeat(np.arange(per_row.size), per_row)
    cols = np.concatenate([x.col for x in parts]).astype(np.int64)
    values = np.concatenate([x.values for x in parts]).astype(np.float64)

    found = prove_support(readers, rows, cols, values, prices)
    for name, proof in zip(readers.names, found, strict=True):
        if proof.wrong:
            raise DataError("changed during the run; its rows must stay as they are", path=name)
    used_cols = np.bincount(cols, minlength=w.size)
    slack = [x.slack for x in found]
    slack += [
        float(u @ (constraint.row_caps - per_row)),
        float(w @ (constraint.col_caps - used_cols)),
    ]
    slack.append(price * (constraint.total - rows.size))
    return BlockProjection(
        rows=rows,
        cols=cols,
        values=values,
        objective=math.fsum(x.objective for x in found),
        row_duals=u,
        col_duals=w,
        total_dual=price,
        gap=math.fsum(slack),
        constraint=constraint,
        facts={
            "blocks": len(readers),
            "size": readers.size,
            "sent": readers.sent,
            "questions": readers.questions,
            "replaced": readers.replaced,
            "core": 0,
            **stats,
        },
    )


def _with_closed(readers: BlockReaders, constraint: TVCS, prices: Prices) -> Prices:
    """Return the prices, with those of groups with cap 0 set."""
    row_caps, col_caps, total = constraint.caps
    if total == 0 or (row_caps.all() and col_caps.all()):
        return prices
    u, w = np.where(row_caps > 0, prices.rows, 0.0), np.where(col_caps > 0, prices.cols, 0.0)
    price = prices.total
    found: list[ClosedPrices] = readers.ask(
        lambda b: PriceClosed(
            row_caps[readers.rows(b)], col_caps, Prices(u[readers.rows(b)], w, price)
        )
    )
    of_rows = np.concatenate([x.rows for x in found])
    of_cols = np.max([x.cols for x in found], axis=0)
    return Prices(np.maximum(u, of_rows), np.maximum(w, of_cols), price)
