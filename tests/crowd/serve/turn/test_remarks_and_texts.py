"""Comments and flags of workers, the two sides of a pair, and the pages in another language."""

import json
import re

import pytest

pytest.importorskip("fastapi")
from crowd_tvcs.campaign.desk.content import Content, read_content, set_content
from crowd_tvcs.campaign.desk.remarks import MAX_REMARKS, remark_rows
from crowd_tvcs.serve.turn.instructions import rendered
from crowd_tvcs.serve.turn.keys import DIGITS, LETTERS, keys_of
from crowd_tvcs.serve.turn.texts import LANGUAGES, carried, missing, read_texts
from tests.crowd.serve.conftest import hidden
from tests.crowd.serve.turn.files import png
from tests.makers.commands import run_done
from tests.makers.tables import rows_of
from tvcs_core import DataError


def test_comments_and_flags_are_kept_exported_and_shown(browse, operator, tokens, served, tmp_path):
    ann = browse(tokens["ann"])
    page = ann.get("/")
    task = hidden(page)["task"]
    message = ann.post(
        "/remark", data={**hidden(page), "kind": "comment", "text": " <b>blurred</b> "},
        headers={"X-Part": "main"},
    )  # fmt: skip
    assert "Your comment was sent. You have answered 0." in message.text
    assert hidden(message)["task"] == task  # the same task, to be answered still
    assert ann.post("/remark", data={**hidden(page), "kind": "flag", "text": ""}).status_code == 200
    found = remark_rows(served.campaign.store)
    assert [tuple(row[:4]) for row in found] == [
        (task, "ann", "comment", "<b>blurred</b>"), (task, "ann", "flag", ""),
    ]  # fmt: skip
    shown = operator.get(f"/operator/task?name={task}").text
    assert "&lt;b&gt;blurred&lt;/b&gt;" in shown
    assert "Skips, comments and flags" in operator.get("/operator/person?name=ann").text
    assert f"name={task}" in operator.get("/operator/tasks?show=flagged").text
    others = {"t1", "t2", "t3"} - {task}
    assert not any(f"name={one}" in operator.get("/operator/tasks?show=flagged").text
                   for one in others)  # fmt: skip
    table = operator.get("/operator/remarks.csv").text.splitlines()
    assert table[0] == "task,worker,kind,text,at"
    assert table[1].startswith(f"{task},ann,comment,<b>blurred</b>,20")
    out = tmp_path / "remarks.csv"
    run_done("campaign", "export-remarks", served.campaign.store.place, "--out", out)
    assert [row["kind"] for row in rows_of(out)] == ["comment", "flag"]


@pytest.mark.parametrize(
    ("given", "status", "message"),
    [
        ({"kind": "comment", "text": "  "}, 409, "the comment is empty; write it, then send it"),
        ({"kind": "skip", "text": "x"}, 409, "a remark is a comment or a flag"),
        ({"text": "x"}, 400, "the form lacks the field kind"),
        ({"kind": "flag", "form": "x"}, 409, "this page has expired"),
        ({"kind": "flag", "task": "t9"}, 409, "this page showed another task"),
    ],
)
def test_a_remark_that_is_none_is_refused(browse, tokens, served, given, status, message):
    ann = browse(tokens["ann"])
    answer = ann.post("/remark", data={**hidden(ann.get("/")), **given})
    assert answer.status_code == status
    assert message in answer.text
    assert remark_rows(served.campaign.store) == []


def test_nobody_fills_the_store_with_remarks(browse, tokens, served):
    served.per_worker.burst = 1000
    ann = browse(tokens["ann"])
    fields = hidden(ann.get("/"))
    for _ in range(MAX_REMARKS):
        assert ann.post("/remark", data={**fields, "kind": "flag"}).status_code == 200
    answer = ann.post("/remark", data={**fields, "kind": "flag"})
    assert "there are 10 remarks of yours on this task already" in answer.text
    assert len(remark_rows(served.campaign.store)) == MAX_REMARKS


def test_the_two_sides_of_a_pair_stand_beside_each_other(browse, tokens, served, tmp_path):
    for name in ("l.png", "r.png"):
        (served.media / name).write_bytes(png(more=name.encode()))
    table = (
        "task,text,text_2,image,image_2,alt,alt_2,question\nt1,one,two,l.png,r.png,a cat,,Better?\n"
    )
    (tmp_path / "c.csv").write_text(table)
    bodies = read_content(tmp_path / "c.csv", served.media)
    assert bodies["t1"].sides == [
        {"text": "one", "image": "l.png", "audio": "", "video": ""},
        {"text": "two", "image": "r.png", "audio": "", "video": ""},
    ]
    set_content(served.campaign.store, dict.fromkeys(("t1", "t2", "t3"), bodies["t1"]), tmp_path)
    ann = browse(tokens["ann"])
    page = ann.get("/").text
    assert re.findall(r'<section class="side" aria-label="(\w)">', page) == ["A", "B"]
    assert page.index(">one<") < page.index(">two<") < page.index(">Better?<")
    assert 'alt="a cat"' in page
    assert 'alt="The image to label B"' in page
    assert ann.get("/media/r.png").content == (served.media / "r.png").read_bytes()
    turn = ann.post("/api/v1/next", headers={"Authorization": f"Bearer {tokens['bob']}"}).json()
    assert turn["content"]["text_2"] == "two"
    (tmp_path / "c.csv").write_text("task,text,image_2\nt1,one,none.png\n")
    with pytest.raises(DataError, match=r"c.csv:2, column 'image_2': must be a file inside"):
        read_content(tmp_path / "c.csv", served.media)
    assert len(Content("one").sides) == 1


