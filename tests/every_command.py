"""Every command that reads a file, with small inputs that it takes, to be damaged by tests."""

import json
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse

QUALITY = "worker,task,quality\nann,t1,0.9\nann,t2,0.8\nbob,t1,0.7\nbob,t2,0.6\n"
WIDE = "worker\tt1\tt2\nann\t0.9\t0.8\nbob\t0.7\t0.6\n"
ANSWERS = "task,worker,label\n" + "".join(
    f"t{j},w{i},{(i * j) % 2}\n" for j in range(6) for i in range(3)
)
TIMED = "task,worker,label,answered_at,seconds\n" + "".join(
    f"t{j},w{i},{(i * j) % 2},2026-03-01T12:{j:02d}:0{i}Z,{3 + i}\n"
    for j in range(6)
    for i in range(3)
)
RATINGS = "task,worker,label\n" + "".join(
    f"t{j},w{i},{min(3, 1 + j % 3 + (i + j) // 7)}\n" for j in range(6) for i in range(3)
)
RATED = "task,label\n" + "".join(f"t{j},{1 + j % 3}\n" for j in range(5))
PAIRS = "worker,left,right,answer\n" + "".join(
    f"w{k % 3},i{k % 4},i{(k + 1) % 4},{('left', 'right', 'tie')[k * k % 3]}\n" for k in range(12)
)
ORDERS = "left,right,answer\ni0,i1,left\ni1,i2,right\n"
SETS = "task,worker,label\n" + "".join(
    f"t{j},w{i},{('a', 'a;b', 'none', 'b;c')[(i + j) % 4]}\n" for j in range(6) for i in range(3)
)
GOLD_SETS = "task,label\n" + "".join(f"t{j},{('a', 'a;b', 'none')[j % 3]}\n" for j in range(5))
GOLD = "task,label\nt0,0\nt1,1\nt2,0\n"
SERIES = (
    "Time\tG1\tG2\tG3\n0\t1\t2\t3\n1\t2\t2.5\t1\n2\t3\t4\t0.5\n\n"
    "0\t1\t1\t2\n1\t2\t3\t1\n2\t4\t1\t3\n"
)
LEVELS = ",c1,c2,c3\nG1,1,2,3\nG2,3,2,1\nG3,1,1,4\n"
TIMES = ",p\nc1,0.1\nc2,0.2\nc3,0.3\n"
GEO = (
    '!Series_title\t"t"\n!Sample_characteristics_ch1\t"time: 0h"\t"time: 1h"\t"time: 2h"\n'
    '!series_matrix_table_begin\n"ID_REF"\t"c1"\t"c2"\t"c3"\n'
    '"G1"\t1\t2\t3\n"G2"\t3\t2\t1\n!series_matrix_table_end\n'
)
SHEET = "sample,time,series\nc1,0,a\nc2,1,a\nc3,2,a\n"
EDGES = (
    "regulator\ttarget\tscore\tsign\trank\tselected\nG1\tG2\t0.5\t+\t1\t1\nG2\tG3\t0.4\t-\t2\t0\n"
)
PRIOR = "TF\ttarget\tweight\nG1\tG2\t1\nG2\tG3\t0.5\n"
REFERENCE = "G1\tG2\t+\nG2\tG3\t-\n"
GENES = "G1\nG2\nG3\n"
CONDITIONS = "Time,state,replicate,G1,G2,G3\n" + "".join(
    f"{t},{state},{k},{t * k + 1},{t + k},{(t + k) % 3 + (state == 'b')}\n"
    for state in ("a", "b")
    for k in range(2)
    for t in range(4)
)
RUN_OF_INFER = json.dumps(
    {"command": "grn-tvcs infer", "parameters": {"method": "tvcs"}, "genes": ["G1", "G2", "G3"]}
)
RUN = json.dumps({"genes": ["G1", "G2", "G3"]})
WORKERS = "worker,max_tasks,cost,group\nann,1,2,a\nbob,2,1,b\n"
TASKS = "task,prior,min_workers,max_workers\nt1,0.4,0,1\nt2,0.5,1,2\n"
PLAN = "worker,task\nann,t1\nbob,t2\n"
SHOWN = "task,text\nt1,one\nt2,two\n"
CAPS = "1\n2\n"
MTURK = (
    "HITId,WorkerId,AssignmentStatus,Input.task,Answer.label\n"
    "h,w1,Approved,t1,1\nh,w2,Submitted,t1,0\n"
)
MTURK_TIMES = (
    "WorkerId,AssignmentStatus,Input.task,Answer.label,AcceptTime,SubmitTime,WorkTimeInSeconds\n"
    "w1,Approved,t1,1,Sun Mar 01 03:59:50 PST 2026,Sun Mar 01 04:00:00 PST 2026,9\n"
)
TOLOKA = (
    "INPUT:image\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:worker_id\tASSIGNMENT:status\n"
    "a.jpg\tcat\tcat\tw1\tAPPROVED\na.jpg\tdog\tcat\tw2\tSUBMITTED\nb.jpg\tdog\t\tw1\tREJECTED\n"
)
PROLIFIC = "PROLIFIC_PID,task,label,Status\np1,t1,1,APPROVED\np2,t1,0,REJECTED\np3,t2,0,APPROVED\n"
PRODIGY = (
    '{"task": "t1", "answer": "accept", "accept": ["1"], "_annotator_id": "ann"}\n'
    '{"task": "t2", "answer": "accept", "accept": ["0"], "_annotator_id": "bob"}\n'
)
ARGILLA = json.dumps(
    [{"id": "t1", "fields": {}, "metadata": {}, "suggestions": {}, "vectors": {},
      "responses": {"label": [{"value": "1", "user_id": "u1"}, {"value": "0", "user_id": "u2"}]}}]
)  # fmt: skip
STUDIO = json.dumps(
    [{"id": 1, "data": {"task": "t1"}, "annotations": [
        {"id": 2, "completed_by": 3, "was_cancelled": False, "result": [
            {"type": "choices", "from_name": "label", "value": {"choices": ["1"]}}]}]}]
)  # fmt: skip
CONFIDENT = "task,worker,label,confidence\n" + "".join(
    f"t{j},{w},{(j + (w == 'm2')) % 2},{'' if w == 'ann' else 0.9}\n"
    for j in range(6)
    for w in ("m1", "m2", "ann")
)
KINDS = "worker,kind,family,cost\nm1,model,f,1\nm2,model,f,1\nann,person,,2\n"
ACCOUNTS = "account,worker\nw1,ann\nw2,bob\n"


