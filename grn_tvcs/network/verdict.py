"""The verdict of a network: how many edges the experiment supports, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.confidence import DECIMALS, LIKELY, expected_true
from tvcs_core.arguments import is_on_command_line, option_name, option_words

EXACT = 10  # numbers below are said as they are, others with two digits
IN_WORDS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip
# Reasons for no edge probabilities, and what would help.
NONE = "No edge probabilities: "
NO_CANDIDATES = f"{NONE}no pair of genes that vary may be an edge."
NOT_CALIBRATED = f"{NONE}no networks of this design were simulated."
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
# A table without probabilities that is this likely to have no edge gets none selected: of tables of
# a common stimulus 23 of 24 without an edge and 6 of 24 with edges (`docs/network-details.md`).
SURELY_NULL = 0.97
NULL = (
    "Tables without any edge, such as genes that each answer one stimulus, look like this one "
    "(with a probability of {:.0%}), so no edge is selected unless you give their number."
)
CHANGES = "Knock-outs, knock-downs or over-expression of likely regulators ({})"
SERIES_FIRST = (
    "Time series of the same genes (a table with a column Time beside this one), and knock-outs "
    "beside these ({})"
)
# No trait of a table shows whether a hub is measured (decision 289).
ONE_HUB = (
    "Most of the supported edges have one regulator, {0}. A gene that was not measured and drives "
    "its targets would look the same, and these edges would be false. A knock-out or knock-down "
    "of {0} ({1}) would show it."
)
MIN_HUB_EDGES = 3
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


@dataclass(frozen=True)
class Verdict:
    """The number of edges that an experiment supports, or the reason for no confidence.

    Attributes
    ----------
    n_edges
        Edges that the experiment supports, of a confidence of at least `LIKELY`: each is as
        likely true as not, and of any further ones fewer than half would be.
    expected_true
        How many of them are true, on average.
    n_scored
        Edges with a score.
    more
        More series, and the edges that the experiment would then support; None where not known.
    why_not
        A sentence: why no probability can be given; empty where one is.
    remedy
        Sentences: which experiment or table would help, if no probability is given, no edge is
        supported, or most supported edges have one regulator.
    ranking
        A sentence on the ranking of the edges, if no probability is given.
    null_probability
        Probability that the table has no edge at all, if no edge probability is given.
    hub
        The regulator of most supported edges, unless it was changed. Edge probabilities hold if it
        drives its targets, and not a gene that was not measured. Empty for none.

    Raises
    ------
    ValueError
        If more edges are supported than have a score, or more are true than are supported.
    """

    n_edges: int = 0
    expected_true: float = 0.0
    n_scored: int = 0
    more: tuple[int, int] | None = None
    why_not: str = ""
    remedy: str = ""
    ranking: str = ""
    null_probability: float = 0.0
    hub: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.expected_true <= self.n_edges <= self.n_scored:
            raise ValueError(
                "a verdict must have 0 <= expected_true <= n_edges <= n_scored, found "
                f"{self.expected_true}, {self.n_edges} and {self.n_scored}"
            )
        if self.more is not None and (self.more[0] < 1 or self.more[1] < 0):
            raise ValueError(f"more must be series >= 1 and edges >= 0, found {self.more}")

    @property
    def is_known(self) -> bool:
        """Whether there are probabilities to stand on."""
        return not self.why_not

    @property
    def is_null(self) -> bool:
        """Whether no edge is selected because the table looks like one without any."""
        return not self.is_known and self.null_probability >= SURELY_NULL

    @property
    def false_discovery(self) -> float | None:
        """Expected share of false edges among the supported ones; None without any."""
        return 1.0 - self.expected_true / self.n_edges if self.n_edges else None

    def describe(self) -> str:
        """Describe the number of supported edges, or why there is none and the remedy."""
        if self.why_not:
            null = NULL.format(self.null_probability) if self.is_null else ""
            return " ".join(filter(None, (self.why_not, null, self.remedy, self.ranking)))
        if not self.n_edges:
            now = (
                f"This experiment supports no edge: none of the {self.n_scored} with a score is "
                "as likely true as false"
            )
        elif self.n_edges == 1:
            now = f"This experiment supports 1 edge, with a chance of {self.expected_true:.0%}"
        else:
            n_true = about(round(self.expected_true))
            if_hub = f" if {self.hub} drives its targets" if self.hub else ""
            now = (
                f"This experiment supports {about(self.n_edges)} edges (of which {n_true} should "
                f"be true{if_hub})"
            )
        remedy = f" {self.remedy}" if self.remedy else ""
        if self.more is None:
            return f"{now}.{remedy}"
        n_series, then = self.more
        word = IN_WORDS[n_series] if n_series < len(IN_WORDS) else str(n_series)
        same = about(then) == about(self.n_edges)
        edges = "none either" if not then and same else "as many" if same else about(then)
        return f"{now}; {word} more series would support {edges}.{remedy}"

    def facts(self) -> dict[str, Any]:
        """The entries of ``run.json``."""
        if self.why_not:
            facts = {name: getattr(self, name) for name in ("why_not", "remedy", "ranking")}
            null = {"null_probability": self.null_probability} if self.is_null else {}
            return {name: text for name, text in facts.items() if text} | null
        more = self.more
        return {
            "n_edges": self.n_edges,
            "expected_true": self.expected_true,
            "false_discovery": self.false_discovery,
            "n_scored": self.n_scored,
            "more": None if more is None else {"series": more[0], "n_edges": more[1]},
            **({"hub": self.hub} if self.hub else {}),
            "sentence": self.describe(),
        }


def verdict_of(
    confidence: NDArray[np.float64],
    scores: NDArray[np.float64],
    before: Verdict | None = None,
) -> Verdict:
    """The verdict on edges of these confidences; those with a score above 0 count.

    Of a verdict `before`, the forecast for more series, the remedy and the hub stay.
    """
    before = before or Verdict()
    true = expected_true(confidence, scores)
    n_edges = int(np.count_nonzero((confidence >= LIKELY) & (scores > 0)))
    expected = float(np.round(true[n_edges], DECIMALS))
    counts = n_edges, min(expected, float(n_edges)), true.size - 1
    return Verdict(*counts, before.more, remedy=before.remedy, hub=before.hub)


def about(number: int) -> str:
    """Return a rounded number in words: exact below 10, ``about 35``, ``about 130``."""
    if number < EXACT:
        return str(number)
    return f"about {int(float(f'{number:.2g}')):,}"


def describe_ranking(parts: list[str], how: str = "the sum") -> str:
    """Describe the ranking of edges by several sources of evidence, named in words."""
    return f"Edges are ranked by {how} of {listed(parts)}."


def listed(parts: Sequence[str]) -> str:
    """Return phrases as a text lists them: with commas, and ``and`` before the last."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)


