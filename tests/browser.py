"""A headless Chromium for tests: which one, and how it is started."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


def find_browser() -> str | None:
    """The browser to test with: `TVCS_BROWSER`, or a Chromium on the path."""
    names = [os.environ.get("TVCS_BROWSER", ""), "chromium", "chromium-browser", "google-chrome"]
    return next((found for name in names if name and (found := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser of playwright's; the test is skipped where there is none, if that is allowed."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = find_browser()
    if program is None:
        message = "no Chromium found: apt-get install chromium, or set TVCS_BROWSER"
        if os.environ.get("TVCS_REQUIRE_BROWSER"):
            pytest.fail(message)
        pytest.skip(message)
    playwright.expect.set_options(timeout=60_000)  # 5 s by itself, which a busy machine may take
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


def violations(page: Any) -> list[tuple[str, str]]:
    """Return the rule and the element of all that axe finds wrong on a page.

    Axe describes every element that passes, too, unless it is asked for violations alone: that
    takes two to three times as long.
    """
    page.evaluate(pytest.importorskip("axe_core_python.sync_playwright").Axe().axe_script)
    n_passed, failed = page.evaluate(
        "axe.run({resultTypes: ['violations']}).then(r => [r.passes.length, r.violations])"
    )
    assert n_passed
    return [(rule["id"], node["html"][:120]) for rule in failed for node in rule["nodes"]]
