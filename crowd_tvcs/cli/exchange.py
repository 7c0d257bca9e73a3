"""The commands `crowd-tvcs export` and `import`: files of annotation tools."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowd_tvcs.cli.answers import Classes, Cleaning, class_names
from tvcs_core.arguments import Help
from tvcs_core.command.options import (
    WHERE_GIVEN,
    Force,
    OutFolder,
    file_option,
    name_option,
    with_options,
)
from tvcs_core.command.results import results
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from crowd_tvcs.exchange import Collected

TOOLS = "label-studio, argilla, prodigy, doccano, mturk, prolific"
READ_ONLY = "toloka, zooniverse, or wide (a table with a column per worker or per task)"

Written = Annotated[str, typer.Option("--format", metavar="TOOL", help=f"{TOOLS}.")]
Read = Annotated[str, typer.Option("--format", metavar="TOOL", help=f"{TOOLS}, {READ_ONLY}.")]


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """The options of ``crowd-tvcs export``."""

    plan: Annotated[
        Path,
        typer.Argument(
            metavar="PLAN", help="Folder that crowd-tvcs assign wrote, or a table: worker, task."
        ),
    ]
    format: Written
    out: OutFolder
    tasks: Annotated[
        Path | None,
        file_option("Content to show: a column task, and columns such as text or image."),
    ] = None
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """The options of ``crowd-tvcs import``."""

    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Files that the tool exported.")
    ]
    format: Read
    out: OutFolder
    question: Annotated[
        str | None, name_option("The question whose answer is the label, if there are several.")
    ] = None
    task_field: Annotated[
        str | None, name_option("Field with the name of the task. Default: that of the export.")
    ] = None
    worker_field: Annotated[
        str | None,
        name_option("Of a wide table: column of the workers, if a row is a worker."),
        WHERE_GIVEN,
    ] = None
    column: Annotated[
        list[str] | None,
        name_option(
            "Of a wide table: a column of answers; may be given often. Default: all others."
        ),
        WHERE_GIVEN,
    ] = None
    accounts: Annotated[
        Path | None, file_option("Accounts of the workers in the tool: columns account, worker.")
    ] = None
    classes: Annotated[Classes, WHERE_GIVEN] = None
    cleaning: Cleaning
    ground_truth: Annotated[
        bool,
        Help("Write annotations that the tool marks as ground truth to gold.csv."),
        WHERE_GIVEN,
    ] = False
    skip_bad: Annotated[
        bool,
        Help("Leave out answers that are refused, and list them in skipped.csv. Default: refuse."),
        WHERE_GIVEN,
    ] = False
    times: Annotated[
        bool, Help("Also write the time of each answer, and the seconds it took."), WHERE_GIVEN
    ] = False
    force: Force = False


@guarded
@with_options
def export(given: ExportOptions) -> None:
    """Write an assignment as a file that an annotation tool reads, and run.json."""
    from crowd_tvcs.exchange import export as export_pairs
    from crowd_tvcs.exchange import format_of, read_assignment, read_tasks

    plan, tasks, tool, out = given.plan, given.tasks, given.format, given.out
    pairs = read_assignment(plan)
    listed = None if tasks is None else read_tasks(tasks)
    chosen = format_of(tool)
    inputs = [plan / "assignment.csv" if plan.is_dir() else plan, tasks]
    with results("crowd-tvcs export", given, inputs=inputs) as written:
        works = export_pairs(pairs, tool, written.folder / chosen.file_name, tasks=listed)
    workers = {worker for work in works for worker in work.workers}
    print_message(
        f"{plural(len(pairs), 'pair')} of {plural(len(works), 'task')} and "
        f"{plural(len(workers), 'worker')} written for "
        f"{chosen.title} to {out / chosen.file_name}"
    )
    if listed is not None and len(listed.payload) > len(works):
        lacking = plural(len(listed.payload) - len(works), "task")
        print_message(f"left out: {lacking} of {tasks} without a worker")


@guarded
@with_options
def import_answers(given: ImportOptions) -> None:
    """Read the answers that an annotation tool exported; write answers.csv and run.json.

    answers.csv has the columns task, worker, label (with --times also answered_at, seconds), each
    pair once. Skipped, rejected and empty answers are left out and counted. With --ground-truth
    there is gold.csv (task, label), with --skip-bad skipped.csv (file, line, reason).
    """
    from crowd_tvcs.exchange import import_answers as import_files
    from crowd_tvcs.exchange import read_accounts

    accounts = given.accounts
    found = import_files(
        given.files,
        given.format,
        question=given.question,
        task_field=given.task_field,
        worker_field=given.worker_field,
        columns=given.column or (),
        accounts=None if accounts is None else read_accounts(accounts),
        times=given.times,
        ground_truth=given.ground_truth,
        skip_bad=given.skip_bad,
        classes=class_names(given.classes),
        **vars(given.cleaning),
    )
    with results("crowd-tvcs import", given, left_out=found.left_out) as written:
        written.table("answers.csv", *_table(found))
        if given.ground_truth:
            written.table("gold.csv", ["task", "label"], found.gold)
        if given.skip_bad:
            rows: list[list[object]] = [
                [Path(one.path or "").name, one.line, one.message] for one in found.skipped
            ]
            written.table("skipped.csv", ["file", "line", "reason"], rows)
    _print_imported(found, given)


def _print_imported(found: Collected, given: ImportOptions) -> None:
    """Print the number of answers, and what a person should know of them."""
    from crowd_tvcs.answers.label_typos import warn_of_names

    out = given.out
    tasks, workers, labels = (Counter(row[k] for row in found.rows) for k in range(3))
    print_message(
        f"{plural(len(found.rows), 'answer')} of {plural(len(workers), 'worker')} to "
        f"{plural(len(tasks), 'task')}, "
        f"{plural(len(labels), 'different label')}, written to {out / 'answers.csv'}"
    )
    if found.gold:
        print_message(f"{plural(len(found.gold), 'gold label')} written to {out / 'gold.csv'}")
    if found.skipped:
        print_message(
            f"warning: skipped {plural(len(found.skipped), 'bad answer')}, listed in "
            f"{out / 'skipped.csv'}; the first: {found.skipped[0]}"
        )
    if found.left_out:
        counts = ", ".join(f"{count} {why}" for why, count in found.left_out.items())
        print_message(f"left out: {counts}")
    if found.kept:
        print_message(found.kept)
    print_message(*found.notes)
    print_message(*warn_of_names(labels if given.classes is None else {}, tasks, workers))
    if found.has_times and not given.times:
        print_message("the files have times or durations of answers: --times keeps them")


def _table(found: Collected) -> tuple[list[str], list[list[object]]]:
    """Return header and rows of answers.csv."""
    from crowd_tvcs.answers.times import to_iso

    header = ["task", "worker", "label"]
    rows: list[list[object]] = [list(row) for row in found.rows]
    if found.times:
        header += ["answered_at", "seconds"]
        for row, timing in zip(rows, found.times, strict=True):
            row += [to_iso(timing.when), timing.seconds]
    return header, rows
