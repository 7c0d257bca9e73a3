"""A bound for workers with confusion matrices, by prices of a few voters: knots.

Branch and bound replaces a worker by an even one who is at least as informative, who is nearly
perfect where a single entry of a matrix is small. Here a worker is a mixture: with some chances one
of a few other voters, garbled, whose answers are known. The accuracy of a vote is convex in the
matrix of a voter, so a worker is worth at most as much as the mixture (Blackwell 1953). If no
worker costs less than their mixture of knots, the best multiset of knots bounds all sets of
workers. Knots are the matrices of some workers, the *centers*, and *splits*: voters who tell for
certain which part of a partition of the classes holds the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.plan.certificate import Knots
from crowd_tvcs.plan.costs import is_rationed
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.multisets import Sets, accuracies_of, multisets

MAX_CLASSES = 5  # with more there are too many partitions
MAX_SPLITS = 4  # of most use, the perfect voter among them: few leave room for centers
MAX_WORKERS = 1_000  # of whom each has three linear programs, and a distance to every other
MIN_CENTERS, MAX_CENTERS = 2, 40  # fewer prove little, and programs of more take long
# Outcomes of all sets of workers from which on exact pricing seldom ends: 109 workers of four
# classes, teams of 3 (1e7) are priced in 2 s, teams of 5 (1e11) not in 20.
HARD_OUTCOMES = 10_000_000_000
LONGER = 12.0  # time of more centers by that of the first ones
# Outcomes of all multisets together, first and then: 1 and 6 s of 109 workers and teams of 5.
OUTCOMES = 10_000_000, 500_000_000
MAX_SETS = 500_000  # multisets that the program is made of, to bound memory
TURNS = 2  # of mixtures, then prices: more do not gain
ROUNDS = 40  # of the program over multisets, of which more are added until all are priced
ADDED = 100  # multisets a round
CLOSE = 1e-7  # accuracy of a task by which the program may be off: the bound is what it proves
MARGIN = 1e-6  # accuracy of a voter, for rounding of the mixtures

Parts = tuple[int, ...]  # of a partition: the part of every class, in order of appearance


def bound_by_matrix_knots(
    plan: Plan, deadline: Deadline
) -> tuple[float, Floats, float, Knots] | None:
    """Return a bound on the mean accuracy, the prices of workers and of a label, and their knots.

    Prices are those of `crowd_tvcs.plan.certificate.PlanProof`. None if tasks differ in the prior
    or workers by task, with forced pairs, money, groups or common errors, with too large teams or
    too many classes, or if the deadline struck.
    """
    model, most = plan.model, int(plan.max_workers_per_task.max())
    if model is None or model.n_classes > MAX_CLASSES or plan.common_error > 0.0 or most == 0:
        return None
    are_alike = (model.kind == model.kind[:, :1]).all() and (model.prior == model.prior[0]).all()
    if not are_alike or plan.forced is not None or is_rationed(plan):
        return None
    matrices = model.matrices[model.kind[:, 0]]
    if len(matrices) > MAX_WORKERS:
        return None
    caps = plan.max_tasks_per_worker.astype(np.float64)
    counts = [_most_centers(caps.size, model.n_classes, most, outcomes) for outcomes in OUTCOMES]
    best, took = None, 0.0
    for count in sorted({count for count in counts if count >= min(MIN_CENTERS, caps.size)}):
        before = deadline.left
        if before <= LONGER * took:
            break
        centers = _centers(matrices, caps, count)
        found = _bound(plan, centers, matrices, model.prior[0], deadline)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
        took = before - deadline.left
    return best


def has_hard_sets(plan: Plan) -> bool:
    """Whether sets of workers with uneven matrices are too many for exact pricing."""
    n, most = plan.quality.shape[0], int(plan.max_workers_per_task.max())
    return plan.confusion is not None and comb(n, most) * plan.n_classes**most > HARD_OUTCOMES


def _most_centers(n_workers: int, n_classes: int, most: int, outcomes: int) -> int:
    """Return how many centers the multisets of at most `most` knots leave room for."""
    n_sets, count = min(outcomes // n_classes**most, MAX_SETS), 0
    n_splits = min(MAX_SPLITS, len(_splits(n_classes)))
    while count < min(n_workers, MAX_CENTERS) and comb(count + 1 + n_splits + most, most) <= n_sets:
        count += 1
    return count


def _centers(matrices: Floats, caps: Floats, count: int) -> Integers:
    """Choose workers, one by one, to whom the others are nearest, each counted by their cap."""
    from scipy.spatial.distance import cdist

    entries = matrices.reshape(len(matrices), -1)
    apart = cdist(entries, entries, "cityblock")
    nearest = np.full(len(caps), apart.max())
    chosen: list[int] = []
    for _ in range(count):
        gain = np.maximum(nearest - apart, 0.0) @ caps
        gain[chosen] = -1.0
        chosen.append(int(gain.argmax()))
        nearest = np.minimum(nearest, apart[chosen[-1]])
    return np.array(chosen)


def _splits(n_classes: int) -> list[Parts]:
    """List the partitions of the classes into two parts and more; the last one is the finest."""
    out: list[Parts] = [(0,)]
    for _ in range(n_classes - 1):
        out = [(*parts, part) for parts in out for part in range(max(parts) + 2)]
    return out[1:]


def _bound(
    plan: Plan, centers: Integers, matrices: Floats, prior: Floats, deadline: Deadline
) -> tuple[float, Floats, float, Knots] | None:
    """Return the bound, the prices and the knots of some centers; None if the deadline struck."""
    n_classes, splits = plan.n_classes, _splits(plan.n_classes)
    most = int(plan.max_workers_per_task.max())
    finest = len(splits) - 1
    voters = _voters(matrices, centers, splits)
    price = (voters.max(axis=1).sum(axis=1) - 1.0) / n_classes  # the gain of a single label
    mixture = _mixtures(matrices, voters, price, deadline)
    if mixture is None:
        return None
    use = (plan.max_tasks_per_worker @ mixture * price)[centers.size :]
    use[finest] = np.inf  # with it, everybody is a mixture
    kept = np.sort(np.argsort(-use, kind="stable")[:MAX_SPLITS])
    splits = [splits[k] for k in kept]
    places = np.append(np.arange(centers.size), centers.size + kept)
    voters, price = voters[places], price[places]
    sets, best = multisets(len(voters), most), None
    accuracy = accuracies_of(sets, voters, prior, deadline)
    if accuracy is None:
        return None
    program = _Program(plan, sets, accuracy, len(voters))
    for _ in range(TURNS):
        mixture = _mixtures(matrices, voters, price, deadline)
        if mixture is None:
            return best
        bound, price, of_label = program.least(mixture, deadline)
        of_workers = np.maximum(mixture @ price - of_label, 0.0)
        if best is None or bound < best[0]:
            m = len(plan.quality.tasks)
            best = bound, of_workers / m, of_label / m, Knots(centers, tuple(splits), price / m)
    return best


def _voters(matrices: Floats, centers: Integers, splits: list[Parts]) -> Floats:
    """Return the matrices of the knots, the centers before the splits."""
    certain = np.eye(matrices.shape[1])[np.array(splits)]
    return np.ascontiguousarray(np.concatenate([matrices[centers], certain]))


def _mixtures(matrices: Floats, voters: Floats, price: Floats, deadline: Deadline) -> Floats | None:
    """Return the chances of the knots in the cheapest mixture for every worker; None if late.

    Matrix = sum over knots of voter @ garbling + uninformative rows, where the rows of a garbling
    add up to the chance of its knot.
    """
    from scipy.optimize import linprog

    n_knots, k = voters.shape[:2]
    # Columns: entry (l, a) of every garbling, then the uninformative row. Rows: entry (y, a) of the
    # matrix, then that the rows of a garbling have the same sum.
    of_garblings = np.einsum("cyl,ab->yaclb", voters, np.eye(k)).reshape(k * k, -1)
    of_nobody = np.tile(np.eye(k), (k, 1))
    row_sums = np.repeat(np.eye(k), k, axis=1)
    equal = np.kron(np.eye(n_knots), row_sums[1:] - row_sums[0])
    matrix = np.block([[of_garblings, of_nobody], [equal, np.zeros((len(equal), k))]])
    cost = np.append(np.repeat(price / k, k * k), np.zeros(k))
    out = np.empty((len(matrices), n_knots))
    for i, own in enumerate(matrices):
        if deadline.has_passed:
            return None
        right = np.append(own.ravel(), np.zeros(len(equal)))
        solved = linprog(cost, A_eq=matrix, b_eq=right, method="highs")
        if solved.status != 0:
            return None
        out[i] = solved.x[:-k].reshape(n_knots, -1).sum(axis=1) / k
    return out


@dataclass(frozen=True, eq=False)
class _Program:
    """The multisets of knots with their accuracies, and the prices at which none is worth much."""

    plan: Plan
    sets: Sets
    accuracy: Floats
    n_knots: int

    def least(self, mixture: Floats, deadline: Deadline) -> tuple[float, Floats, float]:
        """Return the least bound, with the prices of a label of the knots, and of any label.

        The bound is the mean over tasks, the prices are per task. A label of a knot costs its
        price, one of a worker the mean over their mixture, or what any label costs.
        """
        from scipy.optimize import linprog

        plan, n_knots = self.plan, self.n_knots
        caps, m = plan.max_tasks_per_worker, len(plan.quality.tasks)
        n = caps.size
        # Variables: the prices of knots and of any label, the rest of workers' prices, the value of
        # a task.
        cost = np.concatenate([np.zeros(n_knots), [plan.budget / m], caps / m, [1.0]])
        links = np.hstack([mixture, np.full((n, 1), -1.0), -np.eye(n), np.zeros((n, 1))])
        limits = [(0.0, 1.0)] * (n_knots + 1) + [(0.0, None)] * n + [(None, None)]
        active = np.argsort(-self.accuracy, kind="stable")[:ADDED]
        best = np.inf, np.ones(n_knots), 0.0
        for _ in range(ROUNDS):
            labels = (self.sets[active, :, None] == np.arange(n_knots)).sum(axis=1)
            cuts = np.zeros((active.size, cost.size))
            cuts[:, :n_knots], cuts[:, -1] = -labels, -1.0
            right = np.append(np.zeros(n), -self.accuracy[active])
            matrix, left = np.vstack([links, cuts]), max(0.01, min(deadline.left, 1e6))
            options = {"time_limit": left}
            solved = linprog(
                cost, A_ub=matrix, b_ub=right, bounds=limits, method="highs", options=options
            )
            if solved.status != 0:
                break
            price, of_label = np.abs(solved.x[:n_knots].clip(0.0)), max(0.0, solved.x[n_knots])
            net = self.accuracy - np.append(price, 0.0)[self.sets].sum(axis=1)
            of_workers = np.maximum(mixture @ price - of_label, 0.0)
            bound = float(of_label * plan.budget + caps @ of_workers) / m + float(net.max())
            if bound < best[0]:
                best = bound, price, of_label
            if net.max() <= solved.x[-1] + CLOSE or deadline.has_passed:
                break
            active = np.union1d(active, np.argpartition(-net, min(ADDED, net.size - 1))[:ADDED])
        return best[0] + MARGIN * self.sets.shape[1], best[1], best[2]
