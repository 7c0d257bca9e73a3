"""Quality: the probability that each worker is right on each task; reading its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.answers.coded import encode_columns, first_duplicate
from crowd_tvcs.answers.columns import (
    QUALITY,
    TASK,
    WORKER,
    Column,
    check_any_rows,
    find,
    open_table,
    rows_by_name,
)
from crowd_tvcs.answers.label_typos import warn_similar_names
from crowd_tvcs.answers.names import check_names
from crowd_tvcs.answers.rows import read_probability, read_shares
from crowd_tvcs.answers.values import SUMMARIES, describe_fault, find_name_fault
from crowd_tvcs.arrays import Bools, Floats, Integers
from tvcs_core.arguments import array_of
from tvcs_core.files.display import joined, plural, quoted, summary
from tvcs_core.files.frames import is_frame
from tvcs_core.files.input_size import refuse_cells
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import Table

if TYPE_CHECKING:
    import pandas as pd

UNINFORMATIVE = 0.5
SKILLS = {"gold", "right", "quality"}  # columns of a skills.csv
PER_WORKER = {QUALITY.name, "accuracy", "skill", "score", "reliability"}  # and no task
ROUNDED = 0.0051  # of means with two decimals
BYTES_OF_A_PAIR = 32  # its quality, whether it is allowed, and the gains that a plan derives


@dataclass(frozen=True, eq=False)
class Quality:
    """Probability that each worker is right on each task.

    Attributes
    ----------
    values
        Probability in [0, 1] that worker i answers task j correctly, of shape (workers, tasks).
        Below 1/2 the worker is more often wrong than right, and the vote inverts their answer.
    workers, tasks
        Names of the rows and of the columns: not empty, without duplicates.
    allowed
        Boolean, of the same shape: pairs that may be assigned; None for all of them.

    Raises
    ------
    ValueError, TypeError
        If the shapes do not fit, a name is empty or repeated, or a value is outside [0, 1].

    Examples
    --------
    >>> Quality([[.9, .6], [.7, .8]], workers=["ann", "bob"], tasks=["t1", "t2"])
    Quality(2 workers x 2 tasks)
    """

    values: Floats
    workers: tuple[str, ...]
    tasks: tuple[str, ...]
    allowed: Bools | None = field(default=None)

    def __init__(
        self,
        values: ArrayLike,
        workers: Sequence[str],
        tasks: Sequence[str],
        allowed: ArrayLike | None = None,
    ) -> None:
        names = (check_names("workers", workers), check_names("tasks", tasks))
        shape = (len(names[0]), len(names[1]))
        array = array_of("values", values, np.float64)
        if array.shape != shape:
            raise ValueError(
                f"values must have shape {shape}, one row per worker and one column per task, "
                f"found {array.shape}"
            )
        wrong = ~((array >= 0.0) & (array <= 1.0))
        if wrong.any():
            i, j = np.unravel_index(int(np.argmax(wrong)), shape)
            raise ValueError(
                f"quality must be in [0, 1], but that of worker {names[0][i]!r} on task "
                f"{names[1][j]!r} is {array[i, j]}"
            )
        mask = None
        if allowed is not None:
            mask = array_of("allowed", allowed)
            if mask.dtype != np.bool_:
                raise TypeError(f"allowed must be booleans, found {mask.dtype}")
            if mask.shape != shape:
                raise ValueError(f"allowed must have shape {shape}, found {mask.shape}")
            mask.setflags(write=False)
        array.setflags(write=False)
        vars(self).update(values=array, workers=names[0], tasks=names[1], allowed=mask)

    def __repr__(self) -> str:
        pairs = (
            "" if self.allowed is None else f", {plural(int(self.allowed.sum()), 'pair')} allowed"
        )
        return (
            f"Quality({plural(len(self.workers), 'worker')} x "
            f"{plural(len(self.tasks), 'task')}{pairs})"
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of workers and tasks."""
        return len(self.workers), len(self.tasks)

    def room(self) -> tuple[Integers, Integers]:
        """Count the tasks that every worker may do, and the workers that every task may get."""
        n_workers, n_tasks = self.shape
        if self.allowed is None:
            return np.full(n_workers, n_tasks), np.full(n_tasks, n_workers)
        return self.allowed.sum(axis=1), self.allowed.sum(axis=0)

    def columns(self, tasks: Integers) -> Quality:
        """Return the table of these tasks, which are named by their places; one may be twice."""
        allowed = None if self.allowed is None else self.allowed[:, tasks]
        names = list(map(str, range(tasks.size)))
        return Quality(self.values[:, tasks], self.workers, names, allowed)

    def of_pairs(self, workers: NDArray[np.integer], tasks: NDArray[np.integer]) -> Floats:
        """Return the quality of pairs."""
        return self.values[workers, tasks]

    def allows(self, workers: NDArray[np.integer], tasks: NDArray[np.integer]) -> Bools:
        """Whether pairs may be assigned."""
        if self.allowed is None:
            return np.ones(np.broadcast_shapes(workers.shape, tasks.shape), dtype=bool)
        return self.allowed[workers, tasks]

    def reorder(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Quality:
        """Return the table with the workers ordered by `rows` and the tasks by `columns`."""
        at, out = np.ix_(rows, columns), object.__new__(Quality)  # checked already
        values, allowed = self.values[at], None if self.allowed is None else self.allowed[at]
        for array in (values, allowed):
            if array is not None:
                array.setflags(write=False)
        workers = tuple(self.workers[i] for i in rows)
        tasks = tuple(self.tasks[j] for j in columns)
        vars(out).update(values=values, workers=workers, tasks=tasks, allowed=allowed)
        return out


@dataclass(frozen=True)
class QualityFile:
    """Quality table of a file.

    Attributes
    ----------
    quality
        The table, in the order of the file.
    layout
        How the file was interpreted, for people: layout, delimiter and size.
    """

    quality: Quality
    layout: str

    __repr__ = summary


def read_quality(source: str | Path | pd.DataFrame, of: Column = TASK) -> QualityFile:
    """Read a quality table, wide or long: CSV or TSV, plain or ``.gz``, or a DataFrame.

    Wide: one row per worker; the first column is `worker`, then one column per task. The index of a
    DataFrame has the workers, if no column does. Long: the columns `worker`, `task` and `quality`
    in any order; other columns are ignored, and a pair that is not listed may not be assigned.
    `performer` and `annotator` are accepted for `worker`, `item` for `task`. An apostrophe before a
    name that starts like a formula is removed (see `tvcs_core.files.spreadsheet`). With `of` the
    columns are other things than tasks.

    Raises
    ------
    DataError
        Naming the file, the line and the column of an invalid value.
    """
    if is_frame(source) and source.index.names == [None]:
        has_workers = any(WORKER.matches(str(name)) for name in source.columns)
        source = source if has_workers else source.rename_axis("worker")
    return quality_of(open_table(source), of)


def as_quality(given: ArrayLike | pd.DataFrame) -> Quality:
    """Return the quality table of a DataFrame, or of an array, whose lines are named from "0"."""
    if is_frame(given):
        return read_quality(given).quality
    if hasattr(given, "to_quality"):
        raise TypeError("quality must be a table, found a Skill; give skill.to_quality(tasks)")
    if isinstance(given, Mapping):
        raise TypeError(
            "quality must be a DataFrame or an array, with a row for every worker and a column for "
            "every task, found a mapping; make it one by pandas.DataFrame.from_dict(..., "
            "orient='index')"
        )
    values = array_of("quality", given, np.float64)
    if values.ndim != 2:
        raise ValueError(
            "quality must have two dimensions, one row per worker and one column per task, found "
            f"shape {values.shape}"
        )
    workers, tasks = (list(map(str, range(size))) for size in values.shape)
    return Quality(values, workers, tasks)


def quality_of(table: Table, of: Column = TASK) -> QualityFile:
    """Return the quality table that a table holds, see `read_quality`."""
    first, *others = table.rows[0]
    is_per_worker = len(others) == 1 and others[0].casefold() in PER_WORKER
    if WORKER.matches(first) and (is_per_worker or SKILLS.issubset(others)):
        raise table.error(
            f"has a quality per worker, must have one per worker and {of.name}: a long table has "
            f"worker, {of.name}, quality, a wide one worker and one column per {of.name}; "
            "crowd-tvcs quality writes the first as quality.csv",
            0,
        )
    if any(map(of.matches, table.rows[0])):
        quality, ignored = _from_long(table, of)
        kind = "long"
    else:
        quality, ignored = _from_wide(table, of.name), []
        kind = "wide"
    n_workers, n_tasks = quality.shape
    layout = f"{kind}, {table.layout}, "
    layout += f"{plural(n_workers, 'worker')} x {plural(n_tasks, of.name)}"
    if quality.allowed is not None:
        layout += f", {int(quality.allowed.sum())} of {quality.allowed.size} pairs listed"
    if np.isin(quality.values, (0.0, 1.0)).all():
        layout += "; every quality is 0 or 1, as in a table of answers or of allowed pairs"
    if ignored:
        layout += f"; ignored columns: {joined(ignored)}"
    for kind, names in (("worker", quality.workers), (of.name, quality.tasks)):
        layout += "".join(f"; {line}" for line in warn_similar_names(kind, names))
    return QualityFile(quality, layout)


Qualities = dict[str, float] | Quality


def read_qualities(path: Path) -> Qualities:
    """Read one quality per worker (`worker, quality`), or a table that `read_quality` reads."""
    table = open_table(path)
    header = table.rows[0]
    if any(map(TASK.matches, header)) or not any(map(QUALITY.matches, header)):
        return quality_of(table).quality
    worker, at = find(table, [WORKER, QUALITY])
    out = {}
    for name, r in rows_by_name(table, worker).items():
        if not table.rows[r][at]:
            raise table.error(f"the quality of worker {quoted(name)} is missing", r)
        out[name] = read_probability(table, r, at)
    return out


def _from_wide(table: Table, of: str) -> Quality:
    header = table.rows[0]
    if not WORKER.matches(header[0]):
        raise table.error(
            f"the first column must be 'worker' (one row per worker, one column per {of}), or the "
            f"columns must be worker, {of}, quality; found {quoted(header[0])}",
            row=0,
            column=0,
        )
    if len(header) < 2:
        raise table.error(f"must have a column for every {of} after 'worker'", row=0)
    tasks = [unshield(cell) for cell in header[1:]]
    workers = list(rows_by_name(table, 0))
    place: dict[str, int] = {}
    for j, task in enumerate(tasks, start=1):
        if not task:
            raise table.error(
                f"every {of} needs a name, found an empty one; name or delete the column", 0, j
            )
        if fault := find_name_fault(task):
            raise table.error(describe_fault(fault, task, of, of_answers=False), 0, j)
        if place.setdefault(task, j) != j:
            raise table.error(f"{quoted(task)} is there already, in column {place[task] + 1}", 0, j)
    columns = range(1, len(header))
    for i, row in enumerate(table.rows[1:], start=1):
        if "" in row:
            raise table.error(
                "must be a number in [0, 1], found an empty cell; to forbid a pair leave it out "
                f"of a long table (worker, {of}, quality)",
                i,
                row.index(""),
            )
    values = read_shares(table, columns, "a quality")
    _refuse_means(table, of, tasks, values.T)
    _refuse_means(table, "worker", workers, values)
    return Quality(values, workers, tasks)


def _refuse_means(table: Table, kind: str, names: Sequence[str], values: Floats) -> None:
    """Refuse a line that is the mean of the others and called so."""
    for k, name in enumerate(names):
        if name.casefold() in SUMMARIES and len(names) > 2:
            others = np.delete(values, k, axis=0).mean(axis=0)
            if (np.abs(values[k] - others) <= ROUNDED).all():
                raise table.error(
                    f"{quoted(name)} is the mean of all others and no {kind}: delete it"
                )


def _has_any(header: Sequence[str], *columns: Column) -> bool:
    return any(column.matches(name) for column in columns for name in header)


def _from_long(table: Table, of: Column) -> tuple[Quality, list[str]]:
    name = of.name
    header = table.rows[0]
    if of.matches(header[0]) and len(header) > 2 and not _has_any(header, WORKER, QUALITY):
        raise table.error(
            f"has a row per {name}, must have one per worker: turn the table over, so that it has "
            f"a column 'worker' and one column per {name}",
            0,
        )
    hint = f"; a long table has worker, {name}, quality, a wide one 'worker' and one column per "
    at = find(table, [WORKER, of, QUALITY], hint + name)
    check_any_rows(table, "a row of values")
    worker, task = encode_columns(table, at[:2])
    given = read_shares(table, at[2:], "a quality")
    twice = first_duplicate(worker.codes.astype(np.int64) * len(task.names) + task.codes)
    if twice is not None:
        row, before = twice
        pair = worker.names[worker.codes[row]], task.names[task.codes[row]]
        raise table.error(
            f"the quality of {quoted(pair[0])} on {quoted(pair[1])} is there already, in line "
            f"{table.lines[before + 1]}",
            row + 1,
        )
    refuse_cells(table.path, len(worker.names), len(task.names), BYTES_OF_A_PAIR)
    values = np.full((len(worker.names), len(task.names)), UNINFORMATIVE)
    values[worker.codes, task.codes] = given[:, 0]
    allowed = np.zeros(values.shape, dtype=bool)
    allowed[worker.codes, task.codes] = True
    ignored = [header for j, header in enumerate(table.rows[0]) if j not in at]
    mask = None if allowed.all() else allowed
    return Quality(values, worker.names, task.names, mask), ignored
