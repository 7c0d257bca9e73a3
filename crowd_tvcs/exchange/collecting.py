"""What came back: answers, each pair once, their times, and what was left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crowd_tvcs.answers.repeats import EXAMPLES, most_frequent, remedy, require_keep, told_of
from crowd_tvcs.answers.times import Timing, duration, parse_seconds, parse_time
from crowd_tvcs.answers.values import described, judge_label, judge_labels, judge_name
from tvcs_core.files.errors import DataError
from tvcs_core.files.shown import flaw_of, listed, shown
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import read_table


@dataclass(frozen=True)
class Collected:
    """Answers from a tool's files.

    Attributes
    ----------
    rows
        (task, worker, label), sorted, each pair of task and worker once.
    left_out
        How many were not taken, by the reason: skipped, rejected, draft and so on.
    times
        Of every row when it was given and how long it took, if that was asked for; else empty.
    has_times
        Whether the files say so of some answer.
    kept
        What was done about pairs that are answered more than once, for people; else empty.
    notes
        What else people should see, a line each.
    """

    rows: tuple[tuple[str, str, str], ...]
    left_out: Mapping[str, int]
    times: tuple[Timing, ...] = ()
    has_times: bool = False
    kept: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where something stands in a file, for messages.

    Attributes
    ----------
    path
        The file.
    record
        The record in words, such as ``record 3``; empty where the line says it.
    line
        Line number counted from 1, or None.
    """

    path: str
    record: str = ""
    line: int | None = None

    def inside(self, part: str) -> Place:
        """Name a part of the record."""
        return Place(self.path, f"{self.record}, {part}" if self.record else part, self.line)

    def error(self, field: str, what: str) -> DataError:
        """Make an error about a field."""
        where = f"{self.record}, " if self.record else ""
        return DataError(f"{where}field {shown(field)} {what}", path=self.path, line=self.line)

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        return f"{self.path}{line}" + (f", {self.record}" if self.record else "")


@dataclass(frozen=True)
class Stamp:
    """What a tool says of the time of an answer, unread: fields and what they hold.

    Attributes
    ----------
    when, started, seconds
        Name and content of the field with the time it was given, that of its start, and how long
        it took; None where the tool does not say.
    shared_by
        Answers that the duration is of; each gets an equal share.
    """

    when: tuple[str, object] | None = None
    started: tuple[str, object] | None = None
    seconds: tuple[str, object] | None = None
    shared_by: int = 1

    @classmethod
    def of(cls, fields: Mapping[str, object], **names: str) -> Stamp:
        """Take the fields of these names, where they are there and not empty."""
        there: dict[str, Any] = {part: (name, fields.get(name)) for part, name in names.items()}
        return cls(**{part: f for part, f in there.items() if f[1] not in (None, "")})

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return self.when is None and self.seconds is None

    def read(self, place: Place) -> Timing:
        """Read it; errors name the field."""
        found = Timing()
        for part, field in (("when", self.when), ("seconds", self.seconds)):
            if field is not None:
                try:
                    value = (parse_time if part == "when" else parse_seconds)(field[1])
                except ValueError as error:
                    raise place.error(field[0], str(error)) from None
                found = replace(found, **{part: value})
        if self.started is not None and self.when is not None:
            name = self.started[0]
            try:
                started = parse_time(self.started[1])
                name = self.when[0]
                found = replace(found, seconds=duration(started, found.when, found.seconds))
            except ValueError as error:
                raise place.error(name, str(error)) from None
        return replace(found, seconds=found.seconds / self.shared_by)


NO_STAMP, LABEL = Stamp(), "label"
Field = tuple[str, object]  # a name in the file, and what it holds there
SEVERAL = (
    "questions with several answers are not read: leave such answers out of the export, or ask "
    "one question (yes or no) for every class"
)


