import base64
import hashlib
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from grn_tvcs import Expression, Network, Rules, SteadyStates, infer, score
from grn_tvcs.network.provenance import Provenance
from grn_tvcs.report.layout import draw
from grn_tvcs.report.methods_text import methods_paragraph
from grn_tvcs.report.report import MAX_DRAWN, render, write_report
from tests.makers.pages import Page

EVIL = '"><script>alert(1)</script>', "a' onload='x", "{{ 7 * 7 }}", "</script><b>", "javascript:x"


def page_of(expression, **caps):
    network = infer(expression, "tvcs", rng=0, **caps)
    rules = network.provenance.rules
    return render(
        network,
        Provenance(expression, rules, "tvcs"),
        source="x.tsv",
        command="grn-tvcs infer x.tsv",
    )


def test_hostile_gene_names_stay_text(expression):
    genes = (*EVIL, *expression.genes[len(EVIL) :])
    hostile = Expression(expression.values, expression.times, expression.series, genes)
    html = page_of(hostile, max_edges=20)
    page = Page(html)
    harmless = Page(page_of(expression, max_edges=20))
    assert set(page.tags) == set(harmless.tags)
    for tag in ("b", "script"):
        assert page.tags.count(tag) == harmless.tags.count(tag)
    assert "".join(page.scripts) == "".join(harmless.scripts)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    shown = " ".join(page.text)
    assert EVIL[0] in shown
    assert "{{ 7 * 7 }}" in shown


def test_nothing_is_loaded_from_elsewhere(expression):
    page = Page(page_of(expression))
    loads = [
        value for name, value in page.attributes if name in ("src", "href", "xlink:href", "data")
    ]
    assert loads == []
    policies = [value for name, value in page.attributes if name == "content" and value]
    assert any("default-src 'none'" in policy for policy in policies)


def test_only_scripts_whose_hash_the_policy_names_may_run(expression):
    html = page_of(expression)
    policy = next(v for name, v in Page(html).attributes if name == "content" and "src" in v)
    bodies = [part.split("</script>")[0] for part in html.split("<script>")[1:]]
    hashes = [base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in bodies]
    assert len(bodies) == 2
    assert policy.endswith("; script-src " + " ".join(f"'sha256-{h}'" for h in hashes))
    assert "Permission to use, copy, modify" in bodies[0]  # the licence of d3 goes with it


def test_the_report_shows_caps_edges_method_and_command(expression):
    page = Page(page_of(expression, max_in_degree=2, max_edges=7))
    text = page.words
    for part in ("2 regulators per gene", "no cap targets per", "7 edges at most", "GradMP"):
        assert part in text
    assert "grn-tvcs infer x.tsv" in text
    assert page.tags.count("circle") > 2


def test_a_network_without_edges_has_a_report_too(expression):
    html = page_of(expression, max_edges=0)
    assert "No edge was selected" in html
    assert "<script" not in html


def test_only_the_surest_edges_of_a_large_network_are_drawn():
    scores = np.triu(np.arange(1, 1601.0).reshape(40, 40), 1)
    genes = tuple(f"G{i}" for i in range(40))
    network = Network.of(genes, scores)
    nodes, arrows = draw(network.edges()[:MAX_DRAWN])
    assert len(arrows) == MAX_DRAWN
    assert len({node.name for node in nodes}) == len(nodes) <= 40


def test_the_list_has_every_selected_edge_and_every_gene_of_a_large_network(expression):
    scores = np.triu(np.arange(1, 2501.0).reshape(50, 50), 1)
    scores[:, 49] = 0.0
    genes = tuple(f"G{i}" for i in range(50))
    network = Network.of(genes, scores)
    x = Expression(np.random.default_rng(0).random((4, 50)), np.arange(4.0), ("s",) * 4, genes)
    html = render(network, Provenance(x, Rules(), "tvcs"), source="x.tsv", command="x")
    page = Page(html)
    assert page.data["genes"] == list(genes)
    edges = network.edges(selected_only=True)
    result = page.data["edges"]
    assert len(edges) > MAX_DRAWN
    assert list(zip(result["from"], result["to"], result["rank"], strict=True)) == [
        (genes.index(e.regulator), genes.index(e.target), e.rank) for e in edges
    ]
    text = page.words
    assert f"The drawing shows {MAX_DRAWN} of {len(edges)} selected edges" in text
    assert f"of {len(genes)} genes that they link" in text


