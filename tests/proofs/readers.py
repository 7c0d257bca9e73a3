"""Every file that a command reads, beside those of `tests.every_command`: files of our own too."""

import gzip
import io
import json
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import numpy as np

from tests.every_command import (
    ANSWERS,
    COMMANDS,
    CONFIDENT,
    EDGES,
    GENES,
    GEO,
    GOLD,
    KINDS,
    LEVELS,
    PLAN,
    QUALITY,
    REFERENCE,
    RUN_OF_INFER,
    SERIES,
    STUDIO,
    TASKS,
    TIMED,
    TIMES,
    WORKERS,
)  # fmt: skip

STEADY = "G1\tG2\tG3\n" + "".join(f"{0.1 * i}\t{1 - 0.2 * i}\t0.5\n" for i in range(3))
CONFUSION = "worker,label,answer,probability\n" + "".join(
    f"{w},{y},{k},{0.8 if y == k else 0.2}\n" for w in ("ann", "bob") for y in "01" for k in "01"
)
BY_KIND = "worker,cats,dogs\nann,0.9,0.6\nbob,0.7,0.8\n"
OF_KINDS = "task,kind,prior,min_workers,max_workers\nt1,dogs,0.3,1,2\nt2,cats,,,\nt3,dogs,,0,1\n"
MONEY = "worker,cost,group\nann,1,a\nbob,2,b\n"
SHARES = "label,gold,share\n0,3,0.6\n1,2,0.4\n"
CAPS_OF_GENES = "G1\t2\nG2\t1\n"
STUDIO_MIN = json.dumps(
    [{"id": 1, "task": "t1", "label": "1", "annotator": 3, "annotation_id": 11, "lead_time": 1.2}]
)
OF_GOLD = "".join(ANSWERS.splitlines(keepends=True)[:10])
LEFT = "task\nt3\nt4\n"
CONTENT = "task,text,image\nt1,one,\nt2,two,\n"
CONTENT_LINES = '{"task": "t1", "text": "one"}\n{"task": "t2", "text": "two", "more": 3}\n'
V = np.array([[3.0, 1.0, 2.0], [1.0, 4.0, 0.5]])


def quiet(*words: str) -> None:
    """Run `crowd-tvcs` in this process and say nothing."""
    from crowd_tvcs.cli.main import app

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        app(list(words), standalone_mode=False)


@cache
def saved(kind: str) -> bytes:
    """A projection as it is saved: of a matrix, a sparse one, groups, blocks."""
    from scipy import sparse

    from tvcs_core import TVCS, project, project_blocks

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cube = TVCS.matrix(V.shape, row_caps=2, col_caps=1, total=3)
        if kind == "dense":
            found = project(V, cube)
        elif kind == "box":
            bounds = (np.full(V.shape, -1.0), np.full(V.shape, 2.0))
            allowed = ~np.eye(2, 3, dtype=bool)
            found = project(V, TVCS.matrix(V.shape, row_caps=2, allowed=allowed, bounds=bounds))
        elif kind == "sparse":
            found = project(sparse.coo_array(V), cube)
        elif kind == "groups":
            found = project([5.0, 4, 3, 1], TVCS.groups([0, 0, 1, -1], [0, 1, 0, 1], row_caps=1))
        else:
            (folder / "b").mkdir()
            for k, row in enumerate(V):
                np.save(folder / "b" / f"{k}.npy", row[None])
            found = project_blocks(folder / "b", cube)
        found.save(folder / "p.npz")
        return (folder / "p.npz").read_bytes()


def array(k: int) -> bytes:
    out = io.BytesIO()
    np.save(out, V[k : k + 1])
    return out.getvalue()


@cache
def plan(*words: str) -> dict[str, bytes]:
    """What `assign` writes, by name, and its tables."""
    tables = {"q.csv": QUALITY, "w.csv": MONEY}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in tables.items():
            (folder / file).write_text(text, encoding="utf-8")
        rest = [str(folder / w) if w.endswith(".csv") else w for w in words]
        quiet("assign", str(folder / "q.csv"), "--out", str(folder / "o"), *rest)
        return {f"o/{p.name}": p.read_bytes() for p in (folder / "o").iterdir()} | tables


