"""Progress of long work on standard error: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

EVERY = 10.0  # seconds between two lines in a log


class Progress:
    """Call it with the parts that are done and all of them; use it as a context."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._start = self._said = time.monotonic()
        self._first: int | None = None
        self._bar: Any = None
        self._task: Any = None
        if sys.stderr.isatty():
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

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` parts are done."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)
            return
        now = time.monotonic()
        if self._first is None:  # what a resumed run finds done took no time now
            self._first, self._start = done, now
        if now - self._said < EVERY or done == self._first:
            return
        self._said = now
        left = (now - self._start) / (done - self._first) * (total - done)
        print(f"{self._what}: {done} of {total}, {span(left)} left", file=sys.stderr, flush=True)


def span(seconds: float) -> str:
    """Write a time as a person says it."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
