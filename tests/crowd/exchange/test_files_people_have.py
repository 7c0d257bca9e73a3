"""Files as people have them: wide tables, surveys, classifications, CSV exports; gold, bad rows."""

import csv
import importlib
import json
import random

import pytest

from crowd_tvcs.answers.answers import read_answers
from crowd_tvcs.exchange import export, import_answers
from crowd_tvcs.exchange.csv_files import printed_list
from tests.crowd import tools
from tests.makers.commands import crowd_tvcs, run_done, run_refused
from tests.makers.tables import rows_of
from tvcs_core.files.errors import DataError

ROWS = (("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t2", "ann", "dog"))
SHEET = "task,ann,bob\nt1,cat,dog\nt2,dog,\n"
FORM = "Timestamp,Email Address,t1,t2\n2024/05/01 9:00:00 AM,ann,cat,dog\n2024/05/01,bob,dog,\n"
CLEANLAB = ",ann,bob\nt1,cat,dog\nt2,dog,\n"  # the index of a data frame has no name
QUALTRICS = (
    "StartDate,Status,Finished,PROLIFIC_PID,t1,t2\nStart Date,Response Type,Finished,Id,Q1,Q2\n"
    + ",".join(['"{""ImportId"":""x""}"'] * 6)
    + "\n2024-05-01,IP Address,True,ann,cat,dog\n2024-05-01,IP Address,True,bob,dog,\n"
    "2024-05-01,Survey Preview,True,me,cat,cat\n"
)
STUDIO_CSV = (
    "task,id,label,annotator,annotation_id,created_at,lead_time\n"
    "t1,1,cat,ann,7,2024-05-01T10:00:00Z,1.5\nt1,1,dog,bob,8,2024-05-01T10:00:00Z,2\n"
    "t2,2,dog,ann,9,2024-05-01T10:00:00Z,2\nt2,2,,bob,10,2024-05-01T10:00:00Z,2\nt3,3,,,,,\n"
)
ARGILLA_HEAD = "id,status,text,label.responses,label.responses.users,label.responses.status\n"
SUBMITTED = "\"['submitted' 'submitted']\""
NUMPY = f"t1,completed,x,\"['cat' 'dog']\",\"['ann' 'bob']\",{SUBMITTED}\n"
PYTHON = "t2,pending,y,\"['dog', None]\",\"['ann', 'bob']\",\"['submitted', 'draft']\"\n"


TURK = "HITId,WorkerId,AssignmentStatus,Input.image,Answer.label\n" + "".join(
    f"{task},{who},Approved,{task},{label}\n" for task, who, label in (*ROWS, ("t2", "bob", ""))
)
STUDIO_JSON = json.dumps(
    [
        {
            "id": f"t{k}",
            "data": {"text": "x"},
            "annotations": [
                {
                    "completed_by": {"email": who},
                    "result": [{"type": "choices", "value": {"choices": [label]}}] if label else [],
                }
                for who, label in answers
            ],
        }
        for k, answers in (
            (1, [("ann", "cat"), ("bob", "dog")]),
            (2, [("ann", "dog"), ("bob", "")]),
        )
    ]
)


@pytest.mark.parametrize(
    ("text", "tool", "options"),
    [
        *((TURK, "mturk", {"task_field": name}) for name in ("HITId", "Input.image", "image")),
        (STUDIO_JSON, "label-studio", {"task_field": "id"}),
        (SHEET, "wide", {}),
        (SHEET.replace("task", "Task ID"), "wide", {}),
        ("task_id," + SHEET.replace("\nt", "\n7,t"), "wide", {"columns": ["ann", "bob"]}),
        (FORM, "wide", {}),
        (FORM.replace("Email Address", "Who"), "wide", {"worker_field": "Who"}),
        (CLEANLAB, "wide", {"task_field": ""}),
        (SHEET.replace("\n", ",a note\n").replace("bob,a", "bob,a"), "wide",
         {"columns": ["ann", "bob"]}),
        (QUALTRICS, "wide", {}),
        (STUDIO_CSV, "label-studio", {"question": "label"}),
        (ARGILLA_HEAD + NUMPY + PYTHON, "argilla", {}),
    ],
)  # fmt: skip
def test_the_same_answers_are_read_of_every_file(text, tool, options, tmp_path):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    found = import_answers(tmp_path / "x.csv", tool, **options)
    assert found.rows == ROWS
    assert sum(found.left_out.values()) in (1, 3)


