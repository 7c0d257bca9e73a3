"""Engine of worker processes on this machine, one interpreter each.

A worker process starts with its first unit, receives the state of a job once, and lives until the
engine is closed. A killed process is replaced, and only its unit runs again.
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
from tvcs_core.files.errors import RunError

ATTEMPTS = 2  # most runs of a unit whose process is killed
# The path comes first, so that imports resolve as in the parent.
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
        """Run all tasks; after an error or an interrupt all processes are ended."""
        self._is_closed = False
        jobs = list(dict.fromkeys(task.job for task in tasks))
        states = {job: pickle.dumps((job.unit, job.state), 5) for job in jobs}
        slots = range(min(self._number, len(tasks)))
        work = [partial(self._do, slot, states) for slot in slots]
        yield from side_by_side(tasks, work, self.close)

    def close(self) -> None:
        """End all processes, including busy ones."""
        with self._lock:
            self._is_closed = True
            children = list(self._children.values())
            self._children.clear()
        for child in children:
            child.end()

    def _do(self, slot: int, states: dict[Job, bytes], task: Task) -> Any:
        cause = ""
        for _ in range(ATTEMPTS):
            child = self._child(slot)
            try:
                return child.ask(task, states)
            except _Killed as killed:
                cause = str(killed)
                with self._lock:
                    self._children.pop(slot, None)
                child.end()
        raise RunError(
            f"{task} ended its worker process {ATTEMPTS} times ({cause}); if memory was short, use "
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
    """The run is over and nobody waits for the result."""


class _Child:
    """A worker process and the jobs whose state it has."""

    def __init__(self) -> None:
        # In its own process group Ctrl-C does not reach it; the parent ends it.
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
        """Return the result of a unit, or raise its error."""
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
            raise _Killed(_describe_exit(self._process.wait())) from None
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
            with contextlib.suppress(OSError):  # unsent data has no reader any more
                pipe.close()


def _describe_exit(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
