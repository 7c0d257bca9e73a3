"""Plans of models and people: the tasks that models keep, the price, and the share of right labels.

A plan lets models keep the tasks whose confidence is above a threshold, and asks people about the
others: as many as the target confidence of a task needs, at least one. On gold it is known whether
a label that models keep is right, and how often so many of the people's own answers correct the
models, errors that people share among them. The share of right labels of all tasks follows by
prediction-powered inference (`crowd_tvcs.skills.voting.right_share`).

Gold confirms a plan if the lower end of its interval reaches the required share, and so do those of
all plans that leave more to people. In this order no plan is chosen for its luck (fixed-sequence
testing; Angelopoulos, Bates, Candes, Jordan and Lei, 2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.belief.intervals import prediction_interval
from crowd_tvcs.models.deferral import DeferredTasks
from crowd_tvcs.models.people import expected_with_people, people_needed, right_with_people
from crowd_tvcs.skills.voting.right_share import RightShare, right_share
from tvcs_core.files.display import plural

PLAN_COLUMNS = (
    "above", "by_models", "by_people", "people", "cost", "right", "low", "high", "confirmed",
)  # fmt: skip
STEPS = 20  # shares of tasks that models keep; any of 10 to 50 does


@dataclass(frozen=True)
class ModelPlan:
    """Tasks that models keep, and the share that people add.

    Attributes
    ----------
    above
        Models keep the tasks with a confidence above this one.
    by_models, by_people
        Number of tasks that models keep, and that people are asked about.
    people
        Number of people's labels.
    cost
        Cost of these labels; None if unknown.
    right
        Share of right labels of all tasks, with its interval.
    """

    above: float
    by_models: int
    by_people: int
    people: int
    cost: float | None
    right: RightShare

    def row(self, *, is_confirmed: bool | None) -> list[Any]:
        """Return the row of `PLAN_COLUMNS`; `is_confirmed` is None without a required share."""
        confirmed = "" if is_confirmed is None else ("yes" if is_confirmed else "no")
        counts = [self.above, self.by_models, self.by_people, self.people, self.cost]
        return [*counts, self.right.share, self.right.low, self.right.high, confirmed]

    def __str__(self) -> str:
        if not self.by_people:
            work = f"models keep all {self.by_models} tasks"
        elif not self.by_models:
            work = f"people are asked about all {self.by_people} tasks"
        else:
            work = (
                f"models keep the {self.by_models} tasks with a confidence above "
                f"{self.above:.3f}, people are asked about {self.by_people}"
            )
        price = "" if self.cost is None else f" for {self.cost:.6g}"
        return (
            f"{work} ({plural(self.people, 'label')}{price}), and {self.right.share:.3f} of "
            "the labels are "
            f"right (95 % interval {self.right.low:.3f} to {self.right.high:.3f})"
        )


def model_plans(handed: DeferredTasks, *, person_cost: float | None = None) -> list[ModelPlan]:
    """Price plans of the tasks that models answered, those that leave most to people first.

    If people's answers to gold are measured, gold tasks without any of these are left out, and no
    task gets more people than half of the gold tasks have. Else labels are as often right as the
    accuracy of people says.

    Parameters
    ----------
    handed
        The tasks, the target confidence of each, the largest number of people on it, and the
        answers of people to gold.
    person_cost
        Mean cost of a label of a person.

    Returns
    -------
    list of ModelPlan
        Empty without an accuracy of people, without `right_share`, or if no people are allowed.
    """
    if handed.accuracy is None or handed.right_share is None or not handed.most:
        return []
    gold, measured, delivered = handed.models.held_out_gold, handed.measured, handed.delivered
    answered = handed.models.answers.per_task[handed.tasks] > 0
    claim, most = handed.chances[answered], handed.most
    chosen = np.ones(gold.truth.size, dtype=bool)
    if measured is not None:
        chosen, most = measured.chosen, min(most, int(np.median(measured.size)))
    chances, truth, of_gold = gold.chances[chosen], gold.truth[chosen], gold.tasks[chosen]
    accuracy, target = handed.accuracy, handed.target
    of_open = accuracy[handed.tasks[answered]]
    counts, expected = _with_people(claim, of_open, target, most, delivered)
    gold_counts, gold_expected = _with_people(chances, accuracy[of_gold], target, most, delivered)
    if measured is None:
        right = right_with_people(chances, truth, accuracy[of_gold], gold_counts)
    else:
        right = measured.right(chances, gold_counts)
    claim, gold_claim = claim.max(axis=1), chances.max(axis=1)
    hit = chances.argmax(axis=1) == truth
    plans = []
    for above in _thresholds(claim):
        kept, gold_kept = claim > above, gold_claim > above
        share = right_share(
            hit if gold_kept.all() else np.where(gold_kept, hit, right),
            np.where(gold_kept, gold_claim, gold_expected),
            np.where(kept, claim, expected),
        )
        assert share is not None
        labels = int(counts[~kept].sum())
        cost = None if person_cost is None else round(labels * person_cost, 6)
        tasks = int(kept.sum()), int((~kept).sum())
        plans.append(ModelPlan(above, *tasks, labels, cost, share))
    return plans


def _with_people(
    chances: Floats, accuracy: Floats, target: float, most: int, delivered: float
) -> tuple[Integers, Floats]:
    """Return the people that each task gets, and the expected accuracy after them."""
    expected = expected_with_people(chances, accuracy, most, delivered)
    needed = people_needed(expected, target)
    people = np.maximum(np.where(needed < 0, most, needed), 1)
    return people, expected[np.arange(len(people)), people]


def _thresholds(claim: Floats) -> list[float]:
    """Return descending thresholds: 1, which leaves all to people, to 0, by which models keep all.

    They depend on the confidences alone, so gold may judge them.
    """
    inner = np.quantile(claim, np.arange(1, STEPS) / STEPS, method="lower")
    return [1.0, *np.unique(inner)[::-1].tolist(), 0.0]


def confirmed(plans: list[ModelPlan], share: float) -> int:
    """Return how many of the plans, from the first on, are confirmed by gold."""
    for count, plan in enumerate(plans):
        if plan.right.low < share:
            return count
    return len(plans)


def describe_plans(plans: list[ModelPlan], share: float, doubt: str = "") -> str:
    """Describe the cheapest confirmed plan, or the reason that gold confirms none.

    `doubt` is the reason that gold proves nothing whatever its figures; empty if it does.
    """
    count, wanted = confirmed(plans, share), f"a share of {share:g} right labels"
    if count:
        last = plans[count - 1]
        if not doubt:
            return f"{wanted} is confirmed by {plural(last.right.gold, 'gold task')}: {last}"
        return f"{wanted} is not proved, as {doubt}. If it is: {last}"
    first = plans[0]
    best = max(plans, key=lambda plan: plan.right.share)
    if best.right.share < share:
        return (
            f"{wanted} is above what any of these plans is expected to reach; raise --max-people "
            f"or --target, or lower --right-share. The best: {best}"
        )
    more = more_gold(plans, share)
    remedy = "choose a lower --right-share"
    if more is not None:
        remedy = f"about {more} more would do in two cases of five"
    return (
        f"{wanted} is not confirmed by {plural(first.right.gold, 'gold task')}; {remedy}. Now "
        f"{first}"
    )


def more_gold(plans: list[ModelPlan], share: float) -> int | None:
    """Return the further gold tasks that confirm a share if the estimates stay.

    Of the first plan, which leaves most to people and is tested first. The interval never gets
    narrower than that of the tasks themselves. None if there are not so many tasks.
    """
    right, tasks, times = plans[0].right, plans[0].by_models + plans[0].by_people, 1.05
    while right.gold * (times - 1.0) < tasks:
        if prediction_interval(right.share, right.worth * times, tasks)[0] >= share:
            return int(np.ceil(right.gold * (times - 1.0)))
        times *= 1.05
    return None
