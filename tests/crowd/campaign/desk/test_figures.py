"""The figures, seats and tables of a desk, each by hand from a few turns; links; learning."""

import hashlib

import pytest

from crowd_tvcs.belief.intervals import wilson
from crowd_tvcs.campaign import RejectedError, Task, Worker
from crowd_tvcs.campaign.desk import figures, gold, tables
from crowd_tvcs.campaign.desk.access import Links, hashed
from crowd_tvcs.campaign.desk.content import Content, read_content, set_content, text_of
from crowd_tvcs.campaign.desk.gold import Learner, mix_in
from crowd_tvcs.campaign.desk.worker_activity import list_worker_activity
from tests.makers.campaigns import rows_of
from tvcs_core import DataError

WORKERS = [
    Worker("ann", max_tasks=3, cost=0.5), Worker("bob", cost=0.25), Worker("cy", cost=0.125),
]  # fmt: skip
TASKS = ["t1", "t2", "t3", Task("t4", max_workers=1)]
TOLD = [("g1", "ann", "1"), ("g2", "bob", "1"), ("g1", "new", "1")]


@pytest.fixture
def desk(begin):
    """Three workers after some turns: gold to ann and bob, and a task still with bob."""
    campaign = begin(
        workers=WORKERS, tasks=TASKS, gold={"g1": "1", "g2": "0", "t1": "1", "t2": "0"},
        gold_answers=TOLD, prior=0.5, model="independent", budget=20, money=10.0,
    )  # fmt: skip
    assert mix_in(campaign.store, {}, ()) == (2, 0)
    for share, name, task, label, now in (
        (0.0, "ann", "t1", "1", 10.0), (0.0, "bob", "t2", "1", 20.0), (0.0, "cy", "t3", "1", 30.0),
        (0.0, "cy", "t4", "0", 40.0), (1.0, "ann", "g2", "0", 50.0), (1.0, "bob", "g1", "0", 60.0),
        (0.0, "cy", "t2", "0", 70.0), (0.0, "bob", "t3", None, 80.0),
    ):  # fmt: skip
        campaign.gold_share = share
        assert campaign.next(name, now=now).task == task
        if label is not None:
            campaign.submit(name, task, label, now=now + len(name))
    return campaign


def test_the_figures(desk):
    rows = {task.name: task for task in desk.state().tasks}
    sure = sum(rows[name].confidence for name in ("t1", "t2", "t3", "t4"))
    found = figures.figures(desk.store)
    assert vars(found) == {
        "tasks": 4, "answers": 7, "pending": 1, "budget": 20, "money": 10.0,
        "spent": pytest.approx(2 * 0.5 + 2 * 0.25 + 3 * 0.125),
        "expected_accuracy": pytest.approx(sure / 4), "unlabelled": 0, "forecast": None,
        "measured": 0.5, "measured_on": 2, "gold_tasks": 2, "gold_answers": 2, "gold_right": 0.5,
        "gold_expected": pytest.approx((0.9 + 0.8) / 2), "warning": "", "paused": False,
        "closed": 0, "wanted": 3, "full": 1, "revision": desk.state().settings.revision,
        "binding": [
            "1 task has all the workers it may have",
            "2 workers have answered all the gold there is, and get no more of it",
        ],
    }  # fmt: skip


def test_waiting_and_exhausted_limits_are_reported(begin):
    campaign = begin(
        workers=WORKERS, tasks=TASKS, budget=4, money=1.0, model="independent",
    )  # fmt: skip
    empty = figures.figures(campaign.store)
    assert (empty.answers, empty.spent, empty.binding) == (0, 0.0, [])
    assert (empty.measured, empty.measured_on, empty.gold_tasks, empty.full) == (None, 0, 0, 0)
    assert (empty.gold_answers, empty.gold_right, empty.gold_expected) == (0, None, None)
    assert (empty.expected_accuracy, empty.unlabelled) == (None, 4)
    for name in ("ann", "bob", "bob"):
        campaign.submit(name, campaign.next(name).task, "1")
    campaign.close_tasks(["t4"])
    campaign.pause()
    found = figures.figures(campaign.store)
    assert (found.paused, found.closed, found.wanted) == (True, 1, 3)
    assert found.binding == ["the money is used up or out with workers"]
    campaign = begin(workers=WORKERS, tasks=TASKS, budget=3, model="independent")
    for _ in range(3):
        campaign.submit("ann", campaign.next("ann").task, "1")
    assert figures.figures(campaign.store).money is None
    assert figures.figures(campaign.store).binding == [
        "the budget of 3 labels is used up or out with workers",
        "1 worker has all the tasks they may have",
    ]


