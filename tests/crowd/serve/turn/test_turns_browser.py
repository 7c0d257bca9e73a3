"""What a worker's browser sends: one press is one answer, the key is that on the button."""

import time

import pytest
from playwright.sync_api import Error, expect

from crowd_tvcs.campaign.desk.content import Content
from crowd_tvcs.serve.turn.page_tokens import MIN_SECONDS
from tests.crowd.serve.conftest import PASSWORD, SMALL
from tests.makers.campaigns import rows_of

pytestmark = pytest.mark.browser
PATIENCE = 60.0
"""Seconds that a busy machine may take for what comes at once elsewhere."""
LEAST = 0.05
"""Seconds of a desk within which no answer is taken, where a test is not about haste."""
LONG = "\n\n".join(f"Paragraph {k}. " + "Words that go on. " * 40 for k in range(30))
ARABIC, HEBREW = "هل هذا صحيح؟ نعم.", "שלום עולם."
SIGHT = """(one) => {
    const box = one.getBoundingClientRect();
    return box.top >= 0 && box.bottom <= innerHeight && box.height > 0;
}"""
PRESS = """([key, code, more]) => document.activeElement.dispatchEvent(new KeyboardEvent(
    "keydown", {key, code, bubbles: true, cancelable: true, ...more}))"""


@pytest.fixture
def desk(make_desk):
    """Make a desk: classes, the content of all tasks; it yields address, campaign and desk."""

    def _desk(classes=("bad", "good"), content=None, least=LEAST):
        return make_desk(classes, content, 40, least)

    return _desk


