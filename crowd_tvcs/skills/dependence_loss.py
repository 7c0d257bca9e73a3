"""The loss of the fit of `dependence` to gold, with its gradient.

It has three terms. The first is the log probability of the true label, as a mean over the first 1,
2, 3, 5 and all answers of a task and a sum over tasks. The second is the log density of the normal
prior (`PRIOR_MEAN`). The third is a penalty on miscalibration: for each number of answers the
squared difference of mean confidence and accuracy, in units of its variance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.belief.constants import KNOTS
from crowd_tvcs.belief.dependent import (
    AnswerLikelihoods,
    contrasts,
    dependent_posterior,
    family_weights,
)
from crowd_tvcs.belief.parameters import knot_weights
from crowd_tvcs.skills.common_error import DEFAULT_ERROR
from crowd_tvcs.skills.dependence import CalibrationBin, Dependence

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SIZE = 6 + len(KNOTS)  # parameters that are fitted
PREFIXES = (1, 2, 3, 5, None)  # numbers of answers that a task is judged by; None for all
# Mean of six public crowds, on the scales of `Dependence.at` (benchmarks/crowd/usual.py).
PRIOR_MEAN = np.array([-0.05, -1.9, -0.4, 0.3, -3.5, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
# Deviation between them; with many answers crowds differ most (docs/decisions, 64 and 65).
PRIOR_DEVIATION = np.array([0.3, 1.1, 0.25, 1.2, 1.0, 1.0, 0.35, 0.35, 0.35, 0.35, 0.8])
MAX_DEVIATIONS = 4.0  # bounds of the fit around the prior's mean, in its deviations
MAX_ITERATIONS = 30
# Weight of the miscalibration penalty against the log probability of the labels: on six crowds it
# lowered the mean gap from .0144 to .010 at the same log score (docs/decisions, 64).
CALIBRATION_WEIGHT = 3.0
CALIBRATION_HALF_GOLD = 30.0  # gold tasks with which the weight is half of that
MIN_VARIANCE = 0.02  # of a hit or miss, so that a perfect bin does not weigh without bound


def usual_dependence(**facts: Any) -> Dependence:
    """Return the model at the prior's mean, for too little gold to fit one."""
    usual = Dependence.at(PRIOR_MEAN, source="little gold", plan_error=DEFAULT_ERROR)
    return replace(usual, blend=0.0, **facts)


@dataclass(frozen=True, eq=False)
class Prefixes:
    """Gold tasks by the first of their answers: each group holds some answers to one task.

    Attributes
    ----------
    rows
        All answers to gold tasks.
    entry, group_of
        Membership of answers in groups: index of the answer and of the group of each membership.
    n
        Number of answers of every group.
    truth, prior
        Label and class prevalence of the task of every group.
    part
        Slices of the groups with the same number of answers, in the order of `PREFIXES`.
    weight
        Weight of every group; those of a task add up to 1.
    family_of
        Family of the worker of every answer; None if workers have none.
    """

    rows: AnswerLikelihoods
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
        """Number of gold tasks."""
        return round(self.n.size * self.weight)

    @property
    def last(self) -> int:
        """Number of answers at the last knot: the median of the tasks, if that is more."""
        return max(KNOTS[-1], round(float(np.median(self.n[self.part[-1]]))))

    def posteriors(self, model: Dependence) -> Floats:
        """Return the probability of every label of every group."""
        rows, weight = self.rows.take(self.entry), self.weights(model.within)
        return dependent_posterior(
            model, rows, self.group_of, self.n.size, self.prior, model.shares, weight
        )

    def weights(self, within: float) -> Floats | None:
        """Return the weight of every membership among those of its family; None for 1 each."""
        if self.family_of is None or not within:
            return None
        return family_weights(within, self.group_of, self.family_of[self.entry])

    def score(self, model: Dependence) -> float:
        """Return the mean log probability of the true label."""
        p = self.posteriors(model)
        return float(np.log(p[np.arange(self.truth.size), self.truth]).mean())

    def measured(self, model: Dependence) -> tuple[CalibrationBin, ...]:
        """Return mean confidence and accuracy by the number of answers."""
        p = self.posteriors(model)
        claim, hit = p.max(axis=1), p.argmax(axis=1) == self.truth
        return tuple(
            CalibrationBin.of(claim[part], hit[part], labels, self.tasks)
            for labels, part in zip(PREFIXES, self.part, strict=True)
        )


