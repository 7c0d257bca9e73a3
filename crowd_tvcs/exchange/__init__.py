"""Files of annotation tools: an assignment out to them, the answers back in.

Every format is a module with `write(path, works)` and `read(path, collector, question,
task_field)`, and one line in `FORMATS`. Names are text throughout: ``007`` and ``NA`` stay as
they are. What an answer says about anyone does not belong here: that is for `skills`.
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
    """How one tool's files are written and read.

    Attributes
    ----------
    title
        The tool.
    file_name
        What the file for it is called.
    write, read
        See the module.
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
        What to show of every task; None for its name alone.

    Returns
    -------
    tuple of Work
        What was written: every assigned task with its workers.

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
    keep: str | None = None,
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
        Name of the question whose answer is the label, where there are several.
    task_field
        Name of the field that holds the task, if it is not the one that `export` writes.
    accounts
        Our name of a worker by what the tool calls them; None if they are the same.
    keep
        Which answer to take where a worker answered a task more than once: ``"first"``, ``"last"``
        (in time, where the tool says the time) or ``"majority"``; None refuses that.
    times
        Also read when answers were given and how long they took, where the tool says so.
    classes
        Labels there may be, each a label whatever it looks like; None for any that looks like one
        (see `crowd_tvcs.answers.values`).
    leave_out_missing
        Whether to leave out answers without a label, a task or a worker, such as annotations that
        were imported, or whose user was deleted.

    Raises
    ------
    DataError
        Naming file, record or line, and field: of what is cut off or missing, of an unknown
        account, of both places where a worker answered a task twice, and of a time that cannot be.
    """
    chosen = _format(format)
    collector = Collector(
        accounts,
        keep=keep,
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
