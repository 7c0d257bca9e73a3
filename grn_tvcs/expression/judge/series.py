"""Series of samples: by columns, by blank lines, or where times begin again; and replicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.options import REPLICATES, may_read, option_words
from grn_tvcs.expression.sheet import Sheet
from grn_tvcs.expression.warned import warn_user
from tvcs_core.files.display import joined, unquoted

TELL = "tell replicates apart by a column replicate"

Times = NDArray[np.float64]


class Apart(NamedTuple):
    """Options that may separate series if no column is called so.

    Attributes
    ----------
    ways
        Options that name them by a column more.
    remedy
        The remedy if there are none.
    """

    ways: Sequence[dict[str, Any]]
    remedy: str


@dataclass(frozen=True)
class Samples:
    """Samples with a time, and how their series are separated.

    Attributes
    ----------
    sheet
        Where they stand.
    times
        Of every row, NaN in steady state.
    place
        The column of times.
    labels
        The columns that name series.
    replicates
        One of `REPLICATES`, or None if columns separate them.
    """

    sheet: Sheet
    times: Times
    place: int
    labels: Sequence[int]
    replicates: str | None = None

    @property
    def rows(self) -> list[int]:
        """Rows with a time, in their order."""
        return np.flatnonzero(~np.isnan(self.times)).tolist()


class Series(NamedTuple):
    """Samples in the order of series and time.

    Attributes
    ----------
    names
        The series of each.
    rows
        Of the table; a row of several repeats is the first of them.
    """

    names: list[str]
    rows: list[int]


def series_of(samples: Samples) -> Series:
    """Name the series of every sample with a time.

    Raises
    ------
    DataError
        If a sample names no series, or times fall back in a way that may be read in two.
    """
    label = by_columns(samples) if samples.labels else _by_time(samples)
    if samples.replicates == "unpaired":
        label = _unpaired(samples, label)
    place = {name: k for k, name in enumerate(dict.fromkeys(label.values()))}
    rows = sorted(label, key=lambda i: (place[label[i]], samples.times[i]))
    return Series([label[i] for i in rows], rows)


def by_columns(samples: Samples) -> dict[int, str]:
    """Name the series of every sample with a time by the columns that label it."""
    sheet, label = samples.sheet, {}
    cells = [sheet.cells(j) for j in samples.labels]
    for i in samples.rows:
        for j, texts in zip(samples.labels, cells, strict=True):
            if not texts[i]:
                kind = sheet.heads[j].lower()
                raise sheet.error(f"every sample needs a {kind}, found an empty cell", i, j)
        label[i] = "/".join(texts[i] for texts in cells)
    return label


def _by_time(samples: Samples) -> dict[int, str]:
    """Number the series; a steady-state sample between two samples does not part them."""
    label: dict[int, str] = {}
    number = 0
    for block in _blocks(samples):
        for piece in [block] if samples.replicates else _pieces(samples, block):
            number += 1
            label |= dict.fromkeys(piece, str(number))
    return label


def _blocks(samples: Samples) -> list[list[int]]:
    """Rows between blank lines."""
    blocks: list[list[int]] = [[]]
    for k, i in enumerate(samples.rows):
        before = samples.rows[k - 1] if k else i
        if any(samples.sheet.is_after_blank(row) for row in range(before + 1, i + 1)):
            blocks.append([])
        blocks[-1].append(i)
    return [block for block in blocks if block]


def _pieces(samples: Samples, block: list[int]) -> list[list[int]]:
    """Part rows where times begin again; rows out of order that hold one series stay together."""
    times = samples.times
    falls = _cut(block, lambda piece, i: times[i] < times[piece[-1]])
    if len(falls) == 1 or any(len({times[i] for i in p}) < len(p) for p in falls):
        return falls  # in order; or a time twice in a piece, which is refused where it stands
    again = _cut(block, lambda piece, i: times[i] in {times[k] for k in piece})
    if again == falls:
        return falls
    if len({frozenset(times[i] for i in piece) for piece in again}) == 1:
        n = "one series" if len(again) == 1 else f"{len(again)} series"
        warn_user(
            f"{samples.sheet.path}: times are out of order ({_listed(samples, block)}), and none "
            f"comes twice: read as {n}, sorted by time"
        )
        return again
    if _overlap(samples, falls):
        return falls
    raise samples.sheet.error(
        f"times fall back to {times[falls[1][0]]:g}, which is no begin of the series before it "
        f"({_listed(samples, block)}): if each fall begins a series, put a blank line before it or "
        "name the series in a column series; if rows are out of order, sort them by time",
        falls[1][0],
        samples.place,
    )


def _overlap(samples: Samples, pieces: list[list[int]]) -> bool:
    """Whether every piece has two times of the first, as series of one design do."""
    first = {samples.times[i] for i in pieces[0]}
    return all(len(first & {samples.times[i] for i in piece}) > 1 for piece in pieces[1:])


def _cut(rows: list[int], is_new: Callable[[list[int], int], bool]) -> list[list[int]]:
    pieces = [[rows[0]]]
    for i in rows[1:]:
        if is_new(pieces[-1], i):
            pieces.append([])
        pieces[-1].append(i)
    return pieces


def _listed(samples: Samples, rows: list[int]) -> str:
    return ", ".join(f"{samples.times[i]:g}" for i in rows[:6]) + (", ..." if rows[6:] else "")


def _unpaired(samples: Samples, label: dict[int, str]) -> dict[int, str]:
    """The k-th sample of each time of a series in its k-th series; one of one time is left out."""
    seen: Counter[tuple[str, float]] = Counter()
    made = {}
    for i in sorted(label, key=lambda i: (samples.times[i], i)):
        point = label[i], float(samples.times[i])
        seen[point] += 1
        made[i] = f"{label[i]}.{seen[point]}"
    size = Counter(made.values())
    alone = [i for i in made if size[made[i]] < 2 <= seen[label[i], float(samples.times[i])]]
    if alone:
        lines = joined([samples.sheet.name_of_row(i) for i in alone])
        warn_user(
            f"{samples.sheet.path}: left out {len(alone)} samples that no sample of another time "
            f"can go with ({lines}): their time has more replicates than all others"
        )
    return {i: made[i] for i in sorted(made) if i not in set(alone)}


def check_series(samples: Samples, series: Series, apart: Apart) -> None:
    """Refuse a series of one time, and a time that comes twice in one.

    Raises
    ------
    DataError
        The message names the remedy.
    """
    sheet, times = samples.sheet, samples.times
    size = Counter(series.names)
    points = list(zip(series.names, series.rows, strict=True))
    if len(size) > 1 and len({(name, times[i]) for name, i in points}) == len(size):
        _refuse_numbers_of_groups(samples)
    for name, i in points:
        if size[name] < 2:
            raise sheet.error(
                f"a series must have at least 2 time points, but series {unquoted(name)} has 1: "
                "remove its sample, or empty its time, so that it is a steady-state sample",
                i,
                samples.place,
            )
    for (before, h), (name, i) in pairwise(points):
        if before == name and times[h] == times[i] and samples.replicates != "average":
            ways = [*apart.ways, *({"replicates": one} for one in REPLICATES)]
            give = f"{TELL}, or give {option_words(ways[0])}" if apart.ways else apart.remedy
            raise may_read(
                sheet.error(
                    f"time {times[i]:g} comes twice in series {unquoted(name)}; {give}; where "
                    "nothing pairs the replicates, give --replicates unpaired (the k-th of each "
                    "time makes a series), or --replicates average (their mean, as of one "
                    "measurement)",
                    i,
                    samples.place,
                ),
                *ways,
            )


def _refuse_numbers_of_groups(samples: Samples) -> None:
    """Refuse labels that make a series of every time, as maSigPro's column Replicate does."""
    if not samples.labels:
        return
    names = [samples.sheet.heads[j] for j in samples.labels]
    ways = [{"ignore": tuple(names), "replicates": one} for one in REPLICATES]
    pooled, mean = map(option_words, ways)
    raise may_read(
        samples.sheet.error(
            f"{joined(names)} makes series of one time each: it numbers groups of replicates "
            f"and tells none apart (as maSigPro's Replicate does): give {pooled}, by which the "
            f"k-th of each time makes a series, or {mean}, for their mean; or a column that is the "
            "same along a series"
        ),
        *ways,
    )


def averaged(
    samples: Samples, series: Series, values: NDArray[np.float64]
) -> tuple[Series, NDArray[np.float64], str | None]:
    """Average the samples of one time of a series, whose `values` these are; and a note of it."""
    points = [(name, samples.times[i]) for name, i in zip(series.names, series.rows, strict=True)]
    starts = [k for k, point in enumerate(points) if not k or point != points[k - 1]]
    if samples.replicates != "average" or len(starts) == len(points):
        return series, values, None
    size = np.diff([*starts, len(points)])
    means = np.add.reduceat(values, starts, axis=0) / size[:, None]
    kept = Series([series.names[k] for k in starts], [series.rows[k] for k in starts])
    note = f"{len(points)} samples were averaged to {len(starts)}, one for each time of a series."
    return kept, means, note
