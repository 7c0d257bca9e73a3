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

import hashlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.methods import infer, options_of
from grn_tvcs.network.network import Network
from grn_tvcs.network.prior import Prior
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.checkpoint import FinishedWork
from grn_tvcs.stability.model import Array, StepLoss, transitions
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
    threads
        As for `infer`.
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
    names = (None if some is None else frozenset(some) for some in (regulators, targets))
    rules = Rules(max_in_degree, max_out_degree, max_edges, *names)
    if "resamples" in options_of(method):
        options["resamples"] = fewer_resamples(options.get("resamples"))
    data = in_folds(on_scale(expression, scale).in_name_order())
    n_targets = int(rules.roles(data.genes)[1].sum())
    most = 6 * n_targets if max_edges is None else max_edges
    sizes = _sizes(rules, data, most)
    fold_of = fold_numbers(data)
    n_folds = int(fold_of.max()) + 1
    seed = seed_of(rng)
    streams = [stream(seed, "fold", str(fold)) for fold in range(n_folds)]
    told = (method, sorted(options.items()), sizes, streams[0].bit_generator.state)
    digest = _digest(data, rules, steady, prior, told)
    kept = None if keep is None else FinishedWork(keep / "folds", digest)
    done, sums = (0, []) if kept is None else kept.load()
    curves = list(sums[0]) if sums else []
    for fold in range(done, n_folds):
        is_out = fold_of == fold
        able: dict[str, Any] = {"threads": threads}
        if keep is not None:
            able["keep"] = keep / f"fold{fold}"
        if progress is not None:
            able["progress"] = _percent(progress, fold, n_folds)
        network = _quietly(
            data.part(~is_out), method, rules, steady=steady, prior=prior, rng=streams[fold],
            **able, **options,
        )  # fmt: skip
        curves.append(held_out_gains(data, is_out, network, rules, sizes, options))
        if kept is not None:
            kept.save(fold + 1, [np.array(curves)], now=True)
        if progress is not None:
            progress(100 * (fold + 1) // n_folds, 100)
    return best_count(sizes, np.array(curves))


def fewer_resamples(given: int | None) -> int:
    """Halves of ``"tvcs"`` in each fold, where `given` halves make the network itself."""
    return min(options_of("tvcs")["resamples"] if given is None else given, FOLD_RESAMPLES)


def fold_resamples(expression: Expression, given: int | None) -> int:
    """Halves of all folds together, for the estimate of time."""
    return (int(fold_numbers(in_folds(expression)).max()) + 1) * fewer_resamples(given)


def _quietly(expression: Expression, method: str, rules: Rules, **given: Any) -> Network:
    """Infer from a part of the series; warnings come when all of them are used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return infer(
            expression,
            method,
            max_in_degree=rules.max_in_degree,
            max_out_degree=rules.max_out_degree,
            regulators=rules.regulators,
            targets=rules.targets,
            **given,
        )


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
    for size in sizes:
        chosen = network.within(replace(rules, max_edges=size)).pairs.selected
        weights = SHRINK * loss.minimize_on(chosen.copy())
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


def _percent(
    progress: Callable[[int, int], None], fold: int, n_folds: int
) -> Callable[[int, int], None]:
    return lambda done, total: progress(int(100 * (fold + done / total) / n_folds), 100)


def _digest(
    expression: Expression,
    rules: Rules,
    steady: SteadyStates | None,
    prior: Prior | None,
    told: tuple[object, ...],
) -> str:
    """A hash of all that the folds depend on."""
    genes = expression.genes
    facts = [version("tvcs"), genes, expression.series, rules.max_in_degree, *told]
    facts += [expression.scale]
    parts: list[Any] = [expression.values, expression.times, *rules.candidates(genes)]
    parts += [expression.perturbed, rules.out_caps(genes), expression.at_rest]
    if steady is not None:
        facts += [steady.genes, steady.changed]
        parts += [steady.levels, steady.is_knockout]
    if prior is not None:
        facts += [prior.genes]
        parts += [prior.weights, prior.signs]
    digest = hashlib.sha256(repr(facts).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(np.zeros(0) if part is None else part).tobytes())
    return digest.hexdigest()
