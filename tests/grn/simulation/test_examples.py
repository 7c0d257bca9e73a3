"""Examples of networks with the experiments of a design."""

from dataclasses import replace

import numpy as np
import pytest

from grn_tvcs import simulate
from grn_tvcs.simulation import examples, experiments
from grn_tvcs.simulation.designs import RANDOM, Design
from grn_tvcs.simulation.examples import draw_example, draw_null
from grn_tvcs.simulation.experiments import Bench, is_on
from grn_tvcs.simulation.kinds import KINDS, NULLS, draw_topology
from grn_tvcs.simulation.kinetics import draw_kinetics

SERIES = Design(7, 7, 3, 9)
REST = Design(7, 7, 0, 3, n_steady=12)
DESIGNS = {
    "series": SERIES,
    "column and knock-outs": replace(SERIES, is_perturbation_known=True, knocked_out=1.0),
    "knock-downs and rest": replace(SERIES, knocked_down=1.0, n_steady=4),
    "all": replace(SERIES, knocked_out=1.0, knocked_down=1.0, n_steady=4),
    "rest": REST,
    "rest and knock-outs": replace(REST, knocked_out=1.0),
    "cells": replace(SERIES, cells=5, interval=12.0),
    "relaxations": replace(SERIES, start=RANDOM),
    "hidden": replace(SERIES, hidden=0.4, knocked_out=1.0),
    "few candidates": replace(SERIES, n_regulators=2, hidden=0.3),
    "a part out": replace(SERIES, n_regulators=5, knocked_out=0.4, knocked_down=0.01),
    "a hidden part": replace(SERIES, n_regulators=5, hidden=0.3, knocked_down=0.6),
}


def tables(example):
    """Every number of an example."""
    rest = example.expression.steady_values
    steady = example.steady
    return [
        example.expression.values,
        example.expression.times,
        np.empty(0) if rest is None else rest,
        np.empty(0) if steady is None else steady.levels,
        example.is_edge,
    ]


def drawn(design, kind, seed):
    return (draw_null if kind in NULLS else draw_example)(design, kind, seed)


@pytest.mark.parametrize("kind", [*KINDS, *NULLS])
@pytest.mark.parametrize("name", DESIGNS)
def test_tables_have_the_shapes_of_the_design(name, kind):
    design = DESIGNS[name]
    made = drawn(design, kind, 3)
    measured, n = made.expression, design.n_genes
    lengths = [rows.stop - rows.start for rows in measured.pieces.values()]
    assert lengths == [design.n_points] * design.n_series
    assert len(measured.genes) == n
    assert measured.n_steady == design.n_steady
    assert measured.scale == "levels"
    assert (measured.perturbed is not None) == design.is_perturbation_known
    assert (measured.cells is not None) == (design.cells > 0)
    shares = design.knocked_out, design.knocked_down
    n_out, n_down = (bool(share) * max(1, round(share * design.n_regulators)) for share in shares)
    assert (made.steady is not None) == (n_out + n_down > 0)
    if made.steady is not None:
        assert made.steady.levels.shape == (1 + n_out + n_down, n)
        assert made.steady.is_knockout.sum() == n_out
        assert made.steady.n_knockdowns == n_down
        assert made.steady.changed[0] == ""
        assert made.steady.changed.count("") == 1
        assert made.rules.regulators is None or {*made.steady.changed[1:]} <= made.rules.regulators
    assert made.kind == kind
    levels = np.concatenate([part.ravel() for part in (*tables(made)[:1], *tables(made)[2:4])])
    assert levels.min() >= 0
    assert levels.max() == 1
    assert not measured.is_constant.any()


@pytest.mark.parametrize("kind", [*KINDS, *NULLS])
def test_the_same_seed_gives_the_same_example_and_another_does_not(kind):
    design = DESIGNS["all"]
    one, again, other = (tables(drawn(design, kind, seed)) for seed in (5, 5, 6))
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not np.array_equal(one[0], other[0])
    handed = [tables(drawn(design, kind, np.random.default_rng(1))) for _ in range(2)]
    assert all(np.array_equal(a, b) for a, b in zip(*handed, strict=True))


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be one of flat, mid, hub, star, found 'walk'"):
        draw_example(SERIES, "walk", 0)
    with pytest.raises(ValueError, match="one of noise, walk, autoregression, found 'flat'"):
        draw_null(SERIES, "flat", 0)


