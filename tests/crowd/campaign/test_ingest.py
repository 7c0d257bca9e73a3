"""What comes into a campaign: what is refused at which end, and that nothing of it is kept."""

import numpy as np
import pandas as pd
import pytest

from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.belief.uncertainty import affinity
from crowd_tvcs.campaign import Task, Worker
from crowd_tvcs.campaign.store.schema import UNLIMITED
from tests.makers.campaigns import coming_from, rows_of

GOLD = {"g1": "1", "g2": "0"}


REFUSED = [
    ({"workers": ["ann"]}, "worker 'ann' is in the campaign already"),
    ({"tasks": ["t1"]}, "task 't1' is in the campaign already"),
    ({"tasks": ["g1"]}, "task 'g1' has gold answers that qualities come from, so it cannot"),
    ({"tasks": [Task("new", min_workers=4)]}, "'new' must have 4 workers and may have 3"),
    ({"tasks": [Task("new", min_workers=2, max_workers=1)]}, "must have 2 workers and may ha"),
    ({"qualities": {"ann": 0.5}}, "the qualities of this campaign come from gold answers"),
    ({"gold": {"g1": "0"}}, "the gold label of 'g1' was '1' before"),
    ({"gold": {"g3": "2"}}, "the gold label of 'g3' must be one of .*, found '2'"),
    ({"gold_answers": [("t1", "ann", "1")]}, "'t1' is to be labelled, so it gives no quality"),
    ({"gold_answers": [("g3", "ann", "1")]}, "task 'g3' has no gold label"),
    ({"gold_answers": [("g1", "ann", "2")]}, "label must be one of .*, found '2'"),
    ({"gold_answers": [("g1", "ann", "0")]}, "'ann' answered gold task 'g1' with '1' before"),
]


def test_what_does_not_fit_is_refused_and_nothing_is_kept(begin):
    result = [("g1", "ann", "1"), ("g2", "bob", "0")]
    options = {"qualities": None, "gold": GOLD, "gold_answers": result, "prior": 0.5}
    campaign = begin(**options, max_workers_per_task=3, model="independent")
    query = "SELECT revision FROM campaign UNION ALL SELECT count(*) FROM gold_answer"
    before = rows_of(campaign, query)
    for added, message in REFUSED:
        with pytest.raises(ValueError, match=message):
            campaign.add(**{"workers": ["newest"]} | added)
        assert rows_of(campaign, query) == before
    assert len(campaign.state().workers) == 3


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ({"tasks": "t9"}, "tasks must be a list of names, found 't9'"),
        ({"workers": pd.DataFrame({"worker": ["x"]})}, "found a DataFrame; give one column of it"),
        ({"gold_answers": pd.DataFrame({"task": ["g1"]})}, "found a DataFrame; give its rows"),
        ({"tasks": ["t9 "]}, "name of a task must not begin or end with blanks, found 't9 '"),
    ],
)
def test_no_name_is_made_of_a_letter_a_heading_or_blanks(begin, added, message):
    campaign = begin(gold=GOLD, prior=0.5)
    with pytest.raises((TypeError, ValueError), match=message):
        campaign.add(**added)
    assert len(campaign.state().tasks) == 3
    with pytest.raises(TypeError, match="tasks must be a list of names, found 't1'"):
        campaign.close_tasks("t1")


def test_gold_and_qualities_may_be_a_series(begin):
    campaign = begin(qualities=pd.Series({"ann": 0.9, "bob": 0.7}), gold=pd.Series(GOLD), prior=0.5)
    assert campaign.state().gold == {"g1": 1, "g2": 0}
    assert rows_of(campaign, "SELECT name, quality FROM worker")[:2] == [("ann", 0.9), ("bob", 0.7)]
    for name, index in (("gold", ["g1", "g2", "g1"]), ("qualities", ["ann", "bob", "ann"])):
        twice = pd.Series(["1", "0", "0"] if name == "gold" else [0.9, 0.7, 0.5], index=index)
        with pytest.raises(ValueError, match=f"{name} must have one value of each name, found two"):
            begin(**{"gold": GOLD, "prior": 0.5, name: twice})


def test_a_prior_of_a_task_is_of_two_classes(begin):
    campaign = begin(classes=["a", "b", "c"])
    with pytest.raises(ValueError, match="a prior of a task needs two classes, there are 3"):
        campaign.add(tasks=[Task("new", prior=0.5)])
    campaign = begin()
    campaign.add(tasks=[Task("new", prior=0.25)])
    found = rows_of(campaign, "SELECT prior, confidence FROM task WHERE name = 'new'")
    assert found == [(0.25, pytest.approx(0.75))]


