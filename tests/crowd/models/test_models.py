"""Models as workers: the common errors, the fit on gold, and what is left for people."""

from dataclasses import replace

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality
from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.belief.dependent import answer_likelihoods, family_weights
from crowd_tvcs.cli.recorded.models import contradictions
from crowd_tvcs.models.calibration import (
    PRIOR_MEAN,
    PRIOR_PRECISION,
    _leave_one_out,
    calibrate,
    fit_shift_and_slope,
    logit,
)
from crowd_tvcs.models.deferral import DeferredTasks, open_tasks
from crowd_tvcs.models.fit import fit_models
from crowd_tvcs.models.held_out_gold import HeldOutGold
from crowd_tvcs.models.people import expected_with_people, fit_people, people_needed
from crowd_tvcs.models.simulation import simulate_models
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.skills.dependence_fit import FAMILY_OVERLAP
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.posterior import posterior as vote_posterior


def answers_of(message, classes=("0", "1")):
    """Answers of models (rows) to tasks (columns), -1 for none, to gold first."""
    i, j = np.nonzero(message >= 0)
    names = (
        [f"t{x:04d}" for x in range(message.shape[1])],
        [f"m{x}" for x in range(message.shape[0])],
    )
    return Answers(*names, classes, j, i, message[i, j])


def test_models_alone_in_their_families_are_judged_as_the_weighted_vote_judges_workers(rng):
    """The same gold and the same answers: the same chances, whoever labels."""
    truth = rng.integers(0, 2, 300)
    message = np.where(rng.random((4, 300)) < [[0.9], [0.8], [0.7], [0.6]], truth, 1 - truth)
    answers = answers_of(message)
    gold = Gold({f"t{j:04d}": str(truth[j]) for j in range(150)})
    found = fit_models(answers, gold, {f"m{i}": f"f{i}" for i in range(4)})
    skill = estimate_quality(answers, gold, like=answers)
    assert found.dependence.within == FAMILY_OVERLAP
    weighted = vote_posterior(answers, skill)
    assert found.posterior[150:] == pytest.approx(weighted[150:], abs=1e-9)


def test_answers_of_one_family_count_less_than_those_of_several(rng):
    truth = rng.integers(0, 2, 200)
    message = np.where(rng.random((3, 200)) < 0.8, truth, 1 - truth)
    gold = Gold({f"t{j:04d}": str(truth[j]) for j in range(9)})  # too little to fit anything
    sure = []
    for families in ("fff", "ffg", "fgh"):
        of = {f"m{i}": name for i, name in enumerate(families)}
        found = fit_models(answers_of(message), gold, of)
        assert not found.is_fitted
        agreed = (message == message[0]).all(axis=0)
        sure.append(found.posterior[agreed].max(axis=1)[-1])
    assert sure == sorted(sure)
    assert sure[0] < sure[-1] - 0.01


def test_what_an_answer_counts_is_the_design_effect_of_its_family():
    group, family = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 0, 0])
    assert family_weights(0.5, group, family) == pytest.approx([2 / 3, 2 / 3, 1.0, 0.5, 0.5, 0.5])
    assert family_weights(1.0, group, family) == pytest.approx([1 / 2, 1 / 2, 1.0, *[1 / 3] * 3])
    assert (family_weights(0.0, group, family) == 1.0).all()


def test_a_shift_moves_the_odds_to_be_right_and_leaves_the_shares_of_mistakes(rng):
    own = rng.dirichlet(np.ones(3), (2, 3))
    rows = answer_likelihoods(
        np.array([0, 2, 1]), np.array([0.6, 0.8]), own, 3, np.array([0, 1, 0])
    )
    shift = np.array([0.0, 1.0, -0.5])
    moved = rows.shifted(shift)
    for matrices, before in ((moved.even, rows.even), (moved.own, rows.own)):
        was = before[rows.worker_of]
        assert matrices.sum(axis=2) == pytest.approx(np.ones((3, 3)))
        at = np.arange(3)
        odds = [np.log(m[:, at, at] / (1 - m[:, at, at])) for m in (was, matrices)]
        assert odds[1] - odds[0] == pytest.approx(np.tile(shift[:, None], 3))
        assert matrices[:, 0, 1] * was[:, 0, 2] == pytest.approx(matrices[:, 0, 2] * was[:, 0, 1])


