"""What tools export beside one answer of each pair: repeats, other kinds of answers, times."""

import json
import math

import numpy as np
import pytest

from crowd_tvcs.answers.answers import read_answers
from crowd_tvcs.answers.times import parse_time
from crowd_tvcs.exchange import import_answers
from tests.crowd import tools
from tests.makers.commands import run_done, run_refused
from tests.makers.tables import rows_of
from tvcs_core.files.errors import DataError

NOON = parse_time("2026-03-01T12:00:00Z")


def studio(folder, *annotations):
    path = folder / "x.json"
    given = [{"completed_by": k, **one} for k, one in enumerate(annotations)]
    path.write_text(json.dumps([{"id": 1, "data": {"task": "t1"}, "annotations": given}]))
    return path


RESULTS = {  # as Label Studio exports them: https://labelstud.io/guide/task_format
    "a rating": {"type": "rating", "from_name": "q", "value": {"rating": 4}},
    "a pairwise comparison": {"type": "pairwise", "from_name": "q", "value": {"selected": "left"}},
    "a span or region": {
        "type": "labels", "from_name": "q", "value": {"start": 0, "end": 2, "labels": ["PER"]}
    },
    "a text": {"type": "textarea", "from_name": "q", "value": {"text": ["so"]}},
    "of type 'video'": {"type": "video", "from_name": "q", "value": {}},
}  # fmt: skip


@pytest.mark.parametrize("kind", RESULTS)
def test_what_is_no_choice_is_refused_by_name_and_not_counted_as_empty(kind, tmp_path):
    path = studio(tmp_path, {"result": [tools.choice("a")]}, {"result": [RESULTS[kind]]})
    what = f"annotation 2, field 'result' must hold one choice, found {kind} of the tag 'q'"
    for question in (None, "q"):
        with pytest.raises(DataError, match=what):
            import_answers(path, "label-studio", question=question)
    found = import_answers(path, "label-studio", question="label")
    assert (len(found.rows), found.left_out) == (1, {"empty": 1})
    path = studio(tmp_path, {"result": [tools.choice("a"), RESULTS[kind]]})
    assert import_answers(path, "label-studio").rows == (("t1", "0", "a"),)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([{"rating": 4}], "a rating"),
        ([{"selected": "left"}], "a pairwise comparison"),
        ([{"start": 0, "end": 2, "text": "ab", "labels": ["PER"]}], "a span or region"),
        ([{"x": 1, "rectanglelabels": ["car"]}], "a span or region"),
        ([{"choices": ["a", "b"]}], "several choices"),
    ],
)
def test_the_same_holds_for_json_min(value, kind, tmp_path):
    (tmp_path / "x.json").write_text(
        json.dumps([{"task": "t1", "q": value, "annotator": 1, "annotation_id": 5}])
    )
    with pytest.raises(DataError, match=f"field 'q' must hold one choice, found {kind}"):
        import_answers(tmp_path / "x.json", "label-studio", question="q")


def test_several_choices_are_named(tmp_path):
    both = {"type": "choices", "from_name": "q", "value": {"choices": ["a", "b"]}}
    with pytest.raises(DataError, match=r"found .*questions with several answers are not read"):
        import_answers(studio(tmp_path, {"result": [both]}), "label-studio")


def repeated(folder, stamps=("", "", "")):
    """Three answers of a worker to one task, no, yes, yes, and one of another."""
    path = folder / "m.csv"
    rows = [
        {"WorkerId": who, "AssignmentStatus": "Approved", "Input.task": "t1", "Answer.label": label,
         "AcceptTime": "", "SubmitTime": stamp, "WorkTimeInSeconds": seconds}
        for who, label, stamp, seconds in [
            *zip("aaa", ("no", "yes", "yes"), stamps, "123", strict=True), ("b", "no", "", "9")
        ]
    ]  # fmt: skip
    tools.write(path, rows)
    return path


