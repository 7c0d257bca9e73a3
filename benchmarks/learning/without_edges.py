"""Tables without any edge between measured genes, beside those of `simulation.examples`.

*Driven*: a common, unmeasured stimulus to which every gene responds independently. They train the
trees that tell tables without edges. The level of a gene follows the stimulus at its own rate,

    dx/dt = log 2 / half-life * (a d f u(t) - x),

with a its response, 0 for unresponsive genes, d the dose of a series, f a factor of the gene's
response in this series, and u the stimulus: on for the first half of a series, or decaying from its
start. If series start at random, the stimulus may instead end at their start.

*Unmeasured*: a network none of whose 1 to 3 regulators is measured.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.simulation.designs import RANDOM, Design, Rng
from grn_tvcs.simulation.examples import Example, draw_null, measured_on, without_edges
from grn_tvcs.simulation.experiments import is_on
from grn_tvcs.simulation.kinds import draw_topology
from grn_tvcs.simulation.kinetics import HALF_LIFE
from tvcs_core.streams import stream

DRIVEN, UNMEASURED = "driven", "unmeasured"
MAX_UNMEASURED = 3  # regulators of a network none of whose regulators is measured
DRIVEN_NOISE = (0.02, 0.3)  # standard deviation of log levels under a common stimulus
# Ranges of the null tables of decision 174.
RESPONSE = (0.3, 2.0)  # standard deviation of the responses of log levels
RESPONSIVE = (0.4, 1.0)  # fraction of responsive genes
DOSE, SPREAD = (0.5, 1.2), (0.0, 0.5)  # dose of a series; sd of the factor of responses in it
DECAY_TIME = (0.1, 0.5)  # time constant of a decaying stimulus, as a fraction of the series
STEPS = 10  # integration steps between two samples

Array = NDArray[np.float64]


def draw_without_edges(design: Design, kind: str, rng: Rng = None) -> Example:
    """Draw the tables of a design without any edge, of a kind of `NULLS` or of these."""
    if kind == DRIVEN:
        return _draw_driven(design, stream(rng, "null"))
    if kind == UNMEASURED:
        return _draw_unmeasured(design, stream(rng, "null"))
    return draw_null(design, kind, rng)


def _draw_driven(design: Design, rng: np.random.Generator) -> Example:
    """Draw tables of a common stimulus; without time, its dose differs between samples."""
    rest = rng.uniform(-2, 0, design.n_genes)
    size = float(np.exp(rng.uniform(*np.log(DRIVEN_NOISE))))
    response = responses(design, rng)
    logs = driven(design, response, rng)
    logs = logs + size * rng.standard_normal(logs.shape)
    return without_edges(design, DRIVEN, rest, size, logs, response, rng)


def _draw_unmeasured(design: Design, rng: np.random.Generator) -> Example:
    """Draw the tables of a network none of whose regulators is measured."""
    n = design.n_genes
    hidden = n + np.arange(int(rng.integers(1, MAX_UNMEASURED + 1)))
    topology = draw_topology("star", n + hidden.size, rng, hidden)
    may = np.sort(rng.permutation(n)[: design.n_regulators])
    return measured_on(topology, design, np.arange(n), may, UNMEASURED, rng)


def responses(design: Design, rng: np.random.Generator) -> Array:
    """Draw the response of each gene, as a logarithm; (genes,)."""
    answers = rng.random(design.n_genes) < rng.uniform(*RESPONSIVE)
    return np.where(answers, rng.uniform(*RESPONSE) * rng.standard_normal(design.n_genes), 0.0)


def driven(design: Design, response: Array, rng: np.random.Generator) -> Array:
    """Return the log levels of all series relative to steady state; (series, points, genes)."""
    n_series, n_points, n = design.n_series, design.n_points, design.n_genes
    least, most = np.log(HALF_LIFE)
    half_life = np.exp(rng.uniform(least, most, n))
    decay_time = rng.uniform(*DECAY_TIME) * n_points * design.interval
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
            size = math.exp(-time / decay_time) if is_fading else float(on[point])
            state = state + part * (aim * (0.0 if is_over else size) - state)
    return levels
