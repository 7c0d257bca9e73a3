"""Ordered scales: slow twins, laws, the test of the order, simulated crowds, the command."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.answer_kinds.crowds import gold_of, scale_crowd
from crowd_tvcs.answer_kinds import ordinal
from crowd_tvcs.answer_kinds.calibration import (
    Calibration,
    Evidence,
    calibrated_posterior,
    fit_calibration,
)
from crowd_tvcs.answer_kinds.ordinal import fit_matrices, fit_ordinal
from crowd_tvcs.answer_kinds.propagation import Edges, propagate
from crowd_tvcs.answer_kinds.scale import check_scale, vote_on_scale
from crowd_tvcs.answer_kinds.scale_order import judge_order
from crowd_tvcs.answer_kinds.scale_posterior import answer_weights
from crowd_tvcs.answer_kinds.worker_types import lapse_shares, worker_types
from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold
from crowd_tvcs.arrays import sum_by
from tests.makers.commands import check_done, check_refused, crowd_tvcs
from tests.makers.tables import rows_of

SCALE = ["bad", "poor", "fair", "good", "best"]
STEPS = ",".join(SCALE)


def normal_cdf(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


def edges_of(answers):
    return Edges(answers.task_of, answers.worker_of, answers.label_of)


def test_the_likelihood_of_every_type_is_that_of_its_formula():
    types = worker_types(4, lapse_shares(np.array([0, 0, 1, 3]), 4))
    shares = [(0.5 + 0.25) / 2, 0.25, 0.125, 0.25]
    for a in (0, 77, 150, 299):
        for z in (0, 9, 20):
            mean = 1.5 + types.bias[a] + types.scale[a] * (types.scores[z] - 1.5)
            for k in range(4):
                high = 1.0 if k == 3 else normal_cdf((k + 0.5 - mean) / types.noise[a])
                low = 0.0 if k == 0 else normal_cdf((k - 0.5 - mean) / types.noise[a])
                chance = (1 - types.lapse[a]) * (high - low) + types.lapse[a] * shares[k]
                assert types.likelihood[a, z, k] == pytest.approx(max(chance, 1e-4), abs=1e-9)
    assert types.likelihood[300, 5] == pytest.approx(shares)
    assert types.prior.sum() == pytest.approx(1)
    # Of the same lapse rate, a type is as likely as its bias, scale and noise together.
    half, same = 0.75, np.flatnonzero(types.lapse == types.lapse[0])
    place = np.array([
        types.bias[same] / (0.6 * half),
        (types.scale[same] - 0.95) / 0.3,
        np.log(types.noise[same] / (0.6 * half)) / 0.6,
    ])  # fmt: skip
    excess = np.log(types.prior[same]) + (place**2).sum(axis=0) / 2
    assert excess == pytest.approx(np.full(same.size, excess[0]))


def test_messages_are_exact_on_a_tree():
    """Two workers and three tasks in a chain: every type of both is gone through."""
    types = worker_types(3, np.full(3, 1 / 3))
    answers = [(0, 0, 2), (1, 0, 1), (1, 1, 0), (2, 1, 0)]
    edges = Edges(*(np.array(column) for column in zip(*answers, strict=True)))
    rng = np.random.default_rng(1)
    log_prior = np.log(rng.dirichlet(np.ones(types.scores.size), 3))
    _, found = propagate(edges, types, types.prior, log_prior, 2, sweeps=40)
    seen, n = types.likelihood, types.prior.size
    joint = types.prior[:, None] * types.prior[None, :]  # of the two workers' types
    for task in range(3):
        likelihood = np.ones((n, n, types.scores.size))
        for _, worker, k in (answer for answer in answers if answer[0] == task):
            likelihood *= seen[:, None, :, k] if worker == 0 else seen[None, :, :, k]
        joint = joint * (likelihood @ np.exp(log_prior[task]))
    joint /= joint.sum()
    assert found[0] == pytest.approx(joint.sum(axis=1), abs=1e-5)
    assert found[1] == pytest.approx(joint.sum(axis=0), abs=1e-5)


def slow_matrix_round(edges, posterior, weight, expected, strength):
    """The log chance of every answer by step, by matrices without the answer's own task."""
    answers = list(zip(*(column.tolist() for column in edges), strict=True))
    out = np.zeros((len(answers), posterior.shape[1]))
    for e, (task, worker, k) in enumerate(answers):
        for y in range(posterior.shape[1]):
            given = answered = 0.0
            for other, who, label in answers:
                if who == worker and other != task:
                    answered += weight[other] * posterior[other, y]
                    given += weight[other] * posterior[other, y] * (label == k)
            out[e, y] = math.log(
                (given + strength * expected[worker, y, k]) / (answered + strength)
            )
    return out


