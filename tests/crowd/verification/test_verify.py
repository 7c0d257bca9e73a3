"""`crowd-tvcs verify`: what it proves, and what it says of files that were touched."""

import ast
import csv
import json
import math
import sys
from pathlib import Path

import pytest

import crowd_tvcs as package
from crowd_tvcs.verification.record_checks import digest
from crowd_tvcs.verification.tables import _of_hash
from tests.makers.commands import check_failed, crowd_tvcs, run_done, run_refused
from tests.makers.tables import edit
from tvcs_core.files.errors import DataError

PACKAGE = Path(package.__file__).parent


@pytest.fixture
def plan(tmp_path):
    """A folder that `assign` wrote, and the quality table beside it."""
    run_done("simulate", "--workers", 8, "--tasks", 12, "--out", tmp_path)
    done = run_done(
        "assign", tmp_path / "quality.csv", "--out", tmp_path / "plan",
        "--max-workers-per-task", 3, "--max-tasks-per-worker", 5, "--budget", 30,
    )  # fmt: skip
    assert "no plan can have more than" in done.stderr
    return tmp_path / "plan"


def test_what_assign_wrote_is_proved(plan):
    done = run_done("verify", plan)
    assert "proved             yes" in done.stdout
    summary = json.loads((plan / "summary.json").read_text())
    assert summary["certified"]
    assert summary["gap"] == pytest.approx(summary["bound"] - summary["expected_accuracy"])
    run_done("verify", plan, plan.parent / "quality.csv")


def test_one_pair_more_breaks_a_cap(plan):
    def overload(rows):
        worker = rows[1][0]
        has = {task for name, task in rows[1:] if name == worker}
        every = {task for _, task in rows[1:]}
        rows += [[worker, task] for task in sorted(every - has)]

    edit(plan / "assignment.csv", overload)
    done = crowd_tvcs("verify", plan)
    assert done.exit_code == 1
    assert "the cap is 5" in done.stderr
    assert "proved             no" in done.stdout


def test_a_pair_fewer_is_noticed(plan):
    edit(plan / "assignment.csv", lambda rows: rows.pop())
    assert "expected_accuracy: summary.json says" in check_failed(crowd_tvcs("verify", plan))


def test_unknown_names_and_repeated_pairs_are_named_with_their_lines(plan):
    edit(plan / "assignment.csv", lambda rows: rows.extend([["nobody", "t01"], rows[1]]))
    found = check_failed(crowd_tvcs("verify", plan))
    assert "'nobody' is no worker of the tables" in found
    assert "twice" in found


def test_another_price_is_another_bound(plan):
    def lower(rows):
        rows[1:] = [[worker, str(float(price) * 0.9 + 1e-4)] for worker, price in rows[1:]]

    edit(plan / "prices.csv", lower)
    assert "bound: summary.json says" in check_failed(crowd_tvcs("verify", plan))


def test_a_method_without_a_bound_is_not_proved(plan):
    crowd_tvcs("assign", plan.parent / "quality.csv", "--out", plan.parent / "q",
               "--method", "qlp", "--budget", 20)  # fmt: skip
    assert "not certified" in check_failed(crowd_tvcs("verify", plan.parent / "q"))


@pytest.mark.parametrize("missing", ["run.json", "summary.json", "assignment.csv", "prices.csv"])
def test_a_missing_file_is_bad_input(plan, missing):
    (plan / missing).unlink()
    assert missing in run_refused("verify", plan)


def test_another_quality_table_is_refused(plan):
    table = plan.parent / "quality.csv"
    table.write_text(table.read_text().replace("0.", "0.0", 1))
    assert "is not the file that was read" in run_refused("verify", plan)
    table.unlink()
    assert f"crowd-tvcs verify {plan} PATH/quality.csv" in run_refused("verify", plan)


