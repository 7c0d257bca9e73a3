"""Routing scores against enumeration, batches against their caps, and when to stop."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from pytest import approx

from crowd_tvcs import expected_accuracy
from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.belief.dependent import answer_likelihoods, dependent_posterior
from crowd_tvcs.belief.gain import gain_per_label
from crowd_tvcs.belief.uncertainty import separation, uncertainty
from crowd_tvcs.routing import is_worth_buying, next_batch, next_task, routing_scores
from crowd_tvcs.skills.dependence import Dependence


def random_posterior(rng, n_tasks, n_classes):
    return rng.dirichlet(np.ones(n_classes), n_tasks)


def u_of(chances):
    pairs = itertools.combinations(chances, 2)
    return sum(math.sqrt(a * b) for a, b in pairs)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_score_is_the_expected_drop_of_the_uncertainty(rng, n_classes):
    posterior = random_posterior(rng, 6, n_classes)
    matrices = rng.dirichlet(np.ones(n_classes), (4, n_classes))
    scores = routing_scores(posterior, matrices)
    for i, j in itertools.product(range(4), range(6)):
        left = 0.0
        for answer in range(n_classes):
            joint = posterior[j] * matrices[i, :, answer]
            left += joint.sum() * u_of(joint / joint.sum())
        assert scores[i, j] == approx(u_of(posterior[j]) - left, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_one_accuracy_scores_as_its_confusion_matrix(rng, n_classes):
    posterior = random_posterior(rng, 5, n_classes)
    accuracy = rng.uniform(0, 1, 7)
    by_matrix = routing_scores(posterior, even_matrices(accuracy, n_classes))
    assert routing_scores(posterior, accuracy) == approx(by_matrix, abs=1e-12)
    wide = np.repeat(accuracy[:, None], 5, axis=1)
    assert routing_scores(posterior, wide) == approx(by_matrix, abs=1e-12)


def test_for_two_classes_the_score_is_the_known_formula():
    posterior = np.array([[0.3, 0.7], [0.5, 0.5], [1.0, 0.0]])
    c, q = posterior.max(axis=1), np.array([0.9, 0.5, 0.2])
    assert uncertainty(posterior) == approx(np.sqrt(c * (1 - c)))
    expected = (1 - 2 * np.sqrt(q * (1 - q)))[:, None] * np.sqrt(c * (1 - c))
    assert routing_scores(posterior, q) == approx(expected, abs=1e-12)


def test_a_worker_who_never_errs_separates_and_a_guesser_does_not():
    assert separation(even_matrices(np.array([1.0, 1 / 3]), 3))[:, 0, 1] == approx([1.0, 0.0])


def test_the_next_task_is_open_and_has_the_largest_score():
    scores = np.array([0.1, 0.4, 0.4, 0.3])
    assert next_task(scores, np.array([True, True, True, True])) == 1
    assert next_task(scores, np.array([True, False, False, True])) == 3
    assert next_task(scores, np.zeros(4, dtype=bool)) is None
    assert next_task(np.zeros(4), np.ones(4, dtype=bool)) is None


def test_a_batch_has_the_largest_total_score_of_all_within_the_caps(rng):
    scores = rng.random((3, 3))
    is_open = rng.random((3, 3)) < 0.8
    chosen = next_batch(
        scores, is_open, max_tasks_per_worker=2, max_workers_per_task=[1, 2, 1], budget=3
    )
    assert not (chosen & ~is_open).any()
    best = 0.0
    for bits in itertools.product([False, True], repeat=9):
        pick = np.array(bits).reshape(3, 3)
        if (pick & ~is_open).any() or (pick.sum(axis=1) > 2).any() or pick.sum() > 3:
            continue
        if (pick.sum(axis=0) <= [1, 2, 1]).all():
            best = max(best, scores[pick].sum())
    assert scores[chosen].sum() == approx(best)


def test_a_batch_never_holds_a_pair_without_a_score():
    assert not next_batch(np.zeros((2, 2)), np.ones((2, 2), dtype=bool)).any()


def test_looking_ahead_agrees_with_the_exact_expected_accuracy():
    for prior, q in [(0.5, 0.7), (0.8, 0.7), (0.9, 0.6), (0.6, 0.6)]:
        posterior = np.array([[1 - prior, prior]])
        steps = [
            expected_accuracy(np.full((k, 1), q), np.ones((k, 1), dtype=bool), prior)[0]
            for k in range(1, 6)
        ]
        sure = max(prior, 1 - prior)
        expected = max(0.0, *((e - sure) / k for k, e in enumerate(steps, start=1)))
        assert gain_per_label(posterior, q)[0] == approx(expected, abs=1e-12)


def test_looking_ahead_with_three_classes_agrees_with_enumeration(rng):
    posterior = random_posterior(rng, 3, 3)
    q = rng.uniform(0.4, 0.9, 3)
    found = gain_per_label(posterior, q, max_labels=3)
    for j in range(3):
        matrix = even_matrices(q[j : j + 1], 3)[0]
        best = 0.0
        for k in (1, 2, 3):
            reached = sum(
                max(posterior[j, y] * math.prod(matrix[y, a] for a in votes) for y in range(3))
                for votes in itertools.product(range(3), repeat=k)
            )
            best = max(best, (reached - posterior[j].max()) / k)
        assert found[j] == approx(best, abs=1e-12)


def test_a_model_of_independent_workers_changes_no_gain_beyond_theirs(rng):
    """What the model says is more, since labels that agree are followed by no others."""
    for classes in (2, 4):
        posterior, q = random_posterior(rng, 6, classes), rng.uniform(0.55, 0.95, 6)
        alone = gain_per_label(posterior, q)
        options = {"dependence": Dependence(), "answers": 4}
        assert gain_per_label(posterior, q, **options, alone=posterior) == approx(alone)
        if classes == 2:  # of more, each is held against the likeliest by itself
            assert (gain_per_label(posterior, q, **options) >= alone - 1e-12).all()


def test_no_gain_is_more_than_independent_workers_would_add(rng):
    posterior, alone = random_posterior(rng, 50, 3), random_posterior(rng, 50, 3)
    options = {"dependence": MODEL, "answers": 3}
    free, theirs = gain_per_label(posterior, 0.7, **options), gain_per_label(alone, 0.7)
    found = gain_per_label(posterior, 0.7, **options, alone=alone)
    assert found.tolist() == np.minimum(free, theirs).tolist()
    assert 0 < (free < theirs).sum() < 50


MODEL = Dependence(0.9, 0.2, 1.0, 0.0, 0.06, 0.3, (0.1, 0.0, -0.1, 0.05, 0.2))


def voted(labels, q):
    """What the vote says of one task with these labels: chance of class 1."""
    rows = answer_likelihoods(np.array(labels, dtype=np.int64), np.full(len(labels), q), None, 2)
    task_of = np.zeros(len(labels), dtype=np.int64)
    return dependent_posterior(MODEL, rows, task_of, 1, np.full((1, 2), 0.5), 1.0)[0, 1]


def worth_of(labels, q, most, price, votes, is_first=True):
    """Right labels by the best rule that buys one, at a price per label, each as the votes say."""
    p, stops = votes(labels, q), max(votes(labels, q), 1.0 - votes(labels, q))
    if not most:
        return stops
    no, yes = (votes((*labels, label), q) for label in (0, 1))
    names = (p - no) / (yes - no)
    assert 0.0 <= names <= 1.0
    then = [worth_of((*labels, label), q, most - 1, price, votes, False) for label in (0, 1)]
    goes_on = float(np.dot([1.0 - names, names], then)) - price
    return goes_on if is_first else max(stops, goes_on)


@pytest.mark.parametrize("most", [1, 3, 5])
@pytest.mark.parametrize("labels", [(1,), (1, 0), (1, 1, 0), (1, 1, 1), (0, 1, 0, 1, 1), (1,) * 9])
def test_where_workers_err_together_a_label_moves_a_task_as_the_vote_does(labels, most):
    """The vote itself on every sequence of the next labels; the price is found by halving."""
    votes = cache(voted)
    p = votes(labels, 0.75)
    low, high = 0.0, 1.0
    while high - low > 1e-13:
        price = (low + high) / 2.0
        pays = worth_of(labels, 0.75, most, price, votes) > max(p, 1.0 - p)
        low, high = (price, high) if pays else (low, price)
    options = {"dependence": MODEL, "answers": len(labels), "max_labels": most}
    found = gain_per_label(np.array([[1.0 - p, p]]), 0.75, **options)[0]
    assert found == approx(low, abs=1e-11)


def test_votes_that_are_split_keep_a_gain_though_many_answers_are_worth_no_more_than_few():
    """Six to ten are worth as much as five here, but a label among them can still turn the vote."""
    model = Dependence(steps=(0.0, 0.0, 0.0, 0.0, -math.log(2.0)))
    assert 10 * model.factor(np.array(10)) == approx(5.0)
    gain = gain_per_label(np.array([[0.4, 0.6], [0.02, 0.98]]), 0.8, dependence=model, answers=5)
    assert gain[0] > 0.01
    assert gain[1] < 0.002


def test_a_label_of_one_who_tells_nothing_adds_nothing_where_workers_err_together():
    posterior = np.array([[0.5, 0.5], [1.0, 0.0]])
    for q in (0.5, 0.3):
        assert gain_per_label(posterior, q, dependence=MODEL, answers=3).tolist() == [0.0, 0.0]
    assert gain_per_label(posterior, 1.0, dependence=MODEL, answers=3)[1] == 0.0


def test_one_label_may_be_worth_nothing_where_three_are():
    posterior = np.array([[0.2, 0.8]])
    assert gain_per_label(posterior, 0.75, max_labels=1)[0] == approx(0.0, abs=1e-12)
    assert gain_per_label(posterior, 0.75, max_labels=3)[0] > 0.005


def test_no_label_is_worth_buying_for_a_certain_task_or_from_a_guesser():
    gain = gain_per_label(np.array([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]]), [0.9, 0.5, 0.9])
    assert is_worth_buying(gain, 0.0, value=1.0).tolist() == [False, False, True]
    assert is_worth_buying(gain, [1.0, 1.0, 0.5], value=1.0).tolist() == [False, False, False]
    assert is_worth_buying(gain, 0.5, value=1.5).tolist() == [False, False, True]
