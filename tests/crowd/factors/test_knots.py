"""Bounds by knots of quality: held to plans of the table, and to code of their own."""

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.factors import knots
from crowd_tvcs.factors.assign import begin_by_knots
from crowd_tvcs.factors.from_knots import plans_by_knots
from crowd_tvcs.factors.grid import Groups
from crowd_tvcs.factors.minimums import least_teams
from crowd_tvcs.factors.prices import GroupRelaxation
from crowd_tvcs.factors.start import no_teams
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.search.common_error import plan_of_a_vote
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.verification.bound_by_prices import bound_by_prices, may_have_knots
from tests.crowd import small_plans
from tests.crowd.factors.test_start import crowd, in_order_of_names

ODD = {
    "plain": {},
    "priors": {"prior": np.array([0.5, 0.3, 0.8])[np.arange(60) % 3]},
    "a minimum": {"min_workers_per_task": 2, "loads": 12},
    "two labels at most": {"max_workers_per_task": 2},
    "some may do more": {"loads": np.where(np.arange(20) < 5, 40, 3)},
    "no budget": {"budget": 0},
    "two kinds": {"n_kinds": 2},
    "three kinds, some excluded": {"n_kinds": 3, "excluded": (np.arange(9), np.arange(9) % 4)},
    "two kinds, some may do more": {"n_kinds": 2, "loads": np.where(np.arange(20) < 5, 40, 3)},
    "three classes": {"n_classes": 3},
    "four classes, priors": {"n_classes": 4, "class_prior": [0.4, 0.3, 0.2, 0.1], "n_kinds": 2},
}


FOUR_CLASSES = {"n_classes": 4, "max_workers_per_task": 3}


def checked(plan, found):
    """The bound that separate code proves by the prices of an assignment."""
    proof = found.certificate
    prices = proof.prices, proof.budget_price, 0.0
    given = plan, prices, found.assigned, found.task_accuracy, lambda _: None
    return bound_by_prices(*given, by_knots=True)


def for_any_number(monkeypatch):
    """Try knots with ever so few workers."""
    for name in ("MIN_WORKERS", "MIN_WORKERS_MANY", "MIN_KNOTS"):
        monkeypatch.setattr(knots, name, 1)


@pytest.mark.parametrize("options", ODD.values(), ids=ODD)
def test_a_bound_by_knots_is_above_every_plan(options, monkeypatch):
    for_any_number(monkeypatch)
    dense, plan = crowd(20, 60, seed=4, **options)
    relaxed = GroupRelaxation.of(Groups.of(in_order_of_names(plan)))
    limit = Deadline.after(None)
    # 8 to 40 knots for 20 workers
    dual = knots.bound_by_knots(relaxed.groups, relaxed.relaxation, 3 * 1300, limit)[0]
    bound = dual.bound / 60
    found = assign(dense, "best", rng=0, time_limit=20.0)
    assert found.expected_accuracy - 1e-9 <= bound <= found.bound + 0.02


@pytest.mark.parametrize(
    ("n_kinds", "loads", "classes"),
    [
        (1, None, {}),
        (2, 32, {}),
        (5, 50, {}),
        (1, None, {"n_classes": 4, "max_workers_per_task": 3}),
    ],
)
def test_very_many_workers_of_few_kinds_are_certified_and_checked(n_kinds, loads, classes):
    dense, plan = crowd(200, 2000, n_kinds, seed=1, loads=loads, **classes)
    fast = assign(dense, "fast", rng=0).expected_accuracy
    for one in (dense, plan):
        found = assign(one, "best", rng=0, time_limit=None)
        assert found.certified
        assert found.facts.get("rounds", 0) == 0
        assert found.expected_accuracy >= fast - 1e-9
        assert may_have_knots(one)
        # With several kinds, corners of the hull of the workers are priced no lower than the knots.
        assert -1e-5 <= checked(found.plan, found) - found.bound <= 1e-9


def test_who_is_mostly_wrong_is_worth_as_much_as_who_is_as_often_right():
    _, plan = crowd(200, 2000, 3, seed=1)
    table, is_turned = plan.factors.table, np.random.default_rng(0).random((200, 3)) < 0.3
    values = np.where(is_turned, 1.0 - table.values, table.values)
    factors = Factors(
        Quality(values, table.workers, table.tasks), plan.factors.tasks, plan.factors.kind
    )
    turned = Plan(factors, max_workers_per_task=5, max_tasks_per_worker=50, budget=plan.budget)
    found, other = (assign(one, "best", rng=0, time_limit=None) for one in (plan, turned))
    assert other.certified
    assert other.bound == pytest.approx(found.bound, abs=1e-6)
    assert other.expected_accuracy == pytest.approx(found.expected_accuracy, abs=1e-6)
    assert -1e-5 <= checked(other.plan, other) - other.bound <= 1e-9


def test_a_plan_without_an_error_is_no_division_by_zero():
    table = Quality(np.ones((160, 1)), [f"w{i}" for i in range(160)], ["k"])
    factors = Factors(table, [f"t{j}" for j in range(300)], np.zeros(300, dtype=int))
    found = assign(Plan(factors, max_workers_per_task=3, budget=300), "best", rng=0)
    assert found.certified
    assert found.expected_accuracy == pytest.approx(1.0)


def test_a_plan_from_knots_keeps_its_caps_and_nobody_votes_twice():
    """Small knots of few tasks leave a worker little choice."""
    odd = {"loads": np.where(np.arange(160) % 3 > 0, 20, 0), "prior": np.tile([0.5, 0.8], 80)}
    _, plan = crowd(160, 160, 3, seed=5, excluded=(np.arange(99), np.arange(99)), **odd)
    relaxed = GroupRelaxation.of(Groups.of(in_order_of_names(plan)))
    nobody = no_teams(least_teams(relaxed.groups.plan, 5))
    made = list(plans_by_knots(relaxed, nobody, Deadline.after(None)))
    assert made
    for dual, teams in made:
        pairs = teams.pairs()
        assert (pairs.support.sum(axis=1) <= relaxed.groups.plan.max_tasks_per_worker).all()
        assert (pairs.support.sum(axis=0) == teams.sizes).all()
        assert relaxed.groups.plan.quality.allows(pairs.workers, pairs.tasks).all()
        assert 0.0 <= dual.bound - teams.accuracy.sum() <= 0.02 * 160


@pytest.mark.parametrize("block", range(10))
def test_bounds_by_knots_of_tiny_plans_hold_and_their_plans_keep_all_demands(block, monkeypatch):
    """Ties, sharp priors, caps of 0 and above the number of workers, tasks that nobody may do."""
    for_any_number(monkeypatch)
    tried = 0
    for seed in range(30 * block, 30 * block + 30):
        plan = small_plans.small_plan(seed, common_error=0.2 * (seed % 5 == 0))
        if plan.common_error > 0.0:
            plan = plan_of_a_vote(plan)
        found = begin_by_knots(plan, Deadline.after(None))
        if found is None:
            continue
        dual, support = found
        n, m = plan.quality.shape
        best, accuracy = small_plans.best_by_enumeration(plan), plan.accuracy(support)
        assert not plan.unmet(support)
        assert accuracy.mean() - 1e-9 <= best <= dual.bound / m + 1e-9
        prices = dual.prices[:n] / m, dual.prices[n] / m, 0.0
        given = plan, prices, Assigned.of_support(support), accuracy, lambda _: None
        assert best <= bound_by_prices(*given, by_knots=True) + 1e-9
        tried += 1
    assert tried >= 3
