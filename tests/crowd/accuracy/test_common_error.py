"""Crowds that err together: every formula against sums over labels, what they seem, answers."""

import itertools

import numpy as np
import pytest

from crowd_tvcs import Plan
from crowd_tvcs.accuracy.common_error import (
    MIN_PROBABILITY,
    ceiling,
    seeming_matrices,
    seeming_model,
    seeming_quality,
)
from crowd_tvcs.accuracy.many_classes import SAMPLES, accuracy_under
from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.verification import pricing_common_error as checked
from tests.makers.crowds import named

EXACT = 1e-12


def by_brute_force(R, prior, e):
    """Accuracy of the vote of workers R, summed over labels y, what they seem (z), and answers."""
    k = prior.size
    out = 0.0
    for answers in itertools.product(range(k), repeat=len(R)):
        right = np.zeros(k)
        for y, z in itertools.product(range(k), repeat=2):
            seems = (1.0 - e) * (y == z) + e * prior[z]
            answered = np.prod([matrix[z, a] for matrix, a in zip(R, answers, strict=True)])
            right[y] += prior[y] * seems * answered
        out += right.max()
    return out


def seen_as(M, prior, e):
    """What a worker of matrix M answers to what a task seems, by solving for it."""
    seems = (1.0 - e) * np.eye(prior.size) + e * np.outer(np.ones(prior.size), prior)
    R = np.maximum(np.linalg.solve(seems, M), MIN_PROBABILITY)
    return R / R.sum(axis=1, keepdims=True)


def random_case(seed):
    """Draw workers (qualities, or matrices), a prior and an error: all that a plan may have."""
    rng = np.random.default_rng([22, seed])
    n, k = int(rng.integers(0, 5)), int(rng.integers(2, 5))
    e = float(rng.choice([0.01, 0.1, 0.4, 0.9, 0.999]))
    prior = np.full(k, 1.0 / k)
    if rng.random() < 0.6:
        prior = rng.dirichlet(np.full(k, rng.choice([0.5, 5.0])))
    if rng.random() < 0.1:
        prior = np.eye(k)[0]
    q = rng.uniform(0.0, 1.0, n).round(int(rng.choice([1, 12])))
    if rng.random() < 0.4:
        q = np.where(rng.random(n) < 0.5, rng.choice([0.0, 0.5, 1.0 / k, 1.0, e / k / 2]), q)
    M = even_matrices(q, k)
    if rng.random() < 0.5:
        M = rng.dirichlet(np.full(k, rng.choice([0.3, 2.0])), (n, k)).reshape(n, k, k)
        return M, prior, e, {"confusion": M}, np.full(n, 0.5)
    return M, prior, e, {}, q


def plan_of(q, prior, e, options):
    k = prior.size
    chance = {"prior": prior[1]} if k == 2 else {"class_prior": prior}
    quality = named(q[:, None])
    return Plan(quality, n_classes=k, common_error=e, **chance, **options)


@pytest.mark.parametrize("seed", [k for k in range(60) if len(random_case(k)[-1])])
def test_the_accuracy_of_a_set_is_that_of_brute_force(seed):
    M, prior, e, options, q = random_case(seed)
    R = np.array([seen_as(matrix, prior, e) for matrix in M])
    plan = plan_of(q, prior, e, options)
    members = np.random.default_rng(seed).random(len(q)) < 0.8
    found = plan.accuracy(members[:, None])[0]
    assert found == pytest.approx(by_brute_force(R[members], prior, e), abs=EXACT)
    nobody = plan.accuracy(np.zeros((len(q), 1), dtype=bool))[0]
    assert nobody == pytest.approx(prior.max(), abs=EXACT)


