"""A network as `print` shows it, in five lines, and as notebooks do."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from grn_tvcs.network.confidence import LIKELY
from grn_tvcs.network.edge import RELATIONS
from tvcs_core.files.display import LISTED, plural, unquoted

if TYPE_CHECKING:
    import pandas as pd

MOST = 10  # edges in a notebook
# "-o": the sign is not known; "--": neither is the direction.
ARROWS = dict(zip(RELATIONS, ("->", "-|", "-o", "--"), strict=True))


def summary(network: Any) -> str:
    """Return the size, the origin, the verdict, the largest degrees and the top edges."""
    edges = network.edges(selected_only=True)
    origin, verdict = network.provenance, network.verdict
    seed = "" if origin is None or origin.seed is None else f", seed {origin.seed}"
    into, out = (int(some.max(initial=0)) for some in (network.in_degrees, network.out_degrees))
    named = [
        f"{unquoted(e.regulator)} {ARROWS[e.relation]} {unquoted(e.target)}" for e in edges[:LISTED]
    ]
    more = f" and {len(edges) - LISTED} more" if len(edges) > LISTED else ""
    facts = {
        f"Network of {plural(len(network.genes), 'gene')}": f"{plural(len(edges), 'edge')} "
        f"selected of {network.n_scored} with a score",
        "method": "not known" if origin is None else f"{origin.method}{seed}",
        "verdict": _without_verdict(network) if verdict is None else verdict.describe(),
        "degrees": f"the most are {into} regulators of a gene, {out} targets of a regulator",
        "top edges": ", ".join(named) + more if named else "none",
    }
    return "\n".join(f"{name}: {fact}" for name, fact in facts.items())


def _without_verdict(network: Any) -> str:
    """Say that there is none, and how many edges the confidences of a file support."""
    confidence = network.pairs.confidence
    if confidence is None:
        return "none, there are no edge probabilities"
    n = int((confidence >= LIKELY).sum())
    return f"not recorded; {plural(n, 'edge has', 'edges have')} a confidence of {LIKELY:g} or more"


def html_summary(frame: pd.DataFrame, n_genes: int, n_scored: int, verdict: str = "") -> str:
    """Return HTML with the number of genes and edges, the verdict and the surest edges.

    `frame` has the selected edges, the surest first.
    """
    n_selected = len(frame)
    edges = plural(n_selected, "edge")
    counts = f"{plural(n_genes, 'gene')}, {edges} selected of {n_scored} with a score"
    parts = [f"<p><b>Network</b>: {counts}</p>"]
    if verdict:
        parts.append(f"<p>{escape(verdict)}</p>")
    columns = [name for name in frame.columns if name not in ("selected", "own")]
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = [
        "".join(f"<td>{escape(_html_cell(value))}</td>" for value in row)
        for row in frame[columns].head(MOST).itertuples(index=False)
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    if n_selected > MOST:
        parts.append(f"<p>and {n_selected - MOST} more; <code>to_frame()</code> has all</p>")
    return "".join(parts)


def _html_cell(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return str(value)
