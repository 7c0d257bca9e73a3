"""Pages that ask for a step, a preference or several labels, and what they keep."""

import re

import pytest

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.content import Content, content_of_pairs
from crowd_tvcs.campaign.desk.gold import mix_in
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.turn.texts import carried
from tests.crowd.serve.conftest import PASSWORD, hidden
from tests.crowd.serve.turn.kinds import ITEMS, KINDS, PAIRS, campaign_of
from tvcs_core.files.errors import DataError


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def campaign(tmp_path, kind):
    with campaign_of(kind, tmp_path) as made:
        yield made


def shown(page):
    return [int(k) for k in re.findall(r"Text of (\d)", page.text)]


def test_every_kind_is_asked_answered_undone_and_listed(browse, tokens, campaign, kind, operator):
    ann = browse(tokens["ann"])
    page = ann.get("/")
    task = campaign.next("ann").task
    label = {"scale": "4", "multilabel": ["cat", "cow"], "pairs": "left"}[kind]
    data = hidden(page) | {"label": label}
    if kind == "pairs":
        assert re.findall(r'<button name="label" value="(\w+)"', page.text) == [
            "left", "tie", "right",
        ]  # fmt: skip
        left, _ = shown(page)
        form = page.text.partition('<form id="answer"')[2].partition("<fieldset")[2]
        assert not any(name in form.partition("</form>")[0] for name in ITEMS)
    elif kind == "multilabel":
        assert page.text.count('type="checkbox"') == 3
    else:
        assert "1 is the lowest step and 5 the highest." in page.text
        assert page.text.count('<button name="label"') == 5
    page = ann.post("/answer", data=data)
    assert page.status_code == 200
    assert "You have answered 1" in page.text
    found = campaign.state()
    (row,) = found.given
    label = found.kind.show(row[2], task)
    expected = {"scale": "4", "multilabel": "cat;cow"}
    assert label == (expected[kind] if kind in expected else ITEMS[left])
    for path in ("/operator", "/operator/tasks", f"/operator/task?name={task}"):
        assert operator.get(path).status_code == 200
    assert label in operator.get(f"/operator/task?name={task}").text
    assert operator.get("/operator/labels.csv").status_code == 200
    assert f",ann,{label}," in operator.get("/operator/answers.csv").text
    ann.post("/undo", data=hidden(page))
    assert campaign.state().given.size == 0


@pytest.mark.parametrize("kind", ["multilabel"])
def test_no_mark_is_an_answer_too(browse, tokens, campaign, kind):
    ann = browse(tokens["ann"])
    ann.post("/answer", data=hidden(ann.get("/")) | {"label": ""})
    assert [code for _, _, code in campaign.state().given] == [0]


@pytest.mark.parametrize("kind", ["pairs"])
def test_sides_differ_between_people_and_stay_for_one(browse, tokens, campaign, served, kind):
    for name in ("ann", "bob"):
        orders = set()
        client = browse(tokens[name])
        for _ in range(2):
            page = client.get("/")
            orders.add(tuple(shown(page)))
        assert len(orders) == 1
    both = {
        task: {served.content_for(task, f"w{k}").text for k in range(20)} for task in PAIRS
    }  # both items were on the left
    assert {len(one) for one in both.values()} == {2}


@pytest.mark.parametrize("kind", ["pairs", "multilabel"])
def test_feedback_names_the_answer_as_it_was_seen(tmp_path, kind):
    gold = {"pairs": {"a vs b": "a"}, "multilabel": {"g": "cat;dog"}}[kind]
    wrong, right = {"pairs": ("b", "a"), "multilabel": ("cat", "dog;cat")}[kind]
    given = {"workers": ["ann"], "tasks": ["t1"], "answer_kind": kind, "gold": gold}
    with Campaign.create(tmp_path / "g.db", **given | KINDS[kind]) as made:
        mix_in(made.store, {}, ())
        made.gold_first, made.gold_feedback = 1, True
        (name,) = gold
        assert made.next("ann").task == name
        made.submit("ann", name, wrong)
        kept = Served(made, PASSWORD).kind
        known = made.feedback("ann", name)
        assert known == kept.seen(kept.parse(right, name, "ann"), name, "ann")
        assert known != kept.seen(kept.parse(wrong, name, "ann"), name, "ann")
        assert known in (("left", "right") if kind == "pairs" else ("cat;dog",))


def test_the_api_says_what_may_be_answered(browse, tokens, kind):
    client = browse()
    found = client.post("/api/v1/next", headers={"Authorization": f"Bearer {tokens['ann']}"}).json()
    assert found["kind"] == kind
    assert found["classes"] == KINDS[kind].get("classes", ["left", "right", "tie"])
    refused = client.post(
        "/api/v1/submit",
        headers={"Authorization": f"Bearer {tokens['ann']}"},
        json={"task": found["task"], "label": "zebra"},
    )
    assert refused.status_code == 409
    assert "zebra" in refused.json()["detail"]


def test_items_of_a_pair_keep_their_secret_and_need_content():
    both = {"a": Content(text="x", fields={"model": "1", "alt": "A"}), "b": Content(text="y")}
    found = content_of_pairs(
        {name: Content(text=one.text, fields={"alt": name}) for name, one in both.items()},
        ["a vs b"],
        None,
    )["a vs b"]
    assert (found.swapped.text, found.swapped.text_2) == ("y", "x")
    assert found.swapped.fields == {"alt": "b", "alt_2": "a"}
    assert found.swapped.swapped == found
    both["b"] = Content(text="y", fields={"model": "2"})
    with pytest.raises(DataError, match="would show who is who"):
        content_of_pairs(both, ["a vs b"], None)
    with pytest.raises(DataError, match="'b' has no row, but is compared"):
        content_of_pairs({"a": both["a"]}, ["a vs b"], None)
    with pytest.raises(DataError, match="'z' is in no pair"):
        content_of_pairs({"z": both["a"]}, ["a vs b"], None)


def test_the_texts_of_kinds_are_in_both_languages():
    for name in ("tie", "scale_ends", "send_marks"):
        assert carried("de")[name] != carried()[name]