@pytest.mark.parametrize("seed", range(60))
def test_no_set_beats_its_ceiling_which_two_or_equal_classes_reach(seed):
    M, prior, e, _, _ = random_case(seed)
    R = np.array([seen_as(matrix, prior, e) for matrix in M]).reshape(-1, prior.size, prior.size)
    constant, weights = ceiling(prior[None, :], prior[None, :], e)
    table = weights[0][:, None]
    for matrix in R:
        table = (table[:, :, None] * matrix[:, None, :]).reshape(prior.size, -1)
    most = constant[0] + table.max(axis=0).sum()
    reached = by_brute_force(R, prior, e)
    assert reached <= most + EXACT
    assert most <= e * prior.max() + (1.0 - e) * _of_vote(R, prior) + EXACT, "looser than need be"
    if prior.size == 2 or prior.min() == prior.max():
        assert reached == pytest.approx(most, abs=EXACT)
    ours, scale = checked.weights_and_scale(prior, prior, e)
    assert ours == pytest.approx(weights[0], abs=EXACT)
    assert scale.of(0.0) == pytest.approx(constant[0], abs=EXACT)
    assert weights.sum() <= 1.0 + EXACT


def _of_vote(R, prior):
    table = prior[:, None]
    for matrix in R:
        table = (table[:, :, None] * matrix[:, None, :]).reshape(prior.size, -1)
    return table.max(axis=0).sum()


@pytest.mark.parametrize("seed", range(60))
def test_matrices_of_what_a_task_seems_solve_the_equation(seed):
    M, prior, e, _, q = random_case(seed)
    wanted = np.array([seen_as(matrix, prior, e) for matrix in M]).reshape(M.shape)
    assert seeming_matrices(M, prior, e) == pytest.approx(wanted, abs=1e-9)
    assert checked.seeming_matrices(M, prior, e) == pytest.approx(wanted, abs=1e-9)
    k = prior.size
    equal = seeming_quality(q, e, k)
    even = np.array([seen_as(m, np.full(k, 1.0 / k), e) for m in even_matrices(q, k)])
    assert equal == pytest.approx(even.reshape(-1, k, k)[:, 0, 0], abs=1e-9)
    if k == 2:
        assert checked.seeming_right(q, e) == pytest.approx(equal, abs=1e-9)


def test_one_answer_is_worth_what_the_table_says_whatever_the_prior():
    """Where no entry of R is below its least: there the table knows more than such a crowd can."""
    rng = np.random.default_rng(1)
    for e, k in itertools.product((0.05, 0.2), (2, 3, 4)):
        prior = rng.dirichlet(np.full(k, 8.0))
        confusion = 0.4 * np.eye(k) + 0.6 * rng.dirichlet(np.full(k, 8.0), (3, k))
        for i, options in itertools.product(range(3), ({"confusion": confusion}, {})):
            alone = np.arange(3)[:, None] == i
            q = np.array([0.45, 0.6, 0.7])
            together = plan_of(q, prior, e, options).accuracy(alone)[0]
            assert together == pytest.approx(plan_of(q, prior, 0.0, options).accuracy(alone)[0])


def test_many_answers_end_at_what_the_common_error_leaves():
    q = np.full(61, 0.8)
    accuracy = plan_of(q, np.array([0.5, 0.5]), 0.2, {}).accuracy(np.ones((61, 1), dtype=bool))
    assert accuracy[0] == pytest.approx(1.0 - 0.2 / 2, abs=1e-4)


def test_who_tells_nothing_still_tells_nothing():
    assert seeming_quality(np.array([0.5]), 0.37)[0] == 0.5
    for k in (2, 3, 7):
        prior = np.random.default_rng(k).dirichlet(np.ones(k), 4)
        nothing = seeming_model(np.full((1, 4), 1.0 / k), prior, None, 0.3, prior)
        assert (nothing.informativeness == 0.0).all()


