"""Votes without gold and with little of it, against loops and on simulated crowds."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from pytest import approx

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.belief.intervals import wilson
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.held_out import held_out
from crowd_tvcs.skills.posterior import posterior
from crowd_tvcs.skills.voting import unsupervised
from crowd_tvcs.skills.voting.little_gold import (
    DEVIATIONS,
    TEMPER_DEVIATION,
    agreement_weight,
    blend,
    vote_with_gold,
)
from crowd_tvcs.skills.voting.right_share import right_share
from crowd_tvcs.skills.voting.unsupervised import (
    MAX_CONFIDENCE,
    USUAL,
    agreement_held_out,
    unsupervised_posterior,
)
from crowd_tvcs.skills.voting.vote import vote
from tests.makers.crowds import answered


def crowd(rng, accuracy, n_tasks, per_task, n_classes=2):
    """Answers of workers with these accuracies, and the true classes."""
    answers, _, truth = answered(rng, accuracy, n_tasks, per_task=per_task, n_classes=n_classes)
    return answers, truth


def by_loops(answers, known):
    """The same vote, one answer at a time: habits of everybody are counted anew for every task."""
    k, rows = (
        len(answers.classes),
        list(zip(answers.task_of, answers.worker_of, answers.label_of, strict=True)),
    )
    of_task = {j: [r for r in rows if r[0] == j] for j in range(len(answers.tasks))}
    m = len(of_task)
    chances = []
    for mine in of_task.values():
        shares = [sum(r[2] == y for r in mine) for y in range(k)]
        chances.append([s / len(mine) for s in shares] if mine else [1 / k] * k)
    for step in range(unsupervised.ROUNDS + 1):
        is_last = step == unsupervised.ROUNDS
        for j in range(m):
            if known[j] >= 0:
                chances[j] = [float(y == known[j]) for y in range(k)]
        if step == 0:
            prior = majority_shares([chances[j] for j in range(m) if of_task[j]], k)
        counted = [r for r in rows if len(of_task[r[0]]) > 1 or known[r[0]] >= 0]
        pooled = [[sum(chances[r[0]][y] for r in counted if r[2] == a) for a in range(k)]
                  for y in range(k)]  # fmt: skip
        total = sum(map(sum, pooled))
        mean = (sum(pooled[y][y] for y in range(k)) + 1) / (total + 2)
        chances = [
            judged(j, of_task[j], counted, chances, pooled, mean, prior, is_last) for j in of_task
        ]
    return np.array(chances)


def majority_shares(chances, k):
    """Shares of the classes with most answers, of 100 tasks more that are shared equally."""
    counts = [100 / k] * k
    for each in chances:
        best = [y for y in range(k) if each[y] >= max(each) - 1e-9]
        for y in best:
            counts[y] += 1 / len(best)
    return [n / sum(counts) for n in counts]


def judged(j, mine, counted, chances, pooled, mean, prior, is_last):
    k, n = len(prior), len(mine)
    rho, b, eps, kappa = (
        (USUAL.overlap, USUAL.shares, USUAL.common, USUAL.contrast)
        if is_last
        else (0.0, 1.0, 0.0, 0.0)
    )
    logs, odds = [], []
    for _, worker, label in mine:
        theirs = [r for r in counted if r[1] == worker and r[0] != j]
        hits = sum(chances[r[0]][r[2]] for r in theirs)
        accuracy = (hits + 10 * mean) / (len(theirs) + 10)
        matrix = []
        for y in range(k):
            row = sum(pooled[y])
            of_crowd = (pooled[y][y] + 20 * mean) / (row + 20)
            right = 1 / (1 + math.exp(-(logit(accuracy) + logit(of_crowd) - logit(mean))))
            wrong = [(pooled[y][a] + 20 / (k - 1)) * (a != y) for a in range(k)]
            usual = [right if a == y else (1 - right) * wrong[a] / sum(wrong) for a in range(k)]
            own = [sum(chances[r[0]][y] for r in theirs if r[2] == a) for a in range(k)]
            matrix.append([(own[a] + 5 * usual[a]) / (sum(own) + 5) for a in range(k)])
        logs.append([math.log(matrix[y][label]) for y in range(k)])
        odds.append(max(logit(accuracy) + math.log(k - 1), 0.1))
    kept = [max(0.0, 1 - kappa * (1 - 1 / n) * sum(odds) / n / o) for o in odds]
    factor = 1 / (1 + rho * max(n - 1, 0))
    z = [b * math.log(prior[y]) + factor * sum(f * x[y] for f, x in zip(kept, logs, strict=True))
         for y in range(k)]  # fmt: skip
    inner = [math.exp(x - max(z)) for x in z]
    return [(1 - eps) * x / sum(inner) + eps * p for x, p in zip(inner, prior, strict=True)]


def logit(p):
    return math.log(p / (1 - p))


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_vote_is_that_of_loops(rng, n_classes):
    answers, truth = crowd(rng, rng.uniform(0.4, 0.9, 6), 14, 3, n_classes)
    kept = (answers.task_of > 1) | (
        (answers.task_of == 1) & (answers.worker_of == answers.worker_of[3])
    )
    answers = answers.select(kept)  # nobody answers the first task, one worker the second
    none = np.full(14, -1)
    some = np.where(np.arange(14) % 4 == 3, truth, -1)
    for known in (none, some):
        found = unsupervised_posterior(answers, known)
        assert found == approx(by_loops(answers, known), abs=1e-9)
    assert unsupervised_posterior(answers) == approx(unsupervised_posterior(answers, none))


def test_in_parts_it_is_the_same(rng, monkeypatch):
    answers, _ = crowd(rng, rng.uniform(0.4, 0.9, 9), 40, 4, 3)
    whole = unsupervised_posterior(answers)
    monkeypatch.setattr(unsupervised, "PART", 50)
    assert unsupervised_posterior(answers).tobytes() == whole.tobytes()


def test_names_and_their_order_change_nothing(rng):
    answers, _ = crowd(rng, rng.uniform(0.5, 0.9, 8), 30, 4, 3)
    chances = unsupervised_posterior(answers)
    turned = Answers(
        answers.tasks[::-1], answers.workers[::-1], answers.classes[::-1],
        29 - answers.task_of, 7 - answers.worker_of, 2 - answers.label_of,
    )  # fmt: skip
    assert unsupervised_posterior(turned)[::-1, ::-1] == approx(chances)


def test_the_good_overrule_the_many_without_any_gold(rng):
    """Two good workers in a task of five: the majority loses a sixth of the labels."""
    answers, truth = crowd(rng, [0.95] * 8 + [0.55] * 12, 600, 5)
    ours, theirs = vote(answers, "unsupervised"), vote(answers, "majority")
    assert (ours.label_of == truth).mean() > (theirs.label_of == truth).mean() + 0.05
    assert ours.is_measured
    assert ours.confidence.max() == MAX_CONFIDENCE


def test_a_task_is_no_evidence_for_itself(rng, monkeypatch):
    """Of workers who guess: with the task in their skills, answers confirm who gave them."""
    answers, _ = crowd(rng, [0.5] * 40, 100, 3)
    chances = unsupervised_posterior(answers)
    count = unsupervised._skills

    def counted_with_own(*given):
        skills = count(*given)
        return skills._replace(own=0.0 * skills.own)

    monkeypatch.setattr(unsupervised, "_skills", counted_with_own)
    confirmed = unsupervised_posterior(answers)
    assert chances.max(axis=1).mean() < confirmed.max(axis=1).mean() - 0.02


def test_gold_is_followed_where_the_crowd_is_wrong(rng):
    """Most workers take one class for another; a few gold tasks show who does not."""
    answers, truth = crowd(rng, [0.2] * 6 + [0.95] * 4, 300, 5)
    known = np.where(np.arange(300) < 60, truth, -1)
    alone, with_gold = (
        (unsupervised_posterior(answers, k).argmax(axis=1) == truth)[60:].mean()
        for k in (None, known)
    )
    assert with_gold > 0.9 > 0.5 > alone


def test_forty_classes_have_one_accuracy_per_worker_and_little_memory(rng):
    answers, truth = crowd(rng, rng.uniform(0.4, 0.9, 30), 300, 5, 40)
    votes = vote(answers, "unsupervised")
    assert (votes.label_of == truth).mean() > 0.9
    assert unsupervised_posterior(answers).sum(axis=1) == approx(np.ones(300))


def test_hundreds_of_thousands_of_answers_take_seconds(rng):
    answers, truth = crowd(rng, rng.uniform(0.5, 0.9, 500), 40_000, 5, 3)
    began = time.process_time()
    chances = unsupervised_posterior(answers)
    assert time.process_time() - began < 20.0  # 2 s where this was written
    assert (chances.argmax(axis=1) == truth).mean() > 0.85


def test_a_prior_is_taken_and_a_skill_is_refused(rng):
    answers, _ = crowd(rng, [0.7] * 6, 30, 2)
    low, high = (unsupervised_posterior(answers, prior=[1 - p, p])[:, 1] for p in (0.1, 0.9))
    assert (high > low).all()
    assert vote(answers, "unsupervised", prior=[0.1, 0.9]).answers.tolist() == [2] * 30
    with pytest.raises(ValueError, match="unsupervised uses the answers alone, but has a skill"):
        vote(answers, "unsupervised", skill=[0.7] * 6)


def test_with_one_answer_a_task_nothing_is_measured(rng):
    answers, _ = crowd(rng, [0.7] * 6, 30, 1)
    votes = vote(answers, "unsupervised")
    assert not votes.is_measured
    assert np.isnan(votes.confidence).all()
    assert votes.labels == vote(answers, "majority").labels
    assert list(votes.to_frame()) == ["task", "label", "confidence", "answers", "share"]


def test_a_little_gold_is_no_worse_than_none_and_than_gold_alone(rng):
    right = []
    for _ in range(4):
        accuracy = np.clip(rng.beta(4, 2, 30), 0.35, 0.97)
        answers, truth = crowd(rng, accuracy, 400, 5, 3)
        gold = Gold(
            {answers.tasks[j]: answers.classes[truth[j]] for j in range(8)}, answers.classes
        )
        skill = estimate_quality(answers, gold, like=answers)
        each = (
            unsupervised_posterior(answers), posterior(answers, skill),
            blend(answers, gold, skill).chances,
        )  # fmt: skip
        right.append([(p.argmax(axis=1) == truth)[8:].mean() for p in each])
    none, alone, both = np.mean(right, axis=0)
    assert both > none - 0.003
    assert both > alone + 0.01


def test_the_more_gold_the_less_agreement_counts(rng):
    answers, truth = crowd(rng, rng.uniform(0.5, 0.9, 20), 200, 5)
    weights = []
    for n in (5, 15, 50, 150):
        gold = Gold({answers.tasks[j]: answers.classes[truth[j]] for j in range(n)})
        skill = estimate_quality(answers, gold, like=answers)
        found = blend(answers, gold, skill)
        assert found.weight == approx(agreement_weight(n)) == approx(min(1, 40 / (25 + n)))
        assert found.chances.sum(axis=1) == approx(np.ones(200))
        weights.append(found.weight)
        assert found.describe().startswith(f"with {n} gold tasks the vote gives gold a weight of")
    assert weights == sorted(weights, reverse=True)
    assert agreement_weight(8000) < 0.01


def test_up_to_fifteen_gold_tasks_find_labels_in_the_agreement(rng):
    """They set the confidence alone; and a majority that errs is not followed."""
    answers, truth = crowd(rng, [0.2] * 6 + [0.95] * 4, 300, 5)
    gold = Gold({answers.tasks[j]: answers.classes[truth[j]] for j in range(15)})
    found = blend(answers, gold, estimate_quality(answers, gold, like=answers))
    known = np.where(np.arange(300) < 15, truth, -1)
    agreed = unsupervised_posterior(answers, known)
    assert found.chances.argmax(axis=1).tolist() == agreed.argmax(axis=1).tolist()
    assert (agreed.argmax(axis=1) == truth)[15:].mean() > 0.9


def test_a_few_gold_tasks_leave_labels_as_they_are_if_no_more_held_out_gold_is_right(rng):
    n_as_without = 0
    for _ in range(6):
        answers, truth = crowd(rng, rng.uniform(0.5, 0.8, 20), 150, 3, n_classes=3)
        gold = Gold({answers.tasks[j]: answers.classes[truth[j]] for j in range(6)})
        found = blend(answers, gold, estimate_quality(answers, gold, like=answers))
        none = unsupervised_posterior(answers).argmax(axis=1)
        as_without = (found.chances.argmax(axis=1) == none).all()
        n_as_without += as_without
        assert as_without or found.hit.sum() > (none == truth)[:6].sum()
    assert n_as_without >= 3


def test_agreement_judges_gold_tasks_without_the_gold_of_their_fold(rng):
    answers, truth = crowd(rng, rng.uniform(0.5, 0.9, 12), 120, 4, 3)
    known = np.where(np.arange(120) < 30, truth, -1)
    gold = Gold({answers.tasks[j]: answers.classes[truth[j]] for j in range(30)}, answers.classes)
    seen = held_out(answers, gold, estimate_quality(answers, gold))
    for prior in (None, [0.5, 0.3, 0.2]):
        judged = agreement_held_out(answers, known, seen, prior).judge(np.arange(seen.answer.size))
        for fold in range(5):
            tasks = seen.task[seen.fold == fold]
            others = np.where(np.isin(np.arange(120), tasks), -1, known)
            slow = unsupervised_posterior(answers, others, prior)[tasks]
            assert judged[seen.fold == fold] == approx(slow, abs=1e-9)


def test_gold_with_more_answers_than_the_others_sets_their_confidence(rng):
    """Workers share errors, so agreement claims too much; gold has ten answers, others three."""
    gaps = []
    for _ in range(4):
        answers, truth = crowd(rng, [0.75] * 30, 400, 10)
        shared = np.where(rng.random(400) < 0.25, 1 - truth, truth)  # what the workers see
        place = np.arange(answers.size) % 10
        label = np.where(truth[answers.task_of] == shared[answers.task_of], answers.label_of,
                         1 - answers.label_of)  # fmt: skip
        answers = replace(answers, label_of=label).select((place < 3) | (answers.task_of < 60))
        gold = Gold({answers.tasks[j]: answers.classes[truth[j]] for j in range(60)})
        found = blend(answers, gold, estimate_quality(answers, gold, like=answers))
        agreed = unsupervised_posterior(answers)
        right = (found.chances.argmax(axis=1) == truth)[60:].mean()
        gaps.append([p.max(axis=1)[60:].mean() - right for p in (agreed, found.chances)])
    before, now = np.mean(gaps, axis=0)
    assert abs(now) < 0.06 < before


def test_gold_alone_counts_where_agreement_is_not_asked(rng):
    """Workers who are said to err independently, and tasks with one answer each."""
    for per_task, model in ((1, "dependent"), (4, "independent")):
        answers, truth = crowd(rng, rng.uniform(0.5, 0.9, 10), 60, per_task)
        gold = Gold({answers.tasks[j]: answers.classes[truth[j]] for j in range(20)})
        skill = estimate_quality(answers, gold, like=answers, model=model)
        found = blend(answers, gold, skill)
        assert found.weight == 0.0
        assert found.chances == approx(posterior(answers, skill))
        assert vote_with_gold(answers, gold, skill)[0].confidence == approx(
            posterior(answers, skill).max(axis=1)
        )


def test_gold_of_one_class_is_blended(rng):
    answers, truth = crowd(rng, rng.uniform(0.6, 0.9, 10), 80, 4)
    tasks = [j for j in range(80) if truth[j] == 0][:6]
    gold = Gold({answers.tasks[j]: answers.classes[0] for j in tasks}, answers.classes)
    found = blend(answers, gold, estimate_quality(answers, gold, like=answers))
    assert np.isfinite(found.chances).all()
    assert (found.chances.argmax(axis=1) == truth).mean() > 0.8


def test_gold_of_one_class_shows_no_share_of_right_labels(rng):
    answers, truth = crowd(rng, rng.uniform(0.6, 0.9, 10), 80, 4)
    for chosen in (np.flatnonzero(truth == 0)[:12], np.arange(12)):
        gold = Gold({answers.tasks[j]: answers.classes[truth[j]] for j in chosen}, answers.classes)
        share = vote_with_gold(answers, gold, estimate_quality(answers, gold, like=answers))[2]
        assert (share is None) == (len(set(truth[chosen])) == 1)


def test_names_of_tasks_hardly_change_the_temperature(rng):
    """Answers to gold tasks, which have more than others, are drawn in the order of the names."""
    rows, truth, right = [], rng.integers(0, 2, 300), rng.uniform(0.55, 0.95, 30)
    for j in range(300):
        for i in rng.choice(30, 6 if j < 20 else 3, replace=False):
            rows.append((j, f"w{i}", "ab"[truth[j] ^ int(rng.random() > right[i])]))
    tempers = []
    for _ in range(4):
        names = [f"t{k}" for k in rng.permutation(300)]
        answers = Answers.of([(names[j], who, label) for j, who, label in rows])
        gold = Gold({names[j]: "ab"[truth[j]] for j in range(20)})
        found = blend(answers, gold, estimate_quality(answers, gold, like=answers))
        tempers.append(math.log(found.temper))
    assert np.ptp(tempers) < 2.5 * (TEMPER_DEVIATION * np.diff(DEVIATIONS)[0])


def test_the_share_of_right_labels_has_an_interval_by_gold_however_wrong_the_confidence(rng):
    """Of 200 crowds it holds nineteen in twenty times; useful confidences make it shorter."""
    widths, held = [], []
    for _ in range(200):
        chance = rng.beta(3, 1, 2000)
        hit = rng.random(2000) < chance
        useless = rng.random(2000)
        both = [
            right_share(hit[:60], claim[:60], claim[60:]) for claim in (chance**3, useless)
        ]  # fmt: skip
        held.append([one.low <= hit[60:].mean() <= one.high for one in both])
        widths.append([one.high - one.low for one in both])
    assert (np.mean(held, axis=0) > 0.91).all()
    useful, without = np.mean(widths, axis=0)
    alone = np.mean([np.diff(wilson(0.75, 60))])
    assert useful < 0.95 * without
    assert without == approx(alone, abs=0.03)


def test_a_share_needs_ten_gold_tasks_and_says_how_many_it_has(rng):
    claim = rng.uniform(0.6, 1.0, 30)
    assert right_share(np.ones(9, dtype=bool), claim[:9], claim) is None
    assert right_share(np.ones(30, dtype=bool), claim, claim[:0]) is None
    found = right_share(np.ones(30, dtype=bool), claim, claim)
    assert (found.share, found.high, found.gold, found.worth) == (1.0, 1.0, 30, 30.0)
    assert found.low < wilson(1.0, 30)[0]  # the other tasks are a sample too
    assert str(found).startswith(
        "by 30 gold tasks and the confidences a share of 1.000 of the other"
    )


def test_gold_with_more_answers_than_the_others_says_nothing_of_their_share(rng):
    answers, truth = crowd(rng, rng.uniform(0.6, 0.9, 12), 80, 6)
    gold = Gold({answers.tasks[j]: answers.classes[truth[j]] for j in range(30)})
    assert vote_with_gold(answers, gold, estimate_quality(answers, gold, like=answers))[2]
    place = np.arange(answers.size) % 6
    fewer = answers.select((place < 3) | (answers.task_of < 30))
    assert vote_with_gold(fewer, gold, estimate_quality(fewer, gold, like=fewer))[2] is None
    everything = Gold({t: answers.classes[k] for t, k in zip(answers.tasks, truth, strict=True)})
    skill = estimate_quality(answers, everything, like=answers)
    assert vote_with_gold(answers, everything, skill)[2] is None
