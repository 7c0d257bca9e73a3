"""A class that stands once in gold is asked about before it counts."""

import re
from pathlib import Path

import pytest

from crowd_tvcs.answers.answers import read_answers, read_gold
from crowd_tvcs.answers.label_typos import (
    is_likely_typo,
    review_labels,
    warn_rare_labels,
    warn_similar_labels,
    warn_similar_names,
)
from tests.makers.commands import crowd_tvcs, run_done, run_refused

ANSWERS = "task,worker,label\n" + "".join(
    f"t{j},w{i},{('cat', 'dog')[(j + (i == 2 and j == 1)) % 2]}\n"
    for j in range(6)
    for i in range(3)
)
GOLD = "task,label\nt0,cat\nt1,dog\nt2,cat\nt3,dog\nt4,cat\n\nt5,{}\n"


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
    err = run_refused(*COMMANDS[name])
    assert err.splitlines()[-1] == (
        f"error: g.csv:8: class '{typo}' occurs once in gold and in no answer; did you mean "
        f"'{meant}'? If not, keep it by naming all classes with --classes"
    )
    assert not Path("o").exists()
    assert not Path("c.db").exists()
    run_done(*COMMANDS[name], "--classes", f"cat,dog,{typo}")


def test_another_name_counts_and_is_reported():
    Path("g.csv").write_text(GOLD.format("horse"))
    done = run_done(*COMMANDS["vote"])
    assert "warning: only gold task 't5' has the label 'horse'" in done.stderr
    Path("a.csv").write_text(ANSWERS + "t5,w9,horse\n")
    done = run_done(*COMMANDS["vote"], "--force")
    assert "note: class 'horse' occurs once in gold, in g.csv:8" in done.stderr


def test_what_answers_have_or_gold_has_twice_is_no_slip():
    Path("g.csv").write_text(GOLD.format("caat"))
    (note,) = review_labels("g.csv", read_gold("g.csv"), {"cat", "dog", "caat"})
    assert note.startswith("note: class 'caat'")
    Path("g.csv").write_text(GOLD.format("caat") + "t9,caat\nt5,caat\n")
    gold = read_gold("g.csv")
    assert gold.seen_once == {}
    assert len(review_labels("g.csv", gold, {"cat", "dog"})) == 1  # the warning of before
    assert read_gold("g.csv", ["cat", "dog", "caat"]).seen_once == {}