def test_minimums_fit_into_what_the_budget_has_left(begin):
    campaign = begin(tasks=[Task("t1", min_workers=2), "t2"], budget=5)
    campaign.submit("ann", campaign.next("ann").task, "1")
    missing, slots = rows_of(campaign, "SELECT missing, slots FROM campaign")[0]
    room = 5 - slots - missing
    with pytest.raises(ValueError, match=f"ask for {5 - slots + 1} labels, the budget has 4 left"):
        campaign.add(tasks=[Task("new", min_workers=room + 1)])
    campaign.add(tasks=[Task("new", min_workers=room)])
    assert rows_of(campaign, "SELECT missing FROM campaign") == [(5 - slots,)]


def test_caps_of_ones_own_go_before_those_of_all(begin):
    campaign = begin(max_workers_per_task=2, max_tasks_per_worker=3)
    campaign.add(
        workers=[Worker("new", max_tasks=0), Worker("two", cost=999_999.5)],
        tasks=[Task("x", max_workers=0), Task("y", min_workers=2), Task("z", max_workers=4)],
    )
    found = rows_of(
        campaign, "SELECT name, max_tasks, cost, slots, answers FROM worker WHERE id > 3"
    )
    assert found == [("new", 0, 0, 0, 0), ("two", 3, 999_999_500_000, 0, 0)]
    found = rows_of(campaign, "SELECT name, max_workers, needy, wanted FROM task WHERE id > 3")
    assert found == [("x", 0, 0, 0), ("y", 2, 1, 1), ("z", 4, 0, 1)]
    campaign = begin()
    campaign.add(tasks=[Task("x", min_workers=9)])
    found = rows_of(campaign, "SELECT max_workers FROM task WHERE name = 'x'")
    assert found == [(UNLIMITED,)]


def test_qualities_are_kept_for_those_who_are_there(begin):
    campaign = begin()
    campaign.add(qualities={"nobody": 0.5, "cy": 0.95})
    assert rows_of(campaign, "SELECT quality FROM worker ORDER BY id") == [(0.9,), (0.8,), (0.95,)]
    assert rows_of(campaign, "SELECT best FROM campaign") == [(0.95,)]
    assert campaign.next("cy").task is not None
    with pytest.raises(ValueError, match="has one quality per worker, but the table gives a qua"):
        campaign.add(qualities=Quality([[0.5]], ["ann"], ["t1"]))


def test_qualities_of_pairs_are_kept_with_what_an_answer_takes(begin):
    values, listed = [[0.9, 0.6], [0.7, 0.8]], [[True, False], [True, True]]
    quality = Quality(values, ["ann", "nobody"], ["t1", "t2"], listed)
    campaign = begin(workers=["ann"], tasks=["t1"], qualities=quality)
    found = rows_of(campaign, "SELECT worker_id, task_id, quality, gain FROM skill")
    assert found == [(1, 1, 0.9, pytest.approx(1.0 - affinity(0.9, 2)))]
    assert rows_of(campaign, "SELECT best FROM campaign") == [(0.9,)]
    with pytest.raises(ValueError, match="has a quality for every pair, but the table gives one"):
        campaign.add(qualities={"ann": 0.5})
    with pytest.raises(ValueError, match="quality of a pair that the campaign has already"):
        campaign.add(qualities=Quality([[0.9]], ["ann"], ["t1"]))


def test_gold_given_again_changes_nothing(begin):
    result = [("g1", "ann", "1"), ("g2", "bob", "0")]
    options = {"qualities": None, "gold": GOLD, "gold_answers": result, "prior": 0.5}
    campaign = begin(**options, model="independent")
    before = rows_of(campaign, "SELECT name, quality FROM worker")
    assert campaign.add_answers(result) == {"accepted": 0, "late": 0, "known": 2, "gold": 0}
    assert rows_of(campaign, "SELECT name, quality FROM worker") == before
    found = campaign.add_answers([("g1", "bob", "1"), ("g2", "bob", "0")])
    assert found == {"accepted": 0, "late": 0, "known": 1, "gold": 1}
    now = rows_of(campaign, "SELECT name, quality FROM worker")
    assert now[1][1] > before[1][1]
    campaign.add(gold={"g1": "1", "g3": "0"})
    assert rows_of(campaign, "SELECT task, label FROM gold") == [("g1", 1), ("g2", 0), ("g3", 0)]


