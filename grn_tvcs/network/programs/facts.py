"""Attributes of the selected edges and of their genes, for other programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grn_tvcs.network.edge import Edge
from grn_tvcs.network.pairs import EXTRA, Pairs, degrees
from grn_tvcs.network.ranking import columns_of, edges_of, ranked_selected

OF_EDGES = {"score": "double", "sign": "string", "rank": "long", "interaction": "string"}  # of all


def edges_with_facts(pairs: Pairs, genes: Sequence[str]) -> Iterator[tuple[Edge, dict[str, Any]]]:
    """Yield each selected edge, the surest first, with its facts as columns.

    They are score, sign, rank and interaction; and where known stability, whether the method
    selects it itself, evidence, confidence, false discovery, and whether it is undirected.
    """
    some = ranked_selected(pairs, genes)
    columns = columns_of(pairs, genes, some)
    extra = {name: columns[name] for name in EXTRA if name in columns}
    edges = edges_of(pairs, genes, some)
    for edge, *values in zip(edges, *extra.values(), strict=True):
        own = zip(OF_EDGES, (edge.score, edge.sign, edge.rank, edge.relation), strict=True)
        known = zip(extra, values, strict=True)
        yield edge, dict(own) | {name: v for name, v in known if v == v and v != ""}


def node_facts(pairs: Pairs, genes: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each gene with its selected regulators and targets, counted."""
    in_degrees, out_degrees = degrees(pairs, len(genes))
    for gene, ins, outs in zip(genes, in_degrees.tolist(), out_degrees.tolist(), strict=True):
        yield gene, {"in_degree": ins, "out_degree": outs, "is_regulator": outs > 0}
