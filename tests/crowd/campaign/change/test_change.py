"""Settings change while people label: as if they had been so from the start, promises apart."""

from pathlib import Path

import pytest

from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.campaign import Campaign, RejectedError, Task, Worker
from tests.makers.campaigns import coming_from, rows_of, tables
from tests.makers.commands import run_done, run_refused

PEOPLE = {"ann": 0.9, "bob": 0.8, "cy": 0.7}
GOLD = {f"g{k}": "ab"[k % 2] for k in range(20)}
GOLD_ANSWERS = [
    (task, name, label if (k + i) % (3 + i) else "ab"[label == "a"])
    for k, (task, label) in enumerate(GOLD.items())
    for i, name in enumerate(PEOPLE)
]
OF_GOLD = {"qualities": None, "gold": GOLD, "gold_answers": GOLD_ANSWERS, "workers": list(PEOPLE)}
TABLE = Quality([[0.9, 0.8, 0.7], [0.6, 0.7, 0.8], [0.7, 0.7, 0.9]], PEOPLE, ["t1", "t2", "t3"])


def answered(campaign, *, before=None, labels="abab"):
    """Answers to three tasks, with a change before the last."""
    for name, label in zip(["ann", "bob", "cy", "ann"], labels, strict=True):
        if before is not None and campaign.state().settings.answers == 3:
            campaign.change(**before)
        task = campaign.next(name, now=1000.0).task
        campaign.submit(name, task, label, now=1005.0)
    return campaign


LAWS = {
    "limits": ({}, {"budget": 9, "max_workers_per_task": 2, "max_tasks_per_worker": 5}),
    "gate": ({"min_gain": 0.01}, {"min_quality": 0.75}),
    "target": ({"min_gain": 0.01}, {"target": 0.85}),
    "target by gold": (OF_GOLD | {"min_gain": 0.01}, {"target": 0.8}),
    "gain": ({}, {"min_gain": 0.05}),
    "lease": ({}, {"lease_seconds": 60.0}),
}


@pytest.mark.parametrize("law", LAWS)
def test_it_is_as_if_it_had_been_so(begin, law):
    first, wanted = LAWS[law]
    first = {"classes": ["a", "b"]} | first
    changed = begin(**first)
    assert changed.change(**wanted)
    assert tables(changed, "audit") == tables(begin(**(first | wanted)), "audit")
    assert changed.change(**wanted) == []


CLASSES = {
    "equal shares": {"model": "independent"},
    "shares of gold": OF_GOLD,
    "pairs": {"qualities": TABLE},
    "own prior": {"prior": [0.3, 0.7], "model": "independent"},
}


@pytest.mark.parametrize("kind", CLASSES)
def test_new_classes_are_as_if_they_had_been_there(begin, kind):
    given = CLASSES[kind]
    prior = [0.3, 0.5, 0.2] if kind == "own prior" else None
    changed = begin(classes=["a", "b"], **given)
    wanted = {"new_classes": ["c"], "prior": prior}
    answered(changed, before=wanted, labels="abac")
    whole = begin(classes=["a", "b", "c"], **given | ({"prior": prior} if prior else {}))
    answered(whole, labels="abac")
    assert changed.state().classes == ("a", "b", "c")
    assert [t.confidence for t in changed.state().tasks] == pytest.approx(
        [t.confidence for t in whole.state().tasks], abs=1e-12
    )
    assert changed.state().settings.shares_of_gold == whole.state().settings.shares_of_gold


def test_classes_with_shares_of_their_own_need_new_ones(begin):
    campaign = begin(prior=[0.3, 0.7])
    with pytest.raises(RejectedError, match="new classes need prior: one probability per class"):
        campaign.change(new_classes=["2"])
    with pytest.raises(RejectedError, match="class '1' is in the campaign already; leave it out"):
        campaign.change(new_classes=["1"])
    named = begin(classes=["cat", "dog"])
    with pytest.raises(RejectedError, match="class 'Cat' differs from 'cat' in case alone, and no"):
        named.change(new_classes=["Cat"])
    with pytest.raises(RejectedError, match="class 'bird' differs from 'Bird' in case alone"):
        named.change(new_classes=["Bird", "bird"])
    with pytest.raises(ValueError, match="prior is for new_classes alone"):
        campaign.change(prior=[0.5, 0.5])
    own = begin(tasks=[Task("t1", prior=0.3)])
    with pytest.raises(RejectedError, match="prior of their own, which is for two classes; begin"):
        own.change(new_classes=["2"])


