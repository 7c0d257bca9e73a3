"""The reports open in a real browser, ask nobody for anything, and run no name as a script."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.browser import violations
from tests.makers.commands import crowd_tvcs, grn_tvcs

pytestmark = pytest.mark.browser

HOSTILE = [
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    '"onmouseover=window.hacked=1 x="',
    "</title><script>window.hacked=1</script>",
    "{{7*7}}",
    "=HYPERLINK(1)",
]


def run(program, *words) -> None:
    """Run a command of ours; it must succeed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of an edge that is left out
        result = program(*words)
    assert result.exit_code == 0, result.output


@pytest.fixture(scope="module")
def network_report(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("network")
    header = "\t".join(["Time", *(name.replace('"', '""').join('""') for name in HOSTILE)])
    waves = [
        [((3 * t + 5 * g + s * t * g) % 11) / 10 + 0.1 for g in range(len(HOSTILE))]
        for s in range(4)
        for t in range(12)
    ]
    rows = ["\t".join(map(str, [i % 12, *wave])) for i, wave in enumerate(waves)]
    (folder / "x.tsv").write_text("\n".join([header, *rows]) + "\n")
    words = ("--max-edges", 12, "--calibrate", 2)
    run(grn_tvcs, "infer", folder / "x.tsv", "--out", folder / "out", *words)
    return folder / "out" / "report.html"


@pytest.fixture(scope="module")
def judged_report(network_report) -> Path:
    """The same with scores: names in what was left out."""
    folder = network_report.parents[1]
    quoted = [name.replace('"', '""').join('""') for name in HOSTILE]
    pairs = [f"{a}\t{b}" for a in quoted for b in [*quoted[:2], '"<b>nobody</b>"']]
    (folder / "true.tsv").write_text("\n".join(pairs) + "\n")
    run(
        *(grn_tvcs, "infer", folder / "x.tsv", "--out", folder / "judged"),
        *("--method", "tvcs", "--option", "resamples=10"),
        *("--reference", folder / "true.tsv"),
    )
    return folder / "judged" / "report.html"


@pytest.fixture(scope="module")
def crowd_report(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("crowd")
    rows = [["worker", "task", "quality"]]
    rows += [[w, t, 0.6 + 0.05 * i] for i, w in enumerate(HOSTILE) for t in HOSTILE]
    text = "\n".join(
        ",".join('"' + str(cell).replace('"', '""') + '"' for cell in row) for row in rows
    )
    (folder / "q.csv").write_text(text + "\n")
    run(
        *(crowd_tvcs, "assign", folder / "q.csv", "--out", folder / "out"),
        *("--max-workers-per-task", 3, "--max-tasks-per-worker", 4, "--budget", 15),
    )
    return folder / "out" / "report.html"


@pytest.fixture(scope="module")
def campaign_report(tmp_path_factory) -> Path:
    from crowd_tvcs.campaign import Campaign

    folder = tmp_path_factory.mktemp("campaign")
    with Campaign.create(
        folder / "campaign.db",
        workers=HOSTILE,
        tasks=HOSTILE,
        qualities={name: 0.6 + 0.05 * i for i, name in enumerate(HOSTILE)},
        classes=HOSTILE[:2],
        gold={HOSTILE[0]: HOSTILE[1]},
    ) as campaign:
        pairs = campaign.plan(labels=12, method="fast").pairs
        campaign.add_answers([(task, worker, HOSTILE[0]) for worker, task in pairs[:8]])
    run(crowd_tvcs, "campaign", "report", folder / "campaign.db", "--out", folder / "report.html")
    return folder / "report.html"


def condition(seed: int, pull: float, n_series: int = 4) -> str:
    """Series in which the first gene pulls the second by so much, and no other gene any."""
    rng = np.random.default_rng(seed)
    names = [f"regulator-of-the-{k}th-condition" for k in range(8)]
    lines = ["\t".join(["Time", *names])]
    for _ in range(n_series):
        x = rng.normal(size=8)
        for t in range(10):
            lines.append("\t".join(map(str, [t, *x.round(4)])))
            pulled = np.r_[0, pull * x[0], np.zeros(6)]
            x = 0.4 * x + pulled + rng.normal(size=8) * np.r_[1, 0.2, np.ones(6)]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def compared(tmp_path_factory) -> dict[str, Path]:
    """The pages of two conditions, of three with a page for each pair, and of two networks."""
    folder = tmp_path_factory.mktemp("compared")
    for name, seed, pull in (("a", 1, 2.0), ("b", 2, -2.0)):
        table = folder / f"{name}.tsv"
        table.write_text(condition(seed, pull))
        run(grn_tvcs, "infer", table, "--method", "pcc", "--out", folder / f"of-{name}")
    head, *rows = condition(3, 1.0, 6).splitlines()
    three = [f"condition\t{head}", *(f"{'xyz'[i // 20]}\t{row}" for i, row in enumerate(rows))]
    (folder / "three.tsv").write_text("\n".join(three) + "\n")
    words = ("--scale", "log", "--permutations", 34)
    compare = (grn_tvcs, "compare")
    run(*compare, folder / "a.tsv", folder / "b.tsv", "--scale", "log", "--out", folder / "two")
    run(
        *(*compare, folder / "three.tsv", "--condition-column", "condition"),
        *(*words, "--out", folder / "three"),
    )
    run(*compare, folder / "of-a", folder / "of-b", "--out", folder / "runs")
    pages = {"two": "report", "three": "report", "pair": "pair1", "runs": "report"}
    return {
        name: folder / ("three" if name == "pair" else name) / f"{page}.html"
        for name, page in pages.items()
    }


REPORTS = ["network_report", "judged_report", "crowd_report", "campaign_report"]


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_opens_without_requests_errors_or_scripts_from_names(name, browser, request):
    report = request.getfixturevalue(name)
    page = browser.new_page()
    asked, errors = [], []
    page.on("request", lambda r: asked.append(r.url))
    page.on("pageerror", lambda e: errors.append(str(e)))
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on("dialog", lambda d: errors.append(d.message))
    page.goto(report.as_uri())
    page.mouse.move(300, 300)
    page.wait_for_timeout(200)
    assert asked == [report.as_uri()]
    assert errors == []
    assert page.evaluate("window.hacked") is None
    assert page.locator("h1").first.inner_text()
    assert "<script>" in page.locator("body").inner_text()  # the name, shown as a name
    assert "49" not in page.title()
    width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert width <= 0, "the page is wider than the window"
    page.close()


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", [*REPORTS, "two", "three", "pair", "runs"])
def test_axe_finds_nothing_in_any_report(name, width, browser, request):
    is_compared = name not in REPORTS
    report = request.getfixturevalue("compared" if is_compared else name)
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto((report[name] if is_compared else report).as_uri())
    for is_open in (False, True):
        page.evaluate(f"document.querySelectorAll('details').forEach(d => d.open = {is_open:d})")
        assert violations(page) == []
    page.close()


def test_the_crowd_report_shows_the_curve_the_loads_the_prices_and_the_weak_tasks(
    crowd_report, browser
):
    page = browser.new_page()
    page.goto(crowd_report.as_uri())
    curve = page.locator("polyline.curve")
    assert curve.bounding_box()["width"] > 300
    for caption in ("Tasks of every worker", "Number of tasks by answers"):
        assert page.get_by_role("img", name=caption).locator("rect").count() > 0
    assert page.get_by_role("heading", name="Shadow prices of the caps").is_visible()
    assert page.locator("td.who").count() == len(HOSTILE)
    numbers = page.locator("details table")
    assert numbers.is_hidden()
    page.locator("details summary").click()
    assert numbers.is_visible()
    page.close()


def test_the_curves_lie_inside_their_frames_and_omissions_are_text(judged_report, browser):
    page = browser.new_page()
    page.goto(judged_report.as_uri())
    inside = page.evaluate(
        "[...document.querySelectorAll('svg.curve')].map(svg => { const f = svg.viewBox.baseVal;"
        "return [...svg.querySelectorAll('path,circle,text,rect')].every(e => { const b ="
        "e.getBBox(); return b.x >= -1 && b.y >= -1 && b.x + b.width <= f.width + 1 &&"
        "b.y + b.height <= f.height + 1; }); })"
    )
    assert inside == [True]  # precision by recall
    text = page.locator("body").inner_text()
    assert "with a gene that is not in the network: <script>window.hacked=1</script> ->" in text
    assert "<b>nobody</b>" in text
    assert page.evaluate("window.hacked") is None
    page.close()


def test_a_network_report_works_without_scripts(network_report, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(network_report.as_uri())
    assert page.locator("#static svg circle").count() > 1
    assert page.locator("#explorer").is_hidden()
    context.close()


CONTRAST = """() => {
  const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = (rgb) => rgb.match(/[0-9.]+/g).slice(0, 3).map(Number).map(channel)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const contrast = (rgb) => { const a = light(rgb);
    return (Math.max(a, paper) + 0.05) / (Math.min(a, paper) + 0.05); };
  const shown = (e) => e.getClientRects().length > 0;
  const of = (what, style) => [...document.querySelectorAll(what)].filter(shown)
    .map((e) => contrast(getComputedStyle(e)[style]));
  return { keys: of(".key", "borderTopColor"), words: of("p, td, th, h2, summary", "color"),
    labels: of("svg:not(.network) text:not(.found)", "fill") };
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", REPORTS)
def test_legends_and_words_can_be_read_in_both_schemes(name, scheme, browser, request):
    page = browser.new_page(color_scheme=scheme)
    page.goto(request.getfixturevalue(name).as_uri())
    found = page.evaluate(CONTRAST)
    assert min(found["words"]) >= 4.5
    assert min([*found["keys"], *found["labels"], 21]) >= 3.0
    if name != "crowd_report":
        assert len(found["keys"]) >= 2
    # What is darker in one scheme is brighter in the other: a legend may not say either.
    legend = page.locator("p", has=page.locator(".key")).all_inner_texts()
    assert not [text for text in legend if "dark" in text or "bright" in text]
    page.close()


def test_a_plan_by_another_method_than_the_curve_has_no_dot_and_one_by_its_own_has(
    crowd_report, browser
):
    page = browser.new_page()
    page.goto(crowd_report.as_uri())
    assert page.locator("circle.found").count() == 0
    assert "It has no dot" in page.locator("body").inner_text()
    quality = crowd_report.parents[1] / "q.csv"
    run(
        *(crowd_tvcs, "assign", quality, "--out", crowd_report.parents[1] / "own"),
        *("--method", "fast", "--budget", 15),
    )
    page.goto((crowd_report.parents[1] / "own" / "report.html").as_uri())
    assert page.locator("svg text.found").text_content() == "this plan"
    dot = page.locator("circle.found").bounding_box()
    middle = dot["y"] + dot["height"] / 2
    points = page.locator("circle:not(.found)")
    places = [points.nth(k).bounding_box() for k in range(points.count())]
    same = [p for p in places if abs(p["x"] + p["width"] / 2 - dot["x"] - dot["width"] / 2) < 1]
    assert len(same) == 1
    assert abs(same[0]["y"] + same[0]["height"] / 2 - middle) < 1
    page.close()
