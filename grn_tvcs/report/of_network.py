"""Report of a network in memory, as in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules
from grn_tvcs.report.report import render
from tvcs_core.files.folders import write_whole

SOURCE = "a table in memory"


def write_report(
    network: Network,
    path: Path,
    expression: Expression | None = None,
    *,
    method: str | None = None,
    **more: Any,
) -> Path:
    """Write the report of a network to a file; see `Network.report`."""
    provenance = network.provenance
    if provenance is None and (expression is None or method is None):
        raise ValueError(
            "this network has no record of its expression and method: give report(path, "
            "expression, method=NAME)"
        )
    rules, seed = Rules(), None  # without a record, the caps are unknown
    if provenance is not None:
        expression, method = expression or provenance.expression, method or provenance.method
        rules, seed = provenance.rules, provenance.seed
        more = {"steady": provenance.steady} | more
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, found {method!r}")
    assert expression is not None  # one of the two is there
    rng = "" if seed is None else f", rng={seed}"
    page = render(
        network,
        on_scale(expression),
        more.pop("rules", rules),
        method=method,
        source=more.pop("source", SOURCE),
        command=more.pop("command", f"infer(expression, {method!r}{rng})"),
        seed=more.pop("seed", seed),
        **more,
    )
    write_whole(path, lambda part: part.write_text(page, encoding="utf-8"))
    return path
