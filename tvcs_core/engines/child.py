"""What a worker process does: units that it is asked for, until nobody asks any more."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from typing import Any

from tvcs_core.engines.blas import one_blas_thread_from_now_on
from tvcs_core.engines.frames import read_frame, write_frame
from tvcs_core.files.errors import WorkError


def serve() -> None:
    """Answer every question that comes through standard input."""
    asked = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # What units read or print must not get between the messages.
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    jobs: dict[int, Any] = {}
    while True:
        try:
            number, known, state, index = pickle.loads(read_frame(asked))
        except EOFError:
            return
        for other in set(jobs) - set(known):
            del jobs[other]
        try:
            write_frame(answers, _answer(jobs, number, state, index))
        except BrokenPipeError:  # whoever asked was killed
            return


def _answer(jobs: dict[int, Any], number: int, state: bytes | None, index: int) -> bytes:
    try:
        if state is not None:
            jobs[number] = pickle.loads(state)
            one_blas_thread_from_now_on()
        unit, shared = jobs[number]
        return pickle.dumps((True, unit(shared, index)), 5)
    except BaseException as error:
        error.add_note(f"in a worker process:\n{traceback.format_exc()}")
        return _told(error)


def _told(error: BaseException) -> bytes:
    """An error as bytes; one that cannot be taken to another process is told in words."""
    try:
        told = pickle.dumps((False, error), 5)
        pickle.loads(told)
    except Exception:
        words = WorkError(f"{type(error).__name__}: {error}")
        told = pickle.dumps((False, words), 5)
    sys.stderr.flush()
    return told
