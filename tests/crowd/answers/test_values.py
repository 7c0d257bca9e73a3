"""What is no label and no name is no class and no worker: at every door, and the remedy works."""

import csv
import json
import re
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_tvcs import Answers, Gold, Quality, read_answers, read_gold, read_quality
from crowd_tvcs.answers.label_typos import warn_odd_labels, warn_similar_names
from crowd_tvcs.answers.values import (
    MAY_BE_NAMES,
    MISSING,
    find_label_fault,
    find_label_faults,
    find_name_fault,
)
from crowd_tvcs.campaign.ingest.tables import read_lines
from crowd_tvcs.exchange import import_answers, read_accounts, read_assignment, read_tasks
from tests.makers.commands import crowd_tvcs, run_done, run_refused
from tvcs_core.files.errors import DataError

ERRORS = ["#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#N/A", "#NV",
          "#BEZUG!", "#¡VALOR!", "#VALEUR!", "Err:502", "####"]  # fmt: skip
CELLS = {  # that are no labels, by what they are
    "json": ['["cat"]', '{"choices": ["cat", "dog"]}', "['cat' 'dog']", "('cat', 'dog')", "[1, 2]"],
    "several": ["cat|dog", "cat | dog", "cat;dog", "cat;dog;", "dog, cat", "cat#dog", "cat\ndog"],
    "rounded": ["1.23457E+17", "1.2345e+17", "-1E+100"],
    "missing": sorted(MISSING),
    "error": ERRORS,
}
BAD = [(kind, cell) for kind, cells in CELLS.items() for cell in cells]
GOOD = ["cat", "none", "Null", "no", "-", "?", "1.0", "1e5", "A/B", "C#", "#1", "[laughter]",
        "a (b)", "(a)", "not sure", "yes, but unclear", "TRUE", "<b>", "x|", "E+", "+", "Nan",
        "50%"]  # fmt: skip


def rows_with(cell):
    """Answers of three to three tasks, of which Cy's to t1 is this cell."""
    rows = [(f"t{j}", who, ("cat", "dog")[j % 2]) for j in range(3) for who in ("ann", "bob", "cy")]
    return [(task, who, cell if (task, who) == ("t1", "cy") else k) for task, who, k in rows]


def write(path, rows, header=("task", "worker", "label")):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.mark.parametrize("text", GOOD)
def test_what_people_write_is_a_label(text):
    assert find_label_faults(["cat", "dog", "yes", text]) == {}


@pytest.mark.parametrize(("kind", "cell"), BAD)
def test_what_programs_write_is_no_label_and_the_refusal_names_a_remedy_that_works(
    kind, cell, tmp_path
):
    path = write(tmp_path / "a.csv", rows_with(cell))
    with pytest.raises(DataError) as caught:
        read_answers(path)
    message = str(caught.value)
    assert "a.csv:7, column 'label': must be one label, found " in message
    assert "if it is a class, name every class with classes" in message
    classes = ["cat", "dog", cell]
    assert read_answers(path, classes=classes).size == 9  # the remedy: to name it as a class
    assert ("leave_out_missing" in message) == (kind in ("missing", "error"))
    if kind in ("missing", "error"):
        found = read_answers(path, leave_out_missing=True)
        assert (found.size, found.classes) == (8, ("cat", "dog"))
        assert "; left out: 1 without a label" in found.layout
        also = read_answers(path, classes=["cat", "dog"], leave_out_missing=True)
        assert also.rows() == found.rows()


@settings(max_examples=300)
@given(st.sets(st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=5)))
def test_no_judgement_depends_on_the_order_or_fails(labels):
    found = find_label_faults(sorted(labels))
    assert found == find_label_faults(sorted(labels, reverse=True))
    assert all(find_label_fault(text) is None for text in labels.difference(found))
    for text in labels:
        assert find_name_fault(text) is None or find_name_fault(text).kind in CELLS


def test_an_empty_cell_is_left_out_where_that_is_asked_for(tmp_path):
    path = write(tmp_path / "a.csv", rows_with(""))
    what = r"a.csv:7, column 'label': must be a name, found an empty cell; leave_out_missing"
    with pytest.raises(DataError, match=what):
        read_answers(path)
    found = read_answers(path, leave_out_missing=True)
    assert found.rows() == [row for row in Answers.of(rows_with("?")).rows() if row[2] != "?"]


