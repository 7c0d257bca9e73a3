"""Costs, money and groups in plans: greedy against trying every assignment, and what is refused."""

import json

import numpy as np
import pytest

from crowd_tvcs import METHODS, Plan, assign
from crowd_tvcs.plan.costs import cheapest_that_meets, spent
from crowd_tvcs.simulation import simulate
from tests.crowd.small_plans import accuracy_of, best_by_enumeration, may_have, small_plan
from tests.makers.commands import (
    check_done,
    check_failed,
    check_refused,
    crowd_tvcs,
    run_done,
    run_refused,
)
from tests.makers.crowds import named as crowd


def test_money_that_is_enough_and_groups_of_one_change_nothing():
    quality = simulate(8, 20, rng=1).quality
    caps = {"max_workers_per_task": 4, "max_tasks_per_worker": 9, "budget": 50}
    free = assign(Plan(quality, **caps), "greedy")
    named = [f"g{i}" for i in range(8)]
    plan = Plan(quality, **caps, cost=1, money=50, group=named)
    assert plan.demands == ("money",)
    assert (assign(plan, "greedy").support == free.support).all()


def test_what_minimums_need_is_bought_before_anything_else():
    # Alone, the dear worker is the better choice everywhere, and then nobody can be paid for t1.
    quality = crowd([[0.99, 0.99], [0.6, 0.6]])
    plan = Plan(quality, cost=[2, 1], money=2, min_workers_per_task=1)
    assert assign(plan, "greedy").pairs() == [("w1", "t0"), ("w1", "t1")]


def test_a_bad_ratio_does_not_ruin_the_plan():
    # By gain per cost w1 takes the only place; by gain alone w0 does.
    plan = Plan(crowd([[0.99], [0.51]]), cost=[10, 0.1], money=10, max_workers_per_task=1)
    assert assign(plan, "greedy").pairs() == [("w0", "t0")]
    # And the other way round: ten cheap ones are worth more than one who is hardly better.
    plan = Plan(crowd([[0.82, 0.82], [0.8, 0.8]]), cost=[10, 5], money=10, max_workers_per_task=1)
    assert assign(plan, "greedy").pairs() == [("w1", "t0"), ("w1", "t1")]


def test_without_money_only_those_who_cost_nothing_are_asked():
    quality = crowd([[0.9, 0.9], [0.6, 0.7]])
    assert assign(Plan(quality, cost=1, money=0), "greedy").size == 0
    found = assign(Plan(quality, cost=[1, 0], money=0), "greedy")
    assert found.pairs() == [("w1", "t0"), ("w1", "t1")]


def test_costs_of_nothing_are_no_limit():
    quality = simulate(6, 8, rng=2).quality
    free = assign(Plan(quality, budget=20), "greedy")
    found = assign(Plan(quality, budget=20, cost=0, money=0), "greedy")
    assert (found.support == free.support).all()


def test_costs_that_are_no_sums_of_halves_can_be_spent_to_the_last():
    quality = crowd(np.full((3, 1), 0.8))
    assert assign(Plan(quality, cost=0.1, money=0.3), "greedy").size == 3


def test_of_one_group_one_worker_gets_each_task():
    quality = simulate(7, 9, rng=4).quality
    found = assign(Plan(quality, group=["g"] * 7), "greedy")
    assert (found.answers == 1).all()
    best = np.maximum(quality.values, 1 - quality.values).max(axis=0)
    assert found.expected_accuracy == pytest.approx(best.mean())


def test_a_forced_worker_keeps_his_mates_out():
    plan = Plan(
        crowd([[0.9, 0.9], [0.6, 0.6], [0.7, 0.7]]),
        group=["g", "g", None],
        forced=[[False, False], [True, False], [False, False]],
    )
    assert assign(plan, "greedy").pairs() == [
        *(("w0", "t1"), ("w1", "t0"), ("w2", "t0"), ("w2", "t1"))
    ]


SETTINGS = {"money": {"cost": 1, "money": 3}, "group": {"group": ["g", "g"]}}


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (method, name)
        for method in METHODS
        for name in SETTINGS
        if name not in METHODS[method].honours
    ],
)
def test_the_other_methods_refuse_and_say_who_can(method, name):
    with pytest.raises(
        ValueError, match=f"{method} does not honour {name}; these do: best, greedy"
    ):
        assign(Plan(crowd([[0.9, 0.8], [0.7, 0.6]]), **SETTINGS[name]), method)


