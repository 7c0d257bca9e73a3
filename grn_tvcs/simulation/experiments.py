"""Cheap experiments on a kinetic model, for many networks: series, steady states, cells.

The model is that of `simulation.py` with larger steps. The kernel advances by one unit of time, so
a model with h times the decay advances by h units, in drift and noise alike. Steady states are
taken after a fixed time instead of at convergence.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.simulation.kernels import integrate_sde
from grn_tvcs.simulation.kinetics import Kinetics
from grn_tvcs.simulation.simulation import MULTIFACTORIAL, PERTURBED

# In units of time, in which half-lives are 5 to 50; docs/studies/simulator.md compares them with
# those of GeneNetWeaver.
STEP = 2.0  # per step within a series ...
REST_STEP = 5.0  # ... and on the way to a steady state
TO_REST = 600.0  # from one steady state to another
FROM_NOTHING = 1000.0  # from an empty cell to the wild type
GRAIN = 4.0  # between the sampling times of cells
RUNS = 6  # independent runs from which the cells of one series are sampled
STAGES = 4  # largest number of successive changes along a path of cells

Array = NDArray[np.float64]


def is_on(n_points: int) -> NDArray[np.bool_]:
    """Return the points of a series at which the perturbation is on: before half-time."""
    return np.asarray(2 * np.arange(n_points) < n_points - 1)


class Bench:
    """Experiments on one model, one after the other, without measurement noise."""

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
        """Simulate a series from the wild type, with perturbations that end at half-time."""
        shifted = self.kinetics.shifted(self._perturbation())
        state = self.wild_type.copy()
        levels = [state[0].copy()]
        for on in is_on(n_points)[:-1]:
            self._move(state, interval, STEP, shifted if on else self._alphas)
            levels.append(state[0].copy())
        return np.array(levels)

    def relaxation(self, n_points: int, interval: float, *, is_shifted: bool) -> Array:
        """Simulate relaxation to the wild type, from a changed steady state or a random state."""
        state = self._changed() if is_shifted else self._rng.random((2, self.n_genes))
        levels = [state[0].copy()]
        for _ in range(1, n_points):
            self._move(state, interval, STEP)
            levels.append(state[0].copy())
        return np.array(levels)

    def multifactorial(self) -> Array:
        """Return a steady state with small changes of all activations."""
        return self._changed()[0]

    def knocked(self, gene: int, part: float) -> Array:
        """Return the steady state with a fraction of a gene's transcription: 0 for a knock-out."""
        transcription = self._all.copy()
        transcription[gene] = part
        state = self.wild_type.copy()
        state[:, gene] *= part > 0
        self._move(state, TO_REST, REST_STEP, transcription=transcription)
        return state[0]

    def cells(self, n_cells: int, duration: float, changes: list[Array]) -> tuple[Array, Array]:
        """Return levels of cells at random times, and these times.

        From the wild type, successive changes of activations lead the cells along, each for an
        equal time. Cells are sampled from `RUNS` runs.
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
        """Return `n` successive perturbations, the first ones from `first`."""
        return [*first, *(self._perturbation() for _ in range(n - len(first)))][:n]

    def _perturbation(self) -> Array:
        """Draw changes of activations: 0, or to a new basal activation in [0, 1]."""
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
        integrate_sde(
            state,
            self._alphas if alphas is None else alphas,
            self._all if transcription is None else transcription,
            model,
            self._sde,
            normals,
        )
