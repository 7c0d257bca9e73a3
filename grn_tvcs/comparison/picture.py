"""Drawing of edges that differ: a spring layout with an arrow for every edge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

WIDTH, HEIGHT, MARGIN = 960.0, 560.0, 48.0  # pixels
RADIUS, GAP = 8.0, 5.0  # of a gene, and between it and an arrow's tip; pixels
MAX_DRAWN = 100  # edges; more cannot be read


class Change(NamedTuple):
    """An edge to be drawn, with a description for the tooltip."""

    regulator: str
    target: str
    kind: str
    description: str


class Gene(NamedTuple):
    """A gene in the drawing; pixels."""

    name: str
    x: float
    y: float


class Line(NamedTuple):
    """An edge in the drawing, from rim to rim; pixels."""

    kind: str
    description: str
    x1: float
    y1: float
    x2: float
    y2: float


def drawing(edges: Sequence[Change]) -> dict[str, Any]:
    """Return the drawing of the first edges as the templates take it."""
    genes, lines = draw(edges)
    size = (WIDTH, HEIGHT)
    return {
        "genes": genes, "lines": lines, "size": size, "radius": RADIUS, "most_drawn": MAX_DRAWN,
    }  # fmt: skip


def draw(edges: Sequence[Change]) -> tuple[list[Gene], list[Line]]:
    """Lay out the genes of the first edges and draw these; equal edges give equal drawings."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_edges_from((edge.regulator, edge.target) for edge in edges[:MAX_DRAWN])
    if not graph:
        return [], []
    layout = nx.spring_layout(graph, k=2.0 / math.sqrt(len(graph)), iterations=200, seed=0)
    at = np.array(list(layout.values()))
    span = np.maximum(np.ptp(at, axis=0), 1e-9)
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    pixels = np.round(MARGIN + (at - at.min(axis=0)) / span * room, 1)
    place = dict(zip(layout, pixels, strict=True))
    genes = [Gene(name, float(x), float(y)) for name, (x, y) in place.items()]
    return genes, [
        _line(edge, place[edge.regulator], place[edge.target]) for edge in edges[:MAX_DRAWN]
    ]


def _line(edge: Change, start: np.ndarray, end: np.ndarray) -> Line:
    along = (end - start) / max(float(np.hypot(*(end - start))), 1e-9)
    side = np.array([-along[1], along[0]]) * 3.0  # separates the two directions of a pair
    first, last = start + along * RADIUS + side, end - along * (RADIUS + GAP) + side
    (x1, y1), (x2, y2) = first.round(1).tolist(), last.round(1).tolist()
    return Line(edge.kind, edge.description, x1, y1, x2, y2)
