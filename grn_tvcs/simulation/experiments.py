"""Experiments on a kinetic model, cheap enough for many networks: series, rest, cells.

The model is that of `simulation.py`, the steps are larger: the kernel moves by one unit of time,
and a model whose decay is h times as fast makes of it h units, drift and noise alike. States at
rest come after a fixed time instead of when nothing moves any more.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.simulation.kernels import wander
from grn_tvcs.simulation.kinetics import Kinetics
from grn_tvcs.simulation.simulation import MULTIFACTORIAL, PERTURBED

STEP = 2.0  # units of time per step within a series; half-lives are 5 to 50 ...
REST_STEP = 5.0  # ... and on the way to rest
TO_REST = 600.0  # units of time from one state of rest to another
FROM_NOTHING = 1000.0  # units of time from an empty cell to the wild type
GRAIN = 4.0  # units of time between the moments at which cells are taken
RUNS = 6  # independent runs that the cells of one series are taken from
STAGES = 4  # most changes that lead cells along

Array = NDArray[np.float64]


def is_on(n_points: int) -> NDArray[np.bool_]:
    """At which points of a series the perturbation is on: before half-time."""
    return np.asarray(2 * np.arange(n_points) < n_points - 1)


class Bench:
    """Does one experiment after the other on one model; levels come without measurement noise."""

    def __init__(self, kinetics: Kinetics, sde: float, rng: np.random.Generator) -> None:
        self.kinetics = kinetics
        self.n_genes = len(kinetics.names)
        self._arrays = kinetics.arrays()
        self._alphas = kinetics.alphas
        self._sde = sde
        self._rng = rng
        self._all = np.ones(self.n_genes)
        self._basal = np.array([gene.alphas[0] for gene in kinetics.genes])
        self.wild_type = np.zeros((2, self.n_genes))
        self._move(self.wild_type, FROM_NOTHING, REST_STEP)

    def series(self, n_points: int, interval: float) -> Array:
        """From the wild type; some genes are perturbed, and released at half-time."""
        shifted = self.kinetics.shifted(self._perturbation())
        state = self.wild_type.copy()
        levels = [state[0].copy()]
        for on in is_on(n_points)[:-1]:
            self._move(state, interval, STEP, shifted if on else self._alphas)
            levels.append(state[0].copy())
        return np.array(levels)

    def relaxation(self, n_points: int, interval: float, *, is_shifted: bool) -> Array:
        """Back to the wild type, from rest under a change of all genes or from anywhere."""
        state = self._changed() if is_shifted else self._rng.random((2, self.n_genes))
        levels = [state[0].copy()]
        for _ in range(1, n_points):
            self._move(state, interval, STEP)
            levels.append(state[0].copy())
        return np.array(levels)

    def multifactorial(self) -> Array:
        """Rest where all activations are changed a little."""
        return self._changed()[0]

    def knocked(self, gene: int, part: float) -> Array:
        """Rest where a gene makes a part of its mRNA: 0 for a knock-out."""
        transcription = self._all.copy()
        transcription[gene] = part
        state = self.wild_type.copy()
        state[:, gene] *= part > 0
        self._move(state, TO_REST, REST_STEP, transcription=transcription)
        return state[0]

    def cells(self, n_cells: int, duration: float, changes: list[Array]) -> tuple[Array, Array]:
        """Levels of cells at random times, and these times.

        From the wild type one change of activations after the other leads them along, each for
        the same time. Cells are taken from `RUNS` runs.
        """
        n_steps = math.ceil(duration / GRAIN)
        stage = np.arange(n_steps) * len(changes) // n_steps
        shifted = [self.kinetics.shifted(change) for change in changes]
        paths = np.empty((RUNS, n_steps, self.n_genes))
        for path in paths:
            state = self.wild_type.copy()
            for step in range(n_steps):
                self._move(state, duration / n_steps, STEP, shifted[stage[step]])
                path[step] = state[0]
        taken = self._rng.integers(n_steps, size=n_cells)
        run = self._rng.integers(RUNS, size=n_cells)
        return paths[run, taken], (taken + self._rng.random(n_cells)) * duration / n_steps

    def changes(self, n: int, first: list[Array]) -> list[Array]:
        """`n` perturbations one after the other, those of `first` in front."""
        return [*first, *(self._perturbation() for _ in range(n - len(first)))][:n]

    def _perturbation(self) -> Array:
        """Change of each gene's activation: 0, or to a new basal one anywhere in [0, 1]."""
        is_hit = self._rng.random(self.n_genes) < PERTURBED
        return np.where(is_hit, self._rng.random(self.n_genes) - self._basal, 0.0)

    def _changed(self) -> Array:
        basal = self._basal + self._rng.normal(0.0, MULTIFACTORIAL, self.n_genes)
        state = self.wild_type.copy()
        change = np.clip(basal, 0.0, 1.0) - self._basal
        self._move(state, TO_REST, REST_STEP, self.kinetics.shifted(change))
        return state

    def _move(
        self,
        state: Array,
        duration: float,
        step: float,
        alphas: Array | None = None,
        transcription: Array | None = None,
    ) -> None:
        n_steps = math.ceil(duration / step)
        model = self._arrays._replace(decay=self._arrays.decay * (duration / n_steps))
        normals = self._rng.standard_normal((n_steps, 2, self.n_genes))
        wander(
            state,
            self._alphas if alphas is None else alphas,
            self._all if transcription is None else transcription,
            model,
            self._sde,
            normals,
        )
