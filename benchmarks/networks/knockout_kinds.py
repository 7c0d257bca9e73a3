"""All experiments on a network, for the study of knock-outs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grn_tvcs import Expression, Network, simulate
from grn_tvcs.simulation.simulation import TIME_STEP

N_POINTS = 21
N_SERIES = {10: 5}  # 10 for all other sizes
NOISES = (("normal", 0.03), ("normal", 0.1), ("lognormal", 0.1), ("microarray", 1.0))


@dataclass(frozen=True)
class Made:
    """What the study needs of a simulation."""

    network: Network
    expression: Expression
    wild_type: np.ndarray
    knockouts: np.ndarray
    knockdowns: np.ndarray


def simulated(topology: Network, number: int, rng: np.random.Generator, path: Path | None) -> Made:
    """All experiments on a network; noises change with every second `number`.

    If `path` is given, they are taken from there, or left there.
    """
    if path is not None and path.exists():
        return _loaded(topology, path)
    noise, level = NOISES[number // 2 % len(NOISES)]
    n_series = N_SERIES.get(len(topology.genes), 10)
    made = simulate(
        n_series=n_series, n_points=N_POINTS, topology=topology,
        noise=noise, noise_level=level, rng=rng,
    )  # fmt: skip
    if path is not None:
        levels = {name: getattr(made, name) for name in ("wild_type", "knockouts", "knockdowns")}
        np.savez_compressed(path, series=made.expression.values, **levels)
    return Made(made.network, made.expression, made.wild_type, made.knockouts, made.knockdowns)


def _loaded(topology: Network, path: Path) -> Made:
    with np.load(path) as file:
        levels = {name: file[name] for name in file.files}
    values = levels.pop("series")
    n_series = len(values) // N_POINTS
    times = np.tile(np.arange(N_POINTS) * TIME_STEP, n_series)
    series = tuple(str(s + 1) for s in range(n_series) for _ in range(N_POINTS))
    return Made(topology, Expression(values, times, series, topology.genes), **levels)
