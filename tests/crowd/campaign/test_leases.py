"""Tasks handed out one at a time: who gets which, leases that lapse, answers that come late."""

import numpy as np
import pytest

from crowd_tvcs import Quality
from crowd_tvcs.belief.constants import FIRST_LABEL_BOOST
from crowd_tvcs.belief.uncertainty import affinity
from crowd_tvcs.campaign import RejectedError, Task, Worker
from tests.makers.campaigns import making

WORKERS = {"ann": 0.9, "bob": 0.8, "cy": 0.7, "dee": 0.6}
TASKS = ["t1", "t2", "t3"]


@pytest.fixture
def make(tmp_path):
    with making(tmp_path, workers=WORKERS, tasks=TASKS, qualities=WORKERS) as make:
        yield make


def rows(campaign):
    """Every slot as (worker, task)."""
    state = campaign.state()
    taken = np.argwhere(state.slots > 0).tolist()
    return sorted((state.quality.workers[i], state.quality.tasks[j]) for i, j in taken)


def test_next_is_the_largest_score_by_hand(make):
    """Against the scores of `routing`, with open slots counted by what they are expected to say."""
    rng = np.random.default_rng(3)
    workers = {f"w{i}": round(float(q), 3) for i, q in enumerate(rng.uniform(0.5, 0.95, 8))}
    tasks = [Task(f"t{j}", prior=float(p)) for j, p in enumerate(rng.uniform(0.1, 0.9, 6))]
    options = {"max_workers_per_task": 4, "model": "independent"}
    campaign = make(workers=workers, qualities=workers, tasks=tasks, **options)
    for step in range(24):
        worker = f"w{rng.integers(8)}"
        state = campaign.state()
        left = uncertainty_left(state)
        i = state.quality.workers.index(worker)
        is_open = (state.slots[i] == 0) & ((state.slots > 0).sum(axis=0) < 4)
        offer = campaign.next(worker)
        if (state.slots[i] == 2).any():
            assert offer.reason == "their open lease, renewed"
        elif is_open.any():
            best = np.where(is_open, left, -1).max()
            assert left[state.quality.tasks.index(offer.task)] == pytest.approx(best)
        else:
            assert offer.task is None
        if offer.task and step % 3:
            campaign.submit(worker, offer.task, str(rng.integers(2)))


def uncertainty_left(state):
    root = np.sqrt(state.posterior)
    left = root[:, 0] * root[:, 1]
    for i, j in np.argwhere(state.pending):
        q = state.quality.values[i, j]
        left[j] *= 2 * np.sqrt(q * (1 - q))
    return left


def test_with_a_quality_per_pair_skill_counts_too(make):
    allowed = [[True, True, False], [True, True, True]]
    quality = Quality([[0.6, 0.9, 0.7], [0.9, 0.6, 0.7]], ["ann", "bob"], TASKS, allowed)
    campaign = make(workers=["ann", "bob"], qualities=quality)
    assert campaign.next("ann").task == "t2"
    assert campaign.next("bob").task == "t1"
    campaign.submit("ann", "t2", "1")
    assert campaign.next("ann").task == "t1"
    campaign.submit("ann", "t1", "1")
    assert campaign.next("ann").task is None  # t3 is not listed for her


def test_who_asks_again_gets_the_same_task(make):
    campaign = make()
    first = campaign.next("ann", now=0.0)
    again = campaign.next("ann", now=5.0)
    assert again.task == first.task
    assert again.expires == first.expires + 5.0
    assert rows(campaign) == [("ann", first.task)]


