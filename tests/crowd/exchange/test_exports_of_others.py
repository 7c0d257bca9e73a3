"""Exports as people have them, of another kind: the remedy of each refusal works when tried."""

import json

import pytest

from crowd_tvcs.exchange import export, import_answers
from tests.crowd import tools
from tests.makers.commands import crowd_tvcs, run_done
from tvcs_core.files.errors import DataError

HEAD = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.task,Answer.label\n"


def studio(*given):
    annotations = [{"completed_by": who, "result": [tools.choice(k)]} for who, k in given]
    return json.dumps([{"id": 1, "data": {"task": "t1"}, "annotations": annotations}])


def lines(*rows):
    return "\n".join(map(json.dumps, rows))


def prodigy(who, label):
    return {"task": "t1", "answer": "accept", "accept": [label], "_session_id": who}


CVAT = (
    '<?xml version="1.0"?><annotations><version>1.1</version><image id="0" name="a.jpg">'
    '<tag label="day"/></image></annotations>'
)
ARGILLA_CSV = (
    "id,status,text,label.responses,label.responses.users\n"
    "t1,completed,x,\"[['cat'] ['dog']]\",\"['u1' 'u2']\"\n"
)
DOCCANO = {"id": 1, "text": "x", "label": ["pos"], "Comments": []}
QUALTRICS = (
    "StartDate,EndDate,Status,Duration (in seconds),Finished,PROLIFIC_PID,task,label\n"
    "Start Date,End Date,Response Type,Duration (in seconds),Finished,PROLIFIC_PID,Which?,What?\n"
    + ",".join(['"{""ImportId"":""x""}"'] * 8)
    + "\n"
)
RESPONSE = "2024-05-01 10:00:00,2024-05-01 10:01:00,{},60,{},{},t1,cat\n"
# Tool, what people give, what the refusal names, and the same after doing that, with options.
REFUSED = {
    "nobody": (
        "label-studio", studio((None, "cat"), ("ann", "dog")),
        "annotation 1, field 'completed_by' must be a name, found nothing; leave_out_missing",
        studio((None, "cat"), ("ann", "dog")), {"leave_out_missing": True},
    ),
    "csv of label studio": (
        "label-studio", "text,id,label,annotator,annotation_id\nx,1,cat,ann,5\n",
        "is a JSON-MIN or CSV export: name the field of the label with --question",
        "text,id,label,annotator,annotation_id\nx,1,cat,ann,5\n",
        {"question": "label", "task_field": "text"},
    ),
    "csv of argilla": (
        "argilla", ARGILLA_CSV, r":2: field 'label.responses' must be a list of single .*to_json",
        ARGILLA_CSV.replace("[['cat'] ['dog']]", "['cat' '']"), {},
    ),
    "several labels in argilla": (
        "argilla",
        json.dumps([{"id": "t1", "responses": {"q": [{"value": ["a", "b"], "user_id": "u"}]}}]),
        "record 1, response 1, field 'q' must hold one choice, found .*leave such answers out",
        json.dumps([{"id": "t1", "responses": {"q": [{"value": ["a"], "user_id": "u"}]}}]), {},
    ),
    "doccano as prodigy": (
        "prodigy", lines(DOCCANO), "'answer' is missing: a line of doccano; export one file per us",
        lines(prodigy("d-ann", "cat")), {},
    ),
    "pictures of cvat": (
        "label-studio", CVAT, "must be JSON, found XML, as CVAT writes it: .* table of task, w",
        studio(("ann", "cat")), {},
    ),
    "shapes of labelme": (
        "label-studio", json.dumps({"version": "5.0", "shapes": [], "imagePath": "a.png"}),
        "it is of LabelMe, whose shapes are not read here; write a table of task, worker, label",
        studio(("ann", "cat")), {},
    ),
    "a table as prodigy": (
        "prodigy", "task,label\nt1,cat\n", "must be JSON, found a table .* prodigy db-out writes",
        lines(prodigy("d-ann", "cat")), {},
    ),
    "lines as a list": (
        "label-studio", lines({"id": 1}, {"id": 2}), "must be one list, found JSON Lines",
        studio(("ann", "cat")), {},
    ),
    "json as a table": (
        "mturk", studio(("ann", "cat")), "found JSON; check --format, or give the table that",
        HEAD + "H,A,W,Approved,t1,cat\n", {},
    ),
    "several selections of mturk": (
        "mturk", HEAD + "H,A,W,Approved,t1,cat|dog\n", "like several selections .'cat', 'dog'",
        HEAD + "H,A,W,Approved,t1,cat|dog\n", {"classes": ["cat|dog", "cat"]},
    ),
    "nobody in mturk": (
        "mturk", HEAD + "H,A,,Approved,t1,cat\nH,B,W,Approved,t1,cat\n",
        ":2: field 'WorkerId' must be a name, found nothing; leave_out_missing",
        HEAD + "H,A,,Approved,t1,cat\nH,B,W,Approved,t1,cat\n", {"leave_out_missing": True},
    ),
    "a rounded name in mturk": (
        "mturk", HEAD + "H,A,W,Approved,1.23457E+17,cat\n", "which is a number .*as text",
        HEAD + "H,A,W,Approved,123456789012345678,cat\n", {},
    ),
    "a word for nothing in a survey": (
        "prolific", "PROLIFIC_PID,task,label\np,t1,nan\nq,t1,cat\n",
        ":2: field 'label' must be one label, found 'nan', .*leave_out_missing",
        "PROLIFIC_PID,task,label\np,t1,nan\nq,t1,cat\n", {"leave_out_missing": True},
    ),
    "a status of nobody": (
        "prolific", "PROLIFIC_PID,task,label,Status\np,t1,cat,LOST\n", "'LOST'; delete the column",
        "PROLIFIC_PID,task,label\np,t1,cat\n", {},
    ),
    "no task in a survey": (
        "prolific", "PROLIFIC_PID,question,label\np,t1,cat\n", "--task-field names another",
        "PROLIFIC_PID,question,label\np,t1,cat\n", {"task_field": "question"},
    ),
    "a label that is none of the classes": (
        "prolific", "PROLIFIC_PID,task,label\np,t1,cat\n", None,
        "PROLIFIC_PID,task,label\np,t1,cat\n", {"classes": ["cat", "dog"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_every_refusal_names_what_to_do_and_that_works(name, tmp_path):
    tool, before, message, after, options = REFUSED[name]
    path = tmp_path / "x"
    path.write_text(before, encoding="utf-8")
    if message is None:
        message, asked = (
            "must be one of the classes 'dog', found 'cat'; classes names",
            {"classes": ["dog"]},
        )
    else:
        asked = {}
    with pytest.raises(DataError, match=message):
        import_answers(path, tool, **asked)
    path.write_text(after, encoding="utf-8")
    found = import_answers(path, tool, **options)
    assert len(found.rows) == 1
    if options.get("leave_out_missing"):
        assert list(found.left_out.values()) == [1]
        assert next(iter(found.left_out)).startswith("without a ")


def test_a_file_per_user_of_doccano_is_read(tmp_path):
    (tmp_path / "ann.jsonl").write_text(lines(DOCCANO, {**DOCCANO, "id": 2, "label": []}))
    (tmp_path / "bob.jsonl").write_text(lines({**DOCCANO, "label": ["neg"]}, {**DOCCANO, "id": 2}))
    files = [tmp_path / "ann.jsonl", tmp_path / "bob.jsonl"]
    found = import_answers(files, "doccano")
    assert found.rows == (("1", "ann", "pos"), ("1", "bob", "neg"), ("2", "bob", "pos"))
    assert found.left_out == {"empty": 1}
    assert import_answers(files[1], "doccano", task_field="text", duplicates="last").rows == (
        ("x", "bob", "pos"),
    )


@pytest.mark.parametrize(
    ("name", "line", "what"),
    [
        ("all.jsonl", DOCCANO, "has answers of all users without their names; export one file"),
        ("doccano_all.jsonl", DOCCANO, "turn 'Share annotations across all users' off"),
        ("ann.jsonl", {**DOCCANO, "label": ["a", "b"]}, r":1: field 'label' must hold one choice"),
        ("ann.jsonl", {**DOCCANO, "label": [[0, 3, "LOC"]]}, "one label, found spans of a text"),
        ("ann.jsonl", {"id": 1, "text": "x"}, "'label' is missing: no JSONL or CSV of doccano"),
    ],
)
def test_what_of_doccano_is_no_answer_of_one_user_is_refused(name, line, what, tmp_path):
    (tmp_path / name).write_text(lines(line))
    with pytest.raises(DataError, match=what):
        import_answers(tmp_path / name, "doccano")


def test_tasks_for_doccano_keep_their_names_and_workers(tmp_path):
    export([("ann", "t1"), ("bob", "t1")], "doccano", tmp_path / "tasks.jsonl")
    given = json.loads((tmp_path / "tasks.jsonl").read_text())
    assert given == {"text": "t1", "task": "t1", "assigned": "|ann|bob|"}
    (tmp_path / "ann.jsonl").write_text(lines({"id": 7, **given, "label": ["yes"]}))
    assert import_answers(tmp_path / "ann.jsonl", "doccano").rows == (("t1", "ann", "yes"),)


def test_the_headers_and_the_status_of_qualtrics_are_known(tmp_path):
    responses = [("IP Address", "True", "5a01"), ("Survey Preview", "True", "5a03"),
                 ("IP Address", "False", "5a04"), ("Spam", "True", "5a05"), ("0", "1", "5a02"),
                 ("Survey Test", "True", "5a06")]  # fmt: skip
    text = QUALTRICS + "".join(RESPONSE.format(*one) for one in responses)
    (tmp_path / "x.csv").write_text(text)
    found = import_answers(tmp_path / "x.csv", "prolific", times=True)
    assert found.rows == (("t1", "5a01", "cat"), ("t1", "5a02", "cat"))
    assert found.left_out == {"not finished": 1, "previews": 1, "spam": 1, "tests": 1}
    assert [timing.seconds for timing in found.times] == [60, 60]
    (tmp_path / "x.csv").write_text(text.replace("Survey Preview", "LOST"))
    with pytest.raises(DataError, match=r"x\.csv:5: field 'Status' must be a status of Qualtrics"):
        import_answers(tmp_path / "x.csv", "prolific")


def test_an_assignment_of_two_workers_and_those_not_approved_are_pointed_out(tmp_path):
    rows = "H,AX,W1,Submitted,t1,cat\nH,AX,W2,Approved,t1,dog\nH,A3,W3,Rejected,t1,dog\n"
    (tmp_path / "m.csv").write_text(HEAD + rows + "H,A4,W1,Approved,t2,cat\n")
    done = run_done("import", tmp_path / "m.csv", "--format", "mturk", "--out", tmp_path / "o")
    assert "the AssignmentId 'AX' occurs with 2 workers ('W1', 'W2')" in done.stderr
    assert "1 answer is Submitted but not approved yet, and included" in done.stderr
    assert "left out: 1 rejected" in done.stderr
    mended = rows.replace("AX,W2", "AY,W2").replace("Submitted", "Approved")
    (tmp_path / "m.csv").write_text(HEAD + mended)
    found = import_answers(tmp_path / "m.csv", "mturk")
    assert found.notes == ()


def test_names_of_an_export_that_look_alike_are_pointed_out(tmp_path):
    rows = [prodigy("Ann", "cat"), {**prodigy("ann", "cat"), "task": "t2"}, prodigy("bob", "Cat")]
    (tmp_path / "x.jsonl").write_text(lines(*rows))
    words = ("import", tmp_path / "x.jsonl", "--format", "prodigy", "--out", tmp_path / "o")
    done = crowd_tvcs(*words)
    assert "the workers 'Ann' (1) and 'ann' (1) count as 2" in done.stderr
    assert "the labels 'Cat' (1) and 'cat' (2), which count as two classes" in done.stderr
    (tmp_path / "accounts.csv").write_text("account,worker\nAnn,ann\nann,ann\nbob,bob\n")
    done = run_done(
        *words, "--accounts", tmp_path / "accounts.csv", "--force", "--classes", "cat,Cat"
    )
    assert "count as" not in done.stderr


def test_no_remedy_throws_answers_to_other_tasks_away(tmp_path):
    """Where a spreadsheet cut the digits of the tasks, different ones look like one."""
    rows = [f"H,A{k},W,Approved,12940304724278{k // 2}0000,cat\n" for k in range(4)]
    (tmp_path / "m.csv").write_text(HEAD + "".join(rows))
    with pytest.raises(
        DataError, match=r"twice.*different ones share it; take the table"
    ) as caught:
        import_answers(tmp_path / "m.csv", "mturk")
    assert "--duplicates" not in str(caught.value)
    whole = [row.replace("0000,", f"123{k},") for k, row in enumerate(rows)]
    (tmp_path / "m.csv").write_text(HEAD + "".join(whole))
    assert len(import_answers(tmp_path / "m.csv", "mturk").rows) == 4


def test_an_archive_is_to_be_unpacked(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "x.jsonl", "w") as archive:
        archive.writestr("ann.jsonl", lines(DOCCANO))
    with pytest.raises(DataError, match=r"it is a \.zip archive: unpack it"):
        import_answers(tmp_path / "x.jsonl", "doccano")
