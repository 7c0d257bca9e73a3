"""How often are signs right that are printed as known? -> a table on standard output.

    python -m benchmarks.signs [--designs N] [--seed N] [--only WORD] [FOLDER ...]

With the default method and 2 edges per gene. Simulated designs of all kinds; the part of the
B. subtilis compendium that comes with the project, where the targets of sigma factors and of ComK
are activated and those of some dedicated repressors repressed (SubtiWiki's signs); and every FOLDER
that holds ``timeseries.tsv`` or ``series.csv`` with ``goldstandard_signed.tsv``, and perhaps
``knockouts.tsv`` and ``wildtype.tsv``. Only selected edges that are true, and whose sign is known,
count. "By ranks" is the sign of rank correlation, for all of them. ``--only`` names the rows.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.learning.designs import universal_designs
from benchmarks.pages import table
from benchmarks.study import ROOT
from grn_tvcs import Expression, SteadyStates, infer, read_reference, read_steady_states
from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.samples import all_levels
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import NULLS
from tvcs_core.streams import stream

PER_GENE = 2  # edges
MOST_GENES = 60  # of a simulated network: larger ones take minutes and add little
ACTIVATORS = (  # sigma factors, ComK
    "BSU04730", "BSU16470", "BSU15320", "BSU23450", "BSU15330", "BSU00980", "BSU13450",
    "BSU25760", "BSU34200", "BSU09520", "BSU27120", "BSU01730", "BSU23100", "BSU38700",
    "BSU26840", "BSU12560", "BSU14730", "BSU25200", "BSU10420",
)  # fmt: skip
REPRESSORS = (  # Fur, PerR, HrcA, CtsR, SinR, Rok, CymR, GlnR, AbrB, CodY, CcpA
    "BSU23520", "BSU08730", "BSU25490", "BSU00830", "BSU24610", "BSU14240", "BSU27520",
    "BSU17450", "BSU00370", "BSU16170", "BSU29740",
)  # fmt: skip
SAID = ("tables", "true edges", "right by ranks", "known", "of them right", "share")

Signs = NDArray[np.int8]


@dataclass(frozen=True)
class Signed:
    """A table, and the signs of its true edges, [regulator, target]."""

    group: str
    expression: Expression
    steady: SteadyStates | None
    regulators: frozenset[str] | None
    signs: Signs


def group_of(design: Design) -> str:
    """Say what tells signs in a design."""
    if design.knocked_out or design.knocked_down:
        return "simulated, knock-outs or knock-downs"
    if not design.n_series:
        return "simulated, steady state alone"
    if design.n_series == 1:
        return "simulated, one series"
    return "simulated, series of cells" if design.cells else "simulated, two series or more"


def simulated(n_designs: int, seed: int, only: str) -> Iterator[Signed]:
    """Yield networks of all kinds with their experiments, of groups whose name holds a word."""
    for k, (design, kind) in enumerate(universal_designs(n_designs, stream(seed, "signs"))):
        if kind in NULLS or design.n_genes > MOST_GENES or only not in group_of(design):
            continue
        made = draw_example(design, kind, stream(seed, "signs", str(k)))
        regulators = made.rules.regulators
        yield Signed(group_of(design), made.expression, made.steady, regulators, made.signs)


def subtilis() -> Iterator[Signed]:
    """Yield the carried part twice: with the targets of activators, and of repressors."""
    folder = ROOT / "data" / "bsubtilis"
    read = Expression.of(
        folder / "expression.tsv", samples=folder / "samples.tsv", genes_in_rows=True
    )
    expression = replace(read, scale="log").in_name_order()
    true = read_reference(folder / "known_edges.tsv", expression.genes)
    is_edge = _ordered(np.asarray(true.selected), true.genes, expression.genes)
    regulators = frozenset((folder / "regulators.tsv").read_text(encoding="utf-8").split()[1:])
    for name, of, sign in (("activators", ACTIVATORS, 1), ("repressors", REPRESSORS, -1)):
        is_one = np.array([gene in of for gene in expression.genes])
        signs = (sign * (is_one[:, None] & is_edge)).astype(np.int8)
        yield Signed(f"B. subtilis, {name}", expression, None, regulators, signs)


def _ordered(matrix: np.ndarray, genes: Sequence[str], wanted: Sequence[str]) -> np.ndarray:
    """A matrix over genes, over the same genes in another order."""
    place = {gene: k for k, gene in enumerate(genes)}
    order = [place[gene] for gene in wanted]
    return matrix[np.ix_(order, order)]


def of_folder(folder: Path) -> Signed:
    """Read a folder."""
    series = next(p for p in (folder / "timeseries.tsv", folder / "series.csv") if p.exists())
    expression = Expression.of(series)
    true = read_reference(folder / "goldstandard_signed.tsv", expression.genes)
    assert true.signs is not None
    signs = _ordered(true.signs, true.genes, expression.genes)
    tables = {name: folder / f"{name}.tsv" for name in ("knockouts", "wildtype")}
    there = {name: path for name, path in tables.items() if path.exists()}
    steady = read_steady_states(**there) if there else None
    group = f"{folder.parent.name}{', knock-outs' if steady else ''}"
    return Signed(group, expression, steady, None, signs)


def judged(one: Signed) -> NDArray[np.int64]:
    """True edges among the selected, right by ranks, known and right."""
    network = infer(
        one.expression, steady=one.steady, regulators=one.regulators, calibrate=0, rng=0,
        max_edges=PER_GENE * len(one.expression.genes),
    )  # fmt: skip
    place = {gene: k for k, gene in enumerate(network.genes)}
    to = np.array([place[gene] for gene in one.expression.genes])
    true = np.zeros_like(one.signs)
    true[np.ix_(to, to)] = one.signs
    counts = network.selected & (true != 0)
    rho = np.zeros(true.shape)
    everything = np.arange(len(place))
    rho[np.ix_(to, to)] = RankCorrelations(all_levels(one.expression, one.steady)).of(everything)
    signs, right = network.signs[counts], true[counts]
    by_ranks = np.sign(rho[counts]) == right
    return np.array([1, counts.sum(), by_ranks.sum(), (signs != 0).sum(), (signs == right).sum()])


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--designs", type=int, default=150, help="that are drawn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", metavar="WORD")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found: dict[str, NDArray[np.int64]] = {}
    tables = chain(
        simulated(given.designs, given.seed, given.only), subtilis(), map(of_folder, given.folders)
    )
    for one in tables:
        if given.only in one.group:
            found[one.group] = found.get(one.group, np.zeros(5, np.int64)) + judged(one)
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    rows = [
        [group, *map(str, counts), f"{counts[4] / counts[3]:.2f}" if counts[3] else ""]
        for group, counts in sorted(found.items())
    ]
    print(table(("signs", *SAID), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