@pytest.fixture
def apart(tmp_path, monkeypatch):
    """Tables in two folders, a plan in a third, all named from where the command runs."""
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    run_done("simulate", "--workers", 8, "--tasks", 12, "--out", "data/day")
    Path("caps").mkdir()
    with open("data/day/quality.csv", newline="") as file:
        worker = next(row for n, row in enumerate(csv.reader(file)) if n == 1)[0]
    Path("caps/workers.csv").write_text(f"worker,max_tasks\n{worker},2\n")
    run_done("assign", "data/day/quality.csv", "--out", "plans/today", "--workers",
                      "caps/workers.csv", "--max-workers-per-task", 3, "--budget", 30)  # fmt: skip
    return tmp_path / "home"


def test_tables_are_found_where_they_lay_from_any_folder(apart, monkeypatch):
    plan = apart / "plans" / "today"
    for here, name in (
        (apart, "plans/today"),
        (apart / "plans", "today"),
        ("/", plan),
        (plan, "."),
    ):
        monkeypatch.chdir(here)
        run_done("verify", name)
    moved = apart.rename(apart.parent / "elsewhere")
    monkeypatch.chdir("/")
    run_done("verify", moved / "plans/today")
    record = (moved / "plans/today/run.json").read_text()
    assert str(apart.parent) not in record  # no name of a home folder


def test_tables_that_are_elsewhere_are_asked_for_by_name(apart, monkeypatch):
    plan = Path("plans/today").rename("today-2")
    Path("data/day/quality.csv").rename("quality.csv")  # found here
    err = run_refused("verify", plan)
    assert "'workers.csv' is neither here nor beside today-2" in err
    assert "nor where it lay (../../caps/workers.csv from today-2)" in err
    Path("caps/workers.csv").rename("workers.csv")
    run_done("verify", plan)
    Path("far").mkdir()
    for name in ("quality.csv", "workers.csv"):
        Path(name).rename(f"far/{name}")
    run_refused("verify", plan)
    run_done("verify", plan, "far/quality.csv")
    run_refused("verify", plan, "near/quality.csv")


def test_a_table_that_was_changed_is_not_taken_for_another_of_its_name(apart):
    plan, table = Path("plans/today"), Path("data/day/quality.csv")
    right = table.read_text()
    table.write_text(right.replace("0.", "0.0", 1))
    err = run_refused("verify", plan)
    assert "is not the file that was read" in err
    assert "Verify with the table as it was, or plan again" in err
    Path("quality.csv").write_text(right)  # the one that was read, somewhere it is looked for
    run_done("verify", plan)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--max-tasks-per-worker", "has 5, the cap is 4"),
        ("--max-workers-per-task", "has 4, the cap is 3"),
        ("--budget", "budget: 13 answers, the budget is 12"),
    ],
)
def test_one_answer_above_a_cap_is_one_too_many(tmp_path, option, message):
    (tmp_path / "q.csv").write_text(
        "worker," + ",".join(f"t{j}" for j in range(6)) + "\n"
        + "".join(f"w{i}," + ",".join(f"0.{6 + i}{j}" for j in range(6)) + "\n" for i in range(4))
    )  # fmt: skip
    cap = {"--max-tasks-per-worker": 4, "--max-workers-per-task": 3, "--budget": 12}[option]
    words = ("assign", tmp_path / "q.csv", "--out", tmp_path / "p", option, cap)
    run_done(*words)

    def add(rows):
        pairs = {tuple(row) for row in rows[1:]}
        count = {f"w{i}": sum(p[0] == f"w{i}" for p in pairs) for i in range(4)}
        answers = {f"t{j}": sum(p[1] == f"t{j}" for p in pairs) for j in range(6)}
        rows.append(next(
            [w, t] for w in count for t in answers if (w, t) not in pairs
            and (option != "--max-tasks-per-worker" or count[w] == cap)
            and (option != "--max-workers-per-task" or answers[t] == cap)
        ))  # fmt: skip

    edit(tmp_path / "p" / "assignment.csv", add)
    assert message in check_failed(crowd_tvcs("verify", tmp_path / "p"))


def test_a_price_below_0_is_refused(plan):
    def lower(rows):
        rows[1][1] = "-0.001"

    edit(plan / "prices.csv", lower)
    err = run_refused("verify", plan)
    assert "prices.csv:2, column 'price': must be a price >= 0, found '-0.001'" in err


