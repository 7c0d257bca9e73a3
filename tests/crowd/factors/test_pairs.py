"""Sets by exchanges of pairs, held against branch and bound."""

import numpy as np
import pytest

from crowd_tvcs import Quality
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.factors.grid import Groups
from crowd_tvcs.factors.prices import GroupRelaxation
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.deadline import Deadline


def relaxed_of(seed, *, n=300, kinds=12, **options):
    """A crowd of many workers, a skill and one per topic (GLAD), and prices that rise with both."""
    rng = np.random.default_rng(seed)
    logit = rng.gamma(2.0, 0.6, (n, 1)) * rng.lognormal(0.0, 0.5, (1, kinds))
    topic = rng.beta(4.0, 2.2, (n, 3))[:, rng.integers(0, 3, kinds)]
    values = np.clip(0.6 / (1.0 + np.exp(-logit)) + 0.4 * topic, 0.5, 0.97).round(4)
    workers, names = [f"w{i:03d}" for i in range(n)], [f"k{k:02d}" for k in range(kinds)]
    tasks = [f"t{k:02d}" for k in range(kinds)]
    factors = Factors(Quality(values, workers, names), tasks, np.arange(kinds))
    plan = Plan(factors, **({"max_workers_per_task": 5} | options))
    worth = 0.009 * np.exp(11.3 * (values.max(axis=1) - 0.8)) * rng.uniform(0.9, 1.0, n)
    return GroupRelaxation.of(Groups.of(plan)), np.append(worth, 0.0)


@pytest.mark.parametrize(
    "options",
    [{}, {"prior": 0.7}, {"min_workers_per_task": 2}, {"max_workers_per_task": 2}],
    ids=["plain", "prior", "minimum", "pairs at most"],
)
@pytest.mark.parametrize("seed", range(3))
def test_exchanges_of_pairs_come_close_to_the_best_set(seed, options):
    relaxed, prices = relaxed_of(seed, **options)
    deadline, nobody = Deadline.after(None), relaxed.relaxation.nobody()
    found = relaxed.price(prices, nobody, deadline, 0)
    best = relaxed.price(prices, found.sets, deadline, 3_000_000)
    assert best.proved
    assert not found.proved
    # A value is that of the set it comes with, which keeps the limits, and never above the best.
    n = relaxed.relaxation.n_workers
    support = relaxed.relaxation.support_of(found.sets)
    cost = (prices[:n] + prices[n]) @ support
    accuracy = relaxed.relaxation.plan.accuracy(support)
    assert found.values == pytest.approx(accuracy - cost, abs=1e-12)
    assert (found.sets.sizes <= relaxed.relaxation.candidates.cap).all()
    assert (found.sets.sizes >= relaxed.relaxation.candidates.need).all()
    assert (found.values <= best.values + 1e-9).all()
    # Single exchanges stop in sets of one or three where five are worth 1 % of the error more.
    error = float((1.0 - best.sets.accuracy).sum())
    assert best.bound - found.bound <= 1e-3 * error
