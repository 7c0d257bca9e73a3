"""Stability of gradient matching pursuit under TVCS caps, and of row-wise matching pursuit.

On random halves of the series, the next log level of every gene, adjusted for its own level, is
regressed on the past of the other genes. One solver fits all genes together by gradient matching
pursuit under caps on every regulator, every gene and all edges (GradMP: Nguyen, Chin and Tran
2012). The other fits gene by gene by orthogonal matching pursuit (OMP: Pati, Rezaiifar and
Krishnaprasad 1993).

The score of an edge is the variance of its target that it explains beyond the other edges, averaged
over all halves: the loss if a chosen edge is dropped, and a fraction of the gain if another edge is
added. Both solvers have equal weight. A hub prior raises regulators with strong scores, because
real networks have hubs. Knock-outs and knock-downs add the shift of each gene, in standard
deviations on a log scale, with indirect effects down-ranked. As far as genes were perturbed, their
effects also determine the strength of the hub prior.
"""

from __future__ import annotations

import numpy as np

from grn_tvcs.evidence.hubs import HUB_GENES, HUB_POWER, hub_prior
from grn_tvcs.evidence.knockouts import (
    KNOCKDOWN_WEIGHT,
    KNOCKOUT_WEIGHT,
    LARGEST_EFFECT,
    knockout_evidence,
)
from grn_tvcs.evidence.lagged_regression import ADDED_SHARE, DEFAULT_PLAN, lagged_regression
from grn_tvcs.evidence.samples import LOG_OFFSET
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.evidence import evidence_codes
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.draws import SubsamplingPlan
from grn_tvcs.stability.execution import SERIAL, Execution
from grn_tvcs.stability.stability import SOLVERS

DESCRIPTION = (
    "The next log level of every gene was regressed on the past of the others in random "
    "halves of the series, by gradient matching pursuit (Nguyen et al., 2012) under caps on "
    "regulators, targets and edges (Yang et al., 2017) and by orthogonal matching pursuit "
    "(Pati et al., 1993); an edge was scored by the variance that it explains beyond the "
    "others, averaged over halves."
)


def tvcs(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    *,
    parts: str = "both",
    resamples: int = DEFAULT_PLAN.resamples,
    memory: tuple[float, float] = DEFAULT_PLAN.memory,
    log_offset: float = LOG_OFFSET,
    column_weights: tuple[float, float] = DEFAULT_PLAN.column_weights,
    in_degrees: tuple[int, int] = DEFAULT_PLAN.in_degrees,
    edges_per_gene: tuple[float, float] = DEFAULT_PLAN.edges_per_gene,
    iterations: int = DEFAULT_PLAN.iterations,
    added_share: float = ADDED_SHARE,
    hub_power: float = HUB_POWER,
    hub_genes: int = HUB_GENES,
    knockout_weight: float = KNOCKOUT_WEIGHT,
    knockdown_weight: float = KNOCKDOWN_WEIGHT,
    largest_effect: float = LARGEST_EFFECT,
    steady: SteadyStates | None = None,
    execution: Execution = SERIAL,
) -> Network:
    """Score edges by the variance they explain in resampled solutions.

    Degrees of `rules` bound the drawn ones; the number of edges changes no score. A score of 1 is
    the mean of the strongest edges, one per gene, before the hub prior; signs are those of the
    summed coefficients. Needs at least three samples.

    The defaults were chosen on simulated networks of 10, 30 and 100 genes and are the same for all
    data; docs/networks.md has the effect of each.

    Parameters
    ----------
    expression, rules, rng
        As for every method. If `expression` has a perturbation column, each perturbed part of a
        series has its own intercept and is resampled separately.
    parts
        ``"tvcs"`` (GradMP under caps), ``"omp"`` (row by row) or ``"both"``.
    resamples
        Number of halves of the data.
    memory
        Range of the memory: the weight of a sample relative to one that is a median step younger.
    log_offset
        Fraction of a gene's largest level added before the logarithm.
    column_weights
        Range of the factors of the inputs.
    in_degrees, edges_per_gene
        Ranges of the drawn caps; in-degree caps hold for both solvers.
    iterations
        Of GradMP.
    added_share
        Weight of the variance that an edge not chosen would explain.
    hub_power
        Scores of a regulator are multiplied by their variance to this power ...
    hub_genes
        ... in networks of more genes than this. As far as genes were knocked out or down, the power
        is fitted to the concentration of strong effects, up to this, in networks of any size.
    knockout_weight
        Weight of knock-outs relative to the series if every gene was knocked out; less otherwise.
    knockdown_weight
        Weight of a knock-down relative to a knock-out.
    largest_effect
        Effects are clipped to this number of standard deviations.
    steady
        Knock-outs, knock-downs and wild type, with the genes of `expression`.
    execution
        As in `units.gather`.
    """
    if parts not in ("both", *SOLVERS):
        raise ValueError(f"parts must be one of both, {', '.join(SOLVERS)}, found {parts!r}")
    if min(knockout_weight, knockdown_weight, largest_effect) < 0:
        raise ValueError(
            "knockout_weight, knockdown_weight and largest_effect must be >= 0, found "
            f"{knockout_weight}, {knockdown_weight} and {largest_effect}"
        )
    if min(added_share, hub_power, hub_genes) < 0 or log_offset <= 0:
        raise ValueError(
            "added_share, hub_power and hub_genes must be >= 0 and log_offset above 0, found "
            f"{added_share}, {hub_power}, {hub_genes} and {log_offset}"
        )
    genes = expression.genes
    if not rules.candidates(genes, expression.constant_genes).allowed.any():
        return Network(genes, Pairs.scored(np.empty(0, np.int64), np.zeros((0, len(genes)))))
    plan = SubsamplingPlan(
        SOLVERS if parts == "both" else (parts,),
        resamples, memory, column_weights, in_degrees, edges_per_gene, iterations,
    )  # fmt: skip
    found = lagged_regression(
        expression, rules, rng, plan, log_offset=log_offset, added_share=added_share,
        targets_alone=True, execution=execution,
    )  # fmt: skip
    power = hub_power if len(genes) > hub_genes else 0.0
    perturbed = None
    if steady is not None:
        perturbed = knockout_evidence(
            steady, expression, rules.inputs(genes, expression.constant_genes),
            weight=knockout_weight, hub_power=hub_power, knockdown_weight=knockdown_weight,
            largest_effect=largest_effect,
        )  # fmt: skip
        power = perturbed.power_for_series(power)
    scores = found.scores * hub_prior(found.scores, power)
    signed = scores * np.sign(found.weights)
    evidence = None
    if perturbed is not None:
        at = found.targets
        by_source = [scores, perturbed.knockouts[:, at], perturbed.knockdowns[:, at]]
        signed += perturbed.signs[:, at] * (by_source[1] + by_source[2])
        scores = np.sum(by_source, axis=0)
        evidence = evidence_codes(by_source)
    return Network(
        genes,
        Pairs(
            found.inputs, found.targets, scores, np.sign(signed).astype(np.int8), scores > 0,
            stability=found.stability, evidence=evidence,
        ),
    )  # fmt: skip
