"""Cases of the study of other answers than one of K classes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One crowd by one method.

    Attributes
    ----------
    part
        ``scale``, ``real``, ``pairs``, ``next`` or ``labels``.
    crowd, size, seed, method
        The kind of crowd or the set, its size in words, the seed and the method.
    right, claimed
        Share right and claimed: of the steps of tasks that are no gold, of the orders of all pairs
        of items, of labels. Of the method ``order test``: 1 if it says that the scale is ordered.
    error, claimed_error
        Mean distance in steps. Of the order test: 1 if it prefers another order.
    near, claimed_near
        Share within one step, or of whole sets of labels.
    tau, covered
        Kendall's tau with the true scores, and the share of the true ranks in their 90 % intervals.
    """

    part: str
    crowd: str
    size: str
    seed: int
    method: str
    right: float | None = None
    claimed: float | None = None
    error: float | None = None
    claimed_error: float | None = None
    near: float | None = None
    claimed_near: float | None = None
    tau: float | None = None
    covered: float | None = None

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        return self.part, self.crowd, self.size, self.seed, self.method

    @property
    def gap(self) -> float:
        """How much too much is claimed."""
        assert self.right is not None
        assert self.claimed is not None
        return self.claimed - self.right

    @property
    def near_gap(self) -> float:
        """The same within one step, or of whole sets."""
        assert self.near is not None
        assert self.claimed_near is not None
        return self.claimed_near - self.near
