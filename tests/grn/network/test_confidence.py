"""Confidence and what follows of it, against loops over the edges."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grn_tvcs import Network, read_network
from grn_tvcs.network.confidence import calibration_error, expected_true, false_discovery

GENES = ("A", "B", "C", "D")
CHANCES = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 0.9, 1.0])
SHAPE = (4, 4)
TABLES = st.tuples(hnp.arrays(float, SHAPE, elements=CHANCES), hnp.arrays(bool, SHAPE))


@pytest.fixture
def network():
    """A judged network with ties of confidence and pairs without a score."""
    rng = np.random.default_rng(3)
    scores = rng.uniform(0.1, 1.0, SHAPE).round(3) * (rng.uniform(size=SHAPE) < 0.8)
    np.fill_diagonal(scores, 0.0)
    confidence = rng.uniform(size=SHAPE)
    confidence[confidence > 0.6] = 0.7
    return Network.of(GENES, scores, confidence=confidence).with_verdict()


@given(TABLES)
def test_false_discovery_is_the_mean_of_what_is_likely_false_among_the_surer_ones(table):
    confidence, has_score = table
    found = false_discovery(confidence, has_score.astype(float))
    for pair in np.ndindex(SHAPE):
        if not has_score[pair]:
            assert found[pair] == 1.0
            continue
        surer = [
            1 - confidence[other]
            for other in np.ndindex(SHAPE)
            if has_score[other] and confidence[other] >= confidence[pair]
        ]
        assert found[pair] == pytest.approx(sum(surer) / len(surer), abs=1e-12)


@given(TABLES)
def test_surer_edges_have_no_higher_false_discovery_and_the_scale_of_scores_plays_no_part(table):
    confidence, has_score = table
    found = false_discovery(confidence, has_score.astype(float))
    order = np.argsort(-confidence[has_score], kind="stable")
    assert (np.diff(found[has_score][order]) >= -1e-12).all()
    assert np.array_equal(found, false_discovery(confidence, 7.5 * has_score))
    assert ((found >= 0) & (found <= 1)).all()


def test_expected_true_edges_add_up_by_falling_confidence():
    confidence, scores = np.array([0.2, 0.9, 0.5, 1.0]), np.array([1.0, 3.0, 2.0, 0.0])
    assert expected_true(confidence, scores) == pytest.approx([0.0, 0.9, 1.4, 1.6])


@given(
    hnp.arrays(float, 30, elements=st.floats(0, 1)),
    hnp.arrays(bool, 30),
    st.sampled_from([0.0, 0.1, 0.5]),
    st.integers(1, 12),
)
def test_calibration_is_that_of_a_loop_over_the_bins(confidence, is_edge, above, bins):
    found = calibration_error(confidence, is_edge, above, bins)
    ends = np.linspace(above, 1.0, bins + 1)
    rows, error, total = [], 0.0, 0
    for low, high in zip(ends, [*ends[1:-1], 1.0], strict=False):
        inside = [(p, t) for p, t in zip(confidence, is_edge, strict=True) if low < p <= high]
        if not inside:
            continue
        message, true = (sum(part) / len(inside) for part in zip(*inside, strict=True))
        rows.append((message, true, len(inside)))
        error += len(inside) * abs(message - true)
        total += len(inside)
    assert len(found.n) == len(rows)
    for i, row in enumerate(rows):
        assert (found.claimed[i], found.true[i], found.n[i]) == pytest.approx(row)
    if total:
        assert found.error == pytest.approx(error / total)
    else:
        assert np.isnan(found.error)


def test_an_honest_confidence_has_nearly_no_error_and_a_boastful_one_has_its_boast():
    rng = np.random.default_rng(0)
    chance = rng.uniform(size=200_000)
    is_edge = rng.uniform(size=chance.size) < chance
    assert calibration_error(chance, is_edge).error < 0.01
    boast = np.minimum(1.0, chance + 0.2)
    assert calibration_error(boast, is_edge, above=0.2).error == pytest.approx(0.18, abs=0.01)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([0.5], [True, False]), "is_edge must have the shape"),
        (([1.5], [True]), "confidence must be from 0 to 1"),
        (([np.nan], [True]), "confidence must be from 0 to 1"),
        (([0.5], [True], 1.0), "above from 0 to below 1, found 10 and 1.0"),
        (([0.5], [True], 0.1, 0), "bins must be >= 1"),
    ],
)
def test_calibration_refuses_what_is_no_confidence(given, message):
    with pytest.raises(ValueError, match=message):
        calibration_error(*given)


@pytest.mark.parametrize("name", ["confidence", "false_discovery"])
@pytest.mark.parametrize("wrong", [-0.1, 1.1, np.nan])
def test_a_network_refuses_chances_outside_0_to_1(name, wrong):
    given = np.full((2, 2), 0.5)
    given[0, 1] = wrong
    with pytest.raises(ValueError, match=f"{name} must be from 0 to 1, found {wrong:g}"):
        Network.of(("A", "B"), 1 - np.eye(2), **{name: given})


def test_a_graph_with_a_confidence_of_another_kind_is_taken_without_it():
    graph = nx.DiGraph()
    graph.add_edge("A", "B", confidence=950)
    assert Network.from_networkx(graph).confidence is None


def test_a_confidence_of_another_program_is_not_read_as_ours(tmp_path):
    (tmp_path / "e.tsv").write_text("regulator\ttarget\tscore\tconfidence\nA\tB\t1\t950\n")
    assert read_network(tmp_path / "e.tsv", GENES).confidence is None
