"""Does `compare` keep its word? Pairs of simulated networks -> docs/studies/network-compare.md.

    python -m benchmarks.two_conditions [--pairs N] [--jobs N] [--write-docs | --only-docs]
    python -m benchmarks.two_conditions --learn [--pairs N]

`compare` learns probabilities on pairs of two kinds of networks (--learn writes them into the
package) and judged on pairs of other kinds: between many and few regulators, stars, and networks
grown with hubs as `simulate` grows them. A part of the edges of the second network is lost, gained
or reversed; both have series of their own, with perturbations of their own. Halves of the series of
data/bsubtilis, drawn at random, are real pairs without a difference.
"""

from __future__ import annotations

from benchmarks.study import ROOT, complete, load, one_thread, options, run

one_thread()  # before NumPy is loaded

import json  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from dataclasses import dataclass, replace  # noqa: E402
from functools import lru_cache, partial  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import NamedTuple  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks.learning.condition_pairs import ConditionPair, draw_pair  # noqa: E402
from benchmarks.pages import fill_file, table  # noqa: E402
from grn_tvcs import compare, subset_genes  # noqa: E402
from grn_tvcs.comparison.difference_model import (  # noqa: E402
    MIN_LOG_T,
    DifferenceModel,
    expanded,
    features,
    global_p_value,
)
from grn_tvcs.comparison.differences import measure_differences  # noqa: E402
from grn_tvcs.comparison.permutations import ALPHA, DEFAULT_PERMUTATIONS, draw_permutations  # noqa: E402
from grn_tvcs.comparison.steps import make_steps, pool_conditions  # noqa: E402
from grn_tvcs.expression.expression import Expression  # noqa: E402
from grn_tvcs.simulation.designs import Design  # noqa: E402
from grn_tvcs.simulation.topology import grow  # noqa: E402

LEARNED = Path(compare.__code__.co_filename).with_name("learned.json")
TUNED, HELD = ("flat", "hub"), ("mid", "star", "grown")
GENES, POINTS, SHARES = (10, 15, 20, 30), (11, 16, 21), (0.05, 0.1, 0.2, 0.3)
SERIES = (5, 10)
LEVELS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
NO_DIFFERENCE = 0.25  # part of the pairs that is held aside
MOVED = 0.3  # part of the genes that are shifted, with the same edges, in pairs of the last kind
FIRST_HELD = 100_000  # number of the first pair that is held aside
REAL = ROOT / "data" / "bsubtilis"
HALVES, REAL_GENES, REAL_SERIES = 200, 30, (5, 10, 16)  # pairs of each number of series a side
MOST_STEPS, PENALTY, FOLDS = 300, 0.1, 5  # of the fit
BENT = (
    "t", "z", "t leads", "z leads", "stronger leads", "stronger", "weaker", "target p",
)  # fmt: skip
BENDS = (0.5, 0.8, 0.95, 0.99)  # quantiles at which their weight may change
LIKELY = -3.0  # log odds above which sums are set right


