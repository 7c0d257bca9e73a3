"""What a campaign begins with: every setting as it was given, and where each of them ends."""

import json

import numpy as np
import pytest

from crowd_tvcs.campaign import Campaign, Task, Worker
from crowd_tvcs.campaign.entries import AnswerRecord, check_different
from crowd_tvcs.campaign.estimates import first_model
from crowd_tvcs.campaign.settings import check_range, classes_of, count_of, prior_of_classes
from crowd_tvcs.campaign.store.schema import UNLIMITED
from tests.makers.campaigns import rows_of


def rows(campaign, table, names):
    return rows_of(campaign, f"SELECT {names} FROM {table} ORDER BY id")


def settings_of(campaign):
    row = campaign.state().settings._asdict()
    return row | {name: json.loads(row[name]) for name in ("classes", "prior")}


def test_what_is_given_is_kept(begin):
    workers = [Worker("ann", cost=0.1234564, team="x"), Worker("bob", 2, 0.5), Worker("cy", 0, 0)]
    tasks = [Task("t1", min_workers=2), Task("t2", max_workers=1), Task("t3")]
    campaign = begin(
        workers=workers,
        tasks=tasks,
        classes=["a", "b", "c"],
        prior=[0.2, 0.3, 0.5],
        budget=7,
        money=1.25,
        max_workers_per_task=3,
        max_tasks_per_worker=4,
        min_quality=0.1,
        target=0.9,
        min_gain=0.01,
        model="independent",
        lease_seconds=60,
        seed=5,
    )
    assert settings_of(campaign) == {
        "id": 1, "schema_version": 7, "revision": 0, "seed": 5, "classes": ["a", "b", "c"],
        "prior": [0.2, 0.3, 0.5], "budget": 7, "money": 1_250_000, "max_workers_per_task": 3,
        "max_tasks_per_worker": 4, "min_quality": 0.1, "target": 0.9, "lease_seconds": 60.0,
        "per_pair": 0, "source": "table", "slots": 0, "answers": 0, "committed": 0, "missing": 2,
        "rounds": 0, "dependence": None, "shares_of_gold": 0, "confidence_threshold": None,
        "min_gain": 0.01, "best": 0.9, "paused": None, "secret": None, "answer_kind": None,
            "n_workers": 3,
    }  # fmt: skip
    names = "name, max_tasks, cost, team, quality, habits, slots, answers, blocked"
    assert rows(campaign, "worker", names) == [
        ("ann", 4, 123_456, "x", 0.9, None, 0, 0, None),
        ("bob", 2, 500_000, None, 0.8, None, 0, 0, None),
        ("cy", 0, 0, None, 0.7, None, 0, 0, None),
    ]
    names = "name, prior, min_workers, max_workers, closed, slots, answers, wanted, needy"
    assert rows(campaign, "task", names) == [
        ("t1", None, 2, 3, 0, 0, 0, 1, 1),
        ("t2", None, 0, 1, 0, 0, 0, 1, 0),
        ("t3", None, 0, 3, 0, 0, 0, 1, 0),
    ]


