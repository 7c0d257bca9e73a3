"""Replay: the accuracy of a policy, had it bought only some of the recorded answers.

Some tasks with known labels are gold: skills are estimated from all answers to them. The other
tasks with known labels are scored. A policy buys answers to these among the recorded pairs, and
sees a label only when it is bought.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, with_shared_classes
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.belief.constants import DEFAULT_MIN_GAIN
from crowd_tvcs.belief.gain import gain_per_label
from crowd_tvcs.belief.independent import priors
from crowd_tvcs.routing.outcomes import CONFIDENT, NO_LIMIT, Outcome
from crowd_tvcs.routing.routing import is_worth_buying, next_batch, routing_scores
from crowd_tvcs.skills.dependence_fit import fit_dependence
from crowd_tvcs.skills.estimate import MODELS, estimate_quality
from crowd_tvcs.skills.held_out import ranks
from crowd_tvcs.skills.posterior import posterior
from crowd_tvcs.skills.semi_supervised import compare_on_held_out_gold, refit_semi_supervised
from crowd_tvcs.skills.skill import Skill
from crowd_tvcs.skills.voting.unsupervised import (
    MAX_CONFIDENCE,
    has_agreement,
    unsupervised_posterior,
    vote_shares,
)
from tvcs_core.files.display import plural
from tvcs_core.streams import stream

GOLD_SHARE = 0.2  # of the tasks with known labels
BATCH = 0.1  # answers per task that an adaptive policy buys at once
TIE = 1e-12  # rounding of probabilities that tie


@dataclass(frozen=True, eq=False)
class Split:
    """Gold tasks to learn from and other tasks to score.

    Attributes
    ----------
    gold
        Labels of the gold tasks.
    skill
        Skill from the gold tasks, for labels of the best workers.
    answers
        All answers, including those to gold tasks.
    recorded
        Answers to the scored tasks.
    truth
        Class indices of the labels of the scored tasks.
    prior
        Probability of every class; None for the class prevalence of the gold.
    """

    gold: Gold
    skill: Skill
    answers: Answers
    recorded: Answers
    truth: Integers
    prior: Floats | None = None

    def skill_like(self, answers: Answers) -> Skill:
        """Return the skill fitted for workers chosen as those of these answers."""
        if self.skill.dependence is None:
            return self.skill
        return fit_dependence(self.answers, self.gold, self.skill, like=answers)

    def posterior(self, answers: Answers, skill: Skill | None = None) -> Floats:
        """Return the posteriors of the scored tasks, by the split's skill or another."""
        return posterior(answers, self.skill if skill is None else skill, self.prior)

    def score(self, chances: Floats) -> float:
        """Return the share of tasks whose most probable label is right; see `Outcome.accuracy`."""
        return float(self._credits(chances).mean())

    def evaluate(
        self, chances: Floats, answered: Bools | None = None
    ) -> tuple[float, float, float, float]:
        """Return the accuracy and the three figures of confidence of an `Outcome`.

        `answered` marks the tasks with an answer; None for all.
        """
        hit, claim = self._credits(chances), chances.max(axis=1)
        labelled = np.ones(hit.size, dtype=bool) if answered is None else answered
        sure = (claim >= CONFIDENT) & labelled
        of_sure = float(hit[sure].mean()) if sure.any() else math.nan
        claimed = float(claim[labelled].mean()) if labelled.any() else math.nan
        return float(hit.mean()), claimed, float(sure.mean()), of_sure

    def _credits(self, chances: Floats) -> Floats:
        """Return 1 for a right label, 0 for a wrong one, 1/n for one of n that tie."""
        best = chances >= chances.max(axis=1)[:, None] - TIE
        return best[np.arange(self.truth.size), self.truth] / best.sum(axis=1)


Score = Callable[[Split, Answers, Bools, Floats], Floats]


