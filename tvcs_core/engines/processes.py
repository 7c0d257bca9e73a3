"""Units in processes of this machine, one interpreter each.

A worker process is started with the first unit that it is given, gets the state of a job once, and
lives until the engine is closed. One that is killed is replaced and its unit, and no other, done
again.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

from tvcs_core.command.blas import ONE_THREAD
from tvcs_core.engines.frames import read_frame, write_frame
from tvcs_core.engines.job import Job, Task
from tvcs_core.engines.local import side_by_side
from tvcs_core.files.errors import WorkError

ATTEMPTS = 2  # for a unit whose process was killed
# The path first, so that everything else is found as it is here.
START = "import sys; sys.path[:] = {path!r}; from tvcs_core.engines.child import serve; serve()"


class _Killed(Exception):
    """A worker process ended before it answered."""


class Processes:
    """`number` worker processes, each with one thread; use it as a context."""

    def __init__(self, number: int) -> None:
        if number < 1:
            raise ValueError(f"workers must be >= 1, found {number}")
        self._number = number
        self._children: dict[int, _Child] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Do all tasks; where one fails or the run is interrupted, all processes are ended."""
        self._is_closed = False
        jobs = list(dict.fromkeys(task.job for task in tasks))
        states = {job: pickle.dumps((job.unit, job.state), 5) for job in jobs}
        slots = range(min(self._number, len(tasks)))
        work = [partial(self._do, slot, states) for slot in slots]
        yield from side_by_side(tasks, work, self.close)

    def close(self) -> None:
        """End all processes, those at work too."""
        with self._lock:
            self._is_closed = True
            children = list(self._children.values())
            self._children.clear()
        for child in children:
            child.end()

    def _do(self, slot: int, states: dict[Job, bytes], task: Task) -> Any:
        how = ""
        for _ in range(ATTEMPTS):
            child = self._child(slot)
            try:
                return child.ask(task, states)
            except _Killed as killed:
                how = str(killed)
                with self._lock:
                    self._children.pop(slot, None)
                child.end()
        raise WorkError(
            f"{task} ended its worker process {ATTEMPTS} times ({how}); if memory was short, use "
            "fewer --workers"
        )

    def _child(self, slot: int) -> _Child:
        with self._lock:
            if self._is_closed:
                raise _Closed
            if slot not in self._children:
                self._children[slot] = _Child()
            return self._children[slot]


class _Closed(BaseException):
    """The run is over: nobody waits for this any more."""


class _Child:
    """A worker process and what it knows."""

    def __init__(self) -> None:
        # In a group of its own Ctrl-C does not reach it: its parent ends it.
        group: dict[str, Any] = (
            {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]
            if os.name == "nt"
            else {"process_group": 0}
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", START.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | ONE_THREAD,
            **group,
        )
        self._known: set[Job] = set()

    def ask(self, task: Task, states: dict[Job, bytes]) -> Any:
        """Return the result of a unit, or raise what it raised."""
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        try:
            state = None
            if task.job not in self._known:
                self._known = {job for job in self._known if job in states} | {task.job}
                state = states[task.job]
            known = [id(job) for job in self._known]
            write_frame(to, pickle.dumps((id(task.job), known, state, task.number), 5))
            answer = read_frame(back)
        except (OSError, EOFError, ValueError):
            raise _Killed(_said(self._process.wait())) from None
        is_good, result = pickle.loads(answer)
        if not is_good:
            raise result
        return result

    def end(self) -> None:
        """End the process and wait for it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # what was not sent yet has no reader any more
                pipe.close()


def _said(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
