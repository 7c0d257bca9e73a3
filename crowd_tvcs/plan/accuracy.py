"""How the workers of a plan answer, and how accurate the votes of an assignment are."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.accuracy.common_error import (
    accuracy_of_equals,
    accuracy_with,
    ceiling,
    seeming_model,
)
from crowd_tvcs.accuracy.many_classes import accuracy_under
from crowd_tvcs.accuracy.model import AnswerModel, answer_model
from crowd_tvcs.accuracy.two_classes import expected_accuracy
from crowd_tvcs.arrays import Bools, Floats
from crowd_tvcs.plan.terms import Terms


def answers_of(plan: Terms) -> AnswerModel | None:
    """Make the model of the answers given the seeming class of a task, see `Plan.model`."""
    if plan.n_classes == 2 and plan.confusion is None and _has_equal_shares(plan):
        return None
    prior, error = _priors(plan), plan.common_error
    if error > 0.0:
        shares = shares_of(plan, prior)
        return seeming_model(plan.table.values, prior, plan.confusion, error, shares)
    return answer_model(plan.table.values, prior, plan.confusion)


def accuracy_and_error(
    plan: Terms, model: AnswerModel | None, support: Bools
) -> tuple[Floats, Floats]:
    """Return the expected accuracy of every task by `Plan.model`, and standard errors.

    The latter are 0 unless large teams were sampled.
    """
    error, values = plan.common_error, plan.table.values
    if model is not None and error > 0.0:
        return accuracy_with(model, support, error, shares_of(plan, _priors(plan)))
    if model is not None:
        return accuracy_under(model, support)
    if error > 0.0:
        out = accuracy_of_equals(values, support, plan.prior, error)
    else:
        out = expected_accuracy(values, support, plan.prior)
    return out, np.zeros(out.size)


def constant_and_weights(plan: Terms, model: AnswerModel) -> tuple[Floats, Floats]:
    """Return constants and weights of the ceiling under a common error, see `ceiling`."""
    return ceiling(model.prior, shares_of(plan, _priors(plan)), plan.common_error)


def shares_of(plan: Terms, prior: Floats) -> Floats:
    """Return class shares of misled tasks, a row per task: `prior` unless shares are given."""
    if plan.error_shares is None:
        return prior
    return np.array(np.broadcast_to(plan.error_shares, prior.shape))


def _priors(plan: Terms) -> Floats:
    if plan.class_prior is not None:
        return plan.class_prior
    return np.column_stack([1.0 - plan.prior, plan.prior])


def _has_equal_shares(plan: Terms) -> bool:
    """Whether misled workers of a plan of two classes take either label as often, if any are."""
    shares = plan.prior if plan.error_shares is None else plan.error_shares
    return plan.common_error == 0.0 or bool((shares == 0.5).all())
