"""Gold tasks by the gold of other folds: a slow twin, laws of folds, and what folds are for."""

import numpy as np
import pytest
from pytest import approx

from crowd_tvcs.skills.confusion import CROWD_STRENGTH, expected_matrices, fit_strength, shrink
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.skills.dependence_fit import _most_likely, fit_dependence, held_out_prefixes
from crowd_tvcs.skills.dependence_loss import Loss
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.held_out import (
    BEST_FIRST,
    FOLDS,
    estimate_choice,
    folds,
    held_out,
    orders,
    ranks,
)
from crowd_tvcs.skills.posterior import posterior
from crowd_tvcs.skills.skill import Skill
from tests.makers.crowds import answered


def independent(answers, gold):
    return estimate_quality(answers, gold, model="independent")


def test_every_gold_task_is_looked_at_as_if_its_fold_had_never_been_seen(rng):
    """Closed form against estimates from counts of the other folds; the crowd's numbers stay."""
    accuracy = rng.uniform(0.5, 0.95, 9)
    answers, gold, truth = answered(rng, accuracy, 40, per_task=6, n_classes=3, n_gold=27)
    skill = independent(answers, gold)
    seen = held_out(answers, gold, skill)
    usual = expected_matrices(
        skill.mean, skill.all_counts.sum(axis=0), skill.prior.mean, CROWD_STRENGTH
    )
    strength = fit_strength(skill.all_counts, usual)
    for fold in range(FOLDS):
        inside = np.flatnonzero(seen.fold == fold)
        assert 0 < inside.size < 27
        counts = np.zeros((9, 3, 3), dtype=np.int64)
        for t, i, k in zip(answers.task_of, answers.worker_of, answers.label_of, strict=True):
            if t < 27 and t not in inside:
                counts[i, truth[t], k] += 1
        per_class = np.bincount(np.delete(truth[:27], inside), minlength=3)
        left = Skill(skill.workers, skill.classes, counts, skill.prior, gold_per_class=per_class)
        pooled = counts.sum(axis=0).astype(float)
        expected = expected_matrices(left.mean, pooled, skill.prior.mean, CROWD_STRENGTH)
        habits = shrink(counts.astype(float), expected, strength)
        for j in inside:
            assert seen.prior[j] == approx(left.class_prevalence)
            assert seen.truth[j] == truth[j]
            mine = np.flatnonzero(seen.task_of == j)
            workers = answers.worker_of[answers.task_of == j]
            labels = answers.label_of[answers.task_of == j]
            assert seen.rows.label_of[mine].tolist() == labels.tolist()
            who = seen.rows.worker_of[mine]
            assert seen.rows.even[who, 0, 0] == approx(left.mean[workers])
            assert seen.lower_bound[mine] == approx(left.lower_confidence_bound()[workers])
            assert seen.rows.own[who] == approx(habits[workers])


def test_a_worker_is_looked_at_once_for_each_fold_however_many_answers_they_gave(rng):
    answers, gold, _ = answered(rng, rng.uniform(0.5, 0.95, 4), 60, n_classes=3)
    rows = held_out(answers, gold, independent(answers, gold)).rows
    assert rows.label_of.size == 240
    assert rows.even.shape == rows.own.shape == (FOLDS * 4, 3, 3)
    assert rows.odds.shape == (FOLDS * 4,)


@pytest.mark.parametrize("n_tasks", [1, 3, 5, 101])
def test_folds_are_as_large_as_each_other(rng, n_tasks):
    task_of = np.repeat(np.arange(n_tasks), 4)
    alike = rng.integers(0, 9, (task_of.size, 3))
    sizes = np.bincount(folds(task_of, alike, n_tasks))
    assert sizes.size == min(FOLDS, n_tasks)
    assert sizes.max() - sizes.min() <= 1


def test_folds_follow_the_answers_and_not_the_order_of_tasks_or_rows(rng):
    task_of, alike = np.repeat(np.arange(60), 5), rng.integers(0, 50, (300, 4))
    first = folds(task_of, alike, 60)
    renamed, order = rng.permutation(60), rng.permutation(300)
    again = folds(renamed[task_of][order], alike[order], 60)
    assert again[renamed].tolist() == first.tolist()


def test_tasks_that_are_answered_alike_fall_into_folds_as_if_drawn():
    """Neither all into one, nor as many into each, which would show every fold the others."""
    kind = np.arange(200) % 2
    out = folds(np.arange(200), kind[:, None], 200)
    first = np.bincount(out[kind == 0], minlength=FOLDS)
    assert first.min() >= 10
    assert first.max() <= 30
    assert first.max() - first.min() > 1


def test_what_gold_says_of_equally_good_workers_scatters_as_its_interval_says():
    """Whoever is best without a single task tends to be wrong there: .109 instead of .043."""
    found = []
    for seed in range(20):
        answers, gold, _ = answered(np.random.default_rng(seed), [0.8] * 8, 100)
        given = held_out_prefixes(answers, gold, independent(answers, gold))
        found.append(
            [(c.accuracy, (c.high - c.low) / 2.0 / 1.96) for c in given.measured(Dependence())]
        )
    reached, error = np.moveaxis(np.array(found), 2, 0)
    scatter, message = reached.std(axis=0, ddof=1), error.mean(axis=0)
    assert (scatter < 1.5 * message).all()
    assert abs(reached[:, 0].mean() - 0.8) < 3.0 * scatter[0] / np.sqrt(len(found))


