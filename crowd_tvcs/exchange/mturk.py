"""Mechanical Turk and compatible tools: write a batch's input CSV, read its results CSV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crowd_tvcs.answers.duplicates import EXAMPLES
from crowd_tvcs.exchange.collecting import Collector
from crowd_tvcs.exchange.csv_files import Sheet, read_sheet, write_sheet
from crowd_tvcs.exchange.fields import (
    SEVERAL,
    FieldNames,
    SourceLocation,
    Stamp,
    check_word,
    name_of,
)
from crowd_tvcs.exchange.json_files import AGAIN, Record, parse_cell
from crowd_tvcs.exchange.work import Work
from tvcs_core.files.display import joined, plural, quoted

TASK = "task"
ASSIGNMENT = "AssignmentId"
STATUS, STATUSES = "AssignmentStatus", ("Submitted", "Approved", "Rejected")
AS_THEY_ARE = "take the results of the batch as they are"
ANSWER, INPUT = "Answer.", "Input."
JSON_ANSWER = "Answer.taskAnswers"
TIMES = {"when": "SubmitTime", "started": "AcceptTime", "seconds": "WorkTimeInSeconds"}


def write(path: Path, works: Sequence[Work]) -> None:
    """Write one row per task: its name, the payload, the workers and the number of answers."""
    rows = [
        {
            TASK: w.task,
            **w.payload,
            "assigned": w.assigned,
            "answers": len(w.workers),
        }
        for w in works
    ]
    write_sheet(path, rows)


def read(path: Path, collector: Collector, fields: FieldNames) -> None:
    """Read the results of a batch.

    The answer is the column `Answer.QUESTION` (or `Answer.QUESTION.label`), or `QUESTION` in the
    JSON of `Answer.taskAnswers`; without `question` there must be exactly one. Rejected assignments
    and empty answers are left out.
    """
    sheet = read_sheet(path)
    question = fields.question
    task, worker = _task_column(sheet, fields.task), "WorkerId"
    for name in (worker, STATUS):
        sheet.require(name, f"; {AS_THEY_ARE}")
    answer = _answer_column(sheet, question)
    workers_of: dict[str, set[str]] = {}
    pending = 0
    for location, row in sheet.rows():
        with collector.attempt():
            status = row[STATUS]
            check_word(location, STATUS, status, STATUSES, AS_THEY_ARE)
            if status == "Rejected" or row.get("Reject"):
                collector.leave_out("rejected")
                continue
            label: object = row[answer]
            if answer == JSON_ANSWER and label:
                label = _from_json(row[answer], question, location)
            if not label:
                collector.leave_out("empty")
                continue
            pending += status == "Submitted"
            workers_of.setdefault(row.get(ASSIGNMENT, ""), set()).add(row[worker])
            stamp = Stamp.of(row, **TIMES)
            collector.add(
                location, (task, row[task]), (worker, row[worker]), (answer, label), stamp
            )
    if pending:
        collector.note(
            f"note: {plural(pending, 'answer is', 'answers are')} Submitted but not "
            "approved yet, and included; if they are rejected later, import the results again"
        )
    workers_of.pop("", None)
    shared = {number: who for number, who in workers_of.items() if len(who) > 1}
    for number, who in list(shared.items())[:EXAMPLES]:
        collector.note(
            f"warning: the {ASSIGNMENT} {quoted(number)} occurs with {len(who)} workers "
            f"({joined(sorted(who), quoted)}); in Mechanical Turk it is unique, so check whether "
            "rows were edited or merged; all are included"
        )
    if len(shared) > EXAMPLES:
        collector.note(f"warning: {len(shared) - EXAMPLES} more occur with several workers")


def _task_column(sheet: Sheet, name: str | None) -> str:
    """Return the column of the tasks, named as in the header or without `INPUT`."""
    if name in sheet.header:
        return name
    wanted = f"{INPUT}{name or TASK}"
    others = [column for column in sheet.header if column.startswith(INPUT) or column == "HITId"]
    such_as = f", such as {joined(others)}" if others else ""
    sheet.require(wanted, f"; --task-field names another{such_as}")
    return wanted


def _answer_column(sheet: Sheet, question: str | None) -> str:
    answers = [name for name in sheet.header if name.startswith(ANSWER)]
    if question is not None:
        wanted = (f"{ANSWER}{question}", f"{ANSWER}{question}.label", JSON_ANSWER)
        answers = [name for name in wanted if name in answers][:1]
    if len(answers) != 1:
        found = joined(name for name in sheet.header if name.startswith(ANSWER)) or "none"
        what = "must have one column of answers; choose with --question"
        raise sheet.error(f"{what}; found {found}")
    return answers[0]


def _from_json(text: str, question: str | None, location: SourceLocation) -> str:
    """Return the label from the form elements of a template; empty without one."""
    value = parse_cell(text, location, JSON_ANSWER)
    if not isinstance(value, list) or len(value) != 1 or not isinstance(value[0], dict):
        raise location.error(JSON_ANSWER, f"must be a list of one object; {AGAIN}")
    answers = Record(location, value[0])
    name = question
    if name is None:
        if len(answers.fields) != 1:
            found = joined(answers.fields) or "none"
            raise location.error(
                JSON_ANSWER, f"has more than one answer, or none: {found}; choose with --question"
            )
        (name,) = answers.fields
    return _label(answers.fields.get(name), location, name)


def _label(answer: Any, location: SourceLocation, name: str) -> str:
    """Read one answer: a text, ``{"label": text}``, or ``{option: true, other: false}``."""
    if isinstance(answer, dict):
        if "label" in answer:
            return _label(answer["label"], location, name)
        chosen = [option for option, is_on in answer.items() if is_on is True]
        if len(chosen) > 1:
            raise location.error(name, f"must hold one choice, found {joined(chosen)}; {SEVERAL}")
        return chosen[0] if chosen else ""
    return "" if answer in (None, "") else name_of(answer, location, name)