def _npz(path: Path) -> None:
    sparse.save_npz(path, sparse.coo_array(np.array([[1.0, 2.0], [0.0, 3.0]])))


def _npy(path: Path) -> None:
    np.save(path, np.array([[1.0, 2.0], [0.0, 3.0]]))


def _xlsx(path):
    import pandas as pd

    frame = pd.DataFrame({"Time": [0.0, 1, 2, 0, 1, 2], "G1": [1.0, 2, 3, 1, 2, 4]})
    frame.assign(G2=[2, 2.5, 4, 1, 3, 1]).to_excel(path, index=False)


def _h5ad(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file["X"] = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 1.0]])
        for part, names in (("obs", ["c1", "c2", "c3"]), ("var", ["G1", "G2"])):
            group = file.create_group(part)
            group["names"] = names
            group.attrs["_index"] = "names"
            group.attrs["column-order"] = ["time"] if part == "obs" else []
        file["obs"]["time"] = [0.0, 1.0, 2.0]


# Of every command: the file that is damaged and what it holds, the others, and the words.
COMMANDS = {
    "project csv": ("v.csv", "1,2\n3,4\n", {}, "tvcs project v.csv --total 2 --out p.npz --force"),
    "project tsv": ("v.tsv", "n\ta\tb\nx\t1\t2\n", {},
                    "tvcs project v.tsv --names --total 2 --out p.npz --force"),
    "project npy": ("v.npy", _npy, {}, "tvcs project v.npy --total 2 --out p.npz --force"),
    "project npz": ("v.npz", _npz, {}, "tvcs project v.npz --total 2 --out p.npz --force"),
    "project caps": ("c.txt", CAPS, {"v.csv": "1,2\n3,4\n"},
                     "tvcs project v.csv --row-caps c.txt --out p.npz --force"),
    "check": ("e.tsv", SERIES, {}, "grn-tvcs check e.tsv --missing interpolate"),
    "check turned": ("l.csv", LEVELS, {"s.csv": SHEET},
                     "grn-tvcs check l.csv --samples s.csv --genes-in-rows"),
    "check sheet": ("s.csv", SHEET, {"l.csv": LEVELS},
                    "grn-tvcs check l.csv --samples s.csv --genes-in-rows"),
    "check levels": ("l.csv", LEVELS, {"p.csv": TIMES},
                     "grn-tvcs check l.csv --pseudotime p.csv"),
    "check pseudotime": ("p.csv", TIMES, {"l.csv": LEVELS},
                         "grn-tvcs check l.csv --pseudotime p.csv"),
    "check regulators": ("r.txt", GENES, {"e.tsv": SERIES},
                         "grn-tvcs check e.tsv --regulators r.txt"),
    "check gene names": ("n.tsv", "id\tname\nG1\tx\nG2\ty\n", {"e.tsv": SERIES},
                         "grn-tvcs check e.tsv --missing interpolate --gene-names n.tsv"),
    "infer prior": ("p.tsv", PRIOR, {"e.tsv": SERIES},
                    "grn-tvcs infer e.tsv --prior p.tsv --calibrate off --option resamples=2 "
                    "--out o --force"),
    "check h5ad": ("x.h5ad", _h5ad, {}, "grn-tvcs check x.h5ad"),
    "check xlsx": ("x.xlsx", _xlsx, {}, "grn-tvcs check x.xlsx"),
    "check geo": ("g.txt", GEO, {}, "grn-tvcs check g.txt"),
    "check columns": ("e.tsv", "At\tG1\tG2\tkit\n0h\t1\t2\tx\n1h\t2\t3\ty\n", {},
                      "grn-tvcs check e.tsv --time-column At --ignore kit"),
    "score": ("edges.tsv", EDGES, {"g.txt": GENES, "r.tsv": REFERENCE},
              "grn-tvcs score edges.tsv r.tsv --genes g.txt"),
    "score reference": ("r.tsv", REFERENCE, {"g.txt": GENES, "edges.tsv": EDGES},
                        "grn-tvcs score edges.tsv r.tsv --genes g.txt"),
    "score run.json": ("run.json", RUN, {"edges.tsv": EDGES, "r.tsv": REFERENCE},
                       "grn-tvcs score edges.tsv r.tsv"),
    "compare": ("a.tsv", SERIES, {"b.tsv": SERIES},
                "grn-tvcs compare a.tsv b.tsv --missing interpolate --out o --force"),
    "compare column": ("e.csv", CONDITIONS, {},
                       "grn-tvcs compare e.csv --condition-column state --out o --force"),
    "compare run.json": ("f/run.json", RUN_OF_INFER, {"f/edges.tsv": EDGES, "g/edges.tsv": EDGES,
                                                      "g/run.json": RUN_OF_INFER},
                         "grn-tvcs compare f g --out o --force"),
    "convert": ("edges.tsv", EDGES, {"g.txt": GENES},
                "grn-tvcs convert edges.tsv --genes g.txt --to graphml --out o.graphml --force"),
    "simulate topology": ("r.tsv", REFERENCE, {},
                          "grn-tvcs simulate --topology r.tsv --points 3 --out o --force"),
    "assign": ("q.csv", QUALITY, {}, "crowd-tvcs assign q.csv --out o --force --budget 3"),
    "assign wide": ("q.tsv", WIDE, {},
                    "crowd-tvcs assign q.tsv --method greedy --out o --force --budget 3"),
    "assign workers": ("w.csv", WORKERS, {"q.csv": QUALITY},
                       "crowd-tvcs assign q.csv --workers w.csv --method fast --out o --force"),
    "assign tasks": ("t.csv", TASKS, {"q.csv": QUALITY},
                     "crowd-tvcs assign q.csv --tasks t.csv --method fast --out o --force"),
    "assign forced": ("f.csv", PLAN, {"q.csv": QUALITY},
                      "crowd-tvcs assign q.csv --forced f.csv --method fast --out o --force"),
    "what-if": ("q.csv", QUALITY, {}, "crowd-tvcs what-if q.csv --budgets 1,2 --method fast"),
    "quality": ("a.csv", ANSWERS, {"g.csv": GOLD},
                "crowd-tvcs quality a.csv --gold g.csv --out o --force"),
    "quality gold": ("g.csv", GOLD, {"a.csv": ANSWERS},
                     "crowd-tvcs quality a.csv --gold g.csv --out o --force"),
    "agreement": ("a.csv", ANSWERS, {},
                  "crowd-tvcs agreement a.csv --bootstrap 5 --out o --force"),
    "models": ("a.csv", CONFIDENT, {"g.csv": GOLD, "w.csv": KINDS},
               "crowd-tvcs models a.csv --gold g.csv --workers w.csv --out o --force"),
    "models workers": ("w.csv", KINDS, {"g.csv": GOLD, "a.csv": CONFIDENT},
                       "crowd-tvcs models a.csv --gold g.csv --workers w.csv --out o --force"),
    "workers": ("a.csv", TIMED, {"g.csv": GOLD},
                "crowd-tvcs workers a.csv --gold g.csv --out o --force"),
    "vote keep": ("a.csv", ANSWERS, {}, "crowd-tvcs vote a.csv --duplicates last --out o --force"),
    "assign minutes": ("w.csv", "worker,minutes\nann,2\nbob,0.5\n", {"q.csv": QUALITY},
                       "crowd-tvcs assign q.csv --workers w.csv --money 3 --method greedy "
                       "--out o --force"),
    "import times": ("m.csv", MTURK_TIMES, {},
                     "crowd-tvcs import m.csv --format mturk --times --out o --force"),
    "vote": ("a.csv", ANSWERS, {}, "crowd-tvcs vote a.csv --out o --force"),
    "vote scale": ("a.csv", RATINGS, {"g.csv": RATED},
                   "crowd-tvcs vote a.csv --gold g.csv --scale 1,2,3 --out o --force"),
    "vote scale gold": ("g.csv", RATED, {"a.csv": RATINGS},
                        "crowd-tvcs vote a.csv --gold g.csv --scale 1,2,3 --out o --force"),
    "multilabel": ("a.csv", SETS, {"g.csv": GOLD_SETS},
                   "crowd-tvcs multilabel a.csv --gold g.csv --out o --force"),
    "multilabel gold": ("g.csv", GOLD_SETS, {"a.csv": SETS},
                        "crowd-tvcs multilabel a.csv --gold g.csv --out o --force"),
    "rank": ("p.csv", PAIRS, {"k.csv": ORDERS},
             "crowd-tvcs rank p.csv --gold k.csv --next 2 --out o --force"),
    "rank gold": ("k.csv", ORDERS, {"p.csv": PAIRS},
                  "crowd-tvcs rank p.csv --gold k.csv --out o --force"),
    "replay": ("a.csv", ANSWERS, {"g.csv": GOLD + "t3,1\nt4,0\n"},
               "crowd-tvcs replay a.csv g.csv --splits 2 --gold-share 0.5 --out o --force"),
    "export": ("p.csv", PLAN, {}, "crowd-tvcs export p.csv --format mturk --out o --force"),
    "export tasks": ("t.csv", SHOWN, {"p.csv": PLAN},
                     "crowd-tvcs export p.csv --tasks t.csv --format prodigy --out o --force"),
    "import mturk": ("m.csv", MTURK, {},
                     "crowd-tvcs import m.csv --format mturk --out o --force"),
    "import toloka": ("m.tsv", TOLOKA, {},
                      "crowd-tvcs import m.tsv --format toloka --ground-truth --out o --force"),
    "import prolific": ("m.csv", PROLIFIC, {},
                        "crowd-tvcs import m.csv --format prolific --out o --force"),
    "import prodigy": ("m.jsonl", PRODIGY, {},
                       "crowd-tvcs import m.jsonl --format prodigy --out o --force"),
    "import argilla": ("m.json", ARGILLA, {},
                       "crowd-tvcs import m.json --format argilla --out o --force"),
    "import label-studio": ("m.json", STUDIO, {},
                            "crowd-tvcs import m.json --format label-studio --out o --force"),
    "import wide": ("m.csv", "task,ann,bob\nt1,cat,dog\nt2,dog,cat\n", {},
                    "crowd-tvcs import m.csv --format wide --out o --force"),
    "import accounts": ("c.csv", ACCOUNTS, {"m.csv": MTURK},
                        "crowd-tvcs import m.csv --format mturk --accounts c.csv --out o --force"),
}  # fmt: skip


