"""A network as notebooks show it: what it holds, and its surest edges."""

from __future__ import annotations

from html import escape

from grn_tvcs.network.network import Network

MOST = 10  # edges


def summary(network: Network) -> str:
    """Return HTML with the number of genes and edges, the verdict and the surest edges."""
    frame = network.to_frame(selected_only=True)
    n_genes, n_selected = len(network.genes), len(frame)
    said = f"{n_genes} genes, {n_selected} edges selected of {network.n_scored} with a score"
    parts = [f"<p><b>Network</b>: {said}</p>"]
    if network.verdict is not None:
        parts.append(f"<p>{escape(network.verdict.said())}</p>")
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
