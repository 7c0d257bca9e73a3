"""Skip, undo, pause and block; the times of answers; one transaction for an answer and a task."""

import numpy as np
import pytest

from crowd_tvcs.campaign import RejectedError, Task, Worker
from crowd_tvcs.campaign.store.schema import ANSWERED, LEASED, SKIPPED
from tests.makers.campaigns import coming_from, rows_of

TASKS = ["t1", "t2", "t3"]


def counters(campaign):
    """What is kept beside the pairs, and the same counted anew."""
    state = campaign.state()
    taken, answered = state.slots > 0, state.slots == ANSWERED
    kept = {
        "slots": state.settings.slots,
        "answers": state.settings.answers,
        "committed": state.settings.committed,
        "of workers": [(w.slots, w.answers) for w in state.workers],
        "of tasks": [(t.slots, t.answers) for t in state.tasks],
        "confidence": pytest.approx([t.confidence for t in state.tasks], abs=1e-9),
    }
    costs = np.array([w.cost for w in state.workers])
    counted = {
        "slots": taken.sum(),
        "answers": answered.sum(),
        "committed": int(costs @ taken.sum(axis=1)),
        "of workers": list(zip(taken.sum(axis=1), answered.sum(axis=1), strict=True)),
        "of tasks": list(zip(taken.sum(axis=0), answered.sum(axis=0), strict=True)),
        "confidence": state.posterior.max(axis=1).tolist(),
    }
    return kept, counted


def audit(campaign):
    return rows_of(campaign, "SELECT who, what, task, detail, address FROM audit")


def test_times_of_answers_are_kept(begin):
    campaign = begin()
    first = campaign.next("ann", now=1e9).task
    campaign.next("ann", now=1e9 + 2)  # to ask again is not to begin again
    campaign.submit("ann", first, "1", now=1e9 + 5)
    second = campaign.next("ann", now=1e9 + 6).task
    campaign.submit("ann", second, "0", now=1e9 + 6)  # no time between them
    planned = campaign.plan(labels=1, method="fast").pairs[0]
    campaign.submit(*planned, "1", now=1e9 + 9)
    campaign.submit("cy", campaign.next("cy", now=1e9 + 10).task, "1", now=1e9 + 10.5)
    answers = campaign.state().answers
    assert answers.when.tolist() == [1e9 + 5, 1e9 + 6, 1e9 + 9, 1e9 + 10.5]
    assert answers.seconds[[0, 3]].tolist() == [5.0, 0.5]
    assert np.isnan(answers.seconds[1:3]).all()


def test_answers_without_times_have_none(begin):
    campaign = begin()
    pairs = campaign.plan(labels=2, method="fast").pairs
    campaign.add_answers([(t, w, "1") for w, t in pairs])
    answers = campaign.state().answers
    assert answers.when is None
    assert answers.seconds is None


@pytest.mark.parametrize("seed", range(3))
def test_submit_and_next_is_a_submit_and_a_next(begin, seed):
    """Over a random history, with leases that lapse, a budget that ends and a group."""
    rng = np.random.default_rng(seed)
    workers = [Worker(f"w{i}", cost=1.0, team="g" if i < 2 else None) for i in range(6)]
    qualities = {w.name: float(q) for w, q in zip(workers, rng.uniform(0.55, 0.95, 6), strict=True)}
    tasks = [Task(f"t{j}", min_workers=j % 2) for j in range(8)]
    options = {"workers": workers, "qualities": qualities, "tasks": tasks, "budget": 20}
    options |= {"max_workers_per_task": 3, "lease_seconds": 30.0, "money": 18.0}
    one, two, now = begin(**options), begin(**options), 1e9
    for _ in range(40):
        name, now = f"w{rng.integers(6)}", now + float(rng.integers(1, 20))
        offer = one.next(name, now=now)
        assert two.next(name, now=now) == offer
        if offer.task is None or rng.random() < 0.3:
            continue
        label, now = str(rng.integers(2)), now + 3.0
        result = one.submit(name, offer.task, label, now=now), one.next(name, now=now)
        assert two.submit_and_next(name, offer.task, label, now=now) == result
    assert counters(one)[0]["slots"] == counters(two)[0]["slots"] > 10
    assert one.state().given.tolist() == two.state().given.tolist()


def test_a_skipped_task_is_for_others(begin):
    campaign = begin(max_workers_per_task=1)
    task = campaign.next("ann").task
    with coming_from("hash"):
        campaign.skip("ann", task, "too dark")
    campaign.skip("ann", task)  # sent twice
    assert campaign.next("bob").task == task
    other = campaign.next("ann").task
    assert other not in (task, None)
    state = campaign.state()
    assert state.slots[0, state.quality.tasks.index(task)] == SKIPPED
    assert audit(campaign) == [("ann", "skip", task, "too dark", "hash")]
    kept, counted = counters(campaign)
    assert kept == counted


def test_nobody_skips_what_they_do_not_have(begin):
    campaign = begin()
    task = campaign.next("ann").task
    with pytest.raises(RejectedError, match="'bob' does not have task"):
        campaign.skip("bob", task)
    with pytest.raises(RejectedError, match="'bob' does not have task 't3'"):
        campaign.skip("bob", "t3")  # which nobody ever had
    with pytest.raises(RejectedError, match="there is no task 'x'"):
        campaign.skip("bob", "x")
    campaign.submit("ann", task, "1")
    with pytest.raises(RejectedError, match="'ann' does not have task"):
        campaign.skip("ann", task)
    assert audit(campaign) == []


