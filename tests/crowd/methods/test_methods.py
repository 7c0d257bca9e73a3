"""The contract of every method, and what each promises."""

import importlib

import numpy as np
import pytest

from crowd_tvcs import METHODS, Plan, Quality, assign
from tests.makers.crowds import drawn

tvcs_module = importlib.import_module("crowd_tvcs.methods.tvcs")


def random_plan(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 9), rng.integers(1, 12)
    allowed = None if seed % 3 else rng.random((n, m)) < 0.6
    quality = drawn(n, m, seed, 0.0, 1.0, allowed)
    kinds = [None, 0, int(rng.integers(0, 4)), 10**6]
    per_task = [*kinds, rng.integers(0, n + 3, m)][rng.integers(5)]
    per_worker = [*kinds, rng.integers(0, m + 3, n)][rng.integers(5)]
    budget = [None, 0, int(rng.integers(0, n * m + 5)), int(rng.integers(0, 6))][rng.integers(4)]
    return Plan(
        quality,
        max_workers_per_task=per_task,
        max_tasks_per_worker=per_worker,
        budget=budget,
        prior=rng.choice([0.0, 0.3, 0.5, 1.0], m),
    )


@pytest.fixture
def short_runs(monkeypatch):
    monkeypatch.setattr(tvcs_module, "MAX_ITER", 15)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.usefixtures("short_runs")
def test_every_cap_is_kept(method, seed):
    plan = random_plan(seed)
    found = assign(plan, method, rng=seed)
    assert (found.answers <= plan.max_workers_per_task).all()
    assert (found.loads <= plan.max_tasks_per_worker).all()
    assert found.size <= plan.budget
    assert plan.quality.allowed is None or not (found.support & ~plan.quality.allowed).any()
    assert found.method == method
    assert found.plan is plan
    assert 0.5 <= found.expected_accuracy <= 1.0
    assert len(found.pairs()) == found.size


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.usefixtures("short_runs")
def test_the_same_seed_gives_the_same_assignment(method):
    plan = Plan(drawn(8, 20), max_workers_per_task=3, max_tasks_per_worker=7, budget=50)
    first, again = (assign(plan, method, rng=5) for _ in range(2))
    assert (first.support == again.support).all()
    assert first.summary() == again.summary()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("common_error", [0.0, 0.15])
@pytest.mark.usefixtures("short_runs")
def test_the_order_of_workers_and_tasks_changes_nothing(method, common_error):
    rng = np.random.default_rng(1)
    plan = Plan(
        drawn(8, 20),
        max_workers_per_task=rng.integers(1, 4, 20),
        max_tasks_per_worker=rng.integers(3, 9, 8),
        budget=40,
        prior=rng.uniform(0.3, 0.7, 20),
        common_error=common_error,
    )
    shuffled = plan.reorder(rng.permutation(8), rng.permutation(20))
    found, other = assign(plan, method, rng=2), assign(shuffled, method, rng=2)
    assert found.pairs() == other.pairs()
    assert found.expected_accuracy == pytest.approx(other.expected_accuracy, abs=1e-15)
    assert found.bound == other.bound
    assert found.summary()["loads"] == other.summary()["loads"]
    assert found.summary().get("duals") == other.summary().get("duals")


@pytest.mark.parametrize("method", ["qlp", "random"])
def test_without_caps_everybody_labels_everything(method):
    assert assign(Plan(drawn(4, 6)), method, rng=0).size == 24


@pytest.mark.parametrize("method", METHODS)
def test_a_time_limit_ends_a_method_with_a_feasible_assignment(method):
    plan = Plan(drawn(30, 100), max_workers_per_task=3, max_tasks_per_worker=10, budget=250)
    found = assign(plan, method, rng=0, time_limit=1e-6)
    assert found.size == 250
    if method == "tvcs":
        assert "time limit of 1e-06 s" in found.reason
        assert found.facts["iterations"] == 1


def test_tvcs_beats_qlp_which_beats_random():
    plan = Plan(drawn(20, 100), max_workers_per_task=5, max_tasks_per_worker=20, budget=300)
    error = {name: 1 - assign(plan, name, rng=0).expected_accuracy for name in METHODS}
    assert error["tvcs"] < 0.95 * error["qlp"]
    assert error["qlp"] < 0.6 * error["random"]


