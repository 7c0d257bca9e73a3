"""Which options read a file that is refused without them: they are tried, not guessed."""

from __future__ import annotations

import shlex
import warnings
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grn_tvcs.expression.columns import LayoutError, option_words
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.formats import read_files
from tvcs_core.files.shown import visible
from tvcs_core.files.workbook import SeveralSheetsError

LISTS = ("ignore", "keep")  # options of which several add up
MOST_TRIED = 8  # each reads the file again


class Way(NamedTuple):
    """Options that read a file.

    Attributes
    ----------
    options
        Of `read_layout`, those that were given and those that were found.
    data
        What they read.
    """

    options: dict[str, Any]
    data: Expression


def ways_that_read(
    paths: Sequence[str | Path], error: Exception, given: dict[str, Any]
) -> list[Way]:
    """Find options that read files which `error` was raised for; the likeliest first.

    Parameters
    ----------
    paths
        The files.
    error
        Why they were refused.
    given
        The options of `read_layout` with which they were.
    """
    waiting = deque(_next(given, error))
    found: list[Way] = []
    for _ in range(MOST_TRIED):
        if not waiting:
            break
        options = waiting.popleft()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(Way(options, read_files(paths, **options)))
        except (ValueError, OSError) as why:
            waiting.extend(_next(options, why))
    return found


def said_of(paths: Sequence[str | Path], options: dict[str, Any], command: str = "check") -> str:
    """Write the command of `grn-tvcs` with these options."""
    words = option_words({name: value for name, value in options.items() if _is_told(name, value)})
    files = [visible(shlex.quote(str(path))) for path in paths]  # uncut: the command is to be run
    return " ".join(filter(None, ("grn-tvcs", command, *files, words)))


def _is_told(name: str, value: object) -> bool:
    return value not in (None, False, (), []) and (name, value) != ("missing", "error")


def _has_more(way: dict[str, Any], options: dict[str, Any]) -> bool:
    """Whether a way names series by the columns that options name, and more."""
    known = options["series_column"]
    known = {known} if isinstance(known, str) else {*known}
    return known < {*way["series_column"]}


def _next(options: dict[str, Any], error: Exception) -> list[dict[str, Any]]:
    """Options with one more of what an error says may help."""
    ways: Sequence[dict[str, Any]] = ()
    if isinstance(error, LayoutError):
        ways = error.ways
    elif isinstance(error, SeveralSheetsError):
        ways = [{"sheet": name} for name in error.sheets]
    made = []
    for way in ways:
        told = (name for name in way if name not in LISTS and _is_told(name, options.get(name)))
        if any(name != "series_column" or not _has_more(way, options) for name in told):
            continue
        lists = {name: (*options.get(name, ()), *way.get(name, ())) for name in LISTS}
        if all(len(set(more)) == len(more) for more in lists.values()):
            made.append(options | way | {name: more for name, more in lists.items() if more})
    return made