def test_a_bad_row_of_argillas_csv_is_skipped_alone(tmp_path):
    nested = "t3,completed,z,\"[['a'] ['b']]\",\"['ann' 'bob']\",\"['submitted' 'submitted']\"\n"
    (tmp_path / "x.csv").write_text(ARGILLA_HEAD + nested + NUMPY + PYTHON)
    found = import_answers(tmp_path / "x.csv", "argilla", skip_bad=True)
    assert (found.rows, len(found.skipped)) == (ROWS, 1)
    wrapped = NUMPY.replace("' 'dog", "'\n 'dog")  # as NumPy breaks long lists
    (tmp_path / "x.csv").write_text(ARGILLA_HEAD + wrapped + PYTHON)
    assert import_answers(tmp_path / "x.csv", "argilla").rows == ROWS


def test_a_csv_of_doccano_is_that_of_one_user(tmp_path):
    for user, rows in {"ann": "1,x,cat\n2,y,dog\n", "bob": "1,x,dog\n2,y,\n"}.items():
        (tmp_path / f"{user}.csv").write_text(f"id,data,label\n{rows}", encoding="utf-8")
    found = import_answers([tmp_path / "ann.csv", tmp_path / "bob.csv"], "doccano")
    assert found.rows == (("1", "ann", "cat"), ("1", "bob", "dog"), ("2", "ann", "dog"))
    (tmp_path / "ann.csv").write_text("id,data,label\n1,x,cat#dog\n2,y,cat\n3,z,dog\n")
    with pytest.raises(DataError, match=r"ann\.csv:2: .*several selections"):
        import_answers(tmp_path / "ann.csv", "doccano")


def classification(who, subject, value, *, gold="", more=()):
    """One row of Zooniverse's export; `more` are further tasks."""
    times = {"started_at": "2024-05-01T10:00:00.000Z", "finished_at": "2024-05-01T10:00:04.000Z"}
    return {
        "classification_id": "1", "user_name": who, "gold_standard": gold,
        "metadata": json.dumps(times),
        "annotations": json.dumps([{"task": "T0", "task_label": "Which?", "value": value}, *more]),
        "subject_data": json.dumps({subject: {"retired": None, "Filename": f"{subject}.jpg"}}),
        "subject_ids": subject,
    }  # fmt: skip


def zooniverse(path, *rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_classifications_of_zooniverse_are_read(tmp_path):
    rows = [
        classification("ann", "7", "cat"), classification("not-logged-in-1a", "7", "dog"),
        classification("ann", "8", [{"choice": "DOG", "answers": {}}]),
        classification("bob", "8", None),
        classification("eve", "8", [{"task": "T0", "value": "dog"}, {"task": "T9", "value": "x"}]),
    ]  # fmt: skip
    path = zooniverse(tmp_path / "x.csv", *rows)
    found = import_answers(path, "zooniverse", question="T0", times=True)
    assert found.rows == (
        ("7", "ann", "cat"), ("7", "not-logged-in-1a", "dog"), ("8", "ann", "DOG"),
        ("8", "eve", "dog"),
    )  # fmt: skip
    assert found.left_out == {"empty": 1}
    assert {timing.seconds for timing in found.times} == {4.0}
    named = import_answers(path, "zooniverse", question="T0", task_field="Filename")
    assert named.rows[0] == ("7.jpg", "ann", "cat")


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (classification("a", "7", ["x", "y"]), "field 'T0' must hold one choice, .*leave such"),
        (classification("a", "7", [{"x": 1.5, "tool": 0}]), "found a drawing or a table"),
        (classification("a", "7;8", "cat"), "must be one subject, found '7;8'"),
        (classification("a", "7", "cat", more=[{"task": "T1", "value": "x"}]), "--question"),
        ({**classification("a", "7", "cat"), "annotations": "[{"}, "is not whole JSON"),
    ],
)
def test_what_of_zooniverse_is_no_single_answer_is_refused(row, what, tmp_path):
    with pytest.raises(DataError, match=what):
        import_answers(zooniverse(tmp_path / "x.csv", row), "zooniverse")


