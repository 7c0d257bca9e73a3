"""Evidence from knock-outs and knock-downs.

A gene that moved after another was perturbed is its direct or indirect target. Effects that a path
of two stronger effects explains are down-ranked, as by the winners of DREAM4 (Pinna, Soranzo and de
la Fuente, PLoS ONE 5, 2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.hubs import fit_hub_power, hub_prior
from grn_tvcs.evidence.scaling import top_mean
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.rules import Candidates

# `benchmarks.networks.defaults` and `.knockouts` measured these numbers (decision 19; "Every
# number, and why" in docs/studies/network-options.md). Effects are in standard deviations of a
# gene in steady state.
STRONG = 3.0  # effect beyond noise: forms a path, and counts as evidence of a hub
FULL_EFFECT = 5.0  # effect that counts fully; the threshold if hardly any gene was perturbed
INDIRECT_WEIGHT = 0.5  # weight of an effect that a path explains
LARGEST_EFFECT = 20.0  # larger effects are clipped to this

KNOCKOUT_WEIGHT = 1.5  # of all knock-outs relative to the series
KNOCKDOWN_WEIGHT = 0.3  # of a knock-down relative to a knock-out, in ``tvcs``
KNOCKDOWN_EFFECT = 0.5  # the same, in learned evidence and signs

Array = NDArray[np.float64]


@dataclass(frozen=True)
class KnockoutEvidence:
    """Scores of edges by the effects of perturbed genes; [input, gene].

    Attributes
    ----------
    knockouts, knockdowns
        Scores to add, >= 0.
    signs
        1 if the target fell (activation), -1 if it rose.
    hub_power
        Power of the hub prior that fits the strong effects; None without any.
    share
        Fraction of candidate regulators that were perturbed.
    """

    knockouts: Array
    knockdowns: Array
    signs: Array
    hub_power: float | None
    share: float

    def power_for_series(self, usual: float) -> float:
        """Return the power of the hub prior for the series, between `usual` and the measured one.

        A few perturbed genes do not identify the hubs, so the weight is the square of their
        fraction.
        """
        if self.hub_power is None:
            return usual
        return usual + self.share**2 * (self.hub_power - usual)


def knockout_evidence(
    steady: SteadyStates,
    expression: Expression,
    candidates: Candidates,
    *,
    weight: float,
    knockdown_weight: float,
    largest_effect: float,
    hub_power: float,
) -> KnockoutEvidence:
    """Score candidate pairs by the effects of knock-outs and knock-downs.

    The mean of the strongest effects, one per perturbed gene, gets the score `weight`, or less if
    it is below `FULL_EFFECT`. If only some regulators were perturbed, the others have no effects,
    not even by noise. Small effects then count less, and so does the whole evidence.

    Parameters
    ----------
    candidates
        From `Rules.inputs`.
    weight
        Of all effects relative to the series.
    knockdown_weight
        Of a knock-down relative to a knock-out.
    largest_effect
        Effects are clipped to this number of standard deviations.
    hub_power
        Largest power of the hub prior.
    """
    inputs = candidates.regulators
    out, down = (
        np.where(candidates.allowed, steady.shifts(expression, is_out=is_out, rows=inputs), 0.0)
        for is_out in (True, False)
    )
    is_out, is_down = (steady.is_changed(is_out=is_out)[inputs] for is_out in (True, False))
    down *= np.where(is_out, knockdown_weight, 1.0)[:, None]
    is_changed = is_out | is_down
    share = float(is_changed.sum() / max(inputs.size, 1))
    effects = out + down
    sizes = np.minimum(downrank_indirect(np.abs(effects), inputs), largest_effect)
    beyond_noise = np.maximum(sizes[is_changed] - STRONG, 0.0).sum(axis=1)
    power = fit_hub_power(beyond_noise, hub_power) if beyond_noise.any() else None
    sizes = np.maximum(sizes - FULL_EFFECT * (1.0 - share), 0.0)
    scores = weight * share**0.5 * sizes / max(top_mean(sizes, int(is_changed.sum())), FULL_EFFECT)
    scores *= hub_prior(sizes, power or 0.0) * np.where(is_out, 1.0, knockdown_weight)[:, None]
    signs = np.sign(effects)
    # If the two disagree, only the larger one counts, which has the sign of the sum.
    agreeing = [np.maximum(signs * part, 0.0) for part in (out, down)]
    total = agreeing[0] + agreeing[1]
    parts = [scores * part / np.where(total > 0, total, 1.0) for part in agreeing]
    return KnockoutEvidence(parts[0], parts[1], signs, power, share)


def effects_of_changes(
    steady: SteadyStates, expression: Expression
) -> tuple[NDArray[np.int64], dict[bool, Array], Array]:
    """Return the genes that were changed, and how far others fell then, in standard deviations.

    The effects are by kind, knock-outs first (True), and those of both with effects that a path
    explains ranked down; [row, gene]. A path may pass through a gene that may not regulate.
    """
    kinds = {is_out: steady.is_changed(is_out=is_out) for is_out in (True, False)}
    rows = np.flatnonzero(kinds[True] | kinds[False])
    fell = {
        is_out: steady.shifts(expression, is_out=is_out, rows=rows)
        for is_out, is_changed in kinds.items()
        if is_changed.any()
    }
    both = np.zeros((rows.size, len(expression.genes)))
    for is_out, part in fell.items():
        both += (1.0 if is_out else KNOCKDOWN_EFFECT) * part
    return rows, fell, downrank_indirect(np.abs(both), rows) * np.sign(both)


def downrank_indirect(sizes: Array, rows: NDArray[np.int64] | None = None) -> Array:
    """Weaken effects that a path of two other effects explains, both strong and stronger.

    The effect of k on i is multiplied by `INDIRECT_WEIGHT` if, for some j, the effects of k on j
    and of j on i are both above `STRONG` and above it.

    Parameters
    ----------
    sizes
        Absolute effects; [row, gene].
    rows
        Indices of the perturbed genes, all by default; others have no effects.
    """
    rows = np.arange(sizes.shape[1]) if rows is None else rows
    path = np.zeros_like(sizes)  # the weaker half of the strongest path
    is_strong = sizes > STRONG
    for row in np.flatnonzero(is_strong.any(axis=1)):
        above, below = np.flatnonzero(is_strong[:, rows[row]]), np.flatnonzero(is_strong[row])
        pairs = np.ix_(above, below)
        halves = np.minimum.outer(sizes[above, rows[row]], sizes[row, below])
        path[pairs] = np.maximum(path[pairs], halves)
    return np.where(path > sizes, INDIRECT_WEIGHT * sizes, sizes)
