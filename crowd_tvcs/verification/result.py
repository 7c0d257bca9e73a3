"""The result of a verification."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Verification:
    """Result of a verification.

    Attributes
    ----------
    violations
        Descriptions of contradictions to the files.
    accuracy, bound
        Mean expected accuracy and the bound that the prices prove, as recomputed; None where
        they could not be.
    unchecked
        Descriptions of fields that were not checked.
    """

    violations: list[str] = field(default_factory=list)
    accuracy: float | None = None
    bound: float | None = None
    unchecked: list[str] = field(default_factory=list)

    @property
    def proved(self) -> bool:
        """Whether everything holds and the bound is one."""
        return not self.violations and self.bound is not None

    @property
    def gap(self) -> float | None:
        """Bound minus accuracy."""
        if self.accuracy is None or self.bound is None:
            return None
        return self.bound - self.accuracy
