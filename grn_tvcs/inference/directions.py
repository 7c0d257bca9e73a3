"""Pairs whose direction an inference does not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import CLOSE, Pairs, reversed_ways, undirected_pairs

if TYPE_CHECKING:
    from grn_tvcs.inference.inputs import Inputs


def without_direction(pairs: Pairs, inputs: Inputs, method: str) -> NDArray[np.bool_] | None:
    """Return which pairs are undirected; None if none is.

    Lags show a direction, and so does the probability of an edge if there are series, as two
    genes may regulate each other. Other scores show one if they differ enough. A pair is directed
    in any case where one of the genes was perturbed, or where a prior lists one way only.

    Parameters
    ----------
    pairs
        With the scores of the method.
    inputs
        From which they were scored.
    method
        A name in `METHODS`.
    """
    known = METHODS[method]
    if known.is_lagged or (inputs.expression.series and pairs.confidence is not None):
        return None
    found = undirected_pairs(pairs, inputs.candidates.allowed, 0.0 if known.is_symmetric else CLOSE)
    if found is None:
        return None
    steady, prior = inputs.steady, inputs.prior
    if steady is not None:
        is_changed = steady.is_changed(is_out=True) | steady.is_changed(is_out=False)
        found &= ~(is_changed[pairs.regulators, None] | is_changed[pairs.targets])
    if prior is not None:
        is_listed = prior.restrict_to(pairs.regulators, pairs.targets).weights > 0
        found &= is_listed == reversed_ways(pairs, is_listed)
    return found if found.any() else None


def describe_undirected(network: Network) -> str:
    """Describe how many selected edges have no known direction; empty for none."""
    if not (n := network.n_undirected):
        return ""
    are = "is" if n == 1 else "are"
    return (
        f"{n} of the {network.n_selected} selected edges {are} undirected: the data do not show "
        "which of the two genes regulates the other, so the pair is one edge, in the direction "
        "that scores higher."
    )