def test_the_seats(desk):
    Links(desk.store).make(["ann", "ann", "bob"], now=1.0)
    Links(desk.store).revoke(["bob"], now=2.0)
    desk.block("cy")
    ann, bob, cy = sorted(list_worker_activity(desk.store), key=lambda seat: seat.name)
    low, high = wilson(1.0, 2)
    assert vars(ann) == {
        "name": "ann", "answers": 2, "quality": 0.9, "blocked": False, "open": 0, "gold": 2,
        "right": 2, "low": low, "high": high, "agreement": None, "seconds": 3.0, "last_seen": 53.0,
        "links": 1, "fast": 0,
    }  # fmt: skip
    low, high = wilson(0.0, 2)
    assert vars(bob) == {
        "name": "bob", "answers": 2, "quality": 0.8, "blocked": False, "open": 1, "gold": 2,
        "right": 0, "low": low, "high": high, "agreement": 1.0, "seconds": 3.0, "last_seen": 80.0,
        "links": 0, "fast": 0,
    }  # fmt: skip
    assert vars(cy) == {
        "name": "cy", "answers": 3, "quality": 0.7, "blocked": True, "open": 0, "gold": 0,
        "right": 0, "low": None, "high": None, "agreement": 0.0, "seconds": 2.0, "last_seen": 72.0,
        "links": 0, "fast": 0,
    }  # fmt: skip
    assert [seat.name for seat in list_worker_activity(desk.store)] == ["cy", "ann", "bob"]


def test_who_disagrees_with_the_likeliest_label(begin):
    campaign = begin(tasks=["t1", "t2"], model="independent")
    for name, label in (("ann", "1"), ("bob", "0"), ("cy", "1")):
        for task, message in (("t1", label), ("t2", "1")):
            assert campaign.next(name, now=5.0).task == task
            campaign.submit(name, task, message, now=5.0)
    seats = {seat.name: seat for seat in list_worker_activity(campaign.store)}
    assert [seats[name].agreement for name in ("ann", "bob", "cy")] == [1.0, 0.5, 1.0]
    assert seats["ann"].seconds is None
    assert seats["ann"].last_seen == 5.0


def test_a_desk_where_nobody_sat(begin):
    campaign = begin(workers=["ann"], qualities={"ann": 0.6})
    found = list_worker_activity(campaign.store)[0]
    assert (found.open, found.gold, found.right, found.links, found.answers) == (0, 0, 0, 0, 0)
    assert (found.low, found.agreement, found.seconds, found.last_seen) == (None, None, None, None)
    campaign.plan(labels=1, method="fast")
    found = list_worker_activity(campaign.store)[0]
    assert (found.open, found.last_seen) == (0, None)  # of a round, which nobody was given here


def test_the_least_sure_tasks_and_their_answers(desk):
    tasks = {task.name: task for task in desk.state().tasks}
    order = sorted(tasks, key=lambda name: (tasks[name].confidence, tasks[name].id))
    found = figures.least_confident(desk.store)
    assert [row["task"] for row in found] == order == ["t2", "t3", "t4", "t1"]
    assert found[2] == {
        "task": "t4", "label": "0", "confidence": pytest.approx(0.7), "answers": [("cy", "0")],
    }  # fmt: skip
    assert found[0]["answers"] == [("bob", "1"), ("cy", "0")]
    assert [row["task"] for row in figures.least_confident(desk.store, 2)] == ["t2", "t3"]
    desk.close_tasks(["t3"])
    assert [row["task"] for row in figures.least_confident(desk.store)] == ["t2", "t4", "t1"]
    assert figures.LEAST_CONFIDENT == 5


def test_the_tables(desk):
    sure = {task.name: pytest.approx(task.confidence) for task in desk.state().tasks}
    assert tables.labels(desk.store)[1] == [
        ["t1", "1", sure["t1"], 1], ["t2", "1", sure["t2"], 2], ["t3", "1", sure["t3"], 1],
        ["t4", "0", sure["t4"], 1],
    ]  # fmt: skip
    assert [row[:3] for row in tables.answers(desk.store)] == [
        ["t1", "ann", "1"], ["t2", "bob", "1"], ["t3", "cy", "1"], ["t4", "cy", "0"],
        ["t2", "cy", "0"],
    ]  # fmt: skip
    assert tables.gold_answers(desk.store) == [
        ["g1", "ann", "1"], ["g1", "bob", "0"], ["g1", "new", "1"], ["g2", "ann", "0"],
        ["g2", "bob", "1"],
    ]  # fmt: skip


