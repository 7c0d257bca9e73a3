"""Scores of every source of evidence that the samples of one table allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.extra_trees import importances
from grn_tvcs.evidence.knockouts import effects_of_changes
from grn_tvcs.evidence.lagged_correlation import lagged_correlation
from grn_tvcs.evidence.lagged_regression import (
    DEFAULT_PLAN,
    SHORT_MEMORY,
    LaggedRegression,
    lagged_regression,
)
from grn_tvcs.evidence.level_trees import level_trees
from grn_tvcs.evidence.mutual_information import clr_scores
from grn_tvcs.evidence.partial_correlation import partial_correlation
from grn_tvcs.evidence.rate_trees import rate_trees
from grn_tvcs.evidence.samples import all_levels, all_log_levels
from grn_tvcs.evidence.scaling import top_mean
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.rules import Candidates, Rules
from grn_tvcs.stability.execution import SERIAL, Execution
from grn_tvcs.stability.model import transitions

# Sizes bound the time of large networks (benchmarks.speed.cost).
SMALL_NETWORK_GENES = 40  # up to this number of genes, forests have ...
TREES, TREES_LARGE = 100, 20  # ... the first number of trees, otherwise the second
# Candidate pairs beyond which fewer halves are solved, and the smallest number of halves.
FULL_RESAMPLING_PAIRS, MIN_HALVES = 100_000, 30
LAGGED, SHORT, RATES, LEVELS = "lagged", "short", "rates", "levels"
CLR, RANK, PARTIAL, CHANGE, NEXT = "clr", "rank", "partial", "change", "next"
KNOCKOUT, KNOCKDOWN, RANKED_DOWN = "knockout", "knockdown", "ranked-down"
SYMMETRIC = (CLR, RANK, PARTIAL)
EVIDENCE_SOURCES = (
    LAGGED, SHORT, RATES, LEVELS, CLR, RANK, PARTIAL, CHANGE, NEXT,
    KNOCKOUT, KNOCKDOWN, RANKED_DOWN,
)  # fmt: skip

Array = NDArray[np.float64]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class EvidenceScores:
    """Scores of every source of evidence for every candidate pair; rows are `inputs`.

    Attributes
    ----------
    inputs
        Indices of the genes that may regulate.
    allowed
        Whether a pair may be an edge; [input, gene].
    scores
        Scores by source, >= 0 and 0 for pairs that may not be edges; [input, gene]. Sources that
        the samples do not allow are absent.
    signed
        Scores of the sources that have a sign; positive for activation.
    facts
        Numbers that describe the whole table.
    stability
        As in `Network`; [input, gene]. None without series.
    """

    inputs: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    scores: dict[str, Array]
    signed: dict[str, Array]
    facts: dict[str, float]
    stability: Array | None


def compute_evidence(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    steady: SteadyStates | None = None,
    *,
    resamples: int = DEFAULT_PLAN.resamples,
    execution: Execution = SERIAL,
) -> EvidenceScores:
    """Compute all sources of evidence that the samples allow.

    Parameters
    ----------
    expression, rules, rng
        As for every method; the degrees of `rules` bound those that the lagged regression draws.
    steady
        Knock-outs, knock-downs and wild type.
    resamples
        Halves of the series for the lagged regression; fewer for large networks (`n_halves`), and
        half as many for the short memory.
    execution
        As in `units.gather`.
    """
    genes = expression.genes
    inputs, _, allowed = candidates = rules.inputs(genes, expression.constant_genes)
    resamples = n_halves(resamples, int(allowed.sum()))
    n_genes = len(genes)
    sizes = [resamples, resamples // 2, n_genes] if expression.series else []
    *stages, last = execution.stages(*sizes, n_genes)
    signed: dict[str, Array] = {}
    scores: dict[str, Array] = {}
    facts: dict[str, float] = {}
    stability = None
    if expression.series:
        long, short, rates = stages
        lagged = _of_series(expression, rules, rng, resamples, (long, short))
        for name, part in lagged.items():
            scores[name] = part.scores
            signed[name] = part.scores * np.sign(part.weights)
            facts[f"{name} gain"] = top_mean(part.gains, len(genes))
        stability = lagged[LAGGED].stability
        scores[RATES] = _of_rates(expression, candidates, rng, rates)
        signed[CHANGE] = lagged_correlation(expression, "change", rows=inputs)
        signed[NEXT] = lagged_correlation(expression, "level", rows=inputs)
    logs = all_log_levels(expression, steady)
    forest = partial(importances, trees=n_trees(len(genes)))
    scores[LEVELS] = level_trees(logs, genes, candidates, rng, forest, last.within(LEVELS))
    rho = RankCorrelations(all_levels(expression, steady))
    scores[CLR] = clr_scores(rho, inputs)
    signed[RANK] = rho.of(inputs)
    signed[PARTIAL] = partial_correlation(logs, inputs)
    if steady is not None:
        signed |= _of_knockouts(steady, expression, inputs)
    scores |= {name: np.abs(part) for name, part in signed.items() if name not in scores}
    return EvidenceScores(
        inputs,
        allowed,
        {name: np.where(allowed, scores[name], 0.0) for name in EVIDENCE_SOURCES if name in scores},
        signed,
        facts | _facts(expression, steady, rho, inputs),
        stability,
    )


def n_halves(resamples: int, n_pairs: int) -> int:
    """Return the number of halves to solve when `resamples` are requested.

    It falls with the square root of the number of pairs. The time per half is proportional to the
    pairs, so the total time grows with their square root.
    """
    share = min(1.0, (FULL_RESAMPLING_PAIRS / max(n_pairs, 1)) ** 0.5)
    return max(min(resamples, MIN_HALVES), round(share * resamples))


def _of_series(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    resamples: int,
    stages: tuple[Execution, Execution],
) -> dict[str, LaggedRegression]:
    """Return the lagged regression with the usual and with the short memory."""
    plans = {
        LAGGED: replace(DEFAULT_PLAN, resamples=resamples),
        SHORT: replace(DEFAULT_PLAN, resamples=max(2, resamples // 2), memory=SHORT_MEMORY),
    }
    return {
        name: lagged_regression(expression, rules, rng, plan, execution=stage.within(name))
        for (name, plan), stage in zip(plans.items(), stages, strict=True)
    }


def _of_rates(
    expression: Expression,
    candidates: Candidates,
    rng: np.random.Generator,
    execution: Execution,
) -> Array:
    """Return the importances of trees for rates, as fractions of the variance of each response.

    Levels are divided by the gene's largest level, because rate trees compare the levels of all
    genes. Log levels have no unit and stay.
    """
    if expression.scale != "log":
        expression = _in_unit_of_largest(expression)
    forest = partial(importances, trees=n_trees(len(expression.genes)))
    found, variance = rate_trees(expression, candidates, rng, forest, execution.within(RATES))
    return found / np.where(variance > 0, variance, 1.0)


def _in_unit_of_largest(expression: Expression) -> Expression:
    """Divide the levels of every gene by its largest level; genes that are all zero stay."""
    largest = expression.levels.max(axis=0)
    unit, rest = np.where(largest > 0, largest, 1.0), expression.steady_values
    return replace(
        expression,
        values=expression.values / unit,
        steady_values=None if rest is None else rest / unit,
    )


def _of_knockouts(
    steady: SteadyStates, expression: Expression, inputs: NDArray[np.int64]
) -> dict[str, Array]:
    """Return the effects of knock-outs and knock-downs in standard deviations.

    The third source discounts effects that a path explains. Rows of regulators that were not
    perturbed are NaN.
    """
    rows, fell, ranked_down = effects_of_changes(steady, expression)
    found = {}
    for name, is_out in ((KNOCKOUT, True), (KNOCKDOWN, False)):
        is_changed = steady.is_changed(is_out=is_out)
        if is_changed[inputs].any():
            moved = np.where(is_changed[rows, None], fell[is_out], np.nan)
            found[name] = _of_inputs(moved, rows, inputs)
    if found:
        found[RANKED_DOWN] = _of_inputs(ranked_down, rows, inputs)
    return found


def _of_inputs(values: Array, rows: NDArray[np.int64], inputs: NDArray[np.int64]) -> Array:
    """Rearrange rows of the genes `rows` as rows of the inputs; NaN for inputs not among them."""
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
    """Return sizes of the table and statistics of its levels that do not depend on edges."""
    n = len(expression.genes)
    median, high = rho.median_and_quantile(0.95) if rho.n_pairs else (0.0, 0.0)
    changed = 0.0
    if steady is not None and inputs.size:
        changed = steady.is_changed(is_out=True)[inputs].mean()
    facts = {
        "genes": n,
        "inputs": len(inputs),
        "series": expression.n_series,
        "steps": expression.n_steps,
        "samples": len(expression.times),
        "at rest": expression.n_steady,  # the name in the file of the model
        "column": float(expression.perturbed is not None),
        "knocked out": float(changed),
        "median r": median,
        "high r": high,
        "autocorrelation": np.nan,
    }
    if expression.series:
        facts["autocorrelation"] = autocorrelation(expression)
    return facts


def autocorrelation(expression: Expression) -> float:
    """Return the median over genes of the lag-one autocorrelation within series."""
    steps = transitions(expression, 0.2)
    before, after = (x - x.mean(axis=0) for x in (steps.own, steps.following))
    size = np.sqrt((before**2).sum(axis=0) * (after**2).sum(axis=0))
    is_there = size > 0
    r = (before * after).sum(axis=0)[is_there] / size[is_there]
    return float(np.median(r)) if r.size else 0.0


def n_trees(n_genes: int) -> int:
    """Return the number of trees per gene for a network of `n_genes`."""
    return TREES if n_genes <= SMALL_NETWORK_GENES else TREES_LARGE
