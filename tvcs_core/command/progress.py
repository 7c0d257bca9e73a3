"""Progress of long work on standard error: a bar on a terminal, a line now and then in a log.

A notebook has one line, which is written anew.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from tvcs_core.command.shell import is_quiet

EVERY = 10.0  # seconds between two lines in a log
AT_ONCE = 0.2  # seconds between two states of a line that is written anew


class Progress:
    """Call it with the parts that are done and all of them; use it as a context.

    Parameters
    ----------
    what
        The whole that the parts make up.
    live
        Whether one line is written anew if there is no terminal, as in a notebook.
    """

    def __init__(self, what: str, *, live: bool = False) -> None:
        self._what = what
        self._is_live = live
        self._start = self._printed_at = time.monotonic()
        self._first: int | None = None
        self._last = (0, self._start)  # parts that were done when it was called last
        self._bar: Any = None
        self._task: Any = None
        if sys.stderr.isatty() and not is_quiet():
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(what, total=None)

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._is_live and self._first is not None:
            print(file=sys.stderr, flush=True)

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` parts are done."""
        if is_quiet():
            return
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)
            return
        now = time.monotonic()
        if self._first is None:  # what a resumed run finds done took no time now
            self._first, self._start = done, now
        self._last = done, now
        pause = AT_ONCE if self._is_live else EVERY
        is_last = self._is_live and done == total
        if (now - self._printed_at < pause and not is_last) or done == self._first < total:
            return
        self._printed_at = now
        left = (now - self._start) / max(done - self._first, 1) * (total - done)
        line = f"{self._what}: {done} of {total}, {span(left)} left"
        if self._is_live:
            print(f"\r{line:<60}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def stages(self, *sizes: int) -> list[Callable[[int, int], None]]:
        """One progress for each of several works of `sizes` parts; each counts in its own way.

        They may come one after the other or go on side by side.
        """
        parts = [0] * len(sizes)
        return [self._stage(stage, size, parts, sum(sizes)) for stage, size in enumerate(sizes)]

    def _stage(
        self, stage: int, size: int, parts: list[int], total: int
    ) -> Callable[[int, int], None]:
        is_first = True

        def tell(done: int, of: int) -> None:
            nonlocal is_first
            parts[stage] = done * size // of
            if is_first:
                self._find(sum(parts))
            is_first = False
            self(sum(parts), total)

        return tell

    def _find(self, done: int) -> None:
        """Take the first report of a stage as the start: its time is none, or not its own alone."""
        if self._first is not None:
            (last, then), now = self._last, time.monotonic()
            self._first += done - last
            self._start += now - then
            self._last = done, now


def span(seconds: float) -> str:
    """Write a time in words."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
