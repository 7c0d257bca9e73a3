"""What studies of single plans share: their options, and a table of docs/studies/crowd-plans.md."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from benchmarks.crowd.cases import FAMILIES
from benchmarks.pages import fill_file, table
from benchmarks.study import DOCS
from crowd_tvcs.methods import METHODS

PAGE = DOCS / "studies" / "crowd-plans.md"


def options(
    doc: str, *, ratios: Sequence[float], methods: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """Make the parser of such a study, with these ratios and methods where none are named."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    parser.add_argument("--ratios", nargs="+", type=float, default=ratios)
    if methods:
        parser.add_argument("--methods", nargs="+", default=methods, choices=list(METHODS))
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--write-docs", action="store_true", help=f"write {PAGE.name} as well")
    return parser


def show(
    args: argparse.Namespace,
    rows: Iterable[Sequence[str]],
    heads: Sequence[str],
    name: str,
    *how: str,
) -> None:
    """Print the rows as they come and then the table, and write it into the page if asked."""
    found = []
    for line in rows:
        print(*line, sep="  ", flush=True)
        found.append(line)
    size = f"{args.workers} workers x {args.tasks:,} tasks, seed {args.seed}"
    settings = ", ".join((size, *how, f"time limit {args.time_limit:g} s"))
    content = f"{settings}:\n\n{table(heads, found, words=len(heads))}"
    print(content)
    if args.write_docs:
        fill_file(PAGE, {name: content})
