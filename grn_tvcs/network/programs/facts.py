"""Attributes of the selected edges and of their genes, for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grn_tvcs.network.edge import Edge
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import EXTRA
from grn_tvcs.network.ranking import columns_of, edges_of, ranked_selected

OF_EDGES = {"score": "double", "sign": "string", "rank": "long", "interaction": "string"}  # of all


def edges_with_facts(network: Network) -> Iterator[tuple[Edge, dict[str, Any]]]:
    """Yield each selected edge, the surest first, with its facts as columns.

    They are score, sign, rank and interaction; and where known stability, whether the method
    selects it itself, evidence, confidence, false discovery, and whether it is undirected.
    """
    some = ranked_selected(network.pairs, network.genes)
    columns = columns_of(network.pairs, network.genes, some)
    extra = {name: columns[name] for name in EXTRA if name in columns}
    edges = edges_of(network.pairs, network.genes, some)
    for edge, *values in zip(edges, *extra.values(), strict=True):
        own = zip(OF_EDGES, (edge.score, edge.sign, edge.rank, edge.relation), strict=True)
        known = zip(extra, values, strict=True)
        yield edge, dict(own) | {name: v for name, v in known if v == v and v != ""}


def node_facts(network: Network) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each gene with its selected regulators and targets, counted."""
    degrees = zip(network.in_degrees.tolist(), network.out_degrees.tolist(), strict=True)
    for gene, (ins, outs) in zip(network.genes, degrees, strict=True):
        yield gene, {"in_degree": ins, "out_degree": outs, "is_regulator": outs > 0}
