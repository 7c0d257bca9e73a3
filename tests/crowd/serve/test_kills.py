"""kill -9 of the server and of clients at 200 random moments: what was acknowledged stays."""

import multiprocessing
import os
import random
import signal
import socket
import time

import pytest

from benchmarks.speed.campaign import label_of, make
from benchmarks.speed.serve import check
from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.access import Links
from crowd_tvcs.serve.client import DeskClient, DeskError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends signals")
KILLS = 200
CLIENTS = 4
PATIENCE = 60.0
"""Seconds within which answers must be acknowledged again."""


def _serve(store, port, password):
    """The server, in a process that was forked where all is imported: it starts in no time."""
    from crowd_tvcs.serve.limits import TokenBucket
    from crowd_tvcs.serve.start import Place, serve

    TokenBucket.wait = lambda self, name, now=None: 0.0  # haste is not what is looked at
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    serve(store, Place(port=port), password_file=password)


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
            client.submit(task, label_of(name, task))
            unsure.pop(name, None)
        except DeskError as error:
            if error.status not in (409, 503):  # a lease that lapsed, or the store is away
                raise
        except OSError:
            time.sleep(0.01)
        else:
            os.write(acknowledged, f"{name} {task}\n".encode())


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

    def kill(self, name, number=signal.SIGKILL):
        process, work, given = self.running.pop(name)
        assert process.is_alive(), f"{name} ended by itself"
        os.kill(process.pid, number)
        process.join()
        process.close()
        return work, given


def await_more(logs, number):
    """Wait until so many more answers are acknowledged."""

    def written():
        return sum(log.read_bytes().count(b"\n") for log in logs if log.exists())

    wanted, until = written() + number, time.monotonic() + PATIENCE
    while written() < wanted:
        assert time.monotonic() < until, "no answer is taken any more"
        time.sleep(0.005)


def kill_and_start_again(crew, logs):
    """Kill the server or a client, whenever some answers came; how often which."""
    rng, killed = random.Random(0), {"server": 0, "client": 0}
    for number in range(KILLS):
        await_more(logs, rng.randint(1, 4))
        time.sleep(0.03 * rng.random())  # at any moment of a request
        name = "server" if rng.random() < 0.5 else rng.randrange(CLIENTS)
        work, given = crew.kill(name)
        if name != "server":
            given = (*given[:-1], number + CLIENTS)  # it does not repeat itself
        crew.start(name, work, *given)
        killed["server" if name == "server" else "client"] += 1
    return killed


@pytest.mark.slow
def test_200_kills_lose_no_acknowledged_answer(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store, password = tmp_path / "c.db", tmp_path / "password"
    password.write_text("a password of the operator\n")
    with make(store, workers=60, tasks=3000, lease=1.0) as campaign:
        tokens = sorted(Links(campaign.store).make(None, now=time.time()).items())
    logs = [tmp_path / f"log{k}" for k in range(CLIENTS)]
    with Crew() as crew:
        crew.start("server", _serve, str(store), port, password)
        for k, log in enumerate(logs):
            crew.start(k, _label, port, tokens[k::CLIENTS], str(log), k)
        killed = kill_and_start_again(crew, logs)
        for k in range(CLIENTS):
            crew.kill(k)
        crew.kill("server", signal.SIGINT)
    lines = [line.split() for log in logs for line in log.read_text().splitlines()]
    acknowledged = [(name, task) for name, task in lines]
    with Campaign(store) as campaign:
        found = check(campaign.state(), acknowledged)
    print(len(acknowledged), killed)
    assert found == {"lost": 0, "double": 0, "over a cap": 0, "wrong counters": 0}
    assert min(killed.values()) > 60
    assert len(acknowledged) > KILLS
