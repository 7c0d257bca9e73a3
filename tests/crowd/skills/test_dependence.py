"""The model of dependence: its formula against loops, its numbers, what it says."""

import json
from itertools import pairwise

import numpy as np
import pytest
from pytest import approx

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.belief.constants import KNOTS
from crowd_tvcs.belief.dependent import answer_likelihoods, dependent_posterior
from crowd_tvcs.skills.dependence import (
    CalibrationBin,
    Dependence,
    calibration_warnings,
    describe_dependence,
)
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.posterior import posterior
from crowd_tvcs.skills.voting.vote import vote
from tests.makers.crowds import scattered


def some_model(rng):
    steps = tuple(rng.normal(0.0, 0.3, len(KNOTS)).tolist())
    below_one = rng.uniform(0.05, 0.6, 3).tolist()
    last = int(rng.choice([10, 12, 25]))
    return Dependence(*rng.uniform(0.1, 1.5, 3).tolist(), *below_one, steps=steps, last=last)


def step_at(model, n):
    """Delta at n answers: linear in log n between the knots."""
    steps, knots = model.steps, (*KNOTS[:-1], model.last)
    if n >= knots[-1]:
        return steps[-1]
    k = max(i for i, knot in enumerate(knots) if knot <= n)
    part = (np.log(n) - np.log(knots[k])) / (np.log(knots[k + 1]) - np.log(knots[k]))
    return (1 - part) * steps[k] + part * steps[k + 1]


def odds(q, n_classes):
    q = min(max(q, 0.001), 0.999)
    return max(0.1, np.log(q * (n_classes - 1) / (1 - q)))


def of_one_task(model, said_of, prior, shares):
    """The formulas of the module, for (label, accuracy, matrix or None) of one task's answers."""
    k, n = len(prior), len(said_of)
    z = [shares * np.log(prior[y]) for y in range(k)]
    mean = sum(odds(q, k) for _, q, _ in said_of) / n if n else 0.0
    for label, q, own in said_of:
        even = [[q if a == y else (1 - q) / (k - 1) for a in range(k)] for y in range(k)]
        own = even if own is None else own
        mixed = [
            [max(1e-4, (1 - model.blend) * even[y][a] + model.blend * own[y][a]) for a in range(k)]
            for y in range(k)
        ]
        f = max(0.0, 1 - model.contrast * (1 - 1 / n) * mean / odds(q, k))
        c = np.exp(step_at(model, n)) / (1 + model.overlap * (n - 1))
        for y in range(k):
            total = sum(mixed[y][a] ** model.temperature for a in range(k))
            x = model.temperature * np.log(mixed[y][label]) - np.log(total)
            z[y] += c * f * x
    inner = np.exp(np.array(z))
    return (1 - model.common) * inner / inner.sum() + model.common * np.array(prior)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("with_matrices", [False, True])
def test_the_chances_are_those_of_the_formula(rng, n_classes, with_matrices):
    sizes = [0, 1, 2, 3, 4, 7, 13, 0, 5, 1]
    task_of = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    n = task_of.size
    labels = rng.integers(0, n_classes, n)
    accuracy = np.concatenate([[0.0, 1.0, 1 / n_classes], rng.uniform(0.1, 0.99, n - 3)])
    matrices = rng.dirichlet(np.full(n_classes, 0.5), (n, n_classes)) if with_matrices else None
    prior = rng.dirichlet(np.ones(n_classes), len(sizes))
    rows = answer_likelihoods(labels, accuracy, matrices, n_classes)
    for shares in (1.0, 0.4):
        model = some_model(rng)
        found = dependent_posterior(model, rows, task_of, len(sizes), prior, shares)
        assert found.sum(axis=1) == approx(1.0)
        for j in range(len(sizes)):
            own = [
                (labels[e], accuracy[e], None if matrices is None else matrices[e])
                for e in np.flatnonzero(task_of == j)
            ]
            assert found[j] == approx(of_one_task(model, own, prior[j], shares), abs=1e-12)