@pytest.mark.parametrize(
    ("text", "what", "remedy"),
    [
        ("id,ann,bob\nt1,cat,cat\n", "--task-field, or that of workers", {"task_field": "id"}),
        ("task,text,ann,bob\nt1,long,cat,dog\nt2,text,dog,cat\n",
         "'text' shares no label .* delete it; else .*--col", {"columns": ["ann", "bob"]}),
        ("task,worker,a\nt1,ann,cat\n", "has both 'task' and 'worker'", {"task_field": "task",
         "columns": ["a"]}),
        ("task\nt1\n", "must have a column of answers", None),
        ("task,ann,bob,majority\nt1,cat,dog,cat\nt2,cat,cat,cat\n",
         "'majority' has labels and is no worker: .*--column", {"columns": ["ann", "bob"]}),
        ("task,label\nt1,cat\nt2,dog\n", "'label' has labels and is no worker: .*--gold",
         {"columns": ["label"]}),
        ("task,annotator_1,label_1,annotator_2,label_2\nt1,ann,cat,bob,dog\nt2,bob,dog,ann,cat\n",
         "'annotator_1' and 'label_1' seem to hold a worker and the answer: write a row per answer",
         {"columns": ["label_1", "label_2"]}),
        ("task,ann,Truth\nt1,cat,cat\n", "'Truth' has labels", {"columns": ["ann"]}),
        ("task,ann,bob\nt1,cat|dog,cat\nt2,cat,\n", ":2: field .* several", {"skip_bad": True}),
        ("task,ann,ann\nt1,cat,dog\n", "every column once, found 'ann' twice; rename", None),
    ],
)  # fmt: skip
def test_a_wide_table_that_is_not_clear_is_refused_with_a_remedy_that_works(
    text, what, remedy, tmp_path
):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(DataError, match=what):
        import_answers(tmp_path / "x.csv", "wide")
    if remedy is not None:
        assert import_answers(tmp_path / "x.csv", "wide", **remedy).rows


def test_options_of_wide_tables_are_for_these_alone(tmp_path):
    with pytest.raises(ValueError, match="--worker-field and --column are for --format wide"):
        import_answers(tmp_path / "x", "prodigy", columns=["a"])
    (tmp_path / "x.csv").write_text(SHEET)
    with pytest.raises(DataError, match="--task-field or --worker-field, not both"):
        import_answers(tmp_path / "x.csv", "wide", task_field="task", worker_field="ann")
    with pytest.raises(DataError, match="must have the column 'eve'; --column names"):
        import_answers(tmp_path / "x.csv", "wide", columns=["eve"])
    for name in ("wide", "zooniverse"):
        with pytest.raises(ValueError, match=f"format '{name}' is only read; write one of label-s"):
            export([("ann", "t1")], name, tmp_path / "y")


def studio(*annotations):
    """An export of Label Studio: (task, who, label, whether it is ground truth)."""
    return json.dumps([
        {"id": k, "data": {"task": task}, "annotations": [
            {"completed_by": who, "ground_truth": is_truth, "result": [tools.choice(label)]}]}
        for k, (task, who, label, is_truth) in enumerate(annotations, start=1)
    ])  # fmt: skip


