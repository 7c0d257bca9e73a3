"""Repeat Table 1 of the paper, and more: `python -m benchmarks.networks.study [FOLDER...]`.

Without a FOLDER two designs are simulated: one network of 30 genes with ten draws of 10 % noise
(the paper's design) and ten networks. A FOLDER holds one folder per network with timeseries.tsv,
goldstandard.tsv or goldstandard_signed.tsv, knockouts.tsv, knockdowns.tsv and wildtype.tsv. One
row per case goes to NAME.csv in --out as soon as it is known; a case that is there is skipped, so
a run that was killed goes on where it stopped. `--write-docs` draws the study's network and
writes the tables of docs/studies/network-study.md from all CSV files that are known.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.study import claim, complete, one_thread, options, run

one_thread()

from benchmarks.networks.cases import CUTS, ONE, PAIRS, TEN, Case, data, names, number  # noqa: E402
from benchmarks.networks.methods import ENTRIES, TREES, fit  # noqa: E402

Task = tuple[str, str, int, str, int, int]  # design, network, draw, entry, seed, trees


def main() -> int:
    parser = options(__doc__, results="networks", page="studies/network-study.md", jobs=2, seed=0)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="instead of the two designs")
    parser.add_argument("--repeats", type=int, default=10, help="draws, and networks")
    parser.add_argument("--trees", type=int, default=TREES, help="of GENIE3 and dynGENIE3")
    parser.add_argument("--methods", nargs="+", choices=ENTRIES, default=list(ENTRIES))
    return run(parser.parse_args(), compute, write_page)


def compute(arguments: argparse.Namespace) -> None:
    claim(arguments.out / "seed.txt", arguments.seed)
    claim(arguments.out / "trees.txt", arguments.trees)
    for design in arguments.folders or (ONE, TEN):
        complete_design(design, arguments)


def write_page(out: Path, docs: Path) -> None:
    from benchmarks.networks.show import write_docs

    seed = int((out / "seed.txt").read_text(encoding="utf-8"))
    write_docs(out, docs, seed)


def complete_design(design: str, arguments: argparse.Namespace) -> None:
    """Compute what the file of a design does not hold yet."""
    tasks = {
        (design, network, draw, name, arguments.seed, arguments.trees): {
            (network, draw, name, way, pairs) for way in ENTRIES[name].ways for pairs in PAIRS
        }
        for network, draw in names(design, arguments.repeats)
        for name in arguments.methods
    }
    path = arguments.out / f"{Path(design).name}.csv"
    methods, ways = list(ENTRIES), list(CUTS)

    def order(case: Case) -> tuple[int, int, int, int, str]:
        place = methods.index(case.method), ways.index(case.way)
        return number(case.network), case.draw, *place, case.pairs

    complete(path, Case, tasks, solve, jobs=arguments.jobs, order=order)


def solve(task: Task) -> list[Case]:
    design, network, draw, name, seed, trees = task
    return list(fit(data(design, network, draw, seed), draw, name, seed, trees))


if __name__ == "__main__":
    sys.exit(main())
