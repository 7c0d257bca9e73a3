"""The evidence for the score of an edge: the series, knock-outs, trees, prior edges, or several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Trees and correlation are of levels in the same sample. Methods count over-expression as a
# knock-down of the other sign.
SOURCES = (
    "series", "knock-out", "knock-down", "trees", "correlation", "prior", "over-expression",
)  # fmt: skip
LEAST_SHARE = 0.25  # of the score: a source with less does not carry the edge


def _name(code: int) -> str:
    return "+".join(source for bit, source in enumerate(SOURCES) if code >> bit & 1)


NAMES = tuple(_name(code) for code in range(2 ** len(SOURCES)))  # by code; 0 has no name
CODES = {name: code for code, name in enumerate(NAMES) if name}


def evidence_codes(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.uint8]:
    """Code of the evidence of every edge, a place in `NAMES`.

    `parts` are shares of the first of `SOURCES` in the score, >= 0. A source is named if its part
    is at least `LEAST_SHARE` of their sum, or the largest, so an edge with a score has one to
    four. 0 if there is no score.
    """
    total, largest = np.sum(parts, axis=0), np.max(parts, axis=0)
    codes = np.zeros(total.shape, dtype=np.uint8)
    for bit, part in enumerate(parts):
        is_named = (total > 0) & ((part >= LEAST_SHARE * total) | (part == largest))
        codes |= is_named.astype(np.uint8) << np.uint8(bit)
    return codes


def name_overexpressed(codes: NDArray[np.uint8], is_up: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Name the evidence of over-expressed regulators, which methods count as knock-downs.

    Parameters
    ----------
    codes
        By pair; [regulator, target].
    is_up
        Whether each regulator was over-expressed and never knocked down.
    """
    down, up = (np.uint8(1 << SOURCES.index(kind)) for kind in ("knock-down", "over-expression"))
    is_renamed = is_up[:, None] & ((codes & down) > 0)
    return np.where(is_renamed, codes ^ down | up, codes)
