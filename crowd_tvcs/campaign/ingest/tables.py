"""Tables of an operator: workers, tasks, qualities and answers, every cell with its line."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path

from crowd_tvcs.answers.checked_rows import check_rows
from crowd_tvcs.answers.columns import (
    ANSWER,
    KIND,
    TASK,
    WORKER,
    Column,
    check_any_rows,
    find,
    open_table,
)
from crowd_tvcs.answers.duplicates import deduplicate
from crowd_tvcs.answers.label_typos import warn_similar_names
from crowd_tvcs.answers.rows import (
    TASK_COLUMNS,
    check_costs,
    content_columns,
    read_name,
    read_worker_rows,
    rows_of,
)
from crowd_tvcs.answers.times import read_times
from crowd_tvcs.arrays import Floats
from crowd_tvcs.campaign.entries import AnswerRecord, Task, Worker
from tvcs_core.command.shell import print_message
from tvcs_core.files.display import joined


def read_workers(path: Path, known: Collection[str] | None = None) -> list[Worker]:
    """Read `worker` and any of `max_tasks`, `cost`, `group`; names are `known` ones if given."""
    rows = read_worker_rows(path, known)
    check_costs(path, rows, rows)
    print_message(*warn_similar_names("worker", list(rows)))
    return [
        Worker(name, row.get("max_tasks"), row.get("cost"), row.get("group"))
        for name, row in rows.items()
    ]


def read_tasks(
    path: Path, known: Collection[str] | None = None, *, of_kinds: bool = False
) -> list[Task]:
    """Read `task` and any of `prior`, `min_workers`, `max_workers`; errors as there.

    And `kind` where qualities are of workers on kinds of tasks. Columns of content are not read,
    which is printed.
    """
    columns = {**TASK_COLUMNS, **({KIND.name: read_name} if of_kinds else {})}
    table = open_table(path)
    content = content_columns(table, [TASK, *map(Column, columns)])
    if content:
        print_message(
            f"not read here: {joined(content)}; serve --content {path} shows such content"
        )
    rows = rows_of(table, TASK, columns, known, content)
    print_message(*warn_similar_names("task", list(rows)))
    return [Task(name, **row) for name, row in rows.items()]


def read_lines(
    path: Path,
    duplicates: str | None = None,
    classes: Sequence[str] | None = None,
    *,
    leave_out_missing: bool = False,
) -> list[AnswerRecord]:
    """Read answers `task, worker, label` with their lines, and their times if columns have them.

    Prints the numbers of left-out and deduplicated answers, and names that look alike.

    Arguments are those of `crowd_tvcs.read_answers`, but labels besides the `classes` are accepted;
    a caller that knows the classes refuses them.

    Raises
    ------
    DataError
        If a column is missing, a value is no name or no label, a pair is there twice, or a time
        cannot be (see `crowd_tvcs.answers.times`).
    """
    table = open_table(path)
    at = find(table, [TASK, WORKER, ANSWER])
    check_any_rows(table)
    named = {TASK.name: at[0], WORKER.name: at[1]}
    judged = check_rows(table, named, at[2], classes, leave_out_missing=leave_out_missing)
    kept = deduplicate(table, judged, duplicates)
    for line in (judged.description.removeprefix("; "), kept.description):
        if line:
            print_message(f"{path}: {line}")
    task, worker, label = *judged.names, judged.label
    print_message(*warn_similar_names("task", task.names))
    print_message(*warn_similar_names("worker", worker.names))
    when, seconds = read_times(table)
    return [
        AnswerRecord(
            task.names[task.codes[row]],
            worker.names[worker.codes[row]],
            label.names[label.codes[row]],
            table,
            row + 1,
            known_time(when, row),
            known_time(seconds, row),
        )
        for row in kept.rows.tolist()
    ]


def known_time(times: Floats | None, row: int) -> float | None:
    """Return the time of a row; None if it is not known."""
    return None if times is None or math.isnan(times[row]) else float(times[row])
