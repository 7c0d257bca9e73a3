"""A desk below a path of its host: behind proxies that take the prefix off, and that do not."""

import re

import pytest
import uvicorn
from playwright.sync_api import expect
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.testclient import TestClient

from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.serve import api, operator, start, worker
from crowd_tvcs.serve.address import OWN, prefix_of
from crowd_tvcs.serve.app import create_app
from crowd_tvcs.serve.desk import Cookies, Served
from tests.crowd.serve.conftest import BASE, PASSWORD, hidden, running
from tests.crowd.serve.turn.files import png
from tests.makers.commands import run_done

ROOT = "/team/label"


def forwarding(app, *, strips):
    """Stand for a proxy that hands `ROOT` on to the desk, and has another page everywhere else."""

    async def proxy(scope, receive, send):
        path = scope.get("path", "")
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
        elif path == ROOT or path.startswith(f"{ROOT}/"):
            there = (path.removeprefix(ROOT) or "/") if strips else path
            await app({**scope, "path": there, "raw_path": there.encode()}, receive, send)
        else:
            await PlainTextResponse("of another", 404)(scope, receive, send)

    return proxy


PROXIES = {
    "takes the prefix off": lambda app: forwarding(app, strips=True),
    "leaves it": lambda app: forwarding(app, strips=False),
    "mounts it": lambda app: Starlette(
        routes=[Mount(ROOT, app=app)], lifespan=app.router.lifespan_context
    ),
}


@pytest.fixture
def served(campaign, tmp_path):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "a.png").write_bytes(png())
    set_content(campaign.store, {f"t{j}": Content(image="a.png") for j in (1, 2, 3)}, tmp_path)
    made = Served(campaign, PASSWORD, tmp_path / "media", "![x](a.png)", root=ROOT)
    made.pages.least = 0.0
    return made


@pytest.fixture(params=PROXIES)
def client(served, request):
    app = PROXIES[request.param](create_app(served))
    with TestClient(app, base_url=BASE, raise_server_exceptions=False) as made:
        yield made


def places(page):
    """Where a page leads and what it loads."""
    return re.findall(r'(?:href|src|action)="([^"]+)"', page.text)


def test_a_worker_below_a_prefix(client, tokens, campaign):
    entered = client.get(f"{ROOT}/w/{tokens['ann']}", follow_redirects=False)
    assert entered.headers["location"] == f"{ROOT}/"
    assert f"Path={ROOT};" in entered.headers["set-cookie"]
    page = client.get(f"{ROOT}/")
    assert len(places(page)) > 5
    assert all(one.startswith(f"{ROOT}/") for one in places(page))
    for one in places(page):
        if not re.search("answer|skip|undo|remark", one):
            assert client.get(one).status_code == 200, one
    answered = client.post(f"{ROOT}/answer", data=hidden(page) | {"label": "good"})
    assert str(answered.url) == f"{BASE}{ROOT}/"
    assert client.post(f"{ROOT}/undo", data=hidden(answered)).status_code == 200
    assert client.post(f"{ROOT}/skip", data=hidden(client.get(f"{ROOT}/"))).status_code == 200
    assert campaign.state().settings.answers == 0
    bare = client.get(ROOT, follow_redirects=False)
    assert bare.headers.get("location", f"{ROOT}/").removeprefix(BASE) == f"{ROOT}/"
    assert f'href="{ROOT}/"' in client.get(f"{ROOT}/nothing").text


def test_an_operator_below_a_prefix(client, served, tokens):
    away = client.get(f"{ROOT}/operator", follow_redirects=False)
    assert away.headers["location"] == f"{ROOT}/operator/login"
    page = client.post(f"{ROOT}/operator/login", data={"password": PASSWORD})
    assert str(page.url) == f"{BASE}{ROOT}/operator"
    assert all(one.startswith(f"{ROOT}/") for one in places(page))
    form = hidden(page)["form"]
    done = client.post(f"{ROOT}/operator/do", data={"what": "pause", "form": form})
    assert "no tasks are assigned until you resume" in done.text
    assert "no tasks are assigned until" not in client.get(f"{ROOT}/operator").text
    made = client.post(f"{ROOT}/operator/link", data={"name": "ann", "form": form}).text
    link = re.search(r"http://[^<]+", made)[0]
    assert f"{ROOT}/w/" in link
    assert client.get(link, follow_redirects=False).status_code == 303
    out = client.post(f"{ROOT}/operator/logout", data={"form": form}, follow_redirects=False)
    assert out.headers["location"] == f"{ROOT}/operator/login"
    assert client.get(f"{ROOT}/operator", follow_redirects=False).status_code == 303


