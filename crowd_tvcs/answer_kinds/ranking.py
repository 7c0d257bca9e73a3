"""Rank items by comparisons of pairs: scores and ranks with intervals, chances of every pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from crowd_tvcs.answer_kinds.comparisons import Comparisons
from crowd_tvcs.answer_kinds.davidson import DavidsonFit, fit_davidson
from crowd_tvcs.arrays import Floats, Integers
from tvcs_core.arguments import check_type
from tvcs_core.files.display import plural, quoted
from tvcs_core.streams import stream

ITEM_COLUMNS = ("item", "score", "low", "high", "rank", "rank_low", "rank_high", "answers")
PAIR_COLUMNS = ("left", "right", "answers", "p_left", "p_right", "p_tie", "order_confidence")
WORKER_COLUMNS = ("worker", "answers", "weight", "side", "ties")
DRAWS = 400  # of the scores, for the ranks
INTERVAL = 0.9
Z_OF_INTERVAL = 1.6449
NODES = 9  # of Gauss and Hermite
WEIGHT_QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of the workers who are averaged over
MAX_EXCESS = 3.0  # standard errors; beyond it pairs contradict any scores
NAMED_PAIRS = 5  # known pairs, from which on claims are measured


class KnownOrders(NamedTuple):
    """Claims on pairs whose better item is known.

    Attributes
    ----------
    pairs
        Their number.
    claimed, right
        Mean claim and share right; None without pairs.
    left_out
        Number of given pairs with an item that was never compared.
    """

    pairs: int
    claimed: float | None
    right: float | None
    left_out: int


@dataclass(frozen=True, eq=False)
class Ranking:
    """Items in order of their scores.

    Attributes
    ----------
    data
        The comparisons.
    fit
        The fitted model.
    rank, rank_low, rank_high
        Rank of every item, 1 for the highest score, and the 90 % interval of it.
    excess
        How far answers on the same pair agree beyond the scores, in standard errors.
    known
        Claims on pairs of known order; None if none was given.
    """

    data: Comparisons
    fit: DavidsonFit
    rank: Integers
    rank_low: Integers
    rank_high: Integers
    excess: float
    known: KnownOrders | None

    def __repr__(self) -> str:
        return f"Ranking({plural(len(self.data.items), 'item')})"

    @property
    def is_measured(self) -> bool:
        """Whether known orders measured the confidence in the order of a pair."""
        return self.known is not None and self.known.pairs >= NAMED_PAIRS

    @property
    def half_interval(self) -> Floats:
        """Half the 90 % interval of every score, relative to the mean of all."""
        n = len(self.data.items)
        centre = np.eye(n) - 1 / n
        variance = np.einsum("ij,jk,ik->i", centre, self.fit.covariance, centre)
        return Z_OF_INTERVAL * np.sqrt(variance)

    def item_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of `ITEM_COLUMNS`, best first."""
        half, answers = self.half_interval, self.data.per_item
        for k in np.argsort(self.rank).tolist():
            score = float(self.fit.score[k])
            yield (
                self.data.items[k], score, score - float(half[k]), score + float(half[k]),
                int(self.rank[k]), int(self.rank_low[k]), int(self.rank_high[k]), int(answers[k]),
            )  # fmt: skip

    def pair_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of `PAIR_COLUMNS`, of every compared pair in order of the names.

        The chances are of the answer of a typical worker. The confidence that the item of higher
        score is better is None unless it is measured.
        """
        counts = self.data.per_pair
        left, right = np.nonzero(np.triu(counts))
        differs, sd = pair_differences(self.fit)
        chances = typical_chances(self.fit, differs[left, right], sd[left, right])
        sure = ndtr(np.abs(differs[left, right]) / sd[left, right])
        for k, (i, j) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            yield (
                self.data.items[i], self.data.items[j], int(counts[i, j]), *chances[k].tolist(),
                float(sure[k]) if self.is_measured else None,
            )  # fmt: skip

    def worker_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of `WORKER_COLUMNS`."""
        fit = self.fit
        columns = (self.data.workers, self.data.per_worker.tolist())
        of_fit = (one.tolist() for one in (fit.weight, fit.side, fit.tie))
        yield from zip(*columns, *of_fit, strict=True)

    def sentences(self) -> list[str]:
        """Describe the claims, and how they were measured."""
        out = []
        if self.excess > MAX_EXCESS:
            out.append(
                f"warning: answers on the same pair agree {self.excess:.1f} standard errors more "
                "than scores explain, as where a beats b, b beats c and c beats a; confidences and "
                "intervals are too narrow then"
            )
        if self.known is None:
            out.append(
                "confidence in the order of a pair not measured: give --gold, pairs of known order;"
                " the 90 % intervals are those of the model"
            )
        elif not self.is_measured:
            out.append(
                f"confidence in the order of a pair not measured: {NAMED_PAIRS} pairs of known "
                f"order are needed, found {self.known.pairs}"
            )
        else:
            assert self.known.right is not None
            assert self.known.claimed is not None
            out.append(
                f"on {plural(self.known.pairs, 'pair')} of known order: "
                f"{self.known.right:.3f} in this "
                f"order, claimed {self.known.claimed:.3f}"
            )
        if self.known is not None and self.known.left_out:
            out.append(
                f"warning: {plural(self.known.left_out, 'pair')} of known order, with "
                "an item that was never compared, left out"
            )
        return out


