"""Hubs: concentration of scores on few regulators, and the prior that raises their scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# `benchmarks.networks.defaults` and `.knockouts` measured the power (decisions 19 and 159), and
# decision 159 that of other evidence.
HUB_POWER = 0.5  # largest power of the prior, in networks of more than ...
HUB_GENES = 20  # ... this number of genes; networks of 10 became worse
HUB_FREE = 2.0  # concentration up to which a network counts as one without hubs ...
HUB_SLOPE = 0.25  # ... and the increase of the power per e-fold beyond
STAR_FREE = 8.0  # concentration up to which the prior applies to these scores only ...
STAR_SLOPE = 1.0  # ... and the increase of the power for other evidence per e-fold beyond

Array = NDArray[np.float64]


def hub_prior(scores: Array, power: float) -> Array:
    """Return the factor of each regulator (row): its variance of scores to a power, at most 1."""
    spread = scores.var(axis=1, keepdims=True)
    largest = spread.max(initial=0.0)
    return (spread / largest) ** power if largest > 0 else np.ones_like(spread)


def concentration(masses: Array) -> float:
    """Return the concentration of `masses` on few regulators, ``n sum(m^2) / sum(m)^2``.

    1 if all n masses are equal, n if one regulator has all; 0 if there is none.
    """
    total = masses.sum()
    return float(len(masses) * (masses @ masses) / total**2) if total > 0 else 0.0


def estimate_hub_power(scores: Array) -> float:
    """Return the power of the hub prior estimated from `scores` of all genes (columns).

    Masses are sums of squares, in which the weak scores of all regulators count little.
    """
    if scores.shape[1] <= HUB_GENES:
        return 0.0
    return fit_hub_power((scores**2).sum(axis=1), HUB_POWER)


class HubPriors(NamedTuple):
    """Factors of each regulator, [regulator, 1], for its scores and for other evidence."""

    for_scores: Array
    for_other_evidence: Array


def estimate_hub_priors(scores: Array) -> HubPriors:
    """Return the hub prior with the estimated power of `scores`.

    Other evidence gets a prior only if few regulators have nearly all scores, and never a larger
    power: the regulators of a few series need not be those of all samples.
    """
    power = estimate_hub_power(scores)
    beyond = max(concentration((scores**2).sum(axis=1)) / STAR_FREE, 1.0)
    shrunk = min(STAR_SLOPE * float(np.log(beyond)), power)
    return HubPriors(hub_prior(scores, power), hub_prior(scores, shrunk))


def fit_hub_power(masses: Array, most: float) -> float:
    """Return the power of the hub prior that fits the `masses` of regulators, from 0 to `most`."""
    beyond = max(concentration(masses) / HUB_FREE, 1.0)
    return min(HUB_SLOPE * float(np.log(beyond)), most)
