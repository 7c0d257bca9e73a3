"""Ordinal worker model: how a worker of a given bias, scale, noise and lapse rate answers.

The steps of the scale are 0 to K-1, with half-width h = (K-1)/4 and centre c = (K-1)/2. A worker
who sees score z answers step k with probability

    (1 - lapse) [Phi((k + 1/2 - m) / noise) - Phi((k - 1/2 - m) / noise)] + lapse share_k,
    m = c + bias + scale (z - c),

with open outer steps (Thurstone's law of categorical judgement, with the worker's own line), and
one more type answers by the shares alone (spam). Types are points of a grid, so that everything is
a sum. Grid and prior: simulated crowds and public sets, docs/crowd-kinds.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from crowd_tvcs.arrays import Floats, Integers

BIASES = (-1.3, -0.6, 0.0, 0.6, 1.3)  # in half-widths
SCALES = (0.0, 0.4, 0.7, 1.0, 1.25)
NOISES = (0.25, 0.5, 0.9, 1.6)  # in half-widths
LAPSES = (0.02, 0.12, 0.35)
LAPSE_PRIOR = (0.5, 0.3, 0.15)
SPAM_PRIOR = 0.05
SCORE_STEP = 0.25  # between scores; half of it changes no third digit
MIN_PROBABILITY = 1e-4


class WorkerTypes(NamedTuple):
    """The grid of worker types.

    Attributes
    ----------
    scores
        Possible scores of a task, in steps, from -1 to K.
    bias, scale, noise, lapse
        Of every type; bias and noise in steps. The last type is spam, of scale 0 and lapse 1.
    prior
        Prior probability of every type.
    likelihood
        Probability of an answer, of shape (types, scores, answers).
    """

    scores: Floats
    bias: Floats
    scale: Floats
    noise: Floats
    lapse: Floats
    prior: Floats
    likelihood: Floats


def worker_types(n_steps: int, answer_shares: Floats) -> WorkerTypes:
    """Return the types for a scale of so many steps and the share of each among lapses."""
    half, centre = (n_steps - 1) / 4, (n_steps - 1) / 2
    scores = np.arange(-1, n_steps + SCORE_STEP / 2, SCORE_STEP)
    bias, scale, noise = (
        one.ravel()
        for one in np.meshgrid(
            np.array(BIASES) * half, SCALES, np.array(NOISES) * half, indexing="ij"
        )
    )
    mean = centre + bias[:, None] + scale[:, None] * (scores - centre)
    cuts = np.concatenate([[-np.inf], np.arange(n_steps - 1) + 0.5, [np.inf]])
    attentive = np.diff(ndtr((cuts - mean[:, :, None]) / noise[:, None, None]), axis=2)
    weight = np.exp(
        -0.5 * (bias / (0.6 * half)) ** 2
        - 0.5 * ((scale - 0.95) / 0.3) ** 2
        - 0.5 * (np.log(noise / (0.6 * half)) / 0.6) ** 2
    )
    weight /= weight.sum()
    spam = np.broadcast_to(answer_shares, (1, *attentive.shape[1:]))
    parts = [(1 - lapse) * attentive + lapse * answer_shares for lapse in LAPSES]
    n = len(LAPSES)
    return WorkerTypes(
        scores,
        np.append(np.tile(bias, n), 0.0),
        np.append(np.tile(scale, n), 0.0),
        np.append(np.tile(noise, n), half),
        np.append(np.repeat(LAPSES, weight.size), 1.0),
        np.append(np.concatenate([share * weight for share in LAPSE_PRIOR]), SPAM_PRIOR),
        np.clip(np.concatenate([*parts, spam]), MIN_PROBABILITY, None),
    )


def lapse_shares(label_of: Integers, n_steps: int) -> Floats:
    """Return the answers of a worker who lapses: half the shares of the crowd, half even."""
    counts = np.bincount(label_of, minlength=n_steps)
    return (counts / counts.sum() + 1 / n_steps) / 2
