"""People who sign up: one seat for each id, by consent, and a code when they are done."""

import re
from dataclasses import replace

import pytest

from crowd_tvcs.campaign import RejectedError
from crowd_tvcs.campaign.desk.gold import learn, mix_in
from crowd_tvcs.campaign.desk.person_ids import check_id, completion_code, sign_id
from crowd_tvcs.campaign.desk.seats import SeatRules, check_seats, take_seat
from crowd_tvcs.serve import worker
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.recruit.sign_up import SignUp, invitation
from crowd_tvcs.skills.beta_prior import USUAL_MEAN
from tests.crowd.serve.conftest import PASSWORD, hidden
from tests.makers.campaigns import rows_of
from tests.makers.commands import run_done, run_refused

GOLD = {f"g{k}": ("bad", "good")[k % 2] for k in range(8)}
OPEN = SignUp(False, 3, consent="You may *stop* at any time. <script>x</script>")
SIGNED = SignUp(True, consent="Read this.")


@pytest.fixture
def campaign(begin):
    made = begin(
        workers=["ann"],
        tasks=["t1", "t2", "t3"],
        gold=GOLD,
        classes=["bad", "good"],
        max_tasks_per_worker=3,
        qualities=None,
    )
    mix_in(made.store, {}, ())
    made.gold_first = 2
    return made


@pytest.fixture
def served(campaign):
    made = Served(campaign, PASSWORD, sign_up=OPEN)
    made.pages.least = 0.0
    made.per_worker.burst = made.guesses.burst = 1000
    return made


def signed_up(client, name="p1", parameter="PROLIFIC_PID", **more):
    """Open the page of consent, and agree."""
    page = client.get("/join", params={parameter: name, **more})
    assert page.status_code == 200, page.text
    return client.post("/join", data=hidden(page))


def test_a_stranger_gets_gold_first_and_a_seat_under_their_id(browse, campaign):
    client = browse()
    page = client.get("/join?PROLIFIC_PID=p1&STUDY_ID=s")
    assert "You may <em>stop</em>" in page.text
    assert "<script>x" not in page.text
    assert [w.name for w in campaign.state().workers] == ["ann"]  # a look takes no seat
    first = client.post("/join", data=hidden(page))
    assert (first.status_code, first.url.path) == (200, "/")
    assert "Your task" in first.text
    row = next(w for w in campaign.state().workers if w.name == "p1")
    assert row.quality == pytest.approx(USUAL_MEAN)
    assert row.joined is not None
    assert row.lease_name in GOLD or campaign.next("p1").task in GOLD
    assert client.get("/join?PROLIFIC_PID=p1").url.path == "/"  # goes on with what they had
    ((who, what, detail),) = rows_of(campaign, "SELECT who, what, detail FROM audit")
    assert (who, what) == ("p1", "sign up")
    assert re.fullmatch("consent [0-9a-f]{16}", detail)


def test_an_id_has_one_seat(browse, campaign):
    here, there = browse(), browse()
    late = hidden(there.get("/join?workerId=p1"))
    signed_up(here)
    for answer in (there.post("/join", data=late), there.get("/join?worker=p1")):
        assert answer.status_code == 409
        assert "this id has a seat already: go on in the browser where you began" in answer.text
    assert there.get("/").status_code == 401
    other = here.get("/join?worker=p2")
    assert other.status_code == 409
    assert "this browser has the seat of another person already" in other.text
    assert there.get("/join?worker=ann").status_code == 409  # of the operator's own table
    assert [w.name for w in campaign.state().workers] == ["ann", "p1"]


def test_seats_run_out(browse):
    for k in range(3):
        assert signed_up(browse(), f"p{k}").status_code == 200
    refused = signed_up(browse(), "p3")
    assert refused.status_code == 409
    assert "all seats are taken" in refused.text


WRONG_IDS = ["", "a b", "-a", "a" * 101, "<b>", "a'--", "ä", "a\0", "../x", "Operator", "{{x}}"]


@pytest.mark.parametrize("name", WRONG_IDS)
def test_what_is_no_id_is_refused_and_takes_no_seat(browse, campaign, name):
    client = browse()
    page = client.get("/join", params={"worker": name})
    assert page.status_code == 400
    assert "<b>" not in page.text
    form = hidden(client.get("/join?worker=p1")) | {"id": name}
    assert client.post("/join", data=form).status_code in (400, 409)
    assert len(campaign.state().workers) == 1
    with pytest.raises(ValueError, match="an id must"):
        check_id(name)


@pytest.mark.parametrize(
    "query", ["", "?other=p1", "?worker=p1&worker=p2", "?worker=p1&workerId=x"]
)
def test_an_address_holds_one_id(browse, query):
    page = browse().get(f"/join{query}")
    assert page.status_code == 400
    assert "this address must hold your id once, as PROLIFIC_PID=..." in page.text


def test_a_form_is_of_its_browser_and_its_id(browse, campaign):
    one, other = browse(), browse()
    form = hidden(one.get("/join?worker=p1"))
    assert other.post("/join", data=form).status_code == 409
    other.get("/join?worker=p2")
    assert other.post("/join", data=form).status_code == 409
    assert one.post("/join", data=form | {"id": "p2"}).status_code == 409
    assert one.post("/join", data=form | {"form": "x.y.z"}).status_code == 409
    assert len(campaign.state().workers) == 1
    assert one.post("/join", data=form).status_code == 200


def test_strangers_do_not_sign_up_for_ever(browse, served):
    served.guesses.burst, served.guesses._left = 2.0, type(served.guesses._left)()
    client = browse()
    assert [client.get("/join?worker=p1").status_code for _ in range(3)] == [200, 200, 429]


