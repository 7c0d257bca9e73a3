"""Units on an existing Dask cluster.

The state of a job reaches the workers as a plugin, including workers that start later. Scattered
data would be lost with the worker that holds it. No more units are sent than workers have threads,
so every sent unit runs at once: no waiting unit is blamed for the death of a worker, and a unit
that hangs is recognised, its worker restarted and the unit moved.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import queue
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from distributed import Client, Future, Security
from distributed.core import connect
from distributed.scheduler import KilledWorker

from tvcs_core.engines.address import PEM, Address
from tvcs_core.engines.job import Job, StatelessEngine, Task
from tvcs_core.engines.on_worker import OtherSources, SharedState, do_unit, sources_digest
from tvcs_core.engines.workers import refuse_other_workers
from tvcs_core.files.display import plural
from tvcs_core.files.errors import RunError

# Limits of time: chosen, not measured.
CONNECT_SECONDS = 15.0  # wait for an answer, and for the first worker
NO_WORKERS_SECONDS = 600.0  # wait for a worker after all are lost
FETCH_SECONDS = 30.0  # wait for a result to arrive; doubled at each new attempt
POLL_SECONDS = 1.0  # between two looks at the state of the workers
HANG_FACTOR = 20.0  # a unit hangs if it takes this many times as long as the longest one ...
MIN_HANG_SECONDS = 600.0  # ... and at least so long
MAX_MOVES = 2  # the run ends when a unit has hung so often


class Cluster:
    """The workers of a scheduler; use it as a context.

    Parameters
    ----------
    address
        As returned by `read_address`.
    deadline
        Seconds after which a unit hangs; by default `HANG_FACTOR` times the longest unit so far.
    """

    def __init__(self, address: Address, *, deadline: float | None = None) -> None:
        self._address = address
        self._deadline = deadline
        self._client: Client | None = None
        self._levels: dict[str, int] = {}

    def __enter__(self) -> Cluster:
        # Our errors report the state of the cluster; its log lines would mix with our output.
        known = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
        for name in ("tornado", "asyncio", *known):
            self._levels[name] = logging.getLogger(name).level
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            self._client = _connected(self._address)
            refuse_other_workers(self._client, CONNECT_SECONDS)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect from the cluster, which keeps running."""
        if self._client is not None:
            self._client.close(timeout=2)
            self._client = None
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)
        self._levels.clear()

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Run all tasks; when the run is abandoned, units in work are left to end."""
        assert self._client is not None, "use the cluster as a context"
        yield from _run_on(self._client, self._address, self._deadline, tasks)


class HeldCluster(StatelessEngine):
    """The workers of a client, or of a cluster, that the caller holds and closes."""

    def __init__(self, given: Any) -> None:
        self._given, self._is_checked = given, False
        if getattr(given, "asynchronous", False):
            raise ValueError("a Dask client must not be asynchronous; give asynchronous=False")
        status = getattr(given, "status", None)  # a name, or an enumeration
        if getattr(status, "name", status) in ("closing", "closed"):
            raise ValueError(f"the Dask {type(given).__name__} is closed; give one that is open")

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Run all tasks; when the run is abandoned, units in work are left to end."""
        is_client = isinstance(self._given, Client)
        with nullcontext(self._given) if is_client else Client(self._given) as client:
            if not self._is_checked:
                refuse_other_workers(client, CONNECT_SECONDS)
                self._is_checked = True
            yield from _run_on(client, Address(client.scheduler.address), None, tasks)


def _run_on(
    client: Client, address: Address, deadline: float | None, tasks: Sequence[Task]
) -> Generator[tuple[Task, Any], None, None]:
    """Run all tasks on the workers of a client."""
    if not tasks:
        return
    run = _Run(client, address, deadline)
    try:
        with _one_sentence(address):
            run.register(tasks)
        while not run.is_done:
            with _one_sentence(address):
                done = run.step()
            if done is not None:
                yield done
    finally:
        run.end()


