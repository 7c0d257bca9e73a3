"""The errors for files that do not hold what they should, for a full disk and for lost work."""

from __future__ import annotations

import errno
from pathlib import Path

from tvcs_core.files.shown import shown

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class WriteError(OSError):
    """An output that could not be written: work that failed, not bad input."""


class WorkError(Exception):
    """Work that failed where its input was good, as when a machine is lost; one sentence."""


class DataError(ValueError):
    """A file, or a place in it, that does not hold what it must.

    The message is one line that starts with the place, as compilers write it:
    ``expression.tsv:12, column 'G7': must be a number, found 'n/a'``.

    Parameters
    ----------
    what
        What must hold and what was found.
    path
        The file, or None where the data did not come from one.
    line
        Line number in the file, counted from 1.
    column
        Name of the column, or its number counted from 1.
    """

    def __init__(
        self,
        what: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        column: str | int | None = None,
    ) -> None:
        place = "" if path is None else str(path)
        if line is not None:
            place += f":{line}" if place else f"line {line}"
        if column is not None:
            name = shown(column) if isinstance(column, str) else str(column)
            place += f", column {name}" if place else f"column {name}"
        super().__init__(f"{place}: {what}" if place else what)
