"""The fit of the model of dependence: slow twins, simulated crowds, thin and odd gold."""

import numpy as np
import pytest
from pytest import approx
from threadpoolctl import threadpool_info, threadpool_limits

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.belief.intervals import wilson
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.skills.dependence_fit import _prefixes, fit_dependence
from crowd_tvcs.skills.dependence_loss import PREFIXES, PRIOR_DEVIATION, PRIOR_MEAN, Loss
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.held_out import BEST_FIRST, held_out, orders, ranks
from crowd_tvcs.skills.posterior import posterior
from tests.makers.crowds import answered


def simulated(rng, *, n_tasks=400, n_gold=120, n_workers=20, per_task=8, spread=0.2, **more):
    """Answers of workers whose accuracies are spread, gold, and the class of every task."""
    accuracy = rng.uniform(0.75 - spread, 0.75 + spread, n_workers)
    return answered(rng, accuracy, n_tasks, per_task=per_task, n_gold=n_gold, **more)


def independent(answers, gold, **more):
    return estimate_quality(answers, gold, model="independent", **more)


def prefixes(answers, gold, *, best=True):
    skill = independent(answers, gold)
    seen = held_out(answers, gold, skill)
    choice = BEST_FIRST if best else 0.0
    return _prefixes(seen, orders(seen.task_of, seen.lower_bound, choice))


@pytest.mark.parametrize("n_classes", [2, 4, 25])
@pytest.mark.parametrize("best", [True, False])
def test_the_gradient_of_the_loss_is_that_of_differences(rng, n_classes, best):
    answers, gold, _ = simulated(rng, n_gold=40, n_classes=n_classes, common=0.2)
    loss = Loss(prefixes(answers, gold, best=best))
    for _ in range(3):
        point = PRIOR_MEAN + PRIOR_DEVIATION * rng.normal(size=PRIOR_MEAN.size)
        _, gradient = loss(point)
        steps = 1e-5 * np.eye(PRIOR_MEAN.size)
        slow = np.array([(loss(point + s)[0] - loss(point - s)[0]) / 2e-5 for s in steps])
        assert gradient == approx(slow, rel=1e-5, abs=1e-5 * abs(slow).max())


def test_the_loss_without_the_claims_is_the_likelihood_of_the_labels(rng):
    answers, gold, _ = simulated(rng, n_gold=60, common=0.2)
    given = prefixes(answers, gold)
    loss = Loss(given)
    loss.calibration_weight = 0.0
    per_task = -given.score(Dependence.at(PRIOR_MEAN))
    assert loss(PRIOR_MEAN)[0] == approx(60 * per_task)  # the density is 1 at the usual numbers


@pytest.mark.parametrize(("per_task", "last"), [(4, 10), (20, 20)])
def test_the_worth_of_many_answers_is_claimed_for_as_many_as_gold_tasks_have(rng, per_task, last):
    """Not of ten: nothing between five and all of them was fitted to."""
    answers, gold, _ = simulated(rng, n_gold=40, per_task=per_task, n_workers=25)
    model = estimate_quality(answers, gold).dependence
    assert model.last == last
    assert Dependence.from_json(model.as_json()) == model
    between, at = (np.log(model.factor(n) * (1 + model.overlap * (n - 1))) for n in (10, last))
    five = model.steps[3]
    part = np.log(2.0) / np.log(last / 5)
    assert between == approx(five + part * (model.steps[4] - five))
    assert at == approx(model.steps[4])


def test_prefixes_hold_the_first_answers_of_each_task(rng):
    answers, gold, _ = simulated(rng, n_gold=30, per_task=4)
    given = prefixes(answers, gold)
    assert given.n.reshape(len(PREFIXES), 30).tolist() == [[k] * 30 for k in (1, 2, 3, 4, 4)]
    rank = ranks(given.group_of, np.arange(given.entry.size))
    seen = held_out(answers, gold, independent(answers, gold))
    first = given.entry[(given.group_of < 30) & (rank == 0)]
    best = [max(seen.lower_bound[seen.task_of == j]) for j in range(30)]
    assert seen.lower_bound[first].tolist() == best


