"""Two conditions as one table of steps, in units that both share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.samples import LOG_OFFSET
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.stability.model import StepLoss, Transitions, transitions

MEMORY = 0.3  # of the past; the shorter the sharper, on simulated pairs
REGULATORS = 3  # of a target at most that are taken as common to both conditions ...
CLEAR = 6.0  # ... where the square of their t is at least this
FLAT = 1e-9  # a deviation that counts as none

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Steps:
    """Steps from a sample to the next of all series, those of the first condition in front.

    Attributes
    ----------
    past, own, following
        Of regulators and of targets before and after each step, as deviations from the mean in
        the unit of the deviation of both conditions together; (steps, genes).
    ones
        1 where a step shares the intercept of its condition, 0 where its perturbed part of a
        series has one of its own, which is taken out.
    starts
        First step of each series.
    n_lost
        Intercepts of perturbed parts.
    inputs
        Places of the genes that may regulate: the columns of `past`.
    common
        For each target the columns of `past` that regulate it in both conditions together.
    """

    past: Array
    own: Array
    following: Array
    ones: Array
    starts: NDArray[np.int64]
    n_lost: int
    inputs: NDArray[np.int64]
    common: tuple[tuple[int, ...], ...]


def pooled(a: Expression, b: Expression, scale: str | None = None) -> tuple[Expression, int]:
    """Put both conditions into one table, the first one in front; and how many series that has.

    Genes, and the series of each condition, are brought into an order of their own, so that that
    of the files changes nothing.
    """
    first, second = (part.of_series().in_name_order() for part in (a, b))
    on = [
        np.zeros(len(part.times), dtype=bool) if part.perturbed is None else part.perturbed
        for part in (first, second)
    ]
    is_known = first.perturbed is not None or second.perturbed is not None
    names = [f"{k} {name}" for k, part in enumerate((first, second), 1) for name in part.series]
    both = Expression(
        np.concatenate([first.values, second.values]),
        np.concatenate([first.times, second.times]),
        tuple(names),
        first.genes,
        np.concatenate(on) if is_known else None,
        scale=first.scale or second.scale,
    )
    return on_scale(both, scale), len(first.pieces())


def steps_of(both: Expression, inputs: NDArray[np.int64]) -> Steps:
    """Make the steps of both conditions; `inputs` are the places of those that may regulate."""
    made = transitions(both, LOG_OFFSET)
    ones, n_lost = np.ones(len(made.before)), 0
    parts = [made.past(inputs, MEMORY), made.own, made.following]
    if made.perturbed is not None:
        for segment in np.unique(made.segments[made.perturbed]):
            rows = made.segments == segment
            ones[rows], n_lost = 0.0, n_lost + 1
            for part in parts:
                part[rows] -= part[rows].mean(axis=0)
    past, own, following = (_standard(part, ones > 0) for part in parts)
    series = made.series
    starts = np.flatnonzero(np.diff(series, prepend=-1))
    steps = Steps(past, own, following, ones, starts, n_lost, inputs, ())
    return replace(steps, common=_common(steps, made))


def _standard(part: Array, is_centred: NDArray[np.bool_]) -> Array:
    part = part - np.where(is_centred[:, None], part[is_centred].mean(axis=0), 0.0)
    size = np.sqrt(np.mean(part * part, axis=0))
    return np.asarray(part / np.where(size > FLAT, size, np.inf))


def _common(steps: Steps, made: Transitions) -> tuple[tuple[int, ...], ...]:
    """Regulators of each target that both conditions together show, one after the other."""
    n_inputs, n_targets = len(steps.inputs), steps.own.shape[1]
    allowed = steps.inputs[:, None] != np.arange(n_targets)
    loss = StepLoss(
        steps.past, steps.own, steps.following, made.intercepts, np.ones(n_inputs), allowed
    )
    found = loss.pursued(REGULATORS, np.zeros((n_targets, n_inputs), np.int64))
    common: list[list[int]] = [[] for _ in range(n_targets)]
    for place, t_squared in zip(found.edges.places.tolist(), found.t_squared, strict=True):
        if t_squared > CLEAR:
            common[place // n_inputs].append(place % n_inputs)
    return tuple(tuple(sorted(columns)) for columns in common)
