"""Are edges claimed where a stimulus, or a gene that is not measured, moves all genes? -> a table.

    python -m benchmarks.real.stars [--tables N] [--seed N] [--only WORD]

Tables of a simulator that nothing was learned from: 30 or 10 genes with linear decay, a transient
stimulus common to a part of them, conditions of seven uneven times (0 to 24 h) and logarithms of
means of replicates. In *network* two of the listed regulators drive every gene by tanh of a
weighted sum, in *null* nothing does. Further tables of our simulator: *driven* have no network,
*unmeasured* one whose regulators are not measured, and *kinds* are networks, flat to star in turn.

An edge is claimed from a probability of one half on. *Claimed less true* is the sum of these
probabilities less the true edges, by claimed edge; *worst* is the largest difference of a table.
*If the hub drives* are claims of tables whose verdict makes them on that condition. The worst rows
come first.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks.learning.without_edges import DRIVEN, UNMEASURED, draw_without_edges
from benchmarks.pages import table
from grn_tvcs import Expression, infer
from grn_tvcs.network.confidence import LIKELY
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import KINDS
from tvcs_core.streams import stream

REGULATORS_PER_GENE = 2
HOURS = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 12.0, 24.0])
STEP = 0.1  # hours of integration
NOISE = 0.12  # of a replicate, of log levels
DECAY, FADING = (
    (0.15, 1.0),
    (2.0, 8.0),
)  # ranges of rates and of the stimulus's time constant, hours
RESPONSIVE, RESPONSE = 0.6, 1.5  # fraction of the genes, and sd of their responses
DOSE, SPREAD = (0.6, 1.4), 0.3  # of a condition; sd of the factor of each gene in it
WEIGHT, START = (0.8, 2.0), 0.3  # sizes of edges; sd of first levels in networks
NETWORK, NULL, OF_KINDS = "network", "null", "kinds"
COLUMNS = (
    "tables", "number", "described", "none selected", "claimed", "should be true", "are true",
    "claimed less true", "worst", "if the hub drives",
)  # fmt: skip

Row = tuple[float, list[str]]


@dataclass(frozen=True)
class Layout:
    """Experiments of the first simulator, and the number of listed regulators."""

    name: str
    series: int = 3
    genes: int = 30
    listed: int = 10
    has_list: bool = True
    replicates: int = 3
    has_stimulus: bool = True


LAYOUTS = (
    Layout("3 series"),
    Layout("3 series, single replicates", replicates=1),
    Layout("3 series, no list", has_list=False),
    Layout("3 series, no stimulus", has_stimulus=False),
    Layout("6 series", series=6),
    Layout("3 series, 10 genes", genes=10, listed=4),
)
DESIGNS = {
    "our simulator, 3 series": Design(30, 9, 3, 8),
    "our simulator, 4 series": Design(30, 9, 4, 8),
    "our simulator, 6 series": Design(30, 9, 6, 8),
    "our simulator, 3 series, no list": Design(30, 30, 3, 8),
}


@dataclass(frozen=True)
class Made:
    """A table with its edges, [regulator, target]; genes in the order of their names."""

    expression: Expression
    is_edge: np.ndarray
    regulators: frozenset[str] | None


def of_layout(layout: Layout, kind: str, rng: np.random.Generator) -> Made:
    """Simulate a table of the first simulator."""
    n, is_null = layout.genes, kind == NULL
    weights = np.zeros((n, n))
    for target in range(n) if not is_null else ():
        listed = [k for k in range(layout.listed) if k != target]
        some = rng.permutation(listed)[:REGULATORS_PER_GENE]
        weights[some, target] = rng.choice([-1, 1], some.size) * rng.uniform(*WEIGHT, some.size)
    decay = np.exp(rng.uniform(*np.log(DECAY), n))
    answers = np.where(rng.random(n) < RESPONSIVE, rng.normal(0, RESPONSE, n), 0.0)
    fading = rng.uniform(*FADING)
    rows = []
    for _ in range(layout.series):
        dose = rng.uniform(*DOSE) * (1 + SPREAD * rng.standard_normal(n))
        level = np.zeros(n) if is_null else rng.normal(0, START, n)
        course = []
        for step in range(round(HOURS[-1] / STEP) + 1):
            course.append(level)
            push = np.tanh(level @ weights)
            if layout.has_stimulus:
                push = push + answers * dose * np.exp(-step * STEP / fading)
            level = level + STEP * decay * (push - level)
        rows.append(np.array(course)[np.round(HOURS / STEP).astype(int)])
    exact = np.concatenate(rows)
    noise = rng.normal(0, NOISE, (layout.replicates, *exact.shape)).mean(axis=0)
    names = tuple(f"condition{k}" for k in range(layout.series) for _ in HOURS)
    genes = tuple(f"G{k:02d}" for k in range(n))
    times = np.tile(HOURS, layout.series)
    expression = Expression(exact + noise + 8.0, times, names, genes, scale="log")
    regulators = frozenset(genes[: layout.listed]) if layout.has_list else None
    return Made(expression, weights != 0, regulators)


def of_design(design: Design, kind: str, k: int, rng: np.random.Generator) -> Made:
    """Draw a table of our simulator."""
    if kind == OF_KINDS:
        made = draw_example(design, tuple(KINDS)[k % len(KINDS)], rng)
    else:
        made = draw_without_edges(design, kind, rng)
    return Made(made.expression, made.is_edge, made.rules.regulators)


def line(name: str, tables: Iterable[Made]) -> Row:
    """Return a row of the table, and what it claims less what is true, by claimed edge."""
    number = described = none = claimed = true = conditional = 0
    total = worst = 0.0
    for made in tables:
        network = infer(made.expression, regulators=made.regulators, rng=0)
        number, none = number + 1, none + int(network.n_selected == 0)
        if network.confidence is None:
            continue
        likely = network.confidence >= LIKELY
        expected, found = float(network.confidence[likely].sum()), int(made.is_edge[likely].sum())
        described, claimed = described + 1, claimed + int(likely.sum())
        total, true, worst = total + expected, true + found, max(worst, expected - found)
        conditional += int(likely.sum()) if network.verdict.hub else 0
    excess = (total - true) / claimed if claimed else 0.0
    cells = number, described, none, claimed, f"{total:.0f}", true
    return excess, [
        name, *map(str, cells), f"{excess:.2f}" if claimed else "", f"{worst:.1f}",
        str(conditional),
    ]  # fmt: skip


def rows_of(number: int, seed: int, only: str) -> Iterable[Row]:
    """Yield the rows whose name holds a word."""
    for name, where in [*((one.name, one) for one in LAYOUTS), *DESIGNS.items()]:
        is_layout = isinstance(where, Layout)
        for kind in (NETWORK, NULL) if is_layout else (OF_KINDS, DRIVEN, UNMEASURED):
            if only in (full := f"{name}, {kind}"):
                rngs = [stream(seed, "stars", name, kind, str(k)) for k in range(number)]
                yield line(
                    full,
                    (
                        of_layout(where, kind, rng)
                        if isinstance(where, Layout)
                        else of_design(where, kind, k, rng)
                        for k, rng in enumerate(rngs)
                    ),
                )


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=16, help="of each row")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", metavar="WORD")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for row in rows_of(given.tables, given.seed, given.only):
        rows.append(row)
        print(*row[1], sep="  ", flush=True)
    print(table(COLUMNS, [cells for _, cells in sorted(rows, key=lambda row: -row[0])]))


if __name__ == "__main__":
    main()
