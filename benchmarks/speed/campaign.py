"""How many labels a second many processes claim and submit in one campaign, and what is lost.

    python -m benchmarks.speed.campaign                     16 processes, SQLite and PostgreSQL
    python -m benchmarks.speed.campaign --seconds 60 --kills 20
    python -m benchmarks.speed.campaign --processes 4 --kinds sqlite
    python -m benchmarks.speed.campaign --kinds postgresql
    python -m benchmarks.speed.campaign --together          answer and next task in one call

The kinds take turns, a campaign of its own each, so that what else the machine does hits all of
them.

Every process is a crowd of its own: it asks for a worker's next task and submits an answer, but for
one task in twenty, which it leaves. With `--together` an answer asks for the next task of its
worker too, as the desk does. Processes are killed (SIGKILL) at random moments and started again. In
the end the store is compared with what the processes noted after every answer that was accepted:
nothing lost, nothing double, no cap broken, all counters right.

PostgreSQL is made in a temporary folder, if its programs are installed, and thrown away.
"""

import argparse
import json
import math
import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from crowd_tvcs.campaign import Campaign, RejectedError, StoreError, Task, Worker
from crowd_tvcs.campaign.store.schema import ANSWERED

ABANDONED = 0.05
WARM = 5.0  # seconds before the speed counts
LEASE = 3.0  # seconds, so that abandoned tasks come back while it runs


def make(place, *, workers=200, tasks=2000, budget=None, lease=LEASE):
    """A campaign with all caps: of workers, of tasks, of labels and of money."""
    rng = np.random.default_rng(0)
    names = [f"w{i:03d}" for i in range(workers)]
    return Campaign.create(
        place,
        workers=[Worker(n, max_tasks=40 + i % 30, cost=0.05) for i, n in enumerate(names)],
        tasks=[Task(f"t{j:04d}", max_workers=2 + j % 5) for j in range(tasks)],
        qualities=dict(zip(names, rng.uniform(0.55, 0.95, workers).tolist(), strict=True)),
        budget=int(2.5 * tasks) if budget is None else budget,
        money=0.05 * (int(2.5 * tasks) if budget is None else budget),
        lease_seconds=lease,
    )


def label_of(worker, task):
    """The answer of a worker, always the same."""
    return str((int(worker[1:]) * 7 + int(task[1:])) % 2)


def work(place, journal, seed, workers, since, until, is_stubborn, is_together):
    """Claim and submit until the time is over; note every answer after it was accepted.

    `since` and `until` are shared: when the speed begins to count, and the end, 0 until all are
    ready. It is over too when the process that began it has ended. Who is stubborn tries again
    while the database is away, and takes it that it may have lost leases then.
    """
    rng, parent = random.Random(seed), multiprocessing.parent_process()
    insist = again_and_again if is_stubborn else (lambda call, *given: call(*given))
    with insist(Campaign, place) as campaign, open(journal, "a", buffering=1) as notes:
        while until.value == 0.0 and parent.is_alive():
            time.sleep(0.01)
        begun, done, claims, is_warm = used(), 0, [], False
        worker, offer = "", None
        while (moment := time.time()) < until.value and parent.is_alive():
            if not is_warm and moment >= since.value:
                begun, done, claims, is_warm = used(), 0, [], True
            asked = time.perf_counter()
            if offer is None:
                worker = f"w{rng.randrange(workers):03d}"
                offer = insist(campaign.next, worker)
                claims.append(time.perf_counter() - asked)
            task, offer = offer.task, None
            if task is None or rng.random() < ABANDONED:
                continue
            label, asked = label_of(worker, task), time.perf_counter()
            try:
                if is_together:
                    receipt, offer = insist(campaign.submit_and_next, worker, task, label)
                    claims.append(time.perf_counter() - asked)
                else:
                    receipt = insist(campaign.submit, worker, task, label)
            except RejectedError as refusal:
                is_lost = is_stubborn and "was not given" in str(refusal)
                if not (is_lost or "was given up" in str(refusal)):
                    raise
                continue
            notes.write(f"{worker} {task} {label} {receipt.reason}\n")
            done += 1
        spent = {"used": (used() - begun).tolist(), "labels": done, "claims": claims}
        Path(f"{journal}.spent").write_text(json.dumps(spent))