def small_crowd():
    """Fifteen tasks of three steps, five of them gold."""
    answers, right = scale_crowd("honest", 3, 3, np.random.default_rng(3), tasks=15, workers=5)
    edges = edges_of(answers)
    gold = np.where(np.arange(15) < 5, right, -1)
    return edges, gold, fit_ordinal(edges, gold, 3, 5)


def test_matrices_leave_a_tasks_own_answers_out(monkeypatch):
    edges, gold, fit = small_crowd()
    monkeypatch.setattr(ordinal, "MATRIX_ROUNDS", 1)
    found = fit_matrices(edges, gold, fit)
    votes = np.zeros((15, 3))
    for task, _, k in zip(*edges, strict=True):
        votes[task, k] += 1.5
    posterior = np.exp(votes) / np.exp(votes).sum(axis=1, keepdims=True)
    posterior[:5] = np.eye(3)[gold[:5]]
    weight = [1.0 if y >= 0 else ordinal.OPEN_WEIGHT for y in gold]
    expected = ordinal._expected_rows(fit)
    slow = slow_matrix_round(edges, posterior, weight, expected, ordinal.ROW_STRENGTH)
    assert found.messages == pytest.approx(slow)


def test_the_accuracy_and_the_weight_of_an_answer_are_of_other_tasks():
    edges, gold, fit = small_crowd()
    found = fit_matrices(edges, gold, fit)
    posterior = np.log(found.prior) + sum_by(edges.task, found.messages, 15)
    posterior = np.exp(posterior) / np.exp(posterior).sum(axis=1, keepdims=True)
    posterior[:5] = np.eye(3)[gold[:5]]
    weight = [1.0 if y >= 0 else ordinal.OPEN_WEIGHT for y in gold]
    answers = list(zip(*(column.tolist() for column in edges), strict=True))
    crowd = sum(weight[t] * posterior[t, k] for t, _, k in answers)
    crowd /= sum(weight[t] for t, _, _ in answers)
    for e, (task, worker, _) in enumerate(answers):
        others = [(t, k) for t, who, k in answers if who == worker and t != task]
        hits = sum(weight[t] * posterior[t, k] for t, k in others)
        accuracy = (hits + 5 * crowd) / (sum(weight[t] for t, _ in others) + 5)
        assert found.accuracy[e] == pytest.approx(accuracy)
    odds = [max(math.log(q * 2 / (1 - q)), 0.1) for q in found.accuracy]
    for e, f in enumerate(answer_weights(edges, found, np.full(15, 3), 0.6)):
        mean = sum(odds[i] for i in range(45) if edges.task[i] == edges.task[e]) / 3
        assert f == pytest.approx(max(0.0, 1 - 0.6 * (2 / 3) * mean / odds[e]))


def test_gold_chooses_the_contrast():
    """Where few experts are right and many err alike, their contrast is found."""
    rng = np.random.default_rng(11)
    right = rng.integers(0, 3, 150)
    task = np.repeat(np.arange(150), 6)
    worker = np.tile(np.arange(6), 150)
    shared = (right + rng.choice([0, 1, 2], 150, p=[0.45, 0.35, 0.2])) % 3
    label = np.where(worker < 2, right[task], shared[task])
    is_lot = rng.random(900) < np.where(worker < 2, 0.1, 0.15)
    label = np.where(is_lot, rng.integers(0, 3, 900), label)
    names = [f"t{j:03d}" for j in range(150)]
    answers = Answers(names, list("abcdef"), list("123"), task, worker, label)
    gold = Gold({names[j]: "123"[right[j]] for j in range(50)}, answers.classes)
    votes = vote_on_scale(answers, gold, rng=0)
    assert votes.contrast > 0
    assert (votes.median == right)[50:].mean() > 0.85


def test_calibration_is_its_formula():
    rng = np.random.default_rng(4)
    evidence = Evidence(
        np.array([0.2, 0.5, 0.3]), rng.normal(size=(2, 9)), np.array([1, 4]),
        np.linspace(-1, 3, 9), np.array([0.1, 1.0, 1.9]),
    )  # fmt: skip
    found = calibrated_posterior(evidence, Calibration(0.9, 0.2, 0.5, 0.05, 0.8))
    for task, n in enumerate((1, 4)):
        c = 0.9 / (1 + 0.2 * (n - 1))
        weights = []
        for y in range(3):
            given = [
                math.exp(-0.5 * ((z - evidence.centres[y]) / 0.5) ** 2) for z in evidence.scores
            ]
            total = sum(
                g / sum(given) * math.exp(c * s)
                for g, s in zip(given, evidence.log_likelihood[task], strict=True)
            )
            weights.append(evidence.prior[y] ** 0.8 * total)
        expected = [
            0.95 * w / sum(weights) + 0.05 * evidence.prior[y] for y, w in enumerate(weights)
        ]
        assert found[task] == pytest.approx(expected, abs=1e-6)


