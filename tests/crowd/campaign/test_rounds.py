"""Rounds: the first plan, what is left on what the answers say, and when to stop."""

import shutil

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign, expected_accuracy, simulate
from crowd_tvcs.campaign import Campaign, StoreError, Task, rounds, summary, task_statuses
from crowd_tvcs.skills.posterior import posterior


def crowd_of(n=8, m=20, family="worker", seed=4):
    return simulate(n, m, family=family, low=0.55, high=0.9, n_gold=12, rng=seed)


def start(path, crowd, **options):
    gold = dict(zip(crowd.gold, map(str, crowd.gold_labels.tolist()), strict=True))
    given = [
        (task, worker, str(crowd.gold_answers[i, j]))
        for i, worker in enumerate(crowd.quality.workers)
        for j, task in enumerate(crowd.gold)
    ]
    options = {"budget": 60, "max_workers_per_task": 5, "max_tasks_per_worker": 15} | options
    return Campaign.create(
        path,
        workers=crowd.quality.workers,
        tasks=crowd.quality.tasks,
        gold=gold,
        gold_answers=given,
        **options,
    )


def recorded(crowd, pairs):
    row_of = {name: i for i, name in enumerate(crowd.quality.workers)}
    column_of = {name: j for j, name in enumerate(crowd.quality.tasks)}
    return [(t, w, str(crowd.answers[row_of[w], column_of[t]])) for w, t in pairs]


@pytest.fixture
def crowd():
    return crowd_of()


@pytest.fixture
def campaign(tmp_path, crowd):
    with start(tmp_path / "c.db", crowd) as made:
        yield made


def test_the_first_round_is_the_plan_of_assign(campaign):
    state = campaign.state()
    found = campaign.plan(labels=30, method="fast")
    plan = Plan(
        state.quality,
        max_workers_per_task=5,
        max_tasks_per_worker=15,
        budget=30,
        prior=state.posterior[0, 1],
        common_error=state.model.plan_error,
        error_shares=state.prior[0],
    )
    assert state.model.plan_error > 0.0
    expected = assign(plan, "fast", rng=0)
    assert found.expected_accuracy == pytest.approx(expected.expected_accuracy)
    assert set(found.pairs) <= set(expected.pairs())
    assert len(found.pairs) + found.left_out == expected.size


def test_a_campaign_keeps_its_caps_over_the_rounds(tmp_path, crowd):
    with start(tmp_path / "c.db", crowd, max_tasks_per_worker=9) as campaign:
        for labels, method in ((20, "best"), (15, "fast"), (None, "best")):
            found = campaign.plan(labels=labels, method=method)
            keep = found.pairs[::2]
            campaign.add_answers(recorded(crowd, keep))
        state = campaign.state()
        taken = state.slots > 0
        assert taken.sum() <= 60
        assert taken.sum(axis=0).max() <= 5
        assert taken.sum(axis=1).max() <= 9
        assert state.settings.slots == taken.sum()
        assert summary(state, task_statuses(state))["left"] == 60 - taken.sum()


def test_a_replan_touches_nothing_that_was_issued(campaign, crowd):
    first = campaign.plan(labels=25)
    campaign.add_answers(recorded(crowd, first.pairs[:10]))
    before = set(campaign.pending_pairs())
    second = campaign.plan(labels=15)
    assert before <= set(campaign.pending_pairs())
    assert not set(first.pairs) & set(second.pairs)
    assert set(campaign.pending_pairs()) - before == {(w, t, 2) for w, t in second.pairs}


def test_a_replan_knows_what_is_out_and_what_was_answered(tmp_path, crowd):
    """The expected accuracy that it states is that of the vote on all that is out, by hand."""
    with start(tmp_path / "c.db", crowd, model="independent") as campaign:
        first = campaign.plan(labels=25)
        campaign.add_answers(recorded(crowd, first.pairs[:12]))
        found = campaign.plan(labels=12)
        state = campaign.state()
    belief = posterior(state.answers, state.quality, state.prior)
    by_hand = expected_accuracy(state.quality.values, state.pending, belief[:, 1])
    assert found.expected_accuracy == pytest.approx(by_hand.mean())