def test_the_api_below_a_prefix(client, tokens):
    headers = {"Authorization": f"Bearer {tokens['ann']}"}
    assert client.post(f"{ROOT}/api/v1/next", headers=headers).json()["state"] == "task"
    refused = client.post(f"{ROOT}/api/v1/next", headers={"Authorization": "Bearer x"})
    assert (refused.status_code, refused.headers["content-type"]) == (401, "application/json")
    assert client.get(f"{ROOT}/api/v1/openapi.json").json()["servers"] == [{"url": ROOT}]


@pytest.mark.parametrize("text", ["", "/", "/label", "/label/", "/a/b-c/d.e", "/~ann"])
def test_a_prefix(text):
    assert prefix_of(text) == text.rstrip("/")


@pytest.mark.parametrize("text", ["label", "/a//b", "/a/../b", "/a b", "/a?b", "http://x/y", "/.a"])
def test_what_is_no_prefix(text):
    with pytest.raises(ValueError, match="--root-path must be a path such as /label"):
        prefix_of(text)


@pytest.mark.parametrize("first", OWN)
def test_a_path_of_the_desk_is_no_prefix(first):
    with pytest.raises(ValueError, match=f"must not begin with /{first}, a path of the server"):
        prefix_of(f"/{first}/label")


def test_every_first_part_of_the_desks_paths_is_its_own(served):
    routers = [
        api.operator_router(served),
        api.worker_router(served),
        operator.router(served),
        worker.router(served),
    ]
    routes = [*create_app(served).routes, *(route for one in routers for route in one.routes)]
    first = {route.path.split("/")[1] for route in routes if hasattr(route, "path")}
    assert first - {""} == set(OWN)


def test_the_option(campaign, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(
        start, "_run", lambda served, place, _: seen.append((served.root, place.url))
    )
    done = run_done("serve", campaign.store.place, "--root-path", "/label/")
    assert seen == [("/label", "http://127.0.0.1:8000/label")]
    assert "operator: http://127.0.0.1:8000/label/operator" in done.stderr


def test_the_cookies_of_two_campaigns_have_names_of_their_own():
    one, other = Cookies.of("a"), Cookies.of("b")
    assert len({*one, *other}) == 2 * len(one)
    assert Cookies.of("a") == one


@pytest.mark.browser
@pytest.mark.parametrize("proxy", list(PROXIES)[:2])
def test_a_browser_below_a_prefix_asks_for_nothing_else(served, tokens, campaign, proxy, browser):
    served.pages.least = 0.3
    app = PROXIES[proxy](create_app(served))
    with running(uvicorn.Config(app, port=0, log_level="error", access_log=False)) as url:
        page, asked = browser.new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{url}{ROOT}/w/{tokens['ann']}")
        for place in ("#content img", "details img"):
            expect(page.locator(place)).to_have_js_property("naturalWidth", 1)
        page.wait_for_timeout(500)  # a picture counts as seen from when it is there
        page.keyboard.press("2")
        page.get_by_text("You have answered 1").wait_for()
        page.goto(f"{url}{ROOT}/operator")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Assess all tasks").click()
        page.get_by_role("heading", name="Value of another label").wait_for()
        page.get_by_role("link", name="Back").click()
        with page.expect_response(lambda answer: "x-part" in answer.request.headers) as figures:
            pass  # the page asks for them by itself
        assert (figures.value.url, figures.value.ok) == (f"{url}{ROOT}/operator", True)
        assert all(one.startswith(f"{url}{ROOT}/") for one in asked)
        page.close()
    assert campaign.state().settings.answers == 1
