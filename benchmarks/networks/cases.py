"""The cases of the network study: which networks and data, and what is measured on each answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from grn_tvcs import (
    Expression,
    Network,
    Rules,
    SteadyStates,
    read_reference,
    read_steady_states,
    score,
    simulate,
)

ONE, TEN = "one-network", "ten-networks"  # the designs that are simulated
NOISE = 0.1
SIZES = {"n_genes": 30, "n_series": 10, "n_points": 21, "min_regulators": 12}
STEADY = ("knockouts", "knockdowns", "wildtype")
PAIRS = ("all", "linked")


@dataclass(frozen=True, eq=False)
class Data:
    """What was measured on one network, and its true edges."""

    name: str
    expression: Expression
    reference: Network
    steady: SteadyStates

    @property
    def perturbed(self) -> Expression:
        """The series with the perturbation column: on until half-time."""
        return self.expression.with_perturbation_until(float(self.expression.times.max()) / 2)


@dataclass(frozen=True)
class Case:
    """One answer on one network, cut and judged in one way; a row of the CSV.

    `given` says what the method was given beside the series. `cut` is that of `score`, and
    `caps` the caps of a cut by caps; `from_truth` says whether the cut uses the true edges.
    """

    network: str
    draw: int
    method: str
    given: str
    cut: str
    caps: str
    from_truth: str
    pairs: str
    n_pairs: int
    n_edges: int
    n_selected: int
    n_found: int
    sn: float
    sp: float
    acc: float
    f: float
    mcc: float
    auc: float
    auroc: float
    aupr: float
    seconds: float

    @property
    def key(self) -> tuple[str, int, str, str, str]:
        return self.network, self.draw, self.method, self.way, self.pairs

    @property
    def way(self) -> str:
        """How the edges are cut, in one word of `CUTS`."""
        return self.caps or self.cut


def names(design: str, repeats: int) -> list[tuple[str, int]]:
    """Name of the network and number of the draw of all data of a design."""
    if design == ONE:
        return [("network", draw) for draw in range(1, repeats + 1)]
    if design == TEN:
        return [(f"network{k}", 1) for k in range(1, repeats + 1)]
    found = [path.parent for path in Path(design).glob("*/timeseries.tsv")]
    if not found:
        raise ValueError(f"{design} must hold folders with timeseries.tsv, found none")
    return [(path.name, 1) for path in sorted(found, key=lambda p: (number(p.name), p.name))]


def read(folder: Path) -> tuple[Expression, Network]:
    """The series of a folder and the true edges."""
    expression = Expression.of(folder / "timeseries.tsv")
    return expression, read_truth(folder, expression.genes)


def read_truth(folder: Path, genes: Sequence[str]) -> Network:
    """The true edges of a folder, with their signs where there are any."""
    signed = folder / "goldstandard_signed.tsv"
    return read_reference(signed if signed.exists() else folder / "goldstandard.tsv", genes)


def read_steady(folder: Path) -> SteadyStates:
    """The steady states of a folder."""
    return read_steady_states(**{name: folder / f"{name}.tsv" for name in STEADY})


def number(name: str) -> int:
    """The number at the end of a name, 0 where there is none."""
    digits = name[len(name.rstrip("0123456789")) :]
    return int(digits or 0)


@lru_cache(maxsize=2)
def data(design: str, network: str, draw: int, seed: int) -> Data:
    """Simulate or read."""
    if design == ONE:
        return measured(simulate_one(seed), np.random.default_rng([seed, 1, draw]))
    if design == TEN:
        rng = np.random.default_rng([seed, 2, number(network)])
        made = simulate(**SIZES, noise="normal", noise_level=NOISE, rng=rng)
        return Data(network, made.expression, made.network, steady(made))
    folder = Path(design) / network
    return Data(network, *read(folder), read_steady(folder))


def simulate_one(seed: int):
    """The network of the first design and all experiments on it, without measurement noise."""
    return simulate(**SIZES, noise="none", rng=np.random.default_rng([seed, 0]))


def measured(made, rng: np.random.Generator) -> Data:
    """Draw the noise of the measurement, as `simulate` does."""
    levels = {name: getattr(made, name) for name in ("wild_type", "knockouts", "knockdowns")}
    levels["series"] = made.expression.values
    noisy = {
        name: np.maximum(made.scale * level + NOISE * rng.standard_normal(level.shape), 0.0)
        for name, level in levels.items()
    }
    largest = max(float(level.max()) for level in noisy.values())
    noisy = {name: level / largest for name, level in noisy.items()}
    expression = replace(made.expression, values=noisy.pop("series"))
    return Data("network", expression, made.network, steady(replace(made, **noisy)))


def steady(made) -> SteadyStates:
    genes = made.expression.genes
    return SteadyStates(
        np.concatenate([made.wild_type[None], made.knockouts, made.knockdowns]),
        ("", *genes, *genes),
        np.repeat([False, True, False], [1, len(genes), len(genes)]),
        genes,
    )


def true_caps(caps: str, reference: Network) -> Rules:
    """Caps by their name; all but the first are taken from the true edges."""
    n_edges = int(reference.out_degrees.sum())
    out = {g: int(d) for g, d in zip(reference.genes, reference.out_degrees, strict=True)}
    most_in = int(reference.in_degrees.max())
    return {
        "2 per gene": Rules(max_edges=2 * len(reference.genes)),
        "largest degrees": Rules(most_in, int(reference.out_degrees.max()), n_edges),
        "out-degrees": Rules(most_in, out, n_edges),
    }[caps]


CUTS = {  # cut of `score`, name of the caps, whether the truth is used
    "top-n": ("top-n", "", "yes"),
    "2 per gene": ("caps", "2 per gene", "no"),
    "largest degrees": ("caps", "largest degrees", "yes"),
    "out-degrees": ("caps", "out-degrees", "yes"),
    "own": ("own", "", "no"),
}


def judge(network: Network, reference: Network, way: str, pairs: str):
    """Scores of a network cut in one of the ways of `CUTS`.

    Where only linked pairs count, caps too choose among these alone, as `top-n` does.
    """
    cut, caps, _ = CUTS[way]
    if cut == "own":
        network = network.select_by_method()
    elif cut == "caps":
        place = {gene: i for i, gene in enumerate(reference.genes)}
        order = np.array([place[gene] for gene in network.genes])
        is_edge = reference.selected[np.ix_(order, order)]
        counts = is_edge | is_edge.T if pairs == "linked" else True
        scores = np.where(counts, network.scores, 0.0)
        network = Network.of(network.genes, scores).select_under_caps(true_caps(caps, reference))
    return score(network, reference, pairs=pairs, cut=cut)


def cases(
    found: Data,
    draw: int,
    method: str,
    given: str,
    ways: tuple[str, ...],
    network: Network,
    seconds: float,
) -> Iterator[Case]:
    """Judge an answer on all and on linked pairs, cut in every way asked for."""
    for way in ways:
        cut, caps, from_truth = CUTS[way]
        for pairs in PAIRS:
            s = judge(network, found.reference, way, pairs)
            yield Case(
                found.name, draw, method, given, cut, caps, from_truth, pairs,
                s.n_pairs, s.n_edges, s.n_selected, s.n_found,
                s.sn, s.sp, s.acc, s.f, s.mcc, s.auc, s.auroc, s.aupr,
                seconds,
            )  # fmt: skip
