"""Batches of terms for the stochastic solvers, and their order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tvcs_core.arguments import check_choice, check_number
from tvcs_core.loss import Loss

SCHEDULES = ("uniform", "shuffled")
MIN_TERMS = 8  # with fewer terms the default is one batch, since a quarter of them is no estimate


class Batches:
    """A random partition of the terms of a loss into batches of nearly one size.

    Parameters
    ----------
    loss
        A loss with terms.
    size
        Terms per batch, from 1 to their number; None for a quarter of them, or for all if there are
        fewer than `MIN_TERMS`.
    schedule
        ``"uniform"``: each step draws one batch, all equally likely (Nguyen, Needell and
        Woolf 2014). ``"shuffled"``: every batch comes once per pass, in a new order.
    rng
        The generator.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """

    def __init__(
        self, loss: Loss, size: int | None, schedule: str, rng: np.random.Generator
    ) -> None:
        n = loss.n_terms
        assert n is not None
        if size is not None:
            check_number("batch", size, whole=True)
        if size is not None and not 1 <= size <= n:
            raise ValueError(f"batch must be from 1 to the number of terms {n}, found {size}")
        check_choice("schedule", schedule, SCHEDULES)
        default = -(-n // 4) if n >= MIN_TERMS else n
        n_batches = -(-n // (size or default))
        self.batches = [np.sort(part) for part in np.array_split(rng.permutation(n), n_batches)]
        self._schedule, self._rng = schedule, rng

    def __len__(self) -> int:
        return len(self.batches)

    def one_pass(self) -> Iterator[NDArray[np.int64]]:
        """Return the batches of one pass: as many as there are."""
        n = len(self.batches)
        order = (
            self._rng.integers(n, size=n)
            if self._schedule == "uniform"
            else self._rng.permutation(n)
        )
        return (self.batches[i] for i in order)