@dataclass(eq=False)
class _Sent:
    """A unit that was sent to the scheduler."""

    task: Task
    future: Future
    since: dict[str, float] = field(default_factory=dict)  # worker: time of the first sighting
    fetch: float = field(default_factory=lambda: FETCH_SECONDS)  # seconds for the result to arrive


class _Run:
    """The state of one run: units to send, units sent, results received."""

    def __init__(self, client: Client, address: Address, deadline: float | None) -> None:
        self._client, self._address, self._deadline = client, address, deadline
        self._name = f"tvcs-{uuid.uuid4().hex}"
        self._todo: Iterator[Task] = iter(())
        self._left = 0
        self._plugins: dict[Job, str] = {}
        self._sent: dict[Any, _Sent] = {}
        self._found: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._hung: Counter[Task] = Counter()
        self._longest = 0.0
        self._looked = self._alive = time.monotonic()
        self._threads = sum(client.nthreads().values())

    @property
    def is_done(self) -> bool:
        return not self._left

    def register(self, tasks: Sequence[Task]) -> None:
        """Send the state of every job to all workers."""
        self._left, self._todo = len(tasks), iter(tasks)
        for number, job in enumerate(dict.fromkeys(task.job for task in tasks)):
            payload = pickle.dumps((job.unit, job.state), 5)
            name = f"{self._name}-{number}"
            self._client.register_plugin(SharedState(payload), name=name)
            self._plugins[job] = name

    def step(self) -> tuple[Task, Any] | None:
        """Send the units that can start now, and wait a moment for a result."""
        self._fill()
        try:
            future = self._found.get(timeout=POLL_SECONDS)
        except queue.Empty:
            future = None
        if time.monotonic() - self._looked >= POLL_SECONDS:
            self._look()
        if future is None or future.key not in self._sent:
            return None
        sent = self._sent.pop(future.key)
        self._fill()  # before fetching the result, which may take a while
        try:
            result = self._result_of(sent)
        except FutureTimeoutError:
            # Its worker was lost and the scheduler repeats the unit; or the network is slow.
            sent.fetch *= 2
            self._client.nthreads()
            self._wait_for(sent)
            return None
        self._left -= 1
        return sent.task, result

    def _fill(self) -> None:
        for task in islice(self._todo, max(0, self._threads - len(self._sent))):
            self._send(task)

    def _wait_for(self, sent: _Sent) -> None:
        self._sent[sent.future.key] = sent
        sent.future.add_done_callback(self._found.put)

    def end(self) -> None:
        """Release all units and the states of the jobs."""
        for sent in self._sent.values():
            sent.future.release()
        self._sent.clear()
        for name in self._plugins.values():
            try:
                self._client.unregister_worker_plugin(name)
            except Exception:  # the scheduler is gone, and its plugins with it
                break

    def _send(self, task: Task) -> None:
        future = self._client.submit(
            do_unit,
            self._plugins[task.job],
            task.number,
            sources_digest(),
            key=f"{self._plugins[task.job]}-{task.number}",
            pure=False,
        )
        self._wait_for(_Sent(task, future))

    def _result_of(self, sent: _Sent) -> Any:
        task, future = sent.task, sent.future
        try:
            result = future.result(timeout=sent.fetch)
        except OtherSources:
            raise RunError(
                "a worker that came late runs other sources of tvcs; install the same there, and "
                "run again with --resume"
            ) from None
        except ModuleNotFoundError as error:
            raise RunError(f"a worker has no {error.name}; install the same tvcs there") from None
        except KilledWorker as error:
            raise RunError(_killed(task, error)) from None
        if sent.since:
            begun = min(sent.since.values())
            self._longest = max(self._longest, time.monotonic() - begun)
        return result

    def _patience(self) -> float:
        """Return the number of seconds after which a unit hangs."""
        if self._deadline is not None:
            return self._deadline
        return max(MIN_HANG_SECONDS, HANG_FACTOR * self._longest)

    def _look(self) -> None:
        """Record which worker has had which unit since when, and move units that hang."""
        self._threads = sum(self._client.nthreads().values())
        now = self._looked = time.monotonic()
        if self._threads:
            self._alive = now
        elif now - self._alive > NO_WORKERS_SECONDS:
            raise RunError(
                f"the scheduler at {self._address.url} has had no worker for "
                f"{NO_WORKERS_SECONDS / 60:.0f} minutes; run again with --resume"
            )
        for worker, keys in self._client.processing().items():
            ours = [self._sent[key] for key in keys if key in self._sent]
            for sent in ours:
                sent.since = {worker: sent.since.get(worker, now)}
            if ours:
                oldest = min(ours, key=lambda sent: sent.since[worker])
                if now - oldest.since[worker] > self._patience():
                    self._move(oldest.task, worker, ours)

    def _move(self, task: Task, worker: str, there: Sequence[_Sent]) -> None:
        """Restart a worker on which a unit hangs; the scheduler repeats its units elsewhere."""
        self._hung[task] += 1
        limit = f"{task} did not end within {self._patience():.0f} s on"
        if self._hung[task] < MAX_MOVES:
            warnings.warn(
                f"{limit} {worker}: that worker is restarted and the unit moved", stacklevel=2
            )
        for sent in there:
            sent.since = {}
            if self._hung[task] == MAX_MOVES:  # otherwise the scheduler repeats it
                sent.future.release()
        self._client.restart_workers([worker], timeout=60, raise_for_error=False)
        if self._hung[task] == MAX_MOVES:
            raise RunError(f"{limit} {MAX_MOVES} workers, the last of them {worker}")