def test_names_decide_and_not_their_order():
    plan = small_plan(117, together=True)
    assert plan.quality.shape == (5, 5)
    rows, columns = np.array([3, 0, 4, 1, 2]), np.array([4, 2, 0, 1, 3])
    turned = plan.reorder(rows, columns)
    assert turned.group == tuple(plan.group[i] for i in rows)
    assert (turned.cost == plan.cost[rows]).all()
    assert turned.money == plan.money == plan.with_budget(plan.budget).money
    assert assign(turned, "greedy").pairs() == assign(plan, "greedy").pairs()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cost": -1}, "cost must be a finite number >= 0, but that of worker 'w0' is -1"),
        ({"cost": [1, float("nan")]}, "that of worker 'w1' is nan"),
        ({"cost": [1, 2, 3]}, r"cost must be one number or 2 of them, found shape \(3,\)"),
        ({"money": 3}, "money needs the cost of a label of every worker"),
        ({"money": -1, "cost": 1}, "money must be a finite number >= 0, found -1"),
        ({"money": float("nan"), "cost": 1}, "money must be a finite number >= 0, found nan"),
        ({"group": ["g"]}, "group must hold 2 names or None"),
        ({"group": "ab"}, "group must be a list of names, found 'ab'"),
        ({"group": ["g", 3]}, "group of worker 'w1' must be a name or None, found 3"),
        (
            {"group": ["g", "g"], "forced": [[True, True], [True, True]]},
            "forced pairs break group: 'w0' and 'w1' of one group both have task 't0'",
        ),
        (
            {"group": ["g", "g"], "min_workers_per_task": [0, 2]},
            "of task 't1' is 2, but with one worker of a group at most 1 may label it: 1 too few",
        ),
        (
            {"cost": [1, 2], "money": 2.5, "forced": [[True, False], [True, False]]},
            "forced pairs break money: they cost 3, the money is 2.5",
        ),
        (
            {"cost": [1, 2], "money": 3, "min_workers_per_task": 2},
            "money of 3 cannot pay min_workers_per_task: with the cheapest workers that costs 6",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_the_door(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Plan(crowd([[0.9, 0.8], [0.7, 0.6]]), **settings)


def test_what_only_caps_and_money_together_forbid_is_refused_by_the_method():
    plan = Plan(crowd([[0.9, 0.8], [0.7, 0.6]]), cost=[1, 5], money=4, min_workers_per_task=1,
                max_tasks_per_worker=1)  # fmt: skip
    with pytest.raises(ValueError, match=r"within max_tasks_per_worker that costs 6"):
        assign(plan, "greedy")
    plan = Plan(crowd(np.full((3, 2), 0.8)), group=["g", "g", None], min_workers_per_task=2,
                max_tasks_per_worker=[2, 2, 1])  # fmt: skip
    with pytest.raises(ValueError, match="cannot be met with max_tasks_per_worker and one worker"):
        assign(plan, "greedy")


@pytest.mark.parametrize("seed", range(30))
def test_the_cheapest_that_meets_the_minimums_is_the_cheapest_of_all(seed):
    plan = small_plan(seed, together=True)
    found = cheapest_that_meets(plan)
    accuracy_of(plan, found)  # it keeps all caps
    saved = best_by_enumeration(plan, lambda plan, j: may_have(plan, j)[1] @ -plan.cost)
    assert spent(plan.cost, found) == pytest.approx(-saved * len(plan.quality.tasks))


QUALITY = "worker,t1,t2\nann,0.9,0.85\nbob,0.8,0.8\ncy,0.7,0.75\n"
WORKERS = "worker,cost,group\nann,3,'=team\nbob,1,'=team\ncy,1,\n"


@pytest.fixture
def assigned(tmp_path):
    """Write the tables, run `crowd-tvcs assign`, and give what it did."""
    (tmp_path / "q.csv").write_text(QUALITY)

    def run(*words, workers=WORKERS):
        (tmp_path / "workers.csv").write_text(workers)
        return crowd_tvcs(
            *("assign", tmp_path / "q.csv", "--out", tmp_path / "plan", "--seed", 1),
            *("--workers", tmp_path / "workers.csv", *words),
        )

    return run


def test_the_command_reads_costs_and_groups_and_says_what_is_spent(assigned, tmp_path):
    done = check_done(assigned("--money", 5, "--method", "greedy"))
    assert "money spent: 5 of 5" in done.stderr
    lines = (tmp_path / "plan" / "assignment.csv").read_text().splitlines()
    assert lines == ["worker,task", "ann,t1", "bob,t2", "cy,t2"]
    summary = json.loads((tmp_path / "plan" / "summary.json").read_text())
    assert (summary["money"], summary["money_spent"]) == (5, 5)
    assert json.loads((tmp_path / "plan" / "run.json").read_text())["parameters"]["money"] == 5
    report = (tmp_path / "plan" / "report.html").read_text()
    assert "5 spent" in report
    assert "at most one worker of a group on a task" in report


def test_a_method_that_cannot_refuses_and_says_what_to_type(assigned, tmp_path):
    for words in (("--money", 5), ()):
        assert "--method best" in check_refused(assigned(*words, "--method", "fast"))
        assert not (tmp_path / "plan").exists()
    budgets = ("what-if", tmp_path / "q.csv", "--budgets", "1,3", "--money", 2)
    err = run_refused(*budgets, "--workers", tmp_path / "workers.csv", "--method", "fast")
    assert "the method fast does not honour money" in err


@pytest.mark.parametrize("method", ["best", "greedy"])
def test_what_if_keeps_the_money_at_every_budget(assigned, tmp_path, method):
    assigned("--method", "greedy")
    budgets = ("what-if", tmp_path / "q.csv", "--budgets", "0,1,9", "--money", 2, "--json")
    done = run_done(*budgets, "--workers", tmp_path / "workers.csv", "--method", method)
    rows = json.loads(done.stdout)["budgets"]
    assert [row["answers"] for row in rows] == [0, 1, 2]
    assert [row["certified"] for row in rows] == [method == "best"] * 3


def test_best_proves_a_plan_with_money_and_groups_and_verify_checks_it(assigned, tmp_path):
    assert assigned("--money", 5, "--method", "best").exit_code == 0
    run_done("verify", tmp_path / "plan")
    summary = json.loads((tmp_path / "plan" / "summary.json").read_text())
    assert summary["money_price"] > 0.0
    report = (tmp_path / "plan" / "report.html").read_text()
    worth = f"{100 * summary['money_price']:.4f}"
    assert f"One more unit of money adds at most <b>{worth} points</b>" in report


@pytest.mark.parametrize(
    ("words", "workers", "message"),
    [
        (("--money", -1), WORKERS, "money must be a finite number >= 0, found -1"),
        (("--money", "nan"), WORKERS, "money must be a finite number >= 0, found nan"),
        (("--money", 1), "worker,group\nann,g\n", "money needs the cost of a label of every"),
        ((), "worker,cost\nann,-3\n", ":2, column 'cost': must be a finite number >= 0, found"),
        ((), "worker,cost\nann,inf\n", "must be a finite number >= 0, found 'inf'"),
        ((), "worker,cost\nann,3\ncy,1\n", "every worker must have a cost, found none for 'bob'"),
    ],
)
def test_a_bad_cost_is_refused_in_one_line(assigned, tmp_path, words, workers, message):
    err = check_refused(assigned("--method", "greedy", *words, workers=workers))
    assert message in err.splitlines()[-1]
    assert not (tmp_path / "plan").exists()


def test_verify_notices_money_and_mates(assigned, tmp_path):
    assert assigned("--money", 5, "--method", "greedy").exit_code == 0
    done = crowd_tvcs("verify", tmp_path / "plan")
    assert done.stderr.endswith("plan: summary.json claims no bound: not certified\n")
    assert len(done.stderr.splitlines()) == 1
    pairs = tmp_path / "plan" / "assignment.csv"
    pairs.write_text(pairs.read_text() + "ann,t2\n")
    err = check_failed(crowd_tvcs("verify", tmp_path / "plan"))
    assert "money: the answers cost 8, the money is 5" in err
    assert "group '=team': 'ann' and 'bob' both have 't2'" in err
    assert "money_spent: summary.json says 5.0, recomputed 8.0" in err
