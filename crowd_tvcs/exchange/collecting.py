"""What came back: answers, each pair once, and how many were left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tvcs_core.files.errors import DataError
from tvcs_core.files.shown import listed, shown
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
    """

    rows: tuple[tuple[str, str, str], ...]
    left_out: Mapping[str, int]


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


class Collector:
    """Takes answers one by one and refuses a pair that is answered twice.

    Parameters
    ----------
    accounts
        Our name of a worker by what the tool calls them; None if they are the same. With it, an
        account that is not in it is an error.
    """

    def __init__(self, accounts: Mapping[str, str] | None = None) -> None:
        self._accounts = accounts
        self._label: dict[tuple[str, str], str] = {}
        self._place: dict[tuple[str, str], Place] = {}
        self._left_out: Counter[str] = Counter()

    def add(self, place: Place, task: str, account: str, label: str) -> None:
        """Take an answer.

        Raises
        ------
        DataError
            If the account is unknown, or the worker has answered the task already; the message
            names both places.
        """
        worker = account
        if self._accounts is not None:
            if account not in self._accounts:
                what = f"account {shown(account)} is not in the table of accounts"
                raise DataError(
                    f"{place.record}: {what}".lstrip(": "), path=place.path, line=place.line
                )
            worker = self._accounts[account]
        pair = task, worker
        if pair in self._label:
            what = (
                f"worker {shown(worker)} answers task {shown(task)} twice: "
                f"{shown(self._label[pair])} in {self._place[pair]}, and {shown(label)} in {place}"
            )
            raise DataError(what, path=place.path, line=place.line)
        self._label[pair], self._place[pair] = label, place

    def knows(self, account: str) -> bool:
        """Whether the account is in the table of accounts."""
        return self._accounts is not None and account in self._accounts

    def leave_out(self, why: str) -> None:
        """Count something that is no answer."""
        self._left_out[why] += 1

    def collected(self) -> Collected:
        """Return everything that was taken."""
        rows = sorted((task, worker, label) for (task, worker), label in self._label.items())
        return Collected(tuple(rows), dict(sorted(self._left_out.items())))


def name_of(value: object, place: Place, field: str) -> str:
    """Read a name, a label or a number of a user: text that is not empty, or a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise place.error(field, f"must be text or a whole number, found {shown(value)}")
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise place.error(field, f"must be text, found half of a character in {shown(value)}")
    return value.strip()


def only(values: list[object], place: Place, field: str) -> str:
    """Read the one label of a list of choices."""
    if len(values) != 1:
        raise place.error(field, f"must hold one choice, found {shown(values)}")
    return name_of(values[0], place, field)


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
        if "" in row:
            raise table.error("must be a name, found an empty cell", r, row.index(""))
        account, worker = (unshield(row[j]) for j in at)
        if account in out:
            raise table.error(f"account {shown(account)} is there already", r, at[0])
        out[account] = worker
    return out