def describe_trait(name: str, *, is_higher: bool) -> str:
    """Describe the trait in which a table is most unlike simulated ones."""
    return f"{TRAITS.get(name, name)} ({'larger' if is_higher else 'smaller'} here)"


def silent_verdict(
    why_not: str,
    expression: Expression,
    steady: SteadyStates | None,
    ranking: str = "",
    null_probability: float = 0.0,
) -> Verdict:
    """Return a verdict without probabilities.

    Parameters
    ----------
    why_not
        One of the sentences above.
    expression, steady
        The input, on which the remedy depends.
    ranking
        A sentence on the ranking of the edges.
    null_probability
        As for `Verdict`.
    """
    remedy = _remedy_of_silence(why_not) or _test_of_edges(expression, steady)
    null_probability = float(np.round(null_probability, DECIMALS))
    return Verdict(
        why_not=why_not, remedy=remedy, ranking=ranking, null_probability=null_probability
    )


def _remedy_of_silence(why_not: str) -> str:
    """Return the remedy for a reason; empty where it is a test of the edges."""
    if why_not == NO_CANDIDATES:
        return f"A list of {option_name('regulators')} must hold a gene that varies."
    if why_not == NOT_CALIBRATED:
        return f"Without {option_words({'calibrate': 'off'})} they are simulated."
    if why_not == ONE_DIRECTION:
        knockouts = _read_from("knockouts", "wildtype")
        return (
            f"Series under other perturbations, or knock-outs of the regulators ({knockouts}), "
            "would show it."
        )
    return ""


def _read_from(*options: str) -> str:
    """Name the options that take tables of steady states: of the command, or of their reader."""
    named = ", ".join(map(option_name, options))
    return named if is_on_command_line() else f"read_steady_states({named})"


def _changes() -> str:
    return CHANGES.format(_read_from("knockouts", "knockdowns", "overexpressions", "wildtype"))


def _series_first() -> str:
    return SERIES_FIRST.format(_read_from("knockouts", "wildtype"))


def _test_of_edges(expression: Expression, steady: SteadyStates | None) -> str:
    """Describe a test of edges that are only ranked."""
    if not expression.series:
        what = f"{_series_first()},"
    elif steady is not None and any(steady.changed):
        what = "Knock-outs of further regulators"
    else:
        what = _changes()
    guess = (
        f" If the values are not {expression.scale}, as was guessed, give {option_name('scale')}."
        if expression.guessed_from is not None
        else ""
    )
    return f"{what} would test them; more samples of the same kind would not.{guess}"


def remedy_of(
    n_edges: Mapping[str, int], expression: Expression, steady: SteadyStates | None
) -> str:
    """Describe the remedy if no edge is supported, or if most of them have one regulator.

    `n_edges` are the supported edges by regulator. A regulator that was changed needs no remedy.
    """
    if any(n_edges.values()):
        hub = main_regulator(n_edges, steady)
        if not hub:
            return ""
        return ONE_HUB.format(hub, _read_from("knockouts", "knockdowns", "wildtype"))
    if not expression.series:
        return f"{_series_first()}, would help most."
    if steady is not None and any(steady.changed):
        return "Knock-outs of further regulators would help most."
    return f"{_changes()} would help most."


def main_regulator(n_edges: Mapping[str, int], steady: SteadyStates | None) -> str:
    """Return the regulator of most supported edges; empty for none, or if it was changed."""
    hub = max(n_edges, key=n_edges.__getitem__)
    is_main = n_edges[hub] >= MIN_HUB_EDGES and 2 * n_edges[hub] > sum(n_edges.values())
    return hub if is_main and not (steady is not None and hub in steady.changed) else ""
