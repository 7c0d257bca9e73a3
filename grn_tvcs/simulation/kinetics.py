"""The kinetic model of a network, with parameters drawn gene by gene.

The model and its ranges are those of GeneNetWeaver (Marbach et al., J. Comput. Biol. 16, 2009;
Schaffter, Marbach and Floreano, Bioinformatics 27, 2011). mRNA x and protein y of gene i obey

    dx_i/dt = d_i (f_i(y) - x_i),    dy_i/dt = p_i (x_i - y_i),

where f_i in [0, 1] is the mean of the activations ``alphas`` over the states of the gene's
regulatory modules: f_i = sum over states s of alpha_s prod_m (mu_m if m is on in s else 1 - mu_m).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.network.network import Network
from grn_tvcs.simulation.kernels import KineticModel
from tvcs_core.files.display import summary
from tvcs_core.streams import stream

# Ranges of GeneNetWeaver: minimum and maximum, and for truncated normal distributions also mean and
# standard deviation.
HALF_LIFE = (5.0, 50.0)  # of mRNA and protein, in units of time
DISSOCIATION = (0.01, 1.0)
HILL = (1.0, 10.0, 2.0, 2.0)
EFFECT = (0.25, 1.0, 0.625, 0.125)  # of a module on the activation
LOW_BASAL = (0.0, 0.25, 0.0, 0.05)  # activation without any module on, with enhancers only
MEDIUM_BASAL = (0.25, 0.75, 0.5, 0.25 / 3)  # the same, with enhancers and repressors
MAX_MODULES = 10  # of a gene; GeneNetWeaver has no limit, but 2^modules states must fit


def truncated(
    rng: np.random.Generator, least: float, most: float, mean: float, deviation: float
) -> float:
    """Draw from a normal distribution truncated to [least, most], by rejection."""
    while True:
        value = float(rng.normal(mean, deviation))
        if least <= value <= most:
            return value


@dataclass(frozen=True)
class Module:
    """Regulators that act together on a gene.

    Attributes
    ----------
    regulators
        Indices of the genes, activators first.
    dissociation, hill
        k and n of each: protein y counts as (y / k)^n.
    n_activators
        Number of regulators, at least one, that switch the module on; the others switch it off.
    is_complex
        Whether they bind as one complex or independently.
    sign
        1 if the module enhances the gene, -1 if it represses it.
    """

    regulators: tuple[int, ...]
    dissociation: tuple[float, ...]
    hill: tuple[float, ...]
    n_activators: int
    is_complex: bool
    sign: int


@dataclass(frozen=True)
class Gene:
    """Regulation of one gene.

    Attributes
    ----------
    modules
        Regulatory modules; none for a gene without regulators.
    alphas
        Activation in each state of the modules, in [0, 1]; bit m of the index is 1 if module m is
        on. (2 ** modules,)
    half_lives
        Of mRNA and protein.
    """

    modules: tuple[Module, ...]
    alphas: NDArray[np.float64]
    half_lives: tuple[float, float]


@dataclass(frozen=True)
class Kinetics:
    """The kinetic model of a network.

    Attributes
    ----------
    names
        Names of the genes.
    genes
        Their parameters, in the same order.
    """

    names: tuple[str, ...]
    genes: tuple[Gene, ...]

    __repr__ = summary

    @property
    def alphas(self) -> NDArray[np.float64]:
        """Activations of all states of all genes, gene by gene."""
        return np.concatenate([gene.alphas for gene in self.genes])

    def shifted(self, change: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `alphas` with ``change[i]`` added to those of gene i, clipped to [0, 1]."""
        sizes = [gene.alphas.size for gene in self.genes]
        return np.clip(self.alphas + np.repeat(change, sizes), 0.0, 1.0)

    @property
    def network(self) -> Network:
        """The true edges with their signs in the model, which keep known signs of the topology."""
        signs = np.zeros((len(self.names), len(self.names)), dtype=np.int8)
        for i, gene in enumerate(self.genes):
            for module in gene.modules:
                for k, j in enumerate(module.regulators):
                    signs[j, i] = module.sign if k < module.n_activators else -module.sign
        return Network.of(self.names, (signs != 0).astype(float), signs)

    def arrays(self) -> KineticModel:
        """Return the model as arrays for the kernels."""
        modules = [module for gene in self.genes for module in gene.modules]
        is_activator = [k < m.n_activators for m in modules for k in range(len(m.regulators))]
        half_lives = np.array([gene.half_lives for gene in self.genes])
        return KineticModel(
            modules=_starts([len(gene.modules) for gene in self.genes]),
            inputs=_starts([len(module.regulators) for module in modules]),
            states=_starts([gene.alphas.size for gene in self.genes]),
            regulator=np.array([j for m in modules for j in m.regulators], dtype=np.int64),
            dissociation=np.array([k for m in modules for k in m.dissociation], dtype=np.float64),
            hill=np.array([n for m in modules for n in m.hill], dtype=np.float64),
            is_activator=np.array(is_activator, dtype=bool),
            is_complex=np.array([m.is_complex for m in modules], dtype=bool),
            decay=np.ascontiguousarray(math.log(2) / half_lives.T),
        )