@pytest.mark.parametrize("with_matrices", [False, True])
def test_workers_given_once_give_the_same_bits_as_with_every_answer(rng, with_matrices):
    labels, worker_of, task_of = rng.integers(0, 3, 60), rng.integers(0, 8, 60), np.arange(60) % 11
    accuracy = rng.uniform(0.1, 0.99, 8)
    matrices = rng.dirichlet(np.full(3, 0.5), (8, 3)) if with_matrices else None
    of_answers = None if matrices is None else matrices[worker_of]
    once = answer_likelihoods(labels, accuracy, matrices, 3, worker_of)
    often = answer_likelihoods(labels, accuracy[worker_of], of_answers, 3)
    model, prior = some_model(rng), np.full((11, 3), 1 / 3)
    found = [dependent_posterior(model, rows, task_of, 11, prior, 0.7) for rows in (once, often)]
    assert (found[0] == found[1]).all()
    some = rng.integers(0, 60, 20)
    assert (once.take(some).weight == often.take(some).weight).all()


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_neutral_numbers_are_bayes_rule(rng, n_classes):
    answers = scattered(rng, n_tasks=14, n_classes=n_classes)
    accuracy = rng.uniform(0.3, 0.95, 6)
    matrices = rng.dirichlet(np.full(n_classes, 4.0), (6, n_classes))
    for prior in (None, rng.dirichlet(np.ones(n_classes)), rng.dirichlet(np.ones(n_classes), 14)):
        for skill in (accuracy, rng.uniform(0.3, 0.95, (6, 14)), matrices):
            bayes = posterior(answers, skill, prior)
            assert posterior(answers, skill, prior, Dependence()) == approx(bayes, abs=1e-12)


def test_the_neutral_numbers_take_no_chance_below_one_in_ten_thousand():
    answers = Answers.of([("t", "a", "1"), ("t", "b", "0")])
    found = posterior(answers, [1.0, 0.7], dependence=Dependence())[0]
    assert found[1] / found[0] == approx((1 / 1e-4) * (0.3 / 0.7))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_vote_on_a_skill_is_the_formula_with_the_shares_of_gold_or_a_given_prior(rng, n_classes):
    answers = scattered(rng, n_tasks=14, n_classes=n_classes)
    gold = Gold({f"t{j:02d}": str(j % n_classes) for j in range(9)}, answers.classes)
    skill = estimate_quality(answers, gold)
    model = some_model(rng)
    given = rng.dirichlet(np.ones(n_classes))
    for prior, before, shares in (
        (None, skill.class_prevalence, model.shares),
        (given, given, 1.0),  # one that is known counts in full
    ):
        found = posterior(answers, skill, prior, model)
        for j in range(len(answers.tasks)):
            entries = np.flatnonzero(answers.task_of == j)
            at = answers.worker_of[entries]
            own = list(
                zip(answers.label_of[entries], skill.mean[at], skill.habits[at], strict=True)
            )
            assert found[j] == approx(of_one_task(model, own, before, shares), abs=1e-12)


def test_a_model_that_is_handed_over_goes_before_that_of_the_skill(rng):
    answers = scattered(rng, n_tasks=14, n_classes=2)
    skill = estimate_quality(answers, Gold({f"t{j:02d}": str(j % 2) for j in range(9)}))
    assert skill.dependence is not None
    own = vote(answers, skill=skill).confidence
    same = vote(answers, skill=skill, dependence=skill.dependence).confidence
    assert own == approx(same, abs=0.0, nan_ok=True)
    other = vote(answers, skill=skill, dependence=Dependence(overlap=3.0)).confidence
    assert np.nanmax(abs(own - other)) > 0.01


