"""What gold foresees of a plan, as an operator meets it: `assign --dependence`, and `verify`."""

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest

from crowd_tvcs import METHODS, Assignment, Plan, Quality
from crowd_tvcs.factors import tables
from crowd_tvcs.methods import Method
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.skills.accuracy_forecast import ForecastModel
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.verification.verify import verify
from crowd_tvcs.what_if import what_if as what_if_budget
from tests.makers.commands import check_done, crowd_tvcs, run_done, run_refused

TABLE = "worker,t1,t2,t3\nann,0.9,0.6,0.7\nbob,0.7,0.8,0.55\ncy,0.6,0.6,0.8\n"
TOLD = ForecastModel(50, (1, 2, 3), (0.85, 0.8, 0.75), 0.6, (0.01, 0.02, 0.06))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quality.csv").write_text(TABLE)
    model = Dependence(plan_error=0.2, forecast_model=TOLD, source="gold", gold=50)
    (tmp_path / "other.json").write_text(json.dumps(model.as_json()))
    return tmp_path


def assign(*words):
    return crowd_tvcs("assign", "quality.csv", *words)


def summary_of(folder):
    return json.loads((folder / "summary.json").read_text())


@pytest.mark.parametrize(
    "words",
    [
        ("--dependence", "other.json"),
        ("--dependence", "other.json", "--classes", 3),
        ("--dependence", "other.json", "--prior", 0.7, "--max-workers-per-task", 2),
        ("--dependence", "other.json", "--budget", 4, "--method", "fast"),
    ],
)
def test_a_plan_says_what_gold_foresees_and_verify_agrees(folder, words):
    done = check_done(assign("--out", "plan", *words))
    record = summary_of(folder / "plan")
    forecast = record["forecast"]
    assert forecast["gold_tasks"] == 50
    assert forecast["low"] < forecast["accuracy"] < forecast["high"]
    assert record["expected_accuracy"] < forecast["accuracy"] <= record["expected_accuracy"] + 0.06
    assert f"predicted accuracy {forecast['accuracy']:.3f} (95 % interval" in done.stderr
    page = (folder / "plan" / "report.html").read_text()
    assert f"{100 * forecast['low']:.2f} % to {100 * forecast['high']:.2f} %" in page
    assert verify(folder / "plan").violations == [
        line for line in verify(folder / "plan").violations if "not certified" in line
    ]
    # The command of the report makes the same plan again.
    command = page.split("<pre>crowd-tvcs assign ")[1].split(" --out DIR")[0]
    run_done("assign", *shlex.split(command), "--out", "again")
    assert summary_of(folder / "again") == record


def test_what_is_foreseen_cannot_be_altered(folder):
    assert assign("--out", "plan", "--dependence", "other.json").exit_code == 0
    record = summary_of(folder / "plan")
    for name, value in (("accuracy", 0.99), ("low", 0.8), ("high", 0.9999), ("gold_tasks", 500)):
        altered = record | {"forecast": record["forecast"] | {name: value}}
        (folder / "plan" / "summary.json").write_text(json.dumps(altered))
        assert any(f"forecast, '{name}'" in line for line in verify(folder / "plan").violations)
    del record["forecast"]
    (folder / "plan" / "summary.json").write_text(json.dumps(record))
    assert any("forecast: is missing" in line for line in verify(folder / "plan").violations)


@pytest.mark.parametrize("least", [0.3, 0.5])
def test_verify_believes_honest_plans_of_large_teams_of_several_classes(folder, rng, least):
    """Their accuracies are drawn: what is forecast follows from those that the plan says."""
    result = replace(TOLD, labels=(1, 2, 5), best=(0.85, 0.8, 0.7), usual=0.5)
    model = Dependence(forecast_model=result, source="gold", gold=50)
    (folder / "other.json").write_text(json.dumps(model.as_json()))
    rows = [f"w{i},{q:.3f}" for i, q in enumerate(rng.uniform(least, least + 0.2, 14))]
    (folder / "quality.csv").write_text("\n".join(["worker,t1", *rows, ""]))
    words = ("--dependence", "other.json", "--classes", 6, "--method", "fast")
    assert assign("--out", "plan", *words).exit_code == 0
    assert verify(folder / "plan").violations == ["summary.json claims no bound: not certified"]
    summary = summary_of(folder / "plan")
    assert summary["standard_error"] > 0.0
    summary["forecast"]["accuracy"] += 1e-6
    (folder / "plan" / "summary.json").write_text(json.dumps(summary))
    assert any("forecast, 'accuracy'" in line for line in verify(folder / "plan").violations)


