"""The paper's route to the projection, measured: `python -m benchmarks.synthetic.route --out DIR`.

Writes reach.csv (iterations to the exact support), rate.csv (Theorem 2 along one run), cost.csv
(time of one iteration), tables.md and run.json. `--write-docs` also puts the tables into
docs/studies/paper-route.md. Two or three minutes on one core that is free; times
are those of the processor.
"""

import argparse
import csv
import math
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from benchmarks.pages import fill_file, table
from benchmarks.study import DOCS
from tvcs_core import TVCS, project
from tvcs_core.command.results import results
from tvcs_core.projection.relaxations import (
    Program,
    gradient_step,
    lipschitz,
    perturbed,
    primal_dual_hybrid_gradient,
    program_of,
    projected_gradient,
)

PAGE = DOCS / "studies" / "paper-route.md"
METHODS = ("pgd", "pgd + FISTA", "pdhg")
# shape, iterations allowed to the two gradient methods
REACH = [((n, n), 60_000) for n in (3, 4, 5, 6)] + [((n, n), 30_000) for n in (8, 10)]
REACH += [((20, 20), 20_000), ((50, 50), 5_000), ((100, 100), 2_000), ((200, 200), 500)]
RATE = [((3, 3), 20_000), ((4, 4), 60_000), ((5, 5), 60_000), ((6, 6), 60_000)]
PDHG_LIMIT = 20_000
COST = [(10, 10), (30, 30), (100, 100), (300, 300), (1000, 1000), (100, 10_000)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="small sizes only, in seconds")
    parser.add_argument("--force", action="store_true", help="replace the files of a folder in use")
    parser.add_argument("--write-docs", action="store_true", help=f"update {PAGE.name}")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + (2 if options.quick else 5))
    reach_sizes = [(REACH[0][0], 5_000)] if options.quick else REACH
    rate_sizes = [(RATE[0][0], 5_000)] if options.quick else RATE
    name, parameters = "python -m benchmarks.synthetic.route", {"quick": options.quick}
    with results(name, options, parameters, seed=options.seed) as out:
        reached = [row for shape, limit in reach_sizes for row in reach(shape, limit, seeds)]
        rates, summaries = [], []
        for shape, limit in rate_sizes:
            for seed in seeds[:3]:
                rows, summary = rate(shape, limit, seed)
                rates += rows
                summaries.append(summary)
        costs = [cost(shape, options.seed) for shape in (COST[:2] if options.quick else COST)]
        write_csv(out.folder / "reach.csv", reached)
        write_csv(out.folder / "rate.csv", rates)
        write_csv(out.folder / "cost.csv", costs)
        page = "\n\n".join([reach_table(reached), rate_table(summaries), cost_table(costs)])
        out.text("tables.md", f"{page}\n")
    print(page)
    if options.write_docs:
        fill_file(PAGE, {"measured": page})


