"""Of several processes that need one kernel, one compiles it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.core.jit.toys import VALUES, sealed_file, was_cached
from tests.makers.marks import needs_jit
from tvcs_core.jit import turn

pytest.importorskip("fcntl")
pytestmark = needs_jit

TOGETHER = """
import sys, time
from pathlib import Path
import numpy as np
from toy.high.kernels import run
from tvcs_core.jit import compiling_seconds
run.dispatcher
me, others = Path(sys.argv[1]), Path(sys.argv[1]).parent
me.touch()
while len(list(others.glob("*.ready"))) < 2:
    time.sleep(0.001)
assert run(np.arange(4.0)) == 24.0
print(compiling_seconds() > 0)
"""
HOLD = """
import sys, time
from pathlib import Path
from tvcs_core.jit.turn import Turn
turn = Turn(Path(sys.argv[1]))
turn.wait()
print("taken", flush=True)
time.sleep(600)
"""


def begin(code: str, path: Path, toy) -> subprocess.Popen:
    there = {**os.environ, "PYTHONPATH": os.pathsep.join([str(toy.package.parent), *sys.path])}
    words = [sys.executable, "-c", code, str(path)]
    return subprocess.Popen(words, env=there, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def held(toy):
    """A process that has the turn of the toy's kernel and goes on having it, and its file."""
    toy()(VALUES)
    path = sealed_file()
    path.unlink()
    process = begin(HOLD, path, toy)
    assert process.stdout.readline() == "taken\n"
    yield process, path.with_suffix(".turn")
    process.kill()
    process.communicate()


def test_of_processes_that_need_a_kernel_at_once_one_compiles_it(toy, tmp_path):
    processes = [begin(TOGETHER, tmp_path / f"{k}.ready", toy) for k in range(2)]
    message = sorted(process.communicate()[0] for process in processes)
    assert message == ["False\n", "True\n"]
    kept = (tmp_path / "cache").glob("kernels-toy-*/*")
    assert [path.suffix for path in kept] == [".kernel"]


def test_the_turn_of_a_killed_process_is_free(toy, held, monkeypatch):
    monkeypatch.setattr(turn, "LONGEST_WAIT", 600.0)
    process, lock = held
    process.kill()
    process.wait()
    run = toy()
    assert run(VALUES) == 24.0
    assert not was_cached(run)
    assert not lock.exists()


def test_who_waits_too_long_compiles(toy, held, monkeypatch):
    monkeypatch.setattr(turn, "LONGEST_WAIT", 0.1)
    run = toy()
    assert run(VALUES) == 24.0
    assert not was_cached(run)
    assert held[1].exists()  # it is not ours to end


def test_what_was_kept_while_waiting_is_loaded(toy, held, monkeypatch):
    process, lock = held
    monkeypatch.setattr(turn, "LONGEST_WAIT", 0.0)
    toy()(VALUES)  # compiled and kept, as the other would have
    whole = sealed_file().read_bytes()
    sealed_file().unlink()
    monkeypatch.setattr(turn, "LONGEST_WAIT", 600.0)
    looks = []

    def look(seconds):
        looks.append(seconds)
        if len(looks) == 3:
            lock.with_suffix(".kernel").write_bytes(whole)
            process.kill()
            process.wait()

    monkeypatch.setattr(time, "sleep", look)
    run = toy()
    assert run(VALUES) == 24.0
    assert was_cached(run)
    assert looks[:3] == [turn.LOOK_EVERY] * 3
    assert not lock.exists()


def test_an_interrupt_ends_the_waiting(toy, held, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        toy()(VALUES)
    assert held[1].exists()
