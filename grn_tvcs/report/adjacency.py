"""Adjacency of the selected edges as a picture: a matrix with its degrees against the caps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.network.confidence import LIKELY
from grn_tvcs.network.edge import RELATION, SIGNS
from grn_tvcs.network.network import Network
from grn_tvcs.network.ranking import ranked_selected
from grn_tvcs.network.rules import Rules

MIN_GENES, MAX_GENES = 30, 300  # fewer are seen in the drawing, more have cells below two pixels
MAX_CELLS = 10_000  # by rank; such a picture has 150 kB
WIDTH, SMALLEST, LARGEST = 1000.0, 2.8, 14.0  # pixels of all columns, and of a cell
BARS = 60.0  # pixels of the longest bar of a degree
MIN_NAMED = 8.0  # pixels of a cell from which names are legible
NAME = 12  # characters


def adjacency(network: Network, rules: Rules) -> dict[str, Any] | None:
    """Return cells, names and bars of the picture; None unless 30 to 300 genes have an edge.

    Rows are regulators by falling out-degree. Columns are targets, those with the same regulators
    side by side. Cells and bars are paths in units of a cell.
    """
    some = ranked_selected(network.pairs, network.genes)
    if not (MIN_GENES <= len(network.genes) <= MAX_GENES and some.rows.size):
        return None
    pairs, at = network.pairs, (some.rows[:MAX_CELLS], some.cols[:MAX_CELLS])
    sources, targets = pairs.regulators[at[0]], pairs.targets[at[1]]
    rows, cols = _ordered(sources, targets, network.genes)
    row, col = (dict(zip(found, range(len(found)), strict=True)) for found in (rows, cols))
    known = pairs.confidence
    is_supported = np.ones(sources.size, bool) if known is None else known[at] >= LIKELY
    paths: dict[str, list[str]] = {}
    facts = zip(sources, targets, pairs.signs[at].tolist(), is_supported.tolist(), strict=True)
    for i, j, sign, is_sure in facts:
        kind = RELATION[SIGNS[sign]] + ("" if is_sure else " unsupported")
        paths.setdefault(kind, []).append(f"M{col[int(j)]} {row[int(i)]}h.9v.9h-.9z")
    cell = round(max(SMALLEST, min(LARGEST, WIDTH / len(cols))), 1)
    names = [_short(network.genes[k]) for k in (*rows, *cols)] if cell >= MIN_NAMED else []
    size = round(0.8 * cell, 1)
    margin = round(0.64 * size * max(map(len, names), default=0) + 8, 1)
    return {
        "rows": rows,
        "cols": cols,
        "cells": [(kind, "".join(part)) for kind, part in sorted(paths.items())],
        "cell": cell,
        "names": names,
        "size": size,
        "margin": margin,
        "bars": BARS,
        "right": _bars(network.out_degrees[rows], rules.max_out_degree, cell, is_row=True),
        "top": _bars(network.in_degrees[cols], rules.max_in_degree, cell, is_row=False),
        "n_left_out": some.rows.size - sources.size,
    }


def _ordered(
    sources: NDArray[np.int64], targets: NDArray[np.int64], genes: tuple[str, ...]
) -> tuple[list[int], list[int]]:
    """Return the genes of the rows and of the columns, in their order."""
    degree = np.bincount(sources, minlength=len(genes))
    rows = sorted(np.unique(sources).tolist(), key=lambda g: (-int(degree[g]), genes[g]))
    place = {gene: k for k, gene in enumerate(rows)}
    regulators: dict[int, list[int]] = {}
    for i, j in zip(sources.tolist(), targets.tolist(), strict=True):
        regulators.setdefault(j, []).append(place[i])
    return rows, sorted(regulators, key=lambda g: (sorted(regulators[g]), genes[g]))


def _bars(degrees: NDArray[np.int64], cap: object, cell: float, *, is_row: bool) -> dict[str, Any]:
    """Return the bars of the degrees as one path in units of a cell, and the place of the cap."""
    most = int(degrees.max())
    limit = cap if isinstance(cap, int) and cap <= 2 * most else None  # a far cap tells nothing
    unit = BARS / cell / max(most, limit or 0)
    lengths = [f"{unit * degree:.2f}" for degree in degrees.tolist()]
    if is_row:
        path = "".join(f"M0 {k}h{x}v.9h-{x}z" for k, x in enumerate(lengths))
    else:
        path = "".join(f"M{k} 0v-{x}h.9v{x}z" for k, x in enumerate(lengths))
    return {"path": path, "cap": limit, "at": None if limit is None else round(limit * unit, 2)}


def _short(name: str) -> str:
    return name if len(name) <= NAME else name[: NAME - 1] + "…"
