"""Fit the numbers of `dependence` to gold: the likeliest ones, around those of real crowds.

Everything that is said of a gold task rests on other gold (`held_out`). What is maximised is the
sum over the gold tasks of the mean over 1, 2, 3, 5 and all of their answers of the logarithm of the
probability of the true label, plus the logarithm of the density of `USUAL`, less what claims are
off: for each number of answers the squared difference of the mean confidence and the share of right
labels, in units of its variance. It is done twice, with confusion matrices and with one accuracy
per worker: matrices stay where they make held-out gold likelier. Draws come from a fixed stream:
the same gold gives the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import Answers, Gold, together
from crowd_tvcs.answers.intervals import wilson
from crowd_tvcs.skills.common_error import USUAL_ERROR, common_error, foresight_of
from crowd_tvcs.skills.dependence import (
    BEST_FIRST,
    KNOTS,
    SIZE,
    Claimed,
    Dependence,
    Told,
    chances,
    contrasts,
    steps_at,
    weights_of,
)
from crowd_tvcs.skills.foresight import Foresight
from crowd_tvcs.skills.held_out import LEAST_TASKS, Seen, choice_of, held_out, orders, ranks
from crowd_tvcs.skills.skill import Skill

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PREFIXES = (1, 2, 3, 5, None)  # numbers of answers that a task is judged by; None for all
# What six public crowds have in common, on the scales of `Dependence.at`.
USUAL = np.array([-0.05, -1.9, -0.4, 0.3, -3.5, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
# With many answers crowds differ most.
SPREAD = np.array([0.3, 1.1, 0.25, 1.2, 1.0, 1.0, 0.35, 0.35, 0.35, 0.35, 0.8])
NO_GOLD = Dependence(temperature=0.95, overlap=0.15, common=0.03, plan_error=USUAL_ERROR)
REACH = 4.0  # standard deviations from the usual numbers, at most
ROUNDS = 30
HONEST = 3.0  # how much claims that are off count, beside the probability of the labels
HALF_HONEST = 30.0  # gold tasks with which it is half of that
LEAST_VARIANCE = 0.02
LEAST_ANSWERS = 10  # to gold, below which nothing is fitted, as below `LEAST_TASKS` tasks
LEAST_OF_FAMILIES = 10  # gold tasks, the same for workers in families
WITHIN = 0.4  # overlap in a family: the best of .2, .4, .7 on simulated language models
ENOUGH_TO_CHOOSE = 30  # gold tasks, below which nobody asks whether matrices help

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def fit_dependence(
    answers: Answers, gold: Gold, skill: Skill, like: Answers | None = None
) -> Skill:
    """Add to a skill what answers to gold say of how the workers err together.

    Parameters
    ----------
    answers, gold
        What `skill` was estimated from.
    skill
        Of every worker alone.
    like
        Answers that shall be voted on. The numbers are fitted to answers to gold of workers chosen
        as in these (`held_out.choice_of`); None for the best.

    Returns
    -------
    Skill
        With `dependence`. With fewer than `LEAST_TASKS` gold tasks or `LEAST_ANSWERS` answers to
        them it holds the usual numbers.
    """
    answers = together(answers, gold)
    seen = held_out(answers, gold, skill)
    if seen.truth.size < LEAST_TASKS or seen.rows.label_of.size < LEAST_ANSWERS:
        usual = Dependence.at(USUAL, source="little gold", plan_error=USUAL_ERROR)
        return replace(skill, dependence=replace(usual, blend=0.0))
    choice = BEST_FIRST if like is None else choice_of(like, answers, gold, skill)
    given = _prefixes(seen, orders(seen.task_of, seen.cautious, choice))
    model, alone = _likeliest(given), Dependence()
    plan_error, foresight = _of_plans(seen, model, len(answers.classes))
    return replace(
        skill,
        dependence=replace(
            model,
            source="gold",
            choice=choice,
            labels=0 if like is None else like.size,
            plan_error=plan_error,
            foresight=foresight,
            gold=int(seen.truth.size),
            score=given.score(model),
            independent_score=given.score(alone),
            measured=given.measured(model),
        ),
    )


def fit_in_families(
    answers: Answers,
    gold: Gold,
    skill: Skill,
    family_of: Integers,
    shift: Floats | None = None,
) -> tuple[Dependence, Prefixes, Integers]:
    """Fit the model to workers in families, all of whom answer, such as models under prompts.

    Parameters
    ----------
    answers, gold
        What `skill` was estimated from, with the classes of both.
    skill
        Of every worker alone.
    family_of
        Family of every worker, as a number.
    shift
        By how much the log odds to be right of every answer lie above those of its worker, such as
        by what it states of itself; None for nothing.

    Returns
    -------
    tuple
        The model, the gold tasks as it judges each by the others, and which tasks these are. With
        fewer than `LEAST_OF_FAMILIES` of them the model holds the usual numbers.
    """
    seen = held_out(answers, gold, skill)
    if shift is not None:
        seen = replace(seen, rows=seen.rows.moved(shift[seen.answer]))
    given = _prefixes(seen, orders(seen.task_of, seen.cautious, 0.0))
    given = replace(given, family_of=family_of[answers.worker_of[seen.answer]])
    if seen.truth.size < LEAST_OF_FAMILIES:
        usual = Dependence.at(USUAL, source="little gold", plan_error=USUAL_ERROR)
        return replace(usual, blend=0.0, within=WITHIN), given, seen.task
    model = _likeliest(given, WITHIN)
    model = replace(
        model, source="gold", choice=0.0, labels=answers.size, gold=int(seen.truth.size),
        score=given.score(model), independent_score=given.score(Dependence()),
        measured=given.measured(model),
    )  # fmt: skip
    return model, given, seen.task


def judged(answers: Answers, gold: Gold, skill: Skill) -> Prefixes:
    """Return the gold tasks as a skill's model judges each by the others; some must be answered."""
    seen = held_out(together(answers, gold), gold, skill)
    choice = BEST_FIRST if skill.dependence is None else skill.dependence.choice
    return _prefixes(seen, orders(seen.task_of, seen.cautious, choice))


