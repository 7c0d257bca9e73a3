"""Graphs of networkx, for `Network.from_networkx` and `Network.to_networkx`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from grn_tvcs.network.edge import CHANCES, SIGN_OF
from grn_tvcs.network.evidence import CODES
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.programs.facts import edges_with_facts, node_facts
from tvcs_core.arguments import array_of, check_choice, check_number, describe_value


def pairs_of_graph(graph: Any) -> tuple[list[str], Pairs]:
    """Return the names of the nodes of a `networkx.DiGraph`, and its edges."""
    if not hasattr(graph, "is_directed"):
        raise TypeError(f"graph must be a networkx.DiGraph, found {describe_value(graph)}")
    if not graph.is_directed() or graph.is_multigraph():
        raise ValueError(f"graph must be a networkx.DiGraph, found {type(graph).__name__}")
    place = {node: i for i, node in enumerate(graph)}
    links = list(graph.edges(data=True))
    known: dict[str, list[Any]] = {"scores": [], "signs": [], "evidence": []}
    numbers = [_numbers(f"of the edge {a} -> {b}", facts) for a, b, facts in links]
    positive = "+" if any(weight < 0 for weight, _ in numbers) else "?"
    for (regulator, target, facts), (weight, score) in zip(links, numbers, strict=True):
        sign = facts.get("sign", "-" if weight < 0 else positive)
        check_choice(f"sign of the edge {regulator} -> {target}", sign, SIGN_OF)
        known["scores"].append(score)
        known["signs"].append(SIGN_OF[sign])
        known["evidence"].append(CODES.get(str(facts.get("evidence")), 0))
    if not any(known["evidence"]):
        del known["evidence"]
    if any(facts.get("undirected") for _, _, facts in links):
        known["undirected"] = [bool(facts.get("undirected")) for _, _, facts in links]
    if links and all(name in facts for _, _, facts in links for name in CHANCES):
        known |= {
            name: array_of(name, [facts[name] for _, _, facts in links], np.float64).tolist()
            for name in CHANCES
        }
    regulators, targets = ([place[link[end]] for link in links] for end in (0, 1))
    return list(map(str, place)), Pairs.listed((regulators, targets), known)


def _numbers(where: str, facts: dict[str, Any]) -> tuple[float, float]:
    """Weight and score of an edge."""
    weight = facts.get("weight", 1.0)
    check_number(f"weight {where}", weight)
    score = facts.get("score", abs(weight))
    check_number(f"score {where}", score)
    if not 0 <= score < math.inf:
        raise ValueError(f"score {where} must be finite and >= 0, found {score}")
    return weight, score


def graph_of(pairs: Pairs, genes: Sequence[str]) -> Any:
    """Make a `networkx.DiGraph` with the attributes of GraphML."""
    import networkx as nx

    graph, edges = nx.DiGraph(), edges_with_facts(pairs, genes)
    graph.add_nodes_from(node_facts(pairs, genes))
    graph.add_edges_from((edge.regulator, edge.target, facts) for edge, facts in edges)
    return graph
