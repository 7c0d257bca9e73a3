"""Votes on ordered scales, beside peers."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from benchmarks.answer_kinds.cases import Case
from benchmarks.answer_kinds.crowds import Floats, Integers, gold_of
from crowd_tvcs.answer_kinds.calibration import calibrated_posterior, fit_calibration
from crowd_tvcs.answer_kinds.ordinal import fit_ordinal
from crowd_tvcs.answer_kinds.propagation import Edges
from crowd_tvcs.answer_kinds.scale import vote_on_scale
from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.voting.crowd_kit import aggregate
from crowd_tvcs.skills.voting.little_gold import vote_with_gold

OURS, ORDINAL, NO_GOLD = "scale", "ordinal model alone", "scale, no gold"
UNORDERED, SHARES, MEDIAN = "unordered vote", "plurality", "median"
MEAN, DAWID_SKENE = "mean, rounded", "crowd-kit DawidSkene"
METHODS = (OURS, ORDINAL, NO_GOLD, UNORDERED, SHARES, MEDIAN, MEAN, "order test") + (
    (DAWID_SKENE,) if find_spec("crowdkit") else ()
)


def judge(
    answers: Answers, right: Integers, gold_share: float, rng: np.random.Generator
) -> dict[str, dict[str, float]]:
    """Return the figures of every method on the tasks that are no gold."""
    gold, rest = gold_of(answers, right, gold_share, rng)
    assert gold is not None
    votes = vote_on_scale(answers, gold, rng=np.random.default_rng(0))
    out = {OURS: posterior_figures(votes.posterior, right, rest)}
    known = gold.codes(answers.tasks, answers.classes)
    out[ORDINAL] = posterior_figures(_ordinal(answers, known), right, rest)
    alone = vote_on_scale(answers, rng=np.random.default_rng(0))
    out[NO_GOLD] = posterior_figures(alone.posterior, right, rest)
    out["order test"] = {
        "right": float(votes.order.verdict == "ordered"),
        "error": float(votes.order.verdict == "another order"),
    }
    out[UNORDERED] = _unordered(answers, gold, right, rest)
    counts = np.zeros((right.size, len(answers.classes)))
    np.add.at(counts, (answers.task_of, answers.label_of), 1)
    for name, step in _simple(counts).items():
        share = counts[np.arange(right.size), step] / np.maximum(counts.sum(axis=1), 1)
        out[name] = step_figures(step, share, right, rest)
    if DAWID_SKENE in METHODS:
        chances = aggregate("DawidSkene", answers)
        step = chances.argmax(axis=1)
        out[DAWID_SKENE] = step_figures(step, chances.max(axis=1), right, rest)
    return out


def _ordinal(answers: Answers, known: Integers) -> Floats:
    edges = Edges(answers.task_of, answers.worker_of, answers.label_of)
    fit = fit_ordinal(edges, known, len(answers.classes), len(answers.workers))
    return calibrated_posterior(fit.evidence, fit_calibration(fit.evidence, known))


def _unordered(
    answers: Answers, gold: Gold, right: Integers, rest: NDArray[np.bool_]
) -> dict[str, float]:
    skill = estimate_quality(answers, gold, like=answers)
    votes, _, _ = vote_with_gold(answers, gold, skill, None)
    return step_figures(votes.label_of, votes.confidence, right, rest)


def _simple(counts: Floats) -> dict[str, Integers]:
    """Return the step by plurality, median and mean; ties go to a side drawn by lot."""
    rng = np.random.default_rng(0)
    n, steps = counts.sum(axis=1, keepdims=True), np.arange(counts.shape[1])
    lot = rng.choice([-1e-6, 1e-6], size=n.shape)
    median = (counts.cumsum(axis=1) / n >= 0.5 + lot).argmax(axis=1)
    mean = np.floor(counts @ steps / n[:, 0] + 0.5).astype(np.int64)
    return {
        SHARES: (counts + 1e-6 * rng.random(counts.shape)).argmax(axis=1),
        MEDIAN: median,
        MEAN: mean,
    }


def posterior_figures(
    posterior: Floats, right: Integers, rest: NDArray[np.bool_]
) -> dict[str, float]:
    """Return what the median of a posterior reaches and claims."""
    p, y = posterior[rest], right[rest]
    step = (p.cumsum(axis=1) >= 0.5 - 1e-9).argmax(axis=1)
    apart = np.abs(np.arange(p.shape[1]) - step[:, None])
    out = step_figures(step, p[np.arange(y.size), step], y, np.ones(y.size, dtype=bool))
    return out | {
        "claimed_error": float((p * apart).sum(axis=1).mean()),
        "claimed_near": float((p * (apart <= 1)).sum(axis=1).mean()),
    }


def step_figures(
    step: Integers, claimed: Floats, right: Integers, rest: NDArray[np.bool_]
) -> dict[str, float]:
    """Return what given steps reach, and what is claimed of them."""
    error = np.abs(step - right)[rest]
    return {
        "right": float((error == 0).mean()),
        "claimed": float(claimed[rest].mean()),
        "error": float(error.mean()),
        "near": float((error <= 1).mean()),
    }


def cases(
    part: str, crowd: str, size: str, seed: int, found: dict[str, dict[str, float]]
) -> list[Case]:
    """Return the cases of one crowd."""
    return [Case(part, crowd, size, seed, method, **of) for method, of in found.items()]
