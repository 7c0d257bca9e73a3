"""Networks for other programs: DREAM, arboreto, BEELINE, GraphML, SIF and Cytoscape JSON.

DREAM, arboreto and BEELINE take the whole ranking, the graphs only the selected edges. Tables of
decoupler and CellOracle, and Cytoscape's style, are in `grn_tvcs.network.programs`.
Names stay as they are, also those that a spreadsheet would take for a formula: these files are
read by programs, which match genes by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from grn_tvcs.expression.expression import repeated
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import EXTRA
from grn_tvcs.network.programs.cytoscape import write_style
from grn_tvcs.network.programs.facts import OF_EDGES, edges_with_facts, node_facts
from grn_tvcs.network.programs.frames import signed
from grn_tvcs.network.programs.tables import (
    write_celloracle,
    write_celloracle_base,
    write_decoupler,
    write_edge_table,
)
from tvcs_core.arguments import check_choice
from tvcs_core.files.display import joined
from tvcs_core.files.tables import write_table

OF_NODES = {"name": "string", "in_degree": "long", "out_degree": "long", "is_regulator": "boolean"}


def write_dream(network: Network, path: Path) -> None:
    """Write a submission to the DREAM challenge: regulator, target and score, without a header.

    Every edge with a score, the surest first, without signs. The challenge wants scores of at most
    1: if the largest is above it, all are divided by it.
    """
    edges = network.edges()
    largest = max([1.0, *(edge.score for edge in edges)])
    name = _names_in_one_cell(network.genes)
    _write_lines(
        path, (f"{name[e.regulator]}\t{name[e.target]}\t{e.score / largest!r}" for e in edges)
    )


def write_arboreto(network: Network, path: Path) -> None:
    """Write adjacencies of arboreto and pySCENIC: ``TF``, ``target``, ``importance``.

    Every edge with a score, the surest first; commas in a file called ``.csv``, else tabs. A
    column ``sign`` follows, which these programs leave alone.
    """
    rows = [(e.regulator, e.target, repr(e.score), e.sign) for e in network.edges()]
    delimiter = "," if path.suffix == ".csv" else "\t"
    write_table(path, ("TF", "target", "importance", "sign"), rows, delimiter)


def write_beeline(network: Network, path: Path) -> None:
    """Write the ``rankedEdges.csv`` of BEELINE: ``Gene1``, ``Gene2``, ``EdgeWeight``, and tabs.

    Every edge with a score, the surest first. A weight below 0 represses: BEELINE ranks by its
    absolute value. A column ``sign`` parts activation from a sign that is not known.
    """
    rows = [(e.regulator, e.target, repr(signed(e)), e.sign) for e in network.edges()]
    write_table(path, ("Gene1", "Gene2", "EdgeWeight", "sign"), rows)


def write_sif(network: Network, path: str | Path) -> None:
    """Write the selected edges for Cytoscape; genes without an edge stand alone on a line.

    The relation is ``activates``, ``represses`` or ``regulates``, and ``associated-with`` where the
    direction is not known; such a pair is one line.
    """
    edges = network.edges(selected_only=True)
    linked = {edge.regulator for edge in edges} | {edge.target for edge in edges}
    name = _names_in_one_cell(network.genes)
    lines = [f"{name[e.regulator]}\t{e.relation}\t{name[e.target]}" for e in edges]
    lines += [name[gene] for gene in network.genes if gene not in linked]
    _write_lines(path, lines)


def write_graphml(network: Network, path: str | Path) -> None:
    """Write all genes and the selected edges as GraphML.

    Genes have name, in_degree, out_degree and is_regulator, counted over the selected edges. Edges
    have score, sign, rank and interaction; and, if known, stability, own, evidence, confidence,
    false_discovery and undirected. A file of mixed edges is read by few programs, so undirected
    ones have a source and a target too.
    """
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *(_key("node", name, kind) for name, kind in OF_NODES.items()),
        *(_key("edge", name, kind) for name, kind in OF_EDGES.items()),
    ]
    known = {name: _kind(name) for name in EXTRA if getattr(network.pairs, name) is not None}
    lines += [_key("edge", name, kind) for name, kind in known.items()]
    lines.append('<graph edgedefault="directed">')
    for gene, facts in node_facts(network.pairs, network.genes):
        name = _printable(gene)
        data = _data({"name": name} | facts)
        lines.append(f"<node id={quoteattr(name)}>{data}</node>")
    for e, facts in edges_with_facts(network.pairs, network.genes):
        source, target = (quoteattr(_printable(name)) for name in (e.regulator, e.target))
        ends = f"source={source} target={target}"
        lines.append(f"<edge {ends}>{_data(facts)}</edge>")
    _write_lines(path, [*lines, "</graph>", "</graphml>"])


def _kind(name: str) -> str:
    return {"own": "boolean", "undirected": "boolean", "evidence": "string"}.get(name, "double")


def _key(part: str, name: str, kind: str) -> str:
    place = name if part == "edge" else f"node_{name}"
    return f'<key id="{place}" for="{part}" attr.name="{name}" attr.type="{kind}"/>'


def _data(facts: dict[str, Any]) -> str:
    at_node = "node_" if "in_degree" in facts else ""
    return "".join(
        f'<data key="{at_node}{name}">{escape(_as_text(value))}</data>'
        for name, value in facts.items()
    )


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def write_cyjs(network: Network, path: Path) -> None:
    """Write all genes and the selected edges as Cytoscape JSON, with the attributes of GraphML."""
    import networkx as nx

    graph = nx.cytoscape_data(network.to_networkx())
    graph["data"] = {"name": "gene regulatory network"}
    graph["elements"]["edges"] = [  # the surest first, as in all formats; networkx goes by node
        {"data": facts | {"source": edge.regulator, "target": edge.target}}
        for edge, facts in edges_with_facts(network.pairs, network.genes)
    ]
    path.write_text(json.dumps(graph, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


FORMATS: dict[str, Callable[[Network, Path], None]] = {
    "dream": write_dream,
    "arboreto": write_arboreto,
    "beeline": write_beeline,
    "graphml": write_graphml,
    "sif": write_sif,
    "cyjs": write_cyjs,
    "edge-table": write_edge_table,
    "cytoscape-style": write_style,
    "decoupler": write_decoupler,
    "celloracle": write_celloracle,
    "celloracle-base": write_celloracle_base,
}


# What a format has no place for.
LEFT_OUT = {
    "dream": "signs", "sif": "scores (edge-table has them)", "celloracle-base": "scores and signs",
}  # fmt: skip
RANKINGS = ("dream", "arboreto", "beeline")  # formats of all edges, not the selected ones
ONE_WAY = ("decoupler", "celloracle", "celloracle-base")  # formats in which every edge is directed


def write_network(network: Network, path: str | Path, format: str) -> None:
    """Write `network` in the format of another program, a name in `FORMATS`.

    Raises
    ------
    ValueError
        If there is no such format, or it cannot hold the names of the genes.
    """
    check_choice("format", format, FORMATS)
    FORMATS[format](network, Path(path))


def _write_lines(path: str | Path, lines: Iterable[str]) -> None:
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _names_in_one_cell(genes: Sequence[str]) -> dict[str, str]:
    """Names for files without quotes: tabs and line ends become spaces, and all stay different."""
    names = [" ".join(gene.split()) for gene in genes]
    if twice := repeated(names):
        raise ValueError(
            "this format has no quotes, and without tabs and line ends some genes have the same "
            f"name: {joined(twice)}"
        )
    return dict(zip(genes, names, strict=True))


def _printable(name: str) -> str:
    """XML cannot hold control characters, not even escaped."""
    return "".join(c if c >= " " or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in name)
