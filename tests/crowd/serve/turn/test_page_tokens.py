"""Nobody answers a task that their page did not show, and none faster than it can be seen."""

import time

import pytest

from crowd_tvcs.campaign import RejectedError
from crowd_tvcs.campaign.desk import answer_speed
from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.campaign.desk.worker_activity import list_worker_activity, warn_of_speed
from crowd_tvcs.campaign.store.schema import pair
from crowd_tvcs.serve.turn.page_tokens import MAX_AGE_SECONDS, MIN_SECONDS, PageTokens
from tests.crowd.serve.conftest import hidden

NOW = 1.8e9


def test_a_token_is_good_for_its_owner_its_task_and_after_a_moment():
    pages = PageTokens("secret")
    token = pages.token("ann", "t1", 4, NOW)
    assert pages.answers("ann", "t1", token, NOW + MIN_SECONDS + 0.01) == 4
    for wrong in (("bob", "t1", token), ("ann", "t2", token), ("ann", "", token)):
        with pytest.raises(RejectedError, match="this page showed another task"):
            pages.answers(*wrong, NOW + 9.0)
    for wrong in ("", "x.y.z", token[:-1], PageTokens("other").token("ann", "t1", 4, NOW)):
        with pytest.raises(RejectedError, match="this page has expired"):
            pages.answers("ann", "t1", wrong, NOW + 9.0)
    for elapsed in (0.0, MIN_SECONDS - 0.01):
        with pytest.raises(
            RejectedError, match=r"within 0.3 s of the task, so it was not accepted"
        ):
            pages.answers("ann", "t1", token, NOW + elapsed)
    assert pages.answers("ann", "t1", token, NOW - 2.0) == 4  # the clock of another desk
    assert MAX_AGE_SECONDS > 86400


def test_clocks_that_differ_or_are_set_back_expire_nothing(served, monkeypatch):
    """What another desk signed some seconds "later" was refused, and the operator logged out."""
    ahead = time.time() + 30.0
    with monkeypatch.context() as other:
        other.setattr(time, "time", lambda: ahead)
        page = served.pages.token("ann", "t1", 4)
        form, session = served.form_token("ann"), served.auth.new_session()
    assert served.pages.answers("ann", "t1", page) == 4
    assert served.is_form_of("ann", form)
    assert served.auth.is_session(session)
    with monkeypatch.context() as later:
        later.setattr(time, "time", lambda: ahead + MAX_AGE_SECONDS + 2.0)
        with pytest.raises(RejectedError, match="this page has expired"):
            served.pages.answers("ann", "t1", page)
        assert not served.is_form_of("ann", form)
        assert not served.auth.is_session(session)


def test_a_second_click_answers_no_task_that_was_not_seen(browse, tokens, served, campaign):
    """Without script: the click that comes while the next page loads falls on the same place."""
    ann = browse(tokens["ann"])
    first = ann.get("/")
    second = ann.post("/answer", data=hidden(first) | {"label": "good"})
    served.pages.least = 30.0
    third = ann.get("/")  # as shown a moment ago
    again = ann.post("/answer", data=hidden(third) | {"label": "good"})
    assert again.status_code == 409
    assert "it was not accepted; look at the task, then answer" in again.text
    assert ann.post("/skip", data=hidden(third)).status_code == 409
    assert ann.post("/undo", data=hidden(third)).status_code == 409
    assert campaign.state().settings.answers == 1
    served.pages.least = 0.0
    assert ann.post("/answer", data=hidden(second) | {"label": "good"}).status_code == 200
    assert campaign.state().settings.answers == 2


def test_a_form_answers_only_the_task_of_its_page(browse, tokens, campaign):
    ann = browse(tokens["ann"])
    first = ann.get("/")
    second = ann.post("/answer", data=hidden(first) | {"label": "good"})
    mixed = hidden(first) | {"task": hidden(second)["task"], "label": "bad"}
    for path in ("/answer", "/skip", "/undo"):
        refused = ann.post(path, data=mixed)
        assert (refused.status_code, "showed another task" in refused.text) == (409, True)
    assert campaign.state().settings.answers == 1


