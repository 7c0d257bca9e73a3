"""Curves of a report in pixels: expected true edges, precision and recall."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from grn_tvcs.network.confidence import expected_true
from grn_tvcs.network.network import Network
from grn_tvcs.network.ranking import columns_of, ranked_selected
from grn_tvcs.network.scores import Scores, precision_recall
from tvcs_core.files.page import Axes, round_numbers

MAX_POINTS = 200  # of a curve
SMALL = (460, 250)  # pixels of a curve beside the drawing: width and height


def stabilities(network: Network) -> list[float | None]:
    """Return the stability of each selected edge; None if it could not be estimated."""
    some = ranked_selected(network.pairs, network.genes)
    columns = columns_of(network.pairs, network.genes, some)
    found = columns.get("stability", [math.nan] * some.rows.size)
    return [None if math.isnan(part) else round(part, 3) for part in found]


def support(network: Network) -> dict[str, Any] | None:
    """Return the expected true edges by number of edges, by decreasing confidence, in pixels.

    The axis ends at twice the supported edges, or at the number of genes if that is larger. A
    second line shows the case that all edges are true. None without confidences.
    """
    confidence, verdict = network.pairs.confidence, network.verdict
    if confidence is None or verdict is None:
        return None
    true, n_edges = expected_true(confidence, network.pairs.scores), verdict.n_edges
    last = max(1, min(true.size - 1, max(2 * n_edges, len(network.genes))))
    sizes = np.unique(np.linspace(0, min(last, true.size - 1), MAX_POINTS).round().astype(int))
    lines = round_numbers(0.0, max(float(true[sizes[-1]]), 1.0))
    axes = Axes(last, 0.0, lines[-1], *SMALL)
    all_true = min(float(last), axes.high)
    return axes.drawn(
        [(y, f"{y:g}") for y in lines],
        [(x, f"{x:g}") for x in round_numbers(0, last) if x <= last and x == int(x)],
    ) | {
        "points": [(axes.across(k), axes.down(true[k])) for k in sizes.tolist()],
        "all_true": [(axes.across(k), axes.down(k)) for k in (0.0, all_true)],
        "supported": (axes.across(n_edges), axes.down(true[n_edges])),
    }


def agreement(network: Network, reference: Network | None, scores: Scores | None) -> Any:
    """Return the precision-recall curve of the ranking, in pixels, with the selected edges.

    None without a reference or without scores.
    """
    if reference is None or scores is None:
        return None
    recall, precision = precision_recall(network, reference, pairs=scores.pairs)
    axes = Axes(1.0, 0.0, 1.0, *SMALL)
    # Beyond MAX_POINTS, even steps of the recall, each at its first and so highest precision.
    at = np.unique(np.searchsorted(recall, np.linspace(0, 1, MAX_POINTS)).clip(0, recall.size - 1))
    some = range(recall.size) if recall.size <= MAX_POINTS else at.tolist()
    ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    labels = [(x, f"{x:g}") for x in ticks]
    part = scores.n_found / scores.n_selected if scores.n_selected else None
    return axes.drawn(labels, labels) | {
        "points": [(axes.across(recall[k]), axes.down(precision[k])) for k in some],
        "chance": axes.down(scores.aupr_by_chance),
        "selected": None if part is None else (axes.across(scores.sn), axes.down(part)),
        "precision": part,
    }
