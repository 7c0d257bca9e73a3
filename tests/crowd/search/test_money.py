"""Money and groups in `best`: against an integer program over all sets of all tasks."""

import json

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from crowd_tvcs import Plan, Quality, assign
from crowd_tvcs.plan.proof import LARGEST
from crowd_tvcs.search.all_sets import fits
from crowd_tvcs.search.column_generation import Columns, MasterSolution
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.greedy_with_costs import POWERS, _Climb
from crowd_tvcs.search.relaxation import PROOF_NODES, Relaxation
from crowd_tvcs.simulation import simulate
from crowd_tvcs.verification.pricing import price_task
from crowd_tvcs.verification.pricing_many_classes import chances
from crowd_tvcs.verification.pricing_many_classes import price_task as price_classes
from crowd_tvcs.verification.side_constraints import groups_of
from tests.crowd.small_plans import accuracies, accuracy_of, bound_of_prices, may_have
from tests.makers.commands import run_done

ROUNDING = 1e-9
NEAR = 0.005  # of the optimum
TASKS = ("t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7")


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


def lone_voters(seed):
    """A plan with one worker a task at most: what a pair gains depends on no other."""
    rng = np.random.default_rng([3, seed])
    n, m = int(rng.integers(2, 7)), int(rng.integers(2, 9))
    must = int(rng.integers(0, min(n, m)))
    return Plan(
        Quality(rng.uniform(0.51, 0.97, (n, m)), [f"w{i}" for i in range(n)], list(TASKS[:m])),
        max_workers_per_task=1, max_tasks_per_worker=rng.integers(1, 4, n),
        budget=int(rng.integers(must, m + 2)), cost=rng.choice([0.0, 0.2, 1.0, 2.5], n),
        money=2.5 * must + float(rng.uniform(0.1, 0.6) * m),
        min_workers_per_task=rng.permutation(np.arange(m) < must).astype(int),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("power", POWERS)
def test_a_climb_takes_what_must_be_then_the_most_for_its_cost(seed, power):
    plan = lone_voters(seed)
    values, need = plan.quality.values, plan.min_workers_per_task
    chosen, money = np.zeros(values.shape, bool), plan.money
    while True:
        room = plan.max_tasks_per_worker > chosen.sum(axis=1)
        offers = [
            (not need[j], -np.inf if not weight else -(values[i, j] - 0.5) / weight,
             -values[i, j], j, i)
            for i, j in np.argwhere(~chosen.any(axis=0) & room[:, None])
            if plan.cost[i] <= money and chosen.sum() < plan.budget
            for weight in [plan.cost[i] ** power]
        ]  # fmt: skip
        if not offers:
            break
        *_, j, i = min(offers)
        chosen[i, j], money = True, money - plan.cost[i]
    assert (
        _Climb(Relaxation.of(plan), power, Deadline.after(None)).run(np.zeros_like(chosen))
        == chosen
    ).all()


@pytest.mark.parametrize("seed", range(12))
def test_shares_are_rounded_within_caps_budget_and_money(seed):
    rng, plan = np.random.default_rng(seed), rationed_plan(seed)
    relaxation = Relaxation.of(plan)
    columns = Columns(relaxation)
    for share in (0.2, 0.4, 0.8):
        columns.add(relaxation.sets_of(rng.random(plan.quality.shape) < share))
    kinds = [columns.set_of(c)[0] for c in range(len(columns))]
    share = relaxation.tasks_of_kind[kinds] * rng.random(len(columns))
    found = columns.round(MasterSolution(np.arange(len(columns)), share, np.empty(0), 0.0))
    loads = found.loads(relaxation.n_workers)
    assert (loads <= relaxation.caps).all()  # of the workers, and the budget
    if plan.money is not None:
        assert loads[:-1] @ relaxation.rations.cost <= relaxation.rations.money * (1 + ROUNDING)


@pytest.mark.parametrize("seed", range(24))
def test_best_with_money_is_near_an_integer_program_and_its_bound_is_not_beaten(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, 20))
def test_all_of_200_plans_with_money_are_near_an_integer_program(first):
    for seed in range(first, first + 20):
        check(seed)