def test_nothing_is_foreseen_of_another_common_error_or_without_gold(folder):
    words = ("--dependence", "other.json", "--common-error", 0.1)
    done = check_done(assign("--out", "other", *words))
    message = "other.json: no accuracy forecast, which is for its own common error only, 0.200"
    assert message in done.stderr.splitlines()
    assert "forecast" not in summary_of(folder / "other")
    assert not any("forecast" in line for line in verify(folder / "other").violations)
    (folder / "other.json").write_text(json.dumps(Dependence(plan_error=0.2).as_json()))
    assert assign("--out", "none", "--dependence", "other.json").exit_code == 0
    assert summary_of(folder / "none")["common_error"] == 0.2
    assert "forecast" not in summary_of(folder / "none")


def what_if(*words):
    return crowd_tvcs("what-if", "quality.csv", *words)


def test_a_number_says_nothing_of_gold(folder):
    for name, words in (
        ("file", ("--dependence", "other.json")),
        ("number", ("--common-error", 0.2)),
    ):
        assert assign("--out", name, *words).exit_code == 0
    summary_record = summary_of(folder / "file")
    assert "forecast" in summary_record
    without = {name: value for name, value in summary_record.items() if name != "forecast"}
    assert summary_of(folder / "number") == without


def test_what_if_says_what_gold_foresees_of_every_budget(folder):
    words = ("--budgets", "3,6", "--method", "fast", "--dependence", "other.json")
    done = check_done(what_if(*words, "--json"))
    assert "other.json: the common error of the crowd is 0.200" in done.stderr
    rows = json.loads(done.stdout)["budgets"]
    for row in rows:
        more = ("--method", "fast", "--budget", row["found_at"], "--dependence", "other.json")
        assert assign("--out", f"plan{row['budget']}", *more).exit_code == 0
        assert row["forecast"] == summary_of(folder / f"plan{row['budget']}")["forecast"]
    shown = what_if(*words).stdout.splitlines()
    assert shown[0].split()[-3:] == ["forecast", "low", "high"]
    last = rows[-1]["forecast"]
    assert shown[-1].split()[-3:] == [f"{last[name]:.4f}" for name in ("accuracy", "low", "high")]
    without = what_if("--budgets", "3,6", "--method", "fast", "--common-error", 0.2)
    assert "forecast" not in without.stdout
    own = what_if("--budgets", 3, "--dependence", "other.json", "--common-error", 0.1)
    assert (
        "other.json: no accuracy forecast, which is for its own common error only, 0.200"
        in own.stderr
    )
    assert "forecast" not in own.stdout


def test_what_a_budget_keeps_of_a_smaller_one_it_foresees_too(monkeypatch):
    plan = Plan(Quality([[0.9, 0.8, 0.7]], ["ann"], ["t1", "t2", "t3"]), common_error=0.2)

    def lazy(plan, *, rng, deadline):
        support = np.zeros(plan.quality.shape, dtype=bool)
        support[0] = plan.budget <= 3
        return Assignment(plan, Assigned.of_support(support), "lazy", "no wish for more")

    class Lazy(Method):
        function = staticmethod(lazy)

    monkeypatch.setitem(METHODS, "lazy", Lazy(name="lazy", about="little"))
    small, large = what_if_budget(plan, [3, 4], "lazy", forecast_model=TOLD)
    assert small.forecast == large.forecast
    assert small.forecast.accuracy > small.expected_accuracy


def test_crowds_planned_in_factors_say_that_nothing_is_foreseen(folder, monkeypatch):
    monkeypatch.setattr(tables, "MOST_PAIRS", 3)
    (folder / "kinds.csv").write_text("worker,easy,hard\nann,0.9,0.6\nbob,0.8,0.7\n")
    (folder / "tasks.csv").write_text("task,kind\nt1,easy\nt2,hard\nt3,hard\n")
    crowd = ("--kinds", "kinds.csv", "--tasks", "tasks.csv", "--dependence", "other.json")
    for command in (("assign", "--out", "plan"), ("what-if", "--budgets", "2")):
        err = run_refused(*command, *crowd)
        assert "--dependence is for crowds whose workers x tasks are at most 3" in err
    nothing = Dependence(plan_error=0.0, forecast_model=TOLD, source="gold", gold=50)
    (folder / "other.json").write_text(json.dumps(nothing.as_json()))
    for command in (("assign", "--out", "plan"), ("what-if", "--budgets", "2")):
        done = run_done(*command, *crowd)
        message = "no accuracy forecast for large crowds with --kinds"
        assert f"other.json: {message}" in done.stderr.splitlines()
        assert "forecast" not in done.stdout
