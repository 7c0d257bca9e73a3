"""The verdict of a network: how many edges the experiment supports, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.network.confidence import DECIMALS, LIKELY, expected_true

EXACT = 10  # numbers below are said as they are, others with two digits
IN_WORDS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip


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
        A sentence: which experiment or table would help, where no probability is given or no edge
        is supported.
    ranking
        A sentence: what the edges are ranked by, where no probability is given.

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
    def false_discovery(self) -> float | None:
        """Expected share of false edges among the supported ones; None without any."""
        return 1.0 - self.expected_true / self.n_edges if self.n_edges else None

    def said(self) -> str:
        """Describe how many edges the experiment supports, or why not and what would help."""
        if self.why_not:
            return " ".join(filter(None, (self.why_not, self.remedy, self.ranking)))
        if not self.n_edges:
            now = (
                f"This experiment supports no edge: none of the {self.n_scored} with a score is "
                "as likely true as false"
            )
        elif self.n_edges == 1:
            now = f"This experiment supports 1 edge, with a chance of {self.expected_true:.0%}"
        else:
            n_true = about(round(self.expected_true))
            now = (
                f"This experiment supports {about(self.n_edges)} edges (of which {n_true} should "
                "be true)"
            )
        remedy = f" {self.remedy}" if self.remedy and not self.n_edges else ""
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
            return {name: text for name, text in facts.items() if text}
        more = self.more
        return {
            "n_edges": self.n_edges,
            "expected_true": self.expected_true,
            "false_discovery": self.false_discovery,
            "n_scored": self.n_scored,
            "more": None if more is None else {"series": more[0], "n_edges": more[1]},
            "said": self.said(),
        }


def verdict_of(
    confidence: NDArray[np.float64],
    scores: NDArray[np.float64],
    *,
    more: tuple[int, int] | None = None,
    remedy: str = "",
) -> Verdict:
    """The verdict on edges of these confidences; those with a score above 0 count."""
    true = expected_true(confidence, scores)
    n_edges = int(np.count_nonzero((confidence >= LIKELY) & (scores > 0)))
    expected = float(np.round(true[n_edges], DECIMALS))
    return Verdict(n_edges, min(expected, float(n_edges)), true.size - 1, more, remedy=remedy)


def about(number: int) -> str:
    """Return a rounded number in words: exact below 10, ``about 35``, ``about 130``."""
    if number < EXACT:
        return str(number)
    return f"about {int(float(f'{number:.2g}')):,}"
