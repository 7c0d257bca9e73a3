"""Simulated experiments on a network, as in the DREAM challenges: kinetic model, noise, files.

The experiments and their constants are those of GeneNetWeaver (Schaffter, Marbach and Floreano,
Bioinformatics 27, 2011) and of the fourth DREAM challenge. Time is in arbitrary units; half-lives
of mRNA and protein are 5 to 50.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression, write_expression
from grn_tvcs.network.edge_table import write_reference
from grn_tvcs.network.network import Network
from grn_tvcs.simulation.kernels import integrate_ode, integrate_sde, integrate_to_steady_state
from grn_tvcs.simulation.kinetics import Kinetics, draw_kinetics
from grn_tvcs.simulation.topology import MAX_IN_DEGREE, grow
from tvcs_core.arguments import check_choice, check_number, check_type
from tvcs_core.files.display import summary
from tvcs_core.files.tables import write_table
from tvcs_core.streams import seed_of, stream

TIME_STEP = 50.0  # units of time between the points of a series
SDE = 0.05  # strength of the noise in the dynamics
PERTURBED = 0.33  # probability that a gene is perturbed in a series
MULTIFACTORIAL = 0.25  # standard deviation of changes of basal activations, clipped to [0, 1]
CHECK_EVERY, MAX_TIME = 10.0, 2000.0  # units of time between tests for a steady state; in all
ABSOLUTE, RELATIVE = 1e-5, 1e-3  # largest change within `CHECK_EVERY` at steady state
WILD_TYPE_NOISE = 100  # units of time under noise before the wild type is measured
CHUNK = 100  # rows of random numbers per chunk, which bounds the memory

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Simulation:
    """A network and the experiments on it; levels of mRNA, >= 0, scaled to a maximum of 1.

    Attributes
    ----------
    network
        The true edges, with their signs in the model.
    expression
        The time series. All start from the wild type; each gene is perturbed with probability 0.33
        at time 0, and all are released at half-time.
    perturbations
        Changes of the activation of each gene; (series, genes).
    wild_type
        The steady state without a perturbation; (genes,).
    knockouts, knockdowns
        Steady states in which gene i makes no or half as much mRNA, in row i; (genes, genes).
        No rows if only series were simulated.
    multifactorial
        Steady states with small changes of all activations; (genes, genes) or no rows.
    scale
        Divisor of all levels: the largest measured one.
    kinetics
        The parameters of the model.
    """

    network: Network
    expression: Expression
    perturbations: Array
    wild_type: Array
    knockouts: Array
    knockdowns: Array
    multifactorial: Array
    scale: float
    kinetics: Kinetics

    __repr__ = summary


def simulate(
    n_genes: int = 30,
    n_series: int = 10,
    n_points: int = 21,
    *,
    topology: Network | None = None,
    n_edges: int | None = None,
    max_in_degree: int = MAX_IN_DEGREE,
    max_out_degree: int | None = None,
    min_regulators: int | None = None,
    noise: str = "normal",
    noise_level: float | None = None,
    sde: float = SDE,
    series_only: bool = False,
    rng: int | np.random.Generator | None = None,
) -> Simulation:
    """Draw a kinetic model of a network and simulate all experiments of the DREAM challenges.

    Every gene and every experiment has its own random numbers: with equal seeds, another number of
    series or kind of noise changes only the common `scale`.

    Parameters
    ----------
    n_genes, n_edges, max_in_degree, max_out_degree, min_regulators
        The network to grow, see `grow`; ignored if there is a `topology`.
    n_series, n_points
        Number of series, >= 1, and time points of each, >= 2, every 50.
    topology
        The edges, with known signs; see `read_topology`.
    noise
        Of the measurement: ``normal`` (standard deviation `noise_level`), ``lognormal`` (that of
        the logarithm to base 10), ``microarray`` (relative, larger for low levels; Tu, Stolovitzky
        and Klein, PNAS 99, 2002) or ``none``.
    noise_level
        0.1 by default; for ``microarray`` 1, a factor of the usual noise.
    sde
        Strength of the noise in the dynamics; 0 solves the differential equation without noise.
    series_only
        Leave out knock-outs, knock-downs and multifactorial perturbations. They are three
        experiments per gene, so their time grows with the square of the number of genes.
    rng
        Seed or generator; equal seeds give equal simulations.

    Raises
    ------
    ValueError
        If a size is too small, the edges do not fit, or a noise is unknown, negative or not finite.
    """
    for name, value, least in (("n_series", n_series, 1), ("n_points", n_points, 2)):
        check_number(name, value, whole=True)
        if value < least:
            raise ValueError(f"{name} must be >= {least}, found {value}")
    check_type("topology", topology, Network, or_none=True)
    check_type("series_only", series_only, bool)
    check_choice("noise", noise, NOISES)
    measure, usual = NOISES[noise]
    level = usual if noise_level is None else noise_level
    for name, size in (("noise_level", level), ("sde", sde)):
        check_number(name, size)
        if not 0 <= size < np.inf:
            raise ValueError(f"{name} must be finite and >= 0, found {size}")
    seed = seed_of(rng)
    if topology is None:
        topology = grow(
            n_genes,
            n_edges,
            max_in_degree=max_in_degree,
            max_out_degree=max_out_degree,
            min_regulators=min_regulators,
            rng=stream(seed, "topology"),
        )
    laboratory = _Laboratory(draw_kinetics(topology, seed), sde, seed)
    levels = {"wild type": laboratory.wild_type[:1]}
    if not series_only:
        levels |= laboratory.steady_states()
    perturbations = [laboratory.perturbation(s + 1) for s in range(n_series)]
    for s, change in enumerate(perturbations):
        levels[f"series {s + 1}"] = laboratory.time_series(change, n_points, s + 1)
    for name, true in levels.items():
        spread = stream(seed, "measurement", name).standard_normal(true.shape)
        levels[name] = np.maximum(measure(true, level, spread), 0.0)
    return _simulation(laboratory.kinetics, levels, np.array(perturbations))


def _simulation(kinetics: Kinetics, levels: dict[str, Array], perturbations: Array) -> Simulation:
    scale = max(float(level.max()) for level in levels.values())
    scaled = {name: level / scale for name, level in levels.items()}
    series = [level for name, level in scaled.items() if name.startswith("series ")]
    n_points = len(series[0])
    none = np.empty((0, len(kinetics.names)))
    expression = Expression(
        np.concatenate(series),
        np.tile(np.arange(n_points) * TIME_STEP, len(series)),
        tuple(str(s + 1) for s in range(len(series)) for _ in range(n_points)),
        kinetics.names,
    )
    return Simulation(
        kinetics.network,
        expression,
        perturbations,
        scaled["wild type"][0],
        scaled.get("knockouts", none),
        scaled.get("knockdowns", none),
        scaled.get("multifactorial", none),
        scale,
        kinetics,
    )


class _Laboratory:
    """Experiments on one model, one after the other, without measurement noise."""

    def __init__(self, kinetics: Kinetics, sde: float, seed: int) -> None:
        self.kinetics = kinetics
        self._arrays = kinetics.arrays()
        self._sde = sde
        self._seed = seed
        self._n = len(kinetics.names)
        self._all = np.ones(self._n)
        self._basal = np.array([gene.alphas[0] for gene in kinetics.genes])
        # From an empty cell to the steady state, then some time under noise; mRNA and protein.
        self.wild_type = np.zeros((2, self._n))
        self._settle(self.wild_type, kinetics.alphas, self._all)
        if sde > 0:
            rng = self._noise("wild type")
            self._move(self.wild_type, kinetics.alphas, self._all, WILD_TYPE_NOISE, rng)

    def perturbation(self, series: int) -> Array:
        """Draw changes of activations: 0, or to a new basal activation in [0, 1]."""
        rng = stream(self._seed, "perturbation", f"series {series}")
        is_hit = rng.random(self._n) < PERTURBED
        return np.where(is_hit, rng.random(self._n) - self._basal, 0.0)

    def time_series(self, change: Array, n_points: int, series: int) -> Array:
        """Return levels of mRNA at all points; perturbations are on before half-time."""
        state = self.wild_type.copy()
        rng = self._noise(f"series {series}")
        levels = [state[0].copy()]
        for point in range(1, n_points):
            is_on = 2 * (point - 1) < n_points - 1
            alphas = self.kinetics.shifted(change * is_on)
            self._move(state, alphas, self._all, int(TIME_STEP), rng)
            levels.append(state[0].copy())
        return np.array(levels)

    def steady_states(self) -> dict[str, Array]:
        """Return knock-outs, knock-downs and multifactorial perturbations, one per row."""
        found: dict[str, list[Array]] = {"knockouts": [], "knockdowns": [], "multifactorial": []}
        alphas = self.kinetics.alphas
        for i, gene in enumerate(self.kinetics.names):
            for kind, part in (("knockouts", 0.0), ("knockdowns", 0.5)):
                transcription = self._all.copy()
                transcription[i] = part
                start = self.wild_type.copy()
                start[:, i] *= part > 0
                found[kind].append(self._rest(start, alphas, transcription, kind, gene))
            rng = stream(self._seed, "perturbation", f"multifactorial {i + 1}")
            basal = np.clip(self._basal + rng.normal(0.0, MULTIFACTORIAL, self._n), 0.0, 1.0)
            changed = self.kinetics.shifted(basal - self._basal)
            start = self.wild_type.copy()
            found["multifactorial"].append(
                self._rest(start, changed, self._all, "multifactorial", str(i + 1))
            )
        return {kind: np.array(rows) for kind, rows in found.items()}

    def _rest(self, start: Array, alphas: Array, transcription: Array, *name: str) -> Array:
        """Return levels at steady state; with noise, after 1.5 times the settling time without."""
        calm = start.copy()
        time = self._settle(calm, alphas, transcription)
        if self._sde == 0:
            return calm[0]
        self._move(start, alphas, transcription, round(1.5 * time), self._noise(*name))
        return start[0]

    def _settle(self, state: Array, alphas: Array, transcription: Array) -> float:
        return integrate_to_steady_state(
            state, alphas, transcription, self._arrays, CHECK_EVERY, MAX_TIME, ABSOLUTE, RELATIVE
        )

    def _move(
        self,
        state: Array,
        alphas: Array,
        transcription: Array,
        duration: int,
        rng: np.random.Generator,
    ) -> None:
        if self._sde == 0:
            integrate_ode(state, alphas, transcription, self._arrays, float(duration), 1.0)
            return
        for done in range(0, duration, CHUNK):
            normals = rng.standard_normal((min(CHUNK, duration - done), 2, self._n))
            integrate_sde(state, alphas, transcription, self._arrays, self._sde, normals)

    def _noise(self, *name: str) -> np.random.Generator:
        return stream(self._seed, "dynamics", *name)


def _microarray(levels: Array, size: float, spread: Array) -> Array:
    variance = 0.001 + (0.69 - 0.001) / (1.0 + levels / 0.01)
    return levels * np.exp(size * np.sqrt(variance) * spread)


# Measurement of levels with a size and a spread of the noise, and the default size.
NOISES: dict[str, tuple[Callable[[Array, float, Array], Array], float]] = {
    "normal": (lambda levels, size, spread: levels + size * spread, 0.1),
    "lognormal": (lambda levels, size, spread: levels * 10.0 ** (size * spread), 0.1),
    "microarray": (_microarray, 1.0),
    "none": (lambda levels, size, spread: levels, 0.0),
}


def write_simulation(simulation: Simulation, folder: Path) -> None:
    """Write all experiments and the true edges as tables with six decimals into `folder`.

    Experiments that were left out have no file.
    """
    genes = simulation.expression.genes
    write_expression(simulation.expression, folder / "timeseries.tsv")
    write_reference(simulation.network, folder / "goldstandard.tsv")
    tables = {
        "timeseries_perturbations": simulation.perturbations,
        "wildtype": simulation.wild_type[None],
        "knockouts": simulation.knockouts,
        "knockdowns": simulation.knockdowns,
        "multifactorial": simulation.multifactorial,
    }
    for name, rows in tables.items():
        if not len(rows):
            continue
        cells = [[f"{value:.6f}" for value in row] for row in rows]
        write_table(folder / f"{name}.tsv", genes, cells)
