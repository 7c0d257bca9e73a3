"""The roles of the columns of a table: by their names, or by options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from grn_tvcs.expression.judge.names import CLOCK, INDEX, INDEX_READ, NAMED, SERIES, TIME_WITH_UNIT
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.sheet import Sheet
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core import DataError
from tvcs_core.arguments import option_name, option_words
from tvcs_core.files.display import did_you_mean, joined, quoted

IGNORED = "(not used)"
FACT = "(of a sample)"  # a column of a sheet of samples without a role
PART = "(a part)"  # its values part the table: each is a table by itself
KEPT = "(a gene)"  # under a name that means something else
FEWEST_COUNTED = 3  # rows, for a gene called X may hold 1 and 2
LABELS = (*NAMED, IGNORED, FACT, PART)
SEPARATE = "tell replicates apart by a column replicate"


@dataclass(frozen=True)
class Roles:
    """A table of samples with the roles of its columns.

    Attributes
    ----------
    sheet
        Of samples x genes, with the facts of samples in front or among the genes.
    kinds
        The role of each column: one of `LABELS`, or the name of a gene in lower case.
    labels
        The columns that name the series, in the order of joining.
    options
        The options that still apply.
    """

    sheet: Sheet
    kinds: list[str]
    labels: list[int]
    options: Options

    @classmethod
    def of(cls, sheet: Sheet, options: Options, part: str | None = None) -> Roles:
        """Find the roles of the columns of a table of samples x genes; see `kinds_of`."""
        kinds = kinds_of(sheet, options, part)
        return cls(sheet, kinds, series_places(sheet, kinds, options), options)

    @property
    def remedy(self) -> str:
        """How to separate series if no column does."""
        way = f"{SEPARATE}, or give {option_words({'series_column': 'NAME'})}"
        if self.options.samples is None and any(c.sample_sheet for c in self.sheet.columns):
            sheet = option_words({"samples": "SHEET"})  # for a file that names samples itself
            way += f", or {sheet} with columns sample, time and replicate"
        return way

    def place(self, kind: str) -> int | None:
        """Return the first column of a kind; None if there is none."""
        return self.kinds.index(kind) if kind in self.kinds else None

    def take(self, rows: Sequence[int]) -> Roles:
        """Return some of the samples."""
        return replace(self, sheet=self.sheet.take(rows))

    def more_series(self, place: int) -> dict[str, Any]:
        """Return the option that names series by one column more."""
        return {"series_column": (*self.series_names, self.sheet.heads[place])}

    @property
    def series_names(self) -> tuple[str, ...]:
        """The columns that name the series, as the user or the first row calls them."""
        names = tuple(self.options.series_column)
        return names or tuple(self.sheet.heads[j] for j in self.labels)


def kinds_of(
    sheet: Sheet, options: Options, part: str | None = None, *, has_index: bool = True
) -> list[str]:
    """Return the role of each column: one of `LABELS`, or a gene's name in lower case.

    A first column without a name, as R and pandas write names of rows, is not used where
    there is a time, and where it counts the rows; unless `has_index` is False. Nor is one
    called X that counts the rows of a time course: R reads its own names of rows so.

    Raises
    ------
    DataError
        If a column is not there, or is two things.
    """
    header = sheet.heads
    kinds = [name.lower() for name in header]
    for name in options.keep:
        if sheet.is_turned:  # a gene, or a sample, which is no column
            same = [j for j, head in enumerate(header) if head.lower() == name.lower()]
            places = [j for j in same if sheet.columns[j].texts is None]
        else:
            places = [place_of(sheet, name, "keep")]
        for place in places:
            kinds[place] = kind_of_gene(header[place])
    for name in expanded(options.ignore, header):
        kinds[place_of(sheet, name, "ignore")] = IGNORED
    if options.series_column:
        kinds = [IGNORED if kind in SERIES else kind for kind in kinds]
    given = {"time": options.time_column, "sample": options.sample_column}
    for kind, wanted in given.items():
        if wanted is not None:
            take(sheet, kinds, kind, wanted)
    for name in options.series_column:
        kinds[place_of(sheet, name, "series_column")] = "series"
    if part is not None:
        kinds[place_of(sheet, part, "condition_column")] = PART
    clocks = [j for j, kind in enumerate(kinds) if CLOCK.fullmatch(kind)]
    if len(clocks) == 1 and TIME_WITH_UNIT.fullmatch(kinds[clocks[0]]):
        kinds[clocks[0]] = "time"
    if has_index and kinds[0] in INDEX and ("time" in kinds or counts_rows(sheet, 0)):
        kinds[0] = IGNORED
    if has_index and INDEX_READ in kinds[:2] and "time" in kinds:
        place = kinds.index(INDEX_READ)
        if len(sheet) >= FEWEST_COUNTED and counts_rows(sheet, place):
            kinds[place] = IGNORED
    return kinds


def kind_of_gene(name: str) -> str:
    """Return the kind of a column that is a gene, whatever it is called."""
    return KEPT if name.lower() in NAMED or CLOCK.fullmatch(name) else name.lower()


def series_places(sheet: Sheet, kinds: Sequence[str], options: Options) -> list[int]:
    """Return the positions of the columns that name the series, in the order of joining."""
    if options.series_column:
        return [place_of(sheet, name, "series_column") for name in options.series_column]
    return [kinds.index(name) for name in SERIES if name in kinds]


def take(sheet: Sheet, kinds: list[str], kind: str, wanted: str) -> None:
    """Make a column the one of its kind; another of this name is not used then."""
    place = place_of(sheet, wanted, f"{kind}_column")
    others = [j for j, found in enumerate(kinds) if found == kind and j != place]
    if others:
        warn_user(
            f"{sheet.path}: {joined(sheet.heads[j] for j in others)} is not used, for "
            f"{option_name(f'{kind}_column')} is {wanted}"
        )
    for j in others:
        kinds[j] = IGNORED
    kinds[place] = kind


def counts_rows(sheet: Sheet, place: int) -> bool:
    """Whether a column counts the rows, from 0 or 1."""
    cells = list(sheet.cells(place))
    return any(cells == [str(first + k) for k in range(len(cells))] for first in (0, 1))


def place_of(sheet: Sheet, name: str, option: str) -> int:
    """Place of a column by its name, in any case, or by its number counted from 1."""
    place = sheet.find(name)
    if place is None:
        raise unknown_name(sheet.path, "no column", name, option, sheet.heads)
    return place


def unknown_name(path: str, kind: str, name: str, option: str, known: Sequence[str]) -> DataError:
    """Return the error of an option that names nothing in a table: ``no column``, for example."""
    return DataError(
        f"has {kind} {quoted(name)} for {option_name(option)}{did_you_mean(name, known)}; it has "
        f"{joined(known)}",
        path=path,
    )


def expanded(names: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Names, those with ``*`` as all known ones that match; one that none matches stays."""
    found: dict[str, None] = {}
    for name in names:
        matches = [k for k in known if fnmatchcase(k.lower(), name.lower().replace("[", "[[]"))]
        is_pattern = "*" in name and name not in known and matches
        found |= dict.fromkeys(matches if is_pattern else [name])
    return tuple(found)
