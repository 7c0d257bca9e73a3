"""Tiny plans are solved to the end, and the proof is checked by code of its own."""

import copy
import json

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign
from crowd_tvcs.plan.proof import LARGEST
from crowd_tvcs.search.all_sets import AllSets, fits
from crowd_tvcs.simulation import simulate
from crowd_tvcs.verification.branches import bound_of_branches
from tests.crowd.small_plans import (
    accuracies,
    accuracy_of,
    best_by_enumeration,
    bound_of_prices,
    may_have,
    small_plan,
)
from tests.makers.commands import run_done


def branched_plan():
    """Two tasks of which one can have the three labels that make a difference."""
    quality = Quality(np.full((4, 2), 0.7), list("abcd"), ["t1", "t2"])
    return Plan(quality, budget=5)


def named(values):
    n, m = values.shape
    return Quality(values, [f"w{i}" for i in range(n)], [f"t{j}" for j in range(m)])


def document(found):
    return json.loads(json.dumps({"leaves": found.branches()}))


def test_a_gap_that_prices_leave_is_branched_on_and_closed():
    plan = branched_plan()
    found = assign(plan, "best", rng=0)
    optimum = best_by_enumeration(plan)
    assert found.reason == LARGEST
    assert found.certified
    assert found.bound == pytest.approx(optimum, abs=1e-9)
    by_prices = found.summary()["bound_by_prices"]
    assert by_prices > optimum + 1e-3
    assert by_prices == pytest.approx(bound_of_prices(plan, found.prices, found.budget_price))
    assert bound_of_branches(plan, document(found)) == pytest.approx(found.bound, abs=1e-11)


@pytest.mark.parametrize("family", ["iid", "worker", "skilldiff", "topic"])
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_plans_of_20_tasks_and_10_workers_are_solved_to_the_end(family, classes):
    rng = np.random.default_rng([classes, len(family)])
    quality = simulate(10, 20, family=family, rng=rng).quality
    forced = rng.random((10, 20)) < 0.05
    plan = Plan(
        quality,
        max_workers_per_task=4,
        max_tasks_per_worker=9,
        min_workers_per_task=1,
        forced=forced,
        budget=47,
        n_classes=classes,
    )
    found = assign(plan, "best", rng=0)
    assert found.reason == LARGEST
    assert found.gap <= 1e-9
    if found.certificate.leaves:
        assert bound_of_branches(plan, document(found)) == pytest.approx(found.bound, abs=1e-10)


def test_workers_and_tasks_that_are_all_alike_do_not_make_a_large_tree():
    for budget in range(3, 60, 7):
        quality = named(np.full((10, 20), 0.65))
        found = assign(Plan(quality, max_tasks_per_worker=7, budget=budget), "best", rng=0)
        assert found.reason == LARGEST
        assert len(found.certificate.leaves) <= 100


@pytest.mark.parametrize("seed", range(40))
def test_all_sets_have_the_accuracies_of_the_slow_twin(seed):
    plan = small_plan(seed)
    sets = AllSets(plan)
    table = sets.accuracies()
    for j, t in enumerate(sets.kind):
        may, _ = may_have(plan, j)
        forced = 0 if plan.forced is None else int(plan.forced[:, j] @ (1 << np.arange(sets.n)))
        valid = np.flatnonzero(table[t] > -np.inf)
        full = np.array([s for s in np.flatnonzero(may) if plan_has_room(plan, sets, s & ~forced)])
        assert sorted(valid | forced) == full.tolist()
        np.testing.assert_allclose(table[t, valid], accuracies(plan, j)[valid | forced], atol=1e-12)


def plan_has_room(plan, sets, free):
    return not (sets.member[free] & (sets.caps[:-1] == 0)).any()


def test_the_order_of_workers_and_tasks_changes_nothing_in_the_proof():
    plan = branched_plan()
    turned = plan.reorder(np.array([2, 0, 3, 1]), np.array([1, 0]))
    found = assign(turned, "best", rng=0)
    assert found.branches() == assign(plan, "best", rng=0).branches()
    assert bound_of_branches(turned, document(found)) == pytest.approx(found.bound, abs=1e-11)
    assert accuracy_of(turned, found.support) == pytest.approx(found.expected_accuracy)


