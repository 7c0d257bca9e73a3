"""Prior edges from motifs, ChIP or the literature."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grn_tvcs.expression.expression import describe_repeated
from grn_tvcs.expression.judge.same_names import NO_IDENTIFIERS, Identifiers
from grn_tvcs.expression.user_warnings import warn_user
from grn_tvcs.network.pairs import array_over
from grn_tvcs.network.programs.edge_list import (
    REGULATOR,
    SCORE,
    SIGNED,
    TARGET,
    EdgeList,
    EdgesAmong,
    open_edges,
)
from grn_tvcs.network.programs.scored_edges import unread
from grn_tvcs.network.programs.signs import SHOWN, is_word, sign_of
from tvcs_core.arguments import check_type, names_of
from tvcs_core.files.display import joined, plural, quoted

if TYPE_CHECKING:
    import pandas as pd

# DoRothEA's levels of confidence as decoupler weighs them: 1 divided by the rank of the level.
WEIGHT_OF_LEVEL = {level: 1.0 / rank for rank, level in enumerate("ABCDE", start=1)}
SIGNS = "signs must be 1, -1 or 0, and 0 where no edge is listed"

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]


class ListedEdges(NamedTuple):
    """Edges by the places of their genes, in the order of these.

    Attributes
    ----------
    regulators, targets
        Places among the genes.
    weights, signs
        As in `Prior`.
    """

    regulators: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: NDArray[np.float64]
    signs: NDArray[np.int8]


class ListedPairs(NamedTuple):
    """Prior weights of the pairs of some regulators and targets, [regulator, target].

    Attributes
    ----------
    weights, signs, n_listed
        As in `Prior`.
    """

    weights: NDArray[np.float64]
    signs: NDArray[np.int8]
    n_listed: int


class Prior:
    """Edges that are believed before there are data, ``[regulator, target]``.

    The listed ones are kept; `weights` and `signs` are made over all genes when they are asked for.

    Parameters
    ----------
    genes
        Names of rows and columns, all different.
    weights
        How sure each edge is, from 0 to 1; 0 is not listed. The diagonal is 0. A DataFrame is put
        in the order of the genes by its names.
    signs
        1 activates, -1 represses, 0 not known; None means all unknown.

    Attributes
    ----------
    edges
        The listed edges among the genes.
    n_listed
        Different edges of the list, those of other genes and of a gene on itself too.

    Raises
    ------
    ValueError
        If shapes disagree, names repeat, a weight is not in [0, 1] or on the diagonal, or an edge
        that is not listed has a sign.
    """

    genes: tuple[str, ...]
    edges: ListedEdges
    n_listed: int

    def __repr__(self) -> str:
        n_edges, n_genes = len(self.edges.regulators), len(self.genes)
        edges, genes = plural(n_edges, "edge"), plural(n_genes, "gene")
        return f"Prior: {edges} among {genes}, of {self.n_listed} listed"

    def __init__(
        self, genes: Sequence[str], weights: ArrayLike, signs: ArrayLike | None = None
    ) -> None:
        genes = names_of("genes", genes)
        sure = array_over(genes, "weights", weights, np.float64)
        signed = np.zeros(sure.shape, np.int8)
        if signs is not None:
            signed = array_over(genes, "signs", signs, np.int8)
        if ((sure == 0) & (signed != 0)).any():
            raise ValueError(SIGNS)
        rows, cols = np.nonzero(sure)
        self._take(genes, ListedEdges(rows, cols, sure[rows, cols], signed[rows, cols]), None)

    @classmethod
    def of_edges(cls, genes: Sequence[str], edges: ListedEdges, n_listed: int | None) -> Prior:
        """Make a list of its edges, each named once; memory is for them alone."""
        check_type("edges", edges, ListedEdges)
        prior = cls.__new__(cls)
        prior._take(genes, edges, n_listed)
        return prior

    def _take(self, genes: Sequence[str], edges: ListedEdges, n_listed: int | None) -> None:
        self.genes = names_of("genes", genes)
        order = np.lexsort((edges.targets, edges.regulators))
        parts: list[NDArray[Any]] = [part[order] for part in edges]
        self.edges = edges = ListedEdges(*parts)
        if twice := describe_repeated("gene names", self.genes):
            raise ValueError(twice)
        if not ((edges.weights > 0) & (edges.weights <= 1)).all():
            raise ValueError("weights of prior edges must be from 0 to 1")
        if (is_own := edges.regulators == edges.targets).any():
            own = self.genes[int(edges.regulators[is_own][0])]
            raise ValueError(f"a gene has no edge to itself, but {own!r} has one")
        if (np.abs(edges.signs) > 1).any():
            raise ValueError(SIGNS)
        self.n_listed = self.n_edges if n_listed is None else n_listed

    @property
    def n_edges(self) -> int:
        """Listed edges among the genes."""
        return len(self.edges.weights)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Weight of every edge, (genes, genes); made when it is asked for first."""
        return self._over_genes("weights")

    @cached_property
    def signs(self) -> NDArray[np.int8]:
        """Sign of every edge, (genes, genes); made when it is asked for first."""
        return self._over_genes("signs")

    def _over_genes(self, name: str) -> NDArray[Any]:
        genes = np.arange(len(self.genes))
        whole: NDArray[Any] = getattr(self.restrict_to(genes, genes), name)
        whole.setflags(write=False)
        return whole

    def restrict_to(self, regulators: NDArray[np.int64], targets: NDArray[np.int64]) -> ListedPairs:
        """Return the listed weights of the pairs of genes at these positions."""
        rows, cols = (np.full(len(self.genes), -1) for _ in range(2))
        rows[regulators], cols[targets] = np.arange(len(regulators)), np.arange(len(targets))
        at = rows[self.edges.regulators], cols[self.edges.targets]
        is_in = (at[0] >= 0) & (at[1] >= 0)
        shape, where = (len(regulators), len(targets)), (at[0][is_in], at[1][is_in])
        weights, signs = np.zeros(shape), np.zeros(shape, np.int8)
        weights[where], signs[where] = self.edges.weights[is_in], self.edges.signs[is_in]
        return ListedPairs(weights, signs, self.n_listed)

    def of(self, genes: Sequence[str]) -> Prior:
        """The same edges with rows and columns in the order of `genes`.

        Raises
        ------
        ValueError
            If the genes differ.
        """
        if missing := sorted(set(genes) ^ set(self.genes)):
            raise ValueError(
                "prior edges and expression must have the same genes, but these are in one of "
                f"them only: {joined(missing)}"
            )
        place = {gene: i for i, gene in enumerate(genes)}
        to = np.array([place[gene] for gene in self.genes], dtype=np.int64)
        edges = self.edges._replace(
            regulators=to[self.edges.regulators], targets=to[self.edges.targets]
        )
        return Prior.of_edges(genes, edges, self.n_listed)


