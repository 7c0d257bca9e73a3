"""The methods of the synthetic study: the paper's, what it compares with, and what a user has.

A family is a function from an instance to its answers: method, coefficients, strength, seconds.
Every method with a strength to choose gets it twice: by a hold-out of every fifth sample, as a
user would, and in hindsight, by the recall of its projected support, which nobody could.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.synthetic.cases import HINDSIGHT, Case, Instance, loss_of
from benchmarks.synthetic.convex import column_wise, exclusive_lasso, overall, row_wise
from tvcs_core import TVCS, Problem, project, solve

Answer = tuple[str, np.ndarray, float | None, float]
Path = Callable[[Instance, np.ndarray, np.ndarray], Iterator[tuple[float, np.ndarray]]]

VIEWS: dict[str, Callable[[TVCS], TVCS]] = {
    "tvcs": lambda constraint: constraint,
    "overall": overall,
    "rows": row_wise,
    "columns": column_wise,
}
LOOSER = {  # whose answers keep fewer caps, and so may start a view
    "overall": [],
    "rows": ["overall"],
    "columns": ["overall"],
    "tvcs": ["overall", "rows", "columns"],
}
SOLVERS: dict[str, dict[str, Any]] = {
    "iht": {"step": "adaptive", "max_iter": 200},
    "htp": {"max_iter": 30},
    "cosamp": {"max_iter": 30},
    "gradmp": {"max_iter": 30},
}
RIDGE = {2: 0.01, 3: 100.0}  # of "starts", by figure


def capped(method: str, instance: Instance) -> Iterator[Answer]:
    """Solve from zero under the views of `method`, such as "rows gradmp"."""
    view, solver = method.split()
    began = time.perf_counter()
    problem = Problem(instance.loss, VIEWS[view](instance.constraint))
    W = solve(problem, solver, **SOLVERS[solver]).matrix
    yield method, W, None, time.perf_counter() - began


def best_of_starts(instance: Instance) -> Iterator[Answer]:
    """Solve by HTP from many starts and by IHT from four, and keep the least objective.

    Among the starts are the answers under fewer of the views; to make up for it the views that
    have none get as many other ones. With fewer samples than nonzeros least squares is 0 on
    many supports, and labels that a plane parts leave the squared hinge at 0 on a whole cone of
    coefficients: a small ridge term says which answer is the least. The seconds are those of
    the runs, not of the starts.
    """
    loss = loss_of(instance.figure, instance.X, instance.y, RIDGE[instance.figure])
    tries, spare = starts(instance)
    answers: dict[str, np.ndarray] = {}
    for view, looser in LOOSER.items():
        began = time.perf_counter()
        problem = Problem(loss, VIEWS[view](instance.constraint))
        more = [*(answers[name] for name in looser), *spare][: len(spare)]
        found = [solve(problem, "htp", start=start, max_iter=30) for start in (*tries, *more)]
        found += [
            solve(problem, "iht", start=start, step="adaptive", max_iter=60) for start in tries[:4]
        ]
        answers[view] = min(found, key=lambda solution: solution.objective).matrix
        yield f"{view} starts", answers[view], None, time.perf_counter() - began


def starts(instance: Instance) -> tuple[list[np.ndarray | None], list[np.ndarray]]:
    """Zero, the middle answers of ridge, exclusive lasso and lasso, more of these; three spare."""
    X, y = instance.X, instance.y
    ridge = [W for _, W in ridge_path(instance, X, y)]
    exclusive = [W for _, W in exclusive_path(instance, X, y)]
    lasso = [W for _, W in lasso_path(instance, X, y)]
    middle = [None, *(path[len(path) // 2] for path in (ridge, exclusive, lasso))]
    return [*middle, *exclusive[1::2], *lasso[len(lasso) // 3 :: 2]], lasso[-3:]


def oracle(instance: Instance) -> Iterator[Answer]:
    """HTP that is given the size of the true support and starts at the truth.

    Where even this one leaves the true support, the noise and no solver is to blame.
    """
    began = time.perf_counter()
    caps = {"row_caps": instance.constraint.row_caps, "col_caps": instance.constraint.col_caps}
    known = TVCS.matrix(instance.truth.shape, **caps, total=int(instance.support.sum()))
    start = instance.truth
    W = solve(Problem(instance.loss, known), "htp", start=start, **SOLVERS["htp"]).matrix
    yield "oracle", W, None, time.perf_counter() - began


def chosen(method: str, path: Path, instance: Instance) -> Iterator[Answer]:
    """Both choices of the strength along the answers of `path`."""
    began = time.perf_counter()
    X, y = instance.X, instance.y
    held = np.arange(len(y)) % 5 == 4
    scores = [
        (fit_to(instance.figure, X[held], y[held], W), strength)
        for strength, W in path(instance, X[~held], y[~held])
    ]
    best = max(scores)[1]
    answers = dict(path(instance, X, y))
    seconds = time.perf_counter() - began
    yield method, answers[best], best, seconds
    hits = {
        strength: int((project(W, instance.constraint).support & instance.support).sum())
        for strength, W in answers.items()
    }
    best = max(hits, key=lambda strength: hits[strength])
    yield method + HINDSIGHT, answers[best], best, seconds


def fit_to(figure: int, X: np.ndarray, y: np.ndarray, W: np.ndarray) -> float:
    """How well W fits held-out samples: less squared error, or the correlation with the labels.

    The correlation does not depend on the scale of W, which the labels do not tell.
    """
    predicted = X.reshape(len(y), -1) @ W.ravel()
    if figure == 2:
        return -float(np.sum((predicted - y) ** 2))
    size = float(np.linalg.norm(predicted))
    return float(predicted @ y) / size if size else -np.inf


def exclusive_path(
    instance: Instance, X: np.ndarray, y: np.ndarray
) -> Iterator[tuple[float, np.ndarray]]:
    """The exclusive lasso over rows and columns (Kong et al. 2014), from strong to weak."""
    strengths = (1, 0.3, 0.1, 0.03, 0.01) if instance.figure == 2 else (10, 3, 1, 0.3, 0.1)
    loss, W = loss_of(instance.figure, X, y), None
    for strength in strengths:
        W = exclusive_lasso(
            loss, instance.constraint, strength, start=W, max_iter=2000, tol=1e-4
        ).matrix
        yield strength, W


def lasso_path(
    instance: Instance, X: np.ndarray, y: np.ndarray
) -> Iterator[tuple[float, np.ndarray]]:
    """scikit-learn's Lasso; its squared-hinge SVM with an l1 penalty for the labels."""
    from sklearn import linear_model, svm

    flat, shape = X.reshape(len(y), -1), X.shape[1:]
    if instance.figure == 2:
        fractions = np.geomspace(0.3, 1e-5, 20)  # of the penalty that leaves nothing
        alphas = np.abs(flat.T @ y).max() / len(y) * fractions
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its weakest penalties stop at the limit
            W = linear_model.lasso_path(flat, y, alphas=alphas, max_iter=3000)[1]
        for k, fraction in enumerate(fractions):
            yield float(fraction), W[:, k].reshape(shape)
        return
    for C in (0.01, 0.03, 0.1, 0.3, 1.0):
        model = svm.LinearSVC(
            penalty="l1",
            loss="squared_hinge",
            dual=False,
            C=C,
            fit_intercept=False,
            tol=1e-3,
            random_state=0,
        )
        yield 1 / C, model.fit(flat, y).coef_.reshape(shape)