def used():
    """Seconds of the processor so far, those in the kernel, and how often this process slept."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return np.array([usage.ru_utime + usage.ru_stime, usage.ru_stime, usage.ru_nvcsw])


def again_and_again(call, *given):
    """Call until the store can do it."""
    while True:
        try:
            return call(*given)
        except StoreError:
            time.sleep(0.2)


def run(
    place,
    folder,
    *,
    processes,
    seconds,
    kills,
    workers=200,
    seed=0,
    warm=0.0,
    is_stubborn=False,
    is_together=False,
):
    """Let the processes work, kill some on the way; labels accepted per second.

    What they do in the first `warm` seconds does not count: connections prepare their statements.
    """
    context = context_of_quick_starts()
    rng = random.Random(seed)
    since, until = context.RawValue("d", 0.0), context.RawValue("d", 0.0)

    def start(number):
        journal = str(folder / f"journal{number}")
        given = (place, journal, number, workers, since, until, is_stubborn, is_together)
        process = context.Process(target=work, args=given, daemon=True)
        process.start()
        return process

    team = [start(i) for i in range(processes)]
    while len(journals(folder)) < processes:  # each opens its own when it is ready
        assert all(process.is_alive() for process in team), "a process ended before it began"
        time.sleep(0.02)
    since.value = time.time() + warm
    until.value = math.inf
    try:
        time.sleep(warm)
        before = count_lines(folder)
        for killed in range(kills):  # each while they work, however late a busy machine wakes us
            time.sleep(seconds / (kills + 1))
            victim, number = rng.randrange(processes), processes + killed + 1
            replace(team, victim, lambda number=number: start(number))
            if killed + 1 < kills:  # the next one may be just this, and must have worked
                wait_for_notes(folder / f"journal{number}", team[victim])
        time.sleep(max(0.0, since.value + seconds - time.time()))
        while count_lines(folder) == before and time.time() < since.value + seconds + 60.0:
            time.sleep(0.02)  # a machine may stand still for longer than a short turn
    finally:  # also of an error: they would go on for ever
        until.value = time.time()
    for process in team:
        process.join()
        assert process.exitcode == 0, f"a process ended with {process.exitcode}"
    return (count_lines(folder) - before) / (until.value - since.value)


def context_of_quick_starts():
    """How processes start: forked where all is imported, if the system can, so in no time."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.speed.campaign"])
    return context


def replace(team, victim, start):
    """Kill one of a team, which must have been at work, and start another one."""
    os.kill(team[victim].pid, signal.SIGKILL)
    team[victim].join()
    assert team[victim].exitcode == -signal.SIGKILL, f"it ended with {team[victim].exitcode} before"
    team[victim] = start()


def wait_for_notes(journal, process, patience=30.0):
    """Wait until a process has noted an answer, which it may not find any more."""
    end = time.time() + patience
    while time.time() < end and not (journal.exists() and journal.stat().st_size):
        assert process.is_alive(), f"a process ended with {process.exitcode} before it noted any"
        time.sleep(0.02)


def journals(folder):
    return [path for path in folder.glob("journal*") if not path.suffix]


def count_lines(folder):
    return sum(path.read_text().count("\n") for path in journals(folder))


def spent(folder):
    """What processes that were not killed noted: what they used, labels, seconds of claims."""
    found = [json.loads(path.read_text()) for path in folder.glob("journal*.spent")]
    claims = [seconds for one in found for seconds in one["claims"]]
    return sum(np.array(one["used"]) for one in found), sum(o["labels"] for o in found), claims


