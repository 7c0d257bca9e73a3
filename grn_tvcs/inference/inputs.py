"""The inputs of a method: samples, candidates, steady states and prior edges, in one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grn_tvcs.expression.judge.same_names import same_names
from grn_tvcs.expression.scales import scale_like
from grn_tvcs.expression.user_warnings import warn_user
from grn_tvcs.inference.steady_samples import used_by
from tvcs_core.files.display import joined

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression
    from grn_tvcs.expression.steady_states import SteadyStates
    from grn_tvcs.network.prior import Prior
    from grn_tvcs.network.rules import Candidates, Rules

MIN_STEPS = 6  # steps from sample to sample and steady-state samples; with fewer a warning


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
    expression = used_by(data, method).in_name_order()
    genes = expression.genes
    rules = _named_rules(rules, genes)
    candidates = rules.candidates(genes, expression.constant_genes)
    _check_steps(expression, calibrates)
    if expression.constant_genes:
        warn_user(f"constant genes get no regulators: {joined(expression.constant_genes)}")
    if steady is not None:
        steady = steady.of(genes)
        steady = replace(steady, levels=scale_like(expression, steady.levels))
        steady.warn_of_contrary(expression)
    return Inputs(expression, rules, candidates, steady, None if prior is None else prior.of(genes))


def _check_steps(expression: Expression, calibrates: bool) -> None:
    """Warn of few steps; refuse them if networks are to be simulated."""
    n_steps, n_rest = expression.n_steps, expression.n_steady
    if n_steps + n_rest >= MIN_STEPS:
        return
    kinds = {"steps from sample to sample": n_steps, "steady-state samples": n_rest}
    found = " and ".join(f"{n} {kind}" for kind, n in kinds.items() if n)
    if calibrates:
        raise ValueError(
            f"calibrate: {found} are too few for edge probabilities; give {MIN_STEPS} or more, "
            "or calibrate=0 (--calibrate off)"
        )
    warn_user(f"{found} are too few to tell regulators apart")


def _named_rules(rules: Rules, genes: Sequence[str]) -> Rules:
    """Return the rules with regulators and targets named as the genes are; warn of strangers."""
    roles = {"regulators": rules.regulators, "targets": rules.targets}
    for kind, names in roles.items():
        if names is None:
            continue
        same = same_names(sorted(names), genes)
        if sentence := same.describe():
            warn_user(f"{kind}: {sentence}")
        roles[kind] = frozenset(same.gene_of.get(name, name) for name in names)
    caps = rules.max_out_degree
    named = {**roles, "regulators with a cap": caps if isinstance(caps, Mapping) else None}
    for kind, of_kind in named.items():
        missing = sorted(set(of_kind or ()) - set(genes))
        if 0 < len(missing) < len(of_kind or ()):  # if none is a gene, an error follows
            warn_user(
                f"{len(missing)} of {len(of_kind or ())} {kind} are no genes: {joined(missing)}"
            )
    return replace(rules, regulators=roles["regulators"], targets=roles["targets"])
