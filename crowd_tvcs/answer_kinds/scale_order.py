"""Whether the steps of a scale are in order: disagreements must fall with the distance of steps.

Answers to one task are compared in pairs, each task with the weight of its answers (Krippendorff's
coincidences). On an ordered scale, those who disagree are closer together than by chance given how
often each step is used. The statistic is the mean distance observed less that by chance; its
interval is bootstrapped over tasks. The same for every order with one step moved by two places or
more shows whether a step stands in the wrong place; neighbours that are swapped look alike. No gold
is needed; gold counts as one more answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowd_tvcs.agreement.bootstrap import draw_tasks, percentiles
from crowd_tvcs.answer_kinds.propagation import Edges
from crowd_tvcs.arrays import Floats, Integers, sum_by
from tvcs_core.files.display import joined, quoted

DRAWS = 400
INTERVAL = 0.95
BETTER = 0.99  # share of the draws in which another order must win; it was chosen among many
MIN_TASKS = 10  # with disagreement; fewer say nothing


@dataclass(frozen=True)
class ScaleOrder:
    """The test of the order of a scale.

    Attributes
    ----------
    excess
        Mean distance of disagreeing answers less that by chance, in steps; negative if ordered.
    low, high
        Ends of its bootstrap interval.
    tasks
        Tasks on which answers disagree.
    better
        An order with one step moved that fits better; empty if none does surely.
    verdict
        ``"ordered"``, ``"not ordered"``, ``"another order"`` or ``"not tested"``.
    """

    excess: float
    low: float
    high: float
    tasks: int
    better: tuple[str, ...]
    verdict: str

    def describe(self) -> str:
        """Return the verdict as a sentence."""
        if self.verdict == "not tested":
            return (
                f"whether the scale is ordered was not tested: answers disagree on {self.tasks} "
                f"tasks, and {MIN_TASKS} are needed"
            )
        found = (
            f"those who disagree are {abs(self.excess):.2f} steps "
            f"{'closer' if self.excess <= 0 else 'further apart'} than by chance (95 % interval "
            f"{self.low:+.2f} to {self.high:+.2f}, {self.tasks} tasks)"
        )
        if self.verdict == "ordered":
            return f"the scale is ordered: {found}"
        if self.verdict == "another order":
            return (
                f"warning: the answers fit the order {joined(self.better, quoted)} better than the "
                f"one of --scale; {found}. Give that order, or vote without --scale"
            )
        return (
            f"warning: the answers do not show that the scale is ordered: {found}. Vote without "
            "--scale if its steps are classes without an order"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the facts for a summary."""
        return {**vars(self), "better": list(self.better), "sentence": self.describe()}


def judge_order(
    edges: Edges, gold: Integers, scale: Sequence[str], rng: np.random.Generator
) -> ScaleOrder:
    """Test whether the steps of a scale are in the given order.

    Parameters
    ----------
    edges
        The answers.
    gold
        Known step of every task, -1 if unknown.
    scale
        Names of the steps, in order.
    rng
        Source of the bootstrap.
    """
    apart = _disagreements(edges, gold, len(scale))
    if apart.shape[0] < MIN_TASKS:
        return ScaleOrder(np.nan, np.nan, np.nan, apart.shape[0], (), "not tested")
    drawn = draw_tasks(DRAWS, apart.shape[0], rng) @ apart.reshape(apart.shape[0], -1)
    shape = (-1, *apart.shape[1:])
    excess = _beyond_chance(np.concatenate([apart.sum(axis=0)[None], drawn.reshape(shape)]))
    steps = np.arange(len(scale))
    own = _mean_distance(excess, steps)
    low, high = percentiles(own[1:], INTERVAL)
    better = _better_order(excess, own, steps)
    verdict = "ordered" if high < 0 else "not ordered"
    if better is not None:
        verdict = "another order"
    names = () if better is None else tuple(scale[k] for k in better)
    return ScaleOrder(float(own[0]), float(low), float(high), apart.shape[0], names, verdict)


def _disagreements(edges: Edges, gold: Integers, n_steps: int) -> Floats:
    """Return the pairs of different answers of every task with any: (tasks, steps, steps)."""
    known = np.flatnonzero(gold >= 0)
    task, label = np.append(edges.task, known), np.append(edges.label, gold[known])
    counts = sum_by(task, np.eye(n_steps)[label], gold.size)
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(n_steps), np.arange(n_steps)] = 0
    n = counts.sum(axis=1)
    differs = pairs.any(axis=(1, 2))
    return pairs[differs] / (n[differs] - 1)[:, None, None]


def _beyond_chance(apart: Floats) -> Floats:
    """Return the shares of disagreements less those by chance, of shape (draws, steps, steps)."""
    share = apart / apart.sum(axis=(1, 2), keepdims=True)
    used = share.sum(axis=2)
    by_chance = used[:, :, None] * used[:, None, :]
    n = np.arange(used.shape[1])
    by_chance[:, n, n] = 0
    return share - by_chance / by_chance.sum(axis=(1, 2), keepdims=True)


def _mean_distance(excess: Floats, place: Integers) -> Floats:
    """Return the mean distance of every draw, where step k stands at place[k]."""
    return (excess * np.abs(place[:, None] - place)).sum(axis=(1, 2))


def _better_order(excess: Floats, own: Floats, steps: Integers) -> list[int] | None:
    """Return the best order with one step moved, if it wins in `BETTER` of the draws."""
    orders = list(_one_moved(steps.tolist()))
    places = [np.argsort(order) for order in orders]
    best = min(range(len(orders)), key=lambda k: float(_mean_distance(excess[:1], places[k])[0]))
    wins = _mean_distance(excess[1:], places[best]) < own[1:]
    return orders[best] if wins.mean() >= BETTER else None


def _one_moved(steps: list[int]) -> Iterator[list[int]]:
    for step in steps:
        rest = [k for k in steps if k != step]
        for at in range(len(steps)):
            if abs(at - step) > 1:
                yield [*rest[:at], step, *rest[at:]]