def _starts(sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def draw_kinetics(topology: Network, seed: int) -> Kinetics:
    """Draw all parameters; those of a gene depend on its name, its regulators and the seed.

    Missing signs are drawn. In a network without any sign, at least half of the regulators of a
    module activate it; in a network with signs, missing ones are drawn with equal probability.
    """
    assert topology.signs is not None
    names = topology.genes
    is_signed = bool(topology.signs.any())
    by_name = sorted(range(len(names)), key=lambda j: names[j])
    genes = []
    for i, name in enumerate(names):
        regulators = [j for j in by_name if topology.scores[j, i] > 0]
        signs = [int(topology.signs[j, i]) for j in regulators]
        genes.append(_gene(regulators, signs, is_signed, stream(seed, "gene", name)))
    return Kinetics(names, tuple(genes))


def _gene(
    regulators: list[int], signs: list[int], is_signed: bool, rng: np.random.Generator
) -> Gene:
    least, most = HALF_LIFE
    mean, deviation = (least + most) / 2, (most - least) / 6
    half_lives = (
        truncated(rng, least, most, mean, deviation),
        truncated(rng, least, most, mean, deviation),
    )
    parts: list[list[int]] = []
    for k in range(len(regulators)):
        choice = int(rng.integers(min(len(parts) + 1, MAX_MODULES)))
        if choice == len(parts):
            parts.append([])
        parts[choice].append(k)
    modules = tuple(
        _module([regulators[k] for k in part], [signs[k] for k in part], is_signed, rng)
        for part in parts
    )
    return Gene(modules, _alphas([module.sign for module in modules], rng), half_lives)


def _module(
    regulators: list[int], signs: list[int], is_signed: bool, rng: np.random.Generator
) -> Module:
    sign = int(np.sign(sum(signs))) or (1 if rng.random() < 0.5 else -1)
    n_sure = 0 if is_signed else math.ceil(len(signs) / 2)
    activates = []
    for k, own in enumerate(signs):
        coin = bool(rng.random() < 0.5)
        activates.append(own == sign if own else k < n_sure or coin)
    if not any(activates):
        activates[0] = True
    order = sorted(range(len(regulators)), key=lambda k: not activates[k])
    return Module(
        tuple(regulators[k] for k in order),
        tuple(float(k) for k in rng.uniform(*DISSOCIATION, len(order))),
        tuple(truncated(rng, *HILL) for _ in order),
        sum(activates),
        bool(rng.random() < 0.5),
        sign,
    )


def _alphas(signs: list[int], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the activation of each state of modules with these signs."""
    effects = np.array([sign * truncated(rng, *EFFECT) for sign in signs])
    enhancers, repressors = np.flatnonzero(effects > 0), np.flatnonzero(effects < 0)
    if not enhancers.size:
        basal = 1.0
    else:
        basal = truncated(rng, *(MEDIUM_BASAL if repressors.size else LOW_BASAL))
    # All enhancers together switch the gene on completely, all repressors together almost off.
    if enhancers.size and basal + effects[enhancers].sum() < 1:
        weakest = enhancers[effects[enhancers].argmin()]
        effects[weakest] += 1 - basal - effects[enhancers].sum()
    if repressors.size and basal + effects[repressors].sum() > LOW_BASAL[1]:
        weakest = repressors[effects[repressors].argmax()]
        effects[weakest] += truncated(rng, *LOW_BASAL) - basal - effects[repressors].sum()
    is_on = np.arange(2**effects.size)[:, None] >> np.arange(effects.size) & 1
    return np.clip(basal + is_on @ effects, 0.0, 1.0)
