"""Money and groups beside a common error: every assignment of small plans."""

import itertools

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign

WORKERS, TASKS = 4, 2


def small_plan(seed):
    rng = np.random.default_rng([33, seed])
    quality = Quality(
        rng.choice([0.3, 0.5, 0.6, 0.7, 0.8, 0.95], (WORKERS, TASKS)), list("abcd"), ["s", "t"]
    )
    classes = int(rng.integers(2, 4))
    return Plan(
        quality,
        max_workers_per_task=int(rng.integers(1, 5)),
        cost=rng.choice([0.0, 1.0, 2.0, 2.5], WORKERS),
        money=float(rng.choice([0.0, 3.0, 6.0, 99.0])),
        group=[("g" if rng.random() < 0.5 else None) for _ in range(WORKERS)],
        common_error=float(rng.choice([0.05, 0.2, 0.6])),
        **({"n_classes": classes} if classes > 2 else {}),
    )


@pytest.mark.parametrize("seed", range(40))
def test_no_assignment_beats_the_bound_and_best_finds_the_largest(seed):
    plan = small_plan(seed)
    found = assign(plan, "best", rng=0)
    most = 0.0
    for bits in itertools.product((False, True), repeat=WORKERS * TASKS):
        support = np.array(bits).reshape(WORKERS, TASKS)
        if plan.constraint.is_feasible(support) and not plan.unmet(support):
            most = max(most, float(plan.accuracy(support).mean()))
    assert not plan.unmet(found.support)
    assert found.bound is not None
    assert most <= found.bound + 1e-9
    assert found.expected_accuracy == pytest.approx(most, abs=1e-9)
