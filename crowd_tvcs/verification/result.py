"""The result of a verification."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Verification:
    """What was found.

    Attributes
    ----------
    violations
        What is not as the files say, in words.
    accuracy, bound
        Mean expected accuracy and the bound that the prices prove, as recomputed; None where
        they could not be.
    unchecked
        What was not checked, in words.
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
