"""A worker's pages without script: tasks, answers, skip, undo; and what a stranger gets."""

import re
from pathlib import Path

import pytest

from crowd_tvcs.campaign.desk.access import Links
from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.serve.limits import TokenBucket
from tests.crowd.serve.conftest import hidden
from tests.crowd.serve.turn.files import png


def answer(client, page, label="good", **more):
    return client.post("/answer", data=hidden(page) | {"label": label} | more)


def test_a_worker_labels_all_their_tasks(browse, tokens, campaign):
    ann = browse(tokens["ann"])
    page = ann.get("/")
    for number in range(3):
        assert f"You have answered {number}." in page.text
        page = answer(ann, page)
        assert page.status_code == 200
    assert "No task at the moment" in page.text
    assert campaign.state().settings.answers == 3


def test_the_link_leaves_the_address_bar_and_the_cookie_is_out_of_reach_of_scripts(browse, tokens):
    client = browse()
    entered = client.get(f"/w/{tokens['ann']}", follow_redirects=False)
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert tokens["ann"] not in client.get("/").text


def test_a_page_is_small_and_loads_nothing_from_elsewhere(browse, tokens):
    client = browse(tokens["ann"])
    page = client.get("/")
    parts = [page] + [
        client.get(path) for path in re.findall(r'(?:href|src)="(/[^"]+)"', page.text)
    ]
    assert sum(len(part.content) for part in parts) < 20_000
    assert all(part.status_code == 200 for part in parts)
    assert "http" not in re.sub(r'lang="en"|http-equiv', "", page.text)
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("token", ["x", "a.b", "ä", "' OR 1=1 --", "x" * 5000])
def test_a_guessed_token_is_nobodys(browse, token):
    client = browse()
    page = client.get(f"/w/{token}")
    assert page.status_code == 401
    assert "Please open the link that you received" in page.text


def test_a_token_of_another_campaign_is_nobodys(browse, tokens, begin):
    other = begin(workers=["ann"], tasks=["t1"], qualities={"ann": 0.9})
    token = Links(other.store).make(None, now=1.0)["ann"]
    assert browse().get(f"/w/{token}").status_code == 401


def test_a_revoked_link_ends_at_once(browse, tokens, served):
    ann, bob = browse(tokens["ann"]), browse(tokens["bob"])
    page = ann.get("/")
    assert served.links.revoke(["ann"], now=2.0) == 1
    assert ann.get("/").status_code == 401
    assert answer(ann, page).status_code == 401
    assert bob.get("/").status_code == 200


def test_only_hashes_are_in_the_store(tokens, campaign):
    files = [Path(campaign.store.place + suffix) for suffix in ("", "-wal")]
    held = b"".join(path.read_bytes() for path in files)
    assert tokens["ann"].encode() not in held
    assert tokens["ann"].split(".")[0].encode() not in held


def test_a_form_sent_twice_late_or_changed(browse, tokens, campaign):
    ann, bob = browse(tokens["ann"]), browse(tokens["bob"])
    page = ann.get("/")
    assert answer(ann, page).status_code == 200
    assert answer(ann, page).status_code == 200  # sent twice
    assert campaign.state().settings.answers == 1
    other = answer(ann, page, "bad")
    assert other.status_code == 409
    assert "before, now &#39;bad&#39;" in other.text
    assert answer(ann, page, "ugly").status_code == 409
    assert answer(ann, page, task="t9").status_code == 409
    assert bob.post("/answer", data=hidden(bob.get("/"))).status_code == 400  # no label
    assert campaign.state().settings.answers == 1


def test_a_form_from_elsewhere_is_not_taken(browse, tokens, campaign):
    ann = browse(tokens["ann"])
    fields = hidden(ann.get("/"))
    for form in ("", "x.y.z", hidden(browse(tokens["bob"]).get("/"))["form"]):
        sent = ann.post("/answer", data=fields | {"form": form, "label": "good"})
        assert sent.status_code in (400, 409)
    assert campaign.state().settings.answers == 0


