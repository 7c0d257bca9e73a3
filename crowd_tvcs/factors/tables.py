"""Read crowds in factors: the table of workers x kinds, and the kind of every task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowd_tvcs.accuracy.model import checked_prior
from crowd_tvcs.answers.coded import Coded, encode_columns, first_duplicate
from crowd_tvcs.answers.columns import (
    KIND,
    TASK,
    Column,
    check_any_rows,
    find,
    open_table,
    refuse_others,
)
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.answers.quality import QualityFile, read_quality
from crowd_tvcs.answers.rows import TASK_COLUMNS, read_worker_rows
from crowd_tvcs.arrays import Integers
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.tables import (
    NO_CAP,
    chance_of_the_second,
    columns_named,
    columns_of_classes,
    number_of_classes,
    read_chances,
    read_column,
)
from tvcs_core.files.display import plural, quoted
from tvcs_core.files.errors import DataError
from tvcs_core.files.tables import Table

# Workers x tasks of a crowd that is planned as a table; the table is then 32 MB.
MOST_PAIRS = 4_000_000


@dataclass(frozen=True)
class FactorsFile:
    """Factors as they were read.

    Attributes
    ----------
    factors
        Content of the two tables, in the order of the files.
    layout
        How they were understood, for people.
    tasks
        The table of tasks.
    """

    factors: Factors
    layout: str
    tasks: Table

    @property
    def fits(self) -> bool:
        """Whether workers x tasks is small enough to be planned as a table."""
        n_workers, n_tasks = self.factors.shape
        return n_workers * n_tasks <= MOST_PAIRS


def read_kinds(path: str | Path) -> QualityFile:
    """Read a table of workers x kinds, wide or long.

    Wide: a column `worker`, then one column per kind. Long: the columns `worker`, `kind` and
    `quality`; a pair that is not listed may not be assigned.
    """
    return read_quality(path, KIND)


def read_factors(kinds: Path, tasks: Path) -> FactorsFile:
    """Read the table of kinds, and of the tasks their names and kinds.

    Raises
    ------
    DataError
        Naming file, line and column: of a task that is there twice, of a kind that the table of
        kinds does not have, of an empty cell.
    """
    read = read_kinds(kinds)
    table = open_table(tasks)
    at = find(table, [TASK, KIND], f"; a table of tasks beside {kinds.name} has both")
    check_any_rows(table)
    task, kind = encode_columns(table, at)
    _refuse_twice(table, at[0], task)
    place = {name: k for k, name in enumerate(read.quality.tasks)}
    for code, name in enumerate(kind.names):
        if name not in place:
            row = int(np.argmax(kind.codes == code)) + 1
            what = f"must be a kind of {kinds.name}, found {quoted(name)}"
            raise table.error(what, row, at[1])
    of_names = np.array([place[name] for name in kind.names], dtype=np.int64)
    factors = Factors(read.quality, task.names, of_names[kind.codes])
    layout = f"{read.layout}; {plural(len(task.names), 'task')}"
    return FactorsFile(factors, layout, table)


def read_factored_plan(
    read: FactorsFile,
    *,
    workers: Path | None = None,
    max_workers_per_task: int | None = None,
    max_tasks_per_worker: int | None = None,
    budget: int | None = None,
    prior: float = 0.5,
    classes: int | None = None,
    class_prior: Sequence[float] | None = None,
) -> Plan:
    """Make a plan of factors and of tables; see `crowd_tvcs.plan.tables.read_plan`.

    The table of tasks may have the columns `prior` (or `prior=CLASS` for each of more than two
    classes), `min_workers` and `max_workers` beside `task` and `kind`, that of workers `max_tasks`
    beside `worker`.

    Raises
    ------
    DataError
        Naming file, line and column of a number out of its range or a name that is not there.
    ValueError
        If the demands cannot be met together.
    """
    table, factors = read.tasks, read.factors
    k = number_of_classes(classes, class_prior)
    if k == 2 and class_prior is not None:
        prior, class_prior = chance_of_the_second(prior, class_prior), None
    of_classes = columns_of_classes(table, k, None)
    readers = {name: r for name, r in TASK_COLUMNS.items() if name != "prior" or k == 2}
    allowed = [TASK, KIND, *map(Column, readers), *map(Column, of_classes)]
    refuse_others(table, allowed)
    chances = None if k == 2 else checked_prior(class_prior, len(factors.tasks), k)
    if of_classes:
        assert chances is not None
        chances = read_chances(table, of_classes, chances)
    usual = {"prior": prior, "min_workers": 0, "max_workers": max_workers_per_task}
    given: dict[str, Any] = dict(usual)
    for name, reader in readers.items():
        if any(map(Column(name).matches, table.rows[0])):
            (at,) = find(table, [Column(name)])
            value = usual[name]
            given[name] = read_column(table, at, reader, NO_CAP if value is None else value)
    with columns_named(table.path):
        return Plan(
            factors,
            max_workers_per_task=given["max_workers"],
            max_tasks_per_worker=_caps(workers, factors, max_tasks_per_worker),
            budget=budget,
            prior=given.get("prior", 0.5) if k == 2 else 0.5,
            min_workers_per_task=given["min_workers"],
            n_classes=k,
            class_prior=chances,
        )


def _refuse_twice(table: Table, column: int, task: Coded) -> None:
    if len(task.names) == task.codes.size:
        return
    found = first_duplicate(task.codes.astype(np.int64))
    assert found is not None
    row, before = found
    name = task.names[task.codes[row]]
    raise table.error(
        f"{quoted(name)} is there already, in line {table.lines[before + 1]}", row + 1, column
    )


def _caps(path: Path | None, factors: Factors, usual: int | None) -> int | Integers | None:
    """Most tasks of every worker."""
    if path is None:
        return usual
    rows = read_worker_rows(path, set(factors.table.workers))
    for column in ("cost", "group"):
        if any(column in row for row in rows.values()):
            raise DataError(
                f"the column {column} is for crowds whose workers x tasks are at most "
                f"{MOST_PAIRS}, found {factors.shape[0]} x {factors.shape[1]}: leave it out, or "
                "plan parts of the tasks one by one",
                path=path,
            )
    default = NO_CAP if usual is None else usual
    return np.array(
        [rows.get(name, {}).get("max_tasks", default) for name in factors.table.workers],
        dtype=np.int64,
    )
