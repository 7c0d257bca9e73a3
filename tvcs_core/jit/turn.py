"""The turn to compile a kernel: of several processes that miss one, one compiles, the others wait.

The turn is a lock of the operating system, so it ends with its process. Where there are no such
locks (Windows, some network drives), or where one waits too long, every process compiles.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

# Seconds. The longest kernel takes some 20 on a quiet core; past this its owner may be stopped.
LONGEST_WAIT = 180.0
LOOK_EVERY = 0.02  # seconds


class Turn:
    """The right to compile the kernel that is kept as `path`.

    Take it with `wait`, and give it back with `end` once the kernel is kept.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_suffix(".turn")
        self._file = -1

    def wait(self) -> None:
        """Take the turn as soon as no other process has it, or give up after `LONGEST_WAIT`."""
        try:
            from fcntl import LOCK_EX, LOCK_NB, lockf
        except ImportError:
            return
        self.end()
        given_up = time.monotonic() + LONGEST_WAIT
        # A lock of `flock` would pass to processes that are forked meanwhile; this one does not.
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            while time.monotonic() < given_up:
                with contextlib.suppress(BlockingIOError, PermissionError):
                    lockf(file, LOCK_EX | LOCK_NB)
                    self._file, file = file, -1
                    return
                time.sleep(LOOK_EVERY)
        finally:
            if file >= 0:
                os.close(file)

    def end(self) -> None:
        """Give the turn back, if it was taken.

        The file goes first: who has opened it meanwhile finds the kernel kept when its turn comes.
        """
        if self._file >= 0:
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(self._file)
            self._file = -1
