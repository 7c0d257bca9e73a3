"""Answers and gold: what a file may hold, what is refused, and that names survive."""

import gzip

import numpy as np
import pytest

from crowd_tvcs.answers.answers import (
    UNKNOWN,
    Answers,
    Gold,
    read_answers,
    read_gold,
    write_answers,
)
from tvcs_core import DataError

ROWS = [("t2", "bob", "1"), ("t1", "ann", "0"), ("t1", "bob", "1")]


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_answers_are_sorted_so_that_the_order_of_rows_changes_nothing():
    one, two = Answers.of(ROWS), Answers.of(ROWS[::-1])
    assert one.rows() == two.rows() == sorted(ROWS)
    assert (one.tasks, one.workers, one.classes) == (("t1", "t2"), ("ann", "bob"), ("0", "1"))
    assert one.size == 3
    assert one.per_task.tolist() == [2, 1]
    assert one.per_worker.tolist() == [1, 2]
    assert one.given.tolist() == [[True, False], [True, True]]
    assert list(one.to_frame().itertuples(index=False, name=None)) == one.rows()


def test_a_selection_keeps_all_names():
    chosen = Answers.of(ROWS).select(np.array([False, False, True]))
    assert chosen.rows() == [("t2", "bob", "1")]
    assert chosen.workers == ("ann", "bob")


def test_labels_that_are_integers_are_sorted_by_value():
    rows = [("t", "a", "10"), ("t", "b", "9")]
    assert Answers.of(rows).classes == ("9", "10")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tasks": ("t", "t")}, "tasks must differ, found more than once: 't'"),
        ({"workers": ("",)}, "workers must be names, but workers\\[0\\] is ''"),
        ({"classes": ("x",), "label_of": [0, 0]}, "classes must be at least two"),
        ({"label_of": [0, 2]}, "label_of must be in 0 to 1, found 2"),
        ({"label_of": [0, -1]}, "label_of must be in 0 to 1, found -1"),
        ({"label_of": [0.0, 1.0]}, "label_of must be integers, found float64"),
        ({"label_of": [0]}, "label_of must have shape \\(2,\\)"),
        ({"task_of": [0, 0]}, "worker 'a' answered task 't' more often"),
        (
            {"task_of": [0, 1, 1], "worker_of": [0] * 3, "label_of": [0] * 3},
            "worker 'a' answered task 'u' more often",
        ),
    ],
)
def test_the_door_refuses(changes, message):
    given = {
        "tasks": ("t", "u"),
        "workers": ("a",),
        "classes": ("x", "y"),
        "task_of": [0, 1],
        "worker_of": [0, 0],
        "label_of": [0, 1],
    }
    Answers(**given)
    with pytest.raises((ValueError, TypeError), match=message):
        Answers(**(given | changes))


def test_a_row_with_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="worker 'bob' is unknown"):
        Answers.of(ROWS, workers=["ann"])
    with pytest.raises(TypeError, match="classes must be a list of names, found 'ab'"):
        Answers.of([("t1", "ann", "a")], classes="ab")
    with pytest.raises(ValueError, match="every label must be a class of 'a', 'b'"):
        Answers.of(ROWS, classes=["a", "b"])


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("task,worker,label", "comma-separated, columns task, worker, label, 2 answers"),
        ("item,performer,output", "'item' for task, 'performer' for worker, 'output' for label"),
        ("Item,annotator,Answer", "'Item' for task, 'annotator' for worker, 'Answer' for label"),
    ],
)
def test_crowd_kits_columns_are_known_and_reported(tmp_path, header, message):
    answers = read_answers(write(tmp_path / "a.csv", f"{header}\nt1,ann,cat\nt1,bob,dog\n"))
    assert message in answers.layout
    assert answers.rows() == [("t1", "ann", "cat"), ("t1", "bob", "dog")]


