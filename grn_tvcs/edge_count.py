"""How many edges the data support: by series that the network was not inferred from.

For each fold of whole series the ranking is made from the other series. For every size k its best
k edges under the caps are fitted to those series by least squares, and what they predict of the
held-out steps is compared with the truth:

    gain(k) = mean over genes of (|r|^2 - |r - w z / 2|^2) / max(|r|^2, s^2)

r is the response of the held-out steps, its own level and intercept taken out, s^2 its variance in
the other series, and w z what the edges predict. Weights are halved, for fitted weights of chosen
edges are too large: an edge counts when the held-out series show more than a quarter of its effect.
The larger of the two variances keeps a series in which a gene was hit by itself from deciding
alone. The number of edges is the smallest k that reaches 95 % of the largest mean gain. How sure it
is: every k is as good whose mean gain is within one standard error of the largest (that of the
difference, over the folds), or within these 5 %.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.expression.warned import unwarned
from grn_tvcs.methods import infer, options_of, refuse_wrong_words
from grn_tvcs.network.network import Network
from grn_tvcs.network.prior import Prior
from grn_tvcs.network.rules import Rules, gene_set
from grn_tvcs.network.selection import select_each
from grn_tvcs.stability.model import Array, StepLoss, transitions
from tvcs_core.arguments import require_kind
from tvcs_core.engines import Engine, Job, Threads, hash_of, results
from tvcs_core.streams import seed_of, stream

EDGES_PER_GENE = (
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0, 2.3, 2.6,
    3.0, 3.5, 4.0, 5.0, 6.0,
)  # fmt: skip
MOST_FOLDS = 10
FEWEST_SERIES = 4  # fewer are cut into pieces ...
PIECES = 6  # ... of this number in all ...
PIECE_POINTS = 4  # ... of at least so many time points
FOLD_RESAMPLES = 30
SHRINK = 0.5
ENOUGH = 0.95  # of the largest gain


@dataclass(frozen=True)
class EdgeCount:
    """The number of edges that predicts held-out series well, and how sure that is.

    Attributes
    ----------
    n_edges
        The smallest number with 95 % of the largest mean gain.
    low, high
        Smallest and largest number whose gain is within one standard error, or 5 %, of the
        largest.
    sizes
        All numbers that were tried, rising from 0.
    gains
        Mean gain of each: the part of a gene's variance that is predicted, on average.
    errors
        Standard error of the distance of each from the best.
    n_folds
        Folds of series that were held out in turn.
    """

    n_edges: int
    low: int
    high: int
    sizes: tuple[int, ...]
    gains: tuple[float, ...]
    errors: tuple[float, ...]
    n_folds: int

    def said(self) -> str:
        """One line about the choice."""
        if not self.n_edges:
            return f"no edge predicts held-out series better than none ({self.n_folds} folds)"
        return (
            f"{self.n_edges} edges predict held-out series well; {self.low} to {self.high} do as "
            f"well within one standard error ({self.n_folds} folds)"
        )

    def table(self) -> tuple[list[str], list[list[object]]]:
        """Header and rows of ``edge_count.tsv``."""
        rows = zip(self.sizes, self.gains, self.errors, strict=True)
        return ["edges", "gain", "error"], [[k, f"{g:.6g}", f"{e:.6g}"] for k, g, e in rows]


@dataclass(frozen=True)
class Folds:
    """All that the folds of whole series need; what fold is held out is up to the unit.

    Attributes
    ----------
    data, fold_of
        All samples, and in which fold each is held out.
    method, rules, steady, prior, options
        As for `infer`.
    sizes
        Numbers of edges that are tried.
    streams
        Random numbers of each fold.
    """

    data: Expression
    fold_of: NDArray[np.int64]
    method: str
    rules: Rules
    steady: SteadyStates | None
    prior: Prior | None
    options: Mapping[str, Any]
    sizes: tuple[int, ...]
    streams: tuple[np.random.Generator, ...]

    @property
    def facts(self) -> dict[str, str]:
        """All that the folds depend on: what it is, and a hash of it."""
        data, rules, steady, prior = self.data, self.rules, self.steady, self.prior
        facts = {
            "data": hash_of(
                (data.genes, data.series, data.scale),
                data.values, data.times, data.perturbed, data.at_rest,
            ),
            "regulators or targets": hash_of("", *rules.roles(data.genes)),
            "caps": hash_of(rules.max_in_degree, rules.out_caps(data.genes)),
            "options": hash_of((self.method, sorted(self.options.items()), self.sizes)),
            "seed": hash_of([stream.bit_generator.state for stream in self.streams]),
        }  # fmt: skip
        if steady is not None:
            told = steady.genes, steady.changed
            facts["steady states"] = hash_of(told, steady.levels, steady.is_knockout)
        if prior is not None:
            facts["prior edges"] = hash_of(prior.genes, *prior.edges)
        return facts


def held_out(folds: Folds, fold: int) -> tuple[Array]:
    """Gain of each size in a fold, of a network that is inferred from the others."""
    is_out, rules = folds.fold_of == fold, folds.rules
    with unwarned(), np.errstate(all="ignore"):  # warnings come when all series are used
        network = infer(
            folds.data.part(~is_out),
            folds.method,
            max_in_degree=rules.max_in_degree,
            max_out_degree=rules.max_out_degree,
            regulators=rules.regulators,
            targets=rules.targets,
            steady=folds.steady,
            prior=folds.prior,
            rng=copy.deepcopy(folds.streams[fold]),
            **folds.options,
        )
    return (held_out_gains(folds.data, is_out, network, rules, folds.sizes, folds.options),)


class Choice:
    """A choice of the number of edges, before or while its folds are held out.

    Attributes
    ----------
    job
        A unit holds a fold out.
    """

    def __init__(self, folds: Folds) -> None:
        n_folds = len(folds.streams)
        self.job = Job("folds", held_out, folds, n_folds, folds.facts)
        self._sizes = folds.sizes
        self._curves = np.empty((n_folds, len(folds.sizes)))

    def take(self, fold: int, found: tuple[Array]) -> None:
        """Take what a unit found."""
        (self._curves[fold],) = found

    def count(self) -> EdgeCount:
        """Choose, once all units are taken."""
        return best_count(self._sizes, self._curves)


def choose_edges(
    expression: Expression,
    method: str = "tvcs",
    *,
    max_in_degree: int | None = None,
    max_out_degree: int | Mapping[str, int] | None = None,
    max_edges: int | None = None,
    regulators: Iterable[str] | None = None,
    targets: Iterable[str] | None = None,
    steady: SteadyStates | None = None,
    prior: Prior | None = None,
    scale: str | None = None,
    rng: int | np.random.Generator | None = None,
    threads: int = 1,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Path | None = None,
    **options: Any,
) -> EdgeCount:
    """Choose the number of edges by series that are held out.

    Each of at most 10 folds of whole series is held out once. Fewer than four series are cut into
    pieces first. With ``"tvcs"`` each fold takes at most 30 halves.

    Parameters
    ----------
    expression, method, max_in_degree, max_out_degree, regulators, targets
        As for `infer`.
    steady, prior, scale, rng
        As for `infer`.
    threads, engine
        Who does the folds: so many threads, or an engine.
    **options
        As for `infer`.
    max_edges
        The largest number that is tried; by default 6 per target.
    progress
        Called with the percent that are done, and 100.
    keep
        Folder for finished work, as for `infer`.

    Raises
    ------
    ValueError
        If there are fewer than two series and they are too short to be cut; or as for `infer`.
    """
    choice = choice_of(
        expression, method, max_in_degree=max_in_degree, max_out_degree=max_out_degree,
        max_edges=max_edges, regulators=regulators, targets=targets, steady=steady, prior=prior,
        scale=scale, rng=rng, **options,
    )  # fmt: skip
    tell = None if progress is None else partial(_percent, progress)
    engine = Threads(threads) if engine is None else engine
    with closing(results([choice.job], engine, checkpoint_dir=keep, progress=tell)) as found:
        for _, fold, gains in found:
            choice.take(fold, gains)
    return choice.count()


def choice_of(
    expression: Expression,
    method: str,
    *,
    max_in_degree: int | None = None,
    max_out_degree: int | Mapping[str, int] | None = None,
    max_edges: int | None = None,
    regulators: Iterable[str] | None = None,
    targets: Iterable[str] | None = None,
    steady: SteadyStates | None = None,
    prior: Prior | None = None,
    scale: str | None = None,
    rng: int | np.random.Generator | None = None,
    **options: Any,
) -> Choice:
    """Prepare what `choose_edges` does, for whoever has other work beside it."""
    require_kind("expression", expression, Expression)
    refuse_wrong_words(method, steady, prior, options, max_edges)
    named = (gene_set("regulators", regulators), gene_set("targets", targets))
    rules = Rules(max_in_degree, max_out_degree, max_edges, *named)
    if "resamples" in options_of(method):
        options["resamples"] = fewer_resamples(options.get("resamples"))
    data = in_folds(on_scale(expression, scale).in_name_order())
    n_targets = int(rules.roles(data.genes)[1].sum())
    sizes = _sizes(rules, data, 6 * n_targets if max_edges is None else max_edges)
    fold_of, seed = fold_numbers(data), seed_of(rng)
    streams = tuple(stream(seed, "fold", str(fold)) for fold in range(int(fold_of.max()) + 1))
    return Choice(Folds(data, fold_of, method, rules, steady, prior, options, sizes, streams))


def fewer_resamples(given: int | None) -> int:
    """Halves of ``"tvcs"`` in each fold, where `given` halves make the network itself."""
    return min(options_of("tvcs")["resamples"] if given is None else given, FOLD_RESAMPLES)


def fold_resamples(expression: Expression, given: int | None) -> int:
    """Halves of all folds together, for the estimate of time."""
    return fold_count(expression) * fewer_resamples(given)


def fold_count(expression: Expression) -> int:
    """Folds of whole series that are held out in turn."""
    return int(fold_numbers(in_folds(expression)).max()) + 1


def in_folds(expression: Expression) -> Expression:
    """The same samples, with few long series cut into pieces.

    Raises
    ------
    ValueError
        If there is one series only, and it is too short to be cut.
    """
    pieces = expression.pieces()
    if not pieces:
        raise ValueError(
            "to choose the number of edges there must be time series, but all samples are at rest"
        )
    if len(pieces) >= FEWEST_SERIES:
        return expression
    wanted = -(-PIECES // len(pieces))
    names: list[str] = []
    for name, rows in pieces.items():
        size = rows.stop - rows.start
        n_parts = max(1, min(wanted, size // PIECE_POINTS))
        names += [f"{name}, part {1 + i * n_parts // size}" for i in range(size)]
    if len(set(names)) < 2:
        raise ValueError(
            f"to choose the number of edges there must be at least 2 series, or one of "
            f"{2 * PIECE_POINTS} time points, found one of {len(names)}"
        )
    return replace(expression, series=tuple(names))


def fold_numbers(expression: Expression) -> NDArray[np.int64]:
    """In which fold each sample is held out, from 0; whole series."""
    pieces = list(expression.pieces().values())
    number = np.empty(len(expression.times), dtype=np.int64)
    for k, rows in enumerate(pieces):
        number[rows] = k % MOST_FOLDS
    return number


def held_out_gains(
    expression: Expression,
    is_out: NDArray[np.bool_],
    network: Network,
    rules: Rules,
    sizes: Sequence[int],
    options: Mapping[str, Any],
) -> Array:
    """Gain of the best edges of `network` in the held-out samples, for each size.

    Parameters
    ----------
    expression
        All samples, genes in the order of `network`.
    is_out
        Which samples are held out; whole series.
    network
        Inferred from the others.
    rules
        Caps that every size keeps.
    sizes
        Numbers of edges.
    options
        Of the method; ``log_offset`` and ``memory`` are used, with the defaults of ``"tvcs"``.
    """
    known = options_of("tvcs") | dict(options)
    steps = transitions(expression, known["log_offset"])
    regulators, targets, allowed = rules.candidates(expression.genes)
    inputs = regulators[allowed.any(axis=1)]
    steps = replace(steps, targets=targets)
    network = network.among(inputs, targets)
    past = steps.past(inputs, float(np.mean(known["memory"])))
    out = is_out[steps.before]
    intercepts = steps.intercepts
    loss = StepLoss(
        past[~out], steps.own[~out], steps.following[~out], intercepts[~out], np.ones(len(inputs))
    )
    response = loss.response(steps.own[out], steps.following[out], intercepts[out])
    unexplained = np.mean(response**2, axis=0)
    is_target = ~expression.is_constant[targets]
    gains = []
    for chosen in select_each(network.pairs, rules, network.genes, sizes):
        weights = SHRINK * loss.minimize_on(chosen)
        left = response - loss.predicted(weights, past[out], steps.own[out], intercepts[out])
        gain = (unexplained - np.mean(left**2, axis=0)) / np.maximum(unexplained, 1.0)
        gains.append(gain[is_target].sum() / max(int(is_target.sum()), 1))
    return np.array(gains)


def best_count(sizes: Sequence[int], curves: Array) -> EdgeCount:
    """Choose from the gains of each fold; (folds, sizes)."""
    gains = curves.mean(axis=0)
    best = int(gains.argmax())
    away = curves[:, [best]] - curves
    errors = away.std(axis=0, ddof=1) / np.sqrt(len(curves))
    slack = (1 - ENOUGH) * gains[best]
    near = np.flatnonzero(gains >= gains[best] - np.maximum(errors, slack))
    return EdgeCount(
        n_edges=int(sizes[np.flatnonzero(gains >= gains[best] - slack)[0]]),
        low=int(sizes[near[0]]),
        high=int(sizes[near[-1]]),
        sizes=tuple(map(int, sizes)),
        gains=tuple(map(float, gains)),
        errors=tuple(map(float, errors)),
        n_folds=len(curves),
    )


def _sizes(rules: Rules, expression: Expression, most: int) -> tuple[int, ...]:
    candidates = rules.candidates(expression.genes, expression.constant_genes)
    most = min(most, int(candidates.allowed.sum()))
    per_gene = {round(share * candidates.targets.size) for share in EDGES_PER_GENE}
    return tuple(sorted({size for size in per_gene if size < most} | {most}))


def _percent(progress: Callable[[int, int], None], done: int, total: int) -> None:
    progress(100 * done // total, 100)
