"""Units of work and their sums: the same bits in any order, grouping and number of threads."""

import pickle
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from grn_tvcs import Rules, infer, simulate
from grn_tvcs.stability.draws import SubsamplingPlan, draw_pairs
from grn_tvcs.stability.execution import Execution
from grn_tvcs.stability.kernels.pursuit import SHARE_STEPS
from grn_tvcs.stability.model import transitions
from grn_tvcs.stability.stability import Draws
from grn_tvcs.stability.sums import (
    MAX_HALVES,
    MAX_SHARE,
    MAX_WEIGHT,
    WEIGHT_STEPS,
    UnitSums,
    add_up,
    on_grid,
)
from grn_tvcs.stability.units import gather
from tvcs_core.engines import Threads

NAMES = ("dropped", "added", "weights", "chosen")
PLAN = SubsamplingPlan(("tvcs", "omp"), 16, (0.3, 0.7), (0.6, 1.0), (1, 3), (1.0, 3.0), 5)


@pytest.fixture(scope="module")
def draws():
    data = simulate(20, 8, 21, noise_level=0.03, rng=0).expression
    rules = Rules(max_out_degree=4, regulators=frozenset(data.genes[:15]))
    allowed = rules.allowed(data.genes)
    inputs = np.flatnonzero(allowed.any(axis=1))
    return Draws(transitions(data, 0.2), inputs, allowed[inputs], rules, data.genes, PLAN)


@pytest.fixture(autouse=True)
def one_thread_of_blas():
    """What a unit asks for, and `gather` sees to."""
    with threadpool_limits(1, "blas"):
        yield


def digest(evidence):
    arrays = [getattr(solver, name) for solver in evidence for name in NAMES]
    return sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


@pytest.fixture(scope="module")
def whole(draws):
    return digest(gather(draws, np.random.default_rng(5)))


@pytest.mark.parametrize("threads", [2, 4])
def test_the_number_of_threads_changes_no_bit(draws, whole, threads):
    assert digest(gather(draws, np.random.default_rng(5), Execution(Threads(threads)))) == whole


@pytest.mark.parametrize(
    "cuts",
    [
        [(0, 8)],
        [(0, 3), (3, 6), (6, 8)],
        [(6, 8), (0, 3), (3, 6)],
        [(k, k + 1) for k in (5, 2, 7, 0, 1, 6, 3, 4)],
    ],
    ids=["one unit", "threes", "threes in another order", "single pairs in any order"],
)
def test_order_and_grouping_change_no_bit(draws, whole, cuts):
    ready = pickle.loads(pickle.dumps(draws.with_pairs(np.random.default_rng(5))))
    found = [ready.unit(*cut) for cut in cuts]
    again = [ready.unit(*cut) for cut in cuts]  # the same, however often it is asked for
    assert pickle.dumps(again) == pickle.dumps(found)
    assert digest(add_up((UnitSums(*unit) for unit in found), ready.shape)) == whole


def test_the_draws_are_known_before_the_work_and_named_in_the_facts(draws):
    ready = draws.with_pairs(np.random.default_rng(5))
    (own,) = np.random.default_rng(5).spawn(1)
    blocks = int(draws.steps.segments.max()) + 1
    assert repr(ready.pairs) == repr(draw_pairs(PLAN, len(draws.inputs), blocks, own))
    assert draws.with_pairs(np.random.default_rng(5)).facts == ready.facts
    other = draws.with_pairs(np.random.default_rng(6)).facts
    assert [name for name in other if other[name] != ready.facts[name]] == ["seed"]


def changed(pair):
    """The same pair with one thing that is drawn changed, each in turn."""
    weights = pair.second.column_weights.copy()
    weights[3] = np.nextafter(weights[3], 2)
    in_first = pair.in_first.copy()
    in_first[:2] = ~in_first[:2]
    yield pair._replace(memory=np.nextafter(pair.memory, 1))
    yield pair._replace(in_first=in_first)
    yield pair._replace(second=pair.second._replace(column_weights=weights))
    yield pair._replace(first=pair.first._replace(in_degree=pair.first.in_degree + 1))
    yield pair._replace(second=pair.second._replace(edges_per_gene=2.0))


def test_facts_are_others_where_anything_that_is_drawn_is(draws):
    ready = draws.with_pairs(np.random.default_rng(5))
    for other in changed(ready.pairs[2]):
        pairs = (*ready.pairs[:2], other, *ready.pairs[3:])
        facts = replace(ready, pairs=pairs).facts
        assert [name for name in facts if facts[name] != ready.facts[name]] == ["seed"]


def test_exact_sums_are_the_plain_ones(draws):
    """The slow twin: the same terms without a grid, added up as floats, pair by pair."""
    ready = draws.with_pairs(np.random.default_rng(5))
    shape = ready.allowed.shape[::-1]
    slow = np.zeros((2, 4, *shape))
    for pair in ready.pairs:
        added = np.zeros((2, *shape), np.int64)
        for k, halves in enumerate(ready.pair(pair, added)):
            slow[k, 1] += added[k] / SHARE_STEPS
            for found, is_sure in halves:
                places = found.edges.places
                slow[k, 0].ravel()[places] += found.dropped
                slow[k, 2].ravel()[places] += found.edges.weights
                slow[k, 3].ravel()[places] += is_sure
    for solver, evidence in zip(slow, gather(draws, np.random.default_rng(5)), strict=True):
        assert np.abs(evidence.dropped.T - solver[0]).max() < 1e-10
        assert np.abs(evidence.added.T - solver[1]).max() < 1e-10
        assert np.abs(evidence.weights.T - solver[2]).max() < 1e-7  # signs alone are made of it
        assert np.array_equal(evidence.chosen.T, solver[3])
        assert all(total.any() for total in solver)


def test_a_unit_is_small(draws):
    unit = draws.with_pairs(np.random.default_rng(5)).unit(0, 1)
    n_pairs, n_genes = draws.allowed.size, draws.allowed.shape[1]
    most = n_pairs + 4 * PLAN.in_degrees[1] * 2 * n_genes  # of a pair of halves
    assert sum(array.size for array in unit) <= 2 * most


def test_no_sum_can_leave_64_bits_and_no_term_the_grid():
    assert MAX_HALVES * MAX_SHARE * SHARE_STEPS < 2.0**63
    assert MAX_HALVES * MAX_WEIGHT * WEIGHT_STEPS < 2.0**63
    assert on_grid(np.array([0.5, 2.0**-40, 1.0]), SHARE_STEPS, 2.0).tolist() == [2**39, 1, 2**40]
    for wrong in (2.1, -2.1, np.nan, np.inf):
        with pytest.raises(ValueError, match="is not finite"):
            on_grid(np.array([0.5, wrong]), SHARE_STEPS, MAX_SHARE)
    with pytest.raises(ValueError, match="resamples must be <= 1048576, found 1048577"):
        infer(simulate(4, 2, 9, n_edges=3, rng=0).expression, "tvcs", resamples=MAX_HALVES + 1)