def test_an_open_lease_keeps_its_end(begin):
    campaign = begin(lease_seconds=900.0)
    assert campaign.next("ann", now=1000.0).expires == 1900.0
    campaign.change(lease_seconds=60.0, now=1000.0)
    assert campaign.next("ann", now=1100.0).expires == 1900.0
    assert campaign.next("ann", now=1880.0).expires == 1940.0
    assert campaign.next("bob", now=1100.0).expires == 1160.0


def test_leases_that_are_over_hold_nothing_up(begin):
    campaign = begin(budget=3, lease_seconds=60.0)
    campaign.next("ann", now=1000.0)
    with pytest.raises(RejectedError, match="budget must be at least 1, found 0"):
        campaign.change(budget=0, now=1059.0)
    assert campaign.change(budget=0, now=1061.0) == ["budget: 3 -> 0"]


def test_caps_of_single_ones_stay_when_the_campaigns_change(begin):
    campaign = begin(
        workers=[Worker("ann", 7), "bob"],
        tasks=[Task("t1", max_workers=9), "t2"],
        max_tasks_per_worker=3,
        max_workers_per_task=4,
    )
    campaign.change(max_tasks_per_worker=5, max_workers_per_task=None)
    state = campaign.state()
    assert [w.max_tasks for w in state.workers] == [7, 5]
    assert state.tasks[0].max_workers == 9
    campaign.add(workers=["new"], qualities={"new": 0.8})
    campaign.change(worker_caps={"ann": None, "bob": 2})
    assert [w.max_tasks for w in campaign.state().workers] == [5, 2, 5]


def test_a_raised_cap_hands_out_at_once_and_a_raised_minimum_is_kept(begin):
    campaign = begin(max_tasks_per_worker=1, budget=4)
    campaign.submit("ann", campaign.next("ann").task, "1")
    assert campaign.next("ann").task is None
    campaign.change(worker_caps={"ann": 3}, task_minimums={"t3": 3})
    assert campaign.next("ann").task == "t3"  # all that is left is for it


REFUSED = [
    ({"budget": 1}, "budget must be at least 2, found 1 (answered: 1, with workers now: 1); with"),
    ({"money": 0.01}, "money must be at least 0.2, found 0.01 (answered: 1, with workers now: 1)"),
    ({"worker_caps": {"ann": 0}}, "worker 'ann' cannot be cut down to 0 tasks (answered: 1, with"),
    ({"max_workers_per_task": 0}, "task 't1' cannot be cut down to 0 workers (answered: 1, with"),
    ({"task_minimums": {"t3": 4}, "task_caps": {"t3": 3}}, "task 't3' must have 4 workers and may"),
    (
        {"task_minimums": {"t3": 9}},
        "ask for 9 labels, and a budget of 5 leaves 3; give a budget of",
    ),
    ({"worker_caps": {"eve": 4}}, "there is no worker 'eve' in this campaign"),
    ({"task_caps": {"t9": 4}}, "there is no task 't9' in this campaign"),
]


@pytest.mark.parametrize(("wanted", "message"), REFUSED)
def test_a_change_that_breaks_a_promise_changes_nothing(begin, wanted, message):
    campaign = begin(
        workers=[Worker(name, cost=0.1) for name in PEOPLE],
        tasks=["t1", "t2", "t3"],
        budget=5,
        money=1.0,
    )
    campaign.submit("ann", campaign.next("ann").task, "1")
    campaign.next("bob")
    before = tables(campaign)
    with pytest.raises(RejectedError) as error:
        campaign.change(min_quality=0.5, **wanted)
    assert message in str(error.value)
    assert tables(campaign) == before


