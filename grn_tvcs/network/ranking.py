"""Edges in the order of files: the surest first, equal ones by name; with their ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.network.edge import SIGNS, Edge
from grn_tvcs.network.evidence import NAMES
from grn_tvcs.network.pairs import EXTRA, Floats, Pairs, Places

CHUNK = 2**22  # scores that are counted at once
BLOCK = 2**14  # pairs that are written at once


class Ranked(NamedTuple):
    """Some pairs with a score in their order.

    Attributes
    ----------
    rows, cols
        Their positions in the arrays of `Pairs`.
    ranks
        1 is the surest of all pairs; equal scores share a rank.
    """

    rows: Places
    cols: Places
    ranks: Places


def ranked(pairs: Pairs, genes: Sequence[str]) -> Ranked:
    """All pairs with a score."""
    flat = in_order(pairs, genes, np.flatnonzero(pairs.scores))
    falling = -pairs.scores.ravel()[flat]
    return _ranked(pairs, flat, 1 + np.searchsorted(falling, falling, side="left"))


def ranked_selected(pairs: Pairs, genes: Sequence[str]) -> Ranked:
    """The selected pairs; memory and all time but one pass are for these alone."""
    flat = in_order(pairs, genes, np.flatnonzero(pairs.selected))
    return _ranked(pairs, flat, _ranks(pairs.scores, pairs.scores.ravel()[flat]))


def ranked_top(pairs: Pairs, genes: Sequence[str], n: int) -> Ranked:
    """The `n` surest pairs and every selected one."""
    flat = np.union1d(surest(pairs, genes, n), np.flatnonzero(pairs.selected))
    flat = in_order(pairs, genes, flat)
    return _ranked(pairs, flat, _ranks(pairs.scores, pairs.scores.ravel()[flat]))


def blocks(pairs: Pairs, genes: Sequence[str], top: int | None = None) -> Iterator[Ranked]:
    """All pairs with a score, or the `top` surest and every selected one, some at a time."""
    if top is not None:
        some = ranked_top(pairs, genes, top)
        for start in range(0, some.rows.size, BLOCK):
            yield Ranked(*(part[start : start + BLOCK] for part in some))
        return
    flat = in_order(pairs, genes, np.flatnonzero(pairs.scores))
    scores, last, rank = pairs.scores.ravel(), np.inf, 1
    for start in range(0, flat.size, BLOCK):
        at = flat[start : start + BLOCK]
        falling = scores[at]
        is_next = falling < np.concatenate([[last], falling[:-1]])
        ranks = np.maximum.accumulate(np.where(is_next, start + 1 + np.arange(at.size), rank))
        last, rank = falling[-1], int(ranks[-1])
        yield _ranked(pairs, at, ranks)


def edges_of(pairs: Pairs, genes: Sequence[str], some: Ranked) -> list[Edge]:
    """Return these pairs as edges."""
    at, nothing = (some.rows, some.cols), [None] * some.rows.size
    confidence, false = (
        nothing if known is None else known[at].tolist()
        for known in (pairs.confidence, pairs.false_discovery)
    )
    undirected = [False] * some.rows.size
    if pairs.undirected is not None:
        undirected = pairs.undirected[at].tolist()
    codes = np.zeros(some.rows.size, int) if pairs.evidence is None else pairs.evidence[at]
    columns = zip(
        pairs.regulators[some.rows].tolist(), pairs.targets[some.cols].tolist(),
        pairs.scores[at].tolist(), pairs.signs[at].tolist(), some.ranks.tolist(),
        pairs.selected[at].tolist(), codes.tolist(), confidence, false, undirected, strict=True,
    )  # fmt: skip
    return [
        Edge(genes[i], genes[j], score, SIGNS[sign], rank, is_in, NAMES[code], *known)
        for i, j, score, sign, rank, is_in, code, *known in columns
    ]


def extra_columns(pairs: Pairs, some: Ranked) -> dict[str, list[Any]]:
    """Return the columns of these pairs beside `edge.HEADER`, by name."""
    known = [(name, getattr(pairs, name)) for name in EXTRA]
    columns = {
        name: values[some.rows, some.cols].tolist() for name, values in known if values is not None
    }
    if "evidence" in columns:
        columns["evidence"] = [NAMES[code] for code in columns["evidence"]]
    return columns


def surest(pairs: Pairs, genes: Sequence[str], n: int) -> Places:
    """Flat places of the `n` surest pairs in their order; of equal ones the first by name."""
    scores = pairs.scores.ravel()
    least = np.partition(scores, -n)[-n] if 0 < n < scores.size else 0.0
    flat = np.flatnonzero((scores >= least) & (scores > 0))
    return in_order(pairs, genes, flat)[:n]


def in_order(pairs: Pairs, genes: Sequence[str], flat: Places) -> Places:
    """Flat places of pairs, given as they rise, by falling score and then by names."""
    rank_of = np.empty(len(genes), dtype=np.int64)
    rank_of[np.argsort(np.array(genes, dtype=object), kind="stable")] = np.arange(len(genes))
    by_name = rank_of[pairs.regulators], rank_of[pairs.targets]
    if any((np.diff(part) < 0).any() for part in by_name):
        rows, cols = np.divmod(flat, max(pairs.targets.size, 1))
        flat = flat[np.lexsort((by_name[1][cols], by_name[0][rows]))]
    return flat[np.argsort(-pairs.scores.ravel()[flat], kind="stable")]


def _ranked(pairs: Pairs, flat: Places, ranks: NDArray[np.intp]) -> Ranked:
    rows, cols = np.divmod(flat, max(pairs.targets.size, 1))
    return Ranked(rows, cols, ranks.astype(np.int64))


def _ranks(scores: Floats, some: Floats) -> NDArray[np.intp]:
    """Rank of `some` of the scores among all."""
    values, at = np.unique(some, return_inverse=True)
    if not values.size:
        return np.zeros(0, dtype=np.intp)
    above = np.zeros(values.size + 1, dtype=np.intp)  # by how many of the values a score is above
    scores = scores.ravel()
    for start in range(0, scores.size, CHUNK):
        part = scores[start : start + CHUNK]
        part = part[part > values[0]]
        above += np.bincount(np.searchsorted(values, part), minlength=values.size + 1)
    return 1 + np.cumsum(above[::-1])[::-1][1:][at]
