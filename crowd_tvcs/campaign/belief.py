"""The posterior of a task by its answers, and the uncertainty that is left.

The arithmetic of `crowd_tvcs.skills.vote.posterior` for one task, in plain Python, because a claim
has no time for arrays: of workers of one accuracy each who err independently (`posterior`), and by
the model of `crowd_tvcs.skills.dependence` (`together`). The uncertainty is the sum over pairs of
classes of sqrt(p_a p_b), for two classes sqrt(c (1 - c)). An answer of a worker whose mistakes are
spread evenly multiplies what it is expected to be by the same factor whatever the posterior is,
their `affinity`; so answers that are still out count with the product of theirs.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import combinations, pairwise
from typing import Any, NamedTuple

SUREST = 1e-9  # as in the vote: nobody and nothing is taken to be surer
# As in the model of dependence.
KNOTS = (1, 2, 3, 5, 10)
LEAST_CHANCE = 1e-4
LEAST_WEIGHT = 0.1
SUREST_SKILL = 1e-3
# As in `routing`.
LOOK_AHEAD = 5
MOST_OUTCOMES = 500
ROUNDING = 1e-12
LEAST_ODDS = 1e-6
TINY, LEAST = 1e-12, 1e-300
SUREST_LOGIT = 500.0
MOST_ROUNDS = 20
FIRST_FIT = 20
SPARE = 32  # answers by which a fit is late, with each of which one worker tries again
UNSETTLED = "unsettled"  # in the text of a model
FIRST = 4.0  # times its uncertainty a task without labels counts, where workers err together

Matrix = tuple[tuple[float, ...], ...]


class Joint(NamedTuple):
    """The numbers of `crowd_tvcs.skills.dependence.Dependence`, without arrays."""

    temperature: float
    overlap: float
    shares: float
    blend: float
    common: float
    contrast: float
    steps: tuple[float, ...]
    last: int = KNOTS[-1]

    def factor(self, n: int) -> float:
        """How much the evidence of `n` answers counts: `Dependence.factor`."""
        knots = (*KNOTS[:-1], self.last)
        at = min(max(bisect_right(knots, n) - 1, 0), len(knots) - 1)
        step = self.steps[at]
        if knots[0] < n < knots[-1]:
            low, high = math.log(knots[at]), math.log(knots[at + 1])
            step += (math.log(n) - low) / (high - low) * (self.steps[at + 1] - step)
        return math.exp(step) / (1.0 + self.overlap * max(n - 1.0, 0.0))


class Given(NamedTuple):
    """An answer: the index of its label, and the skill of its worker."""

    label: int
    accuracy: float
    habits: Matrix | None = None


@lru_cache(maxsize=16)
def joint_of(text: str | None) -> Joint | None:
    """Read the numbers as a store keeps them; None for workers who err independently.

    Raises
    ------
    ValueError
        If the text is damaged.
    """
    if text is None:
        return None
    found = _read(text)
    with known_damage():
        numbers = {name: float(found[name]) for name in Joint._fields[:-2]}
        last = int(found.get("last", KNOTS[-1]))  # younger than some stores
        return Joint(**numbers, steps=tuple(map(float, found["steps"])), last=last)


@contextmanager
def known_damage() -> Iterator[None]:
    """Refuse a damaged model."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(
            "the model of dependence that the store keeps is damaged; take a copy of the store "
            "from before"
        ) from None


def _read(text: str) -> dict[str, Any]:
    """Return the model that a text holds, by names."""
    with known_damage():
        return dict(json.loads(text))


