"""Engines on pools that a caller holds already: Dask, `concurrent.futures`, joblib.

The pool stays the caller's: it is neither started nor closed here, and results have the same bytes
as those of any other engine.
"""

from __future__ import annotations

import hashlib
import pickle
import secrets
import sys
from collections import OrderedDict
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from tvcs_core.arguments import describe_value
from tvcs_core.engines.blas import one_blas_thread
from tvcs_core.engines.job import Engine, Job, StatelessEngine, Task
from tvcs_core.engines.local import POLL_SECONDS
from tvcs_core.files.errors import RunError

UNITS_PER_WORKER = 2  # units submitted to an executor at a time, so that none of its workers waits
USUAL_WORKERS = 32  # of an executor that does not give the number of its workers
MAX_STATES = 4  # states of jobs that a process of a pool keeps

Payload = tuple[str, bytes]


def as_engine(given: Any) -> Engine:
    """Return an engine for an engine, or for a pool that the caller holds.

    Parameters
    ----------
    given
        One of `tvcs_core.engines`; a ``distributed.Client`` or a cluster such as
        ``LocalCluster``; a ``concurrent.futures.Executor``; or a ``joblib.Parallel``, through
        whose backends Ray and Spark are reached.

    Raises
    ------
    TypeError
        If it is anything else.
    ValueError
        If a client is asynchronous or closed.
    """
    if isinstance(given, type):
        raise TypeError(
            f"engine must be an instance, found the class {given.__name__}; "
            f"give {given.__name__}(...)"
        )
    bases = {f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(given).__mro__}
    if bases & {"distributed.Client", "distributed.Cluster"}:
        from tvcs_core.engines.cluster import HeldCluster

        return HeldCluster(given)
    if isinstance(given, Executor):
        return _OnExecutor(given)
    if "joblib.Parallel" in bases:
        return _OnJoblib(given)
    if callable(getattr(given, "run", None)):
        return given
    raise TypeError(
        "engine must be one of tvcs_core.engines, a distributed.Client or LocalCluster, a "
        f"concurrent.futures.Executor or a joblib.Parallel, found {describe_value(given)}"
    )


class _OnExecutor(StatelessEngine):
    """Units in an executor, a few at a time."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Run all tasks; after an error those that have not begun are cancelled."""
        workers = getattr(self._pool, "_max_workers", None) or USUAL_WORKERS
        calls = iter(self._calls(tasks))
        waiting: dict[Any, Task] = {}
        try:
            while True:
                for task, *call in islice(calls, UNITS_PER_WORKER * workers - len(waiting)):
                    waiting[self._submitted(call)] = task
                if not waiting:
                    return
                # A wait without a limit cannot be interrupted on every system.
                done, _ = wait(waiting, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                for future in done:
                    yield waiting.pop(future), future.result()
        except BrokenExecutor as error:
            raise RunError(
                f"a process of the executor ended ({error}); memory may have been short: give it "
                "fewer workers"
            ) from error
        finally:
            for future in waiting:
                future.cancel()

    def _submitted(self, call: Sequence[Any]) -> Any:
        try:
            return self._pool.submit(*call)
        except BrokenExecutor:
            raise
        except RuntimeError as error:
            raise ValueError(
                f"the executor takes no work ({error}); give one that is open"
            ) from error

    def _calls(self, tasks: Sequence[Task]) -> Iterator[tuple[Any, ...]]:
        """Return every task, with the call that does it."""
        if isinstance(self._pool, ThreadPoolExecutor):
            return ((task, _in_thread, task) for task in tasks)
        payloads = _payloads(tasks)
        return ((task, _in_process, payloads[task.job], task.number) for task in tasks)


class _OnJoblib(StatelessEngine):
    """Units by a `joblib.Parallel`, in whatever order it returns them."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Run all tasks.

        Raises
        ------
        RunError
            If results are missing: after a call that failed, joblib may hand its late results to
            the next call of the same `Parallel`, in place of those asked for.
        """
        delayed = sys.modules["joblib"].delayed  # it is loaded, as the pool is of it
        payloads, call, missing = _payloads(tasks), secrets.token_hex(8), len(tasks)
        done = self._pool(
            delayed(_numbered)((call, place), payloads[task.job], task.number)
            for place, task in enumerate(tasks)
        )
        for (of_call, place), result in done:
            if of_call == call:
                missing -= 1
                yield tasks[place], result
        if missing:
            raise RunError(
                f"the joblib.Parallel returned {len(tasks) - missing} of {len(tasks)} results, as "
                "it may after a call that failed; give a new one"
            )


def _payloads(tasks: Sequence[Task]) -> dict[Job, Payload]:
    """Pickle unit and state of every job, once, with their hash."""
    packed = {}
    for job in dict.fromkeys(task.job for task in tasks):
        content = pickle.dumps((job.unit, job.state), 5)
        packed[job] = hashlib.sha256(content).hexdigest(), content
    return packed


def _in_thread(task: Task) -> Any:
    with one_blas_thread():
        return task.done_here()


def _in_process(payload: Payload, number: int) -> Any:
    """Run a unit in a process of a pool, which keeps the states of the last jobs."""
    name, content = payload
    if name not in _STATES:
        _STATES[name] = pickle.loads(content)
        while len(_STATES) > MAX_STATES:
            _STATES.popitem(last=False)
    unit, state = _STATES[name]
    with one_blas_thread():
        return unit(state, number)


def _numbered(place: tuple[str, int], payload: Payload, number: int) -> tuple[Any, Any]:
    return place, _in_process(payload, number)


_STATES: OrderedDict[str, Any] = OrderedDict()
