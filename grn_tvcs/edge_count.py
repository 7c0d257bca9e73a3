"""Number of edges that the data support, by cross-validation over series.

Each fold of whole series is held out once, and `held_out_series` measures what the best k edges
gain there. The number of edges is the smallest k that reaches 95 % of the largest mean gain.
Its range contains every k whose mean gain is within one standard error of the largest (that of the
difference, over the folds), or within these 5 %.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.bins import AUTO, OFF, prepared
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.read import READING, read_with
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.expression.user_warnings import without_warnings
from grn_tvcs.held_out_series import fold_numbers, held_out_gains, split_for_folds
from grn_tvcs.inference.infer import check_arguments, infer
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.prior import Prior
from grn_tvcs.network.rules import Rules, gene_set
from grn_tvcs.stability.model import Array
from tvcs_core.engines import Engine, Job, Threads, hash_of, results
from tvcs_core.files.display import summary
from tvcs_core.streams import seed_of, stream

EDGES_PER_GENE = (
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0, 2.3, 2.6,
    3.0, 3.5, 4.0, 5.0, 6.0,
)  # fmt: skip
# Decision 18; `python -m benchmarks.networks.edge_count` measures the error of the number.
FOLD_RESAMPLES = 30  # halves per fold
ENOUGH = 0.95  # fraction of the largest gain


@dataclass(frozen=True)
class EdgeCount:
    """The number of edges that predicts held-out series well, and its range.

    Attributes
    ----------
    n_edges
        The smallest number with 95 % of the largest mean gain.
    low, high
        Smallest and largest number whose gain is within one standard error, or 5 %, of the largest.
    sizes
        All numbers tried, increasing from 0.
    gains
        Mean gain of each: the average fraction of a gene's variance that is predicted.
    errors
        Standard error of the difference of each from the best.
    n_folds
        Number of folds.
    """

    n_edges: int
    low: int
    high: int
    sizes: tuple[int, ...]
    gains: tuple[float, ...]
    errors: tuple[float, ...]
    n_folds: int

    __repr__ = summary

    def __str__(self) -> str:
        return self.describe()

    def describe(self) -> str:
        """Return one line about the choice."""
        if not self.n_edges:
            return f"no number of edges predicts held-out series ({self.n_folds} folds)"
        return (
            f"{self.n_edges} edges predict held-out series well; {self.low} to {self.high} are "
            f"within one standard error of the best ({self.n_folds} folds)"
        )

    def table(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of ``edge_count.tsv``."""
        rows = zip(self.sizes, self.gains, self.errors, strict=True)
        return ["edges", "gain", "error"], [[k, f"{g:.6g}", f"{e:.6g}"] for k, g, e in rows]


@dataclass(frozen=True)
class Folds:
    """Shared data of the folds of whole series; each unit holds out one fold.

    Attributes
    ----------
    data, fold_index
        All samples, and the fold in which each is held out.
    method, rules, steady, prior, options
        As for `infer`.
    sizes
        Numbers of edges to try.
    streams
        Random generator of each fold.
    """

    data: Expression
    fold_index: NDArray[np.int64]
    method: str
    rules: Rules
    steady: SteadyStates | None
    prior: Prior | None
    options: Mapping[str, Any]
    sizes: tuple[int, ...]
    streams: tuple[np.random.Generator, ...]

    @property
    def facts(self) -> dict[str, str]:
        """All inputs of the folds, as hashes with names."""
        data, rules, steady, prior = self.data, self.rules, self.steady, self.prior
        facts = {
            "data": hash_of(
                (data.genes, data.series, data.scale),
                data.values, data.times, data.perturbed, data.steady_values,
            ),
            "regulators or targets": hash_of("", *rules.roles(data.genes)),
            "caps": hash_of(rules.max_in_degree, rules.out_caps(data.genes)),
            "options": hash_of((self.method, sorted(self.options.items()), self.sizes)),
            "seed": hash_of([stream.bit_generator.state for stream in self.streams]),
        }  # fmt: skip
        if steady is not None:
            names = steady.genes, steady.changed
            facts["steady states"] = hash_of(
                names, steady.levels, steady.is_knockout, steady.is_overexpressed
            )
        if prior is not None:
            facts["prior edges"] = hash_of(prior.genes, *prior.edges)
        return facts