def read_prior(
    source: str | Path | pd.DataFrame,
    genes: Sequence[str],
    identifiers: Identifiers = NO_IDENTIFIERS,
) -> Prior:
    """Read prior edges over `genes`: regulator, target and perhaps weight and sign.

    Columns have the names that `read_network` knows (``regulator``, ``TF``, ``source``; ``target``;
    ``weight``, ``score``, ``coef_mean``; ``sign``, ``mor``), in any order. Without them the
    columns are regulator, target, weight, sign; or regulator, target, sign and columns that are not
    read, such as TRRUST's references. Weights are above 0 and at most 1, and 1 if there are none; 0
    means no prior edge. A sign is ``+``, ``-``, ``?``, 1, -1, 0 or a word such as ``Activation``.
    Without a column of signs, a weight below 0 represses, and then one above 0 activates. If a
    pair is listed several times, the largest weight counts. Warnings count these, self-loops and
    edges of other genes. Without weights, DoRothEA's levels of confidence (``confidence``, A to
    E) are the weights. Names are matched without version, species prefix and case where they
    differ in these alone, with a warning that counts them; and by `identifiers`, those of an
    `Expression` (``expression.identifiers``).

    Raises
    ------
    DataError
        Naming line and column, if a column is missing or a cell is invalid; or naming the file, if
        no edge joins two of the genes.
    """
    genes = names_of("genes", genes)
    edges = open_edges(source, "a weight and a sign", genes)
    if not edges.columns:
        edges = edges._replace(columns=_by_place(edges))
    weights, signs = _weights_and_signs(edges)
    is_edge = weights > 0
    found = edges.among(genes, edges.called_as(genes, identifiers), is_edge)
    if not found.rows.size:
        raise edges.no_edge(genes, "a prior edge", "table")
    weights, signs = _surest(found, weights, signs)
    for sentence in found.describe("table", "listed again, of which the larger weight counts"):
        warn_user(f"{edges.table.path}: {sentence}")
    listed = {pair for pair, is_one in zip(edges.pairs(found.same), is_edge, strict=True) if is_one}
    return Prior.of_edges(genes, ListedEdges(*found.ends, weights, signs), len(listed))