def test_other_columns_are_ignored_and_reported(tmp_path):
    text = ",label,when,worker,task\n0,x,noon,ann,t1\n1,y,noon,bob,t1\n"
    answers = read_answers(write(tmp_path / "a.csv", text))
    assert "ignored columns: (unnamed), when" in answers.layout
    assert answers.size == 2


@pytest.mark.filterwarnings("ignore::UserWarning")  # of such names
def test_names_stay_as_they_are_there_and_back(tmp_path):
    rows = [("007", "NA", "=1+1"), ("7", "-3", "Nan"), ("=x", "a,b", "1e5"), ("'=y", "é", "Nan")]
    answers = Answers.of(rows)
    write_answers(tmp_path / "a.csv", answers)
    assert ",=" not in (tmp_path / "a.csv").read_text(encoding="utf-8")
    again = read_answers(tmp_path / "a.csv")
    assert again.rows() == answers.rows()
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + (tmp_path / "a.csv").read_bytes()))
    assert read_answers(packed).rows() == answers.rows()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task,worker,label\n", r"must have a row below the header"),
        (
            "task,worker,label\nt,a,1\nt,b,1\n",
            r"column '?label'?: must have at least two different labels, found only '1'",
        ),
        ("task,worker,label\nt,a\n", r"a.csv:2: must have 3 cells"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_answers(write(tmp_path / "a.csv", text))


def test_a_label_outside_the_classes_is_refused(tmp_path):
    path = write(tmp_path / "a.csv", "task,worker,label\nt,a,1\nt,b,2\n")
    with pytest.raises(DataError, match=r"a.csv:3, column 'label': .* '0', '1', found '2'"):
        read_answers(path, classes=["0", "1"])
    with pytest.raises(DataError, match="must be one of the classes"):
        read_gold(write(tmp_path / "g.csv", "task,label\nt,2\n"), classes=["0", "1"])


def test_a_whole_number_written_as_a_float_is_the_class_of_its_digits(tmp_path):
    path = write(tmp_path / "a.csv", "task,worker,label\nt,a,1.0\nt,b,2\nu,a,2.00\nu,b,1\n")
    found = read_answers(path, classes=["1", "2"])
    assert found.label_of.tolist() == [0, 1, 1, 0]
    gold = write(tmp_path / "g.csv", "task,label\nt,2.0\nu,1\n")
    assert read_gold(gold, classes=["1", "2"]).labels == {"t": "2", "u": "1"}
    assert read_answers(path, classes=["1", "2", "1.0", "2.00"]).used_classes["1.0"] == 1
    for label, classes in (("1.5", ["1", "2"]), ("a.0", ["a", "b"])):
        write(tmp_path / "b.csv", f"task,worker,label\nt,a,{label}\n")
        with pytest.raises(DataError, match=f"must be one of the classes .*, found '{label}'"):
            read_answers(tmp_path / "b.csv", classes=classes)


def test_gold_may_repeat_itself(tmp_path):
    gold = read_gold(write(tmp_path / "g.csv", "item,truth\n007,1\nNA,0\n007,1\n"))
    assert gold.labels == {"007": "1", "NA": "0"}
    assert "'item' for task, 'truth' for label, 2 gold tasks" in gold.layout


def test_gold_counts_the_classes_of_the_answers():
    gold = Gold({"t1": "dog", "t9": "cat"})
    assert gold.codes(["t0", "t1"], ["dog", "emu"]).tolist() == [UNKNOWN, 0]
    with pytest.raises(ValueError, match="the gold label of task 't9' is 'cat'"):
        gold.codes(["t9"], ["dog", "emu"])
    with pytest.raises(ValueError, match="label 'dog' is unknown"):
        Gold({"t1": "dog"}, ["cat", "emu"])


@pytest.mark.parametrize("task", [7, ""])
def test_a_gold_task_is_a_name(task):
    with pytest.raises(TypeError, match=rf"gold tasks\[1\] is {task!r}"):
        Gold({"t": "dog", task: "cat"})
