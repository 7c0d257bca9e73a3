"""Data of genes and edges for the scripts of a report, as columns with indices of genes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.network.confidence import LIKELY
from grn_tvcs.network.network import Network
from grn_tvcs.network.ranking import Ranked, columns_of, ranked_selected, ranked_top
from grn_tvcs.network.scores import Scores
from grn_tvcs.report.layout import Node

MAX_EDGES = 20_000  # selected edges, by rank
MAX_TOP = 2_000  # of this number of top edges, those outside the caps are included too ...
MAX_SEARCHED_PAIRS = 4_000_000  # ... if the search for them takes less than about a second
DIGITS = 6  # significant digits, as in edges.tsv
NOT_JUDGED, TRUE, FALSE = "-", "t", "f"


def explorer(
    network: Network,
    nodes: Sequence[Node],
    reference: Network | None = None,
    judged: Scores | None = None,
) -> dict[str, Any]:
    """Return names of all genes, positions of the drawn ones, and the edges of the list.

    Columns of edges have one entry per edge, by rank; columns without data are absent. `truth` is
    true, false or not judged.
    """
    some = listed(network)
    pairs, number = network.pairs, {gene: k for k, gene in enumerate(network.genes)}
    columns = columns_of(pairs, range(len(network.genes)), some)
    edges: dict[str, Any] = {
        "from": columns["regulator"],
        "to": columns["target"],
        "sign": "".join(columns["sign"]),
        "score": [_rounded(score) for score in columns["score"]],
        "rank": columns["rank"],
        "selected": "".join("01"[is_in] for is_in in columns["selected"]),
    }
    for name in ("stability", "confidence", "false_discovery"):
        if name in columns:
            edges[name] = [_rounded(part) for part in columns[name]]
    if "undirected" in columns:
        edges["undirected"] = "".join("01"[way] for way in columns["undirected"])
    if "evidence" in columns:
        edges["evidence"] = columns["evidence"]
    if reference is not None:
        edges["truth"] = truth(
            network, reference, judged, pairs.regulators[some.rows], pairs.targets[some.cols]
        )
    likely = {} if pairs.confidence is None else {"likely": LIKELY}
    return likely | {
        "genes": list(network.genes),
        "places": [[number[node.name], node.x, node.y] for node in nodes],
        "edges": edges,
        "all_selected": int(np.count_nonzero(pairs.selected)),
    }


def listed(network: Network) -> Ranked:
    """Return the edges of the list: the selected ones, and top others if pairs are few."""
    some = ranked_selected(network.pairs, network.genes)
    if some.rows.size > MAX_EDGES:
        return Ranked(*(part[:MAX_EDGES] for part in some))
    if network.pairs.scores.size <= MAX_SEARCHED_PAIRS:
        return ranked_top(network.pairs, network.genes, MAX_TOP)
    return some


def truth(
    network: Network,
    reference: Network,
    judged: Scores | None,
    regulators: NDArray[np.int64],
    targets: NDArray[np.int64],
) -> str:
    """Return one letter per pair: whether it is an edge of the reference, or not judged."""
    place = {gene: k for k, gene in enumerate(reference.genes)}
    at = np.array([place[gene] for gene in network.genes])
    rows, cols = at[regulators], at[targets]
    is_edge = reference.pairs.at("selected", (rows, cols))
    counts = np.ones(rows.size, bool)
    if judged is not None and judged.pairs == "linked":
        counts = is_edge | reference.pairs.at("selected", (cols, rows))
    letters = np.where(is_edge, TRUE, FALSE)
    return "".join(np.where(counts, letters, NOT_JUDGED).tolist())


def _rounded(value: float) -> float | None:
    return None if value != value else float(f"{value:.{DIGITS}g}")