@dataclass(frozen=True)
class Case:
    """A pair: what it was, p of all genes together, and edges claimed and right at every level."""

    kind: str
    number: int
    genes: int
    series: int
    points: int
    share: float
    moved: float
    p: float
    true: int
    claimed: str
    expected: str
    right: str
    kinds_right: int

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from the others."""
        return self.kind, self.number


def held_aside(number: int) -> tuple[ConditionPair, Case]:
    """The pair of a number that nothing was learned on, and what is known of it."""
    rng = np.random.default_rng([number, 11])
    kind = HELD[number % len(HELD)]
    n, series, points = (int(rng.choice(sizes)) for sizes in (GENES, SERIES, POINTS))
    share, moved = float(rng.choice(SHARES)), 0.0
    probability = float(rng.random())
    if probability < NO_DIFFERENCE:
        share, moved = 0.0, MOVED * (probability < NO_DIFFERENCE / 2)
    topology = grow(n, rng=number) if kind == "grown" else None
    design = Design(n, n, series, points)
    drawn = "mid" if kind == "grown" else kind
    pair = draw_pair(design, drawn, share, number, topology=topology, moved=moved)
    true = int(pair.is_changed.sum())
    return pair, Case(kind, number, n, series, points, share, moved, 1.0, true, "", "", "", 0)


def judge(number: int) -> list[Case]:
    """Compare a pair, and count what is claimed at every level and right."""
    warnings.simplefilter("ignore")
    pair, known = held_aside(number)
    found = compare(pair.a, pair.b, rng=number, fdr=LEVELS[-1])
    before, after = pair.before.signs, pair.after.signs
    assert before is not None
    assert after is not None
    place = {gene: j for j, gene in enumerate(pair.before.genes)}
    claimed, right, kinds_right = [0] * len(LEVELS), [0] * len(LEVELS), 0
    expected = [0.0] * len(LEVELS)
    for k, level in enumerate(LEVELS):
        n = max((e.rank for e in found.edges if e.false_discovery <= level), default=0)
        expected[k] = n * found.edges[n - 1].false_discovery if n else 0.0
        for edge in found.edges[:n]:
            a, b = (int(s[place[edge.regulator], place[edge.target]]) for s in (before, after))
            kind = "gained" if not a else "lost" if not b else "reversed"
            claimed[k] += 1
            right[k] += a != b
            kinds_right += level == LEVELS[-1] and a != b and edge.kind == kind
    in_words = [" ".join(f"{x:.4g}" for x in numbers) for numbers in (claimed, expected, right)]
    return [
        replace(
            known, p=found.global_p_value, claimed=in_words[0], expected=in_words[1],
            right=in_words[2],
            kinds_right=int(kinds_right),
        )
    ]  # fmt: skip


@dataclass(frozen=True)
class Half:
    """Two random halves of real series: p of all genes, and edges named at the last level."""

    series: int
    number: int
    p: float
    named: int

    @property
    def key(self) -> tuple[int, int]:
        """What tells it from the others."""
        return self.series, self.number


@lru_cache(maxsize=1)
def real() -> Expression:
    """The series of the part of the compendium that comes with the project."""
    samples = REAL / "samples.tsv"
    whole = Expression.of(REAL / "expression.tsv", samples=samples, genes_in_rows=True)
    return replace(whole, scale="log").of_series()


def halve(task: tuple[int, int]) -> list[Half]:
    """Compare two sets of real series that chance put together, over some of the genes."""
    warnings.simplefilter("ignore")
    series, number = task
    rng = np.random.default_rng([series, number, 13])
    part = subset_genes(real(), rng.choice(real().genes, REAL_GENES, replace=False).tolist())
    names = rng.permutation(list(part.pieces))
    a, b = (np.isin(part.series, some) for some in np.split(names[: 2 * series], 2))
    found = compare(part.part(a), part.part(b), rng=number, fdr=LEVELS[-1])
    return [Half(series, number, found.global_p_value, len(found.significant))]


class Seen(NamedTuple):
    """A pair to learn from: what was measured of the edges that stand out, and which differ."""

    series: int
    share: float
    measures: dict[str, np.ndarray]
    truth: np.ndarray
    n_all: int
    n_true: int
    differs: bool


def learning(number: int) -> Seen:
    """Make and measure the pair of a number, with as many permutations as `compare` does."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([number, 7])
    n = int(rng.choice(GENES))
    series = int(rng.choice([5, 10, 5, 10, 5, 10, 4, 7]))
    points, share = int(rng.choice(POINTS)), float(rng.choice([0, *SHARES]))
    pair = draw_pair(Design(n, n, series, points), TUNED[number % len(TUNED)], share, number)
    both, n_first = pool_conditions(pair.a, pair.b)
    steps = make_steps(both, np.arange(n))
    drawn = draw_permutations(n_first, series, DEFAULT_PERMUTATIONS, np.random.default_rng(number))
    found = measure_differences(steps, drawn)
    measures = features(found, drawn, steps)
    kept = (measures["t"] > MIN_LOG_T) & ~np.eye(n, dtype=bool)
    measures = {name: part[kept] for name, part in measures.items()}
    changed = int(pair.is_changed.sum())
    differs = global_p_value(found, drawn) <= ALPHA
    return Seen(series, share, measures, pair.is_changed[kept], n * (n - 1), changed, differs)


