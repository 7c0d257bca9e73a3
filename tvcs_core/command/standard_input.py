"""Standard input in place of a file: the path ``-``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tvcs_core.files.errors import DataError

STANDARD_INPUT = "-"


@contextmanager
def files_of(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield the paths, with ``-`` as a file named ``-`` that holds standard input.

    The file exists as long as the context. Messages of a `DataError` name it ``-``.
    """
    asked = [path for path in paths if str(path) == STANDARD_INPUT]
    if not asked:
        yield list(paths)
        return
    if len(asked) > 1:
        raise ValueError("- is standard input, which can be read once: give it once")
    if sys.stdin.isatty():
        raise ValueError("- is standard input, and nothing is piped into it: give a file")
    with tempfile.TemporaryDirectory(prefix="tvcs-") as folder:
        copy = Path(folder) / STANDARD_INPUT
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield [copy if path in asked else path for path in paths]
        except DataError as error:
            raise DataError(str(error).replace(str(copy), STANDARD_INPUT)) from None


def shown(path: Path) -> str:
    """Return the path as the user gave it."""
    return STANDARD_INPUT if path.name == STANDARD_INPUT else str(path)
