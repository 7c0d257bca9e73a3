"""What the gold of a campaign says of its confidences."""

import json
from dataclasses import replace

import numpy as np
import pytest

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.belief.intervals import prediction_interval
from crowd_tvcs.campaign import summary, task_statuses
from crowd_tvcs.campaign.desk.figures import figures
from crowd_tvcs.campaign.entries import Task
from crowd_tvcs.campaign.gold_calibration import calibrate_on_gold
from crowd_tvcs.report.campaign import render
from crowd_tvcs.skills.dependence_fit import NO_GOLD
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.reliability import confidence_threshold, gold_confidences
from tests.makers.commands import crowd_tvcs

GOLD = {f"g{k:02d}": str(k % 2) for k in range(60)}
ANSWERS = [
    (task, name, label if (k * step) % 7 < right else str(1 - int(label)))
    for k, (task, label) in enumerate(GOLD.items())
    for name, step, right in (("ann", 1, 6), ("bob", 2, 5), ("cy", 3, 5))
]


@pytest.mark.parametrize("model", [None, NO_GOLD])
def test_gold_tasks_are_judged_by_each_other(begin, model):
    options = {"qualities": None, "gold": GOLD, "gold_answers": ANSWERS, "prior": 0.5}
    campaign = begin(**options, model="independent")
    answers = Answers.of(ANSWERS, tasks=sorted(GOLD), workers=["ann", "bob", "cy"], classes=[*"01"])
    known = Gold(GOLD, ("0", "1"))
    skill = estimate_quality(answers, known, prior="usual-crowd", model="independent")
    if model is not None:
        skill = replace(skill, dependence=model)
        text = json.dumps(model.as_json())
        with campaign.store.write() as (connection, _, _):
            connection.exec_driver_sql("UPDATE campaign SET dependence = ?", (text,))
    state = campaign.state()
    found = calibrate_on_gold(state)
    claim, hit = gold_confidences(answers, known, skill)
    assert found.claim == pytest.approx(claim, abs=1e-9)
    assert found.hit.tolist() == hit.tolist()
    assert found.confidence_threshold(0.9) == pytest.approx(confidence_threshold(claim, hit, 0.9))
    assert sum(part.tasks for part in found.by_confidence) >= 60
    assert len(found.by_labels) > 0
    assert isinstance(found.warnings, list)
    at = 0.9 if model is None else found.confidence_threshold(0.9)
    sure = [one.verdict == "confident" for one in campaign.review_tasks(target=0.9)]
    assert sure == [task.confidence >= at for task in state.tasks]


def test_where_qualities_are_from_no_gold_nothing_is_judged(begin):
    assert calibrate_on_gold(begin().state()) is None
    assert (
        calibrate_on_gold(
            begin(gold=GOLD, gold_answers=ANSWERS, prior=0.5, model="independent").state()
        )
        is None
    )


def status(campaign, *words):
    return crowd_tvcs("campaign", "status", campaign.store.place, *words).stdout


def test_the_accuracy_of_the_labels_now_has_an_interval_by_gold(begin):
    campaign = begin(qualities=None, gold=GOLD, gold_answers=ANSWERS)
    campaign.submit("ann", campaign.next("ann").task, "1")
    state = campaign.state()
    record = summary(state, task_statuses(state))
    sure = record["expected_accuracy"]
    assert (record["unlabelled"], len(state.tasks)) == (2, 3)  # which have no accuracy yet
    assert sure == pytest.approx(state.posterior[state.is_labelled].max())
    low, high = prediction_interval(sure, len(GOLD), 1)
    assert low < sure < high
    expected = {"accuracy": sure, "low": low, "high": high, "gold_tasks": len(GOLD)}
    assert record["forecast"] == pytest.approx(expected)
    assert figures(campaign.store).forecast == pytest.approx(expected)
    assert json.loads(status(campaign, "--json"))["forecast"] == pytest.approx(expected)
    (line,) = [line for line in status(campaign).splitlines() if "expected accuracy" in line]
    assert line.endswith(f"(95 % interval {low:.3f} to {high:.3f}, from 60 gold tasks)")
    page = render(state, name="c")
    assert "and for labels of the best workers." in page
    assert f"now (95 % interval {100 * low:.2f} % to {100 * high:.2f} %)" in page


