"""Write docs/studies/projection-families.md: where the projection loses and where it wins."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.pages import table
from benchmarks.speed.matrices import FAMILIES, HUGE, ONES, SEEDS, Cell
from benchmarks.study import load

SMALL = 10_000  # entries: below it a ratio of .9 is not yet a loss
PAGE = "studies/projection-families.md"
HOW = f"""## How it was measured

Processor time of one thread, the methods in turns in one process. Ours is all of `project`, its
checks and its certificate included. OR-Tools' minimum cost flow is its solve alone, without
building the network, on costs of 46 bits. Every answer is compared with OR-Tools'.
A cell is a family, a size, a ratio of the caps to the groups' sizes, caps that are equal or drawn,
and a total that binds (.8 of what the caps allow) or does not. Ratios are .05, .2 and .5, from
{HUGE:,} entries on .2 with equal caps only, and .005, .02 and .183 at 937 x 1,043, since round
numbers hid what uneven ones cost. A cell has up to {len(SEEDS)} seeds. *Gradients* are what
the fifth step of IHT projects on a sparse regression, *qualities* the workers and tasks of a crowd,
drawn again where there are too few. Single rows are good to about 30 %.
"""


def write_page(out: Path, docs: Path) -> None:
    """Write the page from the rows that are known."""
    cells = load(out / "cells.csv", Cell)
    machine = (out / "machine.txt").read_text(encoding="utf-8").strip()
    (docs / PAGE).write_text("\n".join(page(cells, machine)), encoding="utf-8")


def page(cells: list[Cell], machine: str) -> Iterator[str]:
    """The page, line by line."""
    capped = [c for c in cells if c.caps != ONES]
    yield "# Where the projection wins and where it loses\n"
    yield "Written by `python -m benchmarks.speed.families --write-docs`, from"
    yield f"{len(cells):,} rows measured on {machine}; {code_of(cells)}. All ratios are OR-Tools'"
    yield "time over ours, unless stated otherwise: above 1 is in our favour.\n"
    yield "## Where this loses\n"
    yield from losses(capped)
    yield "## By family and size\n"
    yield "Worst / median over seeds, caps, totals and ratios of the caps. Rows of each are in"
    yield "`benchmarks/results/projection/cells.csv`.\n"
    yield by_family(capped) + "\n"
    yield from ones([c for c in cells if c.caps == ONES])
    yield from against_highs([c for c in cells if c.highs is not None])
    yield HOW


def code_of(cells: list[Cell]) -> str:
    """Whether all rows are of one state of the code."""
    states = {c.code for c in cells}
    return "one state of the code" if len(states) == 1 else f"{len(states)} states of the code"


def ratio(cell: Cell) -> float:
    """OR-Tools' time over ours."""
    return cell.ortools / cell.ours


def grouped(cells: Iterable[Cell], by: Callable[[Cell], Hashable]) -> dict[Hashable, list[Cell]]:
    """The cells of every group, groups in the order in which they come."""
    found: dict[Hashable, list[Cell]] = {}
    for cell in cells:
        found.setdefault(by(cell), []).append(cell)
    return found


def losses(cells: list[Cell]) -> Iterator[str]:
    """Every cell whose worst seed is slower than OR-Tools, the worst first."""
    kinds = grouped(cells, lambda c: c.key[:-1]).values()
    found = [seeds for seeds in kinds if min(map(ratio, seeds)) < limit(seeds[0])]
    yield f"The worst seed is slower than OR-Tools (below {SMALL:,} entries: than .9 of it)"
    yield f"in {len(found)} of {len(kinds)} cells; lowest first.\n"
    if found:
        heads = ["size", "family", "caps, total", "ratio", "seeds", "worst", "median"]
        rows = sorted(found, key=lambda seeds: min(map(ratio, seeds)))
        yield table(
            [*heads, "ours worst, ms", "ours, ms", "OR-Tools, ms"], map(loss, rows), words=3
        )
        yield ""


def limit(cell: Cell) -> float:
    """The ratio below which a cell is a loss."""
    return 1.0 if cell.entries >= SMALL else 0.9


def loss(seeds: list[Cell]) -> list[str]:
    """The row of a cell."""
    one, ratios = seeds[0], [ratio(c) for c in seeds]
    size, kind = f"{one.rows} x {one.cols}", f"{one.caps}, {one.total}"
    ours, theirs = [c.ours for c in seeds], [c.ortools for c in seeds]
    times = max(ours), middle(ours), middle(theirs)
    figures = [f"{min(ratios):.2f}", f"{middle(ratios):.2f}", *(f"{1e3 * t:.3g}" for t in times)]
    return [size, one.family, kind, f"{one.ratio:g}", str(len(seeds)), *figures]


def middle(values: Iterable[float]) -> float:
    """The median."""
    return float(np.median(list(values)))


def by_family(cells: list[Cell]) -> str:
    """Families by size."""
    sizes = list(grouped(cells, _size))
    found = grouped(cells, lambda c: (c.family, _size(c)))
    rows = [
        [family, *(worst_and_median(found.get((family, size), [])) for size in sizes)]
        for family in FAMILIES
        if any((family, size) in found for size in sizes)
    ]
    return table(["family", *map(str, sizes)], rows)


def _size(cell: Cell) -> str:
    return f"{cell.rows} x {cell.cols}"


def worst_and_median(cells: list[Cell], of: Callable[[Cell], float] = ratio) -> str:
    """Both in one cell of a table."""
    found = [of(c) for c in cells]
    return f"{min(found):.2g} / {middle(found):.2g}" if found else ""


def ones(cells: list[Cell]) -> Iterator[str]:
    """Caps of 1 against the assignment problem."""
    if not cells:
        return
    yield "## All caps 1: our time over that of scipy's `linear_sum_assignment`\n"
    yield "Median / worst over seeds. Below 1 is in our favour.\n"
    sizes = list(grouped(cells, lambda c: (c.rows, c.cols)))
    rows = []
    for family, found in grouped(cells, lambda c: c.family).items():
        of_size = grouped(found, lambda c: (c.rows, c.cols))
        shares = [[c.ours / (c.scipy or np.nan) for c in of_size.get(size, [])] for size in sizes]
        figures = [f"{middle(s):.2g} / {max(s):.2g}" if s else "" for s in shares]
        rows.append([str(family), *figures])
    yield table(["family", *(f"{n} x {m}" for n, m in sizes)], rows) + "\n"  # type: ignore[misc]


def against_highs(cells: list[Cell]) -> Iterator[str]:
    """The linear program, where it was tried."""
    if not cells:
        return
    yield "## HiGHS (scipy's `linprog`), 300 x 300, ratio .2, one seed\n"
    yield "HiGHS' time over ours.\n"
    rows = []
    for (caps, total), found in grouped(cells, lambda c: (c.caps, c.total)).items():  # type: ignore[misc]
        worst = min(found, key=against)
        figures = [f"{against(worst):.0f}", worst.family, f"{middle(map(against, found)):.0f}"]
        rows.append([f"{caps}, {total}", str(len(found)), *figures])
    heads = ["caps, total", "families", "lowest", "of", "median"]
    yield table(heads, rows, words={0, 3}) + "\n"


def against(cell: Cell) -> float:
    """HiGHS' time over ours."""
    return (cell.highs or np.nan) / cell.ours
