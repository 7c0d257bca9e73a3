"""The file of the model that comes with the package."""

from dataclasses import astuple, replace

import numpy as np
import pytest

from benchmarks.learning.files import write_pretrained
from benchmarks.universal import N_COMMON_NETWORKS
from grn_tvcs.combine.calibration import Calibration, calibrate_design
from grn_tvcs.combine.domain_check import covariates, traits
from grn_tvcs.combine.pretrained import load_pretrained
from grn_tvcs.evidence.lagged_regression import DEFAULT_PLAN
from grn_tvcs.simulation.designs import RANDOM, WILD, Design
from tvcs_core import DataError

DESIGN = Design(10, 10, 3, 11)
GROWTH = 0.1 * np.arange(len(covariates(DESIGN)))


@pytest.fixture
def trait_distribution(trait_distribution):
    """One for each start of series, not the same."""
    return {
        WILD: trait_distribution,
        RANDOM: replace(trait_distribution, means=trait_distribution.means + 1.0),
    }


@pytest.fixture
def common():
    return {DESIGN.key: Calibration(-0.25, 1.5), "another": Calibration(0.1, 0.1 + 0.2, -1.25, 0.5)}


@pytest.fixture
def path(combiner, trait_distribution, nulls, common, tmp_path):
    path = tmp_path / "pretrained.npz"
    write_pretrained(path, combiner, trait_distribution, GROWTH, nulls, common)
    return path


def test_a_model_comes_back_as_it_was(path, combiner, trait_distribution, nulls, common, networks):
    model = load_pretrained(path)
    for start in (WILD, RANDOM):
        for name in ("means", "scatter", "limits"):
            one, other = (
                getattr(looks[start], name)
                for looks in (model.trait_distributions, trait_distribution)
            )
            assert np.array_equal(one, other, equal_nan=True)
    assert np.array_equal(model.growth, GROWTH)
    for one, other in zip(model.nulls, nulls, strict=True):
        assert np.array_equal(one, other)
    assert list(model.common.items()) == list(common.items())
    for one in networks:
        logits = [c.logits(one.table, one.inputs) for c in (model.combiner, combiner)]
        assert np.array_equal(*logits)


def test_the_same_model_has_the_same_bytes_and_another_one_another_stamp(
    path, combiner, trait_distribution, nulls, common, tmp_path
):
    again, other = tmp_path / "again.npz", tmp_path / "other.npz"
    write_pretrained(again, combiner, trait_distribution, GROWTH, nulls, common)
    assert again.read_bytes() == path.read_bytes()
    moved = replace(common["another"], slope=0.3)
    write_pretrained(
        other, combiner, trait_distribution, GROWTH, nulls, common | {"another": moved}
    )
    assert (
        load_pretrained(other).stamp != load_pretrained(path).stamp == load_pretrained(again).stamp
    )


def test_a_model_without_common_designs_is_a_model(combiner, trait_distribution, nulls, tmp_path):
    path = tmp_path / "none.npz"
    write_pretrained(path, combiner, trait_distribution, GROWTH, nulls, {})
    assert load_pretrained(path).common == {}


def test_a_model_is_read_once(path):
    assert load_pretrained(path) is load_pretrained(path)


def test_a_missing_model_is_reported_and_looked_for_again(path, tmp_path):
    later = tmp_path / "later.npz"
    with pytest.raises(DataError, match=r"later\.npz: cannot be read"):
        load_pretrained(later)
    path.rename(later)
    assert load_pretrained(later).stamp


def test_edges_grow_as_the_coefficients_say(path):
    model = load_pretrained(path)
    wider = replace(DESIGN, n_series=6, n_steady=10, knocked_out=0.5)
    for design in (DESIGN, wider, replace(wider, cells=4)):
        change = sum(
            g * (a - b)
            for g, a, b in zip(GROWTH, covariates(design), covariates(DESIGN), strict=True)
        )
        for n_edges in (0, 1, 12, 400):
            expected = n_edges * 2.718281828459045**change
            assert model.edges_with(n_edges, DESIGN, design) == pytest.approx(expected, abs=0.51)
        assert model.edges_with(7, design, design) == 7


@pytest.mark.parametrize("sign", [-1, 1])
def test_edges_grow_with_what_has_a_coefficient_and_with_nothing_else(
    combiner, trait_distribution, nulls, tmp_path, sign
):
    path = tmp_path / f"series{sign}.npz"
    of_series = np.zeros(len(GROWTH))
    place = int(np.flatnonzero(covariates(replace(DESIGN, n_series=9)) != covariates(DESIGN))[0])
    of_series[place] = sign
    write_pretrained(path, combiner, trait_distribution, of_series, nulls, {})
    model = load_pretrained(path)
    found = [model.edges_with(100, DESIGN, replace(DESIGN, n_series=s)) for s in (1, 2, 3, 4, 9)]
    assert found == sorted(found, reverse=sign < 0)
    assert len(set(found)) == 5
    for other in (replace(DESIGN, n_steady=50), replace(DESIGN, knocked_out=1.0)):
        assert model.edges_with(100, DESIGN, other) == 100


def test_the_start_of_series_is_the_one_that_a_table_looks_like(path, known):
    model = load_pretrained(path)
    for one in known:
        found = traits(one.example.expression, one.example.steady)
        starts = WILD, RANDOM
        has_directions = one.design.n_series and not one.design.is_perturbation_known
        claimed = [
            model.trait_distributions[s].relative_distance(found, one.design) for s in starts
        ]
        wanted = starts[int(claimed[1] < claimed[0])] if has_directions else one.design.start
        assert model.with_start(one.design, found) == replace(one.design, start=wanted)


TENS = [
    Design(10, 10, 5, 21, is_perturbation_known=column, **knocked)
    for column in (False, True)
    for knocked in ({}, {"knocked_out": 1.0, "knocked_down": 1.0})
]


def calibrated(model, design, n_networks):
    return calibrate_design(
        model.combiner, design, n_networks,
        resamples=DEFAULT_PLAN.resamples, null_model=model.null_model(design),
    )  # fmt: skip


def test_a_calibration_of_two_networks_is_that_of_the_code_that_made_the_model():
    """The quick twin of the next: these two numbers change with any evidence, as the model must."""
    found = calibrated(load_pretrained(), TENS[0], 2)
    assert found.offset == pytest.approx(-0.32260656863597204, rel=1e-6)
    assert found.slope == pytest.approx(0.9109731832178297, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("design", TENS, ids=lambda design: design.key)
def test_the_calibrations_that_come_along_are_those_of_this_code(design):
    """Evidence that is computed otherwise than when the model was made is not worth the same."""
    model = load_pretrained()
    known = model.common[design.key]
    found = calibrated(model, design, N_COMMON_NETWORKS)
    assert astuple(found) == pytest.approx(astuple(known), rel=1e-6)


def test_a_model_says_what_made_it_and_the_one_that_comes_along_does(
    combiner, trait_distribution, nulls, tmp_path
):
    path, made = tmp_path / "made.npz", {"command": "python -m x", "seed": 3, "parameters": {}}
    write_pretrained(path, combiner, trait_distribution, GROWTH, nulls, {}, made=made)
    assert load_pretrained(path).made == made
    result = load_pretrained().made
    assert result["command"] == "python -m benchmarks.universal"
    assert (result["seed"], result["parameters"]["networks"]) == (0, 784)
    assert {"numpy", "scikit-learn", "numba"} <= result["versions"].keys()