def test_ground_truth_becomes_gold_and_is_no_answer(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(studio(("t1", "boss", "cat", True), ("t1", "ann", "dog", False),
                           ("t2", None, "dog", True)))  # fmt: skip
    words = ("import", path, "--format", "label-studio", "--out", tmp_path / "o")
    done = crowd_tvcs(*words, "--leave-out-missing")
    assert "2 annotations are marked as ground truth and count as answers; --ground" in done.stderr
    run_done(*words, "--ground-truth", "--force")
    assert (tmp_path / "o" / "gold.csv").read_text() == "task,label\nt1,cat\nt2,dog\n"
    assert (tmp_path / "o" / "answers.csv").read_text() == "task,worker,label\nt1,ann,dog\n"
    path.write_text(studio(("t1", "boss", "cat", True)))
    done = crowd_tvcs(*words, "--ground-truth", "--force")
    assert "0 answers of 0 workers to 0 tasks" in done.stderr
    assert (tmp_path / "o" / "answers.csv").read_text() == "task,worker,label\n"


def test_ground_truth_that_is_none_or_two_is_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(studio(("t1", "boss", "cat", True), ("t1", "eve", "dog", True)))
    with pytest.raises(DataError, match="record 2, annotation 1: the ground truth of task 't1' is"):
        import_answers(path, "label-studio", ground_truth=True)
    path.write_text(studio(("t1", "boss", "cat", False)))
    with pytest.raises(DataError, match="no annotation is marked as ground truth, as Label Studio"):
        import_answers(path, "label-studio", ground_truth=True)
    rows = zooniverse(tmp_path / "z.csv", classification("boss", "7", "cat", gold="true"))
    assert import_answers(rows, "zooniverse", ground_truth=True).gold == (("7", "cat"),)


def test_bad_answers_are_skipped_and_listed_in_a_file(tmp_path):
    lines = [
        {"task": "t1", "answer": "accept", "accept": ["cat"], "_session_id": "ann"},
        {"task": "t1", "answer": "maybe", "accept": ["cat"], "_session_id": "bob"},
        {"task": "t2", "answer": "accept", "accept": ["a", "b"], "_session_id": "bob"},
        {"task": "t2", "answer": "accept", "accept": ["nan"], "_session_id": "bob"},
    ]
    text = "\n".join([*map(json.dumps, lines), '{"task": "t3", "ans'])
    (tmp_path / "x.jsonl").write_text(text)
    words = ("import", tmp_path / "x.jsonl", "--format", "prodigy", "--out", tmp_path / "o")
    run_refused(*words)
    done = run_done(*words, "--skip-bad")
    assert "warning: skipped 4 bad answers, listed in" in done.stderr
    skipped = rows_of(tmp_path / "o" / "skipped.csv")
    assert [row["line"] for row in skipped] == ["2", "3", "4", "5"]
    assert {row["file"] for row in skipped} == {"x.jsonl"}  # the same bytes in any folder
    assert not any(str(tmp_path) in row["reason"] for row in skipped)
    assert "must be one of accept, reject, ignore" in skipped[0]["reason"]
    assert "is not whole JSON" in skipped[3]["reason"]
    record = json.loads((tmp_path / "o" / "run.json").read_text())
    assert record["left_out"] == {"bad": 4}
    assert record["parameters"]["skip_bad"] is True
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, lines[1:])))
    done = crowd_tvcs(*words, "--skip-bad", "--force")
    assert done.exit_code == 2  # nothing is left: the first reason is told
    assert "must be one of accept, reject, ignore" in done.stderr


