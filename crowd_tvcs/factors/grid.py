"""Groups of tasks that are priced once: by kind, limits and prior.

Tasks of one *line* have the same kind, minimum and cap. For fixed prices, the accuracy of any set
of workers is convex in the prior, being a sum of maxima of linear functions of it; so is the best
accuracy minus prices, a maximum of such. Between two priors it lies below the chord, so that the
two ends bound every task between them. A line of many priors is therefore priced at a few *knots*
only, and a task counts for the two around it by the shares of the chord. With two classes and
one quality per pair, priors p and 1 - p have the same accuracies: a prior is folded to the larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.plan.plan import Plan

MAX_GROUPS = 20_000  # groups; with more, one linear program over sets takes too long
# Knots of a line. Chords are off by the square of the distance of knots: 12 knots lose .98 % of the
# error, 24 .16 %, 48 .04 % (docs/decisions, 71).
MIN_KNOTS, MAX_KNOTS = 3, 48


@dataclass(frozen=True, eq=False)
class Groups:
    """Tasks by line, and the priors at which lines are priced.

    Attributes
    ----------
    plan
        The plan.
    line
        Of every task.
    member
        A task of every line.
    prior
        Folded prior of every task; with more than two classes the number of its row of chances.
    group_line, group_prior
        Of every group, sorted by line and then by prior.
    low
        The group of every task, or the one below it.
    share
        Which part of the task counts for the next group, in [0, 1).
    """

    plan: Plan
    line: Integers
    member: Integers
    prior: Floats
    group_line: Integers
    group_prior: Floats
    low: Integers
    share: Floats

    @classmethod
    def of(cls, plan: Plan) -> Groups:
        """Group the tasks of a plan.

        Raises
        ------
        ValueError
            If tasks of more than two classes have too many different priors.
        """
        line, member = lines_of(plan)
        prior, group_line, group_prior = priors_of(plan, line)
        if plan.class_prior is not None and group_prior.size > MAX_GROUPS:
            raise ValueError(
                f"tasks of more than two classes may differ in kind, limits and prior in at "
                f"most {MAX_GROUPS} ways together, found {group_prior.size}: round the priors"
            )
        low, share = between(line, prior, group_line, group_prior)
        return cls(plan, line, member, prior, group_line, group_prior, low, share)

    @property
    def size(self) -> int:
        """Number of groups."""
        return self.group_line.size

    @cached_property
    def weight(self) -> Floats:
        """Number of tasks that every group stands for; not always whole."""
        out, up = np.zeros(self.size), self.share > 0.0
        np.add.at(out, self.low, 1.0 - self.share)
        np.add.at(out, self.low[up] + 1, self.share[up])
        return out

    @cached_property
    def members(self) -> Plan:
        """A plan of one task of every group, without the caps of workers and the budget."""
        tasks = self.member[self.group_line]
        if self.plan.class_prior is None:
            return self.plan.part(tasks, self.group_prior)
        first = np.unique(self.prior, return_index=True)[1]
        rows = first[self.group_prior.astype(np.int64)]
        return self.plan.part(tasks, chances=self.plan.class_prior[rows])


def lines_of(plan: Plan) -> tuple[Integers, Integers]:
    """Return the line of every task, by kind, minimum and cap, and the first task of every line."""
    columns = [plan.factors.kind, plan.min_workers_per_task, plan.max_workers_per_task]
    _, member, line = np.unique(
        np.column_stack(columns), axis=0, return_index=True, return_inverse=True
    )
    return line.reshape(-1).astype(np.int64), member.astype(np.int64)


def priors_of(plan: Plan, line: Integers) -> tuple[Floats, Integers, Floats]:
    """Return the folded prior of every task, and line and prior of every group; see `Groups`."""
    if plan.class_prior is None:
        prior = np.maximum(plan.prior, 1.0 - plan.prior)
        return prior, *knots(line, prior)
    of_row = np.unique(plan.class_prior, axis=0, return_inverse=True)[1]
    prior = of_row.reshape(-1).astype(np.float64)
    pairs = np.unique(np.column_stack([line, prior]), axis=0)
    return prior, pairs[:, 0].astype(np.int64), pairs[:, 1]


def knots(line: Integers, prior: Floats) -> tuple[Integers, Floats]:
    """Return the knots of every line: all priors, or a few with the least and the largest.

    Sorted by line and then by prior.
    """
    pairs = np.unique(np.column_stack([line, prior]), axis=0)
    lines, begin, count = np.unique(pairs[:, 0], return_index=True, return_counts=True)
    most = int(np.clip(MAX_GROUPS // lines.size, MIN_KNOTS, MAX_KNOTS))
    if pairs.shape[0] <= min(MAX_GROUPS, most * lines.size):
        return pairs[:, 0].astype(np.int64), pairs[:, 1]
    kept = []
    for at, n in zip(begin.tolist(), count.tolist(), strict=True):
        places = np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))
        kept.append(at + places)
    chosen = pairs[np.concatenate(kept)]
    return chosen[:, 0].astype(np.int64), chosen[:, 1]


def between(
    line: Integers, prior: Floats, group_line: Integers, group_prior: Floats
) -> tuple[Integers, Floats]:
    """Return the group at or below every task, and the share of the way to the next.

    Every prior must lie between two knots of its line, or on one.
    """
    is_task = np.arange(group_line.size + line.size) >= group_line.size
    both = (np.concatenate([group_prior, prior]), np.concatenate([group_line, line]))
    merged = np.lexsort((is_task, *both))
    passed, tasks = np.cumsum(~is_task[merged]) - 1, is_task[merged]
    low = np.empty(line.size, dtype=np.int64)
    low[merged[tasks] - group_line.size] = passed[tasks]
    above = np.minimum(low + 1, group_prior.size - 1)
    width = group_prior[above] - group_prior[low]
    inside = (prior > group_prior[low]) & (group_line[above] == line)
    share = np.where(inside, (prior - group_prior[low]) / np.where(inside, width, 1.0), 0.0)
    return low, share