def _surest(found: EdgesAmong, weights: Floats, signs: Signs) -> tuple[Floats, Signs]:
    """Return the largest weight of each pair, and its sign, 0 where the signs of these disagree."""
    best: dict[int, tuple[float, int]] = {}
    rows = weights[found.rows], signs[found.rows]
    for number, weight, sign in zip(found.numbers.tolist(), *rows, strict=True):
        largest, other = best.get(number, (0.0, 0))
        if weight > largest:
            best[number] = weight, sign
        elif weight == largest and sign != other:
            best[number] = weight, 0  # equally sure of both
    facts = [best[number] for number in found.numbers[found.first].tolist()]
    return np.array([w for w, _ in facts]), np.array([s for _, s in facts], np.int8)


def _by_place(edges: EdgeList) -> dict[str, int]:
    """Places of the columns of a list whose first row holds no name that is known."""
    rows = edges.table.rows
    width = len(rows[0])
    if not 2 <= width <= 4:
        raise edges.table.error(
            "must have columns regulator and target, or no header and 2 to 4 columns (regulator, "
            f"target, weight, sign), found {joined(rows[0])}; known names are "
            f"{', '.join(REGULATOR)}; {', '.join(TARGET)}; {', '.join(SCORE)}",
            row=0,
        )
    names: tuple[str, ...] = ("regulator", "target", "score", "sign")
    if width > 2 and any(is_word(row[2]) for row in rows[edges.first :]):
        names = ("regulator", "target", "sign")
    return dict(zip(names, range(width), strict=False))


def _weights_and_signs(edges: EdgeList) -> tuple[Floats, Signs]:
    """Return the weight of every edge, from 0 to 1, and its sign."""
    weights = np.ones(edges.n_edges)
    if "score" in edges.columns:
        weights = edges.numbers("score")
    elif levels := _levels(edges):
        weights = np.array([WEIGHT_OF_LEVEL[level] for level in levels])
    elif "sign" not in edges.columns:  # a column of any other name may have been meant as weights
        ends = {end: edges.columns[end] for end in ("regulator", "target")}
        for sentence in unread(edges._replace(columns=ends), []):
            warn_user(f"{edges.table.path}: {sentence}")
    is_bad, signs = np.abs(weights) > 1, np.zeros(edges.n_edges, np.int8)
    if "sign" in edges.columns:
        signs[:] = [edges.value(i, "sign", _sign) for i in range(edges.n_edges)]
        is_bad |= (weights < 0) & (signs > 0)
    elif edges.header("score") in SIGNED or (weights < 0).any():
        signs[:] = np.sign(weights)
    if is_bad.any():
        i = int(np.flatnonzero(is_bad)[0])
        raise edges.error(
            f"a weight must be above 0 and at most 1, found {quoted(edges.cells('score')[i])}; "
            "bring the scores to this scale or leave the column out",
            i,
            "score",
        )
    return np.abs(weights), signs


def _levels(edges: EdgeList) -> list[str]:
    """Return DoRothEA's level of every edge; none if they are not known."""
    has_column = edges.first and "confidence" in edges.columns
    levels = [cell.upper() for cell in edges.cells("confidence")] if has_column else []
    return levels if WEIGHT_OF_LEVEL.keys() >= {*levels} else []


def _sign(cell: str) -> int:
    sign = sign_of(cell)
    if sign is None:
        raise ValueError(f"must be one of {SHOWN}, found {quoted(cell)}")
    return sign
