"""Try one sample of mutants of all rooms, each with the tests of its own room, then of others.

python -m tests.proofs.mutants.rooms                # go on with the sample, then print the report
python -m tests.proofs.mutants.rooms --fresh 5     # and 60 of another draw, told apart
python -m tests.proofs.mutants.rooms --limit 3600   # stop after an hour of the clock
python -m tests.proofs.mutants.rooms --again        # try survivors again, by tests that changed
python -m tests.proofs.mutants.rooms --report       # print what is known so far

A room is a folder below a package, or a module at its top. Its tests run once, in one process that
notes which of them run the files of the sample. Each mutant is then tried in a fork of that process
(see `forks`), by the tests of the room that run what is changed. One that survives is tried by
those of the other rooms. Kernels have targets of their own. What is found is written after each
mutant and used again while the module's text stays, and so is what each test file runs.
"""

import argparse
import collections
import itertools
import json
import shutil
import signal
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.proofs.mutants.__main__ import (
    ROOT,
    answers,
    drawn,
    files_of,
    skipped,
    text,
    unchanged,
)  # fmt: skip
from tests.proofs.mutants.changes import mutants
from tests.proofs.mutants.seen import file_of, read
from tests.proofs.mutants.targets import (
    CROWD,
    LIBRARIES,
    PACKAGES,
    TARGETS,
    Target,
    files_in,
    room_of,
    room_tests,
)  # fmt: skip

COMPILING = "tvcs_core/jit"
NOT_MEASURED = {COMPILING: "kernels are compiled of it: a change would compile them all anew"}
LEFT_OUT = "not slow and not browser and not peers and not label_studio and not argilla"
OPTIONS = ("-m", LEFT_OUT, "-k", "not postgresql")
FRESH = 60  # mutants of another draw
SLOW_TEST = 6.0  # seconds of processor, while its lines are noted: one that takes more is left out
TOGETHER = 60.0  # seconds of the tests of one mutant, the quickest first
LATE, ELSEWHERE = "late", "killed elsewhere"
SURVIVED, OF_ROOM = "survived", "survived its room"
Names = dict[str, list[str]]


