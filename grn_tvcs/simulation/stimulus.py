"""A common stimulus that nobody measured, which every gene answers by itself: no edge at all.

The level of a gene follows the stimulus at a rate of its own,

    dx/dt = log 2 / half-life * (a d f u(t) - x),

with a its response, 0 for the genes that do not answer, d the dose of a series, f how much more or
less the gene answers in this series, and u the stimulus: on for the first half of a series, or
fading from its start. Where series start at random, the stimulus may instead end when they begin.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.simulation.designs import RANDOM, Design
from grn_tvcs.simulation.experiments import is_on
from grn_tvcs.simulation.kinetics import HALF_LIFE

RESPONSE = (0.3, 2.0)  # standard deviation of the responses, of logarithms
ANSWER = (0.4, 1.0)  # part of the genes that do
DOSE, SPREAD = (0.5, 1.2), (0.0, 0.5)  # of a series; how far its responses differ from others'
FADES = (0.1, 0.5)  # time constant of a stimulus that fades, as a part of the series
STEPS = 10  # between two samples

Array = NDArray[np.float64]


def responses(design: Design, rng: np.random.Generator) -> Array:
    """Draw how far each gene answers, as a logarithm; (genes,)."""
    answers = rng.random(design.n_genes) < rng.uniform(*ANSWER)
    return np.where(answers, rng.uniform(*RESPONSE) * rng.standard_normal(design.n_genes), 0.0)


def driven(design: Design, response: Array, rng: np.random.Generator) -> Array:
    """Return the logarithms of all series beside their rest; (series, points, genes)."""
    n_series, n_points, n = design.n_series, design.n_points, design.n_genes
    least, most = np.log(HALF_LIFE)
    half_life = np.exp(rng.uniform(least, most, n))
    fades = rng.uniform(*FADES) * n_points * design.interval
    is_fading = not design.is_perturbation_known and bool(rng.random() < 0.5)
    is_over = design.start == RANDOM and bool(rng.random() < 0.5)
    least, most = DOSE
    dose = rng.uniform(least, most, (n_series, 1))
    others = 1.0 + rng.uniform(*SPREAD) * rng.standard_normal((n_series, n))
    aim = response * dose * others
    part = 1.0 - np.exp(-math.log(2) * design.interval / STEPS / half_life)
    on = is_on(n_points)
    levels = np.zeros((n_series, n_points, n))
    state = aim.copy() if is_over else np.zeros_like(aim)
    for point in range(n_points):
        levels[:, point] = state
        for step in range(STEPS):
            time = (point + step / STEPS) * design.interval
            size = math.exp(-time / fades) if is_fading else float(on[point])
            state = state + part * (aim * (0.0 if is_over else size) - state)
    return levels
