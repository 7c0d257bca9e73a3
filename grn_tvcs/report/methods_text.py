"""Methods paragraph of a run, in the style of a journal."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grn_tvcs.combine.signs import have_signs
from grn_tvcs.expression.expression import Expression, describe_samples
from grn_tvcs.expression.scales import describe_scale
from grn_tvcs.expression.steady_states import WILD_TYPE, SteadyStates
from grn_tvcs.inference.directions import describe_undirected
from grn_tvcs.inference.samples import unknowable
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.confidence import LIKELY
from grn_tvcs.network.network import Network
from grn_tvcs.network.provenance import Provenance
from grn_tvcs.network.rules import Rules
from grn_tvcs.network.verdict import Verdict, listed
from tvcs_core.files.display import plural

SCALES = {
    "levels": "levels", "log": "logarithms", "counts": "counts, divided by the size of each sample",
}  # fmt: skip
LOGS = (", taken on a log scale", " and taken on a log scale")  # phrases of `scales.describe_scale`
PRIOR = "prior edges"  # part of the note of a network that used them


def methods_paragraph(network: Network, made: Provenance) -> str:
    """Return the methods paragraph of a run, in the past tense."""
    from tvcs_core.files.record import tvcs_version

    expression, rules, method, seed, steady = made
    drawn = "" if seed is None else f", seed {seed}"
    known = METHODS[method]
    sentences = [
        f"A gene regulatory network of {plural(len(network.genes), 'gene')} was inferred from "
        f"{describe_samples(expression, 'time series')} with tvcs {tvcs_version()} (method "
        f"{method}{drawn}).",
        _values(expression, method),
        *_inputs(expression, method, steady),
        *_roles(network, rules),
        known.describe(network, expression, steady),
        *(f"{note[0].upper()}{note[1:]}." for note in network.notes),
        "" if network.verdict is None else _probabilities(network.verdict),
        _selected(network, rules, is_own=known.selects and not rules.has_caps),
        describe_undirected(network),
        rules.why_so_many(network.n_selected),
        _signs(network, expression, steady),
    ]
    return " ".join(filter(None, sentences))


def describe_values(expression: Expression, method: str) -> str:
    """Describe the scale of the values, and whether the method transforms them to logarithms."""
    text = describe_scale(expression)
    if not METHODS[method].takes_logs:
        for words in LOGS:
            text = text.replace(words, "")
    return text


def _values(expression: Expression, method: str) -> str:
    """Describe the scale of the values, in the past tense."""
    if expression.scale is None:
        return ""
    guessed = "" if expression.guessed_from is None else ", as guessed from their range,"
    is_logged = METHODS[method].takes_logs and expression.scale != "log"
    end = " and put on a log scale." if is_logged else "."
    text = f"Values were taken as {SCALES[expression.scale]}{guessed}{end}"
    return text.replace(",.", ".")


def _inputs(expression: Expression, method: str, steady: SteadyStates | None) -> list[str]:
    """List all inputs besides levels and times."""
    used_too = list(expression.notes)
    if expression.n_steady and not METHODS[method].uses_steady_samples:
        used_too.append("The steady-state samples were not used.")
    if not_known := unknowable(expression, method):
        used_too.append(not_known)
    if expression.perturbed is not None and (used := METHODS[method].perturbation):
        used_too.append(
            f"A perturbation was on in {int(expression.perturbed.sum())} samples, and {used}."
        )
    if steady is not None and METHODS[method].takes_steady_states:
        counts = [
            f"{n} {kind}"
            for n, kind in (
                (int(steady.is_knockout.sum()), "of knock-outs"),
                (steady.n_knockdowns, "of knock-downs"),
                (steady.n_overexpressions, "of over-expressed genes"),
                (steady.changed.count(WILD_TYPE), "of the wild type"),
            )
            if n
        ]
        also = " in addition to the series" if expression.series else ""
        used_too.append(f"Steady states were used{also}: {listed(counts)}.")
    return used_too


def _roles(network: Network, rules: Rules) -> list[str]:
    """Describe the lists of regulators and targets, if given."""
    lists, genes = [], set(network.genes)
    if rules.regulators is not None:
        n = len(rules.regulators & genes)
        lists.append(f"Only the {_number(n, 'gene')} of a given list could regulate.")
    if rules.targets is not None:
        n = len(rules.targets & genes)
        lists.append(f"Regulators were sought for {_number(n, 'listed gene')} alone.")
    return lists


def _selected(network: Network, rules: Rules, *, is_own: bool) -> str:
    """Describe the selected edges and the rule of selection."""
    n_edges, n_scored = network.n_selected, network.n_scored
    were = "was" if n_edges == 1 else "were"
    scored = "pairs" if network.pairs.undirected is not None else "ordered pairs"
    start = f"Of {n_scored:,} {scored} with a score, {n_edges:,} {were} selected"
    if not rules.has_caps:
        return f"{start} by the method itself." if is_own else f"{start}."
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
    if network.pairs.undirected is not None:
        return (
            f"{start}, from the largest score down, under at most {listed(caps)}, whichever way "
            "undirected edges are read."
        )
    return (
        f"{start}: those with the largest sum of scores under at most {listed(caps)}, found by "
        "exact projection onto a three-view cardinality constraint (Yang et al., 2017)."
    )


def _probabilities(verdict: Verdict) -> str:
    """Describe whether edge probabilities were given, and the number of edges they support."""
    if not verdict.is_known:
        return verdict.why_not
    shown = f" ({verdict.expected_true:.1f} expected to be true)" if verdict.n_edges else ""
    has = "had" if verdict.n_edges else "No edge had"
    subject = f"{_number(verdict.n_edges, 'edge')} " if verdict.n_edges else ""
    return f"{subject}{has} a probability of at least {LIKELY:g}{shown}."


def _signs(network: Network, expression: Expression, steady: SteadyStates | None) -> str:
    """Describe the number of selected edges with a known sign, and the evidence for signs."""
    signs = network.pairs.signs[network.pairs.selected]
    if not signs.size:
        return ""
    n_known = int(np.count_nonzero(signs))
    if not n_known:
        return "The data supported no sign of an edge, so none is given."
    rules = []
    if have_signs(expression):
        beyond = ", the first beyond noise" if expression.cells is not None else ""
        rules.append(f"lagged, rank and partial correlation agreed with the method{beyond}")
    if steady is not None:
        rules.append("the target moved beyond noise when its regulator was perturbed")
    if any(PRIOR in note for note in network.notes):
        rules.append("the prior edges gave a sign that the data did not contradict")
    return (
        f"Signs (activation or repression) are given for {n_known:,} of "
        f"{_number(signs.size, 'selected edge')}, if {', or if '.join(rules)}."
    )


def _number(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