def test_who_skipped_a_task_may_still_answer_it(begin):
    campaign = begin()
    task = campaign.next("ann").task
    campaign.skip("ann", task)
    assert campaign.submit("ann", task, "1").reason == "accepted late"


def test_an_answer_is_taken_back(begin):
    campaign = begin()
    first = campaign.next("ann").task
    other = campaign.next("bob").task
    before = campaign.state().posterior
    campaign.submit("ann", first, "1")
    campaign.submit("bob", other, "0")
    campaign.next("ann")
    assert campaign.undo("ann", now=1e9).task == first
    kept, counted = counters(campaign)
    assert kept == counted
    state = campaign.state()
    assert [state.quality.tasks[j] for _, j, _ in state.given] == [other]
    assert state.posterior[state.quality.tasks.index(first)] == pytest.approx(
        before[state.quality.tasks.index(first)]
    )
    assert (state.slots[0] == LEASED).sum() == 1  # and the one they had since is free again
    assert campaign.next("ann", now=1e9).task == first
    assert campaign.submit("ann", first, "0", now=1e9 + 4).reason == "accepted"
    state = campaign.state()
    assert [i for i, _, _ in state.given] == [1, 0]  # bob's came before it
    kept, counted = counters(campaign)
    assert kept == counted


def test_an_answer_is_taken_back_after_the_lease_of_another_is_over(begin):
    campaign = begin(lease_seconds=60)
    first = campaign.next("ann", now=0.0).task
    assert campaign.next("bob", now=0.0).task is not None
    campaign.submit("ann", first, "1", now=1.0)
    assert campaign.undo("ann", now=100.0).task == first
    assert campaign.state().slots[1].max() == 0
    kept, counted = counters(campaign)
    assert kept == counted


def test_of_a_reason_500_characters_are_kept(begin):
    campaign = begin()
    task = campaign.next("ann").task
    campaign.skip("ann", task, "x" * 600)
    assert audit(campaign) == [("ann", "skip", task, "x" * 500, None)]


def test_an_answer_that_was_used_stays(begin):
    campaign = begin()
    with pytest.raises(RejectedError, match="has no answer to take back"):
        campaign.undo("ann")
    pairs = campaign.plan(labels=9, method="fast").pairs
    assert len(pairs) == 9
    campaign.submit("ann", "t1", "1")
    campaign.submit("bob", "t1", "1")
    with pytest.raises(RejectedError, match="'t1' stays: another has answered the task since"):
        campaign.undo("ann")
    assert campaign.undo("bob").task == "t1"
    campaign.submit("bob", "t1", "1")
    campaign.release(1)
    campaign.plan(labels=1, method="fast")
    with pytest.raises(RejectedError, match="'t1' stays: a round was planned on it"):
        campaign.undo("bob")
    with campaign.store.write() as (connection, _, _):
        connection.exec_driver_sql("UPDATE task SET closed = 1")
    with pytest.raises(RejectedError, match="'t1' stays: the task is closed"):
        campaign.undo("bob")


def test_nothing_is_handed_out_while_it_is_paused(begin):
    campaign = begin()
    task = campaign.next("ann").task
    campaign.pause()
    assert campaign.next("bob").reason == "the campaign is paused"
    assert campaign.next("ann").task == task  # what is out may be finished
    _, offer = campaign.submit_and_next("ann", task, "1")
    assert offer.task is None
    campaign.pause(False)
    assert campaign.next("bob").task is not None
    assert [what for _, what, *_ in audit(campaign)] == ["pause", "resume"]


def test_a_blocked_worker_gets_no_more(begin):
    campaign = begin()
    task = campaign.next("ann").task
    campaign.block("ann")
    receipt, offer = campaign.submit_and_next("ann", task, "1")
    assert receipt.reason == "accepted"
    assert offer.reason == "the operator gives this worker no more tasks"
    campaign.block("ann", False)
    assert campaign.next("ann").task is not None
    with pytest.raises(RejectedError, match="there is no worker 'eve'"):
        campaign.block("eve")


def test_random_turns_keep_all_counters(begin, rng):
    """Claims, answers, skips and undone answers in any order, against the pairs counted anew."""
    workers = [Worker(f"w{i}", cost=0.5 + i) for i in range(5)]
    qualities = {w.name: 0.6 + 0.07 * i for i, w in enumerate(workers)}
    options = {"workers": workers, "qualities": qualities, "tasks": [f"t{j}" for j in range(7)]}
    campaign = begin(**options, max_workers_per_task=3, lease_seconds=40.0, budget=18)
    now, undone = 1e9, 0
    for _ in range(150):
        name, now = f"w{rng.integers(5)}", now + float(rng.integers(1, 15))
        turn = rng.random()
        if turn < 0.15:
            try:
                campaign.undo(name, now=now)
                undone += 1
            except RejectedError:
                continue
            continue
        task = campaign.next(name, now=now).task
        if task is not None and turn < 0.25:
            campaign.skip(name, task, now=now)
        elif task is not None and turn < 0.8:
            campaign.submit(name, task, str(rng.integers(2)), now=now + 1)
    kept, counted = counters(campaign)
    assert kept == counted
    assert undone > 0
    found = rows_of(campaign, "SELECT place FROM pair WHERE place IS NOT NULL ORDER BY place")
    assert [place for (place,) in found] == [*range(1, campaign.state().settings.answers + 1)]
