"""A whole campaign in Chromium: by keyboard and by mouse, without script, at 360 px, offline."""

import pytest
from playwright.sync_api import expect

from crowd_tvcs.campaign import Campaign, Worker
from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.serve import operator, worker
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.turn.page_tokens import MIN_SECONDS
from tests.crowd.serve.conftest import PASSWORD, SMALL, check_usable, listening
from tests.makers.campaigns import rows_of

pytestmark = pytest.mark.browser
QUALITIES = {"ann": 0.9, "bob": 0.8}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A served campaign of four tasks: its address, tokens and campaign."""
    monkeypatch.setattr(operator, "REFRESH_SECONDS", 0.2)
    monkeypatch.setattr(worker, "POLL_SECONDS", 0.2)
    tasks = [f"t{j}" for j in range(4)]
    workers = [Worker("ann"), Worker("bob", max_tasks=4)]
    options = {"workers": workers, "qualities": QUALITIES, "classes": ["bad", "good"]}
    with Campaign.create(tmp_path / "c.db", tasks=tasks, **options) as campaign:
        set_content(campaign.store, {t: Content(f"Text of {t}.") for t in tasks}, tmp_path)
        served = Served(campaign, PASSWORD, instructions="Read *all* of it.")
        served.per_worker.burst = 1000
        with listening(served) as url:
            yield url, served.links.make(None, now=1.0), campaign


@pytest.fixture
def opened(browser, desk):
    """Open a page of the desk in a browser of its own; it may ask nobody else."""
    contexts, asked = [], []

    def _opened(path, **options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(desk[0] + path)
        return page

    yield _opened
    for context in contexts:
        context.close()
    assert all(one.startswith(desk[0]) for one in asked)


def seen(page):
    """Look at the task for a moment: an answer that comes sooner is not taken."""
    page.wait_for_timeout(1000 * MIN_SECONDS + 50)


def answered(page, number):
    page.get_by_text(f"You have answered {number}").wait_for()
    seen(page)


def by_keyboard(page):
    """Two answers, one of them anew, and a skip."""
    page.evaluate("window.sameDocument = true")
    page.keyboard.press("2")
    answered(page, 1)
    page.keyboard.press("Enter")  # no button has the focus, but the task
    expect(page.locator("#content")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    answered(page, 2)
    page.keyboard.press("u")
    answered(page, 1)
    skipped = page.locator("[name=task]").first.input_value()
    page.keyboard.press("s")
    page.keyboard.type("too long")
    page.keyboard.press("Enter")
    expect(page.locator("[name=task]").first).not_to_have_value(skipped)
    answered(page, 1)
    page.keyboard.press("1")
    answered(page, 2)


def offline_and_back(page, campaign):
    """An answer that is kept in the browser until the desk is there again."""
    before = campaign.state().settings.answers
    page.context.set_offline(True)
    page.keyboard.press("2")
    page.get_by_text("kept here and will be sent again").wait_for()
    assert campaign.state().settings.answers == before
    page.context.set_offline(False)
    answered(page, 3)
    assert page.locator("#unsent").is_hidden()


def pause_and_resume(operators, page):
    """What the operator holds up is said by the worker's page, and goes on there by itself."""
    operators.get_by_role("button", name="Pause assigning tasks").click()
    operators.get_by_text("Paused: no tasks are assigned.").wait_for()
    page.reload()
    page.get_by_role("heading", name="Paused").wait_for()
    check_usable(page, "light")
    operators.get_by_role("button", name="Resume assigning tasks").click()
    page.get_by_role("heading", name="No task at the moment").wait_for()


def preview_after_refreshes(operators):
    """A round is previewed however often the figures were fetched before."""
    for _ in range(3):
        with operators.expect_response(lambda answer: answer.url.endswith("/operator")):
            pass
    check_usable(operators, "light", "dark")
    operators.get_by_text("Plan a round").click()
    operators.get_by_role("button", name="Preview the round").click()
    operators.wait_for_url("**/operator/preview")


def test_two_workers_and_an_operator_through_a_whole_campaign(desk, opened):
    _, tokens, campaign = desk
    operators = opened("/operator")
    check_usable(operators, "light")
    operators.get_by_label("Password").fill(PASSWORD)
    operators.keyboard.press("Enter")
    operators.get_by_role("heading", name="Workers").wait_for()

    ann = opened(f"/w/{tokens['ann']}")
    check_usable(ann, "light", "dark")
    by_keyboard(ann)
    offline_and_back(ann, campaign)
    assert ann.evaluate("window.sameDocument")  # no page was loaded anew
    ann.get_by_role("heading", name="No task at the moment").wait_for()
    check_usable(ann, "dark")
    operators.locator(".facts li b", has_text="3").first.wait_for()  # by itself
    pause_and_resume(operators, ann)

    bob = opened(f"/w/{tokens['bob']}", viewport=SMALL, java_script_enabled=False)
    seen(bob)
    for number in range(1, 5):
        bob.get_by_role("button", name="good").click()
        answered(bob, number)
    bob.get_by_role("heading", name="All done").wait_for()

    operators.locator(".facts li b", has_text="7").first.wait_for()
    operators.get_by_role("link", name="Assess all tasks").click()
    operators.get_by_role("heading", name="Value of another label").wait_for()
    check_usable(operators, "light", "dark")
    operators.get_by_role("link", name="Back").click()
    preview_after_refreshes(operators)
    state = campaign.state()
    given = [(state.workers[i].name, state.classes[k]) for i, _, k in state.given]
    assert given == [("ann", one) for one in ("good", "bad", "good")] + [("bob", "good")] * 4
    assert rows_of(campaign, "SELECT detail FROM audit WHERE what = 'skip'") == [("too long",)]
