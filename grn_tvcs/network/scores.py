"""How well a network agrees with a reference: the scores of the paper, and areas of the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grn_tvcs.expression.judge.same_names import NO_IDENTIFIERS
from grn_tvcs.expression.user_warnings import warn_user
from grn_tvcs.network.edge_files import read_reference
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import FIXED, Edges, Floats, Pairs, Places
from grn_tvcs.network.ranking import surest
from tvcs_core.arguments import check_choice, check_type
from tvcs_core.files.display import joined, summary
from tvcs_core.files.frames import is_frame

if TYPE_CHECKING:
    import pandas as pd

NAMES = {
    "sn": "SN", "sp": "SP", "acc": "ACC", "f": "F", "f1": "F1", "mcc": "MCC", "auc": "AUC",
    "auroc": "AUROC", "aupr": "AUPR", "early_precision": "EP",
}  # fmt: skip
PAIRS = ("all", "linked")
CUTS = ("caps", "top-n", "own")
HOW_TO_MAKE = (
    'pandas.DataFrame(edges, columns=["regulator", "target"]) makes one of pairs, '
    "Network.from_networkx(graph) of a graph"
)


@dataclass(frozen=True)
class Scores:
    """Agreement of a network with a reference over ordered pairs of distinct genes.

    Attributes
    ----------
    sn, sp
        Sensitivity and specificity of the selected edges, in [0, 1].
    acc
        Share of the pairs that are classified correctly.
    f
        Harmonic mean of `sn` and `sp`, as in the paper.
    f1
        Harmonic mean of the precision and `sn`, of the selected edges.
    mcc
        Matthews correlation coefficient in [-1, 1]; 0 if it is 0 / 0.
    auc
        Area under the curve of the selected edges alone, ``(sn + sp) / 2``.
    auroc, aupr
        Area under the ROC curve and average precision of the whole ranking; pairs without a
        score stand last and ties share their rank.
    early_precision
        Precision of the n pairs with the highest scores, where n is the number of edges, or of
        pairs with a score if these are fewer; ties at the end count in part.
    aupr_by_chance
        Mean of `aupr` and of `early_precision` over random rankings: the share of the pairs that
        are edges.
    n_pairs, n_edges, n_selected, n_found
        Pairs that count, edges of the reference, selected edges, and those that are both.
    n_signs, n_signs_right
        Numbers of found edges with a known sign in both networks, and with the same sign.
    pairs
        Which pairs count, one of `PAIRS`.
    cut
        How the selected edges were selected, one of `CUTS`.
    """

    sn: float
    sp: float
    acc: float
    f: float
    f1: float
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
    n_signs: int
    n_signs_right: int
    pairs: str
    cut: str

    __repr__ = summary

    def facts(self) -> dict[str, Any]:
        """Return every number by name; None in place of NaN, which JSON has not."""
        return {name: None if v != v else v for name, v in vars(self).items()}


def score(
    network: Network,
    reference: Network | str | Path | pd.DataFrame,
    *,
    pairs: str = "all",
    cut: str = "caps",
) -> Scores:
    """Compare `network` with `reference`, whose selected edges are the true ones.

    A pair absent from `network` has score 0. Ties share their rank, so the areas do not depend
    on the order of genes. A part of nothing (the specificity of a reference that holds every
    pair) is NaN.

    Parameters
    ----------
    network
        The network.
    reference
        A network of the same genes, in any order; or a table of the true edges, a DataFrame or a
        path, as for `read_reference`. Identifiers that `infer` read beside the genes are known.
    pairs
        ``"all"`` ordered pairs of distinct genes; or the ``"linked"`` ones only, both orders of two
        genes with an edge in the reference: how well directions are found, as in the paper's table.
    cut
        The edges that SN to AUC judge. ``"top-n"``: the n surest of the pairs that count, n edges
        of the reference among them, of equal ones the first by name. ``"caps"`` and ``"own"``: the
        selected edges of `network`, by caps or by the method itself.

    Raises
    ------
    ValueError
        If the two have different genes, the reference has no edge, or `pairs` or `cut` is
        unknown.
    """
    check_type("network", network, Network)
    reference = _reference_of(network, reference)
    for name, value, known in (("pairs", pairs, PAIRS), ("cut", cut, CUTS)):
        check_choice(name, value, known)
    true = _true_edges(network.genes, reference)
    n_true = true[0].size
    if not n_true:
        raise ValueError("the reference must have an edge, found none")
    among, n_pairs = _counted(network, true, pairs)
    _warn_of_swapped(network, reference, is_whole=pairs == "all" and n_true == n_pairs)
    if cut == "top-n":
        selected = np.zeros(among.shape, dtype=bool)
        selected.flat[surest(among, network.genes, n_true)] = True
        among = replace(among, selected=selected)
    is_found = among.at("selected", true)
    n_selected, n_found = int(among.selected.sum()), int(is_found.sum())
    of_reference = reference.pairs.signs[np.nonzero(reference.pairs.selected)]
    signs, true_signs = among.at("signs", true)[is_found], of_reference[is_found]
    has_both = (signs != 0) & (true_signs != 0)
    tally = _tally(among.scores, among.at("scores", true), n_pairs)
    return Scores(
        **_of_graph(n_found, n_selected - n_found, n_true - n_found, n_pairs),
        auroc=_won(tally.true_at, tally.false_at),
        aupr=_mean_precision(tally.true_at, tally.false_at),
        early_precision=_early_precision(tally),
        n_signs=int(has_both.sum()),
        n_signs_right=int((signs == true_signs)[has_both].sum()),
        pairs=pairs,
        cut=cut,
    )


def _reference_of(network: Network, reference: Any) -> Network:
    """Return the reference, read if it is a table, over the genes of the network."""
    if is_frame(reference) or isinstance(reference, str | Path):
        made = network.provenance
        known = NO_IDENTIFIERS if made is None else made.expression.identifiers
        return read_reference(reference, network.genes, known)
    if not isinstance(reference, Network):
        raise TypeError(
            "reference must be a Network, a DataFrame of edges or a path, found "
            f"{type(reference).__name__}; {HOW_TO_MAKE}"
        )
    if different := set(network.genes) ^ set(reference.genes):
        raise ValueError(
            "network and reference must have the same genes, but only one of them has "
            f"{joined(sorted(different))}; give the edges as a table (reference.to_frame())"
        )
    return reference


def _warn_of_swapped(network: Network, reference: Network, *, is_whole: bool) -> None:
    """Warn of a ranking in place of the reference: of all pairs, or beside edges without one."""
    if is_whole:
        warn_user(
            "the reference names every pair, so all edges count as true and every ranking is "
            "right; it comes second, and must hold the known edges alone"
        )
    elif _is_ranked(reference) and not _is_ranked(network):
        warn_user(
            "edges of the reference have different scores, and those of the network have one: the "
            "network comes first and the reference second, so swap them if they are the other way"
        )


def _is_ranked(network: Network) -> bool:
    scores = network.pairs.scores[network.pairs.scores > 0]
    return bool(scores.size) and bool(np.ptp(scores) > 0)


def precision_recall(
    network: Network, reference: Network, *, pairs: str = "all"
) -> tuple[Floats, Floats]:
    """Return the recall and the precision of the ranking at each distinct score, highest first.

    Pairs without a score are left out, so the recall may end below 1. `aupr` is the area under
    these steps, and of the pairs without a score. Arguments are those of `score`.
    """
    true = _true_edges(network.genes, reference)
    among, n_pairs = _counted(network, true, pairs)
    tally = _tally(among.scores, among.at("scores", true), n_pairs)
    found = np.cumsum(tally.true_at)[: tally.n_scores]
    taken = np.cumsum(tally.true_at + tally.false_at)[: tally.n_scores]
    return found / true[0].size, found / taken


class Tally(NamedTuple):
    """How many true and false pairs stand at each distinct score, the highest first.

    Attributes
    ----------
    true_at, false_at
        Of each score; those of pairs without one are the last.
    n_scores
        Distinct scores above 0.
    """

    true_at: Places
    false_at: Places
    n_scores: int


def _counted(network: Network, true: Edges, pairs: str) -> tuple[Pairs, int]:
    """The pairs of `network` that count, one of `PAIRS`, and their number."""
    if pairs == "all":
        return network.pairs, len(network.genes) * (len(network.genes) - 1)
    linked = np.unique([np.concatenate(ends) for ends in (true, true[::-1])], axis=1)
    return _only(network.pairs, (linked[0], linked[1])), linked.shape[1]


def _true_edges(genes: Sequence[str], reference: Network) -> Edges:
    """The selected edges of `reference`, by places among `genes`."""
    place = {gene: i for i, gene in enumerate(genes)}
    order = np.array([place[gene] for gene in reference.genes], np.int64)
    pairs = reference.pairs
    rows, columns = np.nonzero(pairs.selected)
    return order[pairs.regulators[rows]], order[pairs.targets[columns]]


def _only(pairs: Pairs, edges: Edges) -> Pairs:
    """Some of the pairs; the others are no edges."""
    rows, columns, is_here = pairs.places(edges)
    at = rows[is_here], columns[is_here]
    kept = {name: np.zeros_like(getattr(pairs, name)) for name in FIXED}
    for name, values in kept.items():
        values[at] = getattr(pairs, name)[at]
    return Pairs(pairs.regulators, pairs.targets, **kept)


def _tally(scores: Floats, true_scores: Floats, n_pairs: int) -> Tally:
    """Tally of `n_pairs` pairs: those of `scores`, and others without one."""
    values, number = np.unique(scores[scores > 0], return_counts=True)
    n_scores, rest = values.size, n_pairs - int(number.sum())
    if rest:
        values, number = np.r_[0.0, values], np.r_[rest, number]
    true_at = np.bincount(np.searchsorted(values, true_scores), minlength=values.size)
    true_at, number = (np.ascontiguousarray(part[::-1]) for part in (true_at, number))
    return Tally(true_at, number - true_at, n_scores)


def _of_graph(tp: int, fp: int, fn: int, n_pairs: int) -> dict[str, Any]:
    tn = n_pairs - tp - fp - fn
    sn, sp = tp / (tp + fn), _part(tn, tn + fp)
    spread = np.sqrt(float(tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return {
        "sn": sn,
        "sp": sp,
        "acc": (tp + tn) / n_pairs,
        "f": 0.0 if sn + sp == 0 else 2 * sn * sp / (sn + sp),
        "f1": 2 * tp / (2 * tp + fp + fn),
        "mcc": (tp * tn - fp * fn) / float(spread) if spread else 0.0,
        "auc": (sn + sp) / 2,
        "aupr_by_chance": (tp + fn) / n_pairs,
        "n_pairs": n_pairs,
        "n_edges": tp + fn,
        "n_selected": tp + fp,
        "n_found": tp,
    }


def _won(true_at: Places, false_at: Places) -> float:
    false_above = np.cumsum(false_at) - false_at
    won = (true_at * (false_at.sum() - false_above - false_at / 2)).sum()
    return _part(float(won), float(true_at.sum() * false_at.sum()))


def _mean_precision(true_at: Places, false_at: Places) -> float:
    found = np.cumsum(true_at)
    precision = found / np.cumsum(true_at + false_at)
    return _part(float((precision * true_at).sum()), float(found[-1]))


def _early_precision(tally: Tally) -> float:
    """Precision of the first pairs, as many as are true, pairs without a score left out.

    Of a tie at the end as many count as have room, each as true as the tie is on average. NaN
    if no pair has a score.
    """
    true_at, false_at = tally.true_at[: tally.n_scores], tally.false_at[: tally.n_scores]
    size = true_at + false_at
    room = np.clip(int(tally.true_at.sum()) - (np.cumsum(size) - size), 0, size)
    return _part(float((true_at * room / size).sum()), float(room.sum()))


def _part(some: float, whole: float) -> float:
    return some / whole if whole else float("nan")
