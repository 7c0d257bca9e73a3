"""Repeat Figures 2 and 3 of the paper: `python benchmarks/synthetic_study.py [--write-docs]`.

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
from collections.abc import Iterator
from multiprocessing import Pool
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # the processes share the cores, not their threads

from synthetic_cases import NAMES, SIZES, Case, cases, draw  # noqa: E402
from synthetic_methods import families, has_abess, methods  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
Task = tuple[int, int, int, str, int]  # figure, n, repeat, family, seed


def main() -> int:
    arguments = _arguments()
    if not has_abess():
        print("abess is not installed: left out (pip install abess)", flush=True)
    began = time.perf_counter()
    _say_seed(arguments.out, arguments.seed)
    for figure in arguments.figures:
        run(figure, arguments.out / f"figure{figure}.csv", arguments)
    print(f"done in {time.perf_counter() - began:.0f} s", flush=True)
    if arguments.write_docs:
        from synthetic_show import write_docs

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


def _say_seed(out: Path, seed: int) -> None:
    """Keep the seed beside the cases: those of another one must not join them."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "seed.txt"
    if path.exists() and path.read_text(encoding="utf-8").strip() != str(seed):
        sys.exit(f"{path} says that the cases there have another seed; choose another --out")
    path.write_text(f"{seed}\n", encoding="utf-8")


def run(figure: int, path: Path, arguments: argparse.Namespace) -> None:
    """Compute what `path` does not hold yet."""
    done = {case.key for case in resume(path)}
    tasks = [
        (figure, n, repeat, family, arguments.seed)
        for n in arguments.sizes or SIZES[figure]
        for repeat in range(arguments.repeats)
        for family in families(figure)
        if arguments.methods is None or family in arguments.methods
        if not {(n, repeat, method) for method in methods(family)} <= done
    ]
    print(f"figure {figure}: {len(done)} cases known, {len(tasks)} fits to do", flush=True)
    began = time.perf_counter()
    with path.open("a", encoding="utf-8") as file:
        for count, rows in enumerate(work(tasks, arguments.jobs), start=1):
            file.write("".join(f"{case.to_row()}\n" for case in rows if case.key not in done))
            file.flush()
            if count % 500 == 0 or count == len(tasks):
                seconds = time.perf_counter() - began
                print(f"figure {figure}: {count} of {len(tasks)} fits, {seconds:.0f} s", flush=True)
    _put_in_order(path, [m for family in families(figure) for m in methods(family)])


def _put_in_order(path: Path, order: list[str]) -> None:
    """Sort the rows, so that a file does not show where its run was stopped."""
    found = resume(path)
    place = {method: k for k, method in enumerate(order)}  # abess may be here no longer
    found.sort(key=lambda case: (case.n, case.repeat, place.get(case.method, len(order))))
    whole = path.with_suffix(".partial")
    rows = [",".join(NAMES), *(case.to_row() for case in found)]
    whole.write_text("\n".join(rows) + "\n", encoding="utf-8")
    whole.replace(path)


def work(tasks: list[Task], jobs: int) -> Iterator[list[Case]]:
    """Results in the order of the tasks, so that a file does not depend on the processes."""
    if jobs == 1:
        yield from map(fit, tasks)
        return
    with Pool(jobs) as pool:
        yield from pool.imap(fit, tasks)


def fit(task: Task) -> list[Case]:
    figure, n, repeat, family, seed = task
    instance = draw(figure, n, repeat, seed)
    return cases(instance, families(figure)[family](instance))


def resume(path: Path) -> list[Case]:
    """The cases of a file, which is cut back to its last whole line, or begun."""
    header = ",".join(NAMES)
    if not path.exists() or path.stat().st_size == 0:
        path.write_text(header + "\n", encoding="utf-8")
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    first, *rows = whole.splitlines()
    if first != header:
        sys.exit(f"{path} has other columns; delete it or choose another --out")
    return [Case.from_row(row) for row in rows]


if __name__ == "__main__":
    sys.exit(main())