def test_without_sign_up_there_is_no_such_page(browse, served):
    served.sign_up = None
    client = browse()
    assert client.get("/join?worker=p1").status_code == 404
    assert client.post("/join", data={"id": "p1", "form": "x"}).status_code == 404


def test_signed_links_are_good_for_their_id_alone_and_come_back(browse, served, campaign):
    served.sign_up = SIGNED
    key = sign_id(served.links.secret, "p1")
    for wrong in ("", "x", sign_id(served.links.secret, "p2"), "ä"):
        answer = browse().get("/join", params={"worker": "p1", "key": wrong})
        assert answer.status_code == 409
        assert "this is no link that was made here" in answer.text
    link = invitation("https://x.org/", served.links.secret, "p1", "worker")
    assert link == f"https://x.org/join?worker=p1&key={key}"
    for _ in range(2):  # the second time from another browser
        client = browse()
        assert signed_up(client, key=key).url.path == "/"
    assert signed_up(browse(), "ann", key=sign_id(served.links.secret, "ann")).status_code == 200
    served.links.revoke(["p1"], now=1.0)
    refused = signed_up(browse(), key=key)
    assert "your link was withdrawn" in refused.text
    assert [w.name for w in campaign.state().workers] == ["ann", "p1"]


def finish(client, campaign, n=3):
    page = signed_up(client)
    for _ in range(n):
        page = client.post("/answer", data=hidden(page) | {"label": "good"})
    return page


def test_who_is_done_gets_a_code_and_the_way_back(browse, served, campaign):
    served.sign_up = replace(OPEN, back="https://x.org/done?cc={code}&who={id}")
    client = browse()
    page = finish(client, campaign)
    code = completion_code(served.links.secret, "p1")
    assert "All done" in page.text
    assert f"<b>{code}</b>" in page.text
    assert f'href="https://x.org/done?cc={code}&amp;who=p1"' in page.text
    assert completion_code(served.links.secret, "p2") != code
    served.sign_up = replace(OPEN, code="C<1")
    assert "<b>C&lt;1</b>" in client.get("/").text


def test_nobody_gets_a_code_before_they_are_done(browse, served, campaign, tokens, monkeypatch):
    assert "completion code" not in finish(browse(), campaign, 2).text
    ann = browse(tokens["ann"])
    page = ann.get("/")
    for _ in range(3):
        page = ann.post("/answer", data=hidden(page) | {"label": "good"})
    assert "All done" in page.text  # whom the operator named is no recruit
    assert "completion code" not in page.text
    campaign.pause()
    assert "completion code" not in browse(served.links.make(["p1"], now=1.0)["p1"]).get("/").text


def test_who_waits_may_go_after_a_while(browse, served, campaign, monkeypatch):
    campaign.change(min_quality=0.9)
    client = browse()
    page = finish(client, campaign, 2)
    assert "No task at the moment" in page.text  # their skill may be estimated any moment
    assert "completion code" not in page.text
    learn(campaign.store)
    monkeypatch.setattr(worker, "FINISH_SECONDS", 0.0)
    assert "You may finish now. Your completion code" in client.get("/").text


def test_a_campaign_of_a_table_or_of_money_needs_more(campaign, tmp_path):
    with campaign.store.read() as (_, settings):
        check_seats(settings, SeatRules(False, 3))
        with pytest.raises(ValueError, match="--label-cost must be from 0 to below"):
            check_seats(settings, SeatRules(False, 3, float("nan")))
        with pytest.raises(ValueError, match="so --label-cost must be given"):
            check_seats(settings._replace(money=1), SeatRules(False, 3))
        with pytest.raises(ValueError, match="campaign init --gold, without --quality"):
            check_seats(settings._replace(source="table"), SeatRules(False, 3))


def test_a_seat_has_its_price(served, campaign):
    take_seat(served.links, "p1", SeatRules(False, 3, 0.25), consent="", now=1.0)
    assert campaign.state().workers[1].cost == 250_000
    with pytest.raises(RejectedError, match="has a seat already"):
        take_seat(served.links, "p1", SeatRules(False, 3), consent="", now=1.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"parameters": ["a b"]}, "--id-parameter must be a name such as PROLIFIC_PID"),
        ({"parameters": ["key"]}, "--id-parameter must be a name"),
        ({"consent": "![x](y.png)"}, "--consent shows a picture"),
        ({"code": " "}, "--completion-code must have 1 to 100 characters"),
        ({"code": "x" * 101}, "--completion-code must have 1 to 100 characters"),
        ({"back": "http://x.org"}, "--completion-url must be such as https://"),
        ({"back": "javascript:alert(1)"}, "--completion-url must be such as https://"),
        ({"back": "https://{id}.org"}, "behind the host only"),
    ],
)
def test_rules_that_pages_cannot_have_are_refused(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SignUp(False, 3, **given)


@pytest.mark.parametrize("code", ["x", "x" * 100])
def test_a_completion_code_of_1_to_100_characters_is_taken(code):
    assert SignUp(False, 3, code=code).code == code


def test_links_are_signed_by_a_command(campaign, served, tmp_path):
    ids = tmp_path / "ids.csv"
    ids.write_text("worker\np1\np2\n", encoding="utf-8")
    words = ["serve", "invite", campaign.store.place, "--ids", ids]
    done = run_done(*words, "--public-url", "https://x.org")
    link = f"https://x.org/join?worker=p1&key={sign_id(served.links.secret, 'p1')}"
    assert f"p1,{link}" in done.stdout
    assert "2 links signed" in done.stderr
    ids.write_text("worker\np 1\n", encoding="utf-8")
    err = run_refused(*words)
    assert "ids.csv:2, column" in err
    assert "an id must be 1 to 100 letters" in err
