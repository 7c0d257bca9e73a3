"""Fit the ordinal model to answers on a scale, and a confusion matrix of each worker on top of it.

Rounds alternate belief propagation with the crowd's own prior of types, the shares of steps and the
place of every step among the scores. A worker's confusion matrix is shrunk to the one that the
ordinal model expects; a task's own answers are left out of it (Dawid and Skene's model with a
cavity). Where gold per worker is plenty the matrices carry what no straight line does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_tvcs.answer_kinds.calibration import WIDTH, Evidence, score_given_step
from crowd_tvcs.answer_kinds.propagation import Edges, propagate
from crowd_tvcs.answer_kinds.worker_types import WorkerTypes, lapse_shares, worker_types
from crowd_tvcs.arrays import Floats, Integers, softmax, sum_by

ROUNDS = 2
STRENGTH = 5.0  # pseudo-tasks behind the share and the place of every step
TYPE_STRENGTH = 10.0  # pseudo-workers behind the prior of the types
ROW_STRENGTH = 10.0  # pseudo-answers of the ordinal model in a row of a confusion matrix
MATRIX_ROUNDS = 15
ACCURACY_STRENGTH = 5.0  # pseudo-answers of the crowd in a worker's accuracy
OPEN_WEIGHT = 0.3  # of a task without gold in matrices beside gold: errors are shared
FINE_WIDTH = 0.5  # of the scores of a step of unknown place


class OrdinalFit(NamedTuple):
    """The fitted model.

    Attributes
    ----------
    evidence
        Evidence of every task by the ordinal model.
    messages
        Log likelihood of every score by every answer, of shape (answers, scores).
    types
        The grid of worker types.
    type_posterior
        Probability of every type, of shape (workers, types).
    """

    evidence: Evidence
    messages: Floats
    types: WorkerTypes
    type_posterior: Floats


def fit_ordinal(edges: Edges, gold: Integers, n_steps: int, n_workers: int) -> OrdinalFit:
    """Fit the model to answers and to the step of every task, -1 where it is not known."""
    n_tasks = gold.size
    types = worker_types(n_steps, lapse_shares(edges.label, n_steps))
    type_prior = types.prior
    centres = np.arange(n_steps, dtype=np.float64)
    prior = gold_shares(gold, n_steps)
    n_answers = np.bincount(edges.task, minlength=n_tasks)
    for _ in range(ROUNDS):
        given = score_given_step(types.scores, centres, WIDTH)
        log_prior = np.log(np.where((gold >= 0)[:, None], given[gold], prior @ given) + 1e-12)
        messages, of_types = propagate(edges, types, type_prior, log_prior, n_workers)
        type_prior = of_types.sum(axis=0) + TYPE_STRENGTH * types.prior
        type_prior /= type_prior.sum()
        likelihood = sum_by(edges.task, messages, n_tasks)
        if (gold >= 0).any():
            centres = _centres(types.scores, likelihood, prior, gold, n_steps)
        else:
            posterior = softmax(np.log(prior) + _by_step(given, likelihood))
            prior = (posterior.sum(axis=0) + STRENGTH) / (n_tasks + STRENGTH * n_steps)
    evidence = Evidence(prior, likelihood, n_answers, types.scores, centres)
    return OrdinalFit(evidence, messages, types, of_types)


def gold_shares(gold: Integers, n_steps: int) -> Floats:
    """Return the share of every step in the gold, shrunk to even ones."""
    counts = np.bincount(gold[gold >= 0], minlength=n_steps)
    return (counts + STRENGTH) / (counts.sum() + STRENGTH * n_steps)


def _by_step(given: Floats, log_likelihood: Floats) -> Floats:
    """Return the log likelihood of every step, of shape (tasks, steps)."""
    top = log_likelihood.max(axis=1, keepdims=True)
    return np.log(np.exp(log_likelihood - top) @ given.T + 1e-300) + top


def _centres(
    scores: Floats, log_likelihood: Floats, prior: Floats, gold: Integers, n_steps: int
) -> Floats:
    """Return the mean score of the gold tasks of every step, shrunk to the step and monotone."""
    known = gold >= 0
    steps = np.arange(n_steps)
    before = prior @ score_given_step(scores, steps.astype(np.float64), FINE_WIDTH)
    mean = softmax(np.log(before) + log_likelihood[known]) @ scores
    total = np.bincount(gold[known], weights=mean, minlength=n_steps)
    count = np.bincount(gold[known], minlength=n_steps)
    return np.maximum.accumulate((total + STRENGTH * steps) / (count + STRENGTH))


class MatrixFit(NamedTuple):
    """Answers judged by confusion matrices that leave their task out.

    Attributes
    ----------
    prior
        Probability of every step.
    messages
        Log likelihood of every step by every answer, of shape (answers, steps).
    accuracy
        Accuracy of the worker of every answer, on other tasks.
    """

    prior: Floats
    messages: Floats
    accuracy: Floats


def fit_matrices(edges: Edges, gold: Integers, fit: OrdinalFit) -> MatrixFit:
    """Fit a confusion matrix of every worker, shrunk to what the ordinal model expects."""
    n_tasks, n_steps = gold.size, fit.evidence.prior.size
    n_workers = fit.type_posterior.shape[0]
    known = gold >= 0
    weight = np.where(known, 1.0, OPEN_WEIGHT)[:, None]
    one_hot = np.eye(n_steps)
    expected = _expected_rows(fit)[edges.worker, :, edges.label]  # of the answer, by true step
    cell = edges.worker * n_steps + edges.label
    posterior = softmax(1.5 * sum_by(edges.task, one_hot[edges.label], n_tasks))
    posterior[known] = one_hot[gold[known]]
    prior = gold_shares(gold, n_steps)
    for _ in range(MATRIX_ROUNDS):
        own = (weight * posterior)[edges.task]
        given = sum_by(cell, own, n_workers * n_steps)[cell]
        answered = sum_by(edges.worker, own, n_workers)[edges.worker]
        chances = (given - own + ROW_STRENGTH * expected) / (answered - own + ROW_STRENGTH)
        messages = np.log(chances)
        posterior = softmax(np.log(prior) + sum_by(edges.task, messages, n_tasks))
        posterior[known] = one_hot[gold[known]]
    right = (weight * posterior)[edges.task, edges.label]
    return MatrixFit(prior, messages, _accuracy(edges, right, weight[edges.task, 0], n_workers))


def _accuracy(edges: Edges, right: Floats, weight: Floats, n_workers: int) -> Floats:
    """Return the accuracy of the worker of every answer on other tasks, shrunk to the crowd's."""
    of_crowd = right.sum() / weight.sum()
    hits = np.bincount(edges.worker, right, n_workers)[edges.worker] - right
    answers = np.bincount(edges.worker, weight, n_workers)[edges.worker] - weight
    return (hits + ACCURACY_STRENGTH * of_crowd) / (answers + ACCURACY_STRENGTH)


def _expected_rows(fit: OrdinalFit) -> Floats:
    """Return the confusion matrix that the types expect, of shape (workers, true, answer)."""
    evidence, types = fit.evidence, fit.types
    assert evidence.scores is not None
    assert evidence.centres is not None
    given = score_given_step(evidence.scores, evidence.centres, WIDTH)
    of_type = np.einsum("yz,azl->ayl", given, types.likelihood)
    return np.tensordot(fit.type_posterior, of_type, axes=1)
