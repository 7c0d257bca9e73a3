"""Hubs: how far scores are those of few regulators, and the prior that lifts these."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

HUB_POWER = 0.5  # of the prior, in networks ...
HUB_GENES = 20  # ... of more genes than this; in networks of 10 it hurts
HUB_FREE = 2.0  # concentration up to which a network counts as one without hubs ...
HUB_SLOPE = 0.25  # ... and what each e-fold beyond adds to the power of the prior
STAR_FREE = 8.0  # concentration up to which the prior is for those scores alone ...
STAR_SLOPE = 1.0  # ... and what each e-fold beyond adds to its power for other evidence

Array = NDArray[np.float64]


def hub_prior(scores: Array, power: float) -> Array:
    """Factor of each regulator (row): the variance of its scores to a power, 1 for the largest."""
    spread = scores.var(axis=1, keepdims=True)
    largest = spread.max(initial=0.0)
    return (spread / largest) ** power if largest > 0 else np.ones_like(spread)


def concentration(masses: Array) -> float:
    """How unequal the regulators are: ``n sum(m^2) / sum(m)^2`` of their `masses`.

    1 if all n have the same, n if one has all; 0 if there is nothing.
    """
    total = masses.sum()
    return float(len(masses) * (masses @ masses) / total**2) if total > 0 else 0.0


def own_power(scores: Array, told: float | None = None) -> float:
    """Power of the hub prior that `scores` of all genes (columns) show themselves, or `told`.

    Masses are sums of squares, of which weak scores, that all regulators have, make little.
    """
    if scores.shape[1] <= HUB_GENES:
        return 0.0
    return measured_power((scores**2).sum(axis=1), HUB_POWER) if told is None else told


class Priors(NamedTuple):
    """Factors of each regulator, [regulator, 1]: for its scores, and for what else is known."""

    own: Array
    beside: Array


def own_hubs(
    scores: Array, told: float | None = None, settle: Callable[[float], float] = float
) -> Priors:
    """The hub prior of the `own_power` of `scores`, of which `settle` may make another.

    Evidence beside them has none but where few regulators have nearly all, and no larger power:
    who regulates in a few series need not do so in all samples.
    """
    power = settle(own_power(scores, told))
    beyond = max(concentration((scores**2).sum(axis=1)) / STAR_FREE, 1.0)
    beside = min(STAR_SLOPE * float(np.log(beyond)), power)
    return Priors(hub_prior(scores, power), hub_prior(scores, beside))


def measured_power(masses: Array, most: float) -> float:
    """Power of the hub prior that fits the `masses` of regulators: 0 without hubs, to `most`."""
    beyond = max(concentration(masses) / HUB_FREE, 1.0)
    return min(HUB_SLOPE * float(np.log(beyond)), most)
