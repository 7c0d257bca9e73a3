"""Draws for all complementary pairs of halves, stratified over the pairs.

Every number is drawn once from each of n equal intervals of its range, with n the number of draws
(Latin hypercube: McKay, Beckman and Conover, Technometrics 21, 239, 1979). Halves are chosen so
that any two blocks of steps are together about equally often. Each half by itself has the
distribution of an independent draw, so the mean has the same expectation and a smaller variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.stability.model import Array, Flags
from grn_tvcs.stability.sums import MAX_HALVES

# Decision 167 measured how evenly halves are spread, and the effect on networks.
CANDIDATE_HALVES = 30  # random halves compared for each that is used
MAX_COUNTED_BLOCKS = 300  # with more blocks, only this number of previous halves is compared


@dataclass(frozen=True)
class SubsamplingPlan:
    """Distribution of the draws.

    Attributes
    ----------
    solvers
        Solvers of each half: ``"tvcs"`` (GradMP under caps), ``"omp"``.
    resamples
        Number of halves.
    memory
        Range of the memory of the past (`Transitions.past`).
    column_weights
        Range of the factor of an input.
    in_degrees
        Range of the cap on the regulators of a gene.
    edges_per_gene
        Range of the cap on all edges, per gene.
    iterations
        Of GradMP.
    """

    solvers: tuple[str, ...]
    resamples: int
    memory: tuple[float, float]
    column_weights: tuple[float, float]
    in_degrees: tuple[int, int]
    edges_per_gene: tuple[float, float]
    iterations: int

    @property
    def pairs(self) -> int:
        """Number of complementary pairs with at least `resamples` halves."""
        return -(-self.resamples // 2)

    def __post_init__(self) -> None:
        for name in ("resamples", "iterations"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be >= 1, found {getattr(self, name)}")
        if 2 * self.pairs > MAX_HALVES:
            raise ValueError(f"resamples must be <= {MAX_HALVES}, found {self.resamples}")
        for name, least, most in (
            ("memory", 0.0, 0.99),
            ("column_weights", 0.01, 1.0),
            ("in_degrees", 0, 100),
            ("edges_per_gene", 0.0, 100.0),
        ):
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
    edges_per_gene
        Cap on all edges, per gene.
    """

    column_weights: Array
    in_degree: int
    edges_per_gene: float


class ComplementaryPair(NamedTuple):
    """Draws for a half and its complement.

    Attributes
    ----------
    memory
        Memory of the past.
    in_first
        Whether each block of steps is in the first half.
    first, second
        Draws for either half.
    """

    memory: float
    in_first: Flags
    first: Subsample
    second: Subsample


def draw_pairs(
    plan: SubsamplingPlan, n_inputs: int, n_blocks: int, rng: np.random.Generator
) -> tuple[ComplementaryPair, ...]:
    """Draw all complementary pairs of the plan.

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
    memory = _between(plan.memory, spread(1, n, rng)[0])
    weights = np.ascontiguousarray(_between(plan.column_weights, spread(n_inputs, 2 * n, rng)).T)
    degrees, edges = spread(2, 2 * n, rng)
    low, high = plan.in_degrees
    # What is drawn below 1 may round to 1.
    in_degrees = np.minimum(low + (degrees * (high + 1 - low)).astype(np.int64), high)
    columns = (weights, in_degrees.tolist(), _between(plan.edges_per_gene, edges).tolist())
    halves = [Subsample(*drawn) for drawn in zip(*columns, strict=True)]
    in_first = even_halves(n_blocks, n, rng)
    return tuple(map(ComplementaryPair, memory.tolist(), in_first, halves[::2], halves[1::2]))


def spread(rows: int, n: int, rng: np.random.Generator) -> Array:
    """Return `n` numbers per row in random order, one from each `n`-th of [0, 1)."""
    parts = rng.permuted(np.tile(np.arange(n), (rows, 1)), axis=1)
    return (parts + rng.random((rows, n))) / n


def even_halves(n_blocks: int, n: int, rng: np.random.Generator) -> Flags:
    """Halve the blocks `n` times so that any two blocks are together about equally often.

    Of `CANDIDATE_HALVES` random halves, the one that minimises the sum of squares, over pairs of
    blocks, of (times together - times apart) is used. With more than `MAX_COUNTED_BLOCKS` blocks
    any half is nearly even, and only as many of the last halves are counted.

    Returns
    -------
    numpy.ndarray
        Whether a block is in the first half, the smaller one; [halving, block].
    """
    sides = np.full((n, n_blocks), -1.0)
    tried = np.full((CANDIDATE_HALVES, n_blocks), -1.0)
    tried[:, : n_blocks // 2] = 1.0
    few = n_blocks <= MAX_COUNTED_BLOCKS
    shared_draws = np.zeros((n_blocks, n_blocks)) if few else np.empty(0)
    for k in range(n):
        tried = rng.permuted(tried, axis=1)
        # Adding s s' to T, the sum over halves so far, changes the sum of squares by 2 s'Ts and a
        # constant, and s'Ts is the sum of (s's_k)^2. Both are sums of integers, hence exact.
        if few:
            more = ((tried @ shared_draws) * tried).sum(axis=1)
        else:
            more = ((tried @ sides[max(0, k - MAX_COUNTED_BLOCKS) : k].T) ** 2).sum(axis=1)
        sides[k] = tried[np.argmin(more)]
        if few:
            shared_draws += np.outer(sides[k], sides[k])
    return sides > 0


def _between(bounds: tuple[float, float], numbers: NDArray[np.float64]) -> Array:
    low, high = bounds
    return low + (high - low) * numbers
