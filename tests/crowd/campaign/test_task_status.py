"""Where every task stands, and the figures of a campaign: each by hand."""

import numpy as np
import pytest

from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.belief.constants import LOOK_AHEAD
from crowd_tvcs.belief.gain import gain_per_label
from crowd_tvcs.campaign import Task, Worker, state, summary, task_statuses
from crowd_tvcs.campaign.rounds import plan_of
from crowd_tvcs.campaign.stopping import least_gain_of, least_of_round
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.tasks import fewest_first

INDEPENDENT = {"model": "independent"}


def verdicts(campaign, **asked):
    return {one.task: one.verdict for one in campaign.review_tasks(**asked)}


def test_a_task_stands_for_the_first_reason_that_holds(begin):
    tasks = [
        Task("closed", prior=0.99), Task("full", max_workers=1), Task("needy", min_workers=3),
        Task("open"), Task("out"), Task("sure", prior=0.99), Task("vain", prior=0.97),
    ]  # fmt: skip
    campaign = begin(tasks=tasks, target=0.98, min_gain=0.01, **INDEPENDENT)
    campaign.close_tasks(["closed"])
    assert campaign.next("ann", now=1.0).task == "full"
    campaign.submit("ann", "full", "1", now=2.0)
    assert campaign.next("ann", now=3.0).task == "needy"
    campaign.submit("ann", "needy", "1", now=4.0)
    assert campaign.next("bob", now=5.0).task == "open"
    campaign.submit("bob", "open", "1", now=6.0)
    assert campaign.next("cy", now=7.0).task == "out"
    expected = {
        "closed": "closed", "full": "full", "needy": "worth a label", "open": "worth a label",
        "out": "waiting", "sure": "confident", "vain": "not worth it",
    }  # fmt: skip
    assert verdicts(campaign) == expected
    found = {one.task: one for one in campaign.review_tasks()}
    assert [found[name].stops for name in sorted(expected)] == [
        True, True, False, False, False, True, True,
    ]  # fmt: skip
    assert [(one.answers, one.pending) for one in campaign.review_tasks()] == [
        (0, 0), (1, 0), (1, 0), (1, 0), (0, 1), (0, 0), (0, 0),
    ]  # fmt: skip
    assert (found["open"].label, found["open"].confidence) == ("1", pytest.approx(0.8))
    # Of ann, who has not had it, one label: .2 x .9 turns out right where .8 x .1 was.
    assert found["open"].gain == pytest.approx(0.1)
    assert verdicts(campaign, min_gain=0.1001)["open"] == "not worth it"
    assert verdicts(campaign, min_gain=0.0)["vain"] == "worth a label"
    assert verdicts(campaign, target=0.8)["open"] == "confident"
    assert verdicts(campaign, target=0.8)["needy"] == "worth a label"
    assert verdicts(campaign, target=0.995)["sure"] == "not worth it"
    assert verdicts(campaign, close=True) == expected
    assert verdicts(campaign)["vain"] == "closed"
    assert [task.closed for task in campaign.state().tasks] == [1, 0, 0, 0, 0, 0, 1]


def test_who_may_still_label_is_by_caps_and_groups(begin):
    """Nobody is left where all had it, are at their cap, of its group, or were told to stop."""
    workers = [Worker("ann", max_tasks=1, team="x"), Worker("bob", team="x"), Worker("cy")]
    campaign = begin(workers=workers, tasks=["t1", "t2"], **INDEPENDENT)
    campaign.block("cy")
    task = campaign.next("ann").task
    campaign.submit("ann", task, "1")
    assert verdicts(campaign) == {"t1": "nobody left", "t2": "worth a label"}
    assert [one.gain for one in campaign.review_tasks()] == [0.0, pytest.approx(0.3)]
    campaign.skip("bob", campaign.next("bob").task)
    assert verdicts(campaign) == {"t1": "nobody left", "t2": "nobody left"}
    campaign.block("cy", False)
    assert [one.gain for one in campaign.review_tasks()][1] == pytest.approx(0.2)


def test_a_minimum_that_nobody_may_meet_is_nobodys(begin):
    options = {"workers": ["ann", "bob"], "qualities": {"ann": 0.9, "bob": 0.8}}
    campaign = begin(tasks=[Task("t1", min_workers=3)], **options)
    for name in ("ann", "bob"):
        assert verdicts(campaign)["t1"] == "worth a label"
        assert campaign.next(name).task == "t1"
        campaign.submit(name, "t1", "1")
    assert verdicts(campaign)["t1"] == "nobody left"
    campaign.add(workers=["cy"], qualities={"cy": 0.8})
    assert verdicts(campaign)["t1"] == "worth a label"


