"""Series of samples: by columns, by blank lines, or where times begin again; and replicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.clock import repeats_in_header
from grn_tvcs.expression.judge.names import MAY_BE_SERIES
from grn_tvcs.expression.judge.roles import FACT, SEPARATE, Roles, expanded, place_of
from grn_tvcs.expression.options import REPLICATES
from grn_tvcs.expression.sheet import Sheet
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core import DataError
from tvcs_core.arguments import is_on_command_line, option_name, option_words
from tvcs_core.files.display import joined, plural, unquoted

Times = NDArray[np.float64]
UNITS_APART = 24.0  # hours of a day, the least ratio of usual units of time


@dataclass(frozen=True)
class Samples:
    """Samples, and the time of each; NaN in steady state."""

    roles: Roles
    times: Times

    @property
    def sheet(self) -> Sheet:
        """Where they stand."""
        return self.roles.sheet

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
    is_by_columns = samples.roles.labels or samples.sheet.is_joined
    label = by_columns(samples) if is_by_columns else _by_time(samples)
    if samples.roles.options.replicates == "unpaired":
        label = _unpaired(samples, label)
    place = {name: k for k, name in enumerate(dict.fromkeys(label.values()))}
    rows = sorted(label, key=lambda i: (place[label[i]], samples.times[i]))
    return Series([label[i] for i in rows], rows)


def by_columns(samples: Samples) -> dict[int, str]:
    """Name the series of every sample with a time by its columns; without any they are one."""
    sheet, label = samples.sheet, {}
    cells = [sheet.cells(j) for j in samples.roles.labels]
    for i in samples.rows:
        for j, texts in zip(samples.roles.labels, cells, strict=True):
            if not texts[i]:
                kind = sheet.heads[j].lower() or "series"
                raise sheet.error(f"every sample needs a {kind}, found an empty cell", i, j)
        label[i] = "/".join(texts[i] for texts in cells) or "1"
    return label


def _by_time(samples: Samples) -> dict[int, str]:
    """Number the series; a steady-state sample between two samples does not part them."""
    label: dict[int, str] = {}
    number = 0
    for block in _blocks(samples):
        for piece in [block] if samples.roles.options.replicates else _pieces(samples, block):
            number += 1
            label |= dict.fromkeys(piece, str(number))
            _warn_of_repeats(samples, piece)
    return label


def _warn_of_repeats(samples: Samples, piece: list[int]) -> None:
    """Warn of times that may be repeats numbered by a program: 0, 0.1, 0.2, 1, 1.1, 1.2."""
    time = samples.roles.place("time")
    cells = [] if time is None else samples.sheet.cells(time)
    if cells and repeats_in_header([cells[i] for i in piece]):
        warn_user(
            f"{samples.sheet.path}: times such as {_listed(samples, piece)} are read as one series,"
            " but look like repeats of each time, which R and pandas number so: if they are, give "
            "the time without the tail, and the tail in a column replicate"
        )


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
        n = plural(len(again), "series", "series")
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
        samples.roles.place("time"),
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
            f"{samples.sheet.path}: left out {plural(len(alone), 'sample')} that no sample of "
            f"another time can go with ({lines}): their time has more replicates than all others"
        )
    return {i: made[i] for i in sorted(made) if i not in set(alone)}


def check_series(samples: Samples, series: Series) -> None:
    """Refuse a series of one time, and a time that comes twice in one; warn of units apart."""
    times, size = samples.times, Counter(series.names)
    points = list(zip(series.names, series.rows, strict=True))
    if len(size) > 1 and len({(name, times[i]) for name, i in points}) == len(size):
        _refuse_numbers_of_groups(samples)
    for name, i in points:
        if size[name] < 2:
            raise _of_one_time(samples, name, i)
    steps: dict[str, list[float]] = {}
    for (before, h), (name, i) in pairwise(points):
        if before == name and times[h] < times[i]:
            steps.setdefault(f"series {unquoted(name)}", []).append(times[i] - times[h])
        elif before == name and samples.roles.options.replicates != "average":
            raise _time_twice(samples, name, i)
    warn_of_units(f"{samples.sheet.path}: ", steps)


def _of_one_time(samples: Samples, name: str, i: int) -> DataError:
    """Return the error of a series with one time point."""
    pooled = _pooled(samples)
    hint = "; where nothing follows replicates from time to time, give "
    return samples.sheet.error(
        f"a series must have at least 2 time points, but series {unquoted(name)} has 1: remove its "
        "sample, or empty its time, so that it is a steady-state sample"
        f"{hint + option_words(pooled) if pooled else ''}",
        i,
        samples.roles.place("time"),
        remedies=[pooled] if pooled else (),
    )


def _time_twice(samples: Samples, name: str, i: int) -> DataError:
    """Return the error of a time that comes twice in a series."""
    more = _more_series(samples.roles)
    ways = [{"replicates": one} for one in REPLICATES]
    unpaired, average = map(option_words, ways)
    give = f"{SEPARATE}, or give {option_words(more[0])}" if more else samples.roles.remedy
    return samples.sheet.error(
        f"time {samples.times[i]:g} comes twice in series {unquoted(name)}; {give}; where nothing "
        f"pairs the replicates, give {unpaired} (the k-th of each time makes a series), or "
        f"{average} (their mean, as of one measurement)",
        i,
        samples.roles.place("time"),
        remedies=[*more, *ways],
    )


def warn_of_units(where: str, steps: Mapping[str, Sequence[float]]) -> None:
    """Warn if the steps of two series or files differ as hours from minutes, or days from hours."""
    by_step = sorted((median(of), name) for name, of in steps.items())
    if not by_step:
        return
    (shortest, dense), (longest, sparse) = by_step[0], by_step[-1]
    if longest >= UNITS_APART * shortest * (1 - 1e-9):
        warn_user(
            f"{where}the time between samples is {shortest:g} in {dense} and {longest:g} in "
            f"{sparse}: all times must have one unit"
        )


def _pooled(samples: Samples) -> dict[str, Any]:
    """Return options that take no heed of a column of replicates; empty without one."""
    place = samples.roles.place("replicate")
    if place is None or place not in samples.roles.labels:
        return {}
    return {"ignore": (samples.sheet.heads[place],), "replicates": "unpaired"}


def _more_series(roles: Roles) -> list[dict[str, Any]]:
    """Return options that name series by a column more, those that part all times in front.

    No column of a sheet of samples is a gene, so any may that parts some samples of one time, but
    not all samples. In a table with genes a name alone decides.
    """
    sheet = roles.sheet
    if not sheet.is_joined:
        ignored = {place_of(sheet, n, "") for n in expanded(roles.options.ignore, sheet.heads)}
        return [
            roles.more_series(j)
            for j, name in enumerate(sheet.heads)
            if MAY_BE_SERIES.fullmatch(name.lower()) and j not in {*roles.labels, *ignored}
        ]
    known = [sheet.cells(j) for j in (*roles.labels, roles.kinds.index("time"))]
    n_known = len(set(zip(*known, strict=True)))

    def count_points(j: int) -> int:
        return len(set(zip(*known, sheet.cells(j), strict=True)))

    facts = (j for j, kind in enumerate(roles.kinds) if kind == FACT)
    free = [j for j in facts if len(set(sheet.cells(j))) < len(sheet)]
    free = [j for j in free if count_points(j) > n_known]
    return [roles.more_series(j) for j in sorted(free, key=lambda j: count_points(j) < len(sheet))]


def _refuse_numbers_of_groups(samples: Samples) -> None:
    """Refuse labels that make a series of every time, as maSigPro's column Replicate does."""
    if not samples.roles.labels:
        return
    names = _labels_of_groups(samples)
    conditions = _conditions_of_masigpro(samples)
    kept = {"series_column": conditions} if conditions else {"ignore": tuple(names)}
    remedies: list[dict[str, Any]] = [{**kept, "replicates": one} for one in REPLICATES]
    pooled, mean = map(option_words, remedies)
    raise samples.sheet.error(
        f"{joined(names)} makes series of one time each: it numbers groups of replicates "
        f"and tells none apart (as maSigPro's Replicate does): give {pooled}, by which the "
        f"k-th of each time makes a series, or {mean}, for their mean; or a column that is the "
        "same along a series",
        remedies=remedies,
    )