def test_skip_and_undo(browse, tokens, campaign):
    ann = browse(tokens["ann"])
    page = ann.get("/")
    first = hidden(page)["task"]
    page = ann.post("/skip", data=hidden(page) | {"reason": "<b>dark</b>"})
    second = hidden(page)["task"]
    assert second != first
    assert "Undo my last answer" not in page.text
    page = answer(ann, page)
    page = ann.post("/undo", data=hidden(page))
    assert hidden(page)["task"] == second
    assert ann.post("/undo", data=hidden(page)).status_code == 409
    assert campaign.state().settings.answers == 0


def test_paused_and_done(browse, tokens, campaign):
    campaign.pause()
    ann = browse(tokens["ann"])
    page = ann.get("/")
    assert ">Paused</h1>" in page.text
    assert '<noscript><meta http-equiv="refresh"' in page.text
    campaign.pause(False)
    with campaign.store.write() as (connection, _, _):
        connection.exec_driver_sql("UPDATE worker SET max_tasks = 1")
    page = answer(ann, ann.get("/"))
    assert ">All done</h1>" in page.text


def test_content_is_text_and_not_script(browse, tokens, campaign, served, tmp_path):
    evil = "<script>alert(1)</script>"
    bodies = {f"t{j}": Content(evil, fields={evil: evil}) for j in (1, 2, 3)}
    set_content(campaign.store, bodies, tmp_path)
    served.instructions = f"# Do\n\n{evil} [x](javascript:alert(1)) **now**"
    page = browse(tokens["ann"]).get("/").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert 'href="javascript' not in page
    assert "<strong>now</strong>" in page


def test_images_and_sounds_need_no_words_beside_them(browse, tokens, campaign, tmp_path):
    bodies = {"t1": Content(image="a b.png"), "t2": Content(audio="a.mp3")}
    set_content(
        campaign.store, bodies | {"t3": Content(image="c.png", fields={"alt": "x"})}, tmp_path
    )
    ann = browse(tokens["ann"])
    page, texts = ann.get("/"), ""
    for _ in range(3):
        texts += page.text
        page = answer(ann, page)
    assert '<img src="/media/a%20b.png" alt="The image to label">' in texts
    assert '<img src="/media/c.png" alt="x">' in texts
    assert '<audio controls src="/media/a.mp3"' in texts


def test_media_are_served_to_workers_and_only_from_the_folder(browse, tokens, served, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (served.media / "a b.png").write_bytes(png())
    (served.media / "out.txt").symlink_to(tmp_path / "secret.txt")
    ann = browse(tokens["ann"])
    assert ann.get("/media/a%20b.png").content == png()
    assert browse().get("/media/a%20b.png").status_code == 401
    for path in ("../secret.txt", "%2e%2e/secret.txt", "out.txt", "..%2fsecret.txt", "", "x%00y"):
        assert ann.get(f"/media/{path}").status_code in (404, 400), path


def test_nobody_learns_of_others(browse, tokens, campaign):
    campaign.next("bob")
    campaign.submit("bob", campaign.next("bob").task, "good")
    page = re.sub('value="[^"]*"', "", browse(tokens["ann"]).get("/").text)  # no word of a token
    assert "bob" not in page
    assert "confidence" not in page


def test_who_asks_too_often_is_held_up(browse, tokens, served):
    served.per_worker = TokenBucket(0.001, 4)
    ann = browse(tokens["ann"])
    found = [ann.get("/") for _ in range(4)]
    assert [page.status_code for page in found] == [200, 200, 429, 429]
    assert int(found[-1].headers["retry-after"]) > 0
    assert browse(tokens["bob"]).get("/").status_code == 200


def test_guesses_are_counted_by_address(browse, served):
    served.guesses = TokenBucket(0.001, 3)
    client = browse()
    assert [client.get(f"/w/{k}").status_code for k in range(5)] == [401, 401, 401, 429, 429]


def test_the_page_of_a_script_is_only_what_changes(browse, tokens):
    ann = browse(tokens["ann"])
    page = ann.get("/", headers={"X-Part": "main"})
    assert page.text.startswith('<div id="turn"')
    sent = ann.post("/answer", data=hidden(page) | {"label": "good"}, headers={"X-Part": "main"})
    assert sent.text.startswith('<div id="turn" data-state="task"')
    refused = ann.post("/answer", data=hidden(page) | {"label": "bad"}, headers={"X-Part": "main"})
    assert refused.status_code == 409
    assert "before" in refused.json()["detail"]
