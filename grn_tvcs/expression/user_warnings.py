"""Warnings that point to the user's line, and messages of reading in the words of Python.

Messages name options as on the command line; callers of `Expression.of` give keywords.
"""

from __future__ import annotations

import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields

from grn_tvcs.expression.options import Options

PACKAGE = __name__.partition(".")[0]
_IS_SILENT = ContextVar("is_silent", default=False)
_DEFAULTS = {field.name.replace("_", "-"): field.default for field in fields(Options)}
_NAME = "|".join(sorted(_DEFAULTS, key=len, reverse=True))
_FLAGS = "|".join(name for name, default in _DEFAULTS.items() if default is False)
# An option and, unless it is a flag or stands alone, its value as a shell takes it.
_VALUE = r"(?!(?:is|are|out|for|such)\b)(?:'[^']*'|\"[^\"]*\"|[^\s'\",;:().]|\.(?=\w))+"
_OPTION = re.compile(
    rf"--(?:(?P<flag>{_FLAGS})(?![\w-])|(?P<name>{_NAME})(?![\w-])(?: (?P<value>{_VALUE}))?)"
)
_RUN = re.compile(rf"{_OPTION.pattern}(?: --(?:{_NAME})(?![\w-])(?: (?:{_VALUE}))?)*")
_REWORD: ContextVar[Callable[[str], str]] = ContextVar("reword", default=str)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Hold the warnings of this thread back while the context lasts.

    The filters of `warnings` are shared by all threads, also by one that warns.
    """
    before = _IS_SILENT.set(True)
    try:
        yield
    finally:
        _IS_SILENT.reset(before)


@contextmanager
def reworded(reword: Callable[[str], str]) -> Iterator[None]:
    """Apply `reword` to the warnings of this thread while the context lasts."""
    outer = _REWORD.get()
    before = _REWORD.set(lambda message: outer(reword(message)))
    try:
        yield
    finally:
        _REWORD.reset(before)


@contextmanager
def warnings_of(name: str) -> Iterator[None]:
    """Put the name of a condition before its warnings while the context lasts."""
    with reworded(lambda message: f"{name}: {message}"):
        yield


def warn_user(message: str) -> None:
    """Warn, as from the line outside this package that led here."""
    if _IS_SILENT.get():
        return
    level = 2
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(_REWORD.get()(message), stacklevel=level)


@contextmanager
def messages_in_python() -> Iterator[None]:
    """Write errors and warnings that arise meanwhile in the words of Python."""
    with reworded(in_python):
        try:
            yield
        except (ValueError, TypeError) as error:
            error.args = tuple(in_python(a) if isinstance(a, str) else a for a in error.args)
            raise


def in_python(message: str) -> str:
    """Return a message with keywords in place of the options of reading.

    Examples
    --------
    >>> in_python("give --genes-in-rows, or --series-column donor --series-column 'my dose'")
    "give genes_in_rows=True, or series_column=['donor', 'my dose']"
    """
    return _RUN.sub(_keywords, message)


def _keywords(run: re.Match[str]) -> str:
    given: dict[str, list[str]] = {}
    for option in _OPTION.finditer(run[0]):
        values = given.setdefault(option["flag"] or option["name"], [])
        if option["value"] is not None:
            values += shlex.split(option["value"])
    return ", ".join(_keyword(name, values) for name, values in given.items())


def _keyword(name: str, values: list[str]) -> str:
    word = name.replace("-", "_")
    if _DEFAULTS[name] is False:
        return f"{word}=True"
    if not values:
        return word
    return f"{word}={values if len(values) > 1 else values[0]!r}"
