"""What all studies share: cases that are kept as they come, and the main with its options.

A study goes on where it was stopped: one row per case, in a CSV file as soon as it is known. A case
is a frozen dataclass of words and numbers with a property `key`. A task is what is computed in one
go and gives some cases.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from dataclasses import astuple, fields
from multiprocessing import Pool
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

if TYPE_CHECKING:
    from crowd_tvcs.answers.answers import Answers, Gold

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
RESULTS = ROOT / "benchmarks" / "results"

Case = TypeVar("Case")
Task = TypeVar("Task", bound=Hashable)


def one_thread() -> None:
    """Give each process one thread, before NumPy is loaded: the processes share the cores."""
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(threads, "1")


def options(
    doc: str, *, results: str, page: str, jobs: int | None = None, seed: int | None = None
) -> argparse.ArgumentParser:
    """Make the parser of a study that keeps its cases in `results` and writes `page` of the docs.

    Where `jobs` or `seed` is given there is an option of that name, with this default.
    """
    parser = argparse.ArgumentParser(description=doc.split("\n\n")[0])
    folder = RESULTS / results
    parser.add_argument("--out", type=Path, default=folder, help="folder of the cases")
    if seed is not None:
        parser.add_argument("--seed", type=int, default=seed)
    if jobs is not None:
        parser.add_argument("--jobs", type=int, default=jobs, help="processes")
    parser.add_argument("--write-docs", action="store_true", help=f"write docs/{page} as well")
    parser.add_argument("--only-docs", action="store_true", help="the same, computing nothing")
    return parser


def run(
    arguments: argparse.Namespace,
    compute: Callable[[argparse.Namespace], None],
    write_page: Callable[[Path, Path], None],
) -> int:
    """Compute the cases that --out does not hold yet and write the page, as the options say.

    `write_page` is given the folder of the cases and that of the docs.
    """
    if not arguments.only_docs:
        began = time.perf_counter()
        arguments.out.mkdir(parents=True, exist_ok=True)
        compute(arguments)
        print(f"done in {time.perf_counter() - began:.0f} s", flush=True)
    if arguments.write_docs or arguments.only_docs:
        write_page(arguments.out, DOCS)
    return 0


def claim(path: Path, value: object) -> None:
    """Keep beside the cases what they depend on: those of another value must not join them."""
    if path.exists() and (known := path.read_text(encoding="utf-8").strip()) != str(value):
        sys.exit(
            f"{path} says that the cases there have another {path.stem}: {known}; "
            "choose another --out"
        )
    path.write_text(f"{value}\n", encoding="utf-8")


def complete(
    path: Path,
    kind: type[Case],
    tasks: Mapping[Task, Set[Hashable]],
    fit: Callable[[Task], list[Case]],
    *,
    jobs: int,
    order: Callable[[Case], Any] | None = None,
    digits: int = 4,
) -> None:
    """Compute what `path` does not hold yet, and sort its rows by `order`.

    Without one they are sorted by their keys.

    `tasks` maps each task to the keys of its cases. With more `jobs` than one, `fit` runs in as
    many processes; rows come in the order of the tasks all the same. Numbers have so many `digits`.
    """
    done = {case.key for case in resume(path, kind)}
    wanted = [task for task, keys in tasks.items() if not keys <= done]
    print(f"{path.stem}: {len(done)} cases known, {len(wanted)} fits to do", flush=True)
    began = reported = time.perf_counter()
    with path.open("a", encoding="utf-8", newline="") as file:
        for count, found in enumerate(_work(fit, wanted, jobs), start=1):
            file.write(_rows((case for case in found if case.key not in done), digits))
            file.flush()
            now = time.perf_counter()
            if now - reported > 30 or count == len(wanted):
                reported = now
                line = f"{path.stem}: {count} of {len(wanted)} fits, {now - began:.0f} s"
                print(line, flush=True)
    _rewrite(path, kind, sorted(resume(path, kind), key=order or (lambda case: case.key)), digits)


def forget(path: Path, kind: type[Case], keys: Set[Hashable], digits: int = 4) -> None:
    """Drop the cases with these keys, so that they are computed anew."""
    kept = [case for case in resume(path, kind) if case.key not in keys]
    _rewrite(path, kind, kept, digits)


def _rewrite(path: Path, kind: type[Case], cases: Iterable[Case], digits: int) -> None:
    whole = path.with_suffix(".partial")
    whole.write_text(header(kind) + _rows(cases, digits), encoding="utf-8")
    whole.replace(path)


def _work(fit: Callable[[Task], list[Case]], tasks: list[Task], jobs: int) -> Iterator[list[Case]]:
    if jobs == 1:
        yield from map(fit, tasks)
        return
    with Pool(jobs) as pool:
        yield from pool.imap(fit, tasks)


def resume(path: Path, kind: type[Case]) -> list[Case]:
    """The cases of a file, which is cut back to its last whole line, or begun."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    whole = text[: text.rfind("\n") + 1] or header(kind)
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    return load(path, kind)


def load(path: Path, kind: type[Case]) -> list[Case]:
    """The cases of a file."""
    text = path.read_text(encoding="utf-8")
    if not text.startswith(header(kind)):
        sys.exit(f"{path} has other columns; delete it or choose another --out")
    hints = get_type_hints(kind)
    readers = [_READERS.get(hints[field.name], _number) for field in fields(kind)]
    _, *rows = csv.reader(io.StringIO(text))
    return [kind(*(read(cell) for read, cell in zip(readers, row, strict=True))) for row in rows]


def header(kind: type[Case]) -> str:
    """The first line of a file of such cases."""
    return ",".join(field.name for field in fields(kind)) + "\n"


def first_answers(path: Path, truth: Gold) -> Answers:
    """Read the first answer of every pair, of the tasks with a known label."""
    from crowd_tvcs.answers.answers import Answers, sort_classes

    rows = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["item"] in truth.labels:
                rows.setdefault((row["item"], row["worker"]), row["label"])
    classes = sort_classes((*rows.values(), *truth.classes))
    return Answers.of(((*pair, label) for pair, label in rows.items()), classes=classes)


def _rows(cases: Iterable[Case], digits: int) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for case in cases:
        cells = astuple(case)
        writer.writerow([f"{v:.{digits}g}" if isinstance(v, float) else v for v in cells])
    return text.getvalue()


def _number(cell: str) -> float | None:
    return float(cell) if cell else None


_READERS: dict[Any, Callable[[str], Any]] = {str: str, int: int, float: float}