@pytest.mark.parametrize("name", DESIGNS)
def test_genes_stand_in_the_order_of_their_names(name):
    for made in (draw_example(DESIGNS[name], "mid", 0), draw_null(DESIGNS[name], "walk", 0)):
        assert list(made.expression.genes) == sorted(made.expression.genes)
        assert made.expression.in_name_order().genes == made.expression.genes


@pytest.mark.parametrize("kind", KINDS)
def test_only_candidates_regulate(kind):
    design = Design(20, 6, 1, 5, hidden=0.2)
    for seed in range(6):
        made = draw_example(design, kind, seed)
        assert len(made.rules.regulators) == 6
        assert made.rules.regulators <= set(made.expression.genes)
        assert not (made.is_edge & ~made.rules.allowed(made.expression.genes)).any()
        assert made.is_edge.any()


def test_where_all_may_regulate_the_rules_say_nothing():
    assert draw_example(SERIES, "flat", 0).rules.regulators is None
    assert draw_null(SERIES, "noise", 0).rules.regulators is None


def test_of_a_network_with_hidden_genes_only_edges_between_measured_ones_are_true(monkeypatch):
    topologies = []

    def kept(*given):
        topologies.append(draw_topology(*given))
        return topologies[-1]

    monkeypatch.setattr(examples, "draw_topology", kept)
    made = draw_example(Design(12, 12, 1, 5, hidden=0.4), "mid", 2)
    whole = topologies[-1].scores > 0
    assert len(whole) == 20
    place = [int(gene[1:]) - 1 for gene in made.expression.genes]
    assert np.array_equal(made.is_edge, whole[np.ix_(place, place)])
    assert 0 < made.is_edge.sum() < whole.sum()


@pytest.mark.parametrize("kind", NULLS)
def test_a_null_has_no_edge_and_genes_that_know_nothing_of_each_other(kind):
    design = Design(10, 10, 1, 400, n_steady=300, knocked_out=1.0)
    made = draw_null(design, kind, 4)
    assert not made.is_edge.any()
    steps = np.diff(np.log(made.expression.values), axis=0)
    for logs in (steps, np.log(made.expression.steady_values)):
        r = np.corrcoef(logs.T)[~np.eye(10, dtype=bool)]
        assert np.abs(r).max() < 4.5 / len(logs) ** 0.5
    logs = np.log(made.expression.values)
    memory = np.median([np.corrcoef(x[1:], x[:-1])[0, 1] for x in logs.T])
    low, high = {"noise": (-0.1, 0.1), "walk": (0.9, 1), "autoregression": (0.4, 0.98)}[kind]
    assert low < memory < high
    outs = made.steady.levels[1:]
    assert not outs[np.diag_indices(10)].any()


def test_a_gene_that_is_out_makes_nothing_and_one_that_is_down_half(monkeypatch):
    monkeypatch.setattr(examples, "NOISE_LEVELS", {"none": (0.0, 1.0)})
    monkeypatch.setattr(examples, "MAX_SDE", 0.0)
    design = replace(SERIES, knocked_out=1.0, knocked_down=1.0)
    made = draw_example(design, "star", 1)
    n = design.n_genes
    wild, outs, downs = (
        made.steady.levels[0],
        made.steady.levels[1 : n + 1],
        made.steady.levels[n + 1 :],
    )
    assert not outs[np.diag_indices(n)].any()
    regulated = made.is_edge.any(axis=0)
    assert downs.diagonal()[~regulated] == pytest.approx(wild[~regulated] / 2, rel=1e-3)
    # Where there is no path, nothing moves; behind a regulator something does.
    reach = np.linalg.matrix_power(np.eye(n) + made.is_edge, n) > 0
    assert outs[~reach] == pytest.approx(np.tile(wild, (n, 1))[~reach], abs=1e-3)
    assert np.abs(outs - wild)[made.is_edge].max() > 0.05


