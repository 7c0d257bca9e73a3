"""How well a network agrees with a reference: the scores of the paper, and areas of the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.network.network import Network

NAMES = {
    "sn": "SN", "sp": "SP", "acc": "ACC", "f": "F", "mcc": "MCC", "auc": "AUC",
    "auroc": "AUROC", "aupr": "AUPR", "early_precision": "EP",
}  # fmt: skip
PAIRS = ("all", "linked")
CUTS = ("caps", "top-n", "own")


@dataclass(frozen=True)
class Scores:
    """Agreement of a network with a reference over ordered pairs of distinct genes.

    Attributes
    ----------
    sn, sp
        Sensitivity and specificity of the selected edges, in [0, 1].
    acc
        Part of the pairs that are told right.
    f
        Harmonic mean of `sn` and `sp`, as in the paper (not the F1 of precision and recall).
    mcc
        Matthews correlation coefficient in [-1, 1]; 0 where it is 0 / 0.
    auc
        Area under the curve of the selected edges alone, ``(sn + sp) / 2``.
    auroc, aupr
        Area under the ROC curve and average precision of the whole ranking; pairs without a
        score stand last and ties share their rank.
    early_precision
        Part of the surest pairs that are edges, as many pairs as there are edges, or all with a
        score if these are fewer; at the end ties count in part.
    aupr_by_chance
        What a random ranking gets on average, for `aupr` and `early_precision`: the part of the
        pairs that are edges.
    n_pairs, n_edges, n_selected, n_found
        Pairs that count, edges of the reference, selected edges, and those that are both.
    pairs
        Which pairs count, one of `PAIRS`.
    cut
        How the selected edges were selected, one of `CUTS`.
    """

    sn: float
    sp: float
    acc: float
    f: float
    mcc: float
    auc: float
    auroc: float
    aupr: float
    early_precision: float
    aupr_by_chance: float
    n_pairs: int
    n_edges: int
    n_selected: int
    n_found: int
    pairs: str
    cut: str


def score(network: Network, reference: Network, *, pairs: str = "all", cut: str = "caps") -> Scores:
    """Compare `network` with `reference`, whose selected edges are the true ones.

    A pair absent from `network` has score 0. Ties share their rank, so the areas do not depend
    on the order of genes. A part of nothing (the specificity of a reference that holds every
    pair) is NaN.

    Parameters
    ----------
    network, reference
        Over the same genes, in any order.
    pairs
        ``"all"`` ordered pairs of distinct genes; or the ``"linked"`` ones only, both orders of
        two genes with an edge in the reference: how well directions are told, as in the paper's
        table.
    cut
        What SN to AUC judge. ``"top-n"``: the n surest of the pairs that count, n edges of the
        reference among them, of equal ones the first by name. ``"caps"`` and ``"own"``: the
        selected edges of `network`, said to come from caps or from the method itself.

    Raises
    ------
    ValueError
        If the two have different genes, the reference has no edge, or `pairs` or `cut` is
        unknown.
    """
    if sorted(network.genes) != sorted(reference.genes):
        raise ValueError("network and reference must have the same genes")
    for name, value, known in (("pairs", pairs, PAIRS), ("cut", cut, CUTS)):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, found {value!r}")
    place = {gene: i for i, gene in enumerate(reference.genes)}
    order = np.array([place[gene] for gene in network.genes])
    is_edge = np.asarray(reference.selected)[np.ix_(order, order)]
    if not is_edge.any():
        raise ValueError("the reference must have an edge, found none")
    counts = is_edge | is_edge.T if pairs == "linked" else ~np.eye(len(order), dtype=bool)
    if cut == "top-n":
        network = Network(network.genes, np.where(counts, network.scores, 0.0))
        network = network.top(int(is_edge.sum()))
    truth, ranking = is_edge[counts], network.scores[counts]
    return Scores(
        **_of_graph(truth, np.asarray(network.selected)[counts]),
        auroc=area_under_roc(truth, ranking),
        aupr=average_precision(truth, ranking),
        early_precision=early_precision(truth, ranking),
        pairs=pairs,
        cut=cut,
    )


def _of_graph(truth: NDArray[np.bool_], selected: NDArray[np.bool_]) -> dict[str, Any]:
    tp = int((truth & selected).sum())
    fp = int((~truth & selected).sum())
    fn = int((truth & ~selected).sum())
    tn = int((~truth & ~selected).sum())
    sn, sp = tp / (tp + fn), _part(tn, tn + fp)
    spread = np.sqrt(float(tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return {
        "sn": sn,
        "sp": sp,
        "acc": (tp + tn) / truth.size,
        "f": 0.0 if sn + sp == 0 else 2 * sn * sp / (sn + sp),
        "mcc": (tp * tn - fp * fn) / float(spread) if spread else 0.0,
        "auc": (sn + sp) / 2,
        "aupr_by_chance": (tp + fn) / truth.size,
        "n_pairs": truth.size,
        "n_edges": tp + fn,
        "n_selected": tp + fp,
        "n_found": tp,
    }


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


def early_precision(truth: NDArray[np.bool_], ranking: NDArray[np.float64]) -> float:
    """Precision of the first pairs, as many as are true, pairs without a score left out.

    Of a tie at the end as many count as have room, each as true as the tie is on average. NaN
    if no pair has a score.
    """
    has_score = ranking > 0
    true_at, false_at = _counts(truth[has_score], ranking[has_score])
    size = true_at + false_at
    room = np.clip(int(truth.sum()) - (np.cumsum(size) - size), 0, size)
    return _part(float((true_at * room / size).sum()), float(room.sum()))


def _counts(
    truth: NDArray[np.bool_], ranking: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many true and false pairs stand at each distinct score, the highest first."""
    values, at = np.unique(-ranking, return_inverse=True)
    true_at = np.bincount(at, weights=truth, minlength=values.size).astype(np.int64)
    return true_at, np.bincount(at, minlength=values.size) - true_at


def _part(some: float, whole: float) -> float:
    return some / whole if whole else float("nan")
