"""Money and groups in `best`: against an integer program over all sets of all tasks."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from crowd_tvcs import Plan, Quality, assign
from crowd_tvcs.plan.proof import LARGEST
from crowd_tvcs.search.all_sets import fits
from tests.crowd.small_plans import accuracies, accuracy_of, bound_of_prices, may_have

ROUNDING = 1e-9
NEAR = 0.005  # of the optimum


def rationed_plan(seed):
    """Draw a plan with money or groups around an example that shows what can be met.

    Every third has more tasks than are branched on. Costs of nothing, ties, caps of 0, no money,
    money that is more than enough, minimums, forced and forbidden pairs, classes and matrices.
    """
    rng = np.random.default_rng([22, seed])
    k = int(rng.choice([2, 2, 2, 3]))
    n, m = int(rng.integers(3, 10 if k == 2 else 7)), int(rng.integers(2, 13))
    m = m if seed % 3 else 21 + m // 4
    example = rng.random((n, m)) < rng.choice([0.2, 0.4])
    group = None
    if rng.random() < 0.6:
        number = rng.integers(0, max(2, n // 2), n)
        group = [f"g{g}" if g < n // 3 + 1 else None for g in number]
        for g in set(group) - {None}:
            mates = np.flatnonzero([name == g for name in group])
            example[mates] &= np.arange(mates.size)[:, None] == rng.integers(0, mates.size, m)
    values = rng.uniform(rng.choice([0.3, 0.5]), 0.97, (n, m)).round(int(rng.choice([1, 2, 6])))
    if rng.random() < 0.4:
        values[:] = values[:, :1]
    if rng.random() < 0.2:
        values[:] = values[:1]
    cost = rng.choice([0.0, 0.5, 1.0, 1.0, 2.0, 3.7], n)
    if rng.random() < 0.3:
        cost = rng.uniform(0.01, 2.0, n).round(2)
    answers, loads = example.sum(axis=0), example.sum(axis=1)
    options = {
        "max_workers_per_task": np.minimum(answers + rng.integers(0, 3, m), 4),
        "max_tasks_per_worker": loads + rng.integers(0, 3, n) * (rng.random() < 0.7),
        "budget": [None, int(example.sum() + rng.integers(0, 4))][rng.integers(2)],
    }
    example &= example.cumsum(axis=0) <= 4
    must = rng.random() < 0.5
    if must:
        options["min_workers_per_task"] = rng.integers(0, example.sum(axis=0) + 1)
        options["forced"] = example & (rng.random((n, m)) < rng.choice([0.0, 0.4]))
    if rng.random() < 0.85 or group is None:
        share = rng.choice([1.0, 1.1, 10.0] if must else [0.0, 0.3, 0.6, 1.0, 10.0])
        options |= {"cost": cost, "money": float(cost @ example.sum(axis=1) * share)}
    if k == 2 and rng.random() < 0.3:
        options["prior"] = rng.choice([0.5, 0.3, 0.9], m)
    if rng.random() < 0.2:
        matrices = rng.dirichlet(np.ones(k), (n, k)) + 2.0 * np.eye(k)
        options["confusion"] = matrices / matrices.sum(axis=2, keepdims=True)
    workers, tasks = [f"w{i}" for i in range(n)], [f"t{j}" for j in range(m)]
    allowed = (rng.random((n, m)) < 0.85) | example if rng.random() < 0.4 else None
    return Plan(Quality(values, workers, tasks, allowed), n_classes=k, group=group, **options)


def by_integer_program(plan):
    """Best mean accuracy found and the most there can be: one set per task, within all limits."""
    m = len(plan.quality.tasks)
    columns = []
    for j in range(m):
        may, member = may_have(plan, j)
        accuracy = accuracies(plan, j)
        columns += [(j, member[s], accuracy[s]) for s in np.flatnonzero(may)]
    task, chosen = np.array([c[0] for c in columns]), np.array([c[1] for c in columns], float)
    one_each = csr_array((np.ones(task.size), (task, np.arange(task.size))))
    limits = [
        LinearConstraint(one_each, 1, 1),
        LinearConstraint(csr_array(chosen.T), -np.inf, plan.max_tasks_per_worker),
        LinearConstraint(csr_array(chosen.sum(axis=1)[None, :]), -np.inf, plan.budget),
    ]
    if plan.money is not None:
        cost = csr_array((chosen @ plan.cost)[None, :])
        limits.append(LinearConstraint(cost, -np.inf, plan.money * (1.0 + 1e-12)))
    solved = milp(
        -np.array([c[2] for c in columns]),
        constraints=limits,
        integrality=np.ones(task.size),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 1e-7, "time_limit": 60.0},
    )
    assert solved.x is not None
    return -solved.fun / m, -solved.mip_dual_bound / m


def check(seed):
    """`best` keeps everything, comes near the optimum, and no plan beats its bound."""
    plan = rationed_plan(seed)
    least, most = by_integer_program(plan)
    found = assign(plan, "best", rng=seed)
    reached = accuracy_of(plan, found.support)  # every task has a set that it may have
    assert (found.loads <= plan.max_tasks_per_worker).all()
    assert found.size <= plan.budget
    if plan.money is not None:
        assert found.loads @ plan.cost <= plan.money * (1.0 + ROUNDING)
    assert reached == pytest.approx(found.expected_accuracy, abs=ROUNDING)
    assert reached <= most + ROUNDING
    assert found.bound >= least - 1e-7, "a bound that is beaten"
    assert reached >= (1.0 - NEAR) * most
    prices = found.prices, found.budget_price, found.money_price
    by_prices = found.certificate.bound_by_prices or found.bound
    assert by_prices == pytest.approx(min(1.0, bound_of_prices(plan, *prices)), abs=ROUNDING)
    if fits(plan):
        assert found.reason == LARGEST
        assert reached >= least - 1e-7
    return plan, found, most - reached


@pytest.mark.parametrize("seed", range(24))
def test_best_with_money_is_near_an_integer_program_and_its_bound_is_not_beaten(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, 20))
def test_all_of_200_plans_with_money_are_near_an_integer_program(first):
    for seed in range(first, first + 20):
        check(seed)
