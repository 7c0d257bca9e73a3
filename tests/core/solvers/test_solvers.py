"""What every solver promises on every loss under every kind of constraint."""

import dataclasses
from inspect import signature
from itertools import product

import numpy as np
import pytest
from pytest import approx
from scipy import sparse

from tvcs_core import TVCS, Huber, LeastSquares, Logistic, Loss, Problem, SquaredHinge, solve
from tvcs_core.loss import LOSSES
from tvcs_core.solvers import METHODS

CONSTRAINTS = ["groups", "matrix", "targets", "mask", "box"]


def constraint_of(kind, rng):
    if kind == "groups":
        caps = {"row_caps": 2, "col_caps": 3, "total": 6}
        return TVCS.groups(rng.integers(-1, 5, 24), rng.integers(-1, 4, 24), **caps)
    caps = {"row_caps": 2, "col_caps": [1, 2, 1, 3], "total": 6}
    return TVCS.matrix(
        (6, 4),
        **caps,
        allowed=rng.random((6, 4)) < 0.8 if kind == "mask" else None,
        bounds=(-0.5, 1.5) if kind == "box" else None,
    )


def planted(loss, kind, seed=0, n=120, noise=0.01):
    """A problem whose data come from a matrix that keeps the caps, and that matrix."""
    rng = np.random.default_rng(seed)
    constraint = constraint_of(kind, rng)
    W = np.sign(Problem(_Flat(constraint.shape), constraint).project(
        rng.choice([-1.0, 1.0], constraint.shape) * rng.uniform(1, 2, constraint.shape)
    ).matrix)  # fmt: skip
    if kind == "box":
        W = np.where(W < 0, -0.5, W)
    if kind == "targets":
        X = rng.standard_normal((n, 6))
        y = X @ W
    else:
        X = rng.standard_normal((n, *constraint.shape))
        y = X.reshape(n, -1) @ W.ravel()
    y = y + noise * rng.standard_normal(y.shape)
    if loss in (SquaredHinge, Logistic):
        y = np.where(y > 0, 1.0, -1.0)
    return Problem(loss(X, y), constraint), W


class _Flat(Loss):
    """A loss without terms."""

    def __init__(self, shape):
        self.shape = shape

    def value(self, W):
        return 0.5 * float(np.vdot(W - 1, W - 1))

    def gradient(self, W):
        return W - 1


every_method = pytest.mark.parametrize("method", METHODS)
every_loss = pytest.mark.parametrize("loss", LOSSES)
# Half of all triples, so that each pair of two of them is there.
every_pair = pytest.mark.parametrize(
    ("method", "loss", "kind"),
    [
        (method, loss, kind)
        for (i, method), (j, loss), (k, kind) in product(
            enumerate(METHODS), enumerate(LOSSES), enumerate(CONSTRAINTS)
        )
        if (i + j + k) % 2
    ],
)


@every_pair
def test_every_iterate_is_feasible_and_the_answer_no_worse_than_the_start(method, loss, kind):
    problem, _ = planted(loss, kind, n=40)
    constraint = problem.constraint
    start = np.random.default_rng(7).standard_normal(constraint.shape)
    seen = []

    def look(iteration, W, objective):
        assert constraint.is_feasible(W != 0)
        if constraint.bounds is not None:
            assert (constraint.bounds[0] <= W).all()
            assert (constraint.bounds[1] >= W).all()
        assert objective == problem.loss.value(W)
        seen.append(iteration)

    solution = solve(problem, method, rng=0, start=start, max_iter=15, callback=look)
    assert seen == list(range(1, solution.iterations + 1))
    assert solution.history[0] == problem.loss.value(problem.project(start).matrix)
    assert solution.objective == solution.history.min() == problem.loss.value(solution.matrix)
    assert (solution.support == (solution.matrix != 0)).all()


