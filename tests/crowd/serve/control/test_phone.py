"""The operator's pages of 200 people on a phone: short, and usable by what axe finds."""

import time

import pytest

from crowd_tvcs.campaign import Worker
from crowd_tvcs.campaign.desk.figures import note_history
from crowd_tvcs.serve.desk import Served
from tests.browser import violations
from tests.crowd.serve.conftest import PASSWORD, listening

pytestmark = pytest.mark.browser
NAMES = [f"person-{i:03d}" for i in range(200)]
MOST_PIXELS = 2000
PAGES = (
    *("", "/people", "/tasks", "/settings", "/person?name=person-001", "/task?name=task-000"),
    "/people?show=too+fast&order=name&search=9",
)


@pytest.fixture
def crowd(begin):
    """Two hundred people with one answer each to sixty tasks, and a curve."""
    made = begin(
        workers=[Worker(name, cost=0.05) for name in NAMES],
        tasks=[f"task-{j:03d}" for j in range(60)],
        qualities={name: 0.6 + 0.001 * i for i, name in enumerate(NAMES)},
        budget=2000,
    )
    now = time.time() - 1000.0
    for k, name in enumerate(NAMES):
        task = made.next(name, now=now + k).task
        made.submit(name, task, str(k % 2), now=now + k + 0.2 + k % 5)
        if k % 50 == 0:
            note_history(made.store, now + k)
    return made


def test_the_pages_of_200_people_are_short_on_a_phone(crowd, browser):
    with listening(Served(crowd, PASSWORD)) as url:
        page = browser.new_page(viewport={"width": 375, "height": 700})
        page.goto(f"{url}/operator")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Workers").wait_for()
        for path in PAGES:
            page.goto(f"{url}/operator{path}")
            height, width = page.evaluate(
                "[document.documentElement.scrollHeight, document.documentElement.scrollWidth]"
            )
            assert height < MOST_PIXELS, path
            assert width <= 375, path
            assert violations(page) == [], path
        page.goto(f"{url}/operator")
        page.get_by_text("Plan a round").click()
        page.evaluate("addEventListener('submit', (event) => event.preventDefault())")
        page.get_by_role("button", name="Preview the round").click()
        page.get_by_text("Planning: this may take half a minute.").wait_for()
        page.close()
