"""The command `grn-tvcs convert`: a network for another program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from grn_tvcs.cli.options import EdgesFile, GenesFile, all_genes
from tvcs_core.arguments import Help, check_choice
from tvcs_core.command.options import with_options
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.files.display import plural


@dataclass(frozen=True, kw_only=True)
class ConvertOptions:
    """The options of ``grn-tvcs convert``."""

    edges: EdgesFile
    to: Annotated[
        str,
        Help(
            "dream, arboreto, beeline, graphml, sif, cyjs, edge-table (attributes of a SIF "
            "file for Cytoscape), cytoscape-style (its colours and arrows), decoupler, celloracle "
            "(links) or celloracle-base (a base GRN)."
        ),
    ]
    out: Annotated[Path, Help("The file to write.", "FILE")]
    genes: GenesFile = None
    force: Annotated[bool, Help("Replace FILE if it is there.")] = False


@guarded
@with_options
def convert(given: ConvertOptions) -> None:
    """Write EDGES for another program.

    dream, arboreto and beeline get every edge with a score, all others the selected ones.
    """
    from grn_tvcs.network.edge_files import read_network
    from grn_tvcs.network.export import FORMATS, LEFT_OUT, ONE_WAY, RANKINGS, write_network
    from tvcs_core import DataError
    from tvcs_core.files.folders import write_whole

    to, out = given.to, given.out
    check_choice("to", to, FORMATS)
    if out.exists() and not given.force:
        raise DataError("is there already; give --force to replace it", path=out)
    if out.resolve() == given.edges.resolve():
        raise DataError("must be another file than EDGES", path=out)
    genes = all_genes(given.edges, given.genes)
    network = read_network(given.edges, genes)
    write_whole(out, lambda path: write_network(network, path, to))
    named = " that EDGES names" if genes is None else ""
    n_edges = network.pairs.n_scored if to in RANKINGS else network.n_selected
    edges_of = f"{plural(n_edges, 'edge')} among {plural(len(network.genes), 'gene')}{named}"
    what = "the style" if to == "cytoscape-style" else edges_of
    print_message(f"{what} written to {out}")
    if to in LEFT_OUT:
        print_message(f"{to} has no place for {LEFT_OUT[to]}")
    if to in ONE_WAY and network.n_undirected:
        n_undirected = plural(network.n_undirected, "edge")
        print_message(f"of {n_undirected} the direction is not known: {to} has it one way")
