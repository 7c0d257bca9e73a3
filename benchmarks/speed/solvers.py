"""How fast the solvers are, and where their time goes; peers in the same run.

    python -m benchmarks.speed.solvers               a few minutes, one core
    python -m benchmarks.speed.solvers --quick       fewer seeds and iterations
    python -m benchmarks.speed.solvers --write-docs  also writes docs/studies/solvers-speed.md

Everything runs in one process on one core, peers interleaved, kernels warm.
"""

import argparse
import platform
import time
from functools import partial
from importlib.metadata import version
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.pages import table
from benchmarks.speed.peers import network, places, program, taken
from benchmarks.study import DOCS
from tvcs_core import TVCS, LeastSquares, Problem, project, solve

PAGE = DOCS / "studies" / "solvers-speed.md"
SOLVERS = [
    ("iht", {}),
    ("iht", {"momentum": 0.5}),
    ("iht", {"step": "adaptive"}),
    ("iht", {"step": "adaptive", "momentum": 0.5}),
    ("htp", {}),
    ("htp", {"step": "adaptive"}),
    ("cosamp", {}),
    ("gradmp", {}),
    ("gradmp", {"refit": True}),
    ("stoiht", {}),
    ("stoiht", {"batch": 40}),
    ("stoiht", {"schedule": "uniform"}),
    ("stogradmp", {}),
    ("stogradmp", {"schedule": "uniform"}),
]
FASTEST = ("iht", {"step": "adaptive", "momentum": 0.5})


def caps(side, rng):
    """Caps from 1 to `side`, and a total of 0.8 of the smaller of their sums."""
    rows, cols = rng.integers(1, side + 1, (2, side))
    total = int(0.8 * min(rows.sum(), cols.sum()))
    return TVCS.matrix((side, side), row_caps=rows, col_caps=cols, total=total)


def planted(constraint, rng):
    """Normal coefficients on the support of a projected normal matrix."""
    support = project(rng.standard_normal(constraint.shape), constraint).support
    return np.where(support, rng.standard_normal(constraint.shape), 0.0)


def paper_instance(seed, n=400, side=20):
    """The regression of the paper, section 5.1."""
    rng = np.random.default_rng(seed)
    constraint = caps(side, rng)
    W = planted(constraint, rng)
    X = rng.standard_normal((n, side, side))
    y = X.reshape(n, -1) @ W.ravel() + 0.01 * rng.standard_normal(n)
    return X, y, constraint, W


