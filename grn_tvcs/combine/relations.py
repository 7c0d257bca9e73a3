"""Features of the second stage: log-odds of other pairs that share a gene with this pair.

A pair is more probably an edge if its regulator has other targets. It is less probable if a
stronger path through a third gene, or a common regulator, explains it. The second stage thus learns
a hub prior whose strength depends on the hubs that the first stage finds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.features import Table, ranks, reverse
from grn_tvcs.combine.kernels import strongest
from grn_tvcs.combine.platt_scaling import sigmoid
from grn_tvcs.evidence.hubs import concentration

Array = NDArray[np.float64]
TINY = 1e-6  # added to probabilities and counts of edges before the logarithm
DIRECTIONS = {
    "first": 1,
    "first rank among regulators": -1,
    "first rank among targets": -1,
    "reverse": 0,
    "other targets": 0,
    "other regulators": 0,
    "sure other targets": 0,
    "regulated": 0,
    "path": 0,
    "common": 0,
    "edges per gene": 0,
    "concentration": 0,
    "largest hub": 0,
}
SECOND_STAGE = tuple(DIRECTIONS)


def relations(logits: Array, table: Table, inputs: NDArray[np.int64]) -> Table:
    """Add the features of the second stage to those of the first.

    Parameters
    ----------
    logits
        Log-odds of the first stage; [input, gene], arbitrary for pairs that may not be edges.
    table
        Features of the first stage.
    inputs
        Indices of the genes that may regulate.
    """
    allowed = table.allowed
    n = allowed.shape[1]
    p = np.where(allowed, sigmoid(np.clip(logits, -30, 30)), 0.0)
    out, into, total = p.sum(axis=1, keepdims=True), p.sum(axis=0, keepdims=True), p.sum()
    squares = p * p
    sure = squares.sum(axis=1, keepdims=True)
    regulated = into[0, inputs][:, None] * np.ones_like(p)
    path, common = strongest_thirds(p, inputs)
    columns: dict[str, Array | float] = {
        "first": logits,
        "first rank among regulators": np.log(ranks(logits, allowed, 0)),
        "first rank among targets": np.log(ranks(logits, allowed, 1) / n),
        "reverse": reverse(p, inputs),
        "other targets": np.log(np.maximum(out - p, 0.0) + 0.05),
        "other regulators": np.log(np.maximum(into - p, 0.0) + 0.05),
        "sure other targets": np.log(np.maximum(sure - squares, 0.0) + 0.02),
        "regulated": np.log(regulated + 0.05),
        "path": np.log(path + TINY),
        "common": np.log(common + TINY),
        "edges per gene": float(np.log(total / n + TINY)),
        "concentration": float(np.log(concentration(out[:, 0]) + TINY)),
        "largest hub": float(out.max(initial=0.0) / max(total, TINY)),
    }
    new = {k: v if isinstance(v, float) else v.astype(np.float32) for k, v in columns.items()}
    return Table(table.columns | new, allowed)


def strongest_thirds(p: Array, inputs: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return the strongest path j -> k -> i and common input j <- k -> i of each pair (j, i).

    Either is as strong as the weaker of its two pairs. `p` is 0 for a gene and itself.
    """
    among = p[:, inputs]
    both = [np.ascontiguousarray(halves) for halves in (among, among.T)]
    path, common = (strongest(halves, np.argsort(-halves, axis=1), p) for halves in both)
    return path, common
