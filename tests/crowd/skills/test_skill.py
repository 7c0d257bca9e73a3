"""Skills against a brute-force grid, enumeration and the crowds they were drawn from."""

import math

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from scipy.stats import beta as beta_distribution

from crowd_tvcs import vote
from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.skills.beta_prior import (
    FEW_STRENGTH,
    PRIOR_STRENGTH,
    STRENGTHS,
    beta_prior,
    prior_of,
)
from crowd_tvcs.skills.confusion import confusion_matrices
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.semi_supervised import compare_on_held_out_gold, refit_semi_supervised
from crowd_tvcs.skills.skill import reversed_doubt
from crowd_tvcs.skills.voting.little_gold import blend


def log_likelihood(n_gold, n_right, mean, strength):
    """The beta-binomial model as a product of chances, answer after answer."""
    out = -((math.log(strength) - math.log(PRIOR_STRENGTH)) ** 2) / 2
    for n, x in zip(n_gold, n_right, strict=True):
        a, b = mean * strength, (1 - mean) * strength
        for k in range(x):
            out += math.log((a + k) / (a + b + k))
        for k in range(n - x):
            out += math.log((b + k) / (a + b + x + k))
    return out


def crowd(rng, n_workers, n_gold, n_classes=2, n_other=0, accuracy=None):
    """Answers of all to all tasks, gold first, and their labels."""
    if accuracy is None:
        accuracy = rng.beta(7, 3, n_workers)
    truth = rng.integers(0, n_classes, n_gold + n_other)
    rows = []
    for j, label in enumerate(truth):
        for i, q in enumerate(accuracy):
            wrong = (label + rng.integers(1, n_classes)) % n_classes
            rows.append((f"t{j:03d}", f"w{i:02d}", str(label if rng.random() < q else wrong)))
    gold = Gold({f"t{j:03d}": str(truth[j]) for j in range(n_gold)}, list("0123456"[:n_classes]))
    return Answers.of(rows, classes=gold.classes), gold, truth, accuracy


def test_the_prior_is_the_likeliest_one_on_a_grid(rng):
    for n_workers in (6, 30, 100):
        n_gold = rng.integers(2, 15, n_workers)
        n_right = rng.binomial(n_gold, rng.beta(6, 3, n_workers))
        found = beta_prior(n_gold, n_right)
        best = log_likelihood(n_gold, n_right, found.mean, found.strength)
        grid = max(
            log_likelihood(n_gold, n_right, mean, strength)
            for mean in np.linspace(0.02, 0.98, 49)
            for strength in np.geomspace(*STRENGTHS, 40)
        )
        assert best >= grid - 1e-6
        assert found.source == "empirical-bayes"


def test_with_few_gold_answers_the_prior_is_worth_two_answers():
    found = prior_of("empirical-bayes", np.array([3, 2, 1, 1, 1]), np.array([3, 2, 1, 0, 0]))
    assert (found.mean, found.strength, found.source) == (7 / 10, FEW_STRENGTH, "two-answers")


def test_a_crowd_of_equals_is_shrunk_to_one_mean():
    n_gold, n_right = np.full(400, 40), np.array([29, 31] * 200)
    found = beta_prior(n_gold, n_right)
    assert found.strength > 100
    assert found.mean == approx(0.75, abs=2e-3)


def test_mean_and_interval_are_those_of_the_beta_posterior(rng):
    answers, gold, _, _ = crowd(rng, 12, 9)
    skill = estimate_quality(answers, gold, interval=0.8)
    m, s = skill.prior.mean, skill.prior.strength
    for i in range(12):
        x, n = skill.n_right[i], skill.n_gold[i]
        exact = beta_distribution(x + m * s, n - x + (1 - m) * s)
        assert skill.mean[i] == approx(exact.mean())
        assert skill.deviation[i] == approx(exact.std())
        assert (skill.low[i], skill.high[i]) == approx(exact.interval(0.8))
    assert skill.to_quality(["a", "b"]).values.tolist() == [[q, q] for q in skill.mean.tolist()]
    for tasks in ("t12", 12):
        with pytest.raises(TypeError, match="tasks must be a list of names, found "):
            skill.to_quality(tasks)
    assert (skill.lower_confidence_bound() < skill.mean).all()


