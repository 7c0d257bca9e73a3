"""What a plan demands: named where it cannot be met, met or refused by every method."""

import importlib
import re
from dataclasses import fields

import numpy as np
import pytest

from crowd_tvcs import METHODS, Plan, Quality, assign
from crowd_tvcs.answers.factors import Factors

ABLE = [name for name, method in METHODS.items() if method.honours]


def crowd(n_workers, n_tasks, seed=0, allowed=None):
    rng = np.random.default_rng(seed)
    return Quality(
        rng.uniform(0.3, 0.95, (n_workers, n_tasks)),
        [f"w{i}" for i in range(n_workers)],
        [f"t{j}" for j in range(n_tasks)],
        allowed,
    )


def random_demands(seed):
    """Caps drawn around a random assignment, which shows that they can be met."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 8), rng.integers(1, 10)
    allowed = rng.random((n, m)) < 0.7
    example = allowed & (rng.random((n, m)) < 0.5)
    forced = example & (rng.random((n, m)) < 0.3)
    answers, loads = example.sum(axis=0), example.sum(axis=1)
    return Plan(
        crowd(n, m, seed, allowed),
        max_workers_per_task=answers + rng.integers(0, 2, m),
        max_tasks_per_worker=loads + rng.integers(0, 2, n),
        budget=int(example.sum()),
        min_workers_per_task=np.maximum(0, answers - rng.integers(0, 2, m)),
        forced=forced,
    )


@pytest.mark.parametrize("method", ABLE)
@pytest.mark.parametrize("seed", range(25))
def test_a_method_that_honours_demands_meets_them_within_the_caps(method, seed, monkeypatch):
    monkeypatch.setattr(importlib.import_module("crowd_tvcs.methods.tvcs"), "MAX_ITER", 8)
    plan = random_demands(seed)
    found = assign(plan, method, rng=seed)
    assert plan.unmet(found.support) == ()
    assert plan.constraint.is_feasible(found.support)
    assert (found.answers >= plan.min_workers_per_task).all()
    assert plan.forced is None or found.support[plan.forced].all()


@pytest.mark.parametrize("demand", [{"min_workers_per_task": 1}, {"forced": np.eye(3, 4) > 0}])
@pytest.mark.parametrize("method", METHODS)
def test_a_method_honours_a_demand_or_refuses_and_names_it(method, demand):
    plan = Plan(crowd(3, 4), **demand)
    (name,) = demand
    if name in METHODS[method].honours:
        assert plan.unmet(assign(plan, method, rng=0).support) == ()
    else:
        with pytest.raises(ValueError, match=f"{method} does not honour {name}; these do: "):
            assign(plan, method)


def test_unmet_demands_are_named():
    forced = np.eye(2, 3) > 0
    plan = Plan(crowd(2, 3), min_workers_per_task=[0, 1, 0], forced=forced)
    nobody = np.zeros((2, 3), dtype=bool)
    assert plan.demands == plan.unmet(nobody) == ("min_workers_per_task", "forced")
    assert plan.unmet(forced) == ()
    assert Plan(crowd(2, 3)).demands == ()


def test_without_demands_the_settled_pairs_are_none():
    assert not Plan(crowd(3, 4)).settle(np.ones((3, 4))).any()


def test_settled_pairs_are_the_minimums_with_the_largest_scores():
    import itertools

    rng = np.random.default_rng(3)
    scores = rng.random((3, 3))
    plan = Plan(crowd(3, 3), max_tasks_per_worker=[1, 1, 2], min_workers_per_task=[2, 1, 1])
    settled = plan.settle(scores)
    assert settled.sum(axis=0).tolist() == [2, 1, 1]
    best = 0.0
    for bits in itertools.product((False, True), repeat=9):
        pairs = np.array(bits).reshape(3, 3)
        if (pairs.sum(axis=0) == [2, 1, 1]).all() and (pairs.sum(axis=1) <= [1, 1, 2]).all():
            best = max(best, (scores[pairs] ** 2).sum())
    assert (scores[settled] ** 2).sum() == pytest.approx(best)


@pytest.mark.parametrize("seed", range(60))
def test_minimums_are_refused_exactly_when_no_assignment_meets_them(seed):
    """Against the maximum flow of networkx, a slow twin; of a table and of its kinds of tasks."""
    import networkx as nx

    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 5), rng.integers(1, 6)
    kind = rng.integers(0, m, m)
    kinds = crowd(n, m, allowed=rng.random((n, m)) < 0.6)
    factors = Factors(kinds, [f"t{j}" for j in range(m)], kind)
    table, allowed = factors.quality(), kinds.allowed[:, kind]
    caps = rng.integers(0, 4, n)
    least = np.minimum(rng.integers(0, 3, m), allowed.sum(axis=0))
    graph = nx.DiGraph()
    graph.add_nodes_from(["source", "sink"])
    for i, j in np.argwhere(allowed):
        graph.add_edge(("worker", i), ("task", j), capacity=1)
    for i in range(n):
        graph.add_edge("source", ("worker", i), capacity=int(caps[i]))
    for j in range(m):
        graph.add_edge(("task", j), "sink", capacity=int(least[j]))
    missing = int(least.sum()) - nx.maximum_flow_value(graph, "source", "sink")
    arguments = {"max_tasks_per_worker": caps, "min_workers_per_task": least}
    if missing == 0:
        for quality in (table, factors):
            assert (Plan(quality, **arguments).min_workers_per_task == least).all()
        return
    messages = set()
    for quality in (table, factors):
        with pytest.raises(
            ValueError, match=f"max_tasks_per_worker .*: {missing} too few"
        ) as expected:
            Plan(quality, **arguments)
        messages.add(str(expected.value))
    (message,) = messages
    # The tasks that are named, all where they are few, are short by as many themselves.
    asked, able = map(int, re.findall(r"asks for (\d+) .* get (\d+):", message)[0])
    assert asked - able == missing
    if " more, but" not in message:
        named = [int(j) for j in re.findall(r"'t(\d+)'", message)]
        assert asked == least[named].sum()
        assert able == np.minimum(caps, allowed[:, named].sum(axis=1)).sum()


def test_minimums_beside_forced_pairs_are_refused_by_what_is_left():
    arguments = {"forced": [[True, False], [False, False]], "max_tasks_per_worker": [1, 0]}
    words = "asks for 1 more answers on tasks 't1', but within max_tasks_per_worker they can get 0"
    with pytest.raises(ValueError, match=words):
        Plan(crowd(2, 2), min_workers_per_task=1, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_workers_per_task": -1}, "min_workers_per_task must be an integer >= 0, .* -1"),
        (
            {"min_workers_per_task": 2, "max_workers_per_task": [2, 1]},
            "min_workers_per_task of task 't1' is 2, but at most 1 may label it: 1 too few",
        ),
        (
            {"min_workers_per_task": 2, "budget": 3},
            "the budget of 3 is below the 4 answers that min_workers_per_task ask for: 1 too few",
        ),
        (
            {"forced": [[True, True], [False, False]], "max_tasks_per_worker": 1},
            "break max_tasks_per_worker: worker 'w0' has 2 of them and a cap of 1, 1 too many",
        ),
        (
            {"forced": [[True, False], [True, False]], "max_workers_per_task": 1},
            "break max_workers_per_task: task 't0' has 2 of them and a cap of 1, 1 too many",
        ),
        (
            {"forced": [[True, True], [True, False]], "budget": 1},
            "break the budget: 3 pairs, a budget of 1, 2 too many",
        ),
    ],
)
def test_a_demand_that_cannot_be_met_is_named_with_by_how_much(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Plan(crowd(2, 2), **arguments)


def test_a_plan_keeps_its_demands_in_another_order_and_with_another_budget():
    plan = Plan(crowd(2, 3), min_workers_per_task=[0, 1, 2], forced=np.eye(2, 3) > 0, budget=5)
    turned = plan.reorder(np.array([1, 0]), np.array([2, 1, 0]))
    assert turned.min_workers_per_task.tolist() == [2, 1, 0]
    assert turned.forced.tolist() == [[False, True, False], [False, False, True]]
    assert plan.with_budget(4).demands == plan.demands
    with pytest.raises(ValueError, match="budget of 3 is below"):
        plan.with_budget(3)


KINDS = {
    "two classes": {
        "prior": [0.1, 0.7, 0.5],
        "cost": [1.0, 0.1],
        "money": 9.0,
        "group": ["g", "g"],
    },
    "three classes": {"n_classes": 3, "class_prior": [0.1, 0.7, 0.2]},
    "confusion": {
        "n_classes": 3,
        "confusion": [[[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0, 0.1, 0.9]]] * 2,
    },
}


def said(value):
    """All that a plan or quality table holds, arrays with their kind, layout and bytes."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype, value.shape, flags.c_contiguous, flags.writeable, value.tobytes()
    if isinstance(value, Plan | Quality):
        return {field.name: said(getattr(value, field.name)) for field in fields(value)}
    return value


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_what_a_checked_plan_would_be_and_runs_no_check(kind, monkeypatch):
    given = {"forced": np.eye(2, 3) > 0, "min_workers_per_task": [0, 1, 1], "budget": 5}
    allowed = np.array([[True, True, True], [False, True, True]])
    plan = Plan(crowd(2, 3, allowed=allowed), **given, **KINDS[kind])
    held = {field.name: getattr(plan, field.name) for field in fields(plan)}
    if plan.n_classes > 2:
        del held["prior"]
    other_budget = Plan(**held | {"budget": 4})
    rows, columns = np.array([1, 0]), np.array([2, 0, 1])
    at = np.ix_(rows, columns)
    held |= {"quality": Quality(plan.quality.values[at], ["w1", "w0"], ["t2", "t0", "t1"],
                                allowed[at]), "forced": plan.forced[at]}  # fmt: skip
    per_task = ("max_workers_per_task", "min_workers_per_task", "prior", "class_prior")
    for name in {*per_task, "max_tasks_per_worker", "confusion", "cost"} & set(held):
        if held[name] is not None:
            held[name] = held[name][columns if name in per_task else rows]
    turned = Plan(**held)

    def refuse(*_, **__):
        raise AssertionError("checked again")

    for part in (Plan, Quality):
        monkeypatch.setattr(part, "__init__", refuse)
    assert said(plan.reorder(rows, columns)) == said(turned)
    assert said(plan.with_budget(4)) == said(other_budget)
    with pytest.raises(ValueError, match="budget must be an integer >= 0"):
        plan.with_budget(-1)
    with pytest.raises(ValueError, match="forced pairs break the budget: 2 pairs, a budget of 1"):
        plan.with_budget(1)
    with pytest.raises(ValueError, match=r"budget of 2 is below the 3 .* and forced pairs ask for"):
        plan.with_budget(2)