def test_no_more_labels_are_looked_ahead_than_a_task_can_have(begin):
    """Beside .9 one label of .8 adds nothing and two add something, if there may be two."""
    names = {"ann": 0.9, "bob": 0.8, "cy": 0.8}

    def after_one(**options):
        options = {"workers": names, "qualities": names, "tasks": ["t1"]} | options | INDEPENDENT
        campaign = begin(**options)
        campaign.submit("ann", campaign.next("ann").task, "1")
        return campaign

    def told(campaign):
        (one,) = campaign.review_tasks()
        return one.verdict, one.gain, campaign.state().tasks[0].wanted, campaign.plan().pairs

    two = gain_per_label(np.array([[0.1, 0.9]]), 0.8, max_labels=2)[0]
    assert two > 0.01
    both = [("bob", "t1"), ("cy", "t1")]
    assert told(after_one(min_gain=0.01)) == ("worth a label", pytest.approx(two), 1, both)
    # The cap of the task, and the workers there are.
    assert told(after_one(max_workers_per_task=2, min_gain=0.01)) == ("not worth it", 0.0, 0, [])
    fewer = {"workers": ["ann", "bob"], "qualities": {"ann": 0.9, "bob": 0.8}}
    assert told(after_one(**fewer)) == ("not worth it", 0.0, 1, [])
    one_more = after_one(**fewer, min_gain=0.01)
    assert told(one_more) == ("not worth it", 0.0, 0, [])
    assert one_more.next("bob").task is None
    one_more.add(workers=["cy"], qualities={"cy": 0.8})  # then two may
    assert told(one_more) == ("worth a label", pytest.approx(two), 1, both)
    assert one_more.next("bob").task is None  # it is planned


def test_one_whose_answers_are_turned_round_is_as_good(begin):
    campaign = begin(workers=["ann"], tasks=["t1"], qualities={"ann": 0.1}, **INDEPENDENT)
    assert campaign.review_tasks()[0].gain == pytest.approx(0.4)
    two = {"workers": ["ann", "bob"], "qualities": {"ann": 0.1, "bob": 0.6}}
    assert begin(**two, tasks=["t1"], **INDEPENDENT).review_tasks()[0].gain == pytest.approx(0.4)
    three = {"classes": ["a", "b", "c"], "qualities": {"ann": 0.1}}
    campaign = begin(workers=["ann"], tasks=["t1"], **three, **INDEPENDENT)
    assert (
        campaign.review_tasks()[0].gain
        == gain_per_label(np.full((1, 3), 1 / 3), 0.1, max_labels=1)[0]
        < 0.3
    )


def test_a_pair_that_is_not_listed_is_nobodys(begin):
    quality = Quality([[0.9, 0.6]], ["ann"], ["t1", "t2"], [[True, False]])
    campaign = begin(workers=["ann"], tasks=["t1", "t2"], qualities=quality, **INDEPENDENT)
    assert verdicts(campaign) == {"t1": "worth a label", "t2": "nobody left"}


def test_a_label_must_pay_for_somebody_who_is_left(begin):
    workers = [Worker("ann", cost=0.4), Worker("bob", cost=0.05), Worker("cy")]
    qualities = {"ann": 0.9, "bob": 0.6}  # of cy nothing is known
    campaign = begin(workers=workers, tasks=["t1"], qualities=qualities, **INDEPENDENT)
    assert verdicts(campaign, value=0.99) == {"t1": "worth a label"}  # .1 of a chance for .05
    assert verdicts(campaign, value=0.49) == {"t1": "not worth it"}
    assert verdicts(campaign, value=0.0) == {"t1": "not worth it"}
    for name in ("value", "min_gain", "target"):
        for wrong in (-0.01, 1.1e12 if name == "value" else 1.01):
            with pytest.raises(ValueError, match=f"{name} must be from 0 to"):
                campaign.review_tasks(**{name: wrong})
    assert verdicts(campaign, value=1e12, min_gain=0.0, target=1.0) == {"t1": "worth a label"}


