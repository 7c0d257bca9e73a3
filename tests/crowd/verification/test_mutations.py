"""Whatever is edited in what `assign` wrote, `crowd-tvcs verify` names it, or it is harmless.

Who edits a file here also writes its new SHA-256 into run.json, so that every field must be caught
by itself; what the hashes catch alone is in a test of its own. `HARMLESS` lists every kind of edit
that `verify` accepts, and why nothing false is then said.
"""

import copy
import csv
import hashlib
import io
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace

import numpy as np
import pytest

from crowd_tvcs.cli.main import verify as command
from crowd_tvcs.verification.summary_checks import OWN
from tests.makers.commands import run_done
from tests.makers.tables import save
from tests.proofs.counts import note


def verify(folder):
    """Run the command, without the parsing of its line."""
    out, message, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(message):
        try:
            command(folder)
        except SystemExit as end:
            code = end.code
    return SimpleNamespace(stdout=out.getvalue(), stderr=message.getvalue(), exit_code=code)


def tables(folder):
    """A small crowd with every table that `assign` reads."""
    rng = np.random.default_rng(5)
    workers, tasks = [f"w{i}" for i in range(6)], [f"t{j}" for j in range(7)]
    save(folder / "q.csv", ["worker", *tasks],
         *([w, *rng.uniform(0.55, 0.95, 7).round(3)] for w in workers))  # fmt: skip
    save(folder / "people.csv", ["worker", "cost", "group"],
         *([w, 1 + i % 3, "abab"[i : i + 1]] for i, w in enumerate(workers)))  # fmt: skip
    save(folder / "caps.csv", ["worker", "max_tasks"], ["w0", 2], ["w3", 5])
    save(folder / "tasks.csv", ["task", "prior", "min_workers", "max_workers"],
         ["t0", 0.7, 2, 3], ["t4", 0.4, 1, ""])  # fmt: skip
    save(folder / "must.csv", ["worker", "task"], ["w5", "t1"])
    save(folder / "never.csv", ["worker", "task"], ["w1", "t1"], ["w2", "t6"])
    chances = rng.dirichlet([1, 1, 1], (6, 3)) * 0.5 + 0.5 * np.eye(3)
    save(folder / "c.csv", ["worker", "label", "answer", "probability"],
         *([w, "xyz"[y], "xyz"[k], repr(float(chances[i, y, k]))]
           for i, w in enumerate(workers) for y in range(3) for k in range(3)))  # fmt: skip


PER_TASK = ("--max-workers-per-task", 3)
CASES = {
    "two classes": (*PER_TASK, "--max-tasks-per-worker", 3, "--budget", 15, "--prior", 0.6),
    "demands": (
        *PER_TASK, "--budget", 16, "--workers", "caps.csv", "--tasks", "tasks.csv",
        "--forced", "must.csv", "--forbidden", "never.csv",
    ),
    "three classes": (*PER_TASK, "--budget", 14, "--classes", 3, "--class-prior", "0.5,0.3,0.2"),
    "confusion": (*PER_TASK, "--budget", 12, "--confusion", "c.csv", "--forced", "must.csv"),
    "common error": (*PER_TASK, "--budget", 14, "--common-error", 0.1),
    "common error of three classes": (
        *PER_TASK, "--budget", 12, "--classes", 3, "--class-prior", "0.5,0.3,0.2",
        "--common-error", 0.2, "--forced", "must.csv",
    ),
    "money": (*PER_TASK, "--workers", "people.csv", "--money", 20, "--method", "greedy"),
    "money with a bound": (*PER_TASK, "--workers", "people.csv", "--money", 13),
    "groups of many classes": (
        *PER_TASK, "--workers", "people.csv", "--money", 20, "--classes", 3, "--forced", "must.csv",
        "--max-tasks-per-worker", 5,
    ),
    "qlp": (*PER_TASK, "--budget", 13, "--forced", "must.csv", "--method", "qlp"),
    "tvcs": (*PER_TASK, "--max-tasks-per-worker", 3, "--method", "tvcs"),
    "fast": ("--budget", 11, "--method", "fast"),
}  # fmt: skip


@pytest.fixture(scope="module", params=CASES)
def written(request, tmp_path_factory):
    """A folder of tables with the folder that `assign` wrote in it, and what `verify` says."""
    folder = tmp_path_factory.mktemp("written")
    tables(folder)
    words = [folder / word if str(word).endswith(".csv") else word for word in CASES[request.param]]
    run_done("assign", folder / "q.csv", "--out", folder / "plan", *words)
    before = verify(folder / "plan")
    is_certified = json.loads((folder / "plan" / "summary.json").read_text())["certified"]
    assert before.exit_code == (0 if is_certified else 1)
    claims = [line for line in before.stderr.splitlines() if "certified" in line]
    assert before.stderr.splitlines() == claims, before.stderr
    return folder, before