def test_further_answers_are_worth_less_the_more_they_overlap():
    worth = [
        [Dependence(overlap=r).effective_answers(n) for n in (1, 2, 5, 10)]
        for r in (0, 0.1, 0.2, 1, 9)
    ]
    assert worth[0] == [1, 2, 5, 10]
    assert worth[2][3] == approx(10 / 2.8)  # 3.6, as the design effect has it
    for more, less in pairwise(worth):
        assert less[0] == more[0] == 1.0
        assert all(a > b for a, b in zip(more[1:], less[1:], strict=True))
    for row in worth[:4]:  # beyond an overlap of 1 more answers would be worth less than one
        assert row == sorted(row)
    n = np.array([0, 1, 2, 5, 50])
    factors = [Dependence(overlap=r).factor(n) for r in (0.1, 0.5)]
    assert (factors[0][2:] > factors[1][2:]).all()
    assert factors[0][:2].tolist() == [1.0, 1.0]


def test_agreeing_answers_make_sure_but_never_surer_than_the_common_error_lets():
    rows = [(f"t{n}", f"w{i}", "1") for n in (1, 3, 10, 30) for i in range(n)]
    answers = Answers.of(rows, tasks=["t1", "t3", "t10", "t30"], classes=["0", "1"])
    model = Dependence(overlap=0.1, common=0.1)
    sure = posterior(answers, np.full(30, 0.8), dependence=model)[:, 1]
    assert (np.diff(sure) > 0.0).all()
    assert sure[-1] < 1.0 - 0.1 / 2


def test_even_matrices_are_those_of_an_accuracy(rng):
    accuracy = rng.uniform(0.2, 0.9, 8)
    rows = answer_likelihoods(rng.integers(0, 3, 8), accuracy, None, 3)
    assert (rows.even == even_matrices(accuracy, 3)).all()
    assert (rows.blended(0.0) == rows.blended(0.7)).all()  # without matrices nothing is blended


MEASURED = (
    CalibrationBin(1, 40, 0.8, 0.7, 0.54, 0.82),
    CalibrationBin(None, 40, 0.95, 0.8, 0.65, 0.9),
)


def test_what_is_written_is_read_back(rng):
    for model in (
        Dependence(),
        Dependence.at(rng.normal(size=11), source="gold", choice=-1.5, labels=80, gold=40,
                      score=-0.4, independent_score=-0.6, measured=MEASURED),
    ):  # fmt: skip
        text = json.dumps(model.as_json())
        assert Dependence.from_json(json.loads(text)) == model


def test_a_point_stays_inside_the_ranges_of_the_numbers(rng):
    for point in rng.normal(0.0, 4.0, (20, 11)):
        model = Dependence.at(point)
        assert min(model.temperature, model.overlap, model.shares) > 0.0
        assert all(0.0 < v < 1.0 for v in (model.blend, model.common, model.contrast))
        assert model.steps == tuple(point[6:])


def test_the_order_of_answers_is_named_by_the_sign_of_the_choice():
    of = {8.0: "best first", 1.5: "better ones more", 0.0: "as given"}
    of |= {-1.5: "weaker ones more", -8.0: "weakest first"}
    assert {choice: Dependence(choice=choice, gold=9).order for choice in of} == of
    assert Dependence(choice=1.5).order == ""


def test_one_sentence_says_what_answers_are_worth_and_a_warning_where_claims_part():
    model = Dependence(overlap=0.2, source="gold", gold=40, measured=MEASURED)
    assert describe_dependence(model) == (
        "ten answers carry the information of 3.6 independent ones; on 40 held-out gold tasks "
        "mean confidence is 0.950 and accuracy 0.800"
    )
    (line,) = calibration_warnings(model)  # .8 lies between .54 and .82, .95 not between .65 and .9
    assert line == (
        "warning: with all labels per task, mean confidence on gold is 0.950 but accuracy is 0.800 "
        "(0.650 to 0.900, 40 tasks)"
    )
    for tasks, said_too in ((49, False), (50, True)):  # of few tasks only by all their answers
        off = CalibrationBin(1, tasks, 0.9, 0.5, 0.4, 0.6)
        assert bool(calibration_warnings(Dependence(measured=(off,)))) == said_too
    assert "as in most crowds (no gold, so no confidence is validated)" in describe_dependence(
        Dependence()
    )
    assert calibration_warnings(Dependence()) == []