class Loss:
    """Negative log posterior at a point on the scales of `Dependence.at`, with its gradient."""

    def __init__(self, given: Prefixes, within: float = 0.0) -> None:
        rows, k = given.rows, given.prior.shape[1]
        self.given = given
        weight, n = given.weights(within), given.n
        if weight is not None:
            n = np.bincount(given.group_of, weight, minlength=n.size)
        self.weight = 1.0 if weight is None else weight
        self.basis = knot_weights(n, given.last)
        self.log_prior = np.log(given.prior)
        self.others = np.maximum(n - 1.0, 0.0)
        self.calibration_weight = (
            CALIBRATION_WEIGHT * given.tasks / (given.tasks + CALIBRATION_HALF_GOLD)
        )
        self.contrast = contrasts(rows.weight[given.entry], given.group_of, given.n)
        self.cell = rows.worker_of * k + rows.label_of  # of the tables of `_tempered_tables`
        self.by_group = np.argsort(given.group_of, kind="stable")
        self.ends = np.concatenate(([0], np.cumsum(given.n)))

    def minimizer(self) -> Floats:
        """Return the point of the smallest loss."""
        from scipy.optimize import minimize

        from tvcs_core.engines.blas import one_blas_thread

        most = PRIOR_MEAN + MAX_DEVIATIONS * PRIOR_DEVIATION
        most[1] = 0.0  # rho <= 1: n / (1 + rho (n - 1)) does not fall with n
        bounds = list(zip(PRIOR_MEAN - MAX_DEVIATIONS * PRIOR_DEVIATION, most, strict=True))
        rounds = {"maxiter": MAX_ITERATIONS}
        with one_blas_thread():  # eleven parameters: threads would only wait for each other
            found = minimize(
                self, PRIOR_MEAN, jac=True, method="L-BFGS-B", bounds=bounds, options=rounds
            )
        return found.x

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient.

        The chain rule in the order of the model: p from z = b log pi + c S, S = sum of f X, X from
        T and lambda. `by_q` is the derivative of the loss with respect to q.
        """
        g, model = self.given, Dependence.at(point)
        X, by_temperature, by_blend = (
            x.take(self.cell, axis=0) for x in _tempered_tables(g.rows, model)
        )
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
        off = (point - PRIOR_MEAN) / PRIOR_DEVIATION
        return value + float(off @ off) / 2.0, gradient + off / PRIOR_DEVIATION

    def _adding_up(self, values: Floats) -> csr_array:
        """Return the sparse matrix that sums answers by group, weighted by `values`."""
        from scipy.sparse import csr_array

        g, order = self.given, self.by_group
        shape = g.n.size, g.rows.label_of.size
        return csr_array((values[order], g.entry[order], self.ends), shape=shape)

    def _outer(self, inner: Floats, model: Dependence) -> tuple[float, Floats, float]:
        """Return the loss without the prior, and its derivatives by the inner logits z and by eps.

        With p = (1 - eps) s + eps pi and s = softmax(z): dp_k / dz_y = (1 - eps) s_k (1[k = y] -
        s_y).
        """
        g, at, rest = self.given, np.arange(inner.shape[0]), 1.0 - model.common
        outer = rest * inner + model.common * g.prior
        label = outer.argmax(axis=1)
        claim, hit = outer[at, label], label == g.truth
        value, by_claim = 0.0, np.empty(label.size)
        for part in g.part:
            share, off = hit[part].mean(), (claim[part] - hit[part]).mean()
            unit = self.calibration_weight / max(share * (1.0 - share), MIN_VARIANCE)
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


def _tempered_tables(rows: AnswerLikelihoods, model: Dependence) -> tuple[Floats, Floats, Floats]:
    """Return X with its derivatives by the logarithm of T and the logit of lambda.

    There is one row for every worker and possible label, of shape (workers x classes, classes).
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
