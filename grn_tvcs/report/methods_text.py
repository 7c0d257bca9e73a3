"""The paragraph on methods: what was run, in the words of a journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from grn_tvcs.combine.signs import FEWEST_SERIES
from grn_tvcs.edge_count import EdgeCount
from grn_tvcs.expression.expression import Expression, samples_said
from grn_tvcs.expression.scales import said
from grn_tvcs.expression.steady_states import WILD_TYPE, SteadyStates
from grn_tvcs.methods import METHODS
from grn_tvcs.methods.at_rest import unknowable
from grn_tvcs.network.confidence import LIKELY
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules
from grn_tvcs.network.verdict import Verdict

SCALES = {
    "levels": "levels", "log": "logarithms", "counts": "counts, divided by the size of each sample",
}  # fmt: skip
LOGS = (", taken on a log scale", " and taken on a log scale")  # as `scales.said` says it
PRIOR = "prior edges"  # in the note of a network that used them
RANKED = " Edges are ranked by "  # how a verdict without chances goes on


def methods_paragraph(
    network: Network,
    expression: Expression,
    rules: Rules,
    *,
    method: str,
    seed: int | None,
    count: EdgeCount | None = None,
    steady: SteadyStates | None = None,
) -> str:
    """Describe in the past tense what was done, for the methods section of a paper."""
    from tvcs_core.files.record import tvcs_version

    drawn = "" if seed is None else f", seed {seed}"
    known = METHODS[method]
    sentences = [
        f"A gene regulatory network of {len(network.genes)} genes was inferred from "
        f"{samples_said(expression, 'time series')} with tvcs {tvcs_version()} (method "
        f"{method}{drawn}).",
        _values(expression, method),
        *_inputs(expression, method, steady),
        *_roles(network, rules),
        known.described(network, expression, steady),
        *(f"{note[0].upper()}{note[1:]}." for note in network.notes),
        "" if network.verdict is None else _chances(network.verdict),
        _selected(network, rules, is_own=known.selects and not rules.has_caps),
        rules.why_so_many() if count is None else _counted(count),
        _signs(network, expression, steady),
    ]
    return " ".join(filter(None, sentences))


def values_said(expression: Expression, method: str) -> str:
    """Describe what values are taken for, and whether the method puts them on a log scale."""
    text = said(expression)
    if not METHODS[method].takes_logs:
        for words in LOGS:
            text = text.replace(words, "")
    return text


def _values(expression: Expression, method: str) -> str:
    """Say what values were taken for."""
    if expression.scale is None:
        return ""
    guessed = "" if expression.guessed_from is None else ", as guessed from their range,"
    is_logged = METHODS[method].takes_logs and expression.scale != "log"
    end = " and put on a log scale." if is_logged else "."
    text = f"Values were taken as {SCALES[expression.scale]}{guessed}{end}"
    return text.replace(",.", ".")


def _inputs(expression: Expression, method: str, steady: SteadyStates | None) -> list[str]:
    """Name all that was used beside levels and times."""
    used_too = list(expression.notes)
    if expression.n_at_rest and not METHODS[method].uses_rest:
        used_too.append("The samples at rest were not used.")
    if not_known := unknowable(expression, method):
        used_too.append(not_known)
    if expression.perturbed is not None and (used := METHODS[method].perturbation):
        used_too.append(
            f"A perturbation was known to be on in {int(expression.perturbed.sum())} samples, and "
            f"{used}."
        )
    if steady is not None and METHODS[method].takes_steady_states:
        counts = [
            f"{n} {kind}"
            for n, kind in (
                (int(steady.is_knockout.sum()), "of knock-outs"),
                (steady.n_knockdowns, "of knock-downs"),
                (steady.changed.count(WILD_TYPE), "of the wild type"),
            )
            if n
        ]
        beside = " beside the series" if expression.series else ""
        used_too.append(f"Steady states were used{beside}: {_joined(counts)}.")
    return used_too


def _roles(network: Network, rules: Rules) -> list[str]:
    """Say which genes could regulate and be regulated, where lists were given."""
    lists, genes = [], set(network.genes)
    if rules.regulators is not None:
        n = len(rules.regulators & genes)
        lists.append(f"Only the {_number(n, 'gene')} of a given list could regulate.")
    if rules.targets is not None:
        n = len(rules.targets & genes)
        lists.append(f"Regulators were sought for {_number(n, 'listed gene')} alone.")
    return lists


def _selected(network: Network, rules: Rules, *, is_own: bool) -> str:
    """Say which edges were selected, and how."""
    n_edges, n_scored = int(network.out_degrees.sum()), network.n_scored
    were = "was" if n_edges == 1 else "were"
    start = f"Of {n_scored:,} ordered pairs with a score, {n_edges:,} {were} selected"
    if not rules.has_caps:
        return f"{start}: those that the method itself selects." if is_own else f"{start}."
    caps = []
    if rules.max_in_degree is not None:
        caps.append(f"{_number(rules.max_in_degree, 'regulator')} of a gene")
    if isinstance(rules.max_out_degree, Mapping):
        caps.append("its own number of targets of each named regulator")
    elif rules.max_out_degree is not None:
        caps.append(f"{_number(rules.max_out_degree, 'target')} of a regulator")
    if rules.max_edges is not None and not rules.chosen_by:
        caps.append(f"{_number(rules.max_edges, 'edge')} in all")
    if not caps:
        return f"{start} by the largest scores."
    return (
        f"{start}: those whose scores add up to the most with at most {_joined(caps)}, found "
        "exactly, by projection onto a three-view cardinality constraint (Yang et al., 2017)."
    )


def _counted(count: EdgeCount) -> str:
    return (
        "The number of edges is the smallest that reached 95 % of the largest gain in held-out "
        f"series ({count.n_folds} folds); {count.low} to {count.high} edges were within one "
        "standard error of the best."
    )


def _chances(verdict: Verdict) -> str:
    """Say whether chances were given, and how many edges they support."""
    if not verdict.is_known:
        return verdict.why_not.partition(RANKED)[0]
    shown = "" if not verdict.n_edges else f", {verdict.expected_true:.1f} of which should be true"
    n_edges = _number(verdict.n_edges, "edge")
    return f"A probability of at least {LIKELY:g} was given to {n_edges}{shown}."


def _signs(network: Network, expression: Expression, steady: SteadyStates | None) -> str:
    """Say of how many selected edges it is known whether they activate or repress."""
    signs = network.pairs.signs[network.pairs.selected]
    if not signs.size:
        return ""
    n_known = int(np.count_nonzero(signs))
    if not n_known:
        return "The data support no sign of an edge, so none is given."
    where = []
    if len(expression.pieces()) >= FEWEST_SERIES:
        where.append("where lagged, rank and partial correlation agreed on it with the method")
    if steady is not None:
        where.append("where the target moved beyond noise as its regulator was changed")
    if any(PRIOR in note for note in network.notes):
        where.append("where the list of prior edges says so and the data do not say otherwise")
    return (
        f"Whether an edge activates or represses is given for {n_known:,} of "
        f"{_number(signs.size, 'selected edge')}: {', or '.join(where)}."
    )


def _number(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _joined(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)
