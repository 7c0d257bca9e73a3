"""Report of a network in memory, as in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.network import Network
from grn_tvcs.network.provenance import Provenance
from grn_tvcs.network.rules import Rules
from grn_tvcs.report.report import render
from tvcs_core.files.folders import write_whole

SOURCE = "a table in memory"


def write_report(
    network: Network, path: Path, expression: Expression | None = None, **more: Any
) -> Path:
    """Write the report of a network to a file; see `Network.report`."""
    given = {name: more.pop(name) for name in Provenance._fields if name in more}
    if expression is not None:
        given["expression"] = expression
    if network.provenance is not None:
        given = network.provenance._asdict() | given
    elif not {"expression", "method"} <= given.keys():
        raise ValueError(
            "this network has no record of its expression and method: give report(path, "
            "expression, method=NAME)"
        )
    made = Provenance(**{"rules": Rules()} | given)  # without a record, the caps are unknown
    if made.method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, found {made.method!r}")
    made = made._replace(expression=on_scale(made.expression))
    rng = "" if made.seed is None else f", rng={made.seed}"
    words = {"source": SOURCE, "command": f"infer(expression, {made.method!r}{rng})"}
    page = render(network, made, **words | more)
    write_whole(path, lambda part: part.write_text(page, encoding="utf-8"))
    return path
