"""Several operators: each has a name in the audit, and does what their rights allow."""

import pytest

from crowd_tvcs.serve.control.accounts import Account, read_accounts
from crowd_tvcs.serve.desk import Served
from tests.crowd.serve.conftest import PASSWORD, hidden, post
from tests.makers.campaigns import rows_of
from tvcs_core import DataError

EVERYBODY = (
    Account("eva", "evas password", frozenset({"act", "answers", "pay"})),
    Account("max", "maxs password", frozenset({"answers"})),
    Account("pia", "pias password", frozenset({"pay"})),
    Account("tom", "toms password", frozenset({"act"})),
)
NEEDS = {
    "act": ["settings"],
    "answers": ["tasks", "task?name=t1", "labels.csv", "answers.csv", "gold-answers.csv"],
    "pay": ["payout.csv"],
}
FORMS = {
    "act": [
        ("do", {"what": "pause"}),
        ("link", {"name": "ann"}),
        ("links", {}),
        ("workers", {"names": "dee"}),
        ("plan", {"labels": "1"}),
        ("preview", {"labels": "1"}),
        ("change", {"budget": "9"}),
        ("settle", {"name": "t1", "label": "good"}),
        ("task-caps", {"name": "t1", "most": "2"}),
        ("person-cap", {"name": "ann", "most": "3"}),
    ],
    "pay": [("pay", {})],
}


@pytest.fixture
def served(campaign):
    return Served(campaign, "", accounts=EVERYBODY)


@pytest.fixture
def enter(browse):
    def _enter(name, password=None):
        client = browse()
        given = {"name": name, "password": password or f"{name}s password"}
        client.answer = client.post("/operator/login", data=given)
        return client

    return _enter


def test_each_needs_their_own_password(enter, served):
    assert "Name" in enter("eva").get("/operator/login").text
    for name, password in (("eva", "maxs password"), ("", "evas password"), ("eve", PASSWORD)):
        client = enter(name, password)
        assert client.answer.status_code == 401
        assert "The name or the password is wrong." in client.answer.text
    for one in EVERYBODY:
        assert enter(one.name).answer.status_code == 200
        assert enter(one.name).answer.status_code == 200  # by its quick hash
        assert one.password not in repr(one)
    assert "evas password" not in repr(vars(served.auth)) + repr(served)


@pytest.mark.parametrize("one", EVERYBODY, ids=lambda one: one.name)
def test_what_each_sees_and_does(enter, campaign, one):
    campaign.submit("ann", campaign.next("ann").task, "good")
    client = enter(one.name)
    page = client.get("/operator")
    assert page.status_code == 200
    assert ("Tasks with the lowest confidence" in page.text) == ("answers" in one.rights)
    assert ("Pause assigning tasks" in page.text) == ("act" in one.rights)
    for right, paths in NEEDS.items():
        for path in paths:
            answer = client.get(f"/operator/{path}")
            assert answer.status_code == (200 if right in one.rights else 409), path
            if right not in one.rights:
                assert f"operator &#39;{one.name}&#39; may not" in answer.text
                assert f"ask one who has the right {right}" in answer.text
    person = client.get("/operator/person?name=ann").text
    assert ("Latest answers" in person) == ("answers" in one.rights)
    assert ("earned" in person) == ("pay" in one.rights)
    assert ("New link" in person) == ("act" in one.rights)
    form = hidden(page)["form"]
    for right, forms in FORMS.items():
        for path, fields in forms:
            answer = client.post(f"/operator/{path}", data=fields | {"form": form})
            assert (f"ask one who has the right {right}" in answer.text) == (
                right not in one.rights
            ), path
    assert campaign.state().settings.paused == (1 if "act" in one.rights else None)


def test_each_has_their_name_in_the_audit(enter, campaign):
    for name in ("eva", "tom"):
        post(enter(name), "do", what="pause")
    campaign.pause(False)
    assert rows_of(campaign, "SELECT who, what FROM audit ORDER BY id") == [
        ("operator eva", "pause"),
        ("operator tom", "pause"),
        ("operator", "resume"),
    ]


def test_the_api_knows_rights_too(browse, campaign):
    client, api = browse(), "/api/v1"
    assert client.get(f"{api}/status", auth=("pia", "pias password")).status_code == 200
    assert client.get(f"{api}/status", auth=("x", "pias password")).status_code == 401
    assert client.get(f"{api}/labels", auth=("max", "maxs password")).status_code == 200
    refused = client.get(f"{api}/labels", auth=("pia", "pias password"))
    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("operator 'pia' may not see answers and labels")
    made = client.post(f"{api}/links", json=["ann"], auth=("max", "maxs password"))
    assert made.status_code == 409
    assert client.post(f"{api}/links", json=["ann"], auth=("tom", "toms password")).json()
    by = rows_of(campaign, "SELECT who FROM audit WHERE what = 'links'")
    assert by == [("operator tom",)]


def test_a_session_ends_with_the_password_or_the_right(enter, campaign, served):
    session = enter("eva").cookies[served.cookies.operator]
    assert served.auth.operator_of(session).name == "eva"
    assert Served(campaign, "", accounts=EVERYBODY).auth.is_session(session)
    less = (Account("eva", "evas password", frozenset({"act"})), *EVERYBODY[1:])
    assert not Served(campaign, "", accounts=less).auth.is_session(session)
    assert not Served(campaign, "", accounts=EVERYBODY[1:]).auth.is_session(session)


HEAD = "operator,password,may\n"


def test_a_table_of_operators(tmp_path):
    path = tmp_path / "o.csv"
    path.write_text(f"{HEAD}eva,evas password,act answers pay\npia,pias password,\n")
    eva, pia = read_accounts(path)
    assert (eva.name, eva.password, len(eva.rights)) == ("eva", "evas password", 3)
    assert (pia.actor, pia.rights) == ("operator pia", frozenset())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("eva,short,act\n", ":2, column 'password': must have 8 characters or more"),
        ("eva,evas password,all\n", ":2, column 'may': must be any of act answers pay, between"),
        ("e va,evas password,act\n", ":2, column 'operator': a name must be 1 to 100 letters"),
        ("operator,long enough,act\n", "a name must not be operator"),
        (
            "eva,evas password,act\neva,evas password,act\n",
            ":3, column 'operator': the operator is",
        ),
        ("eva,evas password,pay\n", "nobody may change the campaign: give somebody the right act"),
    ],
)
def test_a_table_of_operators_that_cannot_be(tmp_path, rows, message):
    path = tmp_path / "o.csv"
    path.write_text(HEAD + rows)
    with pytest.raises(DataError) as error:
        read_accounts(path)
    assert message in str(error.value)
    assert "evas password" not in str(error.value)


def test_every_action_has_the_hashed_address_of_its_request_in_the_audit(browse, enter, served):
    tokens, served.pages.least = served.links.make(None, now=1.0), 0.0
    page, one, operator = browse(tokens["ann"]), browse(), enter("eva")
    page.post("/skip", data=hidden(page.get("/")) | {"reason": "dark"})
    one.headers["Authorization"] = f"Bearer {tokens['bob']}"
    task = one.post("/api/v1/next").json()["task"]
    one.post("/api/v1/skip", json={"task": task, "reason": "dark"})
    post(operator, "do", what="block", name="cy")
    post(operator, "link", name="cy")
    post(operator, "plan", labels=1)
    here = served.auth.keyed("testclient")
    done = [(what, here) for what in ("skip", "skip", "block", "links", "plan")]
    found = rows_of(served.campaign, "SELECT what, address FROM audit")
    assert found == [("links", None), *done]  # the first by no request
