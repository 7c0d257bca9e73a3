"""Ensemble of three kinds of evidence: lagged regression, trees for levels, partial correlation.

Methods err on different edges, so a combination is more robust over kinds of data than any single
method (Marbach, Costello, Küffner et al., Nature Methods 9, 796, 2012, who add ranks). Here scores
are added, each divided by the mean of its strongest, one per gene:

    lagged regression under caps (`evidence.lagged_regression`), with the hub prior estimated from
        its scores (`evidence.hubs`), which the others share if it indicates a star,
    trees as in GENIE3 (`evidence.level_trees`; extremely randomised, importances as fractions of
        variance, not normalised per target),
    partial correlation with shrinkage (`evidence.partial_correlation`).

The last two ignore time and also use steady-state samples. Knock-outs and knock-downs contribute as
in ``tvcs``. Nothing is trained, so nothing can be trained on the wrong kind of data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.extra_trees import importances
from grn_tvcs.evidence.hubs import HUB_POWER, estimate_hub_priors
from grn_tvcs.evidence.knockouts import (
    KNOCKDOWN_WEIGHT,
    KNOCKOUT_WEIGHT,
    LARGEST_EFFECT,
    KnockoutEvidence,
    knockout_evidence,
)
from grn_tvcs.evidence.lagged_regression import DEFAULT_PLAN, lagged_regression
from grn_tvcs.evidence.level_trees import level_trees
from grn_tvcs.evidence.partial_correlation import partial_correlation
from grn_tvcs.evidence.prior_edges import add_prior_edges
from grn_tvcs.evidence.samples import all_log_levels
from grn_tvcs.evidence.scaling import scale_by_top_mean
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.evidence import evidence_codes
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.prior import Prior
from grn_tvcs.network.rules import Candidates, Rules
from grn_tvcs.stability.execution import SERIAL, Execution

DESCRIPTION = (
    "Three kinds of evidence, each divided by the mean of its strongest edges, were added up "
    "(as Marbach et al., 2012, add up ranks): lagged regression by matching pursuit under "
    "caps in random halves of the series (Nguyen et al., 2012; Yang et al., 2017), the "
    "importance of the regulator in extremely randomised trees (Geurts et al., 2006) that "
    "predict the level of the target in the same sample as in GENIE3 (Huynh-Thu et al., "
    "2010), and partial correlation with shrinkage (Schäfer and Strimmer, 2005)."
)

TREES = 100  # per gene; extremely randomised trees need fewer than GENIE3's 1,000
Progress = Callable[[int, int], None]


def ensemble(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    *,
    resamples: int = DEFAULT_PLAN.resamples,
    trees: int = TREES,
    hub_power: float | None = None,
    steady: SteadyStates | None = None,
    prior: Prior | None = None,
    execution: Execution = SERIAL,
) -> Network:
    """Score edges by the sum of three kinds of evidence, and of knock-outs if given.

    A score of 1 is the mean of the strongest edges of one kind. Signs are those of the sum of
    signed evidence; trees have no sign.

    Parameters
    ----------
    expression, rules, rng
        As for every method.
    resamples
        Halves of the series, for the lagged regression.
    trees
        Trees per gene.
    hub_power
        Power of the hub prior on the lagged regression, as in ``tvcs``, for more than 20 genes;
        estimated from its scores by default, from 0 to 0.5. If a few regulators have nearly all
        scores, the other kinds get a prior too, with no larger power.
    steady
        Knock-outs, knock-downs and wild type.
    prior
        Prior edges, with genes in the order of `expression`. They raise the scores of the listed
        pairs as far as the data confirm the list (`evidence.prior_edges`).
    execution
        As in `units.gather`, for the trees too.
    """
    if min(trees, resamples) < 1 or (hub_power or 0.0) < 0:
        raise ValueError(
            "trees and resamples must be >= 1 and hub_power >= 0, found "
            f"{trees}, {resamples} and {hub_power}"
        )
    genes = expression.genes
    candidates = rules.inputs(genes, expression.constant_genes)
    inputs, _, allowed = candidates
    plan = replace(DEFAULT_PLAN, resamples=resamples)
    first, second = execution.stages(2 * plan.pairs, len(genes))
    series = lagged_regression(expression, rules, rng, plan, execution=first)
    knocked = _of_knockouts(steady, expression, candidates)
    hubs = estimate_hub_priors(series.scores, hub_power, knocked.power_for_series)
    forest = partial(importances, trees=trees)
    logs = all_log_levels(expression, steady, unbinned=True)
    levels = level_trees(logs, genes, candidates, rng, forest, second)
    direct = partial_correlation(logs, inputs)
    alike = np.where(allowed, np.abs(direct), 0.0)
    lagged = scale_by_top_mean(hubs.for_scores * series.scores, len(genes))
    levels, alike = (
        hubs.for_other_evidence * scale_by_top_mean(part, len(genes)) for part in (levels, alike)
    )
    by_source = [lagged, knocked.knockouts, knocked.knockdowns, levels, alike]
    signed = lagged * np.sign(series.weights) + alike * np.sign(direct)
    signed += knocked.signs * (knocked.knockouts + knocked.knockdowns)
    scores = np.sum(by_source, axis=0)
    pairs = Pairs(
        inputs, np.arange(len(genes)), scores, np.sign(signed).astype(np.int8), scores > 0,
        stability=series.stability, evidence=evidence_codes(by_source),
    )  # fmt: skip
    network = Network(genes, pairs)
    return network if prior is None else _with_prior(network, by_source, signed, prior, allowed)


def _with_prior(
    network: Network,
    by_source: list[NDArray[np.float64]],
    signed: NDArray[np.float64],
    prior: Prior,
    allowed: NDArray[np.bool_],
) -> Network:
    """Return the network with prior edges added to its scores."""
    pairs = network.pairs
    listed = prior.restrict_to(pairs.regulators, pairs.targets)
    scores, note = add_prior_edges(pairs.scores, listed, allowed)
    by_prior = scores - pairs.scores
    return network.replace(
        scores=scores,
        selected=scores > 0,
        signs=np.sign(signed + listed.signs * by_prior).astype(np.int8),
        evidence=evidence_codes([*by_source, by_prior]),
        notes=(*network.notes, note),
    )


def _of_knockouts(
    steady: SteadyStates | None, expression: Expression, candidates: Candidates
) -> KnockoutEvidence:
    """Return the evidence of knock-outs with the weights of ``tvcs``; zeros without any."""
    if steady is None:
        nothing = np.zeros(candidates.allowed.shape)
        return KnockoutEvidence(nothing, nothing, nothing, None, 0.0)
    return knockout_evidence(
        steady, expression, candidates, weight=KNOCKOUT_WEIGHT, hub_power=HUB_POWER,
        knockdown_weight=KNOCKDOWN_WEIGHT, largest_effect=LARGEST_EFFECT,
    )  # fmt: skip
