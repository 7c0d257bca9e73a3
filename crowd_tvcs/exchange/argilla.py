"""Argilla: write records, read `to_json` or `to_list` of records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crowd_tvcs.exchange.collecting import Collector
from crowd_tvcs.exchange.csv_files import printed_list, read_sheet
from crowd_tvcs.exchange.fields import (
    Field,
    FieldNames,
    SourceLocation,
    Stamp,
    answered_question,
    check_word,
    only,
)
from crowd_tvcs.exchange.json_files import AGAIN, Record, is_table, read_records
from crowd_tvcs.exchange.work import Work
from tvcs_core.files.display import quoted
from tvcs_core.files.errors import DataError
from tvcs_core.files.folders import write_json
from tvcs_core.files.tables import read_text

TASK = "id"
TIMES = ("inserted_at", "updated_at")  # of a response, if the export has them
FLAT = ".responses"
EMPTY: tuple[object, ...] = (None, [], "")
EXPORT = (
    "in Python save dataset.records.to_json(path), or dataset.records.to_list(flatten=True) as JSON"
)


def write(path: Path, works: Sequence[Work]) -> None:
    """Write a list of records for `Dataset.records.from_json`.

    `id` is the task, `fields` the payload (without one, the task's name as `text`), and the
    metadata `assigned` the list of workers: a terms property, by which an annotator filters.
    """
    records = [
        {
            "id": work.task,
            "fields": dict(work.payload) or {"text": work.task},
            "metadata": {"assigned": list(work.workers)},
            "suggestions": {},
            "responses": {},
            "vectors": {},
        }
        for work in works
    ]
    write_json(path, records)


def read(path: Path, collector: Collector, fields: FieldNames) -> None:
    """Read records as `to_json` writes them, as `to_list(flatten=True)`, or those of version 1.

    An account is the id of the user. Responses are left out by their status, "draft" or
    "discarded", and as "empty" without a value. `to_json` does not write the status: there all
    responses with a value count. A CSV of `to_datasets()` is read like `to_list(flatten=True)`.
    """
    records: Iterable[Record]
    text = read_text(path)
    is_csv = is_table(text)
    records = _read_csv(path, collector) if is_csv else read_records(text, path, EXPORT)
    for record in records:
        with collector.attempt():
            for location, name, response in _responses(record, fields.question):
                with collector.attempt():
                    task = _task(record, fields.task) if _counts(response) else ("", None)
                    _read_response(location, name, response, task, collector)


def _read_response(
    location: SourceLocation,
    name: str,
    response: Mapping[str, Any],
    task: Field,
    collector: Collector,
) -> None:
    status = response.get("status", "submitted")
    check_word(location, "status", status, ("submitted", "draft", "discarded"), AGAIN)
    if status != "submitted":
        collector.leave_out(str(status))
    elif response.get("value") in EMPTY:
        collector.leave_out("empty")
    else:
        values = response["value"]
        label = only(values if isinstance(values, list) else [values], location, name)
        when = next((f for f in TIMES if response.get(f)), TIMES[0])
        account = "user_id", response.get("user_id")
        collector.add(location, task, account, label, Stamp.of(response, when=when))


def _counts(response: Mapping[str, Any]) -> bool:
    """Return whether a response has an answer, so that its task must have a name."""
    return response.get("status", "submitted") == "submitted" and response.get("value") not in EMPTY


def _read_csv(path: Path, collector: Collector) -> Iterator[Record]:
    """Read a CSV of `to_datasets()`, whose lists are printed as Python or NumPy do."""
    for location, row in read_sheet(path).rows():
        with collector.attempt():
            yield Record(location, {name: _cell(location, name, row[name]) for name in row})


def _cell(location: SourceLocation, name: str, text: str) -> object:
    """Return the list in a cell of responses; other text as it is."""
    if not name.endswith((FLAT, f"{FLAT}.users", f"{FLAT}.status")):
        return text
    found = printed_list(text)
    if found is None:
        what = f"must be a list of single answers, found {quoted(text)}; {EXPORT}"
        raise location.error(name, what)
    return found


def _responses(
    record: Record, question: str | None
) -> list[tuple[SourceLocation, str, dict[str, Any]]]:
    """Return the responses of a record to the question, with location and name of the field."""
    fields = record.fields
    if "responses" not in fields:
        return _flat_responses(record, question)
    if isinstance(fields["responses"], list):
        return _responses_by_user(record, question)
    if fields["responses"] is None:
        return []
    by_question = record.part("responses")
    name = answered_question(by_question.fields, question, record.location, "responses")
    if name is None:
        return []
    parts = Record(record.location, {"responses": by_question.fields.get(name)}).parts("responses")
    return [(part.location, name, part.fields) for part in parts]


def _responses_by_user(
    record: Record, question: str | None
) -> list[tuple[SourceLocation, str, dict[str, Any]]]:
    out = []
    for part in record.parts("responses"):
        values = part.fields.get("values")
        answers = Record(part.location, values if isinstance(values, dict) else {})
        name = answered_question(answers.fields, question, part.location, "responses")
        value = None if name is None else answers.fields.get(name)
        value = value.get("value") if isinstance(value, dict) else value
        out.append((part.location, name or "values", {**part.fields, "value": value}))
    return out


def _flat_responses(
    record: Record, question: str | None
) -> list[tuple[SourceLocation, str, dict[str, Any]]]:
    names = [key.removesuffix(FLAT) for key in record.fields if key.endswith(FLAT)]
    if not names and question is None:
        raise record.location.error("responses", f"is missing: no records with responses; {EXPORT}")
    name = answered_question(names, question, record.location, "responses")
    if name is None:
        return []
    values = record.fields.get(f"{name}{FLAT}") or []
    users = record.fields.get(f"{name}{FLAT}.users") or []
    statuses = record.fields.get(f"{name}{FLAT}.status") or ["submitted" for _ in users]
    columns = (values, users, statuses)
    if not all(isinstance(column, list) and len(column) == len(users) for column in columns):
        what = f"and its .users and .status must be lists of the same length; {AGAIN}"
        raise record.location.error(f"{name}{FLAT}", what)
    return [
        (
            record.location.part_location(f"response {k}"),
            name,
            {"value": v, "user_id": u, "status": s},
        )
        for k, (v, u, s) in enumerate(zip(*columns, strict=True), start=1)
    ]


def _task(record: Record, task_field: str | None) -> Field:
    field = task_field or TASK
    if field in record.fields:
        return record.field(field)
    metadata = record.fields.get("metadata")
    if isinstance(metadata, dict) and field in metadata:
        return field, metadata[field]
    raise DataError(
        f"{record.location.record}: neither the record nor its metadata has the field {field!r}; "
        "--task-field names another",
        path=record.location.path,
    )
