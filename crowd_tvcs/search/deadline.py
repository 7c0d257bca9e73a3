"""The time limit of a method, Ctrl-C that ends it as a limit does, and the messages for both."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from crowd_tvcs.arrays import Integers
from tvcs_core.jit import compiling_seconds

STRUCK, INTERRUPTED = 1, 2  # of `Deadline.stop`
TOLERATED = 0.1  # part of a limit by which it may be exceeded without a word
_running: list[Deadline] = []


@dataclass(frozen=True, eq=False)
class Deadline:
    """The moment at which a method must return the best it has.

    Within ``with deadline:`` a timer sets `stop` when the moment comes, for kernels, which cannot
    look at a clock. Compiling kernels, once per machine, does not count.

    Attributes
    ----------
    seconds
        The limit; infinity for none.
    moment
        When it strikes, on the clock of `time.monotonic`, if nothing is compiled until then.
    compiled
        Seconds that this process had been compiling when the clock was started.
    stop
        One integer, which is `STRUCK` after the moment, `INTERRUPTED` after Ctrl-C, else 0.
    spare
        Seconds of the limit after the moment; 0 but for a part of another deadline.
    """

    seconds: float
    moment: float
    spare: float = 0.0
    compiled: float = field(default_factory=compiling_seconds)
    stop: Integers = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    _timers: list[threading.Timer] = field(default_factory=list, repr=False)

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Start the clock now."""
        limit = math.inf if seconds is None else float(seconds)
        return cls(limit, time.monotonic() + limit)

    def part(self, share: float) -> Deadline:
        """Return a deadline of the same limit that strikes after a share of the time left."""
        left = max(0.0, self.left)
        return Deadline(
            self.seconds, time.monotonic() + share * left, self.spare + (1.0 - share) * left
        )

    def __enter__(self) -> Deadline:
        """Start the timer."""
        _running.append(self)
        if self.left < threading.TIMEOUT_MAX:
            self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the timer."""
        _running.remove(self)
        while self._timers:
            self._timers.pop().cancel()

    def _wait(self) -> None:
        timer = threading.Timer(max(0.0, self.left), self._strike)
        timer.daemon = True
        timer.start()
        self._timers.append(timer)

    def _strike(self) -> None:
        """Set `stop`, or wait on if there was compiling in between."""
        if self.has_passed:
            self.stop.fill(STRUCK)
        else:
            self._wait()

    @property
    def left(self) -> float:
        """Seconds until the moment; below 0 after it, and 0 once the method must stop."""
        return 0.0 if self.stop[0] else -self._late

    @property
    def _late(self) -> float:
        """Seconds since the moment."""
        return time.monotonic() - self.moment - compiling_seconds() + self.compiled

    @property
    def has_passed(self) -> bool:
        """Whether it is time to stop."""
        return self.left <= 0.0

    def leaves(self, seconds: float) -> bool:
        """Whether so many seconds are left for a step that cannot be broken off; else strike now.

        Of nan seconds, the time that a step takes of an infinite limit, there are enough.
        """
        if self.left < seconds and not self.stop[0]:
            self.stop.fill(STRUCK)
        return not self.has_passed

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C came before the moment."""
        return bool(self.stop[0] == INTERRUPTED)

    @property
    def reason(self) -> str:
        """Why the method stopped, in words."""
        if self.is_interrupted:
            return "interrupted; this is the best so far"
        late = self._late - self.spare
        over = f", exceeded by {late:.1f} s" if late > TOLERATED * self.seconds else ""
        return f"the time limit of {self}{over}; this is the best so far"

    def __str__(self) -> str:
        return f"{self.seconds:g} s"


@contextmanager
def ended_by_interrupts() -> Iterator[None]:
    """Let the first Ctrl-C end the methods that run meanwhile with the best they have.

    The second raises `KeyboardInterrupt`, and so does the first where Ctrl-C is already handled
    otherwise, or in a thread.
    """
    usual = signal.default_int_handler
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return

    def end(*_: object) -> None:
        signal.signal(signal.SIGINT, usual)
        for one in _running:
            one.stop.fill(INTERRUPTED)

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
