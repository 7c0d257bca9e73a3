"""Files of annotation tools: export of an assignment, import of the answers.

Every format is a module with `write(path, works)` and `read(path, collector, question,
task_field)`, and one line in `FORMATS`. Names are text: ``007`` and ``NA`` stay unchanged. Skills
are estimated elsewhere (`skills`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crowd_tvcs.exchange import argilla, doccano, label_studio, mturk, prodigy, prolific
from crowd_tvcs.exchange.collecting import Collected, Collector, read_accounts
from crowd_tvcs.exchange.work import TaskTable, Work, gather, read_assignment, read_tasks
from tvcs_core.files.errors import DataError


@dataclass(frozen=True)
class Format:
    """File format of one tool.

    Attributes
    ----------
    title
        Name of the tool.
    file_name
        Name of the exported file.
    write, read
        Functions of the module.
    """

    title: str
    file_name: str
    write: Callable[[Path, Sequence[Work]], None]
    read: Callable[[Path, Collector, str | None, str | None], None]


FORMATS: dict[str, Format] = {
    "label-studio": Format("Label Studio", "tasks.json", label_studio.write, label_studio.read),
    "argilla": Format("Argilla", "records.json", argilla.write, argilla.read),
    "prodigy": Format("Prodigy", "tasks.jsonl", prodigy.write, prodigy.read),
    "doccano": Format("doccano", "tasks.jsonl", doccano.write, doccano.read),
    "mturk": Format("Mechanical Turk", "batch.csv", mturk.write, mturk.read),
    "prolific": Format("Prolific", "assignments.csv", prolific.write, prolific.read),
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
        One of `FORMATS`.
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
        If the format is unknown, or `tasks` lacks a task.
    """
    chosen = _format(format)
    works = gather(pairs, tasks)
    chosen.write(Path(path), works)
    return works


def import_answers(
    paths: str | Path | Sequence[str | Path],
    format: str,
    *,
    question: str | None = None,
    task_field: str | None = None,
    accounts: Mapping[str, str] | None = None,
    duplicates: str | None = None,
    times: bool = False,
    classes: Collection[str] | None = None,
    leave_out_missing: bool = False,
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

    Raises
    ------
    DataError
        Naming file, record or line, and field: of a truncated file or missing field, an unknown
        account, both places of a duplicate answer, and an impossible time.
    """
    chosen = _format(format)
    collector = Collector(
        accounts,
        duplicates=duplicates,
        times=times,
        classes=classes,
        leave_out_missing=leave_out_missing,
    )
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    for path in files:
        chosen.read(Path(path), collector, question, task_field)
    found = collector.collected()
    if not found.rows:
        why = ", ".join(f"{count} {why}" for why, count in found.left_out.items()) or "nothing"
        asked = "" if question is None else f" to the question {question!r}"
        raise DataError(
            f"there is no answer{asked}; left out: {why}; check --format and --question",
            path=", ".join(map(str, files)),
        )
    return found


def _format(name: str) -> Format:
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