def held_out(folds: Folds, fold: int) -> tuple[Array]:
    """Return the gain of each size in a fold, with a network inferred from the others."""
    is_out, rules = folds.fold_index == fold, folds.rules
    with without_warnings(), np.errstate(all="ignore"):  # the run on all series gives the warnings
        network = infer(
            folds.data.part(~is_out),
            folds.method,
            max_in_degree=rules.max_in_degree,
            max_out_degree=rules.max_out_degree,
            regulators=rules.regulators,
            targets=rules.targets,
            steady=folds.steady,
            prior=folds.prior,
            bins=OFF,  # the samples that are held out are not averaged either
            rng=copy.deepcopy(folds.streams[fold]),
            **folds.options,
        )
    return (held_out_gains(folds.data, is_out, network, rules, folds.sizes, folds.options),)


class EdgeCountSearch:
    """Search for the number of edges, which collects the results of its folds.

    Attributes
    ----------
    job
        One unit per held-out fold.
    """

    def __init__(self, folds: Folds) -> None:
        n_folds = len(folds.streams)
        self.job = Job("folds", held_out, folds, n_folds, folds.facts)
        self._sizes = folds.sizes
        self._curves = np.empty((n_folds, len(folds.sizes)))

    def take(self, fold: int, found: tuple[Array]) -> None:
        """Add the result of a fold."""
        (self._curves[fold],) = found

    def count(self) -> EdgeCount:
        """Return the number of edges, once all folds are added."""
        return best_count(self._sizes, self._curves)


def choose_edges(
    expression: Any,
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
    bins: int | str = AUTO,
    rng: int | np.random.Generator | None = None,
    threads: int = 1,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
    checkpoint_dir: Path | None = None,
    **options: Any,
) -> EdgeCount:
    """Choose the number of edges by cross-validation over series.

    Each of at most 10 folds of whole series is held out once. Fewer than four series are first cut
    into pieces. With ``"tvcs"``, each fold uses at most 30 halves.

    Parameters
    ----------
    expression, method, max_in_degree, max_out_degree, regulators, targets
        As for `infer`.
    steady, prior, scale, bins, rng
        As for `infer`.
    threads, engine
        Threads, or the engine, that infer the networks of the folds.
    **options
        Options of the method and of reading, as for `infer`.
    max_edges
        Largest number to try; 6 per target by default.
    progress
        Called with the percentage done, and 100.
    checkpoint_dir
        Checkpoint folder, as for `infer`.

    Raises
    ------
    ValueError
        If there are fewer than two series that cannot be cut; or as for `infer`.
    """
    reading = {name: options.pop(name) for name in READING if name in options}
    data = prepared(read_with(expression, reading, "expression"), bins, scale)
    named = gene_set("regulators", regulators), gene_set("targets", targets)
    rules = Rules(max_in_degree, max_out_degree, max_edges, *named)
    choice = prepare_search(data, method, rules, rng, steady=steady, prior=prior, **options)
    tell = None if progress is None else partial(_percent, progress)
    engine = Threads(threads) if engine is None else engine
    with closing(
        results([choice.job], engine, checkpoint_dir=checkpoint_dir, progress=tell)
    ) as found:
        for _, fold, gains in found:
            choice.take(fold, gains)
    return choice.count()


def prepare_search(
    expression: Expression,
    method: str,
    rules: Rules,
    rng: int | np.random.Generator | None,
    *,
    steady: SteadyStates | None = None,
    prior: Prior | None = None,
    **options: Any,
) -> EdgeCountSearch:
    """Prepare the search of `choose_edges`, for callers that run its job together with others."""
    check_arguments(method, steady, prior, options, rules.max_edges)
    if "resamples" in METHODS[method].options:
        options["resamples"] = fewer_resamples(options.get("resamples"))
    data = split_for_folds(expression.in_name_order())
    n_targets = int(rules.roles(data.genes)[1].sum())
    sizes = _sizes(rules, data, 6 * n_targets if rules.max_edges is None else rules.max_edges)
    fold_index, seed = fold_numbers(data), seed_of(rng)
    streams = tuple(stream(seed, "fold", str(fold)) for fold in range(int(fold_index.max()) + 1))
    return EdgeCountSearch(
        Folds(data, fold_index, method, rules, steady, prior, options, sizes, streams)
    )


def fewer_resamples(given: int | None) -> int:
    """Return the halves of ``"tvcs"`` in each fold, given those of the network itself."""
    return min(METHODS["tvcs"].options["resamples"] if given is None else given, FOLD_RESAMPLES)


def fold_resamples(expression: Expression, given: int | None) -> int:
    """Return the halves of all folds together, for the estimate of time."""
    return fold_count(expression) * fewer_resamples(given)


def fold_count(expression: Expression) -> int:
    """Return the number of folds."""
    return int(fold_numbers(split_for_folds(expression)).max()) + 1


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
