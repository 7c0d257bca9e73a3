"""Tables of a campaign whose answers are comparisons or several labels."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from crowd_tvcs.answer_kinds.comparisons import ITEM_COLUMNS, compared_rows, read_known_orders
from crowd_tvcs.answer_kinds.label_sets import read_gold_sets
from crowd_tvcs.answer_kinds.words import NONE, SEPARATOR, TIE, WORDS, code_of
from crowd_tvcs.answers.answers import read_gold
from crowd_tvcs.answers.columns import TASK, check_any_rows, find, open_table, rows_by_name
from crowd_tvcs.answers.rows import TASK_COLUMNS
from crowd_tvcs.answers.times import read_times
from crowd_tvcs.campaign.answer_kinds.kind import AnswerKind, LabelSet, Preference, task_of_pair
from crowd_tvcs.campaign.entries import AnswerRecord, Task
from crowd_tvcs.campaign.ingest.tables import known_time, read_lines, read_tasks
from tvcs_core.files.display import quoted
from tvcs_core.files.tables import Table

CAPS = ("min_workers", "max_workers")


def read_tasks_of_kind(path: Path, kind: AnswerKind, **how: Any) -> list[Task]:
    """Read tasks as `read_tasks`; of comparisons see `read_pair_tasks`."""
    return read_pair_tasks(path) if kind.name == Preference.name else read_tasks(path, **how)


def read_pair_tasks(path: Path) -> list[Task]:
    """Read the pairs to compare: columns left, right, and any of min_workers, max_workers.

    A table of items alone (task or item) stands for all pairs of them.
    """
    table = open_table(path)
    check_any_rows(table, "a pair")
    if not _has_sides(table):
        (at,) = find(table, [TASK])
        rows = rows_by_name(table, at)
        if len(rows) < 2:
            raise table.error("must have two items or more, which make a pair, found one")
        return [Task(_named(table, rows[b], a, b)) for a, b in combinations(sorted(rows), 2)]
    left, right = find(table, list(ITEM_COLUMNS))
    caps = {name: j for j, name in enumerate(table.rows[0]) if j not in (left, right)}
    for name, j in caps.items():
        if name not in CAPS:
            raise table.error(
                f"must be left, right, {' or '.join(CAPS)}, found {quoted(name)}; leave it out",
                0,
                j,
            )
    out = []
    line_of: dict[frozenset[str], int] = {}
    for r, row in enumerate(table.rows[1:], start=1):
        given = {name: TASK_COLUMNS[name](table, r, j) for name, j in caps.items() if row[j]}
        out.append(Task(_named(table, r, row[left], row[right]), **given))
        pair = frozenset((row[left], row[right]))
        if (first := line_of.setdefault(pair, table.lines[r])) != table.lines[r]:
            raise table.error(
                f"the pair of {quoted(row[left])} and {quoted(row[right])} is there already, in "
                f"line {first}; keep one of them: sides are drawn",
                r,
            )
    return out


def read_known(path: Path, kind: AnswerKind, tasks: Collection[str], **how: Any) -> dict[str, str]:
    """Read gold: labels by task, as the kind writes them.

    Of comparisons the columns are left, right, answer, as in ``crowd-tvcs rank --gold``.
    """
    if kind.name == LabelSet.name:
        sets = read_gold_sets(path, kind.labels)
        return {task: SEPARATOR.join(sorted(names)) or NONE for task, names in sets.items()}
    if kind.name == Preference.name:
        orders = read_known_orders(path)
        return {_task_in(tasks, *pair): better for pair, better in orders.items()}
    return dict(read_gold(path, kind.labels, **how).labels)


def read_answers_of_kind(
    path: Path,
    kind: AnswerKind,
    tasks: Collection[str],
    duplicates: str | None,
    leave_out_missing: bool,
) -> list[AnswerRecord]:
    """Read answers `task, worker, label`; of comparisons also `worker, left, right, answer`."""
    is_of_pairs = kind.name == Preference.name
    if not is_of_pairs or not _has_sides(table := open_table(path)):
        return read_lines(path, duplicates, kind.labels, leave_out_missing=leave_out_missing)
    if duplicates is not None:
        raise ValueError("--duplicates is for classes and labels; delete the row of a pair instead")
    when, seconds = read_times(table)
    rows, _ = compared_rows(table, leave_out_missing)
    return [
        AnswerRecord(
            _task_in(tasks, left, right),
            worker,
            (left, right, WORDS[TIE])[code_of(left, answer)],
            table,
            r,
            known_time(when, r - 1),
            known_time(seconds, r - 1),
            left,
        )
        for r, (worker, left, right, answer) in rows
    ]


def _has_sides(table: Table) -> bool:
    header: Sequence[str] = table.rows[0]
    return all(any(map(column.matches, header)) for column in ITEM_COLUMNS)


def _task_in(tasks: Collection[str], left: str, right: str) -> str:
    """Return the name of the task of a pair, in whichever order the campaign has it."""
    name = task_of_pair(left, right)
    return other if (other := task_of_pair(right, left)) in tasks else name


def _named(table: Table, row: int, left: str, right: str) -> str:
    try:
        return task_of_pair(left, right)
    except ValueError as error:
        raise table.error(str(error), row) from None