def learn(made: Sequence[Seen]) -> None:
    """Fit the regression and write it, with the power on the pairs that it was learned on."""
    from sklearn.linear_model import LogisticRegression

    measures = {
        name: np.concatenate([one.measures[name] for one in made]) for name in made[0].measures
    }
    y = np.concatenate([one.truth for one in made])
    fold = np.concatenate([np.full(one.truth.size, k % FOLDS) for k, one in enumerate(made)])
    knots = {name: [_short(q) for q in np.quantile(measures[name], BENDS)] for name in BENT}
    whole = expanded(measures, knots)
    X = np.stack(list(whole.values()), axis=1)
    low, high = X.min(axis=0), X.max(axis=0)
    mean, size = X.mean(axis=0), X.std(axis=0) + 1e-6
    X = (X - mean) / size
    fit = LogisticRegression(C=PENALTY, max_iter=MOST_STEPS).fit
    # Pairs that were not learned on say how far the sums overstate what is known (Platt 1999).
    unseen = np.zeros(len(y))
    for k in range(FOLDS):
        unseen[fold == k] = fit(X[fold != k], y[fold != k]).decision_function(X[fold == k])
    likely = unseen > LIKELY
    again = LogisticRegression(C=np.inf).fit(unseen[likely, None], y[likely])
    slope, shift = float(again.coef_[0, 0]), float(again.intercept_[0])
    print(f"slope {slope:.3f}, shift {shift:.3f} on {int(likely.sum())} of {len(y)} edges")
    fitted = fit(X, y)
    weights = slope * fitted.coef_[0] / size
    numbers = [
        {name: _short(x) for name, x in zip(whole, part, strict=True)}
        for part in (weights, low, high)
    ]
    intercept = _short(slope * fitted.intercept_[0] + shift - weights @ mean)
    n_all, n_true = sum(one.n_all for one in made), sum(one.n_true for one in made)
    baseline = _short((n_true - y.sum()) / (n_all - y.size))
    regression = DifferenceModel(numbers[0], intercept, *numbers[1:], knots, baseline)
    power = {str(s): _power(regression, [one for one in made if one.series == s]) for s in SERIES}
    text = json.dumps({"regression": regression._asdict(), "power": power}, indent=1)
    LEARNED.write_text(text + "\n", encoding="utf-8")


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _power(learned: DifferenceModel, made: Sequence[Seen]) -> dict[str, float]:
    """Share of the pairs that are seen to differ, and of their edges that are named at 0.2."""
    some = [one for one in made if one.share]
    named = 0
    for one in some:
        probability = learned.probability(one.measures)
        order = np.argsort(-probability, kind="stable")
        rate = np.cumsum(1.0 - probability[order]) / np.arange(1, order.size + 1)
        kept = np.flatnonzero(rate <= 0.2)
        if one.differs and kept.size:
            named += int(one.truth[order[: kept[-1] + 1]].sum())
    seen, true = float(np.mean([one.differs for one in some])), sum(one.n_true for one in some)
    return {"pairs": round(seen, 3), "edges": round(named / true, 4)}


def compute(arguments, n_pairs: int, n_halves: int) -> None:
    """Judge all pairs and halves that are not known yet."""
    numbers = range(FIRST_HELD, FIRST_HELD + n_pairs)
    tasks = {number: {(HELD[number % len(HELD)], number)} for number in numbers}
    complete(
        arguments.out / "pairs.csv", Case, tasks, judge, jobs=arguments.jobs,
        order=lambda case: case.number,
    )  # fmt: skip
    of_real = {task: {task} for task in ((n, k) for n in REAL_SERIES for k in range(n_halves))}
    complete(
        arguments.out / "halves.csv", Half, of_real, halve, jobs=arguments.jobs,
    )  # fmt: skip


