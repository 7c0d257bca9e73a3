"""Recorded comparisons of pairs: which of two items a worker prefers, or a tie."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from crowd_tvcs.answer_kinds.words import TIE, WORDS, code_of, find_fault_of_pair
from crowd_tvcs.answers.checked_rows import check_rows
from crowd_tvcs.answers.columns import (
    WORKER,
    Column,
    check_any_rows,
    describe_columns,
    find,
    open_table,
)
from crowd_tvcs.answers.recorded import GivenByWorkers
from crowd_tvcs.arrays import Integers
from tvcs_core.files.display import joined, plural, quoted
from tvcs_core.files.tables import Table

ITEM_COLUMNS = (Column("left", ("item_a", "model_a")), Column("right", ("item_b", "model_b")))
PERSON = Column(WORKER.name, (*WORKER.also, "judge"))
PREFERRED = Column("answer", ("label", "output", "winner"))
TIES = ("tie (bothbad)", "draw", "equal")  # other words for a tie, the first of Chatbot Arena


@dataclass(frozen=True, eq=False)
class Comparisons(GivenByWorkers):
    """Comparisons of pairs of items by workers; a worker may compare a pair repeatedly.

    Attributes
    ----------
    items, workers
        Names, sorted.
    left_of, right_of, worker_of
        Index of the item on the left, of the item on the right and of the worker of every answer.
    answer_of
        0 if the left item was preferred, 1 for the right one, 2 for a tie.
    layout
        How the file was interpreted, for people; empty without a file.
    """

    items: tuple[str, ...]
    workers: tuple[str, ...]
    left_of: Integers
    right_of: Integers
    worker_of: Integers
    answer_of: Integers
    layout: str = ""

    @classmethod
    def of(
        cls, rows: Iterable[tuple[str, str, str, str]], *, also: Iterable[str] = ()
    ) -> Comparisons:
        """Make comparisons from rows (worker, left, right, answer), and items `also` known.

        Raises
        ------
        ValueError
            If there is no row, an item is compared with itself, or an answer is neither ``left``,
            ``right``, ``tie`` nor one of the two items.

        Examples
        --------
        >>> found = Comparisons.of([("ann", "a", "b", "left"), ("bob", "b", "a", "tie")])
        >>> found.items, found.answer_of.tolist()
        (('a', 'b'), [0, 2])
        """
        listed = list(rows)
        if not listed:
            raise ValueError("must have a comparison, found none")
        answers = []
        for k, (_, left, right, answer) in enumerate(listed):
            fault = find_fault_of_pair(left, right, answer)
            if fault:
                raise ValueError(f"row {k + 1}: {fault}")
            answers.append(code_of(left, answer))
        who, *sides = (np.array([row[k] for row in listed]) for k in range(3))
        every = np.concatenate([*sides, np.array(list(also), dtype=str)])
        items, item_of = np.unique(every, return_inverse=True)
        workers, worker_of = np.unique(who, return_inverse=True)
        n = len(listed)
        return cls(
            tuple(items.tolist()), tuple(workers.tolist()), item_of[:n], item_of[n : 2 * n],
            worker_of,
            np.array(answers),
        )  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"Comparisons({plural(self.size, 'answer')} of "
            f"{plural(len(self.workers), 'worker')} on "
            f"{plural(len(self.items), 'item')})"
        )

    @property
    def per_item(self) -> Integers:
        """Number of answers on every item."""
        both = np.concatenate([self.left_of, self.right_of])
        return np.bincount(both, minlength=len(self.items))

    @property
    def per_pair(self) -> Integers:
        """Number of answers on every pair, of shape (items, items), symmetric."""
        n = len(self.items)
        counts = np.bincount(self.left_of * n + self.right_of, minlength=n * n).reshape(n, n)
        return counts + counts.T

    def parts(self) -> list[tuple[str, ...]]:
        """Return the items of every part that was never compared with another, largest first."""
        n = len(self.items)
        graph = sparse.coo_array((np.ones(self.size), (self.left_of, self.right_of)), (n, n))
        count, part_of = connected_components(graph, directed=False)
        parts = [
            tuple(self.items[k] for k in np.flatnonzero(part_of == part).tolist())
            for part in range(count)
        ]
        return sorted(parts, key=lambda part: (-len(part), part))


def describe_parts(parts: list[tuple[str, ...]]) -> str | None:
    """Warn of items that were never compared with the others; None if there is one part."""
    if len(parts) == 1:
        return None
    others = [name for part in parts[1:] for name in part]
    return (
        f"warning: the items fall into {len(parts)} parts that were never compared with each "
        f"other; outside the largest stand {joined(others, quoted)}. Ranks across parts are no "
        "more than the prior: compare an item of each with one of the largest part (--next does)"
    )


def read_comparisons(path: str | Path, *, leave_out_missing: bool = False) -> Comparisons:
    """Read a table of comparisons: columns worker, left, right, answer; CSV, TSV or a workbook.

    The answer is ``left``, ``right``, ``tie`` (or ``draw``, ``equal``), the name of the preferred
    item, or that of its column, such as ``model_a``. Other columns are ignored.

    Parameters
    ----------
    path
        The file.
    leave_out_missing
        Whether to leave out rows without a worker, an item or an answer.

    Raises
    ------
    DataError
        Naming file, line and column: a column is missing, a name is invalid, an item is compared
        with itself, or an answer is none of the above.
    """
    table = open_table(path)
    columns = [PERSON, *ITEM_COLUMNS, PREFERRED]
    layout = describe_columns(table, columns, find(table, columns))
    rows, left_out = compared_rows(table, leave_out_missing)
    found = Comparisons.of(row for _, row in rows)
    size = (
        f"{plural(found.size, 'comparison')} of {plural(len(found.items), 'item')} by "
        f"{plural(len(found.workers), 'worker')}"
    )
    return Comparisons(**{**vars(found), "layout": f"{layout}, {size}{left_out}"})


def compared_rows(
    table: Table, leave_out_missing: bool
) -> tuple[list[tuple[int, tuple[str, str, str, str]]], str]:
    """Return (worker, left, right, answer) of every row with its number, and the rows left out."""
    at = find(table, [PERSON, *ITEM_COLUMNS, PREFERRED])
    check_any_rows(table, "a comparison")
    kinds = {WORKER.name: at[0], "left item": at[1], "right item": at[2]}
    checked = check_rows(table, kinds, at[3], leave_out_missing=leave_out_missing)
    worker, left, right = checked.names
    rows, items = [], {*left.names, *right.names}
    for r in np.flatnonzero(checked.counts).tolist():
        names = [one.names[one.codes[r]] for one in (worker, left, right, checked.label)]
        names[3] = _of_column(table, at[1:3], names[3], items)
        _refuse(table, at[1:], r + 1, names[1:])
        rows.append((r + 1, (names[0], names[1], names[2], names[3])))
    return rows, checked.description


def read_known_orders(path: str | Path) -> dict[tuple[str, str], str]:
    """Read pairs of known order, columns left, right, answer; return the better item by pair.

    Raises
    ------
    DataError
        As `read_comparisons`, and if an answer is a tie or a pair has two answers.
    """
    table = open_table(path)
    columns = [*ITEM_COLUMNS, PREFERRED]
    at = find(table, columns)
    check_any_rows(table, "a pair")
    checked = check_rows(table, {"left item": at[0], "right item": at[1]}, at[2])
    left, right = checked.names
    found: dict[tuple[str, str], str] = {}
    items = {*left.names, *right.names}
    for r in range(checked.counts.size):
        names = [one.names[one.codes[r]] for one in (left, right, checked.label)]
        names[2] = _of_column(table, at[:2], names[2], items)
        _refuse(table, at, r + 1, names)
        code = code_of(names[0], names[2])
        if code == TIE:
            raise table.error("a known order must name the better item, found a tie", r + 1, at[2])
        pair, better = (min(names[:2]), max(names[:2])), names[code]
        if found.setdefault(pair, better) != better:
            raise table.error(
                f"the pair {quoted(pair[0])} and {quoted(pair[1])} has two orders; keep one",
                r + 1,
                at[2],
            )
    return found


def _of_column(table: Table, at: list[int], answer: str, items: Collection[str]) -> str:
    """Return the answer; ``left``, ``right`` or ``tie`` for other words that are no items."""
    if answer in items:
        return answer
    if answer.lower() in TIES:
        return WORDS[TIE]
    headers = [table.rows[0][j].lower() for j in at]
    return WORDS[headers.index(answer.lower())] if answer.lower() in headers else answer


def _refuse(table: Table, at: list[int], row: int, names: list[str]) -> None:
    """Refuse a row whose left, right and answer are no comparison, naming the column."""
    left, right, answer = names
    fault = find_fault_of_pair(left, right, answer)
    if fault:
        is_left, is_right = (name.lower() in WORDS for name in (left, right))
        column = at[0] if is_left else at[1] if is_right or left == right else at[2]
        raise table.error(fault, row, column)