def check(place, folder):
    """Compare the store with the journals and the caps; what is wrong, as counts."""
    with Campaign(place) as campaign:
        state = campaign.state()
    settings = state.settings
    workers, tasks = state.quality.workers, state.quality.tasks
    stored = {(workers[i], tasks[j]): state.classes[k] for i, j, k in state.given}
    noted = [
        tuple(line.split()[:3])
        for journal in journals(folder)
        for line in journal.read_text().splitlines()
        if line.count(" ") >= 3 and "known" not in line
    ]
    taken = state.slots > 0
    by_worker, by_task = taken.sum(axis=1), taken.sum(axis=0)
    times = Counter((w, t) for w, t, _ in noted)
    counters = (
        [w.slots for w in state.workers] == by_worker.tolist()
        and [t.slots for t in state.tasks] == by_task.tolist()
        and [w.answers for w in state.workers] == state.answered.sum(axis=1).tolist()
        and settings.slots == int(taken.sum())
        and settings.answers == int((state.slots == ANSWERED).sum()) == len(stored)
        and settings.committed == sum(w.cost * w.slots for w in state.workers)
    )
    sure = np.array([t.confidence for t in state.tasks])
    return {
        "answers": len(stored),
        "lost": sum(stored.get((w, t)) != k for w, t, k in noted),
        "double": sum(n > 1 for n in times.values()) + len(state.given) - len(stored),
        "over a cap": sum(w.slots > w.max_tasks for w in state.workers)
        + sum(t.slots > t.max_workers for t in state.tasks)
        + (settings.slots > settings.budget)
        + (settings.committed > settings.money),
        "wrong counters": int(not counters),
        "wrong posteriors": int((np.abs(sure - state.posterior.max(axis=1)) > 1e-9).sum()),
    }


@contextmanager
def postgresql(more=""):
    """A server of one's own in a temporary folder; the URL, or None where it is not installed.

    `more` are further options of the server.
    """
    programs = postgresql_programs()
    if programs is None:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="tvcs-pg-", dir="/tmp"))
    as_user = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]
    data = folder / "data"
    control = [*as_user, str(programs / "pg_ctl"), "-D", str(data), "-w"]
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    make_data = [str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", "postgres"]
    subprocess.run([*as_user, *make_data], cwd="/", **quiet)
    options = f"-k {folder} -c listen_addresses= -c max_connections=60 {more}"
    log = str(folder / "log")
    subprocess.run([*control, "-l", log, "-o", options, "start"], cwd="/", **quiet)
    try:
        yield f"postgresql+psycopg://postgres@/postgres?host={folder}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], cwd="/", **quiet)
        shutil.rmtree(folder, ignore_errors=True)


def postgresql_programs():
    """The folder with initdb and pg_ctl, or None; root needs a user postgres to run them as."""
    if os.geteuid() == 0:
        import pwd

        if "postgres" not in {user.pw_name for user in pwd.getpwall()}:
            return None
        if shutil.which("runuser") is None:
            return None
    found = shutil.which("postgres")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((f for f in folders if (f / "initdb").exists() and (f / "pg_ctl").exists()), None)


KINDS = ("sqlite", "postgresql")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each turn")
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--kills", type=int, default=0, help="in each turn")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--together", action="store_true", help="answer and ask in one call")
    parser.add_argument("--quick", action="store_true", help="4 processes, 5 seconds, one kill")
    given = parser.parse_args()
    if given.quick:
        given.processes, given.seconds, given.turns, given.kills = 4, 5.0, 1, 1
    print(f"{given.processes} processes, {os.cpu_count()} cores, {given.kills} kills a turn")
    rates = {kind: [] for kind in given.kinds}
    with postgresql() as server:
        if server is None:
            print("PostgreSQL is not installed")
            rates = {kind: [] for kind in given.kinds if kind == "sqlite"}
        for turn in range(given.turns):
            for kind in rates:
                with tempfile.TemporaryDirectory() as folder:
                    place = place_of(kind, Path(folder), server, f"turn{turn}", given.seconds)
                    rates[kind].append(report(kind, place, Path(folder), server, given))
    for kind, found in rates.items():
        ratios = [a / b for a, b in zip(found, rates[next(iter(rates))], strict=True)]
        print(
            f"{kind}: median {np.median(found):.0f} labels/s; times {next(iter(rates))}: "
            f"{', '.join(f'{ratio:.2f}' for ratio in ratios)}"
        )


