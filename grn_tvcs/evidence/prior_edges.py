"""Prior edges as evidence, weighted as far as the data confirm the list.

By the data alone, a pair is an edge with probability p. A list contains an edge with probability s
and another pair with probability f, independently of the data. By Bayes' rule, the odds of a listed
pair are p / (1 - p) times s / f. Let E = sum p be the expected edges among N pairs, and q the
fraction of listed pairs that are edges. Then s / f = q / (1 - q) * (N - E) / E, and the likelihood
of a listed pair is

    q p / E + (1 - q) (1 - p) / (N - E),

a mixture of two known components with unknown weights (Dempster, Laird and Rubin, J. R. Stat. Soc.
B 39, 1, 1977, section 4.3). Its log-likelihood is concave in q, the only unknown. `PSEUDO_EDGES`
pairs of a fairly good list regularise it, and s / f is at least 1. Wrong edges have the p of
non-edges, so a wrong list gets a ratio near 1. Greenfield, Hafemeister and Bonneau (Bioinformatics
29, 1060, 2013) require that wrong priors cost little; `python -m benchmarks.networks.priors`
measures the cost.

Two limits remain. A wrong list, and a correct list with uninformative data, cannot be
distinguished. Wrong edges that the data also support, such as reversed true edges, count as
correct.

Pairs that are not listed keep their odds: a list shows what was studied, not what is absent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import rankdata

from grn_tvcs.network.prior import ListedPairs, Prior

# Decision 50; the first two fit rankings of simulated networks with known edges.
EDGES_PER_GENE = 1.6  # assumed in a ranking without probabilities ...
FALL = 0.8  # ... and the power of the rank by which odds are assumed to fall
USUAL_RATIO = 3.0  # s / f of a fairly good list ...
PSEUDO_EDGES = 2.0  # ... of which this number of pairs is added to the likelihood
NO_RATIO = 1.05  # smallest ratio that the summary reports
MAX_LOG_ODDS = 50.0  # bracket of the root search


@dataclass(frozen=True)
class PriorUpdate:
    """Log-odds with prior edges, and the estimated value of the list.

    Attributes
    ----------
    logits
        Log-odds of every pair with the list, ``[regulator, target]``.
    odds_ratio
        s / f, at least 1: odds of a listed pair of weight 1 relative to an unlisted pair with equal
        evidence.
    n_used
        Listed pairs that may be edges.
    summary
        A sentence for the user.
    """

    logits: NDArray[np.float64]
    odds_ratio: float
    n_used: int
    summary: str


def add_prior_log_odds(
    logits: NDArray[np.float64], prior: Prior | ListedPairs, allowed: NDArray[np.bool_]
) -> PriorUpdate:
    """Add prior edges to the log-odds from the data.

    Parameters
    ----------
    logits
        Log-odds of an edge by the data alone, ``[regulator, target]``, finite if `allowed`. For
        rankings without probabilities, `logits_by_rank` makes them.
    prior
        The list, with its genes in the same order, or its weights for these pairs. A pair of weight
        w counts as the fraction w of a listed pair: its odds are multiplied by (s / f)^w.
    allowed
        Pairs that may be edges; others keep their log-odds and are ignored.
    """
    weights = np.where(allowed, prior.weights, 0.0)
    ratio = odds_ratio(expit(logits[allowed]), weights[allowed])
    moved = np.array(logits, dtype=np.float64)
    moved[allowed] += weights[allowed] * np.log(ratio)
    n_used = int((weights > 0).sum())
    return PriorUpdate(moved, ratio, n_used, _summary(prior, n_used, ratio))


def odds_ratio(p: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the maximum likelihood s / f, at least 1, of pairs with probabilities p and a list."""
    n_pairs, n_edges = len(p), float(p.sum())
    if not (weights.any() and 0 < n_edges < n_pairs):
        return 1.0
    odds = n_edges / (n_pairs - n_edges)
    usual = USUAL_RATIO * odds / (1 + USUAL_RATIO * odds)
    is_listed = weights > 0
    listed, counts = p[is_listed], weights[is_listed]
    if_edge, if_none = listed / n_edges, (1 - listed) / (n_pairs - n_edges)

    def slope(q: float) -> float:
        """Return the derivative of the log-likelihood, which decreases in q."""
        of_pairs = counts @ ((if_edge - if_none) / (q * if_edge + (1 - q) * if_none))
        return float(of_pairs + PSEUDO_EDGES * (usual / q - (1 - usual) / (1 - q)))

    lowest, highest = n_edges / n_pairs, 1 - 1e-12
    if lowest >= highest or slope(lowest) <= 0:
        return 1.0
    q = highest if slope(highest) > 0 else brentq(slope, lowest, highest)
    return max(1.0, q / (1 - q) / odds)


def logits_by_rank(scores: NDArray[np.float64], allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return log-odds for scores without probabilities: ``h - .8 log k`` for rank k.

    h makes the probabilities add up to 1.6 edges per gene, or to half of the pairs if that is less.
    Equal scores share their mean rank. -inf if not `allowed`.
    """
    logits = np.full(scores.shape, -np.inf)
    if not allowed.any():
        return logits
    fall = FALL * np.log(rankdata(-scores[allowed]))
    n_edges = min(EDGES_PER_GENE * scores.shape[1], fall.size / 2)
    first = brentq(lambda h: float(expit(h - fall).sum()) - n_edges, -MAX_LOG_ODDS, MAX_LOG_ODDS)
    logits[allowed] = first - fall
    return logits


def add_prior_edges(
    scores: NDArray[np.float64], prior: Prior | ListedPairs, allowed: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], str]:
    """Add prior edges to scores without probabilities; return scores and a sentence for users."""
    logits = logits_by_rank(scores, allowed)
    found = add_prior_log_odds(logits, prior, allowed)
    return scores_with_prior(scores, logits, found.logits, allowed), found.summary


def scores_with_prior(
    scores: NDArray[np.float64],
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    allowed: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return scores in their own unit, in the order of the log-odds with prior edges.

    A pair gets the score that had its new log-odds `before`; above the top score, scores grow with
    the probability. Pairs with unchanged log-odds keep their exact score.
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


def _summary(prior: Prior | ListedPairs, n_used: int, ratio: float) -> str:
    used = f"{n_used} of {prior.n_listed} prior edges are between genes of the data"
    if ratio < NO_RATIO:
        return f"{used}; the data do not confirm them, so they have almost no weight"
    return f"{used}; at equal evidence, a listed pair has {ratio:.1f} times the odds of an edge"
