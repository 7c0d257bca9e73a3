"""The desk in Chromium: by keyboard, by mouse, at 360 px, offline and back; axe finds nothing."""

import os
import shutil

import pytest
from axe_core_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.serve.desk import Served
from tests.browser import FLAGS, find_browser
from tests.crowd.serve.conftest import PASSWORD, listening

pytestmark = pytest.mark.browser
WORKERS = {"ann": 0.9, "bob": 0.8}


@pytest.fixture(scope="module")
def browser():
    program = find_browser()
    if program is None:
        if os.environ.get("TVCS_REQUIRE_BROWSER"):
            pytest.fail("no Chromium found")
        pytest.skip("no Chromium found")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=shutil.which(program), args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def desk(tmp_path):
    """A served campaign of four tasks: its address, tokens and campaign."""
    tasks = [f"t{j}" for j in range(4)]
    with Campaign.create(
        tmp_path / "c.db", workers=WORKERS, tasks=tasks, qualities=WORKERS, classes=["bad", "good"]
    ) as campaign:
        set_content(campaign.store, {t: Content(f"Text of {t}.") for t in tasks}, tmp_path)
        served = Served(campaign, PASSWORD, instructions="Read *all* of it.")
        served.per_worker.burst = 1000
        with listening(served) as url:
            yield url, served.links.make(None, now=1.0), campaign


def enter(browser, url, token, **options):
    context = browser.new_context(**options)
    page = context.new_page()
    page.goto(f"{url}/w/{token}")
    return page


def serious(page):
    """What axe finds that keeps somebody from using the page."""
    found = Axe().run(page)
    assert found["passes"]
    bad = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    return [(one["id"], one["nodes"][0]["html"]) for one in bad]


def answered(page, number):
    page.get_by_text(f"You have answered {number}.").wait_for()


def test_a_worker_by_keyboard(browser, desk):
    url, tokens, campaign = desk
    page = enter(browser, url, tokens["ann"])
    page.evaluate("window.sameDocument = true")
    page.keyboard.press("2")
    answered(page, 1)
    page.keyboard.press("Enter")  # the first button has the focus
    answered(page, 2)
    page.keyboard.press("u")
    answered(page, 1)
    page.keyboard.press("s")
    page.keyboard.type("too long")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('[name=task]')?.value")
    page.keyboard.press("1")
    answered(page, 2)
    assert page.evaluate("window.sameDocument")  # no page was loaded anew
    labels = [campaign.state().classes[k] for _, _, k in campaign.state().given]
    assert labels == ["good", "bad"]
    with campaign.store.read() as (connection, _):
        reasons = connection.exec_driver_sql("SELECT detail FROM audit WHERE what = 'skip'").all()
    assert reasons == [("too long",)]
    page.context.close()


@pytest.mark.parametrize("has_script", [True, False])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_worker_by_mouse_on_a_small_screen(browser, desk, has_script, scheme):
    url, tokens, campaign = desk
    options = {"viewport": {"width": 360, "height": 640}, "color_scheme": scheme}
    page = enter(browser, url, tokens["bob"], java_script_enabled=has_script, **options)
    for number in range(1, 5):
        if has_script and number == 1:
            assert serious(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.get_by_role("button", name="good").click()
        answered(page, number)
    page.get_by_role("heading", name="Nothing for you now").wait_for()
    assert campaign.state().settings.answers == 4
    if has_script:
        assert serious(page) == []
    page.context.close()


def test_an_answer_is_kept_while_the_desk_is_away(browser, desk):
    url, tokens, campaign = desk
    page = enter(browser, url, tokens["ann"])
    page.context.set_offline(True)
    page.get_by_role("button", name="good").click()
    page.get_by_text("kept here and not sent yet").wait_for()
    assert campaign.state().settings.answers == 0
    page.context.set_offline(False)
    answered(page, 1)
    assert page.locator("#unsent").is_hidden()
    assert campaign.state().settings.answers == 1
    page.context.close()


def test_an_operator_sees_answers_come_and_holds_the_desk_up(browser, desk):
    url, _, campaign = desk
    context = browser.new_context()
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{url}/operator")
    assert serious(page) == []
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Workers").wait_for()
    assert serious(page) == []
    campaign.submit("ann", campaign.next("ann").task, "good")
    page.locator(".facts li b", has_text="1").first.wait_for()  # by itself
    page.get_by_role("button", name="Pause: hand out nothing").click()
    page.get_by_text("Paused: nobody gets a task.").wait_for()
    assert campaign.next("bob").task is None
    page.get_by_role("link", name="Ask now").click()
    page.locator("#advised table").wait_for()
    assert all(request.startswith(url) for request in asked)
    page.set_viewport_size({"width": 360, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()