@pytest.mark.parametrize(("duplicates", "seconds"), [("first", 1), ("last", 3), ("majority", 2)])
def test_one_answer_of_a_pair_is_kept_with_its_time(duplicates, seconds, tmp_path):
    path = repeated(tmp_path)
    what = (
        "m.csv:3: worker 'a' answers task 't1' twice: 'no' in .*m.csv:2, and 'yes' in .*m.csv:3; "
        r"it is the only such pair; duplicates first, last or majority"
    )
    with pytest.raises(DataError, match=what):
        import_answers(path, "mturk")
    found = import_answers(path, "mturk", duplicates=duplicates, times=True)
    assert found.rows == (("t1", "a", "no" if duplicates == "first" else "yes"), ("t1", "b", "no"))
    assert [timing.seconds for timing in found.times] == [seconds, 9]
    assert found.kept == (
        f"1 pair answered more than once, 3 answers: kept the {duplicates} of each ('a' on 't1')"
    )
    with pytest.raises(
        ValueError, match="duplicates must be first, last or majority, found 'none'"
    ):
        import_answers(path, "mturk", duplicates="none")


def test_first_and_last_are_in_time_where_it_is_known(tmp_path):
    path = repeated(tmp_path, [f"2026-03-01T12:00:0{k}Z" for k in (5, 9, 1)])
    for duplicates, seconds in (("first", 3), ("last", 2)):
        found = import_answers(path, "mturk", duplicates=duplicates, times=True)
        assert found.times[0].seconds == seconds
        assert import_answers(path, "mturk", duplicates=duplicates).times == ()


def test_the_command_keeps_one_and_says_so(tmp_path):
    words = ("import", repeated(tmp_path), "--format", "mturk", "--out", tmp_path / "o")
    assert "--duplicates first, last or majority" in run_refused(*words)
    done = run_done(*words, "--duplicates", "last")
    assert "1 pair answered more than once, 3 answers: kept the last of each" in done.stderr
    assert "--times keeps them" in done.stderr
    assert (tmp_path / "o" / "answers.csv").read_text() == "task,worker,label\nt1,a,yes\nt1,b,no\n"
    assert (
        json.loads((tmp_path / "o" / "run.json").read_text())["parameters"]["duplicates"] == "last"
    )


def write(folder, name, text):
    (folder / name).write_text(text if isinstance(text, str) else json.dumps(text))
    return folder / name


