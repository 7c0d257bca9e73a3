"""Every file of the folder of media, opened as a page in Chromium: nothing runs or is taken."""

import base64

import pytest
from playwright.sync_api import Error

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.serve.desk import Served
from tests.crowd.serve.conftest import PASSWORD, listening
from tests.crowd.serve.turn.files import GIF, HOSTILE, JPEG, KINDS, POLYGLOTS, WEBP, mp3, png, wav

pytestmark = pytest.mark.browser
FILMED = """async () => {
  const canvas = document.createElement("canvas");
  const brush = canvas.getContext("2d");
  const recorder = new MediaRecorder(canvas.captureStream(20), {mimeType: "video/webm"});
  const parts = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  const ended = new Promise((done) => { recorder.onstop = done; });
  recorder.start();
  for (let k = 0; k < 20; k += 1) {
    brush.fillStyle = k % 2 ? "red" : "blue";
    brush.fillRect(0, 0, 300, 150);
    await new Promise((done) => setTimeout(done, 50));
  }
  recorder.stop();
  await ended;
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}"""


@pytest.fixture
def desk(tmp_path):
    """A desk whose folder of media holds every file; its address, a token and the campaign."""
    media = tmp_path / "media"
    media.mkdir()
    kinds = {kind.replace("/", "."): body for kind, body in KINDS.items()}
    for name, body in (kinds | HOSTILE | POLYGLOTS).items():
        (media / name).write_bytes(body)
    with Campaign.create(
        tmp_path / "c.db", workers=["ann", "eve"], tasks=["t1"], qualities={"ann": 0.9}
    ) as campaign:
        served = Served(campaign, PASSWORD, media)
        served.per_worker.burst = 1000
        with listening(served) as url:
            yield url, served, [*kinds, *HOSTILE, *POLYGLOTS]


@pytest.fixture
def page(browser, desk):
    """A page of somebody who is a worker and the operator."""
    url, served, _ = desk
    context = browser.new_context(accept_downloads=False)
    opened = context.new_page()
    opened.goto(f"{url}/w/{served.links.make(['ann'], now=1.0)['ann']}")
    opened.goto(f"{url}/operator")
    opened.get_by_label("Password").fill(PASSWORD)
    opened.keyboard.press("Enter")
    opened.get_by_role("heading", name="Workers").wait_for()
    yield opened
    context.close()


ATTACK = """async () => {
  const form = new DOMParser().parseFromString(
    await (await fetch("/operator")).text(), "text/html").querySelector("[name=form]").value;
  const body = new URLSearchParams({form, what: "pause"});
  await fetch("/operator/do", {method: "POST", body});
  return "paused";
}"""


def test_no_file_of_media_runs_a_script_or_reaches_the_desk(desk, page):
    url, served, names = desk
    assert page.evaluate(ATTACK) == "paused"  # from a page of the desk, this does work
    served.campaign.pause(False)
    page.goto("about:blank")  # the operator's page asks for its figures now and then
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for name in names:
        page.goto(f"{url}/media/{name}")
        page.wait_for_timeout(50)
        assert page.title() != "ran", name
        assert not [one for one in asked if "/operator" in one], name
        if name not in HOSTILE:  # those are not sent at all
            assert page.evaluate("self.origin") == "null", name
            with pytest.raises(Error, match="Failed to fetch"):
                page.evaluate(ATTACK)  # even by hand, as whoever had a script there would
            asked.clear()
    assert not served.campaign.state().settings.paused


def test_no_page_of_the_desk_takes_a_file_of_media_for_a_script(desk, page):
    url, served, names = desk
    page.goto(f"{url}/operator")
    for name in names:
        ran = page.evaluate(
            """async (place) => {
                document.title = "Campaign";
                const load = (kind, name, more) => new Promise((done) => {
                    const one = Object.assign(document.createElement(kind), {[name]: place}, more);
                    one.onload = one.onerror = done;
                    document.body.append(one);
                    setTimeout(done, 300);
                });
                await load("script", "src", {});
                await load("script", "src", {type: "module"});
                await load("iframe", "src", {});
                await load("object", "data", {});
                await load("link", "href", {rel: "stylesheet"});
                try { new Worker(place).onerror = () => {}; } catch { /* refused */ }
                let workers = 0;
                try { await navigator.serviceWorker.register(place); workers = 1; } catch { }
                return [document.title, self.ran, workers];
            }""",
            f"{url}/media/{name}",
        )
        assert ran == ["Campaign", None, 0], name
    assert not served.campaign.state().settings.paused


def shown(page):
    """Wait until the picture, sound or film of a task is there, and plays; say how large it is."""
    return page.evaluate(
        """async () => {
            const one = document.querySelector("#content img, #content audio, #content video");
            if (one.tagName === "IMG") {
                await one.decode();
                return [one.naturalWidth, one.naturalHeight];
            }
            one.muted = true;
            await one.play();
            await new Promise((done) => {
                one.ontimeupdate = () => one.currentTime > 0.1 && done();
            });
            one.currentTime = 0.5;
            await new Promise((done) => { one.onseeked = done; });
            return [one.videoWidth || 0, one.videoHeight || 0];
        }"""
    )


def test_pictures_are_shown_and_sounds_and_films_play(desk, page):
    url, served, _ = desk
    film = base64.b64decode(page.evaluate(FILMED))
    files = {
        "a.png": (png(3, 2), "image", [3, 2]),
        "a.gif": (GIF, "image", [1, 1]),
        "a.jpg": (JPEG, "image", [1, 1]),
        "a.webp": (WEBP, "image", [1, 1]),
        "a.wav": (wav(2.0), "audio", [0, 0]),
        "a.mp3": (mp3(2.0), "audio", [0, 0]),
        "a.webm": (film, "video", [300, 150]),
    }
    for name, (body, column, size) in files.items():
        (served.media / name).write_bytes(body)
        set_content(served.campaign.store, {"t1": Content(**{column: name})}, served.media)
        served._contents.clear()
        page.goto(url)
        assert shown(page) == size, name
