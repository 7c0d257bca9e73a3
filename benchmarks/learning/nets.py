"""Train the small nets of `grn_tvcs.combine.nets` with NumPy.

By Adam (Kingma and Ba, ICLR 2015) with decoupled weight decay and cosine annealing of the learning
rate (Loshchilov and Hutter, ICLR 2017 and 2019).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.nets import Array, Net

HIDDEN = (64, 32)  # units per layer
# Passes over the data, rows per batch, initial learning rate and weight decay. On held-out networks
# twice the units or epochs gained .003 and .002 of AUPR (decision 127).
EPOCHS, BATCH, RATE, DECAY = 12, 1024, 2e-3, 5e-3
FORGET, FORGET_SQUARES, TINY = 0.9, 0.999, 1e-8  # beta_1, beta_2 and epsilon of Adam


def learn_net(
    features: Array, labels: NDArray[np.bool_], weight: NDArray[np.float64], draw: int
) -> Net:
    """Train on rows of features, labels and weights of rows.

    Equal arguments give equal nets with one BLAS thread, on the same kind of machine and the same
    version of NumPy. Another `draw` has other initial weights and batches.
    """
    rng = np.random.default_rng(draw)
    means, sizes, gaps = _scales(features)
    layer_input = _layer_input(features, means, sizes, gaps)
    widths = (layer_input.shape[1], *HIDDEN, 1)
    weights = [_drawn(a, b, rng) for a, b in pairwise(widths)]
    weights[-1] *= np.float32(0.1)
    bases = [np.zeros(n, dtype=np.float32) for n in widths[1:]]
    counts = (weight / weight.mean()).astype(np.float32)
    true = labels.astype(np.float32)
    batch = min(BATCH, len(true))
    n_steps, step = EPOCHS * (len(true) // batch), 0
    adam = _Adam([*weights, *bases], len(weights))
    for _ in range(EPOCHS):
        order = rng.permutation(len(true))
        for start in range(0, len(true) - batch + 1, batch):
            rows = order[start : start + batch]
            slopes = _slopes(
                layer_input[rows], true[rows], counts[rows] / np.float32(batch), weights, bases
            )
            step += 1
            adam.step(slopes, RATE * (0.5 + 0.5 * float(np.cos(np.pi * step / n_steps))))
    first, second, last = weights
    return Net(means, sizes, gaps, first, bases[0], second, bases[1], last[:, 0], bases[2])


def _scales(features: Array) -> tuple[Array, Array, NDArray[np.int32]]:
    """Return means and standard deviations of features, and the features with distinct gaps."""
    is_gap = np.isnan(features)
    n = np.maximum((~is_gap).sum(axis=0), 1)
    means = np.where(is_gap, 0, features).sum(axis=0, dtype=np.float64) / n
    squares = np.where(is_gap, 0, features - means) ** 2
    sizes = np.sqrt(squares.sum(axis=0) / n)
    sizes[sizes < 1e-6] = np.inf
    gaps: dict[bytes, int] = {}
    for k in np.flatnonzero(is_gap.any(axis=0) & ~is_gap.all(axis=0)).tolist():
        gaps.setdefault(np.packbits(is_gap[:, k]).tobytes(), k)
    found = np.array(list(gaps.values()), dtype=np.int32)
    return means.astype(np.float32), sizes.astype(np.float32), found


def _layer_input(features: Array, means: Array, sizes: Array, gaps: NDArray[np.int32]) -> Array:
    """Return the input of the first layer, as in `evaluate_net`."""
    scaled = np.clip((features - means) / sizes, -4.0, 4.0)
    is_gap = np.isnan(features[:, gaps]).astype(np.float32)
    return np.concatenate([np.nan_to_num(scaled, nan=0.0), is_gap], axis=1)


def _drawn(n_from: int, n_to: int, rng: np.random.Generator) -> Array:
    """Return initial weights by the rule of He et al. (ICCV 2015)."""
    return (rng.standard_normal((n_from, n_to)) * np.sqrt(2.0 / n_from)).astype(np.float32)


def _slopes(
    layer_input: Array, true: Array, weight: Array, weights: list[Array], bases: list[Array]
) -> list[Array]:
    """Return the gradient of the weighted log loss by all weights and biases (back-propagation)."""
    layers = [layer_input]
    for w, b in zip(weights[:-1], bases[:-1], strict=True):
        layers.append(np.maximum(layers[-1] @ w + b, 0))
    output = (layers[-1] @ weights[-1] + bases[-1])[:, 0]
    p = 1.0 / (1.0 + np.exp(-np.clip(output, -30, 30)))
    slope = (weight * (p - true))[:, None]
    of_weights, of_bases = [], []
    for w, layer in zip(weights[::-1], layers[::-1], strict=True):
        of_weights.append(layer.T @ slope)
        of_bases.append(slope.sum(axis=0))
        slope = (slope @ w.T) * (layer > 0)
    return [*of_weights[::-1], *of_bases[::-1]]


class _Adam:
    """Adam updates of arrays in place, with weight decay on the first `n_decayed` of them."""

    def __init__(self, arrays: list[Array], n_decayed: int) -> None:
        self._arrays, self._n_decayed, self._n_steps = arrays, n_decayed, 0
        self._means = [np.zeros_like(array) for array in arrays]
        self._squares = [np.zeros_like(array) for array in arrays]

    def step(self, slopes: list[Array], rate: float) -> None:
        self._n_steps += 1
        known = 1.0 - FORGET**self._n_steps
        known_squares = 1.0 - FORGET_SQUARES**self._n_steps
        for k, (array, slope) in enumerate(zip(self._arrays, slopes, strict=True)):
            mean, square = self._means[k], self._squares[k]
            mean += (1.0 - FORGET) * (slope - mean)
            square += (1.0 - FORGET_SQUARES) * (slope * slope - square)
            change = (mean / known) / (np.sqrt(square / known_squares) + TINY)
            if k < self._n_decayed:
                change += DECAY * array
            array -= np.float32(rate) * change