class _Reused(_Flat):
    """A loss that writes value and gradient to the same arrays every time."""

    n_terms = 1

    def __init__(self, shape):
        super().__init__(shape)
        self.result, self.slopes = np.empty(()), np.empty(shape)

    def value(self, W):
        self.result[...] = super().value(W)
        return self.result

    def gradient(self, W):
        return np.subtract(W, 1, out=self.slopes)

    def gradient_on(self, W, terms):
        return self.gradient(W)


@every_method
def test_a_loss_may_reuse_its_arrays(method):
    constraint = TVCS.matrix((4, 3), row_caps=1, col_caps=2, total=3)
    solution = solve(Problem(_Reused((4, 3)), constraint), method, rng=0)
    assert (solution.objective, solution.history[0]) == (4.5, 6.0)


def test_a_callback_sees_iterates_that_it_cannot_change():
    def clear(iteration, W, objective):
        W[...] = 0.0

    problem, _ = planted(LeastSquares, "matrix", n=40)
    with pytest.raises(ValueError, match="read-only"):
        solve(problem, callback=clear)


@every_pair
def test_the_planted_support_is_found_in_the_easy_regime(method, loss, kind):
    problem, W = planted(loss, kind, n=600)
    solution = solve(problem, method, rng=0)
    assert (solution.support == (W != 0)).all()


@every_method
@every_loss
def test_the_same_rng_gives_the_same_answer(method, loss):
    problem, _ = planted(loss, "matrix", n=40)
    one, two = (solve(problem, method, rng=3, max_iter=12) for _ in range(2))
    assert (one.matrix == two.matrix).all()
    assert (one.history == two.history).all()


@every_method
def test_the_residual_is_the_move_of_a_projected_gradient_step(method):
    problem, _ = planted(LeastSquares, "matrix")
    solution = solve(problem, method, rng=0, max_iter=3)
    W, gamma = solution.matrix, 1 / problem.loss.lipschitz()
    stepped = problem.project(W - gamma * problem.loss.gradient(W)).matrix
    expected = np.linalg.norm(stepped - W) / np.linalg.norm(W)
    assert solution.residual == approx(expected, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("method", ["iht", "htp", "cosamp"])
def test_a_run_that_converged_has_a_small_residual(method):
    problem, _ = planted(LeastSquares, "matrix")
    solution = solve(problem, method, tol=1e-9, max_iter=2000)
    assert solution.reason == "converged"
    assert solution.residual <= 1e-8


def test_the_residual_of_a_zero_that_is_no_fixed_point_is_infinite():
    problem, _ = planted(LeastSquares, "matrix")
    assert solve(problem, max_iter=0).residual == np.inf


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["matrix", "box"])
def test_iht_with_its_own_step_never_goes_up(loss, kind):
    problem, _ = planted(loss, kind, n=30, noise=1.0)
    history = solve(problem, "iht").history
    assert (np.diff(history) <= 1e-12 * history[0]).all()


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("iht", {"step": "adaptive"}),
        ("iht", {"step": 1e-3}),
        ("iht", {"momentum": 0.5}),
        ("iht", {"step": "adaptive", "momentum": 0.5}),
        ("htp", {"step": "adaptive"}),
        ("htp", {"step": 1e-3}),
        ("gradmp", {"refit": True}),
        ("stoiht", {"batch": 50, "schedule": "uniform"}),
        ("stoiht", {"step": 1e-4}),
        ("stogradmp", {"batch": 600}),
        ("stogradmp", {"schedule": "uniform"}),
    ],
)
@pytest.mark.parametrize("loss", [LeastSquares, Logistic, Huber])
def test_every_option_finds_the_planted_support(method, options, loss):
    problem, W = planted(loss, "matrix", n=600)
    if "step" in options and loss is Logistic and options["step"] != "adaptive":
        options = {"step": 4 * options["step"]}
    solution = solve(problem, method, rng=0, **options)
    assert (solution.support == (W != 0)).all()


def test_an_adaptive_step_needs_fewer_iterations_than_one_over_lipschitz():
    problem, _ = planted(LeastSquares, "matrix", n=40)
    plain = solve(problem, "iht", tol=1e-8)
    adaptive = solve(problem, "iht", tol=1e-8, step="adaptive")
    assert adaptive.iterations < plain.iterations
    assert adaptive.objective <= plain.objective * (1 + 1e-6)


