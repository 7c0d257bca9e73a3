"""Does the confidence keep its word, and is nothing likely where nothing is true? -> two tables.

    python -m benchmarks.confidence [--networks N] [--nulls N] [--seed N] [--only WORD]

With the default method. The first table: pairs of a confidence above .1, over all networks of a
design, flat to star in turn; the error in ten bins, and beside it the error that bins of so many
pairs have on average where every confidence is exactly true. The second: tables without any edge,
and how many of them have a pair above .3. The worst rows first. `--only` takes the designs whose
name holds a word. A table that is not described has no confidence, and is counted.
"""

import argparse
import warnings
from dataclasses import replace

import numpy as np

from benchmarks.learning.without_edges import UNMEASURED, draw_without_edges
from benchmarks.pages import table
from grn_tvcs import infer
from grn_tvcs.network.confidence import LIKELY, calibration_error
from grn_tvcs.simulation.designs import RANDOM, Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import KINDS, NULLS
from tvcs_core.streams import stream

ABOVE, SURE = 0.1, 0.3
SIZES = ((10, 1, 12), (10, 5, 21), (30, 1, 12), (30, 10, 21), (100, 10, 21))
OUT = {"knocked_out": 1.0, "knocked_down": 1.0}
SERIES = tuple(Design(n, n, series, points) for n, series, points in SIZES)
TENS, THIRTIES, HUNDREDS = SERIES[1], SERIES[3], SERIES[4]
LISTED = Design(30, 9, 4, 8)  # a list of regulators, which may leave out who drives a table
MORE = (
    LISTED,
    *(replace(d, is_perturbation_known=True) for d in (TENS, THIRTIES)),
    *(replace(d, **OUT) for d in (TENS, THIRTIES, HUNDREDS)),
    *(replace(d, hidden=0.3) for d in (TENS, THIRTIES, HUNDREDS)),
    Design(30, 30, 5, 8, start=RANDOM),
    Design(20, 20, 0, 3, n_steady=50),
)
DRAWS = 200
SAID = (
    "design", "networks", "described", "pairs", "error", "by chance", "supported",
    "should be true", "are true",
)  # fmt: skip
NOTHING = ("null", "design", "tables", "described", "largest", "tables with one above 0.3")


def confidence_on(example):
    """Confidence of the pairs that may be edges, and which are; None where there is none."""
    genes, regulators = example.expression.genes, example.rules.regulators
    found = infer(example.expression, steady=example.steady, regulators=regulators, rng=0)
    if found.confidence is None:
        return None
    counts = example.rules.allowed(genes)
    return found.confidence[counts], example.is_edge[counts]


def by_chance(probability, rng):
    """Mean error where an edge of the chance p is true with the chance p."""
    drawn = [
        calibration_error(probability, rng.random(probability.size) < probability).error
        for _ in range(DRAWS)
    ]
    return float(np.nanmean(drawn)) if (probability > ABOVE).any() else float("nan")


def networks_line(design, number, seed):
    """A row of the first table, and its error."""
    kinds, found = tuple(KINDS), []
    for k in range(number):
        rng = stream(seed, "confidence", design.key, str(k))
        one = confidence_on(draw_example(design, kinds[k % len(kinds)], rng))
        if one is not None:
            found.append(one)
    if not found:
        return -1.0, [design.key, str(number), "0", *[""] * 6]
    probability, true = (np.concatenate(part) for part in zip(*found, strict=True))
    error = calibration_error(probability, true, above=ABOVE).error
    likely = probability >= LIKELY
    return error, [
        design.key, str(number), str(len(found)), str(int((probability > ABOVE).sum())),
        f"{error:.3f}", f"{by_chance(probability, stream(seed, 'by chance', design.key)):.3f}",
        str(int(likely.sum())), f"{probability[likely].sum():.0f}", str(int(true[likely].sum())),
    ]  # fmt: skip


def null_line(kind, design, number, seed):
    """A row of the second table, and its largest confidence."""
    largest = []
    for k in range(number):
        made = draw_without_edges(
            design, kind, stream(seed, "confidence", kind, design.key, str(k))
        )
        one = confidence_on(made)
        if one is not None:
            largest.append(float(one[0].max()))
    top, n_above = max(largest, default=0.0), sum(p > SURE for p in largest)
    return top, [
        kind, design.key, str(number), str(len(largest)), f"{top:.3f}", f"{n_above} of {number}"
    ]  # fmt: skip


def main():
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=int, default=12, help="of each design")
    parser.add_argument("--nulls", type=int, default=4, help="of each kind and design")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", metavar="WORD")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    sizes = [d for d in SERIES if given.only in d.key]
    work = [(null_line, kind, d, given.nulls) for kind in NULLS for d in sizes if given.nulls]
    if given.only in LISTED.key and given.nulls:
        work.append((null_line, UNMEASURED, LISTED, given.nulls))
    designs = [d for d in (*SERIES, *MORE) if given.only in d.key]
    work += [(networks_line, d, given.networks) for d in designs if given.networks]
    rows = {null_line: [], networks_line: []}
    for line, *what in work:
        rows[line].append(line(*what, given.seed))
        print(*rows[line][-1][1], sep="  ", flush=True)
    for line, names, words in ((networks_line, SAID, 1), (null_line, NOTHING, 2)):
        if found := sorted(rows[line], key=lambda row: -row[0]):
            print(table(names, [cells for _, cells in found], words=words), end="\n\n")
    errors = [error for error, _ in rows[networks_line] if error >= 0]
    if errors:
        print(
            f"Error: {np.mean(errors):.3f} on the mean of designs, {max(errors):.3f} on the worst."
        )


if __name__ == "__main__":
    main()
