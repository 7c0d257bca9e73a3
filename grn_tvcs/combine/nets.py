"""Small neural networks as plain arrays.

Two layers of rectified linear units (Goodfellow, Bengio and Courville, Deep Learning, 2016, chapter
6). Unlike trees, nets are continuous functions of the features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.kernels import standardise

Array = NDArray[np.float32]
MOST = np.float32(4.0)  # size of a standardised feature
ROWS = 256  # rows at a time, so that they and the weights fit into the L2 cache
SCALES = ("means", "sizes", "gaps")
WEIGHTS = ("first", "first_base", "second", "second_base", "last", "base")  # in the file as float16


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


def evaluate_net(net: Net, features: Array) -> NDArray[np.float64]:
    """Return the log-odds of every row of `features`.

    Products are always of `ROWS` rows, so the result of a row does not depend on the other rows.
    """
    weights = net.first, net.first_base, net.second, net.second_base, net.last
    first, first_base, second, second_base, last = (part.astype(np.float64) for part in weights)
    inputs, out = np.zeros((len(first), ROWS)), np.empty(len(features))
    for start in range(0, len(features), ROWS):
        rows = features[start : start + ROWS]
        standardise(np.ascontiguousarray(rows.T), net.means, net.sizes, net.gaps, MOST, inputs)
        hidden = inputs.T @ first
        hidden += first_base
        np.maximum(hidden, 0.0, out=hidden)
        hidden = hidden @ second
        hidden += second_base
        np.maximum(hidden, 0.0, out=hidden)
        out[start : start + ROWS] = (hidden @ last)[: len(rows)] + net.base[0]
    return out


def join(nets: Sequence[Net]) -> dict[str, NDArray[Any]]:
    """Return several nets as few arrays."""
    shapes = [(one.means.size, one.gaps.size, *one.second.shape) for one in nets]
    weights = [getattr(one, name).ravel() for one in nets for name in WEIGHTS]
    found = {f"net_{k}": np.concatenate([getattr(one, k) for one in nets]) for k in SCALES}
    found["net_weights"] = np.concatenate(weights).astype(np.float16)
    return found | {"net_shapes": np.array(shapes)}


def split(arrays: dict[str, NDArray[Any]]) -> list[Net]:
    """Take the nets that `join` stored out of `arrays`; none if there are none."""
    if "net_shapes" not in arrays:
        return []
    left = {name: arrays.pop(f"net_{name}") for name in (*SCALES, "weights")}
    left["weights"] = left["weights"].astype(np.float32)

    def take(name: str, *shape: int) -> NDArray[Any]:
        found, left[name] = np.split(left[name], [int(np.prod(shape))])
        return found.reshape(shape)

    nets = []
    for n, gaps, a, b in arrays.pop("net_shapes").tolist():
        scales = take("means", n), take("sizes", n), take("gaps", gaps)
        shapes = (n + gaps, a), (a,), (a, b), (b,), (b,), (1,)
        nets.append(Net(*scales, *(take("weights", *shape) for shape in shapes)))
    return nets