def test_a_task_whose_answers_are_all_left_out_is_a_task_still(tmp_path):
    path = write(tmp_path / "a.csv", [*rows_with("cat"), ("t9", "ann", "nan"), ("t9", "bob", "")])
    found = read_answers(path, leave_out_missing=True)
    assert found.tasks == ("t0", "t1", "t2", "t9")
    assert found.per_task.tolist() == [3, 3, 3, 0]
    assert "left out: 2 without a label" in found.layout


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("cell", ["", "nan", "#REF!", "None"])
def test_answers_without_a_task_or_a_worker_are_left_out_too(cell, column, tmp_path):
    rows = [list(row) for row in rows_with("cat")]
    rows[4][column] = rows[7][column] = cell
    path = write(tmp_path / "a.csv", rows)
    kind = ("task", "worker")[column]
    with pytest.raises(DataError, match=rf"a.csv:6, column '{kind}': must be .*leave_out_missing"):
        read_answers(path)
    found = read_answers(path, leave_out_missing=True)
    assert found.size == 7
    assert f"left out: 2 without a {kind}" in found.layout
    assert cell not in (*found.tasks, *found.workers)


def test_a_pair_is_not_answered_twice_by_rows_that_do_not_count(tmp_path):
    rows = [*rows_with("cat"), ("t0", "ann", "nan"), ("t0", "ann", ""), ("t2", "bob", "dog")]
    path = write(tmp_path / "a.csv", rows)
    with pytest.raises(DataError, match=r"a.csv:13: .* in line 9 already; it is the only"):
        read_answers(path, leave_out_missing=True)
    found = read_answers(path, leave_out_missing=True, duplicates="last")
    assert found.size == 9
    assert "1 pair answered more than once, 2 answers" in found.layout


def test_gold_is_judged_likewise(tmp_path):
    path = write(
        tmp_path / "g.csv", [("t0", "cat"), ("t1", "#N/A"), ("t2", "dog")], ("task", "label")
    )
    with pytest.raises(
        DataError, match=r"g.csv:3, column 'label': must be one label, found '#N/A'"
    ):
        read_gold(path)
    found = read_gold(path, leave_out_missing=True)
    assert found.labels == {"t0": "cat", "t2": "dog"}
    assert "left out: 1 without a label" in found.layout
    assert read_gold(path, classes=["cat", "dog", "#N/A"]).labels["t1"] == "#N/A"


def test_gold_with_two_right_answers_says_what_to_do_and_that_works(tmp_path):
    cells = "t1,cat t1,dog t2,dog t3,cat t3,dog t4,cat"
    rows = [tuple(row.split(",")) for row in cells.split()]
    path = write(tmp_path / "g.csv", rows, ("task", "label"))
    with pytest.raises(DataError) as caught:
        read_gold(path)
    assert (
        "g.csv:3, column 'label': the gold label of task 't1' is 'dog' here and 'cat' in line 2"
        in (str(caught.value))
    )
    assert "so 2 tasks have several" in str(caught.value)
    assert "delete the rows that are wrong, or all rows of a task of which several" in str(
        caught.value
    )
    once = write(tmp_path / "g.csv", [rows[0], rows[2], rows[3], rows[5]], ("task", "label"))
    assert len(read_gold(once)) == 4
    without = write(tmp_path / "g.csv", [rows[2], rows[5]], ("task", "label"))
    assert len(read_gold(without)) == 2


# One cell of every table that has names of tasks or workers.
TABLES = {
    "quality, wide, worker": (read_quality, "worker,t1\nann,.6\n{},.7\n"),
    "quality, wide, task": (read_quality, "worker,t1,{}\nann,.6,.7\n"),
    "quality, long": (read_quality, "worker,task,quality\nann,t1,.6\nann,{},.7\n"),
    "tasks that are shown": (read_tasks, "task,text\nt1,a\n{},b\n"),
    "assignment": (read_assignment, "worker,task\nann,t1\n{},t1\n"),
    "accounts": (read_accounts, "account,worker\n1,ann\n2,{}\n"),
    "gold": (read_gold, "task,label\nt1,cat\n{},dog\n"),
    "answers": (read_answers, "task,worker,label\nt1,ann,cat\n{},ann,dog\n"),
    "answers of a campaign": (read_lines, "task,worker,label\nt1,ann,cat\n{},ann,dog\n"),
}


