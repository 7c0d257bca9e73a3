"""What people add to models, measured by their own answers to gold.

People err on the tasks on which models err, and with each other. So on public crowds three people
whose errors were taken as independent were expected to make .92 of the labels right that .78 of
them were. The share of the expected gain that their own answers deliver on gold corrects that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.belief.constants import MIN_PROBABILITY
from crowd_tvcs.models.fit import Models
from crowd_tvcs.models.people import People, expected_with_people
from crowd_tvcs.skills.dependence_loss import MIN_VARIANCE
from crowd_tvcs.skills.voting.right_share import MIN_GOLD

MIN_ACCURACY = 0.01  # of people, rounded to hundredths
# Mean and deviation of the share of six public crowds and two kinds of simulated ones, .03 to .86.
USUAL_SHARE = 0.55, 0.35


@dataclass(frozen=True, eq=False)
class MeasuredPeople:
    """Gold tasks of the models that people answered, too.

    Attributes
    ----------
    chosen
        Mask of these tasks among the gold tasks of the models.
    truth, accuracy
        Class index of the label, and accuracy of a person on each of them.
    labels
        Answers of people, of shape (tasks, most people), -1 after the last.
    """

    chosen: Bools
    truth: Integers
    accuracy: Floats
    labels: Integers

    @classmethod
    def of(cls, models: Models, people: People, accuracy: Floats) -> MeasuredPeople | None:
        """Find the gold tasks; `accuracy` is that of a person on each of all tasks.

        None with fewer than `MIN_GOLD` of them: nothing is measured.
        """
        gold, own = models.held_out_gold, people.answers
        place = {name: j for j, name in enumerate(own.tasks)}
        at = np.array([place.get(models.answers.tasks[j], -1) for j in gold.tasks.tolist()])
        size = np.where(at >= 0, own.per_task[at], 0)
        chosen = size > 0
        if np.count_nonzero(chosen) < MIN_GOLD:
            return None
        order = np.argsort(own.task_of, kind="stable")
        start = np.cumsum(own.per_task) - own.per_task
        rank = np.arange(size.max())
        cells = np.minimum(start[at[chosen], None] + rank, own.size - 1)
        labels = np.where(rank < size[chosen, None], own.label_of[order[cells]], -1)
        return cls(chosen, gold.truth[chosen], accuracy[gold.tasks[chosen]], labels)

    @property
    def size(self) -> Integers:
        """Number of people who answered each task."""
        return (self.labels >= 0).sum(axis=1)

    def right(self, chances: Floats, counts: Integers) -> Floats:
        """Return how often each task is right after so many of its people.

        `chances` is the probability of every class of each task before them. The people are runs
        of the answers in their order, which goes round; of a task with too few all count.
        """
        m, k = chances.shape
        good = np.clip(self.accuracy.round(2), MIN_ACCURACY, 1.0 - MIN_ACCURACY)
        odds = np.log(good * (k - 1.0) / (1.0 - good))
        logs, size = np.log(np.maximum(chances, MIN_PROBABILITY)), self.size
        n, at, hits = np.minimum(counts, size), np.arange(m), np.zeros(m)
        for start in range(self.labels.shape[1]):
            found = logs.copy()
            for step in range(int(n.max(initial=0))):
                label = self.labels[at, (start + step) % size]
                found[at, label] += np.where(step < n, odds, 0.0)
            hits += (found.argmax(axis=1) == self.truth) & (start < size)
        return hits / size

    def delivered(self, chances: Floats, most: int) -> float:
        """Return the share of the expected gain by people that their answers deliver, in [0, 1].

        Of as many people as there are, at most `most`; the gain is that over `chances`, the
        probability of every class of each task. A normal prior (`USUAL_SHARE`) counts as far as
        the sum over the tasks is uncertain.
        """
        counts = np.minimum(self.size, most)
        expected = expected_with_people(chances, self.accuracy, int(counts.max()))
        gain = expected[np.arange(counts.size), counts] - expected[:, 0]
        added = self.right(chances, counts) - (chances.argmax(axis=1) == self.truth)
        variance = counts.size * max(float((added - gain).var()), MIN_VARIANCE)
        mean, deviation = USUAL_SHARE
        # gain.sum() x share is observed as added.sum(), with this variance.
        of_prior = variance / deviation**2
        share = (gain.sum() * added.sum() + of_prior * mean) / (gain.sum() ** 2 + of_prior)
        return float(np.clip(share, 0.0, 1.0))
