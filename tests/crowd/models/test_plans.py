"""Plans of models and people: their price, and the share of right labels that gold confirms."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.models.deferral import DeferredTasks, open_tasks
from crowd_tvcs.models.fit import fit_models
from crowd_tvcs.models.measured_people import MeasuredPeople
from crowd_tvcs.models.people import expected_with_people, fit_people, right_with_people
from crowd_tvcs.models.plans import ModelPlan, confirmed, describe_plans, model_plans
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
    measured = None if people is None else MeasuredPeople.of(fitted, people, accuracy)
    handed = DeferredTasks(fitted, open_tasks(fitted), accuracy, 0.95, 5, measured)
    return crowd, handed, people, model_plans(handed, person_cost=0.1)


def test_labels_of_people_to_come_are_as_often_right_as_by_all_their_answers(rng):
    chances = rng.dirichlet(np.ones(3), 6).round(6)
    truth, people = rng.integers(0, 3, 6), np.array([0, 1, 2, 3, 3, 2])
    accuracy = np.array([0.7, 0.7, 0.8, 0.8, 0.6, 0.6])
    expected = []
    for row, y, q, n in zip(chances, truth, accuracy, people, strict=True):
        matrix = np.full((3, 3), (1 - q) / 2) + np.eye(3) * (q - (1 - q) / 2)
        total = 0.0
        for message in product(range(3), repeat=int(n)):
            joint = row * matrix[:, list(message)].prod(axis=1)
            total += (joint.argmax() == y) * matrix[y, list(message)].prod()
        expected.append(total)
    assert_allclose(right_with_people(chances, truth, accuracy, people), expected, atol=1e-9)


def test_what_people_add_on_gold_is_the_mean_over_runs_of_their_answers():
    chances = np.array([[0.6, 0.4], [0.9, 0.1]])
    people = measured(labels=[[1, 1, 0], [1, -1, -1]], truth=[1, 1], accuracy=[0.8, 0.8])
    found = people.right(chances, np.array([1, 3]))
    assert_allclose(found, [2 / 3, 0.0])  # one person turns .6 and not .9; there is only one


def measured(labels, truth, accuracy):
    """Gold tasks with these answers of people."""
    n = len(truth)
    return MeasuredPeople(
        np.ones(n, dtype=bool), np.array(truth), np.array(accuracy), np.array(labels)
    )


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_people_who_often_err_with_the_models_deliver_less_than_is_expected(rng, share):
    """A share of the tasks have people who err independently; the others say what models say."""
    n, k, chances = 3000, 3, np.tile([0.5, 0.3, 0.2], (3000, 1))
    truth = np.array([rng.choice(k, p=row) for row in chances])
    wrong = (truth[:, None] + rng.integers(1, k, (n, 5))) % k
    labels = np.where(rng.random((n, 5)) < 0.8, truth[:, None], wrong)
    people = measured(np.where(rng.random(n)[:, None] < share, labels, 0), truth, np.full(n, 0.8))
    assert people.delivered(chances, 5) == pytest.approx(share, abs=0.06)
    whole, part = (expected_with_people(chances[:1], 0.8, 5, d)[0] for d in (1.0, share))
    assert part - 0.5 == pytest.approx(share * (whole - 0.5))


def test_what_people_add_is_expected_as_far_as_gold_shows_it():
    """People who copy the models hardly raise a confidence."""
    crowd = simulate_models(5, 300, n_gold=100, rng=3)
    fitted = fit_models(crowd.answers, crowd.gold_labels, crowd.family_of)
    people = fit_people(fitted, crowd.answers, crowd.gold_labels, crowd.people)
    leading = fitted.posterior.argmax(axis=1)
    place = {name: j for j, name in enumerate(fitted.answers.tasks)}
    of_task = np.array([leading[place[name]] for name in people.answers.tasks])
    own = people.answers
    copies = Answers(
        own.tasks, own.workers, own.classes, own.task_of, own.worker_of, of_task[own.task_of]
    )
    found = MeasuredPeople.of(fitted, replace(people, answers=copies), people.mean_quality)
    handed = DeferredTasks(fitted, open_tasks(fitted), people.mean_quality, 0.99, 3, found)
    assert handed.delivered < 0.15 < replace(handed, measured=None).delivered


def test_plans_leave_less_and_less_to_people_and_cost_less():
    _, handed, _, plans = planned(0)
    assert plans[0].by_models == plans[-1].by_people == plans[-1].people == 0
    assert plans[-1].cost == 0.0
    claim = handed.chances.max(axis=1)
    for plan in plans:
        assert plan.by_models == (claim > plan.above).sum() == 300 - plan.by_people
        assert plan.cost == pytest.approx(0.1 * plan.people)
    counts = [plan.people for plan in plans]
    assert counts == sorted(counts, reverse=True)
    assert handed.measured is not None
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
    assert handed.delivered == 1.0
    assert plans[0].right.share > plans[-1].right.share


def plan_of(share, low, by_people, gold=100):
    right = RightShare(share, low, min(1.0, 2 * share - low), gold, float(gold))
    return ModelPlan(0.9, 1000 - by_people, by_people, 3 * by_people, None, right)


def test_a_plan_is_confirmed_only_if_all_that_leave_more_to_people_are():
    plans = [plan_of(0.97, 0.95, 100), plan_of(0.94, 0.88, 50), plan_of(0.96, 0.92, 0)]
    assert confirmed(plans, 0.9) == 1
    assert confirmed(plans, 0.96) == 0
    assert confirmed(plans, 0.5) == 3
    message = describe_plans(plans, 0.9)
    assert message.startswith("a share of 0.9 right labels is confirmed by 100 gold tasks: models")
    assert "people are asked about 100 (300 labels)" in message
    assert "is not proved, as gold is odd." in describe_plans(plans, 0.9, "gold is odd")


def test_what_is_not_confirmed_says_how_much_gold_would_do_or_that_no_plan_gets_there():
    plans = [plan_of(0.95, 0.9, 100), plan_of(0.9, 0.8, 0)]
    message = describe_plans(plans, 0.92)
    assert "is not confirmed by 100 gold tasks; about " in message
    more = int(message.split("about ")[1].split()[0])
    assert 300 < more < 1000  # the tasks there are
    assert "choose a lower --right-share" in describe_plans(plans, 0.9499)
    assert "choose a lower --right-share" in describe_plans(plans, 0.945)
    assert "above what any of these plans is expected to reach" in describe_plans(plans, 0.99)


def test_gold_that_people_did_not_answer_is_left_out():
    crowd, handed, _, _ = planned(2, 60)
    asked = set(crowd.gold[:30])
    own = crowd.answers.select(
        np.array([crowd.answers.tasks[j] in asked for j in crowd.answers.task_of])
    )
    gold = Gold({task: crowd.truth[task] for task in crowd.gold}, crowd.answers.classes)
    people = fit_people(handed.models, own, gold, crowd.people)
    found = MeasuredPeople.of(handed.models, people, handed.accuracy)
    assert {plan.right.gold for plan in model_plans(replace(handed, measured=found))} == {30}


def test_gold_of_one_class_confirms_nothing_of_tasks_of_others():
    """Of 74 gold tasks of one class all were right, and so .9 of all labels were "confirmed"."""
    crowd = simulate_models(5, 300, n_gold=150, rng=3)
    one = {task: label for task, label in crowd.gold_labels.labels.items() if label == "1"}
    gold = Gold(one, crowd.answers.classes)
    fitted = fit_models(crowd.answers, gold, crowd.family_of)
    handed = DeferredTasks(fitted, open_tasks(fitted), None, 0.9, 3)
    assert "no random sample" in handed.sample_doubt
    assert not planned(0)[1].sample_doubt
