"""Prolific: write a CSV of the tasks per participant, read a CSV of their answers.

The survey's table may be that of Qualtrics, with its three rows of headers and its own Status.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from crowd_tvcs.answers.times import SECONDS, WHEN
from crowd_tvcs.exchange.collecting import Collector
from crowd_tvcs.exchange.csv_files import Sheet, read_sheet, write_sheet
from crowd_tvcs.exchange.fields import FieldNames, SourceLocation, Stamp
from crowd_tvcs.exchange.work import Work
from tvcs_core.files.display import quoted

TASK, WORKER, LABEL = "task", "PROLIFIC_PID", "label"
WORKERS = (WORKER, "prolific_pid", "participant_id", "Participant id", "participant", "worker")
STATUSES = ("Status", "status")
SUBMISSIONS = ("Submission id", "submission_id", "session_id", "ResponseId")
ENDED = ("Completed at", "completed_at", "completed_date_time", "EndDate")
BEGAN = ("Started at", "started_at", "started_datetime", "StartDate")
TAKEN = ("Time taken", "time_taken", "Duration (in seconds)")
GOOD = {"APPROVED", "AWAITING REVIEW", "PARTIALLY APPROVED", ""}
BAD = {
    "REJECTED": "rejected",
    "RETURNED": "returned",
    "TIMED-OUT": "timed out",
    "SCREENED OUT": "screened out",
    "ACTIVE": "not finished",
    "RESERVED": "not finished",
}
# Of a response in Qualtrics, as a word or a number:
# https://www.qualtrics.com/support/survey-platform/data-and-analysis-module/data/download-data/
QUALTRICS_GOOD = {"IP ADDRESS", "0", "IMPORTED", "4", "OFFLINE", "16", ""}
QUALTRICS_BAD = {
    "SURVEY PREVIEW": "previews",
    "1": "previews",
    "OFFLINE SURVEY PREVIEW": "previews",
    "17": "previews",
    "SURVEY TEST": "tests",
    "2": "tests",
    "SPAM": "spam",
    "8": "spam",
    "SURVEY PREVIEW SPAM": "spam",
    "9": "spam",
    "IMPORTED SPAM": "spam",
    "12": "spam",
}
IMPORT_ID = '{"ImportId"'  # begins the cells of Qualtrics' third row
FINISHED, NOT_FINISHED = "Finished", ("FALSE", "0")


def write(path: Path, works: Sequence[Work]) -> None:
    """Write one row per participant and task, with the payload; sorted by participant.

    The survey shows a participant the rows with their PROLIFIC_PID; these form the allowlist.
    """
    rows = [
        {WORKER: worker, TASK: work.task, **work.payload}
        for work in works
        for worker in work.workers
    ]
    write_sheet(path, sorted(rows, key=lambda row: (row[WORKER], row[TASK])))


def read(path: Path, collector: Collector, fields: FieldNames) -> None:
    """Read answers of a survey: participant, task, label and optionally Prolific's Status.

    Prolific has no answers itself; the survey has, one row per participant and task. If its rows
    have the Status of the submission, those that were rejected, returned, timed out, screened out
    or are unfinished are left out; with Qualtrics' own Status previews, tests and spam. Times are
    those of the survey's columns; else those of the submission, whose duration is shared evenly by
    its rows.
    """
    sheet = read_sheet(path)
    worker = sheet.choose(WORKERS, "the participant")
    task, label = fields.task or TASK, fields.question or LABEL
    sheet.require(task, "; --task-field names another")
    sheet.require(label, "; --question names another")
    headers = more_headers(sheet)
    submission = [worker, *(name for name in SUBMISSIONS if name in sheet.header)]
    sizes = Counter(tuple(row[name] for name in submission) for _, row in sheet.rows(headers))
    for location, row in sheet.rows(headers):
        with collector.attempt():
            why = exclusion(location, row, is_of_qualtrics=headers > 0)
            if why or not row[label]:
                collector.leave_out(why or "empty")
                continue
            stamp = _stamp(row, sizes[tuple(row[name] for name in submission)])
            answer = (task, row[task]), (worker, row[worker]), (label, row[label])
            collector.add(location, *answer, stamp)


def more_headers(sheet: Sheet) -> int:
    """Return the number of further header rows: two in Qualtrics' tables, else none."""
    for k, (_, row) in enumerate(islice(sheet.rows(), 2), start=1):
        if any(cell.startswith(IMPORT_ID) for cell in row.values()):
            return k
    return 0


def exclusion(location: SourceLocation, row: Mapping[str, str], *, is_of_qualtrics: bool) -> str:
    """Return the reason to exclude a row, by the status of its submission; empty for an answer."""
    column = next((name for name in STATUSES if name in row), "")
    state = row.get(column, "").upper()
    good, bad = (QUALTRICS_GOOD, QUALTRICS_BAD) if is_of_qualtrics else (GOOD, BAD)
    if state in bad:
        return bad[state]
    if state not in good:
        whose = "Qualtrics" if is_of_qualtrics else "Prolific"
        raise location.error(
            column,
            f"must be a status of {whose}, found {quoted(row[column])}; delete the column if it "
            "says something else",
        )
    if is_of_qualtrics and row.get(FINISHED, "").upper() in NOT_FINISHED:
        return "not finished"
    return ""


def _stamp(row: Mapping[str, str], size: int) -> Stamp:
    """Return the times of a row, or of its submission of so many rows."""
    own = {
        part: next((name for name in row if column.matches(name)), "")
        for part, column in (("when", WHEN), ("seconds", SECONDS))
    }
    if any(own.values()):
        return Stamp.of(row, **own)
    names = {"when": ENDED, "started": BEGAN, "seconds": TAKEN}
    found = {part: next((n for n in of if n in row), "") for part, of in names.items()}
    return replace(Stamp.of(row, **found), shared_by=size)