STAMP = "2026-03-01T12:00:00.250000Z"
MTURK = {"WorkerId": "a", "AssignmentStatus": "Approved", "Input.task": "t1", "Answer.label": "x"}
EXPORTS = {  # what each tool says of one answer given at noon; format, content, seconds
    "label-studio": (
        [{"data": {"task": "t1"}, "annotations": [
            {"completed_by": 1, "created_at": STAMP, "updated_at": "2026-03-02T12:00:00Z",
             "lead_time": 4.288, "result": [tools.choice("x")]}]}], 4.288, {}),
    "label-studio min": (
        [{"task": "t1", "label": "x", "annotator": 1, "annotation_id": 3, "created_at": STAMP,
          "lead_time": 4.288}], 4.288, {"question": "label"}),
    "argilla": (
        [{"id": "t1", "responses": {"label": [
            {"value": "x", "user_id": "u", "inserted_at": "2026-03-01T12:00:00.250000"}]}}],
        math.nan, {}),
    "argilla 1": (
        [{"id": "t1", "responses": [
            {"user_id": "u", "status": "submitted", "values": {"label": {"value": "x"}},
             "inserted_at": None, "updated_at": "2026-03-01T12:00:00.250000"}]}],
        math.nan, {}),
    "prodigy": (
        '{"task": "t1", "answer": "accept", "accept": ["x"], "_annotator_id": "a", '
        f'"_timestamp": {int(NOON)}}}\n', math.nan, {}),
    "mturk": (
        "WorkerId,AssignmentStatus,Input.task,Answer.label,AcceptTime,SubmitTime,WorkTimeInSeconds\n"
        "a,Approved,t1,x,Sun Mar 01 03:59:50 PST 2026,Sun Mar 01 04:00:00 PST 2026,9\n", 9, {}),
    "mturk accepted": (
        "WorkerId,AssignmentStatus,Input.task,Answer.label,AcceptTime,SubmitTime\n"
        "a,Approved,t1,x,Sun Mar 01 03:59:50 PST 2026,Sun Mar 01 04:00:00 PST 2026\n", 10, {}),
    "prolific": (
        "Submission id,Participant id,Status,Started at,Completed at,Time taken,task,label\n"
        "s,a,APPROVED,2026-03-01T11:59:00Z,2026-03-01T12:00:00Z,60,t1,x\n"
        "s,a,APPROVED,2026-03-01T11:59:00Z,2026-03-01T12:00:00Z,60,t2,y\n", 30, {}),
    "prolific api": (
        "participant_id,started_at,completed_at,task,label\n"
        "a,2026-03-01T11:59:00Z,2026-03-01T12:00:00Z,t1,x\n", 60, {}),
    "prolific survey": (
        "participant_id,Time taken,Completed at,task,label,seconds,answered_at\n"
        f"a,600,2026-03-01T12:10:00Z,t1,x,8,{STAMP}\n", 8, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPORTS)
def test_the_times_of_every_tool_are_read_and_written(name, tmp_path):
    content, seconds, options = EXPORTS[name]
    path = write(tmp_path, "x", content)
    tool = name.split()[0]
    found = import_answers(path, tool, times=True, **options)
    assert found.has_times
    assert found.times[0].when == pytest.approx(NOON, abs=0.5)
    assert np.array_equal(found.times[0].seconds, seconds, equal_nan=True)
    assert import_answers(path, tool, **options).times == ()
    words = ("import", path, "--format", tool, "--out", tmp_path / "o", "--times")
    run_done(*words, *(("--question", options["question"]) if options else ()))
    rows = rows_of(tmp_path / "o" / "answers.csv")
    assert list(rows[0]) == ["task", "worker", "label", "answered_at", "seconds"]
    (tmp_path / "o" / "answers.csv").write_text(
        (tmp_path / "o" / "answers.csv").read_text() + "t9,zoe,other,,\n"
    )
    answers = read_answers(tmp_path / "o" / "answers.csv", times=True)
    assert answers.when[0] == found.times[0].when
    assert np.array_equal(answers.seconds[0], found.times[0].seconds, equal_nan=True)


@pytest.mark.parametrize(
    ("name", "before", "after", "what"),
    [
        ("mturk", "04:00:00", "03:00:00", "x:2: field 'SubmitTime' must be after the start"),
        ("mturk accepted", "04:00:00", "03:59:50", "x:2: field 'SubmitTime' .* found 0"),
        ("mturk", ",9\n", ",0\n", "x:2: field 'WorkTimeInSeconds' a duration must be above 0"),
        ("prolific", "60,t2", "-60,t2", "x:3: field 'Time taken' a duration must be above 0"),
        ("prolific", "12:00:00Z,60,t2", "11:00:00Z,60,t2", "x:3: field 'Completed at' must be"),
        ("prodigy", '"_timestamp": 1', '"_timestamp": 9', "x:1: field '_timestamp' .* future"),
        ("label-studio", "2026-03-01", "2999-03-01", "annotation 1, field 'created_at' .* future"),
        ("label-studio", "4.288", "0", "annotation 1, field 'lead_time' a duration must be above"),
        ("argilla", "2026-03-01T", "morning ", "response 1, field 'inserted_at' must be a time"),
    ],
)
def test_times_that_cannot_be_are_refused_with_place_and_field(name, before, after, what, tmp_path):
    content, _, options = EXPORTS[name]
    text = content if isinstance(content, str) else json.dumps(content)
    assert before in text
    path = write(tmp_path, "x", text.replace(before, after))
    with pytest.raises(DataError, match=what):
        import_answers(path, name.split()[0], times=True, **options)
    assert import_answers(path, name.split()[0], **options).rows  # nobody asked for the times
