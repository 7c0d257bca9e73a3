"""Tasks of more than two classes and confusion matrices, against slow twins by enumeration."""

import importlib
import itertools

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign, expected_accuracy
from crowd_tvcs.accuracy.gradient import ClassGradient
from crowd_tvcs.accuracy.many_classes import accuracy_of_classes
from crowd_tvcs.accuracy.model import answer_model, even_matrices
from crowd_tvcs.search import voters
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.relaxation import Relaxation, price_everything
from crowd_tvcs.verification import pricing_many_classes
from crowd_tvcs.verification.bound_by_prices import bound_by_prices
from tests.crowd import small_plans
from tests.makers.crowds import named


def by_enumeration(matrices, prior):
    """Sum over everybody's answers of the largest probability with a class."""
    total = 0.0
    for answers in itertools.product(range(len(prior)), repeat=len(matrices)):
        chances = [M[:, a] for M, a in zip(matrices, answers, strict=True)]
        total += max(np.prod([prior, *chances], axis=0))
    return total


def random_matrix(rng, k):
    """Of a good worker, of one who tells nothing, never gives an answer, or is always wrong."""
    matrix = rng.dirichlet(np.ones(k), k)
    kind = rng.integers(6)
    if kind == 0:
        matrix[:] = matrix[0]
    elif kind == 1:
        matrix = np.eye(k)[rng.permutation(k)]
    elif kind == 2:
        matrix[:, 0] = 0.0
        matrix /= matrix.sum(axis=1, keepdims=True)
    elif kind == 3:
        matrix = even_matrices(rng.uniform(0, 1, 1), k)[0]
    return 0.5 * np.eye(k) + 0.5 * matrix if kind > 3 else matrix


def matrices_of(plan, j):
    if plan.confusion is not None:
        return plan.confusion
    return even_matrices(plan.quality.values[:, j], plan.n_classes)


def priors_of(plan):
    return plan.model.prior


def tiny_plan(seed, n=3, m=3, demands=False):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 5))
    values = rng.uniform(0.0, 1.0, (n, m)).round(2)
    odd = rng.random((n, m)) < 0.3
    values[odd] = rng.choice([1 / k, 0.0, 1.0], odd.sum(), p=[0.6, 0.2, 0.2])
    prior = rng.dirichlet(np.ones(k), m)
    prior[rng.random(m) < 0.5] = 1 / k
    prior[rng.random(m) < 0.1] = np.eye(k)[rng.integers(k)]
    confusion = [random_matrix(rng, k) for _ in range(n)] if seed % 3 == 0 else None
    allowed = rng.random((n, m)) < 0.8 if seed % 4 == 0 else None
    most = {
        "max_workers_per_task": rng.integers(0, n + 1, m),
        "max_tasks_per_worker": rng.integers(0, m + 1, n),
        "budget": int(rng.integers(0, n * m + 1)),
    }
    if demands:
        forced = np.zeros((n, m), dtype=bool)
        forced[rng.integers(n), rng.integers(m)] = True
        allowed = None
        most = {"max_tasks_per_worker": 2, "budget": 2 * n - 1,
                "min_workers_per_task": rng.integers(0, 2, m), "forced": forced}  # fmt: skip
    quality = named(values, allowed)
    return Plan(quality, n_classes=k, class_prior=prior, confusion=confusion, **most)


def test_two_classes_are_two_classes():
    rng = np.random.default_rng(0)
    quality, prior = rng.uniform(0, 1, (12, 40)), rng.random(40)
    support = rng.random(quality.shape) < 0.7
    found, _ = accuracy_of_classes(quality, support, 2, prior=np.column_stack([1 - prior, prior]))
    np.testing.assert_allclose(
        found, expected_accuracy(quality, support, prior), rtol=0, atol=1e-12
    )


