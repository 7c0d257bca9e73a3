"""Files of annotation tools: out and back without loss, and refused where they were damaged."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_tvcs.answers.values import find_name_fault
from crowd_tvcs.exchange import (
    FORMATS,
    export,
    import_answers,
    read_accounts,
    read_assignment,
    read_tasks,
)
from tests.crowd import tools
from tvcs_core.files.errors import DataError

WORKERS = ["007", "NA", "ann", "=HYPERLINK(1)", "-x", 'b, "c"', "üann"]
TASKS = ["1", "007", "NA", "+cmd|' /C calc'!A0", "två", "t,1"]
PAIRS = [(w, t) for i, w in enumerate(WORKERS) for j, t in enumerate(TASKS) if (i + j) % 3]
LABELS = ["yes", "no", "-1", "NA"]


def answer(task, worker):
    return LABELS[(TASKS.index(task) + WORKERS.index(worker)) % len(LABELS)]


ROWS = tuple(sorted((task, worker, answer(task, worker)) for worker, task in PAIRS))


@pytest.fixture
def task_table(tmp_path):
    path = tmp_path / "shown.csv"
    rows = [
        {"task": t, "text": f"=SUM({j}) is it?", "image": f"{j}.png"} for j, t in enumerate(TASKS)
    ]
    tools.write(path, [*rows, {"task": "spare", "text": "nobody's", "image": ""}])
    return read_tasks(path)


def there_and_back(tool, folder, pairs, answer, tasks=None):
    """What is read of what `tool` exports after it was given `pairs`."""
    write, name, question = tools.TOOLS[tool]
    export(pairs, name, folder / "given", tasks=tasks)
    write(folder / "given", folder / "exported", answer)
    return import_answers(folder / "exported", name, question=question, classes=LABELS)


@pytest.mark.parametrize("with_table", [True, False])
@pytest.mark.parametrize("tool", tools.TOOLS)
def test_answers_come_back_as_they_were_given(tool, with_table, task_table, tmp_path):
    tasks = task_table if with_table else None
    found = there_and_back(tool, tmp_path, PAIRS, answer, tasks)
    assert found.rows == ROWS
    assert found.left_out == {}


# Names as tables can hold them: no control characters, nothing at the ends that is taken off.
LETTERS = st.characters(exclude_categories=("C", "Z"))
NAMES = st.text(LETTERS, min_size=1, max_size=6).filter(lambda name: find_name_fault(name) is None)


@pytest.mark.parametrize("tool", tools.TOOLS)
@settings(max_examples=20)
@given(
    st.sets(st.tuples(NAMES.filter(lambda name: "|" not in name), NAMES), min_size=1, max_size=6),
    st.lists(NAMES, min_size=1, max_size=3),
)
def test_any_names_and_labels_come_back(tool, pairs, labels):
    def label(task, worker):
        return labels[(len(task) + len(worker)) % len(labels)]

    write, name, question = tools.TOOLS[tool]
    with TemporaryDirectory() as folder:
        given, exported = Path(folder) / "given", Path(folder) / "exported"
        export(pairs, name, given)
        try:
            write(given, exported, label)
            found = import_answers(exported, name, question=question, classes=labels)
        except DataError as error:
            assert "say which with --accounts" in str(error)  # noqa: PT017 - Prodigy's sessions
            return
    assert found.rows == tuple(sorted((t, w, label(t, w)) for w, t in pairs))


@pytest.mark.parametrize("tool", tools.TOOLS)
def test_the_order_of_the_pairs_changes_no_byte(tool, tmp_path):
    name = tools.TOOLS[tool][1]
    export(PAIRS, name, tmp_path / "a")
    export(PAIRS[::-1], name, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("name", [name for name, one in FORMATS.items() if one.write])
def test_every_assigned_task_is_given_out_with_its_payload(name, task_table, tmp_path):
    works = export(PAIRS, name, tmp_path / "given", tasks=task_table)
    assert [work.task for work in works] == sorted(TASKS)
    assert {(w, work.task) for work in works for w in work.workers} == set(PAIRS)
    text = (tmp_path / "given").read_text(encoding="utf-8")
    assert "nobody's" not in text
    assert all(f"SUM({j})" in text for j in range(len(TASKS)))


@pytest.mark.parametrize("name", ["mturk", "prolific"])
def test_no_cell_of_a_table_can_act_as_a_formula(name, task_table, tmp_path):
    export(PAIRS, name, tmp_path / "given.csv", tasks=task_table)
    cells = [cell for row in tools.rows_of(tmp_path / "given.csv") for cell in row.values()]
    assert any("=SUM" in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "-x"))]


@pytest.mark.parametrize("tool", tools.TOOLS)
def test_an_export_that_was_cut_off_is_refused_with_its_name(tool, tmp_path):
    write, name, question = tools.TOOLS[tool]
    export(PAIRS, name, tmp_path / "given")
    write(tmp_path / "given", tmp_path / "exported", answer)
    whole = (tmp_path / "exported").read_text(encoding="utf-8")
    refused = 0
    for end in range(0, len(whole) - 1, max(1, len(whole) // 40)):
        (tmp_path / "exported").write_text(whole[:end], encoding="utf-8")
        try:
            found = import_answers(tmp_path / "exported", name, question=question, classes=LABELS)
        except DataError as error:
            refused += str(tmp_path / "exported") in str(error)
        else:  # cut between two lines, or within the last cell
            assert name in ("prodigy", "mturk", "prolific")
            assert len(set(found.rows) - set(ROWS)) <= 1
    assert refused >= 25


@pytest.mark.parametrize("tool", tools.TOOLS)
def test_a_pair_that_is_answered_twice_is_refused_with_both_places(tool, tmp_path):
    write, name, question = tools.TOOLS[tool]
    export([("ann", "1"), ("007", "1")], name, tmp_path / "given")
    write(tmp_path / "given", tmp_path / "a", answer)
    write(tmp_path / "given", tmp_path / "b", answer)
    with pytest.raises(DataError, match="answers task '1' twice") as caught:
        import_answers([tmp_path / "a", tmp_path / "b"], name, question=question)
    assert str(tmp_path / "a") in str(caught.value)
    assert str(tmp_path / "b") in str(caught.value)
    (tmp_path / "same").symlink_to(tmp_path / "a")
    with pytest.raises(DataError, match="a: is given twice; give every file once"):
        import_answers([tmp_path / "a", tmp_path / "same"], name, question=question)


@pytest.mark.parametrize("tool", tools.TOOLS)
def test_accounts_become_workers_and_unknown_ones_are_refused(tool, tmp_path):
    write, name, question = tools.TOOLS[tool]
    export([("ann", "1"), ("007", "1")], name, tmp_path / "given")
    write(tmp_path / "given", tmp_path / "x", lambda task, worker: "yes")
    names = {"ann": "Ann A.", "007": "James"}
    found = import_answers(tmp_path / "x", name, question=question, accounts=names)
    assert found.rows == (("1", "Ann A.", "yes"), ("1", "James", "yes"))
    with pytest.raises(DataError, match="account '007' is not in the table"):
        import_answers(tmp_path / "x", name, question=question, accounts={"ann": "Ann A."})


def refused(folder, name, value, what, **options):
    path = folder / "edited"
    text = value if isinstance(value, str) else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=what) as caught:
        import_answers(path, name, **options)
    assert str(path) in str(caught.value)


def task(*annotations, name="1"):
    return {"id": 1, "data": {"task": name}, "annotations": list(annotations)}


def by(who, *results, **more):
    return {"completed_by": who, "result": list(results), **more}


HEAD = "WorkerId,AssignmentStatus,Input.task,Answer.a"
EDITED = {
    "label-studio": [
        ({}, "must hold a list of records"),
        ([3], "record 1 must be an object"),
        ([{"data": {}}], "record 1, field 'annotations' is missing"),
        ([{"annotations": [by(1)]}], "record 1, field 'data' is missing"),
        ([{"data": {}, "annotations": [by(1)]}], "in 'data', field 'task' is missing; --task"),
        ([task(3)], "field 'annotations' must be a list of objects"),
        ([task(by(1, tools.choice("a")), name=1.5)], "field 'task' must be text or a whole number"),
        ([task(by(True, tools.choice("a")))], "field 'completed_by' must be text or a whole"),
        ([task(by({}, tools.choice("a")))], "field 'id' is missing"),
        ([task(by(1, tools.choice("a"), tools.choice("b")))], "must answer 'label' once, found 2"),
        ([task(by(1, tools.choice("a"), tools.choice("b", "x")))], "question: label, x; choose"),
        ([task(by(1, {"type": "choices", "value": {"choices": ["a", "b"]}}))], "hold one choice"),
        ([task(by(1, {"type": "choices", "value": {"choices": "a"}}))], "must be a list"),
        ([task(by(1, {"type": "choices"}))], "field 'value' is missing"),
        ([task(by(1, tools.choice("  ")))], "field 'choices' must be a name, found nothing"),
        ([task(by(1, tools.choice("a\0")))], "must be text, found a character 0 in 'a"),
        ([task(by(1, tools.choice("a\ud800")))], "must be text, found half of a character in 'a"),
        ([task()], "there is no answer; left out: nothing"),
        ([task(by(1, was_cancelled=True))], "there is no answer; left out: 1 skipped"),
    ],
    "argilla": [
        ([{"id": "1"}], "record 1, field 'responses' is missing"),
        ([{"id": "1", "responses": 3}], "field 'responses' must be an object"),
        ([{"id": "1", "responses": {"label": 3}}], "must be a list of objects"),
        ([{"id": "1", "responses": {"a": [], "b": []}}], "more than one question: a, b"),
        ([{"id": "1", "responses": {"a": [{"value": "x"}]}}], "field 'user_id' must be a name"),
        ([{"responses": {"a": [{"value": "x", "user_id": "u"}]}}], "has the field 'id'"),
        ([{"id": "1", "responses": {"a": [{"value": {}, "user_id": "u"}]}}], "'a' must be text"),
        ([{"id": "1", "responses": {"a": [{"value": "x", "user_id": "u", "status": "?"}]}}],
         "field 'status' must be one of submitted"),
        ([{"id": "1", "a.responses": ["x"], "a.responses.users": []}], "lists of the same length"),
        ([{"id": "1", "a.responses": 5, "a.responses.users": []}], "lists of the same length"),
    ],
    "prodigy": [
        ("[]", ":1: must be an object, found a list"),
        ('\n{"task": "1"', ":2: is not whole JSON"),
        ('{"task": "1"}', ":1: field 'answer' is missing"),
        ('{"task": "1", "answer": "yes"}', "must be one of accept, reject, ignore"),
        ('{"task": "1", "answer": "accept"}', "field 'accept' is missing"),
        ('{"task": "1", "answer": "accept", "accept": ["a", "b"]}', "must hold one choice"),
        (
            '{"task": "1", "answer": "accept", "accept": ["a"]}',
            "field '_session_id' must be a name",
        ),
        ('{"answer": "accept", "accept": ["a"], "_session_id": "s"}', "field 'task' is missing"),
    ],
    "mturk": [
        ("", "the file is empty"),
        (
            "WorkerId,AssignmentStatus,Answer.a\nw,Approved,x\n",
            "must have the column 'Input.task'; --task-field names another; found WorkerId",
        ),
        ("WorkerId,WorkerId\nw,w\n", "every column once"),
        (f"{HEAD},Answer.b\nw,Approved,1,x,y\n", "--question; found Answer.a, Answer.b"),
        (f"{HEAD}\nw,approved,1,x\n", ":2: field 'AssignmentStatus' must be one of Sub"),
        (f"{HEAD}\nw,Approved,1\n", ":2: must have 4 cells"),
        (f"{HEAD}\nw,Rejected,1,x\n", "no answer; left out: 1 rejected"),
    ],
    "prolific": [
        ("task,label\n1,x\n", "one column of the participant"),
        ("PROLIFIC_PID,task,label\nw,,x\n", ":2: field 'task' must be a name"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "value", "what"), [(tool, *one) for tool, some in EDITED.items() for one in some]
)
def test_an_edited_export_is_refused_with_its_place(tool, value, what, tmp_path):
    refused(tmp_path, tool, value, what)


def read(folder, name, value, **options):
    text = value if isinstance(value, str) else json.dumps(value)
    (folder / "x").write_text(text, encoding="utf-8")
    return import_answers(folder / "x", name, **options)


def test_what_is_no_answer_is_counted(tmp_path):
    good = by("w", tools.choice("a"))
    found = read(
        tmp_path, "label-studio", [task(good, by("v", was_cancelled=True), by("u")), task(name="2")]
    )
    assert found.left_out == {"empty": 1, "skipped": 1}
    responses = [
        {"user_id": f"u{k}", "value": value, "status": status}
        for k, (value, status) in enumerate(
            [("a", "submitted"), ("a", "draft"), ("a", "discarded"), (None, "submitted")]
        )
    ]
    found = read(tmp_path, "argilla", [{"id": "1", "responses": {"q": responses}}])
    assert found.left_out == {"discarded": 1, "draft": 1, "empty": 1}
    lines = [
        {"task": "1", "_session_id": f"s{k}", "answer": given, "accept": accept}
        for k, (given, accept) in enumerate(
            [("accept", ["a"]), ("reject", ["a"]), ("ignore", []), ("accept", [])]
        )
    ]
    found = read(tmp_path, "prodigy", "\n".join(map(json.dumps, lines)))
    assert found.left_out == {"empty": 1, "ignored": 1, "rejected": 1}
    rows = ["w,Approved,1,x,", "v,Submitted,1,,", "u,Approved,1,x,late", "t,Rejected,1,x,"]
    found = read(tmp_path, "mturk", "\n".join([f"{HEAD},Reject", *rows]))
    assert found.left_out == {"empty": 1, "rejected": 2}
    rows = ["w,1,x,approved", "v,1,x,TIMED-OUT", "u,1,x,RETURNED", "t,1,,APPROVED"]
    found = read(tmp_path, "prolific", "\n".join(["participant_id,task,label,Status", *rows]))
    assert found.left_out == {"empty": 1, "returned": 1, "timed out": 1}
    assert found.rows == (("1", "w", "x"),)


def test_one_of_several_questions_can_be_chosen(tmp_path):
    both = by(4, tools.choice("a", "first"), tools.choice("b", "second"))
    assert read(tmp_path, "label-studio", [task(both)], question="second").rows == (
        ("1", "4", "b"),
    )
    responses = {q: [{"user_id": "u", "value": q}] for q in ("first", "second")}
    records = [{"id": 1, "responses": responses}]
    assert read(tmp_path, "argilla", records, question="first").rows == (("1", "u", "first"),)
    text = f"{HEAD},Answer.b.label\nw,Approved,1,x,y\n"
    assert read(tmp_path, "mturk", text, question="b").rows == (("1", "w", "y"),)
    with pytest.raises(DataError, match="no answer to the question 'frist'"):
        read(tmp_path, "argilla", records, question="frist")


def test_other_fields_may_hold_the_task(tmp_path):
    record = {"data": {"name": 7}, "annotations": [by(4, tools.choice("a"))]}
    assert read(tmp_path, "label-studio", [record], task_field="name").rows == (("7", "4", "a"),)
    record = {"id": "x", "metadata": {"n": "7"}, "responses": {"q": [{"user_id": "4", "value": 2}]}}
    assert read(tmp_path, "argilla", [record], task_field="n").rows == (("7", "4", "2"),)
    line = {"meta": {"n": "7"}, "answer": "accept", "accept": ["a"], "_annotator_id": "4"}
    assert read(tmp_path, "prodigy", json.dumps(line), task_field="n").rows == (("7", "4", "a"),)


def test_an_account_of_prodigy_that_may_be_two_workers_needs_a_table(tmp_path):
    line = {"task": "1", "answer": "accept", "accept": ["x"], "_session_id": "d-a-b"}
    text = json.dumps({**line, "assigned": ["b", "a-b"]})
    refused(tmp_path, "prodigy", text, "may be b or a-b; say which with --accounts")
    found = read(tmp_path, "prodigy", text, accounts={"d-a-b": "a-b"})
    assert found.rows == (("1", "a-b", "x"),)


def test_a_label_that_is_accepted_or_rejected_gives_two_classes(tmp_path):
    lines = [
        {"task": "1", "label": "spam", "answer": given, "_session_id": who}
        for who, given in (("a", "accept"), ("b", "reject"), ("c", "ignore"))
    ]
    found = read(tmp_path, "prodigy", "\n".join(map(json.dumps, lines)))
    assert found.rows == (("1", "a", "spam"), ("1", "b", "not spam"))
    assert found.left_out == {"ignored": 1}


@pytest.mark.parametrize(
    ("cell", "label"),
    [([{"a": {"label": "x"}}], "x"), ([{"a": {"x": True, "y": False}}], "x"), ([{"a": "x"}], "x")],
)
def test_the_json_of_form_elements_is_read(cell, label, tmp_path):
    row = {"WorkerId": "w", "AssignmentStatus": "Approved", "Input.task": "1"}
    tools.write(tmp_path / "r.csv", [{**row, "Answer.taskAnswers": json.dumps(cell)}])
    assert import_answers(tmp_path / "r.csv", "mturk").rows == (("1", "w", label),)
    assert import_answers(tmp_path / "r.csv", "mturk", question="a").rows == (("1", "w", label),)


@pytest.mark.parametrize(
    ("cell", "what"),
    [
        ("[{", "is not whole JSON"),
        ("[]", "must be a list of one object"),
        ('[{"a": 1, "b": 2}]', "more than one answer, or none: a, b"),
        ('[{"a": {"x": true, "y": true}}]', "must hold one choice, found x, y"),
    ],
)
def test_damaged_json_of_form_elements_is_refused(cell, what, tmp_path):
    row = {"WorkerId": "w", "AssignmentStatus": "Approved", "Input.task": "1"}
    tools.write(tmp_path / "r.csv", [{**row, "Answer.taskAnswers": cell}])
    with pytest.raises(DataError, match=what):
        import_answers(tmp_path / "r.csv", "mturk")


def test_a_bar_in_a_workers_name_is_refused_where_the_filter_needs_it(tmp_path):
    with pytest.raises(DataError, match=r"no '\|' in it here"):
        export([("a|b", "1")], "label-studio", tmp_path / "x")


@pytest.mark.parametrize(
    ("read", "text", "what"),
    [
        (read_assignment, "worker,task\n", "must have a row below the header"),
        (read_assignment, "worker,task\na,1\nb,2\na,1\n",
         ":4, column 'task': 'a' has '1' already, in line 2"),
        (read_tasks, "task,assigned\n1,x\n", "a reserved name"),
        (read_tasks, "task,a,a\n1,x,y\n", "twice"),
        (read_tasks, "task,a\n1\n", "must have 2 cells"),
        (read_accounts, "account\na\n", "must have one column 'worker'"),
        (read_accounts, "account,worker\na,\n", "must be a name"),
        (read_accounts, "account,worker\na,b\na,c\n",
         ":3, column 'account': 'a' is there already, in line 2"),
    ],
)  # fmt: skip
def test_a_damaged_table_is_refused(read, text, what, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(DataError, match=what):
        read(tmp_path / "x.csv")


def test_a_folder_must_hold_an_assignment(tmp_path):
    with pytest.raises(DataError, match=r"must hold assignment\.csv"):
        read_assignment(tmp_path)


def test_a_table_of_tasks_must_have_all_that_are_assigned(task_table, tmp_path):
    with pytest.raises(DataError, match="without: 'unknown'"):
        export([("a", "unknown")], "argilla", tmp_path / "x", tasks=task_table)
    with pytest.raises(ValueError, match="must be a pair"):
        export([], "mturk", tmp_path / "x")


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match="format must be one of label-studio, argilla"):
        export(PAIRS, "cvat", tmp_path / "x")
    with pytest.raises(ValueError, match="found 'cvat'"):
        import_answers(tmp_path / "x", "cvat")
