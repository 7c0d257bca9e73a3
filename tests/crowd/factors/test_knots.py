"""Bounds by knots of quality: held to plans of the table, and to code of their own."""

import numpy as np
import pytest

from crowd_tvcs import assign
from crowd_tvcs.factors import knots
from crowd_tvcs.factors.grid import Groups
from crowd_tvcs.factors.prices import GroupRelaxation
from crowd_tvcs.verification.bound_by_prices import bound_by_prices
from tests.crowd.factors.test_start import crowd, in_order_of_names

ODD = {
    "plain": {},
    "priors": {"prior": np.array([0.5, 0.3, 0.8])[np.arange(60) % 3]},
    "a minimum": {"min_workers_per_task": 2, "loads": 12},
    "two labels at most": {"max_workers_per_task": 2},
    "some may do more": {"loads": np.where(np.arange(20) < 5, 40, 3)},
    "no budget": {"budget": 0},
    "two kinds": {"n_kinds": 2},
    "three kinds, some excluded": {"n_kinds": 3, "excluded": (np.arange(9), np.arange(9) % 4)},
    "two kinds, some may do more": {"n_kinds": 2, "loads": np.where(np.arange(20) < 5, 40, 3)},
}


def checked(plan, found):
    """The bound that separate code proves by the prices of an assignment."""
    proof = found.certificate
    prices = proof.prices, proof.budget_price, 0.0
    given = plan, prices, found.assigned, found.task_accuracy, lambda _: None
    return bound_by_prices(*given, by_knots=True)


@pytest.mark.parametrize("options", ODD.values(), ids=ODD)
def test_a_bound_by_knots_is_above_every_plan(options, monkeypatch):
    monkeypatch.setattr(knots, "MIN_WORKERS", 1)
    monkeypatch.setattr(knots, "MAX_MULTISETS", 3 * 1300)  # 8 to 80 knots for 20 workers
    dense, plan = crowd(20, 60, seed=4, **options)
    relaxed = GroupRelaxation.of(Groups.of(in_order_of_names(plan)))
    bound = knots.bound_by_knots(relaxed.groups, relaxed.relaxation).bound / 60
    found = assign(dense, "best", rng=0, time_limit=2.0)
    assert found.expected_accuracy - 1e-9 <= bound <= found.bound + 0.02


@pytest.mark.parametrize(("n_kinds", "loads"), [(1, None), (2, 32)])
def test_very_many_workers_of_few_kinds_are_certified_and_checked(n_kinds, loads):
    _, plan = crowd(200, 2000, n_kinds, seed=1, loads=loads)
    found = assign(plan, "best", rng=0)
    assert found.certified
    assert found.facts["rounds"] == 0
    # With several kinds, corners of the hull of the workers are priced no lower than the knots.
    assert -1e-5 <= checked(found.plan, found) - found.bound <= 1e-9