def test_what_nobody_answered_has_no_label_on_the_page_and_in_the_table(begin):
    campaign = begin(workers=WORKERS, tasks=TASKS, model="independent")
    name = campaign.next("ann").task
    campaign.submit("ann", name, "1")
    rows = {row[0]: row[1:] for row in tables.labels(campaign.store)[1]}
    assert rows.pop(name)[::2] == ["1", 1]
    assert list(rows.values()) == [["", "", 0]] * 3
    assert [row["task"] for row in figures.least_confident(campaign.store)] == [name]
    found = figures.figures(campaign.store)
    assert (found.unlabelled, found.expected_accuracy) == (3, pytest.approx(0.9))
    standing = {one.task: (one.label, one.confidence) for one in campaign.review_tasks()}
    assert standing.pop(name) == ("1", pytest.approx(0.9))
    assert set(standing.values()) == {(None, None)}


def test_a_point_of_the_curve_per_number_of_answers(desk, monkeypatch):
    assert figures.note_history(desk.store, 1.0) is True
    assert figures.note_history(desk.store, 2.0) is False
    desk.submit("bob", "t3", "1", now=90.0)
    assert figures.note_history(desk.store, 3.0) is True
    found = figures.curve(desk.store)
    assert [n for n, _ in found] == [7, 8]
    assert found[1][1] == pytest.approx(desk.state().expected_accuracy)
    assert found[0][1] < found[1][1]
    desk.submit("ann", desk.next("ann", now=99.0).task, "1", now=100.0)
    looked = iter([True, False])  # another is faster
    monkeypatch.setattr(figures, "_is_new", lambda *_: next(looked))
    assert figures.note_history(desk.store, 4.0) is False
    assert len(figures.curve(desk.store)) == 2


@pytest.mark.parametrize(
    ("mean_confidence", "measured", "number", "message"),
    [
        (0.9, 0.83, 100, "more"), (0.9, 0.97, 100, "less"), (0.9, 0.85, 100, ""),
        (0.9, 0.95, 100, ""), (0.5, 0.25, 16, ""), (0.5, 0.2499, 16, "more"),
        (1.0, 0.91, 10, ""), (1.0, 0.89, 10, "more"), (0.0, 0.09, 10, ""), (0.0, 0.11, 10, "less"),
    ],
)  # fmt: skip
def test_a_claim_is_apart_by_two_standard_errors_and_an_answer(
    mean_confidence, measured, number, message
):
    found = figures._gap(mean_confidence, measured, number, "answers", "{} are claimed")
    assert found.endswith(f": {message} than can be chance") if message else found == ""


def test_claims_that_differ_from_measurements_are_reported(begin):
    names = [f"t{j}" for j in range(9)]
    campaign = begin(
        workers=["ann"], tasks=names, gold=dict.fromkeys([*names, *"abcdefgh"], "1"), prior=0.5,
        qualities={"ann": 0.95}, model="independent",
    )  # fmt: skip
    mix_in(campaign.store, {}, ())
    for share, count in ((0.0, 9), (1.0, 8)):
        campaign.gold_share = share
        for _ in range(count):
            # Where no other task is left there is no gold either.
            task = campaign.next("ann").task
            if task is not None:
                campaign.submit("ann", task, "0")
        if share == 0.0:
            campaign.add(tasks=[Task("last", prior=0.95)])
    campaign.gold_share = 0.0
    assert campaign.next("ann").task == "last"
    campaign.submit("ann", "last", "0")  # as unsure as can be, and with no known label
    assert campaign.state().posterior[:, 0].min() == pytest.approx(0.5)
    assert figures.figures(campaign.store).warning == (
        "of the 9 answered tasks whose label is known 0% are right, and 95% are claimed: more than "
        "can be chance; of the 8 answers to gold among the tasks 0% are right, and skills say 95%: "
        "more than can be chance"
    )
    assert gold.learn(campaign.store) is False  # as qualities come from a table


