"""Workers who arrive online: labels per task until 95 % of the votes are right; and optimism.

Workers come in random order and ask for one task each; a policy picks it. Skills are estimated
from 10 gold answers per worker. Votes are weighted by what is known of the skills, but for
``majority``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs import Plan, Quality, assign, expected_accuracy, simulate
from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.routing.routing import next_task
from crowd_tvcs.simulation import Crowd
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.posterior import posterior
from crowd_tvcs.skills.skill import Skill
from crowd_tvcs.skills.voting.unsupervised import expected_counts

FAMILIES = ("worker", "skilldiff")
TUNED, FRESH = range(10), range(100, 110)  # seeds of the simulations
WORKERS, TASKS, GOLD = 100, 1000, 10
GATE = 0.7
STEP, STEPS = 0.25, 80  # labels per task between two looks, and how many
EVERY = 0.25  # labels per task between two refreshes
ROUNDS = 3  # of expectation-maximisation, by a refresh
POLICIES = (
    "majority",
    "static",
    "static exact",
    "static gate",
    "static gate refresh",
    "static gate exact",
    "adaptive gate",
    "adaptive gate refresh",
    "adaptive gate exact",
)
PLANNED = ("worker", "skilldiff", "topic")
ESTIMATES = ("raw", "shrunk", "cautious")
GOLD_ANSWERS = (5, 10, 40)
BUDGET = 3  # labels per task of a plan
DRAWS = 20

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """Share of right labels after `STEP`, 2 `STEP`, ... labels per task, with spaces between."""

    family: str
    policy: str
    seed: int
    kept: int  # workers beyond the gate
    curve: str

    @property
    def key(self) -> tuple[str, str, int]:
        return self.family, self.policy, self.seed


@dataclass(frozen=True)
class Optimism:
    """A plan made with estimated qualities: what it claims, what it reaches, and what is lost.

    `claimed` is the expected accuracy that the plan states, `reached` the share of right labels
    over many draws of answers, `best` the same for a plan with the true qualities.
    """

    family: str
    gold: int
    estimate: str
    seed: int
    claimed: float
    reached: float
    best: float

    @property
    def key(self) -> tuple[str, int, str, int]:
        return self.family, self.gold, self.estimate, self.seed


def skill_of(crowd: Crowd) -> Skill:
    """What the gold answers of a simulated crowd tell."""
    rows = [
        (task, worker, str(crowd.gold_answers[i, j]))
        for j, task in enumerate(crowd.gold)
        for i, worker in enumerate(crowd.quality.workers)
    ]
    labels = dict(zip(crowd.gold, map(str, crowd.gold_labels), strict=True))
    gold = Gold(labels, ["0", "1"])
    return estimate_quality(Answers.of(rows, classes=["0", "1"]), gold, model="independent")


def curve(family: str, policy: str, seed: int) -> Curve:
    """Let workers arrive until `STEP` * `STEPS` labels per task are bought."""
    crowd = simulate(WORKERS, TASKS, family=family, n_gold=GOLD, rng=seed)
    rng = np.random.default_rng([seed, POLICIES.index(policy)])
    run = _Run(crowd, policy)
    found = []
    for _ in range(STEPS):
        for _ in range(round(STEP * TASKS)):
            run.arrive(rng)
        found.append(run.accuracy())
    text = " ".join(f"{value:.4f}" for value in found)
    return Curve(family, policy, seed, run.served.size, text)


class _Run:
    """The state of one campaign: who answered what, and the log-odds of label 1 of every task."""

    def __init__(self, crowd: Crowd, policy: str) -> None:
        self.crowd, self.policy = crowd, policy
        self.skill = skill_of(crowd)
        is_exact = "exact" in policy
        self.accuracies = crowd.quality.values.mean(axis=1) if is_exact else self.skill.mean
        self.done = np.zeros(crowd.answers.shape, dtype=bool)
        self.count = np.zeros(TASKS)
        self.bought = 0
        self.log_odds = np.zeros(TASKS)
        self.sign = 2.0 * crowd.answers - 1.0
        self.weigh()

    def weigh(self) -> None:
        """Take over what is known of the accuracies: weights, and who passes the gate."""
        sure = np.clip(self.accuracies, 1e-6, 1 - 1e-6)
        self.weights = np.log(sure) - np.log1p(-sure)
        if self.policy == "majority":
            self.weights = np.ones(WORKERS)
        gate = GATE if "gate" in self.policy else 0.0
        self.served = np.flatnonzero(self.accuracies >= gate)
        self.log_odds = (self.done * self.sign * self.weights[:, None]).sum(axis=0)

    def arrive(self, rng: np.random.Generator) -> None:
        """Serve the next worker for whom there is a task."""
        while True:
            i = int(self.served[rng.integers(self.served.size)])
            j = self.choose(i)
            if j is not None:
                break
        self.done[i, j] = True
        self.count[j] += 1
        self.bought += 1
        self.log_odds[j] += self.weights[i] * self.sign[i, j]
        if "refresh" in self.policy and self.bought % round(EVERY * TASKS) == 0:
            self.learn()

    def choose(self, worker: int) -> int | None:
        """Pick their task: the most uncertain one, or the one with the fewest answers."""
        if self.policy.startswith("adaptive"):
            scores = 0.5 / np.cosh(self.log_odds / 2.0)
        else:
            scores = 1.0 / (1.0 + self.count)
        return next_task(scores, ~self.done[worker])

    def learn(self) -> None:
        """Refresh the skills by the answers so far."""
        rows, columns = self.done.nonzero()
        quality = self.crowd.quality
        labels = self.crowd.answers[rows, columns]
        answers = Answers(quality.tasks, quality.workers, ("0", "1"), columns, rows, labels)
        skill = self.skill
        for _ in range(ROUNDS):
            chances = posterior(answers, skill)
            skill = replace(skill, learnt=expected_counts(answers, chances))
        self.accuracies = skill.mean
        self.weigh()

    def accuracy(self) -> float:
        """Share of right labels; one that ties counts half."""
        right = np.sign(self.log_odds) * (2 * self.crowd.labels - 1)
        return float(((1.0 + right) / 2.0).mean())


def optimism(family: str, gold: int, seed: int) -> list[Optimism]:
    """Plan with estimated and with true qualities, and draw answers."""
    crowd = simulate(WORKERS, TASKS, family=family, n_gold=gold, rng=seed)
    rng = np.random.default_rng([seed, gold])
    truth = crowd.quality.values
    skill = skill_of(crowd)
    raw = np.clip(skill.n_right / skill.n_gold, 0.01, 0.99)
    best = _reached(truth, _plan(truth).support, truth, rng)
    found = []
    estimates = (raw, skill.mean, skill.lower_confidence_bound())
    for name, accuracy in zip(ESTIMATES, estimates, strict=True):
        weight = skill.mean if name == "cautious" else accuracy
        planned = _plan(np.repeat(accuracy[:, None], TASKS, axis=1))
        chosen = planned.support
        known = np.repeat(weight[:, None], TASKS, axis=1)
        claimed = float(expected_accuracy(known, chosen).mean())
        reached = _reached(known, chosen, truth, rng)
        found.append(Optimism(family, gold, name, seed, claimed, reached, best))
    return found


def _plan(values: Floats) -> Assignment:
    workers, tasks = (
        [f"{k}{i:04d}" for i in range(n)] for k, n in zip("wt", values.shape, strict=True)
    )
    plan = Plan(
        Quality(values, workers, tasks),
        max_tasks_per_worker=2 * BUDGET * TASKS // WORKERS,
        budget=BUDGET * TASKS,
    )
    return assign(plan, "fast", rng=0)


def _reached(
    known: Floats, chosen: NDArray[np.bool_], truth: Floats, rng: np.random.Generator
) -> float:
    """Share of right labels over `DRAWS` draws of all answers, voted with what is known."""
    weights = np.where(chosen, np.log(known) - np.log1p(-known), 0.0)
    total = 0.0
    for _ in range(DRAWS):
        right = np.where(rng.random(truth.shape) < truth, 1.0, -1.0)
        total += float(((1.0 + np.sign((weights * right).sum(axis=0).round(9))) / 2.0).mean())
    return total / DRAWS
