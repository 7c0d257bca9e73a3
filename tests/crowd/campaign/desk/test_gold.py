"""Gold among the other tasks: like any of them to workers, and in no plan, sum or result."""

import numpy as np
import pytest

from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.campaign import RejectedError, Task, Worker, summary, task_statuses
from crowd_tvcs.campaign.desk import figures
from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.campaign.desk.gold import Learner, mix_in
from crowd_tvcs.campaign.desk.worker_activity import list_worker_activity
from crowd_tvcs.campaign.store.schema import UNLIMITED
from tests.makers.campaigns import making

WORKERS = [Worker(name, cost=1.0) for name in ("ann", "bob", "cy")]
GOLD = {f"g{k}": str(k % 2) for k in range(40)}
TOLD = [
    (task, name, label if k % 4 or name == "ann" else str(1 - int(label)))
    for k, (task, label) in enumerate(sorted(GOLD.items())[:20])
    for name in ("ann", "bob", "cy")
]


USUAL = {
    "workers": WORKERS,
    "tasks": [f"t{j}" for j in range(60)],
    "gold": GOLD,
    "gold_answers": TOLD,
    "prior": 0.5,
    "model": "independent",
}


@pytest.fixture
def make(tmp_path):
    with making(tmp_path, **USUAL) as begin:

        def _make(share=0.3, **options):
            campaign = begin(**options)
            mix_in(campaign.store, {}, ())
            campaign.gold_share = share
            return campaign

        yield _make


def label_all(campaign, name, most=1000):
    """Let a worker answer what they get, gold as it is; the tasks they got."""
    got = []
    while len(got) < most and (task := campaign.next(name).task) is not None:
        got.append(task)
        campaign.submit(name, task, GOLD.get(task, "1"))
    return got


def test_a_share_of_the_tasks_is_gold_and_none_of_it_comes_twice(make):
    campaign = make(share=0.25)
    got = {name: label_all(campaign, name) for name in ("ann", "bob", "cy")}
    for tasks in got.values():
        assert len(tasks) == len(set(tasks))
        assert sum(task[0] == "t" for task in tasks) == 60
        # The first half of the gold is known of them already.
        assert {task for task in tasks if task[0] == "g"} <= {*sorted(GOLD)[20:]}
    gold = [sum(task[0] == "g" for task in tasks) for tasks in got.values()]
    assert 30 <= sum(gold) <= 60  # of three times 20, where 60 are to be expected
    # Nobody can count up to the next one.
    gaps = np.diff([k for k, task in enumerate(got["ann"]) if task[0] == "g"])
    assert len(set(gaps.tolist())) > 2


def test_postgresql_gives_gold_too(make, database):
    campaign = make(share=0.5, place=database)
    got, offer = [], campaign.next("ann")
    while offer.task is not None:
        got.append(offer.task)
        _, offer = campaign.submit_and_next("ann", offer.task, GOLD.get(offer.task, "1"))
    assert sum(task[0] == "t" for task in got) == 60
    assert sum(task[0] == "g" for task in got) > 5


def test_without_a_share_nobody_gets_any(make):
    campaign = make(share=0.0)
    assert all(task[0] == "t" for task in label_all(campaign, "ann"))


def test_it_counts_for_the_caps_of_workers_and_the_money_and_for_nothing_else(make):
    campaign = make(money=70.0, max_tasks_per_worker=40)
    got = label_all(campaign, "ann") + label_all(campaign, "bob")
    assert len(got) == 70
    on_gold = sum(task[0] == "g" for task in got)
    assert on_gold > 5
    assert campaign.next("bob").reason == "the money is used up or out with workers"
    state = campaign.state()
    result, found = summary(state, task_statuses(state)), figures.figures(campaign.store)
    assert (result["tasks"], found.tasks) == (60, 60)
    assert (result["answers"], found.answers, result["spent"], found.spent) == (70, 70, 70.0, 70.0)
    assert {one.task[0] for one in task_statuses(state)} == {"t"}
    assert len(state.given) == 70 - on_gold
    assert found.gold_answers == on_gold
    assert found.gold_right == 1.0
    labelled = state.posterior.max(axis=1)[state.is_labelled]
    assert found.unlabelled == result["unlabelled"] == 60 - labelled.size > 0
    assert labelled.size == len({task for task in got if task[0] == "t"})
    assert found.expected_accuracy == pytest.approx(labelled.mean(), abs=1e-9)
    assert result["expected_accuracy"] == pytest.approx(labelled.mean(), abs=1e-9)
    assert found.measured is None
    assert {row["task"][0] for row in figures.least_confident(campaign.store)} == {"t"}