def test_the_same_store_gives_the_same_plan(tmp_path, crowd):
    with start(tmp_path / "a.db", crowd) as campaign:
        first = campaign.plan(labels=25)
        campaign.add_answers(recorded(crowd, first.pairs))
    shutil.copy(tmp_path / "a.db", tmp_path / "b.db")
    for method in ("best", "fast", "tvcs"):
        for name in ("a", "b"):
            shutil.copy(tmp_path / f"{name}.db", tmp_path / f"{name}-{method}.db")
        found = [plan_once(tmp_path / f"{name}-{method}.db", method) for name in ("a", "b")]
        assert found[0] == found[1]


def plan_once(path, method):
    with Campaign(path) as campaign:
        return campaign.plan(labels=15, method=method).pairs


def test_the_order_of_names_and_answers_changes_no_plan(tmp_path, crowd, rng):
    given = [
        (task, worker, str(crowd.gold_answers[i, j]))
        for i, worker in enumerate(crowd.quality.workers)
        for j, task in enumerate(crowd.gold)
    ]
    gold = list(zip(crowd.gold, map(str, crowd.gold_labels.tolist()), strict=True))
    pairs = []
    for number in range(2):
        workers, tasks = list(crowd.quality.workers), list(crowd.quality.tasks)
        if number:
            for listed in (given, gold, workers, tasks):
                rng.shuffle(listed)
        with Campaign.create(
            tmp_path / f"{number}.db",
            workers=workers,
            tasks=tasks,
            gold=dict(gold),
            gold_answers=[tuple(map(str, row)) for row in given],
            budget=60,
        ) as campaign:
            first = campaign.plan(labels=25)
            answers = recorded(crowd, first.pairs)
            campaign.add_answers(answers[::-1] if number else answers)
            pairs.append((first.pairs, campaign.plan(labels=10).pairs))
    assert pairs[0] == pairs[1]


def test_a_least_gain_leaves_the_doubtful_tasks_only(campaign, crowd):
    first = campaign.plan(labels=20)
    campaign.add_answers(recorded(crowd, first.pairs))
    found = campaign.plan(min_gain=0.02)
    state = campaign.state()
    now = state.posterior.max(axis=1)
    then = expected_accuracy(state.quality.values, state.pending, state.posterior[:, 1])
    new = state.pending.sum(axis=0)
    assert found.left_out > 0
    assert ((then - now)[new > 0] >= 0.02 * new[new > 0]).all()


def test_answers_that_come_while_a_plan_is_made_make_it_anew(campaign, crowd, monkeypatch):
    first = campaign.plan(labels=20)
    answers = recorded(crowd, first.pairs)
    propose = rounds.propose
    calls = []

    def slow(state, *asked):
        found = propose(state, *asked)
        if len(calls) < 2:
            campaign.add_answers([answers[len(calls)]])
        calls.append(found)
        return found

    monkeypatch.setattr(rounds, "propose", slow)
    campaign.plan(labels=5, method="fast")
    assert len(calls) == 3

    def always(state, *asked):
        found = propose(state, *asked)
        campaign.next("w1")
        return found

    monkeypatch.setattr(rounds, "propose", always)
    before = campaign.state().settings.slots
    with pytest.raises(StoreError, match="came in during all 3 plans"):
        campaign.plan(labels=5, method="fast")
    assert campaign.state().settings.slots <= before + 1


def test_a_plan_that_was_overtaken_overtakes_nobody(campaign, monkeypatch):
    """Two planners at once: one issues its round, the other plans anew and issues the next."""
    propose, calls = rounds.propose, []

    def first_the_other(state, *asked):
        found = propose(state, *asked)
        calls.append(state.settings.revision)
        if len(calls) == 1:
            campaign.plan(labels=5, method="fast")
        return found

    monkeypatch.setattr(rounds, "propose", first_the_other)
    revision = campaign.state().settings.revision
    assert campaign.plan(labels=5, method="fast").number == 2
    assert calls == [revision, revision, revision + 1]
    assert campaign.state().settings.revision == revision + 2  # one for each round, none for tries