def _likeliest(given: Prefixes, within: float = 0.0) -> Dependence:
    """Return the likeliest numbers, with confusion matrices where held-out gold gains by them."""
    facts = {"last": given.last, "within": within}
    model = Dependence.at(Loss(given, within).likeliest(), **facts)
    if given.rows.own is None or given.tasks < ENOUGH_TO_CHOOSE:
        return model
    even = replace(given, rows=replace(given.rows, own=None))
    other = replace(Dependence.at(Loss(even, within).likeliest(), **facts), blend=0.0)
    return model if given.score(model) >= even.score(other) else other


def _of_plans(seen: Seen, model: Dependence, n_classes: int) -> tuple[float, Foresight]:
    """Match plans to what the vote claims of gold tasks by the best of their workers.

    Returns
    -------
    tuple
        The common error, and how far what the votes reach lies from what plans expect then.
    """
    rank, n_tasks = ranks(seen.task_of, -seen.cautious), seen.truth.size
    given = _prefixes(seen, [rank])
    chances = given.chances(model)
    claim, hit = chances.max(axis=1), (chances.argmax(axis=1) == given.truth).astype(np.float64)
    some = [k for k in PREFIXES if k is not None]
    parts = dict(zip(some, given.part, strict=False))
    of_answer = seen.rows.even[seen.rows.worker_of, 0, 0]
    accuracy = np.full((max(some), n_tasks), 1.0 / n_classes)
    first = rank < max(some)
    accuracy[rank[first], seen.task_of[first]] = of_answer[first]
    n_answers = np.bincount(seen.task_of, minlength=n_tasks)
    claims = {k: claim[part] for k, part in parts.items()}
    error = common_error(accuracy, claims, n_answers, n_classes)
    hits = {k: hit[part] for k, part in parts.items()}
    usual = float(of_answer.mean())
    return error, foresight_of(accuracy, hits, n_answers, usual, error, n_classes)


