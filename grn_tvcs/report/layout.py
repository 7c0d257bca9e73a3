"""Drawing of a network: a spring layout of genes, with edges as paths in pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.network.confidence import LIKELY
from grn_tvcs.network.edge import Edge

WIDTH, HEIGHT, MARGIN = 960.0, 640.0, 46.0  # pixels
MAX_NAMED = 100  # genes, up to which all are named
NAMED_OF_MANY = 30  # named genes of larger networks, those with the most targets
# Steps of the spring layout: large components need fewer, and each of their steps costs more.
MAX_STEPS, MIN_STEPS, STEPS_TIMES_GENES = 300, 50, 15_000


@dataclass(frozen=True)
class Node:
    """A gene in the drawing; pixels."""

    name: str
    x: float
    y: float
    radius: float
    is_regulator: bool
    is_named: bool


@dataclass(frozen=True)
class Arrow:
    """An edge in the drawing, from rim to rim; pixels. It is supported if it is likely true."""

    label: str
    path: str
    kind: str
    opacity: float
    is_supported: bool | None


def draw(edges: Sequence[Edge]) -> tuple[list[Node], list[Arrow]]:
    """Lay out the linked genes and their edges; equal networks give equal drawings."""
    if not edges:
        return [], []
    import networkx as nx

    graph = nx.Graph()
    graph.add_edges_from((edge.regulator, edge.target) for edge in edges)
    n_targets = dict.fromkeys(graph, 0)
    for edge in edges:
        n_targets[edge.regulator] += 1
        n_targets[edge.target] += edge.undirected
    place = _fill(_spread(graph))
    radius = {name: 5.0 + 2.2 * math.sqrt(n) for name, n in n_targets.items()}
    most = sorted(graph, key=lambda name: (-n_targets[name], name))
    named = set(most if len(most) <= MAX_NAMED else most[:NAMED_OF_MANY])
    nodes = [Node(n, *place[n], radius[n], n_targets[n] > 0, n in named) for n in graph]
    pairs = {(edge.regulator, edge.target) for edge in edges}
    strongest = max(edge.score for edge in edges)
    arrows = [
        Arrow(
            f"{e.regulator} {'–' if e.undirected else e.sign} {e.target}: {e.score:g}",
            _curve(
                place[e.regulator],
                place[e.target],
                radius[e.regulator],
                radius[e.target],
                bend=0.12 if (e.target, e.regulator) in pairs else 0.0,
            ),
            e.relation,
            0.35 + 0.6 * math.sqrt(e.score / strongest),
            None if e.confidence is None else e.confidence >= LIKELY,
        )
        for e in edges
    ]
    return nodes, arrows


def _spread(graph: Any) -> dict[str, NDArray[np.float64]]:
    """Lay out each connected component by springs, and place the components in rows."""
    import networkx as nx

    parts = sorted(nx.connected_components(graph), key=lambda part: (-len(part), min(part)))
    places: dict[str, NDArray[np.float64]] = {}
    left, bottom, row_height = 0.0, 0.0, 0.0
    sides = [math.sqrt(len(part)) for part in parts]
    area = sum((side + 0.8) ** 2 for side in sides)
    widest = max(1.5 * sides[0], math.sqrt(area * WIDTH / HEIGHT))
    for part, side in zip(parts, sides, strict=True):
        subgraph = nx.Graph()
        # In the order of the graph: components are sets, whose order differs between processes.
        subgraph.add_nodes_from(name for name in graph if name in part)
        subgraph.add_edges_from(graph.edges(part))
        steps = min(MAX_STEPS, max(MIN_STEPS, STEPS_TIMES_GENES // len(part)))
        layout = nx.spring_layout(subgraph, k=2.4 / side, iterations=steps, seed=0, scale=side / 2)
        if left and left + side > widest:
            left, bottom, row_height = 0.0, bottom + row_height + 0.8, 0.0
        for name, at in layout.items():
            places[name] = at + np.array([left + side / 2, bottom + side / 2])
        left, row_height = left + side + 0.8, max(row_height, side)
    return places


def _fill(places: dict[str, NDArray[np.float64]]) -> dict[str, tuple[float, float]]:
    """Scale the layout to the drawing."""
    xy = np.array(list(places.values()))
    low, span = xy.min(axis=0), np.maximum(np.ptp(xy, axis=0), 1e-9)
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    pixels = MARGIN + (xy - low) / span * room
    return {
        name: (float(x), float(y)) for name, (x, y) in zip(places, pixels.round(1), strict=True)
    }


def _curve(
    start: tuple[float, float],
    end: tuple[float, float],
    start_radius: float,
    end_radius: float,
    bend: float,
) -> str:
    (x0, y0), (x1, y1) = start, end
    length = max(math.hypot(x1 - x0, y1 - y0), 1e-9)
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    ax, ay = x0 + ux * start_radius, y0 + uy * start_radius
    bx, by = x1 - ux * (end_radius + 4), y1 - uy * (end_radius + 4)
    cx, cy = (ax + bx) / 2 - uy * bend * length, (ay + by) / 2 + ux * bend * length
    return f"M{ax:.1f} {ay:.1f}Q{cx:.1f} {cy:.1f} {bx:.1f} {by:.1f}"
