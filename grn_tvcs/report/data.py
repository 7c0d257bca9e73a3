"""What the scripts of a report show: genes, edges and time courses, bounded in size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.edge_count import EdgeCount
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.confidence import expected_true
from grn_tvcs.network.network import Edge, Network
from grn_tvcs.report.layout import Dot
from tvcs_core.files.page import Axes, round_numbers

MOST_SERIES = 12
MOST_POINTS = 200
MOST_VALUES = 300_000
MOST_TOLD = 20_000  # selected edges that are not drawn and are told under their genes
REST = "of samples at rest, by number"
DIGITS = 4
CURVE_WIDTH, CURVE_HEIGHT, CURVE_MARGIN = 640.0, 180.0, 46.0
CURVE_TICKS = 5


def explorer(network: Network, edges: Sequence[Edge], dots: Sequence[Dot]) -> dict[str, Any]:
    """Genes with their places and degrees, and edges, which name genes by their number.

    The evidence of an edge is what is said of it when it is shown: its confidence too, if known.
    """
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
            "evidence": "; ".join(filter(None, (e.evidence, chance_said(e)))),
            **{name: value for name, value in e.known.items() if name != "evidence"},
        }
        for e, how_often in zip(edges, stable, strict=True)
    ]
    return {"genes": genes, "edges": links}


def chance_said(edge: Edge) -> str:
    """The confidence of an edge in words, and its false discoveries; empty where not known."""
    if edge.confidence is None:
        return ""
    said = f"true with a chance of {edge.confidence:.2f}"
    if edge.false_discovery is None:
        return said
    return f"{said}, and of all edges at least as likely {edge.false_discovery:.0%} are false"


def undrawn(network: Network, edges: Sequence[Edge], dots: Sequence[Dot]) -> dict[str, Any]:
    """What the search finds beside the drawing: every other gene, and edges that are not drawn.

    Genes are (name, regulators, targets), counted on from those of the drawing; edges are
    (regulator, target, sign, score, rank), the surest `MOST_TOLD` of them.
    """
    drawn = {dot.name for dot in dots}
    ins, outs = network.in_degrees.tolist(), network.out_degrees.tolist()
    genes = [(g, ins[j], outs[j]) for j, g in enumerate(network.genes) if g not in drawn]
    names = [*(dot.name for dot in dots), *(gene[0] for gene in genes)]
    place = {name: k for k, name in enumerate(names)}
    told = [
        (place[e.regulator], place[e.target], e.sign, float(f"{e.score:.{DIGITS}g}"), e.rank)
        for e in edges[:MOST_TOLD]
    ]
    return {"genes": genes, "edges": told, "all_edges": len(edges)}


def stabilities(network: Network, edges: Sequence[Edge]) -> list[float | None]:
    """Stability of each edge; None where nothing was resampled or too little for it."""
    pairs = network.pairs
    if pairs.stability is None:
        return [None] * len(edges)
    row = {network.genes[i]: k for k, i in enumerate(pairs.regulators.tolist())}
    col = {network.genes[j]: k for k, j in enumerate(pairs.targets.tolist())}
    found = [float(pairs.stability[row[e.regulator], col[e.target]]) for e in edges]
    return [None if part != part else round(part, 3) for part in found]


def courses(expression: Expression, edges: Sequence[Edge]) -> dict[str, Any]:
    """Time courses of the genes of `edges`, those of the surest edges first.

    At most `MOST_SERIES` series, of each at most `MOST_POINTS` evenly chosen samples, and
    `MOST_VALUES` levels in all: genes beyond have none. Samples at rest stand last, by number.
    """
    pieces = expression.pieces()
    shown = [(name, _thinned(rows)) for name, rows in list(pieces.items())[:MOST_SERIES]]
    n, n_rest = len(expression.times), expression.n_at_rest
    if n_rest:
        shown.append((REST, _thinned(slice(n, n + n_rest))))
    times = np.concatenate([expression.times, np.arange(1.0, n_rest + 1)])
    on = np.zeros(n + n_rest, bool)
    if expression.perturbed is not None:
        on[:n] = expression.perturbed
    measured = expression.levels
    n_values = sum(rows.size for _, rows in shown)
    genes = list(dict.fromkeys(g for e in edges for g in (e.regulator, e.target)))
    column = {gene: j for j, gene in enumerate(expression.genes)}
    kept = [gene for gene in genes if gene in column][: MOST_VALUES // max(n_values, 1)]
    series = [
        {
            "name": name,
            "times": _numbers(times[rows]),
            "perturbed": [] if expression.perturbed is None else on[rows].astype(int).tolist(),
        }
        for name, rows in shown
    ]
    levels = [
        [gene, [_numbers(measured[rows, column[gene]]) for _, rows in shown]] for gene in kept
    ]
    return {"series": series, "levels": levels, "all_series": len(pieces) + bool(n_rest)}


def curve(count: EdgeCount) -> dict[str, Any]:
    """The gains of held-out series by number of edges, as paths and ticks in pixels.

    The axis goes down to the lowest gain that is not far below zero: what too many edges cost
    further down is cut off.
    """
    gains, errors = np.array(count.gains), np.array(count.errors)
    top = max(float((gains + errors).max()), 1e-9)
    bottom = max(float((gains - errors).min()), -top)
    span = top - bottom
    across = np.array(count.sizes) / max(count.sizes[-1], 1)
    x = CURVE_MARGIN + (CURVE_WIDTH - 2 * CURVE_MARGIN) * across

    def y(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return 10 + (CURVE_HEIGHT - 20) * (top - np.clip(values, bottom, top)) / span

    def path(across: NDArray[np.float64], down: NDArray[np.float64]) -> str:
        pairs = zip(across, down, strict=True)
        return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in pairs)

    place = dict(zip(count.sizes, x.tolist(), strict=True))
    best = count.sizes.index(count.n_edges)
    shown = [*count.sizes[:: max(1, len(count.sizes) // CURVE_TICKS)], count.sizes[-1]]
    return {
        "line": path(x, y(gains)),
        "band": path(np.r_[x, x[::-1]], np.r_[y(gains - errors), y(gains + errors)[::-1]]) + "Z",
        "zero": float(y(np.zeros(1))[0]),
        "best": (place[count.n_edges], float(y(gains)[best])),
        "range": (place[count.low], place[count.high]),
        "ticks": sorted({(round(place[size], 1), size) for size in shown}),
        "top": float(f"{top:.2g}"),
        "gain": float(gains[best]),
        "size": (CURVE_WIDTH, CURVE_HEIGHT),
    }


def support(network: Network) -> dict[str, Any] | None:
    """Expected true edges by number of edges, by falling confidence: axes and places in pixels.

    The axis goes to twice the supported edges, and to as many as there are genes. Beside the
    curve stands the line on which all edges would be true. None where no confidence is known.
    """
    confidence, verdict = network.pairs.confidence, network.verdict
    if confidence is None or verdict is None:
        return None
    true, n_edges = expected_true(confidence, network.pairs.scores), verdict.n_edges
    last = max(1, min(true.size - 1, max(2 * n_edges, len(network.genes))))
    sizes = np.unique(np.linspace(0, min(last, true.size - 1), MOST_POINTS).round().astype(int))
    lines = round_numbers(0.0, max(float(true[sizes[-1]]), 1.0))
    axes = Axes(last, 0.0, lines[-1])
    all_true = min(float(last), axes.high)
    return axes.drawn(
        [(y, f"{y:g}") for y in lines],
        [(x, f"{x:g}") for x in round_numbers(0, last) if x <= last and x == int(x)],
    ) | {
        "points": [(axes.across(k), axes.down(true[k])) for k in sizes.tolist()],
        "all_true": [(axes.across(k), axes.down(k)) for k in (0.0, all_true)],
        "supported": (axes.across(n_edges), axes.down(true[n_edges])),
    }


def _thinned(rows: slice) -> NDArray[np.int64]:
    n = rows.stop - rows.start
    places = np.linspace(0, n - 1, min(n, MOST_POINTS)).round()
    return np.asarray(rows.start + places.astype(np.int64))


def _numbers(values: NDArray[np.float64]) -> list[float]:
    return [float(f"{v:.{DIGITS}g}") for v in values.tolist()]
