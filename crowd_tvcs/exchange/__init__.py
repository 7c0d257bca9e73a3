"""Files of annotation tools: export of an assignment, import of the answers.

Every format is a module with `read(path, collector, fields)` and, unless people only bring such
files, `write(path, works)`, and one line in `FORMATS`. Names are text: ``007`` and ``NA`` stay
unchanged. Skills are estimated elsewhere (`skills`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crowd_tvcs.exchange import (
    argilla,
    doccano,
    label_studio,
    mturk,
    prodigy,
    prolific,
    toloka,
    wide,
    zooniverse,
)
from crowd_tvcs.exchange.collecting import Collected, Collector
from crowd_tvcs.exchange.fields import FieldNames
from crowd_tvcs.exchange.work import (
    TaskTable,
    Work,
    gather,
    read_accounts,
    read_assignment,
    read_tasks,
)
from tvcs_core.files.errors import DataError


@dataclass(frozen=True)
class Format:
    """File format of one tool.

    Attributes
    ----------
    title
        Name of the tool.
    read
        Function of the module.
    file_name, write
        Name of the exported file and function that writes it; none for a format that is only read.
    """

    title: str
    read: Callable[[Path, Collector, FieldNames], None]
    file_name: str = ""
    write: Callable[[Path, Sequence[Work]], None] | None = None


FORMATS: dict[str, Format] = {
    "label-studio": Format("Label Studio", label_studio.read, "tasks.json", label_studio.write),
    "argilla": Format("Argilla", argilla.read, "records.json", argilla.write),
    "prodigy": Format("Prodigy", prodigy.read, "tasks.jsonl", prodigy.write),
    "doccano": Format("doccano", doccano.read, "tasks.jsonl", doccano.write),
    "mturk": Format("Mechanical Turk", mturk.read, "batch.csv", mturk.write),
    "prolific": Format("Prolific", prolific.read, "assignments.csv", prolific.write),
    "toloka": Format("Toloka", toloka.read),
    "zooniverse": Format("Zooniverse", zooniverse.read),
    "wide": Format("a wide table", wide.read),
}


def export(
    pairs: Iterable[tuple[str, str]],
    format: str,
    path: str | Path,
    *,
    tasks: TaskTable | None = None,
) -> tuple[Work, ...]:
    """Write an assignment for a tool.

    Parameters
    ----------
    pairs
        (worker, task), each once.
    format
        One of `FORMATS` that is written.
    path
        The file to write.
    tasks
        Content of every task; None for its name alone.

    Returns
    -------
    tuple of Work
        The exported tasks with their workers.

    Raises
    ------
    ValueError
        If the format is unknown or only read, or `tasks` lacks a task.
    """
    chosen = format_of(format)
    if chosen.write is None:
        names = ", ".join(name for name, one in FORMATS.items() if one.write is not None)
        raise ValueError(f"format {format!r} is only read; write one of {names}")
    works = gather(pairs, tasks)
    chosen.write(Path(path), works)
    return works


def import_answers(
    paths: str | Path | Sequence[str | Path],
    format: str,
    *,
    question: str | None = None,
    task_field: str | None = None,
    worker_field: str | None = None,
    columns: Sequence[str] = (),
    accounts: Mapping[str, str] | None = None,
    duplicates: str | None = None,
    times: bool = False,
    classes: Collection[str] | None = None,
    leave_out_missing: bool = False,
    ground_truth: bool = False,
    skip_bad: bool = False,
) -> Collected:
    """Read the answers that a tool exported.

    Parameters
    ----------
    paths
        One file or several that belong together.
    format
        One of `FORMATS`.
    question
        Name of the question whose answer is the label, if there are several.
    task_field
        Name of the field of the task, if it is not that of `export`.
    worker_field, columns
        In a wide table: the column of the workers, if a row is a worker, and the columns of
        answers; none for those that it finds.
    accounts
        Worker of every account of the tool; None if the names are equal.
    duplicates
        Rule for duplicate answers of a worker to a task: ``"first"``, ``"last"`` (in time, if the
        tool records it) or ``"majority"``; None refuses duplicates.
    times
        Also read times and durations of the answers, if the tool records them.
    classes
        Allowed labels, each valid whatever it looks like; None for any valid label (see
        `crowd_tvcs.answers.values`).
    leave_out_missing
        Whether to leave out answers without a label, a task or a worker, such as imported
        annotations, or those of a deleted user.
    ground_truth
        Whether annotations that the tool marks as ground truth are gold instead of answers, and
        the right labels of Toloka's control tasks gold too.
    skip_bad
        Whether to skip answers that are refused, and list them.

    Raises
    ------
    DataError
        Naming file, record or line, and field: of a truncated file or missing field, an unknown
        account, both places of a duplicate answer, and an impossible time.
    """
    chosen = format_of(format)
    collector = Collector(
        accounts=accounts,
        duplicates=duplicates,
        times=times,
        classes=classes,
        leave_out_missing=leave_out_missing,
        ground_truth=ground_truth,
        skip_bad=skip_bad,
    )
    if format != "wide" and (worker_field is not None or columns):
        raise ValueError("--worker-field and --column are for --format wide; leave them out")
    fields = FieldNames(question, task_field, worker_field, tuple(columns))
    files = [Path(one) for one in ([paths] if isinstance(paths, str | Path) else paths)]
    resolved = [path.resolve() for path in files]
    for path, whole in zip(files, resolved, strict=True):
        if resolved.count(whole) > 1:
            raise DataError("is given twice; give every file once", path=path)
        chosen.read(path, collector, fields)
    found = collector.collected()
    _refuse_none(found, collector, question, files)
    return found


def _refuse_none(
    found: Collected, collector: Collector, question: str | None, files: Sequence[Path]
) -> None:
    """Refuse files without an answer, or without the ground truth that is asked for."""
    if collector.ground_truth and not found.gold:
        raise DataError(
            "no annotation is marked as ground truth, as Label Studio (a star, in the export "
            "JSON), Zooniverse (gold_standard) and Toloka (GOLDEN) do; mark some there, or leave "
            "--ground-truth out",
            path=", ".join(map(str, files)),
        )
    if not found.rows and not found.gold:
        if found.skipped:
            raise found.skipped[0]
        why = ", ".join(f"{count} {why}" for why, count in found.left_out.items()) or "nothing"
        asked = "" if question is None else f" to the question {question!r}"
        raise DataError(
            f"there is no answer{asked}; left out: {why}; check --format and --question",
            path=", ".join(map(str, files)),
        )


def format_of(name: str) -> Format:
    """Return the format of this name, one of `FORMATS`."""
    if name not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, found {name!r}")
    return FORMATS[name]


__all__ = [
    "FORMATS",
    "Collected",
    "Format",
    "TaskTable",
    "Work",
    "export",
    "import_answers",
    "read_accounts",
    "read_assignment",
    "read_tasks",
]
