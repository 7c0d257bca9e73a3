"""Many processes at one campaign, some killed: nothing lost, nothing double, no cap broken."""

import multiprocessing
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.speed import campaign as speed
from crowd_tvcs.campaign import Campaign, StoreError
from tests.proofs.counts import note

CLEAN = {"lost": 0, "double": 0, "over a cap": 0, "wrong counters": 0, "wrong posteriors": 0}


def together(place, folder, *, workers=60, tasks=300, lease=0.3, **options):
    speed.make(place, workers=workers, tasks=tasks, lease=lease).close()
    speed.run(place, folder, workers=workers, **options)
    found = speed.check(place, folder)
    kind = "PostgreSQL" if "://" in str(place) else "SQLite"
    note("campaigns", f"{kind}, {options['processes']} processes", kills=options["kills"], **found)
    assert found.pop("answers") > 0
    assert found == CLEAN


def test_four_processes_and_a_kill_lose_nothing(tmp_path):
    together(tmp_path / "c.db", tmp_path, processes=4, seconds=1.5, kills=1)


RUN = """
import sys
from pathlib import Path
from benchmarks.speed import campaign as speed
place, folder = map(Path, sys.argv[1:])
speed.run(place, folder, processes=2, seconds=600.0, kills=0, workers=60)
"""


def test_processes_end_with_the_one_that_began_them(tmp_path):
    place = tmp_path / "c.db"
    speed.make(place, workers=60, tasks=300, lease=0.3).close()
    begun = subprocess.Popen([sys.executable, "-c", RUN, str(place), str(tmp_path)])
    try:
        wait_until(lambda: speed.count_lines(tmp_path) > 0)
    finally:
        begun.kill()
        begun.wait()
    wait_until(lambda: len(list(tmp_path.glob("journal*.spent"))) == 2)


def test_processes_end_after_an_error(tmp_path, monkeypatch):
    place, team = tmp_path / "c.db", []

    def fail(processes, *_):
        team.extend(processes)
        raise KeyError

    monkeypatch.setattr(speed, "replace", fail)
    speed.make(place, workers=60, tasks=300, lease=0.3).close()
    with pytest.raises(KeyError):
        speed.run(place, tmp_path, processes=2, seconds=0.2, kills=1, workers=60)
    for process in team:
        process.join(60.0)
    assert [process.exitcode for process in team] == [0, 0]


def test_a_process_that_ended_before_it_was_killed_is_named():
    ended = multiprocessing.get_context("spawn").Process(target=print)
    ended.start()
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # its id is not given away yet
    with pytest.raises(AssertionError, match="it ended with 0 before"):
        speed.replace([ended], 0, lambda: None)


