"""Networks: scored directed edges over named genes, their files, and their cut under caps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import repeated
from grn_tvcs.network.evidence import CODES, NAMES
from grn_tvcs.network.rules import Rules
from grn_tvcs.network.verdict import Verdict
from tvcs_core import project
from tvcs_core.files.shown import listed

if TYPE_CHECKING:
    import pandas as pd

HEADER = ("regulator", "target", "score", "sign", "rank", "selected")
# Known of the edges of some networks only, with the kind of value.
EXTRA = {
    "stability": np.float64, "own": np.bool_, "evidence": np.uint8, "confidence": np.float64,
    "false_discovery": np.float64,
}  # fmt: skip
CHANCES = ("confidence", "false_discovery")
SIGNS = {1: "+", -1: "-", 0: "?"}


@dataclass(frozen=True)
class Edge:
    """One directed edge as the files show it.

    Attributes
    ----------
    regulator, target
        Names of two different genes.
    score
        Above 0; higher is surer, in the units of the method.
    sign
        ``+`` activates, ``-`` represses, ``?`` not known.
    rank
        1 is the surest; edges with equal scores share a rank.
    selected
        Whether the edge is inside the caps.
    evidence
        What the score stands on, a word of `evidence.NAMES`; empty where that is not known.
    confidence, false_discovery
        As in `Network`; None where they are not known.
    """

    regulator: str
    target: str
    score: float
    sign: str
    rank: int
    selected: bool
    evidence: str = ""
    confidence: float | None = None
    false_discovery: float | None = None

    @property
    def known(self) -> dict[str, str | float]:
        """Evidence, confidence and false discovery by name, those that are known."""
        told = {name: getattr(self, name) for name in ("evidence", *CHANCES)}
        return {name: value for name, value in told.items() if value not in ("", None)}


@dataclass(frozen=True)
class Network:
    """Scored directed edges between named genes, ``[regulator, target]``.

    Parameters
    ----------
    genes
        All genes, linked or not; the names of rows and columns.
    scores
        How sure each edge is, >= 0 with a diagonal of zeros; (genes, genes). 0 is no edge.
    signs
        1 activates, -1 represses, 0 not known; None means all unknown.
    selected
        The edges inside the caps; None means every edge with a score above 0.
    stability
        In which part of all divisions of the data into halves each edge was chosen and stood out
        of noise in both halves, in [0, 1]; NaN where the data are too few to be halved, None
        where the method does not resample.
    own
        The edges that the method itself selects; None where it only ranks.
    evidence
        What the score of each edge stands on, as a place in `evidence.NAMES`; None where it is
        the series alone, in one way.
    confidence
        Chance that each edge is true, in [0, 1]; None where the method or the data give none.
    false_discovery
        Expected share of false edges among all with at least the confidence of each, in [0, 1]
        (`confidence.false_discovery`).
    verdict
        How many edges the experiment supports, or why that cannot be told; None where the method
        gives no confidence.
    notes
        What a reader should know of how it was inferred, a clause each.

    Raises
    ------
    ValueError
        If shapes disagree, names repeat, a score is negative or not finite, a gene has an edge
        to itself, an edge without a score is selected, or a chance is not in [0, 1].
    """

    genes: tuple[str, ...]
    scores: NDArray[np.float64]
    signs: NDArray[np.int8] | None = None
    selected: NDArray[np.bool_] | None = None
    stability: NDArray[np.float64] | None = None
    own: NDArray[np.bool_] | None = None
    evidence: NDArray[np.uint8] | None = None
    confidence: NDArray[np.float64] | None = None
    false_discovery: NDArray[np.float64] | None = None
    verdict: Verdict | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        genes = tuple(str(gene) for gene in self.genes)
        scores = np.array(self.scores, dtype=np.float64)
        shape = (len(genes), len(genes))
        signs = np.zeros(shape, np.int8) if self.signs is None else np.array(self.signs, np.int8)
        selected = scores > 0 if self.selected is None else np.array(self.selected, dtype=bool)
        for name, array in (("scores", scores), ("signs", signs), ("selected", selected)):
            if array.shape != shape:
                raise ValueError(f"{name} must have the shape {shape}, found {array.shape}")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        for name, kind in EXTRA.items():
            given = getattr(self, name)
            if given is not None and np.shape(given) != shape:
                raise ValueError(f"{name} must have the shape {shape}, found {np.shape(given)}")
            object.__setattr__(self, name, None if given is None else np.array(given, dtype=kind))
        object.__setattr__(self, "genes", genes)
        if twice := repeated(genes):
            raise ValueError(f"gene names must be different, found twice: {listed(twice)}")
        if not (np.isfinite(scores).all() and (scores >= 0).all()):
            raise ValueError("scores must be finite and >= 0")
        if scores.diagonal().any():
            own = genes[int(np.flatnonzero(scores.diagonal())[0])]
            raise ValueError(f"a gene has no edge to itself, but {own!r} has one")
        if (selected & (scores == 0)).any():
            raise ValueError("a selected edge must have a score above 0")
        if self.evidence is not None and (self.evidence >= len(NAMES)).any():
            raise ValueError(f"evidence must be below {len(NAMES)}, found {self.evidence.max()}")
        for name in CHANCES:
            chances = getattr(self, name)
            if chances is not None and not ((chances >= 0) & (chances <= 1)).all():
                wrong = chances[~((chances >= 0) & (chances <= 1))][0]
                raise ValueError(f"{name} must be from 0 to 1, found {wrong:g}")

    @classmethod
    def from_networkx(cls, graph: Any) -> Network:
        """Make a network of the nodes and edges of a `networkx.DiGraph`; all edges are selected.

        The score is the attribute ``score``, else the absolute value of ``weight``, else 1; the
        sign is the attribute ``sign``, ``+`` or ``-``, and a weight below 0 represses. Where an
        edge has the attribute ``evidence``, it is kept; ``confidence`` and ``false_discovery``
        are where every edge has both.

        Raises
        ------
        ValueError
            If the graph is not directed or has parallel edges, or as for the class.
        """
        if not graph.is_directed() or graph.is_multigraph():
            raise ValueError(f"graph must be a networkx.DiGraph, found {type(graph).__name__}")
        place = {node: i for i, node in enumerate(graph)}
        scores = np.zeros((len(place), len(place)))
        signs = np.zeros(scores.shape, dtype=np.int8)
        evidence = np.zeros(scores.shape, dtype=np.uint8)
        sign_of = {text: sign for sign, text in SIGNS.items()}
        for regulator, target, facts in graph.edges(data=True):
            pair = place[regulator], place[target]
            weight = facts.get("weight", 1.0)
            scores[pair] = facts.get("score", abs(weight))
            signs[pair] = sign_of.get(facts.get("sign"), -1 if weight < 0 else 0)
            evidence[pair] = CODES.get(str(facts.get("evidence")), 0)
        known: dict[str, Any] = {"evidence": evidence} if evidence.any() else {}
        links = list(graph.edges(data=True))
        if links and all(name in facts for _, _, facts in links for name in CHANCES):
            for name, nothing in zip(CHANCES, (0.0, 1.0), strict=True):
                known[name] = np.full(scores.shape, nothing)
                for regulator, target, facts in links:
                    known[name][place[regulator], place[target]] = facts[name]
        return cls(tuple(map(str, place)), scores, signs, **known)

    def within(self, rules: Rules) -> Network:
        """Select the edges whose scores add up to the most under the caps of `rules`.

        This is the projection of the square roots of the scores onto the constraint, so the
        kept value of the projection is the sum of the scores. Scores stay as they are.
        """
        projection = project(np.sqrt(self.scores), rules.constraint(self.genes))
        return replace(self, selected=projection.support & (self.scores > 0))

    def top(self, n_edges: int) -> Network:
        """Select the `n_edges` surest edges; of equal ones the first by name."""
        if n_edges < 0:
            raise ValueError(f"n_edges must be >= 0, found {n_edges}")
        selected = np.zeros(self.scores.shape, dtype=bool)
        rows, cols = self._by_rank()
        selected[rows[:n_edges], cols[:n_edges]] = True
        return replace(self, selected=selected)

    def by_own_cut(self) -> Network:
        """Select the edges that the method itself selects; every one with a score if it does not.

        What TIGRESS and ARACNE publish, whatever the caps.
        """
        return replace(self, selected=None if self.own is None else self.own & (self.scores > 0))

    def edges(self, *, selected_only: bool = False) -> list[Edge]:
        """All edges with a score above 0, the surest first, equal ones by name."""
        assert self.signs is not None
        assert self.selected is not None
        rows, cols = self._by_rank()
        scores = self.scores[rows, cols]
        rank = 1 + np.searchsorted(-scores, -scores, side="left")
        codes = np.zeros(len(rows), int) if self.evidence is None else self.evidence[rows, cols]
        nothing = [None] * len(rows)
        confidence, false = (
            nothing if known is None else known[rows, cols].tolist()
            for known in (self.confidence, self.false_discovery)
        )  # fmt: skip
        return [
            Edge(
                self.genes[i],
                self.genes[j],
                float(self.scores[i, j]),
                SIGNS[int(self.signs[i, j])],
                int(r),
                bool(self.selected[i, j]),
                NAMES[int(code)],
                chance,
                share,
            )
            for i, j, r, code, chance, share in zip(
                rows, cols, rank, codes, confidence, false, strict=True
            )
            if self.selected[i, j] or not selected_only
        ]

    def _by_rank(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        place = np.argsort(np.argsort(np.array(self.genes, dtype=object)))
        rows, cols = np.nonzero(self.scores)
        order = np.lexsort((place[cols], place[rows], -self.scores[rows, cols]))
        return rows[order], cols[order]

    @property
    def out_degrees(self) -> NDArray[np.int64]:
        """Selected targets of each gene."""
        assert self.selected is not None
        return self.selected.sum(axis=1)

    @property
    def in_degrees(self) -> NDArray[np.int64]:
        """Selected regulators of each gene."""
        assert self.selected is not None
        return self.selected.sum(axis=0)

    def extra(self) -> dict[str, list[Any]]:
        """What is known of edges beside `HEADER`: columns by name, in the order of `edges`."""
        at = self._by_rank()
        known = [(name, getattr(self, name)) for name in EXTRA]
        columns = {name: values[at].tolist() for name, values in known if values is not None}
        if "evidence" in columns:
            columns["evidence"] = [NAMES[code] for code in columns["evidence"]]
        return columns

    def to_frame(self) -> pd.DataFrame:
        """All edges as a table with the columns of ``edges.tsv``."""
        import pandas as pd

        frame = pd.DataFrame([vars(edge) for edge in self.edges()], columns=list(HEADER))
        return frame.assign(**self.extra())

    def to_networkx(self) -> Any:
        """All genes and the selected edges as a `networkx.DiGraph`.

        Edges have score, sign and rank, and what of evidence, confidence and false_discovery is
        known.
        """
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.genes)
        for edge in self.edges(selected_only=True):
            facts = {"score": edge.score, "sign": edge.sign, "rank": edge.rank}
            graph.add_edge(edge.regulator, edge.target, **facts, **edge.known)
        return graph
