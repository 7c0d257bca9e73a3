"""Lists and pages of tasks and workers: found, shown whole, and changed from there."""

import csv
import io
import time

import pytest

from crowd_tvcs.campaign import RejectedError, Worker
from crowd_tvcs.campaign.desk import details
from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.serve.control.listing import MAX_PAGE, MAX_SEARCH, Choice
from crowd_tvcs.serve.desk import Served
from tests.crowd.serve.conftest import PASSWORD, post
from tests.crowd.serve.turn.files import png

EVIL = "<b>x</b>'\"&"
PEOPLE = {"ann": 0.9, "bob": 0.8, "cy": 0.7, EVIL: 0.6}
LAST = f"z{EVIL}"
TASKS = ["t1", "t2", "t3", LAST]


@pytest.fixture
def campaign(begin):
    return begin(
        workers=[Worker(name, cost=0.5) for name in PEOPLE],
        tasks=TASKS,
        qualities=PEOPLE,
        classes=["bad", "good"],
        max_workers_per_task=3,
    )


@pytest.fixture
def served(campaign, tmp_path):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "a.png").write_bytes(png())
    set_content(campaign.store, {"t1": Content("Look.", "a.png")}, tmp_path)
    return Served(campaign, PASSWORD, tmp_path / "media")


def answer(campaign, name, label="good", seconds=5.0):
    now = time.time() - 60.0
    task = campaign.next(name, now=now).task
    campaign.submit(name, task, label, now=now + seconds)
    return task


def test_a_list_of_tasks_is_searched_sorted_and_filtered(campaign):
    for name, label in (("ann", "good"), ("bob", "bad")):
        answer(campaign, name, label)
    campaign.close_tasks(["t3"])
    campaign.settle(LAST, "bad")

    def names(**given):
        return [one.task for one in details.list_tasks(campaign.store, **given)[0]]

    assert names(order="name") == sorted(TASKS)
    assert names(search="T", order="name") == ["t1", "t2", "t3"]
    assert names(search="%") == names(search="_") == []
    assert names(show="closed") == ["t3"]
    assert names(show="settled") == [LAST]
    assert set(names(show="unanswered")) == {"t3", LAST}
    assert names(order="most confident")[0] == LAST
    assert set(names(order="most answers")[:2]) == {"t1", "t2"}
    states = {one.task: one.state for one in details.list_tasks(campaign.store)[0]}
    assert states == {"t1": "open", "t2": "open", "t3": "closed", LAST: "settled"}


def test_long_lists_have_pages(campaign, operator, monkeypatch):
    campaign.add(tasks=[f"u{j:03d}" for j in range(120)])
    monkeypatch.setattr(details, "ROWS", 50)
    seen = []
    for page in (1, 2, 3):
        found, number = details.list_tasks(campaign.store, order="name", page=page)
        seen += [one.task for one in found]
        assert number == 124
    assert seen == sorted(seen)
    assert len(set(seen)) == 124
    text = operator.get("/operator/tasks?page=2&order=name&search=u").text
    assert "51 to 100 of 120" in text
    assert "order=name&amp;page=1" in text
    assert "order=name&amp;page=3" in text
    for wrong in ("page=0", "page=-1", "page=9999999999", "page=x", "order=x&show=y", "search=%25"):
        assert operator.get(f"/operator/tasks?{wrong}").status_code == 200
    assert operator.get("/operator/tasks?search=%00").status_code == 400


def test_the_page_of_a_task(campaign, operator):
    assert answer(campaign, "ann", "good") == "t1"
    answer(campaign, "bob", "bad")
    campaign.next("cy")
    task = campaign.next(EVIL).task
    campaign.skip(EVIL, task, "too <dark>")
    text = operator.get("/operator/task", params={"name": "t1"}).text
    assert "Look." in text
    assert '<img src="/media/a.png"' in text
    assert operator.get("/media/a.png").status_code == 200
    assert "/operator/person?name=ann" in text
    skipped = operator.get("/operator/task", params={"name": task}).text
    assert "too &lt;dark&gt;" in skipped
    assert "<b>x</b>" not in skipped
    page = post(operator, "settle", name="t1", label="bad")
    assert "the task was settled" in page.text
    assert "label, settled" in page.text
    assert "against the label" in page.text
    assert ">wrong<" in page.text
    assert campaign.state().tasks[0].settled == 0
    page = post(operator, "settle", name="t1", what="take back", label="bad")
    assert "the answers decide again" in page.text
    page = post(operator, "task-caps", name="t1", least="2", most="9")
    assert "most workers: 3 -&gt; 9" in page.text
    refused = post(operator, "task-caps", name="t1", least="2", most="1")
    assert refused.status_code == 409
    assert operator.get("/operator/task", params={"name": "t9"}).status_code == 409