def test_a_round_keeps_to_the_caps_beside_it(make):
    campaign = make(money=40.0, max_tasks_per_worker=25)
    assert any(task[0] == "g" for task in label_all(campaign, "ann"))
    planned = campaign.plan(method="greedy")
    assert len(planned.pairs) == 15
    assert all(name != "ann" and task[0] == "t" for name, task in planned.pairs)


def test_skip_undo_late_answers_and_a_second_sending_are_as_of_any_task(make):
    campaign = make(share=0.5, lease_seconds=10.0)
    now, task = 0.0, "t"
    while task[0] == "t":
        now += 100.0  # the one before lapses
        task = campaign.next("ann", now=now).task
    assert campaign.next("ann", now=now).task == task
    assert campaign.submit("ann", task, "1", now=now + 1.0).reason == "accepted"
    assert campaign.submit("ann", task, "1", now=now + 2.0).reason == "known already"
    assert campaign.undo("ann", now=now + 3.0).task == task
    campaign.next("bob", now=now + 200.0)  # frees what lapsed
    assert campaign.submit("ann", task, "0", now=now + 201.0).reason == "accepted late"
    campaign.undo("ann", now=now + 202.0)
    campaign.skip("ann", task, now=now + 203.0)
    assert task not in label_all(campaign, "ann")
    with pytest.raises(RejectedError, match="there is no task"):
        campaign.close_tasks([task])
    assert campaign.reopen() == 0
    assert sorted(t.name for t in campaign.state().tasks) == sorted(f"t{j}" for j in range(60))


def test_answers_make_the_skills_better(make):
    campaign = make(share=0.5)
    before = {w.name: w.quality for w in campaign.state().workers}
    learner = Learner(campaign.store)
    assert not learner.learn(0.0)  # nothing new
    for _ in range(40):
        task = campaign.next("cy").task
        wrong = str(1 - int(GOLD[task])) if task in GOLD else "1"
        campaign.submit("cy", task, wrong)
    assert learner.learn(0.0)
    assert not learner.learn(1.0)
    state = campaign.state()
    after = {w.name: w.quality for w in state.workers}
    kept = [t.confidence for t in state.tasks]
    assert kept == pytest.approx(state.posterior.max(axis=1).tolist(), abs=1e-9)  # all are settled
    assert after["cy"] < before["cy"] - 0.1
    seats = {seat.name: seat for seat in list_worker_activity(campaign.store)}
    cy, ann = seats["cy"], seats["ann"]
    assert (ann.gold, ann.right) == (20, 20)
    assert cy.gold > 25
    assert cy.right == sum(GOLD[t] == label for t, name, label in TOLD if name == "cy")
    assert cy.low < cy.right / cy.gold < cy.high
    assert ann.low > cy.high


