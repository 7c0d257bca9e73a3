"""What is true of every network, whatever the method: digits, signs, directions and a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grn_tvcs.combine.signs import supported_signs
from grn_tvcs.inference.directions import without_direction
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.evidence import name_overexpressed
from grn_tvcs.network.ranking import significant

if TYPE_CHECKING:
    from grn_tvcs.inference.inputs import Inputs
    from grn_tvcs.network.network import Network

DIGITS = 6  # significant digits of scores


def finished(scored: Network, inputs: Inputs, method: str) -> Network:
    """Return a network with the facts that `infer` gives for all methods, and its verdict.

    Parameters
    ----------
    scored
        The network of the method.
    inputs
        From which it was scored.
    """
    candidates, steady = inputs.candidates, inputs.steady
    pairs = scored.pairs.restrict_to(candidates.regulators, candidates.targets)
    scores = significant(np.where(candidates.allowed, pairs.scores, 0.0), DIGITS)
    own = pairs.selected if METHODS[method].selects else None
    pairs = replace(pairs, scores=scores, selected=scores > 0, own=own)
    signs = supported_signs(pairs, inputs.expression, steady, inputs.prior) * (scores > 0)
    evidence = pairs.evidence
    if steady is not None and steady.n_overexpressions and evidence is not None:
        evidence = name_overexpressed(evidence, steady.only_overexpressed()[pairs.regulators])
    pairs = replace(pairs, signs=signs.astype(np.int8), evidence=evidence)
    undirected = without_direction(pairs, inputs, method)
    return scored.replace(pairs=pairs, undirected=undirected).with_verdict()