def test_a_gold_task_is_judged_by_the_others(rng):
    """Turned labels of one fold change what is said of its tasks by nothing but the fit."""
    crowd = simulate_models(2, 20, n_gold=40, rng=3)
    found = fit_models(crowd.answers, crowd.gold_labels, crowd.family_of)
    assert found.posterior[found.held_out_gold.tasks] == pytest.approx(found.held_out_gold.chances)
    assert found.held_out_gold.truth.tolist() == found.truth[found.held_out_gold.tasks].tolist()
    known = found.posteriors()[found.held_out_gold.tasks]
    own = [
        p[np.arange(40), found.held_out_gold.truth].mean()
        for p in (known, found.held_out_gold.chances)
    ]
    assert own[0] > own[1]  # with its own answers a task looks better


def test_the_jack_knife_of_two_numbers_is_what_leaving_one_out_gives(rng):
    n = 60
    x, base = rng.normal(size=n), np.full(n, 1.0)
    is_right = rng.random(n) < 1 / (1 + np.exp(-(1.2 + 0.8 * x)))
    both = fit_shift_and_slope(base, x, is_right)
    near = _leave_one_out(both, base, x, is_right)
    for i in range(0, n, 7):
        rest = np.arange(n) != i
        exact = fit_shift_and_slope(base[rest], x[rest], is_right[rest])
        assert near[i] == pytest.approx(exact, abs=0.01)
        assert not np.allclose(exact, both, atol=1e-4)


def test_the_two_numbers_are_the_likeliest(rng):
    x = rng.normal(size=80)
    is_right = rng.random(80) < 0.7

    def loss(both):
        eta = 0.5 + both[0] + both[1] * x
        return (
            np.logaddexp(0, np.where(is_right, -eta, eta)).sum()
            + (PRIOR_PRECISION * (both - PRIOR_MEAN) ** 2).sum() / 2
        )

    both = fit_shift_and_slope(np.full(80, 0.5), x, is_right)
    for step in ([1e-3, 0], [-1e-3, 0], [0, 1e-3], [0, -1e-3]):
        assert loss(both) < loss(both + step)


def test_confidence_that_boasts_is_taken_down_and_that_tells_nothing_is_not_used(rng):
    n = 1000
    truth = rng.integers(0, 2, n)
    hard = rng.random(n) < 0.5
    right = {"knows": rng.random(n) < np.where(hard, 0.6, 0.95), "boasts": rng.random(n) < 0.75}
    stated = {"knows": np.where(hard, 0.9, 0.999), "boasts": rng.uniform(0.9, 0.999, n)}
    names = list(right)
    rows = [(f"t{j:04d}", w, str(truth[j] if right[w][j] else 1 - truth[j]))
            for j in range(n) for w in names]  # fmt: skip
    answers = Answers.of(rows)
    place = {t: j for j, t in enumerate(answers.tasks)}
    message = np.array([stated[w][place[t]] for t, w, _ in answers.rows()])
    gold = Gold({f"t{j:04d}": str(truth[j]) for j in range(400)})
    found = calibrate(answers, gold, message)
    who, j = answers.worker_of, answers.task_of
    knows = who == answers.workers.index("knows")
    quality = 1 / (1 + np.exp(-logit(found.skill.mean)[who] - found.shift))
    for is_hard, accuracy in ((True, 0.6), (False, 0.95)):
        some = knows & (hard[j] == is_hard) & (j >= 400)
        assert quality[some].mean() == pytest.approx(accuracy, abs=0.05)
    assert quality[~knows].mean() == pytest.approx(0.75, abs=0.05)
    assert quality[~knows].std() < 0.06
    assert set(found.coefficients) == {0, 1}


def test_confidence_without_enough_gold_changes_nothing():
    crowd = simulate_models(2, 30, n_gold=9, rng=0)
    args = crowd.answers, crowd.gold_labels, crowd.family_of
    plain, stated = fit_models(*args), fit_models(*args, confidence=crowd.confidence)
    assert stated.calibrated.unused == dict.fromkeys(range(5), 9)
    assert (plain.posterior == stated.posterior).all()
    assert not plain.is_fitted
    assert plain.dependence.source == "little gold"


