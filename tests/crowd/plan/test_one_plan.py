"""One plan and one assignment, whether the quality is a table or is given by kinds of tasks."""

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.methods import METHODS
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.assignment import Assignment

WORKERS, KINDS = ("zoe", "ann", "bob", "eve"), ("short", "long", "hard")


def factors(rng, *, excluded=None, m=10):
    """Return a small crowd in factors of which not every kind is allowed to all."""
    values, allowed = rng.uniform(0.5, 0.95, (4, 3)).round(2), rng.random((4, 3)) < 0.8
    allowed[0] = True
    tasks = [f"t{j}" for j in rng.permutation(m)]
    return Factors(Quality(values, WORKERS, KINDS, allowed), tasks, rng.integers(0, 3, m), excluded)


def test_a_table_and_kinds_answer_the_same_questions_alike(rng):
    for _ in range(20):
        given = factors(rng)
        table = given.quality()
        assert (given.shape, given.workers, given.tasks) == (
            table.shape, table.workers, table.tasks,
        )  # fmt: skip
        for ours, theirs in zip(given.room(), table.room(), strict=True):
            assert ours.tolist() == theirs.tolist()
        some = rng.integers(0, 10, 7)
        assert (given.columns(some).values == table.columns(some).values).all()
        i, j = rng.integers(0, 4, 30), rng.integers(0, 10, 30)
        assert (given.of_pairs(i, j) == table.of_pairs(i, j)).all()
        assert (given.allows(i, j) == table.allows(i, j)).all()
        rows, columns = rng.permutation(4), rng.permutation(10)
        turned, other = given.reorder(rows, columns).quality(), table.reorder(rows, columns)
        assert (turned.workers, turned.tasks) == (other.workers, other.tasks)
        assert (turned.values == other.values).all()


def test_pairs_that_are_excluded_follow_their_workers_and_tasks(rng):
    tasks, workers = np.array([1, 1, 8]), np.array([0, 3, 2])
    given = factors(rng, excluded=(tasks, workers))
    assert given.excludes(tasks, workers).all()
    assert not given.allows(workers, tasks).any()
    rows, columns = rng.permutation(4), rng.permutation(10)
    turned = given.reorder(rows, columns)
    pairs = {(given.tasks[j], given.workers[i]) for j, i in zip(tasks, workers, strict=True)}
    every = [(j, i) for j in range(10) for i in range(4)]
    found = {
        (turned.tasks[j], turned.workers[i])
        for j, i in every
        if turned.excludes(np.array([j]), np.array([i])).all()
    }
    assert found == pairs


def test_pairs_as_arrays_are_those_of_the_matrix_in_any_order(rng):
    for _ in range(20):
        support = rng.random((4, 9)) < 0.4
        pairs = Assigned.of_support(support)
        assert (pairs.support == support).all()
        assert pairs.size == support.sum()
        assert pairs.loads.tolist() == support.sum(axis=1).tolist()
        assert pairs.answers.tolist() == support.sum(axis=0).tolist()
        order = rng.permutation(pairs.size)
        again = Assigned.of(pairs.tasks[order], pairs.workers[order], pairs.shape)
        assert (again.tasks.tolist(), again.workers.tolist()) == (
            pairs.tasks.tolist(), pairs.workers.tolist(),
        )  # fmt: skip
        rows, columns = rng.permutation(4), rng.permutation(9)
        assert (pairs.reorder(rows, columns).support == support[np.ix_(rows, columns)]).all()


@pytest.mark.parametrize(
    "given",
    [
        {"forced": np.zeros((4, 10), dtype=bool)},
        {"confusion": np.full((4, 2, 2), 0.5)},
        {"cost": 1.0},
        {"cost": 1.0, "money": 5.0},
        {"group": ["a", "a", None, None]},
        {"common_error": 0.1},
        {"error_shares": [0.5, 0.5]},
    ],
    ids=lambda given: "+".join(given),
)
def test_what_only_a_table_has_is_refused_of_kinds(rng, given):
    name = next(iter(given))
    with pytest.raises(ValueError, match=f"{name} is for a table of workers x tasks, found Fact"):
        Plan(factors(rng), **given)


def test_only_a_method_that_honours_kinds_takes_them(rng):
    plan = Plan(factors(rng), max_workers_per_task=2)
    assert plan.demands == ("kinds",)
    for name, method in METHODS.items():
        if "kinds" not in method.honours:
            with pytest.raises(ValueError, match=f"the method {name} does not honour kinds; these"):
                assign(plan, name)


def test_the_assignment_of_kinds_is_in_the_order_of_its_plan(rng):
    given = factors(rng, m=12)
    plan = Plan(given, max_workers_per_task=2, max_tasks_per_worker=5)
    found = assign(plan, "best", rng=0)
    assert found.plan is plan
    table = Plan(given.quality(), max_workers_per_task=2, max_tasks_per_worker=5)
    same = Assignment(table, found.assigned, "best", "the same pairs")
    assert found.pairs() == same.pairs()
    assert found.task_accuracy == pytest.approx(same.task_accuracy, abs=1e-12)
    assert (found.loads.tolist(), found.binding()) == (same.loads.tolist(), same.binding())
    assert found.bound >= assign(table, "best", rng=0).expected_accuracy - 1e-9


def test_pairs_beyond_a_cap_or_there_twice_are_no_assignment(rng):
    plan = Plan(factors(rng), max_workers_per_task=1)
    pair = np.array([0]), np.array([0])
    twice = np.array([0, 0]), np.array([0, 0])
    Assignment(plan, Assigned.of(*pair, (4, 10)), "by hand", "none")
    for tasks, workers, shape in ((*twice, (4, 10)), (*pair, (4, 11))):
        with pytest.raises(ValueError, match="must keep every cap of the plan and be allowed"):
            Assignment(plan, Assigned.of(tasks, workers, shape), "by hand", "none")