def wait_until(holds, seconds=120.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def test_all_is_used_up_and_no_more(tmp_path):
    """So few labels that the processes fight for the last ones."""
    place = tmp_path / "c.db"
    speed.make(place, workers=60, tasks=30, budget=40, lease=0.3).close()
    speed.run(place, tmp_path, processes=2, seconds=1.0, kills=0, workers=60)
    found = speed.check(place, tmp_path)
    assert found.pop("answers") <= 40
    assert found == CLEAN


# More than is labelled meanwhile: whoever begins when all is used up notes nothing.
PLENTY = {"workers": 900, "tasks": 20_000, "lease": 3.0}


@pytest.mark.slow
def test_sixteen_processes_and_kills_lose_nothing(tmp_path):
    together(tmp_path / "c.db", tmp_path, processes=16, seconds=30.0, kills=20, **PLENTY)


@pytest.mark.parametrize("is_made", [True, False])
def test_a_connection_lost_during_a_commit_is_reported_as_such(database, tmp_path, is_made):
    """Between us and the server the line is cut, once before the server hears it and once after."""
    names = {"ann": 0.9, "bob": 0.8}
    Campaign.create(database, workers=names, tasks=["t1", "t2"], qualities=names).close()
    word = b"UPDATE pair SET state=$1::INTEGER, expires=$2, label="  # in one message with COMMIT
    folder = database.partition("host=")[2]
    with (
        cut_at(word, Path(folder), tmp_path, is_made) as line,
        Campaign(database.replace(folder, str(tmp_path))) as campaign,
    ):
        task = campaign.next("ann").task
        line["cut"] = True
        with pytest.raises(StoreError, match="so that it may have been made or not: look at"):
            campaign.submit("ann", task, "1")
    with Campaign(database) as campaign:
        assert campaign.state().settings.answers == is_made
        again = campaign.submit("ann", task, "1").reason
        assert again == ("known already" if is_made else "accepted")


@contextmanager
def cut_at(word, server, folder, is_made):
    """A socket in `folder` that passes on to PostgreSQL, until it is to be cut at a word."""
    line = {"cut": False}
    here = socket.socket(socket.AF_UNIX)
    here.bind(str(folder / ".s.PGSQL.5432"))
    here.listen()

    def serve():
        while True:
            try:
                client, _ = here.accept()
            except OSError:
                return
            there = socket.socket(socket.AF_UNIX)
            there.connect(str(server / ".s.PGSQL.5432"))
            pass_on(client, there)

    def pass_on(client, there):
        with client, there:
            while True:
                for side in select.select([client, there], [], [])[0]:
                    data = side.recv(65536)
                    is_last = line["cut"] and side is client and word in data
                    if not is_last or is_made:
                        (there if side is client else client).sendall(data)
                    if is_last and is_made:
                        there.recv(65536)  # the server has done it
                    if is_last or not data:
                        return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield line
    here.shutdown(socket.SHUT_RDWR)
    here.close()
    thread.join(timeout=10)


def test_processes_on_postgresql_lose_nothing(database, tmp_path):
    together(database, tmp_path, processes=2, seconds=1.5, kills=1)


@pytest.mark.slow
def test_sixteen_processes_on_postgresql_lose_nothing(database, tmp_path):
    together(database, tmp_path, processes=16, seconds=30.0, kills=20, **PLENTY)


@pytest.mark.slow
def test_kills_of_clients_and_of_backends_lose_nothing(database, tmp_path):
    """A backend that is killed takes all others with it, and the server begins anew."""
    speed.make(database, workers=900, tasks=20_000, lease=1.0).close()
    over, killed, rng = threading.Event(), [], random.Random(0)

    def kill_backends():
        while not over.wait(3.0):
            found = [
                pid for pid, name, *_ in speed.server_processes(database) if " campaign" in name
            ]
            if found:
                os.kill(rng.choice(found), signal.SIGKILL)
                killed.append(1)

    killer = threading.Thread(target=kill_backends)
    killer.start()
    options = {"processes": 6, "seconds": 60.0, "kills": 20, "is_stubborn": True}
    try:
        speed.run(database, tmp_path, workers=900, **options)
    finally:
        over.set()
        killer.join()
    assert len(killed) > 5
    found = speed.check(database, tmp_path)
    assert found.pop("answers") > 100
    assert found == CLEAN


QUALITIES = {f"w{i}": 0.7 + 0.02 * i for i in range(6)}


@pytest.fixture
def twenty(tmp_path):
    """A store with twenty tasks and a budget of twenty labels."""
    place = tmp_path / "c.db"
    tasks = [f"t{j:02d}" for j in range(20)]
    Campaign.create(place, workers=QUALITIES, tasks=tasks, qualities=QUALITIES, budget=20).close()
    return place


def test_two_plans_at_once_share_one_budget(twenty):
    ready = threading.Barrier(2)

    def plan_all(_):
        with Campaign(twenty) as campaign:
            ready.wait(timeout=60)
            return len(campaign.plan(method="fast").pairs)

    with ThreadPoolExecutor(2) as both:
        found = list(both.map(plan_all, range(2)))
    with Campaign(twenty) as campaign:
        state = campaign.state()
    assert sum(found) == state.settings.slots == int((state.slots > 0).sum()) <= 20


def plan_and_die(place, ready):
    with Campaign(place) as campaign:
        ready.set()
        campaign.plan(method="fast")


@pytest.mark.parametrize(
    "wait", [0.3, *(pytest.param(w, marks=pytest.mark.slow) for w in (0.0, 0.1, 0.5, 1.0))]
)
def test_a_plan_that_is_killed_issues_nothing_or_all(twenty, wait):
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Event()
    process = spawn.Process(target=plan_and_die, args=(twenty, ready))
    process.start()
    assert ready.wait(timeout=60)
    time.sleep(wait)
    process.kill()
    process.join()
    with Campaign(twenty) as campaign:
        state = campaign.state()
    taken = int((state.slots > 0).sum())
    assert state.settings.slots == taken == sum(row.pairs for row in state.rounds)
