"""Times as people write them: ``0h``, ``30 min``, ``day 3``, ``T10``; also in the first row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.missing_values import MARKS
from grn_tvcs.expression.sheet import HEAD, Sheet
from tvcs_core import DataError
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.tables import is_number

SECONDS = {
    "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
    "min": 60, "mins": 60, "minute": 60, "minutes": 60,
    "h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600,
    "d": 86400, "day": 86400, "days": 86400,
    "w": 604800, "wk": 604800, "wks": 604800, "week": 604800, "weeks": 604800,
}  # fmt: skip
SHORTEST_WORD = 3  # before a number in the first row, to be no name of a sample
OTHERS = ("hpi", "hpf", "dpi", "dpf", "dpc")  # hours and days after infection, fertilisation, ...
NO_UNITS = ("t", "time", "timepoint", "tp")  # T10
BEFORE = (*NO_UNITS, "zt", "ct", "e", "p")  # ZT4, E11.5
_UNITS = "|".join(sorted((*SECONDS, *OTHERS), key=len, reverse=True))
_WORDS = "|".join(sorted((*SECONDS, *OTHERS, *BEFORE), key=len, reverse=True))
_TIME = re.compile(
    rf"(?:({_WORDS})[ _.=-]?)?([+-]?[0-9]+(?:\.[0-9]+)?)(?:[ _]?({_UNITS}))?", re.IGNORECASE
)

_SINGLE = "|".join(sorted(SECONDS, key=len, reverse=True))
_COMPOUND = re.compile(rf"(?:[0-9]+(?:\.[0-9]+)?[ _]?(?:{_SINGLE})[ _]?){{2,}}", re.IGNORECASE)
_PART = re.compile(rf"([0-9]+(?:\.[0-9]+)?)[ _]?({_SINGLE})", re.IGNORECASE)  # 1h30min
_COMMA = re.compile(r"([0-9]),([0-9]{1,2})(?![0-9])")  # of decimals; three digits may be thousands
_HEADING = re.compile(  # Time (min)
    rf"(?:{_UNITS})|time(?! of day).*[\W_]({_UNITS})[\W_]*", re.IGNORECASE
)
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?")
_DURATION = re.compile(r"-?\d+ days( [+-]?\d+:\d{2}:\d{2}(\.\d+)?)?")  # of pandas
_OF_DAY = re.compile(r"\d{1,3}:\d{2}(:\d{2}(\.\d+)?)?")
_LONGER = "|".join(sorted({*SECONDS, *OTHERS} - {"d", "w"}, key=len, reverse=True))
_INSIDE = re.compile(  # 0h_rep1, ctrl_30min_2, day3.b, t0min.1, t=5; but 2D is a culture
    rf"(?<![A-Za-z0-9])(?:t[=_]?)?(?:([0-9]+(?:\.[0-9]+)?)[ ]?(?:{_LONGER}|(?-i:[dw]))"
    r"|(?:(?:time|timepoint|day|hour)[ _-]?|(?<=t=))([0-9]+))(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_OF_R = re.compile("[Xg][0-9]")  # R, and Seurat, let no name of a column begin with a digit
# t0_rep1, T24.2, h0, ZT4: numbers behind a unit or a t are times if one is 0; T1, T2 may be tumours
_AFTER_UNIT = re.compile(
    r"(?:.*[^A-Za-z0-9])?(?:t|h|hr|d|w|wk|zt|ct)[_-]?([0-9]+)(?![A-Za-z0-9]).*", re.IGNORECASE
)
# ctrl_0_1, drug_24_rep2: a number behind a word, and perhaps that of a replicate
_BEHIND_WORD = re.compile(r".*[A-Za-z][\W_]([0-9]+)([\W_](?:r|rep)?[\W_]?[0-9]+)?", re.IGNORECASE)
_REPEAT = re.compile(r"(.*[0-9A-Za-z])\.([1-9])")  # what make.unique makes of a name that is there
MOST_REPEATS = 5  # .1 to .9 are tenths
FEWEST_SAMPLES = 6  # of a column that looks like times, so that no gene does by chance

UNIT_NOTE = "Times are in "  # how a note begins that tells the unit


def unit_notes(unit: str) -> tuple[str, ...]:
    """Return a note with the unit of times, if there is one: T10 has none."""
    return () if not unit or unit in NO_UNITS else (f"{UNIT_NOTE}{unit}, as the file says.",)


class Times(NamedTuple):
    """Times read from cells.

    Attributes
    ----------
    values
        One for each cell; NaN where it is empty or a mark of nothing.
    unit
        Their unit; empty if no cell has one.
    """

    values: list[float]
    unit: str


def read_times(cells: Sequence[str]) -> Times | None:
    """Read times with or without a unit; None if a cell is no time or units differ.

    Where units differ but are known, as in ``0 min``, ``30 min``, ``1 h``, ``1h30min``, the finest
    counts. A 0 needs no unit.

    Examples
    --------
    >>> read_times(["0", "30min", "1h"])
    Times(values=[0.0, 30.0, 60.0], unit='min')
    >>> read_times(["0", "1h30min", "2h"])
    Times(values=[0.0, 90.0, 120.0], unit='min')
    >>> read_times(["day 3", "day 7"])
    Times(values=[3.0, 7.0], unit='day')
    >>> read_times(["t0h", "t6h"])
    Times(values=[0.0, 6.0], unit='h')
    """
    words: list[str | None] = []
    numbers: list[float] = []
    for cell in cells:
        if cell.lower() in MARKS:
            numbers.append(float("nan"))
            words.append(None)
            continue
        if (compound := _compound(cell)) is not None:
            numbers.append(compound[0])
            words.append(compound[1])
            continue
        found = _TIME.fullmatch(_COMMA.sub(r"\1.\2", cell.replace("'", "min", 1)))
        before, after = ((found[k] or "").lower() for k in (1, 3)) if found else ("", "")
        if found is None or (before and after and before not in NO_UNITS):  # t0h is 0h
            return None
        number = float(found[2])
        word = after or before
        words.append(None if not word and number == 0 else word)
        numbers.append(number)
    used = sorted({word for word in words if word is not None})
    if len(used) <= 1:
        return Times(numbers, used[0] if used else "")
    if not set(used) <= set(SECONDS):
        return None
    finest = min(used, key=lambda word: (SECONDS[word], word))
    factor = {word: SECONDS[word] / SECONDS[finest] for word in used}
    pairs = zip(numbers, words, strict=True)
    return Times([n * (1.0 if word is None else factor[word]) for n, word in pairs], finest)


def _compound(cell: str) -> tuple[float, str] | None:
    """Read a time of several units, such as ``1h30min``, in the finest of them."""
    if _COMPOUND.fullmatch(cell) is None:
        return None
    parts = [(float(number), unit.lower()) for number, unit in _PART.findall(cell)]
    finest = min((unit for _, unit in parts), key=lambda unit: (SECONDS[unit], unit))
    seconds = sum(number * SECONDS[unit] for number, unit in parts)
    return seconds / SECONDS[finest], finest


def times_in(
    sheet: Sheet, column: int, *, may_be_far: bool = False
) -> tuple[NDArray[np.float64], str]:
    """Read the times of a column, NaN in steady state, and their unit from its cells or heading.

    Infinite ones are refused, unless they `may_be_far`, as of cells that are not reached.
    """
    cells = sheet.cells(column)
    heading = _HEADING.fullmatch(sheet.heads[column])
    unit = "" if heading is None else (heading[1] or heading[0]).lower()
    if any(map(needs_reading, cells)):
        found = read_times(cells)
        if found is None:
            raise _no_times(sheet, column)
        alone = (read_times([cell]) for cell in cells)
        sizes = {SECONDS[one.unit] for one in alone if one is not None and one.unit in SECONDS}
        if unit in SECONDS and sizes and SECONDS[unit] not in sizes:  # 30min, 1h are of Time (h)
            raise sheet.error(
                f"must hold times in one unit, found {unit} in the heading and {found.unit} in the "
                "cells: write the unit in one of the two",
                HEAD,
                column,
            )
        return np.array(found.values), found.unit or unit
    times = np.array([np.nan if cell.lower() in MARKS else float(cell) for cell in cells])
    if not may_be_far and (is_far := np.isinf(times)).any():
        bad = int(np.flatnonzero(is_far)[0])
        raise sheet.error(f"must be a finite number, found {quoted(cells[bad])}", bad, column)
    return times, unit


def _no_times(sheet: Sheet, column: int) -> DataError:
    """Return the error of the first cell of a column that is no time beside the others."""
    cells = sheet.cells(column)
    alone = [read_times([cell]) for cell in cells]
    units = {one.unit for one in alone if one is not None and one.unit}
    if not units:
        bad = next(i for i, cell in enumerate(cells) if needs_reading(cell))
        what = f"must be a number, found {quoted(cells[bad])}{no_time_hint(cells[bad])}"
        return sheet.error(what, bad, column)
    unread = [i for i, one in enumerate(alone) if one is None]
    bare = [i for i, one in enumerate(alone) if one and not one.unit and abs(one.values[0]) > 0]
    bad = (unread or bare or [0])[0]
    is_mixed = len(units) > 1 and units & {*OTHERS, *BEFORE}
    mixed = f" and the units {joined(sorted(units))} in one column" if is_mixed else ""
    return sheet.error(
        f"must be a time, perhaps with a unit, found {quoted(cells[bad])}{mixed}; known are s, "
        "min, h, d and weeks, also mixed (30 min, 1h30min), and one of "
        f"{', '.join(OTHERS)} in all rows; write a number and one of these (0.5h, 19dpc), and 0 "
        "for the start",
        bad,
        column,
    )


def times_in_header(names: Sequence[str]) -> bool | None:
    """Whether names of samples are times; None where they may be numbers of samples as well."""
    if len(names) < 2 or any(name.lower() in MARKS for name in names):
        return False
    times = read_times(names)
    if times is None:
        return False
    if times.unit:  # s1, t2 and D3 are names of samples, 1s, 2h and day 3 are times
        is_after = all(name[0] in "+-0123456789" for name in names)
        return is_after or len(times.unit) >= SHORTEST_WORD
    first = times.values[0]
    is_count = first in (0, 1) and times.values == [first + k for k in range(len(names))]
    return None if is_count else True


def holds_times(cells: Sequence[str]) -> bool:
    """Whether a column holds times with a unit, such as 0h and 6h; numbers may be of clusters.

    Examples
    --------
    >>> holds_times(["0h", "6h", ""]), holds_times(["D1", "D2"]), holds_times(["1", "2"])
    (True, False, False)
    """
    different = sorted({cell for cell in cells if cell.lower() not in MARKS})
    return any(map(needs_reading, different)) and bool(times_in_header(different))


def repeats_in_header(names: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Times and repeats of names such as ``0, 0.1, 0.2, 1, 1.1, 1.2``; None where they are none.

    R and pandas write a header ``0, 0, 0, 1, 1, 1`` so. Each time has the same decimals, .1 to .k
    with k below 5; times that step by a tenth do not.

    Examples
    --------
    >>> repeats_in_header(["0", "0.1", "4", "4.1"])
    (['0', '0', '4', '4'], ['1', '2', '1', '2'])
    >>> repeats_in_header(["0", "0.1", "0.2", "0.3"]) is None
    True
    """
    if names and all(_OF_R.match(name) for name in names):
        names = [name[1:] for name in names]
    found = [_REPEAT.fullmatch(name) for name in names]
    times = [name if one is None else one[1] for name, one in zip(names, found, strict=True)]
    tails = [0 if one is None else int(one[2]) for one in found]
    by_time: dict[str, list[int]] = {}
    for time, tail in zip(times, tails, strict=True):
        by_time.setdefault(time, []).append(tail)
    is_time = times_in_header(list(by_time)) is not False
    k = max(tails, default=0)
    is_same = all(sorted(of_one) == list(range(k + 1)) for of_one in by_time.values())
    if not 0 < k < MOST_REPEATS or len(by_time) < 2 or not is_same or not is_time:
        return None
    return times, [str(tail + 1) for tail in tails]


