"""Pairs of conditions: a network, the same with some edges changed, and series of both.

The rest of a gene's regulation stays. A lost edge leaves its module, a gained edge is a module of
its own, and a reversed edge switches its module on in the states where it was off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.simulation.designs import WILD, Design, Rng
from grn_tvcs.simulation.examples import MAX_SDE, NOISE_LEVELS
from grn_tvcs.simulation.experiments import Bench
from grn_tvcs.simulation.kinds import draw_topology
from grn_tvcs.simulation.kinetics import (
    DISSOCIATION,
    EFFECT,
    HILL,
    MAX_MODULES,
    Gene,
    Kinetics,
    Module,
    draw_kinetics,
    truncated,
)
from grn_tvcs.simulation.simulation import NOISES
from tvcs_core.streams import seed_of, stream

CHANGES = ("lost", "gained", "reversed")
MIDDLE = 0.5  # basal activation above which a new enhancer lowers its off state instead
MAX_TRIES = 1000  # draws of one change; some edges cannot be removed from their module


@dataclass(frozen=True)
class ConditionPair:
    """Two simulated conditions.

    Attributes
    ----------
    a, b
        Series of the conditions, on one scale, with equal genes.
    before, after
        The true edges of either, with signs.
    """

    a: Expression
    b: Expression
    before: Network
    after: Network

    @property
    def is_changed(self) -> NDArray[np.bool_]:
        """Whether an edge differs between both networks, ``[regulator, target]``."""
        assert self.before.signs is not None
        assert self.after.signs is not None
        return np.asarray(self.before.signs != self.after.signs)


def draw_pair(
    design: Design,
    kind: str,
    share: float,
    rng: Rng = None,
    *,
    topology: Network | None = None,
    moved: float = 0.0,
) -> ConditionPair:
    """Draw a network, change some of its edges, and simulate the series of a design on both.

    Parameters
    ----------
    design
        Sizes; series start from the wild type, with separate perturbations in each condition.
    kind
        One of `KINDS`.
    share
        Fraction of the edges that are changed: lost, gained or reversed with equal probability;
        above 0 at least one edge, at 0 both networks are equal.
    rng
        Seed or generator; equal seeds give equal pairs.
    topology
        The first network, instead of one of the kind.
    moved
        Fraction of the genes whose basal activation differs in the second condition.
    """
    rng = stream(rng, "pair")
    if topology is None:
        topology = draw_topology(kind, design.n_genes, rng)
        width = len(str(design.n_genes))
        names = tuple(f"G{i + 1:0{width}d}" for i in range(design.n_genes))
        topology = replace(topology, genes=names)
    before = draw_kinetics(topology, seed_of(rng))
    n_edges = int((before.network.scores > 0).sum())
    after = before
    touched: set[tuple[int, int]] = set()
    for _ in range(max(1, round(share * n_edges)) if share else 0):
        after = _changed(after, touched, rng)
    after = _moved(after, moved, rng)
    sde = float(rng.uniform(0, MAX_SDE))
    noise = str(rng.choice(list(NOISE_LEVELS)))
    size = rng.uniform(*NOISE_LEVELS[noise])
    levels = []
    for kinetics in (before, after):
        bench = Bench(kinetics, sde, rng)
        rows = [_series(bench, design) for _ in range(design.n_series)]
        exact = np.concatenate(rows)
        spread = rng.standard_normal(exact.shape)
        levels.append(np.maximum(NOISES[noise][0](exact, size, spread), 0.0))
    largest = max(float(rows.max()) for rows in levels)
    a, b = (_expression(rows / largest, design, topology.genes) for rows in levels)
    return ConditionPair(a, b, before.network, after.network)


def _series(bench: Bench, design: Design) -> NDArray[np.float64]:
    if design.start == WILD:
        return bench.series(design.n_points, design.interval)
    return bench.relaxation(design.n_points, design.interval, is_shifted=False)


def _expression(levels: NDArray[np.float64], design: Design, genes: tuple[str, ...]) -> Expression:
    times = np.tile(np.arange(design.n_points) * design.interval, design.n_series)
    names = tuple(f"{s + 1:02d}" for s in range(design.n_series) for _ in range(design.n_points))
    return Expression(levels, times, names, genes, scale="levels")


def _changed(
    kinetics: Kinetics, touched: set[tuple[int, int]], rng: np.random.Generator
) -> Kinetics:
    """Change one more edge that was not changed before, and add it to `touched`."""
    n = len(kinetics.names)
    for _ in range(MAX_TRIES):
        how = CHANGES[int(rng.integers(len(CHANGES)))]
        edges = np.argwhere((kinetics.network.scores > 0) == (how != "gained"))
        source, target = (int(k) for k in edges[int(rng.integers(len(edges)))])
        gene = kinetics.genes[target]
        if source == target or (source, target) in touched:
            continue
        made = {"lost": _without, "gained": _with, "reversed": _reversed}[how](gene, source, rng)
        if made is not None:
            touched.add((source, target))
            genes = [made if j == target else kinetics.genes[j] for j in range(n)]
            return replace(kinetics, genes=tuple(genes))
    raise ValueError(f"every edge of {n} genes that can be changed is changed already")


def _place(gene: Gene, source: int) -> tuple[int, int]:
    """Return the module of a regulator and its index in it."""
    return next(
        (m, x.regulators.index(source))
        for m, x in enumerate(gene.modules)
        if source in x.regulators
    )


def _states(gene: Gene, m: int) -> NDArray[np.bool_]:
    """Return the states in which a module is on."""
    return np.asarray(np.arange(gene.alphas.size) >> m & 1, dtype=bool)


def _without(gene: Gene, source: int, rng: np.random.Generator) -> Gene | None:
    m, k = _place(gene, source)
    module = gene.modules[m]
    rest = [i for i in range(len(module.regulators)) if i != k]
    n_activators = module.n_activators - (k < module.n_activators)
    if not rest:
        others = tuple(x for i, x in enumerate(gene.modules) if i != m)
        return replace(gene, modules=others, alphas=gene.alphas[~_states(gene, m)])
    if not n_activators:
        return None
    left = replace(
        module,
        regulators=tuple(module.regulators[i] for i in rest),
        dissociation=tuple(module.dissociation[i] for i in rest),
        hill=tuple(module.hill[i] for i in rest),
        n_activators=n_activators,
    )
    modules = tuple(left if i == m else x for i, x in enumerate(gene.modules))
    return replace(gene, modules=modules)


def _with(gene: Gene, source: int, rng: np.random.Generator) -> Gene | None:
    if len(gene.modules) >= MAX_MODULES:
        return None
    sign = 1 if rng.random() < 0.5 else -1
    effect = truncated(rng, *EFFECT)
    dissociation, hill = float(rng.uniform(*DISSOCIATION)), truncated(rng, *HILL)
    lower, upper = np.maximum(gene.alphas - effect, 0.0), gene.alphas
    if gene.alphas[0] < MIDDLE:
        lower, upper = gene.alphas, np.minimum(gene.alphas + effect, 1.0)
    alphas = np.concatenate([lower, upper] if sign > 0 else [upper, lower])
    module = Module((source,), (dissociation,), (hill,), 1, False, sign)
    return replace(gene, modules=(*gene.modules, module), alphas=alphas)


def _reversed(gene: Gene, source: int, rng: np.random.Generator) -> Gene | None:
    m, _ = _place(gene, source)
    module = gene.modules[m]
    if len(module.regulators) > 1:
        return None
    modules = tuple(replace(x, sign=-x.sign) if i == m else x for i, x in enumerate(gene.modules))
    return replace(gene, modules=modules, alphas=gene.alphas[np.arange(gene.alphas.size) ^ 1 << m])


def _moved(kinetics: Kinetics, share: float, rng: np.random.Generator) -> Kinetics:
    """Shift the activation of some genes equally in all states, within [0, 1]."""
    if not share:
        return kinetics
    is_hit = rng.random(len(kinetics.names)) < share
    shifts = rng.uniform(-0.3, 0.3, len(kinetics.names)) * is_hit
    genes = [
        replace(gene, alphas=np.clip(gene.alphas + shift, 0.0, 1.0))
        for gene, shift in zip(kinetics.genes, shifts, strict=True)
    ]
    return replace(kinetics, genes=tuple(genes))