def instance(shape: tuple[int, int], seed: int) -> tuple[np.ndarray, TVCS, Program]:
    """A Gaussian matrix; caps of about a fifth, all different, and .8 of what they allow in all."""
    n, m = shape
    rng = np.random.default_rng([n, m, seed])
    V = rng.standard_normal(shape)
    row_caps = rng.integers(1, max(2, 2 * m // 5 + 1), n)
    col_caps = rng.integers(1, max(2, 2 * n // 5 + 1), m)
    total = max(1, int(0.8 * min(row_caps.sum(), col_caps.sum())))
    constraint = TVCS.matrix(shape, row_caps=row_caps, col_caps=col_caps, total=total)
    program = program_of(*constraint.labels, np.square(V).ravel(), *constraint.caps)
    return V, constraint, perturbed(program, seed)


def reach(shape: tuple[int, int], limit: int, seeds: range) -> Iterator[dict]:
    """Iterations after which x, rounded, is the exact support, for each method and seed."""
    for seed in seeds:
        V, constraint, program = instance(shape, seed)
        exact = project(V, constraint).support.ravel()
        seconds_exact = min(seconds(lambda V=V, on=constraint: project(V, on)) for _ in range(3))
        iterates = {
            "pgd": projected_gradient(program),
            "pgd + FISTA": accelerated(program),
            "pdhg": primal_dual_hybrid_gradient(program),
        }
        for method in METHODS:
            allowed = PDHG_LIMIT if method == "pdhg" else limit
            start = time.process_time()
            found = iterations_to(exact, program, iterates[method], allowed)
            yield {
                "size": named(shape),
                "seed": seed,
                "method": method,
                "limit": allowed,
                "iterations": "" if found is None else found,
                "seconds": time.process_time() - start,
                "seconds_exact": seconds_exact,
            }


def named(shape: tuple[int, int]) -> str:
    return f"{shape[0]} x {shape[1]}"


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def iterations_to(
    exact: np.ndarray, program: Program, iterates: Iterator[tuple], limit: int
) -> int | None:
    """The first iteration with the exact support, looked for at every fiftieth part."""
    next_look = 0
    for iteration, (x, *_) in enumerate(iterates):
        if iteration >= next_look:
            next_look = max(iteration + 1, int(iteration * 1.02))
            if (program.rounded(x) == exact).all():
                return iteration
        if iteration >= limit:
            return None
    return None


def accelerated(program: Program) -> Iterator[tuple]:
    """Projected gradient with Nesterov's momentum, restarted when it points uphill."""
    step = 1 / lipschitz(program)
    z = ahead = next(projected_gradient(program))
    weight = 1.0
    while True:
        yield z
        new = gradient_step(program, step, *ahead)
        if sum((a - b) @ (b - c) for a, b, c in zip(ahead, new, z, strict=True)) > 0:
            weight, ahead = 1.0, new
        else:
            next_weight = (1 + math.sqrt(1 + 4 * weight**2)) / 2
            push = (weight - 1) / next_weight
            ahead = tuple(b + push * (b - c) for b, c in zip(new, z, strict=True))
            weight = next_weight
        z = new


def rate(shape: tuple[int, int], limit: int, seed: int) -> tuple[list[dict], dict]:
    """Distance of projected gradient to the solutions of equation 6, and what it says of alpha."""
    V, constraint, program = instance(shape, seed)
    exact = project(V, constraint).support.ravel()
    distance_to = distance_to_solutions(program, exact)
    looks = set(np.unique(np.geomspace(1, limit, 60).astype(int)))
    looks |= set(np.linspace(limit / 2, limit, 12).astype(int)) | {0}
    rows, first = [], None
    for iteration, (x, y, t) in enumerate(projected_gradient(program)):
        is_exact = (program.rounded(x) == exact).all()
        first = iteration if first is None and is_exact else first
        if iteration in looks:
            row = {"size": named(shape), "iteration": iteration, "distance": distance_to(x, y, t)}
            rows.append(row | {"support_is_exact": int(is_exact)})
        if iteration >= limit:
            break
    tail = [r for r in rows if r["iteration"] >= limit / 2]
    slope = np.polyfit([r["iteration"] for r in tail], [math.log(r["distance"]) for r in tail], 1)[
        0
    ]
    R = rows[0]["distance"]
    summary = {
        "size": named(shape),
        "R": R,
        "at_end": rows[-1]["distance"],
        "limit": limit,
        "one_minus_alpha": -math.expm1(slope),
        "formula": math.log(2 * R) / -slope,
        "within_half": next((r["iteration"] for r in rows if r["distance"] < 0.5), None),
        "first_exact": first,
    }
    return rows, summary


def distance_to_solutions(program: Program, exact: np.ndarray):
    """The distance from (x, y, t) to all solutions of equation 6.

    x is unique. Complementary slackness describes the prices: 0 on a group that is not full;
    t = gain - A^T y >= 0 where x = 1; t = 0 <= A^T y - gain where x = 0. The nearest such y is
    a least distance program, solved by non-negative least squares (Lawson and Hanson, ch. 23).
    """
    kept = exact.astype(float)
    full = program.caps - program.times(kept) < 0.5
    A = np.column_stack([program.transposed_times(e) for e in np.eye(program.caps.size)])[:, full]
    inside, outside = A[exact], A[~exact]
    gains_in, gains_out = program.gains[exact], program.gains[~exact]
    upper = np.linalg.cholesky(np.eye(A.shape[1]) + inside.T @ inside).T

    def distance(x: np.ndarray, y: np.ndarray, t: np.ndarray) -> float:
        centre = y[full] + inside.T @ (gains_in - t[exact])
        centre = solve_triangular(upper, solve_triangular(upper.T, centre, lower=True))
        G = np.vstack([np.eye(A.shape[1]), -inside, outside])
        h = np.concatenate([np.zeros(A.shape[1]), -gains_in, gains_out]) - G @ centre
        E = solve_triangular(upper.T, G.T, lower=True).T
        stacked = np.vstack([E.T, h])
        target = np.append(np.zeros(A.shape[1]), 1.0)
        weights, _ = nnls(stacked, target, maxiter=10_000)
        residual = stacked @ weights - target
        v = -residual[:-1] / residual[-1] if residual[-1] < -1e-14 else np.zeros(A.shape[1])
        prices = centre + solve_triangular(upper, v)
        parts = [x - kept, y[~full], y[full] - prices, t[~exact]]
        return float(
            np.linalg.norm(np.concatenate([*parts, t[exact] - gains_in + inside @ prices]))
        )

    return distance


def cost(shape: tuple[int, int], seed: int) -> dict:
    """Seconds of one iteration of each method, the least of several."""
    _, _, program = instance(shape, seed)
    row = {"size": named(shape), "work": program.gains.size + program.caps.size}
    for name, iterates in (
        ("pgd", projected_gradient(program)),
        ("pdhg", primal_dual_hybrid_gradient(program)),
    ):
        for _ in range(21):
            next(iterates)
        times = []
        for _ in range(max(20, min(200, 2_000_000 // program.gains.size)) // 20):
            start = time.process_time()
            for _ in range(20):  # as many as lie between two looks of pdhg
                next(iterates)
            times.append((time.process_time() - start) / 20)
        row[name] = min(times)
    return row


def reach_table(rows: list[dict]) -> str:
    lines = []
    for size in dict.fromkeys(row["size"] for row in rows):
        here = [row for row in rows if row["size"] == size]
        cells = [cell([r for r in here if r["method"] == method]) for method in METHODS]
        pdhg = statistics.median(r["seconds"] for r in here if r["method"] == "pdhg")
        exact = statistics.median(r["seconds_exact"] for r in here)
        lines.append([size, f"{here[0]['limit']:,}", *cells, f"{pdhg:.2g}", f"{exact:.2g}"])
    heads = ["size", "limit", *METHODS, "pdhg, s", "exact, s"]
    return table(heads, lines, words=len(heads))


def cell(rows: list[dict]) -> str:
    """The median number of iterations, runs that did not get there counted as endless."""
    found = sorted(math.inf if r["iterations"] == "" else r["iterations"] for r in rows)
    middle = statistics.median_low(found)
    reached = sum(math.isfinite(n) for n in found)
    count = f"{middle:,}" if math.isfinite(middle) else "not reached"
    return count if reached == len(rows) else f"{count} ({reached} of {len(rows)})"


def rate_table(summaries: list[dict]) -> str:
    lines = []
    for s in summaries:
        within, first = (
            "not reached" if s[k] is None else f"{s[k]:,}" for k in ("within_half", "first_exact")
        )
        numbers = f"{s['R']:.2f}", f"{s['one_minus_alpha']:.1e}", f"{s['formula']:,.0f}"
        end = f"{s['at_end']:.2g} after {s['limit']:,}"
        lines.append([s["size"], *numbers, within, first, end])
    heads = ["size", "R", "1 - alpha", "log_alpha(1/(2R))", "distance < 1/2", "exact support"]
    return table([*heads, "distance at the end"], lines, words=7)


def cost_table(rows: list[dict]) -> str:
    lines = [
        [
            r["size"],
            f"{r['work']:,}",
            *(f"{r[name] * 1e6:,.0f}" for name in ("pgd", "pdhg")),
            f"{r['pgd'] / r['work'] * 1e9:.0f}",
        ]
        for r in rows
    ]
    heads = ["size", "p + \\|G\\|", "pgd, us", "pdhg, us", "pgd, ns per p + \\|G\\|"]
    return table(heads, lines, words=len(heads))


def write_csv(path: Path, rows: list[dict]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
