"""Methods of network inference, and `infer`, which runs them under one contract.

A method is a function ``(expression, rules, rng) -> Network``: it gets genes sorted by name,
gives every ordered pair a score >= 0 (higher is surer) and need not look at the rules, which
`infer` applies to all methods alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from warnings import warn

import numpy as np

from grn_tvcs.expression import Expression, listed
from grn_tvcs.methods.aracne import aracne
from grn_tvcs.methods.clr import clr
from grn_tvcs.methods.dyngenie3 import dyngenie3
from grn_tvcs.methods.genie3 import genie3
from grn_tvcs.methods.mrnet import mrnet
from grn_tvcs.methods.pcc import pcc
from grn_tvcs.methods.tigress import tigress
from grn_tvcs.methods.tvcs import tvcs
from grn_tvcs.methods.tvcs_plain import tvcs_plain
from grn_tvcs.network import Network
from grn_tvcs.rules import Rules

Method = Callable[[Expression, Rules, np.random.Generator], Network]

METHODS: dict[str, Method] = {
    "tvcs": tvcs,
    "tvcs-plain": tvcs_plain,
    "pcc": pcc,
    "aracne": aracne,
    "clr": clr,
    "mrnet": mrnet,
    "genie3": genie3,
    "dyngenie3": dyngenie3,
    "tigress": tigress,
}
DIGITS = 6


def infer(
    expression: Expression,
    method: str = "tvcs",
    *,
    max_in_degree: int | None = None,
    max_out_degree: int | None = None,
    max_edges: int | None = None,
    regulators: Iterable[str] | None = None,
    rng: int | np.random.Generator | None = None,
) -> Network:
    """Infer which gene regulates which.

    Genes and series are sorted first, so their order in the file changes nothing.

    Parameters
    ----------
    expression
        Levels over time. A constant gene gets no regulators, with a warning that names it.
    method
        One of `METHODS`.
    max_in_degree, max_out_degree, max_edges
        Caps on the regulators of a gene, the targets of a regulator and all edges; None is no
        cap. Without any of the three, 2 edges per gene are selected.
    regulators
        Names of the genes that may regulate; None means all.
    rng
        Seed or generator; the same one gives the same network.

    Returns
    -------
    Network
        Genes in the order of their names; scores of six significant digits; selected are the
        edges whose scores add up to the most under the caps.

    Raises
    ------
    ValueError, TypeError
        If the method is unknown, a cap is negative or no integer, or no regulator is a gene.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, found {method!r}")
    rng = np.random.default_rng(rng)
    if isinstance(regulators, str):
        raise TypeError(f"regulators must be a list of names, found {regulators!r}")
    names = None if regulators is None else frozenset(regulators)
    rules = Rules(max_in_degree, max_out_degree, max_edges, names)
    expression = expression.in_name_order()
    allowed = rules.allowed(expression.genes, expression.constant_genes)
    if missing := sorted((names or frozenset()) - set(expression.genes)):
        warn(
            f"{len(missing)} of {len(names or ())} regulators are no genes: {listed(missing)}",
            stacklevel=2,
        )
    if expression.constant_genes:
        warn(f"constant genes get no regulators: {listed(expression.constant_genes)}", stacklevel=2)
    network = METHODS[method](expression, rules, rng)
    scores = _significant(np.where(allowed, network.scores, 0.0))
    rules = rules.with_defaults(len(expression.genes))
    return Network(expression.genes, scores, network.signs).within(rules)


def _significant(scores: np.ndarray) -> np.ndarray:
    """Round to six significant digits: what is written is what is ranked."""
    text = np.char.mod(f"%.{DIGITS}g", scores)
    return text.astype(np.float64)