def test_a_newcomer_has_the_quality_of_the_crowd_where_gold_says_it(begin):
    result = [("g1", "ann", "1"), ("g2", "bob", "1")]
    options = {"qualities": None, "gold": GOLD, "gold_answers": result, "prior": 0.5}
    campaign = begin(**options, model="independent")
    campaign.add(workers=["new"])
    found = dict(rows_of(campaign, "SELECT name, quality FROM worker"))
    assert found["bob"] < found["new"] < found["ann"]
    assert found["new"] == pytest.approx(found["cy"])


def test_what_a_table_of_answers_brought_is_counted(begin):
    campaign = begin(lease_seconds=60, gold=GOLD, prior=0.5, model="independent")
    pairs = campaign.plan(labels=3, method="fast").pairs
    lines = [(task, worker, "1") for worker, task in pairs]
    assert campaign.add_answers(lines[:1]) == {"accepted": 1, "late": 0, "known": 0, "gold": 0}
    assert campaign.release(1) == 2
    result = campaign.add_answers([*lines, ("g1", "ann", "1")])
    assert result == {"accepted": 0, "late": 2, "known": 1, "gold": 1}
    found = rows_of(campaign, "SELECT place FROM pair ORDER BY place")
    assert found == [(1,), (2,), (3,)]
    assert rows_of(campaign, "SELECT slots, answers FROM campaign") == [(3, 3)]
    assert rows_of(campaign, "SELECT sum(slots), sum(answers) FROM worker") == [(3, 3)]
    for wrong, message in (
        (("t1", "zoe", "1"), "there is no worker 'zoe' in this campaign"),
        (("t1", "Ann", "1"), "write a name that it has, such as 'ann', or add the worker"),
        (("T1", "ann", "1"), "write a name that it has, such as 't1', or add the task"),
        (("ann", "t1", "1"), "'t1' is a task and 'ann' a worker .*: the columns .* be swapped"),
        (("t9", "ann", "1"), "there is no task 't9' in this campaign"),
        (("t1", "ann", "2"), "label must be one of '0', '1', found '2'"),
    ):
        with pytest.raises(ValueError, match=message):
            campaign.add_answers([wrong])


def test_the_audit_says_what_was_added(begin):
    campaign = begin(gold=GOLD, prior=0.5)
    with coming_from("hash"):
        campaign.add(
            workers=["x"], tasks=["u", "v"], qualities={"x": 0.6}, gold={"g3": "1"},
            gold_answers=[("g1", "ann", "1")],
        )  # fmt: skip
    message = "1 worker, 2 tasks, 1 gold label, 1 gold answer, qualities"
    query = "SELECT who, what, task, detail, address FROM audit"
    assert rows_of(campaign, query) == [("operator", "add", None, message, "hash")]
    campaign.close_tasks(["u"])
    campaign.add(tasks=["w"])
    with coming_from("x"):
        assert campaign.reopen() == 1
    assert rows_of(campaign, "SELECT closed, wanted FROM task WHERE name = 'u'") == [(0, 1)]
    assert rows_of(campaign, query)[1:] == [
        ("operator", "close", "u", None, None),
        ("operator", "add", None, "1 task", None),
        ("operator", "reopen", "u", None, "x"),
    ]


@pytest.mark.parametrize(
    ("kind", "field", "wrong"),
    [
        (Task, "name", 5),
        (Task, "kind", b"x"),
        (Task, "prior", "x"),
        (Task, "prior", -0.1),
        (Task, "prior", 1.47),
        (Task, "max_workers", 2**31),
        (Worker, "max_tasks", 2**31),
        (Worker, "cost", 1e6),
        (Task, "min_workers", None),
        (Task, "min_workers", -1),
        (Task, "max_workers", 2.5),
        (Worker, "name", None),
        (Worker, "team", 1),
        (Worker, "max_tasks", "many"),
        (Worker, "max_tasks", -1),
        (Worker, "cost", float("nan")),
    ],
)
def test_a_worker_or_task_of_what_cannot_be_is_refused_by_the_field(kind, field, wrong):
    with pytest.raises((TypeError, ValueError), match=rf"^{field} of (a )?{kind.__name__.lower()}"):
        kind(**{"name": "new"} | {field: wrong})


def test_numbers_of_numpy_are_numbers(begin):
    campaign = begin()
    one = Task("new", np.float64(0.25), np.int64(1), np.int32(2))
    campaign.add(workers=[Worker("dan", np.int64(3), np.float64(0.5))], tasks=[one])
    query = (
        "SELECT prior, min_workers, max_workers, typeof(max_workers) FROM task WHERE name = 'new'"
    )
    assert rows_of(campaign, query) == [(0.25, 1, 2, "integer")]
