"""Forty people whom nobody knows, from the first command to first answers, in three commands."""

import csv
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

pytest.importorskip("fastapi")
from crowd_tvcs.campaign import Campaign
from crowd_tvcs.serve.client import DeskClient
from tests.makers.commands import run_done
from tests.makers.ports import free_port

PEOPLE = [f"person-{k:02d}" for k in range(40)]
GOLD = {f"known-{k}": ("no", "yes")[k % 2] for k in range(4)}
PATIENCE = 300.0
"""Seconds: on a busy machine the desk estimates skills rarely, at most a twentieth of the time."""


def written(path, header, rows):
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    return path


def is_careful(name):
    return int(name[-2:]) % 4 != 0


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_forty_unknown_people_in_three_commands(tmp_path):
    store, links, port = tmp_path / "c.db", tmp_path / "links.csv", free_port()
    gold = written(tmp_path / "gold.csv", "task,label", GOLD.items())
    wanted = {f"t{k:03d}": ("no", "yes")[k % 2] for k in range(100)}
    tasks = written(tmp_path / "tasks.csv", "task,text", {**wanted, **GOLD}.items())
    names = written(tmp_path / "names.csv", "worker", [(name,) for name in PEOPLE])
    words = (
        "--tasks",
        tasks,
        "--gold",
        gold,
        "--workers",
        names,
        "--min-quality",
        "0.7",
    )  # above what nobody knows
    run_done("campaign", "init", store, *words)
    run_done("serve", "links", store, "--out", links)
    command = [sys.executable, "-m", "crowd_tvcs", "serve", str(store), "--port", str(port)]
    command += ["--gold-first", "4", "--gold-feedback", "--content", str(tasks)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        while server.stderr.readline() != "ready; stop with Ctrl-C\n":
            assert server.poll() is None
        with links.open() as rows:
            tokens = {one["worker"]: one["link"].rpartition("/")[2] for one in csv.DictReader(rows)}
        desks = {name: DeskClient(f"http://127.0.0.1:{port}", tokens[name]) for name in PEOPLE}
        counted, first, until = Counter(), set(), time.monotonic() + PATIENCE
        while len(first) < 30 and time.monotonic() < until:
            for name, desk in desks.items():
                if name in first or (turn := desk.next())["task"] is None:
                    continue  # the gate does not know them yet, or lets them in no more
                right = turn["content"]["text"]
                label = right if is_careful(name) else {"yes": "no", "no": "yes"}[right]
                known = desk.submit(turn["task"], label)["feedback"]
                if counted[name] < len(GOLD):
                    assert known == right
                    counted[name] += 1
                else:
                    assert known is None
                    first.add(name)
            time.sleep(0.5)  # the desk takes two requests of a person in a second
        server.send_signal(signal.SIGINT)
    assert set(counted.values()) == {len(GOLD)}
    assert first == {name for name in PEOPLE if is_careful(name)}
    with Campaign(store) as campaign:
        state = campaign.state()
    assert {one.name for one in state.tasks} == set(wanted)
    assert {state.workers[i].name for i, _, _ in state.given} == first
    assert len(state.gold_answers) == 4 * len(PEOPLE)
