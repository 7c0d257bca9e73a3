"""Expected accuracy of the Bayes-weighted vote: exact, bounded, sampled and smoothed.

A vote takes the label with the larger posterior, given each voter's quality q, the probability of a
right answer. With m1 and m0 the joint probabilities of an outcome (all answers) and label 1 or
label 0, its expected accuracy is the sum of max(m1, m0) over the outcomes (supplement of the paper,
last section). A voter with q < 1/2 is as informative as one with 1 - q: the vote inverts their
answer. One with q = 1/2 is uninformative.

Up to `EXACT_VOTERS` voters per task this is computed exactly, by meeting in the middle: two
sorted lists of outcomes, one for either half of the voters. Beyond, the lists are coarsened,
which can only make the vote less accurate (or only more), so that the truth lies between two
bounds: less than 5e-5 apart up to 100 voters, mostly less than 1e-6. Voters
of few different qualities have few different outcomes, and there the bounds agree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.accuracy.kernels import outcome_lists as kernels
from crowd_tvcs.arrays import Bools, Floats, Integers
from tvcs_core.arguments import array_of, check_number
from tvcs_core.streams import stream

EXACT_VOTERS = 22  # two lists of 2^11 outcomes
LIST_SIZE = 2 ** (EXACT_VOTERS // 2)  # outcomes
BATCH = 256  # samples at once
ROUNDING = 1e-14  # of an accuracy; a gain that is not above it is none


def expected_accuracy(quality: ArrayLike, assignment: ArrayLike, prior: ArrayLike = 0.5) -> Floats:
    """Return the probability that the Bayes-weighted vote on each task is right.

    Parameters
    ----------
    quality
        Probability in [0, 1] that worker i is right on task j, of shape (workers, tasks).
    assignment
        Boolean mask of the assigned pairs, of the same shape.
    prior
        Probability in [0, 1] that the label of a task is 1; one number or one per task.

    Returns
    -------
    ndarray
        One value per task, in [1/2, 1]; the accuracy of a plan is their mean. Exact to 1e-12
        up to `EXACT_VOTERS` voters on a task; beyond, the lower one of `accuracy_bounds`.

    Raises
    ------
    ValueError, TypeError
        If an argument does not have the shape or the range above.

    Examples
    --------
    The second of two equal workers adds nothing, the third does.

    >>> quality = [[.8, .8, .8], [.8, .8, .8], [.8, .8, .8]]
    >>> assignment = [[True, True, True], [False, True, True], [False, False, True]]
    >>> expected_accuracy(quality, assignment).round(3).tolist()
    [0.8, 0.8, 0.896]
    """
    return _accuracy(*_voters(quality, assignment, prior), spread=False)


def accuracy_bounds(
    quality: ArrayLike, assignment: ArrayLike, prior: ArrayLike = 0.5
) -> tuple[Floats, Floats]:
    """Return lower and upper bounds of the expected accuracy; arguments as there.

    They agree up to `EXACT_VOTERS` voters. Beyond, outcomes of similar log odds are merged for the
    lower bound, which is the accuracy of a vote that cannot distinguish them. For the upper bound
    they are spread over their neighbours, which keeps every probability and moves each posterior
    outwards (max is convex).
    """
    start, voters, priors = _voters(quality, assignment, prior)
    lower = _accuracy(start, voters, priors, spread=False)
    upper = lower.copy()
    large = np.diff(start) > EXACT_VOTERS
    if large.any():
        upper[large] = _accuracy(start, voters, priors, spread=True)[large]
    return lower, np.maximum(lower, upper)


def smooth_accuracy(quality: ArrayLike, assignment: ArrayLike, prior: ArrayLike = 0.5) -> Floats:
    """Return the paper's smooth objective for every task; arguments as in `expected_accuracy`.

    The paper replaces the indicator by a sigmoid. At a 0/1 assignment that is the expected
    posterior probability of the true label, the sum of (m1^2 + m0^2) / (m1 + m0) over the
    outcomes: no sampling is needed. Never above the expected accuracy. Exact up to
    `EXACT_VOTERS` voters (5 ms for a task of 20); beyond, of the coarsened lists.
    """
    start, voters, priors = _voters(quality, assignment, prior)
    out = np.empty(priors.size)
    right, wrong = _scratch(start)
    kernels.smooth_of_tasks(start, voters, priors, LIST_SIZE, False, right, wrong, _buffers(), out)
    return np.clip(out, 0.0, 1.0)


def sampled_accuracy(
    quality: ArrayLike,
    assignment: ArrayLike,
    prior: ArrayLike = 0.5,
    *,
    n_samples: int = 1000,
    rng: int | np.random.Generator | None = None,
) -> Floats:
    """Estimate the expected accuracy of every task as the paper does, from sampled answers.

    Answers are drawn given label 1 and given label 0, `n_samples` times each; the shares of
    right votes are weighted by the prior. The standard error of a task is at most
    ``0.5 / sqrt(n_samples)``. Other arguments as in `expected_accuracy`.
    """
    q, chosen, priors = _checked(quality, assignment, prior)
    check_number("n_samples", n_samples, whole=True, least=1)
    rng = stream(rng, "sampled accuracy")
    with np.errstate(divide="ignore"):
        weight = np.log(q) - np.log1p(-q)
        threshold = np.log1p(-priors) - np.log(priors)
    out = np.zeros(priors.size)
    for j in range(priors.size):
        members = np.flatnonzero(chosen[:, j])
        for first in range(0, n_samples, BATCH):
            draws = rng.random((2, min(BATCH, n_samples - first), members.size))
            is_right = draws < q[members, j]
            evidence = _evidence(is_right, weight[members, j])
            ones = evidence[0] >= threshold[j]
            zeros = -evidence[1] < threshold[j]
            out[j] += priors[j] * ones.sum() + (1.0 - priors[j]) * zeros.sum()
    return out / n_samples


def gains(voters: ArrayLike, candidates: ArrayLike, prior: float = 0.5) -> Floats:
    """Return the increase of the expected accuracy of one task by each candidate alone.

    A new voter of quality q adds E[max(0, q - C)], where C is the confidence of the vote so far.
    They help only if they are more accurate than the confidence of the others' vote.

    Parameters
    ----------
    voters
        Qualities of the task's voters.
    candidates
        Qualities of the candidates.
    prior
        Probability that the label is 1.

    Returns
    -------
    ndarray
        One value >= 0 per candidate, each for adding that one alone. Exact with fewer than
        `EXACT_VOTERS` voters.
    """
    now = _qualities("voters", voters)
    who = _qualities("candidates", candidates)
    check_number("prior", prior)
    if not 0.0 <= prior <= 1.0:
        raise ValueError(f"prior must be in [0, 1], found {prior}")
    # The last team has a guess in place of a candidate, who adds nothing.
    last = np.append(who, 0.5)
    teams = np.column_stack([np.tile(now, (last.size, 1)), last])
    start = np.arange(0, teams.size + 1, teams.shape[1])
    found = accuracy_of_teams(start, teams.reshape(-1), np.full(last.size, float(prior)))
    return np.where(found[:-1] > found[-1] + ROUNDING, found[:-1] - found[-1], 0.0)


def _accuracy(
    start: Integers,
    voters: Floats,
    prior: Floats,
    *,
    spread: bool,
) -> Floats:
    out = np.empty(prior.size)
    right, wrong = _scratch(start)
    kernels.accuracy_of_tasks(
        start, voters, prior, LIST_SIZE, spread, right, wrong, _buffers(), out
    )
    return np.clip(out, 0.0, 1.0)


def accuracy_of_teams(start: Integers, voters: Floats, prior: Floats) -> Floats:
    """Return the expected accuracy of teams given by the qualities of their voters, unchecked.

    The voters of task j are voters[start[j] : start[j + 1]].
    """
    return _accuracy(start, voters, prior, spread=False)


def _voters(
    quality: ArrayLike, assignment: ArrayLike, prior: ArrayLike
) -> tuple[Integers, Floats, Floats]:
    """Return the start of each task's voters, their qualities task by task, and the priors."""
    q, chosen, priors = _checked(quality, assignment, prior)
    start = np.zeros(priors.size + 1, dtype=np.int64)
    np.cumsum(chosen.sum(axis=0), out=start[1:])
    return start, np.ascontiguousarray(q.T[chosen.T]), priors


