"""What every answer of the desk carries, so that nothing in it can be run in its name."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from crowd_tvcs.serve import api
from crowd_tvcs.serve import operator as operator_pages
from crowd_tvcs.serve import worker as worker_pages
from crowd_tvcs.serve.app import create_app
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.pages import POLICY
from tests.crowd.serve.conftest import PASSWORD, hidden

EVIL = "\"'><script>x</script><img src=x onerror=x> &amp; javascript:x"
KINDS = {
    "text/html; charset=utf-8",
    "application/json",
    "text/css; charset=utf-8",
    "text/javascript; charset=utf-8",
    "text/csv; charset=utf-8",
}


@pytest.fixture
def campaign(begin):
    """A campaign in which every name is hostile."""
    return begin(
        workers=[EVIL],
        tasks=[f"{EVIL} {k}" for k in range(4)],
        qualities={EVIL: 0.9},
        classes=[EVIL, "good"],
    )


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def fields(page):
    """What a browser sends of a page's first form."""
    return {name: unescape(value) for name, value in hidden(page).items()}


def check_harmless(answer):
    assert answer.headers.get_list("content-type") in [[kind] for kind in KINDS]
    assert answer.headers.get_list("content-security-policy") == [POLICY]
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"]
    assert answer.headers["referrer-policy"] == "no-referrer"
    if "csv" in answer.headers["content-type"]:
        assert answer.headers["content-disposition"].startswith("attachment; filename=")
    if "html" in answer.headers["content-type"]:
        for tag, attributes in Tags(answer.text).found:
            assert tag != "img"
            assert not [name for name in attributes if name.startswith(("on", "style"))]
            if tag == "script":
                assert re.fullmatch(r"/static/\w+\.js", attributes["src"])


def test_the_policy_lets_nothing_in_from_elsewhere_and_nothing_inline():
    rules = dict(rule.strip().split(" ", 1) for rule in POLICY.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["frame-ancestors"] == "'none'"
    assert set(rules.values()) == {"'none'", "'self'"}


def test_every_answer_is_of_a_kind_and_runs_nothing(browse, operator, tokens, served, campaign):
    (token,) = tokens.values()
    worker = browse(token)
    page = worker.get("/")
    page = worker.post("/answer", data=fields(page) | {"label": EVIL})
    assert campaign.state().settings.answers == 1
    routers = [
        api.operator_router(served),
        api.worker_router(served),
        operator_pages.router(served),
        worker_pages.router(served),
    ]
    routes = [*create_app(served).routes, *(route for one in routers for route in one.routes)]
    routes = [route for route in routes if getattr(route, "methods", None)]
    paths = {route.path.replace("{token}", token) for route in routes if "GET" in route.methods}
    paths = {re.sub(r"\{what\}", "answers", path) for path in paths if "{name" not in path}
    paths |= {"/static/desk.css", "/static/worker.js", "/static/none", "/media/none", "/none"}
    paths |= {"/operator/labels.csv", "/operator/gold-answers.csv", "/w/x", "/operator/advice"}
    assert len(paths) > 15
    for path in sorted(paths):
        for client in (worker, operator, browse()):
            check_harmless(client.get(path))
            check_harmless(client.get(path, headers={"X-Part": "main"}))
    form = hidden(operator.get("/operator"))["form"]
    for what in ("block", "unblock", "dance", EVIL):
        data = {"what": what, "name": EVIL, "form": form}
        check_harmless(operator.post("/operator/do", data=data))
    check_harmless(operator.post("/operator/link", data={"name": EVIL, "form": form}))
    check_harmless(worker.post("/answer", data=fields(page) | {"label": f"{EVIL}x"}))
    check_harmless(worker.post("/skip", data=fields(worker.get("/")) | {"reason": EVIL}))
    status = worker.get("/api/v1/status", auth=("x", PASSWORD))
    assert status.status_code == 200
    check_harmless(status)


@pytest.fixture
def served(campaign, tmp_path):
    made = Served(campaign, PASSWORD, tmp_path)
    made.per_worker.burst = made.guesses.burst = 1000
    made.pages.least = 0.0
    return made
