"""The evidence for the score of an edge: the series, knock-outs, trees, prior edges, or several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Trees and correlation are of levels in the same sample.
SOURCES = ("series", "knock-out", "knock-down", "trees", "correlation", "prior")
LEAST_SHARE = 0.25  # of the score: a source with less does not carry the edge


def _name(code: int) -> str:
    return "+".join(source for bit, source in enumerate(SOURCES) if code >> bit & 1)


NAMES = tuple(_name(code) for code in range(2 ** len(SOURCES)))  # by code; 0 has no name
CODES = {name: code for code, name in enumerate(NAMES) if name}


def evidence_codes(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.uint8]:
    """Code of the evidence of every edge, a place in `NAMES`.

    `parts` are what the first of `SOURCES` add to the score, >= 0. A source is named if its part
    is at least `LEAST_SHARE` of their sum, or the largest, so an edge with a score has one to
    four. 0 where there is no score.
    """
    total, largest = np.sum(parts, axis=0), np.max(parts, axis=0)
    codes = np.zeros(total.shape, dtype=np.uint8)
    for bit, part in enumerate(parts):
        is_named = (total > 0) & ((part >= LEAST_SHARE * total) | (part == largest))
        codes |= is_named.astype(np.uint8) << np.uint8(bit)
    return codes
