"""Vote with little gold: the weighted vote, blended with the agreement of the workers.

A few gold tasks tell less of the workers than their agreement on all tasks. With n gold tasks the
posterior is, up to a factor that makes it add up to 1,

    p = (g^(1 - w) u^w)^tau,    w = n0 / (n0 + n)

with g the posterior by gold (`vote.posterior`) and u that by agreement, gold included
(`unsupervised`). The temper tau is what agreement cannot know: how sure is too sure. It makes the
held-out gold likeliest, each task judged by other gold, with a log-normal prior around 1. Its
deviation is that of crowds without gold times w, so with much gold nothing is left of either.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, with_shared_classes
from crowd_tvcs.belief.constants import MIN_PROBABILITY
from crowd_tvcs.belief.dependent import dependent_posterior
from crowd_tvcs.belief.independent import priors, softmax
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.skills.dependence_fit import MIN_VARIANCE
from crowd_tvcs.skills.held_out import HeldOutAnswers, held_out
from crowd_tvcs.skills.skill import Skill
from crowd_tvcs.skills.vote import Votes, most_probable, posterior
from crowd_tvcs.skills.voting.right_share import RightShare, right_share
from crowd_tvcs.skills.voting.unsupervised import has_agreement, unsupervised_posterior

# n0, in gold tasks: 5 to 20 are within .003 of right labels and .01 of the gap on six public sets
# with 1 to 20 % gold (docs/studies/crowd-without-gold.md).
AGREEMENT_WORTH = 10.0
TEMPER_DEVIATION = 0.8  # of log tau without gold: .4 and .8 differ by .005 of the gap there
LEAST_WEIGHT = 0.01  # of agreement; with less it changes nothing that is printed
# Factor between the answers of gold tasks and others: with ten answers to gold tasks and three to
# others the share of right labels was outside its interval on a fifth of the splits.
MOST_UNLIKE = 1.25
TEMPERS = np.exp(np.linspace(-1.6, 1.0, 53))

Floats = NDArray[np.float64]


def agreement_weight(n_gold: int) -> float:
    """Return the weight w of the agreement of the workers beside so many gold tasks."""
    return AGREEMENT_WORTH / (AGREEMENT_WORTH + n_gold)


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
    hit: NDArray[np.bool_]

    def describe(self) -> str:
        """Describe the weights in words."""
        if not self.weight:
            return "the vote uses gold alone, not the agreement of the workers"
        return (
            f"with {self.hit.size} gold tasks the vote gives gold a weight of "
            f"{1.0 - self.weight:.2f} and the agreement of the workers {self.weight:.2f}; the "
            f"temperature fitted to held-out gold is {self.temper:.2f}"
        )


def vote_with_gold(
    answers: Answers, gold: Gold, skill: Skill, prior: ArrayLike | None = None
) -> tuple[Votes, Blend, RightShare | None]:
    """Vote by gold and by agreement, see `blend`, and estimate the share of right labels.

    The share is that of the tasks without gold, see `right_share`; it takes gold to be a random
    sample of the tasks. It is None where gold tasks have more or fewer answers than the others, by
    more than `MOST_UNLIKE`.
    """
    answers = with_shared_classes(answers, gold)
    found = blend(answers, gold, skill, prior)
    votes = most_probable(answers, found.chances, "weighted")
    is_open = (gold.codes(answers.tasks, answers.classes) == UNKNOWN) & votes.is_labelled
    is_gold = ~is_open & votes.is_labelled
    if not is_open.any() or not is_gold.any():
        return votes, found, None
    times = votes.answers[is_gold].mean() / votes.answers[is_open].mean()
    if not 1.0 / MOST_UNLIKE <= times <= MOST_UNLIKE:
        return votes, found, None
    return votes, found, right_share(found.hit, found.claim, votes.confidence[is_open])


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
        As for `crowd_tvcs.skills.vote.posterior`.

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
    seen = held_out(answers, gold, skill)
    held = _by_other_gold(answers, seen, skill, prior)
    known = gold.codes(answers.tasks, answers.classes)
    weight = agreement_weight(int(((known != UNKNOWN) & (answers.per_task > 0)).sum()))
    temper = 1.0
    if skill.dependence is None or not has_agreement(answers) or weight < LEAST_WEIGHT:
        weight = 0.0
    else:
        by_agreement = unsupervised_posterior(answers, known, prior)
        judged = _pooled(held, by_agreement[seen.task], weight)
        temper = _likeliest_temper(judged, seen.truth, TEMPER_DEVIATION * weight)
        held = softmax(temper * judged)
        by_gold = softmax(temper * _pooled(by_gold, by_agreement, weight))
    return Blend(by_gold, weight, temper, held.max(axis=1), held.argmax(axis=1) == seen.truth)


def _pooled(by_gold: Floats, by_agreement: Floats, weight: float) -> Floats:
    """Return the logarithms of the weighted geometric mean of two posteriors."""
    gold, agreement = (np.log(np.maximum(p, MIN_PROBABILITY)) for p in (by_gold, by_agreement))
    out: Floats = (1.0 - weight) * gold + weight * agreement
    return out


def _by_other_gold(
    answers: Answers, seen: HeldOutAnswers, skill: Skill, prior: ArrayLike | None
) -> Floats:
    """Return the posteriors of the gold tasks, each judged by other gold."""
    model = skill.dependence or Dependence()
    before, weight = seen.prior, model.shares
    if prior is not None:
        before, weight = priors(prior, len(answers.tasks), len(answers.classes))[seen.task], 1.0
    return dependent_posterior(model, seen.rows, seen.task_of, seen.truth.size, before, weight)


def _likeliest_temper(logs: Floats, truth: NDArray[np.int64], deviation: float) -> float:
    """Return the temper of largest posterior density, with a penalty on miscalibration.

    The penalty is the squared difference of mean confidence and accuracy in units of its variance,
    which is that of the gold tasks with one right and one wrong task added.
    """
    n, at = truth.size, np.arange(truth.size)
    hits = np.count_nonzero(logs.argmax(axis=1) == truth)
    accuracy, smooth = hits / n, (hits + 1.0) / (n + 2.0)
    unit = n / max(smooth * (1.0 - smooth), MIN_VARIANCE)
    density = []
    for temper in TEMPERS.tolist():
        chances = softmax(temper * logs)
        off = chances.max(axis=1).mean() - accuracy
        score = np.log(chances[at, truth]).sum() - (np.log(temper) / deviation) ** 2 / 2.0
        density.append(score - unit * off * off / 2.0)
    return float(TEMPERS[int(np.argmax(density))])