def test_a_pair_that_is_forbidden_is_named(tmp_path):
    (tmp_path / "q.csv").write_text("worker,t0,t1\nann,.9,.8\nbob,.7,.6\n")
    (tmp_path / "never.csv").write_text("worker,task\nann,t1\n")
    (tmp_path / "must.csv").write_text("worker,task\nbob,t0\n")
    run_done(
        "assign", tmp_path / "q.csv", "--out", tmp_path / "p",
        "--forbidden", tmp_path / "never.csv", "--forced", tmp_path / "must.csv",
    )  # fmt: skip
    edit(tmp_path / "p" / "assignment.csv", lambda rows: rows.append(["ann", "t1"]))
    assert "a pair that is not allowed: 'ann' on 't1'" in check_failed(
        crowd_tvcs("verify", tmp_path / "p")
    )
    edit(tmp_path / "p" / "assignment.csv", lambda rows: rows.remove(["bob", "t0"]))
    assert "a forced pair is missing: 'bob' on 't0'" in crowd_tvcs("verify", tmp_path / "p").stderr


@pytest.mark.parametrize("bound", [math.inf, 90.5, 1.001, -0.2])
def test_a_bound_is_finite_and_at_most_1_even_with_prices_to_match(plan, bound):
    record = json.loads((plan / "summary.json").read_text())
    record |= {"bound": bound, "gap": bound - record["expected_accuracy"], "budget_price": 3.0}
    (plan / "summary.json").write_text(json.dumps(record))
    done = crowd_tvcs("verify", plan)
    assert done.exit_code in (1, 2)
    wanted = "Infinity is no number of JSON" if bound == math.inf else f"summary.json says {bound}"
    assert wanted in done.stderr


@pytest.mark.parametrize("bad", ["{}", "[]", '{"parameters": []}', '{"inputs": [3]}'])
def test_a_record_that_is_not_whole_is_one_line(plan, bad):
    record = json.loads(bad)
    if record:
        record = {**json.loads((plan / "run.json").read_text()), **record}
    (plan / "run.json").write_text(json.dumps(record))
    err = run_refused("verify", plan)
    assert len(err.splitlines()) == 1
    assert "run.json: " in err


def imports(path):
    """Every module that a file names in an import."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return found


@pytest.mark.parametrize(
    "name",
    [
        *("verify", "branches", "summary_checks", "record_checks", "pricing"),
        *("pricing_many_classes", "accuracies", "bound_by_prices", "pairs"),
    ],
)
def test_what_verifies_uses_nothing_of_what_it_verifies(name):
    found = imports(PACKAGE / "verification" / f"{name}.py")
    crowd = {module.removeprefix("crowd_tvcs.") for module in found if "crowd_tvcs" in module}
    readers = {"plan.tables", "plan.plan", "plan.proof", "answers.columns", "answers.quality"}
    readers |= {"answers.coded", "answers.factors"}
    readers |= {"answers.confusion", "factors.tables", "plan.assigned"}
    # Where lines of tasks are priced is part of the proof; any other places would prove one too.
    readers |= {"factors.grid"} if name == "bound_by_prices" else set()
    assert {m for m in crowd if not m.startswith("verification")} <= readers
    others = {module.split(".")[0] for module in found} - sys.stdlib_module_names
    assert others <= {"numpy", "crowd_tvcs", "tvcs_core"}
    if "pricing" in name:
        assert "tvcs_core" not in others


def test_a_table_that_was_changed_is_looked_for_in_every_place(tmp_path):
    places = [tmp_path / name for name in "abc"]
    for place in places:
        place.write_text(place.name)
    shas = [digest(place) for place in places]
    assert [_of_hash(places, sha) for sha in shas] == places
    with pytest.raises(DataError) as found:
        _of_hash(places, "0" * 64)
    assert str(found.value) == (
        f"{places[0]}: is not the file that was read: its SHA-256 begins with {shas[0][:12]}, in "
        f"run.json with {'0' * 12}; nor is {places[1]}; nor is {places[2]}. Verify with the table "
        "as it was, or plan again"
    )
