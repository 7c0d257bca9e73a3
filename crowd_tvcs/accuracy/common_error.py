"""Common errors: votes of workers who answer the apparent class of a task.

With probability 1 - e the apparent class z of a task is its true class y; otherwise it is drawn
from pi, the *shares*, independently of y. Given z workers answer independently, with matrices R. So
e is the fraction of tasks on which many answers carry no more information than one.

**The matrices R.** Gold shows M = A R with A = (1 - e) I + e 1 pi^T, and pi^T M = pi^T R. Hence

    R = M + e / (1 - e) * (M - 1 pi^T M),

here with entries of at least `MIN_PROBABILITY` and normalised rows, since M may be more accurate
than a crowd with this error can be. If y is drawn from pi too, the value of one answer does not
change.

**The prior of z.** The distribution of y is p = (1 - e) s + e pi, if s is that of z: at the
beginning, where both are pi, and after any answers. So s = (p - e pi) / (1 - e), at least 0.

**The accuracy.** Let t[z] = s[z] * prod of R[z, answer] be the joint probability of an outcome (all
answers) and z. That of the outcome and y is (1 - e) t[y] + e pi[y] * sum of t, so

    E = sum over outcomes of max over y of ((1 - e) t[y] + e pi[y] * sum of t).

**A bound that is a vote.** With c[z] = e * (largest pi of another class than z) and
d[y] = max(0, 1 - e + e (pi[y] - largest pi of another class than y)),

    E <= c . s + sum over outcomes of max over y of d[y] t[y],

because e pi[y] <= c[z] for z other than y, and the sum over outcomes of t[z] is s[z]. The last sum
is the accuracy of a vote that begins with the weights d * s in place of s. With two classes, and
with equal shares, this is an equation; equal shares have d = 1 - e and c . s = e / K.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowd_tvcs.accuracy.many_classes import MAX_OUTCOMES, VoteScore, accuracy_under, large_team
from crowd_tvcs.accuracy.model import AnswerModel, adding_up_to_one, answer_model, model_of
from crowd_tvcs.accuracy.two_classes import expected_accuracy
from crowd_tvcs.arrays import Bools, Floats

MIN_PROBABILITY = 1e-4  # of an answer given any apparent class; keeps the clipped R close to M


def seeming_quality(quality: Floats, common_error: float, n_classes: int = 2) -> Floats:
    """Return accuracies of even workers given the apparent class, for equally frequent classes.

    An uninformative worker, of accuracy 1 / K, stays uninformative.
    """
    guess = 1.0 / n_classes
    right = guess + (quality - guess) / (1.0 - common_error)
    wrong = np.maximum((1.0 - right) / (n_classes - 1), MIN_PROBABILITY)
    right = np.maximum(right, MIN_PROBABILITY)
    return right / (right + (n_classes - 1) * wrong)


def seeming_matrices(matrices: Floats, prior: Floats, common_error: float) -> Floats:
    """Return matrices given the apparent class, from those given the true one.

    `matrices` has shape (..., classes, classes) and `prior` (..., classes).
    """
    average = (prior[..., :, None] * matrices).sum(axis=-2, keepdims=True)
    moved = matrices + common_error / (1.0 - common_error) * (matrices - average)
    moved = np.maximum(moved, MIN_PROBABILITY)
    return moved / moved.sum(axis=-1, keepdims=True)


def seeming_prior(prior: Floats, shares: Floats, common_error: float) -> Floats:
    """Return the distribution of the apparent class: s, as above; one row per task."""
    if prior is shares:
        return prior
    out = np.maximum(0.0, prior - common_error * shares)
    return adding_up_to_one(out)


def seeming_model(
    quality: Floats, prior: Floats, confusion: Floats | None, common_error: float, shares: Floats
) -> AnswerModel:
    """Return the model of answers to the apparent class; arguments as in `answer_model`.

    `shares` are pi, one row per task; if they are `prior` itself, so is the prior of the result.
    """
    rows, of_task = np.unique(shares, axis=0, return_inverse=True)
    seems, n_classes = seeming_prior(prior, shares, common_error), prior.shape[1]
    if len(rows) == 1 and rows.min() == rows.max():
        if confusion is None:
            return answer_model(seeming_quality(quality, common_error, n_classes), seems, None)
        return answer_model(quality, seems, seeming_matrices(confusion, rows[0], common_error))
    by_pair = answer_model(quality, prior, confusion)
    pair = by_pair.kind * len(rows) + of_task.reshape(-1)
    which, kind = np.unique(pair, return_inverse=True)
    matrix, row = np.divmod(which, len(rows))
    matrices = seeming_matrices(by_pair.matrices[matrix], rows[row], common_error)
    return model_of(matrices, kind.reshape(pair.shape).astype(np.int64), seems)


def ceiling(seems: Floats, shares: Floats, common_error: float) -> tuple[Floats, Floats]:
    """Return constant c . s and weights d * s of every task, as above; one row per task."""
    rows = np.arange(len(shares))
    top = shares.argmax(axis=1)
    others = shares.copy()
    others[rows, top] = -1.0
    rival = np.repeat(shares[rows, top][:, None], shares.shape[1], axis=1)
    rival[rows, top] = others.max(axis=1)  # for every class the largest share of another
    steps = np.maximum(0.0, 1.0 - common_error + common_error * (shares - rival))
    return common_error * (seems * rival).sum(axis=1), steps * seems


def accuracy_of_equals(
    quality: Floats, support: Bools, prior: Floats, common_error: float
) -> Floats:
    """Return the expected accuracy of tasks of two classes with equal shares.

    Arrays are as in a plan.
    """
    seeming = seeming_quality(quality, common_error)
    vote = expected_accuracy(seeming, support, chance_of_equals(prior, common_error))
    return (1.0 - common_error) * vote + common_error / 2.0


def chance_of_equals(prior: Floats, common_error: float) -> Floats:
    """Return the probability that the apparent class is 1, for equal shares of both labels."""
    return np.clip(0.5 + (prior - 0.5) / (1.0 - common_error), 0.0, 1.0)


def accuracy_with(
    model: AnswerModel, support: Bools, common_error: float, shares: Floats
) -> tuple[Floats, Floats]:
    """Return the expected accuracy of every task of a `seeming_model`, and its standard error."""
    constant, weights = ceiling(model.prior, shares, common_error)
    values, error = accuracy_under(replace(model, prior=weights), support)
    values += constant
    k = model.n_classes
    is_tight = (k == 2) | (shares.min(axis=1) == shares.max(axis=1))
    for j in np.flatnonzero(~is_tight):
        who = np.flatnonzero(support[:, j] & (model.informativeness[model.kind[:, j]] > 0.0))
        kinds, prior = model.kind[who, j], model.prior[j]
        score = VoteScore(common_error, shares[j])
        if float(k) ** who.size > MAX_OUTCOMES:
            values[j], error[j] = large_team(model, kinds, prior, who, score)
            continue
        table = prior[:, None]
        for kind in kinds:
            table = (table[:, :, None] * model.matrices[kind][:, None, :]).reshape(k, -1)
        values[j] = score.best(table).sum()
    return np.clip(values, 0.0, 1.0), error
