"""Random small plans with every demand there is, and their best assignment by brute force.

Nothing here is taken from the package but the plan itself: the accuracy of a set is summed outcome
by outcome from the qualities or matrices, and the best assignment is found by dynamic programming
over the loads of the workers, which tries every set on every task.
"""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from crowd_tvcs import METHODS, Plan, Quality, assign
from crowd_tvcs.methods import methods_for
from crowd_tvcs.plan.proof import LARGEST, is_largest
from crowd_tvcs.verification.branches import bound_of_branches

SHARP = [0.0, 0.5, 1.0]
ROUNDING = 1e-10


def small_plan(seed, *, together=False, common_error=0.0):
    """Draw a plan of 1 to 5 workers and 1 to 5 tasks; with costs and groups if `together`.

    An example is drawn first, so that what is demanded can be met. The common error is as given,
    in half of the plans with shares of its own.
    """
    rng = np.random.default_rng([20, seed])
    n, m, k = int(rng.integers(1, 6)), int(rng.integers(1, 6)), int(rng.choice([2, 2, 3, 4]))
    example = rng.random((n, m)) < rng.choice([0.2, 0.5, 0.8])
    values = _qualities(rng, n, m)
    allowed = (rng.random((n, m)) < 0.8) | example if rng.random() < 0.5 else None
    answers, loads = example.sum(axis=0), example.sum(axis=1)
    options = {
        "max_workers_per_task": _caps(rng, answers, n),
        "max_tasks_per_worker": _caps(rng, loads, m),
        "budget": [None, int(example.sum()), int(example.sum() + rng.integers(0, n * m + 3))][
            rng.integers(3)
        ],
    }
    if rng.random() < 0.5:
        options["min_workers_per_task"] = rng.integers(0, answers + 1)
    if rng.random() < 0.6:
        options["forced"] = example & (rng.random((n, m)) < rng.choice([0.3, 0.7, 1.0]))
    if k == 2:
        options["prior"] = rng.choice([0.5, 0.5, 0.3, 0.9, 1.0], m if rng.random() < 0.5 else 1)
        options["prior"] = options["prior"] if options["prior"].size > 1 else options["prior"][0]
    elif rng.random() < 0.6:
        options["class_prior"] = _priors(rng, m, k)
    if rng.random() < (0.25 if k == 2 else 0.4):
        options["confusion"] = _matrices(rng, n, k)
    if together:
        cost = rng.choice([0.0, 0.5, 1.0, 2.0], n)
        options["cost"] = cost
        if rng.random() < 0.7:
            options["money"] = float(cost @ loads * rng.choice([1.0, 1.3])) + 0.1
        if rng.random() < 0.7:
            options["group"] = _groups(rng, example)
    workers, tasks = [f"w{i}" for i in range(n)], [f"t{j}" for j in range(m)]
    if common_error > 0.0 and seed % 2:
        more = np.random.default_rng([23, seed])
        uneven = more.dirichlet(np.full(k, 3.0))
        options["error_shares"] = [np.full(k, 1.0 / k), uneven][more.integers(2)]
    quality = Quality(values, workers, tasks, allowed)
    return Plan(quality, n_classes=k, common_error=common_error, **options)


def _qualities(rng, n, m):
    """Any, rounded so that some are the same, sharp, or equal for workers and tasks."""
    values = rng.uniform(rng.choice([0.0, 0.5]), 1.0, (n, m)).round(int(rng.choice([1, 2, 12])))
    if rng.random() < 0.3:
        values = np.where(rng.random((n, m)) < 0.3, rng.choice(SHARP, (n, m)), values)
    if rng.random() < 0.4:
        values[:] = values[:, :1]
    if rng.random() < 0.3:
        values = values[rng.integers(0, n, n)]
    if rng.random() < 0.3:
        values = values[:, rng.integers(0, m, m)]
    return values


def _caps(rng, least, most):
    """No cap, one for all, or one for each; they may be 0, and larger than there is room."""
    each = np.minimum(least + rng.choice([0, 0, 1, 2], least.size), most + 3)
    return [None, int(least.max()) + int(rng.integers(0, 2)), each, each][rng.integers(4)]


def _priors(rng, m, k):
    rows = rng.dirichlet(np.full(k, rng.choice([0.5, 3.0])), m if rng.random() < 0.5 else 1)
    if rng.random() < 0.3:
        rows[0] = np.eye(k)[0]
    return rows if len(rows) > 1 else rows[0]


