"""Prolific: a CSV of who sees what out, a CSV of answers by participant in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from crowd_tvcs.answers.times import SECONDS, WHEN
from crowd_tvcs.exchange.collecting import Collector, Stamp, name_of
from crowd_tvcs.exchange.csv_files import read_sheet, write_sheet
from crowd_tvcs.exchange.work import Work
from tvcs_core.files.shown import shown

TASK, WORKER, LABEL = "task", "PROLIFIC_PID", "label"
WORKERS = (WORKER, "prolific_pid", "participant_id", "Participant id", "participant", "worker")
STATUSES = ("Status", "status")
SUBMISSIONS = ("Submission id", "submission_id", "session_id")
ENDED = ("Completed at", "completed_at", "completed_date_time")
BEGAN = ("Started at", "started_at", "started_datetime")
TAKEN = ("Time taken", "time_taken")
GOOD = {"APPROVED", "AWAITING REVIEW", "PARTIALLY APPROVED", ""}
BAD = {
    "REJECTED": "rejected",
    "RETURNED": "returned",
    "TIMED-OUT": "timed out",
    "SCREENED OUT": "screened out",
    "ACTIVE": "not finished",
    "RESERVED": "not finished",
}


def write(path: Path, works: Sequence[Work]) -> None:
    """Write one row per participant and task, with the payload; sorted by participant.

    The survey shows a participant the rows of their PROLIFIC_PID; their list is the allowlist.
    """
    rows = [
        {WORKER: worker, TASK: work.task, **work.payload}
        for work in works
        for worker in work.workers
    ]
    write_sheet(path, sorted(rows, key=lambda row: (row[WORKER], row[TASK])))


def read(path: Path, collector: Collector, question: str | None, task_field: str | None) -> None:
    """Read answers of a survey: participant, task, label and perhaps Prolific's Status.

    Prolific has no answers itself; the survey has, one row per participant and task. Where its rows
    carry the Status of the submission, those that were rejected, returned, timed out, screened
    out or are not finished are left out. Times are those of the survey's columns; else those of the
    submission, whose duration is shared evenly by its rows.
    """
    sheet = read_sheet(path)
    worker = sheet.choose(WORKERS, "the participant")
    task, label = task_field or TASK, question or LABEL
    sheet.require(task, "; --task-field names another")
    sheet.require(label, "; --question names another")
    status = next((name for name in STATUSES if name in sheet.header), None)
    submission = [worker, *(name for name in SUBMISSIONS if name in sheet.header)]
    sizes = Counter(tuple(row[name] for name in submission) for _, row in sheet.rows())
    for place, row in sheet.rows():
        state = "" if status is None else row[status].upper()
        if state in BAD:
            collector.leave_out(BAD[state])
        elif state not in GOOD:
            raise place.error(
                str(status), f"must be a status of Prolific, found {shown(row[str(status)])}"
            )
        elif not row[label]:
            collector.leave_out("empty")
        else:
            account = name_of(row[worker], place, worker)
            stamp = _stamp(row, sizes[tuple(row[name] for name in submission)])
            collector.add(place, name_of(row[task], place, task), account, row[label], stamp)


def _stamp(row: Mapping[str, str], size: int) -> Stamp:
    """Take the times of a row, or of its submission of so many rows."""
    own = {
        part: next((name for name in row if column.is_called(name)), "")
        for part, column in (("when", WHEN), ("seconds", SECONDS))
    }
    if any(own.values()):
        return Stamp.of(row, **own)
    names = {"when": ENDED, "started": BEGAN, "seconds": TAKEN}
    found = {part: next((n for n in of if n in row), "") for part, of in names.items()}
    return replace(Stamp.of(row, **found), shared_by=size)
