"""Report of a run, as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.expression.steady_states import UP
from grn_tvcs.inference.directions import describe_undirected
from grn_tvcs.inference.samples import unknowable
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.confidence import LIKELY
from grn_tvcs.network.edge import Edge
from grn_tvcs.network.evidence import NAMES, SOURCES
from grn_tvcs.network.network import Network
from grn_tvcs.network.provenance import Provenance
from grn_tvcs.network.rules import Rules
from grn_tvcs.report.adjacency import adjacency
from grn_tvcs.report.data import agreement, stabilities, support
from grn_tvcs.report.explorer import MAX_EDGES, explorer
from grn_tvcs.report.layout import HEIGHT, WIDTH, draw
from grn_tvcs.report.methods_text import describe_values, methods_paragraph
from grn_tvcs.report.references import cited
from grn_tvcs.report.time_courses import time_courses
from grn_tvcs.stability.stability import STABLE, why_no_stability
from tvcs_core.arguments import check_choice
from tvcs_core.files.folders import write_whole
from tvcs_core.files.page import fill_page

if TYPE_CHECKING:
    from grn_tvcs.network.scores import Scores

SOURCE = "a table in memory"  # the name of an expression without a file
# Sizes of the static page, chosen to be read at a glance.
MAX_DRAWN = 400  # edges
MAX_LISTED = 40  # edges
MAX_REGULATORS = 12
MAX_CAP_SHOWN = 40  # largest cap to which a chart of degrees is extended
LIBRARIES = ("d3-dispatch", "d3-quadtree", "d3-timer", "d3-force")
SCRIPTS = (  # in the order of their dependencies
    "data", "filters", "layout", "scene", "graph", "list", "courses", "gene", "adjacency", "export",
    "main",
)  # fmt: skip


def render(
    network: Network,
    made: Provenance,
    *,
    source: str,
    command: str,
    scores: Scores | None = None,
    left_out: Sequence[str] = (),
    edges_file: str = "edges.tsv",
    top: int | None = None,
    reference: Network | None = None,
) -> str:
    """Render the report of `network` as HTML.

    The page loads nothing and works without scripts. With scripts, the network can be filtered,
    searched and laid out, and genes and edges show their time courses. Only our own scripts run:
    the page's policy lists their hashes, and names and numbers are embedded as data.

    Parameters
    ----------
    network
        With its selected edges.
    made
        How it was inferred.
    source
        Name of the expression file.
    command
        Command that reproduces the run.
    scores
        Agreement with a reference, if there is one.
    left_out
        Excluded parts of the reference, one sentence for each reason.
    edges_file, top
        The table of edges, and its number of top edges besides the selected ones; None for all.
    reference
        True edges over the same genes, to be marked; judged pairs are those of `scores`.
    """
    edges = network.edges(selected_only=True)
    paragraph = methods_paragraph(network, made)
    return fill_page(
        "grn_tvcs.report",
        "report.html.j2",
        title=f"Gene regulatory network of {source}",
        source=source,
        command=command,
        methods=paragraph,
        references=cited(paragraph),
        scores=_score_rows(scores),
        judged=scores,
        left_out=left_out,
        agreement=agreement(network, reference, scores),
        edges_file=edges_file,
        top=None if top is None or top >= network.n_scored else top,
        **_run(made),
        **_edges(network, edges),
        **_degrees(network, made.rules, edges),
        **_stability(network, made.expression),
        **_pictures(network, made, edges, reference, scores),
    )


def _run(made: Provenance) -> dict[str, Any]:
    """Return how the network was inferred."""
    expression, method = made.expression, made.method
    return {
        "method": method,
        "about": METHODS[method].about,
        "seed": made.seed,
        "expression": expression,
        "n_series": expression.n_series,
        "not_known": unknowable(expression, method),
        "scale": describe_values(expression, method) if expression.scale else None,
        "rules": made.rules,
    }


def _edges(network: Network, edges: Sequence[Edge]) -> dict[str, Any]:
    """Return the selected edges and their numbers."""
    return {
        "network": network,
        "n_scored": network.n_scored,
        "n_edges": len(edges),
        "edges": edges[:MAX_LISTED],
        "n_omitted": max(len(edges) - MAX_EDGES, 0),
        "supported": support(network),
        "n_supported": sum((edge.confidence or 0.0) >= LIKELY for edge in edges),
        "likely": LIKELY,
        "undirected": describe_undirected,
        "sources": _sources(network),
        "n_knockout_only": sum(
            "series" not in e.evidence and ("knock-" in e.evidence or UP in e.evidence)
            for e in edges
        ),
    }


def _degrees(network: Network, rules: Rules, edges: Sequence[Edge]) -> dict[str, Any]:
    """Return the regulators of most targets, and the number of genes by degree."""
    return {
        "regulators": _top_regulators(edges),
        "out_degrees": _distribution(network.out_degrees, rules.max_out_degree),
        "in_degrees": _distribution(network.in_degrees, rules.max_in_degree),
    }


def _stability(network: Network, expression: Expression) -> dict[str, Any]:
    """Return how stable the edges are, or why that is not known."""
    parts = stabilities(network)
    return {
        "stability_of": parts[:MAX_LISTED],
        "why_unstable": None if network.pairs.stability is None else why_no_stability(expression),
        "stable_from": STABLE,
        "n_stable": sum(part is not None and part >= STABLE for part in parts),
    }


def _pictures(
    network: Network,
    made: Provenance,
    edges: Sequence[Edge],
    reference: Network | None,
    scores: Scores | None,
) -> dict[str, Any]:
    """Return the drawing and the matrix of the edges, and the scripts with their data."""
    (nodes, arrows), matrix = draw(edges[:MAX_DRAWN]), adjacency(network, made.rules)
    known = explorer(network, nodes, reference, scores)
    if matrix is not None:
        known["adjacency"] = [matrix["rows"], matrix["cols"]]
    drawn = {
        "n_drawn": min(len(edges), MAX_DRAWN),
        "n_hidden": len(network.genes) - len(nodes),
        "nodes": nodes,
        "arrows": arrows,
        "size": (WIDTH, HEIGHT),
        "adjacency": matrix,
    }
    return drawn | _scripts(network, made.expression, edges, known)


def _scripts(
    network: Network, expression: Expression, edges: Sequence[Edge], known: dict[str, Any]
) -> dict[str, Any]:
    """Return the scripts of the page, their hashes and their data; empty without edges."""
    if not edges:
        return {"data": {}, "scripts": [], "hashes": []}
    genes = list(dict.fromkeys(g for e in edges for g in (e.regulator, e.target)))
    genes += sorted(set(network.genes) - set(genes))
    licence = f"/*\n{_package_text('vendor', 'd3.LICENSE')}*/\n"
    vendored = (_package_text("vendor", f"{name}.min.js") for name in LIBRARIES)
    own = (_package_text("scripts", f"{name}.js") for name in SCRIPTS)
    scripts = [licence + "".join(vendored), "".join(own)]
    return {
        "data": known | time_courses(expression, network, genes),
        "scripts": scripts,
        "hashes": [_hash(script) for script in scripts],
    }


def _sources(network: Network) -> list[str]:
    """Return the sources of evidence of selected edges, in the order of `SOURCES`."""
    if network.pairs.evidence is None:
        return []
    codes = np.unique(network.pairs.evidence[network.pairs.selected]).tolist()
    found = {source for code in codes for source in NAMES[code].split("+")}
    return [source for source in SOURCES if source in found]


def _package_text(*parts: str) -> str:
    return resources.files("grn_tvcs.report").joinpath(*parts).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


def _score_rows(scores: Scores | None) -> list[tuple[str, float]]:
    from grn_tvcs.network.scores import NAMES

    return [] if scores is None else [(NAMES[name], getattr(scores, name)) for name in NAMES]


def _top_regulators(edges: Sequence[Edge]) -> list[dict[str, Any]]:
    targets: dict[str, list[Edge]] = {}
    for edge in edges:
        if not edge.undirected:
            targets.setdefault(edge.regulator, []).append(edge)
    most = sorted(targets.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        {
            "name": name,
            "targets": len(mine),
            "activates": sum(edge.sign == "+" for edge in mine),
            "represses": sum(edge.sign == "-" for edge in mine),
            "top_targets": ", ".join(edge.target for edge in mine[:6])
            + (", …" if mine[6:] else ""),
        }
        for name, mine in most[:MAX_REGULATORS]
    ]


def _distribution(degrees: NDArray[np.int64], cap: object) -> list[tuple[int, int]]:
    """Return the number of genes by degree, up to just beyond a cap of moderate size."""
    least = cap + 2 if isinstance(cap, int) and cap <= MAX_CAP_SHOWN else 0
    return [(d, int(n)) for d, n in enumerate(np.bincount(degrees, minlength=max(6, least)))]


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
    check_choice("method", made.method, METHODS)
    made = made._replace(expression=on_scale(made.expression))
    rng = "" if made.seed is None else f", rng={made.seed}"
    words = {"source": SOURCE, "command": f"infer(expression, {made.method!r}{rng})"}
    page = render(network, made, **words | more)
    write_whole(path, lambda part: part.write_text(page, encoding="utf-8"))
    return path
