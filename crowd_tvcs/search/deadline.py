"""The time limit of a method, and the message when it is reached."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tvcs_core.jit import compiling_seconds


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
        One integer, which is not 0 after the moment.
    """

    seconds: float
    moment: float
    compiled: float = field(default_factory=compiling_seconds)
    stop: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    _timers: list[threading.Timer] = field(default_factory=list, repr=False)

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Start the clock now."""
        limit = math.inf if seconds is None else float(seconds)
        return cls(limit, time.monotonic() + limit)

    def __enter__(self) -> Deadline:
        """Start the timer."""
        if self.left < threading.TIMEOUT_MAX:
            self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the timer."""
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
            self.stop.fill(1)
        else:
            self._wait()

    @property
    def left(self) -> float:
        """Seconds until the moment; below 0 after it."""
        return self.moment - time.monotonic() + compiling_seconds() - self.compiled

    @property
    def has_passed(self) -> bool:
        """Whether it is time to stop."""
        return self.left <= 0.0

    def __str__(self) -> str:
        return f"{self.seconds:g} s"