def people(seconds):
    """Workers for so long a turn, so that none of them is idle in the end."""
    return round(900 * max(1.0, seconds / 10.0))


def place_of(kind, folder, server, name, seconds):
    """A new campaign, with work for so many seconds; its place."""
    tasks = 11 * people(seconds)
    place = str(folder / "campaign.db")
    if kind != "sqlite":
        place = new_database(server, f"{kind}_{name}")
    make(place, tasks=tasks, workers=people(seconds), budget=5 * tasks).close()
    return place


def new_database(server, name, template="template1"):
    """A new database on the server, empty or a copy of another; its URL."""
    with psycopg_of(server) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return server.replace("/postgres?", f"/{name}?")


def psycopg_of(place):
    import psycopg

    plain = place.replace("postgresql+psycopg://", "postgresql://")
    return psycopg.connect(plain, autocommit=True)


def server_processes(server):
    """Processes of PostgreSQL as (id, name, ticks of the processor, of the kernel), first first."""
    folder = Path(server.partition("host=")[2])
    first = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            name = (path.parent / "cmdline").read_text()
        except OSError:  # it ended meanwhile
            continue
        pid = int(path.parent.name)
        if first in (pid, int(fields[1])):
            # With the first count those that have ended.
            ticks = [int(one) for one in fields[11 : 15 if pid == first else 13]]
            found.append((pid, name, sum(ticks), sum(ticks[1::2])))
    return sorted(found, key=lambda one: one[0] != first)


def server_time(server):
    """What PostgreSQL has taken: processor seconds, those in the kernel, those of no backend."""
    ticks = np.zeros(3)
    for _, name, all_of_it, kernel in server_processes(server) if server else ():
        is_other = any(f": {role}" in name for role in OTHERS)
        ticks += (all_of_it, kernel, all_of_it * is_other)
    return ticks / os.sysconf("SC_CLK_TCK")


OTHERS = ("checkpointer", "background writer", "walwriter", "autovacuum launcher", "logical")


def report(kind, place, folder, server, given):
    """Let the processes work, and print what they did; labels a second."""
    before = server_time(server)
    speed = run(
        place,
        folder,
        processes=given.processes,
        seconds=given.seconds,
        kills=given.kills,
        workers=people(given.seconds),
        warm=WARM,
        is_together=given.together,
    )
    load, theirs = os.getloadavg()[0], server_time(server) - before
    ours, labels, claims = spent(folder)
    found = check(place, folder)
    facts = ", ".join(f"{count} {name}" for name, count in found.items())
    p50, p99 = 1e3 * np.percentile(claims, [50, 99])
    mine, in_kernel, slept = 1e3 * ours / labels
    server_all, server_kernel, no_backend = 1e3 * theirs / found["answers"]
    print(
        f"{kind}: {speed:.0f} labels/s; claim p50 {p50:.1f} ms, p99 {p99:.1f} ms; processor per "
        f"label {mine:.2f} + {server_all:.2f} ms of the server (in the kernel {in_kernel:.2f} + "
        f"{server_kernel:.2f}, the server's own processes {no_backend:.2f}), a client slept "
        f"{slept / 1e3:.1f} times; load {load:.1f}; {given.kills} killed; {facts}",
        flush=True,
    )
    return speed


if __name__ == "__main__":
    main()
