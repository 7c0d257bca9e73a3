"""Probability that an edge differs between two conditions, learned from simulated pairs.

Permutations of series show whether the data differ, but not where: consequences of a lost edge
differ as significantly as the edge itself. The model was trained on pairs of simulated networks in
which some edges were changed (`benchmarks.learning.condition_pairs`), with the statistics of
`differences` as features. It is a logistic regression over edges with a large t, in
`learned.json`, written by ``python -m benchmarks.two_conditions --learn``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.comparison.differences import Differences
from grn_tvcs.comparison.permutations import Permutations
from grn_tvcs.comparison.steps import Steps

LOG_OFFSET = 0.01  # added to correlations before the logarithm
MIN_LOG_T = 1.6  # smallest log(1 + t squared) of the regression: |t| of 2, twice its noise

LEADS = ("t", "z", "stronger")
# Products of features with the largest gain on training pairs, mostly size x lead of statistics.
PRODUCTS = (
    ("t", "t"), ("z", "z"), ("z", "t"), ("t leads", "t"), ("t leads", "z"), ("z leads", "z"),
    ("z leads", "t leads"), ("stronger leads", "t"), ("stronger leads", "z"),
    ("target p", "t leads"), ("target p", "z leads"), ("stronger", "t"), ("stronger", "z"),
    ("stronger", "stronger"), ("weaker", "t"), ("weaker", "z"), ("targets", "t"),
    ("targets", "z"), ("targets", "target p"),
)  # fmt: skip

Array = NDArray[np.float64]


class DifferenceModel(NamedTuple):
    """A logistic regression over the edges with a large t squared.

    Attributes
    ----------
    weights, intercept
        Of the features and their hinges (`expanded`).
    low, high
        Range of each feature in training, to which values are clipped.
    knots
        Knots of piecewise linear features.
    baseline
        Probability of every other edge.
    """

    weights: dict[str, float]
    intercept: float
    low: dict[str, float]
    high: dict[str, float]
    knots: dict[str, list[float]]
    baseline: float

    def probability(self, features: Mapping[str, Array]) -> Array:
        """Return the probability that edges with these features differ."""
        whole = expanded(features, self.knots)
        sums = np.full(features["t"].shape, self.intercept)
        for name, weight in self.weights.items():
            sums += weight * np.clip(whole[name], self.low[name], self.high[name])
        found = 1.0 / (1.0 + np.exp(-sums))
        return np.asarray(np.where(features["t"] > MIN_LOG_T, found, self.baseline))


def global_p_value(differences: Differences, permutations: Permutations) -> float:
    """Return the p value of all genes together.

    The statistic is the mean over the targets of their largest t squared.
    """
    return float(permutations.p_values(differences.best.mean(axis=1)))


def features(
    differences: Differences, permutations: Permutations, steps: Steps
) -> dict[str, Array]:
    """Return the features of the model, each [regulator, target]."""
    found = differences
    shape = found.t_squared.shape
    t, z = np.log1p(found.t_squared), np.log1p(found.z**2)
    sizes = np.abs(np.arctanh(found.first)), np.abs(np.arctanh(found.second))
    reverse, reverse_size = np.zeros(shape), np.zeros(shape)
    inputs = steps.inputs
    reverse[:, inputs] = t[:, inputs].T
    reverse_size[:, inputs] = np.maximum(*sizes)[:, inputs].T
    is_common = np.zeros(shape)
    for target, columns in enumerate(steps.common):
        is_common[list(columns), target] = 1.0
    whole = -np.log(global_p_value(found, permutations))
    best = -np.log(permutations.p_values(found.best))
    larger = np.maximum(*sizes)
    values = {
        "t": t,
        "t over others": t - _of_others(t),
        "t p": -np.log(found.p),
        "t rank": np.log1p(_ranks(t)),
        "t reverse": reverse,
        "z": z,
        "z over others": z - _of_others(z),
        "z p": -np.log(found.z_p),
        "stronger": np.log(LOG_OFFSET + larger),
        "stronger over others": np.log(LOG_OFFSET + larger)
        - np.log(LOG_OFFSET + _of_others(larger)),
        "stronger reverse": np.log(LOG_OFFSET + reverse_size),
        "weaker": np.log(LOG_OFFSET + np.minimum(*sizes)),
        "common": is_common,
        "target p": np.broadcast_to(best, shape),
        "global p": np.full(shape, whole),
        "targets": np.full(shape, np.log(shape[1])),
        "regulators": np.full(shape, np.log(shape[0])),
        "steps": np.full(shape, np.log(len(steps.past))),
        "series": np.full(shape, np.log(len(steps.starts))),
    }
    return with_products(values)


def with_products(values: Mapping[str, Array]) -> dict[str, Array]:
    """Add the lead of each edge over the others, and the products of features."""
    whole = dict(values)
    for name in LEADS:
        whole[f"{name} leads"] = np.maximum(values[f"{name} over others"], 0.0)
    for one, other in PRODUCTS:
        whole[f"{one} x {other}"] = whole[one] * whole[other]
    return whole


def expanded(values: Mapping[str, Array], knots: Mapping[str, list[float]]) -> dict[str, Array]:
    """Add the hinges of each feature at its knots."""
    whole = dict(values)
    for name, places in knots.items():
        for place in places:
            whole[f"{name} beyond {place:g}"] = np.maximum(values[name] - place, 0.0)
    return whole


def predict_differences(
    differences: Differences, permutations: Permutations, steps: Steps
) -> Array:
    """Return the probability that each edge differs, [regulator, target]; 0 on the diagonal."""
    values = features(differences, permutations, steps)
    probability = load_difference_model().probability(values)
    probability[np.arange(len(steps.inputs)), steps.inputs] = 0.0
    return np.asarray(probability)


@cache
def _learned() -> dict[str, Any]:
    text = resources.files("grn_tvcs.comparison").joinpath("learned.json").read_text("utf-8")
    return dict(json.loads(text))


def load_difference_model() -> DifferenceModel:
    """Load the model of the package."""
    return DifferenceModel(**_learned()["regression"])


def _of_others(values: Array) -> Array:
    """Return the largest value of each target among its other regulators."""
    if len(values) < 2:
        return np.zeros_like(values)
    second, first = np.sort(values, axis=0)[-2:]
    return np.where(values == first, second, first)


def _ranks(values: Array) -> Array:
    """Return the number of regulators of the same target with a larger value."""
    order = np.sort(-values, axis=0)
    columns = zip(order.T, -values.T, strict=True)
    return np.stack([np.searchsorted(known, column) for known, column in columns], axis=1)


def describe_power(n_series: int) -> str:
    """Describe the power with about `n_series` per condition, on simulated pairs."""
    known = _learned()["power"]
    size = min(known, key=lambda name: abs(int(name) - n_series))
    pairs, edges = known[size]["pairs"], known[size]["edges"]
    return (
        f"Power with {size} series per condition: on simulated pairs with 5 to 30 % changed edges, "
        f"a difference was found in {100 * pairs:.0f} % of pairs, and {100 * edges:.1f} % of the "
        "changed edges were found at a false discovery rate of 0.2. Edges that are not listed may "
        "differ too."
    )
