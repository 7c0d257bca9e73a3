"""What "certified" means: proved within the stated gap, and said alike everywhere."""

import json
import math

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.certificate import PlanProof
from crowd_tvcs.plan.proof import (
    CERTIFIED_WITHIN,
    CLOSED,
    LARGEST,
    gap_between,
    is_certified,
    is_largest,
    statement,
    usable,
)
from crowd_tvcs.report.assignment import render
from crowd_tvcs.simulation import simulate
from crowd_tvcs.what_if import what_if


def with_bound(found, bound):
    n = len(found.plan.quality.workers)
    proof = PlanProof(bound, np.zeros(n), 0.0)
    return Assignment(found.plan, found.assigned, "best", "no step found more", certificate=proof)


@pytest.fixture(scope="module")
def found():
    plan = Plan(simulate(6, 8, rng=1).quality, max_workers_per_task=2, budget=12)
    return assign(plan, "qlp", rng=0)


def page_of(found):
    caps = {"max_workers_per_task": None, "max_tasks_per_worker": None, "budget": None}
    return render(found, source="quality.csv", command="crowd-tvcs assign", caps=caps)


def test_a_bound_far_above_the_plan_is_known_and_certifies_nothing(found):
    far = with_bound(found, found.expected_accuracy + 0.01)
    assert not far.certified
    summary = far.summary()
    assert summary["certified"] is False
    assert summary["certified_within"] == CERTIFIED_WITHIN
    assert summary["gap"] == pytest.approx(0.01)
    assert summary["bound"] == far.bound
    assert far.price_rows()
    assert far.statement.startswith("not certified: no plan can have more than")
    assert f"This plan is {far.statement}." in page_of(far)


@pytest.mark.parametrize(("gap", "certified"), [(0.0, 1), (1e-10, 1), (9e-4, 1), (1.1e-3, 0)])
def test_one_definition_for_the_assignment_its_summary_its_sentence_and_its_report(
    found, gap, certified
):
    near = with_bound(found, found.expected_accuracy + gap)
    assert near.certified == bool(certified) == near.summary()["certified"]
    assert near.statement.startswith("certified" if certified else "not certified")
    assert (LARGEST in near.statement) == (gap <= CLOSED)
    assert near.statement in page_of(near)


def test_a_bound_below_the_accuracy_is_a_contradiction_and_no_proof():
    assert not is_certified(0.5868, 0.5116)
    assert not is_largest(0.5868, 0.5116)
    assert statement(0.5868, 0.5116) == (
        "not certified: the accuracy 0.586800 is above the bound 0.511600"
    )
    assert is_largest(0.8, 0.8 - 1e-12)  # rounding


def test_a_sampled_accuracy_proves_nothing():
    assert is_largest(0.9, 0.9)
    assert not is_certified(0.9, 0.9, 1e-4)
    assert "sampled" in statement(0.9, 0.9, 1e-4)


@pytest.mark.parametrize("bound", [math.inf, math.nan, -0.1])
def test_a_bound_is_finite_and_at_most_1(bound):
    assert usable(bound) is None
    assert not is_certified(0.9, bound)
    assert usable(1.0 + 1e-6) == 1.0
    assert not is_certified(0.9999, 1.0 + 1e-6)
    assert gap_between(0.9, None) is None


def test_what_if_certifies_every_row_by_the_same_definition():
    plan = Plan(simulate(12, 30, family="worker", rng=2).quality, max_tasks_per_worker=6)
    for offer in what_if(plan, [10, 40, 60], rng=0):
        assert offer.certified == is_certified(offer.expected_accuracy, offer.bound)
    assert not any(offer.certified for offer in what_if(plan, [10, 40], "qlp", rng=0))


def test_large_teams_that_are_sampled_are_never_certified():
    values = np.random.default_rng(0).uniform(0.3, 0.7, (14, 2))
    quality = Quality(values, [f"w{i}" for i in range(14)], ["t0", "t1"])
    plan = Plan(quality, n_classes=4, forced=np.ones((14, 2), dtype=bool))
    sampled = assign(plan, "best", rng=0)
    assert sampled.standard_error > 0
    assert not sampled.certified
    assert "proved" not in sampled.reason
    assert json.loads(json.dumps(sampled.summary()))["certified"] is False


@pytest.mark.parametrize(("classes", "forced"), [(4, 14), (2, 24)])
def test_forced_teams_that_are_not_computed_exactly_prove_no_bound(classes, forced):
    # The last worker may not be paid, so that the forced ones are all that the bound looks at.
    values = np.random.default_rng(1).uniform(0.4, 0.7, (forced + 1, 1))
    quality = Quality(values, [f"w{i:02}" for i in range(forced + 1)], ["t0"])
    must = np.arange(forced + 1)[:, None] < forced
    plan = Plan(quality, n_classes=classes, forced=must, budget=forced)
    assert assign(plan, "best", rng=0).bound is None
