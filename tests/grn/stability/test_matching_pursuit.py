"""GradMP on lists of edges against the solver of the core, which works on whole arrays."""

import numpy as np
import pytest

from grn_tvcs import simulate
from grn_tvcs.stability.matching_pursuit import gradmp
from grn_tvcs.stability.model import StepLoss, transitions
from tvcs_core import TVCS, Problem, solve


@pytest.fixture(scope="module")
def steps():
    return transitions(simulate(24, 5, 9, rng=3).expression, 0.1)


def loss_of(steps, rng, repeated=0):
    """A loss of 18 inputs and 24 targets; the first `repeated` targets are alike."""
    allowed = rng.uniform(size=(18, 24)) < 0.9
    own, following = steps.own.copy(), steps.following.copy()
    own[:, :repeated], following[:, :repeated] = own[:, :1], following[:, :1]
    allowed[:, :repeated] = allowed[:, :1]
    past = steps.past(np.arange(18), 0.5)
    weights = rng.uniform(0.6, 1.0, 18)
    return StepLoss(past, own, following, steps.intercepts, weights, allowed), allowed


@pytest.mark.parametrize("repeated", [0, 6], ids=["all different", "equal targets"])
@pytest.mark.parametrize(
    "caps",
    [
        {"col_caps": 3, "total": 40},
        {"col_caps": 1, "total": 500},
        {"col_caps": 2, "total": 11},
        {"col_caps": 0, "total": 9},
        {"col_caps": 2, "total": 0},
        {"col_caps": 3, "total": 40, "row_caps": 2},
        {"col_caps": 2, "total": 30, "row_caps": [0, 1, 2] * 6},
        {"col_caps": 100, "total": 60, "row_caps": 20},
    ],
    ids=str,
)
def test_it_finds_what_the_solver_of_the_core_finds(steps, rng, caps, repeated):
    for iterations in (1, 5, 12):
        loss, allowed = loss_of(steps, rng, repeated)
        constraint = TVCS.matrix((18, 24), **caps)
        masked = TVCS.matrix((18, 24), **caps, allowed=allowed)
        found = np.zeros((24, 18), dtype=bool)
        found.ravel()[gradmp(loss, constraint, iterations)] = True
        slow = solve(Problem(loss, masked), "gradmp", refit=True, max_iter=iterations)
        assert np.array_equal(found.T, slow.support)
        assert masked.is_feasible(found.T)
        assert found.any() == bool(caps["col_caps"] and caps["total"])