@pytest.mark.parametrize(
    ("name", "other", "expected"),
    [
        ("cat", "cart", True),
        ("cat", "car", False),
        ("good", "food", False),
        ("horse", "hprse", True),
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
    assert is_likely_typo(name, other) == is_likely_typo(other, name) == expected


@pytest.mark.parametrize("name", COMMANDS)
def test_gold_and_answers_without_a_label_in_common_are_refused(name):
    """As after a tool that writes 1.0 for 1; also where the classes are named."""
    Path("a.csv").write_text(ANSWERS.replace("cat", "0").replace("dog", "1"))
    Path("g.csv").write_text("task,label\n" + "".join(f"t{j},{j % 2}.0\n" for j in range(6)))
    for named in ((), ("--classes", "0,1,0.0,1.0")):
        err = run_refused(*COMMANDS[name], *named)
        assert err.splitlines()[-1] == (
            "error: g.csv: gold and answers have no label in common: gold has '0.0', '1.0', "
            "answers have '0', '1'; write the labels alike in both files; labels are names, so "
            "'1' is not '1.0'"
        )
        assert not Path("o").exists()


@pytest.mark.parametrize("name", ["vote", "quality", "alone", "agreement"])
def test_labels_of_answers_that_are_written_in_two_ways_are_pointed_out(name):
    Path("a.csv").write_text(ANSWERS + "t6,w0,Cat\nt6,w1, dog\n")
    Path("g.csv").write_text("task,label\nt0,cat\nt1,dog\nt2,cat\nt3,dog\n")
    command = (
        COMMANDS.get(name)
        or {
            "alone": ("vote", "a.csv", "--out", "o"),
            "agreement": ("agreement", "a.csv", "--out", "o"),
        }[name]
    )
    done = run_done(*command)
    warning = r"answers have the labels 'Cat' \(1\) and 'cat' \(\d+\), which count as two classes"
    assert re.search(warning, done.stderr)
    assert done.stderr.count("two classes") == 1  # blanks at the ends of a cell never count
    done = crowd_tvcs(*command, "--classes", "cat,dog,Cat", "--force")
    assert "two classes" not in done.stderr


@pytest.mark.parametrize(
    ("classes", "n"),
    [
        (["0", "0.0", "1"], 1), (["1e5", "100000"], 1), (["not sure", "Not_Sure"], 1),
        (["1e5", "1E5", "100000", "yes", "Yes", "YES"], 2),
        (["nan", "NaN"], 1), (["1 0", "10.0"], 1), (["1", "1.0"], 1), (["90%", "0.9"], 1),
        (["90%", ".90"], 1), (["True", "1", "0"], 1), (["false", "0.0"], 1),
        (["90%", "9000"], 0), (["90%", "90"], 0), (["True", "False"], 0), (["a", "b"], 0),
        (["A+", "A-", "A"], 0), (["1", "-1", "10", "1.5", "15"], 0), (["nan", "+", "-"], 0),
    ],
)  # fmt: skip
def test_what_two_ways_of_writing_a_label_are(classes, n):
    assert len(warn_similar_labels(classes)) == n


def test_all_ways_of_writing_a_label_are_in_one_line():
    (line,) = warn_similar_labels(["yes", "YES", "Yes", "no"])
    assert "the labels 'YES', 'Yes', 'yes', which count as 3 classes" in line


def test_names_that_never_meet_are_shown():
    Path("g.csv").write_text("task,label\n0.0,cat\n1.0,dog\n")
    err = run_refused(*COMMANDS["vote"])
    assert err.splitlines()[-1] == (
        "error: no gold task is answered: of the 2 gold tasks ('0.0', '1.0') none is among the 6 "
        "tasks with answers ('t0', 't1', 't2', 't3', 't4' and 1 more); "
        "a task must have one name in both"
    )
    swapped = ANSWERS.replace("task,worker", "worker,task")
    Path("a.csv").write_text(swapped)
    Path("g.csv").write_text("task,label\nt0,cat\nt1,dog\n")
    assert crowd_tvcs(*COMMANDS["vote"]).stderr.splitlines()[-1] == (
        "error: a.csv: the tasks of g.csv are workers here: the columns task and worker seem to be "
        "swapped"
    )


@pytest.mark.parametrize(
    ("labels", "rare"),
    [
        ({"dog": 40, "dgo": 2, "cat": 1}, ["dgo"]),
        ({"dog": 40, "dgo": 3}, []),  # too many for a slip
        ({"dog": 40, "fog": 1}, []),
        ({"dog": 40, "Dog": 1}, []),  # they differ in case alone, which has a warning of its own
        ({"class 1": 40, "class 2": 1}, []),
        ({"grade A": 40, "grade B": 40, "grade C": 1}, []),
    ],
)
def test_a_rare_label_that_is_one_letter_from_a_frequent_one_is_pointed_out(labels, rare):
    found = warn_rare_labels(labels)
    assert len(found) == len(rare)
    for line, name in zip(found, rare, strict=True):
        assert line.startswith(f"warning: of the labels '{name}' ({labels[name]}) and 'dog' (40)")


def test_names_that_look_the_same_or_sum_up_others_are_pointed_out():
    assert warn_similar_labels(["yes", "yes\u200b", "no"])
    assert warn_similar_names("worker", ["ann", "\ufeffann"])
    assert not warn_similar_names("worker", ["ann", "ben", "summer"])
    for name in ("Total", "MEAN", "overall"):
        (message,) = warn_similar_names("task", ["t1", name])
        assert f"'{name}' is taken for the name of a task; if the row sums up" in message


def test_python_warns_of_labels_and_names_as_commands_do(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("task,worker,label\nt1,ann,Yes\nt1,bob,No\nt2,Ann,yes\n")
    with pytest.warns(UserWarning, match="count as") as found:
        read_answers(path)
    labels, workers = [str(one.message) for one in found]
    assert labels.startswith("answers have the labels 'Yes' (1) and 'yes' (1)")
    assert workers.startswith("the workers 'Ann' (1) and 'ann' (1)")
    assert {one.filename for one in found} == {__file__}
    with pytest.warns(UserWarning, match="the workers") as found:
        read_answers(path, ["Yes", "No", "yes"])
    assert len(found) == 1  # classes that are named are meant
