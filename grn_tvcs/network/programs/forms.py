"""A network in the forms that other programs take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grn_tvcs.network.edge import HEADER, Edge
from grn_tvcs.network.pairs import Pairs, counted_scores
from grn_tvcs.network.ranking import edges_of, extra_columns, ranked, ranked_selected

if TYPE_CHECKING:
    import pandas as pd

    from grn_tvcs.network.provenance import Provenance
    from grn_tvcs.network.verdict import Verdict


class Forms:
    """The edges of a `Network` as a list, and in the forms of other programs."""

    genes: tuple[str, ...]
    pairs: Pairs
    verdict: Verdict | None
    notes: tuple[str, ...]
    provenance: Provenance | None

    def edges(self, *, selected_only: bool = False) -> list[Edge]:
        """All edges with a score above 0, the surest first, equal ones by name."""
        of = ranked_selected if selected_only else ranked
        return edges_of(self.pairs, self.genes, of(self.pairs, self.genes))

    @property
    def n_scored(self) -> int:
        """Edges with a score above 0; an undirected pair is one."""
        return int(np.count_nonzero(counted_scores(self.pairs, self.genes)))

    def to_frame(self, *, selected_only: bool = False) -> pd.DataFrame:
        """All edges as a table with the columns of ``edges.tsv``, or the selected ones."""
        import pandas as pd

        some = (ranked_selected if selected_only else ranked)(self.pairs, self.genes)
        edges = edges_of(self.pairs, self.genes, some)
        frame = pd.DataFrame([vars(edge) for edge in edges], columns=list(HEADER))
        return frame.assign(**extra_columns(self.pairs, some))

    def to_decoupler(self) -> pd.DataFrame:
        """The selected edges as a net of decoupler: source, target and signed weight."""
        from grn_tvcs.network.programs.frames import decoupler_frame

        return decoupler_frame(self.edges(selected_only=True))

    def to_celloracle(self) -> pd.DataFrame:
        """The selected edges as links of CellOracle; there are no p-values."""
        from grn_tvcs.network.programs.frames import celloracle_frame

        return celloracle_frame(self.edges(selected_only=True))

    def to_anndata(self, data: Any, key: str = "tvcs", gene_column: str | None = None) -> Any:
        """Keep the network in ``data.uns[key]`` and ``data.varp``, and return `data`, an AnnData.

        In ``uns`` there are ``edges``, the selected ones as in `to_frame`, ``genes``, ``notes``
        and, where known, ``method``, ``seed`` and ``verdict``. Where ``var`` names every gene, by
        its index or by `gene_column`, sparse matrices over ``var``, [regulator, target], hold the
        same edges: ``varp["tvcs_scores"]``, ``varp["tvcs_signs"]`` and, where known,
        ``varp["tvcs_confidence"]``. `from_anndata` reads the network back.
        """
        from grn_tvcs.network.programs.anndata import keep

        facts: dict[str, Any] = {
            "verdict": None if self.verdict is None else self.verdict.describe()
        }
        if self.provenance is not None:
            facts |= {"method": self.provenance.method, "seed": self.provenance.seed}
        frame = self.to_frame(selected_only=True)
        return keep(data, key, frame, self.genes, self.notes, facts, gene_column)

    def to_networkx(self) -> Any:
        """All genes and the selected edges as a `networkx.DiGraph`.

        Edges have score, sign and rank; and, if known, evidence, confidence and false_discovery.
        """
        from grn_tvcs.network.programs.graphs import graph_of

        return graph_of(self.genes, self.edges(selected_only=True))

    def _repr_html_(self) -> str:
        from grn_tvcs.network.programs.html import summary

        verdict = "" if self.verdict is None else self.verdict.describe()
        frame = self.to_frame(selected_only=True)
        return summary(frame, len(self.genes), self.n_scored, verdict)