@pytest.mark.filterwarnings("ignore::UserWarning")  # of such names
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("cell", ["nan", "#REF!", "1.23457E+17", "None"])
def test_every_table_judges_names_and_the_remedy_works(name, cell, tmp_path):
    read, text = TABLES[name]
    path = tmp_path / "x.csv"
    path.write_text(text.format(cell), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read(path)
    message = str(caught.value)
    assert f"found {cell!r}, which is" in message
    assert "different " in message
    if "E+" in cell:
        assert "with this column as text" in message
        for whole in ("123456789012345678", f"t{cell}"):  # what the message says to do
            path.write_text(text.format(whole), encoding="utf-8")
            read(path)
    else:
        assert "give each its own name" in message or "mend the formula" in message
        path.write_text(text.format("x7"), encoding="utf-8")
        read(path)
    path.write_text(text.format("NA"), encoding="utf-8")
    read(path)  # as Namibia


@pytest.mark.parametrize("cell", [float("nan"), None, "", "nan", "#N/A", "cat|dog", '["cat"]'])
def test_rows_in_python_are_judged_likewise(cell):
    with pytest.raises((TypeError, ValueError), match=r"leave out rows|with classes"):
        Answers.of(rows_with(cell))
    with pytest.raises((TypeError, ValueError), match=r"leave out tasks|with classes"):
        Gold({"t1": "cat", "t2": cell})
    if isinstance(cell, str) and cell:
        assert Answers.of(rows_with(cell), classes=["cat", "dog", cell]).size == 9
        assert Gold({"t1": "cat", "t2": cell}, ["cat", cell]).labels["t2"] == cell


def test_rows_of_a_data_frame_are_judged_likewise():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows_with(None), columns=["task", "worker", "label"])
    for rows in (frame, frame.astype(str)):
        with pytest.raises((TypeError, ValueError), match="label"):
            Answers.of(rows.itertuples(index=False, name=None))
    assert Answers.of(frame.dropna().itertuples(index=False, name=None)).size == 8
    with pytest.raises(TypeError, match=r"tasks must be names, but tasks\[0\] is 7; turn numbers"):
        Answers.of([(7, "ann", "cat"), (8, "ann", "dog")])


@pytest.mark.parametrize("cell", ["nan", "#REF!", "1.23457E+17"])
def test_names_in_python_are_judged_likewise(cell):
    with pytest.raises(ValueError, match=r"workers\[1\] must be the name of a worker, found"):
        Quality([[0.6], [0.7]], ["ann", cell], ["t1"])
    with pytest.raises(ValueError, match=r"tasks\[0\] must be the name of a task, found"):
        Answers.of([(cell, "ann", "cat"), ("t2", "ann", "dog")])
    with pytest.raises(ValueError, match="must be the name of a gold task, found"):
        Gold({cell: "cat", "t2": "dog"})


def test_numbers_that_were_cut_are_pointed_out_and_no_remedy_throws_answers_away(tmp_path):
    ids = ["1294030472427830000", "1294030472427840000", "1294030472427850000"]
    rows = [(task, who, ("cat", "dog")[who == "bob"]) for task in ids for who in ("ann", "bob")]
    path = write(tmp_path / "a.csv", rows)
    done = run_done("vote", path, "--out", tmp_path / "o")
    assert re.search(
        r"tasks '1294030472427830000', .* only zeros after the 15th digit", done.stderr
    )
    assert "column as text" in done.stderr
    err = run_refused("vote", write(path, [*rows, rows[0]]), "--out", tmp_path / "o")
    assert "different ones share it" in err
    assert "--duplicates" not in err
    whole = [
        (f"{task[:-1]}{k}", who, label) for k, (task, who, label) in enumerate([*rows, rows[0]])
    ]
    done = crowd_tvcs("vote", write(path, whole), "--out", tmp_path / "o", "--force")
    assert done.exit_code == 0  # with the digits that the spreadsheet cut
    assert "zeros" not in done.stderr


