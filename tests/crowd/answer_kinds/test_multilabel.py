"""Several labels: a slow twin, laws, simulated crowds, files, the command."""

import json
import math

import numpy as np
import pytest

from benchmarks.answer_kinds.crowds import set_crowd, sets_of
from crowd_tvcs.answer_kinds import multilabel
from crowd_tvcs.answer_kinds.label_sets import LabelSets, read_label_sets
from crowd_tvcs.answer_kinds.multilabel import vote_on_sets
from tests.makers.commands import check_done, check_refused, crowd_tvcs
from tests.makers.tables import rows_of
from tvcs_core import DataError


def some_sets(seed=0, tasks=250, gold=50, kind="independent"):
    rng = np.random.default_rng([seed, len(kind)])
    data, truth = set_crowd(kind, rng, tasks=tasks)
    known = rng.permutation(tasks)[:gold]
    rest = np.ones(tasks, dtype=bool)
    rest[known] = False
    return data, truth, sets_of(data, truth, known), rest


def slow_evidence(data, known, rounds):
    """The log odds of every label, answer by answer and label by label."""
    n_tasks, n_labels = known.shape
    answers = range(data.task_of.size)
    n = [sum(data.task_of[e] == j for e in answers) for j in range(n_tasks)]
    p = [
        [
            (sum(data.marks[e, k] for e in answers if data.task_of[e] == j) + 0.5) / (n[j] + 1)
            for k in range(n_labels)
        ]
        for j in range(n_tasks)
    ]
    gold = [j for j in range(n_tasks) if known[j, 0] >= 0]
    for _ in range(rounds):
        for j in gold:
            p[j] = [float(v) for v in known[j]]
        share = [
            (sum(known[j, k] for j in gold) + 5 * sum(p[j][k] for j in range(n_tasks)) / n_tasks)
            / (len(gold) + 5)
            for k in range(n_labels)
        ]
        share = [min(max(one, 0.001), 0.999) for one in share]

        def counts(chosen, p=p):
            there = [p[data.task_of[e]][k] for e in chosen for k in range(n_labels)]
            marks = [bool(data.marks[e, k]) for e in chosen for k in range(n_labels)]
            there_marked = sum(c for c, m in zip(there, marks, strict=True) if m)
            not_marked = sum(1 - c for c, m in zip(there, marks, strict=True) if m)
            return sum(there), there_marked, sum(1 - c for c in there), not_marked

        whole = counts(answers)
        crowd = (whole[1] + 3) / (whole[0] + 4), (whole[3] + 1) / (whole[2] + 4)
        odds = [[0.0] * n_labels for _ in range(n_tasks)]
        for e in answers:
            others = [f for f in answers if data.worker_of[f] == data.worker_of[e] and f != e]
            seen = counts(others)
            given = (seen[1] + 10 * crowd[0]) / (seen[0] + 10)
            absent = (seen[3] + 10 * crowd[1]) / (seen[2] + 10)
            for k in range(n_labels):
                ratio = given / absent if data.marks[e, k] else (1 - given) / (1 - absent)
                odds[data.task_of[e]][k] += math.log(ratio)
        p = [
            [1 / (1 + math.exp(-odds[j][k]) * (1 - share[k]) / share[k]) for k in range(n_labels)]
            for j in range(n_tasks)
        ]
    return np.array(odds), share


def test_the_fit_is_that_of_its_slow_twin(monkeypatch):
    rng = np.random.default_rng(1)
    data, truth = set_crowd("independent", rng, labels=3, tasks=12, workers=5, per_task=3)
    known = np.where(np.arange(12)[:, None] < 4, truth, -1)
    monkeypatch.setattr(multilabel, "ROUNDS", 3)
    evidence, _ = multilabel._fit(data, known)
    odds, share = slow_evidence(data, known, 3)
    assert evidence.log_likelihood[:, 1] == pytest.approx(odds.ravel())
    assert evidence.prior[:3, 1] == pytest.approx(share)


def test_a_gold_task_is_judged_without_its_own_labels():
    data, _, gold, _ = some_sets(tasks=60, gold=20)
    task = sorted(gold)[0]
    j = data.tasks.index(task)
    wrong = gold | {task: frozenset(data.labels) - gold[task]}
    before, after = vote_on_sets(data, gold), vote_on_sets(data, wrong)
    assert (before.posterior[j] > 0.5).tolist() == (after.posterior[j] > 0.5).tolist()
    assert after.present[j].tolist() == [name in wrong[task] for name in data.labels]


