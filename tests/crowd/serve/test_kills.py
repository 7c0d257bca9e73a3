"""kill -9 of desk, clients and PostgreSQL, 200 times: what was acknowledged stays."""

import multiprocessing
import os
import random
import signal
import time

import pytest

from benchmarks.speed import campaign as speed
from crowd_tvcs.campaign import Campaign, StoreError
from crowd_tvcs.campaign.desk.access import Links
from crowd_tvcs.serve.client import DeskClient, DeskError
from tests.crowd.campaign.test_processes import CLEAN
from tests.makers.ports import free_port
from tests.proofs.counts import note

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends signals")
KILLS = 200
CLIENTS = 4
PATIENCE = 60.0
"""Seconds within which answers must be acknowledged again."""


def _serve(store, port, password):
    """The server, in a process that was forked where all is imported: it starts in no time."""
    from crowd_tvcs.serve.limits import TokenBucket
    from crowd_tvcs.serve.start import ListenAddress, serve

    TokenBucket.wait = lambda self, name, now=None: 0.0  # haste is not what is looked at
    os.dup2(os.open(password.with_name("said"), os.O_WRONLY | os.O_APPEND | os.O_CREAT), 2)
    while True:
        try:
            serve(store, ListenAddress(port=port), operator_password_file=password)
        except StoreError:  # the database begins anew; what keeps servers up starts it once more
            time.sleep(0.05)


def _label(port, tokens, log, seed):
    """Some workers, one after the other; a line in the log for every answer that was acknowledged.

    An answer of which nobody knows what became of it is now and then handed in again.
    """
    rng, acknowledged = random.Random(seed), os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    clients = [(name, DeskClient(f"http://127.0.0.1:{port}", token, 5.0)) for name, token in tokens]
    unsure = {}
    while True:
        name, client = rng.choice(clients)
        try:
            task = unsure.pop(name, None) or client.next()["task"]
            if task is None:
                time.sleep(0.01)
                continue
            if rng.random() < 0.5:
                unsure[name] = task
            label = speed.label_of(name, task)
            reason = client.submit(task, label)["reason"]
            unsure.pop(name, None)
        except DeskError as error:
            if error.status not in (409, 503):  # a lease that lapsed, or the store is away
                raise
            time.sleep(0.01)
        except OSError:
            time.sleep(0.01)
        else:
            os.write(acknowledged, f"{name} {task} {label} {reason}\n".encode())


class Crew:
    """Processes that are killed and started again."""

    def __init__(self):
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["crowd_tvcs.serve.start", "pytest", __name__])
        self.running = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process, _, _ in self.running.values():
            process.kill()
            process.join()
            process.close()

    def start(self, name, work, *given):
        process = self.context.Process(target=work, args=given)
        process.start()
        self.running[name] = (process, work, given)

    def ended(self):
        """Who ended by themselves."""
        return [name for name, (process, _, _) in self.running.items() if not process.is_alive()]

    def kill(self, name, number=signal.SIGKILL):
        process, work, given = self.running.pop(name)
        assert process.is_alive(), f"{name} ended by itself"
        os.kill(process.pid, number)
        process.join()
        process.close()
        return work, given


def await_more(crew, logs, number):
    """Wait until so many more answers are acknowledged."""

    def written():
        return sum(log.read_bytes().count(b"\n") for log in logs if log.exists())

    wanted, until = written() + number, time.monotonic() + PATIENCE
    while written() < wanted:
        assert time.monotonic() < until, f"no answer is taken any more; ended: {crew.ended()}"
        time.sleep(0.005)


def kill_a_backend(database, rng):
    """End one of PostgreSQL's processes that work for us; it ends all others and begins anew."""
    while True:
        found = [pid for pid, name, *_ in speed.server_processes(database) if " campaign" in name]
        if found:
            os.kill(rng.choice(found), signal.SIGKILL)
            return
        time.sleep(0.005)


def kill_and_start_again(crew, logs, place):
    """Kill one of all kinds of processes, whenever some answers came; how often which."""
    kinds = ["server", "client"] if place.endswith(".db") else ["server", "client", "backend"]
    rng, killed = random.Random(0), dict.fromkeys(kinds, 0)
    for number in range(KILLS):
        await_more(crew, logs, rng.randint(1, 4))
        time.sleep(0.03 * rng.random())  # at any moment of a request
        kind = rng.choice(kinds)
        killed[kind] += 1
        if kind == "backend":
            kill_a_backend(place, rng)
            continue
        name = "server" if kind == "server" else rng.randrange(CLIENTS)
        work, given = crew.kill(name)
        if kind == "client":
            given = (*given[:-1], number + CLIENTS)  # it does not repeat itself
        crew.start(name, work, *given)
    return killed


def lost_and_double(place, logs):
    """Answers that were acknowledged, also as known already, and are not there; and twice."""
    with Campaign(place) as campaign:
        state = campaign.state()
    names = state.answers
    there = {(names.workers[i], names.tasks[j], state.classes[k]) for i, j, k in state.given}
    lines = [tuple(line.split()[:3]) for log in logs for line in log.read_text().splitlines()]
    return len(lines), len(set(lines) - there), len(lines) - len(set(lines))


def await_store(place):
    """Wait until the store can be opened: the last kill may have been one of a backend."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return Campaign(place).close()
        except StoreError:
            assert time.monotonic() < until, "the database does not come back"
            time.sleep(0.05)


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def place(request, tmp_path):
    """A store to be: its address."""
    is_file = request.param == "SQLite"
    return str(tmp_path / "c.db") if is_file else request.getfixturevalue("database")


@pytest.mark.slow
def test_200_kills_lose_no_acknowledged_answer(place, tmp_path):
    port = free_port()
    password = tmp_path / "password"
    password.write_text("a password of the operator\n")
    with speed.make(place, workers=60, tasks=3000, lease=1.0) as campaign:
        tokens = sorted(Links(campaign.store).make(None, now=time.time()).items())
    logs = [tmp_path / f"journal{k}" for k in range(CLIENTS)]
    with Crew() as crew:
        crew.start("server", _serve, place, port, password)
        for k, log in enumerate(logs):
            crew.start(k, _label, port, tokens[k::CLIENTS], str(log), k)
        killed = kill_and_start_again(crew, logs, place)
        for k in range(CLIENTS):
            crew.kill(k)
        crew.kill("server", signal.SIGINT)
    await_store(place)
    number, lost, double = lost_and_double(place, logs)
    found = speed.check(place, tmp_path)
    kind = "SQLite" if place.endswith(".db") else "PostgreSQL"
    note("campaigns", f"{kind}, a desk", kills=sum(killed.values()), **found)
    print(number, killed)
    assert found.pop("answers") >= number - double
    assert (lost, double, found) == (0, 0, CLEAN)
    assert min(killed.values()) > KILLS / len(killed) / 1.5
    assert number > KILLS