def test_a_second_click_takes_one_answer_back(browse, tokens, campaign):
    ann = browse(tokens["ann"])
    page = ann.get("/")
    for _ in range(2):
        page = ann.post("/answer", data=hidden(page) | {"label": "good"})
    assert ann.post("/undo", data=hidden(page)).status_code == 200
    again = ann.post("/undo", data=hidden(page))
    assert again.status_code == 409
    assert "has 1 answer, and not 2, to take back" in again.text
    assert campaign.state().settings.answers == 1


def test_undo_checks_how_many_answers_there_are(campaign):
    campaign.submit("ann", campaign.next("ann").task, "good")
    for wrong in (0, 2):
        with pytest.raises(RejectedError, match=f"1 answer, and not {wrong}"):
            campaign.undo("ann", answers=wrong)
    with pytest.raises(ValueError, match="answers must be"):
        campaign.undo("ann", answers=-1)
    assert campaign.undo("ann", answers=1).task is not None


def seconds(campaign, *took, worker="ann"):
    """Let a worker answer as many tasks, each after so long."""
    for k, one in enumerate(took):
        now = NOW + 100.0 * k
        task = campaign.next(worker, now=now).task
        campaign.submit(worker, task, "good", now=now + one)


@pytest.fixture
def long(tmp_path, begin):
    """A campaign of 80 tasks with 600 characters each, which nobody reads within 10 s."""
    tasks = [f"t{j}" for j in range(80)]
    made = begin(
        workers=["ann", "bob"],
        tasks=tasks,
        qualities={"ann": 0.9, "bob": 0.8},
        classes=["bad", "good"],
    )
    set_content(made.store, {name: Content("x" * 600) for name in tasks}, tmp_path)
    return made


def test_what_comes_faster_than_reading_is_marked(long):
    limit = answer_speed.MIN_REACTION_SECONDS + 600 / answer_speed.MAX_READING_SPEED
    seconds(long, limit - 0.01, limit + 0.01, 0.1, 30.0)
    by_name = {seat.name: seat for seat in list_worker_activity(long.store)}
    assert (by_name["ann"].fast, by_name["bob"].fast) == (2, 0)
    assert not by_name["ann"].is_hasty  # of two answers nobody makes much
    assert warn_of_speed(list(by_name.values())) == ""


def test_a_task_without_text_must_still_be_looked_at(campaign):
    seconds(
        campaign, answer_speed.MIN_REACTION_SECONDS - 0.05, answer_speed.MIN_REACTION_SECONDS + 0.05
    )
    assert list_worker_activity(campaign.store)[0].fast == 1


def test_what_comes_faster_than_this_crowd_answers_is_marked(long):
    with long.store.write() as (connection, _, _):
        connection.exec_driver_sql("DELETE FROM content")
    with long.store.read() as (connection, _):
        assert answer_speed.limit(connection, 49) == 0.0  # of few nothing is known
    seconds(long, *(20.0 + k % 7 for k in range(60)), worker="bob")
    seconds(long, *(1.0 for _ in range(12)))
    with long.store.read() as (connection, _):
        assert 1.0 < answer_speed.limit(connection, 72) < 20.0
    seats = {seat.name: seat for seat in list_worker_activity(long.store)}
    assert (seats["ann"].fast, seats["bob"].fast) == (12, 0)
    result = warn_of_speed(list(seats.values()))
    assert "'ann' 12 of 12" in result
    assert "bob" not in result


def test_the_operator_sees_who_is_too_fast(operator, campaign, tmp_path, browse, tokens):
    campaign.add(tasks=[f"more{k}" for k in range(9)])
    seconds(campaign, *(0.1 for _ in range(6)))
    page = operator.get("/operator").text
    assert "<th>too fast</th>" in page
    assert '<td class="bad">6</td>' in page
    assert "Fast answers: answers came faster than their tasks can be read" in page
    assert "&#39;ann&#39; 6 of 6" in page
    table = operator.get("/operator/answers.csv").text.splitlines()
    assert table[0] == "task,worker,label,seconds,too_fast"
    assert {line.split(",", 3)[3] for line in table[1:]} == {"0.100,1"}


def test_answers_of_no_known_time_are_not_judged(campaign):
    seconds(campaign, 0.1)
    with campaign.store.write() as (connection, _, _):
        connection.execute(pair.update().values(seconds=None))
    assert list_worker_activity(campaign.store)[0].fast == 0