def test_names_of_strangers_are_shown_and_found(campaign, operator):
    for path, name in (("task", LAST), ("person", EVIL)):
        page = operator.get(f"/operator/{path}", params={"name": name})
        assert page.status_code == 200
        assert "<b>x</b>" not in page.text
        assert "&lt;b&gt;x&lt;/b&gt;" in page.text
    for path in ("tasks", "people"):
        page = operator.get(f"/operator/{path}", params={"search": EVIL})
        assert "<b>x</b>" not in page.text
        assert "%3Cb%3Ex%3C/b%3E%27%22%26" in page.text


def test_a_list_of_workers_is_searched_sorted_and_filtered(campaign, operator):
    for name in ("ann", "ann", "bob"):
        answer(campaign, name)
    campaign.block("cy")

    def names(query):
        text = operator.get(f"/operator/people?{query}").text
        return [one for one in ("ann", "bob", "cy") if f"person?name={one}" in text], text

    assert names("search=AN")[0] == ["ann"]
    assert names("show=blocked")[0] == ["cy"]
    assert names("show=without+answers")[0] == ["cy"]
    text = names("order=least+skill")[1]
    assert text.index("name=cy") < text.index("name=bob") < text.index("name=ann")
    text = names("order=most+answers")[1]
    assert text.index("name=ann") < text.index("name=bob") < text.index("name=cy")


def test_the_page_of_a_worker_and_their_pay(campaign, operator):
    task = answer(campaign, "ann", seconds=0.1)
    answer(campaign, "ann")
    text = operator.get("/operator/person?name=ann").text
    assert f"task?name={task}" in text
    assert "too fast" in text
    assert "<b>1.00</b> due; 1.00 earned, 0.00 paid" in text
    page = post(operator, "do", what="block", name="ann", back="/operator/person?name=ann")
    assert (page.url.path, page.url.params["name"]) == ("/operator/person", "ann")
    assert "Blocked: they get no more tasks." in page.text
    outside = post(operator, "do", what="unblock", name="ann", back="//evil.org")
    assert str(outside.url).startswith("http://127.0.0.1:8000/operator")
    page = post(operator, "person-cap", name="ann", most="7")
    assert "most tasks of worker &#39;ann&#39;: none -&gt; 7" in page.text
    assert post(operator, "person-cap", name="ann", most="1").status_code == 409
    assert operator.get("/operator/person?name=eve").status_code == 409
    rows = list(csv.DictReader(io.StringIO(operator.get("/operator/payout.csv").text)))
    assert next(row for row in rows if row["worker"] == "ann")["due"] == "1"
    assert rows[0]["worker"] == EVIL
    paid = post(operator, "pay")
    assert paid.text == "\n".join(paid.text.splitlines()) + "\n"
    assert [p.due for p in campaign.payouts()] == [0.0] * 4
    assert "<b>0.00</b> due" in operator.get("/operator/person?name=ann").text


def test_gold_among_the_tasks_is_no_task_of_the_list(campaign):
    with pytest.raises(RejectedError, match="there is no task"):
        details.details_of_task(campaign.store, "g1")


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("search", {"search": "  a b "}, "a b"),
        ("search", {"search": "x" * 999}, "x" * MAX_SEARCH),
        ("show", {"show": "b"}, "b"),
        ("show", {"show": "q"}, "a"),
        ("order", {"order": "q"}, "p"),
        ("order", {"order": "b"}, "p"),
        ("page", {}, 1),
        *[("page", {"page": text}, 1) for text in ("", "0", "-2", "x", "1.5", "\u0663", "1" * 8)],
        ("page", {"page": "7"}, 7),
        ("page", {"page": "9999999"}, MAX_PAGE),
    ],
)
def test_an_address_is_read_and_what_is_no_choice_counts_as_the_first(name, given, found):
    assert getattr(Choice.of(given, ("a", "b", "c"), ("p", "q", "r")), name) == (
        "q" if given.get("order") == "q" else found
    )
    first = Choice.of({}, ("a", "b", "c"), ("p", "q", "r"))
    assert (first.search, first.show, first.order, first.page) == ("", "a", "p", 1)
