"""Speed of the exact projection against what else could solve it, side by side in one process.

    python -m benchmarks.speed.projection --quick          about a minute
    python -m benchmarks.speed.projection --write-docs  all, into docs/studies/projection-speed.md
    python -m benchmarks.speed.projection --only tiny growth --write-docs  these sections of it

All of it takes about half an hour on a quiet core. `benchmarks.speed.families` measures what values
do to it, and peers where all caps are 1.
Peers take turns; each figure is a median of ratios within a turn. Seconds are processor time of
the one thread that all of them use, which a busy machine distorts least. OR-Tools is timed on its
solve alone (its build is shown apart) with costs of 46 bits. Answers are compared with OR-Tools'.
"""

import argparse
import os
import platform
import sys
import time
import tracemalloc
from functools import partial

import numpy as np
from scipy import sparse

from benchmarks import pages
from benchmarks.speed.matrices import CASES, draw_caps, named, scaled
from benchmarks.speed.peers import clock, flow, flow_of_matrix
from benchmarks.study import DOCS
from tvcs_core import TVCS, project
from tvcs_core.projection.exact import solve_dense, solve_edges
from tvcs_core.projection.kernels import small
from tvcs_core.projection.kernels.records import Candidates, Counts

PAGE = DOCS / "studies" / "projection-speed.md"
SIZES = ((20, 20), (100, 100), (100, 1000), (300, 300), (1000, 1000), (200, 10_000), (1000, 10_000))
RATIOS = (0.05, 0.2, 0.5)


