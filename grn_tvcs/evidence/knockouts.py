"""What knock-outs and knock-downs say about edges, beside the series.

A gene that moved when another was changed is its target, or a target of its targets. Effects
that a path of two stronger ones explains are therefore ranked down, as the winners of DREAM4
did (Pinna, Soranzo and de la Fuente, PLoS ONE 5, 2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.hubs import hub_prior, measured_power
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.rules import Candidates

# In standard deviations of a gene at rest.
STRONG = 3.0  # beyond noise: makes a path, and shows a hub
SURE = 5.0  # counts fully; what counts at all where hardly any gene was changed
INDIRECT = 0.5  # an effect that a path explains counts so much
LARGEST_EFFECT = 20.0  # larger ones count as this

KNOCKOUT_WEIGHT = 1.5  # all knock-outs beside the series
KNOCKDOWN_WEIGHT = 0.3  # a knock-down beside a knock-out

Array = NDArray[np.float64]


@dataclass(frozen=True)
class KnockoutEvidence:
    """Scores of edges by the effects of changed genes, [input, gene].

    Attributes
    ----------
    knockouts, knockdowns
        What either adds to the score of an edge, >= 0.
    signs
        1 where the target fell: the regulator activates it; -1 where it rose.
    hub_power
        Power of the hub prior that fits the strong effects; None if there is none.
    share
        Part of all genes that may regulate which was changed.
    """

    knockouts: Array
    knockdowns: Array
    signs: Array
    hub_power: float | None
    share: float

    def power_for_series(self, usual: float) -> float:
        """Power of the hub prior for the series: the measured one as far as genes were changed.

        A few changed genes do not show where the hubs are, hence the square of their share.
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
    """Score the pairs of inputs and genes that may be edges by the effects of what was changed.

    The mean of the strongest effects, one per changed gene, has the score `weight`, or less if it
    is below `SURE`. Where only some of the regulators were changed, the others have no effects, not
    even by noise; so less of the noise counts, and the whole counts less.

    Parameters
    ----------
    candidates
        As `Rules.inputs` has them.
    weight
        Of all effects beside the series.
    knockdown_weight
        Of a knock-down beside a knock-out.
    largest_effect
        Effects of more standard deviations count as this.
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
    sizes = np.minimum(ranked_down(np.abs(effects), inputs), largest_effect)
    beyond_noise = np.maximum(sizes[is_changed] - STRONG, 0.0).sum(axis=1)
    power = measured_power(beyond_noise, hub_power) if beyond_noise.any() else None
    sizes = np.maximum(sizes - SURE * (1.0 - share), 0.0)
    scores = weight * share**0.5 * sizes / max(_strongest(sizes, is_changed), SURE)
    scores *= hub_prior(sizes, power or 0.0) * np.where(is_out, 1.0, knockdown_weight)[:, None]
    signs = np.sign(effects)
    # Where the two disagree, the sum has the sign of the larger one, which then stands alone.
    agreeing = [np.maximum(signs * part, 0.0) for part in (out, down)]
    total = agreeing[0] + agreeing[1]
    parts = [scores * part / np.where(total > 0, total, 1.0) for part in agreeing]
    return KnockoutEvidence(parts[0], parts[1], signs, power, share)


def ranked_down(sizes: Array, rows: NDArray[np.int64] | None = None) -> Array:
    """Weaken effects that a path of two others explains, both strong and stronger.

    The effect of k on i counts half if for some j both that of k on j and that of j on i are
    above `STRONG` and above it.

    Parameters
    ----------
    sizes
        Of effects; [row, gene].
    rows
        Places of the genes whose effects they are, all by default; others have none.
    """
    rows = np.arange(sizes.shape[1]) if rows is None else rows
    path = np.zeros_like(sizes)  # the weaker half of the strongest path
    is_strong = sizes > STRONG
    for row in np.flatnonzero(is_strong.any(axis=1)):
        above, below = np.flatnonzero(is_strong[:, rows[row]]), np.flatnonzero(is_strong[row])
        pairs = np.ix_(above, below)
        halves = np.minimum.outer(sizes[above, rows[row]], sizes[row, below])
        path[pairs] = np.maximum(path[pairs], halves)
    return np.where(path > sizes, INDIRECT * sizes, sizes)


def _strongest(sizes: Array, is_changed: NDArray[np.bool_]) -> float:
    """Mean of the strongest effects, as many as there are changed regulators."""
    n = int(is_changed.sum())
    return float(np.sort(sizes, axis=None)[::-1][:n].mean()) if n else 0.0