def replay(
    answers: Answers,
    truth: Gold,
    *,
    labels: Sequence[int] = (1, 2, 3),
    splits: int = 10,
    gold_share: float = GOLD_SHARE,
    per_class: bool = False,
    prior: ArrayLike | None = None,
    first_split: int = 0,
    seed: int = 0,
    model: str = MODELS[0],
) -> list[Outcome]:
    """Replay every policy on random splits of the tasks with known labels.

    Parameters
    ----------
    answers, truth
        The record; tasks without a known label are left out.
    labels
        Labels per task that a policy may buy, on average, each >= 1.
    splits, first_split
        Number of splits, and the number of the first.
    gold_share
        Share of the tasks with known labels that are gold, above 0 and below 1.
    per_class
        Weigh and route by confusion matrices instead of one accuracy per worker.
    prior
        Probability of every class, in the order of their names; None for the class prevalence of
        the gold of each split.
    seed
        Seed; split and draws depend on it and on the number of the split alone.
    model
        How worker errors depend on each other, see `estimate_quality`.

    Returns
    -------
    list of Outcome
        By split, policy and labels.

    Raises
    ------
    ValueError
        If an argument is out of its range, or too few tasks have answers and a known label.
    """
    if not labels or min(labels) < 1:
        raise ValueError(f"labels must be integers >= 1, found {list(labels)}")
    if splits < 1:
        raise ValueError(f"splits must be >= 1, found {splits}")
    if not 0.0 < gold_share < 1.0:
        raise ValueError(f"gold_share must be above 0 and below 1, found {gold_share}")
    found = []
    for number in range(first_split, first_split + splits):
        rng = stream(seed, "replay", str(number))
        split = draw_split(
            answers, truth, gold_share, per_class=per_class, prior=prior, rng=rng, model=model
        )
        for policy, vote, asked, seen, chances, refused in _outcomes(
            split, sorted(set(labels)), rng
        ):
            answered = seen.per_task > 0
            reached = split.evaluate(chances, answered)
            if vote == "majority" or (vote == "unsupervised" and not has_agreement(seen)):
                reached = (reached[0], math.nan, math.nan, math.nan)
            found.append(
                Outcome(
                    policy, vote, asked, number, seen.size / answered.size, *reached,
                    float(1.0 - answered.mean()), refused,
                )
            )  # fmt: skip
    return found


def draw_split(
    answers: Answers,
    truth: Gold,
    gold_share: float,
    *,
    per_class: bool,
    prior: ArrayLike | None = None,
    rng: np.random.Generator,
    model: str = MODELS[0],
) -> Split:
    """Draw gold tasks, estimate skills from them, and keep the other tasks to score."""
    answers = with_shared_classes(answers, truth)
    codes = truth.codes(answers.tasks, answers.classes)
    known = np.flatnonzero((codes != UNKNOWN) & (answers.per_task > 0))
    n_gold = round(gold_share * known.size)
    if not 0 < n_gold < known.size:
        raise ValueError(
            "replay needs gold tasks and tasks to score, but of "
            f"{plural(known.size, 'task')} with answers and a known label {n_gold} would be gold"
        )
    chosen = rng.permutation(known)
    gold_tasks = chosen[:n_gold]
    gold = Gold({answers.tasks[j]: answers.classes[codes[j]] for j in gold_tasks}, answers.classes)
    skill = estimate_quality(answers, gold, per_class=per_class, model=model)
    scored = np.sort(chosen[n_gold:])
    names = {answers.tasks[j] for j in scored}
    recorded = Answers.of(
        (row for row in answers.rows() if row[0] in names),
        tasks=[answers.tasks[j] for j in scored],
        workers=answers.workers,
        classes=answers.classes,
    )
    chances = None if prior is None else priors(prior, 1, len(answers.classes))[0]
    return Split(gold, skill, answers, recorded, codes[scored], chances)