def test_larger_plans_are_not_branched_on():
    assert not fits(Plan(simulate(11, 20, rng=0).quality))
    assert not fits(Plan(simulate(10, 21, rng=0).quality))
    assert fits(Plan(simulate(10, 20, rng=0).quality))
    assert not fits(Plan(simulate(10, 5, rng=0).quality, n_classes=10))  # sampled


def test_the_command_writes_the_branches_and_verify_takes_them(tmp_path):
    quality = tmp_path / "quality.csv"
    quality.write_text("worker,t1,t2\n" + "".join(f"{w},.7,.7\n" for w in "abcd"))
    out = tmp_path / "plan"
    done = run_done("assign", quality, "--out", out, "--method", "best", "--budget", 5)
    assert f"certified, {LARGEST}" in done.stderr
    run_done("verify", out)
    assert (out / "branches.json").exists()


@pytest.fixture(scope="module")
def proved():
    """What `branches.json` says of a plan that was branched on."""
    return document(assign(branched_plan(), "best", rng=0))


def first(leaves):
    return leaves[0]["branches"][0]


def side_of(leaves):
    return "at_most" if "at_most" in first(leaves) else "at_least"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda leaves: leaves.clear(), "a list of leaves"),
        (lambda leaves: leaves.pop(), "not those of a tree|must have the sides"),
        (lambda leaves: leaves.append(leaves[0]), "not those of a tree"),
        (lambda leaves: first(leaves).update({side_of(leaves): 9}), "must have the sides"),
        (lambda leaves: first(leaves).update(tasks=["t1"]), "not those of a tree"),
        (lambda leaves: first(leaves).update(tasks=["t9"]), "must be of the plan"),
        (lambda leaves: first(leaves).update(price=-1.0), "a price must be a number >= 0"),
        (lambda leaves: first(leaves).update(price=float("nan")), "a price must be"),
        (lambda leaves: first(leaves).update(with_at_least=True), "counts must be integers"),
        (lambda leaves: leaves[0]["prices"].pop("a"), "one price per worker"),
        (lambda leaves: leaves[0].pop("budget_price"), "must have prices, a budget_price"),
        (lambda leaves: leaves[0].update(branches=[None]), "a branch must have"),
        (lambda leaves: leaves[0].update(branches=None), "must have prices"),
    ],
)
def test_leaves_that_prove_nothing_are_refused_by_name(proved, change, message):
    given = copy.deepcopy(proved)
    change(given["leaves"])
    with pytest.raises(ValueError, match=message):
        bound_of_branches(branched_plan(), given)


def test_a_document_without_leaves_proves_nothing():
    with pytest.raises(ValueError, match="a list of leaves"):
        bound_of_branches(branched_plan(), {})


def test_other_prices_prove_another_bound():
    plan = branched_plan()
    found = assign(plan, "best", rng=0)
    given = document(found)
    for leaf in given["leaves"]:
        leaf["budget_price"] += 0.01
    with pytest.raises(ValueError, match="leaf 1: bound is") as refused:
        bound_of_branches(plan, given)
    assert float(str(refused.value).split()[-1]) > given["leaves"][0]["bound"] + 1e-3


def test_a_time_limit_that_strikes_leaves_a_bound_that_holds():
    rng = np.random.default_rng(3)
    quality = named(rng.uniform(0.5, 0.9, (10, 20)))
    plan = Plan(quality, max_workers_per_task=5, max_tasks_per_worker=9, budget=61)
    best = assign(plan, "best", rng=0)
    for limit in (0.05, 0.2):
        found = assign(plan, "best", rng=0, time_limit=limit)
        assert found.expected_accuracy <= best.bound + 1e-9
        assert found.bound is None or found.bound >= best.expected_accuracy - 1e-9
