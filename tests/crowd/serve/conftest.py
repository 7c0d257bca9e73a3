"""A small campaign that is served, and browsers of its workers and operator."""

import base64
import random
import re
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import uvicorn
from fastapi.testclient import TestClient

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk import access
from crowd_tvcs.serve import operator_auth
from crowd_tvcs.serve.app import create_app
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.start import ListenAddress, config_of
from tests.browser import violations

PASSWORD = "correct horse"
WORKERS = {"ann": 0.9, "bob": 0.8, "cy": 0.7}
COST = dict(operator_auth.ARGON2_COST)
BASE = "http://127.0.0.1:8000"
SMALL = {"width": 360, "height": 640}


def begun(place):
    """A small campaign in a new store."""
    return Campaign.create(
        place,
        workers=WORKERS,
        tasks=["t1", "t2", "t3"],
        qualities=WORKERS,
        classes=["bad", "good"],
        max_workers_per_task=2,
    )


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch):
    """A quarter of a second of processor for every desk that a test makes would be half of it."""
    for name, cost in {"time_cost": 1, "memory_cost": 64, "parallelism": 1}.items():
        monkeypatch.setitem(operator_auth.ARGON2_COST, name, cost)


@pytest.fixture(autouse=True)
def same_secrets(monkeypatch):
    """Which tasks are gold hangs on the secret of a campaign: the same in every run."""
    drawn = random.Random(1)

    def token_urlsafe(size):
        return base64.urlsafe_b64encode(drawn.randbytes(size)).rstrip(b"=").decode()

    monkeypatch.setattr(access, "secrets", SimpleNamespace(token_urlsafe=token_urlsafe))


@pytest.fixture
def campaign(tmp_path):
    with begun(tmp_path / "c.db") as made:
        yield made


@pytest.fixture
def served(campaign, tmp_path):
    (tmp_path / "media").mkdir()
    made = Served(campaign, PASSWORD, tmp_path / "media")
    made.pages.least = 0.0  # these browsers are quicker than people
    return made


@pytest.fixture
def tokens(served):
    return served.links.make(None, now=1.0)


@pytest.fixture
def browse(served):
    """Make a browser: `browse(token)` is a worker's, `browse()` a stranger's."""
    app, opened = create_app(served), []

    def _browse(token=None):
        client = TestClient(app, base_url=BASE, raise_server_exceptions=False)
        client.__enter__()
        opened.append(client)
        if token is not None:
            assert client.get(f"/w/{token}").status_code == 200
        return client

    yield _browse
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def operator(browse):
    """A browser of the operator, logged in."""
    client = browse()
    assert client.post("/operator/login", data={"password": PASSWORD}).status_code == 200
    return client


def listening(served, place=None, most=None):
    """The desk on a free port of this machine; its address."""
    return running(config_of(served, place or ListenAddress(port=0), most=most))


@contextmanager
def running(config):
    """A server of this configuration in a thread; its address."""
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


def hidden(page):
    """The hidden fields of a page's first form, and its state."""
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))


def post(client, path, **fields):
    """Send a form of the operator's page."""
    form = hidden(client.get("/operator"))["form"]
    return client.post(f"/operator/{path}", data=fields | {"form": form})


def check_usable(page, *schemes, what=""):
    """Hold a page against all that axe finds: as it is, and small in such schemes of colour."""
    assert violations(page) == [], what
    size = page.viewport_size
    page.set_viewport_size(SMALL)
    for scheme in schemes or ("light",):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == [], what
    assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"], what
    page.set_viewport_size(size)
