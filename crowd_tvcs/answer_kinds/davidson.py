"""Davidson's model of comparisons with ties (1970), with weight, side and tie rate per worker.

    P(left) : P(right) : P(tie) = e^u : e^-u : e^(t + t_w),
    u = (a_w (theta_left - theta_right) + s + s_w) / 2

The score theta of an item, and a worker's weight a_w (below 0 for one who answers the other way
round), side s_w and log tie rate t_w have normal priors; the variance of the scores is fitted by
expectation-maximisation. The mean weight is held near 1: otherwise the joint maximum trades weights
against the spread of the scores, and their intervals are too short. Maximum a posteriori by Fisher
scoring; the inverse of the expected information is the covariance (Laplace).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from crowd_tvcs.answer_kinds.comparisons import Comparisons
from crowd_tvcs.answer_kinds.words import TIE
from crowd_tvcs.arrays import Floats, Integers

# Deviations of the priors (docs/crowd-kinds.md).
WEIGHT_SD, SIDE_SD, TIE_SD = 0.5, 0.4, 0.8  # of a worker
COMMON_SIDE_SD = 0.3
COMMON_TIE_MEAN, COMMON_TIE_SD = -1.0, 1.5
MEAN_WEIGHT_SD = 0.05
ROUNDS = 4  # of the variance of the scores
MAX_STEPS = 25
TOLERANCE = 1e-4
MAX_PARAMETERS = 5000  # the information is a dense matrix of so many rows


class DavidsonFit(NamedTuple):
    """The fitted model.

    Attributes
    ----------
    score
        Score of every item; the mean is 0.
    covariance
        Covariance of the scores, before they are centred.
    weight, side, tie
        Of every worker: how much scores decide, log odds of the left side, log tie rate beyond that
        of the crowd; 1, 0 and 0 if all are alike.
    common_side, common_tie
        Of the crowd.
    residuals
        Of every answer: left less right, observed less expected, and its variance; of shape
        (answers, 2).
    """

    score: Floats
    covariance: Floats
    weight: Floats
    side: Floats
    tie: Floats
    common_side: float
    common_tie: float
    residuals: Floats


class _Model:
    """The negative log posterior, its gradient and expected information.

    Its parameters are scores, weights, sides, log tie rates, and the common side and tie rate; if
    all workers are alike, `workers` is 0.
    """

    def __init__(self, data: Comparisons, *, one_worker: bool) -> None:
        self.data, self.has_ties = data, bool((data.answer_of == TIE).any())
        n, w = len(data.items), 0 if one_worker else len(data.workers)
        self.items, self.workers, self.size = n, w, n + 3 * w + 2
        self.weights = slice(n, n + w)
        self.mean = np.zeros(self.size)
        self.mean[self.weights] = 1.0
        self.mean[-1] = COMMON_TIE_MEAN
        deviations = np.repeat([WEIGHT_SD, SIDE_SD, TIE_SD], w)
        common = [COMMON_SIDE_SD, COMMON_TIE_SD]
        self.precision = np.concatenate([np.ones(n), deviations**-2.0, np.array(common) ** -2.0])
        self.answered = np.eye(3)[data.answer_of]

    def utilities(self, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return u, log tie rate, weight and score difference of every answer."""
        data, n, w = self.data, self.items, self.workers
        differs = x[data.left_of] - x[data.right_of]
        weight, side, tie = np.ones(data.size), x[-2], np.full(data.size, x[-1])
        if w:
            weight = x[n + data.worker_of]
            side = side + x[n + w + data.worker_of]
            tie = tie + x[n + 2 * w + data.worker_of]
        if not self.has_ties:
            tie = np.full(data.size, -np.inf)
        return (weight * differs + side) / 2, tie, weight, differs

    def evaluate(self, x: Floats) -> tuple[Floats, float]:
        """Return the chances (left, right, tie) of every answer, and the negative log posterior."""
        u, tie, _, _ = self.utilities(x)
        logs = np.column_stack([u, -u, tie])
        top = logs.max(axis=1)
        total = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
        picked = logs[np.arange(u.size), self.data.answer_of]
        loss = (total - picked).sum() + 0.5 * (self.precision * (x - self.mean) ** 2).sum()
        if self.workers:
            loss += 0.5 * ((x[self.weights].mean() - 1) / MEAN_WEIGHT_SD) ** 2
        return np.exp(logs - total[:, None]), float(loss)

    def derivatives(self, x: Floats, chances: Floats) -> tuple[Floats, Floats]:
        """Return the gradient, and the expected information with that of the priors."""
        du, dt = self._designs(x)
        p, is_won = chances, self.answered
        lead = p[:, 0] - p[:, 1]
        by_u, by_t = lead - is_won[:, 0] + is_won[:, 1], p[:, 2] - is_won[:, 2]
        gradient = du.T @ by_u + dt.T @ by_t + self.precision * (x - self.mean)
        of_uu, of_ut = p[:, 0] + p[:, 1] - lead**2, -p[:, 2] * lead
        of_tt = p[:, 2] * (1 - p[:, 2])
        cross = du.T @ dt.multiply(of_ut[:, None])
        alone = du.T @ du.multiply(of_uu[:, None]) + dt.T @ dt.multiply(of_tt[:, None])
        whole = sparse.csr_array(alone + cross + cross.T)
        information: Floats = whole.toarray()
        information[np.diag_indices_from(information)] += self.precision
        if self.workers:
            w, at = self.workers, self.weights
            gradient[at] += (x[at].mean() - 1) / MEAN_WEIGHT_SD**2 / w
            information[at, at] += 1 / (MEAN_WEIGHT_SD * w) ** 2
        return gradient, information

    def _designs(self, x: Floats) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the derivatives of u and of the log tie rate, of shape (answers, parameters)."""
        data, n, w = self.data, self.items, self.workers
        _, _, weight, differs = self.utilities(x)
        half, who = np.full(data.size, 0.5), data.worker_of
        of_u = [(data.left_of, weight / 2), (data.right_of, -weight / 2)]
        of_u.append((np.full(data.size, self.size - 2), half))
        of_t = [(np.full(data.size, self.size - 1), 2 * half)]
        if w:
            of_u += [(n + who, differs / 2), (n + w + who, half)]
            of_t += [(n + 2 * w + who, 2 * half)]
        return self._matrix(of_u), self._matrix(of_t if self.has_ties else [])

    def _matrix(self, columns: list[tuple[Integers, Floats]]) -> sparse.csr_array:
        shape = (self.data.size, self.size)
        if not columns:
            return sparse.csr_array(shape)
        row = np.tile(np.arange(self.data.size), len(columns))
        at = np.concatenate([column for column, _ in columns])
        values = np.concatenate([value for _, value in columns])
        return sparse.csr_array((values, (row, at)), shape)


def fit_davidson(data: Comparisons, *, one_worker: bool = False) -> DavidsonFit:
    """Fit the model; with `one_worker` all workers are alike."""
    model = _Model(data, one_worker=one_worker)
    if model.size > MAX_PARAMETERS:
        remedy = "rank parts of the items" if one_worker else "give --one-worker (one_worker=True)"
        raise ValueError(
            f"{len(data.items)} items and {len(data.workers)} workers have {model.size} "
            f"parameters, more than {MAX_PARAMETERS}; {remedy}"
        )
    x, n = model.mean.copy(), model.items
    for _ in range(ROUNDS):
        x, covariance = _maximize(model, x)
        spread = x[:n] @ x[:n] + np.trace(covariance[:n, :n])
        model.precision[:n] = (n + 2) / (spread + 2)
    return _fitted(model, x, covariance[:n, :n])


def _maximize(model: _Model, x: Floats) -> tuple[Floats, Floats]:
    """Return the maximum a posteriori from x on, and its covariance."""
    for _ in range(MAX_STEPS):
        chances, here = model.evaluate(x)
        gradient, information = model.derivatives(x, chances)
        step = np.linalg.solve(information, gradient)
        share = 1.0
        while model.evaluate(x - share * step)[1] > here and share > 1e-4:
            share /= 2
        x = x - share * step
        if np.abs(share * step).max() < TOLERANCE:
            break
    _, information = model.derivatives(x, model.evaluate(x)[0])
    return x, np.asarray(np.linalg.inv(information), dtype=np.float64)


def _fitted(model: _Model, x: Floats, covariance: Floats) -> DavidsonFit:
    data, n, w = model.data, model.items, model.workers
    p, _ = model.evaluate(x)
    lead = p[:, 0] - p[:, 1]
    observed = model.answered[:, 0] - model.answered[:, 1]
    if w:
        weight, side, tie = x[n : n + w], x[n + w : n + 2 * w], x[n + 2 * w : n + 3 * w]
    else:
        weight, side, tie = (np.full(len(data.workers), value) for value in (1.0, 0.0, 0.0))
    return DavidsonFit(
        x[:n] - x[:n].mean(), covariance, weight, side, tie, float(x[-2]),
        float(x[-1]) if model.has_ties else -np.inf,
        np.column_stack([observed - lead, p[:, 0] + p[:, 1] - lead**2]),
    )  # fmt: skip