def repeats_note(path: str, times: Sequence[str], repeats: Sequence[str]) -> str:
    """Describe how names were read in which `repeats_in_header` found times."""
    n = max(map(int, repeats))
    return (
        f"{path}: of names such as {times[0]}, {times[0]}.1 the tails are taken for {n} repeats of "
        f"each time, which R and pandas number so: {n} series; where they are decimals, give the "
        "times in a row Time"
    )


def hold_times(names: Sequence[str]) -> bool:
    """Whether names of samples hold times beside other words, three in four or all of them.

    Examples
    --------
    >>> hold_times(["0h_rep1", "6h_rep1", "0h_rep2"]), hold_times(["GSM1", "GSM2"])
    (True, False)
    >>> hold_times(["ctl_2D", "ctl_3D"]), hold_times(["ctl_2d", "ctl_3d"])
    (False, True)
    >>> hold_times(["X0", "X10", "X20"]), hold_times(["X1", "X2", "X3"])  # R's names of numbers
    (True, False)
    >>> hold_times(["ctrl", "drug_1h", "drug_2h", "drug_4h"])
    True
    >>> hold_times(["t0_a", "t2_a", "t4_a"]), hold_times(["T1_a", "T2_a", "T3_a"])
    (True, False)
    """
    if names and all(_OF_DAY.fullmatch(name) or _DATE.fullmatch(name) for name in names):
        return True
    if all(_OF_R.match(name) for name in names):
        names = [name[1:] for name in names]
        if times_in_header(names):
            return True
    after_unit = [_AFTER_UNIT.fullmatch(name) for name in names]
    numbers = {one[1] for one in after_unit if one is not None}
    if None not in after_unit and "0" in numbers and len(numbers) > 2:
        return True
    found = [_INSIDE.search(name) for name in names]
    times = {one[1] or one[2] for one in found if one is not None}
    n_without = found.count(None)
    return len(times) > (2 if n_without else 1) and 4 * n_without <= len(names)