def test_little_gold_fits_nothing():
    evidence = Evidence(np.full(3, 1 / 3), np.zeros((9, 3)), np.full(9, 2))
    assert fit_calibration(evidence, np.array([0, 1, 2, 0, -1, -1, -1, -1, -1])).gold == 0
    assert fit_calibration(evidence, np.array([0, 1, 2, 0, 1, -1, -1, -1, -1])).gold == 5


def test_a_gold_task_is_judged_without_its_own_label():
    """Wrong gold on one task changes what others show of the workers, hardly its own posterior."""
    answers, right = scale_crowd("honest", 5, 5, np.random.default_rng(0), tasks=60, workers=12)
    gold = {answers.tasks[j]: answers.classes[right[j]] for j in range(20)}
    wrong = gold | {answers.tasks[0]: answers.classes[(right[0] + 3) % 5]}
    before, after = (vote_on_scale(answers, Gold(g, answers.classes), rng=0) for g in (gold, wrong))
    assert after.median[0] == before.median[0]
    assert after.label_of[0] == (right[0] + 3) % 5  # it keeps the label that it was given


def test_a_task_without_answers_has_the_label_of_gold_or_none():
    answers, right = scale_crowd("honest", 5, 5, np.random.default_rng(0), tasks=30, workers=9)
    gold = Gold({answers.tasks[j]: answers.classes[right[j]] for j in range(10)}, answers.classes)
    found = vote_on_scale(answers, gold, rng=0)
    bare = replace(found, answers=np.zeros_like(found.answers))
    assert bare.label_of.tolist() == [*right[:10], *[UNKNOWN] * 20]
    assert (found.label_of[10:] == found.median[10:]).all()


def test_names_and_the_direction_of_the_scale_do_not_matter():
    answers, right = scale_crowd("biased", 4, 4, np.random.default_rng(5), tasks=40, workers=10)
    gold = Gold({answers.tasks[j]: answers.classes[right[j]] for j in range(12)}, answers.classes)
    found = vote_on_scale(answers, gold, rng=0)
    turned = Answers.of(answers.rows(), classes=answers.classes[::-1])
    other = vote_on_scale(turned, Gold(gold.labels, turned.classes), rng=0)
    assert other.posterior[:, ::-1] == pytest.approx(found.posterior, abs=1e-3)
    assert other.workers_table[:, 0] == pytest.approx(-found.workers_table[:, 0], abs=1e-2)


@pytest.mark.parametrize("kind", ["honest", "biased", "spammers"])
def test_more_is_right_and_less_is_wrong_than_by_plurality(kind):
    rng = np.random.default_rng([1, len(kind)])
    answers, right = scale_crowd(kind, 5, 5, rng)
    gold, rest = gold_of(answers, right, 0.2, rng)
    votes = vote_on_scale(answers, gold, rng=0)
    counts = np.zeros((len(answers.tasks), 5))
    np.add.at(counts, (answers.task_of, answers.label_of), 1)
    plurality = np.abs(counts.argmax(axis=1) - right)[rest]
    error = np.abs(votes.median - right)[rest]
    assert (error == 0).mean() > (plurality == 0).mean()
    assert error.mean() < plurality.mean()
    assert abs(votes.confidence[rest].mean() - (error == 0).mean()) < 0.08
    assert abs(votes.within_one[rest].mean() - (error <= 1).mean()) < 0.04


def test_a_spammer_and_a_biased_worker_are_known_by_the_table():
    rng = np.random.default_rng(6)
    answers, _ = scale_crowd("honest", 5, 6, rng, tasks=120, workers=12)
    label = answers.label_of.copy()
    label[answers.worker_of == 0] = rng.integers(0, 5, (answers.worker_of == 0).sum())
    label[answers.worker_of == 1] = np.minimum(label[answers.worker_of == 1] + 1, 4)
    found = vote_on_scale(
        Answers(answers.tasks, answers.workers, answers.classes, answers.task_of,
                answers.worker_of, label), rng=0,
    ).workers_table  # fmt: skip
    assert found[0, 4] > 0.5 > found[2:, 4].max()
    assert found[:, 0].argmax() == 1
    assert found[1, 0] > 0.4


