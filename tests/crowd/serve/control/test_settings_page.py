"""The page of settings: what the operator changes there, and what it refuses."""

from html import unescape
from urllib.parse import parse_qsl

import pytest

from tests.crowd.serve.conftest import hidden

PAGE = "/operator/settings"


def change(operator, **fields):
    found = {name: unescape(value) for name, value in hidden(operator.get(PAGE)).items()}
    was = dict(parse_qsl(found["was"]))
    return operator.post("/operator/change", data=was | found | fields)


def test_settings_are_changed(operator, campaign):
    assert "maximum" not in operator.get("/operator").text.split("Settings")[0]
    page = change(operator, budget="9", lease_seconds="60", new_classes="ugly, odd", money="")
    assert (
        "budget: none -&gt; 9; lease seconds: 900 -&gt; 60; new classes: &#39;ugly&#39;"
        in page.text
    )
    settings = campaign.state().settings
    assert (settings.budget, settings.lease_seconds) == (9, 60.0)
    assert campaign.state().classes == ("bad", "good", "ugly", "odd")
    assert 'name="budget" value="9"' in operator.get(PAGE).text
    assert "budget: 9 -&gt; none" in change(operator, budget=" ").text
    assert "nothing was changed" in change(operator).text


def test_a_label_that_was_added_is_on_the_next_page(operator, browse, tokens):
    ann = browse(tokens["ann"])
    assert 'value="ugly"' not in ann.get("/").text
    change(operator, new_classes="ugly")
    page = ann.get("/")
    assert 'name="label" value="ugly"' in page.text
    answer = hidden(page) | {"label": "ugly"}
    assert ann.post("/answer", data=answer).status_code == 200


def test_a_page_that_is_old_changes_nothing_back(operator, campaign):
    found = {name: unescape(value) for name, value in hidden(operator.get(PAGE)).items()}
    campaign.change(budget=20)
    fields = found | {"budget": "", "target": "0.9", "max_workers_per_task": "2"}
    fields |= {"min_quality": "0", "lease_seconds": "900"}
    operator.post("/operator/change", data=fields)
    settings = campaign.state().settings
    assert (settings.budget, settings.target) == (20, 0.9)


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({"budget": "0"}, 409, "budget must be at least 1, found 0 (answered: 0, with workers"),
        ({"budget": "x"}, 400, "Labels in all must be a number, found"),
        ({"target": ""}, 400, "Confidence at which a task is done must be a number, found none"),
        ({"target": "nan"}, 400, "target must be from 0 to 1, found nan"),
        ({"new_classes": "bad"}, 409, "is in the campaign already; leave it out"),
        ({"form": "x.y.z"}, 409, "this page has expired; reload it"),
    ],
)
def test_what_is_refused(operator, campaign, fields, status, message):
    campaign.next("ann")
    page = change(operator, **fields)
    assert page.status_code == status
    assert message in page.text
