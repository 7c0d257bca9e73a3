"""Steps of two conditions in one table, in common units."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.samples import LOG_OFFSET
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.stability.model import StepLoss, Transitions, transitions

# Chosen on simulated pairs (`python -m benchmarks.two_conditions --learn`).
MEMORY = 0.3  # of the past; shorter memories separate edges better
MAX_COMMON = 3  # common regulators per target ...
MIN_T_SQUARED = 6.0  # ... with at least this t squared
MIN_DEVIATION = 1e-9  # standard deviations below this count as 0

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Steps:
    """Steps from sample to sample of all series, with the first condition first.

    Attributes
    ----------
    past, own, following
        Levels of regulators and of targets before and after each step, standardised over both
        conditions; (steps, genes).
    ones
        1 if a step shares the intercept of its condition, 0 if its perturbed part of a series has
        its own, which is projected out.
    starts
        First step of each series.
    n_lost
        Number of intercepts of perturbed parts.
    inputs
        Indices of the candidate regulators, the columns of `past`.
    common
        For each target, columns of `past` that regulate it in both conditions together.
    """

    past: Array
    own: Array
    following: Array
    ones: Array
    starts: NDArray[np.int64]
    n_lost: int
    inputs: NDArray[np.int64]
    common: tuple[tuple[int, ...], ...]


def pool_conditions(a: Expression, b: Expression) -> tuple[Expression, int]:
    """Join both conditions in one table, the first one first; also return its number of series.

    Genes and series are sorted by name, so their order in files does not matter.
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
        identifiers=first.identifiers.joined(second.identifiers),
    )
    return on_scale(both), first.n_series


def make_steps(both: Expression, inputs: NDArray[np.int64]) -> Steps:
    """Make the steps of both conditions; `inputs` are the indices of candidate regulators."""
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
    return np.asarray(part / np.where(size > MIN_DEVIATION, size, np.inf))


def _common(steps: Steps, made: Transitions) -> tuple[tuple[int, ...], ...]:
    """Return the regulators of each target in both conditions together, by forward selection."""
    n_inputs, n_targets = len(steps.inputs), steps.own.shape[1]
    allowed = steps.inputs[:, None] != np.arange(n_targets)
    loss = StepLoss(
        steps.past, steps.own, steps.following, made.intercepts, np.ones(n_inputs), allowed
    )
    found = loss.pursued(MAX_COMMON, np.zeros((n_targets, n_inputs), np.int64))
    common: list[list[int]] = [[] for _ in range(n_targets)]
    for place, t_squared in zip(found.edges.places.tolist(), found.t_squared, strict=True):
        if t_squared > MIN_T_SQUARED:
            common[place // n_inputs].append(place % n_inputs)
    return tuple(tuple(sorted(columns)) for columns in common)
