"""Time and duration of answers: columns, formats, and impossible values.

Times are seconds since 1970 (UTC), durations seconds; NaN if unknown. A time without a zone is UTC.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.answers.columns import Column, find
from crowd_tvcs.answers.values import with_point
from crowd_tvcs.arrays import Floats
from tvcs_core.arguments import array_of
from tvcs_core.files.display import quoted
from tvcs_core.files.encodings import number_hint
from tvcs_core.files.tables import Table

WHEN = Column("answered_at", ("time", "timestamp"))
STARTED = Column("started_at", ("accepted_at",))
SECONDS = Column("seconds", ("duration",))
CLOCK_TOLERANCE = 86_400.0  # seconds that another clock may be ahead, or its zone unknown
YEAR_2000 = 946_684_800.0  # seconds since 1970; a smaller number is a duration or no time at all
MIN_MILLISECONDS = 1e11  # as seconds it would be beyond the year 5000
# Mechanical Turk writes: Mon Dec 17 18:24:25 PST 2012
_ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5,
          "EST": -5, "EDT": -4}  # fmt: skip
_AMERICAN = re.compile(
    r"[A-Z][a-z]{2} ([A-Z][a-z]{2} \d{1,2} \d{2}:\d{2}:\d{2}) ([A-Z]{3}) (\d{4})"
)

_WITH_ZONE = re.compile(r"[tT ].*(?:[zZ]|[+-]\d\d(?::?\d\d){0,2})$")


@dataclass(frozen=True)
class Timing:
    """Time of an answer since 1970 and its duration, in seconds; NaN if unknown."""

    when: float = math.nan
    seconds: float = math.nan


def parse_time(value: object, now: float | None = None) -> float:
    """Read a time: ISO 8601 (UTC without a zone), seconds since 1970, or MTurk's format.

    Parameters
    ----------
    now
        Times more than a day later are refused; None for the clock of this machine.

    Examples
    --------
    >>> parse_time("2012-12-18T02:24:25Z"), parse_time("Mon Dec 17 18:24:25 PST 2012")
    (1355797465.0, 1355797465.0)
    """
    seconds = _since_1970(value)
    if math.isnan(seconds):
        raise ValueError(
            "must be a time such as 2026-03-01T12:30:00Z (year, month, day), or seconds since "
            f"1970, found {quoted(value)}"
        )
    if seconds >= MIN_MILLISECONDS:
        raise ValueError(
            f"must be seconds since 1970, found {quoted(value)}, which looks like milliseconds"
        )
    if seconds < YEAR_2000 or seconds > (time.time() if now is None else now) + CLOCK_TOLERANCE:
        side = "before the year 2000" if seconds < YEAR_2000 else "in the future"
        raise ValueError(
            f"must be a time of day and date, found {quoted(value)}, which lies {side}"
        )
    return seconds


def parse_seconds(value: object) -> float:
    """Read a duration in seconds, which must be above 0."""
    seconds = _number(value)
    if not math.isfinite(seconds):
        comma = number_hint(value) if isinstance(value, str) else ""
        raise ValueError(f"must be a duration in seconds, found {quoted(value)}{comma}")
    if seconds <= 0.0:
        raise ValueError(f"a duration must be above 0 seconds, found {quoted(value)}")
    return seconds


def elapsed(started: float, ended: float) -> float:
    """Return the seconds from one time to another, NaN if one is unknown.

    Raises
    ------
    ValueError
        If the second is before the first.
    """
    if ended < started:
        raise ValueError(
            f"must be after the start, {to_iso(started)}, but is {to_iso(ended)}: times run "
            "backwards"
        )
    return ended - started


def duration(started: float, ended: float, seconds: float) -> float:
    """Return the given duration, else that from start to end; NaN if neither is known.

    Raises
    ------
    ValueError
        If times run backwards, or no duration is given and no time elapsed.
    """
    took = elapsed(started, ended)
    if not math.isnan(seconds):
        return seconds
    if took == 0.0:
        raise ValueError("must be after the start: a duration must be above 0 seconds, found 0")
    return took


def time_columns(table: Table) -> list[tuple[Column, int]]:
    """Return the time columns of a table with their indices."""
    at = [(column, _place(table, column)) for column in (WHEN, STARTED, SECONDS)]
    return [(column, j) for column, j in at if j is not None]


def read_times(table: Table) -> tuple[Floats | None, Floats | None]:
    """Read times and durations of the rows below the header; None without such a column.

    The columns are `WHEN`, `SECONDS` and `STARTED`; durations follow from the latter where
    `SECONDS` has none. An empty cell is unknown.

    Raises
    ------
    DataError
        Naming line and column of an invalid time, one in the future, times that run backwards, and
        a duration that is not above 0.
    """
    at = {column.name: j for column, j in time_columns(table)}
    now = time.time()

    def parsed(column: Column, parse: Callable[[object], float]) -> Floats | None:
        j = at.get(column.name)
        if j is None:
            return None
        out = np.full(len(table.rows) - 1, math.nan)
        for first, block in table.blocks(1):
            for r, row in enumerate(block, start=first):
                if row[j]:
                    try:
                        out[r - 1] = parse(row[j])
                    except ValueError as error:
                        raise table.error(str(error), r, j) from None
        return out

    when = parsed(WHEN, lambda cell: parse_time(cell, now))
    started = parsed(STARTED, lambda cell: parse_time(cell, now))
    seconds = parsed(SECONDS, parse_seconds)
    _refuse_mixed_zones(table, [at[c.name] for c in (WHEN, STARTED) if c.name in at])
    if when is not None and started is not None:
        seconds = np.full(when.size, math.nan) if seconds is None else seconds
        for r in np.flatnonzero(~np.isnan(when - started)).tolist():
            try:
                seconds[r] = duration(float(started[r]), float(when[r]), float(seconds[r]))
            except ValueError as error:
                raise table.error(str(error), r + 1, at[WHEN.name]) from None
    return when, seconds


def _refuse_mixed_zones(table: Table, columns: Sequence[int]) -> None:
    """Refuse times with a zone beside times without: one of them would be hours off."""
    seen: dict[bool, tuple[int, int]] = {}
    for first, block in table.blocks(1):
        for r, row in enumerate(block, start=first):
            for j in columns:
                if (zone := _has_zone(row[j])) is not None:
                    seen.setdefault(zone, (r, j))
        if len(seen) == 2:
            r, j = seen[False]
            other, column = seen[True]
            raise table.error(
                f"has no time zone, which counts as UTC, but {quoted(table.rows[other][column])} "
                f"in line {table.lines[other]} has one: write all times with their zone, such as Z "
                f"or +01:00; found {quoted(table.rows[r][j])}",
                r,
                j,
            )


def _has_zone(cell: str) -> bool | None:
    """Whether a time of day has a zone, which seconds since 1970 need not; None if it is none."""
    text = cell.strip()
    if _WITH_ZONE.search(text) or _AMERICAN.fullmatch(text):
        return True
    return False if ":" in text or (text and math.isnan(_number(text))) else None


def check_times(name: str, values: ArrayLike | None, size: int) -> Floats | None:
    """Return a checked vector of `size` times or durations, above 0 or NaN; None for none."""
    if values is None:
        return None
    out = array_of(name, values, np.float64)
    if out.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},), found {out.shape}")
    wrong = ~(np.isnan(out) | ((out > 0.0) & np.isfinite(out)))
    if wrong.any():
        raise ValueError(f"{name} must be above 0 or NaN, found {out[int(np.argmax(wrong))]}")
    out.setflags(write=False)
    return out


def to_iso(when: float) -> str:
    """Format a time as ISO 8601 in UTC; empty if unknown."""
    if math.isnan(when):
        return ""
    moment = datetime.fromtimestamp(0, UTC) + timedelta(seconds=when)
    return moment.isoformat(timespec="auto").replace("+00:00", "Z")


def _place(table: Table, column: Column) -> int | None:
    if not any(map(column.matches, table.rows[0])):
        return None
    found: Sequence[int] = find(table, [column])
    return found[0]


def _since_1970(value: object) -> float:
    """Return the seconds since 1970 of a number or a text; NaN for anything else."""
    number = _number(value)
    if not math.isnan(number) or not isinstance(value, str):
        return number
    text = value.strip()
    american = _AMERICAN.fullmatch(text)
    try:
        if american is not None:
            zone = timezone(timedelta(hours=_ZONES[american[2]]))
            moment = datetime.strptime(f"{american[1]} {american[3]}", "%b %d %H:%M:%S %Y")
            return moment.replace(tzinfo=zone).timestamp()
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, KeyError, OverflowError):
        return math.nan


def _number(value: object) -> float:
    """Return the number that a value is or reads as; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(with_point(value) if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return math.nan