def ridge_path(
    instance: Instance, X: np.ndarray, y: np.ndarray
) -> Iterator[tuple[float, np.ndarray]]:
    """A square penalty and no sparsity at all: what the caps do by themselves."""
    everything = np.ones(instance.truth.shape, dtype=bool)
    for strength in (1e-3, 1.0, 100.0) if instance.figure == 2 else (100.0, 1000.0):
        yield strength, loss_of(instance.figure, X, y, strength).minimize_on(everything)


def pursuit(instance: Instance) -> Iterator[Answer]:
    """scikit-learn's orthogonal matching pursuit with the total cap; of the labels as numbers."""
    from sklearn.linear_model import orthogonal_mp

    began = time.perf_counter()
    flat = instance.X.reshape(instance.n, -1)
    total = min(instance.constraint.total, instance.n - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that depend on each other: it stops early
        W = orthogonal_mp(flat, instance.y, n_nonzero_coefs=total)
    yield "omp", W.reshape(instance.truth.shape), None, time.perf_counter() - began


def best_subset(instance: Instance) -> Iterator[Answer]:
    """Best-subset selection with the total cap by abess (Zhu et al. 2020)."""
    import abess

    began = time.perf_counter()
    kind = abess.LinearRegression if instance.figure == 2 else abess.LogisticRegression
    total = min(instance.constraint.total, instance.n - 1)
    options = {"max_iter": 200, "exchange_num": 50, "important_search": 0}  # better than its own
    model = kind(support_size=total, fit_intercept=False, path_type="seq", **options)
    model.fit(instance.X.reshape(instance.n, -1), instance.y)
    W = np.asarray(model.coef_).reshape(instance.truth.shape)
    yield "abess", W, None, time.perf_counter() - began


def has_abess() -> bool:
    try:
        import abess  # noqa: F401
    except ImportError:
        return False
    return True


def families(figure: int) -> dict[str, Callable[[Instance], Iterator[Answer]]]:
    """Every family of a figure by its name, which is its first method."""
    found: dict[str, Callable[[Instance], Iterator[Answer]]] = {}
    for view in VIEWS:
        for solver in SOLVERS:
            if figure == 2 or solver != "cosamp":  # of least squares only
                found[f"{view} {solver}"] = partial(capped, f"{view} {solver}")
    found["starts"] = best_of_starts
    found["exclusive lasso"] = partial(chosen, "exclusive lasso", exclusive_path)
    found["lasso"] = partial(chosen, "lasso", lasso_path)
    found["ridge"] = partial(chosen, "ridge", ridge_path)
    found["omp"] = pursuit
    found["abess"] = best_subset  # to be left out where it is not installed
    if figure == 2:
        found["oracle"] = oracle
    return found


def order_of(figure: int) -> Callable[[Case], tuple[int, int, int]]:
    """Where a case of a figure stands in its file, whatever is installed now."""
    names = [method for family in families(figure) for method in methods(family)]
    place = {method: k for k, method in enumerate(names)}
    return lambda case: (case.n, case.repeat, place[case.method])


def methods(family: str) -> tuple[str, ...]:
    """The methods whose rows a family gives."""
    if family == "starts":
        return tuple(f"{view} starts" for view in VIEWS)
    is_chosen = family in ("exclusive lasso", "lasso", "ridge")
    return (family, family + HINDSIGHT) if is_chosen else (family,)
