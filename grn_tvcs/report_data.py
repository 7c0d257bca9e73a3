"""What the scripts of a report show: genes, edges and time courses, bounded in size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.drawing import Dot
from grn_tvcs.expression import Expression
from grn_tvcs.network import Edge, Network

MOST_SERIES = 12
MOST_POINTS = 200
MOST_VALUES = 300_000
DIGITS = 4


def explorer(network: Network, edges: Sequence[Edge], dots: Sequence[Dot]) -> dict[str, Any]:
    """Genes with their places and degrees, and edges, which name genes by their number."""
    stable = stabilities(network, edges)
    place = {dot.name: k for k, dot in enumerate(dots)}
    column = {gene: j for j, gene in enumerate(network.genes)}
    ins, outs = network.in_degrees, network.out_degrees
    genes = [
        {
            "name": dot.name,
            "x": dot.x,
            "y": dot.y,
            "radius": round(dot.radius, 1),
            "in": int(ins[column[dot.name]]),
            "out": int(outs[column[dot.name]]),
        }
        for dot in dots
    ]
    links = [
        {
            "from": place[e.regulator],
            "to": place[e.target],
            "score": float(f"{e.score:.{DIGITS}g}"),
            "sign": e.sign,
            "rank": e.rank,
            "stability": how_often,
        }
        for e, how_often in zip(edges, stable, strict=True)
    ]
    return {"genes": genes, "edges": links}


def stabilities(network: Network, edges: Sequence[Edge]) -> list[float | None]:
    """In which part of all resamples each edge was chosen; None where nothing was resampled."""
    if network.stability is None:
        return [None] * len(edges)
    place = {gene: i for i, gene in enumerate(network.genes)}
    return [round(float(network.stability[place[e.regulator], place[e.target]]), 3) for e in edges]


def courses(expression: Expression, edges: Sequence[Edge]) -> dict[str, Any]:
    """Time courses of the genes of `edges`, those of the surest edges first.

    At most `MOST_SERIES` series, of each at most `MOST_POINTS` evenly chosen samples, and
    `MOST_VALUES` levels in all: genes beyond have none.
    """
    pieces = expression.pieces()
    shown = [(name, _thinned(rows)) for name, rows in list(pieces.items())[:MOST_SERIES]]
    n_values = sum(rows.size for _, rows in shown)
    genes = list(dict.fromkeys(g for e in edges for g in (e.regulator, e.target)))
    column = {gene: j for j, gene in enumerate(expression.genes)}
    kept = [gene for gene in genes if gene in column][: MOST_VALUES // max(n_values, 1)]
    series = [
        {
            "name": name,
            "times": _numbers(expression.times[rows]),
            "perturbed": []
            if expression.perturbed is None
            else expression.perturbed[rows].astype(int).tolist(),
        }
        for name, rows in shown
    ]
    levels = [
        [gene, [_numbers(expression.values[rows, column[gene]]) for _, rows in shown]]
        for gene in kept
    ]
    return {"series": series, "levels": levels, "all_series": len(pieces)}


def _thinned(rows: slice) -> NDArray[np.int64]:
    n = rows.stop - rows.start
    places = np.linspace(0, n - 1, min(n, MOST_POINTS)).round()
    return np.asarray(rows.start + places.astype(np.int64))


def _numbers(values: NDArray[np.float64]) -> list[float]:
    return [float(f"{v:.{DIGITS}g}") for v in values.tolist()]
