"""Steps, sides and marks in Chromium: by keyboard, and without a violation that axe finds."""

import pytest
from playwright.sync_api import expect

from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.turn.page_tokens import MIN_SECONDS
from tests.crowd.serve.conftest import PASSWORD, check_usable, listening
from tests.crowd.serve.turn.kinds import KINDS, campaign_of

pytestmark = pytest.mark.browser
PRESSED = {"scale": ["4"], "pairs": ["1"], "multilabel": ["1", "3", "Enter"]}
OPERATORS = (
    "",
    "/people",
    "/tasks",
    "/settings",
    "/person?name=ann",
    "/task?name={task}",
    "/login",
)


@pytest.fixture
def campaign(tmp_path, kind):
    with campaign_of(kind, tmp_path) as made:
        yield made


@pytest.mark.parametrize("kind", KINDS)
def test_by_keyboard_and_for_everybody(browser, campaign, kind):
    served = Served(campaign, PASSWORD)
    tokens = served.links.make(None, now=1.0)
    with listening(served) as url:
        page = browser.new_page()
        page.goto(f"{url}/w/{tokens['ann']}")
        page.wait_for_timeout(1000 * MIN_SECONDS + 50)
        task = campaign.next("ann").task
        for key in PRESSED[kind]:
            page.keyboard.press(key)
        page.get_by_text("You have answered 1").wait_for()
        state = campaign.state()
        ((_, _, code),) = state.given
        label = state.kind.seen(code, task, "ann")
        assert label == {"scale": "4", "pairs": "left", "multilabel": "cat;cow"}[kind]
        page.wait_for_timeout(1000 * MIN_SECONDS + 50)
        if kind == "multilabel":  # a mark that is pressed twice is taken off again
            for key in ("2", "2"):
                page.keyboard.press(key)
            expect(page.locator(":checked")).to_have_count(0)
        check_usable(page)
        page.goto(f"{url}/operator")
        check_usable(page)
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Workers").wait_for()
        for path in OPERATORS:
            page.goto(f"{url}/operator{path.format(task=task)}")
            check_usable(page, what=path)
