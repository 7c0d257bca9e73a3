"""An ensemble of three kinds of evidence: lagged regression, trees for levels, partial correlation.

Methods err on different edges, so what they say together is more robust over kinds of data than any
of them (Marbach, Costello, Küffner et al., Nature Methods 9, 796, 2012, who add up ranks). Here
scores are added, each divided by the mean of its strongest, one per gene:

    lagged regression under caps (`evidence.lagged_regression`), with the hub prior that its own
        scores show (`evidence.hubs`), which the others have too where it shows a star,
    trees as in GENIE3 (`evidence.level_trees`; extremely randomised, importances as shares of
        variance, not normalised per target),
    partial correlation with shrinkage (`evidence.partial_correlation`).

The last two forget time and take samples at rest beside the series where there are any. Knock-outs
and knock-downs add what they add in ``tvcs``. Nothing is learned, so nothing can be learned from
the wrong kind of data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.extra_trees import importances
from grn_tvcs.evidence.hubs import HUB_POWER, own_hubs
from grn_tvcs.evidence.knockouts import (
    KNOCKDOWN_WEIGHT,
    KNOCKOUT_WEIGHT,
    LARGEST_EFFECT,
    KnockoutEvidence,
    knockout_evidence,
)
from grn_tvcs.evidence.lagged_regression import USUAL, lagged_regression
from grn_tvcs.evidence.level_trees import level_trees
from grn_tvcs.evidence.partial_correlation import partial_correlation
from grn_tvcs.evidence.prior_edges import lifted
from grn_tvcs.evidence.samples import logs_of_all
from grn_tvcs.evidence.strongest import by_strongest
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.evidence import carried_by
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.prior import Prior
from grn_tvcs.network.rules import Candidates, Rules
from tvcs_core.engines import Engine, Threads

DESCRIBED = (
    "Three kinds of evidence, each divided by the mean of its strongest edges, were added up "
    "(as Marbach et al., 2012, add up ranks): lagged regression by matching pursuit under "
    "caps in random halves of the series (Nguyen et al., 2012; Yang et al., 2017), the "
    "importance of the regulator in extremely randomised trees (Geurts et al., 2006) that "
    "predict the level of the target in the same sample as in GENIE3 (Huynh-Thu et al., "
    "2010), and partial correlation with shrinkage (Schäfer and Strimmer, 2005)."
)

TREES = 100
Progress = Callable[[int, int], None]


def ensemble(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    *,
    resamples: int = USUAL.resamples,
    trees: int = TREES,
    hub_power: float | None = None,
    steady: SteadyStates | None = None,
    prior: Prior | None = None,
    threads: int = 1,
    engine: Engine | None = None,
    progress: Progress | None = None,
    keep: Path | None = None,
) -> Network:
    """Score edges by the sum of the evidence of three kinds, and of knock-outs where given.

    A score of 1 is what one kind says of its strongest edges. Signs are those of the sum of the
    signed evidence of the kinds that know one: all but the trees.

    Parameters
    ----------
    expression, rules, rng
        As for every method.
    resamples
        Halves of the series, for the lagged regression.
    trees
        Trees per gene.
    hub_power
        Power of the hub prior on the lagged regression, as in ``tvcs``, where there are more than
        20 genes; by default what the regression shows of hubs, from 0 to 0.5. Where it shows that
        few regulators have nearly all, the other kinds have a prior too, of no larger power.
    steady
        Knock-outs, knock-downs and wild type.
    prior
        Edges that are believed before there are data; genes in the order of `expression`. They
        lift the pairs that they list, as far as the data bear the list out
        (`evidence.prior_edges`).
    threads, engine, progress, keep
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
    first, second = _in_turn(progress, 2 * replace(USUAL, resamples=resamples).pairs, len(genes))
    series = lagged_regression(
        expression, rules, rng, replace(USUAL, resamples=resamples),
        threads=threads, engine=engine, progress=first, keep=keep,
    )  # fmt: skip
    told = _of_knockouts(steady, expression, candidates)
    hubs = own_hubs(series.scores, hub_power, told.power_for_series)
    forest = partial(importances, trees=trees)
    logs = logs_of_all(expression, steady)
    levels = level_trees(
        logs, genes, candidates, rng, forest, second,
        engine=engine or Threads(threads), keep=keep,
    )  # fmt: skip
    direct = partial_correlation(logs, inputs)
    alike = np.where(allowed, np.abs(direct), 0.0)
    lagged = by_strongest(hubs.own * series.scores, len(genes))
    levels, alike = (hubs.beside * by_strongest(part, len(genes)) for part in (levels, alike))
    by_source = [lagged, told.knockouts, told.knockdowns, levels, alike]
    signed = lagged * np.sign(series.weights) + alike * np.sign(direct)
    signed += told.signs * (told.knockouts + told.knockdowns)
    scores = np.sum(by_source, axis=0)
    pairs = Pairs(
        inputs, np.arange(len(genes)), scores, np.sign(signed).astype(np.int8), scores > 0,
        stability=series.stability, evidence=carried_by(by_source),
    )  # fmt: skip
    network = Network(genes, pairs)
    return network if prior is None else _lifted(network, by_source, signed, prior, allowed)


def _lifted(
    network: Network,
    by_source: list[NDArray[np.float64]],
    signed: NDArray[np.float64],
    prior: Prior,
    allowed: NDArray[np.bool_],
) -> Network:
    """The network with what a list of prior edges adds to its scores."""
    pairs = network.pairs
    listed = prior.among(pairs.regulators, pairs.targets)
    scores, said = lifted(pairs.scores, listed, allowed)
    by_prior = scores - pairs.scores
    return network.but(
        scores=scores,
        selected=scores > 0,
        signs=np.sign(signed + listed.signs * by_prior).astype(np.int8),
        evidence=carried_by([*by_source, by_prior]),
        notes=(*network.notes, said),
    )


def _of_knockouts(
    steady: SteadyStates | None, expression: Expression, candidates: Candidates
) -> KnockoutEvidence:
    """What knock-outs say, in the weights of ``tvcs``; nothing where there are none."""
    if steady is None:
        nothing = np.zeros(candidates.allowed.shape)
        return KnockoutEvidence(nothing, nothing, nothing, None, 0.0)
    return knockout_evidence(
        steady, expression, candidates, weight=KNOCKOUT_WEIGHT, hub_power=HUB_POWER,
        knockdown_weight=KNOCKDOWN_WEIGHT, largest_effect=LARGEST_EFFECT,
    )  # fmt: skip


def _in_turn(
    progress: Progress | None, n_first: int, n_second: int
) -> tuple[Progress | None, Progress | None]:
    """Two stretches of one work, told as one."""
    if progress is None:
        return None, None
    total = n_first + n_second
    return lambda done, _: progress(done, total), lambda done, _: progress(n_first + done, total)
