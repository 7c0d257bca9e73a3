"""The selected edges as tables of decoupler, CellOracle and Cytoscape.

decoupler wants ``source``, ``target`` and a signed ``weight`` with each pair once. CellOracle's
links have a signed ``coef_mean``, its size ``coef_abs``, and p-values, which a score is not: those
cells stay empty. Both count a sign that is not known as activation, so a column ``sign`` stands
beside. CellOracle's base GRN holds 1 where a regulator may act on a gene, without signs. CellOracle
imports it by ``import_TF_data(TF_info_matrix=...)``.
"""

from __future__ import annotations

from pathlib import Path

from grn_tvcs.network.network import Network
from grn_tvcs.network.programs.facts import OF_EDGES, edges_with_facts
from grn_tvcs.network.programs.refused import BASE
from tvcs_core.files.tables import write_table


def write_decoupler(network: Network, path: Path) -> None:
    """Write a net of decoupler: ``source``, ``target``, ``weight``, ``sign``, with commas.

    The weight is the score, below 0 where the edge represses. decoupler takes an unknown sign for
    activation; a column of our own, which it does not read, marks these.
    """
    network.to_decoupler().to_csv(path, index=False, lineterminator="\n")


def write_celloracle(network: Network, path: Path) -> None:
    """Write links of CellOracle with commas: ``coef_mean`` is signed, p-values are empty."""
    network.to_celloracle().to_csv(path, index=False, lineterminator="\n")


def write_celloracle_base(network: Network, path: Path) -> None:
    """Write a base GRN of CellOracle with commas: a row per target, 0 and 1 for each regulator.

    There are no peaks, so ``peak_id`` repeats the name of the gene.
    """
    edges = network.edges(selected_only=True)
    sources: dict[str, set[str]] = {}
    for edge in edges:
        sources.setdefault(edge.target, set()).add(edge.regulator)
    regulators = sorted({edge.regulator for edge in edges})
    rows = [
        (gene, gene, *(int(name in sources[gene]) for name in regulators))
        for gene in network.genes
        if gene in sources
    ]
    write_table(path, (*BASE, *regulators), rows, ",")


def write_edge_table(network: Network, path: Path) -> None:
    """Write the attributes of the edges of a SIF file for Cytoscape, with tabs.

    The key, ``shared name``, is Cytoscape's name of an edge of a SIF file: source, relation in
    brackets and target. File > Import > Table from File, as edge table columns.
    """
    found = list(edges_with_facts(network.pairs, network.genes))
    columns = list(dict.fromkeys([*OF_EDGES, *(name for _, facts in found for name in facts)]))
    rows = []
    for e, facts in found:
        source, target = (" ".join(name.split()) for name in (e.regulator, e.target))
        known = (facts.get(name, "") for name in columns)
        rows.append((f"{source} ({e.relation}) {target}", source, target, *known))
    write_table(path, ("shared name", "source", "target", *columns), rows)