@pytest.mark.parametrize("kind", ["independent", "lazy", "all"])
def test_labels_and_sets_are_righter_than_by_majority_and_claims_hold(kind):
    gaps, set_gaps = [], []
    for seed in range(3):
        data, truth, gold, rest = some_sets(seed, kind=kind)
        votes = vote_on_sets(data, gold)
        marked = np.zeros(truth.shape)
        np.add.at(marked, data.task_of, data.marks)
        majority = ((marked / data.per_task[:, None] > 0.5) == truth)[rest]
        right = ((votes.posterior > 0.5) == truth)[rest]
        assert right.mean() > majority.mean()
        assert right.all(axis=1).mean() > majority.all(axis=1).mean()
        gaps.append(votes.confidence[rest].mean() - right.mean())
        set_gaps.append(votes.set_confidence[rest].mean() - right.all(axis=1).mean())
    assert abs(np.mean(gaps)) < 0.03
    assert abs(np.mean(set_gaps)) < 0.06


def test_nothing_is_claimed_that_gold_did_not_measure():
    data, _, gold, _ = some_sets(tasks=60, gold=40)
    few = dict(list(gold.items())[:19])
    assert vote_on_sets(data, gold).exponent is not None
    votes = vote_on_sets(data, few)
    assert votes.exponent is None
    assert votes.is_measured
    assert np.isnan(votes.set_confidence).all()
    assert "nothing is claimed of whole sets" in votes.sentences()[1]
    none = vote_on_sets(data, dict(list(gold.items())[:4]))
    assert not none.is_measured
    assert {row[3] for row in none.label_rows() if row[0] not in gold} == {None}


def test_a_label_of_gold_that_is_none_is_refused():
    data, *_ = some_sets(tasks=20, gold=5)
    with pytest.raises(ValueError, match="the gold labels of task 't00000' must be of"):
        vote_on_sets(data, {"t00000": frozenset(["x"])})


def test_rows_in_python_are_checked():
    with pytest.raises(ValueError, match="worker 'ann' answered task 't' more often"):
        LabelSets.of([("t", "ann", ["a"]), ("t", "ann", ["b"])])
    with pytest.raises(ValueError, match="must have an answer"):
        LabelSets.of([])
    with pytest.raises(ValueError, match="must have a label"):
        LabelSets.of([("t", "ann", [])])
    with pytest.raises(ValueError, match="must be one of 'a', found 'b'"):
        LabelSets.of([("t", "ann", ["b"])], labels=["a"])


@pytest.fixture
def tables(tmp_path):
    data, _, gold, _ = some_sets(tasks=60, gold=25)
    rows = [
        f"{data.tasks[j]},{data.workers[w]},"
        + (";".join(n for n, m in zip(data.labels, marks, strict=True) if m) or "none")
        for j, w, marks in zip(data.task_of, data.worker_of, data.marks, strict=True)
    ]
    (tmp_path / "a.csv").write_text("\n".join(["task,worker,label", *rows]) + "\n")
    known = [f"{task},{';'.join(sorted(names)) or 'none'}" for task, names in gold.items()]
    (tmp_path / "g.csv").write_text("\n".join(["task,label", *known]) + "\n")
    return tmp_path, data, gold


def command(folder, *more, out="o"):
    return crowd_tvcs("multilabel", folder / "a.csv", "--out", folder / out, *more)


def test_a_file_is_what_was_written(tables):
    folder, data, _ = tables
    found = read_label_sets(folder / "a.csv")
    assert found.labels == data.labels
    order = np.lexsort((data.worker_of, data.task_of))
    other = np.lexsort((found.worker_of, found.task_of))
    assert (found.marks[other] == data.marks[order]).all()


