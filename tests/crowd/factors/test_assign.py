"""Plans in factors: held against all assignments of small crowds, and against `best`."""

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.factors import grid, prices
from crowd_tvcs.factors.minimums import least_teams
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.assignment import Assignment
from tests.crowd.small_plans import accuracy_of, best_by_enumeration, small_plan


@pytest.fixture(autouse=True)
def _few_visits(monkeypatch):
    """Small crowds need few visits for their first prices; column generation does the rest."""
    monkeypatch.setattr(prices, "MIN_VISITS", 200)
    monkeypatch.setattr(prices, "VISITS_PER_WORKER", 5)


LIMITS = ("max_workers_per_task", "max_tasks_per_worker", "budget", "min_workers_per_task")


def in_factors(plan, kind=None, table=None):
    """The plan with its columns for kinds; every task is of a kind of its own if none are given."""
    kind = np.arange(len(plan.quality.tasks)) if kind is None else kind
    values = plan.quality if table is None else table
    names = [f"kind {k}" for k in range(values.shape[1])]
    quality = Quality(values.values, values.workers, names, values.allowed)
    return Plan(
        Factors(quality, plan.quality.tasks, kind),
        **{name: getattr(plan, name) for name in LIMITS},
        prior=0.5 if plan.n_classes > 2 else plan.prior,
        n_classes=plan.n_classes,
        class_prior=plan.class_prior,
    )


