"""A network as notebooks show it: a summary, and its edges of highest score."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tvcs_core.files.display import plural

if TYPE_CHECKING:
    import pandas as pd

MOST = 10  # edges


def summary(frame: pd.DataFrame, n_genes: int, n_scored: int, verdict: str = "") -> str:
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
        "".join(f"<td>{escape(_cell(value))}</td>" for value in row)
        for row in frame[columns].head(MOST).itertuples(index=False)
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    if n_selected > MOST:
        parts.append(f"<p>and {n_selected - MOST} more; <code>to_frame()</code> has all</p>")
    return "".join(parts)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return str(value)
