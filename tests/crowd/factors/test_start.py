"""Plans in factors beside what is cheap: `random` and `fast` of the table of the same crowd."""

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.factors import start
from crowd_tvcs.factors.grid import Groups
from crowd_tvcs.factors.minimums import least_teams
from crowd_tvcs.plan.plan import by_name
from crowd_tvcs.plan.proof import CLOSED

LESS = 0.002  # than `fast`, which plans the whole table
JOINED = 1e-8  # by which teams of very many voters are computed differently in another order


def crowd(n=60, m=2000, n_kinds=1, *, seed=0, excluded=None, loads=None, **options):
    """The plan of a table and the same in factors: qualities of beta(6, 2.2), three labels each."""
    rng = np.random.default_rng(seed)
    values = np.clip(rng.beta(6.0, 2.2, (n, n_kinds)), 0.55, 0.98).round(4)
    table = Quality(values, [f"w{i}" for i in range(n)], [f"k{k}" for k in range(n_kinds)])
    factors = Factors(table, [f"t{j}" for j in range(m)], np.arange(m) % n_kinds)
    caps = {
        "max_workers_per_task": 5,
        "max_tasks_per_worker": -(-5 * m // n) if loads is None else loads,
        "budget": 3 * m,
    } | options
    quality = factors.quality()
    if excluded is not None:
        allowed = np.ones(factors.shape, dtype=bool)
        allowed[excluded[1], excluded[0]] = False
        quality = Quality(quality.values, quality.workers, quality.tasks, allowed)
    factors = Factors(factors.table, factors.tasks, factors.kind, excluded)
    return Plan(quality, **caps), Plan(factors, **caps)


def in_order_of_names(plan):
    """The plan as `assign` hands it to its method."""
    return plan.reorder(by_name(plan.quality.workers), by_name(plan.quality.tasks))


def check_as_good(dense, found, less=LESS):
    """Hold a plan in factors to the cheap methods of the table, and to its own bound."""
    assert found.expected_accuracy >= assign(dense, "random", rng=0).expected_accuracy - JOINED
    fast = assign(dense, "fast").expected_accuracy
    assert found.expected_accuracy >= fast - less
    assert found.bound is not None
    assert found.bound >= max(fast, found.expected_accuracy) - CLOSED


@pytest.mark.parametrize("n_kinds", [1, 2, 5])
@pytest.mark.parametrize("time_limit", [1e-3, pytest.param(None, marks=pytest.mark.slow)])
def test_few_kinds_are_planned_as_well_as_their_table(n_kinds, time_limit):
    dense, plan = crowd(n_kinds=n_kinds)
    check_as_good(dense, assign(plan, "best", rng=0, time_limit=time_limit))


@pytest.mark.parametrize("n_kinds", [1, 2, 5])
def test_a_table_of_a_part_of_the_tasks_is_repeated(n_kinds, monkeypatch):
    monkeypatch.setattr(start, "PAIRS", (12_000, 24_000))  # a tenth of the tasks
    dense, plan = crowd(n_kinds=n_kinds)
    check_as_good(dense, assign(plan, "best", rng=0, time_limit=1e-3))


ODD = {
    "three classes": {"n_classes": 3},
    "six classes, priors": {"n_classes": 6, "class_prior": [0.3, 0.3, 0.1, 0.1, 0.1, 0.1]},
    "a third of a label each": {"budget": 667},
    "one label each": {"budget": 2000},
    "nine labels each": {"budget": 18_000, "max_workers_per_task": 9, "loads": 400},
    "caps of 0": {"loads": np.where(np.arange(60) % 3 == 0, 0, 250)},
    "caps that do not divide": {"loads": np.random.default_rng(1).integers(1, 199, 60)},
    "one worker may do all": {"loads": np.where(np.arange(60) < 4, 2000, 3)},
    "a minimum": {"min_workers_per_task": 2, "loads": 110},
    "any prior": {"prior": np.random.default_rng(2).uniform(0.1, 0.9, 2000)},
    "two labels at most": {"max_workers_per_task": 2},
    "no budget": {"budget": 0},
}


@pytest.mark.parametrize("options", ODD.values(), ids=ODD)
def test_other_crowds_of_one_kind_are_planned_as_well_as_their_table(options, monkeypatch):
    dense, plan = crowd(**options)
    check_as_good(dense, assign(plan, "best", rng=0, time_limit=1e-3), LESS)
    monkeypatch.setattr(start, "PAIRS", (12_000, 24_000))  # 200 tasks: coarser than one of 2,000
    check_as_good(dense, assign(plan, "best", rng=0, time_limit=1e-3), 4 * LESS)


@pytest.mark.parametrize("pairs", [None, (12_000, 24_000)], ids=["whole table", "a tenth"])
def test_excluded_pairs_cost_little(pairs, monkeypatch):
    if pairs is not None:
        monkeypatch.setattr(start, "PAIRS", pairs)
    excluded = np.nonzero(np.random.default_rng(3).random((2000, 60)) < 0.02)
    dense, plan = crowd(excluded=excluded)
    found = assign(plan, "best", rng=0, time_limit=1e-3)
    assert not found.plan.factors.excludes(found.assigned.tasks, found.assigned.workers).any()
    check_as_good(dense, found, 2 * LESS)


@pytest.mark.parametrize("seed", range(6))
def test_even_numbers_of_labels_keep_all_caps_and_beat_random(seed):
    rng = np.random.default_rng(seed)
    loads = rng.integers(0, 300, 60)
    dense, plan = crowd(
        n_kinds=int(rng.integers(1, 30)), seed=seed, loads=loads,
        budget=int(rng.integers(200, 9000)), max_workers_per_task=int(rng.integers(1, 8)),
    )  # fmt: skip
    plan = in_order_of_names(plan)
    teams = start.even_teams(plan, least_teams(plan, 8))
    pairs = teams.pairs()
    tasks, workers = pairs.tasks, pairs.workers
    assert np.unique(tasks * 60 + workers).size == tasks.size <= plan.budget
    assert (np.bincount(workers, minlength=60) <= plan.max_tasks_per_worker).all()
    assert (teams.sizes <= plan.max_workers_per_task).all()
    assert teams.accuracy.mean() > assign(dense, "random", rng=0).expected_accuracy


def test_the_division_that_loses_the_fewest_labels_is_taken(monkeypatch):
    monkeypatch.setattr(start, "PAIRS", (12_000, 24_000))
    plan = crowd(loads=59)[1]
    # Tenths would leave 9 tasks of every worker, and 29 parts leave 26 labels of the budget.
    assert start._scale(plan, np.array([2000])) == 59
    many = in_order_of_names(crowd(n_kinds=500)[1])
    assert start.scaled_teams(Groups.of(many), least_teams(many, 5)) is None


def test_large_teams_are_as_large_as_the_budget_allows():
    dense, plan = crowd(30, 12, budget=None, max_workers_per_task=None, loads=12)
    found = assign(plan, "best", rng=0, time_limit=1e-3)
    assert found.answers.max() > 24
    check_as_good(dense, found)


def test_sampled_teams_are_reported_as_sampled_and_never_certified():
    options = {"n_classes": 3, "budget": 4 * 14, "max_workers_per_task": 14, "loads": 4}
    found = assign(crowd(16, 4, **options)[1], "best", rng=0, time_limit=1e-3)
    assert found.answers.max() > 12  # more outcomes than are listed
    assert found.standard_error > 0.0
    assert not found.certified
