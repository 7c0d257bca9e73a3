"""How many labels a second many processes claim and submit in one campaign, and what is lost.

    python -m benchmarks.speed.campaign                     16 processes, SQLite and PostgreSQL
    python -m benchmarks.speed.campaign --seconds 60 --kills 20
    python -m benchmarks.speed.campaign --processes 4 --only sqlite

Every process is a crowd of its own: it asks for a worker's next task and submits an answer, but for
one task in twenty, which it leaves. Processes are killed (SIGKILL) at random moments and started
again. In the end the store is compared with what the processes noted after every answer that was
accepted: nothing lost, nothing double, no cap broken, all counters right.

PostgreSQL is made in a temporary folder, if its programs are installed, and thrown away.
"""

import argparse
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from crowd_tvcs.campaign import Campaign, Refused, Task, Worker
from crowd_tvcs.campaign.store.schema import ANSWERED

ABANDONED = 0.05
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


def work(place, journal, seed, workers, until):
    """Claim and submit until the time is over; note every answer after it was accepted.

    `until` is shared: 0 until all are ready.
    """
    rng = random.Random(seed)
    with Campaign(place) as campaign, open(journal, "a", buffering=1) as notes:
        while until.value == 0.0:
            time.sleep(0.01)
        begun, done = time.process_time(), 0
        while time.time() < until.value:
            worker = f"w{rng.randrange(workers):03d}"
            offer = campaign.next(worker)
            if offer.task is None or rng.random() < ABANDONED:
                continue
            label = label_of(worker, offer.task)
            try:
                receipt = campaign.submit(worker, offer.task, label)
            except Refused as refusal:
                if "was given up" not in str(refusal):
                    raise
                continue
            notes.write(f"{worker} {offer.task} {label} {receipt.reason}\n")
            done += 1
        Path(f"{journal}.cpu").write_text(f"{time.process_time() - begun} {done}")


def run(place, folder, *, processes, seconds, kills, workers=200, seed=0):
    """Let the processes work, kill some; labels accepted per second and how many were killed."""
    spawn = multiprocessing.get_context("spawn")
    rng = random.Random(seed)
    until = spawn.RawValue("d", 0.0)

    def start(number):
        journal = str(folder / f"journal{number}")
        process = spawn.Process(target=work, args=(place, journal, number, workers, until))
        process.start()
        return process

    team = [start(i) for i in range(processes)]
    while len(journals(folder)) < processes:  # each opens its own when it is ready
        assert all(process.is_alive() for process in team), "a process ended before it began"
        time.sleep(0.02)
    begun = time.time()
    until.value = begun + seconds
    killed = 0
    while time.time() < until.value:
        time.sleep(seconds / (kills + 1))
        if killed < kills and time.time() < until.value:
            victim = rng.randrange(processes)
            os.kill(team[victim].pid, signal.SIGKILL)
            team[victim].join()
            killed += 1
            team[victim] = start(processes + killed)
    for process in team:
        process.join()
        assert process.exitcode == 0, f"a process ended with {process.exitcode}"
    return count_lines(folder) / seconds, killed


def journals(folder):
    return [path for path in folder.glob("journal*") if not path.suffix]


def count_lines(folder):
    return sum(path.read_text().count("\n") for path in journals(folder))


def processor_time(folder):
    """Seconds of processor time per label in the processes that were not killed."""
    pairs = [map(float, path.read_text().split()) for path in folder.glob("journal*.cpu")]
    seconds, labels = map(sum, zip(*pairs, strict=True))
    return seconds / labels


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
def postgresql():
    """A server of one's own in a temporary folder; the URL, or None where it is not installed."""
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
    options = f"-k {folder} -c listen_addresses= -c max_connections=60"
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    parser.add_argument("--quick", action="store_true", help="4 processes, 5 seconds, one kill")
    given = parser.parse_args()
    if given.quick:
        given.processes, given.seconds, given.kills = 4, 5.0, 1
    load = os.getloadavg()[0]
    print(
        f"{given.processes} processes, {given.kills} kills, {os.cpu_count()} cores, load {load:.1f}"
    )
    if given.only != "postgresql":
        with tempfile.TemporaryDirectory() as name:
            report("SQLite", str(Path(name) / "campaign.db"), Path(name), given)
    if given.only != "sqlite":
        with postgresql() as url, tempfile.TemporaryDirectory() as name:
            if url is None:
                print("PostgreSQL is not installed")
            else:
                report("PostgreSQL", url, Path(name), given)


def report(kind, place, folder, given):
    make(place, tasks=10_000, workers=900, budget=50_000).close()
    speed, killed = run(
        place,
        folder,
        processes=given.processes,
        seconds=given.seconds,
        kills=given.kills,
        workers=900,
    )
    facts = ", ".join(f"{count} {name}" for name, count in check(place, folder).items())
    spent = 1e3 * processor_time(folder)
    print(
        f"{kind}: {speed:.0f} labels/s, {spent:.2f} ms of processor each; {killed} killed; {facts}"
    )


if __name__ == "__main__":
    main()
