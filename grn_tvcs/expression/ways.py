"""Which options read a file that is refused without them: they are tried, not guessed."""

from __future__ import annotations

import shlex
import warnings
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.options import LayoutError, Options, option_words
from grn_tvcs.expression.read import read
from tvcs_core.files.display import visible
from tvcs_core.files.workbook import SeveralSheetsError

LISTS = ("ignore", "keep")  # options of which several add up
MOST_TRIED = 8  # each reads the file again


class Way(NamedTuple):
    """Options that read a file.

    Attributes
    ----------
    options
        Those that were given and those that were found.
    data
        Their expression.
    """

    options: Options
    data: Expression


def ways_that_read(paths: Sequence[str | Path], error: Exception, given: Options) -> list[Way]:
    """Find options that read files which `error` was raised for; the likeliest first.

    Parameters
    ----------
    paths
        The files.
    error
        Why they were refused.
    given
        The options with which they were.
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
                found.append(Way(options, read(paths, options)))
        except (ValueError, OSError) as why:
            waiting.extend(_next(options, why))
    return found


def command_of(paths: Sequence[str | Path], options: dict[str, Any], command: str = "check") -> str:
    """Write the command of `grn-tvcs` with these options."""
    files = [visible(shlex.quote(str(path))) for path in paths]  # uncut: the command is to be run
    return " ".join(filter(None, ("grn-tvcs", command, *files, option_words(options))))


def _has_more(way: dict[str, Any], options: Options) -> bool:
    """Whether a way names series by the columns that options name, and more."""
    return {*options.series_column} < {*way["series_column"]}


def _next(options: Options, error: Exception) -> list[Options]:
    """Return options with one more remedy of an error."""
    ways: Sequence[dict[str, Any]] = ()
    if isinstance(error, LayoutError):
        ways = error.ways
    elif isinstance(error, SeveralSheetsError):
        ways = [{"sheet": name} for name in error.sheets]
    made, given = [], options.given()
    for way in ways:
        told = (name for name in way if name not in LISTS and name in given)
        if any(name != "series_column" or not _has_more(way, options) for name in told):
            continue
        lists = {name: (*given.get(name, ()), *way.get(name, ())) for name in LISTS}
        if all(len(set(more)) == len(more) for more in lists.values()):
            made.append(type(options).of(**(given | way | lists)))
    return made