def test_a_scale_is_ordered_or_not_or_in_another_order():
    rng = np.random.default_rng(7)
    answers, right = scale_crowd("honest", 5, 5, rng)
    edges, unknown = edges_of(answers), np.full(right.size, -1)
    assert judge_order(edges, unknown, SCALE, np.random.default_rng(0)).verdict == "ordered"
    moved = edges._replace(label=np.array([4, 0, 1, 2, 3])[edges.label])  # the lowest is last
    found = judge_order(moved, unknown, SCALE, np.random.default_rng(0))
    assert found.verdict == "another order"
    assert found.better in (("best", *SCALE[:4]), ("good", "fair", "poor", "bad", "best"))
    assert "fit the order" in found.describe()
    lot = edges._replace(label=rng.integers(0, 5, edges.label.size))
    assert judge_order(lot, unknown, SCALE, np.random.default_rng(0)).verdict == "not ordered"
    few = Edges(*(column[:10] for column in edges))
    assert "was not tested" in judge_order(few, unknown, SCALE, np.random.default_rng(0)).describe()


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        (["1", "2", "4"], "evenly spaced and in order, found 4 after 2, but 2 after 1"),
        (["1", "3", "2"], "evenly spaced and in order, found 2 after 3"),
        (["1", "2"], "must have 3 to 21 steps"),
        (["a", "b", "a"], "every step of a scale must stand once, found 'a' twice"),
        (["a", "", "b"], "step 2 of the scale has no name"),
        ([str(k) for k in range(22)], "found 22"),
    ],
)
def test_a_scale_that_is_none_is_refused(steps, says):
    with pytest.raises(ValueError, match="scale") as refused:
        check_scale(steps)
    assert says in str(refused.value)


@pytest.fixture
def tables(tmp_path):
    """Answers on five words, and gold."""
    answers, right = scale_crowd("honest", 5, 4, np.random.default_rng(8), tasks=40, workers=10)
    rows = [f"{t},{w},{SCALE[int(k) - 1]}" for t, w, k in answers.rows()]
    (tmp_path / "a.csv").write_text("\n".join(["task,worker,label", *rows]) + "\n")
    rows = [f"{answers.tasks[j]},{SCALE[right[j]]}" for j in range(10)]
    (tmp_path / "g.csv").write_text("\n".join(["task,label", *rows]) + "\n")
    return tmp_path


def command(folder, *more, scale=STEPS, out="o"):
    return crowd_tvcs("vote", folder / "a.csv", "--scale", scale, "--out", folder / out, *more)


def test_the_command_says_what_gold_measured(tables):
    done = check_done(command(tables, "--gold", tables / "g.csv"))
    assert "the scale is ordered" in done.stderr
    assert "on 10 gold tasks, each judged without its own label" in done.stderr
    rows = rows_of(tables / "o" / "labels.csv")
    assert len(rows) == 40
    assert [row["confidence"] for row in rows[:10]] == ["1.0"] * 10
    for row in rows:
        low, at, high = (SCALE.index(row[name]) for name in ("low", "label", "high"))
        assert low <= at <= high
        assert float(row["confidence"]) <= float(row["within_one"]) + 1e-9
    assert len(rows_of(tables / "o" / "workers.csv")) == 10
    run = json.loads((tables / "o" / "run.json").read_text())
    assert run["seed"] == 0
    assert run["parameters"]["scale"] == STEPS
    check_done(command(tables, "--gold", tables / "g.csv", out="again"))
    for name in ("labels.csv", "workers.csv", "summary.json"):
        assert (tables / "o" / name).read_bytes() == (tables / "again" / name).read_bytes()


def test_without_gold_no_confidence_is_stated(tables):
    done = check_done(command(tables))
    assert "confidence not measured: 5 gold tasks with answers are needed, found 0" in done.stderr
    for row in rows_of(tables / "o" / "labels.csv"):
        assert row["label"] in SCALE
        claims = ("confidence", "within_one", "expected_error", "low", "high")
        assert {row[name] for name in claims} == {""}
    assert not json.loads((tables / "o" / "summary.json").read_text())["is_measured"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--classes", "a,b"], "--scale has a model of its own: leave out --classes"),
        (["--method", "majority"], "leave out --method"),
        (["--per-class"], "leave out --per-class"),
    ],
)
def test_options_of_classes_are_refused_beside_a_scale(tables, more, says):
    assert says in check_refused(command(tables, *more))
    assert not (tables / "o").exists()


def test_an_answer_outside_the_scale_is_refused_by_its_line(tables):
    err = check_refused(command(tables, scale="bad,poor,fair,good"))
    assert "a.csv:10, column 'label'" in err
    assert "'best'" in err
    assert "evenly spaced" in command(tables, scale="1,2,4").stderr
