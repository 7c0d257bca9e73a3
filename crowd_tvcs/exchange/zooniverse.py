"""Zooniverse: read the CSV of classifications of a project or workflow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowd_tvcs.exchange.collecting import Collector
from crowd_tvcs.exchange.csv_files import read_sheet
from crowd_tvcs.exchange.fields import (
    Field,
    FieldNames,
    SourceLocation,
    Stamp,
    answered_question,
    only,
)
from crowd_tvcs.exchange.json_files import AGAIN, parse_cell
from tvcs_core.files.display import joined, quoted

SUBJECT, WORKER, ANNOTATIONS = "subject_ids", "user_name", "annotations"
METADATA, CONTENT = "metadata", "subject_data"
TRUE = ("TRUE", "T", "1")


def read(path: Path, collector: Collector, fields: FieldNames) -> None:
    """Read an export of classifications, a row each.

    The question is that of a task of the workflow, such as ``T0``; with one task it needs no name.
    A question of one answer and a survey's one choice are labels, drawings and several answers are
    not. The task is the number of the subject, or a field of its data (`fields.task`). Who was not
    logged in has a name of their own in the export. A classification with `gold_standard` is ground
    truth.
    """
    sheet = read_sheet(path)
    for name in (SUBJECT, WORKER, ANNOTATIONS):
        sheet.require(name, "; take the export of classifications as it is")
    for location, row in sheet.rows():
        with collector.attempt():
            answer = _answer(location, row, fields.question)
            if answer is None:
                collector.leave_out("empty")
                continue
            is_truth = row.get("gold_standard", "").upper() in TRUE
            task, worker = _subject(location, row, fields.task), (WORKER, row[WORKER])
            collector.add(location, task, worker, answer, _stamp(location, row), is_truth=is_truth)


def _answer(location: SourceLocation, row: Mapping[str, str], question: str | None) -> Field | None:
    """Return the answer to the question; None if there is none."""
    given = parse_cell(row[ANNOTATIONS], location, ANNOTATIONS)
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise location.error(ANNOTATIONS, f"must be a list of objects; {AGAIN}")
    parts: list[dict[str, Any]] = []
    for one in given:  # a combination of tasks has its parts as the value
        inner = one.get("value")
        is_combined = isinstance(inner, list) and all(
            isinstance(part, dict) and "task" in part for part in inner
        )
        parts += inner if is_combined and inner else [one]
    tasks = [str(one.get("task")) for one in parts]
    name = answered_question(tasks, question, location, ANNOTATIONS)
    if name is None:
        return None
    # Of one who went back and answered again the last answer counts.
    value = next(one.get("value") for one in reversed(parts) if str(one.get("task")) == name)
    if isinstance(value, list):
        _, value = only(value, location, name) if value else (name, None)
    if isinstance(value, dict):
        if "choice" not in value:
            what = "must hold one answer, found a drawing or a table; --question names another task"
            raise location.error(name, what)
        value = value["choice"]
    return None if value in (None, "") else (name, value)


def _subject(location: SourceLocation, row: Mapping[str, str], field: str | None) -> Field:
    if field is None or field == SUBJECT:
        if ";" in row[SUBJECT]:
            what = f"must be one subject, found {quoted(row[SUBJECT])}; leave such rows out"
            raise location.error(SUBJECT, what)
        return SUBJECT, row[SUBJECT]
    data = parse_cell(row.get(CONTENT, ""), location, CONTENT)
    found: list[Any] = list(data.values()) if isinstance(data, dict) else []
    if len(found) != 1 or not isinstance(found[0], dict):
        raise location.error(CONTENT, f"must hold the data of one subject; {AGAIN}")
    if field not in found[0]:
        names = joined(found[0])
        raise location.error(CONTENT, f"has no {quoted(field)}; --task-field may be one of {names}")
    return field, found[0][field]


def _stamp(location: SourceLocation, row: Mapping[str, str]) -> Stamp:
    """Return start and end of a classification, by the clock of the volunteer's machine."""
    if METADATA not in row:
        return Stamp()
    found = parse_cell(row[METADATA], location, METADATA)
    if not isinstance(found, dict):
        return Stamp()
    return Stamp.of(found, when="finished_at", started="started_at")
