"""The projection of a V that lies in blocks of rows, and its support with the proof."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tvcs_core.arguments import require_kind, require_number
from tvcs_core.constraint import TVCS
from tvcs_core.files.errors import DataError
from tvcs_core.projection.blocks import file
from tvcs_core.projection.blocks.core import BlockNetwork, lay
from tvcs_core.projection.blocks.first_prices import first_prices
from tvcs_core.projection.blocks.holders import Crew
from tvcs_core.projection.blocks.proof import Proof, Prove
from tvcs_core.projection.blocks.questions import Closed, PriceClosed
from tvcs_core.projection.blocks.support import SendKept, SupportPart
from tvcs_core.projection.blocks.whole import Whole, survey
from tvcs_core.projection.bound import Bounded
from tvcs_core.projection.kernels.records import Prices


@dataclass(frozen=True, eq=False)
class BlockProjection(Bounded):
    """The support of a projection as a list of entries, and prices that prove it.

    Attributes
    ----------
    rows, cols, values
        The support, row by row, and V there; int64, int64, float64.
    kept, gap
        As in `Projection`, measured block by block by NumPy alone (`proof.py`): `gap` is how much
        more any other support could keep, at most.
    row_duals, col_duals, total_dual
        Prices of the caps, in units of V squared.
    constraint
        The constraint.
    facts
        What it took: ``blocks``; ``size``, bytes of V; ``sent``, bytes of all answers of the
        blocks; ``questions`` that each was asked; ``replaced``, how many holders were lost;
        ``core``, entries that the simplex saw; ``path``, how the support was found.
    """

    rows: NDArray[np.int64] = field(repr=False)
    cols: NDArray[np.int64] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    kept: float
    row_duals: NDArray[np.float64] = field(repr=False)
    col_duals: NDArray[np.float64] = field(repr=False)
    total_dual: float
    gap: float
    constraint: TVCS
    facts: dict[str, Any] = field(default_factory=dict)

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

        `kept` and `gap` are what the file says: V is not in it. `certify_blocks` checks them.

        Raises
        ------
        DataError
            If the file is not one that `save` wrote, or is damaged.
        """
        return file.load(path, cls)


def project_blocks(
    blocks: Any, constraint: TVCS, *, threads: int = 1, retries: int = 2
) -> BlockProjection:
    """Project a V that lies in blocks of rows, on disks, in processes or on machines.

    The support is that of `project`, ties included, but for values so small beside the largest
    that `project` chooses them in a unit of their own (2^-16 of it and less). V is never put
    together: blocks answer questions, some ten passes over each, and send what is near a threshold
    and what is kept. Use `project` where V fits into memory; it is faster there.

    Parameters
    ----------
    blocks
        A folder, whose `.npy` files are the blocks in the order of their names, in which 10 comes
        after 9; or a list whose items are each a path of a `.npy` file, an array, or a function
        without arguments that opens a holder: an object whose ``ask(question)`` returns what
        `answer_block` does where the block is. Each block has shape ``(rows, columns)`` and real
        numbers, which count as float64.
    constraint
        Made by `TVCS.matrix` for the shape of all rows, without `allowed` or `bounds`.
    threads
        How many blocks to ask at a time. The result does not depend on it.
    retries
        How often a question is asked again, of a new holder, if one is lost: if its `ask` raises
        anything but ValueError, TypeError or MemoryError.

    Returns
    -------
    BlockProjection
        With the support as a list, the prices, and the gap between them.

    Raises
    ------
    DataError
        If a block is missing, damaged, of another shape or type, holds NaN or infinities, or
        changes during the run; the message names it.
    ValueError, TypeError
        If the constraint is of another kind or shape, or V needs scaling.
    MemoryError
        If the entries near the thresholds do not fit into memory.
    RuntimeError
        If a holder is lost once more than `retries` allows.

    Examples
    --------
    >>> import numpy as np
    >>> from tvcs_core import TVCS, project_blocks
    >>> constraint = TVCS.matrix((3, 2), row_caps=1, col_caps=1)
    >>> found = project_blocks([np.array([[3, 2]]), np.array([[2, 0], [1, 1]])], constraint)
    >>> found.rows.tolist(), found.cols.tolist(), found.kept, found.gap
    ([0, 2], [0, 1], 10.0, 0.0)
    """
    require_kind("constraint", constraint, TVCS)
    for name, number, least in (("threads", threads, 1), ("retries", retries, 0)):
        require_number(name, number, whole=True)
        if number < least:
            raise ValueError(f"{name} must be >= {least}, found {number}")
    _refuse_other_kinds(constraint)
    crew = Crew(blocks, threads, retries)
    if crew.shape != constraint.shape:
        raise ValueError(
            f"blocks must have the constraint's shape {constraint.shape} together, "
            f"found {crew.shape}"
        )
    whole, largest = survey(crew, constraint)
    if whole is None:
        return _nothing(crew, constraint, largest)
    if whole.fits_all:
        parts = whole.ask(lambda ground, _: SendKept(ground, None))
        return _proved(crew, constraint, parts, _no_prices(constraint), {"path": "everything"})
    network = lay(whole, first_prices(whole))
    network.prove()
    return _read(whole, constraint, network)


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


