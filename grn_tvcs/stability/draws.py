"""Independent random draws for all complementary pairs of halves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grn_tvcs.stability.model import Array, Flags
from grn_tvcs.stability.sums import MAX_HALVES


@dataclass(frozen=True)
class SubsamplingPlan:
    """Settings of the halves, and distribution of the draws.

    Attributes
    ----------
    solvers
        Solvers of each half: ``"tvcs"`` (GradMP under caps), ``"omp"``.
    resamples
        Number of halves.
    memory
        Memory of the past (`Transitions.past`).
    column_weights
        Range of the factor of an input.
    in_degrees
        Range of the cap on the regulators of a gene.
    edges_per_gene
        Cap on all edges, per gene.
    """

    solvers: tuple[str, ...]
    resamples: int
    memory: float
    column_weights: tuple[float, float]
    in_degrees: tuple[int, int]
    edges_per_gene: float

    @property
    def pairs(self) -> int:
        """Number of complementary pairs with at least `resamples` halves."""
        return -(-self.resamples // 2)

    def __post_init__(self) -> None:
        if not 1 <= self.resamples or 2 * self.pairs > MAX_HALVES:
            raise ValueError(f"resamples must be in [1, {MAX_HALVES}], found {self.resamples}")
        for name, most in (("memory", 0.99), ("edges_per_gene", 100.0)):
            if not 0 <= getattr(self, name) <= most:
                raise ValueError(f"{name} must be in [0, {most:g}], found {getattr(self, name)}")
        for name, least, most in (("column_weights", 0.01, 1.0), ("in_degrees", 0, 100)):
            low, high = getattr(self, name)
            if not least <= low <= high <= most:
                raise ValueError(
                    f"{name} must be two numbers, the lower one first, in [{least}, {most}], "
                    f"found {low} and {high}"
                )


class Subsample(NamedTuple):
    """Draws for one half.

    Attributes
    ----------
    column_weights
        Factor of each input.
    in_degree
        Cap on the regulators of a gene.
    """

    column_weights: Array
    in_degree: int


class ComplementaryPair(NamedTuple):
    """Draws for a half and its complement.

    Attributes
    ----------
    in_first
        Whether each block of steps is in the first half.
    first, second
        Draws for either half.
    """

    in_first: Flags
    first: Subsample
    second: Subsample


def draw_pairs(
    plan: SubsamplingPlan, n_inputs: int, n_blocks: int, rng: np.random.Generator
) -> tuple[ComplementaryPair, ...]:
    """Draw all complementary pairs of the plan; the first half is the smaller one.

    Parameters
    ----------
    plan
        Distribution of the draws.
    n_inputs
        Number of inputs, each with a factor per half.
    n_blocks
        Number of blocks of steps.
    rng
        Random generator.
    """
    n = plan.pairs
    weights = rng.uniform(*plan.column_weights, (2 * n, n_inputs))
    in_degrees = rng.integers(*plan.in_degrees, 2 * n, endpoint=True)
    halves = [Subsample(*drawn) for drawn in zip(weights, in_degrees.tolist(), strict=True)]
    in_first = rng.permuted(np.tile(np.arange(n_blocks) < n_blocks // 2, (n, 1)), axis=1)
    return tuple(map(ComplementaryPair, in_first, halves[::2], halves[1::2]))
