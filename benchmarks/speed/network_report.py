"""How large the report of a network is, how soon it opens and how fast it filters.

    python -m benchmarks.speed.network_report [--genes 2000 --edges 4000] [--picture FILE.png]

`--picture` instead takes a picture of such a report, as in docs/network-report.md. Otherwise the
report is opened in headless Chromium (`TVCS_BROWSER`, or one on the path) twice and every filter is
moved. Printed are megabytes, the time until the page can be used, until the drawing has settled,
and from a filter to the next picture on the screen (milliseconds, median and longest). Beside each
stands in brackets the processor time of the page's main thread, which other work on the machine
does not lengthen.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from grn_tvcs import Expression, Network, Rules
from grn_tvcs.network.provenance import Provenance
from grn_tvcs.report.report import render

SERIES, POINTS = 10, 21
RUNS = 2
READY, SETTLED = "html[data-ready=yes]", "html[data-layout=settled]"
# Until the frame after the next one: what was changed is on the screen.
FILTER = """([id, value]) => new Promise((done) => {
  const input = document.getElementById(id), start = performance.now();
  input.value = value;
  input.dispatchEvent(new Event("input"));
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
})"""


def made(
    n_genes: int, n_edges: int, *, n_series: int = SERIES, seed: int = 0
) -> tuple[Network, Expression, Network]:
    """A network with hubs, expression in which its edges act, and a reference."""
    rng = np.random.default_rng(seed)
    regulators = rng.choice(n_genes, max(2, n_genes // 10), replace=False)
    often = 1 / np.arange(1, regulators.size + 1) ** 0.8
    true = np.zeros((n_genes, n_genes), bool)
    sources = rng.choice(regulators, 2 * n_edges, p=often / often.sum())
    true[sources, rng.integers(0, n_genes, 2 * n_edges)] = True
    np.fill_diagonal(true, False)
    weights = true * rng.normal(0, 0.25, true.shape)
    values = []
    for _ in range(n_series):
        level = rng.normal(0, 1, n_genes)
        for _ in range(POINTS):
            values.append(level)
            level = 1.5 * np.tanh(0.7 * level + level @ weights + rng.normal(0, 0.2, n_genes))
    genes = tuple(f"GENE{k:05d}" for k in range(n_genes))
    times = np.tile(np.arange(0.0, 10.0 * POINTS, 10.0), n_series)
    series = tuple(f"s{k + 1}" for k in range(n_series) for _ in range(POINTS))
    expression = Expression(np.exp(np.array(values)), times, series, genes, scale="levels")
    guessed = rng.random(true.shape) < n_edges / n_genes**2
    scores = np.where(true, rng.random(true.shape), 0) + guessed * rng.random(true.shape) / 2
    np.fill_diagonal(scores, 0.0)
    evidence = np.where(scores > 0, rng.choice([1, 2, 3, 8, 9], true.shape), 0).astype(np.uint8)
    network = Network.of(
        genes, scores, np.sign(weights).astype(np.int8), evidence=evidence,
        stability=np.clip(scores * 1.2, 0, 1), confidence=np.clip(0.9 * scores, 0, 1),
    )  # fmt: skip
    return (
        network.with_verdict().select_top(n_edges),
        expression,
        Network.of(genes, true.astype(float)),
    )


def report(n_genes: int, n_edges: int) -> str:
    """The report of such a network."""
    network, expression, reference = made(n_genes, n_edges)
    return render(
        network,
        Provenance(expression, Rules(max_edges=n_edges), "tvcs"),
        source="expression.tsv",
        command="grn-tvcs infer expression.tsv",
        reference=reference,
    )


class Clock:
    """Seconds that went by, and those that the main thread of a page worked."""

    def __init__(self, page) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._start, self._worked = time.perf_counter(), self._work()

    def _work(self) -> float:
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return next(part["value"] for part in metrics if part["name"] == "TaskDuration")

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self._start, self._work() - self._worked


def measure(page, path: Path) -> tuple[tuple[float, float], ...]:
    """Seconds until usable and until settled; milliseconds of filters, median and longest."""
    page.goto("about:blank")
    clock = Clock(page)
    page.goto(path.as_uri())
    page.wait_for_selector(READY)
    ready = clock.read()
    page.wait_for_selector(SETTLED)
    settled = clock.read()
    hub = page.evaluate("tvcs.name(tvcs.edges.from[0])")
    moves = [
        ("confidence", "0.3"), ("confidence", "0.6"), ("confidence", "0"), ("evidence", "series"),
        ("evidence", ""), ("regulator", hub), ("regulator", ""), ("search", "GENE001"),
        ("search", ""), ("truth", "t"), ("truth", ""), ("degree", "5"), ("degree", "1"),
        ("most", "1000"), ("confidence", "0.2"), ("confidence", "0"),
    ]  # fmt: skip
    filters = []
    for move in moves:
        clock = Clock(page)
        filters.append((page.evaluate(FILTER, move), 1000 * clock.read()[1]))
        page.wait_for_selector(SETTLED)
    wall, work = zip(*filters, strict=True)
    middle = statistics.median(wall), statistics.median(work)
    return ready, settled, middle, (max(wall), max(work))


def take_picture(browser, path: Path, picture: Path) -> None:
    """The first screen of a report, and its filters and list."""
    page = browser.new_page(viewport={"width": 1300, "height": 1360})
    page.goto(path.as_uri())
    page.wait_for_selector(SETTLED)
    page.screenshot(path=picture)
    page.close()


def main() -> None:
    """Measure and print."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--genes", type=int, default=2000)
    parser.add_argument("--edges", type=int, default=4000)
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    start = time.perf_counter()
    html = report(given.genes, given.edges)
    size = len(html.encode()) / 1e6
    print(f"{given.genes} genes, {given.edges} edges: {size:.2f} MB", end=", ")
    print(f"made in {time.perf_counter() - start:.1f} s")
    names = (os.environ.get("TVCS_BROWSER", ""), "chromium", "chromium-browser", "google-chrome")
    program = next(found for name in names if name and (found := shutil.which(name)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "report.html"
        path.write_text(html, encoding="utf-8")
        browser = driver.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        for _ in range(0 if given.picture else RUNS):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            ready, settled, usual, longest = measure(page, path)
            print(
                "usable after {:.2f} ({:.2f}) s, settled after {:.2f} ({:.2f}) s, a filter "
                "{:.0f} ({:.0f}) ms, the longest {:.0f} ({:.0f})".format(
                    *ready, *settled, *usual, *longest
                )
            )
            page.close()
        if given.picture:
            take_picture(browser, path, given.picture)
        browser.close()


if __name__ == "__main__":
    main()