def _matrices(rng, n, k):
    out = rng.dirichlet(np.full(k, rng.choice([0.3, 1.0])), (n, k))
    out += np.eye(k) * rng.choice([0.0, 1.0, 3.0])
    out /= out.sum(axis=2, keepdims=True)
    if rng.random() < 0.3:
        out[0] = rng.choice([np.eye(k), np.full((k, k), 1.0 / k), np.roll(np.eye(k), 1, axis=0)])
    return out[rng.integers(0, n, n)] if rng.random() < 0.3 else out


def _groups(rng, example):
    """Groups of workers who share no task in the example."""
    n = len(example)
    names = [None] * n
    for i, j in itertools.combinations(range(n), 2):
        free = names[i] == names[j] is None and not (example[i] & example[j]).any()
        if free and rng.random() < 0.5:
            names[i] = names[j] = f"g{i}"
    return names


def accuracies(plan, j):
    """Accuracy of the vote of every set of workers on task j; sets are numbers, bit i worker i."""
    n, k = plan.quality.shape[0], plan.n_classes
    prior = plan.class_prior[j] if k > 2 else np.array([1.0 - plan.prior[j], plan.prior[j]])
    e, shares = plan.common_error, plan.error_shares
    if shares is None:
        shares = prior
    else:  # what is known of what the task seems to be
        prior = np.maximum(0.0, (prior - e * shares) / (1.0 - e))
        prior = prior / prior.sum()
    tables = [prior[:, None]]
    for i in range(n):
        if plan.confusion is not None:
            chance = plan.confusion[i]
        else:
            q = plan.quality.values[i, j]
            chance = np.where(np.eye(k, dtype=bool), q, (1.0 - q) / (k - 1))
        if e > 0.0:
            chance = _given_what_it_seems(chance, shares, e)
        tables += [np.einsum("yo,ya->yoa", t, chance).reshape(k, -1) for t in tables]
    seems = (1.0 - e) * np.eye(k) + e * shares[:, None]  # chance of a class by what it seems
    return np.array([(seems @ table).max(axis=0).sum() for table in tables])


def _given_what_it_seems(chance, shares, e):
    """Chances of the answers by what a task seems to be: with chance e a class of the shares."""
    seems = (1.0 - e) * np.eye(shares.size) + e * np.tile(shares, (shares.size, 1))
    out = np.maximum(np.linalg.inv(seems) @ chance, 1e-4)
    return out / out.sum(axis=1, keepdims=True)


def may_have(plan, j):
    """Which sets task j may have, among all: allowed, with its forced workers, of a right size."""
    n = plan.quality.shape[0]
    member = np.arange(2**n)[:, None] >> np.arange(n) & 1 == 1
    size = member.sum(axis=1)
    out = (size <= plan.max_workers_per_task[j]) & (size >= plan.min_workers_per_task[j])
    if plan.quality.allowed is not None:
        out &= ~(member & ~plan.quality.allowed[:, j]).any(axis=1)
    if plan.forced is not None:
        out &= ~(~member & plan.forced[:, j]).any(axis=1)
    if plan.group is not None:
        names = np.array([g or f"alone {i}" for i, g in enumerate(plan.group)])
        for name in set(names):
            out &= member[:, names == name].sum(axis=1) <= 1
    return out, member


def best_by_enumeration(plan, worth=accuracies):
    """Largest mean worth of any assignment that keeps the caps and meets the demands."""
    n, m = plan.quality.shape
    value = np.full(tuple(plan.max_tasks_per_worker + 1), -np.inf)  # by the loads so far
    value[(0,) * n] = 0.0
    for j in range(m):
        after = np.full(value.shape, -np.inf)
        may, member = may_have(plan, j)
        of_set = worth(plan, j)
        for s in np.flatnonzero(may):
            to = tuple(slice(1, None) if x else slice(None) for x in member[s])
            of = tuple(slice(0, -1) if x else slice(None) for x in member[s])
            np.maximum(after[to], value[of] + of_set[s], out=after[to])
        value = after
    loads = np.indices(value.shape).reshape(n, -1)
    possible = loads.sum(axis=0) <= plan.budget
    if plan.money is not None:
        possible &= plan.cost @ loads <= plan.money * (1.0 + 1e-9)
    return float(value.reshape(-1)[possible].max()) / m


