"""Vote with little gold: the weighted vote, blended with the agreement of the workers.

A few gold tasks are less informative on the workers than their agreement on all tasks. With n gold
tasks the posterior is, up to a factor that makes it add up to 1,

    p = (g^(1 - w) u^w)^tau,    w = a / (a + max(0, n - b))

with g the posterior by gold (`vote.posterior`) and u that by agreement, gold included
(`unsupervised`): up to b gold tasks find labels as part of u alone. They are left out of u if
agreement without gold labels as much held-out gold right, and more than chance would. Agreement
cannot know how sure is too sure, so gold sets the temper tau, such that held-out gold is likeliest,
with a log-normal prior around 1. Each gold task is judged by other gold, in g and in u, and by as
many of its answers as other tasks have: those are drawn some times.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, with_shared_classes
from crowd_tvcs.arrays import Bools, Floats, Integers, softmax
from crowd_tvcs.belief.constants import MIN_PROBABILITY
from crowd_tvcs.belief.dependent import dependent_posterior
from crowd_tvcs.belief.independent import priors
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.skills.dependence_loss import MIN_VARIANCE
from crowd_tvcs.skills.held_out import HeldOutAnswers, held_out, orders
from crowd_tvcs.skills.posterior import posterior
from crowd_tvcs.skills.skill import Skill
from crowd_tvcs.skills.voting.random_gold import sample_doubt
from crowd_tvcs.skills.voting.right_share import RightShare, right_share
from crowd_tvcs.skills.voting.unsupervised import (
    AgreementHeldOut,
    agreement_held_out,
    has_agreement,
    unsupervised_posterior,
    vote_shares,
)
from crowd_tvcs.skills.voting.votes import Votes, most_probable
from tvcs_core.files.display import plural
from tvcs_core.streams import stream

# a and b, in gold tasks: of 20 to 120 and 0 to 30 those that are never behind no gold by more than
# a standard error on six public sets with all answers and 1 % gold, and best with 2 % among these
# (docs/decisions, 303).
AGREEMENT_WORTH = 40.0
LEAST_GOLD = 15
# Of log tau; with .3 confidences on six public sets are further off, with .7 the log score is worse
# (docs/decisions, 368).
TEMPER_DEVIATION = 0.5
# Draws of the answers to gold tasks, more for few tasks. With 20 draws for 20 tasks, other names of
# the tasks changed the mean confidence by up to .04, with 200 by .01.
FEWEST_DRAWS, MOST_DRAWS = 20, 200
DRAWN = 4_000  # gold tasks of all draws
LEAST_WEIGHT = 0.01  # of agreement; with less it changes nothing that is printed
# Factor between the answers of gold tasks and others: with ten answers to gold tasks and three to
# others the share of right labels was outside its interval on a fifth of the splits.
MOST_UNLIKE = 1.25
DEVIATIONS = np.linspace(-4.0, 4.0, 49)  # of log tau that are tried


def agreement_weight(n_gold: int) -> float:
    """Return the weight w of the agreement of the workers beside so many gold tasks."""
    return AGREEMENT_WORTH / (AGREEMENT_WORTH + max(0, n_gold - LEAST_GOLD))


class Blend(NamedTuple):
    """Tasks judged by gold and by agreement.

    Attributes
    ----------
    chances
        Posterior of every label of every task.
    weight, temper
        Weight of the agreement, and tau; 0 and 1 where nothing was blended.
    claim, hit
        Confidence of the label of every gold task, judged by other gold, and whether it is right.
    """

    chances: Floats
    weight: float
    temper: float
    claim: Floats
    hit: Bools

    def describe(self) -> str:
        """Describe the weights in words."""
        if not self.weight:
            return "the vote uses gold alone, not the agreement of the workers"
        return (
            f"with {plural(self.hit.size, 'gold task')} the vote gives gold a weight of "
            f"{1.0 - self.weight:.2f} and the agreement of the workers {self.weight:.2f}; the "
            f"temperature is {self.temper:.2f}"
        )


def vote_with_gold(
    answers: Answers, gold: Gold, skill: Skill, prior: ArrayLike | None = None
) -> tuple[Votes, Blend, RightShare | None]:
    """Vote by gold and by agreement, see `blend`, and estimate the share of right labels.

    The share is that of the tasks without gold, see `right_share`; it takes gold to be a random
    sample of the tasks. It is None where gold has one class; where gold tasks have more or fewer
    answers than the others, by more than `MOST_UNLIKE`, or other answers (`sample_doubt`); and
    where the answers to all tasks tie, as gold without a fold is then against the classes that the
    fold has more of.
    """
    answers = with_shared_classes(answers, gold)
    found = blend(answers, gold, skill, prior)
    votes = most_probable(answers, found.chances, "weighted")
    known = gold.codes(answers.tasks, answers.classes)
    is_open = (known == UNKNOWN) & votes.is_labelled
    has_one_class = len(set(gold.labels.values())) == 1
    if has_one_class or not is_like_others(answers, known) or sample_doubt(answers, known):
        return votes, found, None
    leading = np.sort(vote_shares(answers)[is_open])[:, -2:]
    if (leading[:, 0] == leading[:, 1]).all():
        return votes, found, None
    return votes, found, right_share(found.hit, found.claim, votes.confidence[is_open])


def is_like_others(answers: Answers, known: Integers) -> bool:
    """Whether answered gold tasks have about as many answers as the other answered tasks."""
    n, is_gold = answers.per_task, known != UNKNOWN
    of_gold, of_others = n[is_gold & (n > 0)], n[~is_gold & (n > 0)]
    if not of_gold.size or not of_others.size:
        return False
    return bool(1.0 / MOST_UNLIKE <= of_gold.mean() / of_others.mean() <= MOST_UNLIKE)


def blend(answers: Answers, gold: Gold, skill: Skill, prior: ArrayLike | None = None) -> Blend:
    """Judge every task by gold and by agreement.

    Parameters
    ----------
    answers
        Answers to gold tasks and to others.
    gold
        Labels of the gold tasks.
    skill
        Skill that was estimated from these, see `crowd_tvcs.skills.estimate`.
    prior
        As for `crowd_tvcs.skills.posterior.posterior`.

    Returns
    -------
    Blend
        The posterior by gold alone where workers are taken to err independently, no task has two
        answers, or gold is plenty.
    """
    answers = with_shared_classes(answers, gold)
    by_gold = posterior(answers, skill, prior)
    if not skill.n_gold.any():
        return Blend(by_gold, 0.0, 1.0, np.empty(0), np.empty(0, dtype=bool))
    seen, known = held_out(answers, gold, skill), gold.codes(answers.tasks, answers.classes)
    everything = np.arange(seen.answer.size)
    held, temper = _by_other_gold(answers, seen, everything, skill, prior), 1.0
    weight = agreement_weight(int(((known != UNKNOWN) & (answers.per_task > 0)).sum()))
    if skill.dependence is None or not has_agreement(answers) or weight < LEAST_WEIGHT:
        weight = 0.0
    else:
        cuts = _cuts(answers, known, seen, skill.dependence.choice)
        agreement, known = _agreement(answers, known, seen, cuts if weight == 1.0 else [], prior)
        whole, *cut = (
            _pooled(
                _by_other_gold(answers, seen, part, skill, prior), agreement.judge(part), weight
            )
            for part in (everything, *cuts)
        )
        temper = _likeliest_temper(np.concatenate(cut), seen.truth)
        by_agreement = unsupervised_posterior(answers, known, prior)
        by_gold = softmax(temper * _pooled(by_gold, by_agreement, weight))
        held = softmax(temper * whole)
    return Blend(by_gold, weight, temper, held.max(axis=1), held.argmax(axis=1) == seen.truth)


def _agreement(
    answers: Answers,
    known: Integers,
    seen: HeldOutAnswers,
    cuts: list[Integers],
    prior: ArrayLike | None,
) -> tuple[AgreementHeldOut, Integers]:
    """Return the agreement on held-out gold, and the gold that it has: none if that is as right.

    It is never without gold if there are no `cuts` to count on which is right more often.
    """
    with_gold = agreement_held_out(answers, known, seen, prior)
    if not cuts:
        return with_gold, known
    unknown, one_fold = np.full_like(known, UNKNOWN), np.zeros_like(seen.fold)
    alone = agreement_held_out(answers, unknown, replace(seen, fold=one_fold), prior)
    right, right_alone = (
        sum(int((one.judge(cut).argmax(axis=1) == seen.truth).sum()) for cut in cuts)
        for one in (with_gold, alone)
    )
    by_chance = len(cuts) * seen.truth.size / len(answers.classes)
    if right_alone > by_chance and right_alone >= right:
        return alone, unknown
    return with_gold, known


def _pooled(by_gold: Floats, by_agreement: Floats, weight: float) -> Floats:
    """Return the logarithms of the weighted geometric mean of two posteriors."""
    gold, agreement = (np.log(np.maximum(p, MIN_PROBABILITY)) for p in (by_gold, by_agreement))
    return (1.0 - weight) * gold + weight * agreement


def _by_other_gold(
    answers: Answers, seen: HeldOutAnswers, part: Integers, skill: Skill, prior: ArrayLike | None
) -> Floats:
    """Return the posteriors of the gold tasks by some of their answers and by other gold."""
    model = skill.dependence or Dependence()
    before, weight = seen.prior, model.shares
    if prior is not None:
        before, weight = priors(prior, len(answers.tasks), len(answers.classes))[seen.task], 1.0
    rows, task_of = seen.rows.take(part), seen.task_of[part]
    return dependent_posterior(model, rows, task_of, seen.truth.size, before, weight)


def _cuts(answers: Answers, known: Integers, seen: HeldOutAnswers, choice: float) -> list[Integers]:
    """Draw as many answers to each gold task as another task has, in `orders` of this `choice`."""
    n = answers.per_task
    of_others = n[(known == UNKNOWN) & (n > 0)]
    if n[seen.task].max() <= of_others.min(initial=n.max()):  # each draw would take all
        return [np.arange(seen.answer.size)]
    rng = stream(0, "answers to gold tasks")
    draws = min(MOST_DRAWS, max(FEWEST_DRAWS, DRAWN // seen.truth.size))
    return [
        np.flatnonzero(rank < rng.choice(of_others, seen.truth.size)[seen.task_of])
        for rank in orders(seen.task_of, seen.lower_bound, choice, draws)
    ]


def _likeliest_temper(logs: Floats, truth: Integers) -> float:
    """Return the temper of largest posterior density, with a penalty on miscalibration.

    `logs` has a row for every gold task in every draw, which counts as a share of a task. The
    penalty is the squared difference of mean confidence and accuracy in units of its variance,
    which is that of the gold tasks with one right and one wrong task added.
    """
    n, draws = truth.size, logs.shape[0] // truth.size
    truth, at = np.tile(truth, draws), np.arange(logs.shape[0])
    accuracy = float((logs.argmax(axis=1) == truth).mean())
    smooth = (accuracy * n + 1.0) / (n + 2.0)
    unit = n / max(smooth * (1.0 - smooth), MIN_VARIANCE)
    density = []
    for away in DEVIATIONS.tolist():
        chances = softmax(np.exp(TEMPER_DEVIATION * away) * logs)
        off = chances.max(axis=1).mean() - accuracy
        score = np.log(np.maximum(chances[at, truth], MIN_PROBABILITY)).sum() / draws
        density.append(score - away**2 / 2.0 - unit * off * off / 2.0)
    return float(np.exp(TEMPER_DEVIATION * DEVIATIONS[int(np.argmax(density))]))
