"""Models as workers: the common errors, the fit on gold, and what is left for people."""

import itertools

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality
from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.models.calibration import PRECISION, PRIOR, _without_own, calibrate, likeliest
from crowd_tvcs.models.common_errors import Evidence, Shares, independent, posterior
from crowd_tvcs.models.fit import fit_models
from crowd_tvcs.models.people import (
    MOST_MODELS,
    cheapest,
    expected_with_people,
    fit_people,
    offers,
    people_needed,
)
from crowd_tvcs.models.simulation import simulate_models
from crowd_tvcs.skills.vote import posterior as vote_posterior


def by_enumeration(labels, families, quality, prior, shares):
    """The three steps of the model, summed over every hidden class of one task."""
    k = len(prior)
    names = sorted(set(families))
    best = {f: max(q for q, g in zip(quality, families, strict=True) if g == f) for f in names}
    common = {f: shares.within[f] * min(1.0, k / (k - 1) * (1 - best[f])) for f in names}
    e = shares.between * min(common.values())
    own = {f: 1 - (1 - common[f]) / (1 - e) for f in names}

    def passed(z, y, error):
        return (1 - error) * (z == y) + error / k

    out = np.zeros(k)
    for y in range(k):
        for top in range(k):
            for zs in itertools.product(range(k), repeat=len(names)):
                z_of = dict(zip(names, zs, strict=True))
                chance = prior[y] * passed(top, y, e)
                for f in names:
                    chance *= passed(z_of[f], top, own[f])
                for label, f, q in zip(labels, families, quality, strict=True):
                    r = (q - common[f] / k) / (1 - common[f])
                    chance *= r if label == z_of[f] else (1 - r) / (k - 1)
                out[y] += chance
    return out / out.sum()


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_posterior_is_what_enumeration_of_hidden_classes_gives(rng, k):
    for _ in range(20):
        n = int(rng.integers(1, 6))
        families = rng.integers(0, 3, n)
        quality = rng.uniform(1 / k + 0.05, 0.95, n)
        labels = rng.integers(0, k, n)
        prior = rng.dirichlet(np.ones(k))
        shares = Shares(rng.uniform(0, 1, 3), rng.uniform(0, 0.95))
        given = Evidence(np.zeros(n, dtype=int), families, labels, quality, prior[None])
        expected = by_enumeration(labels, families.tolist(), quality, prior, shares)
        assert posterior(given, shares)[0] == pytest.approx(expected, abs=1e-7)


def evidence_of(rng, m=50, k=3, n=5):
    table = np.where(rng.random((n, m)) < 0.8, rng.integers(0, k, (n, m)), -1)
    i, j = np.nonzero(table >= 0)
    family = np.array([0, 0, 0, 1, 1])[:n]
    quality = rng.uniform(0.4, 0.9, n)
    prior = rng.dirichlet(np.ones(k), m)
    return Evidence(j, family[i], table[i, j], quality[i], prior), table, quality


def test_without_shares_models_vote_as_independent_workers_do(rng):
    given, table, quality = evidence_of(rng)
    i, j = np.nonzero(table >= 0)
    names = [[f"{c}{x:02d}" for x in range(size)] for c, size in (("t", 50), ("w", 5), ("", 3))]
    answers = Answers(*names, j, i, table[i, j])
    expected = vote_posterior(answers, quality, given.prior)
    assert posterior(given, independent(2)) == pytest.approx(expected, abs=1e-9)


def test_one_answer_tells_what_its_quality_says_whatever_is_shared():
    for within, between in itertools.product((0.0, 0.5, 1.0), (0.0, 0.9)):
        given = Evidence(
            *(np.array([0]),) * 2, np.array([1]), np.array([0.8]), np.full((1, 2), 0.5)
        )
        assert posterior(given, Shares(np.array([within]), between))[0, 1] == pytest.approx(0.8)