def test_confidence_stays_with_its_answer_where_gold_has_a_class_of_its_own(rng):
    crowd = simulate_models(1, 30, n_gold=40, rng=0)
    a = crowd.answers
    order = rng.permutation(a.size)
    turned = Answers(a.tasks, a.workers, a.classes, a.task_of[order], a.worker_of[order],
                     a.label_of[order])  # fmt: skip
    gold = Gold(crowd.gold_labels.labels, ["0", "1", "2"])
    first = fit_models(a, gold, crowd.family_of, confidence=crowd.confidence)
    other = fit_models(turned, gold, crowd.family_of, confidence=crowd.confidence[order])
    assert first.calibrated.coefficients
    assert other.posterior == pytest.approx(first.posterior)


def gaps_of(n_gold=300, **settings):
    """Claimed less reached on four crowds, and their log scores: fitted, and as if independent."""
    gaps, scores = np.empty((2, 4)), np.empty((2, 4))
    for seed in range(4):
        crowd = simulate_models(1, 2000, n_gold=n_gold, rng=seed, **settings)
        found = fit_models(crowd.answers, crowd.gold_labels, crowd.family_of)
        y = np.array([found.answers.classes.index(crowd.truth[t]) for t in found.answers.tasks])
        alone = replace(found, dependence=Dependence())
        is_open = found.truth < 0
        for at, one in enumerate((found, alone)):
            chances = one.posteriors()[is_open]
            right = chances.argmax(axis=1) == y[is_open]
            gaps[at, seed] = chances.max(axis=1).mean() - right.mean()
            own = chances[np.arange(right.size), y[is_open]]
            scores[at, seed] = np.log(own + 1e-12).mean()
    return gaps, scores


@pytest.mark.parametrize("settings", [
    {}, {"shared_within": 0.0, "shared_across": 0.0}, {"shared_within": 0.9, "shared_across": 0.0},
    {"families": (1, 1, 1)}, {"classes": ("a", "b", "c", "d")}, {"shares": (0.85, 0.15)},
    {"difficulty_spread": 1.0}, {"shared_within": 0.9, "shared_across": 0.8}, {"families": (1,)},
    {"families": (5,)},
])  # fmt: skip
def test_what_is_claimed_is_reached(settings):
    """On tasks without gold: 300 gold tasks know an accuracy to .02; twice that is allowed.

    Also where hard tasks are hard for all models, of which too much was claimed.
    """
    gaps, scores = gaps_of(**settings)
    assert np.abs(gaps[0]).mean() < 0.025
    assert np.abs(gaps[0]).max() < 0.045
    if settings in ({}, {"shared_within": 0.9, "shared_across": 0.0}, {"difficulty_spread": 1.0}):
        assert gaps[1].mean() > 2 * np.abs(gaps[0]).mean()
        assert scores[0].mean() > scores[1].mean()


def llms(rng, n_tasks=700, n_classes=3, families=(3, 3)):
    """Language models by utilities: noise of all, of a family and of each; classes alike."""
    truth = rng.integers(0, n_classes, n_tasks)
    shape, eye = (n_tasks, n_classes), np.eye(n_classes)
    common = 1.1 * rng.standard_normal(shape) + 0.3 * rng.standard_normal(eye.shape)[truth]
    message = []
    for size in families:
        of_family = 0.7 * rng.standard_normal(shape) + 0.5 * rng.standard_normal(eye.shape)[truth]
        level = rng.uniform(1.0, 2.2)
        for _ in range(size):
            own = 0.4 * rng.standard_normal(shape)
            message.append((level * eye[truth] + common + of_family + own).argmax(axis=1))
    return truth, np.array(message)


def test_of_models_that_err_together_no_more_is_claimed_than_is_reached(rng):
    """By shares of mistakes .05 too much was claimed on the mean of such crowds, .16 at most."""
    gaps, sure, right = [], 0, 0
    for _ in range(6):
        truth, message = llms(rng)
        answers = answers_of(message, ("a", "b", "c"))
        gold = Gold({f"t{j:04d}": "abc"[truth[j]] for j in range(150)}, ["a", "b", "c"])
        found = fit_models(answers, gold, {f"m{i}": f"f{i // 3}" for i in range(6)})
        chances, y = found.posterior[150:], truth[150:]
        hit, claim = chances.argmax(axis=1) == y, chances.max(axis=1)
        gaps.append(claim.mean() - hit.mean())
        sure, right = sure + (claim >= 0.95).sum(), right + hit[claim >= 0.95].sum()
    assert abs(np.mean(gaps)) < 0.025
    assert np.abs(gaps).max() < 0.08
    assert right >= 0.93 * sure


