"""Networks: scored directed edges over named genes, their files, and their cut under caps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grn_tvcs.network.confidence import DECIMALS, false_discovery
from grn_tvcs.network.edge import Edge
from grn_tvcs.network.pairs import FIXED, Pairs, check_pairs, counted_scores, degrees, square
from grn_tvcs.network.ranking import Ranked, columns_of, edges_of, ranked, ranked_selected, surest
from grn_tvcs.network.rules import Rules
from grn_tvcs.network.selection import select
from grn_tvcs.network.verdict import Verdict, verdict_of
from tvcs_core.arguments import check_number, check_type, names_of
from tvcs_core.lazy import load

if TYPE_CHECKING:
    import pandas as pd

    from grn_tvcs.expression.expression import Expression
    from grn_tvcs.network.provenance import Provenance


@dataclass(frozen=True)
class Network:
    """Scored directed edges between named genes, ``[regulator, target]``.

    It keeps the pairs that may be edges alone, so a network of few regulators takes memory for
    these. Its arrays are shown over all genes, and made when they are asked for first.

    Parameters
    ----------
    genes
        All genes, linked or not.
    pairs
        Scores and facts of the pairs that may be edges.
    verdict
        Number of edges that the experiment supports, or why it is not known; None where the method
        gives no confidence.
    notes
        Remarks on the inference for readers, a clause each.
    provenance
        How it was inferred, where `infer` made it in this session.

    Raises
    ------
    ValueError
        If names repeat, a score is negative or not finite, a gene has an edge to itself, an edge
        without a score is selected, or a chance is not in [0, 1].
    """

    genes: tuple[str, ...]
    pairs: Pairs
    verdict: Verdict | None = None
    notes: tuple[str, ...] = ()
    provenance: Provenance | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        genes: Sequence[str],
        scores: ArrayLike,
        signs: ArrayLike | None = None,
        selected: ArrayLike | None = None,
        stability: ArrayLike | None = None,
        own: ArrayLike | None = None,
        evidence: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        false_discovery: ArrayLike | None = None,
        undirected: ArrayLike | None = None,
        verdict: Verdict | None = None,
        notes: Sequence[str] = (),
    ) -> Network:
        """Make a network of arrays over all genes, ``[regulator, target]``, which are copied.

        A DataFrame is put in the order of the genes by its names.

        Parameters
        ----------
        genes
            The names of rows and columns.
        scores
            How sure each edge is, >= 0 with a diagonal of zeros; (genes, genes). 0 is no edge.
        signs
            1 activates, -1 represses, 0 not known; None means all unknown.
        selected
            The edges inside the caps; None means every edge with a score above 0.
        stability
            Share of the divisions of the data into halves in which both halves choose the edge
            above noise, in [0, 1]; NaN where the data are too few to be halved, None where the
            method does not resample.
        own
            The edges that the method itself selects; None if it only ranks.
        evidence
            Sources of the score of each edge, as a place in `evidence.NAMES`; None where it is the
            series alone, in one way.
        confidence
            Chance that each edge is true, in [0, 1]; None where the method or the data give none.
        false_discovery
            Expected share of false edges among all with at least the confidence of each, in
            [0, 1] (`confidence.false_discovery`).
        undirected
            Whether the data do not show the direction of each pair, the same both ways (see
            `network.pairs`); None where every direction is shown.
        verdict, notes
            As for the class.

        Raises
        ------
        ValueError
            If shapes disagree, or as for the class.
        """
        names = names_of("genes", genes)
        given = {
            "scores": scores, "signs": signs, "selected": selected, "stability": stability,
            "own": own, "evidence": evidence, "confidence": confidence,
            "false_discovery": false_discovery, "undirected": undirected,
        }  # fmt: skip
        return cls(names, square(names, given), verdict, tuple(notes))

    def __post_init__(self) -> None:
        check_type("genes", self.genes, tuple)
        check_type("pairs", self.pairs, Pairs)
        check_pairs(self.pairs, self.genes)
        for name in FIXED:
            getattr(self.pairs, name).setflags(write=False)

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """How sure each edge is; (genes, genes), as the arrays below: see `Network.of`."""
        return cast("NDArray[np.float64]", self._square("scores"))

    @cached_property
    def signs(self) -> NDArray[np.int8]:
        """1 where an edge activates, -1 where it represses, 0 where that is not known."""
        return cast("NDArray[np.int8]", self._square("signs"))

    @cached_property
    def selected(self) -> NDArray[np.bool_]:
        """The edges inside the caps."""
        return cast("NDArray[np.bool_]", self._square("selected"))

    @cached_property
    def stability(self) -> NDArray[np.float64] | None:
        """How often each edge was chosen in both halves of the data, where that is known."""
        return self._square("stability")

    @cached_property
    def own(self) -> NDArray[np.bool_] | None:
        """The edges that the method itself selects, if it does."""
        return self._square("own")

    @cached_property
    def evidence(self) -> NDArray[np.uint8] | None:
        """The evidence for each score, as an index of `evidence.NAMES`, if known."""
        return self._square("evidence")

    @cached_property
    def confidence(self) -> NDArray[np.float64] | None:
        """Chance that each edge is true, where one is given."""
        return self._square("confidence")

    @cached_property
    def false_discovery(self) -> NDArray[np.float64] | None:
        """Expected share of false edges at the confidence of each, where one is given."""
        return self._square("false_discovery")

    @cached_property
    def undirected(self) -> NDArray[np.bool_] | None:
        """Pairs whose direction the data do not show, if there are any."""
        return self._square("undirected")

    def _square(self, name: str) -> NDArray[Any] | None:
        return self.pairs.over_genes(name, len(self.genes))

    def edges(self, *, selected_only: bool = False) -> list[Edge]:
        """All edges with a score above 0, the surest first, equal ones by name."""
        return edges_of(self.pairs, self.genes, self._ranked(selected_only))

    @property
    def n_scored(self) -> int:
        """Edges with a score above 0; an undirected pair is one."""
        return int(np.count_nonzero(counted_scores(self.pairs, self.genes)))

    def to_frame(self, *, selected_only: bool = False) -> pd.DataFrame:
        """All edges as a table with the columns of ``edges.tsv``, or the selected ones."""
        import pandas as pd

        return pd.DataFrame(columns_of(self.pairs, self.genes, self._ranked(selected_only)))

    def _ranked(self, selected_only: bool) -> Ranked:
        if selected_only:
            return ranked_selected(self.pairs, self.genes)
        return ranked(self.pairs, self.genes)

    def _under(self, rules: Rules) -> Network:
        """The same, the caps that its selected edges keep being these."""
        made = self.provenance
        return self if made is None else replace(self, provenance=made._replace(rules=rules))

    def replace(self, **changes: Any) -> Network:
        """The same with other `pairs`, or arrays over them, another verdict or other notes."""
        facts = {name: changes.pop(name) for name in ("verdict", "notes") if name in changes}
        pairs = replace(changes.pop("pairs", self.pairs), **changes)
        return replace(self, pairs=pairs, **facts)

    def restrict_to(self, regulators: NDArray[np.int64], targets: NDArray[np.int64]) -> Network:
        """The same over other pairs: of the genes at these places, which rise."""
        return replace(self, pairs=self.pairs.restrict_to(regulators, targets))

    def select_under_caps(self, rules: Rules) -> Network:
        """Select the edges whose scores add up to the most under the caps of `rules`.

        This is the projection of the square roots of the scores onto the constraint, so the
        kept value of the projection is the sum of the scores. Scores stay as they are. Where there
        are undirected pairs, edges are taken from the surest down, each that the caps leave room
        for, whichever way undirected ones are read (`selection.select`).
        """
        check_type("rules", rules, Rules)
        return self.replace(selected=select(self.pairs, rules, self.genes))._under(rules)

    def select_top(self, n_edges: int) -> Network:
        """Select the `n_edges` surest edges; of equal ones the first by name.

        An undirected pair is one edge.
        """
        check_number("n_edges", n_edges, whole=True, least=0)
        selected = np.zeros(self.pairs.shape, dtype=bool)
        counted = replace(self.pairs, scores=counted_scores(self.pairs, self.genes))
        selected.flat[surest(counted, self.genes, n_edges)] = True
        return self.replace(selected=selected)._under(Rules(max_edges=n_edges))

    def select_by_method(self) -> Network:
        """Select the edges that the method itself selects; every one with a score if it does not.

        TIGRESS and ARACNE publish these edges, whatever the caps; ARACNE both ways of a pair.
        """
        selected = self.pairs.scores > 0
        if self.pairs.own is not None:
            selected &= self.pairs.own
        return self.replace(selected=selected)._under(Rules())

    def with_verdict(self) -> Network:
        """The same with its false discoveries and its verdict, by the scores that it has now.

        The confidence is kept to six decimals, as files hold it, and 0 if there is no score. An
        earlier verdict keeps its forecast for more series, its remedy and its hub; the rest is
        counted again. A network without a confidence stays as it is.
        """
        scores, confidence = self.pairs.scores, self.pairs.confidence
        if confidence is None:
            return self
        confidence = np.where(scores > 0, np.round(confidence, DECIMALS), 0.0)
        counted = counted_scores(self.pairs, self.genes)
        return self.replace(
            confidence=confidence,
            false_discovery=np.round(false_discovery(confidence, scores), DECIMALS),
            verdict=verdict_of(confidence, counted, self.verdict),
        )

    @property
    def n_selected(self) -> int:
        """Selected edges."""
        return int(np.count_nonzero(self.pairs.selected))

    @property
    def n_undirected(self) -> int:
        """Selected edges whose direction the data do not show."""
        if self.pairs.undirected is None:
            return 0
        return int(np.count_nonzero(self.pairs.undirected & self.pairs.selected))

    @property
    def out_degrees(self) -> NDArray[np.int64]:
        """Selected targets of each gene; an undirected edge counts for both of its genes."""
        return degrees(self.pairs, len(self.genes))[1]

    @property
    def in_degrees(self) -> NDArray[np.int64]:
        """Selected regulators of each gene; an undirected edge counts for both of its genes."""
        return degrees(self.pairs, len(self.genes))[0]

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

        facts: dict[str, Any] = {}
        if self.verdict is not None:
            facts["verdict"] = self.verdict.describe()
        if self.provenance is not None:
            facts |= {"method": self.provenance.method, "seed": self.provenance.seed}
        frame = self.to_frame(selected_only=True)
        return keep(data, key, frame, self.genes, self.notes, facts, gene_column)

    def to_networkx(self) -> Any:
        """All genes and the selected edges as a `networkx.DiGraph`, with GraphML's attributes."""
        from grn_tvcs.network.programs.graphs import graph_of

        return graph_of(self.pairs, self.genes)

    @classmethod
    def from_networkx(cls, graph: Any) -> Network:
        """Make a network of the nodes and edges of a `networkx.DiGraph`; all edges are selected.

        The score is the attribute ``score``, else the absolute value of ``weight``, else 1. The
        sign is the attribute ``sign``, ``+``, ``-`` or ``?``; without it a weight below 0
        represses, and where any is, one above 0 activates. ``evidence`` is kept where an edge has
        it, ``confidence`` and ``false_discovery`` where every edge has both.

        Raises
        ------
        ValueError
            If the graph is not directed or has parallel edges, or as for the class.
        """
        from grn_tvcs.network.programs.graphs import pairs_of_graph

        genes, pairs = pairs_of_graph(graph)
        return cls(tuple(genes), pairs)

    @classmethod
    def from_anndata(cls, data: Any, key: str = "tvcs") -> Network:
        """Read a network that `to_anndata` kept; its edges are selected. ValueError without one."""
        from grn_tvcs.network.programs.anndata import kept

        genes, pairs, notes = kept(data, key)
        return cls(genes, pairs, notes=notes)

    def report(self, path: str | Path, expression: Expression | None = None, **more: Any) -> Path:
        """Write the report of the network, one HTML file, and return its path.

        Parameters
        ----------
        path
            The file to write; one that is there is replaced.
        expression
            Its input; by default that of `infer`.
        **more
            Further arguments of `grn_tvcs.report.report.render`, such as ``method``, ``scores``.

        Raises
        ------
        ValueError
            If the network was not made by `infer`, and expression or method is not given.
        """
        # The report stands above networks; so it is known here by its name alone.
        write = load("grn_tvcs.report.report", "write_report")
        return Path(write(self, Path(path), expression, **more))

    def plot(self, ax: Any = None, *, max_edges: int = 100) -> Any:
        """Draw the top selected edges with matplotlib, and return the axes.

        Supported edges, of a confidence of at least 0.5, are thick. Arrows activate, bars repress,
        grey edges have no known sign, and plain grey lines no direction. Filled genes regulate.

        Parameters
        ----------
        ax
            Axes of matplotlib to draw into; by default new ones.
        max_edges
            Number of edges to draw, by rank.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.
        ValueError
            If `max_edges` is below 1, or no edge is selected.
        """
        return load("grn_tvcs.report.picture", "plot")(self, ax, max_edges)

    def __str__(self) -> str:
        from grn_tvcs.network.programs.text import summary

        return summary(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from grn_tvcs.network.programs.text import html_summary

        verdict = "" if self.verdict is None else self.verdict.describe()
        frame = self.to_frame(selected_only=True)
        return html_summary(frame, len(self.genes), self.n_scored, verdict)
