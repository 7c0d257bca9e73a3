"""A network over regulators x targets shows what the same network over all genes shows."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Network, Prior, write_edges, write_network
from grn_tvcs.network.pairs import KINDS, Pairs
from grn_tvcs.network.ranking import significant

GENES = tuple("DBACFE")
REGULATORS, TARGETS = np.array([1, 4, 5]), np.array([0, 1, 2, 4])


@pytest.fixture
def lean():
    rng = np.random.default_rng(2)
    shape = (REGULATORS.size, TARGETS.size)
    scores = rng.integers(0, 4, shape) / 4
    scores[REGULATORS[:, None] == TARGETS] = 0.0
    pairs = Pairs(
        REGULATORS, TARGETS, scores, rng.integers(-1, 2, shape).astype(np.int8), scores > 0.3,
        stability=rng.uniform(size=shape), own=scores > 0.6,
        evidence=rng.integers(0, 5, shape).astype(np.uint8),
        confidence=rng.uniform(size=shape), false_discovery=rng.uniform(size=shape),
    )  # fmt: skip
    return Network(GENES, pairs, notes=("a note",))


@pytest.fixture
def square(lean):
    return Network.of(lean.genes, notes=lean.notes, **{name: getattr(lean, name) for name in KINDS})


def test_arrays_are_shown_over_all_genes(lean):
    lean = lean.replace(undirected=lean.pairs.scores > 0.5)
    for name in KINDS:
        shown, kept = getattr(lean, name), getattr(lean.pairs, name)
        assert shown.shape == (6, 6)
        assert shown.dtype == kept.dtype
        assert np.array_equal(shown[np.ix_(REGULATORS, TARGETS)], kept)
        rest = np.ones((6, 6), bool)
        rest[np.ix_(REGULATORS, TARGETS)] = False
        assert (shown[rest] == (name == "false_discovery")).all()
        assert getattr(lean, name) is shown  # made once


def test_edges_degrees_and_files_are_the_same(lean, square, tmp_path):
    assert lean.edges() == square.edges()
    assert lean.edges(selected_only=True) == [e for e in square.edges() if e.selected]
    assert lean.to_frame().equals(square.to_frame())
    assert lean.n_scored == np.count_nonzero(square.scores)
    for name in ("in_degrees", "out_degrees"):
        assert np.array_equal(getattr(lean, name), getattr(square, name))
    for k in range(9):
        assert np.array_equal(lean.select_top(k).selected, square.select_top(k).selected)
    assert np.array_equal(lean.select_by_method().selected, square.select_by_method().selected)
    for network, folder in ((lean, tmp_path / "lean"), (square, tmp_path / "square")):
        folder.mkdir()
        write_edges(network, folder / "edges.tsv")
        for kind in ("graphml", "sif", "cyjs", "dream", "beeline"):
            write_network(network, folder / kind, kind)
    for path in (tmp_path / "lean").iterdir():
        assert path.read_bytes() == (tmp_path / "square" / path.name).read_bytes()


def test_ranks_of_selected_edges_are_those_among_all(lean):
    ranks = {(e.regulator, e.target): e.rank for e in lean.edges()}
    for edge in lean.edges(selected_only=True):
        assert edge.rank == ranks[edge.regulator, edge.target]


def test_a_changed_copy_and_a_pickled_one_hold_the_same(lean, square):
    for again in (replace(lean), pickle.loads(pickle.dumps(lean))):
        assert again.edges() == square.edges()
    assert lean.replace(selected=lean.pairs.scores > 0).selected.sum() == lean.n_scored


def test_a_stability_that_is_unknown_is_given_for_no_pair(lean):
    untold = lean.replace(stability=np.full(lean.pairs.shape, np.nan))
    assert np.isnan(untold.stability).all()


def test_a_network_of_few_regulators_takes_memory_for_their_pairs_alone():
    genes = tuple(map(str, range(30_000)))  # a square of booleans alone has 900 MB
    scores = np.ones((2, 30_000))
    scores[[0, 1], [3, 5]] = 0.0
    pairs = Pairs(
        np.array([3, 5]), np.arange(30_000), scores, np.ones(scores.shape, np.int8), scores > 0
    )
    network = Network(genes, pairs).select_top(7)
    assert len(network.edges(selected_only=True)) == 7
    assert network.out_degrees.sum() == 7
    assert "_square" not in network.__dict__


def test_digits_are_those_of_the_text():
    rng = np.random.default_rng(0)
    values = np.exp(rng.normal(0, 9, 20_000))
    halves = (rng.integers(10**5, 10**6, 5000) + 0.5) / 10.0 ** rng.integers(0, 25, 5000)
    few = rng.integers(1, 10**7, 500) / 10.0 ** rng.integers(0, 12, 500)
    odd = [0.0, 5e-324, 1e-300, 1e300, 999999.5, 0.9999995, 9999995.0, 1e5, 1e-5, 123456.5]
    powers = 10.0 ** np.arange(-30, 30)
    near = np.nextafter(powers, 0), np.nextafter(powers, np.inf), powers * (1 - 5e-7)
    values = np.concatenate([values, halves, few, odd, powers, *near])
    message = np.array([float(f"{value:.6g}") for value in values])
    assert np.array_equal(significant(values, 6), message)
    cut = slice(None, None, 3)
    assert np.array_equal(significant(values[cut], 6), message[cut])


def test_a_frame_is_put_in_the_order_of_the_genes():
    frame = pd.DataFrame([[0, 0.5, 0], [0, 0, 1], [0, 0, 0]], list("ABC"), list("ABC"))
    turned = frame.loc[list("CAB"), list("BCA")]
    expected = {("A", "B"): 0.5, ("B", "C"): 1.0}
    for given in (turned, frame, frame.set_axis(range(3)).set_axis(range(3), axis=1)):
        edges = Network.of([*"ABC"], given).edges()
        assert {(e.regulator, e.target): e.score for e in edges} == expected
        assert np.array_equal(Prior([*"ABC"], given).weights, frame)
    for make in (Network.of, Prior):
        with pytest.raises(
            ValueError, match="must name the genes in rows and columns, found A, B, C"
        ):
            make([*"ABD"], frame)
        for one in (turned.set_axis(range(3)), turned.set_axis(range(3), axis=1)):
            with pytest.raises(ValueError, match="names in both rows and columns, or in neither"):
                make([*"ABC"], one)
        make([*"ABC"], frame.set_axis(range(3)))  # in the order of the genes one axis is enough
