"""One edge of a network as files and tables show it."""

from __future__ import annotations

from dataclasses import dataclass

FILES = ("edges.tsv", "edges.tsv.gz")  # plain and compressed
HEADER = ("regulator", "target", "score", "sign", "rank", "selected")
CHANCES = ("confidence", "false_discovery")
SIGNS = {1: "+", -1: "-", 0: "?"}
SIGN_OF = {text: sign for sign, text in SIGNS.items()}
RELATION = {"+": "activates", "-": "represses", "?": "regulates"}
UNDIRECTED = "associated-with"
RELATIONS = (*RELATION.values(), UNDIRECTED)


@dataclass(frozen=True)
class Edge:
    """One directed edge as the files show it.

    Attributes
    ----------
    regulator, target
        Names of two different genes.
    score
        Above 0; higher is surer, in the units of the method.
    sign
        ``+`` activates, ``-`` represses, ``?`` not known.
    rank
        1 is the surest; edges with equal scores share a rank.
    selected
        Whether the edge is inside the caps.
    evidence
        The evidence for the score, a word of `evidence.NAMES`; empty if unknown.
    confidence, false_discovery
        As in `Network`; None if unknown.
    undirected
        Whether the data do not show which of the two genes regulates the other.
    """

    regulator: str
    target: str
    score: float
    sign: str
    rank: int
    selected: bool
    evidence: str = ""
    confidence: float | None = None
    false_discovery: float | None = None
    undirected: bool = False

    @property
    def relation(self) -> str:
        """Effect of the regulator on the target, a word of `RELATIONS`."""
        return UNDIRECTED if self.undirected else RELATION[self.sign]
