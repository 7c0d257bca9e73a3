"""Facts of the pairs that may be edges: regulators x targets, never genes x genes.

A pair is undirected if the data do not show which of the two genes regulates the other. It has two
rows in a ranking and is one edge: the way with the larger score stands for both (of equal scores
the first by name), and the other is never selected. It is drawn without an arrow. Caps hold
whichever way it is read, so it uses up one regulator and one target of both genes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grn_tvcs.expression.expression import describe_repeated
from grn_tvcs.network.edge import CHANCES
from grn_tvcs.network.evidence import NAMES
from tvcs_core.arguments import array_of, names_of
from tvcs_core.files.display import joined, summary
from tvcs_core.files.frames import is_frame

# Known of the edges of some networks only, with the kind of value.
EXTRA = {
    "stability": np.float64, "own": np.bool_, "evidence": np.uint8, "confidence": np.float64,
    "false_discovery": np.float64, "undirected": np.bool_,
}  # fmt: skip
KINDS = {"scores": np.float64, "signs": np.int8, "selected": np.bool_, **EXTRA}
FIXED = ("scores", "signs", "selected")  # known of every network, and not to be changed
# A way with more than this part of the other's score is not told from it. On simulated networks the
# stronger way was true in 66 of 73 pairs below and in 16 of 24 above, by the learned combination.
CLOSE = 0.5
ELSEWHERE = {"false_discovery": 1.0}  # what all other pairs have, where it is not 0

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]
Edges = tuple[Places, Places]  # places of regulators and targets, pair by pair


@dataclass(frozen=True, eq=False)
class Pairs:
    """Arrays of the shape (regulators, targets); None if nothing is known.

    Attributes
    ----------
    regulators, targets
        Places among the genes of rows and columns, rising.
    scores, signs, selected, stability, own, evidence, confidence, false_discovery, undirected
        As in `Network`.
    """

    regulators: Places
    targets: Places
    scores: Floats
    signs: NDArray[np.int8]
    selected: NDArray[np.bool_]
    stability: Floats | None = None
    own: NDArray[np.bool_] | None = None
    evidence: NDArray[np.uint8] | None = None
    confidence: Floats | None = None
    false_discovery: Floats | None = None
    undirected: NDArray[np.bool_] | None = None

    __repr__ = summary

    @classmethod
    def scored(cls, regulators: Places, scores: Floats) -> Pairs:
        """Scores of some regulators and all genes, of which nothing else is known."""
        signs = np.zeros(scores.shape, np.int8)
        return cls(regulators, np.arange(scores.shape[1]), scores, signs, scores > 0)

    @classmethod
    def correlated(
        cls, regulators: Places, targets: Places, r: Floats, scores: Floats | None = None
    ) -> Pairs:
        """Signs of correlations `r`, and scores; by default these are the sizes of `r`."""
        scores = np.abs(r) if scores is None else scores
        return cls(regulators, targets, scores, np.sign(r).astype(np.int8), scores > 0)

    @classmethod
    def listed(cls, edges: tuple[ArrayLike, ArrayLike], known: Mapping[str, ArrayLike]) -> Pairs:
        """Return the facts of single edges, over the regulators and targets among them.

        Parameters
        ----------
        edges
            Places of the regulators and of the targets, each pair once.
        known
            Values by the name of their column, in the order of the edges; without `selected`,
            every edge with a score is.
        """
        places = [np.asarray(ends, np.int64) for ends in edges]
        (regulators, rows), (targets, columns) = (np.unique(p, return_inverse=True) for p in places)
        arrays: dict[str, Any] = {}
        for name, values in known.items():
            rest = ELSEWHERE.get(name, 0.0)
            arrays[name] = np.full((regulators.size, targets.size), rest, KINDS[name])
            arrays[name][rows, columns] = values
        if np.isnan(arrays.get("stability", 0.0)).any():
            arrays["stability"][:] = np.nan  # it is told of all or of none
        arrays.setdefault("selected", arrays["scores"] > 0)
        return cls(regulators, targets, **arrays)

    @property
    def shape(self) -> tuple[int, int]:
        """Regulators and targets."""
        return self.regulators.size, self.targets.size

    @property
    def n_scored(self) -> int:
        """Pairs with a score above 0."""
        return int(np.count_nonzero(self.scores))

    @property
    def on_themselves(self) -> tuple[Places, Places]:
        """Row and column of every gene that is both regulator and target, in one order."""
        return _in_both(self.regulators, self.targets)

    def restrict_to(self, regulators: Places, targets: Places) -> Pairs:
        """The pairs of these genes; of those that are not there nothing is known, so no edge."""
        if np.array_equal(regulators, self.regulators) and np.array_equal(targets, self.targets):
            return self
        rows, from_rows = _in_both(regulators, self.regulators)
        cols, from_cols = _in_both(targets, self.targets)
        known: dict[str, Any] = {}
        for name in KINDS:
            if (part := getattr(self, name)) is not None:
                rest = self._elsewhere(name)
                known[name] = np.full((regulators.size, targets.size), rest, dtype=part.dtype)
                known[name][np.ix_(rows, cols)] = part[np.ix_(from_rows, from_cols)]
        return Pairs(regulators, targets, **known)

    def places(self, edges: Edges) -> tuple[Places, Places, Flags]:
        """Row and column of single pairs, and which of them are among these pairs."""
        found = []
        for some, known in zip(edges, (self.regulators, self.targets), strict=True):
            at = np.minimum(np.searchsorted(known, some), max(known.size - 1, 0))
            found.append((at, known[at] == some if known.size else np.zeros(some.size, bool)))
        (rows, in_rows), (columns, in_columns) = found
        return rows, columns, in_rows & in_columns

    def at(self, name: str, edges: Edges) -> NDArray[Any]:
        """One of the arrays at single pairs, wherever these are."""
        values = getattr(self, name)
        rows, columns, is_here = self.places(edges)
        found = np.full(rows.size, self._elsewhere(name), dtype=values.dtype)
        found[is_here] = values[rows[is_here], columns[is_here]]
        return found

    def over_genes(self, name: str, n_genes: int) -> NDArray[Any] | None:
        """One of the arrays as (genes, genes); itself where rows and columns are all genes."""
        values = cast("NDArray[Any] | None", getattr(self, name))
        if values is None or self.shape == (n_genes, n_genes):
            return values
        whole = np.full((n_genes, n_genes), self._elsewhere(name), dtype=values.dtype)
        whole[np.ix_(self.regulators, self.targets)] = values
        whole.setflags(write=name not in FIXED)
        return whole

    def _elsewhere(self, name: str) -> float:
        """Values of pairs outside these."""
        if name == "stability" and self.stability is not None and self.stability.size:
            return np.nan if np.isnan(self.stability.flat[0]) else 0.0  # told of all or of none
        return ELSEWHERE.get(name, 0.0)


def _in_both(some: Places, others: Places) -> tuple[Places, Places]:
    """Return the places of common entries in either array."""
    _, here, there = np.intersect1d(some, others, assume_unique=True, return_indices=True)
    return here, there


def check_pairs(pairs: Pairs, genes: Sequence[str]) -> None:
    """Check the pairs of a network.

    Raises
    ------
    ValueError
        As for `Network`.
    """
    scores = pairs.scores
    if twice := describe_repeated("gene names", genes):
        raise ValueError(twice)
    if not (np.isfinite(scores).all() and (scores >= 0).all()):
        raise ValueError("scores must be finite and >= 0")
    rows, columns = pairs.on_themselves
    on_themselves = rows[scores[rows, columns] > 0]
    if on_themselves.size:
        gene = genes[int(pairs.regulators[on_themselves[0]])]
        raise ValueError(f"a gene has no edge to itself, but {gene!r} has one")
    if (pairs.selected & (scores == 0)).any():
        raise ValueError("a selected edge must have a score above 0")
    if pairs.evidence is not None and (pairs.evidence >= len(NAMES)).any():
        raise ValueError(f"evidence must be below {len(NAMES)}, found {pairs.evidence.max()}")
    for name in CHANCES:
        chances = getattr(pairs, name)
        if chances is not None:
            wrong = chances[~((chances >= 0) & (chances <= 1))]
            if wrong.size:
                raise ValueError(f"{name} must be from 0 to 1, found {wrong[0]:g}")


def square(genes: Sequence[str], given: dict[str, Any]) -> Pairs:
    """Return pairs of all genes from copies of arrays of the shape (genes, genes).

    Raises
    ------
    ValueError
        As for `array_over`.
    """
    known = {
        name: array_over(genes, name, given[name], kind)
        for name, kind in KINDS.items()
        if name == "scores" or given[name] is not None
    }
    known.setdefault("signs", np.zeros(known["scores"].shape, np.int8))
    known.setdefault("selected", known["scores"] > 0)
    places = np.arange(len(genes))
    return Pairs(places, places, **known)


def array_over(
    genes: Sequence[str], name: str, values: Any, kind: type[np.generic]
) -> NDArray[Any]:
    """Return a copy of an array over all genes; a DataFrame is put in their order by its names.

    Raises
    ------
    ValueError
        If it has another shape, or a DataFrame has other names.
    """
    if is_frame(values):
        numbers = [*range(len(genes))]
        for axis, labels in enumerate((values.index, values.columns)):
            if [*labels] != numbers:  # no names
                values = values.set_axis(names_of(name, labels), axis=axis)
                if sorted(values.axes[axis]) != sorted(genes):
                    raise ValueError(
                        f"{name} must name the genes in rows and columns, found "
                        f"{joined(values.axes[axis])}; the genes are {joined(genes)}"
                    )
                if [*values.axes[1 - axis]] == numbers and [*values.axes[axis]] != [*genes]:
                    raise ValueError(
                        f"{name} must have names in both rows and columns, or in neither, where "
                        f"the order is not that of the genes; found some in one: {joined(labels)}"
                    )
                values = values.reindex(list(genes), axis=axis)
    found, shape = array_of(name, values, kind), (len(genes), len(genes))
    if found.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, found {found.shape}")
    return found


def undirected_pairs(pairs: Pairs, allowed: Flags, close: float = CLOSE) -> Flags | None:
    """Return which pairs are undirected: both ways may be edges and score alike; None if none is.

    Parameters
    ----------
    pairs
        With their scores.
    allowed
        Which of them may be edges.
    close
        Part of the stronger way's score that the weaker must exceed.
    """
    regulators, targets = pairs.on_themselves
    at = np.ix_(regulators, targets)
    scores = np.where(allowed[at], pairs.scores[at], 0.0)
    found = np.zeros(pairs.shape, np.bool_)
    found[at] = np.minimum(scores, scores.T) > close * np.maximum(scores, scores.T)
    return found if found.any() else None


def weaker_ways(pairs: Pairs, genes: Sequence[str]) -> Flags | None:
    """Return the ways of undirected pairs that are no edges of their own; None without pairs."""
    if pairs.undirected is None:
        return None
    regulators, targets = pairs.on_themselves
    at = np.ix_(regulators, targets)
    scores = pairs.scores[at]
    names = np.array([genes[place] for place in pairs.regulators[regulators]], dtype=object)
    rank = np.empty(names.size, np.int64)
    rank[np.argsort(names, kind="stable")] = np.arange(names.size)
    is_later = rank[:, None] > rank
    weaker = np.zeros(pairs.shape, np.bool_)
    is_weaker = (scores < scores.T) | ((scores == scores.T) & is_later)
    weaker[at] = is_weaker & (pairs.undirected[at] | pairs.undirected[at].T)
    return weaker


def counted_scores(pairs: Pairs, genes: Sequence[str]) -> NDArray[np.float64]:
    """Return the scores of edges, those of an undirected pair once; 0 for its weaker way."""
    weaker = weaker_ways(pairs, genes)
    return pairs.scores if weaker is None else np.where(weaker, 0.0, pairs.scores)


def reversed_ways(pairs: Pairs, flags: Flags) -> Flags:
    """Return the flags of the opposite way of each pair; False where that is no pair."""
    regulators, targets = pairs.on_themselves
    at = np.ix_(regulators, targets)
    found = np.zeros(pairs.shape, np.bool_)
    found[at] = flags[at].T
    return found


def degrees(pairs: Pairs, n_genes: int) -> tuple[Places, Places]:
    """Return the selected regulators and targets of each gene; undirected edges count for both."""
    is_in, found = pairs.selected, np.zeros((2, n_genes), dtype=np.int64)
    if pairs.undirected is not None:
        is_in = is_in | reversed_ways(pairs, is_in & pairs.undirected)
    found[0, pairs.targets] = np.count_nonzero(is_in, axis=0)
    found[1, pairs.regulators] = np.count_nonzero(is_in, axis=1)
    return found[0], found[1]
