"""Find options that read a refused file, by trying them."""

from __future__ import annotations

import shlex
import warnings
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.read import read
from tvcs_core import DataError
from tvcs_core.arguments import on_command_line, option_words
from tvcs_core.files.display import visible

LISTS = ("ignore", "keep")  # options of which several add up
MOST_TRIED = 8  # each reads the file again
MOST_BYTES = 2**25  # read in all of them: some 15 s where rows are short


class Reading(NamedTuple):
    """An expression, and the options that read it.

    Attributes
    ----------
    options
        Those that were given and those that were found.
    data
        Their expression.
    """

    options: Options
    data: Expression


def readable_options(
    paths: Sequence[str | Path], error: Exception, given: Options
) -> list[Reading]:
    """Find options that read files which were refused; the likeliest first.

    Parameters
    ----------
    paths
        The files.
    error
        Why they were refused.
    given
        The options with which they were refused.

    Large files are not tried: then the error alone names the remedies.
    """
    waiting = deque(_next(given, error))
    found: list[Reading] = []
    size = sum(Path(path).stat().st_size for path in paths)
    for _ in range(min(MOST_TRIED, MOST_BYTES // max(size, 1))):
        if not waiting:
            break
        options = waiting.popleft()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(Reading(options, read(paths, options)))
        except (ValueError, OSError) as why:
            waiting.extend(_next(options, why))
    return found


def command_of(paths: Sequence[str | Path], options: dict[str, Any], command: str = "check") -> str:
    """Write the command of `grn-tvcs` with these options."""
    files = [visible(shlex.quote(str(path))) for path in paths]  # uncut: the command is to be run
    with on_command_line():
        words = option_words(options)
    return " ".join(filter(None, ("grn-tvcs", command, *files, words)))


def _next(options: Options, error: Exception) -> list[Options]:
    """Return options with one more remedy of an error."""
    made, given = [], options.given()
    for remedy in error.remedies if isinstance(error, DataError) else ():
        has_more = {*options.series_column} < {*remedy.get("series_column", ())}
        repeated = {name for name in remedy if name not in LISTS and name in given}
        if repeated and not (has_more and repeated == {"series_column"}):
            continue
        lists = {name: (*given.get(name, ()), *remedy.get(name, ())) for name in LISTS}
        if all(len(set(more)) == len(more) for more in lists.values()):
            made.append(type(options).of(**(given | remedy | lists)))
    return made
