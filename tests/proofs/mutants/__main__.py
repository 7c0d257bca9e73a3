"""Change the product a little, again and again, and see whether a fast test notices.

python -m tests.proofs.mutants constraint           # try what was not tried yet
python -m tests.proofs.mutants constraint --again   # try those again that no test noticed
python -m tests.proofs.mutants constraint --again --tests tests/core/test_constraint.py  # by these
python -m tests.proofs.mutants constraint --keep    # write counts and survivors beside this file
python -m tests.proofs.mutants campaign --others 150  # of those that the sample leaves out
python -m tests.proofs.mutants campaign --changed     # of files that changed since what is kept

What was found is kept in out/mutants/TARGET.json and used again while the module's text stays.
"""

import argparse
import collections
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.proofs.mutants.changes import mutants
from tests.proofs.mutants.targets import TARGETS, Target

ROOT = Path(__file__).parents[3]
KEPT = Path(__file__).parent
WORDS = {0: "killed", 10: "survived", 11: "late"}
SEED = 20261122
Found = dict[str, dict[str, Any]]


def files_of(target: Target, root: Path = ROOT) -> list[str]:
    """The modules of a target, in order."""
    found = []
    for name in target.modules:
        path = root / name
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    return [path.relative_to(root).as_posix() for path in found]


def chosen(
    target: Target, root: Path = ROOT, others: int | None = None
) -> tuple[int, dict[str, list[str]]]:
    """How many mutants there are, and the names of those that are tried of each file.

    A mutant is drawn by the hash of its name, so a change elsewhere draws no others. With `others`,
    so many that the sample leaves out: of these nobody has looked at a survivor.
    """
    named = list(_named(files_of(target, root), root))
    in_order = sorted(named, key=place_in_draw)
    size = len(named) if target.sample is None else target.sample
    kept = in_order[:size] if others is None else in_order[size : size + others]
    kept.sort(key=named.index)
    names: dict[str, list[str]] = collections.defaultdict(list)
    for file, name in kept:
        names[file].append(name)
    return len(named), dict(names)


def drawn(files: list[str], root: Path = ROOT, seed: int = SEED) -> list[tuple[str, str]]:
    """Return file and name of every mutant, in the order of the draw."""
    return sorted(_named(files, root), key=lambda named: place_in_draw(named, seed))


def _named(files: list[str], root: Path) -> Iterator[tuple[str, str]]:
    for file in files:
        for mutant in mutants((root / file).read_text(encoding="utf-8")):
            yield file, mutant.name


def place_in_draw(named: tuple[str, str], seed: int = SEED) -> str:
    """Where a mutant stands among all when some are drawn."""
    return hashlib.sha256(f"{seed} {named[0]} {named[1]}".encode()).hexdigest()


def known(path: Path, root: Path = ROOT) -> Found:
    """What was found before of files that are still the same."""
    if not path.exists():
        return {}
    return unchanged(json.loads(path.read_text(encoding="utf-8")), root)


def unchanged(found: Found, root: Path = ROOT) -> Found:
    """Return what was found of files that are still the same."""
    return {
        file: of
        for file, of in found.items()
        if (root / file).exists() and of["text"] == text(root / file)
    }