@dataclass(frozen=True, eq=False)
class Prefixes:
    """Gold tasks by the first of their answers: group g holds some answers to one task.

    Attributes
    ----------
    rows
        All answers to gold tasks.
    entry, group_of
        Which answers are in which group: one number of an answer and of a group per membership.
    n
        Number of answers of every group.
    truth, prior
        Label and class shares of the task of every group.
    part
        Slices of the groups with the same number of answers, in the order of `PREFIXES`.
    weight
        Of every group; those of a task add up to 1.
    family_of
        Family of the worker of every answer; None where workers have none.
    """

    rows: Told
    entry: Integers
    group_of: Integers
    n: Integers
    truth: Integers
    prior: Floats
    part: tuple[slice, ...]
    weight: float
    family_of: Integers | None = None

    @property
    def tasks(self) -> int:
        """How many gold tasks there are."""
        return round(self.n.size * self.weight)

    @property
    def last(self) -> int:
        """Number of answers at the last knot: the median of the tasks, where that is more."""
        return max(KNOTS[-1], round(float(np.median(self.n[self.part[-1]]))))

    def chances(self, model: Dependence) -> Floats:
        """Return the probability of every label of every group."""
        rows, weight = self.rows.take(self.entry), self.weights(model.within)
        return chances(model, rows, self.group_of, self.n.size, self.prior, model.shares, weight)

    def weights(self, within: float) -> Floats | None:
        """Return what every membership counts beside others of its family; None for 1 each."""
        if self.family_of is None or not within:
            return None
        return weights_of(within, self.group_of, self.family_of[self.entry])

    def score(self, model: Dependence) -> float:
        """Mean logarithm of the probability of the true label."""
        p = self.chances(model)
        return float(np.log(p[np.arange(self.truth.size), self.truth]).mean())

    def measured(self, model: Dependence) -> tuple[Claimed, ...]:
        """What is claimed and what is reached, by the number of answers."""
        p = self.chances(model)
        claim, hit = p.max(axis=1), p.argmax(axis=1) == self.truth
        out = []
        for labels, part in zip(PREFIXES, self.part, strict=True):
            tasks = round((part.stop - part.start) * self.weight * len(PREFIXES))
            low, high = wilson(float(hit[part].mean()), tasks)
            out.append(
                Claimed(
                    labels, tasks, float(claim[part].mean()), float(hit[part].mean()), low, high
                )
            )
        return tuple(out)


def _prefixes(seen: Seen, places: list[Integers]) -> Prefixes:
    """Make the groups: of every task the first 1, 2, 3, 5 and all answers, in each order."""
    n_tasks = seen.truth.size
    entries, groups, parts, start = [], [], [], 0
    for most in PREFIXES:
        for rank in places:
            inside = np.flatnonzero(rank < most) if most else np.arange(rank.size)
            entries.append(inside)
            groups.append(start + seen.task_of[inside])
            start += n_tasks
        parts.append(slice(start - len(places) * n_tasks, start))
    entry, group_of = np.concatenate(entries), np.concatenate(groups)
    times = len(PREFIXES) * len(places)
    return Prefixes(
        seen.rows,
        entry,
        group_of,
        np.bincount(group_of, minlength=start),
        np.tile(seen.truth, times),
        np.tile(seen.prior, (times, 1)),
        tuple(parts),
        1.0 / times,
    )


