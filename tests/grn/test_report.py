from html.parser import HTMLParser

import numpy as np
import pytest

from grn_tvcs import Expression, Network, Rules, infer, simulate
from grn_tvcs.report import MOST_DRAWN, draw, render

EVIL = '"><script>alert(1)</script>', "a' onload='x", "{{ 7 * 7 }}", "</svg>&<b>", "javascript:x"


class Page(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text.append(data)


def page_of(expression, **caps):
    network = infer(expression, rng=0, **caps)
    rules = Rules(**caps).with_defaults(len(network.genes))
    return render(
        network, expression, rules, method="tvcs", source="x.tsv", command="grn-tvcs infer x.tsv"
    )


@pytest.fixture(scope="module")
def expression():
    return simulate(10, 4, 9, n_edges=12, rng=0).expression


def test_hostile_gene_names_stay_text(expression):
    genes = (*EVIL, *expression.genes[len(EVIL) :])
    html = page_of(Expression(expression.values, expression.times, expression.series, genes))
    page = Page(html)
    harmless = Page(page_of(expression))
    assert set(page.tags) == set(harmless.tags)
    assert page.tags.count("b") == harmless.tags.count("b")
    assert "script" not in page.tags
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


def test_the_report_shows_caps_edges_method_and_command(expression):
    page = Page(page_of(expression, max_in_degree=2, max_edges=7))
    text = " ".join(" ".join(page.text).split())
    for part in ("2 regulators of a gene", "no cap targets of", "7 edges at most", "GradMP"):
        assert part in text
    assert "grn-tvcs infer x.tsv" in text
    assert page.tags.count("circle") > 2


def test_a_network_without_edges_has_a_report_too(expression):
    html = page_of(expression, max_edges=0)
    assert "No edge was selected" in html


def test_only_the_surest_edges_of_a_large_network_are_drawn():
    scores = np.triu(np.arange(1, 1601.0).reshape(40, 40), 1)
    genes = tuple(f"G{i}" for i in range(40))
    network = Network(genes, scores)
    dots, arrows = draw(network, network.edges()[:MOST_DRAWN])
    assert len(arrows) == MOST_DRAWN
    assert len({dot.name for dot in dots}) == len(dots) <= 40


def test_the_drawing_lies_inside_its_frame_and_is_always_the_same():
    scores = np.zeros((7, 7))
    scores[0, 1], scores[1, 0], scores[2, 3], scores[4, 5] = 1, 2, 3, 4
    network = Network(tuple("ABCDEFG"), scores)
    dots, arrows = draw(network, network.edges())
    assert (dots, arrows) == draw(network, network.edges())
    assert [dot.name for dot in dots if not 0 < dot.x < 960 or not 0 < dot.y < 640] == []
    assert len(dots) == 6
