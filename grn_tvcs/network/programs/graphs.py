"""Networks and graphs of networkx; as `Network.from_networkx` and `Network.to_networkx` say."""

from __future__ import annotations

from typing import Any

import numpy as np

from grn_tvcs.network.evidence import CODES
from grn_tvcs.network.network import CHANCES, SIGNS, Network


def of_graph(graph: Any) -> Network:
    """Make a network of a `networkx.DiGraph`."""
    if not graph.is_directed() or graph.is_multigraph():
        raise ValueError(f"graph must be a networkx.DiGraph, found {type(graph).__name__}")
    place = {node: i for i, node in enumerate(graph)}
    scores = np.zeros((len(place), len(place)))
    signs = np.zeros(scores.shape, dtype=np.int8)
    evidence = np.zeros(scores.shape, dtype=np.uint8)
    sign_of = {text: sign for sign, text in SIGNS.items()}
    for regulator, target, facts in graph.edges(data=True):
        pair = place[regulator], place[target]
        weight = facts.get("weight", 1.0)
        scores[pair] = facts.get("score", abs(weight))
        signs[pair] = sign_of.get(facts.get("sign"), -1 if weight < 0 else 0)
        evidence[pair] = CODES.get(str(facts.get("evidence")), 0)
    known: dict[str, Any] = {"evidence": evidence} if evidence.any() else {}
    links = list(graph.edges(data=True))
    if links and all(name in facts for _, _, facts in links for name in CHANCES):
        for name, nothing in zip(CHANCES, (0.0, 1.0), strict=True):
            known[name] = np.full(scores.shape, nothing)
            for regulator, target, facts in links:
                known[name][place[regulator], place[target]] = facts[name]
    return Network(tuple(map(str, place)), scores, signs, **known)


def graph_of(network: Network) -> Any:
    """Make a `networkx.DiGraph` of a network."""
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(network.genes)
    for edge in network.edges(selected_only=True):
        facts = {"score": edge.score, "sign": edge.sign, "rank": edge.rank}
        graph.add_edge(edge.regulator, edge.target, **facts, **edge.known)
    return graph
