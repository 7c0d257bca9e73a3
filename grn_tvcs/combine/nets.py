"""Small neural networks as plain arrays.

Two layers of rectified linear units (Goodfellow, Bengio and Courville, Deep Learning, 2016, chapter
6). Unlike trees, nets are continuous functions of the features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.kernels import standardise

Array = NDArray[np.float32]
MOST = np.float32(4.0)  # size of a standardised feature
ROWS = 256  # rows at a time, so that they and the weights fit into the L2 cache


class Net(NamedTuple):
    """A network with two hidden layers.

    Attributes
    ----------
    means, sizes
        Mean and standard deviation of every feature in training. Standardised values are clipped to
        [-4, 4]; constant features have infinite size.
    gaps
        Features with an indicator of missing values; features with equal gaps share one.
    first, second, last
        Weights of the layers, [from, to]; indicators follow the features.
    first_base, second_base, base
        Biases.
    """

    means: Array
    sizes: Array
    gaps: NDArray[np.int32]
    first: Array
    first_base: Array
    second: Array
    second_base: Array
    last: Array
    base: Array


def evaluate_net(
    net: Net, features: Array, shared: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Return the log-odds of every row of `features`.

    Products are always of `ROWS` rows, so the result of a row does not depend on the other rows.
    Features that all rows have in common, `shared`, go into the bias of the first layer.
    """
    own = np.ones(net.means.size, np.bool_) if shared is None else ~shared
    is_own = np.append(own, own[net.gaps])  # of the inputs of the first layer
    weights = net.first, net.first_base, net.second, net.second_base, net.last
    first, first_base, second, second_base, last = (part.astype(np.float64) for part in weights)
    row = np.zeros((len(first), 1))
    standardise(np.ascontiguousarray(features[:1].T), net.means, net.sizes, net.gaps, MOST, row)
    first_base += row[~is_own, 0] @ first[~is_own]
    first = first[is_own]
    means, sizes = net.means[own], net.sizes[own]
    gaps = (np.cumsum(own, dtype=np.int32) - 1)[net.gaps[own[net.gaps]]]
    inputs, out = np.zeros((len(first), ROWS)), np.empty(len(features))
    for start in range(0, len(features), ROWS):
        rows = features.T[own, start : start + ROWS]
        standardise(rows, means, sizes, gaps, MOST, inputs)
        hidden = inputs.T @ first
        hidden += first_base
        np.maximum(hidden, 0.0, out=hidden)
        hidden = hidden @ second
        hidden += second_base
        np.maximum(hidden, 0.0, out=hidden)
        out[start : start + ROWS] = (hidden @ last)[: rows.shape[1]] + net.base[0]
    return out
