"""Expected accuracy of the tasks of an assignment, whether its quality is a table or factors."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.accuracy.two_classes import accuracy_of_teams
from crowd_tvcs.arrays import Floats
from crowd_tvcs.plan.accuracy import accuracy_and_error
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.plan import Plan

AT_ONCE = 1_000_000  # workers x teams of a block, to bound memory: 8 MB


def accuracies(plan: Plan, pairs: Assigned) -> Floats:
    """Return the expected accuracy of the vote on every task."""
    return accuracies_and_errors(plan, pairs)[0]


def accuracies_and_errors(plan: Plan, pairs: Assigned) -> tuple[Floats, Floats]:
    """Return the expected accuracy of every task, and standard errors.

    The latter are 0 unless large teams were sampled.
    """
    if plan.is_table:
        return accuracy_and_error(plan, plan.model, pairs.support)
    return _of_factors(plan, pairs)


def _of_factors(plan: Plan, pairs: Assigned) -> tuple[Floats, Floats]:
    """Return accuracies and errors of a crowd in factors.

    With more than two classes, equal teams on tasks of one kind and prior are computed once.
    """
    tasks, workers, sizes = pairs.tasks, pairs.workers, pairs.answers
    m = sizes.size
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if plan.class_prior is None:
        voters = plan.factors.of_pairs(workers, tasks)
        # A prior that may not be written would have the kernel compiled again.
        found = accuracy_of_teams(start, np.ascontiguousarray(voters), np.array(plan.prior))
        return found, np.zeros(m)
    place = np.arange(tasks.size) - start[tasks]
    teams = np.full((m, int(sizes.max(initial=0))), -1, dtype=np.int64)
    teams[tasks, place] = workers
    of_row = np.unique(plan.class_prior, axis=0, return_inverse=True)[1].reshape(-1)
    keys = np.column_stack([plan.factors.kind, of_row, np.sort(teams, axis=1)])
    _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    out, size = np.empty((2, first.size)), max(1, AT_ONCE // pairs.shape[0])
    for at in range(0, first.size, size):
        some = first[at : at + size]
        support = np.zeros((pairs.shape[0], some.size + 1), dtype=bool)
        column = np.broadcast_to(np.arange(some.size)[:, None], teams[some].shape)
        support[teams[some], np.where(teams[some] < 0, some.size, column)] = True
        part = plan.part(some)
        out[:, at : at + size] = accuracy_and_error(part, part.model, support[:, :-1])
    values, errors = out[:, same.reshape(-1)]
    return values, errors
