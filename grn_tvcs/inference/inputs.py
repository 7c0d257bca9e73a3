"""The inputs of a method: samples, candidates, steady states and prior edges, in one order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grn_tvcs.expression.scales import scale_like
from grn_tvcs.expression.user_warnings import warn_user
from grn_tvcs.inference.samples import used_by
from tvcs_core.files.display import joined

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression
    from grn_tvcs.expression.steady_states import SteadyStates
    from grn_tvcs.network.prior import Prior
    from grn_tvcs.network.rules import Candidates, Rules


@dataclass(frozen=True)
class Inputs:
    """All that a method scores pairs from; genes are sorted by name.

    Attributes
    ----------
    expression
        The samples that the method uses, on their scale.
    rules, candidates
        The caps, and the pairs that may be edges.
    steady, prior
        Of the genes of `expression`, in its order and on its scale.
    """

    expression: Expression
    rules: Rules
    candidates: Candidates
    steady: SteadyStates | None
    prior: Prior | None


def steady_like(expression: Expression, steady: SteadyStates) -> SteadyStates:
    """Return steady states in the order of the genes and on the scale of an expression."""
    steady = steady.of(expression.genes, expression.identifiers)
    return replace(steady, levels=scale_like(expression, steady.levels))


def inputs_of(
    data: Expression,
    method: str,
    rules: Rules,
    steady: SteadyStates | None,
    prior: Prior | None,
    *,
    calibrates: bool = False,
) -> Inputs:
    """Bring data, steady states and prior edges into one order; warn of what they do not give.

    Parameters
    ----------
    data
        As `prepared` returns it.
    calibrates
        Whether networks are to be simulated, for which a minimum of steps is needed.

    Raises
    ------
    ValueError
        If no regulator or target is a gene, the genes of steady states or prior edges differ, or
        there are too few steps to calibrate.
    """
    expression = used_by(data, method, calibrates=calibrates).in_name_order()
    genes = expression.genes
    rules = rules.called_as(genes, expression.identifiers)
    candidates = rules.candidates(genes, expression.constant_genes)
    if expression.constant_genes:
        warn_user(f"constant genes get no regulators: {joined(expression.constant_genes)}")
    if steady is not None:
        steady = steady_like(expression, steady)
        steady.warn_of_contrary(expression)
    return Inputs(expression, rules, candidates, steady, None if prior is None else prior.of(genes))
