"""Sampled gradient of the smooth expected accuracy with K classes."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.accuracy.model import AnswerModel, even_matrices
from crowd_tvcs.arrays import Floats


class ClassGradient:
    """Ascent directions of the expected posterior probability of the truth.

    With X[i, j] as the weight of worker i's answer on task j, the posterior of class c is the
    softmax of log prior[c] + sum of X[i, j] * Z[i, c], where Z[i, c] is the log probability of
    their answer given c. Its derivative at the truth y is
    S[y] * (Z[i, y] - sum over c of S[c] Z[i, c]).
    For two classes that is the gradient of the paper.

    Attributes
    ----------
    strength
        Largest log ratio of two probabilities of one answer of every worker, of shape (workers,
        tasks): how far an answer moves the log posterior.
    """

    def __init__(self, model: AnswerModel, surest: float) -> None:
        """Clip all probabilities to at least `surest`, so that their logs are finite."""
        k = model.n_classes
        safe = np.maximum(model.matrices, surest)
        safe /= safe.sum(axis=2, keepdims=True)
        self._are_even = np.allclose(safe, even_matrices(safe[:, 0, 0], k), rtol=0.0, atol=1e-12)
        self._right = safe[:, 0, 0][model.kind]
        self._weight = np.log(safe[:, 0, 0] / safe[:, 0, 1])[model.kind]
        self._logs = np.log(safe)
        self._below = np.cumsum(safe, axis=2)[:, :, :-1]
        self._kind = model.kind
        self._prior = model.prior
        with np.errstate(divide="ignore"):
            # Where all classes weigh 0, the sample is multiplied by 0.
            idle = model.prior.max(axis=1, keepdims=True) == 0.0
            self._log_prior = np.log(np.where(idle, 1.0, model.prior))
        most = (self._logs.max(axis=1) - self._logs.min(axis=1)).max(axis=1)
        self.strength: Floats = np.where(model.informativeness > 0.0, most, 0.0)[model.kind]
        self._classes = range(k)

    def sample(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Sample all answers once given each class, weighted by its prior."""
        out = np.zeros(X.shape)
        for y in self._classes:
            draws = rng.random(X.shape)
            step = self._even_step if self._are_even else self._step
            out += self._prior[:, y] * step(X, y, draws)
        return out

    def _step(self, X: Floats, y: int, draws: Floats) -> Floats:
        """Return the derivative of the posterior of y, for answers drawn given y."""
        answer = (draws[:, :, None] >= self._below[self._kind, y]).sum(axis=2)
        Z = self._logs[self._kind, :, answer]
        S = self._posterior(np.einsum("ij,ijc->jc", X, Z))
        return S[:, y] * (Z[:, :, y] - np.einsum("jc,ijc->ij", S, Z))

    def _even_step(self, X: Floats, y: int, draws: Floats) -> Floats:
        """Return the same if an answer supports one class and opposes all others equally."""
        q, k = self._right, len(self._classes)
        other = ((draws - q) / (1.0 - q) * (k - 1)).astype(np.int64).clip(0, k - 2)
        answer = np.where(draws < q, y, (y + 1 + other) % k)
        answered = [answer == c for c in self._classes]
        evidence = X * self._weight
        S = self._posterior(np.column_stack([(evidence * is_c).sum(axis=0) for is_c in answered]))
        given = sum(S[:, c] * is_c for c, is_c in enumerate(answered))
        return S[:, y] * self._weight * (answered[y] - given)

    def _posterior(self, evidence: Floats) -> Floats:
        logs = self._log_prior + evidence
        S: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
        S /= S.sum(axis=1, keepdims=True)
        return S
