"""What a campaign needs of a tool in which people label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Annotation:
    """What one person did with one task.

    Attributes
    ----------
    key
        The tool's name of it, which no other annotation has.
    who
        What the tool calls the person: an address, a number.
    label
        Their answer; None if they skipped the task.
    when
        Seconds since 1970.
    seconds
        That it took, if the tool says so.
    unreadable
        Why it holds no answer, or ``""``.
    """

    key: str
    who: tuple[str, ...]
    label: str | None
    when: float
    seconds: float | None = None
    unreadable: str = ""


@dataclass(frozen=True)
class Shown:
    """A task as the tool has it now.

    Attributes
    ----------
    task
        Its name in the campaign.
    workers
        Who sees it in their tab, sorted.
    annotations
        Of everybody.
    predicted
        The label and the confidence that the operator sees, or None.
    """

    task: str
    workers: tuple[str, ...]
    annotations: tuple[Annotation, ...] = ()
    predicted: tuple[str, float] | None = None


class FrontEnd(Protocol):
    """One project of one tool.

    Every method may raise `connection.Away`, and may be repeated then: what was done already is
    found, not done twice.
    """

    title: str

    def check(self, classes: Sequence[str], workers: Sequence[str]) -> list[str]:
        """Check version, rights, project and question; what was set in the project, in words.

        Raises
        ------
        ValueError
            Saying what must hold.
        """
        ...

    def people(self) -> list[tuple[str, ...]]:
        """Return everybody who can label: what the tool calls each of them."""
        ...

    def read(self, since: str | None) -> tuple[list[Shown], str | None]:
        """Return all tasks, or those that changed `since`; and from when to read next time."""
        ...

    def add(self, payloads: Mapping[str, Mapping[str, str]]) -> None:
        """Add tasks that nobody sees yet, by what they show."""
        ...

    def open_tabs(self, workers: Sequence[str]) -> None:
        """Give every worker a tab that shows the tasks they were given, and no others."""
        ...

    def show(self, workers_of: Mapping[str, Sequence[str]]) -> None:
        """Show tasks to these workers and nobody else."""
        ...

    def predict(self, labels: Mapping[str, tuple[str, float]]) -> None:
        """Tell the operator what tasks look like by now: label and confidence."""
        ...

    def ring(self, url: str | None) -> None:
        """Have this address called with every new annotation; None: no more."""
        ...