def test_forty_classes_have_keys_of_their_own_as_far_as_there_are_any():
    keys = keys_of([f"class {k}" for k in range(40)])
    given = [key for key in keys if key]
    assert len(given) == len(set(given)) == len(DIGITS) + len(LETTERS) == 32
    assert not set(given) & set("CSUZ")  # of comment, skip, undo and zoom
    assert keys == given + [""] * 8


def test_tables_in_instructions_have_no_style():
    page = rendered("| a | b |\n|:--|--:|\n| ![x](a.png) | نص |\n\n<script>")
    assert page.count('<td dir="auto">') == 2
    assert '<img src="/media/a.png"' in page
    assert "style" not in page
    assert "<script" not in page


def test_every_text_is_in_every_language():
    for language in LANGUAGES:
        assert carried(language).keys() == carried().keys()
        assert missing(carried(language)) == []


def test_pages_in_german(browse, tokens, served, operator):
    served.texts = carried("de")
    ann = browse(tokens["ann"])
    page = ann.get("/")
    assert '<html lang="de" dir="ltr">' in page.text
    assert "<title>Ihre Aufgabe</title>" in page.text
    assert "Überspringen" in page.text
    message = ann.post("/remark", data={**hidden(page), "kind": "flag"}, headers={"X-Part": "main"})
    assert "Die Aufgabe wurde als fehlerhaft gemeldet." in message.text
    assert "Bitte melden Sie sich an" in browse().get("/").text
    english = [carried()[name] for name in carried() if name not in ("lang", "dir", "one", "other")]
    shown = re.sub(r"<[^>]+>", "\n", page.text).split("\n")
    assert not {line.strip() for line in shown} & set(english) - set(carried("de").values())
    assert '<html lang="en"' in operator.get("/operator").text  # who runs it reads English
    refused = browse().post("/api/v1/next")
    assert "Please open the link" in refused.json()["detail"]


def test_a_file_of_texts_from_right_to_left(browse, tokens, served, tmp_path):
    (tmp_path / "ar.json").write_text(
        json.dumps({"lang": "ar", "dir": "rtl", "your_task": "مهمتك", "answered": "أجبت عن {n}."})
    )
    served.texts = read_texts(str(tmp_path / "ar.json"))
    assert len(missing(served.texts)) == len(carried()) - 6
    page = browse(tokens["ann"]).get("/").text
    assert '<html lang="ar" dir="rtl">' in page
    assert "أجبت عن 0." in page
    assert "Skip" in page  # what the file lacks is English


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "must be JSON in UTF-8"),
        ("[]", "must be an object such as"),
        ('{"skip": "Passer"}', 'must have "lang", the language as in HTML'),
        ('{"lang": "fr", "skipp": "x"}', "has the text 'skipp', which is none; there are"),
        ('{"lang": "fr", "skip": 1}', "'skip' must be text of 1 to 500 characters"),
        ('{"lang": "fr", "skip": " "}', "'skip' must be text of 1 to 500 characters"),
        ('{"lang": "fr", "dir": "up"}', "'dir' must be ltr or rtl, found 'up'"),
        ('{"lang": "fr", "answered": "Vous"}', "'answered' must have {n}, found 'Vous'"),
        ('{"lang": "fr", "skip": "{x.__class__}"}', "'skip' must have no place in braces"),
        ('{"lang": "fr", "answered": "{n!r}"}', "'answered' must have {n}"),
        ('{"lang": "fr", "skip": "a {"}', "'skip' has a brace too many"),
    ],
)
def test_a_file_of_texts_that_is_none_is_refused(text, message, tmp_path):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(DataError, match=re.escape(message)):
        read_texts(str(tmp_path / "x.json"))
    with pytest.raises(ValueError, match="--language must be en or de, or a file, found 'fr'"):
        read_texts("fr")


def test_a_text_of_markup_is_shown_as_text(browse, tokens, served, tmp_path):
    (tmp_path / "x.json").write_text(json.dumps({"lang": 'x"><script>', "skip": "<script>x"}))
    served.texts = read_texts(str(tmp_path / "x.json"))
    assert "<script>x" not in browse(tokens["ann"]).get("/").text