def grouped_task(seed, k):
    """One task of a crowd whose prices leave many on the shortlist, in groups of about four."""
    rng = np.random.default_rng([23, seed, k])
    n = [9, 60][seed % 2] if k == 2 else 9
    quality = rng.uniform(0.5, 0.95, n).round([2, 6][seed // 2 % 2])
    options = {}
    if k > 2 and seed % 2:
        matrices = rng.dirichlet(np.ones(k), (n, k)) + 2.0 * np.eye(k)
        options["confusion"] = matrices / matrices.sum(axis=2, keepdims=True)
    plan = Plan(
        Quality(quality[:, None], [f"w{i}" for i in range(n)], ["t"]),
        max_workers_per_task=4,
        min_workers_per_task=int(rng.integers(0, 3)),
        group=[f"g{g}" if g else None for g in rng.integers(0, n // 4 + 1, n)],
        cost=rng.choice([0.0, 1.0, 2.0], n),
        money=9.0,
        n_classes=k,
        **options,
    )
    each = np.maximum(0.0, 0.15 * (quality - 0.6) + rng.normal(0.01, 0.01, n)).round(3)
    return plan, np.append(each, [0.005, 0.004])


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(24))
def test_the_priced_set_is_the_best_of_those_with_one_of_a_group(seed, k):
    plan, prices = grouped_task(seed, k)
    relaxation, n = Relaxation.of(plan), len(plan.quality.workers)
    sets, task = relaxation.nobody(), np.array([0])
    limit = {"node_limit": PROOF_NODES}
    found = relaxation.visit(task, prices, sets, Deadline.after(None), **limit)
    assert found.proved[0]
    charged = prices[:n] + prices[n] + prices[n + 1] * relaxation.rations.cost
    support = relaxation.support_of(sets)
    groups = groups_of(plan)
    of_set = groups[support[:, 0] & (groups >= 0)]
    assert of_set.size == np.unique(of_set).size
    worth = plan.accuracy(support)[0] - charged[support[:, 0]].sum()
    assert found.value[0] == pytest.approx(worth, abs=1e-12)
    least, cap = int(plan.min_workers_per_task[0]), int(plan.max_workers_per_task[0])
    if k == 2:
        quality = plan.quality.values[:, 0]
        priced = price_task(quality, charged, cap, 0.5, least=least, group=groups)
    else:
        matrices, prior = chances(plan, 0)
        nobody = matrices[:0]
        priced = price_classes(
            matrices, charged, cap, prior, least=least, fixed=nobody, group=groups
        )
    assert priced.exact
    assert priced.value == pytest.approx(worth, abs=1e-10)
    if n < 10:
        may, member = may_have(plan, 0)
        left = accuracies(plan, 0) - member @ charged
        assert left[may].max() == pytest.approx(worth, abs=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_exchanges_keep_money_and_groups_and_gain(seed):
    rng = np.random.default_rng([24, seed])
    values = rng.uniform(0.5, 0.95, (10, 15))
    support = rng.random((10, 15)) < 0.3
    group = [f"g{i // 2}" for i in range(8)] + [None, None]
    for i in range(0, 8, 2):
        support[i + 1] &= ~support[i]
    cost = rng.choice([0.0, 1.0, 2.5], 10)
    plan = Plan(
        Quality(values, [f"w{i}" for i in range(10)], [f"t{j}" for j in range(15)]),
        max_tasks_per_worker=8,
        cost=cost,
        money=float(cost @ np.minimum(support.sum(axis=1), 8)) + 1.0,
        group=group,
    )
    support &= support.cumsum(axis=1) <= 8
    relaxation = Relaxation.of(plan)
    start = relaxation.sets_of(support)
    after = relaxation.exchange(start, Deadline.after(None))
    found = relaxation.support_of(after)
    assert plan.unmet(found) == ()
    assert (found.sum(axis=1) <= 8).all()
    assert after.accuracy.sum() > start.accuracy.sum() + 1e-3


@pytest.mark.parametrize("classes", [2, 3])
def test_verify_recomputes_the_bound_of_a_plan_that_is_not_branched_on(tmp_path, classes):
    rng = np.random.default_rng(classes)
    values, names = rng.uniform(0.5, 0.95, (12, 25)).round(3), [f"w{i:02d}" for i in range(12)]
    lines = [",".join(["worker", *(f"t{j}" for j in range(25))])]
    lines += [",".join([name, *map(str, row)]) for name, row in zip(names, values, strict=True)]
    (tmp_path / "q.csv").write_text("\n".join(lines) + "\n")
    people = [f"{name},{1 + i % 3},{'g' + str(i % 5)}" for i, name in enumerate(names)]
    (tmp_path / "people.csv").write_text("\n".join(["worker,cost,group", *people, ""]))
    (tmp_path / "must.csv").write_text("worker,task\nw03,t1\nw04,t2\n")

    out = tmp_path / "plan"
    run_done(
        "assign", tmp_path / "q.csv", "--out", out, "--workers", tmp_path / "people.csv",
        "--forced", tmp_path / "must.csv", "--money", 70, "--max-workers-per-task", 3,
        "--max-tasks-per-worker", 8, "--classes", classes,
    )  # fmt: skip
    run_done("verify", out)
    summary = json.loads((out / "summary.json").read_text())
    assert 0.0 < summary["bound"] - summary["expected_accuracy"] < 1e-3


def test_no_money_buys_only_what_is_free_and_that_is_proved():
    quality = Quality([[0.9, 0.9], [0.6, 0.7]], ["ann", "bob"], ["t1", "t2"])
    nothing = assign(Plan(quality, cost=1, money=0), "best", rng=0)
    assert nothing.size == 0
    assert nothing.reason == LARGEST
    free = assign(Plan(quality, cost=[1, 0], money=0), "best", rng=0)
    assert free.pairs() == [("bob", "t1"), ("bob", "t2")]
    assert free.reason == LARGEST
    large = Quality(np.tile(quality.values, (1, 15)), ["ann", "bob"], [f"t{j}" for j in range(30)])
    found = assign(Plan(large, cost=[1, 0], money=0), "best", rng=0)
    assert found.size == 30
    assert found.reason == LARGEST


def test_money_that_is_more_than_enough_is_worth_nothing_and_changes_nothing():
    rng = np.random.default_rng(1)
    values = rng.uniform(0.5, 0.95, (8, 30))
    quality = Quality(values, [f"w{i}" for i in range(8)], [f"t{j}" for j in range(30)])
    caps = {"max_workers_per_task": 3, "max_tasks_per_worker": 9, "budget": 60}
    free = assign(Plan(quality, **caps), "best", rng=0)
    rich = assign(Plan(quality, **caps, cost=rng.uniform(0.1, 2.0, 8), money=1e6), "best", rng=0)
    assert rich.money_price == 0.0
    assert rich.expected_accuracy == pytest.approx(free.expected_accuracy, abs=1e-4)
    costless = assign(Plan(quality, **caps, cost=0, money=0), "best", rng=0)
    assert costless.money_price == 0.0
    assert costless.expected_accuracy == pytest.approx(free.expected_accuracy, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_no_time_at_all_leaves_a_plan_no_worse_than_greedy(seed):
    rng = np.random.default_rng(seed)
    quality = Quality(
        rng.uniform(0.55, 0.95, (12, 40)),
        [f"w{i}" for i in range(12)],
        [f"t{j}" for j in range(40)],
    )
    plan = Plan(quality, max_workers_per_task=5, cost=rng.uniform(0.5, 3.0, 12), money=90.0)
    found = assign(plan, "best", rng=0, time_limit=1e-6)
    assert found.expected_accuracy >= assign(plan, "greedy").expected_accuracy - 1e-12


@pytest.mark.parametrize("method", ["best", "greedy"])
@pytest.mark.parametrize("n", [12, 120])
def test_no_time_at_all_leaves_a_plan_that_spends_the_money(method, n):
    rng = np.random.default_rng(n)
    quality = simulate(n, 90, rng=rng).quality
    group = [f"g{i // 3}" for i in range(n)]
    cost = rng.uniform(0.5, 3.0, n)
    plan = Plan(quality, max_workers_per_task=5, cost=cost, money=90.0, group=group)
    found = assign(plan, method, rng=0, time_limit=1e-6)  # `Assignment` checks the caps
    assert not plan.unmet(found.support)
    assert 80.0 < found.spent <= 90.0 + 1e-9
    assert "the time limit" in found.reason
    assert found.expected_accuracy > 0.5 * (
        plan.guess.mean() + assign(plan, method).expected_accuracy
    )
