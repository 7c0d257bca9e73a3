"""The pictures of docs/serve.md, taken of the pages as they are.

TVCS_PICTURES=docs/figures python -m pytest tests/crowd/serve/test_pictures.py
"""

import os
from pathlib import Path

import pytest

from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.campaign.desk.figures import note_history
from crowd_tvcs.campaign.desk.gold import mix_in
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.start import DEMO
from tests.crowd.serve.conftest import PASSWORD, listening

pytestmark = [pytest.mark.browser, pytest.mark.slow]
BEGUN = 1.8e9
SKILLS = {"ann": 0.9, "bob": 0.8, "cy": 0.7, "dee": 0.6}
INSTRUCTIONS = "How does the passenger find the journey? *Not bad* is **good**."


@pytest.fixture
def campaign(tmp_path, begin):
    """Forty sentences, ten of them gold; each worker answers about as well as their skill says."""
    truth = {f"s{k:02d}": label for k, label in enumerate([*DEMO.values()] * 5)}
    bodies = {name: Content(text) for name, text in zip(truth, [*DEMO] * 5, strict=True)}
    gold = {name: truth[name] for name in list(truth)[30:]}
    made = begin(
        workers=SKILLS,
        tasks=[name for name in truth if name not in gold],
        qualities=SKILLS,
        gold=gold,
        prior=0.5,
        classes=["bad", "good"],
        max_workers_per_task=4,
        budget=110,
    )
    mix_in(made.store, {}, bodies)
    set_content(made.store, bodies, tmp_path)
    made.gold_share = 0.15
    for k in range(100):
        name, now = list(SKILLS)[k % 4], BEGUN + 3.0 * k
        if (task := made.next(name, now=now).task) is not None:
            is_right = (k * 37) % 100 < 100 * SKILLS[name]
            wrong = {"good": "bad", "bad": "good"}[truth[task]]
            label = truth[task] if is_right else wrong
            made.submit(name, task, label, now=now + 2.0 + k % 7)
            note_history(made.store, now)
    return made


def test_the_pictures_of_the_documentation(campaign, tmp_path, browser):
    folder = Path(os.environ.get("TVCS_PICTURES", tmp_path))
    served = Served(campaign, PASSWORD, instructions=INSTRUCTIONS)
    token = served.links.make(["ann"], now=BEGUN)["ann"]
    with listening(served) as url:
        page = browser.new_page(viewport={"width": 700, "height": 560})
        page.goto(f"{url}/w/{token}")
        page.locator("summary").click()
        page.get_by_role("button", name="good").wait_for()
        page.screenshot(path=folder / "desk-worker.png")
        page.set_viewport_size({"width": 1200, "height": 1250})
        page.goto(f"{url}/operator")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Workers").wait_for()
        page.screenshot(path=folder / "desk-operator.png")
        page.close()
    for name in ("desk-worker.png", "desk-operator.png"):
        assert 5_000 < (folder / name).stat().st_size < 250_000