def test_names_that_differ_by_case_alone_are_pointed_out_with_counts(tmp_path):
    rows = [
        (f"t{j}", who, ("cat", "dog")[j % 2]) for j in range(4) for who in ("ann", "Ann", "bob")
    ]
    path = write(tmp_path / "a.csv", rows[:-3])
    gold = write(tmp_path / "g.csv", [("t0", "cat"), ("t1", "dog")], ("task", "label"))
    line = "warning: the workers 'Ann' (3) and 'ann' (3) count as 2, and differ in case"
    for words in (("vote", path), ("quality", path, "--gold", gold), ("agreement", path)):
        done = run_done(*words, "--out", tmp_path / "o", "--force")
        assert line in done.stderr
    alike = write(path, [(task, who.replace("Ann", "Anna"), k) for task, who, k in rows])
    done = run_done("vote", alike, "--out", tmp_path / "o", "--force")
    assert "count as" not in done.stderr


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["Ann", "ann", "ANN"], 1), (["ann lee", "Ann  Lee", "ann\xa0lee"], 1),
        (["1", "1.0", "01"], 1),
        (["t1", "t01", "t1.0", "t 1"], 0), (["a_1", "a1", "a-1"], 0), (["1", "11", "1.5"], 0),
        (["ann@x.org", "Ann <ann@x.org>"], 1), (["Ann <a@x.org>", "Ann <b@x.org>"], 0),
        (["straße", "STRASSE"], 1), ([f"{c}{k}" for k in range(9) for c in "tT"], 4),
    ],
)  # fmt: skip
def test_which_names_look_alike(names, groups):
    assert len(warn_similar_names("task", names)) == groups


def test_quality_tables_point_names_out_in_their_layout(tmp_path):
    (tmp_path / "q.csv").write_text("worker,t1\nann,.6\nAnn,.7\n")
    assert "the workers 'Ann' and 'ann' count as 2" in read_quality(tmp_path / "q.csv").layout


@pytest.mark.parametrize(("cells", "is_doubted"), [("1,0", True), ("1,.5", False)])
def test_a_table_of_answers_is_pointed_out_as_no_quality(tmp_path, cells, is_doubted):
    (tmp_path / "q.csv").write_text(f"worker,t1,t2\nann,{cells}\n")
    assert ("every quality is 0 or 1" in read_quality(tmp_path / "q.csv").layout) == is_doubted


@pytest.mark.parametrize(
    ("used", "what"),
    [
        ({"2-Mar": 3, "no": 4}, "the labels '2-Mar' are dates"),
        ({str(k): 5 for k in range(21)}, "21 different labels, all numbers"),
        ({f"a text {k}": 1 for k in range(21)}, "21 answers have 21 different labels"),
        ({"yes": 9, "no": 9, "Not sure": 2, "skip": 1}, "'Not sure' (2) and 'skip' (1) count as"),
        ({"0": 9, "1": 9, "-1": 2}, "'-1' (2) counts as a class"),
        ({"-1": 9, "1": 9}, ""),
        ({"-2": 9, "-1": 9, "0": 9, "1": 9}, ""),
        ({"unknown": 9, "none": 9, "cat": 9}, ""),
        ({str(k): 5 for k in range(20)}, ""),
        ({f"class {k}": 9 for k in range(100)}, ""),
    ],
)
def test_labels_that_are_hardly_classes_are_pointed_out(used, what):
    found = warn_odd_labels(Counter(used))
    assert (what in found[0]) if what else (found == [])


def test_ratings_with_decimals_are_refused_and_rounding_them_works(tmp_path):
    rows = [(f"t{j}", who, f"{(7 * j + k) % 50 / 10}") for j in range(20)
            for k, who in enumerate(("ann", "bob"))]  # fmt: skip
    path = write(tmp_path / "a.csv", rows)
    with pytest.raises(
        DataError, match=r"of 27 different numbers, as of a rating.*round the numbers"
    ):
        read_answers(path)
    few = [(task, who, str(round(float(k)))) for task, who, k in rows]
    assert len(read_answers(write(path, few)).classes) == 6
    assert len(read_answers(write(path, rows), classes=sorted({k for *_, k in rows})).classes) == 27


