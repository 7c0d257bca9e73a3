"""How fast the solvers are, and where their time goes; peers in the same run.

    python -m benchmarks.speed.solvers            a few minutes, one core
    python -m benchmarks.speed.solvers --quick    fewer seeds and iterations
    python -m benchmarks.speed.solvers --write    also writes docs/solvers-speed.md

Everything runs in one process on one core, peers interleaved, kernels warm.
"""

import argparse
import platform
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from ortools.graph.python import min_cost_flow
from scipy import sparse
from scipy.optimize import linprog
from threadpoolctl import threadpool_limits

from tvcs_core import TVCS, LeastSquares, Problem, project, solve

PAGE = Path(__file__).resolve().parents[2] / "docs" / "solvers-speed.md"
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


def recall_and_time(seeds):
    """Each solver on the paper's regression with n = p = 400."""
    lines = [
        f"## Recall and time: n = p = 400, {seeds} seeds",
        "",
        "Of the misses below .995, *better* counts those whose support fits the data better than",
        "the planted one: no minimiser of the loss finds the planted one there.",
        "",
        "| solver | recall min | mean | below .995 | better | iterations, most | to .995, most "
        "| ms, median | ms, most |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    instances = [paper_instance(seed) for seed in range(seeds)]
    for method, options in SOLVERS:
        rows = [one_solve(instance, method, options) for instance in instances]
        recall, better, iterations, needed, ms = (
            np.array(column) for column in zip(*rows, strict=True)
        )
        missed = recall < 0.995
        reached = needed[~missed]
        shown = method + "".join(f", {name}={value!r}" for name, value in options.items())
        lines.append(
            f"| {shown} | {recall.min():.4f} | {recall.mean():.4f} | {missed.sum()} "
            f"| {(missed & better).sum()} | {iterations.max()} "
            f"| {reached.max() if reached.size else '-'} "
            f"| {np.median(ms):.1f} | {ms.max():.1f} |"
        )
        print(lines[-1], flush=True)
    return lines


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
    lines = [
        "## Where an iteration spends its time: 300 x 300",
        "",
        "| problem | solver | ms per iteration | projection | products | the rest |",
        "|---|---|---|---|---|---|",
    ]
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
            unclocked = Problem._project
            Problem._project = lambda *arguments: projecting(unclocked, *arguments)  # noqa: B023
            start = time.perf_counter()
            solution = solve(problem, method, max_iter=iterations, tol=0, **options)
            whole = time.perf_counter() - start
            Problem._project = unclocked
            rest = whole - projecting.seconds - Timed.clock.seconds
            shown = method + "".join(f", {key}={value!r}" for key, value in options.items())
            lines.append(
                f"| {name} | {shown} | {1e3 * whole / solution.iterations:.1f} "
                f"| {projecting.seconds / whole:.1%} | {Timed.clock.seconds / whole:.1%} "
                f"| {rest / whole:.1%} |"
            )
            print(lines[-1], flush=True)
    return lines


def by_highs(V, constraint):
    """The projection as a linear program for scipy's HiGHS, default settings."""
    n, m = V.shape
    entries = np.arange(n * m)
    groups = np.concatenate([entries // m, n + entries % m, np.full(n * m, n + m)])
    A = sparse.csr_array(
        (np.ones(3 * n * m), (groups, np.tile(entries, 3))), shape=(n + m + 1, n * m)
    )
    b = np.concatenate([constraint.row_caps, constraint.col_caps, [constraint.total]])
    x = linprog(-np.square(V).ravel(), A_ub=A, b_ub=b, bounds=(0, 1), method="highs").x
    return np.where(x.reshape(n, m) > 0.5, V, 0.0)


def by_ortools(V, constraint):
    """The projection as a flow for OR-Tools: source, rows, columns, sink; gains as integers."""
    n, m = V.shape
    entries = np.arange(n * m)
    gains = np.square(V).ravel()
    cost = -np.rint(gains / gains.max() * 2**30).astype(np.int64)
    source, sink = n + m, n + m + 1
    flow = min_cost_flow.SimpleMinCostFlow()
    arcs = flow.add_arcs_with_capacity_and_unit_cost(
        entries // m, n + entries % m, np.ones(n * m, dtype=np.int64), cost
    )
    for tail, head, cap in (
        (np.full(n, source), np.arange(n), constraint.row_caps),
        (n + np.arange(m), np.full(m, sink), constraint.col_caps),
        (np.array([source]), np.array([sink]), np.array([constraint.total])),
    ):
        flow.add_arcs_with_capacity_and_unit_cost(tail, head, cap, np.zeros(len(tail), np.int64))
    flow.set_nodes_supplies(np.array([source, sink]), np.array([1, -1]) * constraint.total)
    assert flow.solve() == flow.OPTIMAL
    return np.where(flow.flows(arcs).reshape(n, m) > 0, V, 0.0)


class Peer(Problem):
    """A problem whose projection is somebody else's."""

    by = staticmethod(by_highs)

    def _project(self, name, V, constraint):
        class Projected:
            matrix = type(self).by(V, constraint)
            support = matrix != 0

        return Projected


class ByOrtools(Peer):
    by = staticmethod(by_ortools)


def against_peers(repeats, iterations):
    """One loop, three projections."""
    lines = [
        f"## The same loop with another projection: 100 x 100, {iterations} iterations",
        "",
        "200 samples, 100 targets, caps of 4, total 320; times in seconds, median of "
        f"{repeats} interleaved runs.",
        "",
        "| solver | ours | scipy HiGHS | slower by | OR-Tools flow | slower by "
        "| objectives differ |",
        "|---|---|---|---|---|---|---|",
    ]
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
        shown = method + "".join(f", {key}={value!r}" for key, value in options.items())
        lines.append(
            f"| {shown} | {ours:.3f} | {highs:.2f} | {highs / ours:.0f} x "
            f"| {flow:.2f} | {flow / ours:.1f} x | {spread:.0e} |"
        )
        print(lines[-1], flush=True)
    return lines


def data_of(problem):
    """The X and Y of a problem, so that no loss inherits what another has computed."""
    return problem.loss._X.copy(), problem.loss._Y.copy()


def warm_and_cold(iterations):
    """Every projection of a run of IHT again, cold and warm, interleaved."""
    lines = [
        "## Warm and cold projections on the trace of a run: 300 x 300",
        "",
        "| solver | caps | projections | cold ms, mean | warm ms, mean | warm / cold |",
        "|---|---|---|---|---|---|",
    ]
    for cap in (5, 40):
        for method, options in (("iht", {}), FASTEST):
            problem = network_instance(2, 300, 600, cap)
            trace = []
            plain = Problem._project

            def record(self, name, V, constraint, trace=trace, plain=plain):
                trace.append(V)
                return plain(self, name, V, constraint)

            Problem._project = record
            solve(problem, method, max_iter=iterations, tol=0, **options)
            Problem._project = plain
            cold, warm = Clock(), Clock()
            last = project(trace[0], problem.constraint)
            for V in trace[1:]:
                fresh = cold(project, V, problem.constraint)
                last = warm(project, V, problem.constraint, "exact", last)
                assert (fresh.support == last.support).all()
            n = len(trace) - 1
            shown = method + "".join(f", {key}={value!r}" for key, value in options.items())
            lines.append(
                f"| {shown} | {cap} | {n} | {1e3 * cold.seconds / n:.2f} "
                f"| {1e3 * warm.seconds / n:.2f} | {warm.seconds / cold.seconds:.2f} |"
            )
            print(lines[-1], flush=True)
    return lines


def machine():
    """One line on what this ran on."""
    names = ["numpy", "scipy", "numba", "ortools"]
    libraries = ", ".join(f"{name} {version(name)}" for name in names)
    return f"Python {platform.python_version()}, {libraries}; {platform.machine()}, one core."


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer seeds and iterations")
    parser.add_argument("--write", action="store_true", help="write docs/solvers-speed.md")
    arguments = parser.parse_args()
    quick = arguments.quick
    solve(Problem(*_problem(paper_instance(0))), "gradmp", max_iter=3)  # kernels warm
    sections = [
        recall_and_time(4 if quick else 30),
        profile(10 if quick else 100),
        against_peers(1 if quick else 3, 4 if quick else 20),
        warm_and_cold(15 if quick else 100),
    ]
    page = [
        "# Speed of the solvers",
        "",
        "Written by `python -m benchmarks.speed.solvers --write`.",
    ]
    page += ["", machine()]
    for section in sections:
        page += ["", *section]
    if arguments.write:
        PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")


def _problem(instance):
    X, y, constraint, _ = instance
    return LeastSquares(X, y), constraint


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
