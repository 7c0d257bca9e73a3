"""Price a task of K classes again, in plain NumPy: code that shares nothing with the method.

A table holds the probability of every outcome together with every truth, of shape (classes,
outcomes).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.verification.pricing import Integers, Priced, best_of_each, not_replaceable
from crowd_tvcs.verification.pricing_common_error import seeming_matrices, seeming_prior

if TYPE_CHECKING:
    from crowd_tvcs.plan.plan import Plan

MAX_EXACT_OUTCOMES = 2**20  # outcomes of a team; more are sampled
SEED = 7  # of the sampled outcomes, so that checks repeat
N_SAMPLES = 20_000  # outcomes that are drawn
N_STANDARD_ERRORS = 6.0  # standard errors that a sampled accuracy may be off
MAX_NODES = 150_000  # nodes of a search, beyond which pricing is given up
MAX_MULTISETS = 2_000_000  # of voters at knots that are tried
BOUND_STEP = 4  # workers after which the bounds of a node are computed anew
ROUNDING = 1e-12  # of probabilities

Floats = NDArray[np.float64]


def chances(plan: Plan, j: int) -> tuple[Floats, Floats]:
    """Return answer probabilities given the apparent class of task j, and its prior."""
    k, e, prior = plan.n_classes, plan.common_error, _prior(plan, j)
    matrices = plan.confusion
    if matrices is None:
        matrices = even_matrices(plan.quality.columns(np.array([j])).values[:, 0], k)
    drawn = shares(plan, j)
    if plan.error_shares is not None:
        prior = seeming_prior(prior, drawn, e)
    return seeming_matrices(matrices, drawn, e), prior


def even_matrices(right: Floats, k: int) -> Floats:
    """Chances of the answers given the truth; mistakes spread evenly over the other classes."""
    each = right[:, None, None]
    return np.where(np.eye(k, dtype=bool), each, (1.0 - each) / (k - 1))


def shares(plan: Plan, j: int) -> Floats:
    """Shares of the classes that task j seems to be of in error."""
    return _prior(plan, j) if plan.error_shares is None else plan.error_shares


def _prior(plan: Plan, j: int) -> Floats:
    """Return the prior of the class of task j."""
    if plan.class_prior is not None:
        return plan.class_prior[j]
    return np.array([1.0 - plan.prior[j], plan.prior[j]])


def accuracy(matrices: Floats, prior: Floats, pays: Floats | None = None) -> tuple[float, float]:
    """Return bounds below and above the expected accuracy of the vote of these workers.

    `pays` is the payoff of `pricing_common_error`, None without common errors.

    The bounds are equal up to `MAX_EXACT_OUTCOMES` outcomes, where those with the same posterior
    count once. Beyond, they are six standard errors around `N_SAMPLES` drawn outcomes.
    """
    matrices = matrices[np.lexsort(matrices.reshape(len(matrices), prior.size**2).T)]
    table = prior[:, None]
    for i, matrix in enumerate(matrices):
        table = _add(table, matrix)
        if i > 0 and (matrix == matrices[i - 1]).all() and table.shape[1] > 4096:
            table = _merged(table)
        if table.shape[1] > MAX_EXACT_OUTCOMES:
            return _sampled(matrices, prior, pays)
    value = _best(table if pays is None else pays @ table)
    return value, value


def _merged(table: Floats) -> Floats:
    mass = table.sum(axis=0)
    posterior = (table / np.where(mass > 0.0, mass, 1.0)).round(12)
    _, place = np.unique(posterior, axis=1, return_inverse=True)
    out = np.zeros((table.shape[0], int(place.max()) + 1))
    for y, row in enumerate(table):
        np.add.at(out[y], place.reshape(-1), row)
    return out


def _sampled(matrices: Floats, prior: Floats, pays: Floats | None) -> tuple[float, float]:
    rng, n_samples = np.random.default_rng(SEED), N_SAMPLES
    k = prior.size
    truth = rng.choice(k, size=n_samples, p=prior)
    posterior = np.repeat(prior[None, :], n_samples, axis=0)
    for matrix in matrices:
        answer = np.empty(n_samples, dtype=np.int64)
        for y in range(k):
            answer[truth == y] = rng.choice(k, size=int((truth == y).sum()), p=matrix[y])
        posterior = posterior * matrix[:, answer].T
        posterior /= posterior.sum(axis=1, keepdims=True)
    sure = (posterior if pays is None else posterior @ pays.T).max(axis=1)
    off = N_STANDARD_ERRORS * float(sure.std()) / np.sqrt(n_samples)
    return float(sure.mean()) - off, float(sure.mean()) + off


def _add(table: Floats, matrix: Floats) -> Floats:
    return (table[:, :, None] * matrix[:, None, :]).reshape(table.shape[0], -1)


def _best(table: Floats) -> float:
    return float(table.max(axis=0).sum())


def price_task(
    matrices: Floats,
    price: Floats,
    cap: int,
    prior: Floats,
    known: float = -np.inf,
    *,
    least: int = 0,
    fixed: Floats,
    group: Integers | None = None,
) -> Priced:
    """Maximise accuracy(fixed and S) - sum of `price` over S; sets S of least..cap workers.

    Arguments as in `crowd_tvcs.verification.pricing.price_task`, with matrices for qualities.
    """
    table = prior[:, None]
    for matrix in fixed:
        if table.shape[1] * prior.size > MAX_EXACT_OUTCOMES:
            return Priced(known, False)
        table = _add(table, matrix)
    value = max(known, _best(table)) if least == 0 else known
    if cap == 0:
        return Priced(_best(table), True)
    reach = _reach(matrices)
    group = np.full(price.size, -1) if group is None else group
    # Only evenly mistaken workers of more reach can do what another does.
    useless, serves = 1.0 / prior.size, _are_even(matrices)
    kept = not_replaceable(reach, price, cap, least, group, useless, serves)
    search = _Search(matrices[kept], reach[kept], price[kept], group[kept], cap, least, value)
    affordable = int((1.0 - np.sort(search.price).cumsum() > value).sum())
    search.cap = min(cap, max(least, affordable), len(kept))
    if table.shape[1] * float(prior.size) ** search.cap > MAX_EXACT_OUTCOMES:
        return Priced(value, search.cap == 0)
    if search.cap > 0:
        search.visit(table, 0.0, 0, 0, np.zeros(len(kept), dtype=bool))
    return Priced(search.value, search.nodes <= MAX_NODES)


def best_multiset(table: Floats, voters: Floats, price: Floats, most: int, least: int = 0) -> float:
    """Return the largest accuracy less prices of least..most voters, who may be the same.

    Infinite if these are too many to be tried.
    """
    n, k = len(voters), len(table)
    if math.comb(n + most, most) > MAX_MULTISETS or k**most > MAX_EXACT_OUTCOMES:
        return math.inf
    best = _best(table) if least == 0 else -math.inf
    # Joint chances, prices, the first voter who may join, size.
    pending = [(table, 0.0, 0, 0)] if n and most else []
    while pending:
        table, spent, first, size = pending.pop()
        more = table[None, :, :, None] * voters[first:, :, None, :]
        if size + 1 >= least:
            accuracy = more.max(axis=1).sum(axis=(1, 2))
            best = max(best, float((accuracy - price[first:]).max() - spent))
        if size + 1 < most:
            for s in range(first, n):
                pending.append((more[s - first].reshape(k, -1), spent + price[s], s, size + 1))
    return best


def _reach(matrices: Floats) -> Floats:
    """Accuracy of evenly mistaken workers whose answers, garbled, are those of these.

    Such a worker with mistakes s times every other class serves if no entry is below s times
    the sum of its column.
    """
    k = matrices.shape[1]
    out = np.empty(len(matrices))
    for i, matrix in enumerate(matrices):
        share = [matrix[:, a] / matrix[:, a].sum() for a in range(k) if matrix[:, a].sum() > 0.0]
        out[i] = 1.0 - (k - 1) * min(float(s.min()) for s in share)
    return np.clip(out + ROUNDING, 1.0 / k, 1.0)


def _are_even(matrices: Floats) -> NDArray[np.bool_]:
    """Mark the workers whose errors are equally likely and whose accuracy is high enough."""
    k = matrices.shape[1]
    right = matrices[:, 0, 0]
    even = np.where(np.eye(k, dtype=bool), right[:, None, None],
                    ((1.0 - right) / (k - 1))[:, None, None])  # fmt: skip
    is_even: NDArray[np.bool_] = np.abs(matrices - even).max(axis=(1, 2)) == 0.0
    return is_even & (right >= 1.0 / k)


class _Search:
    """Depth first over the workers by falling reach."""

    def __init__(
        self,
        matrices: Floats,
        reach: Floats,
        price: Floats,
        group: Integers,
        cap: int,
        least: int,
        value: float,
    ) -> None:
        self.matrices, self.reach, self.price, self.group = matrices, reach, price, group
        self.cap, self.least, self.value = cap, least, value
        self.nodes = 0

    def visit(
        self, table: Floats, spent: float, first: int, size: int, barred: NDArray[np.bool_]
    ) -> None:
        """Visit all sets of these `size`, whose table this is, with workers from `first` on.

        Workers of the groups of members are `barred`.
        """
        self.nodes += 1
        n = self.price.size
        if first >= n or self.nodes > MAX_NODES:
            return
        if size + 1 >= self.least:
            after = [_best(_add(table, matrix)) for matrix in self.matrices[first:]]
            left = np.where(barred[first:], -np.inf, after - self.price[first:])
            self.value = max(self.value, float(left.max()) - spent)
        if size + 1 == self.cap:
            return
        for i in range(first, n - 1):
            if (i - first) % BOUND_STEP == 0:
                bound, with_one = self._bounds(table, i, size, barred)
                start = i
                if bound - spent <= self.value + ROUNDING:
                    return
            if with_one[i - start] - spent > self.value + ROUNDING and not barred[i]:
                mates = (self.group == self.group[i]) & (self.group >= 0)
                after_it = _add(table, self.matrices[i]), spent + self.price[i], i + 1, size + 1
                self.visit(*after_it, barred | mates)

    def _bounds(
        self, table: Floats, first: int, size: int, barred: NDArray[np.bool_]
    ) -> tuple[float, Floats]:
        """Bound the gain of sets of workers from `first` on, and that of sets with each of them.

        A worker of accuracy q whose errors are even is at most as good as one of the first's reach
        Q that is present with probability (q - 1/K) / (Q - 1/K). With g[a] the accuracy after a
        workers of accuracy Q, any line above g bounds all mixtures.
        """
        k, more = table.shape[0], self.cap - size
        least = max(0, self.least - size)
        top = self.reach[first]
        even = np.where(np.eye(k, dtype=bool), top, (1.0 - top) / (k - 1))
        g = [_best(table)]
        for _ in range(more):
            table = _add(table, even)
            g.append(_best(table))
        chance = (self.reach[first:] - 1.0 / k) / max(top - 1.0 / k, 1e-300)
        bound, with_one = np.inf, np.full(chance.size, np.inf)
        for a in range(more):
            for b in range(a + 1, more + 1):
                slope = (g[b] - g[a]) / (b - a)
                height = max(g[x] - slope * x for x in range(more + 1))
                left = np.where(barred[first:], -np.inf, slope * chance - self.price[first:])
                best = -np.sort(-best_of_each(left[None, :], self.group[first:])[0])[:more]
                best[least:] = np.maximum(best[least:], 0.0)
                bound = min(bound, height + float(best.sum()))
                # All but one of the best, which is the least of them at least.
                others = float(np.maximum(best[: more - 1], 0.0).sum())
                with_one = np.minimum(with_one, height + others + left)
        return bound, with_one
