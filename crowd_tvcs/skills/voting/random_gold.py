"""Whether gold tasks can be a random sample of the tasks, by the answers to both.

What gold shows of all tasks rests on that: the prevalence of the classes, confidences, and the
share of right labels. The most frequent answer needs no gold, and in a random sample its classes
are as frequent as elsewhere, but for chance.
"""

from __future__ import annotations

import numpy as np

from crowd_tvcs.answers.answers import UNKNOWN, Answers
from crowd_tvcs.arrays import Floats, Integers
from tvcs_core.files.display import unquoted

# Of a random sample with so different a class; all classes and sets of a lifetime are far fewer.
LEAST_PROBABILITY = 1e-5


def sample_doubt(answers: Answers, known: Integers) -> str:
    """Describe why gold is no random sample of the answered tasks; empty if it can be one.

    Parameters
    ----------
    answers
        Answers to gold tasks and to others.
    known
        Class index of the label of every task, `UNKNOWN` for tasks without gold.
    """
    k, answered = len(answers.classes), answers.per_task > 0
    leading = answers.label_counts.argmax(axis=1)[answered]
    is_gold = (known != UNKNOWN)[answered]
    counts = np.stack(
        [np.bincount(leading[part], minlength=k) for part in (is_gold, ~is_gold)]
    )  # of classes among gold tasks, and among others
    n, others = counts.sum(axis=1).tolist()
    if not n or not others:
        return ""
    chances = [_probability(here, there, n, others) for here, there in counts.T.tolist()]
    worst = int(np.argmin(chances))
    if chances[worst] * k >= LEAST_PROBABILITY:
        return ""
    shares = [f"{x:.2f}" for x in (counts[0, worst] / n, counts[1, worst] / others)]
    return (
        f"the gold is no random sample of the tasks: most answers are "
        f"{unquoted(answers.classes[worst])} on a share of {shares[0]} of the gold tasks and "
        f"{shares[1]} of the others"
    )


def _probability(here: int, there: int, n: int, others: int) -> float:
    """Return the probability of such a count, or one further off, in a random sample of all."""
    from scipy.special import gammaln

    def log_ways(size: int, part: Integers) -> Floats:
        return gammaln(size + 1) - gammaln(part + 1) - gammaln(size - part + 1)

    total = here + there
    count = np.arange(max(0, total - others), min(total, n) + 1)
    logs = log_ways(n, count) + log_ways(others, total - count)
    chance = np.exp(logs - logs.max())
    chance /= chance.sum()
    return min(1.0, 2.0 * float(min(chance[count <= here].sum(), chance[count >= here].sum())))
