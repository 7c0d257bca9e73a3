"""Lists of edges with scores, and the signs that scores below 0 give."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.network.programs.edge_list import SCORE, SIGNED, EdgeList, open_edges
from grn_tvcs.network.programs.signs import SHOWN, sign_of
from tvcs_core.files.display import joined, plural, quoted
from tvcs_core.files.tables import is_number

if TYPE_CHECKING:
    import pandas as pd

MAY_BE_SIGNED = ("edgeweight", "weight")  # signed scores if any of them is below 0
CYTOSCAPE = {"suid", "shared name"}  # its column ``selected`` is not ours


def open_scored_edges(source: str | Path | pd.DataFrame, genes: Collection[str] = ()) -> EdgeList:
    """Read a table of edges; without known names they are regulator, target, score or sign."""
    edges = open_edges(source, "a score", genes)
    if not edges.columns:
        edges = edges._replace(columns=_by_place(edges))
    is_ours = "selected" in edges.columns and CYTOSCAPE.isdisjoint(
        cell.lower() for cell in edges.table.rows[0]
    )
    return edges._replace(is_shielded=is_ours)


def _by_place(edges: EdgeList) -> dict[str, int]:
    """Places of the columns of a table whose first row names none."""
    table, first = edges.table, edges.first
    top = table.rows[first]
    if len(top) < 2:
        raise table.error("must have the columns regulator and target", row=0)
    names = ("regulator", "target", "score")
    if len(top) > 2 and not is_number(top[2]):
        if any(sign_of(row[2]) is None for row in table.rows[first:]):
            raise table.error(
                "the third cell must be a number (regulator, target, score) or a sign, or the "
                f"first row must name the columns regulator, target and score; found {joined(top)}",
                row=first,
            )
        names = ("regulator", "target", "sign")
    return dict(zip(names, range(len(top)), strict=False))


def scores_and_signs(
    edges: EdgeList,
) -> tuple[NDArray[np.float64], NDArray[np.int8], list[str]]:
    """Return scores, signs, and every cell of a column of signs that is none.

    A column of signs counts before a score below 0. Without a column of scores each is 1.
    """
    scores, unknown = np.ones(edges.n_edges), []
    signs = np.zeros(edges.n_edges, np.int8)
    if "score" in edges.columns:
        scores = edges.numbers("score")
        signs = _signs_of(edges, scores)
    if "sign" in edges.columns:
        for i, cell in enumerate(edges.cells("sign")):
            sign = sign_of(cell)
            if sign is None:
                unknown.append(cell)
            elif sign > 0 > scores[i]:
                raise edges.error(
                    f"says activation, but the score is below 0 ({scores[i]:g}), which says "
                    "repression; correct one of them",
                    i,
                    "sign",
                )
            signs[i] = sign or 0
    return np.abs(scores), signs, unknown


def _signs_of(edges: EdgeList, scores: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return the signs of a column of scores."""
    name, is_below = edges.header("score"), scores < 0
    if name in SIGNED or (name in MAY_BE_SIGNED and is_below.any()):
        return np.sign(scores).astype(np.int8)
    if is_below.any():
        i = int(np.flatnonzero(is_below)[0])
        raise edges.error(
            f"a score must be >= 0, found {quoted(edges.cells('score')[i])}; where one below 0 "
            "represses, call the column weight or EdgeWeight",
            i,
            "score",
        )
    return np.zeros(scores.size, np.int8)


def unread(edges: EdgeList, signs: Sequence[str]) -> list[str]:
    """A sentence about a header without scores, and one about signs that are none."""
    sentences = []
    if edges.first and "score" not in edges.columns:
        read = {place for name, place in edges.columns.items() if name != "rank"}
        if others := [name for j, name in enumerate(edges.table.rows[0]) if j not in read]:
            sentences.append(
                f"no column is called {', '.join(SCORE)}, so every edge has the score 1; not "
                f"read: {joined(others)}"
            )
    if signs:
        found = joined(dict.fromkeys(signs))
        sentences.append(
            f"{plural(len(signs), 'sign counts', 'signs count')} as ?: {found}; a sign is {SHOWN}"
        )
    return sentences
