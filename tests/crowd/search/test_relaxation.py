"""The priced task: branch and bound, ascent and the plain code of verify, against enumeration."""

import itertools

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, expected_accuracy
from crowd_tvcs.search import search
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.kernels import branch_and_bound as kernels
from crowd_tvcs.search.kernels.scratch import Shortlist
from crowd_tvcs.search.relaxation import PROOF_NODES, Relaxation, price_everything
from crowd_tvcs.search.voters import folded_scratch
from crowd_tvcs.verification.pricing import accuracy, price_task


def priced_task(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    quality = rng.uniform(0.02 if seed % 2 else 0.5, 0.98, n).round(1 + seed % 3)
    price = rng.exponential([0.02, 0.002, 0.2][seed % 3], n).round(2 + seed % 2)
    return quality, price, int(rng.integers(0, n + 1)), rng.choice([0.5, 0.7, 0.1, 0.0])


def priced(relaxation, prices, node_limit=PROOF_NODES):
    no_limit = Deadline.after(None)
    return price_everything(relaxation, prices, relaxation.nobody(), no_limit, node_limit)


def value_of(quality, price, prior, members):
    column, chosen = quality[members][:, None], np.ones((len(members), 1), dtype=bool)
    return expected_accuracy(column, chosen, prior)[0] - price[members].sum()


def best_by_enumeration(quality, price, cap, prior):
    best = max(prior, 1 - prior)
    for k in range(1, cap + 1):
        for members in itertools.combinations(range(quality.size), k):
            best = max(best, value_of(quality, price, prior, list(members)))
    return best


@pytest.mark.parametrize("seed", range(150))
def test_pricing_equals_trying_every_set(seed):
    quality, price, cap, prior = priced_task(seed)
    best = best_by_enumeration(quality, price, cap, prior)
    names = [f"w{i}" for i in range(quality.size)]
    plan = Plan(Quality(quality[:, None], names, ["t"]), max_workers_per_task=cap, prior=prior)
    relaxation = Relaxation.of(plan)
    dual = price_everything(
        relaxation, np.append(price, 0.0), relaxation.nobody(), Deadline.after(None)
    )
    assert dual.proved
    assert dual.values[0] == pytest.approx(best, abs=1e-12)
    members = dual.sets.workers[0, : dual.sets.sizes[0]]
    assert value_of(quality, price, prior, members) == pytest.approx(best, abs=1e-12)
    again = price_task(quality, price, cap, float(prior), 0.0)
    assert again.exact
    assert again.value == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_two_ways_to_price_agree_on_tasks_too_large_to_try_everything(seed):
    rng = np.random.default_rng(seed)
    quality = rng.uniform(0.5, 0.9, 60)
    price = 0.01 + 0.3 * (quality - 0.5) * rng.uniform(0.5, 1.0, 60)
    plan = Plan(Quality(quality[:, None], [f"w{i}" for i in range(60)], ["t"]),
                max_workers_per_task=5)  # fmt: skip
    relaxation = Relaxation.of(plan)
    dual = price_everything(
        relaxation, np.append(price, 0.0), relaxation.nobody(), Deadline.after(None)
    )
    again = price_task(quality, price, 5, 0.5, 0.5)
    assert dual.proved
    assert again.exact
    assert again.value == pytest.approx(dual.values[0], abs=1e-12)


def test_a_rough_bound_follows_prices_that_were_not_proved(monkeypatch):
    rng = np.random.default_rng(5)
    plan = Plan(rng.uniform(0.55, 0.9, (8, 12)), max_workers_per_task=5, budget=36)
    monkeypatch.setattr(search, "PROOF_NODES", 0)  # exchanges alone prove nothing
    one = search.Search(plan, rng, Deadline.after(None))
    one._price(one._first_prices())
    assert one.dual is None
    one._bound_roughly()
    exact = price_everything(
        one.relaxation, one.dual.prices, one.relaxation.nobody(), Deadline.after(None)
    )
    assert exact.proved
    assert one.dual.slack >= search.SLACK
    most = exact.bound + one.dual.slack * one.relaxation.n_tasks
    assert exact.bound - 1e-12 <= one.dual.bound <= most + 1e-12


def test_ascent_never_claims_more_than_the_best_set():
    rng = np.random.default_rng(0)
    met = 0
    for _ in range(30):
        q = np.sort(rng.uniform(0.5, 0.9, 15))[::-1].copy()
        p = 0.02 + rng.exponential(0.01, 15)
        plan = Plan(Quality(q[:, None], [f"w{i}" for i in range(15)], ["t"]))
        scratch, branch = folded_scratch(Relaxation.of(plan).candidates)
        short = Shortlist(q, p, np.arange(15), np.empty(0, dtype=np.int64))
        tables, gain = branch.tables, branch.bounds.gain
        value, k = kernels.ascend(
            np.array([0.5]), short, 0, 3, 0.5, tables, scratch.tried, branch.chosen, gain
        )
        best = best_by_enumeration(q, p, 3, 0.5)
        assert value == pytest.approx(value_of(q, p, 0.5, branch.chosen[:k]), abs=1e-12)
        assert value <= best + 1e-12
        met += value > best - 1e-12
    assert met >= 28


def test_a_search_that_was_broken_off_proves_nothing():
    rng = np.random.default_rng(1)
    quality = Quality(rng.uniform(0.5, 0.9, (30, 2)), [f"w{i}" for i in range(30)], ["a", "b"])
    relaxation = Relaxation.of(Plan(quality, max_workers_per_task=5))
    prices = np.append(np.zeros(30), 0.001)
    assert not price_everything(
        relaxation, prices, relaxation.nobody(), Deadline.after(None), 1
    ).proved
    assert priced(relaxation, prices).proved


def test_the_plain_accuracy_is_that_of_the_kernels():
    rng = np.random.default_rng(2)
    for size in range(9):
        quality, prior = rng.random(size), float(rng.random())
        exact = expected_accuracy(quality[:, None], np.ones((size, 1), bool), prior)[0]
        assert accuracy(quality, prior) == pytest.approx((exact, exact), abs=1e-13)
