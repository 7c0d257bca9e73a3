"""Units that every engine can do, and some that go wrong."""

import hashlib
import os
import signal
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from tvcs_core.engines import Job, results

GRID = 1.5 * 2.0**12  # a sum of numbers on this grid is exact, in any order


def draws(state, index):
    """Sum of random numbers, the same wherever it is computed."""
    numbers = np.random.default_rng([state["seed"], index]).normal(size=(50, state["width"]))
    time.sleep(state.get("seconds", 0.0))
    return (((numbers + GRID) - GRID).sum(axis=0), np.array(index))


def leave_mark(state, index):
    """The same, and a line in a file that says who did it."""
    with (Path(state["folder"]) / f"done-{index}").open("a") as file:
        file.write(f"{os.getpid()}\n")
    return draws(state, index)


def once(state, what, index):
    """Whether this is the first time that unit `index` is to go wrong."""
    if index not in state["bad"]:
        return False
    if state.get("always"):
        return True
    try:
        (Path(state["folder"]) / f"{what}-{index}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def killed(state, index):
    """Its process is killed, the first time or always."""
    if once(state, "killed", index):
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    return leave_mark(state, index)


def hangs(state, index):
    """It never ends, the first time or always."""
    if once(state, "hangs", index):
        while True:
            time.sleep(1)
    return leave_mark(state, index)


def greedy(state, index):
    """It takes more memory than a worker has, the first time or always."""
    if once(state, "greedy", index):
        held = []
        for _ in range(100):
            held.append(np.ones(2_500_000))
            time.sleep(0.02)
    return leave_mark(state, index)


def fails(state, index):
    """It raises."""
    if index in state["bad"]:
        raise ValueError(f"cannot do {index}")
    return draws(state, index)


class Odd(Exception):
    """It cannot be taken to another process."""

    def __init__(self, a, b):
        super().__init__(f"{a} {b}")


def fails_oddly(state, index):
    raise Odd("very", "odd")


def talks(state, index):
    """It prints, and reads what is not for it."""
    print("a line of output")
    assert input_is_empty()
    return draws(state, index)


def input_is_empty():
    return os.read(0, 1) == b""


def who(state, index):
    """Where it was done; nobody does a second one before `number` have come."""
    me, folder = (os.getpid(), threading.get_ident()), Path(state["folder"])
    (folder / "-".join(map(str, me))).touch()
    until = time.monotonic() + 60.0
    while len(list(folder.iterdir())) < state["number"] and time.monotonic() < until:
        time.sleep(0.02)
    return (np.array(me),)


def grown(state, index):
    """The state comes once: what it was asked before is still in it."""
    state["asked"].append(index)
    return (np.array([os.getpid(), len(state["asked"])]),)


def job(unit=draws, size=8, name="sums", **state):
    state = {"seed": 3, "width": 5} | state
    return Job(name, unit, state, size, {"seed": str(state["seed"])})


def total(jobs, engine, **options):
    """Sum over all units, as bytes, and which units there were."""
    jobs = jobs if isinstance(jobs, list) else [jobs]
    sums, seen = np.zeros(1), []
    with closing(results(jobs, engine, **options)) as found:
        for one, index, (part, number) in found:
            assert int(number) == index
            sums = sums + part
            seen.append((one.name, index))
    assert len(seen) == len(set(seen)) == sum(one.size for one in jobs)
    return hashlib.sha256(sums.tobytes()).hexdigest()
