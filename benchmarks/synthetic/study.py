"""Repeat Figures 2 and 3 of the paper: `python -m benchmarks.synthetic.study [--write-docs]`.

One row per case goes to figure2.csv and figure3.csv in --out as soon as it is known. A case that
is there already is skipped, so a run that was killed goes on where it stopped and has lost only
the cases it was working on. `--write-docs` draws the figures and tables of
docs/studies/synthetic-study.md from the CSV files.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.study import claim, complete, one_thread, options, run

one_thread()

from benchmarks.synthetic.cases import SIZES, Case, cases, draw  # noqa: E402
from benchmarks.synthetic.methods import families, has_abess, methods, order_of  # noqa: E402

Task = tuple[int, int, int, str, int]  # figure, n, repeat, family, seed


def main() -> int:
    page = "studies/synthetic-study.md"
    parser = options(__doc__, results="synthetic", page=page, jobs=2, seed=0)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--figures", type=int, nargs="+", choices=(2, 3), default=(2, 3))
    parser.add_argument("--sizes", type=int, nargs="+", help="only these n")
    parser.add_argument("--methods", nargs="+", help="only these, such as 'tvcs gradmp'")
    parser.add_argument("--quick", action="store_true", help="two n and two repeats")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.repeats = min(arguments.repeats, 2)
        arguments.sizes = arguments.sizes or (200, 400)
    return run(arguments, compute, write_page)


def compute(arguments: argparse.Namespace) -> None:
    if not has_abess():
        print("abess is not installed: left out (pip install abess)", flush=True)
    claim(arguments.out / "seed.txt", arguments.seed)
    for figure in arguments.figures:
        complete_figure(figure, arguments.out / f"figure{figure}.csv", arguments)


def write_page(out: Path, docs: Path) -> None:
    from benchmarks.synthetic.tables import write_docs

    write_docs(out, docs)


def complete_figure(figure: int, path: Path, arguments: argparse.Namespace) -> None:
    """Compute what `path` does not hold yet."""
    tasks = {
        (figure, n, repeat, family, arguments.seed): {
            (n, repeat, method) for method in methods(family)
        }
        for n in arguments.sizes or SIZES[figure]
        for repeat in range(arguments.repeats)
        for family in families(figure)
        if arguments.methods is None or family in arguments.methods
        if family != "abess" or has_abess()
    }
    complete(path, Case, tasks, fit, jobs=arguments.jobs, order=order_of(figure))


def fit(task: Task) -> list[Case]:
    figure, n, repeat, family, seed = task
    instance = draw(figure, n, repeat, seed)
    return cases(instance, families(figure)[family](instance))


if __name__ == "__main__":
    sys.exit(main())
