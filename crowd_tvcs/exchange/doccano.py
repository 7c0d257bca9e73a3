"""doccano: write JSON Lines; read JSON Lines or CSV, one file of answers per user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from crowd_tvcs.exchange.collecting import Collector
from crowd_tvcs.exchange.csv_files import read_sheet
from crowd_tvcs.exchange.fields import FieldNames, only
from crowd_tvcs.exchange.json_files import Record, is_table, read_lines, write_lines
from crowd_tvcs.exchange.work import Work
from tvcs_core.files.errors import DataError
from tvcs_core.files.tables import read_text

TASK, ID = "task", "id"
EVERYBODY = "all"  # name of doccano's file without the names of users
PER_USER = (
    "export one file per user: in doccano's project turn 'Share annotations across all users' off, "
    "export JSONL and give the files of the users, such as ann.jsonl bob.jsonl"
)


def write(path: Path, works: Sequence[Work]) -> None:
    """Write one text per line, with its task and workers, which doccano keeps."""
    lines = (
        {"text": work.task, **work.payload, TASK: work.task, "assigned": work.assigned}
        for work in works
    )
    write_lines(path, lines)


def read(path: Path, collector: Collector, fields: FieldNames) -> None:
    """Read the JSONL or the CSV of one user, whose name is that of the file.

    The label is the one in `label`; a text without any is left out as "empty". The task is the
    field `task`, which `write` adds, else `id`, doccano's number of the text.

    Raises
    ------
    DataError
        If it is the file of all users, which names none, or a text has several labels.
    """
    user = path.name.split(".")[0]
    if user.lower().endswith(EVERYBODY) and user.lower()[:-3].strip("_- ") in ("", "doccano"):
        raise DataError(f"has answers of all users without their names; {PER_USER}", path=path)
    records: Iterator[Record]
    text = read_text(path)
    if is_table(text):
        records = (Record(where, dict(row)) for where, row in read_sheet(path).rows())
    else:
        records = read_lines(text, path, PER_USER, collector)
    for record in records:
        with collector.attempt():
            _read_line(record, user, collector, fields.task)


def _read_line(record: Record, user: str, collector: Collector, task_field: str | None) -> None:
    labels = record.fields.get("label", record.fields.get("labels"))
    if labels is None:
        what = f"is missing: no JSONL or CSV of doccano; found {', '.join(record.fields)}"
        raise record.location.error("label", what)
    values = labels if isinstance(labels, list) else [labels]
    if not values or values == [""]:
        collector.leave_out("empty")
        return
    if isinstance(values[0], list | dict):
        what = "must hold one label, found spans of a text; projects of classification are read"
        raise record.location.error("label", what)
    task = record.field(
        task_field or (TASK if TASK in record.fields else ID), "; --task-field names another"
    )
    collector.add(
        record.location, task, ("file name", user), only(values, record.location, "label")
    )


def is_line(record: Record) -> bool:
    """Return whether a line without an origin is one of doccano's."""
    return isinstance(record.fields.get("label"), list) and ID in record.fields
