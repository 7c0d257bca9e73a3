"""Semi-supervised refit: re-estimate skills from answers to tasks without a known label.

The vote with gold (`voting.little_gold.blend`) gives the probability that each of these answers is
right. These expected counts are added to those of gold tasks, and the skills are estimated again
(self-training with soft labels). It relies on the vote: workers who err together are taken to be
right, and a refit then makes the labels worse. So it is never done unasked, and
`compare_on_held_out_gold` reports its effect on held-out gold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, with_shared_classes
from crowd_tvcs.belief.constants import MIN_PROBABILITY
from crowd_tvcs.skills.estimate import MODELS, estimate_quality
from crowd_tvcs.skills.posterior import posterior
from crowd_tvcs.skills.skill import Skill
from crowd_tvcs.skills.voting.little_gold import blend
from crowd_tvcs.skills.voting.unsupervised import expected_counts
from tvcs_core.streams import stream


@dataclass(frozen=True)
class RefitComparison:
    """Right votes on `gold` held-out gold tasks, without a refit and with it.

    `gain` is the mean increase of the log probability of a true label, `error` its standard error.
    """

    gold: int
    without: int
    refreshed: int
    gain: float = 0.0
    error: float = 0.0

    @property
    def refusal(self) -> str:
        """The reason against the refit by held-out gold; empty if there is none.

        Either fewer labels are right with it, or the known ones are less probable beyond the
        standard error, or there is too little gold to decide.
        """
        if self.gold == 0:
            return "there is too little gold to say whether that helps"
        if self.refreshed >= self.without and self.gain >= -self.error:
            return ""
        return (
            f"of {self.gold} held-out gold tasks the vote gets {self.without} right without and "
            f"{self.refreshed} with it, a share of {self.without / self.gold:.3f} against "
            f"{self.refreshed / self.gold:.3f}, and it multiplies the probability of their labels "
            f"by {math.exp(self.gain):.3f} (log {self.gain:+.4f}, standard error {self.error:.4f})"
        )


def refit_semi_supervised(
    answers: Answers, gold: Gold, skill: Skill, prior: ArrayLike | None = None
) -> Skill:
    """Add the expected counts of answers to tasks without gold to a skill.

    Parameters
    ----------
    answers
        Answers to gold tasks and to others, of the same workers as `skill`.
    gold
        Labels of the gold tasks; their answers count as in `skill`.
    skill
        Skill from gold tasks, see `estimate_quality`.
    prior
        As for `posterior`.
    """
    answers = with_shared_classes(answers, gold)
    is_open = gold.codes(answers.tasks, answers.classes) == UNKNOWN
    chances = blend(answers, gold, skill, prior).chances
    learnt = expected_counts(answers.select(is_open[answers.task_of]), chances)
    return replace(skill, learnt=learnt)


def compare_on_held_out_gold(
    answers: Answers, gold: Gold, *, per_class: bool = False, model: str = MODELS[0]
) -> RefitComparison:
    """Compare votes on held-out gold with and without a refit.

    Gold is split in two halves. The tasks of one half are voted with skills from the other half,
    with and without the answers to all tasks outside the other half. With fewer than two answered
    gold tasks nothing is held out.
    """
    answers = with_shared_classes(answers, gold)
    tasks = sorted(set(gold.labels) & set(answers.tasks))
    if len(tasks) < 2:
        return RefitComparison(0, 0, 0)
    order = stream(0, "held-out gold").permutation(len(tasks))
    right, gains = np.zeros(2, dtype=np.int64), []
    for half in (order[::2], order[1::2]):
        held = {tasks[k] for k in half}
        rest = Gold({t: k for t, k in gold.labels.items() if t not in held}, answers.classes)
        skill = estimate_quality(answers, rest, per_class=per_class, model=model, like=answers)
        truth = gold.codes(answers.tasks, answers.classes)
        at = np.array([j for j, task in enumerate(answers.tasks) if task in held], dtype=np.intp)
        logs = []
        refreshed = refit_semi_supervised(answers, rest, skill)
        for place, which in enumerate((skill, refreshed)):
            chances = posterior(answers, which)[at]
            right[place] += int((chances.argmax(axis=1) == truth[at]).sum())
            logs.append(np.log(np.maximum(chances[np.arange(at.size), truth[at]], MIN_PROBABILITY)))
        gains.append(logs[1] - logs[0])
    gain = np.concatenate(gains)
    error = float(gain.std() / np.sqrt(gain.size))
    return RefitComparison(len(tasks), int(right[0]), int(right[1]), float(gain.mean()), error)