def rank_items(
    data: Comparisons,
    *,
    known: Mapping[tuple[str, str], str] | None = None,
    one_worker: bool = False,
    rng: np.random.Generator | int | None = None,
) -> Ranking:
    """Rank items by comparisons of pairs (see `crowd_tvcs.answer_kinds.davidson`).

    Parameters
    ----------
    data
        The comparisons.
    known
        The better item of pairs of known order. They measure the confidences and fit nothing; items
        that were not compared are left out.
    one_worker
        Whether all workers are taken as alike: better if most gave fewer than ten answers.
    rng
        Source of the draws behind the intervals of ranks; same seed, same result.

    Examples
    --------
    >>> rows = [("ann", "a", "b", "left"), ("ann", "b", "c", "left"), ("bob", "c", "a", "right")]
    >>> [row[0] for row in rank_items(Comparisons.of(rows), rng=0).item_rows()]
    ['a', 'b', 'c']
    """
    check_type("data", data, Comparisons)
    fit = fit_davidson(data, one_worker=one_worker)
    low, high = _rank_interval(fit, stream(rng, "rank intervals"))
    rank = _ranks(fit.score[:, None])[:, 0]
    measured = None if known is None else _measure(data, fit, known)
    return Ranking(
        data, fit, rank, np.minimum(low, rank), np.maximum(high, rank), _excess(data, fit), measured
    )


def pair_differences(fit: DavidsonFit) -> tuple[Floats, Floats]:
    """Return the difference of the scores of every two items, and its standard deviation."""
    variance = np.diag(fit.covariance)
    of_pair = variance[:, None] + variance - 2 * fit.covariance
    return fit.score[:, None] - fit.score, np.sqrt(np.maximum(of_pair, 1e-9))


def chances_at_nodes(
    fit: DavidsonFit, differs: Floats, sd: Floats, weight: float = 1.0
) -> tuple[Floats, Floats]:
    """Return the chances (left, right, tie) at uncertain differences of scores, sides even.

    Returns
    -------
    tuple
        The chances at the nodes of Gauss and Hermite, of shape (..., NODES, 3), and the weights of
        the nodes.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    u = 0.5 * weight * (differs[..., None] + sd[..., None] * nodes)
    logs = np.stack([u, -u, np.full_like(u, fit.common_tie)], axis=-1)
    chances = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return chances / chances.sum(axis=-1, keepdims=True), weights / weights.sum()


def typical_chances(fit: DavidsonFit, differs: Floats, sd: Floats) -> Floats:
    """Return the chances of the answer (left, right, tie), averaged over workers: (..., 3)."""
    found = []
    for weight in np.quantile(fit.weight, WEIGHT_QUANTILES):
        chances, of_node = chances_at_nodes(fit, differs, sd, float(weight))
        found.append((chances * of_node[:, None]).sum(axis=-2))
    return np.mean(found, axis=0)


def _ranks(scores: Floats) -> Integers:
    """Return the ranks within every column, 1 for the highest."""
    order = np.argsort(-scores, axis=0, kind="stable")
    return np.argsort(order, axis=0, kind="stable") + 1


def _rank_interval(fit: DavidsonFit, rng: np.random.Generator) -> tuple[Integers, Integers]:
    n = fit.score.size
    root = np.linalg.cholesky(fit.covariance + 1e-9 * np.eye(n))
    drawn = _ranks(fit.score[:, None] + root @ rng.standard_normal((n, DRAWS)))
    ends = np.quantile(drawn, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2], axis=1, method="nearest")
    return ends[0].astype(np.int64), ends[1].astype(np.int64)


def _excess(data: Comparisons, fit: DavidsonFit) -> float:
    """Return how far residuals on the same pair agree, in standard errors; 0 without repeats."""
    n = len(data.items)
    low, high = np.minimum(data.left_of, data.right_of), np.maximum(data.left_of, data.right_of)
    _, pair = np.unique(low * n + high, return_inverse=True)
    residual = fit.residuals[:, 0] * np.where(data.left_of == low, 1, -1)
    variance = fit.residuals[:, 1]
    product = np.bincount(pair, residual) ** 2 - np.bincount(pair, residual**2)
    expected = np.bincount(pair, variance) ** 2 - np.bincount(pair, variance**2)
    total = 2 * float(np.maximum(expected, 0).sum())
    return float(product.sum()) / np.sqrt(total) if total > 1e-9 else 0.0


def _measure(
    data: Comparisons, fit: DavidsonFit, known: Mapping[tuple[str, str], str]
) -> KnownOrders:
    place = {name: k for k, name in enumerate(data.items)}
    differs, sd = pair_differences(fit)
    claims, right = [], []
    for (one, other), better in known.items():
        if better not in (one, other):
            raise ValueError(f"the better of a pair must be one of the two, found {quoted(better)}")
        if one in place and other in place:
            worse = other if better == one else one
            i, j = place[better], place[worse]
            claims.append(float(ndtr(abs(differs[i, j]) / sd[i, j])))
            right.append(bool(differs[i, j] > 0))
    left_out = len(known) - len(claims)
    if not claims:
        return KnownOrders(0, None, None, left_out)
    return KnownOrders(len(claims), float(np.mean(claims)), float(np.mean(right)), left_out)