def test_the_interval_holds_as_often_as_it_says(rng):
    inside = []
    for _ in range(10):
        answers, gold, _, accuracy = crowd(rng, 40, 10)
        skill = estimate_quality(answers, gold, interval=0.9)
        inside += ((skill.low <= accuracy) & (accuracy <= skill.high)).tolist()
    assert np.mean(inside) == approx(0.9, abs=0.03)


def test_shrinkage_beats_the_raw_rate(rng):
    raw, shrunk = [], []
    for _ in range(10):
        answers, gold, _, accuracy = crowd(rng, 40, 8)
        skill = estimate_quality(answers, gold)
        raw.append(np.mean((skill.n_right / skill.n_gold - accuracy) ** 2))
        shrunk.append(np.mean((skill.mean - accuracy) ** 2))
    assert np.mean(shrunk) < 0.7 * np.mean(raw)


def test_only_gold_tasks_count_and_a_worker_without_gold_has_the_crowds_mean():
    rows = [("g", "ann", "1"), ("t", "ann", "0"), ("t", "bob", "0")]
    skill = estimate_quality(Answers.of(rows), Gold({"g": "1", "h": "0"}))
    assert skill.n_gold.tolist() == [1, 0]
    assert skill.mean[1] == skill.prior.mean == 2 / 3
    assert skill.rows()[1][:3] == ("bob", 0, 0)
    assert list(skill.to_frame()["worker"]) == ["ann", "bob"]


@pytest.mark.parametrize(
    ("gold", "options", "message"),
    [
        ({"z": "1"}, {}, r"no gold task is answered: of the 1 gold task \('z'\) none is among"),
        ({"t": "1"}, {"prior": "none"}, "prior must be one of empirical-bayes, two-answers"),
        ({"t": "1"}, {"interval": 1.0}, "interval must be above 0 and below 1, found 1.0"),
    ],
)
def test_bad_arguments_are_refused(gold, options, message):
    answers = Answers.of([("t", "a", "1"), ("t", "b", "0")])
    with pytest.raises(ValueError, match=message):
        estimate_quality(answers, Gold(gold), **options)


def test_a_gold_label_that_nobody_gave_is_a_class_too():
    answers = Answers.of([("t", "a", "1"), ("t", "b", "0")])
    skill = estimate_quality(answers, Gold({"t": "2"}))
    assert skill.classes == ("0", "1", "2")
    assert skill.n_right.tolist() == [0, 0]


def test_gold_with_its_labels_exchanged_is_doubted_and_hard_gold_is_not(rng):
    answers, gold, truth, _ = crowd(rng, 5, 20, accuracy=np.full(5, 0.8))
    assert reversed_doubt(estimate_quality(answers, gold)) is None
    exchanged = Gold({f"t{j:03d}": str(1 - y) for j, y in enumerate(truth)}, gold.classes)
    message = reversed_doubt(estimate_quality(answers, exchanged))
    assert "of 100 gold answers are right, fewer than guesses would be (50)" in message
    hard, gold, _, _ = crowd(rng, 5, 20, n_classes=4, accuracy=np.full(5, 0.3))
    assert reversed_doubt(estimate_quality(hard, gold)) is None


