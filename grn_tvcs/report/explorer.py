"""What the scripts of a report know of genes and edges, as columns that name genes by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.network.evidence import NAMES
from grn_tvcs.network.network import Network
from grn_tvcs.network.ranking import SIGNS, Ranked, ranked_selected, ranked_top
from grn_tvcs.network.scores import Scores
from grn_tvcs.report.layout import Dot

MOST_TOLD = 20_000  # selected edges, the surest
MOST_BESIDE = 2_000  # among so many of the surest, those outside the caps are told too ...
MOST_PAIRS = 4_000_000  # ... where looking for them costs little
DIGITS = 6  # of chances as in edges.tsv; more than a picture needs of a score
NOT_JUDGED, TRUE, FALSE = "-", "t", "f"


def explorer(
    network: Network,
    dots: Sequence[Dot],
    reference: Network | None = None,
    judged: Scores | None = None,
) -> dict[str, Any]:
    """Names of all genes, places of those that are drawn first, and the edges of the list.

    Columns of edges hold one entry each, the surest edge first; columns of what is not known are
    not there. In `truth` an edge is true, false or not judged.
    """
    some = listed(network)
    pairs, at = network.pairs, (some.rows, some.cols)
    regulators, targets = pairs.regulators[some.rows], pairs.targets[some.cols]
    number = {gene: k for k, gene in enumerate(network.genes)}
    edges: dict[str, Any] = {
        "from": regulators.tolist(),
        "to": targets.tolist(),
        "sign": "".join(SIGNS[sign] for sign in pairs.signs[at].tolist()),
        "score": [float(f"{score:.{DIGITS}g}") for score in pairs.scores[at].tolist()],
        "rank": some.ranks.tolist(),
        "selected": "".join("01"[is_in] for is_in in pairs.selected[at].tolist()),
    }
    for name in ("stability", "confidence", "false_discovery"):
        if (known := getattr(pairs, name)) is not None:
            edges[name] = [_chance(part) for part in known[at].tolist()]
    if pairs.evidence is not None:
        edges["evidence"] = [NAMES[code] for code in pairs.evidence[at].tolist()]
    if reference is not None:
        edges["truth"] = truth(network, reference, judged, regulators, targets)
    return {
        "genes": list(network.genes),
        "places": [[number[dot.name], dot.x, dot.y] for dot in dots],
        "edges": edges,
        "all_selected": int(np.count_nonzero(pairs.selected)),
    }


def listed(network: Network) -> Ranked:
    """The edges of the list: the selected ones, and the surest others where pairs are few."""
    some = ranked_selected(network.pairs, network.genes)
    if some.rows.size > MOST_TOLD:
        return Ranked(*(part[:MOST_TOLD] for part in some))
    if network.pairs.scores.size <= MOST_PAIRS:
        return ranked_top(network.pairs, network.genes, MOST_BESIDE)
    return some


def truth(
    network: Network,
    reference: Network,
    judged: Scores | None,
    regulators: NDArray[np.int64],
    targets: NDArray[np.int64],
) -> str:
    """One letter for each pair: whether the reference has it, as far as it counts."""
    place = {gene: k for k, gene in enumerate(reference.genes)}
    at = np.array([place[gene] for gene in network.genes])
    rows, cols = at[regulators], at[targets]
    is_edge = reference.pairs.at("selected", (rows, cols))
    counts = np.ones(rows.size, bool)
    if judged is not None and judged.pairs == "linked":
        counts = is_edge | reference.pairs.at("selected", (cols, rows))
    letters = np.where(is_edge, TRUE, FALSE)
    return "".join(np.where(counts, letters, NOT_JUDGED).tolist())


def _chance(value: float) -> float | None:
    return None if value != value else float(f"{value:.{DIGITS}g}")
