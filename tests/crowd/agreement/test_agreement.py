"""Agreement: against the definitions, published examples, scikit-learn, and its own intervals."""

import json
from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from crowd_tvcs.agreement.agreement import measure
from crowd_tvcs.agreement.bootstrap import percentiles
from crowd_tvcs.answers.answers import Answers
from tests.makers.commands import crowd_tvcs, run_done, run_refused
from tests.makers.tables import rows_of

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers.
FOUR_OBSERVERS = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]
# Fleiss' kappa on ten subjects, fourteen raters and five categories, as in many textbooks.
FOURTEEN_RATERS = [
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
]  # fmt: skip


def some_answers(rng, *, share=0.7, n=6, m=25, k=4):
    """Random answers, some missing, and their table of shape (workers, tasks), -1 for none."""
    table = np.where(rng.random((n, m)) < share, rng.integers(0, k, (n, m)), -1)
    table[0, 0] = 0
    i, j = np.nonzero(table >= 0)
    names = [[f"{c}{x:02d}" for x in range(size)] for c, size in (("t", m), ("w", n), ("", k))]
    return Answers(*names, j, i, table[i, j]), table


def alpha_by_definition(table, is_ordinal):
    """Alpha from all ordered pairs of answers, one by one."""
    units = [[v for v in unit if v >= 0] for unit in table.T]
    units = [unit for unit in units if len(unit) > 1]
    values = [v for unit in units for v in unit]
    n_of = {c: values.count(c) for c in range(max(values) + 1)}

    def apart(a, b):
        if not is_ordinal:
            return float(a != b)
        a, b = sorted((a, b))
        return (sum(n_of[g] for g in range(a, b + 1)) - (n_of[a] + n_of[b]) / 2) ** 2

    observed = sum(
        apart(unit[i], unit[j]) / (len(unit) - 1)
        for unit in units
        for i in range(len(unit))
        for j in range(len(unit))
        if i != j
    )
    expected = sum(apart(a, b) for a in values for b in values) / (len(values) - 1)
    return 1 - observed / expected


@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
def test_alpha_is_what_its_definition_says(rng, share):
    for _ in range(5):
        answers, table = some_answers(rng, share=share)
        found = measure(answers, ordinal=True, bootstrap=0)
        assert found.alpha.value == pytest.approx(alpha_by_definition(table, False), abs=1e-12)
        assert found.ordinal.value == pytest.approx(alpha_by_definition(table, True), abs=1e-12)


def test_the_published_alphas_of_four_observers():
    rows = [line.split() for line in FOUR_OBSERVERS]
    answers = Answers.of(
        (f"u{j:02d}", f"observer{i}", cell)
        for i, row in enumerate(rows)
        for j, cell in enumerate(row)
        if cell != "."
    )
    found = measure(answers, ordinal=True, bootstrap=0)
    assert found.alpha.value == pytest.approx(0.743, abs=5e-4)
    assert found.ordinal.value == pytest.approx(0.815, abs=5e-4)
    assert found.summary()["tasks_of_one_answer"] == 1


def test_the_textbook_kappa_of_fourteen_raters():
    rows = [
        (f"s{j}", f"{j}-{c}-{i}", str(c))
        for j, counts in enumerate(FOURTEEN_RATERS)
        for c, count in enumerate(counts)
        for i in range(count)
    ]
    found = measure(Answers.of(rows), bootstrap=0)
    assert found.fleiss.value == pytest.approx(0.210, abs=5e-4)
    agreement, _, label = found.per_task
    expected = [1.0, 0.253, 0.308, 0.440, 0.330, 0.462, 0.242, 0.176, 0.286, 0.286]
    assert agreement.round(3).tolist() == expected
    assert found.answers.classes[label[0]] == "4"
    assert label[5] == -1  # seven and seven


