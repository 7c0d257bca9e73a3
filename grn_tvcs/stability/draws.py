"""What is drawn for pairs of halves, spread evenly over all pairs.

Every number is drawn once from each of as many equal parts of its range as there are draws of it
(Latin hypercube: McKay, Beckman and Conover, Technometrics 21, 239, 1979), and halves are chosen so
that any two blocks of steps are together about as often as any other two. Each half by itself is
drawn as an independent one would be, so the mean is of the same thing and scatters less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.stability.model import Array, Flags
from grn_tvcs.stability.sums import MOST_HALVES

TRIES = 30  # halves that are looked at for each that is taken
MANY_BLOCKS = 300  # of more, only so many of the last halves are held against the next


@dataclass(frozen=True)
class Plan:
    """What is drawn, and from where.

    Attributes
    ----------
    parts
        Which solvers run on each half: ``"tvcs"`` (GradMP under caps), ``"omp"``.
    resamples
        Number of halves.
    memory
        Lowest and highest memory of the past (`Transitions.past`).
    column_weights
        Lowest and highest factor of an input.
    in_degrees
        Lowest and highest cap on the regulators of a gene.
    edges_per_gene
        Lowest and highest cap on all edges, per gene.
    iterations
        Of GradMP.
    """

    parts: tuple[str, ...]
    resamples: int
    memory: tuple[float, float]
    column_weights: tuple[float, float]
    in_degrees: tuple[int, int]
    edges_per_gene: tuple[float, float]
    iterations: int

    @property
    def pairs(self) -> int:
        """Halves and their complements that make at least `resamples`."""
        return -(-self.resamples // 2)

    def __post_init__(self) -> None:
        for name in ("resamples", "iterations"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be >= 1, found {getattr(self, name)}")
        if 2 * self.pairs > MOST_HALVES:
            raise ValueError(f"resamples must be <= {MOST_HALVES}, found {self.resamples}")
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


class Half(NamedTuple):
    """What is drawn for one half.

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


class Pair(NamedTuple):
    """What is drawn for a half and its complement.

    Attributes
    ----------
    memory
        Memory of the past.
    in_first
        Whether each block of steps is in the first half.
    first, second
        What is drawn for either half.
    """

    memory: float
    in_first: Flags
    first: Half
    second: Half


def draw_pairs(
    plan: Plan, n_inputs: int, n_blocks: int, rng: np.random.Generator
) -> tuple[Pair, ...]:
    """Draw all pairs of halves of the plan.

    Parameters
    ----------
    plan
        What is drawn.
    n_inputs
        Number of inputs, which each have a factor in each half.
    n_blocks
        Number of blocks of steps, which are halved.
    rng
        Where random numbers come from.
    """
    n = plan.pairs
    memory = _between(plan.memory, spread(1, n, rng)[0])
    weights = np.ascontiguousarray(_between(plan.column_weights, spread(n_inputs, 2 * n, rng)).T)
    degrees, edges = spread(2, 2 * n, rng)
    low, high = plan.in_degrees
    # What is drawn below 1 may round to 1.
    in_degrees = np.minimum(low + (degrees * (high + 1 - low)).astype(np.int64), high)
    columns = (weights, in_degrees.tolist(), _between(plan.edges_per_gene, edges).tolist())
    halves = [Half(*drawn) for drawn in zip(*columns, strict=True)]
    in_first = even_halves(n_blocks, n, rng)
    return tuple(map(Pair, memory.tolist(), in_first, halves[::2], halves[1::2]))


def spread(rows: int, n: int, rng: np.random.Generator) -> Array:
    """`n` numbers in each row, in any order, one from each `n`-th part of [0, 1)."""
    parts = rng.permuted(np.tile(np.arange(n), (rows, 1)), axis=1)
    return (parts + rng.random((rows, n))) / n


def even_halves(n_blocks: int, n: int, rng: np.random.Generator) -> Flags:
    """Halve the blocks `n` times; any two are in the same half about equally often.

    Each half is that of `TRIES` random ones which leaves the least sum of squares, over pairs of
    blocks, of how much more often they are together than apart. Of more than `MANY_BLOCKS` blocks,
    where any half is a fair one, they are counted over as many of the last halves only.

    Returns
    -------
    numpy.ndarray
        Whether a block is in the first half, which is the smaller one; [halving, block].
    """
    sides = np.full((n, n_blocks), -1.0)
    tried = np.full((TRIES, n_blocks), -1.0)
    tried[:, : n_blocks // 2] = 1.0
    few = n_blocks <= MANY_BLOCKS
    together = np.zeros((n_blocks, n_blocks)) if few else np.empty(0)
    for k in range(n):
        tried = rng.permuted(tried, axis=1)
        # With s s' added to T, the sum over halves so far, what depends on s is s'Ts, which is the
        # sum of (s's_k)^2. Both are exact.
        if few:
            more = ((tried @ together) * tried).sum(axis=1)
        else:
            more = ((tried @ sides[max(0, k - MANY_BLOCKS) : k].T) ** 2).sum(axis=1)
        sides[k] = tried[np.argmin(more)]
        if few:
            together += np.outer(sides[k], sides[k])
    return sides > 0


def _between(bounds: tuple[float, float], numbers: NDArray[np.float64]) -> Array:
    low, high = bounds
    return low + (high - low) * numbers
