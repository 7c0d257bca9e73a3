"""A class that stands once in gold is asked about before it counts."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from crowd_tvcs.answers.answers import read_gold
from crowd_tvcs.answers.slips import ask_about_classes, is_slip
from crowd_tvcs.cli.main import app

ANSWERS = "task,worker,label\n" + "".join(
    f"t{j},w{i},{('cat', 'dog')[(j + (i == 2 and j == 1)) % 2]}\n"
    for j in range(6)
    for i in range(3)
)
GOLD = "task,label\nt0,cat\nt1,dog\nt2,cat\nt3,dog\nt4,cat\n\nt5,{}\n"


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(ANSWERS)
    Path("tasks.csv").write_text("task\nt8\n")


COMMANDS = {
    "vote": ("vote", "a.csv", "--gold", "g.csv", "--out", "o"),
    "quality": ("quality", "a.csv", "--gold", "g.csv", "--out", "o"),
    "replay": ("replay", "a.csv", "g.csv", "--labels", "1", "--splits", "2", "--out", "o"),
    "campaign": ("campaign", "init", "c.db", "--gold", "g.csv", "--answers", "a.csv", "--tasks",
                 "tasks.csv"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(("typo", "meant"), [("caat", "cat"), ("Dog", "dog"), ("dgo", "dog")])
def test_a_typo_in_gold_is_asked_about(name, typo, meant):
    Path("g.csv").write_text(GOLD.format(typo))
    done = run(*COMMANDS[name])
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == (
        f"error: g.csv:8: class '{typo}' occurs once in gold and in no answer; did you mean "
        f"'{meant}'? If not, keep it by naming all classes with --classes"
    )
    assert not Path("o").exists()
    assert not Path("c.db").exists()
    done = run(*COMMANDS[name], "--classes", f"cat,dog,{typo}")
    assert done.exit_code == 0, done.stderr


def test_another_name_counts_and_is_said():
    Path("g.csv").write_text(GOLD.format("horse"))
    done = run(*COMMANDS["vote"])
    assert done.exit_code == 0
    assert "warning: only gold task 't5' has the label 'horse'" in done.stderr
    Path("a.csv").write_text(ANSWERS + "t5,w9,horse\n")
    done = run(*COMMANDS["vote"], "--force")
    assert done.exit_code == 0
    assert "note: class 'horse' occurs once in gold, in g.csv:8" in done.stderr


def test_what_answers_have_or_gold_has_twice_is_no_slip():
    Path("g.csv").write_text(GOLD.format("caat"))
    (note,) = ask_about_classes("g.csv", read_gold("g.csv"), {"cat", "dog", "caat"})
    assert note.startswith("note: class 'caat'")
    Path("g.csv").write_text(GOLD.format("caat") + "t9,caat\nt5,caat\n")
    gold = read_gold("g.csv")
    assert gold.once == {}
    assert len(ask_about_classes("g.csv", gold, {"cat", "dog"})) == 1  # the warning of before
    assert read_gold("g.csv", ["cat", "dog", "caat"]).once == {}


@pytest.mark.parametrize(
    ("name", "other", "expected"),
    [
        ("cat", "cart", True),
        ("yes ", "yes", True),
        ("male", "female", False),
        ("4", "5", False),
        ("10", "11", False),
        ("type10", "type11", False),
        ("a", "b", False),
        ("+", "-", False),
        ("", "abc", False),
        ("abcd", "bacd", True),
        ("abcd", "badc", False),
    ],
)
def test_one_slip_makes_names_alike_either_way_round(name, other, expected):
    assert is_slip(name, other) == is_slip(other, name) == expected
