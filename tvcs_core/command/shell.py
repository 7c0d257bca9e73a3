"""Parts of the three command lines: exit codes, one-line errors, no tracebacks.

Exit codes: 0 done, 1 the work failed, 2 bad usage or input, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
import warnings
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from typing import Any, NoReturn, ParamSpec, TextIO, TypeVar

from tvcs_core.arguments import on_command_line
from tvcs_core.command.blas import one_thread_unless_told
from tvcs_core.command.interrupts import raise_lost_interrupts
from tvcs_core.files.display import in_lines, visible
from tvcs_core.files.display import message as tidy
from tvcs_core.files.errors import NO_SPACE, RunError, WriteError

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

P = ParamSpec("P")
R = TypeVar("R")


class Volume(Enum):
    """The messages of a command: warnings and errors only, the usual ones, or with their time."""

    QUIET = 0
    USUAL = 1
    VERBOSE = 2


_volume, _start = Volume.USUAL, 0.0


def set_volume(volume: Volume = Volume.USUAL) -> Callable[[], None]:
    """Set the volume of messages from now on; return a function that resets it."""
    global _volume, _start
    _volume, _start = volume, time.monotonic()

    def reset() -> None:
        global _volume
        _volume = Volume.USUAL

    return reset


def is_quiet() -> bool:
    """Whether only warnings and errors are printed."""
    return _volume is Volume.QUIET


def print_message(*messages: str) -> None:
    """Print messages for the person on standard error; standard output is for data.

    Control characters of names that it quotes are escaped, and a text of more than `LINE`
    characters is broken between sentences. A message that cannot be printed, as where a log is
    full, does not stop the work.
    """
    elapsed = f"[{time.monotonic() - _start:.1f} s] " if _volume is Volume.VERBOSE else ""
    for message in () if is_quiet() else messages:
        for line in in_lines(elapsed + message):
            _print_line(line)


def _print_line(message: str) -> None:
    """Print a line on standard error, also where the command is quiet."""
    try:
        print(tidy(message), file=sys.stderr, flush=True)
    except OSError:
        _give_up(sys.stderr)


def print_text(text: str = "") -> None:
    """Print lines of a listing for people on standard output, names in them escaped."""
    for line in text.split("\n"):
        print(visible(line))


def print_data(text: str) -> None:
    """Print a line of data for programs on standard output: exact, but escaped on a terminal."""
    print("\n".join(map(visible, text.split("\n"))) if sys.stdout.isatty() else text)


def exit_with_error(message: str, code: int) -> NoReturn:
    """Print `message` and exit with `code`."""
    _print_line(message)
    raise SystemExit(code)


def end_interrupted() -> NoReturn:
    """Report the interruption and exit with 130."""
    # Python ends by the signal itself where the interrupt has passed through a text that was being
    # executed, as when a namedtuple is made, although it was caught; the next text clears that.
    exec("")
    exit_with_error("interrupted", INTERRUPTED)


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """Turn an exception of a command into a one-line message and an exit code.

    `ValueError`, `TypeError` and `OSError` are the user's to mend (2); `MemoryError`, `RunError`,
    a full disk and anything unforeseen are failed work (1), Ctrl-C is 130. With ``TVCS_DEBUG`` set
    in the environment the traceback is shown as well.
    """

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        warnings.showwarning = _printer_of_warnings()
        try:
            with on_command_line():
                result = command(*args, **kwargs)
            sys.stdout.flush()
            return result
        except KeyboardInterrupt:
            end_interrupted()
        except Exception as error:
            _end_with(error)

    return wrapper


def _end_with(error: Exception) -> NoReturn:
    """Print the exception of a command in one line, and exit with its code."""
    if _is_of_interrupt(error):
        end_interrupted()
    if isinstance(error, BrokenPipeError):
        # The reader of our output (`| head`) has left: nothing more to say to it.
        _give_up(sys.stdout)
        raise SystemExit(0) from None
    if os.environ.get("TVCS_DEBUG"):
        raise error
    if isinstance(error, RunError | WriteError):
        exit_with_error(f"error: {_one_line(error)}", FAILED)
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        _give_up(sys.stdout)
        where = "" if error.filename else "standard output: "
        exit_with_error(f"error: {where}{error.strerror if where else _one_line(error)}", FAILED)
    if isinstance(error, ValueError | TypeError | OSError):
        exit_with_error(f"error: {_one_line(error)}", BAD_INPUT)
    if isinstance(error, MemoryError):
        exit_with_error(f"error: not enough memory. {_one_line(error)}".rstrip(), FAILED)
    exit_with_error(
        f"error: unexpected {type(error).__name__}: {_one_line(error)} "
        "(set TVCS_DEBUG=1 to see where; please report it)",
        FAILED,
    )


def _is_of_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C led to `error`: Python makes a RuntimeError of it where a class is made."""
    while error.__cause__ is not None:
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)


def run_command(module: str, name: str) -> None:
    """Import the command line in `module` and run it as `name`; Ctrl-C ends either with 130.

    It shows itself by that name, and completion is installed for it: not for ``python``, the first
    word of a line with ``python -m``. BLAS has one thread in it, unless the environment sets more.
    """
    one_thread_unless_told(os.environ)
    try:
        app = import_module(module).app
    except KeyboardInterrupt:
        end_interrupted()
    run(functools.partial(app, prog_name=name))


def run(app: Callable[..., object]) -> None:
    """Run a typer app: a wrong option is one line too, and Ctrl-C ends with 130 at any moment."""
    raise_lost_interrupts()
    try:
        code = app(standalone_mode=False)
    except KeyboardInterrupt:
        end_interrupted()
    except Exception as error:
        # typer's own errors, under whatever name the installed version keeps them
        if type(error).__name__ == "Abort":
            end_interrupted()
        if not hasattr(error, "format_message"):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message(), file=sys.stderr)
            raise SystemExit(BAD_INPUT) from None
        message = _of_number(error) or " ".join(error.format_message().split()).rstrip(".")
        exit_with_error(f"error: {message}; see --help", BAD_INPUT)
    if isinstance(code, int) and code:
        raise SystemExit(code)


def _of_number(error: Any) -> str:
    """Return the message of an option that is no number, with what was found; empty for others."""
    errors = getattr(error.__cause__, "errors", list)  # of pydantic, which typer asks
    wrong: list[dict[str, Any]] = errors()
    kind = {"int_parsing": "an integer", "float_parsing": "a number"}
    if not wrong or wrong[0]["type"] not in kind:
        return ""
    option = (error.param.opts or [error.param.name])[0]
    return f"{option} must be {kind[wrong[0]['type']]}, found {wrong[0]['input']!r}"


def _give_up(stream: TextIO) -> None:
    """Drop the unwritten rest of a stream that fails."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


def _printer_of_warnings() -> Callable[..., None]:
    """Return what prints a warning of a command, each text once."""
    printed = set()

    def print_warning(message: Warning | str, *_: object, **__: object) -> None:
        line = f"warning: {' '.join(str(message).split())}"
        if line not in printed:
            printed.add(line)
            _print_line(line)

    return print_warning
