"""Cases of the study of votes without gold."""

from __future__ import annotations

from dataclasses import dataclass

OURS, LEFT_OUT = "unsupervised", "left out"
NONE = "none"  # ours without the gold of a split, on the tasks that the others are scored on


@dataclass(frozen=True)
class Case:
    """Votes on one set by one method: means over the draws.

    Attributes
    ----------
    data, gold, method, labels
        The set, the share of gold, the method, and labels per task (0: all).
    splits
        Number of draws of gold and labels.
    right
        Share of right labels; of n that tie, each counts 1/n.
    log_score
        Mean logarithm of the probability of the true label, which is at least 1e-9.
    claimed
        Mean confidence.
    sure, sure_right
        Share of the labels with a confidence of .9 or more, and of right ones among these.
    held, width, of_gold
        Of *blend*: on which share of the draws the interval of the share of right labels holds what
        is reached, its mean width, and that of Wilson's interval by gold alone; None without.
    """

    data: str
    gold: float
    method: str
    labels: int
    splits: int
    right: float
    log_score: float
    claimed: float
    sure: float
    sure_right: float | None
    held: float | None = None
    width: float | None = None
    of_gold: float | None = None

    @property
    def key(self) -> tuple[str, float, str, int, int]:
        return self.data, self.gold, self.method, self.labels, self.splits

    @property
    def gap(self) -> float:
        """How much too much is claimed."""
        return self.claimed - self.right


Cases = dict[tuple[str, float, str, int], Case]  # by set, gold, method and labels
