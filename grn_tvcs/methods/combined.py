"""All kinds of evidence, combined as simulated networks taught, with a chance for every edge.

Lagged regression under caps with two memories, trees for levels and for rates, mutual information,
rank, partial and lagged correlation, knock-outs and knock-downs are put together by a combiner that
was learned on simulated networks from those without hubs to stars, with many designs. Networks that
are simulated with the user's own design say how far it can be trusted there: so an edge's score is
the chance that it is true.

Where a table looks like noise or a walk at random, chances are lowered by that. Where tables do not
look like anything that the simulator makes, or genes go together more closely than in what it
makes, nothing learned holds, and no chance is given. Where no gene was changed, the parts that the
samples allow are then added up, as in the method ensemble. Where all series go along one direction,
as after a common stimulus, the data cannot tell who causes it, and no chance is given either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.calibration import NETWORKS, Calibration, calibrated, is_kept
from grn_tvcs.combine.chances import chance
from grn_tvcs.combine.coexpression import coexpression, design_in, measures
from grn_tvcs.combine.direction import shared_direction
from grn_tvcs.combine.features import features_of
from grn_tvcs.combine.likeness import traits
from grn_tvcs.combine.nulls import effect_of_changes, held_down, unless_null
from grn_tvcs.combine.parts import (
    CLR,
    KNOCKDOWN_PART,
    KNOCKOUT,
    LAGGED,
    LEVELS,
    PARTIAL,
    RANKED_DOWN,
    RATES,
    SHORT,
    Parts,
    gather_parts,
)
from grn_tvcs.combine.universal import Universal, universal
from grn_tvcs.evidence.extra_trees import importances
from grn_tvcs.evidence.hubs import own_hubs
from grn_tvcs.evidence.lagged_regression import USUAL
from grn_tvcs.evidence.level_trees import level_trees
from grn_tvcs.evidence.prior_edges import lifted, with_prior
from grn_tvcs.evidence.samples import logs_of_all
from grn_tvcs.evidence.strongest import by_strongest
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.evidence import carried_by
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.prior import Prior
from grn_tvcs.network.rules import Rules
from grn_tvcs.network.verdict import Verdict, verdict_of
from grn_tvcs.simulation.designs import SERIES, Design, design_of, rounded
from tvcs_core.engines import Engine, Threads
from tvcs_core.streams import stream

TREES = 100  # where the parts are added up
MORE_SERIES = 2  # that the verdict asks about
# What carries an edge, in the order of `network.evidence.SOURCES`.
SOURCES = ((LAGGED, SHORT), (KNOCKOUT,), (KNOCKDOWN_PART,), (LEVELS, RATES), (CLR, PARTIAL))
NO_PAIR = "No chance is given: no two genes that vary may be an edge."
STRANGE = (
    "No chance is given that an edge is true: these data do not look like what the simulator "
    "makes, so what it teaches need not hold. "
)
CLOSE = (
    "No chance is given that an edge is true: these data do not look like what the simulator "
    "makes, for genes go together more closely, so what it teaches need not hold. "
)
ONE_DIRECTION = (
    "No chance is given that an edge is true: the series go along one direction, as after a common "
    "stimulus, and the data cannot tell which gene causes it. Series under other perturbations, or "
    "knock-outs, can. "
)
ADDED_UP = "Edges are ranked by the plain sum of {}trees for levels and partial correlation."
LEARNED = "Edges are ranked by what was learned all the same, for genes were knocked out or down."
NOTHING = (
    "this table looks like one that no network made, such as noise or walks at random "
    "(with a chance of {:.0%}), and chances of edges are lowered by that"
)
NOT_CALIBRATED = (
    "No chance is given that an edge is true: no networks of this design were simulated "
    "(--calibrate off); scores rank edges, no more."
)

# What the paragraph on methods says, with citations of `report.references`.
LAGGED_TEXT = (
    "lagged regression by matching pursuit under caps in random halves of the series (Nguyen et "
    "al., 2012; Yang et al., 2017), "
)
SUMMED = (
    "Ordered pairs were scored by the sum of {}the importance of the regulator in extremely "
    "randomised trees (Geurts et al., 2006) that predict the level of the target in the same "
    "sample as in GENIE3 (Huynh-Thu et al., 2010), and partial correlation with shrinkage (Schäfer "
    "and Strimmer, 2005), each divided by the mean of its strongest edges."
)
SERIES_TEXTS = (
    LAGGED_TEXT.removesuffix(", "),
    "trees that predict rates of change (Huynh-Thu and Geurts, 2018)",
    "lagged correlation (Schmitt et al., 2004)",
)
LEVEL_TEXTS = (
    "trees that predict levels (Huynh-Thu et al., 2010)", "CLR (Faith et al., 2007)",
    "rank correlation (Spearman, 1904)",
    "partial correlation with shrinkage (Schäfer and Strimmer, 2005)",
)  # fmt: skip
TAUGHT = (
    "Ordered pairs were scored by a combination of {}. The combination, by gradient boosted trees "
    "(Friedman, 2001) and small neural networks, had been learned from simulated networks with the "
    "kinetics of GeneNetWeaver (Schaffter et al., 2011)."
)
CALIBRATED = (
    "The score of an edge is the estimated probability that it is true, calibrated on networks "
    "simulated with a like design."
)

Array = NDArray[np.float64]
Progress = Callable[[int, int], None]


def combined(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    *,
    resamples: int = USUAL.resamples,
    calibrate: int = NETWORKS,
    draws: int = 0,
    steady: SteadyStates | None = None,
    prior: Prior | None = None,
    threads: int = 1,
    engine: Engine | None = None,
    progress: Progress | None = None,
    keep: Path | None = None,
) -> Network:
    """Score edges by the chance that they are true.

    The halves and trees are drawn once and for all: a seed changes nothing, `draws` does.

    Parameters
    ----------
    expression, rules
        As for every method.
    rng
        Not used.
    resamples
        Halves of the series for the lagged regression. Common designs come calibrated for the usual
        number alone.
    calibrate
        Networks to simulate with this design, unless that was done before; 0 for none.
    draws
        Number, >= 0, of the set of halves and trees. How far the network depends on it is what no
        seed shows here.
    steady
        Knock-outs, knock-downs and wild type.
    prior
        As in ``ensemble``.
    threads, engine, progress, keep
        As in `stability.gather`; networks are simulated side by side.
    """
    if resamples < 1 or min(calibrate, draws) < 0:
        raise ValueError(
            "resamples must be >= 1, calibrate and draws >= 0, found "
            f"{resamples}, {calibrate} and {draws}"
        )
    rng = stream(draws, "combined")
    model, n = universal(), len(expression.genes)
    if not rules.candidates(expression.genes, expression.constant_genes).allowed.any():
        nothing = Pairs.scored(np.empty(0, np.int64), np.zeros((0, n)))
        return Network(expression.genes, nothing, verdict=Verdict(why_not=NO_PAIR))
    look, design = _look_and_design(expression, rules, steady)
    known = _common(model, design, resamples)
    to_simulate = calibrate if known is None else 0
    first, second = _in_turn(progress, to_simulate)
    parts = gather_parts(
        expression, rules, rng, steady, resamples=resamples,
        threads=threads, engine=engine, progress=first, keep=keep,
    )  # fmt: skip
    if to_simulate:
        known = calibrated(
            model.combiner_for(design), model.stamp, design, calibrate, resamples=resamples,
            empty=model.empty(design), threads=threads, engine=engine, progress=second,
            keep=keep,
        )  # fmt: skip
    network = _unscored(expression.genes, parts)
    shared = shared_direction(expression)
    near = None if known is None else known.traits
    unlike = _unlike(model, look, design, near, expression)
    if not unlike and known is not None and shared > known.shared:
        unlike = "" if RANKED_DOWN in parts.scores else ONE_DIRECTION  # knock-outs can tell
    if unlike and RANKED_DOWN not in parts.scores:
        engine = Threads(threads) if engine is None else engine
        sums = _added_up(parts, expression, rules, rng, steady, engine, keep)
        said = ADDED_UP.format("lagged regression, " if LAGGED in parts.scores else "")
        return _ranked(network, parts, sums, prior, Verdict(why_not=unlike + said))
    logits = model.combiner_for(design).logits(features_of(parts), parts.inputs)
    if unlike or known is None:
        why_not = unlike + LEARNED if unlike else NOT_CALIBRATED
        return _ranked(network, parts, chance(logits), prior, Verdict(why_not=why_not))
    none = model.null_log_odds(look, design, effect_of_changes(steady, expression), shared)
    logits = held_down(unless_null(known.of(logits, n), none), known.limit)
    if none > 0:
        said = NOTHING.format(float(chance(np.array(none))))
        network = network.but(notes=(*network.notes, said))
    return _sure(network, parts, logits, prior, design, model)


def described(network: Network, expression: Expression, steady: SteadyStates | None) -> str:
    """Say how pairs were scored: by what was learned, as chances or not, or by a sum."""
    verdict, has_series = network.verdict, bool(expression.series)
    if verdict is not None and ADDED_UP.partition("{")[0] in verdict.why_not:
        return SUMMED.format(LAGGED_TEXT if has_series else "")
    parts = [*(SERIES_TEXTS if has_series else ()), *LEVEL_TEXTS]
    if steady is not None:
        parts.append("effects of knock-outs and knock-downs (Pinna et al., 2010)")
    text = TAUGHT.format(f"{', '.join(parts[:-1])} and {parts[-1]}")
    return text if network.pairs.confidence is None else f"{text} {CALIBRATED}"


def networks_to_simulate(
    expression: Expression,
    rules: Rules,
    steady: SteadyStates | None,
    calibrate: int = NETWORKS,
    resamples: int = USUAL.resamples,
) -> int:
    """How many networks `combined` will simulate: none where the design is known already."""
    model, (_, design) = universal(), _look_and_design(expression, rules, steady)
    is_known = _common(model, design, resamples) is not None
    is_known = is_known or is_kept(model.stamp, design, calibrate, resamples)
    return 0 if is_known else calibrate


def _common(model: Universal, design: Design, resamples: int) -> Calibration | None:
    """The calibration that comes with the package: of evidence of the usual halves, no other."""
    return model.common.get(design.key) if resamples == USUAL.resamples else None


def _look_and_design(
    expression: Expression, rules: Rules, steady: SteadyStates | None
) -> tuple[dict[str, float], Design]:
    """Traits of the table, and the design that it is taken for, rounded."""
    look = traits(expression, steady)
    return look, rounded(universal().with_start(design_of(expression, steady, rules), look))


def _unlike(
    model: Universal,
    look: dict[str, float],
    design: Design,
    near: Array | None,
    expression: Expression,
) -> str:
    """Why a table is none that the simulator makes; nothing where it may be one."""
    if model.likeness[design.start].is_strange(look, design, near):
        return STRANGE
    found = measures(expression)
    return CLOSE if coexpression().is_close(found, design_in(expression, design)) else ""


def _unscored(genes: tuple[str, ...], parts: Parts) -> Network:
    """A network without scores, with what the parts say of signs, stability and evidence."""
    # Of the parts that know a sign, the one that the others must agree with (`combine.signs`).
    signed = parts.signed.get(LAGGED, np.zeros(parts.allowed.shape))
    pairs = Pairs(
        parts.inputs,
        np.arange(len(genes)),
        np.zeros(parts.allowed.shape),
        _where_open(parts, np.sign(signed)).astype(np.int8),
        np.zeros(parts.allowed.shape, np.bool_),
        stability=parts.stability,
        evidence=carried_by(_by_source(parts)),
    )
    return Network(genes, pairs)


def _told(parts: Parts) -> dict[str, Array]:
    """Scores of the parts, each in the unit of its strongest; 0 where nothing is known."""
    n = parts.allowed.shape[1]
    return {name: by_strongest(np.nan_to_num(part), n) for name, part in parts.scores.items()}


def _by_source(parts: Parts) -> list[Array]:
    """What carries every pair, in the order of `SOURCES`; [input, gene] each."""
    told, nothing = _told(parts), np.zeros(parts.allowed.shape)
    of = [np.max([told.get(p, nothing) for p in group], axis=0) for group in SOURCES]
    return [_where_open(parts, part) for part in of]


def _with_prior(network: Network, parts: Parts, before: Array, after: Array, said: str) -> Network:
    """The network where prior edges moved the scores from `before` to `after`."""
    by_source = _by_source(parts)
    total = np.sum(by_source, axis=0)
    unit = before / np.where(total > 0, total, 1.0)
    evidence = carried_by([*(unit * part for part in by_source), np.maximum(after - before, 0.0)])
    return network.but(evidence=evidence, notes=(*network.notes, said))


def _where_open(parts: Parts, values: Array) -> Array:
    """Values of [input, gene], 0 where a pair may not be an edge."""
    return np.where(parts.allowed, values, 0.0)


def _sure(
    network: Network,
    parts: Parts,
    logits: Array,
    prior: Prior | None,
    design: Design,
    model: Universal,
) -> Network:
    """Scores are chances; the verdict says what more series would support."""
    p = _where_open(parts, chance(logits))
    if prior is not None:
        listed = prior.among(parts.inputs, network.pairs.targets)
        found = with_prior(_where_open(parts, logits), listed, parts.allowed)
        before, p = p, _where_open(parts, chance(found.logits))
        network = _with_prior(network, parts, before, p, found.said)
    more = None
    if 0 < design.n_series < SERIES[-1]:
        n_edges = verdict_of(p, p).n_edges
        wider = replace(design, n_series=design.n_series + MORE_SERIES)
        more = MORE_SERIES, max(model.edges_with(n_edges, design, wider), n_edges)
    return network.but(scores=p, selected=p > 0, confidence=p, verdict=Verdict(more=more))


def _ranked(
    network: Network, parts: Parts, scores: Array, prior: Prior | None, verdict: Verdict
) -> Network:
    """Scores that rank, and are no chances."""
    scores = _where_open(parts, scores)
    if prior is not None:
        listed = prior.among(parts.inputs, network.pairs.targets)
        before = scores
        scores, said = lifted(before, listed, parts.allowed)
        network = _with_prior(network, parts, before, scores, said)
    return network.but(scores=scores, selected=scores > 0, verdict=verdict)


def _added_up(
    parts: Parts,
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    steady: SteadyStates | None,
    engine: Engine,
    keep: Path | None,
) -> Array:
    """The sum of ``ensemble``, of the parts that the samples allow; [input, gene]."""
    n, genes = parts.allowed.shape[1], expression.genes
    forest = partial(importances, trees=TREES)
    candidates = rules.inputs(genes, expression.constant_genes)
    logs = logs_of_all(expression, steady)
    keep = None if keep is None else keep / "more trees"
    found = level_trees(logs, genes, candidates, rng, forest, engine=engine, keep=keep)
    scores = parts.scores | {LEVELS: found}
    added = [by_strongest(scores[part], n) for part in (LEVELS, PARTIAL)]
    if LAGGED in scores:
        hubs = own_hubs(scores[LAGGED])
        added = [hubs.beside * part for part in added]
        added.insert(0, by_strongest(hubs.own * scores[LAGGED], n))
    return np.sum(added, axis=0)


def _in_turn(progress: Progress | None, networks: int) -> tuple[Progress | None, Progress | None]:
    """The evidence and the networks of the design as one work; the first as one network."""
    if progress is None:
        return None, None
    tell, total = progress, 100 * (1 + networks)
    return (
        lambda done, of: tell(round(100 * done / max(of, 1)), total),
        lambda done, of: tell(100 * (1 + done), total),
    )
