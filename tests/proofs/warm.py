"""A process that has run a command once and forks itself to run it again and be killed.

    python -m tests.proofs.warm < jobs > answers

A job is a line of JSON: `words` and the `folder` to run them in; `events`: how many calls of
functions the run may make before it kills itself; `seconds`: how long it may run before it is
killed. Without either it ends by itself; of -1 calls too, which are counted. The answer says how it
ended, how many calls it made, how long it took, and what it said.
"""

import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path


class Warm:
    """This module as a process, for tests; it runs the words once in `folder` first."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.proofs.warm"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=Path(__file__).parents[2],
        )  # fmt: skip
        self.words = words
        first = self.run(folder, is_first=True)
        if first["code"] != 0:
            self.close()
            raise AssertionError(first["said"])

    def run(self, folder: Path, words: list[str] | None = None, **how) -> dict:
        job = {"words": words or self.words, "folder": str(folder), **how}
        print(json.dumps(job), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def run(words: list[str], folder: str) -> tuple[int, str]:
    """Run a command here: its exit code and what it says."""
    from tests.every_command import call

    class Nothing:
        def readouterr(self):
            return "", ""

    os.chdir(folder)
    message = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(message):
        code, _, _ = call(words, Nothing())
    return code, message.getvalue()


def counting(limit: int | None):
    """A function for `sys.setprofile` that counts, and kills at a limit."""
    counted = [0]

    def count(frame, event, argument):
        counted[0] += 1
        if counted[0] == limit:
            os.kill(os.getpid(), signal.SIGKILL)

    return counted, count


def child(job: dict, answer: int) -> None:
    counted, count = counting(job.get("events"))
    if "seconds" not in job and "events" in job:
        sys.setprofile(count)
    code, message = run(job["words"], job["folder"])
    sys.setprofile(None)
    os.write(answer, json.dumps({"events": counted[0], "code": code, "said": message}).encode())
    os._exit(0)


def serve(job: dict) -> dict:
    here, there = os.pipe()
    begun = time.monotonic()
    pid = os.fork()
    if pid == 0:
        try:
            child(job, there)
        finally:
            os._exit(70)
    os.close(there)
    if "seconds" in job:
        time.sleep(job["seconds"])
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    took = time.monotonic() - begun
    with open(here, "rb") as file:
        record = json.loads(file.read() or b"{}")
    return {"killed": os.WIFSIGNALED(status), "took": took, **record}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        job = json.loads(line)
        if job.get("is_first"):
            code, message = run(job["words"], job["folder"])
            result = {"code": code, "said": message}
        else:
            result = serve(job)
        os.chdir(Path(__file__).anchor)
        print(json.dumps(result), file=answers, flush=True)


if __name__ == "__main__":
    main()
