"""The report of a network in a real browser: filters, list, pages, files, keys, small screens."""

import csv
import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from playwright.sync_api import expect

from benchmarks.speed.network_report import made
from grn_tvcs import Expression, Network, Rules, read_network, score
from grn_tvcs.network.provenance import Provenance
from grn_tvcs.report.report import render
from tests.browser import violations

pytestmark = pytest.mark.browser
HOSTILE = ["<script>window.hacked=1</script>", "=HYPERLINK(1)", '"onmouseover=window.hacked=1 x="']
NAMES = "tvcs.shown.map((k) => [tvcs.name(tvcs.edges.from[k]), tvcs.name(tvcs.edges.to[k])])"
SETTLED = "html[data-ready=yes][data-layout=settled]"


def written(folder, network, expression, **more):
    """A report as a file."""
    path = folder / "report.html"
    words = {"source": "x.tsv", "command": "grn-tvcs infer x.tsv"}
    made = Provenance(expression, Rules(), "tvcs")
    path.write_text(render(network, made, **words, **more), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """100 genes, 200 edges and a reference."""
    network, expression, true = made(100, 200, n_series=4)
    folder = tmp_path_factory.mktemp("report")
    path = written(folder, network, expression, reference=true, scores=score(network, true))
    return path, network, true


@pytest.fixture(scope="module")
def large_report(tmp_path_factory):
    """2,000 genes, 4,000 edges."""
    network, expression, true = made(2000, 4000)
    return written(tmp_path_factory.mktemp("large"), network, expression), network, true


@pytest.fixture
def page(browser, report):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield opened(page, report[0])
    page.close()


def opened(page, path, hash=""):
    """The page, ready; any error of a script fails the test."""
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(path.as_uri() + hash)
    page.wait_for_selector(SETTLED)
    return page


def shown(page):
    return [tuple(pair) for pair in page.evaluate(NAMES)]


def rows(page):
    """Texts of the rows that exist."""
    return page.locator("#rows [role=row]")


def saved(page, button):
    with page.expect_download() as download:
        page.locator(button).click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        return download.value.suggested_filename, file.read()


def chosen(network, fits):
    """Names of the selected edges that fit, the surest first."""
    return [(e.regulator, e.target) for e in network.edges(selected_only=True) if fits(e)]


def test_every_filter_changes_list_counts_and_drawing(page, report):
    _, network, true = report
    is_true = {(e.regulator, e.target) for e in true.edges()}
    hub = max(network.genes, key=lambda g: network.out_degrees[network.genes.index(g)])
    everything = chosen(network, lambda e: True)
    assert shown(page) == everything
    degree = network.out_degrees + network.in_degrees
    gene = {name: k for k, name in enumerate(network.genes)}
    filters = [
        ("#confidence", "0.6", lambda e: e.confidence >= 0.6),
        ("#evidence", "trees", lambda e: "trees" in e.evidence.split("+")),
        ("#regulator", hub.lower(), lambda e: e.regulator == hub),
        ("#search", hub, lambda e: hub in (e.regulator, e.target)),
        ("#truth", "t", lambda e: (e.regulator, e.target) in is_true),
        ("#degree", "8", lambda e: min(degree[gene[g]] for g in (e.regulator, e.target)) >= 8),
    ]
    for where, value, fits in filters:
        expected = chosen(network, fits)
        assert 0 < len(expected) < len(everything), where
        control = page.locator(where)
        is_menu = control.evaluate("e => e.tagName") == "SELECT"
        (control.select_option if is_menu else control.fill)(value)
        assert shown(page) == expected, where
        genes = {name for pair in expected for name in pair}
        assert page.locator("#count").inner_text() == (
            f"{len(expected)} of 200 edges, {len(genes)} of 100 genes"
        )
        assert page.locator("#list").get_attribute("aria-rowcount") == str(len(expected) + 1)
        assert page.evaluate("tvcs.graph.nodes().size") == len(genes)
        page.locator("#reset").click()
        assert shown(page) == everything
    page.locator("input[name=sign][value='-']").uncheck()
    assert shown(page) == chosen(network, lambda e: e.sign != "-")
    page.locator("#beside").check()
    assert page.evaluate("tvcs.shown.some((k) => tvcs.edges.selected[k] === '0')")
    page.locator("#search").fill("nobody")
    assert page.locator("#found").inner_text() == "No gene has this in its name."
    assert page.locator("#empty").is_visible()


def test_filtering_lays_the_network_out_anew_with_hubs_apart(page):
    places = "[...tvcs.graph.nodes().values()].map((n) => [n.gene, n.x, n.y, n.links])"
    before = {gene: (x, y) for gene, x, y, _ in page.evaluate(places)}
    page.locator("#confidence").fill("0.5")
    page.wait_for_selector(SETTLED)
    after = page.evaluate(places)
    assert 10 < len(after) < len(before)
    moved = [np.hypot(x - before[g][0], y - before[g][1]) for g, x, y, _ in after]
    assert np.median(moved) > 5
    xy = np.array([part[1:3] for part in after])
    assert (np.ptp(xy, axis=0) > 100).all()
    edges = page.evaluate("tvcs.graph.drawn().map((k) => [tvcs.edges.from[k], tvcs.edges.to[k]])")
    place = {gene: np.array((x, y)) for gene, x, y, _ in after}
    links = [np.linalg.norm(place[a] - place[b]) for a, b in edges]
    hubs = [np.array(part[1:3]) for part in sorted(after, key=lambda part: -part[3])[:4]]
    apart = [np.linalg.norm(a - b) for k, a in enumerate(hubs) for b in hubs[:k]]
    assert min(apart) > np.median(links)


def test_the_same_page_is_laid_out_the_same_way(browser, report):
    places = []
    for _ in range(2):
        page = opened(browser.new_page(viewport={"width": 900, "height": 700}), report[0])
        places.append(page.evaluate("[...tvcs.graph.nodes().values()].map((n) => [n.x, n.y])"))
        page.close()
    assert places[0] == places[1]


def test_the_list_holds_few_rows_sorts_all_and_scrolls_to_the_last(browser, large_report):
    path, network, _ = large_report
    page = opened(browser.new_page(viewport={"width": 1280, "height": 900}), path)
    assert page.locator("#count").inner_text().startswith("4000 of 4000 edges, ")
    assert "The top 400 of them are drawn." in page.locator("#drawn").inner_text()
    assert page.evaluate("tvcs.graph.drawn().length") == 400
    assert 10 < rows(page).count() < 60
    page.locator("#head-from button").click()
    regulators = page.evaluate("tvcs.list.found().map((k) => tvcs.name(tvcs.edges.from[k]))")
    assert regulators == sorted(regulators)
    assert len(regulators) == 4000
    page.locator("#head-confidence button").click()
    assert page.locator("#head-confidence").get_attribute("aria-sort") == "descending"
    assert page.locator("#head-from").get_attribute("aria-sort") is None
    chances = page.evaluate("tvcs.list.found().map((k) => tvcs.edges.confidence[k])")
    assert chances == sorted(chances, reverse=True)
    page.locator("#head-rank button").click()
    page.locator("#list").focus()
    page.keyboard.press("End")
    last = chosen(network, lambda e: True)[-1]
    assert rows(page).last.inner_text().split("\n")[1:4:2] == list(last)
    # An edge far beyond the first screen is found by the names of its genes.
    far = chosen(network, lambda e: True)[3456]
    page.locator("#search").fill(" ".join(far))
    assert far in shown(page)
    assert len(shown(page)) <= 2
    assert far[0] in rows(page).first.inner_text()
    # A gene without an edge is found and has a page.
    alone = network.genes[int(np.flatnonzero(network.out_degrees + network.in_degrees == 0)[0])]
    page.locator("#search").fill(alone.lower())
    assert shown(page) == []
    page.locator("#found a").click()
    expect(page.locator("#page h3")).to_have_text(alone)
    assert "0 regulators and 0 targets inside the caps." in page.locator("#page").inner_text()
    assert page.locator("#page .courses svg").count() == 10
    page.close()


def test_a_gene_has_a_page_with_a_link_of_its_own(browser, report):
    path, network, _ = report
    edge = network.edges(selected_only=True)[0]
    j = network.genes.index(edge.target)
    page = opened(browser.new_page(), path, f"#gene={edge.target}")
    box = page.locator("#page")
    assert box.locator("h3").inner_text() == edge.target
    n_in, n_out = int(network.in_degrees[j]), int(network.out_degrees[j])
    assert f"{n_in} regulators and {n_out} targets inside the caps." in box.inner_text()
    assert "In held-out series, its regulators" in box.inner_text()
    regulators = {e.regulator for e in network.edges(selected_only=True) if e.target == edge.target}
    table = box.get_by_role("region", name="regulators")
    assert set(table.locator("td:first-child").all_inner_texts()) == regulators
    # Axes with numbers and names, points, predictions of all but the first sample.
    chart = box.locator(".courses svg").first
    assert chart.locator("circle").count() == 21
    assert chart.locator("path.expected").count() == 20
    text = chart.locator("text").all_text_contents()
    assert "time in the unit of the table" in text
    assert "200" in text
    assert "level in the unit of the table" in box.inner_text()
    page.locator("#page table a").first.click()
    expect(box.locator("h3")).not_to_have_text(edge.target)  # drawn after the address has changed
    assert box.locator("h3").inner_text() in regulators
    page.go_back()
    expect(box.locator("h3")).to_have_text(edge.target)
    box.locator("a", has_text="time courses").first.click()
    expect(box).to_contain_text("probability of being true")
    assert "the reference" in box.inner_text()
    assert box.locator(".courses svg").first.locator("circle").count() == 42
    page.close()


def test_levels_in_the_page_are_those_of_the_table(page):
    _, expression, _ = made(100, 200, n_series=4)
    result = page.evaluate("tvcs.profile(tvcs.find('GENE00007')).levels.flat()")
    levels = expression.values[:, expression.genes.index("GENE00007")]
    np.testing.assert_allclose(result, levels, atol=np.ptp(levels) / 4000)


def test_files_hold_what_is_filtered(page, report, tmp_path):
    _, network, true = report
    is_true = {(e.regulator, e.target) for e in true.edges()}
    page.locator("#confidence").fill("0.5")
    page.locator("#head-to button").click()
    name, text = saved(page, "#save-table")
    assert name == "edges-filtered.tsv"
    table = list(csv.DictReader(io.StringIO(text), delimiter="\t"))
    expected = [e for e in network.edges(selected_only=True) if e.confidence >= 0.5]
    assert sorted((r["regulator"], r["target"]) for r in table) == sorted(
        (e.regulator, e.target) for e in expected
    )
    assert [row["target"] for row in table] == sorted(row["target"] for row in table)
    for row in table:
        pair = (row["regulator"], row["target"])
        assert row["reference"] == ("true" if pair in is_true else "false")
    name, text = saved(page, "#save-svg")
    assert name == "network.svg"
    root = ET.fromstring(text)
    svg = "{http://www.w3.org/2000/svg}"
    edges = [part.get("data-edge") for part in root.iter(f"{svg}g") if part.get("data-edge")]
    words = {"+": "activates", "-": "represses", "?": "regulates"}
    assert edges == [f"{e.regulator} {words[e.sign]} {e.target}" for e in expected]
    genes = {part.get("data-gene") for part in root.iter(f"{svg}circle")}
    assert genes == {gene for e in expected for gene in (e.regulator, e.target)}
    dashed = [part for part in root.iter(f"{svg}path") if part.get("stroke-dasharray")]
    assert len(dashed) == sum((e.regulator, e.target) not in is_true for e in expected)
    (x, y, width, height) = map(float, root.get("viewBox").split())
    for node in root.iter(f"{svg}circle"):
        assert x < float(node.get("cx")) < x + width
        assert y < float(node.get("cy")) < y + height


def test_a_saved_table_with_hostile_names_is_read_as_a_network(browser, tmp_path):
    genes = (*HOSTILE, 'quo"te\ttab', "+4", "-x")
    scores = np.triu(np.arange(1.0, 37).reshape(6, 6), 1)
    network = Network.of(genes, scores)
    expression = Expression(np.eye(6) + 1, np.arange(6.0), ("a",) * 6, genes, scale="levels")
    page = opened(browser.new_page(), written(tmp_path, network, expression))
    _, text = saved(page, "#save-table")
    (tmp_path / "edges.tsv").write_text(text, encoding="utf-8")
    read = read_network(tmp_path / "edges.tsv", genes)
    result = [(e.regulator, e.target, e.score) for e in read.edges()]
    assert result == [(e.regulator, e.target, e.score) for e in network.edges()]
    _, drawing = saved(page, "#save-svg")
    assert {part.get("data-gene") for part in ET.fromstring(drawing).iter()} - {None} == set(genes)
    for name in genes:
        page.locator("#search").fill(name)
        page.locator("#found a").first.click()
        expect(page.locator("#page h3")).to_have_text(name)
    page.locator("#page a", has_text="time courses").first.click()
    assert page.evaluate("window.hacked") is None
    page.close()


def test_everything_can_be_reached_by_keys(page):
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    reached = []
    page.locator("h1").click()  # from the top, where the drawing stands
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
        if reached[-1] == "list":
            break
    filters = {"regulator", "confidence", "stability", "score", "degree", "sign", "evidence"}
    others = {"truth", "beside", "reset", "save-table", "save-svg", "graph", "fit", "most"}
    assert filters | others <= set(reached)
    page.locator("#confidence").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert page.locator("#confidence-says").inner_text() == "≥ 0.05"
    page.locator("#list").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("PageDown")
    active = page.locator("#" + page.locator("#list").get_attribute("aria-activedescendant"))
    assert active.get_attribute("aria-selected") == "true"
    words = active.inner_text().split("\n")
    page.keyboard.press("Enter")
    page.wait_for_selector("#page h3")
    title = page.locator("#page h3").inner_text()
    assert title.startswith(words[1]) and title.endswith(words[3])  # noqa: PT018
    assert page.evaluate("document.activeElement.tagName") == "H3"
    page.keyboard.press("Escape")
    page.wait_for_selector("#page", state="hidden")
    page.locator("#graph").focus()
    place = "tvcs.graph.place([...tvcs.graph.nodes().keys()][0])"
    before = page.evaluate(place)
    page.keyboard.press("ArrowLeft")
    np.testing.assert_allclose(page.evaluate(place), [before[0] + 60, before[1]])
    page.keyboard.press("0")
    np.testing.assert_allclose(page.evaluate(place), before)


def test_a_click_in_the_drawing_opens_the_gene(page):
    hubs = "[...tvcs.graph.nodes().values()].sort((a, b) => b.links - a.links)"
    gene = page.evaluate(f"{hubs}[0].gene")
    x, y = page.evaluate(f"tvcs.graph.place({gene})")
    page.locator("#graph").click(position={"x": x, "y": y})
    assert page.locator("#page h3").inner_text() == page.evaluate(f"tvcs.name({gene})")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("dark", 360)])