@pytest.mark.filterwarnings("ignore::UserWarning")  # of such names
def test_a_workbook_keeps_its_truth_values_and_days(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    rows = [("task", "worker", "label"), ("t1", "ann", True), ("t1", "bob", False),
            ("t2", "ann", True), (datetime(2024, 3, 1), "ann", False),
            (123456789012345678, "bob", True),
            (1.2345678901234566e17, "cy", True)]  # fmt: skip
    for row in rows[:5]:
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    found = read_answers(tmp_path / "x.xlsx")
    assert found.classes == ("FALSE", "TRUE")
    assert "2024-03-01" in found.tasks
    done = crowd_tvcs("vote", tmp_path / "x.xlsx", "--out", tmp_path / "o")
    assert "the tasks '2024-03-01' are dates" in done.stderr
    assert "x.xlsx: a sheet of a workbook, columns task, worker, label, 4 answers" in done.stderr
    book.active.append(rows[6])
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(DataError, match=r"a number that a spreadsheet rounded"):
        read_answers(tmp_path / "x.xlsx")


@pytest.mark.parametrize(
    ("header", "tool"),
    [("HITId,AssignmentId,WorkerId,Answer.label", "mturk"),
     ("Status,PROLIFIC_PID,task,label", "prolific"),
     ("Status,PROLIFIC_PID,AssignmentId,label", "prolific"),
     ("INPUT:image,OUTPUT:result,ASSIGNMENT:worker_id,ASSIGNMENT:status", "toloka"),
     ("user_name,annotations,subject_ids", "zooniverse")],
)  # fmt: skip
def test_the_results_of_a_tool_are_sent_to_import(tmp_path, header, tool):
    (tmp_path / "a.csv").write_text(header + "\n" + "x" + ",x" * header.count(",") + "\n")
    with pytest.raises(DataError, match=f"crowd-tvcs import --format {tool} reads such results$"):
        read_answers(tmp_path / "a.csv")


@pytest.mark.parametrize("header", ["task,ann,bob,eve", "Timestamp,worker,Q1,Q2"])
def test_a_table_with_a_column_for_every_worker_or_task_is_sent_to_import(tmp_path, header):
    (tmp_path / "a.csv").write_text(header + "\n1,a,b,a\n2,b,b,a\n")
    with pytest.raises(DataError, match="crowd-tvcs import --format wide reads a table with a col"):
        read_answers(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("task,worker,mark\n1,a,b\n")
    with pytest.raises(DataError, match=r"name one column label$"):
        read_answers(tmp_path / "a.csv")


def test_a_title_above_the_header_is_found_and_deleting_it_works(tmp_path):
    text = "task,worker,label\nt1,ann,a\nt1,bob,b\n"
    (tmp_path / "a.csv").write_text("Labels of May,,\n,,\n" + text)
    with pytest.raises(DataError, match=r"they stand in line 3: delete what stands above"):
        read_answers(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("Labels of May\n" + text)
    with pytest.raises(DataError, match=r"they stand in line 2: delete what stands above"):
        read_answers(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("Labels, of May\n" + text)
    with pytest.raises(
        DataError, match=r":2: must have 2 cells .* delete the lines above the column na"
    ):
        read_answers(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text(text)
    assert read_answers(tmp_path / "a.csv").size == 2


def test_header_rows_of_qualtrics_are_named(tmp_path):
    rows = [("Which task?", "PID", "Which label?"), ('{"ImportId":"QID1"}',) * 3, *rows_with("cat")]
    path = write(tmp_path / "a.csv", rows)
    with pytest.raises(DataError, match=r"headers of Qualtrics; delete the second and third row"):
        read_answers(path)
    assert read_answers(write(path, rows[2:])).size == 9


@pytest.mark.parametrize(
    ("cell", "hint"),
    [
        ("190%", "in [0, 1], found '190%'"),
        ("0,9.1", "found '0,9.1'"),
        ("90", ".9 for 90"),
    ],
)
def test_qualities_in_percent_say_what_to_write(cell, hint, tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(f"worker;t1\nann;.6\nbob;{cell}\n")
    with pytest.raises(DataError, match=re.escape(hint)):
        read_quality(path)
    path.write_text("worker;t1\nann;.6\nbob;.9\n")
    assert read_quality(path).quality.values[1, 0] == 0.9


@pytest.mark.parametrize("command", ["vote", "quality", "agreement", "workers", "replay"])
def test_every_command_leaves_out_and_records_it(command, tmp_path):
    rows = [(f"t{j}", f"w{k}", ("cat", "dog")[(j + (j * k % 3 == 1)) % 2]) for j in range(8)
            for k in range(6)]  # fmt: skip
    path = write(tmp_path / "a.csv", [*rows, ("t0", "w9", "NaN"), ("t1", "w9", "")])
    gold = write(tmp_path / "g.csv", [(f"t{j}", ("cat", "dog")[j % 2]) for j in range(8)] +
                 [("t9", "nan")], ("task", "label"))  # fmt: skip
    words = {
        "vote": (), "agreement": (), "quality": ("--gold", gold), "workers": ("--gold", gold),
        "replay": (gold, "--labels", "1", "--splits", "1"),
    }[command]  # fmt: skip
    words = (command, path, *words, "--out", tmp_path / "o")
    run_refused(*words)
    done = run_done(*words, "--leave-out-missing")
    assert "left out: 2 without a label" in done.stderr
    record = json.loads((tmp_path / "o" / "run.json").read_text())
    assert record["parameters"]["leave_out_missing"] is True


def test_a_campaign_takes_its_classes_for_labels_whatever_they_look_like(tmp_path):
    path = write(tmp_path / "a.csv", rows_with("None"))
    with pytest.raises(DataError, match="found 'None'"):
        read_lines(path)
    assert len(read_lines(path, classes=["cat", "dog", "None"])) == 9
    assert len(read_lines(path, classes=["cat", "dog"], leave_out_missing=True)) == 8


def test_words_that_may_be_names_are_pointed_out():
    for word in MAY_BE_NAMES:
        assert find_name_fault(word) is None
        (line,) = warn_similar_names("worker", {word: 4, "ann": 3})
        assert f"{word!r} (4) is taken for the name of a worker" in line


def test_import_judges_before_anything_is_written(tmp_path):
    row = {"task": "t1", "answer": "accept", "_session_id": "ann"}
    lines = [{**row, "accept": [label], "_session_id": f"s{k}"} for k, label in
             enumerate(["cat", "dog", "cat;dog"])]  # fmt: skip
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, lines)))
    words = ("import", tmp_path / "x.jsonl", "--format", "prodigy", "--out", tmp_path / "o")
    assert "x.jsonl:3: must be one label, found 'cat;dog'" in run_refused(*words)
    assert not Path(tmp_path / "o").exists()
    run_done(*words, "--classes", "cat,dog,cat;dog")
    assert (
        len(import_answers(tmp_path / "x.jsonl", "prodigy", classes=["cat", "dog", "cat;dog"]).rows)
        == 3
    )


def test_a_class_that_was_named_is_one_in_every_file_that_follows(tmp_path):
    """As `None` of stance detection: gold, votes, shares and qualities all have it."""
    rows = [(f"t{j}", who, ("for", "None")[j % 2]) for j in range(6) for who in ("ann", "bob")]
    path = write(tmp_path / "a.csv", rows)
    gold = write(tmp_path / "g.csv", [("t0", "for"), ("t1", "None")], ("task", "label"))
    named = ("--classes", "for,None")
    (tmp_path / "t.txt").write_text("".join(f"t{j}\n" for j in range(6)))
    words = ("quality", path, "--gold", gold, "--tasks", tmp_path / "t.txt", "--per-class", *named)
    run_done(*words, "--out", tmp_path / "q")
    words = ("vote", path, "--quality", tmp_path / "q" / "quality.csv", *named)
    run_done(*words, "--prior", tmp_path / "q" / "classes.csv", "--out", tmp_path / "v")
    labels = (tmp_path / "v" / "labels.csv").read_text()
    assert "t3,None," in labels
