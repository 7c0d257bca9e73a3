"""The blend in words, for the verdict and the methods paragraph."""

from __future__ import annotations

from collections.abc import Mapping

from grn_tvcs.combine.blend.blend import LEAD, LEARNED, PIDC, SIZE, SUM, WEIGHTS
from grn_tvcs.combine.evidence_scores import CLR, RANK, RATES
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.verdict import describe_ranking

RANKED_BY = "Edges are ranked by a blend of "
NAMES = {
    SUM: "{}trees for levels, partial correlation", LEARNED: "the learned combination",
    RATES: "trees for rates of change", CLR: "CLR", RANK: "rank correlation",
    PIDC: "partial information decomposition",
    LEAD: "the direction of lagged correlations",
}  # fmt: skip
LAGGED_TEXT = (
    "lagged regression by matching pursuit under caps in random halves of the series (Nguyen et "
    "al., 2012; Yang et al., 2017)"
)
# For the methods paragraph, with citations of `report.references`.
TEXTS = {
    SUM: "the sum of {}extremely randomised trees (Geurts et al., 2006) that predict levels as in "
    "GENIE3 (Huynh-Thu et al., 2010), and partial correlation with shrinkage (Schäfer and "
    "Strimmer, 2005), each divided by the mean of its strongest edges",
    LEARNED: "a combination of all sources by gradient boosted trees (Friedman, 2001) and small "
    "neural networks, trained on simulated networks with the kinetics of GeneNetWeaver (Schaffter "
    "et al., 2011)",
    RATES: "trees that predict rates of change (Huynh-Thu and Geurts, 2018)",
    CLR: "CLR (Faith et al., 2007)",
    RANK: "rank correlation (Spearman, 1904)",
    PIDC: "partial information decomposition (Chan et al., 2017)",
}
LEAD_TEXT = (
    " In series, the difference of the absolute lagged correlations (Schmitt et al., 2004) of a "
    f"pair and its reverse is added {WEIGHTS[LEAD]:g} times."
)

UP_TO = {LEARNED: "by the probabilities of its strongest edges, at most "}


def blend_sentence(weights: Mapping[str, float]) -> str:
    """Return the sentence of the verdict on the ranking, given the weights of its parts."""
    lagged = "lagged regression, " if RATES in weights else ""
    names = [NAMES[name].format(lagged) for name in weights if name != SIZE]
    return describe_ranking(names, "a blend")


def describe_blend(expression: Expression, ranking: str) -> str:
    """Describe the blend for the methods paragraph, given the verdict's sentence on the ranking."""
    lagged = f"{LAGGED_TEXT}, " if expression.series else ""
    named = [
        f"{text.format(lagged)} (weight {UP_TO.get(name, '')}{WEIGHTS[name]:g})"
        for name, text in TEXTS.items()
        if NAMES[name].format("") in ranking
    ]
    text = (
        "Ordered pairs were scored by a weighted sum of their log ranks, -log(1 - rank), in "
        f"several rankings: {'; '.join(named)}."
    )
    if NAMES[LEAD] in ranking:
        text += LEAD_TEXT
    if NAMES[LEARNED] not in ranking:
        text += (
            f" The sum, divided by the mean of its strongest edges, is added {WEIGHTS[SIZE]:g} "
            "times, as the table is unlike all simulated ones."
        )
    if expression.unbinned is not None:
        text += " Evidence that ignores time is of the samples before averaging, not of bins."
    return text
