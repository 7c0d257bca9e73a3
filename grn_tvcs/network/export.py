"""Networks for other programs: DREAM, arboreto, BEELINE, GraphML, SIF and Cytoscape JSON.

DREAM, arboreto and BEELINE take the whole ranking, the graphs only the selected edges.
Names stay as they are, also those that a spreadsheet would take for a formula: these files are
read by programs, which match genes by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from grn_tvcs.expression.expression import repeated
from grn_tvcs.network.network import CHANCES, Network
from tvcs_core.files.shown import listed
from tvcs_core.files.tables import write_table

RELATION = {"+": "activates", "-": "represses", "?": "regulates"}


def write_dream(network: Network, path: Path) -> None:
    """Write a submission to the DREAM challenge: regulator, target and score, without a header.

    Every edge with a score, the surest first. The challenge wants scores of at most 1: if the
    largest is above it, all are divided by it.
    """
    edges = network.edges()
    largest = max([1.0, *(edge.score for edge in edges)])
    name = _names_in_one_cell(network.genes)
    _write_lines(
        path, (f"{name[e.regulator]}\t{name[e.target]}\t{e.score / largest!r}" for e in edges)
    )


def write_arboreto(network: Network, path: Path) -> None:
    """Write what arboreto and pySCENIC call adjacencies: ``TF``, ``target``, ``importance``.

    Every edge with a score, the surest first; commas in a file called ``.csv``, else tabs.
    """
    rows = [(e.regulator, e.target, repr(e.score)) for e in network.edges()]
    delimiter = "," if path.suffix == ".csv" else "\t"
    write_table(path, ("TF", "target", "importance"), rows, delimiter)


def write_beeline(network: Network, path: Path) -> None:
    """Write the ``rankedEdges.csv`` of BEELINE: ``Gene1``, ``Gene2``, ``EdgeWeight``, and tabs.

    Every edge with a score, the surest first. A weight below 0 represses: BEELINE ranks by its
    absolute value.
    """
    rows = [
        (e.regulator, e.target, repr(-e.score if e.sign == "-" else e.score))
        for e in network.edges()
    ]
    write_table(path, ("Gene1", "Gene2", "EdgeWeight"), rows)


def write_sif(network: Network, path: Path) -> None:
    """Write the selected edges for Cytoscape; genes without an edge stand alone on a line.

    The relation is ``activates``, ``represses`` or ``regulates``.
    """
    edges = network.edges(selected_only=True)
    linked = {edge.regulator for edge in edges} | {edge.target for edge in edges}
    name = _names_in_one_cell(network.genes)
    lines = [f"{name[e.regulator]}\t{RELATION[e.sign]}\t{name[e.target]}" for e in edges]
    lines += [name[gene] for gene in network.genes if gene not in linked]
    _write_lines(path, lines)


def write_graphml(network: Network, path: Path) -> None:
    """Write all genes and the selected edges as GraphML.

    Edges have score, sign and rank, and what of evidence, confidence and false_discovery is known.
    """
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '<key id="score" for="edge" attr.name="score" attr.type="double"/>',
        '<key id="sign" for="edge" attr.name="sign" attr.type="string"/>',
        '<key id="rank" for="edge" attr.name="rank" attr.type="long"/>',
        '<graph edgedefault="directed">',
    ]
    if network.pairs.evidence is not None:
        lines.insert(-1, '<key id="evidence" for="edge" attr.name="evidence" attr.type="string"/>')
    for name in CHANCES:
        if getattr(network.pairs, name) is not None:
            lines.insert(-1, f'<key id="{name}" for="edge" attr.name="{name}" attr.type="double"/>')
    lines += [f"<node id={quoteattr(_printable(gene))}/>" for gene in network.genes]
    lines += [
        f"<edge source={quoteattr(_printable(e.regulator))} "
        f"target={quoteattr(_printable(e.target))}>"
        f'<data key="score">{e.score!r}</data><data key="sign">{escape(e.sign)}</data>'
        f'<data key="rank">{e.rank}</data>'
        + "".join(f'<data key="{name}">{value}</data>' for name, value in e.known.items())
        + "</edge>"
        for e in network.edges(selected_only=True)
    ]
    _write_lines(path, [*lines, "</graph>", "</graphml>"])


def write_cyjs(network: Network, path: Path) -> None:
    """Write all genes and the selected edges as Cytoscape JSON.

    Edges have score, sign, rank and relation, and what of evidence, confidence and
    false_discovery is known.
    """
    nodes = [{"data": {"id": gene, "value": gene, "name": gene}} for gene in network.genes]
    edges = [
        {
            "data": {
                "source": e.regulator,
                "target": e.target,
                "interaction": RELATION[e.sign],
                "score": e.score,
                "sign": e.sign,
                "rank": e.rank,
                **e.known,
            }
        }
        for e in network.edges(selected_only=True)
    ]
    graph = {
        "data": {"name": "gene regulatory network"},
        "directed": True,
        "multigraph": False,
        "elements": {"nodes": nodes, "edges": edges},
    }
    path.write_text(json.dumps(graph, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


FORMATS: dict[str, Callable[[Network, Path], None]] = {
    "dream": write_dream,
    "arboreto": write_arboreto,
    "beeline": write_beeline,
    "graphml": write_graphml,
    "sif": write_sif,
    "cyjs": write_cyjs,
}


def write_network(network: Network, path: str | Path, format: str) -> None:
    """Write `network` in the format of another program, a name in `FORMATS`.

    Raises
    ------
    ValueError
        If there is no such format, or it cannot hold the names of the genes.
    """
    if format not in FORMATS:
        raise ValueError(f"the format must be one of {', '.join(FORMATS)}, found {format!r}")
    FORMATS[format](network, Path(path))


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _names_in_one_cell(genes: Sequence[str]) -> dict[str, str]:
    """Names for files without quotes: tabs and line ends become spaces, and all stay different."""
    names = [" ".join(gene.split()) for gene in genes]
    if twice := repeated(names):
        raise ValueError(
            "this format has no quotes, and without tabs and line ends some genes have the same "
            f"name: {listed(twice)}"
        )
    return dict(zip(genes, names, strict=True))


def _printable(name: str) -> str:
    """XML cannot hold control characters, not even escaped."""
    return "".join(c if c >= " " or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in name)
