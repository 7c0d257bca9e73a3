"""Prior edges as evidence, as far as the data bear the list out.

A pair that is an edge with the chance p, by the data alone, is listed with the chance s if it is an
edge and f if it is none, whatever else the data say. By Bayes' rule its odds, once it is listed,
are p / (1 - p) times s / f. Let E = sum p be the edges to expect among the N pairs and q the part
of the listed ones that are edges: then s / f = q / (1 - q) * (N - E) / E, and a listed pair is
drawn with the chance

    q p / E + (1 - q) (1 - p) / (N - E),

a mixture of two known parts in unknown shares (Dempster, Laird and Rubin, J. R. Stat. Soc. B 39,
1, 1977, section 4.3). Its log-likelihood is concave in q, the one unknown. `PSEUDO_EDGES` pairs of
a fairly good list are added to it, and s / f is never below 1. Wrong edges have the p of any pair
that is none, so a list of them comes out near 1. That wrong priors must cost little is the demand
of Greenfield, Hafemeister and Bonneau, Bioinformatics 29, 1060 (2013).

Two lists look alike to this: a wrong one, and a right one beside data that say nothing. And wrong
edges that the data believe too, such as right ones turned around, pass for right.

Pairs that are not listed keep their odds: a list says what was studied, not what is not there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import rankdata

from grn_tvcs.network.prior import ListedPairs, Prior

EDGES_PER_GENE = 1.6  # that a ranking without probabilities is taken to hold ...
FALL = 0.8  # ... and the power of the rank with which their odds are taken to fall
USUAL_RATIO = 3.0  # s / f of a fairly good list ...
PSEUDO_EDGES = 2.0  # ... of which so many pairs count beside those that are listed
NO_RATIO = 1.05  # a ratio below this is next to nothing
FURTHEST = 50.0  # log-odds


@dataclass(frozen=True)
class WithPrior:
    """Log-odds with prior edges, and what the list was found to be worth.

    Attributes
    ----------
    logits
        Log-odds of every pair with the list, ``[regulator, target]``.
    odds_ratio
        s / f, at least 1: the odds of an edge where a pair of weight 1 is listed, beside those of a
        pair of equal evidence that is not.
    n_used
        Listed pairs that may be edges.
    said
        A sentence for the user.
    """

    logits: NDArray[np.float64]
    odds_ratio: float
    n_used: int
    said: str


def with_prior(
    logits: NDArray[np.float64], prior: Prior | ListedPairs, allowed: NDArray[np.bool_]
) -> WithPrior:
    """Add prior edges to the log-odds that the data give.

    Parameters
    ----------
    logits
        Log-odds of an edge by the data alone, ``[regulator, target]``, finite where `allowed`. Of
        a ranking without probabilities they are made by `logits_by_rank`.
    prior
        The list, its genes in the same order, or what it says of these pairs. A weight w counts as
        the part w of a listed pair, in the likelihood as in the odds: they are multiplied by the
        w-th power of s / f.
    allowed
        Pairs that may be edges; others keep their log-odds and count for nothing.
    """
    weights = np.where(allowed, prior.weights, 0.0)
    ratio = odds_ratio(expit(logits[allowed]), weights[allowed])
    moved = np.array(logits, dtype=np.float64)
    moved[allowed] += weights[allowed] * np.log(ratio)
    n_used = int((weights > 0).sum())
    return WithPrior(moved, ratio, n_used, _said(prior, n_used, ratio))


def odds_ratio(p: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """The likeliest s / f, at least 1, of pairs with the chances p of which some are listed."""
    n_pairs, n_edges = len(p), float(p.sum())
    if not (weights.any() and 0 < n_edges < n_pairs):
        return 1.0
    odds = n_edges / (n_pairs - n_edges)
    usual = USUAL_RATIO * odds / (1 + USUAL_RATIO * odds)
    is_listed = weights > 0
    listed, counts = p[is_listed], weights[is_listed]
    if_edge, if_none = listed / n_edges, (1 - listed) / (n_pairs - n_edges)

    def slope(q: float) -> float:
        """Derivative of the log-likelihood, falling in q."""
        of_pairs = counts @ ((if_edge - if_none) / (q * if_edge + (1 - q) * if_none))
        return float(of_pairs + PSEUDO_EDGES * (usual / q - (1 - usual) / (1 - q)))

    lowest, highest = n_edges / n_pairs, 1 - 1e-12
    if lowest >= highest or slope(lowest) <= 0:
        return 1.0
    q = highest if slope(highest) > 0 else brentq(slope, lowest, highest)
    return max(1.0, q / (1 - q) / odds)


def logits_by_rank(scores: NDArray[np.float64], allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Log-odds for scores that are no probabilities: those of the k-th surest are ``h - .8 log k``.

    h is such that the chances add up to 1.6 edges per gene, or to half of the pairs if that is
    less. Equal scores share their mean rank. -inf where not `allowed`.
    """
    logits = np.full(scores.shape, -np.inf)
    if not allowed.any():
        return logits
    fall = FALL * np.log(rankdata(-scores[allowed]))
    n_edges = min(EDGES_PER_GENE * scores.shape[1], fall.size / 2)
    first = brentq(lambda h: float(expit(h - fall).sum()) - n_edges, -FURTHEST, FURTHEST)
    logits[allowed] = first - fall
    return logits


def lifted(
    scores: NDArray[np.float64], prior: Prior | ListedPairs, allowed: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], str]:
    """Scores that are no probabilities with prior edges, and a sentence for the user."""
    logits = logits_by_rank(scores, allowed)
    found = with_prior(logits, prior, allowed)
    return scores_with_prior(scores, logits, found.logits, allowed), found.said


def scores_with_prior(
    scores: NDArray[np.float64],
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    allowed: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Scores in their own unit whose order is that of the log-odds with prior edges.

    A pair gets the score that a pair of such log-odds had `before`; beyond the surest, scores grow
    with the chance. Pairs whose log-odds are as they were keep their score exactly.
    """
    moved = np.array(scores, dtype=np.float64)
    is_moved = allowed & (after != before)
    if not is_moved.any():
        return moved
    order = np.argsort(before[allowed])
    known, theirs = before[allowed][order], scores[allowed][order]
    top = theirs[-1]
    beyond = expit(np.maximum(after[is_moved], known[-1])) / expit(known[-1]) - 1
    moved[is_moved] = np.interp(after[is_moved], known, theirs) + (top or 1.0) * beyond
    return moved


def _said(prior: Prior | ListedPairs, n_used: int, ratio: float) -> str:
    found = f"of {prior.n_listed} prior edges {n_used} are among the genes"
    if ratio < NO_RATIO:
        return f"{found}; the data do not bear them out, so they count for next to nothing"
    return (
        f"{found}; at equal evidence the odds of an edge are {ratio:.1f} times as high for a pair "
        "that is listed"
    )
