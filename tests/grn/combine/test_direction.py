"""How far series go along one direction, and tables that a common stimulus explains."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.learning.without_edges import DRIVEN, draw_without_edges
from grn_tvcs.combine import direction as module
from grn_tvcs.combine.direction import (
    LIMIT_QUANTILE,
    LIMIT_SD,
    N_NETWORKS,
    has_directions,
    shared_direction,
    simulated_shared_direction,
    upper_limit,
)
from grn_tvcs.expression.expression import Expression
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example, draw_null
from grn_tvcs.simulation.kinds import KINDS, NULLS
from tvcs_core.streams import stream

DESIGN = Design(30, 10, 4, 8)


def table(*series):
    """Logarithms of series of (points, genes) each."""
    n = series[0].shape[1]
    names = [f"{k:02d}" for k, part in enumerate(series) for _ in part]
    times = np.concatenate([np.arange(float(len(part))) for part in series])
    genes = [f"G{j:02d}" for j in range(n)]
    return Expression(np.concatenate(series), times, tuple(names), tuple(genes), scale="log")


def slow(expression):
    """The same by the eigenvectors of covariances, pair by pair."""
    logs = np.array(expression.values)
    pieces = [logs[rows] for rows in expression.pieces.values() if rows.stop - rows.start > 2]
    sd = np.sqrt(sum(np.var(part, axis=0) for part in pieces) / len(pieces))
    first = []
    for part in pieces:
        _, vectors = np.linalg.eigh(np.cov((part / sd).T))
        first.append(vectors[:, -1])
    cosines = [abs(a @ b) for i, a in enumerate(first) for b in first[:i]]
    return np.median(cosines)


def test_it_is_the_median_cosine_of_first_directions(rng):
    for sizes in ((5, 5), (4, 7, 5), (6, 6, 6, 2, 9)):
        made = table(*(rng.normal(size=(size, 7)).cumsum(axis=0) for size in sizes))
        assert shared_direction(made) == pytest.approx(slow(made), rel=1e-9)


def test_neither_signs_nor_units_nor_rest_change_it(rng):
    series = [rng.normal(size=(6, 5)).cumsum(axis=0) for _ in range(3)]
    found = shared_direction(table(*series))
    scale, rest = rng.choice([-3.0, 0.2, 7.0], 5), rng.normal(size=5)
    assert shared_direction(table(*(part * scale + rest for part in series))) == pytest.approx(
        found
    )
    moved = [part + rng.normal(size=5) for part in series]
    assert shared_direction(table(*moved)) == pytest.approx(found)
    assert shared_direction(table(*(-part for part in series))) == pytest.approx(found)


def test_one_direction_is_one_and_directions_at_right_angles_are_none():
    course = np.array([0.0, 1, 2, 1, 0])[:, None]
    along = np.array([[1.0, -2, 0.5, 0]])
    assert shared_direction(table(course * along, 3 * course * along)) == pytest.approx(1)
    across = table(course * [[1.0, 0, 0, 0]], course * [[0.0, 1, 0, 0]])
    assert shared_direction(across) == pytest.approx(0, abs=1e-9)


def test_replicates_of_a_few_conditions_do_not_decide(rng):
    conditions = [np.outer(np.sin(np.arange(8.0)), rng.normal(size=40)) for _ in range(3)]
    every = [c + 0.02 * rng.normal(size=c.shape) for c in conditions for _ in range(3)]
    assert shared_direction(table(*every)) < 0.4
    assert shared_direction(table(*every[:3])) > 0.95


def test_nothing_is_known_of_one_series_few_points_or_nothing_that_moves(rng):
    moving = rng.normal(size=(5, 4))
    still = np.ones((5, 4))
    for series in ((moving,), (moving, moving[:2]), (moving[:2], moving[2:4]), (moving, still)):
        assert np.isnan(shared_direction(table(*series)))
    rest = replace(table(moving[:2]), steady_values=rng.normal(size=(4, 4)))
    assert np.isnan(shared_direction(rest))
    one_still_gene = np.column_stack([moving, np.zeros(5)])
    assert 0 <= shared_direction(table(one_still_gene, one_still_gene[::-1] ** 2)) <= 1


def test_it_is_asked_of_several_series_of_three_points_and_more():
    assert has_directions(DESIGN)
    assert has_directions(Design(5, 5, 2, 3))
    assert not has_directions(Design(5, 5, 1, 30))
    assert not has_directions(Design(5, 5, 4, 2))
    assert not has_directions(Design(5, 5, 0, 3, n_steady=9))


def test_networks_of_a_design_are_of_all_kinds_and_nothing_beside_series_matters(monkeypatch):
    drawn = []

    def draw(design, kind, rng):
        drawn.append((design, kind))
        return draw_example(design, kind, rng)

    monkeypatch.setattr(module, "draw_example", draw)
    one = [simulated_shared_direction(DESIGN, k) for k in range(4)]
    more = replace(DESIGN, n_steady=5, knocked_out=1.0, is_perturbation_known=True)
    assert [simulated_shared_direction(more, k) for k in range(4)] == one
    assert [kind for _, kind in drawn] == 2 * list(KINDS)
    assert {design for design, _ in drawn} == {DESIGN}
    assert len(set(one)) == 4


def test_the_limit_is_the_lesser_of_a_quantile_and_of_what_is_far(rng):
    even = rng.uniform(0.05, 0.5, 100)
    skewed = np.where(np.arange(100) < 10, 0.001, even)
    for known in (even, skewed, np.append(even, 0.97), np.append(even, [0.95, 0.97])):
        odds = np.log(known / (1 - known))
        far = 1 / (1 + np.exp(-(odds.mean() + LIMIT_SD * odds.std())))
        assert upper_limit(known) == pytest.approx(min(np.quantile(known, LIMIT_QUANTILE), far))
        assert upper_limit(np.append(known, np.nan)) == upper_limit(known)
    assert upper_limit(np.append(even, [0.95, 0.97])) < 0.9
    assert upper_limit(np.array([np.nan])) == upper_limit(np.array([])) == np.inf
    assert 0 < upper_limit(np.array([0.0, 0.5, 1.0])) <= 1


def test_a_common_stimulus_goes_along_one_direction_and_networks_do_not():
    limit = upper_limit(
        np.array([simulated_shared_direction(DESIGN, k) for k in range(N_NETWORKS)])
    )
    driven, others = (
        [
            shared_direction(draw(DESIGN, kind, stream(3, kind, str(k))).expression)
            for kind in kinds
            for k in range(60 // len(kinds))
        ]
        for draw, kinds in ((draw_without_edges, (DRIVEN,)), (draw_example, tuple(KINDS)))
    )
    assert np.mean(np.array(driven) > limit) > 0.6
    assert np.mean(np.array(others) > limit) < 0.08
    noise = [shared_direction(draw_null(DESIGN, kind, 1).expression) for kind in NULLS]
    assert max(noise) < limit