class Loss:
    """What the fit minimises, at a point on the scales of `Dependence.at`, with its gradient."""

    def __init__(self, given: Prefixes, within: float = 0.0) -> None:
        rows, k = given.rows, given.prior.shape[1]
        self.given = given
        weight, n = given.weights(within), given.n
        if weight is not None:
            n = np.bincount(given.group_of, weight, minlength=n.size)
        self.weight = 1.0 if weight is None else weight
        self.basis = steps_at(n, given.last)
        self.log_prior = np.log(given.prior)
        self.others = np.maximum(n - 1.0, 0.0)
        self.honest = HONEST * given.tasks / (given.tasks + HALF_HONEST)
        self.contrast = contrasts(rows.weight[given.entry], given.group_of, given.n)
        self.cell = rows.worker_of * k + rows.label_of  # of the tables of `_tempered`
        self.by_group = np.argsort(given.group_of, kind="stable")
        self.ends = np.concatenate(([0], np.cumsum(given.n)))

    def likeliest(self) -> Floats:
        """Return the point of the smallest loss."""
        from scipy.optimize import minimize

        from tvcs_core.engines.blas import one_blas_thread

        most = USUAL + REACH * SPREAD
        most[1] = 0.0  # of log rho: more answers are never worth less
        bounds = list(zip(USUAL - REACH * SPREAD, most, strict=True))
        rounds = {"maxiter": ROUNDS}
        with one_blas_thread():  # eleven numbers: threads would only wait for each other
            found = minimize(
                self, USUAL, jac=True, method="L-BFGS-B", bounds=bounds, options=rounds
            )
        out: Floats = found.x
        return out

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        g, model = self.given, Dependence.at(point)
        X, by_temperature, by_blend = (x.take(self.cell, axis=0) for x in _tempered(g.rows, model))
        raw = 1.0 - model.contrast * self.contrast
        kept = self._adding_up(np.maximum(raw, 0.0) * self.weight)
        S = kept @ X
        repeated = model.overlap * self.others
        c = np.exp(self.basis @ point[6:]) / (1.0 + repeated)
        z = model.shares * self.log_prior + c[:, None] * S
        inner = np.exp(z - z.max(axis=1, keepdims=True))
        inner /= inner.sum(axis=1, keepdims=True)
        value, G, by_common = self._outer(inner, model)
        by_c = (G * S).sum(axis=1) * c
        by_S = c[:, None] * G
        of_entries = by_S.take(g.group_of, axis=0) * X.take(g.entry, axis=0)
        by_kept = np.where(raw > 0.0, -self.contrast * of_entries.sum(axis=1), 0.0) * self.weight
        by_X = kept.T @ by_S
        gradient = np.empty(SIZE)
        gradient[0] = (by_X * by_temperature).sum()
        gradient[1] = -(by_c * repeated / (1.0 + repeated)).sum()
        gradient[2] = model.shares * (G * self.log_prior).sum()
        gradient[3] = (by_X * by_blend).sum()
        gradient[4] = by_common * model.common * (1.0 - model.common)
        gradient[5] = by_kept.sum() * model.contrast * (1.0 - model.contrast)
        gradient[6:] = by_c @ self.basis
        off = (point - USUAL) / SPREAD
        return value + float(off @ off) / 2.0, gradient + off / SPREAD

    def _adding_up(self, values: Floats) -> csr_array:
        """Return the matrix that adds up answers by group, each times the value of its entry."""
        from scipy.sparse import csr_array

        g, order = self.given, self.by_group
        shape = g.n.size, g.rows.label_of.size
        return csr_array((values[order], g.entry[order], self.ends), shape=shape)

    def _outer(self, inner: Floats, model: Dependence) -> tuple[float, Floats, float]:
        """Return the loss but for the density, and what it gains by the inner logits and by eps."""
        g, at, rest = self.given, np.arange(inner.shape[0]), 1.0 - model.common
        outer = rest * inner + model.common * g.prior
        label = outer.argmax(axis=1)
        claim, hit = outer[at, label], label == g.truth
        value, by_claim = 0.0, np.empty(label.size)
        for part in g.part:
            share, off = hit[part].mean(), (claim[part] - hit[part]).mean()
            unit = self.honest / max(share * (1.0 - share), LEAST_VARIANCE)
            by_claim[part] = unit * off * g.weight
            value += float(unit * off * off / 2.0 * g.weight * (part.stop - part.start))
        truth, true = g.truth, outer[at, g.truth]
        value -= g.weight * float(np.log(true).sum())
        by_true = -g.weight / true
        G = -inner * (rest * (by_true * inner[at, truth] + by_claim * inner[at, label]))[:, None]
        G[at, truth] += rest * by_true * inner[at, truth]
        G[at, label] += rest * by_claim * inner[at, label]
        prior = g.prior
        by_common = by_true * (prior[at, truth] - inner[at, truth])
        by_common += by_claim * (prior[at, label] - inner[at, label])
        return value, G, float(by_common.sum())


def _tempered(rows: Told, model: Dependence) -> tuple[Floats, Floats, Floats]:
    """Return X with its derivatives by the logarithm of T and the logit of lambda.

    One row for every worker and label that they may give, of shape (workers x classes, classes).
    """
    M = rows.blended(model.blend)
    logs = np.log(M)
    power = np.exp(model.temperature * logs)
    total = power.sum(axis=2, keepdims=True)
    X = model.temperature * logs - np.log(total)
    by_temperature = model.temperature * (logs - (power * logs).sum(axis=2, keepdims=True) / total)
    by_blend = np.zeros_like(X)
    if rows.own is not None:
        change = (rows.own - rows.even) / M
        by_blend = change - (power * change).sum(axis=2, keepdims=True) / total
        by_blend *= model.temperature * model.blend * (1.0 - model.blend)
    k = M.shape[2]
    return tuple(x.transpose(0, 2, 1).reshape(-1, k) for x in (X, by_temperature, by_blend))