def _outcomes(
    split: Split, labels: Sequence[int], rng: np.random.Generator
) -> Iterator[tuple[str, str, int, Answers, Floats, float]]:
    """Yield policy, vote, labels, bought answers, posteriors and `Outcome.refused`."""
    recorded = split.recorded
    everything = np.ones(recorded.size, dtype=bool)
    bought = [("all", NO_LIMIT, everything)]
    order = ranks(recorded.task_of, rng.random(recorded.size))
    bought += [("random", k, order < k) for k in labels]
    bought += [("balanced", k, _balanced(split, k)) for k in labels]
    bought += [("adaptive", k, chosen) for k, chosen in adaptive(split, labels)]
    bought += [("stopping", NO_LIMIT, _stopping(split))]
    for policy, k, chosen in bought:
        seen = recorded.select(chosen)
        skill = split.skill_like(seen) if policy in ("random", "all") else split.skill
        yield policy, "weighted", k, seen, split.posterior(seen, skill), math.nan
        if policy not in ("adaptive", "stopping"):
            yield policy, "majority", k, seen, vote_shares(seen), math.nan
            claimed = np.minimum(unsupervised_posterior(seen, prior=split.prior), MAX_CONFIDENCE)
            yield policy, "unsupervised", k, seen, claimed, math.nan
        if policy == "all":
            learnt = refit_semi_supervised(split.answers, split.gold, skill, split.prior)
            asked = compare_on_held_out_gold(
                split.answers, split.gold, per_class=skill.per_class, model=skill.model
            )
            refused = float(bool(asked.refusal))
            yield policy, "semi-supervised", k, seen, split.posterior(seen, learnt), refused


def _balanced(split: Split, labels: int) -> Bools:
    """Choose `labels` answers of every task, by the workers of the best lower bound."""
    recorded = split.recorded
    scores = np.repeat(split.skill.lower_confidence_bound()[:, None], len(recorded.tasks), axis=1)
    chosen = next_batch(scores, recorded.given, max_workers_per_task=labels)
    return chosen[recorded.worker_of, recorded.task_of]


def expected_drop(split: Split, bought: Answers, is_open: Bools, chances: Floats) -> Floats:
    """Return the expected drop of the uncertainty by every pair, see `routing_scores`."""
    skill = split.skill
    return routing_scores(
        chances, skill.matrices if skill.per_class else skill.lower_confidence_bound()
    )


def adaptive(
    split: Split, labels: Sequence[int], score: Score = expected_drop
) -> Iterator[tuple[int, Bools]]:
    """Buy the answers of the largest score, until `labels` per task are bought.

    For each number in turn, yield it with the answers bought by then. `score` takes the split, the
    answers bought before, a mask of the pairs that may be bought and the posteriors; it returns one
    score per pair.
    """
    recorded = split.recorded
    chosen = np.zeros(recorded.size, dtype=bool)
    for k in labels:
        while (left := k * len(recorded.tasks) - int(chosen.sum())) > 0:
            batch = _batch(split, chosen, left, score=score)
            if not batch.any():
                break
            chosen |= batch
        yield k, chosen.copy()


def _stopping(split: Split) -> Bools:
    """Buy until no label, looking some labels ahead, adds `DEFAULT_MIN_GAIN` right ones."""
    recorded = split.recorded
    chosen = np.zeros(recorded.size, dtype=bool)
    while True:
        batch = _batch(split, chosen, recorded.size, least=DEFAULT_MIN_GAIN)
        if not batch.any():
            return chosen
        chosen |= batch


def _batch(
    split: Split, chosen: Bools, left: int, least: float = 0.0, score: Score = expected_drop
) -> Bools:
    """Choose the pairs of the largest score, at most one per task.

    Only tasks take part to which the next labels of the best remaining worker add `least` or more.
    With dependent errors, every task has its first answer before any has its second.
    """
    recorded = split.recorded
    bought = recorded.select(chosen)
    is_open = recorded.given & ~bought.given
    if split.skill.dependence is not None:
        first = is_open & (bought.per_task == 0)
        is_open = first if first.any() else is_open
    chances = split.posterior(bought)
    if least > 0.0:
        is_open &= is_worth_buying(gains(split, bought, is_open, chances), least, value=1.0)
    scores = score(split, bought, is_open, chances)
    size = max(1, round(BATCH * len(recorded.tasks)))
    batch = next_batch(scores, is_open, max_workers_per_task=1, budget=min(size, left))
    return batch[recorded.worker_of, recorded.task_of]


def gains(split: Split, bought: Answers, is_open: Bools, chances: Floats) -> Floats:
    """Return the gain per label of the best remaining worker, see `gain_per_label`."""
    skill = split.skill
    best = np.where(is_open, skill.lower_confidence_bound()[:, None], 0.0).max(axis=0)
    alone = split.posterior(bought, replace(skill, dependence=None))
    model, n = skill.dependence, bought.per_task
    return gain_per_label(chances, best, dependence=model, answers=n, alone=alone)