def test_what_is_not_given_is_no_limit(begin):
    campaign = begin()
    found = settings_of(campaign)
    expected = {
        "seed": 0, "classes": ["0", "1"], "prior": [0.5, 0.5], "budget": None, "money": None,
        "max_workers_per_task": None, "max_tasks_per_worker": None, "min_quality": 0.0, "target":
        1.0, "lease_seconds": 900.0, "shares_of_gold": 0, "min_gain": None, "missing": 0,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert found["dependence"] is not None
    assert rows(campaign, "worker", "max_tasks, cost") == [(UNLIMITED, 0)] * 3
    assert rows(campaign, "task", "max_workers, wanted, needy") == [(UNLIMITED, 1, 0)] * 3
    uncertainty = [row[0] for row in rows(campaign, "task", "uncertainty")]
    assert uncertainty == pytest.approx([4 * 0.5] * 3)  # before the first label


def test_a_worth_of_labels_is_asked_for_beside_a_target_only():
    """Not without a target, nor where workers err independently, nor where none is wanted."""
    for model, target, given, expected in (
        ("dependent", 0.99, None, 0.01), ("dependent", 0.99, 0.0, None),
        ("dependent", 0.99, 0.2, 0.2), ("dependent", 1.0, None, None),
        ("dependent", 1.0, 0.2, 0.2), ("independent", 0.99, None, None),
    ):  # fmt: skip
        row = first_model(model, target, given)
        assert row["min_gain"] == expected
        assert (row["dependence"] is None) == (model == "independent")


def test_the_shares_of_gold_are_the_prior_unless_one_is_given(begin):
    gold = {f"g{k}": "1" if k < 3 else "0" for k in range(4)}
    found = settings_of(begin(gold=gold))
    assert found["shares_of_gold"] == 1
    assert found["prior"][1] > 0.5
    assert found["source"] == "table"  # as qualities were given
    found = settings_of(begin(gold=gold, prior=0.25))
    assert (found["shares_of_gold"], found["prior"]) == (0, [0.75, 0.25])
    answers = [(task, "ann", label) for task, label in gold.items()]
    found = settings_of(begin(qualities=None, gold=gold, gold_answers=answers, model="independent"))
    assert (found["source"], found["per_pair"]) == ("gold", 0)


def test_the_best_worker_of_two_classes_may_be_the_worst(begin):
    """Whose answers are turned round; with more classes nobody can."""
    qualities = {"ann": 0.05, "bob": 0.8, "cy": 0.7}
    assert settings_of(begin(qualities=qualities))["best"] == pytest.approx(0.95)
    assert settings_of(begin(qualities=qualities, classes=["a", "b", "c"]))["best"] == 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": []}, "a campaign needs workers and tasks"),
        ({"workers": ["ann", "ann"]}, "every worker must be there once, found 'ann' twice"),
        ({"tasks": ["t1", "t1"]}, "every task must be there once, found 't1' twice"),
        ({"tasks": [Task("t1", min_workers=4)], "budget": 3}, "ask for 4 labels, the budget has 3"),
        ({"gold": {"g": "x"}}, "gold label of 'g' must be one of .* found 'x'"),
        ({"money": 5}, "money needs the cost of a label of every worker, found none for 'ann'"),
        ({"gold_answers": [("g1", "ann", "1")]}, "gold answers need the gold labels"),
        ({"qualities": None}, "needs qualities, or gold labels that show who is good"),
        ({"workers": [""]}, "name of a worker must not be empty"),
        ({"money": 1e12 + 1e3}, "money must be from 0 to 1e.12"),
        ({"min_gain": 1.01}, "min_gain must be from 0 to 1, found 1.01"),
        ({"min_gain": -0.01}, "min_gain must be from 0 to 1, found -0.01"),
        ({"target": 1.01}, "target must be from 0 to 1, found 1.01"),
        ({"min_quality": -0.01}, "min_quality must be from 0 to 1, found -0.01"),
        ({"lease_seconds": 0.0009}, "lease_seconds must be from 0.001 to 1e.09, found 0.0009"),
        ({"lease_seconds": 1.1e9}, "lease_seconds must be from 0.001 to 1e.09"),
        ({"model": "both"}, "model must be one of dependent, independent, found 'both'"),
        ({"seed": -1}, "seed must be an integer >= 0, found -1"),
        ({"max_workers_per_task": -1}, "max_workers_per_task must be an integer >= 0"),
        ({"max_tasks_per_worker": -1}, "max_tasks_per_worker must be an integer >= 0"),
        ({"qualities": {"ann": 2.0}}, "quality of worker 'ann' must be from 0 to 1, found 2.0"),
        ({"qualities": {"ann": float("nan")}}, "quality of worker 'ann' must be from 0 to 1"),
        ({"gold": {"": "1"}}, "task of gold must not be empty"),
        ({"gold": {"g": "1"}, "gold_answers": [("g", "ann", "1")] * 2}, "answers task 'g' twice"),
        ({"classes": ["a", "nul\0"]}, "classes must be text, found a character 0 in 'nul"),
        ({"min_quality": 10**400}, "min_quality must be from 0 to 1, found 1000"),
    ],
)
def test_beyond_its_end_no_setting_is_taken(begin, tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        begin(**options)
    assert list(tmp_path.iterdir()) == []


def test_at_their_ends_settings_are_taken(begin):
    low = {"budget": 0, "money": 0.0, "max_workers_per_task": 0, "max_tasks_per_worker": 0}
    free = [Worker(name, cost=0.0) for name in ("ann", "bob", "cy")]
    low |= {
        "min_quality": 0.0,
        "target": 0.0,
        "min_gain": 0.0,
        "lease_seconds": 0.001,
        "workers": free,
    }
    assert settings_of(begin(**low))["lease_seconds"] == 0.001
    high = {
        "budget": UNLIMITED - 1,
        "money": 1e12,
        "min_quality": 1.0,
        "target": 1.0,
        "min_gain": 1.0,
    }
    found = settings_of(begin(**high, lease_seconds=1e9, workers=free))
    assert (found["money"], found["min_gain"]) == (10**18, 1.0)


def test_what_is_no_setting_by_itself():
    assert count_of("cap", None) is None
    assert count_of("cap", UNLIMITED - 1) == UNLIMITED - 1
    with pytest.raises(ValueError, match="cap must be below 2147483647, or left out"):
        count_of("cap", UNLIMITED)
    assert check_range("x", 2, 1.0, 2.0) == 2.0
    assert isinstance(check_range("x", 2, 1.0, 2.0), float)
    with pytest.raises(ValueError, match="x must be from 1 to 2, found inf"):
        check_range("x", float("inf"), 1.0, 2.0)
    for wrong in (["a"], ["a", "a"], ["a", ""]):
        with pytest.raises(ValueError, match="at least two different names"):
            classes_of(wrong)
    assert classes_of(("b", "a")) == ["b", "a"]


def test_chances_of_the_classes():
    assert prior_of_classes(None, 4) == [0.25] * 4
    assert prior_of_classes(0.25, 2) == [0.75, 0.25]
    assert prior_of_classes(np.float32(0.25), 2) == [0.75, 0.25]
    assert prior_of_classes([0.0, 1.0], 2) == [0.0, 1.0]
    assert prior_of_classes([0.5, 0.5 + 9e-7], 2) == [0.5, 0.5 + 9e-7]
    for wrong in ([0.5, 0.5 + 2e-6], [0.5, 0.5 - 2e-6], [-0.1, 1.1], [1.0], [0.5, 0.3, 0.2], 1.5):
        with pytest.raises(ValueError, match="prior must be 2 probabilities that add up to 1"):
            prior_of_classes(wrong, 2)
    with pytest.raises(ValueError, match="prior must be one number per class, 3 of them"):
        prior_of_classes(0.5, 3)
    with pytest.raises(TypeError, match="prior must be an array of real numbers"):
        prior_of_classes(10**400, 2)


def test_an_answer_without_a_table_is_named_by_what_is_wrong():
    assert str(AnswerRecord("t", "w", "1").error("no")) == "no"
    assert AnswerRecord("t", "w", "1").row == 0


@pytest.mark.parametrize("field", ["task", "worker", "label", "when", "seconds"])
@pytest.mark.parametrize(
    "wrong",
    [5.0, "x", -5, 0, float("nan"), 1e13, 10**400, object(), "nul\0"],
    ids=lambda one: type(one).__name__,
)
def test_an_answer_of_what_cannot_be_is_refused_by_the_field(field, wrong):
    given = {"task": "t", "worker": "w", "label": "1"} | {field: wrong}
    if wrong == (5.0 if field in ("when", "seconds") else "x"):
        assert getattr(AnswerRecord(**given), field) == wrong
    else:
        with pytest.raises((TypeError, ValueError), match=f"^{field} of an answer must "):
            AnswerRecord(**given)


def test_an_answer_at_the_first_moment_of_1970_has_no_time(begin):
    campaign = begin()
    task = campaign.next("ann", now=0.0).task
    campaign.submit("ann", task, "1", now=0.0)
    assert campaign.state().answers.when is None
    assert check_different("task", ["b", "a"]) == ["a", "b"]


@pytest.mark.parametrize("wrong", [2.5, object(), True, [3.5]])
@pytest.mark.parametrize(
    "named",
    [
        "workers",
        "tasks",
        "qualities",
        "gold",
        "gold_answers",
        "prior",
        "budget",
        "money",
        "min_quality",
        "target",
        "seed",
    ],
)
def test_an_argument_of_another_kind_is_named_and_no_store_is_left(named, wrong, tmp_path):
    given = {"workers": ["ann"], "tasks": ["t1"], "qualities": {"ann": 0.9}} | {named: wrong}
    with pytest.raises((TypeError, ValueError), match=named[:-1]):
        Campaign.create(tmp_path / "new.db", **given)
    assert not (tmp_path / "new.db").exists()