def test_a_large_team_of_unequal_classes_is_sampled_from_what_tasks_seem():
    rng = np.random.default_rng(3)
    prior, n, e = np.array([0.5, 0.3, 0.2]), 14, 0.15
    q = rng.uniform(0.4, 0.6, n)
    plan = plan_of(q, prior, e, {})
    everybody = np.ones((n, 1), dtype=bool)
    value, error = plan.accuracy(everybody)[0], 6.0 / np.sqrt(SAMPLES)
    truth = rng.choice(3, 40_000, p=prior)
    seems = np.where(rng.random(40_000) < e, rng.choice(3, 40_000, p=prior), truth)
    logs = np.repeat(np.log(prior)[:, None], truth.size, axis=1)
    for matrix in plan.model.matrices[plan.model.kind[:, 0]]:
        answer = (rng.random(truth.size)[:, None] >= np.cumsum(matrix, axis=1)[seems]).sum(axis=1)
        logs += np.log(matrix[:, answer])
    odds = np.exp(logs - logs.max(axis=0))
    vote = ((1.0 - e) * odds / odds.sum(axis=0) + e * prior[:, None]).argmax(axis=0)
    assert value == pytest.approx((vote == truth).mean(), abs=error + 5.0 * 0.5 / 200.0)


def test_weights_that_do_not_add_up_to_one_are_sampled_as_weights():
    rng = np.random.default_rng(5)
    prior = np.array([[0.7, 0.3]])
    confusion = rng.dirichlet([3.0, 1.0], (26, 2))
    confusion[:, 1] = confusion[:, 1, ::-1]
    e, everybody = 0.2, np.ones((26, 1), dtype=bool)
    quality = named(np.full((26, 1), 0.5))
    plan = Plan(quality, prior=prior[0, 1], confusion=confusion, common_error=e)
    accuracy = plan.accuracy(everybody)[0]
    assert accuracy_under(plan.model, everybody)[1][0] > 0.0, "not sampled"
    # The vote ends at the truth of what the task seems to be.
    _, weights = ceiling(prior, prior, e)
    assert accuracy <= 0.2 * 2 * 0.7 * 0.3 + weights.sum() + EXACT
    assert accuracy == pytest.approx(1.0 - e + e * (0.7**2 + 0.3**2), abs=0.01)


def beliefs(R, shares, e, answered):
    """What is known of a task's label after some answers, by Bayes' rule over labels and z."""
    k = shares.size
    known = np.zeros(k)
    for y, z in itertools.product(range(k), repeat=2):
        seems = (1.0 - e) * (y == z) + e * shares[z]
        known[y] += shares[y] * seems * np.prod([m[z, a] for m, a in zip(R, answered, strict=True)])
    return known / known.sum()


def has_two_rounds(seed):
    _, shares, e, _, q = random_case(seed)
    return len(q) > 1 and shares.max() < 1.0 and e <= 0.5


@pytest.mark.parametrize("seed", [seed for seed in range(60) if has_two_rounds(seed)])
def test_with_shares_a_plan_after_answers_is_worth_what_the_model_says_of_both_rounds(seed):
    """The mean over the first answers of a second plan's accuracy is that of one plan of all."""
    M, shares, e, options, q = random_case(seed)
    n = len(q)
    R = np.array([seen_as(matrix, shares, e) for matrix in M])
    k, first = shares.size, n // 2
    later = np.arange(n)[:, None] >= first
    total = 0.0
    for answered in itertools.product(range(k), repeat=first):
        chance = sum(
            shares[z] * np.prod([m[z, a] for m, a in zip(R, answered, strict=False)])
            for z in range(k)
        )
        known = beliefs(R[:first], shares, e, answered)
        prior = {"prior": known[1]} if k == 2 else {"class_prior": known}
        quality = named(q[:, None])
        plan = Plan(quality, n_classes=k, common_error=e, error_shares=shares, **prior, **options)
        total += chance * plan.accuracy(later)[0]
    assert total == pytest.approx(by_brute_force(R, shares, e), abs=1e-9)


def test_more_answers_to_a_task_that_is_as_sure_as_can_be_are_worth_nothing():
    e, surest = 0.2, 0.9
    quality = named(np.full((9, 1), 0.8))
    nobody, everybody = np.zeros((9, 1), dtype=bool), np.ones((9, 1), dtype=bool)
    plan = Plan(quality, prior=surest, common_error=e, error_shares=[0.5, 0.5])
    assert plan.model is None
    assert plan.accuracy(everybody)[0] == pytest.approx(surest) == plan.accuracy(nobody)[0]
    open_still = Plan(quality, prior=surest, common_error=e)
    assert open_still.accuracy(everybody)[0] > surest + 0.01