def text(path: Path) -> str:
    """What says whether a file is still the same."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def try_all(
    target: Target,
    names: dict[str, list[str]],
    path: Path,
    root: Path = ROOT,
    *,
    again: bool = False,
    limit: int | None = None,
) -> Found:
    """Try what is not known yet, in a copy of the tree, and keep what was found."""
    found = known(path, root)
    left: dict[str, list[str]] = {}
    room = limit
    for file, all_names in names.items():
        of = found.setdefault(file, {"text": text(root / file), "mutants": {}})["mutants"]
        survived = [name for name in all_names if name in of and of[name][0] == "survived"]
        missing = survived if again else [name for name in all_names if name not in of]
        missing = missing[:room]
        if room is not None:
            room -= len(missing)
        if missing:
            left[file] = missing
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "tree"
        if left:
            shutil.copytree(root, copy, ignore=skipped())
        asked = {"mutants": left, "observed": list(left), "seen": f"{folder}/seen"}
        for file, name, line, word, tests in answers(asked, copy, target) if left else ():
            found[file]["mutants"][name] = [word, line, tests]
            path.write_text(json.dumps(found, indent=1), encoding="utf-8")
            if word == "survived":
                print(f"{file}:{line}: {name} ({tests} tests)", flush=True)
    return found


def skipped() -> Callable[[Any, list[str]], set[str]]:
    """Return what says which files a copy of the tree does without."""
    return shutil.ignore_patterns(".git", ".venv", "out", "*_cache", "__pycache__")


def answers(asked: dict[str, Any], copy: Path, target: Target) -> Any:
    """What a process in the copy tells of each mutant."""
    asked = asked | target._asdict() | {"scratch": f"{copy}-scratch"}
    kernels = [file for file in asked["mutants"] if "kernels" in file]
    if kernels and not target.interpreted:
        raise SystemExit(f"{kernels[0]}: kernels are changed where they are interpreted, only")
    paths = os.pathsep.join(
        [str(copy), str(ROOT)]
    )  # ours is the copy, where it is one of this tree
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    environment["OPENBLAS_NUM_THREADS"] = environment["PYTHONHASHSEED"] = "1"
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they cost every process a second
    if target.interpreted:
        environment["NUMBA_DISABLE_JIT"] = "1"
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "tests.proofs.mutants.forks", str(writing)]
    log = copy.with_name(f"{copy.name}.log")
    with (
        log.open("w") as output,
        subprocess.Popen(
            command, cwd=copy, env=environment, pass_fds=[writing], text=True,
            stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT,
        ) as process,
    ):  # fmt: skip
        os.close(writing)
        assert process.stdin is not None
        with process.stdin as stdin:
            json.dump(asked, stdin)
        try:
            with os.fdopen(reading) as lines:
                for line in lines:
                    file, name, at, status, tests = json.loads(line)
                    yield file, name, at, WORDS.get(status, "killed"), tests
        except GeneratorExit:
            process.kill()
            raise
    if process.returncode:
        raise SystemExit(log.read_text(encoding="utf-8")[-4000:])


def summary(total: int, names: dict[str, list[str]], found: Found) -> dict[str, Any]:
    """Counts of each file that was tried, and what no test noticed."""
    files, survivors = {}, {}
    for file, tried in names.items():
        of = found[file]["mutants"]
        words = collections.Counter(of[name][0] for name in tried if name in of)
        files[file] = {
            "tried": words.total(),
            "killed": words["killed"] + words["late"],
            "late": words["late"],
        }
        left = {name: of[name][1] for name in tried if name in of and of[name][0] == "survived"}
        if left:
            survivors[file] = left
    return {"mutants": total, "files": files, "survivors": survivors}


def keep(
    target: str, counted: dict[str, Any], commit: str, folder: Path = KEPT, *, rest: bool = False
) -> None:
    """Write counts, of which commit they are, and survivors with the reasons given before.

    With the `rest`, what was kept of files that were not counted now stays.
    """
    path = folder / f"{target}.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    before = kept.get("survivors", {})
    for file, left in counted["survivors"].items():
        for name, line in left.items():
            reason = before.get(file, {}).get(name, {}).get("reason", "")
            left[name] = {"line": line, "reason": reason}
    if rest:
        others = set(kept["files"]) - set(counted["files"])
        for part in ("files", "survivors"):
            counted[part] |= {file: of for file, of in kept[part].items() if file in others}
    written = json.dumps({"commit": commit} | counted, indent=1, ensure_ascii=False)
    path.write_text(f"{written}\n", encoding="utf-8")


def git(*words: str) -> str:
    """What git says of this tree."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--again", action="store_true", help="try survivors again")
    parser.add_argument("--tests", nargs="+", help="run these alone: who they kill is killed")
    parser.add_argument("--keep", action="store_true", help="write counts and survivors")
    parser.add_argument("--changed", action="store_true", help="try files that changed since")
    parser.add_argument("--limit", type=int, help="try at most so many now")
    parser.add_argument("--others", type=int, help="try so many that the sample leaves out")
    options = parser.parse_args()
    if options.others is not None and options.keep:
        parser.error("what is kept is the sample: --keep or --others, not both")
    target = TARGETS[options.target]
    if options.tests:
        target = target._replace(tests=tuple(options.tests))
    total, names = chosen(target, others=options.others)
    if options.changed:
        kept = json.loads((KEPT / f"{options.target}.json").read_text(encoding="utf-8"))
        since = git("diff", "--name-only", kept["commit"]).split()
        names = {file: of for file, of in names.items() if file in since}
    path = ROOT / "out" / "mutants" / f"{options.target}.json"
    found = try_all(target, names, path, again=options.again, limit=options.limit)
    counted = summary(total, names, found)
    tried = sum(of["tried"] for of in counted["files"].values())
    killed = sum(of["killed"] for of in counted["files"].values())
    late = sum(of["late"] for of in counted["files"].values())
    asked = sum(map(len, names.values()))
    print(
        f"{options.target}: {tried} of {asked} tried (of {total}), {killed} killed"
        f" ({killed / max(tried, 1):.1%}), {late} of them by time"
    )
    if options.keep:
        keep(
            options.target,
            counted,
            git("rev-parse", "--short", "HEAD").strip(),
            rest=options.changed,
        )


if __name__ == "__main__":
    main()
