"""The drawing of edges: genes within the picture, arrows from one circle to the other."""

import numpy as np
import pytest

from grn_tvcs.comparison.picture import GAP, HEIGHT, MARGIN, MAX_DRAWN, RADIUS, WIDTH, Change, draw


def change(regulator, target):
    return Change(regulator, target, "gained", "")


@pytest.fixture
def edges(rng):
    pairs = rng.integers(0, 9, (14, 2)).tolist()
    return [change(f"G{a}", f"G{b}") for a, b in pairs if a != b] + [change("G8", "G0")]


def test_genes_reach_every_margin_and_no_further(edges):
    genes, _ = draw(edges)
    at = np.array([gene[1:] for gene in genes])
    assert {gene[0] for gene in genes} == {name for edge in edges for name in edge[:2]}
    assert at.min(axis=0).tolist() == [MARGIN, MARGIN]
    assert at.max(axis=0).tolist() == [WIDTH - MARGIN, HEIGHT - MARGIN]


def test_arrows_leave_the_circle_of_the_regulator_and_end_before_that_of_the_target(edges):
    genes, lines = draw(edges)
    place = {gene[0]: np.array(gene[1:]) for gene in genes}
    for edge, line in zip(edges, lines, strict=True):
        start, end = place[edge.regulator], place[edge.target]
        along = (end - start) / np.hypot(*(end - start))
        aside = np.array([-along[1], along[0]])
        first, last = np.array([line.x1, line.y1]), np.array([line.x2, line.y2])
        assert (first - start) @ along == pytest.approx(RADIUS, abs=0.1)
        assert (end - last) @ along == pytest.approx(RADIUS + GAP, abs=0.1)
        assert (first - start) @ aside == pytest.approx(3.0, abs=0.1)
        assert (last - end) @ aside == pytest.approx(3.0, abs=0.1)


def test_two_directions_of_a_pair_are_two_lines():
    _, (there, back) = draw([change("A", "B"), change("B", "A")])
    assert np.hypot(there.x1 - back.x2, there.y1 - back.y2) > 5.0


def test_the_first_edges_are_drawn_and_of_none_nothing():
    assert draw([]) == ([], [])
    chain = [change(f"G{k}", f"G{k + 1}") for k in range(MAX_DRAWN + 3)]
    genes, lines = draw(chain)
    assert (len(genes), len(lines)) == (MAX_DRAWN + 1, MAX_DRAWN)