def test_axe_finds_nothing_and_small_screens_do_not_scroll_sideways(scheme, width, browser, report):
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 780})
    opened(page, report[0])
    page.evaluate("tvcs.go(tvcs.hash.gene(tvcs.edges.to[0]))")
    page.wait_for_selector("#page h3")
    page.locator("details.keys summary").click()
    assert violations(page) == []
    wider = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wider <= 0
    page.close()


@pytest.mark.parametrize("width", [1300, 400])
def test_the_first_screen_is_the_network_and_its_verdict(width, browser, report):
    page = browser.new_page(viewport={"width": width, "height": 900})
    opened(page, report[0])
    drawing = page.locator("#graph").bounding_box()
    verdict = page.get_by_text("This experiment supports").bounding_box()
    settings = page.locator(".controls").bounding_box()
    assert drawing["y"] + drawing["height"] < 900
    assert verdict["y"] + verdict["height"] < 900
    assert settings["y"] > drawing["y"] + drawing["height"]
    if width == 1300:  # beside it, not below
        assert verdict["x"] > drawing["x"] + drawing["width"]
        assert verdict["y"] < drawing["y"] + drawing["height"] / 2
    page.close()


# Elements whose text does not fit; those that are meant for the eyes of nobody are not shown.
CUT = """() => [...document.querySelectorAll("main *")].filter((e) => {
  const box = e.getBoundingClientRect(), style = getComputedStyle(e);
  if (!box.width || e.closest("canvas, pre, .short")) return false;
  const beyond = box.right > innerWidth + 1 || box.left < -1;
  return beyond || (style.overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1);
}).map((e) => e.outerHTML.slice(0, 100))"""


