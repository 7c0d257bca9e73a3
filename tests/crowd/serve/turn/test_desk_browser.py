"""Zoom, search, countdown, a slow network, comments, and no violation that axe finds."""

import time

import pytest
from playwright.sync_api import expect

from crowd_tvcs.campaign.desk.content import Content
from crowd_tvcs.campaign.desk.remarks import remark_rows
from crowd_tvcs.serve.turn.texts import carried, read_texts
from tests.crowd.serve.conftest import check_usable
from tests.makers.campaigns import rows_of

pytestmark = pytest.mark.browser
CLASSES = [f"{name} {k}" for k in range(10) for name in ("ant", "bee", "cow", "dög")]
RULES = "| class | means |\n|---|---|\n| ant | ![an ant](x.png) |\n| bee | نعم |"
PAIR = Content("First.\nLine.", "x.png", text_2="שלום עולם.", image_2="x.png")


@pytest.fixture
def desk(make_desk, browser):
    """Open the page of Ann at a desk with such classes, content and settings."""
    contexts = []

    def _desk(classes=("bad", "good"), content=None, **more):
        place, campaign, _ = make_desk(classes, content, 6, 0.0, **more)
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("console", lambda one: page.errors.append(one.text) if is_bad(one) else None)
        page.goto(place)
        expect(page.locator("#content")).to_be_focused()  # the script has begun: keys count
        return page, campaign

    yield _desk
    for context in contexts:
        for page in context.pages:
            assert getattr(page, "errors", []) == []
        context.close()


def is_bad(message):
    """Whether the console reports an error; no desk has the icon that browsers ask for."""
    return message.type == "error" and not message.location["url"].endswith("favicon.ico")


def labels(campaign):
    state = campaign.state()
    return [state.classes[k] for _, _, k in state.given]


def test_axe_finds_nothing_on_any_page_of_a_worker(desk):
    arabic = {**carried(), "lang": "ar", "dir": "rtl", "skip": "تخط"}
    for texts in (carried(), carried("de"), arabic):
        page, _ = desk(CLASSES, PAIR, instructions=RULES, texts=texts)
        check_usable(page, "light", "dark")
        expect(page.locator("details td img")).to_have_js_property("complete", True)


def test_a_picture_is_enlarged_by_press_and_by_key(desk):
    page, _ = desk(content=Content(image="x.png"))
    picture = page.locator("#content img")
    expect(picture).to_have_js_property("complete", True)
    expect(picture).to_be_visible()
    zoom = page.get_by_role("button", name="Enlarge: The image to label")
    page.keyboard.press("z")
    expect(zoom).to_have_attribute("aria-pressed", "true")
    wide = "(one) => getComputedStyle(one).maxWidth"
    assert picture.evaluate(wide) == "none"
    check_usable(page, "light", "dark")
    zoom.focus()
    page.keyboard.press("Space")
    expect(zoom).to_have_attribute("aria-pressed", "false")
    assert picture.evaluate(wide) == "100%"
    zoom.click()
    expect(zoom).to_have_attribute("aria-pressed", "true")
    assert len(page.context.pages) == 1  # it opened no other page


def test_listeners_are_bound_once_however_many_tasks_were_shown(desk):
    page, campaign = desk(content=Content(image="x.png"))
    for number in range(1, 4):
        page.keyboard.press("1")
        page.get_by_text(f"You have answered {number}").wait_for()
        expect(page.locator("#content img")).to_have_js_property("complete", True)
    page.keyboard.press("z")  # twice bound, it would be small again
    expect(page.locator("a.zoom")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Flag as faulty").click()
    page.get_by_text("The task was flagged").wait_for()
    assert [kind for _, _, kind, *_ in remark_rows(campaign.store)] == ["flag"]
    assert len(labels(campaign)) == 3


def test_forty_answers_are_found_by_search_and_taken_by_enter(desk):
    page, campaign = desk(CLASSES)
    page.keyboard.press("/")
    find = page.get_by_label("Find an answer")
    expect(find).to_be_focused()
    page.keyboard.press("Enter")  # forty are left, so nothing is sent
    page.keyboard.type("dog")
    assert page.locator("#answer button:visible").count() == 10  # ö is found by o
    page.keyboard.press("Enter")
    page.keyboard.type(" 7")
    page.keyboard.press("Enter")
    page.get_by_text("You have answered 1").wait_for()
    assert labels(campaign) == ["dög 7"]
    page.keyboard.press("/")
    page.keyboard.type("bee")
    page.keyboard.press("Escape")
    assert page.locator("#answer button:visible").count() == 40
    page.keyboard.press("a")
    page.get_by_text("You have answered 2").wait_for()
    assert labels(campaign) == ["dög 7", campaign.state().classes[10]]


def test_the_countdown_is_that_of_the_lease(desk):
    page, campaign = desk(lease=3.0)
    ((expires,),) = rows_of(campaign, "SELECT expires FROM pair")
    promised = page.evaluate("over") / 1000
    assert expires - 60.0 < promised <= expires + 0.05  # never more than the lease
    lease = page.locator("#lease")
    expect(lease).to_have_text("The time for this task is over. Your answer counts only if there "
                               "is still room for it.", timeout=60_000)  # fmt: skip
    assert time.time() >= promised
    expect(lease).to_have_attribute("role", "alert")
    check_usable(page, "light", "dark")
    page.keyboard.press("1")  # there is room
    page.get_by_text("You have answered 1").wait_for()


def test_a_slow_network_shows_what_was_taken(desk):
    page, campaign = desk()
    waiting = []
    page.route("**/answer", lambda route: waiting.append(route))
    page.keyboard.press("2")
    page.get_by_text("Sending …").wait_for()
    expect(page.get_by_role("button", name="good")).to_have_class("taken")
    page.keyboard.press("1")  # another answer is not taken meanwhile
    check_usable(page, "light", "dark")
    for route in waiting:
        route.continue_()
    page.get_by_text("You have answered 1").wait_for()
    expect(page.locator("#sending")).to_be_empty()
    assert labels(campaign) == ["good"]


@pytest.mark.parametrize("has_script", [True, False])
def test_an_empty_comment_is_not_sent_before_the_script_is_there_either(desk, has_script):
    page, campaign = desk()
    if not has_script:
        page.route("**/worker.js", lambda route: route.abort())
        page.errors.clear()
        page.reload()
        page.locator("#content").wait_for()
    page.get_by_role("button", name="Send comment").click()
    assert remark_rows(campaign.store) == []
    page.get_by_label("A comment on this task").fill("too dark")
    page.keyboard.press("Enter")
    page.get_by_text("You have answered 0").wait_for()
    until = time.monotonic() + 60
    while not remark_rows(campaign.store) and time.monotonic() < until:
        page.wait_for_timeout(50)
    assert [text for *_, text, _ in remark_rows(campaign.store)] == ["too dark"]
    assert labels(campaign) == []
    page.errors.clear()


def test_a_file_of_texts_turns_the_page_around(desk, tmp_path):
    (tmp_path / "he.json").write_text('{"lang": "he", "dir": "rtl", "skip": "דלג"}')
    page, _ = desk(texts=read_texts(str(tmp_path / "he.json")))
    assert page.evaluate("getComputedStyle(document.body).direction") == "rtl"
    button = page.get_by_role("button", name="דלג")
    field = page.locator("#reason")
    assert button.bounding_box()["x"] < field.bounding_box()["x"] or (
        button.bounding_box()["y"] > field.bounding_box()["y"]
    )
    check_usable(page, "light", "dark")
