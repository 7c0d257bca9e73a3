"""Studies as tests run them: in this process, with words as a shell has them."""

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple
from unittest.mock import patch


class Ran(NamedTuple):
    """What a study ended with and printed."""

    returncode: int
    stdout: str
    stderr: str


def run_study(main: Callable[[], int], *words: Any) -> Ran:
    """Run the main of a study with these words."""
    out, err = io.StringIO(), io.StringIO()
    given = patch.object(sys, "argv", ["study", *map(str, words)])
    with given, redirect_stdout(out), redirect_stderr(err):
        try:
            code = main()
        except SystemExit as ended:  # with a number, or with the message of an error
            code = ended.code if isinstance(ended.code, int) else 1
            err.write("" if isinstance(ended.code, int) else f"{ended.code}\n")
    return Ran(code, out.getvalue(), err.getvalue())
