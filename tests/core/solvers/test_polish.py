"""Swaps within the caps: their prices, the optima they reach, and what they refuse."""

from itertools import combinations

import numpy as np
import pytest
from pytest import approx
from scipy import sparse

from tvcs_core import TVCS, Huber, LeastSquares, Logistic, Loss, Problem, SquaredHinge, solve
from tvcs_core.loss import LOSSES
from tvcs_core.solvers import polish as polishing
from tvcs_core.solvers.kernels.fit import cost_of_leaving, explained, gain_of_entering
from tvcs_core.solvers.kernels.swaps import best_change, change_by_chain, fill, put, take

KINDS = ["groups", "matrix", "targets", "mask", "box", "total", "weights"]


def problem_of(kind, loss=LeastSquares, seed=0, n=40):
    """A noisy problem of twelve entries whose features are correlated."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    caps = {"row_caps": [2, 1, 1], "col_caps": [1, 1, 2, 1], "total": 3}
    options = {"intercept": True, "ridge": 0.5 if loss is Logistic else 0.0}
    if kind == "weights":
        options["sample_weight"] = rng.integers(0, 3, n)
    if kind == "targets":
        X = rng.standard_normal((n, 3)) + rng.standard_normal((n, 1))
        y = X @ rng.standard_normal((3, 4)) + 2 * rng.standard_normal((n, 4))
        constraint = TVCS.matrix((3, 4), **caps)
    else:
        X = rng.standard_normal((n, 12)) + rng.standard_normal((n, 1))
        y = X @ rng.standard_normal(12) + 3 * rng.standard_normal(n)
        allowed = rng.random((3, 4)) < 0.7 if kind == "mask" else None
        bounds = (-0.5, 0.7) if kind == "box" else None
        if kind == "groups":
            rows, cols = rng.integers(-1, 3, 12), rng.integers(-1, 2, 12)
            constraint = TVCS.groups(rows, cols, row_caps=1, col_caps=2, total=4)
        elif kind == "total":
            constraint = TVCS.groups(np.full(12, -1), None, total=4)
        else:
            X = X.reshape(n, 3, 4)
            constraint = TVCS.matrix((3, 4), **caps, allowed=allowed, bounds=bounds)
    if loss in (Logistic, SquaredHinge):
        y = np.where(y > np.median(y), 1.0, -1.0)
    return Problem(loss(X, y, **options), constraint)


def feasible_supports(constraint):
    """Every support that keeps the caps."""
    size = int(np.prod(constraint.shape))
    for k in range(constraint.total + 1):
        for chosen in combinations(range(size), k):
            support = np.zeros(size, dtype=bool)
            support[list(chosen)] = True
            support = support.reshape(constraint.shape)
            if constraint.is_feasible(support):
                yield support


def refitted(problem, support):
    """The smallest loss on a support."""
    return problem.loss.value(problem.minimize_on(support))


def best_of_all(problem):
    """The smallest loss of all supports, by brute force."""
    return min(refitted(problem, support) for support in feasible_supports(problem.constraint))


def swaps_of(problem, method="htp"):
    return polishing._Swaps(problem, solve(problem, method).matrix)


def support_of(swaps):
    support = np.zeros(swaps.problem.constraint.shape, dtype=bool)
    support.ravel()[swaps.entries[swaps.fit.entry[swaps.fit.entry >= 0]]] = True
    return support


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "box"])
def test_the_price_of_every_change_is_that_of_a_refit(kind):
    problem = problem_of(kind)
    swaps = swaps_of(problem)
    fit, support = swaps.fit, support_of(swaps)
    before = refitted(problem, support)
    inside, outside = np.flatnonzero(support), np.flatnonzero(~support)
    assert inside.size > 1
    for a in [None, *inside]:
        for b in [None, *inside]:
            if (a is None and b is not None) or (b is not None and b <= a):
                continue
            left, slots = support.copy(), [-1 if x is None else fit.slot_of[x] for x in (a, b)]
            left.ravel()[[x for x in (a, b) if x is not None]] = False
            cost = cost_of_leaving(fit, *slots) if a is not None else 0.0
            assert before + cost == approx(refitted(problem, left), rel=1e-9)
            for entry in outside:
                changed = left.copy()
                changed.ravel()[entry] = True
                gain = gain_of_entering(fit, entry, *slots)
                assert before + cost - gain == approx(refitted(problem, changed), rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "box"])
def test_no_addition_or_exchange_is_left_and_the_best_one_came_first(kind, seed):
    problem = problem_of(kind, seed=seed)
    swaps = swaps_of(problem, "iht")

    def by_refits():
        support = support_of(swaps)
        before, best = refitted(problem, support), 0.0
        for a in [None, *np.flatnonzero(support)]:
            for entry in np.flatnonzero(~support):
                changed = support.copy()
                changed.ravel()[entry] = True
                if a is not None:
                    changed.ravel()[a] = False
                if problem.constraint.is_feasible(changed):
                    best = max(best, before - refitted(problem, changed))
        return best

    gain, _, _ = best_change(swaps.fit, swaps.lines)
    assert gain == approx(by_refits(), rel=1e-7, abs=1e-9 * problem.loss.value(swaps.minimiser()))
    swaps.improve()
    assert problem.constraint.is_feasible(support_of(swaps))
    assert by_refits() <= 1e-9 * refitted(problem, support_of(swaps))


def test_a_chain_leaves_an_optimum_of_exchanges():
    """Both lines of the entry to add are full, and the rows and columns that give way are too."""
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.standard_normal((20, 4)))[0].reshape(20, 2, 2)
    y = X.reshape(20, 4) @ [1.0, 1.2, 1.2, 1.1]
    constraint = TVCS.matrix((2, 2), row_caps=1, col_caps=1)
    problem = Problem(LeastSquares(X, y), constraint)
    swaps = polishing._Swaps(problem, problem.minimize_on(np.eye(2, dtype=bool)))
    assert best_change(swaps.fit, swaps.lines)[0] == 0.0
    gain = change_by_chain(swaps.fit, swaps.lines, 0.0)
    assert support_of(swaps).tolist() == [[False, True], [True, False]]
    assert gain == approx(0.5 * (1.2**2 + 1.2**2 - 1.0 - 1.1**2))
    assert solve(problem, "iht", start=np.eye(2), max_iter=0, polish=True).support[0, 1]


def test_chains_that_do_not_pay_are_undone():
    problem = problem_of("matrix", seed=3)
    swaps = swaps_of(problem)
    swaps.improve()
    before, value = support_of(swaps), explained(swaps.fit)
    assert change_by_chain(swaps.fit, swaps.lines, np.inf) == 0.0
    assert (support_of(swaps) == before).all()
    assert explained(swaps.fit) == approx(value, rel=1e-10)


def test_a_fit_after_many_changes_is_that_of_a_fresh_start(rng):
    problem = problem_of("total")
    swaps = swaps_of(problem)
    for _ in range(300):
        inside = np.flatnonzero(swaps.fit.slot_of >= 0)
        outside = np.flatnonzero(swaps.fit.slot_of < 0)
        take(swaps.fit, swaps.lines, swaps.fit.slot_of[rng.choice(inside)])
        put(swaps.fit, swaps.lines, rng.choice(outside))
    fresh = polishing._Swaps(problem, swaps.minimiser())
    for name in ("corr", "schur"):
        assert getattr(swaps.fit, name) == approx(getattr(fresh.fit, name), abs=1e-8)
    assert swaps.lines.total_room[0] == 0


# The loss is judged by its second-order model, which is far off here: 1.14 times the optimum.
NOT_REACHED = {("weights", SquaredHinge)}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_polishing_reaches_the_optimum_of_nearly_all_small_problems(loss, kind):
    reached = []
    for seed in range(2 if loss is LeastSquares else 1):
        problem = problem_of(kind, loss, seed)
        plain = solve(problem, "htp")
        found = solve(problem, "htp", polish=True, shakes=10, rng=0)
        assert found.objective <= plain.objective
        assert problem.constraint.is_feasible(found.support)
        reached.append(found.objective <= best_of_all(problem) * (1 + 1e-6))
    assert all(reached) == ((kind, loss) not in NOT_REACHED)


@pytest.mark.parametrize("size", [2.0**-300, 2.0**300, np.ldexp(1.0, np.arange(-180, 180, 60))])
def test_the_size_of_the_variables_changes_no_swap(size, rng):
    X, Y = rng.normal(size=(30, 6)) + rng.normal(size=(30, 1)), rng.normal(size=(30, 3))
    constraint = TVCS.matrix((6, 3), row_caps=1, col_caps=2, total=4)
    wanted, found = (
        solve(Problem(LeastSquares(one, Y), constraint), max_iter=0, polish=True, shakes=5, rng=0)
        for one in (X, X * size)
    )
    assert (found.support == wanted.support).all()
    assert found.objective == approx(wanted.objective, rel=1e-12)


def test_the_swaps_of_every_solver_and_seed_are_the_same_again():
    problem = problem_of("matrix", seed=1)
    for method in ("iht", "htp", "cosamp", "gradmp", "stoiht", "stogradmp"):
        one, two = (solve(problem, method, rng=5, polish=True, shakes=3) for _ in range(2))
        assert (one.matrix == two.matrix).all()
        assert one.objective == one.history.min() == problem.loss.value(one.matrix)
        assert one.iterations <= one.history.size - 1 == one.times.size - 1


def test_more_features_than_swaps_look_at_are_taken_by_their_slopes(monkeypatch, rng):
    X = rng.standard_normal((80, 60))
    y = X[:, [3, 30, 59]] @ [1.0, 2.0, -1.0] + 0.1 * rng.standard_normal(80)
    problem = Problem(LeastSquares(X, y), TVCS.groups(np.arange(60) // 30, None, row_caps=2))
    whole = solve(problem, "iht", max_iter=1, polish=True)
    monkeypatch.setattr(polishing, "MAX_FEATURES", 8)
    some = solve(problem, "iht", max_iter=1, polish=True)
    assert some.objective == approx(whole.objective)
    assert np.flatnonzero(some.support)[[0, -2, -1]].tolist()[1:] == [30, 59]


def test_a_sparse_X_is_polished_like_a_dense_one(rng):
    X = sparse.random_array((50, 20), density=0.4, rng=rng, format="csr")
    y = X @ rng.standard_normal(20) + rng.standard_normal(50)
    tvcs = TVCS.groups(np.arange(20) // 5, np.arange(20) % 5, row_caps=1, col_caps=2)
    thin, full = (
        solve(Problem(LeastSquares(Z, y), tvcs), "htp", polish=True) for Z in (X, X.toarray())
    )
    assert thin.matrix == approx(full.matrix)


def test_columns_that_depend_on_each_other_do_not_enter_together(rng):
    X = rng.standard_normal((30, 4))
    X = np.column_stack([X, X[:, 0], np.zeros(30), X[:, 1] + X[:, 2]])
    y = X[:, :4] @ [1.0, 2.0, 3.0, 0.5] + rng.standard_normal(30)
    problem = Problem(LeastSquares(X, y), TVCS.groups(np.full(7, -1), None))
    found = solve(problem, "htp", polish=True)
    assert found.objective == approx(refitted(problem, np.ones(7, dtype=bool)))
    swaps = polishing._Swaps(problem, np.ones(7))
    assert np.count_nonzero(swaps.fit.entry >= 0) == 4
    fill(swaps.fit, swaps.lines, np.arange(7))
    assert np.count_nonzero(swaps.fit.entry >= 0) == 4


def test_caps_of_zero_and_an_exact_fit_are_left_as_they_are(rng):
    X = rng.standard_normal((10, 2, 2))
    nothing = Problem(LeastSquares(X, rng.standard_normal(10)), TVCS.matrix((2, 2), total=0))
    assert not solve(nothing, "htp", polish=True, shakes=2, rng=0).matrix.any()
    exact = Problem(LeastSquares(X, X[:, 0, 1]), TVCS.matrix((2, 2), total=1))
    assert solve(exact, "htp", polish=True).matrix == approx(np.array([[0, 1], [0, 0]]), abs=1e-9)


class _Flat(Loss):
    shape = (2, 2)

    def value(self, W):
        return 0.5 * float(np.vdot(W - 1, W - 1))

    def gradient(self, W):
        return W - 1


def test_what_cannot_be_polished_is_refused():
    flat = Problem(_Flat(), TVCS.matrix((2, 2), total=1))
    with pytest.raises(TypeError, match=r"polish needs a loss of a linear model.* found _Flat"):
        solve(flat, polish=True)
    problem = problem_of("matrix", Huber)
    with pytest.raises(TypeError, match="polish must be a bool, found int"):
        solve(problem, polish=3)
    with pytest.raises(ValueError, match="shakes must be >= 0, and 0 without polish, found 3"):
        solve(problem, shakes=3)
    with pytest.raises(TypeError, match=r"shakes must be an integer, found 0\.5"):
        solve(problem, polish=True, shakes=0.5)