def may_hold_times(names: Sequence[str]) -> bool:
    """Whether numbers behind words may be times: one is 0, and they do not just count samples.

    Examples
    --------
    >>> may_hold_times(["wt_0_1", "wt_6_1", "ko_24_2"]), may_hold_times(["wt_0", "ko_8", "a_9"])
    (True, True)
    >>> may_hold_times(["wt_0", "wt_1", "ko_2"]), may_hold_times(["wt_1_1", "wt_2_1", "ko_3_1"])
    (False, False)
    """
    found = [_BEHIND_WORD.fullmatch(name) for name in names]
    numbers = {int(one[1]) for one in found if one is not None}
    is_count = numbers == {*range(len(numbers))} and any(one and not one[2] for one in found)
    return None not in found and 0 in numbers and len(numbers) > 2 and not is_count


def rise_like_times(values: Sequence[float], fewest: int = FEWEST_SAMPLES) -> bool:
    """Whether `fewest` numbers or more rise as times: all along, or in series from the same time.

    Examples
    --------
    >>> rise_like_times([0, 10, 20, 0, 10, 20]), rise_like_times([0.3, 1.2, 0.7, 0.3, 2, 1])
    (True, False)
    """
    if len(values) < fewest or len(set(values)) < 3 or not all(v >= 0 for v in values):
        return False
    falls = [k for k in range(1, len(values)) if values[k] < values[k - 1]]
    if not falls:  # all along: in whole numbers or even steps, which no gene does by chance
        steps = {round(b - a, 9) for a, b in pairwise(values)}
        return len(steps) == 1 or all(v == round(v) for v in values)
    starts = [0, *falls]
    is_even = all(values[k] == min(values) for k in starts) and 3 * len(starts) <= len(values)
    return is_even and all(b != a for a, b in pairwise(values))


def no_time_hint(cell: str) -> str:
    """Return a clause with the form of a time that the cell should have."""
    if _DATE.fullmatch(cell):
        return "; that is a date: write how many hours or days after the start it was"
    if _DURATION.fullmatch(cell):
        return "; that is a duration: write its hours (pandas: times.dt.total_seconds() / 3600)"
    if _OF_DAY.fullmatch(cell):
        return (
            "; that is a time of the clock: write how many minutes or hours after the start it was"
        )
    return (
        "; a time is a number, perhaps with a unit (0, 30 min, 2h, day 3), and empty for a "
        "steady-state sample; a row that is no sample must go"
    )


def needs_reading(cell: str) -> bool:
    """Whether a cell is neither a number nor a mark of nothing."""
    return not (is_number(cell) or cell.lower() in MARKS)