@dataclass
class Trial:
    """One run of samples, and all that is known of them.

    What is found stands in the file `out`, the lines that tests run beside it; `end` says when to
    stop, on the monotonic clock.
    """

    out: Path
    root: Path = ROOT
    packages: dict[str, str] = field(default_factory=PACKAGES.copy)
    seconds: float = 5.0
    end: float = float("inf")
    files: dict[str, Any] = field(default_factory=dict)
    rooms: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.writing, self.begun = threading.Lock(), time.time()
        if self.out.exists():
            kept = json.loads(self.out.read_text(encoding="utf-8"))
            self.files, self.rooms = unchanged(kept["files"], self.root), kept["rooms"]
        # What was found before, by what is tried now.
        self.before = {
            (file, name): tuple(found)
            for file, of in self.files.items()
            for name, found in of["mutants"].items()
        }

    def try_all(self, sample: list[tuple[str, str]], processes: int, *, again: bool) -> None:
        """Try what is not known yet of a sample; again: and what survived other tests."""
        rooms: dict[str, Names] = {}
        for file, name in sample:
            of = self.files.setdefault(file, {"text": text(self.root / file), "mutants": {}})
            what, *_ = of["mutants"].get(name, ("",))
            if not what or (again and what in (SURVIVED, OF_ROOM)):
                rooms.setdefault(room_of(file), {}).setdefault(file, []).append(name)
        observed = sorted({file for file, _ in sample})
        self._share([(room, of, observed) for room, of in rooms.items()], processes, OF_ROOM)

    def try_survivors(self, sample: list[tuple[str, str]], processes: int) -> None:
        """Try those that survived their own room with the tests of the other rooms."""
        left = [of for of in sample if self._known(*of) == OF_ROOM]
        rooms = []
        for room, of in self.rooms.items():
            names: Names = {}
            seen = {} if "reason" in of else read(self._seen(room))
            for file, name in left if seen else ():
                mutant = next(of for of in mutants(self._text(file)) if of.name == name)
                lines = range(mutant.lines[0], mutant.lines[1] + 1)
                if room_of(file) != room and any(
                    of.runs(file, lines) for test, of in seen.items() if test
                ):
                    names.setdefault(file, []).append(name)
            if names:
                rooms.append((room, names, list(of["observed"])))
        self._share(rooms, processes, "")
        if time.monotonic() < self.end:
            for file, name in left:
                if self._known(file, name) == OF_ROOM:
                    self._write(file, name, [SURVIVED, *self.files[file]["mutants"][name][1:]])

    def _known(self, file: str, name: str) -> str:
        """Return what became of a mutant."""
        return self.files.get(file, {"mutants": {}})["mutants"].get(name, ("",))[0]

    def _text(self, file: str) -> str:
        return (self.root / file).read_text(encoding="utf-8")

    def _seen(self, room: str) -> Path:
        """Return the file that says which lines each test of a room runs."""
        return self.out.with_name("seen") / f"{room.replace('/', '-')}.json"

    def _anew(self, room: str, of: dict[str, Any]) -> list[str]:
        """Return the test files whose lines are not known, and forget what was known of them."""
        before, kept = self.rooms.get(room, {}), self._seen(room)
        seen = read(kept) if kept.exists() and "tests" in before else {}
        noted = before.get("observed", {})
        changed = {file for file, at in of["observed"].items() if noted.get(file) != at}
        anew = {
            test
            for test, (at, _) in of["tests"].items()
            if not seen or changed - noted.keys() or before["tests"].get(test, [""])[0] != at
        }
        anew |= {file_of(test) for test, runs in seen.items() if test and changed & set(runs.lines)}
        left = {
            test: runs for test, runs in seen.items()
            if not test or file_of(test) in of["tests"].keys() - anew
        }  # fmt: skip
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(left), encoding="utf-8")
        return sorted(anew)

    def _only(self, names: Names, tests: dict[str, Any], *, is_own: bool) -> dict[str, Any]:
        """Return the test files that are newer than the last trial of what survived then."""
        only: dict[str, Any] = collections.defaultdict(dict)
        for file, of in names.items():
            for name in of:
                what, *_, time = self.before.get((file, name), ("", 0.0))
                if what == SURVIVED or (is_own and what == OF_ROOM):
                    only[file][name] = [test for test, (_, since) in tests.items() if since > time]
        return only

    def _share(self, rooms: list[tuple[str, Names, list[str]]], processes: int, word: str) -> None:
        """Try mutants in rooms, each process in a copy of the tree of its own."""
        left = iter(rooms)
        with (
            tempfile.TemporaryDirectory(prefix="mutants-") as folder,
            ThreadPoolExecutor(processes) as pool,
        ):

            def work(copy: Path) -> None:
                shutil.copytree(self.root, copy, ignore=skipped())
                while time.monotonic() < self.end:
                    with self.writing:
                        room = next(left, None)
                    if room is None:
                        return
                    self._try(copy, *room, word)

            copies = [Path(folder) / f"tree{k}" for k in range(min(processes, len(rooms)))]
            for worker in [pool.submit(work, copy) for copy in copies]:
                worker.result()

    def _try(self, copy: Path, room: str, names: Names, observed: list[str], word: str) -> None:
        """Try mutants with the tests of a room; `word`: what becomes of one that survives them."""
        if not word:  # who was killed by another room meanwhile needs no more
            names = {
                file: [name for name in of if self._known(file, name) == OF_ROOM]
                for file, of in names.items()
            }
        paths = room_tests(room, self.packages, copy)
        before = self.rooms.get(room, {}).get("tests", {})
        tests = {path: [text(copy / path), self.begun] for path in sorted(paths)}
        tests |= {path: of for path, of in before.items() if tests.get(path, [""])[0] == of[0]}
        of = {"tests": tests, "observed": {file: text(copy / file) for file in observed}}
        reason = NOT_MEASURED.get(room, "" if tests else "no test file names it")
        if not reason:
            target = Target(
                (), tuple(tests), imports=(*LIBRARIES, *CROWD), seconds=self.seconds,
                slowest=SLOW_TEST, together=TOGETHER, options=OPTIONS,
            )  # fmt: skip
            asked = {"mutants": names, "observed": observed, "seen": str(self._seen(room))}
            asked["anew"] = self._anew(room, of)
            only = asked["only"] = self._only(names, tests, is_own=bool(word))
            for file, of_file in names.items():
                for name in [name for name in of_file if only[file].get(name) == []]:
                    self._write(file, name, [OF_ROOM, *self.before[file, name][1:]])
                    of_file.remove(name)
            if not any(names.values()):
                return  # no test is new to them
            try:
                for file, name, line, what, count in answers(asked, copy, target):
                    self.rooms[room] = of  # what its tests run has been noted by now
                    what = {SURVIVED: word}.get(what, what if word else ELSEWHERE)
                    if name in only[file]:
                        count += self.before[file, name][2]
                    if what:
                        self._write(file, name, [what, line, count, self.begun])
                        print(f"{what}: {file}:{line}: {name} ({count} tests)", flush=True)
                    if time.monotonic() > self.end:
                        return
            except SystemExit as error:
                reason = str(error)
        with self.writing:
            self.rooms[room] = of | ({"reason": reason} if reason else {})
            self._save()

    def _write(self, file: str, name: str, found: list[Any]) -> None:
        """Add to what is known, and write it whole or not at all."""
        with self.writing:
            self.files[file]["mutants"][name] = found
            self._save()

    def _save(self) -> None:
        self.out.parent.mkdir(parents=True, exist_ok=True)
        partial = self.out.with_suffix(".partial")
        partial.write_text(json.dumps({"rooms": self.rooms, "files": self.files}, indent=1))
        partial.replace(self.out)

    def report(self, sample: list[tuple[str, str]]) -> str:
        """Return a table of the rooms, the survivors, and how much of the sample was tried."""
        counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        survivors = []
        targets = {file for target in TARGETS.values() for file in files_of(target)}
        for file, name in sample:
            what, line, count, *_ = self.files.get(file, {"mutants": {}})["mutants"].get(
                name, ("", 0, 0)
            )
            part = "files of a target" if file in targets else "files of no target"
            for group in (room_of(file), part, "all"):
                counts[group].update({"drawn": 1, what or "left": 1})
            if what in (SURVIVED, OF_ROOM):
                unseen = "" if count else " (no test of its room runs it)"
                survivors.append(f"{file}:{line}: {name}{unseen}")
        rooms = sorted(counts.keys() & set(map(room_of, dict(sample))))
        lines = ["| room | drawn | tried | killed by its room | by others | by its room | by all |"]
        lines.append("| --- | --- | --- | --- | --- | --- | --- |")
        for group in (*rooms, *sorted(counts.keys() - set(rooms) - {"all"}), "all"):
            of = counts[group]
            own = of["killed"] + of[LATE]
            tried = own + of[ELSEWHERE] + of[SURVIVED] + of[OF_ROOM]
            shares = [f"{n / tried:.0%}" if tried else "" for n in (own, own + of[ELSEWHERE])]
            reason = self.rooms.get(group, {}).get("reason", "")[:60]
            cells = (group, of["drawn"], tried, own, of[ELSEWHERE], *shares)
            lines.append(f"| {' | '.join(map(str, cells))} |{reason and f' {reason}'}")
        return "\n".join([*lines, "", f"{len(survivors)} survived:", *sorted(survivors)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=300, help="how many are drawn")
    parser.add_argument("--fresh", type=int, help="seed: try 60 of another draw, too")
    parser.add_argument("--processes", type=int, default=2, help="how many are tried at once")
    parser.add_argument("--out", type=Path, default=ROOT / "out/mutants/rooms.json")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds of the clock")
    parser.add_argument("--again", action="store_true", help="try survivors of changed tests")
    parser.add_argument("--report", action="store_true", help="try none")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    trial = Trial(options.out, end=time.monotonic() + options.limit)
    files = files_in(trial.packages, ROOT)
    samples = [drawn(files)[: options.count]]
    if options.fresh is not None:
        samples.append(drawn(files, seed=options.fresh)[:FRESH])
    both = list(itertools.chain(*samples))
    if not options.report:
        trial.try_all(both, options.processes, again=options.again)
        trial.try_survivors(both, options.processes)
    for sample in samples:
        print(trial.report(sample))


if __name__ == "__main__":
    main()
