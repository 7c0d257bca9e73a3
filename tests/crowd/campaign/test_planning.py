"""The problem that a round is, and what of its plan is issued: each by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.campaign import RejectedError, Task, Worker, rounds
from crowd_tvcs.campaign.desk.gold import mix_in
from crowd_tvcs.campaign.entries import Round
from crowd_tvcs.campaign.offers import _is_for_gold
from crowd_tvcs.campaign.planning.proposal import RoundRequest, worth_their_price
from crowd_tvcs.campaign.rounds import plan_of
from crowd_tvcs.campaign.stopping import is_worth_a_label
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.methods import METHODS, assign
from tests.makers.campaigns import rows_of
from tests.makers.commands import crowd_tvcs

WORKERS = [
    Worker("ann", max_tasks=3, cost=0.5, team="x"), Worker("bob", cost=0.25, team="x"),
    Worker("cy", cost=0.125),
]  # fmt: skip
TASKS = [Task("t1", min_workers=2), Task("t2", max_workers=2), Task("t3")]


@pytest.fixture
def campaign(begin):
    """Ann has answered t1, bob has t2, cy has skipped t3."""
    made = begin(
        workers=WORKERS, tasks=TASKS, budget=5, money=3.0, max_workers_per_task=3,
        model="independent",
    )  # fmt: skip
    assert made.next("ann", now=1.0).task == "t1"
    made.submit("ann", "t1", "1", now=2.0)
    assert made.next("bob", now=3.0).task == "t2"
    assert made.next("cy", now=4.0).task == "t3"
    made.skip("cy", "t3", now=5.0)
    return made


def test_the_problem_of_a_round(campaign):
    state = campaign.state()
    plan = plan_of(state, None)
    assert plan.quality.allowed.tolist() == [
        [False, False, True],  # t1 is answered, and bob has t2
        [False, True, True],  # ann has t1
        [True, True, False],  # t3 was skipped
    ]
    assert plan.forced.tolist() == [[False] * 3, [False, True, False], [False] * 3]
    assert plan.min_workers_per_task.tolist() == [1, 0, 0]
    assert plan.budget == 5 - 2 + 1
    assert plan.money == pytest.approx(3.0 - 0.5)
    assert plan.cost.tolist() == [0.5, 0.25, 0.125]
    assert plan_of(state, 2).budget == 3
    assert plan_of(state, 20).budget == 4
    assert plan_of(state, None, spare=500_000).money == pytest.approx(2.0)
    # Where too few labels are wanted for the minimums, a later round meets them.
    assert plan_of(state, 1).min_workers_per_task.tolist() == [1, 0, 0]
    assert plan_of(state, 0).min_workers_per_task.tolist() == [0, 0, 0]


def test_caps_are_less_what_is_answered(begin):
    campaign = begin(max_workers_per_task=2, max_tasks_per_worker=2, model="independent")
    campaign.submit("ann", campaign.next("ann").task, "1")
    assert campaign.next("bob").task == "t2"
    plan = plan_of(campaign.state(), None)
    assert plan.max_workers_per_task.tolist() == [1, 2, 2]
    assert plan.max_tasks_per_worker.tolist() == [1, 2, 2]


def test_closed_tasks_and_blocked_workers_get_no_more_but_what_is_out(campaign):
    campaign.close_tasks(["t1", "t2"])
    campaign.block("bob")
    plan = plan_of(campaign.state(), None)
    assert plan.quality.allowed.tolist() == [
        [False, False, True], [False, True, False], [False, False, False],
    ]  # fmt: skip
    assert plan.min_workers_per_task.tolist() == [0, 1, 0]


def test_tasks_whose_labels_are_not_worth_it_get_none_but_their_minimum(begin):
    tasks = [Task("t1", prior=0.97), Task("t2"), Task("t3", prior=0.97, min_workers=1)]
    state = begin(tasks=tasks, min_gain=0.01, model="independent").state()
    allowed = plan_of(state, None).quality.allowed
    assert allowed.tolist() == [[False, True, True]] * 3
    assert is_worth_a_label(state).tolist() == [False, True, True]
    state = begin(tasks=tasks, model="independent").state()
    assert is_worth_a_label(state).tolist() == [True] * 3


@pytest.mark.parametrize("per_pair", [False, True])
def test_whoever_is_below_the_gate_is_in_no_round_but_has_what_is_out(begin, per_pair):
    """Nor is a minimum asked for that needs them; a worker of exactly the minimum quality is in."""
    skills = {"ann": 0.9, "bob": 0.8, "low": 0.79}
    qualities = skills
    if per_pair:
        qualities = Quality([[skill] * 2 for skill in skills.values()], list(skills), ["t1", "t2"])
    tasks = [Task("t1", min_workers=3), "t2"]
    campaign = begin(workers=skills, qualities=qualities, tasks=tasks, min_quality=0.8)
    found = campaign.plan(method="best", min_gain=0.0)
    assert found.pairs == [("ann", "t1"), ("ann", "t2"), ("bob", "t1")]
    plan = plan_of(campaign.state(), None)
    assert plan.quality.allowed.tolist() == [[True, True], [True, True], [False, False]]
    assert plan.min_workers_per_task.tolist() == [2, 0]
    assert campaign.next("low").task is None
    hopeless = begin(workers=skills, qualities=qualities, tasks=[Task("t1", min_workers=4), "t2"])
    with pytest.raises(ValueError, match="t1"):
        hopeless.plan(method="best")


@pytest.mark.parametrize("why", ["a group", "no room"])
def test_a_minimum_asks_for_one_of_a_group_and_for_nobody_without_room(begin, why):
    """Where the minimum quality leaves two who may not both have the task, one is enough."""
    group = "x" if why == "a group" else None
    workers = [Worker("ann", team=group), Worker("bob", team=group), "low"]
    tasks = [Task("t1", min_workers=2), Task("t2")]
    skills = {"ann": 0.9, "bob": 0.8, "low": 0.6}
    if why == "no room":
        workers[1] = Worker("bob", max_tasks=0)
    campaign = begin(workers=workers, qualities=skills, tasks=tasks, min_quality=0.7)
    assert plan_of(campaign.state(), None).min_workers_per_task.tolist() == [1, 0]
    found = campaign.plan(method="best", min_gain=0.0)
    assert ("ann", "t1") in found.pairs


def test_who_falls_below_the_gate_is_counted_on_for_what_is_out_only(begin):
    gold = {f"g{j}": "1" for j in range(6)}
    result = [(task, who, "1") for task in gold for who in ("ann", "bob")]
    options = {"tasks": ["t1", "t2"], "qualities": None, "gold": gold, "gold_answers": result}
    campaign = begin(min_quality=0.7, prior=0.5, **options)
    campaign.plan(method="best", labels=1)
    ((worker, task, _),) = campaign.pending_pairs()
    campaign.add(
        gold={f"h{j}": "1" for j in range(9)},
        gold_answers=[(f"h{j}", worker, "0") for j in range(9)],
    )
    now = campaign.state()
    row = now.factors.table.workers.index(worker)
    assert now.factors.table.values[row, 0] < 0.7
    plan = plan_of(now, None)
    assert plan.quality.allowed[row].tolist() == [t == task for t in ("t1", "t2")]
    assert plan.forced[row].sum() == 1


def test_without_limits_a_round_has_none(begin):
    state = begin(model="independent").state()
    plan = plan_of(state, None)
    assert (plan.budget >= 9, plan.money) == (True, None)
    assert plan_of(state, 4).budget == 4
    assert plan.quality.allowed is None or plan.quality.allowed.all()


def test_gold_among_the_tasks_is_paid_for_and_counts_for_its_workers(begin):
    campaign = begin(
        workers=[Worker("ann", max_tasks=2, cost=0.5)], tasks=["t1", "t2"], qualities={"ann": 0.9},
        gold={"g1": "1"}, prior=0.5, money=2.0, model="independent", lease_seconds=60,
    )  # fmt: skip
    mix_in(campaign.store, {}, ())
    campaign.gold_share = 1.0
    assert campaign.next("ann", now=0.0).task == "g1"
    campaign.pause()
    # Also of gold whose lease is over: then it counts for nothing.
    for now, tasks, money in ((1.0, 1, 1.5), (100.0, 2, 2.0)):
        campaign.next("ann", now=now)
        plan = plan_of(campaign.state(), None)
        assert plan.max_tasks_per_worker.tolist() == [tasks]
        assert plan.money == pytest.approx(money)


def test_a_pair_that_is_not_listed_is_in_no_round(begin):
    quality = Quality([[0.9, 0.6]], ["ann"], ["t1", "t2"], [[True, False]])
    campaign = begin(workers=["ann"], tasks=["t1", "t2"], qualities=quality, model="independent")
    assert plan_of(campaign.state(), None).quality.allowed.tolist() == [[True, False]]
    assert campaign.plan().pairs == [("ann", "t1")]


def test_a_round_takes_a_quick_method_only_where_it_is_asked_to(begin):
    plan = plan_of(begin(model="independent").state(), None)
    assert not METHODS[rounds.usual_method(plan)].is_quick
    assert METHODS[rounds.usual_method(plan, quick=True)].is_quick


def test_a_plan_starts_from_what_is_known(begin):
    two = begin(tasks=[Task("t1", prior=0.9), Task("t2")], model="independent").state()
    assert plan_of(two, None).prior.tolist() == pytest.approx([0.9, 0.5])
    three = {"classes": ["a", "b", "c"], "prior": [0.5, 0.3, 0.2], "model": "independent"}
    plan = plan_of(begin(**three).state(), None)
    assert plan.n_classes == 3
    assert plan.class_prior == pytest.approx(np.array([[0.5, 0.3, 0.2]] * 3))
    # Without gold, workers who may err together count as those who do not.
    assert not plan_of(begin().state(), None).common_error


def planned(*pairs):
    return Round(0, list(pairs), "fast", "why", 0.75, 0.875, 0)


def test_what_is_issued_is_written_down(campaign):
    state = campaign.state()
    pairs = [("ann", "t3"), ("cy", "t1"), ("cy", "t2")]
    with campaign.store.write() as (connection, settings, _):
        assert rounds.issue(connection, state, settings, planned(*pairs)).number == 1
    assert campaign.pending_pairs() == [(*pair, 1) for pair in pairs]
    with pytest.raises(ValueError, match="there is only round 1, found 2"):
        campaign.pending_pairs(2)
    after = campaign.state()
    assert [worker.slots for worker in after.workers] == [2, 1, 2]
    assert [task.slots for task in after.tasks] == [2, 2, 1]
    assert (after.settings.slots, after.settings.missing, after.settings.rounds) == (5, 0, 1)
    assert after.settings.committed == 2 * 500_000 + 250_000 + 2 * 125_000
    row = after.rounds[0]
    assert tuple(row) == (1, "fast", "why", 3, 1, 0.75, 0.875)
    assert campaign.release(1) == 3
    assert campaign.pending_pairs() == []
    freed = campaign.state()
    assert [worker.slots for worker in freed.workers] == [1, 1, 0]
    assert (freed.settings.slots, freed.settings.missing) == (2, 1)
    assert freed.settings.committed == 750_000
    with campaign.store.write() as (connection, settings, _):
        assert rounds.issue(connection, freed, settings, planned(*pairs[1:])).number == 2
    assert campaign.pending_pairs() == [(*pair, 2) for pair in pairs[1:]]
    assert campaign.pending_pairs(2) == campaign.pending_pairs()


def test_a_plan_of_nothing_issues_no_round(begin):
    campaign = begin(budget=0)
    before = campaign.state().settings
    found = campaign.plan()
    assert (found.number, found.pairs) == (0, [])
    assert campaign.state().settings == before
    done = crowd_tvcs("campaign", "replan", campaign.store.place)
    assert (done.exit_code, done.stdout) == (0, "worker,task\n")
    assert done.stderr.startswith("no label is worth asking now (")
    assert campaign.state().rounds == []


def worth(begin, min_gain, **options):
    """What is left of a plan of everybody, by task."""
    campaign = begin(model="independent", **options)
    state = campaign.state()
    plan = plan_of(state, None)
    chosen = np.ones(state.slots.shape, dtype=bool) & (state.slots <= 0)
    left = worth_their_price(plan, state.pending, chosen, min_gain)
    return [[state.workers[i].name for i in np.flatnonzero(of)] for of in left.T]


def test_the_weakest_go_first_as_long_as_they_add_too_little(begin):
    qualities = {"ann": 0.9, "bob": 0.8, "cy": 0.8}
    one = {"tasks": ["t1"], "qualities": qualities}
    # ann alone .9; a second adds nothing, all three .928 (.9 * .96 + .1 * .64).
    assert worth(begin, 0.0, **one) == [["ann", "bob", "cy"]]
    assert worth(begin, 0.0279, **one) == [["ann", "bob", "cy"]]
    assert worth(begin, 0.0281, **one) == [["ann"]]
    assert worth(begin, 0.3999, **one) == [["ann"]]
    assert worth(begin, 0.4001, **one) == [[]]
    # Minimums stay met.
    two = {"tasks": [Task("t1", min_workers=2)], "qualities": qualities}
    assert worth(begin, 0.9, **two) == [["ann", "bob"]] or worth(begin, 0.9, **two) == [
        ["ann", "cy"]
    ]
    # Two of .7 add nothing beside each other: one of them goes, even if nothing is asked for.
    assert worth(begin, 0.0, tasks=["t1"], qualities={"ann": 0.7, "bob": 0.7})[0] in (
        ["ann"],
        ["bob"],
    )


def test_two_who_only_help_together_go_together(begin):
    """Beside a prior of .8 one of .7 turns nothing, and two turn .2 x .49 - .8 x .09."""
    two = {"workers": ["ann", "bob"], "qualities": {"ann": 0.7, "bob": 0.7}}
    two["tasks"] = [Task("t1", prior=0.8)]
    assert worth(begin, 0.0129, **two) == [["ann", "bob"]]
    assert worth(begin, 0.0131, **two) == [[]]
    two["tasks"] = [Task("t1", prior=0.8, min_workers=1)]
    assert worth(begin, 0.0131, **two) == [["ann", "bob"]]


def test_omissions_are_counted_and_reported(begin):
    campaign = begin(tasks=["t1", "t2"], model="independent")
    found = campaign.plan(method="greedy", min_gain=0.3)
    assert sorted(task for _, task in found.pairs) == ["t1", "t2"]
    assert {worker for worker, _ in found.pairs} == {"ann"}
    state = campaign.state()
    assert found.expected_accuracy == pytest.approx(0.9)
    if found.left_out:
        assert found.reason.startswith(f"{found.left_out} labels left out of a plan that ended so")
    assert state.settings.rounds == found.number == 1
    for wrong in ({"labels": -1}, {"min_gain": 1.01}, {"min_gain": -0.01}):
        with pytest.raises(ValueError, match=r"must be (an integer|from 0 to 1)"):
            campaign.plan(**wrong)
    query = "SELECT who, what, task, detail FROM audit"
    noted = [("operator", "plan", None, "round 1: 2 labels")]
    assert rows_of(campaign, query) == noted
    campaign.release(1)
    noted.append(("operator", "release", None, "round 1: 2 labels"))
    assert rows_of(campaign, query) == noted
    for number in (0, 2):
        with pytest.raises(ValueError, match=f"there is only round 1, found {number}$"):
            campaign.release(number)
    assert campaign.state().settings.revision == 2


def test_only_new_pairs_are_left_out(begin):
    """Of a plan of all three, with cy at work: what is not worth its price, and not cy."""
    campaign = begin(tasks=["t1"], model="independent")
    campaign.next("cy")
    state = campaign.state()
    support = assign(plan_of(state, None), "greedy", rng=0).support
    assert support.all()
    for min_gain, pairs in ((0.0, 2), (0.05, 1)):
        found = rounds.propose(state, RoundRequest(method="greedy", min_gain=min_gain))
        assert len(found.pairs) == pairs
        assert found.left_out == 2 - pairs
        message = f"{2 - pairs} label left out of a plan that ended so: "
        assert found.reason.startswith(message) == (pairs == 1)
    # One who adds nothing is left out, and nothing is lost by it.
    equal = {"workers": ["ann", "bob"], "qualities": {"ann": 0.8, "bob": 0.8}, "tasks": ["t1"]}
    found = begin(**equal, model="independent").plan(method="greedy")
    assert (len(found.pairs), found.left_out) == (1, 1)
    assert "left out" not in found.reason


def test_a_round_is_paid_to_the_millionth(begin):
    workers = [Worker(name, cost=0.1) for name in ("ann", "bob", "cy")]
    for money, pairs in ((0.3, 3), (0.299999, 2), (0.1, 1), (0.05, 0)):
        options = {"workers": workers, "money": money, "model": "independent"}
        campaign = begin(**options, max_workers_per_task=1)
        found = campaign.plan(method="greedy")
        assert len(found.pairs) == pairs
        assert campaign.state().settings.committed == 100_000 * pairs
    # Three are dearer than the money by a millionth, which the rounding of the plan lets pass.
    workers = [Worker(name, cost=500_000.000001) for name in ("ann", "bob", "cy")]
    options = {"workers": workers, "money": 1_500_000.000002, "model": "independent"}
    campaign = begin(**options, max_workers_per_task=1)
    assert len(campaign.plan(method="greedy").pairs) == 2


def settings_of(**given):
    usual = {"seed": 1, "revision": 5, "secret": "s", "budget": None, "slots": 3, "missing": 0}
    return Settings(**dict.fromkeys(Settings._fields) | usual | given)


def test_gold_is_due_by_chance_from_the_store_alone():
    """As often as its share says, and not where all that is left is for minimums."""
    ann = SimpleNamespace(name="ann")
    due = [_is_for_gold(settings_of(revision=k), ann, 0.25) for k in range(2000)]
    assert 420 < sum(due) < 580
    assert due == [_is_for_gold(settings_of(revision=k), ann, 0.25) for k in range(2000)]
    others = [
        [_is_for_gold(settings_of(revision=k, **given), who, 0.25) for k in range(200)]
        for given, who in (
            ({"seed": 2}, ann), ({"secret": None}, ann), ({"secret": "t"}, ann),
            ({}, SimpleNamespace(name="bob")),
        )
    ]  # fmt: skip
    assert all(one != due[:200] for one in others)
    long = {"secret": "k" * 99}  # a key has 64 bytes at most
    assert [_is_for_gold(settings_of(**long), ann, share) for share in (0.0, 1.0)] == [False, True]
    assert not _is_for_gold(settings_of(budget=5, missing=2), ann, 1.0)
    assert _is_for_gold(settings_of(budget=6, missing=2), ann, 1.0)


def test_mates_see_no_gold_of_one_another(begin):
    workers = [Worker("ann", team="x"), Worker("bob", team="x"), Worker("cy")]
    campaign = begin(workers=workers, gold={"g1": "1", "g2": "0"}, prior=0.5, model="independent")
    mix_in(campaign.store, {}, ())
    campaign.gold_share = 1.0
    assert campaign.next("ann").task == "g1"
    assert campaign.next("bob").task == "g2"  # that fewest have; and cy the first of these
    assert campaign.next("cy").task == "g1"
    campaign.submit("ann", "g1", "1")
    assert campaign.next("ann").task[0] == "t"
    with pytest.raises(RejectedError, match="there is no task 'g9'"):
        campaign.submit("ann", "g9", "1")


def test_with_a_quality_per_pair_the_gate_and_the_team_are_of_pairs(begin):
    quality = Quality([[0.9, 0.6], [0.7, 0.8]], ["ann", "bob"], ["t1", "t2"])
    options = {"tasks": ["t1", "t2"], "qualities": quality, "min_quality": 0.65}
    workers = [Worker("ann", team="x"), Worker("bob", team="x")]
    campaign = begin(workers=workers, **options)
    assert campaign.next("ann").task == "t1"
    assert campaign.next("bob").task == "t2"
    assert campaign.submit_and_next("ann", "t1", "1")[1].task is None
