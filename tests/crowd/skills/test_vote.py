"""Votes and posteriors against loops, and crowd-kit's aggregators behind the same name."""

import builtins

import numpy as np
import pandas as pd
import pytest
from pytest import approx

from crowd_tvcs import Quality, datasets
from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.answers.answers import Answers, Gold, write_answers
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.posterior import posterior
from crowd_tvcs.skills.voting.crowd_kit import NOT_USABLE, USABLE
from crowd_tvcs.skills.voting.vote import vote
from tests.makers.commands import run_done
from tests.makers.crowds import scattered


def by_loops(answers, matrices, prior):
    """Bayes' rule, task by task, as a product of chances."""
    out = np.array(np.broadcast_to(prior, (len(answers.tasks), len(answers.classes))))
    for task, worker, label in answers.rows():
        j, i = answers.tasks.index(task), answers.workers.index(worker)
        k = answers.classes.index(label)
        for y in range(len(answers.classes)):
            out[j, y] *= matrices[i][y][k]
    return out / out.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_posterior_is_bayes_rule(rng, n_classes):
    answers = scattered(rng, n_classes=n_classes)
    matrices = rng.dirichlet(np.ones(n_classes), (6, n_classes))
    prior = rng.dirichlet(np.ones(n_classes))
    found = posterior(answers, matrices, prior)
    assert found == approx(by_loops(answers, matrices, prior))
    each = rng.dirichlet(np.ones(n_classes), 12)
    assert posterior(answers, matrices, each) == approx(by_loops(answers, matrices, each))
    assert posterior(answers, matrices)[-1] == approx(np.full(n_classes, 1 / n_classes))


def test_accuracies_are_confusion_matrices_with_even_mistakes(rng):
    answers = scattered(rng)
    accuracy = rng.uniform(0.3, 0.9, 6)
    expected = posterior(answers, even_matrices(accuracy, 3))
    wide = np.repeat(accuracy[:, None], 12, axis=1)
    assert posterior(answers, accuracy) == approx(expected)
    assert posterior(answers, wide) == approx(expected)
    order = [3, 1, 5, 0, 2, 4]
    quality = Quality(wide[order], [answers.workers[i] for i in order], answers.tasks)
    assert posterior(answers, quality) == approx(expected)


def test_a_quality_may_differ_from_task_to_task(rng):
    answers = Answers.of([("t1", "a", "1"), ("t1", "b", "0"), ("t2", "a", "1"), ("t2", "b", "0")])
    found = posterior(answers, [[0.9, 0.6], [0.7, 0.8]])
    assert found[:, 1] == approx([0.9 * 0.3 / (0.9 * 0.3 + 0.1 * 0.7), 0.6 * 0.2 / 0.44])


def test_an_answer_to_a_pair_without_a_quality_tells_nothing():
    answers = Answers.of([("t", "a", "x"), ("t", "b", "y")], classes=["x", "y", "z"])
    quality = Quality([[0.6], [0.9]], ["a", "b"], ["t"], [[True], [False]])
    assert posterior(answers, quality)[0] == approx([0.6, 0.2, 0.2])


def test_two_workers_who_are_never_wrong_and_contradict_each_other_stay_finite():
    answers = Answers.of([("t", "a", "1"), ("t", "b", "0")])
    assert posterior(answers, [1.0, 1.0])[0] == approx([0.5, 0.5])
    assert posterior(answers, [1.0, 0.7])[0, 1] > 1 - 1e-8


def test_a_skill_is_found_by_the_names_of_workers_and_classes(rng):
    answers = scattered(rng)
    gold = Gold({"t00": "0", "t01": "2", "t02": "1", "t03": "1"}, ["2", "1", "0"])
    turned = Answers.of(answers.rows(), classes=["2", "1", "0"], workers=answers.workers[::-1])
    skill = estimate_quality(turned, gold, per_class=True, model="independent")
    shares = np.array([1 + 5, 2 + 5, 1 + 5]) / (4 + 15)  # of the gold, in the order of `answers`
    expected = by_loops(answers, skill.matrices[::-1, ::-1, ::-1], shares)
    assert posterior(answers, skill) == approx(expected)
    equal = by_loops(answers, skill.matrices[::-1, ::-1, ::-1], 1 / 3)
    assert posterior(answers, skill, [1 / 3] * 3) == approx(equal)


