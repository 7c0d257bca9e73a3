"""How quickly the labelling desk answers people, what a label costs it, and what kills lose.

    python -m benchmarks.speed.serve                        200 people, 5 s of thinking, 60 s
    python -m benchmarks.speed.serve --think 0              as fast as they can
    python -m benchmarks.speed.serve --kills 20             kill -9 of the server in between
    python -m benchmarks.speed.serve --attack idle          by turns with 1,020 idle connections
    python -m benchmarks.speed.serve --attack passwords     by turns with guesses of 60 addresses

Each person is a thread that submits an answer by the API and gets the next task. The server is a
process of its own, on SQLite; people and server share this machine. After the run every answer
that was acknowledged is looked for in the store, and the counters and caps are checked.
"""

import argparse
import http.client
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.serve_attacks import ATTACKS
from benchmarks.speed import campaign as speed
from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.access import Links
from crowd_tvcs.serve.client import DeskClient, DeskError
from tvcs_core.files.errors import RunError

SETTLES = 5.0  # seconds after which latencies count
TURN = 10.0  # seconds of quiet, then of an attack, and so on


class Desk:
    """A server in a process of its own, which may be killed and started again."""

    def __init__(self, store: Path, folder: Path, files: int | None = None) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (folder / "password").write_text("a password of the operator\n")
        self.command = [
            *(sys.executable, "-m", "crowd_tvcs", "serve", str(store), "--port", str(self.port)),
            *("--operator-password-file", str(folder / "password")),
        ]
        if files is not None:  # that it may have open at once
            self.command = ["bash", "-c", f'ulimit -n {files}; exec "$@"', "bash", *self.command]
        self.processor = 0.0
        self.written = 0  # lines, after those of its beginning
        self.start()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if line.startswith("ready"):
                self.processor -= self.used()  # to start is no part of a label
                threading.Thread(target=self._count, args=(self.process,), daemon=True).start()
                return
        raise RunError("the desk did not start")

    def _count(self, process: subprocess.Popen) -> None:
        for _ in process.stderr:
            self.written += 1

    def used(self) -> float:
        """Seconds of processor so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self, number: int) -> None:
        """End it by a signal; its processor time is counted."""
        self.processor += self.used()
        self.process.send_signal(number)
        self.process.wait()


class Browser(DeskClient):
    """A client that keeps its connection, and opens another if that was closed, as browsers do."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(url, token)
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=self.timeout)

    def _ask(self, what, body=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        is_kept = self.connection.sock is not None
        try:
            self.connection.request("POST", f"/api/v1/{what}", json.dumps(body or {}), headers)
            answer = self.connection.getresponse()
            found = json.loads(answer.read())
        except ValueError:
            raise DeskError(answer.status, "no JSON") from None
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            if is_kept:
                return self._ask(what, body)
            raise ConnectionError from error
        if answer.status != 200:
            raise DeskError(answer.status, found["detail"])
        return found


def label(url, name, token, think, until, begun, log):
    """One person: think, answer, get the next; note what was acknowledged and how long it took."""
    client, rng, turn = Browser(url, token), random.Random(name), None
    time.sleep(rng.random() * min(think, 5.0))
    while time.monotonic() < until:
        if think:
            time.sleep(rng.expovariate(1.0 / think))
        start = time.monotonic()
        try:
            if turn is None:
                turn = client.next()
                continue
            task = turn["task"]
            if task is None:
                return
            turn = client.submit(task, speed.label_of(name, task))["next"]
        except (DeskError, OSError) as error:
            if isinstance(error, DeskError) and error.status not in (429, 503):
                log["bad"].append(str(error))
            elif start > begun + SETTLES:  # it counts as long as it took to say no
                log["seconds"].append((start, time.monotonic() - start))
            turn = None
            time.sleep(0.2)
            continue
        log["acknowledged"].append((name, task))
        if start > begun + SETTLES:
            log["seconds"].append((start, time.monotonic() - start))


def attacked(kind, port, begun, seconds, log):
    """Attack a desk, every other turn; note when, and what it answered."""
    start = begun + SETTLES
    while (start := start + TURN) + TURN <= begun + seconds:
        time.sleep(max(0.0, start - time.monotonic()))
        words = ("-m", "benchmarks.serve_attacks", kind, str(port), str(TURN))
        log["attacks"].append((time.monotonic(), time.monotonic() + TURN))
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)
        log["answers"].append(done.stdout.strip())
        start += TURN


