"""Halves, memories, caps and weights that are spread evenly, in place of independent draws.

What `grn_tvcs.stability` draws for a pair of halves hangs on nothing but the pair's own stream.
Here all draws of a regression are made together. Numbers come one from each of as many equal parts
of their range as there are draws (Latin hypercube: McKay, Beckman and Conover, Technometrics 21,
239, 1979), and halves are taken so that any two blocks of steps are together about as often as any
other two. The mean over draws is of the same thing, and scatters less.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.stability.stability import Draws, _blocks

TRIES = 30  # halves that are looked at for each that is taken

Array = NDArray[np.float64]


class Told:
    """Stands for the generator of a pair of halves, which draws what it is told.

    In the order in which a pair draws: its memory, and for both halves factors, in-degree, total.
    """

    def __init__(
        self,
        stream: np.random.Generator,
        numbers: list[Array | float],
        degrees: list[float],
        half: NDArray[np.int64],
    ) -> None:
        self.bit_generator = stream.bit_generator
        self._numbers, self._degrees, self._half = numbers, degrees, half

    def uniform(self, low: float, high: float, size: int | None = None) -> Array | float:
        return low + (high - low) * self._numbers.pop(0)

    def integers(self, low: int, high: int) -> int:
        return low + int(self._degrees.pop(0) * (high - low))

    def permutation(self, n: int) -> NDArray[np.int64]:
        return self._half


@contextmanager
def even_draws() -> Iterator[None]:
    """Spread the draws of every regression that begins inside."""
    independent = Draws.with_streams

    def with_streams(draws: Draws, rng: np.random.Generator) -> Draws:
        ready = independent(draws, rng)
        object.__setattr__(ready, "streams", told(ready, rng.spawn(1)[0]))
        return ready

    with patch.object(Draws, "with_streams", with_streams):
        yield


def told(draws: Draws, rng: np.random.Generator) -> tuple[Told, ...]:
    """What every pair of halves is told."""
    n_pairs, n_inputs = draws.plan.pairs, len(draws.inputs)
    memory, degree, total = spread(n_pairs, rng), spread(2 * n_pairs, rng), spread(2 * n_pairs, rng)
    factors = np.array([spread(2 * n_pairs, rng) for _ in range(n_inputs)]).T
    halves = even_halves(int(_blocks(draws.steps).max()) + 1, n_pairs, rng)
    return tuple(
        Told(
            stream,
            [memory[k], factors[2 * k], total[2 * k], factors[2 * k + 1], total[2 * k + 1]],
            degree[2 * k : 2 * k + 2].tolist(),
            halves[k],
        )
        for k, stream in enumerate(draws.streams)
    )


def spread(n: int, rng: np.random.Generator) -> Array:
    """`n` numbers in any order, one from each n-th part of [0, 1)."""
    return (rng.permutation(n) + rng.random(n)) / n


def even_halves(n_blocks: int, n: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """`n` orders of blocks; any two are in the same half of an order about equally often.

    Each order is that of `TRIES` which leaves the least sum of squares of how much more often two
    blocks are together than apart.
    """
    together = np.zeros((n_blocks, n_blocks))
    found = []
    for _ in range(n):
        orders = [rng.permutation(n_blocks) for _ in range(TRIES)]
        sides = [np.where(np.isin(range(n_blocks), o[: n_blocks // 2]), 1.0, -1.0) for o in orders]
        left = [((together + np.outer(side, side)) ** 2).sum() for side in sides]
        best = int(np.argmin(left))
        together += np.outer(sides[best], sides[best])
        found.append(orders[best])
    return found
