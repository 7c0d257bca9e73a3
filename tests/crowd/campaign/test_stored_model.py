"""The model of dependent errors and the matrices of workers as a store keeps them."""

import json
from dataclasses import replace

import pytest

from crowd_tvcs.belief.dependent import WeightedAnswer, dependent_posterior_of_task
from crowd_tvcs.campaign.stored_model import parse_confusion, parse_model
from crowd_tvcs.skills.dependence_fit import NO_GOLD


def test_a_store_keeps_a_model_and_matrices():
    assert parse_model(None) is None
    assert parse_confusion(None) is None
    assert parse_confusion("[[0.9, 0.1], [0.2, 0.8]]") == ((0.9, 0.1), (0.2, 0.8))
    steps = (0.1, 0.2, 0.4, 0.5, 0.9)
    for model in (NO_GOLD, replace(NO_GOLD, steps=steps), replace(NO_GOLD, steps=steps, last=30)):
        assert parse_model(json.dumps(model.as_json())) == model


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
    found = [
        dependent_posterior_of_task(
            parse_model(text),
            [0.5, 0.5],
            [WeightedAnswer(1, 0.9, confusion), WeightedAnswer(1, 0.8)],
            1.0,
        )[1]
        for confusion in (parse_confusion(habits), None)
    ]
    assert found[0] == pytest.approx(receipt.confidence)
    assert found[1] > receipt.confidence + 0.01
