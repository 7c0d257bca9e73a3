"""The picture of the adjacency, the curve of precision and recall, and `Network.plot`."""

import re
import sys

import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve

from benchmarks.speed.network_report import made
from grn_tvcs import Network, Rules, score
from grn_tvcs.network.scores import precision_recall
from grn_tvcs.report.adjacency import BARS, adjacency
from grn_tvcs.report.data import agreement
from tvcs_core.files.page import ABOVE, BELOW, LEFT, RIGHT

RULES = Rules(max_in_degree=4, max_out_degree=12, max_edges=60)


@pytest.fixture(scope="module")
def judged():
    network, _, true = made(40, 80, n_series=2)
    return network.select_under_caps(RULES), true


def test_the_cells_are_the_selected_edges_and_the_bars_their_degrees(judged):
    network, _ = judged
    found = adjacency(network, RULES)
    genes = network.genes
    cells = {
        (found["rows"][int(row)], found["cols"][int(col)]): kind
        for kind, path in found["cells"]
        for col, row in re.findall(r"M(\d+) (\d+)h", path)
    }
    words = {"+": "activates", "-": "represses", "?": "regulates"}
    for edge in network.edges(selected_only=True):
        kind = cells.pop((genes.index(edge.regulator), genes.index(edge.target)))
        assert kind == words[edge.sign] + (" unsupported" if edge.confidence < 0.5 else "")
    assert cells == {}
    bars = [float(x) for x in re.findall(r"h([\d.]+)v", found["right"]["path"])]
    degrees = network.out_degrees[found["rows"]]
    assert (np.diff(degrees) <= 0).all()
    unit = found["right"]["at"] / 12
    np.testing.assert_allclose(bars, degrees * unit, atol=0.01)
    assert max(*bars, found["right"]["at"]) * found["cell"] == pytest.approx(BARS, abs=0.1)
    assert (degrees <= 12).all()
    assert found["top"]["cap"] == 4


def test_targets_of_the_same_regulators_stand_side_by_side():
    scores = np.zeros((30, 30))
    scores[0, [5, 9, 20]] = 1
    scores[1, [5, 20, 7]] = 1
    network = Network.of(tuple(f"G{k:02}" for k in range(30)), scores)
    found = adjacency(network, Rules())
    assert found["rows"] == [0, 1]
    assert found["cols"] == [9, 5, 20, 7]
    assert found["right"]["cap"] is None


@pytest.mark.parametrize("n", [29, 301])
def test_networks_too_small_or_too_large_have_no_picture(n):
    scores = np.zeros((n, n))
    scores[0, 1] = 1
    assert adjacency(Network.of(tuple(map(str, range(n))), scores), Rules()) is None


@pytest.mark.parametrize("pairs", ["all", "linked"])
def test_precision_and_recall_are_those_of_scikit_learn(judged, pairs):
    network, true = judged
    recall, precision = precision_recall(network, true, pairs=pairs)
    is_pair = ~np.eye(40, dtype=bool)
    if pairs == "linked":
        is_pair &= true.selected | true.selected.T
    expected = precision_recall_curve(true.selected[is_pair], network.scores[is_pair])
    keep = expected[2] > 0  # pairs without a score are no part of the ranking
    np.testing.assert_allclose(precision, expected[0][:-1][keep][::-1])
    np.testing.assert_allclose(recall, expected[1][:-1][keep][::-1])


def test_the_curve_has_the_selected_edges_and_stays_in_its_frame(judged):
    network, true = judged
    result = score(network, true)
    drawn = agreement(network, true, result)
    places = np.array([*drawn["points"], drawn["selected"]])
    assert (places >= [LEFT, ABOVE]).all()
    assert (places <= [drawn["width"] - RIGHT, drawn["height"] - BELOW]).all()
    assert drawn["precision"] == result.n_found / result.n_selected
    assert agreement(network, None, None) is None
    assert (
        agreement(network.select_top(0), true, score(network.select_top(0), true))["selected"]
        is None
    )


def test_plot_draws_every_edge_and_marks_the_supported_ones(judged):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    network, _ = judged
    figure, ax = pyplot.subplots()
    assert network.plot(ax, max_edges=25) is ax
    edges = network.edges(selected_only=True)[:25]
    lines = {patch.get_gid(): patch.get_linewidth() for patch in ax.patches}
    assert set(lines) == {f"{e.regulator} -> {e.target}" for e in edges}
    for edge in edges:
        assert (lines[f"{edge.regulator} -> {edge.target}"] > 1) == (edge.confidence >= 0.5)
    genes = {gene for e in edges for gene in (e.regulator, e.target)}
    assert {text.get_text() for text in ax.texts} == genes
    figure.canvas.draw()  # names are text, not formulas
    pyplot.close(figure)


def test_plot_draws_an_undirected_edge_without_an_arrow():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot
    from matplotlib.patches import ArrowStyle

    scores, signs, is_undirected = np.zeros((3, 3)), np.zeros((3, 3), np.int8), np.eye(3) > 1
    scores[0, 1:], signs[0, 1:] = (2, 1), 1
    is_undirected[0, 2] = is_undirected[2, 0] = True
    ax = Network.of(tuple("ABC"), scores, signs, undirected=is_undirected).plot()
    styles = {patch.get_gid(): type(patch.get_arrowstyle()) for patch in ax.patches}
    assert styles == {"A -> B": ArrowStyle.CurveFilledB, "A -> C": ArrowStyle.Curve}
    pyplot.close(ax.figure)


def test_plot_refuses_what_cannot_be_drawn(judged, monkeypatch):
    network, _ = judged
    with pytest.raises(ValueError, match="max_edges must be >= 1"):
        network.plot(max_edges=0)
    with pytest.raises(ValueError, match="no selected edge to draw; select some"):
        network.select_top(0).plot()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install .* installs it"):
        network.plot()
