"""Errors: bad input data, failed writes and failed runs."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tvcs_core.files.display import quoted

Remedies = Iterable[dict[str, Any]]  # options that may read refused data

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class WriteError(OSError):
    """An output could not be written. The run failed; the input was not bad."""


class RunError(Exception):
    """A run failed although its input was good, for example because a machine was lost."""


class DataError(ValueError):
    """A file, or a location in it, holds invalid data.

    The message is one line that starts with the location, as compilers write it:
    ``expression.tsv:12, column 'G7': must be a number, found 'n/a'``.

    Parameters
    ----------
    message
        Expected and actual content.
    path
        The file; None if the data did not come from one.
    line
        Line number in the file, counted from 1.
    column
        Name of the column, or its number counted from 1.
    remedies
        Options that may read the data, the likeliest first.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        column: str | int | None = None,
        remedies: Iterable[dict[str, Any]] = (),
    ) -> None:
        location = "" if path is None else str(path)
        if line is not None:
            location += f":{line}" if location else f"line {line}"
        if column is not None:
            name = quoted(column) if isinstance(column, str) else str(column)
            location += f", column {name}" if location else f"column {name}"
        super().__init__(f"{location}: {message}" if location else message)
        self.message, self.path, self.line = message, path, line
        self.remedies = tuple(remedies)
