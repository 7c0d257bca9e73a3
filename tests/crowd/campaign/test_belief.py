"""The belief of a task at the ends of what numbers can be."""

import json
import math
from dataclasses import replace

import pytest

from crowd_tvcs.campaign.belief import (
    SUREST,
    SUREST_SKILL,
    Given,
    affinity,
    gain_per_label,
    habits_of,
    joint_of,
    posterior,
    together,
    uncertainty,
)
from crowd_tvcs.skills.dependence_fit import NO_GOLD


def test_many_sure_answers_are_no_overflow():
    assert posterior([0.5, 0.5], [(1, 1.0)] * 60) == pytest.approx([0.0, 1.0], abs=1e-300)
    assert posterior([0.5, 0.5], [(1, 1.0), (0, 0.0)]) == pytest.approx([0.0, 1.0], abs=1e-15)
    assert posterior([1.0, 0.0], []) == pytest.approx([1.0, SUREST], rel=1e-6)
    # One who is certain is taken to be this sure, not by a billionth more.
    assert posterior([0.5, 0.5], [(1, 1.0)])[0] == pytest.approx(SUREST, rel=1e-12, abs=0)


def test_who_is_certain_or_tells_nothing():
    assert affinity(1.0, 2) == affinity(0.0, 2) == 0.0
    assert affinity(0.5, 2) == affinity(0.25, 4) == 1.0
    assert affinity(0.0, 4) == pytest.approx(2 / 3)
    assert uncertainty([1.0, 0.0, 0.0]) == 0.0
    assert uncertainty([0.25] * 4) == pytest.approx(6 * 0.25)


def test_what_a_store_keeps_of_a_model_and_of_habits():
    assert joint_of(None) is None
    assert habits_of(None) is None
    assert habits_of("[[0.9, 0.1], [0.2, 0.8]]") == ((0.9, 0.1), (0.2, 0.8))
    steps = (0.1, 0.2, 0.4, 0.5, 0.9)
    for model in (NO_GOLD, replace(NO_GOLD, steps=steps), replace(NO_GOLD, steps=steps, last=30)):
        text = model.as_json()
        if model.last == 10:
            del text["last"]  # as one that was written before there was one
        joint = joint_of(json.dumps(text))
        assert joint.steps == tuple(model.steps)
        for n in (0, 1, 2, 4, 8, 10, 20, 40):
            assert joint.factor(n) == pytest.approx(float(model.factor(n)), abs=1e-12)


def test_without_answers_what_is_known_of_a_task_is_its_prior():
    joint = joint_of(json.dumps(NO_GOLD.as_json()))
    assert together(joint, [0.3, 0.7], [], 1.0) == pytest.approx([0.3, 0.7])
    found = together(joint, [0.5, 0.5], [Given(1, 0.9)], 1.0)
    assert found[1] > 0.8
    assert sum(found) == pytest.approx(1.0)
    # One who knows all, and one who is always wrong, are no logarithm of 0.
    for accuracy in (0.0, 1.0):
        found = together(joint, [0.5, 0.5], [Given(1, accuracy, ((1.0, 0.0), (0.0, 1.0)))], 1.0)
        assert all(math.isfinite(p) for p in found)


def test_chances_sum_to_one_where_a_class_cannot_be():
    joint = joint_of(json.dumps(replace(NO_GOLD, common=0.3).as_json()))
    found = together(joint, [1.0, 0.0], [Given(0, 0.8)], 1.0)
    assert sum(found) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("surer", [1.0 - SUREST_SKILL / 2, 1.0])
def test_nobody_is_taken_to_be_surer_than_the_model_takes_them(surer):
    joint = joint_of(json.dumps(NO_GOLD.as_json()))
    chances = [0.6, 0.4]
    most = gain_per_label(chances, 1.0 - SUREST_SKILL, joint, 2)
    assert gain_per_label(chances, surer, joint, 2) == most > 0.3


def test_a_label_of_one_who_tells_nothing_gains_nothing():
    assert gain_per_label([0.5, 0.5], 0.5, None, 0) == 0.0
    assert gain_per_label([0.5, 0.5], 0.8, None, 0) == pytest.approx(0.3)
    assert gain_per_label([1.0, 0.0], 0.8, None, 0) == 0.0
    # With 30 classes three labels have 4960 outcomes, so only two are looked ahead.
    k, q = 30, 0.8
    one = (q - 1 / k) / 1
    assert gain_per_label([1 / k] * k, q, None, 0) == pytest.approx(one)


def test_habits_count_for_those_whose_are_known(begin):
    """The arrays of a state and the claims of a store say the same of a worker with habits."""
    campaign = begin(tasks=["t1"])
    text = json.dumps(NO_GOLD.as_json() | {"blend": 0.5})
    habits = json.dumps([[0.5, 0.5], [0.5, 0.5]])
    with campaign.store.write() as (connection, _, _):
        connection.exec_driver_sql("UPDATE campaign SET dependence = ?", (text,))
        connection.exec_driver_sql("UPDATE worker SET habits = ? WHERE name = 'ann'", (habits,))
    for name in ("ann", "bob"):
        campaign.next(name)
        receipt = campaign.submit(name, "t1", "1")
    state = campaign.state()
    assert state.posterior[0, 1] == pytest.approx(receipt.confidence, abs=1e-12)
    given = [Given(1, 0.9, habits_of(habits)), Given(1, 0.8)]
    plain = [Given(1, 0.9), Given(1, 0.8)]
    joint = joint_of(text)
    assert together(joint, [0.5, 0.5], given, 1.0)[1] == pytest.approx(receipt.confidence)
    assert together(joint, [0.5, 0.5], plain, 1.0)[1] > receipt.confidence + 0.01
