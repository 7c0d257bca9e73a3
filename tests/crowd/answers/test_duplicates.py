"""Pairs that are answered twice: refused with the remedy, or one answer kept, in every command."""

import json
from pathlib import Path

import numpy as np
import pytest

from crowd_tvcs.answers.answers import read_answers
from crowd_tvcs.answers.duplicates import keep_one
from crowd_tvcs.campaign.ingest.tables import read_lines
from tests.makers.commands import crowd_tvcs, run_done, run_refused
from tvcs_core.files.errors import DataError

TEXT = (
    "task,worker,label\n"
    "t1,ann,0\nt1,bob,1\nt2,ann,1\nt1,ann,1\nt2,bob,0\nt1,ann,1\nt2,bob,1\nt3,ann,0\nt3,bob,0\n"
)
GOLD = "task,label\nt1,1\nt2,1\nt3,0\n"
KEPT = {  # by hand: ann on t1 says 0, 1, 1 and bob on t2 says 0, 1
    "first": {("t1", "ann"): "0", ("t2", "bob"): "0"},
    "last": {("t1", "ann"): "1", ("t2", "bob"): "1"},
    "majority": {("t1", "ann"): "1", ("t2", "bob"): "0"},
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(TEXT)
    Path("g.csv").write_text(GOLD)


@pytest.mark.parametrize("read", [read_answers, read_lines])
def test_a_refusal_counts_the_pairs_and_names_the_option(read):
    what = (
        r"a.csv:5: .* worker 'ann' answered task 't1' in line 2 already; 2 pairs have duplicates; "
        "duplicates first, last or majority keeps one answer of each"
    )
    with pytest.raises(DataError, match=what):
        read("a.csv")
    with pytest.raises(
        ValueError, match="duplicates must be first, last or majority, found 'best'"
    ):
        read("a.csv", duplicates="best")


@pytest.mark.parametrize("duplicates", KEPT)
def test_the_answer_is_kept_that_was_asked_for(duplicates, capsys):
    answers = read_answers("a.csv", duplicates=duplicates)
    found = {(task, worker): label for task, worker, label in answers.rows()}
    assert len(found) == answers.size == 6
    assert {pair: found[pair] for pair in KEPT[duplicates]} == KEPT[duplicates]
    assert (
        f"2 pairs answered more than once, 5 answers: kept the {duplicates} of each"
        in answers.layout
    )
    assert "('ann' on 't1', lines 2, 5, 7; 'bob' on 't2', lines 6, 8)" in answers.layout
    lines = read_lines(Path("a.csv"), duplicates)
    assert {(line.task, line.worker): line.label for line in lines} == found
    assert "2 pairs answered more than once" in capsys.readouterr().err


@pytest.mark.parametrize("duplicates", KEPT)
def test_without_repeats_the_rule_changes_nothing(duplicates):
    rows = TEXT.splitlines()
    Path("b.csv").write_text("\n".join([*rows[:4], rows[5], *rows[8:]]))
    plain, ruled = read_answers("b.csv"), read_answers("b.csv", duplicates=duplicates)
    assert (plain.rows(), plain.layout) == (ruled.rows(), ruled.layout)


def test_many_repeats_are_kept_as_a_loop_would(rng):
    keys = rng.integers(0, 40, 200)
    labels = rng.integers(0, 3, 200)
    rows = {k: [r for r in range(200) if keys[r] == k] for k in set(keys.tolist())}

    def by_majority(at):
        times = [sum(labels[r] == labels[s] for s in at) for r in at]
        return at[times.index(max(times))]

    rules = {"first": lambda at: at[0], "last": lambda at: at[-1], "majority": by_majority}
    for duplicates, rule in rules.items():
        assert keep_one(keys, labels, duplicates).tolist() == sorted(
            rule(at) for at in rows.values()
        )
    assert keep_one(np.empty(0, dtype=np.int64), [], "first").size == 0


WORDS = {
    "vote": ("vote", "a.csv", "--out", "o"),
    "vote with gold": ("vote", "a.csv", "--gold", "g.csv", "--out", "o"),
    "quality": ("quality", "a.csv", "--gold", "g.csv", "--out", "o"),
    "replay": ("replay", "a.csv", "g.csv", "--labels", "1", "--splits", "2", "--gold-share", ".5",
               "--out", "o"),
}  # fmt: skip


@pytest.mark.parametrize("name", WORDS)
def test_every_command_has_the_option_and_records_it(name):
    assert "--duplicates first, last or majority" in run_refused(*WORDS[name])
    done = run_done(*WORDS[name], "--duplicates", "last")
    assert "2 pairs answered more than once, 5 answers: kept the last of each" in done.stderr
    assert json.loads(Path("o/run.json").read_text())["parameters"]["duplicates"] == "last"


def test_a_campaign_takes_one_answer_of_each_pair():
    pytest.importorskip("sqlalchemy")
    Path("tasks.csv").write_text("task\nt8\nt9\n")
    words = ("campaign", "init", "c.db", "--gold", "g.csv", "--answers", "a.csv", "--tasks",
             "tasks.csv")  # fmt: skip
    assert "--duplicates first, last or majority" in crowd_tvcs(*words).stderr
    run_done(*words, "--duplicates", "majority")
    run_done("campaign", "plan", "c.db", "--labels", 4)
    Path("new.csv").write_text("task,worker,label\nt8,ann,0\nt8,ann,1\n")
    run_refused("campaign", "import", "c.db", "new.csv")
    run_done("campaign", "import", "c.db", "new.csv", "--duplicates", "first")
    assert "t8,ann,0" in crowd_tvcs("campaign", "export-answers", "c.db").stdout


@pytest.mark.parametrize("pairs", range(1, 6))
def test_three_pairs_are_shown_of_those_answered_more_than_once(pairs):
    rows = [f"t{k},ann,{label}" for k in range(pairs) for label in (0, 1)]
    Path("d.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\nz,bob,1\n")
    found = read_answers("d.csv", duplicates="first").layout
    assert [f"on 't{k}', lines {2 * k + 2}, {2 * k + 3}" in found for k in range(6)] == [
        k < min(pairs, 3) for k in range(6)
    ]
    assert ("; ...)" in found) == (pairs > 3)
    assert f"; {pairs} pair{'s' if pairs > 1 else ''} answered more than once, " in found