def test_rounds_of_three_classes_follow_the_answers(begin, rng):
    classes = ["cat", "dog", "eel"]
    names = {f"w{i}": 0.6 + 0.05 * i for i in range(6)}
    tasks = [f"t{j}" for j in range(12)]
    truth = dict(zip(tasks, rng.choice(classes, 12), strict=True))
    campaign = begin(
        workers=names,
        tasks=tasks,
        qualities=names,
        classes=classes,
        prior=[0.5, 0.3, 0.2],
        max_workers_per_task=4,
        max_tasks_per_worker=8,
        budget=30,
    )
    expected = []
    for _ in range(3):
        found = campaign.plan(labels=10, method="fast")
        assert len(found.pairs) <= 10
        expected.append(found.expected_accuracy)
        campaign.add_answers([(t, w, truth[t]) for w, t in found.pairs])
    state = campaign.state()
    assert expected == sorted(expected)
    assert state.expected_accuracy > 0.8
    assert (state.slots > 0).sum(axis=0).max() <= 4
    assert (state.slots > 0).sum(axis=1).max() <= 8
    best = [classes[k] for k in state.posterior.argmax(axis=1)]
    assert np.mean([k == truth[t] for k, t in zip(best, state.quality.tasks, strict=True)]) > 0.8


def test_adding_touches_nothing_that_was_issued(campaign, crowd):
    found = campaign.plan(labels=20)
    before = campaign.pending_pairs()
    campaign.add(workers=["newcomer"], tasks=["extra1", Task("extra2", max_workers=1)])
    assert campaign.pending_pairs() == before
    state = campaign.state()
    assert len(state.workers) == 9
    new = next(w for w in state.workers if w.name == "newcomer")
    old = [w.quality for w in state.workers if w.name != "newcomer"]
    assert min(old) < new.quality < max(old)  # the mean of the crowd
    with pytest.raises(ValueError, match="'newcomer' is in the campaign already"):
        campaign.add(workers=["another", "newcomer"])
    assert len(campaign.state().workers) == 9
    later = campaign.plan(labels=10)
    assert not set(later.pairs) & set(found.pairs)


def test_a_quality_per_pair_allows_only_what_it_lists(begin):
    quality = Quality(
        [[0.9, 0.8], [0.7, 0.6]],
        ["ann", "bob"],
        ["t1", "t2"],
        np.array([[True, False], [True, True]]),
    )
    campaign = begin(workers=["ann", "bob"], tasks=["t1", "t2"], qualities=quality)
    assert ("ann", "t2") not in campaign.plan(method="fast").pairs
    campaign.add(tasks=["t3"], qualities=Quality([[0.95]], ["ann"], ["t3"]))
    assert campaign.plan(method="fast").pairs == [("ann", "t3")]


def test_rounds_of_answers_beat_one_of_the_same_size(tmp_path):
    """Not a proof: six crowds, where answers tell which tasks need more."""
    right = {"one": [], "many": []}
    for seed in range(11, 17):
        crowd = crowd_of(30, 120, seed=seed)
        begun = tmp_path / f"begun{seed}.db"
        start(begun, crowd, budget=240, max_tasks_per_worker=20).close()
        for name, sizes in (("one", [240]), ("many", [120, 60, 60])):
            with Campaign(shutil.copy(begun, tmp_path / f"{name}{seed}.db")) as campaign:
                for labels in sizes:
                    found = campaign.plan(labels=labels, method="fast")
                    campaign.add_answers(recorded(crowd, found.pairs))
                best = campaign.state().posterior.argmax(axis=1)
                right[name].append((best == crowd.labels).mean())
    assert np.mean(right["many"]) >= np.mean(right["one"])
