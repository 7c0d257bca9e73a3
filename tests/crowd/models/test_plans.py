"""Plans of models and people: their price, and the share of right labels that gold confirms."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from crowd_tvcs.answers.answers import Gold
from crowd_tvcs.models.deferral import DeferredTasks, open_tasks
from crowd_tvcs.models.fit import fit_models
from crowd_tvcs.models.people import fit_people, right_with_people
from crowd_tvcs.models.plans import (
    ModelPlan,
    _measured,
    confirmed,
    describe_plans,
    is_measured,
    model_plans,
)
from crowd_tvcs.models.simulation import simulate_models
from crowd_tvcs.skills.voting.right_share import RightShare


def planned(seed, n_gold=100, *, with_people=True):
    """The plans of a simulated crowd, with the tasks and people that they are of."""
    crowd = simulate_models(5, 300, n_gold=n_gold, difficulty_spread=1.0, rng=seed)
    fitted = fit_models(crowd.answers, crowd.gold_labels, crowd.family_of)
    people = None
    accuracy = np.full(fitted.truth.size, 0.8)
    if with_people:
        people = fit_people(fitted, crowd.answers, crowd.gold_labels, crowd.people)
        accuracy = people.mean_quality
    handed = DeferredTasks(fitted, open_tasks(fitted), accuracy, 0.95, 5)
    return crowd, handed, people, model_plans(handed, people, person_cost=0.1)


def test_labels_of_people_to_come_are_as_often_right_as_by_all_their_answers(rng):
    chances = rng.dirichlet(np.ones(3), 6).round(6)
    truth, people = rng.integers(0, 3, 6), np.array([0, 1, 2, 3, 3, 2])
    accuracy = np.array([0.7, 0.7, 0.8, 0.8, 0.6, 0.6])
    expected = []
    for row, y, q, n in zip(chances, truth, accuracy, people, strict=True):
        matrix = np.full((3, 3), (1 - q) / 2) + np.eye(3) * (q - (1 - q) / 2)
        total = 0.0
        for said in product(range(3), repeat=int(n)):
            joint = row * matrix[:, list(said)].prod(axis=1)
            total += (joint.argmax() == y) * matrix[y, list(said)].prod()
        expected.append(total)
    assert_allclose(right_with_people(chances, truth, accuracy, people), expected, atol=1e-9)


def test_what_people_add_on_gold_is_the_mean_over_runs_of_their_answers():
    chances = np.array([[0.6, 0.4], [0.9, 0.1]])
    said = [np.array([1, 1, 0]), np.array([1])]
    found = _measured(chances, np.array([1, 1]), np.array([0.8, 0.8]), np.array([1, 3]), said)
    assert_allclose(found, [2 / 3, 0.0])  # one person turns .6 and not .9; there is only one


def test_plans_leave_less_and_less_to_people_and_cost_less():
    _, handed, people, plans = planned(0)
    assert plans[0].by_models == plans[-1].by_people == plans[-1].people == 0
    assert plans[-1].cost == 0.0
    claim = handed.chances.max(axis=1)
    for plan in plans:
        assert plan.by_models == (claim > plan.above).sum() == 300 - plan.by_people
        assert plan.cost == pytest.approx(0.1 * plan.people)
    counts = [plan.people for plan in plans]
    assert counts == sorted(counts, reverse=True)
    assert is_measured(handed, people)
    whole, last = handed.right_share, plans[-1].right
    assert (last.share, last.low, last.high) == (whole.share, whole.low, whole.high)


def test_the_intervals_hold_on_labels_that_are_made_as_the_plans_say():
    held = []
    for seed in range(12):
        crowd, handed, people, plans = planned(seed, 60)
        names = [handed.models.answers.tasks[j] for j in handed.tasks]
        truth = np.array([crowd.answers.classes.index(crowd.truth[name]) for name in names])
        alone = handed.chances.argmax(axis=1) == truth
        held.append(plans[-1].right.low <= alone.mean() <= plans[-1].right.high)
        own = crowd.answers.select(crowd.of(models=False, tasks=names))
        votes = np.zeros((len(crowd.answers.tasks), 2))
        np.add.at(votes, (own.task_of, own.label_of), 1.0)
        odds = np.log(people.mean_quality / (1.0 - people.mean_quality))
        joint = np.log(handed.chances) + (odds[:, None] * votes)[handed.tasks]
        claim = handed.chances.max(axis=1)
        low = plans[len(plans) // 2]  # unsure tasks have five people, as the target is far
        share = np.where(claim > low.above, alone, joint.argmax(axis=1) == truth).mean()
        held.append(low.right.low <= share <= low.right.high)
    assert np.mean(held) > 0.87


def test_without_answers_of_people_their_accuracy_is_taken_as_given():
    _, handed, people, plans = planned(1, with_people=False)
    assert people is None
    assert not is_measured(handed, people)
    assert plans[0].right.share > plans[-1].right.share


def plan_of(share, low, by_people, gold=100):
    right = RightShare(share, low, min(1.0, 2 * share - low), gold, float(gold))
    return ModelPlan(0.9, 1000 - by_people, by_people, 3 * by_people, None, right)


def test_a_plan_is_confirmed_only_if_all_that_leave_more_to_people_are():
    plans = [plan_of(0.97, 0.95, 100), plan_of(0.94, 0.88, 50), plan_of(0.96, 0.92, 0)]
    assert confirmed(plans, 0.9) == 1
    assert confirmed(plans, 0.96) == 0
    assert confirmed(plans, 0.5) == 3
    said = describe_plans(plans, 0.9)
    assert said.startswith("a share of 0.9 right labels is confirmed by 100 gold tasks: models")
    assert "people are asked about 100 (300 labels)" in said
    assert "is not proved, as gold is odd." in describe_plans(plans, 0.9, "gold is odd")


def test_what_is_not_confirmed_says_how_much_gold_would_do_or_that_no_plan_gets_there():
    plans = [plan_of(0.95, 0.9, 100), plan_of(0.9, 0.8, 0)]
    said = describe_plans(plans, 0.93)
    assert "is not confirmed by 100 gold tasks; about " in said
    more = int(said.split("about ")[1].split()[0])
    assert 300 < more < 2000
    assert "choose a lower --right-share" in describe_plans(plans, 0.9499)
    assert "above what any of these plans is expected to reach" in describe_plans(plans, 0.99)


def test_gold_that_people_did_not_answer_is_left_out():
    crowd, handed, _, _ = planned(2, 60)
    asked = set(crowd.gold[:30])
    own = crowd.answers.select(
        np.array([crowd.answers.tasks[j] in asked for j in crowd.answers.task_of])
    )
    gold = Gold({task: crowd.truth[task] for task in crowd.gold}, crowd.answers.classes)
    people = fit_people(handed.models, own, gold, crowd.people)
    assert {plan.right.gold for plan in model_plans(handed, people)} == {30}
