"""The records of the methods: help, errors, reports and `verify` say of a method what they say."""

import inspect
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from crowd_tvcs import METHODS, Assignment, Plan, Quality, assign
from crowd_tvcs.cli.main import app
from crowd_tvcs.methods import Method, methods_for
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.report.assignment import render
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.verification.verify import verify
from tests.makers.commands import check_done, run_done, run_refused
from tvcs_core.lazy import choices

DEMANDS = {
    "min_workers_per_task": {"min_workers_per_task": 1},
    "forced": {"forced": np.eye(3, 4) > 0},
    "money": {"cost": 1, "money": 9},
    "group": {"group": ["g", "g", None]},
}


def crowd():
    values = np.random.default_rng(0).uniform(0.5, 0.9, (3, 4))
    return Quality(values, ["ann", "bob", "cy"], ["t1", "t2", "t3", "t4"])


def shown(*words):
    done = check_done(CliRunner().invoke(app, [*words], terminal_width=100_000))
    return " ".join(done.output.split())


@pytest.mark.parametrize("name", METHODS)
def test_a_record_finds_its_function_and_is_called_like_it(name):
    method = METHODS[name]
    assert method.name == name
    assert method.function.__name__ == name.replace("-", "_")
    assert list(inspect.signature(method).parameters) == ["plan", "rng", "deadline"]
    assert method.about
    assert not method.about.endswith(".")
    assert method.honours <= {*DEMANDS, "kinds"}  # kinds of tasks are another quality, no demand


@pytest.mark.parametrize("demand", DEMANDS)
def test_what_a_plan_may_demand_is_honoured_by_a_quick_method(demand):
    able = methods_for(Plan(crowd(), **DEMANDS[demand]))
    assert able == [name for name in METHODS if demand in METHODS[name].honours]
    assert any(METHODS[name].is_quick for name in able)


def test_the_help_names_every_method_with_its_hint():
    message = "best (with a bound on what any plan can reach), fast (under a second), greedy"
    assert choices(METHODS.values()).startswith(message)
    for command in ("assign", "what-if"):
        assert f"{choices(METHODS.values())}." in shown(command, "--help")
    assert f"As for assign: {', '.join(METHODS)}." in shown("campaign", "plan", "--help")


def test_choices_are_listed_in_words():
    made = [Method(name="a", hint="quick", about="x"), Method(name="b", about="y")]
    assert choices(made) == "a (quick) or b"
    assert choices(made[1:]) == "b"
    assert choices([*made, made[1]]) == "a (quick), b or b"


def test_a_method_is_loaded_before_its_clock_runs(monkeypatch):
    seen = []

    class Mine(Method):
        @property
        def function(self):
            seen.append("loaded")
            return METHODS["fast"].function

    def after(limit):
        seen.append("clock")
        return began(limit)

    began = Deadline.after
    monkeypatch.setattr(Deadline, "after", after)
    monkeypatch.setitem(METHODS, "mine", Mine(name="mine", about="a whim"))
    assign(Plan(crowd()), "mine", rng=0, time_limit=60.0)
    assert seen[0] == "loaded"
    assert "clock" in seen


def assignment_by(name):
    plan = Plan(crowd(), budget=2)
    support = np.zeros((3, 4), dtype=bool)
    support[0, :2] = True
    return Assignment(plan, Assigned.of_support(support), name, "by hand", facts={"rounds": 3})


def test_a_report_says_what_the_method_does():
    words = {"source": "q.csv", "command": "x"}
    caps = dict.fromkeys(("max_workers_per_task", "max_tasks_per_worker", "budget"))
    for name, method in METHODS.items():
        assert method.about in render(assignment_by(name), caps=caps, **words)
    assert "hand-made" in render(assignment_by("hand-made"), caps=caps, **words)


def test_the_plan_of_a_new_method_is_verified_and_unchecked_parts_are_named(tmp_path, monkeypatch):
    class Mine(Method):
        function = staticmethod(
            lambda plan, *, rng, deadline: Assignment(
                plan, assign(plan, "greedy").assigned, "mine", "a whim", facts={"whims": 3}
            )
        )

    (tmp_path / "q.csv").write_text("worker,t1,t2\nann,0.9,0.8\nbob,0.7,0.6\n")
    words = ["assign", tmp_path / "q.csv", "--out", tmp_path / "plan", "--budget", "3"]
    with monkeypatch.context() as patch:
        patch.setitem(METHODS, "mine", Mine(name="mine", about="a whim"))
        run_done(*words, "--method", "mine")
        found = verify(tmp_path / "plan", methods=METHODS)
    assert found.violations == ["summary.json claims no bound: not certified"]
    assert "what mine says of itself: reason, what else its summary.json has" in found.unchecked
    err = run_refused("verify", tmp_path / "plan")
    assert f"parameters.method must be one of {', '.join(METHODS)}, found 'mine'" in err
    path = tmp_path / "plan" / "summary.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"expected_accuracy": 0.9}))
    assert any("expected_accuracy" in line for line in verify(tmp_path / "plan").violations)
