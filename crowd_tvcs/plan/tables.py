"""Tables of an operator's demands: caps per worker, tasks, pairs that must or may not be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.model import checked_prior
from crowd_tvcs.answers.columns import TASK, WORKER, Column, find, names_in, open_table
from crowd_tvcs.answers.confusion import read_confusion
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.answers.rows import (
    TASK_COLUMNS,
    Reader,
    Rows,
    check_costs,
    read_probability,
    read_worker_rows,
    rows_of,
)
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.plan.plan import Plan
from tvcs_core.arguments import option_name
from tvcs_core.files.display import plural
from tvcs_core.files.errors import DataError
from tvcs_core.files.tables import Table

OF_CLASS = "prior="  # prefix of the columns of priors of tasks, before the name of a class
NO_CAP = np.iinfo(np.int64).max  # labels


def read_plan(
    quality: Quality,
    *,
    workers: Path | None = None,
    tasks: Path | None = None,
    forced: Path | None = None,
    forbidden: Path | None = None,
    max_workers_per_task: int | None = None,
    max_tasks_per_worker: int | None = None,
    budget: int | None = None,
    prior: float = 0.5,
    classes: int | None = None,
    class_prior: Sequence[float] | None = None,
    confusion: Path | None = None,
    money: float | None = None,
    common_error: float = 0.0,
    has_kinds: bool = False,
) -> Plan:
    """Make a plan of `quality` and of tables.

    Parameters
    ----------
    workers
        Table with the column `worker` and any of `max_tasks`, `cost` (of a label) and `group` (at
        most one of it gets a task). If there is a cost, every worker must have one. `minutes` of a
        label may stand in its place; then `money` is in minutes.
    tasks
        Table with the column `task` and any of `prior`, `min_workers` and `max_workers`. With more
        than two classes `prior=CLASS` for each of these, in their order, in place of `prior`.
    forced, forbidden
        Tables with the columns `worker` and `task`: pairs that must, and that may not be.
    max_workers_per_task, max_tasks_per_worker, budget, prior
        As for `Plan`, for all workers and tasks that the tables do not list, or whose cell there
        is empty. With more than two classes a table has no `prior`.
    classes, class_prior
        Number of classes (None for those of `confusion`, else as many as probabilities, else 2) and
        the probability of each, in place of `prior`.
    confusion
        Table with the columns `worker`, `label`, `answer` and `probability`, see
        `crowd_tvcs.answers.confusion`; its labels are the classes.
    money, common_error
        As for `Plan`.
    has_kinds
        Whether the table of tasks may have a column `kind` too, which was read already.

    Tables are CSV or TSV, plain or ``.gz``; other columns are an error, so that none is
    overlooked.

    Raises
    ------
    DataError
        Naming file, line and column of a name that `quality` does not have, a name that is there
        twice, or a number out of its range.
    ValueError
        If the demands cannot be met together.
    """
    names, matrices = None, None
    if confusion is not None:
        names, matrices = read_confusion(confusion, quality.workers)
        if classes not in (None, len(names)):
            raise ValueError(f"{classes} classes were asked for, but {confusion} has {len(names)}")
        classes = len(names)
    n_classes = number_of_classes(classes, class_prior)
    if n_classes == 2 and class_prior is not None:
        prior, class_prior = chance_of_the_second(prior, class_prior), None
    per_worker = _Column(quality.workers, max_tasks_per_worker, NO_CAP)
    cost, group = _Column(quality.workers, None, None), _Column(quality.workers, None, None)
    if workers is not None:
        rows = read_worker_rows(workers, set(quality.workers))
        check_costs(workers, rows, quality.workers)
        _fill(rows, {"max_tasks": per_worker, "cost": cost, "group": group})
    per_task = _Column(quality.tasks, max_workers_per_task, NO_CAP)
    least, chance = _Column(quality.tasks, 0, 0), _Column(quality.tasks, prior, 0.5)
    of_classes: Sequence[float] | Floats | None = class_prior
    if tasks is not None:
        targets = {"prior": chance, "min_workers": least, "max_workers": per_task}
        also = ["kind"] if has_kinds else []
        of_classes = _read_tasks(tasks, targets, also, n_classes, class_prior, names)
    if forbidden is not None:
        pairs = _read_pairs(forbidden, quality)
        allowed = ~pairs if quality.allowed is None else quality.allowed & ~pairs
        quality = Quality(quality.values, quality.workers, quality.tasks, allowed)
    with columns_named(tasks):
        return Plan(
            quality,
            max_workers_per_task=per_task.caps(max_workers_per_task),
            max_tasks_per_worker=per_worker.caps(max_tasks_per_worker),
            budget=budget,
            prior=chance.values,
            min_workers_per_task=np.array(least.values, dtype=np.int64),
            forced=None if forced is None else _read_pairs(forced, quality),
            n_classes=n_classes,
            class_prior=of_classes,
            confusion=matrices,
            cost=cost.values if cost.is_given else None,
            money=money,
            group=group.values if group.is_given else None,
            common_error=common_error,
        )


def _read_tasks(
    path: Path,
    targets: Mapping[str, _Column],
    also: list[str],
    n_classes: int,
    class_prior: Sequence[float] | None,
    names: Sequence[str] | None,
) -> Sequence[float] | Floats | None:
    """Fill the columns of tasks from their table; return the chances of the classes.

    Columns that may be there `also` are not read. `names` are the classes of confusion matrices.
    """
    every = next(iter(targets.values())).names
    readers = {k: v for k, v in TASK_COLUMNS.items() if k != "prior" or n_classes == 2}
    table = open_table(path)
    columns = columns_of_classes(table, n_classes, names)
    rows = rows_of(table, TASK, readers, set(every), skipped=[*columns, *also])
    _fill(rows, targets)
    if not columns:
        return class_prior
    out = np.array(checked_prior(class_prior, len(every), n_classes))
    place = {name: j for j, name in enumerate(every)}
    listed = [place[name] for name in rows]
    out[listed] = read_chances(table, columns, out[listed])
    return out


@contextmanager
def columns_named(tasks: str | Path | None) -> Iterator[None]:
    """Name the column of the table of tasks where a refusal names the argument that it fills."""
    try:
        yield
    except ValueError as error:
        text = str(error).replace("min_workers_per_task", "min_workers")
        if tasks is None or text == str(error):
            raise
        raise DataError(text, path=tasks) from None


def columns_of_classes(table: Table, n_classes: int, names: Sequence[str] | None) -> list[str]:
    """Columns ``prior=CLASS`` of a table of tasks, in the order of the classes; none with two.

    Raises
    ------
    DataError
        If there are some, and not one for every class; `names` are those of confusion matrices.
    """
    found = [header for header in table.rows[0] if header.lower().startswith(OF_CLASS)]
    if n_classes == 2 or not found:
        return []
    if len(found) != n_classes:
        raise table.error(
            f"must have a column {OF_CLASS}CLASS for each of {n_classes} classes, found "
            f"{len(found)}",
            0,
        )
    if names is not None and [header[len(OF_CLASS) :] for header in found] != list(names):
        wanted = ", ".join(OF_CLASS + name for name in names)
        raise table.error(f"the columns of classes must be {wanted}, in this order", 0)
    return [header.lower() for header in found]


def read_column(table: Table, column: int, reader: Reader, default: float) -> NDArray[Any]:
    """Read one number per task; an empty cell is the default. Each different cell is read once."""
    out = np.full(len(table.rows) - 1, default)
    known: dict[str, float] = {"": default}
    for at, block in table.blocks(1):
        for r, row in enumerate(block, start=at):
            if row[column] not in known:
                known[row[column]] = reader(table, r, column)
            out[r - 1] = known[row[column]]
    return out


def read_chances(table: Table, columns: Sequence[str], usual: Floats) -> Floats:
    """Read the chances of the classes of every task; all of them or none, in which case usual."""
    at = find(table, [Column(name) for name in columns])
    values = np.column_stack([read_column(table, j, read_probability, np.nan) for j in at])
    is_given = ~np.isnan(values)
    wrong = is_given.any(axis=1) & ~(
        is_given.all(axis=1) & (np.abs(np.nansum(values, axis=1) - 1.0) <= 1e-6)
    )
    if wrong.any():
        row = int(np.argmax(wrong)) + 1
        cells = ", ".join(table.rows[row][j] or "an empty cell" for j in at)
        raise table.error(
            f"the chances of the classes must be {len(at)} that add up to 1, found {cells}", row
        )
    return np.where(is_given, values, usual)


def number_of_classes(classes: int | None, class_prior: Sequence[float] | None) -> int:
    """Return the number of classes: the one given, else that of the chances, else 2."""
    if class_prior is None:
        return 2 if classes is None else classes
    if classes is not None and classes != len(class_prior):
        raise ValueError(
            f"{option_name('class_prior')} has {plural(len(class_prior), 'chance')}, but there are "
            f"{plural(classes, 'class', 'classes')}"
        )
    return len(class_prior)


def chance_of_the_second(prior: float, chances: Sequence[float]) -> float:
    """Return the prior of two classes from the chances of both."""
    if prior != 0.5:
        raise ValueError("give --prior or --class-prior, not both")
    return float(checked_prior(chances, 1, 2)[0, 1])


class _Column:
    """One number per name, with a default for names that no table has."""

    def __init__(self, names: tuple[str, ...], given: float | None, default: float | None) -> None:
        self.names = names
        self.values: list[Any] = [default if given is None else given] * len(names)
        self.is_given = False

    def caps(self, given: int | None) -> int | Integers | None:
        """Return the given number if no table changed it, so that errors of `Plan` show it."""
        return np.array(self.values, dtype=np.int64) if self.is_given else given


def _fill(rows: Rows, targets: Mapping[str, _Column]) -> None:
    """Write the cells of a table with one row per name into the columns of a plan."""
    names = next(iter(targets.values())).names
    place_of = {name: i for i, name in enumerate(names)}
    for name, row in rows.items():
        for column, value in row.items():
            targets[column].values[place_of[name]] = value
            targets[column].is_given = True


def _read_pairs(path: Path, quality: Quality) -> Bools:
    """Read a table of `worker` and `task`; other columns are ignored, as in an assignment's."""
    table = open_table(path)
    at = find(table, [WORKER, TASK])
    places = []
    for kind, j, names in zip((WORKER, TASK), at, (quality.workers, quality.tasks), strict=True):
        index_of = {name: i for i, name in enumerate(names)}
        places.append([index_of[name] for _, name in names_in(table, j, kind.name, index_of)])
    out = np.zeros(quality.shape, dtype=bool)
    out[places[0], places[1]] = True
    return out
