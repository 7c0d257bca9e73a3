"""Wide tables: a row per task and a column per worker, or the other way, as of a form.

Google Sheets and cleanlab have the first, Google Forms, Microsoft Forms and Qualtrics the second.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from crowd_tvcs.answers.columns import ANSWER, TASK, TRUTH, WORKER
from crowd_tvcs.exchange.collecting import Collector
from crowd_tvcs.exchange.csv_files import Sheet, read_sheet
from crowd_tvcs.exchange.fields import FieldNames
from crowd_tvcs.exchange.prolific import WORKERS, exclusion, more_headers
from tvcs_core.files.display import joined, quoted

PEOPLE = ("email address", "username", "email", "e-mail", "responseid", "response id")
"""Columns of people that forms add: Google's, Microsoft's, Qualtrics'."""
OF_FORMS = frozenset(
    [*PEOPLE, "id", "timestamp", "name", "total points", "score", "start time", "completion time",
     "last modified time", "startdate", "enddate", "status", "ipaddress", "progress", "finished",
     "duration (in seconds)", "recordeddate", "recipientlastname", "recipientfirstname",
     "recipientemail", "externalreference", "locationlatitude", "locationlongitude",
     "distributionchannel", "userlanguage", "study_id", "session_id",
     *(name.lower() for name in WORKERS)]
)  # fmt: skip
"""Columns of a form that are no questions, in lower case."""
OF_RESULTS = re.compile(
    r"(gold|majority|consensus|final|ground[_ ]?truth|true|correct|expected|aggregated)"
    r"([_ ]?(label|answer|vote|class))?",
    re.IGNORECASE,
)
"""Columns of results, which are no workers."""
NUMBERED = re.compile(r"(.+?)[ _.-]?[0-9]+")
"""Columns such as ``label_1`` and ``Worker 2``, with what is numbered."""


def read(path: Path, collector: Collector, fields: FieldNames) -> None:
    """Read a table with a cell per answer; an empty cell is no answer.

    The column of names is `fields.task`, and then the other columns are workers, or
    `fields.worker`, and then they are tasks; else the one column that is named like either. The
    other columns are `fields.columns`, or all but those that forms add. Qualtrics' three rows of
    headers are known, and its previews, tests, spam and unfinished responses are left out.

    Raises
    ------
    DataError
        If the column of names is not clear, or a column shares no label with any other, as one of
        texts or notes does.
    """
    sheet = read_sheet(path)
    names, has_tasks = _names(sheet, fields)
    headers = more_headers(sheet)
    columns = fields.columns or _answer_columns(sheet, names, has_tasks=has_tasks)
    for name in columns:
        sheet.require(name, "; --column names the columns of answers")
    rows = list(sheet.rows(headers))
    if not fields.columns:
        _refuse_content(sheet, columns, [[row[name] for _, row in rows] for name in columns])
    for location, row in rows:
        with collector.attempt():
            why = exclusion(location, row, is_of_qualtrics=True) if headers else ""
            if not any(row.values()):
                continue
            for name in columns:
                if why or not row[name]:
                    collector.leave_out(why or "empty")
                    continue
                here, there = (names, row[names]), ("the header", name)
                task, worker = (here, there) if has_tasks else (there, here)
                with collector.attempt():
                    collector.add(location, task, worker, (name, row[name]))


def _names(sheet: Sheet, fields: FieldNames) -> tuple[str, bool]:
    """Return the column of names, and whether they are those of tasks."""
    if fields.task is not None and fields.worker is not None:
        raise sheet.error(
            "give --task-field or --worker-field, not both: a row is a task or a worker"
        )
    if fields.task is not None:
        sheet.require(fields.task, "; --task-field names the tasks")
        return fields.task, True
    if fields.worker is not None:
        sheet.require(fields.worker, "; --worker-field names the workers")
        return fields.worker, False
    tasks = [sheet.header[j] for j in TASK.find(sheet.header)]
    of_workers = [sheet.header[j] for j in WORKER.find(sheet.header)]
    workers = [name for name in sheet.header if name in of_workers or name in WORKERS]
    if not tasks and not workers:
        forms = [name for name in sheet.header if name.lower() in PEOPLE]
        workers = [min(forms, key=lambda name: PEOPLE.index(name.lower()))] if forms else []
    if tasks and workers:
        raise sheet.error(
            f"has both {quoted(tasks[0])} and {quoted(workers[0])}: a table with a row per answer "
            "needs no import; else name the column of the rows with --task-field or --worker-field"
        )
    if len(tasks) + len(workers) != 1:
        unnamed = '; "" names the column without a name' if "" in sheet.header else ""
        raise sheet.error(
            "must have one column that names the rows; name that of tasks with --task-field, or "
            f"that of workers with --worker-field{unnamed}; found {joined(sheet.header, quoted)}"
        )
    return (tasks or workers)[0], bool(tasks)


def _answer_columns(sheet: Sheet, names: str, *, has_tasks: bool) -> tuple[str, ...]:
    """Return all columns but that of names, and, of workers, but those that forms add.

    With a row per task the others are workers, of whom none is called ``label`` or as results are.
    """
    others = [name for name in sheet.header if name != names]
    for name in others if has_tasks else ():
        if ANSWER.matches(name) or TRUTH.matches(name) or OF_RESULTS.fullmatch(name):
            raise sheet.error(
                f"column {quoted(name)} has labels and is no worker: a table of known labels needs "
                "no import (--gold); else name the workers' columns with --column, once for each"
            )
    numbered = {name: found[1] for name in others if (found := NUMBERED.fullmatch(name))}
    people, labels = (
        [name for name, what in numbered.items() if kind.matches(what)] for kind in (WORKER, ANSWER)
    )
    if has_tasks and people and labels:
        raise sheet.error(
            f"columns {quoted(people[0])} and {quoted(labels[0])} seem to hold a worker and the "
            "answer: write a row per answer, with task, worker and label; else name the workers' "
            "columns with --column, once for each"
        )
    if not has_tasks:
        others = [name for name in others if name.lower() not in OF_FORMS]
    if not others:
        raise sheet.error("must have a column of answers beside the names, found none")
    return tuple(others)


def _refuse_content(sheet: Sheet, columns: Sequence[str], cells: Sequence[Collection[str]]) -> None:
    """Refuse a column that has nothing in common with the others, unless it is empty."""
    found = [set(column) - {""} for column in cells]
    columns_of = Counter(label for labels in found for label in labels)
    n_filled = sum(map(bool, found))
    for name, labels in zip(columns, found, strict=True):
        if labels and n_filled > 1 and all(columns_of[label] == 1 for label in labels):
            raise sheet.error(
                f"column {quoted(name)} shares no label with another ({quoted(min(labels))}): if "
                "it holds no answers, delete it; else name every column of answers with --column, "
                "once for each"
            )