@pytest.mark.parametrize("share", [0.2, 0.4, 0.9])
def test_agreement_entropy_and_leading_class_of_a_task_are_counted(rng, share):
    answers, table = some_answers(rng, share=share, m=60, k=3)
    tasks = {name: unit[unit >= 0].tolist() for name, unit in zip(range(60), table.T, strict=True)}
    agreement, entropy, label = measure(answers, bootstrap=0).per_task
    assert len(agreement) == 60
    for j, given in tasks.items():
        pairs = list(combinations(given, 2))
        same = np.mean([a == b for a, b in pairs]) if pairs else np.nan
        assert agreement[j] == pytest.approx(same, nan_ok=True)
        counts = np.bincount(given, minlength=3)
        shares = counts[counts > 0] / max(len(given), 1)
        bits = -(shares * np.log2(shares)).sum() if given else np.nan
        assert entropy[j] == pytest.approx(bits, nan_ok=True)
        leading = np.flatnonzero(counts == counts.max())
        assert label[j] == (leading[0] if leading.size == 1 and given else -1)


def test_kappa_of_unequal_numbers_counts_every_task_once(rng):
    answers, table = some_answers(rng, share=0.6)
    units = [unit[unit >= 0] for unit in table.T]
    units = [np.bincount(unit, minlength=4) for unit in units if unit.size > 1]
    agree = np.mean([(u * (u - 1)).sum() / (u.sum() * (u.sum() - 1)) for u in units])
    chance = (np.mean([u / u.sum() for u in units], axis=0) ** 2).sum()
    found = measure(answers, bootstrap=0).fleiss.value
    assert found == pytest.approx((agree - chance) / (1 - chance), abs=1e-12)


def test_kappa_of_pairs_is_scikit_learns(rng):
    answers, table = some_answers(rng, n=8, m=30)
    pairs = measure(answers, bootstrap=0, min_common_tasks=5).pairs
    who = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    figures = zip(pairs.common, pairs.agreement, pairs.kappa, strict=True)
    found = dict(zip(who, figures, strict=True))
    assert list(found) == sorted(found) == list(combinations(range(8), 2))
    for (i, j), (common, agreement, kappa) in found.items():
        both = (table[i] >= 0) & (table[j] >= 0)
        assert common == both.sum()
        assert agreement == pytest.approx((table[i] == table[j])[both].mean())
        expected = cohen_kappa_score(table[i][both], table[j][both])
        assert kappa == pytest.approx(expected, abs=1e-12)
    assert pairs.mean.value == pytest.approx(np.average(pairs.kappa, weights=pairs.common))


def test_names_and_the_order_of_rows_change_nothing_but_the_order_of_pairs(rng):
    answers, _ = some_answers(rng)
    turned = [(t, f"x{9 - int(w[1:])}", f"c{label}") for t, w, label in reversed(answers.rows())]
    a, b = (measure(x, ordinal=True, rng=3) for x in (answers, Answers.of(turned)))
    assert (a.alpha, a.ordinal, a.fleiss) == (b.alpha, b.ordinal, b.fleiss)
    assert sorted(a.pairs.kappa.round(12)) == sorted(b.pairs.kappa.round(12))


def test_a_draw_of_tasks_is_the_same_statistic_of_the_tasks_that_were_drawn(rng, monkeypatch):
    """The intervals of one draw are the values of a table in which tasks stand that often."""
    answers, table = some_answers(rng, share=0.8, n=4)
    times = rng.multinomial(25, np.full(25, 1 / 25)).astype(float)
    for module in ("agreement", "pairs"):
        monkeypatch.setattr(
            f"crowd_tvcs.agreement.{module}.draw_tasks", lambda draws, m, rng: times[None, :m]
        )
    assert (answers.per_task > 1).all()
    found = measure(answers, ordinal=True, bootstrap=1, rng=0)
    again = np.repeat(table, times.astype(int), axis=1)
    i, j = np.nonzero(again >= 0)
    names = [f"u{x:02d}" for x in range(again.shape[1])]
    drawn = Answers(names, answers.workers, answers.classes, j, i, again[i, j])
    expected = measure(drawn, ordinal=True, bootstrap=0, min_common_tasks=1)
    for name in ("alpha", "ordinal", "fleiss"):
        assert getattr(found, name).low == pytest.approx(getattr(expected, name).value)
    assert found.pairs.low == pytest.approx(expected.pairs.kappa)
    assert found.pairs.mean.low == pytest.approx(expected.pairs.mean.value)