def test_a_family_that_shares_all_its_mistakes_is_worth_its_best_member():
    quality = np.array([0.8, 0.8, 0.8])
    given = Evidence(
        np.zeros(3, int), np.zeros(3, int), np.ones(3, int), quality, np.full((1, 2), 0.5)
    )
    sure = [posterior(given, Shares(np.array([s]), 0.0))[0, 1] for s in (0.0, 0.3, 0.7, 1.0)]
    assert sure == sorted(sure, reverse=True)
    assert sure[0] == pytest.approx(0.8**3 / (0.8**3 + 0.2**3))
    assert sure[-1] == pytest.approx(0.8, abs=1e-6)


def test_classes_in_another_order_and_tasks_in_another_place_change_nothing(rng):
    given, _, _ = evidence_of(rng)
    shares = Shares(np.array([0.6, 0.3]), 0.4)
    chances = posterior(given, shares)
    order = np.array([2, 0, 1])
    turned = Evidence(
        given.task_of, given.family_of, np.argsort(order)[given.label_of], given.quality,
        given.prior[:, order],
    )  # fmt: skip
    assert posterior(turned, shares) == pytest.approx(chances[:, order])
    some = np.array([30, 4, 17])
    assert posterior(given.of_tasks(some), shares) == pytest.approx(chances[some])


def test_a_gold_task_tells_nothing_of_itself(rng):
    """Turning the label of one gold task changes its evidence by nothing but its own label."""
    crowd = simulate_models(2, 20, n_gold=40, rng=3)
    labels = dict(crowd.gold_labels.labels)
    first = fit_models(crowd.answers, Gold(labels, ["0", "1"]), crowd.family_of)
    labels["gold07"] = "1" if labels["gold07"] == "0" else "0"
    other = fit_models(crowd.answers, Gold(labels, ["0", "1"]), crowd.family_of)
    j = first.answers.tasks.index("gold07")
    own = first.evidence.task_of == j
    assert first.evidence.prior[j] == pytest.approx(other.evidence.prior[j])
    counts = [f.calibrated.skill.n_right - (f.answers.label_of[own] == f.truth[j])
              for f in (first, other)]  # fmt: skip
    assert counts[0].tolist() == counts[1].tolist()


def test_the_jack_knife_of_two_numbers_is_what_leaving_one_out_gives(rng):
    n = 60
    x, base = rng.normal(size=n), np.full(n, 1.0)
    is_right = rng.random(n) < 1 / (1 + np.exp(-(1.2 + 0.8 * x)))
    both = likeliest(base, x, is_right)
    near = _without_own(both, base, x, is_right)
    for i in range(0, n, 7):
        rest = np.arange(n) != i
        exact = likeliest(base[rest], x[rest], is_right[rest])
        assert near[i] == pytest.approx(exact, abs=0.01)
        assert not np.allclose(exact, both, atol=1e-4)


def test_the_two_numbers_are_the_likeliest(rng):
    x = rng.normal(size=80)
    is_right = rng.random(80) < 0.7

    def loss(both):
        eta = 0.5 + both[0] + both[1] * x
        return (
            np.logaddexp(0, np.where(is_right, -eta, eta)).sum()
            + (PRECISION * (both - PRIOR) ** 2).sum() / 2
        )

    both = likeliest(np.full(80, 0.5), x, is_right)
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
    said = np.array([stated[w][place[t]] for t, w, _ in answers.rows()])
    gold = Gold({f"t{j:04d}": str(truth[j]) for j in range(400)})
    found = calibrate(answers, gold, said)
    who, j = answers.worker_of, answers.task_of
    knows = who == answers.workers.index("knows")
    for is_hard, accuracy in ((True, 0.6), (False, 0.95)):
        some = knows & (hard[j] == is_hard) & (j >= 400)
        assert found.quality[some].mean() == pytest.approx(accuracy, abs=0.05)
    assert found.quality[~knows].mean() == pytest.approx(0.75, abs=0.05)
    assert found.quality[~knows].std() < 0.06
    assert set(found.moved) == {0, 1}


