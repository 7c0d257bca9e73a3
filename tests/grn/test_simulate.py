import numpy as np
import pytest

from grn_tvcs import simulate
from grn_tvcs.simulate import MAX_IN_DEGREE, _effects, _grown


def test_the_same_seed_gives_the_same_simulation():
    a, b, c = (simulate(8, 2, 5, rng=seed) for seed in (3, 3, 4))
    assert np.array_equal(a.expression.values, b.expression.values)
    assert a.network.edges() == b.network.edges()
    assert not np.array_equal(a.expression.values, c.expression.values)


@pytest.mark.parametrize("seed", range(5))
def test_networks_have_the_edges_asked_for_degree_limits_and_hubs(seed):
    edges = _grown(60, 90, np.random.default_rng(seed))
    assert edges.sum() == 90
    assert not edges.diagonal().any()
    assert edges.sum(axis=0).max() <= MAX_IN_DEGREE
    assert edges.sum(axis=1).max() >= 3 * 90 / 60


@pytest.mark.parametrize("seed", range(5))
def test_the_system_is_stable_and_levels_are_positive(seed):
    rng = np.random.default_rng(seed)
    effects = _effects(_grown(20, 40, rng), rng)
    assert np.abs(np.linalg.eigvals(effects)).max() < 1
    levels = simulate(20, 3, 50, n_edges=40, rng=seed).expression.values
    assert levels.min() >= 0
    assert levels.max() == 1


def test_the_fullest_network_fits():
    n_edges = simulate(6, 1, 3, n_edges=2 * 4 + 2 * 1, rng=0).network.selected.sum()
    assert n_edges == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_genes": 1}, "n_genes must be >= 2"),
        ({"n_series": 0}, "n_series must be >= 1"),
        ({"n_points": 1}, "n_points must be >= 2"),
        ({"n_edges": 0}, r"n_edges must be in \[1,"),
        ({"n_edges": 10_000}, r"n_edges must be in \[1,"),
        ({"noise": -0.1}, r"noise must be in \[0, 1\]"),
        ({"noise": float("nan")}, r"noise must be in \[0, 1\]"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate(**arguments)