def test_a_part_that_is_changed_is_drawn_and_stands_in_the_rows_of_its_names(monkeypatch):
    monkeypatch.setattr(examples, "NOISE_LEVELS", {"none": (0.0, 1.0)})
    monkeypatch.setattr(examples, "MAX_SDE", 0.0)
    design = replace(SERIES, n_genes=12, n_regulators=8, hidden=0.2, knocked_out=0.5)
    sets = set()
    for kind in ("mid", "walk"):
        for seed in range(4):
            made = drawn(design, kind, seed)
            names = made.steady.changed[1:]
            assert len(set(names)) == 4
            column = [made.expression.genes.index(name) for name in names]
            outs = made.steady.levels[1:]
            assert not outs[np.arange(4), column].any()
            assert (outs == 0).sum() == 4 or kind == "mid"
            sets.add(names)
    assert len(sets) == 8


def test_a_known_perturbation_is_on_before_half_time():
    for n_points, n_on in ((3, 1), (4, 2), (9, 4), (12, 6), (21, 10)):
        assert is_on(n_points).tolist() == [True] * n_on + [False] * (n_points - n_on)
    made = draw_example(DESIGNS["column and knock-outs"], "hub", 0)
    assert made.expression.perturbed.tolist() == is_on(9).tolist() * 3


def test_cells_lie_along_pseudotime_and_count():
    design = DESIGNS["cells"]
    made = draw_example(design, "mid", 1).expression
    assert set(made.cells) == {5.0}
    ends = [made.times[rows.stop - 1] - made.times[rows.start] for rows in made.pieces.values()]
    whole = design.n_points * design.interval
    assert all(0.5 * whole < end < 1.3 * whole for end in ends)


@pytest.fixture(scope="module")
def quiet():
    """Our simulator without noise, its levels as they are."""
    topology = draw_topology("mid", 8, np.random.default_rng(0))
    made = simulate(2, 2, 6, topology=topology, noise="none", sde=0.0, rng=4)
    return made, Bench(made.kinetics, 0.0, np.random.default_rng(0))


def test_rest_is_where_the_differential_equation_comes_to_rest(quiet):
    made, bench = quiet
    assert bench.wild_type[0] == pytest.approx(made.wild_type * made.scale, abs=0.005)
    for part, slow in ((0.0, made.knockouts), (0.5, made.knockdowns)):
        fast = np.array([bench.knocked(gene, part) for gene in range(8)])
        assert fast == pytest.approx(slow * made.scale, abs=0.005)
    assert np.abs(made.knockouts - made.wild_type)[made.network.scores > 0].max() > 0.2


def test_series_leave_the_wild_type_and_relaxations_come_back_to_it(quiet):
    bench = quiet[1]
    wild = bench.wild_type[0]

    def far(levels):
        return np.abs(levels - wild).max(axis=1)

    for _ in range(3):
        levels = bench.series(21, 60.0)
        assert far(levels)[0] == 0
        assert far(levels)[10] > 0.1
        assert far(levels)[20] < 0.1 * far(levels)[10]
        for is_shifted in (False, True):
            levels = bench.relaxation(21, 60.0, is_shifted=is_shifted)
            assert far(levels)[0] > 0.1
            assert far(levels)[20] < 0.01


def test_large_steps_leave_the_noise_of_the_dynamics_as_it_is(monkeypatch):
    kinetics = draw_kinetics(draw_topology("mid", 8, np.random.default_rng(0)), 4)
    found = []
    for step in (experiments.STEP, experiments.REST_STEP, 1.0):
        monkeypatch.setattr(experiments, "REST_STEP", step)
        bench = Bench(kinetics, 0.05, np.random.default_rng(7))
        rests = np.array([bench.knocked(0, 1.0) for _ in range(400)])
        found.append((rests.mean(axis=0), rests.std(axis=0)))
    for mean, deviation in found[:2]:
        exact_mean, exact = found[2]
        assert np.abs(mean - exact_mean).max() < 5 * exact.max() / 400**0.5
        assert 0.85 < np.median(deviation / exact) < 1.15