def crowd(n, m, n_kinds, *, seed=0, priors=(0.5,), n_classes=2, listed=1.0):
    """A plan as a table, and the same in factors."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.5, 0.95, (n, n_kinds)).round(3)
    allowed = None if listed == 1.0 else rng.random(values.shape) < listed
    kind = rng.integers(0, n_kinds, m)
    workers, tasks = [f"w{i}" for i in range(n)], [f"t{j}" for j in range(m)]
    table = Quality(values, workers, [f"k{k}" for k in range(n_kinds)], allowed)
    factors = Factors(table, tasks, kind)
    prior = rng.choice(priors, m) if isinstance(priors, tuple) else rng.uniform(0.2, 0.8, m)
    options = {
        "max_workers_per_task": 4,
        "max_tasks_per_worker": 4 * m // n,
        "budget": 3 * m,
        "n_classes": n_classes,
        "prior": prior if n_classes == 2 else 0.5,
    }
    return Plan(factors.quality(), **options), Plan(factors, **options)


def support_of(found):
    """The pairs as a table of workers x tasks."""
    out = np.zeros((len(found.plan.quality.workers), len(found.plan.quality.tasks)), dtype=bool)
    out[found.assigned.workers, found.assigned.tasks] = True
    return out


def is_plain(plan):
    """Whether a small plan has what a plan in factors can have."""
    return plan.confusion is None and plan.forced is None


@pytest.mark.parametrize("seed", range(24))
def test_no_assignment_of_a_small_crowd_beats_the_bound(seed):
    plan = small_plan(seed)
    if not is_plain(plan):
        plan = Plan(
            plan.quality,
            max_workers_per_task=plan.max_workers_per_task,
            max_tasks_per_worker=plan.max_tasks_per_worker,
            budget=plan.budget,
            prior=0.5 if plan.n_classes > 2 else plan.prior,
            n_classes=plan.n_classes,
            class_prior=plan.class_prior,
        )
    best = best_by_enumeration(plan)
    found = assign(in_factors(plan), "best", rng=0)
    rows = [found.plan.quality.workers.index(name) for name in plan.quality.workers]
    columns = [found.plan.quality.tasks.index(name) for name in plan.quality.tasks]
    support = support_of(found)[np.ix_(rows, columns)]
    assert found.expected_accuracy == pytest.approx(accuracy_of(plan, support), abs=1e-9)
    assert found.expected_accuracy <= best + 1e-9
    assert found.bound is None or found.bound >= best - 1e-9
    assert not plan.unmet(support)


@pytest.mark.parametrize(
    ("options", "within"),
    [
        ({}, 0.002),
        ({"priors": (0.5, 0.3, 0.8), "seed": 1}, 0.005),
        ({"n_classes": 3, "seed": 2}, 0.005),
        ({"listed": 0.6, "seed": 3}, 0.005),
        ({"priors": "uniform", "seed": 4}, 0.05),
    ],
    ids=["one prior", "three priors", "three classes", "pairs not listed", "any prior"],
)
def test_a_plan_in_factors_is_as_good_as_one_of_a_table(options, within):
    dense, factored = crowd(12, 200, 5, **options)
    found, other = assign(factored, "best", rng=0), assign(dense, "best", rng=0)
    error = 1.0 - other.expected_accuracy
    assert found.bound is not None
    assert found.bound >= other.expected_accuracy - 1e-9
    assert other.bound >= found.expected_accuracy - 1e-9
    assert found.gap <= within * error
    assert abs(found.bound - other.bound) <= within * error


def test_tasks_of_very_many_priors_are_priced_at_a_few_and_bounded_between(monkeypatch):
    plan = crowd(10, 100, 4, priors="uniform", seed=4)[1]
    bounds = []
    for most in (3, 8, 60):
        monkeypatch.setattr(grid, "MAX_KNOTS", most)
        groups = grid.Groups.of(plan)
        assert groups.weight.sum() == pytest.approx(100)
        found = assign(plan, "best", rng=0)
        assert found.facts["groups"] == groups.size
        bounds.append(found.bound)
    # More knots lie closer below the chords, and with a knot for each prior there are none.
    assert bounds[0] > bounds[1] > bounds[2] - 1e-9


def test_the_same_seed_gives_the_same_pairs_in_any_order_of_names():
    plan = crowd(10, 100, 4)[1]
    found, again = assign(plan, "best", rng=3), assign(plan, "best", rng=3)
    assert list(found.rows()) == list(again.rows())
    rows, order = np.arange(10)[::-1], np.arange(100)[::-1]
    factors = plan.factors
    turned = Plan(
        Factors(
            factors.table.reorder(rows, np.arange(4)),
            [factors.tasks[j] for j in order],
            factors.kind[order],
        ),
        max_workers_per_task=4, max_tasks_per_worker=40, budget=300,
    )  # fmt: skip
    assert list(assign(turned, "best", rng=3).rows()) == list(found.rows())


def test_minimums_are_met_where_any_teams_can_meet_them(rng):
    plan = crowd(12, 60, 5, listed=0.7)[1]
    most = plan.max_workers_per_task
    tight = plan._copy(
        min_workers_per_task=np.minimum(most, 2), max_tasks_per_worker=np.full(12, 11)
    )
    teams = least_teams(tight, 4)
    assert (teams.sizes == np.minimum(most, 2)).all()
    assert (teams.room >= 0).all()
    found = assign(tight, "best", rng=0)
    assert (found.answers >= tight.min_workers_per_task).all()
    able = int(np.minimum(9, plan.room[0]).sum())  # nobody has more tasks than they may label
    asked = int(np.minimum(most, 2).sum())
    message = f"asks for {asked} answers on tasks .* get {able}: {asked - able} too few"
    with pytest.raises(ValueError, match=message):
        Plan(plan.factors, min_workers_per_task=np.minimum(most, 2), max_tasks_per_worker=9)


@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_pairs_that_are_excluded_are_never_assigned_and_the_bound_holds_without_them(n_classes):
    dense, plan = crowd(10, 60, 3, n_classes=n_classes)
    rng = np.random.default_rng(0)
    tasks, workers = np.nonzero(rng.random((60, 10)) < 0.1)  # as in a later round
    quality = Quality(
        dense.quality.values, dense.quality.workers, dense.quality.tasks,
        ~np.isin(np.arange(600).reshape(60, 10), tasks * 10 + workers).T,
    )  # fmt: skip
    limits = {name: getattr(plan, name) for name in LIMITS} | {"n_classes": n_classes}
    turned = np.arange(10)[::-1]  # pairs follow their names when these are sorted
    table = plan.factors.table.reorder(turned, np.arange(3))
    excluded = tasks, np.argsort(turned)[workers]
    factors = Factors(table, plan.quality.tasks, plan.factors.kind, excluded)
    limits["max_tasks_per_worker"] = limits["max_tasks_per_worker"][turned]
    found = assign(Plan(factors, **limits), "best", rng=0)
    assert not support_of(found)[excluded[::-1]].any()
    best = assign(Plan(quality, max_workers_per_task=4, max_tasks_per_worker=24, budget=180,
                       n_classes=n_classes), "best", rng=0)  # fmt: skip
    assert found.bound >= best.expected_accuracy - 1e-9
    assert found.expected_accuracy >= best.expected_accuracy - 0.01
    with pytest.raises(ValueError, match="must keep every cap of the plan and be allowed"):
        pairs = Assigned.of(tasks[:1], excluded[1][:1], (10, 60))
        Assignment(found.plan, pairs, "by hand", "no reason")


@pytest.mark.parametrize(
    ("excluded", "least", "message"),
    [
        (([0], [7]), 0, "workers of excluded must be from 0 to 5, found 7"),
        (([0], [-1]), 0, "workers of excluded must be from 0 to 5, found -1"),
        (([3, 99], [0, 0]), 0, "tasks of excluded must be from 0 to 29, found 99"),
        (([0.0], [1]), 0, "tasks of excluded must be integers, .* found float64 of shape "),
        (([0, 1], [1]), 0, "workers of excluded must be integers, one per pair, .* shape .1,."),
        (([[0]], [[1]]), 0, "tasks of excluded must be integers, one per pair, .* shape .1, 1."),
        (([0], [1], [1]), 0, "excluded must be two arrays, tasks and workers, found 3"),
        (([4], [1]), 1, "must be 0 of tasks of excluded pairs, but that of task 't4' is 1"),
    ],
)
def test_excluded_pairs_that_cannot_be_are_refused(excluded, least, message):
    factors = crowd(6, 30, 3)[1].factors
    pairs = tuple(np.array(numbers) for numbers in excluded)
    with pytest.raises(ValueError, match=message):
        factors = Factors(factors.table, factors.tasks, factors.kind, pairs)
        Plan(factors, min_workers_per_task=least)


def test_a_time_limit_that_strikes_leaves_a_plan_within_the_caps():
    found = assign(crowd(20, 4000, 8)[1], "best", rng=0, time_limit=1e-3)
    assert found.reason.startswith("the time limit of 0.001 s, exceeded by ")
    assert found.size > 0
    with pytest.raises(ValueError, match="time_limit must be a number of seconds above 0"):
        assign(crowd(20, 40, 8)[1], "best", time_limit=-1.0)


def test_what_a_large_crowd_cannot_have_is_refused():
    with pytest.raises(ValueError, match="the method fast does not honour kinds; these do: best"):
        assign(crowd(20, 40, 8)[1], "fast")
