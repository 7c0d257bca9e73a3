"""How a network was inferred, which it keeps so that a report of it can be written."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.rules import Rules

if TYPE_CHECKING:
    from grn_tvcs.expression.steady_states import SteadyStates


class Provenance(NamedTuple):
    """The arguments of `infer`.

    Attributes
    ----------
    expression
        With the scale that was used.
    rules
        The caps that the selected edges keep.
    method
        A name in `METHODS`.
    seed
        Where one was given as a number.
    steady
        Knock-outs, knock-downs and wild type, if they were used.
    """

    expression: Expression
    rules: Rules
    method: str
    seed: int | None = None
    steady: SteadyStates | None = None
