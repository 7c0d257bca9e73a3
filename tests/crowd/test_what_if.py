"""Expected accuracy against budget: never falling, honest about what was found where."""

import json

import numpy as np
import pytest

from crowd_tvcs import METHODS, Assignment, Plan, assign, simulate
from crowd_tvcs.methods import Method
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.what_if import steps, what_if
from tests.makers.commands import check_done, crowd_tvcs


@pytest.fixture(scope="module")
def plan():
    return Plan(
        simulate(8, 20, rng=3).quality, max_workers_per_task=4, max_tasks_per_worker=9, budget=5
    )


@pytest.mark.parametrize("method", ["fast", "qlp", "random"])
def test_a_larger_budget_never_buys_less(plan, method):
    offers = what_if(plan, [60, 0, 20, 21, 40, 22, 10**9], method, rng=0)
    assert [offer.budget for offer in offers] == [0, 20, 21, 22, 40, 60, 10**9]
    accuracy = [offer.expected_accuracy for offer in offers]
    assert accuracy[0] == 0.5
    assert (np.diff(accuracy) >= 0).all()
    assert all(offer.answers <= offer.budget for offer in offers)


def test_every_offer_is_an_assignment_that_can_be_made_again(plan):
    for offer in what_if(plan, [10, 30], "qlp"):
        found = assign(plan.with_budget(offer.found_at), "qlp")
        assert (offer.answers, offer.expected_accuracy) == (found.size, found.expected_accuracy)


def test_an_assignment_of_a_smaller_budget_is_kept_where_more_finds_less(plan, monkeypatch):
    def lazy(plan, *, rng, deadline):
        support = np.zeros(plan.quality.shape, dtype=bool)
        support[0, :3] = plan.budget <= 30
        return Assignment(plan, Assigned.of_support(support), "lazy", "no wish for more")

    class Lazy(Method):
        function = staticmethod(lazy)

    monkeypatch.setitem(METHODS, "lazy", Lazy(name="lazy", about="little"))
    small, large = what_if(plan, [30, 40], "lazy")
    assert (small.found_at, large.found_at, large.budget) == (30, 30, 40)
    assert large.expected_accuracy == small.expected_accuracy > 0.5


def test_the_bounds_of_best_hold_at_every_budget(plan):
    for offer in what_if(plan, [15, 30, 60], "best", rng=0):
        assert offer.bound >= offer.expected_accuracy - 1e-12


def test_a_step_is_the_difference_per_answer(plan):
    rows = steps(what_if(plan, [10, 20], "fast"))
    assert rows[0]["per_answer"] is None
    gain = rows[1]["expected_accuracy"] - rows[0]["expected_accuracy"]
    assert rows[1]["per_answer"] == pytest.approx(gain / 10)


@pytest.mark.parametrize(
    ("budgets", "message"),
    [([], "at least one integer"), ([-1], "budget must be an integer >= 0"), ([1.5], "an integer")],
)
def test_budgets_that_are_none_are_refused(plan, budgets, message):
    with pytest.raises((ValueError, TypeError), match=message):
        what_if(plan, budgets, "qlp")


@pytest.fixture
def command(tmp_path):
    (tmp_path / "q.csv").write_text("worker,t1,t2\nann,0.9,0.6\nbob,0.7,0.8\n")

    def run(*words):
        return crowd_tvcs("what-if", tmp_path / "q.csv", *words)

    return run


def test_the_command_prints_a_table_and_says_messages_elsewhere(command):
    done = check_done(command("--budgets", "0,1,2,4", "--method", "fast"))
    header, *rows = done.stdout.splitlines()
    heads = ["budget", "answers", "accuracy", "per", "answer", "at", "most", "certified"]
    assert header.split() == heads
    assert [row.split()[2] for row in rows] == ["0.5000", "0.7000", "0.8500", "0.8500"]
    assert "wide, comma-separated" in done.stderr


def test_the_command_prints_json(command):
    done = command("--budgets", "2", "--method", "best", "--json")
    record = json.loads(done.stdout)
    assert record["method"] == "best"
    (row,) = record["budgets"]
    assert row["expected_accuracy"] == pytest.approx(0.85)
    assert row["bound"] >= row["expected_accuracy"] - 1e-12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--budgets", "1,two"), "error: --budgets must be integers with commas"),
        (("--budgets", ""), "error: --budgets must be integers"),
        (("--budgets", "-4"), "error: --budgets must be an integer >= 0"),
        (("--budgets", "4", "--method", "magic"), "error: --method must be one of"),
    ],
)
def test_bad_budgets_are_refused_in_one_line(command, words, message):
    done = command(*words)
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].startswith(message)
    assert done.stdout == ""