def test_gold_that_could_be_recognised_is_left_out(make):
    campaign = make(share=0.0, gold={"g1": "0", "t1": "1"}, gold_answers=(), qualities={"ann": 0.9})
    with campaign.store.write() as (connection, _, _):
        connection.exec_driver_sql("DELETE FROM task WHERE name = 'g1'")
    set_content(campaign.store, {"t1": Content("one")}, None)
    assert mix_in(campaign.store, {"g2": "1"}, ["g2"]) == (1, 1)  # g1 shows nothing
    with pytest.raises(ValueError, match="none of the 2 has content: give it in --content"):
        mix_in(campaign.store, {}, [])
    set_content(campaign.store, {"g2": Content("two")}, None)
    assert mix_in(campaign.store, {}, ["g1"]) == (2, 0)
    set_content(campaign.store, {"g1": Content("three")}, None)
    assert mix_in(campaign.store, {}, []) == (2, 0)
    with pytest.raises(ValueError, match="the gold label of 'g1' was '0' before"):
        mix_in(campaign.store, {"g1": "1"}, [])
    row = next(t for t in campaign.state().tasks if t.name == "t1")  # to be labelled anyway
    assert (row.closed, row.max_workers) == (0, UNLIMITED)


def test_gold_that_shows_its_name_where_others_show_content_is_not_handed_out(make):
    campaign = make(share=0.5)
    assert figures.figures(campaign.store).gold_tasks == len(GOLD)
    set_content(campaign.store, {"t1": Content("one"), "g30": Content("two")}, None)
    assert figures.figures(campaign.store).gold_tasks == 1
    assert {task for task in label_all(campaign, "ann") if task[0] == "g"} == {"g30"}
    assert mix_in(campaign.store, {}, []) == (1, 39)


def test_more_labels_settle_all_tasks_with_what_they_teach(make):
    campaign = make(share=0.5, model="dependent")
    for name in ("ann", "bob", "cy"):
        for k in range(30):
            task = campaign.next(name).task
            campaign.submit(name, task, str(1 - int(GOLD[task])) if task in GOLD else str(k % 2))
    mix_in(campaign.store, {"g99": "1"}, ())
    state = campaign.state()
    kept = [t.confidence for t in state.tasks]
    assert kept == pytest.approx(state.posterior.max(axis=1).tolist(), abs=1e-9)


def test_an_answer_taken_back_and_given_rightly_is_learned(make):
    campaign = make(share=0.5)
    while (task := campaign.next("cy").task) not in GOLD:
        campaign.submit("cy", task, "1")
    campaign.submit("cy", task, str(1 - int(GOLD[task])))
    learner = Learner(campaign.store)
    assert learner.learn(0.0)
    before = campaign.state().workers[2].quality
    campaign.undo("cy")
    campaign.submit("cy", task, GOLD[task])
    assert learner.learn(1e6)
    assert campaign.state().workers[2].quality > before
    assert not learner.learn(2e6)


def test_gold_is_measured_where_qualities_are_of_pairs(make):
    names, tasks = ["ann", "bob", "cy"], [f"t{j}" for j in range(60)]
    table = Quality(np.full((3, 60), 0.8), names, tasks)
    campaign = make(share=0.5, gold_answers=(), qualities=table)
    on_gold = sum(task[0] == "g" for task in label_all(campaign, "ann"))
    found = figures.figures(campaign.store)
    assert (found.gold_answers, found.gold_right, found.gold_expected) == (on_gold, 1.0, None)
    assert on_gold > 5
    assert "skills say" not in found.warning


def test_a_table_does_not_win_over_an_answer_given_at_the_desk(make):
    campaign = make(share=0.5)
    task = next(task for task in label_all(campaign, "ann") if task in GOLD)
    label, other = GOLD[task], str(1 - int(GOLD[task]))
    with pytest.raises(ValueError, match=f"{task!r} with {label!r} before, now {other!r}"):
        campaign.add_answers([(task, "ann", other)])
    result = campaign.add_answers([(task, "ann", label)])
    assert (result["gold"], result["known"]) == (0, 1)


def test_answers_from_elsewhere_to_gold_among_the_tasks_are_taken(make):
    campaign = make()
    assert campaign.add_answers([("g30", "bob", "0"), ("g31", "bob", "1")])["gold"] == 2
    assert {"g30", "g31"}.isdisjoint(label_all(campaign, "bob"))
    campaign.add(tasks=[Task("t99")], gold={"g99": "1"})
    assert mix_in(campaign.store, {}, ())[0] == 41