def turn(values, a, b, total, turns):
    """Seconds of every peer, one row per turn: ours, OR-Tools, its build, the floor."""
    gains = values * values
    rows = []
    for _ in range(turns):
        cold, ours = clock(lambda: solve_dense(values, a, b, total, squared=True))
        build, solve, kept = flow_of_matrix(gains, a, b, total)
        check(gains[ours.mask].sum(), kept)
        floor, _ = clock(lambda: np.partition(gains, gains.size // 5, axis=None))
        rows.append((cold, solve, build, floor))
    return np.array(rows)


def figures(rows):
    """Medians over the turns of OR-Tools / ours, ours / np.partition and so on."""
    cold, solve, build, floor = rows.T
    ratios = (solve / cold, cold / floor, build / solve, cold)
    return [float(np.median(r)) for r in ratios]


def table(out, heads, rows):
    out += [pages.table(heads, rows, words=len(heads)), ""]
    print(*out[-2:], sep="\n", flush=True)


def check(kept, theirs, peer="OR-Tools"):
    """Stop where a peer keeps more or less than we."""
    if abs(kept - theirs) > 1e-9 * abs(theirs):
        raise AssertionError(f"kept {kept!r}, {peer} {theirs!r}")


def spread(values):
    values = np.asarray(values)
    return f"{np.median(values):.2g} ({values.min():.2g}-{values.max():.2g})"


def extent(values):
    """Write the least and the most, and nothing if they are unknown."""
    values = np.asarray(values)
    return "" if np.isnan(values).any() else f"{values.min():.3g} to {values.max():.3g}"


def grid(out, sizes, ratios):
    out.append("\n## The grid: Gaussian values\n")
    rows = []
    for n, m in sizes:
        turns = 15 if n * m <= 1e5 else 3 if n * m < 1e6 else 1
        for kind, total in CASES:
            found = []
            for ratio in ratios if n * m < 1e7 else ratios[len(ratios) // 2 :][:1]:
                rng = np.random.default_rng([n, m, int(100 * ratio)])
                values = scaled(rng.normal(size=(n, m)))
                caps = draw_caps(rng, n, m, ratio * m, ratio * n, kind, total)
                if turns > 1:
                    turn(values, *caps, 1)
                found.append(figures(turn(values, *caps, turns)))
            solve, floor, build, cold = np.array(found).T
            rows.append(
                [
                    f"{n} x {m}",
                    named(kind, total),
                    f"{1e3 * np.median(cold):.3g}",
                    *(spread(x) for x in (solve, floor, build)),
                ]
            )
            print(rows[-1], flush=True)
    heads = ["size", "caps, total", "ours, ms", "OR-Tools / ours", "ours / np.partition"]
    table(out, [*heads, "OR-Tools' build / solve"], rows)


def closed_forms(out, sizes):
    out.append("\n## Caps of one side and the total only: closed forms\n")
    rows = []
    for n, m in sizes:
        values = scaled(np.random.default_rng([n, m]).normal(size=(n, m)))
        gains, few = values**2, n * m // 9
        for name, a, b, k in (
            ("rows", m // 5, n, n * m),
            ("columns", m, n // 5, n * m),
            ("rows and total", m // 5, n, few),
            ("total", m, n, few),
            ("all, but only the total binds", m // 2, n // 2, few),
        ):
            caps, found = (np.full(n, a), np.full(m, b), k), []
            for _ in range(7 if n * m < 1e6 else 3):
                ours, answer = clock(partial(solve_dense, values, *caps, squared=True))
                solve, kept = flow_of_matrix(gains, *caps)[1:]
                check(gains[answer.mask].sum(), kept)
                floor, _ = clock(partial(np.partition, gains, gains.size // 5, axis=None))
                found.append((1e3 * ours, solve / ours, ours / floor))
            rows.append([f"{n} x {m}", name, *(f"{x:.3g}" for x in np.median(found, axis=0))])
    table(out, ["size", "caps", "ours, ms", "OR-Tools / ours", "ours / np.partition"], rows)


def lists(out, n, m, p):
    out.append(f"\n## Candidates: {p:,} of {n:,} x {m:,}\n")
    rng = np.random.default_rng(1)
    place = np.unique(rng.integers(0, n * m, p + p // 20))
    place = rng.permutation(place)[:p]
    row, col = place // m, place % m
    key, values = np.zeros(p, np.int64), scaled(rng.normal(size=p))
    rows = []
    for kind, total in CASES:
        a, b, k = draw_caps(rng, n, m, 0.2 * p / n, 0.2 * p / m, kind, total)
        found = []
        for i in range(4):
            ours, answer = clock(partial(solve_edges, row, col, key, values, a, b, k, squared=True))
            build, solve, kept = flow(row, col, values**2, a, b, k)
            check((values[answer.mask] ** 2).sum(), kept)
            if i:
                found.append((1e3 * ours, solve / ours, build / solve))
        cells = [f"{x:.3g}" for x in np.median(found, axis=0)]
        rows.append([named(kind, total), *cells])
    table(out, ["caps, total", "ours, ms", "OR-Tools / ours", "OR-Tools' build / solve"], rows)


LIST_VALUES = {
    "gauss": lambda rng, n, row, col: rng.normal(size=row.size),
    "sums": lambda rng, n, row, col: rng.normal(size=n)[row] + rng.normal(size=n)[col],
    "products": lambda rng, n, row, col: rng.normal(size=n)[row] * rng.normal(size=n)[col],
    "low rank": lambda rng, n, row, col: np.einsum(
        "ek,ek->e", rng.normal(size=(n, 3))[row], rng.normal(size=(n, 3))[col]
    ),
}


SHAPES = ("degree 3", "random", "half stars", "Zipf", "ten a line", "blocks", "1%", "5%", "20%")
MAX_PEER_LIST = 1_000_000  # entries of a list that OR-Tools takes part in
MAX_POT_LINES = 1000  # a line of tables that POT takes part in: it takes no lists


def places_of(shape, p, rng):
    """Return the side of a square and about p places in it, sorted."""
    if shape.endswith("%"):
        n = int(np.sqrt(100 * p / int(shape[:-1])))
    else:
        n = p // {"ten a line": 10, "Zipf": 5, "half stars": 4, "blocks": 25}.get(shape, 3)
    row, col = rng.integers(0, n, (2, p))
    if shape == "Zipf":
        shares = np.arange(1, n + 1) ** -0.8
        col = rng.choice(n, p, p=shares / shares.sum())
    elif shape == "half stars":
        row[: p // 2] = rng.integers(0, int(np.sqrt(n)), p // 2)
    elif shape == "degree 3":
        row = np.repeat(np.arange(n), 3)
        col = np.concatenate([rng.permutation(n) for _ in range(3)]).reshape(3, n).T.ravel()
    elif shape == "blocks":
        size = n // 100
        row, col = row // size * size + rng.integers(0, size, (2, p))
    at = np.unique(row * n + col)
    return n, at // n, at % n


def list_shapes(out, p):
    out.append(f"\n## Lists of {p:,} candidates, by shape: OR-Tools / `project`\n")
    out.append("Over Gaussian values, sums, products and low rank, caps of 1, 5 and 20, a total of")
    out.append("half and none; one seed. OR-Tools' costs have as many bits as it takes.\n")
    rows = []
    for shape in SHAPES:
        rng, found = np.random.default_rng(1), []
        n, row, col = places_of(shape, p, rng)
        bits = 58 - (2 * n + 2).bit_length()
        for make in LIST_VALUES.values():
            values = scaled(make(rng, n, row, col))
            V = sparse.csr_array((values, (row, col)), shape=(n, n))
            for cap in (1, 5, 20):
                a, most = np.full(n, cap), min(cap * n, row.size)
                for total in (most // 2, most):
                    tvcs = TVCS.matrix((n, n), row_caps=cap, col_caps=cap, total=total)
                    project(V, tvcs)
                    ours, answer = clock(partial(project, V, tvcs))
                    _, theirs, kept = flow(row, col, values**2, a, a, total, bits=min(bits, 46))
                    if abs(answer.objective - kept) > 1e-6 * kept:
                        raise AssertionError(f"{shape}: {answer.objective!r}, OR-Tools {kept!r}")
                    found.append(theirs / ours)
        cells = [f"{np.median(found):.2f}", f"{min(found):.2f}"]
        rows.append([shape, f"{row.size / n:.0f}", *cells, f"{sum(x < 1 for x in found)}"])
    table(out, ["shape", "entries per row", "median", "worst", "below 1, of 24"], rows)


def list_growth(out, sizes):
    out.append("\n## Lists: growth and memory\n")
    out.append("Gaussian values at random places, three a line, caps of 1. The peak is what NumPy")
    out.append("allocates beside the input; OR-Tools' costs have as many bits as it takes.\n")
    rows = []
    for share, name in ((None, "none"), (2, "half")):
        seconds = []
        for p in sizes:
            rng = np.random.default_rng(1)
            n, row, col = places_of("random", p, rng)
            values = scaled(rng.normal(size=row.size))
            V, ones = sparse.csr_array((values, (row, col)), shape=(n, n)), np.ones(n, np.int64)
            total = n if share is None else n // share
            tvcs = TVCS.matrix((n, n), row_caps=1, col_caps=1, total=total)
            if p == sizes[0]:
                project(V, tvcs)
            tracemalloc.start()
            ours, answer = clock(partial(project, V, tvcs))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            if p < sizes[-1]:
                ours = min(clock(partial(project, V, tvcs))[0] for _ in range(2))
            seconds.append(ours)
            theirs = ""
            if p <= MAX_PEER_LIST:
                bits = min(46, 58 - (2 * n + 2).bit_length())
                _, solve, kept = flow(row, col, values**2, ones, ones, total, bits=bits)
                if abs(answer.objective - kept) > 1e-6 * kept:
                    raise AssertionError(f"{answer.objective!r}, OR-Tools {kept!r}")
                theirs = f"{solve:.2f}"
            cells = [name, f"{row.size:,}", f"{ours:.2f}", theirs, f"{peak / 1e6:,.0f}"]
            rows.append([*cells, f"{answer.gap / answer.objective:.0e}"])
            print(rows[-1], flush=True)
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        rows.append([name, "exponent", f"{slope:.2f}", "", "", ""])
    heads = ["total", "entries", "seconds", "OR-Tools, seconds", "peak, MB", "gap / objective"]
    table(out, heads, rows)


def list_peers(out, p):
    from ot import emd
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    out.append(f"\n## Lists of {p:,} candidates, all caps 1, no total: peers / `project`\n")
    out.append("scipy's `min_weight_full_bipartite_matching` on the list, with a column of its own")
    out.append(
        "for each row that stays alone; POT's network simplex `emd` on the whole table, zeros"
    )
    out.append("in other places. Times of one thread; every answer is compared with ours.\n")
    out.append(f"Least to most over the values: {', '.join(LIST_VALUES)}.\n")
    rows = []
    for shape in SHAPES:
        rng = np.random.default_rng(1)
        n, row, col = places_of(shape, p, rng)
        found = []
        for make in LIST_VALUES.values():
            values = scaled(make(rng, n, row, col))
            V = sparse.csr_array((values, (row, col)), shape=(n, n))
            tvcs = TVCS.matrix((n, n), row_caps=1, col_caps=1)
            project(V, tvcs)
            ours, answer = clock(partial(project, V, tvcs))
            lines, top = np.arange(n), 1.0 + values.max() ** 2
            rows_, cols = np.concatenate([row, lines]), np.concatenate([col, n + lines])
            costs = np.concatenate([top - values**2, np.full(n, top)])
            costs = sparse.csr_array((costs, (rows_, cols)), shape=(n, 2 * n))
            theirs, taken = clock(partial(min_weight_full_bipartite_matching, costs))
            check(answer.objective, (top - costs[taken]).sum(), "scipy")
            by_pot = np.nan
            if n <= MAX_POT_LINES:
                dense = V.toarray() ** 2
                each = np.full(n, 1.0 / n)
                seconds, plan = clock(partial(emd, each, each, dense.max() - dense))
                check(answer.objective, n * (plan * dense).sum(), "POT")
                by_pot = seconds / ours
            found.append((1e3 * ours, theirs / ours, by_pot))
        rows.append([shape, *map(extent, zip(*found, strict=True))])
    table(out, ["shape", "ours, ms", "scipy / ours", "POT / ours"], rows)


def tiny(out, calls=500):
    out.append("\n## 20 x 20, microseconds: median over the ratios\n")
    rows = []
    for kind, total in CASES:
        found = []
        for ratio in RATIOS:
            rng = np.random.default_rng(2)
            values = scaled(rng.normal(size=(20, 20)))
            a, b, k = draw_caps(rng, 20, 20, 20 * ratio, 20 * ratio, kind, total)
            start, columns = np.arange(21) * 20, np.arange(20, dtype=np.int32)
            keys, keep = np.zeros(20, np.int64), np.zeros(400, bool)
            candidates = Candidates(values.reshape(-1), start, columns, keys, True, True)
            table_, prices = (candidates, Counts(a, b, k), 2.0**55, keep), np.zeros((2, 20))
            tvcs = TVCS.matrix((20, 20), row_caps=a, col_caps=b, total=k)
            found.append([])
            for call in (
                lambda t=table_, p=prices: small.solve_small(*t, *(0.0 * p)),
                lambda v=values, c=(a, b, k): solve_dense(v, *c, squared=True),
                lambda v=values, t=tvcs: project(v, t),
            ):
                found[-1].append(1e6 * np.median([clock(call)[0] for _ in range(calls)]))
            solves = [flow_of_matrix(values**2, a, b, k)[1] for _ in range(calls // 10)]
            found[-1].append(1e6 * np.median(solves))
        cells = [f"{x:.0f}" for x in np.median(found, axis=0)]
        rows.append([named(kind, total), *cells])
    table(out, ["caps, total", "kernel", "solver", "project", "OR-Tools' solve"], rows)


def growth(out, sides):
    out.append("\n## Growth and memory: n x n, ratio .2, uniform caps\n")
    rows = []
    for total in (0.8, None):
        seconds = []
        for n in sides:
            rng = np.random.default_rng(n)
            values = scaled(rng.normal(size=(n, n)))
            caps = draw_caps(rng, n, n, 0.2 * n, 0.2 * n, "uniform", total)
            if n == sides[0]:
                solve_dense(values, *caps, squared=True)
            tracemalloc.start()
            solve_dense(values, *caps, squared=True)
            extra = tracemalloc.get_traced_memory()[1] - n * n
            tracemalloc.stop()
            times = [
                clock(lambda v=values, c=caps: solve_dense(v, *c, squared=True))[0]
                for _ in range(3 if n < 3000 else 1)
            ]
            seconds.append(min(times))
            cells = [f"{n * n:.1e}", f"{seconds[-1]:.3f}", f"{extra / n**2:.1f}"]
            rows.append(["loose" if total is None else str(total), *cells])
        slope = np.polyfit(np.log([float(n) ** 2 for n in sides]), np.log(seconds), 1)[0]
        rows.append(["loose" if total is None else str(total), "exponent", f"{slope:.2f}", ""])
    table(out, ["total", "entries", "seconds", "extra bytes per entry"], rows)


def sections(quick):
    """A function for every section that appends it to a list of lines."""
    small_sizes, ratios = SIZES[:4] if quick else SIZES, RATIOS[1:2] if quick else RATIOS
    squares = [(100, 100), (300, 300)] if quick else [(100, 100), (300, 300), (1000, 1000)]
    candidates = (2000, 200, 20_000) if quick else (20_000, 2000, 1_000_000)
    return {
        "tiny": tiny,
        "grid": lambda out: grid(out, small_sizes, ratios),
        "closed": lambda out: closed_forms(out, squares),
        "lists": lambda out: lists(out, *candidates),
        "list shapes": lambda out: list_shapes(out, 6_000 if quick else 60_000),
        "list growth": lambda out: list_growth(
            out, (10_000, 30_000) if quick else (10_000, 100_000, 1_000_000, 10_000_000)
        ),
        "list peers": lambda out: list_peers(out, 6_000 if quick else 60_000),
        "growth": lambda out: growth(out, (316, 1000) if quick else (316, 1000, 3162)),
    }


def write(path, out, whole):
    """Write all sections, or put these in the place of those with their headings."""
    text = "\n".join(out) + "\n"
    if not whole:
        head, *old = path.read_text().split("\n## ")
        when = time.strftime("%B %Y")
        note = f"\n\nMeasured apart from the rest, {when}; load {os.getloadavg()[0]:.1f} on "
        note += f"{os.cpu_count()} cores at the end."
        found = [s.partition("\n") for s in text.split("\n## ")[1:]]
        new = {heading: heading + note + "\n" + rest for heading, _, rest in found}
        parts = [new.pop(s.partition("\n")[0], s) for s in old] + list(new.values())
        text = "\n## ".join([head, *parts])
    path.write_text(text.rstrip("\n") + "\n")
    print(f"written to {path}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write-docs", action="store_true", help=f"write docs/{PAGE.name}")
    parser.add_argument("--only", nargs="+", choices=list(sections(False)))
    options = parser.parse_args()
    out = [
        "# Speed of the exact projection",
        "",
        "Written by `python -m benchmarks.speed.projection" + (" --quick" * options.quick) + "`.",
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; "
        f"load while it began {os.getloadavg()[0]:.1f}. In brackets: least and most over the",
        "ratios of the caps to the groups' sizes. Above 1 is in our favour in the columns",
        "OR-Tools / ours.",
        "",
    ]
    began = time.perf_counter()
    solve_dense(np.ones((60, 60)), *[np.full(60, 3)] * 2, 100, squared=True)
    print(f"kernels ready after {time.perf_counter() - began:.1f} s", file=sys.stderr)
    chosen = sections(options.quick)
    for name in options.only or chosen:
        chosen[name](out)
    if options.write_docs:
        write(PAGE, out, whole=options.only is None)


if __name__ == "__main__":
    main()