def test_confidence_without_enough_gold_changes_nothing():
    crowd = simulate_models(2, 30, n_gold=9, rng=0)
    args = crowd.answers, crowd.gold_labels, crowd.family_of
    plain, stated = fit_models(*args), fit_models(*args, confidence=crowd.confidence)
    assert stated.calibrated.unused == dict.fromkeys(range(5), 9)
    assert (plain.posterior == stated.posterior).all()
    assert not plain.is_fitted
    assert plain.shares.within.tolist() == [0.5, 0.5]
    assert plain.shares.between == pytest.approx(0.3, abs=0.01)


def test_confidence_stays_with_its_answer_where_gold_has_a_class_of_its_own(rng):
    crowd = simulate_models(1, 30, n_gold=40, rng=0)
    a = crowd.answers
    order = rng.permutation(a.size)
    turned = Answers(a.tasks, a.workers, a.classes, a.task_of[order], a.worker_of[order],
                     a.label_of[order])  # fmt: skip
    gold = Gold(crowd.gold_labels.labels, ["0", "1", "2"])
    first = fit_models(a, gold, crowd.family_of, confidence=crowd.confidence)
    other = fit_models(turned, gold, crowd.family_of, confidence=crowd.confidence[order])
    assert first.calibrated.moved
    assert other.posterior == pytest.approx(first.posterior)


def test_with_much_gold_the_shares_are_found():
    for within, between in ((0.0, 0.0), (0.9, 0.0), (0.5, 0.9)):
        crowd = simulate_models(
            1, 10, within=within, between=between, families=(4, 4), n_gold=2000, rng=5
        )
        found = fit_models(crowd.answers, crowd.gold_labels, crowd.family_of).shares
        assert found.within == pytest.approx([within] * 2, abs=0.12)
        if within:
            assert found.between == pytest.approx(between, abs=0.2)


def gaps_of(settings):
    """Claimed less reached on four crowds, and their log scores: fitted, and as if independent."""
    gaps, scores = np.empty((2, 4)), np.empty((2, 4))
    for seed in range(4):
        crowd = simulate_models(1, 2000, n_gold=300, rng=seed, **settings)
        found = fit_models(crowd.answers, crowd.gold_labels, crowd.family_of)
        is_open = found.truth < 0
        y = np.array([found.answers.classes.index(crowd.truth[t]) for t in found.answers.tasks])
        for at, shares in enumerate((found.shares, independent(len(found.families)))):
            chances = posterior(found.evidence, shares)[is_open]
            right = chances.argmax(axis=1) == y[is_open]
            gaps[at, seed] = chances.max(axis=1).mean() - right.mean()
            own = chances[np.arange(right.size), y[is_open]]
            scores[at, seed] = np.log(own + 1e-12).mean()
    return gaps, scores


@pytest.mark.parametrize("settings", [
    {}, {"within": 0.0, "between": 0.0}, {"within": 0.9, "between": 0.0}, {"families": (1, 1, 1)},
    {"classes": ("a", "b", "c", "d")}, {"shares": (0.85, 0.15)},
])  # fmt: skip
def test_what_is_claimed_is_reached(settings):
    """On tasks without gold: 300 gold tasks know an accuracy to .02; twice that is allowed."""
    gaps, scores = gaps_of(settings)
    assert np.abs(gaps[0]).mean() < 0.025
    assert np.abs(gaps[0]).max() < 0.045
    if settings in ({}, {"within": 0.9, "between": 0.0}, {"classes": ("a", "b", "c", "d")}):
        assert gaps[1].mean() > 2 * np.abs(gaps[0]).mean()
        assert scores[0].mean() > scores[1].mean()


def test_tasks_of_unequal_hardness_are_the_limit_of_the_model():
    """Hard tasks are hard for all models: no shares say that, and .03 too much is claimed."""
    gaps, scores = gaps_of({"hardness": 1.0})
    assert 0.0 < gaps[0].mean() < 0.04
    assert gaps[1].mean() > 2 * gaps[0].mean()
    assert scores[0].mean() > scores[1].mean()


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


@pytest.mark.parametrize(("hardness", "confidence"), [(0.0, False), (1.0, False), (1.0, True)])
def test_where_models_are_unsure_people_err_more_and_that_is_known(hardness, confidence):
    crowd = simulate_models(12, 2000, hardness=hardness, n_gold=600, rng=4)
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
        claimed, reached = people.usual[is_open][part].mean(), right[is_open][part].mean()
        assert claimed == pytest.approx(reached, abs=0.04)
    assert people.slope > 0.1 if hardness else people.slope < 0.05