def test_money_needs_costs(begin):
    with pytest.raises(RejectedError, match="no worker has a cost; limit the budget instead"):
        begin().change(money=3.0)


def test_every_change_is_in_the_audit(begin):
    campaign = begin(budget=5, money=None)
    with coming_from("a"):
        campaign.change(budget=None, task_caps={"t2": 2}, now=1000.0)
    query = "SELECT at, who, what, task, detail, address FROM audit ORDER BY id"
    common = (1000.0, "operator", "change")
    assert rows_of(campaign, query) == [
        (*common, None, "budget: 5 -> none", "a"),
        (*common, "t2", "most workers: none -> 2", "a"),
    ]


@pytest.fixture
def store(tmp_path, monkeypatch, begin):
    monkeypatch.chdir(tmp_path)
    begin("s.db", workers=[Worker(name, cost=0.5) for name in PEOPLE], tasks=["t1", "a=b"]).close()
    return ["campaign", "change", "s.db"]


def test_the_command(store, tmp_path):
    (tmp_path / "w.csv").write_text("worker,max_tasks\nann,4\nbob,\n", encoding="utf-8")
    (tmp_path / "t.csv").write_text("task,min_workers\nt1,1\n", encoding="utf-8")
    words = "--budget 9 --money 3.5 --lease 60 --add-class x --worker-cap cy=2 --task-cap a=b=3"
    done = run_done(*store, *words.split(), "--workers", "w.csv", "--tasks", "t.csv")
    for line in (
        "budget: none -> 9",
        "money: none -> 3.5",
        "lease seconds: 900 -> 60",
        "new classes: 'x'",
        "most tasks of worker 'ann': none -> 4",
        "most tasks of worker 'cy': none -> 2",
        "task 'a=b', most workers: none -> 3",
        "task 't1', least workers: 0 -> 1",
    ):
        assert line in done.stderr
    done = run_done(*store, "--budget", "none", "--worker-cap", "cy=default")
    assert done.stderr.splitlines()[0] == "budget: 9 -> none"
    with Campaign("s.db") as campaign:
        assert campaign.state().settings.budget is None
    assert "nothing was changed" in run_done(*store, "--budget", "none").stderr


def test_columns_of_a_table_that_change_nothing_are_named(store):
    Path("w.csv").write_text("Worker,Max_Tasks,cost\nann,4,7\n", encoding="utf-8")
    Path("t.csv").write_text("task,Min_Workers,prior\nt1,1,.9\n", encoding="utf-8")
    err = run_done(*store, "--workers", "w.csv", "--tasks", "t.csv").stderr
    for file, column in (("w.csv", "cost"), ("t.csv", "prior")):
        assert f"{file}: not read here, and so not changed: {column}\n" in err
    assert "worker 'ann': none -> 4" in err
    assert "task 't1', least workers: 0 -> 1" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "nothing to change: give --budget, --money or another option"),
        ("--budget x", "--budget must be an integer, or none, found 'x'"),
        ("--money -1", "money must be from 0 to 1e+12, found -1.0"),
        ("--money 5€", "must be a number in the unit of the costs, as the campaign keeps no curr"),
        ("--worker-cap ann", "--worker-cap must be NAME=N, found 'ann'"),
        ("--worker-cap ann=1 --worker-cap ann=2", "--worker-cap names 'ann' twice"),
        ("--task-minimum t1=default", "--task-minimum of 't1' must be an integer, found 'default'"),
        ("--add-class 1", "class '1' is in the campaign already; leave it out"),
        ("--tasks n.csv", "needs a column min_workers or max_workers"),
        ("--worker-cap eve=3", "there is no worker 'eve' in this campaign"),
    ],
)
def test_the_command_refuses_in_one_sentence(store, tmp_path, words, message):
    (tmp_path / "n.csv").write_text("task,text\nt1,hello\n", encoding="utf-8")
    err = run_refused(*store, *words.split())
    assert message in err
    assert err.count("\n") == 1
