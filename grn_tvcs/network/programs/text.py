"""A network as `print` shows it: five lines."""

from __future__ import annotations

from typing import Any

from grn_tvcs.network.confidence import LIKELY
from grn_tvcs.network.edge import RELATIONS
from tvcs_core.files.display import LISTED, plural, unquoted

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
    confidence = network.confidence
    if confidence is None:
        return "none, there are no edge probabilities"
    n = int((confidence >= LIKELY).sum())
    return f"not recorded; {plural(n, 'edge has', 'edges have')} a confidence of {LIKELY:g} or more"