def network_instance(seed, side, n, cap):
    """Regressions of `side` targets on the same `side` inputs, at most `cap` in each group."""
    rng = np.random.default_rng(seed)
    constraint = TVCS.matrix((side, side), row_caps=cap, col_caps=cap, total=cap * side * 4 // 5)
    W = planted(constraint, rng)
    X = rng.standard_normal((n, side))
    Y = X @ W + 0.1 * rng.standard_normal((n, side))
    return Problem(LeastSquares(X, Y), constraint)


def section(heading, notes, heads, rows):
    """Lines of a section of the page; its rows are shown as they come."""
    found = []
    for row in rows:
        print(*row, sep="  ", flush=True)
        found.append(row)
    return [f"## {heading}", "", *notes, table(heads, found, words=len(heads))]


def named(method, options):
    """A solver and its options in words."""
    return method + "".join(f", {key}={value!r}" for key, value in options.items())


def recall_and_time(seeds):
    """Each solver on the paper's regression with n = p = 400."""
    notes = [
        "Of the misses below .995, *better* counts those whose support fits the data better than",
        "the planted one: no minimiser of the loss finds the planted one there.",
        "",
    ]
    heads = ["solver", "recall min", "mean", "below .995", "better", "iterations, most"]
    heads += ["to .995, most", "ms, median", "ms, most"]
    heading = f"Recall and time: n = p = 400, {seeds} seeds"
    return section(heading, notes, heads, recall_rows(seeds))


def recall_rows(seeds):
    instances = [paper_instance(seed) for seed in range(seeds)]
    for method, options in SOLVERS:
        rows = [one_solve(instance, method, options) for instance in instances]
        recall, better, iterations, needed, ms = (
            np.array(column) for column in zip(*rows, strict=True)
        )
        missed = recall < 0.995
        reached = needed[~missed]
        counts = missed.sum(), (missed & better).sum(), iterations.max()
        yield [
            named(method, options),
            *(f"{x:.4f}" for x in (recall.min(), recall.mean())),
            *map(str, counts),
            f"{reached.max() if reached.size else '-'}",
            *(f"{x:.1f}" for x in (np.median(ms), ms.max())),
        ]


def one_solve(instance, method, options):
    """Recall, whether the fit beats the truth's, iterations, those to recall .995, and ms."""
    X, y, constraint, W = instance
    true = W != 0
    reached = []

    def look(iteration, found, objective):
        if (found[true] != 0).mean() >= 0.995:
            reached.append(iteration)

    start = time.perf_counter()
    solution = solve(Problem(LeastSquares(X, y), constraint), method, rng=0, **options)
    ms = 1e3 * (time.perf_counter() - start)
    solve(Problem(LeastSquares(X, y), constraint), method, rng=0, callback=look, **options)
    loss = LeastSquares(X, y)
    fit = loss.value(loss.minimize_on(solution.support))
    better = fit < loss.value(loss.minimize_on(true))
    recall = solution.support[true].mean()
    return recall, better, solution.iterations, reached[0] if reached else 10**6, ms


class Clock:
    """Seconds spent in what it wraps."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self, function, *arguments):
        start = time.perf_counter()
        result = function(*arguments)
        self.seconds += time.perf_counter() - start
        return result


class Timed(np.ndarray):
    """An array whose matrix products are timed."""

    clock = Clock()

    def __matmul__(self, other):
        return Timed.clock(np.matmul, np.asarray(self), np.asarray(other))


def profile(iterations):
    """Where an iteration of IHT spends its time at 300 x 300."""
    heads = ["problem", "solver", "ms per iteration", "projection", "products", "the rest"]
    heading = "Where an iteration spends its time: 300 x 300"
    return section(heading, [], heads, profile_rows(iterations))


def profile_rows(iterations):
    rng = np.random.default_rng(1)
    constraint = TVCS.matrix((300, 300), row_caps=5, col_caps=5, total=1200)
    W = planted(constraint, rng)
    X = rng.standard_normal((300, 300, 300))
    one_target = Problem(LeastSquares(X, X.reshape(300, -1) @ W.ravel()), constraint)
    many_targets = network_instance(1, 300, 600, 5)
    for problem, name in (
        (many_targets, "600 samples, 300 targets"),
        (one_target, "300 samples, 1 target"),
    ):
        problem.loss._X = problem.loss._X.view(Timed)
        problem.loss.lipschitz()
        for method, options in (("iht", {}), FASTEST):
            solve(problem, method, max_iter=2, tol=0, **options)
            projecting, Timed.clock = Clock(), Clock()
            with patch("tvcs_core.problem.project", partial(projecting, project)):
                start = time.perf_counter()
                solution = solve(problem, method, max_iter=iterations, tol=0, **options)
                whole = time.perf_counter() - start
            rest = whole - projecting.seconds - Timed.clock.seconds
            parts = (projecting.seconds, Timed.clock.seconds, rest)
            ms = 1e3 * whole / solution.iterations
            shares = [f"{part / whole:.1%}" for part in parts]
            yield [name, named(method, options), f"{ms:.1f}", *shares]


def by_highs(V, constraint):
    """The projection as a linear program for SciPy's HiGHS, default settings."""
    x = program(np.square(V), *caps_of(constraint))()
    return np.where(x.reshape(V.shape) > 0.5, V, 0.0)


def by_ortools(V, constraint):
    """The projection as a flow for OR-Tools; gains as integers of 30 bits."""
    row, col = places(*V.shape)
    gains = np.square(V).ravel()
    solver = network(row, col, gains, *caps_of(constraint), bits=30)
    assert solver.solve() == solver.OPTIMAL
    return np.where(taken(solver, len(V), V.size).reshape(V.shape), V, 0.0)


def caps_of(constraint):
    return constraint.row_caps, constraint.col_caps, constraint.total


def projected(matrix):
    """What the solvers ask a projection for."""
    return SimpleNamespace(matrix=matrix, support=matrix != 0)


class Peer(Problem):
    """A problem whose projection is somebody else's."""

    by = staticmethod(by_highs)

    def project(self, V):
        return projected(type(self).by(V, self.constraint))

    def project_doubled(self, V):
        return projected(type(self).by(V, self.constraint.doubled))


class ByOrtools(Peer):
    by = staticmethod(by_ortools)


def against_peers(repeats, iterations):
    """One loop, three projections."""
    notes = [
        "200 samples, 100 targets, caps of 4, total 320; times in seconds, median of "
        f"{repeats} interleaved runs.",
        "",
    ]
    heads = ["solver", "ours", "scipy HiGHS", "slower by", "OR-Tools flow", "slower by"]
    heading = f"The same loop with another projection: 100 x 100, {iterations} iterations"
    rows = peer_rows(repeats, iterations)
    return section(heading, notes, [*heads, "objectives differ"], rows)


def peer_rows(repeats, iterations):
    for method, options in (("iht", {}), FASTEST, ("htp", {}), ("gradmp", {})):
        seconds = {Problem: [], Peer: [], ByOrtools: []}
        spread = 0.0
        for repeat in range(repeats):
            ours, objectives = network_instance(repeat, 100, 200, 4), []
            solve(ours, method, max_iter=2, **options)
            for kind, times in seconds.items():
                problem = kind(LeastSquares(*data_of(ours)), ours.constraint)
                start = time.perf_counter()
                solution = solve(problem, method, max_iter=iterations, tol=0, **options)
                times.append((time.perf_counter() - start) / solution.iterations * iterations)
                objectives.append(solution.objective)
            spread = max(spread, max(objectives) / min(objectives) - 1)
        ours, highs, flow = (float(np.median(times)) for times in seconds.values())
        others = [f"{highs:.2f}", f"{highs / ours:.0f} x", f"{flow:.2f}", f"{flow / ours:.1f} x"]
        yield [named(method, options), f"{ours:.3f}", *others, f"{spread:.0e}"]


def data_of(problem):
    """The X and Y of a problem, so that no loss inherits what another has computed."""
    return problem.loss._X.copy(), problem.loss._Y.copy()


def machine():
    """One line on what this ran on."""
    names = ["numpy", "scipy", "numba", "ortools"]
    libraries = ", ".join(f"{name} {version(name)}" for name in names)
    return f"Python {platform.python_version()}, {libraries}; {platform.machine()}, one core."


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer seeds and iterations")
    parser.add_argument("--write-docs", action="store_true", help=f"write docs/{PAGE.name}")
    arguments = parser.parse_args()
    quick = arguments.quick
    solve(Problem(*_problem(paper_instance(0))), "gradmp", max_iter=3)  # kernels warm
    sections = [
        recall_and_time(4 if quick else 30),
        profile(10 if quick else 100),
        against_peers(1 if quick else 3, 4 if quick else 20),
    ]
    page = [
        "# Speed of the solvers",
        "",
        "Written by `python -m benchmarks.speed.solvers --write-docs`.",
    ]
    page += ["", machine()]
    for section in sections:
        page += ["", *section]
    if arguments.write_docs:
        PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")


def _problem(instance):
    X, y, constraint, _ = instance
    return LeastSquares(X, y), constraint


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
