"""Try one sample of mutants of all rooms, each with the tests of its own room, then of others.

python -m tests.proofs.mutants.rooms                # go on with the sample, then print the report
python -m tests.proofs.mutants.rooms --limit 3600   # stop after an hour of the clock
python -m tests.proofs.mutants.rooms --survivors    # try none but those that survived their room
python -m tests.proofs.mutants.rooms --report       # print what is known so far

A room is a folder below a package, or a module at its top. Of its tests those are run that run what
is changed; all, where no test does so in its own process, or the import does. A mutant that
survives its room is tried with the tests of the other rooms that run what is changed. Mutants are
tried in the order of the draw, so a run that is cut off is a sample too. Kernels have targets of
their own. What is found is written after each mutant and used again while the module's text stays.
"""

import argparse
import collections
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coverage import CoverageData

from tests.proofs.mutants.__main__ import ROOT, drawn, files_of, skipped, text, unchanged
from tests.proofs.mutants.changes import Mutant, mutants
from tests.proofs.mutants.targets import PACKAGES, TARGETS, files_in, room_of, room_tests

COMPILING = "tvcs_core/jit"
NOT_MEASURED = {COMPILING: "kernels are compiled of it: a change would compile them all anew"}
LEFT_OUT = "not slow and not browser and not peers and not label_studio and not argilla"
PYTEST = ("-x", "-q", "-n0", "-p", "no:cacheprovider", "-m", LEFT_OUT, "-k", "not postgresql")
SLOW_TEST = 6.0  # seconds, while its lines are noted: a test that takes more is left out
MOST_NAMED = 300  # tests; of more their files are run
UNCHANGED = 900.0  # seconds that the tests of a room may take without a change
MODESTLY = 'ulimit -S -d 8388608; exec nice -n 10 "$@"'  # KiB: some changes never stop growing
LATE, STOPPED, ELSEWHERE = "late", "stopped", "killed elsewhere"
SURVIVED, OF_ROOM = "survived", "survived its room"


def state_of(packages: dict[str, str], root: Path) -> str:
    """Return a hash of all code and tests: while it stays, so does what rooms take unchanged."""
    paths = [path for name in (*packages, "tests") for path in sorted((root / name).rglob("*.py"))]
    return hashlib.sha256("".join(map(text, paths)).encode()).hexdigest()


