"""Edges in the order of files: the surest first, equal ones by name; with their ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from grn_tvcs.network.edge import SIGNS, Edge
from grn_tvcs.network.evidence import NAMES
from grn_tvcs.network.pairs import EXTRA, Floats, Pairs, Places

BLOCK = 2**14  # pairs that are written at once
EXACT_POWERS = np.array([float(10**k) for k in range(23)])  # of ten: larger ones are no doubles
NO_TIE = 0.499  # from a whole number, beyond which a rounded product may hide a tie


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
    """Return all pairs with a score."""
    return _ranked(pairs, in_order(pairs, genes, np.flatnonzero(pairs.scores)))


def ranked_selected(pairs: Pairs, genes: Sequence[str]) -> Ranked:
    """Return the selected pairs."""
    return _ranked(pairs, in_order(pairs, genes, np.flatnonzero(pairs.selected)))


def ranked_top(pairs: Pairs, genes: Sequence[str], n: int) -> Ranked:
    """Return the `n` surest pairs and every selected one."""
    flat = np.union1d(surest(pairs, genes, n), np.flatnonzero(pairs.selected))
    return _ranked(pairs, in_order(pairs, genes, flat))


def blocks(pairs: Pairs, genes: Sequence[str], top: int | None = None) -> Iterator[Ranked]:
    """All pairs with a score, or the `top` surest and every selected one, some at a time."""
    some = ranked(pairs, genes) if top is None else ranked_top(pairs, genes, top)
    for start in range(0, some.rows.size, BLOCK):
        yield Ranked(*(part[start : start + BLOCK] for part in some))


def columns_of(pairs: Pairs, names: Sequence[Any], some: Ranked) -> dict[str, list[Any]]:
    """Return the columns of ``edges.tsv`` for these pairs: `edge.HEADER`, and what else is known.

    `names` are those of the genes, or what stands for them.
    """
    at = (some.rows, some.cols)
    columns: dict[str, list[Any]] = {
        "regulator": [names[i] for i in pairs.regulators[some.rows].tolist()],
        "target": [names[j] for j in pairs.targets[some.cols].tolist()],
        "score": pairs.scores[at].tolist(),
        "sign": [SIGNS[sign] for sign in pairs.signs[at].tolist()],
        "rank": some.ranks.tolist(),
        "selected": pairs.selected[at].tolist(),
    }
    for name in EXTRA:
        if (values := getattr(pairs, name)) is not None:
            columns[name] = values[at].tolist()
    if "evidence" in columns:
        columns["evidence"] = [NAMES[code] for code in columns["evidence"]]
    return columns


def edges_of(pairs: Pairs, genes: Sequence[str], some: Ranked) -> list[Edge]:
    """Return these pairs as edges."""
    columns = columns_of(pairs, genes, some)
    known = {field.name: columns[field.name] for field in fields(Edge) if field.name in columns}
    return [Edge(**dict(zip(known, row, strict=True))) for row in zip(*known.values(), strict=True)]


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


def _ranked(pairs: Pairs, flat: Places) -> Ranked:
    """Return pairs in their order with the ranks of their scores among all."""
    rows, cols = np.divmod(flat, max(pairs.targets.size, 1))
    rising = np.sort(pairs.scores, axis=None)
    n_above = rising.size - np.searchsorted(rising, pairs.scores.ravel()[flat], side="right")
    return Ranked(rows, cols, 1 + n_above)


def significant(scores: Floats, digits: int) -> Floats:
    """Round scores >= 0 to significant digits, as ``%.6g`` does: files hold them exactly."""
    rounded, is_scored = scores.copy(), scores > 0
    some = scores[is_scored]
    places = digits - 1 - np.floor(np.log10(some)).astype(np.int64)
    power = EXACT_POWERS[np.clip(places, 0, EXACT_POWERS.size - 1)]
    whole = np.rint(some * power)
    # A whole number over a power of ten, both exact, is the double that is nearest to the text.
    is_exact = (
        (places >= 0) & (places < EXACT_POWERS.size) & (np.abs(some * power - whole) < NO_TIE)
    )
    is_exact &= (whole >= 10 ** (digits - 1)) & (whole <= 10**digits)
    found = whole / power
    found[~is_exact] = [float(f"{score:.{digits}g}") for score in some[~is_exact].tolist()]
    rounded[is_scored] = found
    return rounded
