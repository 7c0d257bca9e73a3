"""Fields of the records of a tool: names, labels and times, each with its location for errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crowd_tvcs.answers.times import Timing, duration, parse_seconds, parse_time
from tvcs_core.files.display import flaw_of, joined, quoted
from tvcs_core.files.errors import DataError


@dataclass(frozen=True)
class FieldNames:
    """Names of the fields to read, as the user gave them; None for those of the format.

    Attributes
    ----------
    question
        The question whose answer is the label.
    task, worker
        Fields of the names of tasks and workers.
    columns
        Columns of the answers in a wide table.
    """

    question: str | None = None
    task: str | None = None
    worker: str | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourceLocation:
    """Location in a file, for messages.

    Attributes
    ----------
    path
        The file.
    record
        Description of the record, such as ``record 3``; empty if the line suffices.
    line
        Line number counted from 1, or None.
    """

    path: str
    record: str = ""
    line: int | None = None

    def part_location(self, part: str) -> SourceLocation:
        """Return the location of a part of the record."""
        return SourceLocation(
            self.path, f"{self.record}, {part}" if self.record else part, self.line
        )

    def error(self, field: str, what: str) -> DataError:
        """Make an error about a field."""
        where = f"{self.record}, " if self.record else ""
        return DataError(f"{where}field {quoted(field)} {what}", path=self.path, line=self.line)

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        return f"{self.path}{line}" + (f", {self.record}" if self.record else "")


@dataclass(frozen=True)
class Stamp:
    """Time fields of an answer, unread: names and contents.

    Attributes
    ----------
    when, started, seconds
        Name and content of the fields of its time, its start and its duration; None if missing.
    shared_by
        Number of answers with this duration; each gets an equal share.
    """

    when: tuple[str, object] | None = None
    started: tuple[str, object] | None = None
    seconds: tuple[str, object] | None = None
    shared_by: int = 1

    @classmethod
    def of(cls, fields: Mapping[str, object], **names: str) -> Stamp:
        """Take the fields of these names that are not empty."""
        there: dict[str, Any] = {part: (name, fields.get(name)) for part, name in names.items()}
        return cls(**{part: f for part, f in there.items() if f[1] not in (None, "")})

    @property
    def is_empty(self) -> bool:
        """Whether there is no time."""
        return self.when is None and self.seconds is None

    def read(self, location: SourceLocation) -> Timing:
        """Parse the fields; errors name the field."""
        found = Timing()
        for part, field in (("when", self.when), ("seconds", self.seconds)):
            if field is not None:
                try:
                    value = (parse_time if part == "when" else parse_seconds)(field[1])
                except ValueError as error:
                    raise location.error(field[0], str(error)) from None
                found = replace(found, **{part: value})
        if self.started is not None and self.when is not None:
            name = self.started[0]
            try:
                started = parse_time(self.started[1])
                name = self.when[0]
                found = replace(found, seconds=duration(started, found.when, found.seconds))
            except ValueError as error:
                raise location.error(name, str(error)) from None
        return replace(found, seconds=found.seconds / self.shared_by)


NO_STAMP, LABEL = Stamp(), "label"
Field = tuple[str, object]  # name and content
SEVERAL = (
    "questions with several answers are not read: leave such answers out of the export, or ask "
    "one question (yes or no) for every class"
)


def error_at(location: SourceLocation, what: str) -> DataError:
    """Make an error about a record."""
    where = f"{location.record}: " if location.record else ""
    return DataError(f"{where}{what}", path=location.path, line=location.line)


def name_of(value: object, location: SourceLocation, field: str) -> str:
    """Read a name, a label or a user number: non-empty text, or an integer."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        what = f"must be text or a whole number, found {quoted(value)}; export it as text"
        raise location.error(field, what)
    if flaw := flaw_of(value):
        what = f"must be text, found {flaw} in {quoted(value)}; take it out there"
        raise location.error(field, what)
    return value.strip()


def check_word(
    location: SourceLocation, field: str, word: object, known: Sequence[str], remedy: str
) -> None:
    """Refuse a field that is none of the words that its tool writes."""
    if word not in known:
        what = f"must be one of {', '.join(known)}, found {quoted(word)}; {remedy}"
        raise location.error(field, what)


def answered_question(
    names: Iterable[str], question: str | None, location: SourceLocation, field: str
) -> str | None:
    """Return the requested question, else the only one; None if it has no answer."""
    there = sorted(set(names))
    if question is not None:
        return question if question in there else None
    if len(there) > 1:
        found = f"has more than one question: {joined(there)}; choose with --question"
        raise location.error(field, found)
    return there[0] if there else None


def only(values: list[object], location: SourceLocation, field: str) -> Field:
    """Return the one label of a list of choices."""
    if len(values) != 1:
        several = f"; {SEVERAL}" if len(values) > 1 else ""
        raise location.error(field, f"must hold one choice, found {quoted(values)}{several}")
    return field, values[0]
