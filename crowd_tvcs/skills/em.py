"""Refresh: learn skills from answers to tasks whose label nobody knows (EM).

The posterior of every task says how likely each of its answers is right. Counted so, the answers
to all tasks are added to those to gold tasks, the skills are estimated anew, and again (Dawid and
Skene, 1979, with gold tasks known and the crowd's prior kept). This rests on the model: workers who
err together are taken to be right, and then a refresh makes the labels worse. So it is never done
unasked, and `helps` tells what held-out gold says. With ``"auto"`` that decides: one round, and
only if held-out gold is more probable by it, beyond its standard error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, together
from crowd_tvcs.skills.crowd_kit import dawid_skene
from crowd_tvcs.skills.estimate import MODELS, estimate_quality
from crowd_tvcs.skills.skill import Skill
from crowd_tvcs.skills.vote import SUREST, posterior
from tvcs_core.streams import stream

METHODS = ("auto", "em", "DawidSkene")
ROUNDS = 50
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Comparison:
    """How many of `gold` held-out gold tasks a vote gets right, without and with a refresh.

    `gain` is the mean of what the refresh adds to the logarithm of the probability of a true label,
    `error` the standard error of that.
    """

    gold: int
    without: int
    refreshed: int
    gain: float = 0.0
    error: float = 0.0

    @property
    def is_worth_it(self) -> bool:
        """Whether held-out gold is more probable with the refresh, beyond the standard error."""
        return self.gain > self.error

    @property
    def refusal(self) -> str:
        """Why held-out gold is against the refresh; empty where it is not.

        Fewer labels are right by it, or those known are less probable, beyond the standard error;
        or there is too little gold to say.
        """
        if self.gold == 0:
            return "there is too little gold to say whether that helps"
        if self.refreshed >= self.without and self.gain >= -self.error:
            return ""
        return (
            f"of {self.gold} held-out gold tasks the vote gets {self.without} right without and "
            f"{self.refreshed} with it, a share of {self.without / self.gold:.3f} against "
            f"{self.refreshed / self.gold:.3f}, and their labels are more probable by a factor of "
            f"{math.exp(self.gain):.3f} (log {self.gain:+.4f}, standard error {self.error:.4f})"
        )


def refresh(
    answers: Answers,
    gold: Gold,
    skill: Skill,
    *,
    method: str = "em",
    prior: ArrayLike | None = None,
    rounds: int = ROUNDS,
) -> Skill:
    """Add what answers to tasks without gold tell about the skills.

    Parameters
    ----------
    answers
        All answers, of the same workers as `skill`.
    gold
        Labels of the gold tasks; their answers count as in `skill`.
    skill
        What gold tasks tell, see `estimate_quality`.
    method
        ``"auto"``: one round of ``"em"``, if `helps` says that it is worth it, else nothing.
        ``"em"``: from `skill` on, with the model of `posterior`. ``"DawidSkene"``: the posteriors
        of crowd-kit's EM, with gold tasks given, counted once.
    prior
        As for `posterior`; for ``"em"`` only.
    rounds
        Most rounds of ``"em"``; it ends earlier when no accuracy changes by `TOLERANCE`.
    """
    if method not in METHODS:
        raise ValueError(f"refresh must be one of {', '.join(METHODS)}, found {method!r}")
    answers = together(answers, gold)
    known = gold.codes(answers.tasks, answers.classes)
    open_answers = answers.select(known[answers.task_of] == UNKNOWN)
    if method == "DawidSkene":
        return replace(skill, learnt=_expected(open_answers, dawid_skene(answers, known)))
    if method == "auto":
        found = helps(answers, gold, per_class=skill.per_class, model=skill.model, rounds=1)
        rounds = min(rounds, 1) if found.is_worth_it else 0
    for _ in range(rounds):
        before = skill.mean
        chances = posterior(open_answers, skill, prior)
        skill = replace(skill, learnt=_expected(open_answers, chances))
        if np.abs(skill.mean - before).max() < TOLERANCE:
            break
    return skill


def helps(
    answers: Answers,
    gold: Gold,
    *,
    method: str = "em",
    per_class: bool = False,
    model: str = MODELS[0],
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Comparison:
    """Report what held-out gold says of a refresh.

    Gold is cut in two; the tasks of one half are voted with skills of the other half, with and
    without the answers to all tasks that are not in the other half. With fewer than two gold
    tasks answered nothing is held out.
    """
    answers = together(answers, gold)
    tasks = sorted(set(gold.labels) & set(answers.tasks))
    if len(tasks) < 2:
        return Comparison(0, 0, 0)
    order = stream(seed, "held-out gold").permutation(len(tasks))
    right, gains = np.zeros(2, dtype=np.int64), []
    for half in (order[::2], order[1::2]):
        held = {tasks[k] for k in half}
        rest = Gold({t: k for t, k in gold.labels.items() if t not in held}, answers.classes)
        skill = estimate_quality(answers, rest, per_class=per_class, model=model, like=answers)
        truth = gold.codes(answers.tasks, answers.classes)
        at = np.array([j for j, task in enumerate(answers.tasks) if task in held], dtype=np.intp)
        logs = []
        refreshed = refresh(answers, rest, skill, method=method, rounds=rounds)
        for place, which in enumerate((skill, refreshed)):
            chances = posterior(answers, which)[at]
            right[place] += int((chances.argmax(axis=1) == truth[at]).sum())
            logs.append(np.log(np.maximum(chances[np.arange(at.size), truth[at]], SUREST)))
        gains.append(logs[1] - logs[0])
    gain = np.concatenate(gains)
    error = float(gain.std() / np.sqrt(gain.size))
    return Comparison(len(tasks), int(right[0]), int(right[1]), float(gain.mean()), error)


def _expected(answers: Answers, chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected counts of (worker, label, answer), given the chance of every label of a task."""
    k = len(answers.classes)
    out = np.zeros((len(answers.workers), k, k))
    for label in range(k):
        weight = chances[answers.task_of, label]
        np.add.at(out[:, label, :], (answers.worker_of, answers.label_of), weight)
    return out
