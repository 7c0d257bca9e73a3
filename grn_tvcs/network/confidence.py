"""Confidence: the probability that an edge is true, its consequences, and its calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

DECIMALS = 6  # of a confidence as it is kept, so that files hold it exactly
LIKELY = 0.5  # from this confidence on an edge is supported: at least as likely true as not
BINS = 10


def false_discovery(
    confidence: NDArray[np.float64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Expected share of false edges among all edges with at least the confidence of each.

    The running mean of ``1 - confidence`` over the edges with a score, in the order of falling
    confidence. Edges of equal confidence share it. 1 if there is no score, so no edge.

    Parameters
    ----------
    confidence
        Chance that each edge is true, in [0, 1].
    scores
        Of the same edges; those above 0 count.
    """
    found = np.ones(np.shape(confidence))
    has_score = np.asarray(scores) > 0
    values, at = np.unique(-np.asarray(confidence)[has_score], return_inverse=True)
    n = np.bincount(at, minlength=values.size)
    share = np.cumsum(n * (1.0 + values)) / np.cumsum(n)
    found[has_score] = np.clip(share, 0.0, 1.0)[at]
    return found


def expected_true(
    confidence: NDArray[np.float64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """True edges to be expected among the k of highest confidence, for k = 0, 1, ...; rising."""
    falling = np.sort(np.asarray(confidence)[np.asarray(scores) > 0])[::-1]
    return np.concatenate([[0.0], np.cumsum(falling)])


@dataclass(frozen=True)
class Calibration:
    """How a confidence compares with the truth, in bins of equal width.

    Attributes
    ----------
    claimed
        Mean confidence in each bin that holds a pair.
    true
        Share of its pairs that are edges.
    n
        Its number of pairs.
    """

    claimed: NDArray[np.float64]
    true: NDArray[np.float64]
    n: NDArray[np.int64]

    @property
    def error(self) -> float:
        """Expected calibration error: mean of ``|claimed - true|`` over pairs; NaN without any."""
        total = int(self.n.sum())
        if not total:
            return float("nan")
        return float((self.n * np.abs(self.claimed - self.true)).sum() / total)


def calibration_error(
    confidence: NDArray[Any], is_edge: NDArray[Any], above: float = 0.1, bins: int = BINS
) -> Calibration:
    """Compare confidences with the truth, over the pairs of a confidence above `above`.

    Parameters
    ----------
    confidence
        In [0, 1], of any shape; pairs that are no candidates must be left out or have 0.
    is_edge
        Whether each pair is an edge; the same shape.
    above
        Pairs of this confidence and less do not count: nearly all pairs are no edges, and with
        them every confidence near 0 looks honest.
    bins
        Bins of equal width from `above` to 1, each with its upper end.

    Raises
    ------
    ValueError
        If the shapes differ, a confidence is not in [0, 1], there is no bin, or `above` is not in
        [0, 1).
    """
    claimed, truth = np.asarray(confidence, dtype=np.float64), np.asarray(is_edge, dtype=bool)
    if claimed.shape != truth.shape:
        raise ValueError(f"is_edge must have the shape {claimed.shape}, found {truth.shape}")
    if not ((claimed >= 0) & (claimed <= 1)).all():
        raise ValueError("confidence must be from 0 to 1")
    if bins < 1 or not 0 <= above < 1:
        raise ValueError(f"bins must be >= 1 and above from 0 to below 1, found {bins} and {above}")
    counts = claimed > above
    claimed, truth = claimed[counts], truth[counts]
    ends = np.linspace(above, 1.0, bins + 1)
    at = np.searchsorted(ends[1:-1], claimed, side="left")
    n = np.bincount(at, minlength=bins)
    is_used = n > 0
    mean_claimed, mean_true = (
        np.bincount(at, weights=values, minlength=bins)[is_used] / n[is_used]
        for values in (claimed, truth)
    )
    return Calibration(mean_claimed, mean_true, n[is_used])