def test_a_task_is_chosen_for_how_unsure_it_is_expected_to_be(begin):
    """Before the first label a task counts more, which is not said of it."""

    def kept():
        return [task.uncertainty for task in campaign.state().tasks]

    campaign = begin(tasks=["t1"])
    assert kept() == pytest.approx([FIRST_LABEL_BOOST * 0.5])
    assert campaign.next("ann").reason == "uncertainty 0.5000, confidence 0.5000"
    assert kept() == pytest.approx([0.5 * affinity(0.9, 2)], abs=1e-12)
    assert campaign.next("bob").reason == "uncertainty 0.3000, confidence 0.5000"
    assert kept() == pytest.approx([0.3 * affinity(0.8, 2)])


def test_who_asks_in_vain_does_not_change_the_campaign(begin):
    """So that a plan made meanwhile still fits; a lease that they freed is a change."""

    def revision():
        return campaign.state().settings.revision

    campaign = begin(tasks=["t1"], max_workers_per_task=1, lease_seconds=10)
    assert campaign.next("ann", now=1.0).task == "t1"
    assert revision() == 1
    assert campaign.next("bob", now=2.0).task is None
    assert revision() == 1
    campaign.block("bob")
    assert campaign.next("bob", now=20.0).task is None
    assert revision() == 3
    assert rows(campaign) == []


def test_an_answer_waits_for_the_disk_and_an_offer_does_not(begin, monkeypatch):
    campaign, flushed = begin(), []
    monkeypatch.setattr(campaign.store, "flush", lambda: flushed.append(True))
    first = campaign.next("ann").task
    assert flushed == []
    _, offer = campaign.submit_and_next("ann", first, "1")
    assert flushed == [True]
    campaign.submit("ann", offer.task, "1")
    assert flushed == [True, True]


def test_two_who_ask_at_once_get_different_tasks(make):
    campaign = make()
    assert campaign.next("ann").task != campaign.next("bob").task


def test_a_lease_that_is_over_frees_its_slot(make):
    campaign = make(tasks=["t1"], max_workers_per_task=1, lease_seconds=60)
    assert campaign.next("ann", now=0.0).task == "t1"
    assert campaign.next("bob", now=59.9).task is None
    assert campaign.next("bob", now=60.0).task == "t1"
    assert rows(campaign) == [("bob", "t1")]
    settings = campaign.state().settings
    assert (settings.slots, settings.answers) == (1, 0)


def test_a_late_answer_is_taken_while_its_slot_is_free(make):
    campaign = make(tasks=["t1"], max_workers_per_task=1, lease_seconds=60)
    campaign.next("ann", now=0.0)
    campaign.next("dee", now=100.0)  # frees the slot of ann, and takes it
    with pytest.raises(RejectedError, match="was given up, and the task has its 1 worker"):
        campaign.submit("ann", "t1", "1")
    assert rows(campaign) == [("dee", "t1")]
    assert campaign.submit("dee", "t1", "0").reason == "accepted"


def test_an_answer_after_the_sweep_is_accepted_late(make):
    options = {"max_workers_per_task": 2, "model": "independent"}
    campaign = make(tasks=["t1"], lease_seconds=60, **options)
    campaign.next("ann", now=0.0)
    campaign.next("bob", now=100.0)
    receipt = campaign.submit("ann", "t1", "1")
    assert receipt.reason == "accepted late"
    assert receipt.confidence == pytest.approx(0.9)
    assert rows(campaign) == [("ann", "t1"), ("bob", "t1")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 1}, "the budget of 1 label is used up"),
        ({"money": 1.5, "workers": [Worker("ann", cost=1), Worker("bob", cost=1)]}, "the money"),
        ({"workers": [Worker("ann", team="x"), Worker("bob", team="x")]}, "another worker of"),
    ],
)
def test_a_late_answer_never_breaks_a_cap(make, options, message):
    campaign = make(tasks=["t1"], lease_seconds=60, **options)
    campaign.next("ann", now=0.0)
    assert campaign.next("bob", now=100.0).task == "t1"
    with pytest.raises(RejectedError, match=message):
        campaign.submit("ann", "t1", "1")
    assert rows(campaign) == [("bob", "t1")]


