"""Which column of a table says what: by its own name, or as the user says."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from grn_tvcs.expression.judge.names import CLOCK, INDEX, INDEX_READ, NAMED, SERIES, TIME_WITH_UNIT
from grn_tvcs.expression.opening import without_columns
from grn_tvcs.expression.warned import warn_user
from tvcs_core import DataError
from tvcs_core.arguments import require_kind
from tvcs_core.files.shown import did_you_mean, listed, plain, shown
from tvcs_core.files.tables import Table

IGNORED = "(not used)"
KEPT = "(a gene)"  # under a name that means something else
FEWEST_COUNTED = 3  # rows, for a gene called X may hold 1 and 2
LABELS = (*NAMED, IGNORED)


class LayoutError(DataError):
    """A table that would read with another layout; `ways` are those to try, the likeliest first."""

    ways: tuple[dict[str, Any], ...] = ()


def may_read(error: DataError, *ways: dict[str, Any]) -> LayoutError:
    """Make an error that says which options of `read_layout` may read the table."""
    found = LayoutError(str(error))
    found.ways = ways
    return found


def option_words(way: dict[str, Any]) -> str:
    """Write options of `read_layout` as on the command line."""
    words = []
    for name, value in way.items():
        option = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, tuple | list) else (value,):
            words += [option] if one is True else [option, shlex.quote(plain(str(one)))]
    return " ".join(words)


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What a user says of the columns of a table; what is not said follows from their names.

    Attributes
    ----------
    time, sample
        The column of times, and that of the names of samples.
    series
        The columns that name the series together; those called series, condition and replicate
        then count no more.
    ignore
        Columns, and where genes stand in rows also rows, that are not used; ``*`` stands for any
        part of a name.
    keep
        Columns that are genes, or samples where genes stand in rows, whatever their names say.
    replicates
        What is done where a time comes twice in a series: ``"unpaired"`` or ``"average"``; None
        to refuse.
    """

    time: str | None = None
    sample: str | None = None
    series: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    replicates: str | None = None

    @classmethod
    def told(
        cls,
        time: str | None = None,
        sample: str | None = None,
        series: str | Sequence[str] | None = None,
        ignore: str | Sequence[str] | None = None,
        keep: str | Sequence[str] | None = None,
        replicates: str | None = None,
    ) -> Columns:
        """Take columns as users give them: one name alone, or several."""
        require_kind("time_column", time, str, or_none=True)
        require_kind("sample_column", sample, str, or_none=True)
        require_kind("replicates", replicates, str, or_none=True)
        return cls(
            time=time,
            sample=sample,
            series=_names(series),
            ignore=_names(ignore),
            keep=_names(keep),
            replicates=replicates,
        )

    def kinds(self, table: Table, *, has_index: bool = True) -> list[str]:
        """What each column of a table is: one of `LABELS`, or a gene's name in small letters.

        A first column without a name, as R and pandas write names of rows, is not used where
        there is a time, and where it counts the rows; unless `has_index` is False. Nor is one
        called X that counts the rows of a time course: R reads its own names of rows so.

        Raises
        ------
        DataError
            If a column is not there, or is two things.
        """
        header = table.rows[0]
        kinds = [name.lower() for name in header]
        for name in self.keep:
            place = place_of(table, name, "--keep")
            kinds[place] = KEPT if kinds[place] in NAMED or CLOCK.fullmatch(name) else kinds[place]
        for name in expanded(self.ignore, header):
            kinds[place_of(table, name, "--ignore")] = IGNORED
        if self.series:
            kinds = [IGNORED if kind in SERIES else kind for kind in kinds]
        given = {"time": self.time, "sample": self.sample}
        for kind, wanted in given.items():
            if wanted is not None:
                _take(table, kinds, kind, wanted)
        for name in self.series:
            kinds[place_of(table, name, "--series-column")] = "series"
        clocks = [j for j, kind in enumerate(kinds) if CLOCK.fullmatch(kind)]
        if len(clocks) == 1 and TIME_WITH_UNIT.fullmatch(kinds[clocks[0]]):
            kinds[clocks[0]] = "time"
        if has_index and kinds[0] in INDEX and _is_index(table, kinds):
            kinds[0] = IGNORED
        if has_index and INDEX_READ in kinds[:2] and "time" in kinds:
            place = kinds.index(INDEX_READ)
            if len(table.rows) > FEWEST_COUNTED and _counts(table, place):
                kinds[place] = IGNORED
        return kinds

    def series_places(self, table: Table, kinds: Sequence[str]) -> list[int]:
        """Where the columns stand that name the series, in the order in which names are joined."""
        if self.series:
            return [place_of(table, name, "--series-column") for name in self.series]
        return [kinds.index(name) for name in SERIES if name in kinds]

    def more_series(self, table: Table, kinds: Sequence[str], place: int) -> dict[str, Any]:
        """The option that names series by one column more, so that none that are apart meet."""
        return {"series_column": (*self.series_names(table, kinds), table.rows[0][place])}

    def series_names(self, table: Table, kinds: Sequence[str]) -> tuple[str, ...]:
        """The columns that name the series, as the user or the first row calls them."""
        return self.series or tuple(table.rows[0][j] for j in self.series_places(table, kinds))


