"""Standard runs of a room: what they print and write, kept in `golden/golden.json` of its tests.

    python -m tests.makers.golden [ROOM ...]   # keeps what this code gives; then read the diff

A key of `runs` is a command line (several, with `&&`) on the packaged data, or the name of a small
input of `tests.every_command` and `tests.proofs.readers`; it stands in one room. Prints of up to
`LONGEST` lines are kept whole. Of longer ones and of files are kept the number of lines, a hash of
the words and two sums of the numbers: last digits differ between processors. `defaults` are those
of all public functions and options of the room.
"""

import contextlib
import enum
import hashlib
import importlib
import inspect
import io
import json
import math
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"core": "tvcs_core", "grn": "grn_tvcs", "crowd": "crowd_tvcs"}
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*[A-Za-z_])")
SPEED = re.compile(r"\b[\d.]+(?:e-\d+)? (ms|s|MB|GB|GiB|MiB)\b")  # of this machine
UNSEEN = re.compile(
    r"<style.*?</style>|<script(?! type=.application/json).*?</script>|<[^>]*>", re.S
)
OF_THE_RUN = {"versions", "version", "inputs", "outputs", "environment", "started", "seconds"}
OF_THE_RUN |= {"machine", "platform", "commit", "when", "time", "hash", "hashes", "runtime"}
KEEP = "if it is meant: python -m tests.makers.golden ROOM, and read the diff"
OF_TIME = re.compile("about TIME|parts of the work|tvcs: compiling the kernels")
KEEPING = os.environ.get("TVCS_KEEP_GOLDEN") == "1"
NEAR = 1e-5  # relative: sums of what a file holds; printed numbers may be off by `PRINTED`
PRINTED = 2e-3
LONGEST = 100  # lines of a print


def standard_runs(file: str):
    """Make a test that is run for every run of the room whose test file asks."""
    path = Path(file).with_name("golden.json")
    kept = json.loads(path.read_text(encoding="utf-8"))

    @pytest.mark.parametrize("line", kept["runs"])
    def test(line, tmp_path, monkeypatch):
        now = run(line, tmp_path, monkeypatch.chdir)
        if KEEPING:
            keep(path, "runs", {line: now})
        found = [] if KEEPING else differences(kept["runs"][line], now)
        assert not found, "\n".join([*found, KEEP])

    return test


def defaults_stay(file: str):
    """Make a test of the defaults of the room whose test file asks."""
    path = Path(file).with_name("golden.json")
    kept = json.loads(path.read_text(encoding="utf-8"))

    def test(monkeypatch):
        monkeypatch.undo()  # what tests of a room do to defaults
        before, now = kept["defaults"], defaults(room_of(path))
        if KEEPING:
            keep(path, "defaults", now)
        names = [] if KEEPING else sorted(before.keys() | now.keys())
        found = [f"{n}: {now.get(n)} instead of {before.get(n)}" for n in names]
        found = [x for x, n in zip(found, names, strict=True) if before.get(n) != now.get(n)]
        assert not found, "\n".join([*found, KEEP])

    return test


def room_of(path: Path) -> str:
    """Return the package of code whose tests are beside `path`."""
    _, package, room, _ = path.parent.relative_to(ROOT).parts
    return f"{PACKAGES[package]}.{room}"


def run(line: str, folder: Path, chdir=os.chdir) -> dict[str, Any]:
    """Run what a key names in an empty folder: how it ends, what it prints and writes."""
    lines = lay_out(line, folder)
    chdir(folder)
    before = set(folder.rglob("*"))
    prints, codes = [], []
    for words in lines:
        capture = Capture()
        with capture:
            code, out, err = call(words, capture)
        codes.append(code)
        text = SPEED.sub("TIME", f"{out}{err}").replace(str(folder), "FOLDER")
        rows = [row.rstrip() for row in text.splitlines() if not OF_TIME.match(row)]
        prints += rows if len(rows) <= LONGEST else [sums_of("\n".join(rows))]
    files = {
        path.relative_to(folder).as_posix(): fingerprint(path)
        for path in sorted(set(folder.rglob("*")) - before)
        if path.is_file() and path.suffix not in (".db", ".npz", ".db-wal", ".db-shm")
    }
    return {"codes": codes, "prints": prints, "files": files}


def lay_out(line: str, folder: Path) -> list[list[str]]:
    """Write the inputs of a key; return the words of its commands."""
    from benchmarks import same
    from tests.every_command import lay_out as small
    from tests.proofs.readers import reader

    if line.split()[0] in ("tvcs", "grn-tvcs", "crowd-tvcs"):
        same.inputs(folder)
        return [of.split() for of in line.split(" && ")]
    return [small(line, folder, reader(line))[1]]


class Capture:
    """What is printed meanwhile, as pytest's capture gives it."""

    def __enter__(self) -> None:
        self._out, self._err, self._both = io.StringIO(), io.StringIO(), contextlib.ExitStack()
        self._both.enter_context(contextlib.redirect_stdout(self._out))
        self._both.enter_context(contextlib.redirect_stderr(self._err))

    def __exit__(self, *error: object) -> None:
        self._both.close()

    def readouterr(self) -> tuple[str, str]:
        """Return what was printed since the last time."""
        found = self._out.getvalue(), self._err.getvalue()
        for one in (self._out, self._err):
            one.seek(0)
            one.truncate()
        return found


def call(words: list[str], capture: Capture) -> tuple[int, str, str]:
    """Run a command in this process."""
    from tests.every_command import call as called

    return called(words, capture)


