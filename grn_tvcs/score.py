"""How well a network agrees with a reference: the scores of the paper, and areas of the ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.network import Network

NAMES = {
    "sn": "SN", "sp": "SP", "acc": "ACC", "f": "F", "mcc": "MCC",
    "auc": "AUC", "auroc": "AUROC", "aupr": "AUPR",
}  # fmt: skip


@dataclass(frozen=True)
class Scores:
    """Agreement of a network with a reference over all ordered pairs of distinct genes.

    Attributes
    ----------
    sn, sp
        Sensitivity and specificity of the selected edges, in [0, 1].
    acc
        Part of all pairs that are told right.
    f
        Harmonic mean of `sn` and `sp`, as in the paper (not the F1 of precision and recall).
    mcc
        Matthews correlation coefficient in [-1, 1]; 0 where it is 0 / 0.
    auc
        Area under the curve of the selected edges alone, ``(sn + sp) / 2``.
    auroc, aupr
        Area under the ROC curve and average precision of the whole ranking; pairs without a
        score stand last and ties share their rank.
    aupr_by_chance
        What a random ranking gets on average: the part of all pairs that are edges.
    n_pairs, n_edges, n_selected, n_found
        Pairs that count, edges of the reference, selected edges, and those that are both.
    """

    sn: float
    sp: float
    acc: float
    f: float
    mcc: float
    auc: float
    auroc: float
    aupr: float
    aupr_by_chance: float
    n_pairs: int
    n_edges: int
    n_selected: int
    n_found: int


def score(network: Network, reference: Network) -> Scores:
    """Compare `network` with `reference`, whose selected edges are the true ones.

    Only ordered pairs of distinct genes count; a pair absent from `network` has score 0.
    Ties share their rank, so the areas do not depend on the order of genes. A part of nothing
    (the specificity of a reference that holds every pair) is NaN.

    Raises
    ------
    ValueError
        If the two have different genes, or the reference has no edge.
    """
    if sorted(network.genes) != sorted(reference.genes):
        raise ValueError("network and reference must have the same genes")
    place = {gene: i for i, gene in enumerate(reference.genes)}
    order = np.array([place[gene] for gene in network.genes])
    is_pair = ~np.eye(len(order), dtype=bool)
    truth = np.asarray(reference.selected)[np.ix_(order, order)][is_pair]
    selected = np.asarray(network.selected)[is_pair]
    if not truth.any():
        raise ValueError("the reference must have an edge, found none")
    tp = int((truth & selected).sum())
    fp = int((~truth & selected).sum())
    fn = int((truth & ~selected).sum())
    tn = int((~truth & ~selected).sum())
    sn, sp = tp / (tp + fn), _part(tn, tn + fp)
    spread = np.sqrt(float(tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    ranking = network.scores[is_pair]
    return Scores(
        sn=sn,
        sp=sp,
        acc=(tp + tn) / truth.size,
        f=0.0 if sn + sp == 0 else 2 * sn * sp / (sn + sp),
        mcc=(tp * tn - fp * fn) / float(spread) if spread else 0.0,
        auc=(sn + sp) / 2,
        auroc=area_under_roc(truth, ranking),
        aupr=average_precision(truth, ranking),
        aupr_by_chance=(tp + fn) / truth.size,
        n_pairs=truth.size,
        n_edges=tp + fn,
        n_selected=tp + fp,
        n_found=tp,
    )


def area_under_roc(truth: NDArray[np.bool_], ranking: NDArray[np.float64]) -> float:
    """Chance that a true pair ranks above a false one, ties counting half (Mann and Whitney)."""
    true_at, false_at = _counts(truth, ranking)
    false_above = np.cumsum(false_at) - false_at
    won = (true_at * (false_at.sum() - false_above - false_at / 2)).sum()
    return _part(float(won), float(true_at.sum() * false_at.sum()))


def average_precision(truth: NDArray[np.bool_], ranking: NDArray[np.float64]) -> float:
    """Precision at each distinct score, weighted with the recall that it adds."""
    true_at, false_at = _counts(truth, ranking)
    found = np.cumsum(true_at)
    precision = found / np.cumsum(true_at + false_at)
    return _part(float((precision * true_at).sum()), float(found[-1]))


def _counts(
    truth: NDArray[np.bool_], ranking: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many true and false pairs stand at each distinct score, the highest first."""
    values, at = np.unique(-ranking, return_inverse=True)
    true_at = np.bincount(at, weights=truth, minlength=values.size).astype(np.int64)
    return true_at, np.bincount(at, minlength=values.size) - true_at


def _part(some: float, whole: float) -> float:
    return some / whole if whole else float("nan")
