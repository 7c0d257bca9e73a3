"""`fast`: what it promises."""

import pytest

from crowd_tvcs import METHODS, Plan, assign
from crowd_tvcs.simulation import simulate


@pytest.mark.parametrize(
    ("family", "most"), [("iid", 1.1), ("worker", 1.1), ("topic", 1.2), ("skilldiff", 1.2)]
)
def test_fast_is_near_the_best(family, most):
    quality = simulate(25, 80, family=family, rng=4).quality
    plan = Plan(quality, max_workers_per_task=3, max_tasks_per_worker=9, budget=190)
    fast, best = (1 - assign(plan, name, rng=0).expected_accuracy for name in ("fast", "best"))
    assert best <= fast <= most * best


def test_fast_draws_no_random_number_and_is_better_than_qlp():
    plan = Plan(simulate(25, 80, rng=4).quality, max_tasks_per_worker=9, budget=190)
    first, again = assign(plan, "fast", rng=0), assign(plan, "fast", rng=1)
    assert (first.support == again.support).all()
    assert first.expected_accuracy > assign(plan, "qlp").expected_accuracy
    assert "fast" in METHODS