def test_a_late_answer_leaves_the_end_of_the_budget_to_the_minimums(make):
    campaign = make(
        tasks=[Task("t1"), Task("t2", prior=0.99, min_workers=1)], budget=2, lease_seconds=60
    )
    assert campaign.next("ann", now=0.0).task == "t1"
    assert campaign.next("bob", now=100.0).task == "t1"
    with pytest.raises(
        RejectedError, match="the rest of the budget is for tasks with too few workers"
    ):
        campaign.submit("ann", "t1", "1", now=101.0)
    assert rows(campaign) == [("bob", "t1")]


def test_who_was_at_their_cap_by_a_lease_that_is_over_has_room_again(make):
    campaign = make(workers=[Worker("ann", max_tasks=1)], lease_seconds=60)
    assert campaign.next("ann", now=0.0).task == "t1"
    assert campaign.next("ann", now=100.0).task == "t1"
    assert rows(campaign) == [("ann", "t1")]


def test_the_same_answer_again_changes_nothing(make):
    campaign = make()
    task = campaign.next("ann").task
    first = campaign.submit("ann", task, "1")
    again = campaign.submit("ann", task, "1")
    assert (first.reason, again.reason) == ("accepted", "known already")
    assert again.confidence == first.confidence
    assert campaign.state().settings.answers == 1
    with pytest.raises(RejectedError, match="answered task 't1' with '1' before, now '0'"):
        campaign.submit("ann", task, "0")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (("zoe", "t1", "1"), "there is no worker 'zoe'"),
        (("ann", "t9", "1"), "there is no task 't9'"),
        (("ann", "t1", "2"), "label must be one of '0', '1', found '2'"),
        (("ann", "t1", "1"), "task 't1' was not given to worker 'ann'"),
    ],
)
def test_an_answer_that_nobody_asked_for_is_refused(make, answer, message):
    campaign = make()
    with pytest.raises(RejectedError, match=message):
        campaign.submit(*answer)
    assert campaign.state().settings.slots == 0


def test_nobody_gets_more_than_his_cap_nor_a_task_more_than_its_own(make):
    campaign = make(
        workers=[Worker("ann", max_tasks=1), Worker("bob"), Worker("cy")],
        tasks=[Task("t1", max_workers=1), Task("t2", max_workers=2), Task("t3", max_workers=0)],
        max_tasks_per_worker=2,
    )
    for _ in range(5):
        for name in ("ann", "bob", "cy"):
            task = campaign.next(name).task
            if task:
                campaign.submit(name, task, "1")
    assert len(rows(campaign)) == 3
    assert "their 1 task" in campaign.next("ann").reason


@pytest.mark.parametrize("per_pair", [False, True])
def test_who_is_just_as_good_as_the_gate_gets_a_task(make, per_pair):
    qualities = {"bob": 0.8, "cy": 0.79999}
    if per_pair:
        qualities = Quality([[0.8], [0.79999]], ["bob", "cy"], ["t1"])
    campaign = make(workers=["bob", "cy"], tasks=["t1"], qualities=qualities, min_quality=0.8)
    refused = campaign.next("cy")
    assert refused.task is None
    assert per_pair or "is below the minimum of 0.8" in refused.reason
    assert campaign.next("bob").task == "t1"


@pytest.mark.parametrize("now", [float("nan"), float("inf"), -1.0])
def test_a_time_that_is_none_makes_no_lease(make, now):
    campaign = make()
    with pytest.raises(ValueError, match="now must be from 0 to"):
        campaign.next("ann", now=now)
    assert rows(campaign) == []