def test_the_command_says_what_gold_measured(tables):
    folder, data, gold = tables
    done = check_done(command(folder, "--gold", folder / "g.csv"))
    assert "on 25 gold tasks, each judged without its own labels" in done.stderr
    assert "a whole set is right with the product of its claims to the power of" in done.stderr
    sets = {row["task"]: row for row in rows_of(folder / "o" / "labels.csv")}
    assert len(sets) == 60
    for task, names in gold.items():
        assert sets[task]["label"] == (";".join(sorted(names)) or "none")
        assert sets[task]["confidence"] == "1.0"
    claims = rows_of(folder / "o" / "claims.csv")
    assert len(claims) == 60 * len(data.labels)
    assert all(0.5 <= float(row["confidence"]) <= 1 for row in claims)
    assert len(rows_of(folder / "o" / "workers.csv")) == len(data.workers)
    command(folder, "--gold", folder / "g.csv", out="again")
    for name in ("labels.csv", "claims.csv", "workers.csv", "summary.json"):
        assert (folder / "o" / name).read_bytes() == (folder / "again" / name).read_bytes()


def test_without_gold_nothing_is_claimed(tables):
    folder, *_ = tables
    done = command(folder)
    assert "confidence not measured: 5 gold tasks with answers are needed, found 0" in done.stderr
    assert {row["confidence"] for row in rows_of(folder / "o" / "claims.csv")} == {""}
    assert not json.loads((folder / "o" / "summary.json").read_text())["is_measured"]


@pytest.mark.parametrize(
    ("row", "more", "says"),
    [
        ("t2,bob,a;;b", [], "a.csv:3, column 'label': must have a label on both sides of every"),
        ("t2,bob,none;b", [], "'none' stands for no label and must stand alone"),
        (
            "t2,bob,c",
            ["--labels", "a,b"],
            "must be any of 'a', 'b', with ';' between them (or none), but 'c' is no label",
        ),
        ("t2,bob,", [], "a.csv:3, column 'label'"),
        ("t1,ann,b", [], "a.csv:3"),
        ("t2,bob,b", ["--separator", ""], "--separator must be a visible text"),
        ("t2,bob,b", ["--none", ""], "--none must be a word, as an empty cell is"),
        ("t2,bob,b", ["--labels", "a,a"], "--labels must be different names"),
        ("t2,bob,b", ["--labels", "a,none"], "--labels must be different names"),
    ],
)
def test_cells_that_are_no_sets_are_refused(tmp_path, row, more, says):
    (tmp_path / "a.csv").write_text(f"task,worker,label\nt1,ann,a;b\n{row}\n")
    assert says in check_refused(command(tmp_path, *more))
    assert not (tmp_path / "o").exists()


def test_a_row_for_every_label_is_refused_with_the_way_to_one_cell(tmp_path):
    (tmp_path / "a.csv").write_text("task,worker,labels\nt,ann,cat\nt,ann,dog\nt,bob,cat;dog\n")
    with pytest.raises(DataError, match=r"a.csv:3, .*write them in one cell, with ';' between"):
        read_label_sets(tmp_path / "a.csv")
    found = read_label_sets(tmp_path / "a.csv", duplicates="last")
    assert found.marks.tolist() == [[False, True], [True, True]]
    (tmp_path / "a.csv").write_text("task,worker,labels\nt,ann,\nt,ann,dog\nt,bob,cat;dog\n")
    assert len(read_label_sets(tmp_path / "a.csv", leave_out_missing=True).marks) == 2


def test_gold_with_two_sets_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("task,worker,label\nt1,ann,a;b\n")
    (tmp_path / "g.csv").write_text("task,label\nt1,a\nt1,b\n")
    err = check_refused(command(tmp_path, "--gold", tmp_path / "g.csv"))
    assert "g.csv:3, column 'label': task 't1' has two sets of labels" in err


def test_a_separator_at_the_end_and_rows_without_an_answer(tmp_path):
    (tmp_path / "a.csv").write_text("task,worker,label\nt1,ann,a;b;\nt1,bob,\nt2,bob,none\n")
    done = check_done(command(tmp_path, "--leave-out-missing"))
    assert "left out: 1 without a label" in done.stderr
    assert [row["answers"] for row in rows_of(tmp_path / "o" / "labels.csv")] == ["1", "1"]


def test_another_text_between_labels_is_warned_of(tmp_path):
    (tmp_path / "a.csv").write_text("task,worker,label\nt1,ann,x|y\nt2,bob,y\n")
    done = check_done(command(tmp_path))
    assert "1 label holds '|', such as 'x|y'; if it stands between labels" in done.stderr
    assert "labels hold" not in command(tmp_path, "--separator", "|", out="other").stderr