def _names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def _take(table: Table, kinds: list[str], kind: str, wanted: str) -> None:
    """Make a column the one of its kind; another of this name is not used then."""
    place = place_of(table, wanted, f"--{kind}-column")
    others = [j for j, found in enumerate(kinds) if found == kind and j != place]
    if others:
        warn_user(
            f"{table.path}: {listed(table.rows[0][j] for j in others)} is not used, for "
            f"--{kind}-column is {wanted}"
        )
    for j in others:
        kinds[j] = IGNORED
    kinds[place] = kind


def _is_index(table: Table, kinds: Sequence[str]) -> bool:
    """Whether the first column names or counts the rows, and is no gene."""
    if "time" in kinds:
        return True
    return _counts(table, 0)


def _counts(table: Table, place: int) -> bool:
    """Whether a column counts the rows, from 0 or 1."""
    cells = [row[place] for row in table.rows[1:] if place < len(row)]
    return any(cells == [str(first + k) for k in range(len(cells))] for first in (0, 1))


def place_of(table: Table, name: str, option: str) -> int:
    """Place of a column by its name, in any case, or by its number counted from 1.

    Raises
    ------
    DataError
        If there is none.
    """
    place = find_place(table.rows[0], name)
    if place is None:
        header = table.rows[0]
        raise DataError(
            f"has no column {shown(name)} for {option}{did_you_mean(name, header)}; it has "
            f"{listed(header)}",
            path=table.path,
        )
    return place


def find_place(header: Sequence[str], name: str) -> int | None:
    """Place of a column, None where it is not there."""
    for same in (name.__eq__, lambda other: name.lower() == other.lower()):
        if found := [j for j, other in enumerate(header) if same(other)]:
            return found[0]
    if name.isdecimal() and 0 < int(name) <= len(header):
        return int(name) - 1
    return None


def expanded(names: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Names, those with ``*`` as all known ones that match; one that none matches stays."""
    found: dict[str, None] = {}
    for name in names:
        matches = [k for k in known if fnmatchcase(k.lower(), name.lower().replace("[", "[[]"))]
        is_pattern = "*" in name and name not in known and matches
        found |= dict.fromkeys(matches if is_pattern else [name])
    return tuple(found)


def without_ignored(table: Table, ignore: Iterable[str]) -> tuple[Table, tuple[str, ...]]:
    """Leave out the columns that are not used; also the names of those that are no columns."""
    places = {name: find_place(table.rows[0], name) for name in expanded(ignore, table.rows[0])}
    gone = [place for place in places.values() if place is not None]
    rest = tuple(name for name, place in places.items() if place is None)
    return without_columns(table, gone), rest