@pytest.mark.parametrize("width", [1300, 400])
def test_nothing_is_cut_on_a_desk_and_on_a_phone(width, browser, report):
    page = browser.new_page(viewport={"width": width, "height": 900})
    opened(page, report[0])
    assert page.evaluate(CUT) == []
    headings = page.locator("#head [role=columnheader]").all_inner_texts()
    needed = ["regulator", "sign", "target", "confidence"]
    assert [name for name in needed if name not in headings] == []
    assert ("evidence" in headings) == (width == 1300)
    page.set_viewport_size({"width": 1300, "height": 900})
    expect(page.locator("#head-evidence")).to_be_visible()
    assert page.locator("[aria-sort=ascending]").inner_text().startswith("rank")
    page.close()


def test_every_slider_starts_with_all_edges_at_the_left(page):
    sliders = page.locator("input[type=range]")
    assert sliders.count() == 4
    for k in range(sliders.count()):
        slider = sliders.nth(k)
        assert slider.input_value() == slider.get_attribute("min")
        n_all, counts = len(shown(page)), []
        low, high = (float(slider.get_attribute(end)) for end in ("min", "max"))
        for share in (0.25, 0.5, 1.0):
            # On the grid of the slider, which has steps of 0.01 or 1.
            value = low + share * (high - low)
            slider.fill(f"{value:.2f}" if high == 1 else f"{value:.0f}")
            counts.append(len(shown(page)))
        assert n_all >= counts[0] >= counts[1] >= counts[2]
        assert counts[2] < n_all
        page.locator("#reset").click()
        assert len(shown(page)) == n_all