def test_the_drawing_lies_inside_its_frame_and_is_always_the_same():
    scores = np.zeros((7, 7))
    scores[0, 1], scores[1, 0], scores[2, 3], scores[4, 5] = 1, 2, 3, 4
    network = Network.of(tuple("ABCDEFG"), scores)
    nodes, arrows = draw(network.edges())
    assert (nodes, arrows) == draw(network.edges())
    assert [node.name for node in nodes if not 0 < node.x < 960 or not 0 < node.y < 640] == []
    assert len(nodes) == 6


def test_the_paragraph_to_paste_tells_version_method_seed_and_caps(expression):
    network = infer(expression, rng=3, max_in_degree=2, max_edges=7, resamples=2)
    html = render(
        network,
        Provenance(expression, Rules(2, None, 7), "tvcs", seed=3),
        source="x.tsv",
        command="grn-tvcs infer x.tsv --seed 3",
        scores=score(network, network),
    )
    text = Page(html).words
    assert (
        "A gene regulatory network of 10 genes was inferred from 36 samples in 4 time series"
        in text
    )
    assert "(method tvcs, seed 3)" in text
    assert "under at most 2 regulators of a gene and 7 edges in all" in text
    assert "7 of 7 selected edges are true" in text
    assert "1.000 MCC" in text


SAID = {
    "knock-outs": "of knock-outs",
    "knock-downs": "of knock-downs",
    "wild type": "of the wild type",
    "perturbed": "A perturbation was on in 4 samples",
    "replicate": "Replicates were taken as series of their own",
    "regulators": "Only the 2 genes of a given list could regulate",
    "drop": "1 of 8 samples had missing values and were left out",
    "interpolate": "1 of 24 values were missing and were filled by interpolation in time",
}


@pytest.mark.parametrize("missing", ["error", "drop", "interpolate"])
def test_the_paragraph_to_paste_names_every_input_and_no_other(tmp_path, missing):
    """Every combination of what can be given beside levels and times."""
    optional = [name for name in SAID if name not in ("drop", "interpolate")]
    for is_given in product((False, True), repeat=len(optional)):
        given = {name for name, there in zip(optional, is_given, strict=True) if there}
        if "wild type" in given and not given & {"knock-outs", "knock-downs"}:
            continue  # refused
        columns = ["Time", "A", "B", "C", *(given & {"perturbed"}), *(given & {"replicate"})]
        cells = {"Time": "{0}", "perturbed": "{1}", "replicate": "{2}"}
        rows = [
            [cells.get(name, f"{t + k + j}").format(t, int(t < 2), k) for j, name in
             enumerate(columns)]
            for k in range(2) for t in range(4)
        ]  # fmt: skip
        if missing != "error":
            rows[2][1] = "NA"
        lines = ["\t".join(row) for row in (columns, *rows)]
        (tmp_path / "x.tsv").write_text("\n".join(lines))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = Expression.of(tmp_path / "x.tsv", missing=missing)
        message = methods_paragraph(
            Network.of(data.genes, 1 - np.eye(3)),
            Provenance(
                data,
                Rules(max_edges=4, regulators=frozenset("AB") if "regulators" in given else None),
                "tvcs",
                seed=0,
                steady=states(given),
            ),
        )
        expected = given | ({missing} - {"error"})
        assert {name for name, words in SAID.items() if words in message} == expected


def states(given):
    """Steady states of the kinds that are given; None without any."""
    kinds = [("knock-outs", "A", True), ("knock-downs", "B", False), ("wild type", "", False)]
    kinds = [kind for kind in kinds if kind[0] in given]
    if not kinds:
        return None
    _, changed, is_out = zip(*kinds, strict=True)
    return SteadyStates(np.ones((len(kinds), 3)), changed, is_out, ("A", "B", "C"))