def test_the_weighted_vote_takes_the_largest_posterior_and_says_how_sure(rng):
    answers = scattered(rng)
    accuracy = rng.uniform(0.4, 0.9, 6)
    chances = posterior(answers, accuracy)
    votes = vote(answers, skill=accuracy)
    assert votes.label_of[:-1].tolist() == chances.argmax(axis=1)[:-1].tolist()
    assert votes.confidence[:-1] == approx(chances.max(axis=1)[:-1])
    assert votes.answers.tolist() == answers.per_task.tolist()
    frame = votes.to_frame().iloc[:-1]
    assert list(frame) == ["task", "label", "confidence", "answers"]
    assert dict(zip(frame["task"], frame["label"], strict=True)) == votes.labels


@pytest.mark.parametrize("prior", [None, [0.2, 0.8], [[0.2, 0.8], [0.01, 0.99]]])
def test_a_task_that_nobody_answered_has_no_label_whatever_the_prior(prior):
    answers = Answers.of([("t", "a", "1"), ("t", "b", "0")], tasks=["t", "u"])
    votes = vote(answers, skill=[0.6, 0.6], prior=prior)
    assert votes.labels == {"t": "0" if prior is None else "1"}
    assert votes.is_labelled.tolist() == [True, False]
    assert votes.confidence == approx([0.5 if prior is None else 0.8, np.nan], nan_ok=True)
    assert votes.rows()[-1][:2] == ("u", None)
    assert votes.to_frame().iloc[-1].isna().tolist() == [False, True, True, False]


def test_the_majority_counts_and_the_first_class_wins_a_tie():
    rows = [("t", "a", "y"), ("t", "b", "x"), ("u", "a", "y"), ("u", "b", "y"), ("u", "c", "x")]
    votes = vote(Answers.of(rows, tasks=["t", "u", "v"]), "majority")
    assert votes.labels == {"t": "x", "u": "y"}
    assert votes.share == approx([1 / 2, 2 / 3, np.nan], nan_ok=True)


def test_a_share_of_votes_is_no_confidence():
    """One label a task was called a confidence of 1."""
    votes = vote(Answers.of([("t", "a", "y"), ("u", "b", "x")], tasks=["t", "u", "v"]), "majority")
    assert np.isnan(votes.confidence).all()
    assert [row[:2] for row in votes.rows()] == [("t", "y"), ("u", "x"), ("v", None)]
    assert list(votes.to_frame()) == ["task", "label", "confidence", "answers", "share"]


@pytest.mark.parametrize(
    ("skill", "prior", "message"),
    [
        ([0.5, 1.2], None, "skill must hold probabilities"),
        ([0.5], None, "skill must have shape"),
        (np.full((2, 2, 2), 0.4), None, "rows of every confusion matrix must add up to 1"),
        (
            [0.5, 0.6],
            [0.5, 0.6],
            "prior must hold .*, found 0.5, 0.6, whose sum is 1.1",
        ),
        ([0.5, 0.6], [1.0], "prior must have shape"),
        (Quality([[0.6]], ["a"], ["t"]), None, "the skill of worker 'b' is missing"),
        (Quality([[0.6]] * 2, ["a", "b"], ["t"]), None, "task 'u' is missing; .* per worker"),
    ],
)
def test_a_bad_skill_or_prior_is_refused(skill, prior, message):
    answers = Answers.of([("t", "a", "1"), ("t", "b", "0"), ("u", "b", "0")])
    with pytest.raises(ValueError, match=message):
        posterior(answers, skill, prior)


def test_a_method_that_cannot_be_used_is_refused():
    answers = Answers.of([("t", "a", "1"), ("t", "b", "0")])
    with pytest.raises(
        ValueError, match="method must be one of weighted, unsupervised, majority, "
    ):
        vote(answers, "loudest")
    with pytest.raises(ValueError, match="the weighted vote needs a skill"):
        vote(answers, "weighted")
    for name, given in (("skill", [0.5] * 2), ("prior", [0.5] * 2), ("dependence", Dependence())):
        with pytest.raises(
            ValueError, match=f"method majority uses the answers alone, but has a {name}"
        ):
            vote(answers, "majority", **{name: given})
    for name in NOT_USABLE:
        with pytest.raises(ValueError, match=f"crowd-kit's {name} is not offered: "):
            vote(answers, name)


