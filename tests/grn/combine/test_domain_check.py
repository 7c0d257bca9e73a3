"""Traits of tables, and which tables are none that the simulator makes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from benchmarks.learning.traits import fit_trait_distribution
from grn_tvcs.combine.domain_check import (
    OF_SERIES,
    TRAITS,
    as_row,
    covariates,
    distance,
    group,
    traits,
)
from grn_tvcs.expression.expression import Expression
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import KINDS

DESIGN = Design(10, 10, 4, 11)
OTHERS = (
    Design(8, 8, 3, 9), Design(12, 6, 6, 9), DESIGN, Design(10, 10, 1, 30),
    Design(9, 9, 0, 3, n_steady=30), replace(DESIGN, knocked_out=1.0),
)  # fmt: skip


def row_of(design, seed):
    example = draw_example(design, tuple(KINDS)[seed % len(KINDS)], seed)
    return traits(example.expression, example.steady), design


@pytest.fixture(scope="module")
def rows():
    return [row_of(OTHERS[k % len(OTHERS)], k) for k in range(150)]


@pytest.fixture(scope="module")
def learned(rows):
    return fit_trait_distribution(rows)


def common_trends(rng, n_genes=10, n_series=4, n_points=11):
    """Series that start anywhere, with strong trends that all genes follow, as real ones do."""
    pieces = []
    load = rng.normal(0, 1.0, n_genes)
    for _ in range(n_series):
        start = rng.normal(0, 1.5, n_genes)
        factor = np.linspace(0, 2.5, n_points)[:, None] * load * rng.choice([-1, 1])
        pieces.append(start + factor + 0.02 * rng.standard_normal((n_points, n_genes)))
    times = np.tile(np.arange(n_points) * 50.0, n_series)
    names = tuple(f"{s}" for s in range(n_series) for _ in range(n_points))
    genes = tuple(f"G{k}" for k in range(n_genes))
    return Expression(np.exp(np.concatenate(pieces)), times, names, genes, scale="levels")


def slow_distance(left, scatter):
    known = [k for k, x in enumerate(left) if not np.isnan(x)]
    inverse = np.linalg.inv(scatter[np.ix_(known, known)])
    return sum(left[a] * inverse[i, j] * left[b] for i, a in enumerate(known)
               for j, b in enumerate(known)) / len(known)  # fmt: skip


def test_distances_are_those_of_sums_over_known_traits(rows, learned):
    by_group = [[], [], []]
    for found, design in rows:
        left = as_row(found) - covariates(design) @ learned.means
        assert distance(left, learned.scatter) == pytest.approx(
            slow_distance(left, learned.scatter), rel=1e-6
        )
        by_group[group(as_row(found))].append(slow_distance(left, learned.scatter))
    assert [len(one) for one in by_group] == [100, 25, 25]
    for k, one in enumerate(by_group):
        assert learned.limits[k] == pytest.approx(np.quantile(one, 0.975), rel=1e-6)


def test_means_are_least_squares_and_what_is_left_scatters_around_them(rows, learned):
    X = np.array([covariates(design) for _, design in rows])
    Y = np.array([as_row(found) for found, _ in rows])
    left = Y - X @ learned.means
    assert np.abs(np.nanmean(left, axis=0)).max() < 1e-8  # the constant is not drawn to 0
    penalty = 1e-3 * len(X) * np.diag([0.0] + [1.0] * (X.shape[1] - 1))
    for k in range(len(TRAITS)):
        known = ~np.isnan(Y[:, k])
        slope = X[known].T @ left[known, k] - penalty @ learned.means[:, k]
        assert np.abs(slope).max() < 1e-8
    variance = np.nanvar(left, axis=0)
    assert learned.scatter.diagonal() == pytest.approx(variance, abs=1e-6)
    assert np.array_equal(learned.scatter, learned.scatter.T)
    assert np.linalg.eigvalsh(learned.scatter).min() > 0


def test_which_traits_are_known_makes_the_group(rows):
    for found, design in rows:
        of_series = np.isnan([found[name] for name in OF_SERIES])
        assert group(as_row(found)) == (2 if not design.n_series else int(design.n_series == 1))
        assert of_series.all() == (design.n_series == 0)
        assert not np.isnan([found[name] for name in TRAITS if name not in OF_SERIES]).any()


def test_new_tables_of_the_kinds_and_designs_learned_from_are_not_strange(learned):
    new = [row_of(OTHERS[k % len(OTHERS)], 1000 + k) for k in range(60)]
    is_far = [learned.is_out_of_domain(found, design) for found, design in new]
    assert np.mean(is_far) <= 0.15  # one in forty, told from groups of 25 to 100 tables
    assert np.median([learned.relative_distance(found, design) for found, design in new]) < 0.8


def test_series_that_start_anywhere_and_follow_one_trend_are_strange(learned, rng):
    for _ in range(5):
        found = traits(common_trends(rng))
        assert learned.is_out_of_domain(found, DESIGN)
        assert learned.relative_distance(found, DESIGN) > 2


def test_the_limit_of_the_group_is_the_unit_of_the_distance(learned):
    far = {name: x + 3 for name, x in zip(TRAITS, covariates(DESIGN) @ learned.means, strict=True)}
    expected = slow_distance(np.full(len(TRAITS), 3.0), learned.scatter) / learned.limits[0]
    assert learned.relative_distance(far, DESIGN) == pytest.approx(expected, rel=1e-6)


def test_where_no_table_of_the_group_is_known_none_is_strange(rows):
    of_series = fit_trait_distribution([row for row in rows if row[1].n_series])
    found, design = next(row for row in rows if not row[1].n_series)
    assert of_series.relative_distance(found, design) == 0


@pytest.mark.parametrize("factor", [1e-6, 37.0, 1e6])
@pytest.mark.parametrize("which", range(len(OTHERS)))
def test_the_unit_of_levels_changes_no_trait(which, factor):
    example = draw_example(OTHERS[which], "mid", 5)
    one, steady = example.expression, example.steady
    rest = None if one.steady_values is None else one.steady_values * factor
    other = replace(one, values=one.values * factor, steady_values=rest)
    scaled = None if steady is None else replace(steady, levels=steady.levels * factor)
    assert as_row(traits(other, scaled)) == pytest.approx(
        as_row(traits(one, steady)), rel=1e-6, abs=1e-9, nan_ok=True
    )


def test_the_order_of_genes_changes_no_trait(rng):
    one = draw_example(DESIGN, "mid", 5).expression
    order = rng.permutation(10)
    other = replace(one, values=one.values[:, order])
    assert as_row(traits(other)) == pytest.approx(as_row(traits(one)), rel=1e-9, abs=1e-12)


def test_traits_are_what_their_names_say(rng):
    one = draw_example(DESIGN, "hub", 3).expression
    found = traits(one)
    rho = np.abs(spearmanr(one.values).statistic)
    pairs = rho[np.triu_indices(10, 1)]
    assert found["median r"] == pytest.approx(np.median(pairs))
    assert found["high r"] == pytest.approx(np.quantile(pairs, 0.95))
    np.fill_diagonal(rho, 0)
    assert found["highest r"] == pytest.approx(np.median(rho.max(axis=0)))
    alike = traits(common_trends(rng))
    for name, is_higher in (("first component", 1), ("memory", 1), ("starts", 1), ("trend", 1),
                            ("turn", 1), ("components", 0), ("smoothness", 0)):  # fmt: skip
        assert (alike[name] > found[name]) == bool(is_higher), name


def test_traits_of_changes_are_those_of_a_loop_over_genes_and_series(rng):
    one = draw_example(DESIGN, "hub", 3).expression
    one = replace(one, scale="log")  # so that levels are used as they are
    found, x = traits(one), one.values
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    kurtosis, squares = [], []
    for gene in range(x.shape[1]):
        steps = np.concatenate([np.diff(x[piece, gene]) for piece in one.pieces.values()])
        squares.append(np.mean(steps**2))
        kurtosis.append(np.mean(steps**4) / np.mean(steps**2) ** 2)
    assert found["smoothness"] == pytest.approx(np.log(np.median(squares) + 1e-3))
    assert found["level change"] == pytest.approx(np.log(np.median(kurtosis) + 1e-3))


@pytest.mark.parametrize("constant", [(0,), tuple(range(9)), tuple(range(10))])
@pytest.mark.parametrize("n_points", [2, 3, 11])
def test_genes_that_do_not_vary_and_short_series_have_traits(constant, n_points):
    """Any warning is an error here."""
    one = draw_example(replace(DESIGN, n_points=n_points), "mid", 5).expression
    values = one.values.copy()
    values[:, list(constant)] = 0.3
    found = traits(replace(one, values=values))
    unknown = {name for name, x in found.items() if np.isnan(x)}
    assert unknown <= {"trend"}
    assert not np.isinf(list(found.values())).any()


def test_covariates_tell_designs_apart_that_are_measured_otherwise():
    designs = (
        *OTHERS, replace(DESIGN, n_steady=5), replace(DESIGN, is_perturbation_known=True),
        replace(DESIGN, knocked_out=0.5), replace(DESIGN, knocked_down=1.0),
        replace(DESIGN, cells=8), replace(DESIGN, n_points=12),
    )  # fmt: skip
    rows = [tuple(covariates(design)) for design in designs]
    assert len(set(rows)) == len(rows)
    assert np.isfinite(rows).all()