@dataclass
class Trial:
    """One run of a sample, and all that is known of it.

    The tests may take so many `seconds` with a mutant, or three times as long as without one.
    What is found stands in the file `out`; `end` says when to stop, on the monotonic clock.
    """

    out: Path
    root: Path = ROOT
    packages: dict[str, str] = field(default_factory=PACKAGES.copy)
    seconds: float = 180.0
    end: float = float("inf")
    files: dict[str, Any] = field(default_factory=dict)
    rooms: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.state = state_of(self.packages, self.root)
        self.stop = threading.Event()
        self.writing = threading.Lock()
        self.room_locks: dict[str, threading.Lock] = collections.defaultdict(threading.Lock)
        if self.out.exists():
            kept = json.loads(self.out.read_text(encoding="utf-8"))
            self.files = unchanged(kept["files"], self.root)
            if kept["state"] == self.state:
                self.rooms = kept["rooms"]

    def try_all(self, sample: list[tuple[str, str]], processes: int) -> None:
        """Try what is not known yet of a sample, in its order, and rooms that failed once more."""
        self.rooms = {room: of for room, of in self.rooms.items() if "reason" not in of}
        for file, _ in sample:
            self.files.setdefault(file, {"text": text(self.root / file), "mutants": {}})
        self._share(sample, processes, lambda known: known is None)

    def try_survivors(self, sample: list[tuple[str, str]], processes: int) -> None:
        """Try those that survived their own room with the tests of the rooms measured so far."""
        self._share(sample, processes, lambda known: known is not None and known[0] == OF_ROOM)

    def _share(
        self, sample: list[tuple[str, str]], processes: int, is_left: Callable[[Any], bool]
    ) -> None:
        """Try the part of a sample that is left, in copies of the tree."""
        found = [of for of in sample if is_left(self.files[of[0]]["mutants"].get(of[1]))]
        left = iter(found)
        with (
            tempfile.TemporaryDirectory(prefix="mutants-") as folder,
            ThreadPoolExecutor(processes) as pool,
        ):
            copies = [Path(folder) / f"tree{k}" for k in range(min(processes, len(found)))]
            workers = [pool.submit(self._work, copy, left) for copy in copies]
            try:
                for worker in workers:
                    worker.result()
            except BaseException:
                self.stop.set()
                raise

    def _work(self, copy: Path, left: Iterator[tuple[str, str]]) -> None:
        """Try one mutant after the other in a copy of the tree."""
        shutil.copytree(self.root, copy, ignore=skipped())
        while not self.stop.is_set() and time.monotonic() < self.end:
            with self.writing:
                file, name = next(left, ("", ""))
            if not file:
                return
            room = room_of(file)
            with self.room_locks[room]:
                if room not in self.rooms and not self._measure(room, file, copy):
                    return
            if "reason" not in self.rooms[room]:
                self._try(file, name, copy)

    def _measure(self, room: str, file: str, copy: Path) -> bool:
        """Run the tests of a room without a change; return False if the run was stopped."""
        tests = room_tests(file, self.packages, copy)
        of: dict[str, Any] = {}
        if room in NOT_MEASURED or not tests:
            of["reason"] = NOT_MEASURED.get(room, "no test file names it")
        else:
            wanted = ["--durations=0", f"--durations-min={SLOW_TEST}", "--cov-report="]
            wanted += ["--cov-context=test", *(f"--cov={package}" for package in self.packages)]
            self._seen(room).parent.mkdir(parents=True, exist_ok=True)
            self._seen(room).unlink(missing_ok=True)
            word, shown, seconds = self._pytest(
                copy, [*wanted, *tests], UNCHANGED, COVERAGE_FILE=str(self._seen(room))
            )
            if word == STOPPED:
                return False
            slow = re.findall(r"^\s*([\d.]+)s call +(.+?)\s*$", shown, re.MULTILINE)
            of["left out"] = [name for _, name in slow]
            of["seconds"] = round(seconds - sum(float(took) for took, _ in slow), 1)
            if word == LATE:
                of["reason"] = f"without a change its tests take more than {UNCHANGED:.0f} s"
            elif word != "0":
                of["reason"] = f"without a change its tests fail: {_first(shown, word)}"
        self._write(self.rooms, room, of)
        return True

    def _seen(self, room: str) -> Path:
        """Return the file that says which lines each test of a room runs."""
        return self.out.with_name("seen") / f"{room.replace('/', '-')}.coverage"

    def _contexts(self, room: str, file: str, mutant: Mutant) -> set[str]:
        """Return the tests of a room that run what is changed, with their phase; "": the import."""
        data = CoverageData(str(self._seen(room)))
        data.read()
        path = next((of for of in data.measured_files() if of.endswith(f"/{file}")), "")
        ran = data.contexts_by_lineno(path) if path else {}
        first, last = mutant.lines
        return {name for line in range(first, last + 1) for name in ran.get(line, ())}

    def _tests(self, file: str, mutant: Mutant, copy: Path) -> list[str]:
        """Return the tests of the room that run what is changed, or all of the room."""
        everything = room_tests(file, self.packages, copy)
        contexts = self._contexts(room_of(file), file, mutant)
        if not mutant.within or not contexts or "" in contexts:
            return everything
        place = {file: k for k, file in enumerate(everything)}
        return sorted(_named(contexts), key=lambda test: (place[test.partition("::")[0]], test))

    def _tests_elsewhere(self, file: str, mutant: Mutant) -> list[str]:
        """Return the tests of other rooms that run what is changed."""
        others = [room for room, of in self.rooms.items() if "reason" not in of]
        others.remove(room_of(file))
        contexts = {name for room in others for name in self._contexts(room, file, mutant)}
        return sorted(_named(contexts - {""}))

    def _try(self, file: str, name: str, copy: Path) -> None:
        """Try one mutant, and write down what became of it."""
        path, room = copy / file, self.rooms[room_of(file)]
        before = path.read_bytes()
        mutant = next(of for of in mutants(before.decode("utf-8")) if of.name == name)
        known = self.files[file]["mutants"].get(name)
        tests = self._tests_elsewhere(file, mutant) if known else self._tests(file, mutant, copy)
        slow = [test for of in self.rooms.values() for test in of.get("left out", ())]
        options = [f"--deselect={test}" for test in slow]
        compiled = Path(importlib.util.cache_from_source(str(path)))
        limit = max(self.seconds, 3.0 * room["seconds"])
        try:
            compiled.unlink(missing_ok=True)  # its time and size may be those of the change
            path.write_text(mutant.source(), encoding="utf-8")
            nothing = "0", "", 0.0
            word, shown, seconds = (
                self._pytest(copy, [*options, *tests], limit) if tests else nothing
            )
        finally:
            path.write_bytes(before)
            compiled.unlink(missing_ok=True)
        if word != STOPPED:
            lives, dies = (SURVIVED, ELSEWHERE) if known else (OF_ROOM, "killed")
            what = {"0": lives, "5": lives, LATE: LATE}.get(word, dies)  # 5: no test is left
            by = _first(shown, word) if what in ("killed", ELSEWHERE) else ""
            found = [what, mutant.line, by, round(seconds, 1)]
            self._write(self.files[file]["mutants"], name, found)
            print(f"{what} in {seconds:.0f} s: {file}:{mutant.line}: {name}", flush=True)

    def _pytest(
        self, copy: Path, options: list[str], limit: float, **also: str
    ) -> tuple[str, str, float]:
        """Run tests in a copy; return the exit code or a word, what was printed, and seconds."""
        command = ["sh", "-c", MODESTLY, "sh", sys.executable, "-m", "pytest", *PYTEST, *options]
        command.append(f"--basetemp={copy}-tmp")
        environment = os.environ | {"PYTHONPATH": str(copy)} | also
        environment["OMP_NUM_THREADS"] = environment["OPENBLAS_NUM_THREADS"] = "1"
        log, began, word = copy.with_name(f"{copy.name}.log"), time.monotonic(), ""
        with log.open("w") as output:
            process = subprocess.Popen(
                command, cwd=copy, env=environment, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
            while not word and process.poll() is None:
                if self.stop.wait(0.05) or time.monotonic() > self.end:
                    word = STOPPED
                elif time.monotonic() - began > limit:
                    word = LATE
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # and what the tests have left running
            code = process.wait()
        shown = log.read_text(encoding="utf-8", errors="replace")
        return word or str(code), shown, time.monotonic() - began

    def _write(self, part: dict[str, Any], key: str, value: Any) -> None:
        """Add to what is known, and write it whole or not at all."""
        with self.writing:
            part[key] = value
            found = {"state": self.state, "rooms": self.rooms, "files": self.files}
            self.out.parent.mkdir(parents=True, exist_ok=True)
            partial = self.out.with_suffix(".partial")
            partial.write_text(json.dumps(found, indent=1), encoding="utf-8")
            partial.replace(self.out)

    def report(self, sample: list[tuple[str, str]]) -> str:
        """Return a table of the rooms, the survivors, and how much of the sample was tried."""
        counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        survivors = []
        targets = {file for target in TARGETS.values() for file in files_of(target)}
        for file, name in sample:
            what, line, *_ = self.files.get(file, {"mutants": {}})["mutants"].get(name, ("", 0))
            part = "files of a target" if file in targets else "files of no target"
            for group in (room_of(file), part, "all"):
                counts[group].update({"drawn": 1, what or "left": 1})
            if what in (SURVIVED, OF_ROOM):
                survivors.append(f"{file}:{line}: {name}")
        rooms = sorted(counts.keys() & set(map(room_of, dict(sample))))
        lines = [f"{'room':32} drawn tried killed (late, elsewhere) survived  share"]
        for group in (*rooms, *sorted(counts.keys() - set(rooms) - {"all"}), "all"):
            of = counts[group]
            killed = of["killed"] + of[LATE] + of[ELSEWHERE]
            survived = of[SURVIVED] + of[OF_ROOM]
            tried = killed + survived
            share = f"{killed / tried:6.1%}" if tried else "     -"
            lines.append(
                f"{group:32} {of['drawn']:5} {tried:5} {killed:6} {of[LATE]:5} {of[ELSEWHERE]:11} "
                f"{survived:8} "
                f"{share} {self.rooms.get(group, {}).get('reason', '')}".rstrip()
            )
        return "\n".join([*lines, "", f"{len(survivors)} survived:", *sorted(survivors)])


def _named(contexts: set[str]) -> set[str]:
    """Return tests, or the files of those whose fixtures run the line, or of too many tests."""
    phases = [name.rpartition("|")[::2] for name in contexts]
    whole = {test.partition("::")[0] for test, phase in phases if phase != "run"}
    named = {test for test, _ in phases if test.partition("::")[0] not in whole}
    if len(named) > MOST_NAMED:
        return whole | {test.partition("::")[0] for test in named}
    return whole | named


def _first(shown: str, code: str) -> str:
    """Return the first test that pytest's summary names as failed, or else the exit code."""
    found = re.search(r"^(?:FAILED|ERROR) .*", shown, re.MULTILINE)
    return found[0] if found else f"exit code {code}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=300, help="how many are drawn")
    parser.add_argument("--processes", type=int, default=2, help="how many are tried at once")
    parser.add_argument("--out", type=Path, default=ROOT / "out/mutants/rooms.json")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds of the clock")
    parser.add_argument("--survivors", action="store_true", help="try those of their room again")
    parser.add_argument("--report", action="store_true", help="try none")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    trial = Trial(options.out, end=time.monotonic() + options.limit)
    sample = drawn(files_in(trial.packages, ROOT))[: options.count]
    try:
        if not options.report and not options.survivors:
            trial.try_all(sample, options.processes)
        if not options.report:
            trial.try_survivors(sample, options.processes)
    except KeyboardInterrupt:
        print("stopped; what was found is kept")
    print(trial.report(sample))


if __name__ == "__main__":
    main()
