"""Stability of gradient matching pursuit under TVCS caps, and of row-wise matching pursuit.

On random halves of the series the next level of every gene, on a log scale and less what its own
level says, is regressed on the past of the other genes, once for all genes together by gradient
matching pursuit under caps on every regulator, every gene and all edges (GradMP: Nguyen, Chin and
Tran 2012), and once gene by gene by orthogonal matching pursuit (OMP: Pati, Rezaiifar and
Krishnaprasad 1993).

The score of an edge is the variance of its target that it explains beyond the other edges,
averaged over all halves: what is lost when it is dropped where it was chosen, and a share of what
it would add where it was not. Both solvers count the same, and regulators whose scores stand out
are lifted, for real networks have hubs. Knock-outs and knock-downs add how far each gene moved, in
standard deviations on a log scale, less what a path of stronger effects explains; as far as genes
were changed, their effects say how much regulators are lifted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from grn_tvcs.evidence.hubs import HUB_GENES, HUB_POWER, hub_prior
from grn_tvcs.evidence.knockouts import (
    KNOCKDOWN_WEIGHT,
    KNOCKOUT_WEIGHT,
    LARGEST_EFFECT,
    knockout_evidence,
)
from grn_tvcs.evidence.lagged_regression import ADDED_SHARE, USUAL, lagged_regression
from grn_tvcs.evidence.samples import LOG_OFFSET
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.evidence import carried_by
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.draws import Plan
from grn_tvcs.stability.stability import PARTS
from tvcs_core.engines import Engine

DESCRIBED = (
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
    resamples: int = USUAL.resamples,
    memory: tuple[float, float] = USUAL.memory,
    log_offset: float = LOG_OFFSET,
    column_weights: tuple[float, float] = USUAL.column_weights,
    in_degrees: tuple[int, int] = USUAL.in_degrees,
    edges_per_gene: tuple[float, float] = USUAL.edges_per_gene,
    iterations: int = USUAL.iterations,
    added_share: float = ADDED_SHARE,
    hub_power: float = HUB_POWER,
    hub_genes: int = HUB_GENES,
    knockout_weight: float = KNOCKOUT_WEIGHT,
    knockdown_weight: float = KNOCKDOWN_WEIGHT,
    largest_effect: float = LARGEST_EFFECT,
    steady: SteadyStates | None = None,
    threads: int = 1,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Path | None = None,
) -> Network:
    """Score edges by the variance they explain in resampled solutions.

    Caps of `rules` bound the drawn ones in every draw. A score of 1 is the mean of the strongest
    edges, one per gene, before the hub prior; signs are those of the summed coefficients. Needs
    at least three samples.

    The defaults were chosen on simulated networks of 10, 30 and 100 genes and are the same for
    all data; docs/networks.md has what each of them is worth.

    Parameters
    ----------
    expression, rules, rng
        As for every method. Where `expression` says when a perturbation was on, each perturbed
        part of a series has an intercept of its own and is resampled by itself.
    parts
        ``"tvcs"`` (GradMP under caps), ``"omp"`` (row by row) or ``"both"``.
    resamples
        Number of halves of the data.
    memory
        Range of the weight of the past: how much a sample counts beside one that is a median
        step younger.
    log_offset
        Part of a gene's largest level that is added before the logarithm.
    column_weights
        Range of the factors of the inputs.
    in_degrees, edges_per_gene
        Ranges of the drawn caps; in-degree caps hold for both parts.
    iterations
        Of GradMP.
    added_share
        What an edge would add counts this much where it was not chosen.
    hub_power
        Scores of a regulator are multiplied by their variance to this power ...
    hub_genes
        ... in networks of more genes than this. As far as genes were knocked out or down, the
        power is what fits the concentration of strong effects, at most this, in networks of any
        size.
    knockout_weight
        What the effects of knock-outs count beside the series, where every gene was knocked out;
        less where only some were.
    knockdown_weight
        What a knock-down counts beside a knock-out.
    largest_effect
        Effects larger than this many standard deviations count as this.
    steady
        Knock-outs, knock-downs and wild type, with the genes of `expression`.
    threads, engine, progress, keep
        As in `units.gather`.
    """
    if parts not in ("both", *PARTS):
        raise ValueError(f"parts must be one of both, {', '.join(PARTS)}, found {parts!r}")
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
    plan = Plan(
        PARTS if parts == "both" else (parts,),
        resamples, memory, column_weights, in_degrees, edges_per_gene, iterations,
    )  # fmt: skip
    found = lagged_regression(
        expression, rules, rng, plan, log_offset=log_offset, added_share=added_share,
        targets_alone=True, threads=threads, engine=engine, progress=progress, keep=keep,
    )  # fmt: skip
    power = hub_power if len(genes) > hub_genes else 0.0
    told = None
    if steady is not None:
        told = knockout_evidence(
            steady, expression, rules.inputs(genes, expression.constant_genes),
            weight=knockout_weight, hub_power=hub_power, knockdown_weight=knockdown_weight,
            largest_effect=largest_effect,
        )  # fmt: skip
        power = told.power_for_series(power)
    scores = found.scores * hub_prior(found.scores, power)
    signed = scores * np.sign(found.weights)
    evidence = None
    if told is not None:
        at = found.targets
        by_source = [scores, told.knockouts[:, at], told.knockdowns[:, at]]
        signed += told.signs[:, at] * (by_source[1] + by_source[2])
        scores = np.sum(by_source, axis=0)
        evidence = carried_by(by_source)
    return Network(
        genes,
        Pairs(
            found.inputs, found.targets, scores, np.sign(signed).astype(np.int8), scores > 0,
            stability=found.stability, evidence=evidence,
        ),
    )  # fmt: skip
