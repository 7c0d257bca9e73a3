"""Pearson correlation of levels at the same time: the simplest baseline, without direction."""

from __future__ import annotations

import numpy as np

from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules


def pcc(expression: Expression, rules: Rules, rng: np.random.Generator) -> Network:
    """Score pairs by the size of their correlation over all samples, the same both ways."""
    x = expression.values - expression.values.mean(axis=0)
    size = np.sqrt((x * x).sum(axis=0))
    x = x / np.where((size > 0) & ~expression.is_constant, size, np.inf)
    r = x.T @ x
    r = (r + r.T) / 2
    np.fill_diagonal(r, 0.0)
    return Network(expression.genes, np.abs(r), np.sign(r).astype(np.int8))
