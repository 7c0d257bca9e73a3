"""All parts of evidence on one table, as far as its samples allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.extra_trees import importances
from grn_tvcs.evidence.knockouts import ranked_down
from grn_tvcs.evidence.lagged_correlation import lagged_correlation
from grn_tvcs.evidence.lagged_regression import (
    SHORT_MEMORY,
    USUAL,
    LaggedRegression,
    lagged_regression,
)
from grn_tvcs.evidence.level_trees import level_trees
from grn_tvcs.evidence.mutual_information import relatedness
from grn_tvcs.evidence.partial_correlation import partial_correlation
from grn_tvcs.evidence.rate_trees import rate_trees
from grn_tvcs.evidence.samples import levels_of_all, logs_of_all
from grn_tvcs.evidence.strongest import mean_of_strongest
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.rules import Candidates, Rules
from grn_tvcs.stability.model import transitions
from tvcs_core.engines import Engine, Threads

FEW_GENES = 40  # up to so many, forests have ...
TREES, TREES_OF_MANY = 100, 20  # ... the first number of trees, else the second
MANY_PAIRS, FEWEST_HALVES = 100_000, 30  # halves of larger networks are fewer; these at least
KNOCKDOWN = 0.5  # what the effect of a knock-down counts beside that of a knock-out
LAGGED, SHORT, RATES, LEVELS = "lagged", "short", "rates", "levels"
CLR, RANK, PARTIAL, CHANGE, NEXT = "clr", "rank", "partial", "change", "next"
KNOCKOUT, KNOCKDOWN_PART, RANKED_DOWN = "knockout", "knockdown", "ranked-down"
SYMMETRIC = (CLR, RANK, PARTIAL)
PARTS = (
    LAGGED, SHORT, RATES, LEVELS, CLR, RANK, PARTIAL, CHANGE, NEXT,
    KNOCKOUT, KNOCKDOWN_PART, RANKED_DOWN,
)  # fmt: skip

Array = NDArray[np.float64]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Parts:
    """What every part says of every pair that may be an edge; rows are `inputs`.

    Attributes
    ----------
    inputs
        Places of the genes that may regulate.
    allowed
        Which pairs may be edges; [input, gene].
    scores
        By part, >= 0 and 0 where a pair may not be an edge; [input, gene]. A part that the samples
        say nothing of is not there.
    signed
        The parts that know a sign, with it: above 0 where the regulator activates.
    facts
        Numbers of the whole table.
    stability
        As in `Network`; [input, gene]. None without series.
    """

    inputs: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    scores: dict[str, Array]
    signed: dict[str, Array]
    facts: dict[str, float]
    stability: Array | None


def gather_parts(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    steady: SteadyStates | None = None,
    *,
    resamples: int = USUAL.resamples,
    threads: int = 1,
    engine: Engine | None = None,
    progress: Progress | None = None,
    keep: Path | None = None,
) -> Parts:
    """Compute all parts that the samples allow.

    Parameters
    ----------
    expression, rules, rng
        As for every method; the caps of `rules` bound those that the lagged regression draws.
    steady
        Knock-outs, knock-downs and wild type.
    resamples
        Halves of the series for the lagged regression, fewer of a large network (`halves_of`); half
        as many for its short memory.
    threads, engine, progress, keep
        As in `units.gather`.
    """
    genes = expression.genes
    inputs, _, allowed = candidates = rules.inputs(genes, expression.constant_genes)
    resamples = halves_of(resamples, int(allowed.sum()))
    work = _Stages(progress, resamples if expression.series else 0, len(genes))
    signed: dict[str, Array] = {}
    scores: dict[str, Array] = {}
    facts: dict[str, float] = {}
    stability = None
    engine = Threads(threads) if engine is None else engine
    if expression.series:
        lagged = _of_series(expression, rules, rng, resamples, engine, work, keep)
        for name, part in lagged.items():
            scores[name] = part.scores
            signed[name] = part.scores * np.sign(part.weights)
            facts[f"{name} gain"] = mean_of_strongest(part.gains, len(genes))
        stability = lagged[LAGGED].stability
        scores[RATES] = _of_rates(expression, candidates, rng, engine, work, keep)
        signed[CHANGE] = lagged_correlation(expression, "change", rows=inputs)
        signed[NEXT] = lagged_correlation(expression, "level", rows=inputs)
    logs = logs_of_all(expression, steady)
    forest = partial(importances, trees=trees_of(len(genes)))
    scores[LEVELS] = level_trees(
        logs, genes, candidates, rng, forest, work.next(), engine=engine, keep=_in(keep, LEVELS)
    )
    rho = RankCorrelations(levels_of_all(expression, steady))
    scores[CLR] = relatedness(rho, inputs)
    signed[RANK] = rho.of(inputs)
    signed[PARTIAL] = partial_correlation(logs, inputs)
    if steady is not None:
        signed |= _of_knockouts(steady, expression, inputs)
    scores |= {name: np.abs(part) for name, part in signed.items() if name not in scores}
    return Parts(
        inputs,
        allowed,
        {name: np.where(allowed, scores[name], 0.0) for name in PARTS if name in scores},
        signed,
        facts | _facts(expression, steady, rho, inputs),
        stability,
    )


def halves_of(resamples: int, n_pairs: int) -> int:
    """Halves that are solved where `resamples` are asked for: fewer where pairs are many.

    A half costs as its pairs do, so the time of large networks grows with their square root.
    """
    share = min(1.0, (MANY_PAIRS / max(n_pairs, 1)) ** 0.5)
    return max(min(resamples, FEWEST_HALVES), round(share * resamples))


def _of_series(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    resamples: int,
    engine: Engine,
    work: _Stages,
    keep: Path | None,
) -> dict[str, LaggedRegression]:
    """Lagged regression with both memories."""
    plans = {
        LAGGED: replace(USUAL, resamples=resamples),
        SHORT: replace(USUAL, resamples=max(2, resamples // 2), memory=SHORT_MEMORY),
    }
    return {
        name: lagged_regression(
            expression, rules, rng, plan, engine=engine, progress=work.next(),
            keep=_in(keep, name),
        )
        for name, plan in plans.items()
    }  # fmt: skip


def _of_rates(
    expression: Expression,
    candidates: Candidates,
    rng: np.random.Generator,
    engine: Engine,
    work: _Stages,
    keep: Path | None,
) -> Array:
    """Trees for rates, as shares of the variance of each target's response.

    Levels are in the unit of each gene's largest one, so that its own unit says nothing: rates
    compare the levels of all genes. Logarithms have no unit.
    """
    if expression.scale != "log":
        expression = _in_unit_of_largest(expression)
    forest = partial(importances, trees=trees_of(len(expression.genes)))
    found, variance = rate_trees(
        expression, candidates, rng, forest, work.next(), engine=engine, keep=_in(keep, RATES)
    )
    return found / np.where(variance > 0, variance, 1.0)


def _in(keep: Path | None, name: str) -> Path | None:
    """Folder for the finished work of a part."""
    return None if keep is None else keep / name


def _in_unit_of_largest(expression: Expression) -> Expression:
    """The same table with the largest level of every gene 1; all zeros stay."""
    largest = expression.levels.max(axis=0)
    unit, rest = np.where(largest > 0, largest, 1.0), expression.at_rest
    return replace(
        expression,
        values=expression.values / unit,
        at_rest=None if rest is None else rest / unit,
    )


def _of_knockouts(
    steady: SteadyStates, expression: Expression, inputs: NDArray[np.int64]
) -> dict[str, Array]:
    """Effects of knock-outs and knock-downs in deviations, and both less what a path explains.

    NaN where the regulator was not changed, so nothing is known of it.
    """
    found = {}
    kinds = [
        (name, steady.is_changed(is_out=is_out), is_out, weight)
        for name, is_out, weight in ((KNOCKOUT, True, 1.0), (KNOCKDOWN_PART, False, KNOCKDOWN))
    ]
    kinds = [kind for kind in kinds if kind[1][inputs].any()]
    # A path may lead over a gene that may not regulate: rows are all genes that were changed.
    was_changed = np.any([is_changed for _, is_changed, _, _ in kinds], axis=0)
    rows = np.flatnonzero(was_changed)
    shifts = np.zeros((rows.size, len(expression.genes)))
    for name, is_changed, is_out, weight in kinds:
        moved = steady.shifts(expression, is_out=is_out, rows=rows)
        shifts += weight * moved
        found[name] = _of_inputs(np.where(is_changed[rows, None], moved, np.nan), rows, inputs)
    if found:
        sizes = ranked_down(np.abs(shifts), rows) * np.sign(shifts)
        found[RANKED_DOWN] = _of_inputs(sizes, rows, inputs)
    return found


def _of_inputs(values: Array, rows: NDArray[np.int64], inputs: NDArray[np.int64]) -> Array:
    """Values of the genes `rows` as those of the inputs, NaN where an input is not among them."""
    whole = np.full((inputs.size, values.shape[1]), np.nan)
    _, here, there = np.intersect1d(inputs, rows, assume_unique=True, return_indices=True)
    whole[here] = values[there]
    return whole


def _facts(
    expression: Expression,
    steady: SteadyStates | None,
    rho: RankCorrelations,
    inputs: NDArray[np.int64],
) -> dict[str, float]:
    """Sizes of the table and how it behaves, whatever its edges."""
    n = len(expression.genes)
    median, high = rho.median_and_quantile(0.95) if rho.n_pairs else (0.0, 0.0)
    n_series, n_samples = len(expression.pieces()), len(expression.times)
    steps = n_samples - n_series
    changed = 0.0
    if steady is not None and inputs.size:
        changed = steady.is_changed(is_out=True)[inputs].mean()
    facts = {
        "genes": n,
        "inputs": len(inputs),
        "series": n_series,
        "steps": steps,
        "samples": n_samples,
        "at rest": expression.n_at_rest,
        "column": float(expression.perturbed is not None),
        "knocked out": float(changed),
        "median r": median,
        "high r": high,
        "autocorrelation": np.nan,
    }
    if n_series:
        facts["autocorrelation"] = autocorrelation(expression)
    return facts


def autocorrelation(expression: Expression) -> float:
    """Median over genes of the correlation of a level with the next one in its series."""
    steps = transitions(expression, 0.2)
    before, after = (x - x.mean(axis=0) for x in (steps.own, steps.following))
    size = np.sqrt((before**2).sum(axis=0) * (after**2).sum(axis=0))
    is_there = size > 0
    r = (before * after).sum(axis=0)[is_there] / size[is_there]
    return float(np.median(r)) if r.size else 0.0


def trees_of(n_genes: int) -> int:
    """Trees per gene in the forests of so many genes."""
    return TREES if n_genes <= FEW_GENES else TREES_OF_MANY


class _Stages:
    """One progress for the parts that take time, one after the other.

    Without halves of series there are trees for levels alone.
    """

    def __init__(self, progress: Progress | None, resamples: int, n_genes: int) -> None:
        self._progress = progress
        self._sizes = [resamples, resamples // 2, n_genes, n_genes] if resamples else [n_genes]
        self._total = sum(self._sizes)
        self._done = 0

    def next(self) -> Progress | None:
        if self._progress is None:
            return None
        tell, total = self._progress, self._total
        start = self._done
        size = self._sizes.pop(0) if self._sizes else 0
        self._done += size
        return lambda done, of: tell(start + round(size * done / max(of, 1)), total)