def _conditions_of_masigpro(samples: Samples) -> tuple[str, ...]:
    """Return the columns of a sheet that mark conditions by 0 and 1, such as Control and Cold."""
    sheet, kinds = samples.sheet, samples.roles.kinds
    facts = (j for j, kind in enumerate(kinds) if kind == FACT)
    return tuple(sheet.heads[j] for j in facts if set(sheet.cells(j)) == {"0", "1"})


def _labels_of_groups(samples: Samples) -> list[str]:
    """Return the fewest columns of the labels without which series have several times."""
    sheet, times, labels = samples.sheet, samples.times, samples.roles.labels
    cells = {j: sheet.cells(j) for j in labels}
    for dropped in labels[::-1]:
        kept = [j for j in labels if j != dropped]
        by_name: dict[tuple[str, ...], set[float]] = {}
        for i in samples.rows:
            by_name.setdefault(tuple(cells[j][i] for j in kept), set()).add(float(times[i]))
        if all(len(found) > 1 for found in by_name.values()):
            return [sheet.heads[dropped]]
    return [sheet.heads[j] for j in labels]


def warn_of_conditions(samples: Samples, series: Series) -> None:
    """Warn of replicated conditions in one network, unless `series_column` asks for that."""
    place = samples.roles.place("condition")
    if place is None or place not in samples.roles.labels or samples.roles.options.series_column:
        return
    cells = samples.sheet.cells(place)
    of_condition: dict[str, set[str]] = {}
    for name, i in zip(series.names, series.rows, strict=True):
        of_condition.setdefault(cells[i], set()).add(name)
    if len(of_condition) > 1 and min(map(len, of_condition.values())) > 1:
        head = samples.sheet.heads[place]
        how = f"compare them by the column {head}"
        if is_on_command_line():
            how = f"give grn-tvcs compare {option_words({'condition_column': head})}"
        warn_user(
            f"{samples.sheet.path}: the series of {len(of_condition)} conditions "
            f"({joined(of_condition)}) are taken as of one network; to test what differs between "
            f"conditions, {how}"
        )