def test_a_missing_crowd_kit_says_how_to_install_it(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("crowdkit"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    answers = Answers.of([("t", "a", "1"), ("t", "b", "0")])
    with pytest.raises(ValueError, match=r"pip install '.\[crowdkit\]'"):
        vote(answers, "DawidSkene")


def easy_crowd(rng):
    truth = rng.integers(0, 2, 40)
    rows = [
        (f"t{j:02d}", f"w{i}", str(truth[j] if rng.random() < 0.85 else 1 - truth[j]))
        for j in range(40)
        for i in range(5)
    ]
    return Answers.of(rows, tasks=[*(f"t{j:02d}" for j in range(40)), "u"]), truth


SLOW = {"MACE"}


@pytest.mark.parametrize(
    "method", [pytest.param(m, marks=pytest.mark.slow if m in SLOW else ()) for m in USABLE]
)
def test_crowd_kits_aggregators_vote(rng, method):
    pytest.importorskip("crowdkit")
    answers, truth = easy_crowd(rng)
    votes = vote(answers, method)
    assert (votes.label_of[:-1] == truth).mean() > 0.9
    assert np.isnan(votes.confidence).all()
    assert votes.rows()[-1][:2] == ("u", None)


def test_majority_agrees_with_crowd_kit(rng):
    pytest.importorskip("crowdkit")
    answers = scattered(rng)
    ours, theirs = vote(answers, "majority"), vote(answers, "MajorityVote")
    assert ours.label_of.tolist() == theirs.label_of.tolist()
    assert ours.share == approx(theirs.share, nan_ok=True)


def test_crowd_kit_needs_an_answer():
    pytest.importorskip("crowdkit")
    answers = Answers.of([], tasks=["t"], workers=["a"], classes=["0", "1"])
    with pytest.raises(ValueError, match="crowd-kit needs answers, found none"):
        vote(answers, "DawidSkene")
    assert vote(answers, "majority").labels == {}


def test_gold_in_python_votes_as_the_command_does(tmp_path):
    crowd = datasets.crowd40()
    answers, gold = tmp_path / "answers.csv", tmp_path / "gold.csv"
    write_answers(answers, crowd.answers)
    pd.Series(crowd.gold.labels, name="label").rename_axis("task").to_csv(gold)
    run_done("vote", answers, "--gold", gold, "--out", tmp_path / "out")
    written = pd.read_csv(tmp_path / "out" / "labels.csv", dtype={"label": str, "task": str})
    votes = vote(crowd.answers, gold=crowd.gold)
    pd.testing.assert_frame_equal(votes.to_frame(), written)


@pytest.mark.filterwarnings("ignore:the only gold task has the label")
def test_gold_tasks_keep_their_label_by_every_method():
    answers = Answers.of([("t", "a", "x"), ("t", "b", "x"), ("t", "c", "y"), ("u", "a", "x")])
    votes = vote(answers, "majority", gold={"t": "y"})
    assert votes.labels == {"t": "y", "u": "x"}
    assert (votes.confidence[0], votes.share[0]) == (1.0, approx(1 / 3))
    with pytest.warns(UserWarning, match="only gold task 't' has the label 'z'"):
        assert vote(answers, gold={"t": "z"}).labels["t"] == "z"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"skill": [0.9, 0.8, 0.7]}, "give gold or their accuracies, not both"),
        ({"dependence": Dependence()}, "give gold or dependence, not both"),
    ],
)
def test_gold_beside_what_it_shows_is_refused(given, said):
    answers = Answers.of([("t", "a", "x"), ("t", "b", "y"), ("u", "c", "x")])
    with pytest.raises(ValueError, match=said):
        vote(answers, gold={"t": "x", "u": "y"}, **given)


def test_gold_with_exchanged_labels_is_warned_of():
    rows = [(f"t{j:02d}", w, "yn"[j % 2]) for j in range(20) for w in "abcd"]
    with pytest.warns(UserWarning, match="in the same order"):
        vote(Answers.of(rows), gold={f"t{j:02d}": "ny"[j % 2] for j in range(15)})
