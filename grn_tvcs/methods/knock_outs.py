"""Knock-outs and knock-downs alone: shift of each gene, with indirect effects down-ranked.

Shifts are in standard deviations of steady-state levels, on a log scale. Effects that a path of two
stronger effects explains are down-ranked, as by the winners of DREAM4: Pinna, Soranzo and de la
Fuente, PLoS ONE 5, e12912 (2010). Series only contribute their first samples, as levels in steady
state.
"""

from __future__ import annotations

import numpy as np

from grn_tvcs.evidence.knockouts import KNOCKDOWN_WEIGHT, LARGEST_EFFECT, knockout_evidence
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.evidence import evidence_codes
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules

DESCRIPTION = (
    "Ordered pairs were scored by how far the target moved when the regulator was knocked out "
    "or down, in standard deviations on a log scale, indirect effects ranked down (Pinna et "
    "al., 2010); the series served only to show levels in steady state."
)


def knock_outs(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    *,
    knockdown_weight: float = KNOCKDOWN_WEIGHT,
    largest_effect: float = LARGEST_EFFECT,
    steady: SteadyStates | None = None,
) -> Network:
    """Score edges by the effect of the regulator's knock-out, or knock-down, on the target.

    Options are those of ``tvcs``, without a hub prior. Genes that were not perturbed have no
    targets.
    """
    if min(knockdown_weight, largest_effect) < 0:
        raise ValueError(
            "knockdown_weight and largest_effect must be >= 0, found "
            f"{knockdown_weight} and {largest_effect}"
        )
    if steady is None or not any(steady.changed):
        raise ValueError("knock-outs needs knock-outs or knock-downs, and none are given")
    inputs, targets, allowed = candidates = rules.inputs(
        expression.genes, expression.constant_genes
    )
    perturbed = knockout_evidence(
        steady, expression, candidates, weight=1.0, hub_power=0.0,
        knockdown_weight=knockdown_weight, largest_effect=largest_effect,
    )  # fmt: skip
    by_source = [np.zeros(allowed.shape), perturbed.knockouts, perturbed.knockdowns]
    scores = np.sum(by_source, axis=0)
    return Network(
        expression.genes,
        Pairs(
            inputs, targets, scores, perturbed.signs.astype(np.int8), scores > 0,
            evidence=evidence_codes(by_source),
        ),
    )  # fmt: skip
