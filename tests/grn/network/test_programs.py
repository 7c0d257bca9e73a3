"""Networks in the words of decoupler, CellOracle, Cytoscape, AnnData and notebooks."""

import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression, Network, Rules, infer, tl, write_network
from grn_tvcs.network.evidence import NAMES
from grn_tvcs.network.rules import FEW

GENES = ("A", "B", "NA", "=D", "<e>")


@pytest.fixture
def network():
    scores = np.zeros((5, 5))
    scores[0, 1], scores[1, 2], scores[0, 3], scores[3, 4] = 4, 3, 2, 1
    signs = np.zeros((5, 5), dtype=np.int8)
    signs[0, 1], signs[1, 2] = 1, -1
    chances = scores / 5
    known = {"confidence": chances, "false_discovery": np.where(scores > 0, 1 - chances, 1.0)}
    evidence = np.where(scores > 0, NAMES.index("series"), 0)
    stability = np.where(scores > 0, 0.5, 0.0)
    return Network.of(
        GENES, scores, signs, evidence=evidence, stability=stability, **known
    ).select_top(3)


def test_decoupler_has_source_target_and_signed_weight(network, tmp_path):
    frame = network.to_decoupler()
    assert list(frame.columns) == ["source", "target", "weight", "sign"]
    rows = [["A", "B", 4, "+"], ["B", "NA", -3, "-"], ["A", "=D", 2, "?"]]
    assert frame.values.tolist() == rows
    assert not frame.duplicated(["source", "target"]).any()
    write_network(network, tmp_path / "net.csv", "decoupler")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "net.csv", keep_default_na=False), frame)


def test_celloracle_gets_signed_links_and_a_base_of_who_may_regulate_whom(network, tmp_path):
    frame = network.to_celloracle()
    names = ["source", "target", "coef_mean", "coef_abs", "p", "-logp", "sign"]
    assert list(frame.columns) == names
    assert frame["coef_mean"].tolist() == [4, -3, 2]
    assert frame["coef_abs"].tolist() == [4, 3, 2]
    assert frame[["p", "-logp"]].isna().all(axis=None)
    write_network(network, tmp_path / "links.csv", "celloracle")
    again = pd.read_csv(
        tmp_path / "links.csv", keep_default_na=False, na_values={"p": "", "-logp": ""}
    )
    pd.testing.assert_frame_equal(again, frame)
    write_network(network, tmp_path / "base.csv", "celloracle-base")
    base = pd.read_csv(tmp_path / "base.csv", keep_default_na=False)
    assert list(base.columns) == ["peak_id", "gene_short_name", "A", "B"]
    assert base.drop(columns="peak_id").values.tolist() == [["B", 1, 0], ["NA", 0, 1], ["=D", 1, 0]]


FACTS = ("stability", "evidence", "confidence", "false_discovery", "interaction")


def test_the_table_beside_a_sif_file_names_each_of_its_edges(network, tmp_path):
    write_network(network, tmp_path / "n.sif", "sif")
    write_network(network, tmp_path / "n.tsv", "edge-table")
    table = pd.read_csv(tmp_path / "n.tsv", sep="\t", keep_default_na=False)
    assert table["shared name"].tolist() == [
        "A (activates) B",
        "B (represses) NA",
        "A (regulates) =D",
    ]
    lines = [line.split("\t") for line in (tmp_path / "n.sif").read_text().splitlines()]
    assert table["shared name"].tolist() == [
        f"{a} ({r}) {b}" for a, r, b in (x for x in lines if x[1:])
    ]
    assert {*FACTS, "score", "sign", "rank"} <= set(table.columns)
    assert table["confidence"].tolist() == [0.8, 0.6, 0.4]


def test_the_style_of_cytoscape_maps_the_columns_that_files_have(network, tmp_path):
    plain = Network.of(network.genes, network.scores, network.signs)
    for made, column in ((network, "confidence"), (plain, "score"), (plain.select_top(0), "score")):
        write_network(made, tmp_path / "style.xml", "cytoscape-style")
        root = ET.parse(tmp_path / "style.xml").getroot()
        assert (root.tag, root.get("documentVersion")) == ("vizmap", "3.0")
        [style] = root
        assert [part.tag for part in style] == ["network", "node", "edge"]
        properties = {one.get("name"): one for one in style.iter("visualProperty")}
        arrows = {
            entry.get("attributeValue"): entry.get("value")
            for entry in properties["EDGE_TARGET_ARROW_SHAPE"].iter("discreteMappingEntry")
        }
        assert arrows == {
            "activates": "DELTA", "represses": "T", "regulates": "CIRCLE",
            "associated-with": "NONE",
        }  # fmt: skip
        [width] = properties["EDGE_WIDTH"]
        points = [float(point.get("attrValue")) for point in width]
        assert width.get("attributeName") == column
        assert points[0] < points[1]
        used = {one.get("attributeName") for one in style.iter() if one.get("attributeName")}
        assert used == {"name", "interaction", "out_degree", "is_regulator", column}


def test_a_notebook_shows_a_network_with_its_names_escaped(network):
    shown = network._repr_html_()
    assert "5 genes, 3 edges selected of 4 with a score" in shown
    assert shown.count("<tr>") == 4
    whole = network.replace(selected=network.scores > 0)._repr_html_()
    assert "&lt;e&gt;" in whole
    assert "<e>" not in whole


