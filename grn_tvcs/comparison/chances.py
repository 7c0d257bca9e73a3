"""How likely an edge is not the same in both conditions, as learned on simulated pairs.

Exchanges of series say how surely the data differ, not where: what follows from a lost edge
differs as surely as the edge. How often the edge itself is meant was learned on pairs of
simulated networks of which a part of the edges was changed (`simulation.pairs`), from what
`differences` measures: a logistic regression over the pairs of genes that stand out at all, whose
numbers stand in `learned.json` and come from ``python -m benchmarks.two_conditions --learn``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.comparison.differences import Differences
from grn_tvcs.comparison.exchanges import Exchanges
from grn_tvcs.comparison.steps import Steps

SLIGHT = 0.01  # correlation that is added under a logarithm
OUTSTANDING = 1.6  # log(1 + t squared): twice the deviation of chance

LEADS = ("t", "z", "stronger")
# What was worth the most on pairs to learn from: size and lead of both measures together.
PRODUCTS = (
    ("t", "t"), ("z", "z"), ("z", "t"), ("t leads", "t"), ("t leads", "z"), ("z leads", "z"),
    ("z leads", "t leads"), ("stronger leads", "t"), ("stronger leads", "z"),
    ("target p", "t leads"), ("target p", "z leads"), ("stronger", "t"), ("stronger", "z"),
    ("stronger", "stronger"), ("weaker", "t"), ("weaker", "z"), ("targets", "t"),
    ("targets", "z"), ("targets", "target p"),
)  # fmt: skip

Array = NDArray[np.float64]


class Learned(NamedTuple):
    """A logistic regression over the edges whose t squared stands out.

    Attributes
    ----------
    weights, intercept
        Of the features and their bends (`expanded`).
    low, high
        Where each is cut: what was never seen counts as the last that was.
    bends
        Values of features from which on the weight may be another.
    rest
        Chance of every other edge.
    """

    weights: dict[str, float]
    intercept: float
    low: dict[str, float]
    high: dict[str, float]
    bends: dict[str, list[float]]
    rest: float

    def chance(self, told: Mapping[str, Array]) -> Array:
        """Return how likely edges differ of which the features are told."""
        whole = expanded(told, self.bends)
        sums = np.full(told["t"].shape, self.intercept)
        for name, weight in self.weights.items():
            sums += weight * np.clip(whole[name], self.low[name], self.high[name])
        found = 1.0 / (1.0 + np.exp(-sums))
        return np.asarray(np.where(told["t"] > OUTSTANDING, found, self.rest))


def whole_p(differences: Differences, exchanges: Exchanges) -> float:
    """How often an exchange makes as much of a difference as was measured, of all genes together.

    Judged by the mean over the targets of their largest t squared.
    """
    return float(exchanges.p_values(differences.best.mean(axis=1)))


def features(differences: Differences, exchanges: Exchanges, steps: Steps) -> dict[str, Array]:
    """Return what the chance is made of, each [regulator, target]."""
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
    whole = -np.log(whole_p(found, exchanges))
    best = -np.log(exchanges.p_values(found.best))
    larger = np.maximum(*sizes)
    told = {
        "t": t,
        "t beside others": t - _of_others(t),
        "t p": -np.log(found.p),
        "t rank": np.log1p(_ranks(t)),
        "t reverse": reverse,
        "z": z,
        "z beside others": z - _of_others(z),
        "z p": -np.log(found.z_p),
        "stronger": np.log(SLIGHT + larger),
        "stronger beside others": np.log(SLIGHT + larger) - np.log(SLIGHT + _of_others(larger)),
        "stronger reverse": np.log(SLIGHT + reverse_size),
        "weaker": np.log(SLIGHT + np.minimum(*sizes)),
        "common": is_common,
        "target p": np.broadcast_to(best, shape),
        "whole p": np.full(shape, whole),
        "targets": np.full(shape, np.log(shape[1])),
        "regulators": np.full(shape, np.log(shape[0])),
        "steps": np.full(shape, np.log(len(steps.past))),
        "series": np.full(shape, np.log(len(steps.starts))),
    }
    return with_products(told)


def with_products(told: Mapping[str, Array]) -> dict[str, Array]:
    """Return the same with what an edge leads the others by, and with products of features."""
    whole = dict(told)
    for name in LEADS:
        whole[f"{name} leads"] = np.maximum(told[f"{name} beside others"], 0.0)
    for one, other in PRODUCTS:
        whole[f"{one} x {other}"] = whole[one] * whole[other]
    return whole


def expanded(told: Mapping[str, Array], bends: Mapping[str, list[float]]) -> dict[str, Array]:
    """Return the same with how far each feature is beyond each of its bends."""
    whole = dict(told)
    for name, places in bends.items():
        for place in places:
            whole[f"{name} beyond {place:g}"] = np.maximum(told[name] - place, 0.0)
    return whole


def chances(differences: Differences, exchanges: Exchanges, steps: Steps) -> Array:
    """Return how likely each edge differs, [regulator, target]; 0 from a gene to itself."""
    found = read_learned().chance(features(differences, exchanges, steps))
    found[np.arange(len(steps.inputs)), steps.inputs] = 0.0
    return np.asarray(found)


@cache
def read_learned() -> Learned:
    """Read what was learned."""
    text = resources.files("grn_tvcs.comparison").joinpath("learned.json").read_text("utf-8")
    return Learned(**json.loads(text)["regression"])


def _of_others(values: Array) -> Array:
    """The largest value of each target among its other regulators."""
    if len(values) < 2:
        return np.zeros_like(values)
    second, first = np.sort(values, axis=0)[-2:]
    return np.where(values == first, second, first)


def _ranks(values: Array) -> Array:
    """How many regulators of the same target have a larger value."""
    order = np.sort(-values, axis=0)
    columns = zip(order.T, -values.T, strict=True)
    return np.stack([np.searchsorted(known, column) for known, column in columns], axis=1)


def power_said(n_series: int) -> str:
    """Say what was found of simulated differences with about so many series a side."""
    text = resources.files("grn_tvcs.comparison").joinpath("learned.json").read_text("utf-8")
    known = json.loads(text)["power"]
    size = min(known, key=lambda name: abs(int(name) - n_series))
    pairs, edges = known[size]["pairs"], known[size]["edges"]
    return (
        f"With {size} series a side a difference was found in {100 * pairs:.0f} % of simulated "
        f"pairs of which 5 to 30 % of the edges differed, and {100 * edges:.1f} % of the edges "
        "that differed were named at a false discovery of at most 0.2: what is not named may well "
        "differ."
    )