def test_people_needed_are_those_with_whom_a_plan_expects_the_target(rng):
    chances = rng.dirichlet(np.ones(3), 12)
    expected = expected_with_people(chances, 0.7, 4)
    for n in range(5):
        quality = Quality(np.full((max(n, 1), 12), 0.7), [f"w{i}" for i in range(max(n, 1))],
                          [f"t{j}" for j in range(12)])  # fmt: skip
        plan = Plan(quality, n_classes=3, class_prior=chances)
        everybody = np.full(quality.shape, n > 0)
        assert expected[:, n] == pytest.approx(plan.accuracy(everybody), abs=1e-5)
    needed = people_needed(expected, 0.85)
    for row, n in zip(expected, needed, strict=True):
        assert (row < 0.85).all() if n < 0 else (row[n] >= 0.85 and (row[:n] < 0.85).all())
    assert people_needed(np.array([[0.96, 0.97], [0.5, 0.6]]), 0.95).tolist() == [0, -1]


@pytest.mark.parametrize(
    ("difficulty_spread", "confidence"), [(0.0, False), (1.0, False), (1.0, True)]
)
def test_where_models_are_unsure_people_err_more_and_that_is_known(difficulty_spread, confidence):
    crowd = simulate_models(12, 2000, difficulty_spread=difficulty_spread, n_gold=600, rng=4)
    stated = crowd.confidence if confidence else None
    models = fit_models(crowd.answers, crowd.gold_labels, crowd.family_of, confidence=stated)
    people = fit_people(models, crowd.answers, crowd.gold_labels, crowd.people)
    truth = np.array([int(crowd.truth[t]) for t in crowd.answers.tasks])
    a = crowd.answers.select(crowd.of(models=False, tasks=crowd.answers.tasks))
    assert models.answers.tasks == a.tasks
    right = np.bincount(a.task_of, a.label_of == truth[a.task_of]) / 12
    is_open = models.truth < 0
    order = np.argsort(models.posterior.max(axis=1)[is_open])
    for part in np.array_split(order, 3):
        claimed, reached = people.mean_quality[is_open][part].mean(), right[is_open][part].mean()
        assert claimed == pytest.approx(reached, abs=0.04)
    assert people.slope > 0.1 if difficulty_spread else people.slope < 0.05


def test_people_with_little_gold_are_as_good_everywhere():
    crowd = simulate_models(1, 20, difficulty_spread=1.0, n_gold=9, rng=4)
    models = fit_models(crowd.answers, crowd.gold_labels, crowd.family_of)
    people = fit_people(models, crowd.answers, crowd.gold_labels, crowd.people)
    assert (people.shift, people.slope) == (0.0, 0.0)
    assert people.skill.workers == ("p1",)
    assert people.mean_quality == pytest.approx(people.skill.mean[0], abs=1e-4)


def test_models_that_nobody_answered_for_are_refused():
    answers = Answers.of([("t", "ann", "0"), ("t2", "ann", "1")])
    with pytest.raises(ValueError, match="no model has an answer"):
        fit_models(answers, Gold({"t": "0"}, ["0", "1"]), {"m": "f"})


@pytest.mark.parametrize(("arguments", "message"), [
    ({"families": ()}, "families must be >= 1, found 0"),
    ({"families": (2, 0)}, "families must be >= 1, found 0"),
    ({"shared_within": 1.5}, r"shared_within must be in \[0, 1\], found 1.5"),
    ({"difficulty_spread": -1.0}, "difficulty_spread must be >= 0"),
    ({"n_gold": -1}, "n_gold must be >= 0"),
])  # fmt: skip
def test_simulated_arguments_out_of_range_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate_models(**arguments)