@cache
def learnt(file: str) -> bytes:
    """A file that `quality` writes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.csv").write_text(ANSWERS, encoding="utf-8")
        (folder / "g.csv").write_text(GOLD, encoding="utf-8")
        words = ["--gold", str(folder / "g.csv"), "--per-class", "--out", str(folder / "o")]
        quiet("quality", str(folder / "a.csv"), *words)
        return (folder / "o" / file).read_bytes()


@cache
def store() -> bytes:
    """A campaign with an answer, a round, a lease of t3 to bob."""
    from crowd_tvcs.campaign import Campaign

    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "s.db"
        skill = {"ann": 0.9, "bob": 0.8}
        with Campaign.create(
            place, workers=skill, tasks=["t1", "t2", "t3"], qualities=skill, budget=5,
            lease_seconds=1e9,
        ) as campaign:  # fmt: skip
            assert campaign.plan(labels=2, method="greedy").pairs == [("ann", "t1"), ("ann", "t2")]
            campaign.submit("ann", "t1", "1", now=1.7e9)
            assert campaign.next("bob", now=1.7e9).task == "t3"
        return place.read_bytes()


def of_plan(file: str, *words: str) -> tuple:
    files = plan(*words)
    others = {name: content for name, content in files.items() if name != file}
    return file, files[file], others, "crowd-tvcs verify o"


def of_store(words: str, file: str = "s.db", content: object = None) -> tuple:
    if file == "s.db":
        return file, store(), {}, f"crowd-tvcs {words}"
    return file, content, {"s.db": store()}, f"crowd-tvcs {words}"


def of_infer(file: str, content: object, option: str, more: str = "") -> tuple:
    words = f"grn-tvcs infer e.tsv {option} {file} --method pcc --out o --force {more}"
    return file, content, {"e.tsv": SERIES}, words.strip()


def of_assign(file: str, content: object, option: str, more: str = "--method fast") -> tuple:
    words = f"crowd-tvcs assign q.csv {option} {file} {more} --out o --force"
    return file, content, {"q.csv": QUALITY}, words


INIT = "crowd-tvcs campaign init new.db --max-workers-per-task 2"
ASSIGNED = ("--max-workers-per-task", "1", "--budget", "2")
PAID = ("--workers", "w.csv", "--money", "3", "--method", "greedy")
BLOCKS = {"b/0.npy": array(0), "b/1.npy": array(1)}

# As in `tests.every_command`: the file that is damaged, what it holds, the others, the words; or a
# function that makes them.
MORE = {
    "project col caps": ("c.txt", "1\n2\n", {"v.csv": "1,2\n3,4\n"},
                         "tvcs project v.csv --col-caps c.txt --out p.npz --force"),
    "project blocks": ("b/0.npy", BLOCKS["b/0.npy"], {"b/1.npy": BLOCKS["b/1.npy"]},
                       "tvcs project b --total 2 --out p.npz --force"),
    "project csv.gz": ("v.csv.gz", gzip.compress(b"1,2\n3,4\n"), {},
                       "tvcs project v.csv.gz --total 2 --out p.npz --force"),
    **{f"verify {kind}": (lambda kind=kind: ("p.npz", saved(kind), {}, "tvcs verify p.npz"))
       for kind in ("dense", "sparse", "groups", "box")},
    "verify blocks": lambda: ("p.npz", saved("blocks"), BLOCKS, "tvcs verify p.npz --blocks b"),
    "check gz": ("e.tsv.gz", gzip.compress(SERIES.encode()), {},
                 "grn-tvcs check e.tsv.gz --missing interpolate"),
    "check geo gz": ("g.txt.gz", gzip.compress(GEO.encode()), {}, "grn-tvcs check g.txt.gz"),
    "check lineages": ("p.csv", ",p,q\nc1,0.1,\nc2,0.2,0.3\nc3,0.3,0.1\n",
                       {"l.csv": LEVELS, "w.csv": ",p,q\nc1,1,0\nc2,0.5,0.5\nc3,0.2,0.8\n"},
                       "grn-tvcs check l.csv --pseudotime p.csv --lineage-weights w.csv"),
    "check lineage weights": ("w.csv", ",p\nc1,1\nc2,0.5\nc3,0.2\n",
                              {"l.csv": LEVELS, "p.csv": TIMES},
                              "grn-tvcs check l.csv --pseudotime p.csv --lineage-weights w.csv"),
    "infer knock-outs": ("k.tsv", STEADY, {"e.tsv": SERIES},
                         "grn-tvcs infer e.tsv --knockouts k.tsv --method knock-outs --out o "
                         "--force"),
    "infer wild type": ("w.tsv", "G1\tG2\tG3\n1\t2\t0.5\n", {"e.tsv": SERIES, "k.tsv": STEADY},
                        "grn-tvcs infer e.tsv --knockouts k.tsv --wildtype w.tsv "
                        "--calibrate off --option resamples=2 --out o "
                        "--force"),
    "infer out-degrees": of_infer("c.tsv", CAPS_OF_GENES, "--out-degrees"),
    "infer targets": of_infer("g.txt", GENES, "--targets"),
    "infer genes": of_infer("g.txt", GENES, "--genes"),
    "infer reference": of_infer("r.tsv", REFERENCE, "--reference"),
    "infer resume": ("o/run.json", RUN_OF_INFER, {"e.tsv": SERIES, "o/edges.tsv": EDGES},
                     "grn-tvcs infer e.tsv --method pcc --out o --resume"),
    "compare edges": ("f/edges.tsv", EDGES,
                      {"f/run.json": RUN_OF_INFER, "g/edges.tsv": EDGES,
                       "g/run.json": RUN_OF_INFER},
                      "grn-tvcs compare f g --out o --force"),
    "score genes": ("g.txt", GENES, {"edges.tsv": EDGES, "r.tsv": REFERENCE},
                    "grn-tvcs score edges.tsv r.tsv --genes g.txt"),
    "assign forbidden": of_assign("f.csv", PLAN, "--forbidden"),
    "assign confusion": of_assign("c.csv", CONFUSION, "--confusion"),
    "assign money": of_assign("w.csv", MONEY, "--workers", "--method greedy --money 3"),
    "assign class prior": of_assign("c.csv", SHARES, "--classes 2 --class-prior"),
    "assign dependence": lambda: of_assign("d.json", learnt("dependence.json"), "--dependence"),
    "assign kinds": ("k.csv", BY_KIND, {"t.csv": OF_KINDS},
                     "crowd-tvcs assign --kinds k.csv --tasks t.csv --method fast --out o "
                     "--force"),
    "assign tasks of kinds": ("t.csv", OF_KINDS, {"k.csv": BY_KIND},
                              "crowd-tvcs assign --kinds k.csv --tasks t.csv --method fast "
                              "--out o --force"),
    **{f"verify plan, {name}": (lambda name=name: of_plan(f"o/{name}", *ASSIGNED))
       for name in ("assignment.csv", "prices.csv", "summary.json", "run.json", "report.html")},
    "verify plan, quality": lambda: of_plan("q.csv", *ASSIGNED),
    "verify plan, workers": lambda: of_plan("w.csv", *PAID),
    "vote quality": ("q.csv", "worker,task,quality\n" + "".join(
        f"w{i},t{j},0.{6 + i}\n" for i in range(3) for j in range(6)), {"a.csv": ANSWERS},
        "crowd-tvcs vote a.csv --quality q.csv --out o --force"),
    "vote gold": ("g.csv", GOLD, {"a.csv": ANSWERS},
                  "crowd-tvcs vote a.csv --gold g.csv --out o --force"),
    "vote prior": lambda: ("c.csv", learnt("classes.csv"), {"a.csv": ANSWERS, "g.csv": GOLD},
                   "crowd-tvcs vote a.csv --gold g.csv --prior c.csv --out o --force"),
    "quality tasks": ("t.txt", "t3\nt4\n", {"a.csv": ANSWERS, "g.csv": GOLD},
                      "crowd-tvcs quality a.csv --gold g.csv --tasks t.txt --out o --force"),
    "models gold": ("g.csv", GOLD, {"a.csv": CONFIDENT, "w.csv": KINDS},
                    "crowd-tvcs models a.csv --gold g.csv --workers w.csv --out o --force"),
    "workers gold": ("g.csv", GOLD, {"a.csv": TIMED},
                     "crowd-tvcs workers a.csv --gold g.csv --out o --force"),
    "workers workers": ("w.csv", "worker,cost\nw0,3\nw1,4\n", {"a.csv": TIMED, "g.csv": GOLD},
                        "crowd-tvcs workers a.csv --gold g.csv --workers w.csv --out o "
                        "--force"),
    "replay truth": ("g.csv", GOLD + "t3,1\nt4,0\n", {"a.csv": ANSWERS},
                     "crowd-tvcs replay a.csv g.csv --splits 2 --gold-share 0.5 --out o "
                     "--force"),
    "import label-studio min": ("m.json", STUDIO_MIN, {},
                                "crowd-tvcs import m.json --format label-studio --question "
                                "label --out o --force"),
    "import studio accounts": ("c.csv", "account,worker\n3,ann\n", {"m.json": STUDIO},
                                "crowd-tvcs import m.json --format label-studio --accounts "
                                "c.csv --out o --force"),
    "export folder": ("o/assignment.csv", PLAN, {"o/run.json": "{}"},
                      "crowd-tvcs export o --format label-studio --out x --force"),
    "campaign quality": ("q.csv", QUALITY, {}, f"{INIT} --quality q.csv"),
    "campaign gold": ("g.csv", GOLD, {"a.csv": OF_GOLD, "t.csv": LEFT},
                      f"{INIT} --gold g.csv --answers a.csv --tasks t.csv"),
    "campaign answers": ("a.csv", OF_GOLD, {"g.csv": GOLD, "t.csv": LEFT},
                         f"{INIT} --gold g.csv --answers a.csv --tasks t.csv"),
    "campaign workers": ("w.csv", WORKERS, {"q.csv": QUALITY},
                         f"{INIT} --quality q.csv --workers w.csv"),
    "campaign tasks": ("t.csv", TASKS, {"q.csv": QUALITY},
                       f"{INIT} --quality q.csv --tasks t.csv"),
    "campaign import": lambda: of_store("campaign import s.db a.csv", "a.csv",
                                "task,worker,label\nt3,bob,1\nt2,ann,0\n"),
    "campaign add": lambda: of_store("campaign add s.db --tasks t.csv", "t.csv",
                             "task,prior\nt8,0.4\nt9,0.5\n"),
    "campaign add workers": lambda: of_store("campaign add s.db --workers w.csv", "w.csv",
                                             "worker,max_tasks\ncid,2\ndan,1\n"),
    "campaign add gold": lambda: of_store("campaign add s.db --gold g.csv", "g.csv",
                                          "task,label\ng1,1\ng2,0\n"),
    "convert genes": ("g.txt", GENES, {"edges.tsv": EDGES},
                      "grn-tvcs convert edges.tsv --genes g.txt --to graphml --out o.graphml "
                      "--force"),
    "campaign change workers": lambda: of_store(
        "campaign change s.db --workers w.csv", "w.csv", "worker,max_tasks\nann,5\nbob,\n"),
    "campaign change tasks": lambda: of_store(
        "campaign change s.db --tasks t.csv", "t.csv", "task,min_workers,max_workers\nt1,1,5\n"),
    "serve invite": lambda: of_store("serve invite s.db --ids i.csv", "i.csv", "worker\np1\n"),
    "serve operators": lambda: of_store(
        "serve s.db --operators o.csv", "o.csv", "operator,password,may\neva,long enough,act\n"),
    "serve content": lambda: of_store("serve s.db --content c.csv", "c.csv", CONTENT),
    "serve lines": lambda: of_store("serve s.db --content c.jsonl", "c.jsonl", CONTENT_LINES),
    "serve instructions": lambda: of_store("serve s.db --instructions i.md", "i.md", "# Do\n"),
    "serve password": lambda: of_store("serve s.db --operator-password-file p.txt", "p.txt",
                                       "correct horse\n"),
    "store status": lambda: of_store("campaign status s.db"),
    "store next": lambda: of_store("campaign next s.db --worker ann"),
    "store submit": lambda: of_store("campaign submit s.db --worker bob --task t3 --label 1"),
    "store plan": lambda: of_store("campaign replan s.db --method greedy"),
    "store labels": lambda: of_store("campaign export-labels s.db"),
}  # fmt: skip


def reader(name: str) -> dict[str, tuple]:
    """The entry of one reader under its name, as `lay_out` takes it."""
    entry = {**COMMANDS, **MORE}[name]
    return {name: entry() if callable(entry) else entry}