class Collector:
    """Takes answers one by one; of a pair that is answered more than once, one or none.

    Parameters
    ----------
    accounts
        Our name of a worker by what the tool calls them; None if they are the same. With it, an
        account that is not in it is an error.
    keep
        Which answer of such a pair to take, see `crowd_tvcs.answers.repeats`; None refuses it.
        First and last are those in time where every answer of the pair has its time, else those of
        the files.
    times
        Whether to read when answers were given and how long they took.
    classes
        Labels there may be, each a label whatever it looks like (see `crowd_tvcs.answers.values`);
        None for any that looks like one.
    leave_out_missing
        Whether to leave out answers without a label, a task or a worker; else they are refused.
    takes_any_label
        Whether every text is a label, as where a campaign judges them by its classes.
    """

    def __init__(
        self,
        accounts: Mapping[str, str] | None = None,
        *,
        keep: str | None = None,
        times: bool = False,
        classes: Collection[str] | None = None,
        leave_out_missing: bool = False,
        takes_any_label: bool = False,
    ) -> None:
        require_keep(keep)
        self._accounts = accounts
        self._keep, self._times = keep, times
        self._classes = None if classes is None else set(classes)
        self._leaves_out, self._takes_any_label = leave_out_missing, takes_any_label
        self._notes: dict[str, None] = {}
        self._given: dict[tuple[str, str], list[tuple[str, Place, Timing]]] = {}
        self._has_times = False
        self._left_out: Counter[str] = Counter()

    def add(
        self, place: Place, task: Field, account: Field, label: Field, stamp: Stamp = NO_STAMP
    ) -> None:
        """Take an answer.

        Raises
        ------
        DataError
            If a value is no name or no label, the account is unknown, or a time that is read
            cannot be.
        """
        values = {}
        for kind, field in ((LABEL, label), ("task", task), ("worker", account)):
            value = self._judged(place, kind, field)
            if value is None:
                self.leave_out(f"without a {kind}")
                return
            values[kind] = value
        self._take(place, values["task"], values["worker"], values[LABEL], stamp)

    def _judged(self, place: Place, kind: str, field: Field) -> str | None:
        """Return the text of a field; None where it is missing and such answers are left out."""
        name, value = field
        is_nan = isinstance(value, float) and value != value
        is_absent = value is None or is_nan or (isinstance(value, str) and not value.strip())
        text = "" if is_absent else name_of(value, place, name)
        if kind != LABEL:
            fault = judge_name(text)
        elif text and (self._takes_any_label or text in (self._classes or ())):
            fault = None
        else:
            fault = judge_label(text)
            if self._classes is not None and not (fault and fault.is_missing):
                raise place.error(name, _other_label(text, self._classes))
        if fault is None:
            return text
        if fault.is_missing and self._leaves_out:
            return None
        raise place.error(name, described(fault, text, kind, of_answers=True, empty="nothing"))

    def _take(self, place: Place, task: str, account: str, label: str, stamp: Stamp) -> None:
        worker = account
        if self._accounts is not None:
            if account not in self._accounts:
                what = f"account {shown(account)} is not in the table of accounts; add a row for it"
                raise DataError(
                    f"{place.record}: {what}".lstrip(": "), path=place.path, line=place.line
                )
            worker = self._accounts[account]
        self._has_times |= not stamp.is_empty
        timing = stamp.read(place) if self._times or self._keep else Timing()
        self._given.setdefault((task, worker), []).append((label, place, timing))

    def knows(self, account: str) -> bool:
        """Whether the account is in the table of accounts."""
        return self._accounts is not None and account in self._accounts

    def leave_out(self, why: str) -> None:
        """Count something that is no answer."""
        self._left_out[why] += 1

    def note(self, line: str) -> None:
        """Remember what people should see, once."""
        self._notes[line] = None

    def collected(self) -> Collected:
        """Return everything that was taken, each pair once.

        Raises
        ------
        DataError
            If a worker answered a task more than once and no rule says which answer to take; the
            message names two places, how many such pairs there are, and the remedy.
        """
        self._refuse_odd_labels()
        repeated = [pair for pair, given in self._given.items() if len(given) > 1]
        if repeated and self._keep is None:
            self._refuse(repeated)
        pairs = sorted(self._given)
        chosen = [self._choose(self._given[pair]) for pair in pairs]
        rows = [(*pair, label) for pair, (label, _, _) in zip(pairs, chosen, strict=True)]
        times = tuple(timing for _, _, timing in chosen) if self._times else ()
        kept = self._told(repeated) if repeated else ""
        left_out = dict(sorted(self._left_out.items()))
        notes = tuple(self._notes)
        return Collected(tuple(rows), left_out, times, self._has_times, kept, notes)

    def _refuse_odd_labels(self) -> None:
        """Refuse labels that are none beside the others, such as ``cat;dog`` beside both."""
        if self._classes is not None or self._takes_any_label:
            return
        given = [answer for answers in self._given.values() for answer in answers]
        faults = judge_labels({label: None for label, _, _ in given})
        for label, place, _ in given:
            if label in faults:
                what = described(faults[label], label, LABEL, of_answers=True)
                where = f"{place.record}: " if place.record else ""
                raise DataError(f"{where}{what}", path=place.path, line=place.line)

    def _choose(self, given: list[tuple[str, Place, Timing]]) -> tuple[str, Place, Timing]:
        if len(given) == 1:
            return given[0]
        if all(timing.when == timing.when for _, _, timing in given):  # none is NaN
            given = sorted(given, key=lambda one: one[2].when)
        if self._keep == "majority":
            return given[most_frequent([label for label, _, _ in given])]
        return given[-1 if self._keep == "last" else 0]

    def _refuse(self, repeated: list[tuple[str, str]]) -> None:
        task, worker = repeated[0]
        (label, first, _), (other, place, _), *_ = self._given[repeated[0]]
        tasks, workers = {task for task, _ in self._given}, {who for _, who in self._given}
        do = remedy(len(repeated), (workers, worker), (tasks, task))
        what = (
            f"worker {shown(worker)} answers task {shown(task)} twice: {shown(label)} in {first}, "
            f"and {shown(other)} in {place}; {do}"
        )
        raise DataError(what, path=place.path, line=place.line)

    def _told(self, repeated: list[tuple[str, str]]) -> str:
        examples = "; ".join(
            f"{shown(worker)} on {shown(task)}" for task, worker in repeated[:EXAMPLES]
        )
        answers = sum(len(self._given[pair]) for pair in repeated)
        return told_of(len(repeated), answers, str(self._keep), examples)