def test_supported_edges_are_marked_in_the_drawing_and_its_file(page, report):
    _, network, _ = report
    edges = network.edges(selected_only=True)
    n_supported = sum(e.confidence >= 0.5 for e in edges)
    assert 0 < n_supported < len(edges)
    assert (
        f"thick: supported, {n_supported} of {len(edges)}" in page.locator(".legend").inner_text()
    )
    _, text = saved(page, "#save-svg")
    widths = {}
    for part in ET.fromstring(text).iter("{http://www.w3.org/2000/svg}g"):
        if part.get("data-edge"):
            widths[part.get("data-edge")] = float(part[1].get("stroke-width"))
    words = {"+": "activates", "-": "represses", "?": "regulates"}
    for edge in edges:
        width = widths[f"{edge.regulator} {words[edge.sign]} {edge.target}"]
        assert (width > 2) == (edge.confidence >= 0.5)


def test_a_cell_of_the_adjacency_names_its_edge_and_opens_it(page, report):
    _, network, _ = report
    edge = network.edges(selected_only=True)[0]
    rows, cols = page.evaluate("tvcs.data.adjacency")
    row = rows.index(network.genes.index(edge.regulator))
    col = cols.index(network.genes.index(edge.target))
    page.locator("#adjacency").scroll_into_view_if_needed()
    frame = page.locator("#adjacency .frame").bounding_box()
    x = frame["x"] + (col + 0.5) * frame["width"] / len(cols)
    y = frame["y"] + (row + 0.5) * frame["height"] / len(rows)
    page.mouse.move(x, y)
    expect(page.locator("#cell")).to_contain_text(f" {edge.target}: rank 1; ")
    page.mouse.click(x, y)
    expect(page.locator("#page h3")).to_contain_text(edge.regulator)


