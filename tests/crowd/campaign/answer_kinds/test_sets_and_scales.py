"""Campaigns that ask for several labels, or for a step of an ordered scale."""

import numpy as np
import pytest

from crowd_tvcs.answer_kinds.label_sets import read_label_sets
from crowd_tvcs.answer_kinds.multilabel import vote_on_sets
from crowd_tvcs.answer_kinds.scale import vote_on_scale
from crowd_tvcs.answers.answers import read_answers
from crowd_tvcs.answers.gold import Gold
from crowd_tvcs.campaign import Campaign, RejectedError, Task
from crowd_tvcs.campaign.answer_kinds.votes import vote_by_kind
from tests.makers.commands import crowd_tvcs, run_done, run_refused

PEOPLE = ["ann", "bob", "cy"]
TASKS = [f"t{k}" for k in range(8)]
LABELS = ["cat", "dog", "cow"]
GOLD = {f"g{k}": text for k, text in enumerate(["cat", "cat;dog", "none", "cow;dog", "dog"])}
STEPS = ["1", "2", "3", "4", "5"]


def begun(tmp_path, **more):
    given = {"workers": PEOPLE, "tasks": TASKS, "classes": LABELS, "answer_kind": "multilabel"}
    return Campaign.create(tmp_path / "c.db", **given | more)


@pytest.fixture
def campaign(tmp_path):
    lines = [(task, who, text) for task, text in GOLD.items() for who in PEOPLE]
    lines[0] = (lines[0][0], "ann", "dog")
    with begun(tmp_path, gold=GOLD, gold_answers=lines, max_workers_per_task=2) as made:
        yield made


def answer_all(campaign, label_of):
    while True:
        offers = [(name, campaign.next(name).task) for name in PEOPLE]
        for name, task in offers:
            if task is not None:
                campaign.submit(name, task, label_of(name, task))
        if all(task is None for _, task in offers):
            return


def test_one_answer_is_one_row_of_several_labels(campaign):
    task = campaign.next("ann").task
    receipt = campaign.submit("ann", task, "cow; cat")
    assert (receipt.label, receipt.confidence) == ("cat;cow", None)
    assert campaign.submit("ann", task, "cat;cow;").reason == "known already"
    assert campaign.state().given[0][2] == 0b101
    campaign.undo("ann")
    assert campaign.submit("ann", task, "none").label == "none"


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("cat;fox", "'fox' is no label, found 'cat;fox'"),
        ("cat;none", "must stand alone"),
        ("cat;;dog", "on both sides"),
    ],
)
def test_what_is_no_set_is_refused(campaign, label, message):
    task = campaign.next("ann").task
    with pytest.raises(RejectedError, match=message):
        campaign.submit("ann", task, label)


def test_fewest_answers_come_first_up_to_the_caps(campaign):
    counts = []

    def label_of(name, task):
        counts.append(campaign.state().count(3).tolist())
        return "cat" if int(task[1:]) % 2 else "dog;cow"

    answer_all(campaign, label_of)
    assert all(max(one) - min(one) <= 1 for one in counts)
    assert [t.answers for t in campaign.state().tasks] == [2] * 8
    assert {one.verdict for one in campaign.review_tasks()} == {"full"}


def test_the_vote_is_that_of_multilabel_on_the_same_answers(campaign, tmp_path):
    answer_all(campaign, lambda name, task: "cat" if int(task[1:]) % 2 else "dog;cow")
    found = vote_by_kind(campaign.state())
    assert found.of_task["t1"][0] == "cat"
    assert found.of_task["t2"][0] == "dog;cow"
    assert "on 5 gold tasks" in found.sentences[0]
    store = str(tmp_path / "c.db")
    crowd_tvcs("campaign", "export-answers", store, "--out", tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text()
    gold = "".join(
        f"{task},{who},{'dog' if (task, who) == ('g0', 'ann') else text}\n"
        for task, text in GOLD.items()
        for who in PEOPLE
    )
    rows = [",".join(line.split(",")[:3]) for line in text.splitlines()]
    (tmp_path / "all.csv").write_text("\n".join(rows) + "\n" + gold)
    sets = {task: frozenset(cell.split(";")) - {"none"} for task, cell in GOLD.items()}
    alone = vote_on_sets(read_label_sets(tmp_path / "all.csv", LABELS), sets)
    of_tasks = {row[0]: row[1:3] for row in alone.task_rows(";", "none")}
    assert all(found.of_task[task] == of_tasks[task] for task in TASKS)


def test_gold_is_right_as_a_whole(campaign):
    quality = {w.name: w.quality for w in campaign.state().workers}
    assert quality["ann"] < quality["bob"] == quality["cy"]


def test_what_is_settled_is_the_result_and_measures_nothing(campaign):
    campaign.submit("ann", campaign.next("ann").task, "cat")
    campaign.settle("t0", "dog")
    with pytest.raises(RejectedError, match="'fox' is no label"):
        campaign.settle("t1", "fox")
    rows = vote_by_kind(campaign.state()).rows
    assert rows[0][:3] == ("t0", "dog", 1.0)
    assert len(rows) == len(TASKS)
    assert next(one for one in campaign.review_tasks() if one.task == "t0").verdict == "settled"


def test_a_label_can_be_added_and_none_goes_away(campaign):
    task = campaign.next("ann").task
    campaign.submit("ann", task, "cat")
    campaign.change(new_classes=["fox"])
    campaign.submit("bob", campaign.next("bob").task, "fox;cat")
    assert campaign.state().classes == (*LABELS, "fox")
    with pytest.raises(ValueError, match="2 to 30 labels"):
        campaign.change(new_classes=[f"more {k}" for k in range(30)])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"target": 0.9}, "target is for classes and scales"),
        ({"prior": [0.2, 0.3, 0.5]}, "prior is for classes and scales"),
        ({"min_gain": 0.1}, "min_gain is for classes and scales"),
        ({"qualities": {"ann": 0.9}}, "qualities is for classes and scales"),
        ({"classes": ["cat"]}, "at least two different names"),
        ({"classes": ["cat", "none"]}, "must not be 'none'"),
        ({"classes": ["cat", "a;b"]}, "nor hold ';'"),
        ({"gold": {"g": "fox"}}, "the gold label of 'g' must be any of"),
        ({"answer_kind": "spans"}, "answer_kind must be one of"),
        ({"tasks": [Task("t", prior=0.5)], "classes": ["cat", "dog"]}, "no prior"),
    ],
)
def test_what_only_classes_have_is_refused(tmp_path, more, message):
    with pytest.raises(ValueError, match=message):
        begun(tmp_path, **more)


