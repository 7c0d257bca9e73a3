"""The report of two finished networks beside each other: one file that loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from grn_tvcs.comparison.finished import KINDS, Finished
from grn_tvcs.comparison.picture import HEIGHT, MOST_DRAWN, RADIUS, WIDTH, draw
from tvcs_core.files.page import fill_page
from tvcs_core.files.record import tvcs_version

MOST_LISTED = 200


class Drawn(NamedTuple):
    """An edge of either network as it is drawn; `order` is that of drawing."""

    regulator: str
    target: str
    kind: str
    said: str
    order: tuple[int, float]


def render(
    networks: tuple[Finished, Finished],
    names: tuple[str, str],
    table: tuple[Sequence[str], Sequence[Sequence[Any]]],
    said: Sequence[str],
    *,
    command: str = "",
) -> str:
    """Write the report as HTML; `table` and `said` are those of `beside_each_other`."""
    header, rows = table
    a, b = names
    edges = sorted((_drawn(row, names) for row in rows), key=lambda edge: edge.order)
    genes, lines = draw(edges)
    sides = {"_a": f" in {a}", "_b": f" in {b}"}
    heads = [head[:-2] + sides[head[-2:]] if head[-2:] in sides else head for head in header]
    return fill_page(
        "grn_tvcs.comparison",
        "finished.html.j2",
        title=f"{a} and {b}: two finished networks beside each other",
        a=a,
        b=b,
        method=networks[0].method,
        kinds=[(kind, sum(edge.kind == kind for edge in edges)) for kind in KINDS],
        said=said,
        rows=rows[:MOST_LISTED],
        n_rows=len(rows),
        header=heads,
        genes=genes,
        lines=lines,
        size=(WIDTH, HEIGHT),
        radius=RADIUS,
        most_drawn=MOST_DRAWN,
        methods=methods_paragraph(networks, names, len(rows)),
        command=command,
    )


def _drawn(row: Sequence[Any], names: tuple[str, str]) -> Drawn:
    """What differs first, and of each kind the surest."""
    regulator, target, kind, _, _, *scores = map(str, row[:7])
    a, b = scores
    said = f"{regulator} to {target}: {kind}, score {a} in {names[0]} and {b} in {names[1]}"
    order = KINDS.index(kind), -max(float(a), float(b))
    return Drawn(regulator, target, kind, said, order)


def methods_paragraph(
    networks: tuple[Finished, Finished], names: tuple[str, str], n_edges: int
) -> str:
    """Describe in the past tense what was done, for the methods section of a paper."""
    first, _ = networks
    a, b = names
    return (
        f"Two networks, {a} and {b}, were inferred by {first.method} with tvcs {first.version} and "
        f"set beside each other with tvcs {tvcs_version()}. Each of the {n_edges} edges that "
        "either selects was called gained, lost, reversed (in both, with two signs) or kept. "
        "The differences were not tested against chance."
    )