def test_ninety_five_percent_intervals_hold_what_more_tasks_would_show(rng):
    quality = rng.uniform(0.55, 0.9, 5)

    def crowd(m):
        truth = rng.integers(0, 2, m)
        message = np.where(rng.random((5, m)) < quality[:, None], truth, 1 - truth)
        i, j = np.nonzero(rng.random((5, m)) < 0.8)
        names = [f"t{x}" for x in range(m)], [f"w{x}" for x in range(5)], ["0", "1"]
        return Answers(*names, j, i, message[i, j])

    true = measure(crowd(100_000), bootstrap=0)
    held = np.zeros(4)
    for _ in range(150):
        found = measure(crowd(120), bootstrap=300, rng=rng)
        for at, name in enumerate(("alpha", "fleiss")):
            one = getattr(found, name)
            held[at] += one.low <= getattr(true, name).value <= one.high
        held[2] += found.pairs.low[0] <= true.pairs.kappa[0] <= found.pairs.high[0]
        held[3] += found.pairs.mean.low <= true.pairs.mean.value <= found.pairs.mean.high
    assert (held / 150 >= 0.89).all(), held / 150
    assert (held / 150 < 1.0).all()


def test_percentiles_are_numpys_and_leave_out_what_is_not_defined(rng):
    values = rng.random((7, 40))
    low, high = percentiles(values, 0.9)
    assert low == pytest.approx(np.percentile(values, 5, axis=1))
    assert high == pytest.approx(np.percentile(values, 95, axis=1))
    values[0, ::3] = np.nan
    values[1] = np.nan
    low, _ = percentiles(values, 0.9)
    assert low[0] == pytest.approx(np.nanpercentile(values[0], 5))
    assert np.isnan(low[1])


def test_where_all_say_the_same_nothing_is_divided_by_nothing():
    rows = [(f"t{j}", f"w{i}", "a") for j in range(12) for i in range(3)]
    found = measure(Answers.of(rows, classes=["a", "b"]), ordinal=True, rng=0)
    for one in (found.alpha, found.ordinal, found.fleiss):
        assert (one.value, one.low, one.why) == (None, None, "all answers are the same")
    assert np.isnan(found.pairs.kappa).all()
    assert found.pairs.mean.why == "no pair of workers has a kappa"
    assert found.pair_rows()[0][:4] == ("w0", "w1", 12, 1.0)
    assert np.isnan(found.pair_rows()[0][4:]).all()
    assert json.loads(json.dumps(found.summary(), allow_nan=False))["pairs_without_kappa"] == 3


def test_one_other_answer_in_many_makes_draws_without_it():
    rows = [(f"t{j:02d}", w, "a") for j in range(30) for w in ("ann", "bob")]
    rows[0] = ("t00", "ann", "b")
    found = measure(Answers.of(rows), rng=1)
    assert found.alpha.value == pytest.approx(0.0, abs=0.02)
    assert 250 < found.alpha.lost < 480  # (29/30)^30 of 1000
    assert found.pairs.kappa.tolist() == [0.0]


@pytest.mark.parametrize("rows", [
    [("t1", "ann", "a"), ("t2", "ann", "b"), ("t3", "ann", "b")],
    [("t1", "ann", "a"), ("t2", "bob", "b")],
])  # fmt: skip
def test_one_worker_or_one_answer_per_task_is_no_agreement(rows):
    found = measure(Answers.of(rows), ordinal=True, rng=0)
    assert found.alpha.why == found.ordinal.why == "no task has two answers"
    assert found.summary()["tasks"] == 0
    assert found.summary()["tasks_of_one_answer"] == len(rows)
    assert found.pair_rows() == []
    assert np.isnan([row[3] for row in found.task_rows()]).all()
    assert {row[4] for row in found.task_rows()} == {0.0}


def test_one_task_has_a_value_and_no_interval():
    rows = [("t", "ann", "a"), ("t", "bob", "b"), ("t", "cy", "a")]
    found = measure(Answers.of(rows), min_common_tasks=1, rng=0)
    assert found.alpha.value == pytest.approx(0.0)
    assert found.alpha.low is None


