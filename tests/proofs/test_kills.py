"""kill -9 at random points of every command that writes: what is left is whole, or is no result.

Three of four runs kill themselves at a call of a function that is drawn, a third of these late,
where they write; the others are killed by another process after a time that is drawn.
``TVCS_KILLS=N`` asks for N of each command instead of 200. A run that ended before its moment came
does not count as a kill.
"""

import os
import re
import shutil
import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from itertools import count
from pathlib import Path
from random import Random

import pytest

from tests.every_command import (
    ANSWERS,
    CONFIDENT,
    EDGES,
    GENES,
    GOLD,
    KINDS,
    PLAN,
    QUALITY,
    RUN_OF_INFER,
    SERIES,
    STUDIO,
    TIMED,
)  # fmt: skip
from tests.proofs.counts import note
from tests.proofs.readers import BY_KIND, INIT, OF_KINDS, array, quiet, store
from tests.proofs.warm import Warm

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]

KILLS = int(os.environ.get("TVCS_KILLS", "200"))
LEFT = ".partial-"
MATRIX = "".join(f"{3 * i % 7},{i * i % 5},{i}\n" for i in range(1, 6))
SIX_STEPS = SERIES + "\n0\t3\t1\t1\n1\t2\t2\t2\n2\t1\t3\t5\n"  # fewer have no edge probabilities
ANSWERED = {"a.csv": ANSWERS, "g.csv": GOLD + "t3,1\nt4,0\n"}
FINISHED = {
    f"{d}/{n}": t for d in "fg" for n, t in (("edges.tsv", EDGES), ("run.json", RUN_OF_INFER))
}

# The words without --force, the inputs, and what is written: a folder, or files, the record last.
WRITING = {
    "project": ("tvcs project v.csv --total 4 --out p.npz", {"v.csv": MATRIX},
                ["p.npz", "p.npz.run.json"]),
    "project blocks": ("tvcs project b --total 2 --out p.npz",
                       {"b/0.npy": array(0), "b/1.npy": array(1)}, ["p.npz", "p.npz.run.json"]),
    "infer": ("grn-tvcs infer e.tsv --method pcc --out o", {"e.tsv": SERIES}, "o"),
    "infer --resume": ("grn-tvcs infer e.tsv --method tvcs --option resamples=8 --out o --resume",
                       {"e.tsv": SERIES}, "o"),
    "infer combined --resume": ("grn-tvcs infer e.tsv --option resamples=4 --calibrate 1 --out o "
                                "--resume", {"e.tsv": SIX_STEPS}, "o"),
    "compare": ("grn-tvcs compare f g --out o", FINISHED, "o"),
    "convert": ("grn-tvcs convert edges.tsv --genes g.txt --to graphml --out n.graphml",
                {"edges.tsv": EDGES, "g.txt": GENES}, ["n.graphml"]),
    "simulate a network": ("grn-tvcs simulate --genes 4 --series 1 --points 3 --out o", {}, "o"),
    "assign": ("crowd-tvcs assign q.csv --budget 3 --out o", {"q.csv": QUALITY}, "o"),
    "assign --kinds": ("crowd-tvcs assign --kinds k.csv --tasks t.csv --method fast --out o",
                       {"k.csv": BY_KIND, "t.csv": OF_KINDS}, "o"),
    "quality": ("crowd-tvcs quality a.csv --gold g.csv --out o", ANSWERED, "o"),
    "vote": ("crowd-tvcs vote a.csv --out o", ANSWERED, "o"),
    "workers": ("crowd-tvcs workers a.csv --gold g.csv --out o",
                {"a.csv": TIMED, "g.csv": GOLD}, "o"),
    "replay": ("crowd-tvcs replay a.csv g.csv --splits 2 --gold-share 0.5 --out o", ANSWERED, "o"),
    "agreement": ("crowd-tvcs agreement a.csv --bootstrap 5 --out o", ANSWERED, "o"),
    "models": ("crowd-tvcs models a.csv --gold g.csv --workers w.csv --out o",
               {"a.csv": CONFIDENT, "g.csv": GOLD, "w.csv": KINDS}, "o"),
    "export": ("crowd-tvcs export p.csv --format prodigy --out o", {"p.csv": PLAN}, "o"),
    "import": ("crowd-tvcs import m.json --format label-studio --out o", {"m.json": STUDIO}, "o"),
    "simulate a crowd": ("crowd-tvcs simulate --workers 4 --tasks 6 --out o", {}, "o"),
    "campaign report": ("crowd-tvcs campaign report s.db --out r.html", {"s.db": store},
                        ["r.html"]),
    "campaign export-labels": ("crowd-tvcs campaign export-labels s.db --out l.csv",
                               {"s.db": store}, ["l.csv"]),
    "campaign export-answers": ("crowd-tvcs campaign export-answers s.db --out a.csv",
                                {"s.db": store}, ["a.csv"]),
    "campaign pending": ("crowd-tvcs campaign pending s.db --out i.csv", {"s.db": store},
                        ["i.csv"]),
}  # fmt: skip


