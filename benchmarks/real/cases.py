"""A row of the study of real sets, and its methods."""

from __future__ import annotations

from dataclasses import dataclass

BOOST = "grnboost2"
OURS = ("combined", "tvcs")
PEERS = (
    "genie3", "dyngenie3", BOOST, "clr", "pidc", "mrnet", "aracne", "spearman", "pcc",
    "partial-correlation", "lagged-correlation", "tigress",
)  # fmt: skip
STUDIED = (*OURS, *PEERS)


@dataclass(frozen=True)
class Case:
    """One method on one gold standard; `top` is the precision of the `n_top` first pairs."""

    family: str
    table: str
    gold: str
    method: str
    genes: int
    edges: int
    pairs: int
    chance: float
    aupr: float
    top: float
    n_top: int
    confidence: str
    likely: int
    seconds: float

    @property
    def key(self) -> tuple[str, str, str]:
        return self.table, self.gold, self.method