@pytest.mark.parametrize(
    ("options", "full"),
    [
        ({"budget": 1}, "the budget of 1 label is used up"),
        ({"max_workers_per_task": 1}, "the task has its 1 worker"),
    ],
)
def test_late_answers_of_one_table_take_each_others_room(make, options, full):
    """Each of them fits alone; the second is judged after the first, and then none is taken."""
    campaign = make(workers=[*WORKERS, "new"], tasks=["t1"], lease_seconds=60, **options)
    campaign.next("ann", now=0.0)
    campaign.next("bob", now=100.0)
    assert campaign.next("new", now=200.0).task is None  # and all leases are over
    assert rows(campaign) == []
    late = [("t1", "ann", "1"), ("t1", "bob", "1")]
    with pytest.raises(ValueError, match=f"'bob' on task 't1' was given up, and {full}"):
        campaign.add_answers(late)
    assert rows(campaign) == []
    assert campaign.add_answers(late[:1])["late"] == 1


def test_late_answers_of_one_worker_take_each_others_room(make):
    workers, early = [Worker("ann", max_tasks=2)], [Task("t1", prior=0.6), Task("t2", prior=0.6)]
    campaign = make(workers=workers, tasks=early, max_workers_per_task=3)
    assert campaign.plan(method="fast").pairs == [("ann", "t1"), ("ann", "t2")]
    campaign.release(1)
    campaign.add(tasks=["t3"])
    assert campaign.next("ann").task == "t3"
    late = [("t1", "ann", "1"), ("t2", "ann", "1")]
    with pytest.raises(ValueError, match="on task 't2' was given up, and the worker has their 2"):
        campaign.add_answers(late)
    assert rows(campaign) == [("ann", "t3")]
    assert campaign.add_answers(late[:1])["late"] == 1


def test_a_pair_twice_in_one_table_is_refused(make):
    campaign = make()
    task = campaign.next("ann").task
    with pytest.raises(ValueError, match=f"worker 'ann' answers task '{task}' twice"):
        campaign.add_answers([(task, "ann", "1"), (task, "ann", "1")])
    assert campaign.state().settings.answers == 0


def test_a_worker_of_unknown_quality_gets_no_task(make):
    campaign = make(workers=[*WORKERS, "new"])
    assert campaign.next("new").reason == "nothing is known of the worker's quality"


def test_of_a_group_one_sees_a_task(make):
    campaign = make(workers=[Worker("ann", team="x"), Worker("bob", team="x"), Worker("cy")])
    for name in ("ann", "bob", "cy", "ann", "bob", "cy", "ann", "bob", "cy"):
        task = campaign.next(name).task
        if task:
            campaign.submit(name, task, "1")
    by_team = [task for name, task in rows(campaign) if name in ("ann", "bob")]
    assert sorted(by_team) == TASKS
    assert [task for name, task in rows(campaign) if name == "cy"] == TASKS


def test_a_task_that_is_sure_enough_is_done(make):
    campaign = make(tasks=["t1"], target=0.85)
    campaign.submit("ann", campaign.next("ann").task, "1")
    assert campaign.next("bob").task is None
    campaign = make(tasks=[Task("t1", min_workers=2)], target=0.85)
    campaign.submit("ann", campaign.next("ann").task, "1")
    assert campaign.next("bob").task == "t1"


def test_the_end_of_the_budget_belongs_to_the_minimums(make):
    campaign = make(tasks=[Task("t1", prior=0.99, min_workers=2), Task("t2"), Task("t3")], budget=4)
    got = []
    for name in ("ann", "bob", "cy", "dee"):
        task = campaign.next(name).task
        got.append(task)
        campaign.submit(name, task, "1")
    assert got == ["t2", "t3", "t1", "t1"]
    assert campaign.next("ann").task is None


def test_with_three_classes_tasks_are_handed_out_and_voted(make):
    campaign = make(classes=["cat", "dog", "eel"], prior=[0.2, 0.3, 0.5], model="independent")
    task = campaign.next("ann").task
    receipt = campaign.submit("ann", task, "dog")
    weights = [0.2 * 0.05, 0.3 * 0.9, 0.5 * 0.05]
    assert receipt.confidence == pytest.approx(0.27 / sum(weights))
    assert campaign.next("bob").task != task
