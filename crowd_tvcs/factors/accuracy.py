"""Expected accuracy of very many tasks, from the pairs alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.two_classes import accuracy_of_teams
from crowd_tvcs.factors.plan import FactoredPlan
from crowd_tvcs.plan.accuracy import accuracy_and_error

AT_ONCE = 1_000_000  # workers x teams of a block

Floats = NDArray[np.float64]


def accuracies(plan: FactoredPlan, tasks: NDArray[np.int32], workers: NDArray[np.int32]) -> Floats:
    """Expected accuracy of the vote on every task, each with its own prior.

    Of pairs task by task; see `Plan.accuracy`.
    """
    return accuracies_and_errors(plan, tasks, workers)[0]


def accuracies_and_errors(
    plan: FactoredPlan, tasks: NDArray[np.int32], workers: NDArray[np.int32]
) -> tuple[Floats, Floats]:
    """Expected accuracy of every task, and standard errors: 0 unless large teams were sampled.

    With more than two classes teams that are the same in everything are computed once.
    """
    m = len(plan.tasks)
    sizes = np.bincount(tasks, minlength=m)
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
    out, size = np.empty((2, first.size)), max(1, AT_ONCE // len(plan.workers))
    for at in range(0, first.size, size):
        some = first[at : at + size]
        support = np.zeros((len(plan.workers), some.size + 1), dtype=bool)
        column = np.broadcast_to(np.arange(some.size)[:, None], teams[some].shape)
        support[teams[some], np.where(teams[some] < 0, some.size, column)] = True
        out[:, at : at + size] = accuracy_and_error(plan.part(some), support[:, :-1])
    values, errors = out[:, same.reshape(-1)]
    return values, errors