def name_of(value: object, place: Place, field: str) -> str:
    """Read a name, a label or a number of a user: text that is not empty, or a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        what = f"must be text or a whole number, found {shown(value)}; export it as text"
        raise place.error(field, what)
    if flaw := flaw_of(value):
        what = f"must be text, found {flaw} in {shown(value)}; take it out there"
        raise place.error(field, what)
    return value.strip()


def only(values: list[object], place: Place, field: str) -> Field:
    """Return the one label of a list of choices."""
    if len(values) != 1:
        several = f"; {SEVERAL}" if len(values) > 1 else ""
        raise place.error(field, f"must hold one choice, found {shown(values)}{several}")
    return field, values[0]


def _other_label(text: str, classes: Collection[str]) -> str:
    return (
        f"must be one of the classes {listed(sorted(classes), shown)}, found {shown(text)}; "
        "--classes names what there may be"
    )


def read_accounts(path: str | Path) -> dict[str, str]:
    """Read what a tool calls our workers: a table with the columns `account` and `worker`.

    Two accounts may be one worker.

    Raises
    ------
    DataError
        If a column or a cell is missing, or an account is there twice.
    """
    table = read_table(path)
    table.require_rectangle()
    if sorted(table.rows[0]) != ["account", "worker"]:
        raise table.error(
            f"must have the columns account, worker; found {listed(table.rows[0])}", 0
        )
    at = [table.rows[0].index(name) for name in ("account", "worker")]
    out: dict[str, str] = {}
    for r, row in enumerate(table.rows[1:], start=1):
        account, worker = (unshield(row[j]) for j in at)
        for kind, name, j in (("account", account, at[0]), ("worker", worker, at[1])):
            if fault := judge_name(name):
                raise table.error(described(fault, name, kind, of_answers=False), r, j)
        if account in out:
            raise table.error(f"account {shown(account)} is there already; keep one row", r, at[0])
        out[account] = worker
    return out
