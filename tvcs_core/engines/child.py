"""The main loop of a worker process: it runs requested units until its input ends."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from typing import Any

from tvcs_core.engines.blas import one_blas_thread_from_now_on
from tvcs_core.engines.frames import read_frame, write_frame
from tvcs_core.files.errors import RunError


def serve() -> None:
    """Answer every request that arrives on standard input."""
    asked = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # The input and output of units must not mix with the messages.
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
        except BrokenPipeError:  # the parent process was killed
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
        return _packed_error(error)


def _packed_error(error: BaseException) -> bytes:
    """Pickle an error; one that cannot be pickled is replaced by its message."""
    try:
        packed = pickle.dumps((False, error), 5)
        pickle.loads(packed)
    except Exception:
        replacement = RunError(f"{type(error).__name__}: {error}")
        packed = pickle.dumps((False, replacement), 5)
    sys.stderr.flush()
    return packed
