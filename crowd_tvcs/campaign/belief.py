"""What the answers to one task say: its posterior, and how much of the uncertainty is left.

The arithmetic of `crowd_tvcs.skills.vote.posterior` for one task and workers of one accuracy each,
in plain Python, because a claim has no time for arrays. The uncertainty is the sum over pairs of
classes of sqrt(p_a p_b), for two classes sqrt(c (1 - c)). An answer of a worker whose mistakes are
spread evenly multiplies what it is expected to be by the same factor whatever the posterior is,
their `affinity`; so answers that are still out count with the product of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

SUREST = 1e-9  # as in the vote: nobody and nothing is taken to be surer


def posterior(prior: Sequence[float], answers: Iterable[tuple[int, float]]) -> list[float]:
    """Probability of every class, given answers as (label, accuracy of the worker).

    Parameters
    ----------
    prior
        One probability per class.
    answers
        Labels count the classes from 0; accuracies are in [0, 1].

    Examples
    --------
    >>> [round(p, 2) for p in posterior([.5, .5], [(1, .9), (0, .6)])]
    [0.14, 0.86]
    """
    k = len(prior)
    logs = [math.log(max(p, SUREST)) for p in prior]
    for label, accuracy in answers:
        right = _clip(accuracy)
        wrong = math.log(_clip((1.0 - accuracy) / (k - 1)))
        for y in range(k):
            logs[y] += math.log(right) if y == label else wrong
    top = max(logs)
    weights = [math.exp(x - top) for x in logs]
    total = sum(weights)
    return [w / total for w in weights]


def uncertainty(chances: Sequence[float]) -> float:
    """Sum of sqrt(p_a p_b) over the pairs of classes: 0 if one is certain."""
    roots = [math.sqrt(p) for p in chances]
    return (sum(roots) ** 2 - sum(chances)) / 2.0


def affinity(accuracy: float, n_classes: int) -> float:
    """Factor in [0, 1] by which one answer is expected to multiply the uncertainty.

    The Bhattacharyya coefficient of the worker's answers under two labels; 1 of a worker who tells
    nothing. ``1 - affinity`` is the skill of the routing score.
    """
    wrong = (1.0 - accuracy) / (n_classes - 1)
    return min(1.0, 2.0 * math.sqrt(accuracy * wrong) + (n_classes - 2) * wrong)


def _clip(chance: float) -> float:
    return min(max(chance, SUREST), 1.0 - SUREST)