def accuracy_of(plan, support):
    """Mean accuracy of an assignment, which must keep the caps and meet the demands."""
    loads = support.sum(axis=1)
    assert (loads <= plan.max_tasks_per_worker).all()
    assert loads.sum() <= plan.budget
    assert plan.money is None or plan.cost @ loads <= plan.money * (1.0 + 1e-9)
    numbers = (support * 2 ** np.arange(len(support))[:, None]).sum(axis=0)
    for j, s in enumerate(numbers):
        assert may_have(plan, j)[0][s], f"task {j} may not have the set {s}"
    return float(np.mean([accuracies(plan, j)[s] for j, s in enumerate(numbers)]))


def bound_of_prices(plan, prices, budget_price, money_price=None):
    """What the prices prove, every set of every task tried."""
    m = plan.quality.shape[1]
    assert (money_price is None) == (plan.money is None)
    each = prices + budget_price
    if money_price is not None:
        each = each + money_price * plan.cost
    terms = []
    for j in range(m):
        may, member = may_have(plan, j)
        left = accuracies(plan, j) - m * (member @ each)
        terms.append(left[may].max())
    of_money = 0.0 if money_price is None else money_price * plan.money
    caps = prices @ plan.max_tasks_per_worker + budget_price * plan.budget
    return caps + of_money + np.mean(terms)


def check(plan, seed, *, is_tight=True):
    """Let `best` plan, and hold every claim to all assignments there are: optimum and result.

    Where the bound that is searched is the accuracy, a small plan is solved to the end.
    """
    optimum = best_by_enumeration(plan)
    found = assign(plan, "best", rng=seed)
    reached = accuracy_of(plan, found.support)
    assert plan.unmet(found.support) == ()
    assert found.expected_accuracy == pytest.approx(reached, abs=ROUNDING)
    assert found.bound is not None
    assert optimum - ROUNDING <= found.bound <= 1.0, "a bound that is beaten"
    proof = found.certificate
    if proof.leaves:
        assert any(leaf.branches for leaf in proof.leaves)
        branches = json.loads(json.dumps({"leaves": found.branches()}))
        assert found.bound == pytest.approx(bound_of_branches(plan, branches), abs=ROUNDING)
    assert min(*found.prices, found.budget_price) >= 0.0
    prices = found.prices, found.budget_price, found.money_price
    by_prices = min(1.0, bound_of_prices(plan, *prices))
    result = proof.bound_by_prices if proof.leaves else found.bound
    assert (found.reason == LARGEST) == is_largest(reached, found.bound)
    assert reached <= optimum + ROUNDING
    if is_tight:
        assert result == pytest.approx(by_prices, abs=ROUNDING)
        assert found.certified
        assert found.reason == LARGEST, "not solved to the end"
        assert reached >= optimum - 2e-9, "proved to be the largest, and it is not"
    else:
        assert result >= by_prices - ROUNDING
    return optimum, found


def check_others(plan, seed, bound):
    """No method may beat what is proved, or be called certified without a bound."""
    for method in methods_for(plan):
        if not METHODS[method].proves_bound:
            found = assign(plan, method, rng=seed)
            reached = accuracy_of(plan, found.support)
            assert found.expected_accuracy == pytest.approx(reached, abs=ROUNDING)
            assert reached <= bound + ROUNDING, method
            assert not found.certified


def round_of(plan, support, seed):
    """Draw the plan of a next round, when some pairs are answered and others are out."""
    rng = np.random.default_rng([21, seed])
    n, m = support.shape
    answered = support & (rng.random((n, m)) < 0.5)
    pending = support & ~answered & (rng.random((n, m)) < 0.6)
    done = answered.sum(axis=0)
    options = {"prior": rng.beta(0.6, 0.6, m).round(3)}
    if plan.n_classes > 2:
        options = {"class_prior": rng.dirichlet(np.full(plan.n_classes, 0.4), m)}
    return Plan(
        Quality(plan.quality.values, plan.quality.workers, plan.quality.tasks, ~answered),
        max_workers_per_task=np.maximum(plan.max_workers_per_task - done, pending.sum(axis=0)),
        max_tasks_per_worker=plan.max_tasks_per_worker - answered.sum(axis=1),
        budget=max(plan.budget - int(done.sum()), int(pending.sum())),
        forced=pending,
        n_classes=plan.n_classes,
        confusion=plan.confusion,
        **options,
    )
