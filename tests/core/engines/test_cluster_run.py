"""What a run on a cluster decides, with a client that is a script and a clock that stands still."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import pytest
from distributed.scheduler import KilledWorker

from tests.core.engines import toys
from tvcs_core.engines import cluster, on_worker
from tvcs_core.engines.address import Address
from tvcs_core.engines.job import Task
from tvcs_core.files.errors import RunError

URL = "tcp://h:1"


class Future:
    """A result that is there, or an error."""

    def __init__(self, key):
        self.key, self.value, self.released = key, 0, False

    def result(self, timeout):
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value

    def add_done_callback(self, call):
        self.call = call

    def release(self):
        self.released = True


class Client:
    """A scheduler that gives the first waiting unit to a worker, and does nothing with it."""

    def __init__(self, threads):
        self.threads, self.at, self.restarted, self.plugins = threads, {}, [], {}

    def nthreads(self):
        return self.threads

    def register_plugin(self, plugin, name):
        self.plugins[name] = pickle.loads(plugin.payload)

    def unregister_worker_plugin(self, name):
        del self.plugins[name]

    def submit(self, unit, name, number, digest, *, key, pure):
        assert (unit, digest, pure) == (on_worker.do_unit, on_worker.sources_digest(), False)
        assert name in self.plugins
        return Future(key)

    def processing(self):
        return self.at

    def restart_workers(self, workers, timeout, raise_for_error):
        self.restarted += workers


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(at=1000.0)
    monkeypatch.setattr(cluster.time, "monotonic", lambda: now.at)
    return now


@pytest.fixture
def run(clock):
    def started(threads, size=5, deadline=None):
        client = Client(threads)
        made = cluster._Run(client, Address(URL), deadline)
        job = toys.job(size=size)
        made.register([Task(job, k) for k in range(size)])
        made._fill()
        return client, made

    return started


@pytest.mark.parametrize("threads", range(4))
def test_no_more_units_are_sent_than_there_are_threads(run, threads):
    client, made = run({"a": threads, "b": 1})
    assert [sent.task.number for sent in made._sent.values()] == list(range(threads + 1))
    sent = list(made._sent.values())
    made.end()
    assert all(one.future.released for one in sent)
    assert (client.plugins, made._sent) == ({}, {})


@pytest.mark.parametrize(
    ("deadline", "took", "patience"), [(None, 29, 600), (None, 31, 620), (7.0, 99, 7)]
)
def test_a_unit_hangs_after_twenty_times_the_longest_or_the_deadline(
    run, clock, deadline, took, patience
):
    client, made = run({"a": 1, "b": 1}, deadline=deadline)
    first, second = made._sent.values()
    client.at = {"a": [first.future.key, "another's"]}
    made._look()
    for seconds in (took, 3):  # the shorter one changes nothing
        clock.at = first.since["a"] + seconds
        assert made._result_of(first) == 0
    assert made._patience() == patience
    client.at = {"b": [second.future.key]}
    made._look()
    begun = clock.at
    clock.at = begun + patience
    made._look()
    assert (client.restarted, second.since) == ([], {"b": begun})
    clock.at += 0.5
    text = rf"unit 2 of 5 of sums did not end within {patience} s on b: that worker is restarted"
    with pytest.warns(UserWarning, match=text):
        made._look()
    assert (client.restarted, second.since, second.future.released) == (["b"], {}, False)
    # The clock begins anew on the worker that has it next; there it ends the run.
    client.at = {"a": [second.future.key]}
    clock.at += 2 * patience
    made._look()
    clock.at += patience + 0.5
    with pytest.raises(RunError, match="s on 2 workers, the last of them a"):
        made._look()
    assert (client.restarted, second.future.released) == (["b", "a"], True)


def test_the_unit_that_was_seen_first_is_the_one_that_hangs(run, clock):
    client, made = run({"a": 2}, deadline=10.0)
    first, second = made._sent.values()
    client.at = {"a": [second.future.key]}
    made._look()
    clock.at += 6
    client.at = {"a": [first.future.key, second.future.key]}
    made._look()
    clock.at += 6
    with pytest.warns(UserWarning, match="unit 2 of 5"):
        made._look()
    assert first.since == second.since == {}


def test_without_workers_a_run_waits_ten_minutes(run, clock):
    client, made = run({"a": 1})
    client.threads = {}
    clock.at += 600
    made._look()
    client.threads = {"a": 1}
    made._look()
    client.threads = {}
    clock.at += 600
    made._look()
    clock.at += 1
    with pytest.raises(RunError, match=rf"at {URL} has had no worker for 10 minutes; run again"):
        made._look()


WORKER = SimpleNamespace(memory_limit=2_000_000_000, address="tcp://w:2")


@pytest.mark.parametrize(
    ("error", "memory", "text"),
    [
        (on_worker.OtherSources(), 0, "a worker that came late runs other sources of tvcs"),
        (ModuleNotFoundError(name="scipy"), 0, "a worker has no scipy; install the same tvcs"),
        (
            KilledWorker("k", WORKER, 2), 0,
            "ended 3 workers one after the other: it may need more memory, the worker tcp://w:2 has"
            " 2.0 GB",
        ),
        (
            KilledWorker("k", SimpleNamespace(memory_limit=0, address="w"), 0), 3e9,
            "ended 1 worker one after the other: it needs about 3.0 GB of memory, the last"
            " worker was w",
        ),
    ],
)  # fmt: skip
def test_what_ends_a_unit_ends_the_run_in_one_sentence(run, error, memory, text):
    _, made = run({"a": 1})
    (sent,) = made._sent.values()
    sent.task = sent.task._replace(job=replace(sent.task.job, memory=memory))
    sent.future.value = error
    with pytest.raises(RunError) as found:
        made._result_of(sent)
    assert text in str(found.value)


def test_a_worker_of_other_sources_does_no_unit():
    with pytest.raises(on_worker.OtherSources):
        on_worker.do_unit("name", 0, "other")
