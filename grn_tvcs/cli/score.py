"""The command `grn-tvcs score`: agreement of a network with a reference."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grn_tvcs.cli.options import EdgesFile, GenesFile, Pairs, all_genes
from tvcs_core.arguments import Help, check_choice
from tvcs_core.command.options import with_options
from tvcs_core.command.results import print_json
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.files.display import joined, plural
from tvcs_core.files.errors import DataError

if TYPE_CHECKING:
    from grn_tvcs.network.scores import Scores


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """The options of ``grn-tvcs score``."""

    edges: EdgesFile
    reference: Annotated[
        Path,
        typer.Argument(
            metavar="REFERENCE",
            help="True edges: regulator, target and perhaps one of + - ? 1 0; 0 is no edge.",
        ),
    ]
    genes: GenesFile = None
    pairs: Pairs = "all"
    cut: Annotated[
        str,
        Help(
            "Edges judged: caps (column selected of EDGES), top-n (as many as in REFERENCE) "
            "or own (column own of EDGES, what TIGRESS and ARACNE select themselves; all of EDGES "
            "without one)."
        ),
    ] = "caps"
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False


@guarded
@with_options
def score(given: ScoreOptions) -> None:
    """Compare a network with a reference over ordered pairs of distinct genes.

    SN, SP, ACC, F (harmonic mean of SN and SP), MCC and AUC judge the edges of the cut; AUROC and
    AUPR (average precision) judge the ranking, EP (early precision) its first pairs.
    """
    from grn_tvcs.network.edge_files import read_identifiers, read_network, read_reference
    from grn_tvcs.network.scores import CUTS, NAMES, PAIRS
    from grn_tvcs.network.scores import score as score_network

    check_choice("pairs", given.pairs, PAIRS)
    check_choice("cut", given.cut, CUTS)
    names = all_genes(given.edges, given.genes) or _named(given.edges, given.reference)
    network = read_network(given.edges, names)
    if given.cut == "own":
        network = network.select_by_method()
    identifiers = read_identifiers(given.edges.with_name("run.json"))
    reference = read_reference(given.reference, names, identifiers)
    found = score_network(network, reference, pairs=given.pairs, cut=given.cut)
    if given.as_json:
        print_json({NAMES.get(name, name): value for name, value in found.facts().items()})
    else:
        print(_as_table(found))


def _named(edges: Path, reference: Path) -> list[str]:
    """Return all genes of either file, and print their number, because all their pairs count.

    Raises
    ------
    DataError
        If no gene is in both: then one of them has other names, and every edge would be wrong.
    """
    from grn_tvcs.network.edge_files import names_in_edges, names_in_reference

    there = names_in_edges(edges)
    true = names_in_reference(reference, there)
    if there and true and not set(there) & set(true):
        raise DataError(
            f"must name genes of EDGES, found none: it names {joined(true)}, and EDGES "
            f"{joined(there)}; write the genes of both files as in one database",
            path=reference,
        )
    names = sorted({*there, *true})
    shared = len(there) + len(true) - len(names)
    in_both = "" if shared == len(names) else f" ({shared} of them in both)"
    print_message(
        f"warning: no list of genes, so all pairs of the {len(names)} genes in EDGES and REFERENCE "
        f"count{in_both}; give --genes FILE if more were measured"
    )
    return names


def _as_table(scores: Scores) -> str:
    from grn_tvcs.network.scores import NAMES

    lines = [f"{label:<6}{getattr(scores, name):>8.4f}" for name, label in NAMES.items()]
    lines += [
        "",
        f"cut {scores.cut}: {plural(scores.n_selected, 'edge')}, {scores.n_found} of them true; "
        f"true edges {scores.n_edges} of {scores.n_pairs} pairs ({scores.pairs})",
        f"AUPR and EP of a random ranking {scores.aupr_by_chance:.4f}, AUROC 0.5",
        "F is the harmonic mean of SN and SP, as in the paper; F1 is that of precision and SN",
    ]
    if scores.n_signs:
        lines.append(
            f"signs right {scores.n_signs_right} of {scores.n_signs} that are known in both"
        )
    return "\n".join(lines)