def test_links_are_made_known_and_revoked(desk):
    links = Links(desk.store)
    made = links.make(None, now=1.0)
    assert sorted(made) == ["ann", "bob", "cy"]
    assert [links.holder(made[name]) for name in sorted(made)] == ["ann", "bob", "cy"]
    again = links.make(["ann"], now=2.0)
    assert again["ann"] != made["ann"]
    assert Links(desk.store).holder(again["ann"]) == "ann"  # by the same secret
    assert links.secret == Links(desk.store).secret
    assert len(links.secret) >= 32
    assert links.holder(made["ann"] + "x") is None
    assert links.revoke(["ann"], now=3.0) == 2
    assert links.revoke(["ann", "bob"], now=4.0) == 1
    assert [links.holder(made[name]) for name in sorted(made)] == [None, None, "cy"]
    assert links.make([], now=5.0) == {}
    for change in (links.make, links.revoke):
        with pytest.raises(RejectedError, match="there is no worker 'zoe' in this campaign"):
            change(["zoe"], now=6.0)
    first = rows_of(desk, "SELECT worker_id, token_hash, made, revoked FROM access")[0]
    assert first == (1, hashlib.sha256(made["ann"].encode()).hexdigest(), 1.0, 3.0)
    assert hashed("x") == hashlib.sha256(b"x").hexdigest()
    assert rows_of(desk, "SELECT at, who, what, detail FROM audit") == [
        (1.0, "operator", "links", "3 made"), (2.0, "operator", "links", "1 made"),
        (3.0, "operator", "revoke", "ann"), (4.0, "operator", "revoke", "ann"),
        (4.0, "operator", "revoke", "bob"), (5.0, "operator", "links", "0 made"),
    ]  # fmt: skip


def test_gold_is_learned_from_now_and_then(begin):
    campaign = begin(
        qualities=None, gold={"g1": "1", "g2": "0", "g3": "1"}, gold_answers=TOLD, prior=0.5,
        model="independent",
    )  # fmt: skip
    mix_in(campaign.store, {}, ())
    learner, campaign.gold_share = Learner(campaign.store), 1.0
    assert learner.learn(0.0) is False  # nothing new
    before = {w.name: w.quality for w in campaign.state().workers}
    task = campaign.next("ann", now=1.0).task
    campaign.submit("ann", task, "1" if task == "g3" else "0", now=2.0)
    assert learner.learn(100.0) is True
    after = {w.name: w.quality for w in campaign.state().workers}
    assert after["ann"] > before["ann"]
    task = campaign.next("ann", now=101.0).task
    campaign.submit("ann", task, "0" if task == "g3" else "1", now=102.0)
    assert learner.learn(159.9) is False  # not yet
    assert learner.learn(160.0) is True
    assert {w.name: w.quality for w in campaign.state().workers}["ann"] < after["ann"]
    assert learner.learn(900.0) is False


def test_no_gold_to_put_among_the_tasks_is_reported(begin):
    campaign = begin(model="independent")
    with pytest.raises(ValueError, match="mixed with the others, but the campaign has none: give"):
        mix_in(campaign.store, {}, ())
    with pytest.raises(ValueError, match="but all 1 are tasks that need labels: give other ones"):
        mix_in(campaign.store, {"t1": "1"}, ())
    assert campaign.state().gold == {}
    assert mix_in(campaign.store, {"t1": "1", "g1": "0"}, ()) == (1, 0)
    assert mix_in(campaign.store, {}, ()) == (1, 0)
    with campaign.store.read() as (connection, _):
        rows = connection.exec_driver_sql("SELECT * FROM task WHERE name = 'g1'").mappings().all()
    found = dict(rows[0])
    assert found.pop("id") == 4
    assert found.pop("uncertainty") == pytest.approx(0.5)
    assert found == {
        "name": "g1", "prior": None, "min_workers": 0, "max_workers": 2**31 - 1, "closed": 2,
        "slots": 0, "answers": 0, "label": 0, "confidence": 0.5, "wanted": 0, "needy": 0,
        "settled": None,
    }  # fmt: skip
    assert gold.LEARN_SECONDS == 60.0


def test_content_at_its_ends(begin, tmp_path):
    path = tmp_path / "a.ndjson"
    path.write_text('{"task": "t1", "text": "%s", "n": 1.5}\n' % ("x" * 999_997))
    found = read_content(path)["t1"]
    assert (len(found.text), found.fields) == (999_997, {"n": "1.5"})
    path.write_text('{"task": "t1", "text": "%s", "n": 12}\n' % ("x" * 999_999))
    with pytest.raises(DataError, match="task 't1' has more than 1000000 characters"):
        read_content(path)
    path.write_text('{"task": "t1", "text": true}\n')
    with pytest.raises(DataError, match="column 'text': must be text or a number"):
        read_content(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="must be UTF-8"):
        text_of(path)
    store = begin().store
    assert set_content(store, {}, path) == 3
    assert set_content(store, {"t1": Content("é")}, path) == 2
    assert set_content(store, {"t1": Content("new"), "t2": Content("two")}, path) == 1
    with store.read() as (connection, _):
        bodies = [row[0] for row in connection.exec_driver_sql("SELECT body FROM content")]
    assert bodies[0] == '{"text": "new", "image": "", "audio": "", "video": "", "fields": {}}'
