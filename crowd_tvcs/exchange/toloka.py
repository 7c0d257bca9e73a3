"""Toloka: read the TSV of the responses of a pool."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from crowd_tvcs.exchange.collecting import Collector
from crowd_tvcs.exchange.csv_files import Sheet, read_sheet
from crowd_tvcs.exchange.fields import FieldNames, Stamp, check_word
from tvcs_core.files.display import joined, plural

INPUT, OUTPUT, GOLDEN = "INPUT:", "OUTPUT:", "GOLDEN:"
WORKER, SUITE = "ASSIGNMENT:worker_id", "ASSIGNMENT:assignment_id"
STATUS, VERDICT = "ASSIGNMENT:status", "ACCEPT:verdict"
TIMES = {"when": "ASSIGNMENT:submitted", "started": "ASSIGNMENT:started"}
GOOD = ("APPROVED", "ACCEPTED", "SUBMITTED")
AS_IT_IS = "take the file of responses as it is"
BAD = ("REJECTED", "SKIPPED", "EXPIRED", "ACTIVE")


def read(path: Path, collector: Collector, fields: FieldNames) -> None:
    """Read the responses of a pool, one row per worker and task.

    The answer is the column `OUTPUT:QUESTION`, and the task the column `INPUT:NAME`; each needs a
    name if there are several. Responses that were rejected, skipped or not handed in are left out,
    and so are empty ones. The right answer of a control task, in `GOLDEN:QUESTION`, is ground
    truth; the answers to it stay answers. Times are those of the page, shared evenly by its tasks.
    """
    sheet = read_sheet(path)
    sheet.require(WORKER, f"; {AS_IT_IS}")
    task = _column(sheet, INPUT, fields.task, "--task-field")
    answer = _column(sheet, OUTPUT, fields.question, "--question")
    golden = GOLDEN + answer.removeprefix(OUTPUT)
    sizes = Counter(row.get(SUITE) for _, row in sheet.rows())
    pending = n_controls = 0
    for location, row in sheet.rows():
        with collector.attempt():
            status = row.get(STATUS, "APPROVED").upper()
            check_word(location, STATUS, status, GOOD + BAD, AS_IT_IS)
            named, who = (task, row[task]), (WORKER, row[WORKER])
            truth = row.get(golden)
            n_controls += bool(truth)
            if truth and collector.ground_truth:
                collector.add(location, named, who, (golden, truth), is_truth=True)
            if status in BAD or row.get(VERDICT) == "-":
                collector.leave_out(status.lower() if status in BAD else "rejected")
                continue
            if not row[answer]:
                collector.leave_out("empty")
                continue
            pending += status == "SUBMITTED" and not row.get(VERDICT)
            stamp = Stamp.of(row, **TIMES)
            if row.get(SUITE):
                stamp = replace(stamp, shared_by=sizes[row[SUITE]])
            collector.add(location, named, who, (answer, row[answer]), stamp)
    if pending:
        collector.note(
            f"note: {plural(pending, 'answer is', 'answers are')} SUBMITTED but not accepted yet, "
            "and included; if they are rejected later, import the responses again"
        )
    if n_controls and not collector.ground_truth:
        collector.note(
            f"note: {plural(n_controls, 'row is', 'rows are')} of control tasks; --ground-truth "
            "writes their right labels to gold.csv"
        )


def _column(sheet: Sheet, kind: str, name: str | None, option: str) -> str:
    """Return the column of a kind: the given one, with or without the kind, or the only one."""
    if name in sheet.header:
        return name
    there = [column for column in sheet.header if column.startswith(kind)]
    if name is None and len(there) == 1:
        return there[0]
    if name is None:
        found = joined(there) or "none"
        raise sheet.error(f"must have one column {kind}NAME; choose with {option}; found {found}")
    sheet.require(kind + name, f"; {option} names another")
    return kind + name