def test_a_reference_brings_the_precision_recall_curve(page):
    curve = page.get_by_role("img", name="Precision by recall")
    box = curve.bounding_box()
    assert box["width"] > 300
    assert curve.locator("polyline").count() == 1
    dot = curve.locator("circle").bounding_box()
    assert box["x"] < dot["x"] < box["x"] + box["width"]


def test_paper_has_the_drawing_and_the_edges_that_were_filtered(page, report):
    page.locator("#confidence").fill("0.5")
    n = len(shown(page))
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#printed").is_visible()
    assert page.locator("#printed tr").count() == 1 + min(n, 100)
    assert "confidence ≥ 0.5" in page.locator("#printed").inner_text()
    drawing = page.locator("#printed img")
    assert drawing.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    assert page.locator("#graph").is_hidden()
    assert page.locator(".controls").is_hidden()


def test_an_undirected_edge_has_no_arrow_and_is_a_partner_of_both_genes(browser, tmp_path):
    network, expression, _ = made(12, 10)
    undirected = network.selected | network.selected.T
    scores = np.where(undirected, np.maximum(network.scores, network.scores.T), network.scores)
    network = Network.of(network.genes, scores, undirected=undirected)
    network = network.select_under_caps(Rules(max_edges=6))
    page = opened(browser.new_page(), written(tmp_path, network, expression))
    first = page.evaluate("[tvcs.describe(0), tvcs.scene.head({edge: 0}, '+', 1).points.length]")
    edge = network.edges(selected_only=True)[0]
    assert first == [f"{edge.regulator} is associated with {edge.target}", 0]
    svg = page.evaluate("tvcs.graph.svg('x')")
    assert svg.count("data-edge=") == 6
    assert 'stroke-width="1.6"' not in svg  # no head
    for gene, other in ((edge.regulator, edge.target), (edge.target, edge.regulator)):
        page.evaluate(f"location.hash = 'gene={gene}'")
        partners = page.get_by_role("region", name="partners")
        expect(partners.get_by_role("link", name=other, exact=True)).to_be_visible()
    degrees = page.evaluate("tvcs.genes.map((_, gene) => tvcs.degree(gene))")
    assert sum(degrees) == 12
    page.close()
