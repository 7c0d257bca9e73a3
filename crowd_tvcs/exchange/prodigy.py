"""Prodigy: write and read JSON Lines (`prodigy db-out`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowd_tvcs.exchange.collecting import Collector
from crowd_tvcs.exchange.doccano import PER_USER, is_line
from crowd_tvcs.exchange.fields import Field, FieldNames, Stamp, check_word, only
from crowd_tvcs.exchange.json_files import AGAIN, Record, read_lines, write_lines
from crowd_tvcs.exchange.work import Work
from tvcs_core.files.display import quoted, unquoted
from tvcs_core.files.tables import read_text

TASK = "task"


def write(path: Path, works: Sequence[Work]) -> None:
    """Write one task per line, with its name, the payload and the list `assigned` for a router.

    Without a payload the name is also the `text`.
    """
    tasks = (
        {
            **(dict(work.payload) or {"text": work.task}),
            TASK: work.task,
            "assigned": list(work.workers),
            "meta": {TASK: work.task},
        }
        for work in works
    )
    write_lines(path, tasks)


def read(path: Path, collector: Collector, fields: FieldNames) -> None:
    """Read the output of `prodigy db-out`.

    In the choice interface the label is the accepted option, and rejected tasks are left out. If a
    task shows one `label` to accept or reject, rejecting it gives the label "not" and that label.
    Ignored tasks are left out. An account is `_annotator_id`, else `_session_id`. Prodigy prefixes
    a session's name with the data set and a hyphen; the prefix is removed if the rest is a worker
    in `assigned`.
    """
    for record in read_lines(read_text(path), path, "give what prodigy db-out writes", collector):
        with collector.attempt():
            _read_line(record, collector, fields.task)


def _read_line(record: Record, collector: Collector, task_field: str | None) -> None:
    if "answer" not in record.fields:
        what = "is missing: no line of prodigy db-out; check --format"
        if is_line(record):
            what = f"is missing: a line of doccano; {PER_USER}, with --format doccano"
        raise record.location.error("answer", what)
    answer = record.name("answer")
    check_word(record.location, "answer", answer, ("accept", "reject", "ignore"), AGAIN)
    options = record.fields.get("accept")
    is_binary = options is None and "label" in record.fields
    if answer == "ignore" or (answer == "reject" and not is_binary):
        collector.leave_out("ignored" if answer == "ignore" else "rejected")
    elif is_binary:
        label = record.name("label")
        label = label if answer == "accept" else f"not {label}"
        _add(record, collector, task_field, ("label", label))
    elif not options:
        if options is None:
            what = (
                "is missing, and so is 'label': no answer of the choice interface or of one "
                "label; leave such lines out"
            )
            raise record.location.error("accept", what)
        collector.leave_out("empty")
    else:
        values = options if isinstance(options, list) else [options]
        _add(record, collector, task_field, only(values, record.location, "accept"))


def _add(record: Record, collector: Collector, task_field: str | None, label: Field) -> None:
    field = task_field or TASK
    meta = record.fields.get("meta")
    holder = record
    if field not in record.fields and isinstance(meta, dict) and field in meta:
        holder = record.part("meta")
    task = holder.field(field, "; --task-field names another")
    stamp = Stamp.of(record.fields, when="_timestamp")
    collector.add(record.location, task, _account(record, collector), label, stamp)


def _account(record: Record, collector: Collector) -> Field:
    field = "_annotator_id" if record.fields.get("_annotator_id") is not None else "_session_id"
    if record.fields.get(field) in (None, ""):
        return field, None  # of Prodigy without named sessions
    account = record.name(field)
    assigned = record.fields.get("assigned")
    if not isinstance(assigned, list) or account in assigned or collector.has_account(account):
        return field, account
    fitting = [w for w in assigned if isinstance(w, str) and account.endswith(f"-{w}")]
    if len(fitting) > 1:
        names = " or ".join(map(unquoted, fitting))
        what = f"{quoted(account)} may be {names}; say which with --accounts"
        raise record.location.error(field, what)
    return field, fitting[0] if fitting else account