def test_simulated_workers_are_as_good_as_given_and_err_together():
    crowd = simulate_models(
        4, 20_000, families=(3, 3), shared_within=0.8, shared_across=0.5, n_gold=0, rng=1
    )
    a = crowd.answers
    truth = np.array([int(crowd.truth[t]) for t in a.tasks])
    wrong = np.zeros((10, 20_000), dtype=bool)
    wrong[a.worker_of, a.task_of] = a.label_of != truth[a.task_of]
    assert 1 - wrong.mean(axis=1) == pytest.approx(list(crowd.quality.values()), abs=0.012)
    tied = np.corrcoef(wrong)
    assert tied[0, 1:3].min() > tied[0, 3:6].max() > tied[0, 6:].max() + 0.05
    assert np.abs(tied[6:, :6]).max() < 0.03


def handed_with(claim, hits, *, agreed="11", target=0.9):
    """Two models and 40 gold tasks of which `claim` is claimed and `hits` are right."""
    truth = np.ones(40, dtype=int)
    truth[hits:] = 0
    message = np.full((2, 60), int(agreed[0]))
    answers = answers_of(message)
    gold = Gold({f"t{j:04d}": str(truth[j]) for j in range(40)}, ["0", "1"])
    found = fit_models(answers, gold, {"m0": "f", "m1": "g"})
    chances = np.tile([1 - claim, claim], (40, 1))
    held_out_gold = HeldOutGold(np.arange(40), truth, chances, chances)
    found.__dict__["posterior"] = np.tile([1 - claim, claim], (60, 1))
    found = replace(found, held_out_gold=held_out_gold)
    found.__dict__["posterior"] = np.tile([1 - claim, claim], (60, 1))
    return DeferredTasks(found, open_tasks(found), np.full(60, 0.8), target, 5)


def test_a_claim_that_gold_contradicts_is_reported_and_needs_somebody():
    """A task was .96 sure and needed nobody, while the summary knew of .808 reached."""
    good = handed_with(0.95, 38)
    assert good.doubt == ""
    [sentence] = good.sentences()
    assert sentence == (
        "after 2 models agree on 1 (20 tasks) the confidence of a task is .95, and it needs no "
        "people to reach .9"
    )
    assert {row[5] for row in good.rows()} == {""}
    bad = handed_with(0.95, 30)
    [sentence] = bad.sentences()
    assert "needs no people" not in sentence
    assert (
        "on 40 such tasks mean confidence is 0.950 but accuracy is 0.750 (0.598 to 0.858)"
        in sentence
    )
    assert sentence.endswith("the number of people needed to reach .9 is unknown")
    assert all("accuracy is 0.750" in row[5] for row in bad.rows())


def test_what_no_gold_task_is_like_needs_people_whatever_is_claimed():
    """Gold of one class says nothing of tasks on which the models agree on another."""
    found = handed_with(0.95, 38)
    elsewhere = replace(found.models.held_out_gold, tasks=np.array([], dtype=int),
                        truth=np.array([], dtype=int), chances=np.empty((0, 2)))  # fmt: skip
    models = replace(found.models, held_out_gold=elsewhere)
    models.__dict__["posterior"] = np.tile([0.05, 0.95], (60, 1))
    [sentence] = replace(found, models=models).sentences()
    assert "but there is no such gold task" in sentence
    assert "needs no people" not in sentence


def test_tasks_that_no_model_has_answered_have_no_label():
    message = np.ones((2, 60), dtype=int)
    message[:, -1] = -1
    message[0, :20] = 0
    gold = Gold({f"t{j:04d}": str(j % 2) for j in range(30)}, ["0", "1"])
    found = fit_models(answers_of(message), gold, {"m0": "f", "m1": "g"})
    *_, last = DeferredTasks(found, open_tasks(found), None, 0.9, 5).rows()
    assert last[:4] == ["t0059", 0, "", ""]


def test_the_terminal_warns_where_gold_is_against_the_claims():
    assert contradictions(handed_with(0.95, 38)) == []
    whole, sure = contradictions(handed_with(0.95, 30))
    assert whole == (
        "warning: the confidence of all tasks is too high: on 40 gold tasks its mean is 0.950, but "
        "accuracy is 0.750 (0.598 to 0.858)"
    )
    assert sure.startswith("warning: the confidence of tasks at 0.9 or above is too high")
