"""The command `crowd-tvcs campaign` and how far its confidences are what they say."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.makers.commands import check_done, check_refused, crowd_tvcs

run = partial(crowd_tvcs, "campaign")


WORKERS = ["ann", "bob", "cy", "dee"]


def write_gold(folder, n_gold, right=0.85, classes="ab"):
    rng = np.random.default_rng(5)
    gold = {f"g{j:03d}": classes[rng.integers(len(classes))] for j in range(n_gold)}
    rows = [
        (task, worker, label if rng.random() < right else classes[rng.integers(len(classes))])
        for task, label in gold.items()
        for worker in WORKERS
    ]
    lines = "".join(f"{t},{k}\n" for t, k in gold.items())
    (folder / "gold.csv").write_text(f"task,label\n{lines}")
    lines = "".join(f"{t},{w},{k}\n" for t, w, k in rows)
    (folder / "answers.csv").write_text(f"task,worker,label\n{lines}")
    (folder / "tasks.csv").write_text("task\n" + "".join(f"t{j}\n" for j in range(10)))


def init(*words):
    tables = ("--gold", "gold.csv", "--answers", "answers.csv", "--tasks", "tasks.csv")
    return run("init", "c.db", *tables, "--classes", "a,b", *words)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_gold(tmp_path, 80)
    return tmp_path


def test_status_shows_claimed_beside_reached(folder):
    made = check_done(init("--target", 0.93))
    assert "ten answers carry the information of" in made.stderr
    assert "target 0.93: by the gold tasks a confidence of 0.9" in made.stderr
    shown = run("status", "c.db").stdout
    assert "ten answers carry the information of" in shown
    assert "3 labels" in shown
    assert "by confidence" in shown
    record = json.loads(run("status", "c.db", "--json").stdout)
    assert [one["labels"] for one in record["gold"]["by_labels"]] == [1, 2, 3, 5, None]
    assert all(c["low"] <= c["accuracy"] <= c["high"] for c in record["gold"]["by_confidence"])
    assert record["model"] == "dependent"
    assert record["min_gain"] == 0.01


def test_an_independent_campaign_is_as_it_was_and_says_where_it_claims_too_much(folder):
    answers = (folder / "answers.csv").read_text().splitlines()
    ann = [row for row in answers[1:] if ",ann," in row]
    copies = [row.replace(",ann,", f",{w},") for row in ann for w in WORKERS]
    (folder / "answers.csv").write_text("\n".join([answers[0], *copies, ""]))
    made = check_done(init("--error-model", "independent", "--target", 0.9))
    assert "ten labels" not in made.stderr
    record = json.loads(run("status", "c.db", "--json").stdout)
    assert (record["model"], record["dependence"], record["min_gain"]) == (
        "independent",
        None,
        None,
    )
    assert any("with 3 labels per task" in line for line in record["gold"]["warnings"])
    assert "warning: with 3 labels per task" in run("status", "c.db").stdout


def test_a_target_that_gold_does_not_confirm_is_reported(folder):
    write_gold(folder, 80, right=0.4)
    made = check_done(init("--target", 0.95))
    assert "of the labels with this confidence are right, by" in made.stderr
    assert "more gold tasks, answered like these, would settle it" in made.stderr
    assert "no task is considered finished" in run("status", "c.db").stdout


@pytest.mark.parametrize("n_gold", [1, 2])
def test_less_than_ten_gold_answers_measure_nothing(folder, n_gold):
    write_gold(folder, n_gold)
    made = check_done(init("--target", 0.95))
    assert "little gold, so no confidence is validated" in made.stderr
    assert "reach" in made.stderr
    assert "no task is considered finished" in made.stderr


@pytest.mark.parametrize(("n_gold", "is_shown"), [(39, False), (45, True)])
def test_no_task_is_sure_where_gold_is_too_little_to_show_it(folder, n_gold, is_shown):
    """Below 50 gold tasks the confidence was taken for it: .86 of dog's labels were right."""
    write_gold(folder, n_gold, right=1.0)
    assert init("--target", 0.7, "--min-gain", 0).exit_code == 0
    for worker in WORKERS:
        task = run("next", "c.db", "--worker", worker).stdout.strip()
        run("submit", "c.db", "--worker", worker, "--task", task, "--label", "a")
    verdicts = [one["verdict"] for one in json.loads(run("review", "c.db", "--json").stdout)]
    assert ("confident" in verdicts) == is_shown
    shown = run("status", "c.db").stdout
    assert ("no task is considered finished" in shown) == (not is_shown)
    asked = run("review", "c.db", "--target", 0.7).stderr
    if is_shown:
        assert "target 0.7: by the gold tasks this confidence is enough" in asked
    else:
        assert "between 0.91 and 1.00 of the labels with this confidence are right, by 39" in asked
        assert "about 1 more gold tasks, answered like these, would settle it" in asked


def test_gold_of_one_class_is_taken(folder):
    write_gold(folder, 20, classes="a")
    check_done(init())
    task = run("next", "c.db", "--worker", "ann").stdout.strip()
    check_done(run("submit", "c.db", "--worker", "ann", "--task", task, "--label", "b"))
    assert run("status", "c.db").exit_code == 0
    assert run("report", "c.db", "--out", "c.html").exit_code == 0


def test_without_gold_no_confidence_is_measured(folder):
    Path("quality.csv").write_text("worker,quality\nann,0.8\nbob,0.7\n")
    made = check_done(run("init", "q.db", "--quality", "quality.csv", "--tasks", "tasks.csv"))
    assert "no gold, so no confidence is validated" in made.stderr
    assert json.loads(run("status", "q.db", "--json").stdout)["gold"] is None


def test_gold_answers_that_come_in_say_what_they_change(folder):
    write_gold(folder, 2)
    assert init().exit_code == 0
    write_gold(folder, 60)
    rows = (folder / "answers.csv").read_text().splitlines()
    Path("more.csv").write_text("\n".join([rows[0], *rows[9:], ""]))
    Path("gold2.csv").write_text(
        "\n".join(["task,label", *(folder / "gold.csv").read_text().splitlines()[3:], ""])
    )
    assert "little gold" in run("add", "c.db", "--gold", "gold2.csv").stderr
    done = check_done(run("import", "c.db", "more.csv"))
    assert "on 60 held-out gold tasks mean confidence is" in done.stderr


def test_stop_asks_gold_for_another_target(folder):
    assert init("--min-gain", 0).exit_code == 0
    for worker in WORKERS:
        task = run("next", "c.db", "--worker", worker).stdout.strip()
        run("submit", "c.db", "--worker", worker, "--task", task, "--label", "a")
    for target, sure in ((0.6, 4), (0.9999, 0)):
        found = json.loads(run("review", "c.db", "--target", target, "--json").stdout)
        assert [one["verdict"] for one in found].count("confident") == sure
    err = check_refused(run("review", "c.db", "--target", 2))
    assert "target must be from 0 to 1, found 2" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--error-model", "both"),
            "--error-model must be one of dependent, independent, found 'both'",
        ),
        (("--min-gain", 2), "--min-gain must be from 0 to 1, found 2"),
        (("--money", 5), "money needs the cost of a label of every worker, found none for 'ann'"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_made(words, message):
    assert message in check_refused(init(*words))
    assert not Path("c.db").exists()
