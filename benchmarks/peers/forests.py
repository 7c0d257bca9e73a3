"""Forests of the peers in studies of all methods, and the precision of a top that they all have.

A forest of random trees for each of a hundred genes takes minutes. So GENIE3 and dynGENIE3 have
extremely randomised trees above `FORESTS_UP_TO` genes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence import extra_trees

FORESTS = ("genie3", "dyngenie3")
FORESTS_UP_TO, TREES, EXTRA_TREES = 10, 300, 100


@contextmanager
def forests(method: str, n_genes: int) -> Iterator[dict[str, int]]:
    """Yield the options of a method: of GENIE3 and dynGENIE3 the number of trees."""
    if method not in FORESTS:
        yield {}
    elif n_genes <= FORESTS_UP_TO:
        yield {"trees": TREES}
    else:
        module = import_module(f"grn_tvcs.methods.{method}")
        with patch.object(module, "importances", _extremely_randomised):
            yield {"trees": EXTRA_TREES}


def _extremely_randomised(
    inputs: Any, response: Any, rng: Any, trees: int, threads: int = 1
) -> Any:
    return extra_trees.importances(inputs, response, rng, trees)


def describe_forests(method: str, n_genes: int) -> str:
    """Describe the trees of a method, if it has any."""
    if method not in FORESTS:
        return ""
    if n_genes <= FORESTS_UP_TO:
        return f"{TREES} trees"
    return f"{EXTRA_TREES} extremely randomised trees"


def precision_of_top(truth: NDArray[np.bool_], scores: NDArray[np.float64], n: int) -> float:
    """Return the fraction of edges among the top n; of a tie at the end the mean of all choices."""
    last = np.partition(scores, -n)[-n]
    above, tied = scores > last, scores == last
    return float((truth[above].sum() + (n - above.sum()) * truth[tied].mean()) / n)
