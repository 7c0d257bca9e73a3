"""The command `grn-tvcs convert`: a network for another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grn_tvcs.cli.options import EdgesFile, GenesFile, file_of_genes
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.files.display import plural


@guarded
def convert(
    edges: EdgesFile,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="dream, arboreto, beeline, graphml, sif, cyjs, edge-table (attributes of a SIF "
            "file for Cytoscape), cytoscape-style (its colours and arrows), decoupler, celloracle "
            "(links) or celloracle-base (a base GRN).",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")],
    genes: GenesFile = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
) -> None:
    """Write EDGES for another program.

    dream, arboreto and beeline get every edge with a score, all others the selected ones.
    """
    import numpy as np

    from grn_tvcs.network.edge_files import read_genes, read_network
    from grn_tvcs.network.export import LEFT_OUT, ONE_WAY, RANKINGS, write_network
    from tvcs_core import DataError
    from tvcs_core.files.folders import write_whole

    if out.exists() and not force:
        raise DataError("is there already; give --force to replace it", path=out)
    if out.resolve() == edges.resolve():
        raise DataError("must be another file than EDGES", path=out)
    listed = file_of_genes(edges, genes)
    network = read_network(edges, None if listed is None else read_genes(listed))
    write_whole(out, lambda path: write_network(network, path, to))
    named = " that EDGES names" if listed is None else ""
    n_edges = int(np.count_nonzero(network.pairs.scores > 0))
    n_edges = n_edges if to in RANKINGS else network.n_selected
    edges_of = f"{plural(n_edges, 'edge')} among {plural(len(network.genes), 'gene')}{named}"
    what = "the style" if to == "cytoscape-style" else edges_of
    print_message(f"{what} written to {out}")
    if to in LEFT_OUT:
        print_message(f"{to} has no place for {LEFT_OUT[to]}")
    undirected = [edge for edge in network.edges(selected_only=True) if edge.undirected]
    if to in ONE_WAY and undirected:
        print_message(
            f"of {plural(len(undirected), 'edge')} the direction is not known: {to} has it one way"
        )