def lay_out(folder: Path, inputs: dict) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in inputs.items():
        content = content() if callable(content) else content
        (folder / name).parent.mkdir(exist_ok=True)
        new = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(new)
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    """What lies in a folder, by name, whatever it is called."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def results(found: dict[str, bytes]) -> dict[str, bytes]:
    """What is no partial file, no finished unit of a killed run, and none of SQLite's own."""
    return {
        name: content
        for name, content in found.items()
        if LEFT not in name and "/.resume/" not in name and not name.endswith(("-wal", "-shm"))
    }


def moments(rng: Random, whole: dict, took: float):
    """Where runs are killed: by calls, by calls near the end, by time."""
    last = whole["events"]
    for k in count():
        if k % 4 == 0:
            yield {"seconds": rng.uniform(0.0, took)}
        elif k % 4 == 1:
            yield {"events": rng.randint(max(1, last - last // 4), last)}
        else:
            yield {"events": rng.randint(1, last)}


def killed(process: Warm, place: Path, inputs: dict, moments, kills: int = KILLS):
    """Lay out, run and kill until so many runs were killed; gives the moment of each."""
    done = 0
    for k, moment in enumerate(moments):
        if done == kills:
            return
        assert k < 3 * kills, f"{done} of {k} runs were killed"
        answer = process.run(lay_out(place, inputs), **moment)
        if answer["killed"]:
            done += 1
            yield moment
        else:  # it ended before its time was over
            assert answer["code"] == 0, answer


def is_whole(found: dict[str, bytes], written: str | list[str]) -> bool:
    """Whether what lies there says that it is complete."""
    return (f"{written}/run.json" if isinstance(written, str) else written[-1]) in found


@pytest.fixture
def warm(tmp_path):
    opened = []

    def _warm(words, inputs):
        opened.append(Warm(words.split(), lay_out(tmp_path / "first", inputs)))
        return opened[-1]

    yield _warm
    for one in opened:
        one.close()


@pytest.mark.parametrize("name", WRITING)
def test_a_killed_run_leaves_a_result_or_none_and_is_run_again(warm, tmp_path, name):
    words, inputs, written = WRITING[name]
    inputs = {n: c() if callable(c) else c for n, c in inputs.items()}
    process, rng, place = warm(words, inputs), Random(name), tmp_path / "place"
    whole = process.run(lay_out(place, inputs), events=-1)
    assert whole["code"] == 0, whole
    expected = everything(place)
    took = process.run(lay_out(place, inputs))["took"]
    counts = {"kills": 0, "complete": 0, "left something": 0}
    for moment in killed(process, place, inputs, moments(rng, whole, took)):
        counts["kills"] += 1
        found = everything(place)
        if is_whole(found, written):
            counts["complete"] += 1
            mine = results(found)
            assert mine == expected, f"{moment}: complete, but {sorted(found)}"
            if "--resume" not in words:
                continue
        counts["left something"] += found.keys() != inputs.keys()
        again = process.run(place)
        assert again["code"] == 0, f"{moment}: {again['said']}, of {sorted(found)}"
        assert everything(place) == expected, f"{moment}: {sorted(everything(place))}"
    note("kills", name, **counts)


@pytest.mark.parametrize("name", [n for n in WRITING if isinstance(WRITING[n][2], str)])
def test_a_killed_run_that_replaces_another_never_mixes_them(warm, tmp_path, name):
    words, inputs, written = WRITING[name]
    words = f"{words} --force".replace(" --resume", "")
    inputs = {n: c() if callable(c) else c for n, c in inputs.items()}
    process, rng, place = warm(words, inputs), Random(f"{name} force"), tmp_path / "place"
    whole = process.run(lay_out(place, inputs), events=-1)
    expected = everything(place)
    old = {n: c + b" " if n.startswith(f"{written}/") else c for n, c in expected.items()}
    old[f"{written}/more.txt"] = b"of the old run"
    took, kills, mixed = process.run(place)["took"], 0, 0
    for moment in killed(process, place, old, moments(rng, whole, took), KILLS // 4):
        kills += 1
        found = results(everything(place))
        if is_whole(found, written):
            new = {**expected, f"{written}/more.txt": b"of the old run"}
            assert found in (old, new), f"{moment}: {sorted(found)}"
        else:
            mixed += 1
        assert process.run(place)["code"] == 0
        left = {n: c for n, c in everything(place).items() if not n.endswith("more.txt")}
        assert left == expected, f"{moment}: {sorted(left)}"
    note("kills with --force", name, kills=kills, **{"without run.json": mixed})


@cache
def store_after(words: str = "", *, made: str = "") -> bytes:
    """The store of `store`, or of a command that makes `s.db`, after one more command."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            if made:
                Path("q.csv").write_text(QUALITY)
                quiet(*made.split())
            else:
                Path("s.db").write_bytes(store())
            if words:
                quiet(*words.split())
            return Path("s.db").read_bytes()
        finally:
            os.chdir(before)


OF_TABLE = f"{INIT.removeprefix('crowd-tvcs ').replace('new.db', 's.db')} --quality q.csv"
CLOSE = "campaign review s.db --close --min-gain 0.9"

# The words and what is there before; beside the store some write a file.
CHANGES = {
    "campaign init": (f"crowd-tvcs {OF_TABLE}", {"q.csv": QUALITY}),
    "campaign plan": ("crowd-tvcs campaign plan s.db --method greedy --out r.csv",
                      {"s.db": lambda: store_after(made=OF_TABLE)}),
    "campaign replan": ("crowd-tvcs campaign replan s.db --method greedy", {"s.db": store}),
    "campaign import": ("crowd-tvcs campaign import s.db a.csv",
                        {"s.db": store, "a.csv": "task,worker,label\nt3,bob,1\nt2,ann,0\n"}),
    "campaign add": ("crowd-tvcs campaign add s.db --workers w.csv --tasks t.csv",
                     {"s.db": store, "w.csv": "worker,max_tasks\ncid,2\n",
                      "t.csv": "task,prior\nt8,0.4\nt9,0.5\n"}),
    "campaign review --close": (f"crowd-tvcs {CLOSE}", {"s.db": store}),
    "campaign reopen": ("crowd-tvcs campaign reopen s.db",
                        {"s.db": lambda: store_after(CLOSE)}),
    "campaign next": ("crowd-tvcs campaign next s.db --worker ann",
                      {"s.db": lambda: store_after("campaign release s.db --round 1")}),
    "campaign submit": ("crowd-tvcs campaign submit s.db --worker bob --task t3 --label 1",
                        {"s.db": store}),
    "campaign skip": ("crowd-tvcs campaign skip s.db --worker ann --task t2", {"s.db": store}),
    "campaign undo": ("crowd-tvcs campaign undo s.db --worker ann", {"s.db": store}),
    "campaign release": ("crowd-tvcs campaign release s.db --round 1", {"s.db": store}),
    "campaign pause": ("crowd-tvcs campaign pause s.db", {"s.db": store}),
    "campaign resume": ("crowd-tvcs campaign resume s.db",
                        {"s.db": lambda: store_after("campaign pause s.db")}),
    # After the first, which also makes what signs links: by itself that is no link.
    "serve links": ("crowd-tvcs serve links s.db --out l.csv",
                    {"s.db": lambda: store_after("serve links s.db")}),
    "serve revoke": ("crowd-tvcs serve revoke s.db --worker ann",
                     {"s.db": lambda: store_after("serve links s.db")}),
}  # fmt: skip


def told(place: Path) -> dict[str, list] | None:
    """All rows of a store, read by SQLite alone; None if there is no campaign in it."""
    if not (place / "s.db").exists():
        return None
    with closing(sqlite3.connect(place / "s.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        names = [
            n for (n,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        rows = {n: sorted(map(repr, connection.execute(f'SELECT * FROM "{n}"'))) for n in names}
    return without_chance(rows) if rows.get("campaign") else None


def beside(place: Path) -> dict[str, str]:
    """The files beside a store, without those of SQLite."""
    found = everything(place)
    return {
        name: without_secrets(content.decode("utf-8", "replace"))
        for name, content in found.items()
        if not name.startswith("s.db")
    }


@pytest.mark.parametrize("name", CHANGES)
def test_a_killed_change_of_a_store_is_made_or_not(warm, tmp_path, name):
    pytest.importorskip("sqlalchemy")
    words, inputs = CHANGES[name]
    inputs = {n: c() if callable(c) else c for n, c in inputs.items()}
    process, rng, place = warm(words, inputs), Random(name), tmp_path / "place"
    before = told(lay_out(place, inputs))
    whole = process.run(place, events=-1)
    assert whole["code"] == 0, whole
    after, files = told(place), beside(place)
    assert after != before, "the command changes nothing"
    took = process.run(lay_out(place, inputs))["took"]
    counts = {"kills": 0, "made": 0, "not made": 0}
    for moment in killed(process, place, inputs, moments(rng, whole, took)):
        counts["kills"] += 1
        found = told(place)
        assert found in (before, after), f"{moment}: {found}"
        assert results(beside(place)).items() <= files.items(), f"{moment}: {sorted(files)}"
        counts["made" if found == after else "not made"] += 1
        if found != after:
            again = process.run(place)
            assert again["code"] == 0, f"{moment}: {again['said']}"
            assert told(place) == after
            assert beside(place) == files, f"{moment}: {sorted(beside(place))}"
    note("kills of changes", name, **counts)


def test_a_plan_that_was_killed_before_its_file_was_written_can_be_printed(warm, tmp_path):
    """The round is issued then: the pairs are those that the file would have held."""
    words, inputs = CHANGES["campaign plan"]
    place = lay_out(tmp_path / "place", {"s.db": store_after(made=OF_TABLE)})
    process = warm(words, {n: c() for n, c in inputs.items()})
    assert process.run(place)["code"] == 0
    issued = "crowd-tvcs campaign pending s.db --out i.csv"
    assert process.run(place, issued.split())["code"] == 0
    assert (place / "i.csv").read_bytes() == (place / "r.csv").read_bytes()


def without_secrets(text: str) -> str:
    """Text without what makes a link one that nobody guesses."""
    return re.sub(r"/w/[\w.~-]+", "/w/secret", text)


def without_chance(rows: dict[str, list]) -> dict[str, list]:
    """Rows without moments, counted from 2023, hashes of links and what signs them."""
    chance = re.compile(r"\b\d{8,10}\.\d+|\b[0-9a-f]{64}\b|(?<=')[\w-]{43}(?=')")
    return {name: [chance.sub("any", row) for row in part] for name, part in rows.items()}