@pytest.fixture
def plan(written, tmp_path):
    """The same, to be edited."""
    shutil.copytree(written[0], tmp_path, dirs_exist_ok=True)
    return tmp_path / "plan"


def mend(folder):
    """Write the hashes of what lies there into run.json."""
    record = json.loads((folder / "run.json").read_text())
    for entry in record["outputs"]:
        path = folder / entry["file"]
        if path.exists():
            entry["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "run.json").write_text(json.dumps(record))


def read_rows(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def others(value):
    """Other values than this one, of its kind and of other kinds."""
    if isinstance(value, bool):
        return [not value, int(value), None, "true"]
    if isinstance(value, int):
        return [value + 1, -1, float(value), str(value), None, 10**30, True]
    if isinstance(value, float):
        return [value + 1e-6, value + 0.25, -1.0 - value, 1e300, 10**400, str(value), None]
    if isinstance(value, str):
        return [value + "x", "", None, 7, [value]]
    if value is None:
        return [0.5, 3, "all", False, []]
    if isinstance(value, list):
        return [value[:-1], [*value, value[-1]], [], None, {"0": value}, value[::-1], ["x", 3]]
    return [{}, None, [], "x", {**value, "more": 1}, dict(list(value.items())[1:])]


def places(value, at=()):
    """The place of every value in nested JSON; of many under one name the first and the last."""
    if at:
        yield at
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        for key in (
            keys if not at or len(keys) < 6 or at == ("parameters",) else keys[:1] + keys[-1:]
        ):
            yield from places(value[key], (*at, key))


def edits_of_json(path):
    """Edit every field in every way: (what to look for in the answer, the new text)."""
    record = json.loads(path.read_text())
    for at in places(record):
        place = record
        for key in at[:-1]:
            place = place[key]
        names = [str(key) for key in at if not isinstance(key, int)]
        # What another option leads to is named: that it does not fit what was written.
        names = [] if at[0] == "parameters" else names
        for other in others(place[at[-1]]):
            if json.dumps(other) == json.dumps(place[at[-1]]) or is_harmless(record, at, other):
                continue
            new, inner = copied(record, at)
            inner[at[-1]] = other
            yield names, json.dumps(new)
        if len(at) == 1 or not is_harmless(record, at, value_at(record, at)):
            new, inner = copied(record, at)
            del inner[at[-1]]
            yield names, json.dumps(new)
    yield ["more"], json.dumps({**record, "more": 1})
    text = json.dumps(record)
    first = json.dumps(next(iter(record)))
    yield ["there twice"], text.replace(first, f"{first}: null, {first}", 1)
    for bad in ("", "[]", "3", "{", '{"a": NaN}', "[" * 10_000, '{"command": 1e999}', "\x00"):
        yield ["JSON", "must hold", "missing", "must be", "binary"], bad


def copied(result, at):
    """A copy of nested JSON, and what of it holds the value at a place."""
    new = copy.deepcopy(result)
    inner = new
    for key in at[:-1]:
        inner = inner[key]
    return new, inner


def value_at(result, at):
    """The value at a place of nested JSON."""
    for key in at:
        result = result[key]
    return result


def is_harmless(result, at, other):
    """Edits of one field that say nothing that is known to be false, see `HARMLESS`."""
    if at[0] == "versions":
        return len(at) == 2 and isinstance(other, str) and other != ""
    if at[0] in ("reason", "seed", "time_limit") or at == ("parameters", "time_limit"):
        return type(other) is type(value_at(result, at)) and other not in ("", -1)
    if at[0] in OWN.get(result.get("method"), ()):
        return True  # what the method says of itself
    used_up = {"money_price": ("money_spent", "money"), "budget_price": ("assignments", "budget")}
    if at[0] in used_up and isinstance(other, float) and result[at[0]] is not None:
        # Where all is spent a range of prices proves the same bound, which is summed anew.
        spent, most = (result[name] for name in used_up[at[0]])
        return spent == most and result[at[0]] < other < result[at[0]] + 1e-5
    if at[0] == "leaves":
        # Names in another order or twice; other prices that prove the same bound.
        was = value_at(result, at)
        is_list = isinstance(other, list) and isinstance(was, list) and at[-1] != "branches"
        is_more = isinstance(other, float) and isinstance(was, float) and was < other
        # A test that no task may meet costs nothing in the bound, at any price.
        is_free = at[-1] == "price" and value_at(result, at[:-1]).get("at_most") == 0
        is_near = is_more and (is_free or other < was + 1e-5)
        return is_near or (is_list and {*map(str, other)} == {*map(str, was)})
    return False


def edits_of_rows(path):
    """Edit a table of two columns: (what to look for, the new rows)."""
    header, *rows = read_rows(path)
    for n in (0, len(rows) // 2, -1):
        dropped = [row for row in rows if row is not rows[n]]
        yield [], [header, *dropped]
        yield ["twice", "already"], [header, *rows, rows[n]]
        for column in (0, 1):
            for cell in ("", "nobody", "nan", "inf", "-0.001", "1e400", "0.125"):
                new = copy.deepcopy(rows)
                new[n][column] = cell
                yield [], [header, *new]
    yield ["columns"], [header[::-1], *rows]
    yield ["columns"], rows
    yield [], [header]
    yield ["cells"], [header, *rows, [*rows[0], "more"]]


def was_named(plan, before, words):
    """Whether `verify` says more than before, with one of `words`, in lines and not a traceback."""
    done = verify(plan)
    assert done.exit_code in (1, 2), (words, done.stdout, done.stderr)
    assert "unexpected" not in done.stderr, done.stderr
    message = {line.partition("plan: ")[2] for line in before.stderr.splitlines()}
    lines = done.stderr.splitlines()
    new = [line for line in lines if line.partition("plan: ")[2] not in message or "error" in line]
    assert new, (words, done.stderr)
    assert all(line.startswith((f"{plan}: ", "error: ")) for line in new), new
    if words:
        plain = " ".join(new).replace("-", "_")
        assert any(word.replace("-", "_") in plain for word in words), (words, new)
    return 1


# Options under which the same figures may hold: a cap that does not bind, a prior by which no vote
# turns, chances of classes in another order, the number of classes that a table says.
MAY_BE_AS_TRUE = ("max_tasks_per_worker", "max_workers_per_task", "prior", "class_prior", "classes")


def changed_option(before, new):
    """Return the option that an edited record has another value of, or None."""
    try:
        after = json.loads(new)["parameters"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    if not isinstance(after, dict) or set(after) != set(before):
        return None
    return next((name for name, value in before.items() if after[name] != value), None)


def is_as_true(plan, before):
    """Whether `verify` finds the same figures, and nothing wrong that it did not find before."""
    done = verify(plan)
    assert "unexpected" not in done.stderr, done.stderr
    is_same = (done.exit_code, done.stderr.count("\n")) == (
        before.exit_code,
        before.stderr.count("\n"),
    )
    return is_same and figures(done) == pytest.approx(figures(before), abs=1e-9)


def figures(done):
    """Return the accuracy and, where there is one, the bound that `verify` found."""
    values = [line.split()[-1] for line in done.stdout.splitlines()[:2]]
    return [float(value) for value in values if value != "None"]


def part_of(edits, request):
    """All edits in the slow test, every sixth here: another sixth in the next case."""
    if request.param == "all":
        return edits
    return edits[list(CASES).index(request.node.callspec.params["written"]) % 6 :: 6]


@pytest.fixture(params=["some", pytest.param("all", marks=pytest.mark.slow)])
def part(request):
    """Choose among edits: some of them, or in the slow test all."""
    return SimpleNamespace(
        of=lambda edits: part_of(list(edits), request),
        case=request.node.callspec.params["written"],
        is_all=request.param == "all",
    )


def test_every_field_of_the_summary_is_checked(written, plan, part):
    path, n = plan / "summary.json", 0
    for names, new in part.of(edits_of_json(path)):
        path.write_text(new)
        mend(plan)
        n += was_named(plan, written[1], names)
    assert n >= 20
    if part.is_all:
        note("saved plans", f"{part.case}: summary.json", edits=n)


def test_every_field_of_the_record_is_checked(written, plan, part):
    path, n, n_as_true = plan / "run.json", 0, 0
    before = json.loads(path.read_text())["parameters"]
    for names, new in part.of(edits_of_json(path)):
        path.write_text(new)
        if changed_option(before, new) in MAY_BE_AS_TRUE and is_as_true(plan, written[1]):
            n_as_true += 1
        else:
            n += was_named(plan, written[1], names)
    assert n >= 30
    assert n_as_true <= 2
    if part.is_all:
        note("saved plans", f"{part.case}: run.json", edits=n)


def test_every_value_of_the_branches_is_checked(written, plan, part):
    path, n = plan / "branches.json", 0
    for _, new in part.of(edits_of_json(path)) if path.exists() else []:
        path.write_text(new)
        mend(plan)
        n += was_named(plan, written[1], ["branches.json"])
    assert n >= 10 or not path.exists()
    if part.is_all:
        note("saved plans", f"{part.case}: branches.json", edits=n)


def test_every_pair_and_price_is_checked(written, plan, part):
    n = 0
    for name in ("assignment.csv", "prices.csv"):
        path = plan / name
        if path.exists():
            for names, rows in part.of(edits_of_rows(path)):
                save(path, *rows)
                mend(plan)
                n += was_named(plan, written[1], names)
            shutil.copy(written[0] / "plan" / name, path)
    assert n >= 7
    if part.is_all:
        note("saved plans", f"{part.case}: assignment.csv, prices.csv", edits=n)


def test_any_other_byte_in_a_file_that_was_written_or_read_is_noticed(written, plan):
    record = json.loads((plan / "run.json").read_text())
    paths = [plan / entry["file"] for entry in record["outputs"]]
    paths += [plan.parent / entry["file"] for entry in record["inputs"]]
    for path in paths:
        data = path.read_bytes()
        for at in (0, len(data) // 2, len(data) - 2):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            was_named(plan, written[1], [path.name])
        path.unlink()
        was_named(plan, written[1], [path.name, "is neither here nor beside"])
        path.write_bytes(data)
    (plan / "prices.csv").write_text("worker,price\n")
    was_named(plan, written[1], ["prices.csv"])


HARMLESS = {
    "JSON may be spaced, ordered and spelled in other ways": lambda plan: (
        respell(plan / "summary.json"), respell(plan / "run.json")),
    "a table may have its rows in another order, line ends of Windows, quotes, blank lines": (
        lambda plan: [retype(plan / name) for name in ("assignment.csv", "prices.csv")]),
    "words of the proof that are sets, and prices that prove the same, may be others": (
        lambda plan: turn(plan / "branches.json")),
    "a number may be off by less than the rounding of 1e-9": lambda plan: nudge(plan, 3e-10),
    "versions say what was installed; nothing that is checked rests on them": (
        lambda plan: set_version(plan)),
    "words of the report, with its hash: `verify` says that it does not read them": (
        lambda plan: append(plan / "report.html", "<!-- more -->")),
}  # fmt: skip


def respell(path):
    record = json.loads(path.read_text())
    path.write_text(json.dumps(dict(reversed(record.items())), indent=7, ensure_ascii=True))


def retype(path):
    if path.exists():
        header, *rows = read_rows(path)
        lines = [",".join(f'"{cell}"' for cell in row) for row in [header, *rows[::-1]]]
        path.write_bytes("\r\n\r\n".join([*lines, ""]).encode("utf-8-sig"))


def turn(path):
    if path.exists():
        record = json.loads(path.read_text())
        for leaf in record["leaves"]:
            for branch in leaf["branches"]:
                branch["tasks"] = branch["tasks"][::-1] + branch["tasks"][:1]
        path.write_text(json.dumps({"leaves": record["leaves"][::-1]}))


def nudge(plan, by):
    record = json.loads((plan / "summary.json").read_text())
    for name in ("expected_accuracy", "bound", "gap"):
        if record[name] and by < record[name] < 1.0 - by:
            record[name] += by
    (plan / "summary.json").write_text(json.dumps(record))


def set_version(plan):
    record = json.loads((plan / "run.json").read_text())
    record["versions"]["numpy"] = "9.9"
    (plan / "run.json").write_text(json.dumps(record))


def append(path, text):
    path.write_text(path.read_text() + text)


@pytest.mark.parametrize("kind", HARMLESS)
def test_what_is_harmless_is_accepted(written, plan, kind):
    HARMLESS[kind](plan)
    mend(plan)
    done = verify(plan)
    assert (done.exit_code, len(done.stderr.splitlines())) == (
        written[1].exit_code,
        len(written[1].stderr.splitlines()),
    ), done.stderr


def test_there_are_300_mutations_and_more(written, plan):
    n = sum(len(list(edits_of_json(plan / name))) for name in ("summary.json", "run.json"))
    n += len(list(edits_of_rows(plan / "assignment.csv")))
    assert n >= 300


def test_unchecked_files_are_named(written):
    message = [line for line in written[1].stdout.splitlines() if line.startswith("not checked ")]
    for words in ("seed", "versions", "report.html"):
        assert any(words in line for line in message)
