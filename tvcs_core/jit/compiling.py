"""The time that compiling takes, and the one message about it."""

import logging
from pathlib import Path

SAY_AFTER = 0.5  # seconds: a shorter wait needs no explanation

_seconds = 0.0


def compiling_seconds() -> float:
    """Return how long this process has been compiling kernels so far."""
    return _seconds


def add_compiling(seconds: float, folder: Path | None) -> None:
    """Count `seconds` of compiling; say so when they first come to more than `SAY_AFTER`."""
    global _seconds
    before, _seconds = _seconds, _seconds + seconds
    if before <= SAY_AFTER < _seconds:
        how = f"once, kept in {folder}" if folder else "without a cache, see `tvcs doctor`"
        # A program that sets no logging up sees a warning on standard error, as it is.
        logging.getLogger("tvcs_core").warning("tvcs: compiling the kernels %s", how)