def test_gradmp_with_refit_is_cosamp():
    problem, _ = planted(LeastSquares, "matrix", n=40, noise=1.0)
    one, two = solve(problem, "gradmp", refit=True), solve(problem, "cosamp")
    assert (one.history == two.history).all()


def test_stochastic_gradmp_with_one_batch_is_gradmp():
    problem, _ = planted(LeastSquares, "matrix", n=40)
    whole = solve(problem, "gradmp", max_iter=4)
    parts = solve(problem, "stogradmp", rng=0, batch=40, max_iter=4)
    assert parts.history == approx(whole.history)


def test_stochastic_iht_with_one_batch_is_iht():
    problem, _ = planted(LeastSquares, "matrix", n=40)
    whole = solve(problem, "iht", max_iter=9)
    step = 1 / problem.loss.lipschitz()
    parts = solve(problem, "stoiht", rng=0, batch=40, step=step, max_iter=9)
    assert parts.history == approx(whole.history)


SHAPES = [
    (100, 500, 8, None),
    (200, 100, 8, None),
    (12, 40, 3, None),
    (3, 20, 2, None),
    (1, 10, 2, None),
    (60, 80, 8, 5),
]  # fmt: skip  samples, variables, entries, targets


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_stochastic_iht_is_as_good_as_iht_at_equal_passes(loss, shape):
    n, p, total, q = shape
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, p))
        W = np.zeros((p, 1 if q is None else q))
        W[rng.choice(p, total, replace=False), rng.integers(0, W.shape[1], total)] = 1.5
        y = X @ W + 0.01 * rng.standard_normal((n, W.shape[1]))
        y = np.where(y >= 0.0, 1.0, -1.0) if loss in (Logistic, SquaredHinge) else y
        caps = TVCS.matrix(W.shape, row_caps=1, total=total)
        problem = Problem(loss(X, y if q else y[:, 0]), caps) if q else Problem(
            loss(X, y[:, 0]), TVCS.groups(np.zeros(p, int), None, total=total)
        )  # fmt: skip
        seen = counted(problem.loss)
        found = solve(problem, "stoiht", rng=seed, max_iter=25)
        passes = -(-sum(seen) // n)
        other = solve(problem, "iht", max_iter=passes)
        start = problem.loss.value(np.zeros(problem.constraint.shape))
        assert found.objective <= 1.1 * other.objective + 1e-3 * start
        assert (np.diff(found.history) <= 1e-9 * start).all()


def counted(loss):
    """Count the terms that gradients of a loss are taken of, in the list that is returned."""
    seen, whole, part = [], loss.gradient, loss.gradient_on
    object.__setattr__(loss, "gradient", lambda W: (seen.append(loss.n_terms), whole(W))[1])
    object.__setattr__(
        loss, "gradient_on", lambda W, terms: (seen.append(terms.size), part(W, terms))[1]
    )
    return seen


def test_stochastic_iht_of_few_samples_finds_the_planted_support():
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((100, 500)), np.zeros(500)
    W[rng.choice(500, 8, replace=False)] = rng.choice([-1.0, 1.0], 8) * rng.uniform(1.0, 2.0, 8)
    problem = Problem(LeastSquares(X, X @ W), TVCS.groups(np.zeros(500, int), None, total=8))
    assert (solve(problem, "stoiht", rng=0).support == (W != 0)).all()


def test_a_better_start_is_kept_and_a_start_may_break_the_caps():
    problem, W = planted(LeastSquares, "matrix", noise=0.0)
    for start in (W, sparse.csr_array(W)):
        assert solve(problem, "iht", start=start).objective == approx(0.0, abs=1e-20)
    with pytest.raises(ValueError, match="start must be finite"):
        solve(problem, "iht", start=np.full(W.shape, np.nan))
    with pytest.raises(ValueError, match="start must have the constraint's shape"):
        solve(problem, "iht", start=np.ones(W.size + 1))
    crowded = solve(problem, "iht", start=np.ones(W.shape), max_iter=0)
    assert problem.constraint.is_feasible(crowded.support)


def test_a_run_says_why_it_stopped_and_how_long_it_took():
    problem, _ = planted(LeastSquares, "matrix")
    assert solve(problem, "htp").reason == "converged"
    assert solve(problem, "iht", tol=0, max_iter=3).reason == "max_iter"
    assert solve(problem, "iht", callback=lambda i, W, f: i == 2).iterations == 2
    stopped = solve(problem, "iht", callback=lambda i, W, f: True)
    assert (stopped.reason, stopped.converged) == ("callback", False)
    slow = solve(problem, "stoiht", rng=0, batch=10, tol=0, patience=2)
    assert slow.reason == "stalled"
    assert slow.times.size == slow.history.size
    assert (np.diff(slow.times) >= 0).all()


@every_method
def test_caps_that_forbid_everything_leave_zero(method):
    problem, _ = planted(LeastSquares, "matrix")
    nothing = dataclasses.replace(problem.constraint, total=0)
    solution = solve(Problem(problem.loss, nothing), method, rng=0)
    assert not solution.matrix.any()
    assert solution.reason == "converged"


@every_method
def test_fewer_samples_than_variables_is_an_answer_within_the_caps(method):
    problem, _ = planted(LeastSquares, "matrix", n=4)
    solution = solve(problem, method, rng=0, max_iter=20)
    assert problem.constraint.is_feasible(solution.support)
    assert np.isfinite(solution.matrix).all()


DRAWING = [name for name, solver in METHODS.items() if "rng" in signature(solver).parameters]


@pytest.mark.parametrize("method", [name for name in METHODS if name not in DRAWING])
def test_a_loss_that_knows_only_value_and_gradient_is_enough(method):
    constraint = TVCS.matrix((4, 4), row_caps=1, col_caps=1)
    solution = solve(Problem(_Flat((4, 4)), constraint), method, max_iter=50)
    assert solution.objective == approx(6.0)


def test_an_unknown_method_or_option_lists_what_there_is():
    problem, _ = planted(LeastSquares, "matrix")
    with pytest.raises(ValueError, match=f"one of {', '.join(METHODS)}, found 'newton'"):
        solve(problem, "newton")
    with pytest.raises(TypeError, match="iht does not take 'batch'; its options: step, momentum"):
        solve(problem, "iht", batch=3)
    with pytest.raises(TypeError, match="cosamp does not take 'step'; its options: none"):
        solve(problem, "cosamp", step=1)
    with pytest.raises(TypeError, match=r"does not take 'maxiter'; .* of all methods: .*max_iter"):
        solve(problem, "htp", maxiter=5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.zeros(4), r"of shape \(4, 4\), found an array of float64 with the shape \(4,\)"),
        (np.zeros((4, 4), complex), "found an array of complex128"),
        (np.full((4, 4), np.nan), r"finite, but the gradient of _Flat\[0, 0\] is nan"),
        (np.full((4, 4), np.inf), r"finite, but the gradient of _Flat\[0, 0\] is inf"),
        (None, "real numbers of shape"),
    ],
)
def test_a_wrong_gradient_is_the_fault_of_the_loss(method, wrong, message, monkeypatch):
    monkeypatch.setattr(_Flat, "gradient", lambda self, W: wrong)
    monkeypatch.setattr(_Flat, "gradient_on", lambda self, W, terms: wrong)
    monkeypatch.setattr(_Flat, "n_terms", 8)
    with pytest.raises(ValueError, match=f"the gradient of _Flat must be .*{message}"):
        solve(Problem(_Flat((4, 4)), TVCS.matrix((4, 4), total=3)), method)


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("value", np.nan, "_Flat must have a value at the start, found NaN"),
        ("value", None, "the value of _Flat must be a number, found None"),
        ("value", np.ones(2), "the value of _Flat must be a number, found an array"),
        ("minimize_on", np.ones(4), "the minimiser of _Flat must be real numbers of shape"),
        ("minimize_on", np.full((4, 4), np.nan), "the minimiser of _Flat must be finite"),
        ("minimize_on", np.ones((4, 4)), r"must be 0 outside the support that _Flat.minimize_on"),
    ],
)
def test_a_loss_with_a_wrong_value_or_minimiser_is_refused(name, wrong, message, monkeypatch):
    monkeypatch.setattr(_Flat, name, lambda self, W: wrong)
    with pytest.raises((TypeError, ValueError), match=message):
        solve(Problem(_Flat((4, 4)), TVCS.matrix((4, 4), total=3)), "htp")