def test_the_likeliest_numbers_beat_their_neighbours(rng):
    answers, gold, _ = simulated(rng, common=0.25)
    loss = Loss(prefixes(answers, gold))
    found = loss.minimizer()
    least = loss(found)[0]
    assert least < loss(PRIOR_MEAN)[0]
    for step in 0.5 * np.diag(PRIOR_DEVIATION):
        assert least < loss(found + step)[0]
        assert least < loss(found - step)[0]


def fitted_numbers(answers, gold, **more):
    model = estimate_quality(answers, gold, **more).dependence
    six = (model.temperature, model.overlap, model.shares, model.blend, model.common)
    return [*six, model.contrast, *model.steps, model.score]


def uneven(rng):
    """Answers of workers who have all answered another number of gold tasks: no two are alike."""
    answers, gold, _ = simulated(rng, n_gold=120, n_tasks=240, per_task=9, n_workers=9, n_classes=3)
    among_theirs = ranks(answers.worker_of, rng.random(answers.size) + (answers.task_of >= 120))
    answers = answers.select(among_theirs < 50 + 7 * answers.worker_of)
    assert len(set(independent(answers, gold).n_gold.tolist())) == 9
    return answers, gold


def test_the_fit_waits_for_no_threads(rng, monkeypatch):
    """Threads of BLAS for eleven numbers made it take up to six times as long on a busy machine."""
    threads, loss = set(), Loss.__call__

    def watched(self, point):
        threads.update(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return loss(self, point)

    monkeypatch.setattr(Loss, "__call__", watched)
    answers, gold, _ = simulated(rng, n_tasks=60, n_gold=40)
    with threadpool_limits(2, "blas"):
        fit_dependence(answers, gold, independent(answers, gold))
    assert threads == {1}


def test_the_same_gold_gives_the_same_numbers_in_any_order_of_rows(rng):
    answers, gold = uneven(rng)
    rows = answers.rows()
    first = fitted_numbers(Answers.of(rows), gold)
    rng.shuffle(rows)
    turned = Gold(dict(reversed(gold.labels.items())), gold.classes)
    assert fitted_numbers(Answers.of(rows), turned) == first


def test_names_do_not_matter(rng):
    answers, gold = uneven(rng)
    tasks, workers, classes = (
        dict(zip(names, rng.permutation(names).tolist(), strict=True))
        for names in (answers.tasks, answers.workers, answers.classes)
    )
    rows = [(tasks[t], workers[w], classes[k]) for t, w, k in answers.rows()]
    known = {tasks[t]: classes[k] for t, k in gold.labels.items()}
    renamed = fitted_numbers(Answers.of(rows), Gold(known))
    assert renamed == approx(fitted_numbers(answers, gold), rel=1e-4, abs=1e-4)


def test_too_little_gold_falls_back_to_the_usual_numbers_and_says_so(rng):
    for n_gold, per_task, enough in ((4, 8, False), (5, 1, False), (9, 1, False), (5, 8, True)):
        answers, gold, _ = simulated(rng, n_gold=n_gold, per_task=per_task, common=0.2)
        model = estimate_quality(answers, gold).dependence
        assert model.source == ("gold" if enough else "little gold")
        assert model.gold == (n_gold if enough else 0)
        assert len(model.measured) == (5 if enough else 0)
        if not enough:
            usual = Dependence.at(PRIOR_MEAN)
            assert model.blend == 0.0
            assert (model.overlap, model.common) == (usual.overlap, usual.common)


def test_gold_tasks_that_nobody_answered_do_not_count_as_gold(rng):
    answers, gold, _ = simulated(rng, n_gold=20)
    more = Gold(gold.labels | {f"unseen{j}": "c00000" for j in range(50)}, gold.classes)
    assert estimate_quality(answers, more).dependence.gold == 20


@pytest.mark.parametrize(
    "what", [{"n_classes": 25}, {"n_workers": 1, "per_task": 1}, {"n_workers": 3, "per_task": 3}]
)
def test_odd_crowds_are_fitted(rng, what):
    answers, gold, _ = simulated(rng, n_gold=50, common=0.2, **what)
    skill = estimate_quality(answers, gold)
    assert skill.dependence.source == "gold"
    assert (skill.habits is None) == (len(answers.classes) > 20)
    p = posterior(answers, skill)
    assert np.isfinite(p).all()
    assert p.sum(axis=1) == approx(1.0)
    assert (p >= 0.0).all()


def test_gold_of_one_class_and_a_worker_without_gold_are_fitted(rng):
    answers, gold, _ = simulated(rng, n_gold=120)
    one = Gold({t: k for t, k in gold.labels.items() if k == "c00000"}, gold.classes)
    rows = [*answers.rows(), ("t00399", "new", "c00001")]
    skill = estimate_quality(Answers.of(rows), one)
    assert skill.dependence.source == "gold"
    assert skill.n_gold[skill.workers.index("new")] == 0
    p = posterior(Answers.of(rows), skill)
    assert np.isfinite(p).all()
    assert (p.max(axis=1) <= 1.0).all()


def test_the_intervals_are_wilsons():
    from scipy.stats import binomtest

    for hits, n in ((0, 5), (5, 5), (3, 7), (80, 100), (499, 500)):
        expected = binomtest(hits, n).proportion_ci(0.95, method="wilson")
        assert wilson(hits / n, n) == approx((expected.low, expected.high), abs=1e-4)


def test_which_answers_are_fitted_follows_from_those_that_are_voted_on(rng):
    answers, gold, _ = simulated(rng, n_gold=80)
    skill = independent(answers, gold)
    is_open = answers.task_of >= 80
    by_skill = ranks(answers.task_of, -skill.lower_confidence_bound()[answers.worker_of])
    drawn = ranks(answers.task_of, rng.random(answers.size))
    for k in (1, 3):
        best = fit_dependence(answers, gold, skill, like=answers.select(is_open & (by_skill < k)))
        any_ = fit_dependence(answers, gold, skill, like=answers.select(is_open & (drawn < k)))
        assert best.dependence.choice > 2.0
        assert abs(any_.dependence.choice) <= 1.0
        assert best.dependence.labels == k * 320
    assert fit_dependence(answers, gold, skill).dependence.order == "best first"


def claims(answers, truth, skill, n_gold, order):
    """Claimed and reached at 1, 3 and all labels of the tasks that are not gold."""
    rank, out = ranks(answers.task_of, order), []
    for k in (1, 3, None):
        seen = answers if k is None else answers.select(rank < k)
        p = posterior(seen, skill)[n_gold:]
        out.append((p.max(axis=1).mean(), (p.argmax(axis=1) == truth[n_gold:]).mean()))
    return np.array(out)


def of_several_crowds(rng, times, **what):
    """Mean claims of crowds by the model of dependence and by Bayes' rule, best workers first."""
    found = []
    for _ in range(times):
        answers, gold, truth = simulated(rng, n_tasks=2400, n_gold=400, **what)
        skill = estimate_quality(answers, gold)
        bayes = independent(answers, gold)
        order = -bayes.lower_confidence_bound()[answers.worker_of]
        found.append([claims(answers, truth, s, 400, order) for s in (skill, bayes)])
    return np.mean(found, axis=0)


@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_workers_who_err_independently_lose_nothing_by_the_model(rng, n_classes):
    ours, bayes = of_several_crowds(rng, 4, n_classes=n_classes)
    assert abs(ours[:, 0] - ours[:, 1]).max() < 0.02
    assert (ours[:, 1] > bayes[:, 1] - 0.005).all()


def test_of_workers_with_a_common_error_no_more_is_claimed_than_reached(rng):
    ours, bayes = of_several_crowds(rng, 4, common=0.3, per_task=12)
    assert abs(ours[:, 0] - ours[:, 1]).max() < 0.03
    assert bayes[2, 0] - bayes[2, 1] > 0.1
    assert (ours[:, 1] > bayes[:, 1] - 0.005).all()
