"""Networks and graphs of networkx; as `Network.from_networkx` and `Network.to_networkx` say."""

from __future__ import annotations

from typing import Any

from grn_tvcs.network.evidence import CODES
from grn_tvcs.network.network import CHANCES, SIGNS, Network
from grn_tvcs.network.pairs import Pairs


def of_graph(graph: Any) -> Network:
    """Make a network of a `networkx.DiGraph`."""
    if not graph.is_directed() or graph.is_multigraph():
        raise ValueError(f"graph must be a networkx.DiGraph, found {type(graph).__name__}")
    place = {node: i for i, node in enumerate(graph)}
    sign_of = {text: sign for sign, text in SIGNS.items()}
    links = list(graph.edges(data=True))
    known: dict[str, list[Any]] = {"scores": [], "signs": [], "evidence": []}
    for _, _, facts in links:
        weight = facts.get("weight", 1.0)
        known["scores"].append(facts.get("score", abs(weight)))
        known["signs"].append(sign_of.get(facts.get("sign"), -1 if weight < 0 else 0))
        known["evidence"].append(CODES.get(str(facts.get("evidence")), 0))
    if not any(known["evidence"]):
        del known["evidence"]
    if links and all(name in facts for _, _, facts in links for name in CHANCES):
        known |= {name: [facts[name] for _, _, facts in links] for name in CHANCES}
    regulators, targets = ([place[link[end]] for link in links] for end in (0, 1))
    return Network.of_pairs(list(map(str, place)), Pairs.listed((regulators, targets), known))


def graph_of(network: Network) -> Any:
    """Make a `networkx.DiGraph` of a network."""
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(network.genes)
    for edge in network.edges(selected_only=True):
        facts = {"score": edge.score, "sign": edge.sign, "rank": edge.rank}
        graph.add_edge(edge.regulator, edge.target, **facts, **edge.known)
    return graph
