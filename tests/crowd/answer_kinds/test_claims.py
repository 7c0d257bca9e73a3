"""What is claimed of tasks, items and pairs: row by row against the posterior, or draws of it."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from benchmarks.answer_kinds.crowds import scale_crowd
from crowd_tvcs.answer_kinds.comparisons import Comparisons
from crowd_tvcs.answer_kinds.ranking import WEIGHT_QUANTILES, rank_items
from crowd_tvcs.answer_kinds.scale import vote_on_scale
from crowd_tvcs.answers.answers import Gold


@pytest.mark.parametrize("is_measured", [True, False])
def test_what_is_claimed_of_a_task_is_what_its_posterior_says(rng, is_measured):
    answers, right = scale_crowd("honest", 5, 3, rng, tasks=40, workers=9)
    known = 12 if is_measured else 3
    gold = Gold(
        {answers.tasks[j]: answers.classes[right[j]] for j in range(known)}, answers.classes
    )
    posterior, times = rng.dirichlet(np.full(5, 0.4), 40), rng.integers(0, 3, 40)
    votes = replace(vote_on_scale(answers, gold, rng=0), posterior=posterior, answers=times)
    assert votes.is_measured == is_measured
    rows, judged = list(votes.rows()), []
    for j, (task, *found) in enumerate(rows):
        chance, name = posterior[j], answers.classes
        low, median, high = (
            next(k for k in range(5) if chance[: k + 1].sum() >= share - 1e-9)
            for share in (0.05, 0.5, 0.95)
        )
        away = [abs(k - median) for k in range(5)]
        claims = [
            chance[median],
            sum(p for p, d in zip(chance, away, strict=True) if d <= 1),
            chance @ away,
        ]
        assert task == answers.tasks[j]
        assert found[-1] == times[j]
        if j < known:
            judged += [(*claims, abs(median - right[j]))] if times[j] else []
            assert found[:-1] == [name[right[j]], 1, 1, 0, *[name[right[j]]] * 3]
        elif not times[j]:
            assert found[:-1] == [None] * 7
        else:
            ends = [name[low], name[high], name[chance.argmax()]]
            if not is_measured:
                claims, ends = [None] * 3, [None, None, ends[2]]
            assert found[0] == name[median]
            assert found[1:4] == (pytest.approx(claims) if is_measured else claims)
            assert found[4:7] == ends
    if not is_measured:
        assert votes.reached_on_gold() is None
        return
    sure, near, error, off = np.array(judged).T
    assert votes.reached_on_gold() == pytest.approx({
        "tasks": len(judged), "claimed": sure.mean(), "right": (off == 0).mean(),
        "claimed_within_one": near.mean(), "within_one": (off <= 1).mean(),
        "expected_error": error.mean(), "mean_error": off.mean(),
    })  # fmt: skip


def test_what_is_claimed_of_items_and_pairs_is_that_of_draws_of_scores(rng):
    items = "abcde"
    rows = [
        (w, *pair, answer)
        for w in "xyz"
        for pair in combinations(items, 2)
        for answer in rng.choice(["left", "right", "tie"], 4, p=[0.5, 0.3, 0.2])
    ]
    known = {pair: pair[0] for pair in combinations(items, 2)}
    found = rank_items(Comparisons.of(rows), known=known, rng=0)
    fit = found.fit
    drawn = rng.multivariate_normal(fit.score, fit.covariance, 100_000)
    away = drawn - drawn.mean(axis=1, keepdims=True)
    table = {row[0]: row[1:] for row in found.item_rows()}
    assert list(table) == [items[k] for k in np.argsort(-fit.score, kind="stable")]
    for k, item in enumerate(items):
        score, low, high, rank, least, most, answers = table[item]
        assert (score, answers) == (fit.score[k], 3 * 4 * 4)
        assert high - score == pytest.approx(score - low)
        assert high - low == pytest.approx(2 * 1.645 * away[:, k].std(), rel=0.02)
        ranks = 1 + (drawn > drawn[:, [k]]).sum(axis=1)
        assert rank == 1 + (fit.score > score).sum()
        assert least <= rank <= most
        assert max((ranks < least).mean(), (ranks > most).mean()) <= 0.06
        assert (ranks <= least).mean() >= 0.04
    pairs = list(found.pair_rows())
    assert [row[:3] for row in pairs] == [(*pair, 12) for pair in combinations(items, 2)]
    for (i, j), (*_, left, right, tie, sure) in zip(combinations(range(5), 2), pairs, strict=True):
        differs = drawn[:, i] - drawn[:, j]
        assert left + right + tie == pytest.approx(1)
        # Of a typical worker: the mean over the quantiles of their weights.
        each = [math.exp(fit.common_tie) / (math.exp(fit.common_tie) + 2 * np.cosh(w * differs / 2))
                for w in np.quantile(fit.weight, WEIGHT_QUANTILES)]  # fmt: skip
        assert tie == pytest.approx(np.mean(each), abs=0.003)
        ahead = (differs > 0).mean()
        assert sure == pytest.approx(max(ahead, 1 - ahead), abs=0.006)