@pytest.fixture
def opened(browser):
    """Open an address in a browser of its own."""
    contexts = []

    def _opened(place, **options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.goto(place)
        seen(page)
        return page

    yield _opened
    for context in contexts:
        context.close()


def seen(page, least=LEAST):
    """Look at the task for as long as its desk asks for."""
    page.wait_for_timeout(1000 * least + 100)


def reopen(page):
    """Open the worker's page again; the form of a second click ends a try."""
    for _ in range(20):
        try:
            page.goto(page.url.partition("/answer")[0])
        except Error:
            page.wait_for_timeout(100)
        else:
            return
    pytest.fail("the worker's page does not open")


def labels(campaign):
    state = campaign.state()
    return [state.classes[k] for _, _, k in state.given]


def skipped(campaign):
    return [task for (task,) in rows_of(campaign, "SELECT task FROM audit WHERE what = 'skip'")]


def require(page, find, wanted):
    """Wait until what is found is what is wanted; a moment later it must still be that."""
    until = time.monotonic() + PATIENCE
    while find() != wanted and time.monotonic() < until:
        page.wait_for_timeout(50)
    seen(page)
    assert find() == wanted


def hold(page, key, seconds=1.5):
    """Hold a key down, which repeats 20 times a second."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        page.keyboard.down(key)
        page.wait_for_timeout(50)
    page.keyboard.up(key)
    seen(page)


@pytest.mark.parametrize("has_script", [True, False])
def test_a_key_that_is_held_answers_at_most_one_task(desk, opened, has_script):
    place, campaign, _ = desk()
    page = opened(place, java_script_enabled=has_script)
    hold(page, "Enter")
    assert labels(campaign) == []  # the focus is on no button
    page.get_by_role("button", name="good").focus()
    hold(page, "Enter")
    require(page, lambda: labels(campaign), ["good"])
    page.get_by_role("button", name="bad").focus()
    hold(page, "Space")
    require(page, lambda: labels(campaign), ["good", "bad"])


def test_keys_of_answers_skip_and_undo_that_are_held(desk, opened):
    place, campaign, _ = desk()
    page = opened(place)
    hold(page, "2")
    page.get_by_text("You have answered 1").wait_for()
    require(page, lambda: labels(campaign), ["good"])
    page.keyboard.press("1")
    page.get_by_text("You have answered 2").wait_for()
    seen(page)
    hold(page, "u")
    page.get_by_text("You have answered 1").wait_for()
    require(page, lambda: labels(campaign), ["good"])
    page.keyboard.press("s")
    page.keyboard.type("dark")
    task = page.locator("[name=task]").first.input_value()
    hold(page, "Enter")
    require(page, lambda: skipped(campaign), [task])
    assert labels(campaign) == ["good"]


def test_a_second_press_within_a_moment_is_not_sent(desk, opened):
    place, campaign, _ = desk(least=MIN_SECONDS)
    page = opened(place)
    seen(page, MIN_SECONDS)
    page.evaluate(
        """async () => {
            const press = (key) => document.dispatchEvent(new KeyboardEvent(
                "keydown", {key, bubbles: true, cancelable: true}));
            const main = document.getElementById("main");
            const shown = new Promise((done) => {
                new MutationObserver(done).observe(main, {childList: true});
            });
            press("1");
            await shown;
            press("2");
        }"""
    )
    page.get_by_text("That was too fast, so nothing was sent").wait_for()
    assert labels(campaign) == ["bad"]
    seen(page, MIN_SECONDS)
    page.keyboard.press("2")
    page.get_by_text("You have answered 2").wait_for()
    assert labels(campaign) == ["bad", "good"]


def test_a_double_click_without_script_answers_one_task(desk, opened):
    place, campaign, _ = desk(least=MIN_SECONDS)
    page = opened(place, java_script_enabled=False)
    for number in (1, 2):
        seen(page, MIN_SECONDS)
        page.get_by_role("button", name="good").dblclick()
        require(page, lambda number=number: labels(campaign), ["good"] * number)
        reopen(page)
        page.get_by_text(f"You have answered {number}").wait_for()
    assert labels(campaign) == ["good", "good"]


def test_a_picture_that_is_on_its_way_is_not_answered(desk, opened, browser):
    place, campaign, served = desk(content=Content(image="x.png"))
    page = opened("about:blank")
    waiting = []
    page.route("**/media/**", lambda route: waiting.append(route))
    page.goto(place, wait_until="commit")
    page.wait_for_load_state("domcontentloaded")  # its script runs
    page.locator("#content img").wait_for(state="attached")
    seen(page)
    page.keyboard.press("1")
    page.get_by_text("The picture is still loading").wait_for()
    for route in waiting:
        route.continue_()
    # Not `wait_for_function`: it asks again by `eval`, which the page's policy refuses.
    expect(page.locator("#content img")).to_have_js_property("complete", True)
    page.unroute_all()
    seen(page)
    assert labels(campaign) == []
    page.keyboard.press("1")
    page.get_by_text("You have answered 1").wait_for()
    (served.media / "x.png").unlink()
    page.reload()
    page.get_by_text("The picture cannot be shown. Please skip the task").wait_for()


@pytest.mark.parametrize(
    "classes",
    [
        ["0", "1"],
        ["bad", "good"],
        [str(k) for k in range(1, 13)],
        ["3 stars", "1 star", "2 stars"],
        ["-1", "0", "1"],
    ],
)
def test_the_key_on_a_button_is_the_key_that_works(desk, opened, classes):
    place, campaign, _ = desk(classes)
    page = opened(place)
    given = []
    for k in range(len(classes)):
        button = page.locator("#answer button").nth(k)
        if button.locator("kbd").count() == 0:
            continue
        page.keyboard.press(button.locator("kbd").inner_text())
        given.append(campaign.state().classes[k])
        page.get_by_text(f"You have answered {len(given)}").wait_for()
        seen(page)
    assert labels(campaign) == given
    assert len(given) == len(classes)
    for name, label in [("1", "1"), ("0", "0")]:
        if label in classes and len(classes) < 10:
            page.keyboard.press(name)
            given.append(label)
            page.get_by_text(f"You have answered {len(given)}").wait_for()
            seen(page)
    assert labels(campaign) == given


def test_keys_of_other_keyboards_and_keys_that_are_none(desk, opened):
    place, campaign, _ = desk(["0", "1"])
    page = opened(place)
    ignored = [
        ("1", "Digit1", {"ctrlKey": True}),
        ("1", "Digit1", {"altKey": True}),
        ("1", "Digit1", {"metaKey": True}),
        ("1", "Digit1", {"isComposing": True}),
        ("1", "Digit1", {"repeat": True}),
        ("!", "Digit1", {"shiftKey": True}),
        ("End", "Numpad1", {}),  # without the lock of numbers
        ("2", "Digit2", {}),
        ("b", "KeyB", {}),
    ]
    for press in ignored:
        page.evaluate(PRESS, press)
    page.get_by_label("Cannot answer? Give a reason").focus()
    page.keyboard.type("101")
    seen(page)
    assert labels(campaign) == []
    page.locator("#content").focus()
    taken = [
        ("1", "Numpad1", {}),
        ("&", "Digit1", {}),
        ("١", "Digit1", {}),
        ("1", "Digit1", {"shiftKey": True}),
    ]
    for number, press in enumerate(taken, start=1):
        page.evaluate(PRESS, press)
        page.get_by_text(f"You have answered {number}").wait_for()
        seen(page)
    assert labels(campaign) == ["1"] * 4
    page.evaluate(PRESS, ("г", "KeyU", {}))  # U, where letters are Cyrillic
    page.get_by_text("You have answered 3").wait_for()


@pytest.mark.parametrize("has_script", [True, False])
@pytest.mark.parametrize("viewport", [SMALL, {"width": 1200, "height": 800}])
def test_long_content_opens_at_its_top_with_the_buttons_in_sight(
    desk, opened, viewport, has_script
):
    place, _, _ = desk(content=Content(LONG))
    page = opened(place, viewport=viewport, java_script_enabled=has_script)
    for answered in (1, 2):
        assert page.evaluate("scrollY") == 0
        assert page.evaluate("document.documentElement.scrollHeight") > 5 * viewport["height"]
        assert page.evaluate("document.querySelector('#content').getBoundingClientRect().top") < 400
        for place_in_it in (0, 2000):
            page.evaluate(f"scrollTo(0, {place_in_it})")
            for button in page.locator("#answer button").all():
                assert button.evaluate(SIGHT)
        page.evaluate("scrollTo(0, 1e6)")
        skip = page.get_by_role("button", name="Skip")
        assert skip.evaluate(SIGHT)  # the bar covers nothing that is below it
        page.evaluate("scrollTo(0, 2000)")
        page.get_by_role("button", name="good").click()
        page.get_by_text(f"You have answered {answered}").wait_for()
        seen(page)


def test_line_breaks_are_kept_and_every_script_has_its_direction(desk, opened):
    fields = {"one\ntwo": "first\nsecond\n\n  third", "note": HEBREW, "mixed": f"left\n{ARABIC}"}
    place, _, _ = desk(["لا", "yes"], Content(f"{ARABIC}\n{HEBREW}", fields=fields))
    page = opened(place)
    values = page.locator("#content dd")
    assert values.nth(0).inner_text() == "first\nsecond\n\n  third"
    assert page.locator("#content dt").nth(0).inner_text() == "one\ntwo"
    direction = "(one) => getComputedStyle(one).direction"
    assert page.locator(".text").evaluate(direction) == "rtl"
    assert [one.evaluate(direction) for one in values.all()] == ["ltr", "rtl", "ltr"]
    spans = page.locator("#answer button span")
    assert [one.evaluate(direction) for one in spans.all()] == ["rtl", "ltr"]
    ends = """(one) => {
        const left = (at) => {
            const range = document.createRange();
            range.setStart(one.firstChild, at);
            range.setEnd(one.firstChild, at + 1);
            return range.getBoundingClientRect().left;
        };
        return left(one.firstChild.length - 1) < left(0);
    }"""
    assert values.nth(1).evaluate(ends)  # the full stop is at the left end
    expect(page.locator("#reason")).to_have_attribute("dir", "auto")


def test_two_desks_of_one_host_keep_their_own_people(desk, browser):
    """Browsers send cookies to every port of a host; of two desks each has its own."""
    context = browser.new_context()
    pages, campaigns = [], []
    for place, campaign, _ in (desk(), desk()):
        page = context.new_page()
        page.goto(place)
        page.goto(page.url + "operator")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Workers").wait_for()
        pages.append(page)
        campaigns.append(campaign)
    for page, campaign in zip(pages, campaigns, strict=True):
        page.reload()
        page.get_by_role("heading", name="Workers").wait_for()
        page.goto(page.url.removesuffix("operator"))
        seen(page)
        page.keyboard.press("1")
        page.get_by_text("You have answered 1").wait_for()
        assert labels(campaign) == ["bad"]
    pages[0].goto(pages[0].url + "operator")
    pages[0].get_by_role("button", name="Log out").click()
    pages[1].goto(pages[1].url + "operator")
    pages[1].get_by_role("heading", name="Workers").wait_for()
    context.close()
