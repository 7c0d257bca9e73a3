"""The verdict, its curve and the confidence of edges in the report."""

import numpy as np
import pytest

from grn_tvcs import Network, Rules
from grn_tvcs.network.provenance import Provenance
from grn_tvcs.network.verdict import Verdict
from grn_tvcs.report.data import support
from grn_tvcs.report.report import render
from tests.makers.pages import Page
from tvcs_core.files.page import ABOVE, BELOW, HEIGHT, LEFT, RIGHT, WIDTH

TODAY = {"from", "to", "score", "sign", "rank", "selected"}


def made(chances, n=10, **more):
    """A judged network of `n` genes whose surest pairs have these chances, the others .01."""
    scores = np.zeros((n, n))
    pairs = np.argwhere(~np.eye(n, dtype=bool))
    scores[tuple(pairs.T)] = np.linspace(1.0, 0.1, len(pairs))
    confidence = np.full((n, n), 0.01)
    confidence[tuple(pairs[: len(chances)].T)] = chances
    genes = tuple(f"G{i}" for i in range(1, n + 1))
    return (
        Network.of(genes, scores, confidence=confidence, **more)
        .with_verdict()
        .select_under_caps(Rules(max_edges=9))
    )


def page_of(network, expression):
    return render(
        network, Provenance(expression, Rules(max_edges=9), "tvcs"), source="x.tsv", command="infer"
    )


@pytest.mark.parametrize(
    "chances", [[], [0.9], [0.99] * 30, np.linspace(0.95, 0.05, 60), np.ones(90), np.zeros(90)]
)
def test_the_curve_says_what_adds_up_and_stays_in_its_frame(chances):
    network = made(np.asarray(chances))
    drawn = support(network)
    places = np.array(drawn["points"])
    assert (np.diff(places[:, 0]) > 0).all()
    assert (np.diff(places[:, 1]) <= 0).all()
    everything = np.vstack([places, drawn["all_true"], [drawn["supported"]]])
    assert (everything >= [LEFT, ABOVE]).all()
    assert (everything <= [WIDTH - RIGHT, HEIGHT - BELOW]).all()
    assert drawn["supported"] in [tuple(place) for place in drawn["points"]]
    falling = sorted(network.confidence[network.scores > 0].tolist(), reverse=True)
    (bottom, _), *_, (top, label) = drawn["lines"]
    for k, (_, y) in enumerate(drawn["points"]):
        expected = sum(falling[:k])
        assert float(label) * (bottom - y) / (bottom - top) == pytest.approx(
            expected, abs=0.005 * float(label)
        )


def test_the_report_tells_the_confidence_of_every_listed_edge(expression):
    network = made([0.9, 0.8, 0.8, 0.3], verdict=Verdict(more=(2, 5)))
    page = Page(page_of(network, expression))
    text = page.words
    assert "supports 3 edges (of which 2 should be true); two more series would support 5." in text
    assert "3 edges had a probability of at least 0.5 (2.5 expected to be true)" in text
    assert "false discovery" in text
    result = page.data["edges"]
    assert (result["confidence"][0], result["false_discovery"][0]) == (0.9, 0.1)
    cells = [row for row in page.text if row in ("0.90", "0.80", "0.17", "0.10")]
    assert cells[:6] == ["0.90", "0.10", "0.80", "0.17", "0.80", "0.17"]


def test_a_report_without_a_confidence_says_nothing_of_one(expression):
    known = made([0.9])
    plain = Network.of(known.genes, known.scores).select_under_caps(Rules(max_edges=9))
    html = page_of(plain, expression)
    assert set(Page(html).data["edges"]) == TODAY
    body = html[html.index("<body>") : html.index("<script")].lower()
    assert "confidence" not in body
    assert "verdict" not in body


def test_a_network_read_back_has_its_confidence_without_a_verdict(expression):
    known = made([0.9])
    read = Network.of(
        known.genes, known.scores, confidence=known.confidence,
        false_discovery=known.false_discovery,
    ).select_under_caps(Rules(max_edges=9))  # fmt: skip
    text = " ".join(Page(page_of(read, expression)).text)
    assert "This experiment" not in text
    assert "0.90" in text


def test_why_there_is_no_probability_stands_at_the_top(expression):
    known = made([0.9])
    why = "The simulator does not describe these <b>data</b>."
    result = Network.of(known.genes, known.scores, verdict=Verdict(why_not=why))
    html = page_of(result.select_under_caps(Rules(max_edges=9)), expression)
    assert "<b>data</b>" not in html
    assert why in " ".join(Page(html).text)
