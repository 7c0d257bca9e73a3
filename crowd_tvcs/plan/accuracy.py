"""How the workers of a plan answer, and how accurate the votes of an assignment are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.common_error import accuracy_of_equals, accuracy_with, seeming_model
from crowd_tvcs.accuracy.many_classes import accuracy_under
from crowd_tvcs.accuracy.model import AnswerModel, answer_model
from crowd_tvcs.accuracy.two_classes import expected_accuracy

if TYPE_CHECKING:
    from crowd_tvcs.plan.plan import Plan

Floats = NDArray[np.float64]


def answers_of(plan: Plan) -> AnswerModel | None:
    """Make the model of the answers to what a task seems to be, see `Plan.model`."""
    error, prior = plan.common_error, plan.class_prior
    is_even = plan.n_classes == 2 and plan.confusion is None
    if is_even and (error == 0.0 or (plan.prior == 0.5).all()):
        return None
    if prior is None:
        prior = np.column_stack([1.0 - plan.prior, plan.prior])
    if error > 0.0:
        return seeming_model(plan.quality.values, prior, plan.confusion, error)
    return answer_model(plan.quality.values, prior, plan.confusion)


def accuracy_and_error(plan: Plan, support: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Expected accuracy of every task, and standard errors: 0 unless large teams were sampled."""
    error, values, model = plan.common_error, plan.quality.values, plan.model
    if model is not None and error > 0.0:
        return accuracy_with(model, support, error)
    if model is not None:
        return accuracy_under(model, support)
    if error > 0.0:
        out = accuracy_of_equals(values, support, error)
    else:
        out = expected_accuracy(values, support, plan.prior)
    return out, np.zeros(out.size)
