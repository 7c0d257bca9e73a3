"""Responses of Toloka: status, verdict, control tasks as gold, and what a file lacks."""

import pytest

from crowd_tvcs.exchange import import_answers
from tests.makers.commands import crowd_tvcs, run_done
from tests.makers.tables import rows_of
from tvcs_core.files.errors import DataError

ROWS = (("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t2", "ann", "dog"))
TOLOKA = (
    "INPUT:image\tINPUT:size\tOUTPUT:result\tOUTPUT:sure\tGOLDEN:result\tHINT:text\t"
    "ASSIGNMENT:link\tASSIGNMENT:assignment_id\tASSIGNMENT:worker_id\tASSIGNMENT:status\t"
    "ASSIGNMENT:started\tASSIGNMENT:submitted\n"
)
NAMED = {"question": "result", "task_field": "image"}


def toloka(path, *rows):
    """A file of responses, of rows (task, label, golden, suite, worker, status)."""
    times = "2024-05-01T10:00:00.123\t2024-05-01T10:00:06.123\n"
    lines = (
        f"{task}\t9\t{label}\tyes\t{golden}\t\tlink\t{suite}\t{who}\t{status}\t{times}"
        for task, label, golden, suite, who, status in rows
    )
    path.write_text(TOLOKA + "".join(lines), encoding="utf-8")
    return path


def test_responses_of_toloka_are_read_by_their_status_with_control_tasks_as_gold(tmp_path):
    path = toloka(
        tmp_path / "pool.tsv",
        ("t1", "cat", "cat", "s1", "ann", "APPROVED"),
        ("t2", "dog", "", "s1", "ann", "APPROVED"),
        ("t1", "dog", "cat", "s2", "bob", "SUBMITTED"),
        ("t2", "", "", "s2", "bob", "SUBMITTED"),
        ("t1", "dog", "cat", "s3", "eve", "REJECTED"),
        ("t2", "", "", "s4", "eve", "SKIPPED"),
        ("t3", "", "cat", "s5", "eve", "EXPIRED"),
    )
    found = import_answers(path, "toloka", **NAMED, times=True)
    assert found.rows == ROWS
    assert found.left_out == {"empty": 1, "expired": 1, "rejected": 1, "skipped": 1}
    assert [one.seconds for one in found.times] == [3.0, 3.0, 3.0]  # 6 of a page of two tasks
    assert [note.split(";")[0] for note in found.notes] == [
        "note: 1 answer is SUBMITTED but not accepted yet, and included",
        "note: 4 rows are of control tasks",
    ]
    words = ("--question", "result", "--task-field", "INPUT:image", "--ground-truth")
    run_done("import", path, "--format", "toloka", *words, "--out", tmp_path / "o")
    gold = tmp_path / "o" / "gold.csv"
    assert rows_of(gold) == [{"task": task, "label": "cat"} for task in ("t1", "t3")]
    answers = tmp_path / "o" / "answers.csv"
    assert [tuple(row.values()) for row in rows_of(answers)] == list(ROWS)
    done = crowd_tvcs("quality", answers, "--gold", gold, "--out", tmp_path / "quality")
    assert "2 gold answers of 2 of 2 workers, 1 right" in done.stderr


def test_a_verdict_of_toloka_rejects_and_columns_may_be_few(tmp_path):
    """toloka-kit and the pages of a pool let their user choose the columns."""
    (tmp_path / "x.tsv").write_text(
        "INPUT:image\tOUTPUT:result\tASSIGNMENT:worker_id\tACCEPT:verdict\n"
        "t1\tcat\tann\t+\nt1\tdog\tbob\t\nt2\tdog\tann\t+\nt2\tdog\tbob\t-\n"
    )
    found = import_answers(tmp_path / "x.tsv", "toloka")
    assert (found.rows, found.left_out, found.notes) == (ROWS, {"rejected": 1}, ())


@pytest.mark.parametrize(
    ("given", "options", "what"),
    [
        (
            ("t1", "cat", "", "s", "ann", "OK"),
            NAMED,
            r"tsv:2: field 'ASSIGNMENT:status' must be on",
        ),
        (("t1", "cat", "", "s", "ann", "APPROVED"), {}, "INPUT:NAME; choose with --task-field; fo"),
        (
            ("t1", "cat", "", "s", "ann", "APPROVED"),
            {"task_field": "size"},
            "with --question; foun",
        ),
        (
            ("t1", "cat", "", "s", "ann", "APPROVED"),
            {"task_field": "x"},
            "column 'INPUT:x'; --task",
        ),
        (
            ("t1", "cat", "", "s", "", "APPROVED"),
            NAMED,
            "field 'ASSIGNMENT:worker_id' must be a na",
        ),
    ],
)
def test_what_a_file_of_toloka_lacks_is_named(given, options, what, tmp_path):
    with pytest.raises(DataError, match=what):
        import_answers(toloka(tmp_path / "pool.tsv", given), "toloka", **options)
