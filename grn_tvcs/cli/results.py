"""The results of `grn-tvcs infer`: edges, graphs, scores, the report and the run record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grn_tvcs.cli.work import Inference
from grn_tvcs.inference.samples import unknowable
from grn_tvcs.network.edge_files import Reference
from grn_tvcs.network.edge_table import write_edges
from grn_tvcs.network.export import write_graphml, write_sif
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules
from grn_tvcs.network.scores import NAMES, Scores, score
from grn_tvcs.report.report import render
from tvcs_core.command.options import command_line, recorded
from tvcs_core.command.results import Results

COUNTS = ("n_pairs", "n_edges", "n_selected", "n_found", "n_signs", "n_signs_right")


def write_results(work: Inference, network: Network, out: Results) -> None:
    """Write every file of a run, and add its result to ``run.json``."""
    given, reference = work.given, work.reference
    sources = [path.name for path in given.expression]  # "-" for standard input
    write_edges(network, out.folder / given.edges_file, top=given.top)
    write_graphml(network, out.folder / "network.graphml")
    write_sif(network, out.folder / "network.sif")
    scores = _scores(work, network)
    if reference is not None:
        out.table("scores.tsv", *score_table(scores, reference))
    assert network.provenance is not None  # `infer` made it
    page = render(
        network,
        network.provenance,
        source=", ".join(sources),
        command=command_line(
            ["grn-tvcs", "infer", *sources, "--out", "DIR"],
            recorded(given) | {"seed": given.seed},
        ),
        scores=scores[0] if scores else None,
        left_out=() if reference is None else reference.remarks,
        edges_file=given.edges_file,
        top=given.top,
        reference=None if reference is None else reference.network,
    )
    out.text("report.html", page)
    out.record |= _facts(work, network, network.provenance.rules, scores)


def _scores(work: Inference, network: Network) -> list[Scores]:
    """Return the agreement under the caps, at the reference's size, and by the method's cut."""
    if work.reference is None:
        return []
    true, pairs = work.reference.network, work.given.pairs
    found = [score(network, true, pairs=pairs, cut=cut) for cut in ("caps", "top-n")]
    if network.pairs.own is not None:
        found.append(score(network.select_by_method(), true, pairs=pairs, cut="own"))
    return found


def _facts(
    work: Inference, network: Network, rules: Rules, scores: Sequence[Scores]
) -> dict[str, Any]:
    """Return the result for ``run.json``."""
    data, given, reference = work.data, work.given, work.reference
    facts: dict[str, Any] = {
        "scale": {"used": data.scale, "guessed_from": data.guessed_from},
        "max_edges_used": rules.max_edges,
        "max_edges_chosen_by": rules.chosen_by or None,
        "selected": network.n_selected,
        "undirected": network.n_undirected,
        "constant_genes": list(data.constant_genes),
    }
    if data.n_steady:
        facts["samples"] = {
            "in_series": len(data.times), "series": data.n_series, "steady": data.n_steady,
        }  # fmt: skip
        facts["not_known"] = unknowable(data, given.method)
    if network.notes:
        facts["notes"] = list(network.notes)
    if data.identifiers.pairs:
        columns, names = data.identifiers
        facts["identifiers"] = {"columns": list(columns), "pairs": sorted(map(list, names))}
    if given.layout.bins is not None and data.cells is not None:
        facts["cells"] = {"number": float(data.cells.sum()), "samples": len(data.times)}
    if network.verdict is not None:
        facts["verdict"] = network.verdict.facts()
    if reference is not None:
        facts["scores"] = [row.facts() for row in scores]
        facts["left_out_of_reference"] = reference.left_out
    return facts | {"genes": list(network.genes)}


def score_table(
    scores: Sequence[Scores], reference: Reference
) -> tuple[list[str], list[list[object]]]:
    """Return header and rows of ``scores.tsv``: a row for each cut, with the edges left out."""
    header = ["pairs", "cut", *NAMES.values(), "AUPR_by_chance", *COUNTS]
    header += [f"left_out_{kind}" for kind in reference.left_out]
    counts = [len(names) for names in reference.left_out.values()]
    return header, [
        [
            row.pairs,
            row.cut,
            *(f"{getattr(row, name):.6g}" for name in (*NAMES, "aupr_by_chance")),
            *(getattr(row, name) for name in COUNTS),
            *counts,
        ]
        for row in scores
    ]
