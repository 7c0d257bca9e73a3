"""Warnings that point to the user's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PACKAGE = __name__.partition(".")[0]
_IS_SILENT = ContextVar("is_silent", default=False)
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
    """Put the name of a condition, if it has one, before its warnings while the context lasts."""
    with reworded(lambda message: f"{name}: {message}" if name else message):
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