def run(*, people, tasks, think, seconds, kills, attack, files):
    """Let people label; what was seen."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = folder / "c.db"
        with speed.make(store, workers=people, tasks=tasks, lease=60.0) as campaign:
            tokens = Links(campaign.store).make(None, now=time.time())
        desk = Desk(store, folder, files)
        log = {"acknowledged": [], "seconds": [], "bad": [], "attacks": [], "answers": []}
        begun = time.monotonic()
        given = (think, begun + seconds, begun, log)
        url = f"http://127.0.0.1:{desk.port}"
        threads = [
            threading.Thread(target=label, args=(url, *one, *given)) for one in tokens.items()
        ]
        if attack is not None:
            attacking = (attack, desk.port, begun, seconds, log)
            threads.append(threading.Thread(target=attacked, args=attacking))
        for thread in threads:
            thread.start()
        for k in range(kills):
            time.sleep(max(0.0, begun + seconds * (k + 1) / (kills + 1) - time.monotonic()))
            desk.end(signal.SIGKILL)
            desk.start()
        for thread in threads:
            thread.join()
        desk.end(signal.SIGINT)
        log["written"] = desk.written
        with Campaign(store) as campaign:
            state = campaign.state()
        return log, desk.processor, check(state, log["acknowledged"])


def check(state, acknowledged):
    """Answers that are lost or double, and caps that are broken."""
    names = state.answers
    there = {(names.workers[i], names.tasks[j]) for i, j, _ in state.given}
    taken = state.slots > 0
    over = sum(int(n) > w.max_tasks for n, w in zip(taken.sum(axis=1), state.workers, strict=True))
    over += sum(int(n) > t.max_workers for n, t in zip(taken.sum(axis=0), state.tasks, strict=True))
    return {
        "lost": len(set(acknowledged) - there),
        "double": len(acknowledged) - len(set(acknowledged)),
        "over a cap": over + int(taken.sum() > state.settings.budget),
        "wrong counters": int(state.settings.answers != len(there)),
    }


def latency(seconds: list[float]) -> str:
    """Say how long asking took."""
    if not seconds:
        return "nothing was asked"
    late = sorted(seconds)[int(0.99 * (len(seconds) - 1))]
    middle = statistics.median(seconds)
    return f"median {1000 * middle:.0f} ms, p99 {1000 * late:.0f} ms of {len(seconds)}"


def main() -> None:
    """Run it and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--think", type=float, default=5.0, help="mean seconds, exponential")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--attack", choices=list(ATTACKS), help="by turns with quiet")
    parser.add_argument("--files", type=int, help="most files that the desk may have open")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    log, processor, found = run(**vars(given))
    labels = len(log["acknowledged"])
    rate = labels / given.seconds
    print(f"{labels} labels, {rate:.1f} a second; {os.cpu_count()} cores, load {load:.1f}")
    within = [any(a <= at < b for a, b in log["attacks"]) for at, _ in log["seconds"]]
    quiet = [s for (_, s), is_in in zip(log["seconds"], within, strict=True) if not is_in]
    under = [s for (_, s), is_in in zip(log["seconds"], within, strict=True) if is_in]
    print(f"answer and next: {latency(quiet)}")
    if given.attack is not None:
        print(f"under attack:    {latency(under)}; the desk wrote {log['written']} lines")
        for line in log["answers"]:
            print(f"  {line}")
    print(f"server: {1000 * processor / max(labels, 1):.1f} ms of processor a label")
    print(f"bad answers: {len(log['bad'])}; {found}")
    for line in log["bad"][:5]:
        print(line)


if __name__ == "__main__":
    main()