def lay_out(name: str, folder: Path, commands: dict = COMMANDS) -> tuple[Path, list[str]]:
    """Write the inputs of a command; give the file to damage, and the words."""
    damaged, content, others, words = commands[name]
    for file, text in {damaged: content, **others}.items():
        (folder / file).parent.mkdir(exist_ok=True)
        if callable(text):
            text(folder / file)
        elif isinstance(text, bytes):
            (folder / file).write_bytes(text)
        else:
            (folder / file).write_text(text, encoding="utf-8")
    return folder / damaged, words.split()


@cache
def command_line(program: str):
    """What the typer app of a program makes of its options, made once: that takes .1 s and more."""
    from importlib import import_module

    import typer

    modules = {"tvcs": "tvcs_core.cli"}
    modules |= {f"{name}-tvcs": f"{name}_tvcs.cli.main" for name in ("grn", "crowd")}
    return typer.main.get_command(import_module(modules[program]).app)


def call(words: list[str], capture) -> tuple[int, str, str]:
    """Run a command in this process: exit code, standard output, standard error."""
    from tvcs_core.command.shell import run

    program, *rest = words
    app = command_line(program)
    before = sys.argv
    sys.argv = [program, *rest]
    code = 0
    capture.readouterr()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            run(app)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(bool(error.code))
    finally:
        sys.argv = before
    out, err = capture.readouterr()
    return code, out, err