def fitted_to(answers: int) -> int:
    """Return how many labels, the first of the campaign, its model goes by when it has so many.

    `FIRST_FIT`, or twice, four times ... that: so the model follows from the history alone, whoever
    fits it, and is seldom fitted.
    """
    return FIRST_FIT << (answers // FIRST_FIT).bit_length() - 1 if answers >= FIRST_FIT else 0


def lacks_fit(text: str | None, answers: int) -> bool:
    """Whether the model in the store is of gold and goes by other labels than it should."""
    goes_by = None if text is None else _goes_by(text)
    return goes_by is not None and goes_by != fitted_to(answers)


def is_due(text: str | None, answers: int) -> bool:
    """Whether that is so, or some tasks are not settled by the model that is there."""
    return lacks_fit(text, answers) or unsettled(text) is not None


def is_due_now(text: str | None, answers: int) -> bool:
    """Whether it is whoever brought the last of so many answers who fits the model.

    That is one worker. If theirs failed or was killed, or nobody fitted before, it is one of the
    next `SPARE`; meanwhile the others need not do it as well.
    """
    size = fitted_to(answers)
    is_theirs = (answers - size) % max(SPARE, size // 4) == 0
    return is_theirs and is_due(text, answers)


def taken_back(text: str | None, place: int, answers: int) -> str | None:
    """Return the text of the model once the answer of such a place is gone, of so many.

    Its labels are below 0 then, and others each time: a fit that began before sees that.
    """
    goes_by = None if text is None else _goes_by(text)
    if text is None or goes_by is None or place > fitted_to(answers):
        return text
    return json.dumps(_read(text) | {"labels": min(goes_by, 0) - 1})


def unsettled(text: str | None) -> int | None:
    """Return the id from which on tasks are not settled by the model yet; None if all are."""
    return None if text is None or UNSETTLED not in text else _read(text).get(UNSETTLED)


def unmarked(text: str) -> dict[str, Any]:
    """Return the model that a text holds, by names, without a mark."""
    return {name: value for name, value in _read(text).items() if name != UNSETTLED}


def marked(text: str, start: int | None) -> str:
    """Return the text of the model with such a mark, or without one."""
    return json.dumps(unmarked(text) | ({} if start is None else {UNSETTLED: start}))


@lru_cache(maxsize=16)
def _goes_by(text: str) -> int | None:
    """How many labels a model goes by; None if it is not of gold, and goes by none."""
    found = _read(text)
    with known_damage():
        labels = int(found.get("labels", 0))  # not in what was written before they counted
        return labels if found["source"] == "gold" else None


@lru_cache(maxsize=4096)
def habits_of(text: str | None) -> Matrix | None:
    """Read the confusion matrix of a worker likewise."""
    return None if text is None else tuple(tuple(row) for row in json.loads(text))


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
    return _softmax(logs)


def together(
    joint: Joint, prior: Sequence[float], answers: Sequence[Given], shares: float
) -> list[float]:
    """Probability of every class where workers err together: `skills.dependence.chances`.

    Parameters
    ----------
    joint
        The numbers of the model.
    prior
        One probability per class.
    answers
        All answers to the task.
    shares
        How much the prior counts: `joint.shares` for those of gold, 1 for one that is known.
    """
    k, n = len(prior), len(answers)
    inside = [max(p, SUREST) for p in prior]
    total = sum(inside)
    inside = [p / total for p in inside]
    weights = [_weight(one.accuracy, k) for one in answers]
    others = joint.contrast * (1.0 - 1.0 / n) * sum(weights) / n if n else 0.0
    sums = [0.0] * k
    for one, weight in zip(answers, weights, strict=True):
        kept = 1.0 - others / weight
        if kept > 0.0:
            for y, x in enumerate(_tempered(joint, one, k)):
                sums[y] += kept * x
    factor = joint.factor(n)
    inner = _softmax([shares * math.log(p) + factor * s for p, s in zip(inside, sums, strict=True)])
    rest = 1.0 - joint.common
    return [rest * p + joint.common * q for p, q in zip(inner, inside, strict=True)]


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


def gain_per_label(
    chances: Sequence[float],
    accuracy: float,
    joint: Joint | None,
    answers: int,
    room: int = LOOK_AHEAD,
    alone: Sequence[float] | None = None,
) -> float:
    """Most that next labels add to the expected accuracy: `routing.gain_per_label` of one task.

    As many as the task has `room` for, and `LOOK_AHEAD` at most.
    """
    ahead = min(room, LOOK_AHEAD)
    if joint is None:
        gains = _gains_alone(chances, accuracy, ahead)
        most = max((added / labels for labels, added in enumerate(gains, start=1)), default=0.0)
    else:
        most = _gain_together(chances, accuracy, joint, answers, ahead)
        if alone is not None:
            most = min(most, gain_per_label(alone, accuracy, None, answers, room))
    return most if most >= ROUNDING else 0.0


def _gains_alone(chances: Sequence[float], right: float, most: int) -> Iterator[float]:
    """Yield what 1, 2, ..., `most` labels in all add, of independent workers."""
    k, wrong = len(chances), (1.0 - right) / (len(chances) - 1)
    for labels in range(1, most + 1):
        if labels > 1 and math.comb(labels + k - 1, labels) > MOST_OUTCOMES:
            break
        reached = 0.0
        for ways, votes in _outcomes(labels, k):
            of_truth = [right**v * wrong ** (labels - v) for v in votes]
            reached += ways * max(p * c for p, c in zip(chances, of_truth, strict=True))
        yield reached - max(chances)


def _gain_together(
    chances: Sequence[float], accuracy: float, joint: Joint, answers: int, most: int
) -> float:
    """Return the most that labels add per label: `routing._dependent_gain` of one task."""
    k = len(chances)
    inside = min(max(accuracy, SUREST_SKILL), 1.0 - SUREST_SKILL)
    odds = joint.temperature * math.log(inside * (k - 1.0) / (1.0 - inside))
    if odds <= LEAST_ODDS or most < 1:
        return 0.0
    counts = range(answers, answers + most + 1)
    worth = [joint.factor(n) * (1.0 - joint.contrast * (1.0 - 1.0 / max(n, 1))) for n in counts]
    rest, half = 1.0 - joint.common, joint.common / 2.0
    leader, *others = sorted(chances, reverse=True)
    top = max((leader - joint.common / k) / rest, TINY)
    left = max(sum(others), TINY)
    pairs = []
    for other in others:
        lead = math.log(top / max((other - joint.common / k) / rest, TINY))
        claims = [
            [
                rest / (1.0 + math.exp(-min(max(x, -SUREST_LOGIT), SUREST_LOGIT))) + half
                for x in _logits(worth, lead, odds, labels)
            ]
            for labels in range(most + 1)
        ]
        turned = [[max(0.0, 1.0 - 2.0 * p) for p in row] for row in claims]
        names = [
            [
                min(max((p - less) / max(more - less, LEAST), 0.0), 1.0)
                for p, (less, more) in zip(row, pairwise(after), strict=True)
            ]
            for row, after in pairwise(claims)
        ]
        pairs.append((leader + other, other * (1.0 + leader / left), turned, names))
    rate = found = 0.0
    for _ in range(MOST_ROUNDS):
        gain = paid = 0.0
        for of_both, of_pair, turned, names in pairs:
            gained, labels = _best_rule(rate * of_pair / of_both, turned, names)
            gain += of_both * gained
            paid += of_pair * labels
        found = gain / max(paid, 1.0)
        if abs(found - rate) <= ROUNDING:
            break
        rate = found
    return found


def _logits(worth: Sequence[float], lead: float, odds: float, labels: int) -> list[float]:
    """Log odds of the likeliest class once 0, 1, ... of so many labels name it."""
    return [
        worth[labels] * (lead / worth[0] + odds * (2 * votes - labels))
        for votes in range(labels + 1)
    ]


def _best_rule(
    price: float, turned: list[list[float]], names: list[list[float]]
) -> tuple[float, float]:
    """Return the gain of the best rule and its number of labels: `routing._best_rule`."""
    most = len(names)
    gains, labels = turned[most], [0.0] * (most + 1)
    for k in reversed(range(most)):
        now, bought = [], []
        for votes, (name, stays) in enumerate(zip(names[k], turned[k], strict=True)):
            more = (1.0 - name) * gains[votes] + name * gains[votes + 1]
            paid = 1.0 + (1.0 - name) * labels[votes] + name * labels[votes + 1]
            goes_on = k == 0 or more - price * paid > stays
            now.append(more if goes_on else stays)
            bought.append(paid if goes_on else 0.0)
        gains, labels = now, bought
    return gains[0], labels[0]


@cache
def _outcomes(labels: int, k: int) -> list[tuple[int, tuple[int, ...]]]:
    """All counts of votes for `k` classes by so many labels, and in how many ways they come."""
    out = []
    for places in combinations(range(labels + k - 1), k - 1):  # stars and bars
        ends = (-1, *places, labels + k - 1)
        votes = tuple(b - a - 1 for a, b in pairwise(ends))
        ways = math.factorial(labels) // math.prod(math.factorial(v) for v in votes)
        out.append((ways, votes))
    return out


def _tempered(joint: Joint, one: Given, k: int) -> list[float]:
    """Logarithm of the chance of an answer under every truth, tempered; less what is its sum."""
    right, wrong = one.accuracy, (1.0 - one.accuracy) / (k - 1)
    power = joint.temperature
    if one.habits is None or joint.blend == 0.0:
        right, wrong = max(right, LEAST_CHANCE), max(wrong, LEAST_CHANCE)
        total = math.log(right**power + (k - 1) * wrong**power)
        yes, no = power * math.log(right) - total, power * math.log(wrong) - total
        return [yes if y == one.label else no for y in range(k)]
    out = []
    for y, row in enumerate(one.habits):
        blended = [
            max(
                (1.0 - joint.blend) * (right if y == z else wrong) + joint.blend * chance,
                LEAST_CHANCE,
            )
            for z, chance in enumerate(row)
        ]
        total = math.log(sum(chance**power for chance in blended))
        out.append(power * math.log(blended[one.label]) - total)
    return out


def _weight(accuracy: float, k: int) -> float:
    """Log odds of a worker, at least `LEAST_WEIGHT`."""
    inside = min(max(accuracy, SUREST_SKILL), 1.0 - SUREST_SKILL)
    return max(math.log(inside * (k - 1.0) / (1.0 - inside)), LEAST_WEIGHT)


def _softmax(logs: Sequence[float]) -> list[float]:
    top = max(logs)
    weights = [math.exp(x - top) for x in logs]
    total = sum(weights)
    return [w / total for w in weights]


def _clip(chance: float) -> float:
    return min(max(chance, SUREST), 1.0 - SUREST)