def checked_pairs(quality: ArrayLike, assignment: ArrayLike) -> tuple[Floats, Bools]:
    """Return qualities and the mask of assigned pairs, both of shape (workers, tasks)."""
    q = array_of("quality", quality, np.float64, copy=False)
    chosen = array_of("assignment", assignment, copy=False)
    if q.ndim != 2:
        raise ValueError(f"quality must be a matrix of workers x tasks, found {q.ndim} axes")
    if chosen.dtype != np.bool_:
        raise TypeError(f"assignment must be booleans, found {chosen.dtype}")
    if chosen.shape != q.shape:
        raise ValueError(
            f"assignment must have the shape of quality, {q.shape}, found {chosen.shape}"
        )
    _check_unit("quality", q)
    return q, chosen


def _checked(
    quality: ArrayLike, assignment: ArrayLike, prior: ArrayLike
) -> tuple[Floats, Bools, Floats]:
    q, chosen = checked_pairs(quality, assignment)
    given = array_of("prior", prior, np.float64, copy=False)
    if given.ndim > 1 or (given.ndim == 1 and given.size != q.shape[1]):
        raise ValueError(
            f"prior must be one number or {q.shape[1]} of them, one per task, "
            f"found shape {given.shape}"
        )
    _check_unit("prior", given)
    return q, chosen, np.array(np.broadcast_to(given, q.shape[1]))


def _qualities(name: str, values: ArrayLike) -> Floats:
    array = array_of(name, values, np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a list of qualities, found {array.ndim} axes")
    _check_unit(name, array)
    return array


def _check_unit(name: str, values: Floats) -> None:
    wrong = ~((values >= 0.0) & (values <= 1.0))
    if wrong.any():
        where = np.unravel_index(int(np.argmax(wrong)), values.shape)
        place = f"[{', '.join(str(int(i)) for i in where)}]" if where else ""
        raise ValueError(f"{name} must be in [0, 1], but {name}{place} is {values[where]}")


def _evidence(is_right: Bools, weight: Floats) -> Floats:
    """Return the log odds of the truth after the answers of each draw.

    A certain worker's infinite weight overrules all others; two of them never disagree.
    """
    large = np.clip(weight, -1e4, 1e4)
    return np.where(is_right, large, -large).sum(axis=-1)


def _scratch(start: Integers) -> tuple[Floats, Floats]:
    most = int(np.diff(start).max(initial=0))
    return np.empty(most), np.empty(most)


def _buffers() -> Floats:
    """Return room for two lists of outcomes, each twice, to double from one into the other."""
    return np.empty((2, 2, 3, 2 * LIST_SIZE))