@pytest.mark.parametrize("tool", tools.TOOLS)
def test_nothing_is_skipped_where_nothing_is_bad(tool, tmp_path):
    write, name, question = tools.TOOLS[tool]
    export([("ann", "t1"), ("bob", "t1"), ("ann", "t2")], name, tmp_path / "given")
    write(tmp_path / "given", tmp_path / "back", lambda task, _: f"is {task}")
    one = import_answers(tmp_path / "back", name, question=question)
    assert import_answers(tmp_path / "back", name, question=question, skip_bad=True) == one
    assert one.skipped == ()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--money", "$.15"), ""),
        (("--money", "fifteen"), "must be a number such as 0.05 or $0.05, found 'fifteen'"),
        (("--prior", "50 %"), ""),
        (("--prior", "half"), "must be a number such as .5 or 50 %, found 'half'"),
    ],
)
def test_prices_and_shares_may_have_their_signs(words, message, tmp_path):
    (tmp_path / "q.csv").write_text("worker,t1,t2\nann,90 %,80%\nbob,60%,0.6\n")
    (tmp_path / "w.csv").write_text("worker,cost\nann,$0.05\nbob,0.07 $\n")
    done = crowd_tvcs(
        *("assign", tmp_path / "q.csv", "--workers", tmp_path / "w.csv", *words),
        *("--out", tmp_path / "o", "--max-workers-per-task", "1"),
    )
    assert done.exit_code == (2 if message else 0), done.stderr
    assert message in done.stderr
    if not message:
        plain = [word.replace("$", "").replace("50 %", ".5") for word in words]
        (tmp_path / "q.csv").write_text("worker,t1,t2\nann,.9,.8\nbob,.6,.6\n")
        (tmp_path / "w.csv").write_text("worker,cost\nann,0.05\nbob,0.07\n")
        run_done(
            *("assign", tmp_path / "q.csv", "--workers", tmp_path / "w.csv", *plain),
            *("--out", tmp_path / "p", "--max-workers-per-task", "1"),
        )
        one, other = (tmp_path / name / "assignment.csv" for name in "op")
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("cell", "items"),
    [
        ("[nancy, 'nan', nan]", ["nancy", "nan", None]),
        ("[Nonesuch None]", ["Nonesuch", None]),
        ("[" + "a" * 5_000 + "!", None),  # took twice as long with every letter
        ("[" + "None " * 5_000 + "!", None),
    ],
)
def test_a_printed_list_is_read_word_by_word_and_never_for_long(cell, items):
    assert printed_list(cell) == items


@pytest.mark.parametrize("is_filter", [False, True])
def test_hidden_rows_of_a_workbook_are_not_taken_without_a_word(tmp_path, is_filter):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (("task", "worker", "label"), ("t1", "ann", "yes"), ("t1", "bob", "no")):
        book.active.append(row)
    book.save(shown := tmp_path / "shown.xlsx")
    assert len(read_answers(shown).task_of) == 2
    book.active.row_dimensions[3].hidden = True
    if is_filter:
        book.active.auto_filter.ref = "A1:C3"
    book.active.row_dimensions[9].hidden = True  # of nothing, which is no loss
    book.save(path := tmp_path / "hidden.xlsx")
    with pytest.raises(DataError, match="has a hidden row, 3 of the sheet Sheet: show it"):
        read_answers(path)


def test_columns_that_share_no_label_are_found_as_by_comparing_all(tmp_path):
    rng = random.Random(0)
    for _ in range(200):
        names = [f"c{j}" for j in range(rng.randint(1, 6))]
        cells = [[rng.choice(["", "a", "b", "c", "d"]) for _ in range(2)] for _ in names]
        found = [set(column) - {""} for column in cells]
        odd = [
            name
            for j, name in enumerate(names)
            for others in [set().union(*found[:j], *found[j + 1 :])]
            if found[j] and others and not found[j] & others
        ]
        path = tmp_path / "w.csv"
        rows = [
            ["task", *names],
            *([f"t{k}", *row] for k, row in enumerate(zip(*cells, strict=True))),
        ]
        path.write_text("\n".join(map(",".join, rows)) + "\n")
        try:
            import_answers(path, "wide")
            message = ""
        except DataError as error:
            message = str(error)
        assert ("shares no label" in message) == bool(odd), (cells, message)
        assert not odd or f"'{odd[0]}' shares no label" in message


@pytest.mark.parametrize("tool", ["label-studio", "argilla", "doccano"])
def test_a_file_is_read_once_to_see_what_it_is(tool, tmp_path, monkeypatch):
    read = []
    for module in ("label_studio", "argilla", "doccano"):
        there = importlib.import_module(f"crowd_tvcs.exchange.{module}")
        monkeypatch.setattr(there, "read_text", lambda path: read.append(path) or "[")
    path = tmp_path / "ann.json"
    path.write_text("[")
    with pytest.raises(DataError):
        import_answers(path, tool)
    assert read == [path]