def test_accuracies_of_teams_too_large_to_list_are_verified_within_sampling_errors(monkeypatch):
    matrices = even_matrices(np.array([0.4, 0.5, 0.55, 0.6, 0.6, 0.6]), 3)
    exact = by_enumeration(matrices, [0.5, 0.3, 0.2])
    monkeypatch.setattr(pricing_many_classes, "MAX_EXACT_OUTCOMES", 3**4)
    low, high = pricing_many_classes.accuracy(matrices, np.array([0.5, 0.3, 0.2]))
    assert low < exact < high < low + 0.03


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_reach_is_that_of_an_even_worker_who_is_garbled_into_this_one(k):
    rng = np.random.default_rng(k)
    confusion = np.array([random_matrix(rng, k) for _ in range(40)])
    model = answer_model(np.zeros((40, 1)), np.full((1, k), 1 / k), confusion)
    for matrix, reach in zip(confusion, model.reach, strict=True):
        garbling = np.linalg.pinv(even_matrices(np.array([reach]), k)[0]) @ matrix
        if reach > 1 / k + 1e-9:
            assert garbling.min() > -1e-9
            np.testing.assert_allclose(garbling.sum(axis=1), 1.0, atol=1e-9)
        else:
            assert np.ptp(matrix, axis=0).max() < 1e-9