def test_people_with_little_gold_are_as_good_everywhere():
    crowd = simulate_models(1, 20, hardness=1.0, n_gold=9, rng=4)
    models = fit_models(crowd.answers, crowd.gold_labels, crowd.family_of)
    people = fit_people(models, crowd.answers, crowd.gold_labels, crowd.people)
    assert (people.shift, people.slope) == (0.0, 0.0)
    assert people.skill.workers == ("p1",)
    assert people.usual == pytest.approx(people.skill.mean[0], abs=1e-4)


def test_subsets_of_models_are_priced_with_the_people_they_leave_work_for():
    crowd = simulate_models(3, 200, n_gold=60, families=(2, 1), rng=2)
    found = fit_models(crowd.answers, crowd.gold_labels, crowd.family_of)
    priced = offers(found, [0.01, 0.02, 0.05], 0.1, 0.8, target=0.95, most=5)
    assert len(priced) == 8
    assert [one.cost for one in priced] == sorted(one.cost for one in priced)
    of = {one.models: one for one in priced}
    everything, nothing = of["m1", "m2", "m3"], of[()]
    assert everything.models_cost == pytest.approx(0.08)
    assert everything.cost == pytest.approx(0.08 + 0.1 * everything.people)
    assert nothing.people > everything.people
    expected = expected_with_people(found.posterior[found.truth < 0], 0.8, 5)
    needed = people_needed(expected, 0.95)
    assert everything.people == pytest.approx(np.where(needed < 0, 5, needed).mean())
    best = cheapest(priced, 0.9)
    assert best.expected_accuracy >= 0.9
    assert all(one.cost >= best.cost for one in priced if one.expected_accuracy >= 0.9)
    assert cheapest(priced, 1.0).expected_accuracy == max(one.expected_accuracy for one in priced)


def test_of_many_models_not_all_subsets_are_priced():
    crowd = simulate_models(1, 20, n_gold=20, families=(11,), rng=2)
    found = fit_models(crowd.answers, crowd.gold_labels, crowd.family_of)
    assert len(found.answers.workers) > MOST_MODELS
    assert len(offers(found, [0.1] * 11, 1.0, 0.8, target=0.9, most=2)) == 1 + 11 + 11 + 1


def test_models_that_nobody_answered_for_are_refused():
    answers = Answers.of([("t", "ann", "0"), ("t2", "ann", "1")])
    with pytest.raises(ValueError, match="no model has an answer"):
        fit_models(answers, Gold({"t": "0"}, ["0", "1"]), {"m": "f"})


@pytest.mark.parametrize(("arguments", "message"), [
    ({"families": ()}, "families must be >= 1, found 0"),
    ({"families": (2, 0)}, "families must be >= 1, found 0"),
    ({"within": 1.5}, r"within must be in \[0, 1\], found 1.5"),
    ({"hardness": -1.0}, "hardness must be >= 0"),
    ({"n_gold": -1}, "n_gold must be >= 0"),
])  # fmt: skip
def test_simulated_arguments_out_of_range_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate_models(**arguments)


def test_simulated_workers_are_as_good_as_they_are_said_to_be_and_err_together():
    crowd = simulate_models(4, 20_000, families=(3, 3), within=0.8, between=0.5, n_gold=0, rng=1)
    a = crowd.answers
    truth = np.array([int(crowd.truth[t]) for t in a.tasks])
    wrong = np.zeros((10, 20_000), dtype=bool)
    wrong[a.worker_of, a.task_of] = a.label_of != truth[a.task_of]
    assert 1 - wrong.mean(axis=1) == pytest.approx(list(crowd.quality.values()), abs=0.012)
    tied = np.corrcoef(wrong)
    assert tied[0, 1:3].min() > tied[0, 3:6].max() > tied[0, 6:].max() + 0.05
    assert np.abs(tied[6:, :6]).max() < 0.03