def test_all_answers_there_are_were_not_chosen_whatever_their_number(rng):
    """Where tasks have one answer more or less, all of them looked like the best by chance."""
    for _ in range(10):
        accuracy = rng.uniform(0.55, 0.95, 30)
        answers, gold, _ = answered(rng, accuracy, 300, per_task=6, n_gold=60)
        kept = rng.random(answers.size) < 0.97
        answers = answers.select(kept)
        skill = independent(answers, gold)
        assert estimate_choice(answers, answers, gold, skill) == 0.0
        rank = ranks(answers.task_of, -skill.lower_confidence_bound()[answers.worker_of])
        best = answers.select((rank < 3) | (answers.task_of < 60))
        assert estimate_choice(best, answers, gold, skill) >= 2.0


def test_a_choice_is_found_again(rng):
    """Labels drawn by a choice show it, whoever drew them; gold as large as they are."""
    answers, gold, _ = answered(rng, rng.uniform(0.5, 0.95, 30), 800, per_task=8, n_gold=400)
    skill = independent(answers, gold)
    cautious, is_open = skill.lower_confidence_bound()[answers.worker_of], answers.task_of >= 400
    for choice in (-BEST_FIRST, -1.0, 0.0, 1.0, 3.0, BEST_FIRST):
        for k in (1, 3):
            first = orders(answers.task_of, cautious, choice)[0] < k
            found = estimate_choice(answers.select(is_open & first), answers, gold, skill)
            assert abs(np.clip(found, -4.0, 4.0) - np.clip(choice, -4.0, 4.0)) <= 1.0
    assert estimate_choice(answers.select(~is_open), answers, gold, skill) == BEST_FIRST


@pytest.mark.parametrize("choice", [0.0, 1.0, BEST_FIRST])
def test_where_few_tasks_have_many_labels_and_many_few_the_choice_is_found_again(rng, choice):
    """As by routing: of a task with many labels weaker workers were asked, however they came."""
    answers, gold, _ = answered(rng, rng.uniform(0.5, 0.95, 30), 800, per_task=8, n_gold=400)
    skill = independent(answers, gold)
    rank = orders(answers.task_of, skill.lower_confidence_bound()[answers.worker_of], choice)[0]
    wanted = rng.choice([1, 2, 7], 800, p=[0.4, 0.3, 0.3])
    bought = answers.select((answers.task_of >= 400) & (rank < wanted[answers.task_of]))
    found = estimate_choice(bought, answers, gold, skill)
    assert abs(min(found, 4.0) - min(choice, 4.0)) <= 0.5


def test_few_labels_may_be_of_the_best(rng):
    answers, gold, _ = answered(rng, rng.uniform(0.5, 0.95, 30), 400, per_task=8, n_gold=100)
    skill = independent(answers, gold)
    second = ranks(answers.task_of, -skill.lower_confidence_bound()[answers.worker_of]) == 1
    few, many = (answers.select(second & (answers.task_of >= first)) for first in (398, 100))
    assert estimate_choice(few, answers, gold, skill) == BEST_FIRST
    assert 0.0 < estimate_choice(many, answers, gold, skill) < BEST_FIRST


def test_matrices_are_for_crowds_whose_gold_is_likelier_by_them(rng):
    uses = []
    for habit in (0.0, 0.35):
        blends = []
        for _ in range(8):
            accuracy = rng.uniform(0.6, 0.95, 40)
            answers, gold, _ = answered(rng, accuracy, 160, per_task=8, habit=habit)
            blends.append(estimate_quality(answers, gold).dependence.blend)
        uses.append(sum(blend > 0.0 for blend in blends))
    assert uses[0] < uses[1] == 8


def test_of_two_workers_who_contradict_each_other_no_matrix_overrules_the_better_one(rng):
    """On crowds without habits matrices lost labels to Bayes' rule with one accuracy per worker."""
    lost = []
    for _ in range(6):
        accuracy = rng.uniform(0.6, 0.95, 60)
        answers, gold, truth = answered(rng, accuracy, 3000, per_task=8, n_gold=150)
        skill = independent(answers, gold)
        rank = ranks(answers.task_of, -skill.lower_confidence_bound()[answers.worker_of])
        two = answers.select(rank < 2)
        hits = [
            (posterior(two, s).argmax(axis=1) == truth)[150:].mean()
            for s in (fit_dependence(answers, gold, skill), skill)
        ]
        lost.append(hits[1] - hits[0])
    assert np.mean(lost) < 0.002


def test_with_little_gold_matrices_are_not_asked_about(rng):
    answers, gold, _ = answered(rng, rng.uniform(0.6, 0.95, 8), 20)
    given = held_out_prefixes(answers, gold, independent(answers, gold))
    expected = Dependence.at(Loss(given).minimizer())
    assert _most_likely(given).blend == expected.blend > 0.0