@pytest.mark.parametrize("seed", range(60))
def test_pricing_equals_trying_every_set(seed):
    rng = np.random.default_rng(seed)
    plan = tiny_plan(seed, n=7, m=1)
    price = rng.exponential([0.02, 0.1, 0.005][seed % 3], 7).round(3)
    most = int(min(rng.integers(0, 6), plan.room[1][0]))
    plan = Plan(plan.quality, max_workers_per_task=most, class_prior=plan.class_prior,
                n_classes=plan.n_classes, confusion=plan.confusion,
                min_workers_per_task=min(most, seed % 2))  # fmt: skip
    cap, least = int(plan.max_workers_per_task[0]), int(plan.min_workers_per_task[0])
    matrices, prior = matrices_of(plan, 0), priors_of(plan)[0]
    allowed = np.ones(7, bool) if plan.quality.allowed is None else plan.quality.allowed[:, 0]
    best = max(
        by_enumeration(matrices[list(team)], prior) - price[list(team)].sum()
        for size in range(least, cap + 1)
        for team in itertools.combinations(np.flatnonzero(allowed), size)
    )
    relaxation = Relaxation.of(plan)
    dual = price_everything(
        relaxation, np.append(price, 0.0), relaxation.nobody(), Deadline.after(None)
    )
    assert dual.proved
    assert dual.values[0] == pytest.approx(best, abs=1e-11)
    again = pricing_many_classes.price_task(
        matrices[allowed], price[allowed], cap, prior, least=least, fixed=matrices[:0]
    )
    assert again.exact
    assert again.value == pytest.approx(best, abs=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_two_ways_to_price_agree_on_tasks_too_large_to_try_everything(seed):
    rng = np.random.default_rng(seed)
    k, n = 3, 30
    accuracy = rng.uniform(0.35, 0.9, n)
    price = 0.01 + 0.3 * (accuracy - 1 / k) * rng.uniform(0.5, 1.0, n)
    confusion = None
    if seed > 2:
        confusion = 0.6 * even_matrices(accuracy, k) + 0.4 * rng.dirichlet(np.ones(k), (n, k))
    quality = named(accuracy[:, None])
    plan = Plan(quality, max_workers_per_task=4, n_classes=k, confusion=confusion)
    relaxation = Relaxation.of(plan)
    dual = price_everything(
        relaxation, np.append(price, 0.0), relaxation.nobody(), Deadline.after(None)
    )
    matrices, prior = pricing_many_classes.chances(plan, 0)
    again = pricing_many_classes.price_task(matrices, price, 4, prior, fixed=matrices[:0])
    assert dual.proved
    assert again.exact
    assert again.value == pytest.approx(dual.values[0], abs=1e-11)


def test_a_search_that_was_broken_off_proves_nothing():
    rng = np.random.default_rng(1)
    quality = named(rng.uniform(0.4, 0.9, (20, 1)))
    relaxation = Relaxation.of(Plan(quality, max_workers_per_task=4, n_classes=3))
    prices = np.append(np.zeros(20), 0.001)
    begin = relaxation.nobody()
    assert not price_everything(relaxation, prices, begin, Deadline.after(None), 1).proved
    assert price_everything(relaxation, prices, begin, Deadline.after(None)).proved


def test_larger_sets_than_a_bound_reaches_leave_a_price_unproved():
    """Ten classes: tables of 4 voters, bounds of 7, and 9 voters are worth more than either."""
    quality = named(np.full((12, 1), 0.45))
    relaxation = Relaxation.of(Plan(quality, max_workers_per_task=9, n_classes=10))
    price = np.full(13, 0.01)
    price[-1] = 0.0
    dual = price_everything(relaxation, price, relaxation.nobody(), Deadline.after(None))
    nine = np.arange(12)[:, None] < 9
    accuracy, error = accuracy_of_classes(quality.values, nine, 10)
    assert error == 0.0
    assert dual.values[0] >= accuracy[0] - 0.09 or not dual.proved


@pytest.mark.parametrize("seed", range(8))
def test_tvcs_keeps_caps_and_demands_with_many_classes(seed, monkeypatch):
    monkeypatch.setattr(importlib.import_module("crowd_tvcs.methods.tvcs"), "MAX_ITER", 25)
    plan = tiny_plan(seed, n=6, m=8, demands=bool(seed % 2))
    found = assign(plan, "tvcs", rng=seed)
    assert not plan.unmet(found.support)
    assert found.expected_accuracy >= plan.accuracy(np.zeros((6, 8), dtype=bool)).mean() - 1e-12
    assert (assign(plan, "tvcs", rng=seed).support == found.support).all()


@pytest.mark.parametrize("even", [True, False])
def test_the_gradient_points_where_the_probability_of_the_truth_grows(even):
    rng = np.random.default_rng(5)
    k, n = 3, 3
    quality = np.array([[0.5], [0.6], [0.8]])
    confusion = None if even else np.array([random_matrix(rng, k) * 0.8 + 0.2 / k] * n)
    prior = np.array([[0.5, 0.3, 0.2]])
    model = answer_model(quality, prior, confusion)
    X = np.array([[0.3], [0.9], [0.5]])

    def smooth(weights):
        matrices, total = model.matrices[model.kind[:, 0]], 0.0
        for answers in itertools.product(range(k), repeat=n):
            logs = np.log(prior[0])
            chance = np.ones(k)
            for i, a in enumerate(answers):
                logs = logs + weights[i, 0] * np.log(matrices[i][:, a])
                chance *= matrices[i][:, a]
            posterior = np.exp(logs) / np.exp(logs).sum()
            total += (prior[0] * chance * posterior).sum()
        return total

    step = 1e-5 * np.eye(n)[:, :, None]
    expected = [(smooth(X + s) - smooth(X - s)) / 2e-5 for s in step]
    gradient = ClassGradient(
        answer_model(
            np.repeat(quality, 20_000, axis=1), np.repeat(prior, 20_000, axis=0), confusion
        ),
        1e-6,
    )
    draws = gradient.sample(np.repeat(X, 20_000, axis=1), rng)
    error = draws.std(axis=1) / np.sqrt(draws.shape[1])
    assert (np.abs(draws.mean(axis=1) - expected) < 4.5 * error + 1e-5).all()


def test_more_classes_with_the_same_accuracies_help_the_vote():
    quality = Quality(np.full((3, 4), 0.6), ["a", "b", "c"], ["t1", "t2", "t3", "t4"])
    two, ten = (assign(Plan(quality, n_classes=k), "best", rng=0) for k in (2, 10))
    assert ten.expected_accuracy > two.expected_accuracy
    summary = ten.summary()
    assert summary["n_classes"] == 10
    assert summary["standard_error"] == 0.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_classes": 1}, "n_classes must be from 2 to 100"),
        ({"n_classes": 3, "class_prior": [0.5, 0.5]}, r"class_prior must have shape \(3,\)"),
        ({"n_classes": 3, "class_prior": [0.5, 0.6, 0.2]}, "add up to 1"),
        ({"n_classes": 3, "class_prior": [1.5, -0.5, 0.0]}, "chances >= 0"),
        ({"n_classes": 3, "confusion": np.eye(3)[None]}, "confusion must have shape"),
        ({"n_classes": 2, "confusion": np.ones((2, 2, 2))}, "add up to 1"),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    quality = Quality([[0.5], [0.6]], ["a", "b"], ["t"])
    with pytest.raises(ValueError, match=message):
        Plan(quality, **given)


def few_nodes(monkeypatch, nodes):
    """Let branch and bound of many classes give up early; without knots and without branching."""
    monkeypatch.setattr(voters, "MANY_CLASS_NODES", nodes)
    pricing = importlib.import_module("crowd_tvcs.search.search")
    for name in ("PROOF_NODES", "CLOSER_NODES", "ROUGH_NODES"):
        monkeypatch.setattr(pricing, name, nodes)
    monkeypatch.setattr(pricing, "FAR", np.inf)
    monkeypatch.setattr(importlib.import_module("crowd_tvcs.methods.best"), "fits", lambda _: False)


@pytest.mark.parametrize("seed", range(6))
def test_a_price_with_a_slack_proves_a_bound_that_verify_confirms(seed, monkeypatch):
    """Where exact pricing gives up sets that gain little are not looked for."""
    few_nodes(monkeypatch, 3)
    rng = np.random.default_rng(seed)
    n, m, k = 6, 3, 3
    confusion = np.array([random_matrix(rng, k) for _ in range(n)]) if seed > 2 else None
    quality = named(np.repeat(rng.uniform(0.5, 0.7, (n, 1)), m, axis=1))
    limits = {"max_workers_per_task": 4, "max_tasks_per_worker": 2, "budget": 8}
    plan = Plan(quality, n_classes=k, confusion=confusion, **limits)
    found = assign(plan, "best", rng=0)
    proof = found.certificate
    assert found.bound >= small_plans.best_by_enumeration(plan) - 1e-12
    written = found.summary().get("pricing_slack", 0.0)
    assert written == proof.slack
    assert (proof.slack > 0.0) is (seed not in (3, 4))
    monkeypatch.setattr(pricing_many_classes, "MAX_NODES", 10_000)
    prices = proof.prices, proof.budget_price, 0.0
    values = plan.accuracy(found.support)
    again = bound_by_prices(plan, prices, found.assigned, values, print, slack=proof.slack)
    assert -1e-9 <= found.bound - again <= proof.slack + 1e-9


def test_a_plan_of_few_kinds_of_tasks_gets_the_nodes_of_many(monkeypatch):
    """All tasks are alike here, and one that is priced exactly proves the bound of all."""
    rng = np.random.default_rng(3)
    confusion = 0.5 * even_matrices(rng.uniform(0.4, 0.8, 14), 4)
    confusion += 0.5 * rng.dirichlet(np.full(4, 0.5), (14, 4))
    quality = named(np.full((14, 30), 0.5))
    plan = Plan(quality, max_workers_per_task=4, budget=90, n_classes=4, confusion=confusion)
    monkeypatch.setattr(voters, "MANY_CLASS_NODES", 100)
    assert assign(plan, "best", rng=0).certificate.slack == 0.0
    few_nodes(monkeypatch, 100)
    less = assign(plan, "best", rng=0).certificate
    assert less is None or less.slack > 0.0