def fingerprint(path: Path) -> str:
    """Return the number of lines of a file, a hash of its words, and two sums of its numbers."""
    raw = path.read_bytes()
    text = raw.decode("utf-8", "replace")
    if path.name.endswith("run.json"):
        text = json.dumps(_lasting(json.loads(text)), indent=0, sort_keys=True)
    elif path.suffix == ".html":
        text = "\n".join(row for row in UNSEEN.sub(" ", text).splitlines() if row.strip())
    text = SPEED.sub("TIME", text.replace(str(path.parents[1]), "FOLDER"))
    return sums_of(text, has_words=path.suffix != ".html")


def sums_of(text: str, has_words: bool = True) -> str:
    """Return the number of lines, a hash of the words, and two sums of the numbers of a text.

    Words of reports have tests of their own, so they are left out.
    """
    numbers = [float(of) for of in NUMBER.findall(text)]
    words = hashlib.sha256(" ".join(NUMBER.sub("#", text).split()).encode()).hexdigest()[:12]
    weighted = math.fsum(x * (1 + i % 11) for i, x in enumerate(numbers))
    words = words if has_words else "-"
    return f"{text.count(chr(10))} lines {words} {math.fsum(numbers):.9g} {weighted:.9g}"


def _lasting(value: Any) -> Any:
    """Return what of a run.json does not depend on the machine and the day."""
    if isinstance(value, dict):
        return {k: _lasting(v) for k, v in value.items() if k not in OF_THE_RUN}
    return value


def differences(kept: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Name what is not as it was kept."""
    out = [] if kept["codes"] == found["codes"] else [f"ends with {found['codes']}"]
    pairs = [*zip(kept["prints"], found["prints"], strict=False)]
    out += [f"prints {b!r} instead of {a!r}" for a, b in pairs if not are_near(a, b)]
    if len(kept["prints"]) != len(found["prints"]):
        out.append(f"prints {len(found['prints'])} lines instead of {len(kept['prints'])}")
    for name in sorted(kept["files"].keys() | found["files"].keys()):
        a, b = kept["files"].get(name), found["files"].get(name)
        if a is None or b is None:
            out.append(f"{name} is {'new' if a is None else 'missing'}")
        elif not _is_same(a, b):
            out.append(f"{name} differs: {b} instead of {a}")
    return out


def are_near(a: str, b: str) -> bool:
    """Whether two lines have the same words, and numbers that differ by a last digit at most."""
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = zip(map(float, NUMBER.findall(a)), map(float, NUMBER.findall(b)), strict=True)
    return all(math.isclose(x, y, rel_tol=PRINTED, abs_tol=1e-9) for x, y in pairs)


def _is_same(a: str, b: str) -> bool:
    (*of_a, x, p), (*of_b, y, q) = a.split(), b.split()
    pairs = ((float(x), float(y)), (float(p), float(q)))
    return of_a == of_b and all(math.isclose(*of, rel_tol=NEAR, abs_tol=1e-9) for of in pairs)


def defaults(package: str) -> dict[str, Any]:
    """Return the defaults of all public functions and classes of a package, by their names."""
    found: dict[str, Any] = {}
    for name in _modules(package):
        module = importlib.import_module(name)
        for of, value in vars(module).items():
            if getattr(value, "__module__", None) != name or of.startswith("_"):
                continue
            if inspect.isclass(value):
                ours = [(f"{of}.{k}", v) for k, v in vars(value).items() if k[0] != "_"]
                for key, method in [(of, value), *ours]:
                    found |= _of_signature(f"{name.removeprefix(package)[1:]}:{key}", method)
            elif inspect.isfunction(value):
                found |= _of_signature(f"{name.removeprefix(package)[1:]}:{of}", value)
    return found


def _modules(package: str) -> list[str]:
    start = importlib.import_module(package)
    inner = pkgutil.walk_packages(getattr(start, "__path__", ()), f"{package}.")
    return sorted([package, *(of.name for of in inner if not of.name.endswith("__main__"))])


def _of_signature(name: str, value: Any) -> dict[str, Any]:
    function = getattr(value, "__func__", value)
    if not inspect.isfunction(function) and not inspect.isclass(function):
        return {}
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    found = {
        of.name: _shown(of.default)
        for of in parameters
        if of.default is not inspect.Parameter.empty
    }
    return {name: ", ".join(f"{k}={v}" for k, v in found.items())} if found else {}


def _shown(value: Any) -> str:
    value = value.value if isinstance(value, enum.Enum) else value
    value = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
    return re.sub(r" at 0x\w+", "", repr(value))[:60]


def keep(path: Path, part: str, found: dict[str, Any]) -> None:
    """Write what this code gives into a `golden.json`: some of its runs, or all defaults."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    kept[part] = kept[part] | found if part == "runs" else found
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(rooms: list[str]) -> int:
    """Run the tests of some rooms, or of all, so that they keep what they find."""
    tests = sorted((ROOT / "tests").glob("*/*/golden/test_golden.py"))
    known = {path.parents[1].name for path in tests}
    if unknown := sorted({*rooms} - known):  # or pytest would run everything, and keep it
        sys.exit(f"ROOM must be one of {', '.join(sorted(known))}, found {', '.join(unknown)}")
    asked = [str(path) for path in tests if not rooms or path.parents[1].name in rooms]
    words = [sys.executable, "-m", "pytest", "-n0", "-q", "-k", "defaults or standard", *asked]
    return subprocess.run(words, cwd=ROOT, env=os.environ | {"TVCS_KEEP_GOLDEN": "1"}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
