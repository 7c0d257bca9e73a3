"""Designs: of users, near ones and those of all kinds."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.learning.designs import universal_designs
from grn_tvcs import Expression, Rules, SteadyStates
from grn_tvcs.expression.scales import log_levels
from grn_tvcs.simulation.designs import (
    CELL_INTERVAL,
    CELLS,
    GENES,
    KNOCKED,
    POINTS,
    RANDOM,
    SERIES,
    STEADY_SAMPLES,
    Design,
    design_of,
    rounded,
)
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import KINDS, NULLS
from grn_tvcs.simulation.simulation import TIME_STEP

SMALL = Design(6, 6, 2, 7)


def table(n_genes=8, lengths=(5, 9, 7), **more):
    """Series of these lengths."""
    rng = np.random.default_rng(0)
    return Expression(
        rng.random((sum(lengths), n_genes)),
        np.concatenate([np.arange(n) for n in lengths]),
        tuple(str(s) for s, n in enumerate(lengths) for _ in range(n)),
        tuple(f"G{j}" for j in range(n_genes)),
        **more,
    )


def test_the_design_of_a_user_says_what_they_measured():
    plain = table()
    assert design_of(plain, None, Rules()) == Design(8, 8, 3, 7)
    genes = plain.genes
    changed = ("", "G0", "G2", "G5", "G0", "G5")
    steady = SteadyStates(np.ones((6, 8)), changed, np.array([0, 1, 1, 0, 0, 0]), genes[::-1])
    full = replace(plain, perturbed=plain.times < 3, steady_values=np.ones((4, 8)))
    few = Rules(regulators={"G0", "G5", "elsewhere"})
    assert design_of(full, steady, few) == Design(
        8, 2, 3, 7, is_perturbation_known=True, knocked_out=0.5, knocked_down=1.0, n_steady=4
    )
    assert design_of(plain, steady, Rules()).knocked_out == 0.25
    downs = SteadyStates(np.ones((1, 8)), ("G2",), np.array([False]), genes)
    found = design_of(plain, downs, Rules())
    assert (found.knocked_out, found.knocked_down) == (0.0, 0.125)
    assert design_of(plain, downs, Rules(regulators={"G3"})).knocked_down == 0.0


def test_steady_samples_alone_are_a_design():
    genes = ("a", "b", "c")
    rest = Expression(np.empty((0, 3)), np.empty(0), (), genes, steady_values=np.eye(3))
    found = design_of(rest, None, Rules())
    assert (found.n_series, found.n_steady) == (0, 3)
    assert rounded(found).n_series == 0


def test_cells_are_taken_in_bins():
    rng = np.random.default_rng(0)
    cells = Expression(rng.random((400, 5)), np.sort(rng.random(400)), ("1",) * 400, tuple("abcde"))
    found = design_of(cells, None, Rules())
    assert (found.n_points, found.cells, found.interval) == (20, 20, CELL_INTERVAL)


def test_a_design_beyond_what_is_simulated_is_bounded():
    large = table(250, (2,) * 30, steady_values=np.ones((500, 250)))
    found = design_of(large, None, Rules(regulators={f"G{j}" for j in range(50)}))
    assert found == Design(100, 20, 20, 3, n_steady=200)
    one = Expression(np.ones((2, 1)), np.arange(2.0), ("1", "1"), ("a",))
    assert design_of(one, None, Rules()) == Design(2, 1, 1, 3)


def test_near_designs_share_a_key_and_far_ones_do_not():
    near = [Design(n, n, s, p) for n in (27, 30, 35) for s in (9, 11) for p in (20, 22)]
    assert len({rounded(design).key for design in near}) == 1
    other = (
        replace(SMALL, n_genes=12),
        replace(SMALL, n_regulators=2),
        replace(SMALL, n_series=4),
        replace(SMALL, n_points=20),
        replace(SMALL, interval=20.0),
        replace(SMALL, is_perturbation_known=True),
        replace(SMALL, knocked_out=1.0),
        replace(SMALL, knocked_out=0.5),
        replace(SMALL, knocked_down=0.5),
        replace(SMALL, n_steady=20),
        replace(SMALL, cells=10),
        replace(SMALL, start=RANDOM),
        replace(SMALL, hidden=0.2),
    )
    keys = {rounded(design).key for design in (SMALL, *other)}
    assert len(keys) == 1 + len(other)
    assert all(key.replace("-", "").replace(".", "").isalnum() for key in keys)


def test_rounding_keeps_to_the_sizes_and_changes_nothing_twice():
    for design, _ in universal_designs(60, 4):
        near = rounded(design)
        assert near.n_genes in GENES
        assert near.n_series in SERIES
        assert near.n_points in POINTS
        assert near.n_steady in STEADY_SAMPLES
        assert near.cells in CELLS
        assert near.knocked_out in KNOCKED
        assert near.knocked_down in KNOCKED
        assert rounded(near) == near


def test_a_share_that_is_changed_is_rounded_and_stays_above_nothing():
    for share, near in ((0, 0), (0.004, 0.1), (0.12, 0.1), (0.2, 0.25), (0.6, 0.5), (0.9, 1)):
        found = rounded(replace(SMALL, knocked_out=share, knocked_down=share))
        assert (found.knocked_out, found.knocked_down) == (near, near)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_genes": 1}, "n_genes must be >= 2, found 1"),
        ({"n_regulators": 7}, "n_regulators must be <= n_genes, found 7"),
        ({"n_series": 0}, "n_steady must be >= 1, found 0"),
        ({"n_series": 0, "n_steady": 3, "cells": 5}, "n_series must be >= 1, found 0"),
        ({"hidden": 1.0}, "hidden in"),
        ({"interval": 0.0}, "interval must be above 0"),
        ({"knocked_out": 1.1}, "knocked_down must be in .0, 1., found 1.1 and 0.0"),
        ({"knocked_down": -0.1}, "knocked_down must be in .0, 1., found 0.0 and -0.1"),
        ({"start": "there"}, "found 'there'"),
        ({"start": RANDOM, "is_perturbation_known": True}, "a known perturbation needs series"),
    ],
)
def test_a_design_that_cannot_be_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **given)


def test_designs_of_all_kinds_keep_to_their_shares():
    n = 1000
    designs = universal_designs(n, 3)
    assert designs == universal_designs(n, 3) != universal_designs(n, 4)

    def share(holds):
        return sum(holds(design) for design, _ in designs) / n

    for low, high in ((5, 10), (11, 30), (31, 60), (61, 100)):
        assert share(lambda d, a=low, b=high: a <= d.n_genes <= b) == 0.25
    assert share(lambda d: not d.n_series) == 0.12
    assert share(lambda d: d.start == RANDOM) == 0.12
    assert share(lambda d: d.cells > 0) == 0.12
    assert share(lambda d: d.hidden > 0) == 0.18
    assert share(lambda d: d.n_series >= 8 and d.n_steady > 0 and d.interval >= 100) == 0.06
    assert share(lambda d: bool(d.n_series and d.n_steady)) == 0.14
    assert abs(share(lambda d: d.is_perturbation_known) - 0.35) < 0.04
    assert abs(share(lambda d: d.knocked_out > 0) - 0.4) < 0.04
    assert abs(share(lambda d: d.knocked_out == 1) - 0.24) < 0.04
    assert abs(share(lambda d: d.knocked_down > 0) - 0.2) < 0.04
    parts = [d.knocked_out for d, _ in designs if 0 < d.knocked_out < 1]
    assert 0.1 <= min(parts) < 0.2 < 0.8 < max(parts) <= 0.9
    assert all(d.knocked_down in (0, d.knocked_out) for d, _ in designs)
    assert abs(share(lambda d: d.n_regulators < d.n_genes) - 0.25) < 0.01
    assert sum(kind in NULLS for _, kind in designs) == 80
    assert {kind for _, kind in designs} == {*KINDS, *NULLS}
    shapes = {(design.n_series, design.n_points) for design, _ in designs}
    assert {(1, 12), (5, 21), (10, 21), (20, 6)} <= shapes
    assert all(d.n_steady == 0 or 20 <= d.n_steady <= 200 for d, _ in designs)


def test_the_design_of_an_example_is_the_one_it_was_drawn_for():
    for more in (
        {"knocked_out": 1.0, "is_perturbation_known": True},
        {"knocked_out": 0.25, "knocked_down": 0.5, "n_steady": 5},
        {"cells": 8, "interval": CELL_INTERVAL},
    ):
        design = replace(SMALL, n_regulators=4, **more)
        made = draw_example(design, "flat", 1)
        assert design_of(made.expression, made.steady, made.rules) == design


def memory(made):
    """Median over the genes of the correlation of log levels with those of the sample before."""
    logs = log_levels(made.expression.values, 0.2, "levels")
    pieces = made.expression.pieces.values()
    before, after = (
        np.concatenate([logs[rows][part] for rows in pieces])
        for part in (slice(None, -1), slice(1, None))
    )
    pairs = zip(before.T, after.T, strict=True)
    return np.median([np.corrcoef(x, y)[0, 1] for x, y in pairs if np.ptp(x) and np.ptp(y)])


@pytest.mark.slow
@pytest.mark.parametrize(("n_series", "n_points"), [(1, 21), (4, 10)])
def test_memory_of_levels_does_not_tell_the_interval(n_series, n_points):
    """Taking the interval with the nearest usual memory is worse than always the middle one."""
    intervals = (10.0, 20.0, 50.0, 100.0, 200.0)
    found = np.array(
        [
            [
                memory(draw_example(Design(20, 20, n_series, n_points, interval), kind, seed))
                for kind in KINDS
                for seed in range(20)
            ]
            for interval in intervals
        ]
    )
    usual, judged = np.median(found[:, ::2], axis=1), found[:, 1::2]
    taken = np.abs(judged[:, :, None] - usual).argmin(axis=2)
    truth = np.arange(len(intervals))
    assert np.abs(taken - truth[:, None]).mean() > np.abs(intervals.index(TIME_STEP) - truth).mean()
