"""The results of `grn-tvcs infer`: edges, graphs, scores, the report and the run record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from grn_tvcs.cli.options import InferOptions
from grn_tvcs.edge_count import EdgeCount
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.methods.steady_samples import unknowable
from grn_tvcs.network.edge_files import Reference
from grn_tvcs.network.edge_table import write_edges
from grn_tvcs.network.export import write_graphml, write_sif
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules
from grn_tvcs.network.scores import NAMES, Scores, score
from grn_tvcs.report.report import render
from tvcs_core.command.options import command_line
from tvcs_core.command.results import Results

COUNTS = ("n_pairs", "n_edges", "n_selected", "n_found", "n_signs", "n_signs_right")


@dataclass(frozen=True)
class Inference:
    """A run and its result.

    Attributes
    ----------
    network, data, rules
        The network, its input, and the caps that it keeps.
    given
        The options of the command.
    reference
        True edges, if there are any.
    count
        How the number of edges was chosen, if it was.
    steady
        Knock-outs, knock-downs and wild type, if they were given.
    """

    network: Network
    data: Expression
    rules: Rules
    given: InferOptions
    reference: Reference | None
    count: EdgeCount | None
    steady: SteadyStates | None

    def write(self, out: Results) -> None:
        """Write every file, and add the result to ``run.json``."""
        network, given = self.network, self.given
        sources = [path.name for path in given.expression]  # "-" for standard input
        write_edges(network, out.folder / given.edges_file, top=given.top)
        write_graphml(network, out.folder / "network.graphml")
        write_sif(network, out.folder / "network.sif")
        if self.count is not None:
            out.table("edge_count.tsv", *self.count.table())
        scores = self.scores()
        if self.reference is not None:
            out.table("scores.tsv", *score_table(scores, self.reference))
        page = render(
            network,
            self.data,
            self.rules,
            method=given.method,
            source=", ".join(sources),
            command=command_line(
                ["grn-tvcs", "infer", *sources, "--out", "DIR"],
                given.recorded() | {"seed": given.seed},
            ),
            seed=given.seed,
            scores=scores[0] if scores else None,
            left_out=() if self.reference is None else self.reference.describe(),
            count=self.count,
            steady=self.steady,
            edges_file=given.edges_file,
            top=given.top,
            reference=None if self.reference is None else self.reference.network,
        )
        out.text("report.html", page)
        out.record |= self._facts(scores)

    def scores(self) -> list[Scores]:
        """Agreement with the reference: under the caps, at its size, and by the method's own cut.

        A method's own cut is included only if the method makes one.
        """
        if self.reference is None:
            return []
        true, network = self.reference.network, self.network
        found = [score(network, true, pairs=self.given.pairs, cut=cut) for cut in ("caps", "top-n")]
        if network.pairs.own is not None:
            found.append(score(network.select_by_method(), true, pairs=self.given.pairs, cut="own"))
        return found

    def _facts(self, scores: Sequence[Scores]) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "scale": {"used": self.data.scale, "guessed_from": self.data.guessed_from},
            "max_edges_used": self.rules.max_edges,
            "max_edges_chosen_by": self.rules.chosen_by or None,
            "selected": self.network.n_selected,
            "undirected": self.network.n_undirected,
            "constant_genes": list(self.data.constant_genes),
        }
        if self.data.n_steady:
            n_series = len(self.data.pieces())
            facts["samples"] = {
                "in_series": len(self.data.times), "series": n_series,
                "steady": self.data.n_steady,
            }  # fmt: skip
            facts["not_known"] = unknowable(self.data, self.given.method)
        if self.network.notes:
            facts["notes"] = list(self.network.notes)
        cells = self.data.cells
        if self.given.layout.bins is not None and cells is not None:
            facts["cells"] = {"number": float(cells.sum()), "samples": len(self.data.times)}
        if self.count is not None:
            facts["edge_count"] = asdict(self.count)
        if self.network.verdict is not None:
            facts["verdict"] = self.network.verdict.facts()
        if self.reference is not None:
            facts["scores"] = [
                {name: None if v != v else v for name, v in asdict(row).items()} for row in scores
            ]
            facts["left_out_of_reference"] = self.reference.left_out
        return facts | {"genes": list(self.network.genes)}


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
