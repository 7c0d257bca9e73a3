"""Interface of a labelling tool for a campaign."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from tvcs_core.files.display import joined, quoted

T = TypeVar("T")


@dataclass(frozen=True)
class Annotation:
    """Annotation of a task by a person.

    Attributes
    ----------
    key
        Unique name of the annotation in the tool.
    who
        Names of the person in the tool: an address, a number.
    label
        The answer; None if they skipped the task.
    when
        Time in seconds since 1970.
    seconds
        Duration, if the tool records it.
    unreadable
        Reason for a missing answer, or ``""``.
    """

    key: str
    who: tuple[str, ...]
    label: str | None
    when: float
    seconds: float | None = None
    unreadable: str = ""


@dataclass(frozen=True)
class RemoteTask:
    """Current state of a task in the tool.

    Attributes
    ----------
    task
        Its name in the campaign.
    workers
        Workers who see it in their tab, sorted.
    annotations
        Annotations of all people.
    predicted
        The label and the confidence that the operator sees, or None.
    """

    task: str
    workers: tuple[str, ...]
    annotations: tuple[Annotation, ...] = ()
    predicted: tuple[str, float] | None = None


class LabellingTool(Protocol):
    """One project of one tool.

    Every method may raise `connection.ToolUnavailableError`, and may be repeated then: it detects
    work that was done already.
    """

    title: str

    def check(self, classes: Sequence[str], workers: Sequence[str]) -> list[str]:
        """Check version, permissions, project and question; return changed settings in words."""
        ...

    def people(self) -> list[tuple[str, ...]]:
        """Return the names in the tool of everyone who can label."""
        ...

    def read(self, since: str | None) -> tuple[list[RemoteTask], str | None]:
        """Return all tasks, or those changed `since`, and the start of the next reading."""
        ...

    def add(self, payloads: Mapping[str, Mapping[str, str]]) -> None:
        """Add hidden tasks, with their content."""
        ...

    def open_tabs(self, workers: Sequence[str]) -> None:
        """Give every worker a tab that shows their assigned tasks only."""
        ...

    def show(self, task: str, workers: Sequence[str]) -> None:
        """Show a task to these workers only."""
        ...

    def predict(self, task: str, label: str, confidence: float) -> None:
        """Send the predicted label and confidence of a task to the operator."""
        ...

    def set_webhook(self, url: str | None) -> None:
        """Have this address called after every new annotation; None for no longer."""
        ...


def choose_question(
    labels_of: Mapping[str, Sequence[str]],
    question: str | None,
    classes: Sequence[str],
    where: str,
    kind: str,
) -> str:
    """Return the question that asks for the classes: the one that is named, or the only one.

    `labels_of` has the questions of the project that take a label. Messages call the project
    `where` and such a question `kind`, as the tool does.

    Raises
    ------
    ValueError
        If there is no such question, or its labels are not the classes.
    """
    if question is None and len(labels_of) == 1:
        question = next(iter(labels_of))
    if question is None or question not in labels_of:
        asked = "" if question is None else f" called {quoted(question)}"
        raise ValueError(
            f"{where} must have one {kind}{asked}, found {joined(labels_of) or 'none'}; "
            "--question names it where there are several"
        )
    if set(labels_of[question]) != set(classes):
        raise ValueError(
            f"{where}: the labels of {quoted(question)} must be the classes of the campaign, "
            f"{joined(classes)}; found {joined(labels_of[question])}"
        )
    return question


def check_payload(
    task: str, payload: Mapping[str, str], needed: Iterable[str], where: str, mark: str = ""
) -> None:
    """Refuse the content of a task that lacks a field which the project shows."""
    for name in needed:
        if name not in payload:
            shown = f"{mark}{name}" if mark else f"the field {quoted(name)}"
            raise ValueError(
                f"{where} shows {shown}, but task {quoted(task)} has only "
                f"{joined(payload) or 'a name'}; --tasks names a table with that column"
            )


def in_parts(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield rows in parts of at most so many."""
    for k in range(0, len(rows), size):
        yield rows[k : k + size]