def test_confusion_matrices_are_matrices_and_find_the_truth_with_many_answers(rng):
    true = rng.dirichlet([2, 2, 2], (8, 3)) * 0.4 + 0.6 * np.eye(3)
    counts = np.array([[rng.multinomial(3000, row) for row in worker] for worker in true])
    right = np.trace(counts, axis1=1, axis2=2)
    prior = beta_prior(np.full(8, 9000), right)
    found = confusion_matrices(counts, right / 9000, prior)
    assert found.sum(axis=2) == approx(np.ones((8, 3)))
    assert found == approx(true, abs=0.03)
    nothing = confusion_matrices(
        np.zeros((1, 3, 3)), np.array([0.7]), prior_of("two-answers", right, right)
    )
    assert nothing.sum(axis=2) == approx(np.ones((1, 3)))


def test_per_class_skills_predict_a_biased_worker_better(rng):
    rows, labels = [], rng.integers(0, 2, 60)
    for j, y in enumerate(labels):
        for i in range(8):
            q = (0.95, 0.55)[y]
            rows.append((f"t{j}", f"w{i}", str(y if rng.random() < q else 1 - y)))
    gold = Gold({f"t{j}": str(y) for j, y in enumerate(labels)})
    found = estimate_quality(Answers.of(rows), gold, per_class=True).matrices
    assert found[:, 0, 0].mean() == approx(0.95, abs=0.05)
    assert found[:, 1, 1].mean() == approx(0.55, abs=0.07)


def test_a_refresh_brings_skills_nearer_to_the_truth_where_the_model_holds(rng):
    answers, gold, _, accuracy = crowd(rng, 15, 6, n_other=120)
    before = estimate_quality(answers, gold)
    after = refit_semi_supervised(answers, gold, before)
    assert np.abs(after.mean - accuracy).mean() < 0.7 * np.abs(before.mean - accuracy).mean()
    assert (after.counts == before.counts).all()
    assert (after.deviation < before.deviation).all()
    found = compare_on_held_out_gold(answers, gold)
    assert found.gold == 6
    assert 0 <= found.refreshed <= 6


def test_a_refresh_counts_every_answer_once_with_its_chance_to_be_right(rng):
    answers, gold, _, _ = crowd(rng, 5, 4, n_classes=3, n_other=7)
    skill = estimate_quality(answers, gold)
    found = refit_semi_supervised(answers, gold, skill)
    chances = blend(answers, gold, skill).chances
    expected = np.zeros((5, 3, 3))
    for j, i, k in zip(answers.task_of, answers.worker_of, answers.label_of, strict=True):
        if answers.tasks[j] not in gold.labels:
            expected[i, :, k] += chances[j]
    assert found.learnt == approx(expected)


def test_one_gold_task_is_too_little_to_hold_out(rng):
    answers, _, truth, _ = crowd(rng, 4, 1, n_other=5)
    found = compare_on_held_out_gold(answers, Gold({"t000": str(truth[0])}, ["0", "1"]))
    assert (found.gold, found.without, found.refreshed) == (0, 0, 0)


def test_labels_of_gold_in_a_table_are_reviewed_as_on_the_command_line():
    """True and False were two classes beside 1 and 0, with a confidence of .99."""
    answers = pd.DataFrame(
        {"task": ["a", "a", "b", "b"], "worker": ["x", "y"] * 2, "label": [True, False, True, True]}
    )
    for function in (estimate_quality, vote):
        with pytest.raises(ValueError, match="gold and answers have no label in common"):
            function(answers, gold={"a": 1, "b": 0})
        with pytest.warns(UserWarning, match="^only gold task 'b' has the label 'maybe'"):
            function(answers, gold={"a": True, "b": "maybe"})
    named = Gold({"a": "1", "b": "0"}, ["0", "1", "True", "False"])
    assert estimate_quality(answers, named).classes == ("0", "1", "False", "True")


def test_a_vote_says_whose_arguments_mend_a_table():
    answers = pd.DataFrame({"task": ["a", "a"], "worker": ["x", "y"], "label": [1, 1]})
    with pytest.raises(ValueError, match="name the classes there may be with classes") as caught:
        vote(answers)
    assert "arguments of crowd_tvcs.read_answers" in caught.value.__notes__[0]
