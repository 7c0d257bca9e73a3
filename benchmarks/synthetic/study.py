"""Repeat Figures 2 and 3 of the paper: `python -m benchmarks.synthetic.study [--write-docs]`.

One row per case goes to figure2.csv and figure3.csv in --out as soon as it is known. A case that
is there already is skipped, so a run that was killed goes on where it stopped and has lost only
the cases it was working on. `--write-docs` draws the figures and tables of
docs/synthetic-study.md from the CSV files.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # the processes share the cores, not their threads

from benchmarks.resumable import claim, complete  # noqa: E402
from benchmarks.synthetic.cases import SIZES, Case, cases, draw  # noqa: E402
from benchmarks.synthetic.methods import families, has_abess, methods  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
Task = tuple[int, int, int, str, int]  # figure, n, repeat, family, seed


def main() -> int:
    arguments = _arguments()
    if not has_abess():
        print("abess is not installed: left out (pip install abess)", flush=True)
    began = time.perf_counter()
    claim(arguments.out / "seed.txt", arguments.seed)
    for figure in arguments.figures:
        run(figure, arguments.out / f"figure{figure}.csv", arguments)
    print(f"done in {time.perf_counter() - began:.0f} s", flush=True)
    if arguments.write_docs:
        from benchmarks.synthetic.show import write_docs

        write_docs(arguments.out, ROOT / "docs")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    default = ROOT / "benchmarks" / "results" / "synthetic"
    parser.add_argument("--out", type=Path, default=default, help="folder of the CSV files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--figures", type=int, nargs="+", choices=(2, 3), default=(2, 3))
    parser.add_argument("--sizes", type=int, nargs="+", help="only these n")
    parser.add_argument("--methods", nargs="+", help="only these, such as 'tvcs gradmp'")
    parser.add_argument("--quick", action="store_true", help="two n and two repeats")
    parser.add_argument("--write-docs", action="store_true", help="redraw docs/synthetic-study.md")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.repeats = min(arguments.repeats, 2)
        arguments.sizes = arguments.sizes or (200, 400)
    return arguments


def run(figure: int, path: Path, arguments: argparse.Namespace) -> None:
    """Compute what `path` does not hold yet."""
    tasks = {
        (figure, n, repeat, family, arguments.seed): {
            (n, repeat, method) for method in methods(family)
        }
        for n in arguments.sizes or SIZES[figure]
        for repeat in range(arguments.repeats)
        for family in families(figure)
        if arguments.methods is None or family in arguments.methods
    }
    names = [method for family in families(figure) for method in methods(family)]
    place = {method: k for k, method in enumerate(names)}  # abess may be here no longer

    def order(case: Case) -> tuple[int, int, int]:
        return case.n, case.repeat, place.get(case.method, len(names))

    complete(path, Case, tasks, fit, jobs=arguments.jobs, order=order)


def fit(task: Task) -> list[Case]:
    figure, n, repeat, family, seed = task
    instance = draw(figure, n, repeat, seed)
    return cases(instance, families(figure)[family](instance))


if __name__ == "__main__":
    sys.exit(main())
