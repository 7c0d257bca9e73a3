"""Words of a verdict without edge probabilities: the reason, what helps, what ranks edges."""

from __future__ import annotations

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.verdict import Verdict

NONE = "No edge probabilities: "
NO_CANDIDATES = f"{NONE}no pair of genes that vary may be an edge."
NOT_CALIBRATED = f"{NONE}no networks of this design were simulated (--calibrate off)."
OUT_OF_DOMAIN = (
    f"{NONE}the data lie outside the range of the simulated training data, most of all in {{}}, so "
    "the calibration may not hold."
)
TOO_COEXPRESSED = (
    f"{NONE}genes are more closely co-expressed than in the simulated training data, so the "
    "calibration may not hold."
)
ONE_DIRECTION = (
    f"{NONE}all series move along one direction, as after a common stimulus, so the data cannot "
    "show which gene causes it."
)
# By the reason; other reasons have the remedy of `_test_of_edges`.
REMEDIES = {
    NO_CANDIDATES: "A list of --regulators must hold a gene that varies.",
    NOT_CALIBRATED: "Without --calibrate off they are simulated.",
    ONE_DIRECTION: (
        "Series under other perturbations, or knock-outs of the regulators (--knockouts, "
        "--wildtype), would show it."
    ),
}
CHANGES = (
    "Knock-outs, knock-downs or over-expression of likely regulators (--knockouts, --knockdowns, "
    "--overexpressions, with --wildtype)"
)
SERIES_FIRST = (
    "Time series of the same genes (a table with a column Time beside this one), and knock-outs "
    "beside these (--knockouts, --wildtype)"
)
LEARNED_RANKING = "Edges are ranked by the learned combination of all sources of evidence."
# What the traits of `combine.domain_check` measure.
TRAITS = {
    "median r": "the correlation of typical genes",
    "high r": "the correlation of closely related genes",
    "highest r": "the closest correlation of each gene",
    "first component": "the part of the variance that one component has",
    "components": "the number of independent components",
    "skewness": "the skewness of levels",
    "skewness spread": "how the skewness differs between genes",
    "kurtosis": "the outliers of levels",
    "sd spread": "how the variation differs between genes",
    "memory": "how far a level predicts the next change",
    "memory spread": "how that differs between genes",
    "smoothness": "the change from sample to sample",
    "between": "the difference between series",
    "starts": "the difference between the first samples of series",
    "trend": "the trend along series",
    "turn": "how steadily levels rise and fall",
    "level change": "the outliers of changes",
}


def describe_ranking(parts: list[str], how: str = "the sum") -> str:
    """Describe the ranking of edges by several sources of evidence, named in words."""
    listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)
    return f"Edges are ranked by {how} of {listed}."


def describe_trait(name: str, *, is_higher: bool) -> str:
    """Describe the trait in which a table is most unlike simulated ones."""
    return f"{TRAITS.get(name, name)} ({'larger' if is_higher else 'smaller'} here)"


def silent_verdict(
    why_not: str, expression: Expression, steady: SteadyStates | None, ranking: str = ""
) -> Verdict:
    """Return a verdict without probabilities.

    Parameters
    ----------
    why_not
        One of the sentences above.
    expression, steady
        The input, on which it depends what would help.
    ranking
        What the edges are ranked by, a sentence.
    """
    remedy = REMEDIES.get(why_not) or _test_of_edges(expression, steady)
    return Verdict(why_not=why_not, remedy=remedy, ranking=ranking)


def _test_of_edges(expression: Expression, steady: SteadyStates | None) -> str:
    """Describe what tests edges that are only ranked."""
    if not expression.series:
        what = f"{SERIES_FIRST},"
    elif steady is not None and any(steady.changed):
        what = "Knock-outs of further regulators"
    else:
        what = CHANGES
    guess = (
        f" If the values are not {expression.scale}, as was guessed, give --scale."
        if expression.guessed_from is not None
        else ""
    )
    return f"{what} would test them; more samples of the same kind would not.{guess}"


def remedy_of_no_edge(expression: Expression, steady: SteadyStates | None) -> str:
    """Describe what helps where no edge is as likely true as false."""
    if not expression.series:
        return f"{SERIES_FIRST}, would say most."
    if steady is not None and any(steady.changed):
        return "Knock-outs of further regulators would say most."
    return f"{CHANGES} would say most."