def test_the_figures_are_sums_of_what_was_bought(begin):
    workers = [Worker("ann", cost=0.5), Worker("bob", cost=0.25), Worker("cy", cost=0.125)]
    gold = {"t1": "1", "t2": "0", "t3": "0", "elsewhere": "1"}
    options = {"budget": 5, "money": 4.0, "gold": gold, "prior": 0.5} | INDEPENDENT
    campaign = begin(workers=workers, **options)
    for name, label in (("ann", "1"), ("bob", "1")):
        task = campaign.next(name).task
        campaign.submit(name, task, label)
    campaign.next("cy")
    state = campaign.state()
    found = summary(state, task_statuses(state))
    verdict = found.pop("verdicts")
    assert verdict == {"waiting": 1, "worth a label": 2}
    assert found == {
        "answer_kind": "class", "workers": 3, "tasks": 3, "classes": ["0", "1"],
        "class_prior": {"0": 0.5, "1": 0.5},
        "answers": 2, "pending": 1, "budget": 5, "left": 2, "money": 4.0, "spent": 0.75,
        "committed": 0.875, "expected_accuracy": pytest.approx((0.9 + 0.8) / 2), "unlabelled": 1,
        "measured": 0.5, "measured_on": 2, "stopped": 0, "confidence_threshold": None,
        "min_gain": None, "forecast": None, "model": "independent",
        "dependence": None, "rounds": 0, "paused": False, "blocked": 0,
        "revision": state.settings.revision,
    }  # fmt: skip


def test_where_nothing_is_limited_or_known_the_figures_say_so(begin):
    state = begin(max_workers_per_task=2).state()
    found = summary(state, task_statuses(state))
    assert found["unlabelled"] == 3
    unknown = ("budget", "left", "money", "spent", "committed", "measured", "expected_accuracy")
    for name in unknown:
        assert found[name] is None, name
    assert found["measured_on"] == 0
    assert (found["model"], found["dependence"]) == ("dependent", state.model.as_json())
    plan = plan_of(state, None)
    assert plan.max_workers_per_task.tolist() == [2] * 3
    assert plan.max_tasks_per_worker.tolist() == [3] * 3  # all tasks: no cap
    assert least_gain_of(state, None) == 0.0
    assert least_gain_of(state, 0.25) == 0.25


def test_a_round_plans_a_task_that_next_would_hand_out(begin):
    """Labels of a round come at once, so all that are looked ahead share what must be added."""
    names = {"ann": 0.9, "bob": 0.85, "cy": 0.85}

    def after_one(min_gain, **options):
        options = {"workers": names, "qualities": names, "tasks": ["t1"]} | options
        campaign = begin(**options, min_gain=min_gain)
        campaign.submit("ann", campaign.next("ann").task, "1")
        return campaign

    (one,) = after_one(0.0).review_tasks()
    campaign = after_one(0.99 * one.gain)
    assert verdicts(campaign) == {"t1": "worth a label"}
    state, least = campaign.state(), 0.99 * one.gain
    assert least_of_round(state, None) == least / LOOK_AHEAD
    assert least_of_round(state, least) == least
    assert campaign.plan().pairs == [("bob", "t1"), ("cy", "t1")]
    assert least_of_round(after_one(0.01, **INDEPENDENT).state(), None) == 0.01


def test_a_campaign_in_parts_stands_as_in_one(begin, monkeypatch):
    tasks = [Task("t1", max_workers=1), Task("t2"), Task("t3", prior=0.9), "t4", Task("t5")]
    campaign = begin(tasks=tasks, budget=9, **INDEPENDENT)
    for name in ("ann", "ann", "bob"):
        campaign.submit(name, campaign.next(name).task, "1")
    campaign.skip("cy", campaign.next("cy").task)
    whole = [one for _, one in campaign.state().parts()]
    assert len(whole) == 1
    expected = [task_statuses(campaign.state(), value=value) for value in (None, 0.5)]
    monkeypatch.setattr(state, "CHUNK_PAIRS", 7)  # two tasks of three workers
    now = campaign.state()
    assert [at for at, _ in now.parts()] == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert np.hstack([part.slots for _, part in now.parts()]).tolist() == now.slots.tolist()
    assert [task_statuses(now, value=value) for value in (None, 0.5)] == expected


def test_offers_are_by_fewest_slots_then_by_lot():
    settings = Settings(**dict.fromkeys(Settings._fields, 0) | {"seed": 7})
    order = np.array([[fewest_first(settings, k, slots) for k in range(400)] for slots in range(4)])
    assert (order[:-1].min(axis=1) > order[1:].max(axis=1)).all()
    lots = 1.0 / order - np.arange(1, 5)[:, None]
    for row in lots:
        assert np.histogram(row, 10, (0.0, 1.0))[0].min() >= 20  # of 40
    assert lots[3] == pytest.approx(lots[0])
    other = fewest_first(settings._replace(seed=8), 0, 0)
    assert other != order[0, 0]
