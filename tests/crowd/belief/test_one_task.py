"""Beliefs of one task in plain Python against those of many tasks in arrays."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pytest import approx

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.belief.constants import ACCURACY_MARGIN, LOOK_AHEAD, MIN_PROBABILITY
from crowd_tvcs.belief.dependent import (
    WeightedAnswer,
    answer_likelihoods,
    dependent_posterior,
    dependent_posterior_of_task,
    log_odds,
    log_odds_of_worker,
)
from crowd_tvcs.belief.gain import gain_per_label, gain_per_label_of_task
from crowd_tvcs.belief.independent import (
    even_log_likelihood,
    independent_posterior,
    independent_posterior_of_task,
    priors,
)
from crowd_tvcs.belief.parameters import DependenceParams
from crowd_tvcs.belief.uncertainty import (
    affinity,
    even_separation,
    separation,
    uncertainty,
    uncertainty_of_task,
)
from crowd_tvcs.skills.dependence_fit import NO_GOLD

CLASSES = st.integers(2, 6)
ENDS = [0.0, 1.0, 0.5, 0.25, 1e-300, 1e-9, 1e-3, 1.0 - 1e-3, 1.0 - 1e-9, 1.0 - 2**-53]
CHANCES = st.sampled_from(ENDS) | st.floats(0.0, 1.0)
COUNTS = st.sampled_from([0, 1, 2, 3, 5, 9, 10, 11, 30, 31, 1_000_000]) | st.integers(0, 40)
MODELS = st.builds(
    DependenceParams,
    temperature=st.sampled_from([0.05, 1.0, 3.0]) | st.floats(0.1, 2.0),
    overlap=st.sampled_from([0.0, 1.0, 9.0]) | st.floats(0.0, 2.0),
    shares=st.floats(0.1, 2.0),
    blend=st.sampled_from([0.0, 1.0]) | st.floats(0.0, 1.0),
    common=st.sampled_from([0.0, 0.9]) | st.floats(0.0, 0.5),
    contrast=st.sampled_from([0.0, 1.0]) | st.floats(0.0, 1.0),
    steps=st.tuples(*[st.floats(-2.0, 2.0)] * 5),
    last=st.integers(10, 40),
)


@st.composite
def of_classes(draw, k):
    """Probabilities of classes, some of them 0."""
    weights = draw(st.lists(st.sampled_from([0.0, 1e-12, 1.0]) | CHANCES, min_size=k, max_size=k))
    total = math.fsum(weights)
    return [w / total for w in weights] if total > 0.0 else [1.0] + [0.0] * (k - 1)


@st.composite
def tasks(draw, most=8):
    """Prior, labels, and accuracy and confusion matrix of every worker of one task."""
    k = draw(st.integers(2, 4))
    n = draw(st.integers(0, most))
    labels = draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    accuracy = draw(st.lists(CHANCES, min_size=n, max_size=n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    matrices = rng.dirichlet(np.full(k, 0.1), (n, k)).round(rng.integers(0, 9))
    matrices /= np.maximum(matrices.sum(axis=2, keepdims=True), 0.5)
    return draw(of_classes(k)), labels, accuracy, matrices.tolist()


def in_arrays(prior):
    return priors([prior], 1, len(prior))


def no_task(n):
    return np.zeros(n, dtype=np.int64)


def of_arrays(model, task, with_matrices, shares):
    prior, labels, accuracy, matrices = task
    k, n = len(prior), len(labels)
    own = np.array(matrices).reshape(n, k, k) if with_matrices else None
    rows = answer_likelihoods(np.array(labels, dtype=np.int64), np.array(accuracy), own, k)
    return dependent_posterior(model, rows, no_task(n), 1, in_arrays(prior), shares)[0]


def of_one(model, task, with_matrices, shares):
    prior, labels, accuracy, matrices = task
    own = [tuple(map(tuple, m)) if with_matrices else None for m in matrices]
    answers = [WeightedAnswer(*one) for one in zip(labels, accuracy, own, strict=True)]
    return dependent_posterior_of_task(model, prior, answers, shares)


@given(tasks(most=12))
@settings(max_examples=100)
def test_the_posterior_of_independent_workers(task):
    prior, labels, accuracy, _ = task
    likely = even_log_likelihood(
        np.array(accuracy), np.array(labels, dtype=np.int64), len(prior)
    ).reshape(len(labels), len(prior))
    expected = independent_posterior(in_arrays(prior), likely, no_task(len(labels)))[0]
    found = independent_posterior_of_task(prior, zip(labels, accuracy, strict=True))
    assert found == approx(expected.tolist(), abs=1e-12)
    assert sum(found) == approx(1.0, abs=1e-12)


@given(MODELS, tasks(), st.booleans(), st.sampled_from([1.0, 0.4]))
@settings(max_examples=100)
def test_the_posterior_under_dependent_errors(model, task, with_matrices, shares):
    found = of_one(model, task, with_matrices, shares)
    assert found == approx(of_arrays(model, task, with_matrices, shares).tolist(), abs=1e-11)
    assert sum(found) == approx(1.0, abs=1e-12)


@pytest.mark.parametrize("accuracy", [0.0, 0.5, 0.7, 1.0])
def test_the_posteriors_of_very_many_answers(accuracy):
    labels = [0, 1, 1] * 4_000
    task = [0.5, 0.5], labels, [accuracy] * len(labels), [[[0.6, 0.4], [0.1, 0.9]]] * len(labels)
    for with_matrices in (False, True):
        expected = of_arrays(NO_GOLD, task, with_matrices, 1.0)
        assert of_one(NO_GOLD, task, with_matrices, 1.0) == approx(expected.tolist(), abs=1e-8)
    likely = even_log_likelihood(np.array(task[2]), np.array(labels), 2)
    expected = independent_posterior(in_arrays(task[0]), likely, no_task(len(labels)))[0]
    found = independent_posterior_of_task(task[0], zip(labels, task[2], strict=True))
    assert found == approx(expected.tolist(), abs=1e-8)


@given(MODELS, COUNTS | st.integers(0, 10**15))
def test_the_weight_of_n_answers(model, n):
    assert model.factor_of_task(n) == approx(float(model.factor(np.array(n))), rel=1e-12)


@given(CHANCES, CLASSES)
def test_log_odds_affinity_and_separation_of_a_worker(accuracy, k):
    one = np.array([accuracy])
    assert log_odds_of_worker(accuracy, k) == approx(log_odds(one, k)[0], rel=1e-12, abs=1e-12)
    apart = even_separation(one, k)[0]
    assert 1.0 - affinity(accuracy, k) == approx(apart, abs=1e-12)
    assert separation(even_matrices(one, k))[0, 0, 1] == approx(apart, abs=1e-12)
    assert 0.0 <= affinity(accuracy, k) <= 1.0


@given(CLASSES.flatmap(of_classes))
def test_the_uncertainty_of_a_task(chances):
    found = uncertainty_of_task(chances)
    assert found == approx(uncertainty(np.array([chances]))[0], abs=1e-12)
    assert found >= 0.0


@given(
    CLASSES.flatmap(lambda k: st.tuples(of_classes(k), of_classes(k))),
    CHANCES,
    st.none() | MODELS,
    COUNTS,
    st.integers(-2, 9),
    st.booleans(),
)
@example(([1.0, 0.0], [0.0, 1.0]), 1.0, None, 0, 5, False)
@example(([0.5, 0.5], [0.5, 0.5]), 0.5, DependenceParams(), 0, 5, True)
@settings(max_examples=100)
def test_the_gain_of_the_next_labels(both, accuracy, model, answers, room, is_limited):
    chances, alone = both
    most = max(0, min(room, LOOK_AHEAD))
    options = {"dependence": model, "answers": [answers], "max_labels": [most]}
    if is_limited:
        options["alone"] = np.array([alone])
    expected = gain_per_label(np.array([chances]), accuracy, **options)[0]
    limit = alone if is_limited else None
    found = gain_per_label_of_task(chances, accuracy, model, answers, room, limit)
    assert found == approx(expected, abs=1e-9)
    assert found >= 0.0
    assert (room > 0) or found == 0.0


def test_nan_is_refused_where_probabilities_come_in():
    for prior in ([math.nan, 0.5], [[math.nan, 1.0]]):
        with pytest.raises(ValueError, match="prior must hold probabilities"):
            priors(prior, 1, 2)


def test_many_sure_answers_are_no_overflow():
    posterior = independent_posterior_of_task
    assert posterior([0.5, 0.5], [(1, 1.0)] * 60) == approx([0.0, 1.0], abs=1e-300)
    assert posterior([0.5, 0.5], [(1, 1.0), (0, 0.0)]) == approx([0.0, 1.0], abs=1e-15)
    assert posterior([1.0, 0.0], []) == approx([1.0, MIN_PROBABILITY], rel=1e-6)
    # One who is certain is taken to be this sure, not by a billionth more.
    assert posterior([0.5, 0.5], [(1, 1.0)])[0] == approx(MIN_PROBABILITY, rel=1e-12, abs=0)


def test_workers_who_are_certain_or_guess():
    assert affinity(1.0, 2) == affinity(0.0, 2) == 0.0
    assert affinity(0.5, 2) == affinity(0.25, 4) == 1.0
    assert affinity(0.0, 4) == approx(2 / 3)
    assert uncertainty_of_task([1.0, 0.0, 0.0]) == 0.0
    assert uncertainty_of_task([0.25] * 4) == approx(6 * 0.25)


def test_without_answers_the_posterior_of_a_task_is_its_prior():
    assert dependent_posterior_of_task(NO_GOLD, [0.3, 0.7], [], 1.0) == approx([0.3, 0.7])
    found = dependent_posterior_of_task(NO_GOLD, [0.5, 0.5], [WeightedAnswer(1, 0.9)], 1.0)
    assert found[1] > 0.8


@pytest.mark.parametrize("surer", [1.0 - ACCURACY_MARGIN / 2, 1.0])
def test_no_worker_is_taken_to_be_surer_than_the_model_takes_them(surer):
    chances = [0.6, 0.4]
    most = gain_per_label_of_task(chances, 1.0 - ACCURACY_MARGIN, NO_GOLD, 2)
    assert gain_per_label_of_task(chances, surer, NO_GOLD, 2) == most > 0.3


def test_a_label_of_a_guesser_gains_nothing():
    assert gain_per_label_of_task([0.5, 0.5], 0.5, None, 0) == 0.0
    assert gain_per_label_of_task([0.5, 0.5], 0.8, None, 0) == approx(0.3)
    assert gain_per_label_of_task([1.0, 0.0], 0.8, None, 0) == 0.0
    # With 30 classes three labels have 4960 outcomes, so only two are looked ahead.
    k, q = 30, 0.8
    assert gain_per_label_of_task([1 / k] * k, q, None, 0) == approx(q - 1 / k)