@pytest.mark.parametrize("n_edges", [9, 10, 11, 17])
def test_a_notebook_shows_ten_edges_and_counts_the_others(n_edges):
    scores = np.zeros((5, 5))
    scores[np.unravel_index(np.flatnonzero(~np.eye(5, dtype=bool))[:n_edges], (5, 5))] = 1.0
    shown = Network.of(GENES, scores).select_top(n_edges)._repr_html_()
    assert shown.count("<tr>") == 1 + min(n_edges, 10)
    assert ("<p>and 1 more; " in shown, "<p>and 7 more; " in shown) == (
        n_edges == 11, n_edges == 17,
    )  # fmt: skip
    assert ("more; " in shown) == (n_edges > 10)


def test_to_frame_has_every_column_and_may_be_cut_to_the_selected(network):
    frame = network.to_frame()
    assert {"confidence", "false_discovery", "evidence", "stability", "selected"} <= set(
        frame.columns
    )
    assert (len(frame), len(network.to_frame(selected_only=True))) == (4, 3)


@pytest.fixture(scope="module")
def expression():
    rng = np.random.default_rng(3)
    levels = np.cumsum(rng.normal(size=(24, 4)), axis=0) + 20
    return Expression(
        levels, list(range(12)) * 2, ("a",) * 12 + ("b",) * 12, ("A", "B", "C", "D"), scale="log"
    )


def test_a_network_writes_its_own_report(expression, tmp_path):
    network = infer(expression, "lagged-correlation", max_edges=3, rng=5)
    assert network.report(tmp_path / "r.html") == tmp_path / "r.html"
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "seed 5" in page
    most = "selected: those with the largest sum of scores under at most"
    assert f"Of 12 ordered pairs with a score, 3 were {most} 3 edges in all, found by " in page
    chosen = network.select_under_caps(Rules(max_edges=2))
    chosen.report(tmp_path / "two.html")
    page = (tmp_path / "two.html").read_text(encoding="utf-8")
    assert f"2 were {most} 2 edges in all, found by " in page
    infer(expression, "pcc", max_edges=3, rng=5).report(tmp_path / "undirected.html")
    page = (tmp_path / "undirected.html").read_text(encoding="utf-8")
    assert "3 of the 3 selected edges are undirected" in page
    assert "Of 6 pairs with a score, 3 were selected, from the largest score down, under" in page
    chosen.select_top(1).report(tmp_path / "one.html")
    page = (tmp_path / "one.html").read_text(encoding="utf-8")
    assert f"1 was {most} 1 edge in all, found by " in page
    with pytest.raises(ValueError, match="has no record of its expression and method: give report"):
        Network.of(network.genes, network.scores).report(tmp_path / "no.html")
    assert not (tmp_path / "no.html").exists()
    foreign = Network.of(network.genes, network.scores)
    foreign.report(tmp_path / "own.html", expression, method="pcc", source="mine.csv")
    assert "mine.csv" in (tmp_path / "own.html").read_text(encoding="utf-8")


def test_progress_is_shown_where_it_is_asked_for(expression, capfd):
    options = {"resamples": 8, "rng": 0}
    loud = infer(expression, "tvcs", progress=True, **options)
    message = capfd.readouterr().err
    assert "parts of the work: " in message
    assert "\r" in message
    assert message.endswith("\n")
    quiet = infer(expression, "tvcs", progress=False, **options)
    assert capfd.readouterr().err == ""
    assert quiet.edges() == loud.edges()
    calls = []
    infer(expression, "tvcs", progress=lambda done, total: calls.append((done, total)), **options)
    assert calls[-1][0] == calls[-1][1]


def test_the_number_of_edges_is_chosen_by_the_verdict_or_the_reason_given(expression):
    network = infer(expression, resamples=8, calibrate=0)
    assert not network.verdict.is_known  # nothing was simulated
    assert network.n_selected == 1  # one for every ten genes sought
    assert network.provenance.rules.chosen_by == FEW
    why = network.provenance.rules.why_so_many(network.n_selected)
    assert "The number selected, 1, is one for every 10 genes" in why
    with pytest.raises(TypeError, match="max_edges must be an integer >= 0 or None, found 'all'"):
        infer(expression, max_edges="all")


@pytest.mark.parametrize("wrong", [None, "cells.h5ad", {"uns": {}}])
def test_what_is_no_anndata_is_refused(network, wrong):
    for door in (Network.from_anndata, network.to_anndata, tl.infer):
        with pytest.raises(TypeError, match=r"^data must be an AnnData, found"):
            door(wrong)


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("edges", None, "must hold what to_anndata kept, found it changed"),
        ("genes", None, "must hold what to_anndata kept, found it changed"),
        ("genes", ["A"], r"found it changed \('B'\)"),
        (None, "edges and genes", "uns has no network under 'tvcs'; it has tvcs"),
    ],
)
def test_a_network_that_was_changed_in_uns_is_refused(network, part, value, message):
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(np.zeros((2, 5)), var=pd.DataFrame(index=GENES))
    network.to_anndata(data)
    if part is None:
        data.uns["tvcs"] = value
    else:
        data.uns["tvcs"][part] = value
    with pytest.raises(ValueError, match=message):
        Network.from_anndata(data)
