"""What tasks show: tables, JSON lines, media, and what is refused."""

import pytest

from crowd_tvcs.campaign import Task
from crowd_tvcs.campaign.desk.content import Content, content_of, read_content, set_content
from crowd_tvcs.campaign.ingest.tables import read_tasks
from tvcs_core import DataError


def test_a_table_and_json_lines_say_the_same(tmp_path):
    (tmp_path / "a.csv").write_text("task,text,hint\nt1,hello,\n007,,look\n")
    (tmp_path / "a.jsonl").write_text(
        '{"task": "t1", "text": "hello"}\n\n{"item": "007", "hint": "look"}\n'
    )
    expected = {"t1": Content("hello"), "007": Content(fields={"hint": "look"})}
    assert read_content(tmp_path / "a.csv") == expected
    assert read_content(tmp_path / "a.jsonl") == expected


def test_one_table_of_tasks_has_their_limits_and_what_workers_see(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("Task,Text,prior,Max_Workers,kind,title\nt1,<b>a</b>,0.25,2,x,One\nt2,b,,,,\n")
    assert read_tasks(path) == [Task("t1", 0.25, max_workers=2), Task("t2")]
    message = capsys.readouterr().err
    assert (
        message == f"not read here: Text, kind, title; serve --content {path} shows such content\n"
    )
    shown = {"t1": Content("<b>a</b>", fields={"title": "One"}), "t2": Content("b")}
    assert read_content(path) == shown
    path.write_text("task,title\nt1,One\n")  # no content: perhaps a limit with a wrong name
    with pytest.raises(DataError, match="may be task, prior, min_workers, max_workers, found 'ti"):
        read_tasks(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "task,text\nt1,\n", r"a.csv:2: task 't1' has nothing to show"),
        ("a.csv", "task,text\nt1,a\nt1,b\n", r"a.csv:3.*is there already, in line 2"),
        ("a.csv", "name,text\nt1,a\n", "task"),
        ("a.csv", "task,image\nt1,x.png\n", r"a.csv:2, column 'image': names the file .*--media"),
        ("a.jsonl", '{"text": "a"}\n', r"a.jsonl:1: must have a task"),
        ("a.jsonl", "[1]\n", r"a.jsonl:1: every line must be an object"),
        ("a.jsonl", "{\n", r"a.jsonl:1: is no JSON"),
        ("a.jsonl", '{"task": "t1", "text": ["a"]}\n', r"column 'text': must be text or a number"),
        ("a.jsonl", '{"task": "a", "x": "b"}\n' * 2, r"a.jsonl:2: task 'a' is there twice"),
        ("a.jsonl", "[" * 100_000, r"a.jsonl:1: is no JSON"),
        ("a.jsonl", '{"task": "t1", "text": "%s"}' % ("x" * 1_000_001), "more than 1000000 char"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        read_content(tmp_path / name)


def test_it_is_kept_in_the_store(campaign, tmp_path):
    assert content_of(campaign.store, "t1") == Content("t1")  # its name, without any
    assert set_content(campaign.store, {"t1": Content("one"), "t2": Content("two")}, tmp_path) == 1
    set_content(campaign.store, {"t1": Content("new", fields={"a": "b"})}, tmp_path)
    assert content_of(campaign.store, "t1") == Content("new", fields={"a": "b"})
    assert content_of(campaign.store, "t2") == Content("two")
    bodies = {"t3": Content("x"), "t9": Content("y"), "t8": Content("z")}
    with pytest.raises(
        DataError, match=r"task 't9' is not in the campaign \(2 of 3 .*campaign add"
    ):
        set_content(campaign.store, bodies, tmp_path)
    assert content_of(campaign.store, "t3") == Content("t3")