def test_entropy_of_a_task_is_in_bits():
    rows = [("t1", f"w{i}", label) for i, label in enumerate("aabb")]
    rows += [("t2", f"w{i}", label) for i, label in enumerate("abcd")]
    rows += [("t3", f"w{i}", "a") for i in range(4)]
    found = measure(Answers.of(rows), bootstrap=0)
    assert found.per_task[1].tolist() == [1.0, 2.0, 0.0]
    assert [row[2] for row in found.task_rows()] == ["", "", "a"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bootstrap": -1}, "bootstrap must be >= 0, found -1"),
        ({"min_common_tasks": 0}, "min_common_tasks must be >= 1, found 0"),
        ({"interval": 1.0}, "interval must be above 0 and below 1"),
    ],
)
def test_arguments_out_of_range_are_named(rng, arguments, message):
    with pytest.raises(ValueError, match=message):
        measure(some_answers(rng)[0], **arguments)


def test_more_than_a_hundred_ordered_labels_are_refused():
    answers = Answers.of([("t", f"w{i:03d}", str(i)) for i in range(101)])
    assert measure(answers, bootstrap=0).alpha.value == pytest.approx(0.0)
    with pytest.raises(ValueError, match="ordered labels must be at most 100, found 101"):
        measure(answers, ordinal=True)


def test_the_command_writes_what_it_prints_and_repeats_itself(tmp_path, rng):
    answers, _ = some_answers(rng)
    lines = [",".join(row) for row in answers.rows()] + ["t99,w00,01"]
    (tmp_path / "a.csv").write_text("\n".join(["task,worker,label", *lines]))
    words = [
        "agreement",
        tmp_path / "a.csv",
        "--ordinal",
        "00,01,02,03",
        "--bootstrap",
        50,
        "--out",
    ]
    first, again = (crowd_tvcs(*words, tmp_path / out) for out in ("one", "two"))
    assert first.exit_code == 0, first.stderr
    assert first.stdout == again.stdout
    for name in ("tasks.csv", "pairs.csv", "summary.json", "run.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    summary = json.loads((tmp_path / "one" / "summary.json").read_text())
    expected = measure(answers, ordinal=True, bootstrap=0)
    assert summary["alpha_ordinal"]["value"] == pytest.approx(expected.ordinal.value)
    assert f"alpha (ordinal)  {summary['alpha_ordinal']['value']:15.4f}" in first.stdout
    assert "left out: 1 task with one answer" in first.stderr
    pairs = rows_of(tmp_path / "one" / "pairs.csv")
    assert len(pairs) == summary["pairs"] == 15 - summary["pairs_left_out"] == 14
    assert all(float(row["low"]) <= float(row["high"]) for row in pairs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ordinal", "a"], "must be one of the classes 'a', found 'b'"),
        (["--ordinal", "a,b", "--classes", "a,b"], "give --ordinal or --classes, not both"),
        (["--ordinal", "a,b,a"], "--ordinal must differ, found more than once"),
    ],
)
def test_the_command_refuses(tmp_path, options, message):
    (tmp_path / "a.csv").write_text("task,worker,label\nt,ann,a\nt,bob,b\n")
    err = run_refused("agreement", tmp_path / "a.csv", "--out", tmp_path / "out", *options)
    assert message in err
    assert not (tmp_path / "out").exists()


def test_the_command_says_what_is_not_defined(tmp_path):
    (tmp_path / "a.csv").write_text("task,worker,label\nt,ann,a\nt,bob,a\n")
    words = ["--classes", "a,b", "--out", tmp_path / "out"]
    done = run_done("agreement", tmp_path / "a.csv", *words)
    assert done.stdout.count("not defined: all answers are the same") == 2
    assert (
        json.loads((tmp_path / "out" / "summary.json").read_text())["fleiss_kappa"]["value"] is None
    )


def test_of_pairs_that_are_answered_twice_one_answer_counts_if_asked(tmp_path):
    rows = ["t1,ann,a", "t1,ann,b", "t1,bob,b", "t2,ann,a", "t2,bob,a"]
    (tmp_path / "a.csv").write_text("task,worker,label\n" + "\n".join(rows))
    words = ("agreement", tmp_path / "a.csv", "--out", tmp_path / "out", "--force")
    assert "--duplicates first, last or majority" in run_refused(*words)
    for keep, agreed in (("first", 0.0), ("last", 1.0)):
        run_done(*words, "--duplicates", keep)
        result = (tmp_path / "out" / "tasks.csv").read_text().splitlines()[1]
        assert float(result.split(",")[3]) == agreed
        assert (
            json.loads((tmp_path / "out" / "run.json").read_text())["parameters"]["duplicates"]
            == keep
        )
