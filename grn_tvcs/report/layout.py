"""A network as a drawing: genes placed by springs, the edges between them as paths in pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.network.network import Edge

WIDTH, HEIGHT, MARGIN = 960.0, 640.0, 46.0
MOST_NAMED = 100
NAMED_OF_MANY = 30
STEPS = 300
STILL = 1e-4  # mean movement of a node that counts as none

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Dot:
    """A gene in the drawing; pixels."""

    name: str
    x: float
    y: float
    radius: float
    is_regulator: bool
    is_named: bool


@dataclass(frozen=True)
class Arrow:
    """An edge in the drawing, from rim to rim; pixels."""

    label: str
    path: str
    kind: str
    opacity: float


def draw(edges: Sequence[Edge]) -> tuple[list[Dot], list[Arrow]]:
    """Place the linked genes and their edges; the same network is always drawn the same way."""
    if not edges:
        return [], []
    links: dict[str, list[str]] = {}
    for edge in edges:
        links.setdefault(edge.regulator, []).append(edge.target)
        links.setdefault(edge.target, []).append(edge.regulator)
    n_targets = dict.fromkeys(links, 0)
    for edge in edges:
        n_targets[edge.regulator] += 1
    place = _fill(_spread(links))
    radius = {name: 5.0 + 2.2 * math.sqrt(n) for name, n in n_targets.items()}
    most = sorted(links, key=lambda name: (-n_targets[name], name))
    named = set(most if len(most) <= MOST_NAMED else most[:NAMED_OF_MANY])
    dots = [Dot(n, *place[n], radius[n], n_targets[n] > 0, n in named) for n in links]
    pairs = {(edge.regulator, edge.target) for edge in edges}
    strongest = max(edge.score for edge in edges)
    arrows = [
        Arrow(
            f"{e.regulator} {e.sign} {e.target}: {e.score:g}",
            _curve(
                place[e.regulator],
                place[e.target],
                radius[e.regulator],
                radius[e.target],
                bend=0.12 if (e.target, e.regulator) in pairs else 0.0,
            ),
            {"+": "activates", "-": "represses", "?": "regulates"}[e.sign],
            0.35 + 0.6 * math.sqrt(e.score / strongest),
        )
        for e in edges
    ]
    return dots, arrows


def _spread(links: Mapping[str, Sequence[str]]) -> dict[str, Array]:
    """Lay out each connected part by springs, and put the parts beside each other in rows."""
    places: dict[str, Array] = {}
    left, bottom, row_height = 0.0, 0.0, 0.0
    parts = sorted(_parts(links), key=lambda part: (-len(part), min(part)))
    sides = [math.sqrt(len(part)) for part in parts]
    area = sum((side + 0.8) ** 2 for side in sides)
    widest = max(1.5 * sides[0], math.sqrt(area * WIDTH / HEIGHT))
    for part, side in zip(parts, sides, strict=True):
        layout = spring_layout(_adjacency(links, part), 2.4 / side, STEPS)
        layout *= side / 2 / np.abs(layout).max()
        if left and left + side > widest:
            left, bottom, row_height = 0.0, bottom + row_height + 0.8, 0.0
        for name, at in zip(part, layout, strict=True):
            places[name] = at + np.array([left + side / 2, bottom + side / 2])
        left, row_height = left + side + 0.8, max(row_height, side)
    return places


def _parts(links: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Genes that are linked by some way; the genes of a part in the order of `links`."""
    part_of: dict[str, int] = {}
    n_parts = 0
    for first in links:
        if first not in part_of:
            waiting = [first]
            while waiting:
                name = waiting.pop()
                if name not in part_of:
                    part_of[name] = n_parts
                    waiting += links[name]
            n_parts += 1
    parts: list[list[str]] = [[] for _ in range(n_parts)]
    for name in links:
        parts[part_of[name]].append(name)
    return parts


def _adjacency(links: Mapping[str, Sequence[str]], part: Sequence[str]) -> NDArray[np.bool_]:
    place = {name: k for k, name in enumerate(part)}
    are_linked = np.zeros((len(part), len(part)), np.bool_)
    for name in part:
        are_linked[place[name], [place[other] for other in links[name]]] = True
    return are_linked


def spring_layout(are_linked: NDArray[np.bool_], length: float, steps: int) -> Array:
    """Place the nodes of a connected graph by springs, about 0; (nodes, 2).

    The layout of Fruchterman and Reingold (1991), step by step the one that `networkx` makes
    of the seed 0; coordinates apart from each other, and springs where there are edges alone, take
    a quarter of the time.

    Parameters
    ----------
    are_linked
        Symmetric.
    length
        Of an edge that is neither stretched nor pressed, where the drawing has a side of 1.
    steps
        At most; fewer where nodes hardly move any more.
    """
    x, y = np.random.RandomState(0).rand(len(are_linked), 2).T.copy()
    rows, columns = np.nonzero(are_linked)
    most = max(np.ptp(x), np.ptp(y)) * 0.1  # that a node may move in a step
    less = most / (steps + 1)
    for _ in range(steps):
        dx, dy = x - x[:, None], y - y[:, None]
        distance = np.maximum(np.sqrt(dx * dx + dy * dy), 0.01)
        force = length * length / (distance * distance)
        force[rows, columns] -= distance[rows, columns] / length
        dx *= force
        dy *= force
        dx, dy = dx.sum(axis=0), dy.sum(axis=0)
        step = most / np.maximum(np.sqrt(dx * dx + dy * dy), 0.01)
        dx *= step
        dy *= step
        x += dx
        y += dy
        most -= less
        if math.sqrt(dx @ dx + dy @ dy) < STILL * len(x):
            break
    places = np.stack([x, y], axis=1)
    places -= places.mean(axis=0)
    return places


def _fill(places: dict[str, Array]) -> dict[str, tuple[float, float]]:
    """Stretch the layout over the drawing."""
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