def test_a_number_of_edges_that_nobody_gave_is_no_cap(expression):
    few = Page(page_of(expression)).words
    assert "edges in all" not in few
    assert "with at most" not in few
    why = "The number of true edges is unknown. The number selected, 1, is one for every"
    assert few.count(why) == 2  # in the facts, and in the methods to paste
    assert "scored edges selected as candidates to test, by the method" in few
    assert "no cap edges at most" in few
    capped = Page(page_of(expression, max_in_degree=2)).words
    assert "under at most 2 regulators of a gene, found by exact" in capped
    given = Page(page_of(expression, max_edges=5)).words
    assert "candidates" not in given
    assert "under at most 5 edges in all" in given
    assert "Nothing says" not in given


def test_a_network_of_unknown_origin_has_no_caps(expression, tmp_path):
    network = infer(expression, "pcc", max_edges=6)
    network = replace(network, provenance=None)
    path = write_report(network, tmp_path / "x.html", expression, method="pcc")
    assert "edges in all" not in path.read_text()


def test_only_what_the_method_used_is_named(expression):
    on = expression.with_perturbation_until(200)
    network = infer(on, "pcc")
    message = methods_paragraph(network, Provenance(on, Rules(max_edges=4), "pcc", seed=0))
    assert "perturbation" not in message


def test_edges_of_knock_outs_differ_from_those_of_the_series(expression):
    shape = (10, 10)
    scores = np.triu(np.arange(1.0, 101).reshape(shape), 1)
    codes = np.where(scores > 60, 2, 1).astype(np.uint8) * (scores > 0)
    network = Network.of(
        expression.genes, scores, stability=np.full(shape, 0.01), evidence=codes
    ).select_top(20)
    n_told = int((network.selected & (codes == 2)).sum())
    html = render(
        network, Provenance(expression, Rules(max_edges=20), "tvcs"), source="x.tsv", command="x"
    )
    page = Page(html)
    text = page.words
    assert 0 < n_told < 20
    assert (
        f"{n_told} of the 20 selected edges are supported by genes that were changed and not"
        in text
    )
    assert "a low value does not contradict them" in text
    assert page.text.count("knock-out") == n_told + 1  # and once as what can be filtered by
    assert page.data["edges"]["evidence"][0] == "knock-out"
    assert "Evidence names" not in page_of(expression, max_edges=4)


def test_caps_by_gene_are_described_as_such(expression):
    text = Page(page_of(expression, max_out_degree={"G1": 2}, max_edges=5)).words
    assert "by gene" in text
    assert "its own number of targets of each named regulator" in text


def test_degrees_are_shown_against_the_cap(expression):
    shown = Page(page_of(expression, max_in_degree=3, max_edges=9))
    assert "cap 3" in shown.text


def test_a_crowded_drawing_names_the_genes_with_the_most_targets():
    scores = np.zeros((120, 120))
    scores[0, 1:] = 1.0
    scores[1, 2:4] = 1.0
    genes = tuple(f"G{i:03}" for i in range(120))
    nodes, _ = draw(Network.of(genes, scores).edges())
    named = [node.name for node in nodes if node.is_named]
    assert {"G000", "G001"} < set(named)
    assert len(named) < len(nodes) == 120


def test_stability_is_shown_where_the_method_resampled(expression):
    network = infer(expression, "tvcs", rng=0, max_edges=7)
    edge = network.edges(selected_only=True)[0]
    i, j = network.genes.index(edge.regulator), network.genes.index(edge.target)
    page = Page(page_of(expression, max_edges=7))
    assert page.data["edges"]["stability"][0] == float(f"{network.stability[i, j]:.6g}")
    assert f"{network.stability[i, j]:.2f}" in page.text
    plain = Network.of(network.genes, network.scores).select_top(7)
    html = render(
        plain, Provenance(expression, Rules(max_edges=7), "pcc"), source="x.tsv", command="grn-tvcs"
    )
    assert "Stability" not in html
    assert "stability" not in Page(html).data["edges"]


def test_a_network_in_parts_is_drawn_the_same_way_by_every_process():
    script = (
        "from grn_tvcs import Edge\n"
        "from grn_tvcs.report.layout import draw\n"
        "pairs = [('A', 'B'), ('B', 'C'), ('C', 'A'), ('D', 'E'), ('F', 'G'), ('G', 'H')]\n"
        "print(draw([Edge(r, t, 1.0, '+', 1, True) for r, t in pairs]))\n"
    )
    message = {
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(message) == 1
