"""All sources of evidence, combined as learned from simulated networks, with edge probabilities.

The sources are lagged regression under caps with two memories, trees for levels and for rates,
mutual information, rank, partial and lagged correlation, knock-outs and knock-downs. The combiner
was trained on simulated networks of many designs, from networks without hubs to stars. Networks
simulated with the user's own design calibrate it, so that the score of an edge is the probability
that it is true.

Probabilities are reduced if the table resembles noise or random walks. None are given if the table
lies outside the range of simulated tables, or if genes are co-expressed more closely than there:
the training then need not hold. None are given either if all series share one direction, as after a
common stimulus, because the data cannot show which gene causes it. Without knock-outs, edges are
then ranked by a blend of several rankings, which uses single cells where samples are bins of cells.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.blend.blend import blend, learned_weight, rankings_of, used_rankings
from grn_tvcs.combine.blend.texts import LAGGED_TEXT, RANKED_BY, blend_sentence, describe_blend
from grn_tvcs.combine.calibration import N_NETWORKS, Calibration, is_cached, load_or_calibrate
from grn_tvcs.combine.coexpression import coexpression_measures, design_for, load_coexpression
from grn_tvcs.combine.direction import shared_direction
from grn_tvcs.combine.domain_check import traits
from grn_tvcs.combine.evidence_scores import (
    CLR,
    KNOCKDOWN,
    KNOCKOUT,
    LAGGED,
    LEVELS,
    PARTIAL,
    RANKED_DOWN,
    RATES,
    SHORT,
    EvidenceScores,
    compute_evidence,
)
from grn_tvcs.combine.features import pair_features
from grn_tvcs.combine.nulls import (
    compress_logits,
    effect_of_changes,
    null_log_odds,
    weight_by_non_null,
)
from grn_tvcs.combine.platt_scaling import sigmoid
from grn_tvcs.combine.pretrained import PretrainedModels, load_pretrained
from grn_tvcs.evidence.lagged_regression import DEFAULT_PLAN
from grn_tvcs.evidence.prior_edges import add_prior_edges, add_prior_log_odds
from grn_tvcs.evidence.scaling import scale_by_top_mean
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.confidence import LIKELY
from grn_tvcs.network.evidence import evidence_codes
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.prior import Prior
from grn_tvcs.network.rules import Rules
from grn_tvcs.network.verdict import (
    LEARNED_RANKING,
    NO_CANDIDATES,
    NOT_CALIBRATED,
    ONE_DIRECTION,
    OUT_OF_DOMAIN,
    TOO_COEXPRESSED,
    Verdict,
    describe_trait,
    main_regulator,
    remedy_of,
    silent_verdict,
    verdict_of,
)
from grn_tvcs.simulation.designs import SERIES, Design, design_of, rounded
from grn_tvcs.stability.execution import SERIAL, Execution
from tvcs_core.streams import stream

FAR = 2.0  # distance from simulated tables, relative to the limit, beyond which a table is far
N_MORE_SERIES = 2  # further series for which the verdict predicts the number of edges
# Sources of evidence of an edge, in the order of `network.evidence.SOURCES`.
SOURCES = ((LAGGED, SHORT), (KNOCKOUT,), (KNOCKDOWN,), (LEVELS, RATES), (CLR, PARTIAL))
LIKE_NOISE = (
    "the data resemble noise or random walks without a network (probability {:.0%}), so edge "
    "probabilities were reduced"
)

# Texts of the methods paragraph, with citations of `report.references`.
SERIES_TEXTS = (
    LAGGED_TEXT,
    "trees that predict rates of change (Huynh-Thu and Geurts, 2018)",
    "lagged correlation (Schmitt et al., 2004)",
)
LEVEL_TEXTS = (
    "trees that predict levels (Huynh-Thu et al., 2010)", "CLR (Faith et al., 2007)",
    "rank correlation (Spearman, 1904)",
    "partial correlation with shrinkage (Schäfer and Strimmer, 2005)",
)  # fmt: skip
COMBINATION_TEXT = (
    "Ordered pairs were scored by a combination of {}. The combination, by gradient boosted trees "
    "(Friedman, 2001) and small neural networks, was trained on simulated networks with the "
    "kinetics of GeneNetWeaver (Schaffter et al., 2011)."
)
CALIBRATION_TEXT = (
    "The score of an edge is the estimated probability that it is true, calibrated on networks "
    "simulated with a similar design."
)

Array = NDArray[np.float64]
PERCENT = 100  # of the evidence, which counts as much as one network that is simulated


def combined(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    *,
    resamples: int = DEFAULT_PLAN.resamples,
    calibrate: int = N_NETWORKS,
    draws: int = 0,
    steady: SteadyStates | None = None,
    prior: Prior | None = None,
    execution: Execution = SERIAL,
) -> Network:
    """Score edges by the probability that they are true.

    Halves and trees are drawn from fixed streams, so a seed changes nothing, but `draws` does.

    Parameters
    ----------
    expression, rules
        As for every method.
    rng
        Not used.
    resamples
        Halves of the series for the lagged regression. The calibrations of common designs that come
        with the package hold for the default only.
    calibrate
        Networks to simulate with this design, unless it is cached; 0, or in `infer` also
        ``"off"``, for none.
    draws
        Number, >= 0, of the set of halves and trees; it shows how much the network depends on them.
    steady
        Knock-outs, knock-downs and wild type.
    prior
        Prior edges, with genes in the order of `expression`. They raise the scores of the listed
        pairs as far as the data confirm the list (`evidence.prior_edges`).
    execution
        As in `units.gather`; networks are simulated in parallel.
    """
    if resamples < 1 or min(calibrate, draws) < 0:
        raise ValueError(
            "resamples must be >= 1, calibrate and draws >= 0, found "
            f"{resamples}, {calibrate} and {draws}"
        )
    rng = stream(draws, "combined")
    model, n = load_pretrained(), len(expression.genes)
    if not rules.candidates(expression.genes, expression.constant_genes).allowed.any():
        nothing = Pairs.scored(np.empty(0, np.int64), np.zeros((0, n)))
        verdict = silent_verdict(NO_CANDIDATES, expression, steady)
        return Network(expression.genes, nothing, verdict=verdict)
    table_traits, design = _traits_and_design(expression, rules, steady)
    known = _shipped_calibration(model, design, resamples)
    why_not = _why_out_of_domain(model, table_traits, design, expression)
    n_to_simulate = calibrate if known is None and not why_not else 0
    first, second = execution.stages(PERCENT, PERCENT * n_to_simulate)
    evidence = compute_evidence(
        expression, rules, rng, steady, resamples=resamples, execution=first
    )
    if n_to_simulate:
        known = load_or_calibrate(
            model.combiner, model.stamp, design, calibrate, resamples=resamples,
            null_model=model.null_model(design), execution=second,
        )  # fmt: skip
    network = _unscored(expression.genes, evidence)
    shared = shared_direction(expression)
    if not why_not and known is not None and shared > known.shared:
        why_not = "" if RANKED_DOWN in evidence.scores else ONE_DIRECTION  # knock-outs show causes
    logits = model.combiner.logits(pair_features(evidence), evidence.inputs)
    effect = effect_of_changes(steady, expression)
    none = null_log_odds(model.nulls, table_traits, design, effect, shared)
    if why_not and RANKED_DOWN not in evidence.scores:
        rankings = rankings_of(evidence, logits, expression, rules, rng, steady, execution)
        # A common stimulus looks to the learned combination like a regulator of all genes.
        is_unlike = why_not == ONE_DIRECTION or _is_far(model, table_traits, design)
        learned = 0.0 if is_unlike else learned_weight(logits, evidence.allowed)
        weights = used_rankings(rankings, learned)
        scores = blend(rankings, evidence.allowed, weights)
        # The trees know tables of a common stimulus among those of several series alone.
        null = 0.0 if np.isnan(shared) else float(sigmoid(np.array(none)))
        verdict = silent_verdict(why_not, expression, steady, blend_sentence(weights), null)
        return _with_ranking(network, evidence, scores, prior, verdict)
    if why_not or known is None:
        verdict = silent_verdict(why_not or NOT_CALIBRATED, expression, steady, LEARNED_RANKING)
        return _with_ranking(network, evidence, sigmoid(logits), prior, verdict)
    logits = compress_logits(weight_by_non_null(known.of(logits, n), none), known.limit)
    if none > 0:
        note = LIKE_NOISE.format(float(sigmoid(np.array(none))))
        network = network.replace(notes=(*network.notes, note))
    return _with_probabilities(network, evidence, logits, prior, design, model, expression, steady)


def describe(network: Network, expression: Expression, steady: SteadyStates | None) -> str:
    """Describe how pairs were scored: by probabilities, by a learned ranking, or by a blend."""
    verdict, has_series = network.verdict, bool(expression.series)
    if verdict is not None and verdict.ranking.startswith(RANKED_BY):
        return describe_blend(expression, verdict.ranking)
    sources = [*(SERIES_TEXTS if has_series else ()), *LEVEL_TEXTS]
    if steady is not None:
        sources.append("effects of knock-outs and knock-downs (Pinna et al., 2010)")
    text = COMBINATION_TEXT.format(f"{', '.join(sources[:-1])} and {sources[-1]}")
    return text if network.pairs.confidence is None else f"{text} {CALIBRATION_TEXT}"


def count_calibration_networks(
    expression: Expression,
    rules: Rules,
    steady: SteadyStates | None,
    calibrate: int = N_NETWORKS,
    resamples: int = DEFAULT_PLAN.resamples,
) -> int:
    """Return the number of networks that `combined` will simulate.

    It is 0 for known designs, and for tables outside the domain.
    """
    model, (found, design) = load_pretrained(), _traits_and_design(expression, rules, steady)
    is_known = bool(_why_out_of_domain(model, found, design, expression))
    is_known = is_known or _shipped_calibration(model, design, resamples) is not None
    is_known = is_known or is_cached(model.stamp, design, calibrate, resamples)
    return 0 if is_known else calibrate


def _shipped_calibration(
    model: PretrainedModels, design: Design, resamples: int
) -> Calibration | None:
    """Return the calibration of a common design from the package, if its halves match."""
    return model.common.get(design.key) if resamples == DEFAULT_PLAN.resamples else None


def _traits_and_design(
    expression: Expression, rules: Rules, steady: SteadyStates | None
) -> tuple[dict[str, float], Design]:
    """Return the traits of the table, and its rounded design."""
    table_traits = traits(expression, steady)
    return table_traits, rounded(
        load_pretrained().with_start(design_of(expression, steady, rules), table_traits)
    )


def _is_far(model: PretrainedModels, table_traits: dict[str, float], design: Design) -> bool:
    """Return whether a table is far from all simulated tables."""
    return model.trait_distributions[design.start].relative_distance(table_traits, design) > FAR


def _why_out_of_domain(
    model: PretrainedModels, table_traits: dict[str, float], design: Design, expression: Expression
) -> str:
    """Return in what a table differs from simulated ones; empty if it is inside the domain."""
    distribution = model.trait_distributions[design.start]
    if distribution.is_out_of_domain(table_traits, design):
        name, is_higher = distribution.farthest_trait(table_traits, design)
        return OUT_OF_DOMAIN.format(describe_trait(name, is_higher=is_higher))
    measures = coexpression_measures(expression)
    is_excessive = load_coexpression().is_excessive(measures, design_for(expression, design))
    return TOO_COEXPRESSED if is_excessive else ""


def _unscored(genes: tuple[str, ...], evidence: EvidenceScores) -> Network:
    """Return a network without scores, with signs, stability and sources of evidence."""
    # The sign that the other signed sources must agree with (`combine.signs`).
    signed = evidence.signed.get(LAGGED, np.zeros(evidence.allowed.shape))
    pairs = Pairs(
        evidence.inputs,
        np.arange(len(genes)),
        np.zeros(evidence.allowed.shape),
        _where_allowed(evidence, np.sign(signed)).astype(np.int8),
        np.zeros(evidence.allowed.shape, np.bool_),
        stability=evidence.stability,
        evidence=evidence_codes(_by_source(evidence)),
    )
    return Network(genes, pairs)


def _by_source(evidence: EvidenceScores) -> list[Array]:
    """Return the scores of every pair by source, in the order of `SOURCES`; [input, gene] each.

    They are in units of the strongest of their source, and 0 where missing.
    """
    nothing, n = np.zeros(evidence.allowed.shape), evidence.allowed.shape[1]
    scaled = {
        name: scale_by_top_mean(np.nan_to_num(part), n) for name, part in evidence.scores.items()
    }
    of = [np.max([scaled.get(p, nothing) for p in group], axis=0) for group in SOURCES]
    return [_where_allowed(evidence, part) for part in of]


def _with_prior(
    network: Network, evidence: EvidenceScores, before: Array, after: Array, note: str
) -> Network:
    """Return the network after prior edges moved the scores from `before` to `after`."""
    by_source = _by_source(evidence)
    total = np.sum(by_source, axis=0)
    unit = before / np.where(total > 0, total, 1.0)
    codes = evidence_codes([*(unit * part for part in by_source), np.maximum(after - before, 0.0)])
    return network.replace(evidence=codes, notes=(*network.notes, note))


def _where_allowed(evidence: EvidenceScores, values: Array) -> Array:
    """Set values of pairs that may not be edges to 0; [input, gene]."""
    return np.where(evidence.allowed, values, 0.0)


def _with_probabilities(
    network: Network,
    evidence: EvidenceScores,
    logits: Array,
    prior: Prior | None,
    design: Design,
    model: PretrainedModels,
    expression: Expression,
    steady: SteadyStates | None,
) -> Network:
    """Return the network with probabilities as scores, and a verdict on more series."""
    p = _where_allowed(evidence, sigmoid(logits))
    if prior is not None:
        listed = prior.restrict_to(evidence.inputs, network.pairs.targets)
        found = add_prior_log_odds(_where_allowed(evidence, logits), listed, evidence.allowed)
        before, p = p, _where_allowed(evidence, sigmoid(found.logits))
        network = _with_prior(network, evidence, before, p, found.summary)
    more = None
    if 0 < design.n_series < SERIES[-1]:
        n_edges = verdict_of(p, p).n_edges
        wider = replace(design, n_series=design.n_series + N_MORE_SERIES)
        more = N_MORE_SERIES, max(model.edges_with(n_edges, design, wider), n_edges)
    regulators = (expression.genes[k] for k in evidence.inputs)
    counts = dict(zip(regulators, (p >= LIKELY).sum(axis=1).tolist(), strict=True))
    remedy, hub = remedy_of(counts, expression, steady), main_regulator(counts, steady)
    verdict = Verdict(more=more, remedy=remedy, hub=hub)
    return network.replace(scores=p, selected=p > 0, confidence=p, verdict=verdict)


def _with_ranking(
    network: Network, evidence: EvidenceScores, scores: Array, prior: Prior | None, verdict: Verdict
) -> Network:
    """Return the network with scores that only rank edges."""
    scores = _where_allowed(evidence, scores)
    if prior is not None:
        listed = prior.restrict_to(evidence.inputs, network.pairs.targets)
        before = scores
        scores, note = add_prior_edges(before, listed, evidence.allowed)
        network = _with_prior(network, evidence, before, scores, note)
    return network.replace(scores=scores, selected=scores > 0, verdict=verdict)