def warn_of_no_average(samples: Samples, series: Series) -> None:
    """Warn if replicates are to be averaged, but no time comes twice in a series."""
    roles, times = samples.roles, samples.times
    points = {(name, times[i]) for name, i in zip(series.names, series.rows, strict=True)}
    if roles.options.replicates != "average" or len(points) < len(series.rows):
        return
    average, place = option_words({"replicates": "average"}), roles.place("replicate")
    remedy = ""
    if place is not None and place in roles.labels:
        head = roles.sheet.heads[place]
        ignore = option_words({"ignore": head})
        remedy = f", as {head} makes each replicate a series: for their mean give {ignore} too"
    warn_user(f"{roles.sheet.path}: {average} changes nothing{remedy}")


def refuse_without_series(roles: Roles) -> None:
    """Refuse options of series if all samples are in steady state."""
    options = roles.options
    if options.replicates is not None:
        raise roles.sheet.error(
            "has no time, so all samples are in steady state, and "
            f"{option_words({'replicates': options.replicates})} says how series are made: leave "
            f"it out, or name the column of times with {option_name('time_column')}"
        )


def averaged(
    samples: Samples, series: Series, values: NDArray[np.float64]
) -> tuple[Series, NDArray[np.float64], str | None]:
    """Average the samples of one time of a series, whose `values` these are; and a note of it."""
    if samples.roles.options.replicates != "average":
        return series, values, None
    points = [(name, samples.times[i]) for name, i in zip(series.names, series.rows, strict=True)]
    starts = [k for k, point in enumerate(points) if not k or point != points[k - 1]]
    if len(starts) == len(points):
        return series, values, None
    size = np.diff([*starts, len(points)])
    means = np.add.reduceat(values, starts, axis=0) / size[:, None]
    kept = Series([series.names[k] for k in starts], [series.rows[k] for k in starts])
    note = f"{len(points)} samples were averaged to {len(starts)}, one for each time of a series."
    return kept, means, note