@contextmanager
def _one_sentence(address: Address) -> Iterator[None]:
    """Turn the errors that a lost scheduler causes into one sentence."""
    try:
        yield
    except (CancelledError, FutureTimeoutError, OSError) as error:
        raise RunError(
            f"the scheduler at {address.url} is gone; run again with --resume"
        ) from error


def _killed(task: Task, error: KilledWorker) -> str:
    last = error.last_worker
    has = last.memory_limit
    needs = f"needs about {task.job.memory / 1e9:.1f} GB of memory" if task.job.memory else ""
    limit = f"worker {last.address} has {has / 1e9:.1f} GB"
    if not has:
        limit = f"last worker was {last.address}"
    return (
        f"{task} ended {plural(error.allowed_failures + 1, 'worker')} one after the other: it "
        f"{needs or 'may need more memory'}, the {limit}"
    )


async def _call(url: str, security: Security | None) -> None:
    """Connect once and close: a client waits for ever if a connection is accepted but silent."""
    arguments = {} if security is None else security.get_connection_args("client")
    comm = await connect(url, timeout=CONNECT_SECONDS, **arguments)
    await comm.close()


def _connected(address: Address) -> Client:
    security = None
    if address.tls is not None:
        ca, cert, key = (str(address.tls / name) for name in PEM)
        security = Security(
            tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key, require_encryption=True
        )
    try:
        if not address.url.startswith("inproc:"):
            asyncio.run(asyncio.wait_for(_call(address.url, security), CONNECT_SECONDS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `refuse_other_workers` compares versions by name
            client = Client(
                address.url, timeout=CONNECT_SECONDS, security=security, set_as_default=False,
                name="tvcs",
            )  # fmt: skip
    except (OSError, FutureTimeoutError) as error:
        old = "; is the file old?" if address.file is not None else ""
        raise ValueError(
            f"no scheduler answers at {address.describe()} within {CONNECT_SECONDS:.0f} s{old}"
        ) from error
    if address.identity and client.scheduler_info().get("id") != address.identity:
        client.close(timeout=2)
        raise ValueError(
            f"{address.file}: is old: at {address.url} another scheduler answers than the one "
            "that wrote it"
        )
    return client