@pytest.mark.parametrize("method", [*DRAWING, "dicing"])
def test_a_loss_without_terms_is_refused_by_name(method, monkeypatch):
    monkeypatch.setitem(METHODS, "dicing", lambda problem, W, *, rng: iter([W]))
    problem = Problem(_Flat((3, 3)), TVCS.matrix((3, 3), total=2))
    able = ", ".join(name for name in METHODS if name not in (*DRAWING, "dicing"))
    message = f"{method} needs a loss with terms, but _Flat has none; methods for it: {able}$"
    with pytest.raises(ValueError, match=message):
        solve(problem, method)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("iht", {"step": 0}, "step must be a number > 0, None or 'adaptive', found 0"),
        ("htp", {"step": "best"}, "found 'best'"),
        ("iht", {"momentum": 1}, "momentum must be from 0 to below 1, found 1"),
        ("stoiht", {"step": -1}, "step must be a number > 0 or None, found -1"),
        ("iht", {"step": [1.0]}, "step must be a number > 0, None or 'adaptive', found list"),
        ("iht", {"momentum": "a"}, "momentum must be a number, found 'a'"),
        (
            "iht",
            {"step": np.ones(2)},
            "step must be a number > 0, None or 'adaptive', found an array",
        ),
        ("stoiht", {"schedule": np.ones(2)}, "schedule must be one of uniform, shuffled, found an"),
        ("gradmp", {"refit": "x"}, "refit must be True or False, found 'x'"),
        ("stoiht", {"batch": 2.5}, "batch must be an integer, found 2.5"),
        ("stoiht", {"batch": 0}, "batch must be from 1 to the number of terms 120, found 0"),
        ("stogradmp", {"batch": 121}, "found 121"),
        ("stogradmp", {"schedule": "often"}, "schedule must be one of uniform, shuffled"),
        ("iht", {"max_iter": -1}, "max_iter and tol must be >= 0"),
        ("iht", {"tol": np.nan}, "max_iter and tol must be >= 0"),
        ("iht", {"patience": 0}, "patience >= 1"),
        ("iht", {"start": np.ones((2, 2))}, r"shape \(6, 4\)"),
    ],
)
def test_arguments_out_of_range_are_refused(method, options, message):
    problem, _ = planted(LeastSquares, "matrix")
    with pytest.raises((TypeError, ValueError), match=message):
        solve(problem, method, rng=0, **options)


def test_a_flag_of_numpy_is_a_flag():
    problem, _ = planted(LeastSquares, "matrix")
    found = [solve(problem, "gradmp", refit=flag).objective for flag in (True, np.bool_(True))]
    assert found[0] == found[1]


def test_a_problem_refuses_what_does_not_fit():
    problem, _ = planted(LeastSquares, "matrix")
    with pytest.raises(TypeError, match="callback must be a function, found 3"):
        solve(problem, "iht", callback=3)
    with pytest.raises(ValueError, match="must have one shape"):
        Problem(problem.loss, TVCS.matrix((4, 6)))
    with pytest.raises(TypeError, match="loss must be a Loss, found str"):
        Problem("loss", problem.constraint)
    with pytest.raises(TypeError, match="constraint must be a TVCS, found int"):
        Problem(problem.loss, 3)