def test_there_is_no_plan_of_several_labels(campaign):
    with pytest.raises(ValueError, match="have no plan: next and the desk"):
        campaign.plan(labels=2)
    with pytest.raises(ValueError, match="min_gain is for classes"):
        campaign.review_tasks(min_gain=0.1)


@pytest.fixture
def scale(tmp_path):
    gold = {f"g{k}": str(1 + k % 5) for k in range(10)}
    rng = np.random.default_rng(0)
    lines = [
        (task, who, str(np.clip(int(step) + rng.integers(-1, 2), 1, 5)))
        for task, step in gold.items()
        for who in PEOPLE
    ]
    with Campaign.create(
        tmp_path / "c.db", workers=PEOPLE, tasks=TASKS, gold=gold, gold_answers=lines,
        classes=STEPS, answer_kind="scale", seed=3,
    ) as made:  # fmt: skip
        yield made


def test_a_scale_is_voted_on_by_its_order(scale, tmp_path):
    for _task in TASKS:
        for name in PEOPLE:
            scale.submit(name, scale.next(name).task, "4" if name == "ann" else "5")
    state = scale.state()
    found = vote_by_kind(state)
    rows = [(TASKS[j], PEOPLE[i], STEPS[k]) for i, j, k in state.given] + state.gold_answers
    (tmp_path / "a.csv").write_text(
        "task,worker,label\n" + "".join(",".join(row) + "\n" for row in rows)
    )
    known = Gold({task: STEPS[k] for task, k in state.gold.items()}, STEPS)
    alone = vote_on_scale(read_answers(tmp_path / "a.csv", STEPS), known, rng=3)
    expected = {row[0]: row for row in alone.rows()}
    for row in found.rows:
        assert row[:2] == expected[row[0]][:2]
        assert row[2:5] == pytest.approx(expected[row[0]][2:5])
    assert "on 10 gold tasks" in found.sentences[1]
    assert "as classes without an order" in found.sentences[2]
    status = {one.task: one.confidence for one in scale.review_tasks()}
    assert status["t0"] == found.of_task["t0"][1]


def test_steps_stay_as_they_were_promised(scale):
    with pytest.raises(RejectedError, match="begin a new campaign"):
        scale.change(new_classes=["6"])


@pytest.mark.parametrize(
    ("steps", "message"), [("1,2,4", "found 4 after 2"), ("1,2", "3 to 21 steps")]
)
def test_a_scale_with_gaps_is_refused(tmp_path, steps, message):
    for name, text in (("t", "task\nt1\n"), ("w", "worker\nann\n"), ("g", "task,label\ng,2\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    words = [
        f"--{kind}={tmp_path / name}.csv"
        for kind, name in (("tasks", "t"), ("workers", "w"), ("gold", "g"))
    ]
    err = run_refused("campaign", "init", tmp_path / "s.db", "--scale", steps, *words)
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "s.db").exists()


def test_the_commands_say_what_is_of_classes_alone(campaign, tmp_path):
    store = tmp_path / "c.db"
    for words, message in (
        (("report", store, "--out", tmp_path / "r.html"), "a report is of classes"),
        (("plan", store), "have no plan"),
    ):
        assert message in run_refused("campaign", *words)
    done = run_done("campaign", "status", store)
    assert "expected accuracy" not in done.stdout
    done = crowd_tvcs("campaign", "export-labels", store)
    assert done.stdout.startswith("task,label,confidence,answers\nt0,,,0\n")
    err = run_refused("campaign", "init", tmp_path / "x.db", "--labels", "a,b", "--classes", "a,b")
    assert "give one of --classes, --scale, --labels and --pairs" in err