def write_page(results: Path, docs: Path) -> None:
    """Fill the tables of the page."""
    cases = load(results / "pairs.csv", Case)
    page = docs / "studies" / "network-compare.md"
    halves = real_table(load(results / "halves.csv", Half))
    tables = rates(cases), power(cases), none(cases), halves
    fill_file(page, dict(zip(("rates", "power", "none", "halves"), tables, strict=True)))


def _counts(cases: list[Case], level: int) -> tuple[int, int, float]:
    """Edges claimed, how many of them do not differ, and how many were expected not to."""
    claimed = sum(int(case.claimed.split()[level]) for case in cases)
    right = sum(int(case.right.split()[level]) for case in cases)
    return claimed, claimed - right, sum(float(case.expected.split()[level]) for case in cases)


def rates(cases: list[Case]) -> str:
    """Claimed beside observed false discovery."""
    rows = []
    for series in (*SERIES, None):
        some = [c for c in cases if c.share and series in (None, c.series)]
        cells = []
        for k in range(len(LEVELS)):
            n, false, expected = _counts(some, k)
            cells.append(f"{expected / n:.2f} / {false / n:.2f} of {n}" if n else "none")
        rows.append([str(series or "both"), str(len(some)), *cells])
    return table(("series a side", "pairs", *(f"at {level:g}" for level in LEVELS)), rows)


def power(cases: list[Case]) -> str:
    """Which share of the pairs is seen to differ, and of the edges that differ is named."""
    rows = []
    for series in SERIES:
        for share in SHARES:
            some = [c for c in cases if c.series == series and c.share == share]
            true, (n, false, _) = sum(c.true for c in some), _counts(some, len(LEVELS) - 1)
            seen = np.mean([c.p <= ALPHA for c in some])
            kinds = sum(c.kinds_right for c in some)
            cells = [str(len(some)), f"{100 * seen:.0f} %", f"{100 * (n - false) / true:.1f} %"]
            rows.append([f"{series}", f"{100 * share:.0f} %", *cells, f"{kinds} of {n - false}"])
    names = (
        "series a side",
        "edges changed",
        "pairs",
        "a difference seen",
        "edges named at 0.3",
        "of these of the right kind",
    )
    return table(names, rows)


def none(cases: list[Case]) -> str:
    """How often a difference is seen, or an edge named, where no edge differs."""
    rows = []
    for moved, what in ((0.0, "the same in all"), (MOVED, "30 % of the genes shifted")):
        for series in SERIES:
            some = [c for c in cases if not c.share and c.moved == moved and c.series == series]
            seen = sum(c.p <= ALPHA for c in some)
            named = sum(int(c.claimed.split()[-1]) > 0 for c in some)
            rows.append([what, str(series), str(len(some)), str(seen), str(named)])
    names = (
        "no edge differs",
        "series a side",
        "pairs",
        "a difference seen",
        "an edge named at 0.3",
    )
    return table(names, rows)


def real_table(halves: list[Half]) -> str:
    """How often a difference is seen, or an edge named, between random halves of real series."""
    rows = []
    for series in sorted({half.series for half in halves}):
        some = [half for half in halves if half.series == series]
        seen, named = sum(half.p <= ALPHA for half in some), sum(half.named > 0 for half in some)
        rows.append([str(series), str(len(some)), str(seen), str(named)])
    return table(("series a side", "pairs", "a difference seen", "an edge named at 0.3"), rows)


def main() -> int:
    """Run the study, or learn."""
    parser = options(__doc__, results="compare", page="studies/network-compare.md", jobs=1)
    parser.add_argument("--pairs", type=int, default=12000, help="number of pairs")
    parser.add_argument("--halves", type=int, default=HALVES, help="pairs of real halves, of each")
    parser.add_argument("--learn", action="store_true", help="learn the probabilities anew")
    arguments = parser.parse_args()
    if arguments.learn:
        learn([learning(number) for number in range(arguments.pairs)])
        return 0
    return run(
        arguments, partial(compute, n_pairs=arguments.pairs, n_halves=arguments.halves), write_page
    )


if __name__ == "__main__":
    sys.exit(main())
