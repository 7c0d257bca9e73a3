"""Report of two finished networks, as one self-contained file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from grn_tvcs.comparison.finished import KINDS, FinishedRun
from grn_tvcs.comparison.picture import HEIGHT, MAX_DRAWN, RADIUS, WIDTH, draw
from tvcs_core.files.page import fill_page
from tvcs_core.files.record import tvcs_version

MAX_LISTED = 200  # rows of the table


class Drawn(NamedTuple):
    """An edge of either network in the drawing; `order` is the drawing order."""

    regulator: str
    target: str
    kind: str
    description: str
    order: tuple[int, float]


def render(
    networks: tuple[FinishedRun, FinishedRun],
    names: tuple[str, str],
    table: tuple[Sequence[str], Sequence[Sequence[Any]]],
    remarks: Sequence[str],
    *,
    command: str = "",
) -> str:
    """Render the report as HTML; `table` and `remarks` are those of `compare_edges`."""
    header, rows = table
    a, b = names
    edges = sorted((_drawn(row, names) for row in rows), key=lambda edge: edge.order)
    genes, lines = draw(edges)
    sides = {"_a": f" in {a}", "_b": f" in {b}"}
    heads = [head[:-2] + sides[head[-2:]] if head[-2:] in sides else head for head in header]
    return fill_page(
        "grn_tvcs.comparison",
        "finished.html.j2",
        title=f"{a} and {b}: comparison of two finished networks",
        a=a,
        b=b,
        method=networks[0].method,
        kinds=[(kind, sum(edge.kind == kind for edge in edges)) for kind in KINDS],
        remarks=remarks,
        rows=rows[:MAX_LISTED],
        n_rows=len(rows),
        header=heads,
        genes=genes,
        lines=lines,
        size=(WIDTH, HEIGHT),
        radius=RADIUS,
        most_drawn=MAX_DRAWN,
        methods=methods_paragraph(networks, names, len(rows)),
        command=command,
    )


def _drawn(row: Sequence[Any], names: tuple[str, str]) -> Drawn:
    """Make the edge of a row; changed edges are drawn first, then by score."""
    regulator, target, kind, _, _, *scores = map(str, row[:7])
    a, b = scores
    text = f"{regulator} to {target}: {kind}, score {a} in {names[0]} and {b} in {names[1]}"
    order = KINDS.index(kind), -max(float(a), float(b))
    return Drawn(regulator, target, kind, text, order)


def methods_paragraph(
    networks: tuple[FinishedRun, FinishedRun], names: tuple[str, str], n_edges: int
) -> str:
    """Return the methods paragraph of the report."""
    first, _ = networks
    a, b = names
    return (
        f"Two networks, {a} and {b}, were inferred by {first.method} with tvcs {first.version} and "
        f"compared with tvcs {tvcs_version()}. Each of the {n_edges} edges selected in either "
        "network was classified as gained, lost, reversed (in both, with opposite signs) or "
        "unchanged. The differences were not tested."
    )