def _no_prices(constraint: TVCS) -> Prices:
    n, m = constraint.shape
    return Prices(np.zeros(n), np.zeros(m), 0.0)


def _nothing(crew: Crew, constraint: TVCS, largest: float) -> BlockProjection:
    """Nothing may be kept, or nothing is worth it."""
    none = SupportPart(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
    prices = _no_prices(constraint)
    if constraint.total == 0:
        prices = prices._replace(total=largest * largest)
    parts = [none._replace(per_row=np.zeros(f.shape[0], np.int32)) for f in crew.facts if f]
    return _proved(crew, constraint, parts, prices, {"path": "nothing"})


def _read(whole: Whole, constraint: TVCS, network: BlockNetwork) -> BlockProjection:
    """The support and the prices of a proved network."""
    i, found = whole.instance, network.duals()
    u, w = np.where(i.closed_row, 0.0, found.rows), np.where(i.closed_col, 0.0, found.cols)
    prices = Prices(u / i.scale, w / i.scale, found.total / i.scale)
    parts = whole.crew.ask(lambda b: SendKept(whole.ground(b), network.kept(b)))
    return _proved(whole.crew, constraint, parts, prices, network.stats)


def _proved(
    crew: Crew, constraint: TVCS, parts: list[SupportPart], prices: Prices, stats: dict[str, Any]
) -> BlockProjection:
    """The projection, measured block by block."""
    prices = _with_closed(crew, constraint, prices)
    u, w, price = prices
    per_row = np.concatenate([x.per_row for x in parts])
    rows = np.repeat(np.arange(per_row.size), per_row)
    cols = np.concatenate([x.col for x in parts]).astype(np.int64)
    values = np.concatenate([x.values for x in parts]).astype(np.float64)

    def prove(block: int) -> Prove:
        of_block = crew.rows(block)
        at = slice(*np.searchsorted(rows, [of_block.start, of_block.stop]))
        return Prove(u[of_block], w, price, rows[at] - of_block.start, cols[at], values[at])

    found: list[Proof] = crew.ask(prove)
    for name, proof in zip(crew.names, found, strict=True):
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
        kept=math.fsum(x.kept for x in found),
        row_duals=u,
        col_duals=w,
        total_dual=price,
        gap=math.fsum(slack),
        constraint=constraint,
        facts={
            "blocks": len(crew),
            "size": crew.size,
            "sent": crew.sent,
            "questions": crew.questions,
            "replaced": crew.replaced,
            "core": 0,
            **stats,
        },
    )


def _with_closed(crew: Crew, constraint: TVCS, prices: Prices) -> Prices:
    """The prices with those of the groups that may keep nothing."""
    row_caps, col_caps, total = constraint.caps
    if total == 0 or (row_caps.all() and col_caps.all()):
        return prices
    u, w, price = prices
    found: list[Closed] = crew.ask(
        lambda b: PriceClosed(row_caps[crew.rows(b)], col_caps, Prices(u[crew.rows(b)], w, price))
    )
    of_rows = np.concatenate([x.rows for x in found])
    of_cols = np.max([x.cols for x in found], axis=0)
    return Prices(np.maximum(u, of_rows), np.maximum(w, of_cols), price)
