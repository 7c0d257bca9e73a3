"""Label Studio: write task JSON, read the exports JSON, JSON-MIN and CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

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
from crowd_tvcs.exchange.json_files import AGAIN, Record, is_table, read_records
from crowd_tvcs.exchange.work import Work
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.errors import DataError
from tvcs_core.files.folders import write_json
from tvcs_core.files.tables import read_text

TASK, ID = "task", "id"
_OTHER_TASK = "--task-field names another; --task-field id takes the numbers of Label Studio"
TIMES = {"when": "created_at", "seconds": "lead_time"}
OTHERS = {  # names of results that are not choices, by their type or the field of JSON-MIN
    "rating": "a rating",
    "selected": "a pairwise comparison",
    "pairwise": "a pairwise comparison",
    "choices": "several choices",
    "ranker": "a ranking",
    "taxonomy": "choices of a taxonomy",
    "textarea": "a text",
    "text": "a text",
    "number": "a number",
    "datetime": "a date",
}

EXPORT = "in Label Studio choose Export, JSON, JSON-MIN or CSV"


def write(path: Path, works: Sequence[Work]) -> None:
    """Write a list of tasks to import.

    Each has `data.task`, the payload, and `data.assigned`, such as ``|ann|bob|``: a view of the
    data manager with the filter "assigned contains |ann|" shows Ann her tasks and no others.

    Raises
    ------
    DataError
        If a worker's name has the bar in it.
    """
    for worker in sorted({worker for work in works for worker in work.workers}):
        if "|" in worker:
            raise DataError(f"a worker's name must have no '|' in it here, found {quoted(worker)}")
    tasks = [{"data": {TASK: w.task, **w.payload, "assigned": w.assigned}} for w in works]
    write_json(path, tasks)


def read(path: Path, collector: Collector, fields: FieldNames) -> None:
    """Read an export. The question is the name of the Choices tag, required for JSON-MIN and CSV.

    An account is the e-mail address if the export has it, else the number of the user. In JSON,
    cancelled annotations are left out as "skipped", those without a result as "empty"; JSON-MIN
    does not list the former. Ratings, pairs, spans and multiple choices are not single labels: they
    are refused by name.
    """
    named = fields.task or TASK
    text = read_text(path)
    if is_table(text):
        sheet = read_sheet(path)
        sheet.require("annotator", ": no CSV of Label Studio; check --format")
        for location, row in sheet.rows():
            record = Record(location, {name: _cell(text) for name, text in row.items()})
            _read_flat(record, collector, fields.question, named)
        return
    for record in read_records(text, path, EXPORT):
        if "annotator" in record.fields and "annotations" not in record.fields:
            _read_flat(record, collector, fields.question, named)
        else:
            with collector.attempt():
                _read_task(record, collector, fields.question, named)


def _read_task(record: Record, collector: Collector, question: str | None, field: str) -> None:
    annotations = "completions" if "completions" in record.fields else "annotations"
    if annotations not in record.fields:
        raise record.location.error(
            annotations,
            "is missing, and so is 'annotator': no JSON and no JSON-MIN export; check --format",
        )
    answered = record.parts(annotations)
    if answered:
        data = record.part("data")
        holder = record if field == ID and ID not in data.fields else data
        task = holder.field(field, f"; {_OTHER_TASK}")
        for annotation in answered:
            with collector.attempt():
                read_annotation(annotation, collector, question, task)


def read_annotation(
    record: Record, collector: Collector, question: str | None, task: Field
) -> None:
    """Read one annotation; arguments and errors as in `read`."""
    if record.fields.get("was_cancelled") or record.fields.get("skipped"):
        collector.leave_out("skipped")
        return
    results = [
        part for part in record.parts("result") if question in (None, part.fields.get("from_name"))
    ]
    choices = [part for part in results if part.fields.get("type") == "choices"]
    names = [str(part.fields.get("from_name")) for part in choices]
    answered_question(names, None, record.location, "result")
    if not choices and results:
        kind = str(results[0].fields.get("type"))
        raise _other(record.location, "result", kind, results[0].fields.get("from_name"))
    if not choices:
        collector.leave_out("empty")
        return
    if len(choices) > 1:
        what = f"must answer {names[0]!r} once, found {len(choices)}; keep one of them there"
        raise record.location.error("result", what)
    value = choices[0].part("value")
    labels = value.fields.get("choices")
    if not isinstance(labels, list):
        raise value.location.error("choices", f"must be a list; {AGAIN}")
    label = only(labels, value.location, "choices")
    is_truth = bool(record.fields.get("ground_truth"))
    stamp = Stamp.of(record.fields, **TIMES)
    collector.add(record.location, task, _account(record), label, stamp, is_truth=is_truth)


def _read_flat(record: Record, collector: Collector, question: str | None, field: str) -> None:
    if question is None:
        known = joined(record.fields)
        raise DataError(
            "is a JSON-MIN or CSV export: name the field of the label with --question; found "
            f"{known}",
            path=record.location.path,
        )
    if record.fields.get("annotation_id") in (None, ""):
        return  # a task without annotations
    with collector.attempt():
        _read_choice(record, collector, question, field)


def _cell(text: str) -> object:
    """Return the lists and objects that a cell of the CSV holds as JSON; other text as it is."""
    try:
        return json.loads(text) if text[:2] in ("[{", '["', '{"') else text
    except (ValueError, RecursionError):
        return text


def _read_choice(record: Record, collector: Collector, question: str, field: str) -> None:
    label = record.fields.get(question)
    if label is None or label in ("", []):
        collector.leave_out("empty")
        return
    if isinstance(label, dict) and isinstance(label.get("choices"), list):
        label = label["choices"]  # several choices, in a CSV
    labels = label if isinstance(label, list) else [label]
    if isinstance(labels[0], dict):
        spans = [name for name in labels[0] if name.endswith("labels")]
        kinds = [*spans, *(name for name in OTHERS if name in labels[0]), "unknown"]
        raise _other(record.location, question, kinds[0], question)
    task = record.field(field, f"; {_OTHER_TASK}")
    account = record.field("annotator")
    stamp = Stamp.of(record.fields, **TIMES)
    collector.add(record.location, task, account, only(labels, record.location, question), stamp)


def _other(location: SourceLocation, field: str, kind: str, tag: object) -> DataError:
    """Make the error about a result that is not a choice of one label."""
    what = "a span or region" if kind.endswith("labels") else OTHERS.get(kind, f"of type {kind!r}")
    named = "" if tag is None else f" of the tag {quoted(tag)}"
    return location.error(
        field,
        f"must hold one choice, found {what}{named}: only Choices of one label can be read; "
        "--question names the tag that has them",
    )


def _account(record: Record) -> Field:
    """Return the annotator; None for an imported annotation, or one of a deleted user."""
    who = record.fields.get("completed_by")
    if isinstance(who, dict):
        field = "email" if who.get("email") else "id"
        return field, record.part("completed_by").name(field)
    return "completed_by", who
