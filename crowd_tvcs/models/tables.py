"""Read tables of models and people, and the confidence that models state."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowd_tvcs.answers.answers import Answers
from crowd_tvcs.answers.checked_rows import check_rows
from crowd_tvcs.answers.columns import ANSWER, TASK, WORKER, Column, find, open_table
from crowd_tvcs.answers.duplicates import deduplicate
from crowd_tvcs.answers.rows import (
    WORKER_COLUMNS,
    Rows,
    check_costs,
    read_name,
    read_probability,
    rows_of,
)
from crowd_tvcs.arrays import Floats
from tvcs_core.files.display import quoted
from tvcs_core.files.errors import DataError
from tvcs_core.files.tables import Table

CONFIDENCE = Column("confidence")
MODEL, PERSON = "model", "person"


@dataclass(frozen=True)
class AnnotatorTable:
    """Table of models and people.

    Attributes
    ----------
    family_of
        Family of every model, both by their names, in the order of the table.
    people
        Names of the people.
    rows
        Other columns of the table (max_tasks, cost, group), by worker.
    """

    family_of: dict[str, str]
    people: tuple[str, ...]
    rows: dict[str, dict[str, Any]]

    @property
    def person_cost(self) -> float | None:
        """Mean cost of an answer of a person; None if it is missing."""
        rows = [self.rows.get(name, {}) for name in self.people]
        known = [row["cost"] for row in rows if "cost" in row]
        return sum(known) / len(known) if known else None


def _read_kind(table: Table, row: int, column: int) -> str:
    cell = table.rows[row][column].lower()
    if cell not in (MODEL, PERSON):
        found = quoted(table.rows[row][column])
        raise table.error(f"must be {MODEL} or {PERSON}, found {found}", row, column)
    return cell


COLUMNS = {**WORKER_COLUMNS, "kind": _read_kind, "family": read_name}


def read_annotators(path: Path, answers: Answers) -> AnnotatorTable:
    """Read `worker`, `kind` (model or person; empty for a person), `family` of models, and `cost`.

    The table may have `max_tasks` and `group`, for plans. Workers with answers who are not listed
    are people.

    Raises
    ------
    DataError
        Naming file, line and column of an invalid value: no model, a model without a family, a
        person with one, or a cost missing for some.
    """
    rows = rows_of(open_table(path), WORKER, COLUMNS)
    family_of = {}
    for name, row in rows.items():
        is_model = row.get("kind") == MODEL
        if is_model and "family" not in row:
            raise DataError(
                "every model must have a family (one each for models without shared errors), "
                f"found none for {quoted(name)}",
                path=path,
                column="family",
            )
        if not is_model and "family" in row:
            raise DataError(
                f"a family is for models, but {quoted(name)} is a person; the column kind says "
                f"{MODEL}",
                path=path,
            )
        if is_model:
            family_of[name] = row["family"]
    if not family_of:
        raise DataError(f"must have a worker whose kind is {MODEL}, found none", path=path)
    check_costs(path, rows, rows)
    listed = [name for name in rows if name not in family_of]
    others = [name for name in answers.workers if name not in rows]
    return AnnotatorTable(family_of, (*listed, *others), _without(rows, "kind", "family"))


def _without(rows: Rows, *columns: str) -> Rows:
    return {
        name: {key: value for key, value in row.items() if key not in columns}
        for name, row in rows.items()
    }


def read_confidence(
    path: Path,
    answers: Answers,
    models: set[str],
    duplicates: str | None = None,
    *,
    leave_out_missing: bool = False,
) -> Floats | None:
    """Read the column `confidence` of the models' answers, one per answer; nan if empty.

    The result is None without such a column. Confidences of people are ignored. Of duplicate
    answers the one that `duplicates` takes counts.
    """
    table = open_table(path)
    if not any(map(CONFIDENCE.matches, table.rows[0])):
        return None
    task, worker, label, at = find(table, [TASK, WORKER, ANSWER, CONFIDENCE])
    named = {TASK.name: task, WORKER.name: worker}
    checked = check_rows(table, named, label, answers.classes, leave_out_missing=leave_out_missing)
    tasks, workers = checked.names
    place = {
        (answers.tasks[j], answers.workers[i]): a
        for a, (j, i) in enumerate(
            zip(answers.task_of.tolist(), answers.worker_of.tolist(), strict=True)
        )
    }
    out = np.full(answers.size, np.nan)
    for k in deduplicate(table, checked, duplicates).rows.tolist():
        pair = tasks.names[tasks.codes[k]], workers.names[workers.codes[k]]
        if pair[1] in models and table.rows[k + 1][at] and pair in place:
            out[place[pair]] = read_probability(table, k + 1, at)
    return out