def test_qlp_keeps_the_largest_sum_of_qualities():
    from scipy.optimize import linear_sum_assignment

    quality = drawn(7, 7, seed=4)
    found = assign(Plan(quality, max_workers_per_task=1, max_tasks_per_worker=1), "qlp")
    best = quality.values[linear_sum_assignment(quality.values, maximize=True)].sum()
    assert found.facts["sum_of_qualities"] == pytest.approx(best)
    assert quality.values[found.support].sum() == pytest.approx(best)


def test_the_prices_of_qlp_bound_what_any_assignment_can_reach():
    plan = Plan(drawn(10, 30), max_workers_per_task=2, max_tasks_per_worker=5, budget=40)
    found = assign(plan, "qlp")
    duals, values = found.duals, plan.quality.values
    slack = values - duals.workers[:, None] - duals.tasks - duals.budget
    bound = duals.workers @ plan.max_tasks_per_worker + duals.tasks @ plan.max_workers_per_task
    bound += duals.budget * plan.budget + np.maximum(slack, 0).sum()
    assert bound == pytest.approx(found.facts["sum_of_qualities"])


def test_an_inverted_worker_is_used_by_tvcs_and_shunned_by_qlp():
    quality = Quality([[0.05], [0.6]], ["contrarian", "weak"], ["t"])
    plan = Plan(quality, budget=1)
    assert assign(plan, "tvcs", rng=0).pairs() == [("contrarian", "t")]
    assert assign(plan, "qlp").pairs() == [("weak", "t")]


def test_workers_who_tell_nothing_or_everything_are_no_trouble():
    quality = Quality([[0.5, 0.5], [0.0, 1.0]], ["idle", "sure"], ["a", "b"])
    expected = {"tvcs": 1.0, "random": 1.0, "qlp": 0.75}  # qlp never takes a quality of 0
    for method, accuracy in expected.items():
        assert assign(Plan(quality), method, rng=0).expected_accuracy == accuracy
    half = Quality(np.full((3, 4), 0.5), list("abc"), list("wxyz"))
    for method in METHODS:
        assert assign(Plan(half, budget=5), method, rng=0).expected_accuracy == 0.5


def test_the_sampled_gradient_is_the_slope_of_the_smooth_objective():
    """Finite differences of E[S] over all patterns of answers, at a real X; the sign as well."""
    import itertools

    from scipy.special import expit, logit

    q, x, prior = np.array([0.7, 0.85, 0.3]), np.array([0.4, 0.9, 0.2]), 0.35
    z, r = logit(q), -logit(prior)

    def objective(x):
        total = 0.0
        for right in itertools.product((True, False), repeat=3):
            chance = np.prod(np.where(right, q, 1 - q))
            evidence = np.where(right, z, -z) @ x
            total += chance * (prior * expit(evidence - r) + (1 - prior) * expit(r + evidence))
        return total

    step = 1e-6 * np.eye(3)
    slope = [(objective(x + e) - objective(x - e)) / 2e-6 for e in step]
    n = 200_000
    copies = Quality(np.repeat(q[:, None], n, axis=1), list("abc"), [str(j) for j in range(n)])
    gradient = tvcs_module._TwoClasses(Plan(copies, prior=prior))
    X = np.repeat(x[:, None], n, axis=1)
    sampled = gradient.sample(X, np.random.default_rng(0)).mean(axis=1)
    assert sampled == pytest.approx(np.array(slope), abs=2e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "magic"}, f"method must be one of {', '.join(METHODS)}, found 'magic'"),
        ({"time_limit": 0}, "time_limit must be a number of seconds above 0, found 0"),
        ({"time_limit": float("nan")}, "time_limit must be"),
    ],
)
def test_assign_names_the_argument_it_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        assign(Plan(drawn(2, 2)), **arguments)


def test_binding_tells_full_tasks_full_workers_and_a_spent_budget():
    quality = drawn(3, 4)
    found = assign(Plan(quality, max_workers_per_task=1, budget=4), "qlp")
    assert found.binding() == {"max_workers_per_task": 4, "max_tasks_per_worker": 0, "budget": True}
    everything = assign(Plan(quality), "qlp")
    assert everything.binding() == {
        "max_workers_per_task": 0,
        "max_tasks_per_worker": 0,
        "budget": False,
    }