def test_where_no_gold_is_measured_there_is_no_interval(begin):
    options = {"qualities": None, "gold": GOLD, "gold_answers": ANSWERS, "model": "independent"}
    for campaign in (begin(), begin(**options)):
        state = campaign.state()
        assert summary(state, task_statuses(state))["forecast"] is None
        assert figures(campaign.store).forecast is None
        assert "chance .95 from" not in status(campaign)
        assert "now (95 % interval" not in render(state, name="c")


def test_a_round_says_what_gold_foresees(begin):
    """Of tasks without answers by their workers, of others what is expected."""
    assert begin().plan(labels=3).forecast is None  # from a table
    options = {"qualities": None, "gold": GOLD, "gold_answers": ANSWERS}
    assert begin(**options, model="independent").plan(labels=3).forecast is None
    campaign = begin(**options, tasks=[Task(name, min_workers=2) for name in ("t1", "t2", "t3")])
    with campaign.store.write() as (connection, settings, _):  # as if the best reached more
        record = json.loads(settings.dependence)
        record["forecast_model"]["gaps"] = [0.05] * len(record["forecast_model"]["labels"])
        connection.exec_driver_sql("UPDATE campaign SET dependence = ?", (json.dumps(record),))
    quality = campaign.state().quality.values[:, 0]
    assert quality.max() >= record["forecast_model"]["best"][0] > record["forecast_model"]["usual"]
    found = campaign.plan(labels=1)
    state = campaign.state()
    ((worker, task),) = found.pairs
    assert state.quality.values[state.quality.workers.index(worker), 0] == quality.max()
    assert found.forecast.accuracy == pytest.approx(found.expected_accuracy + 0.05 / 3)
    assert found.forecast.low < found.forecast.accuracy < found.forecast.high
    assert found.forecast.gold_tasks == 60
    more = campaign.plan(labels=8, method="fast").pairs
    other = next(name for name, t in more if t == task)
    campaign.add_answers([(task, other, "1")])  # and the label of the best is still to come
    later = campaign.plan(labels=1, method="fast")
    state = campaign.state()
    at = state.quality.tasks.index(task)
    assert state.pending[:, at].any()
    unanswered = np.arange(3) != at
    accuracy = np.full(3, later.expected_accuracy)
    by_hand, with_answered = (
        state.model.forecast_model.forecast_plan(state.quality.values, support, accuracy).accuracy
        for support in (state.pending & unanswered, state.pending)
    )
    assert later.forecast.accuracy == pytest.approx(by_hand)
    assert by_hand < with_answered - 1e-3


def test_gold_that_answers_show_to_be_no_sample_is_named(begin):
    """All gold is of class 0, and answers to the other tasks are mostly 1."""
    gold = dict.fromkeys(GOLD, "0")
    answers = [(task, name, str(int(k % 9 == 0)))
               for k, task in enumerate(GOLD) for name in ("ann", "bob", "cy")]  # fmt: skip
    names = [f"t{k}" for k in range(20)]
    campaign = begin(qualities=None, gold=gold, gold_answers=answers, tasks=names)
    assert "no random sample" not in status(campaign)
    while task := campaign.next("ann").task:
        campaign.submit("ann", task, "1")
    assert "the gold is no random sample of the tasks: most answers are 1" in status(campaign)
    assert not any(one.verdict == "confident" for one in campaign.review_tasks(target=0.9))
    words = ["campaign", "review", campaign.store.place, "--target", "0.9"]
    assert "not shown, as the gold is no random sample" in crowd_tvcs(*words).stderr
